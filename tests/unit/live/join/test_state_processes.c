/* Which processes of the sources are the same, how they keep their identity between pictures, which ledgers are
 * read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "state_world.h"

/* A ledger of another pid namespace: the kernel knows its writer's number on this side. */
static void test_container(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	world_card(&w, 0, "n150", WORLD_CHIP);
	uint64_t device = world_begin_ledger(&b, 0, WORLD_CHIP);
	world_alloc(&b, device, TDM_KIND_DRAM, 1, 0, 512);
	builder_header(&b)->pid_namespace = w.pid_namespace + 1;
	size_t holder = world_ledger(&w, &b);
	int pid = w.holders[holder];
	builder_header(&b)->pid = 7; /* inside */
	int fd = open(world_ledger_path(&w, pid), O_WRONLY | O_CLOEXEC);
	assert_true(pwrite(fd, b.bytes, b.size, 0) == (ssize_t)b.size);
	close(fd);
	world_process(&w, pid, WORLD_START, (int)geteuid());
	char text[32];
	snprintf(text, sizeof text, "%d\n", pid);
	world_opens(&w, 0, text);
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->process_count, 1);
	assert_int_equal(pic->processes[0].pid, pid);
	assert_true(pic->processes[0].in_container);
	assert_int_equal(pic->processes[0].sources, source_bit(TDM_FROM_LEDGER) | source_bit(TDM_FROM_DRIVER));
	builder_done(&b);
	world_done(&w);
}

/* A process keeps its handle when its ledger comes, and when that goes. */
static void test_handles(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	world_init(&w);
	w.options.once = false;
	world_card(&w, 0, "n150", WORLD_CHIP);
	int pid = w.holders[w.holder_count++] = world_hold(&w, 0);
	char text[32];
	snprintf(text, sizeof text, "%d\n", pid);
	world_process(&w, pid, WORLD_START, (int)geteuid());
	world_opens(&w, 0, text);
	uint64_t handle = world_look(&w)->processes[0].handle;
	assert_true(handle != 0);
	world_begin_ledger(&b, 0, WORLD_CHIP);
	world_rewrite(&w, 0, &b);
	const struct tdm_picture *pic;
	do { /* until it looks into the directory again */
		usleep(20000);
		pic = world_look(&w);
		assert_int_equal(pic->process_count, 1);
		assert_true(pic->processes[0].handle == handle);
	} while ((pic->processes[0].sources & source_bit(TDM_FROM_LEDGER)) == 0);
	unlink(world_ledger_path(&w, pid));
	do {
		usleep(20000);
		pic = world_look(&w);
		assert_int_equal(pic->process_count, 1);
		assert_true(pic->processes[0].handle == handle);
	} while ((pic->processes[0].sources & source_bit(TDM_FROM_LEDGER)) != 0);
	builder_done(&b);
	world_done(&w);
}

/* A program may know one chip by two numbers: it is one device and one process, which has two holdings there. */
static void test_twins(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	struct metal_bytes m;
	world_init(&w);
	uint64_t first = world_begin_ledger(&b, 0, WORLD_CHIP), second = builder_add_device_with(&b, 1, SAMPLE_RING);
	builder_device(&b, second)->flags = TDM_DEVICE_HAS_CHIP_ID;
	builder_device(&b, second)->chip_id = WORLD_CHIP;
	world_alloc(&b, first, TDM_KIND_DRAM, 1, 0, 100);
	world_alloc(&b, second, TDM_KIND_DRAM, 1, 0, 7);
	int pid = w.holders[world_ledger(&w, &b)];
	builder_done(&b);
	world_process(&w, pid, WORLD_START, (int)geteuid());
	const struct tdm_picture *pic = world_look_for(&w, &(struct tdm_wish){ .parts = TDM_WISH_BUFFERS });
	assert_int_equal(pic->device_count, 1);
	assert_int_equal(pic->devices[0].process_count, 1);
	assert_int_equal(pic->process_count, 1);
	assert_int_equal(pic->holding_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(pic->holdings[i].own_number, i);
		assert_int_equal(pic->holdings[i].number, 0);
		ASSERT_U64(pic->holdings[i].kinds[0].reserved, i == 0 ? 200 : 14);
		assert_int_equal(pic->holdings[i].buffers[0].count, 1);
	}
	ASSERT_U64(pic->devices[0].kinds[0].used, 214);
	/* Shared memory counts the process once, whichever of the two wins. */
	world_process(&w, 300, WORLD_START, (int)geteuid());
	world_begin_region(&m, WORLD_CHIP);
	metal_u32(&m, 4, 2);
	metal_slot(&m, 0, pid, "train", METAL_TIME);
	metal_slot_bytes(&m, 0, 0, 150);
	metal_slot(&m, 1, 300, "train", METAL_TIME);
	metal_slot_bytes(&m, 1, 0, 1000);
	metal_total(&m, 0, 1150);
	world_region(&w, &m, WORLD_CHIP);
	pic = world_look_anew(&w);
	assert_int_equal(pic->devices[0].kinds[0].used_from, TDM_FROM_METAL_SHM);
	ASSERT_U64(pic->devices[0].kinds[0].used, 1150);
	ASSERT_U64(pic->devices[0].kinds[0].rival_used, 214);
	assert_int_equal(pic->devices[0].kinds[0].rival_processes, 0);
	assert_int_equal(pic->devices[0].process_count, 2);
	world_done(&w);
}

/* An exec keeps pid and start time: two ledgers, of which one is a running process's. */
static void test_generations(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	char older[192];
	world_init(&w);
	w.options.with_ended = true;
	world_card(&w, 0, "n150", WORLD_CHIP);
	uint64_t device = world_begin_ledger(&b, 0, WORLD_CHIP);
	world_alloc(&b, device, TDM_KIND_DRAM, 1, 0, 100);
	builder_header(&b)->generation = 1;
	int pid = w.holders[world_ledger(&w, &b)];
	builder_header(&b)->generation = 0;
	world_alloc(&b, device, TDM_KIND_DRAM, 2, 0, 50);
	snprintf(older, sizeof older, "%s/tidemark.%d.%d.9", w.ledgers, pid, WORLD_START);
	builder_write(&b, older);
	builder_done(&b);
	world_process(&w, pid, WORLD_START, (int)geteuid());
	char text[32];
	snprintf(text, sizeof text, "%d\n", pid);
	world_opens(&w, 0, text);
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->process_count, 2);
	assert_int_equal(pic->processes[0].life, TDM_LIFE_ENDED); /* in the order of generations */
	assert_int_equal(pic->processes[1].life, TDM_LIFE_RUNS);
	assert_true(pic->processes[0].handle != pic->processes[1].handle);
	assert_int_equal(pic->processes[0].sources, source_bit(TDM_FROM_LEDGER));
	assert_int_equal(pic->processes[1].sources, source_bit(TDM_FROM_LEDGER) | source_bit(TDM_FROM_DRIVER));
	assert_string_equal(pic->processes[0].ledger, older);
	ASSERT_U64(pic->devices[0].kinds[0].used, 200);
	ASSERT_U64(pic->devices[0].kinds[0].stale, 300);
	world_done(&w);
}

/* Some ledgers, and nothing else of the machine. */
static void test_given_ledgers(void **state)
{
	(void)state;
	struct world w;
	struct builder b;
	char given[192];
	world_init(&w);
	world_card(&w, 0, "n150", WORLD_CHIP);
	world_opens(&w, 0, "300\n");
	world_process(&w, 300, WORLD_START, (int)geteuid());
	uint64_t device = world_begin_ledger(&b, 0, WORLD_CHIP);
	world_alloc(&b, device, TDM_KIND_DRAM, 1, 0, 100);
	int first = w.holders[world_ledger(&w, &b)], second = w.holders[world_ledger(&w, &b)];
	world_dead_ledger(&w, &b, 70001, true);
	builder_done(&b);
	w.options.only_ledgers = w.options.with_ended = true;
	const struct tdm_picture *pic = world_look(&w);
	assert_int_equal(pic->process_count, 3);
	assert_int_equal(pic->device_count, 1);
	assert_int_equal(pic->devices[0].sources, source_bit(TDM_FROM_LEDGER));
	assert_int_equal(pic->devices[0].node, -1);
	assert_int_equal(pic->problem_count, 0);
	/* One that is being made is none that could be read. */
	tree_text(&w.tree, "ledgers/tidemark.1.2.3", "");
	pic = world_look_anew(&w);
	assert_int_equal(pic->problem_count, 1);
	assert_true(pic->problems[0].is_unread);
	assert_int_equal(find_problem(pic, "not finished setting it up")->err, -EAGAIN);
	tree_unlink(&w.tree, "ledgers/tidemark.1.2.3");
	/* Only these processes'. */
	const int32_t pids[] = { first, 70001 };
	w.options.pids = pids;
	w.options.pid_count = 2;
	pic = world_look_anew(&w);
	assert_int_equal(pic->process_count, 2);
	ASSERT_U64(pic->others, 1);
	ASSERT_U64(pic->devices[0].kinds[0].used, 200);
	/* Only these files. */
	snprintf(given, sizeof given, "%s", world_ledger_path(&w, second));
	const char *paths[] = { given, "/nowhere/at/all", NULL };
	w.options.paths = paths;
	w.options.pids = NULL;
	pic = world_look_anew(&w);
	assert_int_equal(pic->process_count, 1);
	assert_int_equal(pic->processes[0].pid, second);
	assert_string_equal(pic->processes[0].ledger, given);
	assert_int_equal(pic->problem_count, 1);
	assert_true(pic->problems[0].is_unread);
	assert_int_equal(find_problem(pic, "/nowhere/at/all")->err, -ENOENT);
	/* None, because there is no such folder. */
	w.options.paths = NULL;
	w.options.ledger_dir = "/nowhere/at/all";
	pic = world_look_anew(&w);
	assert_int_equal(pic->ledgers_err, -ENOENT);
	assert_string_equal(tdm_state_ledger_dir(w.state), "/nowhere/at/all");
	assert_int_equal(pic->process_count, 0);
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_container),
		cmocka_unit_test(test_handles),
		cmocka_unit_test(test_twins),
		cmocka_unit_test(test_generations),
		cmocka_unit_test(test_given_ledgers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
