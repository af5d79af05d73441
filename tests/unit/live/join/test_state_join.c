/*
 * Joining ledgers, shared memory and the driver's files: which things are the same, which source wins, correct sums.
 * Every case is about one machine, made by the same few functions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "live/join/pick.h"
#include "state_world.h"

#define BYTES(n) ((uint64_t)(n))
#define UNKNOWN  TDM_BYTES_UNKNOWN

static void test_nothing(void **state)
{
	(void)state;
	struct world w;
	world_init(&w);
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->device_count + pic->process_count + pic->holding_count, 0);
	assert_int_equal(pic->problem_count, 0); /* a machine without a driver is no problem */
	assert_int_equal(tdm_state_host(w.state)->err, -ENOENT);
	assert_int_equal(tdm_state_metal(w.state)->count, 0);
	assert_true(pic->time_ns != 0 && pic->real_ns != 0);
	/* Places that are not there are said. */
	tree_unlink(&w.tree, "ledgers");
	tree_unlink(&w.tree, "shm");
	tree_unlink(&w.tree, "proc");
	pic = world_look_anew(&w);
	assert_int_equal(pic->problem_count, 3);
	assert_int_equal(find_problem(pic, "ledgers cannot be listed")->err, -ENOENT);
	assert_int_equal(find_problem(pic, "shared memory cannot be listed")->from, TDM_FROM_METAL_SHM);
	assert_string_equal(find_problem(pic, "about processes")->place, w.proc);
	world_done(&w);
}

static void test_driver_alone(void **state)
{
	(void)state;
	struct world w;
	world_init(&w);
	world_card(&w, 0, "n150", WORLD_CHIP);
	world_card(&w, 3, "q7", 0x77);
	world_set(&w, 0, "tt_aiclk", "fast\n");
	tree_dir(&w.tree, "sys/class/tenstorrent/tenstorrent!0/device/hwmon/hwmon0/power1_input"); /* no file */
	world_process(&w, 100, WORLD_START, (int)geteuid());
	world_process(&w, 101, WORLD_START, (int)geteuid() + 1);
	world_opens(&w, 0, "101\n100\n100\n0\nx\n");
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->device_count, 2);
	const struct tdm_picture_device *d = &pic->devices[0];
	assert_int_equal(d->node, 0);
	assert_int_equal(d->number, -1);
	assert_false(d->has_chip_id); /* its serial may be its chip's id, but nobody has said so */
	assert_string_equal(d->card, "n150");
	assert_string_equal(d->arch, "Wormhole");
	assert_int_equal(d->card_from, TDM_FROM_DRIVER);
	assert_int_equal(d->sources, source_bit(TDM_FROM_DRIVER));
	assert_int_equal(d->process_count, 2);
	assert_int_equal(d->kinds[TDM_KIND_DRAM].total_from, TDM_FROM_MODEL);
	assert_true(d->kinds[TDM_KIND_DRAM].total > UINT64_C(11) << 30 && d->kinds[TDM_KIND_DRAM].total != UNKNOWN);
	assert_int_equal(d->kinds[TDM_KIND_L1].total_from, TDM_FROM_MODEL);
	assert_int_equal(d->kinds[TDM_KIND_CB].total_from, TDM_FROM_MODEL); /* the memory of L1 buffers */
	ASSERT_U64(d->kinds[TDM_KIND_CB].total, d->kinds[TDM_KIND_L1].total);
	ASSERT_U64(d->kinds[TDM_KIND_CB].free, UNKNOWN);
	ASSERT_U64(d->l1_core, 1464 * 1024);
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		assert_int_equal(d->kinds[k].used_from, TDM_FROM_NONE);
		ASSERT_U64(d->kinds[k].used, UNKNOWN);
		ASSERT_U64(d->kinds[k].free, UNKNOWN);
		ASSERT_U64(d->kinds[k].largest_free, UNKNOWN);
		ASSERT_U64(d->kinds[k].peak, UNKNOWN);
	}
	assert_true(d->telemetry.temp.is_known);
	assert_int_equal(d->telemetry.temp.value, 47250);
	assert_false(d->telemetry.clock.is_known);
	assert_int_equal(d->telemetry.clock.err, TDM_ESYNTAX);
	assert_false(d->telemetry.power.is_known);
	assert_true(d->telemetry.power.err != 0);
	assert_false(d->telemetry.fan.is_known);
	assert_int_equal(d->telemetry.fan.err, 0); /* nobody offers it */
	/* Its processes. */
	assert_int_equal(pic->process_count, 2);
	assert_int_equal(pic->processes[0].pid, 100);
	assert_false(pic->processes[0].is_foreign);
	assert_true(pic->processes[1].is_foreign);
	assert_string_equal(pic->processes[0].command, "/usr/bin/train --model llama");
	assert_int_equal(pic->processes[0].life, TDM_LIFE_RUNS);
	assert_int_equal(find_holding(pic, 100, 0)->descriptors, 2);
	ASSERT_U64(find_holding(pic, 100, 0)->kinds[0].reserved, UNKNOWN);
	assert_int_equal(find_holding(pic, 100, 0)->kinds[0].from, TDM_FROM_NONE);
	/* What the driver's list cannot tell. */
	assert_non_null(find_problem(pic, "1 times by processes outside of this pid namespace"));
	assert_non_null(find_problem(pic, "1 lines cannot be used"));
	/* A card that the tables do not know. */
	assert_string_equal(pic->devices[1].card, "q7");
	assert_int_equal(pic->devices[1].node, 3);
	ASSERT_U64(pic->devices[1].kinds[TDM_KIND_DRAM].total, UNKNOWN);
	ASSERT_U64(pic->devices[1].l1_core, UNKNOWN);
	assert_false(pic->devices[1].has_chip_id);
	assert_non_null(find_problem(pic, "tenstorrent/3"));
	world_done(&w);
}

/* One region: processes that run, another user's, dead, a container's, one being released; 7 bytes in no slot. */
/* What may be a chip's id is none before a program has called the chip so; what the driver calls it is one. */
static void test_chip_id_of_a_card(void **state)
{
	(void)state;
	struct world w;
	struct metal_bytes m;
	const uint64_t serial = 0x41236789ABC, confirmed = serial << 5 | 3;
	world_init(&w);
	world_card(&w, 0, "p150a", serial);
	world_card(&w, 1, "unknown", serial + 1);
	world_set(&w, 1, "device/hwmon/hwmon0/name", "blackhole\n");
	world_set(&w, 1, "tt_asic_id", "00000000deadbeef\n");
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->device_count, 2);
	assert_false(pic->devices[0].has_chip_id);
	assert_true(pic->devices[1].has_chip_id);
	ASSERT_U64(pic->devices[1].chip_id, 0xDEADBEEF);
	assert_string_equal(pic->devices[1].card, ""); /* the driver's word for a card that it does not know */
	assert_int_equal(pic->devices[1].card_from, TDM_FROM_NONE);
	world_begin_region(&m, confirmed);
	world_region(&w, &m, confirmed);
	pic = world_look_anew(&w);
	assert_int_equal(pic->device_count, 2);
	assert_true(pic->devices[0].has_chip_id);
	ASSERT_U64(pic->devices[0].chip_id, confirmed);
	world_done(&w);
}

static void test_region_alone(void **state)
{
	(void)state;
	struct world w;
	struct metal_bytes m;
	world_init(&w);
	world_begin_region(&m, WORLD_CHIP);
	metal_u32(&m, 40, 5);
	metal_u32(&m, 4, 5);
	metal_slot(&m, 0, 100, "train", METAL_TIME);
	metal_slot(&m, 1, 101, "train", METAL_TIME);
	metal_slot(&m, 2, 102, "gone", METAL_TIME);
	metal_slot(&m, 3, 103, "inner", METAL_TIME);
	metal_slot(&m, 4, -1, "leaves", METAL_TIME);
	for (size_t i = 0; i < 5; i++)
		metal_slot_bytes(&m, i, 0, BYTES(1000) << i);
	metal_total(&m, 0, 31000 + 7);
	world_region(&w, &m, WORLD_CHIP);
	world_process(&w, 100, WORLD_START, (int)geteuid());
	world_process(&w, 101, WORLD_START, (int)geteuid() + 1);
	tree_process(&w.tree, "proc",
		(struct tree_process){
			.pid = 900, .uid = (int)geteuid(), .start = WORLD_START, .comm = "inner", .nested = "103" });
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->device_count, 1);
	const struct tdm_picture_kind *dram = &pic->devices[0].kinds[TDM_KIND_DRAM];
	assert_int_equal(pic->devices[0].number, 5);
	assert_int_equal(pic->devices[0].sources, source_bit(TDM_FROM_METAL_SHM));
	assert_true(pic->devices[0].has_chip_id);
	ASSERT_U64(pic->devices[0].updated_ns, METAL_TIME);
	assert_int_equal(pic->devices[0].chip_count, 1);
	assert_int_equal(dram->used_from, TDM_FROM_METAL_SHM);
	ASSERT_U64(pic->processes[0].lost, UNKNOWN); /* who has no ledger counts none of them */
	ASSERT_U64(pic->processes[0].faults, UNKNOWN);
	ASSERT_U64(pic->processes[0].out_of_memory, UNKNOWN);
	/* The dead one's 4000 are no part of it; what is being released is nobody's but there. */
	ASSERT_U64(dram->used, 31007 - 4000);
	ASSERT_U64(dram->stale, 4000);
	ASSERT_U64(dram->unattributed, 7 + 16000);
	ASSERT_U64(dram->asked, dram->used);
	ASSERT_U64(dram->buffers, UNKNOWN);
	ASSERT_U64(dram->allocs, UNKNOWN);
	ASSERT_U64(dram->total, UNKNOWN);
	ASSERT_U64(dram->peak, dram->used);
	assert_true(dram->peak_is_seen);
	assert_int_equal(dram->rival_from, TDM_FROM_NONE);
	ASSERT_U64(pic->devices[0].kinds[TDM_KIND_L1].used, 0); /* counted, and there is none */
	ASSERT_U64(pic->devices[0].kinds[TDM_KIND_SYSTEM].used, UNKNOWN);
	assert_int_equal(pic->process_count, 3);
	ASSERT_U64(find_holding(pic, 100, 0)->kinds[0].reserved, 1000);
	ASSERT_U64(find_holding(pic, 100, 0)->kinds[0].peak, UNKNOWN);
	ASSERT_U64(find_holding(pic, 101, 0)->kinds[0].reserved, 2000);
	assert_true(find_pid(pic, 101)->is_foreign);
	/* The container's process has its number of this side. */
	ASSERT_U64(find_holding(pic, 900, 0)->kinds[0].reserved, 8000);
	assert_true(find_pid(pic, 900)->in_container);
	assert_false(find_pid(pic, 100)->in_container);
	assert_int_equal(pic->problem_count, 0);
	world_done(&w);
}

static void test_region_in_doubt(void **state)
{
	(void)state;
	struct world w;
	struct metal_bytes m;
	world_init(&w);
	world_process(&w, 100, WORLD_START, (int)geteuid());
	/* Slots that hold more than the total; a counter that wrapped. */
	world_begin_region(&m, WORLD_CHIP);
	metal_u32(&m, 4, 1);
	metal_slot(&m, 0, 100, "train", METAL_TIME);
	metal_slot_bytes(&m, 0, 0, 5000);
	metal_total(&m, 0, 3000);
	metal_total(&m, 1, UINT64_MAX - 9);
	world_region(&w, &m, WORLD_CHIP);
	const struct tdm_picture *pic = world_look(&w);
	ASSERT_U64(pic->devices[0].kinds[0].used, 5000);
	ASSERT_U64(pic->devices[0].kinds[0].unattributed, 0);
	ASSERT_U64(pic->devices[0].kinds[TDM_KIND_L1].used, UNKNOWN);
	assert_int_equal(pic->devices[0].kinds[TDM_KIND_L1].used_from, TDM_FROM_NONE);
	ASSERT_U64(find_holding(pic, 100, 0)->kinds[TDM_KIND_L1].reserved, UNKNOWN);
	assert_non_null(find_problem(pic, "exceed the device's total"));
	assert_non_null(find_problem(pic, "wrapped below 0"));
	assert_int_equal(pic->problem_count, 1); /* of one place */
	world_done(&w);
}

static void test_region_unreadable(void **state)
{
	(void)state;
	struct world w;
	struct metal_bytes m;
	world_init(&w);
	world_begin_region(&m, WORLD_CHIP);
	metal_total(&m, 0, 4096);
	metal_u32(&m, 0, 9); /* a version of the future */
	world_region(&w, &m, WORLD_CHIP);
	metal_init(&m, 4, &metal_common);
	metal_u32(&m, 8536, 0); /* being set up */
	world_region(&w, &m, 77);
	tree_dir(&w.tree, "shm/tt_device_5_memory");
	const struct tdm_picture *pic = world_look(&w);
	/* Without a driver they are the only sign of their devices. */
	assert_int_equal(pic->device_count, 2);
	for (size_t d = 0; d < 2; d++) {
		assert_int_equal(pic->devices[d].sources, source_bit(TDM_FROM_METAL_SHM));
		assert_false(pic->devices[d].has_chip_id);
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			ASSERT_U64(pic->devices[d].kinds[k].used, UNKNOWN);
	}
	assert_int_equal(pic->problem_count, 3);
	assert_non_null(find_problem(pic, "version 9"));
	assert_non_null(find_problem(pic, "a directory, not a file"));
	/* With one, the cards are there already. */
	world_card(&w, 0, "n150", WORLD_CHIP);
	world_opens(&w, 0, "");
	pic = world_look_anew(&w);
	assert_int_equal(pic->device_count, 1);
	assert_int_equal(pic->problem_count, 3);
	ASSERT_U64(pic->devices[0].kinds[0].used, UNKNOWN);
	world_done(&w);
}

static void describe(struct builder *b, uint64_t device)
{
	struct tdm_ledger_device *page = builder_device(b, device);
	strcpy(page->card, "n150");
	page->grid_x = page->grid_y = 8;
	page->region_count = 2;
	page->regions[0] = (struct tdm_ledger_region){ TDM_KIND_DRAM, 2, 1000, 100000, 32, 0 };
	page->regions[1] = (struct tdm_ledger_region){ TDM_KIND_L1, 2, 5000, 50000, 16, 0 };
	page->described += 2;
}

static void test_ledger_alone(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	uint64_t device = world_begin_ledger(&b, 4, WORLD_CHIP);
	describe(&b, device);
	world_alloc(&b, device, TDM_KIND_DRAM, 1, 1000, 600);
	uint32_t big = world_alloc(&b, device, TDM_KIND_DRAM, 2, 50000, 20000);
	world_alloc(&b, device, TDM_KIND_L1, 3, 40000, 64);
	world_alloc(&b, device, TDM_KIND_CB, 4, 6000, 128);
	builder_free(&b, device, big);
	builder_phase(&b, "forward");
	builder_device(&b, device)->faults[TDM_KIND_DRAM] =
		(struct tdm_ledger_faults){ .out_of_memory = 3, .double_frees = 1, .unknown_frees = 2, .rereports = 4 };
	builder_header(&b)->lost[TDM_LOSS_SPACE] = 6;
	builder_header(&b)->lost[TDM_LOSS_TEXT] = 9;
	size_t holder = world_ledger(&w, &b);
	int pid = w.holders[holder];
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->problem_count, 1);
	assert_int_equal(find_problem(pic, "lost 6 events")->from, TDM_FROM_LEDGER);
	assert_int_equal(pic->device_count, 1);
	const struct tdm_picture_device *d = &pic->devices[0];
	const struct tdm_picture_kind *dram = &d->kinds[TDM_KIND_DRAM];
	assert_int_equal(d->number, 4);
	assert_int_equal(d->node, -1);
	assert_string_equal(d->card, "n150");
	assert_int_equal(d->card_from, TDM_FROM_LEDGER);
	assert_int_equal(d->grid_x, 8);
	assert_int_equal(dram->used_from, TDM_FROM_LEDGER);
	ASSERT_U64(dram->used, 1200);
	ASSERT_U64(dram->asked, 1199);
	ASSERT_U64(dram->buffers, 1);
	ASSERT_U64(dram->allocs, 2);
	ASSERT_U64(dram->out_of_memory, 3);
	ASSERT_U64(dram->peak, 41200); /* the program's own */
	assert_false(dram->peak_is_seen);
	ASSERT_U64(dram->total, 200000);
	assert_int_equal(dram->total_from, TDM_FROM_LEDGER);
	assert_int_equal(dram->banks, 2);
	ASSERT_U64(dram->base, 1000);
	ASSERT_U64(dram->bank_bytes, 100000);
	ASSERT_U64(dram->free, 198800);
	ASSERT_U64(dram->largest_free, 2 * (100000 - 600));
	assert_true(d->space_ns != 0 && !d->space_is_old);
	ASSERT_U64(dram->unattributed, 0);
	ASSERT_U64(dram->stale, 0);
	ASSERT_U64(d->kinds[TDM_KIND_L1].largest_free, 2 * 35000);
	ASSERT_U64(d->l1_lowest, 40000);
	ASSERT_U64(d->cb_highest, 6128);
	ASSERT_U64(d->l1_peak, 2 * 64 + 2 * 128);
	ASSERT_U64(d->kinds[TDM_KIND_CB].used, 256);
	ASSERT_U64(d->kinds[TDM_KIND_CB].total, 100000); /* shared with L1 buffers, as what is free is */
	ASSERT_U64(d->kinds[TDM_KIND_CB].free, 100000 - 2 * 64 - 256);
	ASSERT_U64(d->kinds[TDM_KIND_CB].largest_free, 2 * (40000 - 6128)); /* between the two ends */
	ASSERT_U64(d->kinds[TDM_KIND_TRACE].used, 0);                       /* the ledger knows that there is none */
	const struct tdm_picture_process *p = find_pid(pic, pid);
	assert_int_equal(p->life, TDM_LIFE_RUNS);
	assert_string_equal(p->phase, "forward");
	assert_string_equal(p->comm, "model");
	assert_string_equal(p->command, "model --layers 12");
	assert_int_equal(p->uid, geteuid()); /* the file's owner, whatever the ledger says */
	ASSERT_U64(p->lost, 6);
	ASSERT_U64(p->faults, 7);
	ASSERT_U64(p->out_of_memory, 3);
	ASSERT_U64(p->start_time, WORLD_START);
	assert_true(p->started_ns / 1000000000 == WORLD_BOOTED + WORLD_START / (unsigned)sysconf(_SC_CLK_TCK));
	ASSERT_U64(find_holding(pic, pid, 0)->kinds[0].reserved, 1200);
	ASSERT_U64(find_holding(pic, pid, 0)->kinds[0].peak, 41200);
	ASSERT_U64(find_holding(pic, pid, 0)->kinds[0].buffers, 1);
	builder_done(&b);
	world_done(&w);
}

/* A card, a region and two ledgers of the same chip are one device; what has no chip id stays apart. */
static void test_devices(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	struct metal_bytes m;
	world_init(&w);
	world_card(&w, 0, "n150", WORLD_CHIP);
	world_opens(&w, 0, "");
	world_begin_region(&m, WORLD_CHIP);
	world_region(&w, &m, WORLD_CHIP);
	for (int i = 0; i < 2; i++) {
		world_begin_ledger(&b, (uint32_t)i, WORLD_CHIP); /* logical numbers differ from program to program */
		world_ledger(&w, &b);
		builder_done(&b);
	}
	/* Two ledgers that know the number 0 only, and a region that does: two devices. */
	for (int i = 0; i < 2; i++) {
		uint64_t device = world_begin_ledger(&b, 0, 0);
		world_alloc(&b, device, TDM_KIND_DRAM, 1, 0, 512);
		world_ledger(&w, &b);
		builder_done(&b);
	}
	world_begin_region(&m, 0);
	world_region(&w, &m, 0);
	/* A capture without dispatch has the number 0, too. */
	uint64_t device = world_begin_ledger(&b, 0, 0);
	builder_device(&b, device)->flags = TDM_DEVICE_VIRTUAL;
	world_alloc(&b, device, TDM_KIND_DRAM, 1, 0, 64);
	world_ledger(&w, &b);
	builder_done(&b);
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->device_count, 4);
	assert_int_equal(pic->devices[0].sources,
		source_bit(TDM_FROM_DRIVER) | source_bit(TDM_FROM_LEDGER) | source_bit(TDM_FROM_METAL_SHM));
	assert_int_equal(pic->devices[0].process_count, 2);
	assert_int_equal(pic->devices[0].host_card, 0);
	uint32_t weak = 0;
	for (size_t d = 1; d < 4; d++) {
		const struct tdm_picture_device *x = &pic->devices[d];
		assert_int_equal(x->number, 0);
		assert_false(x->has_chip_id);
		weak |= x->is_virtual ? 4 : x->sources == source_bit(TDM_FROM_LEDGER) ? 1 : 2;
		if (x->sources == source_bit(TDM_FROM_LEDGER))
			ASSERT_U64(x->kinds[0].used, x->is_virtual ? 128 : 2048);
	}
	assert_int_equal(weak, 7);
	assert_true(pic->devices[3].is_virtual);
	world_done(&w);
}

/* Two cards with one serial number: a chip of that id is one of them, not told which. */
static void test_ambiguous_chip(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	struct metal_bytes m;
	world_init(&w);
	world_card(&w, 0, "n150", WORLD_CHIP);
	world_card(&w, 1, "n150", WORLD_CHIP);
	world_opens(&w, 0, "");
	world_opens(&w, 1, "");
	world_begin_ledger(&b, 0, WORLD_CHIP);
	world_ledger(&w, &b);
	builder_done(&b);
	world_begin_region(&m, WORLD_CHIP);
	world_region(&w, &m, WORLD_CHIP);
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->device_count, 3);
	assert_int_equal(pic->board_count, 2);
	assert_int_equal(pic->devices[0].sources, source_bit(TDM_FROM_LEDGER) | source_bit(TDM_FROM_METAL_SHM));
	assert_int_equal(pic->devices[1].sources, source_bit(TDM_FROM_DRIVER));
	assert_int_equal(pic->devices[2].sources, source_bit(TDM_FROM_DRIVER));
	world_done(&w);
}

/* A chip of a board with several is not joined with the board's card. */
static void test_board_is_no_chip(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	world_card(&w, 0, "n300", WORLD_CHIP);
	world_opens(&w, 0, "");
	world_begin_ledger(&b, 0, WORLD_CHIP);
	world_ledger(&w, &b);
	builder_done(&b);
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->device_count, 2);
	assert_int_equal(pic->devices[0].sources, source_bit(TDM_FROM_DRIVER));
	assert_int_equal(pic->devices[1].sources, source_bit(TDM_FROM_LEDGER));
	world_done(&w);
}

/* A region of the n-th chip, which no card can be found for, with DRAM in use. */
static void remote_region(struct world *w, uint32_t n, uint64_t chip)
{
	struct metal_bytes m;
	world_begin_region(&m, chip);
	metal_u32(&m, 40, n);
	metal_chip(&m, 0, n, 0);
	metal_total(&m, 0, 1000 + n);
	world_region(w, &m, chip);
}

static const struct tdm_picture *look_at_cards(struct world *w, int cards, const char *const *types)
{
	for (int i = 0; i < cards; i++) {
		world_card(w, i, types[i], WORLD_CHIP + (uint64_t)i);
		world_opens(w, i, "");
	}
	return world_look(w);
}

/* A T3000: four boards with two chips each. No board's id says which chips are its own, but all are of one type. */
static void test_chips_of_one_type_of_card(void **state)
{
	(void)state;
	static const char *const types[] = { "n300", "n300", "n300", "n300" };
	struct world w;
	world_init(&w);
	for (uint32_t i = 0; i < 8; i++)
		remote_region(&w, i, UINT64_C(0x261916091) + ((uint64_t)(i * 5 % 8) << 32));
	const struct tdm_picture *pic = look_at_cards(&w, 4, types);
	assert_int_equal(pic->device_count, 12);
	assert_int_equal(pic->board_count, 4);
	for (uint32_t i = 0; i < 8; i++) { /* a row for each chip, by number */
		const struct tdm_picture_device *device = &pic->devices[i];
		assert_false(device->is_board);
		assert_int_equal(device->number, i);
		assert_string_equal(device->card, "n300");
		assert_int_equal(device->card_from, TDM_FROM_CARD_TYPE);
		assert_string_equal(device->arch, "Wormhole");
		ASSERT_U64(device->kinds[0].used, 1000 + i);
		assert_int_equal(device->kinds[0].total_from, TDM_FROM_CARD_TYPE);
		assert_true(
			device->kinds[0].total > UINT64_C(11) << 30 && device->kinds[0].total <= UINT64_C(12) << 30);
		assert_false(device->telemetry.temp.is_known); /* never by guess */
		assert_int_equal(device->node, -1);
	}
	for (uint32_t i = 8; i < 12; i++) { /* then the boards, by node, with their telemetry */
		const struct tdm_picture_device *board = &pic->devices[i];
		assert_true(board->is_board);
		assert_int_equal(board->node, i - 8);
		assert_int_equal(board->card_from, TDM_FROM_DRIVER);
		assert_true(board->telemetry.temp.is_known);
	}
	world_done(&w);
}

/* A card that is joined with its region stays a row. Of the others only some chips may have been opened. */
static void test_some_chips_of_one_type(void **state)
{
	(void)state;
	static const char *const types[] = { "p150a", "p150b", "p150" }; /* one type by other names */
	struct world w;
	world_init(&w);
	remote_region(&w, 0, WORLD_CHIP << 5);
	remote_region(&w, 1, 0x777777777777);
	const struct tdm_picture *pic = look_at_cards(&w, 3, types);
	assert_int_equal(pic->device_count, 4);
	assert_int_equal(pic->board_count, 2);
	assert_int_equal(pic->devices[0].node, 0);
	assert_int_equal(pic->devices[0].kinds[0].total_from, TDM_FROM_MODEL);
	ASSERT_U64(pic->devices[0].kinds[0].used, 1000);
	assert_int_equal(pic->devices[1].number, 1);
	assert_int_equal(pic->devices[1].card_from, TDM_FROM_CARD_TYPE);
	assert_string_equal(pic->devices[1].card, "p150");
	assert_int_equal(pic->devices[2].node, 1);
	assert_int_equal(pic->devices[3].node, 2);
	world_done(&w);
}

/* Nothing is said about a chip that may be on one of two types of card, on a card of unknown type, or simulated. */
static void test_no_type_by_guess(void **state)
{
	(void)state;
	static const char *const types[][2] = { { "n150", "n300" }, { "n300", "unknown" }, { "n300", "n300" } };
	for (int i = 0; i < 3; i++) {
		struct world w;
		world_init(&w);
		remote_region(&w, 1, i < 2 ? UINT64_C(0x261916091) : UINT64_C(0x5AA5000000000001));
		const struct tdm_picture *pic = look_at_cards(&w, 2, types[i]);
		assert_int_equal(pic->device_count, 3);
		assert_int_equal(pic->board_count, 0);
		assert_int_equal(pic->devices[0].node, 0);
		assert_string_equal(pic->devices[2].card, "");
		ASSERT_U64(pic->devices[2].kinds[0].total, UNKNOWN);
		world_done(&w);
	}
}

enum { FIRST = 0x100, SECOND, THIRD };

/* Which device the name means, by its chip; 0: none. The card of the second chip does not tell it when it is idle. */
static uint64_t chip_called(const struct tdm_picture *pic, const char *name)
{
	uint64_t chip = 0;
	for (size_t i = 0; i < pic->device_count; i++)
		if (tdm_pick_is(&pic->devices[i], name)) {
			ASSERT_U64(chip, 0); /* not two */
			chip = pic->devices[i].node >= 0 ? SECOND : pic->devices[i].chip_id;
		}
	return chip;
}

/* A device keeps its names when others vanish, and has the same number in a picture of ledgers alone. */
static void test_numbers_stay(void **state)
{
	(void)state;
	enum { COUNT = 4 };
	/* Two programs know the third chip, by different numbers. */
	static const struct {
		uint32_t number;
		uint64_t chip;
	} of[COUNT] = { { 0, FIRST }, { 1, SECOND }, { 5, THIRD }, { 2, THIRD } };
	struct world w;
	struct builder b;
	world_init(&w);
	world_card(&w, 7, "n150", SECOND);
	world_opens(&w, 7, "");
	for (size_t i = 0; i < COUNT; i++) {
		world_alloc(&b, world_begin_ledger(&b, of[i].number, of[i].chip), TDM_KIND_DRAM, 1, 0, 64);
		world_ledger(&w, &b);
		builder_done(&b);
	}
	for (int alone = 0; alone < 2; alone++) {
		w.options.only_ledgers = alone != 0;
		const struct tdm_picture *pic = world_look_anew(&w);
		assert_int_equal(pic->device_count, 3);
		ASSERT_U64(chip_called(pic, "0"), FIRST);
		ASSERT_U64(chip_called(pic, "1"), SECOND);
		ASSERT_U64(chip_called(pic, "2"), THIRD);
		ASSERT_U64(chip_called(pic, "5"), 0);
		for (size_t i = 0; i < pic->holding_count; i++)
			assert_int_equal(
				pic->holdings[i].number, pic->devices[pic->holdings[i].device].chip_id - FIRST);
	}
	w.options.only_ledgers = false;
	ASSERT_U64(chip_called(world_look_anew(&w), "#2"), THIRD);
	int pid = w.holders[0];
	world_end_holder(&w, 0);
	unlink(world_ledger_path(&w, pid));
	const struct tdm_picture *pic = world_look(&w);
	for (int anew = 0; anew < 2; anew++) {
		assert_int_equal(pic->device_count, 2);
		ASSERT_U64(chip_called(pic, "0"), 0);
		ASSERT_U64(chip_called(pic, "1"), SECOND);
		ASSERT_U64(chip_called(pic, "2"), THIRD);
		ASSERT_U64(chip_called(pic, "#2"), anew ? 0 : THIRD);
		pic = world_look_anew(&w);
	}
	/* An idle card keeps the number that programs gave it. */
	world_end_holder(&w, 1);
	pic = world_look(&w);
	ASSERT_U64(chip_called(pic, "1"), SECOND);
	ASSERT_U64(chip_called(pic, "7"), 0);
	ASSERT_U64(chip_called(world_look_anew(&w), "1"), SECOND); /* by the ledger that it left */
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_driver_alone),
		cmocka_unit_test(test_chip_id_of_a_card),
		cmocka_unit_test(test_region_alone),
		cmocka_unit_test(test_region_in_doubt),
		cmocka_unit_test(test_region_unreadable),
		cmocka_unit_test(test_ledger_alone),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_ambiguous_chip),
		cmocka_unit_test(test_board_is_no_chip),
		cmocka_unit_test(test_chips_of_one_type_of_card),
		cmocka_unit_test(test_some_chips_of_one_type),
		cmocka_unit_test(test_no_type_by_guess),
		cmocka_unit_test(test_numbers_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
