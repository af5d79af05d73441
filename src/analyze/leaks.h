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

#include "state/picture.h"

enum {
	TDM_LEAKS_WINDOWS = 16,      /* that the watching time is cut into */
	TDM_LEAKS_SITES_MAX = 65536, /* what is beyond is added up by kind */
	TDM_LEAKS_LIFETIMES = 32,    /* of freed buffers that are kept for a site: the latest */
};

enum tdm_leak_verdict { TDM_LEAK_STEADY, TDM_LEAK_SUSPECT, TDM_LEAK_SURE, TDM_LEAK_VERDICTS };

/* Why. id, verdict, name in JSON */
#define TDM_LEAK_WHY_LIST(X)                                                                                          \
	X(GROWS, SURE, "grows")               /* what is old at the site grows steadily, and none of it is freed */   \
	X(AT_EXIT, SURE, "never_freed")       /* the program ended by itself and had not freed it */                  \
	X(UNSURE, SUSPECT, "may_grow")        /* it grows, but too little was seen to be sure */                      \
	X(SLOWS, SUSPECT, "slows_down")       /* it grows, but slower and slower */                                   \
	X(LATE, SUSPECT, "began_lately")      /* it began to grow while it was watched */                             \
	X(LOADING, SUSPECT, "loading")        /* it grows, but the program may still be loading */                    \
	X(PROGRAMS, SUSPECT, "programs_grow") /* memory of programs grows, as a cache of programs does */             \
	X(MANY, SUSPECT, "many_sites")        /* many sites grow by one or two each: names that differ, or loading */ \
	X(SPREAD, SUSPECT, "spread")        /* births of what lives are spread evenly over the life of the program */ \
	X(CONSTANT, STEADY, "constant")     /* nothing came to stay and nothing was freed */                          \
	X(TURNS_OVER, STEADY, "turns_over") /* buffers come and go */                                                 \
	X(YOUNG, STEADY, "young")           /* it grows, but freed ones of the site became as old as its oldest */    \
	X(LEVELLED, STEADY, "levelled_off") /* it grew and has stopped */                                             \
	X(KILLED, STEADY, "killed")         /* left by a program that was killed: it had no chance to free it */      \
	X(RUNTIME, STEADY, "runtime") /* kernels, firmware and configuration that the runtime leaves to the card */   \
	X(UNWATCHED, STEADY, "unwatched") /* seen once only, with nothing that speaks for a leak */

enum tdm_leak_why {
#define X(id, verdict, name) TDM_LEAK_##id,
	TDM_LEAK_WHY_LIST(X)
#undef X
		TDM_LEAK_WHY_COUNT
};

const char *tdm_leak_verdict_name(enum tdm_leak_verdict verdict); /* "leak", "suspect", "steady" */
const char *tdm_leak_why_name(enum tdm_leak_why why);

/* What was found at one site. */
struct tdm_leak {
	uint8_t verdict, why;      /* enum tdm_leak_verdict, enum tdm_leak_why */
	uint8_t kind;              /* enum tdm_kind */
	bool is_sum;               /* of the kind's sites that are too small to be judged alone; no name, no stack */
	uint32_t process, holding; /* indices into the last picture, */
	uint32_t name, stack;      /* and its texts and stacks; 0: none. Buffers of one name may have several stacks */
	uint64_t count, bytes;     /* live at the end; reserved bytes */
	uint64_t grown_count;      /* of the floor, from the first window to the last */
	uint64_t grown_bytes;
	uint64_t freed; /* seen to be freed while it was watched; what lived too short to be seen is not in it */
	uint64_t aged, aged_freed; /* that became part of the floor while it was watched; freed out of it */
	uint64_t oldest_ns;        /* age of the oldest; 0: unknown */
	uint64_t sibling_ns;       /* median life of freed ones of the site, where it could be seen: at least, */
	uint64_t sibling_most_ns;  /* and at most */
	uint32_t siblings;         /* from so many; 0: unknown */
	uint32_t windows;          /* that it was seen in */
	uint64_t watched_ns;       /* the time that the figures stand for */
	double z;                  /* of the trend of the floor, see analyze/trend.h */
	double bytes_per_s;        /* growth of the floor; NAN: unknown */
	double full_s;             /* until the region is full at this rate; NAN: unknown, or it does not grow */
	uint64_t double_frees, unknown_frees; /* of the process, on the device, of this kind */
};

struct tdm_leaks_result {
	struct tdm_leak *leaks; /* leaks first, then suspects, then steady ones; each the fastest growing first */
	size_t count;
	size_t verdicts[TDM_LEAK_VERDICTS]; /* how many of each */
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

/* The verdicts, about the sites of the last sample, whose picture this is. Release with tdm_leaks_result_done(). 0 or
 * -ENOMEM. */
int tdm_leaks_judge(struct tdm_leaks *leaks, const struct tdm_picture *picture, struct tdm_leaks_result *result);
void tdm_leaks_result_done(struct tdm_leaks_result *result);

#endif
