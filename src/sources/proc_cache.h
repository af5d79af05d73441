/*
 * What is known of processes already, for whoever asks again and again: a process of the same number and start time is
 * the same, so that only its state and start time need to be read, and the rest now and then. All questions of one
 * round get one answer. Not thread-safe.
 */
#ifndef TDM_SOURCES_PROC_CACHE_H
#define TDM_SOURCES_PROC_CACHE_H

#include "sources/proc_facts.h"

struct tdm_proc_cache *tdm_proc_cache_new(void);        /* NULL: no memory */
void tdm_proc_cache_free(struct tdm_proc_cache *cache); /* NULL is allowed */

/* A new round, at this time of the monotonic clock. Forgets processes that nobody asks for any more. */
void tdm_proc_cache_round(struct tdm_proc_cache *cache, uint64_t now_ns);

/*
 * What somebody else knows for sure of the process with this number and the facts' start time. `runs`: also that it has
 * not ended, so that /proc need not be asked in this round.
 */
void tdm_proc_cache_put(struct tdm_proc_cache *cache, int32_t pid, const struct tdm_proc_facts *facts, bool runs);

/* For the reader of /proc. Borrowed until something is put or kept; NULL: there is none. */
const struct tdm_proc_facts *tdm_proc_cache_answer(const struct tdm_proc_cache *cache, int32_t pid); /* of this round */
/* What is true of the process if it still has that start time. */
const struct tdm_proc_facts *tdm_proc_cache_known(const struct tdm_proc_cache *cache, int32_t pid);
/* An answer; `whole`: all of it was read just now. */
void tdm_proc_cache_keep(struct tdm_proc_cache *cache, int32_t pid, const struct tdm_proc_facts *facts, bool whole);

#endif
