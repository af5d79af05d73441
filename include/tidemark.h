/*
 * libtidemark: accounts for every byte of a Tenstorrent accelerator's memory, from inside the program that uses it.
 *
 * A program (or the runtime below it) reports each buffer when it is allocated and when it is released. The library
 * keeps exact counters, peaks, every live buffer and the most recent events in one shared-memory file, the ledger,
 * which `tidemark` can read at any time, even after the program has been killed. Once warm, a report takes tens of
 * nanoseconds and makes no system call, except one twice a second that checks whether the ledger was deleted: if so,
 * the ledger is recreated with all its content. While tracking is off, a report costs one predictable branch.
 *
 * The library never aborts or blocks the program, and prints only on request. It does not call malloc (libunwind and
 * the Python interpreter may, if they are present and call stacks are on), preserves errno, and sets no signal
 * handlers. It counts the reports that it cannot record (tidemark_lost()). All functions may be called from any thread,
 * before main, after exit, and in a forked child, which gets its own ledger at its first report. A call from a signal
 * handler that interrupted the library counts as lost; so does a report cut short by siglongjmp from a handler or by
 * pthread_cancel.
 *
 * Tracking is off until it is turned on, by the environment or by tidemark_enable():
 *   TIDEMARK=1                     on             TIDEMARK=auto   on if a daemon is listening
 *   TT_ALLOC_TRACKING_ENABLED=1    the same       TIDEMARK=0      off, regardless of the other variable
 *   TIDEMARK_SOCKET=PATH           where TIDEMARK=auto looks for the daemon
 *   TIDEMARK_DIR=/dev/shm          directory for ledgers, with a folder for each user
 *   TIDEMARK_KEEP=1                keep the ledger even after a clean exit
 *   TIDEMARK_MODE=0600             ledger file permissions: 0600, 0640, 0604 or 0644
 *   TIDEMARK_RING=2048             number of recent events kept for each device
 *   TIDEMARK_STACKS=0              call-stack frames kept with each allocation, at most 64; 0: none
 *   TIDEMARK_UNWIND=auto           auto (libunwind if it is installed, else frame pointers), fp, libunwind;
 *                                  a static program always uses frame pointers
 *
 * Unless stated otherwise, functions return 0 on success (and when tracking is off) or a negative code;
 * tidemark_strerror() returns its text. The result may be ignored: nothing is lost silently. If there is no ledger, the
 * code gives the reason: -ENOTDIR (its directory is missing), -EACCES, -EMFILE (no descriptor left), -ENOSPC, ….
 *
 * Structures begin with their size, so that programs and libraries of different versions work together. Start from
 * TIDEMARK_BUFFER_INIT and the like, or set `size` to sizeof the structure and everything unknown to 0. Newer versions
 * only add fields at the end. A size below that of version 0.1 is refused (-EINVAL). The library ignores fields that it
 * does not know, and fills at most `size` bytes of a result; unknown fields keep their values. A new field never
 * changes the meaning of existing ones. Such a change needs a flag, and unknown flags are refused. The size of struct
 * tidemark_region is in struct tidemark_device; struct tidemark_core_range never changes.
 *
 * To compile a program without the library, define TIDEMARK_DISABLE before the #include: every call becomes a function
 * that does nothing, and no library is needed. Arguments are still checked and evaluated; compute costly ones under `if
 * (tidemark_is_enabled())`, which is then 0 at compile time. Calls return 0 or "", but get functions fail as if nothing
 * had ever been reported.
 */
#ifndef TIDEMARK_H
#define TIDEMARK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIDEMARK_VERSION_MAJOR  0
#define TIDEMARK_VERSION_MINOR  1
#define TIDEMARK_VERSION_PATCH  0
#define TIDEMARK_VERSION        "0.1.0"
#define TIDEMARK_VERSION_NUMBER (TIDEMARK_VERSION_MAJOR * 10000 + TIDEMARK_VERSION_MINOR * 100 + TIDEMARK_VERSION_PATCH)

#if defined(TIDEMARK_DISABLE)
#include <errno.h>
#define TIDEMARK_API static inline
#elif defined(__GNUC__)
#define TIDEMARK_API __attribute__((visibility("default")))
#else
#define TIDEMARK_API
#endif

/* The version of the running library, which may be newer than this header: as a string ("0.1.0"), and as a number
 * like TIDEMARK_VERSION_NUMBER. */
TIDEMARK_API const char *tidemark_version(void);
TIDEMARK_API uint32_t tidemark_version_number(void);

/* The text for a negative code; never NULL. */
TIDEMARK_API const char *tidemark_strerror(int code);

/*
 * Turning tracking on and off.
 */

/* Private: use tidemark_is_enabled(). Nonzero while tracking is on. */
#if defined(TIDEMARK_DISABLE)
#define tidemark_active_ 0
#else
TIDEMARK_API extern unsigned char tidemark_active_;
#endif

#if defined(__GNUC__)
#define TIDEMARK_LIKELY_OFF_(x) __builtin_expect(!(x), 1)
#else
#define TIDEMARK_LIKELY_OFF_(x) (!(x))
#endif

/* 1 while tracking is on, else 0. */
static inline int tidemark_is_enabled(void)
{
	return tidemark_active_ != 0;
}

/* Turns tracking on for this process, regardless of the environment. Buffers allocated earlier stay unknown unless the
 * program reports them with tidemark_adopt(). */
TIDEMARK_API int tidemark_enable(void);

/* Turns tracking off. The ledger stays, and continues if tracking is turned on again; reports in between are
 * ignored. */
TIDEMARK_API int tidemark_disable(void);

/* The path of this process's ledger, or "" if there is none yet. Valid until the process forks. */
TIDEMARK_API const char *tidemark_ledger_path(void);

/*
 * Devices.
 */

/* The kinds of memory. The numbers never change. */
enum tidemark_kind {
	TIDEMARK_DRAM = 0,
	TIDEMARK_L1 = 1,
	TIDEMARK_L1_SMALL = 2,
	TIDEMARK_TRACE = 3,
	TIDEMARK_CB = 4,  /* circular buffer */
	TIDEMARK_DFB = 5, /* dataflow buffer */
	TIDEMARK_SCRATCHPAD = 6,
	TIDEMARK_KERNEL = 7, /* kernel code */
	TIDEMARK_FIRMWARE = 8,
	TIDEMARK_SYSTEM = 9,  /* host memory pinned for the device */
	TIDEMARK_CONFIG = 10, /* launch messages and arguments */
	TIDEMARK_KIND_COUNT = 11
};

/* "dram", "l1", …; "unknown" if out of range. */
TIDEMARK_API const char *tidemark_kind_name(int kind);

/* One memory region of a device. */
struct tidemark_region {
	uint32_t kind;      /* enum tidemark_kind */
	uint32_t banks;     /* number of banks, or of cores, in lockstep */
	uint64_t base;      /* first address in each bank */
	uint64_t bank_size; /* bytes in each bank */
	uint32_t align;     /* alignment of allocations; 0: unknown */
	uint32_t reserved;  /* must be 0 */
};

/* A device. Start from TIDEMARK_DEVICE_INIT. */
struct tidemark_device {
	uint32_t size;
	uint32_t number;         /* the runtime's logical device number */
	const char *card;        /* "n150"; NULL: unknown */
	uint64_t chip_id;        /* the chip's unique id; may be 0 */
	uint32_t has_chip_id;    /* 1 when chip_id is known */
	uint32_t grid_x, grid_y; /* compute grid */
	uint32_t region_count;
	const struct tidemark_region *regions;
	uint32_t region_size; /* sizeof(struct tidemark_region), the array stride; 0: the size in version 0.1 */
	uint32_t reserved;    /* must be 0 */
};

#define TIDEMARK_DEVICE_INIT                                                                                    \
	{                                                                                                       \
		sizeof(struct tidemark_device), 0, NULL, 0, 0, 0, 0, 0, NULL, sizeof(struct tidemark_region), 0 \
	}

/* Describes a device, before or after its first buffer; a later call replaces the description. Buffers on devices
 * without a description are tracked anyway. */
TIDEMARK_API int tidemark_describe_device(const struct tidemark_device *device);

/*
 * Buffers.
 */

/* A rectangle of cores, including both corners. */
struct tidemark_core_range {
	uint16_t x0, y0, x1, y1;
};

enum {
	TIDEMARK_VIEW = 1,       /* globally allocated or borrowed memory, whose bytes are not counted */
	TIDEMARK_NO_ADDRESS = 2, /* `address` is meaningless (in a capture without dispatch, for example) */
	TIDEMARK_ESTIMATED = 32, /* its real size is unknown: readers count `bytes`, marked as an estimate */
	/* Per-core kinds only: other buffers of the kind may occupy the same bytes, so this one is not added to the
	 * kind's figures; the caller reports the total with tidemark_report_core_use(). */
	TIDEMARK_SHARED = 8,
};

/*
 * A buffer, identified by device, kind and id. The caller chooses the id, which must be unique among the live buffers
 * of that device and kind; the address will do if it is unique. Start from TIDEMARK_BUFFER_INIT.
 */
struct tidemark_buffer {
	uint32_t size;
	uint32_t device;
	uint32_t kind; /* enum tidemark_kind */
	uint32_t flags;
	uint64_t id;
	uint64_t address;
	uint64_t bytes;          /* requested bytes, all banks together */
	uint64_t bytes_per_bank; /* aligned bytes in each bank or core; 0: bytes / banks, rounded up */
	uint32_t banks;          /* banks in lockstep; 0: as described; for per-core kinds, the given cores; else 1 */
	uint32_t holding;        /* number of banks or cores holding a page; 0: all */
	uint32_t page_size;
	uint32_t cores; /* number of cores the buffer is sharded over; 0: interleaved */
	uint32_t name;  /* from tidemark_name(); 0: none */
	uint32_t range_count;
	const struct tidemark_core_range *ranges; /* the buffer's cores, for per-core kinds; NULL: unknown */
	/* The call stack, innermost first, if the caller has one; a frame with bit 63 set is a number from
	 * tidemark_name(). NULL: the library takes the stack if TIDEMARK_STACKS is set. */
	const uint64_t *frames;
	uint32_t frame_count;
	uint32_t reserved; /* must be 0 */
};

#define TIDEMARK_BUFFER_INIT                                                                            \
	{                                                                                               \
		sizeof(struct tidemark_buffer), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0 \
	}

TIDEMARK_API int tidemark_alloc_(const struct tidemark_buffer *buffer);
TIDEMARK_API int tidemark_adopt_(const struct tidemark_buffer *buffer);
TIDEMARK_API int tidemark_free_(uint32_t device, uint32_t kind, uint64_t id);

/* Reports that a buffer has been allocated. */
static inline int tidemark_alloc(const struct tidemark_buffer *buffer)
{
	return TIDEMARK_LIKELY_OFF_(tidemark_active_) ? 0 : tidemark_alloc_(buffer);
}

/*
 * Reports a buffer that was allocated before tracking was turned on. A runtime calls this for each live buffer after
 * tidemark_enable(). The buffer is live and counts in current figures and peaks, but it is not a new allocation: it
 * does not count in `allocs`, in the phase tracker or as growth, and its age is unknown. Returns -EEXIST and changes
 * nothing if a live buffer already has this device, kind and id.
 */
static inline int tidemark_adopt(const struct tidemark_buffer *buffer)
{
	return TIDEMARK_LIKELY_OFF_(tidemark_active_) ? 0 : tidemark_adopt_(buffer);
}

/* Reports that a buffer has been released. Returns -ENOENT if there is no such buffer; that counts as a double or
 * unknown free. */
static inline int tidemark_free(uint32_t device, uint32_t kind, uint64_t id)
{
	return TIDEMARK_LIKELY_OFF_(tidemark_active_) ? 0 : tidemark_free_(device, kind, id);
}

/* Releases every live buffer of a kind on a device, for example a program's circular buffers. Returns the number
 * released, or a negative code. */
TIDEMARK_API int64_t tidemark_free_all(uint32_t device, uint32_t kind);

/* Releases the live buffers of a kind on a device for which (id & mask) == value, for example all buffers of one of the
 * device's allocators. Searches all of the device's buffers. Returns the number released, or a negative code. */
TIDEMARK_API int64_t tidemark_free_matching(uint32_t device, uint32_t kind, uint64_t mask, uint64_t value);

/* An id for an item in the L1 of one core, composed of the core's coordinates and the address. */
static inline uint64_t tidemark_core_id(uint32_t x, uint32_t y, uint64_t address)
{
	return (uint64_t)(x & 0xffff) << 48 | (uint64_t)(y & 0xffff) << 32 | (address & 0xffffffffu);
}

/*
 * Returns a number for a string, for use in tidemark_buffer.name; 0 if tracking is off or there is no room. Equal
 * strings get the same number until the process ends; a forked child has its own numbers. Any other number is refused
 * as a name (-EINVAL). At most 255 bytes are kept.
 */
TIDEMARK_API uint32_t tidemark_name(const char *text);

/* The number for this source location, "file:line", looked up once per process. An expression of type uint32_t. */
#if defined(TIDEMARK_DISABLE)
#define TIDEMARK_SITE() ((uint32_t)0)
#define tidemark_epoch_ 0
#elif defined(__GNUC__)
#define TIDEMARK_STRING_(x) #x
#define TIDEMARK_STRING(x)  TIDEMARK_STRING_(x)
#define TIDEMARK_SITE()                                                                 \
	__extension__({                                                                 \
		static uint64_t tidemark_site_;                                         \
		tidemark_site(&tidemark_site_, __FILE__ ":" TIDEMARK_STRING(__LINE__)); \
	})
#endif
TIDEMARK_API uint32_t tidemark_site_slow_(uint64_t *cache, const char *text);
#if !defined(TIDEMARK_DISABLE)
TIDEMARK_API extern uint32_t tidemark_epoch_; /* private: changes when names must be looked up again */
#endif
static inline uint32_t tidemark_site(uint64_t *cache, const char *text)
{
	uint64_t seen = *cache;
	if (TIDEMARK_LIKELY_OFF_(tidemark_active_))
		return 0;
	return (uint32_t)(seen >> 32) == tidemark_epoch_ ? (uint32_t)seen : tidemark_site_slow_(cache, text);
}

/* Reports that an allocation failed for lack of memory. States the number of bytes requested, and the number that each
 * bank would have had to hold (0: unknown). */
TIDEMARK_API int tidemark_out_of_memory(uint32_t device, uint32_t kind, uint64_t bytes, uint64_t bytes_per_bank);

/*
 * A refusal of a program's circular buffers, or of other buffers at fixed places in L1, because they grew into L1
 * buffers or beyond the end of L1. Addresses are relative to a core's L1; 0: unknown. Start from TIDEMARK_CLASH_INIT.
 */
struct tidemark_clash {
	uint32_t size;                    /* sizeof(struct tidemark_clash) */
	uint32_t device;                  /* logical number */
	uint32_t kind;                    /* TIDEMARK_CB or TIDEMARK_DFB */
	uint32_t program;                 /* from tidemark_name(); 0: the thread's program */
	uint64_t begin, end;              /* addresses where the circular buffers begin and end */
	uint64_t l1_lowest;               /* address of the lowest L1 buffer */
	uint64_t l1_size;                 /* size of L1 in bytes, which is also its end address */
	struct tidemark_core_range cores; /* the first range of cores, */
	uint32_t range_count;             /* and the number of ranges; 0: unknown */
	uint32_t reserved;
};

#define TIDEMARK_CLASH_INIT                                                                        \
	{                                                                                          \
		sizeof(struct tidemark_clash), 0, TIDEMARK_CB, 0, 0, 0, 0, 0, { 0, 0, 0, 0 }, 0, 0 \
	}

/* Reports a refusal. It does not count as a failed allocation, and the buffers were never live. */
TIDEMARK_API int tidemark_report_clash(const struct tidemark_clash *clash);

/* Names the program or operation that this thread runs from now on; it is recorded with each buffer. NULL: none. */
TIDEMARK_API int tidemark_program(const char *name);

/* Like tidemark_program(), but takes a number from tidemark_name() (0: none) and adds no event to the time line.
 * Returns the previous number, so that a caller can restore it. An unknown number counts as 0. */
TIDEMARK_API uint32_t tidemark_swap_program(uint32_t name);

/* Marks the start of a phase on every device's time line. */
TIDEMARK_API int tidemark_phase(const char *name);

/* The memory that this process holds, according to its own ledger. Start from TIDEMARK_USAGE_INIT. */
struct tidemark_usage {
	uint32_t size, reserved;
	uint64_t bytes, peak_bytes;           /* bytes reserved on the device, now and at the peak */
	uint64_t asked_bytes;                 /* requested bytes */
	uint64_t bank_bytes, peak_bank_bytes; /* bytes in one bank or core, now and at the peak */
	uint64_t buffers;
	uint64_t allocs, frees; /* counts since the start; `frees` includes adopted buffers */
	uint64_t double_frees, unknown_frees, rereports, out_of_memory;
	uint64_t adopted; /* buffers reported by tidemark_adopt() */
	/* The highest values since tidemark_reset_peak(), or since the start. */
	uint64_t window_peak_bytes, window_peak_bank_bytes, window_peak_asked_bytes, window_peak_buffers;
	uint64_t alloc_bytes, alloc_asked_bytes; /* totals since the start, including adopted buffers */
};

#define TIDEMARK_USAGE_INIT                                                                               \
	{                                                                                                 \
		sizeof(struct tidemark_usage), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
	}

/* The usage of one kind on one device. -ENODEV, with all figures 0, if nothing was ever reported for that device;
 * -EBUSY if another thread was stopped in the middle of a report on it. */
TIDEMARK_API int tidemark_get_usage(uint32_t device, uint32_t kind, struct tidemark_usage *usage);

/*
 * Restarts the `window_peak` figures of a kind on a device at the current usage; the ledger's peaks since the start are
 * unaffected. `before` (may be NULL) receives the usage at that moment, so no change falls between two windows. Returns
 * the codes of tidemark_get_usage(), or -ENOMEM with nothing reset. A forked child starts with new figures.
 */
TIDEMARK_API int tidemark_reset_peak(uint32_t device, uint32_t kind, struct tidemark_usage *before);

/* Lists all reported device numbers, in the order of their first reports. Returns the number of devices, and stores at
 * most `cap` of them. */
TIDEMARK_API size_t tidemark_devices(uint32_t *numbers, size_t cap);

/* The number of events that could not be recorded, for any reason. If the ledger was deleted and cannot be
 * recreated, this includes all events since then, which no reader can see; if it is recreated later, they are no
 * longer lost. */
TIDEMARK_API uint64_t tidemark_lost(void);

/*
 * For runtimes, and for hooks in them.
 */

/* Reports the runtime allocator's own statistics for a kind, in bytes of one bank: allocated, free, and the largest
 * free block. They are kept beside the figures from reported buffers, and readers show differences. */
TIDEMARK_API int tidemark_report_statistics(
	uint32_t device, uint32_t kind, uint64_t allocated, uint64_t free, uint64_t largest);

/* Reports the bytes of L1 taken by all TIDEMARK_SHARED buffers of a per-core kind: in the fullest core, and in all
 * cores. The kind's figures are these bytes plus its other buffers. */
TIDEMARK_API int tidemark_report_core_use(uint32_t device, uint32_t kind, uint64_t fullest, uint64_t all);

/*
 * Steps in the life of a device and of the traces captured on it. `number` is the trace's id; for
 * TIDEMARK_DEVICE_CLOSED, the number of live buffers that the close releases; else 0. A trace exists from
 * TIDEMARK_TRACE_ENDED to TIDEMARK_TRACE_RELEASED or TIDEMARK_DEVICE_CLOSED; a buffer in DRAM, L1 or L1_SMALL that is
 * allocated meanwhile may be overwritten by a replay, which readers show as a finding. A trace replayed without a
 * reported capture is treated as existing from that replay onwards.
 */
enum tidemark_step {
	TIDEMARK_DEVICE_OPENED = 1,
	TIDEMARK_DEVICE_CLOSED = 2,
	TIDEMARK_TRACE_BEGAN = 3,
	TIDEMARK_TRACE_ENDED = 4,
	TIDEMARK_TRACE_REPLAYED = 5,
	TIDEMARK_TRACE_RELEASED = 6
};
TIDEMARK_API int tidemark_step(uint32_t device, uint32_t step, uint64_t number);

/* A named counter of the process, which `tidemark doctor` shows. The same name gives the same number until the process
 * ends; 0 if tracking is off or there is no room (at most 255 counters). A forked child may use its parent's numbers;
 * its counts begin at 0. Counting takes no lock and is safe in a signal handler; counter 0 counts nothing. */
TIDEMARK_API uint32_t tidemark_counter(const char *name);
TIDEMARK_API int tidemark_count(uint32_t counter, uint64_t more);

/* Leaves a remark about this process for readers, for example about memory that the process cannot see. Identical texts
 * are kept only once; texts are cut to 255 bytes; -ENOSPC after 64 remarks. */
TIDEMARK_API int tidemark_remark(const char *text);

/*
 * The short interface: kernels, and circular buffers by number, for hooks that know nothing else about them.
 */

/* Reports that a kernel's code was loaded on cores of this type (0 worker, 1 Ethernet). Reports are added up;
 * tidemark_free_all() releases them. */
TIDEMARK_API int tidemark_report_kernel(uint32_t device, uint64_t bytes, uint32_t core_type);

/*
 * Reports a new circular buffer of `bytes` on each core of a range (NULL: unknown cores). `buffer_index` is its number
 * in the program; programs on different cores may use the same numbers, so number and range identify it. A second
 * report with the same number and range replaces the first; a report with any other range describes a different
 * circular buffer, even if the ranges overlap. With a range, the number must be below 2^31 and no coordinate above 255
 * (-EINVAL).
 */
TIDEMARK_API int tidemark_report_cb(
	uint32_t device, uint64_t bytes, uint32_t buffer_index, const struct tidemark_core_range *cores);

/* Reports the release of a circular buffer. `bytes` is unused and may be 0. A NULL range releases all circular buffers
 * with this number, on any cores; this requires searching all of the device's buffers. Returns -ENOENT if there is
 * none. */
TIDEMARK_API int tidemark_report_cb_free(
	uint32_t device, uint64_t bytes, uint32_t buffer_index, const struct tidemark_core_range *cores);

/*
 * The phase tracker: memory use between snapshots, by the rules of tt-train's MemoryUsageTracker. A process has one
 * capture at a time; it sees the reports of all threads.
 */

enum tidemark_capture_mode {
	TIDEMARK_CAPTURE_NORMAL = 0,
	TIDEMARK_CAPTURE_NO_DISPATCH =
		1, /* only adds up reports; places nothing, and nothing counts as device memory */
};

/* Errors of the tracker; tidemark_strerror() has the texts. */
enum {
	TIDEMARK_ECAPTURE_ACTIVE = -1100,   /* a capture is already active */
	TIDEMARK_ECAPTURE_INACTIVE = -1101, /* no capture is active */
	TIDEMARK_ETRACE_NOT_FOUND = -1102,  /* no segment has that name */
	TIDEMARK_ETRACE_AMBIGUOUS = -1103,  /* several segments share that name */
};

/* The figures of one segment, in bytes, relative to its start. Start from TIDEMARK_SEGMENT_INIT. */
struct tidemark_segment {
	uint32_t size, reserved;
	const char *name; /* valid until tidemark_capture_clear() */
	int64_t dram_peak, dram_allocations, dram_deallocations;
	int64_t l1_peak_cb, l1_peak_buffer, l1_peak_total;     /* bytes per core */
	int64_t dram_cumulative_peak, dram_cumulative_current; /* bytes, over all segments so far */
	int64_t l1_peak_dfb, l1_peak_scratchpad;               /* bytes per core; included in l1_peak_total */
};

#define TIDEMARK_SEGMENT_INIT                                                          \
	{                                                                              \
		sizeof(struct tidemark_segment), 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
	}

TIDEMARK_API int tidemark_capture_begin(int mode); /* turns tracking on if it is off */
TIDEMARK_API int tidemark_capture_snapshot(
	const char *name); /* ends the current segment under this name and begins the next */
TIDEMARK_API int tidemark_capture_end(const char *name); /* NULL: "END_TRACE"; does nothing without a capture */
TIDEMARK_API int tidemark_capture_is_active(void);
TIDEMARK_API int tidemark_capture_clear(void); /* removes all segments and ends the capture */
TIDEMARK_API size_t tidemark_capture_count(void);
/* The i-th finished segment. Returns 0 or -ERANGE. */
TIDEMARK_API int tidemark_capture_get(size_t i, struct tidemark_segment *segment);
/* The only segment with that name. Returns 0, TIDEMARK_ETRACE_NOT_FOUND or TIDEMARK_ETRACE_AMBIGUOUS. */
TIDEMARK_API int tidemark_capture_find(const char *name, struct tidemark_segment *segment);
/* The number of segments with that name. */
TIDEMARK_API size_t tidemark_capture_count_named(const char *name);
/* Writes the summary in tt-train's format, NUL-terminated. Returns the full length, even if the text was cut at
 * `cap` - 1. */
TIDEMARK_API size_t tidemark_capture_format(char *dst, size_t cap);
/* Prints that summary on standard output. */
TIDEMARK_API int tidemark_capture_print(void);

#if defined(TIDEMARK_DISABLE)
/* The same functions for programs compiled without the library. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
/* clang-format off */
TIDEMARK_API const char *tidemark_version(void) { return ""; }
TIDEMARK_API uint32_t tidemark_version_number(void) { return 0; }
TIDEMARK_API const char *tidemark_strerror(int code) { return ""; }
TIDEMARK_API int tidemark_enable(void) { return 0; }
TIDEMARK_API int tidemark_disable(void) { return 0; }
TIDEMARK_API const char *tidemark_ledger_path(void) { return ""; }
TIDEMARK_API const char *tidemark_kind_name(int kind) { return ""; }
TIDEMARK_API int tidemark_describe_device(const struct tidemark_device *device) { return 0; }
TIDEMARK_API int tidemark_alloc_(const struct tidemark_buffer *buffer) { return 0; }
TIDEMARK_API int tidemark_adopt_(const struct tidemark_buffer *buffer) { return 0; }
TIDEMARK_API int tidemark_free_(uint32_t device, uint32_t kind, uint64_t id) { return 0; }
TIDEMARK_API int64_t tidemark_free_all(uint32_t device, uint32_t kind) { return 0; }
TIDEMARK_API uint32_t tidemark_name(const char *text) { return 0; }
TIDEMARK_API uint32_t tidemark_site_slow_(uint64_t *cache, const char *text) { return 0; }
TIDEMARK_API int tidemark_out_of_memory(uint32_t device, uint32_t kind, uint64_t bytes, uint64_t bytes_per_bank)
{ return 0; }
TIDEMARK_API int64_t tidemark_free_matching(uint32_t device, uint32_t kind, uint64_t mask, uint64_t value)
{ return 0; }
TIDEMARK_API int tidemark_report_clash(const struct tidemark_clash *clash) { return 0; }
TIDEMARK_API int tidemark_report_statistics(
	uint32_t device, uint32_t kind, uint64_t allocated, uint64_t free, uint64_t largest)
{ return 0; }
TIDEMARK_API int tidemark_report_core_use(uint32_t device, uint32_t kind, uint64_t fullest, uint64_t all)
{ return 0; }
TIDEMARK_API int tidemark_step(uint32_t device, uint32_t step, uint64_t number) { return 0; }
TIDEMARK_API uint32_t tidemark_counter(const char *name) { return 0; }
TIDEMARK_API int tidemark_count(uint32_t counter, uint64_t more) { return 0; }
TIDEMARK_API int tidemark_remark(const char *text) { return 0; }
TIDEMARK_API int tidemark_program(const char *name) { return 0; }
TIDEMARK_API uint32_t tidemark_swap_program(uint32_t name) { return 0; }
TIDEMARK_API int tidemark_phase(const char *name) { return 0; }
TIDEMARK_API int tidemark_get_usage(uint32_t device, uint32_t kind, struct tidemark_usage *usage) { return -ENODEV; }
TIDEMARK_API int tidemark_reset_peak(uint32_t device, uint32_t kind, struct tidemark_usage *before)
{ return -ENODEV; }
TIDEMARK_API size_t tidemark_devices(uint32_t *numbers, size_t cap) { return 0; }
TIDEMARK_API uint64_t tidemark_lost(void) { return 0; }
TIDEMARK_API int tidemark_report_kernel(uint32_t device, uint64_t bytes, uint32_t core_type) { return 0; }
TIDEMARK_API int tidemark_report_cb(uint32_t device, uint64_t bytes, uint32_t buffer_index,
	const struct tidemark_core_range *cores)
{ return 0; }
TIDEMARK_API int tidemark_report_cb_free(uint32_t device, uint64_t bytes, uint32_t buffer_index,
	const struct tidemark_core_range *cores)
{ return 0; }
TIDEMARK_API int tidemark_capture_begin(int mode) { return 0; }
TIDEMARK_API int tidemark_capture_snapshot(const char *name) { return 0; }
TIDEMARK_API int tidemark_capture_end(const char *name) { return 0; }
TIDEMARK_API int tidemark_capture_is_active(void) { return 0; }
TIDEMARK_API int tidemark_capture_clear(void) { return 0; }
TIDEMARK_API size_t tidemark_capture_count(void) { return 0; }
TIDEMARK_API int tidemark_capture_get(size_t i, struct tidemark_segment *segment) { return -ERANGE; }
TIDEMARK_API int tidemark_capture_find(const char *name, struct tidemark_segment *segment)
{ return TIDEMARK_ETRACE_NOT_FOUND; }
TIDEMARK_API size_t tidemark_capture_count_named(const char *name) { return 0; }
TIDEMARK_API size_t tidemark_capture_format(char *dst, size_t cap)
{ if (dst != NULL && cap > 0) dst[0] = '\0'; return 0; }
TIDEMARK_API int tidemark_capture_print(void) { return 0; }
/* clang-format on */
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#endif

#ifdef __cplusplus
}
#endif

#endif
