/*
 * Fuzz the reader of tt-metal's shared memory. Exercises: live/runtime/metal_shm.c (layouts, counters, slots, sums).
 *
 * An input is a whole region (first byte 'F'), or a list of changes to a region whose version is the first byte modulo
 * 5 (0: the older first version): 2 bytes of offset, modulo its length, 1 byte of length (0: cut it there), and that
 * many bytes.
 *
 * Properties: for any bytes, the region is valid and says how reading it went; the sums agree whatever is known about
 * the processes; the same bytes give the same region.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "fuzz_check.h"
#include "../tests/unit/metal_bytes.h"
#include "../tests/unit/metal_valid.h"

static size_t change(struct metal_bytes *m, const uint8_t *data, size_t size)
{
	size_t len = m->layout->size;
	while (size >= 3) {
		size_t offset = (size_t)(data[0] | data[1] << 8) % m->layout->size, bytes = data[2];
		data += 3;
		size -= 3;
		if (bytes == 0)
			len = offset;
		bytes = bytes < size ? bytes : size;
		bytes = bytes < m->layout->size - offset ? bytes : m->layout->size - offset;
		memcpy(m->data + offset, data, bytes);
		data += bytes;
		size -= bytes;
	}
	return len;
}

static void decode(const uint8_t *data, size_t len, struct tdm_metal_region *region)
{
	uint8_t *copy = malloc(len != 0 ? len : 1);
	check(copy != NULL);
	if (len != 0)
		memcpy(copy, data, len);
	metal_region_init(region);
	tdm_metal_decode(copy, len, region);
	free(copy);
	check(metal_region_is_valid(region));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct metal_bytes m;
	struct tdm_metal_region region, again;
	if (size != 0 && data[0] == 'F') {
		decode(data + 1, size - 1, &region);
		return 0;
	}
	unsigned version = size != 0 ? data[0] % 5 : 3;
	metal_sample(&m, version != 0 ? version : 1, version != 0 ? &metal_common : &metal_first);
	size_t len = change(&m, data + (size != 0), size - (size != 0));
	decode(m.data, len, &region);
	decode(m.data, len, &again);
	check(memcmp(&region, &again, sizeof region) == 0);
	for (unsigned turn = 0; turn < TDM_PROC_LIFE_COUNT; turn++) {
		for (uint32_t i = 0; i < region.slot_count; i++)
			region.slots[i].life = (uint8_t)((turn + i) % TDM_PROC_LIFE_COUNT);
		tdm_metal_sum(&region);
		check(metal_region_is_valid(&region));
	}
	return 0;
}
