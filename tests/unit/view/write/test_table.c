/* Tables: text and JSON of every type of member, unknown values, and cells that do not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/kind.h"
#include "view/write/table.h"

struct row {
	char name[16];
	const char *site;
	struct tdm_str path;
	uint8_t kind;
	bool is_view;
	uint32_t device;
	int32_t pid;
	uint64_t bytes, waits, waited_ns;
	int64_t change;
	double share;
};

#define ROW(member) TDM_MEMBER(struct row, member)

static const struct row known = { "matmul", "a.cpp:1", { "/x", 2 }, TDM_KIND_L1, true, 3, 42, UINT64_C(3) << 20, 2,
	1500000, -(INT64_C(2000) << 20), 0.8423 };
static const struct row unknown = { "", NULL, { "", 0 }, TDM_KIND_COUNT, false, UINT32_MAX, 0, UINT64_MAX, 0, 7,
	INT64_MIN, NAN };
static const struct tdm_term term = { .utf8 = false, .width = 60 };

static void expect_text(const struct tdm_table *table, const struct tdm_term *on, const char *wanted)
{
	struct tdm_buf out = { 0 };
	tdm_table_text(table, on, &out);
	assert_string_equal(tdm_buf_str(&out).ptr, wanted);
	tdm_buf_done(&out);
}

static void expect_json(const struct tdm_table *table, const char *wanted)
{
	struct tdm_buf out;
	struct tdm_json json;
	tdm_buf_init(&out);
	tdm_json_init(&json, &out);
	json.compact = true;
	tdm_table_json(table, &json);
	assert_string_equal(tdm_buf_str(&out).ptr, wanted);
	tdm_buf_done(&out);
}

static const void *row_of(const struct tdm_table *table, size_t i)
{
	(void)table;
	return i == 0 ? &known : &unknown;
}

static void every_type_is_known_or_unknown(void **state)
{
	static const struct tdm_column columns[] = {
		{ "Name", "name", ROW(name), .width = 6, .flags = TDM_ZERO_IS_UNKNOWN },
		{ "Site", "site", ROW(site), .width = 8 },
		{ NULL, "path", ROW(path) },
		{ "Kind", "kind", ROW(kind), .flags = TDM_IS_KIND, .width = 8 },
		{ "View", "view", ROW(is_view), .width = 4 },
		{ "Dev", "device", ROW(device), .width = 3 },
		{ "PID", "pid", ROW(pid), .width = 3, .flags = TDM_ZERO_IS_UNKNOWN },
		{ "Size", "bytes", ROW(bytes), TDM_BYTES },
		{ "Wait", "wait_ns", ROW(waited_ns), TDM_KNOWN_IF(struct row, waits), TDM_DURATION(5) },
		{ "MiB", "change", ROW(change), .format = tdm_format_mib, .flags = TDM_WITH_SIGN, .width = 9 },
		{ "Used", "share", ROW(share), .decimals = 1, .width = 6 },
	};
	struct tdm_table table = { TDM_COLUMNS(columns), .row = row_of, .count = 2, .gap = 1 };
	(void)state;
	expect_text(&table, &term,
		"Name   Site     Kind     View Dev PID       Size  Wait       MiB   Used\n"
		"matmul a.cpp:1  l1        yes   3  42    3.00MiB  1 ms -2,000.00  84.2%\n"
		"-      -        unknown    no   -   -          -     -         -      -\n");
	expect_json(&table,
		"[{\"name\": \"matmul\",\"site\": \"a.cpp:1\",\"path\": \"/x\",\"kind\": \"l1\",\"view\": "
		"true,\"device\": 3,"
		"\"pid\": 42,\"bytes\": 3145728,\"wait_ns\": 1500000,\"change\": -2097152000,\"share\": 0.8423},"
		"{\"name\": null,\"site\": null,\"path\": \"\",\"kind\": null,\"view\": false,\"device\": "
		"null,\"pid\": null,"
		"\"bytes\": null,\"wait_ns\": null,\"change\": null,\"share\": null}]\n");
}

static void every_form_of_a_number(void **state)
{
	static const struct tdm_column columns[] = {
		{ "plain", NULL, ROW(bytes) },
		{ "count", NULL, ROW(bytes), TDM_COUNT(0) },
		{ "size", NULL, ROW(bytes), TDM_SIZE(0) },
		{ "clock", NULL, ROW(waited_ns), .format = tdm_format_clock },
		{ "share", NULL, ROW(share), .flags = TDM_WITH_SIGN },
		{ "MiB", NULL, ROW(change), .format = tdm_format_mib },
		{ "change", NULL, ROW(change), TDM_COUNT(0) },
	};
	struct tdm_table table = { TDM_COLUMNS(columns), &known, sizeof known, 1, .gap = 1, .indent = 2 };
	(void)state;
	expect_text(&table, &term,
		"  plain count size clock share MiB change\n"
		"  3145728 3,145,728 3 MiB 00:00:00.001 +84% -2,000.00 -2,097,152,000\n");
}

static struct tdm_value get_large_share(const struct tdm_field *field)
{
	(void)field;
	return tdm_value_share(24.007);
}

static void numbers_are_never_cut(void **state)
{
	static const struct tdm_column columns[] = {
		{ "size", NULL, ROW(bytes), .width = 4, .unknown = "unknown" },
		{ "wait", NULL, ROW(waited_ns), .width = 4 },
		{ "of", NULL, .get = get_large_share, .decimals = 1, .width = 5 },
		{ "site", NULL, ROW(site), .width = 4 },
	};
	struct tdm_table table = { TDM_COLUMNS(columns), .row = row_of, .count = 2, .gap = 1 };
	(void)state;
	expect_text(&table, &term, "size wait of    site\n3145728 1500000 2400.7% a...\nunknown    7 2400.7% -\n");
}

static struct tdm_value get_words(const struct tdm_field *field)
{
	return tdm_value_text(field->table->context);
}

static struct tdm_value get_pair(const struct tdm_field *field)
{
	return tdm_field_members(field,
		TDM_VALUES({ "x", tdm_value_number((uint64_t)field->column->arg) }, { "y", tdm_value_text(NULL) }));
}

static void cells_that_do_not_fit(void **state)
{
	static const char words[] = "one two three\tfour five six seven eight nine ten";
	struct tdm_column columns[] = {
		{ "A title", .get = get_words, .width = 8 },
		{ "second", "name", ROW(name), .width = 6, .flags = TDM_WHOLE, .before = 2 },
		{ "the\nrest", .get = get_words, .flags = TDM_WRAP },
		{ NULL, NULL, .get = get_pair, .arg = 1 },
		{ NULL, "in.pair", .get = get_pair, .arg = 2 },
		{ NULL, "in.", .get = get_pair, .arg = 3 },
	};
	struct tdm_table table = { TDM_COLUMNS(columns), &known, sizeof known, 1, .gap = 1, .context = words };
	const struct tdm_term narrow = { .width = 40 }, coloured = { .width = 40, .colour = true };
	(void)state;
	expect_text(&table, &narrow,
		"A title    second the\n"
		"                  rest\n"
		"one t...   matmul one two three four\n"
		"                  five six seven eight\n"
		"                  nine ten\n");
	expect_json(&table, "[{\"name\": \"matmul\",\"x\": 1,\"y\": null,"
			    "\"in\": {\"pair\": {\"x\": 2,\"y\": null},\"x\": 3,\"y\": null}}]\n");
	columns[2].flags = TDM_REST;
	table.hidden = 1;
	expect_text(&table, &coloured,
		TDM_STYLE_BOLD "  second the" TDM_STYLE_OFF "\n" TDM_STYLE_BOLD "         rest" TDM_STYLE_OFF "\n"
			       "  matmul one two three?four five six ...\n");
}

static void rows_that_are_not_shown_are_counted(void **state)
{
	static const struct tdm_column columns[] = { { "pid", "pid", ROW(pid), .width = 5 } };
	const struct row rows[] = { { .pid = 1 }, { .pid = 2 }, { .pid = 3 } };
	struct tdm_table table = { TDM_COLUMNS(columns), rows, sizeof *rows, 3, .limit = 1 };
	(void)state;
	expect_text(&table, &term, "  pid\n    1\n  and 2 more\n");
	table.dropped = 1000;
	expect_text(&table, &term, "  pid\n    1\n  and 1,002 more\n");
	expect_json(&table, "[{\"pid\": 1}]\n");
	table.count = 0;
	expect_text(&table, &term, "");
	expect_json(&table, "[]\n");
}

struct owner {
	int32_t pid;
	uint8_t has_user;
	uint64_t user;
};

struct place {
	uint16_t cores;
	const struct owner *owner;
};

static bool skip_empty(const struct tdm_table *table, const void *row)
{
	(void)table;
	return ((const struct place *)row)->cores == 0;
}

static struct tdm_value get_alarm(const struct tdm_field *field)
{
	struct tdm_value cores = tdm_field_member(field);
	return tdm_value_level(cores, cores.number > 100 ? TDM_LEVEL_DANGER : TDM_LEVEL_PLAIN);
}

static struct tdm_value get_below(const struct tdm_field *field)
{
	return tdm_value_text(((const struct place *)field->row)->owner == NULL ? field->table->context : NULL);
}

static void expect_markdown(const struct tdm_table *table, const char *wanted)
{
	struct tdm_buf out = { 0 };
	tdm_table_markdown(table, &out);
	assert_string_equal(tdm_buf_str(&out).ptr, wanted);
	tdm_buf_done(&out);
}

#define PLACE(member) TDM_MEMBER(struct place, member)
#define OWNER(member) TDM_VIA(struct place, owner, struct owner, member)

/* A row may point to what it shows; rows may be left out, and have lines of their own below them. */
static void rows_that_point_elsewhere(void **state)
{
	static const struct tdm_column columns[] = {
		{ "i", "index", TDM_INDEX, .width = 1 },
		{ "cores", "cores", PLACE(cores), .width = 5, .get = get_alarm },
		{ "pid", "pid", OWNER(pid), .width = 3 },
		{ "user", "user", OWNER(user), TDM_KNOWN_IF(struct owner, has_user), .width = 4 },
		{ NULL, NULL, .get = get_below, .flags = TDM_BELOW, .before = 2 },
		{ NULL, NULL, .get = get_below, .flags = TDM_BELOW | TDM_WHOLE, .before = 1 },
	};
	static const char words[] = "nobody's, because nobody has <said> to whom they belong";
	const struct tdm_term narrow = { .width = 40 };
	const struct owner known_owner = { 42, 1, 7 }, other = { 43, 0, 8 };
	const struct place places[] = { { 64, &known_owner }, { 0, &known_owner }, { 65535, &other }, { 1, NULL } };
	struct tdm_table table = { TDM_COLUMNS(columns), places, sizeof *places, 4, .gap = 1, .skip = skip_empty,
		.context = words };
	(void)state;
	expect_text(&table, &narrow,
		"i cores pid user\n"
		"0    64  42    7\n"
		"2 65535  43    -\n"
		"3     1   -    -\n"
		"  nobody's, because nobody has <said> to\n"
		"  whom they belong\n"
		" nobody's, because nobody has <said> to whom they belong\n");
	assert_false(tdm_table_is_nested(&table));
	expect_markdown(&table, "| i | cores | pid | user |\n"
				"|---:|---:|---:|---:|\n"
				"| 0 | 64 | 42 | 7 |\n"
				"| 2 | 65535 | 43 | - |\n"
				"| 3 | 1 | - | -<br>nobody's, because nobody has &lt;said&gt; to whom they belong"
				"<br>nobody's, because nobody has &lt;said&gt; to whom they belong |\n");
	expect_json(&table, "[{\"index\": 0,\"cores\": 64,\"pid\": 42,\"user\": 7},"
			    "{\"index\": 2,\"cores\": 65535,\"pid\": 43,\"user\": null},"
			    "{\"index\": 3,\"cores\": 1,\"pid\": null,\"user\": null}]\n");
	const struct tdm_term coloured = { .width = 40, .colour = true };
	table.rows = &places[2];
	table.count = 1;
	table.hidden = 1 << 2 | 1 << 3;
	expect_text(&table, &coloured,
		TDM_STYLE_BOLD "i cores" TDM_STYLE_OFF "\n0 " TDM_STYLE_RED "65535" TDM_STYLE_OFF "\n");
	expect_json(&table, "[{\"index\": 0,\"cores\": 65535}]\n");
	table.rows = &places[1];
	expect_text(&table, &term, "");
	expect_json(&table, "[]\n");
}

static struct tdm_value get_own_table(const struct tdm_field *field)
{
	static const struct tdm_column columns[] = { { "pid", "pid", TDM_MEMBER(struct owner, pid) } };
	const struct owner *owner = ((const struct place *)field->row)->owner;
	return owner == NULL ? tdm_value_text(NULL) : tdm_field_table(field, TDM_TABLE_OF(columns, owner, 1));
}

static void a_row_may_own_a_table(void **state)
{
	static const struct tdm_column columns[] = {
		{ "cores", "cores", PLACE(cores), .width = 5 },
		{ NULL, "owner", .get = get_own_table },
		{ NULL, NULL, .get = get_own_table, .flags = TDM_BELOW, .before = 3 },
	};
	const struct owner owner = { 42, 1, 7 };
	const struct place places[] = { { 64, NULL }, { 2, &owner } };
	struct tdm_table table = TDM_TABLE_OF(columns, places, 2);
	(void)state;
	expect_text(&table, &term, "cores\n   64\n    2\n   pid\n   42\n");
	expect_json(&table, "[{\"cores\": 64,\"owner\": null},{\"cores\": 2,\"owner\": [{\"pid\": 42}]}]\n");
	assert_true(tdm_table_is_nested(&table));
	table.hidden = 1 << 2; /* JSON alone shows the table */
	expect_text(&table, &term, "cores\n   64\n    2\n");
	assert_false(tdm_table_is_nested(&table));
}

static void sizes_of_a_row_or_of_a_column_have_one_unit(void **state)
{
	static const struct tdm_column columns[] = {
		{ "Used", "used", ROW(bytes), TDM_BYTES },
		{ "Peak", "peak", ROW(waits), TDM_BYTES, .before = 1 },
	};
	static const struct row rows[] = { { .bytes = 3 << 20, .waits = UINT64_C(5) << 30 },
		{ .bytes = 64 << 20, .waits = UINT64_C(9) << 30 }, { .bytes = 0, .waits = 256 << 20 } };
	struct tdm_table table = { TDM_COLUMNS(columns), rows, sizeof *rows, 3 };
	(void)state;
	expect_text(&table, &term,
		"      Used       Peak\n   3.00MiB    5.00GiB\n  64.00MiB    9.00GiB\n       0 B  256.00MiB\n");
	table.units = TDM_UNITS_ROW;
	expect_text(&table, &term,
		"      Used       Peak\n   3.00MiB 5120.00MiB\n  0.062GiB    9.00GiB\n       0 B  256.00MiB\n");
	table.units = TDM_UNITS_COLUMN;
	expect_text(&table, &term,
		"      Used       Peak\n   3.00MiB    5.00GiB\n  64.00MiB    9.00GiB\n       0 B    0.25GiB\n");
	table.limit = 1;
	expect_text(&table, &term, "      Used       Peak\n   3.00MiB    5.00GiB\n  and 2 more\n");
	expect_json(&table, "[{\"used\": 3145728,\"peak\": 5368709120}]\n");
}

static void wide_tables_go_on_below(void **state)
{
	static const struct tdm_column columns[] = {
		{ "Name", "name", ROW(name), .width = 10 },
		{ NULL, "hidden", ROW(pid) },
		{ "Used", "used", ROW(bytes), TDM_SIZE(12) },
		{ "Waits", "waits", ROW(waits), .width = 12 },
		{ "Share", "share", ROW(share), .width = 12 },
	};
	static const struct row rows[] = { { .name = "a", .bytes = 1024, .waits = 7, .share = 0.5 },
		{ .name = "b", .bytes = 2048, .waits = 8, .share = 0.25 }, { .name = "c" } };
	struct tdm_table table = TDM_TABLE_OF(columns, rows, 3);
	struct tdm_term narrow = { .width = 40, .folds = true };
	(void)state;
	table.limit = 2;
	expect_text(&table, &narrow,
		"Name               Used        Waits\n"
		"a                 1 KiB            7\n"
		"b                 2 KiB            8\n"
		"Name              Share\n"
		"a                   50%\n"
		"b                   25%\n"
		"  and 1 more\n");
	narrow.width = 49;
	expect_text(&table, &narrow,
		"Name               Used        Waits        Share\n"
		"a                 1 KiB            7          50%\n"
		"b                 2 KiB            8          25%\n"
		"  and 1 more\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_is_known_or_unknown),
		cmocka_unit_test(every_form_of_a_number),
		cmocka_unit_test(numbers_are_never_cut),
		cmocka_unit_test(cells_that_do_not_fit),
		cmocka_unit_test(rows_that_are_not_shown_are_counted),
		cmocka_unit_test(sizes_of_a_row_or_of_a_column_have_one_unit),
		cmocka_unit_test(rows_that_point_elsewhere),
		cmocka_unit_test(a_row_may_own_a_table),
		cmocka_unit_test(wide_tables_go_on_below),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
