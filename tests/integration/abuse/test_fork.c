/* Forked children: each has its own ledger from its first report on, and does not change its parent's. */
#include "itest.h"
#include "tidemark.h"

#include <errno.h>
#include <link.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

enum { INHERITED = 1500, CHILDREN = 400, STORM_THREADS = 6 };

/* Everything in a ledger that its writer alone may change. */
static uint64_t fingerprint(const char *path)
{
	static char content[64 << 20];
	uint64_t hash = 14695981039346656037ull;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	ssize_t got = pread(fd, content, sizeof content, 0);
	CHECK(got > 0 && got < (ssize_t)sizeof content);
	for (ssize_t i = 0; i < got; i++)
		hash = (hash ^ (unsigned char)content[i]) * 1099511628211ull;
	close(fd);
	return hash;
}

static void alloc_many(uint64_t first, uint64_t count)
{
	for (uint64_t i = first; i < first + count; i++)
		CHECK(itest_alloc(i % 2, i % TIDEMARK_KIND_COUNT, i, 64, 1) == 0);
}

static uint64_t live_on(uint32_t device)
{
	uint64_t live = 0;
	for (uint32_t kind = 0; kind < TIDEMARK_KIND_COUNT; kind++)
		live += itest_live(device, kind);
	return live;
}

/* What every child does, however it was made: reports of its own, and frees of what it inherited. */
static void be_child(const char *parents)
{
	char path[ITEST_PATH_MAX];
	CHECK_EQ(itest_ledgers(NULL, getpid(), NULL), 0);
	CHECK(strcmp(tidemark_ledger_path(), "") == 0);
	CHECK_EQ(live_on(0), 0);
	CHECK_EQ(tidemark_lost(), 0);
	alloc_many(1 << 20, 100);
	CHECK_EQ(itest_ledgers(NULL, getpid(), path), 1);
	CHECK(strcmp(tidemark_ledger_path(), path) == 0 && strcmp(path, parents) != 0);
	CHECK_EQ(live_on(0) + live_on(1), 100);
	for (uint64_t i = 0; i < INHERITED; i++)
		CHECK(tidemark_free(i % 2, i % TIDEMARK_KIND_COUNT, i) == -ENOENT);
	CHECK(tidemark_free(0, 0, 1 << 30) == -ENOENT);
	struct tdm_ledger *ledger = itest_open(path);
	CHECK(tdm_ledger_header(ledger)->pid == getpid());
	CHECK_EQ(tdm_ledger_header(ledger)->frees_inherited, INHERITED);
	uint64_t unknown = 0;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		for (size_t d = 0; d < tdm_ledger_device_count(ledger); d++)
			unknown += tdm_ledger_device(ledger, d)->counts[k].unknown_frees +
				   tdm_ledger_device(ledger, d)->counts[k].double_frees;
	CHECK_EQ(unknown, 1);
	tdm_ledger_close(ledger);
	for (uint64_t i = 1 << 20; i < (1 << 20) + 100; i++)
		CHECK(tidemark_free(i % 2, i % TIDEMARK_KIND_COUNT, i) == 0);
}

static void child_of_fork(void *context)
{
	be_child(context);
}

static void own_ledger(void)
{
	char path[ITEST_PATH_MAX];
	alloc_many(0, INHERITED);
	snprintf(path, sizeof path, "%s", tidemark_ledger_path());
	uint64_t before = fingerprint(path);
	CHECK(itest_exited(itest_fork(child_of_fork, path)));
	CHECK_EQ(fingerprint(path), before);
	CHECK_EQ(itest_ledgers(NULL, 0, NULL), 1); /* the child's went with it */
	CHECK_EQ(live_on(0) + live_on(1), INHERITED);
}

/* A child that no handler has seen. */
static void raw_clone(void)
{
	char path[ITEST_PATH_MAX];
	int status;
	if (itest_emulated())
		itest_skip("the emulator does not wipe pages of a child (MADV_WIPEONFORK)");
	alloc_many(0, INHERITED);
	tidemark_capture_begin(TIDEMARK_CAPTURE_NORMAL);
	tidemark_capture_end(NULL);
	snprintf(path, sizeof path, "%s", tidemark_ledger_path());
	uint64_t before = fingerprint(path);
	fflush(NULL);
	long pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		be_child(path);
		_exit(0);
	}
	CHECK(pid > 0 && waitpid((pid_t)pid, &status, 0) == pid && itest_exited(status));
	CHECK_EQ(fingerprint(path), before);
}

/* Grandchildren know what both their parents had. */
static void grandchild(void *context)
{
	(void)context;
	CHECK(itest_alloc(0, 0, 777777, 64, 1) == 0);
	for (uint64_t i = 0; i < INHERITED; i++)
		CHECK(tidemark_free(i % 2, i % TIDEMARK_KIND_COUNT, i) == -ENOENT);
	CHECK(tidemark_free(1, 3, 555555) == -ENOENT);
	struct tdm_ledger *ledger = itest_open(tidemark_ledger_path());
	CHECK_EQ(tdm_ledger_header(ledger)->frees_inherited, INHERITED + 1);
	tdm_ledger_close(ledger);
	CHECK(tidemark_free(0, 0, 777777) == 0);
}

static void child_with_child(void *context)
{
	CHECK(itest_alloc(1, 3, 555555, 64, 1) == 0);
	CHECK(itest_exited(itest_fork(grandchild, context)));
	CHECK(tidemark_free(1, 3, 555555) == 0);
}

static void chain(void)
{
	alloc_many(0, INHERITED);
	CHECK(itest_exited(itest_fork(child_with_child, NULL)));
	CHECK_EQ(itest_ledgers(NULL, 0, NULL), 1);
}

/* The descriptor that a child inherited may have become another file of the child's. */
static void reuses_descriptors(void *context)
{
	struct {
		int a, b;
	} pair;
	(void)context;
	CHECK(close_range(3, ~0u, 0) == 0);
	for (int i = 0; i < 400; i++)
		CHECK(open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0);
	pair.a = fcntl(200, F_GETFD);
	pair.b = fcntl(201, F_GETFD);
	CHECK(pair.a >= 0 && pair.b >= 0);
	alloc_many(0, 10);
	for (int fd = 3; fd < 403; fd++)
		CHECK(fcntl(fd, F_GETFD) >= 0); /* none of them was ours to close */
	for (uint64_t i = 0; i < 10; i++)
		CHECK(tidemark_free(i % 2, i % TIDEMARK_KIND_COUNT, i) == 0);
}

static void descriptors(void)
{
	alloc_many(1000, 10);
	CHECK(itest_exited(itest_fork(reuses_descriptors, NULL)));
}

/* Threads report, grow and take names while others fork. */
static _Atomic int stop;

static void *report_all_the_time(void *context)
{
	uint64_t base = (uint64_t)(uintptr_t)context << 32;
	for (uint64_t round = 1; !atomic_load(&stop); round++) {
		uint64_t count = 1 + round * 37 % 3000;
		uint32_t device = (uint32_t)(round % 5);
		char name[32];
		for (uint64_t i = 0; i < count; i++)
			CHECK(itest_alloc(device, TIDEMARK_L1, base + i, 64, 1) == 0);
		snprintf(name, sizeof name, "round %u", (unsigned)round);
		CHECK(tidemark_name(name) != 0);
		for (uint64_t i = 0; i < count; i++)
			CHECK(tidemark_free(device, TIDEMARK_L1, base + i) == 0);
	}
	return NULL;
}

static void storm_child(uint64_t n)
{
	char name[32];
	snprintf(name, sizeof name, "child %u", (unsigned)n);
	CHECK(tidemark_name(name) != 0);
	for (uint64_t i = 0; i < 1000; i++)
		CHECK(itest_alloc(i % 3, TIDEMARK_L1, i << 40, 64, 1) == 0);
	for (uint64_t i = 0; i < 1000; i++)
		tidemark_free(i % 5, TIDEMARK_L1, (1 + i % STORM_THREADS) << 32 | i); /* may be inherited or not */
	for (uint64_t i = 0; i < 1000; i++)
		CHECK(tidemark_free(i % 3, TIDEMARK_L1, i << 40) == 0);
	CHECK_EQ(tidemark_lost(), 0);
}

static void skip_with_thread_sanitizer(void)
{
	if (itest_thread_sanitized())
		itest_skip("the thread sanitizer takes a child's reads for races with its parent's threads");
}

static void storm(void)
{
	pthread_t ids[STORM_THREADS];
	unsigned children = itest_scale(CHILDREN), running = 0;
	int status;
	skip_with_thread_sanitizer();
	for (uintptr_t i = 0; i < STORM_THREADS; i++)
		CHECK(pthread_create(&ids[i], NULL, report_all_the_time, (void *)(i + 1)) == 0);
	for (unsigned i = 0; i < children; i++) {
		/* As in raw_clone(); it leaves the parent's own alone only where the kernel wipes pages. */
		bool is_raw = i % 4 == 3 && !itest_emulated();
		pid_t pid = is_raw ? (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) : fork();
		CHECK(pid >= 0);
		if (pid == 0) {
			atomic_store(&stop, 1);
			storm_child(i);
			if (is_raw) {
				unlink(tidemark_ledger_path());
				_exit(0);
			}
			exit(0);
		}
		if (++running == 8) {
			CHECK(wait(&status) > 0 && itest_exited(status));
			running--;
		}
	}
	for (; running != 0; running--)
		CHECK(wait(&status) > 0 && itest_exited(status));
	atomic_store(&stop, 1);
	for (unsigned i = 0; i < STORM_THREADS; i++)
		CHECK(pthread_join(ids[i], NULL) == 0);
	CHECK_EQ(tidemark_lost(), 0);
	CHECK_EQ(itest_ledgers(NULL, 0, NULL), 1);
}

/* The same with stacks, whose lock a child must not find taken. */
static int storm_with_stacks_role(void)
{
	storm();
	return 0;
}

static void storm_with_stacks(void)
{
	static const char *const environment[] = { "TIDEMARK_STACKS=8", "TIDEMARK_UNWIND=fp", NULL };
	skip_with_thread_sanitizer();
	CHECK(itest_exited(itest_spawn("storm_with_stacks_role", environment)));
	CHECK_EQ(itest_ledgers(NULL, 0, NULL), 0);
}

/*
 * A fork just after the library has unmapped memory, while the thread that did so is still inside the library: the
 * child must not use what was unmapped.
 */
static struct {
	_Atomic bool watched, requested;
	unsigned count;
} unmapping;

int munmap(void *at, size_t bytes)
{
	static _Thread_local bool is_inside;
	int result = (int)syscall(SYS_munmap, at, bytes);
	if (!atomic_load(&unmapping.watched) || is_inside || getpid() != gettid())
		return result;
	is_inside = true;
	unmapping.count++;
	for (atomic_store(&unmapping.requested, true); atomic_load(&unmapping.requested);)
		sched_yield();
	is_inside = false;
	return result;
}

static void report_after_unmapping(void *context)
{
	(void)context;
	atomic_store(&unmapping.watched, false);
	for (uint64_t i = 0; i < 100; i++)
		CHECK(itest_alloc(i % 5, TIDEMARK_L1, i << 40, 64, 1) == 0);
	for (uint64_t i = 0; i < 100; i++)
		CHECK(tidemark_free(i % 5, TIDEMARK_L1, i << 40) == 0);
}

static void *fork_on_request(void *context)
{
	(void)context;
	for (; atomic_load(&unmapping.watched); sched_yield())
		if (atomic_load(&unmapping.requested)) {
			CHECK(itest_exited(itest_fork(report_after_unmapping, NULL)));
			atomic_store(&unmapping.requested, false);
		}
	return NULL;
}

static void forked_while_unmapping(void)
{
	enum { EACH = 20000 };
	pthread_t id;
	skip_with_thread_sanitizer();
	atomic_store(&unmapping.watched, true);
	CHECK(pthread_create(&id, NULL, fork_on_request, NULL) == 0);
	for (uint64_t i = 0; i < EACH * 5; i++) {
		char name[32];
		snprintf(name, sizeof name, "name %u", (unsigned)i);
		CHECK(i % 10 != 0 || tidemark_name(name) != 0);
		CHECK(itest_alloc((uint32_t)(i % 5), TIDEMARK_L1, i, 64, 1) == 0);
	}
	for (uint64_t i = 0; i < EACH * 5; i++)
		CHECK(tidemark_free((uint32_t)(i % 5), TIDEMARK_L1, i) == 0);
	atomic_store(&unmapping.watched, false);
	CHECK(pthread_join(id, NULL) == 0);
	CHECK(unmapping.count > 10);
	CHECK_EQ(tidemark_lost(), 0);
}

/* A fork while another thread is in the loader, whose lock the child finds taken for ever. */
static _Atomic int in_loader;

static int stay_in_loader(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)info, (void)size, (void)context;
	for (atomic_store(&in_loader, 1); atomic_load(&in_loader) == 1;)
		sched_yield();
	return 1;
}

static void *iterate(void *context)
{
	dl_iterate_phdr(stay_in_loader, context);
	return NULL;
}

static void report_in_child(void *context)
{
	(void)context;
	alarm(20);
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
	CHECK(tidemark_free(0, 0, 1) == 0);
}

static int busy_loader_role(void)
{
	pthread_t id;
	CHECK(pthread_create(&id, NULL, iterate, NULL) == 0);
	while (atomic_load(&in_loader) == 0)
		sched_yield();
	CHECK(itest_exited(itest_fork(report_in_child, NULL)));
	atomic_store(&in_loader, 2);
	CHECK(pthread_join(id, NULL) == 0);
	return 0;
}

static void busy_loader(void)
{
	static const char *const environment[] = { "TIDEMARK_STACKS=8", "TIDEMARK_UNWIND=fp", NULL };
	skip_with_thread_sanitizer();
	CHECK(itest_exited(itest_spawn("busy_loader_role", environment)));
}

/* vfork and posix_spawn: the child shares the memory of its parent, and must not hurt it. */
static int spawned(void)
{
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
	CHECK(tidemark_free(0, 0, 1) == 0);
	return 0;
}

static void spawning(void)
{
	struct itest_command command;
	char path[ITEST_PATH_MAX];
	itest_command("spawned", &command);
	alloc_many(0, 10);
	snprintf(path, sizeof path, "%s", tidemark_ledger_path());
	for (int i = 0; i < 20; i++) {
		pid_t pid;
		int status;
		CHECK(posix_spawn(&pid, command.words[0], NULL, NULL, command.words, environ) == 0);
		CHECK(waitpid(pid, &status, 0) == pid && itest_exited(status));
		pid = vfork();
		if (pid == 0) {
			execv(command.words[0], command.words);
			_exit(127);
		}
		CHECK(waitpid(pid, &status, 0) == pid && itest_exited(status));
		alloc_many(10 + (uint64_t)i * 10, 10);
	}
	CHECK_EQ(itest_ledgers(NULL, 0, NULL), 1);
	CHECK_EQ(live_on(0) + live_on(1), 210);
	CHECK(strcmp(path, tidemark_ledger_path()) == 0);
	struct tdm_ledger *ledger = itest_open(path);
	CHECK(tdm_ledger_liveness(ledger) == TDM_ALIVE);
	tdm_ledger_close(ledger);
}

/* A program that becomes another one, several times over: "exec N", where N counts down. */
static int exec_role(void)
{
	const char *left = getenv("ITEST_EXECS"), *leaves = getenv("ITEST_LEAVES");
	int execs = atoi(left);
	char text[16], path[ITEST_PATH_MAX];
	struct itest_command command;
	unsigned before = itest_ledgers(NULL, getpid(), NULL);
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
	unsigned now = itest_ledgers(NULL, getpid(), NULL);
	snprintf(path, sizeof path, "%s", tidemark_ledger_path());
	unsigned generation = (unsigned)atoi(strrchr(path, '.') + 1);
	CHECK_EQ(generation, 6 - execs); /* one more each time */
	if (leaves[0] == '1') {
		CHECK_EQ(now, before + 1);
	} else {
		CHECK_EQ(now, 1); /* the one before told nothing and is gone */
		CHECK(tidemark_free(0, 0, 1) == 0);
	}
	struct tdm_ledger *ledger = itest_open(path);
	CHECK_EQ(tdm_ledger_header(ledger)->generation, generation);
	tdm_ledger_close(ledger);
	if (execs == 0)
		return 0;
	snprintf(text, sizeof text, "%d", execs - 1);
	setenv("ITEST_EXECS", text, 1);
	itest_command("exec_role", &command);
	execv(command.words[0], command.words);
	return 1;
}

static void generations(void)
{
	static const char *const empty[] = { "ITEST_EXECS=6", "ITEST_LEAVES=0", NULL };
	static const char *const full[] = { "ITEST_EXECS=6", "ITEST_LEAVES=1", NULL };
	if (itest_emulated())
		itest_skip("the emulator gives another start time after an exec");
	CHECK(itest_exited(itest_spawn("exec_role", empty)));
	CHECK_EQ(itest_ledgers(NULL, 0, NULL), 0);
	CHECK(itest_exited(itest_spawn("exec_role", full)));
	CHECK_EQ(itest_ledgers(NULL, 0, NULL), 7);
}

/* A child that never reports leaves nothing, and takes nothing with it. */
static void silent(void *context)
{
	(void)context;
}

static void silent_children(void)
{
	alloc_many(0, 10);
	for (int i = 0; i < 50; i++)
		CHECK(itest_exited(itest_fork(silent, NULL)));
	CHECK_EQ(itest_ledgers(NULL, 0, NULL), 1);
	CHECK_EQ(live_on(0) + live_on(1), 10);
}

/* A child that has the parent's memory reports first: the ledger is still the parent's own. */
static void vfork_child_first(void)
{
	if (itest_thread_sanitized() || itest_emulated())
		itest_skip("the thread sanitizer and emulators make a fork of vfork");
	static volatile int err;
	int status;
	pid_t pid = vfork();
	if (pid == 0) {
		err = itest_alloc(0, 0, 1, 64, 1);
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(err == -EBUSY);
	CHECK_EQ(tidemark_lost(), 1);
	CHECK(itest_alloc(0, 0, 2, 64, 1) == 0);
	CHECK_EQ(itest_ledgers(NULL, getpid(), NULL), 1);
	CHECK_EQ(itest_ledgers(NULL, pid, NULL), 0);
	pid = vfork(); /* now there is a ledger, and its reports are the parent's */
	if (pid == 0) {
		err = itest_alloc(0, 0, 3, 64, 1);
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(err == 0);
	CHECK_EQ(itest_live(0, 0), 2);
	CHECK_EQ(itest_ledgers(NULL, 0, NULL), 1);
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "own_ledger", own_ledger, NULL },
		{ "raw_clone", raw_clone, NULL },
		{ "chain", chain, NULL },
		{ "descriptors", descriptors, NULL },
		{ "storm", storm, NULL },
		{ "storm_with_stacks", storm_with_stacks, NULL },
		{ "forked_while_unmapping", forked_while_unmapping, NULL },
		{ "busy_loader", busy_loader, NULL },
		{ "spawning", spawning, NULL },
		{ "generations", generations, NULL },
		{ "silent_children", silent_children, NULL },
		{ "vfork_child_first", vfork_child_first, NULL },
		{ "storm_with_stacks_role", NULL, storm_with_stacks_role },
		{ "busy_loader_role", NULL, busy_loader_role },
		{ "spawned", NULL, spawned },
		{ "exec_role", NULL, exec_role },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
