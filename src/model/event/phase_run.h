/*
 * The phases of one run of a training program, read from a log's summary, a ledger or captures. Sizes are bytes; a log
 * gives MB with two decimals, so its figures may be off by up to 5,243 bytes.
 */
#ifndef TDM_MODEL_PHASE_RUN_H
#define TDM_MODEL_PHASE_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/units.h"
#include "model/event/phase_text.h"

/* A figure that is missing or cannot be known. */
#define TDM_PHASE_UNKNOWN INT64_MIN

enum { TDM_PHASES_MAX = 100000 };

struct tdm_phase {
	char *name; /* owned */
	struct tdm_phase_figures figures;
};

struct tdm_phase_run {
	char *name;       /* owned; never NULL in a finished run */
	uint64_t line;    /* line where its summary begins; 0 if not from a file of lines */
	bool incomplete;  /* part of it is missing or could not be read */
	bool peak_so_far; /* the run's end is missing, so the peak covers only the phases that were read */
	bool last_open;   /* the last phase has not ended, so its figures are provisional */
	bool no_dispatch; /* nothing was really allocated, so the figures are hypothetical */
	struct tdm_phase *phases;
	size_t phase_count, phase_cap;
	int64_t overall_peak, final_current; /* or TDM_PHASE_UNKNOWN */
	uint64_t parameters;                 /* number of parameters; 0 if unknown */
	uint64_t device_memory_bytes;        /* or TDM_BYTES_UNKNOWN */
	/* number of devices that share device_memory_bytes; 0 if not given, treated as 1 */
	size_t device_count;
};

struct tdm_phase_runs {
	struct tdm_phase_run *runs;
	size_t count, cap;
};

void tdm_phase_runs_done(struct tdm_phase_runs *runs);

/* Adds a new run at the end, borrowed until the next one is added. `name` is copied. */
struct tdm_phase_run *tdm_phase_runs_add(struct tdm_phase_runs *runs, struct tdm_str name);

/* Moves all runs to the end of `to`. */
void tdm_phase_runs_move(struct tdm_phase_runs *to, struct tdm_phase_runs *from);
/* Moves the contents out of `run`, which is empty afterwards. */
void tdm_phase_runs_take(struct tdm_phase_runs *to, struct tdm_phase_run *run);

/* Adds a phase with all figures unknown, borrowed until the next one is added; NULL above TDM_PHASES_MAX. */
struct tdm_phase *tdm_phase_run_add(struct tdm_phase_run *run, struct tdm_str name);
void tdm_phase_run_drop_last(struct tdm_phase_run *run);

/* Adds a phase with the given figures of its segment; computes its cumulative figures, and those of the run, from the
 * phases before it. Sums saturate. 0, or -E2BIG above TDM_PHASES_MAX. */
int tdm_phase_run_append(struct tdm_phase_run *run, struct tdm_str name, const struct tdm_phase_figures *segment);

/* These saturate; the result is TDM_PHASE_UNKNOWN if an operand is. */
int64_t tdm_phase_sum(int64_t a, int64_t b);
int64_t tdm_phase_difference(int64_t a, int64_t b);

/* Whether the run's DRAM figures are known; a run made only of marks has none. */
bool tdm_phase_run_is_measured(const struct tdm_phase_run *run);

/* Prints a measured run as tt-train does. Unknown L1 figures are printed as 0: the text cannot express "unknown". */
void tdm_phase_run_print(const struct tdm_phase_run *run, struct tdm_buf *out);

#endif
