/* The files of tt-metal's shared memory: names, folders, files that move, and other files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "live/runtime/metal_shm.h"

#include "fake_tree.h"
#include "metal_bytes.h"
#include "metal_refused.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

#define GOLDEN_ID   4242
#define GOLDEN_NAME "tt_device_4242_memory"

/* What the real runtime wrote, two processes at once. */
static void load(struct metal_bytes *m)
{
	int fd = open(TDM_TEST_DATA "/shm/v3_two_writers.bin", O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, m->data, sizeof m->data), TDM_METAL_SIZE);
	m->layout = &metal_common;
	close(fd);
}

static void test_names(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		bool is_region, has_id;
		uint64_t id;
	} cases[] = {
		{ "tt_device_0_memory", true, true, 0 },
		{ "tt_device_18446744073709551615_memory", true, true, UINT64_MAX },
		{ "tt_device_18446744073709551616_memory", true, false, 0 },
		{ "tt_device_07_memory", true, false, 0 },
		{ "tt_device_-1_memory", true, false, 0 },
		{ "tt_device__memory", true, false, 0 },
		{ "tt_device_x_memory", true, false, 0 },
		{ "tt_device_memory", false, false, 0 },
		{ "tt_device_7_memory.old", false, false, 0 },
		{ "sem.tt_device_7_memory", false, false, 0 },
		{ "", false, false, 0 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bool has_id;
		uint64_t id = 0;
		assert_int_equal(tdm_metal_name_parse(cases[i].name, &has_id, &id), cases[i].is_region);
		assert_int_equal(has_id, cases[i].has_id);
		if (has_id)
			assert_true(id == cases[i].id);
	}
}

static void put(struct tree *tree, const char *name, const struct metal_bytes *m)
{
	tree_bytes(tree, name, m->data, m->layout->size);
}

static void read_one(struct tree *tree, const char *name, struct tdm_metal_region *r)
{
	int fd = open(tree->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	tdm_metal_read(fd, name, 0, false, NULL, r);
	close(fd);
	assert_true(metal_region_is_valid(r));
	assert_string_equal(r->name, name);
}

static void test_read_file(void **state)
{
	(void)state;
	struct tree tree;
	struct metal_bytes m, again;
	struct tdm_metal_region r;
	struct stat before, after;
	tree_init(&tree);
	load(&m);
	put(&tree, GOLDEN_NAME, &m);
	assert_int_equal(chmod(tree_path(&tree, GOLDEN_NAME), 0400), 0);
	assert_int_equal(stat(tree_path(&tree, GOLDEN_NAME), &before), 0);
	read_one(&tree, GOLDEN_NAME, &r);
	assert_int_equal(r.status, TDM_METAL_OK);
	assert_int_equal(r.doubts, 0);
	assert_true(r.asic_id == GOLDEN_ID && r.total.of[TDM_KIND_DRAM] == 4048576);
	assert_int_equal(r.slot_count, 2);
	assert_false(r.moving);
	assert_true(r.has_file && r.has_name_id && r.name_id == GOLDEN_ID);
	assert_int_equal(r.uid, geteuid());
	assert_int_equal(r.mode, 0400);
	assert_int_equal(r.length, TDM_METAL_SIZE);
	assert_true(r.inode_no == before.st_ino && r.device_no == before.st_dev);

	/* It was only read. */
	assert_int_equal(stat(tree_path(&tree, GOLDEN_NAME), &after), 0);
	assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof after.st_mtim);
	assert_memory_equal(&before.st_ctim, &after.st_ctim, sizeof after.st_ctim);
	int fd = open(tree_path(&tree, GOLDEN_NAME), O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, again.data, sizeof again.data), TDM_METAL_SIZE);
	close(fd);
	assert_memory_equal(again.data, m.data, TDM_METAL_SIZE);

	put(&tree, "tt_device_4243_memory", &m);
	read_one(&tree, "tt_device_4243_memory", &r);
	assert_int_equal(r.doubts, 1 << TDM_METAL_DOUBT_ID_DIFFERS);
	put(&tree, "tt_device_x_memory", &m); /* nothing to compare with */
	read_one(&tree, "tt_device_x_memory", &r);
	assert_int_equal(r.doubts, 0);
	assert_false(r.has_name_id);
	tree_done(&tree);
}

static void test_wrong_lengths(void **state)
{
	(void)state;
	struct tree tree;
	struct metal_bytes m;
	struct tdm_metal_region r;
	uint8_t large[20000] = { 3 };
	tree_init(&tree);
	load(&m);
	tree_bytes(&tree, "tt_device_1_memory", m.data, 100);
	read_one(&tree, "tt_device_1_memory", &r);
	assert_refused(&r, TDM_METAL_LENGTH, "100 bytes, but version 3 has 8576");
	tree_bytes(&tree, "tt_device_1_memory", m.data, TDM_METAL_SIZE + 1);
	read_one(&tree, "tt_device_1_memory", &r);
	assert_refused(&r, TDM_METAL_LENGTH, "8577 bytes, but version 3 has 8576");
	tree_bytes(&tree, "tt_device_1_memory", large, sizeof large);
	read_one(&tree, "tt_device_1_memory", &r);
	assert_refused(&r, TDM_METAL_LENGTH, "at least 9281 bytes, but version 3 has 8576");
	tree_bytes(&tree, "tt_device_1_memory", "", 0);
	read_one(&tree, "tt_device_1_memory", &r);
	assert_refused(&r, TDM_METAL_NOT_READY, NULL);
	tree_done(&tree);
}

static void test_no_files(void **state)
{
	(void)state;
	struct tree tree;
	struct metal_bytes m;
	struct tdm_metal_region r;
	tree_init(&tree);
	load(&m);
	put(&tree, "target", &m);
	tree_dir(&tree, "tt_device_1_memory");
	read_one(&tree, "tt_device_1_memory", &r);
	assert_refused(&r, TDM_METAL_NOT_A_FILE, "a directory, not a file");
	tree_link(&tree, "tt_device_2_memory", "target");
	read_one(&tree, "tt_device_2_memory", &r);
	assert_refused(&r, TDM_METAL_NOT_A_FILE, "a symbolic link, not a file");
	assert_int_equal(mkfifo(tree_path(&tree, "tt_device_3_memory"), 0600), 0);
	read_one(&tree, "tt_device_3_memory", &r);
	assert_refused(&r, TDM_METAL_NOT_A_FILE, "a pipe, not a file");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	snprintf(address.sun_path, sizeof address.sun_path, "%s/tt_device_4_memory", tree.root);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
	read_one(&tree, "tt_device_4_memory", &r);
	assert_refused(&r, TDM_METAL_NOT_A_FILE, "a socket, not a file");
	close(fd);
	read_one(&tree, "tt_device_5_memory", &r);
	assert_refused(&r, TDM_METAL_VANISHED, NULL);
	assert_int_equal(r.err, -ENOENT);
	tree_done(&tree);
}

static void test_denied(void **state)
{
	(void)state;
	enum { NOBODY = 65534 };
	struct tree tree;
	struct metal_bytes m;
	struct tdm_metal_region r;
	char text[80];
	bool was_root = geteuid() == 0;
	tree_init(&tree);
	load(&m);
	put(&tree, GOLDEN_NAME, &m);
	assert_int_equal(chmod(tree_path(&tree, GOLDEN_NAME), was_root ? 0600 : 0), 0);
	if (was_root && seteuid(NOBODY) != 0) {
		tree_done(&tree);
		skip();
	}
	read_one(&tree, GOLDEN_NAME, &r);
	if (was_root)
		assert_int_equal(seteuid(0), 0);
	snprintf(text, sizeof text, "permission denied: it belongs to user %u, mode %03o", geteuid(),
		was_root ? 0600 : 0);
	assert_refused(&r, TDM_METAL_DENIED, text);
	assert_int_equal(r.err, -EACCES);
	assert_true(r.has_file && r.name_id == GOLDEN_ID);
	tree_done(&tree);
}

/* ---- files that move ---- */

/* A file that is another one at each reading. */
struct script {
	struct metal_bytes m;
	ssize_t len[8]; /* what each reading gives; negative: an error */
	int moves;      /* so many readings differ from the one before */
	int reads;
	const struct tdm_metal_region *before;
};

static ssize_t read_script(void *context, uint8_t *copy)
{
	struct script *script = context;
	ssize_t len = script->len[script->reads];
	if (script->reads++ < script->moves)
		metal_total(&script->m, 0, 2000 + (uint64_t)script->reads);
	if (len > 0)
		memcpy(copy, script->m.data, (size_t)len);
	return len;
}

static void run_script(struct script *script, struct tdm_metal_region *r)
{
	metal_sample(&script->m, 3, &metal_common);
	for (size_t i = 0; i < sizeof script->len / sizeof *script->len; i++)
		if (script->len[i] == 0)
			script->len[i] = TDM_METAL_SIZE;
	metal_region_init(r);
	tdm_metal_read_settled(read_script, script, script->before, r);
	assert_true(metal_region_is_valid(r));
}

static void test_settles(void **state)
{
	(void)state;
	struct tdm_metal_region r;
	struct script still = { .moves = 0 };
	run_script(&still, &r);
	assert_int_equal(still.reads, 2);
	assert_false(r.moving);
	struct script twice = { .moves = 3 };
	run_script(&twice, &r);
	assert_int_equal(twice.reads, 4);
	assert_false(r.moving);
	assert_int_equal(r.total.of[TDM_KIND_DRAM], 2003);
	struct script always = { .moves = 100 };
	run_script(&always, &r);
	assert_int_equal(always.reads, 5);
	assert_true(r.moving);
	assert_int_equal(r.status, TDM_METAL_OK);
	assert_int_equal(r.total.of[TDM_KIND_DRAM], 2005); /* the last one */
}

/* What is as it was in an earlier reading is read once; what is not, or was not settled then, as if there were none. */
static void test_settled_before(void **state)
{
	(void)state;
	struct tdm_metal_region r, before, unsettled;
	struct script first = { .moves = 0 };
	run_script(&first, &before);
	assert_int_equal(before.settled, TDM_METAL_SIZE);
	struct script same = { .before = &before };
	run_script(&same, &r);
	assert_int_equal(same.reads, 1);
	assert_false(r.moving);
	assert_int_equal(r.status, TDM_METAL_OK);
	assert_int_equal(r.length, TDM_METAL_SIZE);
	assert_int_equal(r.settled, TDM_METAL_SIZE);
	assert_memory_equal(r.copy, before.copy, TDM_METAL_SIZE);
	struct script moved = { .moves = 1, .before = &before };
	run_script(&moved, &r);
	assert_int_equal(moved.reads, 2);
	assert_int_equal(r.total.of[TDM_KIND_DRAM], 2001);
	assert_memory_equal(r.copy, moved.m.data, TDM_METAL_SIZE);
	struct script cut = { .len = { 4000, 4000 }, .before = &before };
	run_script(&cut, &r);
	assert_int_equal(cut.reads, 2);
	assert_refused(&r, TDM_METAL_LENGTH, NULL);
	struct script always = { .moves = 100 }, after = { .before = &unsettled };
	run_script(&always, &unsettled);
	assert_int_equal(unsettled.settled, 0);
	run_script(&after, &r);
	assert_int_equal(after.reads, 2);
	struct script fails = { .len = { -EIO }, .before = &before };
	run_script(&fails, &r);
	assert_refused(&r, TDM_METAL_FAILED, NULL);
	assert_int_equal(r.settled, 0);
}

static void test_grows(void **state)
{
	(void)state;
	struct tdm_metal_region r;
	struct script grown = { .len = { 4000, 8000 } }; /* and then it has its length */
	run_script(&grown, &r);
	assert_int_equal(r.status, TDM_METAL_OK);
	assert_false(r.moving);
	struct script grows = { .len = { 4000, 4001, 4002, 4003, 4004, 4005 } };
	run_script(&grows, &r);
	assert_refused(&r, TDM_METAL_CHANGING, "its length changes while it is read: 4003 bytes, then 4004");
	assert_true(r.moving);
	struct script cut = { .len = { TDM_METAL_SIZE, 4000, 4000 } };
	run_script(&cut, &r);
	assert_refused(&r, TDM_METAL_LENGTH, NULL);
}

static void test_read_fails(void **state)
{
	(void)state;
	struct tdm_metal_region r;
	struct script at_once = { .len = { -EIO } };
	run_script(&at_once, &r);
	assert_refused(&r, TDM_METAL_FAILED, NULL);
	assert_int_equal(r.err, -EIO);
	struct script later = { .len = { TDM_METAL_SIZE, -EIO } };
	run_script(&later, &r);
	assert_refused(&r, TDM_METAL_FAILED, NULL);
	assert_int_equal(later.reads, 2);
}

/* A thread that does to the file whatever can be done to it. */
struct mover {
	const char *path;
	atomic_bool stop;
};

static void *move_file(void *arg)
{
	struct mover *mover = arg;
	struct metal_bytes m;
	metal_sample(&m, 3, &metal_common);
	for (unsigned i = 0; !atomic_load(&mover->stop); i++) {
		int fd = open(mover->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		metal_total(&m, 0, 1000 + i);
		if (fd < 0 || pwrite(fd, m.data, TDM_METAL_SIZE, 0) != TDM_METAL_SIZE)
			abort();
		if (i % 4 == 1 && ftruncate(fd, 4000) != 0)
			abort();
		if (i % 8 == 2)
			unlink(mover->path);
		close(fd);
	}
	return NULL;
}

static void test_against_a_writer(void **state)
{
	(void)state;
	enum { READS = 2000 };
	const uint32_t allowed = 1 << TDM_METAL_OK | 1 << TDM_METAL_NOT_READY | 1 << TDM_METAL_LENGTH |
				 1 << TDM_METAL_CHANGING | 1 << TDM_METAL_VANISHED;
	struct tree tree;
	struct tdm_metal_region r;
	pthread_t thread;
	char path[PATH_MAX];
	uint32_t seen = 0;
	tree_init(&tree);
	snprintf(path, sizeof path, "%s", tree_path(&tree, "tt_device_9_memory"));
	struct mover mover = { .path = path };
	assert_int_equal(pthread_create(&thread, NULL, move_file, &mover), 0);
	for (int i = 0; i < READS; i++) {
		read_one(&tree, "tt_device_9_memory", &r);
		seen |= UINT32_C(1) << r.status;
	}
	atomic_store(&mover.stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(seen & ~allowed, 0);
	tree_done(&tree);
}

/* ---- folders ---- */

static void test_list(void **state)
{
	(void)state;
	struct tree tree;
	struct metal_bytes m;
	struct tdm_metal_list list = { 0 };
	tree_init(&tree);
	metal_sample(&m, 3, &metal_common);
	put(&tree, "tt_device_20_memory", &m);
	put(&tree, "tt_device_3_memory", &m);
	put(&tree, "tt_device_b_memory", &m);
	put(&tree, "tt_device_a_memory", &m);
	put(&tree, "another_file", &m);
	tree_dir(&tree, "tt_device_100_memory");
	static const char *const names[] = { "tt_device_3_memory", "tt_device_20_memory", "tt_device_100_memory",
		"tt_device_a_memory", "tt_device_b_memory" };
	for (int round = 0; round < 2; round++) { /* a list can be read again */
		assert_int_equal(tdm_metal_list_read(&list, NULL, tree.root), 0);
		assert_int_equal(list.count, 5);
		assert_int_equal(list.cut, 0);
		for (size_t i = 0; i < 5; i++)
			assert_string_equal(list.regions[i].name, names[i]);
	}
	/* With one before it, of which a file is gone and another one is new. */
	struct tdm_metal_list again = { 0 };
	assert_int_equal(unlink(tree_path(&tree, "tt_device_3_memory")), 0);
	metal_total(&m, 0, 2001);
	put(&tree, "tt_device_4_memory", &m);
	put(&tree, "tt_device_20_memory", &m);
	assert_int_equal(tdm_metal_list_read(&again, &list, tree.root), 0);
	assert_int_equal(again.count, 5);
	assert_string_equal(again.regions[0].name, "tt_device_4_memory");
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(again.regions[i].status, i == 2 ? TDM_METAL_NOT_A_FILE : TDM_METAL_OK);
		assert_int_equal(again.regions[i].settled, i == 2 ? 0 : TDM_METAL_SIZE);
	}
	assert_int_equal(again.regions[1].total.of[TDM_KIND_DRAM], 2001);
	assert_int_equal(again.regions[3].total.of[TDM_KIND_DRAM], list.regions[3].total.of[TDM_KIND_DRAM]);
	tdm_metal_list_done(&again);
	/* By the environment; a folder that is given counts more. */
	assert_int_equal(setenv("TIDEMARK_SHM_DIR", tree.root, 1), 0);
	assert_int_equal(tdm_metal_list_read(&list, NULL, NULL), 0);
	assert_int_equal(list.count, 5);
	assert_string_equal(tdm_metal_path("/x"), "/x");
	assert_int_equal(setenv("TIDEMARK_SHM_DIR", "", 1), 0);
	assert_string_equal(tdm_metal_path(NULL), "/dev/shm");
	assert_int_equal(unsetenv("TIDEMARK_SHM_DIR"), 0);
	assert_string_equal(tdm_metal_path(NULL), "/dev/shm");

	assert_int_equal(tdm_metal_list_read(&list, NULL, tree_path(&tree, "nowhere")), -ENOENT);
	assert_int_equal(list.err, -ENOENT);
	assert_int_equal(list.count, 0);
	assert_int_equal(tdm_metal_list_read(&list, NULL, tree_path(&tree, "another_file")), -ENOTDIR);
	tdm_metal_list_done(&list);
	tree_done(&tree);
}

/* A list leaves its files open for the next one, which must notice what happened to them. */
static void test_list_again(void **state)
{
	(void)state;
	struct tree tree;
	struct metal_bytes m;
	struct tdm_metal_list lists[2] = { 0 };
	static const char first[] = "tt_device_3_memory", second[] = "tt_device_4_memory";
	enum { ROUNDS = 5 };
	static const uint64_t totals[ROUNDS][2] = { { 1, 2 }, { 1, 2 }, { 11, 2 }, { 11, 22 }, { 11, 222 } };
	tree_init(&tree);
	metal_sample(&m, 3, &metal_common);
	for (int round = 0; round < ROUNDS; round++) {
		struct tdm_metal_list *list = &lists[round % 2], *before = &lists[(round + 1) % 2];
		char other[PATH_MAX];
		metal_total(&m, 0, totals[round][0]);
		if (round != 1) /* nothing changes; then in place */
			put(&tree, first, &m);
		metal_total(&m, 0, totals[round][1]);
		snprintf(other, sizeof other, "%s", tree_path(&tree, "other"));
		if (round == 0 || round == 3) { /* a new file replaces it */
			put(&tree, "other", &m);
			assert_int_equal(rename(other, tree_path(&tree, second)), 0);
		}
		if (round == 4) { /* it is deleted and made again */
			assert_int_equal(unlink(tree_path(&tree, second)), 0);
			put(&tree, second, &m);
		}
		assert_int_equal(tdm_metal_list_read(list, before, tree.root), 0);
		assert_int_equal(list->count, 2);
		for (size_t i = 0; i < 2; i++) {
			assert_true(metal_region_is_valid(&list->regions[i]));
			assert_int_equal(list->regions[i].status, TDM_METAL_OK);
			assert_true(list->regions[i].total.of[TDM_KIND_DRAM] == totals[round][i]);
			assert_int_equal(list->regions[i].slot_count, lists[0].regions[0].slot_count);
		}
	}
	assert_int_equal(unlink(tree_path(&tree, second)), 0);
	assert_int_equal(tdm_metal_list_read(&lists[1], &lists[0], tree.root), 0);
	assert_int_equal(lists[1].count, 1);
	tdm_metal_list_done(&lists[0]);
	tdm_metal_list_done(&lists[1]);
	tree_done(&tree);
}

static void test_list_is_cut(void **state)
{
	(void)state;
	struct tree tree;
	struct tdm_metal_list list = { 0 };
	char name[64];
	tree_init(&tree);
	for (int i = 0; i < TDM_METAL_REGIONS_MAX + 7; i++) {
		snprintf(name, sizeof name, "tt_device_%d_memory", i);
		tree_text(&tree, name, "");
	}
	assert_int_equal(tdm_metal_list_read(&list, NULL, tree.root), 0);
	assert_int_equal(list.count, TDM_METAL_REGIONS_MAX);
	assert_int_equal(list.cut, 7);
	tdm_metal_list_done(&list);
	tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_read_file),
		cmocka_unit_test(test_wrong_lengths),
		cmocka_unit_test(test_no_files),
		cmocka_unit_test(test_denied),
		cmocka_unit_test(test_settles),
		cmocka_unit_test(test_settled_before),
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_read_fails),
		cmocka_unit_test(test_against_a_writer),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_list_again),
		cmocka_unit_test(test_list_is_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
