/* Ledgers of ended processes: removes them, and archives the ones that a daemon wrote. */
#ifndef TDM_LEDGER_ARCHIVE_H
#define TDM_LEDGER_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/layout/ledger_file.h"
#include "ledger/read/fair.h"

/* ---- removing the ledgers and folders of dead processes ---- */

/*
 * Removes a ledger if it is a regular file with a ledger's name, belongs to this user, and has a dead writer. Returns
 * 0; -EBUSY: the writer is alive or still setting it up; -EPERM: the file belongs to another user; -EINVAL: the file
 * does not have a ledger's name; or -errno.
 */
int tdm_ledger_reap(const char *path);

/* Removes the folder made by a `tidemark run`, and the users' folders in it, if they are empty. 0 or -errno. */
int tdm_ledger_reap_run(const char *path);

/* Does the same for each folder in `dir` that belongs to this user and whose `tidemark run` has ended. Then removes
 * this user's own folder if it is empty. */
void tdm_ledger_reap_dirs(const char *dir);

/*
 * ---- the archive of a daemon ----
 *
 * Keeps the ledgers of ended clients: first where they were written, in memory (/dev/shm), then on disk; finally they
 * are removed. Both places have limits on age, number and bytes. The oldest ledgers go first; if a place is full, those
 * of the clients' user who has most there, so that many short-lived clients of one user cost nobody else a ledger. Only
 * ledgers of this user that were written on behalf of others are touched.
 *
 * A ledger that cannot be moved stays in memory as long as the limits of the disk allow, and while there is room: a
 * part of the file system is kept free for the ledgers of running programs. If there is no room, the oldest ledger is
 * moved before its time, or removed if it cannot be moved.
 *
 * The directory on disk has the layout of the one for live ledgers (a folder "tidemark-UID"), so every command that
 * takes TIDEMARK_DIR reads it.
 *
 * All work is done in small steps: copying a large ledger must not keep the daemon's clients waiting. Each step does
 * the first of these tasks that is due: continue the copy in progress; remove the oldest ledger on disk; begin to move
 * the oldest ledger in memory; check whether the client of a ledger without a writer has ended.
 */

/* The limits of one place; UINT64_MAX means no limit. */
struct tdm_archive_limits {
	uint64_t age_ns; /* maximum time since the client ended */
	uint64_t count, bytes;
};

/* Ten minutes, 256 ledgers, 64 MiB in memory; thirty days, 1000 ledgers, 1 GiB on disk. */
extern const struct tdm_archive_limits tdm_archive_memory_limits, tdm_archive_disk_limits;

struct tdm_archive_options {
	const char *dir;       /* directory of live ledgers; NULL for the default of tdm_ledger_dir() */
	const char *state_dir; /* directory on disk; NULL for the default of tdm_archive_state_dir() */
	struct tdm_archive_limits memory, disk; /* limits at which a ledger leaves each place */
};

struct tdm_archive_stats {
	uint64_t memory_count, memory_bytes; /* ledgers in memory now */
	uint64_t disk_count, disk_bytes;
	uint64_t waiting; /* damaged ledgers that have no writer although the client is still running */
	uint64_t moved;   /* ledgers moved from memory to disk so far */
	uint64_t removed; /* ledgers removed from disk because of the disk's limits */
	/* ledgers removed from memory because they could not be moved, and there was no room or the disk's limits were
	 * exceeded */
	uint64_t dropped;
	uint64_t failed;  /* failed attempts to move a ledger, */
	uint64_t no_disk; /* and how many of them failed because the disk was full */
	int err;          /* 0, or why ledgers cannot be moved now, -errno */
};

/*
 * Where archives are: $STATE_DIRECTORY, as systemd sets it, else $XDG_STATE_HOME/tidemark, else
 * ~/.local/state/tidemark. 0, -ENOENT when none is known, or -ENAMETOOLONG.
 */
int tdm_archive_state_dir(char path[TDM_LEDGER_PATH_MAX]);

struct tdm_archive;

/* The strings in the options must outlive the archive. */
struct tdm_archive *tdm_archive_new(const struct tdm_archive_options *options);
void tdm_archive_free(struct tdm_archive *archive); /* NULL is allowed; a move in progress is abandoned */

/*
 * Finds the ledgers in both places. Call this function once, at the start. 0 or -errno; -ENOENT if there is no
 * directory yet.
 */
int tdm_archive_find(struct tdm_archive *archive);

/*
 * Takes over the ledger of an ended client, whose writer must have been freed. A ledger without live buffers is
 * removed. Returns 0; -EBUSY: the client or the writer is still running; -EINVAL: the ledger was not written on behalf
 * of a client; -EPERM: it belongs to another user; or -errno.
 */
int tdm_archive_add(struct tdm_archive *archive, const char *path);

/*
 * Takes one step towards the limits, copying at most `bytes` bytes. `real_ns`: real-time clock. Returns true if there
 * is more to do now, false if there is nothing to do until a ledger is added or grows too old.
 */
bool tdm_archive_step(struct tdm_archive *archive, uint64_t real_ns, size_t bytes);

/*
 * To be called when a running client's ledger could not grow: moves the oldest ledger in memory, or removes it if it
 * cannot be moved, copying at most `bytes` bytes. Returns whether a ledger has gone. Does nothing if the file system is
 * not the reason.
 */
bool tdm_archive_make_room(struct tdm_archive *archive, uint64_t real_ns, size_t bytes);

/* Where ledgers are moved to; "" if there is no such place. */
const char *tdm_archive_place(const struct tdm_archive *archive);

/* 0 if there is room for another ledger in a directory; else why not, such as -ENOSPC or -EACCES. */
int tdm_archive_room(const char *dir);

struct tdm_archive_stats tdm_archive_get_stats(const struct tdm_archive *archive);

/* For each user of clients, the number of ledgers removed because a place was full (`left`). Borrowed. */
const struct tdm_fair *tdm_archive_left(const struct tdm_archive *archive);

#endif
