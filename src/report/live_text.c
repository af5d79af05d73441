#include "base/duration.h"
#include "base/units.h"
#include "report/cell.h"
#include "report/live_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { DEVICE_COLUMNS = 16 };

bool tdm_live_is_used(const struct tdm_picture_amount *f)
{
	return f->from == TDM_FROM_LEDGER && (f->allocs | f->buffers | f->peak_buffers | f->double_frees |
						     f->unknown_frees | f->rereports | f->out_of_memory) != 0;
}

/* "3 double frees", with a comma before it if it is not the first of its line; nothing for 0. */
static void put_item(struct tdm_buf *out, bool *any, uint64_t value, const char *one, const char *many)
{
	char count[TDM_BYTES_CAP];
	if (value == 0)
		return;
	tdm_buf_puts(out, *any ? ", " : "  ");
	tdm_buf_printf(out, "%s %s", tdm_format_count(count, sizeof count, value), value == 1 ? one : many);
	*any = true;
}

static void put_life(
	const struct tdm_live_report *report, const struct tdm_picture_process *process, struct tdm_buf *out)
{
	const struct tdm_process *who = process->who;
	const struct tdm_term *term = &report->term;
	char text[TDM_DURATION_CAP];
	if (who->life == TDM_LIFE_ENDED)
		tdm_buf_printf(out, "%s%s%s", tdm_term_style(term, TDM_STYLE_YELLOW),
			who->closed ? "ended by itself (post-mortem)" : "killed or crashed (post-mortem)",
			tdm_term_style(term, TDM_STYLE_OFF));
	else
		tdm_buf_puts(out, who->life == TDM_LIFE_RUNS ? "alive" : "not known whether it is alive");
	tdm_buf_printf(out, ", user %" PRIu32, who->uid);
	if (who->started_ns != 0 && who->started_ns <= report->picture->time_ns)
		tdm_buf_printf(out, ", tracking began %s ago",
			tdm_format_duration(text, sizeof text, report->picture->time_ns - who->started_ns));
}

/* What went wrong with the tracking itself. */
static void put_losses(const struct tdm_picture_process *process, struct tdm_buf *out)
{
	bool any = false;
	put_item(out, &any, process->lost, "lost event", "lost events");
	put_item(out, &any, process->who->lost_texts, "lost name or stack", "lost names or stacks");
	put_item(out, &any, process->refused, "damaged record", "damaged records");
	put_item(out, &any, process->who->frees_inherited, "free from before a fork", "frees from before a fork");
	if (any)
		tdm_buf_putc(out, '\n');
}

void tdm_live_head(const struct tdm_live_report *report, size_t i, struct tdm_buf *out)
{
	const struct tdm_picture_process *process = &report->picture->processes[i];
	const struct tdm_term *term = &report->term;
	tdm_buf_printf(out, "%sProcess %" PRId32 "%s", tdm_term_style(term, TDM_STYLE_BOLD), process->pid,
		tdm_term_style(term, TDM_STYLE_OFF));
	if (process->who->generation != 0)
		tdm_buf_printf(out, ", program %" PRIu32, process->who->generation + 1);
	tdm_buf_puts(out, ": ");
	tdm_cell_put(out, tdm_str_of(process->command[0] != '\0' ? process->command : process->comm), 0, term->utf8);
	tdm_buf_puts(out, "\n  ");
	put_life(report, process, out);
	if (process->phase[0] != '\0') {
		tdm_buf_puts(out, ", phase ");
		tdm_cell_put(out, tdm_str_of(process->phase), 0, term->utf8);
	}
	tdm_buf_putc(out, '\n');
	put_losses(process, out);
}

static void put_device(const struct tdm_live_report *report, const struct tdm_holding *holding, struct tdm_buf *out)
{
	const struct tdm_picture_device *device = &report->picture->devices[holding->device];
	char label[64];
	const char *card = device->info != NULL ? device->info->card : "";
	snprintf(label, sizeof label, "%" PRIu32 "%s%s%s%s", holding->number, card[0] != '\0' ? " (" : "", card,
		card[0] != '\0' ? ")" : "", device->is_virtual ? " virtual" : "");
	size_t used = tdm_cell_put(out, tdm_str_of(label), DEVICE_COLUMNS, report->term.utf8);
	tdm_buf_fill(out, ' ', DEVICE_COLUMNS - used);
}

static void put_bytes(struct tdm_buf *out, uint64_t bytes)
{
	char text[TDM_BYTES_CAP];
	tdm_buf_printf(out, " %s", tdm_format_bytes(text, sizeof text, bytes));
}

static void put_count(struct tdm_buf *out, uint64_t count)
{
	char text[TDM_BYTES_CAP];
	tdm_buf_printf(out, " %10s", tdm_format_count(text, sizeof text, count));
}

static void put_faults(const struct tdm_picture_amount *f, struct tdm_buf *out)
{
	char size[TDM_BYTES_CAP];
	bool any = false;
	tdm_buf_fill(out, ' ', DEVICE_COLUMNS + 2);
	put_item(out, &any, f->double_frees, "double free", "double frees");
	put_item(out, &any, f->unknown_frees, "unknown free", "unknown frees");
	put_item(out, &any, f->rereports, "re-report", "re-reports");
	put_item(out, &any, f->out_of_memory, "out-of-memory note", "out-of-memory notes");
	if (f->out_of_memory != 0)
		tdm_buf_printf(out, " (the last for %s)", tdm_format_bytes_short(size, sizeof size, f->oom_bytes));
	if (f->is_inexact)
		tdm_buf_printf(out, "%sthe buffers changed while they were read", any ? ", " : "  ");
	tdm_buf_putc(out, '\n');
}

void tdm_live_kinds(const struct tdm_live_report *report, size_t i, struct tdm_buf *out)
{
	const struct tdm_picture *picture = report->picture;
	const struct tdm_picture_process *process = &picture->processes[i];
	bool headed = false;
	for (uint32_t h = 0; h < process->holding_count; h++) {
		const struct tdm_holding *holding = &picture->holdings[process->first_holding + h];
		if (report->filter.has_device && holding->number != report->filter.device)
			continue;
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_picture_amount *f = &holding->kinds[k];
			if (!tdm_live_is_used(f) || (report->filter.has_kind && k != report->filter.kind))
				continue;
			if (!headed)
				tdm_buf_printf(out, "\n  %-*s%-10s %10s %10s %10s %10s %10s %10s\n", DEVICE_COLUMNS,
					"Device", "Kind", "Live", "Peak", "Asked", "Buffers", "Peak", "Allocs");
			headed = true;
			tdm_buf_puts(out, "  ");
			put_device(report, holding, out);
			tdm_buf_printf(out, "%-10s", tdm_kind_name((enum tdm_kind)k));
			put_bytes(out, f->used);
			put_bytes(out, f->peak);
			put_bytes(out, f->asked);
			put_count(out, f->buffers);
			put_count(out, f->peak_buffers);
			put_count(out, f->allocs);
			tdm_buf_putc(out, '\n');
			if ((f->double_frees | f->unknown_frees | f->rereports | f->out_of_memory) != 0 ||
				f->is_inexact)
				put_faults(f, out);
		}
	}
}

void tdm_live_none(const struct tdm_live_report *report, struct tdm_buf *out)
{
	uint64_t others = report->picture->others;
	if (others != 0) {
		char count[TDM_BYTES_CAP];
		tdm_buf_printf(out, "no ledger in %s is of a process that was asked for; %s of others %s there\n",
			report->dir, tdm_format_count(count, sizeof count, others), others == 1 ? "is" : "are");
		return;
	}
	tdm_buf_printf(out,
		"no ledgers in %s: no tracked program runs, and none has left buffers behind\n"
		"(a program is tracked when it uses libtidemark and TIDEMARK=1 is set; 'tidemark run -- CMD' "
		"does that)\n",
		report->dir);
}

size_t tdm_live_unread_count(const struct tdm_live_report *report)
{
	size_t count = 0;
	for (size_t i = 0; i < report->picture->problem_count; i++)
		count += report->picture->problems[i].is_unread;
	return count;
}

void tdm_live_unread(const struct tdm_live_report *report, struct tdm_buf *out)
{
	size_t count = tdm_live_unread_count(report);
	bool is_denied = false;
	if (count != 0)
		tdm_buf_printf(out, "%s that could not be read:\n", count == 1 ? "A ledger" : "Ledgers");
	for (size_t i = 0; i < report->picture->problem_count; i++) {
		const struct tdm_picture_problem *problem = &report->picture->problems[i];
		if (!problem->is_unread)
			continue;
		tdm_buf_puts(out, "  ");
		tdm_cell_put(out, tdm_str_of(problem->place), 0, report->term.utf8);
		tdm_buf_printf(out, ": %s\n", problem->text);
		is_denied |= problem->err == -EACCES || problem->err == -EPERM;
	}
	if (is_denied)
		tdm_buf_puts(out, "(what may not be read is another user's: look as that user or as root, or start the "
				  "program with\nTIDEMARK_MODE=0644)\n");
}
