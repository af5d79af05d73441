/* The checks of `tidemark doctor`: one function each, in one table. All input is read before the first check runs. Each
 * check judges the input and adds at least one finding. */
#ifndef TDM_ANALYZE_DOCTOR_H
#define TDM_ANALYZE_DOCTOR_H

#include <limits.h>

#include "base/term.h"
#include "live/setup/setup.h"
#include "model/result/result.h"

struct tdm_doctor {
	const struct tdm_setup *setup; /* borrowed, as is the next member */
	char *const *environ;          /* "NAME=value", ends with NULL */
	struct tdm_term term;
	/* The preload for tt-metal: its path, the places searched, why it cannot be used ("" if it can), and the
	 * remedy. NULL if it was not searched for. */
	const char *preload, *preload_looked, *preload_reason, *preload_remedy;
	struct tdm_findings findings; /* the caller releases them */

	/* The running check: its name, the place being examined, and the last command advised. */
	const char *check;
	char looked[2 * PATH_MAX + TDM_SETUP_TEXT_CAP], command[PATH_MAX + TDM_SETUP_TEXT_CAP];
};

struct tdm_doctor_check {
	const char *name; /* such as "driver.module" */
	void (*run)(struct tdm_doctor *doctor);
};
extern const struct tdm_doctor_check tdm_doctor_checks[]; /* ends with a NULL name */

/* Runs the check with this name, or all checks for NULL. Returns false if there is no such check. */
bool tdm_doctor_run(struct tdm_doctor *doctor, const char *name);

/*
 * For an unmodified tt-metal in a library, a program or a running process, adds findings about which topics the preload
 * can see, which it cannot see, and why. `topics` ends with NULL. missing() returns the function whose absence hides a
 * topic, or NULL; `present` contains an entry for each function.
 */
void tdm_doctor_metal(struct tdm_doctor *doctor, const struct tdm_metal_setup *setup, const char *const *topics,
	const char *(*missing)(size_t topic, const bool *present));

/* Shows the findings, grouped by the part of the name before the dot, with a count for each severity. If `metal` is not
 * NULL, also shows the functions. Both are borrowed. */
void tdm_doctor_show(struct tdm_block *top, const struct tdm_findings *findings, const struct tdm_metal_setup *metal);

/* ---- used by the checks ---- */

extern const char *const tdm_doctor_verdicts[TDM_SEVERITIES];

void tdm_doctor_ledgers_directory(struct tdm_doctor *doctor);
void tdm_doctor_ledgers_unreadable(struct tdm_doctor *doctor);
void tdm_doctor_ledgers_left(struct tdm_doctor *doctor);
void tdm_doctor_ledgers_lost(struct tdm_doctor *doctor);
void tdm_doctor_ledgers_settings(struct tdm_doctor *doctor);
void tdm_doctor_ledgers_namespaces(struct tdm_doctor *doctor);
void tdm_doctor_ledgers_figures(struct tdm_doctor *doctor);

/* Sets the place being examined, which applies to all later findings. Returns the place. */
const char *tdm_doctor_look(struct tdm_doctor *doctor, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct tdm_findings *tdm_doctor_add(struct tdm_doctor *doctor, int severity);

/* A command "word path" for the user to type; borrowed until the next call. NULL if a shell would interpret characters
 * in the path: a name chosen by somebody else must not become a command. */
const char *tdm_doctor_shell(struct tdm_doctor *doctor, const char *word, const char *path);

/* Functions that add a finding with a given severity; that add advice to the last finding, with a command to type or
 * NULL; or that do both. */
enum { OK = TDM_FINDING_OK, INFO = TDM_FINDING_INFO, WARNING = TDM_FINDING_WARNING, BROKEN = TDM_FINDING_BROKEN };
#define look(...)                  tdm_doctor_look(__VA_ARGS__)
#define say(doctor, severity, ...) tdm_findings_say(tdm_doctor_add(doctor, severity), __VA_ARGS__)
#define advise(doctor, ...)        tdm_findings_advise(&(doctor)->findings, __VA_ARGS__)
#define tell(doctor, severity, command, advice, ...) \
	(say(doctor, severity, __VA_ARGS__), advise(doctor, command, "%s", advice))

#endif
