/* Texts, growing buffers, error texts, positions in messages, and the names of the kinds of memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/err.h"
#include "base/kind.h"
#include "base/str.h"

#include <errno.h>

static void texts_are_equal_by_length_and_bytes(void **state)
{
	(void)state;
	struct tdm_str none = tdm_str_of(NULL);
	assert_int_equal(none.len, 0);
	assert_true(tdm_str_eq(none, tdm_str_of("")));
	assert_true(tdm_str_is(tdm_str_of("abc"), "abc"));
	assert_false(tdm_str_is(tdm_str_of("abc"), "ab"));
	assert_false(tdm_str_is(tdm_str_of("ab"), "abc"));
	assert_false(tdm_str_is(tdm_str_of("abd"), "abc"));
	assert_true(tdm_str_eq((struct tdm_str){ "a\0b", 3 }, (struct tdm_str){ "a\0b", 3 }));
	assert_false(tdm_str_eq((struct tdm_str){ "a\0b", 3 }, (struct tdm_str){ "a\0c", 3 }));
}

static void words_are_equal_in_any_case(void **state)
{
	(void)state;
	assert_true(tdm_str_is_word(tdm_str_of("DRAM"), "dram"));
	assert_true(tdm_str_is_word(tdm_str_of(""), ""));
	assert_false(tdm_str_is_word(tdm_str_of("dra"), "dram"));
	assert_false(tdm_str_is_word(tdm_str_of("dram"), "dra"));
	assert_false(tdm_str_is_word(tdm_str_of("dram"), "drum"));
	assert_false(tdm_str_is_word(tdm_str_of(""), NULL));
}

static void trimming_cuts_blanks_at_both_ends_only(void **state)
{
	(void)state;
	assert_true(tdm_str_is(tdm_str_trim(tdm_str_of(" \t a b\t\r ")), "a b"));
	assert_true(tdm_str_is(tdm_str_trim(tdm_str_of("a")), "a"));
	assert_int_equal(tdm_str_trim(tdm_str_of(" \r\t")).len, 0);
	assert_int_equal(tdm_str_trim(tdm_str_of("")).len, 0);
	assert_true(tdm_str_is(tdm_str_trim(tdm_str_of("\na\n")), "\na\n"));
}

static void numbers_are_whole_decimal_and_fit_64_bits(void **state)
{
	(void)state;
	uint64_t value = 5;
	assert_int_equal(tdm_str_parse_u64(tdm_str_of("0"), &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(tdm_str_parse_u64(tdm_str_of("00042"), &value), 0);
	assert_int_equal(value, 42);
	assert_int_equal(tdm_str_parse_u64(tdm_str_of("18446744073709551615"), &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(tdm_str_parse_u64(tdm_str_of("18446744073709551616"), &value), -ERANGE);
	assert_int_equal(tdm_str_parse_u64(tdm_str_of("184467440737095516150"), &value), -ERANGE);
	static const char *const wrong[] = { "", "-1", "+1", " 1", "1 ", "0x1", "1.0", "1K", "one", "1\n" };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(tdm_str_parse_u64(tdm_str_of(wrong[i]), &value), TDM_ESYNTAX);
	assert_true(value == UINT64_MAX); /* what a refusal found it as */
}

static void hashes_differ_for_texts_that_differ_a_little(void **state)
{
	(void)state;
	char a[40], b[40];
	memset(a, 'x', sizeof a);
	for (size_t len = 0; len <= sizeof a; len++) {
		assert_true(tdm_str_hash((struct tdm_str){ a, len }) == tdm_str_hash((struct tdm_str){ a, len }));
		for (size_t i = 0; i < len; i++) {
			memcpy(b, a, sizeof b);
			b[i] ^= 1;
			assert_true(
				tdm_str_hash((struct tdm_str){ a, len }) != tdm_str_hash((struct tdm_str){ b, len }));
		}
		if (len != 0)
			assert_true(tdm_str_hash((struct tdm_str){ a, len }) !=
				    tdm_str_hash((struct tdm_str){ a, len - 1 }));
	}
	/* A text and the same with a NUL behind it, which a hash of padded words could mistake for each other. */
	assert_true(tdm_str_hash((struct tdm_str){ "ab\0", 2 }) != tdm_str_hash((struct tdm_str){ "ab\0", 3 }));
}

static void shown_text_is_printable_and_fits(void **state)
{
	(void)state;
	char text[12];
	assert_string_equal(tdm_str_shown(tdm_str_of("plain"), text, sizeof text), "plain");
	assert_string_equal(tdm_str_shown(tdm_str_of("\033[2J\t\xff\x7f"), text, sizeof text), "?[2J???");
	assert_string_equal(tdm_str_shown((struct tdm_str){ "a\0b", 3 }, text, sizeof text), "a?b");
	assert_string_equal(tdm_str_shown(tdm_str_of("eleven char"), text, sizeof text), "eleven char");
	assert_string_equal(tdm_str_shown(tdm_str_of("twelve chars"), text, sizeof text), "twelve c...");
	assert_string_equal(tdm_str_shown(tdm_str_of("\u2713 \xc2\x85\xe2\x9c"), text, sizeof text), "\u2713 ????");
	assert_string_equal(tdm_str_shown(tdm_str_of("1234567\u2713 cut"), text, sizeof text), "1234567...");
	assert_string_equal(tdm_str_shown(tdm_str_of("long"), text, 4), "...");
	assert_string_equal(tdm_str_shown(tdm_str_of("long"), text, 3), "lo");
	assert_string_equal(tdm_str_shown(tdm_str_of("long"), text, 1), "");
	assert_string_equal(tdm_str_shown((struct tdm_str){ NULL, 0 }, text, sizeof text), "");
	text[0] = '~';
	tdm_str_shown(tdm_str_of("long"), text, 0);
	assert_int_equal(text[0], '~');
}

static void a_buffer_grows_and_stays_terminated(void **state)
{
	(void)state;
	struct tdm_buf buf = { 0 };
	assert_true(tdm_str_is(tdm_buf_str(&buf), ""));
	for (int i = 0; i < 5000; i++) {
		tdm_buf_putc(&buf, (char)('a' + i % 26));
		assert_int_equal(buf.data[buf.len], '\0');
	}
	assert_int_equal(buf.len, 5000);
	for (int i = 0; i < 5000; i++)
		assert_int_equal(buf.data[i], 'a' + i % 26);
	tdm_buf_clear(&buf);
	assert_true(tdm_str_is(tdm_buf_str(&buf), ""));
	tdm_buf_puts(&buf, "x=");
	tdm_buf_printf(&buf, "%d %s", 42, "y");
	tdm_buf_fill(&buf, '-', 3);
	tdm_buf_fill(&buf, '-', 0);
	tdm_buf_add(&buf, "a\0b", 3);
	tdm_buf_add(&buf, NULL, 0);
	assert_memory_equal(buf.data, "x=42 y---a\0b", 13);
	assert_int_equal(buf.len, 12);
	tdm_buf_done(&buf);
	assert_null(buf.data);
}

/* Lengths at which the text and its terminator just fit, or just do not. */
static void a_printed_text_of_any_length_arrives_whole(void **state)
{
	(void)state;
	for (int len = 0; len < 1100; len++) {
		struct tdm_buf buf = { 0 };
		tdm_buf_printf(&buf, "%*s", len, "");
		assert_int_equal(buf.len, len);
		assert_int_equal(strlen(buf.data), len);
		tdm_buf_printf(&buf, "%s", "end");
		assert_string_equal(buf.data + len, "end");
		tdm_buf_done(&buf);
	}
}

static void every_error_has_its_own_code_and_text(void **state)
{
	(void)state;
	static const struct {
		int code, number;
		const char *text;
	} errors[] = {
#define X(id, number, text) { TDM_E##id, number, text },
		TDM_ERR_LIST(X)
#undef X
	};
	size_t count = sizeof errors / sizeof *errors;
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(errors[i].code, -errors[i].number);
		assert_true(errors[i].number >= TDM_ERR_FIRST); /* apart from errno */
		assert_string_equal(tdm_err_text(errors[i].code), errors[i].text);
		assert_true(strlen(errors[i].text) > 4);
		for (size_t j = 0; j < i; j++) {
			assert_int_not_equal(errors[i].code, errors[j].code);
			assert_string_not_equal(errors[i].text, errors[j].text);
		}
	}
}

static void codes_of_the_system_and_of_nobody_have_texts_too(void **state)
{
	(void)state;
	assert_string_equal(tdm_err_text(TDM_OK), "no error");
	assert_string_equal(tdm_err_text(-ENOENT), "No such file or directory");
	for (int code = -3000; code < 100; code++)
		assert_true(tdm_err_text(code)[0] != '\0');
	assert_string_equal(tdm_err_text(-1023), "unknown system error");
	assert_string_equal(tdm_err_text(-2999), "unknown error");
	assert_string_equal(tdm_err_text(ENOENT), "unknown error"); /* positive: somebody forgot the sign */
}

static void a_position_is_printed_as_far_as_it_is_known(void **state)
{
	(void)state;
	char text[TDM_DIAG_TEXT_CAP * 2];
	struct tdm_diag diag = { .file = "a.trace" };
	assert_int_equal(tdm_diag_set(&diag, TDM_ESYNTAX, 3, 7, "expected %s", "x"), TDM_ESYNTAX);
	assert_string_equal(tdm_diag_format(&diag, text, sizeof text), "a.trace:3:7: expected x");
	tdm_diag_set(&diag, -EIO, 3, 0, "gone");
	assert_string_equal(tdm_diag_format(&diag, text, sizeof text), "a.trace:3: gone");
	tdm_diag_set(&diag, -EIO, 0, 9, "gone"); /* a column without a line means nothing */
	assert_string_equal(tdm_diag_format(&diag, text, sizeof text), "a.trace: gone");
	diag.file = NULL;
	assert_string_equal(tdm_diag_format(&diag, text, sizeof text), "input: gone");
	assert_int_equal(tdm_diag_set(NULL, -EIO, 1, 1, "nobody listens"), -EIO);
}

static void a_message_is_cut_at_its_capacity(void **state)
{
	(void)state;
	struct tdm_diag diag = { .file = "f" };
	char text[16];
	tdm_diag_set(&diag, TDM_ESYNTAX, 1, 1, "%*s", TDM_DIAG_TEXT_CAP * 2, "");
	assert_int_equal(strlen(diag.text), TDM_DIAG_TEXT_CAP - 1);
	tdm_diag_format(&diag, text, sizeof text);
	assert_int_equal(strlen(text), sizeof text - 1);
}

static void every_kind_is_found_by_its_name_in_any_case(void **state)
{
	(void)state;
	enum tdm_kind kind = TDM_KIND_COUNT;
	for (int i = 0; i < TDM_KIND_COUNT; i++) {
		const char *name = tdm_kind_name((enum tdm_kind)i);
		assert_int_equal(tdm_kind_parse(tdm_str_of(name), &kind), 0);
		assert_int_equal(kind, i);
		assert_int_equal(tdm_kind_parse((struct tdm_str){ name, strlen(name) - 1 }, &kind), TDM_ESYNTAX);
	}
	assert_int_equal(tdm_kind_parse(tdm_str_of("L1_Small"), &kind), 0);
	assert_int_equal(kind, TDM_KIND_L1_SMALL);
	assert_int_equal(tdm_kind_parse(tdm_str_of(""), &kind), TDM_ESYNTAX);
	assert_int_equal(tdm_kind_parse(tdm_str_of("l1 "), &kind), TDM_ESYNTAX);
	assert_string_equal(tdm_kind_name(TDM_KIND_COUNT), "unknown");
}

static void utf16_is_told_from_other_texts(void **state)
{
	static const char little[] = "2\0000\0002\0006\000-\0001\0001\000-\0001\0005\000";
	static const char big[] = "\0002\0000\0002\0006\000-\0001\0001\000-\0001\0005";
	(void)state;
	assert_true(tdm_str_is_utf16((struct tdm_str){ little, sizeof little - 1 }));
	assert_true(tdm_str_is_utf16((struct tdm_str){ big, sizeof big - 1 }));
	assert_true(tdm_str_is_utf16(tdm_str_of("\xff\xfe[")));
	assert_true(tdm_str_is_utf16(tdm_str_of("\xfe\xff")));
	assert_false(tdm_str_is_utf16(tdm_str_of("")));
	assert_false(tdm_str_is_utf16(tdm_str_of("\xff")));
	assert_false(tdm_str_is_utf16(tdm_str_of("2026-11-15 07:36:20.265 | info")));
	assert_false(tdm_str_is_utf16((struct tdm_str){ "a\0b\0", 4 })); /* too little to be sure */
	char zeros[64] = { 0 };
	assert_false(tdm_str_is_utf16((struct tdm_str){ zeros, sizeof zeros }));
}

static void knows_characters_of_utf8(void **state)
{
	static const struct {
		const char *text;
		size_t bytes, printable;
	} cases[] = {
		{ "a", 1, 1 },
		{ "\t", 1, 0 },
		{ "\x7f", 1, 0 },
		{ "\xc2\x85", 2, 0 }, /* a control */
		{ "\xc3\xa9x", 2, 2 },
		{ "\xe2\x9c\x93", 3, 3 },
		{ "\xf0\x9f\x9a\x80", 4, 4 },
		{ "\xf4\x8f\xbf\xbf", 4, 4 }, /* the last code point */
		{ "\xf4\x90\x80\x80", 0, 0 }, /* above it */
		{ "\xf5\x80\x80\x80", 0, 0 },
		{ "\xc0\x9b", 0, 0 },         /* overlong */
		{ "\xe0\x82\x9b", 0, 0 },     /* overlong */
		{ "\xf0\x80\x82\x9b", 0, 0 }, /* overlong */
		{ "\xed\xa0\x80", 0, 0 },     /* a surrogate */
		{ "\x80", 0, 0 },
		{ "\xe2\x9c", 0, 0 }, /* cut */
		{ "\xe2x\x93", 0, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(tdm_str_utf8(cases[i].text, TDM_UTF8_MAX), cases[i].bytes);
		assert_int_equal(tdm_str_printable(cases[i].text, TDM_UTF8_MAX), cases[i].printable);
		if (cases[i].bytes != 0)
			assert_int_equal(tdm_str_utf8(cases[i].text, cases[i].bytes - 1), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_equal_by_length_and_bytes),
		cmocka_unit_test(words_are_equal_in_any_case),
		cmocka_unit_test(trimming_cuts_blanks_at_both_ends_only),
		cmocka_unit_test(numbers_are_whole_decimal_and_fit_64_bits),
		cmocka_unit_test(hashes_differ_for_texts_that_differ_a_little),
		cmocka_unit_test(shown_text_is_printable_and_fits),
		cmocka_unit_test(a_buffer_grows_and_stays_terminated),
		cmocka_unit_test(a_printed_text_of_any_length_arrives_whole),
		cmocka_unit_test(every_error_has_its_own_code_and_text),
		cmocka_unit_test(codes_of_the_system_and_of_nobody_have_texts_too),
		cmocka_unit_test(a_position_is_printed_as_far_as_it_is_known),
		cmocka_unit_test(a_message_is_cut_at_its_capacity),
		cmocka_unit_test(every_kind_is_found_by_its_name_in_any_case),
		cmocka_unit_test(utf16_is_told_from_other_texts),
		cmocka_unit_test(knows_characters_of_utf8),
	};
	return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}
