/*
 * Reads everything in a ledger, whatever its bytes are, and checks what must be true of everything the reader returns.
 * Tests and the fuzzer share it, so it uses no test framework: a failed check ends the program.
 */
#ifndef TDM_TESTS_LEDGER_WALK_H
#define TDM_TESTS_LEDGER_WALK_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "picture_valid.h"
#include "analyze/live/device_map.h"
#include "base/clock.h"
#include "base/err.h"
#include "ledger/read/reader.h"
#include "ledger_buffers.h"
#include "live/follow/follower.h"
#include "live/join/fold.h"
#include "live/join/state.h"
#include "region_valid.h"
#include "fold_valid.h"

#define WALK_CHECK(holds)                                                           \
	do {                                                                        \
		if (!(holds)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #holds); \
			abort();                                                    \
		}                                                                   \
	} while (0)

enum { WALK_MODULES_MAX = 1 << 20, WALK_PHASES = 16, WALK_RECORDS = 512, WALK_PIECES = 64 };

static inline void walk_view(const struct tdm_ledger_view *view)
{
	WALK_CHECK(view->info.region_count <= TDM_LEDGER_REGIONS);
	WALK_CHECK(memchr(view->info.card, '\0', sizeof view->info.card) != NULL);
	for (uint32_t r = 0; r < view->info.region_count; r++)
		WALK_CHECK(view->info.regions[r].kind < TDM_KIND_COUNT);
	for (unsigned k = 0; k < TDM_LEDGER_COUNTERS; k++) {
		const struct tdm_counter *c = &view->counts[k];
		WALK_CHECK(c->seq <= view->seq);
		WALK_CHECK(c->reserved <= c->peak && c->buffers <= c->peak_buffers);
		WALK_CHECK(c->buffers <= c->allocs || c->buffers - c->allocs <= c->adopted);
	}
}

static inline void walk_texts(struct tdm_ledger *ledger, const struct tdm_ledger_buffer *buffer)
{
	uint64_t frames[TDM_LEDGER_STACK_MAX];
	uint32_t count,
		numbers[] = { buffer->slot.name, buffer->more.program, buffer->more.ranges, buffer->slot.stack };
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		struct tdm_str text = tdm_ledger_text(ledger, numbers[i]);
		WALK_CHECK(text.ptr != NULL && text.len <= TDM_LEDGER_TEXT_MAX);
		WALK_CHECK(tdm_ledger_stack(ledger, numbers[i], frames) <= TDM_LEDGER_STACK_MAX);
		const struct tdm_core_range *ranges = tdm_ledger_ranges(ledger, numbers[i], &count);
		WALK_CHECK(count <= TDM_LEDGER_RANGES_MAX && (ranges != NULL) == (count != 0));
		for (uint32_t r = 0; r < count; r++)
			WALK_CHECK(tdm_core_range_is_valid(&ranges[r]));
	}
}

static inline void walk_buffers(struct tdm_ledger *ledger, size_t device)
{
	struct tdm_ledger_buffer *buffers;
	size_t count;
	bool exact;
	if (ledger_buffers(ledger, device, &buffers, &count, &exact) != 0)
		return;
	uint64_t sum = 0;
	for (size_t i = 0; i < count; i++) {
		const struct tdm_ledger_buffer *b = &buffers[i];
		WALK_CHECK(b->slot.kind < TDM_KIND_COUNT);
		WALK_CHECK(b->reserved_bytes == 0 || b->reserved_bytes == b->slot.bank_bytes * b->slot.banks);
		WALK_CHECK(b->slot.birth != 0 && (!exact || b->slot.birth <= tdm_ledger_device(ledger, device)->seq));
		sum += b->reserved_bytes;
		walk_texts(ledger, b);
	}
	uint64_t counted = 0;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		counted += tdm_ledger_device(ledger, device)->counts[k].reserved;
	/* What shared buffers take is not a sum of buffers. */
	WALK_CHECK(!exact || tdm_ledger_device(ledger, device)->shared_kinds != 0 || sum == counted);
	free(buffers);
}

static inline void walk_events(struct tdm_ledger *ledger, size_t device)
{
	struct tdm_ledger_record records[WALK_RECORDS];
	struct tdm_ledger_buffer buffer;
	uint64_t missed, last = 0;
	/* Piece by piece; a vandal can make it seem that there are always more. */
	for (int n = 0; n < WALK_PIECES; n++) {
		int64_t got = tdm_ledger_events(ledger, device, last, records, WALK_RECORDS, &missed);
		WALK_CHECK(got <= WALK_RECORDS);
		uint64_t before = last;
		for (int64_t i = 0; i < got; i++) {
			const struct tdm_ledger_record *r = &records[i];
			WALK_CHECK(r->seq > before);
			WALK_CHECK(r->op != 0 && r->op < TDM_LEDGER_OP_COUNT && r->kind < TDM_KIND_COUNT);
			before = r->seq;
			if (tdm_ledger_record_buffer(ledger, device, r, &buffer) == 0) {
				WALK_CHECK(buffer.slot.birth == r->seq && buffer.slot.id == r->id);
				walk_texts(ledger, &buffer);
			}
		}
		if (got <= 0 && missed == 0)
			break;
		last += (got > 0 ? (uint64_t)got : 0) + missed;
		WALK_CHECK(last >= before);
	}
}

static inline void walk_told(struct tdm_ledger *ledger, size_t device)
{
	const struct tdm_ledger_runtime_head nothing = { 0 };
	static struct tdm_ledger_runtime told;
	memset(&told, 0xff, sizeof told);
	int got = tdm_ledger_told(ledger, device, &nothing, &told);
	WALK_CHECK(got <= 1 && (got != 1 || tdm_ledger_has_told(ledger, device)));
	if (got != 1)
		return;
	WALK_CHECK(told.head.trace_count <= TDM_LEDGER_TRACES && told.head.waiting_count <= TDM_LEDGER_HAZARDS &&
		   told.head.judged_count <= TDM_LEDGER_HAZARDS);
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		WALK_CHECK(told.statistics[k].allocated >> 60 == 0 &&
			   told.statistics[k].differing <= told.statistics[k].reports);
	for (uint32_t i = 0; i < 2 * TDM_LEDGER_HAZARDS; i++) {
		const struct tdm_ledger_hazard *hazard = &told.hazards[i];
		bool waits = i < TDM_LEDGER_HAZARDS;
		WALK_CHECK(hazard->kind < TDM_KIND_COUNT && hazard->state < TDM_HAZARD_STATES);
		WALK_CHECK(hazard->count == 0 || (hazard->state == TDM_HAZARD_WAITS) == waits);
		WALK_CHECK(hazard->asked >> 60 == 0 && hazard->bank_bytes >> 60 == 0);
	}
}

static inline void walk_notes(struct tdm_ledger *ledger)
{
	struct tdm_ledger_notes notes;
	if (tdm_ledger_notes(ledger, &notes) != 1)
		return;
	WALK_CHECK(notes.remark_count <= TDM_LEDGER_NOTE_REMARKS);
	for (unsigned i = 0; i < TDM_LEDGER_NOTE_COUNTERS; i++)
		WALK_CHECK(tdm_ledger_text(ledger, notes.counters[i].text).len <= TDM_LEDGER_TEXT_MAX);
}

static inline void walk_rest(struct tdm_ledger *ledger)
{
	struct tdm_ledger_phase phases[WALK_PHASES];
	uint64_t base, size, ns;
	struct tdm_str path;
	size_t i = 0;
	while (tdm_ledger_module(ledger, i, &base, &size, &path) > 0) {
		WALK_CHECK(path.ptr != NULL && path.len <= TDM_LEDGER_FIRST_BLOB);
		WALK_CHECK(++i < WALK_MODULES_MAX);
	}
	int64_t got = tdm_ledger_phases(ledger, 0, phases, WALK_PHASES);
	WALK_CHECK(got <= WALK_PHASES);
	for (int64_t p = 0; p < got; p++) {
		tdm_ledger_text(ledger, phases[p].name);
		tdm_ledger_monotonic(ledger, phases[p].begin_tsc, &ns);
	}
	tdm_ledger_monotonic(ledger, 0, &ns);
	tdm_ledger_monotonic(ledger, UINT64_MAX, &ns);
	const struct tdm_ledger_header *who = tdm_ledger_header(ledger);
	WALK_CHECK(who->pid > 0 && strlen(who->comm) < sizeof who->comm && strlen(who->command) < sizeof who->command);
}

/* Every map that can be made of it. */
static inline void walk_maps(const struct tdm_picture *picture)
{
	struct tdm_device_map map;
	struct tdm_region_cell cells[64];
	for (uint32_t d = 0; d < picture->device_count; d++)
		for (uint32_t p = 0; p <= picture->process_count; p++) {
			tdm_device_map_init(&map, picture, d, p < picture->process_count ? p : TDM_INDEX_NONE);
			for (unsigned k = 0; k < TDM_DEVICE_MAP_REGIONS; k++) {
				const struct tdm_region_map *region = &map.regions[k];
				WALK_CHECK(region_map_is_valid(region));
				tdm_region_map_cells(region, region->base, region->bank_size, cells, 64);
			}
			tdm_device_map_done(&map);
		}
}

/* The same through the follower, look by look, into a fold. */
struct walk_follow {
	struct tdm_follow_options options;
	const char *paths[2];
	struct tdm_follower *follower;
	struct tdm_fold fold;
	unsigned wants;
	uint64_t now_ns;
};

static inline unsigned walk_wants(void *context, uint64_t process, uint32_t device)
{
	(void)process;
	(void)device;
	return ((const struct walk_follow *)context)->wants;
}

static inline void walk_event(void *context, struct tdm_event *event)
{
	struct walk_follow *f = context;
	WALK_CHECK(tdm_event_is_valid(event));
	int err = tdm_fold_apply(&f->fold, event);
	WALK_CHECK(err == 0 || err == -EOVERFLOW);
}

static inline void walk_follow_init(struct walk_follow *f, const char *path)
{
	*f = (struct walk_follow){ .paths = { path, NULL }, .now_ns = TDM_NS_PER_S };
	f->options.paths = f->paths;
	f->follower = tdm_follower_new(&f->options);
	tdm_fold_init(&f->fold);
}

/* A look so much later that everything is read. */
static inline void walk_follow_look(struct walk_follow *f, unsigned wants)
{
	const struct tdm_follow_sink sink = { .context = f, .wants = walk_wants, .event = walk_event };
	f->wants = wants;
	f->now_ns += 1000 * TDM_NS_PER_S;
	tdm_follower_look(f->follower, &sink, f->now_ns);
	WALK_CHECK(fold_is_valid(&f->fold));
	const struct tdm_followed *item = tdm_follower_get(f->follower, 0);
	WALK_CHECK(item->err != 0 || item->is_known);
	WALK_CHECK(item->err == 0 || item->err == -EAGAIN || item->text[0] != '\0');
	if ((wants & (TDM_FOLLOW_BUFFERS | TDM_FOLLOW_KEEP)) == 0 && item->err == 0)
		for (size_t p = 0; p < f->fold.count; p++)
			for (size_t h = 0; h < f->fold.processes[p]->holding_count; h++)
				for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
					WALK_CHECK(f->fold.processes[p]->holdings[h]->kinds[k].count == 0);
}

static inline void walk_follow_done(struct walk_follow *f)
{
	tdm_follower_free(f->follower);
	tdm_fold_done(&f->fold);
}

static inline void walk_follower(const char *path)
{
	struct walk_follow f;
	walk_follow_init(&f, path);
	walk_follow_look(&f, TDM_FOLLOW_BUFFERS);
	walk_follow_look(&f, TDM_FOLLOW_KEEP);
	walk_follow_look(&f, TDM_FOLLOW_EVENTS | TDM_FOLLOW_BUFFERS);
	walk_follow_look(&f, 0);
	walk_follow_done(&f);
}

/* And through the state: of two processes at once, so that sums meet their limits, which run and end then. */
static inline void walk_state(const char *path)
{
	static const struct tdm_wish wishes[] = { { .parts = TDM_WISH_BUFFERS | TDM_WISH_EVENTS },
		{ .parts = TDM_WISH_BUFFERS, .hold = true }, { .parts = TDM_WISH_BUFFERS } };
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	char twin[PATH_MAX + 128];
	snprintf(twin, sizeof twin, "%s.twin", path);
	const char *paths[] = { path, link(path, twin) == 0 ? twin : NULL, NULL };
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd >= 0)
		WALK_CHECK(fcntl(fd, F_OFD_SETLK, &lock) == 0);
	struct tdm_state *state = tdm_state_new(
		&(struct tdm_state_options){ .paths = paths, .only_ledgers = true, .with_ended = true, .once = true });
	WALK_CHECK(state != NULL);
	for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
		if (i == 2 && fd >= 0)
			close(fd);
		const struct tdm_picture *picture = tdm_state_look(state, &wishes[i]);
		WALK_CHECK(picture != NULL && picture_is_valid(picture));
		walk_maps(picture);
	}
	tdm_state_free(state);
	unlink(twin);
}

static inline void walk_slot(
	void *context, const struct tdm_ledger_slot *slots, const struct tdm_ledger_more *mores, size_t count)
{
	(void)context;
	WALK_CHECK(mores == NULL);
	for (size_t i = 0; i < count; i++) {
		uint64_t product;
		bool is_view = slots[i].banks == 0 || (slots[i].flags & TDM_SLOT_VIEW) != 0;
		WALK_CHECK(slots[i].kind < TDM_KIND_COUNT);
		WALK_CHECK(is_view || !__builtin_mul_overflow(slots[i].bank_bytes, (uint64_t)slots[i].banks, &product));
	}
}

/* Everything that the reader gives. What opening it said. */
static inline int ledger_walk_content(const char *path)
{
	struct tdm_ledger *ledger;
	struct tdm_diag diag = { 0 };
	int err = tdm_ledger_open(path, &ledger, &diag);
	WALK_CHECK((err == 0) == (ledger != NULL));
	if (err != 0)
		WALK_CHECK(diag.text[0] != '\0'); /* a refusal always says why */
	if (err != 0)
		return err;
	WALK_CHECK(tdm_ledger_device_count(ledger) <= TDM_LEDGER_DEVICES);
	for (size_t i = 0; i < tdm_ledger_device_count(ledger); i++) {
		walk_view(tdm_ledger_device(ledger, i));
		walk_buffers(ledger, i);
		walk_events(ledger, i);
		walk_told(ledger, i);
		bool exact;
		tdm_ledger_walk(ledger, i, &(struct tdm_ledger_walk){ .each = walk_slot }, &exact);
	}
	walk_notes(ledger);
	walk_rest(ledger);
	bool is_on_behalf =
		(tdm_ledger_header(ledger)->flags & TDM_LEDGER_ON_BEHALF) != 0; /* then its process may live */
	WALK_CHECK(is_on_behalf || tdm_ledger_liveness(ledger) == TDM_DEAD);
	tdm_ledger_refresh(ledger, &diag);
	tdm_ledger_close(ledger);
	return 0;
}

static inline int ledger_walk(const char *path)
{
	walk_follower(path);
	walk_state(path);
	return ledger_walk_content(path);
}

#endif
