/* The follower: which events it makes of its ledgers, and in which order. The tests share one set of ledgers and
 * the helpers that walk them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/err.h"
#include "follow_ledgers.h"

static void an_account_in_order(void **state)
{
	struct builder b;
	(void)state;
	builder_sample(&b);
	const char *path = write_ledger(&b, 4242);
	start(BUFFERS);
	/* process; modules; device, usage, buffers; another one; the phase that runs */
	assert_string_equal(follow_look(&f), "PmmdtuucAAAAAAduucAhn");
	assert_int_equal(tdm_follower_count(f.follower), 1);
	assert_int_equal(follow_problems(&f), 0);
	assert_int_equal(tdm_follower_deaths(f.follower), 1);
	assert_string_equal(follow_look(&f), "");
	assert_int_equal(tdm_follower_deaths(f.follower), 1);
	follow_done(&f);
	start(0);
	assert_string_equal(follow_look(&f), "Pmmdtuuduuhn");
	assert_false(holding(0, 0)->has_buffers);
	follow_done(&f);
	start(EVENTS);
	/* 10 calls on the first device, 1 on the second: the ring tells of them, and they change nothing. */
	assert_string_equal(follow_look(&f), "Pmmdtuua-a-a-a-a-a-a-a-f-f-duua-hn");
	follow_done(&f);
	/* A sink that wants nothing at all has no function for that. */
	start(0);
	const struct tdm_follow_sink sink = { .context = &f, .event = follow_event, .texts = &f.fold.texts };
	tdm_follower_look(f.follower, &sink, f.now_ns);
	assert_string_equal(f.letters, "Pmmdtuuduuhn");
	follow_done(&f);
	unlink(path);
	builder_done(&b);
}

static void the_same_figures_as_the_ledger(void **state)
{
	struct builder b;
	(void)state;
	builder_sample(&b);
	const char *path = write_ledger(&b, 4242);
	start(BUFFERS);
	follow_look(&f);
	const struct tdm_fold_process *p = f.fold.processes[0];
	assert_int_equal(p->who.life, TDM_LIFE_ENDED);
	assert_false(p->who.closed);
	assert_string_equal(p->who.command, "model --layers 12");
	assert_string_equal(p->place, path);
	assert_string_equal(f.fold.texts.texts[p->phase], "BACKWARD");
	const struct tdm_fold_kind *dram = &holding(0, 0)->kinds[TDM_KIND_DRAM];
	assert_int_equal(dram->counter.reserved, 12 * 1024 * (1 + 5 + 7));
	assert_int_equal(dram->counter.peak, 12 * 1024 * (1 + 3 + 5 + 7));
	assert_int_equal(dram->counter.double_frees, 2);
	assert_int_equal(dram->counter.unknown_frees, 3);
	assert_int_equal(dram->counter.rereports, 4);
	assert_int_equal(dram->counter.out_of_memory, 1);
	assert_int_equal(dram->reserved, dram->counter.reserved);
	assert_int_equal(dram->count, dram->counter.buffers);
	assert_int_equal(holding(0, 1)->kinds[TDM_KIND_CB].counter.reserved, 0);
	assert_int_equal(fold_buffers(holding(0, 0)) + fold_buffers(holding(0, 1)), 7);
	const struct tdm_buffer *buffer = fold_buffer(holding(0, 0), TDM_KIND_L1, 103);
	const struct tdm_kept_list *stack = &f.fold.texts.stacks.list[buffer->stack];
	const struct tdm_kept_frame *frames = stack->items;
	assert_int_equal(stack->count, 3);
	assert_int_equal(frames[0].address, 0x401234);
	assert_string_equal(f.fold.texts.texts[frames[2].text], "model.py:12 (forward)");
	assert_int_equal(buffer->holding_banks, 3);
	assert_true(buffer->born_ns > TDM_NS_PER_S);
	follow_done(&f);
	unlink(path);
	builder_done(&b);
}

/* What is known of the cores of the buffer with this id. */
static uint32_t range_count(uint64_t id)
{
	const struct tdm_buffer *buffer = fold_buffer(holding(0, 0), TDM_KIND_CB, id);
	assert_non_null(buffer);
	return f.fold.texts.ranges.list[buffer->ranges].count;
}

static void core_ranges_come_through(void **state)
{
	static const uint16_t two[] = { 0, 1, 7, 6, 9, 9, 9, 9 }, inverted[] = { 0, 0, 1, 1, 5, 0, 4, 0 };
	static const uint16_t many[4 * (TDM_LEDGER_RANGES_MAX + 1)];
	struct builder b;
	(void)state;
	builder_init(&b);
	uint64_t device = builder_add_device(&b, 0);
	uint32_t lists[] = {
		builder_blob(&b, TDM_BLOB_RANGES, two, sizeof two),
		builder_blob(&b, TDM_BLOB_RANGES, inverted, sizeof inverted),
		builder_blob(&b, TDM_BLOB_RANGES, many, sizeof many),
		builder_blob(&b, TDM_BLOB_RANGES, many, sizeof many - 8),
		builder_blob(&b, TDM_BLOB_RANGES, two, 12), /* one and a half */
		builder_text(&b, "no ranges"),
		9999999,
	};
	enum { LISTS = sizeof lists / sizeof *lists };
	for (uint32_t i = 0; i <= LISTS; i++)
		builder_alloc(&b, device,
			(struct tdm_ledger_slot){
				.id = i + 1, .asked = 4096, .bank_bytes = 64, .banks = 64, .kind = TDM_KIND_CB },
			(struct tdm_ledger_more){ .ranges = lists[i % LISTS] });
	const char *path = write_ledger(&b, 4242);
	start(BUFFERS);
	follow_look(&f);
	assert_int_equal(fold_buffers(holding(0, 0)), LISTS + 1); /* buffers are not refused with their ranges */
	assert_int_equal(range_count(1), 2);
	const struct tdm_buffer *first = fold_buffer(holding(0, 0), TDM_KIND_CB, 1);
	assert_memory_equal(f.fold.texts.ranges.list[first->ranges].items, two, sizeof two);
	assert_int_equal(fold_buffer(holding(0, 0), TDM_KIND_CB, LISTS + 1)->ranges, first->ranges); /* kept once */
	assert_int_equal(range_count(4), TDM_LEDGER_RANGES_MAX);
	static const uint64_t refused[] = { 2, 3, 5, 6, 7 };
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		assert_int_equal(range_count(refused[i]), 0);
	assert_int_equal(f.fold.texts.ranges.count, 3); /* none, and the two that are good */
	assert_int_equal(f.fold.processes[0]->who.refused, 5);
	assert_int_equal(follow_find(&f, "tidemark.4242.12345.0")->who.refused, 5);
	/* They stay refused when the ledger is looked at again for something else. */
	f.wants = EVENTS;
	follow_look(&f);
	assert_int_equal(f.fold.processes[0]->who.refused, 5);
	follow_done(&f);
	unlink(path);
	builder_done(&b);
}

/* Counters are given when they have changed, each kind for itself. */
static void counters(void **state)
{
	struct builder b;
	(void)state;
	begin(&b);
	uint64_t device = builder_header(&b)->device_offset[0];
	int fd = write_running(&b, 777);
	start(0);
	assert_string_equal(follow_look(&f), "Pd");
	assert_string_equal(follow_look(&f), "");
	add(&b, 1);
	rewrite(&b, fd);
	assert_string_equal(follow_look_after(&f, 1), "u"); /* at once */
	assert_int_equal(holding(0, 0)->kinds[TDM_KIND_DRAM].counter.reserved, 100);
	assert_int_equal(holding(0, 0)->kinds[TDM_KIND_DRAM].counter.allocs, 1);
	assert_string_equal(follow_look_after(&f, 1), "");
	builder_device(&b, device)->faults[TDM_KIND_TRACE].double_frees = 9;
	builder_record(&b, device, ++builder_device(&b, device)->seq, TDM_LEDGER_BAD_FREE,
		&(struct tdm_ledger_slot){ .kind = TDM_KIND_TRACE }, 0);
	rewrite(&b, fd);
	assert_string_equal(follow_look_after(&f, 1), "u");
	assert_int_equal(holding(0, 0)->kinds[TDM_KIND_TRACE].counter.double_frees, 9);
	/* The peak of everything in L1 is told with L1, whatever has raised it. */
	builder_alloc(&b, device,
		(struct tdm_ledger_slot){ .id = 5, .asked = 64, .bank_bytes = 64, .banks = 2, .kind = TDM_KIND_CB },
		(struct tdm_ledger_more){ 0 });
	rewrite(&b, fd);
	assert_string_equal(follow_look_after(&f, 1), "uu");
	assert_int_equal(holding(0, 0)->kinds[TDM_KIND_L1].counter.l1_peak, 128);
	/* A description, a phase and another device come with the next look at the whole. */
	strcpy(builder_device(&b, device)->card, "n150");
	builder_device(&b, device)->described += 2;
	builder_phase(&b, "forward");
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "dh");
	assert_string_equal(holding(0, 0)->info.card, "n150");
	builder_add_device_with(&b, 1, SAMPLE_RING);
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "d");
	builder_header(&b)->lost[TDM_LOSS_SPACE] = 4;
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "P");
	assert_int_equal(f.fold.processes[0]->who.lost, 4);
	close(fd);
	follow_done(&f);
	unlink(path_of(777));
	builder_done(&b);
}

/* A process that ends well removes its ledger. The listing notices, but what it counted last is still given. */
static void the_last_figures_of_a_ledger_that_is_gone(void **state)
{
	struct builder b;
	(void)state;
	begin(&b);
	uint64_t device = builder_header(&b)->device_offset[0];
	add(&b, 1);
	int fd = write_running(&b, 777);
	start(0);
	follow_look(&f);
	builder_device(&b, device)->faults[TDM_KIND_DRAM].out_of_memory = 1;
	builder_record(&b, device, ++builder_device(&b, device)->seq, TDM_LEDGER_BAD_FREE,
		&(struct tdm_ledger_slot){ .kind = TDM_KIND_DRAM }, 0);
	rewrite(&b, fd);
	close(fd);
	unlink(path_of(777));
	assert_string_equal(follow_look_after(&f, 100 * TDM_NS_PER_S), "PuF");
	follow_done(&f);
	builder_done(&b);
}

static void following(void **state)
{
	struct builder b;
	(void)state;
	begin(&b);
	uint32_t first = add(&b, 1);
	int fd = write_running(&b, 777);
	start(BUFFERS | EVENTS);
	assert_string_equal(follow_look(&f), "Pdua-cA");
	assert_int_equal(f.fold.processes[0]->who.life, TDM_LIFE_RUNS);
	assert_int_equal(holding(0, 0)->kinds[TDM_KIND_DRAM].reserved, 100);

	/* One by one. */
	add(&b, 2);
	add(&b, 3);
	take(&b, first);
	builder_phase(&b, "later");
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "uaafh");
	assert_int_equal(holding(0, 0)->kinds[TDM_KIND_DRAM].reserved, 200);
	assert_int_equal(holding(0, 0)->kinds[TDM_KIND_DRAM].counter.allocs, 3);
	assert_string_equal(f.fold.texts.texts[f.fold.processes[0]->phase], "later");

	/* More than the ring holds: the loss is counted, and a new account makes the figures right. */
	for (uint64_t i = 0; i < 3000; i++)
		add(&b, 1000 + i);
	rewrite(&b, fd);
	follow_look(&f);
	assert_true(f.letters[0] == 'u' && f.letters[1] == 'l' && strchr(f.letters, 'c') != NULL);
	assert_in_range(f.lost, 3000 - SAMPLE_RING, 3000 - SAMPLE_RING + 2);
	assert_int_equal(f.lost + (size_t)(strchr(f.letters, 'c') - f.letters - 2) / 2, 3000);
	assert_int_equal(fold_buffers(holding(0, 0)), 3002);
	assert_int_equal(holding(0, 0)->kinds[TDM_KIND_DRAM].reserved, 200 + 300000);
	assert_string_equal(follow_look(&f), "");

	/* Events that change no buffer: out of memory, a program, a release of something unknown. */
	static const enum tdm_ledger_op ops[] = { TDM_LEDGER_OOM, TDM_LEDGER_PROGRAM, TDM_LEDGER_BAD_FREE };
	for (int i = 0; i < 3; i++) {
		struct tdm_ledger_device *device = builder_device(&b, builder_header(&b)->device_offset[0]);
		const struct tdm_ledger_slot slot = { .id = 999, .asked = 5 };
		builder_record(&b, builder_header(&b)->device_offset[0], ++device->seq, ops[i], &slot, 0);
	}
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "ogf");
	assert_int_equal(f.events[0].flags & TDM_EVENT_FAULT, TDM_EVENT_FAULT);
	assert_int_equal(fold_buffers(holding(0, 0)), 3002);

	/* Its end. */
	add(&b, 9);
	rewrite(&b, fd);
	close(fd);
	assert_string_equal(follow_look(&f), "Pua");
	assert_int_equal(f.fold.processes[0]->who.life, TDM_LIFE_ENDED);
	assert_int_equal(holding(0, 0)->kinds[TDM_KIND_DRAM].reserved, 300 + 300000);
	assert_int_equal(tdm_follower_deaths(f.follower), 1);
	assert_string_equal(follow_look(&f), "");
	follow_done(&f);
	unlink(path_of(777));
	builder_done(&b);
}

/* A buffer from before the tracking: the event has the time of the report, the buffer has no birth, however it is read,
 * and its release does not say how long it lived. */
static void adopted(void **state)
{
	struct builder b;
	const struct tdm_ledger_slot older = {
		.id = 5, .asked = 100, .bank_bytes = 100, .banks = 1, .flags = TDM_SLOT_ADOPTED
	};
	(void)state;
	begin(&b);
	add(&b, 1);
	int fd = write_running(&b, 777);
	start(BUFFERS | EVENTS);
	follow_look(&f);
	uint64_t device = builder_header(&b)->device_offset[0];
	uint32_t place = builder_alloc(&b, device, older, (struct tdm_ledger_more){ 0 });
	builder_more(&b, device, place)->tsc = 0;
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "ua");
	assert_int_equal(f.events[0].flags & TDM_EVENT_ADOPTED, TDM_EVENT_ADOPTED);
	assert_true(f.events[0].time_ns != 0);
	const struct tdm_fold_kind *dram = &holding(0, 0)->kinds[TDM_KIND_DRAM];
	assert_int_equal(dram->count, 2);
	assert_true(tdm_buffer_is_adopted(&dram->buffers[1]));
	assert_int_equal(dram->buffers[1].born_ns, 0);
	assert_true(dram->buffers[0].born_ns != 0);
	struct follow watched = f;
	start(BUFFERS);
	assert_string_equal(follow_look(&f), "PducAA");
	assert_int_equal(holding(0, 0)->kinds[TDM_KIND_DRAM].buffers[1].born_ns, 0);
	follow_done(&f);
	f = watched;
	builder_free(&b, device, place);
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "uf");
	assert_int_equal(f.events[0].born_ns, 0);
	place = builder_alloc(&b, device, older, (struct tdm_ledger_more){ 0 });
	builder_free(&b, device, place); /* both between two looks */
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "uaf");
	assert_int_equal(f.events[1].born_ns, 0);
	close(fd);
	follow_done(&f);
	unlink(path_of(777));
	builder_done(&b);
}

/* A view keeps its other properties, in the list of live buffers and as an event. */
static void an_adopted_view(void **state)
{
	struct builder b;
	const struct tdm_ledger_slot view = { .id = 5, .asked = 100, .flags = TDM_SLOT_ADOPTED | TDM_SLOT_VIEW };
	(void)state;
	begin(&b);
	int fd = write_running(&b, 777);
	start(BUFFERS | EVENTS);
	follow_look(&f);
	builder_alloc(&b, builder_header(&b)->device_offset[0], view, (struct tdm_ledger_more){ 0 });
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "ua");
	assert_int_equal(f.events[0].flags & (TDM_EVENT_ADOPTED | TDM_EVENT_VIEW), TDM_EVENT_ADOPTED | TDM_EVENT_VIEW);
	follow_done(&f);
	start(BUFFERS);
	follow_look(&f);
	const struct tdm_buffer *buffer = &holding(0, 0)->kinds[TDM_KIND_DRAM].buffers[0];
	assert_true(tdm_buffer_is_adopted(buffer) && tdm_buffer_is_view(buffer));
	close(fd);
	follow_done(&f);
	unlink(path_of(777));
	builder_done(&b);
}

/* A view that shows the latest events only: earlier ones are counted, and whatever is no allocation or release comes.
 */
static void the_latest(void **state)
{
	struct builder b;
	(void)state;
	begin(&b);
	uint32_t first = add(&b, 1);
	int fd = write_running(&b, 778);
	start(EVENTS);
	f.latest = 2;
	follow_look(&f);
	builder_phase(&b, "early");
	add(&b, 2);
	add(&b, 3);
	add(&b, 4);
	take(&b, first);
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "ula-f-h");
	assert_int_equal(f.lost, 2);
	assert_int_equal(f.events[1].id, 4);
	f.latest = 0;
	add(&b, 5);
	add(&b, 6);
	add(&b, 7);
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "ua-a-a-");
	close(fd);
	follow_done(&f);
	unlink(path_of(778));
	builder_done(&b);
}

/* Buffers that are wanted after events were, and the other way round. */
static void past_events(void **state)
{
	struct builder b;
	(void)state;
	begin(&b);
	add(&b, 1);
	int fd = write_running(&b, 777);
	start(EVENTS);
	assert_string_equal(follow_look(&f), "Pdua-");
	assert_int_equal(f.events[0].position, 1);
	add(&b, 2);
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "ua-");
	f.wants = BUFFERS; /* events come on behalf of the buffers alone */
	assert_string_equal(follow_look(&f), "cAA");
	add(&b, 3);
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "ua");
	/* Whoever asks for events again gets those since the last time. */
	f.wants = BUFFERS | EVENTS;
	add(&b, 4);
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "ua-a");
	assert_int_equal(f.events[0].id, 3);
	assert_int_equal(fold_buffers(holding(0, 0)), 4);
	f.wants = EVENTS;
	add(&b, 5);
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "cua-");
	assert_int_equal(fold_buffers(holding(0, 0)), 0);
	f.wants = 0;
	for (uint64_t i = 0; i < 2 * SAMPLE_RING; i++)
		add(&b, 100 + i);
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "u");
	f.wants = EVENTS;
	follow_look(&f);
	assert_int_equal(f.letters[0], 'l');
	assert_int_equal(f.lost + (strlen(f.letters) - 1) / 2, 2 * SAMPLE_RING);
	close(fd);
	follow_done(&f);
	unlink(path_of(777));
	builder_done(&b);
}

/* A call at this time, counted from the first. */
static uint32_t alloc_at(struct builder *b, uint64_t id, uint64_t ticks)
{
	b->ticks = BUILDER_TICKS + ticks;
	return add(b, id);
}

static void free_at(struct builder *b, uint32_t place, uint64_t ticks)
{
	b->ticks = BUILDER_TICKS + ticks;
	take(b, place);
}

static void expect_life(const struct tdm_event *event, uint64_t ticks, uint64_t most)
{
	assert_int_equal(event->op, TDM_OP_FREE);
	assert_int_equal(event->time_ns - event->born_ns, ticks * BUILDER_NS_PER_TICK);
	assert_int_equal(event->over_ns - event->born_ns, most * BUILDER_NS_PER_TICK);
}

/* A release that takes the time of the event before it is over when the next time is read. */
static void lives(void **state)
{
	struct builder b;
	(void)state;
	_Static_assert(TDM_LEDGER_FREE_CLOCK == 8, "the eighth call below reads the time");
	begin(&b);
	uint32_t first = alloc_at(&b, 1, 0);
	free_at(&b, first, 0);
	uint32_t second = alloc_at(&b, 2, 1000), third = alloc_at(&b, 3, 1500);
	uint32_t fourth = alloc_at(&b, 4, 2000), fifth = alloc_at(&b, 5, 2500);
	free_at(&b, second, 2500);
	free_at(&b, third, 4000);
	free_at(&b, fourth, 4000);
	alloc_at(&b, 6, 9000);
	free_at(&b, fifth, 9000);
	write_ledger(&b, 4242);
	start(EVENTS);
	assert_string_equal(follow_look(&f), "Pdua-f-a-a-a-a-f-f-f-a-f-");
	expect_life(&f.events[1], 0, 1000);
	expect_life(&f.events[6], 1500, 3000); /* the next release has read the time */
	expect_life(&f.events[7], 2500, 2500); /* this one: it is exact */
	expect_life(&f.events[8], 2000, 7000);
	expect_life(&f.events[10], 6500, 6500); /* nothing came after it */
	follow_done(&f);
	builder_done(&b);
	/* Of one that was born before the events that were read, the buffer itself knows. */
	begin(&b);
	first = alloc_at(&b, 1, 0);
	int fd = write_running(&b, 4242);
	start(BUFFERS);
	follow_look(&f);
	free_at(&b, first, 700);
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "uf");
	follow_done(&f);
	close(fd);
	unlink(path_of(4242));
	builder_done(&b);
}

/* Ids of two kinds that have the same key are told apart. */
static void a_release_is_not_of_another_buffer(void **state)
{
	const uint64_t id = 5, other = id ^ (uint64_t)TDM_KIND_L1 << 59;
	struct builder b;
	(void)state;
	begin(&b);
	uint64_t device = builder_header(&b)->device_offset[0];
	struct tdm_ledger_slot slot = { .id = id, .asked = 64, .bank_bytes = 64, .banks = 1, .kind = TDM_KIND_DRAM };
	b.ticks = BUILDER_TICKS;
	uint32_t first = builder_alloc(&b, device, slot, (struct tdm_ledger_more){ 0 });
	slot.id = other;
	slot.kind = TDM_KIND_L1;
	b.ticks = BUILDER_TICKS + 1000;
	builder_alloc(&b, device, slot, (struct tdm_ledger_more){ 0 });
	free_at(&b, first, 3000);
	write_ledger(&b, 4242);
	start(EVENTS);
	follow_look(&f);
	assert_int_equal(f.event_count, 3);
	assert_int_equal(f.events[2].id, id);
	assert_int_equal(f.events[2].born_ns, 0); /* not known any more, rather than that of the other one */
	follow_done(&f);
	unlink(path_of(4242));
	builder_done(&b);
}

static uint32_t add_with(
	struct builder *b, uint64_t id, uint32_t place, struct tdm_ledger_slot slot, struct tdm_ledger_more more)
{
	uint64_t device = builder_header(b)->device_offset[0];
	slot.id = id;
	slot.asked = 900;
	slot.bank_bytes = 64;
	slot.banks = 12;
	slot.kind = TDM_KIND_L1;
	uint32_t at = builder_alloc(b, device, slot, more);
	struct tdm_ledger_record *ring = builder_at(b, builder_device(b, device)->ring_offset);
	if (place == at)
		return at;
	/* In a slot that was used before. */
	ring[(builder_device(b, device)->seq - 1) % SAMPLE_RING].slot = place;
	*builder_slot(b, device, place) = *builder_slot(b, device, at);
	*builder_more(b, device, place) = *builder_more(b, device, at);
	memset(builder_slot(b, device, at), 0, sizeof(struct tdm_ledger_slot));
	builder_device(b, device)->slot_high--;
	return place;
}

/* The ring says less of a buffer than the account does; nobody may see which of the two told of it. */
static void details_of_new_buffers(void **state)
{
	static const uint16_t cores[] = { 0, 1, 7, 6 };
	struct builder b;
	(void)state;
	begin(&b);
	uint32_t old = add(&b, 1);
	int fd = write_running(&b, 777);
	start(BUFFERS);
	assert_string_equal(follow_look(&f), "PducA");
	uint32_t line = builder_text(&b, "model.py:12 (forward)");
	uint64_t frames[] = { 0x401234, TDM_FRAME_TEXT | line };
	struct tdm_ledger_more more = { .holding = 5,
		.page_size = 2048,
		.cores = 3,
		.thread = 77,
		.program = builder_text(&b, "matmul"),
		.ranges = builder_blob(&b, TDM_BLOB_RANGES, cores, sizeof cores) };
	const struct tdm_ledger_slot slot = { .name = builder_text(&b, "weights"),
		.stack = builder_blob(&b, TDM_BLOB_STACK, frames, sizeof frames) };
	add_with(&b, 2, 1, slot, more);
	take(&b, old);
	add_with(&b, 3, old, slot, more);
	uint32_t gone = add_with(&b, 4, 2, slot, more);
	take(&b, gone);
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "uuafaaf");
	const struct tdm_buffer *buffer = fold_buffer(holding(0, 0), TDM_KIND_L1, 3);
	assert_int_equal(buffer->holding_banks, 5);
	assert_int_equal(buffer->page_size, 2048);
	assert_int_equal(buffer->cores, 3);
	assert_string_equal(f.fold.texts.texts[buffer->program], "matmul");
	assert_int_equal(f.fold.texts.stacks.list[buffer->stack].count, 2);
	assert_int_equal(f.fold.texts.ranges.list[buffer->ranges].count, 1);
	compare_with_fresh();
	/* A release has the name that its buffer had. */
	assert_true(tdm_str_is(f.events[4].name, "weights"));
	close(fd);
	follow_done(&f);
	unlink(path_of(777));
	builder_done(&b);
}

static void kept_buffers(void **state)
{
	struct builder b;
	(void)state;
	begin(&b);
	add(&b, 1);
	int fd = write_running(&b, 777);
	start(BUFFERS | EVENTS);
	follow_look(&f);
	f.wants = KEEP | EVENTS;
	add(&b, 2);
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "u"); /* counters are not held back */
	assert_int_equal(fold_buffers(holding(0, 0)), 1);
	f.wants = BUFFERS | EVENTS;
	assert_string_equal(follow_look(&f), "a");
	/* Longer than the ring remembers. */
	f.wants = KEEP;
	for (uint64_t i = 0; i < 2 * SAMPLE_RING; i++)
		add(&b, 100 + i);
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "u");
	f.wants = BUFFERS;
	follow_look(&f);
	assert_non_null(strchr(f.letters, 'c'));
	compare_with_fresh();
	/* Its end while they are kept, and after that. */
	f.wants = KEEP;
	add(&b, 3);
	rewrite(&b, fd);
	close(fd);
	assert_string_equal(follow_look(&f), "Pu");
	assert_string_equal(follow_look(&f), "");
	f.wants = BUFFERS;
	assert_string_equal(follow_look(&f), "a");
	compare_with_fresh();
	assert_string_equal(follow_look(&f), "");
	/* Nothing to keep: there is nothing. */
	follow_done(&f);
	start(KEEP);
	assert_string_equal(follow_look(&f), "Pdu");
	follow_done(&f);
	unlink(path_of(777));
	builder_done(&b);
}

/* What an ended process left can be asked for as long as its ledger is there. */
static void asked_later(void **state)
{
	struct builder b;
	(void)state;
	begin(&b);
	uint32_t first = add(&b, 1);
	add(&b, 2);
	take(&b, first);
	write_ledger(&b, 777);
	start(0);
	assert_string_equal(follow_look(&f), "Pdu");
	assert_string_equal(follow_look(&f), "");
	f.wants = BUFFERS;
	assert_string_equal(follow_look(&f), "cA");
	assert_string_equal(follow_look(&f), "");
	f.wants = 0;
	assert_string_equal(follow_look(&f), "c");
	assert_false(holding(0, 0)->has_buffers);
	f.wants = EVENTS;
	assert_string_equal(follow_look(&f), "a-a-f-");
	assert_string_equal(follow_look(&f), "");
	f.wants = BUFFERS | EVENTS;
	assert_string_equal(follow_look(&f), "cA");
	assert_int_equal(tdm_follower_deaths(f.follower), 1);
	/* It was damaged meanwhile, and mended. */
	f.wants = 0;
	follow_look(&f);
	assert_int_equal(truncate(path_of(777), 100), 0);
	f.wants = BUFFERS;
	assert_string_equal(follow_look(&f), "");
	assert_int_equal(follow_find(&f, "tidemark.777.12345.0")->err, TDM_ECORRUPT);
	write_ledger(&b, 777);
	assert_string_equal(follow_look(&f), "cA");
	assert_int_equal(follow_problems(&f), 0);
	/* It is gone, though the directory was not looked at yet. */
	f.wants = 0;
	follow_look(&f);
	unlink(path_of(777));
	f.wants = BUFFERS;
	assert_string_equal(follow_look_after(&f, 1), "");
	assert_string_equal(follow_look(&f), "F");
	assert_int_equal(tdm_follower_count(f.follower), 0);
	follow_done(&f);
	builder_done(&b);
}

/* Somebody walks over the slots between two looks: what the counters say since is not late for it. */
static void count_slots(
	void *context, const struct tdm_ledger_slot *slots, const struct tdm_ledger_more *mores, size_t count)
{
	(void)slots;
	(void)mores;
	*(size_t *)context += count;
}

static void slots_between_looks(void **state)
{
	struct builder b;
	size_t count = 0, at, none;
	bool exact;
	const struct tdm_ledger_walk walk = { .each = count_slots, .context = &count },
				     as_seen = { .each = count_slots, .context = &count, .as_seen = true };
	(void)state;
	begin(&b);
	add(&b, 1);
	int fd = write_running(&b, 777);
	start(EVENTS);
	follow_look(&f);
	uint64_t number = f.fold.processes[0]->number;
	struct tdm_ledger *ledger = tdm_follower_ledger(f.follower, number, 0, &at);
	assert_non_null(ledger);
	assert_int_equal(tdm_ledger_device(ledger, at)->seq, 1);
	assert_null(tdm_follower_ledger(f.follower, number, 1, &none));
	assert_null(tdm_follower_ledger(f.follower, number + 1, 0, &none));
	add(&b, 2);
	rewrite(&b, fd);
	assert_int_equal(tdm_ledger_walk(ledger, at, &as_seen, &exact), 0);
	assert_int_equal(count, 1); /* the other one came later */
	assert_true(exact);
	count = 0;
	assert_int_equal(tdm_ledger_walk(ledger, at, &walk, &exact), 0);
	assert_int_equal(count, 2);
	assert_string_equal(follow_look_after(&f, 1), "ua-");
	f.wants = 0;
	add(&b, 3);
	rewrite(&b, fd);
	assert_int_equal(tdm_ledger_walk(ledger, at, &walk, &exact), 0);
	assert_string_equal(follow_look_after(&f, 1), "u");
	assert_null(tdm_follower_ledger(f.follower, number, 7, &none));
	close(fd);
	follow_look(&f);
	assert_null(tdm_follower_ledger(f.follower, number, 0, &at));
	follow_done(&f);
	unlink(path_of(777));
	builder_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(an_account_in_order),
		test(the_same_figures_as_the_ledger),
		test(core_ranges_come_through),
		test(counters),
		test(the_last_figures_of_a_ledger_that_is_gone),
		test(following),
		test(adopted),
		test(an_adopted_view),
		test(the_latest),
		test(past_events),
		test(lives),
		test(a_release_is_not_of_another_buffer),
		test(details_of_new_buffers),
		test(kept_buffers),
		test(asked_later),
		test(slots_between_looks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
