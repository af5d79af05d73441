/*
 * Shared by the files of this folder; no other folder includes it.
 *
 * state.c           the order of a picture
 * fold.c            events of the ledgers into processes, holdings and buffers
 * fold_told.c       what the runtime said, and notes
 * metal_watch.c     tt-metal's regions and their owners
 * join_devices.c    which devices of the sources are one
 * card_type.c       chips whose card is not known, but its type is
 * join_processes.c  which processes are, and what each has on each device
 * winner.c          whose figures count, and all sums
 * free_space.c      largest free blocks
 * problems.c        what could not be read
 */
#ifndef TDM_STATE_STATE_PARTS_H
#define TDM_STATE_STATE_PARTS_H

#include "base/map.h"
#include "sources/follower.h"
#include "state/fold.h"
#include "state/metal_watch.h"
#include "state/models.h"
#include "state/state.h"
#include "state/users.h"

enum {
	TDM_STATE_DEVICES_MAX = 4096, /* more are counted as a problem */
	TDM_STATE_PROBLEMS_MAX = 64,  /* with only_ledgers, TDM_FOLLOWED_MAX instead */
	TDM_STATE_EVENTS_MAX =
		65536, /* of one picture: 32 rings of the default size; beyond that, the latest are kept */
};

/* Largest free blocks are computed for the first kinds only. */
enum { TDM_FREE_KINDS = TDM_MODEL_RANGES };

/* What is remembered about a device from one picture to the next. */
struct tdm_memo {
	uint64_t key;
	uint32_t place;
	int32_t number; /* the last one that was known; -1: none was */
	bool in_use;    /* by the last picture */
	uint8_t seen_from[TDM_KIND_COUNT];
	uint64_t seen[TDM_KIND_COUNT]; /* the highest sum of that source */
	/* free space, as of the ledgers' state back then */
	uint64_t state;                   /* hash of the ledgers' state; 0: never computed */
	uint64_t computed_ns;             /* time of that picture */
	uint64_t largest[TDM_FREE_KINDS]; /* bytes of a bank */
	uint64_t l1_lowest, cb_highest;
};

/* A device of the picture being made, beside its struct tdm_picture_device. */
struct tdm_joined {
	uint32_t memo;
	uint32_t ledgers;   /* running ones that can be read */
	bool is_incomplete; /* a process that uses it has no readable ledger */
	uint64_t state;     /* hash of everything its free space depends on */
};

/* Room for free_space.c. */
struct tdm_buckets {
	struct tdm_reach *list;
	size_t cap;
};

/* A holding being made: what each source says about one process on one device. A program may know one device by two
 * numbers: then there are two parts. The second is a twin, and figures of other sources go to the first alone. */
struct tdm_part {
	uint32_t process, device;
	const struct tdm_fold_process *owner;
	const struct tdm_fold_holding *ledger; /* NULL: none that can be read */
	bool has_slot;                         /* the device's region counts the process; `metal` says how much */
	bool is_twin;
	uint32_t number; /* of the device in the process; without a ledger, the device's own */
	uint32_t descriptors;
	struct tdm_metal_bytes metal;
};

struct tdm_state {
	struct tdm_state_options options;
	char *dirs[4]; /* owned copies of the options' */
	struct tdm_follow_options follow;
	struct tdm_follower *follower;
	struct tdm_fold fold;
	struct tdm_wish wish; /* of the picture being made */
	struct tdm_metal_watch metal;
	struct tdm_host host;
	struct tdm_proc_root proc;
	uint64_t deaths_seen; /* of the follower */
	uint64_t host_ns;     /* monotonic clock, when to read the driver's files again */
	uint64_t host_reads;
	struct tdm_models models;
	struct tdm_users users;
	uint32_t next_handle;
	struct tdm_map handles, handles_before; /* of processes, by identity */

	/* the picture, and lists with the same indices as its own */
	struct tdm_picture picture;
	size_t device_cap, process_cap, holding_cap, problem_cap; /* of its lists */
	struct tdm_event *events;
	size_t event_count, event_cap;
	uint64_t events_dropped;
	struct tdm_picture_end *ends; /* of this look */
	size_t end_count, end_cap;
	bool had_events; /* an earlier picture had events, or asked for them */
	struct tdm_joined *joined;
	size_t joined_cap;
	struct tdm_part *parts;
	size_t part_count, part_cap;
	struct tdm_map by_chip, by_number, by_pid, by_pair;
	uint64_t devices_cut;
	bool out_of_memory;
	uint64_t (*left)[TDM_KIND_COUNT]; /* bytes that ended processes left, for each device */
	uint32_t *order;                  /* parts sorted by device, then the end of each device's range */
	size_t left_cap, order_cap;

	struct tdm_memo *memos;
	size_t memo_count, memo_cap;
	uint32_t next_place;
	struct tdm_map by_key;

	/* free space */
	uint64_t free_ns;       /* time of the last picture */
	int64_t free_credit_ns; /* time that may be spent */
	size_t free_turn;       /* the next device */
	struct tdm_buckets buckets[TDM_FREE_KINDS];
};

/* Whether a process is listed. One that was replaced by exec has not crashed, but only join_processes.c knows it. */
static inline bool tdm_state_lists(const struct tdm_state *state, const struct tdm_fold_process *process)
{
	return tdm_fold_runs(process) || state->options.with_ended ||
	       (state->options.with_crashed && !process->who.closed);
}

/* What a process has of a kind, according to its ledger. */
void tdm_state_ledger_amount(struct tdm_picture_amount *amount, const struct tdm_fold_holding *from, unsigned k);

/* The steps, in this order. Each returns 0 or -ENOMEM. */
int tdm_state_join_devices(struct tdm_state *state);
int tdm_state_join_processes(struct tdm_state *state);
int tdm_state_winner(struct tdm_state *state);
int tdm_state_free_space(struct tdm_state *state);
int tdm_state_problems(struct tdm_state *state);

/* Part of the first step. */
void tdm_state_card_type(struct tdm_state *state);
/* For a device whose program went on meanwhile: reads the counters of a part again; decides about the device again. */
int tdm_state_recount(struct tdm_state *state, const struct tdm_part *part);
void tdm_state_winner_again(struct tdm_state *state, size_t device);

#endif
