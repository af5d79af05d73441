/* From sites to findings: each site is measured and judged, sites too small to be judged alone are added up, and the
 * findings are sorted. */
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

/* How long the free rest of the region will last. */
static double until_full(const struct tdm_picture *picture, uint32_t holding, unsigned kind_index, double bytes_per_s)
{
	const struct tdm_picture_device *device = &picture->devices[picture->holdings[holding].device];
	const struct tdm_picture_kind *kind = &device->kinds[kind_index];
	if (!(bytes_per_s > 0) || kind->total_from != TDM_FROM_LEDGER || device->is_virtual ||
		kind->used == TDM_BYTES_UNKNOWN)
		return NAN;
	return kind->total > kind->used ? (double)(kind->total - kind->used) / bytes_per_s : 0;
}

/* How much the floor of a site grew. */
struct growth {
	uint64_t count, bytes, watched_ns;
	double bytes_per_s;
	bool is_known;
};

static struct growth growth_of(const struct tdm_leaks_facts *f, enum tdm_leak_why why, uint64_t span_ns)
{
	struct growth g = { .watched_ns = f->leaks->last_ns - f->leaks->begin_ns, .bytes_per_s = NAN };
	g.is_known = f->windows > 1 || why == TDM_LEAK_SPREAD;
	if (f->windows >= 2 && f->grown > 0) {
		double bytes = f->bytes[f->windows - 1] - f->bytes[0];
		g.count = (uint64_t)f->grown;
		g.bytes = bytes > 0 ? (uint64_t)bytes : 0;
	}
	if (f->windows >= 2)
		g.bytes_per_s = tdm_trend_slope(f->at_s, f->bytes, f->windows);
	if (why == TDM_LEAK_REPLACED || why == TDM_LEAK_OUTGROWN) {
		g.count = 0;
		g.bytes = (uint64_t)(f->sizes.bytes[f->sizes.windows - 1] - f->sizes.bytes[0]);
		g.bytes_per_s = tdm_trend_slope(f->sizes.at_s, f->sizes.bytes, f->sizes.windows);
	}
	if (why == TDM_LEAK_SPREAD && span_ns != 0) {
		g.count = f->site->count;
		g.bytes = f->site->bytes;
		g.watched_ns = span_ns;
		g.bytes_per_s = (double)f->site->bytes / ((double)span_ns / (double)TDM_NS_PER_S);
	}
	return g;
}

static struct tdm_about about_of(const struct tdm_leaks_facts *f, uint32_t holding_index)
{
	const struct tdm_picture *picture = f->picture;
	const struct tdm_holding *holding = &picture->holdings[holding_index];
	const struct tdm_picture_process *process = &picture->processes[holding->process];
	return (struct tdm_about){
		.pid = process->pid,
		.process = holding->process,
		.holding = holding_index,
		.comm = process->comm,
		.ledger = process->ledger,
		.device = holding->number,
		.is_virtual = picture->devices[holding->device].is_virtual,
		.kind = f->site->kind,
		.name = tdm_picture_text(picture, f->site->name),
		.stack = f->site->shown_stack,
	};
}

static uint64_t if_known(bool is_known, uint64_t value)
{
	return is_known ? value : TDM_BYTES_UNKNOWN;
}

static void put_lives(struct tdm_findings *out, const struct tdm_leaks_lives *lives)
{
	size_t count = lives != NULL ? tdm_min(lives->count, TDM_LEAKS_LIFETIMES) : 0;
	tdm_findings_figure(
		out, "freed_lived_ns", TDM_UNIT_NS, if_known(count != 0, count != 0 ? median(lives->ns, count) : 0));
	tdm_findings_figure(out, "freed_lived_most_ns", TDM_UNIT_NS,
		if_known(count != 0, count != 0 ? median(lives->most_ns, count) : 0));
}

/* Adds a finding about one site. `span_ns`: the life of its process, if births are spread over it. */
static void report(struct tdm_findings *out, const struct tdm_leaks_facts *f, enum tdm_leak_why why, uint32_t holding,
	uint64_t span_ns)
{
	const struct tdm_leaks_site *site = f->site;
	const struct tdm_picture_amount *amount = &f->picture->holdings[holding].kinds[site->kind];
	struct growth grown = growth_of(f, why, span_ns);
	enum tdm_severity verdict = tdm_leaks_verdict_of(why);
	bool is_steady = verdict == TDM_FINDING_OK, has_windows = f->windows > 1;
	double z = why == TDM_LEAK_REPLACED || why == TDM_LEAK_OUTGROWN ? f->sizes.z : f->z;
	bool has_age = site->oldest_ns != 0 && site->oldest_ns < f->leaks->last_ns;
	struct tdm_finding *finding = tdm_findings_add(out, TDM_FAMILY_LEAK, tdm_leak_why_name(why), verdict);
	finding->code = (uint8_t)why;
	finding->about = about_of(f, holding);
	finding->weight = !is_steady && grown.bytes_per_s > 0 ? grown.bytes_per_s : 0;
	finding->bytes = site->bytes;
	tdm_findings_figure(out, "many_sites", TDM_UNIT_FLAG, site->is_sum);
	tdm_findings_word(out, "source", "ledger");
	tdm_findings_figure(out, "buffers", TDM_UNIT_COUNT, site->count);
	tdm_findings_figure(out, "reserved_bytes", TDM_UNIT_BYTES, site->bytes);
	tdm_findings_figure(out, "grown_buffers", TDM_UNIT_COUNT, if_known(grown.is_known, grown.count));
	tdm_findings_figure(out, "grown_bytes", TDM_UNIT_BYTES, if_known(grown.is_known, grown.bytes));
	tdm_findings_figure(out, "watched_ns", TDM_UNIT_NS, if_known(grown.is_known, grown.watched_ns));
	tdm_findings_real(out, "bytes_per_second", TDM_UNIT_BYTES_PER_S, grown.bytes_per_s);
	tdm_findings_real(out, "full_in_seconds", TDM_UNIT_S,
		!is_steady && f->process->who.life != TDM_LIFE_ENDED
			? until_full(f->picture, holding, site->kind, grown.bytes_per_s)
			: NAN);
	tdm_findings_figure(out, "freed", TDM_UNIT_COUNT, if_known(has_windows, site->freed));
	tdm_findings_figure(out, "freed_old", TDM_UNIT_COUNT, if_known(has_windows, site->aged_freed));
	tdm_findings_real(out, "trend_z", TDM_UNIT_NUMBER, f->windows > 2 ? z : NAN);
	tdm_findings_figure(out, "oldest_ns", TDM_UNIT_NS, if_known(has_age, f->leaks->last_ns - site->oldest_ns));
	put_lives(out, site->lives);
	tdm_findings_figure(out, "double_frees", TDM_UNIT_COUNT, amount->double_frees);
	tdm_findings_figure(out, "unknown_frees", TDM_UNIT_COUNT, amount->unknown_frees);
}

/* All sites. */

/* The births of live buffers; those of site i are births[first[i]] up to births[first[i + 1]]. */
static int gather_births(
	const struct tdm_leaks *leaks, const struct tdm_picture *picture, size_t **first_out, uint64_t **births_out)
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
	for (uint32_t h = 0; h < picture->holding_count; h++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			for (size_t i = 0; i < picture->holdings[h].buffers[k].count; i++) {
				const struct tdm_buffer *buffer = &picture->holdings[h].buffers[k].list[i];
				uint32_t at = tdm_leaks_find(leaks, h, buffer);
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

/* From our places back to indices of the picture; TDM_INDEX_NONE: not there. */
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

struct judge {
	const struct tdm_leaks *leaks;
	const struct tdm_picture *picture;
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
	const struct tdm_holding *holding = &j->picture->holdings[j->holding_of[site->place]];
	struct tdm_leaks_facts f = { .leaks = j->leaks, .picture = j->picture, .site = site };
	f.process = &j->leaks->processes[j->leaks->places[site->place].process];
	f.births = j->births + j->first[i];
	f.birth_count = j->first[i + 1] - j->first[i];
	while (f.birth_count != 0 && f.births[0] == 0) { /* unknown ones */
		f.births++;
		f.birth_count--;
	}
	f.kind_bytes = (double)holding->kinds[site->kind].used;
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

/* Whether a site grows along with the kernels of new programs, whose binaries the runtime keeps in DRAM. 1, 0 or
 * -ENOMEM. */
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

static int judge_one(struct judge *j, size_t i, struct tdm_findings *out)
{
	const struct tdm_leaks_site *site = &j->leaks->sites[i];
	uint32_t holding = j->holding_of[site->place];
	if (site->count == 0 || holding == TDM_INDEX_NONE)
		return 0;
	struct tdm_leaks_facts f = facts_of(j, i);
	uint32_t process = j->picture->holdings[holding].process;
	bool ended = f.process->who.life == TDM_LIFE_ENDED;
	uint64_t begin = f.process->who.started_ns;
	uint64_t end = ended ? j->newest_ns[process] : j->leaks->last_ns;
	/* New sites count too, though they are not part of the floor yet: they show that the growth goes on. */
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
	report(out, &f, why, holding, begin < end ? end - begin : 0);
	return 0;
}

static int judge_sum(struct judge *j, size_t s, struct tdm_findings *out)
{
	const struct sum *sum = &j->sums[s];
	uint64_t *births = malloc((sum->site.count + 1) * sizeof *births);
	if (births == NULL)
		return -ENOMEM;
	uint32_t holding = j->holding_of[sum->site.place], process = j->picture->holdings[holding].process;
	struct tdm_leaks_facts f = { .leaks = j->leaks, .picture = j->picture, .site = &sum->site, .births = births };
	f.process = &j->leaks->processes[j->leaks->places[sum->site.place].process];
	for (size_t i = 0; i < j->leaks->site_count; i++)
		for (size_t b = j->first[i]; j->part_of[i] == s && b < j->first[i + 1]; b++)
			births[f.birth_count++] = j->births[b];
	if (f.birth_count > 1)
		qsort(births, f.birth_count, sizeof *births, tdm_order_u64);
	tdm_leaks_measure(&f);
	enum tdm_leak_why why =
		f.windows >= TDM_LEAKS_SUSPECT_WINDOWS ? tdm_leaks_judge_watched(&f, process) : TDM_LEAK_UNWATCHED;
	if (tdm_leaks_verdict_of(why) != TDM_FINDING_OK)
		report(out, &f, why, holding, 0);
	free(births);
	return 0;
}

static int judge_all(struct judge *j, struct tdm_findings *out)
{
	j->holding_of = invert(j->leaks->place_of, j->picture->holding_count, j->leaks->place_count);
	j->newest_ns = calloc(j->picture->process_count + 1, sizeof *j->newest_ns);
	j->part_of = malloc((j->leaks->site_count + 1) * sizeof *j->part_of);
	if (j->holding_of == NULL || j->newest_ns == NULL || j->part_of == NULL)
		return -ENOMEM;
	memset(j->part_of, 0xff, (j->leaks->site_count + 1) * sizeof *j->part_of);
	int err = gather_births(j->leaks, j->picture, &j->first, &j->births);
	for (size_t h = 0; h < j->picture->holding_count; h++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			for (size_t i = 0; i < j->picture->holdings[h].buffers[k].count; i++) {
				uint64_t *newest = &j->newest_ns[j->picture->holdings[h].process];
				*newest = tdm_max(*newest, j->picture->holdings[h].buffers[k].list[i].born_ns);
			}
	for (size_t i = 0; i < j->leaks->site_count && err == 0; i++)
		err = judge_one(j, i, out);
	for (size_t i = 0; i < j->sum_count && err == 0; i++)
		err = judge_sum(j, i, out);
	return err;
}

int tdm_leaks_judge(struct tdm_leaks *leaks, const struct tdm_picture *picture, struct tdm_findings *findings,
	struct tdm_leaks_result *result)
{
	*result = (struct tdm_leaks_result){
		.watched_ns = leaks->last_ns - leaks->begin_ns,
		.samples = leaks->samples,
		.sites_left_out = leaks->left_out,
	};
	if (leaks->samples == 0)
		return 0;
	struct judge j = { .leaks = leaks, .picture = picture };
	int err = tdm_map_init(&j.sum_of);
	if (err == 0)
		err = judge_all(&j, findings);
	tdm_map_done(&j.sum_of);
	free(j.sums);
	free(j.part_of);
	free(j.first);
	free(j.births);
	free(j.holding_of);
	free(j.newest_ns);
	tdm_findings_sort(findings);
	return err == 0 && findings->failed ? -ENOMEM : err;
}
