#include "state/intern.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum {
	TEXTS_MAX = 1 << 20,
	STACKS_MAX = 1 << 20,
	RANGE_LISTS_MAX = 1 << 18,
	RANGES_ALL_MAX = 1 << 22, /* in all lists together */
	FIRST_CAP = 64,
};

/* Makes room for `more` items after `count`. Keeps the old array if there is no memory. */
static int reserve(void **array, uint32_t *cap, uint32_t count, uint32_t more, size_t item)
{
	uint64_t wanted = *cap != 0 ? *cap : FIRST_CAP;
	while (wanted < (uint64_t)count + more)
		wanted *= 2;
	if (*array != NULL && wanted == *cap)
		return 0;
	void *bigger = realloc(*array, (size_t)wanted * item);
	if (bigger == NULL)
		return -ENOMEM;
	*array = bigger;
	*cap = (uint32_t)wanted;
	return 0;
}

int tdm_intern_init(struct tdm_intern *intern)
{
	*intern = (struct tdm_intern){ 0 };
	int err = tdm_names_init(&intern->names);
	if (err != 0)
		return err;
	void *texts = NULL, *stacks = NULL, *lists = NULL;
	if (tdm_map_init(&intern->by_hash) != 0 || tdm_map_init(&intern->ranges_by_hash) != 0 ||
		reserve(&texts, &intern->text_cap, 0, 1, sizeof *intern->texts) != 0 ||
		reserve(&stacks, &intern->stack_cap, 0, 1, sizeof *intern->stacks) != 0 ||
		reserve(&lists, &intern->range_list_cap, 0, 1, sizeof *intern->range_lists) != 0)
		err = -ENOMEM;
	intern->texts = texts;
	intern->stacks = stacks;
	intern->range_lists = lists;
	if (err == 0) {
		intern->range_lists[0] = (struct tdm_kept_ranges){ .next = TDM_MAP_NONE };
		intern->range_list_count = 1;
		intern->texts[0] = strdup("");
		intern->stacks[0] = (struct tdm_kept_stack){ .next = TDM_MAP_NONE };
		intern->text_count = intern->texts[0] != NULL;
		intern->stack_count = 1;
		err = intern->text_count != 0 ? 0 : -ENOMEM;
	}
	if (err != 0)
		tdm_intern_done(intern);
	return err;
}

void tdm_intern_done(struct tdm_intern *intern)
{
	for (uint32_t i = 0; i < intern->text_count; i++)
		free(intern->texts[i]);
	free(intern->texts);
	free(intern->frames);
	free(intern->stacks);
	free(intern->ranges);
	free(intern->range_lists);
	tdm_map_done(&intern->by_hash);
	tdm_map_done(&intern->ranges_by_hash);
	tdm_names_done(&intern->names);
	*intern = (struct tdm_intern){ 0 };
}

static int add_text(struct tdm_intern *intern, struct tdm_str text, uint32_t *number)
{
	void *texts = intern->texts;
	uint32_t slot;
	int err = reserve(&texts, &intern->text_cap, intern->text_count, 1, sizeof *intern->texts);
	intern->texts = texts;
	char *copy = err == 0 ? strndup(text.ptr, text.len) : NULL;
	if (copy == NULL)
		return -ENOMEM;
	err = tdm_names_add(&intern->names, text, &slot);
	if (err != 0) {
		free(copy);
		return err;
	}
	*tdm_names_number(&intern->names, slot) = intern->text_count;
	intern->texts[intern->text_count] = copy;
	*number = intern->text_count++;
	return 0;
}

/* After a NUL, the kept text would be shorter than the one looked up. */
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

int tdm_intern_text(struct tdm_intern *intern, struct tdm_str text, uint32_t *number)
{
	if (tdm_intern_find(intern, text, number))
		return 0;
	if (intern->text_count == TEXTS_MAX) {
		intern->dropped++;
		return 0;
	}
	return add_text(intern, cut(text), number);
}

static uint64_t hash_frames(const struct tdm_kept_frame *frames, uint32_t count)
{
	uint64_t hash = count;
	for (uint32_t i = 0; i < count; i++)
		hash = tdm_hash_u64(hash ^ frames[i].address) + frames[i].text;
	return hash;
}

static bool same_frames(const struct tdm_kept_frame *a, const struct tdm_kept_frame *b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (a[i].address != b[i].address || a[i].text != b[i].text)
			return false;
	return true;
}

static int add_stack(
	struct tdm_intern *intern, const struct tdm_kept_frame *frames, uint32_t count, uint64_t hash, uint32_t *number)
{
	void *list = intern->frames, *stacks = intern->stacks;
	int err = reserve(&list, &intern->frame_cap, intern->frame_count, count, sizeof *frames);
	intern->frames = list;
	if (err == 0)
		err = reserve(&stacks, &intern->stack_cap, intern->stack_count, 1, sizeof *intern->stacks);
	intern->stacks = stacks;
	uint32_t next = tdm_map_find(&intern->by_hash, hash);
	if (err == 0)
		err = tdm_map_put(&intern->by_hash, hash, intern->stack_count);
	if (err != 0)
		return err;
	memcpy(intern->frames + intern->frame_count, frames, count * sizeof *frames);
	intern->stacks[intern->stack_count] = (struct tdm_kept_stack){ intern->frame_count, count, next };
	intern->frame_count += count;
	*number = intern->stack_count++;
	return 0;
}

int tdm_intern_stack(struct tdm_intern *intern, const struct tdm_frame *frames, uint32_t frame_count, uint32_t *number)
{
	struct tdm_kept_frame kept[TDM_FRAMES_MAX];
	*number = 0;
	for (uint32_t i = 0; i < frame_count; i++) {
		kept[i] = (struct tdm_kept_frame){ .address = frames[i].address };
		int err = tdm_intern_text(intern, frames[i].text, &kept[i].text);
		if (err != 0)
			return err;
	}
	if (frame_count == 0)
		return 0;
	uint64_t hash = hash_frames(kept, frame_count);
	for (uint32_t i = tdm_map_find(&intern->by_hash, hash); i != TDM_MAP_NONE; i = intern->stacks[i].next)
		if (intern->stacks[i].count == frame_count &&
			same_frames(intern->frames + intern->stacks[i].first, kept, frame_count)) {
			*number = i;
			return 0;
		}
	if (intern->stack_count == STACKS_MAX) {
		intern->dropped++;
		return 0;
	}
	return add_stack(intern, kept, frame_count, hash, number);
}

static uint64_t hash_ranges(const struct tdm_core_range *ranges, uint32_t count)
{
	uint64_t hash = count, bits;
	static_assert(sizeof bits == sizeof *ranges, "a range is hashed as one number");
	for (uint32_t i = 0; i < count; i++) {
		memcpy(&bits, &ranges[i], sizeof bits);
		hash = tdm_hash_u64(hash ^ bits);
	}
	return hash;
}

static int add_ranges(
	struct tdm_intern *intern, const struct tdm_core_range *ranges, uint32_t count, uint64_t hash, uint32_t *number)
{
	void *all = intern->ranges, *lists = intern->range_lists;
	int err = reserve(&all, &intern->range_cap, intern->range_count, count, sizeof *ranges);
	intern->ranges = all;
	if (err == 0)
		err = reserve(
			&lists, &intern->range_list_cap, intern->range_list_count, 1, sizeof *intern->range_lists);
	intern->range_lists = lists;
	uint32_t next = tdm_map_find(&intern->ranges_by_hash, hash);
	if (err == 0)
		err = tdm_map_put(&intern->ranges_by_hash, hash, intern->range_list_count);
	if (err != 0)
		return err;
	memcpy(intern->ranges + intern->range_count, ranges, count * sizeof *ranges);
	intern->range_lists[intern->range_list_count] = (struct tdm_kept_ranges){ intern->range_count, count, next };
	intern->range_count += count;
	*number = intern->range_list_count++;
	return 0;
}

int tdm_intern_ranges(
	struct tdm_intern *intern, const struct tdm_core_range *ranges, uint32_t range_count, uint32_t *number)
{
	*number = 0;
	if (range_count == 0)
		return 0;
	uint64_t hash = hash_ranges(ranges, range_count);
	uint32_t i = tdm_map_find(&intern->ranges_by_hash, hash);
	for (; i != TDM_MAP_NONE; i = intern->range_lists[i].next) {
		const struct tdm_kept_ranges *list = &intern->range_lists[i];
		if (list->count == range_count &&
			memcmp(intern->ranges + list->first, ranges, range_count * sizeof *ranges) == 0) {
			*number = i;
			return 0;
		}
	}
	if (intern->range_list_count == RANGE_LISTS_MAX || range_count > RANGES_ALL_MAX - intern->range_count) {
		intern->dropped++;
		return 0;
	}
	return add_ranges(intern, ranges, range_count, hash, number);
}
