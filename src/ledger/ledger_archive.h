/*
 * The ledgers of clients that have ended, as a daemon keeps them: for a while where they were written, which is memory
 * (/dev/shm), then on disk, then not at all. Both places have limits by age, number and bytes; the oldest ledgers go
 * first. It looks only at ledgers of this user that were written on behalf of others.
 *
 * On disk they are in a directory like that of live ledgers, with the folder "tidemark-UID" in it, so every command
 * that takes TIDEMARK_DIR reads them.
 *
 * All work is done in small steps, because a daemon that copies a large ledger must not keep its clients waiting.
 */
#ifndef TDM_LEDGER_LEDGER_ARCHIVE_H
#define TDM_LEDGER_LEDGER_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/ledger_dir.h"

/* What a place may hold; UINT64_MAX: any amount. */
struct tdm_archive_limits {
	uint64_t age_ns; /* since the client's end */
	uint64_t count, bytes;
};

/* Ten minutes, 256 ledgers, 64 MiB in memory; thirty days, 1000 ledgers, 1 GiB on disk. */
extern const struct tdm_archive_limits tdm_archive_memory_limits, tdm_archive_disk_limits;

struct tdm_archive_options {
	const char *dir;                        /* of live ledgers; NULL: the default of tdm_ledger_dir() */
	const char *state_dir;                  /* on disk; NULL: the default of tdm_archive_state_dir() */
	struct tdm_archive_limits memory, disk; /* when a ledger leaves either place */
};

struct tdm_archive_stats {
	uint64_t memory_count, memory_bytes; /* what is there now */
	uint64_t disk_count, disk_bytes;
	uint64_t waiting; /* ledgers that nobody writes and whose client lives: damaged ones */
	uint64_t moved;   /* from memory to disk, so far */
	uint64_t removed; /* from disk, because of its limits */
	uint64_t dropped; /* from memory without being moved, because that failed and there was no more room */
	uint64_t failed;  /* attempts to move one */
	int err;          /* why the last attempt failed; 0: it did not */
};

/*
 * Where archives are: $STATE_DIRECTORY, as systemd sets it, else $XDG_STATE_HOME/tidemark, else
 * ~/.local/state/tidemark. 0, -ENOENT when none is known, or -ENAMETOOLONG.
 */
int tdm_archive_state_dir(char path[TDM_LEDGER_PATH_MAX]);

struct tdm_archive;

/* The texts in the options must outlive it. NULL only when out of memory. */
struct tdm_archive *tdm_archive_new(const struct tdm_archive_options *options);
void tdm_archive_free(struct tdm_archive *archive); /* NULL is allowed; a move in progress is given up */

/* Finds what is in both places: once, at the start. 0 or -errno; -ENOENT if there is no place yet. */
int tdm_archive_find(struct tdm_archive *archive);

/*
 * Takes care of the ledger of a client that has ended; its writer must be freed. One without live buffers tells nothing
 * and is removed. 0; -EBUSY: the client or the writer lives; -EINVAL: it is not a ledger on behalf; -EPERM: it is not
 * this user's; or -errno.
 */
int tdm_archive_add(struct tdm_archive *archive, const char *path);

/* Does a piece of what the limits demand, which copies at most `bytes` bytes. `real_ns`: real-time clock. True: there
 * is more to do now; false: not before another ledger is added or grows too old. */
bool tdm_archive_step(struct tdm_archive *archive, uint64_t real_ns, size_t bytes);

struct tdm_archive_stats tdm_archive_get_stats(const struct tdm_archive *archive);

#endif
