/*
 * The writer's private index from a buffer's kind and id to its slot. A bucket is one cache line: twelve slots with one
 * hash byte each, all compared at once. So a search usually touches one line of the index, and always follows the same
 * few branches. A full bucket passes entries on to the next bucket and counts the entries it has passed on. The index
 * grows and shrinks a few buckets at a time, so that no single report pays for a large table. Readers never see the
 * index. Not thread-safe: only the thread inside the device uses it.
 *
 * The index does not store ids: the caller compares the id in the slot.
 */
#ifndef TDM_LEDGER_SLOT_INDEX_H
#define TDM_LEDGER_SLOT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { TDM_BUCKET_SLOTS = 12, TDM_BUCKET_BYTES = 64 };

struct tdm_bucket {
	uint8_t tag[TDM_BUCKET_SLOTS]; /* 0 if the place is free */
	uint16_t passed;               /* entries of this or an earlier bucket stored in a later bucket */
	uint16_t unused;
	uint32_t slot[TDM_BUCKET_SLOTS];
} __attribute__((aligned(TDM_BUCKET_BYTES)));

struct tdm_slot_table {
	struct tdm_bucket *buckets;
	uint32_t mask; /* number of buckets minus 1 */
};

struct tdm_slot_index {
	struct tdm_slot_table now, old; /* old.buckets is NULL unless entries are being moved from `old` to `now` */
	/* the index grows when both tables together have this many entries; the caller counts entries */
	size_t limit;
	uint32_t moved; /* buckets of `old` that have been moved */
	bool is_small;  /* the index is one of thousands in this process, so it is kept small */
};

/* The position of an entry. */
struct tdm_index_pos {
	struct tdm_slot_table *table; /* NULL if there is no entry */
	uint32_t bucket;
	unsigned at;
};

int tdm_slot_index_init(struct tdm_slot_index *index, bool is_small); /* 0 or -ENOMEM */
void tdm_slot_index_done(struct tdm_slot_index *index);

/* The middle bits of the product depend on all bits of kind and id, however regular the ids are. */
static inline uint32_t tdm_slot_hash(uint32_t kind, uint64_t id)
{
	unsigned __int128 x = (unsigned __int128)(id ^ (uint64_t)kind << 40) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(x >> 64) ^ (uint32_t)(x >> 32);
}

static inline uint8_t tdm_slot_tag(uint32_t hash)
{
	uint8_t tag = (uint8_t)(hash >> 24);
	return (uint8_t)(tag + (tag == 0)); /* 0 is reserved for free places, so it is replaced */
}

/* One bit for each tag in the bucket that equals `tag`; tag 0 finds free places. */
static inline uint32_t tdm_tag_find(const struct tdm_bucket *bucket, uint8_t tag)
{
	enum { ALL = (1 << TDM_BUCKET_SLOTS) - 1 };
#if defined(__SSE2__)
	/* Reads four bytes past the tags, still inside the bucket. */
	__m128i tags = _mm_load_si128((const __m128i *)(const void *)bucket);
	/* Broadcasts with a multiplication: compilers broadcast through memory, which is slow. */
	__m128i wanted = _mm_shuffle_epi32(_mm_cvtsi32_si128((int)(UINT32_C(0x01010101) * tag)), 0);
	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(tags, wanted)) & ALL;
#else
	uint32_t hits = 0;
	for (unsigned i = 0; i < TDM_BUCKET_SLOTS; i++)
		hits |= (uint32_t)(bucket->tag[i] == tag) << i;
	return hits & ALL;
#endif
}

/* Makes room for one more entry: begins to grow if necessary, or moves one bucket of the old table. `hash_of`
 * returns a slot's hash, and may move the slot's buffer to another slot. 0 or -ENOMEM. */
typedef uint32_t tdm_slot_hash_of(void *context, uint32_t *slot, bool only_prefetch);
int tdm_slot_index_prepare_slow(struct tdm_slot_index *index, size_t count, tdm_slot_hash_of *hash_of, void *context);
static inline int tdm_slot_index_prepare(
	struct tdm_slot_index *index, size_t count, tdm_slot_hash_of *hash_of, void *context)
{
	if (__builtin_expect(index->old.buckets == NULL && count < index->limit, 1))
		return 0;
	return tdm_slot_index_prepare_slow(index, count, hash_of, context);
}

/* Begins to move everything to a table for `count` entries, which may be larger or smaller. 0; -ENOMEM; -EBUSY while
 * an earlier move is in progress. */
int tdm_slot_index_resize(struct tdm_slot_index *index, size_t count);

/* Moves the entries of the next bucket of the old table, which must exist. */
void tdm_slot_index_move(struct tdm_slot_index *index, tdm_slot_hash_of *hash_of, void *context);

/* The bucket that an entry belongs to. */
static inline struct tdm_bucket *tdm_slot_index_home(const struct tdm_slot_index *index, uint32_t hash)
{
	return &index->now.buckets[hash & index->now.mask];
}

/* Puts a slot into one of the `free_places` of its bucket, which must not be 0. */
static inline void tdm_bucket_put(struct tdm_bucket *bucket, uint32_t free_places, uint32_t hash, uint32_t slot)
{
	unsigned at = (unsigned)__builtin_ctz(free_places);
	bucket->tag[at] = tdm_slot_tag(hash);
	bucket->slot[at] = slot;
}

/* Adds a slot, which must be new. Call tdm_slot_index_prepare() first. */
void tdm_slot_index_put_far(struct tdm_slot_table *table, uint32_t bucket, uint32_t hash, uint32_t slot);
static inline void tdm_slot_index_put(struct tdm_slot_index *index, uint32_t hash, uint32_t slot)
{
	struct tdm_bucket *home = tdm_slot_index_home(index, hash);
	uint32_t free_places = tdm_tag_find(home, 0);
	if (__builtin_expect(free_places != 0, 1))
		tdm_bucket_put(home, free_places, hash, slot);
	else
		tdm_slot_index_put_far(&index->now, hash & index->now.mask, hash, slot);
}

/* Removes an entry. */
void tdm_slot_index_unpass(struct tdm_slot_table *table, uint32_t home, uint32_t bucket);
static inline void tdm_slot_index_erase(struct tdm_index_pos pos, uint32_t hash)
{
	pos.table->buckets[pos.bucket].tag[pos.at] = 0;
	if (__builtin_expect((hash & pos.table->mask) != pos.bucket, 0))
		tdm_slot_index_unpass(pos.table, hash & pos.table->mask, pos.bucket);
}

/* Removes one entry with this hash, whatever its id; false if there is none. For an index whose slots no longer
 * exist. */
bool tdm_slot_index_take_hash(struct tdm_slot_index *index, uint32_t hash);

#endif
