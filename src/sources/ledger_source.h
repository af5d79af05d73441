/*
 * Ledgers as a source of events: those of a directory, or given ones. Each ledger is a process of the source. First
 * comes an account of what is there: the process (TDM_OP_PROCESS), its modules, and for each device its description,
 * one allocation for each live buffer, timed at its birth, and the producer's own figures; then the phases so far.
 *
 * When it follows, tdm_source_next() returns 0 when nothing is new at the moment; asking again later gives what has
 * happened since: new ledgers, later events (events that were missed are counted, and a new account follows), and the
 * end of processes.
 *
 * A ledger that cannot be read is a problem, with the reason; none is passed over silently.
 */
#ifndef TDM_SOURCES_LEDGER_SOURCE_H
#define TDM_SOURCES_LEDGER_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "event/source.h"

struct tdm_ledger_query {
	const char *dir;          /* NULL: $TIDEMARK_DIR, else /dev/shm */
	const char *const *paths; /* these files instead; ends with NULL; may be NULL */
	const int32_t *pids;      /* only ledgers that are named after these; NULL: all */
	size_t pid_count;
	bool follow;
};

struct tdm_ledger_problem {
	char *path;
	int err;
	char text[TDM_DIAG_TEXT_CAP];
};

/* NULL with diag set when the directory cannot be read, or out of memory. What `query` points to must outlive the
 * source. */
struct tdm_source *tdm_ledger_source_open(const struct tdm_ledger_query *query, struct tdm_diag *diag);

/* Ledgers found so far, readable or not. */
size_t tdm_ledger_source_count(const struct tdm_source *source);

/* Ledgers of processes that were not asked for. */
size_t tdm_ledger_source_others(const struct tdm_source *source);

/* Ledgers that could not be read. Borrowed until the next tdm_source_next(). */
size_t tdm_ledger_source_problem_count(const struct tdm_source *source);
const struct tdm_ledger_problem *tdm_ledger_source_problem(const struct tdm_source *source, size_t i);

#endif
