/* Opens and reads the inputs of the fuzz targets. */
#ifndef TDM_FUZZ_FUZZ_INPUT_H
#define TDM_FUZZ_FUZZ_INPUT_H

#include <stdint.h>
#include <string.h>

#include "fuzz_check.h"
#include "input/door/format.h"

/* Takes records and passes them to an analyser. Checks that a refusal has a text. */
struct fuzz_reading {
	int (*take)(void *to, const struct tdm_record *record); /* may be NULL */
	void *to;
	bool has_lines; /* a refusal must have a line, too */
	uint64_t refused;
};

static inline int fuzz_take(void *reading, const struct tdm_record *record)
{
	struct fuzz_reading *r = reading;
	if (record->type == TDM_RECORD_REFUSED) {
		check(record->refused->text[0] != '\0' && (!r->has_lines || record->refused->line != 0));
		r->refused++;
	}
	return r->take != NULL ? r->take(r->to, record) : 0;
}

static inline struct tdm_input *fuzz_open(const uint8_t *data, size_t size)
{
	struct tdm_input *input = tdm_input_memory("fuzz", (const char *)data, size);
	check(input != NULL);
	return input;
}

/* Reads everything in this format, whatever it looks like. Checks that an error has a text. */
static inline int fuzz_read(const char *format, const uint8_t *data, size_t size, struct fuzz_reading *reading)
{
	struct tdm_input *input = fuzz_open(data, size);
	struct tdm_diag diag = { 0 };
	tdm_format_of(input);
	int err = tdm_format_find(format)->records(input, &(struct tdm_record_sink){ reading, fuzz_take }, &diag);
	check(err == 0 || diag.text[0] != '\0');
	tdm_input_close(input);
	return err;
}

/* The raw bytes of an input. */
static inline ssize_t fuzz_read_bytes(void *from, char *dst, size_t cap)
{
	struct tdm_str *rest = from;
	size_t len = rest->len < cap ? rest->len : cap;
	if (len != 0)
		memcpy(dst, rest->ptr, len);
	*rest = (struct tdm_str){ rest->ptr + len, rest->len - len };
	return (ssize_t)len;
}

#endif
