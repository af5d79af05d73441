#include "itest.h"
#include "../../unit/ledger_buffers.h"
#include "tidemark.h"

#include "ledger/read/ledger_list.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#if !defined(TDM_TEST_EMULATOR)
#define TDM_TEST_EMULATOR /* the words of the command that runs programs, each with a comma; none here */
#endif

enum { CODE_SKIPPED = 77 };
enum verdict { PASSED, FAILED, SKIPPED, VERDICTS };

static const char *const emulator[] = { TDM_TEST_EMULATOR NULL };

bool itest_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
	return true;
#endif
#endif
	return false;
}

bool itest_thread_sanitized(void)
{
#if defined(__SANITIZE_THREAD__)
	return true;
#else
	return false;
#endif
}

bool itest_emulated(void)
{
	return emulator[0] != NULL;
}

unsigned itest_scale(unsigned many)
{
	return itest_sanitized() || itest_emulated() ? (many + 9) / 10 : many;
}

uint64_t itest_random(uint64_t *seed)
{
	uint64_t x = (*seed += UINT64_C(0x9e3779b97f4a7c15));
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

void itest_skip(const char *why)
{
	printf("             left out: %s\n", why);
	fflush(stdout);
	_exit(CODE_SKIPPED);
}

bool itest_exited(int status)
{
	if (WIFSIGNALED(status))
		fprintf(stderr, "ended by signal %d\n", WTERMSIG(status));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int wait_for(pid_t pid)
{
	int status = -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

int itest_fork(void (*run)(void *context), void *context)
{
	fflush(NULL);
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		run(context);
		exit(0);
	}
	return wait_for(pid);
}

static void put_environment(const char *const *environment)
{
	for (; environment != NULL && *environment != NULL; environment++) {
		char copy[ITEST_PATH_MAX];
		snprintf(copy, sizeof copy, "%s", *environment);
		char *equals = strchr(copy, '=');
		CHECK(equals != NULL);
		*equals = '\0';
		if (equals[1] != '\0')
			setenv(copy, equals + 1, 1);
		else
			unsetenv(copy);
	}
}

void itest_command(const char *role, struct itest_command *command)
{
	char path[ITEST_PATH_MAX] = "";
	size_t used = 0, before = sizeof emulator / sizeof *emulator - 1;
	CHECK(before + 2 < ITEST_WORDS_MAX);
	CHECK(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
	for (size_t i = 0; i < before + 2; i++) {
		const char *word = i < before ? emulator[i] : i == before ? path : role;
		command->words[i] = command->text + used;
		used += 1 + (size_t)snprintf(command->text + used, sizeof command->text - used, "%s", word);
		CHECK(used <= sizeof command->text);
	}
	command->words[before + 2] = NULL;
}

int itest_spawn(const char *role, const char *const *environment)
{
	struct itest_command command;
	itest_command(role, &command);
	fflush(NULL);
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		put_environment(environment);
		execv(command.words[0], command.words);
		_exit(127);
	}
	return wait_for(pid);
}

struct found {
	unsigned count;
	char *path; /* of the last; may be NULL */
};

static void count_entry(void *context, const struct tdm_ledger_entry *entry)
{
	struct found *found = context;
	CHECK(entry->folder_err == 0);
	if (found->path != NULL)
		CHECK(snprintf(found->path, ITEST_PATH_MAX, "%s", entry->path) < ITEST_PATH_MAX);
	found->count++;
}

unsigned itest_ledgers(const char *dir, pid_t pid, char path[ITEST_PATH_MAX])
{
	int32_t only = (int32_t)pid;
	struct found found = { 0, path };
	struct tdm_ledger_search search = { .dir = dir, .each = count_entry, .context = &found };
	if (pid != 0) {
		search.pids = &only;
		search.pid_count = 1;
	}
	CHECK(tdm_ledger_list(&search) == 0);
	CHECK_EQ(search.left_out, 0);
	return found.count;
}

struct tdm_ledger *itest_open(const char *path)
{
	struct tdm_ledger *ledger;
	struct tdm_diag diag = { 0 };
	int err = tdm_ledger_open(path, &ledger, &diag);
	if (err != 0)
		fprintf(stderr, "%s: %s\n", path, diag.text);
	CHECK(err == 0);
	return ledger;
}

struct tdm_ledger_buffer *itest_buffers(struct tdm_ledger *ledger, size_t device, size_t *count)
{
	struct tdm_ledger_buffer *buffers;
	bool exact;
	CHECK(ledger_buffers(ledger, device, &buffers, count, &exact) == 0);
	CHECK(exact);
	CHECK_EQ(tdm_ledger_refused(ledger), 0);
	return buffers;
}

int itest_alloc(uint32_t device, uint32_t kind, uint64_t id, uint64_t bank_bytes, uint32_t banks)
{
	struct tidemark_buffer b = {
		.size = sizeof b,
		.device = device,
		.kind = kind,
		.id = id,
		.address = id,
		.bytes = bank_bytes * banks,
		.bytes_per_bank = bank_bytes,
		.banks = banks,
	};
	return tidemark_alloc(&b);
}

uint64_t itest_live(uint32_t device, uint32_t kind)
{
	struct tidemark_usage usage = TIDEMARK_USAGE_INIT;
	int err = tidemark_get_usage(device, kind, &usage);
	CHECK(err == 0 || err == -ENODEV);
	return err == 0 ? usage.buffers : 0;
}

void itest_kill(unsigned times, uint64_t seed, void (*begin)(void), void (*report_for_ever)(void),
	void (*check)(struct tdm_ledger *ledger))
{
	for (unsigned i = 0; i < itest_scale(times); i++) {
		int ready[2], status;
		char path[ITEST_PATH_MAX], byte = 0;
		CHECK(pipe(ready) == 0);
		pid_t pid = fork();
		CHECK(pid >= 0);
		if (pid == 0) {
			begin();
			CHECK(write(ready[1], &byte, 1) == 1);
			report_for_ever();
		}
		close(ready[1]);
		CHECK(read(ready[0], &byte, 1) == 1);
		usleep((useconds_t)(itest_random(&seed) % 500));
		CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
		CHECK_EQ(itest_ledgers(NULL, pid, path), 1);
		struct tdm_ledger *ledger = itest_open(path);
		check(ledger);
		tdm_ledger_close(ledger);
		unlink(path);
		close(ready[0]);
	}
}

unsigned long long itest_start_time(void)
{
	char text[1024] = "";
	FILE *file = fopen("/proc/self/stat", "r");
	CHECK(file != NULL && fread(text, 1, sizeof text - 1, file) > 0);
	fclose(file);
	const char *at = strrchr(text, ')');
	for (int i = 0; i < 20; i++)
		at = strchr(at + 1, ' ');
	return strtoull(at + 1, NULL, 10);
}

static void remove_all(const char *dir)
{
	DIR *list = opendir(dir);
	if (list == NULL)
		return;
	for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
		char path[ITEST_PATH_MAX];
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (snprintf(path, sizeof path, "%s/%s", dir, entry->d_name) >= (int)sizeof path)
			continue;
		if (unlink(path) != 0)
			remove_all(path);
	}
	closedir(list);
	rmdir(dir);
}

static void make_dir(char dir[ITEST_PATH_MAX])
{
	const char *other = getenv("TMPDIR");
	snprintf(dir, ITEST_PATH_MAX, "/dev/shm/tidemark-itest-XXXXXX");
	if (mkdtemp(dir) != NULL)
		return;
	snprintf(dir, ITEST_PATH_MAX, "%s/tidemark-itest-XXXXXX", other != NULL ? other : "/tmp");
	CHECK(mkdtemp(dir) != NULL);
}

static enum verdict run_one(const struct itest *test)
{
	char dir[ITEST_PATH_MAX], setting[ITEST_PATH_MAX + 32], role[128];
	make_dir(dir);
	snprintf(setting, sizeof setting, "TIDEMARK_DIR=%s", dir);
	snprintf(role, sizeof role, "+%s", test->name);
	const char *environment[] = { setting, "TIDEMARK=1", "TT_ALLOC_TRACKING_ENABLED=", "TIDEMARK_MODE=",
		"TIDEMARK_RING=", "TIDEMARK_KEEP=", "TIDEMARK_STACKS=", "TIDEMARK_UNWIND=", "TIDEMARK_SOCKET=", NULL };
	static const char *const words[VERDICTS] = { "      OK", " FAILED ", " SKIPPED" };
	printf("[ RUN      ] %s\n", test->name);
	int status = itest_spawn(role, environment);
	bool skipped = WIFEXITED(status) && WEXITSTATUS(status) == CODE_SKIPPED;
	enum verdict verdict = skipped ? SKIPPED : itest_exited(status) ? PASSED : FAILED;
	remove_all(dir);
	printf("[ %s ] %s\n", words[verdict], test->name);
	return verdict;
}

int itest_main(int argc, char **argv, const struct itest *tests)
{
	unsigned counts[VERDICTS] = { 0 };
	const char *wanted = argc > 1 ? argv[1] : NULL;
	for (const struct itest *t = tests; t->name != NULL; t++) {
		if (wanted != NULL && wanted[0] == '+' && t->run != NULL && strcmp(wanted + 1, t->name) == 0) {
			t->run();
			return 0;
		}
		if (wanted != NULL && t->role != NULL && strcmp(wanted, t->name) == 0)
			return t->role();
	}
	for (const struct itest *t = tests; t->name != NULL; t++) {
		if (t->run == NULL || (wanted != NULL && strcmp(wanted, t->name) != 0))
			continue;
		counts[run_one(t)]++;
	}
	printf("[  PASSED  ] %u test(s).\n", counts[PASSED]);
	if (counts[SKIPPED] != 0)
		printf("[  SKIPPED ] %u test(s).\n", counts[SKIPPED]);
	if (counts[FAILED] != 0)
		printf("[  FAILED  ] %u test(s).\n", counts[FAILED]);
	return counts[FAILED] != 0 || counts[PASSED] + counts[SKIPPED] == 0;
}
