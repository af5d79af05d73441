/*
 * The program's descriptors are its own: the library keeps none of them, and a thread that reuses any number at any
 * moment keeps its file as it was. The library opens files in a helper, which nobody else notices, and where there can
 * be no helper it does without.
 */
#include "itest.h"
#include "tidemark.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { BUFFERS = 20000, DEVICES = 32, BURSTS = 4, ROUNDS = 6, ONES = 8 };

/* The numbers that a library would get: the first free ones, and the first ones out of the way of most programs. */
enum { LOW = 3, LOW_END = 8, HIGH = 200, HIGH_END = 204, OWN = 300 };

static const char precious[ONES] = "precious";

/* A file of the program's own, which one of its threads puts on these descriptor numbers, again and again. */
static struct {
	char path[ITEST_PATH_MAX];
	int fd;
	atomic_bool is_over;
	atomic_uint rounds;
} other;

static void *take_numbers(void *context)
{
	(void)context;
	while (!atomic_load(&other.is_over)) {
		for (int fd = LOW; fd < HIGH_END; fd = fd == LOW_END - 1 ? HIGH : fd + 1)
			dup2(other.fd, fd);
		atomic_fetch_add(&other.rounds, 1);
	}
	return NULL;
}

static void begin_taking(pthread_t *thread)
{
	CHECK(snprintf(other.path, sizeof other.path, "%s/precious", getenv("TIDEMARK_DIR")) < ITEST_PATH_MAX);
	int fd = open(other.path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, precious, ONES) == ONES);
	other.fd = fcntl(fd, F_DUPFD_CLOEXEC, OWN);
	CHECK(other.fd >= OWN);
	CHECK(pthread_create(thread, NULL, take_numbers, NULL) == 0);
	while (atomic_load(&other.rounds) < 2)
		sched_yield();
}

/* The file is as it was, and so are the numbers: each is the program's file. */
static void end_taking(pthread_t thread)
{
	struct stat st, numbered;
	char content[ONES + 1] = "";
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	atomic_store(&other.is_over, true);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(fstat(other.fd, &st) == 0);
	CHECK_EQ(st.st_size, ONES);
	CHECK(pread(other.fd, content, ONES, 0) == ONES && memcmp(content, precious, ONES) == 0);
	CHECK(fcntl(other.fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK);
	for (int fd = LOW; fd < HIGH_END; fd = fd == LOW_END - 1 ? HIGH : fd + 1)
		CHECK(fstat(fd, &numbered) == 0 && numbered.st_ino == st.st_ino);
	CHECK(close_range(LOW, OWN - 1, 0) == 0);
}

/* The ledger grows in every way, shrinks, and grows again; half of the first device's buffers stay. */
static void report_buffers(void)
{
	char name[1024];
	uint64_t count = itest_scale(BUFFERS);
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	for (unsigned burst = 0; burst < BURSTS; burst++) {
		for (uint32_t device = 0; device < DEVICES; device++) {
			CHECK(itest_alloc(device, 1, 1, 64, 1) == 0 && tidemark_free(device, 1, 1) == 0);
			CHECK(tidemark_phase("phase") == 0);
			name[0] = (char)('A' + burst);
			name[1] = (char)('A' + device);
			CHECK(tidemark_name(name) != 0);
		}
		for (uint64_t i = burst == 0 ? 0 : count / 2; i < count; i++)
			CHECK(itest_alloc(0, 0, i, 64, 1) == 0);
		for (uint64_t i = count / 2; i < count; i++)
			CHECK(tidemark_free(0, 0, i) == 0);
	}
	CHECK_EQ(tidemark_lost(), 0);
}

/* What another process sees. */
static void check_parent(void *context)
{
	char path[ITEST_PATH_MAX];
	size_t count;
	int32_t pid;
	(void)context;
	CHECK_EQ(itest_ledgers(NULL, getppid(), path), 1);
	struct tdm_ledger *ledger = itest_open(path);
	CHECK(tdm_ledger_holder(ledger, &pid) == TDM_ALIVE && (pid == 0 || pid == getppid()));
	CHECK_EQ(tdm_ledger_header(ledger)->pid, getppid());
	CHECK_EQ(tdm_ledger_header(ledger)->start_time, strtoull(strchr(strrchr(path, '/'), '.') + 1, NULL, 10));
	CHECK(tdm_ledger_header(ledger)->comm[0] != '\0' && tdm_ledger_header(ledger)->command[0] != '\0');
	free(itest_buffers(ledger, 0, &count));
	CHECK_EQ(count, itest_scale(BUFFERS) / 2);
	tdm_ledger_close(ledger);
}

static void attacked_child(void *context)
{
	pthread_t thread;
	bool is_first = context != NULL;
	if (!is_first)
		CHECK(itest_alloc(0, 0, 0, 64, 1) == 0 && tidemark_free(0, 0, 0) == 0);
	begin_taking(&thread);
	report_buffers();
	end_taking(thread);
	CHECK(itest_exited(itest_fork(check_parent, NULL)));
}

/* While the ledger grows, and from before the first report. */
static void numbers_are_taken(void)
{
	char first[] = "first";
	for (unsigned i = 0; i < ROUNDS; i++) {
		CHECK(itest_exited(itest_fork(attacked_child, NULL)));
		CHECK(itest_exited(itest_fork(attacked_child, first)));
	}
}

static void recreated_child(void *context)
{
	pthread_t thread;
	char was[ITEST_PATH_MAX];
	(void)context;
	CHECK(itest_alloc(0, 0, 0, 64, 1) == 0);
	begin_taking(&thread);
	snprintf(was, sizeof was, "%s", tidemark_ledger_path());
	CHECK(unlink(was) == 0);
	for (uint64_t i = 0; access(tidemark_ledger_path(), F_OK) != 0; i++) {
		CHECK(itest_alloc(0, 1, 1, 64, 1) == 0 && tidemark_free(0, 1, 1) == 0);
		usleep(1000);
	}
	end_taking(thread);
	CHECK(strcmp(was, tidemark_ledger_path()) != 0);
	CHECK(tidemark_free(0, 0, 0) == 0);
}

static void numbers_are_taken_while_recreated(void)
{
	CHECK(itest_exited(itest_fork(recreated_child, NULL)));
}

static unsigned count_descriptors(void)
{
	unsigned count = 0;
	DIR *list = opendir("/proc/self/fd");
	CHECK(list != NULL);
	while (readdir(list) != NULL)
		count++;
	closedir(list);
	return count;
}

/* A program in a namespace of its own has one descriptor more, which shows its pid to readers outside. */
static unsigned kept_descriptors(void)
{
	struct stat st;
	CHECK(stat("/proc/self/ns/pid", &st) == 0);
	return st.st_ino != 0xeffffffc;
}

static void none_stays(void)
{
	unsigned before = count_descriptors();
	report_buffers();
	CHECK_EQ(count_descriptors(), before + kept_descriptors());
	CHECK(itest_exited(itest_fork(check_parent, NULL)));
}

static atomic_uint child_signals;

static void count_signal(int signal)
{
	(void)signal;
	atomic_fetch_add(&child_signals, 1);
}

/* The helper is no child that the program could notice. */
static void nobody_notices(void)
{
	int status;
	signal(SIGCHLD, count_signal);
	errno = 0;
	report_buffers();
	CHECK_EQ(errno, 0);
	CHECK(waitpid(-1, &status, 0) == -1 && errno == ECHILD);
	CHECK(waitpid(-1, &status, __WALL) == -1 && errno == ECHILD);
	CHECK_EQ(atomic_load(&child_signals), 0);
}

/* Its lock ends with the process, and with exec, although a child and its mappings are still there. */
static void lock_ends(void)
{
	char path[ITEST_PATH_MAX];
	int ends[2], child[2];
	if (itest_emulated())
		itest_skip("the emulator keeps all mappings in a child (MADV_DONTFORK)");
	CHECK(pipe(ends) == 0 && pipe(child) == 0);
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
		if (fork() == 0) {
			char c;
			close(ends[1]);
			CHECK(write(child[1], "x", 1) == 1);
			CHECK(read(ends[0], &c, 1) == 0); /* until the test ends */
			_exit(0);
		}
		_exit(0);
	}
	int status;
	char c;
	CHECK(waitpid(pid, &status, 0) == pid && itest_exited(status));
	CHECK(read(child[0], &c, 1) == 1);
	CHECK_EQ(itest_ledgers(NULL, pid, path), 1);
	struct tdm_ledger *ledger = itest_open(path);
	CHECK(tdm_ledger_liveness(ledger) == TDM_DEAD);
	tdm_ledger_close(ledger);
}

/* ---- where there is no helper ---- */

struct denied {
	unsigned number;
	unsigned argument, value; /* of this argument, or all if `argument` is 6 */
	unsigned err;
};

static void deny(struct denied denied)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied.number, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			denied.argument < 6 ? offsetof(struct seccomp_data, args[denied.argument % 6]) : 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied.argument < 6 ? denied.value : denied.number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | denied.err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
		itest_skip("no filters of system calls");
}

static struct denied no_helper[] = { { SYS_clone, 0, CLONE_VM | CLONE_VFORK, EPERM },
	{ SYS_clone, 0, CLONE_VM | CLONE_VFORK, ENOSYS }, { SYS_clone, 0, CLONE_VM | CLONE_VFORK, EAGAIN } };

static void report_without_helper(void *context)
{
	deny(*(const struct denied *)context);
	none_stays();
}

static void without_helper(void)
{
	if (itest_emulated())
		itest_skip("no filters of system calls");
	for (size_t i = 0; i < sizeof no_helper / sizeof *no_helper; i++)
		CHECK(itest_exited(itest_fork(report_without_helper, &no_helper[i])));
}

/* The ledger grows without any descriptor, so only the first report opens files. */
static void attacked_without_helper(void *context)
{
	deny(no_helper[0]);
	attacked_child(context);
}

static void numbers_are_taken_without_helper(void)
{
	if (itest_emulated())
		itest_skip("no filters of system calls");
	for (unsigned i = 0; i < ROUNDS; i++)
		CHECK(itest_exited(itest_fork(attacked_without_helper, NULL)));
}

/* The leak check needs a child, which it cannot have in such a namespace. */
static void end_at_once(void)
{
	fflush(NULL);
	if (itest_sanitized())
		_exit(0);
}

/* A program that is about to make a pid namespace: its next child must be its own, not the library's. */
static void child_of_namespace(void *context)
{
	(void)context;
	CHECK_EQ(getpid(), 1);
	end_at_once();
}

static void before_a_namespace(void)
{
	if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
		itest_skip("no pid namespace can be had here");
	report_buffers();
	for (uint64_t i = 0; i < itest_scale(BUFFERS) / 2; i++)
		CHECK(tidemark_free(0, 0, i) == 0);
	CHECK(itest_exited(itest_fork(child_of_namespace, NULL)));
	end_at_once();
}

/* In a namespace, a reader outside sees the pid that the process has there. */
static void report_and_wait(int ready, int end)
{
	char c;
	report_buffers();
	CHECK(write(ready, "x", 1) == 1);
	CHECK(read(end, &c, 1) == 0);
	_exit(0);
}

static void pid_is_seen_from_outside(void)
{
	char path[ITEST_PATH_MAX];
	int ready[2], end[2], status;
	int32_t holder;
	char c;
	if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
		itest_skip("no pid namespace can be had here");
	CHECK(pipe(ready) == 0 && pipe(end) == 0);
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		close(end[1]);
		report_and_wait(ready[1], end[0]);
	}
	CHECK(read(ready[0], &c, 1) == 1);
	CHECK_EQ(itest_ledgers(NULL, 0, path), 1);
	struct tdm_ledger *ledger = itest_open(path);
	CHECK(tdm_ledger_holder(ledger, &holder) == TDM_ALIVE);
	CHECK_EQ(holder, pid);
	close(end[1]);
	CHECK(waitpid(pid, &status, 0) == pid && itest_exited(status));
	CHECK(tdm_ledger_holder(ledger, &holder) == TDM_DEAD);
	tdm_ledger_close(ledger);
	end_at_once();
}

/* The file is still there, but the program cannot reach it any more: nothing is lost. */
static void out_of_reach(void)
{
	char path[ITEST_PATH_MAX], empty[ITEST_PATH_MAX];
	if (geteuid() != 0)
		itest_skip("only root can change the root directory");
	if (itest_emulated() || itest_sanitized())
		itest_skip("the emulator and the sanitizers need files of the system");
	report_buffers();
	snprintf(path, sizeof path, "%s", tidemark_ledger_path());
	int old = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(snprintf(empty, sizeof empty, "%s/empty", getenv("TIDEMARK_DIR")) < ITEST_PATH_MAX);
	CHECK(old >= 0 && mkdir(empty, 0700) == 0 && chroot(empty) == 0);
	for (unsigned i = 0; i < 3000; i++) {
		CHECK(itest_alloc(1, 0, i, 64, 1) == 0);
		usleep(500);
	}
	CHECK_EQ(tidemark_lost(), 0);
	CHECK(fchdir(old) == 0 && chroot(".") == 0);
	CHECK(strcmp(path, tidemark_ledger_path()) == 0 && access(path, F_OK) == 0);
}

/* Memory that the program locks is not the whole address space that the ledger has reserved. */
static void locked_memory(void)
{
	struct stat st;
	report_buffers();
	if (mlockall(MCL_CURRENT) != 0)
		itest_skip("no memory can be locked");
	CHECK(stat(tidemark_ledger_path(), &st) == 0);
	CHECK((uint64_t)st.st_blocks * 512 < (16 << 20));
	CHECK(munlockall() == 0);
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "numbers_are_taken", numbers_are_taken, NULL },
		{ "numbers_are_taken_while_recreated", numbers_are_taken_while_recreated, NULL },
		{ "none_stays", none_stays, NULL },
		{ "nobody_notices", nobody_notices, NULL },
		{ "lock_ends", lock_ends, NULL },
		{ "without_helper", without_helper, NULL },
		{ "numbers_are_taken_without_helper", numbers_are_taken_without_helper, NULL },
		{ "before_a_namespace", before_a_namespace, NULL },
		{ "pid_is_seen_from_outside", pid_is_seen_from_outside, NULL },
		{ "out_of_reach", out_of_reach, NULL },
		{ "locked_memory", locked_memory, NULL },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
