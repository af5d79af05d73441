/*
 * The kinds of files that `tidemark info` knows: one file each (info_<format>.c), listed in one table (info_table.c).
 * To add one, write its entry and put it into the table, more particular formats before more general ones.
 */
#ifndef TDM_CLI_INFO_FORMAT_H
#define TDM_CLI_INFO_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/term.h"
#include "cli/cmd.h"
#include "report/info_chart.h"

enum { TDM_INFO_HEAD = 4096 }; /* bytes of a file that a detector sees, at most */

/* What the user asked for, and where the answer goes. */
struct tdm_info_request {
	const struct tdm_cmd *cmd;
	const char *path; /* as it was given, for messages */
	int fd;           /* at the beginning of the file, which can be gone back to */
	uint64_t bytes;   /* of the file; 0: unknown */
	size_t limit;     /* rows of a table; SIZE_MAX: all */
	struct tdm_term term;
	struct tdm_json *json; /* NULL: text is wanted. The format writes its own keys into the object of this file. */
	struct tdm_buf *out;   /* the text */
	struct tdm_info_picture picture; /* when `chart` is not NONE: drawn instead of the text */
};

struct tdm_info_format {
	const char *name;    /* "graph_capture", in JSON */
	const char *summary; /* "graph capture", in texts */
	bool has_charts;     /* draws the picture that is asked for */
	bool takes_folders;  /* runs on folders, too: `fd` is one then, and nothing was detected */
	bool (*detect)(const char *head, size_t len, const char *path);
	/* Reads the file and writes what it says. 0 when all of it could be used; else it has said on standard error
	 * what was wrong, with the path in front, and what it wrote is about the rest. */
	int (*run)(const struct tdm_info_request *request);
};

extern const struct tdm_info_format *const tdm_info_formats[]; /* ends with NULL */

extern const struct tdm_info_format tdm_info_capture;
extern const struct tdm_info_format tdm_info_memory;
extern const struct tdm_info_format tdm_info_perf;
extern const struct tdm_info_format tdm_info_mesh_buffers;
extern const struct tdm_info_format tdm_info_programs;
extern const struct tdm_info_format tdm_info_kernels;
extern const struct tdm_info_format tdm_info_cores;
extern const struct tdm_info_format tdm_info_log;

#endif
