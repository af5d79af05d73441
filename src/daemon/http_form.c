#include "daemon/http_form.h"

#include <string.h>
#include <strings.h>

static void take_accept(struct tdm_http_form *form, const char *value)
{
	size_t len = strlen(value);
	if (len > sizeof form->accept - form->accept_len - 2)
		return;
	memcpy(form->accept + form->accept_len, value, len);
	memcpy(form->accept + form->accept_len + len, ",", 2);
	form->accept_len += len + 1;
}

static enum MHD_Result take_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct tdm_http_form *form = context;
	(void)kind;
	value = value != NULL ? value : "";
	/* A proxy may read "Content-Length : 9" as a length, and see one request where libmicrohttpd sees two. */
	form->has_odd_name |= strpbrk(name, " \t\r\n") != NULL;
	if (strcasecmp(name, "Host") == 0) {
		form->hosts++;
		form->host = value;
	} else if (strcasecmp(name, "Accept") == 0) {
		take_accept(form, value);
	} else if (strcasecmp(name, "Content-Length") == 0) {
		form->lengths++;
		form->has_body |= strcmp(value, "0") != 0;
	} else if (strcasecmp(name, "Transfer-Encoding") == 0) {
		form->encodings++;
		form->has_body = true;
	}
	return MHD_YES;
}

static enum MHD_Result take_argument(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct tdm_http_form *form = context;
	struct tdm_api_request *request = &form->page->api;
	(void)kind;
	form->too_many |= request->argument_count == TDM_ARGUMENTS_MAX;
	if (!form->too_many)
		request->arguments[request->argument_count++] =
			(struct tdm_argument){ name, value != NULL ? value : "" };
	return MHD_YES;
}

void tdm_http_form_read(struct tdm_http_form *form, struct MHD_Connection *connection, struct tdm_page_request *request)
{
	*form = (struct tdm_http_form){ .page = request };
	MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header, form);
	MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_argument, form);
	request->accept = form->accept;
}

unsigned tdm_http_form_check(const struct tdm_http_form *form, const char *method, bool is_unix, const char **reason)
{
	*reason = "the name of a header has no blanks";
	if (form->has_odd_name)
		return MHD_HTTP_BAD_REQUEST;
	*reason = "a request has no body here";
	if (form->has_body || form->lengths > 1 || form->encodings != 0)
		return MHD_HTTP_BAD_REQUEST;
	*reason = "only GET and HEAD are possible";
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return MHD_HTTP_METHOD_NOT_ALLOWED;
	*reason = "a request has one header Host";
	if (form->hosts != 1 && !(is_unix && form->hosts == 0))
		return MHD_HTTP_BAD_REQUEST;
	*reason = "too many arguments";
	return form->too_many ? MHD_HTTP_BAD_REQUEST : 0;
}
