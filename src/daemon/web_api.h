/*
 * The documents of /api/v1, made by the functions of `status --json`, `dump --json` and `leaks --json`. They only need
 * a picture; http.c knows how requests come in.
 */
#ifndef TDM_DAEMON_WEB_API_H
#define TDM_DAEMON_WEB_API_H

#include "analyze/live_buffers.h"
#include "base/buf.h"
#include "daemon/access.h"
#include "daemon/sse.h"
#include "sources/host.h"
#include "sources/machine.h"
#include "state/picture.h"

/* A part of the query of a request: "?name=value". */
struct tdm_argument {
	const char *name, *value; /* "" if there is none */
};

enum { TDM_ARGUMENTS_MAX = 16 };

struct tdm_api_request {
	const struct tdm_picture *picture;
	const struct tdm_host *host;
	const struct tdm_machine *machine;
	enum tdm_right right; /* at least TDM_RIGHT_TOTALS */
	uint32_t uid;         /* of TDM_RIGHT_OWN */
	struct tdm_argument arguments[TDM_ARGUMENTS_MAX];
	size_t argument_count;
};

/* What was asked for, besides the document. */
struct tdm_api_wish {
	const char *device; /* as `--device`; NULL: all */
	int32_t pid;        /* 0: all */
	struct tdm_buffer_filter filter;
	enum tdm_buffer_sort sort;
	uint64_t limit, skip;
	bool with_buffers, with_ended; /* of the whole picture */
};

/* Understands the arguments that are named in `allowed`, a text such as "device pid". 0, or TDM_ESYNTAX with a
 * message. */
int tdm_api_parse(
	const struct tdm_api_request *request, const char *allowed, struct tdm_api_wish *wish, struct tdm_diag *diag);

void tdm_api_status(const struct tdm_api_request *request, const struct tdm_api_wish *wish, struct tdm_buf *out);
void tdm_api_devices(const struct tdm_api_request *request, const struct tdm_api_wish *wish, struct tdm_buf *out);
void tdm_api_processes(const struct tdm_api_request *request, const struct tdm_api_wish *wish, struct tdm_buf *out);
void tdm_api_error(unsigned status, const char *reason, struct tdm_buf *out);

/* The whole picture, for another machine. */
void tdm_api_picture(const struct tdm_api_request *request, struct tdm_buf *out);

/* Live buffers, or a whole picture with buffers or ended processes: looks at the machine and writes the document to a
 * descriptor. For a process of its own (worker.h): it gives up its rights once it has looked. */
struct tdm_api_job {
	const char *dir; /* of the ledgers */
	bool by_user;
	uint32_t uid;
	struct tdm_api_wish wish;
};
void tdm_api_buffers(void *request, int fd);
void tdm_api_whole_picture(void *request, int fd);

/* In such a process: gives up root's rights for those of a user, or of nobody. Ends the process if that fails. */
void tdm_api_drop_rights(bool by_user, uint32_t uid);

#endif
