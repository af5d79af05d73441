/* The pressure on circular buffers as text: findings first, then the strategies, the model, the advice. */
#include "report/finding_report.h"
#include "report/fold_lines.h"
#include "report/pressure_report.h"
#include "report/report_put.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { FIGURE_COLUMNS = 5, NAME_COLUMNS = 18, BESIDE_MAX = 64, TITLE_CAP = 1024, ROWS_MAX = 40, LINES_MAX = 8 };

/* Columns of tdm_strategy_columns, as bits, that a pattern has no values for. */
enum { MISS_COLUMNS = 1 << 4 | 1 << 5 };

/* The columns of a number with one decimal or none; at least `most`. */
static size_t wider(size_t most, double number, int decimals)
{
	int columns = snprintf(NULL, 0, "%.*f", decimals, number);
	return (size_t)columns > most ? (size_t)columns : most;
}

/* How wide a buffer is in a line that has one figure for each: a blank, and its name, depth or average pages. */
static size_t figure_columns(const struct tdm_pressure_result *r)
{
	size_t most = FIGURE_COLUMNS - 1;
	for (size_t i = 0; i < r->pattern.buffer_count; i++) {
		most = wider(most - 2, r->pattern.buffers[i].index, 0) + 2;
		for (size_t k = 0; k < r->strategy_count; k++) {
			most = wider(most, r->strategies[k].depths[i], 0);
			most = wider(most, r->strategies[k].model.buffers[i].mean, 1);
		}
		for (size_t k = 0; k < r->advice.point_count && !r->advice.is_deadlocked; k++)
			most = wider(most, r->advice.curve[k].depths[i], 0);
	}
	return most + 1;
}

/* Whether there is room for all depths in one line, after a name. If not, they are in a table of the buffers. */
static bool has_depths_beside(const struct tdm_pressure_result *r, const struct tdm_term *term)
{
	size_t count = r->pattern.buffer_count;
	return count <= BESIDE_MAX && NAME_COLUMNS + count * figure_columns(r) <= term->width;
}

/* "  CB0  CB1", the title of a column of depths. */
static void depth_title(const struct tdm_cb_pattern *p, size_t columns, char *dst, size_t cap)
{
	size_t used = 0;
	dst[0] = '\0';
	for (size_t i = 0; i < p->buffer_count && used + columns < cap; i++) {
		char name[16];
		snprintf(name, sizeof name, "CB%" PRIu32, p->buffers[i].index);
		used += (size_t)snprintf(dst + used, cap - used, "%*s", (int)columns, name);
	}
}

/* A table one of whose columns, the one without a title, has the depths. */
static void put_table(
	const struct tdm_pressure_result *r, struct tdm_table table, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_column columns[sizeof tdm_strategy_columns / sizeof *tdm_strategy_columns];
	char title[TITLE_CAP] = "";
	bool is_beside = has_depths_beside(r, term);
	memcpy(columns, table.columns, table.column_count * sizeof *columns);
	if (is_beside) {
		table.widths[0] = r->pattern.buffer_count * figure_columns(r);
		depth_title(&r->pattern, figure_columns(r), title, sizeof title);
	}
	for (size_t i = 0; i < table.column_count; i++)
		if (columns[i].title != NULL && columns[i].title[0] == '\0') {
			columns[i].title = title;
			table.hidden |= (uint64_t)!is_beside << i;
		}
	table.columns = columns;
	table.style = TDM_STYLE_BOLD;
	tdm_table_text(&table, term, out);
}

static void put_head(const struct tdm_pressure_report *report, const struct tdm_pressure_result *r, struct tdm_buf *out)
{
	const struct tdm_pressure_setup *s = &r->setup;
	bool is_even = r->tiles_per_shard * s->mesh_rows * s->mesh_columns == s->a_tiles;
	if (s->pattern != NULL) {
		tdm_put_label(out, "Pattern");
		tdm_cell_text(out, r->pattern.name[0] != '\0' ? r->pattern.name : report->pattern_path, true);
		tdm_buf_printf(out, ": %s tiles through %zu circular buffer%s of %zu kernel%s",
			TDM_COUNT_TEXT(r->pattern.tiles), r->pattern.buffer_count, tdm_plural(r->pattern.buffer_count),
			r->pattern.kernel_count, tdm_plural(r->pattern.kernel_count));
		tdm_buf_printf(out, ", on %s", s->card->full_name);
	} else {
		tdm_put_label(out, "Workload");
		tdm_buf_printf(out,
			"%s A tile%s, %s%s on each of %" PRIu32 "x%" PRIu32
			" devices, and %s B tile%s of %s (%s), on %s",
			TDM_COUNT_TEXT(s->a_tiles), tdm_plural(s->a_tiles), is_even ? "" : "up to ",
			TDM_COUNT_TEXT(r->tiles_per_shard), s->mesh_rows, s->mesh_columns, TDM_COUNT_TEXT(s->b_tiles),
			tdm_plural(s->b_tiles), TDM_SIZE_TEXT(s->tile_bytes), report->format, s->card->full_name);
	}
	tdm_buf_putc(out, '\n');
	if (r->workload != NULL)
		tdm_buf_printf(out, "%-*s%s: %s\n", TDM_LABEL_COLUMNS, "Class", r->workload, r->behaviour);
}

static void put_l1(const struct tdm_pressure_result *r, struct tdm_buf *out)
{
	tdm_buf_printf(out, "%-*s%s", TDM_LABEL_COLUMNS, "L1 of a core",
		TDM_SIZE_TEXT(tdm_card_get(r->setup.card, TDM_CARD_L1_SIZE)));
	tdm_buf_printf(out, ": firmware %s, kernels up to %s", TDM_SIZE_TEXT(r->firmware_bytes),
		TDM_SIZE_TEXT(r->kernel_bytes));
	if (r->setup.l1_used != 0)
		tdm_buf_printf(out, ", L1 buffers %s", TDM_SIZE_TEXT(r->setup.l1_used));
	tdm_buf_printf(out, "; %s left for circular buffers\n", TDM_SIZE_TEXT(r->l1_left));
}

static void put_deadlocks(const struct tdm_pressure_result *r, const struct tdm_term *term, struct tdm_buf *out)
{
	for (size_t i = 0; i < r->strategy_count; i++) {
		const struct tdm_sizing *s = &r->strategies[i];
		if (!s->model.is_deadlocked && s->fits)
			continue;
		tdm_put_styled(out, term, TDM_STYLE_RED, s->model.is_deadlocked ? "Deadlock" : "Does not fit");
		tdm_buf_printf(out, "%*s%s: ", s->model.is_deadlocked ? 7 : 3, "",
			tdm_sizing_title((enum tdm_sizing_name)s->name));
		if (s->model.is_deadlocked)
			tdm_cell_text(out, s->model.deadlock, term->utf8);
		else
			tdm_buf_printf(out, "%s of circular buffers, %s are left", TDM_SIZE_TEXT(s->bytes),
				TDM_SIZE_TEXT(r->l1_left));
		tdm_buf_putc(out, '\n');
	}
}

/* Buffers with an index that the card does not have. */
static void put_beyond(const struct tdm_pressure_result *r, const struct tdm_term *term, struct tdm_buf *out)
{
	const struct tdm_pattern_buffer *first = NULL;
	if (r->beyond_card == 0)
		return;
	for (size_t i = 0; i < r->pattern.buffer_count && first == NULL; i++)
		if (r->pattern.buffers[i].index >= r->card_buffers)
			first = &r->pattern.buffers[i];
	tdm_put_styled(out, term, TDM_STYLE_RED, "Not on card");
	tdm_buf_printf(out, "%*sbuffer %" PRIu32, TDM_LABEL_COLUMNS - 11, "", first->index);
	if (r->beyond_card > 1)
		tdm_buf_printf(out, " and %zu more", r->beyond_card - 1);
	tdm_buf_printf(out, ": %s has buffers 0 to %" PRIu64 "; the model runs them all the same\n",
		r->setup.card->full_name, r->card_buffers - 1);
}

/* A block of an uneven depth would cross the end of its buffer. */
static void put_uneven(const struct tdm_pressure_result *r, const struct tdm_term *term, struct tdm_buf *out)
{
	size_t count = 0;
	for (size_t i = 0; i < r->strategy_count; i++)
		for (size_t k = 0; k < r->pattern.buffer_count; k++) {
			uint32_t depth = r->strategies[i].depths[k], step = r->pattern.buffers[k].step;
			if (depth % step == 0 || count++ >= LINES_MAX)
				continue;
			tdm_put_styled(out, term, TDM_STYLE_YELLOW, "Uneven");
			tdm_buf_printf(out,
				"%*s%s: %" PRIu32 " pages of CB%" PRIu32 " are not a multiple of %" PRIu32
				": a block would cross its end\n",
				TDM_LABEL_COLUMNS - 6, "",
				tdm_sizing_title((enum tdm_sizing_name)r->strategies[i].name), depth,
				r->pattern.buffers[k].index, step);
		}
	tdm_put_rest(out, count, LINES_MAX);
}

/* The buffers one below the other. */
static void put_buffers(const struct tdm_pressure_result *r, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_table table = { TDM_COLUMNS(tdm_depth_columns), r->pattern.buffers, sizeof *r->pattern.buffers,
		r->pattern.buffer_count, .context = r, .above = "\n", .style = TDM_STYLE_BOLD, .gap = 1,
		.limit = ROWS_MAX, .more = "..." };
	if (!has_depths_beside(r, term))
		tdm_table_text(&table, term, out);
}

/* How the figures of the model are to be taken. */
static void put_model_notes(const struct tdm_pressure_result *r, struct tdm_buf *out)
{
	size_t assumed = 0;
	for (int i = 0; i < TDM_SPEED_COUNT; i++)
		assumed += r->setup.speed->tag[i] == TDM_SPEED_ASSUMED;
	tdm_buf_printf(out, "%s tiles on one core at %g MHz", TDM_COUNT_TEXT(r->pattern.tiles),
		r->setup.speed->value[TDM_SPEED_CLOCK]);
	if (assumed != 0)
		tdm_buf_printf(out, "; %zu of the model's %d constants are assumed: see --explain-model", assumed,
			TDM_SPEED_COUNT);
	tdm_buf_puts(out, ".\n");
	if (r->setup.pattern == NULL)
		tdm_buf_puts(out,
			"Pressure counts tiles that do not fit at once; it does not say that a core runs slower.\n");
}

static void put_advice_sentence(const struct tdm_pressure_result *r, struct tdm_buf *out)
{
	const struct tdm_cb_advice *a = &r->advice;
	if (a->is_deadlocked) {
		tdm_buf_printf(out, "None: it deadlocks whatever the depths that may change: %s.\n", a->deadlock);
		return;
	}
	if (a->is_too_long) {
		tdm_buf_puts(out, "None: the run is too long to search, and tiles and totals have no large common "
				  "divisor by which it "
				  "could be shortened.\n");
		return;
	}
	if (a->is_too_large) {
		tdm_buf_printf(out, "None: the least depths need %s, and %s are left. Take smaller blocks or pages.\n",
			TDM_SIZE_TEXT(a->curve[0].bytes), TDM_SIZE_TEXT(r->l1_left));
		return;
	}
	double share = a->best_tiles_per_s > 0 ? a->advised.tiles_per_s / a->best_tiles_per_s : 0;
	tdm_buf_printf(out, "%s give %.1f %% of the best throughput, %.3f Mtiles/s", TDM_SIZE_TEXT(a->advised.bytes),
		100 * share, a->best_tiles_per_s / 1e6);
	tdm_buf_printf(out, "%s: %s (%zu runs of %s tiles).\n", a->is_limited ? ", and L1 has no room for more" : "",
		a->is_limited    ? "the smallest on the curve that is nearly as fast as what fits"
		: a->is_smallest ? "nothing smaller reaches 99 %"
		: a->is_cut      ? "the search ended before it reached 99 %"
				 : "the search ended early, so something smaller may do",
		a->runs, TDM_COUNT_TEXT(a->tiles));
}

static void put_advice(const struct tdm_pressure_result *r, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_curve_row rows[TDM_ADVICE_POINTS_MAX];
	tdm_put_heading(out, term, "Advice");
	put_advice_sentence(r, out);
	size_t count = r->advice.is_deadlocked ? 0 : tdm_curve_rows(r, rows);
	put_table(r, TDM_TABLE_OF(tdm_curve_columns, rows, count), term, out);
}

static void put_explanation(const struct tdm_core_speed *speed, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_speed_row rows[TDM_SPEED_COUNT];
	struct tdm_table table = TDM_TABLE_OF(tdm_speed_columns, rows, TDM_SPEED_COUNT);
	tdm_speed_rows(speed, rows);
	table.style = TDM_STYLE_BOLD;
	if (out->len != 0)
		tdm_buf_putc(out, '\n');
	tdm_table_text(&table, term, out);
}

static void put_fit(const struct tdm_model_fit *fit, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_fit_row rows[TDM_FIT_FIGURES];
	struct tdm_table table = TDM_TABLE_OF(tdm_fit_columns, rows, TDM_FIT_FIGURES);
	tdm_buf_printf(out, "%-*s", TDM_LABEL_COLUMNS, "Fitted to");
	tdm_cell_text(out, fit->operation, true);
	tdm_buf_printf(out,
		", %s measured call%s: transfers x%.2f, math x%.2f; mean error %.1f %% of the kernel time, before %.1f "
		"%%\n",
		TDM_COUNT_TEXT(fit->calls), tdm_plural(fit->calls), fit->transfers, fit->math, 100 * fit->error,
		100 * fit->error_before);
	if (fit->unmeasured != 0 || fit->refused != 0)
		tdm_buf_printf(out, "%-*s%s call%s of it without both waits; %s row%s of the report refused\n",
			TDM_LABEL_COLUMNS, "Not used", TDM_COUNT_TEXT(fit->unmeasured), tdm_plural(fit->unmeasured),
			TDM_COUNT_TEXT(fit->refused), tdm_plural(fit->refused));
	tdm_fit_rows(fit, rows);
	table.above = "\n";
	table.style = TDM_STYLE_BOLD;
	tdm_table_text(&table, term, out);
}

static void put_result(const struct tdm_pressure_report *report, const struct tdm_pressure_result *r,
	const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_table table = TDM_TABLE_OF(tdm_strategy_columns, r->strategies, r->strategy_count);
	table.hidden = r->setup.pattern != NULL ? MISS_COLUMNS : 0;
	put_head(report, r, out);
	put_l1(r, out);
	put_deadlocks(r, term, out);
	put_beyond(r, term, out);
	put_uneven(r, term, out);
	if (report->fit != NULL)
		put_fit(report->fit, term, out);
	tdm_buf_putc(out, '\n');
	put_table(r, table, term, out);
	put_buffers(r, term, out);
	tdm_buf_putc(out, '\n');
	put_table(r, TDM_TABLE_OF(tdm_strategy_model_columns, r->strategies, r->strategy_count), term, out);
	if (has_depths_beside(r, term)) {
		tdm_buf_putc(out, '\n');
		put_table(r, TDM_TABLE_OF(tdm_strategy_fill_columns, r->strategies, r->strategy_count), term, out);
	}
	put_model_notes(r, out);
	put_advice(r, term, out);
}

/* The rows of all sizes, under one heading. */
static void put_sizes(const struct tdm_pressure_report *report, const struct tdm_term *term, struct tdm_buf *out)
{
	for (size_t i = 0; i < report->count; i++) {
		const struct tdm_pressure_result *r = &report->results[i];
		tdm_buf_printf(out, "%s%s A tile%s, %s B tile%s: %s\n", i != 0 ? "\n" : "",
			TDM_COUNT_TEXT(r->setup.a_tiles), tdm_plural(r->setup.a_tiles),
			TDM_COUNT_TEXT(r->setup.b_tiles), tdm_plural(r->setup.b_tiles), r->workload);
		put_table(r, TDM_TABLE_OF(tdm_strategy_columns, r->strategies, r->strategy_count), term, out);
	}
	tdm_put_heading(out, term, "Where it becomes critical (score above 70)");
	for (int i = 0; i < TDM_SIZINGS; i++) {
		const struct tdm_pressure_result *r = tdm_pressure_critical(report, (enum tdm_sizing_name)i);
		if (i == TDM_SIZING_GIVEN)
			continue;
		tdm_buf_printf(out, "%-17s ", tdm_sizing_title((enum tdm_sizing_name)i));
		if (r != NULL)
			tdm_buf_printf(out, "from %s B tiles\n", TDM_COUNT_TEXT(r->setup.b_tiles));
		else
			tdm_buf_puts(out, "at none of these sizes\n");
	}
}

static void put_baseline(const struct tdm_pressure_report *report, const struct tdm_term *term, struct tdm_buf *out)
{
	tdm_put_label(out, "Baseline");
	tdm_cell_text(out, report->baseline, term->utf8);
	tdm_buf_puts(out, report->found->count == 0 ? ": no budget differs\n\n" : "\n");
	struct tdm_finding_view view = { .findings = report->found, .term = *term };
	for (size_t i = 0; i < report->found->count; i++)
		tdm_finding_text(&view, &report->found->list[i], out);
	if (report->found->count != 0)
		tdm_buf_putc(out, '\n');
}

void tdm_pressure_text(const struct tdm_pressure_report *report, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_term folding = *term;
	struct tdm_buf text;
	folding.folds = true;
	tdm_buf_init(&text);
	if (report->found != NULL)
		put_baseline(report, &folding, &text);
	if (report->is_multi)
		put_sizes(report, &folding, &text);
	else if (report->count != 0)
		put_result(report, &report->results[0], &folding, &text);
	if (report->explain)
		put_explanation(report->speed, &folding, &text);
	tdm_fold_lines(out, tdm_buf_str(&text), term->width);
	out->failed |= text.failed;
	tdm_buf_done(&text);
}
