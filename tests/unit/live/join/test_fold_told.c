/* The fold of what a runtime or a hook in it says: programs that were refused, steps, shared buffers, statistics,
 * traces and notes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "fold_steps.h"

/* A clash is no lack of memory for buffers, and a step changes nothing that is counted. */
static void clashes_and_steps_are_not_counted(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	struct tdm_event event = event_of(TDM_OP_OOM, 0, 0);
	event.kind = TDM_KIND_CB;
	event.size = 4096;
	event.flags = TDM_EVENT_CLASH;
	apply(&fold, event);
	event.flags = TDM_EVENT_CLASH | TDM_EVENT_BEYOND;
	apply(&fold, event);
	assert_int_equal(kind_of(&fold, 0, 0, TDM_KIND_CB)->counter.out_of_memory, 0);
	assert_int_equal(kind_of(&fold, 0, 0, TDM_KIND_CB)->counter.oom_bytes, 0);
	event.flags = 0;
	apply(&fold, event);
	assert_int_equal(kind_of(&fold, 0, 0, TDM_KIND_CB)->counter.out_of_memory, 1);
	assert_int_equal(kind_of(&fold, 0, 0, TDM_KIND_CB)->counter.oom_bytes, 4096);
	event = event_of(TDM_OP_STEP, 0, 0);
	event.size = TDM_STEP_TRACE_REPLAYED;
	uint64_t version = fold.version;
	apply(&fold, event);
	assert_int_equal(fold.version, version);
	event.size = TDM_STEP_END;
	assert_int_not_equal(apply_refused(&fold, event), 0);
	tdm_fold_done(&fold);
}

/* Shared buffers are listed and counted, but their bytes are the producer's to say. */
static void shared_buffers_add_no_bytes(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	struct tdm_event event = alloc_of(0, 0, TDM_KIND_CB, 1, 40960);
	event.flags = TDM_EVENT_SHARED;
	event.bytes_per_bank = 4096;
	event.banks = 10;
	apply(&fold, event);
	event.id = 2;
	apply(&fold, event);
	const struct tdm_fold_kind *cb = kind_of(&fold, 0, 0, TDM_KIND_CB);
	assert_int_equal(cb->count, 2);
	assert_int_equal(cb->reserved + cb->asked, 0);
	assert_int_equal(cb->counter.buffers, 2);
	release(&fold, 0, 0, TDM_KIND_CB, 1);
	assert_int_equal(kind_of(&fold, 0, 0, TDM_KIND_CB)->count, 1);
	tdm_fold_done(&fold);
}

/* Each report of the runtime replaces the one before it, however long that was. */
static void what_the_runtime_said_is_replaced(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	static struct tdm_trace traces[4097];
	static struct tdm_hazard hazards[4097];
	struct tdm_clash clashes[TDM_CLASH_TYPES + 1] = { { .type = TDM_CLASH_L1,
								  .kind = TDM_KIND_CB,
								  .count = 2,
								  .begin = 1,
								  .end = 9,
								  .limit = 8,
								  .time_ns = 7,
								  .range_count = 3,
								  .x0 = 1,
								  .y0 = 2,
								  .x1 = 3,
								  .y1 = 4,
								  .program = tdm_intern_text(
									  &fold.texts, tdm_str_of("matmul")) },
		{ .type = TDM_CLASH_BEYOND, .kind = TDM_KIND_DFB, .count = 1 }, { .count = 1 }, { .count = 1 } };
	hazards[0].name = tdm_intern_text(&fold.texts, tdm_str_of("input"));
	struct tdm_told told = { .traces = traces,
		.hazards = hazards,
		.clashes = clashes,
		.trace_count = 3,
		.hazard_count = 2,
		.clash_count = 2 };
	told.statistics[TDM_KIND_L1] = (struct tdm_statistics){ .reports = 5, .allocated = 64, .ours = 32 };
	struct tdm_event event = event_of(TDM_OP_TOLD, 0, 0);
	event.told = &told;
	apply(&fold, event);
	const struct tdm_fold_holding *from = tdm_fold_holding_find(tdm_fold_find(&fold, 0), 0);
	const struct tdm_picture picture = { .texts = &fold.texts };
	struct tdm_told shown = from->told;
	assert_true(shown.has_told);
	assert_int_equal(shown.trace_count, 3);
	assert_int_equal(shown.hazard_count, 2);
	assert_string_equal(tdm_picture_text(&picture, shown.hazards[0].name), "input");
	assert_int_equal(shown.statistics[TDM_KIND_L1].allocated, 64);
	assert_int_equal(shown.clash_count, 2);
	assert_int_equal(shown.clashes[0].count + shown.clashes[0].begin + shown.clashes[0].end, 2 + 1 + 9);
	assert_int_equal(shown.clashes[0].limit * shown.clashes[0].time_ns, 8 * 7);
	assert_int_equal(shown.clashes[0].x0 + 10 * shown.clashes[0].y0, 21);
	assert_int_equal(shown.clashes[0].x1 + 10 * shown.clashes[0].y1, 43);
	assert_int_equal(shown.clashes[0].range_count, 3);
	assert_string_equal(tdm_picture_text(&picture, shown.clashes[0].program), "matmul");
	assert_int_equal(shown.clashes[1].type, TDM_CLASH_BEYOND);
	assert_int_equal(shown.clashes[1].kind, TDM_KIND_DFB);
	/* More than any source has. */
	told.clash_count = TDM_CLASH_TYPES + 1;
	assert_int_equal(apply_refused(&fold, event), -EOVERFLOW);
	told.clash_count = 0;
	told.trace_count = 4097;
	assert_int_equal(apply_refused(&fold, event), -EOVERFLOW);
	told.trace_count = 0;
	told.hazard_count = 4097;
	assert_int_equal(apply_refused(&fold, event), -EOVERFLOW);
	told.hazard_count = 0;
	apply(&fold, event);
	shown = from->told;
	assert_int_equal(shown.trace_count + shown.hazard_count + shown.clash_count, 0);
	tdm_fold_done(&fold);
}

static void notes_are_replaced(void **state)
{
	(void)state;
	struct tdm_fold fold;
	fold_init(&fold);
	static struct tdm_note notes[4097];
	notes[0].text = tdm_intern_text(&fold.texts, tdm_str_of("metal:allocate"));
	notes[0].value = 12;
	struct tdm_notes list = { .list = notes, .count = 2, .lost = 3 };
	struct tdm_event event = event_of(TDM_OP_NOTES, 0, 0);
	event.notes = &list;
	apply(&fold, event);
	const struct tdm_fold_process *process = tdm_fold_find(&fold, 0);
	assert_int_equal(process->note_count, 2);
	assert_int_equal(process->notes[0].value, 12);
	assert_int_equal(process->notes_lost, 3);
	list.count = 4097;
	assert_int_equal(apply_refused(&fold, event), -EOVERFLOW);
	list.count = 1;
	apply(&fold, event);
	assert_int_equal(tdm_fold_find(&fold, 0)->note_count, 1);
	assert_true(fold_is_valid(&fold));
	tdm_fold_done(&fold);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clashes_and_steps_are_not_counted),
		cmocka_unit_test(shared_buffers_add_no_bytes),
		cmocka_unit_test(what_the_runtime_said_is_replaced),
		cmocka_unit_test(notes_are_replaced),
	};
	return cmocka_run_group_tests_name("fold_told", tests, NULL, NULL);
}
