/*
 * What the files of the watcher share. Nothing outside of them includes this.
 *
 * live.c          the order of a refresh
 * ledger_watch.c  ledgers, kept open
 * metal_watch.c   tt-metal's regions and their owners
 * join_devices.c  which devices of the sources are one
 * join_processes.c  which processes are, and what each has on each device
 * figures.c       who wins, and all sums
 * free_space.c    largest free blocks
 * problems.c      what could not be read
 * live_events.c   recent events
 * live_snapshot.c every buffer of a process or a device
 */
#ifndef TDM_LIVE_LIVE_PARTS_H
#define TDM_LIVE_LIVE_PARTS_H

#include "base/map.h"
#include "live/ledger_watch.h"
#include "live/live.h"
#include "live/metal_watch.h"
#include "live/models.h"
#include "live/users.h"

enum {
	TDM_LIVE_DEVICES_MAX = 4096, /* more are counted as a problem */
	TDM_LIVE_PROBLEMS_MAX = 64,
};

/* The regions whose largest free block is worth knowing: those of the first kinds. */
enum { TDM_FREE_KINDS = TDM_MODEL_RANGES };

/* What is remembered of a device from one picture to the next. */
struct tdm_memo {
	uint64_t key;
	bool in_use; /* by the last picture */
	uint8_t seen_from[TDM_KIND_COUNT];
	uint64_t seen[TDM_KIND_COUNT]; /* the highest sum of that source */
	/* free space: of the ledgers as they were then */
	uint64_t state; /* hash of them; 0: never computed */
	uint64_t computed_ns;
	uint64_t largest[TDM_FREE_KINDS]; /* bytes of a bank */
	uint64_t l1_lowest, cb_highest;
};

/* A device of the picture being made, beside its struct tdm_overview_device. */
struct tdm_joined {
	uint64_t key;
	uint32_t memo;
	uint32_t ledgers;                          /* running ones that can be read */
	bool is_incomplete;                        /* a process uses it whose ledger is not there or cannot be read */
	const struct tdm_ledger_view *description; /* NULL: no ledger describes it */
	uint64_t state;                            /* hash of what its free space depends on */
};

/* Room for free_space.c. */
struct tdm_buckets {
	struct tdm_free_bucket *list;
	size_t cap;
};

/* What the ledgers say of a kind. */
struct tdm_part_kind {
	uint64_t used, peak, buffers, asked, allocs, out_of_memory;
};

/* A holding being made: what each source says of one process on one device. */
struct tdm_part {
	uint32_t process, device;
	bool has_ledger; /* that can be read: `ledger` and `l1_peak` count */
	bool has_slot;   /* of the device's region: `metal` counts */
	uint32_t descriptors;
	struct tdm_part_kind ledger[TDM_KIND_COUNT];
	uint64_t l1_peak;
	struct tdm_metal_bytes metal;
};

struct tdm_live {
	struct tdm_live_options options;
	char *dirs[4]; /* owned copies of the options' */
	struct tdm_ledger_watch ledgers;
	struct tdm_metal_watch metal;
	struct tdm_host host;
	struct tdm_proc_root proc;
	uint64_t deaths_seen; /* of the ledgers */
	uint64_t host_ns;     /* monotonic clock, when to read the driver's files again */
	uint64_t host_reads;
	struct tdm_models models;
	struct tdm_users users;
	uint32_t next_handle;
	struct tdm_map handles, handles_before; /* of processes, by identity */

	/* the picture, and what is beside it: same indices */
	struct tdm_overview overview;
	size_t device_cap, process_cap, holding_cap, problem_cap; /* of its lists */
	struct tdm_joined *joined;
	size_t joined_cap;
	struct tdm_part *parts;
	size_t part_count, part_cap;
	struct tdm_map by_chip, by_number, by_pid, by_pair;
	uint32_t (*item_devices)[TDM_LEDGER_DEVICES]; /* device of each ledger's devices; UINT32_MAX: none */
	uint32_t *item_process;                       /* process of each ledger; UINT32_MAX: not listed */
	size_t item_cap;
	uint64_t devices_cut;
	bool out_of_memory;
	uint64_t (*left)[TDM_KIND_COUNT]; /* bytes that ended processes left, for each device */
	uint32_t *order;                  /* parts by device, then where each device's end */
	size_t left_cap, order_cap;

	struct tdm_memo *memos;
	size_t memo_count, memo_cap;
	struct tdm_map by_key;

	/* free space */
	uint64_t free_ns; /* monotonic clock, not before */
	size_t free_turn; /* device that is next */
	struct tdm_buckets buckets[TDM_FREE_KINDS];

	bool has_events; /* recent events were asked for before */
};

/* Each: 0 or -ENOMEM. In this order. */
int tdm_live_join_devices(struct tdm_live *live);
int tdm_live_join_processes(struct tdm_live *live);
int tdm_live_figures(struct tdm_live *live);
int tdm_live_free_space(struct tdm_live *live);
int tdm_live_problems(struct tdm_live *live);

#endif
