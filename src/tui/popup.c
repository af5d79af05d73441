#include "tui/popup.h"

#include "tui/terminal.h"

struct tdm_area tdm_popup_box(struct tdm_app *app, struct tdm_area area, int rows, int cols, const char *title)
{
	rows = rows + 2 < area.rows ? rows + 2 : area.rows;
	cols = cols + 4 < area.cols ? cols + 4 : area.cols;
	struct tdm_area box = { area.row + (area.rows - rows) / 2, area.col + (area.cols - cols) / 2, rows, cols };
	tdm_zone_add(app, box, TDM_ZONE_KEY, TDM_KEY_OTHER);
	return tdm_canvas_box(&app->canvas, box, title);
}

void tdm_popup_lines(struct tdm_app *app, struct tdm_area area, size_t count,
	void (*line)(struct tdm_app *app, struct tdm_area area, size_t index))
{
	tdm_list_fit(&app->popup_list, count, area.rows);
	tdm_zone_add(app, area, TDM_ZONE_BOX, app->popup_list.top);
	for (int i = 0; i < area.rows && app->popup_list.top + (size_t)i < count; i++) {
		size_t index = app->popup_list.top + (size_t)i;
		struct tdm_area row = { area.row + i, area.col, 1, area.cols };
		line(app, row, index);
	}
	if (app->popup_list.top + (size_t)area.rows < count) /* in the frame */
		tdm_canvas_put(&app->canvas, area.row + area.rows, area.col, area.cols, TDM_INK_DIM, " PgDn: more ");
}

bool tdm_popup_closes(int key)
{
	return key == TDM_KEY_ESCAPE || key == 'q' || key == TDM_KEY_F0 + 10;
}
