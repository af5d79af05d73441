/* The writer's blobs: texts, stacks and core ranges (writer.h). Content is appended to segments in the file, and a
 * private hash table of blob numbers (open addressing) finds equal content. A new blob is complete before the
 * header's `blob_used` covers it, so readers never see half a blob. */
#include "ledger/write/writer.h"
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

static _Atomic uint64_t *_Atomic all_texts; /* like tdm_blobs.texts, but for all ledgers; forked children inherit it */

struct tdm_blob_cell {
	uint64_t hash;
	uint32_t number; /* 0 if the cell is free */
	uint32_t bytes;
};

/* The allocation is large, but untouched memory costs nothing. */
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
	/* A ledger on behalf has no bits of its own, because there may be thousands of such ledgers. So it cannot
	 * detect a number from another ledger; readers tolerate such numbers. */
	blobs->texts = file->is_on_behalf ? atomic_load(&all_texts) : alloc_bits();
	if (blobs->cells == NULL || blobs->texts == NULL || atomic_load(&all_texts) == NULL) {
		tdm_blobs_done(blobs);
		return -ENOMEM;
	}
	atomic_fetch_or(&blobs->texts[0], 1); /* other ledgers may share the bits */
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

static uint64_t hash_of(enum tdm_blob_kind kind, const void *content, size_t bytes)
{
	return tdm_str_hash((struct tdm_str){ content, bytes }) ^ (uint64_t)kind << 56;
}

/* The memory at an offset in the area: segment k begins at TDM_LEDGER_FIRST_BLOB * (2^k - 1). */
static char *at_offset(const struct tdm_blobs *blobs, uint64_t offset, uint64_t *left)
{
	uint64_t begin;
	uint32_t k = tdm_ledger_segment(offset, TDM_LEDGER_FIRST_BLOB, &begin);
	*left = ((uint64_t)TDM_LEDGER_FIRST_BLOB << k) - (offset - begin);
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
	/* A small ledger reserves pages as it needs them. */
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

/* Makes sure that the next `bytes` of a segment can be touched. */
static int reserve_some(struct tdm_blobs *blobs, uint64_t bytes)
{
	uint64_t begin;
	if (!blobs->file->is_on_behalf || blobs->used + bytes <= blobs->reserved)
		return 0;
	if (!tdm_lock_take(blobs->file_lock))
		return -EBUSY;
	uint32_t k = tdm_ledger_segment(blobs->used, TDM_LEDGER_FIRST_BLOB, &begin);
	size_t from = (size_t)(blobs->used - begin), size = (size_t)TDM_LEDGER_FIRST_BLOB << k;
	size_t to = tdm_min(tdm_page_up(from + bytes), size);
	int err =
		tdm_ledger_file_reserve(blobs->file, blobs->segment[k], blobs->file->header->blob_offset[k], from, to);
	tdm_lock_give(blobs->file_lock);
	if (err == 0)
		blobs->reserved = begin + to;
	return err;
}

/* Finds room for a blob of `bytes`, including its header: after the last blob, or at the start of the next segment. */
static char *find_room(struct tdm_blobs *blobs, uint64_t bytes, uint32_t *number)
{
	uint64_t left;
	for (;;) {
		if (blobs->used >= blobs->capacity && add_segment(blobs) != 0)
			return NULL;
		char *at = at_offset(blobs, blobs->used, &left);
		if (bytes <= left) {
			*number = (uint32_t)(blobs->used / TDM_LEDGER_BLOB_UNIT);
			return reserve_some(blobs, bytes) == 0 ? at : NULL;
		}
		blobs->used += left;
	}
}

static uint64_t padded_bytes(size_t bytes)
{
	return (bytes + TDM_LEDGER_BLOB_UNIT - 1) / TDM_LEDGER_BLOB_UNIT * TDM_LEDGER_BLOB_UNIT;
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
	tdm_step();
	blobs->mask = mask;
	tdm_step();
	tdm_block_free(blobs->file->is_on_behalf, old, old_count * sizeof *old);
	return 0;
}

/* Whether there is a cell for one more blob. At most half of the cells are used, or 7/8 if there is no memory for
 * more. */
static bool has_cell(struct tdm_blobs *blobs)
{
	return blobs->count <= blobs->mask / 2 || grow_cells(blobs) == 0 || blobs->count < blobs->mask / 8 * 7;
}

/* Stores the number of an existing blob. has_cell() must have returned true. */
static void put_cell(struct tdm_blobs *blobs, enum tdm_blob_kind kind, struct tdm_blob_cell cell)
{
	uint32_t at = (uint32_t)cell.hash & blobs->mask;
	while (blobs->cells[at].number != 0)
		at = (at + 1) & blobs->mask;
	blobs->cells[at] = cell;
	blobs->count++;
	if (kind == TDM_BLOB_TEXT) {
		/* Atomic, because our lock does not exclude the process's other ledgers. */
		uint64_t bit = UINT64_C(1) << cell.number % 64;
		atomic_fetch_or(&atomic_load(&all_texts)[cell.number / 64], bit);
		atomic_fetch_or(&blobs->texts[cell.number / 64], bit);
	}
}

static uint32_t find_locked(
	const struct tdm_blobs *blobs, enum tdm_blob_kind kind, uint64_t hash, const void *content, size_t bytes)
{
	uint32_t at = (uint32_t)hash & blobs->mask;
	for (; blobs->cells[at].number != 0; at = (at + 1) & blobs->mask) {
		const struct tdm_blob_cell *cell = &blobs->cells[at];
		struct tdm_ledger_blob head;
		uint64_t left;
		if (cell->hash != hash || cell->bytes != bytes)
			continue;
		const char *blob = at_offset(blobs, (uint64_t)cell->number * TDM_LEDGER_BLOB_UNIT, &left);
		memcpy(&head, blob, sizeof head);
		if (head.kind == (uint32_t)kind && memcmp(blob + sizeof head, content, bytes) == 0)
			break;
	}
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
	uint64_t hash = hash_of(kind, content, bytes), padded = padded_bytes(bytes);
	const struct tdm_ledger_blob head = { .kind = kind, .bytes = (uint32_t)bytes, .hash = hash };
	uint32_t number = find_locked(blobs, kind, hash, content, bytes);
	if (number != 0 || blobs->retry != 0) {
		blobs->retry -= number == 0;
		return number;
	}
	tdm_quiet_begin(&guard);
	char *at = has_cell(blobs) ? find_room(blobs, sizeof head + padded, &number) : NULL;
	if (at != NULL) {
		memcpy(at + sizeof head, content, bytes);
		memcpy(at, &head, sizeof head);
		blobs->used += sizeof head + padded;
		atomic_store_explicit(
			(_Atomic uint64_t *)&blobs->file->header->blob_used, blobs->used, memory_order_release);
		put_cell(blobs, kind, (struct tdm_blob_cell){ hash, number, (uint32_t)bytes });
	} else {
		blobs->retry = RETRY_AFTER;
	}
	tdm_quiet_end(&guard);
	*is_new = at != NULL;
	return at != NULL ? number : 0;
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

/* Takes over the used segments of an existing area. */
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
