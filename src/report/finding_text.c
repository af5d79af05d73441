/*
 * Findings in words. The sentence of a finding is the analyser's own, or is made here from its figures: one function
 * for each family that needs one. Around it each family has its shape: doctor's list with what to do, the sites of
 * leaks with what they hold.
 */
#include "report/finding_report.h"
#include "analyze/leaks.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/units.h"
#include "base/wrap.h"
#include "report/cell.h"
#include "report/report_put.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DOCTOR_INDENT = 11, LEAK_INDENT = 2, STACK_INDENT = 4 };

#define YEAR_S (365.0 * 24 * 3600)

/* One finding, being put into words. */
struct words {
	const struct tdm_finding_view *view;
	const struct tdm_finding *finding;
	struct tdm_buf *out;
};

static uint64_t number(const struct words *w, const char *key)
{
	return tdm_finding_number(w->view->findings, w->finding, key);
}

static double real(const struct words *w, const char *key)
{
	return tdm_finding_real(w->view->findings, w->finding, key);
}

static void put(const struct words *w, const char *text)
{
	tdm_buf_puts(w->out, text);
}

static void put_time(const struct words *w, uint64_t ns)
{
	char text[TDM_DURATION_CAP];
	put(w, tdm_format_duration(text, sizeof text, ns));
}

static void put_bytes(const struct words *w, uint64_t bytes)
{
	char text[TDM_BYTES_CAP];
	put(w, tdm_format_bytes_short(text, sizeof text, bytes));
}

/* Leaks. */

/* "35 buffers of 3.4 MiB" or, when sizes differ, "35 buffers, 119 MiB". */
static void put_buffers(const struct words *w, uint64_t count, uint64_t bytes)
{
	bool even = count != 0 && bytes % count == 0;
	tdm_put_count(w->out, count, "buffer", "buffers");
	put(w, even ? " of " : ", ");
	put_bytes(w, even ? bytes / count : bytes);
}

static void put_held(const struct words *w)
{
	put_buffers(w, number(w, "buffers"), number(w, "reserved_bytes"));
}

static void put_growth(const struct words *w)
{
	double rate = real(w, "bytes_per_second");
	uint64_t freed_old = number(w, "freed_old");
	put(w, "grew ");
	if (rate >= 1) { /* what began lately has no rate yet */
		put(w, "by ");
		put_bytes(w, (uint64_t)(rate + 0.5));
		put(w, " a second ");
	}
	put(w, "over ");
	put_time(w, number(w, "watched_ns"));
	put(w, ": ");
	put_buffers(w, number(w, "grown_buffers"), number(w, "grown_bytes"));
	put(w, " came and stayed, ");
	if (freed_old == 0)
		put(w, "and none that was old has been freed");
	else
		tdm_put_count(w->out, freed_old, "old one was freed", "old ones were freed");
}

static void put_lives(const struct words *w)
{
	uint64_t lived = number(w, "freed_lived_ns"), most = number(w, "freed_lived_most_ns");
	uint64_t oldest = number(w, "oldest_ns");
	if (lived != TDM_BYTES_UNKNOWN) {
		bool is_known = lived >= most / 2;
		put(w, "; freed ones of this site lived ");
		put(w, is_known ? "" : "at most ");
		put_time(w, is_known ? lived : most);
	}
	if (oldest != TDM_BYTES_UNKNOWN) {
		put(w, "; the oldest here is ");
		put_time(w, oldest);
		put(w, " old");
	}
}

static void put_spread(const struct words *w)
{
	const struct tdm_picture *picture = w->view->picture;
	put_held(w);
	put(w, " live, with births spread evenly over ");
	put_time(w, number(w, "watched_ns"));
	if (picture->processes[w->finding->about.process].life == TDM_LIFE_ENDED)
		put(w, " until the program was killed");
	put_lives(w);
}

static void put_turnover(const struct words *w)
{
	put_held(w);
	put(w, ", come and go: ");
	tdm_put_count(w->out, number(w, "freed"), "was", "were");
	put(w, " seen to be freed");
}

static void put_levelled(const struct words *w)
{
	put_held(w);
	put(w, ": grew by ");
	tdm_put_count(w->out, number(w, "grown_buffers"), "buffer", "buffers");
	put(w, " and has levelled off");
}

static const char *programs_tail(const struct words *w)
{
	bool is_binary = w->finding->about.kind == TDM_KIND_DRAM || w->finding->about.kind == TDM_KIND_L1;
	return is_binary ? "; each came with kernels: new programs are compiled and cached"
			 : "; memory of programs grows as long as new ones are compiled and cached, or traces captured";
}

/* How a sentence about a site begins and ends. */
static const struct {
	void (*begin)(const struct words *w);
	void (*middle)(const struct words *w);
	const char *end;
} leak_sentences[TDM_LEAK_WHY_COUNT] = {
	[TDM_LEAK_GROWS] = { put_growth, put_lives, "" },
	[TDM_LEAK_AT_EXIT] = { put_held, NULL, NULL },
	[TDM_LEAK_UNSURE] = { put_growth, put_lives, "; too little to be sure: watch longer" },
	[TDM_LEAK_SLOWS] = { put_growth, NULL, "; but slower and slower: a cache that fills, or a warm-up" },
	[TDM_LEAK_LATE] = { put_growth, NULL, "; it began while it was watched: watch again" },
	[TDM_LEAK_LOADING] = { put_growth, NULL, "; but the program may still be loading: watch again when it works" },
	[TDM_LEAK_PROGRAMS] = { put_growth, NULL, NULL },
	[TDM_LEAK_MANY] = { put_growth, NULL,
		"; one or two at each of many sites: names that differ every time, or loading" },
	[TDM_LEAK_SPREAD] = { put_spread, NULL, "" },
	[TDM_LEAK_CONSTANT] = { put_held, NULL, ", constant" },
	[TDM_LEAK_TURNS_OVER] = { put_turnover, NULL, "" },
	[TDM_LEAK_YOUNG] = { put_held, NULL, ", grows, but freed ones became as old" },
	[TDM_LEAK_LEVELLED] = { put_levelled, NULL, "" },
	[TDM_LEAK_KILLED] = { put_held, NULL, ", left by a program that was killed or crashed: no leak" },
	[TDM_LEAK_RUNTIME] = { put_held, NULL, ", which the runtime leaves on the card" },
	[TDM_LEAK_UNWATCHED] = { put_held, put_lives, "" },
};

static void leak_sentence(const struct words *w)
{
	enum tdm_leak_why why = tdm_leak_why_of(w->finding->what);
	if (why >= TDM_LEAK_WHY_COUNT)
		return;
	leak_sentences[why].begin(w);
	if (leak_sentences[why].middle != NULL)
		leak_sentences[why].middle(w);
	if (leak_sentences[why].end != NULL)
		put(w, leak_sentences[why].end);
	if (why == TDM_LEAK_AT_EXIT)
		put(w, number(w, "buffers") == 1 ? " was never freed: the program ended by itself"
						 : " were never freed: the program ended by itself");
	if (why == TDM_LEAK_PROGRAMS)
		put(w, programs_tail(w));
	if (why == TDM_LEAK_CONSTANT || why == TDM_LEAK_YOUNG)
		put_lives(w);
}

/* What to call the place that allocated it. */
static void put_site(struct tdm_finding_view *view, const struct words *w)
{
	const struct tdm_about *about = &w->finding->about;
	uint32_t depth;
	tdm_picture_stack(view->picture, about->stack, &depth);
	if (number(w, "many_sites") == 1)
		put(w, "(many sites)");
	else if (about->name != NULL && about->name[0] != '\0')
		tdm_cell_put(w->out, tdm_str_of(about->name), 0, view->term.utf8);
	else if (depth != 0)
		tdm_stack_site(view->picture, tdm_stack_symbols_get(&view->symbols, view->picture, about->process),
			about->stack, true, w->out);
	else
		put(w, "(no name, no stack)");
}

static void put_leak_head(struct tdm_finding_view *view, const struct words *w)
{
	static const char *const styles[TDM_SEVERITIES] = { TDM_STYLE_GREEN, TDM_STYLE_GREEN, TDM_STYLE_YELLOW,
		TDM_STYLE_RED };
	static const char *const heads[TDM_SEVERITIES] = { "steady", "steady", "SUSPECT", "LEAK" };
	const struct tdm_about *about = &w->finding->about;
	uint8_t severity = w->finding->severity;
	tdm_buf_printf(w->out, "%s%s%s  ", tdm_term_style(&view->term, styles[severity]), heads[severity],
		tdm_term_style(&view->term, TDM_STYLE_OFF));
	put_site(view, w);
	tdm_buf_printf(w->out, "  (%s, device %" PRId64 "%s, process %" PRId32 " ",
		tdm_kind_name((enum tdm_kind)about->kind), about->device, about->is_virtual ? " virtual" : "",
		about->pid);
	tdm_cell_put(w->out, tdm_str_of(about->comm), 0, view->term.utf8);
	put(w, ")\n");
}

static void put_forecast(const struct words *w)
{
	double full_s = real(w, "full_in_seconds");
	if (tdm_leak_why_of(w->finding->what) == TDM_LEAK_AT_EXIT)
		return;
	tdm_buf_fill(w->out, ' ', LEAK_INDENT);
	put(w, "holds ");
	put_bytes(w, number(w, "reserved_bytes"));
	put(w, " in ");
	tdm_put_count(w->out, number(w, "buffers"), "buffer", "buffers");
	if (full_s < YEAR_S) {
		put(w, "; ");
		for (const char *c = tdm_kind_name((enum tdm_kind)w->finding->about.kind); *c != '\0'; c++)
			tdm_buf_putc(w->out, (char)toupper((unsigned char)*c));
		put(w, full_s > 0 ? " full in about " : " is full already");
		if (full_s > 0)
			put_time(w, (uint64_t)(full_s * (double)TDM_NS_PER_S));
	}
	tdm_buf_putc(w->out, '\n');
}

static void put_wrapped(const struct words *w, const char *label, const struct tdm_buf *text, size_t indent)
{
	struct tdm_buf line;
	tdm_buf_init(&line);
	tdm_buf_puts(&line, label);
	tdm_buf_add(&line, tdm_buf_str(text).ptr, text->len);
	tdm_wrap(w->out, tdm_buf_str(&line),
		(struct tdm_wrap){ .at = indent, .indent = indent, .width = w->view->term.width });
	w->out->failed |= text->failed || line.failed;
	tdm_buf_done(&line);
}

static void put_leak_stack(struct tdm_finding_view *view, const struct words *w)
{
	const struct tdm_about *about = &w->finding->about;
	struct tdm_buf trail;
	uint32_t depth;
	tdm_picture_stack(view->picture, about->stack, &depth);
	if (depth == 0)
		return;
	struct tdm_symbolizer *sym = tdm_stack_symbols_get(&view->symbols, view->picture, about->process);
	if (view->stacks) {
		tdm_stack_text(view->picture, sym, about->stack, STACK_INDENT, w->out);
		return;
	}
	tdm_buf_init(&trail);
	tdm_stack_trail(view->picture, sym, about->stack, view->term.utf8, &trail);
	tdm_buf_fill(w->out, ' ', LEAK_INDENT);
	put_wrapped(w, "at ", &trail, LEAK_INDENT);
	tdm_buf_done(&trail);
}

static void put_leak_faults(const struct words *w)
{
	char twice[TDM_BYTES_CAP], unknown[TDM_BYTES_CAP];
	if (number(w, "double_frees") + number(w, "unknown_frees") == 0)
		return;
	tdm_buf_printf(w->out,
		"%*shint: the process also freed %s times what was freed already, and %s times what was never there\n",
		LEAK_INDENT, "", tdm_format_count(twice, sizeof twice, number(w, "double_frees")),
		tdm_format_count(unknown, sizeof unknown, number(w, "unknown_frees")));
}

static void leak_text(struct tdm_finding_view *view, const struct words *w)
{
	struct tdm_buf reason;
	tdm_buf_init(&reason);
	tdm_finding_sentence(view, w->finding, &reason);
	put_leak_head(view, w);
	tdm_buf_fill(w->out, ' ', LEAK_INDENT);
	put_wrapped(w, "", &reason, LEAK_INDENT);
	tdm_buf_done(&reason);
	if (w->finding->severity == TDM_FINDING_OK)
		return;
	put_forecast(w);
	put_leak_stack(view, w);
	put_leak_faults(w);
	tdm_buf_putc(w->out, '\n');
}

/* Doctor. */

/* Text of unknown origin is in these sentences: paths, names of processes, values of variables. */
static void put_paragraph(const struct words *w, const char *label, const char *text)
{
	struct tdm_buf clean;
	tdm_buf_init(&clean);
	tdm_cell_put(&clean, tdm_str_of(text), 0, w->view->term.utf8);
	put_wrapped(w, label, &clean, DOCTOR_INDENT);
	tdm_buf_done(&clean);
}

/* A command is not folded: it is there to be copied. */
static void put_command(const struct words *w, const char *command)
{
	tdm_buf_fill(w->out, ' ', DOCTOR_INDENT);
	tdm_buf_printf(w->out, "%s$ ", tdm_term_style(&w->view->term, TDM_STYLE_BOLD));
	tdm_cell_put(w->out, tdm_str_of(command), 0, w->view->term.utf8);
	tdm_buf_printf(w->out, "%s\n", tdm_term_style(&w->view->term, TDM_STYLE_OFF));
}

static void doctor_text(struct tdm_finding_view *view, const struct words *w)
{
	static const char *const styles[TDM_SEVERITIES] = { TDM_STYLE_GREEN, TDM_STYLE_CYAN, TDM_STYLE_YELLOW,
		TDM_STYLE_RED };
	const struct tdm_finding *finding = w->finding;
	const char *name = tdm_finding_severity_name(TDM_FAMILY_DOCTOR, (enum tdm_severity)finding->severity);
	tdm_buf_printf(w->out, "  %s%s%s", tdm_term_style(&view->term, styles[finding->severity]), name,
		tdm_term_style(&view->term, TDM_STYLE_OFF));
	tdm_buf_fill(w->out, ' ', DOCTOR_INDENT - 2 - strlen(name));
	put_paragraph(w, "", finding->text != NULL ? finding->text : "");
	for (size_t i = 0; finding->severity >= TDM_FINDING_WARNING && i < finding->evidence.count; i++) {
		tdm_buf_fill(w->out, ' ', DOCTOR_INDENT);
		put_paragraph(w, "looked at ", view->findings->evidence[finding->evidence.first + i].text);
	}
	for (size_t i = 0; i < finding->advice.count; i++) {
		const struct tdm_advice *advice = &view->findings->advice[finding->advice.first + i];
		tdm_buf_fill(w->out, ' ', DOCTOR_INDENT);
		put_paragraph(w, "-> ", advice->text);
		if (advice->command != NULL)
			put_command(w, advice->command);
	}
}

/* Captures. */

/* A line of a table when it is about a figure; else a line with a label, or a sentence. */
static void capture_text(struct tdm_finding_view *view, const struct words *w)
{
	const struct tdm_figure *bytes = tdm_finding_figure(view->findings, w->finding, "bytes");
	const char *name = w->finding->about.name;
	bool is_warning = w->finding->severity >= TDM_FINDING_WARNING;
	bool is_less = bytes != NULL && (int64_t)bytes->number < 0;
	if (bytes == NULL)
		put(w, is_warning ? tdm_term_style(&view->term, TDM_STYLE_YELLOW) : "");
	if (bytes != NULL && bytes->unit == TDM_UNIT_CHANGE)
		tdm_buf_printf(w->out, "  %-20s %*c%s  ", name,
			15 - (int)strlen(TDM_COUNT_TEXT(is_less ? 0 - bytes->number : bytes->number)),
			is_less ? '-' : '+', TDM_COUNT_TEXT(is_less ? 0 - bytes->number : bytes->number));
	else if (bytes != NULL)
		tdm_buf_printf(w->out, "  %-20s %15s  ", name, is_warning ? "unknown" : "");
	else if (name != NULL)
		tdm_put_label(w->out, name);
	tdm_finding_sentence(view, w->finding, w->out);
	put(w, name == NULL ? "." : "");
	if (bytes == NULL)
		put(w, is_warning ? tdm_term_style(&view->term, TDM_STYLE_OFF) : "");
	put(w, "\n");
}

static const struct {
	void (*sentence)(const struct words *w); /* NULL: the analyser's own */
	void (*text)(struct tdm_finding_view *view, const struct words *w);
} families[TDM_FAMILIES] = {
	[TDM_FAMILY_DOCTOR] = { NULL, doctor_text },
	[TDM_FAMILY_LEAK] = { leak_sentence, leak_text },
	[TDM_FAMILY_CAPTURE] = { NULL, capture_text },
};

void tdm_finding_sentence(const struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out)
{
	const struct words w = { view, finding, out };
	if (finding->text != NULL)
		tdm_buf_puts(out, finding->text);
	else if (families[finding->family].sentence != NULL)
		families[finding->family].sentence(&w);
}

void tdm_finding_text(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out)
{
	const struct words w = { view, finding, out };
	if (families[finding->family].text != NULL)
		families[finding->family].text(view, &w);
}

void tdm_findings_text(struct tdm_findings *found, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_finding_view view = { .findings = found, .term = *term };
	for (size_t i = 0; i < found->count; i++)
		tdm_finding_text(&view, &found->list[i], out);
	out->failed |= found->failed;
	tdm_findings_done(found);
}
