#include "baseline_freelist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CLASSES_MAX = 18,
	CLASS_BASE = 1024,
	BUCKETS = 512,
	LINEAR_BELOW = 30, /* shorter lists are searched from the front */
	NONE = -1,
};

/* A growing array of 64-bit values, used for every list here. */
struct array {
	int64_t *data;
	size_t count, cap;
};

struct entry {
	uint64_t address;
	size_t slot;
};

struct bucket {
	struct entry *data;
	size_t count, cap;
};

struct baseline_freelist {
	uint64_t size, align;
	struct array address, bytes, prev, next, used, in_use, spare;
	struct array by_class[CLASSES_MAX];
	size_t classes;
	struct bucket table[BUCKETS];
};

static void *must(void *memory)
{
	if (memory == NULL) {
		fputs("bench: out of memory\n", stderr);
		exit(2);
	}
	return memory;
}

static void array_insert(struct array *a, size_t at, int64_t value)
{
	if (a->count == a->cap) {
		a->cap = a->cap != 0 ? a->cap * 2 : 64;
		a->data = must(realloc(a->data, a->cap * sizeof *a->data));
	}
	memmove(a->data + at + 1, a->data + at, (a->count - at) * sizeof *a->data);
	a->data[at] = value;
	a->count++;
}

static void array_erase(struct array *a, size_t at)
{
	memmove(a->data + at, a->data + at + 1, (a->count - at - 1) * sizeof *a->data);
	a->count--;
}

static size_t class_of(const struct baseline_freelist *fl, uint64_t size)
{
	size_t class = 0;
	for (uint64_t n = size / CLASS_BASE; n > 1; n >>= 1)
		class ++;
	return class < fl->classes ? class : fl->classes - 1;
}

static size_t bucket_of(uint64_t address)
{
	return (address ^ (address >> 12) * 3) % BUCKETS;
}

static size_t slot_new(struct baseline_freelist *fl, uint64_t address, uint64_t size, int64_t prev, int64_t next)
{
	size_t slot;
	if (fl->spare.count == 0) {
		slot = fl->address.count;
		array_insert(&fl->address, slot, 0);
		array_insert(&fl->bytes, slot, 0);
		array_insert(&fl->prev, slot, 0);
		array_insert(&fl->next, slot, 0);
		array_insert(&fl->used, slot, 0);
		array_insert(&fl->in_use, slot, 0);
	} else {
		slot = (size_t)fl->spare.data[--fl->spare.count];
	}
	fl->address.data[slot] = (int64_t)address;
	fl->bytes.data[slot] = (int64_t)size;
	fl->prev.data[slot] = prev;
	fl->next.data[slot] = next;
	fl->used.data[slot] = 0;
	fl->in_use.data[slot] = 1;
	return slot;
}

static void slot_free(struct baseline_freelist *fl, size_t slot)
{
	array_insert(&fl->spare, fl->spare.count, (int64_t)slot);
	fl->in_use.data[slot] = 0;
}

/* The position of a block with this address in its class's list. */
static size_t place_in_list(const struct baseline_freelist *fl, const struct array *list, int64_t address)
{
	size_t low = 0, high = list->count;
	if (high < LINEAR_BELOW) {
		while (low < high && fl->address.data[list->data[low]] < address)
			low++;
		return low;
	}
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (fl->address.data[list->data[middle]] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void list_free_block(struct baseline_freelist *fl, size_t slot)
{
	struct array *list = &fl->by_class[class_of(fl, (uint64_t)fl->bytes.data[slot])];
	array_insert(list, place_in_list(fl, list, fl->address.data[slot]), (int64_t)slot);
}

static void unlist_free_block(struct baseline_freelist *fl, size_t slot)
{
	struct array *list = &fl->by_class[class_of(fl, (uint64_t)fl->bytes.data[slot])];
	for (size_t i = 0; i < list->count; i++)
		if (list->data[i] == (int64_t)slot) {
			array_erase(list, i);
			return;
		}
}

struct baseline_freelist *baseline_freelist_new(uint64_t size, uint64_t align)
{
	struct baseline_freelist *fl = must(calloc(1, sizeof *fl));
	fl->size = size;
	fl->align = align;
	fl->classes = 0;
	for (uint64_t n = size / CLASS_BASE; n != 0 && fl->classes < CLASSES_MAX; n >>= 1)
		fl->classes++;
	if (fl->classes < 2)
		fl->classes = 2;
	list_free_block(fl, slot_new(fl, 0, size, NONE, NONE));
	return fl;
}

void baseline_freelist_free(struct baseline_freelist *fl)
{
	struct array *arrays[] = { &fl->address, &fl->bytes, &fl->prev, &fl->next, &fl->used, &fl->in_use, &fl->spare };
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		free(arrays[i]->data);
	for (size_t i = 0; i < CLASSES_MAX; i++)
		free(fl->by_class[i].data);
	for (size_t i = 0; i < BUCKETS; i++)
		free(fl->table[i].data);
	free(fl);
}

/* First fit over all classes: finds the first block that is large enough in each class's sorted list, and takes the
 * nearest of those. */
static int64_t find_fit(const struct baseline_freelist *fl, uint64_t need, bool bottom_up, size_t *class, size_t *item)
{
	int64_t best = NONE;
	for (size_t c = class_of(fl, need); c < fl->classes; c++) {
		const struct array *list = &fl->by_class[c];
		int64_t count = (int64_t)list->count, step = bottom_up ? 1 : -1;
		for (int64_t i = bottom_up ? 0 : count - 1; i >= 0 && i < count; i += step) {
			int64_t slot = list->data[i];
			if ((uint64_t)fl->bytes.data[slot] < need)
				continue;
			bool better = best == NONE || (bottom_up ? fl->address.data[slot] < fl->address.data[best]
								 : fl->address.data[slot] > fl->address.data[best]);
			if (better) {
				best = slot;
				*class = c;
				*item = (size_t)i;
				break;
			}
			/* As in the original, a class whose first fit is farther away is searched to its end. */
		}
	}
	return best;
}

static void remember(struct baseline_freelist *fl, uint64_t address, size_t slot)
{
	struct bucket *b = &fl->table[bucket_of(address)];
	if (b->count == b->cap) {
		b->cap = b->cap != 0 ? b->cap * 2 : 10;
		b->data = must(realloc(b->data, b->cap * sizeof *b->data));
	}
	b->data[b->count++] = (struct entry){ address, slot };
}

bool baseline_freelist_alloc(struct baseline_freelist *fl, uint64_t size, bool bottom_up, uint64_t *address)
{
	uint64_t need = ((size > fl->align ? size : fl->align) + fl->align - 1) / fl->align * fl->align;
	size_t class = 0, item = 0;
	int64_t found = find_fit(fl, need, bottom_up, &class, &item);
	if (found == NONE)
		return false;
	array_erase(&fl->by_class[class], item);
	size_t slot = (size_t)found;
	uint64_t bytes = (uint64_t)fl->bytes.data[slot];
	if (bytes != need) {
		int64_t at = fl->address.data[slot], prev = fl->prev.data[slot], next = fl->next.data[slot];
		size_t rest;
		if (bottom_up) {
			rest = slot_new(fl, (uint64_t)at + need, bytes - need, (int64_t)slot, next);
			fl->next.data[slot] = (int64_t)rest;
			if (next != NONE)
				fl->prev.data[next] = (int64_t)rest;
		} else {
			rest = slot_new(fl, (uint64_t)at, bytes - need, prev, (int64_t)slot);
			fl->prev.data[slot] = (int64_t)rest;
			if (prev != NONE)
				fl->next.data[prev] = (int64_t)rest;
			fl->address.data[slot] = at + (int64_t)(bytes - need);
		}
		fl->bytes.data[slot] = (int64_t)need;
		list_free_block(fl, rest);
	}
	fl->used.data[slot] = 1;
	*address = (uint64_t)fl->address.data[slot];
	remember(fl, *address, slot);
	return true;
}

/* Removes an address from the table, newest first; NONE when it is not there. */
static int64_t forget(struct baseline_freelist *fl, uint64_t address)
{
	struct bucket *b = &fl->table[bucket_of(address)];
	for (size_t i = b->count; i-- > 0;) {
		if (b->data[i].address != address)
			continue;
		int64_t slot = (int64_t)b->data[i].slot;
		memmove(b->data + i, b->data + i + 1, (b->count - i - 1) * sizeof *b->data);
		b->count--;
		return slot;
	}
	return NONE;
}

/* Merges block `second`, which follows `first`, into `first`. */
static void join(struct baseline_freelist *fl, size_t first, size_t second)
{
	int64_t next = fl->next.data[second];
	fl->bytes.data[first] += fl->bytes.data[second];
	fl->next.data[first] = next;
	if (next != NONE)
		fl->prev.data[next] = (int64_t)first;
	slot_free(fl, second);
}

void baseline_freelist_release(struct baseline_freelist *fl, uint64_t address)
{
	int64_t slot = forget(fl, address);
	if (slot == NONE)
		return;
	int64_t prev = fl->prev.data[slot], next = fl->next.data[slot];
	fl->used.data[slot] = 0;
	if (prev != NONE && !fl->used.data[prev]) {
		unlist_free_block(fl, (size_t)prev);
		join(fl, (size_t)prev, (size_t)slot);
		slot = prev;
	}
	if (next != NONE && !fl->used.data[next]) {
		unlist_free_block(fl, (size_t)next);
		join(fl, (size_t)slot, (size_t)next);
	}
	list_free_block(fl, (size_t)slot);
}

struct baseline_stats baseline_freelist_stats(const struct baseline_freelist *fl)
{
	struct baseline_stats stats = { .total = fl->size };
	for (size_t i = 0; i < fl->address.count; i++) {
		if (!fl->in_use.data[i])
			continue;
		uint64_t bytes = (uint64_t)fl->bytes.data[i];
		if (fl->used.data[i]) {
			stats.allocated += bytes;
		} else {
			stats.free += bytes;
			stats.largest_free = bytes > stats.largest_free ? bytes : stats.largest_free;
		}
	}
	return stats;
}
