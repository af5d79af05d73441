/*
 * Which files of a directory are ledgers, by their names alone: "tidemark.PID.START.GENERATION". Programs started by
 * `tidemark run` have theirs in a directory "tidemark.run.…" inside; one that cannot be looked into is given out like a
 * ledger, so that whoever opens it learns why.
 */
#include "ledger/ledger_list.h"
#include "base/reserve.h"
#include "ledger/reader.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	DEPTH_MAX = 4,         /* a run inside a run */
	ENTRIES_MAX = 1 << 16, /* in one directory: anybody may fill a directory that everybody may write */
	SETUP_S = 10, /* a writer takes its lock right after it has made the file, and gives it a length then */
};

static const char default_dir[] = "/dev/shm";

struct names {
	char **list;
	size_t count, cap;
};

static const char *skip_number(const char *text)
{
	if (!isdigit((unsigned char)*text))
		return NULL;
	while (isdigit((unsigned char)*text))
		text++;
	return text;
}

bool tdm_ledger_is_name(const char *name)
{
	if (strncmp(name, TDM_LEDGER_PREFIX, strlen(TDM_LEDGER_PREFIX)) != 0)
		return false;
	name += strlen(TDM_LEDGER_PREFIX);
	for (int part = 0; part < 3; part++) {
		if (part != 0 && *name++ != '.')
			return false;
		name = skip_number(name);
		if (name == NULL)
			return false;
	}
	return *name == '\0';
}

static bool is_run_name(const char *name)
{
	return strncmp(name, TDM_LEDGER_RUN_PREFIX, strlen(TDM_LEDGER_RUN_PREFIX)) == 0;
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b); /* numbers by their value */
}

static int add_name(struct names *names, const char *name)
{
	if (names->count == ENTRIES_MAX)
		return -EOVERFLOW;
	if (tdm_reserve(&names->list, &names->cap, names->count + 1, sizeof *names->list) != 0)
		return -ENOMEM;
	names->list[names->count] = strdup(name);
	if (names->list[names->count] == NULL)
		return -ENOMEM;
	names->count++;
	return 0;
}

static int read_names(DIR *stream, struct names *names)
{
	int err = 0;
	const struct dirent *entry;
	for (errno = 0; err == 0 && (entry = readdir(stream)) != NULL; errno = 0)
		if (tdm_ledger_is_name(entry->d_name) || is_run_name(entry->d_name))
			err = add_name(names, entry->d_name);
	if (err == 0)
		err = -errno;
	if (names->count != 0)
		qsort(names->list, names->count, sizeof *names->list, by_name);
	return err;
}

struct walk {
	void (*each)(void *context, const char *path);
	void *context;
};

static int walk_dir(const struct walk *walk, int fd, const char *dir, int depth);

static int walk_entry(const struct walk *walk, DIR *stream, const char *dir, const char *name, int depth)
{
	char *path = NULL;
	int err = 0;
	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	if (!is_run_name(name)) {
		walk->each(walk->context, path);
	} else if (depth < DEPTH_MAX) {
		int fd = openat(dirfd(stream), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (fd >= 0)
			err = walk_dir(walk, fd, path, depth + 1);
		else if (errno != ENOTDIR && errno != ENOENT && errno != ELOOP)
			walk->each(walk->context, path);
	}
	free(path);
	return err;
}

/* Takes over the descriptor. What could be read is given out, also when the rest could not. */
static int walk_dir(const struct walk *walk, int fd, const char *dir, int depth)
{
	DIR *stream = fdopendir(fd);
	struct names names = { 0 };
	if (stream == NULL) {
		int err = -errno;
		close(fd);
		return err;
	}
	int err = read_names(stream, &names);
	for (size_t i = 0; i < names.count; i++) {
		int inner = walk_entry(walk, stream, dir, names.list[i], depth);
		err = err != 0 ? err : inner;
		free(names.list[i]);
	}
	free(names.list);
	closedir(stream);
	return err;
}

const char *tdm_ledger_dir(const char *dir)
{
	const char *set = getenv("TIDEMARK_DIR");
	if (dir != NULL)
		return dir;
	return set != NULL && set[0] != '\0' ? set : default_dir;
}

int tdm_ledger_list(const char *dir, void (*each)(void *context, const char *path), void *context)
{
	struct walk walk = { each, context };
	dir = tdm_ledger_dir(dir);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? walk_dir(&walk, fd, dir, 0) : -errno;
}

static bool is_being_made(const struct stat *st)
{
	struct timespec now;
	return st->st_size == 0 && clock_gettime(CLOCK_REALTIME, &now) == 0 &&
	       now.tv_sec - st->st_ctim.tv_sec < SETUP_S;
}

/* Why this file may not be removed; 0: it may. */
static int check_dead(const char *path, int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	struct stat st, again;
	if (fstat(fd, &st) != 0 || fcntl(fd, F_GETLK, &lock) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return -EPERM;
	if (lock.l_type != F_UNLCK || is_being_made(&st))
		return -EBUSY;
	/* The name may by now be another file's; the narrow gap that is left cannot be closed. */
	if (lstat(path, &again) != 0 || again.st_dev != st.st_dev || again.st_ino != st.st_ino)
		return -ESTALE;
	return 0;
}

int tdm_ledger_reap(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	if (!tdm_ledger_is_name(name))
		return -EINVAL;
	/* Closing a ledger of this very process would end its lock; and it lives. */
	if (strtol(name + strlen(TDM_LEDGER_PREFIX), NULL, 10) == (long)getpid())
		return -EBUSY;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	int err = check_dead(path, fd);
	if (err == 0 && unlink(path) != 0)
		err = -errno;
	close(fd);
	return err;
}

/* "tidemark.run.PID.…": whether that process is gone. One of another pid namespace may look so; rmdir() of what is in
 * use fails then. */
static bool is_orphan(const char *name)
{
	long pid = strtol(name + strlen(TDM_LEDGER_RUN_PREFIX), NULL, 10);
	return pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

void tdm_ledger_reap_dirs(const char *dir)
{
	DIR *stream = opendir(tdm_ledger_dir(dir));
	const struct dirent *entry;
	struct stat st;
	while (stream != NULL && (entry = readdir(stream)) != NULL)
		if (is_run_name(entry->d_name) && is_orphan(entry->d_name) &&
			fstatat(dirfd(stream), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
			st.st_uid == geteuid())
			unlinkat(dirfd(stream), entry->d_name, AT_REMOVEDIR);
	if (stream != NULL)
		closedir(stream);
}
