/* The readings of the driver's sensors, beside their limits where the driver gives them. */
#ifndef TDM_TUI_TELEMETRY_H
#define TDM_TUI_TELEMETRY_H

#include "tui/page.h"

enum { TDM_TELEMETRY_SHORT = 3, TDM_TELEMETRY_TEXT_CAP = 128 };

/* "  48.5 / 75 °C  36 / 80 W  1000 MHz", and how wide it is. */
struct tdm_telemetry {
	int count, cols;
	char texts[TDM_TELEMETRY_SHORT][TDM_TELEMETRY_TEXT_CAP];
	enum tdm_ink inks[TDM_TELEMETRY_SHORT];
};

/* Limits are left out if they make the line wider than `room`. It may still be wider. */
void tdm_telemetry_write(
	const struct tdm_canvas *canvas, const struct tdm_picture_device *device, int room, struct tdm_telemetry *line);
/* Draws it in as much room as the pen has. */
void tdm_telemetry_draw(struct tdm_pen *pen, const struct tdm_telemetry *line);

/* Draws every reading, or the reason why there is none. */
void tdm_telemetry_page(struct tdm_page *page, const struct tdm_picture_device *device);

#endif
