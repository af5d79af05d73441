/* Chooses the column that processes are sorted by. */
#include "tui/popup.h"
#include "tui/screens.h"
#include "tui/terminal.h"

static void draw_line(struct tdm_app *app, struct tdm_area area, size_t index)
{
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	const struct tdm_proc_column_info *column = &tdm_proc_columns[index];
	tdm_pen_printf(&pen, TDM_INK_PLAIN, " %s", column->title);
	if (column->letter != 0)
		tdm_canvas_set(&app->canvas, area.row, area.col + area.cols - 2, TDM_INK_KEY, (uint32_t)column->letter);
	if (index == app->popup_list.chosen)
		tdm_canvas_shade(&app->canvas, area.row, area.col, area.cols, TDM_INK_CURSOR);
}

static size_t count(const struct tdm_app *app)
{
	(void)app;
	return TDM_PROC_COLUMN_COUNT;
}

static void draw(struct tdm_app *app, struct tdm_area area)
{
	tdm_popup_lines(
		app, tdm_popup_box(app, area, TDM_PROC_COLUMN_COUNT, 20, "Sort by"), TDM_PROC_COLUMN_COUNT, draw_line);
}

static bool key(struct tdm_app *app, int key)
{
	for (size_t c = 0; c < TDM_PROC_COLUMN_COUNT; c++)
		if (tdm_proc_columns[c].letter == key && key != 0) {
			app->popup_list.chosen = c;
			key = TDM_KEY_ENTER;
		}
	if (key == TDM_KEY_ENTER) {
		app->sort = (enum tdm_proc_column)app->popup_list.chosen;
		app->reversed = false;
		tdm_app_update_rows(app);
		return false;
	}
	return tdm_list_key(&app->popup_list, key) || !(tdm_popup_closes(key) || key == TDM_KEY_F0 + 6);
}

const struct tdm_popup tdm_popup_sort = { count, draw, key };
