/*
 * Events folded into what is known of processes: who they are, which devices they use, how much of each kind of memory
 * they hold there, and every live buffer where the source gives them. Which of their devices are one is not decided
 * here but in join_devices.c.
 *
 * A release of a buffer that is not there, or a new report of one that is, is counted and changes no sum wrongly. No
 * sum can wrap: what a process reports beyond any device's size is refused. Not thread-safe.
 */
#ifndef TDM_STATE_FOLD_H
#define TDM_STATE_FOLD_H

#include "base/map.h"
#include "state/picture.h"

enum {
	TDM_FOLD_PROCESSES_MAX = 16384,
	TDM_FOLD_HOLDINGS_MAX = 256, /* of one process */
	TDM_FOLD_MODULES_MAX = 4096, /* of one process */
};

/* The most that one process may hold of a kind on a device. */
#define TDM_FOLD_BYTES_MAX (UINT64_C(1) << 50)

/* One kind of one holding. */
struct tdm_fold_kind {
	bool has_usage;                     /* the producer counts itself, and its figures are the ones that count */
	struct tdm_usage usage;             /* its own; without one, what was counted here */
	uint64_t reserved, occupied, asked; /* sums over the buffers below */
	struct tdm_buffer *buffers;
	size_t count, cap;
	struct tdm_map by_id; /* to buffers; made when a buffer is first looked for */
	bool is_indexed;
};

/* A device of one process. */
struct tdm_fold_holding {
	uint32_t number;            /* with TDM_DEVICE_VIRTUAL_BIT */
	bool has_info, has_buffers; /* has_buffers: an account of them was given */
	struct tdm_device_info info;
	struct tdm_fold_kind kinds[TDM_KIND_COUNT];
	uint32_t device; /* index into the picture; set by join_devices.c. UINT32_MAX: none */
	uint64_t key;    /* of that; 0: not joined yet */
};

struct tdm_fold_process {
	uint64_t number; /* the source's */
	bool has_who;
	struct tdm_process who;
	char comm[TDM_COMM_CAP], command[TDM_COMMAND_CAP]; /* of `who`, printable */
	char *place;                                       /* where it is known from; NULL: unknown */
	struct tdm_module *modules;
	size_t module_count, module_cap;
	uint32_t phase;                     /* text */
	uint64_t refused;                   /* of its events */
	struct tdm_fold_holding **holdings; /* in the order in which the devices were named */
	size_t holding_count, holding_cap;
	uint64_t handle;  /* of the picture; 0: none yet. Set by join_processes.c, like the next */
	uint32_t process; /* index into the picture; UINT32_MAX: not listed */
};

struct tdm_fold {
	struct tdm_fold_process **processes;
	size_t count, cap;
	struct tdm_map by_number;
	struct tdm_intern texts;
	uint64_t refused; /* events that could not be used */
	uint64_t version; /* of all lists of buffers: raised whenever one changes */
};

int tdm_fold_init(struct tdm_fold *fold); /* 0 or -ENOMEM */
void tdm_fold_done(struct tdm_fold *fold);

/* 0; -ENOMEM; -EINVAL for an event that is not valid, or -EOVERFLOW for one beyond the limits: counted, and nothing
 * else happens. A release fills in what the event does not say and the buffer did: name, stack, size, birth. */
int tdm_fold_apply(struct tdm_fold *fold, struct tdm_event *event);

/* The process of this number, or NULL. Borrowed until the next tdm_fold_apply(). */
struct tdm_fold_process *tdm_fold_find(const struct tdm_fold *fold, uint64_t number);
struct tdm_fold_holding *tdm_fold_holding_find(const struct tdm_fold_process *process, uint32_t number);

static inline bool tdm_fold_runs(const struct tdm_fold_process *process)
{
	return !process->has_who || process->who.life != TDM_LIFE_ENDED;
}

/* The number that the reader knows it by, else its own. */
static inline int32_t tdm_fold_pid(const struct tdm_fold_process *process)
{
	return process->who.seen_pid != 0 ? process->who.seen_pid : process->who.pid;
}

/* The invariant, for tests and checked builds: sums are those of the buffers, indices agree. */
bool tdm_fold_is_valid(const struct tdm_fold *fold);

#endif
