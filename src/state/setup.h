/*
 * Everything by which a set-up is judged, read once: a picture of the machine and what it was made of, a picture of the
 * ledgers, and what sources/probe.h finds out beside them.
 */
#ifndef TDM_STATE_SETUP_H
#define TDM_STATE_SETUP_H

#include "sources/probe.h"
#include "state/state.h"

struct tdm_setup {
	const struct tdm_picture *machine;
	const struct tdm_host *host;
	const struct tdm_metal_list *metal;
	const struct tdm_picture *picture; /* of the ledgers alone, whichever source wins; with processes that ended */
	struct tdm_probe probe;
	struct tdm_probe_file *nodes;   /* of each card of the host */
	struct tdm_probe_file *regions; /* of each region */
	struct tdm_probe_file *unread;  /* of each problem of the picture */
	uint64_t left_bytes;            /* that the ledgers of ended processes take */
	int *disabled; /* of each process of the host, whether it has TDM_PROBE_DISABLE: 1, 0, or a negative code */
	struct tdm_state *machine_state, *state; /* of the two pictures */
};

/* 0 or -ENOMEM; to be released in either case. The places are borrowed. */
int tdm_setup_read(struct tdm_setup *setup, const struct tdm_probe_places *places);
void tdm_setup_done(struct tdm_setup *setup);

/* Whether the library takes these values of its variables, or uses others and says so in the ledger. */
bool tdm_setup_mode_is_valid(const char *value);
bool tdm_setup_ring_is_valid(const char *value);

#endif
