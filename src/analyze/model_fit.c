#include "analyze/model_fit.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { ROUNDS = 5, STEPS = 6, NARROWER = 4 };

/* Factors are searched on a logarithmic scale, from 1 / this to this. */
static const double factor_max = 16;

struct fitting {
	const struct tdm_cb_pattern *pattern;
	struct tdm_core_speed base; /* before the factors */
	struct tdm_model_fit *fit;
	struct tdm_model_result result; /* of the last run */
	int err;
};

const struct tdm_perf_operation *tdm_model_fit_operation(const struct tdm_perf_waits *waits, const char *name)
{
	for (size_t i = 0; i < waits->operation_count; i++) {
		const struct tdm_perf_operation *op = &waits->operations[i];
		if (op->measured != 0 && op->kernel_ns != 0 && (name == NULL || strcmp(op->name, name) == 0))
			return op;
	}
	return NULL;
}

static void scale(const struct tdm_core_speed *base, double transfers, double math, struct tdm_core_speed *speed)
{
	static const uint8_t moves[] = { TDM_SPEED_DRAM_READ_FIXED, TDM_SPEED_DRAM_WRITE_FIXED, TDM_SPEED_L1_READ_FIXED,
		TDM_SPEED_L1_WRITE_FIXED };
	static const uint8_t computes[] = { TDM_SPEED_MATH_ROUND, TDM_SPEED_FPU_ADD, TDM_SPEED_FPU_MUL,
		TDM_SPEED_MATMUL, TDM_SPEED_REDUCE, TDM_SPEED_SFPU };
	*speed = *base;
	for (size_t i = 0; i < sizeof moves; i++) { /* fixed, per KiB, bandwidth, issue */
		double *of = &speed->value[moves[i]];
		of[0] *= transfers;
		of[1] *= transfers;
		of[2] /= transfers;
		of[3] *= transfers;
		memset(&speed->tag[moves[i]], TDM_SPEED_FITTED, 4);
	}
	speed->value[TDM_SPEED_COPY_BANDWIDTH] /= transfers;
	speed->tag[TDM_SPEED_COPY_BANDWIDTH] = TDM_SPEED_FITTED;
	for (size_t i = 0; i < sizeof computes; i++) {
		speed->value[computes[i]] *= math;
		speed->tag[computes[i]] = TDM_SPEED_FITTED;
	}
}

static bool computes(const struct tdm_cb_pattern *p, size_t kernel)
{
	return p->stages[p->kernels[kernel].first].work == TDM_STAGE_COMPUTE;
}

/* The three figures of the model. The profiler measures the waits of kernels that compute. */
static void predict(struct fitting *f, double transfers, double math, double ns[TDM_FIT_FIGURES])
{
	struct tdm_core_speed speed;
	struct tdm_cb_model model;
	struct tdm_model_result *result = &f->result;
	scale(&f->base, transfers, math, &speed);
	ns[TDM_FIT_KERNEL] = ns[TDM_FIT_FRONT] = ns[TDM_FIT_BACK] = 0;
	f->err = f->err != 0 ? f->err : tdm_cb_model_init(&model, f->pattern, &speed);
	if (f->err != 0)
		return;
	f->err = tdm_cb_model_run(&model, NULL, false, result);
	tdm_cb_model_done(&model);
	if (f->err == 0 && result->is_deadlocked)
		f->err = -EDEADLK;
	if (f->err != 0)
		return;
	ns[TDM_FIT_KERNEL] = result->ns;
	for (size_t i = 0; i < f->pattern->kernel_count; i++) {
		if (!computes(f->pattern, i))
			continue;
		ns[TDM_FIT_FRONT] += result->kernels[i].pages_ns;
		ns[TDM_FIT_BACK] += result->kernels[i].room_ns;
	}
}

static double error_of(const struct tdm_model_fit *fit, const double ns[TDM_FIT_FIGURES])
{
	double sum = 0;
	for (int i = 0; i < TDM_FIT_FIGURES; i++)
		sum += fabs(ns[i] - fit->measured_ns[i]);
	return sum / TDM_FIT_FIGURES / fit->measured_ns[TDM_FIT_KERNEL];
}

/* Tries both factors in equal steps up to `width` around the best so far, on a logarithmic scale. */
static void improve(struct fitting *f, double width)
{
	struct tdm_model_fit *fit = f->fit;
	const double transfers = fit->transfers, math = fit->math;
	for (int i = -STEPS; i <= STEPS; i++)
		for (int k = -STEPS; k <= STEPS && f->err == 0; k++) {
			double now[TDM_FIT_FIGURES];
			double x = transfers * exp(width * i / STEPS), y = math * exp(width * k / STEPS);
			predict(f, x, y, now);
			if (f->err != 0 || !(error_of(fit, now) < fit->error))
				continue;
			fit->error = error_of(fit, now);
			fit->transfers = x;
			fit->math = y;
			memcpy(fit->after_ns, now, sizeof now);
		}
}

int tdm_model_fit(const struct tdm_cb_pattern *pattern, const struct tdm_perf_operation *op,
	struct tdm_core_speed *speed, struct tdm_model_fit *fit)
{
	struct fitting f = { .pattern = pattern, .base = *speed, .fit = fit };
	double calls = (double)op->measured;
	*fit = (struct tdm_model_fit){ .operation = op->name,
		.calls = op->measured,
		.unmeasured = op->calls - op->measured,
		.measured_ns = { (double)op->kernel_ns / calls, (double)op->front_ns / calls,
			(double)op->back_ns / calls },
		.transfers = 1,
		.math = 1 };
	predict(&f, 1, 1, fit->before_ns);
	memcpy(fit->after_ns, fit->before_ns, sizeof fit->after_ns);
	fit->error = fit->error_before = error_of(fit, fit->before_ns);
	double width = log(factor_max);
	for (int i = 0; i < ROUNDS && f.err == 0; i++, width /= NARROWER)
		improve(&f, width);
	if (f.err == 0)
		scale(&f.base, fit->transfers, fit->math, speed);
	tdm_model_result_done(&f.result);
	return f.err;
}
