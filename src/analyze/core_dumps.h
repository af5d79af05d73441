/* Groups lines about the circular buffers of single cores into dumps. A core that appears again begins a new dump. All
 * cores of all dumps are kept, with their buffers. */
#ifndef TDM_ANALYZE_CORE_DUMPS_H
#define TDM_ANALYZE_CORE_DUMPS_H

#include "base/map.h"
#include "event/record.h"

/* The cores from `first` on. */
struct tdm_core_dump {
	size_t first, count, cbs;
	size_t fullest;              /* index of the first core with the most */
	uint64_t line;               /* of the first core */
	uint64_t least, most, total; /* the total is TDM_BYTES_UNKNOWN when it does not fit */
};

/* A circular buffer over the cores of a dump. */
struct tdm_core_index {
	uint16_t index;
	uint64_t cores, least, most, total; /* bytes in a core, and in all of them */
};

struct tdm_core_dumps {
	struct tdm_core_line *cores; /* their buffers are in `cbs` at the end only */
	struct tdm_core_cb *cbs;     /* of the cores, in their order */
	struct tdm_core_dump *dumps;
	size_t core_count, cb_count, dump_count, core_cap, cb_cap, dump_cap;
	uint64_t refused; /* lines that could not be used */
	uint64_t others;  /* lines of other forms */
	struct tdm_map seen;
};

int tdm_core_dumps_init(struct tdm_core_dumps *dumps); /* 0 or -ENOMEM */
void tdm_core_dumps_done(struct tdm_core_dumps *dumps);

/* For a sink. 0 or -ENOMEM. */
int tdm_core_dumps_take(void *dumps, const struct tdm_record *record);
void tdm_core_dumps_end(struct tdm_core_dumps *dumps);

/* The dump with the fullest core; NULL: there is none. */
const struct tdm_core_dump *tdm_core_dumps_fullest(const struct tdm_core_dumps *dumps);

/* The buffers of a dump in the order of their numbers. Returns how many there are. */
size_t tdm_core_dump_indexes(const struct tdm_core_dumps *dumps, const struct tdm_core_dump *dump,
	struct tdm_core_index indexes[TDM_CORE_CBS]);

/* A copy of the cores of a dump, the fullest first. Owned by the caller; NULL when out of memory. */
struct tdm_core_line *tdm_core_dump_order(const struct tdm_core_dumps *dumps, const struct tdm_core_dump *dump);

#endif
