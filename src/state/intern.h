/*
 * Texts, call stacks and lists of core ranges, each kept once under a number; 0 means none. They are never removed, but
 * their number is limited: beyond the limit new ones become 0 and are counted as dropped. Not thread-safe.
 */
#ifndef TDM_STATE_INTERN_H
#define TDM_STATE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/names.h"
#include "base/str.h"
#include "event/describe.h"

/* A frame with its text as a number. */
struct tdm_kept_frame {
	uint64_t address;
	uint32_t text; /* 0: there is only the address */
};

struct tdm_kept_stack {
	uint32_t first, count; /* in frames[] */
	uint32_t next;         /* another one with the same hash, or TDM_MAP_NONE */
};

struct tdm_kept_ranges {
	uint32_t first, count; /* in ranges[] */
	uint32_t next;         /* as above */
};

struct tdm_intern {
	struct tdm_names names; /* names and texts have the same numbers */
	char **texts;           /* texts[0] is "" */
	uint32_t text_count, text_cap;
	struct tdm_kept_frame *frames;
	uint32_t frame_count, frame_cap;
	struct tdm_kept_stack *stacks; /* stacks[0] is empty */
	uint32_t stack_count, stack_cap;
	struct tdm_map by_hash;
	struct tdm_core_range *ranges;
	uint32_t range_count, range_cap;
	struct tdm_kept_ranges *range_lists; /* range_lists[0] is empty */
	uint32_t range_list_count, range_list_cap;
	struct tdm_map ranges_by_hash;
	uint64_t dropped;
};

int tdm_intern_init(struct tdm_intern *intern); /* 0 or -ENOMEM */
void tdm_intern_done(struct tdm_intern *intern);

/* Sets *number (0 for an empty text, or beyond the limit) and returns 0 or -ENOMEM. Cuts texts at TDM_NAME_MAX
 * bytes. */
int tdm_intern_text(struct tdm_intern *intern, struct tdm_str text, uint32_t *number);
/* False if the text is not kept. */
bool tdm_intern_find(const struct tdm_intern *intern, struct tdm_str text, uint32_t *number);
int tdm_intern_stack(struct tdm_intern *intern, const struct tdm_frame *frames, uint32_t frame_count, uint32_t *number);
int tdm_intern_ranges(
	struct tdm_intern *intern, const struct tdm_core_range *ranges, uint32_t range_count, uint32_t *number);

#endif
