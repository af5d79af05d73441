/* Follows one device in a ledger: remembers what has been passed on, and passes on the rest. Each look compares the
 * number of finished calls with the number at the previous look. If an exact list of buffers was passed on before, and
 * the ring still holds every later event, those events bring the list up to date; otherwise a new list follows.
 * Counters are passed on only if they have changed. */
#include "live/follow/follow_parts.h"
#include "live/follow/follower.h"
#include "base/memory.h"
#include "base/number.h"
#include "live/join/intern.h"

#include <errno.h>
#include <stdlib.h>

enum {
	ACCOUNT_SHARE = 16,
	/* if there are more new buffers than live buffers / ACCOUNT_SHARE + ACCOUNT_MIN, all buffers are listed */
	ACCOUNT_MIN = 64,
	RECORDS_MAX = 1 << 16, /* maximum events per device in one look; the latest are kept */
	/* number of events after a release to search for an event that read the clock */
	OVER_MAX = 8 * TDM_LEDGER_FREE_CLOCK,
};

uint64_t tdm_ledger_time(const struct tdm_ledger *ledger, uint64_t tsc)
{
	uint64_t ns;
	return tsc != 0 && tdm_ledger_monotonic(ledger, tsc, &ns) ? ns : 0;
}

bool tdm_follow_device_number(const struct tdm_ledger_view *view, uint32_t *number)
{
	if ((view->number & TDM_DEVICE_VIRTUAL_BIT) != 0)
		return false;
	*number = view->number | (view->info.is_virtual ? TDM_DEVICE_VIRTUAL_BIT : 0);
	return true;
}

/* ---- conversion: strings are borrowed from the ledger ---- */

/* Stores a stack's frames and returns their number. */
static uint32_t frames_of(struct tdm_ledger *ledger, uint32_t stack, struct tdm_frame frames[TDM_LEDGER_STACK_MAX])
{
	uint64_t raw[TDM_LEDGER_STACK_MAX];
	size_t count = stack != 0 ? tdm_ledger_stack(ledger, stack, raw) : 0;
	static_assert((int)TDM_FRAMES_MAX == (int)TDM_LEDGER_STACK_MAX, "every frame has a place");
	for (size_t i = 0; i < count; i++) {
		frames[i] = (struct tdm_frame){ .address = raw[i] };
		if ((raw[i] & TDM_FRAME_TEXT) != 0)
			frames[i] = (struct tdm_frame){ .text = tdm_ledger_text(ledger, (uint32_t)raw[i]) };
	}
	return (uint32_t)count;
}

static uint16_t flags_of(uint32_t flags)
{
	return (uint16_t)(((flags & TDM_SLOT_VIEW) != 0 ? TDM_EVENT_VIEW : 0) |
			  ((flags & TDM_SLOT_SHARED) != 0 ? TDM_EVENT_SHARED : 0) |
			  ((flags & TDM_SLOT_ADOPTED) != 0 ? TDM_EVENT_ADOPTED : 0));
}

static uint64_t address_of(uint64_t address, uint32_t flags)
{
	return (flags & TDM_SLOT_NO_ADDRESS) != 0 ? TDM_ADDRESS_UNKNOWN : address;
}

static struct tdm_str text_of(struct tdm_ledger *ledger, uint32_t number)
{
	return number != 0 ? tdm_ledger_text(ledger, number) : (struct tdm_str){ "", 0 };
}

/* Makes an allocation event for a live buffer. The stack is stored in `frames`, which the event borrows. */
static void buffer_event(struct tdm_ledger *ledger, const struct tdm_ledger_buffer *buffer,
	struct tdm_frame frames[TDM_LEDGER_STACK_MAX], struct tdm_event *event)
{
	const struct tdm_ledger_slot *slot = &buffer->slot;
	const struct tdm_ledger_more *more = &buffer->more;
	bool is_estimated = (slot->flags & TDM_SLOT_ESTIMATED) != 0;
	*event = (struct tdm_event){
		.op = TDM_OP_ALLOC,
		.time_ns = tdm_ledger_time(ledger, more->tsc),
		.kind = slot->kind,
		.flags = flags_of(slot->flags),
		.id = slot->id,
		.address = address_of(slot->address, slot->flags),
		.size = slot->asked,
		.bytes_per_bank = is_estimated ? TDM_SIZE_UNKNOWN : slot->bank_bytes,
		.page_size = more->page_size,
		.banks = is_estimated ? 0 : slot->banks,
		.holding = is_estimated ? 0 : more->holding,
		.cores = more->cores,
		.thread = more->thread,
		.position = slot->birth,
		.name = text_of(ledger, slot->name),
		.program = text_of(ledger, more->program),
		.frames = frames,
		.frame_count = frames_of(ledger, slot->stack, frames),
	};
	static_assert((int)TDM_RANGES_MAX == (int)TDM_LEDGER_RANGES_MAX, "every rectangle has a place");
	event->ranges = more->ranges != 0 ? tdm_ledger_ranges(ledger, more->ranges, &event->range_count) : NULL;
	if (tdm_slot_is_view(slot->banks, slot->flags))
		event->flags |= TDM_EVENT_VIEW;
	else if (slot->banks == 0)
		event->banks = more->holding; /* for a shared buffer, its number of cores */
}

/* Makes an event from a ring record, which contains fewer facts about an allocation than the buffer's slot. `frames`:
 * as above. */
static void record_event(struct tdm_ledger *ledger, const struct tdm_ledger_record *record,
	struct tdm_frame frames[TDM_LEDGER_STACK_MAX], struct tdm_event *event)
{
	static const uint8_t ops[TDM_LEDGER_OP_COUNT] = {
		[TDM_LEDGER_ALLOC] = TDM_OP_ALLOC,
		[TDM_LEDGER_FREE] = TDM_OP_FREE,
		[TDM_LEDGER_OOM] = TDM_OP_OOM,
		[TDM_LEDGER_PHASE] = TDM_OP_PHASE,
		[TDM_LEDGER_PROGRAM] = TDM_OP_PROGRAM,
		[TDM_LEDGER_STEP] = TDM_OP_STEP,
		[TDM_LEDGER_BAD_FREE] = TDM_OP_FREE, /* the receiver notices that the buffer is unknown */
	};
	bool is_estimated = (record->flags & TDM_SLOT_ESTIMATED) != 0;
	*event = (struct tdm_event){
		.op = ops[record->op],
		.time_ns = tdm_ledger_time(ledger, record->tsc),
		.kind = record->kind,
		.flags = flags_of(record->flags),
		.id = record->id,
		.address = address_of(record->address, record->flags),
		.size = record->asked,
		.bytes_per_bank = is_estimated ? TDM_SIZE_UNKNOWN : record->bank_bytes,
		.banks = is_estimated ? 0 : record->banks,
		.thread = record->op != TDM_LEDGER_ALLOC && record->op != TDM_LEDGER_FREE ? record->thread : 0,
		.position = record->seq,
		.name = text_of(ledger, record->name),
		.frames = frames,
		.frame_count = record->op == TDM_LEDGER_FREE ? frames_of(ledger, record->stack, frames) : 0,
	};
	if (record->op == TDM_LEDGER_ALLOC && tdm_slot_is_view(record->banks, record->flags))
		event->flags |= TDM_EVENT_VIEW;
	if (record->op == TDM_LEDGER_OOM && (record->flags & TDM_RECORD_CLASH) != 0)
		event->flags |= TDM_EVENT_CLASH | ((record->flags & TDM_RECORD_BEYOND) != 0 ? TDM_EVENT_BEYOND : 0);
	if (record->op == TDM_LEDGER_BAD_FREE)
		event->flags |= TDM_EVENT_FAULT;
}

/* ---- giving ---- */

void tdm_follow_room_done(struct tdm_follow_room *room)
{
	free(room->records);
	free(room->partners);
	free(room->runtime);
}

void tdm_follow_give(const struct tdm_follow_sink *sink, uint64_t process, struct tdm_event *event)
{
	event->process = process;
	if (tdm_event_is_valid(event))
		sink->event(sink->context, event);
}

static void give(const struct tdm_follow_look *look, struct tdm_event *event)
{
	tdm_follow_give(look->sink, look->process, event);
}

static const struct tdm_ledger_view *view_of(const struct tdm_follow_look *look)
{
	return tdm_ledger_device(look->ledger, look->device);
}

static unsigned wants_of(const struct tdm_follow_sink *sink, uint64_t process, uint32_t device)
{
	return sink->wants != NULL ? sink->wants(sink->context, process, device) : 0;
}

/* Buffers. */

static void give_clear(const struct tdm_follow_device *lane, const struct tdm_follow_look *look, uint64_t size)
{
	struct tdm_event event = { .op = TDM_OP_CLEAR, .device = lane->number, .size = size };
	give(look, &event);
}

static void give_buffers(
	void *context, const struct tdm_ledger_slot *slots, const struct tdm_ledger_more *mores, size_t count)
{
	const struct tdm_follow_look *look = context;
	for (size_t i = 0; i < count; i++) {
		const struct tdm_ledger_buffer buffer = tdm_ledger_buffer_of(&slots[i], &mores[i]);
		struct tdm_event event;
		buffer_event(look->ledger, &buffer, look->room->frames, &event);
		event.device = look->lane->number;
		event.flags |= TDM_EVENT_LISTED;
		give(look, &event);
	}
}

static void begin_again(void *context)
{
	const struct tdm_follow_look *look = context;
	give_clear(look->lane, look, 0);
}

static void give_account(struct tdm_follow_device *lane, struct tdm_follow_look *look)
{
	const struct tdm_ledger_walk walk = {
		.each = give_buffers, .again = begin_again, .context = look, .with_more = true
	};
	bool exact = false;
	look->lane = lane;
	give_clear(lane, look, 0);
	int err = tdm_ledger_walk(look->ledger, look->device, &walk, &exact);
	if (err != 0)
		look->unread = err;
	else
		lane->buffers_seq = view_of(look)->seq;
	lane->is_exact = exact; /* if false, the next look passes on a new list */
	lane->is_listed = true;
}

/* Events. */

/* Not unique: compare the id of the record found. If ids are equal, so are the kinds. */
static uint64_t birth_key(const struct tdm_ledger_record *record)
{
	return record->id ^ (uint64_t)record->kind << 59;
}

/*
 * Pairs each release with the record of its buffer's allocation, if both are among the records. Returns the number of
 * live buffers that were allocated after call `after`.
 */
static uint64_t find_births(struct tdm_follow_room *room, size_t count, uint64_t after)
{
	struct tdm_map births = { 0 };
	uint64_t stay = 0;
	tdm_grow(&room->partners, &room->partner_cap, count, sizeof *room->partners);
	for (size_t i = 0; i < count; i++) {
		const struct tdm_ledger_record *record = &room->records[i];
		room->partners[i] = TDM_MAP_NONE;
		if (record->op == TDM_LEDGER_ALLOC)
			tdm_map_set(&births, birth_key(record), (uint32_t)i);
		stay += record->op == TDM_LEDGER_ALLOC && record->seq > after;
		uint32_t at = record->op == TDM_LEDGER_FREE ? tdm_map_take(&births, birth_key(record)) : TDM_MAP_NONE;
		if (at == TDM_MAP_NONE || room->records[at].id != record->id)
			continue;
		room->partners[i] = at;
		room->partners[at] = (uint32_t)i;
		stay -= room->records[at].seq > after;
	}
	tdm_map_done(&births);
	return stay;
}

static void give_record(struct tdm_follow_device *lane, const struct tdm_follow_look *look, size_t count, size_t i)
{
	struct tdm_follow_room *room = look->room;
	const struct tdm_ledger_record *record = &room->records[i];
	struct tdm_ledger_buffer buffer;
	struct tdm_event event;
	if (record->op == TDM_LEDGER_CORE_USE)
		return; /* the counters include it */
	/* Phase records count as past, because the running phase is read from the phase area. */
	bool is_past = !lane->is_exact || record->seq <= lane->buffers_seq || record->op == TDM_LEDGER_PHASE;
	bool stays = record->op == TDM_LEDGER_ALLOC && room->partners[i] == TDM_MAP_NONE && !is_past;
	int err = stays ? tdm_ledger_record_buffer(look->ledger, look->device, record, &buffer) : -ESTALE;
	if (err == 0) /* a buffer that is still live is passed on with all its facts, as in a list */
		buffer_event(look->ledger, &buffer, room->frames, &event);
	else
		record_event(look->ledger, record, room->frames, &event);
	lane->is_exact &= !stays || err == 0; /* a ledger of major version 1 does not name the slot */
	event.device = lane->number;
	event.flags |= is_past ? TDM_EVENT_PAST : 0;
	if ((record->flags & TDM_SLOT_ADOPTED) != 0 && !tdm_ledger_monotonic(look->ledger, record->tsc, &event.time_ns))
		event.time_ns = 0;
	if (record->op == TDM_LEDGER_FREE) {
		/* The buffer's allocation time, and a time by which it had certainly been released: the release's own
		 * time if that report read the clock, else the time of the next event that did. If there is no such
		 * event, the release's own time is used. */
		uint32_t birth = room->partners[i];
		bool is_known = birth != TDM_MAP_NONE && (room->records[birth].flags & TDM_SLOT_ADOPTED) == 0;
		size_t k = i;
		while (k < count && k - i < OVER_MAX && room->records[k].op != TDM_LEDGER_ALLOC &&
			(room->records[k].op != TDM_LEDGER_FREE || room->records[k].seq % TDM_LEDGER_FREE_CLOCK != 0))
			k++;
		k = k < count && k - i < OVER_MAX ? k : i;
		if (is_known && !tdm_ledger_monotonic(look->ledger, room->records[birth].tsc, &event.born_ns))
			event.born_ns = 0;
		if (!tdm_ledger_monotonic(look->ledger, room->records[k].tsc, &event.over_ns))
			event.over_ns = 0;
	}
	give(look, &event);
}

static void give_records(struct tdm_follow_device *lane, const struct tdm_follow_look *look, size_t count)
{
	uint64_t live = 0, stay = find_births(look->room, count, lane->buffers_seq);
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		live = tdm_plus(live, view_of(look)->counts[k].buffers);
	/* Each new buffer is read from its slot; if there are many, a new list of all buffers is cheaper. */
	lane->is_exact &= stay <= live / ACCOUNT_SHARE + ACCOUNT_MIN;
	for (size_t i = 0; i < count; i++)
		give_record(lane, look, count, i);
}

/* The number of calls from `after` + 1 to `seq` that have no record. */
static uint64_t missing_after(const struct tdm_follow_room *room, size_t count, uint64_t after, uint64_t seq)
{
	uint64_t missing = seq > after ? seq - after : 0;
	for (size_t i = count; i > 0 && room->records[i - 1].seq > after; i--)
		missing--;
	return missing;
}

/* Keeps the `latest` latest allocations and releases, and all other records. Returns how many were dropped. */
static uint64_t skip_early(struct tdm_follow_room *room, size_t *count, size_t latest)
{
	size_t kept = *count, left = latest;
	if (latest == 0)
		return 0;
	for (size_t i = *count; i > 0; i--) {
		uint8_t op = room->records[i - 1].op;
		bool is_ordinary = op == TDM_LEDGER_ALLOC || op == TDM_LEDGER_FREE;
		if (is_ordinary && left == 0)
			continue;
		left -= is_ordinary;
		room->records[--kept] = room->records[i - 1];
	}
	memmove(room->records, room->records + kept, (*count - kept) * sizeof *room->records);
	*count -= kept;
	return kept;
}

/* The number of this device's latest events that the sink wants; 0 for all. */
static size_t share_of(const struct tdm_follow_look *look)
{
	size_t latest = look->sink->latest, devices = tdm_max(look->room->active_before, look->room->active);
	return latest != 0 ? tdm_max(latest / tdm_max(devices, 1), 1) : 0;
}

static void give_events(struct tdm_follow_device *lane, const struct tdm_follow_look *look, bool is_wanted)
{
	struct tdm_follow_room *room = look->room;
	const struct tdm_ledger_view *view = view_of(look);
	uint64_t seq = view->seq, missing = 0, missed;
	struct tdm_event lost = { .op = TDM_OP_LOST, .device = lane->number };
	uint64_t share = is_wanted && !lane->is_exact ? share_of(look) : 0;
	/* The number of calls that were neither allocations nor releases: allocations and releases are one call each, a
	 * replacement is two. */
	uint64_t rare = seq;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		rare -= 2 * (view->counts[k].allocs + view->counts[k].adopted) - view->counts[k].buffers;
	/* If there are no new rare calls, everything before the latest events would be skipped, so it is not read. */
	bool skips = share != 0 && lane->has_events && rare == lane->rare;
	/*
	 * Reads the events up to the last one in the counters. The list of buffers is never older than the last event
	 * passed on, so one reading serves both.
	 */
	uint64_t after = !is_wanted ? lane->buffers_seq : lane->has_events ? lane->events_seq : 0;
	uint64_t most = skips ? tdm_min(share, RECORDS_MAX) : RECORDS_MAX;
	size_t fresh = seq > after ? (size_t)tdm_min(seq - after, most) : 0, count = 0;
	if (fresh != 0) {
		tdm_grow(&room->records, &room->record_cap, fresh, sizeof *room->records);
		int64_t got = tdm_ledger_events(look->ledger, look->device, seq - fresh, room->records, fresh, &missed);
		while (got > 0 && room->records[got - 1].seq > seq)
			got--;
		count = got > 0 ? (size_t)got : 0;
	}
	if (lane->is_exact)
		lane->is_exact = missing_after(room, count, lane->buffers_seq, seq) == 0;
	uint64_t unread = missing_after(room, count, lane->events_seq, seq);
	room->active += count != 0;
	uint64_t skipped = is_wanted && !lane->is_exact ? skip_early(room, &count, share_of(look)) : 0;
	if (is_wanted && lane->has_events) /* events before the first look do not count as lost */
		missing = unread + skipped;
	if (missing != 0) {
		lost.size = missing;
		if (count != 0 && !tdm_ledger_monotonic(look->ledger, room->records[0].tsc, &lost.time_ns))
			lost.time_ns = 0;
		give(look, &lost);
	}
	give_records(lane, look, count);
	if (lane->is_exact)
		lane->buffers_seq = seq;
	if (is_wanted) {
		lane->has_events = true;
		lane->events_seq = seq;
		lane->rare = rare;
	}
}

/* Counters. */

static void give_usage(struct tdm_follow_device *lane, const struct tdm_follow_look *look)
{
	const struct tdm_ledger_view *view = view_of(look);
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		const struct tdm_counter *now = &view->counts[k];
		uint64_t seq = now->seq;
		uint64_t sum = now->out_of_memory + now->double_frees + now->unknown_frees + now->rereports +
			       now->oom_bytes + now->is_estimated;
		if (k == TDM_KIND_L1) /* kind L1 carries the peak of everything in L1 */
			seq = tdm_max(seq, view->counts[TDM_LEDGER_L1_ALL].seq);
		if (seq == lane->counts_seq[k] && sum == lane->faults[k])
			continue;
		lane->counts_seq[k] = seq;
		lane->faults[k] = sum;
		struct tdm_counter counter = *now;
		counter.peak_ns = tdm_ledger_time(look->ledger, view->peak_tsc[k]);
		struct tdm_event event = {
			.op = TDM_OP_USAGE, .device = lane->number, .kind = (uint8_t)k, .counter = &counter
		};
		give(look, &event);
	}
}

/* Passes on the counters if they have changed since the last look. */
static void give_new_usage(struct tdm_follow_device *lane, const struct tdm_follow_look *look)
{
	uint64_t version = view_of(look)->version;
	if (version != lane->version)
		give_usage(lane, look);
	lane->version = version;
}

/* ---- the runtime's reports, and notes ---- */

/* These convert the ledger's numbers to the picture's. */
static uint32_t kept_text(const struct tdm_follow_look *look, uint32_t number)
{
	return tdm_intern_text(look->sink->texts, text_of(look->ledger, number));
}

static uint32_t kept_stack(const struct tdm_follow_look *look, uint32_t stack)
{
	uint32_t count = frames_of(look->ledger, stack, look->room->frames);
	return tdm_intern_stack(look->sink->texts, look->room->frames, count);
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

bool tdm_follow_notes_give(struct tdm_ledger_notes **given, const struct tdm_follow_look *look)
{
	struct tdm_ledger_notes raw;
	struct tdm_note notes[TDM_LEDGER_NOTE_COUNTERS + TDM_LEDGER_NOTE_REMARKS];
	if (look->sink->texts == NULL || tdm_ledger_notes(look->ledger, &raw) <= 0)
		return false;
	if (*given != NULL && memcmp(&raw, *given, sizeof raw) == 0)
		return true;
	if (*given == NULL)
		*given = tdm_alloc(sizeof raw);
	**given = raw;
	struct tdm_notes list = { .list = notes, .lost = raw.remarks_lost };
	for (unsigned i = 0; i < TDM_LEDGER_NOTE_COUNTERS; i++)
		if (raw.counters[i].text != 0)
			notes[list.count++] = (struct tdm_note){ .text = kept_text(look, raw.counters[i].text),
				.value = raw.counters[i].value };
	for (uint64_t i = 0; i < raw.remark_count; i++)
		notes[list.count++] = (struct tdm_note){ .text = kept_text(look, raw.remarks[i]), .is_remark = true };
	struct tdm_event event = { .op = TDM_OP_NOTES, .notes = &list };
	give(look, &event);
	return true;
}

static struct tdm_hazard hazard_of(const struct tdm_follow_look *look, const struct tdm_ledger_hazard *raw)
{
	return (struct tdm_hazard){
		.trace = raw->trace,
		.state = raw->state,
		.kind = raw->kind,
		.count = raw->count,
		.id = raw->id,
		.address = address_of(raw->address, raw->flags),
		.asked = raw->asked,
		.bank_bytes = raw->bank_bytes,
		.time_ns = tdm_ledger_time(look->ledger, raw->tsc),
		.replayed_ns = tdm_ledger_time(look->ledger, raw->replayed_tsc),
		.name = kept_text(look, raw->name),
		.program = kept_text(look, raw->program),
		.stack = kept_stack(look, raw->stack),
		.replay_stack = kept_stack(look, raw->replay_stack),
	};
}

static struct tdm_clash clash_of(
	const struct tdm_follow_look *look, const struct tdm_ledger_clash *raw, enum tdm_clash_type type)
{
	return (struct tdm_clash){
		.type = (uint8_t)type,
		.kind = raw->kind,
		.count = raw->count,
		.begin = raw->begin,
		.end = raw->end,
		.limit = raw->limit,
		.time_ns = tdm_ledger_time(look->ledger, raw->tsc),
		.range_count = raw->range_count,
		.x0 = raw->range[0],
		.y0 = raw->range[1],
		.x1 = raw->range[2],
		.y1 = raw->range[3],
		.program = kept_text(look, raw->program),
	};
}

/* Passes on the runtime's reports if they are readable and have changed. */
static void give_told(struct tdm_follow_device *lane, const struct tdm_follow_look *look)
{
	struct tdm_ledger *ledger = look->ledger;
	struct tdm_follow_room *room = look->room;
	if (look->sink->texts == NULL || !tdm_ledger_has_told(ledger, look->device))
		return;
	if (room->runtime == NULL)
		room->runtime = tdm_zalloc(1, sizeof *room->runtime);
	const struct tdm_ledger_runtime *raw = room->runtime;
	if (tdm_ledger_told(ledger, look->device, &lane->told, room->runtime) <= 0)
		return;
	lane->told = raw->head;
	struct tdm_told told = {
		.traces = room->traces,
		.hazards = room->hazards,
		.clashes = room->clashes,
		.trace_count = raw->head.trace_count,
		.life = (uint8_t)raw->head.life,
		.left = raw->head.left,
		.traces_lost = raw->head.traces_lost,
		.hazards_lost = raw->head.hazards_lost,
	};
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		const struct tdm_ledger_statistics *of = &raw->statistics[k];
		told.statistics[k] = (struct tdm_statistics){ of->reports, of->allocated, of->free, of->largest,
			of->ours, of->differing, tdm_ledger_time(ledger, of->tsc) };
	}
	for (uint32_t i = 0; i < raw->head.trace_count; i++)
		room->traces[i] = trace_of(ledger, &raw->traces[i], raw->head.allocs);
	for (uint32_t i = 0; i < 2 * TDM_LEDGER_HAZARDS; i++)
		if (raw->hazards[i].count != 0)
			room->hazards[told.hazard_count++] = hazard_of(look, &raw->hazards[i]);
	for (unsigned i = 0; i < TDM_CLASH_TYPES; i++)
		if (raw->clashes[i].count != 0)
			room->clashes[told.clash_count++] = clash_of(look, &raw->clashes[i], (enum tdm_clash_type)i);
	struct tdm_event event = { .op = TDM_OP_TOLD, .device = lane->number, .told = &told };
	give(look, &event);
}

void tdm_follow_device_give(struct tdm_follow_device *lane, struct tdm_follow_look *look)
{
	uint32_t number;
	if (!tdm_follow_device_number(view_of(look), &number))
		return;
	if (view_of(look)->version != lane->version) {
		const struct tdm_device_info *info = &view_of(look)->info;
		struct tdm_event event = { .op = TDM_OP_DEVICE, .device = number, .about = info };
		if (!lane->is_described || memcmp(info, &lane->info, sizeof *info) != 0)
			give(look, &event);
		lane->info = *info;
		lane->number = number;
		lane->is_described = true;
	}
	give_told(lane, look);
	lane->seen_seq = view_of(look)->seq;
	unsigned wants = wants_of(look->sink, look->process, number);
	if ((wants & TDM_FOLLOW_KEEP) != 0) {
		give_new_usage(lane, look);
		return;
	}
	if ((wants & TDM_FOLLOW_BUFFERS) == 0 && lane->is_listed) {
		give_clear(lane, look, TDM_SIZE_UNKNOWN);
		lane->is_exact = lane->is_listed = false;
	}
	/* The counters come first: reading buffers may advance the view of the ledger. */
	give_new_usage(lane, look);
	if (lane->is_exact || (wants & TDM_FOLLOW_EVENTS) != 0)
		give_events(lane, look, (wants & TDM_FOLLOW_EVENTS) != 0);
	/* Reading an inexact list again helps only if something has happened since. */
	if ((wants & TDM_FOLLOW_BUFFERS) != 0 && !lane->is_exact &&
		!(lane->is_listed && lane->buffers_seq == view_of(look)->seq)) {
		give_account(lane, look);
		lane->seen_seq = view_of(look)->seq;
		give_usage(lane, look);
	}
}

int tdm_follow_device_recount(struct tdm_follow_device *lane, const struct tdm_follow_look *look)
{
	uint64_t before = view_of(look)->seq;
	int err = tdm_ledger_refresh_device(look->ledger, look->device);
	if (err != 0)
		return err;
	give_usage(lane, look);
	return view_of(look)->seq != before;
}

bool tdm_follow_device_has_more(
	const struct tdm_follow_device *lane, const struct tdm_follow_sink *sink, uint64_t process, uint64_t seq)
{
	if (seq != lane->seen_seq)
		return true;
	unsigned wants = wants_of(sink, process, lane->number);
	if ((wants & TDM_FOLLOW_KEEP) != 0)
		return false;
	return ((wants & TDM_FOLLOW_BUFFERS) != 0) != lane->is_listed ||
	       (lane->is_listed && lane->buffers_seq != seq) ||
	       ((wants & TDM_FOLLOW_EVENTS) != 0 && (!lane->has_events || lane->events_seq != seq));
}
