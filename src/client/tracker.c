/*
 * The phase tracker. Snapshots cut a session (from begin to end) into segments; a segment sums the events between two
 * snapshots, following the rules of tt-train's graph-capture tracker:
 *
 *   DRAM  DRAM and TRACE buffers, requested sizes. The sum starts at 0 in each segment and falls below 0 when older
 *         buffers are freed; its peak does not.
 *   L1    bytes in one core, in four sums and their total: circular buffers; L1 and L1_SMALL buffers; dataflow buffers;
 *         scratchpads. Buffers may fall below 0 like DRAM. A program's memory is released all at once, so
 *         those sums never fall below 0.
 *
 * Other kinds are ignored. Finished segments stay until cleared, even across sessions, and the cumulative figures cover
 * all finished segments.
 *
 * Locks, outer before inner:
 *   session_lock  begin, snapshot, end, clear and all access to finished segments; held during calls into the client.
 *   event_lock    the running sums and changes of the mode; held for a few additions, with no calls.
 * Both record their holder, so a signal handler that interrupted the holder gives up instead of waiting forever.
 * session_lock is held with signals blocked.
 *
 * Segments and names are in chunks from mmap, which never move and are reused after a clear.
 */
#include "client/client.h"
#include "base/clock.h"
#include "base/number.h"
#include "model/event/phase_text.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
	SEGMENTS_PER_CHUNK = 1024,
	SEGMENT_CHUNKS = TDM_TRACKER_SEGMENT_MAX / SEGMENTS_PER_CHUNK,
	NAME_CHUNK_BYTES = TDM_TRACKER_NAME_MAX,
	NAME_CHUNKS = 64,
};

/* A running sum and its highest value. */
struct level {
	int64_t now, peak;
};

struct sums {
	uint64_t begin_tsc;
	struct level dram;
	int64_t dram_allocated, dram_freed;
	struct level cb, buffer, dfb, scratchpad, total; /* per core */
};

enum { FIRST_SEGMENT = 96 }; /* the size of the structure in version 0.1; later versions may only be larger */
static_assert(sizeof(struct tidemark_segment) >= FIRST_SEGMENT, "the layout of a public structure is frozen");

_Atomic unsigned char tdm_rare;

static struct tdm_lock session_lock, event_lock;
static struct sums running; /* guarded by event_lock */
static _Atomic uint64_t missed;

/* Guarded by session_lock. */
static struct {
	struct tdm_quiet guard; /* signal state of the lock's holder */
	uint64_t session;       /* number of the last session */
	size_t count;
	size_t name_chunk, name_used; /* where the next name is stored */
	struct tidemark_segment *segments[SEGMENT_CHUNKS];
	char *names[NAME_CHUNKS];
} kept;

/* False if this thread already holds the lock, or another thread does not release it. */
static bool lock(struct tdm_lock *l)
{
	return !tdm_lock_is_mine(l) && tdm_lock_take(l);
}

static bool lock_session(void)
{
	struct tdm_quiet guard;
	tdm_quiet_begin(&guard);
	bool is_ours = lock(&session_lock);
	if (is_ours)
		kept.guard = guard;
	else
		tdm_quiet_end(&guard);
	return is_ours;
}

static void unlock_session(void)
{
	struct tdm_quiet guard = kept.guard;
	tdm_lock_give(&session_lock);
	tdm_quiet_end(&guard);
}

static int64_t add_capped(int64_t a, int64_t b)
{
	int64_t sum;
	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

static void level_add(struct level *l, int64_t change)
{
	l->now = add_capped(l->now, change);
	l->peak = tdm_max_signed(l->peak, l->now);
}

/* For the sums of programs' memory. Returns the actual change, which is smaller if the released memory was allocated
 * before the segment. */
static int64_t level_add_program(struct level *l, int64_t change)
{
	if (change < 0 && l->now < -change)
		change = -l->now;
	level_add(l, change);
	return change;
}

/* Adds a requested size and bytes in one core; both negative for a release. */
static void count_event(uint32_t kind, int64_t asked, int64_t per_core)
{
	switch (kind) {
	case TIDEMARK_DRAM:
	case TIDEMARK_TRACE:
		level_add(&running.dram, asked);
		if (asked >= 0)
			running.dram_allocated = add_capped(running.dram_allocated, asked);
		else
			running.dram_freed = add_capped(running.dram_freed, -asked);
		return;
	case TIDEMARK_L1:
	case TIDEMARK_L1_SMALL:
		level_add(&running.buffer, per_core);
		break;
	case TIDEMARK_CB:
		per_core = level_add_program(&running.cb, per_core);
		break;
	case TIDEMARK_DFB:
		per_core = level_add_program(&running.dfb, per_core);
		break;
	case TIDEMARK_SCRATCHPAD:
		per_core = level_add_program(&running.scratchpad, per_core);
		break;
	default:
		return;
	}
	level_add(&running.total, per_core);
}

static void report(uint32_t kind, int64_t asked, int64_t per_core)
{
	if (!lock(&event_lock)) {
		atomic_fetch_add_explicit(&missed, 1, memory_order_relaxed);
		return;
	}
	if (tdm_tracker_mode() != TDM_TRACKER_NONE)
		count_event(kind, asked, per_core);
	tdm_lock_give(&event_lock);
}

void tdm_tracker_alloc(uint32_t kind, uint64_t asked, uint64_t bank_bytes, bool is_view)
{
	if (!is_view)
		report(kind, tdm_signed(asked), tdm_signed(bank_bytes));
}

void tdm_tracker_free(uint32_t kind, uint64_t asked, uint64_t bank_bytes, bool is_view)
{
	if (!is_view)
		report(kind, -tdm_signed(asked), -tdm_signed(bank_bytes));
}

uint64_t tdm_tracker_missed(void)
{
	return atomic_load_explicit(&missed, memory_order_relaxed);
}

void tdm_tracker_unload(void)
{
	for (size_t i = 0; i < SEGMENT_CHUNKS; i++)
		tdm_private_free(kept.segments[i], SEGMENTS_PER_CHUNK * sizeof **kept.segments);
	for (size_t i = 0; i < NAME_CHUNKS; i++)
		tdm_private_free(kept.names[i], NAME_CHUNK_BYTES);
}

static struct tidemark_segment *segment_at(size_t i)
{
	return &kept.segments[i / SEGMENTS_PER_CHUNK][i % SEGMENTS_PER_CHUNK];
}

/* Makes room for one more segment and copies its name. If no segment is stored after that, the next call overwrites
 * the name. */
static int reserve_segment(const char *name, const char **copy)
{
	size_t bytes = strlen(name) + 1;
	if (kept.count == TDM_TRACKER_SEGMENT_MAX)
		return -ENOSPC;
	if (bytes > TDM_TRACKER_NAME_MAX)
		return -ENAMETOOLONG;

	struct tidemark_segment **chunk = &kept.segments[kept.count / SEGMENTS_PER_CHUNK];
	if (*chunk == NULL)
		*chunk = tdm_private_alloc(SEGMENTS_PER_CHUNK * sizeof(**chunk));
	if (*chunk == NULL)
		return -ENOMEM;

	size_t at = kept.name_chunk, used = kept.name_used;
	if (bytes > NAME_CHUNK_BYTES - used) {
		at++;
		used = 0;
	}
	if (at == NAME_CHUNKS)
		return -ENOSPC;
	if (kept.names[at] == NULL)
		kept.names[at] = tdm_private_alloc(NAME_CHUNK_BYTES);
	if (kept.names[at] == NULL)
		return -ENOMEM;
	*copy = memcpy(kept.names[at] + used, name, bytes);
	kept.name_chunk = at;
	kept.name_used = used;
	return 0;
}

static void set_mode(unsigned char mode)
{
	unsigned char was = atomic_load(&tdm_rare), next;
	do
		next = (unsigned char)((was & ~TDM_TRACKER_MODES) | mode);
	while (!atomic_compare_exchange_weak(&tdm_rare, &was, next));
}

/* Ends the running segment, stores its sums in *sums, and starts the next one with `mode`. */
static int cut(struct sums *sums, unsigned char mode)
{
	if (!lock(&event_lock))
		return -EDEADLK;
	*sums = running;
	running = (struct sums){ .begin_tsc = tdm_clock_ticks() };
	set_mode(mode);
	tdm_lock_give(&event_lock);
	return 0;
}

static void keep_segment(const struct sums *sums, const char *name)
{
	int64_t peak_before = 0, current_before = 0;
	if (kept.count > 0) {
		peak_before = segment_at(kept.count - 1)->dram_cumulative_peak;
		current_before = segment_at(kept.count - 1)->dram_cumulative_current;
	}
	int64_t change = add_capped(sums->dram_allocated, -sums->dram_freed);
	*segment_at(kept.count) = (struct tidemark_segment){
		.name = name,
		.dram_peak = sums->dram.peak,
		.dram_allocations = sums->dram_allocated,
		.dram_deallocations = sums->dram_freed,
		.l1_peak_cb = sums->cb.peak,
		.l1_peak_buffer = sums->buffer.peak,
		.l1_peak_total = sums->total.peak,
		.dram_cumulative_peak = tdm_max_signed(peak_before, add_capped(current_before, sums->dram.peak)),
		.dram_cumulative_current = add_capped(current_before, change),
		.l1_peak_dfb = sums->dfb.peak,
		.l1_peak_scratchpad = sums->scratchpad.peak,
	};
	kept.count++;
	kept.name_used += strlen(name) + 1;
}

/*
 * Ends the running segment under `name`. With `goes_on`, the next segment begins; if there is no room to store this
 * one, it just continues. Without `goes_on`, the session ends in any case. The mode changes only under session_lock, so
 * it can be read here.
 */
static int finish_segment(const char *name, bool goes_on)
{
	unsigned char mode = (unsigned char)tdm_tracker_mode();
	const char *copy = NULL;
	struct sums sums;
	int err = reserve_segment(name, &copy);
	if (err != 0 && goes_on)
		return err;
	int cut_err = cut(&sums, goes_on ? mode : TDM_TRACKER_NONE);
	if (err != 0 || cut_err != 0)
		return err != 0 ? err : cut_err;
	keep_segment(&sums, copy);
	struct tdm_ledger_phase phase = {
		.flags = mode == TDM_TRACKER_NO_DISPATCH ? TDM_PHASE_NO_DISPATCH : 0,
		.begin_tsc = sums.begin_tsc,
		.session = kept.session,
		.dram_peak = sums.dram.peak,
		.dram_allocated = sums.dram_allocated,
		.dram_freed = sums.dram_freed,
		.l1_peak_cb = sums.cb.peak,
		.l1_peak_buffer = sums.buffer.peak,
		.l1_peak_total = sums.total.peak,
	};
	tdm_client_put_phase(&phase, copy);
	return 0;
}

int tidemark_capture_is_active(void)
{
	return tdm_tracker_mode() != TDM_TRACKER_NONE;
}

int tidemark_capture_begin(int mode)
{
	if (mode != TIDEMARK_CAPTURE_NORMAL && mode != TIDEMARK_CAPTURE_NO_DISPATCH)
		return -EINVAL;
	if (!lock_session())
		return -EDEADLK;
	int err = tidemark_capture_is_active() ? TIDEMARK_ECAPTURE_ACTIVE : tdm_client_enable();
	struct sums dropped;
	if (err == 0)
		err = cut(&dropped, mode == TIDEMARK_CAPTURE_NORMAL ? TDM_TRACKER_NORMAL : TDM_TRACKER_NO_DISPATCH);
	if (err == 0)
		kept.session++;
	unlock_session();
	return err;
}

int tidemark_capture_snapshot(const char *name)
{
	if (name == NULL)
		return -EINVAL;
	if (!lock_session())
		return -EDEADLK;
	int err = tidemark_capture_is_active() ? finish_segment(name, true) : TIDEMARK_ECAPTURE_INACTIVE;
	unlock_session();
	return err;
}

int tidemark_capture_end(const char *name)
{
	if (!lock_session())
		return -EDEADLK;
	int err = tidemark_capture_is_active() ? finish_segment(name != NULL ? name : "END_TRACE", false) : 0;
	unlock_session();
	return err;
}

int tidemark_capture_clear(void)
{
	if (!lock_session())
		return -EDEADLK;
	struct sums dropped;
	int err = cut(&dropped, TDM_TRACKER_NONE);
	if (err == 0)
		kept.count = kept.name_chunk = kept.name_used = 0;
	unlock_session();
	return err;
}

void tdm_tracker_abandon(void)
{
	tdm_lock_abandon(&event_lock);
}

/* The child has only one thread, so locks held by the parent's other threads would never be released. */
void tdm_tracker_after_fork(void)
{
	set_mode(TDM_TRACKER_NONE);
	tdm_lock_reset(&session_lock);
	tdm_lock_reset(&event_lock);
	atomic_store(&missed, 0);
	running = (struct sums){ 0 };
	kept.session = 0;
	kept.count = kept.name_chunk = kept.name_used = 0;
}

size_t tidemark_capture_count(void)
{
	if (!lock_session())
		return 0;
	size_t count = kept.count;
	unlock_session();
	return count;
}

int tidemark_capture_get(size_t i, struct tidemark_segment *segment)
{
	if (segment == NULL || segment->size < FIRST_SEGMENT)
		return -EINVAL;
	if (!lock_session())
		return -EDEADLK;
	int err = i < kept.count ? 0 : -ERANGE;
	if (err == 0)
		tdm_client_fill(segment, segment_at(i), sizeof *segment);
	unlock_session();
	return err;
}

/* The number of segments with that name; *last receives the last such segment. */
static size_t find_named(const char *name, struct tidemark_segment *last)
{
	size_t found = 0;
	if (name == NULL || !lock_session())
		return 0;
	for (size_t i = 0; i < kept.count; i++) {
		if (strcmp(segment_at(i)->name, name) == 0) {
			*last = *segment_at(i);
			found++;
		}
	}
	unlock_session();
	return found;
}

size_t tidemark_capture_count_named(const char *name)
{
	return find_named(name, &(struct tidemark_segment){ 0 });
}

int tidemark_capture_find(const char *name, struct tidemark_segment *segment)
{
	struct tidemark_segment only;
	if (name == NULL || segment == NULL || segment->size < FIRST_SEGMENT)
		return -EINVAL;
	size_t found = find_named(name, &only);
	if (found == 0)
		return TIDEMARK_ETRACE_NOT_FOUND;
	if (found > 1)
		return TIDEMARK_ETRACE_AMBIGUOUS;
	tdm_client_fill(segment, &only, sizeof only);
	return 0;
}

/* ---- the summary: writes segments to a buffer or a stream; model/event/phase_text.c has the format ---- */

/* The destination of the summary: a buffer, which keeps what fits, or a stream. */
struct sink {
	char *dst;
	size_t cap, length;
	FILE *stream;
	bool failed;
};

static void put_bytes(void *to, const char *text, size_t bytes)
{
	struct sink *sink = to;
	if (sink->stream != NULL)
		sink->failed |= fwrite(text, 1, bytes, sink->stream) != bytes;
	else if (sink->length < sink->cap)
		memcpy(sink->dst + sink->length, text,
			bytes < sink->cap - sink->length ? bytes : sink->cap - sink->length);
	sink->length += bytes;
}

/* Copies one segment at a time, so that no lock is held while a stream is written. */
static void put_summary(struct sink *sink)
{
	const struct tdm_phase_sink to = { put_bytes, sink };
	struct tidemark_segment segment = TIDEMARK_SEGMENT_INIT;
	if (tidemark_capture_count() == 0) {
		tdm_phase_text_none(&to);
		return;
	}
	tdm_phase_text_begin(&to);
	for (size_t i = 0; tidemark_capture_get(i, &segment) == 0; i++) {
		tdm_phase_text_segment(&to, segment.name,
			&(struct tdm_phase_figures){
				.dram_peak = segment.dram_peak,
				.dram_allocated = segment.dram_allocations,
				.dram_freed = segment.dram_deallocations,
				.dram_change = segment.dram_allocations - segment.dram_deallocations,
				.dram_cumulative_peak = segment.dram_cumulative_peak,
				.dram_cumulative_current = segment.dram_cumulative_current,
				.l1_peak_cb = segment.l1_peak_cb,
				.l1_peak_buffer = segment.l1_peak_buffer,
				.l1_peak_total = segment.l1_peak_total,
			});
	}
	tdm_phase_text_end(&to, segment.dram_cumulative_peak, segment.dram_cumulative_current);
}

size_t tidemark_capture_format(char *dst, size_t cap)
{
	if (dst == NULL)
		cap = 0;
	struct sink sink = { .dst = dst, .cap = cap > 0 ? cap - 1 : 0 };
	put_summary(&sink);
	if (cap > 0)
		dst[sink.length < cap ? sink.length : cap - 1] = '\0';
	return sink.length;
}

int tidemark_capture_print(void)
{
	struct sink sink = { .stream = stdout };
	flockfile(stdout);
	put_summary(&sink);
	sink.failed |= fflush(stdout) != 0;
	funlockfile(stdout);
	return sink.failed ? -EIO : 0;
}
