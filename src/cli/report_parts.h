/*
 * The parts of `tidemark report`: what each one is given, and how it fills its section. A part is a row of the table in
 * report_parts.c; it shows what the command of its name shows, through the same functions, and gives its findings to
 * the digest.
 */
#ifndef TDM_CLI_REPORT_PARTS_H
#define TDM_CLI_REPORT_PARTS_H

#include "cli/cmd.h"
#include "device/card.h"
#include "report/digest.h"
#include "sources/format.h"

/* What a report can be about. */
enum tdm_report_of {
	TDM_REPORT_FILE = 1,    /* any file but the next two */
	TDM_REPORT_TRACE = 2,   /* a text trace */
	TDM_REPORT_LEDGERS = 4, /* ledgers, all together */
	TDM_REPORT_MACHINE = 8, /* the devices and programs of this machine */
	TDM_REPORT_WORKLOAD = 16,
	TDM_REPORT_SOURCES = 32, /* source files, and folders that have some, all together */
	TDM_REPORT_PATTERN = 64, /* a pattern file, by its ending */
};

/* One thing that the user named. */
struct tdm_report_item {
	unsigned of;                     /* one of enum tdm_report_of */
	const char *source;              /* what it is called in headings */
	bool is_found;                   /* in a folder: nobody expects that it says something */
	struct tdm_input *input;         /* of a file or a trace */
	const struct tdm_format *format; /* of the input; NULL: not known by its beginning */
	const char *const *paths;        /* of the ledgers, sources or pattern; ends with NULL */
	uint64_t a_tiles, b_tiles;       /* of the workload; 0: workloads of several sizes */
};

struct tdm_report_request {
	const struct tdm_cmd *cmd;
	struct tdm_digest digest;
	struct tdm_term term; /* of the text of parts */
	struct tdm_card card; /* for workloads and sources */
	size_t limit;         /* rows of each table; SIZE_MAX: all */
	const char *dir;      /* of ledgers; NULL: the default one */
	uint64_t watch_ns;    /* how long to watch this machine for leaks; 0: look once */
	bool is_piped;        /* for a program or a file */
};

/* Fills a part: its text, or in JSON a key and its value, and its findings. Problems become messages of the part. */
typedef void tdm_report_fill(
	struct tdm_report_request *request, const struct tdm_report_item *item, struct tdm_digest_part *part);

tdm_report_fill tdm_report_info, tdm_report_simulate;                                    /* report_parts.c */
tdm_report_fill tdm_report_status, tdm_report_doctor, tdm_report_leaks, tdm_report_dump, /* report_live.c */
	tdm_report_phases;
tdm_report_fill tdm_report_pressure; /* report_pressure.c */
tdm_report_fill tdm_report_scan;     /* report_scan.c */

/* Reports everything that the user named: files, folders and ledgers. report_inputs.c */
void tdm_report_names(struct tdm_report_request *request, char *const *names, size_t count);

/* Runs every part that applies to the item. */
void tdm_report_item(struct tdm_report_request *request, const struct tdm_report_item *item);

/* Writes the key for the part's JSON, which the caller follows by its value; NULL: text is wanted. */
struct tdm_json *tdm_report_json(const struct tdm_report_request *request, struct tdm_digest_part *part);

#endif
