/* Reads the records of a text, for tests: passes them to an analyser, and collects refused ones as "line: text", one
 * per line. */
#ifndef TESTS_UNIT_WARNINGS_H
#define TESTS_UNIT_WARNINGS_H

#include <stdio.h>
#include <string.h>

#include "input/door/format.h"

struct warnings {
	char text[2048];
	size_t len, count;
	int (*take)(void *to, const struct tdm_record *record); /* NULL: nobody */
	void *to;
};

static int warnings_take(void *context, const struct tdm_record *record)
{
	struct warnings *w = context;
	if (record->type == TDM_RECORD_REFUSED) {
		const struct tdm_diag *diag = record->refused;
		int put = snprintf(w->text + w->len, sizeof w->text - w->len, "%d: %s\n", (int)diag->line, diag->text);
		w->len += put > 0 && (size_t)put < sizeof w->text - w->len ? (size_t)put : 0;
		w->count++;
	}
	return w->take != NULL ? w->take(w->to, record) : 0;
}

/* Reads a text as this format. 0, or the code with diag set. */
static inline int read_as(const char *format, struct tdm_str text, struct warnings *w,
	int (*take)(void *to, const struct tdm_record *record), void *to, struct tdm_diag *diag)
{
	struct tdm_input *input = tdm_input_memory("test", text.ptr, text.len);
	*w = (struct warnings){ .take = take, .to = to };
	int err = tdm_format_find(format)->records(input, &(struct tdm_record_sink){ w, warnings_take }, diag);
	tdm_input_close(input);
	return err;
}

static inline bool is_recognised(const char *format, const char *head)
{
	return tdm_format_find(format)->recognise(tdm_str_of(head), "test");
}

#endif
