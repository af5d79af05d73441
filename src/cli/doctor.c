#include "cli/doctor.h"
#include "cli/doctor_checks.h"
#include "cli/ledgers.h"
#include "ledger/ledger_list.h"
#include "registry/registry.h"
#include "sources/ledger_source.h"
#include "sources/metal_owners.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* All ledgers, without their buffers: figures and processes are enough. */
static int read_ledgers(struct tdm_doctor *doctor)
{
	const struct tdm_ledger_query query = { .dir = doctor->ledgers };
	struct tdm_diag diag = { 0 };
	doctor->source = tdm_ledger_source_open(&query, &diag);
	if (doctor->source == NULL)
		return 0; /* the check of the directory says why */
	struct tdm_registry *registry = tdm_registry_new();
	int origin = registry != NULL ? tdm_registry_origin(registry, "ledger", TDM_RANK_LEDGER) : -1;
	if (origin >= 0 && tdm_registry_read(registry, (unsigned)origin, doctor->source) == 0)
		doctor->snapshot = tdm_registry_snapshot(registry, 0);
	tdm_registry_free(registry);
	return doctor->snapshot != NULL ? 0 : -ENOMEM;
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
	tdm_proc_root_init(&doctor->proc_root, options->proc);
	const struct tdm_host_options host = { .sysfs = options->sysfs, .proc = options->proc };
	if (tdm_host_read(&doctor->host, &host) == -ENOMEM)
		return -ENOMEM;
	if (tdm_metal_list_read(&doctor->metal, NULL, options->shm) == -ENOMEM)
		return -ENOMEM;
	doctor->proc_root.has_outsiders = tdm_host_has_outsiders(&doctor->host);
	tdm_metal_judge(&doctor->metal, NULL, &doctor->proc_root);
	return read_ledgers(doctor);
}

void tdm_doctor_done(struct tdm_doctor *doctor)
{
	tdm_findings_done(&doctor->findings);
	tdm_proc_root_done(&doctor->proc_root);
	tdm_host_done(&doctor->host);
	tdm_metal_list_done(&doctor->metal);
	tdm_snapshot_free(doctor->snapshot);
	tdm_source_close(doctor->source);
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
