/*
 * The document of `tidemark report`: the findings of all parts in one list, the worst first, then each part as the
 * command of its name shows it, then what is not in the report, and why. A part is added and filled before the next one
 * begins; the document is written at the end, as text, JSON or Markdown.
 */
#ifndef TDM_REPORT_DIGEST_H
#define TDM_REPORT_DIGEST_H

#include "base/json.h"
#include "base/term.h"
#include "report/finding_report.h"

enum {
	TDM_DIGEST_FINDINGS = 10000, /* findings that are kept; further ones are counted */
	TDM_DIGEST_SHOWN = 50,       /* of them in text and Markdown */
};

enum tdm_digest_form { TDM_DIGEST_TEXT, TDM_DIGEST_JSON, TDM_DIGEST_MARKDOWN };

struct tdm_digest_part {
	size_t number;                   /* from 1 */
	const char *name;                /* the command that shows the same; static */
	char *source;                    /* what it is about: a path, a workload, this machine */
	struct tdm_buf body;             /* text; or the keys of the part's object in JSON */
	struct tdm_json json;            /* writes the body, in a JSON report */
	struct tdm_buf messages;         /* lines: what of it could not be used */
	bool is_incomplete;              /* because of the messages */
	bool is_empty;                   /* there is nothing to show; messages or a gap say why */
	bool is_unrelated;               /* the same, though all of it could be read */
	uint64_t counts[TDM_SEVERITIES]; /* findings by severity */
};

struct tdm_digest_finding {
	const struct tdm_digest_part *part;
	size_t order; /* in which it was added */
	uint8_t severity;
	const char *what; /* static */
	char *text, *advice, *command;
	struct tdm_buf details; /* the keys of the finding as its own command prints them; only in JSON */
};

/* An input, or a part of one, that is not in the report. */
struct tdm_digest_gap {
	char *source, *reason;
	bool is_failure; /* it could not be read; false: there was nothing to do */
};

struct tdm_digest {
	enum tdm_digest_form form;
	struct tdm_digest_part **parts; /* the last one is filled at the moment */
	struct tdm_digest_finding *findings;
	struct tdm_digest_gap *gaps;
	size_t part_count, part_cap, finding_count, finding_cap, gap_count, gap_cap;
	uint64_t counts[TDM_SEVERITIES]; /* of all findings, also of those that were not kept */
	bool failed;                     /* memory ran out: something is missing */
};

void tdm_digest_init(struct tdm_digest *digest, enum tdm_digest_form form);
void tdm_digest_done(struct tdm_digest *digest);

/* Begins a part; `source` is copied. Borrowed from the digest; NULL when out of memory. */
struct tdm_digest_part *tdm_digest_begin(struct tdm_digest *digest, const char *name, const char *source);
/* A message about the part: something of it could not be used. */
void tdm_digest_say(struct tdm_digest_part *part, struct tdm_str message);
/* The first of the messages, which is taken off the rest. Whether there is one. */
bool tdm_digest_message(struct tdm_str *rest, struct tdm_str *message);
/* The part shows nothing: takes it out again, and lists its messages, if any, among the gaps. */
void tdm_digest_drop(struct tdm_digest *digest, bool is_failure);
void tdm_digest_gap(struct tdm_digest *digest, const char *source, const char *reason, bool is_failure);

/* Adds findings to the part. Findings that only say that all is well are left out. */
void tdm_digest_find(struct tdm_digest *digest, struct tdm_finding_view *view);
/* The same for findings that need no more than their list, which is released. */
void tdm_digest_take(struct tdm_digest *digest, struct tdm_findings *found, const char *place);

/* The worst first, then in the order of parts, then as they were added. */
void tdm_digest_sort(struct tdm_digest *digest);

/* Whether something could not be read. */
bool tdm_digest_has_failures(const struct tdm_digest *digest);

/* The whole document; of JSON, the value of the key "report". */
void tdm_digest_text(const struct tdm_digest *digest, const struct tdm_term *term, struct tdm_buf *out);
void tdm_digest_json(const struct tdm_digest *digest, struct tdm_json *json);
void tdm_digest_markdown(const struct tdm_digest *digest, struct tdm_buf *out);

#endif
