/*
 * Another process of the same user writes over a ledger at random while its owner reports and readers read. Neither
 * readers nor the owner may crash: the owner uses no address or count from the file, although its figures are worthless
 * then. It cannot survive a file that is truncated while it is mapped: touching a missing page raises a signal in any
 * program. Only the owner's own user can do that.
 */
#include "itest.h"
#include "../../unit/ledger_buffers.h"
#include "tidemark.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { REPORTS = 3000000, READERS = 2, SMALL = 4096 };

static uint64_t file_size(int fd)
{
	struct stat st;
	CHECK(fstat(fd, &st) == 0);
	return (uint64_t)st.st_size;
}

/* Words that hurt more often than random ones. */
static uint64_t nasty(uint64_t *seed)
{
	static const uint64_t words[] = { 0, 1, 11, 255, 256, UINT32_MAX, UINT64_MAX, UINT64_MAX - 1, INT64_MAX,
		UINT64_C(1) << 32, UINT64_C(1) << 60, 4096, 63, 64, 65 };
	uint64_t dice = itest_random(seed);
	return dice % 3 == 0 ? itest_random(seed) : words[dice / 3 % (sizeof words / sizeof *words)];
}

/* Half of it lands in the header and the first device, where the directories are. */
static void scribble_once(int fd, uint64_t *seed)
{
	uint64_t size = file_size(fd), word = nasty(seed), dice = itest_random(seed);
	uint64_t at = dice % 2 == 0 ? itest_random(seed) % (3 * SMALL) : itest_random(seed) % size;
	size_t bytes = dice % 5 == 0 ? 1 : 8;
	at = at / bytes * bytes;
	CHECK(pwrite(fd, &word, bytes, (off_t)at) >= 0);
	if (dice % 1009 == 0) {
		char page[SMALL];
		for (size_t i = 0; i < sizeof page; i += 8) {
			word = itest_random(seed);
			memcpy(page + i, &word, 8);
		}
		CHECK(pwrite(fd, page, sizeof page, (off_t)(itest_random(seed) % size / SMALL * SMALL)) >= 0);
	}
	if (dice % 5003 == 0) /* longer, never shorter */
		CHECK(ftruncate(fd, (off_t)(size + itest_random(seed) % (1 << 20))) == 0);
}

_Noreturn static void be_scribbler(const char *path, unsigned number)
{
	uint64_t seed = number;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	for (;;) {
		scribble_once(fd, &seed);
		if (itest_random(&seed) % 64 == 0)
			sched_yield();
	}
}

/* Reads all there is to read, and believes nothing. */
static void read_everything(const char *path)
{
	static struct tdm_ledger_record records[TDM_LEDGER_RING];
	static struct tdm_ledger_phase phases[256];
	struct tdm_ledger *ledger;
	struct tdm_diag diag;
	uint64_t frames[TDM_LEDGER_STACK_MAX], base, size, missed, ns;
	struct tdm_str text;
	if (tdm_ledger_open(path, &ledger, &diag) != 0)
		return;
	for (size_t d = 0; d < tdm_ledger_device_count(ledger); d++) {
		struct tdm_ledger_buffer *buffers = NULL;
		size_t count = 0;
		bool exact;
		if (ledger_buffers(ledger, d, &buffers, &count, &exact) == 0)
			for (size_t i = 0; i < count && i < 100; i++) {
				tdm_ledger_text(ledger, buffers[i].slot.name);
				tdm_ledger_stack(ledger, buffers[i].slot.stack, frames);
				tdm_ledger_monotonic(ledger, buffers[i].more.tsc, &ns);
			}
		free(buffers);
		tdm_ledger_events(ledger, d, 0, records, TDM_LEDGER_RING, &missed);
	}
	tdm_ledger_phases(ledger, 0, phases, sizeof phases / sizeof *phases);
	for (size_t i = 0; tdm_ledger_module(ledger, i, &base, &size, &text) == 1 && i < 100; i++)
		continue;
	tdm_ledger_refresh(ledger, NULL);
	tdm_ledger_close(ledger);
}

_Noreturn static void be_reader(const char *path)
{
	for (;;)
		read_everything(path);
}

static void report_anything(uint64_t *seed, uint64_t reports)
{
	char name[32];
	for (uint64_t i = 0; i < reports; i++) {
		uint64_t dice = itest_random(seed);
		uint32_t device = dice % 3, kind = dice / 3 % TIDEMARK_KIND_COUNT;
		struct tidemark_buffer b = { .size = sizeof b,
			.device = device,
			.kind = kind,
			.flags = dice % 17 == 0 ? TIDEMARK_VIEW : 0,
			.id = dice >> 20 & 0x3fff,
			.bytes = 64,
			.bytes_per_bank = 64,
			.banks = 1 };
		if (dice % 5 < 3)
			tidemark_alloc(&b);
		else
			tidemark_free(device, kind, b.id);
		switch (dice >> 40 & 0xfff) {
		case 0:
			tidemark_free_all(device, kind);
			break;
		case 1:
			tidemark_phase("phase");
			break;
		case 2: {
			struct tidemark_region region = { .kind = TIDEMARK_DRAM, .banks = 12 };
			struct tidemark_device described = {
				.size = sizeof described, .number = device, .region_count = 1, .regions = &region
			};
			tidemark_describe_device(&described);
			break;
		}
		case 3:
			itest_live(device, kind);
			break;
		case 4:
			tidemark_out_of_memory(device, kind, dice, dice);
			break;
		default:
			if ((dice >> 40 & 0xfff) < 200) {
				snprintf(name, sizeof name, "name %u", (unsigned)(dice >> 52));
				tidemark_name(name);
			}
		}
	}
}

static void *report_in_thread(void *context)
{
	uint64_t seed = (uint64_t)(uintptr_t)context;
	report_anything(&seed, itest_scale(REPORTS) / 4);
	return NULL;
}

static pid_t start(const char *path, unsigned number, bool is_reader)
{
	fflush(NULL);
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid != 0)
		return pid;
	CHECK(tidemark_disable() == 0);
	if (is_reader)
		be_reader(path);
	be_scribbler(path, number);
}

static void end(pid_t pid)
{
	int status;
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL); /* it did not end before, by a check or a crash */
}

static void scribbled_on(void)
{
	char path[ITEST_PATH_MAX];
	pthread_t ids[2];
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
	snprintf(path, sizeof path, "%s", tidemark_ledger_path());
	pid_t scribbler = start(path, (unsigned)getpid(), false), readers[READERS];
	for (int i = 0; i < READERS; i++)
		readers[i] = start(path, 0, true);
	uint64_t seed = (uint64_t)getpid();
	for (uintptr_t i = 0; i < 2; i++)
		CHECK(pthread_create(&ids[i], NULL, report_in_thread, (void *)(i + 1)) == 0);
	report_anything(&seed, itest_scale(REPORTS) / 2);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(ids[i], NULL) == 0);
	end(scribbler);
	for (int i = 0; i < READERS; i++)
		end(readers[i]);
}

/* A ledger that was left behind is cut, stretched and written over; its readers do not mind. */
static void left_behind_child(void *context)
{
	(void)context;
	uint64_t seed = 7;
	report_anything(&seed, 50000);
	CHECK(itest_alloc(0, 0, 1 << 20, 64, 1) == 0);
	_exit(0);
}

/* The descriptor of such a ledger, and a copy of it that is the caller's. */
static int leave_ledger(char path[ITEST_PATH_MAX], char **whole, uint64_t *size)
{
	CHECK(itest_exited(itest_fork(left_behind_child, NULL)));
	CHECK_EQ(itest_ledgers(NULL, 0, path), 1);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	*size = file_size(fd);
	*whole = malloc(*size);
	CHECK(*whole != NULL && pread(fd, *whole, *size, 0) == (ssize_t)*size);
	return fd;
}

static void left_behind(void)
{
	char path[ITEST_PATH_MAX];
	uint64_t seed = (uint64_t)getpid(), size;
	char *whole;
	int fd = leave_ledger(path, &whole, &size);
	for (unsigned round = 0; round < itest_scale(1000); round++) {
		CHECK(pwrite(fd, whole, size, 0) == (ssize_t)size && ftruncate(fd, (off_t)size) == 0);
		for (unsigned i = 0; i < round % 40; i++)
			scribble_once(fd, &seed);
		if (round % 3 == 0)
			CHECK(ftruncate(fd, (off_t)(itest_random(&seed) % size)) == 0);
		read_everything(path);
	}
	free(whole);
	close(fd);
}

/* The file is cut, stretched and taken away while readers read; the owner does not run. */
static void cut_under_readers(void)
{
	char path[ITEST_PATH_MAX];
	uint64_t seed = (uint64_t)getpid(), size;
	char *whole;
	int fd = leave_ledger(path, &whole, &size);
	pid_t readers[READERS];
	for (int i = 0; i < READERS; i++)
		readers[i] = start(path, 0, true);
	for (unsigned round = 0; round < itest_scale(500); round++) {
		CHECK(ftruncate(fd, (off_t)(itest_random(&seed) % size)) == 0);
		CHECK(pwrite(fd, whole, size, 0) == (ssize_t)size);
	}
	unlink(path);
	for (int i = 0; i < READERS; i++)
		end(readers[i]);
	free(whole);
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "scribbled_on", scribbled_on, NULL },
		{ "left_behind", left_behind, NULL },
		{ "cut_under_readers", cut_under_readers, NULL },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
