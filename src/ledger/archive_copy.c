#include "ledger/archive_copy.h"
#include "base/clock.h"
#include "base/number.h"
#include "ledger/ledger_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16, NAMES_MAX = 4096 };

/* Makes a directory and those it is in. 0 or -errno. */
static int make_dirs(const char *path)
{
	char part[TDM_LEDGER_PATH_MAX];
	if (strlen(path) >= sizeof part)
		return -ENAMETOOLONG;
	strcpy(part, path);
	for (char *slash = part; slash != NULL;) {
		slash = strchr(slash + 1, '/');
		if (slash != NULL)
			*slash = '\0';
		if (mkdir(part, 0700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
			return -errno;
		if (slash != NULL)
			*slash = '/';
	}
	return 0;
}

static void format_temp(const struct tdm_archive_copy *copy, char temp[64])
{
	snprintf(temp, 64, TDM_ARCHIVE_TEMP "%d.%llu.%u", (int)copy->name.pid, (unsigned long long)copy->name.start,
		copy->name.generation);
}

void tdm_archive_copy_end(struct tdm_archive_copy *copy)
{
	char temp[64];
	format_temp(copy, temp);
	if (copy->to >= 0) {
		unlinkat(copy->folder, temp, 0);
		close(copy->to);
	}
	if (copy->from >= 0)
		close(copy->from);
	if (copy->folder >= 0)
		close(copy->folder);
	copy->from = copy->to = copy->folder = -1;
}

static int open_source(struct tdm_archive_copy *copy, const char *path)
{
	struct stat st;
	if (strlen(path) >= sizeof copy->path)
		return -ENAMETOOLONG;
	if (!tdm_ledger_parse_name(path, &copy->name))
		return -EINVAL;
	strcpy(copy->path, path);
	copy->from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (copy->from < 0 || fstat(copy->from, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return -EPERM;
	copy->inode = st.st_ino;
	copy->size = (uint64_t)st.st_size;
	return 0;
}

int tdm_archive_copy_begin(struct tdm_archive_copy *copy, const char *path, const char *state_dir, uint64_t ended_ns)
{
	char temp[64];
	*copy = (struct tdm_archive_copy){ .from = -1, .to = -1, .folder = -1, .ended_ns = ended_ns };
	int err = open_source(copy, path);
	if (err == 0)
		err = make_dirs(state_dir);
	if (err == 0) {
		copy->folder = tdm_ledger_open_folder(state_dir, 0600, copy->folder_path);
		err = copy->folder < 0 ? copy->folder : 0;
	}
	if (err == 0) {
		format_temp(copy, temp);
		unlinkat(copy->folder, temp, 0); /* of an earlier daemon */
		copy->to = openat(copy->folder, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		err = copy->to < 0 ? -errno : tdm_ledger_file_set_size(copy->to, copy->size);
	}
	if (err != 0)
		tdm_archive_copy_end(copy);
	return err;
}

/* Where the next data are; copy->size if there are none. Sets *end to where they end. */
static uint64_t next_data(const struct tdm_archive_copy *copy, uint64_t *end)
{
	off_t data = lseek(copy->from, (off_t)copy->at, SEEK_DATA);
	*end = copy->size;
	if (data < 0)
		return errno == ENXIO ? copy->size : copy->at; /* some file systems do not know */
	off_t hole = lseek(copy->from, data, SEEK_HOLE);
	if (hole > data)
		*end = tdm_min((uint64_t)hole, copy->size);
	return (uint64_t)data;
}

/* Copies one piece. Returns its bytes, or -errno. */
static ssize_t copy_piece(struct tdm_archive_copy *copy, size_t bytes)
{
	char piece[PIECE];
	uint64_t end, at = next_data(copy, &end);
	if (at >= copy->size) {
		copy->at = copy->size;
		return 0;
	}
	ssize_t got = pread(copy->from, piece, tdm_min(tdm_min(bytes, sizeof piece), end - at), (off_t)at), put = 0;
	if (got <= 0) {
		copy->at = copy->size; /* it is shorter by now */
		return got < 0 ? -errno : 0;
	}
	while (put < got) {
		ssize_t n = pwrite(copy->to, piece + put, (size_t)(got - put), (off_t)at + put);
		if (n <= 0 && errno != EINTR)
			return n < 0 ? -errno : -ENOSPC;
		put += n > 0 ? n : 0;
	}
	copy->at = at + (uint64_t)got;
	return got;
}

/* Another process that had the same pid may have taken the name. */
int tdm_archive_copy_finish(struct tdm_archive_copy *copy)
{
	char temp[64], name[64], old[TDM_LEDGER_PATH_MAX];
	struct stat st;
	const struct timespec end = { .tv_sec = (time_t)(copy->ended_ns / TDM_NS_PER_S),
		.tv_nsec = (long)(copy->ended_ns % TDM_NS_PER_S) };
	uint32_t generation = copy->name.generation;
	int i = 0, err = -EEXIST;
	format_temp(copy, temp);
	futimens(copy->to, (const struct timespec[]){ end, end });
	for (; i < NAMES_MAX && err == -EEXIST; i++, generation++) {
		snprintf(name, sizeof name, "%d.%llu.%u", (int)copy->name.pid, (unsigned long long)copy->name.start,
			generation);
		if (fstatat(copy->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			continue;
		err = renameat(copy->folder, temp, copy->folder, name) == 0 ? 0 : -errno;
	}
	if (err != 0)
		return err;
	strcpy(old, copy->path);
	int len = snprintf(copy->path, sizeof copy->path, "%.*s/%s", TDM_LEDGER_PATH_MAX - 65, copy->folder_path, name);
	if (lstat(old, &st) == 0 && st.st_ino == copy->inode)
		unlink(old);
	return len > 0 ? 0 : -ENAMETOOLONG;
}

int tdm_archive_copy_some(struct tdm_archive_copy *copy, size_t bytes)
{
	int err = 0;
	while (err == 0 && bytes != 0 && copy->at < copy->size) {
		ssize_t got = copy_piece(copy, bytes);
		bytes -= got > 0 ? (size_t)got : 0;
		err = got < 0 ? (int)got : 0;
	}
	return err == 0 && copy->at < copy->size ? 1 : err;
}
