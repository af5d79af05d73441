/*
 * Texts, stacks and core ranges in the ledger, each stored once: buffers and events refer to a blob by its number. This
 * is the writer's side; any thread may call, under one lock.
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
	struct tdm_lock *file_lock;   /* held while the file changes */
	char *segment[TDM_LEDGER_BLOB_SEGMENTS];
	unsigned segment_count;
	uint64_t used; /* bytes of the area, including skipped ends of segments */
	uint64_t capacity;
	struct tdm_blob_cell *cells; /* hash to number */
	uint32_t mask, count;
	uint32_t retry; /* new blobs to refuse before trying to get more room again */
};

int tdm_blobs_init(struct tdm_blobs *blobs, struct tdm_ledger_file *file, struct tdm_lock *file_lock);

/* The number of this content, which is stored if it is new; 0 when there is no room. `is_new` may be NULL. */
uint32_t tdm_blobs_put(
	struct tdm_blobs *blobs, enum tdm_blob_kind kind, const void *content, size_t bytes, bool *is_new);

#endif
