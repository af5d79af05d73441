/*
 * How much of its caller's stack the library uses, from the entry into it: a program may report from a signal handler
 * on a small stack of its own. tidemark.h states the limits. Each case runs in a process of its own, on a stack that
 * was filled with a pattern; the lowest byte that changed shows the use.
 */
#include "tidemark.h"

#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
	STACK_BYTES = 1 << 20,
	PATTERN = 0xa5,
	BUFFERS = 100000,
	ROUNDS = 3,
	NAMES = 2000,
	LOOK_S = 2,           /* longer than the time between two looks at the file */
	FIRST_MOST = 4 << 10, /* as tidemark.h says */
	WARM_MOST = 1 << 10,
	FRAMES_MOST = 4 << 10,
	CODE_OK = 0,
	CODE_WRONG = 1,
	CODE_TOO_MUCH = 2,
};

static uintptr_t entry; /* the stack pointer at the calls of the library */

static inline __attribute__((always_inline)) void note_entry(void)
{
	uintptr_t at;
#if defined(__x86_64__)
	__asm__ volatile("mov %%rsp, %0" : "=r"(at));
#elif defined(__aarch64__)
	__asm__ volatile("mov %0, sp" : "=r"(at));
#else
	at = (uintptr_t)__builtin_frame_address(0);
#endif
	entry = entry == 0 || at < entry ? at : entry;
}

static void report(uint64_t id)
{
	note_entry();
	const struct tidemark_buffer b = { .size = sizeof b, .id = id, .bytes = 4096, .banks = 8, .name = 0 };
	if (tidemark_alloc(&b) != 0)
		_exit(CODE_WRONG);
}

static void report_first(void)
{
	report(0);
}

/* Growth of the file, of the index and of the texts; a burst that is given back; a ledger that is deleted. */
static void report_warm(void)
{
	char name[] = "name 000000";
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (uint64_t i = 1; i < BUFFERS; i++)
			report(i);
		for (uint64_t i = 1; i < BUFFERS; i++)
			if (tidemark_free(0, 0, i) != 0)
				_exit(CODE_WRONG);
		for (unsigned i = 0; i < NAMES; i++) {
			unsigned number = round * NAMES + i; /* without snprintf, which takes much */
			for (char *digit = name + sizeof name - 2; *digit != ' '; digit--, number /= 10)
				*digit = (char)('0' + number % 10);
			if (tidemark_name(name) == 0)
				_exit(CODE_WRONG);
		}
		const char *path = tidemark_ledger_path();
		if (round == 1 && unlink(path) != 0)
			_exit(CODE_WRONG);
		for (time_t end = time(NULL) + LOOK_S; time(NULL) < end;) {
			report(1);
			tidemark_free(0, 0, 1);
		}
	}
}

static void report_some(void)
{
	for (uint64_t i = 1; i < BUFFERS / 10; i++)
		report(i);
}

static const struct test_case {
	const char *name, *stacks;
	void (*before)(void), (*run)(void);
	size_t most;
} cases[] = {
	{ "the first report", "0", NULL, report_first, FIRST_MOST },
	{ "warm reports", "0", report_first, report_warm, WARM_MOST },
	{ "the first report with its call stack", "16", NULL, report_first, FIRST_MOST },
	{ "reports with their call stacks", "16", report_first, report_some, FRAMES_MOST },
};

static ucontext_t back;
static void (*body)(void);

static void on_small_stack(void)
{
	body();
}

static size_t measure(void (*run)(void))
{
	static unsigned char *stack;
	static ucontext_t there;
	stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED || getcontext(&there) != 0)
		_exit(CODE_WRONG);
	memset(stack, PATTERN, STACK_BYTES);
	entry = 0;
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = STACK_BYTES;
	there.uc_link = &back;
	body = run;
	makecontext(&there, on_small_stack, 0);
	if (swapcontext(&back, &there) != 0)
		_exit(CODE_WRONG);
	size_t low = 0;
	while (stack[low] == PATTERN)
		low++;
	return entry - (uintptr_t)(stack + low);
}

static _Noreturn void run_case(const struct test_case *c)
{
	if (c->before != NULL)
		c->before();
	size_t used = measure(c->run);
	printf("%s: %zu of %zu bytes\n", c->name, used, c->most);
	fflush(stdout);
	_exit(used <= c->most ? CODE_OK : CODE_TOO_MUCH);
}

static int wait_for_case(size_t i)
{
	char number[16];
	int status = 0;
	snprintf(number, sizeof number, "%zu", i);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		setenv("TIDEMARK_STACKS", cases[i].stacks, 1);
		setenv("TIDEMARK_UNWIND", "fp", 1);
		execl("/proc/self/exe", "stack_use", number, (char *)NULL);
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

int main(int argc, char **argv)
{
	enum { COUNT = sizeof cases / sizeof *cases };
	char dir[] = "/dev/shm/tidemark-test-XXXXXX";
	size_t failed = 0;
	if (argc == 2)
		run_case(&cases[strtoul(argv[1], NULL, 10) % COUNT]);
	if (mkdtemp(dir) == NULL) {
		perror(dir);
		return CODE_WRONG;
	}
	setenv("TIDEMARK", "1", 1);
	setenv("TIDEMARK_DIR", dir, 1);
	for (size_t i = 0; i < COUNT; i++)
		failed += wait_for_case(i) != CODE_OK;
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	printf("[  PASSED  ] %zu test(s).\n", COUNT - failed);
	return failed == 0 ? CODE_OK : CODE_WRONG;
}
