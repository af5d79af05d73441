/*
 * Integration tests with real processes that report, die, fork and misbehave, and the ledgers they leave.
 *
 * A test is a function that runs in its own process, started by exec with TIDEMARK=1 and its own TIDEMARK_DIR, which is
 * removed afterwards. It passes if it returns; a failed check ends it. A program with the name of a test as its
 * argument runs only that test, in a directory that it makes.
 */
#ifndef TDM_ITEST_H
#define TDM_ITEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "ledger/read/reader.h"

struct itest {
	const char *name;
	void (*run)(void); /* NULL: no test, but `role` is run by tests, as itest_spawn says */
	int (*role)(void);
};

/* The end of the list has no name. */
int itest_main(int argc, char **argv, const struct itest *tests);

#define CHECK(x)                                                                                           \
	do {                                                                                               \
		if (!(x)) {                                                                                \
			fprintf(stderr, "%s:%d: process %d: %s\n", __FILE__, __LINE__, (int)getpid(), #x); \
			_exit(1);                                                                          \
		}                                                                                          \
	} while (0)
#define CHECK_EQ(a, b)                                                                                     \
	do {                                                                                               \
		uint64_t a_ = (uint64_t)(a), b_ = (uint64_t)(b);                                           \
		if (a_ != b_) {                                                                            \
			fprintf(stderr, "%s:%d: process %d: %s is %llu, %s is %llu\n", __FILE__, __LINE__, \
				(int)getpid(), #a, (unsigned long long)a_, #b, (unsigned long long)b_);    \
			_exit(1);                                                                          \
		}                                                                                          \
	} while (0)

/* Says why the rest of a test is left out, and ends it: it counts as skipped. */
_Noreturn void itest_skip(const char *why);

/* Whether a sanitizer is compiled in: then less is done, and address space is not limited. */
bool itest_sanitized(void);
bool itest_thread_sanitized(void); /* which does not understand forks of programs with threads */
bool itest_emulated(void);         /* by qemu-user, which does not do everything that the kernel does */
/* `many` plain, a tenth of it with a sanitizer or an emulator. */
unsigned itest_scale(unsigned many);

/* A random number that depends on the seed alone. */
uint64_t itest_random(uint64_t *seed);

/* Runs a function in a forked child and waits: its exit status as waitpid gives it. Itself returning: exit(0). */
int itest_fork(void (*run)(void *context), void *context);
/* Starts this program again in a role; NAME=VALUE strings up to a NULL are put into its environment (an empty value
 * takes it out). Returns the status. */
int itest_spawn(const char *role, const char *const *environment);
bool itest_exited(int status); /* with 0 */

/* The words that start this program again in a role; the first one is the file to execute. */
enum { ITEST_WORDS_MAX = 8 };
struct itest_command {
	char text[1024];
	char *words[ITEST_WORDS_MAX];
};
void itest_command(const char *role, struct itest_command *command);

/* Ledgers in a directory with the folders of users (NULL: $TIDEMARK_DIR), those of a process (0: all). The path of the
 * last is stored when `path` is not NULL. */
enum { ITEST_PATH_MAX = 512 };
unsigned itest_ledgers(const char *dir, pid_t pid, char path[ITEST_PATH_MAX]);

/* Opens the ledger at a path, which must be readable. */
struct tdm_ledger *itest_open(const char *path);

/* The live buffers of a device that is at rest: exact, and as many as the counters say. Owned by the caller. */
struct tdm_ledger_buffer *itest_buffers(struct tdm_ledger *ledger, size_t device, size_t *count);

/* Plain reports on device 0 to `banks` banks of 64 bytes. */
int itest_alloc(uint32_t device, uint32_t kind, uint64_t id, uint64_t bank_bytes, uint32_t banks);
uint64_t itest_live(uint32_t device, uint32_t kind); /* as tidemark_get_usage says */

/*
 * Forks a child, kills it at a random moment and checks its ledger, itest_scale(times) times. The child runs `begin`,
 * which reports what is there at any moment, and then `report_for_ever`.
 */
void itest_kill(unsigned times, uint64_t seed, void (*begin)(void), void (*report_for_ever)(void),
	void (*check)(struct tdm_ledger *ledger));

/* The field 22 of /proc/self/stat, which is in the names of ledgers. */
unsigned long long itest_start_time(void);

#endif
