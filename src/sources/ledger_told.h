/* Converts what the runtime said, and notes, from a ledger to their descriptions. Texts are borrowed from the ledger.
 */
#ifndef TDM_SOURCES_LEDGER_TOLD_H
#define TDM_SOURCES_LEDGER_TOLD_H

#include "event/describe.h"
#include "ledger/reader.h"

/* Room for one conversion, kept between them. Starts all zero. */
struct tdm_told_room {
	struct tdm_ledger_runtime *raw; /* made when it is first needed */
	struct tdm_trace traces[TDM_LEDGER_TRACES];
	struct tdm_hazard hazards[2 * TDM_LEDGER_HAZARDS];
	struct tdm_clash clashes[TDM_CLASH_TYPES];
	struct tdm_note notes[TDM_LEDGER_NOTE_COUNTERS + TDM_LEDGER_NOTE_REMARKS];
	struct tdm_frame *frames;
	size_t frame_count, frame_cap;
};
void tdm_told_room_done(struct tdm_told_room *room);

/* 1 with *told set, which borrows the room; 0 when there is nothing new since *seen, which is set; -ENOMEM. What cannot
 * be read is nothing new. */
int tdm_told_read(struct tdm_ledger *ledger, size_t device, struct tdm_ledger_runtime_head *seen,
	struct tdm_told_room *room, struct tdm_told *told);

/* The notes, which borrow the room. */
struct tdm_notes tdm_notes_of(
	struct tdm_ledger *ledger, const struct tdm_ledger_notes *raw, struct tdm_told_room *room);

#endif
