/*
 * Watches all buffers for leaks, in a process of its own: takes pictures with buffers for a while, judges them
 * (analyze/leaks.h), sends what it found, and begins again. It begins when somebody first asks.
 *
 * With more than TDM_LEAK_BUFFERS_MAX buffers nothing is judged: the watch would take more memory than the daemon.
 *
 * It also sends the largest free blocks, which need every buffer, too.
 */
#ifndef TDM_DAEMON_LEAK_WATCH_H
#define TDM_DAEMON_LEAK_WATCH_H

#include "base/buf.h"
#include "daemon/worker.h"
#include "report/metrics.h"

enum { TDM_LEAK_ROWS_MAX = 256, TDM_LEAK_USERS_MAX = 64, TDM_LEAK_DEVICES_MAX = 256, TDM_LEAK_BUFFERS_MAX = 250000 };

/* The free space of a device, as in struct tdm_picture_device. */
struct tdm_leak_space {
	uint64_t device; /* key */
	uint64_t space_ns, l1_lowest, cb_highest;
	uint64_t largest[TDM_KIND_COUNT];
};

/* The findings of one user's programs as JSON. */
struct tdm_leak_document {
	uint32_t uid;
	struct tdm_buf text;
};

struct tdm_leak_watch {
	struct tdm_loop *loop;
	const char *dir; /* of the ledgers */
	uint64_t watch_ns;
	bool runs;
	struct tdm_worker worker;
	struct tdm_buf input;
	uint64_t judged_ns; /* monotonic clock; 0: never */
	struct tdm_metrics_leak rows[TDM_LEAK_ROWS_MAX];
	size_t row_count;
	struct tdm_leak_space spaces[TDM_LEAK_DEVICES_MAX];
	size_t space_count;
	struct tdm_leak_document documents[TDM_LEAK_USERS_MAX + 2];
	size_t document_count;
	uint64_t begun_ns; /* when the process was started */
};

/* `watch_ns`: 0: as usual. */
void tdm_leak_watch_init(struct tdm_leak_watch *watch, struct tdm_loop *loop, const char *dir, uint64_t watch_ns);
void tdm_leak_watch_done(struct tdm_leak_watch *watch);

/* Starts the process unless it runs. */
void tdm_leak_watch_start(struct tdm_leak_watch *watch);

/* Copies what was found on devices of this picture; how much. */
size_t tdm_leak_watch_rows(const struct tdm_leak_watch *watch, const struct tdm_picture *picture,
	struct tdm_metrics_leak rows[TDM_LEAK_ROWS_MAX]);

/* Adds the largest free blocks to a picture that has older ones, or none. */
void tdm_leak_watch_add_space(const struct tdm_leak_watch *watch, const struct tdm_picture *picture);

/* Since the last judgement; TDM_BYTES_UNKNOWN: there is none, or it is too old. */
uint64_t tdm_leak_watch_age(const struct tdm_leak_watch *watch, uint64_t now_ns);

/* The document for a user, TDM_UID_UNKNOWN: of all; empty: there is none yet. Borrowed until the loop goes on. */
struct tdm_str tdm_leak_watch_document(const struct tdm_leak_watch *watch, uint32_t uid);

#endif
