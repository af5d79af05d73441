/* Groups lines about the circular buffers in single cores into dumps. A core that occurs again begins a new dump. Keeps
 * all cores of all dumps, with their buffers. */
#ifndef TDM_ANALYZE_CORE_DUMPS_H
#define TDM_ANALYZE_CORE_DUMPS_H

#include "base/map.h"
#include "model/event/record.h"

/* Either a dump, whose cores begin at index `first`; or the figures of circular buffer number `first` across the cores
 * in a dump. */
struct tdm_core_dump {
	size_t first, count, cbs;
	size_t fullest;              /* index of the first core with the maximum */
	uint64_t line;               /* log line of the first core */
	uint64_t least, most, total; /* the total is TDM_BYTES_UNKNOWN if it overflows */
};

struct tdm_core_dumps {
	struct tdm_core_line *cores; /* cores of all dumps; `cbs` is set only at the end */
	struct tdm_core_cb *cbs;     /* the cores' buffers, in core order */
	struct tdm_core_dump *dumps;
	size_t core_count, cb_count, dump_count, core_cap, cb_cap, dump_cap;
	uint64_t refused; /* number of unusable lines */
	uint64_t others;  /* number of lines in any other form */
	struct tdm_map seen;
};

/* These take a struct tdm_core_dumps, which is empty if zeroed. */
int tdm_core_dumps_take(void *dumps, const struct tdm_record *record);
void tdm_core_dumps_end(void *dumps);
void tdm_core_dumps_done(void *dumps);

/* The dump with the fullest core; NULL if there is none. */
const struct tdm_core_dump *tdm_core_dumps_fullest(const struct tdm_core_dumps *dumps);

/* The circular buffers in a dump, sorted by number. Returns their number. */
size_t tdm_core_dump_indexes(const struct tdm_core_dumps *dumps, const struct tdm_core_dump *dump,
	struct tdm_core_dump indexes[TDM_CORE_CBS]);

/* Returns a copy of a dump's cores, fullest first, owned by the caller. */
struct tdm_core_line *tdm_core_dump_order(const struct tdm_core_dumps *dumps, const struct tdm_core_dump *dump);

#endif
