/*
 * Who the process of a ledger is, whether it is believed, and whether it lives.
 *
 * Anybody can write any pid into a file. A ledger that a process writes itself is believed if that process holds the
 * writer's lock and has the file's owner as a user. A ledger on behalf of a process is believed if it belongs to root,
 * to the reader's own user or to the user "tidemark", who runs the daemon; and the process lives if its pid and start
 * time do, whoever holds the lock.
 */
#ifndef TDM_SOURCES_FOLLOW_PROCESS_H
#define TDM_SOURCES_FOLLOW_PROCESS_H

#include "event/describe.h"
#include "ledger/reader.h"

#define TDM_DAEMON_USER "tidemark"

/* The reader. */
struct tdm_follow_self {
	uint64_t pid_namespace; /* 0: unknown */
	uint8_t boot_id[16];    /* all 0: unknown */
};
void tdm_follow_self_init(struct tdm_follow_self *self);

/* What was found out about a ledger. Begins with all 0. */
struct tdm_follow_judged {
	bool is_judged; /* is_claimed is set, for this holder of the lock */
	bool is_claimed;
	bool has_no_writer; /* nobody holds the lock */
	int32_t holder;
	enum tdm_liveness life; /* as the client's pid and start time had it at `life_ns`, monotonic clock; 0: never */
	uint64_t life_ns;
};

/* Whether the process of a ledger lives, and the pid of the process itself that proves it by holding the lock; 0: not
 * proved. */
enum tdm_liveness tdm_follow_liveness(const struct tdm_follow_self *self, struct tdm_follow_judged *judged,
	const struct tdm_ledger *ledger, uint64_t now_ns, int32_t *holder);

/* Completes a process that came from tdm_ledger_process. `last_seen` is the seen_pid that it had before. */
void tdm_follow_place(const struct tdm_follow_self *self, struct tdm_follow_judged *judged,
	const struct tdm_ledger *ledger, struct tdm_process *who, int32_t holder, int32_t last_seen);

#endif
