/*
 * Walks through a folder and its subfolders in order of names, to a bounded depth and number of entries. Symbolic links
 * are not followed, so there are no loops; they are counted, as are folders that were not visited.
 */
#ifndef TDM_SOURCES_FOLDER_H
#define TDM_SOURCES_FOLDER_H

#include "base/diag.h"
#include "event/report_record.h"

enum { TDM_FOLDER_DEPTH = 8 };

/* Called for each file. A negative code ends the walk. */
struct tdm_folder_visitor {
	void *context;
	/* A regular file: its name in the open folder, and its path. */
	int (*file)(void *context, int folder, const char *name, const char *path);
	/* A folder that cannot be read; diag has its path. */
	int (*refuse)(void *context, const struct tdm_diag *diag);
};

/* 0, or a negative code: the visitor's, or -ENOMEM. */
int tdm_folder_walk(const char *path, const struct tdm_folder_visitor *visitor, struct tdm_walk_rest *rest);

#endif
