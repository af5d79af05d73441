/*
 * The phase tracker. Snapshots cut a session (from begin to end) into segments; a segment sums up the events between
 * two snapshots, by the rules of tt-train's tracker for a graph capture:
 *
 *   DRAM  DRAM and TRACE buffers, requested sizes. The sum starts at 0 in each segment and falls below 0 when older
 *         buffers are freed; its peak does not.
 *   L1    bytes in one core, in four sums and their total: circular buffers; L1 and L1_SMALL buffers; dataflow buffers;
 *         scratchpads. Buffers may fall below 0 like DRAM. A program's memory is released all at once, so
 *         those sums never fall below 0.
 *
 * The tracker ignores every other kind. Finished segments stay until they are cleared, even across sessions, and the
 * cumulative figures cover all of them.
 *
 * Locks, outer before inner:
 *   session_lock  begin, snapshot, end, clear and all access to finished segments; held during calls into the client.
 *   event_lock    the running sums and changes of the mode; held for a few additions, with no calls.
 * Both know their holder, so that a signal handler that interrupted the holder gives up instead of waiting forever. The
 * first is held with signals blocked.
 *
 * Segments and names are in chunks from mmap that never move and are reused after a clear.
 */
#include "client/tracker.h"
#include "client/client.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/number.h"
#include "ledger/short_lock.h"

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

enum { FIRST_SEGMENT = 96 }; /* the size of the structure in version 0.1; later ones may only be larger */
static_assert(sizeof(struct tidemark_segment) >= FIRST_SEGMENT, "the layout of a public structure is frozen");

_Atomic unsigned char tdm_rare;

static struct tdm_lock session_lock, event_lock;
static struct sums running; /* under event_lock */
static _Atomic uint64_t missed;

/* Under session_lock. */
static struct {
	struct tdm_quiet guard; /* of the holder of the lock */
	uint64_t session;       /* number of the last session */
	size_t count;
	size_t name_chunk, name_used; /* where the next name goes */
	struct tidemark_segment *segments[SEGMENT_CHUNKS];
	char *names[NAME_CHUNKS];
} kept;

/* False when this thread already holds it, or another one does not give it back. */
static bool lock(struct tdm_lock *l)
{
	return !tdm_lock_is_mine(l) && tdm_lock_take(l);
}

static bool lock_session(void)
{
	struct tdm_quiet guard;
	tdm_quiet_begin(&guard);
	if (!lock(&session_lock)) {
		tdm_quiet_end(&guard);
		return false;
	}
	kept.guard = guard;
	return true;
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

/* For the sums of programs. Returns the change made, which is smaller if memory from before the segment is released. */
static int64_t level_add_program(struct level *l, int64_t change)
{
	if (change < 0 && l->now < -change)
		change = -l->now;
	level_add(l, change);
	return change;
}

/* The requested size and the bytes in one core; negative for a release. */
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

static void *map_chunk(size_t bytes)
{
	void *chunk = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return chunk == MAP_FAILED ? NULL : chunk;
}

void tdm_tracker_unload(void)
{
	for (size_t i = 0; i < SEGMENT_CHUNKS && kept.segments[i] != NULL; i++)
		munmap(kept.segments[i], SEGMENTS_PER_CHUNK * sizeof **kept.segments);
	for (size_t i = 0; i < NAME_CHUNKS && kept.names[i] != NULL; i++)
		munmap(kept.names[i], NAME_CHUNK_BYTES);
}

static struct tidemark_segment *segment_at(size_t i)
{
	return &kept.segments[i / SEGMENTS_PER_CHUNK][i % SEGMENTS_PER_CHUNK];
}

/* Makes room for one more segment and copies its name, which the next call overwrites if no segment was kept. */
static int reserve_segment(const char *name, const char **copy)
{
	size_t bytes = strlen(name) + 1;
	if (kept.count == TDM_TRACKER_SEGMENT_MAX)
		return -ENOSPC;
	if (bytes > TDM_TRACKER_NAME_MAX)
		return -ENAMETOOLONG;

	struct tidemark_segment **chunk = &kept.segments[kept.count / SEGMENTS_PER_CHUNK];
	if (*chunk == NULL)
		*chunk = map_chunk(SEGMENTS_PER_CHUNK * sizeof(**chunk));
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
		kept.names[at] = map_chunk(NAME_CHUNK_BYTES);
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

/* Ends the running segment, stores its sums in *sums, and starts again with `mode`. */
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

static void put_phase(const struct sums *sums, const char *name, unsigned char mode)
{
	struct tdm_ledger_phase phase = {
		.flags = mode == TDM_TRACKER_NO_DISPATCH ? TDM_PHASE_NO_DISPATCH : 0,
		.begin_tsc = sums->begin_tsc,
		.session = kept.session,
		.dram_peak = sums->dram.peak,
		.dram_allocated = sums->dram_allocated,
		.dram_freed = sums->dram_freed,
		.l1_peak_cb = sums->cb.peak,
		.l1_peak_buffer = sums->buffer.peak,
		.l1_peak_total = sums->total.peak,
	};
	tdm_client_put_phase(&phase, name);
}

/*
 * Ends the running segment under `name`. With `goes_on` the next one begins, or, if there is no room for this one, it
 * simply continues; without it the session ends in any case. The mode changes only under session_lock, so it can be
 * read here.
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
	put_phase(&sums, copy, mode);
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

/* The child has one thread: nobody will release the locks that other threads held. */
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

static bool has_room(const struct tidemark_segment *segment)
{
	return segment != NULL && segment->size >= FIRST_SEGMENT;
}

int tidemark_capture_get(size_t i, struct tidemark_segment *segment)
{
	if (!has_room(segment))
		return -EINVAL;
	if (!lock_session())
		return -EDEADLK;
	int err = i < kept.count ? 0 : -ERANGE;
	if (err == 0)
		tdm_client_fill(segment, segment_at(i), sizeof *segment);
	unlock_session();
	return err;
}

/* The number of segments with that name; *last is the last of them. */
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
	struct tidemark_segment last;
	return find_named(name, &last);
}

int tidemark_capture_find(const char *name, struct tidemark_segment *segment)
{
	struct tidemark_segment only;
	if (name == NULL || !has_room(segment))
		return -EINVAL;
	size_t found = find_named(name, &only);
	if (found == 0)
		return TIDEMARK_ETRACE_NOT_FOUND;
	if (found > 1)
		return TIDEMARK_ETRACE_AMBIGUOUS;
	tdm_client_fill(segment, &only, sizeof only);
	return 0;
}

const char *tdm_tracker_strerror(int code)
{
	switch (code) {
	case TIDEMARK_ECAPTURE_ACTIVE:
		return "MemoryUsageTracker: Capture already active";
	case TIDEMARK_ECAPTURE_INACTIVE:
		return "MemoryUsageTracker: Cannot snapshot - capture is not active";
	case TIDEMARK_ETRACE_NOT_FOUND:
		return "MemoryUsageTracker: Trace not found";
	case TIDEMARK_ETRACE_AMBIGUOUS:
		return "MemoryUsageTracker: Trace is ambiguous";
	default:
		return NULL;
	}
}
