/*
 * Phases for people. Columns of sizes are in MiB with two decimals, so that they can be compared with a log, whose MB
 * are the same; sentences have the unit that fits.
 */
#include "base/units.h"
#include "report/cell.h"
#include "report/phases_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { NAME_COLUMNS = 26, NAME_COLUMNS_MAX = 40, SIZE_COLUMNS = 12, MIB_CAP = 64 };

/* "1,863.25", or "-" for what is unknown. Returns its length. */
static size_t format_mib(char text[MIB_CAP], int64_t bytes, bool sign)
{
	char plain[MIB_CAP];
	size_t at = 0;
	if (bytes == TDM_PHASE_UNKNOWN) {
		text[at++] = '-';
		text[at] = '\0';
		return at;
	}
	int len = snprintf(plain, sizeof plain, "%.2f", fabs((double)bytes / 0x1p20));
	if (bytes < 0)
		text[at++] = '-';
	else if (sign)
		text[at++] = '+';
	for (int i = 0; i < len && at + 2 < MIB_CAP; i++) {
		text[at++] = plain[i];
		int left = len - 3 - i - 1; /* digits before the point that follow */
		if (left > 0 && left % 3 == 0)
			text[at++] = ',';
	}
	text[at] = '\0';
	return at;
}

static void put_mib(struct tdm_buf *out, int64_t bytes, bool sign, int columns)
{
	char text[MIB_CAP];
	format_mib(text, bytes, sign);
	tdm_buf_printf(out, "%*s", columns, text);
}

static void note_longest(size_t *longest, const int64_t *figures, size_t count)
{
	char text[MIB_CAP];
	for (size_t i = 0; i < count; i++) {
		size_t len = format_mib(text, figures[i], true);
		*longest = len > *longest ? len : *longest;
	}
}

static void note_phase(size_t *longest, const struct tdm_phase_figures *f)
{
	note_longest(longest,
		(int64_t[]){ f->dram_peak, f->dram_allocated, f->dram_freed, f->dram_change, f->dram_cumulative_peak,
			f->dram_cumulative_current, f->l1_peak_total },
		7);
}

static int64_t expected_of(const struct tdm_phases_pair *pair)
{
	return pair->expected > INT64_MAX ? TDM_PHASE_UNKNOWN : (int64_t)pair->expected;
}

/* What a figure of the run needs, and a blank before it: what many micro-batches allocate is soon a TiB. */
static int size_columns(const struct tdm_phases *r)
{
	size_t longest = SIZE_COLUMNS - 1;
	for (size_t i = 0; i < r->run->phase_count; i++)
		note_phase(&longest, &r->run->phases[i].figures);
	for (int i = 0; i < TDM_ROLE_COUNT; i++)
		note_phase(&longest, &r->groups[i].sum);
	note_longest(&longest,
		(int64_t[]){ r->gradients.measured, expected_of(&r->model), expected_of(&r->optimizer),
			expected_of(&r->gradients) },
		4);
	return (int)longest + 1;
}

static void put_size(struct tdm_buf *out, int64_t bytes)
{
	char text[TDM_BYTES_CAP];
	uint64_t size = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
	tdm_buf_printf(out, "%s%s", bytes < 0 ? "-" : "", tdm_format_bytes_short(text, sizeof text, size));
}

static void put_name(struct tdm_buf *out, const char *name, size_t columns, bool utf8)
{
	size_t used = tdm_cell_put(out, tdm_str_of(name), columns, utf8);
	tdm_buf_fill(out, ' ', columns - used);
}

struct widths {
	size_t name;
	int size;
};

static void put_row(
	struct tdm_buf *out, const char *name, const struct tdm_phase_figures *f, struct widths widths, bool utf8)
{
	tdm_buf_puts(out, "  ");
	put_name(out, name, widths.name, utf8);
	put_mib(out, f->dram_peak, false, widths.size);
	put_mib(out, f->dram_allocated, false, widths.size);
	put_mib(out, f->dram_freed, false, widths.size);
	put_mib(out, f->dram_change, true, widths.size);
	put_mib(out, f->dram_cumulative_peak, false, widths.size);
	put_mib(out, f->dram_cumulative_current, false, widths.size);
	put_mib(out, f->l1_peak_total, false, widths.size);
	tdm_buf_putc(out, '\n');
}

static void put_table(const struct tdm_phases *r, const struct tdm_term *term, int size, struct tdm_buf *out)
{
	static const char *const heads[] = { "Peak", "Allocated", "Freed", "Change", "Peak so far", "In use",
		"L1 peak" };
	size_t columns = NAME_COLUMNS;
	for (size_t i = 0; i < r->run->phase_count; i++) {
		size_t len = strlen(r->run->phases[i].name);
		columns = len > columns ? len : columns;
	}
	struct widths widths = { columns < NAME_COLUMNS_MAX ? columns : NAME_COLUMNS_MAX, size };
	tdm_buf_puts(out, tdm_term_style(term, TDM_STYLE_BOLD));
	tdm_buf_puts(out, "  ");
	put_name(out, "Phase (MiB)", widths.name, false);
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		tdm_buf_printf(out, "%*s", size, heads[i]);
	tdm_buf_printf(out, "%s\n", tdm_term_style(term, TDM_STYLE_OFF));
	for (size_t i = 0; i < r->run->phase_count; i++)
		put_row(out, r->run->phases[i].name, &r->run->phases[i].figures, widths, term->utf8);
	for (int i = 0; i < TDM_ROLE_COUNT; i++) {
		char name[64];
		if (r->groups[i].count < 2)
			continue;
		snprintf(name, sizeof name, "%s, all %zu", tdm_phases_role_names[i], r->groups[i].count);
		put_row(out, name, &r->groups[i].sum, widths, term->utf8);
	}
}

static void put_pair(struct tdm_buf *out, const char *name, const struct tdm_phases_pair *pair, int columns)
{
	double percent = tdm_phases_difference(pair);
	tdm_buf_printf(out, "  %-*s", NAME_COLUMNS, name);
	put_mib(out, pair->measured, false, columns);
	put_mib(out, expected_of(pair), false, columns);
	if (isfinite(percent))
		tdm_buf_printf(out, " %+*.2f%%\n", columns - 2, percent);
	else
		tdm_buf_printf(out, "%*s\n", columns, "-");
}

static void put_single(struct tdm_buf *out, const char *name, int64_t bytes, int columns, const char *what)
{
	tdm_buf_printf(out, "  %-*s", NAME_COLUMNS, name);
	put_mib(out, bytes, false, columns);
	tdm_buf_printf(out, "%s%s\n", what[0] != '\0' ? "  " : "", what);
}

/* What is not known is in the rest of the peak. */
static bool has_unknown_part(const struct tdm_phases *r)
{
	bool unknown = false;
	for (int i = 0; i < TDM_PART_COUNT; i++)
		unknown |= i != TDM_PART_OTHER && r->parts[i] == TDM_PHASE_UNKNOWN;
	return unknown;
}

static void put_theory(const struct tdm_phases *r, const struct tdm_term *term, int columns, struct tdm_buf *out)
{
	size_t micro = r->groups[TDM_ROLE_FORWARD].count;
	char note[96] = "";
	tdm_buf_printf(out, "%s  %-*s%*s%*s%*s%s\n", tdm_term_style(term, TDM_STYLE_BOLD), NAME_COLUMNS, "Size (MiB)",
		columns, "Measured", columns, "Expected", columns, "Difference", tdm_term_style(term, TDM_STYLE_OFF));
	put_pair(out, "Model parameters", &r->model, columns);
	put_pair(out, "Optimizer state", &r->optimizer, columns);
	put_pair(out, "Gradients", &r->gradients, columns);
	if (micro > 1)
		snprintf(note, sizeof note, "the largest of %zu passes: they are not there together", micro);
	put_single(out, "Activations", r->activations, columns, note);
	put_single(
		out, "Gradients overhead", r->gradients_overhead, columns, "peak of the backward pass above its start");
	if (has_unknown_part(r))
		snprintf(note, sizeof note, "the rest of the peak, with what is not known above");
	else
		snprintf(note, sizeof note, "peak less %s model and optimizer, activations and overhead",
			r->parts_measured ? "measured" : "expected");
	put_single(out, "Other", r->parts[TDM_PART_OTHER], columns, note);
	put_single(out, "Peak DRAM", r->peak, columns, "");
}

static const char *memory_from(enum tdm_phases_memory_from from, const char *source)
{
	if (from == TDM_MEMORY_OPTION)
		return "as given";
	if (from == TDM_MEMORY_DEFAULT)
		return "assumed: neither the input nor --device_memory says";
	return strcmp(source, "train_log") == 0 ? "from the log" : "as the program described its devices";
}

static void put_advice(const struct tdm_phases *r, const struct tdm_term *term, struct tdm_buf *out)
{
	const struct tdm_phases_advice *a = &r->advice;
	if (a->why_not != NULL) {
		tdm_buf_printf(out, "  What would help is not known: %s.\n", a->why_not);
		return;
	}
	tdm_buf_puts(out, "  What would help, if activations shrink in proportion and nothing else grows:\n");
	tdm_buf_puts(out, "    gradient checkpointing (memory_efficient): ");
	if (a->keep_share < 0) {
		tdm_buf_puts(out, "not enough; without any activations the peak is still ");
		put_size(out, a->least_peak);
		tdm_buf_puts(
			out, "\n    smaller batch, gradient accumulation: not enough either, for the same reason\n");
		return;
	}
	tdm_buf_printf(out, "fits if at most %.1f%% of the activations are kept;\n      with none of them the peak is ",
		floor(a->keep_share * 1000) / 10);
	put_size(out, a->least_peak);
	tdm_buf_putc(out, '\n');
	if (a->fitting != NULL) {
		tdm_buf_puts(out, "      measured: '");
		tdm_cell_put(out, tdm_str_of(a->fitting->name), 60, term->utf8);
		tdm_buf_printf(out, "' keeps %.1f%% and its peak is ",
			100 * (double)a->fitting_activations / (double)r->activations);
		put_size(out, a->fitting->overall_peak);
		tdm_buf_putc(out, '\n');
	}
	if (a->divisor == 0) {
		tdm_buf_printf(
			out, "    smaller batch: not enough, even with a %dth of it\n", TDM_PHASES_BATCH_DIVISOR_MAX);
		return;
	}
	tdm_buf_printf(out, "    smaller batch: with 1/%u of it the peak is ", a->divisor);
	put_size(out, a->divided_peak);
	tdm_buf_printf(
		out, "\n    gradient accumulation: the same peak with the whole batch in %u steps\n", a->divisor);
}

static void put_verdict(
	const struct tdm_phases *r, const char *source, const struct tdm_term *term, struct tdm_buf *out)
{
	char device[TDM_BYTES_CAP];
	tdm_format_bytes_short(device, sizeof device, r->device_memory_bytes);
	if (r->peak == TDM_PHASE_UNKNOWN) {
		tdm_buf_puts(out, "  Whether it fits is not known: the peak is not known.\n");
		return;
	}
	const char *style = !r->fits_known ? TDM_STYLE_YELLOW : r->fits ? TDM_STYLE_GREEN : TDM_STYLE_RED;
	tdm_buf_printf(out, "  %s%s%s: ", tdm_term_style(term, style),
		!r->fits_known ? "Fits so far, and the rest is not known"
		: r->fits      ? "Fits"
			       : "Does not fit",
		tdm_term_style(term, TDM_STYLE_OFF));
	tdm_buf_printf(out, "the peak is %.2f%% of ", tdm_phases_usage(r));
	if (r->device_count > 1)
		tdm_buf_printf(out, "the %s that %zu devices have together", device, r->device_count);
	else
		tdm_buf_printf(out, "the device's %s", device);
	tdm_buf_printf(out, " (%s); ", memory_from(r->memory_from, source));
	put_size(out, r->fits ? (int64_t)(r->device_memory_bytes - (uint64_t)(r->peak > 0 ? r->peak : 0))
			      : (int64_t)((uint64_t)r->peak - r->device_memory_bytes));
	tdm_buf_puts(out, r->fits ? " stay free\n" : " too much\n");
	/* Which of them holds how much is not in the figures of a phase. */
	if (r->fits && r->device_count > 1 &&
		(uint64_t)(r->peak > 0 ? r->peak : 0) > r->device_memory_bytes / r->device_count)
		tdm_buf_puts(out, "  That is if they share it: one of them alone does not have so much.\n");
	if (!r->fits)
		put_advice(r, term, out);
}

/* Whether any phase is one that theory knows. */
static bool has_roles(const struct tdm_phases *r)
{
	size_t count = 0;
	for (int i = 0; i < TDM_ROLE_COUNT; i++)
		count += r->groups[i].count;
	return count != 0;
}

static void put_run(const struct tdm_phases_input *input, const struct tdm_phases *r, const struct tdm_term *term,
	struct tdm_buf *out)
{
	char count[TDM_BYTES_CAP];
	tdm_buf_puts(out, tdm_term_style(term, TDM_STYLE_BOLD));
	tdm_cell_put(out, tdm_str_of(r->run->name), 0, term->utf8);
	tdm_buf_puts(out, tdm_term_style(term, TDM_STYLE_OFF));
	if (input->path != NULL) {
		tdm_buf_puts(out, " (");
		tdm_cell_put(out, tdm_str_of(input->path), 0, term->utf8);
		if (r->run->line != 0)
			tdm_buf_printf(out, ":%" PRIu64, r->run->line);
		tdm_buf_putc(out, ')');
	}
	tdm_buf_putc(out, '\n');
	if (r->run->parameters != 0)
		tdm_buf_printf(
			out, "  Number of parameters: %s\n", tdm_format_count(count, sizeof count, r->run->parameters));
	if (r->other_model)
		tdm_buf_puts(out,
			"  The theory is that of the first model in this input, which has other parameters: give\n"
			"  this one in a file of its own, or --model_size\n");
	if (r->run->incomplete)
		tdm_buf_puts(out, "  This summary is not complete: what is missing is left out\n");
	if (r->run->last_open && r->run->phase_count != 0) {
		tdm_buf_puts(out, "  ");
		tdm_cell_put(out, tdm_str_of(r->run->phases[r->run->phase_count - 1].name), 60, term->utf8);
		tdm_buf_puts(out, " has not ended: its figures are as far as it came\n");
	}
	if (r->run->no_dispatch)
		tdm_buf_puts(
			out, "  Captured without dispatch: nothing was allocated, these are the sizes that would be\n");
	tdm_buf_putc(out, '\n');
	int columns = size_columns(r);
	put_table(r, term, columns, out);
	tdm_buf_putc(out, '\n');
	if (has_roles(r)) {
		put_theory(r, term, columns, out);
		tdm_buf_putc(out, '\n');
	}
	put_verdict(r, input->source, term, out);
}

void tdm_phases_text(const struct tdm_phases_report *report, const struct tdm_term *term, struct tdm_buf *out)
{
	bool first = true;
	for (size_t i = 0; i < report->input_count; i++)
		for (size_t k = 0; k < report->inputs[i].runs.count; k++, first = false) {
			if (!first)
				tdm_buf_putc(out, '\n');
			put_run(&report->inputs[i], &report->inputs[i].results[k], term, out);
		}
}
