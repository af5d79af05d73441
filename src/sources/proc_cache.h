/*
 * Remembers facts about processes for repeated readers. A process with the same pid and start time is the same, so only
 * its state and start time need to be read again, and the rest now and then. All questions about a process in one round
 * get the same answer. Not thread-safe.
 */
#ifndef TDM_SOURCES_PROC_CACHE_H
#define TDM_SOURCES_PROC_CACHE_H

#include "sources/proc_facts.h"

struct tdm_proc_cache *tdm_proc_cache_new(void);        /* NULL only when out of memory */
void tdm_proc_cache_free(struct tdm_proc_cache *cache); /* NULL is allowed */

/* Begins a round at this time of the monotonic clock. Forgets processes that have not been asked for recently. */
void tdm_proc_cache_round(struct tdm_proc_cache *cache, uint64_t now_ns);

/*
 * Adds facts that another source knows for certain about the process with this pid and the facts' start time. `runs`:
 * it also knows that the process has not ended, so /proc need not be asked in this round.
 */
void tdm_proc_cache_put(struct tdm_proc_cache *cache, int32_t pid, const struct tdm_proc_facts *facts, bool runs);

/* The rest is for the reader of /proc. Borrowed until something is put or kept; NULL: unknown. */
const struct tdm_proc_facts *tdm_proc_cache_answer(const struct tdm_proc_cache *cache, int32_t pid); /* of this round */
/* Facts that are still true if the process has the same start time. */
const struct tdm_proc_facts *tdm_proc_cache_known(const struct tdm_proc_cache *cache, int32_t pid);
/* Keeps an answer; `whole`: all facts were read just now. */
void tdm_proc_cache_keep(struct tdm_proc_cache *cache, int32_t pid, const struct tdm_proc_facts *facts, bool whole);

#endif
