/*
 * Keeps each string, call stack and list of core ranges once, under a number; 0 means none. Kept items are never
 * removed, but there is a limit: beyond it, new items become 0 and are counted as dropped. Not thread-safe.
 */
#ifndef TDM_LIVE_INTERN_H
#define TDM_LIVE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/names.h"
#include "base/str.h"
#include "model/event/event.h"

/* A frame whose text is given by its number. */
struct tdm_kept_frame {
	uint64_t address;
	uint32_t text;    /* number of the text; 0 if only the address is known */
	uint32_t padding; /* always 0, because lists are compared byte by byte */
};

/* A stack or a list of core ranges. */
struct tdm_kept_list {
	const void *items; /* of type struct tdm_kept_frame or struct tdm_core_range */
	uint32_t count;
	uint32_t next; /* next list with the same hash, or TDM_MAP_NONE */
};

struct tdm_kept_lists {
	struct tdm_kept_list *list; /* list[0] is empty */
	uint32_t count;
	size_t cap, bytes, most_bytes; /* bytes, most_bytes: size of all items, and its limit */
	struct tdm_map by_hash;
};

struct tdm_intern {
	struct tdm_names names; /* a name's number is its index in texts */
	const char **texts;     /* texts[0] is "" */
	uint32_t text_count;
	size_t text_cap;
	struct tdm_kept_lists stacks, ranges;
	struct tdm_arena memory; /* memory for texts and items */
	uint64_t dropped;
};

void tdm_intern_init(struct tdm_intern *intern);
void tdm_intern_done(struct tdm_intern *intern);

/* These return the number; 0 for an empty text or list, or beyond the limit. Texts are cut at TDM_NAME_MAX bytes. */
uint32_t tdm_intern_text(struct tdm_intern *intern, struct tdm_str text);
uint32_t tdm_intern_stack(struct tdm_intern *intern, const struct tdm_frame *frames, uint32_t frame_count);
uint32_t tdm_intern_ranges(struct tdm_intern *intern, const struct tdm_core_range *ranges, uint32_t range_count);
/* Sets *number (0 for an empty string). False if the string has not been kept. */
bool tdm_intern_find(const struct tdm_intern *intern, struct tdm_str text, uint32_t *number);

#endif
