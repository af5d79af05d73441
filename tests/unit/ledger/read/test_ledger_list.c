/* Finding ledgers: names of both layouts, users' folders, whose files are listed, and what a flood of files hides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "ledger/layout/layout.h"
#include "ledger/read/ledger_list.h"
#include "ledger/archive/archive.h"

enum { OTHER = 65534, THIRD = 65533, FLOOD = 70000, SEEN_MAX = 64 };

static char dir[PATH_MAX];

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof dir, "%s/tidemark-list.XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	return mkdtemp(dir) != NULL && chmod(dir, 01777) == 0 ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[PATH_MAX + 16];
	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", dir);
	return system(command);
}

__attribute__((format(printf, 1, 2))) static const char *at(const char *format, ...)
{
	static char paths[4][PATH_MAX];
	static unsigned next;
	char *path = paths[next++ % 4];
	va_list args;
	int used = snprintf(path, PATH_MAX, "%s/", dir);
	va_start(args, format);
	vsnprintf(path + used, PATH_MAX - (size_t)used, format, args);
	va_end(args);
	return path;
}

static void touch(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void make_folder(const char *path, mode_t mode)
{
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, mode), 0);
}

/* What a list gave. Paths from `dir` on. */
struct seen {
	struct {
		char path[128];
		struct tdm_ledger_name name;
		uint32_t owner;
		int folder_err;
	} list[SEEN_MAX];
	size_t count;
};

static void note(void *context, const struct tdm_ledger_entry *entry)
{
	struct seen *seen = context;
	size_t i = seen->count++;
	if (i >= SEEN_MAX)
		return;
	snprintf(seen->list[i].path, sizeof seen->list[i].path, "%s", entry->path + strlen(dir) + 1);
	seen->list[i].name = entry->name;
	seen->list[i].owner = entry->owner;
	seen->list[i].folder_err = entry->folder_err;
}

static struct tdm_ledger_search look(struct seen *seen)
{
	struct tdm_ledger_search search = { .dir = dir, .each = note, .context = seen };
	*seen = (struct seen){ 0 };
	assert_int_equal(tdm_ledger_list(&search), 0);
	return search;
}

static void names(void **state)
{
	static const char *const good[] = { "tidemark.1.2.0", "/x/tidemark.99999999.1.3", "tidemark-0/1.2.3",
		"/dev/shm/tidemark-1000.7/1.18446744073709551615.4294967295", "/tidemark-5/7.8.9" };
	static const char *const bad[] = { "", "/", "tidemark", "tidemark.", "tidemark.1", "tidemark.1.2",
		"tidemark.1.2.3.4", "tidemark.a.2.3", "tidemark.1..3", "tidemark.1.2.3x", "xtidemark.1.2.3",
		"tidemark.-1.2.3", "tidemark.run.txt", "1.2.3", "/dev/shm/1.2.3", "tidemark-/1.2.3", "tidemark-x/1.2.3",
		"tidemark-1./1.2.3", "tidemark-1.2.3/1.2.3", "tidemark-0/tidemark.1.2.3", "tidemark-0/1.2",
		"tidemark-0/+1.2.3", "tidemark-0/2147483648.2.3", "tidemark-0/1.18446744073709551616.3",
		"tidemark-0/1.2.4294967296" };
	struct tdm_ledger_name name;
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(tdm_ledger_parse_name(good[i], &name));
	assert_int_equal(name.pid, 7);
	assert_int_equal(name.start, 8);
	assert_int_equal(name.generation, 9);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (tdm_ledger_parse_name(bad[i], &name))
			fail_msg("'%s' is taken for a ledger", bad[i]);
}

static void modes(void **state)
{
	static const char *const bad[] = { "2640", "4755", "-1", "0777", "garbage", "666", "0620", "0602", "0610",
		"0641", "0", "600x", " 600", "+600", "0x600", "99", "rw", "06000", "99999999999999999999999" };
	static const struct {
		const char *text;
		uint32_t mode, folder;
	} good[] = { { NULL, 0600, 0700 }, { "", 0600, 0700 }, { "0600", 0600, 0700 }, { "640", 0640, 0750 },
		{ "0644", 0644, 0755 }, { "0604", 0604, 0705 }, { "00600", 0600, 0700 } };
	uint32_t mode;
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_int_equal(tdm_ledger_parse_mode(good[i].text, &mode), 0);
		assert_int_equal(mode, good[i].mode);
		assert_int_equal(tdm_ledger_folder_mode(mode), good[i].folder);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		if (tdm_ledger_parse_mode(bad[i], &mode) != -EINVAL)
			fail_msg("'%s' is taken for a mode", bad[i]);
		assert_int_equal(mode, 0600);
	}
}

static void rings(void **state)
{
	static const char *const bad[] = { "0", "1", "15", "4194305", "-1", "2048x", "2k", " 2048",
		"99999999999999999999" };
	static const struct {
		const char *text;
		uint32_t records;
	} good[] = { { NULL, TDM_LEDGER_RING }, { "", TDM_LEDGER_RING }, { "16", 16 }, { "17", 32 }, { "2048", 2048 },
		{ "65000", 65536 }, { "4194304", 1 << 22 } };
	uint32_t records;
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_int_equal(tdm_ledger_parse_ring(good[i].text, &records), 0);
		assert_int_equal(records, good[i].records);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		if (tdm_ledger_parse_ring(bad[i], &records) != -EINVAL)
			fail_msg("'%s' is taken for a number of records", bad[i]);
		assert_int_equal(records, TDM_LEDGER_RING);
	}
}

/* Opens the folder, and says what it is called and how open it is. */
static void expect_folder(uint32_t mode, const char *name, mode_t folder_mode)
{
	char path[TDM_LEDGER_PATH_MAX];
	struct stat st;
	int fd = tdm_ledger_open_folder(dir, mode, path);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISDIR(st.st_mode) && st.st_uid == geteuid());
	assert_int_equal(st.st_mode & 07777, folder_mode);
	assert_string_equal(path, at("%s", name));
	close(fd);
}

static void a_folder_is_made_once(void **state)
{
	char own[32];
	mode_t before = umask(077);
	(void)state;
	snprintf(own, sizeof own, "tidemark-%u", (unsigned)geteuid());
	expect_folder(0600, own, 0700);
	expect_folder(0640, own, 0750);
	expect_folder(0600, own, 0750); /* it never becomes less open: others rely on it */
	expect_folder(0644, own, 0755);
	assert_int_equal(rmdir(at("%s", own)), 0);
	umask(0777);
	expect_folder(0604, own, 0705);
	umask(before);
	char path[TDM_LEDGER_PATH_MAX];
	snprintf(own, sizeof own, "%s", "none/there");
	assert_int_equal(tdm_ledger_open_folder(at("%s", own), 0600, path), -ENOENT);
	assert_int_equal(tdm_ledger_open_folder("/dev/null", 0600, path), -ENOTDIR);
}

/* Whatever somebody has put there instead is not used, and not touched. */
static void a_name_that_is_taken(void **state)
{
	char own[32], next[40];
	struct stat st;
	(void)state;
	snprintf(own, sizeof own, "tidemark-%u", (unsigned)geteuid());
	snprintf(next, sizeof next, "%s.1", own);
	rmdir(at("%s", own));
	make_folder(at("target"), 0700);
	assert_int_equal(symlink(at("target"), at("%s", own)), 0);
	expect_folder(0600, next, 0700);
	assert_int_equal(rmdir(at("target")), 0); /* empty still */
	unlink(at("%s", own));
	touch(at("%s", own));
	expect_folder(0600, next, 0700);
	unlink(at("%s", own));
	make_folder(at("%s", own), 0720);
	expect_folder(0600, next, 0700);
	assert_int_equal(chmod(at("%s", own), 0702), 0);
	expect_folder(0644, next, 0755);
	assert_int_equal(stat(at("%s", own), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0702);
	/* All names that can be known in advance are taken: the next one is none of them. */
	assert_int_equal(rmdir(at("%s", next)), 0);
	for (int i = 1; i < 10000; i++)
		touch(at("%s.%d", own, i));
	char path[TDM_LEDGER_PATH_MAX];
	int fd = tdm_ledger_open_folder(dir, 0600, path);
	assert_true(fd >= 0);
	close(fd);
	touch(path[0] != '\0' ? strcat(path, "/1.2.3") : "");
	struct tdm_ledger_name name;
	assert_true(tdm_ledger_parse_name(path, &name));
	remove_dir(NULL);
	make_dir(NULL);
}

/* Runs a function as another user; true when it returned 0. */
static bool as_user(uid_t uid, int (*run)(void))
{
	pid_t child = fork();
	if (child == 0)
		_exit(setgid(uid) == 0 && setuid(uid) == 0 ? run() : 2);
	int status;
	waitpid(child, &status, 0);
	return status == 0;
}

static int folder_of_root_is_not_ours(void)
{
	char path[TDM_LEDGER_PATH_MAX];
	int fd = tdm_ledger_open_folder(dir, 0600, path);
	return fd >= 0 && strcmp(path, at("tidemark-%d.1", OTHER)) == 0 ? 0 : 1;
}

static void a_folder_of_the_wrong_owner(void **state)
{
	(void)state;
	if (geteuid() != 0)
		return; /* only root can make others' files */
	make_folder(at("tidemark-%d", OTHER), 0777);
	assert_true(as_user(OTHER, folder_of_root_is_not_ours));
	assert_int_equal(chmod(at("tidemark-%d", OTHER), 0700), 0);
	assert_true(as_user(OTHER, folder_of_root_is_not_ours));
	remove_dir(NULL);
	make_dir(NULL);
}

static void expect_seen(const struct seen *seen, size_t i, const char *path, int32_t pid)
{
	assert_string_equal(seen->list[i].path, path);
	assert_int_equal(seen->list[i].name.pid, pid);
}

/* A tree with all that is looked for, and much that is not. */
static void make_tree(void)
{
	make_folder(at("tidemark-1000"), 0700);
	touch(at("tidemark-1000/5.6.0"));
	touch(at("tidemark-1000/5.6.1"));
	touch(at("tidemark-1000/tidemark.70.1.0")); /* not at this level */
	touch(at("tidemark-1000/5.6"));
	make_folder(at("tidemark-1000/run.77.abc"), 0700);
	make_folder(at("tidemark-1000/run.77.abc/tidemark-1000"), 0700);
	touch(at("tidemark-1000/run.77.abc/tidemark-1000/9.1.0"));
	make_folder(at("tidemark-1000/run.77.abc/tidemark-1000/run.80.abc"), 0700);
	make_folder(at("tidemark-1000/run.77.abc/tidemark-1000/run.80.abc/tidemark-1000"), 0700);
	touch(at("tidemark-1000/run.77.abc/tidemark-1000/run.80.abc/tidemark-1000/12.1.0"));
	make_folder(at("tidemark-1000.1"), 0700);
	touch(at("tidemark-1000.1/4.4.4"));
	touch(at("tidemark.99999999.1.3"));
	touch(at("tidemark.2.2.0"));
	make_folder(at("tidemark.run.78.abc"), 0700);
	touch(at("tidemark.run.78.abc/tidemark.8.1.0"));
	touch(at("71.1.0"));
	make_folder(at("run.79.abc"), 0700);
	touch(at("run.79.abc/tidemark.72.1.0"));
	assert_int_equal(symlink(at("tidemark-1000"), at("tidemark-7")), 0);
	assert_int_equal(symlink(at("tidemark-1000"), at("tidemark.run.81")), 0);
	touch(at("tidemark-8"));
	touch(at("tidemark-list"));
}

static void both_layouts_are_listed(void **state)
{
	static const struct {
		const char *path;
		int32_t pid;
	} want[] = { { "tidemark.2.2.0", 2 }, { "tidemark-1000.1/4.4.4", 4 }, { "tidemark-1000/5.6.0", 5 },
		{ "tidemark-1000/5.6.1", 5 }, { "tidemark.run.78.abc/tidemark.8.1.0", 8 },
		{ "tidemark-1000/run.77.abc/tidemark-1000/9.1.0", 9 },
		{ "tidemark-1000/run.77.abc/tidemark-1000/run.80.abc/tidemark-1000/12.1.0", 12 },
		{ "tidemark.99999999.1.3", 99999999 } };
	enum { WANT = sizeof want / sizeof *want };
	struct seen seen;
	(void)state;
	make_tree();
	struct tdm_ledger_search search = look(&seen);
	assert_int_equal(seen.count, WANT);
	for (size_t i = 0; i < WANT; i++) {
		expect_seen(&seen, i, want[i].path, want[i].pid);
		assert_int_equal(seen.list[i].owner, geteuid());
		assert_int_equal(seen.list[i].folder_err, 0);
	}
	assert_int_equal(seen.list[3].name.generation, 1);
	assert_int_equal(seen.list[3].name.start, 6);
	assert_int_equal(search.left_out, 0);
	/* By the environment; a user's folder by itself; and what is not there. */
	setenv("TIDEMARK_DIR", dir, 1);
	seen.count = 0;
	search.dir = NULL;
	assert_int_equal(tdm_ledger_list(&search), 0);
	assert_int_equal(seen.count, WANT);
	unsetenv("TIDEMARK_DIR");
	seen.count = 0;
	search.dir = at("tidemark-1000/");
	assert_int_equal(tdm_ledger_list(&search), 0);
	assert_int_equal(seen.count, 4);
	search.dir = at("none");
	assert_int_equal(tdm_ledger_list(&search), -ENOENT);
	/* Some pids only. */
	const int32_t pids[] = { 9, 2, 71 };
	search = (struct tdm_ledger_search){ dir, pids, 3, note, &seen, 0, 0 };
	seen.count = 0;
	assert_int_equal(tdm_ledger_list(&search), 0);
	assert_int_equal(seen.count, 2);
	expect_seen(&seen, 0, "tidemark.2.2.0", 2);
	assert_int_equal(search.others, WANT - 2);
}

/* Folders of `tidemark run` that nobody uses any more, in both places. */
static void folders_of_dead_runs_are_removed(void **state)
{
	pid_t dead = fork();
	(void)state;
	if (dead == 0)
		_exit(0);
	waitpid(dead, NULL, 0);
	make_folder(at("tidemark-1000/run.%d.a", (int)dead), 0700);
	make_folder(at("tidemark-1000/run.%d.a/tidemark-1000", (int)dead), 0700);
	make_folder(at("tidemark-1000/run.%d.b", (int)dead), 0700);
	make_folder(at("tidemark-1000/run.%d.b/tidemark-1000", (int)dead), 0700);
	touch(at("tidemark-1000/run.%d.b/tidemark-1000/1.1.1", (int)dead));
	make_folder(at("tidemark-1000/run.%d.c", (int)getpid()), 0700);
	make_folder(at("tidemark.run.%d.d", (int)dead), 0700);
	tdm_ledger_reap_dirs(dir);
	assert_int_equal(access(at("tidemark-1000/run.%d.a", (int)dead), F_OK), -1);
	assert_int_equal(access(at("tidemark-1000/run.%d.b/tidemark-1000/1.1.1", (int)dead), F_OK), 0);
	assert_int_equal(access(at("tidemark-1000/run.%d.c", (int)getpid()), F_OK), 0);
	assert_int_equal(access(at("tidemark.run.%d.d", (int)dead), F_OK), -1);
	assert_int_equal(tdm_ledger_reap_run(at("tidemark-1000/run.%d.b", (int)dead)), -ENOTEMPTY);
	remove_dir(NULL);
	make_dir(NULL);
}

static void give_to(const char *path, uid_t uid)
{
	assert_int_equal(chown(path, uid, uid), 0);
}

static int sees_own_first(void)
{
	struct seen seen;
	struct tdm_ledger_search search = { .dir = dir, .each = note, .context = &seen };
	seen.count = 0;
	if (tdm_ledger_list(&search) != 0 || seen.count != 4 || search.left_out != 0)
		return 1;
	/* Its own, what it may see of root, then the others; a folder that it cannot look into is an entry. */
	return strcmp(seen.list[0].path, "tidemark-65534/30.1.0") == 0 && seen.list[0].owner == OTHER &&
			       strcmp(seen.list[1].path, "tidemark.20.1.0") == 0 && seen.list[1].owner == 0 &&
			       strcmp(seen.list[2].path, "tidemark-65533") == 0 && seen.list[2].folder_err == -EACCES &&
			       seen.list[2].owner == THIRD && seen.list[2].name.pid == 0 &&
			       strcmp(seen.list[3].path, "tidemark-65533.1/40.1.0") == 0 && seen.list[3].owner == THIRD
		       ? 0
		       : 1;
}

static void whose_they_are(void **state)
{
	struct seen seen;
	(void)state;
	if (geteuid() != 0)
		return;
	touch(at("tidemark.20.1.0"));
	make_folder(at("tidemark-%d", OTHER), 0700);
	give_to(at("tidemark-%d", OTHER), OTHER);
	touch(at("tidemark-%d/30.1.0", OTHER));
	give_to(at("tidemark-%d/30.1.0", OTHER), OTHER);
	make_folder(at("tidemark-%d", THIRD), 0700);
	give_to(at("tidemark-%d", THIRD), THIRD);
	make_folder(at("tidemark-%d.1", THIRD), 0755);
	give_to(at("tidemark-%d.1", THIRD), THIRD);
	touch(at("tidemark-%d.1/40.1.0", THIRD));
	give_to(at("tidemark-%d.1/40.1.0", THIRD), THIRD);
	assert_true(as_user(OTHER, sees_own_first));
	look(&seen);
	assert_int_equal(seen.count, 3);
	expect_seen(&seen, 0, "tidemark.20.1.0", 20);
	expect_seen(&seen, 1, "tidemark-65533.1/40.1.0", 40);
	expect_seen(&seen, 2, "tidemark-65534/30.1.0", 30);
	assert_int_equal(seen.list[2].owner, OTHER);
	remove_dir(NULL);
	make_dir(NULL);
}

static int make_flood(void)
{
	for (int i = 0; i < FLOOD; i++) {
		int fd = open(at("tidemark.%d.1.0", 1000 + i), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0)
			return 1;
		close(fd);
	}
	if (mkdir(at("tidemark-%d", OTHER), 0755) != 0)
		return 1;
	for (int i = 0; i < FLOOD; i++) {
		int fd = open(at("tidemark-%d/%d.1.0", OTHER, 1000 + i), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0)
			return 1;
		close(fd);
	}
	for (int i = 0; i < 5000; i++)
		if (mkdir(at("tidemark-%d.%d", OTHER, i + 1), 0755) != 0 ||
			mkdir(at("tidemark-%d", 100000 + i), 0700) != 0)
			return 1;
	return 0;
}

struct counted {
	size_t own, other, third;
};

static void count_owner(void *context, const struct tdm_ledger_entry *entry)
{
	struct counted *c = context;
	c->own += entry->owner == geteuid();
	c->other += entry->owner == OTHER;
	c->third += entry->owner == THIRD;
}

/* One user makes as many as he can, everywhere: he loses some of his own, and nobody else's. */
static void a_flood_hides_nobody(void **state)
{
	struct counted c = { 0 };
	(void)state;
	if (geteuid() != 0)
		return;
	touch(at("tidemark.1.1.0"));
	touch(at("tidemark.2.1.0"));
	give_to(at("tidemark.2.1.0"), THIRD);
	assert_true(as_user(OTHER, make_flood));
	make_folder(at("tidemark-0"), 0700);
	touch(at("tidemark-0/3.1.0"));
	make_folder(at("tidemark-%d", THIRD), 0700);
	give_to(at("tidemark-%d", THIRD), THIRD);
	for (int i = 0; i < 3000; i++) {
		touch(at("tidemark-%d/%d.2.0", THIRD, 10 + i));
		give_to(at("tidemark-%d/%d.2.0", THIRD, 10 + i), THIRD);
	}
	struct tdm_ledger_search search = { .dir = dir, .each = count_owner, .context = &c };
	assert_int_equal(tdm_ledger_list(&search), 0);
	assert_int_equal(c.own, 2);
	assert_int_equal(c.third, 3001);
	assert_true(c.other >= TDM_LEDGER_LIST_MAX / 4 && c.other <= TDM_LEDGER_LIST_MAX);
	/* Folders that are not looked into count as one each. */
	assert_true(search.left_out + c.other >= FLOOD);
	/* Those of one process are found by name, however many there are. */
	const int32_t pid = 3;
	c = (struct counted){ 0 };
	search.pids = &pid;
	search.pid_count = 1;
	assert_int_equal(tdm_ledger_list(&search), 0);
	assert_int_equal(c.own, 1);
	assert_int_equal(c.third, 0);
	assert_int_equal(c.other, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(modes),
		cmocka_unit_test(rings),
		cmocka_unit_test(a_folder_is_made_once),
		cmocka_unit_test(a_name_that_is_taken),
		cmocka_unit_test(a_folder_of_the_wrong_owner),
		cmocka_unit_test(both_layouts_are_listed),
		cmocka_unit_test(folders_of_dead_runs_are_removed),
		cmocka_unit_test(whose_they_are),
		cmocka_unit_test(a_flood_hides_nobody),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
