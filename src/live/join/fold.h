/*
 * Folds events into processes: the identity of each, its devices, how much of each kind of memory it holds on each
 * device, and every live buffer if the source lists buffers. identity.c decides which of the processes' devices are the
 * same.
 *
 * The tree is process -> holding (one device of a process) -> kind -> buffers. An event changes one leaf in constant
 * time. While a producer sends counters, those are the kind's figures; otherwise the fold counts the buffers itself.
 *
 * Releases of unknown buffers and repeated reports of live ones are counted and leave the sums correct. No sum can
 * wrap: reports beyond the capacity of any device are refused. Not thread-safe.
 */
#ifndef TDM_LIVE_FOLD_H
#define TDM_LIVE_FOLD_H

#include "base/map.h"
#include "live/join/picture.h"

enum {
	TDM_FOLD_PROCESSES_MAX = 16384,
	TDM_FOLD_HOLDINGS_MAX = 256, /* maximum holdings per process */
	TDM_FOLD_MODULES_MAX = 4096, /* maximum modules per process */
};

/* Maximum bytes of one kind that a process may hold on a device. */
#define TDM_FOLD_BYTES_MAX (UINT64_C(1) << 50)

/* One kind of one holding. */
struct tdm_fold_kind {
	bool has_counter;                   /* whether the producer's counters are used */
	struct tdm_counter counter;         /* the producer's counter, or else one counted here */
	uint64_t reserved, occupied, asked; /* sums over the buffers below */
	uint64_t estimated;                 /* number of buffers that count with their requested sizes */
	struct tdm_buffer *buffers;
	size_t count, cap;
	struct tdm_map by_id; /* index into buffers; built when a buffer is first searched for */
	bool is_indexed;
};

/* One device of one process. */
struct tdm_fold_holding {
	uint32_t number;            /* the process's device number, with TDM_DEVICE_VIRTUAL_BIT */
	bool has_info, has_buffers; /* has_buffers: the source has listed its buffers */
	struct tdm_device_info info;
	struct tdm_fold_kind kinds[TDM_KIND_COUNT];
	struct tdm_told told; /* the lists are owned */
	uint32_t device;      /* index of the device in the picture, set by identity.c; UINT32_MAX if there is none */
	uint64_t key;         /* key of that device; 0 until joined */
};

struct tdm_fold_process {
	uint64_t number; /* the source's number for this process */
	bool has_who;
	struct tdm_process who;
	char comm[TDM_COMM_CAP], command[TDM_COMMAND_CAP]; /* strings of `who`, printable */
	char *place;                                       /* the path of its ledger; NULL if unknown */
	struct tdm_module *modules;
	size_t module_count, module_cap;
	struct tdm_note *notes;
	size_t note_count;
	uint64_t notes_lost;
	uint32_t phase;                     /* number of the phase's text */
	uint64_t refused;                   /* number of the process's refused events */
	struct tdm_fold_holding **holdings; /* in the order in which its devices were first named */
	size_t holding_count, holding_cap;
	uint64_t handle;  /* handle in the picture, set by identity.c, as is `process`; 0 if it has none yet */
	uint32_t process; /* index in the picture; UINT32_MAX if the process is not listed */
	bool end_is_told; /* state.c has recorded the process's end */
};

struct tdm_fold {
	struct tdm_fold_process **processes;
	size_t count, cap;
	struct tdm_map by_number;
	struct tdm_intern texts;
	uint64_t refused; /* number of unusable events */
	uint64_t version; /* raised whenever a list of buffers changes */
};

void tdm_fold_init(struct tdm_fold *fold);
void tdm_fold_done(struct tdm_fold *fold);

/* 0; -EINVAL: the event is invalid; -EOVERFLOW: it exceeds the limits. Such events are counted and otherwise
 * ignored. Adds the buffer's name, stack, size and birth to a release that lacks these. */
int tdm_fold_apply(struct tdm_fold *fold, struct tdm_event *event);

/* The process with this number, or NULL. Borrowed until the next tdm_fold_apply(). */
struct tdm_fold_process *tdm_fold_find(const struct tdm_fold *fold, uint64_t number);
struct tdm_fold_holding *tdm_fold_holding_find(const struct tdm_fold_process *process, uint32_t number);

static inline bool tdm_fold_runs(const struct tdm_fold_process *process)
{
	return !process->has_who || process->who.life != TDM_LIFE_ENDED;
}

/* The pid by which the reader sees the process, or else the process's own. */
static inline int32_t tdm_fold_pid(const struct tdm_fold_process *process)
{
	return process->who.seen_pid != 0 ? process->who.seen_pid : process->who.pid;
}

#endif
