/*
 * The verdict about one site. The rules look at five things: the floor (whether its rise is a trend, by Mann-Kendall),
 * the births of live buffers (still going on, or over), frees out of the floor, whether the program frees anything at
 * all, and the kind of memory.
 */
#include "analyze/leaks_rules.h"
#include "analyze/trend.h"
#include "base/clock.h"
#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The evidence that a leak needs, and that a suspicion needs. */
enum { SURE_WINDOWS = 8, SURE_GROWN = 5, SHORT_WINDOWS = 6, SPREAD_MIN = 16, MORTAL_MIN = 12, LIVES_MIN = 8 };
enum { BURSTS_MIN = 5, BURSTS = 8, BURST_RISES = 2, BURST_SPAN = 8, BURST_PART = 64 };
#define SURE_S          1.9  /* seconds from the first window to the last: watching for two is not enough */
#define SURE_Z          3.0  /* one chance in 700 without a trend */
#define SUSPECT_Z       2.0  /* one in 40 */
#define SHORT_Z         1.6  /* the most that TDM_LEAKS_SUSPECT_WINDOWS windows can show */
#define SURE_RISES      0.3  /* share of the windows in which the floor rises */
#define SURE_MORTAL     0.1  /* share of old buffers that were freed after all */
#define SUSPECT_MORTAL  0.25 /* the same */
#define DEVIATIONS      2.5  /* by which the middle of the births must be off to weaken a suspicion, */
#define SURE_DEVIATIONS 3.0  /* and to drop it */
#define STOPS           0.42 /* the middle of the births, as a share of the time: before this, growth is ending, */
#define SLOWER          0.46 /* before this it slows down, */
#define LATE            0.65 /* after this it began lately */
#define QUIET           3.0  /* times the longest pause between births without a birth: it has stopped */
#define UNEVEN          2.0  /* times the usual pause between bursts: longer, and they do not come regularly */
#define GAPS            0.02 /* share of the pictures in which nothing may be live, if a buffer is replaced */
#define FALLS           0.25 /* of the growth in size, at once: a new cycle begins */
#define LATER_HALF      0.3  /* share of the growth in size that must be in the second half of the time */
#define SPREAD_WINDOWS  0.75 /* share of the parts of a program's life that must have births */
#define AS_OLD          0.1  /* share of the freed buffers that became as old as the oldest live one */
#define USUAL           0.9  /* share of the freed buffers whose age counts as usual for the site */
#define OLDER           0.5  /* share of the live buffers that must be older than that */
#define LOADING_SHARE   0.5  /* share of the memory of the kind that this growth is */
#define IN_STEP         0.1  /* of the time between two kernels: a birth this near to one came with its program */
#define IN_STEP_SHARE   0.8  /* share of the births that must be this near */

static const struct {
	uint8_t verdict;
	const char *name;
} whys[TDM_LEAK_WHY_COUNT] = {
#define X(id, verdict, name) [TDM_LEAK_##id] = { TDM_FINDING_##verdict, name },
	TDM_LEAK_WHY_LIST(X)
#undef X
};

enum tdm_severity tdm_leaks_verdict_of(enum tdm_leak_why why)
{
	return (enum tdm_severity)whys[why].verdict;
}

const char *tdm_leak_why_name(enum tdm_leak_why why)
{
	return why < TDM_LEAK_WHY_COUNT ? whys[why].name : "unknown";
}

static void measure_sizes(struct tdm_leaks_facts *f, double width)
{
	for (size_t i = 0; f->site->sizes != NULL && i < TDM_LEAKS_WINDOWS; i++) {
		size_t n = f->sizes.windows;
		if (f->site->sizes->window[i].bytes == TDM_LEAKS_UNSEEN)
			continue;
		f->sizes.bytes[n] = (double)f->site->sizes->window[i].bytes;
		f->sizes.mean[n] = (double)f->site->sizes->window[i].mean;
		f->sizes.at_s[n] = ((double)i + 0.5) * width;
		f->sizes.windows++;
	}
	f->sizes.z = tdm_trend_z(f->sizes.mean, f->sizes.windows);
}

void tdm_leaks_measure(struct tdm_leaks_facts *f)
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
	measure_sizes(f, width);
}

/* The average time of the births within a span, from 0 to 1, and by how many standard deviations it is off the middle
 * (the Laplace test). Births at one moment count once for the deviation: a single burst proves no trend. */
static double middle(const struct tdm_leaks_facts *f, uint64_t begin_ns, uint64_t end_ns, double *deviations)
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

/* Whether buffers come in bursts at even distances, up to now. The last few bursts count, also those from before the
 * watching: then it need not last for many of them. Births closer than a BURST_PART of the watching time are one burst.
 */
static bool comes_in_bursts(const struct tdm_leaks_facts *f)
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
static bool has_stopped(const struct tdm_leaks_facts *f)
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

/* Whether several freed buffers of the site became as old as the oldest live one. Then the live ones may still be freed
 * when their time comes, as with buffers that are collected over a cycle longer than the watching. */
static bool is_young(const struct tdm_leaks_facts *f)
{
	const struct tdm_leaks_lives *lives = f->site->lives;
	if (lives == NULL || lives->count < LIVES_MIN || f->site->oldest_ns == 0 ||
		f->site->oldest_ns > f->leaks->last_ns)
		return false;
	size_t count = lives->count < TDM_LEAKS_LIFETIMES ? lives->count : TDM_LEAKS_LIFETIMES, as_old = 0;
	for (size_t i = 0; i < count; i++)
		as_old += lives->ns[i] >= f->leaks->last_ns - f->site->oldest_ns;
	return (double)as_old >= AS_OLD * (double)count;
}

/* Whether the live buffers at `end_ns` are hardly older than the freed ones of the site became. This is normal for
 * requests and sessions, for example: some are always alive. */
static bool is_usual(const struct tdm_leaks_facts *f, uint64_t end_ns)
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

/* Memory that comes with programs, which the runtime caches. */
static bool is_of_programs(uint8_t kind)
{
	return (tdm_kind_is_per_core((enum tdm_kind)kind) && kind != TDM_KIND_SCRATCHPAD) || kind == TDM_KIND_TRACE;
}

static bool is_left_to_card(uint8_t kind)
{
	return kind == TDM_KIND_KERNEL || kind == TDM_KIND_FIRMWARE || kind == TDM_KIND_CONFIG;
}

/* Whether a word of the phase's name begins like one of these. */
static bool says_loading(const char *phase)
{
	static const char *const words[] = { "MODEL_CREATION", "load", "warm" };
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		for (const char *at = phase; (at = strcasestr(at, words[i])) != NULL; at++)
			if (at == phase || !isalpha((unsigned char)at[-1]))
				return true;
	return false;
}

static unsigned bits(uint32_t x)
{
	return (unsigned)__builtin_popcount(x);
}

/* A program that loads its weights grows from its start and frees little. Signs: its phase says so; or it frees nothing
 * in most windows; or it is young, and this growth is most of what it holds. */
static bool may_be_loading(const struct tdm_leaks_facts *f, uint32_t shown_process)
{
	const struct tdm_leaks_process *p = f->process;
	const struct tdm_picture_process *shown = &f->picture->processes[shown_process];
	/* A program that works in bursts frees something in those windows only. */
	bool is_idle = 2 * bits(p->free_windows) < bits(p->seen_windows) &&
		       (bits(p->free_windows) < BURST_RISES || !comes_in_bursts(f));
	if (says_loading(shown->phase) || is_idle)
		return true;
	/* A site that frees more than a buffer now and then is not loading. */
	if (f->site->lives != NULL || (double)f->site->freed >= f->grown / 2)
		return false;
	bool has_begun = p->who.started_ns != 0 && p->who.started_ns + 2 * f->leaks->watch_ns > f->leaks->begin_ns;
	return has_begun && f->bytes[f->windows - 1] - f->bytes[0] > LOADING_SHARE * f->kind_bytes;
}

static enum tdm_leak_why without_growth(const struct tdm_leaks_facts *f)
{
	if (f->site->freed != 0)
		return TDM_LEAK_TURNS_OVER;
	return f->grown > 0 && f->z >= SUSPECT_Z ? TDM_LEAK_LEVELLED : TDM_LEAK_CONSTANT;
}

enum tdm_leak_why tdm_leaks_judge_watched(const struct tdm_leaks_facts *f, uint32_t shown_process)
{
	double aged = (double)f->site->aged, mortal = aged > 0 ? (double)f->site->aged_freed / aged : 0;
	double least = f->windows < SHORT_WINDOWS ? SHORT_Z : SUSPECT_Z;
	if (f->windows < TDM_LEAKS_SUSPECT_WINDOWS || f->grown < TDM_LEAKS_SUSPECT_GROWN || f->z < least ||
		mortal > SUSPECT_MORTAL || (f->site->aged_freed != 0 && f->site->aged < MORTAL_MIN))
		return without_growth(f);
	bool in_bursts = comes_in_bursts(f);
	if (!in_bursts && has_stopped(f))
		return TDM_LEAK_LEVELLED;
	if (is_young(f))
		return TDM_LEAK_YOUNG;
	/* If the watching ended early, the span ends there. */
	uint64_t begin = f->leaks->begin_ns, end = begin + f->leaks->watch_ns;
	end = f->leaks->last_ns < end ? f->leaks->last_ns : end;
	/* If the site frees buffers, the youngest are left out: many of them will be freed. */
	end -= f->site->freed != 0 ? f->leaks->old_ns : 0;
	double off, at = middle(f, begin, end, &off);
	if (off < -SURE_DEVIATIONS && at < STOPS)
		return TDM_LEAK_LEVELLED;
	if (is_of_programs(f->site->kind)) /* also for many sites together: each program has its own */
		return TDM_LEAK_PROGRAMS;
	if (f->site->is_sum)
		return TDM_LEAK_MANY;
	if (may_be_loading(f, shown_process))
		return TDM_LEAK_LOADING;
	if (off < -DEVIATIONS && at < SLOWER)
		return TDM_LEAK_SLOWS;
	if (off > DEVIATIONS && at > LATE)
		return TDM_LEAK_LATE;
	double rises = in_bursts ? BURST_RISES : SURE_RISES * (double)f->windows;
	if (f->windows < SURE_WINDOWS || f->at_s[f->windows - 1] - f->at_s[0] < SURE_S || f->grown < SURE_GROWN ||
		f->z < SURE_Z || mortal > SURE_MORTAL || (double)f->rises < rises)
		return TDM_LEAK_UNSURE;
	return TDM_LEAK_GROWS;
}

/* The highest average size in the first window that has one. */
static double first_most(const struct tdm_leaks_sizes *sizes)
{
	size_t i = 0;
	while (i < TDM_LEAKS_WINDOWS - 1 && sizes->window[i].bytes == TDM_LEAKS_UNSEEN)
		i++;
	return (double)sizes->window[i].mean_most;
}

/*
 * The verdict about a site whose old buffers do not grow in number: whether each is freed only when a larger one has
 * taken its place. Buffers of an iteration may become larger too, with the length of a sequence for example, but then
 * there are moments without any. Growth that slows down, or starts again from below, is that of a cache.
 */
static enum tdm_leak_why judge_sizes(const struct tdm_leaks_facts *f, uint32_t shown_process, enum tdm_leak_why calm)
{
	const struct tdm_leaks_sizes *sizes = f->site->sizes;
	const double *mean = f->sizes.mean;
	size_t n = f->sizes.windows, rises = 0;
	if (n < TDM_LEAKS_SUSPECT_WINDOWS || f->site->freed < TDM_LEAKS_SUSPECT_GROWN || f->sizes.z < SUSPECT_Z ||
		is_of_programs(f->site->kind) || sizes->empty > GAPS * sizes->samples)
		return calm;
	double grown = mean[n - 1] - mean[0];
	if (mean[n - 1] <= first_most(sizes) || f->sizes.bytes[n - 1] <= f->sizes.bytes[0] ||
		mean[n - 1] - mean[n / 2] < LATER_HALF * grown || mean[n - 1] <= mean[n - 1 - n / 4])
		return calm;
	for (size_t i = 1; i < n; i++) {
		rises += mean[i] > mean[i - 1];
		if (mean[i] < mean[i - 1] - FALLS * grown)
			return calm;
	}
	bool is_sure = n >= SURE_WINDOWS && f->sizes.at_s[n - 1] - f->sizes.at_s[0] >= SURE_S &&
		       f->site->freed >= SURE_GROWN && f->sizes.z >= SURE_Z &&
		       (double)rises >= SURE_RISES * (double)n && !may_be_loading(f, shown_process);
	return is_sure ? TDM_LEAK_REPLACED : TDM_LEAK_OUTGROWN;
}

/*
 * The verdict from a single picture: live buffers were born in most parts of the program's life, as many late as early,
 * up to the end; meanwhile the program frees other buffers, and freed buffers of the site did not become as old.
 * Buffers that come and go were born lately, and those loaded once were born early.
 */
static bool is_spread(const struct tdm_leaks_facts *f, uint64_t begin_ns, uint64_t end_ns)
{
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
	return !(off < -DEVIATIONS && at < SLOWER) && !(off > DEVIATIONS && at > LATE);
}

static enum tdm_leak_why judge_once(const struct tdm_leaks_facts *f, uint64_t first_ns, uint64_t last_ns)
{
	if (is_of_programs(f->site->kind))
		return TDM_LEAK_UNWATCHED;
	return is_spread(f, first_ns, last_ns) ? TDM_LEAK_SPREAD : TDM_LEAK_UNWATCHED;
}

/* The distance to the nearest of these times. */
static uint64_t distance(const uint64_t *times, size_t count, uint64_t at)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t mid = (low + high) / 2;
		if (times[mid] < at)
			low = mid + 1;
		else
			high = mid;
	}
	uint64_t above = low < count ? times[low] - at : UINT64_MAX, below = low > 0 ? at - times[low - 1] : UINT64_MAX;
	return above < below ? above : below;
}

bool tdm_leaks_is_in_step(const struct tdm_leaks_facts *f, const uint64_t *kernels, size_t count)
{
	size_t births = 0, near = 0;
	if (count < TDM_LEAKS_SUSPECT_GROWN)
		return false;
	/* If programs have several kernels this is less than the time between programs, which only makes the test
	 * stricter. */
	uint64_t between = (kernels[count - 1] - kernels[0]) / (count - 1);
	for (size_t i = 0; i < f->birth_count; i++)
		if (f->births[i] >= f->leaks->begin_ns) {
			births++;
			near += (double)distance(kernels, count, f->births[i]) <= IN_STEP * (double)between;
		}
	return births != 0 && (double)near >= IN_STEP_SHARE * (double)births;
}

static enum tdm_leak_why judge_ended(const struct tdm_leaks_facts *f)
{
	if (is_left_to_card(f->site->kind))
		return TDM_LEAK_RUNTIME;
	/* Nobody knows how one ended that a daemon wrote for, and a server has always called that a leak. */
	if (f->process->who.is_on_behalf)
		return TDM_LEAK_LEFT;
	return f->process->who.closed ? TDM_LEAK_AT_EXIT : TDM_LEAK_KILLED;
}

enum tdm_leak_why tdm_leaks_judge_site(
	const struct tdm_leaks_facts *f, uint32_t process, uint64_t first_ns, uint64_t last_ns)
{
	enum tdm_leak_why why = TDM_LEAK_UNWATCHED;
	bool ended = f->process->who.life == TDM_LIFE_ENDED;
	if (ended && (f->process->who.closed || f->process->who.is_on_behalf))
		return judge_ended(f);
	if (f->windows >= TDM_LEAKS_SUSPECT_WINDOWS)
		why = tdm_leaks_judge_watched(f, process);
	if (why == TDM_LEAK_TURNS_OVER)
		why = judge_sizes(f, process, why);
	if (whys[why].verdict != TDM_FINDING_OK)
		return why;
	/* A leak may be too slow for the watching time; but a site whose old buffers are freed, or that has stopped
	 * growing, does not leak. */
	bool calm = why == TDM_LEAK_UNWATCHED || why == TDM_LEAK_CONSTANT ||
		    (why == TDM_LEAK_TURNS_OVER && f->site->aged_freed == 0);
	if (calm && judge_once(f, first_ns, last_ns) == TDM_LEAK_SPREAD)
		return TDM_LEAK_SPREAD;
	return ended ? judge_ended(f) : why;
}
