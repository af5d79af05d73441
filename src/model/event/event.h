/*
 * The decoded event, the central type of the program. Ledgers, traces, captures and logs are decoded into events; the
 * live state and the replay consume them. Files that contain more detail than events can carry are read as records
 * (record.h). An event's strings and description are borrowed until the source returns the next event.
 */
#ifndef TDM_MODEL_EVENT_H
#define TDM_MODEL_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core_union.h"
#include "base/diag.h"
#include "base/kind.h"
#include "base/str.h"

/*
 * ---- descriptions that events carry ----
 *
 * Processes, devices, a producer's own figures, call stacks and core ranges. All are borrowed, like the event that
 * carries them.
 */

enum { TDM_COMM_CAP = 17, TDM_COMMAND_CAP = 233, TDM_CARD_NAME_CAP = 25, TDM_REGIONS_MAX = 8 };

enum tdm_life {
	TDM_LIFE_UNKNOWN,
	TDM_LIFE_RUNS,
	TDM_LIFE_ENDED, /* it has ended, and its buffers are a post-mortem: none of them is on a device any more */
};

/* Why an event could not be recorded; the ledger uses the same numbers. */
enum tdm_ledger_loss {
	TDM_LOSS_SPACE,   /* no space: the file system is full or the ledger may not grow further */
	TDM_LOSS_NESTED,  /* reported from a signal handler that interrupted the library */
	TDM_LOSS_DEVICE,  /* more devices than the ledger has space for */
	TDM_LOSS_INVALID, /* an impossible kind or size */
	TDM_LOSS_TEXT,    /* a name or stack could not be kept, although the event was */
	TDM_LOSS_COUNT
};

/* A process. The first five fields identify it, because pids are reused, and an exec keeps the pid and the start
 * time. */
struct tdm_process {
	uint8_t boot_id[16];
	uint64_t pid_namespace;
	int32_t pid;
	uint64_t start_time; /* clock ticks since boot */
	uint32_t generation; /* counts execs and recreated ledgers */
	/* owner of the file describing the process; for a trusted file written on its behalf, the process's own user */
	uint32_t uid;
	uint8_t life;      /* enum tdm_life */
	int32_t seen_pid;  /* its pid in the reader's namespace; 0 if there is none */
	bool is_held;      /* proof of seen_pid: that process holds the writer's lock */
	bool is_claimed;   /* `pid` is only the file's claim: the file's owner has no such process */
	bool is_stuck;     /* its ledger cannot be read now; the figures are the last good ones */
	bool is_renewed;   /* its ledger was deleted and recreated */
	bool mode_refused; /* its TIDEMARK_MODE was invalid, so the ledger has mode 0600 */
	bool ring_refused; /* its TIDEMARK_RING was invalid, so rings have the default length */
	bool is_on_behalf; /* another process, a daemon, writes its ledger for it */
	bool closed;       /* it closed its ledger; a process that ended without closing it crashed, was killed or was
			      replaced */
	char comm[TDM_COMM_CAP];       /* terminated string, like `command` */
	char command[TDM_COMMAND_CAP]; /* beginning of the command line */
	uint64_t started_ns;           /* monotonic clock: when its tracking began; 0 if unknown */
	/* if not 0, the figures are as of this time (monotonic clock) and no longer written; 0: current */
	uint64_t as_of_ns;
	uint64_t losses[TDM_LOSS_COUNT]; /* events and strings that the producer could not record, by cause */
	uint64_t lost;                   /* number of losses that are events */
	uint64_t lost_texts;             /* number of losses that are names and stacks; their events were recorded */
	uint64_t refused;                /* number of implausible records */
	uint64_t frees_inherited;        /* releases of buffers that were allocated before a fork */
};

/* One memory region of a device. */
struct tdm_region {
	uint8_t kind; /* enum tdm_kind */
	uint32_t banks;
	uint64_t base, bank_size; /* base + bank_size and bank_size * banks fit 64 bits */
	uint32_t align;           /* 0 if unknown */
};

/* A device as one process sees it. */
struct tdm_device_info {
	/* otherwise only host and device number identify the device, which is a weak identity */
	bool has_chip_id;
	/* collects the reports of a capture made without dispatch; nothing is really on a card */
	bool is_virtual;
	uint64_t chip_id;             /* 0 is a valid id */
	char card[TDM_CARD_NAME_CAP]; /* empty if unknown */
	uint32_t grid_x, grid_y;      /* 0 if unknown */
	uint32_t region_count;
	struct tdm_region regions[TDM_REGIONS_MAX];
};

/* Where a figure comes from: id, name in JSON */
#define TDM_FROM_LIST(X)                                                                            \
	X(NONE, "none")           /* known to no source */                                          \
	X(LEDGER, "ledger")       /* the programs' ledgers: bytes that the allocator reserved */    \
	X(METAL_SHM, "metal_shm") /* tt-metal's shared memory: bytes that the programs requested */ \
	X(DRIVER, "driver")       /* the files of the driver */                                     \
	X(MODEL, "model")         /* the card's tables: inferred, not measured */                   \
	X(CARD_TYPE, "card_type") /* the card's tables: the card is unknown, but all cards are the same type */

enum tdm_from {
#define X(id, name) TDM_FROM_##id,
	TDM_FROM_LIST(X)
#undef X
		TDM_FROM_COUNT
};

const char *tdm_from_name(enum tdm_from from);

/*
 * The memory of one kind that one process holds on one device, now and at its peaks. The same type is used everywhere:
 * the ledger reader makes it, events carry it, the state keeps it and shows it in pictures.
 *
 * Figures are bytes unless noted, and TDM_BYTES_UNKNOWN if missing from a picture. Peaks are the producer's own, so
 * they are exact; sampling would miss them. Counts start when the process starts.
 */
struct tdm_counter {
	uint64_t reserved, peak;    /* reserved by the allocator; from metal_shm: the requested bytes */
	uint64_t asked, peak_asked; /* bytes that the program requested */
	uint64_t occupied;          /* bytes in banks or cores that hold a page; only in a picture with buffers */
	uint64_t bank, peak_bank;   /* bytes in one bank or core */
	uint64_t l1_peak;           /* only for kind L1: peak of everything in L1, over all banks and cores */
	uint64_t buffers, peak_buffers;
	/* alloc_bytes: reserved bytes; alloc_asked includes adopted buffers */
	uint64_t allocs, alloc_bytes, alloc_asked;
	uint64_t adopted; /* buffers from before tracking began; not counted in `allocs` */
	uint64_t double_frees, unknown_frees, rereports;
	uint64_t out_of_memory, oom_bytes; /* number of failed requests, and the size of the last one */
	uint64_t peak_ns;                  /* when `reserved` peaked, monotonic clock; 0 if unknown */
	uint64_t seq; /* from the ledger: number of the last report that changed the counter; 0 if never used */
	/* enum tdm_from, in a picture: the source used, or NONE; LEDGER once the process has ended */
	uint8_t from;
	bool is_shared;    /* buffers may share bytes (TDM_EVENT_SHARED): their sum is not `reserved` */
	bool is_estimated; /* some buffers, now or earlier, count with their requested sizes */
	bool is_inexact;   /* in a picture: the buffers changed while they were read and do not match the sums */
};

/* A counter with every figure unknown. */
extern const struct tdm_counter tdm_counter_unknown;

enum { TDM_RANGES_MAX = 1024 }; /* core ranges per buffer */

/* The runtime's own allocator statistics for a kind on a device, in bytes of one bank. */
struct tdm_statistics {
	uint64_t reports; /* number of reports since the start; if 0, the rest is 0 too */
	uint64_t allocated, free, largest;
	uint64_t ours;      /* the producer's own figure for one bank at that moment */
	uint64_t differing; /* number of reports in which the two figures differed */
	uint64_t time_ns;   /* time of the last report, monotonic clock */
};

/* Steps in the life of a device and of the traces on it; numbered as in tidemark.h. */
enum tdm_step {
	TDM_STEP_OPENED = 1,
	TDM_STEP_CLOSED,
	TDM_STEP_TRACE_BEGAN,
	TDM_STEP_TRACE_ENDED, /* the trace exists from this step on */
	TDM_STEP_TRACE_REPLAYED,
	TDM_STEP_TRACE_RELEASED,
	TDM_STEP_END
};
/* "device opened", "trace replayed", ...; "unknown" out of range. */
const char *tdm_step_name(uint64_t step);

/* A trace that was captured on a device. Times are of the monotonic clock; 0 if not yet or unknown. */
struct tdm_trace {
	uint64_t id;
	uint64_t began_ns, ended_ns, replayed_ns, released_ns; /* replayed_ns: the last replay */
	uint64_t replays;
	uint64_t allocs; /* number of buffers allocated while it existed */
};

enum tdm_hazard_state {
	TDM_HAZARD_WAITS, /* live or freed, and no trace has been replayed since */
	TDM_HAZARD_LIVE,  /* live when a trace was replayed: the contents may have been overwritten */
	TDM_HAZARD_FREED, /* already freed when a trace was replayed */
	TDM_HAZARD_STATES
};

/* A buffer, or several identical ones, allocated while a captured trace existed. Here and below, strings and stacks
 * are numbers in the picture that receives the event. */
struct tdm_hazard {
	uint64_t trace; /* id of the replayed trace, else of the oldest trace that existed */
	uint8_t state;  /* enum tdm_hazard_state */
	uint8_t kind;   /* enum tdm_kind */
	uint64_t count; /* number of such buffers; the other members describe the first */
	uint64_t id, address, asked, bank_bytes;
	uint64_t time_ns, replayed_ns; /* when it was allocated, and when the trace was replayed; 0 if never */
	uint32_t name, program, stack, replay_stack;
};

/* Why circular buffers, or others placed by a program at fixed addresses in L1, were refused. */
enum tdm_clash_type {
	TDM_CLASH_L1,      /* they grew into L1 buffers */
	TDM_CLASH_BEYOND,  /* they grew beyond the end of L1 */
	TDM_CLASH_UNKNOWN, /* unknown which of the two */
	TDM_CLASH_TYPES
};

/* How often programs were refused on a device for one reason, with details of the last refusal. Addresses are within a
 * core; 0 if unknown. */
struct tdm_clash {
	uint8_t type;        /* enum tdm_clash_type */
	uint8_t kind;        /* enum tdm_kind: circular buffers, or dataflow buffers */
	uint64_t count;      /* number of refusals, never 0 */
	uint64_t begin, end; /* address range of the circular buffers */
	uint64_t limit;      /* the address that they exceed: the lowest L1 buffer, or the size of L1 */
	uint64_t time_ns;    /* time of the last refusal, monotonic clock */
	uint32_t range_count;
	uint32_t x0, y0, x1, y1; /* the first range of cores */
	uint32_t program;        /* the program's name, as a string number in the picture */
};

/* Everything that the runtime reported about one device of a process. */
struct tdm_told {
	struct tdm_statistics statistics[TDM_KIND_COUNT];
	const struct tdm_trace *traces; /* the latest traces, in no order */
	const struct tdm_hazard *hazards;
	const struct tdm_clash *clashes; /* at most one of each type */
	size_t trace_count, hazard_count, clash_count;
	uint64_t traces_lost, hazards_lost; /* number of entries that did not fit in the ledger */
	uint64_t left; /* buffers that were live when the device was closed, summed over all closes */
	uint8_t life;  /* TDM_STEP_OPENED, TDM_STEP_CLOSED; 0 if unknown */
	bool has_told; /* the runtime has reported anything at all */
};

/* A named counter of a process; or a remark, with value 0. */
struct tdm_note {
	uint32_t text;
	bool is_remark;
	uint64_t value;
};

/* All notes of a process: counters first, then remarks. */
struct tdm_notes {
	const struct tdm_note *list;
	size_t count;
	uint64_t lost; /* remarks that did not fit */
};

/* A frame of a call stack: an address in the program, or a string from an interpreter. */
struct tdm_frame {
	uint64_t address;
	struct tdm_str text; /* empty if there is only an address */
};

enum { TDM_FRAMES_MAX = 64 };

/* ---- events ---- */

enum tdm_op {
	TDM_OP_DEVICE,  /* describes a device or one memory region: `text`, or `about` */
	TDM_OP_ALLOC,   /* a buffer was (or, in a trace, is to be) allocated; the address may be TDM_ADDRESS_UNKNOWN */
	TDM_OP_FREE,    /* a buffer was released */
	TDM_OP_PHASE,   /* phase `name` begins; empty: the last phase ended */
	TDM_OP_PROGRAM, /* program or operation `name` runs from here on */
	/* an allocation failed: kind, size. With TDM_EVENT_CLASH, circular buffers that end at `id` exceed `address`
	 * (0 if unknown) by `size`; `address` is the lowest L1 buffer or, with TDM_EVENT_BEYOND, the size of L1. A
	 * clash is not a lack of memory for buffers */
	TDM_OP_OOM,
	TDM_OP_QUERY,  /* the file asks for statistics at this point (text traces) */
	TDM_OP_SHRINK, /* the range loses `size` bytes at its low end; 0 restores all lost bytes */
	/* `who` describes a process, before its other events or again later; `name`: the source of the description */
	TDM_OP_PROCESS,
	TDM_OP_USAGE,  /* `counter`: the producer's own figures for a process, device and kind */
	TDM_OP_MODULE, /* the process has mapped an executable file: `name`, `address`, `size` */
	/* drop all buffers of the process and device: a list of the live ones follows, or they are no longer wanted;
	 * `size`: how many follow, 0 if unknown */
	TDM_OP_CLEAR,
	TDM_OP_LOST,   /* `size` events of the process and device were lost here */
	TDM_OP_FORGET, /* the source has dropped the process */
	TDM_OP_STEP,   /* a step of the device, or of trace `id`: `size` is an enum tdm_step */
	TDM_OP_TOLD,   /* `told`: the runtime's reports about the device, which replace earlier ones */
	TDM_OP_NOTES,  /* `notes` of the process, which replace earlier ones */
	TDM_OP_COUNT
};

/* The address is unknown: the model chooses one (text traces), or there is none (captures made without dispatch). */
#define TDM_ADDRESS_UNKNOWN    UINT64_MAX
#define TDM_SIZE_UNKNOWN       UINT64_MAX

/* Set in the numbers of virtual devices; see struct tdm_device_info. */
#define TDM_DEVICE_VIRTUAL_BIT (UINT32_C(1) << 31)

enum {
	TDM_EVENT_VIEW = 1,     /* globally allocated or borrowed; counts no bytes */
	TDM_EVENT_TOP_DOWN = 2, /* placed from the high end, whatever the kind's default direction */
	TDM_EVENT_BOTTOM_UP = 4,
	TDM_EVENT_FIXED = 8, /* must be placed at `address` */
	/* older than the list of live buffers already returned, so the event has no effect */
	TDM_EVENT_PAST = 16,
	TDM_EVENT_FAULT = 32,    /* the release of a buffer that did not exist */
	TDM_EVENT_ADOPTED = 128, /* allocated before tracking began; `time_ns`: when it was reported, or 0 in a list */
	/* other buffers of the same kind may share these bytes, so they are not part of the kind's sums */
	TDM_EVENT_SHARED = 256,
	TDM_EVENT_CLASH = 512,
	TDM_EVENT_BEYOND = 1024,
	TDM_EVENT_LISTED = 64, /* part of the list after a TDM_OP_CLEAR, which contains each buffer once */
};

struct tdm_event {
	uint64_t time_ns; /* time by the producer's monotonic clock; 0 if the source has no time */
	uint64_t process; /* index of the process in the source; 0 if the source has at most one */
	uint32_t device;  /* logical number within that process */
	uint8_t op;       /* enum tdm_op */
	uint8_t kind;     /* enum tdm_kind */
	uint16_t flags;
	uint64_t born_ns; /* for a release: when the buffer was allocated, by the same clock; 0 if unknown */
	/* for a release whose time_ns may be that of an earlier event: the latest time at which it can have
	 * happened; 0 if unknown */
	uint64_t over_ns;
	uint64_t id; /* id of the buffer; unique among live buffers with the same process, device and kind */
	uint64_t address;
	uint64_t size;           /* requested bytes */
	uint64_t bytes_per_bank; /* TDM_SIZE_UNKNOWN if the source does not give it */
	uint64_t page_size;      /* 0 if unknown or not paged */
	/* number of banks, each of which reserves bytes_per_bank in lockstep; 0 if unknown, or for a view */
	uint32_t banks;
	uint32_t holding;       /* number of banks or cores holding a page; 0 if unknown: assume all */
	uint32_t cores;         /* number of cores over which the buffer is sharded; 0 if interleaved */
	uint32_t thread;        /* Linux's thread id; 0 if unknown */
	uint64_t position;      /* line number or byte offset in the source, for messages; 0 if unknown */
	uint32_t column;        /* column of `name` or `text` in that line; 0 if unknown */
	int32_t pid;            /* the process's pid in the reader's namespace; set only in a picture; 0 if unknown */
	struct tdm_str name;    /* name of the buffer, phase or program; may be empty */
	struct tdm_str text;    /* for TDM_OP_DEVICE: "region key=value …", "device CARD key=value …" */
	struct tdm_str program; /* the program that allocated the buffer; may be empty */
	const struct tdm_frame *frames; /* call stack of an allocation, innermost first; NULL if there is none */
	uint32_t frame_count;           /* at most TDM_FRAMES_MAX */
	uint32_t range_count;           /* at most TDM_RANGES_MAX */
	uint32_t stack;                 /* number of the call stack, in events kept by a picture; 0 if there is none */
	const struct tdm_core_range *ranges; /* the cores that hold the buffer, for kinds in cores; NULL if unknown */
	union {                              /* which member is valid depends on `op`; NULL for other operations */
		const struct tdm_process *who;
		const struct tdm_device_info *about;
		const struct tdm_counter *counter;
		const struct tdm_told *told;
		const struct tdm_notes *notes;
	};
};

const char *tdm_op_name(enum tdm_op op);

/* Sources return only valid events. */
bool tdm_event_is_valid(const struct tdm_event *event);

/*
 * ---- sources ----
 *
 * A source returns events, whatever it reads: all sources share one interface, and each kind of input has its own file.
 * A source refuses a bad record and reports the record's position; the next call continues after it.
 */

/* The first member of every source. */
struct tdm_source {
	int (*next)(struct tdm_source *source, struct tdm_event *event, struct tdm_diag *diag);
	void (*close)(struct tdm_source *source);
	uint64_t refused; /* number of bad records so far */
	bool is_cut;      /* the last error ended reading: the rest of the input was not read */
};

/* Returns 1 with *event set (borrowed until the next call), 0 at the end, or a negative code with diag set, after
 * which the next call continues. */
static inline int tdm_source_next(struct tdm_source *source, struct tdm_event *event, struct tdm_diag *diag)
{
	return source->next(source, event, diag);
}

/* NULL is allowed. */
static inline void tdm_source_close(struct tdm_source *source)
{
	if (source != NULL)
		source->close(source);
}

#endif
