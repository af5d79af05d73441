/* Shared-memory regions, written byte by byte, for tests of their reader. */
#ifndef TESTS_UNIT_METAL_BYTES_H
#define TESTS_UNIT_METAL_BYTES_H

#include <stdint.h>
#include <string.h>

#include "live/runtime/metal_shm.h"

/* The offsets of the common layout and of the older first version, as the documentation has them. */
struct metal_layout {
	size_t size, kinds, chips, chip_stride, slots, slot_stride;
};
static const struct metal_layout metal_common = { 8576, 5, 88, 48, 856, 120 };
static const struct metal_layout metal_first = { 9280, 6, 96, 56, 992, 128 };

enum { METAL_READY = 0x52454459 };
#define METAL_ASIC UINT64_C(143238002252608)
#define METAL_TIME UINT64_C(1787270400123456789)

struct metal_bytes {
	uint8_t data[9280];
	const struct metal_layout *layout;
};

static inline void metal_u32(struct metal_bytes *m, size_t at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		m->data[at + (size_t)i] = (uint8_t)(value >> 8 * i);
}

static inline void metal_u64(struct metal_bytes *m, size_t at, uint64_t value)
{
	metal_u32(m, at, (uint32_t)value);
	metal_u32(m, at + 4, (uint32_t)(value >> 32));
}

/* kind: the counter's place in its row */
static inline void metal_total(struct metal_bytes *m, size_t kind, uint64_t bytes)
{
	metal_u64(m, 48 + 8 * kind, bytes);
}

static inline size_t metal_slot_at(const struct metal_bytes *m, size_t slot)
{
	return m->layout->slots + slot * m->layout->slot_stride;
}

static inline void metal_slot(struct metal_bytes *m, size_t slot, int32_t pid, const char *name, uint64_t time)
{
	size_t at = metal_slot_at(m, slot), counters = 8 * m->layout->kinds;
	metal_u32(m, at, (uint32_t)pid);
	metal_u64(m, at + 8 + counters, time);
	memset(m->data + at + 16 + counters, 0, 64);
	memcpy(m->data + at + 16 + counters, name, strlen(name));
}

static inline void metal_slot_bytes(struct metal_bytes *m, size_t slot, size_t kind, uint64_t bytes)
{
	metal_u64(m, metal_slot_at(m, slot) + 8 + 8 * kind, bytes);
}

static inline void metal_chip(struct metal_bytes *m, size_t chip, uint32_t id, uint32_t remote)
{
	metal_u32(m, m->layout->chips + chip * m->layout->chip_stride, id);
	metal_u32(m, m->layout->chips + chip * m->layout->chip_stride + 4, remote);
}

/* As the runtime sets it up, with nothing allocated and nobody there. */
static inline void metal_init(struct metal_bytes *m, uint32_t version, const struct metal_layout *layout)
{
	memset(m->data, 0, sizeof m->data);
	m->layout = layout;
	metal_u32(m, 0, version);
	metal_u64(m, 8, METAL_TIME);
	metal_u64(m, 32, METAL_ASIC);
	for (size_t i = 0; version > 1 && i < TDM_METAL_CHIPS_MAX; i++)
		metal_chip(m, i, i == 0 ? 0 : UINT32_MAX, 0);
	if (version == 4)
		metal_u32(m, 8536, METAL_READY);
}

/* One process that holds something of every kind: 1000 of the first, 1001 of the next, … */
static inline void metal_sample(struct metal_bytes *m, uint32_t version, const struct metal_layout *layout)
{
	metal_init(m, version, layout);
	metal_u32(m, 4, 1);
	metal_u32(m, 16, 1);
	metal_slot(m, 0, 4242, "python3", METAL_TIME);
	for (size_t i = 0; i < layout->kinds; i++) {
		metal_total(m, i, 1000 + i);
		metal_slot_bytes(m, 0, i, 1000 + i);
		metal_u64(m, layout->chips + 8 + 8 * i, 1000 + i);
	}
}

#endif
