/* Compares two logs: each figure in both, and the difference. */
#include "analyze/log/log_profile.h"
#include "base/units.h"
#include "model/result/result.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { METRICS_MAX = 320 };

enum unit { COUNT, BYTES, PER_CENT, SCORE, NS };

/* A figure in both logs; NAN if unknown. Integers up to 2^53 are exact. */
struct metric {
	char name[48];
	const char *key;
	uint8_t unit;
	double a, b;
};

static double known_if(uint64_t count, uint64_t value)
{
	return count == 0 || value == TDM_LOG_UNKNOWN ? (double)NAN : (double)value;
}

static double known(uint64_t value)
{
	return known_if(1, value);
}

static void add(struct tdm_table *m, enum unit unit, double a, double b, const char *key, const char *name)
{
	if (m->count == METRICS_MAX || (isnan(a) && isnan(b)))
		return;
	struct metric *row = (struct metric *)(uintptr_t)m->rows + m->count++;
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

static void add_cbs(struct tdm_table *m, const struct tdm_log_profile *a, const struct tdm_log_profile *b)
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

/* The total time of all kernels; NAN if no line contains one. */
static double kernel_ns(const struct tdm_log_profile *p)
{
	const struct tdm_log_work *rows = p->kernels.rows;
	double sum = (double)NAN;
	for (size_t i = 0; i < p->kernels.count; i++)
		if (rows[i].timed != 0)
			sum = (double)rows[i].total_ns + (isnan(sum) ? 0 : sum);
	return sum;
}

/* The highest peak of a kind over all processes and devices; NAN if no line mentions the kind. */
static double peak_of(const struct tdm_log_profile *p, enum tdm_kind kind)
{
	const struct tdm_log_amount *rows = p->amounts.rows;
	double most = (double)NAN;
	for (size_t i = 0; i < p->amounts.count; i++)
		if (rows[i].kind == kind && !((double)rows[i].peak_bytes <= most))
			most = (double)rows[i].peak_bytes;
	return most;
}

static void collect(struct tdm_table *m, const struct tdm_log_profile *a, const struct tdm_log_profile *b)
{
	const struct tdm_log_file *x = &a->files[0], *y = &b->files[0];
	add(m, COUNT, (double)a->failure_count, (double)b->failure_count, "failures", "errors");
	for (int type = 0; type < TDM_FAILURE_COUNT; type++)
		if (a->by_type[type] + b->by_type[type] != 0)
			add(m, COUNT, (double)a->by_type[type], (double)b->by_type[type],
				tdm_failure_name((enum tdm_failure_type)type),
				tdm_failure_title((enum tdm_failure_type)type));
	add(m, COUNT, known(x->a_tiles), known(y->a_tiles), "a_tiles", "A tiles");
	add(m, COUNT, known(x->b_tiles), known(y->b_tiles), "b_tiles", "B tiles");
	add_cbs(m, a, b);
	struct tdm_findings p = { 0 }, q = { 0 };
	tdm_log_profile_pressure(a, 0, &p);
	tdm_log_profile_pressure(b, 0, &q);
	add(m, BYTES, known(tdm_finding_number(&p, &p.list[TDM_PRESSURE_L1], "cb_bytes_per_core")),
		known(tdm_finding_number(&q, &q.list[TDM_PRESSURE_L1], "cb_bytes_per_core")), "cb_bytes_per_core",
		"circular buffers, per core");
	for (size_t i = 0; i < TDM_PRESSURE_COUNT; i++)
		add(m, i == TDM_PRESSURE_SCORE ? SCORE : PER_CENT, tdm_finding_real(&p, &p.list[i], p.list[i].what),
			tdm_finding_real(&q, &q.list[i], q.list[i].what), p.list[i].what, p.list[i].title);
	tdm_findings_done(&p);
	tdm_findings_done(&q);
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

/* A non-negative figure as an integer; a figure in a log may be too large. */
static uint64_t whole(double figure)
{
	return figure < 0x1p64 ? (uint64_t)figure : UINT64_MAX;
}

enum { A, B, DIFFERENCE };

static struct tdm_value get_figure(const struct tdm_field *field)
{
	static const uint8_t units[] = { [COUNT] = TDM_UNIT_COUNT,
		[BYTES] = TDM_UNIT_BYTES,
		[PER_CENT] = TDM_UNIT_SHARE,
		[SCORE] = TDM_UNIT_NUMBER,
		[NS] = TDM_UNIT_NS };
	const struct metric *row = field->row;
	bool is_difference = field->column->arg == DIFFERENCE;
	double figure = field->column->arg == A ? row->a : field->column->arg == B ? row->b : row->b - row->a;
	if (isnan(figure) || row->unit == PER_CENT || row->unit == SCORE) {
		struct tdm_value value = tdm_value_real(figure, (enum tdm_unit)units[row->unit]);
		value.decimals = row->unit == PER_CENT;
		return value;
	}
	struct tdm_value value =
		is_difference ? tdm_value_signed(figure > -0x1p63 && figure < 0x1p63 ? (int64_t)figure : INT64_MIN)
			      : tdm_value_number(whole(figure));
	value.unit = units[row->unit];
	return value;
}

static struct tdm_value get_unit(const struct tdm_field *field)
{
	static const char *const units[] = { "count", "bytes", "share", "score", "ns" };
	return tdm_value_text(units[((const struct metric *)field->row)->unit]);
}

static const struct tdm_column columns[] = {
	{ NULL, "figure", TDM_MEMBER(struct metric, key) },
	{ "", "name", TDM_MEMBER(struct metric, name) },
	{ NULL, "unit", .get = get_unit },
	{ "A", "a", .get = get_figure, .arg = A, .unknown = "unknown" },
	{ "B", "b", .get = get_figure, .arg = B, .unknown = "unknown" },
	{ "B - A", "difference", .get = get_figure, .arg = DIFFERENCE, .unknown = "", .flags = TDM_WITH_SIGN },
};

void tdm_log_show_both(struct tdm_block *in, const struct tdm_log_profile *a, const struct tdm_log_profile *b)
{
	struct metric *rows = tdm_result_alloc(in->result, METRICS_MAX, sizeof *rows);
	struct tdm_table figures = TDM_FITTED(columns, rows, 0);
	const struct tdm_log_file *files[] = { &a->files[0], &b->files[0] };
	size_t same = 0;
	for (size_t i = 0; i < 2; i++)
		tdm_line(in, i == 0 ? "A" : "B",
			i == 0 ? "{a}: {_lines/line/lines}; {_kind}" : "{b}: {_lines/line/lines}; {_kind}",
			TDM_VALUES({ i == 0 ? "a" : "b", tdm_value_text(files[i]->name) },
				{ "_lines", tdm_value_count(files[i]->counts.lines) },
				{ "_kind", tdm_value_text(tdm_log_file_kind(files[i])) }));
	collect(&figures, a, b);
	tdm_add_table(in, "figures", NULL, figures);
	for (size_t i = 0; i < figures.count; i++)
		same += rows[i].a == rows[i].b;
	if (figures.count != 0 && same == figures.count)
		tdm_say(in, "The two logs say the same.", NULL)->is_apart = true;
}
