/* The analysis of training phases as text. Columns of sizes are in MiB with two decimals, like the "MB" of a log, so
 * that they can be compared with it; sentences use the unit that fits. */
#include "base/units.h"
#include "report/cell.h"
#include "report/phases_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME_COLUMNS = 26, NAME_COLUMNS_MAX = 40, SIZE_COLUMNS = 12 };

static void put_size(struct tdm_buf *out, int64_t bytes)
{
	char text[TDM_BYTES_CAP];
	uint64_t size = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
	tdm_buf_printf(out, "%s%s", bytes < 0 ? "-" : "", tdm_format_bytes_short(text, sizeof text, size));
}

static struct tdm_value get_role(const struct tdm_field *field)
{
	enum tdm_phases_role role = tdm_phases_role_of(((const struct tdm_phase *)field->row)->name);
	return tdm_value_text(role != TDM_ROLE_NONE ? tdm_phases_role_names[role] : NULL);
}

enum { OF_NAME = TDM_WIDTH_OF_TABLE, OF_SIZE };

#define PHASE(member) TDM_MEMBER(struct tdm_phase, member), .width = OF_SIZE, .format = tdm_format_mib
const struct tdm_column tdm_phases_columns[] = {
	{ "Phase (MiB)", "name", TDM_MEMBER(struct tdm_phase, name), .width = OF_NAME },
	{ NULL, "role", .get = get_role },
	{ "Peak", "dram_peak", PHASE(figures.dram_peak) },
	{ "Allocated", "dram_allocated", PHASE(figures.dram_allocated) },
	{ "Freed", "dram_freed", PHASE(figures.dram_freed) },
	{ "Change", "dram_change", PHASE(figures.dram_change), .flags = TDM_WITH_SIGN },
	{ "Peak so far", "dram_cumulative_peak", PHASE(figures.dram_cumulative_peak) },
	{ "In use", "dram_cumulative_current", PHASE(figures.dram_cumulative_current) },
	{ NULL, "l1_peak_cb", PHASE(figures.l1_peak_cb) },
	{ NULL, "l1_peak_buffer", PHASE(figures.l1_peak_buffer) },
	{ "L1 peak", "l1_peak_total", PHASE(figures.l1_peak_total) },
};

static struct tdm_value get_difference(const struct tdm_field *field)
{
	return tdm_value_share(tdm_phases_difference(&((const struct tdm_phases_size *)field->row)->pair));
}

static void put_difference(const struct tdm_field *field, struct tdm_buf *out)
{
	struct tdm_value percent = get_difference(field);
	if (percent.type != TDM_VALUE_UNKNOWN)
		tdm_buf_printf(out, "%+.2f%%", percent.share);
	else
		tdm_buf_putc(out, '-');
}

enum { SIZE_EXPECTED = 1 << 2, SIZE_DIFFERENCE = 1 << 3, SIZE_NOTE = 1 << 4 }; /* columns, as bits */

#define SIZE(member) TDM_MEMBER(struct tdm_phases_size, member)
const struct tdm_column tdm_phases_size_columns[] = {
	{ "Size (MiB)", NULL, SIZE(name), .width = OF_NAME },
	{ "Measured", "measured", SIZE(pair.measured), .format = tdm_format_mib, .width = OF_SIZE },
	{ "Expected", "expected", SIZE(pair.expected), .format = tdm_format_mib, .width = OF_SIZE },
	{ "Difference", "difference_percent", .get = get_difference, .text = put_difference, .width = OF_SIZE,
		.flags = TDM_OTHER_SIDE },
	{ "", NULL, SIZE(note), .before = 2 },
};

/* The largest of `most` and the absolute figures of a phase. */
static uint64_t largest(uint64_t most, const struct tdm_phase *phase)
{
	for (size_t i = TDM_PHASES_FIGURES; i < sizeof tdm_phases_columns / sizeof *tdm_phases_columns; i++) {
		int64_t figure = *(const int64_t *)((const char *)phase + tdm_phases_columns[i].offset);
		most = figure != TDM_PHASE_UNKNOWN ? tdm_max(most, (uint64_t)llabs(figure)) : most;
	}
	return most;
}

/* Room for any figure of the run with its sign and a blank: many micro-batches soon allocate a TiB. */
static size_t size_columns(const struct tdm_phases *r)
{
	const struct tdm_phases_pair *pairs[] = { &r->model, &r->optimizer, &r->gradients };
	char text[TDM_BYTES_CAP];
	uint64_t most = 0;
	for (size_t i = 0; i < r->run->phase_count; i++)
		most = largest(most, &r->run->phases[i]);
	for (int i = 0; i < TDM_ROLE_COUNT; i++)
		most = largest(most, &(struct tdm_phase){ NULL, r->groups[i].sum });
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		most = tdm_max(most, pairs[i]->expected != TDM_BYTES_UNKNOWN ? pairs[i]->expected : 0);
	return tdm_max(SIZE_COLUMNS, strlen(tdm_format_mib(text, sizeof text, most)) + 2);
}

static void put_table(const struct tdm_phases *r, const struct tdm_term *term, size_t size, struct tdm_buf *out)
{
	struct tdm_table table = { TDM_COLUMNS(tdm_phases_columns), .indent = 2, .style = TDM_STYLE_BOLD,
		.widths = { NAME_COLUMNS, size } };
	for (size_t i = 0; i < r->run->phase_count; i++)
		table.widths[0] = tdm_max(table.widths[0], tdm_min(strlen(r->run->phases[i].name), NAME_COLUMNS_MAX));
	tdm_table_head(&table, term, out);
	for (size_t i = 0; i < r->run->phase_count; i++)
		tdm_table_row(&table, &r->run->phases[i], term, out);
	for (int i = 0; i < TDM_ROLE_COUNT; i++) {
		char all[64];
		if (r->groups[i].count < 2)
			continue;
		snprintf(all, sizeof all, "%s, all %zu", tdm_phases_role_names[i], r->groups[i].count);
		tdm_table_row(&table, &(struct tdm_phase){ all, r->groups[i].sum }, term, out);
	}
}

/* Unknown parts are included in the rest of the peak. */
static bool has_unknown_part(const struct tdm_phases *r)
{
	bool unknown = false;
	for (int i = 0; i < TDM_PART_COUNT; i++)
		unknown |= i != TDM_PART_OTHER && r->parts[i] == TDM_PHASE_UNKNOWN;
	return unknown;
}

static void put_theory(const struct tdm_phases *r, const struct tdm_term *term, size_t size, struct tdm_buf *out)
{
	size_t micro = r->groups[TDM_ROLE_FORWARD].count;
	char passes[96] = "", rest[96] = "the rest of the peak, including the unknown parts";
	if (micro > 1)
		snprintf(passes, sizeof passes, "the largest of %zu passes, which do not overlap", micro);
	if (!has_unknown_part(r))
		snprintf(rest, sizeof rest, "peak less %s model and optimizer, activations and overhead",
			r->parts_measured ? "measured" : "expected");
	const struct tdm_phases_size rows[] = {
		{ "Model parameters", r->model, NULL },
		{ "Optimizer state", r->optimizer, NULL },
		{ "Gradients", r->gradients, NULL },
		{ "Activations", { .measured = r->activations }, passes },
		{ "Gradients overhead", { .measured = r->gradients_overhead },
			"peak of the backward pass above its start" },
		{ "Other", { .measured = r->parts[TDM_PART_OTHER] }, rest },
		{ "Peak DRAM", { .measured = r->peak }, "" },
	};
	struct tdm_table table = { TDM_COLUMNS(tdm_phases_size_columns), .indent = 2, .style = TDM_STYLE_BOLD,
		.widths = { NAME_COLUMNS, size } };
	tdm_table_head(&table, term, out);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		table.hidden = rows[i].note != NULL ? SIZE_EXPECTED | SIZE_DIFFERENCE : SIZE_NOTE;
		tdm_table_row(&table, &rows[i], term, out);
	}
}

static const char *memory_from(enum tdm_phases_memory_from from, const char *source)
{
	if (from == TDM_MEMORY_OPTION)
		return "as given";
	if (from == TDM_MEMORY_DEFAULT)
		return "assumed: neither the input nor --device_memory says";
	return strcmp(source, "train_log") == 0     ? "from the log"
	       : strcmp(source, "ttnn_report") == 0 ? "as all cards with such an L1 have"
						    : "as the program described its devices";
}

static void put_advice(const struct tdm_phases *r, const struct tdm_term *term, struct tdm_buf *out)
{
	const struct tdm_phases_advice *a = &r->advice;
	if (a->why_not != NULL) {
		tdm_buf_printf(out, "  No advice: %s.\n", a->why_not);
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
	/* The figures of a phase do not say how much each device holds. */
	if (r->fits && r->device_count > 1 &&
		(uint64_t)(r->peak > 0 ? r->peak : 0) > r->device_memory_bytes / r->device_count)
		tdm_buf_puts(out, "  That is if they share it: one of them alone does not have enough.\n");
	if (!r->fits)
		put_advice(r, term, out);
}

/* Whether the theory covers any of the phases. */
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
		tdm_buf_puts(out, "  This summary is not complete: the missing parts are left out\n");
	if (r->run->last_open && r->run->phase_count != 0) {
		tdm_buf_puts(out, "  ");
		tdm_cell_put(out, tdm_str_of(r->run->phases[r->run->phase_count - 1].name), 60, term->utf8);
		tdm_buf_puts(out, " has not ended: its figures are those so far\n");
	}
	if (r->run->no_dispatch)
		tdm_buf_puts(
			out, "  Captured without dispatch: nothing was allocated, these are the sizes that would be\n");
	tdm_buf_putc(out, '\n');
	size_t columns = size_columns(r);
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
