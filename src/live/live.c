#include "live/live_parts.h"
#include "base/clock.h"
#include "sources/proc_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

enum {
	HOST_SHARE = 50, /* reading the driver's files takes at most this part of the time */
	HOST_ALL = 10,   /* every so many times what a card keeps is read, too */
};

static bool copy_dir(struct tdm_live *live, int i, const char **dir)
{
	if (*dir == NULL)
		return true;
	*dir = live->dirs[i] = strdup(*dir);
	return *dir != NULL;
}

struct tdm_live *tdm_live_new(const struct tdm_live_options *options)
{
	struct tdm_live *live = calloc(1, sizeof *live);
	if (live == NULL)
		return NULL;
	if (options != NULL)
		live->options = *options;
	live->proc.fd = -1;
	bool ok = copy_dir(live, 0, &live->options.ledger_dir) && copy_dir(live, 1, &live->options.shm_dir) &&
		  copy_dir(live, 2, &live->options.sysfs) && copy_dir(live, 3, &live->options.proc);
	struct tdm_map *maps[] = { &live->handles, &live->handles_before, &live->by_chip, &live->by_number,
		&live->by_pid, &live->by_pair, &live->by_key };
	for (size_t i = 0; ok && i < sizeof maps / sizeof *maps; i++)
		ok = tdm_map_init(maps[i]) == 0;
	if (!ok || tdm_ledger_watch_init(&live->ledgers, live->options.ledger_dir) != 0) {
		tdm_live_free(live);
		return NULL;
	}
	live->metal.dir = live->options.shm_dir;
	tdm_proc_root_init(&live->proc, live->options.proc);
	live->proc.cache = tdm_proc_cache_new(); /* without one everything is read each time */
	return live;
}

void tdm_live_free(struct tdm_live *live)
{
	if (live == NULL)
		return;
	struct tdm_map *maps[] = { &live->handles, &live->handles_before, &live->by_chip, &live->by_number,
		&live->by_pid, &live->by_pair, &live->by_key };
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		tdm_map_done(maps[i]);
	tdm_ledger_watch_done(&live->ledgers);
	tdm_metal_watch_done(&live->metal);
	tdm_host_done(&live->host);
	tdm_proc_cache_free(live->proc.cache);
	if (live->proc.fd >= 0)
		tdm_proc_root_done(&live->proc);
	tdm_overview_done(&live->overview);
	for (unsigned k = 0; k < TDM_FREE_KINDS; k++)
		free(live->buckets[k].list);
	void *const lists[] = { live->joined, live->parts, live->item_devices, live->item_process, live->left,
		live->order, live->memos, live->dirs[0], live->dirs[1], live->dirs[2], live->dirs[3] };
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		free(lists[i]);
	free(live);
}

static int read_host(struct tdm_live *live, uint64_t now_ns)
{
	struct tdm_host before = live->host;
	const struct tdm_host_options options = { .sysfs = live->options.sysfs,
		.root = &live->proc,
		.before = live->host_reads % HOST_ALL != 0 ? &before : NULL };
	if (now_ns < live->host_ns)
		return 0;
	uint64_t begin = tdm_clock_ns();
	int err = tdm_host_read(&live->host, &options);
	tdm_host_done(&before);
	live->host_reads++;
	uint64_t pause = (tdm_clock_ns() - begin) * HOST_SHARE;
	live->host_ns = now_ns + (pause > TDM_NS_PER_S ? pause : TDM_NS_PER_S);
	return err == -ENOMEM ? err : 0;
}

/* A ledger says who its process is, and its lock that it runs, so that /proc need not be asked. */
static void tell_cache(struct tdm_live *live, uint64_t now_ns)
{
	if (live->proc.cache == NULL)
		return;
	tdm_proc_cache_round(live->proc.cache, now_ns);
	for (size_t i = 0; i < live->ledgers.count; i++) {
		const struct tdm_watched *item = live->ledgers.items[i];
		struct tdm_proc_facts facts = { .state = '?', .uid = item->uid, .start_time = item->who.start_time };
		if (!tdm_watched_runs(item) || item->pid == 0)
			continue;
		facts.started_ns = tdm_proc_started(&live->proc, facts.start_time);
		tdm_str_shown(tdm_str_of(item->who.comm), facts.comm, sizeof facts.comm);
		tdm_str_shown(tdm_str_of(item->who.command), facts.command, sizeof facts.command);
		tdm_proc_cache_put(live->proc.cache, item->pid, &facts, item->holds_lock);
	}
}

static uint64_t real_time(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * TDM_NS_PER_S + (uint64_t)now.tv_nsec;
}

const struct tdm_overview *tdm_live_refresh(struct tdm_live *live)
{
	uint64_t now_ns = tdm_clock_ns();
	live->overview.time_ns = now_ns;
	live->overview.real_ns = real_time();
	tdm_ledger_watch_refresh(&live->ledgers, now_ns);
	tell_cache(live, now_ns);
	if (live->ledgers.deaths != live->deaths_seen) {
		/* The others are asked about it at once, so that nobody counts it any longer. */
		live->deaths_seen = live->ledgers.deaths;
		live->host_ns = live->metal.judge_ns = 0;
	}
	int err = live->ledgers.out_of_memory ? -ENOMEM : read_host(live, now_ns);
	live->proc.has_outsiders = tdm_host_has_outsiders(&live->host);
	if (err == 0)
		err = tdm_metal_watch_refresh(&live->metal, &live->proc, now_ns);
	if (err == 0)
		err = tdm_live_join_devices(live);
	if (err == 0)
		err = tdm_live_join_processes(live);
	if (err == 0)
		err = tdm_live_figures(live);
	if (err == 0)
		err = tdm_live_free_space(live);
	if (err == 0)
		err = tdm_live_problems(live);
	return err == 0 ? &live->overview : NULL;
}

const struct tdm_host *tdm_live_host(const struct tdm_live *live)
{
	return &live->host;
}

const struct tdm_metal_list *tdm_live_metal(const struct tdm_live *live)
{
	return &live->metal.now;
}
