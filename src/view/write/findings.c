/*
 * Findings as text and as JSON. Sentences are the analyser's patterns, expanded with the figures and the subject of the
 * finding ("name", "kind", "device", "pid", "comm"); every family has the same layout and the same members.
 */
#include "base/arena.h"
#include "base/memory.h"
#include "base/buf.h"
#include "view/write/cell.h"
#include "view/write/table.h"
#include "view/write/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 11 };

static const enum tdm_level levels[TDM_SEVERITIES] = { [TDM_FINDING_OK] = TDM_LEVEL_FINE,
	[TDM_FINDING_INFO] = TDM_LEVEL_NOTE,
	[TDM_FINDING_WARNING] = TDM_LEVEL_WARNING,
	[TDM_FINDING_BROKEN] = TDM_LEVEL_DANGER };

const char *tdm_severity_name(enum tdm_severity severity)
{
	static const char *const names[TDM_SEVERITIES] = { "ok", "note", "warning", "error" };
	return names[severity];
}

static const char *verdict_of(const struct tdm_finding *finding)
{
	return finding->verdict != NULL ? finding->verdict : tdm_severity_name((enum tdm_severity)finding->severity);
}

static struct tdm_table holes_of(const struct tdm_findings *all, const struct tdm_finding *finding)
{
	size_t count = finding->hole_count;
	return tdm_holes_table(count != 0 ? all->holes + finding->first_hole : NULL, count);
}

/* ---- sentences ---- */

static void put_sentence(
	const struct tdm_findings *all, const struct tdm_finding *finding, bool utf8, struct tdm_buf *out)
{
	struct tdm_buf text = { 0 };
	tdm_finding_sentence_put(all, finding, &text);
	tdm_cell_put(out, tdm_buf_str(&text), 0, utf8);
	tdm_buf_done(&text);
}

/* " (dram, device 0, process 4242 python on lab-1)" */
static void put_about(const struct tdm_about *about, bool utf8, struct tdm_buf *out)
{
	const char *gap = " (";
	if (about->pid == 0)
		return;
	if (about->kind < TDM_KIND_COUNT) {
		tdm_buf_printf(out, "%s%s", gap, tdm_kind_name((enum tdm_kind)about->kind));
		gap = ", ";
	}
	if (about->device >= 0) {
		tdm_buf_printf(out, "%s%sdevice %" PRId64, gap, about->is_virtual ? "virtual " : "", about->device);
		gap = ", ";
	}
	tdm_buf_printf(out, "%sprocess %" PRId32 " ", gap, about->pid);
	tdm_cell_text(out, about->comm != NULL ? about->comm : "", utf8);
	if (about->host != NULL) {
		tdm_buf_puts(out, " on ");
		tdm_cell_text(out, about->host, utf8);
	}
	tdm_buf_putc(out, ')');
}

void tdm_finding_put_line(
	const struct tdm_findings *all, const struct tdm_finding *finding, bool utf8, struct tdm_buf *out)
{
	/* "a.cpp:12: ", "line 12: " */
	const char *file = tdm_finding_word(all, finding, "file");
	uint64_t line = tdm_finding_number(all, finding, "line");
	bool has_line = line != 0 && line != TDM_BYTES_UNKNOWN;
	if (file != NULL)
		tdm_cell_text(out, file, utf8);
	if (file != NULL && has_line)
		tdm_buf_printf(out, ":%" PRIu64, line);
	else if (has_line)
		tdm_buf_printf(out, "line %" PRIu64, line);
	tdm_buf_puts(out, file != NULL || has_line ? ": " : "");
	const char *name = finding->about.name != NULL && finding->about.name[0] != '\0' ? finding->about.name
											 : finding->about.site;
	if (name != NULL && !finding->names_itself) {
		tdm_cell_text(out, name, utf8);
		tdm_buf_puts(out, ": ");
	}
	put_sentence(all, finding, utf8, out);
	put_about(&finding->about, utf8, out);
}

/* ---- what belongs to a finding, below its sentence ---- */

/* Whether an earlier finding contains the same advice. */
static bool is_repeated(
	const struct tdm_findings *all, const struct tdm_finding *finding, const struct tdm_advice *advice)
{
	for (const struct tdm_finding *f = all->list; f != finding; f++)
		for (size_t i = 0; i < f->advice_count && f->what == finding->what; i++)
			if (strcmp(all->advice[f->first_advice + i].text, advice->text) == 0)
				return true;
	return false;
}

static void give_text(const struct tdm_details *details, const char *label, const struct tdm_value *value)
{
	struct tdm_buf text = { 0 };
	tdm_buf_printf(&text, "%s ", label);
	tdm_value_put(&text, value);
	details->text(details, tdm_buf_str(&text));
	tdm_buf_done(&text);
}

/* A call stack: all of it if whole stacks are shown, else the functions around the innermost one. */
static void give_stack(const struct tdm_details *details, const char *label, const struct tdm_table *frames,
	const struct tdm_value_list *trail)
{
	struct tdm_buf text = { 0 };
	if (frames == NULL)
		return;
	if (details->is_whole) {
		details->table(details, label, frames);
		return;
	}
	tdm_buf_puts(&text, label);
	for (size_t i = 0; i < trail->count; i++) {
		tdm_buf_puts(&text, i == 0 ? " " : details->term->utf8 ? " ← " : " <- ");
		tdm_value_put(&text, &trail->values[i]);
	}
	details->text(details, tdm_buf_str(&text));
	tdm_buf_done(&text);
}

void tdm_finding_give(
	const struct tdm_findings *all, const struct tdm_finding *finding, const struct tdm_details *details)
{
	for (size_t i = 0; i < finding->figure_count; i++) {
		const struct tdm_figure *figure = &all->figures[finding->first_figure + i];
		if (figure->label == NULL || figure->value.type == TDM_VALUE_UNKNOWN)
			continue;
		if (figure->value.type == TDM_VALUE_TABLE && details->is_whole)
			details->table(details, figure->label, figure->value.table);
		else
			give_text(details, figure->label, &figure->value);
	}
	give_stack(details, "allocated in", finding->about.frames, &finding->about.trail);
	give_stack(details, "replayed in", finding->about.replay_frames, &finding->about.replay_trail);
	const struct tdm_table holes = holes_of(all, finding);
	details->table(details, NULL, &holes);
	for (size_t i = 0; i < finding->advice_count; i++) {
		const struct tdm_advice *advice = &all->advice[finding->first_advice + i];
		if (!is_repeated(all, finding, advice))
			details->advice(details, advice);
	}
}

/* ---- as text ---- */

/* Writes a labelled paragraph below the sentence. */
static void put_paragraph(const struct tdm_term *term, const char *label, struct tdm_str text, struct tdm_buf *out)
{
	struct tdm_buf line = { 0 };
	tdm_buf_puts(&line, label);
	tdm_cell_put(&line, text, 0, term->utf8);
	tdm_buf_fill(out, ' ', label[0] != '\0' ? INDENT : 0);
	if (term->folds)
		tdm_wrap(out, tdm_buf_str(&line), (struct tdm_wrap){ INDENT, INDENT, term->width });
	else
		tdm_buf_printf(out, "%s\n", tdm_buf_str(&line).ptr);
	tdm_buf_done(&line);
}

static void put_detail(const struct tdm_details *details, struct tdm_str text)
{
	tdm_buf_fill(details->out, ' ', INDENT);
	put_paragraph(details->term, "", text, details->out);
}

static void put_table(const struct tdm_details *details, const char *label, const struct tdm_table *table)
{
	struct tdm_table own = *table;
	own.indent = INDENT;
	if (label != NULL) {
		own.indent += 2;
		own.has_no_head = true;
		tdm_buf_fill(details->out, ' ', INDENT);
		tdm_buf_printf(details->out, "%s:\n", label);
	}
	tdm_table_text(&own, details->term, details->out);
}

/* A command is not folded, so that it can be copied. */
static void put_advice(const struct tdm_details *details, const struct tdm_advice *advice)
{
	const struct tdm_term *term = details->term;
	put_paragraph(term, "-> ", tdm_str_of(advice->text), details->out);
	if (advice->command == NULL)
		return;
	tdm_buf_fill(details->out, ' ', INDENT);
	tdm_buf_printf(details->out, "%s$ ", tdm_term_style(term, TDM_STYLE_BOLD));
	tdm_cell_text(details->out, advice->command, term->utf8);
	tdm_buf_printf(details->out, "%s\n", tdm_term_style(term, TDM_STYLE_OFF));
}

static void put_finding(const struct tdm_shown_findings *shown, const struct tdm_finding *finding,
	const struct tdm_term *term, struct tdm_buf *out)
{
	const struct tdm_findings *all = &shown->list;
	const char *verdict = verdict_of(finding);
	size_t columns = 2 + strlen(verdict);
	struct tdm_buf line = { 0 };
	if (shown->is_headed)
		put_sentence(all, finding, term->utf8, &line);
	else
		tdm_finding_put_line(all, finding, term->utf8, &line);
	tdm_buf_printf(out, "  %s%s%s", tdm_term_style(term, tdm_level_style(levels[finding->severity])), verdict,
		tdm_term_style(term, TDM_STYLE_OFF));
	tdm_buf_fill(out, ' ', columns < INDENT ? INDENT - columns : 1);
	put_paragraph(term, "", tdm_buf_str(&line), out);
	tdm_buf_done(&line);
	tdm_finding_give(
		all, finding, &(struct tdm_details){ put_detail, put_table, put_advice, term, out, shown->is_whole });
}

/* Writes how many findings of a severity are left out, if any. */
static void put_rest(
	const struct tdm_shown_findings *shown, const char *mark, uint64_t more, uint64_t bytes, struct tdm_buf *out)
{
	char text[TDM_BYTES_CAP], size[TDM_BYTES_CAP];
	if (more == 0)
		return;
	tdm_buf_printf(out, "%sand %s more", mark, tdm_format_count(text, sizeof text, more));
	if (bytes != 0)
		tdm_buf_printf(out, ", which hold %s", tdm_format_bytes_short(size, sizeof size, bytes));
	if (shown->rest != NULL)
		tdm_buf_printf(out, " (%s)", shown->rest);
	tdm_buf_puts(out, "\n");
}

void tdm_findings_give(const struct tdm_shown_findings *shown,
	void (*put)(const struct tdm_shown_findings *shown, const struct tdm_finding *finding,
		const struct tdm_term *term, struct tdm_buf *out),
	const char *mark, const struct tdm_term *term, struct tdm_buf *out)
{
	int severity = -1;
	uint64_t count = 0, more = 0, bytes = 0;
	for (size_t i = 0; i < shown->list.count; i++) {
		const struct tdm_finding *finding = &shown->list.list[i];
		if (finding->severity == TDM_FINDING_OK && !shown->shows_fine)
			continue;
		if (severity != (int)finding->severity) {
			put_rest(shown, mark, more, bytes, out);
			count = more = bytes = 0;
		}
		severity = (int)finding->severity;
		if (shown->limit == 0 || count < shown->limit) {
			put(shown, finding, term, out);
			count++;
		} else {
			more++;
			bytes = tdm_plus(bytes, finding->bytes);
		}
	}
	put_rest(shown, mark, more, bytes, out);
}

void tdm_findings_put(const struct tdm_shown_findings *shown, const struct tdm_term *term, struct tdm_buf *out)
{
	tdm_findings_give(shown, put_finding, "  ", term, out);
}

/* ---- JSON ---- */

static void json_figures(
	const struct tdm_findings *all, const struct tdm_finding *finding, bool evidence, struct tdm_json *json)
{
	tdm_json_put_object(json, evidence ? "evidence" : "figures");
	for (size_t i = 0; i < finding->figure_count; i++) {
		const struct tdm_figure *figure = &all->figures[finding->first_figure + i];
		if (figure->is_evidence != evidence || figure->key[0] == '_')
			continue;
		tdm_json_key(json, figure->key);
		tdm_value_json(&figure->value, json);
	}
	if (evidence && finding->about.frames != NULL)
		tdm_json_put_table(json, "stack", finding->about.frames);
	if (evidence && finding->about.replay_frames != NULL)
		tdm_json_put_table(json, "replay_stack", finding->about.replay_frames);
	if (evidence && finding->hole_count != 0) {
		const struct tdm_table holes = holes_of(all, finding);
		tdm_json_put_table(json, "largest_holes", &holes);
	}
	tdm_json_object_end(json);
}

static void json_advice(const struct tdm_findings *all, const struct tdm_finding *finding, struct tdm_json *json)
{
	tdm_json_put_array(json, "advice");
	for (size_t i = 0; i < finding->advice_count; i++) {
		const struct tdm_advice *advice = &all->advice[finding->first_advice + i];
		tdm_json_object(json);
		tdm_json_put_text(json, "text", advice->text);
		tdm_json_put_text(json, "command", advice->command);
		if (advice->change.key != NULL) {
			tdm_json_put_object(json, "change");
			tdm_json_key(json, advice->change.key);
			tdm_value_json(&advice->change.value, json);
			tdm_json_object_end(json);
		}
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

void tdm_finding_put_members(
	const struct tdm_findings *all, const struct tdm_finding *finding, const char *text, struct tdm_json *json)
{
	tdm_json_put_text(json, "what", finding->what);
	tdm_json_put_text(json, "severity", tdm_severity_name((enum tdm_severity)finding->severity));
	tdm_json_put_text(json, "verdict", verdict_of(finding));
	tdm_json_put_text(json, "text", text);
	tdm_json_put_object(json, "about");
	tdm_json_put_name(json, "name", finding->about.name);
	tdm_json_put_name(json, "kind",
		finding->about.kind < TDM_KIND_COUNT ? tdm_kind_name((enum tdm_kind)finding->about.kind) : NULL);
	tdm_json_put_known(json, "device", finding->about.device >= 0, (uint64_t)finding->about.device);
	if (finding->about.device >= 0)
		tdm_json_put_bool(json, "virtual", finding->about.is_virtual);
	tdm_json_put_known(json, "pid", finding->about.pid != 0, (uint64_t)finding->about.pid);
	tdm_json_put_name(json, "comm", finding->about.comm);
	tdm_json_put_name(json, "host", finding->about.host);
	tdm_json_put_name(json, "ledger", finding->about.ledger);
	tdm_json_put_name(json, "phase", finding->about.phase);
	tdm_json_object_end(json);
	json_figures(all, finding, false, json);
	json_figures(all, finding, true, json);
	json_advice(all, finding, json);
}

void tdm_finding_put_json(const struct tdm_findings *all, const struct tdm_finding *finding, struct tdm_json *json)
{
	struct tdm_buf text = { 0 };
	put_sentence(all, finding, true, &text);
	tdm_json_object(json);
	tdm_finding_put_members(all, finding, tdm_buf_str(&text).ptr, json);
	tdm_json_object_end(json);
	tdm_buf_done(&text);
}
