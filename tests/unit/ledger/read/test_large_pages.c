/*
 * The ledger on a kernel with large pages (16 and 64 KiB, as on ARM). This program stands in for the kernel: it reports
 * the page size, and refuses what a kernel with such pages would refuse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/read/reader.h"
#include "ledger_buffers.h"
#include "tidemark.h"

enum { BUFFERS = 20000, DEVICES = 3, NAMES = 3000, PHASES = 300, NAME_CAP = 64 };

static size_t page;      /* of the kernel that is played; 0: the real one's */
static unsigned refused; /* calls that it does not take */

/* The kernel. */

static void *real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}

static bool is_taken(bool holds)
{
	refused += !holds;
	errno = holds ? errno : EINVAL;
	return holds;
}

static bool is_at_page(const void *at)
{
	return page == 0 || (uintptr_t)at % page == 0;
}

long sysconf(int name)
{
	long __sysconf(int name);
	return name == _SC_PAGESIZE && page != 0 ? (long)page : __sysconf(name);
}

/* Mappings begin at a page, and so does what they show of a file. */
void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	if (page == 0 || at != NULL)
		return real_mmap(at, bytes, protection, flags, fd, offset);
	if (!is_taken((size_t)offset % page == 0))
		return MAP_FAILED;
	char *room = real_mmap(NULL, bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		return MAP_FAILED;
	return real_mmap(room + -(uintptr_t)room % page, bytes, protection, flags | MAP_FIXED, fd, offset);
}

int munmap(void *at, size_t bytes)
{
	return is_taken(is_at_page(at)) ? (int)syscall(SYS_munmap, at, bytes) : -1;
}

int madvise(void *at, size_t bytes, int advice)
{
	return is_taken(is_at_page(at)) ? (int)syscall(SYS_madvise, at, bytes, advice) : -1;
}

/* The program that reports. */

static void report_much(void)
{
	char name[NAME_CAP];
	for (uint64_t i = 0; i < BUFFERS; i++) {
		struct tidemark_buffer buffer = {
			.size = sizeof buffer, .device = i % DEVICES, .kind = TIDEMARK_DRAM, .id = i
		};
		buffer.bytes = buffer.bytes_per_bank = i + 1;
		buffer.banks = 1;
		if (i < NAMES) {
			snprintf(name, sizeof name, "a name that takes some room, number %u", (unsigned)i);
			buffer.name = tidemark_name(name);
		}
		assert_int_equal(tidemark_alloc(&buffer), 0);
	}
	for (unsigned i = 0; i < PHASES; i++)
		assert_int_equal(tidemark_phase("phase"), 0);
	for (uint64_t i = BUFFERS / 2; i < BUFFERS; i++)
		assert_int_equal(tidemark_free(i % DEVICES, TIDEMARK_DRAM, i), 0);
	assert_int_equal(tidemark_lost(), 0);
}

/* Everything that was reported can be read. */
static void check_contents(const char *path)
{
	struct tdm_ledger *ledger;
	char name[NAME_CAP];
	size_t live = 0;
	assert_int_equal(tdm_ledger_open(path, &ledger, NULL), 0);
	for (size_t d = 0; d < DEVICES; d++) {
		struct tdm_ledger_buffer *buffers;
		size_t count;
		bool exact;
		assert_int_equal(ledger_buffers(ledger, d, &buffers, &count, &exact), 0);
		assert_true(exact);
		for (size_t i = 0; i < count; i++) {
			const struct tdm_ledger_slot *slot = &buffers[i].slot;
			assert_true(slot->id < BUFFERS / 2 && slot->asked == slot->id + 1);
			struct tdm_str text = tdm_ledger_text(ledger, buffers[i].slot.name);
			snprintf(name, sizeof name, "a name that takes some room, number %u", (unsigned)slot->id);
			assert_int_equal(text.len, slot->id < NAMES ? strlen(name) : 0);
			assert_memory_equal(text.ptr, name, text.len);
		}
		live += count;
		free(buffers);
	}
	assert_int_equal(live, BUFFERS / 2);
	assert_int_equal(tdm_ledger_header(ledger)->phase_count, PHASES);
	assert_int_equal(tdm_ledger_refused(ledger), 0);
	tdm_ledger_close(ledger);
}

static void run_with_pages(size_t bytes)
{
	page = bytes;
	tidemark_enable();
	report_much();
	assert_int_equal(refused, 0);
	page = 0; /* a reader may have a kernel of its own */
	check_contents(tidemark_ledger_path());
	unlink(tidemark_ledger_path());
	_exit(0);
}

static void ledgers_of_large_pages(void **state)
{
	static const size_t sizes[] = { 4096, 16384, 65536 };
	char dir[] = "/dev/shm/tidemark-pages.XXXXXX", command[64];
	int status = -1;
	(void)state;
	assert_non_null(mkdtemp(dir));
	setenv("TIDEMARK_DIR", dir, 1);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		pid_t pid = fork();
		if (pid == 0)
			run_with_pages(sizes[i]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (status != 0)
			break;
	}
	snprintf(command, sizeof command, "rm -r '%s'", dir);
	assert_int_equal(system(command), 0);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(ledgers_of_large_pages) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
