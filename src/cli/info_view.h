/*
 * The views of `tidemark info`, one for each format: a view runs the format's records through an analyser and prints
 * the result. info_views.c lists them.
 */
#ifndef TDM_CLI_INFO_VIEW_H
#define TDM_CLI_INFO_VIEW_H

#include "cli/cmd.h"
#include "report/digest.h"
#include "report/info_chart.h"
#include "report/report_put.h"
#include "sources/format.h"

/* What the user asked for, and where to write the answer. */
struct tdm_info_request {
	const struct tdm_cmd *cmd;
	struct tdm_input *input;
	const struct tdm_format *format; /* of the input */
	size_t limit;                    /* rows of each table; SIZE_MAX: all */
	struct tdm_term term;
	struct tdm_json *json;           /* NULL: print text. The view writes its keys into the object of this file. */
	struct tdm_buf *out;             /* the text */
	struct tdm_digest *digest;       /* NULL: none; else the view gives it its findings and messages */
	struct tdm_info_picture picture; /* unless its `chart` is NONE, drawn instead of the text */
};

/* Reads the input and writes its view. 0 if all of it could be used; else the problems were printed on standard error,
 * each with the path, and the view covers the rest. */
typedef int (*tdm_info_run)(const struct tdm_info_request *request);

int tdm_info_capture(const struct tdm_info_request *request);
int tdm_info_kernels(const struct tdm_info_request *request);
int tdm_info_memory(const struct tdm_info_request *request);
int tdm_info_perf(const struct tdm_info_request *request);
int tdm_info_mesh_buffers(const struct tdm_info_request *request);
int tdm_info_programs(const struct tdm_info_request *request);
int tdm_info_cores(const struct tdm_info_request *request);
int tdm_info_ttnn(const struct tdm_info_request *request);
int tdm_info_train_log(const struct tdm_info_request *request);
int tdm_info_log(const struct tdm_info_request *request);

/* Whether `info` shows such files; `format` may be NULL. */
bool tdm_info_has_view(const struct tdm_format *format);
/* Recognises the input, sets `format` and runs its view. Returns what that returns. */
int tdm_info_show(struct tdm_info_request *request);

/* Passes records to an analyser. The first unusable ones are printed, the rest are counted. */
struct tdm_info_reading {
	const struct tdm_info_request *request;
	int (*take)(void *to, const struct tdm_record *record);
	void *to;
	const char *noun; /* "nodes": the unusable records; NULL: no word for them */
	uint64_t refused;
	int err; /* the error that ended the reading; 0: none */
	struct tdm_diag diag;
	struct tdm_file_report file; /* for the report */
};

/* Reads everything; sets `err`, `diag` and `file`. */
void tdm_info_read(struct tdm_info_reading *reading);
/* The sink of tdm_info_read, also for what an analyser finds at the end. `reading` is a struct tdm_info_reading. */
int tdm_info_take(void *reading, const struct tdm_record *record);
/* Prints the remaining messages. Returns whether anything was unusable. */
int tdm_info_end(const struct tdm_info_reading *reading);

/* Reports why the input cannot be shown, on standard error and in JSON. Returns 1. */
int tdm_info_refuse(const struct tdm_info_request *request, const char *why);
/* The same for an input whose format is not known. */
int tdm_info_refuse_file(const struct tdm_info_request *request, const char *why);

/* Prints a message on standard error, or puts it into the digest. */
void tdm_info_say(const struct tdm_info_request *request, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Gives findings to the digest, which the request must have, and releases them. */
void tdm_info_found(const struct tdm_info_request *request, struct tdm_findings *found);
/* Tells the digest, if there is one, that the view shows nothing; and that it could nevertheless read everything. */
void tdm_info_nothing(const struct tdm_info_request *request);
void tdm_info_unrelated(const struct tdm_info_request *request);

#endif
