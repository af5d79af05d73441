#include "base/clock.h"
#include "base/duration.h"
#include "base/units.h"
#include "base/wrap.h"
#include "report/cell.h"
#include "report/leaks_report.h"
#include "report/stack_report.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* More findings than anybody reads: a program may end with thousands of names that are never freed. */
enum { SHOWN_MAX = 50 };

enum { INDENT = 2, STACK_INDENT = 4 };

#define YEAR_S (365.0 * 24 * 3600)

static void put_wrapped(const struct tdm_leaks_report *report, const struct tdm_buf *text, struct tdm_buf *out)
{
	const struct tdm_wrap wrap = { .at = INDENT, .indent = INDENT, .width = report->live->term.width };
	tdm_buf_fill(out, ' ', INDENT);
	tdm_wrap(out, tdm_buf_str(text), wrap);
	out->failed |= text->failed;
}

/* What to call the place that allocated it. */
static void put_site(const struct tdm_leaks_report *report, struct tdm_leaks_symbols *symbols,
	const struct tdm_leak *leak, struct tdm_buf *out)
{
	const struct tdm_picture *picture = report->live->picture;
	uint32_t depth;
	tdm_picture_stack(picture, leak->stack, &depth);
	if (leak->is_sum)
		tdm_buf_puts(out, "(many sites)");
	else if (leak->name != 0)
		tdm_cell_put(out, tdm_str_of(tdm_picture_text(picture, leak->name)), 0, report->live->term.utf8);
	else if (depth != 0)
		tdm_stack_site(picture, tdm_leaks_symbols_get(symbols, picture, leak->process), leak->stack, true, out);
	else
		tdm_buf_puts(out, "(no name, no stack)");
}

static void put_head(const struct tdm_leaks_report *report, struct tdm_leaks_symbols *symbols,
	const struct tdm_leak *leak, struct tdm_buf *out)
{
	static const char *const styles[TDM_LEAK_VERDICTS] = { TDM_STYLE_GREEN, TDM_STYLE_YELLOW, TDM_STYLE_RED };
	static const char *const heads[TDM_LEAK_VERDICTS] = { "steady", "SUSPECT", "LEAK" };
	const struct tdm_picture *picture = report->live->picture;
	const struct tdm_picture_process *who = &picture->processes[leak->process];
	const struct tdm_holding *holding = &picture->holdings[leak->holding];
	const struct tdm_term *term = &report->live->term;
	tdm_buf_printf(out, "%s%s%s  ", tdm_term_style(term, styles[leak->verdict]), heads[leak->verdict],
		tdm_term_style(term, TDM_STYLE_OFF));
	put_site(report, symbols, leak, out);
	tdm_buf_printf(out, "  (%s, device %" PRIu32 "%s, process %" PRId32 " ",
		tdm_kind_name((enum tdm_kind)leak->kind), holding->number,
		picture->devices[holding->device].is_virtual ? " virtual" : "", who->pid);
	tdm_cell_put(out, tdm_str_of(who->comm), 0, term->utf8);
	tdm_buf_puts(out, ")\n");
}

static void put_forecast(const struct tdm_leak *leak, struct tdm_buf *out)
{
	char text[TDM_DURATION_CAP], size[TDM_BYTES_CAP], count[TDM_BYTES_CAP];
	if (leak->why == TDM_LEAK_AT_EXIT)
		return;
	tdm_buf_printf(out, "%*sholds %s in %s buffer%s", INDENT, "",
		tdm_format_bytes_short(size, sizeof size, leak->bytes),
		tdm_format_count(count, sizeof count, leak->count), leak->count == 1 ? "" : "s");
	if (leak->full_s < YEAR_S) {
		tdm_buf_puts(out, "; ");
		for (const char *c = tdm_kind_name((enum tdm_kind)leak->kind); *c != '\0'; c++)
			tdm_buf_putc(out, (char)toupper((unsigned char)*c));
		if (leak->full_s > 0)
			tdm_buf_printf(out, " full in about %s",
				tdm_format_duration(
					text, sizeof text, (uint64_t)(leak->full_s * (double)TDM_NS_PER_S)));
		else
			tdm_buf_puts(out, " is full already");
	}
	tdm_buf_putc(out, '\n');
}

static void put_stack(const struct tdm_leaks_report *report, struct tdm_leaks_symbols *symbols,
	const struct tdm_leak *leak, struct tdm_buf *out)
{
	const struct tdm_picture *picture = report->live->picture;
	uint32_t depth;
	tdm_picture_stack(picture, leak->stack, &depth);
	if (depth == 0)
		return;
	if (report->live->stacks) {
		tdm_stack_text(picture, tdm_leaks_symbols_get(symbols, picture, leak->process), leak->stack,
			STACK_INDENT, out);
	} else {
		struct tdm_buf trail;
		tdm_buf_init(&trail);
		tdm_buf_puts(&trail, "at ");
		tdm_stack_trail(picture, tdm_leaks_symbols_get(symbols, picture, leak->process), leak->stack,
			report->live->term.utf8, &trail);
		put_wrapped(report, &trail, out);
		tdm_buf_done(&trail);
	}
}

static void put_faults(const struct tdm_leak *leak, struct tdm_buf *out)
{
	char twice[TDM_BYTES_CAP], unknown[TDM_BYTES_CAP];
	if (leak->double_frees + leak->unknown_frees == 0)
		return;
	tdm_buf_printf(out,
		"%*shint: the process also freed %s times what was freed already, and %s times what was never there\n",
		INDENT, "", tdm_format_count(twice, sizeof twice, leak->double_frees),
		tdm_format_count(unknown, sizeof unknown, leak->unknown_frees));
}

static void put_leak(const struct tdm_leaks_report *report, struct tdm_leaks_symbols *symbols,
	const struct tdm_leak *leak, struct tdm_buf *out)
{
	struct tdm_buf reason;
	tdm_buf_init(&reason);
	tdm_leaks_reason(report, leak, &reason);
	put_head(report, symbols, leak, out);
	put_wrapped(report, &reason, out);
	tdm_buf_done(&reason);
	if (leak->verdict == TDM_LEAK_STEADY)
		return;
	put_forecast(leak, out);
	put_stack(report, symbols, leak, out);
	put_faults(leak, out);
	tdm_buf_putc(out, '\n');
}

static void put_opening(const struct tdm_leaks_report *report, struct tdm_buf *out)
{
	char text[TDM_DURATION_CAP], count[TDM_BYTES_CAP];
	size_t processes = report->live->picture->process_count;
	if (report->result->samples > 1)
		tdm_buf_printf(out, "watched %zu process%s for %s, %s pictures\n\n", processes,
			processes == 1 ? "" : "es", tdm_format_duration(text, sizeof text, report->result->watched_ns),
			tdm_format_count(count, sizeof count, report->result->samples));
	else
		tdm_buf_printf(out, "read %zu process%s once\n\n", processes, processes == 1 ? "" : "es");
}

/* Those that are chosen, the worst first; how many more there are, and what they hold. */
static void put_leaks(const struct tdm_leaks_report *report, struct tdm_leaks_symbols *symbols, struct tdm_buf *out)
{
	const struct tdm_leaks_result *result = report->result;
	char count[TDM_BYTES_CAP], size[TDM_BYTES_CAP];
	uint64_t more = 0, bytes = 0;
	size_t shown = 0;
	for (size_t i = 0; i < result->count; i++) {
		const struct tdm_leak *leak = &result->leaks[i];
		if ((!report->all && leak->verdict == TDM_LEAK_STEADY) || !tdm_leaks_is_chosen(report, leak))
			continue;
		if (report->all || shown < SHOWN_MAX) {
			put_leak(report, symbols, leak, out);
			shown++;
		} else {
			more++;
			bytes += leak->bytes;
		}
	}
	if (more != 0)
		tdm_buf_printf(out, "and %s more, which hold %s (--all lists them)\n\n",
			tdm_format_count(count, sizeof count, more), tdm_format_bytes_short(size, sizeof size, bytes));
}

/* Whether there is something that could be watched. */
static bool is_any_running(const struct tdm_picture *picture)
{
	for (size_t i = 0; i < picture->process_count; i++)
		if (picture->processes[i].life != TDM_LIFE_ENDED)
			return true;
	return false;
}

static void put_closing(const struct tdm_leaks_report *report, struct tdm_buf *out)
{
	const struct tdm_leaks_result *result = report->result;
	size_t leaks = tdm_leaks_chosen(report, TDM_LEAK_SURE), suspects = tdm_leaks_chosen(report, TDM_LEAK_SUSPECT);
	size_t steady = tdm_leaks_chosen(report, TDM_LEAK_STEADY);
	char count[TDM_BYTES_CAP];
	if (report->all && steady != 0)
		tdm_buf_putc(out, '\n');
	if (leaks + suspects == 0)
		tdm_buf_printf(out, "no leak found; ");
	else
		tdm_buf_printf(out, "%zu leak%s, %zu suspect%s; ", leaks, leaks == 1 ? "" : "s", suspects,
			suspects == 1 ? "" : "s");
	tdm_buf_printf(out, "%zu site%s steady%s\n", steady, steady == 1 ? " is" : "s are",
		steady != 0 && !report->all ? " (--all lists them)" : "");
	if (result->samples == 1 && is_any_running(report->live->picture))
		tdm_buf_puts(out, "(one picture shows no growth: 'tidemark leaks --for 30s' watches)\n");
	if (result->sites_left_out != 0)
		tdm_buf_printf(out, "(%s buffers are of more sites than are looked at one by one)\n",
			tdm_format_count(count, sizeof count, result->sites_left_out));
}

void tdm_leaks_text(const struct tdm_leaks_report *report, struct tdm_buf *out)
{
	struct tdm_leaks_symbols symbols = { 0 };
	bool any = report->live->picture->process_count != 0;
	if (any)
		put_opening(report, out);
	else if (tdm_live_unread_count(report->live) == 0)
		tdm_live_none(report->live, out);
	put_leaks(report, &symbols, out);
	if (any)
		put_closing(report, out);
	tdm_leaks_symbols_done(&symbols);
	tdm_live_unread(report->live, out);
}
