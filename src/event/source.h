/*
 * A source gives events, whatever it reads: one interface, one file for each kind of input. It refuses a bad record,
 * giving its position, and continues with the rest if asked again.
 */
#ifndef TDM_EVENT_SOURCE_H
#define TDM_EVENT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "event/event.h"

struct tdm_source;

struct tdm_source_ops {
	const char *name; /* "text-trace", in tables and JSON */
	int (*next)(struct tdm_source *source, struct tdm_event *event, struct tdm_diag *diag);
	void (*close)(struct tdm_source *source);
};

/* The first member of every source. */
struct tdm_source {
	const struct tdm_source_ops *ops;
	uint64_t refused; /* bad records so far */
	bool is_cut;      /* the last error ended the reading: the rest of the input is unknown */
};

/* 1 with *event set (borrowed until the next call), 0 at the end, or a negative code with diag set; the next call
 * continues after it. */
static inline int tdm_source_next(struct tdm_source *source, struct tdm_event *event, struct tdm_diag *diag)
{
	return source->ops->next(source, event, diag);
}

/* NULL is allowed. */
static inline void tdm_source_close(struct tdm_source *source)
{
	if (source != NULL)
		source->ops->close(source);
}

#endif
