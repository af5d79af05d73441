/* The profile of logs as text: files, errors, pressure, timeline. The tables are in log_tables.c. */
#include "report/log_report.h"
#include "analyze/log_pressure.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/units.h"
#include "base/wrap.h"
#include "report/cell.h"
#include "report/finding_report.h"
#include "report/report_put.h"

#include <inttypes.h>
#include <stdio.h>

const char *tdm_log_file_kind(const struct tdm_log_file *f)
{
	if (f->by_dialect[TDM_LOG_BY_SERVER] != 0)
		return "log of an allocation server";
	if (f->by_dialect[TDM_LOG_BY_WORKLOAD] != 0)
		return "debug log of a program that prints its circular buffers or kernels";
	if (f->by_dialect[TDM_LOG_BY_COMPILER] != 0)
		return "log with memory states of tt-mlir";
	if (f->by_dialect[TDM_LOG_BY_WATCHER] != 0 && f->logger_lines == 0)
		return "log of the runtime's Watcher";
	if (f->by_dialect[TDM_LOG_BY_RUNTIME] == 0 && f->logger_lines == 0)
		return f->lines == 0  ? (f->is_cut ? "could not be read" : "empty")
		       : f->is_binary ? "binary data, no log"
				      : "text without lines of the runtime's logger";
	return f->debug_lines != 0 ? "stock log of the runtime, with debug lines" : "stock log of the runtime";
}

const char *tdm_log_file_lacks(const struct tdm_log_file *f)
{
	bool stock = f->by_dialect[TDM_LOG_BY_SERVER] == 0 && f->by_dialect[TDM_LOG_BY_WORKLOAD] == 0 &&
		     f->by_dialect[TDM_LOG_BY_COMPILER] == 0 && f->by_dialect[TDM_LOG_BY_WATCHER] == 0;
	if (!stock || (f->by_dialect[TDM_LOG_BY_RUNTIME] == 0 && f->logger_lines == 0))
		return NULL;
	if (f->amount_lines != 0)
		return "circular buffers, and the addresses of buffers: the runtime prints no line about them. Debug "
		       "lines of the program itself can.";
	return "circular buffers and ordinary buffers: the runtime prints no line when it allocates them. "
	       "TT_METAL_SHM_VERBOSE=1 adds the sizes of buffers, debug lines of the program itself add circular "
	       "buffers.";
}

static void wrapped(struct tdm_buf *out, const struct tdm_log_report *report, const char *head, const char *text)
{
	tdm_put_label(out, head);
	tdm_wrap(out, tdm_str_of(text), (struct tdm_wrap){ TDM_LABEL_COLUMNS, TDM_LABEL_COLUMNS, report->width });
}

/* "3 lines too long: ..."; nothing when there are none. */
static void put_lines(struct tdm_buf *out, uint64_t count, const char *what)
{
	if (count == 0)
		return;
	tdm_put_label(out, "");
	tdm_put_count(out, count, "line", "lines");
	tdm_buf_printf(out, " %s\n", what);
}

static void put_head(const struct tdm_log_profile *p, const struct tdm_log_report *report, struct tdm_buf *out)
{
	char from[TDM_DURATION_CAP], to[TDM_DURATION_CAP];
	if (report->is_sample)
		wrapped(out, report, "Sample",
			"no file was given: this is a small log that comes with tidemark, not one of yours");
	for (uint32_t i = 0; i < p->file_count; i++) {
		const struct tdm_log_file *f = &p->files[i];
		tdm_put_label(out, "Log");
		if (p->file_count > 1)
			tdm_buf_printf(out, "[%u] ", i + 1);
		tdm_cell_put(out, tdm_str_of(f->name), 0, report->utf8);
		tdm_buf_puts(out, ": ");
		tdm_put_count(out, f->lines, "line", "lines");
		tdm_buf_printf(out, ", %s", TDM_SIZE_TEXT(f->bytes));
		if (f->first_ns != 0)
			tdm_buf_printf(out, ", %s to %s", tdm_format_clock(from, sizeof from, f->first_ns),
				tdm_format_clock(to, sizeof to, f->last_ns));
		tdm_buf_putc(out, '\n');
		tdm_put_label(out, "");
		tdm_buf_printf(out, "%s; ", tdm_log_file_kind(f));
		tdm_put_count(out, f->records, "record", "records");
		tdm_buf_puts(out, " about memory\n");
		if (f->is_cut && f->lines != 0)
			wrapped(out, report, "", "incomplete: it could not be read to its end");
		put_lines(out, f->cut_lines, "too long: only the beginning was looked at");
		put_lines(out, f->refused_lines, "about amounts that cannot be used: left out");
		if (!report->errors_only && tdm_log_file_lacks(f) != NULL)
			wrapped(out, report, "Not in it", tdm_log_file_lacks(f));
	}
}

static struct tdm_value get_figure(const struct tdm_field *field)
{
	const struct tdm_log_profile *p = field->table->context;
	return tdm_value_number(tdm_finding_number(&p->found, field->row, field->column->key));
}

static void put_what(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_log_profile *p = field->table->context;
	struct tdm_finding_view view = { .findings = &p->found };
	uint64_t rank = tdm_finding_number(&p->found, field->row, "rank");
	uint64_t refused = tdm_finding_number(&p->found, field->row, "refused_figures");
	if (p->file_count > 1)
		tdm_buf_printf(out, "[%" PRIu64 "] ", tdm_finding_number(&p->found, field->row, "file") + 1);
	if (rank != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, "rank %" PRIu64 ": ", rank);
	tdm_finding_text(&view, field->row, out);
	if (refused != 0)
		tdm_buf_printf(out, " (%" PRIu64 " figure%s not fit 64 bits)", refused,
			refused == 1 ? " of it does" : "s of it do");
}

static void put_failures(const struct tdm_log_profile *p, const struct tdm_log_report *report, struct tdm_buf *out)
{
	static const struct tdm_column columns[] = {
		{ "time", "time_ns", .get = get_figure, .format = tdm_format_clock, .width = 12,
			.flags = TDM_OTHER_SIDE },
		{ "line", "line", .get = get_figure, .width = 9, .flags = TDM_OTHER_SIDE },
		{ "lines", "places", .get = get_figure, .width = 5, .before = 1, .flags = TDM_OTHER_SIDE },
		{ "what", .text = put_what, .flags = TDM_WRAP, .before = 1 },
	};
	const struct tdm_table table = { TDM_COLUMNS(columns), p->found.list, sizeof *p->found.list, p->found.count,
		.limit = report->limit, .dropped = p->failures.dropped, .context = p, .more = "...", .gap = 1 };
	tdm_buf_printf(out, "\nErrors: %s", TDM_COUNT_TEXT(p->failure_count));
	if (p->warning_count != 0)
		tdm_buf_printf(out, ", warnings: %" PRIu64, p->warning_count);
	tdm_buf_puts(out, table.count != 0 ? " (repeated lines count once)\n" : "\n");
	tdm_table_text(&table, &(struct tdm_term){ .utf8 = report->utf8, .width = report->width }, out);
}

static void put_pressure(const struct tdm_log_profile *p, uint32_t file, struct tdm_buf *out)
{
	const struct tdm_log_file *f = &p->files[file];
	struct tdm_findings found = { 0 };
	struct tdm_finding_view view = { .findings = &found };
	if (f->by_dialect[TDM_LOG_BY_WORKLOAD] == 0)
		return;
	tdm_buf_puts(out, "\nPressure");
	if (p->file_count > 1)
		tdm_buf_printf(out, " [%u]", file + 1);
	tdm_buf_puts(out, "\n");
	tdm_log_profile_pressure(p, file, &found);
	for (size_t i = 0; i < found.count; i++)
		tdm_finding_text(&view, &found.list[i], out);
	out->failed |= tdm_findings_done(&found);
	if (f->verified != TDM_LOG_UNKNOWN && f->passed != TDM_LOG_UNKNOWN && f->verified != 0)
		tdm_buf_printf(out, "%-16s %" PRIu64 " of %" PRIu64 " values passed (%.1f %%)\n", "verification",
			f->passed, f->verified, 100 * (double)f->passed / (double)f->verified);
}

static void put_row(struct tdm_buf *out, const char *name, const uint64_t *slots, size_t count, bool is_bytes,
	const struct tdm_log_report *report)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const signs[] = { " ", ".", ".", ":", ":", "=", "=", "#", "#" };
	uint64_t most = 0;
	for (size_t i = 0; i < count; i++)
		most = slots[i] > most ? slots[i] : most;
	if (most == 0)
		return;
	tdm_buf_printf(out, "%-8s |", name);
	for (size_t i = 0; i < count; i++) {
		size_t height = slots[i] == 0 ? 0 : 1 + (size_t)((double)slots[i] / (double)most * 7.0);
		tdm_buf_puts(out, report->utf8 ? blocks[height] : signs[height]);
	}
	tdm_buf_printf(out, "| at most %s%s%s\n", is_bytes ? TDM_SIZE_TEXT(most) : TDM_COUNT_TEXT(most),
		is_bytes ? "" : " record", is_bytes ? "" : tdm_plural(most));
}

static void put_timeline(const struct tdm_log_profile *p, const struct tdm_log_report *report, struct tdm_buf *out)
{
	static const char *const names[] = { [TDM_LOG_ROW_MEMORY] = "memory",
		[TDM_LOG_ROW_CB] = "CB",
		[TDM_LOG_ROW_KERNEL] = "kernels",
		[TDM_LOG_ROW_FAILURE] = "errors" };
	const struct tdm_log_timeline *t = &p->timeline;
	char clock[TDM_DURATION_CAP];
	if (!t->used || t->slots == 0)
		return;
	if (t->by_line)
		tdm_buf_printf(out,
			"\nTimeline (no times in the log: by line, from %" PRIu64 ", %" PRIu64 " line%s a column)\n",
			t->from, t->width, tdm_plural(t->width));
	else
		tdm_buf_printf(out, "\nTimeline (from %s, %s a column)\n",
			tdm_format_clock(clock, sizeof clock, t->from), TDM_TIME_TEXT(t->width));
	for (size_t row = 0; row < TDM_LOG_ROW_COUNT; row++)
		put_row(out, names[row], t->rows[row], t->slots, false, report);
	put_row(out, "dram", t->dram_bytes, t->slots, true, report);
	put_row(out, "l1", t->l1_bytes, t->slots, true, report);
}

void tdm_log_text(const struct tdm_log_profile *p, const struct tdm_log_report *report, struct tdm_buf *out)
{
	static const uint8_t rest[] = { TDM_LOG_TABLE_KERNELS, TDM_LOG_TABLE_PROGRAMS, TDM_LOG_TABLE_OPS,
		TDM_LOG_TABLE_AMOUNTS, TDM_LOG_TABLE_STATES, TDM_LOG_TABLE_REMAINING, TDM_LOG_TABLE_STACKS };
	put_head(p, report, out);
	put_failures(p, report, out);
	if (report->errors_only)
		return;
	tdm_log_table_text(p, TDM_LOG_TABLE_CBS, report, out);
	for (uint32_t file = 0; file < p->file_count; file++)
		put_pressure(p, file, out);
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
		tdm_log_table_text(p, (enum tdm_log_table_id)rest[i], report, out);
	put_timeline(p, report, out);
	if (p->untracked != 0)
		tdm_buf_printf(out, "\n%" PRIu64 " free%s or fill%s could not be followed\n", p->untracked,
			tdm_plural(p->untracked), tdm_plural(p->untracked));
}
