/* Taking away what dead processes left. */
#ifndef TDM_LEDGER_LEDGER_REAP_H
#define TDM_LEDGER_LEDGER_REAP_H

/*
 * Removes a ledger, if it is a regular file with the name of one, belongs to this user, and its writer is dead. 0;
 * -EBUSY when the writer lives or is just making it; -EPERM when it is somebody else's; -EINVAL when it is not named
 * like one; or -errno.
 */
int tdm_ledger_reap(const char *path);

/* Removes the folder of a `tidemark run`, and users' folders in it, if there is nothing else. 0 or -errno. */
int tdm_ledger_reap_run(const char *path);

/* Does that with each such folder in `dir` that belongs to this user and whose `tidemark run` has ended. This user's
 * own folder goes as well if it is empty then. */
void tdm_ledger_reap_dirs(const char *dir);

#endif
