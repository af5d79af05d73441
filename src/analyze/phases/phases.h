/*
 * Training phases: measured figures compared with the theory, the parts of the peak, whether the peak fits, and advice
 * if it does not. The rules are those that tt-train documents for its tracker:
 *
 *   model      MODEL_CREATION's change             expected: parameters x 2 bytes
 *   optimizer  OPTIMIZER_CREATION's change         expected: 2 x model
 *   gradients  bytes in use after BACKWARD_PASS minus bytes after OPTIMIZER_CREATION; expected: 1 x model
 *   activations         FORWARD_PASS's change
 *   gradients overhead  BACKWARD_PASS's peak above its start
 *   other      the peak minus model, optimizer, activations and gradients overhead, at least 0
 *
 * FORWARD_PASS_micro_N and BACKWARD_PASS_micro_N, and repeated names, are micro-batches of one phase. Allocations,
 * frees and changes are added up; only the largest peaks and activations count, since micro-batches do not overlap.
 */
#ifndef TDM_ANALYZE_PHASES_H
#define TDM_ANALYZE_PHASES_H

#include "model/event/record.h"
#include "model/result/result.h"

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

extern const char *const tdm_phases_role_names[TDM_ROLE_COUNT]; /* such as "FORWARD_PASS" */

/* Finds the role for a name, ignoring a trailing "_micro_N" or "__NNNNNN". */
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
	const char *name; /* name in text, such as "Model Parameters" */
	const char *key;  /* name in JSON, such as "model" */
	uint32_t rgb;
};

extern const struct tdm_phases_part_info tdm_phases_parts[TDM_PART_COUNT];

/* From the user; TDM_BYTES_UNKNOWN if not given. */
struct tdm_phases_options {
	uint64_t device_memory_bytes, model_bytes, optimizer_bytes, gradients_bytes;
	bool use_actual_sizes; /* compute the parts of the peak from the measured sizes of model and optimizer */
};

#define TDM_PHASES_NO_OPTIONS                                                                     \
	{                                                                                         \
		TDM_BYTES_UNKNOWN, TDM_BYTES_UNKNOWN, TDM_BYTES_UNKNOWN, TDM_BYTES_UNKNOWN, false \
	}

enum tdm_phases_memory_from { TDM_MEMORY_OPTION, TDM_MEMORY_RUN, TDM_MEMORY_DEFAULT };

/* All phases of one role together. */
struct tdm_phases_group {
	size_t count; /* number of phases; 0 if the run has none */
	struct tdm_phase_figures sum;
	int64_t largest_change;
};

struct tdm_phases_pair {
	int64_t measured;  /* or TDM_PHASE_UNKNOWN */
	uint64_t expected; /* or TDM_BYTES_UNKNOWN */
};

/*
 * How to reduce the peak below the device's memory, assuming that activations shrink in proportion and nothing else
 * grows.
 */
struct tdm_phases_advice {
	const char *why_not; /* why there is no advice; NULL if there is */
	int64_t least_peak;  /* peak without any activations */
	/* share of the activations that may remain, 0 to 1; negative if the run does not fit even without activations
	 * */
	double keep_share;
	/* number by which to divide the batch, a power of two; 0 if even TDM_PHASES_BATCH_DIVISOR_MAX is not enough */
	unsigned divisor;
	int64_t divided_peak; /* peak with that divisor */
	const struct tdm_phase_run
		*fitting; /* another run of the same model that fits because its activations are smaller, or NULL */
	int64_t fitting_activations;
};

struct tdm_phases {
	const struct tdm_phase_run *run; /* borrowed */
	struct tdm_phases_group groups[TDM_ROLE_COUNT];
	uint64_t device_memory_bytes;
	size_t device_count; /* number of devices that share this memory, at least 1 */
	enum tdm_phases_memory_from memory_from;
	struct tdm_phases_pair model, optimizer, gradients;
	int64_t activations, gradients_overhead, peak; /* or TDM_PHASE_UNKNOWN */
	bool other_model;                              /* the parameters differ from those of the theory */
	/* Parts of the peak. An unknown part is TDM_PHASE_UNKNOWN, and counts as 0 when "other" is computed. */
	int64_t parts[TDM_PART_COUNT];
	bool parts_measured; /* model and optimizer are measured sizes, by request or because there is no theory */
	bool fits_known;     /* the peak is known, and no missing phase could raise it above the device's memory */
	bool fits;           /* judged by the peak of the phases that were read */
	struct tdm_phases_advice advice; /* set if the run does not fit */
};

/* Analyses the runs of one input. All runs share a theory and a device, from the options or else from the first run
 * that states them. `results` has space for all runs. */
void tdm_phases_analyze(
	const struct tdm_phase_runs *runs, const struct tdm_phases_options *options, struct tdm_phases *results);

/* (measured - expected) / expected, in percent; 0 if 0 is expected; NAN if either is unknown. */
double tdm_phases_difference(const struct tdm_phases_pair *pair);

/* The peak as a percentage of the device's memory. */
double tdm_phases_usage(const struct tdm_phases *result);

/* The peak if only this share of the activations, 0 to 1, remained. */
int64_t tdm_phases_peak_with(const struct tdm_phases *result, double share);

/* ---- inputs ---- */

enum { TDM_PHASES_REFUSED_MAX = 16 };

/* An input with its runs, and the first places in the input that could not be used. */
struct tdm_phases_input {
	const char *source; /* "train_log", "ledger", "ttnn_report" or "capture" */
	const char *path;   /* path of the file; NULL if there are several captures; borrowed */
	struct tdm_phase_runs runs;
	struct tdm_phases *results; /* result of each run, set at the end */
	struct tdm_diag refused[TDM_PHASES_REFUSED_MAX];
	size_t refused_kept;
	uint64_t refused_count; /* number of all refusals */
};

/* Receives the runs in a log, and refusals; can serve as a record sink. `input` is a struct tdm_phases_input. Returns
 * 0. */
int tdm_phases_take(void *input, const struct tdm_record *record);
/* Call after the last run: analyses all runs. `options` may be NULL. */
void tdm_phases_end(struct tdm_phases_input *input, const struct tdm_phases_options *options);
void tdm_phases_input_done(void *input);

/* ---- the result: phases_result.c ---- */

void tdm_phases_show(struct tdm_block *in, const struct tdm_phases_input *inputs, size_t count);

/* Adds a finding if the peak of the run does not fit on the device; only a warning if the device's size is assumed. The
 * run must outlive the finding. */
void tdm_phases_find(const struct tdm_phases *result, struct tdm_findings *found);

#endif
