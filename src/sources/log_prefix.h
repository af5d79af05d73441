/*
 * What stands before a message in a line of a log: the runtime's logger, with colours or without; the tag of a
 * multi-host launcher; the time that a CI system puts before everything; the place that a kernel's own print has.
 */
#ifndef TDM_SOURCES_LOG_PREFIX_H
#define TDM_SOURCES_LOG_PREFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "event/log_record.h"

struct tdm_log_prefix {
	uint64_t time_ns; /* since 1970, the log's own clock taken as UTC; 0: the line has none */
	uint8_t level;    /* enum tdm_log_level */
	bool is_logger;   /* the line is one of the runtime's logger */
	bool has_core;    /* printed by a kernel */
	int32_t rank;     /* TDM_LOG_NO_RANK */
	uint32_t device;  /* of the kernel's print; TDM_LOG_DEVICE_UNKNOWN */
	struct tdm_core_range core;
	struct tdm_str name; /* the logger's part of the program: "Metal"; the processor of a kernel's print: "TR0" */
	struct tdm_str message;  /* without "(file:line)" at its end */
	struct tdm_str location; /* "assert.hpp:104"; may be empty */
};

/* All parts lie in `line`, which has no colours any more. */
void tdm_log_prefix_parse(struct tdm_str line, struct tdm_log_prefix *prefix);

/* Removes escape sequences of a terminal, in place. Returns the new length. */
size_t tdm_log_strip_colour(char *text, size_t len);
/* The line without them: itself where it has none, else in `clean`. When out of memory, which `clean` says, as it is.
 */
struct tdm_str tdm_log_without_colour(struct tdm_str line, struct tdm_buf *clean);

/* "2026-11-15 07:36:19.238" or with a T, a fraction of any length; 0 with *len untouched when it is none. */
uint64_t tdm_log_time_parse(struct tdm_str text, size_t *len);

#endif
