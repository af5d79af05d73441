#include "tui/telemetry.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"

enum { TEXT_CAP = TDM_TELEMETRY_TEXT_CAP, NAME_COLUMNS = 12, COLUMNS = 30, NEAR_PERCENT = 90 };

/* A sensor: its reading and limit, in `unit`s of its suffix. */
struct sensor {
	const char *name, *suffix;
	struct tdm_reading reading, limit;
	double unit;
	int digits;
};

/* A line has the first TDM_TELEMETRY_SHORT of them. */
enum { TEMPERATURE, POWER, CLOCK, VOLTAGE, CURRENT, FAN, HEARTBEAT, SENSORS };

static void sensors_of(
	const struct tdm_canvas *canvas, const struct tdm_picture_device *device, struct sensor s[SENSORS])
{
	const struct tdm_picture_telemetry *t = &device->telemetry;
	const struct tdm_reading none = { 0 }; /* the driver gives no limit */
	s[TEMPERATURE] = (struct sensor){ "temperature", canvas->utf8 ? "°C" : "C", t->temp, t->temp_max, 1000, 1 };
	s[POWER] = (struct sensor){ "power", "W", t->power, t->power_max, 1e6, 0 };
	s[CLOCK] = (struct sensor){ "clock", "MHz", t->clock, none, 1, 0 };
	s[VOLTAGE] = (struct sensor){ "voltage", "mV", t->voltage, t->voltage_max, 1, 0 };
	s[CURRENT] = (struct sensor){ "current", "A", t->current, t->current_max, 1000, 1 };
	s[FAN] = (struct sensor){ "fan", "rpm", t->fan, none, 1, 0 };
	s[HEARTBEAT] = (struct sensor){ "heartbeat", "", t->heartbeat, none, 1, 0 };
}

static bool has_limit(const struct sensor *sensor)
{
	return sensor->reading.is_known && sensor->limit.is_known && sensor->limit.value > 0;
}

/* Red at the limit, yellow near it. */
static enum tdm_ink ink_of(const struct sensor *sensor)
{
	if (!sensor->reading.is_known)
		return TDM_INK_DIM;
	double share = has_limit(sensor) ? (double)sensor->reading.value / (double)sensor->limit.value * 100 : 0;
	return share >= 100 ? TDM_INK_RED : share >= NEAR_PERCENT ? TDM_INK_YELLOW : TDM_INK_PLAIN;
}

/* `why`: the text of an unknown reading. */
static void format(const struct sensor *sensor, bool with_limit, const char *why, char *dst, size_t cap)
{
	char limit[TEXT_CAP / 2] = "";
	if (!sensor->reading.is_known) {
		snprintf(dst, cap, "%s", why);
		return;
	}
	if (with_limit && has_limit(sensor)) {
		double value = (double)sensor->limit.value / sensor->unit;
		snprintf(limit, sizeof limit, " / %.*f", value == (double)(int64_t)value ? 0 : 1, value);
	}
	snprintf(dst, cap, "%.*f%s%s%s", sensor->digits, (double)sensor->reading.value / sensor->unit, limit,
		sensor->suffix[0] != '\0' ? " " : "", sensor->suffix);
}

static bool is_silent(const struct tdm_picture_device *device)
{
	const struct tdm_picture_telemetry *t = &device->telemetry;
	return device->node < 0 && !t->temp.is_known && !t->power.is_known && !t->clock.is_known;
}

static void write_line(
	const struct tdm_canvas *canvas, const struct sensor *s, bool with_limits, struct tdm_telemetry *line)
{
	line->cols = 0;
	line->count = TDM_TELEMETRY_SHORT;
	for (int i = 0; i < TDM_TELEMETRY_SHORT; i++) {
		char why[16];
		snprintf(why, sizeof why, "? %s", s[i].suffix);
		format(&s[i], with_limits, why, line->texts[i], sizeof line->texts[i]);
		line->inks[i] = ink_of(&s[i]);
		line->cols += 2 + tdm_canvas_width_of(canvas, line->texts[i]);
	}
}

void tdm_telemetry_write(
	const struct tdm_canvas *canvas, const struct tdm_picture_device *device, int room, struct tdm_telemetry *line)
{
	struct sensor s[SENSORS];
	if (is_silent(device)) {
		*line = (struct tdm_telemetry){ .texts = { "no telemetry" }, .inks = { TDM_INK_DIM }, .count = 1 };
		line->cols = 2 + (int)strlen(line->texts[0]);
		return;
	}
	sensors_of(canvas, device, s);
	write_line(canvas, s, true, line);
	if (line->cols > room)
		write_line(canvas, s, false, line);
}

void tdm_telemetry_draw(struct tdm_pen *pen, const struct tdm_telemetry *line)
{
	for (int i = 0; i < line->count; i++) {
		tdm_pen_skip(pen, 2);
		tdm_pen_text(pen, line->inks[i], line->texts[i]);
	}
}

void tdm_telemetry_page(struct tdm_page *page, const struct tdm_picture_device *device)
{
	struct sensor s[SENSORS];
	struct tdm_pen pen = { 0 };
	if (is_silent(device)) {
		pen = tdm_page_line(page);
		tdm_pen_text(
			&pen, TDM_INK_DIM, "  telemetry unknown: no card of the driver is known to be this device");
		return;
	}
	sensors_of(page->canvas, device, s);
	int in_line = page->area.cols / COLUMNS > 0 ? page->area.cols / COLUMNS : 1;
	for (int i = 0; i < SENSORS; i++) {
		char text[TEXT_CAP];
		int err = s[i].reading.err;
		if (i % in_line == 0)
			pen = tdm_page_line(page);
		format(&s[i], true, err != 0 ? tdm_err_text(err) : "not offered", text, sizeof text);
		tdm_pen_skip(&pen, 2);
		tdm_pen_field(&pen, NAME_COLUMNS, TDM_INK_DIM, s[i].name);
		tdm_pen_field(&pen, COLUMNS - NAME_COLUMNS - 2, ink_of(&s[i]), text);
	}
}
