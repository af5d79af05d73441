#include "sources/ledger_told.h"
#include "base/number.h"
#include "base/reserve.h"
#include "event/event.h"
#include "sources/ledger_event.h"

#include <errno.h>
#include <stdlib.h>

void tdm_told_room_done(struct tdm_told_room *room)
{
	free(room->raw);
	free(room->frames);
	room->raw = NULL;
	room->frames = NULL;
	room->frame_count = room->frame_cap = 0;
}

static struct tdm_statistics statistics_of(const struct tdm_ledger *ledger, const struct tdm_ledger_statistics *raw)
{
	return (struct tdm_statistics){
		.reports = raw->reports,
		.allocated = raw->allocated,
		.free = raw->free,
		.largest = raw->largest,
		.ours = raw->ours,
		.differing = raw->differing,
		.time_ns = tdm_ledger_time(ledger, raw->tsc),
	};
}

static struct tdm_trace trace_of(const struct tdm_ledger *ledger, const struct tdm_ledger_trace *raw, uint64_t allocs)
{
	bool has_existed = raw->ended_tsc != 0 || raw->replays != 0;
	uint64_t last = raw->released_tsc != 0 ? raw->last : allocs;
	return (struct tdm_trace){
		.id = raw->id,
		.began_ns = tdm_ledger_time(ledger, raw->began_tsc),
		.ended_ns = tdm_ledger_time(ledger, raw->ended_tsc),
		.replayed_ns = tdm_ledger_time(ledger, raw->replayed_tsc),
		.released_ns = tdm_ledger_time(ledger, raw->released_tsc),
		.replays = raw->replays,
		.allocs = has_existed && last > raw->first ? last - raw->first : 0,
	};
}

/* Keeps the frames of a stack. Their place is set when there will be no more, because they move until then. */
static int add_frames(struct tdm_ledger *ledger, uint32_t stack, struct tdm_told_room *room, uint32_t *count)
{
	*count = 0;
	if (stack == 0)
		return 0;
	if (tdm_reserve(&room->frames, &room->frame_cap, room->frame_count + TDM_LEDGER_STACK_MAX,
		    sizeof *room->frames) != 0)
		return -ENOMEM;
	*count = tdm_ledger_frames(ledger, stack, room->frames + room->frame_count);
	room->frame_count += *count;
	return 0;
}

static int hazard_of(struct tdm_ledger *ledger, const struct tdm_ledger_hazard *raw, struct tdm_told_room *room,
	struct tdm_hazard *hazard)
{
	*hazard = (struct tdm_hazard){
		.trace = raw->trace,
		.state = raw->state,
		.kind = raw->kind,
		.count = raw->count,
		.id = raw->id,
		.address = (raw->flags & TDM_SLOT_NO_ADDRESS) != 0 ? TDM_ADDRESS_UNKNOWN : raw->address,
		.asked = raw->asked,
		.bank_bytes = raw->bank_bytes,
		.time_ns = tdm_ledger_time(ledger, raw->tsc),
		.replayed_ns = tdm_ledger_time(ledger, raw->replayed_tsc),
		.name = tdm_ledger_text(ledger, raw->name),
		.program = tdm_ledger_text(ledger, raw->program),
	};
	int err = add_frames(ledger, raw->stack, room, &hazard->frame_count);
	return err == 0 ? add_frames(ledger, raw->replay_stack, room, &hazard->replay_frame_count) : err;
}

static int add_hazards(struct tdm_ledger *ledger, struct tdm_told_room *room, struct tdm_told *told)
{
	size_t next = 0;
	int err = 0;
	room->frame_count = 0;
	for (uint32_t i = 0; i < 2 * TDM_LEDGER_HAZARDS && err == 0; i++)
		if (room->raw->hazards[i].count != 0)
			err = hazard_of(ledger, &room->raw->hazards[i], room, &room->hazards[told->hazard_count++]);
	for (size_t i = 0; i < told->hazard_count && err == 0; i++) {
		struct tdm_hazard *hazard = &room->hazards[i];
		hazard->frames = hazard->frame_count != 0 ? &room->frames[next] : NULL;
		next += hazard->frame_count;
		hazard->replay_frames = hazard->replay_frame_count != 0 ? &room->frames[next] : NULL;
		next += hazard->replay_frame_count;
	}
	return err;
}

static void add_clashes(struct tdm_ledger *ledger, struct tdm_told_room *room, struct tdm_told *told)
{
	for (unsigned i = 0; i < TDM_CLASH_TYPES; i++) {
		const struct tdm_ledger_clash *raw = &room->raw->clashes[i];
		if (raw->count != 0)
			room->clashes[told->clash_count++] = (struct tdm_clash){ .type = (uint8_t)i,
				.kind = raw->kind,
				.count = raw->count,
				.begin = raw->begin,
				.end = raw->end,
				.limit = raw->limit,
				.time_ns = tdm_ledger_time(ledger, raw->tsc),
				.range_count = raw->range_count,
				.range = { raw->range[0], raw->range[1], raw->range[2], raw->range[3] },
				.program = tdm_ledger_text(ledger, raw->program) };
	}
}

int tdm_told_read(struct tdm_ledger *ledger, size_t device, struct tdm_ledger_runtime_head *seen,
	struct tdm_told_room *room, struct tdm_told *told)
{
	if (!tdm_ledger_has_told(ledger, device))
		return 0;
	if (room->raw == NULL && (room->raw = calloc(1, sizeof *room->raw)) == NULL)
		return -ENOMEM;
	if (tdm_ledger_told(ledger, device, seen, room->raw) <= 0)
		return 0;
	const struct tdm_ledger_runtime_head *head = &room->raw->head;
	*seen = *head;
	*told = (struct tdm_told){
		.traces = room->traces,
		.hazards = room->hazards,
		.clashes = room->clashes,
		.trace_count = head->trace_count,
		.life = (uint8_t)head->life,
		.left = head->left,
		.traces_lost = head->traces_lost,
		.hazards_lost = head->hazards_lost,
	};
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		told->statistics[k] = statistics_of(ledger, &room->raw->statistics[k]);
	for (uint32_t i = 0; i < head->trace_count; i++)
		room->traces[i] = trace_of(ledger, &room->raw->traces[i], head->allocs);
	add_clashes(ledger, room, told);
	int err = add_hazards(ledger, room, told);
	return err != 0 ? err : 1;
}

struct tdm_notes tdm_notes_of(struct tdm_ledger *ledger, const struct tdm_ledger_notes *raw, struct tdm_told_room *room)
{
	struct tdm_notes notes = { .list = room->notes, .lost = raw->remarks_lost };
	for (unsigned i = 0; i < TDM_LEDGER_NOTE_COUNTERS; i++)
		if (raw->counters[i].text != 0)
			room->notes[notes.count++] =
				(struct tdm_note){ .text = tdm_ledger_text(ledger, raw->counters[i].text),
					.value = raw->counters[i].value };
	for (uint64_t i = 0; i < raw->remark_count; i++)
		room->notes[notes.count++] =
			(struct tdm_note){ .text = tdm_ledger_text(ledger, raw->remarks[i]), .is_remark = true };
	return notes;
}
