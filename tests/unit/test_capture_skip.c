/* What is cut out of captures before parsing: only whole pairs, and the positions of the rest stay known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sources/capture_skip.h"

static struct tdm_capture_skip skip;

static void assert_left(const char *piece, const char *expected)
{
	tdm_capture_skip(&skip, piece, strlen(piece));
	if (skip.len != strlen(expected) || memcmp(skip.data, expected, skip.len) != 0)
		fail_msg("of %s\nis left %.*s\nnot %s", piece, (int)skip.len, skip.data, expected);
	for (size_t at = 0; at < skip.len; at++) /* each byte is where it says */
		assert_int_equal(piece[tdm_capture_skip_origin(&skip, at)], skip.data[at]);
}

static void pairs_that_nobody_asks_for_are_left_out(void **state)
{
	(void)state;
	assert_left("[{\"arguments\":[],\"counter\":1}]", "[{\"counter\":1}]");
	assert_left("[{\"arguments\":[\"a ] b\", \"[c\"],\"connections\":[2],\"input_tensors\":[1, 20],\"x\":1}]",
		"[{\"connections\":[2],\"x\":1}]");
	assert_left("{ \"layout\" : 1,\n  \"memory_config\": \"a long text, as it is\" ,\n  \"shape\" : \"\"}",
		"{ \"layout\" : 1,\n  \n  \"shape\" : \"\"}");
	assert_left("{\"arguments\":[],\"arguments\":[],\"arguments\":[],\"z\":0}", "{\"z\":0}");
	assert_left("[{\"counter\":1,\"stacking_level\":20}, {\"a\":[]\n , \"stacking_level\": 3 }]",
		"[{\"counter\":1}, {\"a\":[]\n  }]");
	assert_left("{\"arguments\":[],\"stacking_level\":2}", "{\"stacking_level\":2}"); /* no comma is left */
	assert_left("{\"arguments\":[],\"stacking_level\":2,\"a\":1,\"input_tensors\":[]}", "{\"a\":1}");
	assert_left("", "");
}

/* Whatever is odd, cut, or not followed by another pair, is the parser's business. */
static void everything_else_stays(void **state)
{
	(void)state;
	static const char *const pieces[] = { "{\"arguments\":[]}", "{\"arguments\":[],}", "[1,\"arguments\":[],\"b\"]",
		"{\"arguments\":[],\"b\"", "{\"arguments\":[],\"b", "{\"arguments\":[\"\\n\"],\"b\":1}",
		"{\"arguments\":[\"\n\"],\"b\":1}", "{\"arguments\":[01],\"b\":1}", "{\"arguments\":[1,],\"b\":1}",
		"{\"arguments\":[{}],\"b\":1}", "{\"arguments\":[\"a", "{\"arguments\":{},\"b\":1}",
		"{\"arguments\":-1,\"b\":1}", "{\"stacking_level\":1}", "[1,\"stacking_level\":1]",
		"\"arguments\":[],\"b\":1}", "{\"a\":\"\\\"arguments\\\":[],\\\"b\\\":1\"}",
		"{\"argument\":[],\"b\":1}", "{\"a\" \"arguments\":[],\"b\":1}", "\"", "{\"ar", "{\"arguments\":" };
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
		assert_left(pieces[i], pieces[i]);
}

static void a_piece_may_be_full_of_them(void **state)
{
	(void)state;
	static char piece[TDM_CAPTURE_SKIP_MAX];
	static const char pair[] = "\"arguments\":[],";
	size_t len = 1;
	piece[0] = '{';
	for (; len + sizeof pair + 8 < sizeof piece; len += sizeof pair - 1)
		memcpy(piece + len, pair, sizeof pair - 1);
	memcpy(piece + len, "\"z\":0}", 6);
	tdm_capture_skip(&skip, piece, len + 6);
	assert_int_equal(skip.len, 7);
	assert_memory_equal(skip.data, "{\"z\":0}", 7);
	assert_int_equal(tdm_capture_skip_origin(&skip, 0), 0);
	assert_int_equal(tdm_capture_skip_origin(&skip, 1), len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_that_nobody_asks_for_are_left_out),
		cmocka_unit_test(everything_else_stays),
		cmocka_unit_test(a_piece_may_be_full_of_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
