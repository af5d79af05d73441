/* Reads the records of a text with one reader, for tests of logs. */
#ifndef TESTS_UNIT_LOG_RECORDS_H
#define TESTS_UNIT_LOG_RECORDS_H

#include <stdio.h>
#include <string.h>

#include "input/log/log_reader.h"
#include "log_record_valid.h"
#include "open_input.h"

#define U TDM_LOG_UNKNOWN

/* The records of a text; texts of theirs are only good for the last line. */
struct records {
	struct tdm_log_record at[64];
	size_t count, repeats, refused;
};

static struct tdm_log_reader reader;
static struct tdm_input *input; /* that it reads */

static inline struct records read_text(const char *text, size_t len)
{
	struct records r = { .count = 0 };
	struct tdm_diag diag = { 0 };
	int got;
	tdm_input_close(input);
	input = input_of_text(text, len);
	tdm_log_reader_open(&reader, input);
	tdm_log_reader_sample(&reader);
	while ((got = tdm_log_reader_next(&reader, &r.at[r.count < 63 ? r.count : 63], &diag)) != 0) {
		if (got < 0) {
			r.refused++;
			assert_true(diag.line != 0 && diag.text[0] != '\0');
			continue;
		}
		assert_true(log_record_is_valid(&r.at[r.count]));
		r.repeats += r.at[r.count].is_repeat;
		assert_true(r.count++ < 63);
	}
	return r;
}

/* The one record of a line. */
static inline struct tdm_log_record one(const char *line)
{
	static char kept[1024];
	tdm_log_reader_done(&reader);
	snprintf(kept, sizeof kept, "%s", line);
	struct records r = read_text(kept, strlen(kept));
	if (r.count != 1)
		fail_msg("%zu records in: %s", r.count, line);
	return r.at[0];
}

static inline int tear_down(void **state)
{
	(void)state;
	tdm_log_reader_done(&reader);
	return 0;
}

#endif
