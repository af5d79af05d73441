/* Opens inputs and sources from texts and descriptors, for tests. */
#ifndef TESTS_UNIT_OPEN_INPUT_H
#define TESTS_UNIT_OPEN_INPUT_H

#include <stdio.h>

#include "input/door/format.h"

static inline struct tdm_input *input_of_text(const char *text, size_t len)
{
	struct tdm_input *input = tdm_input_memory("test", text, len);
	assert_non_null(input);
	return input;
}

/* By the name that the descriptor has here; it stays the caller's. */
static inline struct tdm_input *input_of_fd(int fd)
{
	struct tdm_input *input;
	char path[64];
	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	assert_int_equal(tdm_input_open(path, &input), 0);
	return input;
}

/* The events of an input, which is taken over. */
struct test_source {
	struct tdm_input *input;
	struct tdm_source *source;
};

static inline struct test_source source_of_input(const char *format, struct tdm_input *input)
{
	struct test_source s = { input, tdm_format_find(format)->events(input) };
	assert_non_null(s.source);
	return s;
}

static inline struct test_source source_of_text(const char *format, const char *text, size_t len)
{
	return source_of_input(format, input_of_text(text, len));
}

static inline void source_done(struct test_source *s)
{
	tdm_source_close(s->source);
	tdm_input_close(s->input);
}

#endif
