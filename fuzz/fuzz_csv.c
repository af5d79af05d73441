/*
 * Fuzz the reader of comma-separated values. Exercises: base/csv.c (quotes, newlines in fields, refusals, continuing
 * after them).
 *
 * Properties: a refusal has a text and a line; fields are no longer than the input; line numbers increase; at the end
 * every line of the input has been read.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <errno.h>

#include "fuzz_input.h"
#include "base/csv.h"
#include "base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tdm_csv csv;
	uint64_t line = 0, lines = size != 0 && data[size - 1] != '\n';
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	struct tdm_str rest = { (const char *)data, size };
	tdm_csv_open(&csv, (struct tdm_reader){ fuzz_read_bytes, &rest });
	for (;;) {
		struct tdm_diag diag = { 0 };
		int got = tdm_csv_next(&csv, &diag);
		if (got == 0)
			break;
		if (got < 0) {
			check(got == TDM_ESYNTAX || got == -EMSGSIZE);
			check(diag.text[0] != '\0' && diag.line != 0 && diag.line <= lines);
			continue;
		}
		size_t all = 0;
		check(csv.line > line && csv.line <= lines && csv.field_count != 0);
		line = csv.line;
		for (size_t i = 0; i < csv.field_count; i++)
			all += csv.fields[i].len;
		check(all <= size);
		check(tdm_csv_field(&csv, csv.field_count).len == 0);
	}
	check(csv.again == lines + 1);
	tdm_csv_done(&csv);
	return 0;
}
