#include "base/names.h"
#include "base/memory.h"
#include "base/number.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { NAMES_FIRST_CELLS = 64, INLINE_MAX = 46, WORD_CAP = 48, LETTERS_PER_MISTAKE = 3 };

struct tdm_name_cell {
	uint32_t hash; /* high half of the hash */
	uint32_t slot; /* TDM_NAME_NONE if the cell is free */
};

/* One cache line long. Longer names are allocated separately. */
struct tdm_name_slot {
	uint64_t number;
	uint32_t low_hash; /* low half of the hash; in an unused slot, the next spare slot */
	uint8_t len;
	uint8_t is_long;
	union {
		char text[INLINE_MAX];
		char *far;
	} u;
};
static_assert(sizeof(struct tdm_name_slot) == 64, "a slot is one cache line");

void tdm_names_done(struct tdm_names *names)
{
	for (size_t i = 0; names->cells != NULL && i <= names->mask; i++)
		if (names->cells[i].slot != TDM_NAME_NONE && names->slots[names->cells[i].slot].is_long)
			free(names->slots[names->cells[i].slot].u.far);
	free(names->cells);
	free(names->slots);
	*names = (struct tdm_names){ 0 };
}

static struct tdm_str name_of(const struct tdm_name_slot *slot)
{
	return (struct tdm_str){ slot->is_long ? slot->u.far : slot->u.text, slot->len };
}

/* Returns the cell with the name, or the free cell for inserting it. There must be cells. */
static size_t cell_of(const struct tdm_names *names, struct tdm_str name, uint64_t hash)
{
	size_t cell = hash & names->mask;
	uint32_t high = (uint32_t)(hash >> 32);
	for (;; cell = (cell + 1) & names->mask) {
		const struct tdm_name_cell *c = &names->cells[cell];
		if (c->slot == TDM_NAME_NONE)
			return cell;
		if (c->hash == high && tdm_str_eq(name_of(&names->slots[c->slot]), name))
			return cell;
	}
}

uint32_t tdm_names_find(const struct tdm_names *names, struct tdm_str name)
{
	return names->count != 0 ? names->cells[cell_of(names, name, tdm_str_hash(name))].slot : TDM_NAME_NONE;
}

/*
 * The low half of a hash is enough to find the cell while there are at most 2^32 cells, which 32-bit slots guarantee.
 */
static void names_grow(struct tdm_names *names)
{
	struct tdm_name_cell *old = names->cells;
	size_t old_count = old != NULL ? names->mask + 1 : 0, count = old != NULL ? old_count * 2 : NAMES_FIRST_CELLS;
	names->cells = tdm_alloc(count * sizeof *names->cells);
	memset(names->cells, 0xff, count * sizeof *names->cells);
	names->mask = count - 1;
	for (size_t i = 0; i < old_count; i++) {
		if (old[i].slot == TDM_NAME_NONE)
			continue;
		size_t cell = names->slots[old[i].slot].low_hash & names->mask;
		while (names->cells[cell].slot != TDM_NAME_NONE)
			cell = (cell + 1) & names->mask;
		names->cells[cell] = old[i];
	}
	free(old);
}

/* Slots that were added but are not in use are spare. */
static uint32_t slot_take(struct tdm_names *names)
{
	if (names->count != names->slot_count) {
		uint32_t slot = names->spare;
		names->spare = names->slots[slot].low_hash;
		return slot;
	}
	if (names->slot_count == TDM_NAME_NONE)
		tdm_out_of_memory();
	tdm_grow(&names->slots, &names->slot_cap, names->slot_count + (size_t)1, sizeof *names->slots);
	return names->slot_count++;
}

static void slot_fill(struct tdm_name_slot *slot, struct tdm_str name, uint64_t hash)
{
	slot->number = 0;
	slot->low_hash = (uint32_t)hash;
	slot->len = (uint8_t)name.len;
	slot->is_long = name.len > INLINE_MAX;
	char *text = slot->u.text;
	if (slot->is_long) {
		text = tdm_alloc(name.len);
		slot->u.far = text;
	}
	if (name.len != 0)
		memcpy(text, name.ptr, name.len);
}

int tdm_names_add(struct tdm_names *names, struct tdm_str name, uint32_t *slot)
{
	if (name.len > TDM_NAME_MAX)
		return -ENAMETOOLONG;
	if (names->count >= (names->mask + 1) / 2)
		names_grow(names);
	*slot = slot_take(names);
	uint64_t hash = tdm_str_hash(name);
	slot_fill(&names->slots[*slot], name, hash);
	names->cells[cell_of(names, name, hash)] = (struct tdm_name_cell){ (uint32_t)(hash >> 32), *slot };
	names->count++;
	return 0;
}

void tdm_names_remove(struct tdm_names *names, uint32_t slot)
{
	struct tdm_name_slot *s = &names->slots[slot];
	size_t hole = s->low_hash & names->mask;
	while (names->cells[hole].slot != slot)
		hole = (hole + 1) & names->mask;
	for (size_t next = (hole + 1) & names->mask; names->cells[next].slot != TDM_NAME_NONE;
		next = (next + 1) & names->mask) {
		size_t home = names->slots[names->cells[next].slot].low_hash & names->mask;
		if (((next - home) & names->mask) < ((next - hole) & names->mask))
			continue; /* its home cell comes after the hole, so it stays */
		names->cells[hole] = names->cells[next];
		hole = next;
	}
	names->cells[hole].slot = TDM_NAME_NONE;
	if (s->is_long)
		free(s->u.far);
	s->is_long = 0;
	s->low_hash = names->spare;
	names->spare = slot;
	names->count--;
}

uint64_t *tdm_names_number(const struct tdm_names *names, uint32_t slot)
{
	return &names->slots[slot].number;
}

/* ---- the closest name ---- */

/*
 * The number of letters to insert, delete, replace or swap with a neighbour to turn one word into the other. Row i of
 * the table has the distances between the first i letters of `a` and every prefix of `b`; three rows are enough.
 */
static size_t distance_between(struct tdm_str a, struct tdm_str b)
{
	size_t rows[3][WORD_CAP + 1];
	for (size_t j = 0; j <= b.len; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a.len; i++) {
		size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *swapped = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= b.len; j++) {
			size_t replace = above[j - 1] + (a.ptr[i - 1] != b.ptr[j - 1]);
			row[j] = tdm_min(replace, 1 + tdm_min(above[j], row[j - 1]));
			if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1])
				row[j] = tdm_min(row[j], swapped[j - 2] + 1);
		}
	}
	return rows[a.len % 3][b.len];
}

void tdm_suggest_init(struct tdm_suggest *suggest, struct tdm_str word)
{
	*suggest = (struct tdm_suggest){ .word = word, .distance = SIZE_MAX };
}

void tdm_suggest_offer(struct tdm_suggest *suggest, const char *name)
{
	struct tdm_str word = suggest->word, offer = tdm_str_of(name);
	if (name == NULL || word.len == 0 || word.len > WORD_CAP || offer.len > WORD_CAP)
		return;
	bool begins = word.len < offer.len && memcmp(word.ptr, offer.ptr, word.len) == 0;
	size_t distance = begins ? 1 : distance_between(word, offer);
	size_t allowed = word.len < LETTERS_PER_MISTAKE ? 1 : word.len / LETTERS_PER_MISTAKE;
	if (distance > allowed || distance >= offer.len || distance >= suggest->distance)
		return;
	suggest->best = name;
	suggest->distance = distance;
}
