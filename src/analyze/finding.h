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

enum tdm_unit {
	TDM_UNIT_COUNT,
	TDM_UNIT_BYTES,
	TDM_UNIT_CHANGE, /* bytes more or, as a negative number, less; always known */
	TDM_UNIT_BYTES_PER_S,
	TDM_UNIT_NS,
	TDM_UNIT_S,
	TDM_UNIT_SHARE, /* from 0 to 1 */
	TDM_UNIT_NUMBER,
	TDM_UNIT_ADDRESS,
	TDM_UNIT_WORD, /* a text */
	TDM_UNIT_FLAG,
};

/* A figure. What is not known is TDM_BYTES_UNKNOWN, not a number, or NULL. */
struct tdm_figure {
	const char *key; /* its name in JSON, borrowed for good */
	uint8_t unit;    /* enum tdm_unit */
	bool is_real;
	union {
		uint64_t number;
		double real;
		const char *word; /* borrowed for as long as what it was found in */
	};
};

/* Where it can be looked up. */
struct tdm_evidence {
	const char *key; /* "looked_at", "line": its name in JSON, borrowed for good */
	uint8_t unit;
	uint64_t number;
	char *text; /* owned; NULL: the number counts */
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
	const char *what; /* "grows", "driver.module": its name in JSON, borrowed for good */
	double weight;    /* among those of one severity the heavier come first, */
	uint64_t bytes;   /* and among those the larger */
	struct tdm_about about;
	char *text; /* a sentence without its stop; NULL: the report makes it */
	struct tdm_finding_part figures, evidence, advice;
};

/* All zero to begin with. What is added to a finding is added to the last one. */
struct tdm_findings {
	struct tdm_finding *list;
	struct tdm_figure *figures;
	struct tdm_evidence *evidence;
	struct tdm_advice *advice;
	size_t count, cap, figure_count, figure_cap, evidence_count, evidence_cap, advice_count, advice_cap;
	bool failed; /* memory ran out: some are missing */
};

void tdm_findings_done(struct tdm_findings *findings);

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
void tdm_findings_place(struct tdm_findings *findings, const char *key, const char *text);
void tdm_findings_position(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number);

/* `command` may be NULL. */
void tdm_findings_advise(struct tdm_findings *findings, const char *command, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* What the last advice would change a figure to. */
void tdm_findings_change(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number);

/* The worst first, of those the heaviest; equal ones as they were added. */
void tdm_findings_sort(struct tdm_findings *findings);

size_t tdm_findings_count(const struct tdm_findings *findings, enum tdm_severity severity);

/* The figure of this name; NULL, unknown or not a number when there is none. */
const struct tdm_figure *tdm_finding_figure(
	const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key);
uint64_t tdm_finding_number(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key);
double tdm_finding_real(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key);

#endif
