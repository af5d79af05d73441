#include "base/reserve.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 16 };

int tdm_reserve(void *list, size_t *cap, size_t count, size_t item)
{
	void *items;
	if (count <= *cap)
		return 0;
	size_t wanted = *cap == 0 ? FIRST : *cap <= SIZE_MAX / 2 ? *cap * 2 : count;
	wanted = wanted < count ? count : wanted;
	if (wanted > SIZE_MAX / item)
		return -ENOMEM;
	memcpy(&items, list, sizeof items); /* the caller's pointer may have any type */
	items = realloc(items, wanted * item);
	if (items == NULL)
		return -ENOMEM;
	memcpy(list, &items, sizeof items);
	*cap = wanted;
	return 0;
}
