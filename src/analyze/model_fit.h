/*
 * Fits the model of a pattern to an operation that was measured: the time of its kernels and how long a core waited for
 * filled pages (front) and for free ones (back). Two factors are fitted: how much longer transfers and computations
 * take than the constants say.
 */
#ifndef TDM_ANALYZE_MODEL_FIT_H
#define TDM_ANALYZE_MODEL_FIT_H

#include "analyze/cb_model.h"
#include "analyze/perf_waits.h"

enum tdm_fit_figure { TDM_FIT_KERNEL, TDM_FIT_FRONT, TDM_FIT_BACK, TDM_FIT_FIGURES };

struct tdm_model_fit {
	const char *operation;                                        /* borrowed */
	uint64_t calls;                                               /* that were measured */
	uint64_t unmeasured;                                          /* other calls of the operation */
	uint64_t refused;                                             /* rows of the whole report */
	double measured_ns[TDM_FIT_FIGURES];                          /* of one call, on one core */
	double before_ns[TDM_FIT_FIGURES], after_ns[TDM_FIT_FIGURES]; /* of the model */
	double transfers, math;                                       /* the factors */
	double error; /* after: mean difference of the three figures, as a share of the kernel time */
	double error_before;
};

/* The operation with this name, or the one that waits longest if NULL. NULL: none was measured, or took time. */
const struct tdm_perf_operation *tdm_model_fit_operation(const struct tdm_perf_waits *waits, const char *name);

/* Applies the factors to *speed. 0, -ENOMEM, or -EDEADLK for a pattern that never ends. */
int tdm_model_fit(const struct tdm_cb_pattern *pattern, const struct tdm_perf_operation *operation,
	struct tdm_core_speed *speed, struct tdm_model_fit *fit);

#endif
