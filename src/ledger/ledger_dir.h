/*
 * The location of ledgers. The directory of all users ($TIDEMARK_DIR, else TDM_LEDGER_DEFAULT_DIR) has a folder for
 * each user, "tidemark-UID", in which only that user can write; if somebody else took that name, it is
 * "tidemark-UID.N". The settings of ledgers are checked here, too. Nothing here uses malloc: this code also runs in
 * tracked programs.
 */
#ifndef TDM_LEDGER_LEDGER_DIR_H
#define TDM_LEDGER_LEDGER_DIR_H

#include <stdint.h>

#define TDM_LEDGER_DEFAULT_DIR "/dev/shm"
#define TDM_LEDGER_USER_PREFIX "tidemark-"
#define TDM_LEDGER_RUN_PREFIX  "run." /* of the folder that `tidemark run` makes in its user's folder */

enum { TDM_LEDGER_PATH_MAX = 512 };

/* `dir` itself; NULL: $TIDEMARK_DIR, else TDM_LEDGER_DEFAULT_DIR. */
const char *tdm_ledger_dir(const char *dir);

/*
 * Parses TIDEMARK_MODE, the permissions of a ledger, which can only let others read: 0600, 0640, 0604 or 0644. NULL and
 * an empty text mean 0600. -EINVAL for any other text, with *mode 0600.
 */
int tdm_ledger_parse_mode(const char *text, uint32_t *mode);

/*
 * Parses TIDEMARK_RING, the number of records of a ring, and rounds it up to a power of two. NULL and an empty text
 * mean TDM_LEDGER_RING. -EINVAL, with *records TDM_LEDGER_RING, for anything but a number from TDM_LEDGER_RING_MIN to
 * TDM_LEDGER_RING_MAX.
 */
int tdm_ledger_parse_ring(const char *text, uint32_t *records);

/* The permissions of a folder for ledgers with these permissions. */
static inline uint32_t tdm_ledger_folder_mode(uint32_t mode)
{
	return 0700 | ((mode & 0040) != 0 ? 0050 : 0) | ((mode & 0004) != 0 ? 0005 : 0);
}

/*
 * Opens this user's folder in `dir`, makes it if necessary, and lets others in if `mode` (of a ledger) lets them read.
 * Stores its absolute path. Returns a descriptor that works only as a directory (O_PATH), or -errno; -EEXIST when every
 * name it tried belongs to somebody else.
 */
int tdm_ledger_open_folder(const char *dir, uint32_t mode, char path[TDM_LEDGER_PATH_MAX]);

/*
 * Why a process could not make its ledger (-errno), left in the folder that `tidemark run` made, for its summary: in
 * the folder's time of change, because there may be no room, no inode and no descriptor left. Other folders stay as
 * they are. tdm_ledger_failure() returns 0 if nothing was left, or a ledger was made afterwards.
 */
void tdm_ledger_leave_failure(const char *dir, int err);
int tdm_ledger_failure(const char *dir);

#endif
