/* The follower and files: ledgers that appear, break, end, disappear, cannot be read, or are too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/err.h"
#include "follow_ledgers.h"

enum { NOBODY = 65534 };

static void forgotten(void **state)
{
	struct builder b;
	(void)state;
	begin(&b);
	add(&b, 1);
	int one = write_running(&b, 701), two = write_running(&b, 702);
	write_ledger(&b, 703);
	start(0);
	assert_string_equal(follow_look(&f), "PduPduPdu");
	/* It ends with nothing left: at once, and once. */
	unlink(path_of(701));
	close(one);
	assert_string_equal(follow_look_after(&f, 1), "PF");
	assert_null(process_of(701));
	assert_string_equal(follow_look(&f), "");
	/* The ledger of one that runs, and of one that does not, is taken away. */
	unlink(path_of(702));
	assert_string_equal(follow_look_after(&f, 1), "");
	assert_string_equal(follow_look(&f), "F");
	unlink(path_of(703));
	assert_string_equal(follow_look(&f), "F");
	assert_int_equal(f.fold.count, 0);
	assert_int_equal(tdm_follower_count(f.follower), 0);
	/* So is the directory; what was there is gone with it, and comes again under another number. */
	write_ledger(&b, 704);
	follow_look(&f);
	uint64_t number = f.fold.processes[0]->number;
	char aside[PATH_MAX + 8];
	snprintf(aside, sizeof aside, "%s.x", dir);
	assert_int_equal(rename(dir, aside), 0);
	assert_string_equal(follow_look(&f), "F");
	assert_int_equal(tdm_follower_err(f.follower), -ENOENT);
	assert_int_equal(rename(aside, dir), 0);
	assert_string_equal(follow_look(&f), "Pdu");
	assert_int_equal(tdm_follower_err(f.follower), 0);
	assert_true(f.fold.processes[0]->number != number);
	close(two);
	follow_done(&f);
	unlink(path_of(704));
	builder_done(&b);
}

static void only_the_wanted_processes(void **state)
{
	struct builder b;
	const int32_t pids[] = { 7, 9 };
	(void)state;
	builder_sample(&b);
	for (int pid = 6; pid < 10; pid++)
		write_ledger(&b, pid);
	follow_init(&f, (struct tdm_follow_options){ .dir = dir, .pids = pids, .pid_count = 2 }, BUFFERS);
	follow_look(&f);
	assert_int_equal(f.fold.count, 2);
	assert_int_equal(f.fold.processes[0]->who.pid, 7);
	assert_int_equal(f.fold.processes[1]->who.pid, 9);
	assert_int_equal(tdm_follower_others(f.follower), 2);
	unlink(path_of(6));
	follow_look(&f);
	assert_int_equal(tdm_follower_others(f.follower), 1);
	follow_done(&f);
	for (int pid = 7; pid < 10; pid++)
		unlink(path_of(pid));
	builder_done(&b);
}

static void given_paths(void **state)
{
	struct builder b;
	char good[PATH_MAX + 64], missing[PATH_MAX + 64];
	(void)state;
	builder_sample(&b);
	snprintf(good, sizeof good, "%s", write_ledger(&b, 11));
	snprintf(missing, sizeof missing, "%s/nowhere", dir);
	write_ledger(&b, 12);
	const char *paths[] = { good, missing, dir, good, NULL };
	follow_init(&f, (struct tdm_follow_options){ .paths = paths }, BUFFERS);
	follow_look(&f);
	assert_int_equal(f.fold.count, 1);
	assert_int_equal(f.fold.processes[0]->who.pid, 11);
	assert_int_equal(tdm_follower_count(f.follower), 3);
	assert_int_equal(follow_problems(&f), 2);
	assert_int_equal(follow_find(&f, "nowhere")->err, -ENOENT);
	assert_non_null(strstr(follow_find(&f, "nowhere")->text, "No such file"));
	assert_false(follow_find(&f, "nowhere")->is_known);
	assert_int_equal(follow_find(&f, dir)->err, TDM_ECORRUPT);
	/* One that comes later is found. */
	builder_header(&b)->pid = 13;
	builder_write(&b, missing);
	follow_look(&f);
	assert_int_equal(f.fold.count, 2);
	assert_int_equal(follow_problems(&f), 1);
	/* One that goes stays as it was: nobody lists a directory. */
	unlink(good);
	assert_string_equal(follow_look(&f), "");
	assert_int_equal(f.fold.count, 2);
	follow_done(&f);
	unlink(missing);
	unlink(path_of(12));
	builder_done(&b);
}

static void unreadable_ones_are_named(void **state)
{
	struct builder b;
	char link[PATH_MAX + 64];
	(void)state;
	builder_sample(&b);
	write_ledger(&b, 1);
	builder_header(&b)->major = 9;
	write_ledger(&b, 2);
	builder_header(&b)->major = TDM_LEDGER_MAJOR;
	builder_header(&b)->magic = 5;
	write_ledger(&b, 3);
	snprintf(link, sizeof link, "%s", path_of(4));
	assert_int_equal(symlink("/nowhere", link), 0);
	start(0);
	follow_look(&f);
	assert_int_equal(f.fold.count, 1);
	assert_int_equal(tdm_follower_count(f.follower), 4);
	assert_int_equal(follow_problems(&f), 3);
	assert_int_equal(follow_find(&f, "tidemark.2.12345.0")->err, TDM_EVERSION);
	assert_non_null(strstr(follow_find(&f, "tidemark.2.12345.0")->text, "version 9"));
	assert_int_equal(follow_find(&f, "tidemark.3.12345.0")->err, TDM_ECORRUPT);
	assert_int_equal(follow_find(&f, "tidemark.4.12345.0")->err, -ELOOP);
	/* They are tried again, ever more seldom. */
	builder_header(&b)->magic = TDM_LEDGER_MAGIC;
	write_ledger(&b, 3);
	assert_string_equal(follow_look_after(&f, TDM_NS_PER_S / 2), "");
	assert_int_equal(follow_problems(&f), 3);
	assert_string_equal(follow_look_after(&f, TDM_NS_PER_S), "Pmmdtuuduuhn");
	assert_int_equal(follow_problems(&f), 2);
	unlink(link);
	follow_look(&f);
	assert_int_equal(follow_problems(&f), 1);
	follow_done(&f);
	for (int pid = 1; pid < 4; pid++)
		unlink(path_of(pid));
	/* A directory that is not there. */
	follow_init(&f, (struct tdm_follow_options){ .dir = "/nowhere/at/all" }, 0);
	assert_string_equal(follow_look(&f), "");
	assert_int_equal(tdm_follower_err(f.follower), -ENOENT);
	follow_done(&f);
	builder_done(&b);
}

/* One that is just being made is no problem, unless that takes long. */
static void being_set_up(void **state)
{
	struct builder b;
	(void)state;
	builder_sample(&b);
	start(0);
	assert_string_equal(follow_look(&f), "");
	builder_header(&b)->state = TDM_LEDGER_NEW;
	write_ledger(&b, 502);
	follow_look(&f);
	const struct tdm_followed *item = follow_find(&f, "tidemark.502.12345.0");
	assert_int_equal(item->err, -EAGAIN);
	assert_string_equal(item->text, "");
	follow_look_after(&f, TDM_NS_PER_S);
	assert_string_equal(item->text, "");
	builder_header(&b)->state = TDM_LEDGER_OPEN;
	write_ledger(&b, 502);
	assert_string_equal(follow_look_after(&f, 1), "Pmmdtuuduuhn"); /* it is looked at each time */
	assert_int_equal(follow_problems(&f), 0);
	builder_header(&b)->state = TDM_LEDGER_NEW;
	write_ledger(&b, 503);
	follow_look(&f);
	follow_look_after(&f, 3 * TDM_NS_PER_S);
	item = follow_find(&f, "tidemark.503.12345.0");
	assert_int_equal(item->err, -EAGAIN);
	assert_non_null(strstr(item->text, "setting it up"));
	follow_done(&f);
	unlink(path_of(502));
	unlink(path_of(503));
	builder_done(&b);
}

/* A ledger that breaks while it is followed: its process stays, and says that its figures are old. */
static void broken_and_mended(void **state)
{
	struct builder b;
	(void)state;
	begin(&b);
	add(&b, 1);
	int fd = write_running(&b, 777);
	start(BUFFERS);
	assert_string_equal(follow_look(&f), "PducA");
	assert_int_equal(pwrite(fd, "garbage!", 8, 0), 8);
	assert_string_equal(follow_look(&f), "P");
	const struct tdm_followed *item = follow_find(&f, "tidemark.777.12345.0");
	assert_int_equal(item->err, TDM_ECORRUPT);
	assert_true(f.fold.processes[0]->who.is_stuck);
	assert_int_equal(f.fold.processes[0]->who.life, TDM_LIFE_RUNS);
	assert_int_equal(fold_buffers(holding(0, 0)), 1);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_string_equal(follow_look(&f), "");
	assert_true(item->err != 0);
	add(&b, 2);
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "Pua");
	assert_false(f.fold.processes[0]->who.is_stuck);
	assert_int_equal(item->err, 0);
	compare_with_fresh();
	/* A device that was there cannot be read any more. */
	uint64_t offset = builder_header(&b)->device_offset[0];
	builder_header(&b)->device_offset[0] = UINT64_C(1) << 40;
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "P");
	assert_non_null(strstr(item->text, "cannot be read any more"));
	/* Or is another one. */
	builder_header(&b)->device_offset[0] = offset;
	builder_device(&b, offset)->number = 5;
	rewrite(&b, fd);
	assert_string_equal(follow_look(&f), "");
	assert_non_null(strstr(item->text, "cannot be read any more"));
	assert_int_equal(f.fold.processes[0]->holding_count, 1);
	/* It ends like that. */
	close(fd);
	assert_string_equal(follow_look(&f), "P");
	assert_int_equal(f.fold.processes[0]->who.life, TDM_LIFE_ENDED);
	assert_true(item->err != 0);
	follow_done(&f);
	unlink(path_of(777));
	builder_done(&b);
}

/* Another user's: only its owner may read it. */
static void a_forbidden_one(void **state)
{
	struct builder b;
	bool was_root = geteuid() == 0;
	(void)state;
	builder_sample(&b);
	write_ledger(&b, 601);
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(chmod(path_of(601), 0), 0);
	assert_int_equal(was_root ? seteuid(NOBODY) : 0, 0);
	start(0);
	follow_look(&f);
	assert_int_equal(was_root ? seteuid(0) : 0, 0);
	assert_int_equal(follow_find(&f, "tidemark.601.12345.0")->err, -EACCES);
	assert_non_null(strstr(follow_find(&f, "tidemark.601.12345.0")->text, "Permission denied"));
	follow_done(&f);
	unlink(path_of(601));
	builder_done(&b);
}

static void too_many_files(void **state)
{
	enum { MORE = 5 };
	struct builder b;
	(void)state;
	begin(&b);
	for (int i = 0; i < TDM_FOLLOWED_MAX + MORE; i++)
		write_ledger(&b, 100000 + i);
	start(0);
	follow_look(&f);
	size_t count = tdm_follower_count(f.follower); /* of one owner's too many a share is left */
	assert_true(count >= TDM_FOLLOWED_MAX / 2 && count <= TDM_FOLLOWED_MAX);
	assert_int_equal(f.fold.count, count);
	assert_int_equal(tdm_follower_cut(f.follower), TDM_FOLLOWED_MAX + MORE - count);
	assert_int_equal(follow_problems(&f), 0);
	for (int i = 0; i < 2 * MORE; i++)
		unlink(path_of(100000 + i));
	follow_look(&f);
	follow_look(&f);
	assert_int_equal(tdm_follower_cut(f.follower), 0);
	assert_int_equal(f.fold.count, TDM_FOLLOWED_MAX - MORE);
	follow_done(&f);
	for (int i = 0; i < TDM_FOLLOWED_MAX + MORE; i++)
		unlink(path_of(100000 + i));
	builder_done(&b);
}

/* A process that holds the lock of the ledger that has its pid, or of another one; its owner is that user. */
static pid_t hold_as(struct builder *b, int pid, unsigned uid)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	struct stat ns;
	int ready[2];
	char said;
	assert_true(stat("/proc/self/ns/pid", &ns) == 0 && pipe(ready) == 0);
	builder_header(b)->pid_namespace = ns.st_ino;
	pid_t holder = fork();
	if (holder == 0) {
		int fd = open(write_ledger(b, pid != 0 ? pid : (int)getpid()), O_RDWR);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (fd < 0 || setuid(uid) != 0 || fcntl(fd, F_SETLK, &lock) != 0 || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_true(holder > 0 && read(ready[0], &said, 1) == 1);
	close(ready[0]);
	return holder;
}

/* A pid in a file is believed if that process holds the lock and belongs to the owner of the file. */
static void a_pid_may_be_a_mere_claim(void **state)
{
	struct builder b;
	(void)state;
	begin(&b);
	pid_t good = hold_as(&b, 0, geteuid()), other = hold_as(&b, getppid(), geteuid());
	pid_t changed = geteuid() == 0 ? hold_as(&b, 0, NOBODY) : 0;
	int fd = write_running(&b, 1 << 23); /* no such process, and the kernel does not name the lock's holder */
	start(0);
	follow_look(&f);
	const struct tdm_process *who = &process_of(good)->who;
	assert_true(!who->is_claimed && who->is_held && who->seen_pid == good);
	who = &process_of(getppid())->who;
	assert_true(who->is_claimed && !who->is_held && who->seen_pid == 0 && who->uid == geteuid());
	who = &process_of(1 << 23)->who;
	assert_true(who->is_claimed && !who->is_held && who->seen_pid == 0);
	if (changed != 0) {
		who = &process_of(changed)->who;
		assert_true(who->is_claimed && who->is_held && who->seen_pid == changed);
	}
	follow_done(&f);
	const pid_t holders[] = { good, other, changed };
	for (size_t i = 0; i < 3 && holders[i] != 0; i++)
		assert_true(kill(holders[i], SIGKILL) == 0 && waitpid(holders[i], NULL, 0) == holders[i]);
	close(fd);
	builder_done(&b);
}

enum { MANY = 60, FEW_FILES = 32 };

/* A process that has all these ledgers' locks; it ends when the pipe closes. */
static pid_t hold_all(int *pipe_end)
{
	int ready[2], go[2];
	char said;
	assert_true(pipe(ready) == 0 && pipe(go) == 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
		close(go[1]);
		for (int i = 0; i < MANY; i++) {
			int fd = open(path_of(200 + i), O_RDWR);
			if (fd < 0 || fcntl(fd, F_SETLK, &lock) != 0)
				_exit(1);
		}
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		_exit(read(go[0], &said, 1) != 0);
	}
	close(ready[1]);
	close(go[0]);
	assert_true(pid > 0 && read(ready[0], &said, 1) == 1);
	close(ready[0]);
	*pipe_end = go[1];
	return pid;
}

/* Some ledgers cannot be opened for want of descriptors: a problem of theirs, and of nobody else. */
static int follow_with_few(bool may_raise, const int *pipe_end)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 2;
	limit.rlim_cur = FEW_FILES;
	limit.rlim_max = may_raise ? limit.rlim_max : FEW_FILES;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 3;
	start(0);
	follow_look(&f);
	size_t read = f.fold.count, problems = follow_problems(&f);
	if (may_raise)
		return read == MANY && problems == 0 ? 0 : 4;
	if (read + problems != MANY || read < FEW_FILES / 2 || problems < MANY - FEW_FILES)
		return 5;
	for (size_t i = 0; i < MANY; i++) {
		int err = tdm_follower_get(f.follower, i)->err;
		if (err != 0 && err != -EMFILE)
			return 6;
	}
	/* Ended ones are closed, so the others get their turn, all at the latest when they were tried often enough. */
	close(*pipe_end);
	for (int i = 0; i < 8 && f.fold.count < MANY; i++) {
		usleep(20000);
		follow_look(&f);
	}
	return f.fold.count == MANY && follow_problems(&f) == 0 ? 0 : 7;
}

static void few_descriptors(void **state)
{
	struct builder b;
	int pipe_end, status;
	(void)state;
	begin(&b);
	add(&b, 1);
	for (int i = 0; i < MANY; i++)
		write_ledger(&b, 200 + i);
	for (int may_raise = 0; may_raise < 2; may_raise++) {
		pid_t holder = hold_all(&pipe_end), pid = fork();
		if (pid == 0)
			_exit(follow_with_few(may_raise, &pipe_end));
		close(pipe_end);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		assert_int_equal(waitpid(holder, &status, 0), holder);
	}
	for (int i = 0; i < MANY; i++)
		unlink(path_of(200 + i));
	builder_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(forgotten),
		test(only_the_wanted_processes),
		test(given_paths),
		test(unreadable_ones_are_named),
		test(being_set_up),
		test(broken_and_mended),
		test(a_forbidden_one),
		test(too_many_files),
		test(few_descriptors),
		test(a_pid_may_be_a_mere_claim),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
