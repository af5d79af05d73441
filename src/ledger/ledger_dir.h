/*
 * Where ledgers are. A directory for all users ($TIDEMARK_DIR, else TDM_LEDGER_DEFAULT_DIR) has a folder for each user,
 * "tidemark-UID", in which only that user can write; if somebody else has taken that name, it is "tidemark-UID.N". The
 * settings of ledgers are checked here as well. Nothing here uses malloc: this code also runs in tracked programs.
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
 * The permissions of a ledger from the text of TIDEMARK_MODE, which may let others read and nothing else: 0600, 0640,
 * 0604 or 0644. NULL and an empty text are 0600. -EINVAL for any other text, with *mode 0600.
 */
int tdm_ledger_parse_mode(const char *text, uint32_t *mode);

/*
 * The records of a ring from the text of TIDEMARK_RING, rounded up to a power of two. NULL and an empty text are
 * TDM_LEDGER_RING. -EINVAL for what is no number from TDM_LEDGER_RING_MIN to TDM_LEDGER_RING_MAX, with *records
 * TDM_LEDGER_RING.
 */
int tdm_ledger_parse_ring(const char *text, uint32_t *records);

/* The permissions of a folder whose ledgers have these. */
static inline uint32_t tdm_ledger_folder_mode(uint32_t mode)
{
	return 0700 | ((mode & 0040) != 0 ? 0050 : 0) | ((mode & 0004) != 0 ? 0005 : 0);
}

/*
 * Opens this user's folder in `dir`; makes it if there is none, and lets others in if `mode` (of a ledger) lets them
 * read. Its absolute path is stored. A descriptor to be used as a directory only (O_PATH), or -errno; -EEXIST when
 * every name that was tried is somebody else's.
 */
int tdm_ledger_open_folder(const char *dir, uint32_t mode, char path[TDM_LEDGER_PATH_MAX]);

#endif
