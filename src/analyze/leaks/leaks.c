/*
 * Takes samples; leaks_judge.c judges them. Taking a sample has three steps. The figures of each site move to `last_…`
 * and are cleared. Every buffer in the picture is added to its site. Then each site is completed: missing buffers count
 * as freed, and the floor of the current window is lowered to the number of bytes in old buffers if that is less. Birth
 * times suffice for this, so no data is kept about single buffers. Memory use is bounded by the number of sites: spent
 * sites are dropped, and beyond the site limit, all buffers of a kind share one site.
 */
#include "analyze/leaks/leaks.h"
#include "analyze/leaks/leak_sites.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct tdm_leaks *tdm_leaks_new(uint64_t watch_ns)
{
	struct tdm_leaks *leaks = tdm_zalloc(1, sizeof *leaks);
	leaks->watch_ns = watch_ns;
	leaks->old_ns = watch_ns / TDM_LEAKS_OLD_PART;
	return leaks;
}

static void free_site(struct tdm_leaks_site *site)
{
	free(site->lives);
	free(site->sizes);
}

void tdm_leaks_free(struct tdm_leaks *leaks)
{
	if (leaks == NULL)
		return;
	for (size_t i = 0; i < leaks->site_count; i++)
		free_site(&leaks->sites[i]);
	free(leaks->process_of);
	free(leaks->place_of);
	tdm_map_done(&leaks->by_key);
	free(leaks->processes);
	free(leaks->places);
	free(leaks->sites);
	free(leaks);
}

/* ---- sites ---- */

/* The key is exact: there are fewer than 2^28 strings and stacks, and fewer than 2^21 places. */
static uint64_t key_of(uint32_t place, uint8_t kind, bool is_sum, uint32_t name, uint32_t stack)
{
	uint64_t which = is_sum ? 0 : name != 0 ? (uint64_t)name << 2 | 1 : (uint64_t)stack << 2 | 2;
	return (uint64_t)place << 40 | which << 8 | kind;
}

uint32_t tdm_leaks_find(const struct tdm_leaks *leaks, uint32_t holding, const struct tdm_buffer *buffer)
{
	uint32_t place = leaks->place_of[holding];
	uint32_t at = tdm_map_find(&leaks->by_key, key_of(place, buffer->kind, false, buffer->name, buffer->stack));
	return at != TDM_MAP_NONE ? at : tdm_map_find(&leaks->by_key, key_of(place, buffer->kind, true, 0, 0));
}

/* Assigns our own numbers to processes, then to places; they usually equal the indices in the picture. */
static void make_numbers(struct tdm_leaks *leaks, const struct tdm_picture *picture)
{
	leaks->process_of = tdm_realloc(leaks->process_of, picture->process_count, sizeof *leaks->process_of);
	leaks->place_of = tdm_realloc(leaks->place_of, picture->holding_count, sizeof *leaks->place_of);
	for (size_t i = 0; i < picture->process_count; i++) {
		uint64_t handle = picture->processes[i].handle;
		size_t count = leaks->process_count, n = 0;
		while (n < count && leaks->processes[(i + n) % count].handle != handle)
			n++;
		leaks->process_of[i] = (uint32_t)(n < count ? (i + n) % count : count);
		if (n < count)
			continue;
		tdm_grow(&leaks->processes, &leaks->process_cap, count + 1, sizeof *leaks->processes);
		leaks->processes[leaks->process_count++] = (struct tdm_leaks_process){ .handle = handle };
	}
	for (size_t i = 0; i < picture->holding_count; i++) {
		const struct tdm_holding *holding = &picture->holdings[i];
		const struct tdm_leaks_place wanted = { leaks->process_of[holding->process], holding->number,
			picture->devices[holding->device].key };
		size_t count = leaks->place_count, n = 0;
		for (; n < count; n++) {
			const struct tdm_leaks_place *place = &leaks->places[(i + n) % count];
			if (place->process == wanted.process && place->number == wanted.number &&
				place->device == wanted.device)
				break;
		}
		leaks->place_of[i] = (uint32_t)(n < count ? (i + n) % count : count);
		if (n < count)
			continue;
		tdm_grow(&leaks->places, &leaks->place_cap, count + 1, sizeof *leaks->places);
		leaks->places[leaks->place_count++] = wanted;
	}
}

/* The site of a buffer, added if new. Beyond the site limit, all buffers of a kind share one site. */
static struct tdm_leaks_site *site_of(
	struct tdm_leaks *leaks, uint32_t place, uint8_t kind, uint32_t name, uint32_t stack)
{
	bool is_sum = false;
	uint64_t key = key_of(place, kind, is_sum, name, stack);
	uint32_t number = tdm_map_find(&leaks->by_key, key);
	if (number == TDM_MAP_NONE && leaks->site_count >= TDM_LEAKS_SITES_MAX) {
		is_sum = true;
		name = stack = 0;
		key = key_of(place, kind, is_sum, name, stack);
		number = tdm_map_find(&leaks->by_key, key);
	}
	if (number != TDM_MAP_NONE)
		return &leaks->sites[number];
	tdm_grow(&leaks->sites, &leaks->site_cap, leaks->site_count + 1, sizeof *leaks->sites);
	tdm_map_set(&leaks->by_key, key, (uint32_t)leaks->site_count);
	struct tdm_leaks_site *site = &leaks->sites[leaks->site_count++];
	*site = (struct tdm_leaks_site){
		.place = place, .kind = kind, .is_sum = is_sum, .name = name, .stack = name != 0 ? 0 : stack
	};
	/* In windows in which the process was seen but the site did not exist yet, the floor is 0. */
	uint32_t seen = leaks->processes[leaks->places[place].process].seen_windows;
	for (unsigned i = 0; i < TDM_LEAKS_WINDOWS; i++)
		site->floor[i].count = site->floor[i].bytes = (seen >> i & 1) != 0 ? 0 : TDM_LEAKS_UNSEEN;
	return site;
}

/* Makes room: drops the sites of processes that are gone, and spent sites. */
static void drop_gone(struct tdm_leaks *leaks, const struct tdm_picture *picture)
{
	bool *is_here = tdm_zalloc(leaks->process_count, sizeof *is_here);
	size_t kept = 0;
	for (size_t i = 0; i < picture->process_count; i++)
		is_here[leaks->process_of[i]] = true;
	for (size_t i = 0; i < leaks->site_count; i++) {
		struct tdm_leaks_site *site = &leaks->sites[i];
		uint64_t key = key_of(site->place, site->kind, site->is_sum, site->name, site->stack);
		/* An empty site that never had an old buffer is no evidence of growth. */
		bool is_spent = site->count == 0 && site->old_left == 0 && site->aged == 0;
		for (size_t w = 0; w < TDM_LEAKS_WINDOWS; w++)
			is_spent &= site->floor[w].count == 0 || site->floor[w].count == TDM_LEAKS_UNSEEN;
		if (!is_here[leaks->places[site->place].process] || is_spent) {
			tdm_map_take(&leaks->by_key, key);
			free_site(site);
			continue;
		}
		if (kept != i) {
			tdm_map_set(&leaks->by_key, key, (uint32_t)kept);
			leaks->sites[kept] = *site;
		}
		kept++;
	}
	leaks->site_count = kept;
	free(is_here);
}

static void add_buffer(
	const struct tdm_leaks *leaks, struct tdm_leaks_site *site, const struct tdm_buffer *buffer, uint64_t time_ns)
{
	uint64_t born = buffer->born_ns; /* an unknown birth is 0, which precedes all others */
	uint64_t reserved = tdm_buffer_reserved(buffer);
	site->count++;
	site->bytes += reserved;
	site->settled += born <= time_ns;
	if (time_ns >= leaks->old_ns && born <= time_ns - leaks->old_ns) {
		site->old_count++;
		site->old_bytes += reserved;
	}
	site->left += born <= leaks->last_ns;
	site->old_left += leaks->last_ns >= leaks->old_ns && born <= leaks->last_ns - leaks->old_ns;
	if (tdm_buffer_is_adopted(buffer)) {
		site->adopted.count++;
		site->adopted.bytes += reserved;
	}
	if (born != 0 && (site->oldest_ns == 0 || born < site->oldest_ns))
		site->oldest_ns = born;
	if (born > site->newest_ns)
		site->newest_ns = born;
	site->shown_stack = site->is_sum ? 0 : buffer->stack;
}

/* ---- how long freed buffers lived ---- */

/* The place of an event; TDM_INDEX_NONE if it is not in the picture. */
static uint32_t place_of_event(
	const struct tdm_leaks *leaks, const struct tdm_picture *picture, const struct tdm_event *event)
{
	bool is_virtual = (event->device & TDM_DEVICE_VIRTUAL_BIT) != 0;
	for (size_t h = 0; h < picture->holding_count; h++) {
		const struct tdm_holding *holding = &picture->holdings[h];
		if (picture->processes[holding->process].handle == event->process &&
			holding->own_number == (event->device & ~TDM_DEVICE_VIRTUAL_BIT) &&
			picture->devices[holding->device].is_virtual == is_virtual)
			return leaks->place_of[h];
	}
	return TDM_INDEX_NONE;
}

/* Consecutive events often have the same place and name, so the last lookup is cached. */
static void add_lives(struct tdm_leaks *leaks, const struct tdm_picture *picture)
{
	uint32_t place = TDM_INDEX_NONE;
	const struct tdm_event *last = NULL;
	for (size_t i = 0; i < picture->event_count; i++) {
		const struct tdm_event *event = &picture->events[i];
		uint32_t name;
		if (event->op != TDM_OP_FREE || event->born_ns == 0 ||
			!tdm_intern_find(picture->texts, event->name, &name))
			continue;
		if (last == NULL || last->process != event->process || last->device != event->device)
			place = place_of_event(leaks, picture, event);
		last = event;
		uint32_t at = place != TDM_INDEX_NONE
				      ? tdm_map_find(&leaks->by_key, key_of(place, event->kind, false, name, 0))
				      : TDM_MAP_NONE;
		if (at == TDM_MAP_NONE)
			continue;
		struct tdm_leaks_site *site = &leaks->sites[at];
		if (site->lives == NULL)
			site->lives = tdm_zalloc(1, sizeof *site->lives);
		/* The clock is not read for every release, so the event gives a lower and an upper bound of the
		 * lifetime. */
		uint32_t next = site->lives->count++ % TDM_LEAKS_LIFETIMES;
		uint64_t born = event->born_ns, over = tdm_max(event->over_ns, event->time_ns);
		site->lives->ns[next] = event->time_ns > born ? event->time_ns - born : 0;
		site->lives->most_ns[next] = over > born ? over - born : 0;
	}
}

/* Counts the changes since the last sample, and lowers the floor of the window. */
static void end_site(struct tdm_leaks *leaks, struct tdm_leaks_site *site, unsigned window)
{
	if (leaks->processes[leaks->places[site->place].process].ended)
		return;
	if (leaks->samples != 0) {
		uint64_t old_before = site->last_old;
		site->freed += site->last_settled > site->left ? site->last_settled - site->left : 0;
		site->aged_freed += old_before > site->old_left ? old_before - site->old_left : 0;
		site->aged += site->old_count > site->old_left ? site->old_count - site->old_left : 0;
	}
	/* Buffers adopted since the last sample existed before it. They are added to the floor of all windows, so that
	 * they do not look like growth. */
	const struct tdm_leaks_amount *now = &site->adopted, *last = &site->last_adopted;
	for (size_t i = 0; i < TDM_LEAKS_WINDOWS && now->count > last->count; i++)
		if (site->floor[i].count != TDM_LEAKS_UNSEEN) {
			site->floor[i].count += now->count - last->count;
			site->floor[i].bytes += now->bytes - tdm_min(now->bytes, last->bytes);
		}
	if (site->old_count < site->floor[window].count)
		site->floor[window].count = site->old_count;
	if (site->old_bytes < site->floor[window].bytes)
		site->floor[window].bytes = site->old_bytes;
	if (site->freed == 0)
		return; /* sizes are needed only for sites that free something */
	struct tdm_leaks_sizes *sizes = site->sizes;
	if (sizes == NULL) {
		sizes = site->sizes = tdm_zalloc(1, sizeof *sizes);
		for (size_t i = 0; i < TDM_LEAKS_WINDOWS; i++)
			sizes->bytes[i] = sizes->mean[i] = TDM_LEAKS_UNSEEN;
	}
	sizes->samples++;
	sizes->empty += site->count == 0;
	if (site->count == 0)
		return;
	uint64_t mean = site->bytes / site->count;
	sizes->bytes[window] = tdm_min(sizes->bytes[window], site->bytes);
	sizes->mean[window] = tdm_min(sizes->mean[window], mean);
	sizes->mean_most[window] = tdm_max(sizes->mean_most[window], mean);
}

static void end_processes(struct tdm_leaks *leaks, const struct tdm_picture *picture, unsigned window)
{
	for (size_t i = 0; i < picture->process_count; i++) {
		const struct tdm_picture_process *shown = &picture->processes[i];
		struct tdm_leaks_process *process = &leaks->processes[leaks->process_of[i]];
		uint64_t frees = 0;
		for (uint32_t h = 0; h < shown->holding_count; h++)
			for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
				const struct tdm_counter *f = &picture->holdings[shown->first_holding + h].kinds[k];
				uint64_t known = tdm_plus(f->allocs, f->adopted);
				frees += known != TDM_BYTES_UNKNOWN && known > f->buffers ? known - f->buffers : 0;
			}
		if (!process->ended) {
			if (process->seen_windows != 0 && frees > process->frees)
				process->free_windows |= UINT32_C(1) << window;
			process->seen_windows |= UINT32_C(1) << window;
			process->frees = frees;
		}
		process->ended |= shown->life == TDM_LIFE_ENDED;
		if (shown->who != NULL)
			process->who = *shown->who;
	}
}

void tdm_leaks_sample(struct tdm_leaks *leaks, const struct tdm_picture *picture, uint64_t time_ns)
{
	if (leaks->samples == 0)
		leaks->begin_ns = leaks->last_ns = time_ns;
	double share = leaks->watch_ns != 0 ? (double)(time_ns - leaks->begin_ns) / (double)leaks->watch_ns : 0;
	unsigned window = share < 1 ? (unsigned)(share * TDM_LEAKS_WINDOWS) : TDM_LEAKS_WINDOWS - 1;
	window = window < TDM_LEAKS_WINDOWS ? window : TDM_LEAKS_WINDOWS - 1;
	make_numbers(leaks, picture);
	if (leaks->site_count >= TDM_LEAKS_SITES_MAX / 2)
		drop_gone(leaks, picture);
	for (size_t i = 0; i < leaks->site_count; i++) {
		struct tdm_leaks_site *site = &leaks->sites[i];
		site->last_settled = site->settled;
		site->last_old = site->old_count;
		site->last_adopted = site->adopted;
		site->count = site->bytes = site->settled = site->old_count = site->old_bytes = 0;
		site->adopted = (struct tdm_leaks_amount){ 0 };
		site->left = site->old_left = 0;
		site->oldest_ns = site->newest_ns = 0;
	}
	leaks->left_out = 0;
	for (size_t h = 0; h < picture->holding_count; h++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			for (size_t i = 0; i < picture->holdings[h].buffers[k].count; i++) {
				const struct tdm_buffer *buffer = &picture->holdings[h].buffers[k].list[i];
				if (tdm_buffer_is_shared(buffer))
					continue; /* a cached program's buffer may have no bytes of its own */
				struct tdm_leaks_site *site =
					site_of(leaks, leaks->place_of[h], buffer->kind, buffer->name, buffer->stack);
				add_buffer(leaks, site, buffer, time_ns);
				leaks->left_out += site->is_sum;
			}
	for (size_t i = 0; i < leaks->site_count; i++)
		end_site(leaks, &leaks->sites[i], window);
	end_processes(leaks, picture, window);
	add_lives(leaks, picture);
	leaks->last_ns = time_ns;
	leaks->samples++;
}

/* ---- in words ---- */

#define GROWTH                                                                                                      \
	"grew |by {_rate} a second |over {watched_ns}: |{_grown} came and stayed"                                   \
	"|, under {names/name/names}|, {freed_old/old one was freed/old ones were freed/and none that was old has " \
	"been freed}"
#define LIVES "|; freed ones of this site lived {_lived}|; the oldest here is {oldest_ns} old"
#define REPLACEMENT                                            \
	"grew |by {_rate} a second |over {watched_ns}: |each " \
	"buffer that is freed has been replaced by a larger one|; {freed/was/were} seen to be freed"
const char *const tdm_leak_patterns[TDM_LEAK_WHY_COUNT] = {
	[TDM_LEAK_GROWS] = GROWTH LIVES,
	[TDM_LEAK_REPLACED] = REPLACEMENT,
	[TDM_LEAK_AT_EXIT] = "{_held}| {=buffers/was/were} never freed: the program ended by itself",
	[TDM_LEAK_LEFT] = "{_held}| {=buffers/was/were} left by a client of the daemon, which has ended; how it ended "
			  "is not known",
	[TDM_LEAK_UNSURE] = GROWTH LIVES "|; too little to be sure: watch longer",
	[TDM_LEAK_OUTGROWN] = REPLACEMENT "|; too little to be sure: watch longer",
	[TDM_LEAK_SLOWS] = GROWTH "|; but slower and slower: a cache that fills, or a warm-up",
	[TDM_LEAK_LATE] = GROWTH "|; it began while it was watched: watch again",
	[TDM_LEAK_LOADING] = GROWTH "|; but the program may still be loading: watch again when it works",
	[TDM_LEAK_PROGRAMS] = GROWTH "|; {_cached}",
	[TDM_LEAK_MANY] = GROWTH "|; one or two at each of many sites: names that differ every time, or loading",
	[TDM_LEAK_SPREAD] = "{_held} live|, with births spread evenly over {watched_ns}|{_killed}" LIVES,
	[TDM_LEAK_CONSTANT] = "{_held}, constant" LIVES,
	[TDM_LEAK_TURNS_OVER] = "{_held}, come and go|: {freed/was/were} seen to be freed",
	[TDM_LEAK_YOUNG] = "{_held}, grows, but freed ones became as old" LIVES,
	[TDM_LEAK_LEVELLED] = "{_held}|: grew by {grown_buffers/buffer/buffers} and has levelled off",
	[TDM_LEAK_KILLED] = "{_held}|, left by a program that was {_end}: no leak",
	[TDM_LEAK_RUNTIME] = "{_held}, which the runtime leaves on the card",
	[TDM_LEAK_UNWATCHED] = "{_held}" LIVES,
};
