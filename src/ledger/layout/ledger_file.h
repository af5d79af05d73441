/*
 * Locates ledgers, and implements the writer's side of the file: creates the file and makes it grow. Not on the hot
 * path. Does not use malloc, because it runs in tracked programs.
 *
 * A file is created in its user's folder, locked, and mapped area by area: the header, then whatever the writer needs.
 * Areas never move or shrink. Pages are reserved before they are touched, so a full file system causes an error, not a
 * signal. If somebody deletes the file, its content is copied from memory to a new file.
 */
#ifndef TDM_LEDGER_LEDGER_FILE_H
#define TDM_LEDGER_LEDGER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/layout/guest.h"
#include "ledger/layout/layout.h"

/*
 * ---- folders ----
 *
 * The directory of all users ($TIDEMARK_DIR, else TDM_LEDGER_DEFAULT_DIR) has a folder for each user, "tidemark-UID",
 * to which only that user can write. If another user took that name, the folder is called "tidemark-UID.N". The
 * settings of ledgers are parsed here.
 */

#define TDM_LEDGER_DEFAULT_DIR "/dev/shm"
#define TDM_LEDGER_USER_PREFIX "tidemark-"
#define TDM_LEDGER_RUN_PREFIX  "run." /* prefix of the folder that `tidemark run` makes in its user's folder */

enum { TDM_LEDGER_PATH_MAX = 512 };

/* Returns `dir`; if that is NULL, $TIDEMARK_DIR; if that is not set, TDM_LEDGER_DEFAULT_DIR. */
const char *tdm_ledger_dir(const char *dir);

/*
 * Parses TIDEMARK_MODE, a ledger's permissions, which at most let others read: 0600, 0640, 0604 or 0644. NULL and ""
 * mean 0600. -EINVAL for anything else, with *mode set to 0600.
 */
int tdm_ledger_parse_mode(const char *text, uint32_t *mode);

/*
 * Parses TIDEMARK_RING, the number of records in a ring, and rounds it up to a power of two. NULL and "" mean
 * TDM_LEDGER_RING. For anything but a number from TDM_LEDGER_RING_MIN to TDM_LEDGER_RING_MAX, returns -EINVAL with
 * *records set to TDM_LEDGER_RING.
 */
int tdm_ledger_parse_ring(const char *text, uint32_t *records);

/* The permissions of a folder holding ledgers with these permissions. */
static inline uint32_t tdm_ledger_folder_mode(uint32_t mode)
{
	return 0700 | ((mode & 0040) != 0 ? 0050 : 0) | ((mode & 0004) != 0 ? 0005 : 0);
}

/*
 * Opens this user's folder in `dir`, after creating it if necessary, and makes it readable by other users if `mode` (a
 * ledger's permissions) lets them read. Stores the folder's absolute path. Returns a descriptor for use with the *at()
 * functions only (O_PATH), or -errno; -EEXIST if other users own every name that was tried.
 */
int tdm_ledger_open_folder(const char *dir, uint32_t mode, char path[TDM_LEDGER_PATH_MAX]);

/*
 * Records why a process could not make its ledger (-errno) in the folder made by `tidemark run`, for that command's
 * summary. The code is stored as the folder's modification time, because there may be no space, inode or descriptor
 * left. Other folders stay unchanged. tdm_ledger_failure() returns 0 if no reason was recorded, or if a ledger was made
 * afterwards.
 */
void tdm_ledger_leave_failure(const char *dir, int err);
int tdm_ledger_failure(const char *dir);

/*
 * ---- the file ----
 *
 * Every page is reserved before it is touched, so a full file system causes an error code, not a signal in somebody's
 * program. If the file is truncated, which only the writer's own user can do, touching a missing page raises a signal,
 * as with any mapped file.
 */

/* A mapped part of the file. */
struct tdm_ledger_mapped {
	void *at;
	size_t bytes;
	uint64_t offset;
};

/* A part of the file that may be touched. */
struct tdm_ledger_span {
	uint64_t from, to;
};

/*
 * The process for which a ledger is written, if that is not the writer itself. All of these facts come from the kernel:
 * the socket's peer, and /proc/PID/stat.
 */
struct tdm_behalf {
	int32_t pid; /* in the writer's pid namespace */
	uint32_t uid;
	uint64_t start_time; /* field 22 of /proc/PID/stat, clock ticks since boot */
	uint32_t generation; /* number of execs, if known; the next free generation is used */
};

struct tdm_ledger_file {
	int fd;
	struct tdm_ledger_header *header; /* the mapped header */
	char path[TDM_LEDGER_PATH_MAX];
	uint64_t device_no, inode; /* identify the file */
	uint64_t start;            /* start time of the process, as in the file's name */
	int32_t pid;               /* pid of the process, as in the file's name */
	bool is_on_behalf;         /* written for another process: one of thousands of ledgers, so it must be small */
	uint32_t generation, mode;
	/* copy of the header's word; the word is never read back, because others can write to the file */
	uint64_t size;
	struct tdm_ledger_mapped *areas; /* the first holds the header, and the first areas of a small ledger */
	unsigned area_count, area_cap;
	struct tdm_ledger_span *reserved;
	unsigned reserved_count, reserved_cap;
};

/*
 * Creates "PID.START.GENERATION" in this user's folder of `dir`, with the identity of the process in `behalf` (NULL: of
 * this one), and maps its header. Removes earlier generations of the same process (from before an exec) without live
 * buffers. The umask does not affect `mode`; `flags` go into the header. 0 or -errno.
 */
int tdm_ledger_file_create(
	struct tdm_ledger_file *file, const char *dir, uint32_t mode, uint32_t flags, const struct tdm_behalf *behalf);

/* Removes the file, and also the user's folder if it is then empty. */
void tdm_ledger_file_remove(const struct tdm_ledger_file *file);

/* Unmaps and closes the file, after removing it if `remove` is set. */
void tdm_ledger_file_close(struct tdm_ledger_file *file, bool remove);

/*
 * Adds an area of `bytes` to the file and maps it; only its first `first` bytes may be touched. Returns 0 and sets *at
 * and *offset, or returns -errno (-ENOSPC: the file system is full).
 */
int tdm_ledger_file_area(struct tdm_ledger_file *file, size_t bytes, size_t first, void **at, uint64_t *offset);

/* Reserves the part [from, to) of an area, which may then be touched. 0 or -errno. */
int tdm_ledger_file_reserve(struct tdm_ledger_file *file, void *at, uint64_t offset, size_t from, size_t to);

/* Returns the whole pages among bytes [from, to) of the file to the file system: they then read as zeros, and must
 * be reserved before they are touched again. 0 or -errno; some file systems do not support this. */
int tdm_ledger_file_release(struct tdm_ledger_file *file, uint64_t from, uint64_t to);

/* Whether the file has been deleted. A renamed file is still the ledger. */
bool tdm_ledger_file_is_gone(const struct tdm_ledger_file *file);

/*
 * Recreates a deleted file as the next generation, with the same content, and maps its areas at the old addresses.
 * Meanwhile, only the counters in the header and in the notes may change; the notes are mapped at `notes` (NULL if
 * there are none). 0 or -errno; on an error the old file stays mapped.
 */
int tdm_ledger_file_renew(struct tdm_ledger_file *file, struct tdm_ledger_notes *notes);

int tdm_ledger_file_lock(const struct tdm_ledger_file *file); /* 0, -EAGAIN (held by another process) or -errno */
int tdm_ledger_file_set_size(int fd, uint64_t size);
/* Sets the size of the open file and maps all of it, header first. 0 or -errno. */
int tdm_ledger_file_map(struct tdm_ledger_file *file, uint64_t size);

struct tdm_ledger_clock tdm_ledger_clock_now(void);

/* Reads the id of the current boot; false if it cannot be read. */
bool tdm_ledger_boot_id(uint8_t id[16]);

/* Updates the header's `last`. */
void tdm_ledger_file_clock(struct tdm_ledger_file *file);

/* The start time in /proc/PID/stat for this pid (0: this process); 0 if unknown. */
uint64_t tdm_ledger_start_of(int32_t pid);

#endif
