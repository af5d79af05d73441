/* What all views of `tidemark info` do alike: read the records, print the first refused ones, and count the rest. */
#include "base/err.h"
#include "cli/info_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { WARNINGS_MAX = 10 };

static struct tdm_digest_part *part_of(const struct tdm_info_request *request)
{
	const struct tdm_digest *digest = request->digest;
	return digest != NULL ? digest->parts[digest->part_count - 1] : NULL;
}

void tdm_info_say(const struct tdm_info_request *request, const char *format, ...)
{
	struct tdm_digest_part *part = part_of(request);
	char *text;
	va_list arguments;
	va_start(arguments, format);
	int len = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (len >= 0 && part != NULL)
		tdm_digest_say(part, tdm_str_of(text));
	else
		tdm_cmd_say("%s", len >= 0 ? text : tdm_err_text(-ENOMEM));
	if (len >= 0)
		free(text);
}

void tdm_info_found(const struct tdm_info_request *request, struct tdm_findings *found)
{
	tdm_digest_take(request->digest, found, NULL);
}

void tdm_info_nothing(const struct tdm_info_request *request)
{
	if (request->digest != NULL)
		part_of(request)->is_empty = true;
}

static void print(const struct tdm_info_request *request, const struct tdm_diag *diag)
{
	struct tdm_diag named = *diag;
	char text[TDM_DIAG_TEXT_CAP * 2];
	if (named.file == NULL)
		named.file = tdm_input_name(request->input);
	tdm_info_say(request, "%s", tdm_diag_format(&named, text, sizeof text));
}

void tdm_info_unrelated(const struct tdm_info_request *request)
{
	if (request->digest != NULL)
		part_of(request)->is_unrelated = true;
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
		tdm_info_say(r->request, "%s: %" PRIu64 " more %s%sthat cannot be used",
			tdm_input_name(r->request->input), r->refused - WARNINGS_MAX, r->noun != NULL ? r->noun : "",
			r->noun != NULL ? " " : "");
	if (r->err != 0)
		print(r->request, &r->diag);
	return r->err != 0 || r->refused != 0;
}

int tdm_info_refuse(const struct tdm_info_request *request, const char *why)
{
	tdm_info_say(request, "%s: %s", tdm_input_name(request->input), why);
	if (request->json != NULL)
		tdm_json_put_text(request->json, "error", why);
	tdm_info_nothing(request);
	return 1;
}
