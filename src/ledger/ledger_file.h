/*
 * The writer's side of the ledger file: creating it, and getting more of it. Every page is reserved before it is
 * touched, so that a full file system is an error code and not a signal in somebody's program. Nothing here is on the
 * hot path; nothing here uses malloc. What is not survived is a file that is cut under its writer: the next touch of a
 * page that is gone is a signal, as for everything that is mapped. Only the writer's own user can do that.
 */
#ifndef TDM_LEDGER_LEDGER_FILE_H
#define TDM_LEDGER_LEDGER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/layout.h"
#include "ledger/ledger_dir.h"

enum { TDM_LEDGER_AREAS_MAX = 512 };

struct tdm_ledger_file {
	int fd;
	struct tdm_ledger_header *header; /* mapped */
	char path[TDM_LEDGER_PATH_MAX];
	uint64_t device_no, inode; /* of the file, to know it again */
	uint64_t size;             /* the header's word; what others can write is not read back */
	struct {
		void *at;
		size_t bytes;
	} areas[TDM_LEDGER_AREAS_MAX]; /* what is mapped, for unmapping in a forked child */
	unsigned area_count;
};

/*
 * Creates "PID.START.GENERATION" in this user's folder of `dir`, with the identity of this process, and maps its
 * header. Earlier generations of the same process (before an exec) that hold nothing are removed. `mode` is exact;
 * `flags` are the header's. 0 or -errno.
 */
int tdm_ledger_file_create(struct tdm_ledger_file *file, const char *dir, uint32_t mode, uint32_t flags);

/* Removes the file, and the user's folder if nothing else is in it. */
void tdm_ledger_file_remove(const struct tdm_ledger_file *file);

/* Unmaps and closes; removes the file first if asked. */
void tdm_ledger_file_close(struct tdm_ledger_file *file, bool remove);

/*
 * A new area of the file, `bytes` long and mapped, of which the first `first` bytes may be touched. Offset in
 * *offset. 0 or -errno (-ENOSPC: the file system is full).
 */
int tdm_ledger_file_area(struct tdm_ledger_file *file, size_t bytes, size_t first, void **at, uint64_t *offset);

/* Reserves [from, to) of an area, so that it may be touched, and touches it. 0 or -errno. */
int tdm_ledger_file_reserve(struct tdm_ledger_file *file, void *at, uint64_t offset, size_t from, size_t to);

/* The clocks now. */
struct tdm_ledger_clock tdm_ledger_clock_now(void);

/* What tells this start of the machine from others; false when that cannot be read. */
bool tdm_ledger_boot_id(uint8_t id[16]);

/* Reads the clocks into the header's `last`. */
void tdm_ledger_file_clock(struct tdm_ledger_file *file);

/* Private memory, zeroed, not from malloc; NULL when there is none. Large blocks ask for large pages. */
void *tdm_private_alloc(size_t bytes);
void tdm_private_free(void *at, size_t bytes);

#endif
