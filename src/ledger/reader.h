/*
 * Reads the ledger of a live or dead process. A ledger is hostile input: its file is read (never mapped, so that
 * truncation is an error and not a signal), the copy is checked, and only the copy is used. Reading takes no lock and
 * cannot disturb the writer.
 *
 * tdm_ledger_refresh takes a new picture of header, devices and counters; buffers, events, texts and phases are read on
 * demand.
 */
#ifndef TDM_LEDGER_READER_H
#define TDM_LEDGER_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "event/describe.h"
#include "ledger/layout.h"

enum tdm_liveness {
	TDM_ALIVE,         /* the writer holds its lock */
	TDM_DEAD,          /* it does not: the ledger is a post-mortem */
	TDM_ALIVE_UNKNOWN, /* the lock could not be tested */
};

/* Who wrote it, or for whom it was written (TDM_LEDGER_ON_BEHALF). */
struct tdm_ledger_who {
	uint8_t boot_id[16];
	uint64_t pid_namespace, start_time;
	int32_t pid;
	uint32_t generation, uid;
	char comm[17];
	char command[233];
};

/* The counters of one kind with their peaks. */
struct tdm_ledger_count {
	uint64_t seq; /* number of the last call that changed them; 0: never used */
	uint64_t bytes, peak_bytes;
	uint64_t buffers, peak_buffers;
	uint64_t bank_bytes, peak_bank_bytes;
	uint64_t asked_bytes, peak_asked_bytes;
	uint64_t allocs, alloc_bytes; /* since the start, without those that were adopted */
	uint64_t alloc_asked;         /* since the start, with them */
	uint64_t adopted;
	uint64_t peak_tsc;
};

/* One device, its counters resolved to one committed call. */
struct tdm_ledger_view {
	uint32_t number, flags;
	uint64_t seq;     /* calls finished */
	uint64_t version; /* another one after each change of the view; never 0, and each once in a process */
	uint64_t chip_id;
	char card[25];
	uint32_t grid_x, grid_y;
	uint32_t region_count;
	uint32_t shared_kinds; /* bit n: the counters of kind n are more than the sums of its buffers */
	struct tdm_ledger_region regions[TDM_LEDGER_REGIONS];
	struct tdm_ledger_faults faults[TDM_KIND_COUNT];
	struct tdm_ledger_count counts[TDM_LEDGER_COUNTERS]; /* all 0 for a kind that was never used */
};

/* A buffer. */
struct tdm_ledger_buffer {
	struct tdm_ledger_slot slot;
	struct tdm_ledger_more more;
	uint64_t reserved_bytes; /* bank_bytes * banks; 0 for a view */
	uint64_t occupied_bytes; /* bank_bytes * holding */
};

static inline bool tdm_ledger_slot_is_view(const struct tdm_ledger_slot *slot)
{
	return slot->banks == 0 || (slot->flags & TDM_SLOT_VIEW) != 0;
}

/* Joins both halves of a buffer, which must have been checked as in tdm_ledger_walk. */
static inline struct tdm_ledger_buffer tdm_ledger_buffer_of(
	const struct tdm_ledger_slot *slot, const struct tdm_ledger_more *more)
{
	uint64_t bytes = tdm_ledger_slot_is_view(slot) ? 0 : slot->bank_bytes;
	return (struct tdm_ledger_buffer){ *slot, *more, bytes * slot->banks,
		bytes * (more->holding != 0 ? more->holding : slot->banks) };
}

struct tdm_ledger;

/*
 * Opens a ledger and takes the first picture. 0; -errno; TDM_EVERSION for another major version (diag names it);
 * TDM_ECORRUPT when it is not a ledger or is damaged; -EAGAIN while its writer is still setting it up. A process may
 * read its own ledger; the descriptor then stays open until the process ends, because closing it would release the lock
 * that shows others that the process is alive.
 */
int tdm_ledger_open(const char *path, struct tdm_ledger **out, struct tdm_diag *diag);
void tdm_ledger_close(struct tdm_ledger *ledger); /* NULL is allowed */

/* 0, -errno or TDM_ECORRUPT; after an error the last picture stays, perhaps with newer figures of some devices. Cheap
 * if little has changed: one read for the header and one for each unchanged device. */
int tdm_ledger_refresh(struct tdm_ledger *ledger, struct tdm_diag *diag);

/* Whether no device has changed since the last refresh. Reads only the devices' heads; false when in doubt. */
bool tdm_ledger_is_still(const struct tdm_ledger *ledger);

const char *tdm_ledger_path(const struct tdm_ledger *ledger);
const struct tdm_ledger_who *tdm_ledger_who(const struct tdm_ledger *ledger);
uint64_t tdm_ledger_started(const struct tdm_ledger *ledger); /* monotonic clock, nanoseconds */
/* When its writer last noted the time, which it does now and then while it writes. */
struct tdm_ledger_clock tdm_ledger_noted(const struct tdm_ledger *ledger);
enum tdm_liveness tdm_ledger_liveness(const struct tdm_ledger *ledger); /* tests the lock again */
/* The same, with the writer's pid in this process's pid namespace; 0: it has none here. */
enum tdm_liveness tdm_ledger_holder(const struct tdm_ledger *ledger, int32_t *pid);
uint32_t tdm_ledger_file_owner(const struct tdm_ledger *ledger);  /* user id */
uint32_t tdm_ledger_phase_count(const struct tdm_ledger *ledger); /* as the ledger says; not checked */
enum tdm_ledger_state tdm_ledger_state(const struct tdm_ledger *ledger);
uint64_t tdm_ledger_lost(const struct tdm_ledger *ledger, enum tdm_ledger_loss loss);
uint64_t tdm_ledger_frees_inherited(const struct tdm_ledger *ledger);
uint32_t tdm_ledger_flags(const struct tdm_ledger *ledger); /* TDM_LEDGER_BAD_*, ... */
/* The number of invalid records since the ledger was opened. */
uint64_t tdm_ledger_refused(const struct tdm_ledger *ledger);

size_t tdm_ledger_device_count(const struct tdm_ledger *ledger);
/* Borrowed until the next refresh. */
const struct tdm_ledger_view *tdm_ledger_device(const struct tdm_ledger *ledger, size_t i);

/*
 * Walks over the current live buffers of a device and gives them to `each` in pieces. *exact: they are the buffers of
 * one moment, because the sums of each kind match the counters after one call. While the writer is active this may take
 * several passes; each further pass begins with `again`, and after a few the last one must do. A short list that is not
 * exact may have buffers that are newer than the view (whose second half may still be an older buffer's), and both of a
 * buffer and the one that replaced it, but never neither. The device's view is that of the last pass. 0, -errno,
 * TDM_ECORRUPT, or the error from `each`.
 *
 * With `as_seen` the view stays, and the buffers are those that were live then: one pass, not exact if the writer has
 * used the place of one of them again since.
 */
struct tdm_ledger_walk {
	/* These were checked: the kind is valid, and bank_bytes times banks, or times holding, fits 64 bits. `mores` is
	 * NULL unless with_more is set. A negative code ends the walk. */
	int (*each)(
		void *context, const struct tdm_ledger_slot *slots, const struct tdm_ledger_more *mores, size_t count);
	void (*again)(void *context); /* discard all buffers given so far; NULL: make only one pass */
	void *context;
	bool with_more;
	bool as_seen;
};
int tdm_ledger_walk(struct tdm_ledger *ledger, size_t device, const struct tdm_ledger_walk *walk, bool *exact);

/* Takes a new view of one device; the old one stays if that fails. 0, -errno or TDM_ECORRUPT. */
int tdm_ledger_refresh_device(struct tdm_ledger *ledger, size_t device);

/*
 * Reads the recent events of a device with numbers above `after`, oldest first; at most `cap`. Returns their number, or
 * a negative code; *missed is the number of events that are gone or cannot be read. For the next call, add both to
 * `after`.
 */
int64_t tdm_ledger_events(struct tdm_ledger *ledger, size_t device, uint64_t after, struct tdm_ledger_record *records,
	size_t cap, uint64_t *missed);

/*
 * The buffer of a TDM_LEDGER_ALLOC record, even if it has been freed. 0; -ESTALE when its slot has been reused or the
 * record names none; -EINVAL for any other record; -errno or TDM_ECORRUPT. This may refresh the device's view.
 */
int tdm_ledger_record_buffer(struct tdm_ledger *ledger, size_t device, const struct tdm_ledger_record *record,
	struct tdm_ledger_buffer *buffer);

/*
 * What the runtime said about a device. 1 with *told set, 0 when there is nothing, or nothing new since the head `seen`
 * (all 0: nothing was seen), or a negative code. Everything in it was checked: entries from the counts on, and those
 * that are not valid, are all 0; a hazard with a count has a valid kind and state.
 */
bool tdm_ledger_has_told(const struct tdm_ledger *ledger, size_t device); /* whether there is anything at all */
int tdm_ledger_told(struct tdm_ledger *ledger, size_t device, const struct tdm_ledger_runtime_head *seen,
	struct tdm_ledger_runtime *told);

/* The notes of the process. 1 with *notes set, 0 when there are none, or a negative code. The count of remarks was
 * checked. */
int tdm_ledger_notes(struct tdm_ledger *ledger, struct tdm_ledger_notes *notes);

/* Reads the phases from index `from`. Returns the number stored, or a negative code. */
int64_t tdm_ledger_phases(struct tdm_ledger *ledger, size_t from, struct tdm_ledger_phase *phases, size_t cap);

/* The content of a blob of this kind, borrowed until the reader is closed. Empty when the number is 0 or wrong. */
struct tdm_str tdm_ledger_text(struct tdm_ledger *ledger, uint32_t number);
size_t tdm_ledger_stack(struct tdm_ledger *ledger, uint32_t number, uint64_t frames[TDM_LEDGER_STACK_MAX]);
/* Refuses the whole list if a rectangle is invalid: a partial list would be wrong. */
const struct tdm_core_range *tdm_ledger_ranges(struct tdm_ledger *ledger, uint32_t number, uint32_t *count);
/* The program's i-th loaded module, for symbolising: 1 with *base, *size and *path set, or 0 when there is none. */
int tdm_ledger_module(struct tdm_ledger *ledger, size_t i, uint64_t *base, uint64_t *size, struct tdm_str *path);

/* Convert the time stamp counter to clock times with two readings of the clocks. False when that is not possible. */
bool tdm_ledger_monotonic(const struct tdm_ledger *ledger, uint64_t tsc, uint64_t *ns);
bool tdm_ledger_realtime(const struct tdm_ledger *ledger, uint64_t tsc, uint64_t *ns);

#endif
