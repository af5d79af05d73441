/* A log as events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/file.h"
#include "open_input.h"

#define SHM(verb, type, size) \
	"SHM record_" verb ": pid=9, type=" type ", size=" size " B (0 KB), chip_id=0, device_id=1, asic_id=0x0\n"

struct events {
	struct tdm_event at[64];
	size_t count;
};

/* The texts of the events are gone; their numbers are what is looked at. */
static struct events read_text(const char *text, size_t len)
{
	struct test_source s = source_of_text("log", text, len);
	struct events e = { .count = 0 };
	struct tdm_diag diag = { 0 };
	int got;
	while ((got = tdm_source_next(s.source, &e.at[e.count], &diag)) != 0) {
		assert_int_equal(got, 1);
		assert_true(tdm_event_is_valid(&e.at[e.count]));
		assert_true(++e.count < 64);
	}
	assert_int_equal(s.source->refused, 0);
	source_done(&s);
	return e;
}

static void assert_ops(const struct events *e, const uint8_t *ops, size_t count)
{
	assert_int_equal(e->count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(e->at[i].op, ops[i]);
}

static void sizes_find_their_buffers(void **state)
{
	static const char text[] = SHM("allocation", "DRAM", "64") SHM("allocation", "DRAM", "64")
		SHM("allocation", "L1", "64") SHM("deallocation", "DRAM", "64") SHM("deallocation", "L1", "64")
			SHM("deallocation", "L1", "64");
	static const uint8_t ops[] = { TDM_OP_PROCESS, TDM_OP_ALLOC, TDM_OP_ALLOC, TDM_OP_ALLOC, TDM_OP_FREE,
		TDM_OP_FREE, TDM_OP_FREE };
	struct events e = read_text(text, sizeof text - 1);
	(void)state;
	assert_ops(&e, ops, sizeof ops);
	assert_true(
		e.at[1].id != e.at[2].id && e.at[1].kind == TDM_KIND_DRAM && e.at[1].device == 1 && e.at[1].size == 64);
	assert_true(e.at[4].id == e.at[2].id && e.at[4].kind == TDM_KIND_DRAM); /* the youngest */
	assert_true(e.at[5].id == e.at[3].id);
	assert_true(
		e.at[6].id != e.at[3].id && e.at[6].id != e.at[1].id); /* a free too many is one of an unknown buffer */
	assert_true(e.at[1].process == e.at[0].process && e.at[1].position == 1 && e.at[6].position == 6);
}

static void a_device_is_described_before_its_first_buffer(void **state)
{
	struct tdm_buf text;
	static const uint8_t ops[] = { TDM_OP_PROCESS, TDM_OP_DEVICE, TDM_OP_ALLOC, TDM_OP_ALLOC, TDM_OP_FREE,
		TDM_OP_OOM, TDM_OP_FREE };
	(void)state;
	tdm_buf_init(&text);
	assert_int_equal(tdm_file_read(TDM_TEST_DATA "/logs/debug.log", 1 << 20, &text), 0);
	struct test_source s = source_of_text("log", text.data, text.len);
	struct tdm_event event;
	struct tdm_diag diag = { 0 };
	for (size_t i = 0; i < sizeof ops; i++) {
		assert_int_equal(tdm_source_next(s.source, &event, &diag), 1);
		assert_int_equal(event.op, ops[i]);
		if (event.op == TDM_OP_PROCESS)
			assert_int_equal(event.who->pid, 27310);
		if (event.op == TDM_OP_DEVICE) /* which card, it does not say */
			assert_true(tdm_str_is(event.text, "device - l1_small=32768"));
		if (event.op == TDM_OP_OOM)
			assert_true(event.kind == TDM_KIND_DRAM && event.size == UINT64_C(1) << 40 &&
				    event.banks == 12 && event.bytes_per_bank == UINT64_C(91625969664));
	}
	assert_int_equal(tdm_source_next(s.source, &event, &diag), 0);
	source_done(&s);
	tdm_buf_done(&text);
}

static void a_server_counts_references(void **state)
{
	struct tdm_buf text;
	static const uint8_t ops[] = { TDM_OP_PROCESS, TDM_OP_ALLOC, TDM_OP_FREE, TDM_OP_FREE, TDM_OP_ALLOC,
		TDM_OP_ALLOC };
	(void)state;
	tdm_buf_init(&text);
	assert_int_equal(tdm_file_read(TDM_TEST_DATA "/logs/server.log", 1 << 20, &text), 0);
	struct events e = read_text(text.data, text.len);
	assert_ops(&e, ops, sizeof ops);
	assert_true(e.at[2].id == e.at[1].id && e.at[2].kind == TDM_KIND_L1);
	assert_int_equal(e.at[3].id, 0); /* of a buffer that nobody has seen */
	assert_true(e.at[4].kind == TDM_KIND_DRAM && e.at[5].kind == TDM_KIND_CB && e.at[5].process == 0);
	assert_true(e.at[4].device == 1 && e.at[4].id != e.at[1].id && e.at[5].id != e.at[4].id);
	tdm_buf_done(&text);
}

#define ALLOCATED(pid, id) "[PID " pid "] Allocated 64 bytes of DRAM on device 0 (buffer_id=" id ")\n"

static void a_process_that_died_has_nothing_any_more(void **state)
{
	static const char text[] = ALLOCATED("5", "12") ALLOCATED("6", "12") ALLOCATED("5",
		"13") "   Removed 2 buffers (0.0001 MB) from PID 5\n[PID 6] Freed buffer 12 on device 0 (64 bytes)\n";
	static const uint8_t ops[] = { TDM_OP_PROCESS, TDM_OP_ALLOC, TDM_OP_PROCESS, TDM_OP_ALLOC, TDM_OP_ALLOC,
		TDM_OP_FREE, TDM_OP_FREE, TDM_OP_FREE };
	struct events e = read_text(text, sizeof text - 1);
	(void)state;
	assert_ops(&e, ops, sizeof ops);
	assert_true(e.at[5].id == e.at[1].id && e.at[5].process == e.at[0].process && e.at[5].position == 4);
	assert_int_equal(e.at[6].id, e.at[4].id);
	assert_int_equal(e.at[7].id, e.at[3].id);
}

static void an_address_that_is_used_again_was_released(void **state)
{
	static const char text[] = ALLOCATED("5", "12") ALLOCATED("5", "12");
	static const uint8_t ops[] = { TDM_OP_PROCESS, TDM_OP_ALLOC, TDM_OP_FREE, TDM_OP_ALLOC };
	struct events e = read_text(text, sizeof text - 1);
	(void)state;
	assert_ops(&e, ops, sizeof ops);
	assert_true(e.at[2].id == e.at[1].id && e.at[3].id != e.at[1].id);
}

static void circular_buffers_replace_each_other(void **state)
{
	static const char text[] =
		"CB1 allocated: 4 tiles, 16KB, 64 cores\nCB1 allocated: 2 tiles, 8KB\nCB2 allocated: 2 tiles\n"
		"Begin op: add\n"
		"Statically allocated circular buffers on core range [0-0 - 1-1] grow to 5 B which is beyond max L1 "
		"size of 4 B\n";
	static const uint8_t ops[] = { TDM_OP_ALLOC, TDM_OP_FREE, TDM_OP_ALLOC, TDM_OP_PROGRAM, TDM_OP_OOM };
	struct events e = read_text(text, sizeof text - 1);
	(void)state;
	assert_ops(&e, ops, sizeof ops);
	assert_true(e.at[0].kind == TDM_KIND_CB && e.at[0].size == 16384 && e.at[0].banks == 64);
	assert_true(e.at[1].id == e.at[0].id && e.at[2].id != e.at[0].id && e.at[2].size == 8192 && e.at[2].banks == 0);
	assert_true(e.at[4].kind == TDM_KIND_CB && e.at[4].size == TDM_SIZE_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_find_their_buffers),
		cmocka_unit_test(a_device_is_described_before_its_first_buffer),
		cmocka_unit_test(a_server_counts_references),
		cmocka_unit_test(a_process_that_died_has_nothing_any_more),
		cmocka_unit_test(an_address_that_is_used_again_was_released),
		cmocka_unit_test(circular_buffers_replace_each_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
