/* What leaks, as text for people and as JSON for programs: the views of `leaks`. */
#ifndef TDM_REPORT_LEAKS_REPORT_H
#define TDM_REPORT_LEAKS_REPORT_H

#include "analyze/leaks.h"
#include "analyze/live_buffers.h"
#include "report/live_report.h"
#include "sources/symbolize.h"

struct tdm_leaks_report {
	const struct tdm_live_report *live; /* the last picture, the terminal, the directory, the filter, stacks */
	const struct tdm_leaks_result *result;
	uint64_t interval_ns; /* between pictures, as it was asked for; 0: there was one */
	uint64_t min_bytes;   /* sites that hold less are left out */
	bool all;             /* steady sites, too */
};

/* Whether a finding is one of those that were asked for; steady ones are another question. */
bool tdm_leaks_is_chosen(const struct tdm_leaks_report *report, const struct tdm_leak *leak);

/* How many of those there are. */
size_t tdm_leaks_chosen(const struct tdm_leaks_report *report, enum tdm_leak_verdict verdict);

/* One sentence without its stop: what was seen, with numbers. */
void tdm_leaks_reason(const struct tdm_leaks_report *report, const struct tdm_leak *leak, struct tdm_buf *out);

/* The functions of the processes whose findings were shown last: findings of several stand mixed, and opening the
 * modules of a process takes long. All zero to begin. */
enum { TDM_LEAKS_SYMBOLS = 8 };
struct tdm_leaks_symbols {
	struct {
		uint32_t process;
		struct tdm_symbolizer *sym;
	} kept[TDM_LEAKS_SYMBOLS];
	size_t next;
};

/* Borrowed until the next call. NULL when out of memory: then addresses are all there is. */
struct tdm_symbolizer *tdm_leaks_symbols_get(
	struct tdm_leaks_symbols *symbols, const struct tdm_picture *picture, uint32_t process);
void tdm_leaks_symbols_done(struct tdm_leaks_symbols *symbols);

void tdm_leaks_text(const struct tdm_leaks_report *report, struct tdm_buf *out);
/* The value of the key "leaks". */
void tdm_leaks_json(const struct tdm_leaks_report *report, struct tdm_json *json);

#endif
