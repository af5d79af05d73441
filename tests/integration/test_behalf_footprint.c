/*
 * What a process that writes for many clients needs: private memory, bytes of ledgers, mappings and descriptors. Each
 * case runs in a process of its own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cmocka.h>

#include "../unit/behalf_clients.h"
#include "../unit/full_size.h"

enum { SMALL_LEDGERS = 4000, SPARE_FILES = 64 };

struct footprint {
	uint64_t private_bytes, ledger_bytes, mappings;
	int err;
};

/* A line "NAME:  123 kB" of /proc/self/status, in bytes. */
static uint64_t status_bytes(const char *name)
{
	char line[256];
	uint64_t value = 0;
	FILE *file = fopen("/proc/self/status", "r");
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		if (strncmp(line, name, strlen(name)) == 0)
			value = strtoull(line + strlen(name), NULL, 10) * 1024;
	if (file != NULL)
		fclose(file);
	return value;
}

static uint64_t count_mappings(void)
{
	char line[1024];
	uint64_t count = 0;
	FILE *file = fopen("/proc/self/maps", "r");
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		count++;
	if (file != NULL)
		fclose(file);
	return count;
}

static uint64_t bytes_on_disk(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

/* Fills `ledgers` with `buffers` in all; the clients need not exist. */
static void fill(struct tdm_writer **writers, uint32_t ledgers, uint32_t buffers, struct footprint *out)
{
	uint64_t private_before = status_bytes("RssAnon:"), mappings_before = count_mappings();
	for (uint32_t i = 0; i < ledgers && out->err == 0; i++) {
		const struct tdm_behalf client = { .pid = (int32_t)(i + 1), .start_time = 1 };
		const struct tdm_writer_options options = { .dir = behalf_dir, .mode = 0600, .behalf = &client };
		out->err = tdm_writer_new(&options, &writers[i]);
	}
	/* In turns, as they come over sockets. */
	for (uint32_t i = 0; i < buffers && out->err == 0; i++)
		out->err = put_buffer(
			writers[i % ledgers], 0, TDM_KIND_DRAM, UINT64_C(0x100000) + i * UINT64_C(4096), 4096);
	out->private_bytes = status_bytes("RssAnon:") - private_before;
	out->mappings = count_mappings() - mappings_before;
	for (uint32_t i = 0; i < ledgers && out->err == 0; i++)
		out->ledger_bytes += bytes_on_disk(writers[i]->file.path);
}

/* One case. False: this machine has no room for it. */
static bool measure(uint32_t ledgers, uint32_t buffers, struct footprint *out)
{
	struct statvfs fs;
	struct rlimit files;
	int status;
	*out = (struct footprint){ 0 };
	assert_int_equal(statvfs(behalf_dir, &fs), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = files.rlim_max;
	if ((uint64_t)fs.f_bavail * fs.f_frsize < UINT64_C(256) << 20 || files.rlim_max < ledgers + SPARE_FILES)
		return false;
	struct footprint *shared =
		mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct tdm_writer **writers = calloc(ledgers, sizeof *writers);
	assert_true(shared != MAP_FAILED && writers != NULL);
	pid_t child = fork();
	if (child == 0) {
		setrlimit(RLIMIT_NOFILE, &files);
		fill(writers, ledgers, buffers, shared);
		for (uint32_t i = 0; i < ledgers; i++)
			if (writers[i] != NULL)
				tdm_ledger_file_remove(&writers[i]->file);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	*out = *shared;
	munmap(shared, sizeof *shared);
	free(writers);
	assert_int_equal(out->err, 0);
	print_message("%u ledgers, %u buffers: private %.1f MiB (%.0f bytes per ledger), ledgers %.1f bytes per buffer "
		      "(%.0f per ledger), %.2f mappings per ledger\n",
		ledgers, buffers, (double)out->private_bytes / (1 << 20), (double)out->private_bytes / ledgers,
		(double)out->ledger_bytes / buffers, (double)out->ledger_bytes / ledgers,
		(double)out->mappings / ledgers);
	return true;
}

static void check_million(uint32_t ledgers)
{
	const uint32_t buffers = (uint32_t)full_size(1000000, 250000);
	struct footprint f;
	if (!measure(ledgers, buffers, &f))
		skip();
	assert_true(f.private_bytes <= UINT64_C(64) << 20);
	/* A file system on a disk may need a block of its own for each file. */
	assert_true(f.ledger_bytes <= UINT64_C(128) * buffers + UINT64_C(4096) * ledgers);
}

static void one_ledger(void **state)
{
	(void)state;
	check_million(1);
}

static void hundreds_of_ledgers(void **state)
{
	(void)state;
	check_million(200);
}

static void thousands_of_ledgers(void **state)
{
	(void)state;
	check_million((uint32_t)full_size(2000, 500));
}

/* Clients with one buffer each: few pages, and few of the 65530 mappings that a process may have. */
static void small_clients(void **state)
{
	struct footprint f;
	(void)state;
	if (!measure(SMALL_LEDGERS, SMALL_LEDGERS, &f))
		skip();
	assert_true(f.private_bytes / SMALL_LEDGERS <= 12 << 10);
	assert_true(f.ledger_bytes / SMALL_LEDGERS <= 24 << 10);
	assert_true(f.mappings <= SMALL_LEDGERS * 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_ledger),
		cmocka_unit_test(hundreds_of_ledgers),
		cmocka_unit_test(thousands_of_ledgers),
		cmocka_unit_test(small_clients),
	};
	return cmocka_run_group_tests_name("behalf_footprint", tests, behalf_dir_make, behalf_dir_remove);
}
