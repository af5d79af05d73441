/*
 * The forms of messages, one file for each of those who write them. Each parser looks at one message and adds what it
 * says to a list; a line may say several things ("CB0:4, CB1:4").
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
	const char *refused; /* the line begins as a known one and cannot be used: what it is; NULL */
};

/* A new record at the end of the list, all unknown; NULL when the list is full. */
struct tdm_log_record *tdm_log_found_add(
	struct tdm_log_found *found, enum tdm_log_type type, enum tdm_log_dialect dialect);

/* A number, or TDM_LOG_UNKNOWN. */
uint64_t tdm_log_number(struct tdm_str text);

/* "12.5" and the unit "KB": bytes, or TDM_BYTES_UNKNOWN. */
uint64_t tdm_log_bytes(struct tdm_str number, struct tdm_str unit);

/* "12.5" and the unit "us": nanoseconds, or TDM_LOG_UNKNOWN. */
uint64_t tdm_log_duration(struct tdm_str number, struct tdm_str unit);

/* Whether anything was added, or the line refused. */
bool tdm_log_runtime_parse(const struct tdm_log_prefix *prefix, struct tdm_log_found *found);
bool tdm_log_workload_parse(const struct tdm_log_prefix *prefix, struct tdm_log_found *found);
bool tdm_log_server_parse(const struct tdm_log_prefix *prefix, struct tdm_log_found *found);

/*
 * The allocation server's list of what remains: a block of lines. `state` is zero before the first; it is told when the
 * block begins (the line with its title) and takes every line after that until it says that the block is over.
 */
struct tdm_log_dump {
	bool inside;
	uint32_t device;
	uint8_t kind;
	uint32_t quiet; /* lines in a row that do not belong here */
};

void tdm_log_dump_begin(struct tdm_log_dump *state);
void tdm_log_dump_line(struct tdm_log_dump *state, struct tdm_str line, struct tdm_log_found *found);

#endif
