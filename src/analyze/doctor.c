#include "analyze/doctor.h"
#include "analyze/doctor_checks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *tdm_doctor_look(struct tdm_doctor *doctor, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(doctor->looked, sizeof doctor->looked, format, arguments);
	va_end(arguments);
	return doctor->looked;
}

struct tdm_findings *tdm_doctor_add(struct tdm_doctor *doctor, int severity)
{
	tdm_findings_add(&doctor->findings, TDM_FAMILY_DOCTOR, doctor->check, (enum tdm_severity)severity);
	tdm_findings_place(&doctor->findings, "looked_at", tdm_str_of(doctor->looked));
	return &doctor->findings;
}

const char *tdm_doctor_command(struct tdm_doctor *doctor, const char *word, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-";
	size_t cap = sizeof doctor->command;
	if (path[0] == '\0' || path[0] == '-' || path[strspn(path, plain)] != '\0')
		return NULL;
	return (size_t)snprintf(doctor->command, cap, "%s %s", word, path) < cap ? doctor->command : NULL;
}

const char *tdm_doctor_variable(const struct tdm_doctor *doctor, const char *name)
{
	size_t len = strlen(name);
	for (size_t i = 0; doctor->environ != NULL && doctor->environ[i] != NULL; i++)
		if (strncmp(doctor->environ[i], name, len) == 0 && doctor->environ[i][len] == '=')
			return doctor->environ[i] + len + 1;
	return NULL;
}

void tdm_doctor_list(struct tdm_buf *list, int32_t pid, const char *comm)
{
	tdm_buf_printf(list, "%s%" PRId32 " (%s)", list->len != 0 ? ", " : "", pid, comm[0] != '\0' ? comm : "?");
}

bool tdm_doctor_run(struct tdm_doctor *doctor, const char *name)
{
	bool found = false;
	for (const struct tdm_doctor_check *check = tdm_doctor_checks; check->name != NULL; check++)
		if (name == NULL || strcmp(check->name, name) == 0) {
			doctor->check = check->name;
			check->run(doctor);
			found = true;
		}
	return found;
}

const struct tdm_doctor_check tdm_doctor_checks[] = {
#define X(group, name) { #group "." #name, tdm_doctor_##group##_##name },
	TDM_DOCTOR_LIST(X)
#undef X
		{ NULL, NULL },
};
