/* The parts of a picture that must be asked for: recent events, and every buffer of a process or a device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "state_world.h"

#define UNKNOWN TDM_BYTES_UNKNOWN

enum { BANK = WORLD_BANK, BASE = WORLD_BASE };

static const struct tdm_wish events_wish = { .parts = TDM_WISH_EVENTS };
static const struct tdm_wish buffers_wish = { .parts = TDM_WISH_BUFFERS };

static const struct tdm_picture *look_events(struct world *w, size_t count)
{
	const struct tdm_picture *pic = world_look_for(w, &events_wish);
	assert_int_equal(pic->event_count, count);
	return pic;
}

static void alloc_many(struct builder *b, uint64_t device, uint64_t from, uint64_t end)
{
	for (uint64_t i = from; i < end; i++)
		world_alloc(b, device, TDM_KIND_DRAM, i, BASE + 64 * i, 32);
}

static void test_events(void **state)
{
	(void)state;
	struct world w;
	struct builder a, b;
	world_init(&w);
	w.options.once = false;
	uint64_t first = world_begin_dram(&a), second = world_begin_dram(&b);
	size_t holder_a = world_ledger(&w, &a), holder_b = world_ledger(&w, &b);
	look_events(&w, 0);
	/* In turn, one in each program; the time is that of both clocks. */
	for (uint64_t i = 0; i < 5; i++) {
		b.ticks = ++a.ticks;
		alloc_many(&a, first, i, i + 1);
		b.ticks = a.ticks;
		world_alloc(&b, second, TDM_KIND_L1, i, 64 * i, 16);
		a.ticks = b.ticks;
	}
	world_rewrite(&w, holder_a, &a);
	world_rewrite(&w, holder_b, &b);
	const struct tdm_picture *pic = look_events(&w, 10);
	for (int i = 0; i < 10; i++) {
		const struct tdm_event *event = &pic->events[i];
		size_t holder = i % 2 == 0 ? holder_a : holder_b;
		assert_int_equal(event->op, TDM_OP_ALLOC);
		ASSERT_U64(event->process, find_pid(pic, w.holders[holder])->handle);
		assert_int_equal(event->kind, i % 2 == 0 ? TDM_KIND_DRAM : TDM_KIND_L1);
		assert_int_equal(event->device, 0);
		ASSERT_U64(event->bytes_per_bank * event->banks, i % 2 == 0 ? 64 : 32);
		ASSERT_U64(event->size, i % 2 == 0 ? 63 : 31);
		assert_true(i == 0 || event->time_ns >= pic->events[i - 1].time_ns);
		assert_true(event->time_ns >= TDM_NS_PER_S); /* monotonic: the builder's first is at one second */
		assert_true(event->time_ns < 2 * TDM_NS_PER_S);
	}
	ASSERT_U64(pic->events[2].address, BASE + 64);
	look_events(&w, 0);
	/* Faults. */
	builder_record(&a, first, builder_device(&a, first)->seq + 1, TDM_LEDGER_BAD_FREE,
		&(struct tdm_ledger_slot){ .id = 500, .address = 17 }, 0);
	builder_device(&a, first)->seq++;
	world_rewrite(&w, holder_a, &a);
	pic = look_events(&w, 1);
	assert_int_equal(pic->events[0].flags & TDM_EVENT_FAULT, TDM_EVENT_FAULT);
	assert_int_equal(pic->events[0].op, TDM_OP_FREE);
	builder_done(&a);
	builder_done(&b);
	world_done(&w);
}

/* Whoever does not ask for a while gets what happened meanwhile, each event once, and how many are missing. */
static void test_events_after_a_pause(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	w.options.once = false;
	uint64_t device = world_begin_dram(&b);
	alloc_many(&b, device, 0, 5);
	size_t holder = world_ledger(&w, &b);
	look_events(&w, 5);
	for (int i = 0; i < 3; i++) {
		alloc_many(&b, device, 10 + (uint64_t)i, 11 + (uint64_t)i);
		world_rewrite(&w, holder, &b);
		/* Whether buffers are wanted meanwhile changes nothing. */
		const struct tdm_picture *pic = world_look_for(&w, i == 1 ? &buffers_wish : NULL);
		assert_int_equal(pic->event_count, 0);
	}
	const struct tdm_picture *pic = look_events(&w, 3);
	for (uint64_t i = 0; i < 3; i++)
		ASSERT_U64(pic->events[i].address, BASE + 64 * (10 + i));
	look_events(&w, 0);
	/* More than the ring holds. */
	world_look(&w);
	alloc_many(&b, device, 200, 200 + 2 * SAMPLE_RING);
	world_rewrite(&w, holder, &b);
	world_look(&w);
	pic = world_look_for(&w, &events_wish);
	uint64_t sum = 0;
	for (size_t i = 0; i < pic->event_count; i++)
		sum += pic->events[i].op == TDM_OP_LOST ? pic->events[i].size : 1;
	ASSERT_U64(sum, 2 * SAMPLE_RING);
	assert_int_equal(pic->events[0].op, TDM_OP_LOST);
	assert_true(pic->events[0].size >= SAMPLE_RING);
	ASSERT_U64(pic->events[0].time_ns, pic->events[1].time_ns); /* before what follows it */
	builder_done(&b);
	world_done(&w);
}

/* A picture has the latest, and says how many more there were; of the first nothing is missing. */
static void test_too_many_events(void **state)
{
	(void)state;
	enum { RING = 1 << 17, MANY = 70000 };
	struct world w;
	struct builder b;
	world_init(&w);
	w.options.once = false;
	builder_init(&b);
	uint64_t device = builder_add_device_with(&b, 0, RING);
	alloc_many(&b, device, 0, MANY);
	size_t holder = world_ledger(&w, &b);
	const struct tdm_picture *pic = world_look_for(&w, &events_wish);
	size_t most = pic->event_count;
	assert_true(most < MANY);
	for (size_t i = 0; i < most; i++)
		ASSERT_U64(pic->events[i].id, MANY - most + i);
	alloc_many(&b, device, MANY, 2 * MANY);
	world_rewrite(&w, holder, &b);
	pic = look_events(&w, most);
	assert_int_equal(pic->events[0].op, TDM_OP_LOST);
	ASSERT_U64(pic->events[0].size, MANY - (most - 1));
	for (size_t i = 1; i < most; i++)
		ASSERT_U64(pic->events[i].id, 2 * MANY - most + i);
	builder_done(&b);
	world_done(&w);
}

/* What a program did between the last look and its end is what it is asked about most: why it ended. */
static void test_last_events(void **state)
{
	(void)state;
	for (int leaves_ledger = 0; leaves_ledger < 2; leaves_ledger++) {
		struct world w;
		struct builder b;
		world_init(&w);
		w.options.once = false;
		uint64_t device = world_begin_dram(&b);
		uint32_t name = builder_text(&b, "weights");
		size_t holder = world_ledger(&w, &b);
		uint64_t handle = look_events(&w, 0)->processes[0].handle;
		alloc_many(&b, device, 0, 3);
		struct tdm_ledger_record *ring = builder_at(&b, builder_device(&b, device)->ring_offset);
		ring[1].name = name;
		world_rewrite(&w, holder, &b);
		if (!leaves_ledger)
			assert_int_equal(unlink(world_ledger_path(&w, w.holders[holder])), 0);
		world_end_holder(&w, holder);
		const struct tdm_picture *pic = look_events(&w, 3);
		assert_int_equal(pic->process_count, 0);
		const char *kept = pic->events[1].name.ptr;
		for (uint64_t i = 0; i < 3; i++) {
			ASSERT_U64(pic->events[i].process, handle);
			ASSERT_U64(pic->events[i].address, BASE + 64 * i);
		}
		look_events(&w, 0);
		assert_string_equal(kept, "weights"); /* it outlives its ledger */
		builder_done(&b);
		world_done(&w);
	}
}

/* The first time gives what is there, and says nothing of what was before. */
static void test_first_events(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	uint64_t device = world_begin_dram(&b);
	alloc_many(&b, device, 0, 100);
	world_ledger(&w, &b);
	world_look(&w);
	const struct tdm_picture *pic = world_look_for(&w, &events_wish);
	assert_in_range(pic->event_count, SAMPLE_RING - 2, SAMPLE_RING);
	for (size_t i = 0; i < pic->event_count; i++)
		ASSERT_U64(pic->events[i].address, BASE + 64 * (100 - pic->event_count + i));
	look_events(&w, 0);
	builder_done(&b);
	world_done(&w);
}

static size_t buffer_count(const struct tdm_picture *pic)
{
	size_t count = 0;
	for (size_t i = 0; i < pic->holding_count; i++)
		count += tdm_holding_buffer_count(&pic->holdings[i]);
	return count;
}

static size_t look_process(struct world *w, uint64_t handle)
{
	return buffer_count(world_look_for(w, &(struct tdm_wish){ .parts = TDM_WISH_BUFFERS, .process = handle }));
}

static size_t look_device(struct world *w, uint64_t key)
{
	return buffer_count(world_look_for(w, &(struct tdm_wish){ .parts = TDM_WISH_BUFFERS, .device = key }));
}

static void test_buffers(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	w.options.with_ended = true;
	world_card(&w, 0, "n150", WORLD_CHIP);
	world_opens(&w, 0, "300\n");
	world_process(&w, 300, WORLD_START, (int)geteuid());
	uint64_t device = world_begin_dram(&b), other = builder_add_device_with(&b, 1, SAMPLE_RING);
	alloc_many(&b, device, 0, 50);
	world_alloc(&b, other, TDM_KIND_L1, 1, BASE, 32);
	size_t holder = world_ledger(&w, &b);
	builder_done(&b);
	device = world_begin_dram(&b);
	world_alloc(&b, device, TDM_KIND_DRAM, 9, BASE, 16);
	world_dead_ledger(&w, &b, 70001, false);
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(buffer_count(pic), 0);
	ASSERT_U64(find_holding(pic, w.holders[holder], 0)->kinds[TDM_KIND_DRAM].occupied, UNKNOWN);
	uint64_t handle = find_pid(pic, w.holders[holder])->handle, handle_open = find_pid(pic, 300)->handle,
		 handle_dead = find_pid(pic, 70001)->handle, first = pic->devices[0].key, second = pic->devices[1].key;
	assert_int_equal(look_process(&w, handle), 51);
	/* One without a ledger has no buffers that could be known. */
	assert_int_equal(look_process(&w, handle_open), 0);
	assert_int_equal(look_process(&w, 123456), 0);
	/* The buffers of one device, of everybody there. */
	pic = world_look_for(&w, &(struct tdm_wish){ .parts = TDM_WISH_BUFFERS, .device = first });
	assert_int_equal(buffer_count(pic), 51);
	assert_int_equal(pic->devices[0].node, 0);
	assert_int_equal(find_holding(pic, w.holders[holder], 0)->buffers[TDM_KIND_DRAM].count, 50);
	assert_int_equal(find_holding(pic, 70001, 0)->buffers[TDM_KIND_DRAM].count, 1);
	assert_int_equal(find_holding(pic, w.holders[holder], 1)->buffers[TDM_KIND_L1].count, 0);
	ASSERT_U64(find_holding(pic, w.holders[holder], 0)->kinds[TDM_KIND_DRAM].occupied, 50 * 64);
	pic = world_look_for(&w, &(struct tdm_wish){ .parts = TDM_WISH_BUFFERS, .device = second });
	assert_int_equal(buffer_count(pic), 1);
	const struct tdm_buffer_list *list = &find_holding(pic, w.holders[holder], 1)->buffers[TDM_KIND_L1];
	ASSERT_U64(list->list[0].address, BASE);
	assert_int_equal(look_device(&w, 12345), 0);
	/* Of one process on one device. */
	pic = world_look_for(&w, &(struct tdm_wish){ .parts = TDM_WISH_BUFFERS, .process = handle, .device = second });
	assert_int_equal(buffer_count(pic), 1);
	/* The dead one's, and not any more when its ledger is gone. */
	assert_int_equal(look_process(&w, handle_dead), 1);
	assert_int_equal(buffer_count(world_look_for(&w, &buffers_wish)), 52);
	assert_int_equal(buffer_count(world_look(&w)), 0);
	unlink(world_ledger_path(&w, 70001));
	assert_int_equal(look_process(&w, handle_dead), 0);
	builder_done(&b);
	world_done(&w);
}

/* A view that needs time for the lists keeps them; the figures go on. */
static void test_hold(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	w.options.once = false;
	w.options.with_ended = true;
	uint64_t device = world_begin_dram(&b);
	alloc_many(&b, device, 0, 10);
	size_t holder = world_ledger(&w, &b);
	int pid = w.holders[holder];
	const struct tdm_wish hold = { .parts = TDM_WISH_BUFFERS, .hold = true };
	uint64_t version = world_look_for(&w, &buffers_wish)->buffers_version;
	alloc_many(&b, device, 10, 15);
	world_rewrite(&w, holder, &b);
	const struct tdm_picture *pic = world_look_for(&w, &hold);
	assert_int_equal(buffer_count(pic), 10);
	ASSERT_U64(pic->buffers_version, version);
	ASSERT_U64(pic->devices[0].kinds[TDM_KIND_DRAM].buffers, 15);
	assert_true(find_holding(pic, pid, 0)->kinds[TDM_KIND_DRAM].is_inexact);
	pic = world_look_for(&w, &buffers_wish);
	assert_int_equal(buffer_count(pic), 15);
	assert_true(pic->buffers_version != version);
	assert_false(find_holding(pic, pid, 0)->kinds[TDM_KIND_DRAM].is_inexact);
	/* Its end while they are held. */
	alloc_many(&b, device, 20, 22);
	world_rewrite(&w, holder, &b);
	world_look_for(&w, &hold);
	alloc_many(&b, device, 30, 31);
	world_rewrite(&w, holder, &b);
	world_end_holder(&w, holder);
	assert_int_equal(buffer_count(world_look_for(&w, &hold)), 15);
	assert_int_equal(buffer_count(world_look_for(&w, &hold)), 15);
	pic = world_look_for(&w, &buffers_wish);
	assert_int_equal(buffer_count(pic), 18);
	ASSERT_U64(find_holding(pic, pid, 0)->kinds[TDM_KIND_DRAM].buffers, 18);
	assert_false(find_holding(pic, pid, 0)->kinds[TDM_KIND_DRAM].is_inexact);
	builder_done(&b);
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_events_after_a_pause),
		cmocka_unit_test(test_too_many_events),
		cmocka_unit_test(test_last_events),
		cmocka_unit_test(test_first_events),
		cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_hold),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
