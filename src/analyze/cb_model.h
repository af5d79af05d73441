/*
 * The model of a pattern: its kernels as threads of the simulation, with the costs of a card.
 *
 * A kernel that moves data is one thread. A kernel that computes is three, as on the device: unpack, which waits for
 * pages and pops them; math; and pack, which reserves and pushes. Math takes a round over from unpack when it has
 * finished the one before it, and may be two rounds ahead of pack, one in each half of the destination registers.
 */
#ifndef TDM_ANALYZE_CB_MODEL_H
#define TDM_ANALYZE_CB_MODEL_H

#include "analyze/cb_sim.h"
#include "base/buf.h"
#include "base/diag.h"
#include "device/cb_pattern.h"
#include "device/core_speed.h"

struct tdm_cb_model {
	const struct tdm_cb_pattern *pattern; /* borrowed */
	double clock_hz;
	struct tdm_cb_step *steps; /* of all threads */
	size_t step_count, step_cap;
	struct tdm_cb_thread *threads;
	uint16_t *kernel_of;           /* by thread */
	struct tdm_cb_buffer *buffers; /* the pattern's, then hidden ones */
	size_t thread_count, buffer_count;
	/* Results of the last run. */
	struct tdm_cb_thread_result *thread_results;
	struct tdm_cb_buffer_result *buffer_results;
	double *room;
};

/* Times of a kernel in nanoseconds. */
struct tdm_model_kernel {
	double pages_ns, room_ns, transfers_ns; /* waiting for filled pages, for free pages, for the network */
	double end_ns;
};

/* Its lists are its own; a result of zeroes is empty. */
struct tdm_model_result {
	double ns;          /* of the whole run */
	double tiles_per_s; /* throughput */
	double bytes_per_s; /* over the network, both ways */
	struct tdm_model_kernel *kernels;
	struct tdm_cb_buffer_result *buffers; /* with statistics only */
	double *room_ns;                      /* waiting for free pages, by buffer; infinite: for ever */
	size_t kernel_cap, buffer_cap, room_cap;
	double slot_ns;
	size_t slot_count;
	size_t bottleneck; /* the kernel that waits least for the others */
	bool is_deadlocked;
	char deadlock[512]; /* who waits for whom */
};

/* The pattern must be settled, and stays borrowed. 0 or -ENOMEM. */
int tdm_cb_model_init(
	struct tdm_cb_model *model, const struct tdm_cb_pattern *pattern, const struct tdm_core_speed *speed);
void tdm_cb_model_done(struct tdm_cb_model *model);

/* Runs it with these depths, in pages, or those of the pattern if NULL. `statistics`: how full the buffers are, too. 0
 * or -ENOMEM; a deadlock is a result. *result is of another run, or all zeroes. */
int tdm_cb_model_run(
	struct tdm_cb_model *model, const uint32_t *depths, bool statistics, struct tdm_model_result *result);

void tdm_model_result_done(struct tdm_model_result *result);

/* Cycles of math for one tile. */
double tdm_stage_math(const struct tdm_pattern_stage *stage, const struct tdm_core_speed *speed);

#endif
