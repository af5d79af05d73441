/*
 * The known file formats. Each format has a source file that defines its entry, and one line in the table in format.c;
 * nothing else changes when a format is added. Through an entry, commands get events to replay or fold, or records to
 * analyse. This header also declares the functions with which every command reads a file, and the walk through a folder
 * of files.
 */
#ifndef TDM_INPUT_FORMAT_H
#define TDM_INPUT_FORMAT_H

#include "model/event/record.h"
#include "model/event/event.h"
#include "input/door/input.h"

struct tdm_format {
	const char *name;    /* such as "graph_capture"; used in JSON */
	const char *summary; /* such as "graph capture"; used in sentences */
	bool takes_folders;  /* the format can also read folders */
	/* Recognises a file by its first bytes or its path. If NULL, `anywhere` decides. */
	bool (*recognise)(struct tdm_str head, const char *path);
	/*
	 * A string that every such file contains somewhere; searched for in text files not recognised by any other
	 * format.
	 */
	const char *anywhere;
	/* Makes a source, which borrows the input. NULL if such files have no events. */
	struct tdm_source *(*events)(struct tdm_input *input);
	/* Pushes all records into the sink, including refusals. Returns 0, or pushes everything before the error and
	 * returns a negative code with diag set. NULL if such files have no records. */
	int (*records)(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag);
};

/* More specific formats come first; ends with NULL. */
extern const struct tdm_format *const tdm_formats[];

/* The first bytes of the input without a UTF-8 byte order mark, for recognising formats. */
struct tdm_str tdm_format_head(struct tdm_input *input);

const struct tdm_format *tdm_format_find(const char *name); /* NULL if there is none */

/* Recognises a format by the first bytes. Returns NULL if the format is unknown, as it is for folders and for empty or
 * unreadable input. */
const struct tdm_format *tdm_format_of(struct tdm_input *input);

/* Like tdm_format_of(), but if the first bytes do not decide, searches the whole input and then rewinds it. 0, or a
 * negative code with diag set if that is impossible. */
int tdm_format_search(struct tdm_input *input, const struct tdm_format **format, struct tdm_diag *diag);

/* Reads the lines of a text and calls `take` for each, with the line number in at->line. Refuses overlong lines, and
 * lines for which `take` returns TDM_ESYNTAX with diag set. 0, or another code from `take`, the sink or reading. */
int tdm_format_lines(struct tdm_input *input, const struct tdm_record_sink *sink,
	int (*take)(void *to, const struct tdm_lines *at, struct tdm_str line, struct tdm_diag *diag), void *to,
	struct tdm_diag *diag);

/*
 * ---- reading a file ----
 *
 * Opens the file, finds its format, and passes its records or events to the caller, with a progress line. Anything
 * unusable is counted; the first refusals become messages, and a last message gives the number of the others. Nothing
 * is printed here; the caller's function does that.
 */

struct tdm_intake {
	/* Set by the caller: */
	struct tdm_input *input;
	const struct tdm_format *format;
	const char *what; /* verb for the progress line: "replaying"; NULL: "reading" */
	const char *noun; /* noun for refused items: "nodes"; NULL if there is none */
	size_t most;      /* how many refusals to report singly; 0: the usual number */
	void *to;
	int (*take)(void *to, const struct tdm_record *record); /* may be NULL */
	/* Handles an event. A negative code with diag set refuses it. */
	int (*event)(void *to, const struct tdm_event *event, struct tdm_diag *diag);
	bool stop;                                              /* may be set at any time to stop reading events */
	bool only_whole;                                        /* stop reading at the first refused event */
	void (*say)(void *hearer, const struct tdm_diag *diag); /* receives a message; diag names the file */
	void *hearer;
	/* Results: */
	uint64_t refused;
	int err; /* why reading ended early, with the reason in diag; 0 if it reached the end */
	struct tdm_diag diag;
};

/* Opens a file and finds its format by its first bytes; the format may be NULL. For a folder, opens the database of
 * the ttnn report in that folder. 0, or -errno with no input. */
int tdm_intake_open(struct tdm_intake *reading, const char *path);

/* Reads all records, or all events if `event` is set. */
void tdm_intake_run(struct tdm_intake *reading);

/* Handles a record like tdm_intake_run(), for records that an analyser produces at the end. `reading` is a struct
 * tdm_intake. */
int tdm_intake_take(void *reading, const struct tdm_record *record);

/* Counts a refusal, and reports it if it is among the first. */
void tdm_intake_refuse(struct tdm_intake *reading, const struct tdm_diag *diag);

/* Reports how many more refusals there were, and why reading ended early. Returns whether anything was unusable. */
bool tdm_intake_end(const struct tdm_intake *reading);

/*
 * ---- folders ----
 *
 * Walks through a folder and its subfolders in name order, up to a limited depth and number of entries. Symbolic links
 * are not followed, so there are no loops; they are counted, as are folders not visited. Calls `visit` for each regular
 * file, with its name in the open folder and its path; and for each unreadable folder, with the reason and the path. A
 * negative code from `visit` ends the walk and is returned; else 0.
 */
int tdm_folder_walk(const char *path, struct tdm_walk_rest *rest,
	int (*visit)(void *to, int folder, const char *name, const char *path, const struct tdm_diag *refused),
	void *to);

#endif
