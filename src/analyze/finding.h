/*
 * A finding is a judgement of an analyser: a leak, a failure in a replay, a reason in a capture, an error in a log, a
 * pressure indicator, the result of a doctor check. Analysers report all judgements this way, and report/finding_text.c
 * and report/finding_json.c show them all.
 *
 * A finding is about something (a device, a process, a site). It has figures with names and units, evidence that can be
 * looked up, and advice with the change that it would bring. The analyser writes its sentence if only the analyser
 * knows the words; otherwise the report makes one from the figures.
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
	TDM_FAMILY_BUDGET, /* the L1 that programs take, against a baseline: budget.h */
	TDM_FAMILY_SCAN,   /* sources: budgets of their programs, kernels that do not match them; scan_*.h */
	TDM_FAMILY_RUN,    /* what a program did with its devices: trace_hazards.h, statistics_check.h */
	TDM_FAMILIES
};

enum tdm_severity { TDM_FINDING_OK, TDM_FINDING_INFO, TDM_FINDING_WARNING, TDM_FINDING_BROKEN, TDM_SEVERITIES };

/* Why memory did not suffice, in a replay or according to the runtime. id, name in JSON */
#define TDM_CAUSE_LIST(X)                                                           \
	X(UNKNOWN, NULL)            /* figures are missing */                       \
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

/* From the bytes needed in one piece and the memory there is; each may be TDM_BYTES_UNKNOWN. */
enum tdm_cause tdm_cause_of(uint64_t need, uint64_t total, uint64_t free, uint64_t largest_free);

enum tdm_unit {
	TDM_UNIT_COUNT, /* this and the next seven are whole numbers */
	TDM_UNIT_BYTES,
	TDM_UNIT_CHANGE, /* a signed number of bytes; always known */
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

/* A figure, or a piece of evidence: where the finding can be looked up. Unknown is TDM_BYTES_UNKNOWN, NAN, NULL or an
 * invalid range. The word of a figure is borrowed, that of evidence is owned. */
struct tdm_figure {
	const char *key; /* its name in JSON, static */
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
	char *text, *command;     /* owned; command: what to type, or NULL */
	struct tdm_figure change; /* what the figure of this key would become; key NULL: unknown */
};

/* What it is about; a field that is 0, NULL or the like does not apply. */
struct tdm_about {
	int32_t pid;
	uint32_t process, holding; /* indices into the picture; UINT32_MAX: none */
	const char *comm, *ledger; /* of the process */
	int64_t device;            /* logical number; -1: none */
	bool is_virtual;
	uint8_t kind;          /* enum tdm_kind; TDM_KIND_COUNT: none */
	const char *name;      /* of the buffer, program or operation: the site */
	uint32_t stack;        /* of the picture */
	uint32_t replay_stack; /* the same: who replayed a trace */
	const char *phase;
};

/* Fills in the process and the device of a holding; the rest stays as it is. */
struct tdm_picture;
void tdm_about_holding(const struct tdm_picture *picture, uint32_t index, struct tdm_about *about);

/* A range of one of the lists below. */
struct tdm_finding_part {
	size_t first, count;
};

struct tdm_finding {
	uint8_t family;   /* enum tdm_finding_family */
	uint8_t severity; /* enum tdm_severity */
	uint8_t code;     /* the family's number for `what` */
	uint32_t order;   /* in which it was added */
	const char *what; /* "grows", "driver.module": its name in JSON, static */
	double weight;    /* within a severity, heavier findings come first, */
	uint64_t bytes;   /* then larger ones */
	struct tdm_about about;
	char *text; /* a sentence without the full stop; NULL: the report makes it */
	struct tdm_finding_part figures, holes, advice;
};

/* Zeroed to begin with. Figures, holes and advice are added to the last finding. */
struct tdm_findings {
	struct tdm_finding *list;
	struct tdm_figure *figures;
	struct tdm_hole *holes;
	struct tdm_advice *advice;
	size_t count, cap, figure_count, figure_cap, hole_count, hole_cap, advice_count, advice_cap;
	bool failed; /* memory ran out: findings are missing, and no more are added */
};

bool tdm_findings_done(struct tdm_findings *findings); /* returns whether memory had run out */

/* A new finding, about nothing yet; borrowed until the next one. Never NULL: when memory has run out it is a dummy. */
struct tdm_finding *tdm_findings_add(
	struct tdm_findings *findings, enum tdm_finding_family family, const char *what, enum tdm_severity severity);

/* A remark about a file, with a static label or NULL; tdm_findings_say() adds its sentence. */
void tdm_findings_remark(
	struct tdm_findings *findings, enum tdm_severity severity, const char *what, const char *label);
/* A remark with a count, such as "3 nodes cannot be used"; nothing when the count is 0. */
void tdm_findings_counted(struct tdm_findings *findings, enum tdm_severity severity, const char *what,
	const char *label, uint64_t count, const char *one, const char *many);

void tdm_findings_say(struct tdm_findings *findings, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tdm_findings_figure(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number);
void tdm_findings_real(struct tdm_findings *findings, const char *key, enum tdm_unit unit, double real);
void tdm_findings_word(struct tdm_findings *findings, const char *key, const char *word);
void tdm_findings_cores(struct tdm_findings *findings, const char *key, const struct tdm_core_range *range);
/* Add evidence; an empty text is unknown. */
void tdm_findings_place(struct tdm_findings *findings, const char *key, struct tdm_str text);
void tdm_findings_position(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number);
void tdm_findings_holes(struct tdm_findings *findings, const struct tdm_hole *holes, size_t count);

/* `command` may be NULL. */
void tdm_findings_advise(struct tdm_findings *findings, const char *command, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The value that a figure would have with the last advice. */
void tdm_findings_change(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number);

/* The worst first, then the heaviest, then as they were added. Nothing may be added afterwards. */
void tdm_findings_sort(struct tdm_findings *findings);

size_t tdm_findings_count(const struct tdm_findings *findings, enum tdm_severity severity);

/* The figure or evidence of this name; NULL, unknown or NAN when there is none. */
const struct tdm_figure *tdm_finding_figure(
	const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key);
uint64_t tdm_finding_number(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key);
double tdm_finding_real(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key);
const char *tdm_finding_word(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key);

#endif
