/*
 * The writer's side of the ledger file: creates it and makes it grow. Every page is reserved before it is touched, so
 * that a full file system is an error code and not a signal in somebody's program. Nothing here is on the hot path or
 * uses malloc. It does not survive truncation of the file: as with any mapped file, touching a missing page is a
 * signal. Only the writer's own user can do that.
 */
#ifndef TDM_LEDGER_LEDGER_FILE_H
#define TDM_LEDGER_LEDGER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/layout.h"
#include "ledger/ledger_dir.h"
#include "ledger/private_memory.h"

/* A part of the file that is mapped. */
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
 * The process that a ledger is written for, if it is not the writer's own. All of it comes from the kernel: the peer of
 * a socket, and /proc/PID/stat.
 */
struct tdm_behalf {
	int32_t pid; /* in the writer's pid namespace */
	uint32_t uid;
	uint64_t start_time; /* field 22 of /proc/PID/stat, clock ticks since boot */
	uint32_t generation; /* of exec, if it is known; the next one that is free is used */
};

struct tdm_ledger_file {
	int fd;
	struct tdm_ledger_header *header; /* mapped */
	char path[TDM_LEDGER_PATH_MAX];
	uint64_t device_no, inode; /* of the file, to recognise it */
	uint64_t start;            /* of the process, as in the file's name */
	int32_t pid;               /* likewise */
	bool is_on_behalf;         /* it is not this process: one of thousands, so it has to be small */
	uint32_t generation, mode;
	uint64_t size; /* copy of the header's word: others can write to the file, so it is never read back */
	struct tdm_ledger_mapped *areas; /* the first has the header, and room for the first areas of a small ledger */
	unsigned area_count, area_cap;
	struct tdm_ledger_span *reserved;
	unsigned reserved_count, reserved_cap;
};

/*
 * Creates "PID.START.GENERATION" in this user's folder of `dir`, with the identity of this process or of the one in
 * `behalf` (NULL: this one), and maps its header. Removes earlier generations of the same process (from before an exec)
 * without live buffers. The umask does not affect `mode`; `flags` go into the header. 0 or -errno.
 */
int tdm_ledger_file_create(
	struct tdm_ledger_file *file, const char *dir, uint32_t mode, uint32_t flags, const struct tdm_behalf *behalf);

/* Removes the file, and the user's folder if nothing else is in it. */
void tdm_ledger_file_remove(const struct tdm_ledger_file *file);

/* Unmaps and closes; removes the file first if asked. */
void tdm_ledger_file_close(struct tdm_ledger_file *file, bool remove);

/*
 * Adds an area of `bytes` to the file and maps it; only its first `first` bytes may be touched. 0 with *at and *offset
 * set, or -errno (-ENOSPC: the file system is full).
 */
int tdm_ledger_file_area(struct tdm_ledger_file *file, size_t bytes, size_t first, void **at, uint64_t *offset);

/* Reserves [from, to) of an area, after which it may be touched. 0 or -errno. */
int tdm_ledger_file_reserve(struct tdm_ledger_file *file, void *at, uint64_t offset, size_t from, size_t to);

/* Gives the whole pages in bytes [from, to) of the file back to the file system: they read as zeros, and must be
 * reserved before they are touched again. 0 or -errno: some file systems cannot do that. */
int tdm_ledger_file_release(struct tdm_ledger_file *file, uint64_t from, uint64_t to);

/* Whether somebody has deleted the file. One that was only given another name is still the ledger. */
bool tdm_ledger_file_is_gone(const struct tdm_ledger_file *file);

/*
 * Makes a deleted file anew, as the next generation and with the same content, and maps its areas where those of the
 * old one were. Nobody may write to areas meanwhile, except to the counters of the header and of the notes, which are
 * mapped at `notes` (NULL: there are none). 0 or -errno; then the old one stays mapped.
 */
int tdm_ledger_file_renew(struct tdm_ledger_file *file, struct tdm_ledger_notes *notes);

/*
 * Parts of the two functions that make a file. The first creates it in this user's folder of `dir`, with the next
 * generation that is free, and locks it; file->pid, start, generation, mode and is_on_behalf are set. 0 or -errno.
 */
int tdm_ledger_file_open_new(struct tdm_ledger_file *file, const char *dir);
void tdm_ledger_file_keep_from_children(const struct tdm_ledger_file *file, void *at, size_t bytes);
int tdm_ledger_file_lock(const struct tdm_ledger_file *file); /* 0, -EAGAIN: another process has it, or -errno */
int tdm_ledger_file_set_size(int fd, uint64_t size);
/* Sets the size of the open file and maps its header, and all of it if it has more. 0 or -errno. */
int tdm_ledger_file_map(struct tdm_ledger_file *file, uint64_t size);
int tdm_ledger_file_reserve_pages(int fd, uint64_t offset, size_t bytes);
bool tdm_ledger_file_is_fd(const struct tdm_ledger_file *file, int fd); /* whether it is still this file's */

struct tdm_ledger_clock tdm_ledger_clock_now(void);

/* The id of the current boot; false when it cannot be read. */
bool tdm_ledger_boot_id(uint8_t id[16]);

/* Updates the header's `last`. */
void tdm_ledger_file_clock(struct tdm_ledger_file *file);

/* When this process, or the one with this pid, started, as /proc/PID/stat has it; 0: unknown. */
uint64_t tdm_ledger_own_start(void);
uint64_t tdm_ledger_start_of(int32_t pid);

#endif
