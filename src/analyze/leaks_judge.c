/* From sites to findings: each site is measured and judged, then those that belong together, and the findings are
 * sorted. */
#include "analyze/leaks.h"
#include "analyze/leaks_groups.h"
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

/* A pattern is in no list of names, so the finding keeps it. */
static void put_pattern(struct tdm_findings *out, const char *pattern)
{
	tdm_findings_place(out, "name_pattern", tdm_str_of(pattern));
	if (pattern[0] != '\0' && !out->failed)
		out->list[out->count - 1].about.name = out->figures[out->figure_count - 1].owned;
}

/* Adds a finding about one site, or a group. `pattern`: of its names, or empty. `span_ns`: the life of its process, if
 * births are spread over it. */
static void report(struct tdm_findings *out, const struct tdm_leaks_facts *f, enum tdm_leak_why why,
	const char *pattern, uint32_t holding, uint64_t span_ns)
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
	tdm_findings_figure(out, "many_sites", TDM_UNIT_FLAG, site->is_sum || site->names != 0);
	tdm_findings_figure(out, "names", TDM_UNIT_COUNT, if_known(site->names != 0, site->names));
	put_pattern(out, pattern);
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
	uint32_t *holding_of; /* of each place */
	uint64_t *newest_ns;  /* birth of each process */
	uint8_t *why;         /* of each site: enum tdm_leak_why */
	bool *is_told;        /* of each site: it is in a group that is a finding */
	struct tdm_names patterns;
	struct tdm_leaks_member *members; /* of the groups of a level */
	size_t member_count;
};

/* `births`: in order. */
static struct tdm_leaks_facts facts_of(
	const struct judge *j, const struct tdm_leaks_site *site, const uint64_t *births, size_t count)
{
	const struct tdm_holding *holding = &j->picture->holdings[j->holding_of[site->place]];
	struct tdm_leaks_facts f = { .leaks = j->leaks, .picture = j->picture, .site = site };
	f.process = &j->leaks->processes[j->leaks->places[site->place].process];
	f.births = births;
	f.birth_count = count;
	while (f.birth_count != 0 && f.births[0] == 0) { /* unknown ones */
		f.births++;
		f.birth_count--;
	}
	f.kind_bytes = (double)holding->kinds[site->kind].used;
	tdm_leaks_measure(&f);
	return f;
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

/* The life of the process of a site: up to now, or to its last birth. */
struct life {
	uint64_t begin_ns, end_ns;
};

static struct life life_of(const struct judge *j, const struct tdm_leaks_facts *f, uint32_t process)
{
	bool ended = f->process->who.life == TDM_LIFE_ENDED;
	return (struct life){ f->process->who.started_ns, ended ? j->newest_ns[process] : j->leaks->last_ns };
}

/* enum tdm_leak_why, or -ENOMEM. */
static int judge_facts(const struct judge *j, const struct tdm_leaks_facts *f)
{
	uint32_t process = j->picture->holdings[j->holding_of[f->site->place]].process;
	struct life life = life_of(j, f, process);
	enum tdm_leak_why why = tdm_leaks_judge_site(f, process, life.begin_ns, life.end_ns);
	if (why != TDM_LEAK_GROWS && why != TDM_LEAK_UNSURE)
		return (int)why;
	int with_programs = comes_with_programs(j, f);
	return with_programs < 0 ? with_programs : with_programs ? (int)TDM_LEAK_PROGRAMS : (int)why;
}

static void report_facts(const struct judge *j, const struct tdm_leaks_facts *f, enum tdm_leak_why why,
	const char *pattern, struct tdm_findings *out)
{
	uint32_t holding = j->holding_of[f->site->place];
	struct life life = life_of(j, f, j->picture->holdings[holding].process);
	report(out, f, why, pattern, holding, life.begin_ns < life.end_ns ? life.end_ns - life.begin_ns : 0);
}

static struct tdm_leaks_facts facts_of_site(const struct judge *j, size_t i)
{
	return facts_of(j, &j->leaks->sites[i], j->births + j->first[i], j->first[i + 1] - j->first[i]);
}

static bool is_judged_alone(const struct judge *j, size_t i)
{
	const struct tdm_leaks_site *site = &j->leaks->sites[i];
	return site->count != 0 && !site->is_sum && j->holding_of[site->place] != TDM_INDEX_NONE;
}

static int judge_sites(struct judge *j)
{
	for (size_t i = 0; i < j->leaks->site_count; i++) {
		j->why[i] = TDM_LEAK_CONSTANT;
		if (!is_judged_alone(j, i))
			continue;
		struct tdm_leaks_facts f = facts_of_site(j, i);
		int why = judge_facts(j, &f);
		if (why < 0)
			return why;
		j->why[i] = (uint8_t)why;
	}
	return 0;
}

/* Groups. */

/* Whether a site says too little by itself: a buffer or two, or growth by one or two. Sites that are empty by now
 * count, if their buffers had grown old: they show what was freed. New sites count, though they are not part of the
 * floor yet: they show that the growth goes on. But buffers that come and go would only hide that it has stopped. */
static bool is_small(const struct judge *j, size_t i)
{
	struct tdm_leaks_facts f = facts_of_site(j, i);
	double most = 0;
	for (size_t w = 0; w < f.windows; w++)
		most = f.floor[w] > most ? f.floor[w] : most;
	bool is_low = f.site->count < TDM_LEAKS_SUSPECT_GROWN && most < TDM_LEAKS_SUSPECT_GROWN;
	return (is_low && (most > 0 || f.site->freed == 0)) || (f.grown > 0 && f.grown < TDM_LEAKS_SUSPECT_GROWN);
}

/* 1 with *group set, 0 if the site is in no group of this level, or -ENOMEM. */
static int group_of(struct judge *j, size_t i, enum tdm_leaks_level level, uint32_t *group)
{
	const struct tdm_leaks_site *site = &j->leaks->sites[i];
	char pattern[TDM_NAME_MAX + 1];
	*group = 0;
	if (level == TDM_LEAKS_BY_KIND)
		return site->is_sum || is_small(j, i);
	if (level == TDM_LEAKS_BY_STACK) {
		*group = site->shown_stack;
		return site->shown_stack != 0;
	}
	if (site->is_sum || site->name == 0 || !tdm_leaks_pattern(tdm_picture_text(j->picture, site->name), pattern))
		return 0;
	*group = tdm_names_find(&j->patterns, tdm_str_of(pattern));
	if (*group != TDM_NAME_NONE)
		return 1;
	int err = tdm_names_add(&j->patterns, tdm_str_of(pattern), group);
	return err != 0 ? err : 1;
}

/* The sites that are not findings yet. */
static int gather_members(struct judge *j, enum tdm_leaks_level level)
{
	j->member_count = 0;
	for (size_t i = 0; i < j->leaks->site_count; i++) {
		const struct tdm_leaks_site *site = &j->leaks->sites[i];
		struct tdm_leaks_member member = { (uint64_t)site->place << 8 | site->kind, 0, (uint32_t)i };
		if (j->is_told[i] || j->holding_of[site->place] == TDM_INDEX_NONE ||
			tdm_leaks_verdict_of((enum tdm_leak_why)j->why[i]) != TDM_FINDING_OK ||
			j->leaks->processes[j->leaks->places[site->place].process].who.life == TDM_LIFE_ENDED)
			continue;
		int is_in = group_of(j, i, level, &member.group);
		if (is_in < 0)
			return is_in;
		if (is_in)
			j->members[j->member_count++] = member;
	}
	tdm_leaks_order(j->members, j->member_count);
	return 0;
}

static int judge_group(struct judge *j, const struct tdm_leaks_member *members, size_t count,
	enum tdm_leaks_level level, struct tdm_findings *out)
{
	const struct tdm_leaks_site *first = &j->leaks->sites[members->site];
	struct tdm_leaks_site group = tdm_leaks_group(first);
	char pattern[TDM_NAME_MAX + 1] = "";
	size_t births = 0;
	if (level == TDM_LEAKS_BY_PATTERN)
		tdm_leaks_pattern(tdm_picture_text(j->picture, first->name), pattern);
	group.is_sum = level == TDM_LEAKS_BY_KIND;
	group.shown_stack = level == TDM_LEAKS_BY_KIND ? 0 : first->shown_stack;
	for (size_t i = 0; i < count; i++) {
		tdm_leaks_join(&group, &j->leaks->sites[members[i].site]);
		group.names += !group.is_sum && j->leaks->sites[members[i].site].count != 0;
	}
	uint64_t *list = malloc((group.count + 1) * sizeof *list);
	if (list == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		for (size_t b = j->first[members[i].site]; b < j->first[members[i].site + 1]; b++)
			list[births++] = j->births[b];
	if (births > 1)
		qsort(list, births, sizeof *list, tdm_order_u64);
	struct tdm_leaks_facts f = facts_of(j, &group, list, births);
	/* Births that are spread over time say nothing about sites that have only their kind in common. */
	int why = judge_facts(j, &f);
	why = why == TDM_LEAK_SPREAD && group.is_sum ? TDM_LEAK_UNWATCHED : why;
	if (why >= 0 && tdm_leaks_verdict_of((enum tdm_leak_why)why) != TDM_FINDING_OK) {
		report_facts(j, &f, (enum tdm_leak_why)why, pattern, out);
		for (size_t i = 0; i < count; i++)
			j->is_told[members[i].site] = true;
	}
	free(list);
	return why < 0 ? why : 0;
}

/* A site that is alone in its group has been judged, unless it is the sum of those beyond the limit. */
static int judge_groups(struct judge *j, enum tdm_leaks_level level, struct tdm_findings *out)
{
	int err = gather_members(j, level);
	for (size_t at = 0, run; at < j->member_count && err == 0; at += run) {
		run = tdm_leaks_run(j->members + at, j->member_count - at);
		if (run > 1 || level == TDM_LEAKS_BY_KIND)
			err = judge_group(j, j->members + at, run, level, out);
	}
	return err;
}

static int judge_all(struct judge *j, struct tdm_findings *out)
{
	j->holding_of = invert(j->leaks->place_of, j->picture->holding_count, j->leaks->place_count);
	j->newest_ns = calloc(j->picture->process_count + 1, sizeof *j->newest_ns);
	j->why = calloc(j->leaks->site_count + 1, sizeof *j->why);
	j->is_told = calloc(j->leaks->site_count + 1, sizeof *j->is_told);
	j->members = malloc((j->leaks->site_count + 1) * sizeof *j->members);
	if (j->holding_of == NULL || j->newest_ns == NULL || j->why == NULL || j->is_told == NULL || j->members == NULL)
		return -ENOMEM;
	int err = gather_births(j->leaks, j->picture, &j->first, &j->births);
	for (size_t h = 0; h < j->picture->holding_count; h++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			for (size_t i = 0; i < j->picture->holdings[h].buffers[k].count; i++) {
				uint64_t *newest = &j->newest_ns[j->picture->holdings[h].process];
				*newest = tdm_max(*newest, j->picture->holdings[h].buffers[k].list[i].born_ns);
			}
	err = err == 0 ? judge_sites(j) : err;
	for (unsigned level = 0; level < TDM_LEAKS_LEVELS && err == 0; level++)
		err = judge_groups(j, (enum tdm_leaks_level)level, out);
	for (size_t i = 0; i < j->leaks->site_count && err == 0; i++)
		if (is_judged_alone(j, i) && !j->is_told[i]) {
			struct tdm_leaks_facts f = facts_of_site(j, i);
			report_facts(j, &f, (enum tdm_leak_why)j->why[i], "", out);
		}
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
	int err = tdm_names_init(&j.patterns);
	if (err == 0)
		err = judge_all(&j, findings);
	tdm_names_done(&j.patterns);
	free(j.why);
	free(j.is_told);
	free(j.members);
	free(j.first);
	free(j.births);
	free(j.holding_of);
	free(j.newest_ns);
	tdm_findings_sort(findings);
	return err == 0 && findings->failed ? -ENOMEM : err;
}
