#include "base/diag.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

int tdm_diag_set(struct tdm_diag *diag, int err, uint64_t line, uint64_t column, const char *format, ...)
{
	if (diag == NULL)
		return err;
	diag->line = line;
	diag->column = column;
	va_list args;
	va_start(args, format);
	vsnprintf(diag->text, sizeof diag->text, format, args);
	va_end(args);
	return err;
}

char *tdm_diag_format(const struct tdm_diag *diag, char *dst, size_t cap)
{
	const char *file = diag->file != NULL ? diag->file : "input";
	if (diag->line == 0)
		snprintf(dst, cap, "%s: %s", file, diag->text);
	else if (diag->column == 0)
		snprintf(dst, cap, "%s:%" PRIu64 ": %s", file, diag->line, diag->text);
	else
		snprintf(dst, cap, "%s:%" PRIu64 ":%" PRIu64 ": %s", file, diag->line, diag->column, diag->text);
	return dst;
}
