#include "ledger/layout/slot_index.h"
#include "ledger/layout/guest.h"

#include <errno.h>

enum {
	FIRST_BUCKETS = 64,
	FIRST_SMALL = 4,
	FILL = 10,     /* average entries per bucket above which the table grows */
	FILL_MAX = 11, /* limit when there is no memory to grow */
	BUCKETS_MAX = 1 << 28,
};

static int table_init(struct tdm_slot_table *table, uint32_t buckets, bool is_small)
{
	table->buckets = tdm_block_alloc(is_small, (size_t)buckets * sizeof *table->buckets);
	table->mask = buckets - 1;
	return table->buckets != NULL ? 0 : -ENOMEM;
}

/* A pointer is cleared before its memory is freed, and a mask never exceeds its buckets. */
static void table_done(struct tdm_slot_table *table, bool is_small)
{
	struct tdm_bucket *buckets = table->buckets;
	table->buckets = NULL;
	tdm_step();
	if (buckets != NULL)
		tdm_block_free(is_small, buckets, ((size_t)table->mask + 1) * sizeof *buckets);
}

static uint32_t first_buckets(bool is_small)
{
	return is_small ? FIRST_SMALL : FIRST_BUCKETS;
}

int tdm_slot_index_init(struct tdm_slot_index *index, bool is_small)
{
	uint32_t buckets = first_buckets(is_small);
	*index = (struct tdm_slot_index){ .limit = (size_t)buckets * FILL, .is_small = is_small };
	return table_init(&index->now, buckets, is_small);
}

void tdm_slot_index_done(struct tdm_slot_index *index)
{
	if (index->now.buckets == index->old.buckets) /* interrupted in the middle of begin_move() */
		index->now.buckets = NULL;
	table_done(&index->now, index->is_small);
	table_done(&index->old, index->is_small);
}

void tdm_slot_index_put_far(struct tdm_slot_table *table, uint32_t bucket, uint32_t hash, uint32_t slot)
{
	for (;; bucket = (bucket + 1) & table->mask) {
		struct tdm_bucket *b = &table->buckets[bucket];
		uint32_t free_places = tdm_tag_find(b, 0);
		if (free_places == 0) {
			b->passed++;
			continue;
		}
		unsigned at = (unsigned)__builtin_ctz(free_places);
		b->tag[at] = tdm_slot_tag(hash);
		b->slot[at] = slot;
		return;
	}
}

void tdm_slot_index_unpass(struct tdm_slot_table *table, uint32_t home, uint32_t bucket)
{
	for (; home != bucket; home = (home + 1) & table->mask)
		table->buckets[home].passed--;
}

static int begin_move(struct tdm_slot_index *index, uint32_t buckets)
{
	struct tdm_slot_table next;
	int err = buckets > BUCKETS_MAX ? -ENOMEM : table_init(&next, buckets, index->is_small);
	if (err != 0)
		return err;
	index->moved = 0;
	index->limit = (size_t)buckets * FILL;
	index->old.mask = index->now.mask;
	tdm_step();
	index->old.buckets = index->now.buckets;
	tdm_step();
	index->now.mask = next.mask < index->now.mask ? next.mask : index->now.mask;
	tdm_step();
	index->now.buckets = next.buckets;
	tdm_step();
	index->now.mask = next.mask;
	return 0;
}

int tdm_slot_index_resize(struct tdm_slot_index *index, size_t count)
{
	uint32_t buckets = first_buckets(index->is_small);
	if (index->old.buckets != NULL)
		return -EBUSY;
	while (buckets < BUCKETS_MAX && (size_t)buckets * FILL < count)
		buckets *= 2;
	return begin_move(index, buckets);
}

/* Prefetches the slots of the next bucket to move, so that they are in the cache when it is moved. */
static void prefetch_bucket(
	const struct tdm_slot_index *index, uint32_t bucket, tdm_slot_hash_of *hash_of, void *context)
{
	if (bucket > index->old.mask)
		return;
	struct tdm_bucket *b = &index->old.buckets[bucket];
	for (unsigned i = 0; i < TDM_BUCKET_SLOTS; i++)
		if (b->tag[i] != 0)
			hash_of(context, &b->slot[i], true);
}

/* Entries that this bucket passed on stay in later buckets until those buckets are moved. */
void tdm_slot_index_move(struct tdm_slot_index *index, tdm_slot_hash_of *hash_of, void *context)
{
	struct tdm_bucket *b = &index->old.buckets[index->moved];
	for (unsigned i = 0; i < TDM_BUCKET_SLOTS; i++) {
		if (b->tag[i] == 0)
			continue;
		uint32_t slot = b->slot[i], hash = hash_of(context, &slot, false);
		struct tdm_index_pos pos = { &index->old, index->moved, i };
		tdm_slot_index_erase(pos, hash);
		tdm_slot_index_put(index, hash, slot);
	}
	if (index->moved++ == index->old.mask)
		table_done(&index->old, index->is_small);
	else
		prefetch_bucket(index, index->moved, hash_of, context);
}

int tdm_slot_index_prepare_slow(struct tdm_slot_index *index, size_t count, tdm_slot_hash_of *hash_of, void *context)
{
	/* In rare cases a new table turns out to be too small: it begins to grow when the old table is empty. */
	while (index->old.buckets != NULL && count >= index->limit)
		tdm_slot_index_move(index, hash_of, context);
	if (index->old.buckets == NULL) {
		int err = begin_move(index, (index->now.mask + 1) * 2);
		if (err != 0) /* a fuller table still works, up to FILL_MAX */
			return count < ((size_t)index->now.mask + 1) * FILL_MAX ? 0 : err;
	}
	tdm_slot_index_move(index, hash_of, context);
	return 0;
}

bool tdm_slot_index_take_hash(struct tdm_slot_index *index, uint32_t hash)
{
	struct tdm_slot_table *tables[] = { &index->now, &index->old };
	for (unsigned t = 0; t < 2; t++) {
		struct tdm_slot_table *table = tables[t];
		uint32_t bucket = hash & table->mask;
		for (uint32_t n = 0; table->buckets != NULL && n <= table->mask;
			n++, bucket = (bucket + 1) & table->mask) {
			struct tdm_bucket *b = &table->buckets[bucket];
			uint32_t hits = tdm_tag_find(b, tdm_slot_tag(hash));
			if (hits != 0) {
				b->tag[__builtin_ctz(hits)] = 0;
				return true;
			}
			if (b->passed == 0)
				break;
		}
	}
	return false;
}
