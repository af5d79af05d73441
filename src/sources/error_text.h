/*
 * Finds the runtime's sentences about insufficient memory in any text: a log line with prefix and colour, the text of
 * an exception, a Python traceback, a copy from a terminal with folded lines. Every known generation of each sentence
 * has a row in one table; docs/formats/logs.md lists them.
 */
#ifndef TDM_SOURCES_ERROR_TEXT_H
#define TDM_SOURCES_ERROR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/failure.h"

/*
 * Finds the first sentence of `text` from byte `from` on. True with *failure set, whose texts point into `text`, and
 * *end set to the byte after it, where the search for the next one begins. Finding all of them takes linear time.
 */
bool tdm_error_text_find(struct tdm_str text, size_t from, struct tdm_failure *failure, size_t *end);

/* Whether a sentence begins somewhere in `text`: its words up to the first figure, or as many as the text has left. */
bool tdm_error_text_begins(struct tdm_str text);

/* How far the line of a text says that it is an error. */
enum tdm_error_weight {
	TDM_ERROR_NOT,  /* a line of the logger at a level below error */
	TDM_ERROR_OPEN, /* a line without a level: its words decide */
	TDM_ERROR_SURE, /* a line at level error or above, or the text of an exception */
};

/*
 * Whether a text in which tdm_error_text_find() finds nothing speaks of insufficient memory all the same. If so,
 * *failure has its words.
 */
bool tdm_error_text_other(struct tdm_str text, enum tdm_error_weight weight, struct tdm_failure *failure);

/*
 * A log reports the same failure more than once: in the logger's line, in the text of the exception, in a traceback, in
 * the summary of a test. This remembers the last ones and says which are new.
 */
enum { TDM_FAILURE_RECENT = 16, TDM_FAILURE_NAME_CAP = 64 };

struct tdm_failure_recent {
	struct tdm_failure_seen {
		struct tdm_failure failure; /* its name is in `name` */
		char name[TDM_FAILURE_NAME_CAP];
		int32_t rank;
		uint64_t line;
		bool used, logged; /* `logged`: seen in the logger's line */
	} seen[TDM_FAILURE_RECENT];
	size_t next;
};

/*
 * Whether this is a new failure: none with the same figures and rank was seen at most TDM_FAILURE_DISTANCE lines above.
 * `logged`: it is in a line of the logger; two of those are always two failures.
 */
#define TDM_FAILURE_DISTANCE 400
bool tdm_failure_is_new(
	struct tdm_failure_recent *recent, const struct tdm_failure *failure, int32_t rank, uint64_t line, bool logged);

#endif
