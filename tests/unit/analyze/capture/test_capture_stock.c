/* The runtime's own figures, checked against results of its code and against hand-made captures. */
#include "capture_run.h"

#include <inttypes.h>

#define PROGRAM(type, size, rest)                                                                   \
	"{\"counter\":%d,\"node_type\":\"" type "\",\"connections\":[],\"params\":{\"size\":" #size \
	",\"address\":0,\"core_range_set\":\"{[0-0 - 0-0]}\",\"device_id\":0" rest "}}"

/* Nodes given as texts with a %d for the counter, made into a capture. */
static struct capture_run *read_nodes(const char *const *nodes, size_t count)
{
	struct tdm_buf text = { 0 };
	for (size_t i = 0; i < count; i++) {
		const char *hole = strstr(nodes[i], "%d");
		tdm_buf_putc(&text, i == 0 ? '[' : ',');
		tdm_buf_add(&text, nodes[i], hole != NULL ? (size_t)(hole - nodes[i]) : strlen(nodes[i]));
		if (hole != NULL) {
			tdm_buf_printf(&text, "%zu", i);
			tdm_buf_puts(&text, hole + 2);
		}
	}
	tdm_buf_puts(&text, count == 0 ? "[]" : "]");
	struct capture_run *run = capture_read(text.data);
	tdm_buf_done(&text);
	return run;
}

#define READ(...) \
	read_nodes((const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

#define CB(size)         PROGRAM("circular_buffer_allocate", size, ",\"globally_allocated\":\"0\"")
#define GLOBAL_CB(size)  PROGRAM("circular_buffer_allocate", size, ",\"globally_allocated\":\"1\"")
#define DFB(size)        PROGRAM("dataflow_buffer_allocate", size, ",\"borrows_memory\":\"0\"")
#define BORROWED(size)   PROGRAM("dataflow_buffer_allocate", size, ",\"borrows_memory\":\"1\"")
#define SCRATCHPAD(size) PROGRAM("scratchpad_allocate", size, "")
#define RELEASE          "{\"counter\":%d,\"node_type\":\"circular_buffer_deallocate_all\",\"connections\":[0],\"params\":{}}"
#define START            "{\"counter\":%d,\"node_type\":\"function_start\",\"connections\":[],\"params\":{\"name\":\"op\"}}"
#define END              "{\"counter\":%d,\"node_type\":\"function_end\",\"connections\":[],\"params\":{\"name\":\"op\"}}"
#define TENSOR           "{\"counter\":%d,\"node_type\":\"tensor\",\"connections\":[],\"params\":{\"shape\":\"Shape([1])\"}}"
#define BUFFER(type, size)                                                                         \
	"{\"counter\":%d,\"node_type\":\"buffer\",\"connections\":[],\"params\":{\"type\":\"" type \
	"\",\"size\":" #size "}}"
#define ALLOC(type, size, node)                                                                                      \
	"{\"counter\":%d,\"node_type\":\"buffer_allocate\",\"connections\":[" #node "],\"params\":{\"type\":\"" type \
	"\",\"size\":" #size ",\"max_size_per_bank\":" #size "}}"
#define FREE(type, size, node)                                                                                         \
	"{\"counter\":%d,\"node_type\":\"buffer_deallocate\",\"connections\":[" #node "],\"params\":{\"type\":\"" type \
	"\",\"size\":" #size ",\"max_size_per_bank\":" #size "}}"

/* "key": number in a small file. */
static uint64_t expected_of(const char *text, const char *key)
{
	char quoted[64];
	snprintf(quoted, sizeof quoted, "\"%s\":", key);
	const char *hit = strstr(text, quoted);
	assert_non_null(hit);
	return strtoull(hit + strlen(quoted), NULL, 10);
}

static void every_golden_capture_gives_the_runtimes_figures(void **state)
{
	static const char *const names[] = { "g21-d1", "g22-d1", "g23-d2" };
	static const enum tdm_stock_figure figures[] = { TDM_STOCK_DRAM_PEAK, TDM_STOCK_DRAM_ALLOCATIONS,
		TDM_STOCK_DRAM_DEALLOCATIONS, TDM_STOCK_L1_PEAK, TDM_STOCK_CORE_PEAK_CB, TDM_STOCK_CORE_PEAK_L1,
		TDM_STOCK_CORE_PEAK_TOTAL };
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char file[64], path[512];
		struct tdm_buf expected;
		snprintf(file, sizeof file, "%s.json", names[i]);
		snprintf(path, sizeof path, "%s/graph/%s.expected.json", TDM_TEST_DATA, names[i]);
		tdm_buf_init(&expected);
		assert_int_equal(tdm_file_read(path, 1 << 20, &expected), 0);
		struct capture_run *run = capture_read_file(file);
		assert_int_equal(run->err, 0);
		assert_int_equal(run->refusals, 0);
		for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
			assert_figure(run, figures[k], expected_of(expected.data, tdm_stock_key(figures[k])));
		capture_done(run);
		tdm_buf_done(&expected);
	}
}

static void captures_of_real_runs_give_the_runtimes_figures(void **state)
{
	static const char *const names[] = { "mock_normal.json", "mock_no_dispatch.json" };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct capture_run *run = capture_read_file(names[i]);
		assert_figure(run, TDM_STOCK_CORE_PEAK_CB, 90112);
		assert_figure(run, TDM_STOCK_CORE_PEAK_L1, 96256);
		assert_figure(run, TDM_STOCK_CORE_PEAK_TOTAL, 186368);
		assert_figure(run, TDM_STOCK_DRAM_PEAK, 68157440);
		assert_figure(run, TDM_STOCK_DRAM_ALLOCATIONS, 68157440);
		assert_figure(run, TDM_STOCK_DRAM_DEALLOCATIONS, 67108864);
		assert_figure(run, TDM_STOCK_L1_PEAK, 5332992);
		capture_done(run);
	}
}

static void the_addition_of_two_tensors_gives_the_figures_of_the_runtimes_tests(void **state)
{
	(void)state;
	struct capture_run *run = capture_read_file("add_l1.json");
	assert_figure(run, TDM_STOCK_L1_PEAK, 30720);
	assert_figure(run, TDM_STOCK_CORE_PEAK_CB, 12288);
	assert_figure(run, TDM_STOCK_CORE_PEAK_L1, 2048);
	assert_figure(run, TDM_STOCK_CORE_PEAK_TOTAL, 14336);
	capture_done(run);
}

static void kinds_of_program_memory_are_kept_apart(void **state)
{
	(void)state;
	struct capture_run *run = READ(CB(1024), DFB(2048), SCRATCHPAD(512));
	assert_figure(run, TDM_STOCK_CORE_PEAK_CB, 1024);
	assert_figure(run, TDM_STOCK_CORE_PEAK_DFB, 2048);
	assert_figure(run, TDM_STOCK_CORE_PEAK_SCRATCHPAD, 512);
	assert_figure(run, TDM_STOCK_CORE_PEAK_TOTAL, 3584);
	capture_done(run);
	run = READ(BORROWED(4096), DFB(256));
	assert_figure(run, TDM_STOCK_CORE_PEAK_DFB, 256);
	assert_figure(run, TDM_STOCK_CORE_PEAK_TOTAL, 256);
	assert_figure(run, TDM_STOCK_L1_PEAK, 256);
	capture_done(run);
	run = READ(CB(1024), DFB(2048), SCRATCHPAD(512), RELEASE, CB(1024), DFB(2048), SCRATCHPAD(512));
	assert_figure(run, TDM_STOCK_CORE_PEAK_TOTAL, 3584);
	assert_figure(run, TDM_STOCK_L1_PEAK, 3584);
	capture_done(run);
}

/* A global buffer counts in the peak of L1 and nowhere else. */
static void views_count_only_where_the_runtime_counts_them(void **state)
{
	(void)state;
	struct capture_run *run = READ(CB(100), GLOBAL_CB(5000));
	assert_figure(run, TDM_STOCK_CORE_PEAK_CB, 100);
	assert_figure(run, TDM_STOCK_L1_PEAK, 5100);
	assert_right(run, TDM_STOCK_L1_PEAK, 100);
	assert_int_equal(reason_of(run, TDM_STOCK_L1_PEAK, TDM_REASON_VIEWS), 5000);
	capture_done(run);
}

/* Inputs behind an outermost function: L1 buffers and tensors; anything else ends them, a DRAM buffer too. */
static void inputs_follow_an_outermost_function_only(void **state)
{
	(void)state;
	struct capture_run *run = READ(START, TENSOR, BUFFER("L1", 100), TENSOR, BUFFER("L1", 10), END);
	assert_figure(run, TDM_STOCK_L1_PEAK, 110);
	capture_done(run);
	run = READ(START, BUFFER("L1", 100), BUFFER("DRAM", 1), BUFFER("L1", 10), END);
	assert_figure(run, TDM_STOCK_L1_PEAK, 100);
	capture_done(run);
	run = READ(START, START, BUFFER("L1", 100), END, END);
	assert_figure(run, TDM_STOCK_L1_PEAK, 0);
	capture_done(run);
	run = READ(BUFFER("L1", 100), START, BUFFER("L1", 7));
	assert_figure(run, TDM_STOCK_L1_PEAK, 7); /* the capture ends inside the inputs */
	capture_done(run);
	run = READ(START, END, START, BUFFER("L1", 5), END);
	assert_figure(run, TDM_STOCK_L1_PEAK, 5);
	capture_done(run);
}

static void a_buffer_allocated_behind_an_outermost_function_counts_twice(void **state)
{
	(void)state;
	struct capture_run *run = READ(START, BUFFER("L1", 100), ALLOC("L1", 100, 1), END, FREE("L1", 100, 1));
	assert_figure(run, TDM_STOCK_L1_PEAK, 200);
	assert_right(run, TDM_STOCK_L1_PEAK, 100);
	assert_int_equal(reason_of(run, TDM_STOCK_L1_PEAK, TDM_REASON_TWICE), 100);
	assert_int_equal(reason_of(run, TDM_STOCK_L1_PEAK, TDM_REASON_REST), 0);
	capture_done(run);
}

static void dram_goes_below_zero_but_its_peak_does_not(void **state)
{
	(void)state;
	struct capture_run *run =
		READ(BUFFER("DRAM", 1000), FREE("DRAM", 1000, 0), BUFFER("DRAM", 300), ALLOC("DRAM", 300, 2));
	assert_figure(run, TDM_STOCK_DRAM_PEAK, 0);
	assert_figure(run, TDM_STOCK_DRAM_ALLOCATIONS, 300);
	assert_figure(run, TDM_STOCK_DRAM_DEALLOCATIONS, 1000);
	assert_right(run, TDM_STOCK_DRAM_PEAK, 1000);
	capture_done(run);
}

/* The runtime's counters have no sign: a release of what it never counted makes them huge. */
static void counters_of_l1_wrap_as_they_do_there(void **state)
{
	(void)state;
	struct capture_run *run = READ(BUFFER("L1", 100), FREE("L1", 100, 0), BUFFER("L1", 40), ALLOC("L1", 40, 2));
	assert_figure(run, TDM_STOCK_L1_PEAK, UINT32_MAX - 59);
	assert_figure(run, TDM_STOCK_CORE_PEAK_L1, UINT64_MAX - 59);
	assert_true(run->summary.figures.wrapped[TDM_STOCK_L1_PEAK]);
	assert_true(run->summary.figures.wrapped[TDM_STOCK_CORE_PEAK_L1]);
	assert_right(run, TDM_STOCK_L1_PEAK, 100);
	assert_right(run, TDM_STOCK_CORE_PEAK_L1, 100);
	capture_done(run);
}

/* What overflows even the count that does not wrap. */
static void sizes_beyond_all_sums_are_said_to_wrap(void **state)
{
	(void)state;
	struct capture_run *run = READ(CB(100), BUFFER("L1", 9223372036854775807), ALLOC("L1", 9223372036854775807, 1),
		RELEASE, FREE("L1", 9223372036854775807, 1));
	assert_true(run->summary.figures.wrapped[TDM_STOCK_L1_PEAK]);
	capture_done(run);
	run = READ(BUFFER("L1", -9223372036854775808), ALLOC("L1", 1, 0), FREE("L1", 1, 0));
	assert_true(run->summary.figures.wrapped[TDM_STOCK_L1_PEAK]);
	capture_done(run);
}

static void a_release_takes_the_size_of_its_buffer_node(void **state)
{
	(void)state;
	struct capture_run *run = READ(BUFFER("DRAM", 64), ALLOC("DRAM", 64, 0), FREE("DRAM", 0, 0));
	assert_figure(run, TDM_STOCK_DRAM_DEALLOCATIONS, 64);
	capture_done(run);
}

static void assert_unknown(const struct capture_run *run, enum tdm_stock_group group, const char *why)
{
	assert_string_equal(run->summary.figures.why[group], why);
	for (int i = 0; i < TDM_STOCK_FIGURES; i++)
		if (tdm_stock_group_of((enum tdm_stock_figure)i) == group)
			assert_false(run->summary.figures.known[i]);
}

static void where_the_runtime_throws_the_figure_is_unknown(void **state)
{
	(void)state;
	struct capture_run *run = READ(CB(8), "{\"counter\":7,\"node_type\":\"tensor\",\"params\":{}}");
	assert_unknown(run, TDM_STOCK_CORE, "node 1: counter out of order, expected 1");
	assert_figure(run, TDM_STOCK_L1_PEAK, 8);
	capture_done(run);
	run = READ("{\"counter\":0,\"node_type\":\"buffer_allocate\",\"connections\":[0],\"params\":{\"type\":\"L1\","
		   "\"size\":\"4\"}}");
	assert_unknown(run, TDM_STOCK_CORE, "node 0: max_size_per_bank is missing");
	assert_figure(run, TDM_STOCK_L1_PEAK, 4);
	assert_int_equal(run->summary.right[TDM_STOCK_CORE_PEAK_TOTAL], INT64_MIN);
	capture_done(run);
	run = READ(PROGRAM("circular_buffer_allocate", 16, ",\"globally_allocated\":\"false\""));
	assert_unknown(run, TDM_STOCK_CORE, "node 0: globally_allocated is not a number");
	assert_figure(run, TDM_STOCK_L1_PEAK, 16);
	assert_right(run, TDM_STOCK_CORE_PEAK_CB, 16);
	capture_done(run);
	run = READ("{\"counter\":0,\"node_type\":\"buffer_allocate\",\"connections\":[0],\"params\":{\"type\":\"DRAM\","
		   "\"size\":\"99999999999999999999\"}}");
	assert_unknown(run, TDM_STOCK_DRAM, "node 0: size does not fit 64 bits");
	capture_done(run);
	run = READ(FREE("L1", 4, 9));
	assert_unknown(run, TDM_STOCK_DRAM, "node 0: a release that is connected to no buffer node before it");
	assert_unknown(run, TDM_STOCK_L1, "node 0: a release that is connected to no buffer node before it");
	capture_done(run);
	run = READ(END);
	assert_unknown(run, TDM_STOCK_L1, "node 0: a function ends that did not start");
	capture_done(run);
	run = READ("{\"counter\":0}");
	assert_unknown(run, TDM_STOCK_L1, "node 0: node_type is missing");
	assert_unknown(run, TDM_STOCK_DRAM, "node 0: node_type is missing");
	assert_unknown(run, TDM_STOCK_CORE, "node 0: node_type is missing");
	capture_done(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_golden_capture_gives_the_runtimes_figures),
		cmocka_unit_test(captures_of_real_runs_give_the_runtimes_figures),
		cmocka_unit_test(the_addition_of_two_tensors_gives_the_figures_of_the_runtimes_tests),
		cmocka_unit_test(kinds_of_program_memory_are_kept_apart),
		cmocka_unit_test(views_count_only_where_the_runtime_counts_them),
		cmocka_unit_test(inputs_follow_an_outermost_function_only),
		cmocka_unit_test(a_buffer_allocated_behind_an_outermost_function_counts_twice),
		cmocka_unit_test(dram_goes_below_zero_but_its_peak_does_not),
		cmocka_unit_test(counters_of_l1_wrap_as_they_do_there),
		cmocka_unit_test(sizes_beyond_all_sums_are_said_to_wrap),
		cmocka_unit_test(a_release_takes_the_size_of_its_buffer_node),
		cmocka_unit_test(where_the_runtime_throws_the_figure_is_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
