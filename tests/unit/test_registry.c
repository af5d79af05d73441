/* The registry: identities, sums, faults, precedence of sources. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "registry_steps.h"

static void an_empty_one(void **state)
{
	(void)state;
	struct tdm_registry *reg = registry_new();
	struct tdm_snapshot *s = picture(reg);
	assert_int_equal(s->process_count + s->device_count + s->holding_count + s->buffer_count, 0);
	assert_string_equal(tdm_snapshot_text(s, 0), "");
	assert_string_equal(tdm_snapshot_text(s, 99), "");
	tdm_snapshot_free(s);
	tdm_snapshot_free(NULL);
	tdm_registry_free(reg);
	tdm_registry_free(NULL);
}

static void sums_and_peaks(void **state)
{
	(void)state;
	struct tdm_registry *reg = registry_new();
	describe_process(reg, 0, 5, who(42));
	struct tdm_event event = alloc_of(5, 0, TDM_KIND_DRAM, 1, 1000);
	event.bytes_per_bank = 96;
	event.banks = 12;
	event.holding = 11;
	event.time_ns = 77;
	event.name = tdm_str_of("weights");
	struct tdm_frame frames[] = { { .address = 0x1000 }, { .text = tdm_str_of("model.py:3") } };
	event.frames = frames;
	event.frame_count = 2;
	apply(reg, 0, &event);
	event.id = 2;
	apply(reg, 0, &event);
	release(reg, 5, 0, TDM_KIND_DRAM, 1);
	struct tdm_snapshot *s = picture(reg);
	const struct tdm_figures *f = &s->holdings[0].kinds[TDM_KIND_DRAM];
	assert_int_equal(f->reserved_bytes, 96 * 12);
	assert_int_equal(f->occupied_bytes, 96 * 11);
	assert_int_equal(f->asked_bytes, 1000);
	assert_int_equal(f->peak_reserved_bytes, 2 * 96 * 12);
	assert_int_equal(f->peak_ns, 77);
	assert_int_equal(f->buffers, 1);
	assert_int_equal(f->peak_buffers, 2);
	assert_int_equal(f->allocs, 2);
	assert_int_equal(s->devices[0].kinds[TDM_KIND_DRAM].reserved_bytes, 96 * 12);
	assert_true(s->devices[0].is_weak);
	assert_int_equal(s->buffer_count, 1);
	assert_int_equal(s->buffers[0].born_ns, 77);
	assert_string_equal(tdm_snapshot_text(s, s->buffers[0].name), "weights");
	uint32_t count;
	const struct tdm_kept_frame *kept = tdm_snapshot_stack(s, s->buffers[0].stack, &count);
	assert_int_equal(count, 2);
	assert_int_equal(kept[0].address, 0x1000);
	assert_string_equal(tdm_snapshot_text(s, kept[1].text), "model.py:3");
	assert_int_equal(s->stack_count, 2); /* both allocations have the same one */
	tdm_registry_free(reg);              /* the picture does not need it */
	assert_int_equal(s->processes[0].who.pid, 42);
	tdm_snapshot_free(s);
}

static void core_ranges_are_kept_once(void **state)
{
	(void)state;
	struct tdm_registry *reg = registry_new();
	static const struct tdm_core_range grid[] = { { 0, 0, 7, 7 }, { 1, 2, 3, 4 } };
	struct tdm_event event = alloc_of(0, 0, TDM_KIND_CB, 1, 100);
	event.ranges = grid;
	for (uint32_t id = 0; id < 6; id++) {
		event.id = id;
		event.range_count = id % 3;
		apply(reg, 0, &event);
	}
	struct tdm_snapshot *s = picture(reg);
	tdm_registry_free(reg); /* the picture does not need it */
	assert_int_equal(s->buffer_count, 6);
	assert_int_equal(s->range_list_count, 3);
	for (size_t i = 0; i < s->buffer_count; i++) {
		uint32_t count;
		const struct tdm_core_range *ranges = tdm_snapshot_ranges(s, s->buffers[i].ranges, &count);
		assert_int_equal(count, s->buffers[i].id % 3);
		assert_true((ranges != NULL) == (count != 0));
		if (count != 0)
			assert_memory_equal(ranges, grid, count * sizeof *grid);
	}
	uint32_t count = 7;
	assert_null(tdm_snapshot_ranges(s, 3, &count)); /* there is no such list */
	assert_int_equal(count, 0);
	tdm_snapshot_free(s);
}

static void a_view_has_no_bytes(void **state)
{
	(void)state;
	struct tdm_registry *reg = registry_new();
	struct tdm_event event = alloc_of(0, 0, TDM_KIND_CB, 1, 4096);
	event.flags = TDM_EVENT_VIEW;
	event.bytes_per_bank = 4096;
	event.banks = 64;
	apply(reg, 0, &event);
	struct tdm_snapshot *s = picture(reg);
	const struct tdm_figures *f = &s->holdings[0].kinds[TDM_KIND_CB];
	assert_int_equal(f->reserved_bytes + f->occupied_bytes + f->asked_bytes, 0);
	assert_int_equal(f->buffers, 1);
	assert_int_equal(s->buffers[0].asked_bytes, 4096);
	assert_false(s->processes[0].has_who); /* nobody has said whose it is */
	tdm_snapshot_free(s);
	tdm_registry_free(reg);
}

static void faults_are_counted(void **state)
{
	(void)state;
	struct tdm_registry *reg = registry_new();
	alloc(reg, 0, 0, TDM_KIND_L1, 1, 100);
	alloc(reg, 0, 0, TDM_KIND_L1, 1, 300); /* again, while it lives: the old one is gone */
	release(reg, 0, 0, TDM_KIND_L1, 1);
	release(reg, 0, 0, TDM_KIND_L1, 1);
	release(reg, 0, 0, TDM_KIND_L1, 99);
	release(reg, 0, 0, TDM_KIND_DRAM, 1); /* the id of another kind is another buffer */
	struct tdm_event oom = alloc_of(0, 0, TDM_KIND_L1, 0, 555);
	oom.op = TDM_OP_OOM;
	apply(reg, 0, &oom);
	struct tdm_snapshot *s = picture(reg);
	const struct tdm_figures *f = s->holdings[0].kinds;
	assert_int_equal(f[TDM_KIND_L1].reserved_bytes, 0);
	assert_int_equal(f[TDM_KIND_L1].peak_reserved_bytes, 300);
	assert_int_equal(f[TDM_KIND_L1].rereports, 1);
	assert_int_equal(f[TDM_KIND_L1].double_frees, 1);
	assert_int_equal(f[TDM_KIND_L1].unknown_frees, 1);
	assert_int_equal(f[TDM_KIND_L1].out_of_memory, 1);
	assert_int_equal(f[TDM_KIND_L1].oom_bytes, 555);
	assert_int_equal(f[TDM_KIND_DRAM].unknown_frees, 1);
	assert_int_equal(s->devices[0].kinds[TDM_KIND_L1].double_frees, 1);
	tdm_snapshot_free(s);
	tdm_registry_free(reg);
}

static void absurd_sizes_are_refused(void **state)
{
	(void)state;
	struct tdm_registry *reg = registry_new();
	struct tdm_event event = alloc_of(0, 0, TDM_KIND_DRAM, 1, UINT64_MAX - 1);
	assert_int_equal(tdm_registry_apply(reg, 0, &event), -EOVERFLOW);
	event.size = 1;
	event.bytes_per_bank = UINT64_MAX / 2;
	event.banks = 3;
	assert_int_equal(tdm_registry_apply(reg, 0, &event), -EINVAL); /* the product does not fit */
	event.banks = 2;
	assert_int_equal(tdm_registry_apply(reg, 0, &event), -EOVERFLOW);
	for (uint64_t i = 0; i < 4; i++) {
		event.id = 10 + i;
		event.bytes_per_bank = UINT64_C(1) << 48;
		event.banks = 1;
		assert_int_equal(tdm_registry_apply(reg, 0, &event), 0);
	}
	event.id = 20;
	assert_int_equal(tdm_registry_apply(reg, 0, &event), -EOVERFLOW);
	event.kind = TDM_KIND_COUNT;
	assert_int_equal(tdm_registry_apply(reg, 0, &event), -EINVAL);
	assert_int_equal(tdm_registry_apply(reg, 1, &event), -EINVAL); /* there is no such origin */
	struct tdm_snapshot *s = picture(reg);
	assert_int_equal(s->refused, 6);
	assert_int_equal(s->processes[0].refused, 3);
	assert_int_equal(s->buffer_count, 4);
	tdm_snapshot_free(s);
	tdm_registry_free(reg);
}

static void processes_and_devices_are_not_merged(void **state)
{
	(void)state;
	struct tdm_registry *reg = registry_new();
	struct tdm_process a = who(10), b = who(10), c = who(10), d = who(10);
	b.start_time = 8;
	c.generation = 1;
	d.pid_namespace = 2;
	describe_process(reg, 0, 0, a);
	describe_process(reg, 0, 1, b);
	describe_process(reg, 0, 2, c);
	describe_process(reg, 0, 3, d);
	for (uint64_t p = 0; p < 4; p++)
		alloc(reg, p, 0, TDM_KIND_DRAM, 1, 100); /* the same id everywhere */
	describe_chip(reg, 0, 0, 0, 0);
	describe_chip(reg, 0, 1, 0, 0); /* 0 is a chip like any other */
	describe_chip(reg, 0, 2, 0, 5); /* device 0 of that process is another card */
	struct tdm_snapshot *s = picture(reg);
	assert_int_equal(s->process_count, 4);
	assert_int_equal(s->device_count, 3); /* two chips, and the weak one of the last process */
	assert_int_equal(s->devices[s->holdings[0].device].kinds[TDM_KIND_DRAM].reserved_bytes, 200);
	assert_int_equal(s->holdings[0].device, s->holdings[1].device);
	assert_int_equal(s->devices[s->holdings[2].device].kinds[TDM_KIND_DRAM].reserved_bytes, 100);
	assert_true(s->devices[s->holdings[3].device].is_weak);
	assert_int_equal(s->devices[s->holdings[3].device].kinds[TDM_KIND_DRAM].reserved_bytes, 100);
	tdm_snapshot_free(s);
	assert_non_null(tdm_registry_find(reg, &c));
	assert_int_equal(tdm_registry_forget(reg, &c), 0);
	assert_null(tdm_registry_find(reg, &c));
	assert_int_equal(tdm_registry_forget(reg, &c), -ENOENT);
	s = picture(reg);
	assert_int_equal(s->process_count, 3);
	assert_int_equal(s->device_count, 2);
	tdm_snapshot_free(s);
	tdm_registry_free(reg);
}

static void virtual_devices_are_apart(void **state)
{
	(void)state;
	struct tdm_registry *reg = registry_new();
	alloc(reg, 0, 0, TDM_KIND_DRAM, 1, 100);
	alloc(reg, 0, TDM_DEVICE_VIRTUAL_BIT | 0, TDM_KIND_DRAM, 1, 1000);
	alloc(reg, 1, TDM_DEVICE_VIRTUAL_BIT | 0, TDM_KIND_DRAM, 1, 5000);
	struct tdm_snapshot *s = picture(reg);
	assert_int_equal(s->device_count, 3); /* what two processes only added up is not one device */
	assert_int_equal(s->holdings[1].number, 0);
	assert_true(s->devices[s->holdings[1].device].is_virtual);
	assert_int_equal(s->devices[s->holdings[0].device].kinds[TDM_KIND_DRAM].reserved_bytes, 100);
	tdm_snapshot_free(s);
	tdm_registry_free(reg);
}

static void the_dead_leave_the_totals(void **state)
{
	(void)state;
	struct tdm_registry *reg = registry_new();
	struct tdm_process a = who(1), b = who(2);
	describe_process(reg, 0, 0, a);
	describe_process(reg, 0, 1, b);
	alloc(reg, 0, 0, TDM_KIND_DRAM, 1, 100);
	alloc(reg, 1, 0, TDM_KIND_DRAM, 1, 30);
	a.life = TDM_LIFE_ENDED;
	describe_process(reg, 0, 0, a);
	struct tdm_snapshot *s = picture(reg);
	assert_int_equal(s->devices[0].kinds[TDM_KIND_DRAM].reserved_bytes, 30);
	assert_int_equal(s->devices[0].kinds[TDM_KIND_DRAM].peak_reserved_bytes, 130);
	assert_int_equal(s->devices[0].left[TDM_KIND_DRAM].reserved_bytes, 100);
	assert_int_equal(s->holdings[0].kinds[TDM_KIND_DRAM].reserved_bytes, 100);
	tdm_snapshot_free(s);
	struct tdm_event clear = event_of(TDM_OP_CLEAR, 0, 0);
	apply(reg, 0, &clear);
	s = picture(reg);
	assert_int_equal(s->devices[0].left[TDM_KIND_DRAM].reserved_bytes, 0);
	assert_int_equal(s->buffer_count, 1);
	tdm_snapshot_free(s);
	tdm_registry_free(reg);
}

static void the_producer_knows_its_peaks(void **state)
{
	(void)state;
	struct tdm_registry *reg = registry_new();
	describe_process(reg, 0, 0, who(1));
	alloc(reg, 0, 0, TDM_KIND_DRAM, 1, 100);
	release(reg, 0, 0, TDM_KIND_DRAM, 9); /* the producer counts that one, too */
	struct tdm_usage usage = { .reserved_bytes = 100,
		.peak_reserved_bytes = 7000,
		.buffers = 1,
		.peak_buffers = 12,
		.allocs = 500,
		.unknown_frees = 1,
		.peak_ns = 5 };
	struct tdm_event event = event_of(TDM_OP_USAGE, 0, 0);
	event.usage = &usage;
	apply(reg, 0, &event);
	release(reg, 0, 0, TDM_KIND_DRAM, 8); /* and this one is new */
	struct tdm_snapshot *s = picture(reg);
	const struct tdm_figures *f = &s->holdings[0].kinds[TDM_KIND_DRAM];
	assert_int_equal(f->reserved_bytes, 100);
	assert_int_equal(f->peak_reserved_bytes, 7000);
	assert_int_equal(f->peak_buffers, 12);
	assert_int_equal(f->allocs, 500);
	assert_int_equal(f->unknown_frees, 2);
	assert_int_equal(f->peak_ns, 5);
	assert_true(f->has_usage);
	assert_false(f->differs);
	assert_int_equal(s->devices[0].kinds[TDM_KIND_DRAM].peak_reserved_bytes, 7000);
	tdm_snapshot_free(s);
	alloc(reg, 0, 0, TDM_KIND_DRAM, 2, 1);
	s = picture(reg);
	assert_true(s->holdings[0].kinds[TDM_KIND_DRAM].differs);
	tdm_snapshot_free(s);
	tdm_registry_free(reg);
}

static void the_better_source_wins(void **state)
{
	(void)state;
	struct tdm_registry *reg = registry_new();
	assert_int_equal(tdm_registry_origin(reg, "socket", 50), 1);
	assert_string_equal(tdm_registry_origin_name(reg, 1), "socket");
	describe_process(reg, 1, 9, who(1)); /* first the socket speaks of it */
	struct tdm_event event = alloc_of(9, 0, TDM_KIND_DRAM, 1, 777);
	apply(reg, 1, &event);
	describe_process(reg, 0, 0, who(1)); /* then its ledger is found */
	alloc(reg, 0, 0, TDM_KIND_DRAM, 1, 100);
	apply(reg, 1, &event);
	describe_process(reg, 1, 9, who(1));
	struct tdm_snapshot *s = picture(reg);
	assert_int_equal(s->process_count, 1);
	assert_int_equal(s->processes[0].origin, 0);
	assert_int_equal(s->holdings[0].kinds[TDM_KIND_DRAM].reserved_bytes, 100);
	assert_int_equal(s->ignored, 2);
	tdm_snapshot_free(s);
	tdm_registry_free(reg);
}

static void unattributed_until_described(void **state)
{
	(void)state;
	struct tdm_registry *reg = registry_new();
	alloc(reg, 3, 0, TDM_KIND_DRAM, 1, 100);
	describe_process(reg, 0, 3, who(1));
	struct tdm_snapshot *s = picture(reg);
	assert_int_equal(s->process_count, 1);
	assert_true(s->processes[0].has_who);
	assert_int_equal(s->holdings[0].kinds[TDM_KIND_DRAM].reserved_bytes, 100);
	tdm_snapshot_free(s);
	/* A number that means somebody else from now on. */
	describe_process(reg, 0, 3, who(2));
	alloc(reg, 3, 0, TDM_KIND_DRAM, 1, 7);
	s = picture(reg);
	assert_int_equal(s->process_count, 2);
	assert_int_equal(s->devices[0].kinds[TDM_KIND_DRAM].reserved_bytes, 107);
	tdm_snapshot_free(s);
	tdm_registry_free(reg);
}

static void phases_programs_modules_and_losses(void **state)
{
	(void)state;
	struct tdm_registry *reg = registry_new();
	struct tdm_process me = who(1);
	me.lost = 3;
	describe_process(reg, 0, 0, me);
	struct tdm_event event = event_of(TDM_OP_PHASE, 0, 0);
	event.name = tdm_str_of("forward");
	apply(reg, 0, &event);
	event = event_of(TDM_OP_PROGRAM, 0, 0);
	event.name = tdm_str_of("matmul");
	apply(reg, 0, &event);
	event = event_of(TDM_OP_LOST, 0, 0);
	event.size = 4;
	apply(reg, 0, &event);
	event = event_of(TDM_OP_MODULE, 0, 0);
	event.name = tdm_str_of("/bin/model");
	event.address = 0x1000;
	event.size = 0x100;
	apply(reg, 0, &event);
	apply(reg, 0, &event); /* the same again */
	event = event_of(TDM_OP_QUERY, 0, 0);
	apply(reg, 0, &event); /* not for us */
	struct tdm_snapshot *s = picture(reg);
	assert_string_equal(tdm_snapshot_text(s, s->processes[0].phase), "forward");
	assert_string_equal(tdm_snapshot_text(s, s->holdings[0].program), "matmul");
	assert_int_equal(s->processes[0].lost, 7);
	assert_int_equal(s->holdings[0].lost, 4);
	assert_int_equal(s->processes[0].module_count, 1);
	assert_string_equal(s->processes[0].modules[0].path, "/bin/model");
	tdm_snapshot_free(s);
	tdm_registry_free(reg);
}

static void many_buffers(void **state)
{
	enum { MANY = 200000 };
	(void)state;
	struct tdm_registry *reg = registry_new();
	for (uint64_t i = 0; i < MANY; i++)
		alloc(reg, 0, 0, TDM_KIND_DRAM, i * 4096, 10);
	for (uint64_t i = 0; i < MANY; i += 2)
		release(reg, 0, 0, TDM_KIND_DRAM, i * 4096);
	struct tdm_snapshot *s = picture(reg);
	assert_int_equal(s->holdings[0].kinds[TDM_KIND_DRAM].reserved_bytes, 10 * MANY / 2);
	assert_int_equal(s->holdings[0].kinds[TDM_KIND_DRAM].peak_buffers, MANY);
	assert_int_equal(s->buffer_count, MANY / 2);
	tdm_snapshot_free(s);
	tdm_registry_free(reg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_one),
		cmocka_unit_test(sums_and_peaks),
		cmocka_unit_test(core_ranges_are_kept_once),
		cmocka_unit_test(a_view_has_no_bytes),
		cmocka_unit_test(faults_are_counted),
		cmocka_unit_test(absurd_sizes_are_refused),
		cmocka_unit_test(processes_and_devices_are_not_merged),
		cmocka_unit_test(virtual_devices_are_apart),
		cmocka_unit_test(the_dead_leave_the_totals),
		cmocka_unit_test(the_producer_knows_its_peaks),
		cmocka_unit_test(the_better_source_wins),
		cmocka_unit_test(unattributed_until_described),
		cmocka_unit_test(phases_programs_modules_and_losses),
		cmocka_unit_test(many_buffers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
