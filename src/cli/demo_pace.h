/*
 * How fast a workload of the demo runs and when it ends: after a time, after a number of rounds, or on a signal.
 * Signals that end a program are blocked and checked between steps, so a workload always ends in an orderly way and
 * removes its ledger.
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
	bool hurried;         /* a number of rounds was given: no pauses */
	bool stopped;
	sigset_t signals;
};

/* `seconds` from now, or `rounds` without pauses; TDM_DEMO_NO_LIMIT for no limit. Blocks the signals. */
void tdm_demo_pace_init(struct tdm_demo_pace *pace, uint64_t seconds, uint64_t rounds);

/* In a demo of that many seconds, when the first plain frame is due, and from when on there are no more: a frame made
 * while the programs end would show only some of them, or nothing. */
void tdm_demo_plan_frames(uint64_t now_ns, uint64_t seconds, uint64_t *first_ns, uint64_t *end_ns);

/* Waits that long, or until the workload has to end: then false. */
bool tdm_demo_pause(struct tdm_demo_pace *pace, unsigned ms);

/* Ends a round. False: it was the last one. */
bool tdm_demo_round(struct tdm_demo_pace *pace);

#endif
