/* What a reader complained about, for tests: "line: text" of each, one a line. */
#ifndef TESTS_UNIT_WARNINGS_H
#define TESTS_UNIT_WARNINGS_H

#include <stdio.h>
#include <string.h>

#include "base/diag.h"

struct warnings {
	char text[2048];
	size_t len, count;
};

static void warnings_add(void *context, const struct tdm_diag *diag)
{
	struct warnings *w = context;
	int put = snprintf(w->text + w->len, sizeof w->text - w->len, "%d: %s\n", (int)diag->line, diag->text);
	w->len += put > 0 && (size_t)put < sizeof w->text - w->len ? (size_t)put : 0;
	w->count++;
}

#endif
