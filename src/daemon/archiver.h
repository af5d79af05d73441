/* Moves the ledgers of ended clients from memory to disk, a piece at a time between the rounds of the loop. */
#ifndef TDM_DAEMON_ARCHIVER_H
#define TDM_DAEMON_ARCHIVER_H

#include "daemon/daemon.h"
#include "daemon/loop.h"
#include "ledger/ledger_archive.h"

struct tdm_archiver {
	struct tdm_loop *loop;
	struct tdm_archive *archive;
	struct tdm_timer timer;
};

/* 0 or -ENOMEM. What earlier daemons have left is found here, too. */
int tdm_archiver_init(struct tdm_archiver *archiver, struct tdm_loop *loop, const struct tdm_daemon_options *options);
void tdm_archiver_done(struct tdm_archiver *archiver);

/* A ledger that nobody writes any more. */
void tdm_archiver_add(struct tdm_archiver *archiver, const char *path);

#endif
