/*
 * Finds the runtime's sentences about insufficient memory in any text: a log line with a prefix and colours, the
 * message of an exception, a Python traceback, or text with folded lines copied from a terminal. Every known generation
 * of each sentence has a row in one table; docs/formats/logs.md lists them.
 */
#ifndef TDM_INPUT_ERROR_TEXT_H
#define TDM_INPUT_ERROR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event/log_record.h"

/* Finds the first sentence in `text`, starting at byte `from`. If there is one, returns true and sets *failure, whose
 * strings point into `text`, and *end, the byte after the sentence, where the search for the next sentence starts.
 * Finding all sentences takes linear time. */
bool tdm_error_text_find(struct tdm_str text, size_t from, struct tdm_failure *failure, size_t *end);

/*
 * Whether one of the sentences begins somewhere in `text`: either all its words before the first figure occur, or
 * `text` ends after some of those words.
 */
bool tdm_error_text_begins(struct tdm_str text);

/* Whether a line counts as an error, judged by its level. */
enum tdm_error_weight {
	TDM_ERROR_NOT,  /* a logger's line at a level below error */
	TDM_ERROR_OPEN, /* a line without a level: its words decide */
	TDM_ERROR_SURE, /* a line at level error or above, or the text of an exception */
};

/* Whether a text without a known sentence is still about insufficient memory. If so, *failure receives the text. */
bool tdm_error_text_other(struct tdm_str text, enum tdm_error_weight weight, struct tdm_failure *failure);

/* A log may report the same failure several times: in the logger's line, the exception's message, a traceback, a
 * test summary. This structure remembers the latest failures and decides which are new. */
enum { TDM_FAILURE_RECENT = 16, TDM_FAILURE_NAME_CAP = 64 };

struct tdm_failure_recent {
	struct tdm_failure_seen {
		struct tdm_failure failure; /* the failure's name is copied to `name` */
		char name[TDM_FAILURE_NAME_CAP];
		int32_t rank;
		uint64_t line;
		bool used, logged; /* logged: the failure was seen in a logger's line */
	} seen[TDM_FAILURE_RECENT];
	size_t next;
};

/* Whether this is a new failure: none with the same figures and rank was seen at most TDM_FAILURE_DISTANCE lines
 * above. `logged`: the failure is in a logger's line; two such lines always count as two failures. */
#define TDM_FAILURE_DISTANCE 400
bool tdm_failure_is_new(
	struct tdm_failure_recent *recent, const struct tdm_failure *failure, int32_t rank, uint64_t line, bool logged);

#endif
