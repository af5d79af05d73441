/*
 * What a runtime, or a hook in it, says about devices, from the library's calls to the picture: traces and the buffers
 * that they may overwrite, statistics, shared circular buffers, steps and clashes.
 */
#include "told_program.h"
#include "../unit/ledger_buffers.h"

enum { ROUNDS = 100 };

static struct tidemark_buffer shared_cb(uint64_t id)
{
	struct tidemark_buffer buffer = TIDEMARK_BUFFER_INIT;
	buffer.device = DEVICE;
	buffer.kind = TIDEMARK_CB;
	buffer.flags = TIDEMARK_SHARED;
	buffer.id = id;
	buffer.address = 4096;
	buffer.bytes_per_bank = 1024;
	buffer.cores = 10;
	buffer.bytes = UINT64_C(1024) * 10;
	return buffer;
}

/* How many buffers the hazards in a state stand for, and in how many entries. */
static uint64_t hazards_in(const struct tdm_holding *holding, enum tdm_hazard_state state, size_t *entries)
{
	uint64_t sum = 0;
	*entries = 0;
	for (size_t i = 0; i < holding->told.hazard_count; i++)
		if (holding->told.hazards[i].state == state) {
			sum += holding->told.hazards[i].count;
			++*entries;
		}
	return sum;
}

static void check_hazards(const struct tdm_holding *holding, uint64_t waits, uint64_t live, uint64_t freed)
{
	size_t entries;
	assert_int_equal(hazards_in(holding, TDM_HAZARD_WAITS, &entries), waits);
	assert_int_equal(hazards_in(holding, TDM_HAZARD_LIVE, &entries), live);
	assert_int_equal(hazards_in(holding, TDM_HAZARD_FREED, &entries), freed);
}

/* ---- traces ---- */

/* A loop that allocates its input in every round makes one entry, not a hundred. */
static void decode(void)
{
	add(TIDEMARK_DRAM, 1, 4096, "weights");
	capture(7);
	must(tidemark_program("decode"));
	for (uint64_t i = 0; i < ROUNDS; i++) {
		add(TIDEMARK_L1, 1000 + i, 512, "input");
		step(TIDEMARK_TRACE_REPLAYED, 7);
		drop(TIDEMARK_L1, 1000 + i);
	}
}

static void test_loop_makes_one_entry(void **unused)
{
	(void)unused;
	struct running running = run(decode);
	struct tdm_state *state = state_of(false);
	const struct tdm_picture *picture = look(state, 0);
	const struct tdm_holding *holding = holding_of(picture, running.pid);
	assert_int_equal(holding->told.trace_count, 1);
	assert_int_equal(holding->told.traces[0].id, 7);
	assert_int_equal(holding->told.traces[0].replays, ROUNDS);
	assert_int_equal(holding->told.traces[0].allocs, ROUNDS);
	assert_true(holding->told.traces[0].began_ns != 0 &&
		    holding->told.traces[0].ended_ns >= holding->told.traces[0].began_ns);
	assert_true(holding->told.traces[0].replayed_ns >= holding->told.traces[0].ended_ns);
	assert_int_equal(holding->told.traces[0].released_ns, 0);
	assert_int_equal(holding->told.hazard_count, 1);
	const struct tdm_hazard *hazard = &holding->told.hazards[0];
	assert_int_equal(hazard->state, TDM_HAZARD_LIVE);
	assert_int_equal(hazard->count, ROUNDS);
	assert_int_equal(hazard->trace, 7);
	assert_int_equal(hazard->kind, TDM_KIND_L1);
	assert_int_equal(hazard->id, 1000);
	assert_int_equal(hazard->bank_bytes, 512);
	assert_string_equal(tdm_picture_text(picture, hazard->name), "input");
	assert_string_equal(tdm_picture_text(picture, hazard->program), "decode");
	assert_int_equal(holding->told.hazards_lost, 0);
	tdm_state_free(state);
	stop(&running);
}

static void overwrite(void)
{
	capture(7);
	add(TIDEMARK_DRAM, 10, 100, NULL); /* live at the replay */
	add(TIDEMARK_DRAM, 11, 200, NULL); /* freed before it */
	drop(TIDEMARK_DRAM, 11);
	add(TIDEMARK_DRAM, 12, 300, NULL); /* freed, and its id is used again: both count */
	drop(TIDEMARK_DRAM, 12);
	add(TIDEMARK_DRAM, 12, 300, NULL);
	/* None of these is in the way of a trace. */
	add(TIDEMARK_TRACE, 13, 100, NULL);
	struct tidemark_buffer view = TIDEMARK_BUFFER_INIT, cb = shared_cb(15);
	view.device = DEVICE;
	view.id = 14;
	view.flags = TIDEMARK_VIEW;
	must(tidemark_alloc(&view));
	must(tidemark_alloc(&cb));
	step(TIDEMARK_TRACE_REPLAYED, 7);
	add(TIDEMARK_DRAM, 16, 400, NULL); /* waits */
}

static void test_live_and_freed(void **unused)
{
	(void)unused;
	struct running running = run(overwrite);
	struct tdm_state *state = state_of(false);
	check_hazards(holding_of(look(state, 0), running.pid), 1, 2, 2);
	stop(&running);
	/* The same after the process was killed. */
	check_hazards(holding_of(look(state, 0), running.pid), 1, 2, 2);
	tdm_state_free(state);
}

/* A trace overwrites only what was allocated after its capture. */
static void two_traces(void)
{
	capture(1);
	add(TIDEMARK_L1_SMALL, 10, 100, NULL);
	capture(2);
	add(TIDEMARK_L1_SMALL, 11, 200, NULL);
	step(TIDEMARK_TRACE_REPLAYED, 2); /* not the first buffer */
}

static void test_older_buffers_are_safe(void **unused)
{
	(void)unused;
	struct running running = run(two_traces);
	struct tdm_state *state = state_of(false);
	const struct tdm_holding *holding = holding_of(look(state, 0), running.pid);
	check_hazards(holding, 1, 1, 0);
	for (size_t i = 0; i < holding->told.hazard_count; i++) {
		bool waits = holding->told.hazards[i].state == TDM_HAZARD_WAITS;
		assert_int_equal(holding->told.hazards[i].bank_bytes, waits ? 100 : 200);
		assert_int_equal(holding->told.hazards[i].trace, waits ? 1 : 2);
	}
	tdm_state_free(state);
	stop(&running);
}

static void release(void)
{
	capture(1);
	capture(2);
	add(TIDEMARK_DRAM, 10, 100, NULL);
	step(TIDEMARK_TRACE_RELEASED, 2); /* the other one can still overwrite it */
}

static void release_both(void)
{
	release();
	step(TIDEMARK_TRACE_RELEASED, 1);
	add(TIDEMARK_DRAM, 11, 100, NULL);
}

static void close_device(void)
{
	step(TIDEMARK_DEVICE_OPENED, 0);
	release();
	step(TIDEMARK_DEVICE_CLOSED, 0);
	add(TIDEMARK_DRAM, 11, 100, NULL);
}

static void test_released_traces_are_no_danger(void **unused)
{
	static const struct {
		void (*program)(void);
		uint64_t waits;
	} cases[] = { { release, 1 }, { release_both, 0 }, { close_device, 0 } };
	(void)unused;
	for (size_t i = 0; i < 3; i++) {
		struct running running = run(cases[i].program);
		struct tdm_state *state = state_of(false);
		const struct tdm_holding *holding = holding_of(look(state, 0), running.pid);
		check_hazards(holding, cases[i].waits, 0, 0);
		assert_int_equal(holding->told.trace_count, 2);
		tdm_state_free(state);
		stop(&running);
	}
}

/* More than there is room for is counted. */
static void many(void)
{
	for (uint64_t i = 0; i < 70; i++) {
		capture(100 + i);
		step(TIDEMARK_TRACE_RELEASED, 100 + i);
	}
	capture(1);
	for (uint64_t i = 0; i < 300; i++)
		add(TIDEMARK_DRAM, 1000 + i, 1 + i, NULL);
	for (uint64_t i = 0; i < 5000; i++) { /* alike, and freed: one more entry at most, and nobody waits in vain */
		add(TIDEMARK_DRAM, 5000 + i, 1, NULL);
		drop(TIDEMARK_DRAM, 5000 + i);
	}
}

static void test_what_does_not_fit_is_counted(void **unused)
{
	size_t entries;
	(void)unused;
	struct running running = run(many);
	struct tdm_state *state = state_of(false);
	const struct tdm_holding *holding = holding_of(look(state, 0), running.pid);
	assert_int_equal(hazards_in(holding, TDM_HAZARD_WAITS, &entries), 256 + 5000);
	assert_int_equal(entries, 256);
	assert_int_equal(holding->told.hazards_lost, 300 - 256);
	assert_int_equal(holding->told.trace_count, 64);
	assert_int_equal(holding->told.traces_lost, 7);
	tdm_state_free(state);
	stop(&running);
}

/* ---- figures ---- */

static void statistics(void)
{
	add(TIDEMARK_DRAM, 1, 4096, NULL);
	must(tidemark_report_statistics(DEVICE, TIDEMARK_DRAM, 4096, 1 << 20, 1 << 19));
	must(tidemark_report_statistics(DEVICE, TIDEMARK_DRAM, 8192, 1 << 20, 1 << 18));
}

static void test_statistics(void **unused)
{
	(void)unused;
	struct running running = run(statistics);
	struct tdm_state *state = state_of(false);
	const struct tdm_holding *holding = holding_of(look(state, 0), running.pid);
	const struct tdm_statistics *dram = &holding->told.statistics[TDM_KIND_DRAM];
	assert_int_equal(dram->reports, 2);
	assert_int_equal(dram->differing, 1);
	assert_int_equal(dram->allocated, 8192);
	assert_int_equal(dram->ours, 4096);
	assert_int_equal(dram->free, 1 << 20);
	assert_int_equal(dram->largest, 1 << 18);
	assert_true(dram->time_ns != 0);
	assert_int_equal(holding->told.statistics[TDM_KIND_L1].reports, 0);
	tdm_state_free(state);
	stop(&running);
}

/* Two programs whose circular buffers have the same bytes, and one circular buffer with its own. */
static void share(void)
{
	struct tidemark_buffer first = shared_cb(1), second = shared_cb(2), own = shared_cb(3);
	must(tidemark_alloc(&first));
	must(tidemark_alloc(&second));
	must(tidemark_report_core_use(DEVICE, TIDEMARK_CB, 1500, 15000));
	must(tidemark_report_core_use(DEVICE, TIDEMARK_CB, 1024, 10240));
	own.flags = 0;
	own.bytes_per_bank = 100;
	own.bytes = 1000;
	must(tidemark_alloc(&own));
	must(tidemark_free(DEVICE, TIDEMARK_CB, 2));
}

/* The list of buffers is known to be complete, though their sizes do not add up to the counters. */
static void check_exact(const char *path)
{
	struct tdm_diag diag = { 0 };
	struct tdm_ledger *ledger;
	struct tdm_ledger_buffer *buffers;
	size_t count;
	bool exact;
	assert_int_equal(tdm_ledger_open(path, &ledger, &diag), 0);
	assert_int_equal(ledger_buffers(ledger, 0, &buffers, &count, &exact), 0);
	assert_true(exact && count == 2);
	free(buffers);
	tdm_ledger_close(ledger);
}

static void test_shared_buffers(void **unused)
{
	(void)unused;
	struct running running = run(share);
	struct tdm_state *state = state_of(false);
	const struct tdm_picture *picture = look(state, TDM_WISH_BUFFERS);
	const struct tdm_holding *holding = holding_of(picture, running.pid);
	const struct tdm_counter *cb = &holding->kinds[TDM_KIND_CB];
	assert_int_equal(cb->reserved, 10240 + 1000);
	assert_int_equal(cb->peak, 15000);
	assert_int_equal(cb->buffers, 2);
	assert_int_equal(cb->allocs, 3);
	assert_int_equal(cb->asked, 1000);
	assert_false(cb->is_inexact);
	assert_int_equal(holding->buffers[TDM_KIND_CB].count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct tdm_buffer *buffer = &holding->buffers[TDM_KIND_CB].list[i];
		bool is_shared = buffer->id == 1;
		assert_int_equal(tdm_buffer_is_shared(buffer), is_shared);
		assert_false(tdm_buffer_is_view(buffer));
		assert_int_equal(tdm_buffer_reserved(buffer), is_shared ? 10240 : 1000);
	}
	/* The shared ones are no end of L1: the next program has their room. */
	assert_int_equal(picture->devices[holding->device].cb_highest, 4096 + 100);
	check_exact(process_of(picture, running.pid)->ledger);
	assert_int_equal(picture->devices[holding->device].l1_peak, 15000);
	tdm_state_free(state);
	stop(&running);
}

/* ---- events ---- */

static void events(void)
{
	step(TIDEMARK_DEVICE_OPENED, 0);
	step(TIDEMARK_TRACE_BEGAN, 42);
	struct tidemark_clash clash = TIDEMARK_CLASH_INIT;
	clash.device = DEVICE;
	must(tidemark_report_clash(&clash));
	must(tidemark_program("matmul"));
	clash.begin = 0x1000;
	clash.end = 0x4900;
	clash.l1_lowest = 0x4800;
	clash.l1_size = 0x8000;
	must(tidemark_report_clash(&clash));
	clash.end = 0x5000;
	clash.cores = (struct tidemark_core_range){ 1, 2, 3, 4 };
	clash.range_count = 2;
	must(tidemark_report_clash(&clash));
	clash.kind = TIDEMARK_DFB;
	clash.program = tidemark_name("conv");
	clash.end = 0x9000; /* beyond L1, whatever else is in the way */
	must(tidemark_report_clash(&clash));
}

static void test_events(void **unused)
{
	static const uint64_t steps[] = { TDM_STEP_OPENED, TDM_STEP_TRACE_BEGAN };
	(void)unused;
	struct running running = run(events);
	struct tdm_state *state = state_of(false);
	const struct tdm_picture *picture = look(state, TDM_WISH_EVENTS);
	assert_int_equal(picture->event_count, 7);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(picture->events[i].op, TDM_OP_STEP);
		assert_int_equal(picture->events[i].size, steps[i]);
		assert_int_equal(picture->events[i].id, i == 0 ? 0 : 42);
		assert_int_equal(picture->events[i].thread, running.pid);
	}
	static const struct {
		uint32_t flags;
		uint64_t end, limit, excess;
		const char *name;
	} clashes[] = { { TDM_EVENT_CLASH, 0, 0, 0, "" }, { TDM_EVENT_CLASH, 0x4900, 0x4800, 0x100, "matmul" },
		{ TDM_EVENT_CLASH, 0x5000, 0x4800, 0x800, "matmul" },
		{ TDM_EVENT_CLASH | TDM_EVENT_BEYOND, 0x9000, 0x8000, 0x1000, "conv" } };
	for (size_t i = 0, at = 2; i < sizeof clashes / sizeof *clashes; i++, at++) {
		at += picture->events[at].op == TDM_OP_PROGRAM;
		const struct tdm_event *event = &picture->events[at];
		assert_int_equal(event->op, TDM_OP_OOM);
		assert_int_equal(event->flags & (TDM_EVENT_CLASH | TDM_EVENT_BEYOND), clashes[i].flags);
		assert_int_equal(event->id, clashes[i].end);
		assert_int_equal(event->address, clashes[i].limit);
		assert_int_equal(event->size, clashes[i].excess);
		assert_true(tdm_str_is(event->name, clashes[i].name));
	}
	/* They are no lack of memory. The last of each type is kept, and how often there was one. */
	const struct tdm_holding *holding = holding_of(picture, running.pid);
	assert_int_equal(holding->kinds[TDM_KIND_CB].out_of_memory, 0);
	assert_int_equal(holding->told.clash_count, TDM_CLASH_TYPES);
	const struct tdm_clash *l1 = &holding->told.clashes[TDM_CLASH_L1], *beyond = l1 + 1, *unknown = l1 + 2;
	assert_int_equal(l1->type, TDM_CLASH_L1);
	assert_int_equal(l1->count, 2);
	assert_int_equal(l1->kind, TDM_KIND_CB);
	assert_int_equal(l1->begin, 0x1000);
	assert_int_equal(l1->end, 0x5000);
	assert_int_equal(l1->limit, 0x4800);
	assert_int_equal(l1->range_count, 2);
	assert_int_equal(l1->x0 * 1000 + l1->y0 * 100 + l1->x1 * 10 + l1->y1, 1234);
	assert_true(l1->time_ns != 0 && l1->time_ns <= beyond->time_ns);
	assert_string_equal(tdm_picture_text(picture, l1->program), "matmul");
	assert_int_equal(beyond->count, 1);
	assert_int_equal(beyond->kind, TDM_KIND_DFB);
	assert_int_equal(beyond->limit, 0x8000);
	assert_string_equal(tdm_picture_text(picture, beyond->program), "conv");
	assert_int_equal(unknown->count, 1);
	assert_int_equal(unknown->end, 0);
	tdm_state_free(state);
	stop(&running);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_loop_makes_one_entry, clear),
		cmocka_unit_test_teardown(test_live_and_freed, clear),
		cmocka_unit_test_teardown(test_older_buffers_are_safe, clear),
		cmocka_unit_test_teardown(test_released_traces_are_no_danger, clear),
		cmocka_unit_test_teardown(test_what_does_not_fit_is_counted, clear),
		cmocka_unit_test_teardown(test_statistics, clear),
		cmocka_unit_test_teardown(test_shared_buffers, clear),
		cmocka_unit_test_teardown(test_events, clear),
	};
	return cmocka_run_group_tests(tests, set_up, own_folder_remove);
}
