#include "live/join/intern.h"
#include "base/memory.h"

#include <stdlib.h>

enum {
	TEXTS_MAX = 1 << 20,
	LISTS_MAX = 1 << 20, /* lists of a type */
	STACK_BYTES_MAX = 1 << 30,
	RANGE_BYTES_MAX = 1 << 25,
};

void tdm_intern_init(struct tdm_intern *intern)
{
	*intern = (struct tdm_intern){
		.text_count = 1, .stacks.most_bytes = STACK_BYTES_MAX, .ranges.most_bytes = RANGE_BYTES_MAX
	};
	tdm_grow(&intern->texts, &intern->text_cap, 1, sizeof *intern->texts);
	intern->texts[0] = "";
	for (int i = 0; i < 2; i++) {
		struct tdm_kept_lists *lists = i == 0 ? &intern->stacks : &intern->ranges;
		tdm_grow(&lists->list, &lists->cap, 1, sizeof *lists->list);
		lists->list[lists->count++] = (struct tdm_kept_list){ .next = TDM_MAP_NONE };
	}
}

void tdm_intern_done(struct tdm_intern *intern)
{
	free(intern->texts);
	free(intern->stacks.list);
	free(intern->ranges.list);
	tdm_map_done(&intern->stacks.by_hash);
	tdm_map_done(&intern->ranges.by_hash);
	tdm_names_done(&intern->names);
	tdm_arena_done(&intern->memory);
	*intern = (struct tdm_intern){ 0 };
}

/* Cuts the text at a NUL byte, where a kept string would end. */
static struct tdm_str cut(struct tdm_str text)
{
	const char *nul = text.len != 0 ? memchr(text.ptr, '\0', text.len) : NULL;
	text.len = nul != NULL ? (size_t)(nul - text.ptr) : text.len;
	text.len = text.len < TDM_NAME_MAX ? text.len : TDM_NAME_MAX;
	return text;
}

bool tdm_intern_find(const struct tdm_intern *intern, struct tdm_str text, uint32_t *number)
{
	text = cut(text);
	*number = 0;
	if (text.len == 0)
		return true;
	uint32_t slot = tdm_names_find(&intern->names, text);
	if (slot != TDM_NAME_NONE)
		*number = (uint32_t)*tdm_names_number(&intern->names, slot);
	return slot != TDM_NAME_NONE;
}

uint32_t tdm_intern_text(struct tdm_intern *intern, struct tdm_str text)
{
	uint32_t number, slot;
	if (tdm_intern_find(intern, text, &number))
		return number;
	if (intern->text_count == TEXTS_MAX) {
		intern->dropped++;
		return 0;
	}
	text = cut(text);
	tdm_names_add(&intern->names, text, &slot);
	*tdm_names_number(&intern->names, slot) = intern->text_count;
	tdm_grow(&intern->texts, &intern->text_cap, intern->text_count + (size_t)1, sizeof *intern->texts);
	intern->texts[intern->text_count] = tdm_arena_text(&intern->memory, text);
	return intern->text_count++;
}

/* The number of a list, which is kept if new. List items consist of whole 64-bit words. */
static uint32_t keep(
	struct tdm_intern *intern, struct tdm_kept_lists *lists, const void *items, uint32_t count, size_t item)
{
	size_t bytes = count * item;
	uint64_t hash = count, word;
	for (size_t at = 0; at < bytes; at += sizeof word) {
		memcpy(&word, (const char *)items + at, sizeof word);
		hash = tdm_hash_u64(hash ^ word);
	}
	uint32_t same = tdm_map_find(&lists->by_hash, hash);
	for (uint32_t i = same; i != TDM_MAP_NONE; i = lists->list[i].next)
		if (lists->list[i].count == count && memcmp(lists->list[i].items, items, bytes) == 0)
			return i;
	if (lists->count == LISTS_MAX || bytes > lists->most_bytes - lists->bytes) {
		intern->dropped++;
		return 0;
	}
	void *kept = memcpy(tdm_arena_take(&intern->memory, bytes), items, bytes);
	tdm_grow(&lists->list, &lists->cap, lists->count + (size_t)1, sizeof *lists->list);
	tdm_map_set(&lists->by_hash, hash, lists->count);
	lists->list[lists->count] = (struct tdm_kept_list){ kept, count, same };
	lists->bytes += bytes;
	return lists->count++;
}

uint32_t tdm_intern_stack(struct tdm_intern *intern, const struct tdm_frame *frames, uint32_t frame_count)
{
	struct tdm_kept_frame kept[TDM_FRAMES_MAX];
	for (uint32_t i = 0; i < frame_count; i++)
		kept[i] = (struct tdm_kept_frame){ frames[i].address, tdm_intern_text(intern, frames[i].text), 0 };
	return frame_count != 0 ? keep(intern, &intern->stacks, kept, frame_count, sizeof *kept) : 0;
}

uint32_t tdm_intern_ranges(struct tdm_intern *intern, const struct tdm_core_range *ranges, uint32_t range_count)
{
	return range_count != 0 ? keep(intern, &intern->ranges, ranges, range_count, sizeof *ranges) : 0;
}
