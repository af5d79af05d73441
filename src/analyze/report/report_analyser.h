/* Handles reports written by the runtime and its tools: passes a file's records to the file's analyser, and produces
 * the output common to all reports. report_analyser.c contains the table of analysers. */
#ifndef TDM_ANALYZE_REPORT_ANALYSER_H
#define TDM_ANALYZE_REPORT_ANALYSER_H

#include "input/door/format.h"
#include "model/result/result.h"

struct tdm_report_analyser {
	const char *format; /* name of the format being analysed */
	/* plural noun for refused items; NULL if there are none */
	const char *noun;
	size_t size;                                           /* size of the analyser's state, which starts zeroed */
	void (*init)(void *state, struct tdm_intake *reading); /* may be NULL */
	int (*take)(void *state, const struct tdm_record *record);
	void (*end)(void *state); /* called after the last record; may be NULL */
	/* Adds the contents of the file to the group. `limit`: maximum rows of a table. Returns false if the file
	 * contains nothing for people to see. The group borrows the state. */
	bool (*show)(void *state, const struct tdm_intake *reading, size_t limit, struct tdm_block *in);
	void (*done)(void *state);
};

/* NULL if there is no analyser for the format. */
const struct tdm_report_analyser *tdm_report_analyser_of(const struct tdm_format *format);

/* In the order in which people see them; ends with NULL. */
extern const struct tdm_report_analyser *const tdm_report_analysers[];
extern const struct tdm_report_analyser tdm_capture_report, tdm_core_report, tdm_kernel_report, tdm_log_report,
	tdm_memory_report, tdm_mesh_report, tdm_operation_report, tdm_perf_report, tdm_program_report, tdm_train_report;

/* Adds the members common to all reports, and a warning unless the whole file was read. */
void tdm_report_head(
	struct tdm_block *in, const struct tdm_intake *reading, const char *source, uint64_t refused_count);

/* Adds a finding about a number of items, unless the number is 0; the pattern uses the figure "count". */
void tdm_report_count(
	struct tdm_findings *found, enum tdm_severity severity, const char *what, uint64_t count, const char *pattern);

/* The default size of the kernel-config ring on Wormhole and Blackhole cards, used because no file names its card;
 * TDM_BYTES_UNKNOWN if these cards' tables differ. */
uint64_t tdm_report_ring_bytes(void);
/* Adds a line about the kernel-config ring. */
void tdm_report_ring(struct tdm_block *in, uint64_t ring_bytes);

#endif
