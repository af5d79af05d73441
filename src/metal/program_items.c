/* Lists of what a program has: circular buffers, dataflow buffers, code. */
#include "metal/programs.h"

#include <stdlib.h>
#include <string.h>

#include "base/reserve.h"

bool tdm_program_items_add(struct tdm_program_items *items, const struct tdm_program_item *item)
{
	struct tdm_program_item copy = *item;
	size_t bytes = item->range_count * sizeof *item->ranges;
	copy.ranges = NULL;
	if (items->count >= TDM_PROGRAM_ITEMS_MAX ||
		tdm_reserve(&items->list, &items->cap, items->count + 1, sizeof copy) != 0 ||
		(bytes != 0 && (copy.ranges = malloc(bytes)) == NULL))
		return false;
	if (bytes != 0)
		memcpy(copy.ranges, item->ranges, bytes);
	items->list[items->count++] = copy;
	return true;
}

void tdm_program_items_done(struct tdm_program_items *items)
{
	for (size_t i = 0; i < items->count; i++)
		free(items->list[i].ranges);
	free(items->list);
	*items = (struct tdm_program_items){ 0 };
}
