/*
 * Circular buffers core by core, as text: lines such as
 *
 *     Core (0,1): CB0=1024KB, CB1=512KB
 *
 * anywhere in a log, behind any prefix. A core that comes again begins a new dump. Lines of other forms are none of
 * this reader's business and are counted only.
 */
#ifndef TDM_SOURCES_CORE_CBS_H
#define TDM_SOURCES_CORE_CBS_H

#include "event/source.h"

enum { TDM_CORE_CBS_INDEX_MAX = 255 };

struct tdm_core_cb {
	uint16_t index;
	uint64_t bytes;
};

struct tdm_core_line {
	uint16_t x, y;
	uint32_t dump;  /* from 0 */
	uint64_t line;  /* where it is in the file */
	uint64_t bytes; /* sum of its circular buffers; it fits 64 bits */
	size_t first, count;
};

struct tdm_core_cbs {
	size_t core_count, cb_count;
	struct tdm_core_line *cores;
	struct tdm_core_cb *cbs; /* of the cores, in their order */
	uint32_t dump_count;
	uint64_t refused; /* lines that could not be used */
	uint64_t others;  /* lines of other forms */
	size_t core_cap, cb_cap;
};

typedef void (*tdm_core_cbs_warn)(void *context, const struct tdm_diag *diag);

/* Whether one of the lines is of this form. */
bool tdm_core_cbs_detect(const char *head, size_t len);

/* Reads a descriptor, which stays the caller's, or memory. 0, or a code with diag set: what was read before stays. */
int tdm_core_cbs_read(struct tdm_core_cbs *cores, int fd, tdm_core_cbs_warn warn, void *context, struct tdm_diag *diag);
int tdm_core_cbs_parse(
	struct tdm_core_cbs *cores, struct tdm_str text, tdm_core_cbs_warn warn, void *context, struct tdm_diag *diag);
void tdm_core_cbs_done(struct tdm_core_cbs *cores);

/* The dumps as events: the end of everything that was there, then one circular buffer after another. The list must
 * outlive the source. NULL when out of memory. */
struct tdm_source *tdm_core_cbs_events(const struct tdm_core_cbs *cores);

#endif
