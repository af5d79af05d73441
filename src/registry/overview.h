/*
 * All devices and processes of this machine at one moment, joined from every source that could be read: what the live
 * views show. Things refer to each other by index, as in snapshot.h; here are counters only, no buffers.
 *
 *     process 1 ── n holding n ── 1 device        a holding is what one process has on one device
 *
 * For every device and kind one source wins, and all figures of that device and kind are its figures, because sources
 * count differently. Wherever `used` is known, the holdings of that kind and `unattributed` add up to it.
 *
 * A number that is not known is TDM_BYTES_UNKNOWN, never 0.
 */
#ifndef TDM_REGISTRY_OVERVIEW_H
#define TDM_REGISTRY_OVERVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"
#include "base/units.h"
#include "event/describe.h"

/* Where a figure is from. id, name in JSON */
#define TDM_FROM_LIST(X)                                                                               \
	X(NONE, "none")           /* no source knows it */                                             \
	X(LEDGER, "ledger")       /* the ledgers of the programs: bytes that the allocator reserved */ \
	X(METAL_SHM, "metal_shm") /* tt-metal's shared memory: bytes that the programs asked for */    \
	X(DRIVER, "driver")       /* the files of the driver */                                        \
	X(MODEL, "model")         /* the tables of the card: inferred, not measured */

enum tdm_from {
#define X(id, name) TDM_FROM_##id,
	TDM_FROM_LIST(X)
#undef X
		TDM_FROM_COUNT
};

const char *tdm_from_name(enum tdm_from from);

enum { TDM_OVERVIEW_NAME_CAP = 40, TDM_OVERVIEW_TEXT_CAP = 256, TDM_OVERVIEW_CHIPS_MAX = 16 };

/*
 * One kind of memory of one device, over all its banks. Circular buffers share a region with L1 buffers: its size is
 * the total of both, and what is free for circular buffers is what both leave; the largest free block is what lies
 * between the two ends.
 */
struct tdm_overview_kind {
	uint8_t used_from;  /* enum tdm_from: the source that won; TDM_FROM_NONE: `used` is unknown */
	uint8_t total_from; /* of total, banks, base and bank_bytes */
	bool peak_is_seen;  /* the peak is the highest sum that was seen; else the producer's own, exact */
	uint64_t used;      /* by processes that run, `unattributed` included */
	uint64_t total, free;
	uint64_t largest_free;    /* the largest contiguous block of a bank, times the banks */
	uint64_t largest_free_ns; /* monotonic clock, when that was computed; 0: never */
	uint64_t peak;
	uint64_t asked;        /* bytes asked for; equal to `used` with metal_shm */
	uint64_t buffers;      /* that are live */
	uint64_t unattributed; /* of `used`, in no process that is listed */
	uint64_t stale;        /* what ended processes left written down: on no device any more, no part of `used` */
	uint32_t banks;        /* 0: unknown, like the next two */
	uint64_t base, bank_bytes;
	uint64_t allocs, out_of_memory; /* since the start of the processes that run */
	/* What the source that lost says; and the processes that only it knows. */
	uint8_t rival_from;
	uint64_t rival_used;
	uint32_t rival_processes;
	uint64_t rival_bytes; /* of those */
};

/* A value of the driver. */
struct tdm_reading {
	bool is_known;
	int err;       /* why it is not; 0: nobody offers it */
	int64_t value; /* in the unit that is written below */
};

struct tdm_overview_telemetry {
	struct tdm_reading temp, temp_max;   /* thousandths of a degree Celsius */
	struct tdm_reading power, power_max; /* microwatts */
	struct tdm_reading clock;            /* MHz, of the Tensix cores */
	struct tdm_reading voltage;          /* millivolts */
	struct tdm_reading current;          /* milliamperes */
	struct tdm_reading fan;              /* turns a minute */
	struct tdm_reading heartbeat;
};

/* A chip behind one device, as tt-metal's shared memory counts them. */
struct tdm_overview_chip {
	uint32_t chip; /* logical number */
	bool is_remote;
	uint64_t bytes[TDM_KIND_COUNT];
};

struct tdm_overview_device {
	bool has_chip_id;             /* else its identity is weak */
	bool is_virtual;              /* adds up what a capture without dispatch reports; on no card */
	uint64_t chip_id;             /* 0 is a valid one */
	int32_t number;               /* logical; -1: unknown */
	int32_t node;                 /* of /dev/tenstorrent/N; -1: unknown, or not on this machine's bus */
	char pci[24];                 /* empty: unknown */
	char card[TDM_CARD_NAME_CAP]; /* "n150"; empty: unknown */
	char arch[16];                /* "Wormhole"; empty: unknown */
	uint8_t card_from;            /* enum tdm_from */
	uint32_t grid_x, grid_y;      /* 0: unknown */
	uint32_t sources;             /* bit n: enum tdm_from n knows it */
	uint32_t process_count;       /* that hold something there or have it open */
	uint64_t updated_ns;          /* real-time clock, by metal_shm; 0: unknown */
	struct tdm_overview_telemetry telemetry;
	struct tdm_overview_kind kinds[TDM_KIND_COUNT];
	uint64_t l1_peak;    /* of everything in L1 together, over all cores, exact; unknown with several processes */
	uint64_t l1_core;    /* bytes of L1 that one core has; unknown without a card */
	uint64_t l1_lowest;  /* L1 buffers reach down to this address; 0: there are none; may be unknown */
	uint64_t cb_highest; /* circular buffers reach up to this address; 0: there are none; may be unknown */
	uint32_t chip_count;
	struct tdm_overview_chip chips[TDM_OVERVIEW_CHIPS_MAX];
	uint32_t host_card, region; /* index into the collector's cards and regions; UINT32_MAX: none */
};

struct tdm_overview_process {
	uint64_t handle; /* its own as long as it is watched; never 0 */
	int32_t pid;     /* as the reader knows it */
	uint64_t start_time;
	uint32_t uid;                     /* UINT32_MAX: unknown */
	char user[TDM_OVERVIEW_NAME_CAP]; /* name, else the number; "?" when unknown */
	char comm[TDM_COMM_CAP];
	char command[TDM_COMMAND_CAP];     /* empty: unknown; then comm */
	uint64_t started_ns;               /* real-time clock; 0: unknown */
	uint8_t life;                      /* enum tdm_life; ended ones are listed only when they were asked for */
	bool is_foreign;                   /* of another user than the reader */
	bool crashed;                      /* has ended without saying goodbye */
	bool in_container;                 /* `pid` is not the number that it has itself */
	uint32_t sources;                  /* bit n: enum tdm_from n knows it */
	char phase[TDM_OVERVIEW_NAME_CAP]; /* that runs; empty: none */
	uint64_t lost;                     /* events that are missing */
	uint64_t faults;                   /* double and unknown releases, re-reports */
	uint64_t out_of_memory;
	uint32_t first_holding, holding_count;
};

struct tdm_overview_amount {
	uint64_t used, peak, buffers; /* TDM_BYTES_UNKNOWN */
	uint8_t from;                 /* enum tdm_from; always that of the device and kind, or none */
};

struct tdm_overview_holding {
	uint32_t process, device;
	uint32_t descriptors; /* open on the card; 0: none, or unknown */
	struct tdm_overview_amount kinds[TDM_KIND_COUNT];
};

/* Something that could not be read. */
struct tdm_overview_problem {
	uint8_t from; /* enum tdm_from */
	int err;
	char place[TDM_OVERVIEW_TEXT_CAP]; /* path */
	char text[TDM_OVERVIEW_TEXT_CAP];  /* why, a sentence without its stop */
};

struct tdm_overview {
	uint64_t time_ns, real_ns; /* monotonic and real-time clock, when it was taken */
	size_t device_count, process_count, holding_count, problem_count;
	struct tdm_overview_device *devices;    /* those of the driver by node, then the others by number */
	struct tdm_overview_process *processes; /* by pid */
	struct tdm_overview_holding *holdings;  /* those of a process together, by device */
	struct tdm_overview_problem *problems;
};

/* One event of a program, as the program's ledger tells it. */
struct tdm_overview_event {
	uint64_t time_ns; /* real-time clock; 0: unknown */
	uint64_t handle;  /* of the process */
	int32_t pid;
	int32_t number; /* logical number of the device in that process; -1: none */
	uint8_t op;     /* enum tdm_op: ALLOC, FREE, OOM, PHASE, PROGRAM; LOST with `asked` = how many are missing */
	uint8_t kind;
	bool is_virtual;   /* `number` is that of a virtual device */
	bool is_fault;     /* a double or unknown release */
	uint64_t address;  /* TDM_ADDRESS_UNKNOWN */
	uint64_t asked;    /* bytes */
	uint64_t reserved; /* bytes; TDM_BYTES_UNKNOWN */
	char name[64];     /* of the buffer, phase or program; may be empty */
};

/* For whoever builds one. Everything unknown, no process. */
void tdm_overview_device_init(struct tdm_overview_device *device);
void tdm_overview_holding_init(struct tdm_overview_holding *holding, uint32_t process, uint32_t device);
void tdm_overview_done(struct tdm_overview *overview); /* releases the lists */

/* The sums: for every device and kind whose `used` is known, holdings of running processes plus unattributed are it. */
bool tdm_overview_is_valid(const struct tdm_overview *overview);

/* Whether dead processes have left bytes written down for a device. */
bool tdm_overview_has_stale(const struct tdm_overview_device *device);

/* used / total in tenths of a percent, rounded down, so that it never says more than tdm_level_of; -1 when one of them
 * is unknown or the total is 0. */
int tdm_overview_permille(uint64_t used, uint64_t total);

/* How full: green below 75 %, yellow from 75, red from 90. */
enum tdm_level { TDM_LEVEL_UNKNOWN, TDM_LEVEL_GREEN, TDM_LEVEL_YELLOW, TDM_LEVEL_RED };
enum tdm_level tdm_level_of(uint64_t used, uint64_t total);

#endif
