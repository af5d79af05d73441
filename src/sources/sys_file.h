/*
 * The small text files of sysfs and procfs. Each is read at once into a buffer of the caller; only regular files are,
 * so that nothing that stands at their place (a FIFO, a symbolic link) can make a reader wait or wander.
 */
#ifndef TDM_SOURCES_SYS_FILE_H
#define TDM_SOURCES_SYS_FILE_H

#include <dirent.h>
#include <stddef.h>

#include "base/str.h"

/* A directory that may be reached through symbolic links, as the classes of sysfs are. A descriptor or -errno. */
int tdm_sys_dir_open(int dir_fd, const char *path);

/* The same for reading its entries: closedir(). NULL with *err set to -errno. */
DIR *tdm_sys_dir_list(int dir_fd, const char *path, int *err);

/* A regular file for reading, no symbolic link itself. A descriptor, -errno, or -EINVAL for anything else. */
int tdm_sys_file_open(int dir_fd, const char *path);

/*
 * The beginning of a file, up to cap - 1 bytes, with a terminator behind it. The number of bytes, or a negative code
 * as for tdm_sys_file_open; a text that ends in blanks or a newline keeps them.
 */
int tdm_sys_file_read(int dir_fd, const char *path, char *dst, size_t cap);

/* Its text without blanks and newlines at the ends, fit for a message (see tdm_str_shown). The same results. */
int tdm_sys_file_text(int dir_fd, const char *path, char *dst, size_t cap);

/* Decimal digits alone: the name of a card or of a process. 0, TDM_ESYNTAX, or -ERANGE above `max`. */
int tdm_sys_number(const char *name, uint64_t max, uint64_t *value);

#endif
