/*
 * Writes a ledger. A process has one writer for itself; any thread may report. A daemon has one more for each process
 * on whose behalf it writes.
 *
 * Threads and locks: one thread at a time enters a device, for the few dozen instructions of one report; threads on
 * different devices do not interfere. Entering is cheapest for the thread that used the device last: it is the device's
 * owner and needs no atomic read-modify-write, which would wait until all earlier stores have left the processor. It
 * notes in its own record that it is inside, then checks that it is still the owner. Another thread that wants to enter
 * takes `lock`, clears `owner`, makes Linux run a barrier on all processors of the process (membarrier), and waits
 * until the old owner's record says that it is out. From then on threads share the device with `lock`. A thread that is
 * alone on the device for long enough becomes the owner again, but only a few times, so that a warm program makes no
 * system calls.
 *
 * `file_lock` covers the file's size and directories: device -> file_lock, blob lock -> file_lock; no lock is taken
 * under it. tdm_writer_renew takes all: devices in their order, blob lock, file_lock. Locks are in private memory, so a
 * killed process leaves none in the file.
 *
 * A thread can leave a report in the middle: a signal handler jumps out of it (siglongjmp), or another thread cancels
 * it. That costs the report: the device is marked as torn, and the next thread inside rebuilds the private state from
 * what was committed. Rare changes with a state of their own (the file's areas, new texts, descriptions) are guarded
 * against both (tdm_quiet_begin), so that they need no repair. So is the repair itself.
 *
 * Others may be able to write to the file, too. So the writer keeps everything that an address or a loop depends on in
 * private memory and never reads it back from the file.
 *
 * Readers rely on the order of stores in a report (layout.h): first everything that has the new number, then the
 * device's `seq`.
 */
#ifndef TDM_LEDGER_WRITER_H
#define TDM_LEDGER_WRITER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/blobs.h"
#include "ledger/layout.h"
#include "ledger/ledger_file.h"
#include "ledger/short_lock.h"
#include "ledger/slot_index.h"

enum { TDM_CACHE_LINE = 64 };
#define tdm_inlined static inline __attribute__((always_inline))

struct tdm_wdevice;
struct tdm_wruntime;
enum { TDM_BY_LOCK = 1 };

/* The writer's record of a thread. Never freed while the process lives, because another thread may be reading it. */
struct tdm_wthread {
	_Atomic uintptr_t inside; /* the device that it is in, or about to enter, as the owner; or with TDM_BY_LOCK, the
				     device whose lock it has */
	uintptr_t frame;          /* the stack pointer when it entered as the owner */
	uint32_t thread;          /* Linux's number */
} __attribute__((aligned(TDM_CACHE_LINE)));

/*
 * Giving back what a burst has left (writer_shrink.c). While it sorts, `all` is the array of free slots, in which
 * `spare` of the device has those that have not been sorted, and `low` gets those below the cut. While it moves,
 * `spare` is what was `low`. Free slots from the cut on are at the beginning of `all`.
 */
enum tdm_shrink_stage { TDM_SHRINK_NONE, TDM_SHRINK_SORT, TDM_SHRINK_MOVE, TDM_SHRINK_RELEASE };
struct tdm_shrink {
	enum tdm_shrink_stage stage;
	uint32_t cut; /* slots from here on are given back */
	uint32_t *all, *low;
	uint32_t all_cap, low_cap;
	uint32_t high_count, low_count;
	uint64_t moved_seq;  /* number of the call that commits the last move */
	uint64_t keep_until; /* number of the call before which it does not begin */
	uint64_t regrown_ns; /* when pages that had been given back were last reserved again; 0: never */
	uint32_t most;       /* the most slots that were ever reserved */
};

/* What shared buffers of a kind take together, as it is part of the kind's counters. */
struct tdm_wcommon {
	uint64_t bytes, bank_bytes;
};

/* The writer's record of a device, in private memory. */
struct tdm_wdevice {
	struct tdm_wthread *_Atomic owner; /* NULL: shared */
	struct tdm_lock lock;
	struct tdm_wthread *last; /* the thread that entered last while shared, */
	uint32_t streak;          /* and how often in a row */
	uint32_t number;
	struct tdm_ledger_device *shared;
	struct tdm_ledger_record *ring;
	uint64_t ring_mask;     /* records - 1 */
	uint64_t seq;           /* the value of the word in the file */
	uint32_t slot_high;     /* slots used so far, or since slots were given back */
	uint32_t slot_reserved; /* slots whose pages are reserved */
	uint32_t spare_count;   /* free slots on the stack */
	uint32_t spare_limit;   /* at which tdm_writer_give_far has to be called; at most spare_cap */
	uint32_t *spare;
	struct tdm_slot_index index;
	const _Atomic uint64_t *texts; /* the writer's: which numbers are names */
	uint64_t last_tsc;             /* of the last report that read the clock */
	uint64_t look_at;              /* when to call tdm_writer_look again, in ticks */
	struct tdm_ledger_now
		*now[TDM_KIND_COUNT]; /* the newer copy of each counter; the other one is tdm_other_copy() */
	struct tdm_ledger_peak *peak[TDM_LEDGER_COUNTERS]; /* the same for each peak */
	/* What a report compares its sums with: the peak, or the one since tdm_writer_reset_peak(), which is never
	 * higher and is in `window`. */
	struct tdm_ledger_peak *limit[TDM_LEDGER_COUNTERS];
	struct tdm_ledger_peak (*window)[2];    /* private copies of each peak; NULL: none was reset */
	struct tdm_ledger_now l1_all;           /* everything in L1, all kinds together */
	_Atomic uint32_t banks[TDM_KIND_COUNT]; /* of kinds in banks, as described; 0: not described */
	/* Where both arrays of each segment would begin if they also had the slots of all earlier segments and
	 * TDM_LEDGER_FIRST_SLOTS more, so that a slot's number is enough to find it. */
	uintptr_t slots_at[TDM_LEDGER_SEGMENTS], mores_at[TDM_LEDGER_SEGMENTS];
	uint64_t segment_offset[TDM_LEDGER_SEGMENTS]; /* in the file */
	uint32_t segment_count;
	uint32_t spare_cap;
	struct tdm_shrink shrink;
	uint32_t retry;       /* reports until the next attempt to get more room */
	uint32_t revocations; /* how often an owner was revoked */
	bool is_hopeless;     /* the last wait for the owner to leave timed out */
	_Atomic bool is_torn; /* a report began and will not end: repaired before the next one. It has no owner then. */
	_Atomic bool is_untouched; /* nothing has changed since the holder of the lock repaired it */
	bool is_virtual;
	uint32_t shared_kinds; /* copy of the word in the file */
	struct tdm_wcommon common[TDM_KIND_COUNT];
	struct tdm_wruntime *_Atomic runtime; /* what the runtime said; NULL: nothing yet */
	uint32_t runtime_retry;               /* such reports to refuse before trying to get room again */
	struct tdm_writer *writer;
	char pad[TDM_CACHE_LINE];
} __attribute__((aligned(TDM_CACHE_LINE)));

enum { TDM_WRITER_WINDOW_BYTES = TDM_LEDGER_COUNTERS * 2 * sizeof(struct tdm_ledger_peak) };
enum { TDM_WRITER_THREADS = 4096 };  /* threads that can be owners; others use the lock */
enum { TDM_WRITER_RING_SMALL = 32 }; /* records of a ring on behalf: as many as fit into the pages of the device */
enum { TDM_WRITER_NUMBERS = 256 };   /* device numbers found without a search, including virtual ones */

struct tdm_writer {
	struct tdm_ledger_file file;
	struct tdm_lock file_lock;
	struct tdm_blobs blobs;
	struct tdm_wdevice *_Atomic by_number[TDM_WRITER_NUMBERS];
	struct tdm_wdevice *_Atomic devices[TDM_LEDGER_DEVICES]; /* in the order of the ledger */
	uint32_t device_count;
	uint32_t device_retry; /* new devices to refuse before trying to get room for one again */
	struct tdm_ledger_phase *phase_segment[TDM_LEDGER_BLOB_SEGMENTS];
	uint32_t phase_segments, phase_count;
	struct tdm_ledger_notes *_Atomic notes; /* NULL: none yet */
	_Atomic uint32_t remark_count;
	_Atomic uint32_t captured; /* traces that exist, on all devices: allocations must take the long way */
	uint32_t notes_retry;      /* notes to refuse before trying to get room for them again */
	struct tdm_wthread *threads;
	uint32_t thread_cap;
	_Atomic uint32_t thread_count;
	uint32_t ring_records;                   /* of each new device */
	_Atomic uint64_t look_ns;                /* when to look again whether the file is still there */
	_Atomic bool is_gone;                    /* it is not: tdm_writer_renew() is due */
	_Atomic uint64_t stranded_from;          /* calls until it could not be made anew, plus 1; 0: it is there */
	void (*gone)(struct tdm_writer *writer); /* called when that is noticed, inside a device; may be NULL */
	bool can_own;                            /* Linux has the barrier that owners rely on */
	struct tdm_slot_index *inherited;        /* the parent's indexes before the fork, one per device; may be NULL */
	unsigned inherited_count;
	struct tdm_wthread only; /* on behalf: who writes such ledgers has one thread */
};

/*
 * The report of a buffer. The layout is that of the public structure (client/api.c asserts it), so that the hot path
 * can read the caller's structure without a copy.
 */
struct tdm_report {
	uint32_t size, device;
	uint32_t kind, flags; /* TDM_SLOT_* */
	uint64_t id, address, asked;
	uint64_t bank_bytes; /* as the caller gave it, like `banks`; those in tdm_report_extra are used instead */
	uint32_t banks;
	uint32_t holding, page_size, cores;
	uint32_t name; /* blob number */
	uint32_t range_count;
	const void *ranges;
	const uint64_t *frames;
	uint32_t frame_count, reserved;
} __attribute__((may_alias));

/* What the library adds to a report. */
struct tdm_report_extra {
	uint32_t thread;
	uint32_t banks;                  /* in lockstep; 0: a view */
	uint64_t bank_bytes;             /* used instead of that of the report, which may be 0 */
	uint32_t program, stack, ranges; /* blob numbers */
	bool replaces;                   /* replaces a live buffer with this kind and id on purpose: not a fault */
	struct tdm_ledger_slot *old;     /* gets the buffer that was replaced, if any; may be NULL */
};

struct tdm_writer_options {
	const char *dir;       /* contains the folders of all users */
	uint32_t mode;         /* permissions of the file */
	uint32_t ring_records; /* of each device, a power of two; 0: TDM_LEDGER_RING, on behalf TDM_WRITER_RING_SMALL */
	uint32_t flags;        /* of the header: invalid settings */
	const struct tdm_behalf *behalf; /* the process it is about; NULL: this one */
};

/* 0 with *out set, or -errno. The writer is not allocated with malloc. */
int tdm_writer_new(const struct tdm_writer_options *options, struct tdm_writer **out);

/*
 * Goes on with a ledger that an earlier writer, which has ended, wrote on behalf of a process; everything that it had
 * committed is there. Of the options only `ring_records`, for new devices, is used. 0 with *out set;
 * -EBUSY: its writer lives, or somebody has its open file; -EAGAIN: it ended before the ledger was set up, so it has
 * nothing; -ESHUTDOWN: the ledger was closed; -ESTALE: it is from before the machine was booted, or its process went on
 * in another ledger; -EPERM: it belongs to somebody else, or others can write to it; -EINVAL: it is not on behalf of
 * the process in its name; TDM_ECORRUPT or TDM_EVERSION; or another -errno.
 */
int tdm_writer_resume(const char *path, const struct tdm_writer_options *options, struct tdm_writer **out);

/*
 * The same; tries again until `end_ns` (monotonic clock) while that says -EBUSY. The lock of a writer that was killed
 * is there a little longer if somebody else has its open file, such as a child that did not run yet.
 */
int tdm_writer_resume_until(
	const char *path, const struct tdm_writer_options *options, uint64_t end_ns, struct tdm_writer **out);

/* Parts of the two functions that make a writer: its private memory, and that of a device. NULL: there is none. */
struct tdm_writer *tdm_writer_make(const struct tdm_writer_options *options, bool is_small);
struct tdm_wdevice *tdm_wdevice_make(struct tdm_writer *writer, uint32_t number, bool is_virtual);
void tdm_wdevice_free(struct tdm_wdevice *device);

/* Closes the ledger: its process has ended, or ends now. Its buffers stay, as a post-mortem. */
void tdm_writer_end(struct tdm_writer *writer);

/*
 * For a forked child with its own `writer`: keeps the indexes, which recognise inherited buffers, and frees the rest of
 * the parent's writer. The fork may have stopped the parent's threads at any instruction.
 */
void tdm_writer_adopt(struct tdm_writer *writer, struct tdm_writer *parent);

/* Closes the file and frees everything; nobody may use the writer any more. */
void tdm_writer_free(struct tdm_writer *writer);

/*
 * Makes the deleted ledger anew, with all that it contains; the caller is outside all devices. 0 or -errno; then
 * reports go on in the old one, which nobody can open, and nothing is lost if a later attempt succeeds.
 */
int tdm_writer_renew(struct tdm_writer *writer);

/* How many calls only this process knows of, because the ledger was deleted and cannot be made anew. 0 once it is. */
uint64_t tdm_writer_stranded(struct tdm_writer *writer);

/* The i-th device, or NULL after the last. */
static inline struct tdm_wdevice *tdm_writer_get_device(struct tdm_writer *writer, unsigned i)
{
	return atomic_load_explicit(&writer->devices[i], memory_order_acquire);
}

/* The device with this number, or NULL. */
struct tdm_wdevice *tdm_writer_find_device(struct tdm_writer *writer, uint32_t number, bool is_virtual);

/* The device with this number, made if necessary. Virtual devices are numbered separately. NULL, and counted as lost,
 * when there is no room. */
struct tdm_wdevice *tdm_writer_device_slow(struct tdm_writer *writer, uint32_t number, bool is_virtual);
static inline struct tdm_wdevice *tdm_writer_device(struct tdm_writer *writer, uint32_t number, bool is_virtual)
{
	uint32_t at = number * 2 + is_virtual;
	if (__builtin_expect(number < TDM_WRITER_NUMBERS / 2, 1)) {
		struct tdm_wdevice *device = atomic_load_explicit(&writer->by_number[at], memory_order_acquire);
		if (__builtin_expect(device != NULL, 1))
			return device;
	}
	return tdm_writer_device_slow(writer, number, is_virtual);
}

/*
 * The stack pointer of the calling function. A report that began with a lower one on the same stack is over, however it
 * ended.
 */
tdm_inlined uintptr_t tdm_stack_pointer(void)
{
	uintptr_t at;
#if defined(__x86_64__)
	__asm__ volatile("mov %%rsp, %0" : "=r"(at));
#elif defined(__aarch64__)
	__asm__ volatile("mov %0, sp" : "=r"(at));
#else
	at = (uintptr_t)__builtin_frame_address(0);
#endif
	return at;
}

/* For a thread that jumped out of a report: gives back what it holds. True if it was in a device; then the next thread
 * in there counts the report as lost. The caller is guarded (tdm_quiet_begin), here and for a repair. */
bool tdm_writer_abandon(struct tdm_writer *writer, struct tdm_wthread *self);

/* Makes a torn device what it was before the report that tore it; the caller is inside. 0 or -errno. */
int tdm_wdevice_repair(struct tdm_wdevice *device);

/* Rebuilds the private state of a device, whose slots are known, from what was committed. 0 or -errno. */
int tdm_wdevice_rebuild(struct tdm_wdevice *device);

/* Tells Linux that this process will use the barrier that owners rely on; false when it does not have it. */
bool tdm_writer_register_barrier(void);

/* A record for the calling thread to keep; NULL when there are none left. */
struct tdm_wthread *tdm_writer_thread(struct tdm_writer *writer);

/* Entering and leaving a device; `self` may be NULL. TDM_NOT_ENTERED: a thread has been inside for so long that it is
 * not expected to leave. */
enum tdm_entered { TDM_NOT_ENTERED, TDM_AS_OWNER, TDM_WITH_LOCK };
enum tdm_entered tdm_wdevice_enter_slow(struct tdm_wdevice *device, struct tdm_wthread *self);
void tdm_wdevice_leave_slow(struct tdm_wdevice *device, struct tdm_wthread *self);
/* Enters if the thread is the owner; else false. */
tdm_inlined bool tdm_wdevice_enter_as_owner(struct tdm_wdevice *device, struct tdm_wthread *self)
{
	uintptr_t here = tdm_stack_pointer();
	do { /* again if a signal handler has reported in between, which leaves its own frame */
		self->frame = here;
		atomic_signal_fence(memory_order_seq_cst);
		atomic_store_explicit(&self->inside, (uintptr_t)device, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst); /* its counterpart is membarrier in tdm_wdevice_enter_slow */
	} while (__builtin_expect(self->frame != here, 0));
	return __builtin_expect(atomic_load_explicit(&device->owner, memory_order_relaxed) == self, 1);
}
static inline void tdm_wdevice_leave_as_owner(struct tdm_wthread *self)
{
	atomic_store_explicit(&self->inside, 0, memory_order_release);
}
tdm_inlined enum tdm_entered tdm_wdevice_enter(struct tdm_wdevice *device, struct tdm_wthread *self)
{
	return self != NULL && tdm_wdevice_enter_as_owner(device, self) ? TDM_AS_OWNER
									: tdm_wdevice_enter_slow(device, self);
}
static inline void tdm_wdevice_leave(struct tdm_wdevice *device, struct tdm_wthread *self, enum tdm_entered how)
{
	if (how == TDM_AS_OWNER)
		tdm_wdevice_leave_as_owner(self);
	else
		tdm_wdevice_leave_slow(device, self);
}

/* Whether the thread is inside some device: true in a signal handler that interrupted it there. */
static inline bool tdm_wthread_is_inside(const struct tdm_wthread *self)
{
	return atomic_load_explicit(&self->inside, memory_order_relaxed) != 0;
}

/* Counts the release of a buffer that does not exist: a double or unknown one, or one that the parent had before the
 * fork. Returns -ENOENT. */
int tdm_writer_bad_free(
	struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t id, uint32_t thread);

/* Frees every live buffer of a kind with an id that agrees with `id` in the bits of `mask`, and calls `freed` (may be
 * NULL) before each. Returns their number, or a negative code. */
int64_t tdm_writer_free_all(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t mask,
	uint64_t id, void (*freed)(uint32_t kind, uint64_t asked, uint64_t bank_bytes, bool is_view));

/* Records an event that changes no buffer: out of memory (id 0), a phase or a program (`name`). */
int tdm_writer_note(struct tdm_wdevice *device, struct tdm_wthread *self, enum tdm_ledger_op op,
	const struct tdm_report *report, uint32_t thread);

int tdm_writer_describe(struct tdm_wdevice *device, struct tdm_wthread *self, const char *card, const uint64_t *chip_id,
	uint32_t grid_x, uint32_t grid_y, const struct tdm_ledger_region *regions, uint32_t region_count);

/*
 * Notes of the process (writer_notes.c). The first gives a counter its name and makes room for it; then anybody adds to
 * its value, which never moves. The other notes a remark, once. 0 or -errno.
 */
int tdm_writer_name_counter(struct tdm_writer *writer, unsigned i, const char *name);
int tdm_writer_remark(struct tdm_writer *writer, const char *text);
static inline uint64_t *tdm_writer_counter(struct tdm_writer *writer, unsigned i)
{
	struct tdm_ledger_notes *notes = atomic_load_explicit(&writer->notes, memory_order_acquire);
	bool is_named = notes != NULL && i < TDM_LEDGER_NOTE_COUNTERS &&
			atomic_load_explicit((_Atomic uint32_t *)&notes->counters[i].text, memory_order_relaxed) != 0;
	return is_named ? &notes->counters[i].value : NULL;
}

/*
 * Reports of the runtime (writer_runtime.c, writer_hazards.c): what shared buffers of a kind take together, what its
 * allocator says, and a step of the device or of a trace, with the stack of a replay if somebody waits for it. 0 or a
 * negative code.
 */
int tdm_writer_core_use(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t fullest,
	uint64_t all, uint32_t thread);
int tdm_writer_statistics(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t allocated,
	uint64_t free_bytes, uint64_t largest);
/* A program was refused; `count` and `tsc` are set by this. With a known type, `end` is above `limit`. */
int tdm_writer_clash(struct tdm_wdevice *device, struct tdm_wthread *self, enum tdm_clash_type type,
	const struct tdm_ledger_clash *clash, uint32_t thread);
int tdm_writer_step(struct tdm_wdevice *device, struct tdm_wthread *self, enum tdm_step step, uint64_t number,
	uint32_t thread, uint32_t stack);
bool tdm_writer_has_waiting(const struct tdm_wdevice *device);

/* Parts of these: what follows an allocation; the end of the device's record; and going on with an area of the file. */
void tdm_wruntime_note_alloc(
	struct tdm_wdevice *device, const struct tdm_report *report, const struct tdm_report_extra *extra);
void tdm_wruntime_free(struct tdm_wdevice *device, bool is_small);
int tdm_wruntime_resume(struct tdm_wdevice *device, struct tdm_ledger_runtime *shared, uint64_t offset);

/* Appends a phase record. 0 or -errno. */
int tdm_writer_put_phase(struct tdm_writer *writer, const struct tdm_ledger_phase *phase);

/* The functions of writer_hot.h, not inlined, for any thread. *freed (may be NULL) is the buffer that was freed. A
 * report with TDM_SLOT_ADOPTED is not an allocation of now; -EEXIST if the buffer is live. */
int tdm_writer_alloc_cold(struct tdm_wdevice *device, struct tdm_wthread *self, const struct tdm_report *report,
	const struct tdm_report_extra *extra);
int tdm_writer_free_cold(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t id,
	struct tdm_ledger_slot *freed);

/* A live buffer and its second half, for a caller that is inside; NULL: there is none. */
struct tdm_ledger_slot *tdm_wdevice_find(
	struct tdm_wdevice *device, uint32_t kind, uint64_t id, struct tdm_ledger_more **more);

/* What the live buffers of each kind add up to. False: one is impossible. */
bool tdm_wdevice_sums(const struct tdm_wdevice *device, struct tdm_ledger_now sums[TDM_KIND_COUNT]);

/* When a live buffer was allocated, in ticks; 0: there is none. */
uint64_t tdm_writer_birth(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t id);

/* The newest counters of a kind, read inside the device: its state, its peak since the start, and the one since the
 * last reset. With `resets` that one begins anew at this moment. 0, -EBUSY or -ENOMEM (nothing was reset). */
struct tdm_writer_figures {
	struct tdm_ledger_now now;
	struct tdm_ledger_peak peak, window;
};
int tdm_writer_count(struct tdm_wdevice *device, struct tdm_wthread *self, unsigned kind, struct tdm_writer_figures *to,
	bool resets);

/* Live buffers on all devices that are not virtual. `self` may be inside one: exit() in a signal handler. */
uint64_t tdm_writer_live(struct tdm_writer *writer, struct tdm_wthread *self);

void tdm_writer_lost(struct tdm_writer *writer, enum tdm_ledger_loss loss);

/* The slot with this number and its second half. Segment k begins with slot FIRST * (2^k - 1). */
static inline struct tdm_ledger_slot *tdm_wdevice_slot(
	const struct tdm_wdevice *device, uint32_t slot, struct tdm_ledger_more **more)
{
	uint64_t biased = (uint64_t)slot + TDM_LEDGER_FIRST_SLOTS;
	unsigned k = (63 ^ (unsigned)__builtin_clzll(biased)) - (unsigned)__builtin_ctz(TDM_LEDGER_FIRST_SLOTS);
	*more = (struct tdm_ledger_more *)(device->mores_at[k] + biased * sizeof **more);
	return (struct tdm_ledger_slot *)(device->slots_at[k] + biased * sizeof(struct tdm_ledger_slot));
}

/* Adds slots, or room for spare ones; the caller is inside, here and below. 0 or -errno. */
int tdm_wdevice_grow(struct tdm_wdevice *device);
int tdm_wdevice_spare_grow(struct tdm_wdevice *device);
void tdm_wdevice_push_spare(struct tdm_wdevice *device, uint32_t slot);

/* Sets where the arrays of segment k begin in memory. */
void tdm_wdevice_set_segment(struct tdm_wdevice *device, uint32_t k, void *at);

/* Reserves the pages of all slots in use, and gives back those after them, of a device whose segments and slot_high are
 * known. 0 or -errno. */
int tdm_wdevice_restore_slots(struct tdm_wdevice *device);

/* Gives the pages of the last slots that are reserved and were not used back to the file system. -ENOENT when there are
 * none, or another -errno. */
int tdm_wdevice_release(struct tdm_wdevice *device);
/* The number of slots, at least `count`, after which pages can be given back. */
uint32_t tdm_wdevice_piece_end(uint64_t count);

/* The number of buffers. */
static inline uint32_t tdm_wdevice_live(const struct tdm_wdevice *device)
{
	return device->slot_high - device->spare_count - device->shrink.low_count - device->shrink.high_count;
}

/* For the index: the hash of the buffer in a slot, or only a prefetch of the slot. May move the buffer. */
uint32_t tdm_wdevice_hash_of(void *device, uint32_t *slot, bool only_prefetch);

/* Shrinking: one step (false when nothing can be done before the next commit); what to do when an allocation finds no
 * free slot; when slots were reserved; and forgetting about it, and about all free slots. */
bool tdm_wdevice_shrink_some(struct tdm_wdevice *device);
void tdm_wdevice_shrink_yield(struct tdm_wdevice *device);
void tdm_wdevice_shrink_regrown(struct tdm_wdevice *device);
void tdm_wdevice_shrink_reset(struct tdm_wdevice *device);

#endif
