/* A tree of sources to scan, generated from templates: the ten shapes in which buffers are created, and other code. */
#ifndef TDM_BENCH_SCAN_TREE_H
#define TDM_BENCH_SCAN_TREE_H

#include <stddef.h>

enum { SCAN_TREE_FILES = 8000, SCAN_TREE_FILE_BYTES = 10000 };

/* Writes the files below a new folder, whose path goes to `path`. The paths of the files are returned; NULL after a
 * message. */
char **scan_tree_make(char *path, size_t cap);
void scan_tree_remove(const char *path, char **files);

#endif
