/*
 * Training phases: measured figures against the theory, the parts of the peak, whether it fits, and what would help if
 * it does not. The rules are those that tt-train documents for its tracker:
 *
 *   model      MODEL_CREATION's change             expected: parameters x 2 bytes
 *   optimizer  OPTIMIZER_CREATION's change         expected: 2 x model
 *   gradients  what is in use after BACKWARD_PASS less what was after OPTIMIZER_CREATION; expected: 1 x model
 *   activations         FORWARD_PASS's change
 *   gradients overhead  BACKWARD_PASS's peak, above its start
 *   other      the peak less model, optimizer, activations and gradients overhead, not below 0
 *
 * FORWARD_PASS_micro_N and BACKWARD_PASS_micro_N, and repeated names, are micro-batches of one phase: what they
 * allocate, free and change is added up; of peaks and activations the largest counts, since micro-batches do not
 * overlap.
 */
#ifndef TDM_ANALYZE_PHASES_H
#define TDM_ANALYZE_PHASES_H

#include "event/phase_run.h"

/* The documented default: 12 GB. */
#define TDM_PHASES_DEVICE_MEMORY (UINT64_C(12) << 30)

enum { TDM_PHASES_BYTES_PER_PARAMETER = 2, TDM_PHASES_BATCH_DIVISOR_MAX = 1024 };

/* The phases with a special meaning. */
enum tdm_phases_role {
	TDM_ROLE_MODEL,
	TDM_ROLE_OPTIMIZER,
	TDM_ROLE_FORWARD,
	TDM_ROLE_BACKWARD,
	TDM_ROLE_COUNT,
	TDM_ROLE_NONE = TDM_ROLE_COUNT,
};

extern const char *const tdm_phases_role_names[TDM_ROLE_COUNT]; /* "FORWARD_PASS" */

/* By the name without a trailing "_micro_N" or "__NNNNNN". */
enum tdm_phases_role tdm_phases_role_of(const char *name);

/* The parts of the peak, from bottom to top of the chart. */
enum tdm_phases_part {
	TDM_PART_OTHER,
	TDM_PART_MODEL,
	TDM_PART_GRADIENTS,
	TDM_PART_OPTIMIZER,
	TDM_PART_ACTIVATIONS,
	TDM_PART_COUNT,
};

struct tdm_phases_part_info {
	const char *name; /* "Model Parameters" */
	const char *key;  /* "model" */
	uint32_t rgb;
};

extern const struct tdm_phases_part_info tdm_phases_parts[TDM_PART_COUNT];

/* From the user; TDM_BYTES_UNKNOWN: not given. */
struct tdm_phases_options {
	uint64_t device_memory_bytes, model_bytes, optimizer_bytes, gradients_bytes;
	bool use_actual_sizes; /* use the measured sizes of model and optimizer in the parts of the peak */
};

#define TDM_PHASES_NO_OPTIONS                                                                     \
	{                                                                                         \
		TDM_BYTES_UNKNOWN, TDM_BYTES_UNKNOWN, TDM_BYTES_UNKNOWN, TDM_BYTES_UNKNOWN, false \
	}

enum tdm_phases_memory_from { TDM_MEMORY_OPTION, TDM_MEMORY_RUN, TDM_MEMORY_DEFAULT };

/* All phases of one role together. */
struct tdm_phases_group {
	size_t count; /* 0: the run has no such phase */
	struct tdm_phase_figures sum;
	int64_t largest_change;
};

struct tdm_phases_pair {
	int64_t measured;  /* or TDM_PHASE_UNKNOWN */
	uint64_t expected; /* or TDM_BYTES_UNKNOWN */
};

/*
 * How to get the peak below the device's memory, assuming that activations shrink in proportion and nothing else grows.
 */
struct tdm_phases_advice {
	const char *why_not;  /* why there is no advice; NULL: there is some */
	int64_t least_peak;   /* without any activations */
	double keep_share;    /* of the activations that may stay, 0 to 1; below 0: it does not fit even without any */
	unsigned divisor;     /* of the batch, a power of two; 0: even TDM_PHASES_BATCH_DIVISOR_MAX is not enough */
	int64_t divided_peak; /* with that divisor */
	const struct tdm_phase_run
		*fitting; /* another run of the same model that fits with smaller activations, or NULL */
	int64_t fitting_activations;
};

struct tdm_phases {
	const struct tdm_phase_run *run; /* borrowed */
	struct tdm_phases_group groups[TDM_ROLE_COUNT];
	uint64_t device_memory_bytes;
	size_t device_count; /* that share this memory, at least 1 */
	enum tdm_phases_memory_from memory_from;
	struct tdm_phases_pair model, optimizer, gradients;
	int64_t activations, gradients_overhead, peak; /* or TDM_PHASE_UNKNOWN */
	bool other_model;                              /* its parameters differ from those of the theory */
	/* Parts of the peak; an unknown part is TDM_PHASE_UNKNOWN and counts as 0 when "other" is computed. */
	int64_t parts[TDM_PART_COUNT];
	bool parts_measured; /* model and optimizer are the measured ones: asked for, or no theory */
	bool fits_known;     /* the peak is known, and no missing phase could raise it above the device's memory */
	bool fits;           /* as far as it is known */
	struct tdm_phases_advice advice; /* when it does not fit */
};

/* Analyses the runs of one input. They share a theory and a device: from the options, else from the first run that says
 * so. `results` has room for all runs. */
void tdm_phases_analyze(
	const struct tdm_phase_runs *runs, const struct tdm_phases_options *options, struct tdm_phases *results);

/* (measured - expected) / expected, in percent; 0 when 0 is expected; NAN when one is unknown. */
double tdm_phases_difference(const struct tdm_phases_pair *pair);

/* The peak as a percentage of the device's memory. */
double tdm_phases_usage(const struct tdm_phases *result);

/* The peak with only this share of the activations, 0 to 1. */
int64_t tdm_phases_peak_with(const struct tdm_phases *result, double share);

#endif
