/* The ledgers of ended clients: kept in memory, moved to disk and removed, as the limits say. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "behalf_clients.h"
#include "base/clock.h"
#include "ledger/archive/archive.h"

enum { PIECE = 1 << 20 };
static const struct tdm_archive_limits any = { UINT64_MAX, UINT64_MAX, UINT64_MAX };
static char state_dir[PATH_MAX + 16];
static char ledgers_dir[PATH_MAX + 16];

/* A ledger of a client that has ended, with so many live buffers. Its writer noted the end at `ended_ns`. */
static void leave_dead(int32_t pid, uint32_t buffers, uint64_t ended_ns, char path[TDM_LEDGER_PATH_MAX])
{
	const struct tdm_behalf client = { .pid = pid, .start_time = 1 }; /* init started at another time */
	const struct tdm_writer_options options = { .dir = ledgers_dir, .mode = 0600, .behalf = &client };
	struct tdm_writer *writer;
	assert_int_equal(tdm_writer_new(&options, &writer), 0);
	for (uint32_t i = 0; i < buffers; i++)
		assert_int_equal(put_buffer(writer, 0, TDM_KIND_DRAM, i, 4096), 0);
	tdm_writer_end(writer);
	if (ended_ns != 0)
		writer->file.header->last.realtime_ns = ended_ns;
	if (path != NULL)
		strcpy(path, writer->file.path);
	tdm_writer_free(writer);
}

static struct tdm_archive *start(struct tdm_archive_limits memory, struct tdm_archive_limits disk)
{
	const struct tdm_archive_options options = {
		.dir = ledgers_dir, .state_dir = state_dir, .memory = memory, .disk = disk
	};
	struct tdm_archive *archive = tdm_archive_new(&options);
	assert_non_null(archive);
	assert_int_equal(tdm_archive_find(archive), 0);
	return archive;
}

static struct tdm_archive_stats finish(struct tdm_archive *archive, uint64_t real_ns)
{
	for (unsigned i = 0; tdm_archive_step(archive, real_ns, PIECE); i++)
		assert_true(i < 10000);
	return tdm_archive_get_stats(archive);
}

/* The path of a client's ledger on disk. Borrowed until the next call. */
static const char *on_disk(int32_t pid)
{
	static char path[sizeof state_dir + 64];
	snprintf(path, sizeof path, "%s/tidemark-%u/%d.1.0", state_dir, (unsigned)geteuid(), (int)pid);
	return path;
}

static uint64_t buffers_in(const char *path)
{
	struct tdm_ledger *ledger = read_ledger(path);
	uint64_t buffers = tdm_ledger_device(ledger, 0)->counts[TDM_KIND_DRAM].buffers;
	tdm_ledger_close(ledger);
	return buffers;
}

static void oldest_move_to_disk(void **state)
{
	struct tdm_archive *archive = start((struct tdm_archive_limits){ UINT64_MAX, 2, UINT64_MAX }, any);
	char paths[5][TDM_LEDGER_PATH_MAX];
	struct stat moved, st;
	(void)state;
	for (int32_t i = 0; i < 5; i++) {
		leave_dead(1 + i, 100 * (uint32_t)(i + 1), (uint64_t)(10 - i) * TDM_NS_PER_S, paths[i]);
		assert_int_equal(tdm_archive_add(archive, paths[i]), 0);
	}
	assert_int_equal(lstat(paths[2], &st), 0);
	struct tdm_archive_stats stats = finish(archive, 100 * TDM_NS_PER_S);
	assert_int_equal(stats.moved, 3);
	assert_int_equal(stats.memory_count, 2);
	assert_int_equal(stats.disk_count, 3);
	assert_int_equal(stats.failed + stats.dropped + stats.removed, 0);
	for (int32_t i = 0; i < 5; i++) {
		bool is_old = i >= 2; /* the last ones ended first */
		assert_int_equal(access(paths[i], F_OK), is_old ? -1 : 0);
		assert_int_equal(buffers_in(is_old ? on_disk(1 + i) : paths[i]), 100 * (i + 1));
	}
	/* It has its time, its holes and nobody else can read it. */
	assert_int_equal(lstat(on_disk(3), &moved), 0);
	assert_int_equal(moved.st_mtim.tv_sec, 8);
	assert_int_equal(moved.st_size, st.st_size);
	assert_true(moved.st_blocks <= st.st_blocks + 64 && moved.st_blocks * 512 < moved.st_size);
	assert_int_equal(moved.st_mode & 0777, 0600);
	assert_int_equal(tdm_archive_add(archive, paths[0]), 0); /* again: it is known */
	assert_int_equal(tdm_archive_get_stats(archive).memory_count, 2);
	tdm_archive_free(archive);
}

/* The next daemon finds what is in both places; the limits of disk hold there. */
static void found_again_and_removed(void **state)
{
	struct tdm_archive *archive = start(any, any);
	struct tdm_archive_stats stats = finish(archive, 100 * TDM_NS_PER_S);
	(void)state;
	assert_int_equal(stats.memory_count, 2);
	assert_int_equal(stats.disk_count, 3);
	tdm_archive_free(archive);
	archive = start(any, (struct tdm_archive_limits){ UINT64_MAX, 2, UINT64_MAX });
	stats = finish(archive, 100 * TDM_NS_PER_S);
	assert_int_equal(stats.removed, 1);
	assert_int_equal(stats.disk_count, 2);
	assert_int_equal(access(on_disk(5), F_OK), -1); /* the oldest */
	tdm_archive_free(archive);
	/* By age: one of them ended at 7 s and one at 8. */
	archive = start(any, (struct tdm_archive_limits){ 10 * TDM_NS_PER_S, UINT64_MAX, UINT64_MAX });
	assert_false(tdm_archive_step(archive, 17 * TDM_NS_PER_S, PIECE));
	stats = finish(archive, 18 * TDM_NS_PER_S - 1);
	assert_int_equal(stats.disk_count, 1);
	tdm_archive_free(archive);
	/* By bytes, and ledgers in memory by age. */
	archive = start((struct tdm_archive_limits){ TDM_NS_PER_S, UINT64_MAX, UINT64_MAX },
		(struct tdm_archive_limits){ UINT64_MAX, UINT64_MAX, 0 });
	stats = finish(archive, 100 * TDM_NS_PER_S);
	assert_int_equal(stats.memory_count + stats.disk_count, 0);
	assert_int_equal(stats.moved, 2);
	assert_int_equal(stats.removed, 3);
	assert_int_equal(stats.disk_bytes + stats.memory_bytes, 0);
	tdm_archive_free(archive);
}

static void not_while_somebody_lives(void **state)
{
	struct tdm_archive *archive = start(any, any);
	const struct tdm_behalf client = client_start();
	const struct tdm_writer_options options = { .dir = ledgers_dir, .mode = 0600, .behalf = &client };
	const struct tdm_writer_options own_options = { .dir = ledgers_dir, .mode = 0600 };
	struct tdm_writer *writer, *own;
	char path[TDM_LEDGER_PATH_MAX];
	(void)state;
	assert_int_equal(tdm_writer_new(&options, &writer), 0);
	assert_int_equal(put_buffer(writer, 0, TDM_KIND_DRAM, 1, 4096), 0);
	strcpy(path, writer->file.path);
	assert_int_equal(tdm_archive_add(archive, path), -EBUSY); /* the writer */
	tdm_writer_free(writer);
	assert_int_equal(tdm_archive_add(archive, path), -EBUSY); /* the client */
	client_end(&client);
	assert_int_equal(tdm_archive_add(archive, path), 0);
	assert_int_equal(tdm_archive_get_stats(archive).memory_count, 1);
	unlink(path);
	/* A process that writes itself has other rules. */
	assert_int_equal(tdm_writer_new(&own_options, &own), 0);
	strcpy(path, own->file.path);
	tdm_writer_end(own);
	tdm_writer_free(own);
	assert_int_equal(tdm_archive_add(archive, path), -EINVAL);
	unlink(path);
	/* One without live buffers tells nothing. */
	leave_dead(1, 0, 0, path);
	assert_int_equal(tdm_archive_add(archive, path), 0);
	assert_int_equal(access(path, F_OK), -1);
	tdm_archive_free(archive);
}

/* A large ledger is copied in pieces; until the last one it is where it was. */
static void copied_in_pieces(void **state)
{
	struct tdm_archive *archive = start((struct tdm_archive_limits){ 0, 0, 0 }, any);
	char path[TDM_LEDGER_PATH_MAX], other[sizeof state_dir + 64];
	unsigned steps = 0;
	(void)state;
	leave_dead(1, 5000, TDM_NS_PER_S, path);
	assert_int_equal(tdm_archive_add(archive, path), 0);
	for (; steps < 20; steps++)
		assert_true(tdm_archive_step(archive, 2 * TDM_NS_PER_S, 4096));
	assert_int_equal(buffers_in(path), 5000);
	assert_int_equal(access(on_disk(1), F_OK), -1);
	/* An older one that is added meanwhile does not take its place. */
	leave_dead(2, 10, 1, other);
	assert_int_equal(tdm_archive_add(archive, other), 0);
	tdm_archive_free(archive); /* gives up */
	assert_int_equal(buffers_in(path), 5000);
	archive = start((struct tdm_archive_limits){ 0, 0, 0 }, any);
	for (; tdm_archive_step(archive, 2 * TDM_NS_PER_S, 4096); steps++)
		continue;
	assert_true(steps > 100);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(buffers_in(on_disk(1)), 5000);
	assert_int_equal(buffers_in(on_disk(2)), 10);
	/* Another process with the same pid and start time, after a reboot: both are kept. */
	leave_dead(1, 7, 0, path);
	assert_int_equal(tdm_archive_add(archive, path), 0);
	assert_int_equal(finish(archive, 2 * TDM_NS_PER_S).disk_count, 3);
	assert_int_equal(buffers_in(on_disk(1)), 5000);
	snprintf(other, sizeof other, "%s/tidemark-%u/1.1.1", state_dir, (unsigned)geteuid());
	assert_int_equal(buffers_in(other), 7);
	/* What a daemon that was killed has not finished goes. */
	snprintf(other, sizeof other, "%s/tidemark-%u/unfinished.1.1.0", state_dir, (unsigned)geteuid());
	close(open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	tdm_archive_free(archive);
	archive = start(any, (struct tdm_archive_limits){ 0, 0, 0 });
	assert_int_equal(access(other, F_OK), -1);
	assert_int_equal(finish(archive, 2 * TDM_NS_PER_S).removed, 3);
	tdm_archive_free(archive);
}

/* Writes over a file, from `at` on. */
static void damage(const char *path, off_t at, const void *bytes, size_t count)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, count, at), count);
	close(fd);
}

/* What cannot be read is kept for as long as the rest, and not for ever. */
static void damaged_ones_have_the_same_limits(void **state)
{
	const struct tdm_archive_limits two = { UINT64_MAX, 2, UINT64_MAX };
	const uint64_t wrong = 77;
	char path[TDM_LEDGER_PATH_MAX];
	(void)state;
	for (int32_t i = 0; i < 4; i++) {
		leave_dead(1 + i, 10, 0, path);
		if (i % 2 == 0)
			damage(path, 0, &wrong, sizeof wrong);
		else
			assert_int_equal(truncate(path, 100), 0);
	}
	struct tdm_archive *archive = start(two, any);
	struct tdm_archive_stats stats = finish(archive, tdm_clock_real_ns());
	assert_int_equal(stats.moved, 2);
	assert_int_equal(stats.memory_count, 2);
	assert_int_equal(stats.disk_count, 2);
	tdm_archive_free(archive);
	archive = start((struct tdm_archive_limits){ TDM_NS_PER_S, UINT64_MAX, UINT64_MAX },
		(struct tdm_archive_limits){ 3600 * TDM_NS_PER_S, UINT64_MAX, UINT64_MAX });
	assert_int_equal(finish(archive, tdm_clock_real_ns() + 10 * TDM_NS_PER_S).disk_count, 4);
	assert_int_equal(finish(archive, tdm_clock_real_ns() + 7200 * TDM_NS_PER_S).disk_count, 0);
	/* A program's own ledger that is damaged is not the daemon's to move. */
	const struct tdm_writer_options own_options = { .dir = ledgers_dir, .mode = 0600 };
	struct tdm_writer *own;
	assert_int_equal(tdm_writer_new(&own_options, &own), 0);
	strcpy(path, own->file.path);
	strcpy(strrchr(path, '/'), "/1.1.0"); /* a process that has ended */
	assert_int_equal(rename(own->file.path, path), 0);
	tdm_writer_free(own);
	damage(path, offsetof(struct tdm_ledger_header, state), &wrong, 4);
	assert_int_equal(tdm_archive_add(archive, path), -EINVAL);
	unlink(path);
	tdm_archive_free(archive);
}

/* A daemon cannot go on with a damaged ledger. When its client ends, it goes like others. */
static void damaged_one_of_a_client_that_lives(void **state)
{
	const struct tdm_behalf client = client_start();
	const struct tdm_writer_options options = { .dir = ledgers_dir, .mode = 0600, .behalf = &client };
	const uint64_t wrong = 77;
	struct tdm_writer *writer;
	char path[TDM_LEDGER_PATH_MAX];
	uint64_t now_ns = tdm_clock_real_ns();
	(void)state;
	assert_int_equal(tdm_writer_new(&options, &writer), 0);
	assert_int_equal(put_buffer(writer, 0, TDM_KIND_DRAM, 1, 4096), 0);
	strcpy(path, writer->file.path);
	tdm_writer_free(writer);
	damage(path, 0, &wrong, sizeof wrong);
	struct tdm_archive *archive = start((struct tdm_archive_limits){ 0, 0, 0 }, any);
	struct tdm_archive_stats stats = finish(archive, now_ns);
	assert_int_equal(stats.moved, 0);
	assert_int_equal(stats.waiting, 1);
	client_end(&client);
	assert_int_equal(finish(archive, now_ns + TDM_NS_PER_S).moved, 0); /* it looks now and then */
	stats = finish(archive, now_ns + 3600 * TDM_NS_PER_S);
	assert_int_equal(stats.moved, 1);
	assert_int_equal(stats.waiting, 0);
	assert_int_equal(access(path, F_OK), -1);
	tdm_archive_free(archive);
	archive = start(any, (struct tdm_archive_limits){ 0, 0, 0 });
	finish(archive, now_ns);
	tdm_archive_free(archive);
}

/* There is no place on disk: memory stays bounded, and what is dropped is counted. */
static void nowhere_to_move(void **state)
{
	char path[TDM_LEDGER_PATH_MAX], blocked[sizeof state_dir + 16];
	struct tdm_archive_options options = { .dir = ledgers_dir, .state_dir = blocked };
	(void)state;
	snprintf(blocked, sizeof blocked, "%s/file", behalf_dir);
	close(open(blocked, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	options.memory = (struct tdm_archive_limits){ TDM_NS_PER_S, 2, UINT64_MAX };
	options.disk = any;
	struct tdm_archive *archive = tdm_archive_new(&options);
	for (int32_t i = 0; i < 4; i++) {
		leave_dead(1 + i, 10, (uint64_t)(i + 1) * TDM_NS_PER_S, path);
		assert_int_equal(tdm_archive_add(archive, path), 0);
	}
	struct tdm_archive_stats stats = finish(archive, 100 * TDM_NS_PER_S);
	assert_int_equal(stats.dropped, 2);
	assert_int_equal(stats.memory_count, 2); /* too old, but there is room */
	assert_int_equal(stats.moved, 0);
	assert_true(stats.failed >= 2 && stats.err != 0);
	tdm_archive_free(archive);
	unlink(blocked);
}

static void state_dir_from_environment(void **state)
{
	char path[TDM_LEDGER_PATH_MAX];
	(void)state;
	setenv("HOME", "/home/me", 1);
	unsetenv("XDG_STATE_HOME");
	unsetenv("STATE_DIRECTORY");
	assert_int_equal(tdm_archive_state_dir(path), 0);
	assert_string_equal(path, "/home/me/.local/state/tidemark");
	setenv("XDG_STATE_HOME", "/state", 1);
	assert_int_equal(tdm_archive_state_dir(path), 0);
	assert_string_equal(path, "/state/tidemark");
	setenv("STATE_DIRECTORY", "/var/lib/tidemark:/var/lib/other", 1);
	assert_int_equal(tdm_archive_state_dir(path), 0);
	assert_string_equal(path, "/var/lib/tidemark");
	unsetenv("STATE_DIRECTORY");
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	assert_int_equal(tdm_archive_state_dir(path), -ENOENT);
}

static int set_up(void **state)
{
	int err = behalf_dir_make(state);
	snprintf(state_dir, sizeof state_dir, "%s/a/state", behalf_dir);
	snprintf(ledgers_dir, sizeof ledgers_dir, "%s/live", behalf_dir);
	return err == 0 ? mkdir(ledgers_dir, 0700) : err;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oldest_move_to_disk),
		cmocka_unit_test(found_again_and_removed),
		cmocka_unit_test(not_while_somebody_lives),
		cmocka_unit_test(copied_in_pieces),
		cmocka_unit_test(damaged_ones_have_the_same_limits),
		cmocka_unit_test(damaged_one_of_a_client_that_lives),
		cmocka_unit_test(nowhere_to_move),
		cmocka_unit_test(state_dir_from_environment),
	};
	return cmocka_run_group_tests_name("archive", tests, set_up, behalf_dir_remove);
}
