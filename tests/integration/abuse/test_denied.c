/*
 * System calls that a sandbox denies, from the start or while the program runs, and clocks that a namespace shifts: no
 * report is lost, and no figure is wrong.
 */
#include "itest.h"
#include "tidemark.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

enum { THREADS = 4, REPORTS = 100000, WARM = 10000, SHIFT_S = 100000 };

static void deny(unsigned number, unsigned err)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
	if (itest_emulated())
		itest_skip("no filters of system calls");
	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
		itest_skip("no filters of system calls");
}

static atomic_uint refused;

static void *report_pairs(void *context)
{
	uint64_t first = (uint64_t)(uintptr_t)context << 32;
	for (uint64_t i = 0; i < itest_scale(REPORTS); i++) {
		bool is_good = itest_alloc(0, 0, first + i, 64, 1) == 0;
		if (is_good && i % 100 != 0)
			is_good = tidemark_free(0, 0, first + i) == 0;
		atomic_fetch_add(&refused, !is_good);
	}
	return NULL;
}

static void report_in_threads(void)
{
	pthread_t threads[THREADS];
	size_t count;
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, report_pairs, (void *)(i + 1)) == 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(atomic_load(&refused), 0);
	CHECK_EQ(tidemark_lost(), 0);
	struct tdm_ledger *ledger = itest_open(tidemark_ledger_path());
	free(itest_buffers(ledger, 0, &count)); /* which add up to the counters */
	CHECK_EQ(count, THREADS * ((itest_scale(REPORTS) + 99) / 100));
	CHECK_EQ(tdm_ledger_refused(ledger), 0);
	tdm_ledger_close(ledger);
}

/* A thread owns the device, and can no longer be put out with a barrier. */
static void membarrier_later(void)
{
	for (uint64_t i = 0; i < WARM; i++)
		CHECK(itest_alloc(0, 0, i, 64, 1) == 0 && tidemark_free(0, 0, i) == 0);
	deny(SYS_membarrier, EPERM);
	report_in_threads();
}

static void membarrier_never(void)
{
	deny(SYS_membarrier, ENOSYS);
	report_in_threads();
}

static void gettid_denied(void)
{
	deny(SYS_gettid, EPERM);
	report_in_threads();
}

/* Some sandboxes answer with success. */
static void gettid_is_nothing(void)
{
	deny(SYS_gettid, 0);
	report_in_threads();
}

static void report_one(const uint64_t *id)
{
	CHECK(itest_alloc(0, 0, *id, 64, 1) == 0);
}

/* The buffer's age by this process's clock. */
static void check_age(uint64_t before, uint64_t after)
{
	char path[ITEST_PATH_MAX];
	size_t count;
	uint64_t ns;
	CHECK_EQ(itest_ledgers(NULL, 0, path), 1);
	struct tdm_ledger *ledger = itest_open(path);
	struct tdm_ledger_buffer *buffers = itest_buffers(ledger, 0, &count);
	CHECK_EQ(count, 1);
	CHECK(tdm_ledger_monotonic(ledger, buffers[0].more.tsc, &ns));
	CHECK(ns + TDM_NS_PER_S > before && ns < after + TDM_NS_PER_S);
	CHECK(tdm_ledger_began(ledger) + TDM_NS_PER_S > before && tdm_ledger_began(ledger) < after + TDM_NS_PER_S);
	free(buffers);
	tdm_ledger_close(ledger);
}

static void in_a_time_namespace(void)
{
	char text[64];
	int ready[2], end[2], status;
	char c;
	if (itest_emulated())
		itest_skip("the emulator has no time namespaces");
	if (unshare(CLONE_NEWTIME) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWTIME) != 0)
		itest_skip("no time namespace can be had here");
	int fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	int len = snprintf(text, sizeof text, "monotonic %d 0\nboottime %d 0\n", SHIFT_S, SHIFT_S);
	if (fd < 0 || write(fd, text, (size_t)len) != len)
		itest_skip("the clock cannot be shifted here");
	close(fd);
	CHECK(pipe(ready) == 0 && pipe(end) == 0);
	uint64_t before = tdm_clock_ns();
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		const uint64_t id = 1;
		close(end[1]);
		CHECK(tdm_clock_ns() > before + SHIFT_S / 2 * TDM_NS_PER_S);
		report_one(&id);
		usleep(2000);
		CHECK(tidemark_phase("phase") == 0); /* reads the clocks again */
		CHECK(write(ready[1], "x", 1) == 1);
		CHECK(read(end[0], &c, 1) == 0);
		_exit(0);
	}
	CHECK(read(ready[0], &c, 1) == 1);
	check_age(before, tdm_clock_ns());
	close(end[1]);
	CHECK(waitpid(pid, &status, 0) == pid && itest_exited(status));
	check_age(before, tdm_clock_ns()); /* the lock is gone, but the machine is the same */
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "membarrier_later", membarrier_later, NULL },
		{ "membarrier_never", membarrier_never, NULL },
		{ "gettid_denied", gettid_denied, NULL },
		{ "gettid_is_nothing", gettid_is_nothing, NULL },
		{ "in_a_time_namespace", in_a_time_namespace, NULL },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
