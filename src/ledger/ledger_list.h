/*
 * Which ledgers there are, and whose. Names are all that is looked at, besides the owners that the file system knows:
 *
 *   DIR/tidemark-UID/PID.START.GENERATION       a ledger (ledger_dir.h)
 *   DIR/tidemark-UID/run.PID.XXXXXX/            a directory like DIR, for the programs of one `tidemark run`
 *   DIR/tidemark.PID.START.GENERATION           a ledger where the first version of the library put it
 *   DIR/tidemark.run.PID.XXXXXX/                a directory like DIR, likewise
 *
 * Anybody may make as many such files as he likes where everybody may write. So each owner has the same share of what
 * is given out: one who makes too many loses the rest of his own, and nobody else's.
 */
#ifndef TDM_LEDGER_LEDGER_LIST_H
#define TDM_LEDGER_LEDGER_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/ledger_dir.h"

#define TDM_LEDGER_OLD_PREFIX "tidemark." /* of names in the first layout */

enum { TDM_LEDGER_LIST_MAX = 16384 }; /* entries that a list has room for, besides those of this user and root */

/* What the name of a ledger says. */
struct tdm_ledger_name {
	int32_t pid; /* in its own namespace */
	uint32_t generation;
	uint64_t start;
};

/* The last parts of a path as the name of a ledger, of either layout; false when they are none. */
bool tdm_ledger_parse_name(const char *path, struct tdm_ledger_name *name);

struct tdm_ledger_entry {
	const char *path;            /* borrowed until `each` returns */
	uint32_t owner;              /* user id of the file or folder itself */
	struct tdm_ledger_name name; /* all 0 of a folder */
	int folder_err;              /* not 0: a folder that cannot be looked into, and why */
};

/* What to look for, and how. */
struct tdm_ledger_search {
	const char *dir;     /* NULL: as tdm_ledger_dir() says */
	const int32_t *pids; /* only ledgers that are named after these; NULL: all */
	size_t pid_count;
	void (*each)(void *context, const struct tdm_ledger_entry *entry);
	void *context;
	/* set by tdm_ledger_list */
	uint64_t others;   /* ledgers of other pids */
	uint64_t left_out; /* ledgers and folders of owners who have more than their share */
};

/* Gives out what is found: first what belongs to this user, then root's, then that of others by user id; in the order
 * of their pids. 0, or -errno with what could be read given out. */
int tdm_ledger_list(struct tdm_ledger_search *search);

#endif
