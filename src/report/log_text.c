#include "report/log_report.h"
#include "analyze/log_pressure.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/units.h"
#include "base/wrap.h"
#include "report/cell.h"
#include "report/report_put.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { LABEL_COLUMNS = 15, KERNEL_COLUMNS = 32, WIDTH_DEFAULT = 100 };

char *tdm_log_clock(char *dst, size_t cap, uint64_t time_ns)
{
	uint64_t ms = time_ns / TDM_NS_PER_MS % (UINT64_C(24) * 3600 * 1000);
	if (time_ns == 0)
		snprintf(dst, cap, "-");
	else
		snprintf(dst, cap, "%02u:%02u:%02u.%03u", (unsigned)(ms / 3600000), (unsigned)(ms / 60000 % 60),
			(unsigned)(ms / 1000 % 60), (unsigned)(ms % 1000));
	return dst;
}

const char *tdm_log_file_kind(const struct tdm_log_file *f)
{
	if (f->by_dialect[TDM_LOG_BY_SERVER] != 0)
		return "log of an allocation server";
	if (f->by_dialect[TDM_LOG_BY_WORKLOAD] != 0)
		return "debug log of a program that prints its circular buffers or kernels";
	if (f->by_dialect[TDM_LOG_BY_COMPILER] != 0)
		return "log with memory states of tt-mlir";
	if (f->by_dialect[TDM_LOG_BY_RUNTIME] == 0 && f->logger_lines == 0)
		return f->lines == 0  ? (f->is_cut ? "could not be read" : "empty")
		       : f->is_binary ? "binary data, no log"
				      : "text without lines of the runtime's logger";
	return f->debug_lines != 0 ? "stock log of the runtime, with debug lines" : "stock log of the runtime";
}

const char *tdm_log_file_lacks(const struct tdm_log_file *f)
{
	bool stock = f->by_dialect[TDM_LOG_BY_SERVER] == 0 && f->by_dialect[TDM_LOG_BY_WORKLOAD] == 0 &&
		     f->by_dialect[TDM_LOG_BY_COMPILER] == 0;
	if (!stock || (f->by_dialect[TDM_LOG_BY_RUNTIME] == 0 && f->logger_lines == 0))
		return NULL;
	if (f->amount_lines != 0)
		return "circular buffers, and the addresses of buffers: the runtime prints no line about them. Debug "
		       "lines of the program itself can.";
	return "circular buffers and ordinary buffers: the runtime prints no line when it allocates them. "
	       "TT_METAL_SHM_VERBOSE=1 adds the sizes of buffers, debug lines of the program itself add circular "
	       "buffers.";
}

static void label(struct tdm_buf *out, const char *text)
{
	tdm_buf_printf(out, "%-*s", LABEL_COLUMNS, text);
}

static void wrapped(struct tdm_buf *out, const struct tdm_log_report *report, const char *head, const char *text)
{
	label(out, head);
	tdm_wrap(out, tdm_str_of(text), (struct tdm_wrap){ LABEL_COLUMNS, LABEL_COLUMNS, report->width });
}

/* "[2] " before what belongs to one of several files. */
static void put_file(struct tdm_buf *out, const struct tdm_log_profile *p, uint32_t file)
{
	if (p->file_count > 1)
		tdm_buf_printf(out, "[%u] ", file + 1);
}

static void put_head(const struct tdm_log_profile *p, const struct tdm_log_report *report, struct tdm_buf *out)
{
	char lines[TDM_BYTES_CAP], bytes[TDM_BYTES_CAP], from[TDM_LOG_CLOCK_CAP], to[TDM_LOG_CLOCK_CAP];
	if (report->is_sample)
		wrapped(out, report, "Sample",
			"no file was given: this is a small log that comes with tidemark, not one of yours");
	for (uint32_t i = 0; i < p->file_count; i++) {
		const struct tdm_log_file *f = &p->files[i];
		label(out, "Log");
		put_file(out, p, i);
		tdm_cell_put(out, tdm_str_of(f->name), 0, report->utf8);
		tdm_buf_printf(out, ": %s line%s, %s", tdm_format_count(lines, sizeof lines, f->lines),
			tdm_plural(f->lines), tdm_format_bytes_short(bytes, sizeof bytes, f->bytes));
		if (f->first_ns != 0)
			tdm_buf_printf(out, ", %s to %s", tdm_log_clock(from, sizeof from, f->first_ns),
				tdm_log_clock(to, sizeof to, f->last_ns));
		tdm_buf_puts(out, "\n");
		label(out, "");
		tdm_buf_printf(out, "%s; %s record%s about memory\n", tdm_log_file_kind(f),
			tdm_format_count(lines, sizeof lines, f->records), tdm_plural(f->records));
		if (f->is_cut && f->lines != 0) {
			label(out, "");
			tdm_buf_puts(out, "incomplete: it could not be read to its end\n");
		}
		if (f->cut_lines != 0) {
			label(out, "");
			tdm_buf_printf(out, "%s line%s too long: only the beginning was looked at\n",
				tdm_format_count(lines, sizeof lines, f->cut_lines), tdm_plural(f->cut_lines));
		}
		if (f->refused_lines != 0) {
			label(out, "");
			tdm_buf_printf(out, "%s line%s about amounts that cannot be used: left out\n",
				tdm_format_count(lines, sizeof lines, f->refused_lines), tdm_plural(f->refused_lines));
		}
		if (!report->errors_only && tdm_log_file_lacks(f) != NULL)
			wrapped(out, report, "Not in it", tdm_log_file_lacks(f));
	}
}

/* "... and 12 more" under a table that is cut. */
static void put_rest(struct tdm_buf *out, uint64_t more)
{
	char count[TDM_BYTES_CAP];
	if (more != 0)
		tdm_buf_printf(out, "... and %s more\n", tdm_format_count(count, sizeof count, more));
}

/* The same; how many rows those without a place would have made is not known, only how many records they are. */
static void put_more(struct tdm_buf *out, const struct tdm_log_table *t, size_t shown)
{
	char count[TDM_BYTES_CAP];
	put_rest(out, t->count - shown);
	if (t->dropped != 0)
		tdm_buf_printf(out, "... and %s record%s about others: the table is full\n",
			tdm_format_count(count, sizeof count, t->dropped), tdm_plural(t->dropped));
}

static size_t rows_shown(const struct tdm_log_table *t, const struct tdm_log_report *report)
{
	return t->count < report->limit ? t->count : report->limit;
}

static void put_failures(const struct tdm_log_profile *p, const struct tdm_log_report *report, struct tdm_buf *out)
{
	enum { WHAT = 30 };
	char clock[TDM_LOG_CLOCK_CAP], text[TDM_LOG_TEXT_CAP], count[TDM_BYTES_CAP];
	const struct tdm_log_failure *rows = p->failures.rows;
	size_t shown = rows_shown(&p->failures, report);
	tdm_buf_printf(out, "\nErrors: %s", tdm_format_count(count, sizeof count, p->failure_count));
	if (p->warning_count != 0)
		tdm_buf_printf(out, ", warnings: %" PRIu64, p->warning_count);
	if (p->failures.count == 0) {
		tdm_buf_puts(out, "\n");
		return;
	}
	tdm_buf_puts(out, " (one that stands in several lines is one)\n");
	tdm_buf_puts(out, "time              line  lines  what\n");
	for (size_t i = 0; i < shown; i++) {
		struct tdm_failure f = tdm_log_failure_get(&rows[i]);
		struct tdm_buf line;
		tdm_buf_init(&line);
		tdm_buf_printf(out, "%-12s %9" PRIu64 "  %5" PRIu64 "  ",
			tdm_log_clock(clock, sizeof clock, rows[i].time_ns), rows[i].line, rows[i].places);
		put_file(&line, p, rows[i].file);
		if (rows[i].rank != TDM_LOG_NO_RANK)
			tdm_buf_printf(&line, "rank %d: ", rows[i].rank);
		tdm_buf_printf(&line, "%s: %s", tdm_failure_title((enum tdm_failure_type)f.type),
			tdm_failure_summary(&f, text, sizeof text));
		if (f.refused != 0)
			tdm_buf_printf(&line, " (%u figure%s not fit 64 bits)", f.refused,
				f.refused == 1 ? " of it does" : "s of it do");
		tdm_wrap(out, tdm_buf_str(&line), (struct tdm_wrap){ WHAT + 1, WHAT + 1, report->width });
		tdm_buf_done(&line);
	}
	put_rest(out, p->failures.count - shown + p->failures.dropped);
}

static void put_number(struct tdm_buf *out, int columns, uint64_t number)
{
	char text[TDM_BYTES_CAP];
	if (number == TDM_LOG_UNKNOWN)
		tdm_buf_printf(out, " %*s", columns, "-");
	else
		tdm_buf_printf(out, " %*s", columns, tdm_format_count(text, sizeof text, number));
}

static void put_duration(struct tdm_buf *out, int columns, bool known, uint64_t ns)
{
	char text[TDM_DURATION_CAP];
	tdm_buf_printf(out, " %*s", columns, known ? tdm_format_duration(text, sizeof text, ns) : "-");
}

static void put_bytes(struct tdm_buf *out, uint64_t bytes)
{
	char text[TDM_BYTES_CAP];
	tdm_buf_printf(
		out, " %s", bytes == TDM_BYTES_UNKNOWN ? "         -" : tdm_format_bytes(text, sizeof text, bytes));
}

static void put_cbs(const struct tdm_log_profile *p, const struct tdm_log_report *report, struct tdm_buf *out)
{
	const struct tdm_log_cb *rows = p->cbs.rows;
	size_t shown = rows_shown(&p->cbs, report);
	if (p->cbs.count == 0)
		return;
	tdm_buf_puts(out,
		"\nCircular buffers (lines that allocate, reserve, push, wait, pop; fullest: tiles on one core)\n"
		"               tiles  size/core  cores  reserve     push     wait      pop fullest  stalls  "
		"longest\n");
	for (size_t i = 0; i < shown; i++) {
		const struct tdm_log_cb *cb = &rows[i];
		char name[40];
		if (p->file_count > 1)
			snprintf(name, sizeof name, "[%u] ", cb->file + 1);
		else
			name[0] = '\0';
		size_t len = strlen(name);
		if (cb->label[0] != '\0')
			tdm_str_shown(tdm_str_of(cb->label), name + len, sizeof name - len);
		else
			snprintf(name + len, sizeof name - len, "CB%u", cb->cb);
		tdm_buf_printf(out, "%-14s", name);
		put_number(out, 5, cb->tiles);
		put_bytes(out, cb->bytes);
		put_number(out, 6, cb->cores);
		put_number(out, 8, cb->reserves);
		put_number(out, 8, cb->pushes);
		put_number(out, 8, cb->waits);
		put_number(out, 8, cb->pops);
		put_number(out, 7, cb->pushes != 0 ? cb->peak_fill : TDM_LOG_UNKNOWN);
		put_number(out, 7, cb->timed != 0 ? cb->stalls : TDM_LOG_UNKNOWN);
		put_duration(out, 8, cb->timed != 0, cb->longest_stall_ns);
		tdm_buf_puts(out, "\n");
	}
	put_more(out, &p->cbs, shown);
}

static void put_share(struct tdm_buf *out, const char *name, double share, enum tdm_log_band band, const char *why)
{
	if (isnan(share))
		tdm_buf_printf(out, "%-16s unknown           %s\n", name, why);
	else
		tdm_buf_printf(out, "%-16s %5.1f %%  %-7s  %s\n", name, 100 * share,
			band != TDM_LOG_BAND_UNKNOWN ? tdm_log_band_name(band) : "", why);
}

static void put_pressure(const struct tdm_log_profile *p, uint32_t file, struct tdm_buf *out)
{
	struct tdm_log_pressure s = tdm_log_profile_pressure(p, file);
	const struct tdm_log_file *f = &p->files[file];
	char bytes[TDM_BYTES_CAP];
	if (f->by_dialect[TDM_LOG_BY_WORKLOAD] == 0)
		return;
	tdm_buf_puts(out, "\nPressure");
	if (p->file_count > 1)
		tdm_buf_printf(out, " [%u]", file + 1);
	tdm_buf_puts(out, "\n");
	put_share(out, "CB1 miss rate", s.miss, tdm_log_miss_band(s.miss),
		isnan(s.miss)    ? "needs the tiles of B and of CB1"
		: s.b_is_assumed ? "from sizes, not observed; as many B tiles as A tiles were assumed"
				 : "from sizes, not observed");
	put_share(out, "CB utilization", s.utilization, tdm_log_utilization_band(s.utilization),
		isnan(s.utilization) ? "needs lines that push, and sizes in tiles"
				     : "observed: the fullest moment of each");
	put_share(out, "stalls", s.stall_share, TDM_LOG_BAND_UNKNOWN,
		isnan(s.stall_share) ? "needs reserves or waits that say how long they waited"
				     : "observed: reserves and waits that had to wait");
	put_share(out, "share of L1", s.l1_share, TDM_LOG_BAND_UNKNOWN,
		isnan(s.l1_share) ? "needs sizes in bytes and the runtime's debug lines about L1"
				  : "circular buffers of a core, of the L1 for buffers");
	if (s.cb_bytes != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, "%-16s %s in each core\n", "circular buffers",
			tdm_format_bytes_short(bytes, sizeof bytes, s.cb_bytes));
	if (isnan(s.score))
		tdm_buf_printf(out, "%-16s unknown\n", "pressure score");
	else
		tdm_buf_printf(out,
			"%-16s %5.0f    %-7s  heuristic: the largest of miss rate, stalls and share of L1\n",
			"pressure score", s.score, tdm_log_band_name(tdm_log_score_band(s.score)));
	tdm_buf_printf(out, "%-16s %s\n", "thrashing risk", tdm_log_band_name(tdm_log_score_band(s.score)));
	if (f->verified != TDM_LOG_UNKNOWN && f->passed != TDM_LOG_UNKNOWN && f->verified != 0)
		tdm_buf_printf(out, "%-16s %" PRIu64 " of %" PRIu64 " values passed (%.1f %%)\n", "verification",
			f->passed, f->verified, 100 * (double)f->passed / (double)f->verified);
}

static void put_kernels(const struct tdm_log_profile *p, const struct tdm_log_report *report, struct tdm_buf *out)
{
	const struct tdm_log_kernel *rows = p->kernels.rows;
	size_t shown = rows_shown(&p->kernels, report);
	if (p->kernels.count == 0)
		return;
	tdm_buf_printf(out, "\n%-*s %8s %8s %8s %8s %10s\n", KERNEL_COLUMNS, "Kernels", "started", "ended", "in all",
		"longest", "code");
	for (size_t i = 0; i < shown; i++) {
		const struct tdm_log_kernel *k = &rows[i];
		put_file(out, p, k->file);
		size_t used = p->file_count > 1 ? k->file < 9 ? 4 : 5 : 0;
		size_t columns = tdm_cell_put(out, tdm_str_of(k->name[0] != '\0' ? k->name : "(no name)"),
			KERNEL_COLUMNS - used, report->utf8);
		tdm_buf_fill(out, ' ', KERNEL_COLUMNS - used - columns);
		put_number(out, 8, k->starts);
		put_number(out, 8, k->ends);
		put_duration(out, 8, k->timed != 0, k->total_ns);
		put_duration(out, 8, k->timed != 0, k->longest_ns);
		put_bytes(out, k->bytes);
		tdm_buf_puts(out, "\n");
	}
	put_more(out, &p->kernels, shown);
}

static void put_ops(const struct tdm_log_profile *p, const struct tdm_log_report *report, struct tdm_buf *out)
{
	const struct tdm_log_op *rows = p->ops.rows;
	size_t shown = rows_shown(&p->ops, report);
	if (p->ops.count == 0)
		return;
	tdm_buf_printf(out, "\n%-*s %8s %8s %8s\n", KERNEL_COLUMNS, "Operations", "times", "in all", "longest");
	for (size_t i = 0; i < shown; i++) {
		put_file(out, p, rows[i].file);
		size_t used = p->file_count > 1 ? rows[i].file < 9 ? 4 : 5 : 0;
		size_t columns = tdm_cell_put(out, tdm_str_of(rows[i].name), KERNEL_COLUMNS - used, report->utf8);
		tdm_buf_fill(out, ' ', KERNEL_COLUMNS - used - columns);
		put_number(out, 8, rows[i].count);
		put_duration(out, 8, rows[i].timed != 0, rows[i].total_ns);
		put_duration(out, 8, rows[i].timed != 0, rows[i].longest_ns);
		tdm_buf_puts(out, "\n");
	}
	put_more(out, &p->ops, shown);
}

static void put_programs(const struct tdm_log_profile *p, const struct tdm_log_report *report, struct tdm_buf *out)
{
	const struct tdm_log_kernel *rows = p->programs.rows;
	size_t shown = rows_shown(&p->programs, report);
	if (p->programs.count == 0)
		return;
	tdm_buf_printf(out, "\n%-*s %8s %10s\n", KERNEL_COLUMNS, "Sizes of programs", "lines", "largest");
	for (size_t i = 0; i < shown; i++) {
		size_t columns = tdm_cell_put(out, tdm_str_of(rows[i].name), KERNEL_COLUMNS, report->utf8);
		tdm_buf_fill(out, ' ', KERNEL_COLUMNS - columns);
		put_number(out, 8, rows[i].starts);
		put_bytes(out, rows[i].bytes);
		tdm_buf_puts(out, "\n");
	}
	put_more(out, &p->programs, shown);
}

static void put_amounts(const struct tdm_log_profile *p, const struct tdm_log_report *report, struct tdm_buf *out)
{
	const struct tdm_log_amount *rows = p->amounts.rows;
	size_t shown = rows_shown(&p->amounts, report);
	if (p->amounts.count == 0)
		return;
	tdm_buf_puts(out,
		"\nBuffers (sizes asked for)\n"
		"   process  device  kind         allocs     frees       peak     at line     at end  unmatched\n");
	for (size_t i = 0; i < shown; i++) {
		const struct tdm_log_amount *a = &rows[i];
		char device[16] = "-", pid[16] = "-";
		if (a->device != TDM_LOG_DEVICE_UNKNOWN)
			snprintf(device, sizeof device, "%" PRIu32, a->device);
		if (a->pid > 0)
			snprintf(pid, sizeof pid, "%" PRId32, a->pid);
		put_file(out, p, a->file);
		tdm_buf_printf(out, "%*s  %6s  %-10s", p->file_count > 1 ? 6 : 10, pid, device,
			a->kind < TDM_KIND_COUNT ? tdm_kind_name((enum tdm_kind)a->kind) : "unknown");
		put_number(out, 8, a->allocs);
		put_number(out, 9, a->frees);
		put_bytes(out, a->peak_bytes);
		put_number(out, 11, a->peak_line != 0 ? a->peak_line : TDM_LOG_UNKNOWN);
		put_bytes(out, a->bytes);
		put_number(out, 10, a->unmatched);
		tdm_buf_puts(out, "\n");
	}
	put_more(out, &p->amounts, shown);
}

static void put_states(const struct tdm_log_profile *p, const struct tdm_log_report *report, struct tdm_buf *out)
{
	const struct tdm_log_state *rows = p->states.rows;
	size_t shown = rows_shown(&p->states, report);
	if (p->states.count == 0)
		return;
	tdm_buf_puts(out,
		"\nMemory states (in each bank, at the peak)\n"
		"rank  kind        states  banks       size  allocated    largest  least\n"
		"                                                            free  largest    at operation\n");
	for (size_t i = 0; i < shown; i++) {
		const struct tdm_log_state *s = &rows[i];
		char rank[16] = "-";
		if (s->rank != TDM_LOG_NO_RANK)
			snprintf(rank, sizeof rank, "%d", s->rank);
		put_file(out, p, s->file);
		tdm_buf_printf(out, "%-5s %-10s", rank, tdm_kind_name((enum tdm_kind)s->kind));
		put_number(out, 7, s->count);
		put_number(out, 6, s->peak.banks);
		put_bytes(out, s->peak.total);
		put_bytes(out, s->peak.allocated);
		put_bytes(out, s->peak.largest_free);
		put_bytes(out, s->least_largest_free);
		tdm_buf_puts(out, "  ");
		tdm_cell_put(out, tdm_str_of(s->peak_op), 40, report->utf8);
		tdm_cell_trim(out);
		tdm_buf_puts(out, "\n");
	}
	put_more(out, &p->states, shown);
}

static void put_remaining(const struct tdm_log_profile *p, const struct tdm_log_report *report, struct tdm_buf *out)
{
	const struct tdm_log_remaining *rows = p->remaining.rows;
	size_t shown = rows_shown(&p->remaining, report);
	if (p->remaining.count == 0)
		return;
	tdm_buf_puts(
		out, "\nRemaining buffers, as the server listed them last\ndevice  kind        buffers      bytes\n");
	for (size_t i = 0; i < shown; i++) {
		if (rows[i].device != TDM_LOG_DEVICE_UNKNOWN)
			tdm_buf_printf(out, "%6" PRIu32, rows[i].device);
		else
			tdm_buf_puts(out, "     -");
		tdm_buf_printf(out, "  %-10s", tdm_kind_name((enum tdm_kind)rows[i].kind));
		put_number(out, 8, rows[i].buffers);
		put_bytes(out, rows[i].bytes);
		tdm_buf_puts(out, "\n");
	}
	put_more(out, &p->remaining, shown);
}

static void put_row(struct tdm_buf *out, const char *name, const uint64_t *slots, size_t count, bool is_bytes,
	const struct tdm_log_report *report)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const signs[] = { " ", ".", ".", ":", ":", "=", "=", "#", "#" };
	char text[TDM_BYTES_CAP];
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
	tdm_buf_printf(out, "| at most %s%s%s\n",
		is_bytes ? tdm_format_bytes_short(text, sizeof text, most) : tdm_format_count(text, sizeof text, most),
		is_bytes ? "" : " record", is_bytes ? "" : tdm_plural(most));
}

static void put_timeline(const struct tdm_log_profile *p, const struct tdm_log_report *report, struct tdm_buf *out)
{
	static const char *const names[] = { [TDM_LOG_ROW_MEMORY] = "memory",
		[TDM_LOG_ROW_CB] = "CB",
		[TDM_LOG_ROW_KERNEL] = "kernels",
		[TDM_LOG_ROW_FAILURE] = "errors" };
	const struct tdm_log_timeline *t = &p->timeline;
	char clock[TDM_LOG_CLOCK_CAP], width[TDM_DURATION_CAP];
	if (!t->used || t->slots == 0)
		return;
	if (t->by_line)
		tdm_buf_printf(out,
			"\nTimeline (no times in the log: by line, from %" PRIu64 ", %" PRIu64 " line%s a column)\n",
			t->from, t->width, tdm_plural(t->width));
	else
		tdm_buf_printf(out, "\nTimeline (from %s, %s a column)\n", tdm_log_clock(clock, sizeof clock, t->from),
			tdm_format_duration(width, sizeof width, t->width));
	for (size_t row = 0; row < TDM_LOG_ROW_COUNT; row++)
		put_row(out, names[row], t->rows[row], t->slots, false, report);
	put_row(out, "dram", t->dram_bytes, t->slots, true, report);
	put_row(out, "l1", t->l1_bytes, t->slots, true, report);
}

void tdm_log_text(const struct tdm_log_profile *p, const struct tdm_log_report *report, struct tdm_buf *out)
{
	put_head(p, report, out);
	put_failures(p, report, out);
	if (report->errors_only)
		return;
	put_cbs(p, report, out);
	for (uint32_t file = 0; file < p->file_count; file++)
		put_pressure(p, file, out);
	put_kernels(p, report, out);
	put_programs(p, report, out);
	put_ops(p, report, out);
	put_amounts(p, report, out);
	put_states(p, report, out);
	put_remaining(p, report, out);
	put_timeline(p, report, out);
	if (p->untracked != 0)
		tdm_buf_printf(out, "\n%" PRIu64 " free%s or fill%s could not be followed\n", p->untracked,
			tdm_plural(p->untracked), tdm_plural(p->untracked));
}
