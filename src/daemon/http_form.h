/* The form of a request: what its headers say, whatever it asks for. */
#ifndef TDM_DAEMON_HTTP_FORM_H
#define TDM_DAEMON_HTTP_FORM_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#include "daemon/pages.h"

struct tdm_http_form {
	unsigned hosts, lengths, encodings;
	const char *host;
	char accept[1024]; /* all headers Accept, as one list; what does not fit is left out */
	size_t accept_len;
	bool has_body, has_odd_name;
	struct tdm_page_request *page; /* gets the arguments */
	bool too_many;
};

/* Also sets `accept`, which is part of the form, and the arguments of the request. */
void tdm_http_form_read(
	struct tdm_http_form *form, struct MHD_Connection *connection, struct tdm_page_request *request);

/* A request that is refused before anything else is looked at; its connection is closed. 0: it is in order; else the
 * status, with *reason set. */
unsigned tdm_http_form_check(const struct tdm_http_form *form, const char *method, bool is_unix, const char **reason);

#endif
