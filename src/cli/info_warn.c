#include "cli/info_warn.h"

#include <inttypes.h>
#include <stdio.h>

enum { WARNINGS_MAX = 10 };

static void print(const struct tdm_info_warnings *warnings, const struct tdm_diag *diag)
{
	struct tdm_diag named = *diag;
	char text[TDM_DIAG_TEXT_CAP * 2];
	if (named.file == NULL)
		named.file = warnings->path;
	fprintf(stderr, "%s\n", tdm_diag_format(&named, text, sizeof text));
}

void tdm_info_warn(void *context, const struct tdm_diag *diag)
{
	struct tdm_info_warnings *warnings = context;
	if (warnings->count++ < WARNINGS_MAX)
		print(warnings, diag);
}

int tdm_info_warn_end(const struct tdm_info_warnings *warnings, int err, const struct tdm_diag *diag)
{
	if (warnings->count > WARNINGS_MAX)
		fprintf(stderr, "%s: %" PRIu64 " more that cannot be used\n", warnings->path,
			warnings->count - WARNINGS_MAX);
	if (err != 0)
		print(warnings, diag);
	return err != 0 || warnings->count != 0;
}
