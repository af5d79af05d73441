/*
 * Writes a ledger. A process has one writer for itself; any thread may report. A daemon has an additional writer for
 * each process on whose behalf it writes.
 *
 * Threads and locks: one thread at a time enters a device, for the few dozen instructions of one report; threads on
 * different devices do not interfere. Entering is cheapest for the device's owner, the thread that used it last: it
 * needs no atomic read-modify-write, because that would wait until all earlier stores have left the processor. The
 * owner notes in its own record that it is inside, then checks that it is still the owner. Another thread that wants to
 * enter takes `lock`, clears `owner`, makes Linux run a barrier on all the process's processors (membarrier), and waits
 * until the old owner's record shows that the owner is outside. After that, threads share the device using `lock`. A
 * thread that is alone on the device for long enough becomes the owner again, but only a few times, so that a warm
 * program makes no system calls.
 *
 * `file_lock` guards the file's size and directories. The lock order is device -> file_lock and blob lock -> file_lock;
 * no lock is taken under file_lock. tdm_writer_renew() takes all locks: the device locks in device order, then the blob
 * lock, then file_lock. Locks are in private memory, so a killed process leaves none in the file.
 *
 * A thread can leave a report in the middle: a signal handler jumps out of the report (siglongjmp), or another thread
 * cancels the reporting thread. That report is lost: the device is marked as torn, and the next thread inside rebuilds
 * the private state from the committed calls. Rare changes with their own state (the file's areas, new texts,
 * descriptions) are guarded against both by tdm_quiet_begin(), so they need no repair. The repair itself is guarded as
 * well.
 *
 * Other processes may be able to write to the file. So the writer keeps everything on which an address or a loop
 * depends in private memory, and never reads it back from the file.
 *
 * Readers rely on the order of stores in a report (layout.h): first everything that contains the new number, then the
 * device's `seq`.
 */
#ifndef TDM_LEDGER_WRITER_H
#define TDM_LEDGER_WRITER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/layout/layout.h"
#include "ledger/layout/guest.h"
#include "ledger/layout/ledger_file.h"
#include "ledger/layout/slot_index.h"

/*
 * ---- texts, stacks and core ranges ----
 *
 * Each blob is stored once; buffers and events refer to it by its number. Any thread may call, under one lock.
 */

struct tdm_blob_cell;

/* The capacity of the blob area, and how many blob numbers there are. */
#define TDM_BLOB_CAPACITY (UINT64_C(256) << 20) /* in bytes */
#define TDM_BLOB_NUMBERS  (TDM_BLOB_CAPACITY / TDM_LEDGER_BLOB_UNIT)

struct tdm_blobs {
	struct tdm_lock lock;
	struct tdm_ledger_file *file; /* borrowed */
	struct tdm_lock *file_lock;   /* taken while the file changes */
	char *segment[TDM_LEDGER_BLOB_SEGMENTS];
	unsigned segment_count;
	uint64_t used; /* bytes used in the area, including skipped segment ends */
	uint64_t capacity;
	/* bytes of the area that may be touched, if pages are reserved on demand; else unused */
	uint64_t reserved;
	struct tdm_blob_cell *cells; /* hash table of blob numbers */
	uint32_t mask, count;
	uint32_t retry; /* new blobs to refuse before the next attempt to get room */
	/*
	 * One bit per blob number, set for 0 and for the numbers of texts. Kept in private memory, because reports rely
	 * on these bits.
	 */
	_Atomic uint64_t *texts;
};

/*
 * Whether the number is 0 or a text's. Any thread may call this function, but must have received the number with proper
 * synchronisation.
 */
static inline bool tdm_blob_is_text(const _Atomic uint64_t *texts, uint32_t number)
{
	return number < TDM_BLOB_NUMBERS &&
	       (atomic_load_explicit(&texts[number / 64], memory_order_relaxed) >> number % 64 & 1) != 0;
}

/* Whether this was a text's number in an earlier ledger of this process or of a parent process. */
bool tdm_blob_was_text(uint32_t number);

int tdm_blobs_init(struct tdm_blobs *blobs, struct tdm_ledger_file *file, struct tdm_lock *file_lock);
/* Continues the blobs of a fully mapped file, whose header has been checked. 0, TDM_ECORRUPT or -errno. */
int tdm_blobs_resume(struct tdm_blobs *blobs, const struct tdm_ledger_header *header);
void tdm_blobs_done(struct tdm_blobs *blobs); /* frees private memory only */
void tdm_blobs_unload(void);                  /* frees the memory shared by all ledgers */

/* The number of this content if it is already stored, else 0. */
uint32_t tdm_blobs_find(struct tdm_blobs *blobs, enum tdm_blob_kind kind, const void *content, size_t bytes);

/* The number of this content, stored if new; 0 if there is no room. `is_new` may be NULL. */
uint32_t tdm_blobs_put(
	struct tdm_blobs *blobs, enum tdm_blob_kind kind, const void *content, size_t bytes, bool *is_new);

/* ---- the writer ---- */

enum { TDM_CACHE_LINE = 64 };
#define tdm_inlined static inline __attribute__((always_inline))

struct tdm_wdevice;
struct tdm_wruntime;
enum { TDM_BY_LOCK = 1 };

/*
 * The writer's record of a thread. Never freed while the process lives, because another thread may be reading the
 * record.
 */
struct tdm_wthread {
	/*
	 * the device that the thread is in, or is entering, as the owner; with TDM_BY_LOCK, the device whose lock the
	 * thread holds
	 */
	_Atomic uintptr_t inside;
	uintptr_t frame; /* the stack pointer when the thread entered as the owner */
	uint32_t thread; /* Linux's thread id */
} __attribute__((aligned(TDM_CACHE_LINE)));

/*
 * Returning the memory of a burst (writer_slots.c). While sorting, `all` is the array of free slots: the device's
 * `spare` is its unsorted part, and `low` receives slots below the cut. While moving, `spare` is the former `low`. Free
 * slots at or above the cut are at the beginning of `all`.
 */
enum tdm_shrink_stage { TDM_SHRINK_NONE, TDM_SHRINK_SORT, TDM_SHRINK_MOVE, TDM_SHRINK_RELEASE };
struct tdm_shrink {
	enum tdm_shrink_stage stage;
	uint32_t cut; /* slots with this number or above are returned */
	uint32_t *all, *low;
	uint32_t all_cap, low_cap;
	uint32_t high_count, low_count;
	uint64_t moved_seq;  /* number of the call that commits the last move */
	uint64_t keep_until; /* shrinking does not begin before this call */
	uint64_t regrown_ns; /* when returned pages were last reserved again; 0 if never */
	uint32_t most;       /* the most slots ever reserved */
};

/* The writer's record of a device, in private memory. */
struct tdm_wdevice {
	struct tdm_wthread *_Atomic owner; /* NULL if the device is shared */
	struct tdm_lock lock;
	struct tdm_wthread *last; /* while the device is shared: the thread that entered last */
	uint32_t streak;          /* how many times in a row that thread has entered */
	uint32_t number;
	struct tdm_ledger_device *shared;
	struct tdm_ledger_record *ring;
	uint64_t ring_mask;     /* number of records minus 1 */
	uint64_t seq;           /* value of the commit word in the file */
	uint32_t slot_high;     /* number of slots in use so far; lowered when slots are given back */
	uint32_t slot_reserved; /* number of slots whose pages are reserved */
	uint32_t spare_count;   /* number of free slots on the stack */
	/* at this count or above, tdm_writer_give_far() must be called; never more than spare_cap */
	uint32_t spare_limit;
	uint32_t *spare;
	struct tdm_slot_index index;
	const _Atomic uint64_t *texts; /* the writer's bits, which show whether a number is a name */
	uint64_t last_tsc;             /* time stamp of the last report that read the clock */
	uint64_t look_at;              /* when to call tdm_writer_look() again, in ticks */
	struct tdm_ledger_now
		*now[TDM_KIND_COUNT]; /* the newer copy of each counter; tdm_other_copy() returns the other */
	struct tdm_ledger_peak *peak[TDM_LEDGER_COUNTERS]; /* the newer copy of each peak */
	/*
	 * The peaks with which a report compares its sums: the peaks since the start, or, in `window`, the peaks since
	 * the last reset, which are never higher.
	 */
	struct tdm_ledger_peak *limit[TDM_LEDGER_COUNTERS];
	struct tdm_ledger_peak (*window)[2];    /* private copies of each peak; NULL until one has been reset */
	struct tdm_ledger_now l1_all;           /* the sum of everything in L1, over all kinds */
	_Atomic uint32_t banks[TDM_KIND_COUNT]; /* number of banks described for each kind; 0 if not described */
	/* Where each segment's arrays would begin if they also contained all earlier segments' slots and
	 * TDM_LEDGER_FIRST_SLOTS more, so that a slot's number alone determines its address. */
	uintptr_t slots_at[TDM_LEDGER_SEGMENTS], mores_at[TDM_LEDGER_SEGMENTS];
	uint64_t segment_offset[TDM_LEDGER_SEGMENTS]; /* offset of each segment in the file */
	uint32_t segment_count;
	uint32_t spare_cap;
	struct tdm_shrink shrink;
	uint32_t retry;       /* reports to skip before the next attempt to get more room */
	uint32_t revocations; /* how often an owner was revoked */
	bool is_hopeless;     /* the last wait for the owner to leave timed out */
	/* A report began but will not finish; it is repaired before the next report. The device then has no owner. */
	_Atomic bool is_torn;
	/* nothing has changed since the lock's holder repaired the device, so it need not be repaired again */
	_Atomic bool is_untouched;
	bool is_virtual;
	uint32_t shared_kinds; /* copy of the member in the file */
	/*
	 * The shared buffers' part of each kind's counters: the bytes of their union across all cores, and in the
	 * fullest core.
	 */
	uint64_t common[TDM_KIND_COUNT][2];
	struct tdm_wruntime *_Atomic runtime; /* the runtime's reports; NULL until the first */
	uint32_t runtime_retry;               /* runtime reports to refuse before the next attempt to get room */
	struct tdm_writer *writer;
	char pad[TDM_CACHE_LINE];
} __attribute__((aligned(TDM_CACHE_LINE)));

enum { TDM_WRITER_WINDOW_BYTES = TDM_LEDGER_COUNTERS * 2 * sizeof(struct tdm_ledger_peak) };
enum { TDM_WRITER_THREADS = 4096 };  /* maximum number of threads that can be owners; others use the lock */
enum { TDM_WRITER_RING_SMALL = 32 }; /* ring records in a ledger on behalf: as many as fit in the device's pages */
enum { TDM_WRITER_NUMBERS = 256 };   /* device numbers that can be found without a search, including virtual ones */

struct tdm_writer {
	struct tdm_ledger_file file;
	struct tdm_lock file_lock;
	struct tdm_blobs blobs;
	struct tdm_wdevice *_Atomic by_number[TDM_WRITER_NUMBERS];
	/* In ledger order, with NULL after the last device. */
	struct tdm_wdevice *_Atomic devices[TDM_LEDGER_DEVICES + 1];
	uint32_t device_count;
	uint32_t device_retry; /* new devices to refuse before the next attempt to get room */
	struct tdm_ledger_phase *phase_segment[TDM_LEDGER_BLOB_SEGMENTS];
	uint32_t phase_segments, phase_count;
	struct tdm_ledger_notes *_Atomic notes; /* NULL until the first note */
	_Atomic uint32_t remark_count;
	/* number of existing traces on all devices; if not 0, allocations take the slow path */
	_Atomic uint32_t captured;
	uint32_t notes_retry; /* notes to refuse before the next attempt to get room */
	struct tdm_wthread *threads;
	uint32_t thread_cap;
	_Atomic uint32_t thread_count;
	uint32_t ring_records;    /* ring size for new devices */
	_Atomic uint64_t look_ns; /* when to check again whether the file still exists */
	_Atomic bool is_gone;     /* the file was deleted, so tdm_writer_renew() must be called */
	/* number of calls when recreating the file failed, plus 1; 0 if the file exists */
	_Atomic uint64_t stranded_from;
	/* called inside a device when the file's deletion is noticed; may be NULL */
	void (*gone)(struct tdm_writer *writer);
	bool can_own; /* whether Linux supports the barrier that owners rely on */
	/* the parent's indexes at the time of the fork, one per device; may be NULL */
	struct tdm_slot_index *inherited;
	unsigned inherited_count;
	struct tdm_wthread only; /* for a ledger on behalf: the record of the daemon's only writing thread */
};

/*
 * A report about a buffer. Its layout is that of the public structure (client/api.c asserts this), so the hot path
 * reads the caller's structure without copying it.
 */
struct tdm_report {
	uint32_t size, device;
	uint32_t kind, flags; /* TDM_SLOT_* */
	uint64_t id, address, asked;
	uint64_t bank_bytes; /* as passed by the caller, like `banks`; tdm_report_extra has the values actually used */
	uint32_t banks;
	uint32_t holding, page_size, cores;
	uint32_t name; /* blob number of the name */
	uint32_t range_count;
	const void *ranges;
	const uint64_t *frames;
	uint32_t frame_count, reserved;
} __attribute__((may_alias));

/* What the library adds to a report. */
struct tdm_report_extra {
	uint32_t thread;
	uint32_t banks;                  /* banks in lockstep; 0 for a view */
	uint64_t bank_bytes;             /* used instead of the report's own value, which may be 0 */
	uint32_t program, stack, ranges; /* blob numbers */
	/* a live buffer with this kind and id is replaced on purpose, which is not a fault */
	bool replaces;
	struct tdm_ledger_slot *old; /* receives the replaced buffer, if any; may be NULL */
};

struct tdm_writer_options {
	const char *dir; /* directory with the folders of all users */
	uint32_t mode;   /* permissions of the ledger file */
	/* ring size of each device, a power of two; 0: TDM_LEDGER_RING, or TDM_WRITER_RING_SMALL on behalf */
	uint32_t ring_records;
	uint32_t flags;                  /* header flags: which settings were invalid */
	const struct tdm_behalf *behalf; /* the process for which the ledger is written; NULL for this one */
};

/* Makes a writer. Returns 0 and sets *out, or returns -errno. The writer is not allocated with malloc. */
int tdm_writer_new(const struct tdm_writer_options *options, struct tdm_writer **out);

/*
 * Continues a ledger written on behalf of a process by an earlier writer, which must have ended; keeps everything
 * committed. Only the option `ring_records` is used, for new devices. Returns 0 and sets *out; -EBUSY: the ledger's
 * writer is still running, or another process holds its open file; -EAGAIN: the writer ended before setting up the
 * ledger, so the ledger is empty; -ESHUTDOWN: it was closed; -ESTALE: it is from an earlier boot, or its process
 * continued in another ledger; -EPERM: it belongs to another user, or others can write to it; -EINVAL: it is not on
 * behalf of the process in its name; TDM_ECORRUPT or TDM_EVERSION; or another -errno.
 */
int tdm_writer_resume(const char *path, const struct tdm_writer_options *options, struct tdm_writer **out);

/*
 * Like tdm_writer_resume(), but retries until `end_ns` (monotonic clock) while the result is -EBUSY. A killed writer's
 * lock outlives the writer for a moment if another process has the file open, such as a child that has not run yet.
 */
int tdm_writer_resume_until(
	const char *path, const struct tdm_writer_options *options, uint64_t end_ns, struct tdm_writer **out);

/* Parts of the two functions above: allocate the private memory of a writer, and of a device. NULL if out of memory. */
struct tdm_writer *tdm_writer_make(const struct tdm_writer_options *options, bool is_small);
struct tdm_wdevice *tdm_wdevice_make(struct tdm_writer *writer, uint32_t number, bool is_virtual);
void tdm_wdevice_free(struct tdm_wdevice *device);

/*
 * Closes the ledger when its process has ended or is ending. The buffers stay in the ledger for post-mortem analysis.
 */
void tdm_writer_end(struct tdm_writer *writer);

/*
 * For a forked child with its own `writer`: keeps the parent's indexes, to recognise inherited buffers, and frees the
 * rest of the parent's writer. The parent's threads may have been at any instruction when it forked.
 */
void tdm_writer_adopt(struct tdm_writer *writer, struct tdm_writer *parent);

/* Closes the file and frees everything. The writer must not be used afterwards. */
void tdm_writer_free(struct tdm_writer *writer);

/*
 * Recreates the deleted ledger with all its content; the caller must be outside all devices. 0 or -errno. After an
 * error, reports continue into the old file, which nobody can open; nothing is lost if a later attempt succeeds.
 */
int tdm_writer_renew(struct tdm_writer *writer);

/*
 * The number of calls that no reader can see, because the ledger was deleted and could not be recreated. Returns 0
 * again once the ledger has been recreated.
 */
uint64_t tdm_writer_stranded(struct tdm_writer *writer);

/* The i-th device, or NULL after the last device. */
static inline struct tdm_wdevice *tdm_writer_get_device(struct tdm_writer *writer, unsigned i)
{
	return atomic_load_explicit(&writer->devices[i], memory_order_acquire);
}

/* The device with this number, or NULL. */
struct tdm_wdevice *tdm_writer_find_device(struct tdm_writer *writer, uint32_t number, bool is_virtual);

/* The device with this number, made if necessary. Virtual devices are numbered separately. NULL if there is no room;
 * the report then counts as lost. */
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
 * The stack pointer of the calling function. A report that began with a lower stack pointer on the same stack has
 * ended, normally or not.
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

/* For a thread that jumped out of a report: releases the thread's locks and device. True if the thread was in a device;
 * the next thread in that device then counts the report as lost. Here and during a repair, the caller must be guarded
 * by tdm_quiet_begin(). */
bool tdm_writer_abandon(struct tdm_writer *writer, struct tdm_wthread *self);

/* Restores a torn device to its state before the interrupted report; the caller is inside the device. 0 or -errno. */
int tdm_wdevice_repair(struct tdm_wdevice *device);

/* Rebuilds a device's private state from the committed calls; the device's slots must be known. 0 or -errno. */
int tdm_wdevice_rebuild(struct tdm_wdevice *device);

/* Returns a record for the calling thread to keep; NULL if none are left. */
struct tdm_wthread *tdm_writer_thread(struct tdm_writer *writer);

/* For entering and leaving a device; `self` may be NULL. TDM_NOT_ENTERED: another thread has been inside for so long
 * that it is not expected to leave. */
enum tdm_entered { TDM_NOT_ENTERED, TDM_AS_OWNER, TDM_WITH_LOCK };
enum tdm_entered tdm_wdevice_enter_slow(struct tdm_wdevice *device, struct tdm_wthread *self);
void tdm_wdevice_leave_slow(struct tdm_wdevice *device, struct tdm_wthread *self);
/* Enters the device if the thread is its owner; else returns false. */
tdm_inlined bool tdm_wdevice_enter_as_owner(struct tdm_wdevice *device, struct tdm_wthread *self)
{
	uintptr_t here = tdm_stack_pointer();
	do { /* repeated if a signal handler reported in between and left its own frame */
		self->frame = here;
		atomic_signal_fence(memory_order_seq_cst);
		atomic_store_explicit(&self->inside, (uintptr_t)device, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst); /* pairs with the membarrier in tdm_wdevice_enter_slow() */
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

/* Whether the thread is inside a device, for example in a signal handler that interrupted the thread there. */
static inline bool tdm_wthread_is_inside(const struct tdm_wthread *self)
{
	return atomic_load_explicit(&self->inside, memory_order_relaxed) != 0;
}

/*
 * Counts the release of a buffer that is not live: a double free, an unknown buffer, or a buffer that the parent
 * allocated before the fork. Returns -ENOENT.
 */
int tdm_writer_bad_free(
	struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t id, uint32_t thread);

/*
 * Frees every live buffer of a kind whose id equals `id` in the bits set in `mask`, and calls `freed` (may be NULL)
 * before each release. Returns the number freed, or a negative code.
 */
int64_t tdm_writer_free_all(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t mask,
	uint64_t id, void (*freed)(uint32_t kind, uint64_t asked, uint64_t bank_bytes, bool is_view));

/* Records an event that changes no buffer: out of memory (id 0), or a phase or a program (`name`). */
int tdm_writer_note(struct tdm_wdevice *device, struct tdm_wthread *self, enum tdm_ledger_op op,
	const struct tdm_report *report, uint32_t thread);

int tdm_writer_describe(struct tdm_wdevice *device, struct tdm_wthread *self, const char *card, const uint64_t *chip_id,
	uint32_t grid_x, uint32_t grid_y, const struct tdm_ledger_region *regions, uint32_t region_count);

/*
 * The process's notes. The first function names a counter and makes room for it; after that, any thread may add to the
 * counter's value, which never moves in memory. The other function stores a remark, once. 0 or -errno.
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
 * The runtime's reports (writer_runtime.c): the bytes of a kind's shared buffers, its allocator's statistics, and a
 * step of the device or of a trace, with the stack of a replay if buffers are waiting for one. 0 or a negative code.
 */
int tdm_writer_core_use(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t fullest,
	uint64_t all, uint32_t thread);
int tdm_writer_statistics(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t allocated,
	uint64_t free_bytes, uint64_t largest);
/* Reports that a program was refused; this function sets `count` and `tsc`. If the type is known, `end` is above
 * `limit`. */
int tdm_writer_clash(struct tdm_wdevice *device, struct tdm_wthread *self, enum tdm_clash_type type,
	const struct tdm_ledger_clash *clash, uint32_t thread);
int tdm_writer_step(struct tdm_wdevice *device, struct tdm_wthread *self, enum tdm_step step, uint64_t number,
	uint32_t thread, uint32_t stack);
bool tdm_writer_has_waiting(const struct tdm_wdevice *device);

/*
 * Parts of the functions above: the work after an allocation, freeing the device's private record, and continuing an
 * area of the file.
 */
void tdm_wruntime_note_alloc(
	struct tdm_wdevice *device, const struct tdm_report *report, const struct tdm_report_extra *extra);
void tdm_wruntime_free(struct tdm_wdevice *device, bool is_small);
int tdm_wruntime_resume(struct tdm_wdevice *device, struct tdm_ledger_runtime *shared, uint64_t offset);

/* Appends a phase record. 0 or -errno. */
int tdm_writer_put_phase(struct tdm_writer *writer, const struct tdm_ledger_phase *phase);

/* The functions from writer_hot.h, not inlined, and callable by any thread. *freed (may be NULL) receives the freed
 * buffer. A report with TDM_SLOT_ADOPTED is about an older allocation; -EEXIST if the buffer is already live. */
int tdm_writer_alloc_cold(struct tdm_wdevice *device, struct tdm_wthread *self, const struct tdm_report *report,
	const struct tdm_report_extra *extra);
int tdm_writer_free_cold(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t id,
	struct tdm_ledger_slot *freed);

/* A live buffer and its second half, for a caller inside the device; NULL if it is not live. */
struct tdm_ledger_slot *tdm_wdevice_find(
	struct tdm_wdevice *device, uint32_t kind, uint64_t id, struct tdm_ledger_more **more);

/* The sums of the live buffers of each kind. False if a buffer is implausible. */
bool tdm_wdevice_sums(const struct tdm_wdevice *device, struct tdm_ledger_now sums[TDM_KIND_COUNT]);

/* When a live buffer was allocated, in ticks; 0 if it is not live. */
uint64_t tdm_writer_birth(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t id);

/* The newest counters of a kind, read inside the device: the current state, the peak since the start, and the peak
 * since the last reset. If `resets` is set, the peak since the last reset starts over now. 0, -EBUSY or -ENOMEM
 * (nothing was reset). */
struct tdm_writer_figures {
	struct tdm_ledger_now now;
	struct tdm_ledger_peak peak, window;
};
int tdm_writer_count(struct tdm_wdevice *device, struct tdm_wthread *self, unsigned kind, struct tdm_writer_figures *to,
	bool resets);

/* The number of live buffers on all real devices. `self` may be inside a device, as when a signal handler calls
 * exit(). */
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

/* Adds slots, or room for spare slots; here and below, the caller is inside the device. 0 or -errno. */
int tdm_wdevice_grow(struct tdm_wdevice *device);
int tdm_wdevice_spare_grow(struct tdm_wdevice *device);
void tdm_wdevice_push_spare(struct tdm_wdevice *device, uint32_t slot);

/* Sets where the arrays of segment k begin in memory. */
void tdm_wdevice_set_segment(struct tdm_wdevice *device, uint32_t k, void *at);

/*
 * For a device whose segments and slot_high are known: reserves the pages of all slots in use, and returns all later
 * pages to the file system. 0 or -errno.
 */
int tdm_wdevice_restore_slots(struct tdm_wdevice *device);

/* The number of live buffers. */
static inline uint32_t tdm_wdevice_live(const struct tdm_wdevice *device)
{
	return device->slot_high - device->spare_count - device->shrink.low_count - device->shrink.high_count;
}

/* For the index: returns the hash of the buffer in a slot, or only prefetches the slot. May move the buffer to
 * another slot. */
uint32_t tdm_wdevice_hash_of(void *device, uint32_t *slot, bool only_prefetch);

/*
 * The first function does one step of shrinking, and returns false if nothing can be done before the next commit. The
 * second makes way for an allocation that finds no free slot. The third abandons the shrinking together with all free
 * slots.
 */
bool tdm_wdevice_shrink_some(struct tdm_wdevice *device);
void tdm_wdevice_shrink_yield(struct tdm_wdevice *device);
void tdm_wdevice_shrink_reset(struct tdm_wdevice *device);

#endif
