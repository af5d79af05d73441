#include "report/metrics_text.h"
#include "base/number.h"

#include <stdlib.h>
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

void tdm_metrics_family(struct tdm_metrics_text *text, const struct tdm_metric_family *family)
{
	text->family = *family;
	text->has_head = false;
}

static const char *sample_suffix(enum tdm_metric_type type)
{
	return type == TDM_METRIC_COUNTER ? "_total" : type == TDM_METRIC_INFO ? "_info" : "";
}

/* HELP escapes what would end or bend the line. */
static void put_help(struct tdm_buf *out, const char *help)
{
	for (; *help != '\0'; help++)
		if (*help == '\n')
			tdm_buf_puts(out, "\\n");
		else if (*help == '\\')
			tdm_buf_puts(out, "\\\\");
		else
			tdm_buf_putc(out, *help);
}

static void put_head(struct tdm_metrics_text *text)
{
	static const char *const open[] = { "gauge", "counter", "info" }, *const plain[] = { "gauge", "counter",
		"gauge" };
	const struct tdm_metric_family *family = &text->family;
	const char *suffix = text->is_openmetrics ? "" : sample_suffix(family->type);
	tdm_buf_printf(text->out, "# HELP %s%s ", family->name, suffix);
	put_help(text->out, family->help);
	tdm_buf_printf(text->out, "\n# TYPE %s%s %s\n", family->name, suffix,
		(text->is_openmetrics ? open : plain)[family->type]);
	if (text->is_openmetrics && family->unit != NULL)
		tdm_buf_printf(text->out, "# UNIT %s %s\n", family->name, family->unit);
	text->has_head = true;
}

/* "name{labels} " */
static void begin_sample(struct tdm_metrics_text *text, const char *labels)
{
	if (!text->has_head)
		put_head(text);
	tdm_buf_puts(text->out, text->family.name);
	tdm_buf_puts(text->out, sample_suffix(text->family.type));
	if (labels != NULL && labels[0] != '\0') {
		tdm_buf_putc(text->out, '{');
		tdm_buf_puts(text->out, labels);
		tdm_buf_putc(text->out, '}');
	}
	tdm_buf_putc(text->out, ' ');
	text->samples++;
}

void tdm_metrics_u64(struct tdm_metrics_text *text, const char *labels, uint64_t value)
{
	if (value == TDM_BYTES_UNKNOWN)
		return;
	char digits[21];
	size_t at = sizeof digits;
	begin_sample(text, labels);
	digits[--at] = '\n';
	do
		digits[--at] = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	tdm_buf_add(text->out, digits + at, sizeof digits - at);
}

void tdm_metrics_real(struct tdm_metrics_text *text, const char *labels, double value)
{
	if (!isfinite(value))
		return;
	begin_sample(text, labels);
	tdm_buf_printf(text->out, "%.10g\n", value);
}

/* One character of a value, which is valid UTF-8. */
static void put_character(struct tdm_buf *labels, const char *at, size_t len)
{
	if (*at == '\n')
		tdm_buf_puts(labels, "\\n");
	else if (*at == '"' || *at == '\\')
		tdm_buf_printf(labels, "\\%c", *at);
	else
		tdm_buf_add(labels, at, len);
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
		size_t len = tdm_str_utf8(value, left), out = len != 0 ? len : 3;
		if (out > cap - shown)
			break;
		if (len != 0)
			put_character(labels, value, len);
		else
			tdm_buf_puts(labels, "\xef\xbf\xbd");
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

/* The weight of a range such as "text/plain;version=0.0.4;q=0.5"; 1 without one. */
static double weight_of(struct tdm_str range)
{
	for (size_t i = 0; i + 2 < range.len; i++)
		if (range.ptr[i] == ';') {
			size_t at = i + 1;
			while (at < range.len && range.ptr[at] == ' ')
				at++;
			if (at + 2 < range.len && (range.ptr[at] | 0x20) == 'q' && range.ptr[at + 1] == '=') {
				char digits[8] = "";
				size_t len = range.len - at - 2;
				memcpy(digits, range.ptr + at + 2, len < sizeof digits - 1 ? len : sizeof digits - 1);
				double weight = strtod(digits, NULL);
				return weight >= 0 && weight <= 1 ? weight : 0;
			}
		}
	return 1;
}

static bool is_type(struct tdm_str range, const char *type)
{
	size_t len = strlen(type);
	return range.len >= len && strncasecmp(range.ptr, type, len) == 0 &&
	       (range.len == len || strchr("; \t", range.ptr[len]) != NULL);
}

/* The weight of the range in the header that names a type most closely. `names`: the type, from the loosest name to its
 * own. *has_own: that one is in the header. */
static double preference(const char *accept, const char *const names[3], bool *has_own)
{
	int closest = -1;
	double most = 0;
	while (accept != NULL && *accept != '\0') {
		size_t len = strcspn(accept, ",");
		struct tdm_str range = tdm_str_trim((struct tdm_str){ accept, len });
		double weight = weight_of(range);
		int close = 2;
		while (close >= 0 && !is_type(range, names[close]))
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
