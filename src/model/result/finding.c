/*
 * The figures, holes and advice of all findings are three shared lists, and a finding has a range of each. So items can
 * only be added to the last finding, and sorting moves findings without their lists. Strings that the findings own are
 * copied when they are added.
 */
#include "model/result/finding.h"
#include "base/memory.h"
#include "base/units.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest string kept as evidence, in bytes: strings from files may be long. */
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

/* An unknown size (UINT64_MAX) never makes `need` too large: no size exceeds it. */
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

void tdm_findings_done(struct tdm_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		free(findings->list[i].text);
	for (size_t i = 0; i < findings->figure_count; i++)
		if (findings->figures[i].is_owned)
			free((char *)(uintptr_t)findings->figures[i].value.text.ptr);
	for (size_t i = 0; i < findings->advice_count; i++) {
		free(findings->advice[i].text);
		free(findings->advice[i].command);
	}
	free(findings->list);
	free(findings->figures);
	free(findings->holes);
	free(findings->advice);
	*findings = (struct tdm_findings){ 0 };
}

struct tdm_finding *tdm_findings_add(
	struct tdm_findings *findings, enum tdm_finding_family family, const char *what, enum tdm_severity severity)
{
	tdm_grow(&findings->list, &findings->cap, findings->count + 1, sizeof *findings->list);
	struct tdm_finding *finding = &findings->list[findings->count++];
	*finding = (struct tdm_finding){
		.family = (uint8_t)family,
		.severity = (uint8_t)severity,
		.order = (uint32_t)findings->count,
		.what = what,
		.about = { .device = -1, .kind = TDM_KIND_COUNT, .process = UINT32_MAX, .holding = UINT32_MAX },
		.first_figure = findings->figure_count,
		.first_hole = findings->hole_count,
		.first_advice = findings->advice_count,
	};
	return finding;
}

/* Figures, holes and advice belong to the finding that was added last. */
static struct tdm_finding *last(struct tdm_findings *findings)
{
	assert(findings->count != 0);
	return &findings->list[findings->count - 1];
}

void tdm_findings_say(struct tdm_findings *findings, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	free(last(findings)->text);
	last(findings)->text = tdm_vprinted(format, arguments);
	va_end(arguments);
}

static void add_figure(struct tdm_findings *findings, struct tdm_figure figure)
{
	tdm_grow(&findings->figures, &findings->figure_cap, findings->figure_count + 1, sizeof figure);
	findings->figures[findings->figure_count++] = figure;
	last(findings)->figure_count++;
}

void tdm_findings_value(struct tdm_findings *findings, const char *key, struct tdm_value value)
{
	add_figure(findings, (struct tdm_figure){ .key = key, .value = value });
}

void tdm_findings_figure(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number)
{
	struct tdm_value value = tdm_value_of(number, unit);
	if (unit == TDM_UNIT_CHANGE) /* a change is always known */
		value = (struct tdm_value){
			.type = TDM_VALUE_SIGNED, .unit = TDM_UNIT_CHANGE, .integer = (int64_t)number
		};
	tdm_findings_value(findings, key, value);
}

void tdm_findings_flag(struct tdm_findings *findings, const char *key, bool flag)
{
	tdm_findings_value(findings, key, tdm_value_bool(flag));
}

void tdm_findings_real(struct tdm_findings *findings, const char *key, enum tdm_unit unit, double real)
{
	tdm_findings_value(findings, key, tdm_value_real(real, unit));
}

void tdm_findings_word(struct tdm_findings *findings, const char *key, const char *word)
{
	tdm_findings_value(findings, key, tdm_value_text(word));
}

void tdm_findings_cores(struct tdm_findings *findings, const char *key, const struct tdm_core_range *range)
{
	struct tdm_value value = { .type = TDM_VALUE_CORES, .cores = { range->x0, range->y0, range->x1, range->y1 } };
	tdm_findings_value(findings, key, tdm_value_if(tdm_core_range_is_valid(range), value));
}

void tdm_findings_position(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number)
{
	add_figure(
		findings, (struct tdm_figure){ .key = key, .is_evidence = true, .value = tdm_value_of(number, unit) });
}

void tdm_findings_place(struct tdm_findings *findings, const char *key, struct tdm_str text)
{
	static const char cut[] = "...";
	char *copy = text.len != 0 ? tdm_strndup(text.ptr, tdm_min(text.len, PLACE_MAX)) : NULL;
	if (copy != NULL && text.len > PLACE_MAX && strlen(copy) == PLACE_MAX)
		memcpy(copy + PLACE_MAX - (sizeof cut - 1), cut, sizeof cut - 1);
	add_figure(findings,
		(struct tdm_figure){
			.key = key, .is_evidence = true, .is_owned = copy != NULL, .value = tdm_value_text(copy) });
}

void tdm_findings_label(struct tdm_findings *findings, const char *label)
{
	assert(last(findings)->figure_count != 0);
	findings->figures[findings->figure_count - 1].label = label;
}

void tdm_findings_holes(struct tdm_findings *findings, const struct tdm_hole *holes, size_t count)
{
	tdm_grow(&findings->holes, &findings->hole_cap, findings->hole_count + count, sizeof *holes);
	for (size_t i = 0; i < count; i++)
		findings->holes[findings->hole_count++] = holes[i];
	last(findings)->hole_count += count;
}

void tdm_findings_advise(struct tdm_findings *findings, const char *command, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	tdm_grow(&findings->advice, &findings->advice_cap, findings->advice_count + 1, sizeof *findings->advice);
	findings->advice[findings->advice_count++] =
		(struct tdm_advice){ tdm_vprinted(format, arguments), tdm_strdup(command), { 0 } };
	last(findings)->advice_count++;
	va_end(arguments);
}

void tdm_findings_change(struct tdm_findings *findings, const char *key, enum tdm_unit unit, uint64_t number)
{
	if (last(findings)->advice_count != 0)
		findings->advice[findings->advice_count - 1].change =
			(struct tdm_figure){ .key = key, .value = tdm_value_of(number, unit) };
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
	for (size_t i = finding->first_figure; i < finding->first_figure + finding->figure_count; i++)
		if (strcmp(findings->figures[i].key, key) == 0)
			return &findings->figures[i];
	return NULL;
}

uint64_t tdm_finding_number(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key)
{
	const struct tdm_figure *figure = tdm_finding_figure(findings, finding, key);
	if (figure == NULL || figure->value.type > TDM_VALUE_BOOL || figure->value.type == TDM_VALUE_REAL)
		return TDM_BYTES_UNKNOWN;
	return figure->value.type == TDM_VALUE_UNKNOWN ? TDM_BYTES_UNKNOWN
	       : figure->value.type == TDM_VALUE_BOOL  ? figure->value.yes
						       : figure->value.number;
}

double tdm_finding_real(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key)
{
	const struct tdm_figure *figure = tdm_finding_figure(findings, finding, key);
	return figure != NULL && figure->value.type == TDM_VALUE_REAL ? figure->value.real : (double)NAN;
}

const char *tdm_finding_word(const struct tdm_findings *findings, const struct tdm_finding *finding, const char *key)
{
	const struct tdm_figure *figure = tdm_finding_figure(findings, finding, key);
	return figure != NULL && figure->value.type == TDM_VALUE_TEXT ? figure->value.text.ptr : NULL;
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

/* ---- holes in memory ---- */

static struct tdm_value get_bound(const struct tdm_field *field)
{
	const struct tdm_hole *hole = field->row;
	const struct tdm_hole_bound *bound = field->column->arg % 2 == 0 ? &hole->below : &hole->above;
	char size[TDM_BYTES_CAP];
	if (field->column->arg < 2)
		return bound->is_buffer ? tdm_field_printed(field, "%s (%s)", bound->name.text,
						  tdm_format_bytes_short(size, sizeof size, bound->bytes))
					: tdm_value_text("end of region");
	if (!bound->is_buffer)
		return tdm_value_text(NULL);
	return field->column->arg < 4 ? tdm_value_text(bound->name.text) : tdm_value_number(bound->bytes);
}

#define HOLE(member) TDM_MEMBER(struct tdm_hole, member)
static const struct tdm_column hole_columns[] = {
	{ "hole at", "address", HOLE(address) },
	{ "size", "bytes", HOLE(size), TDM_BYTES },
	{ "buffer below", NULL, .get = get_bound, .arg = 0 },
	{ "buffer above", NULL, .get = get_bound, .arg = 1 },
	{ NULL, "below.name", .get = get_bound, .arg = 2 },
	{ NULL, "below.bytes", .get = get_bound, .arg = 4 },
	{ NULL, "above.name", .get = get_bound, .arg = 3 },
	{ NULL, "above.bytes", .get = get_bound, .arg = 5 },
};

struct tdm_table tdm_holes_table(const struct tdm_hole *holes, size_t count)
{
	return TDM_FITTED(hole_columns, holes, count);
}

/* ---- sentences ---- */

enum { ABOUT_VALUES = 5 };

void tdm_finding_sentence_put(const struct tdm_findings *all, const struct tdm_finding *finding, struct tdm_buf *out)
{
	size_t count = 0;
	size_t start = out->len;
	if (finding->title != NULL)
		tdm_buf_printf(out, "%s: ", finding->title);
	size_t head = out->len;
	if (finding->pattern == NULL) {
		tdm_buf_puts(out, finding->text != NULL ? finding->text : "");
		return;
	}
	struct tdm_named *values = tdm_zalloc(finding->figure_count + ABOUT_VALUES, sizeof *values);
	const struct tdm_about *about = &finding->about;
	for (size_t i = 0; i < finding->figure_count; i++) {
		const struct tdm_figure *figure = &all->figures[finding->first_figure + i];
		values[count++] = (struct tdm_named){ figure->key, figure->value };
	}
	values[count++] = (struct tdm_named){ "name", tdm_value_name(about->name) };
	values[count++] = (struct tdm_named){ "kind", tdm_value_kind(about->kind) };
	values[count++] = (struct tdm_named){ "device",
		tdm_value_if(about->device >= 0, tdm_value_number((uint64_t)about->device)) };
	values[count++] =
		(struct tdm_named){ "pid", tdm_value_if(about->pid != 0, tdm_value_number((uint64_t)about->pid)) };
	values[count++] = (struct tdm_named){ "comm", tdm_value_name(about->comm) };
	tdm_sentence_put(out, finding->pattern, values, count);
	if (out->len == head && head != start) /* without the colon */
		out->len -= 2;
	free(values);
}
