#include "tui/totals.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "tui/device_block.h"
#include "tui/gauge.h"

struct sum {
	uint64_t used, total;
	size_t known, unknown; /* devices */
};

static const struct tdm_picture_device *shown_device(const struct tdm_app *app, size_t i)
{
	return &app->picture->devices[app->shown[i]];
}

static size_t count_cards(const struct tdm_app *app)
{
	size_t count = 0;
	for (size_t i = 0; i < app->shown_count; i++)
		count += !shown_device(app, i)->is_virtual;
	return count;
}

bool tdm_totals_are_useful(const struct tdm_app *app)
{
	return count_cards(app) > 1;
}

/* A device whose use or capacity is unknown is left out of both, and counted. */
static struct sum add_up(const struct tdm_app *app, enum tdm_kind kind)
{
	struct sum sum = { 0 };
	for (size_t i = 0; i < app->shown_count; i++) {
		const struct tdm_picture_device *device = shown_device(app, i);
		uint64_t used = device->kinds[kind].used, total = tdm_device_share_total(device, kind);
		if (device->is_virtual)
			continue;
		if (used == TDM_BYTES_UNKNOWN || total == TDM_BYTES_UNKNOWN) {
			sum.unknown++;
			continue;
		}
		sum.known++;
		sum.used = tdm_plus(sum.used, used);
		sum.total = tdm_plus(sum.total, total);
	}
	return sum;
}

/* Processes with something on a device that is shown. */
static size_t count_processes(const struct tdm_app *app)
{
	const struct tdm_picture *picture = app->picture;
	const struct tdm_pick *pick = &app->options.pick;
	size_t count = 0;
	if (pick->device == NULL && pick->pid_count == 0)
		return picture->process_count;
	for (size_t p = 0; p < picture->process_count; p++) {
		const struct tdm_picture_process *process = &picture->processes[p];
		bool uses = false;
		for (uint32_t h = 0; h < process->holding_count && !uses && tdm_pick_names(pick, process); h++)
			for (size_t i = 0; i < app->shown_count && !uses; i++)
				uses = picture->holdings[process->first_holding + h].device == app->shown[i];
		count += uses;
	}
	return count;
}

static void draw_kind(struct tdm_pen *pen, const struct tdm_app *app, enum tdm_kind kind)
{
	char used[TDM_BYTES_CAP], total[TDM_BYTES_CAP], text[3 * TDM_BYTES_CAP + 32], doubt[32] = "";
	struct sum sum = add_up(app, kind);
	if (sum.known == 0 || sum.total == 0)
		return;
	if (sum.unknown != 0)
		snprintf(doubt, sizeof doubt, " (%zu unknown)", sum.unknown);
	int permille = tdm_picture_permille(sum.used, sum.total);
	int len = snprintf(text, sizeof text, "%d.%d%% %s of %s%s", permille / 10, permille % 10,
		tdm_format_bytes_short(used, sizeof used, sum.used),
		tdm_format_bytes_short(total, sizeof total, sum.total), doubt);
	const char *name = tdm_device_kind_title(kind);
	int room = tdm_pen_room(pen) - (int)strlen(name) - 3;
	if (len > room) /* the share alone */
		len = snprintf(text, sizeof text, "%d.%d%%%s", permille / 10, permille % 10, doubt);
	if (len > room)
		return;
	tdm_pen_printf(pen, TDM_INK_LABEL, "  %s ", name);
	tdm_pen_text(pen, tdm_ink_of_level(tdm_level_of(sum.used, sum.total)), text);
}

void tdm_totals_draw(struct tdm_app *app, struct tdm_area area)
{
	static const enum tdm_kind order[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_CB, TDM_KIND_TRACE,
		TDM_KIND_L1_SMALL };
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_pen_printf(&pen, TDM_INK_BOLD, " all %zu devices", count_cards(app));
	if (!tdm_area_is_narrow(area)) {
		size_t processes = count_processes(app);
		tdm_pen_printf(&pen, TDM_INK_DIM, "  %zu %sprocess%s", processes,
			tdm_picture_hides(app->picture) ? "listed " : "", processes == 1 ? "" : "es");
	}
	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
		draw_kind(&pen, app, order[i]);
}
