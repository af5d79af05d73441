/*
 * Texts, stacks and core ranges in the ledger, each kept once: a blob has a number that buffers and events refer to.
 * Writing side; any thread, one lock.
 */
#ifndef TDM_LEDGER_BLOBS_H
#define TDM_LEDGER_BLOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/ledger_file.h"
#include "ledger/short_lock.h"

struct tdm_blob_cell;

struct tdm_blobs {
	struct tdm_lock lock;
	struct tdm_ledger_file *file; /* borrowed */
	struct tdm_lock *file_lock;   /* taken around changes of the file */
	char *segment[TDM_LEDGER_BLOB_SEGMENTS];
	unsigned segment_count;
	uint64_t used; /* bytes of the area, with skipped rests */
	uint64_t capacity;
	struct tdm_blob_cell *cells; /* hash to number */
	uint32_t mask, count;
	uint32_t retry; /* new ones to refuse before more room is asked for again */
};

int tdm_blobs_init(struct tdm_blobs *blobs, struct tdm_ledger_file *file, struct tdm_lock *file_lock);

/* The number of this content, new or known; 0 when there is no room. *is_new (may be NULL) says which. */
uint32_t tdm_blobs_put(
	struct tdm_blobs *blobs, enum tdm_blob_kind kind, const void *content, size_t bytes, bool *is_new);

#endif
