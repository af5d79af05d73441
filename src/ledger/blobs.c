#include "ledger/blobs.h"
#include "base/err.h"
#include "base/number.h"
#include "base/str.h"

#include <errno.h>
#include <sys/mman.h>

enum {
	FIRST_CELLS = 1024,
	FIRST_SMALL = 16,
	FIRST_NUMBER = 2, /* numbers 0 and 1 are never used */
	RETRY_AFTER = 1024,
	BITS_BYTES = TDM_BLOB_NUMBERS / 8,
};

static _Atomic uint64_t *_Atomic all_texts; /* as tdm_blobs.texts, of all ledgers; a forked child inherits it */

struct tdm_blob_cell {
	uint64_t hash;
	uint32_t number; /* 0: free */
	uint32_t bytes;
};

/* Memory that is not touched costs nothing. */
static _Atomic uint64_t *alloc_bits(void)
{
	void *at = mmap(NULL, BITS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return at != MAP_FAILED ? at : NULL;
}

int tdm_blobs_init(struct tdm_blobs *blobs, struct tdm_ledger_file *file, struct tdm_lock *file_lock)
{
	uint32_t cells = file->is_on_behalf ? FIRST_SMALL : FIRST_CELLS;
	*blobs = (struct tdm_blobs){ .file = file, .file_lock = file_lock, .mask = cells - 1 };
	blobs->used = FIRST_NUMBER * TDM_LEDGER_BLOB_UNIT;
	blobs->cells = tdm_block_alloc(file->is_on_behalf, cells * sizeof *blobs->cells);
	if (atomic_load(&all_texts) == NULL)
		atomic_store(&all_texts, alloc_bits());
	/* One of thousands does not have its own: a number of another one's text is not found out, and readers do not
	 * depend on it. */
	blobs->texts = file->is_on_behalf ? atomic_load(&all_texts) : alloc_bits();
	if (blobs->cells == NULL || blobs->texts == NULL || atomic_load(&all_texts) == NULL) {
		tdm_blobs_done(blobs);
		return -ENOMEM;
	}
	atomic_fetch_or(&blobs->texts[0], 1); /* others may share it */
	return 0;
}

void tdm_blobs_done(struct tdm_blobs *blobs)
{
	tdm_block_free(blobs->file->is_on_behalf, blobs->cells, (blobs->mask + (size_t)1) * sizeof *blobs->cells);
	if (blobs->texts != NULL && !blobs->file->is_on_behalf)
		munmap(blobs->texts, BITS_BYTES);
	blobs->cells = NULL;
	blobs->texts = NULL;
}

void tdm_blobs_unload(void)
{
	void *texts = atomic_exchange(&all_texts, NULL);
	if (texts != NULL)
		munmap(texts, BITS_BYTES);
}

bool tdm_blob_was_text(uint32_t number)
{
	return tdm_blob_is_text(atomic_load(&all_texts), number);
}

/* The lock is held, but other ledgers of this process have their own. */
static void note_text(struct tdm_blobs *blobs, uint32_t number)
{
	uint64_t bit = UINT64_C(1) << number % 64;
	atomic_fetch_or(&atomic_load(&all_texts)[number / 64], bit);
	atomic_fetch_or(&blobs->texts[number / 64], bit);
}

static uint64_t hash_of(enum tdm_blob_kind kind, const void *content, size_t bytes)
{
	return tdm_str_hash((struct tdm_str){ content, bytes }) ^ (uint64_t)kind << 56;
}

/* The memory at an offset of the area: segment k begins at TDM_LEDGER_FIRST_BLOB * (2^k - 1). */
static char *at_offset(const struct tdm_blobs *blobs, uint64_t offset, uint64_t *left)
{
	unsigned k = 63 - (unsigned)__builtin_clzll(offset / TDM_LEDGER_FIRST_BLOB + 1);
	uint64_t begin = (uint64_t)TDM_LEDGER_FIRST_BLOB * ((UINT64_C(1) << k) - 1);
	uint64_t size = (uint64_t)TDM_LEDGER_FIRST_BLOB << k;
	*left = size - (offset - begin);
	return blobs->segment[k] + (offset - begin);
}

static int add_segment(struct tdm_blobs *blobs)
{
	size_t size = (size_t)TDM_LEDGER_FIRST_BLOB << blobs->segment_count;
	uint64_t offset;
	void *at;
	if (blobs->segment_count == TDM_LEDGER_BLOB_SEGMENTS || blobs->capacity + size > TDM_BLOB_CAPACITY)
		return -ENOSPC;
	if (!tdm_lock_take(blobs->file_lock))
		return -EBUSY;
	/* Of a small one, pages are reserved as they are needed. */
	int err = tdm_ledger_file_area(blobs->file, size, blobs->file->is_on_behalf ? 0 : size, &at, &offset);
	tdm_lock_give(blobs->file_lock);
	if (err != 0)
		return err;
	struct tdm_ledger_header *header = blobs->file->header;
	blobs->segment[blobs->segment_count] = at;
	header->blob_offset[blobs->segment_count] = offset;
	blobs->segment_count++;
	blobs->capacity += size;
	atomic_store_explicit((_Atomic uint32_t *)&header->blob_segments, blobs->segment_count, memory_order_release);
	return 0;
}

/* Makes sure that the next `bytes` of a segment may be touched. */
static int reserve_some(struct tdm_blobs *blobs, char *at, uint64_t bytes)
{
	unsigned k = 0;
	if (!blobs->file->is_on_behalf || blobs->used + bytes <= blobs->reserved)
		return 0;
	while (at < blobs->segment[k] || at >= blobs->segment[k] + ((size_t)TDM_LEDGER_FIRST_BLOB << k))
		k++;
	if (!tdm_lock_take(blobs->file_lock))
		return -EBUSY;
	size_t from = (size_t)(at - blobs->segment[k]), size = (size_t)TDM_LEDGER_FIRST_BLOB << k;
	size_t to = tdm_min(tdm_page_up(from + bytes), size);
	int err =
		tdm_ledger_file_reserve(blobs->file, blobs->segment[k], blobs->file->header->blob_offset[k], from, to);
	tdm_lock_give(blobs->file_lock);
	if (err == 0)
		blobs->reserved = blobs->used + (to - from);
	return err;
}

/* Finds room for a blob of `bytes`, including its head: after the last one, or at the start of the next segment. */
static char *find_room(struct tdm_blobs *blobs, uint64_t bytes, uint32_t *number)
{
	uint64_t left;
	for (;;) {
		if (blobs->used >= blobs->capacity && add_segment(blobs) != 0)
			return NULL;
		char *at = at_offset(blobs, blobs->used, &left);
		if (bytes <= left) {
			*number = (uint32_t)(blobs->used / TDM_LEDGER_BLOB_UNIT);
			return reserve_some(blobs, at, bytes) == 0 ? at : NULL;
		}
		blobs->used += left;
	}
}

static uint64_t padded_bytes(size_t bytes)
{
	return (bytes + TDM_LEDGER_BLOB_UNIT - 1) / TDM_LEDGER_BLOB_UNIT * TDM_LEDGER_BLOB_UNIT;
}

static uint32_t append(
	struct tdm_blobs *blobs, enum tdm_blob_kind kind, uint64_t hash, const void *content, size_t bytes)
{
	uint64_t padded = padded_bytes(bytes);
	uint32_t number;
	char *at = find_room(blobs, sizeof(struct tdm_ledger_blob) + padded, &number);
	if (at == NULL)
		return 0;
	struct tdm_ledger_blob head = { .kind = kind, .bytes = (uint32_t)bytes, .hash = hash };
	memcpy(at + sizeof head, content, bytes);
	memcpy(at, &head, sizeof head);
	blobs->used += sizeof head + padded;
	atomic_store_explicit((_Atomic uint64_t *)&blobs->file->header->blob_used, blobs->used, memory_order_release);
	return number;
}

static bool same_content(const struct tdm_blobs *blobs, const struct tdm_blob_cell *cell, enum tdm_blob_kind kind,
	const void *content, size_t bytes)
{
	uint64_t left;
	const char *at = at_offset(blobs, (uint64_t)cell->number * TDM_LEDGER_BLOB_UNIT, &left);
	struct tdm_ledger_blob head;
	memcpy(&head, at, sizeof head);
	return head.kind == (uint32_t)kind && cell->bytes == bytes && memcmp(at + sizeof head, content, bytes) == 0;
}

static int grow_cells(struct tdm_blobs *blobs)
{
	uint32_t old_count = blobs->mask + 1, mask = old_count * 2 - 1;
	struct tdm_blob_cell *old = blobs->cells;
	struct tdm_blob_cell *cells = tdm_block_alloc(blobs->file->is_on_behalf, (mask + (size_t)1) * sizeof *cells);
	if (cells == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < old_count; i++) {
		uint32_t at = (uint32_t)old[i].hash & mask;
		if (old[i].number == 0)
			continue;
		while (cells[at].number != 0)
			at = (at + 1) & mask;
		cells[at] = old[i];
	}
	blobs->cells = cells;
	blobs->mask = mask;
	tdm_block_free(blobs->file->is_on_behalf, old, old_count * sizeof *old);
	return 0;
}

/* Whether there is a cell for one more. At most half are used, or 7/8 when there is no memory for more cells. */
static bool has_cell(struct tdm_blobs *blobs)
{
	return blobs->count <= blobs->mask / 2 || grow_cells(blobs) == 0 || blobs->count < blobs->mask / 8 * 7;
}

/* Notes the number of a blob that is there; has_cell() was true. */
static void put_cell(struct tdm_blobs *blobs, enum tdm_blob_kind kind, struct tdm_blob_cell cell)
{
	uint32_t at = (uint32_t)cell.hash & blobs->mask;
	while (blobs->cells[at].number != 0)
		at = (at + 1) & blobs->mask;
	blobs->cells[at] = cell;
	blobs->count++;
	if (kind == TDM_BLOB_TEXT)
		note_text(blobs, cell.number);
}

/* Adds a blob that is not there yet. */
static uint32_t put_new(
	struct tdm_blobs *blobs, enum tdm_blob_kind kind, uint64_t hash, const void *content, size_t bytes)
{
	uint32_t number = has_cell(blobs) ? append(blobs, kind, hash, content, bytes) : 0;
	if (number == 0) {
		blobs->retry = RETRY_AFTER;
		return 0;
	}
	put_cell(blobs, kind, (struct tdm_blob_cell){ hash, number, (uint32_t)bytes });
	return number;
}

static uint32_t find_locked(
	const struct tdm_blobs *blobs, enum tdm_blob_kind kind, uint64_t hash, const void *content, size_t bytes)
{
	uint32_t at = (uint32_t)hash & blobs->mask;
	for (; blobs->cells[at].number != 0; at = (at + 1) & blobs->mask)
		if (blobs->cells[at].hash == hash && same_content(blobs, &blobs->cells[at], kind, content, bytes))
			break;
	return blobs->cells[at].number;
}

uint32_t tdm_blobs_find(struct tdm_blobs *blobs, enum tdm_blob_kind kind, const void *content, size_t bytes)
{
	if (!tdm_lock_take(&blobs->lock))
		return 0;
	uint32_t number = find_locked(blobs, kind, hash_of(kind, content, bytes), content, bytes);
	tdm_lock_give(&blobs->lock);
	return number;
}

static uint32_t put_locked(
	struct tdm_blobs *blobs, enum tdm_blob_kind kind, const void *content, size_t bytes, bool *is_new)
{
	struct tdm_quiet guard;
	uint64_t hash = hash_of(kind, content, bytes);
	uint32_t number = find_locked(blobs, kind, hash, content, bytes);
	if (number != 0)
		return number;
	if (blobs->retry != 0) {
		blobs->retry--;
		return 0;
	}
	tdm_quiet_begin(&guard);
	number = put_new(blobs, kind, hash, content, bytes);
	tdm_quiet_end(&guard);
	*is_new = number != 0;
	return number;
}

uint32_t tdm_blobs_put(
	struct tdm_blobs *blobs, enum tdm_blob_kind kind, const void *content, size_t bytes, bool *is_new)
{
	bool fresh = false;
	if (bytes > TDM_LEDGER_FIRST_BLOB / 2 || !tdm_lock_take(&blobs->lock))
		return 0;
	uint32_t number = put_locked(blobs, kind, content, bytes, &fresh);
	tdm_lock_give(&blobs->lock);
	if (is_new != NULL)
		*is_new = fresh;
	return number;
}

/* Takes over the segments of the area, as far as they are used. */
static int resume_segments(struct tdm_blobs *blobs, const struct tdm_ledger_header *header)
{
	char *base = blobs->file->areas[0].at;
	int err = 0;
	for (uint32_t k = 0; k < header->blob_segments && err == 0; k++) {
		uint64_t size = (uint64_t)TDM_LEDGER_FIRST_BLOB << k, begin = blobs->capacity;
		uint64_t used = header->blob_used > begin ? tdm_min(header->blob_used - begin, size) : 0;
		blobs->segment[k] = base + header->blob_offset[k];
		err = tdm_ledger_file_reserve(blobs->file, blobs->segment[k], header->blob_offset[k], 0, (size_t)used);
		if (used != 0)
			blobs->reserved = begin + tdm_min(tdm_page_up(used), size);
		blobs->capacity += size;
		blobs->segment_count = k + 1;
	}
	return err != 0 ? err : header->blob_used > blobs->capacity ? TDM_ECORRUPT : 0;
}

int tdm_blobs_resume(struct tdm_blobs *blobs, const struct tdm_ledger_header *header)
{
	uint64_t at = blobs->used, left;
	int err = resume_segments(blobs, header);
	while (err == 0 && at < header->blob_used) {
		const char *blob = at_offset(blobs, at, &left);
		struct tdm_ledger_blob head = { 0 };
		uint64_t known = tdm_min(left, header->blob_used - at);
		if (known >= sizeof head)
			memcpy(&head, blob, sizeof head);
		if (head.kind == 0) {
			at += left; /* the unused end of a segment */
			continue;
		}
		if (head.bytes > known - sizeof head || head.bytes > TDM_LEDGER_FIRST_BLOB / 2)
			return TDM_ECORRUPT;
		if (!has_cell(blobs))
			return -ENOMEM;
		put_cell(blobs, (enum tdm_blob_kind)head.kind,
			(struct tdm_blob_cell){ hash_of((enum tdm_blob_kind)head.kind, blob + sizeof head, head.bytes),
				(uint32_t)(at / TDM_LEDGER_BLOB_UNIT), head.bytes });
		at += sizeof head + padded_bytes(head.bytes);
	}
	if (err == 0 && header->blob_used > blobs->used)
		blobs->used = header->blob_used;
	return err;
}
