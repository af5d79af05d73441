/*
 * The layout of a ledger: one file per tracked process, written only by that process, or by a daemon on its behalf, and
 * read by anybody who may open it. docs/formats/ledger.md describes it byte by byte; the assertions at the end freeze
 * it. Little-endian.
 *
 * The file is a header page followed by areas in the order in which they were needed. Nothing ever moves; a directory
 * in the header (or in a device's page) has the offset of every area. Areas grow by whole segments, each twice as large
 * as the one before.
 *
 * Readers get a consistent picture without a lock, even if the writer was killed at any instruction, because:
 *   - Every call that changes a device has a number: the device's `seq` plus one. Storing it into `seq` (release) is
 *     the last thing that the call does: that store is the commit. A report that replaces a live buffer has two
 *     numbers, for the release and the allocation, and commits both at once.
 *   - A slot is a live buffer if its `birth` is at most `seq` and its `death` is 0 or above `seq`. While a slot is
 *     being filled, its birth is impossible.
 *   - Counters exist twice, and a call writes the older copy. The newest copy whose number is at most `seq` is valid.
 *   - A ring record has a number, too. Only the call in progress writes one or two, over the oldest, which readers
 *     therefore ignore. So everything that an unfinished call wrote has a number that `seq` has not reached, and is not
 * used.
 */
#ifndef TDM_LEDGER_LAYOUT_H
#define TDM_LEDGER_LAYOUT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"
#include "event/describe.h"

#define TDM_LEDGER_MAGIC    UINT64_C(0x314b524d45444954) /* "TIDEMRK1" */
#define TDM_LEDGER_MAJOR    2                            /* readers know 1 as well (reader_live.c) */
#define TDM_LEDGER_MINOR    5                            /* increases when reserved bytes or numbers get a meaning */
#define TDM_LEDGER_SEQ_BUSY UINT64_MAX                   /* marks something that is being written */

enum {
	TDM_LEDGER_PAGE = 4096,
	TDM_LEDGER_DEVICES = 64,
	TDM_LEDGER_SEGMENTS = 24,     /* of slots; each twice as large as the one before */
	TDM_LEDGER_FIRST_SLOTS = 512, /* of the first segment */
	TDM_LEDGER_RING = 2048,       /* records, unless TIDEMARK_RING says otherwise; a power of two */
	TDM_LEDGER_RING_MIN = 16,
	TDM_LEDGER_RING_MAX = 1 << 22,
	TDM_LEDGER_BLOB_SEGMENTS = 16,            /* of texts and stacks, and of phases */
	TDM_LEDGER_FIRST_BLOB = 32768,            /* bytes */
	TDM_LEDGER_BLOB_UNIT = 8,                 /* a blob's number times this is its offset in the blob area */
	TDM_LEDGER_PHASES_FIRST = 64,             /* records of the first phase segment */
	TDM_LEDGER_REGIONS = 8,                   /* memory regions of a device that can be described */
	TDM_LEDGER_COUNTERS = TDM_KIND_COUNT + 1, /* one for each kind, and TDM_LEDGER_L1_ALL */
	TDM_LEDGER_L1_ALL = TDM_KIND_COUNT, /* everything in L1 together: only its peak is stored, the rest is the sum
					       of the kinds */
	TDM_LEDGER_TEXT_MAX = 255,
	TDM_LEDGER_STACK_MAX = 64,
	TDM_LEDGER_RANGES_MAX = 1024,
	TDM_LEDGER_NOTE_COUNTERS = 255, /* named counters of a process, */
	TDM_LEDGER_NOTE_REMARKS = 64,   /* and remarks */
	TDM_LEDGER_TRACES = 64,         /* latest traces of a device that are kept */
	TDM_LEDGER_HAZARDS = 256,       /* entries for buffers that wait for a replay; as many for those that saw one */
	TDM_LEDGER_FREE_CLOCK =
		8, /* a release may have the time of an earlier report, one of the last TDM_LEDGER_FREE_CLOCK - 1 */
};

enum tdm_ledger_state {
	TDM_LEDGER_NEW = 0,    /* being set up: must not be read yet */
	TDM_LEDGER_OPEN = 1,   /* in use, or left behind by a process that was killed */
	TDM_LEDGER_CLOSED = 2, /* the process exited, with live buffers or told to keep its ledger */
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
	uint64_t file_size; /* bytes in use; stored before anything refers to them */
	/* who: pids are reused, and an exec keeps both pid and start time */
	uint8_t boot_id[16];
	uint64_t pid_namespace; /* inode number */
	uint64_t start_time;    /* field 22 of /proc/PID/stat, clock ticks since boot */
	int32_t pid;
	uint32_t generation; /* of exec, and of ledgers made anew */
	uint32_t uid;
	uint32_t flags; /* TDM_LEDGER_BAD_*, TDM_LEDGER_MOVED, ... */
	char comm[16];
	char command[232]; /* beginning of the command line, words separated by blanks */
	/* when */
	struct tdm_ledger_clock first, last; /* `last` is updated from time to time; `last_seq` is odd meanwhile */
	uint64_t last_seq;
	uint64_t closed_tsc;      /* 0 while open */
	uint64_t frees_inherited; /* of buffers that were allocated before a fork */
	uint64_t lost[TDM_LOSS_COUNT];
	uint64_t notes_offset; /* struct tdm_ledger_notes; 0: nothing was noted */
	uint64_t reserved1[2];
	/* where */
	uint32_t device_count; /* stored after the entry below */
	uint32_t blob_segments;
	uint64_t blob_used; /* bytes of the blob area that are complete */
	uint64_t blob_offset[TDM_LEDGER_BLOB_SEGMENTS];
	uint32_t phase_count; /* complete records */
	uint32_t phase_segments;
	uint64_t phase_offset[TDM_LEDGER_BLOB_SEGMENTS];
	uint64_t module_count_reserved;
	uint64_t device_offset[TDM_LEDGER_DEVICES];
};

enum {
	/* Settings in the writer's environment that were invalid: it used the default instead. */
	TDM_LEDGER_BAD_MODE = 1,
	TDM_LEDGER_BAD_RING = 2,
	TDM_LEDGER_MOVED = 4,   /* it was deleted, and its process goes on in a new one, the next generation */
	TDM_LEDGER_RENEWED = 8, /* it is such a new one */
	/* Another process writes it: pid, start time, uid, name and command are those of the process that it is about,
	   and the file's owner is the writer's user. */
	TDM_LEDGER_ON_BEHALF = 16,
};

/*
 * The counters of a kind on a device: the current state, which every report changes, and the peaks, which few reports
 * change. There are two copies of each, of one cache line each. Bytes are reserved bytes: bytes per bank times the
 * banks in lockstep. The number of frees is allocs - buffers. The totals since the start include adopted buffers, which
 * were allocated before the tracking began; the peaks have their number.
 */
struct tdm_ledger_now {
	uint64_t seq; /* number of the call that wrote this copy; 0: nothing yet */
	uint64_t bytes;
	uint64_t buffers;
	uint64_t bank_bytes;  /* in one bank or core, summed over the buffers */
	uint64_t asked_bytes; /* the requested sizes */
	uint64_t allocs;      /* since the start */
	uint64_t alloc_bytes; /* since the start, reserved */
	uint64_t alloc_asked; /* since the start, requested */
};

struct tdm_ledger_peak {
	uint64_t seq;
	uint64_t bytes, buffers, bank_bytes, asked_bytes; /* the highest value of each */
	uint64_t tsc;                                     /* of the highest `bytes` */
	uint64_t adopted, adopted_bytes;                  /* since the start; reserved bytes */
};

/* Faults with buffers of a kind. Each is a single word that only grows, except oom_bytes. */
struct tdm_ledger_faults {
	uint64_t out_of_memory; /* reported by the program */
	uint64_t double_frees;  /* freed again shortly after */
	uint64_t unknown_frees; /* never seen */
	uint64_t rereports;     /* allocated again while live: the old buffer counts as freed */
	uint64_t views;         /* views that were reported; they take no memory */
	uint64_t oom_bytes;     /* size of the last failed request */
	uint64_t oom_tsc;
	uint64_t estimated; /* buffers with TDM_SLOT_ESTIMATED that were reported */
};

/* A memory region of the device, as the program described it. */
struct tdm_ledger_region {
	uint32_t kind, banks;
	uint64_t base, bank_size;
	uint32_t align, flags;
};

struct tdm_ledger_device {
	/* the commit word has its own cache line: readers poll it */
	uint64_t seq;
	uint64_t reserved0[7];
	/* description; `described` is odd while it is written */
	uint32_t number; /* logical */
	uint32_t flags;  /* TDM_DEVICE_* */
	uint64_t described;
	uint64_t chip_id; /* valid with TDM_DEVICE_HAS_CHIP_ID; may be 0 */
	char card[24];
	uint32_t region_count;
	uint32_t grid_x, grid_y;
	uint32_t shared_kinds; /* bit n: tidemark_report_core_use() was called for kind n */
	struct tdm_ledger_region regions[TDM_LEDGER_REGIONS];
	uint64_t reserved2[16];
	/* buffers and events */
	uint32_t slot_segments; /* stored after the offset below */
	uint32_t slot_high;     /* no slot from this one on holds a buffer; it falls after a burst */
	uint64_t slot_offset[TDM_LEDGER_SEGMENTS];
	uint64_t ring_offset;
	uint64_t ring_records;
	uint64_t runtime_offset; /* struct tdm_ledger_runtime; 0: the runtime said nothing */
	uint64_t reserved3[4];
	struct tdm_ledger_faults faults[TDM_KIND_COUNT];
	uint64_t reserved4[8]; /* a pair of copies is aligned to its own size */
	struct tdm_ledger_now now[TDM_LEDGER_COUNTERS][2];
	struct tdm_ledger_peak peak[TDM_LEDGER_COUNTERS][2];
};

enum {
	TDM_DEVICE_HAS_CHIP_ID = 1,
	TDM_DEVICE_VIRTUAL = 2, /* counts a capture without dispatch; its buffers are not on any card */
};

/*
 * A buffer: a slot of one cache line, which is all that a release touches, and a second half of 32 bytes in a parallel
 * array. Segment k has TDM_LEDGER_FIRST_SLOTS << k slots, then as many second halves. Both are written before the
 * slot's birth; afterwards only `death` changes, until the slot is reused or its page is given back.
 */
struct tdm_ledger_slot {
	uint64_t birth; /* number of the call that allocated it, or moved it here; 0: never used, or given back */
	uint64_t death; /* number of the call that freed it, or moved it to another slot; 0: none */
	uint64_t id;
	uint64_t address;
	uint64_t asked;      /* requested bytes */
	uint64_t bank_bytes; /* in one bank or core */
	uint32_t name;       /* blob number; 0: none */
	uint32_t stack;      /* blob number; 0: none */
	uint32_t banks;      /* in lockstep: reserved bytes are bank_bytes * banks; 0: a view */
	uint8_t kind;
	uint8_t flags; /* TDM_SLOT_* */
	uint16_t reserved;
};

struct tdm_ledger_more {
	uint32_t holding;   /* banks or cores that hold a page */
	uint32_t page_size; /* 0: unknown */
	uint32_t cores;     /* the number of cores it is sharded over; 0: interleaved */
	uint32_t thread;    /* Linux's thread id */
	uint64_t tsc;       /* of its birth; 0: adopted */
	uint32_t program;   /* blob number; 0: none */
	uint32_t ranges;    /* blob number of its core ranges; 0: none */
};

enum {
	TDM_SLOT_VIEW = 1,
	TDM_SLOT_NO_ADDRESS = 2,
	TDM_SLOT_ADOPTED = 4, /* allocated before the tracking began: its `tsc` is 0 */
	/* Others of its kind may have the same bytes, so it is counted like a view: `banks` is 0, and `holding` has its
	 * cores. What all of them take together is in the kind's counters. */
	TDM_SLOT_SHARED = 8,
	TDM_RECORD_CLASH = 16,   /* of TDM_LEDGER_OOM: circular buffers grew into L1 buffers, */
	TDM_SLOT_ESTIMATED = 32, /* what it takes is not known: `bank_bytes` is `asked`, and `banks` is 1 */
	TDM_RECORD_BEYOND = 64,  /* of TDM_LEDGER_OOM: circular buffers grew beyond the end of L1 */
};
/* Whether a buffer takes no memory. */
static inline bool tdm_slot_is_view(uint32_t banks, uint32_t flags)
{
	return (flags & TDM_SLOT_VIEW) != 0 || (banks == 0 && (flags & TDM_SLOT_SHARED) == 0);
}
#define TDM_LEDGER_NO_SLOT UINT32_MAX /* the slot of the record is unknown */

enum tdm_ledger_op {
	TDM_LEDGER_ALLOC = 1,
	TDM_LEDGER_FREE,
	TDM_LEDGER_OOM,
	TDM_LEDGER_PHASE,
	TDM_LEDGER_PROGRAM,
	TDM_LEDGER_BAD_FREE, /* double or unknown */
	TDM_LEDGER_STEP,     /* of the device or a trace: `asked` is an enum tdm_step, `id` the trace */
	TDM_LEDGER_CORE_USE, /* what shared buffers of a kind take: `asked` in all cores, `bank_bytes` in the fullest */
	TDM_LEDGER_OP_COUNT
};

struct tdm_ledger_record {
	uint64_t seq; /* number of its call */
	uint64_t tsc;
	uint64_t id;
	uint64_t address;
	uint64_t asked;
	uint64_t bank_bytes;
	uint32_t name; /* blob number: of the buffer, phase or program */
	union {
		uint32_t slot;   /* of TDM_LEDGER_ALLOC: the buffer's slot; still this buffer if its birth is `seq` */
		uint32_t stack;  /* of TDM_LEDGER_FREE: blob number of the stack that allocated the buffer; 0: none */
		uint32_t thread; /* of all others: Linux's thread id */
	};
	uint32_t banks;
	uint8_t op; /* enum tdm_ledger_op */
	uint8_t kind;
	uint16_t flags;
};

/* A segment between two snapshots of the phase tracker, or a bare mark. Sizes are the requested ones, counted by the
 * runtime's own rules. */
struct tdm_ledger_phase {
	uint32_t name;  /* blob number */
	uint32_t flags; /* TDM_PHASE_* */
	uint64_t begin_tsc, end_tsc;
	uint64_t session;  /* of the tracker, from 1; 0 for marks */
	int64_t dram_peak; /* above the start of the segment */
	int64_t dram_allocated, dram_freed;
	int64_t l1_peak_cb, l1_peak_buffer, l1_peak_total; /* per core */
	uint64_t dram_now;                                 /* bytes of DRAM reserved at the end, all devices */
	uint64_t reserved[5];
};

enum { TDM_PHASE_MARK = 1, TDM_PHASE_NO_DISPATCH = 2 };

/*
 * Notes of the process: counters with names, and remarks. Whoever counts adds to a value at any time; all else of an
 * entry is there before its text, and the number of remarks after them.
 */
struct tdm_ledger_note {
	uint64_t value;
	uint32_t text; /* blob number; 0: not used */
	uint32_t reserved;
};

struct tdm_ledger_notes {
	uint64_t remark_count;
	uint64_t remarks_lost; /* for which there was no room */
	uint64_t reserved[6];
	struct tdm_ledger_note counters[TDM_LEDGER_NOTE_COUNTERS];
	uint32_t remarks[TDM_LEDGER_NOTE_REMARKS]; /* blob numbers */
};

/* What the runtime's allocator said about a kind, in bytes of one bank. */
struct tdm_ledger_statistics {
	uint64_t reports; /* 0: none yet */
	uint64_t allocated, free, largest;
	uint64_t ours;      /* the counter of the kind at that moment */
	uint64_t differing; /* reports in which the two differed */
	uint64_t tsc;       /* of the last report */
	uint64_t reserved;
};

/* A trace. Times are 0 until it happens. */
struct tdm_ledger_trace {
	uint64_t id;
	uint64_t began_tsc, ended_tsc, replayed_tsc, released_tsc;
	uint64_t replays;
	uint64_t first, last; /* `allocs` of the area when it began to exist, and when it no longer did */
};

/* A buffer, or several that are alike, allocated while a captured trace existed. */
struct tdm_ledger_hazard {
	uint64_t trace; /* that was replayed, else the oldest that existed */
	uint64_t count; /* of such buffers; the rest is about the first of them; 0: the entry is not used */
	uint64_t id, address, asked, bank_bytes;
	uint64_t tsc, replayed_tsc;
	uint32_t name, program, stack, replay_stack; /* blob numbers; 0: none */
	uint8_t state;                               /* enum tdm_hazard_state */
	uint8_t kind;
	uint8_t flags; /* TDM_SLOT_* */
	uint8_t reserved[13];
};

/* How often circular buffers of a program were refused for the same reason, and the last time; see struct tdm_clash. */
struct tdm_ledger_clash {
	uint64_t count;
	uint64_t tsc;
	uint64_t begin, end, limit; /* addresses in a core; 0: unknown */
	uint32_t program;           /* blob number; 0: none */
	uint32_t range_count;       /* 0: the cores are not known */
	uint16_t range[4];          /* the first one: x0, y0, x1, y1 */
	uint8_t kind;
	uint8_t reserved[7];
};

/*
 * What the runtime said about a device. Each of the two numbers of changes is odd while what it covers is written, so a
 * reader that finds it even and the same before and after has read one moment. It stays odd after the writer was killed
 * there.
 */
struct tdm_ledger_runtime_head {
	uint64_t changes;        /* of statistics, traces, clashes, `life` and `left` */
	uint64_t hazard_changes; /* of hazards, and of the words about them */
	uint64_t allocs;         /* buffers that were allocated while a captured trace existed */
	uint64_t hazards_lost;   /* of those, the ones for which there was no room */
	uint64_t traces_lost;    /* older traces for which there is none any more */
	uint32_t trace_count;    /* entries in use, from the first, like the next two */
	uint32_t waiting_count;  /* of the first half of the hazards: TDM_HAZARD_WAITS */
	uint32_t judged_count;   /* of the second half: all other states */
	uint16_t clash_types;    /* bit n: clashes[n] is in use */
	uint16_t life;           /* the last step of the device: TDM_STEP_OPENED or _CLOSED; 0: none */
	uint64_t left;           /* buffers that were live when it was closed, each time added up */
};

struct tdm_ledger_runtime {
	struct tdm_ledger_runtime_head head;
	struct tdm_ledger_statistics statistics[TDM_KIND_COUNT];
	struct tdm_ledger_trace traces[TDM_LEDGER_TRACES];
	struct tdm_ledger_hazard hazards[2 * TDM_LEDGER_HAZARDS];
	struct tdm_ledger_clash clashes[TDM_CLASH_TYPES]; /* from minor version 5 on */
};

/* What a ledger has of it. */
static inline size_t tdm_ledger_runtime_size(const struct tdm_ledger_header *header)
{
	return header->minor >= 5 ? sizeof(struct tdm_ledger_runtime) : offsetof(struct tdm_ledger_runtime, clashes);
}

/* The head of a blob: a text, a stack, or core ranges. Its content follows. */
struct tdm_ledger_blob {
	uint32_t kind;  /* enum tdm_blob_kind */
	uint32_t bytes; /* of the content */
	uint64_t hash;
};

enum tdm_blob_kind {
	TDM_BLOB_TEXT = 1,
	TDM_BLOB_STACK,  /* u64 frames, innermost first; with TDM_FRAME_TEXT, the low half is the number of a text */
	TDM_BLOB_RANGES, /* u16 x0, y0, x1, y1 of each rectangle */
	TDM_BLOB_MODULE, /* u64 base, u64 size, then the path */
};
#define TDM_FRAME_TEXT (UINT64_C(1) << 63)

static_assert(sizeof(struct tdm_ledger_header) <= TDM_LEDGER_PAGE, "the header fits its page");
static_assert(offsetof(struct tdm_ledger_header, boot_id) == 32, "frozen");
static_assert(offsetof(struct tdm_ledger_header, comm) == 80, "frozen");
static_assert(offsetof(struct tdm_ledger_header, first) == 328, "frozen");
static_assert(offsetof(struct tdm_ledger_header, lost) == 400, "frozen");
static_assert(offsetof(struct tdm_ledger_header, device_count) == 464, "frozen");
static_assert(offsetof(struct tdm_ledger_header, device_offset) == 752, "frozen");
static_assert(sizeof(struct tdm_ledger_now) == 64, "frozen");
static_assert(sizeof(struct tdm_ledger_peak) == 64, "frozen");
static_assert(sizeof(struct tdm_ledger_faults) == 64, "frozen");
static_assert(sizeof(struct tdm_ledger_region) == 32, "frozen");
static_assert(offsetof(struct tdm_ledger_device, regions) == 128, "frozen");
static_assert(offsetof(struct tdm_ledger_device, slot_segments) == 512, "frozen");
static_assert(offsetof(struct tdm_ledger_device, faults) == 768, "frozen");
static_assert(offsetof(struct tdm_ledger_device, now) == 1536, "frozen");
static_assert(offsetof(struct tdm_ledger_device, peak) == 3072, "frozen");
static_assert(sizeof(struct tdm_ledger_device) == 4608, "frozen");
static_assert(sizeof(struct tdm_ledger_slot) == 64, "frozen");
/*
 * The writer stores neighbouring fields together, and copies fields that are at the same offset in slots and records.
 */
#define TDM_SAME_PLACE(field) (offsetof(struct tdm_ledger_slot, field) == offsetof(struct tdm_ledger_record, field))
static_assert(TDM_SAME_PLACE(id) && TDM_SAME_PLACE(address) && TDM_SAME_PLACE(asked) && TDM_SAME_PLACE(bank_bytes) &&
		      TDM_SAME_PLACE(name) && TDM_SAME_PLACE(stack) && TDM_SAME_PLACE(banks),
	"frozen");
static_assert(offsetof(struct tdm_ledger_slot, kind) == 60 && offsetof(struct tdm_ledger_slot, flags) == 61 &&
		      offsetof(struct tdm_ledger_record, op) == 60 && offsetof(struct tdm_ledger_record, kind) == 61 &&
		      offsetof(struct tdm_ledger_record, flags) == 62,
	"frozen");
static_assert(offsetof(struct tdm_ledger_more, thread) == 12 && offsetof(struct tdm_ledger_more, tsc) == 16, "frozen");
static_assert(offsetof(struct tdm_ledger_now, asked_bytes) == offsetof(struct tdm_ledger_peak, asked_bytes), "frozen");
static_assert(sizeof(struct tdm_ledger_more) == 32, "frozen");
static_assert(sizeof(struct tdm_ledger_record) == 64, "frozen");
static_assert(sizeof(struct tdm_ledger_phase) == 128, "frozen");
static_assert(sizeof(struct tdm_ledger_blob) == 16, "frozen");
static_assert(offsetof(struct tdm_ledger_header, notes_offset) == 440, "frozen");
static_assert(offsetof(struct tdm_ledger_device, shared_kinds) == 124, "frozen");
static_assert(offsetof(struct tdm_ledger_device, runtime_offset) == 728, "frozen");
static_assert(offsetof(struct tdm_ledger_notes, counters) == 64 && sizeof(struct tdm_ledger_notes) == 4400, "frozen");
static_assert(sizeof(struct tdm_ledger_statistics) == 64 && sizeof(struct tdm_ledger_trace) == 64 &&
		      sizeof(struct tdm_ledger_hazard) == 96 && sizeof(struct tdm_ledger_clash) == 64,
	"frozen");
static_assert(
	offsetof(struct tdm_ledger_runtime, statistics) == 64 && offsetof(struct tdm_ledger_runtime, traces) == 768 &&
		offsetof(struct tdm_ledger_runtime, hazards) == 4864 &&
		offsetof(struct tdm_ledger_runtime, clashes) == 54016 && sizeof(struct tdm_ledger_runtime) == 54208,
	"frozen");

#endif
