/* Screen 2: one device: identity, telemetry, every kind, and where its buffers lie. */
#include <inttypes.h>
#include <stdio.h>

#include "tui/device_block.h"
#include "tui/screens.h"

static void refresh(struct tdm_app *app, bool now)
{
	size_t device;
	if (tdm_app_chosen_device(app, &device) != NULL)
		tdm_device_view_refresh(&app->device, app->provider, app->overview, device, now);
}

static void draw(struct tdm_app *app, struct tdm_area area)
{
	const struct tdm_overview_device *device = tdm_app_chosen_device(app, NULL);
	if (device == NULL) {
		struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 1);
		tdm_pen_text(&pen, TDM_INK_YELLOW, "  There is no device.");
		return;
	}
	tdm_device_block(app, area, device, TDM_DETAIL_FULL, TDM_INK_PLAIN);
}

static bool key(struct tdm_app *app, int key)
{
	return tdm_list_scroll(&app->device.list, key);
}

const struct tdm_screen tdm_screen_device = {
	.name = "device",
	.refresh = refresh,
	.draw = draw,
	.key = key,
};
