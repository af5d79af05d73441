#include "ledger/ledger_reap.h"
#include "ledger/ledger_dir.h"
#include "ledger/ledger_list.h"
#include "base/str.h"

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

/* Time for a writer to lock a new file and to set its length. */
enum { SETUP_S = 10 };

static bool is_being_made(const struct stat *st)
{
	struct timespec now;
	return st->st_size == 0 && clock_gettime(CLOCK_REALTIME, &now) == 0 &&
	       now.tv_sec - st->st_ctim.tv_sec < SETUP_S;
}

/* 0 if this file may be removed, else the reason why not. */
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
	/* The name may be another file's by now. A short race remains, which cannot be avoided. */
	if (lstat(path, &again) != 0 || again.st_dev != st.st_dev || again.st_ino != st.st_ino)
		return -ESTALE;
	return 0;
}

static int check_path(const char *path, bool removes)
{
	struct tdm_ledger_name name;
	if (!tdm_ledger_parse_name(path, &name))
		return -EINVAL;
	/* This process is alive, and closing its own ledger would release its lock. */
	if (tdm_ledger_is_own_name(&name))
		return -EBUSY;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	int err = check_dead(path, fd);
	if (err == 0 && removes && unlink(path) != 0)
		err = -errno;
	close(fd);
	return err;
}

int tdm_ledger_check_dead(const char *path)
{
	return check_path(path, false);
}

int tdm_ledger_reap(const char *path)
{
	return check_path(path, true);
}

/* Opens a folder in `parent` if it belongs to this user; NULL if it does not or cannot be read. */
static DIR *open_own(int parent, const char *name)
{
	struct stat st;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	errno = EPERM;
	DIR *stream = fstat(fd, &st) == 0 && st.st_uid == geteuid() ? fdopendir(fd) : NULL;
	if (stream == NULL)
		close(fd);
	return stream;
}

static int reap_run(int parent, const char *name)
{
	DIR *stream = open_own(parent, name);
	const struct dirent *entry;
	if (stream == NULL)
		return -errno;
	while ((entry = readdir(stream)) != NULL)
		if (tdm_has_prefix(entry->d_name, TDM_LEDGER_USER_PREFIX))
			unlinkat(dirfd(stream), entry->d_name, AT_REMOVEDIR); /* fails unless it is empty */
	closedir(stream);
	return unlinkat(parent, name, AT_REMOVEDIR) == 0 ? 0 : -errno;
}

int tdm_ledger_reap_run(const char *path)
{
	return reap_run(AT_FDCWD, path);
}

/* "PID.…": whether that process is gone. It may only be in another pid namespace, but a folder in use is not empty. */
static bool is_orphan(const char *name)
{
	char *end;
	long pid = strtol(name, &end, 10);
	return *end == '.' && pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* Reaps the folders in a directory whose names begin with `prefix` and the pid of a dead process. */
static void reap_orphans(DIR *stream, const char *prefix)
{
	const struct dirent *entry;
	for (rewinddir(stream); (entry = readdir(stream)) != NULL;)
		if (tdm_has_prefix(entry->d_name, prefix) && is_orphan(entry->d_name + strlen(prefix)))
			reap_run(dirfd(stream), entry->d_name);
}

void tdm_ledger_reap_dirs(const char *dir)
{
	DIR *stream = opendir(tdm_ledger_dir(dir));
	const struct dirent *entry;
	while (stream != NULL && (entry = readdir(stream)) != NULL) {
		DIR *own = tdm_has_prefix(entry->d_name, TDM_LEDGER_USER_PREFIX)
				   ? open_own(dirfd(stream), entry->d_name)
				   : NULL;
		if (own != NULL) {
			reap_orphans(own, TDM_LEDGER_RUN_PREFIX);
			closedir(own);
			unlinkat(dirfd(stream), entry->d_name, AT_REMOVEDIR);
		}
	}
	if (stream != NULL) {
		reap_orphans(stream, TDM_LEDGER_OLD_PREFIX TDM_LEDGER_RUN_PREFIX);
		closedir(stream);
	}
}
