/*
 * The pressure on one core's circular buffers under several strategies for choosing their sizes, computed from the
 * sizes and from the model.
 *
 * The workload is a distributed addition: the A tiles are spread over a mesh of devices, every device holds all B
 * tiles, and each A tile is added to all B tiles. CB0 contains A, CB1 contains B, CB2 the sum so far, and CB16 the
 * result. A user's own pattern can replace this workload; figures defined only for A and B are then unknown.
 */
#ifndef TDM_ANALYZE_PRESSURE_H
#define TDM_ANALYZE_PRESSURE_H

#include "analyze/budget/budget.h"
#include "analyze/pressure/cb_advice.h"
#include "analyze/report/perf_waits.h"
#include "model/card/card.h"
#include "model/result/result.h"

#define TDM_PRESSURE_TILES_MAX UINT64_C(1000000)

/*
 * ---- indicators ----  Indicators of how tight circular buffers are, the same for planned sizes and for logs. Severity
 * OK is the band LOW, WARNING is MEDIUM, BROKEN is HIGH.
 */

/* The indicators. Each is a share from 0 to 1, except SCORE, which is a number up to 100; NAN if unknown. */
enum tdm_pressure {
	TDM_PRESSURE_MISS,        /* share of the B tiles that do not fit CB1 at the same time */
	TDM_PRESSURE_UTILIZATION, /* average over circular buffers of the highest fill */
	TDM_PRESSURE_STALLS,      /* share of reserves and waits that had to wait */
	TDM_PRESSURE_L1,          /* share of a core's usable L1 that circular buffers occupy */
	TDM_PRESSURE_SCORE,       /* the largest of MISS, STALLS and L1, times 100 */
	TDM_PRESSURE_COUNT
};

const char *tdm_pressure_name(enum tdm_pressure indicator);      /* name in JSON */
const char *tdm_pressure_band_name(enum tdm_pressure indicator); /* name of its band in JSON; NULL if it has none */

/* INFO if the indicator has no band, or if the value is unknown. */
enum tdm_severity tdm_pressure_band(enum tdm_pressure indicator, double value);

/* The share of the B tiles (at least one) that do not fit CB1 at the same time. */
double tdm_pressure_miss(uint64_t b_tiles, uint64_t cb1_tiles);

/* Computed from the known shares; NAN if none is known. */
double tdm_pressure_score(double miss, double stalls, double l1_share);

/* ---- strategies ---- */

enum tdm_sizing_name {
	TDM_SIZING_CONSTANT,         /* four tiles for each buffer, regardless of the workload */
	TDM_SIZING_ADAPTIVE_GUIDE,   /* the rule as printed in the guide */
	TDM_SIZING_ADAPTIVE_PROGRAM, /* the rule as computed by the program, with a target of 48 KiB */
	TDM_SIZING_GIVEN,            /* the sizes of a pattern file */
	TDM_SIZING_ADVISED,          /* found by searching with the model */
	TDM_SIZINGS
};

struct tdm_pressure_setup {
	uint64_t a_tiles, b_tiles;
	uint32_t mesh_rows, mesh_columns;
	uint64_t tile_bytes;
	const struct tdm_card *card;
	const struct tdm_core_speed *speed;
	const struct tdm_cb_pattern *pattern; /* read from a file; NULL for the workload */
	uint64_t l1_used;                     /* bytes of L1 buffers on each core */
	struct tdm_progress *progress;        /* progress of the search for advice; NULL if not shown */
};

struct tdm_sizing {
	uint8_t name; /* enum tdm_sizing_name */
	const struct tdm_cb_pattern *pattern;
	uint32_t *depths; /* depths in pages, in the order of the pattern; borrowed from the result */
	uint64_t bytes;   /* bytes of all buffers, with the alignment of their starts */
	double metrics[TDM_PRESSURE_COUNT];
	double memory_efficiency; /* tiles both needed and available, as a share of tiles either needed or available */
	/* share of the whole L1 used by firmware, kernels, circular buffers and L1 buffers */
	double map_share;
	bool fits;
	struct tdm_model_result model;
};

struct tdm_pressure_result {
	struct tdm_pressure_setup setup;
	struct tdm_cb_pattern pattern;
	uint64_t tiles_per_shard;
	uint64_t *needs;                       /* number of tiles of the workload for each buffer */
	uint32_t *depths;                      /* depths in all strategies */
	uint64_t l1_usable, l1_left;           /* bytes available for circular buffers; may be TDM_BYTES_UNKNOWN */
	uint64_t firmware_bytes, kernel_bytes; /* kernel_bytes: limit for all kernels of a program */
	uint64_t card_buffers;                 /* number of circular buffers in a core; may be TDM_BYTES_UNKNOWN */
	size_t beyond_card;                    /* number of the pattern's buffers whose index the card lacks */
	const char *workload;                  /* class of the workload; NULL if unknown */
	const char *behaviour;                 /* behaviour that the guide expects of this class */
	struct tdm_sizing strategies[TDM_SIZINGS];
	size_t strategy_count;
	struct tdm_cb_advice advice;
};

/* The workload's default data format. */
#define TDM_PRESSURE_FORMAT "fp32"
enum { TDM_PRESSURE_MESH_ROWS = 1, TDM_PRESSURE_MESH_COLUMNS = 2 };

const char *tdm_sizing_title(enum tdm_sizing_name name); /* such as "adaptive_guide" */

/* Tiles of CB0, CB1, CB2 and CB16 by one of the first three strategies. */
void tdm_sizing_tiles(enum tdm_sizing_name name, uint64_t tiles_per_shard, uint64_t b_tiles, uint32_t tiles[4]);

/* Evaluates every strategy, running the model with each. Strategies point into *result, which must not move; release it
 * with tdm_pressure_done(). */
void tdm_pressure_analyze(const struct tdm_pressure_setup *setup, struct tdm_pressure_result *result);
void tdm_pressure_done(struct tdm_pressure_result *result);

/* The strategy with this name; NULL if the result has none. */
const struct tdm_sizing *tdm_pressure_sizing(const struct tdm_pressure_result *result, enum tdm_sizing_name name);

/* The first result whose strategy has this thrashing risk; NULL if there is none. */
const struct tdm_pressure_result *tdm_pressure_first(
	const struct tdm_pressure_result *results, size_t count, enum tdm_sizing_name name, enum tdm_severity band);

/*
 * For each strategy, adds an error if its buffers deadlock or do not fit. Also adds a warning about the first result,
 * in the given order, in which the strategy's thrashing risk is HIGH. If there is none, adds a note about the first
 * result in which the risk is MEDIUM. The score is a heuristic based on sizes, so each finding also states the model's
 * throughput as a share of the best. Advice is a note. The results must outlive the findings.
 */
void tdm_pressure_find(const struct tdm_pressure_result *results, size_t count, struct tdm_findings *errors,
	struct tdm_findings *remarks);

/*
 * ---- the model fitted to a measurement ----  Fits a pattern's model to a measured operation: the time of the kernels,
 * and how long a core waited for filled pages (front) and for free pages (back). Two factors are fitted: the ratios of
 * the actual transfer and computation times to those given by the constants.
 */

enum tdm_fit_figure { TDM_FIT_KERNEL, TDM_FIT_FRONT, TDM_FIT_BACK, TDM_FIT_FIGURES };

struct tdm_model_fit {
	const char *operation;               /* borrowed */
	uint64_t calls;                      /* number of calls with all measurements */
	uint64_t unmeasured;                 /* number of other calls of the operation */
	uint64_t refused;                    /* number of refused rows in the whole report */
	double measured_ns[TDM_FIT_FIGURES]; /* figures of one call on one core */
	/* the model's figures before and after the fit */
	double before_ns[TDM_FIT_FIGURES], after_ns[TDM_FIT_FIGURES];
	double transfers, math; /* the fitted factors */
	double error; /* after the fit: average difference of the three figures, as a share of the kernel time */
	double error_before;
};

/* The operation with this name or, if `name` is NULL, the one with the longest waits. NULL if none was measured or took
 * any time. */
const struct tdm_perf_operation *tdm_model_fit_operation(const struct tdm_perf_waits *waits, const char *name);

/* Fits the factors and applies them to *speed. 0, or -EDEADLK for a pattern that never ends. */
int tdm_model_fit(const struct tdm_cb_pattern *pattern, const struct tdm_perf_operation *operation,
	struct tdm_core_speed *speed, struct tdm_model_fit *fit);

/* ---- the report: everything shown together ---- */

enum { TDM_PRESSURE_SIZES_MAX = 64 };

/* A workload or pattern, or a workload in several sizes. Must be zeroed at first. */
struct tdm_pressure_report {
	/* Set by the caller: */
	struct tdm_pressure_setup setup;           /* shared by all results, except for their tiles */
	uint64_t sizes[TDM_PRESSURE_SIZES_MAX][2]; /* tiles of A and B; if there are none: the default, or a pattern */
	size_t size_count;
	bool is_multi, explain;          /* is_multi: several sizes; explain: show the model's constants */
	const char *format;              /* data format of the tiles */
	const char *pattern_path;        /* NULL if there is none */
	const struct tdm_model_fit *fit; /* fit to a performance report; NULL if there is none */
	const char *baseline;            /* NULL if not given */
	bool is_as_baseline;             /* no budget differs from the baseline */
	/* Results: */
	struct tdm_pressure_result *results;
	size_t count;
	struct tdm_budgets budgets;         /* budgets of all strategies in all results */
	struct tdm_findings found, remarks; /* problems, including growth over the baseline; the other findings */
};

void tdm_pressure_run(struct tdm_pressure_report *report);
void tdm_pressure_report_done(struct tdm_pressure_report *report);

/* Output of `tidemark pressure`. The report is borrowed until the result is freed. Defined in pressure_result.c. */
void tdm_pressure_show(struct tdm_block *in, const struct tdm_pressure_report *report);

#endif
