#include "tui/mouse.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/reserve.h"
#include "tui/actions.h"
#include "tui/app.h"
#include "tui/keys.h"
#include "tui/screens.h"
#include "tui/terminal.h"

enum { WHEEL_LINES = 3, DOUBLE_MS = 500 };

void tdm_zone_add(struct tdm_app *app, struct tdm_area area, enum tdm_zone_type type, size_t value)
{
	struct tdm_zones *zones = &app->zones;
	if (area.rows <= 0 || area.cols <= 0 || app->options.no_mouse ||
		tdm_reserve(&zones->list, &zones->cap, zones->count + 1, sizeof *zones->list) != 0)
		return;
	zones->list[zones->count++] = (struct tdm_zone){ area, type, value };
}

void tdm_zones_clear(struct tdm_zones *zones)
{
	zones->count = 0;
}

void tdm_zones_done(struct tdm_zones *zones)
{
	free(zones->list);
	*zones = (struct tdm_zones){ 0 };
}

static bool is_list(enum tdm_zone_type type)
{
	return type == TDM_ZONE_PROCESSES || type == TDM_ZONE_BUFFERS || type == TDM_ZONE_BOX;
}

/* The zone below the pointer; that of a list with the value of the line. */
static struct tdm_zone zone_at(const struct tdm_zones *zones, int row, int col)
{
	for (size_t i = zones->count; i-- > 0;) {
		struct tdm_zone zone = zones->list[i];
		const struct tdm_area *area = &zone.area;
		if (row < area->row || row >= area->row + area->rows || col < area->col ||
			col >= area->col + area->cols)
			continue;
		if (is_list(zone.type))
			zone.value += (size_t)(row - area->row);
		return zone;
	}
	return (struct tdm_zone){ .type = TDM_ZONE_NONE };
}

/* Chooses the line. False: there is none. */
static bool choose(struct tdm_list *list, size_t line)
{
	if (line >= list->count)
		return false;
	list->chosen = line;
	return true;
}

static void press_buffer_title(struct tdm_app *app, enum tdm_buffer_sort sort)
{
	struct tdm_buffer_view *view = &app->buffers;
	view->reversed = view->sort == sort && !view->by_site ? !view->reversed : false;
	view->sort = sort;
	view->by_site = false;
	tdm_buffer_view_changed(view);
}

/* A click on a line of the boxes that change something does it; the box of signals only chooses. */
static void press_box(struct tdm_app *app, const struct tdm_zone *zone)
{
	if (zone->type == TDM_ZONE_NONE)
		tdm_keys_press(app, TDM_KEY_ESCAPE);
	else if (zone->type == TDM_ZONE_BOX && choose(&app->popup_list, zone->value) &&
		 (app->popup == TDM_POPUP_SORT || app->popup == TDM_POPUP_SETUP))
		tdm_keys_press(app, TDM_KEY_ENTER);
}

static void press(struct tdm_app *app, const struct tdm_zone *zone, bool is_double)
{
	switch (zone->type) {
	case TDM_ZONE_KEY:
		tdm_keys_press(app, (int)zone->value);
		return;
	case TDM_ZONE_DEVICE:
		app->devices_have_keys = true;
		if (choose(&app->devices, zone->value))
			tdm_app_device_chosen(app);
		break;
	case TDM_ZONE_PROCESSES:
		app->devices_have_keys = false;
		if (!choose(&app->processes, zone->value))
			return;
		app->row_is_held = true;
		break;
	case TDM_ZONE_BUFFERS:
		choose(&app->buffers.list, zone->value);
		return;
	case TDM_ZONE_COLUMN:
		tdm_act_sort_column(app, (enum tdm_proc_column)zone->value);
		return;
	case TDM_ZONE_BUFFER_SORT:
		press_buffer_title(app, (enum tdm_buffer_sort)zone->value);
		return;
	default:
		return;
	}
	if (is_double)
		tdm_act_open(app, TDM_KEY_ENTER);
}

/* Moves the list below the pointer, as the arrow keys do. */
static void turn_wheel(struct tdm_app *app, const struct tdm_zone *zone, bool up)
{
	if (app->popup == TDM_POPUP_NONE && zone->type == TDM_ZONE_DEVICE)
		app->devices_have_keys = true;
	else if (app->popup == TDM_POPUP_NONE && zone->type == TDM_ZONE_PROCESSES)
		app->devices_have_keys = false;
	int lines = zone->type == TDM_ZONE_DEVICE ? 1 : WHEEL_LINES;
	for (int i = 0; i < lines; i++)
		tdm_keys_press(app, up ? TDM_KEY_UP : TDM_KEY_DOWN);
}

void tdm_mouse_use(struct tdm_app *app, struct tdm_mouse mouse, uint64_t now_ns)
{
	struct tdm_zones *zones = &app->zones;
	const struct tdm_zone zone = zone_at(zones, mouse.row, mouse.col);
	if (app->typing.on)
		tdm_keys_press(app, TDM_KEY_ENTER);
	if (mouse.act != TDM_MOUSE_PRESS) {
		turn_wheel(app, &zone, mouse.act == TDM_MOUSE_WHEEL_UP);
		return;
	}
	bool is_double = zone.type == zones->pressed && zone.value == zones->pressed_value &&
			 now_ns - zones->pressed_ns < DOUBLE_MS * TDM_NS_PER_MS;
	zones->pressed = is_double ? TDM_ZONE_NONE : zone.type; /* a third click begins anew */
	zones->pressed_value = zone.value;
	zones->pressed_ns = now_ns;
	if (app->popup != TDM_POPUP_NONE)
		press_box(app, &zone);
	else if (app->picture != NULL || zone.type == TDM_ZONE_KEY)
		press(app, &zone, is_double);
}
