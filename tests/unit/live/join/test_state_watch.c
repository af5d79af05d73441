/* A state over time: ledgers that grow, break, vanish or die while it watches, and free space. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "state_world.h"

#define UNKNOWN TDM_BYTES_UNKNOWN

enum { BANK = WORLD_BANK, BASE = WORLD_BASE };

/* A process that is killed between two pictures is in the first and not in the second. */
static void test_death(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	w.options.once = false;
	uint64_t device = world_begin_dram(&b);
	world_alloc(&b, device, TDM_KIND_DRAM, 1, BASE, 1000);
	size_t first = world_ledger(&w, &b), second = world_ledger(&w, &b);
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->process_count, 2);
	ASSERT_U64(pic->devices[0].kinds[0].used, 4000);
	ASSERT_U64(pic->devices[0].kinds[0].peak, 4000);
	world_end_holder(&w, first);
	pic = world_look(&w);
	assert_int_equal(pic->process_count, 1);
	assert_int_equal(pic->processes[0].pid, w.holders[second]);
	ASSERT_U64(pic->devices[0].kinds[0].used, 2000);
	ASSERT_U64(pic->devices[0].kinds[0].stale, 2000);
	ASSERT_U64(pic->devices[0].kinds[0].peak, 2000); /* that of the one process that is left, exact */
	assert_false(pic->devices[0].kinds[0].peak_is_seen);
	world_end_holder(&w, second);
	pic = world_look(&w);
	assert_int_equal(pic->process_count + pic->device_count, 0);
	builder_done(&b);
	world_done(&w);
}

/* The region's bytes of a process with a ledger go with it, too, though /proc was asked a moment ago. */
static void test_death_in_region(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	struct metal_bytes m;
	char path[64];
	world_init(&w);
	w.options.once = false;
	world_begin_ledger(&b, 0, WORLD_CHIP);
	size_t holder = world_ledger(&w, &b);
	builder_done(&b);
	int pid = w.holders[holder];
	world_process(&w, pid, WORLD_START, (int)geteuid());
	world_process(&w, 200, WORLD_START, (int)geteuid());
	world_begin_region(&m, WORLD_CHIP);
	metal_u32(&m, 4, 2);
	metal_slot(&m, 0, pid, "train", METAL_TIME);
	metal_slot(&m, 1, 200, "train", METAL_TIME);
	metal_slot_bytes(&m, 0, 0, 1000);
	metal_slot_bytes(&m, 1, 0, 500);
	metal_total(&m, 0, 1500);
	world_region(&w, &m, WORLD_CHIP);
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->devices[0].kinds[0].used_from, TDM_FROM_METAL_SHM);
	ASSERT_U64(pic->devices[0].kinds[0].used, 1500);
	/* Its bytes move on before anybody is asked again. */
	metal_slot_bytes(&m, 1, 0, 700);
	metal_total(&m, 0, 1700);
	world_region(&w, &m, WORLD_CHIP);
	ASSERT_U64(world_look(&w)->devices[0].kinds[0].used, 1700);
	snprintf(path, sizeof path, "proc/%d", pid);
	tree_unlink(&w.tree, path);
	world_end_holder(&w, holder);
	pic = world_look(&w);
	ASSERT_U64(pic->devices[0].kinds[0].used, 700);
	ASSERT_U64(pic->devices[0].kinds[0].stale, 1000);
	ASSERT_U64(pic->devices[0].kinds[0].peak, 1700); /* the highest that was seen */
	assert_int_equal(pic->process_count, 1);
	world_done(&w);
}

static void test_growth(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	w.options.once = false;
	uint64_t device = world_begin_dram(&b);
	size_t holder = world_ledger(&w, &b);
	ASSERT_U64(world_look(&w)->devices[0].kinds[0].used, 0);
	/* Beyond the first segment of slots, with a name, a phase and a second device. */
	for (uint64_t i = 0; i < 3000; i++)
		world_alloc(&b, device, TDM_KIND_DRAM, i, BASE + 64 * i, 32);
	builder_phase(&b, "backward");
	builder_add_device_with(&b, 1, SAMPLE_RING);
	world_rewrite(&w, holder, &b);
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->device_count, 2);
	assert_int_equal(pic->problem_count, 0);
	ASSERT_U64(pic->devices[0].kinds[0].buffers, 3000);
	ASSERT_U64(pic->devices[0].kinds[0].used, 3000 * 64);
	assert_string_equal(pic->processes[0].phase, "backward");
	assert_int_equal(pic->processes[0].holding_count, 2);
	builder_done(&b);
	world_done(&w);
}

/* A ledger whose counters do not change is looked at as a whole every now and then only. */
static const struct tdm_picture *look_until(struct world *w, size_t problems)
{
	const struct tdm_picture *pic = world_look(w);
	for (int tries = 0; pic->problem_count != problems && tries < 3000; tries++) {
		usleep(10000);
		pic = world_look(w);
	}
	return pic;
}

/* A ledger that is cut or overwritten under the state: a problem, the process stays, its figures are unknown. */
static void test_damage(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	w.options.once = false;
	uint64_t device = world_begin_dram(&b);
	world_alloc(&b, device, TDM_KIND_DRAM, 1, BASE, 1000);
	size_t good = world_ledger(&w, &b), cut = world_ledger(&w, &b), scribbled = world_ledger(&w, &b);
	const struct tdm_picture *pic = world_look(&w);
	ASSERT_U64(pic->devices[0].kinds[0].used, 6000);
	assert_int_equal(pic->problem_count, 0);
	int fd = open(world_ledger_path(&w, w.holders[scribbled]), O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "garbage!", 8, 0), 8);
	close(fd);
	for (off_t length = 100; length >= 0; length -= 100) { /* cut short, then empty */
		assert_int_equal(truncate(world_ledger_path(&w, w.holders[cut]), length), 0);
		pic = look_until(&w, 2);
		assert_int_equal(pic->process_count, 3);
		assert_int_equal(pic->problem_count, 2);
		ASSERT_U64(pic->devices[0].kinds[0].used, 2000);
		for (size_t i = 0; i < 3; i++) {
			const struct tdm_picture_process *p = &pic->processes[i];
			assert_int_equal(p->life, TDM_LIFE_RUNS);
			if (p->holding_count != 0)
				ASSERT_U64(pic->holdings[p->first_holding].kinds[0].reserved,
					p->pid == w.holders[good] ? 2000 : UNKNOWN);
		}
	}
	assert_int_equal(find_problem(pic, "does not begin like one")->err, TDM_ECORRUPT);
	/* It is said again, once each, as long as it lasts. */
	assert_int_equal(world_look(&w)->problem_count, 2);
	ASSERT_U64(pic->devices[0].kinds[0].largest_free, UNKNOWN);
	builder_done(&b);
	world_done(&w);
}

/* A device's page that lies outside of the file from then on. */
static void test_lost_device(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	w.options.once = false;
	uint64_t device = world_begin_dram(&b);
	world_alloc(&b, device, TDM_KIND_DRAM, 1, BASE, 1000);
	size_t holder = world_ledger(&w, &b);
	ASSERT_U64(world_look(&w)->devices[0].kinds[0].used, 2000);
	builder_header(&b)->device_offset[0] = UINT64_C(1) << 40;
	world_rewrite(&w, holder, &b);
	const struct tdm_picture *pic = look_until(&w, 1);
	assert_int_equal(pic->process_count, 1);
	assert_non_null(find_problem(pic, "cannot be read any more"));
	for (size_t d = 0; d < pic->device_count; d++)
		ASSERT_U64(pic->devices[d].kinds[0].used, UNKNOWN);
	builder_done(&b);
	world_done(&w);
}

/* A ledger whose name is taken away while its writer goes on: it is gone, and nothing else is. */
static void test_vanished_ledger(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	w.options.once = false;
	uint64_t device = world_begin_dram(&b);
	world_alloc(&b, device, TDM_KIND_DRAM, 1, BASE, 1000);
	size_t first = world_ledger(&w, &b), second = world_ledger(&w, &b);
	ASSERT_U64(world_look(&w)->devices[0].kinds[0].used, 4000);
	assert_int_equal(unlink(world_ledger_path(&w, w.holders[first])), 0);
	const struct tdm_picture *pic = world_look(&w);
	for (int tries = 0; pic->process_count != 1 && tries < 3000; tries++) {
		usleep(10000);
		pic = world_look(&w);
	}
	assert_int_equal(pic->process_count, 1);
	assert_int_equal(pic->problem_count, 0);
	assert_int_equal(pic->processes[0].pid, w.holders[second]);
	ASSERT_U64(pic->devices[0].kinds[0].used, 2000);
	builder_done(&b);
	world_done(&w);
}

static void put_region(struct world *w, const void *data, size_t len)
{
	char path[64];
	snprintf(path, sizeof path, "shm/tt_device_%llu_memory", (unsigned long long)WORLD_CHIP);
	tree_unlink(&w->tree, "shm");
	tree_dir(&w->tree, "shm");
	if (data != NULL)
		tree_bytes(&w->tree, path, data, len);
}

/* A region that is cut, grows, is overwritten, vanishes and comes back from one picture to the next. */
static void test_region_moves(void **state)
{
	(void)state;
	static uint8_t longer[TDM_METAL_SIZE + 4096], junk[TDM_METAL_SIZE];
	struct world w;
	struct metal_bytes m;
	world_init(&w);
	w.options.once = false;
	world_card(&w, 0, "n150", WORLD_CHIP);
	world_opens(&w, 0, "");
	world_begin_region(&m, WORLD_CHIP);
	metal_total(&m, 0, 5000);
	memcpy(longer, m.data, TDM_METAL_SIZE);
	memset(junk, 0xa5, sizeof junk);
	const struct {
		const void *data;
		size_t len;
		bool is_read;
		const char *problem;
	} steps[] = {
		{ m.data, TDM_METAL_SIZE, true, NULL },
		{ m.data, TDM_METAL_SIZE - 1, false, "bytes" },
		{ m.data, TDM_METAL_SIZE, true, NULL },
		{ m.data, 0, false, "" },
		{ junk, sizeof junk, false, "version" },
		{ NULL, 0, false, NULL },
		{ m.data, TDM_METAL_SIZE, true, NULL },
		{ longer, sizeof longer, false, "bytes" },
		{ m.data, TDM_METAL_SIZE, true, NULL },
	};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		put_region(&w, steps[i].data, steps[i].len);
		const struct tdm_picture *pic = world_look(&w);
		assert_int_equal(pic->device_count, 1);
		ASSERT_U64(pic->devices[0].kinds[0].used, steps[i].is_read ? 5000 : UNKNOWN);
		assert_int_equal(pic->problem_count, steps[i].problem != NULL);
		if (steps[i].problem != NULL)
			assert_non_null(strstr(pic->problems[0].text, steps[i].problem));
	}
	world_done(&w);
}

static void test_unreadable(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	world_begin_dram(&b);
	builder_header(&b)->major = 9;
	world_ledger(&w, &b);
	builder_done(&b);
	tree_text(&w.tree, "ledgers/tidemark.1.2.3", "this is no ledger at all");
	tree_text(&w.tree, "ledgers/tidemark.1.2.4", ""); /* being made */
	tree_link(&w.tree, "ledgers/tidemark.1.2.5", "tidemark.1.2.3");
	tree_dir(&w.tree, "ledgers/tidemark.1.2.6");
	tree_text(&w.tree, "ledgers/unrelated", "");
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->process_count, 0);
	assert_int_equal(pic->problem_count, 4);
	assert_int_equal(find_problem(pic, "version 9")->err, TDM_EVERSION);
	assert_int_equal(find_problem(pic, "tidemark.1.2.3")->err, TDM_ECORRUPT);
	assert_int_equal(find_problem(pic, "symbolic link")->err, -ELOOP);
	assert_non_null(find_problem(pic, "not a regular file"));
	/* Many of them: some are named, the rest is counted. */
	for (int i = 0; i < 100; i++) {
		char name[64];
		snprintf(name, sizeof name, "ledgers/tidemark.9.9.%d", i);
		tree_text(&w.tree, name, "junk");
	}
	pic = world_look_anew(&w);
	assert_int_equal(pic->problem_count, 64);
	assert_string_equal(pic->problems[63].text, "41 more problems");
	world_done(&w);
}

static void forbid(struct world *w, const char *path)
{
	assert_int_equal(chmod(tree_path(&w->tree, path), 0), 0);
}

/* Half of the sources may not be read: of our own without permissions; by root as another user. */
static void test_denied(void **state)
{
	(void)state;
	enum { NOBODY = 65534 };
	struct world w;
	struct builder b;
	struct metal_bytes m;
	bool was_root = geteuid() == 0;
	world_init(&w);
	world_card(&w, 0, "n150", WORLD_CHIP);
	world_opens(&w, 0, "");
	uint64_t device = world_begin_dram(&b);
	world_alloc(&b, device, TDM_KIND_DRAM, 1, BASE, 1000);
	size_t open_one = world_ledger(&w, &b), closed = world_ledger(&w, &b);
	builder_done(&b);
	assert_int_equal(chmod(world_ledger_path(&w, w.holders[open_one]), 0644), 0);
	assert_int_equal(chmod(world_ledger_path(&w, w.holders[closed]), 0), 0);
	world_begin_region(&m, WORLD_CHIP);
	metal_total(&m, 0, 77);
	world_region(&w, &m, WORLD_CHIP);
	char region[64];
	snprintf(region, sizeof region, "shm/tt_device_%llu_memory", (unsigned long long)WORLD_CHIP);
	forbid(&w, region);
	forbid(&w, "sys/class/tenstorrent/tenstorrent!0/device/hwmon/hwmon0/temp1_input");
	forbid(&w, "proc/driver/tenstorrent/0/pids");
	tree_dir(&w.tree, "ledgers/tidemark.run.1.x");
	forbid(&w, "ledgers/tidemark.run.1.x");
	assert_int_equal(was_root ? seteuid(NOBODY) : 0, 0);
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(was_root ? seteuid(0) : 0, 0);
	assert_int_equal(pic->device_count, 1);
	assert_int_equal(pic->process_count, 1);
	assert_int_equal(pic->processes[0].pid, w.holders[open_one]);
	assert_int_equal(pic->processes[0].is_foreign, was_root);
	ASSERT_U64(pic->devices[0].kinds[0].used, 2000);
	assert_int_equal(pic->devices[0].telemetry.temp.err, -EACCES);
	assert_int_equal(find_problem(pic, strrchr(world_ledger_path(&w, w.holders[closed]), '/'))->err, -EACCES);
	assert_int_equal(find_problem(pic, "tt_device_")->err, -EACCES);
	assert_int_equal(find_problem(pic, "tidemark.run.1.x")->err, -EACCES);
	assert_int_equal(find_problem(pic, "have the card open")->err, -EACCES);
	assert_int_equal(pic->problem_count, 4);
	world_done(&w);
}

static void test_many_processes(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	for (uint32_t i = 0; i < 300; i++) {
		uint64_t device = world_begin_ledger(&b, i % 8, 1000 + i % 8);
		world_alloc(&b, device, TDM_KIND_DRAM, 1, BASE, 1 + i);
		world_ledger(&w, &b);
		builder_done(&b);
	}
	const struct tdm_picture *pic = world_look(&w);
	uint64_t sum = 0;
	assert_int_equal(pic->process_count, 300);
	assert_int_equal(pic->holding_count, 300);
	assert_int_equal(pic->device_count, 8);
	for (size_t d = 0; d < 8; d++) {
		assert_int_equal(pic->devices[d].number, d);
		sum += pic->devices[d].kinds[0].used;
	}
	ASSERT_U64(sum, 300 * 301);
	for (size_t i = 1; i < 300; i++)
		assert_true(pic->processes[i - 1].pid < pic->processes[i].pid);
	world_done(&w);
}

/* The largest free block against a map of every byte. */
static uint64_t largest_by_map(const uint8_t *taken)
{
	uint64_t longest = 0, run = 0;
	for (size_t i = 0; i < BANK; i++) {
		run = taken[i] ? 0 : run + 1;
		longest = run > longest ? run : longest;
	}
	return longest;
}

static void test_free_space(void **state)
{
	(void)state;
	static uint8_t taken[BANK];
	uint64_t seed = 12345;
	/* Few and many buffers, so sparse that there are long gaps and so dense that there are none. */
	static const struct {
		uint64_t count, size, step; /* step 0: anywhere */
	} cases[] = { { 0, 0, 0 }, { 1, 100, 0 }, { 7, 5000, 0 }, { 600, 300, 0 }, { 4000, 250, 256 },
		{ 2048, 510, 512 }, { 300, 64, 128 }, { 1400, 600, 700 } };
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		struct world w;
		struct builder b[2];
		uint64_t device[2];
		world_init(&w);
		memset(taken, 0, sizeof taken);
		for (int i = 0; i < 2; i++)
			device[i] = world_begin_dram(&b[i]);
		for (uint64_t i = 0; i < cases[c].count; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
			uint64_t size = 1 + (seed >> 33) % cases[c].size;
			uint64_t at = cases[c].step != 0 ? i * cases[c].step : (seed >> 13) % BANK;
			uint64_t end = at + size < BANK ? at + size : BANK;
			memset(taken + at, 1, end - at);
			world_alloc(&b[i % 2], device[i % 2], TDM_KIND_DRAM, i, BASE + at, size);
		}
		/* Views lie in other buffers; what was freed is free; other kinds lie elsewhere. */
		builder_alloc(&b[0], device[0],
			(struct tdm_ledger_slot){
				.id = 1 << 20, .address = BASE + BANK / 2, .bank_bytes = 4096, .flags = TDM_SLOT_VIEW },
			(struct tdm_ledger_more){ 0 });
		builder_free(&b[1], device[1], world_alloc(&b[1], device[1], TDM_KIND_DRAM, 1 << 20, BASE, BANK));
		world_alloc(&b[1], device[1], TDM_KIND_L1, 1, BASE, 100);
		for (int i = 0; i < 2; i++)
			world_ledger(&w, &b[i]);
		const struct tdm_picture *pic = world_look(&w);
		ASSERT_U64(pic->devices[0].kinds[0].largest_free, 2 * largest_by_map(taken));
		ASSERT_U64(pic->devices[0].l1_lowest, BASE);
		ASSERT_U64(pic->devices[0].cb_highest, 0);
		tdm_state_free(w.state);
		w.state = NULL;
		pic = world_look_for(&w, &(struct tdm_wish){ .no_largest = true });
		ASSERT_U64(pic->devices[0].kinds[0].largest_free, UNKNOWN);
		ASSERT_U64(pic->devices[0].space_ns, 0);
		for (int i = 0; i < 2; i++)
			builder_done(&b[i]);
		world_done(&w);
	}
}

static void test_free_space_unknown(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	uint64_t device = world_begin_dram(&b);
	world_alloc(&b, device, TDM_KIND_DRAM, 1, BASE, 1000);
	uint32_t slot = world_alloc(&b, device, TDM_KIND_CB, 2, BASE, 1000);
	size_t holder = world_ledger(&w, &b);
	ASSERT_U64(world_look(&w)->devices[0].cb_highest, BASE + 1000);
	builder_slot(&b, device, slot)->flags = TDM_SLOT_NO_ADDRESS;
	world_rewrite(&w, holder, &b);
	const struct tdm_picture *pic = world_look_anew(&w);
	ASSERT_U64(pic->devices[0].cb_highest, UNKNOWN);
	ASSERT_U64(pic->devices[0].kinds[0].largest_free, 2 * (BANK - 1000));
	builder_slot(&b, device, 0)->flags = TDM_SLOT_NO_ADDRESS;
	world_rewrite(&w, holder, &b);
	pic = world_look_anew(&w);
	ASSERT_U64(pic->devices[0].kinds[0].largest_free, UNKNOWN);
	ASSERT_U64(pic->devices[0].kinds[0].free, 2 * (BANK - 1000));
	builder_done(&b);
	world_done(&w);
}

/* Nobody has to wait for the largest free block of the last of many small devices. */
static void test_free_space_of_many(void **state)
{
	(void)state;
	enum { MANY = 4 };
	struct world w;
	struct builder b[MANY];
	world_init(&w);
	w.options.once = false;
	for (unsigned i = 0; i < MANY; i++) {
		uint64_t device = world_begin_dram(&b[i]);
		builder_device(&b[i], device)->chip_id += i;
		world_alloc(&b[i], device, TDM_KIND_DRAM, 1, BASE, 1000 * (i + 1));
		world_ledger(&w, &b[i]);
	}
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->device_count, MANY);
	uint64_t sum = 0;
	for (unsigned i = 0; i < MANY; i++) {
		ASSERT_U64(pic->devices[i].kinds[0].largest_free, pic->devices[i].kinds[0].free);
		sum += pic->devices[i].kinds[0].used;
	}
	ASSERT_U64(sum, 2 * (1000 + 2000 + 3000 + 4000));
	for (unsigned i = 0; i < MANY; i++)
		builder_done(&b[i]);
	world_done(&w);
}

/* It is computed again for a device that has changed; until then the picture says that it is old. */
static void test_free_space_later(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	w.options.once = false;
	uint64_t device = world_begin_dram(&b);
	world_alloc(&b, device, TDM_KIND_DRAM, 1, BASE, 1000);
	size_t holder = world_ledger(&w, &b);
	const struct tdm_picture *pic = world_look(&w);
	uint64_t first_ns = pic->devices[0].space_ns;
	ASSERT_U64(pic->devices[0].kinds[0].largest_free, 2 * (BANK - 1000));
	ASSERT_U64(first_ns, pic->time_ns);
	assert_false(pic->devices[0].space_is_old);
	pic = world_look(&w); /* nothing has changed: it need not be computed again */
	ASSERT_U64(pic->devices[0].space_ns, first_ns);
	assert_false(pic->devices[0].space_is_old);
	world_alloc(&b, device, TDM_KIND_DRAM, 2, BASE + BANK - 3000, 3000);
	world_rewrite(&w, holder, &b);
	pic = world_look_for(&w, &(struct tdm_wish){ .no_largest = true });
	assert_true(pic->devices[0].space_is_old);
	ASSERT_U64(pic->devices[0].space_ns, first_ns);
	do {
		pic = world_look(&w);
		assert_true(pic->devices[0].kinds[0].largest_free <= pic->devices[0].kinds[0].free);
		assert_true(pic->devices[0].space_is_old == (pic->devices[0].space_ns != pic->time_ns));
	} while (pic->devices[0].space_is_old);
	ASSERT_U64(pic->devices[0].kinds[0].largest_free, 2 * (BANK - 4000));
	builder_done(&b);
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_death),
		cmocka_unit_test(test_death_in_region),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_lost_device),
		cmocka_unit_test(test_vanished_ledger),
		cmocka_unit_test(test_region_moves),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_denied),
		cmocka_unit_test(test_many_processes),
		cmocka_unit_test(test_free_space),
		cmocka_unit_test(test_free_space_unknown),
		cmocka_unit_test(test_free_space_of_many),
		cmocka_unit_test(test_free_space_later),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
