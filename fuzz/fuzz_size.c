/*
 * Fuzz the size parser. Exercises: base/units.c (numbers, fractions, units, both ways).
 *
 * Properties: a text gives a value or one of two errors; the position of an error is in the text or at its end; a
 * refusal leaves the value unchanged; blanks around a text make no difference. A value is printed in a fixed number of
 * columns, and the short form reads back: exactly when it has no point, otherwise (where hundredths of a unit are whole
 * bytes) within half a hundredth of the unit.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_check.h"
#include "base/err.h"
#include "base/units.h"

static void check_printed(uint64_t bytes)
{
	char text[TDM_BYTES_CAP];
	uint64_t back = 0, unit = 1;
	check(strlen(tdm_format_bytes(text, sizeof text, bytes)) == TDM_BYTES_COLUMNS);
	while (bytes / unit >= 1024)
		unit *= 1024;
	tdm_format_bytes_short(text, sizeof text, bytes);
	int err = tdm_parse_bytes(tdm_str_of(text), &back, NULL);
	if (strchr(text, '.') == NULL)
		check(err == 0 && back == bytes);
	else if (err == 0)
		check((back > bytes ? back - bytes : bytes - back) <= unit / 200 + 1);
	else
		check(err == TDM_ESYNTAX || (err == -ERANGE && bytes / unit >= 15)); /* rounded up to 2^64 */

	char digits[24];
	snprintf(digits, sizeof digits, "%" PRIu64, bytes);
	check(tdm_parse_bytes(tdm_str_of(digits), &back, NULL) == 0 && back == bytes);
	size_t at = 0;
	tdm_format_count(text, sizeof text, bytes);
	for (size_t i = 0; text[i] != '\0'; i++)
		check(text[i] == ',' || text[i] == digits[at++]);
	check(digits[at] == '\0');
}

/* The same with blanks around it. */
static void check_padded(const uint8_t *data, size_t size, int err, uint64_t bytes)
{
	char *padded = malloc(size + 2);
	uint64_t again = 1;
	check(padded != NULL);
	padded[0] = ' ';
	if (size != 0)
		memcpy(padded + 1, data, size);
	padded[size + 1] = '\t';
	check(tdm_parse_bytes((struct tdm_str){ padded, size + 2 }, &again, NULL) == err);
	check(err != 0 || again == bytes);
	free(padded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t bytes = 12345;
	size_t bad = SIZE_MAX;
	int err = tdm_parse_bytes((struct tdm_str){ (const char *)data, size }, &bytes, &bad);
	check(err == 0 || err == TDM_ESYNTAX || err == -ERANGE);
	check(bad <= size);
	if (err != 0)
		check(bytes == 12345);
	else
		check_printed(bytes);
	check_padded(data, size, err, bytes);
	/* The first bytes as a number cover sizes that no text of this length can express. */
	uint64_t raw = 0;
	memcpy(&raw, data, size < sizeof raw ? size : sizeof raw);
	if (raw != TDM_BYTES_UNKNOWN)
		check_printed(raw);
	return 0;
}
