/*
 * Reporting makes no system call once it is warm, except that it looks twice a second whether the ledger is still
 * there. Each case runs in a process of its own: its threads warm up, then a filter is laid over all of them that lets
 * nothing pass but that look, writing and ending, and then they report. A system call that is caught ends the process
 * with its number on standard error.
 */
#include "tidemark.h"

#include <ftw.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LIVE = 1000,
	WARM_PAIRS = 20000,
	PAIRS = 100000,
	MAX_THREADS = 2,
	CODE_OK = 0,
	CODE_WRONG = 1,
	CODE_CAUGHT = 3,
	CODE_NO_FILTER = 77, /* how a test says that it was skipped */
};

static const struct test_case {
	const char *name;
	size_t threads;
	bool same_device;
	bool must_be_caught; /* makes a system call on purpose: the test of the test */
	/* Two threads that want one device take turns: one may let the other run, ask whether it still exists, or take
	 * the device over from it. */
	bool takes_turns;
} cases[] = {
	{ "control", 1, false, true, false },
	{ "one thread", 1, false, false, false },
	{ "two threads, two devices", 2, false, false, false },
	{ "two threads, one device", 2, true, false, true },
};

struct worker {
	uint32_t device;
	uint64_t next_id;
	uint64_t id[LIVE];
	uint64_t seed;
};

static struct worker workers[MAX_THREADS];
static atomic_size_t warm, started, finished;
static atomic_bool wrong;

static void report_alloc(const struct worker *w, uint64_t id)
{
	const struct tidemark_buffer b = { .size = sizeof b,
		.device = w->device,
		.kind = TIDEMARK_L1,
		.id = id,
		.address = id * 64,
		.bytes = 4096 + id % 1024,
		.banks = 64,
		.page_size = 2048,
		.name = TIDEMARK_SITE() };
	if (tidemark_alloc(&b) != 0)
		atomic_store(&wrong, true);
}

static void report_pairs(struct worker *w, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
		uint64_t *victim = &w->id[(w->seed >> 33) % LIVE];
		if (tidemark_free(w->device, TIDEMARK_L1, *victim) != 0)
			atomic_store(&wrong, true);
		*victim = w->next_id++;
		report_alloc(w, *victim);
	}
}

/* Waiting may not make a system call either. */
static void wait_until(const atomic_size_t *counter, size_t value)
{
	while (atomic_load(counter) < value)
		__asm__ volatile("" ::: "memory");
}

static void warm_up(struct worker *w)
{
	for (size_t i = 0; i < LIVE; i++) {
		w->id[i] = w->next_id++;
		report_alloc(w, w->id[i]);
	}
	report_pairs(w, WARM_PAIRS);
}

static void *work(void *state)
{
	warm_up(state);
	atomic_fetch_add(&warm, 1);
	wait_until(&started, 1);
	report_pairs(state, PAIRS);
	atomic_fetch_add(&finished, 1);
	wait_until(&finished, SIZE_MAX); /* for ever: even the end of a thread is a system call */
	return NULL;
}

static void caught(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)context;
	char text[] = "system call number 000\n";
	for (int n = info->si_syscall, i = (int)sizeof text - 3; n > 0; n /= 10, i--)
		text[i] = (char)('0' + n % 10);
	syscall(SYS_write, STDERR_FILENO, text, sizeof text - 1);
	syscall(SYS_exit_group, CODE_CAUGHT);
}

static bool forbid_system_calls(bool takes_turns)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 8, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 7, 0),
		/* Twice a second: is the ledger still there? */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_newfstatat, 6, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fstat, 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, takes_turns ? SYS_sched_yield : SYS_write, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, takes_turns ? SYS_getpid : SYS_write, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, takes_turns ? SYS_tgkill : SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, takes_turns ? SYS_rt_sigprocmask : SYS_write, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, takes_turns ? SYS_membarrier : SYS_write, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	};
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
	struct sigaction action = { .sa_sigaction = caught, .sa_flags = SA_SIGINFO };
	sigaction(SIGSYS, &action, NULL);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

/* In the child. */
static _Noreturn void run_case(const struct test_case *c)
{
	pthread_t thread;
	for (size_t i = 0; i < c->threads; i++)
		workers[i] = (struct worker){
			.device = c->same_device ? 0 : (uint32_t)i, .next_id = 1 + ((uint64_t)i << 32), .seed = i
		};
	if (c->threads > 1 && pthread_create(&thread, NULL, work, &workers[1]) != 0)
		_exit(CODE_WRONG);
	warm_up(&workers[0]);
	wait_until(&warm, c->threads - 1);
	if (!forbid_system_calls(c->takes_turns))
		_exit(CODE_NO_FILTER);
	atomic_store(&started, 1);
	if (c->must_be_caught)
		getppid();
	report_pairs(&workers[0], PAIRS);
	atomic_fetch_add(&finished, 1);
	wait_until(&finished, c->threads);
	syscall(SYS_exit_group, !atomic_load(&wrong) && tidemark_lost() == 0 ? CODE_OK : CODE_WRONG);
	abort();
}

static int wait_for_case(const char *program, const char *number)
{
	int status = 0;
	pid_t pid = fork();
	if (pid == 0) {
		/* A new program: the library reads its environment as it starts. */
		execl(program, program, number, (char *)NULL);
		_exit(CODE_WRONG);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return CODE_WRONG;
	return WEXITSTATUS(status);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void remove_dir(const char *path)
{
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int main(int argc, char **argv)
{
	enum { COUNT = sizeof cases / sizeof *cases };
	char dir[] = "/dev/shm/tidemark-test-XXXXXX", number[16];
	size_t failed = 0;
	if (argc == 2)
		run_case(&cases[strtoul(argv[1], NULL, 10) % COUNT]);
	if (mkdtemp(dir) == NULL) {
		perror(dir);
		return CODE_WRONG;
	}
	setenv("TIDEMARK", "1", 1);
	setenv("TIDEMARK_DIR", dir, 1);
	setenv("TIDEMARK_STACKS", "0", 1);
	for (size_t i = 0; i < COUNT; i++) {
		snprintf(number, sizeof number, "%zu", i);
		int code = wait_for_case("/proc/self/exe", number);
		if (code == CODE_NO_FILTER) {
			puts("skipped: no seccomp filter can be set here");
			remove_dir(dir);
			return CODE_NO_FILTER;
		}
		bool good = code == (cases[i].must_be_caught ? CODE_CAUGHT : CODE_OK);
		printf("%s: %s\n", cases[i].name, good ? "ok" : code == CODE_CAUGHT ? "a system call" : "wrong");
		failed += !good;
	}
	remove_dir(dir);
	printf("[  PASSED  ] %zu test(s).\n", COUNT - failed);
	return failed == 0 ? CODE_OK : CODE_WRONG;
}
