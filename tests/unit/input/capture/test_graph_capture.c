/* The reader of graph captures: every generation of the format, every refusal with its position, and the events. */
#include "capture_run.h"

#include "base/err.h"
#include "base/units.h"
#include "full_size.h"
#include "input/capture/core_ranges.h"

#include <errno.h>

/* ---- sets of core ranges ---- */

static int parse_ranges(const char *text, struct tdm_core_range *ranges)
{
	return tdm_core_ranges_parse(tdm_str_of(text), ranges, 4);
}

static void core_ranges_of_both_forms_are_read(void **state)
{
	struct tdm_core_range r[4];
	(void)state;
	assert_int_equal(parse_ranges("{}", r), 0);
	assert_int_equal(parse_ranges("{[0-0 - 7-7], [0-8 - 3-8]}", r), 2);
	assert_true(r[0].x0 == 0 && r[0].y0 == 0 && r[0].x1 == 7 && r[0].y1 == 7);
	assert_true(r[1].x0 == 0 && r[1].y0 == 8 && r[1].x1 == 3 && r[1].y1 == 8);
	assert_int_equal(parse_ranges("{[(x=1,y=2) - (x=3,y=4)], [(x=5,y=0) - (x=5,y=0)]}", r), 2);
	assert_true(r[0].x0 == 1 && r[0].y0 == 2 && r[0].x1 == 3 && r[0].y1 == 4);
	assert_true(r[1].x0 == 5 && r[1].y0 == 0 && r[1].x1 == 5 && r[1].y1 == 0);
	assert_int_equal(parse_ranges("{[0-0 - 31-31]}", r), 1);
}

static void bad_core_ranges_are_refused(void **state)
{
	static const char *const bad[] = { "", "{", "}", "{]", "{[0-0 - 7-7]", "{[0-0 - 7-7]} x", "{[7-7 - 0-0]}",
		"{[0-0]}", "{[-1-0 - 7-7]}", "{[(x=0,y=0) - (x=7)]}", "{[0-0 - 7-7] [0-0 - 1-1]}", "[0-0 - 7-7]",
		"{[a-b - c-d]}" };
	struct tdm_core_range r[4];
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (parse_ranges(bad[i], r) != TDM_ESYNTAX)
			fail_msg("'%s' gives %d", bad[i], parse_ranges(bad[i], r));
	assert_int_equal(tdm_core_ranges_parse((struct tdm_str){ "{}\0", 3 }, r, 4), TDM_ESYNTAX);
	assert_int_equal(parse_ranges("{[0-0 - 32-0]}", r), -ERANGE);
	assert_int_equal(parse_ranges("{[0-0 - 99999999999999999999-0]}", r), -ERANGE);
	assert_int_equal(parse_ranges("{[0-0 - 0-0], [0-0 - 0-0], [0-0 - 0-0], [0-0 - 0-0], [0-0 - 0-0]}", r), -E2BIG);
}

/* ---- shapes of the file ---- */

static const char today[] = "[" NODE(0, "capture_start", "1", "null") "," NODE(
	1, "function_start", "", "{\"inputs\":\"1\",\"name\":\"ttnn.add\"}") "," NODE(2, "buffer", "4",
	BUFFER_PARAMS) "," NODE(3, "buffer_allocate", "2", ALLOC_PARAMS) "," NODE(4, "tensor", "",
	"{\"dtype\":\"DataType::BFLOAT16\",\"shape\":\"Shape([1, 3, 32, 32])\"}") "," NODE(5,
	"circular_buffer_allocate", "", CB_PARAMS(0, 105664, "{[0-0 - 7-7]}", 4096)) "," NODE(6, "function_end", "",
	"{\"name\":\"ttnn.add\"}") "," NODE(7, "capture_end", "", "null") "]";

static void assert_is_today(const struct capture_run *run)
{
	assert_int_equal(run->err, 0);
	assert_int_equal(run->refusals, 0);
	assert_int_equal(run->counts.nodes, 8);
	assert_figure(run, TDM_STOCK_CORE_PEAK_TOTAL, 6144);
	assert_right(run, TDM_STOCK_CORE_PEAK_TOTAL, 6144);
}

static void a_bare_array_and_a_report_are_the_same_capture(void **state)
{
	char report[8192];
	(void)state;
	struct capture_run *run = capture_read(today);
	assert_is_today(run);
	assert_false(run->counts.is_report);
	capture_done(run);
	snprintf(report, sizeof report,
		"{\"buffer_pages\":[{\"page\":[1,[2]]}],\"cluster_descriptor\":\"a: "
		"\\\"b\\\"\\n\",\"devices\":[{\"arch\":"
		"\"wormhole_b0\",\"device_id\":4,\"dram_size_per_channel\":1073741824,\"l1_num_banks\":64,\"num_dram_"
		"channels\":"
		"12,\"num_x_compute_cores\":8,\"num_y_compute_cores\":8,\"worker_l1_size\":1499136}],\"graph\":%s,"
		"\"metadata\":"
		"{\"rank\":0},\"per_operation_buffers\":{\"1\":[{\"device_id\":0}]},\"version\":1}",
		today);
	run = capture_read(report);
	assert_is_today(run);
	assert_true(run->counts.is_report);
	assert_int_equal(run->summary.exact.device_count, 1);
	const struct tdm_capture_device *d = &run->summary.exact.devices[0];
	assert_string_equal(d->arch, "wormhole_b0");
	assert_true(d->id == 4 && d->l1_banks == 64 && d->dram_channels == 12 && d->grid_x == 8 && d->grid_y == 8);
	assert_true(d->worker_l1_size == 1499136 && d->dram_channel_size == 1073741824);
	capture_done(run);
}

static void pieces_and_line_ends_make_no_difference(void **state)
{
	char text[8192];
	size_t len = 0;
	(void)state;
	for (const char *c = today; *c != '\0'; c++) {
		text[len++] = *c;
		if (*c == ',' && c[1] == '{') {
			text[len++] = '\r';
			text[len++] = '\n';
		}
	}
	for (size_t piece = 1; piece < 40; piece++) {
		struct capture_run *run = capture_read_pieces(text, len, piece);
		assert_is_today(run);
		capture_done(run);
	}
	memmove(text + 3, text, len); /* and neither does the mark that some editors put before UTF-8 */
	memcpy(text, "\xef\xbb\xbf", 3);
	struct capture_run *run = capture_read_pieces(text, len + 3, len + 3);
	assert_is_today(run);
	capture_done(run);
}

static void keys_of_a_node_may_come_in_any_order(void **state)
{
	(void)state;
	struct capture_run *run = capture_read("[{\"params\":{\"type\":\"DRAM\",\"size\":64,\"buffer_type\":0},\"node_"
					       "type\":\"buffer\",\"counter\":0},"
					       "{\"stacking_level\":1,\"params\":{\"max_size_per_bank\":32,\"type\":"
					       "\"DRAM\",\"size\":64},\"counter\":1,"
					       "\"connections\":[0,7],\"node_type\":\"buffer_allocate\"}]");
	assert_int_equal(run->refusals, 0);
	assert_figure(run, TDM_STOCK_DRAM_PEAK, 64);
	assert_right(run, TDM_STOCK_DRAM_PEAK, 64);
	capture_done(run);
}

/* Before numbers were numbers: every parameter a text, no device, no bytes per bank, the old form of core ranges. */
static void old_captures_are_read(void **state)
{
	(void)state;
	struct capture_run *run = capture_read(
		"[{\"connections\":[1],\"counter\":0,\"node_type\":\"capture_start\",\"params\":{}},"
		"{\"connections\":[3],\"counter\":1,\"node_type\":\"function_start\",\"params\":{\"inputs\":\"1\","
		"\"name\":"
		"\"ttnn::add\"}},"
		"{\"connections\":[1],\"counter\":2,\"node_type\":\"tensor\",\"params\":{\"shape\":\"ttnn.Shape([4, "
		"3])\"}},"
		"{\"connections\":[2,2],\"counter\":3,\"node_type\":\"buffer\",\"params\":{\"layout\":\"INTERLEAVED\","
		"\"size\":"
		"\"100\",\"type\":\"L1\"}},"
		"{\"connections\":[],\"counter\":4,\"node_type\":\"function_start\",\"params\":{\"inputs\":\"1\","
		"\"name\":\"in\"}},"
		"{\"connections\":[],\"counter\":5,\"node_type\":\"buffer\",\"params\":{\"layout\":\"INTERLEAVED\","
		"\"size\":\"30\","
		"\"type\":\"L1\"}},"
		"{\"connections\":[5],\"counter\":6,\"node_type\":\"buffer_allocate\",\"params\":{\"address\":"
		"\"1953396066\","
		"\"layout\":\"INTERLEAVED\",\"size\":\"30\",\"type\":\"L1\"}},"
		"{\"connections\":[],\"counter\":7,\"node_type\":\"circular_buffer_allocate\",\"params\":{\"address\":"
		"\"0\","
		"\"core_range_set\":\"{[(x=0,y=0) - (x=0,y=7)]}\",\"size\":\"8\",\"globally_allocated\":\"false\"}},"
		"{\"connections\":[1],\"counter\":8,\"node_type\":\"circular_buffer_deallocate_all\",\"params\":{}},"
		"{\"connections\":[5],\"counter\":9,\"node_type\":\"buffer_deallocate\",\"params\":{\"layout\":"
		"\"INTERLEAVED\","
		"\"size\":\"0\",\"type\":\"L1\"}},"
		"{\"connections\":[],\"counter\":10,\"node_type\":\"capture_end\",\"params\":{}}]");
	assert_int_equal(run->err, 0);
	assert_int_equal(run->refusals, 0);
	assert_figure(run, TDM_STOCK_L1_PEAK, 138);
	assert_string_equal(run->summary.figures.why[TDM_STOCK_CORE], "node 6: max_size_per_bank is missing");
	assert_right(run, TDM_STOCK_L1_PEAK, 100 + 30 + 8 * 8);
	assert_right(run, TDM_STOCK_CORE_PEAK_CB, 8);
	assert_int_equal(run->summary.right[TDM_STOCK_CORE_PEAK_TOTAL], INT64_MIN);
	assert_int_equal(run->summary.exact.unit_count, 1);
	assert_false(run->summary.exact.units[0].has_id);
	const struct tdm_exact_buffer *input = &run->summary.exact.buffers[0];
	assert_true(input->existed);
	assert_string_equal(tdm_capture_paths_text_of(&run->summary.exact.paths, input->shape), "[4, 3]");
	capture_done(run);
}

/* ---- what cannot be used ---- */

/* The one node of the capture is refused with this text, and a good one behind it is still counted. */
static void assert_refused(const char *node, const char *text)
{
	char capture[4096];
	snprintf(capture, sizeof capture,
		"[%s,{\"node_type\":\"buffer_allocate\",\"counter\":1,\"connections\":[1],\"params\":"
		"{\"type\":\"DRAM\",\"size\":5}}]",
		node);
	struct capture_run *run = capture_read(capture);
	assert_int_equal(run->err, 0);
	if (run->refusals != 1 || strcmp(run->refusal[0], text) != 0)
		fail_msg("%zu refusals for %s: %s", run->refusals, node, run->refusal[0]);
	assert_right(run, TDM_STOCK_DRAM_PEAK, 5);
	assert_int_equal(run->counts.nodes, 2);
	capture_done(run);
}

static void a_bad_node_costs_one_refusal_with_its_position(void **state)
{
	(void)state;
	assert_refused("null", "node 0 at byte 1: it is not an object");
	assert_refused("17", "node 0 at byte 1: it is not an object");
	assert_refused("\"text\"", "node 0 at byte 1: it is not an object");
	assert_refused("false", "node 0 at byte 1: it is not an object");
	assert_refused("[[{}]]", "node 0 at byte 1: it is not an object");
	assert_refused("{}", "node 0 at byte 1: it has no node_type");
	assert_refused("{\"node_type\":5}", "node 0 at byte 1: it has no node_type");
	assert_refused("{\"node_type\":\"buffer\"}", "node 0 at byte 1: buffer without params");
	assert_refused("{\"node_type\":\"buffer\",\"params\":{}}", "node 0 at byte 1: size of buffer is missing");
	assert_refused("{\"node_type\":\"buffer\",\"params\":{\"size\":1}}",
		"node 0 at byte 1: type of buffer is neither DRAM nor L1");
	assert_refused("{\"node_type\":\"buffer\",\"params\":{\"type\":\"L1\",\"size\":-1}}",
		"node 0 at byte 1: size of buffer is negative");
	assert_refused("{\"node_type\":\"buffer\",\"params\":{\"type\":\"L1\",\"size\":\"big\"}}",
		"node 0 at byte 1: size of buffer is not a number");
	assert_refused("{\"node_type\":\"buffer\",\"params\":{\"type\":\"L1\",\"size\":{\"a\":[1]}}}",
		"node 0 at byte 1: size of buffer is not a number");
	assert_refused("{\"node_type\":\"buffer\",\"params\":{\"type\":\"L1\",\"size\":99999999999999999999}}",
		"node 0 at byte 1: size of buffer does not fit 64 bits");
	assert_refused("{\"node_type\":\"buffer\",\"params\":{\"type\":\"L1\",\"size\":1e300}}",
		"node 0 at byte 1: size of buffer does not fit 64 bits");
	assert_refused("{\"node_type\":\"buffer\",\"params\":{\"type\":\"L1\",\"size\":9223372036854775807}}",
		"node 0 at byte 1: size of buffer is larger than any memory");
	assert_refused("{\"node_type\":\"buffer\",\"params\":{\"type\":\"L1\",\"size\":1,\"device_id\":-3}}",
		"node 0 at byte 1: device_id of buffer is negative");
	assert_refused("{\"node_type\":\"buffer_allocate\",\"params\":{\"type\":\"L1\",\"size\":1,\"max_size_per_"
		       "bank\":null}}",
		"node 0 at byte 1: max_size_per_bank of buffer_allocate is not a number");
	assert_refused("{\"node_type\":\"buffer_deallocate\",\"params\":{\"type\":\"L1\"}}",
		"node 0 at byte 1: connections[0] of buffer_deallocate is missing");
	assert_refused("{\"node_type\":\"circular_buffer_allocate\",\"params\":{\"size\":1,\"core_range_set\":\"{[0-0 "
		       "- 40-0]}\"}}",
		"node 0 at byte 1: core_range_set of circular_buffer_allocate has a core outside a grid of 32 x 32");
	assert_refused("{\"node_type\":\"scratchpad_allocate\",\"params\":{\"size\":1,\"core_range_set\":\"all\"}}",
		"node 0 at byte 1: core_range_set of scratchpad_allocate is not a set of core ranges");
	static const char *const values[] = { "5", "null", "true", "[1]", "{\"a\":1}" };
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		char node[160];
		snprintf(node, sizeof node,
			"{\"node_type\":\"scratchpad_allocate\",\"params\":{\"core_range_set\":%s,\"size\":1}}",
			values[i]);
		assert_refused(
			node, "node 0 at byte 1: core_range_set of scratchpad_allocate is not a set of core ranges");
	}
}

static void assert_ends(const char *text, const char *why, uint64_t nodes)
{
	struct capture_run *run = capture_read(text);
	assert_true(run->err < 0);
	if (strcmp(run->diag.text, why) != 0)
		fail_msg("'%s' for %s", run->diag.text, text);
	assert_int_equal(run->counts.nodes, nodes);
	capture_done(run);
}

static void text_that_is_no_json_ends_the_reading_with_its_position(void **state)
{
	(void)state;
	assert_ends("", "the file is empty", 0);
	assert_ends("[{\"node_type\":\"tensor\"},{\"node_ty", "byte 33, after node 1: the file ends too early", 1);
	assert_ends("[{\"node_type\":\"tensor\"}", "byte 23, after node 1: the file ends too early", 1);
	assert_ends("[{\"node_type\":\"tensor\"} {}]",
		"byte 25, after node 1: parse error: after array element, I expect ',' or ']'", 1);
	assert_ends("{\"version\":1}", "it has no nodes: not a graph capture", 0);
	assert_ends("17", "it has no nodes: not a graph capture", 0);
	assert_ends("\x01\x02", "byte 1, after node 0: lexical error: invalid char in json text", 0);
}

static void nesting_and_long_numbers_are_bounded(void **state)
{
	size_t len = TDM_CAPTURE_STRING_MAX * 2;
	char *text = malloc(len + 64);
	(void)state;
	assert_non_null(text);
	memset(text, '[', 1000);
	text[1000] = '\0';
	struct capture_run *run = capture_read(text);
	assert_int_equal(run->err, -E2BIG);
	assert_non_null(strstr(run->diag.text, "arrays and objects are nested too deeply"));
	capture_done(run);
	size_t at = (size_t)sprintf(text, "[{\"node_type\":\"tensor\"},{\"counter\":");
	memset(text + at, '1', len);
	run = capture_read_pieces(text, at + len, 1 << 16);
	assert_int_equal(run->err, -E2BIG);
	assert_int_equal(run->counts.nodes, 1);
	assert_non_null(strstr(run->diag.text, "a number of more than 4 MiB"));
	assert_true(run->counts.bytes < (uint64_t)TDM_CAPTURE_STRING_MAX + (1 << 17)); /* it did not go on */
	capture_done(run);
	free(text);
}

/* The end of a long text is left out, wherever pieces of the file and escapes are cut; what follows it is read. */
static void a_long_text_costs_one_warning(void **state)
{
	static const char *const fillings[] = { "x", "\\\\", "\\\"", "\\u00e9", "\\\\\\\"ab", "12345" };
	static const size_t pieces[] = { 1048573, 1 << 20 };
	size_t cap = (size_t)TDM_CAPTURE_STRING_MAX * 3 + 256;
	char *text = malloc(cap);
	(void)state;
	assert_non_null(text);
	for (size_t f = 0; f < sizeof fillings / sizeof *fillings; f++)
		for (size_t k = 0; k < (size_t)full_size(2, 1); k++) {
			size_t at = (size_t)sprintf(text, "[{\"node_type\":\"tensor\"},{\"arguments\":[\"");
			for (size_t len = strlen(fillings[f]); at < (size_t)TDM_CAPTURE_STRING_MAX * 3; at += len)
				memcpy(text + at, fillings[f], len);
			at += (size_t)sprintf(
				text + at, "\"],\"node_type\":\"tensor\"},{\"node_type\":\"capture_end\"}]");
			struct capture_run *run = capture_read_pieces(text, at, pieces[k]);
			assert_int_equal(run->err, 0);
			assert_int_equal(run->counts.nodes, 3);
			assert_int_equal(run->counts.bytes, at);
			assert_int_equal(run->counts.cut_texts, 1);
			assert_int_equal(run->refusals, 1);
			assert_non_null(strstr(run->refusal[0], "after node 1: a text of more than 4 MiB"));
			capture_done(run);
		}
	free(text);
}

static void unknown_types_are_counted_and_do_no_harm(void **state)
{
	(void)state;
	struct capture_run *run = capture_read(
		"[" NODE(0, "capture_start", "", "null") "," NODE(1, "semaphore_allocate", "", "{\"size\":\"x\"}") "]");
	assert_int_equal(run->refusals, 0);
	assert_int_equal(run->counts.other_types, 1);
	capture_done(run);
}

static int note_error(void *to, const struct tdm_record *record)
{
	const struct tdm_capture_node *node = record->node;
	assert_true(record->type == TDM_RECORD_NODE && node->usable);
	if (node->type == TDM_CAPTURE_ERROR)
		tdm_buf_printf(
			to, "%d in %.*s: %.*s;", (int)node->index, TDM_STR_ARG(node->name), TDM_STR_ARG(node->error));
	return 0;
}

static void errors_are_nodes_of_their_own(void **state)
{
	static const char text[] = "[" NODE(0, "capture_start", "", "null") "," NODE(1, "error", "",
		"{\"error_message\":\"no\\nroom\",\"error_operation\":\"ttnn.add\",\"error_type\":\"E\"}") "," NODE(2,
		"error", "", "null") "]";
	struct tdm_diag diag = { 0 };
	struct tdm_buf said;
	(void)state;
	tdm_buf_init(&said);
	struct tdm_capture_json *json = tdm_capture_json_new(&(struct tdm_record_sink){ &said, note_error });
	assert_int_equal(tdm_capture_json_feed(json, text, sizeof text - 1, &diag), 0);
	assert_int_equal(tdm_capture_json_end(json, &diag), 0);
	assert_string_equal(tdm_buf_str(&said).ptr, "1 in ttnn.add: no\nroom;2 in : ;");
	assert_int_equal(tdm_capture_json_counts(json)->other_types, 0);
	tdm_capture_json_free(json);
	tdm_buf_done(&said);
}

static void releases_without_an_allocation_are_counted(void **state)
{
	(void)state;
	struct capture_run *run = capture_read("[" NODE(0, "buffer", "", BUFFER_PARAMS) "," NODE(
		1, "buffer_allocate", "0", ALLOC_PARAMS) "," NODE(2, "buffer_allocate", "0", ALLOC_PARAMS) "," NODE(3,
		"buffer_deallocate", "0", ALLOC_PARAMS) "," NODE(4, "buffer_deallocate", "0", ALLOC_PARAMS) "," NODE(5,
		"buffer_deallocate", "77", ALLOC_PARAMS) "]");
	assert_int_equal(run->summary.exact.rereports, 1);
	assert_int_equal(run->summary.exact.double_frees, 1);
	assert_int_equal(run->summary.exact.unknown_frees, 1);
	assert_right(run, TDM_STOCK_CORE_PEAK_L1, 2048);
	assert_int_equal(run->summary.exact.units[0].kinds[TDM_KIND_L1].now, 0);
	capture_done(run);
}

/* ---- what was there at the peak ---- */

/* A buffer of before the capture is freed, and its node allocated again: both lives are accounted for. */
static void a_node_that_is_used_again_has_two_lives(void **state)
{
	(void)state;
	struct capture_run *run = capture_read("[" NODE(0, "capture_start", "1", "null") "," NODE(
		1, "buffer", "", BUFFER_PARAMS) "," NODE(2, "tensor", "", "null") "," NODE(3, "buffer_deallocate", "1",
		ALLOC_PARAMS) "," NODE(4, "buffer_allocate", "1", ALLOC_PARAMS) "]");
	const struct tdm_capture_exact *e = &run->summary.exact;
	assert_true(capture_is_valid(e));
	assert_int_equal(e->buffer_count, 2);
	assert_true(e->buffers[0].index == 1 && !e->buffers[0].existed && e->buffers[0].from == 4);
	assert_true(e->buffers[0].state == TDM_EXACT_LIVE && e->buffers[0].to == TDM_EXACT_NEVER);
	assert_true(e->buffers[1].existed && e->buffers[1].state == TDM_EXACT_FREED && e->buffers[1].to == 3);
	assert_int_equal(e->units[0].kinds[TDM_KIND_L1].now, 0); /* as much as before the capture */
	assert_int_equal(e->units[0].kinds[TDM_KIND_L1].existing, 1);
	capture_done(run);
}

static void what_was_alive_at_the_peak_is_known_with_its_maker(void **state)
{
	(void)state;
	struct capture_run *run = capture_read(today);
	const struct tdm_capture_exact *e = &run->summary.exact;
	const struct tdm_exact_buffer *alive[2];
	struct tdm_buf path;
	size_t count;
	assert_int_equal(tdm_capture_exact_alive(e, 0, 1U << TDM_KIND_L1, e->units[0].core.at, alive, 2), 1);
	assert_int_equal(alive[0]->index, 2);
	assert_string_equal(tdm_capture_paths_text_of(&e->paths, alive[0]->shape), "[1, 3, 32, 32] BFLOAT16");
	tdm_buf_init(&path);
	tdm_capture_paths_put(&e->paths, alive[0]->path, &path);
	assert_string_equal(path.data, "ttnn.add");
	tdm_buf_done(&path);
	const struct tdm_exact_program *program = tdm_capture_exact_program(e, 0, &count);
	assert_int_equal(count, 1);
	assert_int_equal(program[0].size, 4096);
	assert_int_equal(program[0].cores, 64);
	assert_int_equal(program[0].address, 105664);
	capture_done(run);
}

/* ---- events ---- */

static struct tdm_event next(struct tdm_source *source)
{
	struct tdm_event event;
	struct tdm_diag diag = { 0 };
	int got = tdm_source_next(source, &event, &diag);
	if (got != 1)
		fail_msg("no event but %d: %s", got, diag.text);
	assert_true(tdm_event_is_valid(&event));
	return event;
}

static void a_capture_is_a_source_of_events(void **state)
{
	static const char text[] = "[" NODE(
		0, "function_start", "", "{\"inputs\":\"1\",\"name\":\"ttnn.add\"}") "," NODE(1, "buffer", "",
		BUFFER_PARAMS) "," NODE(2, "function_start", "", "{\"inputs\":\"1\",\"name\":\"create\"}") "," NODE(3,
		"buffer", "", BUFFER_PARAMS) "," NODE(4, "buffer_allocate", "3", ALLOC_PARAMS) "," NODE(5,
		"function_end", "", "{\"name\":\"create\"}") "," NODE(6, "circular_buffer_allocate", "",
		CB_PARAMS(0, 0, "{[0-0 - 7-7], [0-8 - 3-8]}", 4096)) "," NODE(7, "buffer", "", "{}") "," NODE(8,
		"circular_buffer_deallocate_all", "",
		"{\"device_id\":0}") "," NODE(9, "buffer_deallocate", "3", ALLOC_PARAMS) "]";
	struct tdm_diag diag = { 0 };
	(void)state;
	struct test_source s = source_of_text("graph_capture", text, sizeof text - 1);
	struct tdm_source *source = s.source;
	struct tdm_event event = next(source);
	assert_int_equal(event.op, TDM_OP_PROGRAM);
	assert_true(tdm_str_is(event.name, "ttnn.add"));
	event = next(source); /* it was there before */
	assert_true(event.op == TDM_OP_ALLOC && event.id == 1 && event.kind == TDM_KIND_L1 && event.size == 6144);
	assert_true(event.bytes_per_bank == TDM_SIZE_UNKNOWN && event.address == TDM_ADDRESS_UNKNOWN);
	assert_int_equal(next(source).op, TDM_OP_PROGRAM);
	event = next(source);
	assert_true(
		event.op == TDM_OP_ALLOC && event.id == 3 && event.bytes_per_bank == 2048 && event.address == 1492992);
	assert_true(tdm_str_is(event.name, "create") && tdm_str_is(event.program, "ttnn.add"));
	assert_true(event.page_size == 2048 && event.position != 0);
	event = next(source);
	assert_true(event.op == TDM_OP_ALLOC && event.kind == TDM_KIND_CB && event.id == 6 && event.banks == 68);
	assert_true(event.address == TDM_ADDRESS_UNKNOWN);
	assert_int_equal(tdm_source_next(source, &event, &diag), TDM_ESYNTAX);
	assert_non_null(strstr(diag.text, "size of buffer is missing"));
	assert_int_equal(source->refused, 1);
	event = next(source);
	assert_true(event.op == TDM_OP_FREE && event.kind == TDM_KIND_CB && event.id == 6);
	event = next(source);
	assert_true(event.op == TDM_OP_FREE && event.kind == TDM_KIND_L1 && event.id == 3);
	assert_int_equal(tdm_source_next(source, &event, &diag), 0);
	assert_int_equal(tdm_source_next(source, &event, &diag), 0);
	source_done(&s);
}

static void a_device_is_described_before_its_first_buffer(void **state)
{
	static const char text[] =
		"{\"devices\":[{\"device_id\":4,\"arch\":\"blackhole\",\"num_dram_channels\":8},{\"device_id\":5,"
		"\"arch\":"
		"\"wormhole_b0\",\"worker_l1_size\":1499136,\"l1_num_banks\":64,\"l1_bank_size\":1360704,"
		"\"address_at_first_l1_cb_buffer\":105664,\"num_dram_channels\":12,\"dram_size_per_channel\":"
		"1073741824}],"
		"\"graph\":[" NODE(0, "buffer", "", "{\"device_id\":5,\"size\":64,\"type\":\"L1\"}") "," NODE(
			1, "buffer", "", "{\"device_id\":5,\"size\":64,\"type\":\"L1\"}") "," NODE(2, "buffer", "",
			"{\"device_id\":4,\"size\":64,\"type\":\"L1\"}") "]}";
	struct test_source s = source_of_text("graph_capture", text, sizeof text - 1);
	struct tdm_diag diag = { 0 };
	(void)state;
	struct tdm_event event = next(s.source);
	assert_true(event.op == TDM_OP_DEVICE && event.device == 5);
	assert_true(tdm_str_is(event.text, "device n150 l1_banks=64 l1_size=1499136 l1_base=105664 l1_small=32768 "
					   "dram_banks=12 dram_bank_size=1073741824"));
	assert_int_equal(next(s.source).op, TDM_OP_ALLOC);
	assert_int_equal(next(s.source).op, TDM_OP_ALLOC);
	event = next(s.source);
	assert_true(event.device == 4 && tdm_str_is(event.text, "device p150 dram_banks=8"));
	assert_int_equal(next(s.source).device, 4);
	assert_int_equal(tdm_source_next(s.source, &event, &diag), 0);
	source_done(&s);
}

/* Events come first, then why there are no more, once. */
static void errors_about_memory_are_events(void **state)
{
	static const char text[] = "[" NODE(0, "error", "",
		"{\"error_message\":\"Shapes differ\",\"error_operation\":\"ttnn.add\"}") "," NODE(1, "error", "",
		"{\"error_message\":\"x\\ninfo:\\nOut of Memory: Not enough space to allocate 4096 B DRAM buffer "
		"across 4 "
		"banks, where each bank needs to store 1024 B\",\"error_operation\":\"ttnn.add\"}") "," NODE(2, "error",
		"",
		"{\"error_message\":\"Statically allocated circular buffers on core range [0-0 - 1-1] grow to 5 B "
		"which is "
		"beyond max L1 size of 4 B\"}") "]";
	struct test_source s = source_of_text("graph_capture", text, sizeof text - 1);
	struct tdm_source *source = s.source;
	struct tdm_diag diag = { 0 };
	(void)state;
	struct tdm_event event = next(source);
	assert_true(event.op == TDM_OP_OOM && event.kind == TDM_KIND_DRAM && event.size == 4096);
	assert_true(event.banks == 4 && event.bytes_per_bank == 1024 && tdm_str_is(event.program, "ttnn.add"));
	event = next(source);
	assert_true(event.op == TDM_OP_OOM && event.kind == TDM_KIND_CB && event.size == TDM_SIZE_UNKNOWN);
	assert_int_equal(tdm_source_next(source, &event, &diag), 0);
	source_done(&s);
}

static void a_cut_capture_gives_its_events_and_then_an_error(void **state)
{
	static const char text[] = "[" NODE(0, "function_start", "", "{\"name\":\"f\"}") ",{";
	struct tdm_event event;
	struct tdm_diag diag = { 0 };
	(void)state;
	struct test_source s = source_of_text("graph_capture", text, sizeof text - 1);
	struct tdm_source *source = s.source;
	assert_int_equal(next(source).op, TDM_OP_PROGRAM);
	assert_int_equal(tdm_source_next(source, &event, &diag), TDM_ESYNTAX);
	assert_non_null(strstr(diag.text, "the file ends too early"));
	assert_int_equal(tdm_source_next(source, &event, &diag), 0);
	assert_int_equal(source->refused, 1);
	source_done(&s);
}

/* ---- telling captures from other files ---- */

static bool detects(const char *head)
{
	return tdm_format_find("graph_capture")->recognise(tdm_str_of(head), "x");
}

static void captures_are_told_from_other_files(void **state)
{
	(void)state;
	assert_true(detects("[{\"arguments\": [],"));
	assert_true(detects("\r\n [ \n { \"connections\":["));
	assert_true(detects("{\n  \"buffer_pages\": ["));
	assert_true(detects("{\"version\":1"));
	assert_true(detects("[]"));
	assert_false(detects(""));
	assert_false(detects("["));
	assert_false(detects("[1,2]"));
	assert_false(detects("[{\"name\":1}]"));
	assert_false(detects("{\"dram\": {"));
	assert_false(detects("# text"));
	assert_false(detects(", Total Allocatable Size (B)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(core_ranges_of_both_forms_are_read),
		cmocka_unit_test(bad_core_ranges_are_refused),
		cmocka_unit_test(a_bare_array_and_a_report_are_the_same_capture),
		cmocka_unit_test(pieces_and_line_ends_make_no_difference),
		cmocka_unit_test(keys_of_a_node_may_come_in_any_order),
		cmocka_unit_test(old_captures_are_read),
		cmocka_unit_test(a_bad_node_costs_one_refusal_with_its_position),
		cmocka_unit_test(text_that_is_no_json_ends_the_reading_with_its_position),
		cmocka_unit_test(nesting_and_long_numbers_are_bounded),
		cmocka_unit_test(a_long_text_costs_one_warning),
		cmocka_unit_test(unknown_types_are_counted_and_do_no_harm),
		cmocka_unit_test(errors_are_nodes_of_their_own),
		cmocka_unit_test(releases_without_an_allocation_are_counted),
		cmocka_unit_test(a_node_that_is_used_again_has_two_lives),
		cmocka_unit_test(what_was_alive_at_the_peak_is_known_with_its_maker),
		cmocka_unit_test(a_capture_is_a_source_of_events),
		cmocka_unit_test(a_device_is_described_before_its_first_buffer),
		cmocka_unit_test(errors_about_memory_are_events),
		cmocka_unit_test(a_cut_capture_gives_its_events_and_then_an_error),
		cmocka_unit_test(captures_are_told_from_other_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
