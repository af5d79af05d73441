/* Leaks as text for people and as JSON for programs: the views of `leaks`. */
#ifndef TDM_REPORT_LEAKS_REPORT_H
#define TDM_REPORT_LEAKS_REPORT_H

#include "analyze/leaks.h"
#include "report/live_report.h"

struct tdm_leaks_report {
	const struct tdm_live_report *live; /* the last picture, the terminal, the directory, the filter, stacks */
	const struct tdm_findings *findings;
	const struct tdm_leaks_result *result;
	uint64_t interval_ns; /* between pictures, as requested; 0: there was only one */
	uint64_t min_bytes;   /* smaller sites are left out */
	bool all;             /* show steady sites, too */
};

/* The number of chosen findings with this verdict. */
size_t tdm_leaks_chosen(const struct tdm_leaks_report *report, enum tdm_severity verdict);

/* The number of damaged ledgers, in which leaks may be missing. Names them in `out` unless that is NULL. */
size_t tdm_leaks_damaged(const struct tdm_leaks_report *report, struct tdm_buf *out);

void tdm_leaks_text(const struct tdm_leaks_report *report, struct tdm_buf *out);
/* The value of the key "leaks". */
void tdm_leaks_json(const struct tdm_leaks_report *report, struct tdm_json *json);

#endif
