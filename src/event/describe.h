/*
 * The things that events describe besides buffers: processes, devices, a producer's own figures, call stacks and core
 * ranges. All are borrowed with their event.
 */
#ifndef TDM_EVENT_DESCRIBE_H
#define TDM_EVENT_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"
#include "base/str.h"

enum { TDM_COMM_CAP = 17, TDM_COMMAND_CAP = 233, TDM_CARD_NAME_CAP = 25, TDM_REGIONS_MAX = 8 };

enum tdm_life {
	TDM_LIFE_UNKNOWN,
	TDM_LIFE_RUNS,
	TDM_LIFE_ENDED, /* its buffers are a post-mortem: none is on a device any more */
};

/* Why an event could not be recorded; the ledger uses the same numbers. */
enum tdm_ledger_loss {
	TDM_LOSS_SPACE,   /* no room: the file system is full or the ledger may not grow further */
	TDM_LOSS_NESTED,  /* reported from a signal handler that interrupted the library */
	TDM_LOSS_DEVICE,  /* more devices than there is room for */
	TDM_LOSS_INVALID, /* an impossible kind or size */
	TDM_LOSS_TEXT,    /* a name or stack could not be kept, but the event was */
	TDM_LOSS_COUNT
};

/* A process. The first five fields identify it: pids are reused, and an exec keeps the pid and the start time. */
struct tdm_process {
	uint8_t boot_id[16];
	uint64_t pid_namespace;
	int32_t pid;
	uint64_t start_time;     /* clock ticks since boot */
	uint32_t generation;     /* counts execs, and ledgers made anew */
	uint32_t uid;            /* owner of the file that describes it, or of a believed one on its behalf: its user */
	uint8_t life;            /* enum tdm_life */
	int32_t seen_pid;        /* its pid in the reader's namespace; 0: none */
	bool is_held;            /* proof of seen_pid: that process holds the writer's lock */
	bool is_claimed;         /* `pid` is only what the file says: the file's owner has no such process */
	bool is_stuck;           /* its ledger cannot be read now; the figures are the last good ones */
	bool is_renewed;         /* its ledger was deleted and made anew */
	bool mode_refused;       /* its TIDEMARK_MODE was invalid: the ledger has mode 0600, */
	bool ring_refused;       /* and its TIDEMARK_RING: rings have the default length */
	bool is_on_behalf;       /* another process, a daemon, writes its ledger */
	bool closed;             /* it said goodbye; one that ended without doing so crashed, was killed or replaced */
	char comm[TDM_COMM_CAP]; /* terminated, like `command` */
	char command[TDM_COMMAND_CAP]; /* beginning of the command line */
	uint64_t started_ns;           /* monotonic clock, when its tracking began; 0: unknown */
	uint64_t as_of_ns; /* the same: its figures are of then, as nobody writes them now; 0: they are current */
	uint64_t losses[TDM_LOSS_COUNT]; /* by cause: events and texts that the producer could not record */
	uint64_t lost;                   /* events among them */
	uint64_t lost_texts;             /* names and stacks among them, whose events were recorded */
	uint64_t refused;                /* its records that were not plausible */
	uint64_t frees_inherited;        /* releases of buffers that were allocated before a fork */
};

/* One memory region of a device. */
struct tdm_region {
	uint8_t kind; /* enum tdm_kind */
	uint32_t banks;
	uint64_t base, bank_size; /* base + bank_size and bank_size * banks fit 64 bits */
	uint32_t align;           /* 0: unknown */
};

/* A device, as a process sees it. */
struct tdm_device_info {
	bool has_chip_id;             /* else only host and device number identify it, which is weak */
	bool is_virtual;              /* adds up a capture made without dispatch; nothing is on a card */
	uint64_t chip_id;             /* 0 is valid */
	char card[TDM_CARD_NAME_CAP]; /* empty: unknown */
	uint32_t grid_x, grid_y;      /* 0: unknown */
	uint32_t region_count;
	struct tdm_region regions[TDM_REGIONS_MAX];
};

/* The producer's own counts for a kind on a device. Its peaks are exact; sampling would miss them. */
struct tdm_usage {
	uint64_t reserved_bytes, peak_reserved_bytes;
	uint64_t asked_bytes, peak_asked_bytes;
	uint64_t bank_bytes, peak_bank_bytes; /* in one bank or core */
	uint64_t buffers, peak_buffers;
	uint64_t allocs, alloc_bytes; /* since the start; alloc_bytes counts reserved bytes */
	uint64_t adopted;             /* buffers from before the tracking began; not among `allocs` */
	uint64_t peak_ns;             /* monotonic clock, when reserved_bytes peaked; 0: unknown */
	uint64_t double_frees, unknown_frees, rereports, views;
	uint64_t out_of_memory, oom_bytes; /* how often, and the size of the last failed request */
	uint64_t estimated; /* buffers of which it is not known what they take: they count with what they asked for */
	uint64_t l1_peak_bytes; /* kind L1 only: peak of everything in L1, over all banks and cores */
	bool is_shared; /* buffers may have the same bytes (TDM_EVENT_SHARED): their sum is not reserved_bytes */
};

struct tdm_frame;

/* A rectangle of cores, both corners included. */
struct tdm_core_range {
	uint16_t x0, y0, x1, y1; /* x0 <= x1, y0 <= y1 */
};

enum { TDM_RANGES_MAX = 1024 }; /* per buffer */

static inline bool tdm_core_range_is_valid(const struct tdm_core_range *range)
{
	return range->x0 <= range->x1 && range->y0 <= range->y1;
}

/* What the runtime's own allocator said about a kind on a device, in bytes of one bank. */
struct tdm_statistics {
	uint64_t reports; /* since the start; 0: none, and the rest is 0 */
	uint64_t allocated, free, largest;
	uint64_t ours;      /* what the producer had counted in one bank at that moment */
	uint64_t differing; /* reports in which the two differed */
	uint64_t time_ns;   /* monotonic clock, of the last report */
};

/* Steps in the life of a device and of the traces on it; numbered as in tidemark.h. */
enum tdm_step {
	TDM_STEP_OPENED = 1,
	TDM_STEP_CLOSED,
	TDM_STEP_TRACE_BEGAN,
	TDM_STEP_TRACE_ENDED, /* from here on it exists */
	TDM_STEP_TRACE_REPLAYED,
	TDM_STEP_TRACE_RELEASED,
	TDM_STEP_END
};
/* "device opened", "trace replayed", ...; "unknown" out of range. */
const char *tdm_step_name(uint64_t step);

/* A trace that was captured on a device. Times are of the monotonic clock, 0: not yet, or unknown. */
struct tdm_trace {
	uint64_t id;
	uint64_t began_ns, ended_ns, replayed_ns, released_ns; /* replayed: the last time */
	uint64_t replays;
	uint64_t allocs; /* buffers that were allocated while it existed */
};

enum tdm_hazard_state {
	TDM_HAZARD_WAITS, /* it is live or was freed, and no trace has been replayed since */
	TDM_HAZARD_LIVE,  /* it was live when a trace was replayed: its content may have been overwritten */
	TDM_HAZARD_FREED, /* it had been freed when a trace was replayed */
	TDM_HAZARD_STATES
};

/* A buffer, or several that were allocated alike, allocated while a captured trace existed. */
struct tdm_hazard {
	uint64_t trace; /* id of the trace that was replayed, else of the oldest that existed */
	uint8_t state;  /* enum tdm_hazard_state */
	uint8_t kind;   /* enum tdm_kind */
	uint64_t count; /* buffers like this one; the rest is about the first */
	uint64_t id, address, asked, bank_bytes;
	uint64_t time_ns, replayed_ns; /* of the allocation, and of the replay; 0: none */
	struct tdm_str name, program;
	const struct tdm_frame *frames, *replay_frames; /* the stacks of both */
	uint32_t frame_count, replay_frame_count;
};

/* Why circular buffers, or others that a program has at fixed places in L1, were refused. */
enum tdm_clash_type {
	TDM_CLASH_L1,      /* they grew into L1 buffers */
	TDM_CLASH_BEYOND,  /* they grew beyond the end of L1 */
	TDM_CLASH_UNKNOWN, /* the one or the other */
	TDM_CLASH_TYPES
};

/* How often that happened on a device, and where it was the last time: addresses in a core, 0: unknown. */
struct tdm_clash {
	uint8_t type;        /* enum tdm_clash_type */
	uint8_t kind;        /* enum tdm_kind: circular buffers, or dataflow buffers */
	uint64_t count;      /* not 0 */
	uint64_t begin, end; /* of the circular buffers */
	uint64_t limit;      /* which they exceed: the lowest L1 buffer, or the size of L1 */
	uint64_t time_ns;    /* monotonic clock */
	uint32_t range_count;
	struct tdm_core_range range; /* the first one */
	struct tdm_str program;
};

/* Everything that the runtime below a process said about a device. */
struct tdm_told {
	struct tdm_statistics statistics[TDM_KIND_COUNT];
	uint8_t life;                   /* TDM_STEP_OPENED, TDM_STEP_CLOSED; 0: unknown */
	uint64_t left;                  /* buffers that were live when it was closed, all times added up */
	const struct tdm_trace *traces; /* the latest, in no order */
	const struct tdm_hazard *hazards;
	const struct tdm_clash *clashes; /* of each type at most one */
	size_t trace_count, hazard_count, clash_count;
	uint64_t traces_lost, hazards_lost; /* more than there was room for */
};

/* A named counter of a process; or a remark, whose value is 0. */
struct tdm_note {
	struct tdm_str text;
	uint64_t value;
	bool is_remark;
};

/* All notes of a process: its counters, then its remarks. */
struct tdm_notes {
	const struct tdm_note *list;
	size_t count;
	uint64_t lost; /* remarks for which there was no room */
};

/* A frame of a call stack: an address in the program, or a text from an interpreter. */
struct tdm_frame {
	uint64_t address;
	struct tdm_str text; /* empty: use the address */
};

enum { TDM_FRAMES_MAX = 64 };

#endif
