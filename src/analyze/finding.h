/*
 * A finding: what an analyser has to say. Every analyser gives these and nothing else that judges: leaks, failures of a
 * replay, reasons in captures, errors in logs, pressure indicators, the checks of doctor. report/finding_text.c and
 * report/finding_json.c show them, whoever they are from.
 *
 * A finding is about something (a device, a process, a site), has figures with names and units, evidence that can be
 * looked up, and advice that says what it would change. Its sentence is the analyser's own where only that knows the
 * words; else the report makes it from the figures.
 */
#ifndef TDM_ANALYZE_FINDING_H
#define TDM_ANALYZE_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"
#include "base/number.h"
#include "event/describe.h"

enum tdm_finding_family {
	TDM_FAMILY_DOCTOR,
	TDM_FAMILY_LEAK,
	TDM_FAMILY_REPLAY,
	TDM_FAMILY_CAPTURE,
	TDM_FAMILY_FAILURE,
	TDM_FAMILY_PRESSURE,
	TDM_FAMILIES
};

enum tdm_severity { TDM_FINDING_OK, TDM_FINDING_INFO, TDM_FINDING_WARNING, TDM_FINDING_BROKEN, TDM_SEVERITIES };

/* Why memory did not suffice, in a replay or by what the runtime said. id, name in JSON */
#define TDM_CAUSE_LIST(X)                                                           \
	X(UNKNOWN, NULL)            /* the figures that would tell are missing */   \
	X(TOO_LARGE, "too_large")   /* more than the whole memory: it never fits */ \
	X(EXHAUSTED, "exhausted")   /* less is free than is needed */               \
	X(FRAGMENTED, "fragmented") /* enough is free, but not in one piece */      \
	X(OCCUPIED, "occupied")     /* a fixed address that is taken */             \
	X(OUTSIDE, "outside")       /* a fixed address outside the region */        \
	X(NO_REGION, "no_region")   /* the device has no memory of this kind */

enum tdm_cause {
#define X(id, name) TDM_CAUSE_##id,
	TDM_CAUSE_LIST(X)
#undef X
};

const char *tdm_cause_name(enum tdm_cause cause); /* NULL when unknown */

/* From what is needed in one piece and from what there is; TDM_BYTES_UNKNOWN is allowed for each. */
enum tdm_cause tdm_cause_of(uint64_t need, uint64_t total, uint64_t free, uint64_t largest_free);

enum tdm_unit {
	TDM_UNIT_COUNT, /* this and the next seven are whole numbers */
	TDM_UNIT_BYTES,
	TDM_UNIT_CHANGE, /* bytes more or, as a negative number, less; always known */
	TDM_UNIT_NS,
	TDM_UNIT_ADDRESS,
	TDM_UNIT_CAUSE,    /* enum tdm_cause */
	TDM_UNIT_SEVERITY, /* enum tdm_severity, which each family names in its own way */
	TDM_UNIT_FLAG,
	TDM_UNIT_SHARE, /* from 0 to 1; this and the next three are real numbers */
	TDM_UNIT_NUMBER,
	TDM_UNIT_S,
	TDM_UNIT_BYTES_PER_S,
	TDM_UNIT_WORD,  /* a text */
	TDM_UNIT_CORES, /* a range of cores */
};

/* A figure, or a piece of evidence: where the finding can be looked up. Unknown are TDM_BYTES_UNKNOWN, not a number,
 * NULL, and a range that is not valid. A word is borrowed, of evidence it is owned. */
struct tdm_figure {
	const char *key; /* its name in JSON, borrowed for good */
	uint8_t unit;    /* enum tdm_unit */
	bool is_evidence;
	union {
		uint64_t number;
		double real;
		const char *word;
		char *owned;
		struct tdm_core_range cores;
	};
};

/* A short copy of a name; longer ones end in "...". */
struct tdm_short_name {
	char text[40];
};

/* Evidence of another shape: a hole in memory and what bounds it. */
struct tdm_hole {
	uint64_t address, size;
	struct tdm_hole_bound {
		bool is_buffer; /* false: the region ends there */
		struct tdm_short_name name;
		uint64_t bytes;
	} below, above;
};

/* What to do about it. */
struct tdm_advice {
	char *text, *command;     /* owned; command: to type for that; NULL: there is none */
	struct tdm_figure change; /* what the figure of this key would become; key NULL: that cannot be told */
};

/* What it is about; 0, NULL and the like: none of these. */
struct tdm_about {
	int32_t pid;
	uint32_t process, holding; /* indices into the picture; UINT32_MAX: none */
	const char *comm, *ledger; /* of the process */
	int64_t device;            /* logical number; -1: none */
	bool is_virtual;
	uint8_t kind;     /* enum tdm_kind; TDM_KIND_COUNT: none */
	const char *name; /* of the buffer, program or operation: the site */
	uint32_t stack;   /* of the picture */
	const char *phase;
};

/* A piece of one of the lists below. */
struct tdm_finding_part {
	size_t first, count;
};

struct tdm_finding {
	uint8_t family;   /* enum tdm_finding_family */
	uint8_t severity; /* enum tdm_severity */
	uint8_t code;     /* the family's own number of `what` */
	uint32_t order;   /* in which they were added */
	const char *what; /* "grows", "driver.module": its name in JSON, borrowed for good */
	double weight;    /* among those of one severity the heavier come first, */
	uint64_t bytes;   /* and among those the larger */
	struct tdm_about about;
	char *text; /* a sentence without its stop; NULL: the report makes it */
	struct tdm_finding_part figures, holes, advice;
};

/* All zero to begin with. What is added to a finding is added to the last one. */
struct tdm_findings {
	struct tdm_finding *list;
	struct tdm_figure *figures;
	struct tdm_hole *holes;
	struct tdm_advice *advice;
	size_t count, cap, figure_count, figure_cap, hole_count, hole_cap, advice_count, advice_cap;
	bool failed; /* memory ran out: some are missing; nothing is added any more */
};

bool tdm_findings_done(struct tdm_findings *findings); /* whether memory had run out */

/* A new one, about nothing yet; borrowed until the next. Never NULL: when memory has run out it is one that nobody
 * sees. */
struct tdm_finding *tdm_findings_add(
	struct tdm_findings *findings, enum tdm_finding_family family, const char *what, enum tdm_severity severity);

/* A remark about a file, with a label, borrowed for good, or NULL; tdm_findings_say() says it. */
void tdm_findings_remark(
	struct tdm_findings *findings, enum tdm_severity severity, const char *what, const char *label);
/* One that is said: "3 nodes cannot be used"; none when there are none. */
void tdm_findings_counted(struct tdm_findings *findings, enum tdm_severity severity, const char *what,
	const char *label, uint64_t count, const char *one, const char *many);

void tdm_findings_say(struct tdm_findings *findings, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tdm_findings_figure(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number);
void tdm_findings_real(struct tdm_findings *findings, const char *key, enum tdm_unit unit, double real);
void tdm_findings_word(struct tdm_findings *findings, const char *key, const char *word);
void tdm_findings_cores(struct tdm_findings *findings, const char *key, const struct tdm_core_range *range);
/* Evidence; an empty text is unknown. */
void tdm_findings_place(struct tdm_findings *findings, const char *key, struct tdm_str text);
void tdm_findings_position(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number);
void tdm_findings_holes(struct tdm_findings *findings, const struct tdm_hole *holes, size_t count);

/* `command` may be NULL. */
void tdm_findings_advise(struct tdm_findings *findings, const char *command, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* What the last advice would change a figure to. */
void tdm_findings_change(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number);

/* The worst first, of those the heaviest; equal ones as they were added. Nothing may be added afterwards. */
void tdm_findings_sort(struct tdm_findings *findings);

size_t tdm_findings_count(const struct tdm_findings *findings, enum tdm_severity severity);

/* The figure or evidence of this name; NULL, unknown or not a number when there is none. */
const struct tdm_figure *tdm_finding_figure(
	const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key);
uint64_t tdm_finding_number(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key);
double tdm_finding_real(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key);
const char *tdm_finding_word(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key);

#endif
