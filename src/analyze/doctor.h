/* The checks of `tidemark doctor`: one function each, in one table. All input is read before the first check runs. A
 * check judges it and adds one finding or more. */
#ifndef TDM_ANALYZE_DOCTOR_H
#define TDM_ANALYZE_DOCTOR_H

#include <limits.h>

#include "analyze/finding.h"
#include "base/term.h"
#include "state/setup.h"

struct tdm_doctor {
	const struct tdm_setup *setup; /* borrowed, like the next */
	char *const *environ;          /* "NAME=value", ends with NULL */
	struct tdm_term term;
	/* The preload for tt-metal: where it is, where it was looked for, why it cannot be used (empty: it can), and
	 * what to do then. NULL: nobody looked. */
	struct {
		const char *path, *looked, *reason, *remedy;
	} preload;
	struct tdm_findings findings; /* the caller releases them */

	/* Of the running check: its name, where it looks, and the last command that it advises. */
	const char *check;
	char looked[2 * PATH_MAX + TDM_PROBE_TEXT_CAP], command[PATH_MAX + TDM_PROBE_TEXT_CAP];
};

struct tdm_doctor_check {
	const char *name; /* "driver.module" */
	void (*run)(struct tdm_doctor *doctor);
};
extern const struct tdm_doctor_check tdm_doctor_checks[]; /* ends with a NULL name */

/* The check of this name; NULL: all of them. False: there is no such check. */
bool tdm_doctor_run(struct tdm_doctor *doctor, const char *name);

#endif
