/* Records of comma-separated values: quotes, newlines in fields, refusals, and how reading goes on after them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/csv.h"
#include "base/err.h"

#include <errno.h>

/* Gives a text a few bytes at a time. */
static ssize_t read_text(void *from, char *dst, size_t cap)
{
	const char **at = from;
	size_t len = strnlen(*at, cap < 7 ? cap : 7);
	memcpy(dst, *at, len);
	*at += len;
	return (ssize_t)len;
}

static void open_text(struct tdm_csv *csv, const char *text)
{
	static const char *at;
	at = text;
	tdm_csv_open(csv, (struct tdm_reader){ read_text, &at });
}

/* The next record has exactly these fields and begins in this line. */
static void assert_record(struct tdm_csv *csv, uint64_t line, size_t count, const char *const *fields)
{
	struct tdm_diag diag = { 0 };
	int got = tdm_csv_next(csv, &diag);
	if (got != 1)
		fail_msg("no record but %d: %d: %s", got, (int)diag.line, diag.text);
	assert_int_equal(csv->field_count, count);
	assert_int_equal(csv->line, line);
	for (size_t i = 0; i < count; i++)
		assert_true(tdm_str_is(csv->fields[i], fields[i]));
}

#define RECORD(csv, line, ...)                                                                            \
	assert_record((csv), (line), sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *), \
		(const char *const[]){ __VA_ARGS__ })

static void assert_refused(struct tdm_csv *csv, int err, uint64_t line, uint64_t column, const char *text)
{
	struct tdm_diag diag = { 0 };
	assert_int_equal(tdm_csv_next(csv, &diag), err);
	assert_string_equal(diag.text, text);
	assert_int_equal(diag.line, line);
	assert_int_equal(diag.column, column);
}

static void assert_end(struct tdm_csv *csv)
{
	struct tdm_diag diag = { 0 };
	assert_int_equal(tdm_csv_next(csv, &diag), 0);
	assert_int_equal(tdm_csv_next(csv, &diag), 0);
	tdm_csv_done(csv);
}

static void quotes_hold_commas_quotes_and_newlines(void **state)
{
	(void)state;
	struct tdm_csv csv;
	open_text(&csv, "a,\"b, c\",\"say \"\"x\"\"\",\"two\nlines\",\n\n\r\n\"\",d\n");
	RECORD(&csv, 1, "a", "b, c", "say \"x\"", "two\nlines", "");
	RECORD(&csv, 5, "", "d");
	assert_end(&csv);
}

static void a_quote_inside_a_plain_field_is_text(void **state)
{
	(void)state;
	struct tdm_csv csv;
	open_text(&csv, "5\" disk, \"blank\" \nlast");
	RECORD(&csv, 1, "5\" disk", " \"blank\" ");
	assert_true(tdm_str_is(tdm_csv_field(&csv, 1), "\"blank\""));
	assert_int_equal(tdm_csv_field(&csv, 2).len, 0);
	RECORD(&csv, 2, "last");
	assert_end(&csv);
}

static void line_ends_of_other_systems_are_line_ends(void **state)
{
	(void)state;
	struct tdm_csv csv;
	open_text(&csv, "a,b\r\n\"c\r\nd\",e\r\n");
	RECORD(&csv, 1, "a", "b");
	RECORD(&csv, 2, "c\nd", "e");
	assert_end(&csv);
}

static void an_open_quote_costs_its_line_only(void **state)
{
	(void)state;
	struct tdm_csv csv;
	open_text(&csv, "a,b\nc,\"open\nd,e\nf,g\n");
	RECORD(&csv, 1, "a", "b");
	assert_refused(&csv, TDM_ESYNTAX, 2, 3, "a quote that is never closed");
	RECORD(&csv, 3, "d", "e");
	RECORD(&csv, 4, "f", "g");
	assert_end(&csv);
}

static void text_behind_a_closing_quote_is_refused(void **state)
{
	(void)state;
	struct tdm_csv csv;
	open_text(&csv, "\"a\"b,c\n\"d\ne\"f\ng\n");
	assert_refused(&csv, TDM_ESYNTAX, 1, 4, "text after a closing quote");
	assert_refused(&csv, TDM_ESYNTAX, 3, 3, "text after a closing quote");
	RECORD(&csv, 3, "e\"f");
	RECORD(&csv, 4, "g");
	assert_end(&csv);
}

static void too_many_fields_are_refused(void **state)
{
	(void)state;
	struct tdm_csv csv;
	char *text = malloc(TDM_CSV_FIELDS_MAX + 8);
	memset(text, ',', TDM_CSV_FIELDS_MAX);
	strcpy(text + TDM_CSV_FIELDS_MAX, "\nx\n");
	open_text(&csv, text);
	assert_refused(&csv, -EMSGSIZE, 1, TDM_CSV_FIELDS_MAX + 1, "more fields than a record may have");
	RECORD(&csv, 2, "x");
	assert_end(&csv);
	/* One less is a record. */
	open_text(&csv, text + 1);
	struct tdm_diag diag = { 0 };
	assert_int_equal(tdm_csv_next(&csv, &diag), 1);
	assert_int_equal(csv.field_count, TDM_CSV_FIELDS_MAX);
	tdm_csv_done(&csv);
	free(text);
}

static void records_that_are_too_long_are_refused_and_the_rest_goes_on(void **state)
{
	(void)state;
	struct tdm_csv csv;
	size_t len = (size_t)TDM_CSV_RECORD_MAX + 10;
	char *text = malloc(2 * len + 16);
	/* A line that is too long; then an open quote before more lines than a record may have. */
	memset(text, 'x', len);
	text[len] = '\n';
	memcpy(text + len + 1, "\"\n", 2);
	for (size_t i = 0; i < len; i++)
		text[len + 3 + i] = (char)(i % 2 == 0 ? 'y' : '\n');
	memcpy(text + 2 * len + 3, "\nz", 3);
	open_text(&csv, text);
	assert_refused(&csv, -EMSGSIZE, 1, 0, "a line that is too long");
	assert_refused(&csv, -EMSGSIZE, 2, 1, "the record is too long: is a quote not closed?");
	for (size_t i = 0; i < len / 2; i++)
		RECORD(&csv, 3 + i, "y");
	RECORD(&csv, 3 + len / 2 + 1, "z");
	assert_end(&csv);
	free(text);
}

static void columns_are_found_by_name(void **state)
{
	(void)state;
	struct tdm_csv csv;
	open_text(&csv, "OP CODE, CORE COUNT ,x\n");
	RECORD(&csv, 1, "OP CODE", " CORE COUNT ", "x");
	assert_int_equal(tdm_csv_find(&csv, "CORE COUNT"), 1);
	assert_true(tdm_csv_find(&csv, "CORE") == SIZE_MAX);
	assert_end(&csv);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes_hold_commas_quotes_and_newlines),
		cmocka_unit_test(a_quote_inside_a_plain_field_is_text),
		cmocka_unit_test(line_ends_of_other_systems_are_line_ends),
		cmocka_unit_test(an_open_quote_costs_its_line_only),
		cmocka_unit_test(text_behind_a_closing_quote_is_refused),
		cmocka_unit_test(too_many_fields_are_refused),
		cmocka_unit_test(records_that_are_too_long_are_refused_and_the_rest_goes_on),
		cmocka_unit_test(columns_are_found_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
