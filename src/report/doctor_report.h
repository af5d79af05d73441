/* What is set up and what is not: findings, each with what was looked at, what was found, and what to do about it. */
#ifndef TDM_REPORT_DOCTOR_REPORT_H
#define TDM_REPORT_DOCTOR_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/term.h"

/* id, name. The numbers are also what the command exits with, for the last two. */
#define TDM_FINDING_LIST(X)   \
	X(OK, "ok")           \
	X(INFO, "info")       \
	X(WARNING, "warning") \
	X(BROKEN, "broken")

enum tdm_finding_state {
#define X(id, name) TDM_FINDING_##id,
	TDM_FINDING_LIST(X)
#undef X
		TDM_FINDING_STATES
};

const char *tdm_finding_state_name(enum tdm_finding_state state);

struct tdm_finding {
	enum tdm_finding_state state;
	const char *check;    /* "driver.module": borrowed for good */
	char *looked, *found; /* what was looked at; what there is: sentences without their stops */
	char *advice;         /* what to do; NULL: nothing */
	char *command;        /* to type for that; NULL: there is none */
};

/* All zero to begin with. */
struct tdm_findings {
	struct tdm_finding *list;
	size_t count, cap;
	bool failed; /* memory ran out: some are missing */
};

void tdm_findings_done(struct tdm_findings *findings);

/* Adds one. */
void tdm_findings_add(struct tdm_findings *findings, enum tdm_finding_state state, const char *check,
	const char *looked, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* What to do about the last one. `command` may be NULL. */
void tdm_findings_advise(struct tdm_findings *findings, const char *command, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

size_t tdm_findings_count(const struct tdm_findings *findings, enum tdm_finding_state state);

void tdm_doctor_text(const struct tdm_findings *findings, const struct tdm_term *term, struct tdm_buf *out);
/* The value of the key "doctor". */
void tdm_doctor_json(const struct tdm_findings *findings, struct tdm_json *json);

#endif
