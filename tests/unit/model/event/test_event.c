/* Events: names of operations, and events that no source may produce. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/event/event.h"

static struct tdm_event event_of(enum tdm_op op)
{
	return (struct tdm_event){
		.op = (uint8_t)op,
		.address = TDM_ADDRESS_UNKNOWN,
		.bytes_per_bank = TDM_SIZE_UNKNOWN,
	};
}

static void every_operation_has_its_own_name(void **state)
{
	(void)state;
	for (int i = 0; i < TDM_OP_COUNT; i++) {
		const char *name = tdm_op_name((enum tdm_op)i);
		assert_non_null(name);
		assert_string_not_equal(name, "unknown");
		for (int j = 0; j < i; j++)
			assert_string_not_equal(name, tdm_op_name((enum tdm_op)j));
	}
	assert_string_equal(tdm_op_name(TDM_OP_ALLOC), "alloc");
	assert_string_equal(tdm_op_name(TDM_OP_COUNT), "unknown");
	assert_string_equal(tdm_op_name((enum tdm_op) - 1), "unknown");
}

static void operations_and_kinds_out_of_range_are_invalid(void **state)
{
	(void)state;
	struct tdm_event event = event_of(TDM_OP_FREE);
	assert_true(tdm_event_is_valid(&event));
	event.op = TDM_OP_COUNT;
	assert_false(tdm_event_is_valid(&event));
	event = event_of(TDM_OP_FREE);
	event.kind = TDM_KIND_COUNT;
	assert_false(tdm_event_is_valid(&event));
	event.kind = TDM_KIND_COUNT - 1;
	assert_true(tdm_event_is_valid(&event));
}

static void texts_without_bytes_must_have_no_length(void **state)
{
	(void)state;
	struct tdm_event event = event_of(TDM_OP_FREE);
	event.name = (struct tdm_str){ NULL, 3 };
	assert_false(tdm_event_is_valid(&event));
	event.name = (struct tdm_str){ NULL, 0 };
	assert_true(tdm_event_is_valid(&event));
	event.text = (struct tdm_str){ NULL, 1 };
	assert_false(tdm_event_is_valid(&event));
}

static void an_allocation_must_end_inside_64_bits(void **state)
{
	(void)state;
	struct tdm_event event = event_of(TDM_OP_ALLOC);
	assert_true(tdm_event_is_valid(&event)); /* the model chooses the address */
	event.address = UINT64_MAX - 100;
	assert_true(tdm_event_is_valid(&event)); /* a size that is not known ends nowhere */
	event.bytes_per_bank = 100;
	assert_true(tdm_event_is_valid(&event));
	event.bytes_per_bank = 101;
	assert_false(tdm_event_is_valid(&event));
	event.op = TDM_OP_FREE; /* only allocations claim a range */
	assert_true(tdm_event_is_valid(&event));
}

static void a_fixed_allocation_needs_an_address(void **state)
{
	(void)state;
	struct tdm_event event = event_of(TDM_OP_ALLOC);
	event.flags = TDM_EVENT_FIXED;
	assert_false(tdm_event_is_valid(&event));
	event.address = 0;
	assert_true(tdm_event_is_valid(&event));
}

static void descriptions_need_a_text(void **state)
{
	(void)state;
	struct tdm_event event = event_of(TDM_OP_DEVICE);
	assert_false(tdm_event_is_valid(&event));
	event.text = tdm_str_of("device n150");
	assert_true(tdm_event_is_valid(&event));
	event = event_of(TDM_OP_MODULE);
	assert_false(tdm_event_is_valid(&event));
	event.name = tdm_str_of("libttnn.so");
	event.address = 0;
	assert_true(tdm_event_is_valid(&event));
	event = event_of(TDM_OP_PHASE); /* without a name none runs any more */
	assert_true(tdm_event_is_valid(&event));
}

static void core_ranges_are_rectangles(void **state)
{
	(void)state;
	static const struct tdm_core_range good[TDM_RANGES_MAX + 1] = { { 0, 0, 7, 7 }, { 3, 3, 3, 3 } };
	static const struct tdm_core_range wide = { 5, 0, 4, 0 }, high = { 0, 1, 0, 0 };
	struct tdm_event event = event_of(TDM_OP_ALLOC);
	event.range_count = 1;
	assert_false(tdm_event_is_valid(&event)); /* there is none */
	event.ranges = good;
	event.range_count = TDM_RANGES_MAX;
	assert_true(tdm_event_is_valid(&event));
	event.range_count = TDM_RANGES_MAX + 1;
	assert_false(tdm_event_is_valid(&event));
	event.range_count = 1;
	event.ranges = &wide;
	assert_false(tdm_event_is_valid(&event));
	event.ranges = &high;
	assert_false(tdm_event_is_valid(&event));
}

/* What the runtime said: lists without entries, texts without bytes, and numbers of kinds and states out of range. */
static void what_the_runtime_said_is_checked(void **state)
{
	(void)state;
	struct tdm_hazard hazard = { .state = TDM_HAZARD_FREED, .kind = TDM_KIND_L1 };
	struct tdm_clash clash = { .type = TDM_CLASH_UNKNOWN, .kind = TDM_KIND_CB, .count = 1 };
	struct tdm_told told = { .hazards = &hazard, .hazard_count = 1, .clashes = &clash, .clash_count = 1 };
	struct tdm_event event = event_of(TDM_OP_TOLD);
	assert_false(tdm_event_is_valid(&event)); /* nothing was said */
	event.told = &told;
	assert_true(tdm_event_is_valid(&event));
#define REFUSES(member, bad)                              \
	do {                                              \
		const __typeof__(member) good = (member); \
		(member) = (bad);                         \
		assert_false(tdm_event_is_valid(&event)); \
		(member) = good;                          \
		assert_true(tdm_event_is_valid(&event));  \
	} while (0)
	REFUSES(told.hazards, NULL);
	REFUSES(told.clashes, NULL);
	REFUSES(told.trace_count, 1);
	REFUSES(hazard.state, TDM_HAZARD_STATES);
	REFUSES(hazard.kind, TDM_KIND_COUNT);
	REFUSES(clash.type, TDM_CLASH_TYPES);
	REFUSES(clash.kind, TDM_KIND_COUNT);
	REFUSES(clash.count, 0);
	REFUSES(clash.x0, 1);
	REFUSES(clash.y0, 1);
}

static void notes_and_steps_are_checked(void **state)
{
	(void)state;
	struct tdm_note list[2] = { { .text = 1, .value = 3 }, { .is_remark = true } };
	struct tdm_notes notes = { .list = list, .count = 2 };
	struct tdm_event event = event_of(TDM_OP_NOTES);
	assert_false(tdm_event_is_valid(&event));
	event.notes = &notes;
	assert_true(tdm_event_is_valid(&event));
	REFUSES(notes.list, NULL);
	event = event_of(TDM_OP_STEP);
	for (uint64_t step = 0; step <= TDM_STEP_END; step++) {
		event.size = step;
		assert_int_equal(tdm_event_is_valid(&event), step != 0 && step != TDM_STEP_END);
		assert_int_equal(strcmp(tdm_step_name(step), "unknown") == 0, step == 0 || step == TDM_STEP_END);
	}
	event.size = UINT64_MAX;
	assert_false(tdm_event_is_valid(&event));
	assert_string_equal(tdm_step_name(UINT64_MAX), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation_has_its_own_name),
		cmocka_unit_test(operations_and_kinds_out_of_range_are_invalid),
		cmocka_unit_test(texts_without_bytes_must_have_no_length),
		cmocka_unit_test(an_allocation_must_end_inside_64_bits),
		cmocka_unit_test(a_fixed_allocation_needs_an_address),
		cmocka_unit_test(descriptions_need_a_text),
		cmocka_unit_test(core_ranges_are_rectangles),
		cmocka_unit_test(what_the_runtime_said_is_checked),
		cmocka_unit_test(notes_and_steps_are_checked),
	};
	return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
