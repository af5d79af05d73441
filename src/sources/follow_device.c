#include "sources/follow_device.h"
#include "base/map.h"
#include "base/number.h"
#include "base/reserve.h"
#include "sources/ledger_event.h"

#include <errno.h>
#include <stdlib.h>

enum {
	ACCOUNT_SHARE = 16,
	ACCOUNT_MIN = 64,      /* above live buffers / ACCOUNT_SHARE + ACCOUNT_MIN new ones, list all again */
	RECORDS_MAX = 1 << 16, /* events of a device per look: the latest ones */
	OVER_MAX = 8 * TDM_LEDGER_FREE_CLOCK, /* events after a release to search for a time that was read */
};

void tdm_follow_room_done(struct tdm_follow_room *room)
{
	free(room->records);
	free(room->partners);
	if (room->told != NULL)
		tdm_told_room_done(room->told);
	free(room->told);
	*room = (struct tdm_follow_room){ 0 };
}

int tdm_follow_give(const struct tdm_follow_sink *sink, uint64_t process, struct tdm_event *event)
{
	event->process = process;
	return tdm_event_is_valid(event) ? sink->event(sink->context, event) : 0;
}

static int give(const struct tdm_follow_look *look, struct tdm_event *event)
{
	return tdm_follow_give(look->sink, look->process, event);
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

static int give_clear(const struct tdm_follow_device *lane, const struct tdm_follow_look *look, uint64_t size)
{
	struct tdm_event event = { .op = TDM_OP_CLEAR, .device = lane->number, .size = size };
	return give(look, &event);
}

/* State while a list of live buffers is being given. */
struct account {
	const struct tdm_follow_device *lane;
	const struct tdm_follow_look *look;
	int err; /* of the sink */
};

static int give_buffers(
	void *context, const struct tdm_ledger_slot *slots, const struct tdm_ledger_more *mores, size_t count)
{
	struct account *account = context;
	for (size_t i = 0; i < count && account->err == 0; i++) {
		const struct tdm_ledger_buffer buffer = tdm_ledger_buffer_of(&slots[i], &mores[i]);
		struct tdm_event event;
		tdm_ledger_buffer_event(account->look->ledger, &buffer, account->look->room->frames, &event);
		event.device = account->lane->number;
		event.flags |= TDM_EVENT_LISTED;
		account->err = give(account->look, &event);
	}
	return account->err;
}

static void begin_again(void *context)
{
	struct account *account = context;
	account->err = give_clear(account->lane, account->look, 0);
}

static int give_account(struct tdm_follow_device *lane, struct tdm_follow_look *look)
{
	struct account account = { lane, look, give_clear(lane, look, 0) };
	const struct tdm_ledger_walk walk = {
		.each = give_buffers, .again = begin_again, .context = &account, .with_more = true
	};
	bool exact = false;
	int err = account.err == 0 ? tdm_ledger_walk(look->ledger, look->device, &walk, &exact) : 0;
	if (account.err != 0)
		return account.err;
	if (err != 0)
		look->unread = err;
	else
		lane->buffers_seq = view_of(look)->seq;
	lane->is_exact = exact; /* if not, the next look gives a new list */
	lane->is_listed = true;
	return err == -ENOMEM ? err : 0;
}

/* Events. */

/* Not unique: compare what it finds. */
static uint64_t birth_key(const struct tdm_ledger_record *record)
{
	return record->id ^ (uint64_t)record->kind << 59;
}

/*
 * When the release at `i` was certainly over: its own time if its clock was read, else that of the next event whose
 * clock was read. If there is none, nothing is certain, and its own time has to do.
 */
static uint64_t over_tsc(const struct tdm_ledger_record *records, size_t count, size_t i)
{
	for (size_t k = i; k < count && k - i < OVER_MAX; k++)
		if (records[k].op == TDM_LEDGER_ALLOC ||
			(records[k].op == TDM_LEDGER_FREE && records[k].seq % TDM_LEDGER_FREE_CLOCK == 0))
			return records[k].tsc;
	return records[i].tsc;
}

/*
 * Pairs each release with the record of its buffer's birth, if both are among the records. Returns how many buffers
 * were born after call `after` and are still live, or -ENOMEM.
 */
static int64_t find_births(struct tdm_follow_room *room, size_t count, uint64_t after)
{
	struct tdm_map births;
	int64_t stay = 0;
	int err = 0;
	if (tdm_reserve(&room->partners, &room->partner_cap, count, sizeof *room->partners) != 0 ||
		tdm_map_init(&births) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < count && err == 0; i++) {
		const struct tdm_ledger_record *record = &room->records[i];
		room->partners[i] = TDM_MAP_NONE;
		if (record->op == TDM_LEDGER_ALLOC)
			err = tdm_map_put(&births, birth_key(record), (uint32_t)i);
		stay += record->op == TDM_LEDGER_ALLOC && record->seq > after;
		uint32_t at = record->op == TDM_LEDGER_FREE ? tdm_map_take(&births, birth_key(record)) : TDM_MAP_NONE;
		if (at == TDM_MAP_NONE || room->records[at].id != record->id || room->records[at].kind != record->kind)
			continue;
		room->partners[i] = at;
		room->partners[at] = (uint32_t)i;
		stay -= room->records[at].seq > after;
	}
	tdm_map_done(&births);
	return err == 0 ? stay : err;
}

/* Fills in when the buffer of the release at `i` was born, and when it was certainly gone. */
static void describe_release(const struct tdm_follow_look *look, size_t count, size_t i, struct tdm_event *event)
{
	const struct tdm_follow_room *room = look->room;
	uint32_t birth = room->partners[i];
	bool is_known = birth != TDM_MAP_NONE && (room->records[birth].flags & TDM_SLOT_ADOPTED) == 0;
	if (is_known && !tdm_ledger_monotonic(look->ledger, room->records[birth].tsc, &event->born_ns))
		event->born_ns = 0;
	if (!tdm_ledger_monotonic(look->ledger, over_tsc(room->records, count, i), &event->over_ns))
		event->over_ns = 0;
}

static int give_record(struct tdm_follow_device *lane, const struct tdm_follow_look *look, size_t count, size_t i)
{
	struct tdm_follow_room *room = look->room;
	const struct tdm_ledger_record *record = &room->records[i];
	struct tdm_ledger_buffer buffer;
	struct tdm_event event;
	if (record->op == TDM_LEDGER_CORE_USE)
		return 0; /* the counters have it */
	/* The running phase comes from the phases' own area. */
	bool is_past = !lane->is_exact || record->seq <= lane->buffers_seq || record->op == TDM_LEDGER_PHASE;
	bool stays = record->op == TDM_LEDGER_ALLOC && room->partners[i] == TDM_MAP_NONE && !is_past;
	int err = stays ? tdm_ledger_record_buffer(look->ledger, look->device, record, &buffer) : -ESTALE;
	if (err == -ENOMEM)
		return err;
	if (err == 0) /* a buffer that stays is given in full, as in a list of live buffers */
		tdm_ledger_buffer_event(look->ledger, &buffer, room->frames, &event);
	else
		tdm_ledger_record_event(look->ledger, record, room->frames, &event);
	lane->is_exact &= !stays || err == 0; /* a ledger of the first version does not say where the buffer is */
	event.device = lane->number;
	event.flags |= is_past ? TDM_EVENT_PAST : 0;
	if ((record->flags & TDM_SLOT_ADOPTED) != 0 && !tdm_ledger_monotonic(look->ledger, record->tsc, &event.time_ns))
		event.time_ns = 0;
	if (record->op == TDM_LEDGER_FREE)
		describe_release(look, count, i, &event);
	return give(look, &event);
}

static uint64_t live_buffers(const struct tdm_ledger_view *view)
{
	uint64_t live = 0;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		live = tdm_plus(live, view->counts[k].buffers);
	return live;
}

static int give_records(struct tdm_follow_device *lane, const struct tdm_follow_look *look, size_t count)
{
	int64_t stay = count != 0 ? find_births(look->room, count, lane->buffers_seq) : 0;
	int err = stay < 0 ? (int)stay : 0;
	/* Each of these is read from its slot; if there are many, a new list of everything is cheaper. */
	lane->is_exact &= (uint64_t)stay <= live_buffers(view_of(look)) / ACCOUNT_SHARE + ACCOUNT_MIN;
	for (size_t i = 0; i < count && err == 0; i++)
		err = give_record(lane, look, count, i);
	return err;
}

/* How many calls were no allocation and no release: all others count as one, a replacement as two. */
static uint64_t rare_calls(const struct tdm_ledger_view *view)
{
	uint64_t rare = view->seq;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		rare -= 2 * (view->counts[k].allocs + view->counts[k].adopted) - view->counts[k].buffers;
	return rare;
}

/* Reads the events after call `after`, up to the last one that the counters include, but at most the `most` latest. */
static int read_records(const struct tdm_follow_look *look, uint64_t after, uint64_t most, size_t *count)
{
	struct tdm_follow_room *room = look->room;
	uint64_t seq = view_of(look)->seq, missed;
	*count = 0;
	if (seq <= after)
		return 0;
	uint64_t fresh = tdm_min(seq - after, most);
	if (tdm_reserve(&room->records, &room->record_cap, (size_t)fresh, sizeof *room->records) != 0)
		return -ENOMEM;
	int64_t got = tdm_ledger_events(look->ledger, look->device, seq - fresh, room->records, (size_t)fresh, &missed);
	if (got < 0)
		return got == -ENOMEM ? -ENOMEM : 0;
	while (got > 0 && room->records[got - 1].seq > seq)
		got--;
	*count = (size_t)got;
	return 0;
}

/* How many of the calls after `after`, up to `seq`, have no record. */
static uint64_t missing_after(const struct tdm_follow_room *room, size_t count, uint64_t after, uint64_t seq)
{
	uint64_t missing = seq > after ? seq - after : 0;
	for (size_t i = count; i > 0 && room->records[i - 1].seq > after; i--)
		missing--;
	return missing;
}

/* Keeps the `latest` allocations and releases, and all other records. Returns how many were dropped. */
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

/* How many of the latest events the sink wants of this device; 0: all. */
static size_t share_of(const struct tdm_follow_look *look)
{
	size_t latest = look->sink->latest, devices = tdm_max(look->room->active_before, look->room->active);
	return latest != 0 ? tdm_max(latest / tdm_max(devices, 1), 1) : 0;
}

static int give_events(struct tdm_follow_device *lane, const struct tdm_follow_look *look, bool is_wanted)
{
	const struct tdm_follow_room *room = look->room;
	uint64_t seq = view_of(look)->seq, missing = 0;
	struct tdm_event lost = { .op = TDM_OP_LOST, .device = lane->number };
	uint64_t share = is_wanted && !lane->is_exact ? share_of(look) : 0, rare = rare_calls(view_of(look));
	/* Without rare calls, everything before the latest events would be skipped: it need not be read. */
	bool skips = share != 0 && lane->has_events && rare == lane->rare;
	size_t count;
	/* The buffers are never older than the last event given, so one reading serves both. */
	int err = read_records(look,
		!is_wanted         ? lane->buffers_seq
		: lane->has_events ? lane->events_seq
				   : 0,
		skips ? tdm_min(share, RECORDS_MAX) : RECORDS_MAX, &count);
	if (err != 0)
		return err;
	if (lane->is_exact)
		lane->is_exact = missing_after(room, count, lane->buffers_seq, seq) == 0;
	uint64_t unread = missing_after(room, count, lane->events_seq, seq);
	look->room->active += count != 0;
	uint64_t skipped = is_wanted && !lane->is_exact ? skip_early(look->room, &count, share_of(look)) : 0;
	if (is_wanted && lane->has_events) /* events before the first look are not missing */
		missing = unread + skipped;
	if (missing != 0) {
		lost.size = missing;
		if (count != 0 && !tdm_ledger_monotonic(look->ledger, room->records[0].tsc, &lost.time_ns))
			lost.time_ns = 0;
		err = give(look, &lost);
	}
	if (err == 0)
		err = give_records(lane, look, count);
	if (lane->is_exact)
		lane->buffers_seq = seq;
	if (is_wanted) {
		lane->has_events = true;
		lane->events_seq = seq;
		lane->rare = rare;
	}
	return err;
}

/* Counters. */

static int give_usage(struct tdm_follow_device *lane, const struct tdm_follow_look *look)
{
	const struct tdm_ledger_view *view = view_of(look);
	int err = 0;
	for (unsigned k = 0; k < TDM_KIND_COUNT && err == 0; k++) {
		const struct tdm_ledger_faults *faults = &view->faults[k];
		uint64_t seq = view->counts[k].seq;
		uint64_t sum = faults->out_of_memory + faults->double_frees + faults->unknown_frees +
			       faults->rereports + faults->views + faults->oom_bytes + faults->estimated;
		if (k == TDM_KIND_L1) /* its usage includes the peak of everything in L1 */
			seq = tdm_max(seq, view->counts[TDM_LEDGER_L1_ALL].seq);
		if (seq == lane->counts_seq[k] && sum == lane->faults[k])
			continue;
		lane->counts_seq[k] = seq;
		lane->faults[k] = sum;
		struct tdm_usage usage = tdm_ledger_usage(look->ledger, view, (enum tdm_kind)k);
		struct tdm_event event = {
			.op = TDM_OP_USAGE, .device = lane->number, .kind = (uint8_t)k, .usage = &usage
		};
		err = give(look, &event);
	}
	return err;
}

/* What the device is. */
static int give_description(struct tdm_follow_device *lane, const struct tdm_follow_look *look, uint32_t number)
{
	struct tdm_device_info info = tdm_ledger_device_info(view_of(look));
	struct tdm_event event = { .op = TDM_OP_DEVICE, .device = number, .about = &info };
	int err = 0;
	if (!lane->is_described || memcmp(&info, &lane->info, sizeof info) != 0)
		err = give(look, &event);
	lane->info = info;
	lane->number = number;
	lane->is_described = true;
	return err;
}

/* The counters, unless they are those of the last look. */
static int give_new_usage(struct tdm_follow_device *lane, const struct tdm_follow_look *look)
{
	uint64_t version = view_of(look)->version;
	int err = version != lane->version ? give_usage(lane, look) : 0;
	if (err == 0)
		lane->version = version;
	return err;
}

/* What the runtime said. */

static struct tdm_told_room *told_room(struct tdm_follow_room *room)
{
	if (room->told == NULL)
		room->told = calloc(1, sizeof *room->told);
	return room->told;
}

int tdm_follow_notes_give(
	struct tdm_follow_notes *notes, const struct tdm_follow_look *look, uint64_t now_ns, uint64_t pause_ns)
{
	struct tdm_ledger_notes raw;
	if ((notes->given != NULL && now_ns - notes->read_ns < pause_ns) || tdm_ledger_notes(look->ledger, &raw) <= 0)
		return 0;
	notes->read_ns = now_ns;
	if (notes->given != NULL && memcmp(&raw, notes->given, sizeof raw) == 0)
		return 0;
	struct tdm_told_room *room = told_room(look->room);
	if (notes->given == NULL)
		notes->given = malloc(sizeof raw);
	if (notes->given == NULL || room == NULL)
		return -ENOMEM;
	*notes->given = raw;
	struct tdm_notes list = tdm_notes_of(look->ledger, &raw, room);
	struct tdm_event event = { .op = TDM_OP_NOTES, .notes = &list };
	return give(look, &event);
}

/* Unless it is the same as before. */
static int give_told(struct tdm_follow_device *lane, const struct tdm_follow_look *look)
{
	struct tdm_told told;
	struct tdm_event event = { .op = TDM_OP_TOLD, .device = lane->number, .told = &told };
	if (!tdm_ledger_has_told(look->ledger, look->device))
		return 0;
	struct tdm_told_room *room = told_room(look->room);
	int got = room != NULL ? tdm_told_read(look->ledger, look->device, &lane->told, room, &told) : -ENOMEM;
	return got > 0 ? give(look, &event) : got;
}

int tdm_follow_device_give(struct tdm_follow_device *lane, struct tdm_follow_look *look)
{
	uint32_t number;
	if (!tdm_ledger_device_number(view_of(look), &number))
		return 0;
	int err = view_of(look)->version != lane->version ? give_description(lane, look, number) : 0;
	if (err == 0)
		err = give_told(lane, look);
	lane->seen_seq = view_of(look)->seq;
	unsigned wants = wants_of(look->sink, look->process, number);
	if (err == 0 && (wants & TDM_FOLLOW_KEEP) != 0)
		return give_new_usage(lane, look);
	if (err == 0 && (wants & TDM_FOLLOW_BUFFERS) == 0 && lane->is_listed) {
		err = give_clear(lane, look, TDM_SIZE_UNKNOWN);
		lane->is_exact = lane->is_listed = false;
	}
	/* The counters come first: reading buffers may advance the view of the ledger. */
	if (err == 0)
		err = give_new_usage(lane, look);
	if (err == 0 && (lane->is_exact || (wants & TDM_FOLLOW_EVENTS) != 0))
		err = give_events(lane, look, (wants & TDM_FOLLOW_EVENTS) != 0);
	/* An inexact list does not get better by reading it again, unless something has happened. */
	if (err == 0 && (wants & TDM_FOLLOW_BUFFERS) != 0 && !lane->is_exact &&
		!(lane->is_listed && lane->buffers_seq == view_of(look)->seq)) {
		err = give_account(lane, look);
		lane->seen_seq = view_of(look)->seq;
		if (err == 0)
			err = give_usage(lane, look);
	}
	return err;
}

int tdm_follow_device_recount(struct tdm_follow_device *lane, const struct tdm_follow_look *look)
{
	uint64_t before = view_of(look)->seq;
	int err = tdm_ledger_refresh_device(look->ledger, look->device);
	if (err == 0)
		err = give_usage(lane, look);
	return err != 0 ? err : view_of(look)->seq != before;
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
