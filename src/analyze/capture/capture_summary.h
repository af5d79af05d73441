/*
 * Counts the memory in a graph capture in two ways in one pass: like the runtime's own functions (`stock`), and
 * correctly (`exact`). The findings explain why the two differ, which figures are unknown, and which records are
 * nonsensical. Each reason accounts for a number of bytes, measured at the moment of the runtime's peak. Bytes not
 * explained by any reason are the rest.
 */
#ifndef TDM_ANALYZE_CAPTURE_SUMMARY_H
#define TDM_ANALYZE_CAPTURE_SUMMARY_H

#include "analyze/capture/capture_exact.h"
#include "analyze/capture/capture_stock.h"
#include "model/event/record.h"

/* ---- operations and devices, after the end of the account ---- */

/* A path, with totals that include everything called from it. */
struct tdm_capture_operation {
	uint32_t path;
	uint64_t calls, buffers, dram_bytes, l1_bytes;
	int64_t core_peak; /* INT64_MIN if the path never changed L1 */
};

/* All paths, highest peak first; the caller frees the list. */
struct tdm_capture_operation *tdm_capture_operations(const struct tdm_capture_exact *exact, size_t *count);

/* One device's peak of a figure that the runtime reports for all devices together. INT64_MIN if the capture lacks the
 * necessary data (bytes per bank of L1 buffers, or cores of circular buffers). */
int64_t tdm_capture_peak(const struct tdm_capture_exact *exact, size_t unit, enum tdm_stock_figure figure);

/* The device that matters most for a figure: the index of the unit with the highest recorded peak; SIZE_MAX if there is
 * none. */
size_t tdm_capture_fullest(const struct tdm_capture_exact *exact, enum tdm_stock_figure figure);

/* The devices, sorted by number. */
void tdm_capture_devices(const struct tdm_capture_exact *exact, const struct tdm_exact_unit *list[TDM_EXACT_UNITS_MAX]);

/* The capture's description of a device, found by its number or one of its chips' numbers; else the only description;
 * else NULL. */
const struct tdm_capture_device *tdm_capture_description(const struct tdm_capture_exact *exact, size_t unit);

/* The number of banks of a kind on a device, from the report's description; 0 if unknown. */
uint64_t tdm_capture_banks(const struct tdm_capture_exact *exact, size_t unit, enum tdm_kind kind);

/* Bytes available for buffers and circular buffers in one core, or in all DRAM channels, from the capture's description
 * of the device; 0 if unknown. */
uint64_t tdm_capture_capacity(const struct tdm_capture_exact *exact, size_t unit, bool is_dram);

/* ---- one moment ---- */

/* The chain of sums from the runtime's figure to the exact one, at one moment. */
struct tdm_exact_sums {
	int64_t all;      /* sum of sizes on all devices */
	int64_t one;      /* sum on the device with the highest sum */
	int64_t stacked;  /* sum on the fullest core of that device */
	int64_t top;      /* the same sum, counting each address once */
	int64_t replaced; /* bytes of replaced programs still counted by the runtime */
};

/* Finds a device's buffers of the given kinds (1 << kind) that were live at a node, largest first. Returns how many
 * there are; `out` receives at most `cap` of them. */
size_t tdm_capture_exact_alive(const struct tdm_capture_exact *exact, size_t unit, unsigned kinds, uint32_t at,
	const struct tdm_exact_buffer **out, size_t cap);

/* Program memory at the peak of a device's fullest core, largest first. Call only after the end. */
const struct tdm_exact_program *tdm_capture_exact_program(
	const struct tdm_capture_exact *exact, size_t unit, size_t *count);

/* The L1 of each core at the peak of a device's fullest core. */
struct tdm_exact_cores {
	uint64_t bytes[TDM_CAPTURE_GRID][TDM_CAPTURE_GRID]; /* indexed [y][x]; includes `everywhere` */
	uint64_t everywhere;                                /* L1 buffers, which occupy the same bytes on each core */
	uint64_t unplaced;                                  /* circular buffers and the like on unknown cores */
	uint32_t grid_x, grid_y; /* from the capture's description, else the part used by programs; 0 if unknown */
};

/* Call only after the end. */
void tdm_capture_exact_cores(const struct tdm_capture_exact *exact, size_t unit, struct tdm_exact_cores *cores);

/*
 * ---- the course ----  The course of memory use over a capture, for a chart. While the capture is being read, only
 * data that the exact account does not keep is recorded: the program memory of each device, and the outermost function.
 * Buffers are taken from the account at the end.
 */

/* A change in a device's memory at a node: the buffers, or the program memory of the fullest core. */
struct tdm_course_change {
	int64_t bytes;
	uint32_t node;
	uint16_t unit;
	bool is_program;
};

/* A call to an outermost function, covering the nodes [from, to). */
struct tdm_course_call {
	uint32_t path, from, to;
};

/* A zeroed one is empty. */
struct tdm_capture_course {
	struct tdm_course_change *changes; /* changes in program memory */
	size_t change_count, change_cap;
	struct tdm_course_call *calls;
	size_t call_count, call_cap;
	uint32_t nodes; /* nodes so far */
};

/* Call after the account has processed the node. */
void tdm_capture_course_note(
	struct tdm_capture_course *course, struct tdm_capture_exact *exact, const struct tdm_capture_node *node);
void tdm_capture_course_done(struct tdm_capture_course *course);

enum tdm_course_memory {
	TDM_COURSE_DRAM, /* DRAM and trace buffers of a device */
	TDM_COURSE_L1,   /* one core: L1 and small L1 buffers, and the program memory of the fullest core */
};

/* Each value holds from its node until the next; the last node is the end of the capture. */
struct tdm_course_line {
	double *nodes;             /* owned, like the two lists below */
	double *buffers, *program; /* program: all 0 for DRAM */
	size_t count, peak;        /* peak: index of the highest sum */
};

/* Call after the end of the account. */
void tdm_capture_course_line(const struct tdm_capture_course *course, const struct tdm_capture_exact *exact,
	size_t unit, enum tdm_course_memory memory, struct tdm_course_line *line);
void tdm_course_line_done(struct tdm_course_line *line);

/* ---- both counts ---- */

/* Reasons, in output order. id, name in JSON, text */
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

/* An error recorded in the capture. */
struct tdm_capture_error {
	uint64_t node;
	char operation[TDM_CAPTURE_TEXT_CAP]; /* name of the operation; may be empty */
	char message[TDM_CAPTURE_ERROR_CAP];
};

struct tdm_capture_summary {
	struct tdm_capture_stock *stock;
	struct tdm_capture_exact exact;
	struct tdm_exact_sums at[TDM_STOCK_FIGURES]; /* the sums at the peak of each runtime figure */
	bool has_course;                             /* set by the caller after init: record the course for charts */
	struct tdm_capture_course course;
	struct tdm_capture_error *errors; /* the first errors */
	size_t errors_kept, errors_cap;
	uint64_t error_count;
	/* Set at the end: */
	struct tdm_capture_counts counts;
	struct tdm_stock_result figures;
	/* The exact counterpart of each figure; INT64_MIN if there is none, or if it is unknown. */
	int64_t right[TDM_STOCK_FIGURES];
};

void tdm_capture_summary_init(struct tdm_capture_summary *summary);
void tdm_capture_summary_done(void *summary);

/* Call for each record; can serve as a record sink. */
int tdm_capture_summary_take(void *summary, const struct tdm_record *record);

/* Call after the last record. */
void tdm_capture_summary_end(void *summary);

/* For each reason, sets how many bytes the reason adds to the runtime's figure compared with the exact figure (negative
 * if it removes bytes); the bytes add up to the difference. If the counter wrapped, only WRAPPED is not 0. Returns
 * whether the figures differ. */
bool tdm_capture_explain(
	const struct tdm_capture_summary *summary, enum tdm_stock_figure figure, int64_t bytes[TDM_REASON_COUNT]);

#endif
