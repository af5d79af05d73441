/*
 * Finds what is probably leaking, and why. It looks at the buffers of programs repeatedly (or once) and adds them up by
 * site: the process, the device, the kind, and the name of the buffer or else its call stack.
 *
 * Nothing is kept about single buffers. Each picture has the time of every birth, so two thresholds are enough: buffers
 * of a site that were born before the last picture and are gone now have been freed; and those older than a quarter of
 * the watching time are the site's floor. Buffers that come and go, however many, are not part of the floor and do not
 * hide what grows below them. docs/decisions/leaks.md explains the rules of the verdicts.
 */
#ifndef TDM_ANALYZE_LEAKS_H
#define TDM_ANALYZE_LEAKS_H

#include "analyze/finding.h"
#include "state/picture.h"

enum {
	TDM_LEAKS_WINDOWS = 16,      /* that divide the watching time */
	TDM_LEAKS_SITES_MAX = 65536, /* further ones are added up by kind */
	TDM_LEAKS_LIFETIMES = 32,    /* of freed buffers, kept for each site: the latest */
};

/* Reasons: id, verdict (TDM_FINDING_BROKEN leak, TDM_FINDING_WARNING suspect, TDM_FINDING_OK steady), name in JSON */
#define TDM_LEAK_WHY_LIST(X)                                                                                          \
	X(GROWS, BROKEN, "grows")                 /* the old buffers of the site grow steadily, and none are freed */ \
	X(REPLACED, BROKEN, "replaced_by_larger") /* its buffers are freed, but for a larger one each time */         \
	X(AT_EXIT, BROKEN, "never_freed")         /* the program exited without freeing it */                         \
	X(LEFT, BROKEN, "client_ended")           /* left by a client of a daemon; how it ended is not known */       \
	X(UNSURE, WARNING, "may_grow")            /* it grows, but too little was seen to be sure */                  \
	X(OUTGROWN, WARNING, "may_be_replaced_by_larger") /* the same, but too little was seen to be sure */          \
	X(SLOWS, WARNING, "slows_down")                   /* it grows, but ever more slowly */                        \
	X(LATE, WARNING, "began_lately")                  /* it began to grow while it was watched */                 \
	X(LOADING, WARNING, "loading")                    /* it grows, but the program may still be loading */        \
	X(PROGRAMS, WARNING, "programs_grow")             /* memory of programs grows, as a program cache does */     \
	X(MANY, WARNING, "many_sites")  /* many sites grow by one or two each: names that differ, or loading */       \
	X(SPREAD, WARNING, "spread")    /* live buffers were born evenly over the life of the program */              \
	X(CONSTANT, OK, "constant")     /* no buffer came to stay and none was freed */                               \
	X(TURNS_OVER, OK, "turns_over") /* buffers come and go */                                                     \
	X(YOUNG, OK, "young")           /* it grows, but freed buffers of the site had become as old as its oldest */ \
	X(LEVELLED, OK, "levelled_off") /* it grew and has stopped */                                                 \
	X(KILLED, OK, "killed")         /* left by a program that was killed: it had no chance to free it */          \
	X(RUNTIME, OK, "runtime")       /* kernels, firmware and configuration that the runtime leaves on the card */ \
	X(UNWATCHED, OK, "unwatched")   /* seen only once, without a sign of a leak */

enum tdm_leak_why {
#define X(id, verdict, name) TDM_LEAK_##id,
	TDM_LEAK_WHY_LIST(X)
#undef X
		TDM_LEAK_WHY_COUNT
};

/* The `code` of a finding is the reason, and `what` is its name. */
const char *tdm_leak_why_name(enum tdm_leak_why why);

/* The basis of the findings. */
struct tdm_leaks_result {
	uint64_t watched_ns, samples;
	uint64_t sites_left_out; /* buffers beyond TDM_LEAKS_SITES_MAX sites, at the last sample */
};

struct tdm_leaks;

/* `watch_ns`: how long the programs will be watched; 0: a single picture. NULL only when out of memory. */
struct tdm_leaks *tdm_leaks_new(uint64_t watch_ns);
void tdm_leaks_free(struct tdm_leaks *leaks); /* NULL is allowed */

/* Adds a picture, with its buffers and the events since the last one, all of one state. `time_ns`: the monotonic clock
 * just before it was taken; it never goes back. 0 or -ENOMEM. */
int tdm_leaks_sample(struct tdm_leaks *leaks, const struct tdm_picture *picture, uint64_t time_ns);

/* A finding for each site of the last sample, the worst first; `picture` is that sample's. Figures that cannot be
 * known, such as growth in a single picture, are unknown. 0 or -ENOMEM. */
int tdm_leaks_judge(struct tdm_leaks *leaks, const struct tdm_picture *picture, struct tdm_findings *findings,
	struct tdm_leaks_result *result);

#endif
