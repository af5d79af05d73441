/*
 * What is probably leaking, and why. The buffers of programs are looked at again and again (or once), added up by
 * site: the process, the device, the kind, and the name that was given to the buffer, else the call stack.
 *
 * Nothing is kept for single buffers. Each picture has the time of every birth, so two thresholds in it are enough: the
 * buffers of a site that were born before the last picture and are gone now have been freed; and those that are older
 * than a quarter of the watching time are its floor. Buffers that come and go, however many, are no part of the floor
 * and do not hide what grows below them. docs/decisions/leaks.md has the reasons and the rules of the verdicts.
 */
#ifndef TDM_ANALYZE_LEAKS_H
#define TDM_ANALYZE_LEAKS_H

#include "analyze/finding.h"
#include "state/picture.h"

enum {
	TDM_LEAKS_WINDOWS = 16,      /* that the watching time is cut into */
	TDM_LEAKS_SITES_MAX = 65536, /* what is beyond is added up by kind */
	TDM_LEAKS_LIFETIMES = 32,    /* of freed buffers that are kept for a site: the latest */
};

/* Why. id, verdict (TDM_FINDING_BROKEN is a leak, TDM_FINDING_WARNING a suspect, TDM_FINDING_OK steady), name in JSON
 */
#define TDM_LEAK_WHY_LIST(X)                                                                                          \
	X(GROWS, BROKEN, "grows")             /* what is old at the site grows steadily, and none of it is freed */   \
	X(AT_EXIT, BROKEN, "never_freed")     /* the program ended by itself and had not freed it */                  \
	X(UNSURE, WARNING, "may_grow")        /* it grows, but too little was seen to be sure */                      \
	X(SLOWS, WARNING, "slows_down")       /* it grows, but slower and slower */                                   \
	X(LATE, WARNING, "began_lately")      /* it began to grow while it was watched */                             \
	X(LOADING, WARNING, "loading")        /* it grows, but the program may still be loading */                    \
	X(PROGRAMS, WARNING, "programs_grow") /* memory of programs grows, as a cache of programs does */             \
	X(MANY, WARNING, "many_sites")        /* many sites grow by one or two each: names that differ, or loading */ \
	X(SPREAD, WARNING, "spread")    /* births of what lives are spread evenly over the life of the program */     \
	X(CONSTANT, OK, "constant")     /* nothing came to stay and nothing was freed */                              \
	X(TURNS_OVER, OK, "turns_over") /* buffers come and go */                                                     \
	X(YOUNG, OK, "young")           /* it grows, but freed ones of the site became as old as its oldest */        \
	X(LEVELLED, OK, "levelled_off") /* it grew and has stopped */                                                 \
	X(KILLED, OK, "killed")         /* left by a program that was killed: it had no chance to free it */          \
	X(RUNTIME, OK, "runtime")       /* kernels, firmware and configuration that the runtime leaves to the card */ \
	X(UNWATCHED, OK, "unwatched")   /* seen once only, with nothing that speaks for a leak */

enum tdm_leak_why {
#define X(id, verdict, name) TDM_LEAK_##id,
	TDM_LEAK_WHY_LIST(X)
#undef X
		TDM_LEAK_WHY_COUNT
};

/* Of a finding, `code` is the reason and `what` its name. */
const char *tdm_leak_why_name(enum tdm_leak_why why);

/* What the findings rest on. */
struct tdm_leaks_result {
	uint64_t watched_ns, samples;
	uint64_t sites_left_out; /* buffers beyond TDM_LEAKS_SITES_MAX sites, at the last sample */
};

struct tdm_leaks;

/* `watch_ns`: how long it is going to be watched; 0: a single picture. NULL only when out of memory. */
struct tdm_leaks *tdm_leaks_new(uint64_t watch_ns);
void tdm_leaks_free(struct tdm_leaks *leaks); /* NULL is allowed */

/* Takes a picture in, with its buffers and with the events since the last one, all of one state. `time_ns`: monotonic
 * clock, before it was taken; not before the last. 0 or -ENOMEM. */
int tdm_leaks_sample(struct tdm_leaks *leaks, const struct tdm_picture *picture, uint64_t time_ns);

/* A finding for each site of the last sample, whose picture this is, the worst first. Figures that cannot be known, as
 * growth in a single picture, are unknown. 0 or -ENOMEM. */
int tdm_leaks_judge(struct tdm_leaks *leaks, const struct tdm_picture *picture, struct tdm_findings *findings,
	struct tdm_leaks_result *result);

#endif
