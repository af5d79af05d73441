/* The files to show: as named, but a folder with reports is replaced by its files. For `info` and `report`. */
#ifndef TDM_CLI_INFO_PATHS_H
#define TDM_CLI_INFO_PATHS_H

#include "base/buf.h"

/* All zero to begin with. */
struct tdm_info_paths {
	char **at; /* owned */
	size_t count, cap;
	bool with_all;     /* set by the caller: folders also give files that only other commands read */
	bool may_be_empty; /* set by the caller: a folder without such files adds nothing, instead of itself */
	size_t room;       /* how many more files the folder may add */
	bool no_memory;    /* paths are missing */
	bool is_cut;       /* the last folder has more files */
	uint64_t other;    /* files and links in the last folder that were not added: of other kinds */
	bool unvisited;    /* parts of a folder were not looked into */
};

/* Adds a path, or the files of a folder. If a folder has more than can be shown, appends a sentence about that to
 * `why`. */
void tdm_info_paths_add(struct tdm_info_paths *paths, const char *path, struct tdm_buf *why);
void tdm_info_paths_done(struct tdm_info_paths *paths);

#endif
