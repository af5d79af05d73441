/* Findings about traces, statistics and clashes, the sizes for opening devices, and L1 that several programs share; on
 * hand-made pictures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "analyze/live/run_findings.h"
#include "base/buf.h"
#include "picture_make.h"
#include "model/result/result.h"
#include "view/rows/live_result.h"
#include "view/write/write.h"

struct world {
	struct make make;
	struct tdm_intern texts;
	struct tdm_findings findings;
};

static void begin(struct world *world, size_t devices)
{
	make_init(&world->make);
	tdm_intern_init(&world->texts);
	world->make.picture.texts = &world->texts;
	world->make.picture.time_ns = UINT64_C(100000000000);
	world->findings = (struct tdm_findings){ 0 };
	for (size_t i = 0; i < devices; i++)
		make_n150(&world->make, (int32_t)i);
	make_process(&world->make, 42, "python3 model.py");
	for (size_t i = 0; i < devices; i++)
		make_holding(&world->make, (uint32_t)i)->number = (uint32_t)i;
}

static void end(struct world *world)
{
	tdm_findings_done(&world->findings);
	tdm_intern_done(&world->texts);
}

static uint32_t text(struct world *world, const char *of)
{
	return tdm_intern_text(&world->texts, tdm_str_of(of));
}

static uint32_t stack(struct world *world, const char *of)
{
	const struct tdm_frame frame = { .text = tdm_str_of(of) };
	return tdm_intern_stack(&world->texts, &frame, 1);
}

static struct tdm_hazard hazard(struct world *world, enum tdm_hazard_state state, const char *name)
{
	return (struct tdm_hazard){ .trace = 7,
		.state = (uint8_t)state,
		.kind = TDM_KIND_DRAM,
		.count = 1,
		.id = 5,
		.address = 0x4000,
		.asked = 4 * MAKE_MIB,
		.bank_bytes = MAKE_MIB,
		.time_ns = UINT64_C(90000000000),
		.replayed_ns = state == TDM_HAZARD_WAITS ? 0 : UINT64_C(95000000000),
		.name = text(world, name) };
}

static void give(struct world *world, size_t holding, const struct tdm_hazard *list, size_t count)
{
	world->make.holdings[holding].told.hazards = list;
	world->make.holdings[holding].told.hazard_count = count;
}

/* Finds anew; there are so many findings. */
static void find(struct world *world, size_t count)
{
	tdm_findings_done(&world->findings);
	tdm_run_findings(&world->make.picture, 0, &world->findings);
	assert_int_equal(world->findings.count, count);
}

static void expect(const struct world *world, size_t index, const char *what, const char *severity, const char *said)
{
	assert_true(index < world->findings.count);
	const struct tdm_finding *finding = &world->findings.list[index];
	assert_string_equal(finding->what, what);
	assert_string_equal(finding->verdict, severity);
	assert_string_equal(finding->text, said);
}

/* Each state has its severity, its sentence and its advice; the worst comes first. */
static void says_what_a_replay_may_have_done(void **context)
{
	struct world world;
	(void)context;
	begin(&world, 1);
	struct tdm_hazard list[] = { hazard(&world, TDM_HAZARD_WAITS, "scratch"),
		hazard(&world, TDM_HAZARD_FREED, "prompt"), hazard(&world, TDM_HAZARD_LIVE, "kv_cache") };
	list[2].count = 3;
	list[2].program = text(&world, "ttnn::add");
	give(&world, 0, list, 3);
	find(&world, 3);
	expect(&world, 0, "trace_live", "danger",
		"kv_cache: 3 dram buffers of 4 MiB on device 0, the first at 0x4000, were allocated in "
		"ttnn::add while a captured trace existed and were live when trace 7 was replayed: their content may "
		"have been overwritten");
	expect(&world, 1, "trace_waits", "info",
		"scratch: 1 dram buffer of 4 MiB on device 0 at 0x4000 was allocated while a captured trace existed "
		"(trace 7); no trace has been replayed since");
	expect(&world, 2, "trace_freed", "info",
		"prompt: 1 dram buffer of 4 MiB on device 0 at 0x4000 was allocated while a captured trace existed and "
		"had been freed when trace 7 was replayed");
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(world.findings.list[i].advice_count, 1);
	const struct tdm_finding *first = &world.findings.list[0];
	assert_int_equal(tdm_finding_number(&world.findings, first, "trace"), 7);
	assert_int_equal(tdm_finding_number(&world.findings, first, "buffers"), 3);
	assert_int_equal(tdm_finding_number(&world.findings, first, "first_age_ns"), UINT64_C(10000000000));
	assert_int_equal(tdm_finding_number(&world.findings, first, "replay_age_ns"), UINT64_C(5000000000));
	assert_string_equal(tdm_finding_word(&world.findings, first, "program"), "ttnn::add");
	assert_int_equal(tdm_trace_hazards_count(&world.make.picture, &world.make.processes[0], TDM_HAZARD_LIVE), 3);
	end(&world);
}

/* A mesh has the same buffer on each chip, and a loop allocates at one place: one finding. */
static void has_one_finding_for_each_place(void **context)
{
	struct world world;
	(void)context;
	begin(&world, 8);
	struct tdm_hazard list[8][2];
	for (size_t i = 0; i < 8; i++) {
		list[i][0] = list[i][1] = hazard(&world, TDM_HAZARD_LIVE, "");
		list[i][0].stack = stack(&world, "first");
		list[i][1].stack = stack(&world, "second");
		list[i][1].asked = MAKE_MIB * (i + 1);
		give(&world, i, list[i], 2);
	}
	find(&world, 2);
	expect(&world, 0, "trace_live", "danger",
		"8 dram buffers of 4 MiB on 8 devices, the first at 0x4000, were allocated while a captured trace "
		"existed and were live when trace 7 was replayed: their content may have been overwritten");
	expect(&world, 1, "trace_live", "danger",
		"8 dram buffers, the first of 1 MiB on 8 devices, the first at 0x4000, were allocated while a captured "
		"trace existed and were live when trace 7 was replayed: their content may have been overwritten");
	end(&world);
}

static void says_that_hazards_are_missing(void **context)
{
	struct world world;
	(void)context;
	begin(&world, 2);
	world.make.holdings[0].told.hazards_lost = 3;
	world.make.holdings[1].told.hazards_lost = 4;
	find(&world, 1);
	expect(&world, 0, "trace_hazards_lost", "warning",
		"7 more buffers were allocated while a captured trace existed; the ledger had no room to keep where");
	end(&world);
}

/* Numbers of states and kinds come from another process. */
static void ignores_impossible_hazards(void **context)
{
	struct world world;
	(void)context;
	begin(&world, 1);
	struct tdm_hazard list[] = { hazard(&world, TDM_HAZARD_LIVE, ""), hazard(&world, TDM_HAZARD_LIVE, "") };
	list[0].state = TDM_HAZARD_STATES;
	list[1].kind = TDM_KIND_COUNT;
	give(&world, 0, list, 2);
	find(&world, 0);
	end(&world);
}

/* Both stacks are shown; advice only once for all findings of a sort. */
static void shows_both_stacks(void **context)
{
	struct world world;
	struct tdm_buf out;
	(void)context;
	begin(&world, 1);
	struct tdm_hazard list[] = { hazard(&world, TDM_HAZARD_LIVE, "a"), hazard(&world, TDM_HAZARD_LIVE, "b") };
	list[0].stack = stack(&world, "model.py:10 forward");
	list[0].replay_stack = stack(&world, "model.py:90 generate");
	give(&world, 0, list, 2);
	const struct tdm_live_report report = { .picture = &world.make.picture,
		.term = { .width = 100, .folds = true } };
	tdm_buf_init(&out);
	struct tdm_result *result = tdm_result_new();
	tdm_live_show_findings(&result->top, &report, 0, true);
	tdm_write_text(&result->top, &report.term, &out);
	tdm_result_free(result);
	assert_string_equal(out.data,
		"  danger   a: 1 dram buffer of 4 MiB on device 0 at 0x4000 was allocated while a captured trace\n"
		"           existed and was live when trace 7 was replayed: its content may have been overwritten\n"
		"           allocated in model.py:10 forward\n"
		"           replayed in model.py:90 generate\n"
		"           -> Allocate such buffers before the first capture: run every operation once, so that\n"
		"           tensors and programs that are made at their first use exist, and capture all traces after\n"
		"           that, one after the other. Write new inputs into buffers that existed before the capture.\n"
		"           Free what is only needed for a while, or release the trace, before a replay. A buffer\n"
		"           that the trace itself fills before anything reads it is safe.\n"
		"  danger   b: 1 dram buffer of 4 MiB on device 0 at 0x4000 was allocated while a captured trace\n"
		"           existed and was live when trace 7 was replayed: its content may have been overwritten\n");
	tdm_buf_done(&out);
	end(&world);
}

static void compares_with_the_runtime(void **context)
{
	struct world world;
	(void)context;
	begin(&world, 2);
	struct tdm_holding *holdings = world.make.holdings;
	holdings[0].told.statistics[TDM_KIND_DRAM] =
		(struct tdm_statistics){ .reports = 3, .allocated = 64, .ours = 64 };
	holdings[1].told.statistics[TDM_KIND_L1] = (struct tdm_statistics){ .reports = 1 };
	find(&world, 1);
	expect(&world, 0, "statistics_agree", "ok", "the figures agree with the runtime's allocator (4 reports)");
	holdings[0].told.statistics[TDM_KIND_DRAM].differing = 1;
	holdings[1].told.statistics[TDM_KIND_L1] =
		(struct tdm_statistics){ .reports = 5, .allocated = 4096, .ours = 1024, .differing = 2 };
	find(&world, 2);
	expect(&world, 0, "statistics_differ", "warning",
		"device 1, l1: the runtime's allocator has 4,096 B in each bank, Tidemark counted 1,024 B (2 of 5 "
		"reports differed)");
	expect(&world, 1, "statistics_differed", "info",
		"device 0, dram: 1 of 3 reports of the runtime's allocator differed from Tidemark's count; the last "
		"one agrees: 64 B in each bank");
	end(&world);
}

/* The reason follows from what else is known. */
static void explains_a_difference(void **context)
{
	struct world world;
	(void)context;
	begin(&world, 1);
	struct tdm_holding *holding = world.make.holdings;
	holding->told.statistics[TDM_KIND_DRAM] = (struct tdm_statistics){ 5, 4096, 0, 0, 1024, 2, 0 };
	static const char *const reasons[] = { "allocated before the tracking began, or by a way that is not seen",
		"another allocator of the device", "Buffers were freed that Tidemark does not know",
		"Reports of this process were lost", "Tidemark's figure is an estimate" };
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
		if (i == 1)
			holding->told.statistics[TDM_KIND_DRAM].ours = 8192;
		else if (i == 2)
			holding->kinds[TDM_KIND_DRAM].unknown_frees = 1;
		else if (i == 3)
			world.make.processes[0].lost = 1;
		else if (i == 4)
			holding->kinds[TDM_KIND_DRAM].is_estimated = true;
		find(&world, 1);
		assert_non_null(strstr(world.findings.advice[0].text, reasons[i]));
		assert_int_equal(world.findings.list[0].severity, i == 4 ? TDM_FINDING_INFO : TDM_FINDING_WARNING);
	}
	end(&world);
}

static struct tdm_clash clash(struct world *world, enum tdm_clash_type type, uint64_t end, uint64_t limit)
{
	return (struct tdm_clash){ .type = (uint8_t)type,
		.kind = TDM_KIND_CB,
		.count = 1,
		.begin = 0x1000,
		.end = end,
		.limit = limit,
		.range_count = 1,
		.x1 = 7,
		.y1 = 6,
		.program = text(world, "reader + writer") };
}

static void give_clashes(struct world *world, size_t holding, const struct tdm_clash *list, size_t count)
{
	world->make.holdings[holding].told.clashes = list;
	world->make.holdings[holding].told.clash_count = count;
}

/* Each type is said, with what was asked for, where it ends, on which cores and how often. */
static void names_clashes(void **context)
{
	struct world world;
	(void)context;
	begin(&world, 2);
	struct tdm_clash list[] = { clash(&world, TDM_CLASH_L1, 0x5a000, 0x58000),
		clash(&world, TDM_CLASH_BEYOND, 0x219000, 0x16e000),
		{ .type = TDM_CLASH_UNKNOWN, .kind = TDM_KIND_CB } };
	list[0].count = 2;
	list[0].range_count = 3;
	list[2].count = 1;
	give_clashes(&world, 0, list, 3);
	find(&world, 3);
	expect(&world, 0, "beyond_l1", "danger",
		"device 0: circular buffers of reader + writer do not fit into L1: they need 2,195,456 of the "
		"1,495,040 B "
		"that a core has for them, and would end at 0x219000, 700,416 B beyond the end of L1 at 0x16e000; "
		"cores "
		"0-0 to 7-6 (once)");
	expect(&world, 1, "clash", "danger",
		"device 0: circular buffers of reader + writer clash with L1 buffers: they end at 0x5a000, the lowest "
		"L1 "
		"buffer is at 0x58000, which is 8,192 B too low; they need 364,544 B in each core; cores 0-0 to 7-6 "
		"and "
		"others (2 times, the last is shown)");
	expect(&world, 2, "clash", "danger",
		"device 0: circular buffers were refused: they reach into L1 buffers or beyond the end of L1; where is "
		"not "
		"known (once)");
	const struct tdm_finding *found = world.findings.list;
	assert_int_equal(tdm_finding_number(&world.findings, &found[0], "excess_bytes"), 0xab000);
	assert_int_equal(tdm_finding_number(&world.findings, &found[0], "l1_bytes"), 0x16e000);
	assert_int_equal(tdm_finding_number(&world.findings, &found[0], "lowest_l1"), TDM_ADDRESS_UNKNOWN);
	assert_int_equal(tdm_finding_number(&world.findings, &found[1], "overlap_bytes"), 8192);
	assert_int_equal(tdm_finding_number(&world.findings, &found[1], "lowest_l1"), 0x58000);
	assert_int_equal(tdm_finding_number(&world.findings, &found[1], "l1_bytes"), TDM_BYTES_UNKNOWN);
	assert_int_equal(tdm_finding_number(&world.findings, &found[2], "cb_end"), TDM_ADDRESS_UNKNOWN);
	assert_string_equal(tdm_finding_word(&world.findings, &found[1], "program"), "reader + writer");
	end(&world);
}

/* A mesh refuses a program once for each chip: one finding. Another clash on one of the chips is another one. */
static void has_one_clash_for_a_mesh(void **context)
{
	struct world world;
	(void)context;
	begin(&world, 8);
	const struct tdm_clash same = clash(&world, TDM_CLASH_L1, 0x5a000, 0x58000);
	const struct tdm_clash other = clash(&world, TDM_CLASH_L1, 0x5a000, 0x57000);
	uint64_t version = tdm_run_findings_version(&world.make.picture, world.make.processes);
	for (size_t i = 0; i < 8; i++)
		give_clashes(&world, i, i == 3 ? &other : &same, 1);
	find(&world, 2);
	assert_non_null(strstr(world.findings.list[0].text, "device 3: circular buffers"));
	assert_non_null(strstr(world.findings.list[1].text, "7 devices, the first is 0: circular buffers"));
	assert_int_equal(tdm_finding_number(&world.findings, &world.findings.list[1], "devices"), 7);
	assert_true(tdm_run_findings_version(&world.make.picture, world.make.processes) > version);
	end(&world);
}

/* They come from another process, or from another machine. */
static void ignores_impossible_clashes(void **context)
{
	struct world world;
	(void)context;
	begin(&world, 1);
	struct tdm_clash list[5];
	for (size_t i = 0; i < 5; i++)
		list[i] = clash(&world, TDM_CLASH_L1, 0x5a000, 0x58000);
	list[0].type = TDM_CLASH_TYPES;
	list[1].kind = TDM_KIND_COUNT;
	list[2].limit = list[2].end;
	list[3].begin = list[3].end + 1;
	list[4].count = 0;
	give_clashes(&world, 0, list, 5);
	find(&world, 0);
	end(&world);
}

/* A process whose ledger has these peaks. */
static void peaks(
	struct world *world, size_t holding, enum tdm_kind kind, uint64_t asked, uint64_t bank, uint32_t banks)
{
	struct tdm_counter *amount = &world->make.holdings[holding].kinds[kind];
	amount->from = TDM_FROM_LEDGER;
	amount->peak_asked = asked;
	amount->peak_bank = bank;
	amount->peak = bank * banks;
}

static void finds_the_sizes_for_opening(void **context)
{
	const struct tdm_device_info info = { .region_count = 2,
		.regions = { { .kind = TDM_KIND_TRACE, .banks = 12, .bank_size = 1990656 },
			{ .kind = TDM_KIND_L1_SMALL, .banks = 64, .bank_size = 32768 } } };
	struct tdm_open_size sizes[TDM_OPEN_SIZES];
	struct world world;
	(void)context;
	begin(&world, 2);
	assert_int_equal(tdm_open_sizes(&world.make.picture, 0, sizes), 0);
	world.make.devices[0].info = world.make.devices[1].info = &info;
	peaks(&world, 0, TDM_KIND_TRACE, 100000, 16384, 12);
	peaks(&world, 0, TDM_KIND_L1_SMALL, 2000 * 64, 2048, 64);
	peaks(&world, 1, TDM_KIND_TRACE, 90000, 8192, 12);
	peaks(&world, 1, TDM_KIND_L1_SMALL, 0, 0, 64);
	/* The traces that existed together are the total, and L1_SMALL counts per core; the largest device counts. */
	assert_int_equal(tdm_open_sizes(&world.make.picture, 0, sizes), 2);
	assert_string_equal(sizes[0].option, "trace_region_size");
	assert_int_equal(sizes[0].needed, 100000);
	assert_int_equal(sizes[0].device, 0);
	assert_int_equal(sizes[0].opened, 1990656 * 12);
	assert_string_equal(sizes[1].option, "l1_small_size");
	assert_int_equal(sizes[1].needed, 2048);
	assert_int_equal(sizes[1].opened, 32768);
	/* 100000 bytes give each of 12 banks 16384, which is too little for these. */
	peaks(&world, 0, TDM_KIND_TRACE, 100000, 24576, 12);
	tdm_open_sizes(&world.make.picture, 0, sizes);
	assert_int_equal(sizes[0].needed, 24576 * 12);
	assert_false(sizes[0].is_least);
	world.make.processes[0].lost = 1;
	tdm_open_sizes(&world.make.picture, 0, sizes);
	assert_true(sizes[0].is_least);
	end(&world);
}

/* Traces without a region of their own are DRAM buffers, and a region that was not used can go. */
static void tells_unused_and_missing_regions(void **context)
{
	const struct tdm_device_info info = { .region_count = 1,
		.regions = { { .kind = TDM_KIND_L1_SMALL, .banks = 64, .bank_size = 32768 } } };
	const struct tdm_trace trace = { .id = 1 };
	struct world world;
	struct tdm_buf out;
	(void)context;
	begin(&world, 1);
	world.make.devices[0].info = &info;
	peaks(&world, 0, TDM_KIND_TRACE, 0, 0, 12);
	peaks(&world, 0, TDM_KIND_L1_SMALL, 0, 0, 64);
	world.make.holdings[0].told.traces = &trace;
	world.make.holdings[0].told.trace_count = 1;
	const struct tdm_term term = { .width = 80 };
	tdm_buf_init(&out);
	struct tdm_result *result = tdm_result_new();
	tdm_live_show_sizes(&result->top, &world.make.picture, 0);
	tdm_write_text(&result->top, &term, &out);
	tdm_result_free(result);
	assert_string_equal(out.data, "Sizes for opening the device, as this run needed them\n"
				      "  trace_region_size=0               without a trace region, traces are in DRAM\n"
				      "  l1_small_size=0                   device 0 has 32768\n");
	tdm_buf_done(&out);
	end(&world);
}

/* A process of which no device is known yet: its picture has no list of holdings at all. */
static void says_nothing_about_no_devices(void **state)
{
	struct world world;
	(void)state;
	begin(&world, 0);
	world.make.picture.holdings = NULL;
	tdm_run_findings(&world.make.picture, 0, &world.findings);
	assert_int_equal(world.findings.count, 0);
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_a_replay_may_have_done),
		cmocka_unit_test(has_one_finding_for_each_place),
		cmocka_unit_test(says_that_hazards_are_missing),
		cmocka_unit_test(ignores_impossible_hazards),
		cmocka_unit_test(shows_both_stacks),
		cmocka_unit_test(compares_with_the_runtime),
		cmocka_unit_test(explains_a_difference),
		cmocka_unit_test(names_clashes),
		cmocka_unit_test(has_one_clash_for_a_mesh),
		cmocka_unit_test(ignores_impossible_clashes),
		cmocka_unit_test(finds_the_sizes_for_opening),
		cmocka_unit_test(tells_unused_and_missing_regions),
		cmocka_unit_test(says_nothing_about_no_devices),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
