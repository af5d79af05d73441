/* Which source wins when several know a device, and that equal pids alone do not join two processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "state_world.h"

#define BYTES(n) ((uint64_t)(n))
#define UNKNOWN  TDM_BYTES_UNKNOWN

/* A region with slots for these processes, `bytes` of DRAM each. */
static void put_slots(struct world *w, const int *pids, const uint64_t *bytes, size_t count, uint64_t more)
{
	struct metal_bytes m;
	uint64_t total = more;
	world_begin_region(&m, WORLD_CHIP);
	metal_u32(&m, 4, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		metal_slot(&m, i, pids[i], "train", METAL_TIME);
		metal_slot_bytes(&m, i, 0, bytes[i]);
		total += bytes[i];
	}
	metal_total(&m, 0, total);
	world_region(w, &m, WORLD_CHIP);
}

static int put_ledger(struct world *w, uint64_t bank_bytes)
{
	struct builder b;
	uint64_t device = world_begin_ledger(&b, 0, WORLD_CHIP);
	world_alloc(&b, device, TDM_KIND_DRAM, 1, 0, bank_bytes);
	world_alloc(&b, device, TDM_KIND_SYSTEM, 2, 0, 32);
	int pid = w->holders[world_ledger(w, &b)];
	world_process(w, pid, WORLD_START, (int)geteuid());
	builder_done(&b);
	return pid;
}

static void test_winner_ledgers(void **state)
{
	(void)state;
	struct world w;
	world_init(&w);
	int a = put_ledger(&w, 1000), b = put_ledger(&w, 500);
	put_slots(&w, (int[]){ a }, (uint64_t[]){ 1900 }, 1, 11);
	/* Everyone that the region counts has a ledger; one that it does not, too. */
	const struct tdm_picture *pic = world_look(&w);
	const struct tdm_picture_kind *dram = &pic->devices[0].kinds[0];
	assert_int_equal(pic->device_count, 1);
	assert_int_equal(pic->process_count, 2);
	assert_int_equal(dram->used_from, TDM_FROM_LEDGER);
	ASSERT_U64(dram->used, 3000);
	ASSERT_U64(dram->unattributed, 0);
	assert_int_equal(dram->rival_from, TDM_FROM_METAL_SHM);
	ASSERT_U64(dram->rival_used, 1911);
	assert_int_equal(dram->rival_processes, 0);
	ASSERT_U64(find_holding(pic, a, 0)->kinds[0].reserved, 2000);
	ASSERT_U64(find_holding(pic, b, 0)->kinds[0].reserved, 1000);
	assert_int_equal(find_pid(pic, a)->sources, source_bit(TDM_FROM_LEDGER) | source_bit(TDM_FROM_METAL_SHM));
	assert_int_equal(find_pid(pic, b)->sources, source_bit(TDM_FROM_LEDGER));
	/* Two programs: no exact peak, but at least what is there now. */
	assert_true(dram->peak_is_seen);
	ASSERT_U64(dram->peak, 3000);
	ASSERT_U64(pic->devices[0].l1_peak, UNKNOWN);
	world_done(&w);
}

/* Two programs, and it is not known what a buffer of one of them takes: its bytes are an estimate, and so is the sum.
 */
static void test_estimates(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	int a = put_ledger(&w, 1000);
	uint64_t device = world_begin_dram(&b);
	builder_alloc(&b, device,
		(struct tdm_ledger_slot){ .id = 1,
			.address = 5000,
			.asked = 700,
			.bank_bytes = 700,
			.banks = 1,
			.flags = TDM_SLOT_ESTIMATED },
		(struct tdm_ledger_more){ 0 });
	builder_device(&b, device)->faults[TDM_KIND_DRAM].estimated = 1;
	int other = w.holders[world_ledger(&w, &b)];
	world_process(&w, other, WORLD_START, (int)geteuid());
	builder_done(&b);
	const struct tdm_wish wishes[] = { { 0 }, { .parts = TDM_WISH_BUFFERS } };
	for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
		const struct tdm_picture *pic = world_look_for(&w, &wishes[i]);
		const struct tdm_picture_device *d = &pic->devices[0];
		ASSERT_U64(d->kinds[TDM_KIND_DRAM].used, 2700);
		assert_true(d->kinds[TDM_KIND_DRAM].is_estimated);
		ASSERT_U64(d->kinds[TDM_KIND_DRAM].largest_free, UNKNOWN);
		assert_false(d->kinds[TDM_KIND_SYSTEM].is_estimated);
		assert_true(find_holding(pic, other, 0)->kinds[TDM_KIND_DRAM].is_estimated);
		assert_false(find_holding(pic, a, 0)->kinds[TDM_KIND_DRAM].is_estimated);
	}
	world_done(&w);
}

/* Three programs on a device: only the second has a trace region, and the first says that it has none. */
static void test_regions_of_all(void **state)
{
	(void)state;
	struct world w;
	world_init(&w);
	for (uint64_t i = 0; i < 3; i++) {
		struct builder b;
		struct tdm_ledger_device *page = builder_device(&b, world_begin_dram(&b));
		page->regions[1] =
			(struct tdm_ledger_region){ .kind = TDM_KIND_TRACE, .banks = 2, .bank_size = i * 500 };
		page->region_count = i < 2 ? 2 : 1;
		world_process(&w, w.holders[world_ledger(&w, &b)], WORLD_START, (int)geteuid());
		builder_done(&b);
	}
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->device_count, 1);
	ASSERT_U64(pic->devices[0].kinds[TDM_KIND_TRACE].total, 1000);
	ASSERT_U64(pic->devices[0].kinds[TDM_KIND_DRAM].total, 2 * WORLD_BANK);
	world_done(&w);
}

static void test_winner_region(void **state)
{
	(void)state;
	struct world w;
	world_init(&w);
	int a = put_ledger(&w, 1000);
	world_process(&w, 200, WORLD_START, (int)geteuid());
	put_slots(&w, (int[]){ a, 200 }, (uint64_t[]){ 1900, 5000 }, 2, 11);
	/* One process has no ledger, and everyone with a ledger has a slot. */
	const struct tdm_picture *pic = world_look(&w);
	const struct tdm_picture_kind *dram = &pic->devices[0].kinds[0];
	assert_int_equal(dram->used_from, TDM_FROM_METAL_SHM);
	ASSERT_U64(dram->used, 6911);
	ASSERT_U64(dram->unattributed, 11);
	assert_int_equal(dram->rival_from, TDM_FROM_LEDGER);
	ASSERT_U64(dram->rival_used, 2000);
	assert_int_equal(dram->rival_processes, 0);
	ASSERT_U64(find_holding(pic, a, 0)->kinds[0].reserved, 1900);
	assert_int_equal(find_holding(pic, a, 0)->kinds[0].from, TDM_FROM_METAL_SHM);
	ASSERT_U64(find_holding(pic, 200, 0)->kinds[0].reserved, 5000);
	/* A kind that the region does not count is the ledger's alone. */
	const struct tdm_picture_kind *system = &pic->devices[0].kinds[TDM_KIND_SYSTEM];
	assert_int_equal(system->used_from, TDM_FROM_LEDGER);
	ASSERT_U64(system->used, 64);
	assert_int_equal(system->rival_from, TDM_FROM_NONE);
	ASSERT_U64(find_holding(pic, 200, 0)->kinds[TDM_KIND_SYSTEM].reserved, UNKNOWN);
	/* And one of which nobody without a ledger has anything. */
	assert_int_equal(pic->devices[0].kinds[TDM_KIND_L1].used_from, TDM_FROM_LEDGER);
	/* With a process whose buffers are not known there is no largest free block. */
	ASSERT_U64(dram->largest_free, UNKNOWN);
	ASSERT_U64(pic->devices[0].l1_lowest, UNKNOWN);
	world_done(&w);
}

/* Each knows somebody that the other does not: the one that knows more processes wins. */
static void test_winner_by_number(void **state)
{
	(void)state;
	struct world w;
	world_init(&w);
	int a = put_ledger(&w, 1000);
	world_process(&w, 200, WORLD_START, (int)geteuid());
	world_process(&w, 201, WORLD_START, (int)geteuid());
	put_slots(&w, (int[]){ 200, 201 }, (uint64_t[]){ 50, 60 }, 2, 0);
	const struct tdm_picture *pic = world_look(&w);
	const struct tdm_picture_kind *dram = &pic->devices[0].kinds[0];
	assert_int_equal(dram->used_from, TDM_FROM_METAL_SHM);
	ASSERT_U64(dram->used, 110);
	assert_int_equal(dram->rival_processes, 1);
	ASSERT_U64(dram->rival_bytes, 2000);
	ASSERT_U64(find_holding(pic, a, 0)->kinds[0].reserved, UNKNOWN);
	assert_int_equal(find_holding(pic, a, 0)->kinds[0].from, TDM_FROM_NONE);
	/* Another ledger, and another one. */
	int b = put_ledger(&w, 10), c = put_ledger(&w, 20);
	pic = world_look_anew(&w);
	dram = &pic->devices[0].kinds[0];
	assert_int_equal(dram->used_from, TDM_FROM_LEDGER);
	ASSERT_U64(dram->used, 2060);
	assert_int_equal(dram->rival_processes, 2);
	ASSERT_U64(dram->rival_bytes, 110);
	ASSERT_U64(find_holding(pic, b, 0)->kinds[0].reserved, 20);
	ASSERT_U64(find_holding(pic, c, 0)->kinds[0].reserved, 40);
	ASSERT_U64(find_holding(pic, 200, 0)->kinds[0].reserved, UNKNOWN);
	world_done(&w);
}

/* Each knows one process that the other does not: the ledgers, which are exact, win. */
static void test_winner_of_a_tie(void **state)
{
	(void)state;
	struct world w;
	world_init(&w);
	put_ledger(&w, 1000);
	world_process(&w, 200, WORLD_START, (int)geteuid());
	put_slots(&w, (int[]){ 200 }, (uint64_t[]){ 50 }, 1, 0);
	const struct tdm_picture_kind *dram = &world_look(&w)->devices[0].kinds[0];
	assert_int_equal(dram->used_from, TDM_FROM_LEDGER);
	ASSERT_U64(dram->used, 2000);
	assert_int_equal(dram->rival_processes, 1);
	world_done(&w);
}

/* A region whose slots are all taken may count processes in its total alone. */
static void test_crowded_region(void **state)
{
	(void)state;
	struct world w;
	int pids[TDM_METAL_SLOTS_MAX];
	uint64_t bytes[TDM_METAL_SLOTS_MAX] = { 0 };
	world_init(&w);
	pids[0] = put_ledger(&w, 1000);
	bytes[0] = 1900;
	for (int i = 1; i < TDM_METAL_SLOTS_MAX; i++) {
		pids[i] = 1000 + i;
		world_process(&w, pids[i], WORLD_START, (int)geteuid());
	}
	put_slots(&w, pids, bytes, TDM_METAL_SLOTS_MAX, 777);
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->devices[0].kinds[0].used_from, TDM_FROM_METAL_SHM);
	ASSERT_U64(pic->devices[0].kinds[0].used, 1900 + 777);
	put_slots(&w, pids, bytes, TDM_METAL_SLOTS_MAX - 1, 777);
	pic = world_look_anew(&w);
	assert_int_equal(pic->devices[0].kinds[0].used_from, TDM_FROM_LEDGER);
	world_done(&w);
}

/* A number alone joins nothing: the process of /proc began at another time. */
static void test_reused_pid(void **state)
{
	(void)state;
	struct world w;
	world_init(&w);
	world_card(&w, 0, "n150", WORLD_CHIP);
	/* The kernel does not name the holder of an open file's lock: the ledger alone says whose number it is. */
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	struct builder b;
	uint64_t device = world_begin_ledger(&b, 0, WORLD_CHIP);
	world_alloc(&b, device, TDM_KIND_DRAM, 1, 0, 1000);
	const int a = w.holders[w.holder_count++] = world_hold(&w, 1);
	unlink(world_ledger_path(&w, 1));
	world_dead_ledger(&w, &b, a, false);
	builder_done(&b);
	int fd = open(world_ledger_path(&w, a), O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0);
	char text[32];
	snprintf(text, sizeof text, "%d\n", a);
	world_process(&w, a, WORLD_START, (int)geteuid());
	world_opens(&w, 0, text);
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->process_count, 1);
	assert_int_equal(find_holding(pic, a, 0)->descriptors, 1);
	assert_true(pic->devices[0].kinds[0].largest_free != UNKNOWN);
	world_process(&w, a, WORLD_START + 1, (int)geteuid());
	pic = world_look_anew(&w);
	assert_int_equal(pic->process_count, 2);
	assert_int_equal(pic->processes[0].pid, a);
	assert_int_equal(pic->processes[1].pid, a);
	assert_int_equal(pic->processes[0].sources, source_bit(TDM_FROM_LEDGER));
	assert_int_equal(pic->processes[1].sources, source_bit(TDM_FROM_DRIVER));
	assert_true(pic->processes[0].handle != pic->processes[1].handle);
	ASSERT_U64(pic->devices[0].kinds[0].largest_free, UNKNOWN);
	/* Nor does a slot that was written before the process of now began. */
	world_process(&w, a, WORLD_START + 100000, (int)geteuid());
	put_slots(&w, (int[]){ a }, (uint64_t[]){ 1900 }, 1, 0);
	pic = world_look_anew(&w);
	ASSERT_U64(pic->devices[0].kinds[0].rival_used, 0);
	close(fd);
	world_done(&w);
}

static void test_ended(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	int a = put_ledger(&w, 1000);
	uint64_t device = world_begin_ledger(&b, 0, WORLD_CHIP);
	world_alloc(&b, device, TDM_KIND_DRAM, 1, 0, 300);
	world_dead_ledger(&w, &b, 70001, false);
	world_dead_ledger(&w, &b, 70002, true);
	builder_done(&b);
	device = world_begin_ledger(&b, 9, WORLD_CHIP + 1);
	world_alloc(&b, device, TDM_KIND_DRAM, 1, 0, 300);
	world_dead_ledger(&w, &b, 70003, false);
	builder_done(&b);
	/* What they left is said of the device that is in use; they are not listed, nor is a device that nobody uses.
	 */
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->process_count, 1);
	assert_int_equal(pic->device_count, 1);
	ASSERT_U64(pic->devices[0].kinds[0].used, 2000);
	ASSERT_U64(pic->devices[0].kinds[0].stale, 1200);
	w.options.with_ended = true;
	pic = world_look_anew(&w);
	assert_int_equal(pic->process_count, 4);
	assert_int_equal(pic->device_count, 2);
	assert_int_equal(pic->devices[0].process_count, 1);
	assert_int_equal(pic->devices[1].process_count, 0);
	ASSERT_U64(pic->devices[0].kinds[0].used, 2000);
	ASSERT_U64(pic->devices[0].kinds[0].stale, 1200);
	assert_int_equal(pic->devices[1].kinds[0].used_from, TDM_FROM_NONE);
	ASSERT_U64(pic->devices[1].kinds[0].stale, 600);
	assert_int_equal(find_pid(pic, a)->life, TDM_LIFE_RUNS);
	assert_int_equal(find_pid(pic, 70001)->life, TDM_LIFE_ENDED);
	assert_true(find_pid(pic, 70001)->crashed);
	assert_false(find_pid(pic, 70002)->crashed);
	ASSERT_U64(find_holding(pic, 70001, 0)->kinds[0].reserved, 600);
	assert_int_equal(find_holding(pic, 70001, 0)->kinds[0].from, TDM_FROM_LEDGER);
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_winner_ledgers),
		cmocka_unit_test(test_estimates),
		cmocka_unit_test(test_regions_of_all),
		cmocka_unit_test(test_winner_region),
		cmocka_unit_test(test_winner_by_number),
		cmocka_unit_test(test_winner_of_a_tie),
		cmocka_unit_test(test_crowded_region),
		cmocka_unit_test(test_reused_pid),
		cmocka_unit_test(test_ended),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
