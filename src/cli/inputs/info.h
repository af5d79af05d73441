/* The output of `tidemark info`, shared by `info` and `report`: files, including those in folders, each shown by its
 * analyser (analyze/report/report_analyser.h). */
#ifndef TDM_CLI_INFO_H
#define TDM_CLI_INFO_H

#include "cli/options/cmd.h"
#include "input/door/format.h"
#include "model/result/result.h"
#include "view/chart/result_charts.h"

struct tdm_info {
	/* Set by the caller: */
	const struct tdm_cmd *cmd;
	size_t limit;                    /* rows of each table; SIZE_MAX for all */
	struct tdm_plot_picture picture; /* chart to draw into a file or `out`, unless `chart` is NONE */
	struct tdm_buf *out;
	void (*say)(void *hearer, const struct tdm_diag *diag); /* receives a message; diag names the file */
	void *hearer;
	/* Results: */
	bool is_empty;     /* nothing for people to see; a message explained why */
	bool is_unrelated; /* nothing for people to see, although the whole input could be read */
};

/* Recognises the input and adds its contents to the group, which must not outlive the input. Returns true if part of
 * the input could not be used; messages then explained which part. */
bool tdm_info_read(struct tdm_info *info, struct tdm_input *input, struct tdm_block *in);
/* Reports a file that cannot be opened. Returns true, as for an unusable input. */
bool tdm_info_refuse(struct tdm_info *info, struct tdm_block *in, const char *path, const char *why);

/* The files to show: as named, except that a folder containing reports is replaced by its files. Initially zeroed. */
struct tdm_info_paths {
	char **at; /* owned */
	size_t count, cap;
	bool with_all;     /* set by the caller: in folders, also add files that only other commands read */
	bool may_be_empty; /* set by the caller: a folder without such files adds nothing, rather than its own path */
	size_t room;       /* number of files that may still be added from the folder */
	bool is_cut;       /* the last folder has more files */
	uint64_t other;    /* files and links of other kinds in the last folder, which were not added */
	bool unvisited;    /* parts of a folder were not visited */
};

/* Adds a path, or the files in a folder. If a folder contains more than can be shown, appends a sentence about that to
 * `why`. */
void tdm_info_paths_add(struct tdm_info_paths *paths, const char *path, struct tdm_buf *why);
void tdm_info_paths_done(struct tdm_info_paths *paths);

#endif
