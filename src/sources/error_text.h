/*
 * The runtime's sentences about memory that does not suffice, found in any text: a log line with its prefix and colour,
 * the text of an exception, a Python traceback, a terminal's copy with folded lines. Every generation of each sentence
 * that is known has a row in one table; docs/formats/logs.md lists them.
 */
#ifndef TDM_SOURCES_ERROR_TEXT_H
#define TDM_SOURCES_ERROR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/failure.h"

/*
 * The first sentence of `text` from byte `from` on. True with *failure set, whose texts are parts of `text`, and *end
 * set to the byte after it, where a search for the next one begins. The cost of finding all of them grows with the
 * length of the text.
 */
bool tdm_error_text_find(struct tdm_str text, size_t from, struct tdm_failure *failure, size_t *end);

/* Whether a sentence begins somewhere in `text`: its words up to the first figure, or as many as there is room for. */
bool tdm_error_text_begins(struct tdm_str text);

/*
 * A log has the same failure more than once: in the logger's line, in the text of the exception, in a traceback, in the
 * summary of a test. This remembers the last ones and says which are new.
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
 * Whether this is a failure of its own: not one of the same figures and rank that stood, in the other form, at most
 * TDM_FAILURE_DISTANCE lines above. `logged`: it is in a line of the logger; each of those is a failure of its own.
 */
#define TDM_FAILURE_DISTANCE 400
bool tdm_failure_is_new(
	struct tdm_failure_recent *recent, const struct tdm_failure *failure, int32_t rank, uint64_t line, bool logged);

#endif
