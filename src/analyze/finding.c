#include "analyze/finding.h"
#include "base/reserve.h"
#include "base/units.h"
#include "state/picture.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most bytes of a text that is evidence: texts from files may be long. */
enum { PLACE_MAX = 1 << 14 };

const char *tdm_cause_name(enum tdm_cause cause)
{
	static const char *const names[] = {
#define X(id, name) name,
		TDM_CAUSE_LIST(X)
#undef X
	};
	return names[cause];
}

/* No size is larger than an unknown one. */
enum tdm_cause tdm_cause_of(uint64_t need, uint64_t total, uint64_t free, uint64_t largest_free)
{
	if (need == TDM_BYTES_UNKNOWN)
		return TDM_CAUSE_UNKNOWN;
	if (need > total)
		return TDM_CAUSE_TOO_LARGE;
	if (need > free)
		return TDM_CAUSE_EXHAUSTED;
	return need > largest_free && free != TDM_BYTES_UNKNOWN ? TDM_CAUSE_FRAGMENTED : TDM_CAUSE_UNKNOWN;
}

static bool is_owned(const struct tdm_figure *figure)
{
	return figure->unit == TDM_UNIT_WORD && figure->is_evidence;
}

bool tdm_findings_done(struct tdm_findings *findings)
{
	bool failed = findings->failed;
	for (size_t i = 0; i < findings->count; i++)
		free(findings->list[i].text);
	for (size_t i = 0; i < findings->figure_count; i++)
		if (is_owned(&findings->figures[i]))
			free(findings->figures[i].owned);
	for (size_t i = 0; i < findings->advice_count; i++) {
		free(findings->advice[i].text);
		free(findings->advice[i].command);
	}
	free(findings->list);
	free(findings->figures);
	free(findings->holes);
	free(findings->advice);
	*findings = (struct tdm_findings){ 0 };
	return failed;
}

struct tdm_finding *tdm_findings_add(
	struct tdm_findings *findings, enum tdm_finding_family family, const char *what, enum tdm_severity severity)
{
	static _Thread_local struct tdm_finding nobodys;
	struct tdm_finding *finding = &nobodys;
	findings->failed = findings->failed ||
			   tdm_reserve(&findings->list, &findings->cap, findings->count + 1, sizeof *finding) != 0;
	if (!findings->failed)
		finding = &findings->list[findings->count++];
	*finding = (struct tdm_finding){
		.family = (uint8_t)family,
		.severity = (uint8_t)severity,
		.order = (uint32_t)findings->count,
		.what = what,
		.about = { .device = -1, .kind = TDM_KIND_COUNT, .process = UINT32_MAX, .holding = UINT32_MAX },
		.figures.first = findings->figure_count,
		.holes.first = findings->hole_count,
		.advice.first = findings->advice_count,
	};
	return finding;
}

/* The last finding, with room in one of the lists; NULL when nothing can be added to it. */
static struct tdm_finding *last(struct tdm_findings *findings, void *list, size_t *cap, size_t count, size_t item)
{
	if (findings->count == 0 || findings->failed)
		return NULL;
	findings->failed = list != NULL && tdm_reserve(list, cap, count, item) != 0;
	return findings->failed ? NULL : &findings->list[findings->count - 1];
}

__attribute__((format(printf, 1, 0))) static char *text_of(const char *format, va_list arguments)
{
	char *text;
	return vasprintf(&text, format, arguments) >= 0 ? text : NULL;
}

void tdm_findings_say(struct tdm_findings *findings, const char *format, ...)
{
	struct tdm_finding *finding = last(findings, NULL, NULL, 0, 0);
	va_list arguments;
	if (finding == NULL)
		return;
	va_start(arguments, format);
	free(finding->text);
	finding->text = text_of(format, arguments);
	va_end(arguments);
	findings->failed = finding->text == NULL;
}

static void add_figure(struct tdm_findings *findings, struct tdm_figure figure)
{
	struct tdm_finding *finding =
		last(findings, &findings->figures, &findings->figure_cap, findings->figure_count + 1, sizeof figure);
	if (finding == NULL && is_owned(&figure))
		free(figure.owned);
	if (finding == NULL)
		return;
	findings->figures[findings->figure_count++] = figure;
	finding->figures.count++;
}

void tdm_findings_figure(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number)
{
	add_figure(findings, (struct tdm_figure){ .key = key, .unit = (uint8_t)unit, .number = number });
}

void tdm_findings_position(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number)
{
	add_figure(findings,
		(struct tdm_figure){ .key = key, .unit = (uint8_t)unit, .is_evidence = true, .number = number });
}

void tdm_findings_real(struct tdm_findings *findings, const char *key, enum tdm_unit unit, double real)
{
	add_figure(findings, (struct tdm_figure){ .key = key, .unit = (uint8_t)unit, .real = real });
}

void tdm_findings_word(struct tdm_findings *findings, const char *key, const char *word)
{
	add_figure(findings, (struct tdm_figure){ .key = key, .unit = TDM_UNIT_WORD, .word = word });
}

void tdm_findings_place(struct tdm_findings *findings, const char *key, struct tdm_str text)
{
	static const char cut[] = "...";
	char *copy = text.len != 0 ? strndup(text.ptr, tdm_min(text.len, PLACE_MAX)) : NULL;
	if (copy != NULL && text.len > PLACE_MAX && strlen(copy) == PLACE_MAX)
		memcpy(copy + PLACE_MAX - (sizeof cut - 1), cut, sizeof cut - 1);
	findings->failed |= copy == NULL && text.len != 0;
	add_figure(
		findings, (struct tdm_figure){ .key = key, .unit = TDM_UNIT_WORD, .is_evidence = true, .owned = copy });
}

void tdm_findings_cores(struct tdm_findings *findings, const char *key, const struct tdm_core_range *range)
{
	add_figure(findings, (struct tdm_figure){ .key = key, .unit = TDM_UNIT_CORES, .cores = *range });
}

void tdm_findings_holes(struct tdm_findings *findings, const struct tdm_hole *holes, size_t count)
{
	struct tdm_finding *finding =
		last(findings, &findings->holes, &findings->hole_cap, findings->hole_count + count, sizeof *holes);
	for (size_t i = 0; finding != NULL && i < count; i++, finding->holes.count++)
		findings->holes[findings->hole_count++] = holes[i];
}

void tdm_findings_advise(struct tdm_findings *findings, const char *command, const char *format, ...)
{
	struct tdm_finding *finding = last(findings, &findings->advice, &findings->advice_cap,
		findings->advice_count + 1, sizeof *findings->advice);
	va_list arguments;
	if (finding == NULL)
		return;
	struct tdm_advice *advice = &findings->advice[findings->advice_count++];
	finding->advice.count++;
	va_start(arguments, format);
	*advice = (struct tdm_advice){ text_of(format, arguments), command != NULL ? strdup(command) : NULL, { 0 } };
	va_end(arguments);
	findings->failed = advice->text == NULL || (command != NULL && advice->command == NULL);
}

void tdm_findings_change(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number)
{
	struct tdm_finding *finding = last(findings, NULL, NULL, 0, 0);
	if (finding != NULL && finding->advice.count != 0)
		findings->advice[findings->advice_count - 1].change =
			(struct tdm_figure){ .key = key, .unit = (uint8_t)unit, .number = number };
}

static int worst_first(const void *left, const void *right)
{
	const struct tdm_finding *a = left, *b = right;
	if (a->severity != b->severity)
		return b->severity - a->severity;
	if (a->weight < b->weight || a->weight > b->weight)
		return a->weight < b->weight ? 1 : -1;
	int order = tdm_order(b->bytes, a->bytes);
	return order != 0 ? order : tdm_order(a->order, b->order);
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
	for (size_t i = finding->figures.first; i < finding->figures.first + finding->figures.count; i++)
		if (strcmp(findings->figures[i].key, key) == 0)
			return &findings->figures[i];
	return NULL;
}

uint64_t tdm_finding_number(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key)
{
	const struct tdm_figure *figure = tdm_finding_figure(findings, finding, key);
	return figure != NULL && figure->unit <= TDM_UNIT_FLAG ? figure->number : TDM_BYTES_UNKNOWN;
}

double tdm_finding_real(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key)
{
	const struct tdm_figure *figure = tdm_finding_figure(findings, finding, key);
	bool is_real = figure != NULL && figure->unit >= TDM_UNIT_SHARE && figure->unit <= TDM_UNIT_BYTES_PER_S;
	return is_real ? figure->real : NAN;
}

const char *tdm_finding_word(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key)
{
	const struct tdm_figure *figure = tdm_finding_figure(findings, finding, key);
	return figure != NULL && figure->unit == TDM_UNIT_WORD ? figure->word : NULL;
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

void tdm_about_holding(const struct tdm_picture *picture, uint32_t index, struct tdm_about *about)
{
	const struct tdm_holding *holding = &picture->holdings[index];
	const struct tdm_picture_process *process = &picture->processes[holding->process];
	about->pid = process->pid;
	about->process = holding->process;
	about->holding = index;
	about->comm = process->comm;
	about->ledger = process->ledger;
	about->device = holding->number;
	about->is_virtual = picture->devices[holding->device].is_virtual;
}
