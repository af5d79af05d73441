/* The readings of the driver's sensors, beside their limits where the driver gives them. */
#ifndef TDM_TUI_TELEMETRY_H
#define TDM_TUI_TELEMETRY_H

#include "tui/page.h"

/* "  48.5 / 75 °C  36 / 80 W  1000 MHz". Limits are left out if they make it wider than `room`; then its width, which
 * may still be wider. */
int tdm_telemetry_width(const struct tdm_canvas *canvas, const struct tdm_picture_device *device, int room);
/* Draws that, in as much room as the pen has. */
void tdm_telemetry_draw(struct tdm_pen *pen, const struct tdm_picture_device *device);

/* Draws every reading, or the reason why there is none. */
void tdm_telemetry_page(struct tdm_page *page, const struct tdm_picture_device *device);

#endif
