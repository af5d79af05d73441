/*
 * The layout of a ledger: one file per tracked process, written only by that process, or by a daemon on its behalf, and
 * read by anybody with permission to open it. docs/formats/ledger.md describes it byte by byte; the assertions at the
 * end freeze it. Little-endian.
 *
 * The file consists of a header page followed by areas, in the order in which they were first needed. Nothing ever
 * moves; a directory in the header (or in a device's page) gives the offset of every area. Areas grow by whole
 * segments, each twice as large as the previous one.
 *
 * Readers get a consistent picture without a lock, even if the writer was killed at any instruction, because:
 *   - Every call that changes a device has a number: the device's `seq` plus one. Storing it into `seq` (release) is
 *     the last thing that the call does: that store is the commit. A report that replaces a live buffer has two
 *     numbers, for the release and the allocation, and commits both at once.
 *   - A slot is a live buffer if its `birth` is at most `seq` and its `death` is 0 or above `seq`. While a slot is
 *     being filled, its birth is impossible.
 *   - Counters exist twice, and a call writes the older copy. The newest copy whose number is at most `seq` is valid.
 *   - Ring records have numbers. Only the call in progress writes one or two, over the oldest, so readers ignore those.
 * Everything that an unfinished call wrote has a number above `seq`, so it is not used.
 */
#ifndef TDM_LEDGER_LAYOUT_H
#define TDM_LEDGER_LAYOUT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"
#include "model/event/event.h"

#define TDM_LEDGER_MAGIC    UINT64_C(0x314b524d45444954) /* "TIDEMRK1" */
#define TDM_LEDGER_MAJOR    2                            /* readers also accept major version 1 (reader_live.c) */
#define TDM_LEDGER_MINOR    5                            /* increases when reserved bytes or numbers gain a meaning */
#define TDM_LEDGER_SEQ_BUSY UINT64_MAX                   /* value while data is being written */

enum {
	TDM_LEDGER_PAGE = 4096,
	TDM_LEDGER_DEVICES = 64,
	TDM_LEDGER_SEGMENTS = 24,     /* segments of slots; each is twice as large as the previous one */
	TDM_LEDGER_FIRST_SLOTS = 512, /* slots in the first segment */
	TDM_LEDGER_RING = 2048,       /* default number of ring records; a power of two */
	TDM_LEDGER_RING_MIN = 16,
	TDM_LEDGER_RING_MAX = 1 << 22,
	TDM_LEDGER_BLOB_SEGMENTS = 16,            /* segments of blobs, and of phases, at most */
	TDM_LEDGER_FIRST_BLOB = 32768,            /* bytes in the first blob segment */
	TDM_LEDGER_BLOB_UNIT = 8,                 /* a blob's offset in the blob area is its number times this */
	TDM_LEDGER_PHASES_FIRST = 64,             /* records in the first phase segment */
	TDM_LEDGER_REGIONS = 8,                   /* maximum number of described memory regions per device */
	TDM_LEDGER_COUNTERS = TDM_KIND_COUNT + 1, /* counters per device: one for each kind, and TDM_LEDGER_L1_ALL */
	/* everything in L1 together: only the peak is stored; the other figures are sums over kinds */
	TDM_LEDGER_L1_ALL = TDM_KIND_COUNT,
	TDM_LEDGER_TEXT_MAX = 255,
	TDM_LEDGER_STACK_MAX = 64,
	TDM_LEDGER_RANGES_MAX = 1024,
	TDM_LEDGER_NOTE_COUNTERS = 255, /* maximum number of named counters per process */
	TDM_LEDGER_NOTE_REMARKS = 64,   /* maximum number of remarks per process */
	TDM_LEDGER_TRACES = 64,         /* maximum number of traces kept per device, the latest ones */
	TDM_LEDGER_HAZARDS = 256, /* entries for buffers waiting for a replay, and as many for those that saw one */
	TDM_LEDGER_FREE_CLOCK =
		8, /* a release may carry the time of any of the TDM_LEDGER_FREE_CLOCK - 1 reports before it */
};

enum tdm_ledger_state {
	TDM_LEDGER_NEW = 0,    /* being set up, so not readable yet */
	TDM_LEDGER_OPEN = 1,   /* in use, or left behind by a process that was killed */
	TDM_LEDGER_CLOSED = 2, /* the process exited with live buffers, or was told to keep its ledger */
};

/* The time stamp counter and the clocks, read together. */
struct tdm_ledger_clock {
	uint64_t tsc, monotonic_ns, realtime_ns;
};

struct tdm_ledger_header {
	uint64_t magic;
	uint32_t major, minor;
	uint32_t state; /* enum tdm_ledger_state */
	uint32_t header_size;
	uint64_t file_size; /* bytes in use; stored before anything refers to these bytes */
	/* Identifies the process: pids are reused, and an exec keeps the pid and start time. */
	uint8_t boot_id[16];
	uint64_t pid_namespace; /* inode number of the pid namespace */
	uint64_t start_time;    /* field 22 of /proc/PID/stat, in clock ticks since boot */
	int32_t pid;
	uint32_t generation; /* counts execs and recreated ledgers */
	uint32_t uid;
	uint32_t flags; /* TDM_LEDGER_BAD_*, TDM_LEDGER_MOVED, ... (see below) */
	char comm[16];
	char command[232]; /* beginning of the command line, with words separated by blanks */
	/* When: */
	/* `last` is updated from time to time; `last_seq` is odd during an update */
	struct tdm_ledger_clock first, last;
	uint64_t last_seq;
	uint64_t closed_tsc;      /* when the ledger was closed; 0 while open */
	uint64_t frees_inherited; /* releases of buffers allocated before a fork */
	uint64_t lost[TDM_LOSS_COUNT];
	uint64_t notes_offset; /* offset of struct tdm_ledger_notes; 0 if nothing was noted */
	uint64_t reserved1[2];
	/* Where: */
	uint32_t device_count; /* stored after the device's entry below */
	uint32_t blob_segments;
	uint64_t blob_used; /* number of completed bytes in the blob area */
	uint64_t blob_offset[TDM_LEDGER_BLOB_SEGMENTS];
	uint32_t phase_count; /* number of completed records */
	uint32_t phase_segments;
	uint64_t phase_offset[TDM_LEDGER_BLOB_SEGMENTS];
	uint64_t module_count_reserved;
	uint64_t device_offset[TDM_LEDGER_DEVICES];
};

enum {
	/* Invalid settings in the writer's environment, for which it used the defaults: */
	TDM_LEDGER_BAD_MODE = 1,
	TDM_LEDGER_BAD_RING = 2,
	TDM_LEDGER_MOVED = 4,   /* this file was deleted; the process continues in a new one, the next generation */
	TDM_LEDGER_RENEWED = 8, /* this file was made to replace a deleted one */
	/* Written by another process: pid, start time, uid, name and command describe the client; the file's owner
	 * is the writer's user. */
	TDM_LEDGER_ON_BEHALF = 16,
};

/*
 * A kind's counters on a device: the current state, changed by every report, and the peaks, changed by few reports.
 * Each has two copies of one cache line. Bytes are reserved bytes: bytes per bank times the banks in lockstep. The
 * number of frees is allocs - buffers. The totals since the start include adopted buffers (allocated before tracking
 * began); their number is stored with the peaks.
 */
struct tdm_ledger_now {
	uint64_t seq; /* number of the call that wrote this copy; 0 if unused */
	uint64_t bytes;
	uint64_t buffers;
	uint64_t bank_bytes;  /* bytes in one bank or core, summed over the buffers */
	uint64_t asked_bytes; /* requested bytes */
	uint64_t allocs;      /* number since the start */
	uint64_t alloc_bytes; /* reserved bytes since the start */
	uint64_t alloc_asked; /* requested bytes since the start */
};

struct tdm_ledger_peak {
	uint64_t seq;
	uint64_t bytes, buffers, bank_bytes, asked_bytes; /* highest value of each */
	uint64_t tsc;                                     /* when `bytes` was highest */
	/* since the start: number of adopted buffers, and their reserved bytes */
	uint64_t adopted, adopted_bytes;
};

/* Faults reported for a kind's buffers. Each is a single word that only grows, except oom_bytes. */
struct tdm_ledger_faults {
	uint64_t out_of_memory; /* failures reported by the program */
	uint64_t double_frees;  /* releases repeated shortly after the first */
	uint64_t unknown_frees; /* releases of buffers never seen allocated */
	uint64_t rereports;     /* buffers allocated again while live; the old buffer counts as freed */
	uint64_t views;         /* reported views, which take no memory */
	uint64_t oom_bytes;     /* size of the last failed request */
	uint64_t oom_tsc;
	uint64_t estimated; /* reported buffers with TDM_SLOT_ESTIMATED */
};

/* A memory region of the device, as described by the program. */
struct tdm_ledger_region {
	uint32_t kind, banks;
	uint64_t base, bank_size;
	uint32_t align, flags;
};

struct tdm_ledger_device {
	/* The commit word. It has its own cache line because readers poll it. */
	uint64_t seq;
	uint64_t reserved0[7];
	/* The description. `described` is odd while the description is being written. */
	uint32_t number; /* logical device number */
	uint32_t flags;  /* TDM_DEVICE_* */
	uint64_t described;
	uint64_t chip_id; /* valid only with TDM_DEVICE_HAS_CHIP_ID; may be 0 */
	char card[24];
	uint32_t region_count;
	uint32_t grid_x, grid_y;
	uint32_t shared_kinds; /* bit n: tidemark_report_core_use() was called for kind n */
	struct tdm_ledger_region regions[TDM_LEDGER_REGIONS];
	uint64_t reserved2[16];
	/* Buffers and events: */
	uint32_t slot_segments; /* stored after the segment's offset below */
	uint32_t slot_high;     /* no slot with this number or above holds a buffer; decreases after a burst */
	uint64_t slot_offset[TDM_LEDGER_SEGMENTS];
	uint64_t ring_offset;
	uint64_t ring_records;
	uint64_t runtime_offset; /* offset of struct tdm_ledger_runtime; 0 if the runtime has reported nothing */
	uint64_t reserved3[4];
	struct tdm_ledger_faults faults[TDM_KIND_COUNT];
	uint64_t reserved4[8]; /* so that each pair of copies is aligned to its own size */
	struct tdm_ledger_now now[TDM_LEDGER_COUNTERS][2];
	struct tdm_ledger_peak peak[TDM_LEDGER_COUNTERS][2];
};

enum {
	TDM_DEVICE_HAS_CHIP_ID = 1,
	/* collects the reports of a capture without dispatch; the buffers are not on any card */
	TDM_DEVICE_VIRTUAL = 2,
};

/*
 * A buffer consists of a slot of one cache line, and a second half of 32 bytes in a parallel array, so that a release
 * touches only one line. Segment k has TDM_LEDGER_FIRST_SLOTS << k slots, then as many second halves. Both halves are
 * written before the slot's birth; afterwards only `death` changes, until the slot is reused or its page is returned.
 */
struct tdm_ledger_slot {
	/* number of the call that allocated the buffer or moved it here; 0 if never used, or returned */
	uint64_t birth;
	uint64_t death; /* number of the call that freed the buffer or moved it to another slot; 0 if none has */
	uint64_t id;
	uint64_t address;
	uint64_t asked;      /* requested bytes */
	uint64_t bank_bytes; /* bytes in one bank or core */
	uint32_t name;       /* blob number; 0 if there is none */
	uint32_t stack;      /* blob number; 0 if there is none */
	uint32_t banks;      /* banks in lockstep: reserved bytes are bank_bytes * banks; 0 for a view */
	uint8_t kind;
	uint8_t flags; /* TDM_SLOT_* */
	uint16_t reserved;
};

struct tdm_ledger_more {
	uint32_t holding;   /* number of banks or cores holding a page */
	uint32_t page_size; /* 0 if unknown */
	uint32_t cores;     /* number of cores over which the buffer is sharded; 0 if interleaved */
	uint32_t thread;    /* Linux's thread id */
	uint64_t tsc;       /* when it was allocated; 0 if adopted */
	uint32_t program;   /* blob number; 0 if there is none */
	uint32_t ranges;    /* blob number of the core ranges; 0 if there is none */
};

enum {
	TDM_SLOT_VIEW = 1,
	TDM_SLOT_NO_ADDRESS = 2,
	TDM_SLOT_ADOPTED = 4, /* allocated before tracking began, so `tsc` is 0 */
	/*
	 * Other buffers of the same kind may occupy the same bytes, so the buffer is counted like a view: `banks` is 0,
	 * and `holding` is the buffer's number of cores. The kind's counters include the bytes of all such buffers
	 * together.
	 */
	TDM_SLOT_SHARED = 8,
	TDM_RECORD_CLASH = 16,   /* with TDM_LEDGER_OOM: circular buffers grew into the L1 buffers */
	TDM_SLOT_ESTIMATED = 32, /* the buffer's real size is unknown: `bank_bytes` equals `asked`, and `banks` is 1 */
	TDM_RECORD_BEYOND = 64,  /* with TDM_LEDGER_OOM: circular buffers grew beyond the end of L1 */
};
/* Whether a buffer takes no memory, judging by its banks and flags. */
static inline bool tdm_slot_is_view(uint32_t banks, uint32_t flags)
{
	return (flags & TDM_SLOT_VIEW) != 0 || (banks == 0 && (flags & TDM_SLOT_SHARED) == 0);
}
#define TDM_LEDGER_NO_SLOT UINT32_MAX /* the record's slot is unknown */

enum tdm_ledger_op {
	TDM_LEDGER_ALLOC = 1,
	TDM_LEDGER_FREE,
	TDM_LEDGER_OOM,
	TDM_LEDGER_PHASE,
	TDM_LEDGER_PROGRAM,
	TDM_LEDGER_BAD_FREE, /* a double or unknown free */
	TDM_LEDGER_STEP,     /* a step of the device or of a trace: `asked` is an enum tdm_step, `id` the trace */
	/* total bytes of a kind's shared buffers: `asked` across all cores, `bank_bytes` in the fullest core */
	TDM_LEDGER_CORE_USE,
	TDM_LEDGER_OP_COUNT
};

struct tdm_ledger_record {
	uint64_t seq; /* number of the call that wrote the record */
	uint64_t tsc;
	uint64_t id;
	uint64_t address;
	uint64_t asked;
	uint64_t bank_bytes;
	uint32_t name; /* blob number of the buffer's, phase's or program's name */
	union {
		/* for TDM_LEDGER_ALLOC: the slot, which still holds this buffer if the slot's birth is `seq` */
		uint32_t slot;
		/* for TDM_LEDGER_FREE: blob number of the allocating call's stack; 0 if there is none */
		uint32_t stack;
		uint32_t thread; /* for all other records: Linux's thread id */
	};
	uint32_t banks;
	uint8_t op; /* enum tdm_ledger_op */
	uint8_t kind;
	uint16_t flags;
};

/* A segment between two of the phase tracker's snapshots, or a single mark. Sizes are requested sizes, counted by
 * the runtime's own rules. */
struct tdm_ledger_phase {
	uint32_t name;  /* blob number */
	uint32_t flags; /* TDM_PHASE_* */
	uint64_t begin_tsc, end_tsc;
	uint64_t session;  /* session number of the tracker, from 1; 0 for marks */
	int64_t dram_peak; /* relative to the start of the segment */
	int64_t dram_allocated, dram_freed;
	int64_t l1_peak_cb, l1_peak_buffer, l1_peak_total; /* bytes per core */
	uint64_t dram_now;                                 /* bytes of DRAM reserved on all devices at the end */
	uint64_t reserved[5];
};

enum { TDM_PHASE_MARK = 1, TDM_PHASE_NO_DISPATCH = 2 };

/*
 * Notes of the process: named counters, and remarks. Values may grow at any time. A counter's text and the number of
 * remarks are stored last, and commit the rest.
 */
struct tdm_ledger_note {
	uint64_t value;
	uint32_t text; /* blob number of the name; 0 if unused */
	uint32_t reserved;
};

struct tdm_ledger_notes {
	uint64_t remark_count;
	uint64_t remarks_lost; /* remarks that did not fit */
	uint64_t reserved[6];
	struct tdm_ledger_note counters[TDM_LEDGER_NOTE_COUNTERS];
	uint32_t remarks[TDM_LEDGER_NOTE_REMARKS]; /* blob numbers */
};

/* The runtime allocator's statistics for a kind, in bytes of one bank. */
struct tdm_ledger_statistics {
	uint64_t reports; /* number of reports; 0 if none yet */
	uint64_t allocated, free, largest;
	uint64_t ours;      /* the kind's counter at the same moment */
	uint64_t differing; /* reports in which the runtime's figure and ours differed */
	uint64_t tsc;       /* time of the last report */
	uint64_t reserved;
};

/* A trace. A time is 0 until that step happens. */
struct tdm_ledger_trace {
	uint64_t id;
	uint64_t began_tsc, ended_tsc, replayed_tsc, released_tsc;
	uint64_t replays;
	uint64_t first, last; /* `allocs` of the runtime area when the trace began to exist, and when it ceased to */
};

/* A buffer, or several identical ones, allocated while a captured trace existed. */
struct tdm_ledger_hazard {
	uint64_t trace; /* the trace that was replayed, else the oldest existing one */
	uint64_t count; /* number of such buffers; the other fields describe the first; 0 if the entry is unused */
	uint64_t id, address, asked, bank_bytes;
	uint64_t tsc, replayed_tsc;
	uint32_t name, program, stack, replay_stack; /* blob numbers; 0 if there is none */
	uint8_t state;                               /* enum tdm_hazard_state */
	uint8_t kind;
	uint8_t flags; /* TDM_SLOT_* */
	uint8_t reserved[13];
};

/* How often circular buffers were refused for one reason, and details of the last refusal; see struct tdm_clash. */
struct tdm_ledger_clash {
	uint64_t count;
	uint64_t tsc;
	uint64_t begin, end, limit; /* addresses within a core; 0 if unknown */
	uint32_t program;           /* blob number; 0 if there is none */
	uint32_t range_count;       /* 0 if the cores are unknown */
	uint16_t range[4];          /* the first range: x0, y0, x1, y1 */
	uint8_t kind;
	uint8_t reserved[7];
};

/*
 * The runtime's reports about a device. Each of the two change counters is odd while its data is being written. If a
 * reader finds a counter even, and unchanged after reading, the data it has read is consistent. The counter stays odd
 * if the writer was killed during a change.
 */
struct tdm_ledger_runtime_head {
	uint64_t changes;        /* change counter of statistics, traces, clashes, `life` and `left` */
	uint64_t hazard_changes; /* change counter of the hazards and the members about them */
	uint64_t allocs;         /* buffers allocated while a captured trace existed */
	uint64_t hazards_lost;   /* of those, buffers that did not fit */
	uint64_t traces_lost;    /* older traces whose entries have been reused */
	uint32_t trace_count;    /* number of entries in use, counted from the first, like the next two */
	uint32_t waiting_count;  /* entries used in the first half of the hazards (TDM_HAZARD_WAITS) */
	uint32_t judged_count;   /* entries used in the second half (all other states) */
	uint16_t clash_types;    /* bit n: clashes[n] is in use */
	uint16_t life;           /* the device's last step: TDM_STEP_OPENED or _CLOSED; 0 if there is none */
	uint64_t left;           /* buffers live when the device was closed, summed over all closes */
};

struct tdm_ledger_runtime {
	struct tdm_ledger_runtime_head head;
	struct tdm_ledger_statistics statistics[TDM_KIND_COUNT];
	struct tdm_ledger_trace traces[TDM_LEDGER_TRACES];
	struct tdm_ledger_hazard hazards[2 * TDM_LEDGER_HAZARDS];
	struct tdm_ledger_clash clashes[TDM_CLASH_TYPES]; /* since minor version 5 */
};

/* The size of struct tdm_ledger_runtime in a ledger: smaller in older versions. */
static inline size_t tdm_ledger_runtime_size(const struct tdm_ledger_header *header)
{
	return header->minor >= 5 ? sizeof(struct tdm_ledger_runtime) : offsetof(struct tdm_ledger_runtime, clashes);
}

/* The segment containing an item, if the first segment has `first` items; *begin is that segment's first item. */
static inline uint32_t tdm_ledger_segment(uint64_t item, uint64_t first, uint64_t *begin)
{
	uint32_t k = 63 - (uint32_t)__builtin_clzll(item / first + 1);
	*begin = first * ((UINT64_C(1) << k) - 1);
	return k;
}

/* The header of a blob: a string, a stack, core ranges or a module. The content follows it. */
struct tdm_ledger_blob {
	uint32_t kind;  /* enum tdm_blob_kind */
	uint32_t bytes; /* size of the content */
	uint64_t hash;
};

enum tdm_blob_kind {
	TDM_BLOB_TEXT = 1,
	TDM_BLOB_STACK,  /* u64 frames, innermost first; with TDM_FRAME_TEXT, the low half is a text's blob number */
	TDM_BLOB_RANGES, /* u16 x0, y0, x1, y1 of each rectangle */
	TDM_BLOB_MODULE, /* u64 base, u64 size, then the path */
};
#define TDM_FRAME_TEXT                 (UINT64_C(1) << 63)

#define TDM_IS_AT(type, field, offset) (offsetof(struct tdm_ledger_##type, field) == (offset))
#define TDM_HAS_SIZE(type, size)       (sizeof(struct tdm_ledger_##type) == (size))
static_assert(sizeof(struct tdm_ledger_header) <= TDM_LEDGER_PAGE, "the header fits its page");
static_assert(TDM_IS_AT(header, boot_id, 32) && TDM_IS_AT(header, comm, 80) && TDM_IS_AT(header, first, 328) &&
		      TDM_IS_AT(header, lost, 400) && TDM_IS_AT(header, device_count, 464) &&
		      TDM_IS_AT(header, device_offset, 752) && TDM_IS_AT(header, notes_offset, 440),
	"frozen");
static_assert(TDM_IS_AT(device, regions, 128) && TDM_IS_AT(device, slot_segments, 512) &&
		      TDM_IS_AT(device, faults, 768) && TDM_IS_AT(device, now, 1536) && TDM_IS_AT(device, peak, 3072) &&
		      TDM_HAS_SIZE(device, 4608) && TDM_IS_AT(device, shared_kinds, 124) &&
		      TDM_IS_AT(device, runtime_offset, 728),
	"frozen");
static_assert(TDM_HAS_SIZE(now, 64) && TDM_HAS_SIZE(peak, 64) && TDM_HAS_SIZE(faults, 64) && TDM_HAS_SIZE(region, 32) &&
		      TDM_HAS_SIZE(slot, 64) && TDM_IS_AT(more, thread, 12) && TDM_IS_AT(more, tsc, 16) &&
		      offsetof(struct tdm_ledger_now, asked_bytes) == offsetof(struct tdm_ledger_peak, asked_bytes) &&
		      TDM_HAS_SIZE(more, 32) && TDM_HAS_SIZE(record, 64) && TDM_HAS_SIZE(phase, 128) &&
		      TDM_HAS_SIZE(blob, 16) && TDM_IS_AT(notes, counters, 64) && TDM_HAS_SIZE(notes, 4400) &&
		      TDM_HAS_SIZE(statistics, 64) && TDM_HAS_SIZE(trace, 64) && TDM_HAS_SIZE(hazard, 96) &&
		      TDM_HAS_SIZE(clash, 64),
	"frozen");
static_assert(TDM_IS_AT(runtime, statistics, 64) && TDM_IS_AT(runtime, traces, 768) &&
		      TDM_IS_AT(runtime, hazards, 4864) && TDM_IS_AT(runtime, clashes, 54016) &&
		      TDM_HAS_SIZE(runtime, 54208),
	"frozen");
/*
 * The writer stores neighbouring fields together, and copies fields between slots and records, in which they have the
 * same offsets.
 */
#define TDM_SAME_PLACE(field) (offsetof(struct tdm_ledger_slot, field) == offsetof(struct tdm_ledger_record, field))
static_assert(TDM_SAME_PLACE(id) && TDM_SAME_PLACE(address) && TDM_SAME_PLACE(asked) && TDM_SAME_PLACE(bank_bytes) &&
		      TDM_SAME_PLACE(name) && TDM_SAME_PLACE(stack) && TDM_SAME_PLACE(banks),
	"frozen");
static_assert(offsetof(struct tdm_ledger_slot, kind) == 60 && offsetof(struct tdm_ledger_slot, flags) == 61 &&
		      offsetof(struct tdm_ledger_record, op) == 60 && offsetof(struct tdm_ledger_record, kind) == 61 &&
		      offsetof(struct tdm_ledger_record, flags) == 62,
	"frozen");

#endif
