/* The memory of processes as text for people and as JSON for programs: the views of `dump` and `run`. They read only a
 * picture, never a source. */
#ifndef TDM_REPORT_LIVE_REPORT_H
#define TDM_REPORT_LIVE_REPORT_H

#include "analyze/live_buffers.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/term.h"
#include "report/table.h"
#include "sources/symbolize.h"
#include "state/picture.h"

struct tdm_live_report {
	const struct tdm_picture *picture;
	struct tdm_term term;
	const char *dir;
	struct tdm_buffer_filter filter;
	enum tdm_buffer_sort sort;
	uint64_t limit; /* buffers of each process; 0: all */
	uint64_t skip;  /* buffers of each process that come before those, in JSON */
	bool by_user;   /* in JSON only processes of `uid`, and no files that cannot be read */
	uint32_t uid;
	bool stacks;
	bool map; /* show where buffers are: in text instead of the tables, in JSON in addition */
};

/* Every process with its figures and its live buffers. */
void tdm_dump_text(const struct tdm_live_report *report, struct tdm_buf *out);
/* The value of the key "dump". */
void tdm_dump_json(const struct tdm_live_report *report, struct tdm_json *json);

/* How a program ended, and how long it ran. */
struct tdm_run_end {
	char *const *command; /* its words; ends with NULL */
	int exit_code;        /* as a shell reports it */
	int signal;           /* that killed it; 0: none */
	uint64_t took_ns;
	uint64_t still_running; /* its processes that still run */
	bool has_left;          /* processes that it started still run and have no ledger; `left` may be incomplete */
	const struct tdm_run_left {
		int32_t pid;
		char comm[TDM_COMM_CAP];
	} * left;
	size_t left_count;
	bool is_preloaded;   /* the preload for tt-metal was in its environment */
	const char *program; /* the file that ran: of a script, its interpreter; NULL: unknown */
	const char *bar;     /* why the preload cannot work in it, what follows its name; NULL: it can */
	const char *unseen;  /* why nothing could be seen of it, or of some of its processes; NULL: it could */
};

/* For each process: peaks, live memory, and what was never freed. */
void tdm_run_text(const struct tdm_live_report *report, const struct tdm_run_end *end, struct tdm_buf *out);
/* The value of the key "run". */
void tdm_run_json(const struct tdm_live_report *report, const struct tdm_run_end *end, struct tdm_json *json);

/* Shared by these views. */

/* How long ago something happened; TDM_BYTES_UNKNOWN: unknown. */
static inline uint64_t tdm_live_age(const struct tdm_picture *picture, uint64_t then_ns)
{
	return then_ns != 0 && then_ns <= picture->time_ns ? picture->time_ns - then_ns : TDM_BYTES_UNKNOWN;
}

/* "running", "ended"; NULL: unknown. */
const char *tdm_live_state(uint8_t life);

/* The context of a table whose rows have call stacks, or the first member of that context. */
struct tdm_live_list {
	const struct tdm_live_report *report;
	struct tdm_symbolizer *sym;
};

/* The column of a stack whose number is a member: in JSON, and below the row if stacks are shown. */
#define TDM_LIVE_STACK(stack)                                                                  \
	{                                                                                      \
		NULL, "stack", stack, .json = tdm_live_json_stack, .below = tdm_live_put_stack \
	}
void tdm_live_json_stack(const struct tdm_field *field, struct tdm_json *json);
void tdm_live_put_stack(const struct tdm_field *field, struct tdm_buf *out);

/* The name; else the site of the stack; else `none`. */
void tdm_live_site(
	const struct tdm_live_list *of, const char *name, uint32_t stack, const char *none, struct tdm_buf *out);

/* The part of a process that a report adds: as text, or as members of its object if `json` is not NULL. */
typedef void (*tdm_live_part)(
	const struct tdm_live_report *report, size_t process, struct tdm_buf *out, struct tdm_json *json);
/* Each process: "Process 4242: command", a line for each device and kind that was ever used, then that part. */
void tdm_live_text_processes(const struct tdm_live_report *report, tdm_live_part part, struct tdm_buf *out);
/* The same as the member "processes". */
void tdm_live_json_processes(const struct tdm_live_report *report, tdm_live_part part, struct tdm_json *json);

/* Says that there is no process to report about, and why. */
void tdm_live_none(const struct tdm_live_report *report, struct tdm_buf *out);
/* Ledgers that could not be read, with the reasons. */
void tdm_live_unread(const struct tdm_live_report *report, struct tdm_buf *out);
size_t tdm_live_unread_count(const struct tdm_live_report *report);

/* The member "unreadable". */
void tdm_live_json_problems(const struct tdm_live_report *report, struct tdm_json *json);

#endif
