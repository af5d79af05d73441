/* What is asked for besides pictures: recent events, and every buffer of a process or a device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "event/event.h"

#include "live_world.h"

#define UNKNOWN TDM_BYTES_UNKNOWN

enum { BANK = WORLD_BANK, BASE = WORLD_BASE };

static void test_events(void **state)
{
	(void)state;
	struct world w;
	struct builder a, b;
	struct tdm_overview_event events[100];
	world_init(&w);
	w.options.once = false;
	uint64_t first = world_begin_dram(&a), second = world_begin_dram(&b);
	size_t holder_a = world_ledger(&w, &a), holder_b = world_ledger(&w, &b);
	world_look(&w);
	assert_int_equal(tdm_live_events(w.live, events, 100), 0);
	/* In turn, one in each program; the time is that of both clocks. */
	for (uint64_t i = 0; i < 5; i++) {
		b.ticks = ++a.ticks;
		world_alloc(&a, first, TDM_KIND_DRAM, i, BASE + 64 * i, 32);
		b.ticks = a.ticks;
		world_alloc(&b, second, TDM_KIND_L1, i, 64 * i, 16);
		a.ticks = b.ticks;
	}
	world_rewrite(&w, holder_a, &a);
	world_rewrite(&w, holder_b, &b);
	const struct tdm_overview *o = world_look(&w);
	assert_int_equal(tdm_live_events(w.live, events, 100), 10);
	for (int i = 0; i < 10; i++) {
		size_t holder = i % 2 == 0 ? holder_a : holder_b;
		assert_int_equal(events[i].op, TDM_OP_ALLOC);
		assert_int_equal(events[i].pid, w.holders[holder]);
		assert_int_equal(events[i].kind, i % 2 == 0 ? TDM_KIND_DRAM : TDM_KIND_L1);
		assert_int_equal(events[i].number, 0);
		ASSERT_U64(events[i].reserved, i % 2 == 0 ? 64 : 32);
		ASSERT_U64(events[i].asked, i % 2 == 0 ? 63 : 31);
		assert_true(i == 0 || events[i].time_ns >= events[i - 1].time_ns);
		assert_true(events[i].handle == o->processes[0].handle || events[i].handle == o->processes[1].handle);
	}
	ASSERT_U64(events[2].address, BASE + 64);
	assert_int_equal(tdm_live_events(w.live, events, 100), 0);
	/* Between two pictures, too, and once. */
	world_alloc(&a, first, TDM_KIND_DRAM, 50, BASE + 64 * 50, 32);
	world_rewrite(&w, holder_a, &a);
	assert_int_equal(tdm_live_events(w.live, events, 100), 1);
	ASSERT_U64(events[0].address, BASE + 64 * 50);
	assert_int_equal(tdm_live_events(w.live, events, 100), 0);
	world_look(&w);
	assert_int_equal(tdm_live_events(w.live, events, 100), 0);
	/* More than are asked for: the latest, and how many more there were. */
	for (uint64_t i = 100; i < 110; i++)
		world_alloc(&a, first, TDM_KIND_DRAM, i, BASE + 64 * i, 32);
	world_rewrite(&w, holder_a, &a);
	world_look(&w);
	assert_int_equal(tdm_live_events(w.live, events, 4), 4);
	assert_int_equal(events[0].op, TDM_OP_LOST);
	ASSERT_U64(events[0].asked, 7);
	ASSERT_U64(events[3].address, BASE + 64 * 109);
	/* More than the ring holds. */
	for (uint64_t i = 200; i < 200 + 2 * SAMPLE_RING; i++)
		world_alloc(&a, first, TDM_KIND_DRAM, i, BASE + 64 * i, 32);
	world_rewrite(&w, holder_a, &a);
	world_look(&w);
	size_t got = tdm_live_events(w.live, events, 100);
	uint64_t sum = 0;
	for (size_t i = 0; i < got; i++)
		sum += events[i].op == TDM_OP_LOST ? events[i].asked : 1;
	ASSERT_U64(sum, 2 * SAMPLE_RING);
	assert_int_equal(events[0].op, TDM_OP_LOST);
	/* Faults. */
	builder_record(&a, first, builder_device(&a, first)->seq + 1, TDM_LEDGER_BAD_FREE,
		&(struct tdm_ledger_slot){ .id = 5, .address = 17 }, 0);
	builder_device(&a, first)->seq++;
	world_rewrite(&w, holder_a, &a);
	world_look(&w);
	assert_int_equal(tdm_live_events(w.live, events, 100), 1);
	assert_true(events[0].is_fault);
	assert_int_equal(events[0].op, TDM_OP_FREE);
	builder_done(&a);
	builder_done(&b);
	world_done(&w);
}

/* What a program did between the last look and its end is what it is asked about most: why it ended. */
static void test_last_events(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	struct tdm_overview_event events[8];
	world_init(&w);
	w.options.once = false;
	uint64_t device = world_begin_dram(&b);
	size_t holder = world_ledger(&w, &b);
	world_look(&w);
	assert_int_equal(tdm_live_events(w.live, events, 8), 0);
	for (uint64_t i = 0; i < 3; i++)
		world_alloc(&b, device, TDM_KIND_DRAM, i, BASE + 64 * i, 32);
	world_rewrite(&w, holder, &b);
	pid_t pid = w.holders[holder];
	world_end_holder(&w, holder);
	assert_int_equal(world_look(&w)->process_count, 0);
	assert_int_equal(tdm_live_events(w.live, events, 8), 3);
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(events[i].pid, pid);
		ASSERT_U64(events[i].address, BASE + 64 * i);
	}
	assert_int_equal(tdm_live_events(w.live, events, 8), 0);
	world_look(&w);
	assert_int_equal(tdm_live_events(w.live, events, 8), 0);
	builder_done(&b);
	world_done(&w);
}

/* The first call gives what is there, and says nothing of what was before. */
static void test_first_events(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	struct tdm_overview_event events[8];
	world_init(&w);
	uint64_t device = world_begin_dram(&b);
	for (uint64_t i = 0; i < 100; i++)
		world_alloc(&b, device, TDM_KIND_DRAM, i, BASE + 64 * i, 32);
	world_ledger(&w, &b);
	world_look(&w);
	assert_int_equal(tdm_live_events(w.live, events, 8), 8);
	for (size_t i = 0; i < 8; i++)
		ASSERT_U64(events[i].address, BASE + 64 * (92 + i));
	assert_int_equal(tdm_live_events(w.live, events, 8), 0);
	assert_int_equal(tdm_live_events(w.live, events, 0), 0);
	builder_done(&b);
	world_done(&w);
}

static void test_snapshots(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	struct tdm_diag diag = { 0 };
	world_init(&w);
	w.options.with_ended = true;
	world_card(&w, 0, "n150", WORLD_CHIP);
	world_opens(&w, 0, "300\n");
	world_process(&w, 300, WORLD_START, (int)geteuid());
	uint64_t device = world_begin_dram(&b), other = builder_add_device_with(&b, 1, SAMPLE_RING);
	for (uint64_t i = 0; i < 50; i++)
		world_alloc(&b, device, TDM_KIND_DRAM, i, BASE + 64 * i, 32);
	world_alloc(&b, other, TDM_KIND_L1, 1, BASE, 32);
	size_t holder = world_ledger(&w, &b);
	builder_done(&b);
	device = world_begin_dram(&b);
	world_alloc(&b, device, TDM_KIND_DRAM, 9, BASE, 16);
	world_dead_ledger(&w, &b, 70001, false);
	const struct tdm_overview *o = world_look(&w);
	uint64_t handle = 0, handle_open = 0, handle_dead = 0;
	for (size_t i = 0; i < o->process_count; i++) {
		uint64_t *which = o->processes[i].pid == 300     ? &handle_open
				  : o->processes[i].pid == 70001 ? &handle_dead
								 : &handle;
		*which = o->processes[i].handle;
	}
	struct tdm_snapshot *s = tdm_live_process(w.live, handle, &diag);
	assert_non_null(s);
	assert_int_equal(s->buffer_count, 51);
	assert_int_equal(s->process_count, 1);
	assert_int_equal(s->processes[0].who.pid, w.holders[holder]);
	tdm_snapshot_free(s);
	/* One without a ledger has no buffers that could be known. */
	assert_null(tdm_live_process(w.live, handle_open, &diag));
	assert_non_null(strstr(diag.text, "no ledger"));
	assert_null(tdm_live_process(w.live, 123456, &diag));
	/* The buffers of one device, of everybody there. */
	assert_int_equal(o->devices[0].node, 0);
	s = tdm_live_device(w.live, 0, &diag);
	assert_non_null(s);
	assert_int_equal(s->buffer_count, 51);
	assert_int_equal(s->device_count, 1);
	assert_int_equal(s->process_count, 2);
	tdm_snapshot_free(s);
	s = tdm_live_device(w.live, 1, &diag);
	assert_int_equal(s->buffer_count, 1);
	assert_int_equal(s->buffers[0].kind, TDM_KIND_L1);
	tdm_snapshot_free(s);
	assert_null(tdm_live_device(w.live, 2, &diag));
	/* The dead one's, and not any more when its ledger is gone. */
	s = tdm_live_process(w.live, handle_dead, &diag);
	assert_int_equal(s->buffer_count, 1);
	tdm_snapshot_free(s);
	unlink(world_ledger_path(&w, 70001));
	assert_null(tdm_live_process(w.live, handle_dead, &diag));
	assert_true(diag.text[0] != '\0');
	builder_done(&b);
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_last_events),
		cmocka_unit_test(test_first_events),
		cmocka_unit_test(test_snapshots),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
