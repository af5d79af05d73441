/* Going on with a ledger that an earlier writer left: what is there again, and what is refused. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "behalf_clients.h"
#include "base/err.h"
#include "base/str.h"

static const struct tdm_writer_options options = { 0 };
static struct tdm_behalf client;

static int resume(const char *path, struct tdm_writer **writer)
{
	*writer = NULL;
	return tdm_writer_resume(path, &options, writer);
}

/* The counters of a kind on a device, as a reader sees them. */
static struct tdm_counter count_of(const char *path, size_t device, unsigned kind)
{
	struct tdm_ledger *ledger = read_ledger(path);
	struct tdm_counter count = { 0 };
	if (device < tdm_ledger_device_count(ledger))
		count = tdm_ledger_device(ledger, device)->counts[kind];
	tdm_ledger_close(ledger);
	return count;
}

/* Writes a little of everything, and leaves it as a writer that was killed does. */
static void leave_ledger(char path[TDM_LEDGER_PATH_MAX])
{
	struct tdm_writer *writer = writer_for(&client);
	const uint64_t chip = 77;
	const struct tdm_ledger_region regions[] = { { .kind = TDM_KIND_DRAM, .banks = 12, .bank_size = 1 << 30 } };
	const struct tdm_ledger_phase phase = { .flags = TDM_PHASE_MARK };
	strcpy(path, writer->file.path);
	for (uint64_t id = 1; id <= 3000; id++)
		assert_int_equal(put_buffer(writer, 0, TDM_KIND_DRAM, id, id * 64), 0);
	for (uint64_t id = 1; id <= 3000; id += 3)
		assert_int_equal(take_buffer(writer, 0, TDM_KIND_DRAM, id), 0);
	assert_int_equal(put_buffer(writer, 5, TDM_KIND_L1, 9, 1024), 0);
	assert_int_equal(
		tdm_writer_describe(tdm_writer_device(writer, 5, false), NULL, "n150", &chip, 8, 8, regions, 1), 0);
	assert_true(tdm_blobs_put(&writer->blobs, TDM_BLOB_TEXT, "weights", 7, NULL) != 0);
	assert_int_equal(tdm_writer_put_phase(writer, &phase), 0);
	tdm_writer_free(writer);
}

static void goes_on(void **state)
{
	char path[TDM_LEDGER_PATH_MAX];
	struct tdm_writer *writer;
	bool is_new = true;
	(void)state;
	leave_ledger(path);
	struct tdm_counter before = count_of(path, 0, TDM_KIND_DRAM);
	assert_int_equal(before.buffers, 2000);
	assert_int_equal(resume(path, &writer), 0);
	struct tdm_counter after = count_of(path, 0, TDM_KIND_DRAM);
	assert_memory_equal(&before, &after, offsetof(struct tdm_counter, is_inexact) + 1); /* without its padding */
	/* What was there is known: a release finds its buffer, a text its number, a device its place. */
	assert_int_equal(take_buffer(writer, 0, TDM_KIND_DRAM, 2), 0);
	assert_int_equal(take_buffer(writer, 0, TDM_KIND_DRAM, 1), -ENOENT);
	assert_true(tdm_blobs_put(&writer->blobs, TDM_BLOB_TEXT, "weights", 7, &is_new) != 0);
	assert_false(is_new);
	assert_int_equal(put_buffer(writer, 5, TDM_KIND_L1, 10, 1024), 0);
	assert_int_equal(put_buffer(writer, 6, TDM_KIND_L1, 11, 1024), 0);
	assert_int_equal(tdm_writer_device(writer, 5, false)->banks[TDM_KIND_DRAM], 12);
	for (uint64_t id = 10001; id <= 20000; id++)
		assert_int_equal(put_buffer(writer, 0, TDM_KIND_DRAM, id, 64), 0);
	after = count_of(path, 0, TDM_KIND_DRAM);
	assert_int_equal(after.buffers, 2000 - 1 + 10000);
	assert_int_equal(after.allocs, 3000 + 10000);
	assert_int_equal(after.peak, before.peak);
	assert_int_equal(count_of(path, 1, TDM_KIND_L1).buffers, 2);
	assert_int_equal(count_of(path, 2, TDM_KIND_L1).buffers, 1);
	struct tdm_ledger *ledger = read_ledger(path);
	assert_int_equal(tdm_ledger_header(ledger)->phase_count, 1);
	assert_int_equal(tdm_ledger_liveness(ledger), TDM_ALIVE);
	assert_int_equal(tdm_ledger_header(ledger)->lost[TDM_LOSS_NESTED], 0);
	tdm_ledger_close(ledger);
	tdm_ledger_file_remove(&writer->file);
	tdm_writer_free(writer);
}

static struct tdm_ledger_runtime told_of(const char *path)
{
	const struct tdm_ledger_runtime_head nothing = { 0 };
	struct tdm_ledger_runtime told = { 0 };
	struct tdm_ledger *ledger = read_ledger(path);
	assert_int_equal(tdm_ledger_told(ledger, 0, &nothing, &told), 1);
	assert_int_equal(tdm_ledger_refused(ledger), 0);
	tdm_ledger_close(ledger);
	return told;
}

/* What a runtime said, notes, and what shared buffers take. */
static void goes_on_with_what_was_said(void **state)
{
	char path[TDM_LEDGER_PATH_MAX];
	struct tdm_ledger_notes notes;
	(void)state;
	struct tdm_writer *writer = writer_for(&client);
	strcpy(path, writer->file.path);
	assert_int_equal(put_buffer(writer, 0, TDM_KIND_CB, 1, 1000), 0);
	struct tdm_wdevice *device = tdm_writer_device(writer, 0, false);
	assert_int_equal(tdm_writer_core_use(device, NULL, TDM_KIND_CB, 50, 500, 1), 0);
	uint64_t own = count_of(path, 0, TDM_KIND_CB).reserved - 500;
	assert_int_equal(tdm_writer_step(device, NULL, TDM_STEP_TRACE_ENDED, 7, 1, 0), 0);
	assert_int_equal(put_buffer(writer, 0, TDM_KIND_DRAM, 2, 64), 0);
	assert_int_equal(tdm_writer_step(device, NULL, TDM_STEP_TRACE_REPLAYED, 7, 1, 0), 0);
	assert_int_equal(put_buffer(writer, 0, TDM_KIND_DRAM, 3, 64), 0);
	assert_int_equal(tdm_writer_statistics(device, NULL, TDM_KIND_DRAM, 1, 2, 2), 0);
	assert_int_equal(tdm_writer_name_counter(writer, 4, "hook"), 0);
	*tdm_writer_counter(writer, 4) += 3;
	assert_int_equal(tdm_writer_remark(writer, "blind"), 0);
	struct tdm_ledger_runtime told = told_of(path);
	assert_int_equal(told.head.waiting_count, 1);
	assert_int_equal(told.head.judged_count, 1);
	tdm_writer_free(writer);

	assert_int_equal(resume(path, &writer), 0);
	device = tdm_writer_device(writer, 0, false);
	*tdm_writer_counter(writer, 4) += 4;
	assert_int_equal(tdm_writer_remark(writer, "blind"), 0);
	assert_int_equal(tdm_writer_remark(writer, "deaf"), 0);
	assert_int_equal(tdm_writer_core_use(device, NULL, TDM_KIND_CB, 20, 200, 1), 0);
	assert_int_equal(count_of(path, 0, TDM_KIND_CB).reserved, own + 200);
	assert_int_equal(tdm_writer_core_use(device, NULL, TDM_KIND_CB, 0, 0, 1), 0);
	assert_int_equal(count_of(path, 0, TDM_KIND_CB).reserved, own);
	assert_int_equal(tdm_writer_statistics(device, NULL, TDM_KIND_DRAM, 1, 2, 2), 0);
	assert_int_equal(tdm_writer_step(device, NULL, TDM_STEP_TRACE_BEGAN, 8, 1, 0), 0);
	told = told_of(path);
	assert_int_equal(told.head.trace_count, 2);
	assert_int_equal(told.statistics[TDM_KIND_DRAM].reports, 2);
	assert_int_equal(told.head.waiting_count, 0); /* nobody knows whether its trace exists */
	assert_int_equal(told.head.judged_count, 1);
	assert_int_equal(told.hazards[TDM_LEDGER_HAZARDS].id, 2);
	struct tdm_ledger *ledger = read_ledger(path);
	assert_int_equal(tdm_ledger_notes(ledger, &notes), 1);
	assert_int_equal(notes.counters[4].value, 7);
	assert_int_equal(notes.remark_count, 2);
	tdm_ledger_close(ledger);
	tdm_ledger_file_remove(&writer->file);
	tdm_writer_free(writer);
}

/* Whether a child can be kept from getting a mapping. An emulator of another processor may ignore it. */
static bool can_keep_back(void)
{
	int status = 1;
	void *page = mmap(NULL, TDM_LEDGER_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	assert_int_equal(madvise(page, TDM_LEDGER_PAGE, MADV_DONTFORK), 0);
	pid_t child = fork();
	if (child == 0)
		_exit(msync(page, TDM_LEDGER_PAGE, MS_ASYNC) == 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	munmap(page, TDM_LEDGER_PAGE);
	return status == 0;
}

/* The lock belongs to the open file, and a mapping keeps a file open: a child without descriptors must not hold it. */
static void a_child_of_the_old_writer_does_not_hold_its_ledgers(void **state)
{
	char path[TDM_LEDGER_PATH_MAX];
	struct tdm_writer *writer;
	int go[2], closed[2];
	char byte = 0;
	(void)state;
	if (!can_keep_back())
		skip();
	leave_ledger(path);
	assert_int_equal(resume(path, &writer), 0);
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(closed), 0);
	pid_t child = fork();
	if (child == 0) {
		close(writer->file.fd);
		close(go[1]);
		(void)!write(closed[1], &byte, 1);
		_exit(read(go[0], &byte, 1) == 0 ? 0 : 1);
	}
	assert_int_equal(read(closed[0], &byte, 1), 1);
	tdm_writer_free(writer);
	int err = resume(path, &writer);
	close(go[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(err, 0);
	close(go[0]);
	close(closed[0]);
	close(closed[1]);
	tdm_ledger_file_remove(&writer->file);
	tdm_writer_free(writer);
}

/* Ledgers that are not to be gone on with. */
static void refused(void **state)
{
	char path[TDM_LEDGER_PATH_MAX], other[TDM_LEDGER_PATH_MAX + 16];
	struct tdm_writer *writer, *second;
	struct tdm_ledger_header header;
	const struct tdm_writer_options own = { .dir = behalf_dir, .mode = 0600 };
	(void)state;
	leave_ledger(path);
	assert_int_equal(resume(path, &writer), 0);
	assert_int_equal(resume(path, &second), -EBUSY);
	tdm_writer_end(writer);
	tdm_writer_free(writer);
	assert_int_equal(resume(path, &second), -ESHUTDOWN);
	snprintf(other, sizeof other, "%s9", path); /* another generation in the name than in the header */
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(resume(other, &second), -EINVAL);
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(resume(path, &second), -ELOOP);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rename(other, path), 0);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(resume(path, &second), -EPERM);
	assert_int_equal(chmod(path, 0600), 0);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(fd, &header, sizeof header, 0), sizeof header);
	header.state = TDM_LEDGER_OPEN;
	header.boot_id[0] ^= 1;
	assert_int_equal(pwrite(fd, &header, sizeof header, 0), sizeof header);
	assert_int_equal(resume(path, &second), -ESTALE);
	header.boot_id[0] ^= 1;
	header.state = TDM_LEDGER_NEW;
	assert_int_equal(pwrite(fd, &header, sizeof header, 0), sizeof header);
	assert_int_equal(resume(path, &second), -EAGAIN);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(resume(path, &second), -EAGAIN);
	close(fd);
	unlink(path);
	assert_int_equal(resume(path, &second), -ENOENT);
	/* A ledger that its own process writes. */
	assert_int_equal(tdm_writer_new(&own, &writer), 0);
	strcpy(path, writer->file.path);
	tdm_writer_free(writer);
	assert_int_equal(resume(path, &second), -EINVAL);
	unlink(path);
}

/* Every refused one has given its lock and descriptor back. */
static void refused_leaves_nothing(void **state)
{
	char path[TDM_LEDGER_PATH_MAX];
	struct tdm_writer *writer;
	(void)state;
	leave_ledger(path);
	assert_int_equal(chmod(path, 0666), 0);
	int before = dup(0);
	close(before);
	for (int i = 0; i < 100; i++)
		assert_int_equal(resume(path, &writer), -EPERM);
	int after = dup(0);
	close(after);
	assert_int_equal(after, before);
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(resume(path, &writer), 0);
	tdm_ledger_file_remove(&writer->file);
	tdm_writer_free(writer);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

static size_t read_all(const char *path, char **bytes)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	*bytes = malloc((size_t)st.st_size);
	assert_int_equal(read(fd, *bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	return (size_t)st.st_size;
}

/* A ledger with wrong words anywhere is refused, or gone on with: nothing else happens. */
static void damaged(void **state)
{
	enum { ROUNDS = 1500, WORDS = 3 };
	static const uint64_t values[] = { 0, 1, 7, 4096, UINT32_MAX, UINT64_MAX, UINT64_MAX - 4095, 1 << 20 };
	char path[TDM_LEDGER_PATH_MAX], *bytes;
	struct tdm_writer *writer;
	uint64_t seed = 12345;
	unsigned refused_count = 0;
	(void)state;
	leave_ledger(path);
	size_t size = read_all(path, &bytes);
	for (unsigned round = 0; round < ROUNDS; round++) {
		int fd = open(path, O_RDWR | O_TRUNC | O_CLOEXEC);
		assert_true(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
		for (int i = 0; i < WORDS; i++) {
			/* mostly in the header and in the pages of devices */
			uint64_t at = next_random(&seed) % (next_random(&seed) % 4 != 0 ? 16384 : size - 8);
			uint64_t value =
				next_random(&seed) % 2 != 0 ? values[next_random(&seed) % 8] : next_random(&seed);
			assert_int_equal(pwrite(fd, &value, sizeof value, (off_t)(at & ~UINT64_C(7))), sizeof value);
		}
		close(fd);
		int err = resume(path, &writer);
		refused_count += err != 0;
		if (err != 0)
			continue;
		for (uint64_t id = 1; id < 600; id++)
			put_buffer(writer, id % 3 * 5, TDM_KIND_DRAM, id, 64);
		for (uint64_t id = 1; id < 3000; id++)
			take_buffer(writer, 0, TDM_KIND_DRAM, id);
		tdm_writer_free(writer);
	}
	assert_true(refused_count > ROUNDS / 10 && refused_count < ROUNDS);
	free(bytes);
	unlink(path);
}

static int set_up(void **state)
{
	client = client_start();
	return behalf_dir_make(state);
}

static int tear_down(void **state)
{
	client_end(&client);
	return behalf_dir_remove(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_on),
		cmocka_unit_test(goes_on_with_what_was_said),
		cmocka_unit_test(a_child_of_the_old_writer_does_not_hold_its_ledgers),
		cmocka_unit_test(refused),
		cmocka_unit_test(refused_leaves_nothing),
		cmocka_unit_test(damaged),
	};
	return cmocka_run_group_tests_name("resume", tests, set_up, tear_down);
}
