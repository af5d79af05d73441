/*
 * Shared by the files of this folder; no other folder includes it.
 *
 *   state.c     takes a picture step by step; events, and unreadable sources
 *   fold.c      turns events of ledgers into processes, holdings and buffers
 *   identity.c  which devices and processes are the same, and what memory each process has on each device
 *   figures.c   which source wins, all sums, and largest free blocks
 */
#ifndef TDM_LIVE_JOIN_H
#define TDM_LIVE_JOIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "live/follow/follower.h"
#include "live/host/host.h"
#include "live/join/fold.h"
#include "live/runtime/metal_shm.h"
#include "live/join/picture.h"
#include "model/card/bank.h"
#include "model/event/event.h"

enum {
	TDM_STATE_DEVICES_MAX = 4096, /* maximum; more are reported as a problem */
	TDM_STATE_PROBLEMS_MAX = 64,  /* maximum; with only_ledgers, TDM_FOLLOWED_MAX instead */
	TDM_STATE_EVENTS_MAX =
		65536, /* maximum events in one picture: 32 rings of the default size; only the latest are kept */
};

/* The memory of a device according to the card tables, looked up once for each card name. */
enum { TDM_MODELS_KEPT = 16, TDM_MODEL_RANGES = TDM_KIND_TRACE + 1 };

struct tdm_model {
	char name[TDM_CARD_NAME_CAP];
	bool is_known;     /* the card is in the tables */
	const char *board; /* the board's name in the tables; the driver may use other names */
	const char *arch;
	uint64_t l1_core;                               /* or TDM_BYTES_UNKNOWN */
	struct tdm_bank_range ranges[TDM_MODEL_RANGES]; /* by kind; size 0 if unknown, or chosen by the program */
};

/* Largest free blocks are computed only for the first TDM_FREE_KINDS kinds. */
enum { TDM_FREE_KINDS = TDM_MODEL_RANGES };

/* Facts about a device that are kept from one picture to the next. */
struct tdm_memo {
	uint64_t key;
	uint32_t place;
	int32_t number; /* the last known number; -1 if there was none */
	bool in_use;    /* used by the last picture */
	uint8_t seen_from[TDM_KIND_COUNT];
	uint64_t seen[TDM_KIND_COUNT]; /* the highest sum from that source */
	/* in the picture being made: */
	uint32_t ledgers;   /* readable ledgers of running processes */
	bool is_incomplete; /* a process using the device has no readable ledger */
	uint64_t now_state; /* hash of everything on which its free space depends */
	/* free space, when last computed: */
	uint64_t state;                   /* `now_state` at that time; 0 if never computed */
	uint64_t computed_ns;             /* time of that picture */
	uint64_t largest[TDM_FREE_KINDS]; /* largest free block in a bank, in bytes */
	uint64_t l1_lowest, cb_highest;
};

/* A holding under construction: each source's facts about one process on one device. If a program uses two numbers for
 * one device, there are two parts. The second is a twin; other sources' figures go only to the first. */
struct tdm_part {
	uint32_t process, device;
	const struct tdm_fold_process *owner;
	const struct tdm_fold_holding *ledger; /* NULL if there is no readable ledger */
	bool has_slot;                         /* the device's region counts the process; see `metal` */
	bool is_twin;
	uint32_t number; /* the process's number for the device; without a ledger, the device's own number */
	uint32_t descriptors;
	struct tdm_metal_bytes metal;
};

struct tdm_state_options;
struct tdm_state {
	struct tdm_state_options *options;
	char *dirs[4]; /* owned copies of the directories in the options */
	struct tdm_follow_options follow;
	struct tdm_follower *follower;
	struct tdm_fold fold;
	struct tdm_wish wish; /* wish for the picture being made */
	struct tdm_metal_watch metal;
	struct tdm_host host;
	struct tdm_proc_root proc;
	uint64_t deaths_seen; /* the follower's deaths that have been handled */
	uint64_t host_ns;     /* when to read the driver's files again, monotonic clock */
	uint64_t host_reads;
	struct tdm_model models[TDM_MODELS_KEPT]; /* cards looked up so far */
	size_t model_count, next_model;
	struct tdm_map users; /* from user ids to names, as numbers of texts */
	uint32_t next_handle;
	struct tdm_map handles, handles_before; /* handles of processes, by identity: now, and in the picture before */

	/* The picture, and lists with the same indices as the picture's own lists: */
	struct tdm_picture picture;
	size_t device_cap, process_cap, holding_cap, problem_cap; /* capacities of the picture's lists */
	struct tdm_event *events;
	size_t event_count, event_cap;
	uint64_t events_dropped;
	struct tdm_picture_end *ends; /* processes' ends seen in this look */
	size_t end_count, end_cap;
	bool had_events;   /* events were wanted or given for an earlier picture */
	uint32_t *memo_of; /* index of the memo of each of the picture's devices */
	size_t memo_of_cap;
	struct tdm_part *parts;
	size_t part_count, part_cap;
	struct tdm_map by_chip, by_number, by_pid, by_pair;
	uint64_t devices_cut, problems_cut; /* numbers dropped because of the limits */
	uint64_t (*left)[TDM_KIND_COUNT];   /* bytes left by ended processes, for each device */
	uint32_t *order;                    /* parts sorted by device, then the end of each device's range */
	size_t left_cap, order_cap;

	struct tdm_memo *memos;
	size_t memo_count, memo_cap;
	uint32_t next_place;
	struct tdm_map by_key;

	/* free space */
	uint64_t free_ns;                         /* time of the last picture */
	int64_t free_credit_ns;                   /* time that may be spent on free space */
	size_t free_turn;                         /* the device whose turn is next */
	struct tdm_span *buckets[TDM_FREE_KINDS]; /* scratch buffers of tdm_state_free_space() */
	size_t bucket_caps[TDM_FREE_KINDS];
};

/* Whether a process is listed. A program that was replaced by exec did not crash, but only identity.c knows that. */
bool tdm_state_lists(const struct tdm_state *state, const struct tdm_fold_process *process);

/* A process's counter of a kind, according to its ledger. */
struct tdm_counter tdm_state_ledger_counter(const struct tdm_fold_holding *from, unsigned k);

static inline struct tdm_memo *tdm_state_memo(const struct tdm_state *state, size_t device)
{
	return &state->memos[state->memo_of[device]];
}

/* The card with this name. Borrowed until the next call. An empty name means an unknown card. */
const struct tdm_model *tdm_state_model(struct tdm_state *state, const char *name);

/* The steps, in this order. */
void tdm_state_join_devices(struct tdm_state *state);
void tdm_state_join_processes(struct tdm_state *state);
void tdm_state_winner(struct tdm_state *state);
void tdm_state_free_space(struct tdm_state *state);

/* Reads a part's counters again. */
int tdm_state_recount(struct tdm_state *state, const struct tdm_part *part);

#endif
