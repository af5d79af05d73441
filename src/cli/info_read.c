/* What all views of `tidemark info` do alike: read the records, print the first refused ones, and count the rest. */
#include "base/err.h"
#include "cli/info_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { WARNINGS_MAX = 10 };

static void print(const struct tdm_info_request *request, const struct tdm_diag *diag)
{
	struct tdm_diag named = *diag;
	char text[TDM_DIAG_TEXT_CAP * 2];
	if (named.file == NULL)
		named.file = tdm_input_name(request->input);
	tdm_cmd_say("%s", tdm_diag_format(&named, text, sizeof text));
}

int tdm_info_take(void *reading, const struct tdm_record *record)
{
	struct tdm_info_reading *r = reading;
	if (record->type == TDM_RECORD_REFUSED && r->refused++ < WARNINGS_MAX)
		print(r->request, record->refused);
	return r->take != NULL ? r->take(r->to, record) : 0;
}

void tdm_info_read(struct tdm_info_reading *r)
{
	const struct tdm_info_request *request = r->request;
	const struct tdm_record_sink sink = { r, tdm_info_take };
	struct tdm_progress progress;
	tdm_progress_begin(&progress, "reading", 0);
	tdm_input_progress(request->input, &progress);
	r->err = request->format->records(request->input, &sink, &r->diag);
	tdm_input_progress(request->input, NULL);
	tdm_progress_end(&progress);
	if (r->err == -ENOMEM)
		tdm_diag_set(&r->diag, r->err, 0, 0, "out of memory");
	r->file =
		(struct tdm_file_report){ tdm_input_name(request->input), r->err != 0, request->limit, request->term };
}

int tdm_info_end(const struct tdm_info_reading *r)
{
	if (r->refused > WARNINGS_MAX)
		tdm_cmd_say("%s: %" PRIu64 " more %s%sthat cannot be used", tdm_input_name(r->request->input),
			r->refused - WARNINGS_MAX, r->noun != NULL ? r->noun : "", r->noun != NULL ? " " : "");
	if (r->err != 0)
		print(r->request, &r->diag);
	return r->err != 0 || r->refused != 0;
}

int tdm_info_refuse(const struct tdm_info_request *request, const char *why)
{
	tdm_cmd_say("%s: %s", tdm_input_name(request->input), why);
	if (request->json != NULL)
		tdm_json_put_text(request->json, "error", why);
	return 1;
}
