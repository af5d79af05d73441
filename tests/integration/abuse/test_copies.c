/*
 * Several copies of the library in one process: one linked into the program, others into plug-ins. Each has a ledger of
 * its own, and a reader sees all of them alive, whatever the others do.
 */
#include "itest.h"
#include "tidemark.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { COPIES = 3 };

typedef int report_function(int leaves_one);

/* A plug-in under a name of its own, so that the loader takes it for another one. */
static report_function *load_copy(unsigned number)
{
	char path[ITEST_PATH_MAX];
	struct stat st;
	CHECK(snprintf(path, sizeof path, "%s/plugin%u.so", getenv("TIDEMARK_DIR"), number) < ITEST_PATH_MAX);
	int from = open(ITEST_PLUGIN, O_RDONLY | O_CLOEXEC), to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	CHECK(from >= 0 && to >= 0 && fstat(from, &st) == 0);
	for (off_t at = 0; at < st.st_size;)
		CHECK(sendfile(to, from, &at, (size_t)(st.st_size - at)) > 0);
	close(from);
	close(to);
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (plugin == NULL)
		fprintf(stderr, "%s\n", dlerror());
	CHECK(plugin != NULL);
	report_function *report;
	*(void **)&report = dlsym(plugin, "itest_reload");
	CHECK(report != NULL);
	return report;
}

struct expected {
	unsigned ledgers, buffers;
};

/* The ledgers of the parent; generations count from 0. */
static void check_parent(void *context)
{
	const struct expected *expected = context;
	char path[ITEST_PATH_MAX];
	size_t count, all = 0;
	CHECK_EQ(itest_ledgers(NULL, getppid(), path), expected->ledgers);
	for (unsigned i = 0; i < expected->ledgers; i++) {
		snprintf(strrchr(path, '.'), 16, ".%u", i);
		struct tdm_ledger *ledger = itest_open(path);
		CHECK(tdm_ledger_liveness(ledger) == TDM_ALIVE);
		CHECK_EQ(tdm_ledger_header(ledger)->pid, getppid());
		free(itest_buffers(ledger, 0, &count));
		all += count;
		tdm_ledger_close(ledger);
	}
	CHECK_EQ(all, expected->buffers);
}

static void all_are_seen(void)
{
	struct expected expected = { 1 + COPIES, 1 + COPIES };
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
	for (unsigned i = 0; i < COPIES; i++)
		CHECK(load_copy(i)(1) == 0);
	CHECK(itest_exited(itest_fork(check_parent, &expected)));
	CHECK(itest_alloc(0, 0, 2, 64, 1) == 0);
	expected.buffers++;
	CHECK(itest_exited(itest_fork(check_parent, &expected)));
}

/* A new copy removes what earlier programs left, but not another copy's ledger that has no buffers at the moment. */
static void empty_ones_stay(void)
{
	struct expected expected = { 1 + COPIES, 1 };
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0 && tidemark_free(0, 0, 1) == 0);
	for (unsigned i = 0; i < COPIES; i++)
		CHECK(load_copy(i)(0) == 0);
	CHECK(itest_alloc(0, 0, 2, 64, 1) == 0);
	CHECK(itest_exited(itest_fork(check_parent, &expected)));
}

static void without_helper(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLONE_VM | CLONE_VFORK, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	if (itest_emulated() || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		itest_skip("no filters of system calls");
	empty_ones_stay();
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "all_are_seen", all_are_seen, NULL },
		{ "empty_ones_stay", empty_ones_stay, NULL },
		{ "without_helper", without_helper, NULL },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
