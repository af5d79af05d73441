/*
 * The checks of `tidemark doctor`: one function each, in one table. What several of them look at is read once, before
 * the first. A check adds one finding or more and changes nothing on the machine.
 */
#ifndef TDM_CLI_DOCTOR_H
#define TDM_CLI_DOCTOR_H

#include "analyze/finding.h"
#include "state/state.h"

/* Where the server of instrumented runtimes listens; no variable changes it there. */
#define TDM_DOCTOR_SERVER_SOCKET "/tmp/tt_allocation_server.sock"

struct tdm_doctor_options {
	/* NULL: as the commands do, by their variables, else the system's own place; of `dev`: $TIDEMARK_DEV_ROOT */
	const char *sysfs, *proc, *dev, *shm, *ledgers, *server_socket;
	char *const *environ; /* "NAME=value", ends with NULL */
};

struct tdm_doctor {
	struct tdm_findings findings;
	const char *sysfs, *proc, *dev, *shm, *ledgers, *server_socket;
	char *const *environ;
	struct tdm_state *machine, *ledger_state;
	const struct tdm_picture *picture; /* of the ledgers alone, whoever wins; ended processes are in it */
	const struct tdm_host *host;
	const struct tdm_metal_list *metal;
};

struct tdm_doctor_check {
	const char *name; /* "driver.module" */
	void (*run)(struct tdm_doctor *doctor);
};
extern const struct tdm_doctor_check tdm_doctor_checks[]; /* ends with a NULL name */

/* Reads what the checks look at. 0 or -ENOMEM; to be released in either case. */
int tdm_doctor_init(struct tdm_doctor *doctor, const struct tdm_doctor_options *options);
void tdm_doctor_done(struct tdm_doctor *doctor);

/* All checks; or one, by its name. False: there is no such check. */
void tdm_doctor_run(struct tdm_doctor *doctor);
bool tdm_doctor_run_one(struct tdm_doctor *doctor, const char *name);

/* Adds a finding: what was looked at, and what there is. */
void tdm_doctor_say(struct tdm_findings *findings, enum tdm_severity severity, const char *check, const char *looked,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The value of a variable, or NULL. */
const char *tdm_doctor_variable(const struct tdm_doctor *doctor, const char *name);

/* "root/rest", cut at the capacity. Returns dst. */
char *tdm_doctor_path(char *dst, size_t cap, const char *root, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* "word path", for the reader to type; NULL when the path has characters that a shell would not leave alone: a name
 * that somebody else chose must not become a command. Returns dst. */
const char *tdm_doctor_command(char *dst, size_t cap, const char *word, const char *path);

#endif
