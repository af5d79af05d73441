/* Moves one file to another file system, a piece at a time; holes stay holes. Until the end the old file is complete.
 */
#ifndef TDM_LEDGER_ARCHIVE_COPY_H
#define TDM_LEDGER_ARCHIVE_COPY_H

#include <stddef.h>
#include <stdint.h>

#include "ledger/ledger_dir.h"
#include "ledger/ledger_list.h"

#define TDM_ARCHIVE_TEMP "unfinished." /* the beginning of a name */

struct tdm_archive_copy {
	int from, to, folder; /* descriptors; -1: there is none */
	char path[TDM_LEDGER_PATH_MAX];
	char folder_path[TDM_LEDGER_PATH_MAX];
	struct tdm_ledger_name name;
	uint64_t inode, size, at;
	uint64_t ended_ns;
};

/* Begins to move a ledger of this user into its folder of `state_dir`, which is made if necessary. 0 or -errno. */
int tdm_archive_copy_begin(struct tdm_archive_copy *copy, const char *path, const char *state_dir, uint64_t ended_ns);

/* Copies at most `bytes` bytes more. 1: there are more; 0: all are copied; or -errno. */
int tdm_archive_copy_some(struct tdm_archive_copy *copy, size_t bytes);

/* Gives the copy its name and removes the old file. 0, and `path` is the new one; or -errno. */
int tdm_archive_copy_finish(struct tdm_archive_copy *copy);

/* After an error, after the last step, or to give up what is not finished. */
void tdm_archive_copy_end(struct tdm_archive_copy *copy);

#endif
