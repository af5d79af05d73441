/*
 * Lists the ledgers and their owners. It uses only file names and file owners:
 *
 *   DIR/tidemark-UID/PID.START.GENERATION       a ledger (ledger_file.h)
 *   DIR/tidemark-UID/run.PID.XXXXXX/            a directory like DIR, for the programs of one `tidemark run`
 *   DIR/tidemark.PID.START.GENERATION           a ledger where the first version of the library put it
 *   DIR/tidemark.run.PID.XXXXXX/                a directory like DIR, from the same version
 *
 * In a directory that everybody may write to, a user can make any number of such files. So each owner gets the same
 * share of the list: if an owner has too many files, only files of that owner are left out. Subdirectories are walked
 * depth first, to a limited depth.
 */
#ifndef TDM_LEDGER_LEDGER_LIST_H
#define TDM_LEDGER_LEDGER_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/layout/ledger_file.h"

#define TDM_LEDGER_OLD_PREFIX "tidemark." /* prefix of names in the old layout */

enum { TDM_LEDGER_LIST_MAX = 16384 }; /* maximum entries in a list, besides those of this user and root */

/* The parts of a ledger's name. */
struct tdm_ledger_name {
	int32_t pid; /* pid in the process's own namespace */
	uint32_t generation;
	uint64_t start;
};

/* Parses the end of a path as a ledger's name in either layout; false if it is not one. */
bool tdm_ledger_parse_name(const char *path, struct tdm_ledger_name *name);

/* Whether this process would give its ledger that name. A process in another pid namespace can have the same pid,
 * but hardly ever the same pid and start time. */
bool tdm_ledger_is_own_name(const struct tdm_ledger_name *name);

struct tdm_ledger_entry {
	const char *path;            /* borrowed until `each` returns */
	uint32_t owner;              /* owner of the file or folder itself, a user id */
	struct tdm_ledger_name name; /* all 0 for a folder */
	int folder_err;              /* for a folder: why it cannot be read; else 0 */
};

struct tdm_ledger_search {
	const char *dir;     /* NULL for the default of tdm_ledger_dir() */
	const int32_t *pids; /* only ledgers with these pids in their names; NULL for all */
	size_t pid_count;
	void (*each)(void *context, const struct tdm_ledger_entry *entry);
	void *context;
	/* Set by tdm_ledger_list(): */
	uint64_t others;   /* number of ledgers with other pids */
	uint64_t left_out; /* ledgers and folders beyond an owner's share */
};

/*
 * Calls `each` for every entry: this user's entries first, then root's, then the other users' by user id; each owner's
 * entries are in pid order. Returns 0, or -errno after passing on the entries that could be read.
 */
int tdm_ledger_list(struct tdm_ledger_search *search);

#endif
