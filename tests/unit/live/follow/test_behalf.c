/* Ledgers that one process writes on behalf of others: what they say, who believes them, and who counts as alive. */
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
#include "live/follow/follower.h"

/* What a follower told of its processes. */
struct told {
	struct tdm_process who[8];
	size_t count;
};

static void take_event(void *context, struct tdm_event *event)
{
	struct told *told = context;
	if (event->op == TDM_OP_PROCESS) {
		assert_true(told->count < sizeof told->who / sizeof *told->who);
		told->who[told->count++] = *event->who;
	}
}

/* One look with a new follower: the one process that it finds. */
static struct tdm_process look_once(void)
{
	struct told told = { 0 };
	const struct tdm_follow_options options = { .dir = behalf_dir };
	const struct tdm_follow_sink sink = { .context = &told, .event = take_event };
	struct tdm_follower *follower = tdm_follower_new(&options);
	assert_non_null(follower);
	tdm_follower_look(follower, &sink, tdm_clock_ns());
	tdm_follower_free(follower);
	assert_int_equal(told.count, 1);
	return told.who[0];
}

/* The name that the kernel has for a process. Borrowed until the next call. */
static const char *comm_of(int32_t pid)
{
	static char path[64], text[64];
	snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof text, file));
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void header_says_for_whom(void **state)
{
	struct tdm_behalf client = client_start();
	char expected[PATH_MAX + 64];
	(void)state;
	client.uid = 4711;
	struct tdm_writer *writer = writer_for(&client);
	snprintf(expected, sizeof expected, "%s/tidemark-%u/%d.%llu.0", behalf_dir, (unsigned)geteuid(),
		(int)client.pid, (unsigned long long)client.start_time);
	assert_string_equal(writer->file.path, expected);
	struct tdm_ledger *ledger = read_ledger(expected);
	const struct tdm_ledger_header *who = tdm_ledger_header(ledger);
	assert_int_equal(who->pid, client.pid);
	assert_int_equal(who->start_time, client.start_time);
	assert_int_equal(who->uid, 4711);
	assert_int_equal(tdm_ledger_file_owner(ledger), geteuid());
	assert_true((tdm_ledger_header(ledger)->flags & TDM_LEDGER_ON_BEHALF) != 0);
	/* Under an emulator, that is a part of the emulator's name. */
	assert_string_equal(who->comm, comm_of(client.pid));
	tdm_ledger_close(ledger);
	/* A second ledger for the same process is the next generation; the first one is in use. */
	assert_int_equal(put_buffer(writer, 0, TDM_KIND_DRAM, 1, 4096), 0);
	struct tdm_writer *second = writer_for(&client);
	assert_int_equal(second->file.generation, 1);
	assert_int_equal(access(expected, F_OK), 0);
	tdm_ledger_file_remove(&second->file);
	tdm_writer_free(second);
	tdm_ledger_file_remove(&writer->file);
	tdm_writer_free(writer);
	client_end(&client);
}

/* The daemon reads the ledgers that it writes. */
static void lock_outlives_own_readers(void **state)
{
	const struct tdm_behalf client = client_start();
	struct tdm_writer *writer = writer_for(&client);
	int status;
	(void)state;
	tdm_ledger_close(read_ledger(writer->file.path));
	struct tdm_ledger *ledger = read_ledger(writer->file.path);
	assert_int_equal(tdm_ledger_liveness(ledger), TDM_ALIVE);
	pid_t other = fork();
	if (other == 0) {
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
		int fd = open(writer->file.path, O_RDONLY | O_CLOEXEC);
		_exit(fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK ? 0 : 1);
	}
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(status, 0);
	tdm_ledger_close(ledger);
	tdm_ledger_file_remove(&writer->file);
	tdm_writer_free(writer);
	client_end(&client);
}

/* Pid and start time tell whether the client lives, whoever holds the lock. */
static void alive_while_the_client_is(void **state)
{
	struct tdm_behalf client = client_start();
	(void)state;
	client.uid = 4711;
	struct tdm_writer *writer = writer_for(&client);
	assert_int_equal(put_buffer(writer, 0, TDM_KIND_DRAM, 1, 4096), 0);
	struct tdm_process who = look_once();
	assert_int_equal(who.life, TDM_LIFE_RUNS);
	assert_true(who.is_on_behalf && !who.is_claimed);
	assert_int_equal(who.uid, 4711);
	assert_int_equal(who.seen_pid, client.pid);
	assert_int_equal(who.as_of_ns, 0);
	client_end(&client);
	assert_int_equal(look_once().life, TDM_LIFE_ENDED);
	tdm_ledger_file_remove(&writer->file);
	tdm_writer_free(writer);
}

/* The follower takes a view with the same version for one that it knows, also after it has opened the file again. */
static void versions_of_views(void **state)
{
	const struct tdm_behalf client = client_start();
	struct tdm_writer *writer = writer_for(&client);
	struct tdm_diag diag = { 0 };
	(void)state;
	assert_int_equal(put_buffer(writer, 0, TDM_KIND_DRAM, 7, 4096), 0);
	struct tdm_ledger *ledger = read_ledger(writer->file.path);
	uint64_t first = tdm_ledger_device(ledger, 0)->version;
	assert_int_not_equal(first, 0);
	assert_int_equal(tdm_ledger_refresh(ledger, &diag), 0);
	assert_int_equal(tdm_ledger_device(ledger, 0)->version, first); /* nothing has changed */
	assert_int_equal(put_buffer(writer, 0, TDM_KIND_DRAM, 8, 4096), 0);
	assert_int_equal(tdm_ledger_refresh(ledger, &diag), 0);
	uint64_t second = tdm_ledger_device(ledger, 0)->version;
	assert_int_not_equal(second, first);
	tdm_ledger_close(ledger);
	ledger = read_ledger(writer->file.path);
	assert_int_not_equal(tdm_ledger_device(ledger, 0)->version, first);
	assert_int_not_equal(tdm_ledger_device(ledger, 0)->version, second);
	tdm_ledger_close(ledger);
	tdm_ledger_file_remove(&writer->file);
	tdm_writer_free(writer);
	client_end(&client);
}

static void age_without_a_writer(void **state)
{
	const struct tdm_behalf client = client_start();
	struct tdm_writer *writer = writer_for(&client);
	char path[TDM_LEDGER_PATH_MAX];
	(void)state;
	assert_int_equal(put_buffer(writer, 0, TDM_KIND_DRAM, 1, 4096), 0);
	strcpy(path, writer->file.path);
	tdm_writer_free(writer); /* as if the daemon had ended */
	struct tdm_process who = look_once();
	assert_int_equal(who.life, TDM_LIFE_RUNS);
	assert_true(who.as_of_ns != 0 && who.as_of_ns <= tdm_clock_ns());
	client_end(&client);
	who = look_once();
	assert_int_equal(who.life, TDM_LIFE_ENDED);
	unlink(path);
}

/* The pid is now another process's. */
static void reused_pid_is_another(void **state)
{
	const struct tdm_behalf client = client_start();
	struct tdm_behalf earlier = client;
	(void)state;
	earlier.start_time--;
	struct tdm_writer *writer = writer_for(&earlier);
	assert_int_equal(look_once().life, TDM_LIFE_ENDED);
	assert_string_equal(writer->file.header->comm, "");
	tdm_ledger_file_remove(&writer->file);
	tdm_writer_free(writer);
	client_end(&client);
}

/* The writer noticed the end of its client first. */
static void closed_is_ended(void **state)
{
	const struct tdm_behalf client = client_start();
	struct tdm_writer *writer = writer_for(&client);
	(void)state;
	tdm_writer_end(writer);
	assert_int_equal(look_once().life, TDM_LIFE_ENDED);
	tdm_ledger_file_remove(&writer->file);
	tdm_writer_free(writer);
	client_end(&client);
}

/* Somebody else says that a process holds memory. */
static void stranger_is_not_believed(void **state)
{
	enum { STRANGER = 65533 };
	struct tdm_behalf client = client_start();
	(void)state;
	client.uid = 4711;
	struct tdm_writer *writer = writer_for(&client);
	if (chown(writer->file.path, STRANGER, (gid_t)-1) == 0) { /* only root can */
		struct tdm_process who = look_once();
		assert_true(who.is_on_behalf && who.is_claimed && !who.is_held);
		assert_int_equal(who.seen_pid, 0);
		assert_int_equal(who.uid, STRANGER);
	}
	tdm_ledger_file_remove(&writer->file);
	tdm_writer_free(writer);
	client_end(&client);
}

/* Somebody deletes the ledger under its writer: it is made anew, for the same process. */
static void made_anew(void **state)
{
	struct tdm_behalf client = client_start();
	(void)state;
	client.uid = 4711;
	struct tdm_writer *writer = writer_for(&client);
	for (uint64_t id = 1; id <= 5000; id++) /* more than is mapped at first */
		assert_int_equal(put_buffer(writer, 0, TDM_KIND_DRAM, id, 4096), 0);
	assert_true(tdm_blobs_put(&writer->blobs, TDM_BLOB_TEXT, "weights", 7, NULL) != 0);
	assert_int_equal(unlink(writer->file.path), 0);
	assert_int_equal(tdm_writer_renew(writer), 0);
	for (uint64_t id = 5001; id <= 9000; id++)
		assert_int_equal(put_buffer(writer, 0, TDM_KIND_DRAM, id, 4096), 0);
	for (uint64_t id = 1; id <= 1000; id++)
		assert_int_equal(take_buffer(writer, 0, TDM_KIND_DRAM, id), 0);
	assert_int_equal(put_buffer(writer, 1, TDM_KIND_L1, 1, 4096), 0);
	struct tdm_ledger *ledger = read_ledger(writer->file.path);
	assert_int_equal(tdm_ledger_header(ledger)->pid, client.pid);
	assert_int_equal(tdm_ledger_header(ledger)->uid, 4711);
	assert_int_equal(tdm_ledger_header(ledger)->generation, 1);
	assert_int_equal(tdm_ledger_liveness(ledger), TDM_ALIVE);
	assert_int_equal(tdm_ledger_device(ledger, 0)->counts[TDM_KIND_DRAM].buffers, 8000);
	assert_int_equal(tdm_ledger_device(ledger, 1)->counts[TDM_KIND_L1].buffers, 1);
	assert_int_equal(tdm_ledger_refused(ledger), 0);
	tdm_ledger_close(ledger);
	tdm_ledger_file_remove(&writer->file);
	tdm_writer_free(writer);
	client_end(&client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_says_for_whom),
		cmocka_unit_test(lock_outlives_own_readers),
		cmocka_unit_test(alive_while_the_client_is),
		cmocka_unit_test(versions_of_views),
		cmocka_unit_test(age_without_a_writer),
		cmocka_unit_test(reused_pid_is_another),
		cmocka_unit_test(closed_is_ended),
		cmocka_unit_test(stranger_is_not_believed),
		cmocka_unit_test(made_anew),
	};
	return cmocka_run_group_tests_name("behalf", tests, behalf_dir_make, behalf_dir_remove);
}
