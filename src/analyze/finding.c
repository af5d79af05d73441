#include "analyze/finding.h"
#include "base/reserve.h"
#include "base/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tdm_findings_done(struct tdm_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		free(findings->list[i].text);
	for (size_t i = 0; i < findings->evidence_count; i++)
		free(findings->evidence[i].text);
	for (size_t i = 0; i < findings->advice_count; i++) {
		free(findings->advice[i].text);
		free(findings->advice[i].command);
	}
	free(findings->list);
	free(findings->figures);
	free(findings->evidence);
	free(findings->advice);
	*findings = (struct tdm_findings){ 0 };
}

struct tdm_finding *tdm_findings_add(
	struct tdm_findings *findings, enum tdm_finding_family family, const char *what, enum tdm_severity severity)
{
	static _Thread_local struct tdm_finding nobodys;
	struct tdm_finding *finding = &nobodys;
	if (tdm_reserve(&findings->list, &findings->cap, findings->count + 1, sizeof *findings->list) != 0)
		findings->failed = true;
	else
		finding = &findings->list[findings->count++];
	*finding = (struct tdm_finding){
		.family = (uint8_t)family,
		.severity = (uint8_t)severity,
		.what = what,
		.about = { .device = -1, .kind = TDM_KIND_COUNT, .process = UINT32_MAX, .holding = UINT32_MAX },
		.figures.first = findings->figure_count,
		.evidence.first = findings->evidence_count,
		.advice.first = findings->advice_count,
	};
	return finding;
}

static struct tdm_finding *last(struct tdm_findings *findings)
{
	return findings->count != 0 ? &findings->list[findings->count - 1] : NULL;
}

__attribute__((format(printf, 1, 0))) static char *text_of(const char *format, va_list arguments)
{
	char *text;
	return vasprintf(&text, format, arguments) >= 0 ? text : NULL;
}

void tdm_findings_say(struct tdm_findings *findings, const char *format, ...)
{
	struct tdm_finding *finding = last(findings);
	va_list arguments;
	if (finding == NULL)
		return;
	va_start(arguments, format);
	free(finding->text);
	finding->text = text_of(format, arguments);
	va_end(arguments);
	findings->failed |= finding->text == NULL;
}

static void add_figure(struct tdm_findings *findings, struct tdm_figure figure)
{
	struct tdm_finding *finding = last(findings);
	if (finding == NULL)
		return;
	if (tdm_reserve(&findings->figures, &findings->figure_cap, findings->figure_count + 1, sizeof figure) != 0) {
		findings->failed = true;
		return;
	}
	findings->figures[findings->figure_count++] = figure;
	finding->figures.count++;
}

void tdm_findings_figure(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number)
{
	add_figure(findings, (struct tdm_figure){ .key = key, .unit = (uint8_t)unit, .number = number });
}

void tdm_findings_real(struct tdm_findings *findings, const char *key, enum tdm_unit unit, double real)
{
	add_figure(findings, (struct tdm_figure){ .key = key, .unit = (uint8_t)unit, .is_real = true, .real = real });
}

void tdm_findings_word(struct tdm_findings *findings, const char *key, const char *word)
{
	add_figure(findings, (struct tdm_figure){ .key = key, .unit = TDM_UNIT_WORD, .word = word });
}

static void add_evidence(struct tdm_findings *findings, struct tdm_evidence evidence)
{
	struct tdm_finding *finding = last(findings);
	if (finding == NULL || tdm_reserve(&findings->evidence, &findings->evidence_cap, findings->evidence_count + 1,
				       sizeof evidence) != 0) {
		findings->failed |= finding != NULL;
		free(evidence.text);
		return;
	}
	findings->evidence[findings->evidence_count++] = evidence;
	finding->evidence.count++;
}

void tdm_findings_place(struct tdm_findings *findings, const char *key, const char *text)
{
	char *copy = strdup(text);
	findings->failed |= copy == NULL;
	if (copy != NULL)
		add_evidence(findings, (struct tdm_evidence){ .key = key, .unit = TDM_UNIT_WORD, .text = copy });
}

void tdm_findings_position(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number)
{
	add_evidence(findings, (struct tdm_evidence){ .key = key, .unit = (uint8_t)unit, .number = number });
}

void tdm_findings_advise(struct tdm_findings *findings, const char *command, const char *format, ...)
{
	struct tdm_finding *finding = last(findings);
	va_list arguments;
	if (finding == NULL)
		return;
	if (tdm_reserve(&findings->advice, &findings->advice_cap, findings->advice_count + 1,
		    sizeof *findings->advice) != 0) {
		findings->failed = true;
		return;
	}
	struct tdm_advice *advice = &findings->advice[findings->advice_count++];
	finding->advice.count++;
	va_start(arguments, format);
	*advice = (struct tdm_advice){ text_of(format, arguments), command != NULL ? strdup(command) : NULL, { 0 } };
	va_end(arguments);
	findings->failed |= advice->text == NULL || (command != NULL && advice->command == NULL);
}

void tdm_findings_change(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number)
{
	if (findings->advice_count != 0)
		findings->advice[findings->advice_count - 1].change =
			(struct tdm_figure){ .key = key, .unit = (uint8_t)unit, .number = number };
}

/* Equal ones keep their order: that of their figures, which were added with them. */
static int worst_first(const void *left, const void *right)
{
	const struct tdm_finding *a = left, *b = right;
	if (a->severity != b->severity)
		return b->severity - a->severity;
	if (a->weight < b->weight || a->weight > b->weight)
		return a->weight < b->weight ? 1 : -1;
	int order = tdm_order(b->bytes, a->bytes);
	return order != 0 ? order : tdm_order(a->figures.first, b->figures.first);
}

void tdm_findings_sort(struct tdm_findings *findings)
{
	if (findings->count > 1)
		qsort(findings->list, findings->count, sizeof *findings->list, worst_first);
}

size_t tdm_findings_count(const struct tdm_findings *findings, enum tdm_severity severity)
{
	size_t count = 0;
	for (size_t i = 0; i < findings->count; i++)
		count += findings->list[i].severity == severity;
	return count;
}

const struct tdm_figure *tdm_finding_figure(
	const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key)
{
	for (size_t i = 0; i < finding->figures.count; i++) {
		const struct tdm_figure *figure = &findings->figures[finding->figures.first + i];
		if (strcmp(figure->key, key) == 0)
			return figure;
	}
	return NULL;
}

uint64_t tdm_finding_number(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key)
{
	const struct tdm_figure *figure = tdm_finding_figure(findings, finding, key);
	return figure != NULL && !figure->is_real && figure->unit != TDM_UNIT_WORD ? figure->number : TDM_BYTES_UNKNOWN;
}

double tdm_finding_real(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key)
{
	const struct tdm_figure *figure = tdm_finding_figure(findings, finding, key);
	return figure != NULL && figure->is_real ? figure->real : NAN;
}

void tdm_findings_remark(struct tdm_findings *findings, enum tdm_severity severity, const char *what, const char *label)
{
	tdm_findings_add(findings, TDM_FAMILY_CAPTURE, what, severity)->about.name = label;
}

void tdm_findings_counted(struct tdm_findings *findings, enum tdm_severity severity, const char *what,
	const char *label, uint64_t count, const char *one, const char *many)
{
	char text[TDM_BYTES_CAP];
	if (count == 0)
		return;
	tdm_findings_remark(findings, severity, what, label);
	tdm_findings_figure(findings, "count", TDM_UNIT_COUNT, count);
	tdm_findings_say(findings, "%s %s", tdm_format_count(text, sizeof text, count), count == 1 ? one : many);
}
