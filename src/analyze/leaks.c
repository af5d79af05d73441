#include "analyze/leaks.h"
#include "base/reserve.h"
#include "analyze/leaks_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct tdm_leaks *tdm_leaks_new(uint64_t watch_ns)
{
	struct tdm_leaks *leaks = calloc(1, sizeof *leaks);
	if (leaks == NULL)
		return NULL;
	leaks->watch_ns = watch_ns;
	leaks->old_ns = watch_ns / TDM_LEAKS_OLD_PART;
	if (tdm_map_init(&leaks->by_key) != 0) {
		tdm_leaks_free(leaks);
		return NULL;
	}
	return leaks;
}

static void drop_numbers(struct tdm_leaks *leaks)
{
	free(leaks->process_of);
	free(leaks->place_of);
	leaks->process_of = leaks->place_of = NULL;
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
	drop_numbers(leaks);
	tdm_map_done(&leaks->by_key);
	free(leaks->processes);
	free(leaks->places);
	free(leaks->sites);
	free(leaks);
}

/* From indices of the picture to ours. */

static int process_number(
	struct tdm_leaks *leaks, const struct tdm_picture_process *shown, uint32_t hint, uint32_t *number)
{
	size_t first = hint < leaks->process_count ? hint : 0;
	for (size_t n = 0; n < leaks->process_count; n++) {
		size_t i = (first + n) % leaks->process_count;
		if (leaks->processes[i].handle == shown->handle) {
			*number = (uint32_t)i;
			return 0;
		}
	}
	if (tdm_reserve(&leaks->processes, &leaks->process_cap, leaks->process_count + 1, sizeof *leaks->processes) !=
		0)
		return -ENOMEM;
	leaks->processes[leaks->process_count] = (struct tdm_leaks_process){ .handle = shown->handle };
	*number = (uint32_t)leaks->process_count++;
	return 0;
}

static int place_number(struct tdm_leaks *leaks, struct tdm_leaks_place wanted, uint32_t hint, uint32_t *number)
{
	size_t first = hint < leaks->place_count ? hint : 0;
	for (size_t n = 0; n < leaks->place_count; n++) {
		size_t i = (first + n) % leaks->place_count;
		const struct tdm_leaks_place *place = &leaks->places[i];
		if (place->process == wanted.process && place->number == wanted.number &&
			place->device == wanted.device) {
			*number = (uint32_t)i;
			return 0;
		}
	}
	if (tdm_reserve(&leaks->places, &leaks->place_cap, leaks->place_count + 1, sizeof *leaks->places) != 0)
		return -ENOMEM;
	leaks->places[leaks->place_count] = wanted;
	*number = (uint32_t)leaks->place_count++;
	return 0;
}

static int make_numbers(struct tdm_leaks *leaks, const struct tdm_picture *picture)
{
	int err = 0;
	drop_numbers(leaks);
	leaks->process_of = malloc((picture->process_count + 1) * sizeof *leaks->process_of);
	leaks->place_of = malloc((picture->holding_count + 1) * sizeof *leaks->place_of);
	if (leaks->process_of == NULL || leaks->place_of == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < picture->process_count && err == 0; i++)
		err = process_number(leaks, &picture->processes[i], (uint32_t)i, &leaks->process_of[i]);
	for (size_t i = 0; i < picture->holding_count && err == 0; i++) {
		const struct tdm_holding *holding = &picture->holdings[i];
		const struct tdm_leaks_place place = { leaks->process_of[holding->process], holding->number,
			picture->devices[holding->device].key };
		err = place_number(leaks, place, (uint32_t)i, &leaks->place_of[i]);
	}
	return err;
}

/* Sites. */

/* The key is exact: texts and stacks are fewer than 2^28, places fewer than 2^21. */
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

static unsigned window_of(const struct tdm_leaks *leaks, uint64_t time_ns)
{
	if (leaks->watch_ns == 0)
		return 0;
	double share = (double)(time_ns - leaks->begin_ns) / (double)leaks->watch_ns;
	unsigned window = share < 1 ? (unsigned)(share * TDM_LEAKS_WINDOWS) : TDM_LEAKS_WINDOWS - 1;
	return window < TDM_LEAKS_WINDOWS ? window : TDM_LEAKS_WINDOWS - 1;
}

/* In windows that saw the process but not the site, the floor is 0. */
static void init_floor(const struct tdm_leaks *leaks, struct tdm_leaks_site *site)
{
	uint32_t seen = leaks->processes[leaks->places[site->place].process].seen_windows;
	for (unsigned i = 0; i < TDM_LEAKS_WINDOWS; i++)
		site->floor[i].count = site->floor[i].bytes = (seen >> i & 1) != 0 ? 0 : TDM_LEAKS_UNSEEN;
}

/* The number of the site, created if new; beyond the limit, all buffers of a kind share one site. */
static int site_number(
	struct tdm_leaks *leaks, uint32_t place, uint8_t kind, uint32_t name, uint32_t stack, uint32_t *number)
{
	bool is_sum = false;
	uint64_t key = key_of(place, kind, is_sum, name, stack);
	*number = tdm_map_find(&leaks->by_key, key);
	if (*number == TDM_MAP_NONE && leaks->site_count >= TDM_LEAKS_SITES_MAX) {
		is_sum = true;
		name = stack = 0;
		key = key_of(place, kind, is_sum, name, stack);
		*number = tdm_map_find(&leaks->by_key, key);
	}
	if (*number != TDM_MAP_NONE)
		return 0;
	if (tdm_reserve(&leaks->sites, &leaks->site_cap, leaks->site_count + 1, sizeof *leaks->sites) != 0 ||
		tdm_map_put(&leaks->by_key, key, (uint32_t)leaks->site_count) != 0)
		return -ENOMEM;
	*number = (uint32_t)leaks->site_count;
	struct tdm_leaks_site *site = &leaks->sites[leaks->site_count++];
	*site = (struct tdm_leaks_site){
		.place = place, .kind = kind, .is_sum = is_sum, .name = name, .stack = name != 0 ? 0 : stack
	};
	init_floor(leaks, site);
	return 0;
}

/* Whether a site is empty and none of its buffers ever was old: it says nothing about growth. */
static bool is_spent(const struct tdm_leaks_site *site)
{
	bool was_old = false;
	for (size_t i = 0; i < TDM_LEAKS_WINDOWS; i++)
		was_old |= site->floor[i].count != 0 && site->floor[i].count != TDM_LEAKS_UNSEEN;
	return site->count == 0 && site->old_left == 0 && site->aged == 0 && !was_old;
}

/* Drops the sites of processes that are gone, and those that are spent, to make room for others. */
static int drop_gone(struct tdm_leaks *leaks, const struct tdm_picture *picture)
{
	bool *is_here = calloc(leaks->process_count + 1, sizeof *is_here);
	size_t kept = 0;
	if (is_here == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < picture->process_count; i++)
		is_here[leaks->process_of[i]] = true;
	for (size_t i = 0; i < leaks->site_count; i++) {
		struct tdm_leaks_site *site = &leaks->sites[i];
		uint64_t key = key_of(site->place, site->kind, site->is_sum, site->name, site->stack);
		if (!is_here[leaks->places[site->place].process] || is_spent(site)) {
			tdm_map_take(&leaks->by_key, key);
			free_site(site);
			continue;
		}
		if (kept != i) {
			tdm_map_put(&leaks->by_key, key, (uint32_t)kept); /* replaces an entry: needs no memory */
			leaks->sites[kept] = *site;
		}
		kept++;
	}
	leaks->site_count = kept;
	free(is_here);
	return 0;
}

static void begin_sample(struct tdm_leaks *leaks)
{
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
}

static void add_buffer(
	const struct tdm_leaks *leaks, struct tdm_leaks_site *site, const struct tdm_buffer *buffer, uint64_t time_ns)
{
	uint64_t born = buffer->born_ns; /* an unknown birth, 0, is before everything */
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

static int add_list(struct tdm_leaks *leaks, uint32_t place, const struct tdm_buffer_list *buffers, uint64_t time_ns)
{
	for (size_t i = 0; i < buffers->count; i++) {
		const struct tdm_buffer *buffer = &buffers->list[i];
		uint32_t at;
		if (tdm_buffer_is_shared(buffer))
			continue; /* of a program that is kept: it may have no bytes that another one has not, too */
		int err = site_number(leaks, place, buffer->kind, buffer->name, buffer->stack, &at);
		if (err != 0)
			return err;
		add_buffer(leaks, &leaks->sites[at], buffer, time_ns);
		leaks->left_out += leaks->sites[at].is_sum;
	}
	return 0;
}

static int add_buffers(struct tdm_leaks *leaks, const struct tdm_picture *picture, uint64_t time_ns)
{
	int err = 0;
	leaks->left_out = 0;
	for (size_t h = 0; h < picture->holding_count; h++)
		for (unsigned k = 0; k < TDM_KIND_COUNT && err == 0; k++)
			err = add_list(leaks, leaks->place_of[h], &picture->holdings[h].buffers[k], time_ns);
	return err;
}

/* How long freed buffers lived. */

/* The place of an event; TDM_INDEX_NONE: it is not in the picture. */
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

/* Not every release reads the clock, so the event gives a shortest and a longest lifetime. */
static int add_life(struct tdm_leaks *leaks, uint32_t place, uint32_t name, const struct tdm_event *event)
{
	uint32_t at = tdm_map_find(&leaks->by_key, key_of(place, event->kind, false, name, 0));
	if (at == TDM_MAP_NONE)
		return 0;
	struct tdm_leaks_site *site = &leaks->sites[at];
	if (site->lives == NULL && (site->lives = calloc(1, sizeof *site->lives)) == NULL)
		return -ENOMEM;
	uint32_t next = site->lives->count++ % TDM_LEAKS_LIFETIMES;
	uint64_t born = event->born_ns, over = tdm_max(event->over_ns, event->time_ns);
	site->lives->ns[next] = event->time_ns > born ? event->time_ns - born : 0;
	site->lives->most_ns[next] = over > born ? over - born : 0;
	return 0;
}

/* Consecutive events often have the same place and name, so the last lookup is remembered. */
static int add_lives(struct tdm_leaks *leaks, const struct tdm_picture *picture)
{
	uint32_t place = TDM_INDEX_NONE;
	const struct tdm_event *last = NULL;
	int err = 0;
	for (size_t i = 0; i < picture->event_count && err == 0; i++) {
		const struct tdm_event *event = &picture->events[i];
		uint32_t name;
		if (event->op != TDM_OP_FREE || event->born_ns == 0 ||
			!tdm_intern_find(picture->texts, event->name, &name))
			continue;
		if (last == NULL || last->process != event->process || last->device != event->device)
			place = place_of_event(leaks, picture, event);
		last = event;
		if (place != TDM_INDEX_NONE)
			err = add_life(leaks, place, name, event);
	}
	return err;
}

/* Sites that free nothing do not need it. */
static int add_sizes(struct tdm_leaks_site *site, unsigned window)
{
	struct tdm_leaks_sizes *sizes = site->sizes;
	if (sizes == NULL) {
		sizes = site->sizes = calloc(1, sizeof *sizes);
		if (sizes == NULL)
			return -ENOMEM;
		for (size_t i = 0; i < TDM_LEAKS_WINDOWS; i++)
			sizes->window[i].bytes = sizes->window[i].mean = TDM_LEAKS_UNSEEN;
	}
	sizes->samples++;
	sizes->empty += site->count == 0;
	if (site->count == 0)
		return 0;
	uint64_t mean = site->bytes / site->count;
	sizes->window[window].bytes = tdm_min(sizes->window[window].bytes, site->bytes);
	sizes->window[window].mean = tdm_min(sizes->window[window].mean, mean);
	sizes->window[window].mean_most = tdm_max(sizes->window[window].mean_most, mean);
	return 0;
}

/*
 * Buffers that were adopted since the last sample had been there before: they are added to the floor of all windows, so
 * that they do not look like growth.
 */
static void raise_floor(struct tdm_leaks_site *site)
{
	const struct tdm_leaks_amount *now = &site->adopted, *last = &site->last_adopted;
	uint64_t count = now->count - tdm_min(now->count, last->count);
	uint64_t bytes = now->bytes - tdm_min(now->bytes, last->bytes);
	for (size_t i = 0; i < TDM_LEAKS_WINDOWS && count != 0; i++)
		if (site->floor[i].count != TDM_LEAKS_UNSEEN) {
			site->floor[i].count += count;
			site->floor[i].bytes += bytes;
		}
}

/* Counts what has changed since the last sample, and lowers the floor of the window. */
static int end_site(struct tdm_leaks *leaks, struct tdm_leaks_site *site, unsigned window)
{
	if (leaks->processes[leaks->places[site->place].process].ended)
		return 0;
	if (leaks->samples != 0) {
		uint64_t old_before = site->last_old;
		site->freed += site->last_settled > site->left ? site->last_settled - site->left : 0;
		site->aged_freed += old_before > site->old_left ? old_before - site->old_left : 0;
		site->aged += site->old_count > site->old_left ? site->old_count - site->old_left : 0;
	}
	raise_floor(site);
	if (site->old_count < site->floor[window].count)
		site->floor[window].count = site->old_count;
	if (site->old_bytes < site->floor[window].bytes)
		site->floor[window].bytes = site->old_bytes;
	return site->freed != 0 ? add_sizes(site, window) : 0;
}

static uint64_t frees_of(const struct tdm_picture *picture, const struct tdm_picture_process *process)
{
	uint64_t frees = 0;
	for (uint32_t h = 0; h < process->holding_count; h++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_picture_amount *f = &picture->holdings[process->first_holding + h].kinds[k];
			uint64_t known = tdm_plus(f->allocs, f->adopted);
			frees += known != TDM_BYTES_UNKNOWN && known > f->buffers ? known - f->buffers : 0;
		}
	return frees;
}

static void end_processes(struct tdm_leaks *leaks, const struct tdm_picture *picture, unsigned window)
{
	for (size_t i = 0; i < picture->process_count; i++) {
		const struct tdm_picture_process *shown = &picture->processes[i];
		struct tdm_leaks_process *process = &leaks->processes[leaks->process_of[i]];
		uint64_t frees = frees_of(picture, shown);
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

int tdm_leaks_sample(struct tdm_leaks *leaks, const struct tdm_picture *picture, uint64_t time_ns)
{
	if (leaks->samples == 0)
		leaks->begin_ns = leaks->last_ns = time_ns;
	unsigned window = window_of(leaks, time_ns);
	int err = make_numbers(leaks, picture);
	if (err == 0 && leaks->site_count >= TDM_LEAKS_SITES_MAX / 2)
		err = drop_gone(leaks, picture);
	if (err != 0)
		return err;
	begin_sample(leaks);
	err = add_buffers(leaks, picture, time_ns);
	if (err != 0)
		return err;
	for (size_t i = 0; i < leaks->site_count && err == 0; i++)
		err = end_site(leaks, &leaks->sites[i], window);
	if (err != 0)
		return err;
	end_processes(leaks, picture, window);
	err = add_lives(leaks, picture);
	if (err != 0)
		return err;
	leaks->last_ns = time_ns;
	leaks->samples++;
	return 0;
}
