/*
 * Everything that `doctor` judges a setup by, read once: a picture of the machine and its sources, a picture of the
 * ledgers, and the findings of sources/probe.h.
 */
#ifndef TDM_STATE_SETUP_H
#define TDM_STATE_SETUP_H

#include "sources/probe.h"
#include "state/state.h"

struct tdm_setup {
	const struct tdm_picture *machine;
	const struct tdm_host *host;
	const struct tdm_metal_list *metal;
	const struct tdm_picture *picture; /* of the ledgers alone, including ended processes */
	struct tdm_probe probe;
	struct tdm_probe_file *nodes;   /* of each card of the host */
	struct tdm_probe_file *regions; /* of each region */
	struct tdm_probe_file *unread;  /* of each problem of the picture */
	uint64_t left_bytes;            /* size of the ledgers of ended processes */
	int *disabled; /* for each process of the host, whether it has set TDM_PROBE_DISABLE: 1, 0, or a negative code
			*/
	struct tdm_state *machine_state, *state; /* of the two pictures */
};

/* 0 or -ENOMEM; release it in either case. The places are borrowed. */
int tdm_setup_read(struct tdm_setup *setup, const struct tdm_probe_places *places);
void tdm_setup_done(struct tdm_setup *setup);

/* Whether the library accepts this value of its variable; otherwise it uses its default and says so in the ledger. */
bool tdm_setup_mode_is_valid(const char *value);
bool tdm_setup_ring_is_valid(const char *value);

#endif
