/*
 * No room for the ledger, at any moment and in every way: a full file system, no inodes, no directory, limits of the
 * process. The program must not notice; unrecorded events are counted; recording resumes when there is room again.
 */
#include "itest.h"
#include "tidemark.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

enum {
	PAGE = 4096,
	SMALL_MAX = 640 << 10, /* sizes up to here page by page, */
	LARGE_MAX = 4 << 20,   /* and up to here in larger steps */
	LARGE_STEP = 100 << 10,
	BUFFERS = 3000,
	BURST = 40000,
	SURVIVORS = 100,
	RECOVERS_WITHIN = 1 << 21, /* reports after which recording must have begun again */
};

static const char *own_dir(void)
{
	return getenv("TIDEMARK_DIR");
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	close(fd);
}

/* A mount namespace of our own; without rights in a user namespace of our own. */
static void get_namespace(void)
{
	char users[64], groups[64];
	snprintf(users, sizeof users, "0 %d 1", (int)geteuid());
	snprintf(groups, sizeof groups, "0 %d 1", (int)getegid());
	if (unshare(CLONE_NEWNS) != 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
			itest_skip("no mount namespace can be had here");
		write_text("/proc/self/setgroups", "deny");
		write_text("/proc/self/uid_map", users);
		write_text("/proc/self/gid_map", groups); /* without a group no file can be made there */
	}
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		itest_skip("mounts cannot be made private here");
}

static void mount_small(const char *options)
{
	if (mount("tmpfs", own_dir(), "tmpfs", 0, options) != 0)
		itest_skip("no file system can be mounted here");
}

static void remount(unsigned long flags, const char *options)
{
	CHECK(mount("tmpfs", own_dir(), "tmpfs", MS_REMOUNT | flags, options) == 0);
}

/* What was answered, to be compared with what the library counted. */
struct answers {
	uint64_t good, refused;
};

static void note(struct answers *answers, bool is_good)
{
	answers->good += is_good;
	answers->refused += !is_good;
}

static void report_some(struct answers *answers, uint64_t first, uint64_t count)
{
	for (uint64_t i = first; i < first + count; i++) {
		char name[32];
		struct tidemark_buffer b = { .size = sizeof b,
			.device = i % 2,
			.kind = i % TIDEMARK_KIND_COUNT,
			.id = i,
			.bytes = 64,
			.banks = 1 };
		snprintf(name, sizeof name, "a name that takes room %d", (int)i);
		b.name = tidemark_name(name);
		answers->refused += b.name == 0;
		note(answers, tidemark_alloc(&b) == 0);
	}
}

static uint64_t all_live(void)
{
	uint64_t live = 0;
	for (uint32_t device = 0; device < 2; device++)
		for (uint32_t kind = 0; kind < TIDEMARK_KIND_COUNT; kind++)
			live += itest_live(device, kind);
	return live;
}

static void report_in_little_room(void *context)
{
	struct answers answers = { 0 };
	(void)context;
	report_some(&answers, 0, BUFFERS);
	CHECK_EQ(all_live(), answers.good);
	CHECK_EQ(tidemark_lost(), answers.refused);
	for (uint64_t i = 0; i < BUFFERS; i++) {
		int err = tidemark_free(i % 2, i % TIDEMARK_KIND_COUNT, i);
		CHECK(err == 0 || err == -ENOENT || err == -ENOSPC);
		answers.good -= err == 0;
		answers.refused += err == -ENOSPC;
	}
	CHECK_EQ(answers.good, 0);
	CHECK_EQ(tidemark_lost(), answers.refused);
	for (int i = 0; i < 200; i++) /* its name may be lost as well */
		CHECK(tidemark_phase("phase") == 0 || tidemark_lost() > answers.refused);
}

/* Every size: nobody is hurt, and nothing is left behind. */
static void full_at_every_size(void)
{
	char options[64];
	unsigned step = itest_sanitized() ? 5 : 1;
	get_namespace();
	mount_small("size=4k");
	for (unsigned size = PAGE; size <= LARGE_MAX;
		size += step * (size < SMALL_MAX ? (unsigned)PAGE : (unsigned)LARGE_STEP)) {
		snprintf(options, sizeof options, "size=%u", size);
		remount(0, options);
		CHECK(itest_exited(itest_fork(report_in_little_room, NULL)));
		CHECK_EQ(itest_ledgers(NULL, 0, NULL), 0);
	}
}

static void recovers(struct answers *answers, uint64_t first)
{
	uint64_t good = answers->good;
	for (uint64_t i = first; answers->good == good; i++) {
		CHECK(i < first + RECOVERS_WITHIN);
		note(answers, itest_alloc(0, TIDEMARK_L1, i, 64, 1) == 0);
	}
}

/* Room is made while the program runs, at whatever point it stopped. */
static void recovers_when_room_is_made(void)
{
	get_namespace();
	mount_small("size=4k");
	for (unsigned pages = 1; pages < 300; pages += 20) {
		char options[64];
		snprintf(options, sizeof options, "size=%u", pages * PAGE);
		remount(0, options);
		fflush(NULL);
		pid_t pid = fork();
		if (pid == 0) {
			struct answers answers = { 0 };
			char name[32];
			report_some(&answers, 0, 2 * BUFFERS);
			CHECK(answers.refused != 0);
			remount(0, "size=64m");
			recovers(&answers, 1 << 20);
			CHECK_EQ(tidemark_lost(), answers.refused);
			CHECK_EQ(itest_live(0, TIDEMARK_L1) != 0, 1);
			unsigned i = 0;
			for (uint32_t number = 0; number == 0; i++) {
				CHECK(i < 4096);
				snprintf(name, sizeof name, "later %u", i);
				number = tidemark_name(name);
			}
			_exit(0);
		}
		int status;
		CHECK(waitpid(pid, &status, 0) == pid && itest_exited(status));
		char path[ITEST_PATH_MAX];
		while (itest_ledgers(NULL, 0, path) != 0)
			unlink(path);
	}
}

/* Fills the file system but for about `left` bytes. */
static void fill_up(const char *path, uint64_t left)
{
	struct statvfs fs;
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && fstatvfs(fd, &fs) == 0);
	uint64_t room = (uint64_t)fs.f_bavail * fs.f_frsize;
	CHECK(room > left && fallocate(fd, 0, 0, (off_t)(room - left)) == 0);
	close(fd);
}

/* Others take the pages that were given back after a burst: the next burst is refused, and nobody is hurt. */
static void pages_are_taken(void *context)
{
	struct answers answers = { 0 };
	char path[ITEST_PATH_MAX];
	snprintf(path, sizeof path, "%s/others", own_dir());
	for (uint64_t i = 0; i < BURST; i++)
		CHECK(itest_alloc(0, 0, i, 64, 1) == 0);
	for (uint64_t i = SURVIVORS; i < BURST; i++)
		CHECK(tidemark_free(0, 0, i) == 0);
	fill_up(path, *(const uint64_t *)context);
	for (uint64_t i = SURVIVORS; i < BURST; i++)
		note(&answers, itest_alloc(0, 0, i, 64, 1) == 0);
	CHECK(answers.refused != 0);
	CHECK_EQ(itest_live(0, 0), SURVIVORS + answers.good);
	CHECK_EQ(tidemark_lost(), answers.refused);
	CHECK_EQ(tidemark_free_all(0, 0), SURVIVORS + answers.good);
	CHECK(unlink(path) == 0);
	for (uint64_t i = 0; itest_live(0, 0) < BURST; i++) {
		CHECK(i < RECOVERS_WITHIN);
		itest_alloc(0, 0, i, 64, 1);
	}
	CHECK_EQ(tidemark_free_all(0, 0), BURST);
}

static void full_after_burst(void)
{
	get_namespace();
	mount_small("size=8m");
	for (uint64_t left = 0; left < (1 << 20); left += 100 << 10)
		CHECK(itest_exited(itest_fork(pages_are_taken, &left)));
}

static void inodes_and_read_only(void)
{
	struct answers answers = { 0 };
	get_namespace();
	mount_small("size=8m,nr_inodes=1");
	report_some(&answers, 0, 100);
	CHECK_EQ(answers.good, 0);
	remount(0, "size=8m,nr_inodes=20");
	recovers(&answers, 1000);
	CHECK_EQ(tidemark_lost(), answers.refused);
	CHECK_EQ(itest_ledgers(NULL, getpid(), NULL), 1);
	/* Read-only: not even root may make a ledger there. Our own is mapped and goes on. */
	report_some(&answers, 1 << 24, 10);
}

static void read_only_child(void *context)
{
	struct answers answers = { 0 };
	(void)context;
	report_some(&answers, 0, 100);
	CHECK_EQ(answers.good, 0);
	CHECK_EQ(tidemark_lost(), answers.refused);
	remount(0, "size=8m");
	recovers(&answers, 1000);
	CHECK_EQ(tidemark_lost(), answers.refused);
}

static void read_only(void)
{
	get_namespace();
	mount_small("size=8m");
	remount(MS_RDONLY, "size=8m");
	CHECK(itest_exited(itest_fork(read_only_child, NULL)));
}

static void directory_missing(void)
{
	struct answers answers = { 0 };
	char dir[ITEST_PATH_MAX];
	snprintf(dir, sizeof dir, "%s/not/there", own_dir());
	setenv("TIDEMARK_DIR", dir, 1);
	report_some(&answers, 0, 1000);
	CHECK_EQ(answers.good, 0);
	CHECK_EQ(tidemark_lost(), answers.refused);
	CHECK(strcmp(tidemark_ledger_path(), "") == 0);
}

static void directory_is_a_file(void)
{
	struct answers answers = { 0 };
	char file[ITEST_PATH_MAX];
	snprintf(file, sizeof file, "%s/file", own_dir());
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	setenv("TIDEMARK_DIR", file, 1);
	report_some(&answers, 0, 1000);
	CHECK_EQ(answers.good, 0);
}

static void directory_too_long(void)
{
	struct answers answers = { 0 };
	char dir[2 * ITEST_PATH_MAX];
	memset(dir, '/', sizeof dir - 1);
	dir[sizeof dir - 1] = '\0';
	setenv("TIDEMARK_DIR", dir, 1);
	report_some(&answers, 0, 1000);
	CHECK_EQ(answers.good, 0);
}

/* The directory is given relative to one that the program leaves. */
static void directory_relative_child(void *context)
{
	(void)context;
	CHECK(chdir(own_dir()) == 0);
	setenv("TIDEMARK_DIR", ".", 1);
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
	CHECK(tidemark_ledger_path()[0] == '/');
	CHECK(chdir("/") == 0);
	CHECK(close_range(3, ~0u, 0) == 0);
	for (uint64_t i = 2; i < BUFFERS; i++)
		CHECK(itest_alloc(0, 0, i, 64, 1) == 0);
	CHECK_EQ(tidemark_free_all(0, 0), BUFFERS - 1);
}

static void directory_relative(void)
{
	CHECK(itest_exited(itest_fork(directory_relative_child, NULL)));
	CHECK_EQ(itest_ledgers(NULL, 0, NULL), 0);
}

/* A file size limit sends a signal that ends the program, if it is run into. */
static void report_below_limit(void *context)
{
	struct answers answers = { 0 };
	struct rlimit limit = { .rlim_cur = *(const rlim_t *)context, .rlim_max = RLIM_INFINITY };
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	report_some(&answers, 0, BUFFERS);
	CHECK(answers.refused != 0);
	CHECK_EQ(all_live(), answers.good);
	CHECK_EQ(tidemark_lost(), answers.refused);
	limit.rlim_cur = RLIM_INFINITY;
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	recovers(&answers, 1 << 20);
	CHECK_EQ(tidemark_lost(), answers.refused);
}

static void file_size_limit(void)
{
	if (itest_emulated())
		itest_skip("the emulator writes copies of files of /proc, which have the same limit");
	for (rlim_t limit = 0; limit < 500000; limit = limit * 2 + 1000)
		CHECK(itest_exited(itest_fork(report_below_limit, &limit)));
}

static void descriptor_limit(void)
{
	struct answers answers = { 0 };
	struct rlimit few = { 0 }, before;
	CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
	few.rlim_max = before.rlim_max;
	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	report_some(&answers, 0, 100);
	CHECK_EQ(answers.good, 0);
	few.rlim_cur = 100; /* fewer than the number that the library would like to have */
	few.rlim_cur = few.rlim_cur < before.rlim_cur ? few.rlim_cur : before.rlim_cur;
	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	recovers(&answers, 1000);
	CHECK_EQ(tidemark_lost(), answers.refused);
}

static uint64_t address_space(void)
{
	unsigned long long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");
	CHECK(file != NULL && fscanf(file, "%llu", &pages) == 1);
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void report_in_little_memory(void *context)
{
	struct answers answers = { 0 };
	struct rlimit limit = { .rlim_cur = address_space() + *(const uint64_t *)context, .rlim_max = RLIM_INFINITY };
	CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
	for (uint64_t i = 0; i < 4 * BUFFERS; i++)
		note(&answers, itest_alloc(0, 0, i, 64, 1) == 0);
	CHECK_EQ(itest_live(0, 0), answers.good);
	CHECK_EQ(tidemark_lost(), answers.refused);
	limit.rlim_cur = RLIM_INFINITY;
	CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
	if (answers.refused != 0)
		recovers(&answers, 1 << 20);
}

static void memory_limit(void)
{
	if (itest_emulated())
		itest_skip("the emulator does not limit address space");
	if (itest_sanitized())
		itest_skip("the sanitizer needs all the address space that there is");
	for (uint64_t more = 0; more < (4 << 20); more += 128 << 10)
		CHECK(itest_exited(itest_fork(report_in_little_memory, &more)));
}

/* In a sandbox that forbids fallocate, pages are reserved in another way, and none are given back. */
struct forbidden {
	unsigned err;
	bool only_holes; /* file systems that can reserve pages but not give them back */
};

static void forbid_fallocate(struct forbidden forbidden)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, forbidden.only_holes, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | forbidden.err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		itest_skip("no filters of system calls");
}

static void report_without_fallocate(void *context)
{
	forbid_fallocate(*(const struct forbidden *)context);
	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 20000; i++)
			CHECK(itest_alloc(0, 0, i, 64, 1) == 0);
		for (uint64_t i = 0; i < 20000 && round == 0; i++)
			CHECK(tidemark_free(0, 0, i) == 0);
	}
	CHECK(tidemark_name("a name") != 0);
	CHECK_EQ(tidemark_lost(), 0);
	struct tdm_ledger *ledger = itest_open(tidemark_ledger_path());
	size_t count;
	free(itest_buffers(ledger, 0, &count));
	CHECK_EQ(count, 20000);
	tdm_ledger_close(ledger);
}

static void without_fallocate(void)
{
	static struct forbidden all[] = { { EOPNOTSUPP, false }, { ENOSYS, false }, { EPERM, false },
		{ EOPNOTSUPP, true }, { ENOSYS, true }, { EPERM, true } };
	if (itest_emulated())
		itest_skip("no filters of system calls");
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
		CHECK(itest_exited(itest_fork(report_without_fallocate, &all[i])));
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "full_at_every_size", full_at_every_size, NULL },
		{ "recovers_when_room_is_made", recovers_when_room_is_made, NULL },
		{ "full_after_burst", full_after_burst, NULL },
		{ "inodes_and_read_only", inodes_and_read_only, NULL },
		{ "read_only", read_only, NULL },
		{ "directory_missing", directory_missing, NULL },
		{ "directory_is_a_file", directory_is_a_file, NULL },
		{ "directory_too_long", directory_too_long, NULL },
		{ "directory_relative", directory_relative, NULL },
		{ "file_size_limit", file_size_limit, NULL },
		{ "descriptor_limit", descriptor_limit, NULL },
		{ "memory_limit", memory_limit, NULL },
		{ "without_fallocate", without_fallocate, NULL },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
