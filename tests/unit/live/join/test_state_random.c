/*
 * Random machines: cards, regions and ledgers that agree, contradict each other or know nothing of each other, and
 * change from picture to picture. Whichever source wins, the processes and the unattributed bytes must add up to the
 * total, and figures of a ledger must be those in the ledger.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "state_world.h"

enum { MACHINES = 40, STEPS = 12, LEDGERS = 5, DEVICES = 3, CHIPS = 3, STRANGERS = 4, SLOTS = 4, BUFFERS = 400 };

struct program {
	struct builder b;
	size_t holder;
	bool is_there, runs;
	int pid;
	uint64_t devices[DEVICES];
	unsigned device_count;
	uint32_t places[DEVICES][BUFFERS]; /* of live buffers */
	unsigned live[DEVICES];
	uint64_t next_id;
};

static struct machine {
	struct world w;
	struct program programs[LEDGERS];
	uint64_t seed;
} machine;

static uint64_t some(uint64_t count)
{
	machine.seed = machine.seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (machine.seed >> 33) % count;
}

static int stranger(void)
{
	return 300 + (int)some(STRANGERS);
}

/* Allocations and releases, of any kind that has counters of its own in a region, and of some that have none. */
static void work(struct program *p)
{
	static const uint8_t kinds[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_TRACE, TDM_KIND_CB, TDM_KIND_SYSTEM };
	for (uint64_t n = some(60); n != 0; n--) {
		unsigned d = (unsigned)some(p->device_count);
		if (p->live[d] != 0 && some(5) < 2) {
			unsigned i = (unsigned)some(p->live[d]);
			builder_free(&p->b, p->devices[d], p->places[d][i]);
			p->places[d][i] = p->places[d][--p->live[d]];
		} else if (p->live[d] < BUFFERS) {
			p->places[d][p->live[d]++] = builder_alloc(&p->b, p->devices[d],
				(struct tdm_ledger_slot){ .id = p->next_id++,
					.address = some(WORLD_BANK),
					.asked = some(5000),
					.bank_bytes = some(4096),
					.banks = (uint32_t)some(4),
					.kind = kinds[some(sizeof kinds)],
					.flags = some(9) == 0 ? TDM_SLOT_NO_ADDRESS : 0 },
				(struct tdm_ledger_more){ .holding = (uint32_t)some(3) });
		}
	}
}

static void begin_program(struct program *p)
{
	*p = (struct program){ .is_there = true, .runs = some(4) != 0, .device_count = 1 + (unsigned)some(DEVICES) };
	builder_init(&p->b);
	for (unsigned d = 0; d < p->device_count; d++) {
		p->devices[d] = builder_add_device_with(&p->b, d, SAMPLE_RING);
		struct tdm_ledger_device *device = builder_device(&p->b, p->devices[d]);
		if (some(4) == 0) {
			device->flags = TDM_DEVICE_VIRTUAL;
		} else if (some(3) != 0) { /* some programs know one chip by two numbers */
			device->flags = TDM_DEVICE_HAS_CHIP_ID;
			device->chip_id = WORLD_CHIP + some(CHIPS);
		}
		if (some(2) == 0) {
			device->region_count = 1;
			device->regions[0] = (struct tdm_ledger_region){
				.kind = TDM_KIND_DRAM, .banks = 2, .base = WORLD_BASE, .bank_size = WORLD_BANK
			};
		}
	}
	work(p);
	if (p->runs) {
		p->holder = world_ledger(&machine.w, &p->b);
		p->pid = machine.w.holders[p->holder];
		if (some(3) != 0)
			world_process(&machine.w, p->pid, WORLD_START, (int)geteuid());
	} else {
		static int dead = 70000;
		p->pid = dead++;
		world_dead_ledger(&machine.w, &p->b, p->pid, some(2) == 0);
	}
}

static void put_region(uint64_t chip)
{
	struct metal_bytes m;
	uint64_t totals[3] = { 0 };
	world_begin_region(&m, chip);
	metal_u32(&m, 4, SLOTS);
	for (size_t i = 0; i < SLOTS; i++) {
		const struct program *p = &machine.programs[some(LEDGERS)];
		int pid = some(2) == 0 && p->is_there ? p->pid : stranger();
		metal_slot(&m, i, some(9) == 0 ? -1 : pid, "train", METAL_TIME);
		for (size_t k = 0; k < 3; k++) {
			uint64_t bytes = some(3) == 0 ? 0 : some(100000);
			metal_slot_bytes(&m, i, k, bytes);
			totals[k] += bytes;
		}
	}
	for (size_t k = 0; k < 3; k++) {
		uint64_t off = some(1000);
		/* More than the slots hold, less, or less than nothing. */
		metal_total(&m, k, some(4) != 0 ? totals[k] + off : some(4) != 0 ? totals[k] / 2 : UINT64_MAX - off);
	}
	world_region(&machine.w, &m, chip);
}

static void begin_machine(void)
{
	char pids[64];
	world_init(&machine.w);
	machine.w.options.once = some(2) == 0;
	machine.w.options.with_ended = some(2) == 0;
	for (int i = 0; i < STRANGERS; i++)
		if (some(4) != 0)
			world_process(&machine.w, 300 + i, WORLD_START, (int)geteuid() + (int)some(2));
	for (int card = 0; card < (int)some(CHIPS + 1); card++) {
		world_card(&machine.w, card, some(5) == 0 ? "n300" : "n150", WORLD_CHIP + some(CHIPS));
		snprintf(pids, sizeof pids, "%d\n%d\n", stranger(), stranger());
		world_opens(&machine.w, card, pids);
	}
	for (size_t i = 0; i < LEDGERS; i++)
		if (some(4) != 0)
			begin_program(&machine.programs[i]);
		else
			machine.programs[i].is_there = false;
	for (uint64_t chip = 0; chip < CHIPS; chip++)
		if (some(3) != 0)
			put_region(WORLD_CHIP + chip);
}

static void change_machine(void)
{
	struct program *p = &machine.programs[some(LEDGERS)];
	if (!p->is_there) {
		put_region(WORLD_CHIP + some(CHIPS));
	} else if (p->runs && some(8) == 0) {
		world_end_holder(&machine.w, p->holder);
		p->runs = false;
	} else if (p->runs) {
		work(p);
		world_rewrite(&machine.w, p->holder, &p->b);
	}
}

/* The counters of a kind, as they are in the ledger. */
static const struct tdm_ledger_now *counters(const struct program *p, uint32_t number, unsigned kind)
{
	struct builder b = p->b; /* the same bytes */
	const struct tdm_ledger_now *now = builder_device(&b, p->devices[number])->now[kind];
	return &now[now[1].seq > now[0].seq];
}

static const struct program *program_of(const struct tdm_picture_process *process)
{
	for (size_t i = 0; i < LEDGERS; i++)
		if (machine.programs[i].is_there && machine.programs[i].pid == process->pid)
			return &machine.programs[i];
	return NULL;
}

static void check_holding(const struct tdm_picture *pic, const struct tdm_holding *holding, bool has_buffers)
{
	const struct tdm_picture_process *process = &pic->processes[holding->process];
	const struct program *p = program_of(process);
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		const struct tdm_counter *amount = &holding->kinds[k];
		uint64_t reserved = 0;
		if (amount->from != TDM_FROM_LEDGER)
			continue;
		assert_non_null(p);
		ASSERT_U64(amount->reserved, counters(p, holding->own_number, k)->bytes);
		ASSERT_U64(amount->buffers, counters(p, holding->own_number, k)->buffers);
		for (size_t i = 0; i < holding->buffers[k].count; i++)
			reserved += tdm_buffer_reserved(&holding->buffers[k].list[i]);
		assert_int_equal(amount->is_inexact, false);
		if (has_buffers) {
			ASSERT_U64(holding->buffers[k].count, amount->buffers);
			ASSERT_U64(reserved, amount->reserved);
		} else {
			ASSERT_U64(holding->buffers[k].count, 0);
		}
	}
}

/* Processes, and what is attributed to nobody, are the total. */
static void check_sums(const struct tdm_picture *pic, size_t d, unsigned k)
{
	const struct tdm_picture_kind *kind = &pic->devices[d].kinds[k];
	uint64_t sum = kind->unattributed;
	if (kind->used == TDM_BYTES_UNKNOWN)
		return;
	for (size_t i = 0; i < pic->holding_count; i++) {
		const struct tdm_holding *holding = &pic->holdings[i];
		if (holding->device == d && pic->processes[holding->process].life != TDM_LIFE_ENDED &&
			holding->kinds[k].reserved != TDM_BYTES_UNKNOWN)
			sum += holding->kinds[k].reserved;
	}
	ASSERT_U64(sum, kind->used);
	assert_true(kind->peak >= kind->used);
	assert_true(kind->total == TDM_BYTES_UNKNOWN || kind->used > kind->total ||
		    kind->free == kind->total - kind->used || k == TDM_KIND_CB);
	assert_true(kind->largest_free == TDM_BYTES_UNKNOWN || kind->largest_free <= kind->free);
}

static void look(void)
{
	const struct tdm_wish wish = { .parts = (some(2) == 0 ? TDM_WISH_BUFFERS : 0) |
						(some(2) == 0 ? TDM_WISH_EVENTS : 0) };
	const struct tdm_picture *pic = world_look_for(&machine.w, &wish);
	for (size_t i = 0; i < pic->holding_count; i++)
		check_holding(pic, &pic->holdings[i], (wish.parts & TDM_WISH_BUFFERS) != 0);
	for (size_t d = 0; d < pic->device_count; d++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			check_sums(pic, d, k);
	for (size_t i = 0; i < LEDGERS; i++) {
		const struct program *p = &machine.programs[i];
		if (p->is_there && p->runs)
			assert_int_equal(find_pid(pic, p->pid)->life, TDM_LIFE_RUNS);
	}
}

static void test_random_machines(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= MACHINES; seed++) {
		machine.seed = seed;
		begin_machine();
		look();
		for (int i = 0; i < STEPS; i++) {
			change_machine();
			look();
		}
		for (size_t i = 0; i < LEDGERS; i++)
			if (machine.programs[i].is_there)
				builder_done(&machine.programs[i].b);
		world_done(&machine.w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random_machines) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
