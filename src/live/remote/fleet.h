/*
 * The pictures from other machines' daemons, joined into one: the devices and processes of all, each with its host. A
 * machine that does not answer keeps its last figures, with their age, and is listed as a problem.
 *
 * A look sends one request to each machine, all at once (using libcurl), and waits until all have answered or time is
 * up. Each answer is read into a picture (remote_picture.h); then those pictures are joined: keys made unique, clocks
 * shifted, indices renumbered.
 *
 * Machines' clocks differ, so times are shifted to one clock, which runs like this machine's. The difference is
 * measured once and kept: if it changed with every answer, buffers would seem to move in time.
 */
#ifndef TDM_LIVE_FLEET_H
#define TDM_LIVE_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "live/join/picture.h"
#include "base/buf.h"

/*
 * Machines are named "HOST[:PORT]", "http://HOST…", "https://HOST…" (for a proxy, with a path if it needs one), or
 * "unix:PATH" for a daemon's socket on this machine. All machines are asked at the same time, over HTTP. An answer is
 * kept until the next one arrives, so a machine that does not answer does not delay the others.
 */
struct tdm_fleet_options {
	const char *hosts;             /* separated by commas */
	const char *token;             /* bearer token; NULL if there is none */
	unsigned timeout_ms;           /* time-out of a request; 0 for the default */
	bool only_tracked;             /* only processes with a ledger */
	bool with_ended, with_crashed; /* as in tdm_state_options */
	const int32_t *pids;
	size_t pid_count;
};

struct tdm_fleet;

/* Returns 0 and sets *out, or returns a negative code and sets diag. */
int tdm_fleet_new(const struct tdm_fleet_options *options, struct tdm_fleet **out, struct tdm_diag *diag);
void tdm_fleet_free(struct tdm_fleet *fleet); /* NULL is allowed */

/* A new picture, borrowed until the next call. The first call waits until every machine has answered or failed; later
 * calls wait only a short time, and take late answers next time. */
const struct tdm_picture *tdm_fleet_look(struct tdm_fleet *fleet, const struct tdm_wish *wish);

/* The oldest time, by the joined picture's clock, of the answering machines' pictures. Never goes back. */
uint64_t tdm_fleet_since(const struct tdm_fleet *fleet);

/* Makes the pictures available to the screens. */
struct tdm_provider tdm_fleet_provider(struct tdm_fleet *fleet);

#endif
