/*
 * The baseline for many live buffers: the writer's hash table alone, i.e. the index and the ids in the slots that it
 * points to. It finds a slot by kind and id and removes it, as for a release, then adds it with another id after
 * checking that this id is not there. It writes only ids, all in private memory.
 */
#include "event_runs.h"

#include "bench_child.h"
#include "event_load.h"
#include "ledger/layout/layout.h"
#include "ledger/layout/ledger_file.h"
#include "ledger/layout/slot_index.h"

#include <stdio.h>
#include <stdlib.h>

enum { KIND = 1, AS_LONG = 3 }; /* times as many events, so that it runs, and is disturbed, as long as ours */

struct side {
	struct event_load load;
	struct tdm_slot_index index;
	struct tdm_ledger_slot *slots; /* the index has their numbers */
	uint64_t wrong;
};

static uint32_t hash_of(void *context, uint32_t *slot, bool only_prefetch)
{
	const struct side *side = context;
	return only_prefetch ? 0 : tdm_slot_hash(side->slots[*slot].kind, side->slots[*slot].id);
}

static inline struct tdm_index_pos find(struct side *side, uint64_t id, uint32_t hash)
{
	struct tdm_slot_table *table = &side->index.now;
	for (uint32_t bucket = hash & table->mask;; bucket = (bucket + 1) & table->mask) {
		const struct tdm_bucket *b = &table->buckets[bucket];
		for (uint32_t hits = tdm_tag_find(b, tdm_slot_tag(hash)); hits != 0; hits &= hits - 1) {
			unsigned at = (unsigned)__builtin_ctz(hits);
			const struct tdm_ledger_slot *slot = &side->slots[b->slot[at]];
			if (slot->id == id && slot->kind == KIND)
				return (struct tdm_index_pos){ table, bucket, at };
		}
		if (b->passed == 0)
			return (struct tdm_index_pos){ 0 };
	}
}

static void put(struct side *side, uint64_t id, uint32_t slot, size_t live)
{
	uint32_t hash = tdm_slot_hash(KIND, id);
	side->wrong += find(side, id, hash).table != NULL;
	if (tdm_slot_index_prepare(&side->index, live, hash_of, side) != 0)
		exit(2);
	side->slots[slot].id = id;
	side->slots[slot].kind = KIND;
	tdm_slot_index_put(&side->index, hash, slot);
}

static void index_pair(void *state, const struct event_pair *p)
{
	struct side *side = state;
	uint32_t hash = tdm_slot_hash(KIND, p->old_id);
	struct tdm_index_pos pos = find(side, p->old_id, hash);
	if (pos.table == NULL) {
		side->wrong++;
		return;
	}
	uint32_t slot = pos.table->buckets[pos.bucket].slot[pos.at];
	tdm_slot_index_erase(pos, hash);
	put(side, p->new_id, slot, side->load.live);
}

static void measure(void *state, void *figures)
{
	struct side *side = state;
	*(struct event_figures *)figures = event_load_run(&side->load, EVENT_RANDOM, index_pair, side);
}

int event_serve_index(const struct event_run *run)
{
	struct event_figures figures;
	struct side side = { 0 };
	event_pin(0);
	event_load_init(&side.load, run->order, run->live, (size_t)AS_LONG * EVENT_COUNT, 1);
	side.slots = tdm_private_alloc(run->live * sizeof *side.slots);
	if (side.slots == NULL || tdm_slot_index_init(&side.index, false) != 0)
		return 2;
	for (uint32_t i = 0; i < run->live; i++)
		put(&side, side.load.id[i], i, i);
	while (side.index.old.buckets != NULL) /* finish growing */
		if (tdm_slot_index_prepare(&side.index, run->live, hash_of, &side) != 0)
			return 2;
	int code = bench_child_serve(measure, &side, &figures, sizeof figures);
	if (side.wrong != 0) {
		fputs("bench: index: it does not hold what was put in\n", stderr);
		code = 2;
	}
	tdm_slot_index_done(&side.index);
	tdm_private_free(side.slots, run->live * sizeof *side.slots);
	event_load_done(&side.load);
	return code;
}
