/*
 * libtidemark: accounts for every byte of a Tenstorrent accelerator's memory, from inside the program that uses it.
 *
 * A program (or the runtime below it) reports each buffer when it is allocated and when it is released. The library
 * keeps exact counters, peaks, every live buffer and the most recent events in one shared-memory file, the ledger,
 * which `tidemark` can read at any time, even after the program has been killed. Once warm, reporting takes tens of
 * nanoseconds and makes no system call, except one twice a second that notices if the ledger was deleted: then it is
 * made anew, with all that was in it. While tracking is off a report costs one predictable branch.
 *
 * The library never aborts or blocks the program, and prints only when asked to. It does not call malloc (libunwind
 * and Python's interpreter may, if they are there and call stacks are on), preserves errno, and sets no signal
 * handlers. Reports that it cannot record are counted (tidemark_lost()). All functions may be called from any thread,
 * before main, after exit, and in a forked child, which gets its own ledger at its first report. A call from a signal
 * handler that interrupted the library is counted as lost; so is a report that a handler jumps out of (siglongjmp), or
 * that pthread_cancel ends.
 *
 * Tracking is off until it is turned on, by the environment or by tidemark_enable():
 *   TIDEMARK=1                     on             TIDEMARK=auto   on if a daemon is listening
 *   TT_ALLOC_TRACKING_ENABLED=1    on, too        TIDEMARK=0      off, regardless of the other variable
 *   TIDEMARK_SOCKET=PATH           where TIDEMARK=auto looks for the daemon
 *   TIDEMARK_DIR=/dev/shm          directory of the ledgers, with a folder for each user
 *   TIDEMARK_KEEP=1                keep the ledger even after a clean exit
 *   TIDEMARK_MODE=0600             permissions of its file: 0600, 0640, 0604 or 0644
 *   TIDEMARK_RING=2048             recent events kept for each device
 *   TIDEMARK_STACKS=0              call-stack frames kept with each allocation, at most 64; 0: none
 *   TIDEMARK_UNWIND=auto           auto (libunwind if it is installed, else frame pointers), fp, libunwind;
 *                                  a static program always uses frame pointers
 *
 * Unless stated otherwise, functions return 0 on success (and when tracking is off) or a negative code;
 * tidemark_strerror() returns its text. The result may be ignored: nothing is lost silently. When there is no ledger,
 * the code says why: -ENOTDIR (its directory is missing), -EACCES, -EMFILE (no descriptor left), -ENOSPC, ….
 *
 * Structures begin with their size, so that a program and a library of different versions understand each other. Start
 * from TIDEMARK_BUFFER_INIT and the like, or set `size` to sizeof the structure and everything unknown to 0. Newer
 * versions only add fields at the end. A size below that of version 0.1 is refused (-EINVAL). The library ignores
 * fields that it does not know, and fills at most `size` bytes of a result; fields that it does not know keep their
 * values. A new field never changes the meaning of the others: that takes a flag, and unknown flags are refused.
 * The size of struct tidemark_region is in struct tidemark_device; struct tidemark_core_range never changes.
 *
 * To compile a program without the library, define TIDEMARK_DISABLE before the #include: every call becomes a function
 * that does nothing, and no library is needed. Arguments are checked and evaluated as before; what is costly can be put
 * under `if (tidemark_is_enabled())`, which is 0 at compile time then. Calls return 0 or "", but get functions fail as
 * if nothing had ever been reported.
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

/* The version of the running library, which may be newer than this header: "0.1.0", and as a number like
 * TIDEMARK_VERSION_NUMBER. */
TIDEMARK_API const char *tidemark_version(void);
TIDEMARK_API uint32_t tidemark_version_number(void);

/* The text for a negative code; never NULL. */
TIDEMARK_API const char *tidemark_strerror(int code);

/*
 * Turning tracking on and off.
 */

/* Private to the functions below; read it through tidemark_is_enabled(). Not 0 while tracking is on. */
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

/* Turns tracking off. The ledger stays and is continued if tracking is turned on again; reports made in between are
 * ignored. */
TIDEMARK_API int tidemark_disable(void);

/* The path of this process's ledger, or "" when there is none yet. Valid until the process forks. */
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

/* "dram", "l1", …; "unknown" out of range. */
TIDEMARK_API const char *tidemark_kind_name(int kind);

/* One memory region of a device. */
struct tidemark_region {
	uint32_t kind;      /* enum tidemark_kind */
	uint32_t banks;     /* banks or cores in lockstep */
	uint64_t base;      /* first address in each */
	uint64_t bank_size; /* bytes in each */
	uint32_t align;     /* of allocations; 0: unknown */
	uint32_t reserved;  /* 0 */
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
	uint32_t region_size; /* sizeof(struct tidemark_region), the distance from one to the next; 0: as in 0.1 */
	uint32_t reserved;    /* 0 */
};

#define TIDEMARK_DEVICE_INIT                                                                                    \
	{                                                                                                       \
		sizeof(struct tidemark_device), 0, NULL, 0, 0, 0, 0, 0, NULL, sizeof(struct tidemark_region), 0 \
	}

/* Describes a device, before or after its first buffer; a later call replaces the description. Buffers on devices that
 * were never described are tracked, too. */
TIDEMARK_API int tidemark_describe_device(const struct tidemark_device *device);

/*
 * Buffers.
 */

/* A rectangle of cores, including both corners. */
struct tidemark_core_range {
	uint16_t x0, y0, x1, y1;
};

enum {
	TIDEMARK_VIEW = 1,       /* globally allocated or borrowed memory: no bytes of its own */
	TIDEMARK_NO_ADDRESS = 2, /* `address` is meaningless (in a capture without dispatch, for example) */
	TIDEMARK_ESTIMATED = 32, /* what it takes of the device is not known: readers show it so, and count `bytes` */
	TIDEMARK_SHARED = 8, /* per-core kinds: other buffers of the kind may have the same bytes, so it is not added
				to the kind's figures; the caller gives those with tidemark_report_core_use() */
};

/*
 * A buffer, identified by device, kind and id. The caller chooses the id, which must be unique among the live buffers
 * of that device and kind; if addresses are unique, an address will do. Start from TIDEMARK_BUFFER_INIT.
 */
struct tidemark_buffer {
	uint32_t size;
	uint32_t device;
	uint32_t kind; /* enum tidemark_kind */
	uint32_t flags;
	uint64_t id;
	uint64_t address;
	uint64_t bytes;          /* requested, all banks together */
	uint64_t bytes_per_bank; /* in each bank or core, aligned; 0: bytes / banks, rounded up */
	uint32_t banks; /* in lockstep; 0: as described for this kind, or the given cores for per-core kinds, else 1 */
	uint32_t holding; /* banks or cores that hold a page; 0: all */
	uint32_t page_size;
	uint32_t cores; /* the number of cores it is sharded over; 0: interleaved */
	uint32_t name;  /* from tidemark_name(); 0: none */
	uint32_t range_count;
	const struct tidemark_core_range *ranges; /* its cores, for per-core items; NULL: unknown */
	const uint64_t *frames; /* call stack, innermost first, if the caller has one; a frame with bit 63 set is the
				   number of a text from tidemark_name(); NULL: the library takes the stack itself if
				   TIDEMARK_STACKS says so */
	uint32_t frame_count;
	uint32_t reserved; /* 0 */
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
 * tidemark_enable(). The buffer is live and counts in current figures and peaks, but it is not an allocation of now: it
 * does not count in `allocs`, in the phase tracker or as growth, and its age is unknown. -EEXIST, with nothing changed,
 * if a live buffer with this device, kind and id is known already.
 */
static inline int tidemark_adopt(const struct tidemark_buffer *buffer)
{
	return TIDEMARK_LIKELY_OFF_(tidemark_active_) ? 0 : tidemark_adopt_(buffer);
}

/* Reports that a buffer has been released. -ENOENT if there is no such buffer, which is counted as a double or unknown
 * free. */
static inline int tidemark_free(uint32_t device, uint32_t kind, uint64_t id)
{
	return TIDEMARK_LIKELY_OFF_(tidemark_active_) ? 0 : tidemark_free_(device, kind, id);
}

/* Releases every live buffer of a kind on a device, for example a program's circular buffers. Returns their number, or
 * a negative code. */
TIDEMARK_API int64_t tidemark_free_all(uint32_t device, uint32_t kind);

/* Releases the live buffers of a kind on a device whose id, masked, is `value`, for example all that one of several
 * allocators of the device gave. Looks through all buffers of the device. Returns their number, or a negative code. */
TIDEMARK_API int64_t tidemark_free_matching(uint32_t device, uint32_t kind, uint64_t mask, uint64_t value);

/* An id for an item in the L1 of one core, made of the core's coordinates and the address. */
static inline uint64_t tidemark_core_id(uint32_t x, uint32_t y, uint64_t address)
{
	return (uint64_t)(x & 0xffff) << 48 | (uint64_t)(y & 0xffff) << 32 | (address & 0xffffffffu);
}

/*
 * Returns a number for a text, to be used in tidemark_buffer.name. The same text has the same number until the process
 * ends (a forked child has its own numbers). Any other number is refused as a name (-EINVAL). At most 255 bytes are
 * kept. 0 when tracking is off or there is no room.
 */
TIDEMARK_API uint32_t tidemark_name(const char *text);

/* The number of this place in the source, "file:line", looked up once per process. An expression of type uint32_t. */
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

/* Reports that an allocation failed for lack of memory: the requested bytes, and the bytes that each bank would have
 * had to hold (0: unknown). */
TIDEMARK_API int tidemark_out_of_memory(uint32_t device, uint32_t kind, uint64_t bytes, uint64_t bytes_per_bank);

/*
 * Circular buffers of a program, or others that it has at fixed places in L1, that were refused: they grew into L1
 * buffers, or beyond the end of L1. Addresses are those in a core; 0: unknown. Start from TIDEMARK_CLASH_INIT.
 */
struct tidemark_clash {
	uint32_t size;                    /* sizeof(struct tidemark_clash) */
	uint32_t device;                  /* logical number */
	uint32_t kind;                    /* TIDEMARK_CB or TIDEMARK_DFB */
	uint32_t program;                 /* from tidemark_name(); 0: that of the thread */
	uint64_t begin, end;              /* of the circular buffers */
	uint64_t l1_lowest;               /* the lowest L1 buffer */
	uint64_t l1_size;                 /* bytes of L1: the end of it */
	struct tidemark_core_range cores; /* the first range of cores, */
	uint32_t range_count;             /* and how many there are; 0: not known */
	uint32_t reserved;
};

#define TIDEMARK_CLASH_INIT                                                                        \
	{                                                                                          \
		sizeof(struct tidemark_clash), 0, TIDEMARK_CB, 0, 0, 0, 0, 0, { 0, 0, 0, 0 }, 0, 0 \
	}

/* Reports that. It is kept apart from allocations that failed, and the buffers are not live: they never were. */
TIDEMARK_API int tidemark_report_clash(const struct tidemark_clash *clash);

/* Names the program or operation that this thread runs from now on; it is recorded with each buffer. NULL: none. */
TIDEMARK_API int tidemark_program(const char *name);

/* The same by the number of a name from tidemark_name(), 0: none, without an event on the time line. Returns the number
 * of the name that it replaces, so that a caller can put that back. A number that is no name counts as 0. */
TIDEMARK_API uint32_t tidemark_swap_program(uint32_t name);

/* Marks the beginning of a phase on the time line of all devices. */
TIDEMARK_API int tidemark_phase(const char *name);

/* The memory that this process holds, from its own ledger. Start from TIDEMARK_USAGE_INIT. */
struct tidemark_usage {
	uint32_t size, reserved;
	uint64_t bytes, peak_bytes;           /* reserved on the device */
	uint64_t asked_bytes;                 /* as requested */
	uint64_t bank_bytes, peak_bank_bytes; /* in one bank or core */
	uint64_t buffers;
	uint64_t allocs, frees; /* since the start; `frees` includes those of adopted buffers */
	uint64_t double_frees, unknown_frees, rereports, out_of_memory;
	uint64_t adopted; /* tidemark_adopt() */
	/* The highest values since tidemark_reset_peak(), or since the start. */
	uint64_t window_peak_bytes, window_peak_bank_bytes, window_peak_asked_bytes, window_peak_buffers;
	uint64_t alloc_bytes, alloc_asked_bytes; /* of all buffers since the start, adopted ones included */
};

#define TIDEMARK_USAGE_INIT                                                                               \
	{                                                                                                 \
		sizeof(struct tidemark_usage), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
	}

/* The usage of one kind on one device. -ENODEV, and all figures 0, when nothing was ever reported for that device,
 * -EBUSY when another thread was stopped in the middle of a report on it. */
TIDEMARK_API int tidemark_get_usage(uint32_t device, uint32_t kind, struct tidemark_usage *usage);

/*
 * Begins the `window_peak` figures of a kind on a device anew at this moment, with what is held now; the peaks since
 * the start, which the ledger keeps, stay. `before` gets the usage of the same moment, so nothing is missed between two
 * windows; NULL: not wanted. Codes as above, or -ENOMEM with nothing reset. A forked child begins anew, too.
 */
TIDEMARK_API int tidemark_reset_peak(uint32_t device, uint32_t kind, struct tidemark_usage *before);

/* The numbers of the devices that something was reported for, in the order of their first reports. Returns how many
 * there are; at most `cap` are stored. */
TIDEMARK_API size_t tidemark_devices(uint32_t *numbers, size_t cap);

/* The number of events that could not be recorded, for any reason. While the ledger is deleted and cannot be made anew,
 * this includes all events since, which nobody else can read; they are not lost if it can be made later. */
TIDEMARK_API uint64_t tidemark_lost(void);

/*
 * For runtimes, and for hooks in them.
 */

/* Reports what the runtime's own allocator says about a kind, in bytes of one bank: allocated, free, and the largest
 * free block. It is kept beside what was reported buffer by buffer, and readers show a difference. */
TIDEMARK_API int tidemark_report_statistics(
	uint32_t device, uint32_t kind, uint64_t allocated, uint64_t free, uint64_t largest);

/* Reports how much of L1 the TIDEMARK_SHARED buffers of a per-core kind take together: in the fullest core, and in all
 * cores. These become the kind's figures, to which other buffers of the kind are added. */
TIDEMARK_API int tidemark_report_core_use(uint32_t device, uint32_t kind, uint64_t fullest, uint64_t all);

/* Steps in the life of a device and of the traces that are captured on it. `number` is the trace's id; of
 * TIDEMARK_DEVICE_CLOSED, the number of buffers that were live and are released by the close; else 0. A trace
 * exists from TIDEMARK_TRACE_ENDED to TIDEMARK_TRACE_RELEASED or TIDEMARK_DEVICE_CLOSED; a buffer in DRAM, L1 or
 * L1_SMALL that is allocated meanwhile may be overwritten when the trace is replayed, which readers show as a finding.
 * One that is replayed without having been captured exists from then on. */
enum tidemark_step {
	TIDEMARK_DEVICE_OPENED = 1,
	TIDEMARK_DEVICE_CLOSED = 2,
	TIDEMARK_TRACE_BEGAN = 3,
	TIDEMARK_TRACE_ENDED = 4,
	TIDEMARK_TRACE_REPLAYED = 5,
	TIDEMARK_TRACE_RELEASED = 6
};
TIDEMARK_API int tidemark_step(uint32_t device, uint32_t step, uint64_t number);

/* A counter of the process with a name, which `tidemark doctor` shows. The same name gives the same number until the
 * process ends; 0 when tracking is off or there is no room (at most 255 counters). A forked child may use the numbers
 * of its parent, and begins with 0. Counting takes no lock and may be done in a signal handler; counter 0 counts
 * nothing. */
TIDEMARK_API uint32_t tidemark_counter(const char *name);
TIDEMARK_API int tidemark_count(uint32_t counter, uint64_t more);

/* Tells readers something about this process, for example what it cannot see. Each text is kept once, and cut at 255
 * bytes; -ENOSPC after 64 of them. */
TIDEMARK_API int tidemark_remark(const char *text);

/*
 * The short interface: kernels and circular buffers by number, for hooks that know nothing else about them.
 */

/* Reports that a kernel's code was loaded on cores of this type (0 worker, 1 Ethernet). Reports add up;
 * tidemark_free_all() releases them. */
TIDEMARK_API int tidemark_report_kernel(uint32_t device, uint64_t bytes, uint32_t core_type);

/*
 * Reports a new circular buffer of `bytes` on each core of a range. `buffer_index` is its number in the program:
 * programs on different cores may have the same numbers, so number and range identify it. NULL: the cores are not
 * known. A second report with the same number and range replaces the first; with any other range it is another circular
 * buffer, even if the ranges overlap. With a range, the number must be below 2^31 and no coordinate above 255
 * (-EINVAL).
 */
TIDEMARK_API int tidemark_report_cb(
	uint32_t device, uint64_t bytes, uint32_t buffer_index, const struct tidemark_core_range *cores);

/* Reports that it was released. `bytes` is not used and may be 0. NULL releases all circular buffers with this number,
 * whatever their cores are; that looks through all buffers of the device. -ENOENT if there is none. */
TIDEMARK_API int tidemark_report_cb_free(
	uint32_t device, uint64_t bytes, uint32_t buffer_index, const struct tidemark_core_range *cores);

/*
 * The phase tracker: memory use between snapshots, by the rules of tt-train's MemoryUsageTracker. A process has one
 * capture at a time; it sees the reports of all threads.
 */

enum tidemark_capture_mode {
	TIDEMARK_CAPTURE_NORMAL = 0,
	TIDEMARK_CAPTURE_NO_DISPATCH =
		1, /* reports are only added up: nothing is placed, and nothing counts as device memory */
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
	int64_t l1_peak_cb, l1_peak_buffer, l1_peak_total;     /* per core */
	int64_t dram_cumulative_peak, dram_cumulative_current; /* over all segments so far */
	int64_t l1_peak_dfb, l1_peak_scratchpad;               /* per core; part of the total */
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
/* The i-th segment that ended. 0 or -ERANGE. */
TIDEMARK_API int tidemark_capture_get(size_t i, struct tidemark_segment *segment);
/* The only segment with that name. 0, TIDEMARK_ETRACE_NOT_FOUND or TIDEMARK_ETRACE_AMBIGUOUS. */
TIDEMARK_API int tidemark_capture_find(const char *name, struct tidemark_segment *segment);
/* The number of segments with that name. */
TIDEMARK_API size_t tidemark_capture_count_named(const char *name);
/* Writes the summary in tt-train's format, NUL-terminated. Returns its full length, even if it was cut at `cap` - 1. */
TIDEMARK_API size_t tidemark_capture_format(char *dst, size_t cap);
/* Prints that summary on standard output. */
TIDEMARK_API int tidemark_capture_print(void);

#if defined(TIDEMARK_DISABLE)
/* What the calls do in a program that is compiled without the library. */
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
