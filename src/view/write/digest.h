/*
 * The document of `tidemark report`: the findings of all parts in one list, worst first, then each part as shown by the
 * command of the same name, then the inputs left out, with reasons. Parts are filled one after another, and each is
 * written immediately in the form of the document, so memory use is bounded by the length of the output.
 * tdm_digest_show() turns the document into a result.
 */
#ifndef TDM_VIEW_DIGEST_H
#define TDM_VIEW_DIGEST_H

#include "view/write/write.h"

enum {
	TDM_DIGEST_FINDINGS = 10000, /* maximum number of findings kept; others are only counted */
	TDM_DIGEST_SHOWN = 50,       /* maximum number of findings shown in text and Markdown */
};

struct tdm_digest_part {
	struct tdm_digest *digest;
	size_t number;              /* counts from 1 */
	const char *name;           /* the command with the same output; a static string */
	const char *source;         /* subject of the part: a path, a workload, this machine */
	struct tdm_buf body;        /* the part, already written */
	struct tdm_value *messages; /* messages about unusable input */
	size_t message_count, message_cap;
	bool is_incomplete;              /* input is missing, as the messages explain */
	bool is_empty;                   /* there is nothing to show; messages or a gap explain why */
	bool is_unrelated;               /* there is nothing to show, although all input could be read */
	uint64_t counts[TDM_SEVERITIES]; /* findings by severity */
};

struct tdm_digest_finding {
	const struct tdm_digest_part *part;
	size_t order; /* order in which the finding was added */
	uint8_t severity;
	const char *text, *advice, *command;
	struct tdm_buf members; /* written by the form, if it needs more than the row */
};

/* An input, or a part of one, that is not in the report. */
struct tdm_digest_gap {
	const char *source, *reason;
	bool is_failure; /* the input could not be read; false: it contained nothing to report */
};

struct tdm_digest {
	const struct tdm_form *form;
	struct tdm_result *document;
	struct tdm_digest_part **parts; /* parts; the last one is being filled */
	struct tdm_digest_finding *findings;
	struct tdm_digest_gap *gaps;
	size_t part_count, part_cap, finding_count, finding_cap, gap_count, gap_cap;
	uint64_t counts[TDM_SEVERITIES]; /* counts of all findings, including those not kept */
};

void tdm_digest_init(struct tdm_digest *digest, const struct tdm_form *form);
void tdm_digest_done(struct tdm_digest *digest);

/* Begins a part; copies `source`. The part is borrowed from the digest. */
struct tdm_digest_part *tdm_digest_begin(struct tdm_digest *digest, const char *name, const char *source);
/* Adds a message to the part: some input could not be used. */
void tdm_digest_say(struct tdm_digest_part *part, struct tdm_str message);
/* Removes a part that shows nothing. Its messages, if any, are listed among the gaps. */
void tdm_digest_drop(struct tdm_digest *digest, bool is_failure);
void tdm_digest_gap(struct tdm_digest *digest, const char *source, const char *reason, bool is_failure);

/* Adds findings to the most recently begun part, except findings that merely report that all is well. */
void tdm_digest_find(struct tdm_digest *digest, const struct tdm_findings *found);

/* Writes a result into the body of the most recently begun part, and adds the result's findings. */
void tdm_digest_result(struct tdm_digest *digest, const struct tdm_block *top, const struct tdm_term *term);

/* Whether something could not be read. */
bool tdm_digest_has_failures(const struct tdm_digest *digest);

/* The whole document; call it once. In JSON, it is the value of the key "report". */
const struct tdm_block *tdm_digest_show(struct tdm_digest *digest);

#endif
