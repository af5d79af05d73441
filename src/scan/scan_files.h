/* Finds the source files below the paths that the user gives. */
#ifndef TDM_SCAN_SCAN_FILES_H
#define TDM_SCAN_SCAN_FILES_H

#include "scan/scan.h"

/* Whether the name of a file is that of a source. */
bool tdm_scan_is_source(const char *path);

/* Adds the files, ordered by path, each once, and what could not be walked. 0, -ENOMEM, or -errno of a path itself. */
int tdm_scan_files(struct tdm_scan *scan, const char *const *paths, size_t path_count, struct tdm_diag *diag);

/* Adds one file without looking for it. 0 or -ENOMEM. */
int tdm_scan_add_file(struct tdm_scan *scan, const char *path, uint64_t bytes);

/* Adds a path that could not be read. 0 or -ENOMEM. */
int tdm_scan_refuse(struct tdm_scan *scan, const char *path, const char *why);

#endif
