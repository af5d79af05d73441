/*
 * What `tidemark info` shows of each format: views, which run the format's records through an analyser and print what
 * came out. cmd_info.c lists them.
 */
#ifndef TDM_CLI_INFO_VIEW_H
#define TDM_CLI_INFO_VIEW_H

#include "cli/cmd.h"
#include "report/info_chart.h"
#include "report/report_put.h"
#include "sources/format.h"

/* What the user asked for, and where the answer goes. */
struct tdm_info_request {
	const struct tdm_cmd *cmd;
	struct tdm_input *input;
	const struct tdm_format *format; /* of the input */
	size_t limit;                    /* rows of a table; SIZE_MAX: all */
	struct tdm_term term;
	struct tdm_json *json; /* NULL: text is wanted. The view writes its own keys into the object of this file. */
	struct tdm_buf *out;   /* the text */
	struct tdm_info_picture picture; /* when `chart` is not NONE: drawn instead of the text */
};

/* Reads the input and writes what it says. 0 when all of it could be used; else it has said on standard error what was
 * wrong, with the path in front, and what it wrote is about the rest. */
typedef int (*tdm_info_run)(const struct tdm_info_request *request);

int tdm_info_capture(const struct tdm_info_request *request);
int tdm_info_kernels(const struct tdm_info_request *request);
int tdm_info_memory(const struct tdm_info_request *request);
int tdm_info_perf(const struct tdm_info_request *request);
int tdm_info_mesh_buffers(const struct tdm_info_request *request);
int tdm_info_programs(const struct tdm_info_request *request);
int tdm_info_cores(const struct tdm_info_request *request);
int tdm_info_train_log(const struct tdm_info_request *request);
int tdm_info_log(const struct tdm_info_request *request);

/* Records on their way to an analyser. The first ones that cannot be used are named, the rest is counted. */
struct tdm_info_reading {
	const struct tdm_info_request *request;
	int (*take)(void *to, const struct tdm_record *record);
	void *to;
	const char *noun; /* "nodes": of what cannot be used; NULL: nothing particular */
	uint64_t refused;
	int err; /* what ended the reading */
	struct tdm_diag diag;
	struct tdm_file_report file; /* for the report */
};

/* Reads everything; sets `err`, `diag` and `file`. */
void tdm_info_read(struct tdm_info_reading *reading);
/* As the sink of tdm_info_read: for what an analyser finds at the end. `reading` is a struct tdm_info_reading. */
int tdm_info_take(void *reading, const struct tdm_record *record);
/* Says what is left to be said. Whether anything could not be used. */
int tdm_info_end(const struct tdm_info_reading *reading);

/* Says why the input cannot be shown, on standard error and in JSON. 1. */
int tdm_info_refuse(const struct tdm_info_request *request, const char *why);

#endif
