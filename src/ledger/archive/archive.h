/* Ledgers of ended processes: removes them, and archives the ones that a daemon wrote. */
#ifndef TDM_LEDGER_ARCHIVE_H
#define TDM_LEDGER_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/layout/ledger_file.h"

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
 * are removed. Both places have limits on age, number and bytes; the oldest ledgers go first. Only ledgers of this user
 * that were written on behalf of others are touched.
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
	/* ledgers removed from memory without being moved, because moving failed and memory was full */
	uint64_t dropped;
	uint64_t failed; /* failed attempts to move a ledger */
	int err;         /* 0, or why the last attempt failed */
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

struct tdm_archive_stats tdm_archive_get_stats(const struct tdm_archive *archive);

#endif
