/*
 * Turns sites into findings: measures and judges each site, then groups of related sites, and sorts the findings.
 *
 * The rules use five facts: whether the floor rises steadily (by the Mann-Kendall test), whether live buffers are still
 * being born, whether buffers are freed from the floor, whether the program frees anything at all, and the kind of
 * memory.
 */
#include "analyze/leaks/leak_sites.h"
#include "analyze/leaks/leaks.h"
#include "analyze/leaks/growth.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rules ---- */

/* The evidence needed for a leak, and for a suspicion. */
enum { SUSPECT_WINDOWS = 4, SUSPECT_GROWN = 3 };
enum { SURE_WINDOWS = 8, SURE_GROWN = 5, SHORT_WINDOWS = 6, SPREAD_MIN = 16, MORTAL_MIN = 12, LIVES_MIN = 8 };
enum { BURSTS_MIN = 5, BURSTS = 8, BURST_RISES = 2, BURST_SPAN = 8, BURST_PART = 64 };
#define SURE_S          1.9  /* seconds from the first window to the last: two seconds of watching are too short */
#define SUSPECT_Z       2.0  /* happens by chance once in 40 */
#define SHORT_Z         1.6  /* highest possible z for SUSPECT_WINDOWS windows */
#define SURE_RISES      0.3  /* minimum share of windows with a rising floor */
#define SURE_MORTAL     0.1  /* share of old buffers that were freed after all */
#define SUSPECT_MORTAL  0.25 /* the same, for a suspicion */
#define DEVIATIONS      2.5  /* a suspicion is weakened if the births' average time deviates this much */
#define SURE_DEVIATIONS 3.0  /* deviations that drop a suspicion */
#define STOPS           0.42 /* if the births' average time is below this share of the time, growth is ending */
#define LATE            0.65 /* above this, growth began lately */
#define QUIET           3.0  /* growth has stopped after this many times the longest pause between births */
#define UNEVEN          2.0  /* bursts are irregular if a pause is this many times the usual one */
#define GAPS            0.02 /* if buffers are replaced, at most this share of pictures shows no live buffer */
#define FALLS           0.25 /* share of the growth in size; a fall by this much begins a new cycle */
#define LATER_HALF      0.3  /* minimum share of the growth in size that falls in the second half */
#define SPREAD_WINDOWS  0.75 /* a program's life is cut into parts: at least this share must contain births */
#define AS_OLD          0.1  /* share of freed buffers that became as old as the oldest live buffer */
#define USUAL           0.9  /* share of freed buffers whose age counts as usual for the site */
#define OLDER           0.5  /* minimum share of live buffers older than that */
#define LOADING_SHARE   0.5  /* share of the kind's memory that this growth accounts for */
#define IN_STEP         0.1  /* share of the time between two kernels: a birth this near came with its program */
#define IN_STEP_SHARE   0.8  /* minimum share of births this near to a kernel */

static enum tdm_severity verdict_of(enum tdm_leak_why why)
{
#define X(id, verdict, name) [TDM_LEAK_##id] = TDM_FINDING_##verdict,
	static const uint8_t verdicts[TDM_LEAK_WHY_COUNT] = { TDM_LEAK_WHY_LIST(X) };
#undef X
	return (enum tdm_severity)verdicts[why];
}

const char *tdm_leak_why_name(enum tdm_leak_why why)
{
#define X(id, verdict, name) [TDM_LEAK_##id] = name,
	static const char *const names[TDM_LEAK_WHY_COUNT] = { TDM_LEAK_WHY_LIST(X) };
#undef X
	return why < TDM_LEAK_WHY_COUNT ? names[why] : "unknown";
}

/* The facts about one site or a group of sites. */
struct facts {
	const struct tdm_leaks *leaks;
	const struct tdm_picture *picture;
	const struct tdm_leaks_site *site;
	const struct tdm_leaks_process *process;
	uint32_t holding;          /* index of the holding in the picture */
	uint64_t begin_ns, end_ns; /* lifetime of the process, until now or until its last birth */
	const uint64_t *births;    /* known births of live buffers, in ascending order */
	size_t birth_count;
	double kind_bytes; /* all memory of the kind that the process holds on the device */
	struct tdm_rise floor, floor_bytes;
	/* sum and average size of all buffers, old or not; empty if the site frees nothing */
	struct tdm_rise sizes, means;
};

/* Computes the facts that follow from the site's floor and sizes. */
static void measure(struct facts *f)
{
	double width = (double)f->leaks->watch_ns / (double)TDM_NS_PER_S / TDM_LEAKS_WINDOWS;
	for (size_t i = 0; i < TDM_LEAKS_WINDOWS; i++) {
		const struct tdm_leaks_site *site = f->site;
		double at_s = ((double)i + 0.5) * width;
		if (site->floor[i].count != TDM_LEAKS_UNSEEN) {
			tdm_rise_add(&f->floor, at_s, (double)site->floor[i].count);
			tdm_rise_add(&f->floor_bytes, at_s, (double)site->floor[i].bytes);
		}
		if (site->sizes != NULL && site->sizes->bytes[i] != TDM_LEAKS_UNSEEN) {
			tdm_rise_add(&f->sizes, at_s, (double)site->sizes->bytes[i]);
			tdm_rise_add(&f->means, at_s, (double)site->sizes->mean[i]);
		}
	}
	struct tdm_rise *const all[] = { &f->floor, &f->floor_bytes, &f->sizes, &f->means };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		tdm_rise_settle(all[i]);
}

/* The average time of the births within a span, from 0 to 1, and its distance from the middle in standard deviations
 * (the Laplace test). For the deviation, simultaneous births count once, because a single burst does not prove a trend.
 * */
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

/*
 * Whether buffers have been allocated in bursts at regular intervals up to now. Only the last few bursts count,
 * including those before the watching began, so the watching need not cover many bursts. Births closer together than a
 * BURST_PART of the watching time belong to the same burst.
 */
static bool comes_in_bursts(const struct facts *f)
{
	uint64_t pauses[BURSTS], now = f->leaks->last_ns, watch = f->leaks->watch_ns;
	uint64_t since = now / BURST_SPAN > watch ? now - BURST_SPAN * watch : 0;
	size_t count = 0;
	for (size_t i = f->birth_count; i-- > 1 && count < BURSTS && f->births[i - 1] >= since;)
		if (f->births[i] - f->births[i - 1] > watch / BURST_PART)
			pauses[count++] = f->births[i] - f->births[i - 1];
	if (count + 1 < BURSTS_MIN)
		return false;
	uint64_t newest = f->births[f->birth_count - 1];
	uint64_t quiet = now > newest ? now - newest : 0;
	qsort(pauses, count, sizeof pauses[0], tdm_order_u64);
	return (double)tdm_max(quiet, pauses[count - 1]) <= UNEVEN * (double)pauses[count / 2];
}

/* Whether the last birth was long ago, compared with the pauses between births during the watching. */
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

/* Whether the live buffers at `end_ns` are hardly older than the site's freed buffers were when freed. This is normal
 * for requests and sessions, for example, because some are always live. */
static bool is_usual(const struct facts *f, uint64_t end_ns)
{
	const struct tdm_leaks_lives *lives = f->site->lives;
	uint64_t sorted[TDM_LEAKS_LIFETIMES];
	if (lives == NULL || lives->count < LIVES_MIN)
		return false;
	size_t count = lives->count < TDM_LEAKS_LIFETIMES ? lives->count : TDM_LEAKS_LIFETIMES, older = 0;
	memcpy(sorted, lives->most_ns, count * sizeof sorted[0]);
	qsort(sorted, count, sizeof sorted[0], tdm_order_u64);
	uint64_t usual = sorted[(size_t)(USUAL * (double)count)];
	while (older < f->birth_count && f->births[older] < end_ns && end_ns - f->births[older] > usual)
		older++;
	return (double)older < OLDER * (double)f->birth_count;
}

/* Whether the kind belongs to programs, which the runtime caches. */
static bool is_of_programs(uint8_t kind)
{
	return (tdm_kind_is_per_core((enum tdm_kind)kind) && kind != TDM_KIND_SCRATCHPAD) || kind == TDM_KIND_TRACE;
}

static unsigned bits(uint32_t x)
{
	return (unsigned)__builtin_popcount(x);
}

/* A program that loads its weights grows from its start and frees little. The signs: the name of its phase; freeing
 * nothing in most windows; or a young process with this growth as most of its memory. */
static bool may_be_loading(const struct facts *f)
{
	const struct tdm_leaks_process *p = f->process;
	static const char *const words[] = { "MODEL_CREATION", "load", "warm" };
	const char *phase = f->picture->processes[f->picture->holdings[f->holding].process].phase;
	bool says_loading = false; /* a word in the phase's name begins like one of these */
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		for (const char *at = phase; (at = strcasestr(at, words[i])) != NULL; at++)
			says_loading |= at == phase || !isalpha((unsigned char)at[-1]);
	/* A program that works in bursts frees memory only in the windows of its bursts. */
	bool is_idle = 2 * bits(p->free_windows) < bits(p->seen_windows) &&
		       (bits(p->free_windows) < BURST_RISES || !comes_in_bursts(f));
	if (says_loading || is_idle)
		return true;
	/* A site that frees more than an occasional buffer is not loading. */
	if (f->site->lives != NULL || (double)f->site->freed >= f->floor.grown / 2)
		return false;
	bool has_begun = p->who.started_ns != 0 && p->who.started_ns + 2 * f->leaks->watch_ns > f->leaks->begin_ns;
	return has_begun && f->floor_bytes.grown > LOADING_SHARE * f->kind_bytes;
}

/* Whether a series rises and was observed for long enough. */
static bool is_long(const struct tdm_rise *trend)
{
	return tdm_rise_is_sure(trend, SURE_WINDOWS) && trend->at_s[trend->count - 1] - trend->at_s[0] >= SURE_S;
}

/* The verdict from watching alone. */
static enum tdm_leak_why judge_watched(const struct facts *f)
{
	double aged = (double)f->site->aged, mortal = aged > 0 ? (double)f->site->aged_freed / aged : 0;
	double least = f->floor.count < SHORT_WINDOWS ? SHORT_Z : SUSPECT_Z;
	if (f->floor.count < SUSPECT_WINDOWS || f->floor.grown < SUSPECT_GROWN || f->floor.z < least ||
		mortal > SUSPECT_MORTAL || (f->site->aged_freed != 0 && f->site->aged < MORTAL_MIN))
		return f->site->freed != 0                             ? TDM_LEAK_TURNS_OVER
		       : f->floor.grown > 0 && f->floor.z >= SUSPECT_Z ? TDM_LEAK_LEVELLED
								       : TDM_LEAK_CONSTANT;
	bool in_bursts = comes_in_bursts(f);
	if (!in_bursts && has_stopped(f))
		return TDM_LEAK_LEVELLED;
	/* If several of the site's freed buffers became as old as the oldest live one, the live ones may still be freed
	 * in due course. An example is buffers that are collected over a cycle longer than the watching. */
	const struct tdm_leaks_lives *lives = f->site->lives;
	uint64_t oldest = f->site->oldest_ns, last = f->leaks->last_ns;
	if (lives != NULL && lives->count >= LIVES_MIN && oldest != 0 && oldest <= last) {
		size_t count = tdm_min(lives->count, TDM_LEAKS_LIFETIMES), as_old = 0;
		for (size_t i = 0; i < count; i++)
			as_old += lives->ns[i] >= last - oldest;
		if ((double)as_old >= AS_OLD * (double)count)
			return TDM_LEAK_YOUNG;
	}
	/* If the watching ended early, so does the span. */
	uint64_t begin = f->leaks->begin_ns, end = begin + f->leaks->watch_ns;
	end = f->leaks->last_ns < end ? f->leaks->last_ns : end;
	/* If the site frees buffers, the youngest are left out, because many of them will be freed. */
	end -= f->site->freed != 0 ? f->leaks->old_ns : 0;
	double off, at = middle(f, begin, end, &off);
	if (off < -SURE_DEVIATIONS && at < STOPS)
		return TDM_LEAK_LEVELLED;
	if (is_of_programs(f->site->kind)) /* also for many sites together, because each program has its own site */
		return TDM_LEAK_PROGRAMS;
	if (f->site->is_sum)
		return TDM_LEAK_MANY;
	if (may_be_loading(f))
		return TDM_LEAK_LOADING;
	if (off < -DEVIATIONS)
		return TDM_LEAK_SLOWS;
	if (off > DEVIATIONS && at > LATE)
		return TDM_LEAK_LATE;
	double rises = in_bursts ? BURST_RISES : SURE_RISES * (double)f->floor.count;
	bool is_sure = is_long(&f->floor) && f->floor.grown >= SURE_GROWN && mortal <= SURE_MORTAL &&
		       (double)f->floor.rises >= rises;
	return is_sure ? TDM_LEAK_GROWS : TDM_LEAK_UNSURE;
}

/*
 * Judges a site whose number of old buffers does not grow, by whether each buffer is freed only after a larger one has
 * replaced it. An iteration's buffers may also become larger, for example with the sequence length, but then there are
 * moments when no buffer is live. Growth that slows down, or that restarts from a smaller size, is typical of a cache.
 */
static enum tdm_leak_why judge_sizes(const struct facts *f, enum tdm_leak_why calm)
{
	const struct tdm_leaks_sizes *sizes = f->site->sizes;
	const double *mean = f->means.value;
	size_t n = f->means.count;
	if (n < SUSPECT_WINDOWS || f->site->freed < SUSPECT_GROWN || f->means.z < SUSPECT_Z ||
		is_of_programs(f->site->kind) || sizes->empty > GAPS * sizes->samples)
		return calm;
	double grown = f->means.grown;
	size_t first = 0; /* first window with buffers */
	while (first < TDM_LEAKS_WINDOWS - 1 && sizes->bytes[first] == TDM_LEAKS_UNSEEN)
		first++;
	if (mean[n - 1] <= (double)sizes->mean_most[first] || f->sizes.grown <= 0 ||
		mean[n - 1] - mean[n / 2] < LATER_HALF * grown || mean[n - 1] <= mean[n - 1 - n / 4])
		return calm;
	for (size_t i = 1; i < n; i++)
		if (mean[i] < mean[i - 1] - FALLS * grown)
			return calm;
	bool is_sure = is_long(&f->means) && f->site->freed >= SURE_GROWN &&
		       (double)f->means.rises >= SURE_RISES * (double)n && !may_be_loading(f);
	return is_sure ? TDM_LEAK_REPLACED : TDM_LEAK_OUTGROWN;
}

/*
 * Judges from a single picture whether live buffers were born throughout most of the program's life, as many late as
 * early, up to the end. In addition, the program must have freed other buffers, and none of the site's freed buffers
 * may have become as old. Short-lived buffers would all have been born recently, and buffers loaded once would have
 * been born early.
 */
static bool is_spread(const struct facts *f)
{
	uint64_t begin_ns = f->begin_ns, end_ns = f->end_ns;
	uint32_t seen = 0;
	double off;
	if (f->birth_count < SPREAD_MIN || begin_ns >= end_ns || f->process->frees == 0 || is_usual(f, end_ns))
		return false;
	for (size_t i = 0; i < f->birth_count; i++) {
		double at =
			(double)(f->births[i] > begin_ns ? f->births[i] - begin_ns : 0) / (double)(end_ns - begin_ns);
		seen |= UINT32_C(1) << (at < 1 ? (unsigned)(at * TDM_LEAKS_WINDOWS) : TDM_LEAKS_WINDOWS - 1);
	}
	if (bits(seen) < SPREAD_WINDOWS * TDM_LEAKS_WINDOWS || (seen >> (TDM_LEAKS_WINDOWS - 2)) == 0)
		return false;
	double at = middle(f, begin_ns, end_ns, &off);
	return off >= -DEVIATIONS && !(off > DEVIATIONS && at > LATE);
}

/* Whether the site's buffers were born together with kernels. `kernels`: births of live kernels during the watching, in
 * ascending order. */
static bool is_in_step(const struct facts *f, const uint64_t *kernels, size_t count)
{
	size_t births = 0, near = 0;
	if (count < SUSPECT_GROWN)
		return false;
	/* If programs have several kernels, this is less than the time between programs, which only makes the test
	 * stricter. */
	uint64_t between = (kernels[count - 1] - kernels[0]) / (count - 1);
	for (size_t i = 0; i < f->birth_count; i++)
		if (f->births[i] >= f->leaks->begin_ns) {
			size_t low = 0, high = count;
			while (low < high) {
				size_t mid = (low + high) / 2;
				if (kernels[mid] < f->births[i])
					low = mid + 1;
				else
					high = mid;
			}
			uint64_t above = low < count ? kernels[low] - f->births[i] : UINT64_MAX,
				 below = low > 0 ? f->births[i] - kernels[low - 1] : UINT64_MAX;
			births++;
			near += (double)tdm_min(above, below) <= IN_STEP * (double)between;
		}
	return births != 0 && (double)near >= IN_STEP_SHARE * (double)births;
}

static enum tdm_leak_why judge_ended(const struct facts *f)
{
	uint8_t kind = f->site->kind;
	if (kind == TDM_KIND_KERNEL || kind == TDM_KIND_FIRMWARE || kind == TDM_KIND_CONFIG)
		return TDM_LEAK_RUNTIME;
	/* It is unknown how a daemon's client ended, and allocation servers have always reported the client's remaining
	 * buffers as a leak. */
	if (f->process->who.is_on_behalf)
		return TDM_LEAK_LEFT;
	return f->process->who.closed ? TDM_LEAK_AT_EXIT : TDM_LEAK_KILLED;
}

/* The verdict from all facts. */
static enum tdm_leak_why judge_site(const struct facts *f)
{
	enum tdm_leak_why why = TDM_LEAK_UNWATCHED;
	bool ended = f->process->who.life == TDM_LIFE_ENDED;
	if (ended && (f->process->who.closed || f->process->who.is_on_behalf))
		return judge_ended(f);
	if (f->floor.count >= SUSPECT_WINDOWS)
		why = judge_watched(f);
	if (why == TDM_LEAK_TURNS_OVER)
		why = judge_sizes(f, why);
	if (verdict_of(why) != TDM_FINDING_OK)
		return why;
	/* A leak may be too slow for the watching time. However, a site does not leak if its old buffers are freed, or
	 * if it has stopped growing. */
	bool calm = why == TDM_LEAK_UNWATCHED || why == TDM_LEAK_CONSTANT ||
		    (why == TDM_LEAK_TURNS_OVER && f->site->aged_freed == 0);
	if (calm && !is_of_programs(f->site->kind) && is_spread(f))
		return TDM_LEAK_SPREAD;
	return ended ? judge_ended(f) : why;
}

/* ---- groups of related sites ---- */

enum { HEX_MIN = 4 }; /* minimum number of digits in a hexadecimal word without 0x */

bool tdm_leaks_pattern(const char *name, char pattern[TDM_NAME_MAX + 1])
{
	size_t len = 0;
	bool is_first = true, any = false;
	while (*name != '\0' && len < TDM_NAME_MAX) {
		size_t decimal = strspn(name, "0123456789"), hex = 0, digits = 0;
		size_t prefix = is_first && name[0] == '0' && (name[1] == 'x' || name[1] == 'X') &&
						isxdigit((unsigned char)name[2])
					? 2
					: 0;
		for (; isxdigit((unsigned char)name[prefix + hex]); hex++)
			digits += isdigit((unsigned char)name[prefix + hex]) != 0;
		bool is_word = is_first && hex >= HEX_MIN && digits != 0 && !isalnum((unsigned char)name[hex]);
		size_t number = prefix != 0 ? prefix + hex : is_word ? hex : decimal;
		any |= number != 0;
		is_first = number == 0 && !isalnum((unsigned char)*name);
		pattern[len++] = number != 0 ? '#' : *name;
		name += number != 0 ? number : 1;
	}
	pattern[len] = '\0';
	return any;
}

/* A site in a group, where all sites have the same place and kind. */
struct member {
	uint64_t place_kind;
	uint32_t group, site;
};

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	int order = tdm_order(a->place_kind, b->place_kind);
	order = order != 0 ? order : tdm_order(a->group, b->group);
	return order != 0 ? order : tdm_order(a->site, b->site);
}

/* ---- findings ---- */

static uint64_t median(const uint64_t *values, size_t count)
{
	uint64_t sorted[TDM_LEAKS_LIFETIMES];
	if (count == 0)
		return TDM_BYTES_UNKNOWN;
	memcpy(sorted, values, count * sizeof sorted[0]);
	qsort(sorted, count, sizeof sorted[0], tdm_order_u64);
	return sorted[count / 2];
}

static uint64_t if_known(bool is_known, uint64_t value)
{
	return is_known ? value : TDM_BYTES_UNKNOWN;
}

/* A figure that is itself a sentence. */
static void put_text(struct tdm_findings *out, const char *key, const char *label, const char *pattern,
	const struct tdm_named *values)
{
	struct tdm_buf text = { 0 };
	size_t count = 0;
	while (values[count].key != NULL)
		count++;
	tdm_sentence_put(&text, pattern, values, count);
	tdm_findings_place(out, key, tdm_buf_str(&text));
	if (label != NULL)
		tdm_findings_label(out, label);
	tdm_buf_done(&text);
}

/* Formats "35 buffers of 3.4 MiB" or, if sizes differ, "35 buffers, 119 MiB". */
static void put_buffers(struct tdm_findings *out, const char *key, uint64_t count, uint64_t bytes)
{
	bool is_even = count != 0 && bytes % count == 0;
	put_text(out, key, NULL, is_even ? "{count/buffer/buffers} of {bytes}" : "{count/buffer/buffers}, {bytes}",
		TDM_VALUES({ "count", tdm_value_count(count) },
			{ "bytes", tdm_value_bytes(is_even ? bytes / count : bytes) }));
}

/* Adds the bytes that the site holds, and when the memory will be full. */
static void put_forecast(struct tdm_findings *out, const struct tdm_leaks_site *site, double full_s)
{
	static const double year_s = 365.0 * 24 * 3600;
	char kind[16];
	snprintf(kind, sizeof kind, "%s", tdm_kind_name((enum tdm_kind)site->kind));
	for (char *c = kind; *c != '\0'; c++)
		*c = (char)toupper((unsigned char)*c);
	put_text(out, "_holds", "holds",
		"{bytes} in {count/buffer/buffers}|; {full} full in about {time}|; {is} is full already",
		TDM_VALUES({ "bytes", tdm_value_bytes(site->bytes) }, { "count", tdm_value_count(site->count) },
			{ "full", tdm_value_text(kind) },
			{ "time", tdm_value_real(full_s > 0 && full_s < year_s ? full_s : (double)NAN, TDM_UNIT_S) },
			{ "is", tdm_value_text(full_s <= 0 ? kind : NULL) }));
}

/* Adds the sentence's words that are not figures in JSON. */
static void put_words(struct tdm_findings *out, const struct facts *f, double rate, uint64_t lived, uint64_t most)
{
	const struct tdm_leaks_site *site = f->site;
	const struct tdm_picture_process *process = &f->picture->processes[f->picture->holdings[f->holding].process];
	bool is_binary = site->kind == TDM_KIND_DRAM || site->kind == TDM_KIND_L1, is_known = lived >= most / 2;
	char text[TDM_DURATION_CAP], at_most[TDM_DURATION_CAP + 8];
	tdm_format_duration(text, sizeof text, is_known ? lived : most);
	snprintf(at_most, sizeof at_most, is_known ? "%s" : "at most %s", text);
	put_buffers(out, "_held", site->count, site->bytes);
	tdm_findings_real(
		/* no rate yet if growth began lately */
		out, "_rate", TDM_UNIT_BYTES_PER_S, rate >= 1 ? rate : (double)NAN);
	tdm_findings_place(out, "_lived", tdm_str_of(lived != TDM_BYTES_UNKNOWN ? at_most : ""));
	tdm_findings_word(out, "_killed", process->life == TDM_LIFE_ENDED ? " until the program was killed" : NULL);
	tdm_findings_word(out, "_end", process->replaced ? "replaced by exec" : "killed or crashed");
	tdm_findings_word(out, "_cached",
		is_binary ? "each came with kernels: new programs are compiled and cached"
			  : "memory of programs grows as long as new ones are compiled and cached, or traces are "
			    "recorded");
}

/* Adds a finding about a site, without figures. */
static void add_finding(struct tdm_findings *out, const struct facts *f, enum tdm_leak_why why, double bytes_per_s)
{
	static const char *const verdicts[TDM_SEVERITIES] = { "steady", "steady", "suspect", "leak" };
	enum tdm_severity verdict = verdict_of(why);
	struct tdm_finding *finding = tdm_findings_add(out, TDM_FAMILY_LEAK, tdm_leak_why_name(why), verdict);
	const struct tdm_picture *picture = f->picture;
	finding->code = (uint8_t)why;
	finding->verdict = verdicts[verdict];
	finding->pattern = tdm_leak_patterns[why];
	tdm_about_holding(picture, f->holding, &finding->about);
	finding->about.kind = f->site->kind;
	finding->about.name = tdm_picture_text(picture, f->site->name);
	finding->about.stack = f->site->shown_stack;
	finding->weight = verdict != TDM_FINDING_OK && bytes_per_s > 0 ? bytes_per_s : 0;
	finding->bytes = f->site->bytes;
}

/* Adds a finding about one site or a group. `pattern`: the pattern of the group's names, or "". */
static void report(struct tdm_findings *out, const struct facts *f, enum tdm_leak_why why, const char *pattern)
{
	const struct tdm_leaks_site *site = f->site;
	const struct tdm_holding *holding = &f->picture->holdings[f->holding];
	const struct tdm_counter *amount = &holding->kinds[site->kind];
	const struct tdm_picture_device *device = &f->picture->devices[holding->device];
	const struct tdm_picture_kind *memory = &device->kinds[site->kind];
	bool is_steady = verdict_of(why) == TDM_FINDING_OK, has_windows = f->floor.count > 1;
	bool is_known = has_windows || why == TDM_LEAK_SPREAD;
	bool is_larger = why == TDM_LEAK_REPLACED || why == TDM_LEAK_OUTGROWN;
	bool has_age = site->oldest_ns != 0 && site->oldest_ns < f->leaks->last_ns;
	size_t lives = site->lives != NULL ? tdm_min(site->lives->count, TDM_LEAKS_LIFETIMES) : 0;
	uint64_t lived = median(lives != 0 ? site->lives->ns : NULL, lives),
		 most = median(lives != 0 ? site->lives->most_ns : NULL, lives);
	/* The growth: of the floor, of the buffer sizes, or over the program's life. */
	const struct tdm_rise *bytes = is_larger ? &f->sizes : &f->floor_bytes;
	uint64_t grown = 0, grown_bytes = 0, watched_ns = f->leaks->last_ns - f->leaks->begin_ns;
	double per_s = NAN, full_s = NAN;
	if (why == TDM_LEAK_SPREAD && f->begin_ns < f->end_ns) {
		grown = site->count;
		grown_bytes = site->bytes;
		watched_ns = f->end_ns - f->begin_ns;
		per_s = (double)grown_bytes / ((double)watched_ns / (double)TDM_NS_PER_S);
	} else if (bytes->count >= 2) {
		bool has_grown = is_larger || f->floor.grown > 0;
		grown = has_grown && !is_larger ? (uint64_t)f->floor.grown : 0;
		grown_bytes = has_grown && bytes->grown > 0 ? (uint64_t)bytes->grown : 0;
		per_s = tdm_rise_slope(bytes);
	}
	/* How long the free part of the region will last. */
	if (!is_steady && f->process->who.life != TDM_LIFE_ENDED && per_s > 0 &&
		memory->total_from == TDM_FROM_LEDGER && !device->is_virtual && memory->used != TDM_BYTES_UNKNOWN)
		full_s = memory->total > memory->used ? (double)(memory->total - memory->used) / per_s : 0;
	add_finding(out, f, why, per_s);
	tdm_findings_flag(out, "many_sites", site->is_sum || site->names != 0);
	tdm_findings_figure(out, "names", TDM_UNIT_COUNT, if_known(site->names != 0, site->names));
	/* A pattern is not in any string list, so the finding keeps a copy. */
	tdm_findings_place(out, "name_pattern", tdm_str_of(pattern));
	if (pattern[0] != '\0')
		out->list[out->count - 1].about.name = out->figures[out->figure_count - 1].value.text.ptr;
	tdm_findings_word(out, "source", "ledger");
	tdm_findings_figure(out, "buffers", TDM_UNIT_COUNT, site->count);
	tdm_findings_figure(out, "reserved_bytes", TDM_UNIT_BYTES, site->bytes);
	tdm_findings_figure(out, "grown_buffers", TDM_UNIT_COUNT, if_known(is_known, grown));
	tdm_findings_figure(out, "grown_bytes", TDM_UNIT_BYTES, if_known(is_known, grown_bytes));
	tdm_findings_figure(out, "watched_ns", TDM_UNIT_NS, if_known(is_known, watched_ns));
	tdm_findings_real(out, "bytes_per_second", TDM_UNIT_BYTES_PER_S, per_s);
	tdm_findings_real(out, "full_in_seconds", TDM_UNIT_S, full_s);
	if (is_known)
		put_buffers(out, "_grown", grown, grown_bytes);
	put_words(out, f, per_s, lived, most);
	if (!is_steady && why != TDM_LEAK_AT_EXIT && why != TDM_LEAK_LEFT)
		put_forecast(out, site, full_s);
	tdm_findings_figure(out, "freed", TDM_UNIT_COUNT, if_known(has_windows, site->freed));
	tdm_findings_figure(out, "freed_old", TDM_UNIT_COUNT, if_known(has_windows, site->aged_freed));
	tdm_findings_real(
		out, "trend_z", TDM_UNIT_NUMBER, f->floor.count > 2 ? (is_larger ? f->means.z : f->floor.z) : NAN);
	tdm_findings_figure(out, "oldest_ns", TDM_UNIT_NS, if_known(has_age, f->leaks->last_ns - site->oldest_ns));
	tdm_findings_figure(out, "freed_lived_ns", TDM_UNIT_NS, lived);
	tdm_findings_figure(out, "freed_lived_most_ns", TDM_UNIT_NS, most);
	tdm_findings_figure(out, "double_frees", TDM_UNIT_COUNT, amount->double_frees);
	tdm_findings_figure(out, "unknown_frees", TDM_UNIT_COUNT, amount->unknown_frees);
	if (!is_steady && amount->double_frees != 0)
		put_text(out, "_double", "hint:", "this process also has {n/double free/double frees} of this kind",
			TDM_VALUES({ "n", tdm_value_count(amount->double_frees) }));
	if (!is_steady && amount->unknown_frees != 0)
		put_text(out, "_unknown", "hint:", "this process also has {n/unknown free/unknown frees} of this kind",
			TDM_VALUES({ "n", tdm_value_count(amount->unknown_frees) }));
}

/* ---- all sites ---- */

struct judge {
	const struct tdm_leaks *leaks;
	const struct tdm_picture *picture;
	uint64_t *births; /* births of live buffers; those of site i are births[first[i]] up to births[first[i + 1]] */
	size_t *first;
	uint32_t *holding_of; /* holding of each place */
	uint64_t *newest_ns;  /* newest birth in each process */
	uint8_t *why;         /* the verdict on each site, an enum tdm_leak_why */
	bool *is_told;        /* for each site: whether a finding about its group exists already */
	struct tdm_names patterns;
};

static void gather_births(struct judge *j)
{
	const struct tdm_leaks *leaks = j->leaks;
	const struct tdm_picture *picture = j->picture;
	size_t *first = j->first = tdm_zalloc(leaks->site_count + 2, sizeof *first);
	for (size_t i = 0; i < leaks->site_count; i++)
		first[i + 1] = first[i] + (leaks->sites[i].count);
	uint64_t *births = j->births = tdm_alloc(first[leaks->site_count] * sizeof *births);
	size_t *used = tdm_zalloc(leaks->site_count, sizeof *used);
	for (uint32_t h = 0; h < picture->holding_count; h++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			for (size_t i = 0; i < picture->holdings[h].buffers[k].count; i++) {
				const struct tdm_buffer *buffer = &picture->holdings[h].buffers[k].list[i];
				uint64_t *newest = &j->newest_ns[picture->holdings[h].process];
				uint32_t at = tdm_leaks_find(leaks, h, buffer);
				*newest = tdm_max(*newest, buffer->born_ns);
				if (at != TDM_MAP_NONE && first[at] + used[at] < first[at + 1])
					births[first[at] + used[at]++] = buffer->born_ns;
			}
	for (size_t i = 0; i < leaks->site_count; i++)
		if (used[i] > 1)
			qsort(births + first[i], used[i], sizeof *births, tdm_order_u64);
	free(used);
}

/* `births` is sorted. */
static struct facts facts_of(
	const struct judge *j, const struct tdm_leaks_site *site, const uint64_t *births, size_t count)
{
	const struct tdm_holding *holding = &j->picture->holdings[j->holding_of[site->place]];
	const struct tdm_leaks_process *process = &j->leaks->processes[j->leaks->places[site->place].process];
	bool ended = process->who.life == TDM_LIFE_ENDED;
	struct facts f = { .leaks = j->leaks,
		.picture = j->picture,
		.site = site,
		.process = process,
		.holding = j->holding_of[site->place],
		.begin_ns = process->who.started_ns,
		.end_ns = ended ? j->newest_ns[holding->process] : j->leaks->last_ns,
		.births = births,
		.birth_count = count };
	while (f.birth_count != 0 && f.births[0] == 0) { /* skip unknown births */
		f.births++;
		f.birth_count--;
	}
	f.kind_bytes = (double)holding->kinds[site->kind].reserved;
	measure(&f);
	return f;
}

/* Whether a site grows together with the kernels of new programs, whose binaries the runtime keeps in DRAM. */
static bool comes_with_programs(const struct judge *j, const struct facts *f)
{
	uint64_t *kernels = NULL;
	size_t count = 0, cap = 0;
	for (size_t i = 0; i < j->leaks->site_count; i++) {
		const struct tdm_leaks_site *site = &j->leaks->sites[i];
		if (site->kind != TDM_KIND_KERNEL || site->place != f->site->place)
			continue;
		for (size_t b = j->first[i]; b < j->first[i + 1]; b++)
			if (j->births[b] >= j->leaks->begin_ns) {
				tdm_grow(&kernels, &cap, count + 1, sizeof *kernels);
				kernels[count++] = j->births[b];
			}
	}
	if (count > 1)
		qsort(kernels, count, sizeof *kernels, tdm_order_u64);
	bool is_so = is_in_step(f, kernels, count);
	free(kernels);
	return is_so;
}

static enum tdm_leak_why judge_facts(const struct judge *j, const struct facts *f)
{
	enum tdm_leak_why why = judge_site(f);
	bool may_come = why == TDM_LEAK_GROWS || why == TDM_LEAK_UNSURE;
	return may_come && comes_with_programs(j, f) ? TDM_LEAK_PROGRAMS : why;
}

static struct facts facts_of_site(const struct judge *j, size_t i)
{
	return facts_of(j, &j->leaks->sites[i], j->births + j->first[i], j->first[i + 1] - j->first[i]);
}

static bool is_judged_alone(const struct judge *j, size_t i)
{
	const struct tdm_leaks_site *site = &j->leaks->sites[i];
	return site->count != 0 && !site->is_sum && j->holding_of[site->place] != TDM_INDEX_NONE;
}

/* ---- groups ---- */

/* Sites are grouped by name pattern; the remaining ones by call stack; the rest by kind. */
enum level { BY_PATTERN, BY_STACK, BY_KIND, LEVELS };

/*
 * False if the site belongs to no group on this level. Sites with too little evidence of their own (a buffer or two, or
 * growth by one or two) join the group of their kind. Empty sites count if their buffers had become old, because they
 * show that such buffers are freed. New sites count although they are not part of the floor yet, because they show that
 * growth continues. Sites with only short-lived buffers do not count, because they would hide that growth has stopped.
 */
static bool group_of(struct judge *j, size_t i, enum level level, uint32_t *group)
{
	const struct tdm_leaks_site *site = &j->leaks->sites[i];
	char pattern[TDM_NAME_MAX + 1];
	*group = 0;
	if (level == BY_KIND) {
		struct facts f = facts_of_site(j, i);
		double most = 0;
		for (size_t w = 0; w < f.floor.count; w++)
			most = fmax(most, f.floor.value[w]);
		bool is_low = site->count < SUSPECT_GROWN && most < SUSPECT_GROWN;
		return site->is_sum || (is_low && (most > 0 || site->freed == 0)) ||
		       (f.floor.grown > 0 && f.floor.grown < SUSPECT_GROWN);
	}
	if (level == BY_STACK) {
		*group = site->shown_stack;
		return site->shown_stack != 0;
	}
	if (site->is_sum || site->name == 0 || !tdm_leaks_pattern(tdm_picture_text(j->picture, site->name), pattern))
		return false;
	*group = tdm_names_find(&j->patterns, tdm_str_of(pattern));
	if (*group == TDM_NAME_NONE)
		tdm_names_add(&j->patterns, tdm_str_of(pattern), group);
	return true;
}

static void judge_group(
	struct judge *j, const struct member *members, size_t count, enum level level, struct tdm_findings *out)
{
	const struct tdm_leaks_site *first = &j->leaks->sites[members->site];
	struct tdm_leaks_site group = { .place = first->place, .kind = first->kind };
	char pattern[TDM_NAME_MAX + 1] = "";
	size_t births = 0;
	if (level == BY_PATTERN)
		tdm_leaks_pattern(tdm_picture_text(j->picture, first->name), pattern);
	group.is_sum = level == BY_KIND;
	group.shown_stack = level == BY_KIND ? 0 : first->shown_stack;
	for (size_t w = 0; w < TDM_LEAKS_WINDOWS; w++)
		group.floor[w].count = group.floor[w].bytes = TDM_LEAKS_UNSEEN;
	for (size_t i = 0; i < count; i++) {
		const struct tdm_leaks_site *site = &j->leaks->sites[members[i].site];
		for (size_t w = 0; w < TDM_LEAKS_WINDOWS; w++)
			if (site->floor[w].count != TDM_LEAKS_UNSEEN) {
				bool is_first = group.floor[w].count == TDM_LEAKS_UNSEEN;
				group.floor[w].count = (is_first ? 0 : group.floor[w].count) + site->floor[w].count;
				group.floor[w].bytes = (is_first ? 0 : group.floor[w].bytes) + site->floor[w].bytes;
			}
		group.count += site->count;
		group.bytes += site->bytes;
		group.freed += site->freed;
		group.aged += site->aged;
		group.aged_freed += site->aged_freed;
		if (group.oldest_ns == 0 || (site->oldest_ns != 0 && site->oldest_ns < group.oldest_ns))
			group.oldest_ns = site->oldest_ns;
		group.newest_ns = tdm_max(group.newest_ns, site->newest_ns);
		group.names += !group.is_sum && site->count != 0;
	}
	uint64_t *list = tdm_alloc(group.count * sizeof *list);
	for (size_t i = 0; i < count; i++)
		for (size_t b = j->first[members[i].site]; b < j->first[members[i].site + 1]; b++)
			list[births++] = j->births[b];
	if (births > 1)
		qsort(list, births, sizeof *list, tdm_order_u64);
	struct facts f = facts_of(j, &group, list, births);
	/* For sites that have only their kind in common, evenly spread births prove nothing. */
	enum tdm_leak_why why = judge_facts(j, &f);
	why = why == TDM_LEAK_SPREAD && group.is_sum ? TDM_LEAK_UNWATCHED : why;
	if (verdict_of(why) != TDM_FINDING_OK) {
		report(out, &f, why, pattern);
		for (size_t i = 0; i < count; i++)
			j->is_told[members[i].site] = true;
	}
	free(list);
}

/* Judges, in groups, the sites without findings. A site alone in its group has already been judged, unless it is the
 * sum of the sites beyond the site limit. */
static void judge_groups(struct judge *j, enum level level, struct tdm_findings *out)
{
	struct member *members = tdm_alloc(j->leaks->site_count * sizeof *members);
	size_t count = 0;
	for (size_t i = 0; i < j->leaks->site_count; i++) {
		const struct tdm_leaks_site *site = &j->leaks->sites[i];
		struct member member = { (uint64_t)site->place << 8 | site->kind, 0, (uint32_t)i };
		if (!j->is_told[i] && j->holding_of[site->place] != TDM_INDEX_NONE &&
			verdict_of((enum tdm_leak_why)j->why[i]) == TDM_FINDING_OK &&
			j->leaks->processes[j->leaks->places[site->place].process].who.life != TDM_LIFE_ENDED &&
			group_of(j, i, level, &member.group))
			members[count++] = member;
	}
	if (count > 1)
		qsort(members, count, sizeof *members, compare_members);
	for (size_t at = 0, end; at < count; at = end) {
		for (end = at + 1; end < count && members[end].place_kind == members[at].place_kind &&
				   members[end].group == members[at].group;)
			end++;
		if (end - at > 1 || level == BY_KIND)
			judge_group(j, members + at, end - at, level, out);
	}
	free(members);
}

void tdm_leaks_judge(struct tdm_leaks *leaks, const struct tdm_picture *picture, struct tdm_findings *findings,
	struct tdm_leaks_result *result)
{
	*result = (struct tdm_leaks_result){
		.watched_ns = leaks->last_ns - leaks->begin_ns,
		.samples = leaks->samples,
		.sites_left_out = leaks->left_out,
	};
	if (leaks->samples == 0)
		return;
	size_t sites = leaks->site_count;
	struct judge j = { .leaks = leaks,
		.picture = picture,
		.holding_of = tdm_alloc(leaks->place_count * sizeof *j.holding_of),
		.newest_ns = tdm_zalloc(picture->process_count, sizeof *j.newest_ns),
		.why = tdm_zalloc(sites, sizeof *j.why),
		.is_told = tdm_zalloc(sites, sizeof *j.is_told) };
	memset(j.holding_of, 0xff, leaks->place_count * sizeof *j.holding_of); /* sets all entries to TDM_INDEX_NONE */
	for (size_t i = 0; i < picture->holding_count; i++)
		j.holding_of[leaks->place_of[i]] = (uint32_t)i;
	gather_births(&j);
	for (size_t i = 0; i < sites; i++) {
		j.why[i] = TDM_LEAK_CONSTANT;
		if (!is_judged_alone(&j, i))
			continue;
		struct facts f = facts_of_site(&j, i);
		j.why[i] = (uint8_t)judge_facts(&j, &f);
	}
	for (unsigned level = 0; level < LEVELS; level++)
		judge_groups(&j, (enum level)level, findings);
	for (size_t i = 0; i < sites; i++)
		if (is_judged_alone(&j, i) && !j.is_told[i]) {
			struct facts f = facts_of_site(&j, i);
			report(findings, &f, (enum tdm_leak_why)j.why[i], "");
		}
	tdm_names_done(&j.patterns);
	free(j.why);
	free(j.is_told);
	free(j.first);
	free(j.births);
	free(j.holding_of);
	free(j.newest_ns);
	tdm_findings_sort(findings);
}
