/*
 * Lists what is to be said about the chosen process, or about all: buffers that a trace may have overwritten, and
 * figures that differ from the runtime's own. The lines are made when the box is opened, and again only when there is
 * something new to say or the box has another width.
 */
#include "analyze/run_findings.h"
#include "base/clock.h"
#include "base/reserve.h"
#include "base/wrap.h"
#include "tui/popup.h"
#include "tui/screens.h"
#include "tui/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 2, PLACE_CAP = 320 };

static const enum tdm_ink inks[TDM_SEVERITIES] = { TDM_INK_GREEN, TDM_INK_CYAN, TDM_INK_YELLOW, TDM_INK_RED };

/* Adds a paragraph, folded to the width of the box. */
static void add_text(struct tdm_findings_page *page, enum tdm_ink ink, size_t indent, const char *text)
{
	size_t at = page->text.len;
	tdm_buf_fill(&page->text, ' ', indent);
	tdm_wrap(&page->text, tdm_str_of(text),
		(struct tdm_wrap){ .at = indent, .indent = indent, .width = page->cols });
	while (at < page->text.len && !page->text.failed) {
		if (tdm_reserve(&page->lines, &page->line_cap, page->line_count + 1, sizeof *page->lines) != 0)
			return;
		const char *end = memchr(page->text.data + at, '\n', page->text.len - at);
		size_t next = end != NULL ? (size_t)(end - page->text.data) + 1 : page->text.len;
		page->lines[page->line_count++] = (struct tdm_findings_line){ at, next - at - (end != NULL), ink };
		at = next;
	}
}

static void add_stack(struct tdm_app *app, const char *label, const struct tdm_about *about, uint32_t stack)
{
	char place[PLACE_CAP], text[PLACE_CAP + 32];
	if (stack == 0)
		return;
	snprintf(text, sizeof text, "%s %s", label, tdm_app_place(app, "", about->process, stack, place, sizeof place));
	add_text(&app->findings, TDM_INK_PLAIN, INDENT, text);
}

static void add_process(struct tdm_app *app, uint32_t index)
{
	const struct tdm_picture_process *process = &app->picture->processes[index];
	struct tdm_findings_page *page = &app->findings;
	struct tdm_findings found = { 0 };
	tdm_run_findings(app->picture, index, &found);
	for (size_t i = 0; i < found.count; i++) {
		const struct tdm_finding *finding = &found.list[i];
		const char *before = i != 0 ? found.list[i - 1].what : NULL;
		char head[128];
		if (i == 0 && page->line_count != 0)
			add_text(page, TDM_INK_PLAIN, 0, "");
		if (i == 0) {
			snprintf(head, sizeof head, "%.80s%s%" PRId32 " %s",
				process->host != NULL ? process->host->name : "", process->host != NULL ? ": " : "",
				process->pid, process->comm);
			add_text(page, TDM_INK_BOLD, 0, head);
		}
		add_text(page, inks[finding->severity], 0, finding->text);
		add_stack(app, "allocated in", &finding->about, finding->about.stack);
		add_stack(app, "replayed in", &finding->about, finding->about.replay_stack);
		if (finding->advice.count != 0 && finding->what != before)
			add_text(page, TDM_INK_DIM, INDENT, found.advice[finding->advice.first].text);
	}
	page->text.failed |= tdm_findings_done(&found);
}

static void make(struct tdm_app *app)
{
	struct tdm_findings_page *page = &app->findings;
	const struct tdm_picture_process *only = app->screen == TDM_SCREEN_PROCESS ? tdm_app_chosen_process(app) : NULL;
	tdm_buf_clear(&page->text);
	page->line_count = 0;
	for (uint32_t i = 0; i < app->picture->process_count; i++)
		if (only == NULL || only == &app->picture->processes[i])
			add_process(app, i);
	if (page->line_count == 0)
		add_text(page, TDM_INK_PLAIN, 0,
			"There is nothing to say: no buffer was allocated while a captured trace existed, and the "
			"runtime reported no statistics.");
	/* Functions that could not be looked up in time are looked up for the next frame. */
	page->is_made = tdm_clock_ns() < app->places_until_ns;
}

static uint64_t version_of(const struct tdm_app *app)
{
	uint64_t version = app->screen == TDM_SCREEN_PROCESS ? app->process_handle << 32 : 0;
	for (size_t i = 0; i < app->picture->process_count; i++)
		version += tdm_run_findings_version(app->picture, &app->picture->processes[i]);
	return version;
}

static size_t count(const struct tdm_app *app)
{
	return app->findings.line_count;
}

static void draw_line(struct tdm_app *app, struct tdm_area area, size_t index)
{
	const struct tdm_findings_line *line = &app->findings.lines[index];
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_pen_printf(&pen, (enum tdm_ink)line->ink, "%.*s", (int)line->len, app->findings.text.data + line->at);
}

static void draw(struct tdm_app *app, struct tdm_area area)
{
	struct tdm_findings_page *page = &app->findings;
	size_t cols = area.cols > 8 ? (size_t)area.cols - 4 : 4;
	uint64_t version = version_of(app);
	if (!page->is_made || page->version != version || page->cols != cols) {
		page->version = version;
		page->cols = cols;
		make(app);
	}
	struct tdm_area inner = tdm_popup_box(app, area, (int)tdm_min(page->line_count, 100), area.cols, "Findings");
	app->popup_list.chosen = app->popup_list.top;
	if (page->text.failed) {
		struct tdm_pen pen = tdm_pen_at(&app->canvas, inner, 0);
		tdm_pen_text(&pen, TDM_INK_YELLOW, "Out of memory: the findings cannot be listed.");
		return;
	}
	tdm_popup_lines(app, inner, page->line_count, draw_line);
}

static bool key(struct tdm_app *app, int key)
{
	return tdm_list_scroll(&app->popup_list, key) ||
	       !(tdm_popup_closes(key) || key == 'w' || key == TDM_KEY_ENTER || key == ' ');
}

void tdm_findings_page_done(struct tdm_findings_page *page)
{
	tdm_buf_done(&page->text);
	free(page->lines);
	*page = (struct tdm_findings_page){ 0 };
}

const struct tdm_popup tdm_popup_findings = { count, draw, key };
