/* All checks, for the table in doctor.c, and what they share. The comment at a check's definition says what it looks
 * at. */
#ifndef TDM_ANALYZE_DOCTOR_CHECKS_H
#define TDM_ANALYZE_DOCTOR_CHECKS_H

#include "analyze/doctor.h"
#include "base/buf.h"

/* group, name: in the order of the report */
#define TDM_DOCTOR_LIST(X)       \
	X(driver, module)        \
	X(driver, cards)         \
	X(driver, nodes)         \
	X(driver, telemetry)     \
	X(driver, users)         \
	X(runtime, regions)      \
	X(runtime, uncounted)    \
	X(runtime, disabled)     \
	X(runtime, socket)       \
	X(ledgers, directory)    \
	X(ledgers, unreadable)   \
	X(ledgers, left)         \
	X(ledgers, lost)         \
	X(ledgers, settings)     \
	X(ledgers, namespaces)   \
	X(ledgers, figures)      \
	X(environment, tidemark) \
	X(environment, runtime)  \
	X(library, loader)       \
	X(library, python)       \
	X(library, preload)      \
	X(system, clock)         \
	X(system, membarrier)    \
	X(system, container)     \
	X(system, terminal)

#define X(group, name) void tdm_doctor_##group##_##name(struct tdm_doctor *doctor);
TDM_DOCTOR_LIST(X)
#undef X

/* Sets where the check looks, for all findings that follow. Returns it. */
const char *tdm_doctor_look(struct tdm_doctor *doctor, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Add a finding of a severity; and advice to the last one, with a command to type or NULL. */
enum { OK = TDM_FINDING_OK, INFO = TDM_FINDING_INFO, WARNING = TDM_FINDING_WARNING, BROKEN = TDM_FINDING_BROKEN };
#define tdm_doctor_say(doctor, severity, ...) tdm_findings_say(tdm_doctor_add(doctor, severity), __VA_ARGS__)
#define tdm_doctor_advise(doctor, ...)        tdm_findings_advise(&(doctor)->findings, __VA_ARGS__)
struct tdm_findings *tdm_doctor_add(struct tdm_doctor *doctor, int severity);

/* "word path", for the user to type; borrowed until the next call. NULL when a shell would interpret characters of the
 * path: a name that somebody else chose must not become a command. */
const char *tdm_doctor_command(struct tdm_doctor *doctor, const char *word, const char *path);

/* The value of a variable, or NULL. */
const char *tdm_doctor_variable(const struct tdm_doctor *doctor, const char *name);

/* Adds "PID (name)" to a list of processes. */
void tdm_doctor_list(struct tdm_buf *list, int32_t pid, const char *comm);

#endif
