/* Removes the ledgers and folders of dead processes. */
#ifndef TDM_LEDGER_LEDGER_REAP_H
#define TDM_LEDGER_LEDGER_REAP_H

/*
 * Removes a ledger if it is a regular file with the name of one, belongs to this user, and its writer is dead. 0;
 * -EBUSY when the writer is alive or is setting it up; -EPERM when it belongs to somebody else; -EINVAL when it does
 * not have the name of a ledger; or -errno.
 */
int tdm_ledger_reap(const char *path);

/* The same test, but it removes nothing. 0: its writer is dead. */
int tdm_ledger_check_dead(const char *path);

/* Removes the folder of a `tidemark run` and the users' folders in it if they are empty. 0 or -errno. */
int tdm_ledger_reap_run(const char *path);

/* Does the same for each folder in `dir` that belongs to this user and whose `tidemark run` has ended, then removes
 * this user's own folder if it is empty. */
void tdm_ledger_reap_dirs(const char *dir);

#endif
