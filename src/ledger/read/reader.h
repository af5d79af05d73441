/*
 * Reads the ledger of a live or dead process. A ledger is hostile input: its file is read, never mapped, so that
 * truncation causes an error, not a signal. The copy is checked, and only the copy is used. Reading takes no lock and
 * cannot disturb the writer.
 *
 * tdm_ledger_refresh() takes a new picture of the header, devices and counters; buffers, events, texts and phases are
 * read on demand.
 */
#ifndef TDM_LEDGER_READER_H
#define TDM_LEDGER_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "model/event/event.h"
#include "ledger/layout/layout.h"

enum tdm_liveness {
	TDM_ALIVE,         /* the writer holds its lock */
	TDM_DEAD,          /* the writer is gone: the ledger is a post-mortem */
	TDM_ALIVE_UNKNOWN, /* the lock could not be tested */
};

/* One device, with its counters as of one committed call. */
struct tdm_ledger_view {
	uint32_t number;
	uint32_t shared_kinds; /* bit n: the counters of kind n include bytes other than the sums of its buffers */
	uint64_t seq;          /* number of finished calls */
	uint64_t version;      /* changes whenever the view changes; never 0, and unique in this process */
	struct tdm_device_info info;
	struct tdm_counter counts[TDM_LEDGER_COUNTERS]; /* all 0 for kinds that were never used; `peak_ns` is not set */
	uint64_t peak_tsc[TDM_LEDGER_COUNTERS];         /* when each counter peaked, by the time stamp counter */
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

/* Joins both halves of a buffer, which must have passed the checks in tdm_ledger_walk(). */
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
 * TDM_ECORRUPT if the file is not a ledger or is damaged; -EAGAIN while its writer is still setting it up. A process
 * may read its own ledger; the descriptor then stays open until the process ends, because closing it would release the
 * writer's lock.
 */
int tdm_ledger_open(const char *path, struct tdm_ledger **out, struct tdm_diag *diag);
void tdm_ledger_close(struct tdm_ledger *ledger); /* NULL is allowed */

/* Takes a new picture. 0, -errno or TDM_ECORRUPT; after an error the previous picture remains, perhaps with newer
 * figures for some devices. Cheap if little has changed: one read for the header, and one for each unchanged device. */
int tdm_ledger_refresh(struct tdm_ledger *ledger, struct tdm_diag *diag);

/* Whether no device has changed since the last refresh. Reads only the devices' heads; returns false when in doubt. */
bool tdm_ledger_is_still(const struct tdm_ledger *ledger);

/* The last picture's header, with accepted segments only. Its strings are terminated; `phase_count` is unchecked. */
const struct tdm_ledger_header *tdm_ledger_header(const struct tdm_ledger *ledger);
/* The time last recorded by the writer, which records the time now and then while it is writing. */
struct tdm_ledger_clock tdm_ledger_noted(const struct tdm_ledger *ledger);
enum tdm_liveness tdm_ledger_liveness(const struct tdm_ledger *ledger); /* tests the lock again */
/*
 * Like tdm_ledger_liveness(), but also returns the writer's pid in this process's pid namespace; 0 if it has none here.
 */
enum tdm_liveness tdm_ledger_holder(const struct tdm_ledger *ledger, int32_t *pid);
uint32_t tdm_ledger_file_owner(const struct tdm_ledger *ledger); /* user id */
/* The number of invalid records since the ledger was opened. */
uint64_t tdm_ledger_refused(const struct tdm_ledger *ledger);

size_t tdm_ledger_device_count(const struct tdm_ledger *ledger);
/* The device with this index. Borrowed until the next refresh. */
const struct tdm_ledger_view *tdm_ledger_device(const struct tdm_ledger *ledger, size_t i);

/*
 * Walks over the live buffers of a device and passes them to `each` in pieces. *exact: the buffers were all live at one
 * moment, because the sums of each kind match the counters after one call. While the writer is active this may take
 * several passes. `again` is called before each additional pass; after a few passes, the last one is accepted. An
 * inexact short list may contain buffers newer than the view (whose second half may still be an older buffer's). It may
 * also contain both a buffer and its replacement, but never omits both. Afterwards the device's view is that of the
 * last pass. 0, -errno or TDM_ECORRUPT.
 *
 * With `as_seen` the view stays, and the buffers are those that were live at its time: one pass, inexact if the writer
 * has since reused the slot of one of them.
 */
struct tdm_ledger_walk {
	/* Called only for checked buffers: the kind is valid, and bank_bytes times banks, or times holding, fits in
	 * 64 bits. `mores` is NULL unless with_more is set. */
	void (*each)(
		void *context, const struct tdm_ledger_slot *slots, const struct tdm_ledger_more *mores, size_t count);
	/* tells the caller to discard all buffers passed so far; NULL: make only one pass */
	void (*again)(void *context);
	void *context;
	bool with_more;
	bool as_seen;
};
int tdm_ledger_walk(struct tdm_ledger *ledger, size_t device, const struct tdm_ledger_walk *walk, bool *exact);

/* Takes a new view of one device; the old view remains if that fails. 0, -errno or TDM_ECORRUPT. */
int tdm_ledger_refresh_device(struct tdm_ledger *ledger, size_t device);

/*
 * Reads the recent events of a device with numbers above `after`, oldest first; at most `cap`. Returns the number read,
 * or a negative code; *missed is the number of overwritten or unreadable events. Before the next call, add both numbers
 * to `after`.
 */
int64_t tdm_ledger_events(struct tdm_ledger *ledger, size_t device, uint64_t after, struct tdm_ledger_record *records,
	size_t cap, uint64_t *missed);

/*
 * The buffer of a TDM_LEDGER_ALLOC record, even if it has been freed. 0; -ESTALE if its slot has been reused or the
 * record names no slot; -EINVAL for any other record; -errno or TDM_ECORRUPT. May refresh the device's view.
 */
int tdm_ledger_record_buffer(struct tdm_ledger *ledger, size_t device, const struct tdm_ledger_record *record,
	struct tdm_ledger_buffer *buffer);

/*
 * The runtime's reports about a device. Returns 1 and sets *told; returns 0 if there are no reports, or no new ones
 * since the head `seen` (all 0: nothing seen yet); or a negative code. Everything is checked: invalid and unused
 * entries are all 0; a hazard with a count has a valid kind and state.
 */
bool tdm_ledger_has_told(const struct tdm_ledger *ledger, size_t device); /* whether there are any reports */
int tdm_ledger_told(struct tdm_ledger *ledger, size_t device, const struct tdm_ledger_runtime_head *seen,
	struct tdm_ledger_runtime *told);

/* The process's notes. Returns 1 and sets *notes, 0 if there are none, or a negative code. Checks the remark count. */
int tdm_ledger_notes(struct tdm_ledger *ledger, struct tdm_ledger_notes *notes);

/* Reads the phases from index `from`. Returns the number stored, or a negative code. */
int64_t tdm_ledger_phases(struct tdm_ledger *ledger, size_t from, struct tdm_ledger_phase *phases, size_t cap);

/* These return the content of the blob with this number, borrowed until the reader is closed; empty if the number is 0
 * or there is no such blob of the right kind. */
struct tdm_str tdm_ledger_text(struct tdm_ledger *ledger, uint32_t number);
size_t tdm_ledger_stack(struct tdm_ledger *ledger, uint32_t number, uint64_t frames[TDM_LEDGER_STACK_MAX]);
/* Refuses the whole list if a rectangle is invalid: a partial list would be wrong. */
const struct tdm_core_range *tdm_ledger_ranges(struct tdm_ledger *ledger, uint32_t number, uint32_t *count);
/*
 * The program's i-th loaded module, for symbolising. Returns 1 and sets *base, *size and *path, or returns 0 if there
 * is no i-th module.
 */
int tdm_ledger_module(struct tdm_ledger *ledger, size_t i, uint64_t *base, uint64_t *size, struct tdm_str *path);

/* These convert the time stamp counter to clock times, using two clock readings. False if that is impossible. */
bool tdm_ledger_monotonic(const struct tdm_ledger *ledger, uint64_t tsc, uint64_t *ns);

#endif
