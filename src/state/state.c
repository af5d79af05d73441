#include "state/state_parts.h"
#include "base/clock.h"
#include "base/reserve.h"
#include "ledger/ledger_list.h"
#include "sources/proc_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

enum {
	HOST_SHARE = 50, /* reading the driver's files takes at most 1/50 of the time */
	HOST_ALL = 10,   /* one reading in this many also rereads the fixed properties of cards */
};

/* In the `process` of a kept event: it is a handle already, not the follower's number. */
#define IS_HANDLE (UINT64_C(1) << 63)

static bool copy_dir(struct tdm_state *state, int i, const char **dir)
{
	if (*dir == NULL)
		return true;
	*dir = state->dirs[i] = strdup(*dir);
	return *dir != NULL;
}

struct tdm_state *tdm_state_new(const struct tdm_state_options *options)
{
	struct tdm_state *state = calloc(1, sizeof *state);
	if (state == NULL)
		return NULL;
	if (options != NULL)
		state->options = *options;
	struct tdm_state_options *o = &state->options;
	state->proc.fd = -1;
	bool ok = copy_dir(state, 0, &o->ledger_dir) && copy_dir(state, 1, &o->shm_dir) &&
		  copy_dir(state, 2, &o->sysfs) && copy_dir(state, 3, &o->proc) && tdm_fold_init(&state->fold) == 0;
	struct tdm_map *maps[] = { &state->handles, &state->handles_before, &state->by_chip, &state->by_number,
		&state->by_pid, &state->by_pair, &state->by_key };
	for (size_t i = 0; ok && i < sizeof maps / sizeof *maps; i++)
		ok = tdm_map_init(maps[i]) == 0;
	state->follow = (struct tdm_follow_options){ o->ledger_dir, o->paths, o->pids, o->pid_count, o->only_ledgers,
		o->keeps_gone };
	state->follower = ok ? tdm_follower_new(&state->follow) : NULL;
	if (state->follower == NULL) {
		tdm_state_free(state);
		return NULL;
	}
	state->metal.dir = o->shm_dir;
	tdm_proc_root_init(&state->proc, o->proc);
	state->proc.cache = tdm_proc_cache_new(); /* without a cache everything is read each time */
	return state;
}

void tdm_state_free(struct tdm_state *state)
{
	if (state == NULL)
		return;
	struct tdm_map *maps[] = { &state->handles, &state->handles_before, &state->by_chip, &state->by_number,
		&state->by_pid, &state->by_pair, &state->by_key };
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		tdm_map_done(maps[i]);
	tdm_follower_free(state->follower);
	tdm_fold_done(&state->fold);
	tdm_metal_watch_done(&state->metal);
	tdm_host_done(&state->host);
	tdm_proc_cache_free(state->proc.cache);
	if (state->proc.fd >= 0)
		tdm_proc_root_done(&state->proc);
	tdm_picture_done(&state->picture);
	for (unsigned k = 0; k < TDM_FREE_KINDS; k++)
		free(state->buckets[k].list);
	void *const lists[] = { state->events, state->ends, state->joined, state->parts, state->left, state->order,
		state->memos, state->dirs[0], state->dirs[1], state->dirs[2], state->dirs[3] };
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		free(lists[i]);
	free(state);
}

static int read_host(struct tdm_state *state, uint64_t now_ns)
{
	struct tdm_host before = state->host;
	const struct tdm_host_options options = { .sysfs = state->options.sysfs,
		.root = &state->proc,
		.before = state->host_reads % HOST_ALL != 0 ? &before : NULL };
	if (now_ns < state->host_ns)
		return 0;
	uint64_t begin = tdm_clock_ns();
	int err = tdm_host_read(&state->host, &options);
	tdm_host_done(&before);
	state->host_reads++;
	state->host_ns = now_ns + tdm_max((tdm_clock_ns() - begin) * HOST_SHARE, TDM_NS_PER_S);
	return err == -ENOMEM ? err : 0;
}

/* A ledger tells who its process is, and its lock that the process runs: saves reading /proc. */
static void tell_cache(struct tdm_state *state, uint64_t now_ns)
{
	if (state->proc.cache == NULL)
		return;
	tdm_proc_cache_round(state->proc.cache, now_ns);
	for (size_t i = 0; i < state->fold.count; i++) {
		const struct tdm_process *who = &state->fold.processes[i]->who;
		struct tdm_proc_facts facts = { .state = '?', .uid = who->uid, .start_time = who->start_time };
		if (!tdm_fold_runs(state->fold.processes[i]) || who->seen_pid == 0 || who->is_claimed)
			continue;
		facts.started_ns = tdm_proc_started(&state->proc, facts.start_time);
		memcpy(facts.comm, state->fold.processes[i]->comm, sizeof facts.comm);
		memcpy(facts.command, state->fold.processes[i]->command, sizeof facts.command);
		tdm_proc_cache_put(state->proc.cache, who->seen_pid, &facts, who->is_held);
	}
}

/* Events. */

static int by_time(const void *a, const void *b)
{
	const struct tdm_event *x = a, *y = b;
	int order = tdm_order(x->time_ns, y->time_ns);
	/* Many releases have the same time as the event before them. A gap has no position and sorts before what
	 * follows. */
	return order != 0 ? order : tdm_order(x->position, y->position);
}

static uint64_t weight(const struct tdm_event *event)
{
	return event->op == TDM_OP_LOST ? event->size : 1;
}

/* Sorts the events, keeps the latest and counts the others as dropped. */
static void settle_events(struct tdm_state *state, size_t most)
{
	struct tdm_event *list = state->events;
	if (state->event_count == 0)
		return; /* the list may be NULL */
	if (state->event_count > 1)
		qsort(list, state->event_count, sizeof *list, by_time);
	size_t drop = state->event_count > most ? state->event_count - most : 0;
	for (size_t i = 0; i < drop; i++)
		state->events_dropped = tdm_plus(state->events_dropped, weight(&list[i]));
	state->event_count -= drop;
	if (drop != 0)
		memmove(list, list + drop, state->event_count * sizeof *list);
}

/* Interns the event's texts, which must outlive the ledger. */
static int keep_event(struct tdm_state *state, const struct tdm_event *event)
{
	const struct tdm_fold_process *process = tdm_fold_find(&state->fold, event->process);
	struct tdm_event kept = *event;
	uint32_t name;
	if (state->event_count == 2 * TDM_STATE_EVENTS_MAX)
		settle_events(state, TDM_STATE_EVENTS_MAX);
	if (tdm_reserve(&state->events, &state->event_cap, state->event_count + 1, sizeof kept) != 0 ||
		tdm_intern_text(&state->fold.texts, event->name, &name) != 0 ||
		tdm_intern_stack(&state->fold.texts, event->frames, event->frame_count, &kept.stack) != 0)
		return -ENOMEM;
	kept.name = tdm_str_of(state->fold.texts.texts[name]);
	kept.program = (struct tdm_str){ "", 0 };
	kept.pid = process != NULL ? tdm_fold_pid(process) : 0;
	kept.frames = NULL;
	kept.ranges = NULL;
	kept.frame_count = kept.range_count = 0;
	state->events[state->event_count++] = kept;
	return 0;
}

/* Stores the handle of a process that is about to be forgotten in its events. */
static void settle_process(struct tdm_state *state, uint64_t number)
{
	const struct tdm_fold_process *process = tdm_fold_find(&state->fold, number);
	for (size_t i = 0; process != NULL && i < state->event_count; i++)
		if (state->events[i].process == number)
			state->events[i].process = process->handle | IS_HANDLE;
}

/* Replaces the process numbers of the events by handles, which exist only after processes were joined. Dropped events
 * become a gap, except before the first picture with events: nobody misses those. */
static void finish_events(struct tdm_state *state)
{
	struct tdm_event *list = state->events;
	settle_events(state, TDM_STATE_EVENTS_MAX);
	for (size_t i = 0; i < state->event_count; i++) {
		const struct tdm_fold_process *process = tdm_fold_find(&state->fold, list[i].process);
		bool is_handle = (list[i].process & IS_HANDLE) != 0;
		list[i].process = is_handle ? list[i].process & ~IS_HANDLE : process != NULL ? process->handle : 0;
	}
	if (state->events_dropped != 0 && state->event_count != 0 && state->had_events)
		list[0] = (struct tdm_event){ .op = TDM_OP_LOST,
			.size = tdm_plus(state->events_dropped, weight(&list[0])),
			.time_ns = list[0].time_ns,
			.address = TDM_ADDRESS_UNKNOWN };
	state->had_events = state->had_events || (state->wish.parts & TDM_WISH_EVENTS) != 0;
	state->picture.events = list;
	state->picture.event_count = state->event_count;
}

/* Ledgers. */

/* Keeps the last counters of a process that a picture has shown, if it has ended: the next one does not. */
static int note_end(struct tdm_state *state, struct tdm_fold_process *process)
{
	if (process == NULL || process->handle == 0 || process->end_is_told || tdm_fold_runs(process))
		return 0;
	process->end_is_told = true;
	for (size_t i = 0; i < process->holding_count; i++) {
		const struct tdm_fold_holding *from = process->holdings[i];
		if (from->key == 0)
			continue;
		if (tdm_reserve(&state->ends, &state->end_cap, state->end_count + 1, sizeof *state->ends) != 0)
			return -ENOMEM;
		struct tdm_picture_end *end = &state->ends[state->end_count++];
		*end = (struct tdm_picture_end){ .process = process->handle, .device = from->key };
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			tdm_state_ledger_amount(&end->kinds[k], from, k);
	}
	return 0;
}

/* Only events from the ring are news; the list of live buffers and the counters are not. */
static int take_event(void *context, struct tdm_event *event)
{
	struct tdm_state *state = context;
	bool is_news = event->op == TDM_OP_LOST || (event->position != 0 && (event->flags & TDM_EVENT_LISTED) == 0);
	if (event->op == TDM_OP_FORGET) {
		settle_process(state, event->process);
		if (note_end(state, tdm_fold_find(&state->fold, event->process)) != 0)
			return -ENOMEM;
	}
	int err = tdm_fold_apply(&state->fold, event);
	if (err == -ENOMEM)
		return err;
	return is_news && (state->wish.parts & TDM_WISH_EVENTS) != 0 ? keep_event(state, event) : 0;
}

static unsigned wants(void *context, uint64_t number, uint32_t device)
{
	const struct tdm_state *state = context;
	const struct tdm_wish *wish = &state->wish;
	const struct tdm_fold_process *process = tdm_fold_find(&state->fold, number);
	bool has_events = (wish->parts & TDM_WISH_EVENTS) != 0 &&
			  (wish->events_of == 0 || (process != NULL && process->handle == wish->events_of));
	unsigned parts = has_events ? TDM_FOLLOW_EVENTS : 0;
	if ((wish->parts & TDM_WISH_BUFFERS) == 0)
		return parts;
	if (wish->process != 0 || wish->device != 0) {
		const struct tdm_fold_holding *holding =
			process != NULL ? tdm_fold_holding_find(process, device) : NULL;
		if (holding == NULL || (wish->process != 0 && process->handle != wish->process) ||
			(wish->device != 0 && holding->key != wish->device))
			return parts;
	}
	return parts | (wish->hold ? TDM_FOLLOW_KEEP : TDM_FOLLOW_BUFFERS);
}

static int follow(struct tdm_state *state, uint64_t now_ns)
{
	const struct tdm_follow_sink sink = { state, wants, take_event, state->wish.latest_events };
	state->event_count = 0;
	state->events_dropped = 0;
	state->end_count = 0;
	int err = tdm_follower_look(state->follower, &sink, now_ns);
	for (size_t i = 0; i < state->fold.count && err == 0; i++)
		err = note_end(state, state->fold.processes[i]);
	state->picture.ends = state->ends;
	state->picture.end_count = state->end_count;
	return err;
}

int tdm_state_recount(struct tdm_state *state, const struct tdm_part *part)
{
	const struct tdm_follow_sink sink = { state, wants, take_event, 0 };
	return tdm_follower_recount(state->follower, &sink, part->owner->number, part->ledger->number);
}

static int read_others(struct tdm_state *state, uint64_t now_ns)
{
	if (state->options.only_ledgers)
		return 0;
	tell_cache(state, now_ns);
	if (tdm_follower_deaths(state->follower) != state->deaths_seen) {
		/* Ask the other sources at once, so that none of them still counts the dead process. */
		state->deaths_seen = tdm_follower_deaths(state->follower);
		state->host_ns = state->metal.judge_ns = 0;
	}
	int err = read_host(state, now_ns);
	state->proc.has_outsiders = tdm_host_has_outsiders(&state->host);
	return err == 0 ? tdm_metal_watch_refresh(&state->metal, &state->proc, now_ns) : err;
}

/* Changes with the lists of buffers and with the indices that refer to them. */
static uint64_t version_of(const struct tdm_state *state)
{
	uint64_t version = state->fold.version;
	for (size_t i = 0; i < state->part_count; i++) {
		const struct tdm_part *part = &state->parts[i];
		uint64_t handle = state->picture.processes[part->process].handle;
		version =
			tdm_hash_u64(version ^ handle << 32 ^ part->number) ^ state->picture.devices[part->device].key;
	}
	return version;
}

const struct tdm_picture *tdm_state_look(struct tdm_state *state, const struct tdm_wish *wish)
{
	uint64_t now_ns = tdm_clock_ns();
	state->wish = wish != NULL ? *wish : (struct tdm_wish){ 0 };
	state->picture.time_ns = now_ns;
	state->picture.real_ns = tdm_clock_real_ns();
	int err = follow(state, now_ns);
	if (err == 0)
		err = read_others(state, now_ns);
	if (err == 0)
		err = tdm_state_join_devices(state);
	if (err == 0)
		err = tdm_state_join_processes(state);
	if (err == 0)
		err = tdm_state_winner(state);
	if (err == 0)
		err = tdm_state_free_space(state);
	if (err == 0)
		err = tdm_state_problems(state);
	finish_events(state);
	state->picture.texts = &state->fold.texts;
	state->picture.buffers_version = version_of(state);
	state->picture.others = tdm_follower_others(state->follower);
	state->picture.ledgers_err = tdm_follower_err(state->follower);
	return err == 0 ? &state->picture : NULL;
}

static const struct tdm_picture *provide(void *state, const struct tdm_wish *wish)
{
	return tdm_state_look(state, wish);
}

/* A claimed pid, or one that was reused, is another process's. */
static int provide_use(void *context, const struct tdm_picture_process *process, struct tdm_proc_use *use)
{
	struct tdm_state *state = context;
	if (process->is_claimed || process->life == TDM_LIFE_ENDED)
		return -ENOENT;
	int err = tdm_proc_use_read(&state->proc, process->pid, use);
	if (err == 0 && process->start_time != 0 && use->start_time != process->start_time)
		err = -ENOENT;
	return err;
}

struct tdm_provider tdm_state_provider(struct tdm_state *state)
{
	return (struct tdm_provider){ .state = state, .look = provide, .use = provide_use };
}

const char *tdm_state_ledger_dir(const struct tdm_state *state)
{
	return tdm_ledger_dir(state->options.ledger_dir);
}

const struct tdm_host *tdm_state_host(const struct tdm_state *state)
{
	return &state->host;
}

const struct tdm_metal_list *tdm_state_metal(const struct tdm_state *state)
{
	return &state->metal.now;
}
