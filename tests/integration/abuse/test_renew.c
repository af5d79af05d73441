/*
 * A ledger that somebody deletes while its program reports: within a second of reports the program has a new one, the
 * next generation, with everything that was in the old one.
 */
#include "itest.h"
#include "tidemark.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { LIVE = 3000, THREADS = 4, ROUNDS = 3, PAUSE_US = 2000, PATIENCE_S = 60 };

/* Reports now and then until the condition holds. */
static void report_until(bool (*holds)(const void *context), const void *context)
{
	uint64_t until = tdm_clock_ns() + PATIENCE_S * TDM_NS_PER_S;
	while (!holds(context)) {
		CHECK(tdm_clock_ns() < until);
		CHECK(itest_alloc(1, TIDEMARK_L1, 1, 64, 1) == 0);
		CHECK(tidemark_free(1, TIDEMARK_L1, 1) == 0);
		usleep(PAUSE_US);
	}
}

static bool has_file(const void *context)
{
	(void)context;
	return access(tidemark_ledger_path(), F_OK) == 0;
}

/* Whether the file's clocks were read again, which is when the library looks whether the file is still there. */
struct clock_wait {
	int fd;
	uint64_t seq;
};

static uint64_t clock_seq(int fd)
{
	uint64_t seq;
	CHECK(pread(fd, &seq, sizeof seq, offsetof(struct tdm_ledger_header, last_seq)) == sizeof seq);
	return seq;
}

static bool has_looked(const void *context)
{
	const struct clock_wait *wait = context;
	return clock_seq(wait->fd) >= wait->seq + 4; /* two more readings, each adds two */
}

static void report_buffers(uint64_t from, uint64_t to)
{
	char name[32];
	CHECK(itest_alloc(1, TIDEMARK_L1, 1, 64, 1) == 0 && tidemark_free(1, TIDEMARK_L1, 1) == 0);
	for (uint64_t i = from; i < to; i++) {
		struct tidemark_buffer b = { .size = sizeof b, .id = i, .bytes = i, .banks = 1 };
		snprintf(name, sizeof name, "tensor %u", (unsigned)(i % 100));
		b.name = tidemark_name(name);
		CHECK(b.name != 0 && tidemark_alloc(&b) == 0);
	}
}

/* The one ledger of this process, as another process sees it. */
static void check_ledger_child(void *context)
{
	char path[ITEST_PATH_MAX], expected[32];
	size_t count;
	uint64_t live = *(const uint64_t *)context, start;
	CHECK_EQ(itest_ledgers(NULL, getppid(), path), 1);
	struct tdm_ledger *ledger = itest_open(path);
	CHECK(tdm_ledger_liveness(ledger) == TDM_ALIVE);
	CHECK_EQ(tdm_ledger_header(ledger)->pid, getppid());
	CHECK_EQ(tdm_ledger_header(ledger)->generation, strtoull(strrchr(path, '.') + 1, NULL, 10));
	CHECK_EQ(tdm_ledger_header(ledger)->flags,
		strtoull(strrchr(path, '.') + 1, NULL, 10) != 0 ? TDM_LEDGER_RENEWED : 0);
	CHECK_EQ(tdm_ledger_device(ledger, 1)->number, 0); /* it came second */
	struct tdm_ledger_buffer *buffers = itest_buffers(ledger, 1, &count);
	CHECK_EQ(count, live);
	for (size_t i = 0; i < count; i++) {
		struct tdm_str name = tdm_ledger_text(ledger, buffers[i].slot.name);
		snprintf(expected, sizeof expected, "tensor %u", (unsigned)(buffers[i].slot.id % 100));
		CHECK(name.len == strlen(expected) && memcmp(name.ptr, expected, name.len) == 0);
		CHECK_EQ(buffers[i].slot.asked, buffers[i].slot.id);
	}
	start = tdm_ledger_header(ledger)->first.monotonic_ns;
	CHECK(start != 0 && start < tdm_clock_ns());
	CHECK_EQ(tdm_ledger_header(ledger)->phase_count, 1);
	free(buffers);
	tdm_ledger_close(ledger);
}

static void check_ledger(uint64_t live)
{
	CHECK_EQ(itest_live(0, 0), live);
	CHECK_EQ(tidemark_lost(), 0);
	CHECK(itest_exited(itest_fork(check_ledger_child, &live)));
}

static void delete_ledger(char was[ITEST_PATH_MAX])
{
	snprintf(was, ITEST_PATH_MAX, "%s", tidemark_ledger_path());
	CHECK(unlink(was) == 0);
}

static unsigned long generation_of(const char *path)
{
	return strtoul(strrchr(path, '.') + 1, NULL, 10);
}

static void made_anew(void)
{
	struct tidemark_usage before = TIDEMARK_USAGE_INIT, after = TIDEMARK_USAGE_INIT;
	char was[ITEST_PATH_MAX];
	report_buffers(1, 2 * LIVE);
	for (uint64_t i = LIVE; i < 2 * LIVE; i++)
		CHECK(tidemark_free(0, 0, i) == 0);
	CHECK(tidemark_phase("training") == 0);
	CHECK(tidemark_get_usage(0, 0, &before) == 0);
	for (unsigned round = 0; round < ROUNDS; round++) {
		delete_ledger(was);
		report_until(has_file, NULL);
		CHECK_EQ(generation_of(tidemark_ledger_path()), generation_of(was) + 1);
		check_ledger(LIVE - 1);
	}
	CHECK(tidemark_get_usage(0, 0, &after) == 0);
	CHECK(memcmp(&before, &after, sizeof before) == 0);
	report_buffers(LIVE, 20 * LIVE); /* it grows as before */
	check_ledger(20 * LIVE - 1);
	CHECK_EQ(itest_ledgers(NULL, 0, NULL), 1);
}

/* Its mode is what it was. */
static int mode_program(void)
{
	struct stat st;
	char was[ITEST_PATH_MAX];
	report_buffers(1, 10);
	delete_ledger(was);
	report_until(has_file, NULL);
	CHECK(stat(tidemark_ledger_path(), &st) == 0);
	CHECK_EQ(st.st_mode & 07777, 0640);
	return 0;
}

static void with_its_mode(void)
{
	const char *environment[] = { "TIDEMARK_MODE=0640", NULL };
	CHECK(itest_exited(itest_spawn("mode_program", environment)));
}

static void with_its_folder(void)
{
	char was[ITEST_PATH_MAX];
	report_buffers(1, LIVE);
	CHECK(tidemark_phase("training") == 0);
	delete_ledger(was);
	*strrchr(was, '/') = '\0';
	CHECK(rmdir(was) == 0);
	report_until(has_file, NULL);
	check_ledger(LIVE - 1);
}

/* Without the directory of all users there is none, and it is not the library's to make. */
static void with_its_directory(void)
{
	char was[ITEST_PATH_MAX];
	report_buffers(1, LIVE);
	CHECK(tidemark_phase("training") == 0);
	struct clock_wait wait = { .fd = open(tidemark_ledger_path(), O_RDONLY | O_CLOEXEC) };
	delete_ledger(was);
	*strrchr(was, '/') = '\0';
	CHECK(rmdir(was) == 0 && rmdir(getenv("TIDEMARK_DIR")) == 0);
	wait.seq = clock_seq(wait.fd);
	report_until(has_looked, &wait);
	CHECK(access(getenv("TIDEMARK_DIR"), F_OK) != 0);
	report_buffers(LIVE, 10 * LIVE);
	CHECK(tidemark_lost() >= 9 * LIVE); /* nobody can read them, unless the directory comes back */
	CHECK(mkdir(getenv("TIDEMARK_DIR"), 0700) == 0);
	report_until(has_file, NULL);
	close(wait.fd);
	check_ledger(10 * LIVE - 1);
}

/* A program that has closed the library's descriptor, too. */
static void without_descriptor(void)
{
	char was[ITEST_PATH_MAX];
	report_buffers(1, LIVE);
	CHECK(tidemark_phase("training") == 0);
	delete_ledger(was);
	CHECK(close_range(3, ~0u, 0) == 0);
	report_until(has_file, NULL);
	report_buffers(LIVE, 20 * LIVE);
	check_ledger(20 * LIVE - 1);
}

/* There is no room for a new one for a while: nothing is lost, because the old one is still in memory. */
static void without_room(void)
{
	char was[ITEST_PATH_MAX];
	struct rlimit limit, small;
	report_buffers(1, LIVE);
	CHECK(tidemark_phase("training") == 0);
	struct clock_wait wait = { .fd = open(tidemark_ledger_path(), O_RDONLY | O_CLOEXEC) };
	CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	small = (struct rlimit){ 3 * TDM_LEDGER_PAGE, limit.rlim_max };
	CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
	delete_ledger(was);
	wait.seq = clock_seq(wait.fd);
	report_until(has_looked, &wait);
	CHECK_EQ(itest_ledgers(NULL, 0, NULL), 0);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	report_until(has_file, NULL);
	close(wait.fd);
	check_ledger(LIVE - 1);
}

/* Under another name it is still the ledger: moved back, it is found again. */
static void moved_away(void)
{
	char was[ITEST_PATH_MAX], away[ITEST_PATH_MAX];
	report_buffers(1, LIVE);
	CHECK(tidemark_phase("training") == 0);
	struct clock_wait wait = { .fd = open(tidemark_ledger_path(), O_RDONLY | O_CLOEXEC) };
	snprintf(was, sizeof was, "%s", tidemark_ledger_path());
	snprintf(away, sizeof away, "%s/away", getenv("TIDEMARK_DIR"));
	CHECK(rename(was, away) == 0);
	wait.seq = clock_seq(wait.fd);
	report_until(has_looked, &wait);
	CHECK_EQ(itest_ledgers(NULL, 0, NULL), 0);
	CHECK(rename(away, was) == 0);
	check_ledger(LIVE - 1);
	close(wait.fd); /* not before: it releases the lock */
}

/* A child reports into its own, whatever happens to its parent's. */
static void child_reports(void *context)
{
	char path[ITEST_PATH_MAX];
	(void)context;
	CHECK(itest_alloc(0, 0, 1, 1, 1) == 0);
	CHECK_EQ(itest_ledgers(NULL, getpid(), path), 1);
	CHECK(tidemark_free(0, 0, 1) == 0);
	CHECK_EQ(tidemark_lost(), 0);
}

static void with_children(void)
{
	char was[ITEST_PATH_MAX];
	report_buffers(1, LIVE);
	CHECK(tidemark_phase("training") == 0);
	for (unsigned round = 0; round < ROUNDS; round++) {
		delete_ledger(was);
		CHECK(itest_exited(itest_fork(child_reports, NULL)));
		report_until(has_file, NULL);
		CHECK(itest_exited(itest_fork(child_reports, NULL)));
		check_ledger(LIVE - 1);
	}
}

static atomic_bool is_over;
static atomic_uint reporting;

static void *report_always(void *context)
{
	uint64_t first = (uint64_t)(uintptr_t)context << 32, live = 0;
	uint32_t device = 2 + (uint32_t)(uintptr_t)context % 2;
	atomic_fetch_add(&reporting, 1);
	for (; !atomic_load(&is_over); live = (live + 1) % 100) {
		CHECK(itest_alloc(device, 0, first + live, 64, 1) == 0);
		CHECK(tidemark_free(device, 0, first + (live + 50) % 100) <= 0);
		CHECK(tidemark_phase("phase") == 0 || tidemark_name("text") != 0);
	}
	for (live = 0; live < 100; live++)
		tidemark_free(device, 0, first + live);
	CHECK(itest_alloc(device, 0, first, 64, 1) == 0);
	return NULL;
}

static void while_threads_report(void)
{
	pthread_t threads[THREADS];
	char was[ITEST_PATH_MAX];
	size_t count;
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, report_always, (void *)i) == 0);
	while (atomic_load(&reporting) < THREADS)
		usleep(PAUSE_US);
	for (unsigned round = 0; round < 2 * ROUNDS; round++) {
		delete_ledger(was);
		report_until(has_file, NULL);
	}
	atomic_store(&is_over, true);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(itest_ledgers(NULL, getpid(), was), 1);
	struct tdm_ledger *ledger = itest_open(was);
	for (size_t d = 0; d < tdm_ledger_device_count(ledger); d++) {
		free(itest_buffers(ledger, d, &count));
		uint32_t number = tdm_ledger_device(ledger, d)->number;
		CHECK_EQ(count, number == 0 ? 1 : number == 1 ? 0 : THREADS / 2);
	}
	CHECK_EQ(tidemark_lost(), 0);
	tdm_ledger_close(ledger);
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "made_anew", made_anew, NULL },
		{ "with_its_mode", with_its_mode, NULL },
		{ "with_its_folder", with_its_folder, NULL },
		{ "with_its_directory", with_its_directory, NULL },
		{ "without_descriptor", without_descriptor, NULL },
		{ "without_room", without_room, NULL },
		{ "moved_away", moved_away, NULL },
		{ "with_children", with_children, NULL },
		{ "while_threads_report", while_threads_report, NULL },
		{ "mode_program", NULL, mode_program },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
