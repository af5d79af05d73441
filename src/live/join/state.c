#include "live/join/join.h"
#include "live/join/state.h"
#include "base/clock.h"
#include "base/memory.h"
#include "ledger/read/ledger_list.h"
#include "live/host/proc_facts.h"
#include "base/units.h"
#include "base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- problems: collected again for every picture, so a solved problem disappears ---- */

/* Adds a problem; NULL at the limit. */
__attribute__((format(printf, 5, 6))) static struct tdm_picture_problem *note(
	struct tdm_state *state, enum tdm_from from, int err, const char *place, const char *format, ...)
{
	struct tdm_picture *picture = &state->picture;
	size_t most = state->options->only_ledgers ? TDM_FOLLOWED_MAX : TDM_STATE_PROBLEMS_MAX;
	va_list args;
	if (picture->problem_count >= most - 1) { /* the last problem says how many more there are */
		state->problems_cut++;
		return NULL;
	}
	tdm_grow(&picture->problems, &state->problem_cap, picture->problem_count + 2, sizeof *picture->problems);
	struct tdm_picture_problem *problem = &picture->problems[picture->problem_count++];
	*problem = (struct tdm_picture_problem){ .from = (uint8_t)from, .err = err };
	tdm_str_shown(tdm_str_of(place), problem->place, sizeof problem->place);
	va_start(args, format);
	vsnprintf(problem->text, sizeof problem->text, format, args);
	va_end(args);
	return problem;
}

static void note_ledgers(struct tdm_state *state)
{
	const struct tdm_follower *follower = state->follower;
	const char *dir = tdm_state_ledger_dir(state);
	int err = tdm_follower_err(follower);
	if (err != 0)
		note(state, TDM_FROM_LEDGER, err, dir, "the ledgers cannot be listed: %s", tdm_err_text(err));
	if (tdm_follower_cut(follower) != 0)
		note(state, TDM_FROM_LEDGER, -EOVERFLOW, dir, "%" PRIu64 " ledgers more than can be watched",
			tdm_follower_cut(follower));
	for (size_t i = 0; i < tdm_follower_count(follower); i++) {
		const struct tdm_followed *item = tdm_follower_get(follower, i);
		bool runs = item->is_known && item->who.life != TDM_LIFE_ENDED;
		/* A caller with only_ledgers may look only once, so it also gets unfinished ledgers as problems. */
		bool is_new = item->err == -EAGAIN && item->text[0] == '\0' && state->options->only_ledgers;
		const char *text = is_new ? "its writer has not finished setting it up" : item->text;
		if (item->err != 0 && text[0] != '\0') {
			struct tdm_picture_problem *problem =
				note(state, TDM_FROM_LEDGER, item->err, item->path, "%s", text);
			if (problem != NULL) {
				problem->is_unread = true;
				problem->path = item->path;
			}
		} else if (item->err == 0 && item->who.refused != 0)
			note(state, TDM_FROM_LEDGER, TDM_ECORRUPT, item->path,
				"damaged: %" PRIu64 " of its records cannot be believed", item->who.refused);
		if (item->err == 0 && runs && item->who.is_claimed)
			note(state, TDM_FROM_LEDGER, 0, item->path, "process %" PRId32 " is only claimed: %s",
				item->who.pid, tdm_picture_claim(&item->who));
		if (item->err == 0 && runs && item->who.as_of_ns != 0) {
			char age[TDM_DURATION_CAP];
			uint64_t now_ns = state->picture.time_ns, then_ns = item->who.as_of_ns;
			tdm_format_duration(age, sizeof age, now_ns > then_ns ? now_ns - then_ns : 0);
			note(state, TDM_FROM_LEDGER, 0, item->path,
				"no daemon writes the figures of process %" PRId32 " any more: they are %s old",
				item->who.pid, age);
		}
		if (item->err == 0 && runs && item->who.lost != 0)
			note(state, TDM_FROM_LEDGER, 0, item->path,
				"process %" PRId32 " lost %" PRIu64 " events: its figures may be wrong", item->who.pid,
				item->who.lost);
	}
}

static void note_regions(struct tdm_state *state)
{
	const struct tdm_metal_list *regions = &state->metal.now;
	const char *dir = tdm_metal_path(state->metal.dir);
	char place[TDM_PICTURE_TEXT_CAP], doubts[TDM_PICTURE_TEXT_CAP];
	if (regions->err != 0)
		note(state, TDM_FROM_METAL_SHM, regions->err, dir, "tt-metal's shared memory cannot be listed: %s",
			tdm_err_text(regions->err));
	if (regions->cut != 0)
		note(state, TDM_FROM_METAL_SHM, -EOVERFLOW, dir, "%" PRIu64 " regions more than can be read",
			regions->cut);
	for (size_t i = 0; i < regions->count; i++) {
		const struct tdm_metal_region *region = &regions->regions[i];
		if (region->status == TDM_METAL_VANISHED || (region->status == TDM_METAL_OK && region->doubts == 0))
			continue;
		if (snprintf(place, sizeof place, "%s/%s", dir, region->name) >= (int)sizeof place)
			snprintf(place, sizeof place, "%.*s", TDM_PICTURE_TEXT_CAP - 1, region->name);
		size_t at = 0;
		for (unsigned k = 0; k < TDM_METAL_DOUBT_COUNT && at < sizeof doubts; k++)
			if ((region->doubts >> k & 1) != 0)
				at += (size_t)snprintf(doubts + at, sizeof doubts - at, "%s%s", at != 0 ? "; " : "",
					tdm_metal_doubt_texts[k]);
		note(state, TDM_FROM_METAL_SHM, region->err != 0 ? region->err : TDM_ECORRUPT, place, "%s",
			region->status != TDM_METAL_OK ? region->text : doubts);
	}
}

static void note_card(struct tdm_state *state, const struct tdm_host_card *card)
{
	const struct tdm_state_options *options = state->options;
	char place[PATH_MAX];
	snprintf(place, sizeof place, "%s/class/tenstorrent/tenstorrent!%" PRIu32, tdm_host_sysfs_path(options->sysfs),
		card->number);
	if (card->err != 0)
		note(state, TDM_FROM_DRIVER, card->err, place, "the card's files cannot be read: %s",
			tdm_err_text(card->err));
	snprintf(place, sizeof place, "%s/driver/tenstorrent/%" PRIu32 "/pids", tdm_proc_path(options->proc),
		card->number);
	if (card->opens_err != 0)
		note(state, TDM_FROM_DRIVER, card->opens_err, place,
			"which processes have the card open is not known: %s", tdm_err_text(card->opens_err));
	if (card->hidden_opens != 0)
		note(state, TDM_FROM_DRIVER, 0, place,
			"the card is opened %" PRIu64 " times by processes outside of this pid namespace",
			card->hidden_opens);
	if (card->refused_lines != 0 || card->cut_opens != 0)
		note(state, TDM_FROM_DRIVER, TDM_ECORRUPT, place, "%" PRIu64 " lines cannot be used",
			card->refused_lines + card->cut_opens);
}

static void note_problems(struct tdm_state *state)
{
	const char *sysfs = tdm_host_sysfs_path(state->options->sysfs);
	struct tdm_picture *picture = &state->picture;
	picture->problem_count = 0;
	state->problems_cut = 0;
	/* without the driver there are no cards, which is not a problem */
	if (state->host.err != 0 && state->host.err != -ENOENT)
		note(state, TDM_FROM_DRIVER, state->host.err, sysfs, "the driver's cards cannot be listed: %s",
			tdm_err_text(state->host.err));
	if (state->host.cut_cards != 0)
		note(state, TDM_FROM_DRIVER, -EOVERFLOW, sysfs, "%" PRIu64 " cards more than can be read",
			state->host.cut_cards);
	if (state->proc.err != 0)
		note(state, TDM_FROM_DRIVER, state->proc.err, tdm_proc_path(state->options->proc),
			"nothing is known about processes: %s", tdm_err_text(state->proc.err));
	for (size_t i = 0; i < state->host.card_count; i++)
		note_card(state, &state->host.cards[i]);
	note_regions(state);
	note_ledgers(state);
	if (state->devices_cut != 0)
		note(state, TDM_FROM_NONE, -EOVERFLOW, "", "%" PRIu64 " devices more than can be shown",
			state->devices_cut);
	if (state->problems_cut != 0) {
		struct tdm_picture_problem *last = &picture->problems[picture->problem_count++];
		*last = (struct tdm_picture_problem){ .from = TDM_FROM_NONE, .err = -EOVERFLOW };
		snprintf(last->text, sizeof last->text, "%" PRIu64 " more problems", state->problems_cut);
	}
}

/* ---- a picture ---- */

enum {
	HOST_SHARE = 50, /* reading the driver's files takes at most 1/50 of the time */
	HOST_ALL = 10,   /* one reading in this many also rereads the cards' fixed properties */
};

/* Set in a kept event's `process` if that is already a handle rather than the follower's number. */
#define IS_HANDLE (UINT64_C(1) << 63)

struct tdm_state *tdm_state_new(const struct tdm_state_options *options)
{
	struct tdm_state *state = tdm_zalloc(1, sizeof *state);
	struct tdm_state_options *o = state->options = tdm_zalloc(1, sizeof *o);
	if (options != NULL)
		*o = *options;
	state->proc.fd = -1;
	o->ledger_dir = state->dirs[0] = tdm_strdup(o->ledger_dir);
	o->shm_dir = state->dirs[1] = tdm_strdup(o->shm_dir);
	o->sysfs = state->dirs[2] = tdm_strdup(o->sysfs);
	o->proc = state->dirs[3] = tdm_strdup(o->proc);
	tdm_fold_init(&state->fold);
	state->follow = (struct tdm_follow_options){ o->ledger_dir, o->paths, o->pids, o->pid_count, o->only_ledgers,
		o->keeps_gone };
	state->follower = tdm_follower_new(&state->follow);
	state->metal.dir = o->shm_dir;
	tdm_proc_root_init(&state->proc, o->proc);
	state->proc.cache = tdm_proc_cache_new();
	return state;
}

void tdm_state_free(struct tdm_state *state)
{
	if (state == NULL)
		return;
	struct tdm_map *maps[] = { &state->handles, &state->handles_before, &state->by_chip, &state->by_number,
		&state->by_pid, &state->by_pair, &state->by_key, &state->users };
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
		free(state->buckets[k]);
	void *const lists[] = { state->events, state->ends, state->memo_of, state->parts, state->left, state->order,
		state->memos, state->options, state->dirs[0], state->dirs[1], state->dirs[2], state->dirs[3] };
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		free(lists[i]);
	free(state);
}

/* Events. */

static int by_time(const void *a, const void *b)
{
	const struct tdm_event *x = a, *y = b;
	int order = tdm_order(x->time_ns, y->time_ns);
	/* Many releases have the preceding event's time. A gap has no position and sorts before later events. */
	return order != 0 ? order : tdm_order(x->position, y->position);
}

static uint64_t weight(const struct tdm_event *event)
{
	return event->op == TDM_OP_LOST ? event->size : 1;
}

/* Sorts the events, keeps the `most` latest and counts the others as dropped. */
static void settle_events(struct tdm_state *state, size_t most)
{
	struct tdm_event *list = state->events;
	if (state->event_count == 0)
		return; /* `events` may be NULL */
	if (state->event_count > 1)
		qsort(list, state->event_count, sizeof *list, by_time);
	size_t drop = state->event_count > most ? state->event_count - most : 0;
	for (size_t i = 0; i < drop; i++)
		state->events_dropped = tdm_plus(state->events_dropped, weight(&list[i]));
	state->event_count -= drop;
	if (drop != 0)
		memmove(list, list + drop, state->event_count * sizeof *list);
}

/*
 * Replaces the process numbers in events by handles, which exist only once processes are joined. Dropped events become
 * a gap, except in the first picture with events, where nobody misses them.
 */
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

/* Keeps the last counters of a process that has ended after being in a picture, because the next picture will not
 * contain them. */
static void note_end(struct tdm_state *state, struct tdm_fold_process *process)
{
	if (process->handle == 0 || process->end_is_told || tdm_fold_runs(process))
		return;
	process->end_is_told = true;
	for (size_t i = 0; i < process->holding_count; i++) {
		const struct tdm_fold_holding *from = process->holdings[i];
		if (from->key == 0)
			continue;
		tdm_grow(&state->ends, &state->end_cap, state->end_count + 1, sizeof *state->ends);
		struct tdm_picture_end *end = &state->ends[state->end_count++];
		*end = (struct tdm_picture_end){ .process = process->handle, .device = from->key };
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			end->kinds[k] = tdm_state_ledger_counter(from, k);
	}
}

/* Takes an event from the follower. Only events from the ring are news; lists of live buffers and counters are not. */
static void take_event(void *context, struct tdm_event *event)
{
	struct tdm_state *state = context;
	bool is_news = event->op == TDM_OP_LOST || (event->position != 0 && (event->flags & TDM_EVENT_LISTED) == 0);
	struct tdm_fold_process *process =
		event->op == TDM_OP_FORGET ? tdm_fold_find(&state->fold, event->process) : NULL;
	if (process != NULL) {
		/* The process is about to be forgotten: its kept events get its handle. */
		for (size_t i = 0; i < state->event_count; i++)
			if (state->events[i].process == event->process)
				state->events[i].process = process->handle | IS_HANDLE;
		note_end(state, process);
	}
	tdm_fold_apply(&state->fold, event);
	if (!is_news || (state->wish.parts & TDM_WISH_EVENTS) == 0)
		return;
	/* Keeps the event with its strings, which must outlive the ledger. */
	struct tdm_event kept = *event;
	if (state->event_count == 2 * TDM_STATE_EVENTS_MAX)
		settle_events(state, TDM_STATE_EVENTS_MAX);
	tdm_grow(&state->events, &state->event_cap, state->event_count + 1, sizeof kept);
	process = tdm_fold_find(&state->fold, event->process);
	size_t name = tdm_intern_text(&state->fold.texts, event->name);
	kept.name = tdm_str_of(state->fold.texts.texts[name]);
	kept.stack = tdm_intern_stack(&state->fold.texts, event->frames, event->frame_count);
	kept.program = (struct tdm_str){ "", 0 };
	kept.pid = process != NULL ? tdm_fold_pid(process) : 0;
	kept.frames = NULL;
	kept.ranges = NULL;
	kept.frame_count = kept.range_count = 0;
	state->events[state->event_count++] = kept;
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

static void follow(struct tdm_state *state, uint64_t now_ns)
{
	const struct tdm_follow_sink sink = { state, wants, take_event, &state->fold.texts, state->wish.latest_events };
	state->event_count = 0;
	state->events_dropped = 0;
	state->end_count = 0;
	tdm_follower_look(state->follower, &sink, now_ns);
	for (size_t i = 0; i < state->fold.count; i++)
		note_end(state, state->fold.processes[i]);
	state->picture.ends = state->ends;
	state->picture.end_count = state->end_count;
}

int tdm_state_recount(struct tdm_state *state, const struct tdm_part *part)
{
	const struct tdm_follow_sink sink = { .context = state, .event = take_event };
	return tdm_follower_recount(state->follower, &sink, part->owner->number, part->ledger->number);
}

static void read_others(struct tdm_state *state, uint64_t now_ns)
{
	if (state->options->only_ledgers)
		return;
	/* A ledger identifies its process, and its lock proves that the process is running, which saves reading
	 * /proc. */
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
	if (tdm_follower_deaths(state->follower) != state->deaths_seen) {
		/* Queries the other sources immediately, so that none of them still counts the dead process. */
		state->deaths_seen = tdm_follower_deaths(state->follower);
		state->host_ns = state->metal.judge_ns = 0;
	}
	if (now_ns >= state->host_ns) {
		struct tdm_host before = state->host;
		uint64_t begin = tdm_clock_ns();
		tdm_host_read(&state->host, state->options->sysfs, &state->proc,
			state->host_reads++ % HOST_ALL != 0 ? &before : NULL);
		tdm_host_done(&before);
		state->host_ns = now_ns + tdm_max((tdm_clock_ns() - begin) * HOST_SHARE, TDM_NS_PER_S);
	}
	state->proc.has_outsiders = false;
	for (size_t i = 0; i < state->host.card_count; i++)
		state->proc.has_outsiders |= state->host.cards[i].hidden_opens != 0;
	tdm_metal_watch_refresh(&state->metal, &state->proc, now_ns);
}

const struct tdm_picture *tdm_state_look(struct tdm_state *state, const struct tdm_wish *wish)
{
	uint64_t now_ns = tdm_clock_ns();
	state->wish = wish != NULL ? *wish : (struct tdm_wish){ 0 };
	state->picture.time_ns = now_ns;
	state->picture.real_ns = tdm_clock_real_ns();
	follow(state, now_ns);
	read_others(state, now_ns);
	tdm_state_join_devices(state);
	tdm_state_join_processes(state);
	tdm_state_winner(state);
	tdm_state_free_space(state);
	note_problems(state);
	finish_events(state);
	state->picture.texts = &state->fold.texts;
	/* The version of the lists of buffers and of the indices that refer to them. */
	uint64_t version = state->fold.version;
	for (size_t i = 0; i < state->part_count; i++) {
		const struct tdm_part *part = &state->parts[i];
		uint64_t handle = state->picture.processes[part->process].handle;
		version =
			tdm_hash_u64(version ^ handle << 32 ^ part->number) ^ state->picture.devices[part->device].key;
	}
	state->picture.buffers_version = version;
	state->picture.others = tdm_follower_others(state->follower);
	state->picture.ledgers_err = tdm_follower_err(state->follower);
	return &state->picture;
}

static const struct tdm_picture *provide(void *state, const struct tdm_wish *wish)
{
	return tdm_state_look(state, wish);
}

/* A claimed or reused pid belongs to another process. */
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
	return tdm_ledger_dir(state->options->ledger_dir);
}

const struct tdm_host *tdm_state_host(const struct tdm_state *state)
{
	return &state->host;
}

const struct tdm_metal_list *tdm_state_metal(const struct tdm_state *state)
{
	return &state->metal.now;
}
