/*
 * The verdicts. First every site is measured, then rules are asked in the order of judge_site(). Rules look at five
 * things: the floor (is its rise a trend, by Mann-Kendall), the births of what lives (spread over the time, or over),
 * what was freed out of the floor, whether the program frees anything at all, and what kind of memory it is.
 */
#include "analyze/leaks.h"
#include "analyze/leaks_parts.h"
#include "analyze/trend.h"
#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What a leak must show, and what is enough for a suspicion. */
enum {
	SURE_WINDOWS = 8,
	SURE_GROWN = 5,
	SUSPECT_WINDOWS = 4,
	SUSPECT_GROWN = 3,
	SHORT_WINDOWS = 6,
	SPREAD_MIN = 16,
	MORTAL_MIN = 12
};
#define SURE_Z          3.0  /* one chance in 700 without a trend */
#define SUSPECT_Z       2.0  /* one in 40 */
#define SHORT_Z         1.6  /* the most that SUSPECT_WINDOWS windows can show */
#define SURE_RISES      0.3  /* share of the windows in which the floor rises */
#define SURE_MORTAL     0.1  /* share of what grew old that was freed after all */
#define SUSPECT_MORTAL  0.25 /* the same */
#define DEVIATIONS      2.5  /* that the middle of the births must be off for a suspicion less, */
#define SURE_DEVIATIONS 3.0  /* and for none at all */
#define STOPS           0.42 /* the middle of the births, as a share of the time: before this, growth is ending, */
#define SLOWER          0.46 /* before this it slows down, */
#define LATE            0.65 /* behind this it began lately */
#define QUIET           3.0  /* times the longest pause between births: it has stopped */
#define SPREAD_WINDOWS  0.75 /* of a program's life that must have births in them */
#define LOADING_SHARE   0.5  /* of the memory of the kind that is this growth */

static const struct {
	uint8_t verdict;
	const char *name, *summary;
} whys[TDM_LEAK_WHY_COUNT] = {
#define X(id, verdict, name, summary) [TDM_LEAK_##id] = { TDM_LEAK_##verdict, name, summary },
	TDM_LEAK_WHY_LIST(X)
#undef X
};

const char *tdm_leak_verdict_name(enum tdm_leak_verdict verdict)
{
	static const char *const names[TDM_LEAK_VERDICTS] = { "steady", "suspect", "leak" };
	return verdict < TDM_LEAK_VERDICTS ? names[verdict] : "unknown";
}

const char *tdm_leak_why_name(enum tdm_leak_why why)
{
	return why < TDM_LEAK_WHY_COUNT ? whys[why].name : "unknown";
}

const char *tdm_leak_why_summary(enum tdm_leak_why why)
{
	return why < TDM_LEAK_WHY_COUNT ? whys[why].summary : "unknown";
}

/* What there is to know of one site. */
struct facts {
	const struct tdm_leaks *leaks;
	const struct tdm_snapshot *snapshot;
	const struct tdm_leaks_site *site;
	const struct tdm_leaks_process *process;
	const uint64_t *births; /* of what lives and was born at a known time, in order */
	size_t birth_count;
	double kind_bytes; /* that the process holds of the kind on the device */
	double floor[TDM_LEAKS_WINDOWS], bytes[TDM_LEAKS_WINDOWS], at_s[TDM_LEAKS_WINDOWS];
	size_t windows, rises;
	double z, grown;
};

static void measure_floor(struct facts *f)
{
	double width = (double)f->leaks->watch_ns / (double)TDM_NS_PER_S / TDM_LEAKS_WINDOWS;
	for (size_t i = 0; i < TDM_LEAKS_WINDOWS; i++) {
		if (f->site->floor[i].count == TDM_LEAKS_UNSEEN)
			continue;
		f->floor[f->windows] = (double)f->site->floor[i].count;
		f->bytes[f->windows] = (double)f->site->floor[i].bytes;
		f->at_s[f->windows] = ((double)i + 0.5) * width;
		if (f->windows != 0)
			f->rises += f->floor[f->windows] > f->floor[f->windows - 1];
		f->windows++;
	}
	f->z = tdm_trend_z(f->floor, f->windows);
	f->grown = f->windows != 0 ? f->floor[f->windows - 1] - f->floor[0] : 0;
}

/*
 * Where in a span of time the births lie on average, from 0 to 1, and by how many standard deviations that is off the
 * middle (the Laplace test). Births of one moment count once for the deviation: a burst is no proof of its date.
 */
static double middle(const struct facts *f, uint64_t begin_ns, uint64_t end_ns, double *deviations)
{
	enum { MOMENTS = 256 };
	double sum = 0, count = 0, moments = 0;
	bool seen[MOMENTS] = { false };
	for (size_t i = 0; i < f->birth_count; i++)
		if (f->births[i] >= begin_ns && f->births[i] < end_ns) {
			double at = (double)(f->births[i] - begin_ns) / (double)(end_ns - begin_ns);
			bool *moment = &seen[at < 1 ? (size_t)(at * MOMENTS) : MOMENTS - 1];
			moments += !*moment;
			*moment = true;
			sum += at;
			count++;
		}
	*deviations = 0;
	if (!(count > 0))
		return 0.5;
	*deviations = (sum / count - 0.5) * sqrt(12 * moments);
	return sum / count;
}

/* Whether the last birth was long ago, measured by the pauses between births while it was watched. */
static bool has_stopped(const struct facts *f)
{
	size_t first = 0;
	uint64_t pause = 0;
	while (first < f->birth_count && f->births[first] < f->leaks->begin_ns)
		first++;
	if (first == f->birth_count)
		return true;
	for (size_t i = first + 1; i < f->birth_count; i++)
		if (f->births[i] - f->births[i - 1] > pause)
			pause = f->births[i] - f->births[i - 1];
	uint64_t newest = f->births[f->birth_count - 1];
	uint64_t quiet = f->leaks->last_ns > newest ? f->leaks->last_ns - newest : 0;
	return (double)quiet > QUIET * (double)pause && quiet > f->leaks->watch_ns / TDM_LEAKS_WINDOWS / 4;
}

/* Memory that programs bring with them; the runtime keeps programs. */
static bool is_of_programs(uint8_t kind)
{
	return (tdm_kind_is_per_core((enum tdm_kind)kind) && kind != TDM_KIND_SCRATCHPAD) || kind == TDM_KIND_TRACE;
}

static bool is_left_to_card(uint8_t kind)
{
	return kind == TDM_KIND_KERNEL || kind == TDM_KIND_FIRMWARE || kind == TDM_KIND_CONFIG;
}

static bool says_loading(const char *phase)
{
	static const char *const words[] = { "MODEL_CREATION", "load", "warm" };
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcasestr(phase, words[i]) != NULL)
			return true;
	return false;
}

static unsigned bits(uint32_t x)
{
	return (unsigned)__builtin_popcount(x);
}

/*
 * A program that loads its weights grows from its start and frees little. So: it says so in its phase; or it frees
 * nothing in most windows; or it is young, and this growth is most of what it has.
 */
static bool may_be_loading(const struct facts *f, uint32_t shown_process)
{
	const struct tdm_leaks_process *p = f->process;
	const struct tdm_snapshot_process *shown = &f->snapshot->processes[shown_process];
	if (says_loading(tdm_snapshot_text(f->snapshot, shown->phase)) ||
		2 * bits(p->free_windows) < bits(p->seen_windows))
		return true;
	/* A site that frees buffers, and not just one now and then, loads nothing. */
	if (f->site->lives != NULL || (double)f->site->freed >= f->grown / 2)
		return false;
	bool is_young = p->who.started_ns != 0 && p->who.started_ns + 2 * f->leaks->watch_ns > f->leaks->begin_ns;
	return is_young && f->bytes[f->windows - 1] - f->bytes[0] > LOADING_SHARE * f->kind_bytes;
}

static enum tdm_leak_why without_growth(const struct facts *f)
{
	if (f->site->freed != 0)
		return TDM_LEAK_TURNS_OVER;
	return f->grown > 0 && f->z >= SUSPECT_Z ? TDM_LEAK_LEVELLED : TDM_LEAK_CONSTANT;
}

static enum tdm_leak_why judge_watched(const struct facts *f, uint32_t shown_process)
{
	double aged = (double)f->site->aged, mortal = aged > 0 ? (double)f->site->aged_freed / aged : 0;
	double least = f->windows < SHORT_WINDOWS ? SHORT_Z : SUSPECT_Z;
	if (f->windows < SUSPECT_WINDOWS || f->grown < SUSPECT_GROWN || f->z < least || mortal > SUSPECT_MORTAL ||
		(f->site->aged_freed != 0 && f->site->aged < MORTAL_MIN))
		return without_growth(f);
	if (has_stopped(f))
		return TDM_LEAK_LEVELLED;
	/* Where buffers are freed the youngest are left out: many of them will be. */
	uint64_t begin = f->leaks->begin_ns, end = begin + f->leaks->watch_ns;
	end -= f->site->freed != 0 ? f->leaks->old_ns : 0;
	double off, at = middle(f, begin, end, &off);
	if (off < -SURE_DEVIATIONS && at < STOPS)
		return TDM_LEAK_LEVELLED;
	if (f->site->is_sum)
		return TDM_LEAK_MANY;
	if (is_of_programs(f->site->kind))
		return TDM_LEAK_PROGRAMS;
	if (may_be_loading(f, shown_process))
		return TDM_LEAK_LOADING;
	if (off < -DEVIATIONS && at < SLOWER)
		return TDM_LEAK_SLOWS;
	if (off > DEVIATIONS && at > LATE)
		return TDM_LEAK_LATE;
	if (f->windows < SURE_WINDOWS || f->grown < SURE_GROWN || f->z < SURE_Z || mortal > SURE_MORTAL ||
		(double)f->rises < SURE_RISES * (double)f->windows)
		return TDM_LEAK_UNSURE;
	return TDM_LEAK_GROWS;
}

/*
 * What one picture tells: births of what lives in most parts of the program's life, as many late as early, up to the
 * end; while the program frees other things. What comes and goes has been born lately, what is loaded once early.
 */
static bool is_spread(const struct facts *f, uint64_t begin_ns, uint64_t end_ns)
{
	uint32_t seen = 0;
	double off;
	if (f->birth_count < SPREAD_MIN || begin_ns >= end_ns || f->process->frees == 0)
		return false;
	for (size_t i = 0; i < f->birth_count; i++) {
		double at =
			(double)(f->births[i] > begin_ns ? f->births[i] - begin_ns : 0) / (double)(end_ns - begin_ns);
		seen |= UINT32_C(1) << (at < 1 ? (unsigned)(at * TDM_LEAKS_WINDOWS) : TDM_LEAKS_WINDOWS - 1);
	}
	if (bits(seen) < SPREAD_WINDOWS * TDM_LEAKS_WINDOWS || (seen >> (TDM_LEAKS_WINDOWS - 2)) == 0)
		return false;
	double at = middle(f, begin_ns, end_ns, &off);
	return !(off < -DEVIATIONS && at < SLOWER) && !(off > DEVIATIONS && at > LATE);
}

static enum tdm_leak_why judge_once(const struct facts *f, uint64_t first_ns, uint64_t last_ns)
{
	if (is_of_programs(f->site->kind))
		return TDM_LEAK_UNWATCHED;
	return is_spread(f, first_ns, last_ns) ? TDM_LEAK_SPREAD : TDM_LEAK_UNWATCHED;
}

static enum tdm_leak_why judge_ended(const struct facts *f)
{
	if (is_left_to_card(f->site->kind))
		return TDM_LEAK_RUNTIME;
	return f->process->who.closed ? TDM_LEAK_AT_EXIT : TDM_LEAK_KILLED;
}

static enum tdm_leak_why judge_site(const struct facts *f, uint32_t process, uint64_t first_ns, uint64_t last_ns)
{
	enum tdm_leak_why why = TDM_LEAK_UNWATCHED;
	bool ended = f->process->who.life == TDM_LIFE_ENDED;
	if (ended && f->process->who.closed)
		return judge_ended(f);
	if (f->windows >= SUSPECT_WINDOWS)
		why = judge_watched(f, process);
	if (whys[why].verdict != TDM_LEAK_STEADY)
		return why;
	/* A leak may be too slow for the time that it was watched; but what is freed late, or has stopped, is none. */
	bool calm = why == TDM_LEAK_UNWATCHED || why == TDM_LEAK_CONSTANT ||
		    (why == TDM_LEAK_TURNS_OVER && f->site->aged_freed == 0);
	if (calm && judge_once(f, first_ns, last_ns) == TDM_LEAK_SPREAD)
		return TDM_LEAK_SPREAD;
	return ended ? judge_ended(f) : why;
}

/* The report of a site. */

static int compare_u64(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return a < b ? -1 : a > b;
}

static void set_siblings(struct tdm_leak *leak, const struct tdm_leaks_lives *lives)
{
	uint64_t sorted[TDM_LEAKS_LIFETIMES];
	if (lives == NULL || lives->count == 0)
		return;
	leak->siblings = lives->count < TDM_LEAKS_LIFETIMES ? lives->count : TDM_LEAKS_LIFETIMES;
	memcpy(sorted, lives->ns, leak->siblings * sizeof sorted[0]);
	qsort(sorted, leak->siblings, sizeof sorted[0], compare_u64);
	leak->sibling_ns = sorted[leak->siblings / 2];
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
	const struct facts *f, enum tdm_leak_why why, uint32_t process, uint32_t holding, uint64_t span_ns)
{
	const struct tdm_leaks_site *site = f->site;
	const struct tdm_figures *figures = &f->snapshot->holdings[holding].kinds[site->kind];
	struct tdm_leak leak = {
		.verdict = whys[why].verdict,
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
			qsort(births + first[i], used[i], sizeof *births, compare_u64);
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

static struct facts facts_of(const struct judge *j, size_t i)
{
	const struct tdm_leaks_site *site = &j->leaks->sites[i];
	const struct tdm_holding *holding = &j->snapshot->holdings[j->holding_of[site->place]];
	struct facts f = { .leaks = j->leaks, .snapshot = j->snapshot, .site = site };
	f.process = &j->leaks->processes[j->leaks->places[site->place].process];
	f.births = j->births + j->first[i];
	f.birth_count = j->first[i + 1] - j->first[i];
	while (f.birth_count != 0 && f.births[0] == 0) { /* unknown ones */
		f.births++;
		f.birth_count--;
	}
	f.kind_bytes = (double)holding->kinds[site->kind].reserved_bytes;
	measure_floor(&f);
	return f;
}

/* Sites that are too small to be judged alone are added up, kind by kind. */
static int add_part(struct judge *j, size_t i, const struct facts *f)
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

static int judge_one(struct judge *j, size_t i, struct tdm_leaks_result *result)
{
	const struct tdm_leaks_site *site = &j->leaks->sites[i];
	uint32_t holding = j->holding_of[site->place];
	if (site->count == 0 || holding == TDM_INDEX_NONE)
		return 0;
	struct facts f = facts_of(j, i);
	uint32_t process = j->snapshot->holdings[holding].process;
	bool ended = f.process->who.life == TDM_LIFE_ENDED;
	uint64_t begin = f.process->who.started_ns;
	uint64_t end = ended ? j->newest_ns[process] : j->leaks->last_ns;
	/* New ones are in it, too, though they are no part of the floor yet: they show that it goes on. */
	bool is_new = site->newest_ns >= j->leaks->begin_ns && site->freed == 0 && site->count < SUSPECT_GROWN;
	if (!ended && (site->is_sum || ((f.grown > 0 || is_new) && f.grown < SUSPECT_GROWN))) {
		int err = add_part(j, i, &f);
		if (err != 0 || site->is_sum)
			return err;
	}
	enum tdm_leak_why why = judge_site(&f, process, begin, end);
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
	struct facts f = { .leaks = j->leaks, .snapshot = j->snapshot, .site = &sum->site, .births = births };
	f.process = &j->leaks->processes[j->leaks->places[sum->site.place].process];
	for (size_t i = 0; i < j->leaks->site_count; i++)
		for (size_t b = j->first[i]; j->part_of[i] == s && b < j->first[i + 1]; b++)
			births[f.birth_count++] = j->births[b];
	if (f.birth_count > 1)
		qsort(births, f.birth_count, sizeof *births, compare_u64);
	measure_floor(&f);
	enum tdm_leak_why why = f.windows >= SUSPECT_WINDOWS ? judge_watched(&f, process) : TDM_LEAK_UNWATCHED;
	if (whys[why].verdict != TDM_LEAK_STEADY)
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
