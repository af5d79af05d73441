#include "view/metrics/metrics_text.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void tdm_metrics_begin(struct tdm_metrics_text *text, struct tdm_buf *out, bool is_openmetrics)
{
	*text = (struct tdm_metrics_text){ .out = out, .is_openmetrics = is_openmetrics };
}

void tdm_metrics_end(struct tdm_metrics_text *text)
{
	if (text->is_openmetrics)
		tdm_buf_puts(text->out, "# EOF\n");
}

void tdm_metrics_family(struct tdm_metrics_text *text, const char *name, enum tdm_metric_type type, const char *help)
{
	/* The last word of a name, if it is a unit. */
	static const char *const units[] = { "bytes", "seconds", "ratio", "celsius", "watts", "millivolts", "milliamps",
		"mhz", "rpm", "megabytes" };
	const char *last = strrchr(name, '_');
	text->name = name;
	text->unit = NULL;
	for (size_t i = 0; last != NULL && i < sizeof units / sizeof *units; i++)
		if (strcmp(last + 1, units[i]) == 0)
			text->unit = units[i];
	text->type = type;
	text->help = help;
	text->has_head = false;
}

static const char *sample_suffix(enum tdm_metric_type type)
{
	return type == TDM_METRIC_COUNTER ? "_total" : type == TDM_METRIC_INFO ? "_info" : "";
}

/* Appends one character; those in `marks` get a backslash. */
static void put_escaped(struct tdm_buf *out, const char *at, size_t len, const char *marks)
{
	if (*at == '\n' || strchr(marks, *at) != NULL)
		tdm_buf_printf(out, "\\%c", *at == '\n' ? 'n' : *at);
	else
		tdm_buf_add(out, at, len);
}

/* Begins a sample, "name{labels} ", after the family's head. */
static void begin_sample(struct tdm_metrics_text *text, const char *labels)
{
	static const char *const open[] = { "gauge", "counter", "info" }, *const plain[] = { "gauge", "counter",
		"gauge" };
	const char *suffix = sample_suffix(text->type), *in_head = text->is_openmetrics ? "" : suffix;
	if (!text->has_head) {
		tdm_buf_printf(text->out, "# HELP %s%s ", text->name, in_head);
		for (const char *help = text->help; *help != '\0'; help++)
			put_escaped(text->out, help, 1, "\\");
		tdm_buf_printf(text->out, "\n# TYPE %s%s %s\n", text->name, in_head,
			(text->is_openmetrics ? open : plain)[text->type]);
		if (text->is_openmetrics && text->unit != NULL)
			tdm_buf_printf(text->out, "# UNIT %s %s\n", text->name, text->unit);
		text->has_head = true;
	}
	tdm_buf_puts(text->out, text->name);
	tdm_buf_puts(text->out, suffix);
	if (labels != NULL && labels[0] != '\0') {
		tdm_buf_putc(text->out, '{');
		tdm_buf_puts(text->out, labels);
		tdm_buf_putc(text->out, '}');
	}
	tdm_buf_putc(text->out, ' ');
	text->samples++;
}

void tdm_metrics_real(struct tdm_metrics_text *text, const char *labels, double value)
{
	if (!isfinite(value))
		return;
	begin_sample(text, labels);
	tdm_buf_printf(text->out, "%.10g\n", value);
}

void tdm_metrics_u64(struct tdm_metrics_text *text, const char *labels, uint64_t value)
{
	if (value == TDM_BYTES_UNKNOWN)
		return;
	if (text->unit != NULL && strcmp(text->unit, "seconds") == 0) {
		tdm_metrics_real(text, labels, (double)value / 1e9);
		return;
	}
	char digits[21];
	size_t at = sizeof digits;
	begin_sample(text, labels);
	digits[--at] = '\n';
	do
		digits[--at] = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	tdm_buf_add(text->out, digits + at, sizeof digits - at);
}

void tdm_metrics_list(struct tdm_metrics_text *text, const struct tdm_metric *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || strcmp(list[i].name, list[i - 1].name) != 0)
			tdm_metrics_family(text, list[i].name, list[i].type, list[i].help);
		tdm_metrics_u64(text, list[i].labels, list[i].value);
	}
}

void tdm_metrics_label(struct tdm_buf *labels, const char *name, const char *value)
{
	size_t left = strlen(value), shown = 0;
	if (left == 0)
		return;
	bool is_cut = left > TDM_METRIC_LABEL_MAX;
	size_t cap = TDM_METRIC_LABEL_MAX - (is_cut ? strlen(TDM_METRIC_CUT) : 0);
	tdm_buf_printf(labels, "%s%s=\"", labels->len != 0 ? "," : "", name);
	while (left != 0) {
		struct tdm_glyph glyph = tdm_str_glyph(value, left);
		size_t len = tdm_str_utf8(value, left), out = len == 0 ? 3 : glyph.ch == 0 ? glyph.len : len;
		if (out > cap - shown)
			break;
		if (len == 0)
			tdm_buf_puts(labels, "\xef\xbf\xbd");
		else if (glyph.ch == 0)
			tdm_buf_printf(labels, "\\%s", glyph.text);
		else
			put_escaped(labels, value, len, "\"\\");
		shown += out;
		len += len == 0;
		value += len;
		left -= len;
	}
	tdm_buf_puts(labels, left != 0 ? TDM_METRIC_CUT "\"" : "\"");
}

const char *tdm_metrics_content_type(bool is_openmetrics)
{
	return is_openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
			      : "text/plain; version=0.0.4; charset=utf-8";
}

/*
 * The weight ("q", default 1) of the media range in an Accept header that matches a type most closely, such as
 * "text/plain;version=0.0.4;q=0.5". `names`: the type's names, from the loosest to the exact one. *has_own is set if
 * the header contains the exact name.
 */
static double preference(const char *accept, const char *const names[3], bool *has_own)
{
	int closest = -1;
	double most = 0;
	while (accept != NULL && *accept != '\0') {
		size_t len = strcspn(accept, ",");
		char range[128];
		struct tdm_str part = tdm_str_trim((struct tdm_str){ accept, len });
		snprintf(range, sizeof range, "%.*s", TDM_STR_ARG(part));
		double weight = 1;
		for (const char *at = range; (at = strchr(at, ';')) != NULL;) {
			at += 1 + strspn(at + 1, " ");
			if (strncasecmp(at, "q=", 2) != 0)
				continue;
			weight = strtod(at + 2, NULL);
			weight = weight >= 0 && weight <= 1 ? weight : 0;
			break;
		}
		int close = 2;
		range[strcspn(range, "; \t")] = '\0';
		while (close >= 0 && strcasecmp(range, names[close]) != 0)
			close--;
		if (close > closest || (close >= 0 && close == closest && weight > most)) {
			closest = close;
			most = weight;
		}
		accept += len + (accept[len] == ',');
	}
	*has_own = closest == 2;
	return most;
}

bool tdm_metrics_accepts_openmetrics(const char *accept)
{
	static const char *const open_names[] = { "*/*", "application/*", "application/openmetrics-text" },
				 *const plain_names[] = { "*/*", "text/*", "text/plain" };
	bool names_open, names_plain;
	double open = preference(accept, open_names, &names_open),
	       plain = preference(accept, plain_names, &names_plain);
	return names_open && open > 0 && open >= plain;
}
