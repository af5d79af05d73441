/* The reader of ledgers: walks over live buffers, buffers of records, refreshing, and the first version of the layout.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>

#include "base/err.h"
#include "ledger/read/reader.h"
#include "ledger_buffers.h"
#include "ledger_builder.h"
#include "ledger_place.h"
#include "ledger_walk.h"

struct summed {
	uint64_t buffers, ids;
};

static void sum_slots(
	void *context, const struct tdm_ledger_slot *slots, const struct tdm_ledger_more *mores, size_t count)
{
	struct summed *sum = context;
	assert_null(mores);
	for (size_t i = 0; i < count; i++)
		sum->ids += slots[i].id;
	sum->buffers += count;
}

static int walk_slots(struct tdm_ledger *ledger, size_t device, struct summed *sum, bool *exact)
{
	return tdm_ledger_walk(ledger, device, &(struct tdm_ledger_walk){ .each = sum_slots, .context = sum }, exact);
}

/* The slots alone are the same buffers; those that cannot be are left out, and then it is not exact. */
static void slots_are_the_live_buffers(void **state)
{
	enum { MANY = 3000 };
	struct builder b;
	struct tdm_ledger_buffer *buffers;
	size_t count;
	bool exact;
	(void)state;
	builder_init(&b);
	uint64_t device = builder_add_device(&b, 0);
	for (uint64_t i = 0; i < MANY; i++)
		builder_alloc(&b, device,
			(struct tdm_ledger_slot){
				.id = i, .asked = 64, .bank_bytes = 64, .banks = 1, .kind = i % TDM_KIND_COUNT },
			(struct tdm_ledger_more){ 0 });
	for (uint32_t i = 0; i < MANY; i += 3)
		builder_free(&b, device, i);
	struct tdm_ledger *ledger = open_good(&b);
	struct summed sum = { 0 }, want = { 0 };
	assert_int_equal(ledger_buffers(ledger, 0, &buffers, &count, &exact), 0);
	for (size_t i = 0; i < count; i++)
		want.ids += buffers[i].slot.id;
	free(buffers);
	assert_int_equal(walk_slots(ledger, 0, &sum, &exact), 0);
	assert_true(exact);
	assert_int_equal(sum.buffers, count);
	assert_true(sum.ids == want.ids);
	assert_int_equal(walk_slots(ledger, 1, &sum, &exact), -ENODEV);
	/* Written by the program after the ledger was opened: the walk is of now. */
	builder_free(&b, device, 1);
	builder_slot(&b, device, 2)->kind = TDM_KIND_COUNT;
	builder_write(&b, place_file);
	sum = (struct summed){ 0 };
	assert_int_equal(walk_slots(ledger, 0, &sum, &exact), 0);
	assert_false(exact);
	assert_int_equal(sum.buffers, count - 2);
	tdm_ledger_close(ledger);
	builder_done(&b);
}

/* Many released ones in a row end no walk, and a segment that was added since the ledger was opened belongs to it. */
static void slots_behind_released_ones(void **state)
{
	enum { MANY = 7 * TDM_LEDGER_FIRST_SLOTS, MORE = 8 * TDM_LEDGER_FIRST_SLOTS };
	const struct tdm_ledger_slot slot = { .id = 1, .asked = 64, .bank_bytes = 64, .banks = 1 };
	struct builder b;
	struct summed sum = { 0 };
	bool exact;
	(void)state;
	builder_init(&b);
	uint64_t device = builder_add_device(&b, 0);
	for (uint64_t i = 0; i < MANY; i++)
		builder_alloc(&b, device, slot, (struct tdm_ledger_more){ 0 });
	for (uint32_t i = 0; i < MANY - 10; i++)
		builder_free(&b, device, i);
	struct tdm_ledger *ledger = open_good(&b);
	assert_int_equal(walk_slots(ledger, 0, &sum, &exact), 0);
	assert_true(exact);
	assert_int_equal(sum.buffers, 10);
	for (uint64_t i = 0; i < MORE; i++)
		builder_alloc(&b, device, slot, (struct tdm_ledger_more){ 0 });
	builder_write(&b, place_file);
	sum = (struct summed){ 0 };
	assert_int_equal(walk_slots(ledger, 0, &sum, &exact), 0);
	assert_true(exact);
	assert_int_equal(sum.buffers, 10 + MORE);
	tdm_ledger_close(ledger);
	builder_done(&b);
}

/* A writer that works while its slots are read. */
struct busy {
	struct builder b;
	uint64_t device, buffers;
	unsigned pieces, starts;
	int left; /* pieces during which it works */
};

/* Uses slot `place` again, for another buffer. */
static void reuse_slot(struct builder *b, uint64_t device, uint32_t place, uint64_t id)
{
	builder_free(b, device, place);
	uint64_t seq = builder_device(b, device)->seq + 1;
	struct tdm_ledger_slot slot = *builder_slot(b, device, place);
	slot.birth = seq;
	slot.death = 0;
	slot.id = id;
	*builder_slot(b, device, place) = slot;
	builder_count(b, device, slot.kind, seq, 1, &slot);
	builder_record(b, device, seq, TDM_LEDGER_ALLOC, &slot, place);
	builder_device(b, device)->seq = seq;
}

static void work_meanwhile(
	void *context, const struct tdm_ledger_slot *slots, const struct tdm_ledger_more *mores, size_t count)
{
	struct busy *busy = context;
	assert_non_null(slots);
	assert_non_null(mores);
	busy->pieces++;
	busy->buffers += count;
	if (busy->left != 0) {
		busy->left--;
		reuse_slot(&busy->b, busy->device, 2900, 10000 + busy->pieces); /* in a later piece */
		builder_write(&busy->b, place_file);
	}
}

static void start_over(void *context)
{
	struct busy *busy = context;
	busy->starts++;
	busy->buffers = 0;
}

/* Until it rests, or has been asked often enough. */
static void a_walk_starts_over(void **state)
{
	enum { MANY = 3000 };
	static const struct {
		int works; /* pieces during which the writer works */
		unsigned starts;
		bool exact;
	} cases[] = { { 0, 0, true }, { 1, 1, true }, { 12, 1, true }, { 24, 2, true }, { 1000, 5, false } };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct busy busy = { .left = cases[i].works };
		bool exact;
		builder_init(&busy.b);
		busy.device = builder_add_device(&busy.b, 0);
		for (uint64_t k = 0; k < MANY; k++)
			builder_alloc(&busy.b, busy.device,
				(struct tdm_ledger_slot){ .id = k, .asked = 64, .bank_bytes = 64, .banks = 1 },
				(struct tdm_ledger_more){ 0 });
		struct tdm_ledger *ledger = open_good(&busy.b);
		const struct tdm_ledger_walk walk = {
			.each = work_meanwhile, .again = start_over, .context = &busy, .with_more = true
		};
		assert_int_equal(tdm_ledger_walk(ledger, 0, &walk, &exact), 0);
		assert_int_equal(exact, cases[i].exact);
		assert_int_equal(busy.starts, cases[i].starts);
		assert_int_equal(busy.buffers, cases[i].exact ? MANY : MANY - 1);
		assert_true(busy.pieces >= 3);
		tdm_ledger_close(ledger);
		builder_done(&busy.b);
	}
}

/* An allocation in the ring leads to all that is known of its buffer, until the slot is used again. */
static void a_record_leads_to_its_buffer(void **state)
{
	struct builder b;
	struct tdm_ledger_record records[SAMPLE_RING];
	struct tdm_ledger_buffer buffer;
	uint64_t missed;
	(void)state;
	builder_sample(&b);
	uint64_t device = builder_header(&b)->device_offset[0];
	struct tdm_ledger *ledger = open_good(&b);
	assert_int_equal(tdm_ledger_events(ledger, 0, 0, records, SAMPLE_RING, &missed), 10);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(tdm_ledger_record_buffer(ledger, 0, &records[i], &buffer), 0);
		assert_int_equal(buffer.slot.id, 100 + i);
		assert_int_equal(buffer.more.thread, 4243);
		assert_int_equal(buffer.more.tsc, records[i].tsc);
		assert_int_equal(buffer.reserved_bytes, 12 * 1024 * (i + 1));
		assert_int_equal(buffer.occupied_bytes, 3 * 1024 * (i + 1));
		assert_int_equal(buffer.slot.stack != 0, i == 3);
	}
	/* A release has the name and the stack itself. */
	assert_int_equal(records[8].op, TDM_LEDGER_FREE);
	assert_true(tdm_str_is(tdm_ledger_text(ledger, records[8].name), "weights"));
	assert_int_equal(records[8].stack, 0);
	assert_int_equal(tdm_ledger_record_buffer(ledger, 0, &records[8], &buffer), -EINVAL);
	assert_int_equal(tdm_ledger_record_buffer(ledger, 2, &records[0], &buffer), -ENODEV);
	/* The slot is used again, is being written, or lies. */
	reuse_slot(&b, device, 0, 5000);
	builder_slot(&b, device, 1)->birth = TDM_LEDGER_SEQ_BUSY;
	builder_slot(&b, device, 3)->id++;
	builder_slot(&b, device, 4)->bank_bytes = UINT64_MAX;
	builder_write(&b, place_file);
	assert_int_equal(tdm_ledger_record_buffer(ledger, 0, &records[0], &buffer), -ESTALE);
	assert_int_equal(tdm_ledger_record_buffer(ledger, 0, &records[1], &buffer), -ESTALE);
	assert_int_equal(tdm_ledger_record_buffer(ledger, 0, &records[3], &buffer), -ESTALE);
	assert_int_equal(tdm_ledger_record_buffer(ledger, 0, &records[4], &buffer), TDM_ECORRUPT);
	assert_int_equal(tdm_ledger_events(ledger, 0, 11, records, SAMPLE_RING, &missed), 1);
	assert_int_equal(tdm_ledger_record_buffer(ledger, 0, &records[0], &buffer), 0);
	assert_int_equal(buffer.slot.id, 5000);
	records[0].slot = 1 << 30;
	assert_int_equal(tdm_ledger_record_buffer(ledger, 0, &records[0], &buffer), TDM_ECORRUPT);
	records[0].slot = TDM_LEDGER_NO_SLOT;
	assert_int_equal(tdm_ledger_record_buffer(ledger, 0, &records[0], &buffer), -ESTALE);
	/* A segment that was added after the ledger was opened. */
	for (uint64_t i = 0; i < TDM_LEDGER_FIRST_SLOTS; i++)
		builder_alloc(&b, device, (struct tdm_ledger_slot){ .id = 9000 + i, .bank_bytes = 32, .banks = 1 },
			(struct tdm_ledger_more){ .thread = 7 });
	builder_write(&b, place_file);
	uint64_t seq = builder_device(&b, device)->seq;
	assert_int_equal(tdm_ledger_events(ledger, 0, seq - 1, records, SAMPLE_RING, &missed), 1);
	assert_int_equal(tdm_ledger_record_buffer(ledger, 0, &records[0], &buffer), 0);
	assert_int_equal(buffer.more.thread, 7);
	tdm_ledger_close(ledger);
	builder_done(&b);
}

/* The bytes of tests/data/ledger/major1.hex, which says what is in them. */
static void write_major1(void)
{
	char line[128], hex[96];
	unsigned long size = 0, offset;
	FILE *from = fopen(TDM_TEST_DATA "/ledger/major1.hex", "r");
	int fd = open(place_file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_non_null(from);
	while (fgets(line, sizeof line, from) != NULL) {
		if (sscanf(line, "size %lu", &size) == 1)
			assert_int_equal(ftruncate(fd, (off_t)size), 0);
		if (line[0] == '#' || sscanf(line, "%lx %95s", &offset, hex) != 2)
			continue;
		for (size_t i = 0; hex[2 * i] != '\0'; i++) {
			char byte[3] = { hex[2 * i], hex[2 * i + 1], '\0' };
			uint8_t value = (uint8_t)strtoul(byte, NULL, 16);
			assert_int_equal(pwrite(fd, &value, 1, (off_t)(offset + i)), 1);
		}
	}
	fclose(from);
	close(fd);
}

static void major_1_is_read(void **state)
{
	struct tdm_ledger *ledger;
	struct tdm_ledger_buffer *buffers, buffer;
	struct tdm_ledger_record records[16];
	struct summed sum = { 0 };
	size_t count;
	uint64_t missed, frames[TDM_LEDGER_STACK_MAX];
	bool exact;
	(void)state;
	write_major1();
	assert_int_equal(ledger_walk(place_file), 0);
	assert_int_equal(tdm_ledger_open(place_file, &ledger, NULL), 0);
	assert_int_equal(tdm_ledger_header(ledger)->pid, BUILDER_PID);
	assert_int_equal(tdm_ledger_device_count(ledger), 2);
	assert_int_equal(ledger_buffers(ledger, 0, &buffers, &count, &exact), 0);
	assert_true(exact);
	assert_int_equal(count, 5);
	assert_int_equal(tdm_ledger_events(ledger, 0, 0, records, 16, &missed), 11);
	for (size_t i = 0, n = 0; i < count; i++, n++) {
		n += n == 2; /* freed */
		const struct tdm_ledger_buffer *b = &buffers[i];
		assert_int_equal(b->slot.id, 100 + n);
		assert_int_equal(b->slot.asked, 1000 * (n + 1));
		assert_int_equal(b->reserved_bytes, 12 * 1024 * (n + 1));
		assert_int_equal(b->more.holding, 3);
		assert_int_equal(b->more.thread, BUILDER_PID + 1);
		assert_true(tdm_str_is(tdm_ledger_text(ledger, b->slot.name), "weights"));
		assert_true(tdm_str_is(tdm_ledger_text(ledger, b->more.program), "matmul"));
		assert_int_equal(tdm_ledger_stack(ledger, b->slot.stack, frames), n == 3 ? 2 : 0);
		/* The first event is the program. */
		assert_int_equal(records[n + 1].op, TDM_LEDGER_ALLOC);
		assert_int_equal(records[n + 1].id, b->slot.id);
		assert_int_equal(records[n + 1].tsc, b->more.tsc);
		assert_int_equal(records[n + 1].banks, 12);
		assert_int_equal(records[n + 1].name, b->slot.name);
		assert_int_equal(tdm_ledger_record_buffer(ledger, 0, &records[n + 1], &buffer), -ESTALE);
	}
	assert_true(tdm_str_is(tdm_ledger_text(ledger, records[0].name), "matmul"));
	assert_int_equal(records[0].thread, BUILDER_PID + 1);
	assert_int_equal(records[8].op, TDM_LEDGER_FREE);
	assert_int_equal(records[8].id, 102);
	assert_int_equal(records[8].banks, 12);
	assert_int_equal(records[8].name, 0);
	assert_int_equal(records[8].stack, 0);
	assert_int_equal(records[9].op, TDM_LEDGER_BAD_FREE);
	assert_int_equal(records[10].op, TDM_LEDGER_OOM);
	assert_int_equal(records[10].asked, 1 << 20);
	assert_int_equal(records[10].thread, BUILDER_PID + 1);
	free(buffers);
	assert_int_equal(walk_slots(ledger, 0, &sum, &exact), 0);
	assert_true(exact);
	assert_int_equal(sum.buffers, 5);
	tdm_ledger_close(ledger);
}

/* A refresh sees everything that may change, whether counters moved or not. */
static void refresh_sees_every_change(void **state)
{
	struct builder b;
	(void)state;
	builder_sample(&b);
	struct tdm_ledger *ledger = open_good(&b);
	uint64_t device = builder_header(&b)->device_offset[0];
	assert_int_equal(tdm_ledger_refresh(ledger, NULL), 0);
	assert_int_equal(tdm_ledger_device(ledger, 0)->counts[TDM_KIND_DRAM].buffers, 3);
	/* The description alone. */
	strcpy(builder_device(&b, device)->card, "p150");
	builder_device(&b, device)->described += 2;
	builder_header(&b)->lost[TDM_LOSS_SPACE] = 5;
	builder_write(&b, place_file);
	assert_int_equal(tdm_ledger_refresh(ledger, NULL), 0);
	assert_string_equal(tdm_ledger_device(ledger, 0)->info.card, "p150");
	assert_int_equal(tdm_ledger_header(ledger)->lost[TDM_LOSS_SPACE], 5);
	/* Counters, in the slots that are there. */
	builder_free(&b, device, 0);
	builder_write(&b, place_file);
	assert_int_equal(tdm_ledger_refresh(ledger, NULL), 0);
	assert_int_equal(tdm_ledger_device(ledger, 0)->counts[TDM_KIND_DRAM].buffers, 2);
	assert_int_equal(tdm_ledger_header(ledger)->phase_count, 2);
	/* New slots, phases and devices. */
	for (uint64_t i = 0; i < 2 * TDM_LEDGER_FIRST_SLOTS; i++)
		builder_alloc(&b, device,
			(struct tdm_ledger_slot){
				.id = 1000 + i, .asked = 1, .bank_bytes = 32, .banks = 1, .kind = TDM_KIND_DRAM },
			(struct tdm_ledger_more){ 0 });
	builder_phase(&b, "OPTIMIZER");
	builder_add_device_with(&b, 7, SAMPLE_RING);
	builder_write(&b, place_file);
	assert_int_equal(tdm_ledger_refresh(ledger, NULL), 0);
	assert_int_equal(tdm_ledger_device_count(ledger), 3);
	assert_int_equal(tdm_ledger_header(ledger)->phase_count, 3);
	struct summed sum = { 0 };
	bool exact;
	assert_int_equal(walk_slots(ledger, 0, &sum, &exact), 0);
	assert_true(exact);
	assert_int_equal(sum.buffers, 2 * TDM_LEDGER_FIRST_SLOTS + 5);
	/* Another process's, under the same name: who it is follows. */
	builder_header(&b)->pid = BUILDER_PID + 1;
	builder_write(&b, place_file);
	assert_int_equal(tdm_ledger_refresh(ledger, NULL), 0);
	assert_int_equal(tdm_ledger_header(ledger)->pid, BUILDER_PID + 1);
	/* It is cut. */
	assert_int_equal(truncate(place_file, 100), 0);
	assert_int_equal(tdm_ledger_refresh(ledger, NULL), TDM_ECORRUPT);
	assert_int_equal(tdm_ledger_device_count(ledger), 3);
	tdm_ledger_close(ledger);
	builder_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_the_live_buffers),
		cmocka_unit_test(slots_behind_released_ones),
		cmocka_unit_test(a_walk_starts_over),
		cmocka_unit_test(a_record_leads_to_its_buffer),
		cmocka_unit_test(major_1_is_read),
		cmocka_unit_test(refresh_sees_every_change),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
