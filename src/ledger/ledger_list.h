/*
 * Lists the ledgers and their owners. It looks only at names and at the owners in the file system:
 *
 *   DIR/tidemark-UID/PID.START.GENERATION       a ledger (ledger_dir.h)
 *   DIR/tidemark-UID/run.PID.XXXXXX/            a directory like DIR, for the programs of one `tidemark run`
 *   DIR/tidemark.PID.START.GENERATION           a ledger where the first version of the library put it
 *   DIR/tidemark.run.PID.XXXXXX/                a directory like DIR, likewise
 *
 * Anybody can make any number of such files where everybody may write. So each owner has the same share of the list: an
 * owner with too many files loses the excess, and nobody else loses any.
 */
#ifndef TDM_LEDGER_LEDGER_LIST_H
#define TDM_LEDGER_LEDGER_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/ledger_dir.h"

#define TDM_LEDGER_OLD_PREFIX "tidemark." /* of names in the old layout */

enum { TDM_LEDGER_LIST_MAX = 16384 }; /* entries in a list, besides those of this user and root */

/* The parts of a ledger's name. */
struct tdm_ledger_name {
	int32_t pid; /* in its own namespace */
	uint32_t generation;
	uint64_t start;
};

/* Parses the end of a path as the name of a ledger in either layout; false when it is not one. */
bool tdm_ledger_parse_name(const char *path, struct tdm_ledger_name *name);

/* Whether this process would give its ledger that name. A process in another pid namespace can have the same pid, but
 * not the same start as well, except by rare chance. */
bool tdm_ledger_is_own_name(const struct tdm_ledger_name *name);

struct tdm_ledger_entry {
	const char *path;            /* borrowed until `each` returns */
	uint32_t owner;              /* user id of the file or folder itself */
	struct tdm_ledger_name name; /* all 0 for a folder */
	int folder_err;              /* not 0: why this folder cannot be read */
};

struct tdm_ledger_search {
	const char *dir;     /* NULL: the default of tdm_ledger_dir() */
	const int32_t *pids; /* only ledgers with these pids in their names; NULL: all */
	size_t pid_count;
	void (*each)(void *context, const struct tdm_ledger_entry *entry);
	void *context;
	/* set by tdm_ledger_list */
	uint64_t others;   /* ledgers of other pids */
	uint64_t left_out; /* ledgers and folders in excess of an owner's share */
};

/* Calls `each` for every entry: those of this user, then root's, then the others' by user id; each owner's by pid. 0,
 * or -errno after giving out what could be read. */
int tdm_ledger_list(struct tdm_ledger_search *search);

#endif
