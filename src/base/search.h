/* Searches an ascending list for elements that are usually near its end. */
#ifndef TDM_BASE_SEARCH_H
#define TDM_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* The index of the element whose key is `wanted`, or SIZE_MAX. Goes back from the end in doubling steps, then searches
 * between the last two. `key_of` is inlined. */
static inline __attribute__((always_inline)) size_t tdm_search_back(
	const void *list, size_t count, uint64_t wanted, uint64_t (*key_of)(const void *list, size_t i))
{
	size_t high = count, step = 1, low = count > step ? count - step : 0;
	while (low != 0 && key_of(list, low) > wanted) {
		high = low;
		step *= 2;
		low = step < count ? count - step : 0;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (key_of(list, middle) < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && key_of(list, low) == wanted ? low : SIZE_MAX;
}

#endif
