/* Choosing, sorting and adding up live buffers; text cells; durations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/live/live_buffers.h"
#include "base/units.h"
#include "base/err.h"
#include "view/write/cell.h"
#include "state_make.h"

static struct tdm_state *sample(void)
{
	static const struct {
		uint32_t device;
		enum tdm_kind kind;
		uint64_t id, size, time;
		const char *name;
		uint64_t frame;
	} buffers[] = {
		{ 0, TDM_KIND_DRAM, 1, 300, 50, "b", 0x10 },
		{ 0, TDM_KIND_L1, 2, 100, 10, "a", 0x10 },
		{ 1, TDM_KIND_DRAM, 3, 200, 0, "b", 0x20 },
		{ 0, TDM_KIND_DRAM, 4, 200, 30, "", 0x10 },
		{ 0, TDM_KIND_DRAM, 5, 50, 20, "", 0x10 },
		{ 0, TDM_KIND_DRAM, 6, 5, 20, "", 0x20 },
	};
	struct tdm_state *state = state_new();
	describe_process(&state->fold, 0, who(100));
	describe_process(&state->fold, 1, who(101));
	for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
		struct tdm_frame frame = { .address = buffers[i].frame };
		struct tdm_event event =
			alloc_of(0, buffers[i].device, buffers[i].kind, buffers[i].id, buffers[i].size);
		event.address = 1000 - buffers[i].id;
		event.time_ns = buffers[i].time;
		event.name = tdm_str_of(buffers[i].name);
		event.frames = &frame;
		event.frame_count = 1;
		apply(&state->fold, event);
	}
	return state;
}

static void expect_order(
	const struct tdm_picture *picture, struct tdm_buffer_filter filter, enum tdm_buffer_sort sort, const char *ids)
{
	size_t count;
	char found[32] = "";
	struct tdm_buffer_ref *list = tdm_live_buffers(picture, 0, &filter, sort, &count);
	assert_non_null(list);
	for (size_t i = 0; i < count; i++) {
		found[i] = (char)('0' + list[i].buffer->id);
		assert_int_equal(picture->holdings[list[i].holding].number, list[i].buffer->id == 3);
	}
	assert_string_equal(found, ids);
	free(list);
}

static void orders_and_filters(void **context)
{
	struct tdm_buffer_filter all = { 0 };
	struct tdm_buffer_filter dram = { .has_kind = true, .kind = TDM_KIND_DRAM };
	struct tdm_buffer_filter second = { .has_device = true, .device = 1 };
	(void)context;
	struct tdm_state *state = sample();
	const struct tdm_picture *picture = picture_of(state);
	expect_order(picture, all, TDM_SORT_SIZE, "143256");
	expect_order(picture, all, TDM_SORT_AGE, "265413");
	expect_order(picture, all, TDM_SORT_SITE, "654213");
	expect_order(picture, all, TDM_SORT_ADDRESS, "654123");
	expect_order(picture, dram, TDM_SORT_SIZE, "14356");
	expect_order(picture, second, TDM_SORT_SIZE, "3");
	tdm_state_free(state);
}

static void sites(void **context)
{
	struct tdm_site *list;
	size_t count;
	(void)context;
	struct tdm_state *state = sample();
	const struct tdm_picture *picture = picture_of(state);
	list = tdm_sites_find(picture, TDM_INDEX_NONE, &count);
	assert_int_equal(count, 4); /* b; the stack 0x10 of those without a name; a; the stack 0x20 */
	assert_string_equal(tdm_picture_text(picture, list[0].name), "b");
	assert_int_equal(list[0].count, 2);
	assert_int_equal(list[0].reserved_bytes, 500);
	assert_int_equal(list[0].stack, 0); /* they have different ones */
	assert_int_equal(list[0].oldest_ns, 50);
	assert_int_equal(list[1].name, 0);
	assert_int_equal(list[1].count, 2);
	assert_int_equal(list[1].oldest_ns, 20);
	assert_true(list[1].stack != 0);
	assert_int_equal(list[2].kind, TDM_KIND_L1);
	assert_int_equal(list[3].reserved_bytes, 5);
	free(list);
	list = tdm_sites_find(picture, 1, &count);
	assert_int_equal(count, 0); /* the second process has none */
	free(list);
	tdm_state_free(state);
}

static void expect_cell(const char *text, size_t columns, bool utf8, const char *expected)
{
	struct tdm_buf out = { 0 };
	tdm_buf_puts(&out, ">");
	size_t used = tdm_cell_put(&out, tdm_str_of(text), columns, utf8);
	assert_string_equal(out.data + 1, expected);
	assert_true(columns == 0 || used <= columns);
	tdm_buf_done(&out);
}

static void cells(void **state)
{
	(void)state;
	expect_cell("", 0, true, "");
	expect_cell("plain", 0, true, "plain");
	expect_cell("plain", 5, true, "plain");
	expect_cell("plain", 4, true, "p...");
	expect_cell("plain", 3, true, "pla");
	expect_cell("a\033[1mb\n\x7f", 0, true, "a?[1mb??");
	expect_cell("\xc3\xa4\xe2\x82\xac", 0, true, "\xc3\xa4\xe2\x82\xac");
	expect_cell("\xc3\xa4\xe2\x82\xac", 0, false, "??");
	expect_cell("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 4, true, "\xc3\xa4...");
	expect_cell("\xc3", 0, true, "?");
	expect_cell("\xe2\x82x", 0, true, "??x");
	expect_cell("\xc2\x9b", 0, true, "??"); /* a control character in two bytes */
	expect_cell("\xff\xfe", 0, true, "??");
	struct tdm_buf out = { 0 };
	tdm_buf_puts(&out, "x   ");
	tdm_cell_trim(&out);
	assert_string_equal(out.data, "x");
	tdm_buf_done(&out);
}

static void expect_duration(uint64_t ns, const char *expected)
{
	char text[TDM_DURATION_CAP];
	assert_string_equal(tdm_format_duration(text, sizeof text, ns), expected);
	assert_true(strlen(text) <= TDM_DURATION_COLUMNS);
}

static void durations(void **state)
{
	const uint64_t s = UINT64_C(1000000000);
	char text[TDM_DURATION_CAP];
	(void)state;
	expect_duration(0, "0 ns");
	expect_duration(999, "999 ns");
	expect_duration(1000, "1 us");
	expect_duration(999999, "999 us");
	expect_duration(1000000, "1 ms");
	expect_duration(s - 1, "999 ms");
	expect_duration(s, "1.0 s");
	expect_duration(9990000000, "9.9 s");
	expect_duration(10 * s, "10 s");
	expect_duration(310 * s, "5m 10s");
	expect_duration(3599 * s, "59m 59s");
	expect_duration(3600 * s, "1h 0m");
	expect_duration(86399 * s, "23h 59m");
	expect_duration(86400 * s * 3 + 4 * 3600 * s, "3d 4h");
	tdm_format_duration(text, sizeof text, UINT64_MAX);
	assert_true(strlen(text) < sizeof text);
}

static void test_parse_duration(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int err;
		uint64_t ns;
	} cases[] = {
		{ "30s", 0, UINT64_C(30000000000) },
		{ "30", 0, UINT64_C(30000000000) },
		{ " 200 ms ", 0, 200000000 },
		{ "1.5m", 0, UINT64_C(90000000000) },
		{ "0.25s", 0, 250000000 },
		{ "2h", 0, UINT64_C(7200000000000) },
		{ "1d", 0, UINT64_C(86400000000000) },
		{ "7us", 0, 7000 },
		{ "9ns", 0, 9 },
		{ "0", 0, 0 },
		{ "18446744073709551615ns", -ERANGE, 0 },
		{ "18446744073s", 0, UINT64_C(18446744073000000000) },
		{ "18446744074s", -ERANGE, 0 },
		{ "99999999999999999999", -ERANGE, 0 },
		{ "", TDM_ESYNTAX, 0 },
		{ "s", TDM_ESYNTAX, 0 },
		{ "-1s", TDM_ESYNTAX, 0 },
		{ "1.s", TDM_ESYNTAX, 0 },
		{ "1.0000000001s", TDM_ESYNTAX, 0 },
		{ "1 year", TDM_ESYNTAX, 0 },
		{ "1s2", TDM_ESYNTAX, 0 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint64_t ns = 0;
		if (tdm_parse_duration(tdm_str_of(cases[i].text), &ns) != cases[i].err || ns != cases[i].ns)
			fail_msg("'%s'", cases[i].text);
	}
}

/* Programs share the bytes of their circular buffers: these have no sum. */
static void shared_buffers_are_not_added_up(void **context)
{
	struct tdm_site *sites;
	size_t count;
	(void)context;
	struct tdm_state *state = state_new();
	describe_process(&state->fold, 0, who(100));
	for (uint64_t id = 1; id <= 4; id++) {
		struct tdm_event event = alloc_of(0, 0, TDM_KIND_CB, id, 1000);
		event.flags = id != 4 ? TDM_EVENT_SHARED : 0;
		event.name = tdm_str_of(id < 3 ? "matmul" : "other");
		apply(&state->fold, event);
	}
	sites = tdm_sites_find(picture_of(state), 0, &count);
	assert_int_equal(count, 2);
	assert_int_equal(sites[0].count, 2); /* one of them is not shared */
	assert_int_equal(sites[0].shared, 1);
	assert_int_equal(sites[0].reserved_bytes, 1000);
	assert_int_equal(sites[1].count, 2);
	assert_true(sites[1].reserved_bytes == TDM_BYTES_UNKNOWN && sites[1].asked_bytes == TDM_BYTES_UNKNOWN);
	free(sites);
	tdm_state_free(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_duration),
		cmocka_unit_test(shared_buffers_are_not_added_up),
		cmocka_unit_test(orders_and_filters),
		cmocka_unit_test(sites),
		cmocka_unit_test(cells),
		cmocka_unit_test(durations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
