/* Two logs side by side: each figure of both, and the difference. */
#include "report/log_report.h"
#include "analyze/log_pressure.h"
#include "base/duration.h"
#include "base/units.h"
#include "report/cell.h"
#include "report/finding_report.h"
#include "report/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { METRICS_MAX = 320, NAME_COLUMNS = 30, FIGURE_COLUMNS = 14 };

enum unit { COUNT, BYTES, PER_CENT, SCORE, NS };

/* One figure of both logs; NAN: unknown. Whole numbers up to 2^53 are exact. */
struct metric {
	char name[48];
	const char *key;
	uint8_t unit;
	double a, b;
};

struct metrics {
	struct metric rows[METRICS_MAX];
	size_t count;
	bool failed; /* out of memory */
};

static double known_if(uint64_t count, uint64_t value)
{
	return count == 0 || value == TDM_LOG_UNKNOWN ? (double)NAN : (double)value;
}

static double known(uint64_t value)
{
	return known_if(1, value);
}

static void add(struct metrics *m, enum unit unit, double a, double b, const char *key, const char *name)
{
	if (m->count == METRICS_MAX || (isnan(a) && isnan(b)))
		return;
	struct metric *row = &m->rows[m->count++];
	*row = (struct metric){ .key = key, .unit = (uint8_t)unit, .a = a, .b = b };
	tdm_str_shown(tdm_str_of(name), row->name, sizeof row->name);
}

static const struct tdm_log_cb *find_cb(const struct tdm_log_profile *p, uint32_t cb)
{
	const struct tdm_log_cb *rows = p->cbs.rows;
	for (size_t i = 0; i < p->cbs.count; i++)
		if (rows[i].cb == cb)
			return &rows[i];
	return NULL;
}

static void add_cbs(struct metrics *m, const struct tdm_log_profile *a, const struct tdm_log_profile *b)
{
	static const struct tdm_log_cb none = { .tiles = TDM_LOG_UNKNOWN, .bytes = TDM_BYTES_UNKNOWN };
	for (uint32_t i = 0; i < TDM_LOG_CBS; i++) {
		const struct tdm_log_cb *x = find_cb(a, i), *y = find_cb(b, i);
		char name[48], cb[32];
		if (x == NULL && y == NULL)
			continue;
		x = x != NULL ? x : &none;
		y = y != NULL ? y : &none;
		snprintf(cb, sizeof cb, "CB%" PRIu32, i);
		if (x->label[0] != '\0' || y->label[0] != '\0')
			snprintf(cb, sizeof cb, "%s", x->label[0] != '\0' ? x->label : y->label);
		snprintf(name, sizeof name, "%s tiles", cb);
		add(m, COUNT, known(x->tiles), known(y->tiles), "cb_tiles", name);
		snprintf(name, sizeof name, "%s size per core", cb);
		add(m, BYTES, known(x->bytes), known(y->bytes), "cb_bytes", name);
		snprintf(name, sizeof name, "%s fullest, tiles", cb);
		add(m, COUNT, known_if(x->pushes, x->peak_fill), known_if(y->pushes, y->peak_fill), "cb_fullest", name);
		snprintf(name, sizeof name, "%s stalls", cb);
		add(m, COUNT, known_if(x->timed, x->stalls), known_if(y->timed, y->stalls), "cb_stalls", name);
		snprintf(name, sizeof name, "%s stalled in all", cb);
		add(m, NS, known_if(x->timed, x->stall_ns), known_if(y->timed, y->stall_ns), "cb_stall_ns", name);
	}
}

/* The time of all kernels together; NAN when no line gives one. */
static double kernel_ns(const struct tdm_log_profile *p)
{
	const struct tdm_log_work *rows = p->kernels.rows;
	double sum = (double)NAN;
	for (size_t i = 0; i < p->kernels.count; i++)
		if (rows[i].timed != 0)
			sum = (double)rows[i].total_ns + (isnan(sum) ? 0 : sum);
	return sum;
}

/* The highest peak of a kind over all processes and devices; NAN when no line is about it. */
static double peak_of(const struct tdm_log_profile *p, enum tdm_kind kind)
{
	const struct tdm_log_amount *rows = p->amounts.rows;
	double most = (double)NAN;
	for (size_t i = 0; i < p->amounts.count; i++)
		if (rows[i].kind == kind && !((double)rows[i].peak_bytes <= most))
			most = (double)rows[i].peak_bytes;
	return most;
}

static void add_pressure(struct metrics *m, const struct tdm_log_profile *a, const struct tdm_log_profile *b)
{
	struct tdm_findings p = { 0 }, q = { 0 };
	tdm_log_profile_pressure(a, 0, &p);
	tdm_log_profile_pressure(b, 0, &q);
	m->failed = p.failed || q.failed;
	if (!m->failed)
		add(m, BYTES, known(tdm_finding_number(&p, &p.list[TDM_PRESSURE_L1], "cb_bytes_per_core")),
			known(tdm_finding_number(&q, &q.list[TDM_PRESSURE_L1], "cb_bytes_per_core")),
			"cb_bytes_per_core", "circular buffers, per core");
	for (size_t i = 0; !m->failed && i < TDM_PRESSURE_COUNT; i++)
		add(m, i == TDM_PRESSURE_SCORE ? SCORE : PER_CENT, tdm_finding_real(&p, &p.list[i], p.list[i].what),
			tdm_finding_real(&q, &q.list[i], q.list[i].what), p.list[i].what,
			tdm_finding_title(&p.list[i]));
	tdm_findings_done(&p);
	tdm_findings_done(&q);
}

static void collect(struct metrics *m, const struct tdm_log_profile *a, const struct tdm_log_profile *b)
{
	const struct tdm_log_file *x = &a->files[0], *y = &b->files[0];
	m->count = 0;
	add(m, COUNT, (double)a->failure_count, (double)b->failure_count, "failures", "errors");
	for (int type = 0; type < TDM_FAILURE_COUNT; type++)
		if (a->by_type[type] + b->by_type[type] != 0)
			add(m, COUNT, (double)a->by_type[type], (double)b->by_type[type],
				tdm_failure_name((enum tdm_failure_type)type),
				tdm_failure_title((enum tdm_failure_type)type));
	add(m, COUNT, known(x->a_tiles), known(y->a_tiles), "a_tiles", "A tiles");
	add(m, COUNT, known(x->b_tiles), known(y->b_tiles), "b_tiles", "B tiles");
	add_cbs(m, a, b);
	add_pressure(m, a, b);
	add(m, NS, kernel_ns(a), kernel_ns(b), "kernel_ns", "kernels, in all");
	for (int kind = 0; kind < TDM_KIND_COUNT; kind++) {
		char name[48];
		snprintf(name, sizeof name, "highest peak of %s", tdm_kind_name((enum tdm_kind)kind));
		add(m, BYTES, peak_of(a, (enum tdm_kind)kind), peak_of(b, (enum tdm_kind)kind), "peak_bytes", name);
	}
	if (x->verified != TDM_LOG_UNKNOWN || y->verified != TDM_LOG_UNKNOWN)
		add(m, PER_CENT, known(x->passed) / known(x->verified), known(y->passed) / known(y->verified), "passed",
			"values that passed");
}

/* A non-negative figure as a whole number; a log may contain one that is too large. */
static uint64_t whole(double figure)
{
	return figure < 0x1p64 ? (uint64_t)figure : UINT64_MAX;
}

enum which { A, B, DIFFERENCE };

static double figure_of(const struct tdm_field *field)
{
	const struct metric *row = field->row;
	return field->column->arg == A ? row->a : field->column->arg == B ? row->b : row->b - row->a;
}

static void put_figure(const struct tdm_field *field, struct tdm_buf *out)
{
	static char *(*const formats[])(char *, size_t, uint64_t) = {
		[COUNT] = tdm_format_count, [BYTES] = tdm_format_bytes_short, [NS] = tdm_format_duration
	};
	const struct metric *row = field->row;
	char text[TDM_BYTES_CAP];
	double value = figure_of(field), size = fabs(value);
	bool sign = field->column->arg == DIFFERENCE;
	if (isnan(value) || (sign && value == 0)) {
		tdm_buf_puts(out, !sign ? "unknown" : value == 0 ? "=" : "");
		return;
	}
	tdm_buf_puts(out, !sign ? "" : value < 0 ? "-" : "+");
	if (row->unit == PER_CENT)
		tdm_buf_printf(out, "%.1f %%", 100 * size);
	else if (row->unit == SCORE)
		tdm_buf_printf(out, "%.0f", size);
	else
		tdm_buf_puts(out, formats[row->unit](text, sizeof text, whole(size)));
}

static struct tdm_value get_figure(const struct tdm_field *field)
{
	const struct metric *row = field->row;
	double value = figure_of(field);
	if (isnan(value) || row->unit == PER_CENT || row->unit == SCORE)
		return tdm_value_share(value);
	return value >= 0 ? (struct tdm_value){ TDM_VALUE_NUMBER, { .number = whole(value) } }
			  : (struct tdm_value){ TDM_VALUE_SIGNED,
				    { .integer = value > -0x1p63 ? (int64_t)value : INT64_MIN } };
}

static struct tdm_value get_unit(const struct tdm_field *field)
{
	static const char *const units[] = { "count", "bytes", "share", "score", "ns" };
	return tdm_value_text(units[((const struct metric *)field->row)->unit]);
}

#define FIGURE .get = get_figure, .text = put_figure, .width = FIGURE_COLUMNS, .flags = TDM_OTHER_SIDE
static const struct tdm_column columns[] = {
	{ NULL, "figure", TDM_MEMBER(struct metric, key) },
	{ "", "name", TDM_MEMBER(struct metric, name), .width = NAME_COLUMNS },
	{ NULL, "unit", .get = get_unit },
	{ "A", "a", .arg = A, FIGURE },
	{ "B", "b", .arg = B, FIGURE },
	{ "B - A", "difference", .arg = DIFFERENCE, FIGURE },
};

static struct tdm_table table_of(const struct metrics *m)
{
	return (struct tdm_table){ TDM_COLUMNS(columns), m->rows, sizeof *m->rows, m->count, .gap = 1 };
}

void tdm_log_compare_text(const struct tdm_log_profile *a, const struct tdm_log_profile *b,
	const struct tdm_log_report *report, struct tdm_buf *out)
{
	struct metrics m;
	size_t same = 0;
	const struct tdm_log_profile *both[] = { a, b };
	for (size_t i = 0; i < 2; i++) {
		char lines[TDM_BYTES_CAP];
		const struct tdm_log_file *f = &both[i]->files[0];
		tdm_buf_printf(out, "%c              ", i == 0 ? 'A' : 'B');
		tdm_cell_put(out, tdm_str_of(f->name), 0, report->utf8);
		tdm_buf_printf(
			out, ": %s lines; %s\n", tdm_format_count(lines, sizeof lines, f->lines), tdm_log_file_kind(f));
	}
	collect(&m, a, b);
	struct tdm_table table = table_of(&m);
	out->failed |= m.failed;
	tdm_buf_putc(out, '\n');
	tdm_table_text(&table, &(struct tdm_term){ .utf8 = report->utf8, .width = report->width }, out);
	for (size_t i = 0; i < m.count; i++)
		same += m.rows[i].a == m.rows[i].b;
	if (m.count != 0 && same == m.count)
		tdm_buf_puts(out, "\nThe two logs say the same.\n");
}

void tdm_log_compare_json(const struct tdm_log_profile *a, const struct tdm_log_profile *b, struct tdm_json *json)
{
	struct metrics m;
	collect(&m, a, b);
	struct tdm_table table = table_of(&m);
	tdm_json_object(json);
	tdm_json_put_text(json, "a", a->files[0].name);
	tdm_json_put_text(json, "b", b->files[0].name);
	tdm_json_key(json, "figures");
	tdm_table_json(&table, json);
	tdm_json_object_end(json);
	json->out->failed |= m.failed;
}
