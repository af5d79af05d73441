/*
 * A process loses its POSIX record lock on a file when it closes any descriptor of that file, even one unrelated to the
 * lock. So a process that read its own ledger would appear dead as soon as it closed it. The descriptors are therefore
 * kept here and reused; there are few, and they stay open until the process ends. Any thread may call: the mutex covers
 * the table.
 */
#include "ledger/reader_parts.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OWN_MAX = 16 };

static pthread_mutex_t own_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
	char *path;
	int fd;
} own_files[OWN_MAX];
static size_t own_count;

static size_t find_path(const char *path)
{
	size_t i = 0;
	while (i < own_count && strcmp(own_files[i].path, path) != 0)
		i++;
	return i;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

int tdm_own_file_find(const char *path)
{
	struct stat by_path, by_fd;
	int fd = -1;
	pthread_mutex_lock(&own_mutex);
	size_t i = find_path(path);
	if (i < own_count && lstat(path, &by_path) == 0 && fstat(own_files[i].fd, &by_fd) == 0 &&
		is_same(&by_path, &by_fd))
		fd = own_files[i].fd;
	pthread_mutex_unlock(&own_mutex);
	return fd;
}

void tdm_own_file_keep(const char *path, int fd)
{
	struct stat known, fresh;
	pthread_mutex_lock(&own_mutex);
	size_t i = find_path(path);
	if (i == own_count && own_count < OWN_MAX) {
		own_files[i].fd = fd;
		own_files[i].path = strdup(path);
		own_count += own_files[i].path != NULL;
	} else if (i < own_count && fstat(own_files[i].fd, &known) == 0 && fstat(fd, &fresh) == 0 &&
		   !is_same(&known, &fresh)) {
		close(own_files[i].fd); /* the file no longer has this name: none of our locks is on it */
		own_files[i].fd = fd;
	}
	pthread_mutex_unlock(&own_mutex);
}
