/*
 * Counts a graph capture twice in one pass: like the runtime's own functions (`stock`) and the way memory works
 * (`exact`). The findings say why the two differ, which figures are unknown, and which records make no sense. A reason
 * is a number of bytes, counted at the moment of the runtime's peak; the bytes that no reason explains are the rest.
 */
#ifndef TDM_ANALYZE_CAPTURE_SUMMARY_H
#define TDM_ANALYZE_CAPTURE_SUMMARY_H

#include "analyze/capture_exact.h"
#include "analyze/capture_stock.h"
#include "event/record.h"

struct tdm_findings;

/* In the order of the report. id, name in JSON, text */
#define TDM_CAPTURE_REASON_LIST(X)                                                                             \
	X(VIEWS, "views", "globally allocated circular buffers are counted, which have no bytes of their own") \
	X(TWICE, "counted_twice", "buffers allocated directly in an outermost function are counted twice")     \
	X(REPLACED, "replaced", "program memory that the next program has replaced is still counted")          \
	X(RELEASED, "released_elsewhere", "a release on one device releases what others still hold")           \
	X(DEVICES, "several_devices", "memory on several devices is added up")                                 \
	X(CORES, "different_cores", "sizes are added up though they are on different cores")                   \
	X(ADDRESSES, "same_addresses", "sizes are added up though they are at the same addresses")             \
	X(EACH_CORE, "each_core", "program memory is counted once, not for each core that has it")             \
	X(EXISTING, "existing", "buffers from before the capture are missing")                                 \
	X(WRAPPED, "wrapped", "the runtime's counter went below zero or above its width, and wrapped")         \
	X(MOMENT, "other_moment", "the right peak is at another moment")                                       \
	X(REST, "rest", "releases without an allocation, nodes that cannot be used, and anything else")

enum tdm_capture_reason {
#define X(id, name, text) TDM_REASON_##id,
	TDM_CAPTURE_REASON_LIST(X)
#undef X
		TDM_REASON_COUNT
};

/* An error that the capture recorded. */
struct tdm_capture_error {
	uint64_t node;
	char operation[TDM_CAPTURE_TEXT_CAP]; /* may be empty */
	char message[TDM_CAPTURE_ERROR_CAP];
};

struct tdm_capture_summary {
	struct tdm_capture_stock *stock;
	struct tdm_capture_exact exact;
	struct tdm_exact_now at[TDM_STOCK_FIGURES]; /* when the runtime's figure peaked */
	struct tdm_capture_error *errors;           /* the first ones */
	size_t errors_kept, errors_cap;
	uint64_t error_count;
	/* After the end. */
	struct tdm_capture_counts counts;
	struct tdm_stock_result figures;
	/* The exact counterpart of each; INT64_MIN: there is none, or it is unknown. */
	int64_t right[TDM_STOCK_FIGURES];
};

int tdm_capture_summary_init(struct tdm_capture_summary *summary); /* 0 or -ENOMEM */
void tdm_capture_summary_done(struct tdm_capture_summary *summary);

/* For a sink. 0, or -ENOMEM: this record and later ones are not counted. */
int tdm_capture_summary_take(void *summary, const struct tdm_record *record);

/* After the last record. 0 or -ENOMEM. */
int tdm_capture_summary_end(struct tdm_capture_summary *summary);

/* By how many bytes each reason makes the runtime's figure larger (or, below 0, smaller) than the exact one; they add
 * up to the difference. If the counter wrapped, only WRAPPED is not 0. Returns whether the two differ. */
bool tdm_capture_explain(
	const struct tdm_capture_summary *summary, enum tdm_stock_figure figure, int64_t bytes[TDM_REASON_COUNT]);

/* Topics of the findings about a capture. A finding about a figure has the figure's key as its name. */
enum tdm_capture_topic {
	TDM_CAPTURE_REASONS, /* why the runtime's figures differ */
	TDM_CAPTURE_UNKNOWN, /* why they are unknown */
	TDM_CAPTURE_FAULTS,  /* counts of records that make no sense */
	TDM_CAPTURE_REMARKS, /* how the exact figures count, and what they leave out */
};

void tdm_capture_find(
	const struct tdm_capture_summary *summary, enum tdm_capture_topic topic, struct tdm_findings *found);

#endif
