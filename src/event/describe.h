/*
 * What events describe besides buffers: processes, devices, the figures that a producer keeps itself, call stacks and
 * core ranges. All of it is borrowed with its event.
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
	TDM_LIFE_ENDED, /* what it holds is a post-mortem: it is on no device any more */
};

/* Why an event could not be recorded; the numbers are those of the ledger. */
enum tdm_ledger_loss {
	TDM_LOSS_SPACE,   /* no room: the file system is full or the ledger may not grow further */
	TDM_LOSS_NESTED,  /* reported from a signal handler that interrupted the library */
	TDM_LOSS_DEVICE,  /* more devices than there is room for */
	TDM_LOSS_INVALID, /* a kind or size that cannot be */
	TDM_LOSS_TEXT,    /* a name or stack that could not be kept; the event itself was */
	TDM_LOSS_COUNT
};

/* A process. The first five fields are its identity: a pid alone is reused, and an exec keeps pid and start time. */
struct tdm_process {
	uint8_t boot_id[16];
	uint64_t pid_namespace;
	int32_t pid;
	uint64_t start_time;             /* clock ticks since boot */
	uint32_t generation;             /* of exec */
	uint32_t uid;                    /* owner of the file that describes it */
	uint8_t life;                    /* enum tdm_life */
	int32_t seen_pid;                /* its number for the reader; 0: it has none there */
	bool is_held;                    /* the process of that number holds the lock of a writer: it is this one */
	bool is_stuck;                   /* what it has cannot be read now; its figures are those of before */
	bool closed;                     /* it has said goodbye: one that ended without was killed or crashed */
	char comm[TDM_COMM_CAP];         /* terminated, like the next */
	char command[TDM_COMMAND_CAP];   /* beginning of the command line */
	uint64_t started_ns;             /* monotonic clock, when its tracking began; 0: unknown */
	uint64_t losses[TDM_LOSS_COUNT]; /* by cause: what the producer could not record */
	uint64_t lost;                   /* events among them */
	uint64_t lost_texts;             /* names and stacks among them, whose events were recorded */
	uint64_t refused;                /* records of it that could not be believed */
	uint64_t frees_inherited;        /* of buffers that were allocated before a fork */
};

/* One memory region of a device. */
struct tdm_region {
	uint8_t kind; /* enum tdm_kind */
	uint32_t banks;
	uint64_t base, bank_size; /* the sum and the product with `banks` fit 64 bits */
	uint32_t align;           /* 0: unknown */
};

/* A device, as a process knows it. */
struct tdm_device_info {
	bool has_chip_id;             /* without one its identity is weak: the host and the number */
	bool is_virtual;              /* holds what a capture without dispatch adds up; nothing of it is on a card */
	uint64_t chip_id;             /* 0 is a valid one */
	char card[TDM_CARD_NAME_CAP]; /* empty: unknown */
	uint32_t grid_x, grid_y;      /* 0: unknown */
	uint32_t region_count;
	struct tdm_region regions[TDM_REGIONS_MAX];
};

/* What the producer itself counted for a kind on a device. Its peaks are exact; whoever samples misses them. */
struct tdm_usage {
	uint64_t reserved_bytes, peak_reserved_bytes;
	uint64_t asked_bytes, peak_asked_bytes;
	uint64_t bank_bytes, peak_bank_bytes; /* in one bank or core */
	uint64_t buffers, peak_buffers;
	uint64_t allocs, alloc_bytes; /* since the start; bytes are reserved ones */
	uint64_t peak_ns;             /* monotonic clock, when the reserved bytes were highest; 0: unknown */
	uint64_t double_frees, unknown_frees, rereports, views;
	uint64_t out_of_memory, oom_bytes; /* how often, and the size of the last failed request */
	uint64_t l1_peak_bytes;            /* with kind L1: of everything in L1 together, over all banks and cores */
};

/* A frame of a call stack: an address in the program, or a text where an interpreter runs. */
struct tdm_frame {
	uint64_t address;
	struct tdm_str text; /* empty: the address counts */
};

enum { TDM_FRAMES_MAX = 64 };

/* A rectangle of cores, both corners included. */
struct tdm_core_range {
	uint16_t x0, y0, x1, y1; /* x0 <= x1, y0 <= y1 */
};

enum { TDM_RANGES_MAX = 1024 }; /* of one buffer */

static inline bool tdm_core_range_is_valid(const struct tdm_core_range *range)
{
	return range->x0 <= range->x1 && range->y0 <= range->y1;
}

#endif
