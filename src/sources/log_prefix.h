/*
 * Parses what comes before a message in a line of a log: the prefix of the runtime's logger, with or without colours;
 * the tag of a multi-host launcher; the time that a CI system adds; the core that a kernel's own print names.
 */
#ifndef TDM_SOURCES_LOG_PREFIX_H
#define TDM_SOURCES_LOG_PREFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "event/log_record.h"

struct tdm_log_prefix {
	uint64_t time_ns; /* since 1970, taking the log's clock as UTC; 0: the line has no time */
	uint8_t level;    /* enum tdm_log_level */
	bool is_logger;   /* the line is from the runtime's logger */
	bool has_core;    /* printed by a kernel */
	int32_t rank;     /* or TDM_LOG_NO_RANK */
	uint32_t device;  /* of the kernel's print, or TDM_LOG_DEVICE_UNKNOWN */
	struct tdm_core_range core;
	struct tdm_str name;     /* the logger's category, "Metal"; or the processor of a kernel's print, "TR0" */
	struct tdm_str message;  /* without the "(file:line)" at its end */
	struct tdm_str location; /* "assert.hpp:104"; may be empty */
};

/* `line` must have no colours. All parts point into it. */
void tdm_log_prefix_parse(struct tdm_str line, struct tdm_log_prefix *prefix);

/* Removes terminal escape sequences in place. Returns the new length. */
size_t tdm_log_strip_colour(char *text, size_t len);
/* The line without them: itself if it has none, else a copy in `clean`. When out of memory, `clean` has failed and the
 * line is unchanged. */
struct tdm_str tdm_log_without_colour(struct tdm_str line, struct tdm_buf *clean);

/* "2026-11-15 07:36:19.238" or with a T, and a fraction of any length. 0 with *len unchanged if it is not a time. */
uint64_t tdm_log_time_parse(struct tdm_str text, size_t *len);

#endif
