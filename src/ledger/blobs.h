/*
 * Texts, stacks and core ranges in the ledger, each stored once: buffers and events refer to a blob by its number. This
 * is the writer's side; any thread may call, under one lock.
 */
#ifndef TDM_LEDGER_BLOBS_H
#define TDM_LEDGER_BLOBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/ledger_file.h"
#include "ledger/short_lock.h"

struct tdm_blob_cell;

/* The most blobs that there is room for, and the numbers that they can have. */
#define TDM_BLOB_CAPACITY (UINT64_C(256) << 20) /* bytes */
#define TDM_BLOB_NUMBERS  (TDM_BLOB_CAPACITY / TDM_LEDGER_BLOB_UNIT)

struct tdm_blobs {
	struct tdm_lock lock;
	struct tdm_ledger_file *file; /* borrowed */
	struct tdm_lock *file_lock;   /* held while the file changes */
	char *segment[TDM_LEDGER_BLOB_SEGMENTS];
	unsigned segment_count;
	uint64_t used; /* bytes of the area, including skipped ends of segments */
	uint64_t capacity;
	uint64_t reserved; /* bytes of the area that may be touched, if pages are reserved as they are needed */
	struct tdm_blob_cell *cells; /* hash to number */
	uint32_t mask, count;
	uint32_t retry; /* new blobs to refuse before trying to get more room again */
	/* A bit for each number: whether it is that of a text, or 0. In private memory, because reports rely on it. */
	_Atomic uint64_t *texts;
};

/* Whether this is the number of a text, or 0. From any thread; the text's number must have come from this one or been
 * handed over properly. */
static inline bool tdm_blob_is_text(const _Atomic uint64_t *texts, uint32_t number)
{
	return number < TDM_BLOB_NUMBERS &&
	       (atomic_load_explicit(&texts[number / 64], memory_order_relaxed) >> number % 64 & 1) != 0;
}

/* Whether this was the number of a text in an earlier ledger of this process, or in one of a parent. */
bool tdm_blob_was_text(uint32_t number);

int tdm_blobs_init(struct tdm_blobs *blobs, struct tdm_ledger_file *file, struct tdm_lock *file_lock);
/* Goes on with the blobs of a file that is mapped as a whole, whose header was checked. 0, TDM_ECORRUPT or -errno. */
int tdm_blobs_resume(struct tdm_blobs *blobs, const struct tdm_ledger_header *header);
void tdm_blobs_done(struct tdm_blobs *blobs); /* frees private memory only */
void tdm_blobs_unload(void);                  /* frees what all ledgers share */

/* The number of this content if it is stored, else 0. */
uint32_t tdm_blobs_find(struct tdm_blobs *blobs, enum tdm_blob_kind kind, const void *content, size_t bytes);

/* The number of this content, which is stored if it is new; 0 when there is no room. `is_new` may be NULL. */
uint32_t tdm_blobs_put(
	struct tdm_blobs *blobs, enum tdm_blob_kind kind, const void *content, size_t bytes, bool *is_new);

#endif
