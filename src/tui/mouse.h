/*
 * What the mouse can do. While a frame is drawn, its parts say where they are and what a click there means; a later
 * zone is above an earlier one.
 */
#ifndef TDM_TUI_MOUSE_H
#define TDM_TUI_MOUSE_H

#include <stddef.h>
#include <stdint.h>

#include "tui/canvas.h"

struct tdm_app;
struct tdm_mouse;

enum tdm_zone_type {
	TDM_ZONE_NONE,
	TDM_ZONE_KEY,         /* value: the key that a click presses */
	TDM_ZONE_DEVICE,      /* value: index among the devices shown */
	TDM_ZONE_PROCESSES,   /* lines; value: index of the first, as for the next two lists */
	TDM_ZONE_BUFFERS,     /* lines of the process screen */
	TDM_ZONE_BOX,         /* lines of a box */
	TDM_ZONE_COLUMN,      /* title; value: enum tdm_proc_column */
	TDM_ZONE_BUFFER_SORT, /* title; value: enum tdm_buffer_sort */
};

struct tdm_zone {
	struct tdm_area area;
	enum tdm_zone_type type;
	size_t value;
};

/* All zero to begin. */
struct tdm_zones {
	struct tdm_zone *list; /* of the frame on the screen */
	size_t count, cap;
	enum tdm_zone_type pressed; /* the last click, to know a double click */
	size_t pressed_value;
	uint64_t pressed_ns;
};

/* Out of memory, the zone cannot be clicked. */
void tdm_zone_add(struct tdm_app *app, struct tdm_area area, enum tdm_zone_type type, size_t value);
void tdm_zones_clear(struct tdm_zones *zones);
void tdm_zones_done(struct tdm_zones *zones);

/* Does what was clicked at this time of the monotonic clock. */
void tdm_mouse_use(struct tdm_app *app, struct tdm_mouse mouse, uint64_t now_ns);

#endif
