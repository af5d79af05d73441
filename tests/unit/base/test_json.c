/* JSON output, compared as exact text: what a strict reader must get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/json.h"
#include "base/units.h"

#include <math.h>
#include <unistd.h>

struct writer {
	struct tdm_buf buf;
	struct tdm_json json;
};

static void writer_init(struct writer *w)
{
	tdm_buf_init(&w->buf);
	tdm_json_init(&w->json, &w->buf);
}

/* Ends the writer after comparing what it wrote. */
static void assert_wrote(struct writer *w, const char *text)
{
	assert_string_equal(w->buf.data, text);
	tdm_buf_done(&w->buf);
}

static void assert_string_becomes(struct tdm_str text, const char *json)
{
	struct writer w;
	writer_init(&w);
	tdm_json_str(&w.json, text);
	assert_wrote(&w, json);
}

static void quotes_backslashes_and_controls_are_escaped(void **state)
{
	(void)state;
	assert_string_becomes(tdm_str_of(""), "\"\"");
	assert_string_becomes(tdm_str_of("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
	assert_string_becomes(tdm_str_of("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\"");
	assert_string_becomes((struct tdm_str){ "\0\x01\x1f\x7f", 4 }, "\"\\u0000\\u0001\\u001f\\u007f\"");
	assert_string_becomes(tdm_str_of("\xc2\x80 \xc2\x9b \xc2\xa0"), "\"\\u0080 \\u009b \xc2\xa0\"");
	for (unsigned c = 0; c < 0x80; c++) { /* one escape for each, and only where one is needed */
		char byte = (char)c;
		struct writer w;
		writer_init(&w);
		tdm_json_str(&w.json, (struct tdm_str){ &byte, 1 });
		bool plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
		assert_int_equal(w.buf.len, plain ? 3 : w.buf.data[2] == 'u' ? 8 : 4);
		assert_int_equal(w.buf.data[1], plain ? (char)c : '\\');
		tdm_buf_done(&w.buf);
	}
}

static void good_utf8_passes_through(void **state)
{
	(void)state;
	static const char *const good[] = { "\xc2\xa0", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
		"\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "\xe2\x96\x88" };
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		char expected[16];
		snprintf(expected, sizeof expected, "\"%s\"", good[i]);
		assert_string_becomes(tdm_str_of(good[i]), expected);
	}
}

#define REPLACED "\xef\xbf\xbd"

static void bytes_that_are_not_utf8_are_replaced(void **state)
{
	(void)state;
	static const struct {
		const char *text, *json;
	} cases[] = {
		{ "\x80", "\"" REPLACED "\"" }, /* a continuation alone */
		{ "a\xff"
		  "b",
			"\"a" REPLACED "b\"" },              /* never part of UTF-8 */
		{ "\xc0\xaf", "\"" REPLACED REPLACED "\"" }, /* overlong '/' */
		{ "\xc1\xbf", "\"" REPLACED REPLACED "\"" },
		{ "\xe0\x9f\xbf", "\"" REPLACED REPLACED REPLACED "\"" },              /* overlong, three bytes */
		{ "\xf0\x8f\xbf\xbf", "\"" REPLACED REPLACED REPLACED REPLACED "\"" }, /* overlong, four bytes */
		{ "\xed\xa0\x80", "\"" REPLACED REPLACED REPLACED "\"" },              /* surrogates */
		{ "\xed\xbf\xbf", "\"" REPLACED REPLACED REPLACED "\"" },
		{ "\xf4\x90\x80\x80", "\"" REPLACED REPLACED REPLACED REPLACED "\"" }, /* above the last code point */
		{ "\xf5\x80\x80\x80", "\"" REPLACED REPLACED REPLACED REPLACED "\"" },
		{ "\xc3", "\"" REPLACED "\"" }, /* cut short */
		{ "\xe2\x82", "\"" REPLACED REPLACED "\"" },
		{ "\xf0\x9f\x98", "\"" REPLACED REPLACED REPLACED "\"" },
		{ "\xc3x", "\"" REPLACED "x\"" }, /* the next character is not swallowed */
		{ "\xe2\x82\"", "\"" REPLACED REPLACED "\\\"\"" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_becomes(tdm_str_of(cases[i].text), cases[i].json);
}

static void a_cut_character_is_not_read_beyond_its_text(void **state)
{
	(void)state;
	/* The bytes behind the length would complete it. */
	assert_string_becomes((struct tdm_str){ "\xe2\x96\x88", 2 }, "\"" REPLACED REPLACED "\"");
	assert_string_becomes((struct tdm_str){ "\xc3\xa4", 1 }, "\"" REPLACED "\"");
}

static void values_are_parted_by_commas_and_indented(void **state)
{
	(void)state;
	struct writer w;
	writer_init(&w);
	tdm_json_object(&w.json);
	tdm_json_key(&w.json, "a");
	tdm_json_u64(&w.json, UINT64_MAX);
	tdm_json_key(&w.json, "b");
	tdm_json_array(&w.json);
	tdm_json_i64(&w.json, INT64_MIN);
	tdm_json_bool(&w.json, true);
	tdm_json_bool(&w.json, false);
	tdm_json_array(&w.json);
	tdm_json_array_end(&w.json);
	tdm_json_object(&w.json);
	tdm_json_object_end(&w.json);
	tdm_json_array_end(&w.json);
	tdm_json_key(&w.json, "q\"k");
	tdm_json_object(&w.json);
	tdm_json_key(&w.json, "c");
	tdm_json_text(&w.json, "d");
	tdm_json_object_end(&w.json);
	tdm_json_object_end(&w.json);
	assert_wrote(&w, "{\n"
			 "  \"a\": 18446744073709551615,\n"
			 "  \"b\": [\n"
			 "    -9223372036854775808,\n"
			 "    true,\n"
			 "    false,\n"
			 "    [],\n"
			 "    {}\n"
			 "  ],\n"
			 "  \"q\\\"k\": {\n"
			 "    \"c\": \"d\"\n"
			 "  }\n"
			 "}\n");
}

static void what_is_unknown_is_null(void **state)
{
	(void)state;
	struct writer w;
	writer_init(&w);
	tdm_json_array(&w.json);
	tdm_json_bytes(&w.json, TDM_BYTES_UNKNOWN);
	tdm_json_bytes(&w.json, TDM_BYTES_UNKNOWN - 1);
	tdm_json_bytes(&w.json, 0);
	tdm_json_text(&w.json, NULL);
	tdm_json_text(&w.json, "");
	tdm_json_double(&w.json, NAN);
	tdm_json_double(&w.json, INFINITY);
	tdm_json_double(&w.json, -INFINITY);
	tdm_json_double(&w.json, 0.25);
	tdm_json_double(&w.json, -1e300);
	tdm_json_null(&w.json);
	tdm_json_array_end(&w.json);
	assert_wrote(&w,
		"[\n  null,\n  18446744073709551614,\n  0,\n  null,\n  \"\",\n  null,\n  null,\n  null,\n  0.25,\n"
		"  -1e+300,\n  null\n]\n");
}

static void the_deepest_nesting_is_written(void **state)
{
	struct writer w;
	(void)state;
	writer_init(&w);
	for (int i = 0; i < TDM_JSON_DEPTH; i++)
		tdm_json_array(&w.json);
	for (int i = 0; i < TDM_JSON_DEPTH; i++)
		tdm_json_array_end(&w.json);
	assert_int_equal(w.json.depth, 0);
	tdm_json_array_end(&w.json); /* one end too many does no harm */
	assert_int_equal(w.json.depth, 0);
	tdm_buf_done(&w.buf);
}

/* The text of a string value, from behind the quote; NULL when the key is not there. */
static const char *value_of(const struct tdm_buf *buf, const char *key)
{
	char pattern[64];
	snprintf(pattern, sizeof pattern, "\n  \"%s\": ", key);
	const char *at = strstr(buf->data, pattern);
	return at != NULL ? at + strlen(pattern) : NULL;
}

static void the_envelope_says_schema_version_time_and_host(void **state)
{
	(void)state;
	struct writer w;
	writer_init(&w);
	tdm_json_envelope(&w.json, "tidemark.test");
	tdm_json_key(&w.json, "test");
	tdm_json_null(&w.json);
	tdm_json_object_end(&w.json);
	char host[256] = "", expected[300];
	gethostname(host, sizeof host - 1);
	snprintf(expected, sizeof expected, "\"%s\",\n", host);

	static const char head[] = "{\n  \"schema\": \"tidemark.test\",\n  \"version\": 1,\n  \"time\": \"";
	assert_memory_equal(w.buf.data, head, sizeof head - 1);
	const char *time = value_of(&w.buf, "time");
	assert_non_null(time);
	static const char shape[] = "\"dddd-dd-ddTdd:dd:ddZ\",\n";
	for (size_t i = 0; shape[i] != '\0'; i++)
		assert_true(shape[i] == 'd' ? time[i] >= '0' && time[i] <= '9' : time[i] == shape[i]);
	assert_non_null(value_of(&w.buf, "host"));
	assert_memory_equal(value_of(&w.buf, "host"), expected, strlen(expected));
	assert_string_equal(value_of(&w.buf, "test"), "null\n}\n");
	tdm_buf_done(&w.buf);
}

static void a_compact_document_is_one_line(void **state)
{
	(void)state;
	struct writer w;
	writer_init(&w);
	w.json.compact = true;
	tdm_json_object(&w.json);
	tdm_json_key(&w.json, "a");
	tdm_json_array(&w.json);
	tdm_json_u64(&w.json, 1);
	tdm_json_text(&w.json, "x\ny");
	tdm_json_array_end(&w.json);
	tdm_json_key(&w.json, "b");
	tdm_json_null(&w.json);
	tdm_json_object_end(&w.json);
	assert_wrote(&w, "{\"a\": [1,\"x\\ny\"],\"b\": null}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes_backslashes_and_controls_are_escaped),
		cmocka_unit_test(good_utf8_passes_through),
		cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
		cmocka_unit_test(a_cut_character_is_not_read_beyond_its_text),
		cmocka_unit_test(values_are_parted_by_commas_and_indented),
		cmocka_unit_test(what_is_unknown_is_null),
		cmocka_unit_test(the_deepest_nesting_is_written),
		cmocka_unit_test(the_envelope_says_schema_version_time_and_host),
		cmocka_unit_test(a_compact_document_is_one_line),
	};
	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
