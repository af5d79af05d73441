/* The result of a replay as text for people and as JSON for programs. */
#ifndef TDM_REPORT_REPLAY_REPORT_H
#define TDM_REPORT_REPLAY_REPORT_H

#include <stdbool.h>

#include "analyze/replay_feed.h"
#include "base/buf.h"
#include "base/json.h"
#include "report/table.h"

struct tdm_replay_report {
	const char *trace;                  /* the file's name */
	uint64_t skipped;                   /* lines that were refused */
	bool is_cut;                        /* the file could not be read to its end */
	bool ascii;                         /* no characters outside ASCII */
	size_t width;                       /* to which wide tables are folded; 0: they are not */
	const char *format;                 /* "graph capture"; NULL: a text trace */
	const char *place;                  /* the unit of a position, "line" or "byte" */
	const struct tdm_replay_feed *feed; /* what was left out; NULL with a text trace */
};

/* Only after the trace has described the memory, so that there is at least one space. */
void tdm_replay_text(const struct tdm_replay *replay, const struct tdm_replay_report *report, struct tdm_buf *out);

/* The value of the key "simulate". */
void tdm_replay_json(const struct tdm_replay *replay, const struct tdm_replay_report *report, struct tdm_json *json);

/* Borrowed from the replay. */
struct tdm_table tdm_replay_space_table(const struct tdm_replay *replay);

#endif
