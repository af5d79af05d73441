/* Markdown: no text, however hostile, is taken for markup. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "view/write/write.h"
#include "view/write/table.h"

typedef void put(struct tdm_buf *out, struct tdm_str text);

static void expect(put *how, const char *text, const char *wanted)
{
	struct tdm_buf out = { 0 };
	how(&out, tdm_str_of(text));
	assert_string_equal(tdm_buf_str(&out).ptr, wanted);
	tdm_buf_done(&out);
}

static void plain_text_stays_as_it_is(void **state)
{
	(void)state;
	expect(tdm_markdown_text, "line 31: 1.5 GiB of dram (75%), 12 banks - full!",
		"line 31: 1.5 GiB of dram (75%), 12 banks - full!");
	expect(tdm_markdown_text, "", "");
	expect(tdm_markdown_text, "f\xc3\xbcr \xe2\x86\x92", "f\xc3\xbcr \xe2\x86\x92");
}

static void markup_is_escaped(void **state)
{
	(void)state;
	expect(tdm_markdown_text, "a*b_c`d|e~f$g\\h[i]j", "a\\*b\\_c\\`d\\|e\\~f\\$g\\\\h\\[i\\]j");
	expect(tdm_markdown_text, "<b>x</b> &amp;", "&lt;b&gt;x&lt;/b&gt; &amp;amp;");
	expect(tdm_markdown_text, "![x](javascript:y)", "!\\[x\\](javascript:y)");
}

static void nothing_becomes_a_link_or_the_name_of_a_user(void **state)
{
	(void)state;
	expect(tdm_markdown_text, "https://x.org", "https\\://x.org");
	expect(tdm_markdown_text, "www.x.org WWW.y", "www\\.x.org WWW\\.y");
	expect(tdm_markdown_text, "a@b.org @team", "a@<!-- -->b.org @<!-- -->team");
	expect(tdm_markdown_text, "o/r#12 GH-7 gh-7", "o/r#<!-- -->12 GH-<!-- -->7 gh-<!-- -->7");
	expect(tdm_markdown_text, "# # a-7 H-7 -7 GH- c#", "# # a-7 H-7 -7 GH- c#");
}

static void bytes_that_are_no_text_become_question_marks(void **state)
{
	(void)state;
	expect(tdm_markdown_text, "a\nb\r\x1b[31m\xff\xc3", "a?b??\\[31m??");
	expect(tdm_markdown_block, "a\x1b\nb\xff\n", "```text\na?\nb?\n```\n");
}

static void a_block_has_a_fence_that_it_does_not_contain(void **state)
{
	(void)state;
	expect(tdm_markdown_block, "x\n````\ny", "`````text\nx\n````\ny\n`````\n");
	expect(tdm_markdown_block, "", "```text\n```\n");
}

/* Checks that every character with a meaning has lost it, and that the text is on one line. */
static void expect_harmless(struct tdm_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		assert_true((unsigned char)text.ptr[i] >= ' ');
		if (text.ptr[i] == '\\') {
			i++; /* the next one is escaped */
			assert_true(i < text.len);
		} else if (text.ptr[i] == '<') {
			assert_memory_equal(text.ptr + i, "<!-- -->", 8);
			i += 7;
		} else {
			assert_null(strchr("`*_[]|~$>", text.ptr[i]));
		}
	}
}

static void random_text_is_harmless(void **state)
{
	static const char pieces[] = "\\`*_[]()|~$<>&@!#:/.-w\n\r\t\x1b\x7f\xff\xc3\xa9 a";
	uint64_t seed = 1;
	(void)state;
	for (int round = 0; round < 20000; round++) {
		char text[24];
		struct tdm_buf out;
		size_t len = (size_t)round % sizeof text;
		for (size_t i = 0; i < len; i++) {
			seed = tdm_hash_u64(seed + 1);
			text[i] = pieces[seed % (sizeof pieces - 1)];
		}
		tdm_buf_init(&out);
		tdm_markdown_text(&out, (struct tdm_str){ text, len });
		expect_harmless(tdm_buf_str(&out));
		tdm_buf_done(&out);
	}
}

struct row {
	const char *name;
	uint64_t bytes;
	double share;
};

static void a_table_has_one_line_for_each_row(void **state)
{
#define ROW(member) TDM_MEMBER(struct row, member)
	static const struct tdm_column columns[] = {
		{ "na|me", "name", ROW(name), .width = 3 },
		{ NULL, "json_only", ROW(bytes) },
		{ "in\nuse", "bytes", ROW(bytes), TDM_BYTES },
		{ "share", "share", ROW(share), .decimals = 1, .width = 7 },
	};
	static const struct row rows[] = { { "long|name\n", 2048, 0.5 }, { NULL, UINT64_MAX, NAN }, { "z", 0, 0 } };
	struct tdm_table table = TDM_TABLE_OF(columns, rows, 3);
	struct tdm_buf out;
	(void)state;
	tdm_buf_init(&out);
	table.limit = 2;
	tdm_table_markdown(&table, &out);
	assert_string_equal(tdm_buf_str(&out).ptr, "| na\\|me | in use | share |\n"
						   "|---|---:|---:|\n"
						   "| long\\|name? | 2.00KiB | 50.0% |\n"
						   "| - | - | - |\n"
						   "\nand 1 more\n");
	tdm_buf_clear(&out);
	table.count = 0;
	tdm_table_markdown(&table, &out);
	assert_int_equal(out.len, 0);
	tdm_buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_text_stays_as_it_is),
		cmocka_unit_test(markup_is_escaped),
		cmocka_unit_test(nothing_becomes_a_link_or_the_name_of_a_user),
		cmocka_unit_test(bytes_that_are_no_text_become_question_marks),
		cmocka_unit_test(a_block_has_a_fence_that_it_does_not_contain),
		cmocka_unit_test(random_text_is_harmless),
		cmocka_unit_test(a_table_has_one_line_for_each_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
