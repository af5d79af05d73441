#include "report/doctor_report.h"
#include "base/reserve.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tdm_finding_state_name(enum tdm_finding_state state)
{
	static const char *const names[TDM_FINDING_STATES] = {
#define X(id, name) [TDM_FINDING_##id] = name,
		TDM_FINDING_LIST(X)
#undef X
	};
	return state < TDM_FINDING_STATES ? names[state] : "unknown";
}

void tdm_findings_done(struct tdm_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->list[i].looked);
		free(findings->list[i].found);
		free(findings->list[i].advice);
		free(findings->list[i].command);
	}
	free(findings->list);
	*findings = (struct tdm_findings){ 0 };
}

__attribute__((format(printf, 1, 0))) static char *text_of(const char *format, va_list arguments)
{
	char *text;
	return vasprintf(&text, format, arguments) >= 0 ? text : NULL;
}

void tdm_findings_add(struct tdm_findings *findings, enum tdm_finding_state state, const char *check,
	const char *looked, const char *format, ...)
{
	va_list arguments;
	if (tdm_reserve(&findings->list, &findings->cap, findings->count + 1, sizeof *findings->list) != 0) {
		findings->failed = true;
		return;
	}
	struct tdm_finding *finding = &findings->list[findings->count];
	*finding = (struct tdm_finding){ .state = state, .check = check, .looked = strdup(looked) };
	va_start(arguments, format);
	finding->found = text_of(format, arguments);
	va_end(arguments);
	if (finding->looked == NULL || finding->found == NULL) {
		free(finding->looked);
		free(finding->found);
		findings->failed = true;
		return;
	}
	findings->count++;
}

void tdm_findings_advise(struct tdm_findings *findings, const char *command, const char *format, ...)
{
	va_list arguments;
	if (findings->count == 0)
		return;
	struct tdm_finding *finding = &findings->list[findings->count - 1];
	va_start(arguments, format);
	free(finding->advice);
	finding->advice = text_of(format, arguments);
	va_end(arguments);
	free(finding->command);
	finding->command = command != NULL ? strdup(command) : NULL;
	findings->failed |= finding->advice == NULL || (command != NULL && finding->command == NULL);
}

size_t tdm_findings_count(const struct tdm_findings *findings, enum tdm_finding_state state)
{
	size_t count = 0;
	for (size_t i = 0; i < findings->count; i++)
		count += findings->list[i].state == state;
	return count;
}
