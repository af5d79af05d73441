/*
 * Where the library puts its ledger, and who may read it: the user's folder, names taken by others, modes, and the
 * length of the ring.
 */
#include "itest.h"
#include "tidemark.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { OTHER = 65534, SMALL_RING = 16, LARGE_RING = 65536, TAKEN = 10000 };

static const char *in_dir(const char *name)
{
	static char path[ITEST_PATH_MAX];
	CHECK(snprintf(path, sizeof path, "%s/%s", getenv("TIDEMARK_DIR"), name) < (int)sizeof path);
	return path;
}

static const char *own_folder(const char *suffix)
{
	char name[64];
	snprintf(name, sizeof name, "tidemark-%u%s", (unsigned)geteuid(), suffix);
	return in_dir(name);
}

/* The library's ledger is in this folder of ours. */
static void check_folder(const char *suffix, mode_t mode)
{
	char path[ITEST_PATH_MAX];
	struct stat st;
	snprintf(path, sizeof path, "%s", tidemark_ledger_path());
	char *slash = strrchr(path, '/');
	CHECK(slash != NULL);
	*slash = '\0';
	CHECK(strcmp(path, own_folder(suffix)) == 0);
	CHECK(lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid());
	CHECK_EQ(st.st_mode & 07777, mode);
}

static void report_one(void)
{
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
	CHECK_EQ(itest_ledgers(NULL, getpid(), NULL), 1);
}

/* A folder, then a file that only its user can see; both go when nothing is left. */
static void in_its_folder_child(void *context)
{
	struct stat st;
	(void)context;
	umask(0);
	report_one();
	check_folder("", 0700);
	CHECK(stat(tidemark_ledger_path(), &st) == 0);
	CHECK_EQ(st.st_mode & 07777, 0600);
	tidemark_free(0, 0, 1);
}

static void in_its_folder(void)
{
	CHECK(itest_exited(itest_fork(in_its_folder_child, NULL)));
	CHECK(access(own_folder(""), F_OK) != 0 && errno == ENOENT);
	/* One that other processes use stays. */
	report_one();
	CHECK(itest_exited(itest_fork(in_its_folder_child, NULL)));
	CHECK_EQ(itest_ledgers(NULL, 0, NULL), 1);
}

/* Many processes begin and end at once: the folder comes and goes, and nobody notices. */
static void folder_comes_and_goes(void)
{
	for (unsigned round = 0; round < itest_scale(50); round++) {
		pid_t pids[8];
		fflush(NULL);
		for (int i = 0; i < 8; i++) {
			pids[i] = fork();
			if (pids[i] == 0) {
				for (uint64_t k = 0; k < 10; k++) {
					CHECK(itest_alloc(0, 0, k, 64, 1) == 0);
					CHECK(tidemark_free(0, 0, k) == 0);
				}
				CHECK_EQ(tidemark_lost(), 0);
				exit(0);
			}
		}
		for (int i = 0; i < 8; i++) {
			int status;
			CHECK(waitpid(pids[i], &status, 0) == pids[i] && itest_exited(status));
		}
	}
	CHECK_EQ(itest_ledgers(NULL, 0, NULL), 0);
}

/* What somebody has planted under the name of the folder is not followed and not used. */
static void folder_is_a_link(void)
{
	CHECK(mkdir(in_dir("target"), 0700) == 0);
	CHECK(symlink("target", own_folder("")) == 0);
	report_one();
	check_folder(".1", 0700);
	CHECK(rmdir(in_dir("target")) == 0); /* empty still */
	tidemark_free(0, 0, 1);
}

static void folder_is_a_file(void)
{
	close(open(own_folder(""), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	CHECK(symlink("nowhere", own_folder(".1")) == 0);
	report_one();
	check_folder(".2", 0700);
	tidemark_free(0, 0, 1);
}

static void folder_is_open_to_others(void)
{
	CHECK(mkdir(own_folder(""), 0700) == 0 && chmod(own_folder(""), 0777) == 0);
	CHECK(mkdir(own_folder(".1"), 0700) == 0 && chmod(own_folder(".1"), 0730) == 0);
	report_one();
	check_folder(".2", 0700);
	tidemark_free(0, 0, 1);
}

static void as_other(void)
{
	CHECK(chmod(getenv("TIDEMARK_DIR"), 01777) == 0);
	CHECK(setgid(OTHER) == 0 && setuid(OTHER) == 0);
}

static void folder_is_anothers_child(void *context)
{
	as_other();
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
	if (context != NULL)
		check_folder(context, 0700);
	else /* no stall: a search through all names would have ended at the first free one */
		CHECK(strtoul(tidemark_ledger_path() + strlen(own_folder("")) + 1, NULL, 10) > TAKEN);
	tidemark_free(0, 0, 1);
	CHECK_EQ(tidemark_lost(), 0);
}

static void folder_is_anothers(void)
{
	char name[64];
	if (geteuid() != 0)
		itest_skip("only root can make others' folders");
	snprintf(name, sizeof name, "tidemark-%d", OTHER);
	CHECK(mkdir(in_dir(name), 0777) == 0 && chmod(in_dir(name), 0777) == 0);
	char suffix[] = ".1";
	CHECK(itest_exited(itest_fork(folder_is_anothers_child, suffix)));
	/* All names that anybody can think of. */
	for (int i = 1; i < TAKEN; i++) {
		snprintf(name, sizeof name, "tidemark-%d.%d", OTHER, i);
		CHECK(mkdir(in_dir(name), 0700) == 0);
	}
	CHECK(itest_exited(itest_fork(folder_is_anothers_child, NULL)));
}

/* The first layout's names are of no use any more to whoever wants to stall a program. */
static void old_names_taken(void)
{
	char name[64];
	for (int i = 0; i < TAKEN; i++) {
		snprintf(name, sizeof name, "tidemark.%d.%llu.%d", (int)getpid(), itest_start_time(), i);
		close(open(in_dir(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	}
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
	CHECK(strcmp(strrchr(tidemark_ledger_path(), '.'), ".0") == 0);
	tidemark_free(0, 0, 1);
}

/* Names in the own folder, by whatever accident. */
static void names_taken(void)
{
	char path[5][ITEST_PATH_MAX], target[ITEST_PATH_MAX];
	struct stat st;
	CHECK(mkdir(own_folder(""), 0700) == 0);
	for (int i = 0; i < 5; i++)
		CHECK(snprintf(path[i], sizeof path[i], "%s/%d.%llu.%d", own_folder(""), (int)getpid(),
			      itest_start_time(), i) < (int)sizeof path[i]);
	snprintf(target, sizeof target, "%s", in_dir("target"));
	int fd = open(target, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CHECK(write(fd, "precious", 8) == 8);
	close(fd);
	CHECK(symlink(target, path[0]) == 0);
	CHECK(symlink("nowhere", path[1]) == 0);
	CHECK(mkdir(path[2], 0700) == 0);
	CHECK(mkfifo(path[3], 0600) == 0);
	fd = open(path[4], O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CHECK(write(fd, "garbage", 7) == 7);
	close(fd);
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
	CHECK(strcmp(strrchr(tidemark_ledger_path(), '.'), ".5") == 0);
	CHECK(stat(target, &st) == 0 && st.st_size == 8);
	CHECK(stat(path[4], &st) == 0 && st.st_size == 7);
	CHECK(lstat(path[1], &st) == 0);
	tidemark_free(0, 0, 1);
}

/* So many generations that not all are looked at: a larger one is taken, at once. */
static void many_names_taken(void)
{
	CHECK(mkdir(own_folder(""), 0700) == 0);
	for (int i = 0; i < TAKEN; i++) {
		char path[ITEST_PATH_MAX];
		CHECK(snprintf(path, sizeof path, "%s/%d.%llu.%d", own_folder(""), (int)getpid(), itest_start_time(),
			      i) < (int)sizeof path);
		int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		CHECK(write(fd, "garbage", 7) == 7);
		close(fd);
	}
	CHECK(itest_alloc(0, 0, 1, 64, 1) == 0);
	/* A search through all of them would have ended at TAKEN. */
	CHECK(strtoul(strrchr(tidemark_ledger_path(), '.') + 1, NULL, 10) > TAKEN);
	tidemark_free(0, 0, 1);
}

/* A program that reports one buffer, and many events if it is told to, and leaves its ledger. */
static int program(void)
{
	const char *events = getenv("ITEST_EVENTS");
	CHECK(itest_alloc(0, 0, 0, 64, 1) == 0);
	for (uint64_t i = 1; events != NULL && i < strtoull(events, NULL, 10) / 2; i++) {
		CHECK(itest_alloc(0, 0, i, 64, 1) == 0);
		CHECK(tidemark_free(0, 0, i) == 0);
	}
	return 0;
}

static struct tdm_ledger *run(const char *setting, const char *more, char path[ITEST_PATH_MAX])
{
	const char *environment[] = { setting, more, NULL };
	CHECK(itest_exited(itest_spawn("program", environment)));
	CHECK_EQ(itest_ledgers(NULL, 0, path), 1);
	return itest_open(path);
}

static void modes(void)
{
	static const struct {
		const char *setting;
		mode_t mode, folder;
		bool is_bad;
	} cases[] = { { NULL, 0600, 0700, false }, { "TIDEMARK_MODE=", 0600, 0700, false },
		{ "TIDEMARK_MODE=2640", 0600, 0700, true }, { "TIDEMARK_MODE=4755", 0600, 0700, true },
		{ "TIDEMARK_MODE=-1", 0600, 0700, true }, { "TIDEMARK_MODE=0777", 0600, 0700, true },
		{ "TIDEMARK_MODE=666", 0600, 0700, true }, { "TIDEMARK_MODE=99", 0600, 0700, true },
		{ "TIDEMARK_MODE=nonsense", 0600, 0700, true }, { "TIDEMARK_MODE=0600", 0600, 0700, false },
		{ "TIDEMARK_MODE=0640", 0640, 0750, false }, { "TIDEMARK_MODE=604", 0604, 0755, false },
		{ "TIDEMARK_MODE=0644", 0644, 0755, false } };
	umask(077);
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		char path[ITEST_PATH_MAX];
		struct stat st;
		struct tdm_ledger *ledger = run(cases[i].setting, NULL, path);
		CHECK_EQ(tdm_ledger_header(ledger)->flags, cases[i].is_bad ? TDM_LEDGER_BAD_MODE : 0);
		tdm_ledger_close(ledger);
		CHECK(stat(path, &st) == 0);
		CHECK_EQ(st.st_mode & 07777, cases[i].mode);
		/* The folder stays as open as it once was. */
		CHECK(stat(own_folder(""), &st) == 0);
		CHECK_EQ(st.st_mode & 07777, cases[i].folder);
		unlink(path);
	}
}

static void is_readable_by_others(void *context)
{
	char path[ITEST_PATH_MAX];
	size_t count;
	as_other();
	CHECK_EQ(itest_ledgers(NULL, 0, path), 1);
	struct tdm_ledger *ledger = itest_open(path);
	free(itest_buffers(ledger, 0, &count));
	CHECK_EQ(count, 1);
	CHECK_EQ(tdm_ledger_file_owner(ledger), *(const uid_t *)context);
	tdm_ledger_close(ledger);
	CHECK(open(path, O_RDWR | O_CLOEXEC) < 0 && errno == EACCES);
}

static void others_may_read(void)
{
	char path[ITEST_PATH_MAX];
	uid_t uid = geteuid();
	if (uid != 0)
		itest_skip("only root can be another user");
	tdm_ledger_close(run("TIDEMARK_MODE=0644", NULL, path));
	CHECK(itest_exited(itest_fork(is_readable_by_others, &uid)));
}

/* Reads all events there are, in pieces of odd lengths, and checks that each release has what its buffer had. */
static void check_ring(struct tdm_ledger *ledger, uint64_t records, uint64_t events)
{
	struct tdm_ledger_record *piece = malloc(1000 * sizeof *piece);
	uint64_t after = 0, found = 0, lost = 0, missed;
	int64_t got;
	CHECK(piece != NULL);
	CHECK_EQ(tdm_ledger_device(ledger, 0)->seq, events);
	do {
		got = tdm_ledger_events(ledger, 0, after, piece, 1000 - found % 7, &missed);
		CHECK(got >= 0);
		for (int64_t i = 0; i < got; i++)
			CHECK_EQ(piece[i].seq, after + missed + 1 + (uint64_t)i);
		found += (uint64_t)got;
		lost += missed;
		after += (uint64_t)got + missed;
	} while (got != 0 || missed != 0);
	CHECK_EQ(after, events);
	/* The next call may be writing over the oldest one. */
	CHECK_EQ(found, events < records - 1 ? events : records - 2);
	CHECK_EQ(lost, events - found);
	free(piece);
}

static void rings(void)
{
	static const struct {
		const char *setting;
		uint64_t records;
		uint32_t flags;
	} cases[] = { { "TIDEMARK_RING=16", SMALL_RING, 0 },
		{ "TIDEMARK_RING=9", TDM_LEDGER_RING, TDM_LEDGER_BAD_RING }, { "TIDEMARK_RING=65000", LARGE_RING, 0 },
		{ "TIDEMARK_RING=-16", TDM_LEDGER_RING, TDM_LEDGER_BAD_RING },
		{ "TIDEMARK_RING=many", TDM_LEDGER_RING, TDM_LEDGER_BAD_RING },
		{ "TIDEMARK_RING=", TDM_LEDGER_RING, 0 } };
	static const struct {
		const char *setting;
		uint64_t events;
	} lengths[] = { { "ITEST_EVENTS=12", 11 }, { "ITEST_EVENTS=60000", 59999 }, { "ITEST_EVENTS=200000", 199999 } };
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
		for (unsigned k = 0; k < sizeof lengths / sizeof *lengths; k++) {
			char path[ITEST_PATH_MAX];
			size_t count;
			struct tdm_ledger *ledger = run(cases[i].setting, lengths[k].setting, path);
			CHECK_EQ(tdm_ledger_header(ledger)->flags, cases[i].flags);
			check_ring(ledger, cases[i].records, lengths[k].events);
			free(itest_buffers(ledger, 0, &count));
			CHECK_EQ(count, 1);
			tdm_ledger_close(ledger);
			unlink(path);
		}
}

/* Where there cannot be a ledger, reports say why. */
static void missing_directory(void *context)
{
	(void)context;
	setenv("TIDEMARK_DIR", "/nowhere/at/all", 1);
	CHECK(itest_alloc(0, 0, 1, 64, 1) == -ENOTDIR);
	CHECK(tidemark_free(0, 0, 1) == -ENOTDIR);
	CHECK(tidemark_phase("phase") == -ENOTDIR);
	CHECK_EQ(tidemark_lost(), 3);
}

/* Sanitizers open files at the end of a process, which it may not do any more. */
static void end_at_once(void)
{
	if (itest_sanitized())
		_exit(0);
}

static void file_for_directory(void *context)
{
	(void)context;
	setenv("TIDEMARK_DIR", "/etc/passwd", 1);
	CHECK(itest_alloc(0, 0, 1, 64, 1) == -ENOTDIR);
}

static void no_descriptors(void *context)
{
	struct rlimit limit = { 3, 3 };
	(void)context;
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	CHECK(itest_alloc(0, 0, 1, 64, 1) == -EMFILE);
	end_at_once();
}

static void no_permission(void *context)
{
	(void)context;
	CHECK(seteuid(OTHER) == 0);
	CHECK(itest_alloc(0, 0, 1, 64, 1) == -EACCES);
	end_at_once();
}

static void no_ledger(void)
{
	CHECK(itest_exited(itest_fork(missing_directory, NULL)));
	CHECK(itest_exited(itest_fork(file_for_directory, NULL)));
	CHECK(itest_exited(itest_fork(no_descriptors, NULL)));
	if (geteuid() != 0)
		itest_skip("only root can be another user");
	CHECK(chmod(getenv("TIDEMARK_DIR"), 0700) == 0);
	CHECK(itest_exited(itest_fork(no_permission, NULL)));
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "in_its_folder", in_its_folder, NULL },
		{ "folder_comes_and_goes", folder_comes_and_goes, NULL },
		{ "folder_is_a_link", folder_is_a_link, NULL },
		{ "folder_is_a_file", folder_is_a_file, NULL },
		{ "folder_is_open_to_others", folder_is_open_to_others, NULL },
		{ "folder_is_anothers", folder_is_anothers, NULL },
		{ "old_names_taken", old_names_taken, NULL },
		{ "names_taken", names_taken, NULL },
		{ "many_names_taken", many_names_taken, NULL },
		{ "modes", modes, NULL },
		{ "others_may_read", others_may_read, NULL },
		{ "rings", rings, NULL },
		{ "no_ledger", no_ledger, NULL },
		{ "program", NULL, program },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
