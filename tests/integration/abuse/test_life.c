/* The library from before main() to after exit, switched on and off, and what it leaves. Linked with the shared
 * library, like real programs. */
#include "itest.h"
#include "tidemark.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

void itest_plugin_report(unsigned long long id, int is_free);

/* What a program does between main and its end, by the letters of ITEST_DO. */
static void at_exit_free(void)
{
	tidemark_free(0, TIDEMARK_DRAM, 1);
}

static void at_exit_alloc(void)
{
	itest_alloc(0, TIDEMARK_DRAM, 2, 64, 1);
}

static void exit_in_handler(int signal_number)
{
	(void)signal_number;
	exit(0); /* not allowed, and done by many */
}

static void *report_for_ever(void *context)
{
	(void)context;
	for (uint64_t i = 1000;; i++) {
		itest_alloc(0, TIDEMARK_L1, i, 64, 1);
		tidemark_free(0, TIDEMARK_L1, i);
	}
	return NULL;
}

static int program(void)
{
	pthread_t id;
	for (const char *todo = getenv("ITEST_DO"); todo != NULL && *todo != '\0'; todo++) {
		switch (*todo) {
		case 'a':
			CHECK(itest_alloc(0, TIDEMARK_DRAM, 1, 64, 1) == 0);
			break;
		case 'f':
			CHECK(tidemark_free(0, TIDEMARK_DRAM, 1) == 0);
			break;
		case 'F':
			CHECK(atexit(at_exit_free) == 0);
			break;
		case 'A':
			CHECK(atexit(at_exit_alloc) == 0);
			break;
		case 't':
			CHECK(pthread_create(&id, NULL, report_for_ever, NULL) == 0);
			while (itest_live(0, TIDEMARK_L1) == 0)
				continue;
			break;
		case 's': {
			struct sigaction action = { .sa_handler = exit_in_handler };
			CHECK(sigaction(SIGALRM, &action, NULL) == 0);
			ualarm(20000, 0);
			report_for_ever(NULL);
			break;
		}
		case 'e':
			CHECK(tidemark_is_enabled());
			break;
		case 'd':
			CHECK(!tidemark_is_enabled());
			break;
		case 'q':
			quick_exit(0);
		case 'x':
			_exit(0);
		case 'k':
			raise(SIGKILL);
			break;
		}
	}
	return 0;
}

/* Runs it; the number of ledgers that are left, the path of one of them. */
static unsigned run(const char *todo, const char *more, const char *plugin, char path[ITEST_PATH_MAX])
{
	char set_do[64], set_plugin[64];
	const char *environment[] = { set_do, set_plugin, more, NULL };
	snprintf(set_do, sizeof set_do, "ITEST_DO=%s", todo);
	snprintf(set_plugin, sizeof set_plugin, "ITEST_PLUGIN=%s", plugin);
	int status = itest_spawn("program", environment);
	CHECK(itest_exited(status) || (strchr(todo, 'k') != NULL && WIFSIGNALED(status)));
	return itest_ledgers(NULL, 0, path);
}

/* One ledger is left, with this many buffers, and it is in this state. */
static void check_left(const char *path, uint64_t buffers, enum tdm_ledger_state state)
{
	size_t count;
	struct tdm_ledger *ledger = itest_open(path);
	free(itest_buffers(ledger, 0, &count));
	CHECK_EQ(count, buffers);
	CHECK_EQ(tdm_ledger_header(ledger)->state, state);
	CHECK(tdm_ledger_liveness(ledger) == TDM_DEAD);
	tdm_ledger_close(ledger);
	unlink(path);
}

static void ends(void)
{
	char path[ITEST_PATH_MAX];
	CHECK_EQ(run("", NULL, "", NULL), 0);
	CHECK_EQ(run("af", NULL, "", NULL), 0);
	CHECK_EQ(run("a", NULL, "", path), 1);
	check_left(path, 1, TDM_LEDGER_CLOSED);
	CHECK_EQ(run("ax", NULL, "", path), 1);
	check_left(path, 1, TDM_LEDGER_OPEN);
	CHECK_EQ(run("afx", NULL, "", path), 1);
	check_left(path, 0, TDM_LEDGER_OPEN);
	CHECK_EQ(run("aq", NULL, "", path), 1);
	check_left(path, 1, TDM_LEDGER_OPEN);
	CHECK_EQ(run("ak", NULL, "", path), 1);
	check_left(path, 1, TDM_LEDGER_OPEN);
	CHECK_EQ(run("af", "TIDEMARK_KEEP=1", "", path), 1);
	check_left(path, 0, TDM_LEDGER_CLOSED);
}

static void before_and_after(void)
{
	char path[ITEST_PATH_MAX];
	CHECK_EQ(run("aF", NULL, "", NULL), 0); /* freed by a handler of exit */
	CHECK_EQ(run("A", NULL, "", path), 1);  /* allocated by one */
	check_left(path, 1, TDM_LEDGER_CLOSED);
	CHECK_EQ(run("afA", NULL, "", path), 1);
	check_left(path, 1, TDM_LEDGER_CLOSED);
	CHECK_EQ(run("", NULL, "early", path), 1); /* two constructors of a library */
	check_left(path, 2, TDM_LEDGER_CLOSED);
	CHECK_EQ(run("af", NULL, "early late", NULL), 0); /* and its destructors */
	CHECK_EQ(run("af", NULL, "leak", path), 1);
	check_left(path, 1, TDM_LEDGER_CLOSED);
	CHECK_EQ(run("af", NULL, "early late leak", path), 1);
	check_left(path, 1, TDM_LEDGER_CLOSED);
	CHECK_EQ(run("af", NULL, "phase_at_the_end", NULL), 0); /* nothing lives: nothing is left */
	CHECK_EQ(run("", NULL, "phase_at_the_end", NULL), 0);
}

/* exit() while another thread reports, or in a handler that has interrupted a report. */
static void ends_in_the_middle(void)
{
	char path[ITEST_PATH_MAX];
	for (unsigned i = 0; i < itest_scale(20); i++) {
		unsigned left = run("at", NULL, "", path); /* the thread may have made another one at the end */
		CHECK(left >= 1 && left <= 2);
		while (itest_ledgers(NULL, 0, path) != 0)
			unlink(path);
		CHECK_EQ(run("as", NULL, "", path), 1);
		struct tdm_ledger *ledger = itest_open(path);
		size_t count;
		free(itest_buffers(ledger, 0, &count));
		CHECK(count == 1 || count == 2);
		CHECK_EQ(tdm_ledger_header(ledger)->state, TDM_LEDGER_CLOSED);
		tdm_ledger_close(ledger);
		unlink(path);
	}
}

static void switches(void)
{
	char path[ITEST_PATH_MAX];
	static const char *const off[] = { "TIDEMARK=0", "TIDEMARK=off", "TIDEMARK=", NULL };
	for (unsigned i = 0; off[i] != NULL; i++)
		CHECK_EQ(run("da", off[i], "early leak", NULL), 0);
	CHECK_EQ(run("ea", "TIDEMARK=1", "", path), 1);
	unlink(path);
	unsetenv("TIDEMARK");
	CHECK_EQ(run("ea", "TT_ALLOC_TRACKING_ENABLED=1", "", path), 1);
	unlink(path);
	CHECK_EQ(run("da", "TT_ALLOC_TRACKING_ENABLED=0", "", NULL), 0);
	setenv("TIDEMARK", "0", 1);
	CHECK_EQ(run("da", "TT_ALLOC_TRACKING_ENABLED=1", "", NULL), 0);
}

static void automatic(void)
{
	char path[ITEST_PATH_MAX], setting[ITEST_PATH_MAX];
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	snprintf(address.sun_path, sizeof address.sun_path, "%.90s/s", getenv("TIDEMARK_DIR"));
	snprintf(setting, sizeof setting, "TIDEMARK_SOCKET=%s", address.sun_path);
	setenv("TIDEMARK", "auto", 1);
	CHECK_EQ(run("da", setting, "", NULL), 0); /* nobody there */
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(fd, (const struct sockaddr *)&address, sizeof address) == 0);
	CHECK_EQ(run("da", setting, "", NULL), 0); /* a name, but nobody listens */
	CHECK(listen(fd, 1) == 0);
	for (int i = 0; i < 5; i++) { /* and when the queue of the one who listens is full */
		CHECK_EQ(run("ea", setting, "", path), 1);
		unlink(path);
	}
	close(fd);
	CHECK_EQ(run("da", setting, "", NULL), 0); /* gone again */
	unlink(address.sun_path);
}

/* A program that closes every descriptor, and lets the ledger grow afterwards. */
static void closes_descriptors(void)
{
	char name[32];
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
	CHECK(close_range(3, ~0u, 0) == 0);
	for (uint64_t i = 2; i <= 20000; i++) {
		struct tidemark_buffer b = { .size = sizeof b, .id = i, .bytes = 64, .banks = 1 };
		snprintf(name, sizeof name, "name %u", (unsigned)i);
		b.name = tidemark_name(name);
		CHECK(b.name != 0 && tidemark_alloc(&b) == 0);
	}
	CHECK_EQ(tidemark_lost(), 0);
	pid_t pid = fork();
	if (pid == 0) { /* the lock is back as well */
		size_t count;
		char path[ITEST_PATH_MAX];
		CHECK_EQ(itest_ledgers(NULL, getppid(), path), 1);
		struct tdm_ledger *ledger = itest_open(path);
		CHECK(tdm_ledger_liveness(ledger) == TDM_ALIVE);
		free(itest_buffers(ledger, 0, &count));
		CHECK_EQ(count, 20000);
		_exit(0);
	}
	int status;
	CHECK(waitpid(pid, &status, 0) == pid && itest_exited(status));
}

static void enabled_by_call(void)
{
	CHECK(tidemark_is_enabled());
	CHECK(tidemark_disable() == 0 && !tidemark_is_enabled());
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
	CHECK(strcmp(tidemark_ledger_path(), "") == 0);
	CHECK(tidemark_enable() == 0);
	CHECK(itest_alloc(0, 0, 2, 64, 1) == 0);
	CHECK_EQ(itest_live(0, 0), 1);
	CHECK(tidemark_disable() == 0);
	CHECK(tidemark_free(0, 0, 2) == 0); /* not seen */
	CHECK(tidemark_enable() == 0);
	CHECK_EQ(itest_live(0, 0), 1);
	itest_plugin_report(7, 0);
	CHECK_EQ(itest_live(0, TIDEMARK_CB), 1); /* one library, one ledger */
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "ends", ends, NULL },
		{ "before_and_after", before_and_after, NULL },
		{ "ends_in_the_middle", ends_in_the_middle, NULL },
		{ "switches", switches, NULL },
		{ "automatic", automatic, NULL },
		{ "closes_descriptors", closes_descriptors, NULL },
		{ "enabled_by_call", enabled_by_call, NULL },
		{ "program", NULL, program },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
