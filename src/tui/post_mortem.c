#include "tui/post_mortem.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/number.h"
#include "tui/device_block.h"
#include "tui/screens.h"

enum { EVENTS_MAX = 5, WITH_EVENTS = 16, REFUSED_COLUMNS = 48 }; /* events have room from that many rows on */

void tdm_post_mortem_wish(const struct tdm_app *app, const struct tdm_picture_process *process, struct tdm_wish *wish)
{
	if (process->life != TDM_LIFE_ENDED || app->events.paused)
		return; /* events are given once: nobody would keep them */
	wish->parts |= TDM_WISH_EVENTS;
	wish->events_of = process->handle;
}

/* The kind that ran out of memory most often, and what it has. */
static const struct tdm_picture_amount *last_failure(
	const struct tdm_app *app, const struct tdm_picture_process *process, enum tdm_kind *kind)
{
	const struct tdm_picture_amount *found = NULL;
	for (uint32_t h = 0; h < process->holding_count; h++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_picture_amount *amount =
				&app->picture->holdings[process->first_holding + h].kinds[k];
			if (amount->out_of_memory == 0 || amount->out_of_memory == TDM_BYTES_UNKNOWN ||
				(found != NULL && found->out_of_memory >= amount->out_of_memory))
				continue;
			found = amount;
			*kind = (enum tdm_kind)k;
		}
	return found;
}

/* The program that ran: as the last event about one says, else that of the youngest buffer. */
static const char *last_program(
	const struct tdm_app *app, const struct tdm_picture_process *process, uint64_t *youngest_ns)
{
	const char *program = tdm_event_log_program(&app->events, process->handle);
	uint32_t found = 0;
	for (uint32_t h = 0; h < process->holding_count; h++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_buffer_list *list =
				&app->picture->holdings[process->first_holding + h].buffers[k];
			for (size_t i = 0; i < list->count; i++)
				if (list->list[i].born_ns > *youngest_ns) {
					*youngest_ns = list->list[i].born_ns;
					found = list->list[i].program;
				}
		}
	return program[0] != '\0' ? program : tdm_picture_text(app->picture, found);
}

static void draw_held(const struct tdm_app *app, struct tdm_pen *pen, const struct tdm_picture_process *process)
{
	uint64_t bytes = 0, buffers = 0;
	char text[TDM_BYTES_CAP];
	for (uint32_t h = 0; h < process->holding_count; h++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_picture_amount *amount =
				&app->picture->holdings[process->first_holding + h].kinds[k];
			bytes = amount->used != TDM_BYTES_UNKNOWN ? tdm_plus(bytes, amount->used) : bytes;
			buffers = amount->buffers != TDM_BYTES_UNKNOWN ? tdm_plus(buffers, amount->buffers) : buffers;
		}
	tdm_pen_text(pen, TDM_INK_DIM, "  it held ");
	tdm_pen_printf(pen, TDM_INK_PLAIN, "%s", tdm_format_bytes_short(text, sizeof text, bytes));
	tdm_pen_text(pen, TDM_INK_DIM, " in ");
	tdm_pen_printf(pen, TDM_INK_PLAIN, "%s buffer%s", tdm_format_count(text, sizeof text, buffers),
		buffers == 1 ? "" : "s");
}

/* When it last reported something; its end was not much later, but is not known. */
static void draw_end(
	struct tdm_app *app, struct tdm_pen *pen, const struct tdm_picture_process *process, uint64_t youngest_ns)
{
	const struct tdm_picture *picture = app->picture;
	const struct tdm_event *last;
	char text[TDM_DURATION_CAP];
	uint64_t last_ns = 0; /* real-time clock */
	if (youngest_ns != 0 && youngest_ns <= picture->time_ns)
		last_ns = picture->real_ns - (picture->time_ns - youngest_ns);
	if (tdm_event_log_last(&app->events, process->handle, &last, 1) != 0)
		last_ns = tdm_max(last_ns, last->time_ns);
	tdm_pen_text(pen, TDM_INK_RED,
		process->crashed ? " Killed or crashed: it ended without closing its ledger." : " It has ended.");
	if (last_ns == 0)
		return;
	time_t seconds = (time_t)(last_ns / TDM_NS_PER_S);
	struct tm local;
	if (localtime_r(&seconds, &local) != NULL && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local) != 0) {
		tdm_pen_text(pen, TDM_INK_DIM, "  last report ");
		tdm_pen_text(pen, TDM_INK_PLAIN, text);
	}
	if (last_ns <= picture->real_ns)
		tdm_pen_printf(pen, TDM_INK_DIM, ", %s ago",
			tdm_format_duration(text, sizeof text, picture->real_ns - last_ns));
}

int tdm_post_mortem_draw(struct tdm_app *app, struct tdm_area area, const struct tdm_picture_process *process)
{
	const struct tdm_event *events[EVENTS_MAX];
	uint64_t youngest_ns = 0;
	enum tdm_kind kind = TDM_KIND_DRAM;
	char text[TDM_BYTES_CAP];
	const char *program = last_program(app, process, &youngest_ns);
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	draw_end(app, &pen, process, youngest_ns);
	pen = tdm_pen_at(&app->canvas, area, 1);
	draw_held(app, &pen, process);
	tdm_pen_text(&pen, TDM_INK_DIM, "  program ");
	tdm_pen_text(&pen, program[0] != '\0' ? TDM_INK_CYAN : TDM_INK_DIM, program[0] != '\0' ? program : "none");
	const struct tdm_picture_amount *failure = last_failure(app, process, &kind);
	int lines = 2;
	if (failure != NULL && tdm_pen_room(&pen) < REFUSED_COLUMNS && area.rows > lines)
		pen = tdm_pen_at(&app->canvas, area, lines++);
	if (failure != NULL)
		tdm_pen_printf(&pen, TDM_INK_RED, "  out of memory: %s of %s were refused",
			tdm_format_bytes_short(text, sizeof text, failure->oom_bytes), tdm_device_kind_title(kind));
	if (area.rows < WITH_EVENTS)
		return lines;
	size_t count = tdm_event_log_last(&app->events, process->handle, events, EVENTS_MAX);
	pen = tdm_pen_at(&app->canvas, area, lines++);
	tdm_pen_text(&pen, TDM_INK_DIM, count != 0 ? "  its last events:" : "  its last events are not known");
	for (size_t i = 0; i < count; i++)
		tdm_event_draw(app, (struct tdm_area){ area.row + lines + (int)i, area.col, 1, area.cols },
			events[count - 1 - i]);
	return lines + (int)count;
}
