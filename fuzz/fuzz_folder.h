/* A folder for the files of a fuzz target, empty at the start of each input. */
#ifndef TDM_FUZZ_FUZZ_FOLDER_H
#define TDM_FUZZ_FUZZ_FOLDER_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz_check.h"

static char fuzz_folder[64];

static inline int fuzz_folder_remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	if (at->level != 0)
		remove(path);
	return 0;
}

static inline void fuzz_folder_empty(void)
{
	nftw(fuzz_folder, fuzz_folder_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void fuzz_folder_end(void)
{
	fuzz_folder_empty();
	rmdir(fuzz_folder);
}

/* Its path. The first call makes it; it goes with the process. */
static inline const char *fuzz_folder_get(void)
{
	if (fuzz_folder[0] == '\0') {
		snprintf(fuzz_folder, sizeof fuzz_folder, "%s/tidemark-fuzz.XXXXXX",
			access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
		check(mkdtemp(fuzz_folder) != NULL && atexit(fuzz_folder_end) == 0);
	}
	return fuzz_folder;
}

#endif
