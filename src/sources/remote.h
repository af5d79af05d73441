/*
 * Asks the daemons of other machines over HTTP, all at the same time. An answer is kept until the next one, so a
 * machine that does not answer does not hold up the others.
 *
 * Machines are named "HOST[:PORT]", "http://HOST…", "https://HOST…" (for a proxy, with a path if it needs one), or
 * "unix:PATH" for a daemon's socket on this machine.
 */
#ifndef TDM_SOURCES_REMOTE_H
#define TDM_SOURCES_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"

enum {
	TDM_REMOTE_PORT = 9740,
	TDM_REMOTE_HOSTS_MAX = 1024,
	TDM_REMOTE_NAME_CAP = 128,
	TDM_REMOTE_REASON_CAP = 200,
	TDM_REMOTE_TIMEOUT_MS = 5000,
	TDM_REMOTE_AGAIN_MS = 1000, /* a machine that did not answer is asked again after this time */
};

struct tdm_remote_options {
	const char *hosts;   /* separated by commas */
	const char *token;   /* NULL: none */
	unsigned timeout_ms; /* of a request; 0: TDM_REMOTE_TIMEOUT_MS */
};

struct tdm_remote_host {
	char name[TDM_REMOTE_NAME_CAP];     /* as it was given, without the standard port; each once */
	struct tdm_buf answer;              /* the last one */
	uint64_t answered_ns;               /* monotonic clock, when it came; 0: none has */
	uint64_t answers;                   /* how many have come */
	char reason[TDM_REMOTE_REASON_CAP]; /* why the last request failed, a sentence without its stop; empty: it did
					       not */
};

struct tdm_remote;

/* 0 with *out set, or a negative code with diag set. */
int tdm_remote_new(const struct tdm_remote_options *options, struct tdm_remote **out, struct tdm_diag *diag);
void tdm_remote_free(struct tdm_remote *remote); /* NULL is allowed */

/*
 * Asks every machine that is not being asked for `path`, and waits until all have answered or failed, for at most
 * `wait_ms`. Later answers are taken by the next call. An answer above `most` bytes is refused. A machine that may not
 * show us so much (status 403) is asked for `simpler` from then on, a text that lives as long as `remote`; NULL: it
 * fails. 0 or a negative code.
 */
int tdm_remote_ask(struct tdm_remote *remote, const char *path, const char *simpler, size_t most, unsigned wait_ms);

size_t tdm_remote_count(const struct tdm_remote *remote);
struct tdm_remote_host *tdm_remote_host(struct tdm_remote *remote, size_t i);

#endif
