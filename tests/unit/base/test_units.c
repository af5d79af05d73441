/* Sizes as text: what is accepted, what is refused and where, and that printed columns have a fixed width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/units.h"

#include <errno.h>

static uint64_t parsed(const char *text)
{
	uint64_t bytes = 77;
	size_t bad = SIZE_MAX;
	int err = tdm_parse_bytes(tdm_str_of(text), &bytes, &bad);
	if (err != 0)
		fail_msg("'%s' was refused at offset %zu", text, bad);
	return bytes;
}

static void assert_refused(const char *text, int expected, size_t at)
{
	uint64_t bytes = 77;
	size_t bad = SIZE_MAX;
	int err = tdm_parse_bytes(tdm_str_of(text), &bytes, &bad);
	if (err != expected || bad != at)
		fail_msg("'%s': error %d at %zu, not %d at %zu", text, err, bad, expected, at);
	assert_int_equal(bytes, 77); /* a refusal leaves the result alone */
}

static void every_form_of_every_unit_is_a_power_of_1024(void **state)
{
	(void)state;
	static const char letters[] = "KMGTPE";
	static const char *const tails[] = { "", "B", "b", "iB", "ib", "IB" };
	for (int i = 0; letters[i] != '\0'; i++)
		for (size_t t = 0; t < sizeof tails / sizeof *tails; t++)
			for (int lower = 0; lower < 2; lower++)
				for (int blank = 0; blank < 2; blank++) {
					char text[16];
					snprintf(text, sizeof text, "3%s%c%s", blank ? " " : "",
						letters[i] | (lower ? 0x20 : 0), tails[t]);
					assert_int_equal(parsed(text), UINT64_C(3) << (i + 1) * 10);
				}
	assert_int_equal(parsed("3"), 3);
	assert_int_equal(parsed("3B"), 3);
	assert_int_equal(parsed("3 b"), 3);
}

static void blanks_may_stand_around_the_number_and_before_the_unit(void **state)
{
	(void)state;
	assert_int_equal(parsed(" \t64\t KiB \t"), 65536);
	assert_int_equal(parsed("  0x10  "), 16);
	assert_refused("6 4", TDM_ESYNTAX, 2);
	assert_refused("64 Ki B", TDM_ESYNTAX, 5);
	assert_refused("1. 5K", TDM_ESYNTAX, 2);
	assert_refused("64\n", TDM_ESYNTAX, 2);
}

static void a_fraction_must_come_out_as_whole_bytes(void **state)
{
	(void)state;
	assert_int_equal(parsed("1.5K"), 1536);
	assert_int_equal(parsed("0.5KiB"), 512);
	assert_int_equal(parsed("1.5 GiB"), UINT64_C(3) << 29);
	assert_int_equal(parsed("0.0009765625K"), 1);
	assert_int_equal(parsed("2.0"), 2);
	assert_int_equal(parsed("15.75E"), UINT64_C(63) << 58);
	assert_refused("1.5", TDM_ESYNTAX, 1); /* half a byte: the point is what is wrong */
	assert_refused("1.5B", TDM_ESYNTAX, 1);
	assert_refused("1.3K", TDM_ESYNTAX, 1);
	assert_refused("1.00048828125K", TDM_ESYNTAX, 1); /* 1024.5 */
	assert_refused("1.", TDM_ESYNTAX, 2);
	assert_refused("1.K", TDM_ESYNTAX, 2);
	assert_refused(".5K", TDM_ESYNTAX, 0);
	assert_refused("1.5.5K", TDM_ESYNTAX, 3);
	assert_refused("0x1.8K", TDM_ESYNTAX, 3);
}

/* More digits than any integer holds: zeros at the end are nothing, others cannot come out as whole bytes. */
static void fractions_of_any_length_are_answered(void **state)
{
	(void)state;
	char text[600];
	for (int zeros = 1; zeros < 500; zeros++) {
		snprintf(text, sizeof text, "1.5%0*dM", zeros, 0);
		assert_int_equal(parsed(text), 3 << 19);
		snprintf(text, sizeof text, "1.%0*dK", zeros, 0);
		assert_int_equal(parsed(text), 1024);
		snprintf(text, sizeof text, "1.%0*d1K", zeros + 10, 0);
		uint64_t bytes;
		assert_int_equal(tdm_parse_bytes(tdm_str_of(text), &bytes, NULL), TDM_ESYNTAX);
	}
}

static void hexadecimal_numbers_have_no_unit(void **state)
{
	(void)state;
	assert_int_equal(parsed("0x1000"), 4096);
	assert_int_equal(parsed("0XfF"), 255);
	assert_int_equal(parsed("0xfffffffffffffffe"), UINT64_MAX - 1);
	assert_int_equal(parsed("0x1B"), 27);
	assert_refused("0x", TDM_ESYNTAX, 1);
	assert_refused("0x ", TDM_ESYNTAX, 2);
	assert_refused("0xg", TDM_ESYNTAX, 2);
	assert_refused("0x10K", TDM_ESYNTAX, 4);
	assert_refused("0x10000000000000000", -ERANGE, 18);
}

static void what_is_no_size_is_refused_at_its_wrong_byte(void **state)
{
	(void)state;
	assert_refused("", TDM_ESYNTAX, 0);
	assert_refused("   ", TDM_ESYNTAX, 3);
	assert_refused("-1", TDM_ESYNTAX, 0);
	assert_refused("+1", TDM_ESYNTAX, 0);
	assert_refused("K", TDM_ESYNTAX, 0);
	assert_refused("1Ki", TDM_ESYNTAX, 3); /* its B is missing */
	assert_refused("1Gi ", TDM_ESYNTAX, 3);
	assert_refused("1x", TDM_ESYNTAX, 1);
	assert_refused("1KK", TDM_ESYNTAX, 2);
	assert_refused("1KiBs", TDM_ESYNTAX, 4);
	assert_refused("1BB", TDM_ESYNTAX, 2);
	assert_refused("1e3", TDM_ESYNTAX, 2);
	assert_refused("1,000", TDM_ESYNTAX, 1);
	uint64_t bytes;
	size_t bad = 9;
	assert_int_equal(tdm_parse_bytes((struct tdm_str){ "1\0K", 3 }, &bytes, &bad), TDM_ESYNTAX);
	assert_int_equal(bad, 1);
	assert_int_equal(tdm_parse_bytes((struct tdm_str){ NULL, 0 }, &bytes, &bad), TDM_ESYNTAX);
	assert_int_equal(tdm_parse_bytes(tdm_str_of("x"), &bytes, NULL), TDM_ESYNTAX);
}

static void text_behind_the_length_is_not_read(void **state)
{
	(void)state;
	uint64_t bytes = 0;
	assert_int_equal(tdm_parse_bytes((struct tdm_str){ "64KiB", 2 }, &bytes, NULL), 0);
	assert_int_equal(bytes, 64);
	assert_int_equal(tdm_parse_bytes((struct tdm_str){ "64KiB", 3 }, &bytes, NULL), 0);
	assert_int_equal(bytes, 65536);
}

static void each_unit_overflows_at_its_own_border(void **state)
{
	(void)state;
	static const char letters[] = "KMGTPE";
	char text[64];
	for (int i = 0; letters[i] != '\0'; i++) {
		int shift = (i + 1) * 10;
		uint64_t most = UINT64_MAX >> shift;
		snprintf(text, sizeof text, "%llu%c", (unsigned long long)most, letters[i]);
		assert_int_equal(parsed(text), most << shift);
		snprintf(text, sizeof text, "%llu%c", (unsigned long long)most + 1, letters[i]);
		assert_refused(text, -ERANGE, strlen(text));
		snprintf(text, sizeof text, "%llu.5%c", (unsigned long long)most, letters[i]);
		assert_int_equal(parsed(text), (most << shift) + (UINT64_C(1) << (shift - 1)));
	}
	assert_int_equal(parsed("18446744073709551614"), UINT64_MAX - 1);
	assert_refused("18446744073709551615", -ERANGE, 20); /* stands for "unknown" */
	assert_refused("18446744073709551616", -ERANGE, 19);
	assert_refused("99999999999999999999999K", -ERANGE, 19); /* the digit that is too many */
}

static const char *columns(uint64_t bytes)
{
	static char text[TDM_BYTES_CAP];
	char *result = tdm_format_bytes(text, sizeof text, bytes);
	assert_ptr_equal(result, text);
	return text;
}

static void a_printed_size_always_has_the_same_columns(void **state)
{
	(void)state;
	for (int bit = 0; bit < 64; bit++)
		for (int around = -3; around <= 3; around++) {
			uint64_t bytes = (UINT64_C(1) << bit) + (uint64_t)(int64_t)around;
			assert_int_equal(strlen(columns(bytes)), TDM_BYTES_COLUMNS);
		}
	for (uint64_t bytes = 1; bytes < UINT64_MAX / 10; bytes *= 10) {
		assert_int_equal(strlen(columns(bytes)), TDM_BYTES_COLUMNS);
		assert_int_equal(strlen(columns(bytes - 1)), TDM_BYTES_COLUMNS);
		assert_int_equal(strlen(columns(bytes * 1024 - 1)), TDM_BYTES_COLUMNS);
	}
	assert_string_equal(columns(0), "       0 B");
	assert_string_equal(columns(1023), "    1023 B");
	assert_string_equal(columns(1024), "   1.00KiB");
	assert_string_equal(columns(UINT64_C(3) << 29), "   1.50GiB");
	assert_string_equal(columns((1 << 20) - 1), "1024.00KiB");
	assert_string_equal(columns(UINT64_C(1) << 50), "   1.00PiB");
	assert_string_equal(columns(UINT64_MAX - 1), "  16.00EiB");
	assert_string_equal(columns(TDM_BYTES_UNKNOWN), "   unknown");
}

static const char *brief(uint64_t bytes)
{
	static char text[TDM_BYTES_CAP];
	return tdm_format_bytes_short(text, sizeof text, bytes);
}

static const char *like(uint64_t bytes, uint64_t total)
{
	static char text[TDM_BYTES_CAP];
	return tdm_format_bytes_like(text, sizeof text, bytes, total);
}

static void a_part_has_the_unit_of_its_total(void **state)
{
	(void)state;
	const uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;
	assert_string_equal(like(39 * kib, 1464 * kib), "39 KiB");
	assert_string_equal(like(1464 * kib, 1464 * kib), "1464 KiB");
	assert_string_equal(like(1464 * kib - 1, 1464 * kib), "1464.0 KiB");
	assert_string_equal(like(512 * kib, 85 * mib), "0.50 MiB");
	assert_string_equal(like(512 * mib, 12 * gib), "0.50 GiB");
	assert_string_equal(like(12 * gib, 12 * gib), "12 GiB");
	assert_string_equal(like(gib, gib), "1 GiB");
	assert_string_equal(like(20 * mib, gib - 32), "0.02 GiB");
	assert_string_equal(like(gib - 32, gib - 32), "1.00 GiB");
	assert_string_equal(like(100, 1000), "100 B");
	assert_string_equal(like(0, 12 * gib), "0 B");
	assert_string_equal(like(24 * kib, 12 * gib), "24 KiB"); /* would be 0.00 GiB */
	assert_string_equal(like(TDM_BYTES_UNKNOWN, gib), "unknown");
	assert_string_equal(like(1500 * kib, TDM_BYTES_UNKNOWN), "1500 KiB");
	assert_string_equal(like(UINT64_MAX - 1, UINT64_MAX - 1), "16.00 EiB");
	assert_string_equal(like(5, 0), "5 B");
}

static void a_short_size_is_exact_where_it_can_be(void **state)
{
	(void)state;
	assert_string_equal(brief(0), "0 B");
	assert_string_equal(brief(1023), "1023 B");
	assert_string_equal(brief(1024), "1 KiB");
	assert_string_equal(brief(1025), "1.00 KiB");
	assert_string_equal(brief(1499136), "1464 KiB");
	assert_string_equal(brief(1393472), "1.33 MiB");
	assert_string_equal(brief(UINT64_C(12) << 30), "12 GiB");
	assert_string_equal(brief(UINT64_C(1536) << 20), "1536 MiB");
	assert_string_equal(brief((UINT64_C(10000) << 10)), "9.77 MiB"); /* five digits are no longer readable */
	assert_string_equal(brief(UINT64_C(15) << 60), "15 EiB");
	assert_string_equal(brief(UINT64_MAX - 1), "16.00 EiB");
	assert_string_equal(brief(TDM_BYTES_UNKNOWN), "unknown");
}

static const char *counted(uint64_t count)
{
	static char text[TDM_BYTES_CAP];
	return tdm_format_count(text, sizeof text, count);
}

static void counts_have_a_comma_every_three_digits(void **state)
{
	(void)state;
	assert_string_equal(counted(0), "0");
	assert_string_equal(counted(999), "999");
	assert_string_equal(counted(1000), "1,000");
	assert_string_equal(counted(12345), "12,345");
	assert_string_equal(counted(999999), "999,999");
	assert_string_equal(counted(1499136), "1,499,136");
	assert_string_equal(counted(UINT64_MAX - 1), "18,446,744,073,709,551,614");
	assert_string_equal(counted(UINT64_MAX), "unknown");
}

/* Whatever the room is, nothing behind it is touched and the text is ended. */
/* Figures that are compared have one unit, which is that of the largest unless a small one would vanish. */
static void compared_figures_have_one_unit(void **state)
{
	(void)state;
	const uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;
	static const uint64_t unknown = TDM_BYTES_UNKNOWN;
	const struct {
		uint64_t figures[4];
		size_t columns;
		const char *texts[4];
	} cases[] = {
		{ { 12 * gib, 9 * gib / 2, 20 * mib, 0 }, 10, { "12.00GiB", "4.50GiB", "0.020GiB", "0 B" } },
		{ { 12 * gib, 24 * kib, 0, unknown }, 10, { "12288.0MiB", "0.023MiB", "0 B", "unknown" } },
		{ { 12 * gib, 24 * kib, 0, unknown }, 8, { "12288MiB", "0.023MiB", "0 B", "unknown" } },
		{ { 12 * gib, 4 * kib, 1, 12 * gib - 1 }, 10, { "12288.0MiB", "<0.01MiB", "<0.01MiB", "12288.0MiB" } },
		{ { 2 * kib, 1000, 5, 0 }, 10, { "2048 B", "1000 B", "5 B", "0 B" } },
		{ { 2 * kib, 1000, 0, 0 }, 10, { "2.00KiB", "0.98KiB", "0 B", "0 B" } },
		{ { 0, unknown, 0, 0 }, 10, { "0 B", "unknown", "0 B", "0 B" } },
	};
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		struct tdm_bytes_range range = { 0 };
		char text[TDM_BYTES_CAP];
		for (size_t i = 0; i < 4; i++)
			tdm_bytes_range_add(&range, cases[c].figures[i]);
		for (size_t i = 0; i < 4; i++)
			assert_string_equal(
				tdm_format_bytes_in(text, sizeof text, cases[c].figures[i], &range, cases[c].columns),
				cases[c].texts[i]);
	}
}

static void no_format_writes_behind_its_capacity(void **state)
{
	(void)state;
	static char *(*const formats[])(
		char *, size_t, uint64_t) = { tdm_format_bytes, tdm_format_bytes_short, tdm_format_count };
	static const uint64_t values[] = { 0, 7, 1023, 1499136, UINT64_MAX - 1, UINT64_MAX };
	for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
		for (size_t v = 0; v < sizeof values / sizeof *values; v++)
			for (size_t cap = 0; cap < TDM_BYTES_CAP; cap++) {
				char text[TDM_BYTES_CAP + 1];
				memset(text, '~', sizeof text);
				formats[f](text, cap, values[v]);
				for (size_t i = cap; i < sizeof text; i++)
					assert_int_equal(text[i], '~');
				assert_true(cap == 0 || memchr(text, '\0', cap) != NULL);
			}
}

/* A printed size reads back as the same one when it is printed exactly, and as one half a hundredth of a unit away
 * otherwise. */
static void printed_sizes_read_back_close_to_what_they_were(void **state)
{
	(void)state;
	uint64_t seed = 88172645463325252u;
	for (int i = 0; i < 20000; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		uint64_t bytes = seed >> (i % 64), back = 0;
		int unit = 0;
		while (unit < 6 && bytes >> (unit + 1) * 10 != 0)
			unit++;
		if (bytes == UINT64_MAX || bytes >> 54 >= 1023)
			continue; /* rounding up could leave 64 bits */
		char text[TDM_BYTES_CAP];
		int err = tdm_parse_bytes(tdm_str_of(tdm_format_bytes_short(text, sizeof text, bytes)), &back, NULL);
		if (err == TDM_ESYNTAX)
			continue; /* hundredths of a unit are not whole bytes */
		assert_int_equal(err, 0);
		uint64_t off = back > bytes ? back - bytes : bytes - back;
		assert_true(off <= (UINT64_C(1) << unit * 10) / 200 + 1);
		if (strchr(text, '.') == NULL)
			assert_int_equal(back, bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_every_unit_is_a_power_of_1024),
		cmocka_unit_test(blanks_may_stand_around_the_number_and_before_the_unit),
		cmocka_unit_test(a_fraction_must_come_out_as_whole_bytes),
		cmocka_unit_test(fractions_of_any_length_are_answered),
		cmocka_unit_test(hexadecimal_numbers_have_no_unit),
		cmocka_unit_test(what_is_no_size_is_refused_at_its_wrong_byte),
		cmocka_unit_test(text_behind_the_length_is_not_read),
		cmocka_unit_test(each_unit_overflows_at_its_own_border),
		cmocka_unit_test(a_printed_size_always_has_the_same_columns),
		cmocka_unit_test(a_short_size_is_exact_where_it_can_be),
		cmocka_unit_test(counts_have_a_comma_every_three_digits),
		cmocka_unit_test(a_part_has_the_unit_of_its_total),
		cmocka_unit_test(compared_figures_have_one_unit),
		cmocka_unit_test(no_format_writes_behind_its_capacity),
		cmocka_unit_test(printed_sizes_read_back_close_to_what_they_were),
	};
	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
