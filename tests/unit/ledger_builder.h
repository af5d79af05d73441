/*
 * Builds ledgers byte by byte, without the writer, so that tests of the reader depend on the layout alone. A builder is
 * a growing block of memory with the file's content; offsets into it stay valid, pointers do not.
 */
#ifndef TDM_TESTS_LEDGER_BUILDER_H
#define TDM_TESTS_LEDGER_BUILDER_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "ledger/layout/layout.h"

struct builder {
	uint8_t *bytes;
	size_t size;
	uint64_t ticks; /* of the next call */
};

enum { BUILDER_PID = 4242, BUILDER_TICKS = 1000000, BUILDER_NS_PER_TICK = 2 };

static inline void *builder_at(struct builder *b, uint64_t offset)
{
	return b->bytes + offset;
}

static inline struct tdm_ledger_header *builder_header(struct builder *b)
{
	return builder_at(b, 0);
}

static inline struct tdm_ledger_device *builder_device(struct builder *b, uint64_t device)
{
	return builder_at(b, device);
}

/* A new area at the end of the file. */
static inline uint64_t builder_area(struct builder *b, size_t bytes)
{
	uint64_t offset = b->size;
	size_t padded = (bytes + TDM_LEDGER_PAGE - 1) / TDM_LEDGER_PAGE * TDM_LEDGER_PAGE;
	b->bytes = realloc(b->bytes, b->size + padded);
	if (b->bytes == NULL)
		abort();
	memset(b->bytes + b->size, 0, padded);
	b->size += padded;
	builder_header(b)->file_size = b->size;
	return offset;
}

static inline void builder_init(struct builder *b)
{
	*b = (struct builder){ .bytes = calloc(1, TDM_LEDGER_PAGE), .size = TDM_LEDGER_PAGE, .ticks = BUILDER_TICKS };
	if (b->bytes == NULL)
		abort();
	*builder_header(b) = (struct tdm_ledger_header){
		.magic = TDM_LEDGER_MAGIC,
		.major = TDM_LEDGER_MAJOR,
		.minor = TDM_LEDGER_MINOR,
		.state = TDM_LEDGER_OPEN,
		.header_size = TDM_LEDGER_PAGE,
		.file_size = TDM_LEDGER_PAGE,
		.boot_id = { 1, 2, 3 },
		.pid_namespace = 77,
		.start_time = 12345,
		.pid = BUILDER_PID,
		.uid = 1000,
		.comm = "model",
		.command = "model --layers 12",
		.first = { BUILDER_TICKS, TDM_NS_PER_S, 100 * TDM_NS_PER_S },
		.last = { BUILDER_TICKS + TDM_NS_PER_S, TDM_NS_PER_S + BUILDER_NS_PER_TICK * TDM_NS_PER_S,
			100 * TDM_NS_PER_S + BUILDER_NS_PER_TICK * TDM_NS_PER_S },
		.last_seq = 2,
	};
}

static inline void builder_done(struct builder *b)
{
	free(b->bytes);
	*b = (struct builder){ 0 };
}

static inline void builder_add_slots(struct builder *b, uint64_t device)
{
	uint32_t k = builder_device(b, device)->slot_segments;
	uint64_t count = (uint64_t)TDM_LEDGER_FIRST_SLOTS << k;
	uint64_t offset = builder_area(b, count * (sizeof(struct tdm_ledger_slot) + sizeof(struct tdm_ledger_more)));
	builder_device(b, device)->slot_offset[k] = offset;
	builder_device(b, device)->slot_segments++;
}

/* Its offset. */
static inline uint64_t builder_add_device_with(struct builder *b, uint32_t number, uint64_t ring_records)
{
	uint64_t device = builder_area(b, sizeof(struct tdm_ledger_device));
	uint64_t ring = builder_area(b, ring_records * sizeof(struct tdm_ledger_record));
	builder_device(b, device)->number = number;
	builder_device(b, device)->ring_offset = ring;
	builder_device(b, device)->ring_records = ring_records;
	builder_add_slots(b, device);
	struct tdm_ledger_header *header = builder_header(b);
	header->device_offset[header->device_count++] = device;
	return device;
}

static inline uint64_t builder_add_device(struct builder *b, uint32_t number)
{
	return builder_add_device_with(b, number, TDM_LEDGER_RING);
}

static inline uint64_t builder_slot_at(struct builder *b, uint64_t device, uint32_t slot, uint64_t *more)
{
	uint64_t begin = 0;
	for (uint32_t k = 0;; k++) {
		uint64_t count = (uint64_t)TDM_LEDGER_FIRST_SLOTS << k;
		if (slot - begin < count) {
			uint64_t offset = builder_device(b, device)->slot_offset[k];
			*more = offset + count * sizeof(struct tdm_ledger_slot) +
				(slot - begin) * sizeof(struct tdm_ledger_more);
			return offset + (slot - begin) * sizeof(struct tdm_ledger_slot);
		}
		begin += count;
	}
}

static inline struct tdm_ledger_slot *builder_slot(struct builder *b, uint64_t device, uint32_t slot)
{
	uint64_t more;
	return builder_at(b, builder_slot_at(b, device, slot, &more));
}

static inline struct tdm_ledger_more *builder_more(struct builder *b, uint64_t device, uint32_t slot)
{
	uint64_t more;
	builder_slot_at(b, device, slot, &more);
	return builder_at(b, more);
}

/* The number of a blob, put behind the others. */
static inline uint32_t builder_blob(struct builder *b, enum tdm_blob_kind kind, const void *content, size_t bytes)
{
	size_t padded = (bytes + TDM_LEDGER_BLOB_UNIT - 1) / TDM_LEDGER_BLOB_UNIT * TDM_LEDGER_BLOB_UNIT;
	uint64_t need = sizeof(struct tdm_ledger_blob) + padded;
	uint64_t begin = 0, at;
	uint32_t k = 0;
	if (builder_header(b)->blob_used == 0)
		builder_header(b)->blob_used = 2 * TDM_LEDGER_BLOB_UNIT;
	for (;; k++) {
		uint64_t size = (uint64_t)TDM_LEDGER_FIRST_BLOB << k;
		at = builder_header(b)->blob_used;
		if (k == builder_header(b)->blob_segments) {
			uint64_t offset = builder_area(b, size);
			builder_header(b)->blob_offset[k] = offset;
			builder_header(b)->blob_segments++;
		}
		if (at < begin + size && begin + size - at >= need)
			break;
		if (at < begin + size)
			builder_header(b)->blob_used = begin + size;
		begin += size;
	}
	struct tdm_ledger_blob head = { .kind = kind, .bytes = (uint32_t)bytes };
	uint8_t *to = builder_at(b, builder_header(b)->blob_offset[k] + (at - begin));
	memcpy(to, &head, sizeof head);
	memcpy(to + sizeof head, content, bytes);
	builder_header(b)->blob_used = at + need;
	return (uint32_t)(at / TDM_LEDGER_BLOB_UNIT);
}

static inline uint32_t builder_text(struct builder *b, const char *text)
{
	return builder_blob(b, TDM_BLOB_TEXT, text, strlen(text));
}

static inline void builder_module(struct builder *b, uint64_t base, uint64_t size, const char *path)
{
	uint8_t content[512];
	memcpy(content, &base, sizeof base);
	memcpy(content + 8, &size, sizeof size);
	memcpy(content + 16, path, strlen(path));
	builder_blob(b, TDM_BLOB_MODULE, content, 16 + strlen(path));
}

static inline void builder_phase(struct builder *b, const char *name)
{
	uint32_t number = builder_text(b, name);
	if (builder_header(b)->phase_segments == 0) {
		uint64_t offset = builder_area(b, TDM_LEDGER_PHASES_FIRST * sizeof(struct tdm_ledger_phase));
		builder_header(b)->phase_offset[0] = offset;
		builder_header(b)->phase_segments = 1;
	}
	struct tdm_ledger_phase *phase = builder_at(b, builder_header(b)->phase_offset[0]);
	phase[builder_header(b)->phase_count++] = (struct tdm_ledger_phase){
		.name = number,
		.flags = TDM_PHASE_MARK,
		.begin_tsc = b->ticks++,
	};
}

/* Both copies of a counter: the newer part moves on by one call. */
static inline void builder_count(struct builder *b, uint64_t device, unsigned counter, uint64_t seq, int sign,
	const struct tdm_ledger_slot *slot)
{
	struct tdm_ledger_now *now = builder_device(b, device)->now[counter];
	struct tdm_ledger_peak *peak = builder_device(b, device)->peak[counter];
	unsigned n = now[1].seq > now[0].seq, p = peak[1].seq > peak[0].seq;
	struct tdm_ledger_now next = now[n];
	struct tdm_ledger_peak top = peak[p];
	uint64_t own = slot->banks != 0;
	next.seq = top.seq = seq;
	if (sign > 0) {
		next.buffers++;
		next.bytes += slot->bank_bytes * slot->banks;
		next.bank_bytes += own * slot->bank_bytes;
		next.asked_bytes += own * slot->asked;
		next.allocs++;
		next.alloc_bytes += slot->bank_bytes * slot->banks;
		next.alloc_asked += own * slot->asked;
	} else {
		next.buffers--;
		next.bytes -= slot->bank_bytes * slot->banks;
		next.bank_bytes -= own * slot->bank_bytes;
		next.asked_bytes -= own * slot->asked;
	}
	now[n ^ 1] = next;
	if (next.bytes > top.bytes) {
		top.bytes = next.bytes;
		top.tsc = b->ticks;
	}
	top.buffers = next.buffers > top.buffers ? next.buffers : top.buffers;
	top.bank_bytes = next.bank_bytes > top.bank_bytes ? next.bank_bytes : top.bank_bytes;
	top.asked_bytes = next.asked_bytes > top.asked_bytes ? next.asked_bytes : top.asked_bytes;
	if (memcmp(&top.bytes, &peak[p].bytes, sizeof top - sizeof top.seq) != 0)
		peak[p ^ 1] = top;
}

/* The peak of all that lies in L1, after a change of one of its kinds. */
static inline void builder_count_l1(struct builder *b, uint64_t device, uint64_t seq)
{
	struct tdm_ledger_peak *peak = builder_device(b, device)->peak[TDM_LEDGER_L1_ALL];
	unsigned p = peak[1].seq > peak[0].seq;
	struct tdm_ledger_peak sum = { 0 }, top = peak[p];
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		const struct tdm_ledger_now *now = builder_device(b, device)->now[k];
		const struct tdm_ledger_now *newer = &now[now[1].seq > now[0].seq];
		if (k == TDM_KIND_DRAM || k == TDM_KIND_TRACE || k == TDM_KIND_SYSTEM)
			continue;
		sum.bytes += newer->bytes;
		sum.buffers += newer->buffers;
		sum.bank_bytes += newer->bank_bytes;
		sum.asked_bytes += newer->asked_bytes;
	}
	top.seq = seq;
	top.bytes = sum.bytes > top.bytes ? sum.bytes : top.bytes;
	top.buffers = sum.buffers > top.buffers ? sum.buffers : top.buffers;
	top.bank_bytes = sum.bank_bytes > top.bank_bytes ? sum.bank_bytes : top.bank_bytes;
	top.asked_bytes = sum.asked_bytes > top.asked_bytes ? sum.asked_bytes : top.asked_bytes;
	if (memcmp(&top.bytes, &peak[p].bytes, sizeof top - sizeof top.seq) != 0)
		peak[p ^ 1] = top;
}

/* `more` is the number of the slot for an allocation, the stack for a release. */
static inline void builder_record(struct builder *b, uint64_t device, uint64_t seq, enum tdm_ledger_op op,
	const struct tdm_ledger_slot *slot, uint32_t more)
{
	struct tdm_ledger_record *ring = builder_at(b, builder_device(b, device)->ring_offset);
	ring[(seq - 1) % builder_device(b, device)->ring_records] = (struct tdm_ledger_record){
		.seq = seq,
		.tsc = b->ticks,
		.id = slot->id,
		.address = slot->address,
		.asked = slot->asked,
		.bank_bytes = slot->bank_bytes,
		.name = slot->name,
		.slot = more,
		.banks = slot->banks,
		.op = (uint8_t)op,
		.kind = slot->kind,
		.flags = slot->flags,
	};
}

/* One finished call that allocates `slot.id`, in the next slot. The number of the slot. */
static inline uint32_t builder_alloc(
	struct builder *b, uint64_t device, struct tdm_ledger_slot slot, struct tdm_ledger_more more)
{
	uint32_t place = builder_device(b, device)->slot_high;
	uint64_t slots =
		(uint64_t)TDM_LEDGER_FIRST_SLOTS * ((UINT64_C(1) << builder_device(b, device)->slot_segments) - 1);
	uint64_t seq = builder_device(b, device)->seq + 1;
	if (place == slots)
		builder_add_slots(b, device);
	slot.birth = seq;
	more.tsc = b->ticks;
	*builder_slot(b, device, place) = slot;
	*builder_more(b, device, place) = more;
	builder_count(b, device, slot.kind, seq, 1, &slot);
	builder_count_l1(b, device, seq);
	builder_record(b, device, seq, TDM_LEDGER_ALLOC, &slot, place);
	builder_device(b, device)->slot_high++;
	builder_device(b, device)->seq = seq;
	b->ticks++;
	return place;
}

static inline void builder_free(struct builder *b, uint64_t device, uint32_t place)
{
	uint64_t seq = builder_device(b, device)->seq + 1;
	builder_slot(b, device, place)->death = seq;
	struct tdm_ledger_slot slot = *builder_slot(b, device, place);
	builder_count(b, device, slot.kind, seq, -1, &slot);
	builder_record(b, device, seq, TDM_LEDGER_FREE, &slot, slot.stack);
	builder_device(b, device)->seq = seq;
	b->ticks++;
}

/* What the runtime said about a device: statistics, two traces, a buffer that waits and one that is judged, and clashes
 * of two types. */
static inline void builder_told(struct builder *b, uint64_t device, uint32_t name, uint32_t stack)
{
	uint64_t offset = builder_area(b, sizeof(struct tdm_ledger_runtime));
	struct tdm_ledger_runtime *told = builder_at(b, offset);
	builder_device(b, device)->runtime_offset = offset;
	told->head = (struct tdm_ledger_runtime_head){ .changes = 8,
		.hazard_changes = 6,
		.allocs = 5,
		.hazards_lost = 2,
		.trace_count = 2,
		.waiting_count = 1,
		.judged_count = 2,
		.clash_types = 1 << TDM_CLASH_L1 | 1 << TDM_CLASH_BEYOND };
	told->statistics[TDM_KIND_DRAM] =
		(struct tdm_ledger_statistics){ 3, 4096, 1 << 20, 1 << 19, 8192, 1, BUILDER_TICKS + 5, 0 };
	for (uint64_t i = 0; i < 2; i++)
		told->traces[i] = (struct tdm_ledger_trace){ .id = 7 + i,
			.began_tsc = BUILDER_TICKS + 1,
			.ended_tsc = BUILDER_TICKS + 2,
			.replayed_tsc = BUILDER_TICKS + 9,
			.replays = 4,
			.first = i };
	for (uint64_t i = 0; i < 3; i++)
		told->hazards[i == 0 ? 0 : TDM_LEDGER_HAZARDS + i - 1] = (struct tdm_ledger_hazard){ .trace = 7,
			.count = 1 + i,
			.id = 100 + i,
			.asked = 1000,
			.bank_bytes = 128,
			.tsc = BUILDER_TICKS + 3,
			.replayed_tsc = i != 0 ? BUILDER_TICKS + 9 : 0,
			.name = name,
			.stack = stack,
			.replay_stack = i == 1 ? stack : 0,
			.state = (uint8_t)i,
			.kind = TDM_KIND_L1 };
	for (uint64_t i = TDM_CLASH_L1; i <= TDM_CLASH_BEYOND; i++)
		told->clashes[i] = (struct tdm_ledger_clash){ .count = 2 + i,
			.tsc = BUILDER_TICKS + 4,
			.begin = 0x1000,
			.end = 0x9000 + i,
			.limit = 0x8000,
			.program = name,
			.range_count = 1,
			.range = { 0, 1, 7, 2 },
			.kind = TDM_KIND_CB };
}

/* Two counters and a remark. */
static inline void builder_notes(struct builder *b)
{
	uint32_t texts[] = { builder_text(b, "metal:allocate"), builder_text(b, "metal:free"),
		builder_text(b, "metal: sees no traces") };
	uint64_t offset = builder_area(b, sizeof(struct tdm_ledger_notes));
	struct tdm_ledger_notes *notes = builder_at(b, offset);
	builder_header(b)->notes_offset = offset;
	notes->counters[0] = (struct tdm_ledger_note){ 12, texts[0], 0 };
	notes->counters[2] = (struct tdm_ledger_note){ 34, texts[1], 0 };
	notes->remarks[0] = texts[2];
	notes->remark_count = 1;
}

enum { SAMPLE_RING = 64 }; /* records: a short ring keeps the file small */

/* A ledger with a bit of everything: two devices, buffers live and freed, a view, names, a stack, modules, phases,
 * faults, what the runtime said, and notes. */
static inline void builder_sample(struct builder *b)
{
	builder_init(b);
	uint64_t first = builder_add_device_with(b, 0, SAMPLE_RING),
		 second = builder_add_device_with(b, 1, SAMPLE_RING);
	uint32_t weights = builder_text(b, "weights"), line = builder_text(b, "model.py:12 (forward)");
	uint64_t frames[] = { 0x401234, 0x7f0000001234, TDM_FRAME_TEXT | line };
	uint32_t stack = builder_blob(b, TDM_BLOB_STACK, frames, sizeof frames);
	builder_module(b, 0x400000, 0x10000, "/usr/bin/model");
	builder_module(b, 0x7f0000000000, 0x200000, "/usr/lib/libmodel.so");
	builder_phase(b, "FORWARD");
	builder_phase(b, "BACKWARD");
	struct tdm_ledger_device *device = builder_device(b, first);
	device->flags = TDM_DEVICE_HAS_CHIP_ID;
	device->chip_id = 0;
	strcpy(device->card, "n150");
	device->grid_x = device->grid_y = 8;
	device->region_count = 1;
	device->regions[0] = (struct tdm_ledger_region){ TDM_KIND_DRAM, 12, 32, UINT64_C(1) << 30, 32, 0 };
	device->faults[TDM_KIND_DRAM] = (struct tdm_ledger_faults){ 1, 2, 3, 4, 5, 1 << 20, BUILDER_TICKS + 3, 0 };
	for (uint64_t i = 0; i < 8; i++)
		builder_alloc(b, first,
			(struct tdm_ledger_slot){ .id = 100 + i,
				.address = 4096 * i,
				.asked = 1000 * (i + 1),
				.bank_bytes = 1024 * (i + 1),
				.name = weights,
				.stack = i == 3 ? stack : 0,
				.banks = 12,
				.kind = i % 2 ? TDM_KIND_L1 : TDM_KIND_DRAM },
			(struct tdm_ledger_more){ .holding = 3, .page_size = 2048, .thread = 4243 });
	builder_free(b, first, 2);
	builder_free(b, first, 5);
	builder_alloc(b, second,
		(struct tdm_ledger_slot){ .id = 7, .asked = 512, .flags = TDM_SLOT_VIEW, .kind = TDM_KIND_CB },
		(struct tdm_ledger_more){ .cores = 4 });
	builder_device(b, second)->shared_kinds = 1 << TDM_KIND_CB;
	builder_told(b, first, weights, stack);
	builder_notes(b);
}

static inline void builder_write(struct builder *b, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		abort();
	for (size_t at = 0; at < b->size;) {
		ssize_t put = write(fd, b->bytes + at, b->size - at);
		if (put <= 0)
			abort();
		at += (size_t)put;
	}
	close(fd);
}

#endif
