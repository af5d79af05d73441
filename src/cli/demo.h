/* The workloads of `tidemark demo`: one file each, listed in one table (demo_list.c). */
#ifndef TDM_CLI_DEMO_H
#define TDM_CLI_DEMO_H

#include <stdint.h>

#include "cli/cmd.h"
#include "cli/demo_card.h"
#include "cli/demo_pace.h"

/* Marks a function that must appear in call stacks under its own name. */
#if __has_attribute(noipa)
#define TDM_DEMO_FRAME __attribute__((noipa))
#else
#define TDM_DEMO_FRAME __attribute__((noinline))
#endif

struct tdm_demo_options {
	const char *card;
	uint32_t chips, first_device;
	uint64_t seconds, rounds; /* TDM_DEMO_NO_LIMIT: none */
	const char *socket;       /* of a server to report to; NULL: to the library */
	uint32_t message_size;
	bool recompute; /* training in memory-efficient mode: recomputes activations when needed */
};

struct tdm_demo_workload {
	const char *name;
	const char *summary;         /* what it is, after "NAME: " */
	const char *const *settings; /* overrides of the card: "field=value", NULL-terminated; NULL: none */
	/* Works until the pace says to stop or an allocation fails, then frees everything. Prints to standard
	 * output. */
	void (*run)(struct tdm_demo_card *card, const struct tdm_demo_options *options, struct tdm_demo_pace *pace);
};

extern const struct tdm_demo_workload tdm_demo_training;
extern const struct tdm_demo_workload tdm_demo_inference;
extern const struct tdm_demo_workload tdm_demo_leak;
extern const struct tdm_demo_workload tdm_demo_clash;

extern const struct tdm_demo_workload *const tdm_demo_workloads[]; /* ends with NULL */

const struct tdm_demo_workload *tdm_demo_find(const char *name); /* NULL if unknown */

/* Runs a workload in this process, which reports like any program. Returns the exit code. */
int tdm_demo_run(
	const struct tdm_cmd *cmd, const struct tdm_demo_workload *workload, const struct tdm_demo_options *options);

#endif
