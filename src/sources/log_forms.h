/*
 * Parsers of messages, one file for each program that writes them. A parser looks at one message and adds records to a
 * list; a line may give several ("CB0:4, CB1:4").
 */
#ifndef TDM_SOURCES_LOG_FORMS_H
#define TDM_SOURCES_LOG_FORMS_H

#include <stdbool.h>
#include <stddef.h>

#include "event/log_record.h"
#include "sources/log_prefix.h"

enum { TDM_LOG_PER_LINE = TDM_LOG_CBS + 2 };

struct tdm_log_found {
	struct tdm_log_record records[TDM_LOG_PER_LINE];
	size_t count;
	const char *refused; /* what the line is if it begins like a known one but is unusable; else NULL */
};

/* Adds a record with everything unknown to the list; NULL when the list is full. */
struct tdm_log_record *tdm_log_found_add(
	struct tdm_log_found *found, enum tdm_log_type type, enum tdm_log_dialect dialect);

/* A number, or TDM_LOG_UNKNOWN. */
uint64_t tdm_log_number(struct tdm_str text);

/* "12.5" and the unit "KB": bytes, or TDM_BYTES_UNKNOWN. */
uint64_t tdm_log_bytes(struct tdm_str number, struct tdm_str unit);

/* "12.5" and the unit "us": nanoseconds, or TDM_LOG_UNKNOWN. */
uint64_t tdm_log_duration(struct tdm_str number, struct tdm_str unit);

/* Whether a record was added or the line refused. */
bool tdm_log_runtime_parse(const struct tdm_log_prefix *prefix, struct tdm_log_found *found);
bool tdm_log_workload_parse(const struct tdm_log_prefix *prefix, struct tdm_log_found *found);
bool tdm_log_server_parse(const struct tdm_log_prefix *prefix, struct tdm_log_found *found);
bool tdm_log_watcher_parse(const struct tdm_log_prefix *prefix, struct tdm_log_found *found);

/*
 * The allocation server's list of remaining buffers, a block of lines. Zero `state` first, call tdm_log_dump_begin() at
 * the title line, then tdm_log_dump_line() for every line as long as `inside` is set.
 */
struct tdm_log_dump {
	bool inside;
	uint32_t device;
	uint8_t kind;
	uint32_t quiet; /* consecutive lines that do not belong here */
};

void tdm_log_dump_begin(struct tdm_log_dump *state);
void tdm_log_dump_line(struct tdm_log_dump *state, struct tdm_str line, struct tdm_log_found *found);

#endif
