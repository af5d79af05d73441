/*
 * Finds probable leaks and their reasons. The leak finder samples programs' buffers repeatedly (or once) and adds them
 * up by site: the process, the device, the kind, and the buffer's name or, if it has none, its call stack.
 *
 * No data is kept about single buffers. Each picture contains the birth time of every buffer, so two thresholds
 * suffice. Buffers that were born before the last picture and are now gone were freed. Buffers older than a quarter of
 * the watching time form the site's floor. Short-lived buffers, however many, are not part of the floor and do not hide
 * its growth. docs/decisions/leaks.md explains the rules of the verdicts.
 */
#ifndef TDM_ANALYZE_LEAKS_H
#define TDM_ANALYZE_LEAKS_H

#include "model/result/finding.h"
#include "live/join/picture.h"

/* Reasons: id, verdict (TDM_FINDING_BROKEN leak, TDM_FINDING_WARNING suspect, TDM_FINDING_OK steady), name in JSON */
#define TDM_LEAK_WHY_LIST(X)                                                                                          \
	X(GROWS, BROKEN, "grows")                 /* the old buffers of the site grow steadily, and none is freed */  \
	X(REPLACED, BROKEN, "replaced_by_larger") /* buffers are freed, but each is replaced by a larger one */       \
	X(AT_EXIT, BROKEN, "never_freed")         /* the program exited without freeing the memory */                 \
	X(LEFT, BROKEN, "client_ended")           /* left by a client of a daemon; how the client ended is unknown */ \
	X(UNSURE, WARNING, "may_grow")            /* the site grows, but the evidence is too thin */                  \
	X(OUTGROWN, WARNING, "may_be_replaced_by_larger") /* replaced by larger buffers, but thin evidence */         \
	X(SLOWS, WARNING, "slows_down")                   /* the site grows, but ever more slowly */                  \
	X(LATE, WARNING, "began_lately")                  /* growth began during the watching */                      \
	X(LOADING, WARNING, "loading")                    /* the site grows, but the program may still be loading */  \
	X(PROGRAMS, WARNING, "programs_grow")             /* program memory grows, as a program cache does */         \
	X(MANY, WARNING, "many_sites")  /* many sites grow by one or two buffers each: different names, or loading */ \
	X(SPREAD, WARNING, "spread")    /* live buffers were born evenly over the program's life */                   \
	X(CONSTANT, OK, "constant")     /* no buffer was added to stay, and none was freed */                         \
	X(TURNS_OVER, OK, "turns_over") /* buffers come and go */                                                     \
	X(YOUNG, OK, "young") /* the site grows, but its freed buffers had become as old as its oldest live buffer */ \
	X(LEVELLED, OK, "levelled_off") /* growth has stopped */                                                      \
	X(KILLED, OK, "killed")         /* left by a killed program, which had no chance to free the memory */        \
	X(RUNTIME, OK, "runtime")     /* kernels, firmware and configuration, which the runtime leaves on the card */ \
	X(UNWATCHED, OK, "unwatched") /* seen only once, without signs of a leak */

enum tdm_leak_why {
#define X(id, verdict, name) TDM_LEAK_##id,
	TDM_LEAK_WHY_LIST(X)
#undef X
		TDM_LEAK_WHY_COUNT
};

/* The name of a reason. In a finding, `code` is the reason and `what` is this name. */
const char *tdm_leak_why_name(enum tdm_leak_why why);

/* The data on which the findings are based. */
struct tdm_leaks_result {
	uint64_t watched_ns, samples;
	uint64_t sites_left_out; /* number of buffers in the last sample at sites beyond TDM_LEAKS_SITES_MAX */
};

struct tdm_leaks;

/* `watch_ns`: how long the programs will be watched; 0 for a single picture. */
struct tdm_leaks *tdm_leaks_new(uint64_t watch_ns);
void tdm_leaks_free(struct tdm_leaks *leaks); /* accepts NULL */

/* Adds a picture with its buffers and the events since the last one; all pictures must come from one state. `time_ns`:
 * the monotonic clock just before the picture was taken; it must not decrease. */
void tdm_leaks_sample(struct tdm_leaks *leaks, const struct tdm_picture *picture, uint64_t time_ns);

/* Adds a finding for each site in the last sample, worst first; `picture` is the picture of that sample. Figures that
 * cannot be determined, such as growth from a single picture, are unknown. */
void tdm_leaks_judge(struct tdm_leaks *leaks, const struct tdm_picture *picture, struct tdm_findings *findings,
	struct tdm_leaks_result *result);

#endif
