#include "sources/sys_file.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	TEXT_CAP = 4096,
	PIECE = 2048, /* the kernel gives a file in pieces of a page, each with as many lines as fit */
};

int tdm_sys_dir_open(int dir_fd, const char *path)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

DIR *tdm_sys_dir_list(int dir_fd, const char *path, int *err)
{
	int fd = tdm_sys_dir_open(dir_fd, path);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (dir == NULL) {
		*err = fd >= 0 ? -errno : fd;
		if (fd >= 0)
			close(fd);
	}
	return dir;
}

int tdm_sys_file_open(int dir_fd, const char *path)
{
	struct stat st;
	int fd = openat(dir_fd, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ELOOP ? -EINVAL : -errno;
	int err = fstat(fd, &st) != 0 ? -errno : !S_ISREG(st.st_mode) ? -EINVAL : 0;
	if (err != 0)
		close(fd);
	return err != 0 ? err : fd;
}

int tdm_sys_file_read(int dir_fd, const char *path, char *dst, size_t cap)
{
	size_t len = 0;
	ssize_t got = 0;
	dst[0] = '\0';
	int fd = tdm_sys_file_open(dir_fd, path);
	if (fd < 0)
		return fd;
	/* Linux gives a short file in one piece, but a longer one in several; only the last one is short. */
	while (len < cap - 1) {
		got = read(fd, dst + len, cap - 1 - len);
		if (got < 0 && errno == EINTR)
			continue;
		len += got > 0 ? (size_t)got : 0;
		if (got < PIECE)
			break;
	}
	int err = got < 0 ? -errno : 0;
	close(fd);
	dst[err == 0 ? len : 0] = '\0';
	return err != 0 ? err : (int)len;
}

int tdm_sys_file_text(int dir_fd, const char *path, char *dst, size_t cap)
{
	char text[TEXT_CAP];
	dst[0] = '\0';
	int got = tdm_sys_file_read(dir_fd, path, text, sizeof text);
	if (got < 0)
		return got;
	struct tdm_str s = { text, (size_t)got };
	while (s.len != 0 && (s.ptr[s.len - 1] == '\n' || s.ptr[s.len - 1] == '\0'))
		s.len--;
	tdm_str_shown(tdm_str_trim(s), dst, cap);
	return (int)strlen(dst);
}

int tdm_sys_number(const char *name, uint64_t max, uint64_t *value)
{
	uint64_t number;
	int err = tdm_str_parse_u64(tdm_str_of(name), &number);
	if (err != 0)
		return err;
	if (number > max)
		return -ERANGE;
	*value = number;
	return 0;
}
