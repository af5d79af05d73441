#include "cli/doctor.h"
#include "cli/doctor_checks.h"
#include "ledger/ledger_list.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tdm_doctor_say(struct tdm_findings *findings, enum tdm_severity severity, const char *check, const char *looked,
	const char *format, ...)
{
	va_list arguments;
	char *sentence;
	tdm_findings_add(findings, TDM_FAMILY_DOCTOR, check, severity);
	tdm_findings_place(findings, "looked_at", looked);
	va_start(arguments, format);
	if (vasprintf(&sentence, format, arguments) >= 0) {
		tdm_findings_say(findings, "%s", sentence);
		free(sentence);
	}
	va_end(arguments);
}

const char *tdm_doctor_variable(const struct tdm_doctor *doctor, const char *name)
{
	size_t len = strlen(name);
	for (size_t i = 0; doctor->environ != NULL && doctor->environ[i] != NULL; i++)
		if (strncmp(doctor->environ[i], name, len) == 0 && doctor->environ[i][len] == '=')
			return doctor->environ[i] + len + 1;
	return NULL;
}

char *tdm_doctor_path(char *dst, size_t cap, const char *root, const char *format, ...)
{
	va_list arguments;
	int used = snprintf(dst, cap, "%s/", root);
	size_t at = used < 0 ? 0 : (size_t)used;
	if (at >= cap)
		return dst;
	va_start(arguments, format);
	vsnprintf(dst + at, cap - at, format, arguments);
	va_end(arguments);
	return dst;
}

const char *tdm_doctor_command(char *dst, size_t cap, const char *word, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-";
	if (path[0] == '\0' || path[0] == '-' || path[strspn(path, plain)] != '\0')
		return NULL;
	int used = snprintf(dst, cap, "%s %s", word, path);
	return used > 0 && (size_t)used < cap ? dst : NULL;
}

int tdm_doctor_init(struct tdm_doctor *doctor, const struct tdm_doctor_options *options)
{
	*doctor = (struct tdm_doctor){
		.sysfs = tdm_host_sysfs_path(options->sysfs),
		.proc = tdm_proc_path(options->proc),
		.shm = tdm_metal_path(options->shm),
		.ledgers = tdm_ledger_dir(options->ledgers),
		.dev = options->dev,
		.server_socket = options->server_socket != NULL ? options->server_socket : TDM_DOCTOR_SERVER_SOCKET,
		.environ = options->environ,
	};
	if (doctor->dev == NULL)
		doctor->dev = tdm_doctor_variable(doctor, "TIDEMARK_DEV_ROOT");
	if (doctor->dev == NULL || doctor->dev[0] == '\0')
		doctor->dev = "/dev";
	const struct tdm_state_options machine = { .ledger_dir = options->ledgers,
		.shm_dir = options->shm,
		.sysfs = options->sysfs,
		.proc = options->proc,
		.no_largest = true };
	const struct tdm_state_options ledgers = {
		.ledger_dir = options->ledgers, .only_ledgers = true, .with_ended = true, .no_largest = true
	};
	doctor->machine = tdm_state_new(&machine);
	doctor->ledger_state = tdm_state_new(&ledgers);
	if (doctor->machine == NULL || doctor->ledger_state == NULL || tdm_state_look(doctor->machine, NULL) == NULL)
		return -ENOMEM;
	doctor->picture = tdm_state_look(doctor->ledger_state, NULL);
	doctor->host = tdm_state_host(doctor->machine);
	doctor->metal = tdm_state_metal(doctor->machine);
	return doctor->picture != NULL ? 0 : -ENOMEM;
}

void tdm_doctor_done(struct tdm_doctor *doctor)
{
	tdm_findings_done(&doctor->findings);
	tdm_state_free(doctor->machine);
	tdm_state_free(doctor->ledger_state);
}

void tdm_doctor_run(struct tdm_doctor *doctor)
{
	for (const struct tdm_doctor_check *check = tdm_doctor_checks; check->name != NULL; check++)
		check->run(doctor);
}

bool tdm_doctor_run_one(struct tdm_doctor *doctor, const char *name)
{
	for (const struct tdm_doctor_check *check = tdm_doctor_checks; check->name != NULL; check++)
		if (strcmp(check->name, name) == 0) {
			check->run(doctor);
			return true;
		}
	return false;
}

const struct tdm_doctor_check tdm_doctor_checks[] = {
	{ "driver.module", tdm_doctor_module },
	{ "driver.cards", tdm_doctor_cards },
	{ "driver.nodes", tdm_doctor_nodes },
	{ "driver.telemetry", tdm_doctor_telemetry },
	{ "driver.users", tdm_doctor_users },
	{ "runtime.regions", tdm_doctor_regions },
	{ "runtime.uncounted", tdm_doctor_uncounted },
	{ "runtime.disabled", tdm_doctor_disabled },
	{ "runtime.socket", tdm_doctor_socket },
	{ "ledgers.directory", tdm_doctor_directory },
	{ "ledgers.unreadable", tdm_doctor_unreadable },
	{ "ledgers.left", tdm_doctor_left },
	{ "ledgers.lost", tdm_doctor_lost },
	{ "ledgers.namespaces", tdm_doctor_namespaces },
	{ "ledgers.figures", tdm_doctor_figures },
	{ "environment.tidemark", tdm_doctor_variables },
	{ "environment.runtime", tdm_doctor_runtime_variables },
	{ "library.loader", tdm_doctor_library },
	{ "library.python", tdm_doctor_python },
	{ "system.clock", tdm_doctor_clock },
	{ "system.membarrier", tdm_doctor_membarrier },
	{ "system.container", tdm_doctor_container },
	{ "system.terminal", tdm_doctor_terminal },
	{ NULL, NULL },
};
