/*
 * Fuzz the opening of inputs. Exercises: input/door/input.c (levels, windows, rewinding, gzip, xz, zstd,
 * UTF-16), input/door/format.c and every recogniser. The first byte determines
 * the size of the pieces in which the input is read.
 *
 * Properties: neither the size of the pieces nor reading it again makes a difference, except how much of damaged packed
 * data comes before the error; the head is the beginning of the input; a failure has a reason and persists; decoded
 * UTF-16 is valid UTF-8.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "fuzz_input.h"

enum { BYTES_MAX = 1 << 20 }; /* to read: a few bytes may unpack to any number */

/* Reads up to BYTES_MAX in pieces and returns their number. *end is the final result of reading, or 1. */
static size_t read_pieces(struct tdm_input *input, char *out, size_t piece, int *end)
{
	size_t len = 0;
	ssize_t got = 1;
	while (len < BYTES_MAX && got > 0) {
		got = tdm_input_read(input, out + len, piece < BYTES_MAX - len ? piece : BYTES_MAX - len);
		len += got > 0 ? (size_t)got : 0;
	}
	*end = (int)(got > 0 ? 1 : got);
	check(got > 0 || tdm_input_read(input, out, 1) == got);
	check(got >= 0 || tdm_input_why(input)[0] != '\0');
	return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char whole[BYTES_MAX], pieces[BYTES_MAX];
	int end, again;
	if (size == 0)
		return 0;
	struct tdm_input *input = fuzz_open(data + 1, size - 1);
	struct tdm_str head = tdm_input_head(input);
	const struct tdm_format *format = tdm_format_of(input);
	check(format == NULL || head.len != 0);
	bool is_packed = tdm_input_packing(input) != NULL;
	check(tdm_input_rewind(input) == 0);
	size_t len = read_pieces(input, whole, BYTES_MAX, &end);
	size_t common = head.len < len ? head.len : len;
	check((head.len <= len || (is_packed && end < 0)) && memcmp(head.ptr, whole, common) == 0);
	check(is_packed || len <= 2 * size); /* two bytes of UTF-16 are at most three of UTF-8 */
	check(tdm_input_rewind(input) == 0);
	size_t read = read_pieces(input, pieces, 1 + (size_t)data[0] * 16, &again);
	check(again == end && (read == len || (is_packed && end < 0)));
	check(memcmp(whole, pieces, read < len ? read : len) == 0);
	tdm_input_close(input);
	return 0;
}
