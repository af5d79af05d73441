/*
 * Reads the small text files of sysfs and procfs, each at once into a buffer of the caller. Only regular files are
 * read, so a FIFO or a symbolic link in their place cannot make a reader hang or go astray.
 */
#ifndef TDM_SOURCES_SYS_FILE_H
#define TDM_SOURCES_SYS_FILE_H

#include <dirent.h>
#include <stddef.h>

#include "base/str.h"

/* Opens a directory, following symbolic links, which the classes of sysfs need. A descriptor or -errno. */
int tdm_sys_dir_open(int dir_fd, const char *path);

/* The same for reading its entries; close it with closedir(). NULL with *err set to -errno. */
DIR *tdm_sys_dir_list(int dir_fd, const char *path, int *err);

/* Opens a regular file for reading. A descriptor, -errno, or -EINVAL for a symbolic link or anything else. */
int tdm_sys_file_open(int dir_fd, const char *path);

/*
 * Reads the beginning of a file, up to cap - 1 bytes, and terminates it. Blanks and newlines at its end are kept. The
 * number of bytes, or a negative code as for tdm_sys_file_open.
 */
int tdm_sys_file_read(int dir_fd, const char *path, char *dst, size_t cap);

/* The same, but trims blanks and newlines and makes the text fit for a message (see tdm_str_shown). */
int tdm_sys_file_text(int dir_fd, const char *path, char *dst, size_t cap);

/* Parses decimal digits, such as the name of a card or a process. 0, TDM_ESYNTAX, or -ERANGE above `max`. */
int tdm_sys_number(const char *name, uint64_t max, uint64_t *value);

#endif
