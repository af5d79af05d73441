/*
 * Folds events into processes: who they are, which devices they use, how much of each kind of memory they hold there,
 * and every live buffer if the source lists them. join_devices.c decides which of their devices are the same.
 *
 * Releasing an unknown buffer and reporting a live one again are counted and leave the sums correct. No sum can wrap:
 * reports beyond what any device can hold are refused. Not thread-safe.
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
	bool has_usage;                     /* the producer counts, and its figures are used */
	struct tdm_usage usage;             /* the producer's, or else what was counted here */
	uint64_t reserved, occupied, asked; /* sums over the buffers below */
	uint64_t estimated;                 /* of those, how many are in the sums with what they asked for */
	struct tdm_buffer *buffers;
	size_t count, cap;
	struct tdm_map by_id; /* index into buffers; made when a buffer is first looked for */
	bool is_indexed;
};

/* What the runtime said about a device of one process. */
struct tdm_fold_told {
	struct tdm_statistics statistics[TDM_KIND_COUNT];
	struct tdm_trace *traces;
	struct tdm_picture_hazard *hazards;
	struct tdm_picture_clash clashes[TDM_CLASH_TYPES];
	size_t trace_count, trace_cap, hazard_count, hazard_cap, clash_count;
	uint64_t traces_lost, hazards_lost, left;
	uint8_t life;
};

/* A device of one process. */
struct tdm_fold_holding {
	uint32_t number;            /* with TDM_DEVICE_VIRTUAL_BIT */
	bool has_info, has_buffers; /* has_buffers: the source has listed its buffers */
	struct tdm_device_info info;
	struct tdm_fold_kind kinds[TDM_KIND_COUNT];
	struct tdm_fold_told *told; /* NULL: nothing */
	uint32_t device;            /* index into the picture; set by join_devices.c. UINT32_MAX: none */
	uint64_t key;               /* key of that device; 0: not joined yet */
};

struct tdm_fold_process {
	uint64_t number; /* the source's */
	bool has_who;
	struct tdm_process who;
	char comm[TDM_COMM_CAP], command[TDM_COMMAND_CAP]; /* of `who`, printable */
	char *place;                                       /* the path of its ledger; NULL: unknown */
	struct tdm_module *modules;
	size_t module_count, module_cap;
	struct tdm_picture_note *notes;
	size_t note_count, note_cap;
	uint64_t notes_lost;
	uint32_t phase;                     /* text */
	uint64_t refused;                   /* of its events */
	struct tdm_fold_holding **holdings; /* in the order in which the devices were named */
	size_t holding_count, holding_cap;
	uint64_t handle;  /* in the picture; 0: none yet. Set by join_processes.c, like `process` */
	uint32_t process; /* index into the picture; UINT32_MAX: not listed */
	bool end_is_told; /* state.c has noted its end */
};

struct tdm_fold {
	struct tdm_fold_process **processes;
	size_t count, cap;
	struct tdm_map by_number;
	struct tdm_intern texts;
	uint64_t refused; /* events that could not be used */
	uint64_t version; /* raised whenever a list of buffers changes */
};

int tdm_fold_init(struct tdm_fold *fold); /* 0 or -ENOMEM */
void tdm_fold_done(struct tdm_fold *fold);

/* 0; -ENOMEM; -EINVAL for an invalid event, -EOVERFLOW for one beyond the limits: both are counted and otherwise
 * ignored. A release gets the name, stack, size and birth of its buffer where the event itself has none. */
int tdm_fold_apply(struct tdm_fold *fold, struct tdm_event *event);

/* The process with this number, or NULL. Borrowed until the next tdm_fold_apply(). */
struct tdm_fold_process *tdm_fold_find(const struct tdm_fold *fold, uint64_t number);
struct tdm_fold_holding *tdm_fold_holding_find(const struct tdm_fold_process *process, uint32_t number);

static inline bool tdm_fold_runs(const struct tdm_fold_process *process)
{
	return !process->has_who || process->who.life != TDM_LIFE_ENDED;
}

/* The pid by which the reader knows it, or else its own. */
static inline int32_t tdm_fold_pid(const struct tdm_fold_process *process)
{
	return process->who.seen_pid != 0 ? process->who.seen_pid : process->who.pid;
}

/* Parts of tdm_fold_apply() (fold_told.c), and what a picture shows of them; `from` may be NULL. */
int tdm_fold_apply_told(struct tdm_fold *fold, struct tdm_fold_holding *holding, const struct tdm_told *told);
int tdm_fold_apply_notes(struct tdm_fold *fold, struct tdm_fold_process *process, const struct tdm_notes *notes);
void tdm_fold_told_free(struct tdm_fold_told *told);
void tdm_fold_show_told(const struct tdm_fold_holding *from, struct tdm_holding *to);

/* The invariant, for tests and checked builds: sums match the buffers, indices agree. */
bool tdm_fold_is_valid(const struct tdm_fold *fold);

#endif
