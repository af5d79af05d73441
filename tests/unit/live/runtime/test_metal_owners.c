/* Who owns the bytes in tt-metal's shared memory: processes that run, have ended, or cannot be identified; and
 * /proc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "live/runtime/metal_shm.h"

#include "fake_tree.h"
#include "metal_bytes.h"
#include "metal_valid.h"

#include <signal.h>
#include <sys/wait.h>

/* The machine of these tests started at this second; a tick is what the system says. */
#define BOOTED 1787270000

enum { ME = 1000, OTHER = 1001 };

static unsigned long long ticks_at(double seconds)
{
	return (unsigned long long)(seconds * (double)sysconf(_SC_CLK_TCK));
}

static void make_proc(struct tree *tree)
{
	char text[64];
	snprintf(text, sizeof text, "cpu  1 2 3\nbtime %d\nprocesses 5\n", BOOTED);
	tree_text(tree, "proc/stat", text);
}

static void open_proc(struct tree *tree, struct tdm_proc_root *root)
{
	tdm_proc_root_init(root, tree_path(tree, "proc"));
	assert_int_equal(root->err, 0);
	assert_false(root->is_system);
	root->uid = ME;
}

/* `count` processes from pid 100 on, each with 10 bytes of DRAM more than the one before; 7 in no slot. */
static void make_region(struct tree *tree, const char *name, size_t count)
{
	struct metal_bytes m;
	uint64_t total = 7;
	metal_init(&m, 3, &metal_common);
	metal_u32(&m, 4, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		metal_slot(&m, i, 100 + (int32_t)i, "train", METAL_TIME);
		metal_slot_bytes(&m, i, 0, 10 * (i + 1));
		total += 10 * (i + 1);
	}
	metal_total(&m, 0, total);
	tree_bytes(tree, name, m.data, TDM_METAL_SIZE);
}

static void read_list(struct tree *tree, struct tdm_metal_list *list)
{
	assert_int_equal(tdm_metal_list_read(list, NULL, tree_path(tree, "shm")), 0);
	assert_int_equal(list->count, 1);
	assert_int_equal(list->regions[0].status, TDM_METAL_OK);
}

static void judge(struct tree *tree, struct tdm_metal_list *list, const struct tdm_metal_list *before)
{
	struct tdm_proc_root root;
	open_proc(tree, &root);
	tdm_metal_judge(list, before, &root);
	tdm_proc_root_done(&root);
	for (size_t i = 0; i < list->count; i++)
		assert_true(metal_region_is_valid(&list->regions[i]));
}

static void test_every_life(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_metal_list list = { 0 };
	tree_init(&tree);
	make_proc(&tree);
	make_region(&tree, "shm/tt_device_1_memory", 6);
	double seen = (double)(METAL_TIME / 1000000000 - BOOTED);
	tree_process(&tree, "proc", (struct tree_process){ 100, ME, 'R', ticks_at(1), "train", NULL });
	tree_process(&tree, "proc", (struct tree_process){ 101, OTHER, 'S', ticks_at(1), "train", NULL });
	/* 102 is gone */
	tree_process(&tree, "proc", (struct tree_process){ 103, ME, 'Z', ticks_at(1), "train", NULL });
	tree_process(&tree, "proc", (struct tree_process){ 104, ME, 'S', ticks_at(seen + 60), "bash", NULL });
	tree_process(&tree, "proc", (struct tree_process){ 105, ME, 'S', ticks_at(seen + 1), "renamed", NULL });
	read_list(&tree, &list);
	judge(&tree, &list, NULL);
	const struct tdm_metal_region *r = &list.regions[0];
	const struct tdm_metal_slot *s = r->slots;
	static const uint8_t lives[] = { TDM_PROC_ALIVE, TDM_PROC_OTHER_USER, TDM_PROC_DEAD, TDM_PROC_DEAD,
		TDM_PROC_DEAD, TDM_PROC_ALIVE };
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(s[i].life, lives[i]);
	assert_string_equal(s[0].facts.comm, "train");
	assert_string_equal(s[0].facts.command, "/usr/bin/train --model llama");
	assert_int_equal(s[0].facts.uid, ME);
	assert_int_equal(s[1].facts.uid, OTHER);
	assert_int_equal(s[2].facts.err, -ENOENT);
	assert_true(s[4].reused && !s[2].reused && !s[3].reused && !s[5].reused);
	assert_string_equal(s[4].facts.comm, ""); /* nothing of the process that has the pid now */
	assert_true(s[5].facts.start_time == ticks_at(seen + 1));
	assert_true(tdm_metal_name_agrees(&s[0]) && !tdm_metal_name_agrees(&s[5]));

	assert_int_equal(r->live.of[TDM_KIND_DRAM], 10 + 20 + 60);
	assert_int_equal(r->stale.of[TDM_KIND_DRAM], 30 + 40 + 50);
	assert_int_equal(r->undecided.of[TDM_KIND_DRAM], 0);
	assert_int_equal(r->unattributed.of[TDM_KIND_DRAM], 7);
	assert_int_equal(r->total.of[TDM_KIND_DRAM], 217);
	tdm_metal_list_done(&list);
	tree_done(&tree);
}

/* The bytes are the same before and after a process is killed; only /proc differs. */
static void test_killed(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_metal_list list = { 0 };
	uint8_t bytes[TDM_METAL_SIZE];
	tree_init(&tree);
	make_proc(&tree);
	int fd = open(TDM_TEST_DATA "/shm/v3_two_writers.bin", O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, bytes, sizeof bytes), TDM_METAL_SIZE);
	close(fd);
	tree_bytes(&tree, "shm/tt_device_4242_memory", bytes, sizeof bytes);
	tree_process(&tree, "proc", (struct tree_process){ 28558, ME, 'S', 0, "shm_writer", NULL });
	tree_process(&tree, "proc", (struct tree_process){ 28560, ME, 'S', 0, "shm_writer", NULL });
	read_list(&tree, &list);
	judge(&tree, &list, NULL);
	const struct tdm_metal_region *r = &list.regions[0];
	assert_int_equal(r->live.of[TDM_KIND_DRAM], 4048576);
	assert_int_equal(r->stale.of[TDM_KIND_DRAM], 0);
	tree_unlink(&tree, "proc/28560");
	judge(&tree, &list, NULL);
	assert_int_equal(r->live.of[TDM_KIND_DRAM], 1048576);
	assert_int_equal(r->live.of[TDM_KIND_CB], 77777);
	assert_int_equal(r->stale.of[TDM_KIND_DRAM], 3000000);
	assert_int_equal(r->stale.of[TDM_KIND_CB], 500);
	assert_int_equal(r->unattributed.of[TDM_KIND_DRAM], 0);
	tdm_metal_list_done(&list);
	tree_done(&tree);
}

static void test_releasing_is_stale(void **state)
{
	(void)state;
	struct tree tree;
	struct metal_bytes m;
	struct tdm_metal_list list = { 0 };
	tree_init(&tree);
	make_proc(&tree);
	metal_sample(&m, 4, &metal_common);
	metal_slot(&m, 0, -1, "train", METAL_TIME);
	tree_bytes(&tree, "shm/tt_device_1_memory", m.data, TDM_METAL_SIZE);
	read_list(&tree, &list);
	judge(&tree, &list, NULL);
	assert_int_equal(list.regions[0].stale.of[TDM_KIND_DRAM], 1000);
	tdm_metal_list_done(&list);
	tree_done(&tree);
}

static void test_no_proc(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_proc_root root;
	struct tdm_metal_list list = { 0 };
	tree_init(&tree);
	make_region(&tree, "shm/tt_device_1_memory", 2);
	read_list(&tree, &list);
	tdm_proc_root_init(&root, tree_path(&tree, "proc"));
	assert_int_equal(root.err, -ENOENT);
	tdm_metal_judge(&list, NULL, &root);
	tdm_proc_root_done(&root);
	assert_int_equal(list.regions[0].slots[0].life, TDM_PROC_UNKNOWN);
	assert_int_equal(list.regions[0].undecided.of[TDM_KIND_DRAM], 30);
	assert_int_equal(list.regions[0].stale.of[TDM_KIND_DRAM], 0);
	tdm_metal_list_done(&list);
	tree_done(&tree);
}

static void test_container(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_metal_list list = { 0 };
	tree_init(&tree);
	make_proc(&tree);
	make_region(&tree, "shm/tt_device_1_memory", 3);
	tree_process(&tree, "proc", (struct tree_process){ 5000, OTHER, 'S', 0, "train", "7\t100" });
	tree_process(&tree, "proc", (struct tree_process){ 5001, OTHER, 'S', 0, "nginx", "101" });
	tree_process(&tree, "proc", (struct tree_process){ 5002, OTHER, 'S', 0, "train", "103" });
	read_list(&tree, &list);
	judge(&tree, &list, NULL);
	const struct tdm_metal_region *r = &list.regions[0];
	assert_int_equal(r->slots[0].life, TDM_PROC_UNKNOWN);
	assert_int_equal(r->slots[0].nested_as, 5000);
	assert_int_equal(r->slots[1].life, TDM_PROC_DEAD); /* the name is another */
	assert_int_equal(r->slots[2].life, TDM_PROC_DEAD);
	assert_int_equal(r->undecided.of[TDM_KIND_DRAM], 10);
	assert_int_equal(r->stale.of[TDM_KIND_DRAM], 50);
	tdm_metal_list_done(&list);
	tree_done(&tree);
}

/* The numbers of a container are small: here threads of Linux itself have them, or anybody. */
static void test_container_with_our_numbers(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_metal_list list = { 0 };
	tree_init(&tree);
	make_proc(&tree);
	make_region(&tree, "shm/tt_device_1_memory", 3);
	tree_text(&tree, "proc/100/stat", "100 (kworker/0:1) I 2 0 0 0 -1 69238880 0 0 0 0 0 0 0 0 20 0 1 0 7 0 0\n");
	tree_text(&tree, "proc/100/comm", "kworker/0:1\n");
	tree_text(&tree, "proc/100/status", "Name:\tkworker/0:1\nUid:\t0\t0\t0\t0\nNSpid:\t100\n");
	tree_process(&tree, "proc", (struct tree_process){ 101, ME, 'S', ticks_at(1), "bash", NULL });
	tree_process(&tree, "proc", (struct tree_process){ 102, ME, 'S', ticks_at(1), "renamed", NULL });
	tree_process(&tree, "proc", (struct tree_process){ 5001, OTHER, 'S', 0, "train", "101" });
	read_list(&tree, &list);
	judge(&tree, &list, NULL);
	const struct tdm_metal_region *r = &list.regions[0];
	assert_int_equal(r->slots[0].life, TDM_PROC_DEAD); /* no thread of Linux itself has a device */
	assert_int_equal(r->slots[0].nested_as, 0);
	assert_string_equal(r->slots[0].facts.comm, "");
	assert_int_equal(r->slots[1].life, TDM_PROC_UNKNOWN);
	assert_int_equal(r->slots[1].nested_as, 5001);
	assert_string_equal(r->slots[1].facts.comm, "");
	assert_int_equal(r->slots[2].life, TDM_PROC_ALIVE); /* nobody else could be meant */
	assert_string_equal(r->slots[2].facts.comm, "renamed");
	tree_process(&tree, "proc", (struct tree_process){ 5000, OTHER, 'S', 0, "train", "100" });
	judge(&tree, &list, NULL);
	assert_int_equal(r->slots[0].nested_as, 5000);
	tdm_metal_list_done(&list);
	tree_done(&tree);
}

/* From inside a container: who is not there may run outside, if somebody does. */
static void test_outsiders(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_metal_list list = { 0 };
	struct tdm_proc_root root;
	tree_init(&tree);
	make_proc(&tree);
	make_region(&tree, "shm/tt_device_1_memory", 3);
	read_list(&tree, &list);
	open_proc(&tree, &root);
	tdm_metal_judge(&list, NULL, &root);
	assert_int_equal(list.regions[0].slots[0].life, TDM_PROC_DEAD);
	root.has_outsiders = true;
	tdm_metal_judge(&list, NULL, &root);
	assert_int_equal(list.regions[0].slots[0].life, TDM_PROC_UNKNOWN);
	assert_int_equal(list.regions[0].stale.of[TDM_KIND_DRAM], 0);
	tdm_proc_root_done(&root);
	tdm_metal_list_done(&list);
	tree_done(&tree);
}

/* A pid that is not there writes on: it is one of another namespace. */
static void test_writes_on(void **state)
{
	(void)state;
	struct tree tree;
	struct metal_bytes m;
	struct tdm_metal_list before = { 0 }, after = { 0 };
	tree_init(&tree);
	make_proc(&tree);
	metal_sample(&m, 3, &metal_common);
	tree_bytes(&tree, "shm/tt_device_1_memory", m.data, TDM_METAL_SIZE);
	read_list(&tree, &before);
	judge(&tree, &before, NULL);
	assert_int_equal(before.regions[0].slots[0].life, TDM_PROC_DEAD);
	metal_slot(&m, 0, 4242, "python3", METAL_TIME + 1000);
	tree_bytes(&tree, "shm/tt_device_1_memory", m.data, TDM_METAL_SIZE);
	read_list(&tree, &after);
	judge(&tree, &after, &before);
	assert_int_equal(after.regions[0].slots[0].life, TDM_PROC_UNKNOWN);
	metal_slot(&m, 0, 4243, "python3", METAL_TIME + 2000); /* another process came and went */
	tree_bytes(&tree, "shm/tt_device_1_memory", m.data, TDM_METAL_SIZE);
	read_list(&tree, &after);
	judge(&tree, &after, &before);
	assert_int_equal(after.regions[0].slots[0].life, TDM_PROC_DEAD);
	tdm_metal_list_done(&before);
	tdm_metal_list_done(&after);
	tree_done(&tree);
}

static void test_unreadable_process(void **state)
{
	(void)state;
	enum { NOBODY = 65534 };
	struct tree tree;
	struct tdm_proc_root root;
	struct tdm_proc_facts facts;
	bool was_root = geteuid() == 0;
	tree_init(&tree);
	make_proc(&tree);
	tree_process(&tree, "proc", (struct tree_process){ 100, ME, 'S', 0, "train", NULL });
	assert_int_equal(chmod(tree_path(&tree, "proc/100"), 0), 0);
	open_proc(&tree, &root);
	if (was_root && seteuid(NOBODY) != 0)
		skip();
	enum tdm_proc_life life = tdm_proc_judge(&root, 100, 0, &facts);
	if (was_root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(life, TDM_PROC_OTHER_USER);
	assert_int_equal(facts.err, -EACCES);
	assert_int_equal(facts.uid, TDM_UID_UNKNOWN);
	tdm_proc_root_done(&root);
	assert_int_equal(chmod(tree_path(&tree, "proc/100"), 0755), 0);
	tree_done(&tree);
}

static void test_odd_facts(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_proc_root root;
	struct tdm_proc_facts facts;
	tree_init(&tree);
	make_proc(&tree);
	tree_dir(&tree, "proc/100"); /* nothing but the folder: it is there */
	tree_text(&tree, "proc/101/stat", "101 (a) b) (c) S 1");
	tree_text(&tree, "proc/101/comm", "a) b) (c\n");
	tree_text(&tree, "proc/101/status", "Name:\tx\nUid:\tnobody\n");
	tree_bytes(&tree, "proc/101/cmdline", "\0\0\0", 3);
	tree_text(&tree, "proc/102/stat", "102 ((sd-pam)) S 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 20 0 1 0 4711 9");
	tree_text(&tree, "proc/102/comm", "\033[31mred");
	assert_int_equal(mkfifo(tree_path(&tree, "proc/102/cmdline"), 0600), 0);
	open_proc(&tree, &root);
	assert_int_equal(tdm_proc_judge(&root, 100, METAL_TIME, &facts), TDM_PROC_ALIVE);
	assert_int_equal(facts.err, 0);
	assert_int_equal(facts.text_err, -ENOENT);
	assert_int_equal(facts.state, '?');
	tdm_proc_facts_read(&root, 101, &facts);
	assert_int_equal(facts.state, 'S');
	assert_int_equal(facts.start_time, 0);
	assert_int_equal(facts.uid, TDM_UID_UNKNOWN);
	assert_string_equal(facts.comm, "a) b) (c");
	assert_string_equal(facts.command, "");
	tdm_proc_facts_read(&root, 102, &facts);
	assert_int_equal(facts.start_time, 4711);
	assert_string_equal(facts.comm, "?[31mred");
	assert_int_equal(facts.text_err, -EINVAL);
	static const int32_t none[] = { 0, -1, INT32_MIN };
	for (size_t i = 0; i < 3; i++) {
		tdm_proc_facts_read(&root, none[i], &facts);
		assert_int_equal(facts.err, -EINVAL);
	}
	tdm_proc_root_done(&root);
	tree_done(&tree);
}

/* The running system: this process, and a child that is killed. */
static void test_system(void **state)
{
	(void)state;
	struct tdm_proc_root root;
	struct tdm_proc_facts facts;
	assert_int_equal(unsetenv("TIDEMARK_PROC_ROOT"), 0);
	tdm_proc_root_init(&root, NULL);
	assert_true(root.is_system);
	/* Exact, not in whole seconds; whoever reads two clocks may be interrupted in between. */
	uint64_t up = tdm_clock_read(CLOCK_BOOTTIME), booted = tdm_clock_real_ns() - up;
	assert_in_range(root.booted_ns, booted - 50 * TDM_NS_PER_MS, booted + TDM_NS_PER_MS);
	assert_int_equal(tdm_proc_judge(&root, getpid(), 0, &facts), TDM_PROC_ALIVE);
	assert_int_equal(facts.uid, geteuid());
	assert_true(facts.start_time != 0 && facts.started_ns != 0 && facts.command[0] != '\0');
	/* Seen long before it started: that was another process. */
	assert_int_equal(tdm_proc_judge(&root, getpid(), METAL_TIME / 1000, &facts), TDM_PROC_DEAD);
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(tdm_proc_judge(&root, child, 0, &facts), TDM_PROC_ALIVE);
	kill(child, SIGKILL);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(tdm_proc_judge(&root, child, 0, &facts), TDM_PROC_DEAD); /* a zombie */
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(tdm_proc_judge(&root, child, 0, &facts), TDM_PROC_DEAD);
	assert_int_equal(facts.err, -ENOENT);
	tdm_proc_root_done(&root);
}

static void test_root_path(void **state)
{
	(void)state;
	assert_string_equal(tdm_proc_path("/x"), "/x");
	assert_int_equal(setenv("TIDEMARK_PROC_ROOT", "/elsewhere", 1), 0);
	assert_string_equal(tdm_proc_path(NULL), "/elsewhere");
	assert_int_equal(unsetenv("TIDEMARK_PROC_ROOT"), 0);
	assert_string_equal(tdm_proc_path(NULL), "/proc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_life),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_releasing_is_stale),
		cmocka_unit_test(test_no_proc),
		cmocka_unit_test(test_container),
		cmocka_unit_test(test_container_with_our_numbers),
		cmocka_unit_test(test_outsiders),
		cmocka_unit_test(test_writes_on),
		cmocka_unit_test(test_unreadable_process),
		cmocka_unit_test(test_odd_facts),
		cmocka_unit_test(test_system),
		cmocka_unit_test(test_root_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
