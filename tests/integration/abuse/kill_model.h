/*
 * What a victim does, and what its ledger must say afterwards. Step i follows from the seed and the steps before it, so
 * the checking process can repeat the steps when it knows only their number.
 */
#ifndef TDM_KILL_MODEL_H
#define TDM_KILL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/kind.h"
#include "ledger/layout/layout.h"

enum { MODEL_DEVICES = 2, MODEL_LIVE_MAX = 7000, MODEL_NAME_MAX = 40 };

enum model_what {
	MODEL_ALLOC,
	MODEL_FREE,
	MODEL_REREPORT,
	MODEL_BAD_FREE,
	MODEL_OOM,
	MODEL_PHASE,
	MODEL_FREE_ALL,
	MODEL_DESCRIBE,
};

struct model_buffer {
	uint64_t id, address, asked, bank_bytes;
	uint32_t banks, kind;
	bool is_view;
	char name[MODEL_NAME_MAX]; /* empty: none */
};

struct model_step {
	enum model_what what;
	uint32_t device;
	uint32_t at; /* of the buffer that it is about */
	struct model_buffer buffer;
};

struct model_sums {
	uint64_t bytes, buffers, bank_bytes, asked, allocs, alloc_bytes, alloc_asked;
};

struct model_device {
	struct model_buffer live[MODEL_LIVE_MAX];
	uint32_t count;
	struct model_sums now[TDM_LEDGER_COUNTERS], peak[TDM_LEDGER_COUNTERS];
	uint64_t rereports, bad_frees, out_of_memory;
	bool used; /* reported for at least once */
};

struct model {
	uint64_t seed, steps;
	uint32_t phases;
	bool growing;
	bool bursts; /* one device, which fills up and is emptied again without much else */
	struct model_device devices[MODEL_DEVICES];
};

void model_init(struct model *model, uint64_t seed, bool bursts);

/* The next step; the model stays as it is but for its random numbers. */
struct model_step model_next(struct model *model);

/* Takes it. `half`: the first half of a second report only, the release that it stands for. */
void model_apply(struct model *model, const struct model_step *step, bool half);

/* Reports it to the library. */
void model_report(const struct model_step *step);

#endif
