/* Values and ranges that the user gives to names: "num_tiles=16", "num_tiles=1..64". */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/pattern.h"
#include "base/reserve.h"
#include "scan/expr.h"

#define NUMBER_MAX (INT64_MAX - 1) /* the largest of all stands for "no bound" */

static struct tdm_str before(struct tdm_str text, const char *mark, struct tdm_str *after)
{
	const char *at = text.len != 0 ? memmem(text.ptr, text.len, mark, strlen(mark)) : NULL;
	if (at == NULL) {
		*after = (struct tdm_str){ NULL, 0 };
		return text;
	}
	size_t len = (size_t)(at - text.ptr), skip = len + strlen(mark);
	*after = tdm_str_trim((struct tdm_str){ text.ptr + skip, text.len - skip });
	return tdm_str_trim((struct tdm_str){ text.ptr, len });
}

static bool read_number(struct tdm_str text, int64_t *number)
{
	uint64_t value;
	if (!tdm_pattern_number(text, &value) || value > (uint64_t)NUMBER_MAX)
		return false;
	*number = (int64_t)value;
	return true;
}

int tdm_settings_add(struct tdm_settings *settings, const char *text, struct tdm_diag *diag)
{
	struct tdm_str value, upper;
	struct tdm_setting setting = { .name = before(tdm_str_of(text), "=", &value) };
	if (value.ptr == NULL || setting.name.len == 0)
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "\"%s\" is not NAME=NUMBER or NAME=FROM..TO", text);
	struct tdm_str lower = before(value, "..", &upper);
	bool is_read = read_number(lower, &setting.min) && (upper.ptr == NULL || read_number(upper, &setting.max));
	if (!is_read)
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0,
			"\"%s\" is not a number from 0 to %" PRId64 ", or two as in 1..64", value.ptr, NUMBER_MAX);
	setting.max = upper.ptr == NULL ? setting.min : setting.max;
	if (setting.min > setting.max)
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "the range of %s ends before it begins", text);
	int err = tdm_reserve(&settings->list, &settings->cap, settings->count + 1, sizeof *settings->list);
	if (err == 0)
		settings->list[settings->count++] = setting;
	return err;
}

void tdm_settings_done(struct tdm_settings *settings)
{
	free(settings->list);
	*settings = (struct tdm_settings){ 0 };
}

const struct tdm_setting *tdm_settings_find(const struct tdm_settings *settings, struct tdm_str name)
{
	for (size_t i = settings->count; i > 0; i--)
		if (tdm_str_eq(settings->list[i - 1].name, name))
			return &settings->list[i - 1];
	return NULL;
}
