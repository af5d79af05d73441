/* Lists what could not be read, and why. */
#include "tui/popup.h"
#include "tui/screens.h"
#include "tui/terminal.h"

enum { LINES_EACH = 2 };

/* The place, and the problem in the line below: both can be long. */
static void draw_line(struct tdm_app *app, struct tdm_area area, size_t index)
{
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	const struct tdm_picture_problem *problem = &app->picture->problems[index / LINES_EACH];
	if (index % LINES_EACH == 0) {
		tdm_pen_printf(&pen, TDM_INK_PLAIN, "%s  ", problem->place);
		if (problem->from != TDM_FROM_NONE) /* a machine that does not answer is no source */
			tdm_pen_text(&pen, TDM_INK_DIM, tdm_from_name((enum tdm_from)problem->from));
	} else
		tdm_pen_printf(&pen, TDM_INK_YELLOW, "  %s", problem->text);
}

static size_t count(const struct tdm_app *app)
{
	return app->picture != NULL ? LINES_EACH * app->picture->problem_count : 0;
}

static void draw(struct tdm_app *app, struct tdm_area area)
{
	size_t lines = count(app);
	struct tdm_area inner = tdm_popup_box(
		app, area, lines > 0 ? (int)(lines < 100 ? lines : 100) : 1, area.cols, "Could not be read");
	app->popup_list.chosen = app->popup_list.top;
	if (lines == 0) {
		struct tdm_pen pen = tdm_pen_at(&app->canvas, inner, 0);
		tdm_pen_text(&pen, TDM_INK_PLAIN, "Everything could be read.");
		return;
	}
	tdm_popup_lines(app, inner, lines, draw_line);
}

static bool key(struct tdm_app *app, int key)
{
	return tdm_list_scroll(&app->popup_list, key) ||
	       !(tdm_popup_closes(key) || key == '!' || key == TDM_KEY_ENTER || key == ' ');
}

const struct tdm_popup tdm_popup_problems = { count, draw, key };
