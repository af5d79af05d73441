#include "sources/proc_cache.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/reserve.h"

#include <stdlib.h>

enum { PROCESSES_MAX = 65536 };

/* Name and command line change with an exec, and a program may change its name at any time. */
#define KEPT_NS (10 * TDM_NS_PER_S)

struct known {
	int32_t pid;
	uint64_t whole_ns;  /* the round in which all facts were last read or put */
	uint64_t answer_ns; /* the round in which /proc was last asked; 0: never */
	uint64_t wanted_ns; /* the round in which it was last put or kept */
	struct tdm_proc_facts facts;
};

struct tdm_proc_cache {
	uint64_t now_ns, swept_ns;
	struct tdm_map by_pid;
	struct known *list;
	size_t count, cap;
};

struct tdm_proc_cache *tdm_proc_cache_new(void)
{
	struct tdm_proc_cache *cache = calloc(1, sizeof *cache);
	if (cache != NULL && tdm_map_init(&cache->by_pid) != 0) {
		free(cache);
		return NULL;
	}
	return cache;
}

void tdm_proc_cache_free(struct tdm_proc_cache *cache)
{
	if (cache == NULL)
		return;
	tdm_map_done(&cache->by_pid);
	free(cache->list);
	free(cache);
}

void tdm_proc_cache_round(struct tdm_proc_cache *cache, uint64_t now_ns)
{
	size_t kept = 0;
	cache->now_ns = now_ns;
	if (now_ns - cache->swept_ns < KEPT_NS)
		return;
	cache->swept_ns = now_ns;
	for (size_t i = 0; i < cache->count; i++) {
		if (now_ns - cache->list[i].wanted_ns > KEPT_NS) {
			tdm_map_take(&cache->by_pid, (uint64_t)cache->list[i].pid);
			continue;
		}
		cache->list[kept] = cache->list[i];
		tdm_map_put(&cache->by_pid, (uint64_t)cache->list[kept].pid,
			(uint32_t)kept); /* cannot fail: the key is known */
		kept++;
	}
	cache->count = kept;
}

static struct known *find(const struct tdm_proc_cache *cache, int32_t pid)
{
	uint32_t i = tdm_map_find(&cache->by_pid, (uint64_t)pid);
	return i != TDM_MAP_NONE ? &cache->list[i] : NULL;
}

/* The entry of a process; NULL: there is no room, which only costs time. */
static struct known *find_or_add(struct tdm_proc_cache *cache, int32_t pid)
{
	struct known *known = find(cache, pid);
	if (known != NULL || cache->count == PROCESSES_MAX)
		return known;
	if (tdm_reserve(&cache->list, &cache->cap, cache->count + 1, sizeof *cache->list) != 0)
		return NULL;
	if (tdm_map_put(&cache->by_pid, (uint64_t)pid, (uint32_t)cache->count) != 0)
		return NULL;
	known = &cache->list[cache->count++];
	*known = (struct known){ .pid = pid };
	return known;
}

void tdm_proc_cache_put(struct tdm_proc_cache *cache, int32_t pid, const struct tdm_proc_facts *facts, bool runs)
{
	struct known *known = find_or_add(cache, pid);
	if (known == NULL)
		return;
	/* An answer from /proc itself in this round takes precedence. */
	if (known->answer_ns != cache->now_ns || known->answer_ns == 0) {
		known->facts = *facts;
		known->answer_ns = runs ? cache->now_ns : 0;
	}
	known->wanted_ns = known->whole_ns = cache->now_ns;
}

const struct tdm_proc_facts *tdm_proc_cache_answer(const struct tdm_proc_cache *cache, int32_t pid)
{
	const struct known *known = find(cache, pid);
	return known != NULL && known->answer_ns != 0 && known->answer_ns == cache->now_ns ? &known->facts : NULL;
}

const struct tdm_proc_facts *tdm_proc_cache_known(const struct tdm_proc_cache *cache, int32_t pid)
{
	const struct known *known = find(cache, pid);
	if (known == NULL || known->facts.err != 0 || known->facts.text_err != 0 || known->facts.start_time == 0)
		return NULL;
	return cache->now_ns - known->whole_ns > KEPT_NS ? NULL : &known->facts;
}

void tdm_proc_cache_keep(struct tdm_proc_cache *cache, int32_t pid, const struct tdm_proc_facts *facts, bool whole)
{
	struct known *known = find_or_add(cache, pid);
	if (known == NULL)
		return;
	known->facts = *facts;
	known->answer_ns = known->wanted_ns = cache->now_ns;
	if (whole)
		known->whole_ns = cache->now_ns;
}
