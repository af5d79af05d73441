/* The folders of users, and the settings of ledgers (ledger_file.h). */
#include "ledger/layout/ledger_file.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	NAMES_IN_ORDER = 8, /* number of names tried in order: "tidemark-UID", "tidemark-UID.1", ... */
	/* total number of names tried; after the ordered ones, names end in random numbers, which nobody can take in
	 * advance */
	NAMES_MAX = 16,
	/* nanoseconds that mark a folder's modification time as a failure; the seconds are the error code */
	FAILURE_NS = 104729,
	FAILURE_MAX = 4095,
};

const char *tdm_ledger_dir(const char *dir)
{
	const char *set = getenv("TIDEMARK_DIR");
	if (dir != NULL)
		return dir;
	return set != NULL && set[0] != '\0' ? set : TDM_LEDGER_DEFAULT_DIR;
}

int tdm_ledger_parse_mode(const char *text, uint32_t *mode)
{
	static const char *const texts[] = { "600", "640", "604", "644" };
	*mode = 0600;
	if (text == NULL || text[0] == '\0')
		return 0;
	text += strspn(text, "0");
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strcmp(text, texts[i]) == 0) {
			*mode = (uint32_t)strtoul(text, NULL, 8);
			return 0;
		}
	return -EINVAL;
}

int tdm_ledger_parse_ring(const char *text, uint32_t *records)
{
	uint64_t number;
	*records = TDM_LEDGER_RING;
	if (text == NULL || text[0] == '\0')
		return 0;
	if (tdm_str_parse_u64(tdm_str_of(text), &number) != 0 || number < TDM_LEDGER_RING_MIN ||
		number > TDM_LEDGER_RING_MAX)
		return -EINVAL;
	for (*records = TDM_LEDGER_RING_MIN; *records < number;)
		*records *= 2;
	return 0;
}

/* Writes the n-th name of this user's folder. Makes a relative directory absolute, because the program may change
 * its directory. */
static int format_folder(char path[TDM_LEDGER_PATH_MAX], const char *dir, unsigned n)
{
	char suffix[16] = "";
	size_t used = 0;
	if (dir[0] != '/') {
		if (getcwd(path, TDM_LEDGER_PATH_MAX - 1) == NULL)
			return errno == ERANGE ? -ENAMETOOLONG : -errno;
		used = strlen(path);
		path[used++] = '/';
	}
	if (n >= NAMES_IN_ORDER)
		n = NAMES_IN_ORDER + (uint32_t)(tdm_clock_ns() * UINT64_C(0x9e3779b97f4a7c15) >> 33);
	if (n != 0)
		snprintf(suffix, sizeof suffix, ".%u", n);
	int len = snprintf(path + used, TDM_LEDGER_PATH_MAX - used, "%s/" TDM_LEDGER_USER_PREFIX "%u%s", dir,
		(unsigned)geteuid(), suffix);
	return len < 0 || (size_t)len >= TDM_LEDGER_PATH_MAX - used ? -ENAMETOOLONG : 0;
}

/* Opens a folder that belongs to this user and that nobody else can write to; -EEXIST if it belongs to another user. */
static int open_own(const char *path, uint32_t mode)
{
	struct stat st;
	char link[32];
	int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? -EEXIST : -errno;
	if (fstat(fd, &st) != 0 || st.st_uid != geteuid() || (st.st_mode & 0022) != 0) {
		close(fd);
		return -EEXIST;
	}
	mode = tdm_ledger_folder_mode(mode);
	if ((st.st_mode & mode) != mode) { /* others may read now, or the umask cleared some bits */
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		chmod(link, (st.st_mode & 07777) | mode);
	}
	return fd;
}

int tdm_ledger_open_folder(const char *dir, uint32_t mode, char path[TDM_LEDGER_PATH_MAX])
{
	int fd = -EEXIST;
	struct stat st;
	for (unsigned n = 0; n < NAMES_MAX && fd == -EEXIST; n++) {
		int err = format_folder(path, dir, n);
		if (err != 0)
			return err;
		fd = open_own(path, mode);
		if (fd != -ENOENT)
			continue;
		if (mkdir(path, 0700) != 0 && errno != EEXIST)
			return -errno;
		fd = open_own(path, mode);
	}
	return fd == -EEXIST && stat(dir, &st) == 0 && !S_ISDIR(st.st_mode) ? -ENOTDIR : fd;
}

void tdm_ledger_leave_failure(const char *dir, int err)
{
	const char *slash = strrchr(dir, '/');
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = -err, .tv_nsec = FAILURE_NS } };
	if (slash != NULL && strncmp(slash + 1, TDM_LEDGER_RUN_PREFIX, strlen(TDM_LEDGER_RUN_PREFIX)) == 0)
		utimensat(AT_FDCWD, dir, times, AT_SYMLINK_NOFOLLOW);
}

int tdm_ledger_failure(const char *dir)
{
	struct stat st;
	bool is_left = lstat(dir, &st) == 0 && st.st_mtim.tv_nsec == FAILURE_NS && st.st_mtim.tv_sec > 0 &&
		       st.st_mtim.tv_sec <= FAILURE_MAX;
	return is_left ? -(int)st.st_mtim.tv_sec : 0;
}
