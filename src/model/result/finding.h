/*
 * A finding is a judgement of an analyser: a leak, a failure in a replay, a reason in a capture, an error in a log, a
 * pressure indicator, the result of a doctor check. Analysers report all judgements this way, and view/write/findings.c
 * shows them all.
 *
 * A finding has a subject (a device, a process, a site), figures with names and units, evidence for looking it up, and
 * advice with the expected change. Its sentence is either the analyser's pattern, which writers expand, or a string.
 */
#ifndef TDM_MODEL_FINDING_H
#define TDM_MODEL_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"
#include "base/number.h"
#include "base/value.h"
#include "model/event/event.h"
#include "model/result/columns.h"

enum tdm_finding_family {
	TDM_FAMILY_DOCTOR,
	TDM_FAMILY_LEAK,
	TDM_FAMILY_REPLAY,
	TDM_FAMILY_CAPTURE,
	TDM_FAMILY_FAILURE,
	TDM_FAMILY_PRESSURE,
	TDM_FAMILY_BUDGET, /* L1 taken by programs, against a baseline: budget.h */
	TDM_FAMILY_SCAN,   /* budgets of the programs in source files: scan_*.h */
	TDM_FAMILY_RUN,    /* what a program did with its devices: run_findings.h */
	TDM_FAMILIES
};

enum tdm_severity { TDM_FINDING_OK, TDM_FINDING_INFO, TDM_FINDING_WARNING, TDM_FINDING_BROKEN, TDM_SEVERITIES };

/* Why memory was insufficient, in a replay or according to the runtime: id, name in JSON */
#define TDM_CAUSE_LIST(X)                                                                   \
	X(UNKNOWN, NULL)            /* cannot be determined, because figures are missing */ \
	X(TOO_LARGE, "too_large")   /* larger than the whole memory, so it never fits */    \
	X(EXHAUSTED, "exhausted")   /* less is free than needed */                          \
	X(FRAGMENTED, "fragmented") /* enough is free, but not in one piece */              \
	X(OCCUPIED, "occupied")     /* a fixed address that is already taken */             \
	X(OUTSIDE, "outside")       /* a fixed address outside the region */                \
	X(NO_REGION, "no_region")   /* the device has no memory of this kind */

enum tdm_cause {
#define X(id, name) TDM_CAUSE_##id,
	TDM_CAUSE_LIST(X)
#undef X
};

const char *tdm_cause_name(enum tdm_cause cause); /* NULL if unknown */

/* Determines the cause from the bytes needed in one piece and the available memory; any argument may be
 * TDM_BYTES_UNKNOWN. */
enum tdm_cause tdm_cause_of(uint64_t need, uint64_t total, uint64_t free, uint64_t largest_free);

/* A figure, or a piece of evidence for looking up the finding. */
struct tdm_figure {
	const char *key; /* its name in JSON; a static string */
	bool is_evidence;
	bool is_owned;     /* the value is a string that the findings own */
	const char *label; /* static; if set, text shows the figure on its own line after this label */
	struct tdm_value value;
};

/* A short copy of a name; a longer name is cut and ends in "...". */
struct tdm_short_name {
	char text[40];
};

/* Another form of evidence: a hole in memory and its neighbours. */
struct tdm_hole {
	uint64_t address, size;
	struct tdm_hole_bound {
		bool is_buffer; /* false: the neighbour is the edge of the region */
		struct tdm_short_name name;
		uint64_t bytes;
	} below, above;
};

/* Advice on a finding. */
struct tdm_advice {
	char *text, *command;     /* owned; command: a command to type, or NULL */
	struct tdm_figure change; /* the new value of the figure with this key; a NULL key means unknown */
};

/* The subject of a finding; members that are 0, NULL or the like do not apply. */
struct tdm_about {
	int32_t pid;
	uint32_t process, holding; /* indices in the picture; UINT32_MAX if there is none */
	const char *comm, *ledger; /* the process's name and ledger */
	const char *host;          /* the process's machine; NULL for this one */
	int64_t device;            /* logical number; -1: none */
	bool is_virtual;
	uint8_t kind;          /* enum tdm_kind; TDM_KIND_COUNT: none */
	const char *name;      /* name of the buffer, program or operation that identifies the site */
	uint32_t stack;        /* call stack, as a number in the picture */
	uint32_t replay_stack; /* call stack that replayed a trace, as a number in the picture */
	/* Set when the finding is shown, after the functions in the stacks were looked up: */
	const char *site; /* a description of the site, if it has no name */
	const struct tdm_table *frames, *replay_frames;
	struct tdm_value_list trail, replay_trail; /* the innermost functions */
	const char *phase;
};

struct tdm_finding {
	uint8_t family;   /* enum tdm_finding_family */
	uint8_t severity; /* enum tdm_severity */
	uint8_t code;     /* the family's number for the finding's type, `what` */
	uint32_t order;   /* position in insertion order */
	const char *what; /* its name in JSON, a static string such as "grows" or "driver.module" */
	/* the family's word for the severity, a static string such as "leak"; NULL: the usual word */
	const char *verdict;
	const char *title; /* static text shown before the sentence, or alone if no figure is known; may be NULL */
	/* static pattern of the sentence (base/value.h); its values are the figures and the subject */
	const char *pattern;
	bool names_itself; /* the sentence itself names the subject */
	double weight;     /* sorting: within a severity, heavier findings come first, */
	uint64_t bytes;    /* then findings with more bytes */
	struct tdm_about about;
	char *text; /* used instead of the pattern: a sentence without its full stop */
	/* ranges in the lists below */
	size_t first_figure, figure_count, first_hole, hole_count, first_advice, advice_count;
};

/* Starts zeroed. Figures, holes and advice are added to the last finding. */
struct tdm_findings {
	struct tdm_finding *list;
	struct tdm_figure *figures;
	struct tdm_hole *holes;
	struct tdm_advice *advice;
	size_t count, cap, figure_count, figure_cap, hole_count, hole_cap, advice_count, advice_cap;
};

void tdm_findings_done(struct tdm_findings *findings);

/* Adds a finding that has no subject yet; borrowed until the next one is added. */
struct tdm_finding *tdm_findings_add(
	struct tdm_findings *findings, enum tdm_finding_family family, const char *what, enum tdm_severity severity);

/* A remark about a file, with a static label or NULL; tdm_findings_say() adds its sentence. */
void tdm_findings_remark(
	struct tdm_findings *findings, enum tdm_severity severity, const char *what, const char *label);
/* Adds a remark with a count, such as "3 nodes cannot be used"; adds nothing if the count is 0. */
void tdm_findings_counted(struct tdm_findings *findings, enum tdm_severity severity, const char *what,
	const char *label, uint64_t count, const char *one, const char *many);

void tdm_findings_say(struct tdm_findings *findings, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a figure of any type; strings are borrowed. */
void tdm_findings_value(struct tdm_findings *findings, const char *key, struct tdm_value value);
/* Adds a whole number; TDM_BYTES_UNKNOWN means unknown. */
void tdm_findings_figure(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number);
void tdm_findings_flag(struct tdm_findings *findings, const char *key, bool flag);
void tdm_findings_real(struct tdm_findings *findings, const char *key, enum tdm_unit unit, double real);
void tdm_findings_word(struct tdm_findings *findings, const char *key, const char *word);
void tdm_findings_cores(struct tdm_findings *findings, const char *key, const struct tdm_core_range *range);
/* These add evidence; an empty string means unknown. */
void tdm_findings_place(struct tdm_findings *findings, const char *key, struct tdm_str text);
void tdm_findings_position(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number);
/* Makes text show the last figure on its own line, after this label. */
void tdm_findings_label(struct tdm_findings *findings, const char *label);
void tdm_findings_holes(struct tdm_findings *findings, const struct tdm_hole *holes, size_t count);

/* `command` may be NULL. */
void tdm_findings_advise(struct tdm_findings *findings, const char *command, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Sets the value that a figure would have if the last advice were followed. */
void tdm_findings_change(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number);

/* Sorts the findings: worst first, then heaviest, then in insertion order. Nothing may be added afterwards. */
void tdm_findings_sort(struct tdm_findings *findings);

size_t tdm_findings_count(const struct tdm_findings *findings, enum tdm_severity severity);

/* The figure or evidence with this name; NULL, unknown or NAN if there is none. */
const struct tdm_figure *tdm_finding_figure(
	const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key);
uint64_t tdm_finding_number(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key);
double tdm_finding_real(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key);
const char *tdm_finding_word(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key);

/* Appends a finding's sentence unchanged; strings of unknown origin in the sentence may contain unprintable
 * characters. */
void tdm_finding_sentence_put(const struct tdm_findings *all, const struct tdm_finding *finding, struct tdm_buf *out);

/* Holes as a table: where, how large, and between which buffers. */
struct tdm_table tdm_holes_table(const struct tdm_hole *holes, size_t count);

#endif
