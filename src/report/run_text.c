#include "base/duration.h"
#include "base/units.h"
#include "report/cell.h"
#include "report/live_report.h"
#include "report/stack_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES_SHOWN = 20 };

static void put_end(const struct tdm_live_report *report, const struct tdm_run_end *end, struct tdm_buf *out)
{
	char took[TDM_DURATION_CAP];
	const char *signal_name = end->signal != 0 ? sigabbrev_np(end->signal) : NULL;
	tdm_buf_puts(out, "tidemark: ");
	tdm_cell_put(out, tdm_str_of(end->command[0]), 0, report->term.utf8);
	if (end->signal != 0)
		tdm_buf_printf(out, " was killed by signal %d%s%s%s", end->signal, signal_name != NULL ? " (SIG" : "",
			signal_name != NULL ? signal_name : "", signal_name != NULL ? ")" : "");
	else
		tdm_buf_printf(out, " ended with code %d", end->exit_code);
	tdm_buf_printf(out, " after %s\n", tdm_format_duration(took, sizeof took, end->took_ns));
	if (end->still_running != 0)
		tdm_buf_printf(out,
			"tidemark: %" PRIu64 " of its processes still run%s; their figures are those of now\n",
			end->still_running, end->still_running == 1 ? "s" : "");
}

static void put_site(const struct tdm_live_report *report, struct tdm_symbolizer *sym, const struct tdm_site *site,
	struct tdm_buf *out)
{
	const struct tdm_picture *picture = report->picture;
	const char *name = tdm_picture_text(picture, site->name);
	char count[TDM_BYTES_CAP], bytes[TDM_BYTES_CAP], age[TDM_DURATION_CAP] = "-";
	if (site->oldest_ns != 0 && site->oldest_ns <= picture->time_ns)
		tdm_format_duration(age, sizeof age, picture->time_ns - site->oldest_ns);
	tdm_buf_printf(out, "  %-10s %10s %s %7s  ", tdm_kind_name((enum tdm_kind)site->kind),
		tdm_format_count(count, sizeof count, site->count),
		tdm_format_bytes(bytes, sizeof bytes, site->reserved_bytes), age);
	if (name[0] != '\0')
		tdm_cell_put(out, tdm_str_of(name), 0, report->term.utf8);
	else if (site->stack != 0)
		tdm_stack_site(picture, sym, site->stack, true, out);
	else
		tdm_buf_puts(out, "(no name)");
	tdm_buf_putc(out, '\n');
	if (report->stacks)
		tdm_stack_text(picture, sym, site->stack, 8, out);
}

static void put_sites(const struct tdm_live_report *report, size_t process, struct tdm_buf *out)
{
	struct tdm_site *sites;
	size_t count;
	if (tdm_sites_find(report->picture, (uint32_t)process, &sites, &count) != 0) {
		out->failed = true;
		return;
	}
	bool runs = report->picture->processes[process].life == TDM_LIFE_RUNS;
	if (count == 0) {
		tdm_buf_puts(out, runs ? "\n  no live buffers\n" : "\n  every buffer was freed\n");
		return;
	}
	struct tdm_symbolizer *sym = tdm_stack_symbolizer(report->picture, process);
	tdm_buf_printf(out, "\n  %s\n  %-10s %10s %10s %7s  %s\n", runs ? "Live" : "Never freed", "Kind", "Buffers",
		"Reserved", "Oldest", "Site");
	for (size_t i = 0; i < count && i < SITES_SHOWN; i++)
		put_site(report, sym, &sites[i], out);
	if (count > SITES_SHOWN) {
		char more[TDM_BYTES_CAP], bytes[TDM_BYTES_CAP];
		uint64_t rest = 0;
		for (size_t i = SITES_SHOWN; i < count; i++)
			rest += sites[i].reserved_bytes;
		tdm_buf_printf(out, "  and %s more with %s\n", tdm_format_count(more, sizeof more, count - SITES_SHOWN),
			tdm_format_bytes_short(bytes, sizeof bytes, rest));
	}
	tdm_symbolizer_free(sym);
	free(sites);
}

void tdm_run_text(const struct tdm_live_report *report, const struct tdm_run_end *end, struct tdm_buf *out)
{
	put_end(report, end, out);
	for (size_t i = 0; i < report->picture->process_count; i++) {
		tdm_buf_putc(out, '\n');
		tdm_live_head(report, i, out);
		tdm_live_kinds(report, i, out);
		put_sites(report, i, out);
	}
	if (report->picture->process_count == 0)
		tdm_buf_puts(out, "tidemark: it made no ledger: it reported no device memory. Programs are seen when "
				  "they, or the runtime that\n"
				  "tidemark: they use, are built with libtidemark; setuid programs, and those that set "
				  "TIDEMARK=0, are not.\n");
	tdm_live_unread(report, out);
}
