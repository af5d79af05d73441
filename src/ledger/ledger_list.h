/* Ledgers as files: their names, where they lie, and taking away what dead processes left. Listing is in reader.h. */
#ifndef TDM_LEDGER_LEDGER_LIST_H
#define TDM_LEDGER_LEDGER_LIST_H

#include <stdbool.h>

#include "ledger/layout.h"

/* Directories that hold the ledgers of programs started by `tidemark run` begin with this. */
#define TDM_LEDGER_RUN_PREFIX TDM_LEDGER_PREFIX "run."

/* "tidemark.PID.START.GENERATION", numbers all. */
bool tdm_ledger_is_name(const char *name);

/* `dir` itself; NULL: $TIDEMARK_DIR, else /dev/shm. */
const char *tdm_ledger_dir(const char *dir);

/*
 * Removes a ledger, if it is a regular file with the name of one, belongs to this user, and its writer is dead. 0;
 * -EBUSY when the writer lives or is just making it; -EPERM when it is somebody else's; -EINVAL when it is not named
 * like one; or -errno.
 */
int tdm_ledger_reap(const char *path);

/* Removes directories of `tidemark run` that are empty, belong to this user and whose `tidemark run` has ended. */
void tdm_ledger_reap_dirs(const char *dir);

#endif
