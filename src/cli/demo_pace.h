/*
 * How fast a workload of the demo goes and when it ends: after a time, after a number of rounds, or when a signal asks
 * for it. Signals that end a program are blocked and looked for between steps, so that a workload always ends in order
 * and takes its ledger away.
 */
#ifndef TDM_CLI_DEMO_PACE_H
#define TDM_CLI_DEMO_PACE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define TDM_DEMO_NO_LIMIT UINT64_MAX

struct tdm_demo_pace {
	uint64_t deadline_ns; /* TDM_DEMO_NO_LIMIT: none */
	uint64_t rounds;      /* still to do; TDM_DEMO_NO_LIMIT: as many as the time allows */
	bool hurried;         /* a number of rounds was asked for: no pauses */
	bool stopped;
	sigset_t signals;
};

/* `seconds` from now, or `rounds` without pauses; TDM_DEMO_NO_LIMIT for no limit. Blocks the signals. */
void tdm_demo_pace_init(struct tdm_demo_pace *pace, uint64_t seconds, uint64_t rounds);

/* When the first frame of text is due in a demo of so many seconds, and from when on there are none: one that came
 * while the programs end would show some of them, or nothing. */
void tdm_demo_plan_frames(uint64_t now_ns, uint64_t seconds, uint64_t *first_ns, uint64_t *end_ns);

/* Waits so long, or until something ends the workload. False: it is to end. */
bool tdm_demo_pause(struct tdm_demo_pace *pace, unsigned ms);

/* A round is over. False: it was the last one. */
bool tdm_demo_round(struct tdm_demo_pace *pace);

#endif
