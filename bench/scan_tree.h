/* A tree of sources to scan, generated from templates: the ten shapes in which buffers are created, and other code. */
#ifndef TDM_BENCH_SCAN_TREE_H
#define TDM_BENCH_SCAN_TREE_H

#include <stddef.h>

enum {
	SCAN_TREE_FOLDERS = 80, /* called 0, 1, ... */
	SCAN_TREE_IN_FOLDER = 100,
	SCAN_TREE_FILES = SCAN_TREE_FOLDERS * SCAN_TREE_IN_FOLDER,
	SCAN_TREE_FILE_BYTES = 10000
};

/* Writes the files below a new folder, whose path goes to `path`. The paths of the files are returned, folder by
 * folder; NULL after a message. */
char **scan_tree_make(char *path, size_t cap);
void scan_tree_remove(const char *path, char **files);

#endif
