#include "base/names.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { NAMES_FIRST_CELLS = 64, INLINE_MAX = 46 };

struct tdm_name_cell {
	uint32_t hash; /* high half of the hash */
	uint32_t slot; /* TDM_NAME_NONE: free */
};

/* One cache line. Longer names are allocated separately. */
struct tdm_name_slot {
	uint64_t number;
	uint32_t low_hash; /* low half of the hash; the next spare slot while unused */
	uint8_t len;
	uint8_t is_long;
	union {
		char text[INLINE_MAX];
		char *far;
	} u;
};
static_assert(sizeof(struct tdm_name_slot) == 64, "a slot is one cache line");

static int cells_alloc(struct tdm_names *names, size_t count)
{
	struct tdm_name_cell *cells = malloc(count * sizeof *cells);
	if (cells == NULL)
		return -ENOMEM;
	memset(cells, 0xff, count * sizeof *cells);
	names->cells = cells;
	names->mask = count - 1;
	return 0;
}

int tdm_names_init(struct tdm_names *names)
{
	*names = (struct tdm_names){ .spare = TDM_NAME_NONE };
	return cells_alloc(names, NAMES_FIRST_CELLS);
}

void tdm_names_done(struct tdm_names *names)
{
	for (size_t i = 0; names->cells != NULL && i <= names->mask; i++)
		if (names->cells[i].slot != TDM_NAME_NONE && names->slots[names->cells[i].slot].is_long)
			free(names->slots[names->cells[i].slot].u.far);
	free(names->cells);
	free(names->slots);
	*names = (struct tdm_names){ .spare = TDM_NAME_NONE };
}

static struct tdm_str name_of(const struct tdm_name_slot *slot)
{
	return (struct tdm_str){ slot->is_long ? slot->u.far : slot->u.text, slot->len };
}

/* The cell that holds the name, or the free one where it would go. */
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
	return names->cells[cell_of(names, name, tdm_str_hash(name))].slot;
}

/* The low half of a hash finds the cell while there are at most 2^32 of them, which the 32-bit slots ensure. */
static int names_grow(struct tdm_names *names)
{
	struct tdm_name_cell *old = names->cells;
	size_t old_count = names->mask + 1;
	int err = cells_alloc(names, old_count * 2);
	if (err != 0)
		return err;
	for (size_t i = 0; i < old_count; i++) {
		if (old[i].slot == TDM_NAME_NONE)
			continue;
		size_t cell = names->slots[old[i].slot].low_hash & names->mask;
		while (names->cells[cell].slot != TDM_NAME_NONE)
			cell = (cell + 1) & names->mask;
		names->cells[cell] = old[i];
	}
	free(old);
	return 0;
}

static int slot_take(struct tdm_names *names, uint32_t *slot)
{
	if (names->spare != TDM_NAME_NONE) {
		*slot = names->spare;
		names->spare = names->slots[*slot].low_hash;
		return 0;
	}
	if (names->slot_count == names->slot_cap) {
		if (names->slot_cap > UINT32_MAX / 4)
			return -ENOMEM;
		uint32_t cap = names->slot_cap != 0 ? names->slot_cap * 2 : NAMES_FIRST_CELLS;
		struct tdm_name_slot *slots = realloc(names->slots, cap * sizeof *slots);
		if (slots == NULL)
			return -ENOMEM;
		names->slots = slots;
		names->slot_cap = cap;
	}
	*slot = names->slot_count++;
	return 0;
}

static void slot_give(struct tdm_names *names, uint32_t slot)
{
	names->slots[slot].low_hash = names->spare;
	names->spare = slot;
}

static int slot_fill(struct tdm_name_slot *slot, struct tdm_str name, uint64_t hash)
{
	slot->number = 0;
	slot->low_hash = (uint32_t)hash;
	slot->len = (uint8_t)name.len;
	slot->is_long = name.len > INLINE_MAX;
	char *text = slot->u.text;
	if (slot->is_long) {
		text = malloc(name.len);
		if (text == NULL)
			return -ENOMEM;
		slot->u.far = text;
	}
	if (name.len != 0)
		memcpy(text, name.ptr, name.len);
	return 0;
}

int tdm_names_add(struct tdm_names *names, struct tdm_str name, uint32_t *slot)
{
	if (name.len > TDM_NAME_MAX)
		return -ENAMETOOLONG;
	int err = names->count >= (names->mask + 1) / 2 ? names_grow(names) : 0;
	if (err == 0)
		err = slot_take(names, slot);
	if (err != 0)
		return err;
	uint64_t hash = tdm_str_hash(name);
	err = slot_fill(&names->slots[*slot], name, hash);
	if (err != 0) {
		slot_give(names, *slot);
		return err;
	}
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
			continue; /* its home is after the hole: it stays */
		names->cells[hole] = names->cells[next];
		hole = next;
	}
	names->cells[hole].slot = TDM_NAME_NONE;
	if (s->is_long)
		free(s->u.far);
	s->is_long = 0;
	slot_give(names, slot);
	names->count--;
}

uint64_t *tdm_names_number(const struct tdm_names *names, uint32_t slot)
{
	return &names->slots[slot].number;
}
