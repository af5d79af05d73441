/* From sites to findings: each site is measured and judged, those too small to be judged alone are added up, and what
 * comes of it is put in order. */
#include "analyze/leaks.h"
#include "analyze/leaks_rules.h"
#include "analyze/trend.h"
#include "base/clock.h"
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t median(const uint64_t *values, size_t count)
{
	uint64_t sorted[TDM_LEAKS_LIFETIMES];
	memcpy(sorted, values, count * sizeof sorted[0]);
	qsort(sorted, count, sizeof sorted[0], tdm_order_u64);
	return sorted[count / 2];
}

static void set_siblings(struct tdm_leak *leak, const struct tdm_leaks_lives *lives)
{
	if (lives == NULL || lives->count == 0)
		return;
	leak->siblings = lives->count < TDM_LEAKS_LIFETIMES ? lives->count : TDM_LEAKS_LIFETIMES;
	leak->sibling_ns = median(lives->ns, leak->siblings);
	leak->sibling_most_ns = median(lives->most_ns, leak->siblings);
}

/* How long the rest of the region lasts. */
static double until_full(const struct tdm_snapshot *snapshot, const struct tdm_leak *leak)
{
	const struct tdm_snapshot_device *device = &snapshot->devices[snapshot->holdings[leak->holding].device];
	if (!(leak->bytes_per_s > 0) || !device->has_info || device->is_virtual)
		return NAN;
	for (uint32_t i = 0; i < device->info.region_count && i < TDM_REGIONS_MAX; i++) {
		const struct tdm_region *region = &device->info.regions[i];
		if (region->kind != leak->kind)
			continue;
		double all = (double)region->bank_size * region->banks;
		double used = (double)device->kinds[leak->kind].reserved_bytes;
		return all > used ? (all - used) / leak->bytes_per_s : 0;
	}
	return NAN;
}

static struct tdm_leak report(
	const struct tdm_leaks_facts *f, enum tdm_leak_why why, uint32_t process, uint32_t holding, uint64_t span_ns)
{
	const struct tdm_leaks_site *site = f->site;
	const struct tdm_figures *figures = &f->snapshot->holdings[holding].kinds[site->kind];
	struct tdm_leak leak = {
		.verdict = (uint8_t)tdm_leaks_verdict_of(why),
		.why = (uint8_t)why,
		.kind = site->kind,
		.is_sum = site->is_sum,
		.process = process,
		.holding = holding,
		.name = site->shown_name,
		.stack = site->shown_stack,
		.count = site->count,
		.bytes = site->bytes,
		.freed = site->freed,
		.aged = site->aged,
		.aged_freed = site->aged_freed,
		.windows = (uint32_t)f->windows,
		.watched_ns = f->leaks->last_ns - f->leaks->begin_ns,
		.z = f->z,
		.bytes_per_s = NAN,
		.full_s = NAN,
		.double_frees = figures->double_frees,
		.unknown_frees = figures->unknown_frees,
	};
	if (site->oldest_ns != 0 && site->oldest_ns < f->leaks->last_ns)
		leak.oldest_ns = f->leaks->last_ns - site->oldest_ns;
	if (f->windows >= 2 && f->grown > 0) {
		double bytes = f->bytes[f->windows - 1] - f->bytes[0];
		leak.grown_count = (uint64_t)f->grown;
		leak.grown_bytes = bytes > 0 ? (uint64_t)bytes : 0;
	}
	if (f->windows >= 2)
		leak.bytes_per_s = tdm_trend_slope(f->at_s, f->bytes, f->windows);
	if (why == TDM_LEAK_SPREAD && span_ns != 0) {
		leak.grown_count = site->count;
		leak.grown_bytes = site->bytes;
		leak.watched_ns = span_ns;
		leak.bytes_per_s = (double)site->bytes / ((double)span_ns / (double)TDM_NS_PER_S);
	}
	if (leak.verdict != TDM_LEAK_STEADY && f->process->who.life != TDM_LIFE_ENDED)
		leak.full_s = until_full(f->snapshot, &leak);
	set_siblings(&leak, site->lives);
	return leak;
}

/* All sites. */

/* The births of what lives, site by site: births[first[i]] up to births[first[i + 1]]. */
static int gather_births(
	const struct tdm_leaks *leaks, const struct tdm_snapshot *snapshot, size_t **first_out, uint64_t **births_out)
{
	size_t *first = calloc(leaks->site_count + 2, sizeof *first);
	if (first == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < leaks->site_count; i++)
		first[i + 1] = first[i] + (leaks->sites[i].count);
	uint64_t *births = malloc((first[leaks->site_count] + 1) * sizeof *births);
	size_t *used = calloc(leaks->site_count + 1, sizeof *used);
	if (births == NULL || used == NULL) {
		free(first);
		free(births);
		free(used);
		return -ENOMEM;
	}
	for (size_t i = 0; i < snapshot->buffer_count; i++) {
		const struct tdm_buffer *buffer = &snapshot->buffers[i];
		if (buffer->name >= snapshot->text_count || buffer->stack >= snapshot->stack_count)
			continue;
		uint32_t at = tdm_leaks_find(leaks, buffer);
		if (at != TDM_MAP_NONE && first[at] + used[at] < first[at + 1])
			births[first[at] + used[at]++] = buffer->born_ns;
	}
	for (size_t i = 0; i < leaks->site_count; i++)
		if (used[i] > 1)
			qsort(births + first[i], used[i], sizeof *births, tdm_order_u64);
	free(used);
	*first_out = first;
	*births_out = births;
	return 0;
}

/* Where in the snapshot our places are now; TDM_INDEX_NONE: nowhere. */
static uint32_t *invert(const uint32_t *number_of, size_t count, size_t numbers)
{
	uint32_t *back = malloc((numbers + 1) * sizeof *back);
	if (back == NULL)
		return NULL;
	memset(back, 0xff, (numbers + 1) * sizeof *back);
	for (size_t i = 0; i < count; i++)
		back[number_of[i]] = (uint32_t)i;
	return back;
}

static int compare_leaks(const void *left, const void *right)
{
	const struct tdm_leak *a = left, *b = right;
	if (a->verdict != b->verdict)
		return b->verdict - a->verdict;
	double a_rate = a->bytes_per_s > 0 ? a->bytes_per_s : 0, b_rate = b->bytes_per_s > 0 ? b->bytes_per_s : 0;
	if (a->verdict != TDM_LEAK_STEADY && (a_rate < b_rate || a_rate > b_rate))
		return a_rate < b_rate ? 1 : -1;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	if (a->holding != b->holding)
		return a->holding < b->holding ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind - b->kind;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

struct judge {
	const struct tdm_leaks *leaks;
	const struct tdm_snapshot *snapshot;
	size_t *first;
	uint64_t *births;
	uint32_t *holding_of;  /* of each place */
	uint64_t *newest_ns;   /* birth of each process */
	struct tdm_map sum_of; /* by place and kind */
	struct sum {
		struct tdm_leaks_site site;
		size_t parts;
	} * sums;
	size_t sum_count;
	uint32_t *part_of; /* the sum that each site is in, or TDM_MAP_NONE */
};

static struct tdm_leaks_facts facts_of(const struct judge *j, size_t i)
{
	const struct tdm_leaks_site *site = &j->leaks->sites[i];
	const struct tdm_holding *holding = &j->snapshot->holdings[j->holding_of[site->place]];
	struct tdm_leaks_facts f = { .leaks = j->leaks, .snapshot = j->snapshot, .site = site };
	f.process = &j->leaks->processes[j->leaks->places[site->place].process];
	f.births = j->births + j->first[i];
	f.birth_count = j->first[i + 1] - j->first[i];
	while (f.birth_count != 0 && f.births[0] == 0) { /* unknown ones */
		f.births++;
		f.birth_count--;
	}
	f.kind_bytes = (double)holding->kinds[site->kind].reserved_bytes;
	tdm_leaks_measure(&f);
	return f;
}

/* Sites that are too small to be judged alone are added up, kind by kind. */
static int add_part(struct judge *j, size_t i, const struct tdm_leaks_facts *f)
{
	const struct tdm_leaks_site *site = f->site;
	uint64_t key = (uint64_t)site->place << 8 | site->kind;
	uint32_t at = tdm_map_find(&j->sum_of, key);
	if (at == TDM_MAP_NONE) {
		struct sum *more = realloc(j->sums, (j->sum_count + 1) * sizeof *more);
		if (more == NULL)
			return -ENOMEM;
		j->sums = more;
		at = (uint32_t)j->sum_count++;
		j->sums[at] = (struct sum){ .site = { .place = site->place, .kind = site->kind, .is_sum = true } };
		for (size_t w = 0; w < TDM_LEAKS_WINDOWS; w++)
			j->sums[at].site.floor[w].count = j->sums[at].site.floor[w].bytes = TDM_LEAKS_UNSEEN;
		if (tdm_map_put(&j->sum_of, key, at) != 0)
			return -ENOMEM;
	}
	struct tdm_leaks_site *sum = &j->sums[at].site;
	for (size_t w = 0; w < TDM_LEAKS_WINDOWS; w++)
		if (site->floor[w].count != TDM_LEAKS_UNSEEN) {
			bool first = sum->floor[w].count == TDM_LEAKS_UNSEEN;
			sum->floor[w].count = (first ? 0 : sum->floor[w].count) + site->floor[w].count;
			sum->floor[w].bytes = (first ? 0 : sum->floor[w].bytes) + site->floor[w].bytes;
		}
	sum->count += site->count;
	sum->bytes += site->bytes;
	sum->freed += site->freed;
	sum->aged += site->aged;
	sum->aged_freed += site->aged_freed;
	if (sum->oldest_ns == 0 || (site->oldest_ns != 0 && site->oldest_ns < sum->oldest_ns))
		sum->oldest_ns = site->oldest_ns;
	j->sums[at].parts++;
	j->part_of[i] = at;
	return 0;
}

/* Whether a site grows with the kernels of new programs: the runtime keeps their binaries in DRAM. 1, 0 or -ENOMEM. */
static int comes_with_programs(const struct judge *j, const struct tdm_leaks_facts *f)
{
	uint64_t *kernels = NULL;
	size_t count = 0;
	for (size_t pass = 0; pass < 2; pass++) {
		if (pass != 0 && (kernels = malloc((count + 1) * sizeof *kernels)) == NULL)
			return -ENOMEM;
		count = 0;
		for (size_t i = 0; i < j->leaks->site_count; i++) {
			const struct tdm_leaks_site *site = &j->leaks->sites[i];
			if (site->kind != TDM_KIND_KERNEL || site->place != f->site->place)
				continue;
			for (size_t b = j->first[i]; b < j->first[i + 1]; b++)
				if (j->births[b] >= j->leaks->begin_ns) {
					if (kernels != NULL)
						kernels[count] = j->births[b];
					count++;
				}
		}
	}
	if (count > 1)
		qsort(kernels, count, sizeof *kernels, tdm_order_u64);
	bool is_so = tdm_leaks_is_in_step(f, kernels, count);
	free(kernels);
	return is_so;
}

static int judge_one(struct judge *j, size_t i, struct tdm_leaks_result *result)
{
	const struct tdm_leaks_site *site = &j->leaks->sites[i];
	uint32_t holding = j->holding_of[site->place];
	if (site->count == 0 || holding == TDM_INDEX_NONE)
		return 0;
	struct tdm_leaks_facts f = facts_of(j, i);
	uint32_t process = j->snapshot->holdings[holding].process;
	bool ended = f.process->who.life == TDM_LIFE_ENDED;
	uint64_t begin = f.process->who.started_ns;
	uint64_t end = ended ? j->newest_ns[process] : j->leaks->last_ns;
	/* New ones are in it, too, though they are no part of the floor yet: they show that it goes on. */
	bool is_new =
		site->newest_ns >= j->leaks->begin_ns && site->freed == 0 && site->count < TDM_LEAKS_SUSPECT_GROWN;
	if (!ended && (site->is_sum || ((f.grown > 0 || is_new) && f.grown < TDM_LEAKS_SUSPECT_GROWN))) {
		int err = add_part(j, i, &f);
		if (err != 0 || site->is_sum)
			return err;
	}
	enum tdm_leak_why why = tdm_leaks_judge_site(&f, process, begin, end);
	if (why == TDM_LEAK_GROWS || why == TDM_LEAK_UNSURE) {
		int with_programs = comes_with_programs(j, &f);
		if (with_programs < 0)
			return with_programs;
		why = with_programs ? TDM_LEAK_PROGRAMS : why;
	}
	result->leaks[result->count++] = report(&f, why, process, holding, begin < end ? end - begin : 0);
	return 0;
}

static int judge_sum(struct judge *j, size_t s, struct tdm_leaks_result *result)
{
	const struct sum *sum = &j->sums[s];
	uint64_t *births = malloc((sum->site.count + 1) * sizeof *births);
	if (births == NULL)
		return -ENOMEM;
	uint32_t holding = j->holding_of[sum->site.place], process = j->snapshot->holdings[holding].process;
	struct tdm_leaks_facts f = { .leaks = j->leaks, .snapshot = j->snapshot, .site = &sum->site, .births = births };
	f.process = &j->leaks->processes[j->leaks->places[sum->site.place].process];
	for (size_t i = 0; i < j->leaks->site_count; i++)
		for (size_t b = j->first[i]; j->part_of[i] == s && b < j->first[i + 1]; b++)
			births[f.birth_count++] = j->births[b];
	if (f.birth_count > 1)
		qsort(births, f.birth_count, sizeof *births, tdm_order_u64);
	tdm_leaks_measure(&f);
	enum tdm_leak_why why =
		f.windows >= TDM_LEAKS_SUSPECT_WINDOWS ? tdm_leaks_judge_watched(&f, process) : TDM_LEAK_UNWATCHED;
	if (tdm_leaks_verdict_of(why) != TDM_LEAK_STEADY)
		result->leaks[result->count++] = report(&f, why, process, holding, 0);
	free(births);
	return 0;
}

static int judge_all(struct judge *j, struct tdm_leaks_result *result)
{
	j->holding_of = invert(j->leaks->place_of, j->snapshot->holding_count, j->leaks->place_count);
	j->newest_ns = calloc(j->snapshot->process_count + 1, sizeof *j->newest_ns);
	j->part_of = malloc((j->leaks->site_count + 1) * sizeof *j->part_of);
	if (j->holding_of == NULL || j->newest_ns == NULL || j->part_of == NULL)
		return -ENOMEM;
	memset(j->part_of, 0xff, (j->leaks->site_count + 1) * sizeof *j->part_of);
	int err = gather_births(j->leaks, j->snapshot, &j->first, &j->births);
	for (size_t i = 0; i < j->snapshot->buffer_count && err == 0; i++) {
		const struct tdm_buffer *buffer = &j->snapshot->buffers[i];
		uint64_t *newest = &j->newest_ns[j->snapshot->holdings[buffer->holding].process];
		*newest = buffer->born_ns > *newest ? buffer->born_ns : *newest;
	}
	/* Each site is at most one finding, and there are no more sums than sites. */
	result->leaks = malloc((2 * j->leaks->site_count + 1) * sizeof *result->leaks);
	err = err == 0 && result->leaks == NULL ? -ENOMEM : err;
	for (size_t i = 0; i < j->leaks->site_count && err == 0; i++)
		err = judge_one(j, i, result);
	for (size_t i = 0; i < j->sum_count && err == 0; i++)
		err = judge_sum(j, i, result);
	return err;
}

int tdm_leaks_judge(struct tdm_leaks *leaks, const struct tdm_snapshot *snapshot, struct tdm_leaks_result *result)
{
	*result = (struct tdm_leaks_result){
		.watched_ns = leaks->last_ns - leaks->begin_ns,
		.samples = leaks->samples,
		.sites_left_out = leaks->left_out,
	};
	if (leaks->samples == 0)
		return 0;
	struct judge j = { .leaks = leaks, .snapshot = snapshot };
	int err = tdm_map_init(&j.sum_of);
	if (err == 0)
		err = judge_all(&j, result);
	tdm_map_done(&j.sum_of);
	free(j.sums);
	free(j.part_of);
	free(j.first);
	free(j.births);
	free(j.holding_of);
	free(j.newest_ns);
	if (err != 0) {
		tdm_leaks_result_done(result);
		return err;
	}
	if (result->count > 1)
		qsort(result->leaks, result->count, sizeof *result->leaks, compare_leaks);
	for (size_t i = 0; i < result->count; i++)
		result->verdicts[result->leaks[i].verdict]++;
	return 0;
}

void tdm_leaks_result_done(struct tdm_leaks_result *result)
{
	free(result->leaks);
	*result = (struct tdm_leaks_result){ 0 };
}
