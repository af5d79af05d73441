/*
 * People search these frames with grep, so the places of shares are fixed: percent signs appear only in three lines of
 * each region, and each share is rounded down.
 *
 *     L1 Memory: 84.2%                            the region's name and its share with one decimal
 *       Allocated:      71.62 MiB (84%)           whole percent
 *       Usage: [####......] 84.2%                 without the region's name
 *
 * The first two stop at 99.9% and 99%, followed by a plus sign if the share is higher: so exactly the shares from 80 %
 * on have two digits before the point that begin with 8 or 9. Usage has the true share.
 */
#include "report/top_frame.h"
#include "base/bar.h"
#include "base/duration.h"
#include "base/wrap.h"
#include "device/card.h"
#include "report/cell.h"
#include "report/live_cells.h"
#include "report/report_put.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

enum { WIDTH = 80, BAR_COLUMNS = 40, LABEL_COLUMNS = 14, VALUE_COLUMNS = 15, COMMAND_COLUMNS = 60, USER_COLUMNS = 10 };
enum { TENTHS_MAX = 999 };

static const char title[] = "TT Device Memory Utilization Monitor";

static void put_rule(struct tdm_buf *out, char c)
{
	tdm_buf_fill(out, c, WIDTH);
	tdm_buf_putc(out, '\n');
}

/* Text from others, with percent signs replaced. */
static size_t put_text(const struct tdm_top_frame *frame, const char *text, size_t columns, struct tdm_buf *out)
{
	size_t from = out->len;
	size_t used = tdm_cell_put(out, tdm_str_of(text), columns, frame->term.utf8);
	for (size_t i = from; i < out->len; i++)
		if (out->data[i] == '%')
			out->data[i] = '?';
	return used;
}

/* The same between two other texts; nothing if it is empty. */
static void put_between(
	const struct tdm_top_frame *frame, const char *before, const char *text, const char *after, struct tdm_buf *out)
{
	if (text == NULL || text[0] == '\0')
		return;
	tdm_buf_puts(out, before);
	put_text(frame, text, COMMAND_COLUMNS, out);
	tdm_buf_puts(out, after);
}

static void put_note(const char *text, struct tdm_buf *out)
{
	tdm_buf_puts(out, "  Note: ");
	tdm_wrap(out, tdm_str_of(text), (struct tdm_wrap){ .at = 8, .indent = 8, .width = WIDTH });
}

/* What the figures of tt-metal's shared memory leave out, and what an estimate is. */
static void put_notes(const struct tdm_top_frame *frame, struct tdm_buf *out)
{
	static const char shm[] = "the figures are tt-metal's own statistics: allocations of other threads may be "
				  "missing, and the CB total may be the last writer's alone";
	static const char estimates[] = "bytes in use with '~' are an estimate: what some buffers take is not known, "
					"and they count with what they asked for";
	const struct tdm_picture *picture = frame->picture;
	bool is_from_shm = false, is_estimated = false;
	for (size_t i = 0; i < picture->device_count; i++) {
		bool is_taken = tdm_pick_takes_device(&frame->pick, picture, i);
		for (size_t k = 0; k < TDM_KIND_COUNT && is_taken; k++) {
			is_from_shm |= picture->devices[i].kinds[k].used_from == TDM_FROM_METAL_SHM;
			is_estimated |= picture->devices[i].kinds[k].is_estimated;
		}
	}
	if (is_from_shm)
		put_note(shm, out);
	if (is_estimated)
		put_note(estimates, out);
}

static void put_system(const struct tdm_top_frame *frame, struct tdm_buf *out)
{
	const struct tdm_picture *picture = frame->picture;
	char when[TDM_TIME_CAP], refresh[24] = "none";
	size_t devices = 0, all = picture->device_count - picture->board_count;
	for (size_t i = 0; i < all; i++)
		devices += tdm_pick_takes_device(&frame->pick, picture, i);
	tdm_format_time(when, sizeof when, picture->real_ns);
	if (frame->interval_ms != 0)
		snprintf(refresh, sizeof refresh, "%ums", frame->interval_ms);
	tdm_buf_printf(out, "System Info:\n  Time: %s\n  Refresh: %s\n  Devices: %zu",
		when[0] != '\0' ? when : "unknown", refresh, devices);
	if (devices != all)
		tdm_buf_printf(out, " of %zu", all);
	if (picture->device_count == 0 && picture->hosts != NULL) {
		tdm_buf_puts(out, tdm_picture_is_silent(picture) ? " (none of the machines has answered)"
								 : " (the machines that answer have none)");
	} else if (picture->device_count == 0) {
		tdm_buf_puts(out, " (no card and no tracked process is visible; see 'tidemark doctor')");
	} else if (devices == 0 && frame->pick.pid_count != 0) {
		if (frame->pick.pid_count == 1)
			tdm_buf_printf(out, " (process %" PRId32 " uses none", frame->pick.pids[0]);
		else
			tdm_buf_puts(out, " (the named processes use none");
		put_between(frame, " that is '", frame->pick.device, "'", out);
		tdm_buf_putc(out, ')');
	} else if (devices == 0) {
		put_between(frame, " (none is '", frame->pick.device, "')", out);
	}
	tdm_buf_putc(out, '\n');
	if (picture->board_count != 0)
		tdm_buf_printf(
			out, "  Cards: %zu (it is not known which device is on which card)\n", picture->board_count);
	put_notes(frame, out);
	if (picture->hosts == NULL && picture->problem_count != 0)
		tdm_buf_printf(out, "  Problems: %zu (see 'tidemark doctor')\n", picture->problem_count);
	for (size_t i = 0; picture->hosts != NULL && i < picture->problem_count; i++) {
		put_between(frame, "  Problem: ", picture->problems[i].place, ": ", out);
		put_text(frame, picture->problems[i].text, 0, out);
		tdm_buf_putc(out, '\n');
	}
}

/* As a program described it, else the card's default. */
static void put_grid(const struct tdm_picture_device *device, struct tdm_buf *out)
{
	struct tdm_card card;
	uint64_t x = device->grid_x, y = device->grid_y;
	bool is_inferred = (x == 0 || y == 0) && device->card[0] != '\0' &&
			   tdm_card_init(&card, tdm_str_of(device->card), NULL, NULL) == 0;
	if (is_inferred) {
		x = tdm_card_get(&card, TDM_CARD_GRID_X);
		y = tdm_card_get(&card, TDM_CARD_GRID_Y);
	}
	if (x == 0 || y == 0 || x == TDM_BYTES_UNKNOWN || y == TDM_BYTES_UNKNOWN)
		tdm_buf_puts(out, "    Compute Grid: unknown (the card is not known)\n");
	else
		tdm_buf_printf(out, "    Compute Grid: %" PRIu64 "x%" PRIu64 " (%" PRIu64 " cores)%s\n", x, y, x * y,
			is_inferred ? ", inferred (model)" : "");
}

static void put_info(const struct tdm_top_frame *frame, const struct tdm_picture_device *device, struct tdm_buf *out)
{
	const struct tdm_picture_kind *dram = &device->kinds[TDM_KIND_DRAM];
	tdm_buf_puts(out, "  Device Information:\n    Architecture: ");
	put_text(frame, device->arch[0] != '\0' ? device->arch : "unknown", 0, out);
	put_between(frame, tdm_picture_card_mark(device)[0] != '\0' ? " (~" : " (", device->card, ")", out);
	tdm_buf_putc(out, '\n');
	if (device->node >= 0)
		tdm_buf_printf(out, "    Node: /dev/tenstorrent/%" PRId32 "\n", device->node);
	put_between(frame, "    PCI: ", device->pci, "\n", out);
	if (device->has_chip_id)
		tdm_buf_printf(out, "    Chip ID: 0x%" PRIx64 "\n", device->chip_id);
	if (device->process_count != 0)
		tdm_buf_printf(out, "    Initialized: Yes (%" PRIu32 " process%s)\n", device->process_count,
			tdm_plural_es(device->process_count));
	else if (device->node >= 0 || dram->used != TDM_BYTES_UNKNOWN)
		tdm_buf_puts(out, "    Initialized: No (no process is known to use it)\n");
	else
		tdm_buf_puts(out, "    Initialized: unknown (the files that would tell could not be read)\n");
	tdm_buf_puts(out, "    Hardware CQs: unknown (no source reports them)\n    DRAM Channels: ");
	if (dram->banks != 0)
		tdm_buf_printf(out, "%" PRIu32 "\n", dram->banks);
	else
		tdm_buf_puts(out, "unknown (the card is not known)\n");
	put_grid(device, out);
	tdm_chips_put(out, "    ", device);
}

/* "2.25 GiB": two decimals, a blank before the unit. Returns dst. */
static const char *format_size(char *dst, size_t cap, uint64_t bytes)
{
	char text[TDM_BYTES_CAP];
	const char *number = tdm_format_bytes(text, sizeof text, bytes) + strspn(text, " ");
	size_t digits = strspn(number, "0123456789.");
	const char *unit = number + digits + strspn(number + digits, " ");
	snprintf(dst, cap, "%.*s%s%s", (int)digits, number, digits != 0 ? " " : "", unit);
	return dst;
}

/* A mark, which may be empty, and the size. */
static void put_marked(struct tdm_buf *out, const char *label, const char *mark, uint64_t bytes)
{
	char size[TDM_BYTES_CAP + 1], text[TDM_BYTES_CAP + 2];
	snprintf(text, sizeof text, "%s%s", bytes != TDM_BYTES_UNKNOWN ? mark : "",
		format_size(size, sizeof size, bytes));
	tdm_buf_printf(out, "    %-*s %*s", LABEL_COLUMNS, label, VALUE_COLUMNS, text);
}

static void put_value(struct tdm_buf *out, const char *label, uint64_t bytes, const char *after)
{
	put_marked(out, label, "", bytes);
	tdm_buf_puts(out, after);
}

static void put_name(struct tdm_buf *out, enum tdm_kind kind)
{
	for (const char *c = tdm_kind_name(kind); *c != '\0'; c++)
		tdm_buf_putc(out, (char)toupper((unsigned char)*c));
}

/* The lines with the shares that people search for. */
static void put_region(const struct tdm_top_frame *frame, const struct tdm_picture_device *device, enum tdm_kind k,
	struct tdm_buf *out)
{
	const struct tdm_picture_kind *kind = &device->kinds[k];
	const struct tdm_term *term = &frame->term;
	const char *style = tdm_term_style(term, tdm_level_style(tdm_picture_level(device, k)));
	char text[TDM_SHARE_CAP + TDM_DURATION_CAP];
	int tenths = tdm_picture_permille(kind->used, kind->total), shown = tenths < TENTHS_MAX ? tenths : TENTHS_MAX;
	const char *plus = tenths > shown ? "+" : "";
	tdm_buf_printf(out, "\n  %s", tdm_term_style(term, TDM_STYLE_BOLD));
	put_name(out, k);
	tdm_buf_printf(out, " Memory:%s", tdm_term_style(term, TDM_STYLE_OFF));
	if (tenths >= 0)
		tdm_buf_printf(out, " %s%s", tdm_format_share(text, sizeof text, shown), plus);
	tdm_buf_putc(out, '\n');
	if (kind->used == TDM_BYTES_UNKNOWN && kind->total == TDM_BYTES_UNKNOWN) {
		tdm_buf_puts(out, "    unknown (no source counts it)\n");
		return;
	}
	if (kind->total == 0 && !tdm_is_some(kind->used)) {
		tdm_buf_puts(out, "    none (this device has no such region)\n");
		return;
	}
	if (kind->banks != 0)
		tdm_buf_printf(out, "    Banks: %" PRIu32 "\n", kind->banks);
	else
		tdm_buf_puts(out, "    Banks: unknown\n");
	put_marked(out, "Total:", tdm_picture_total_mark(kind), kind->total);
	tdm_buf_putc(out, '\n');
	put_marked(out, "Allocated:", tdm_estimate_mark(kind->is_estimated, kind->used), kind->used);
	tdm_buf_puts(out, tenths < 0 ? " (share unknown)\n" : "");
	if (tenths >= 0)
		tdm_buf_printf(out, " (%d%%%s)\n", shown / 10, plus);
	put_marked(out, "Free:", tdm_picture_free_mark(kind), kind->free);
	tdm_buf_putc(out, '\n');
	put_value(out, "Largest Block:", kind->largest_free, "");
	if (device->space_is_old && kind->largest_free != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, " (%s ago)",
			tdm_format_duration(text, sizeof text, frame->picture->time_ns - device->space_ns));
	tdm_buf_putc(out, '\n');
	if (tenths < 0) {
		tdm_buf_printf(out, "    Usage: unknown (%s)\n",
			kind->used == TDM_BYTES_UNKNOWN ? "no source counts it" : "its size is not known");
		return;
	}
	tdm_buf_printf(out, "    Usage: [%s", style);
	tdm_bar_put(out, tenths, BAR_COLUMNS, term->utf8);
	tdm_buf_printf(
		out, "%s] %s\n", style[0] != '\0' ? TDM_STYLE_OFF : "", tdm_format_share(text, sizeof text, tenths));
}

static void put_holding(const struct tdm_top_frame *frame, const struct tdm_holding *holding, struct tdm_buf *out)
{
	const struct tdm_picture_process *process = &frame->picture->processes[holding->process];
	bool any = false;
	tdm_buf_printf(out, "    %7" PRId32 "%c", process->pid, process->is_claimed ? '?' : ' ');
	size_t used = put_text(frame, process->user, USER_COLUMNS, out);
	tdm_buf_fill(out, ' ', USER_COLUMNS + 1 - used);
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		char text[TDM_BYTES_CAP + 1];
		uint64_t bytes = holding->kinds[k].used;
		if (!tdm_is_some(bytes))
			continue;
		put_name(out, (enum tdm_kind)k);
		tdm_buf_printf(out, " %s%s  ", tdm_estimate_mark(holding->kinds[k].is_estimated, bytes),
			format_size(text, sizeof text, bytes));
		any = true;
	}
	if (!any)
		tdm_buf_puts(out, "has it open  ");
	put_text(frame, tdm_picture_command(process), COMMAND_COLUMNS, out);
	tdm_cell_trim(out);
	tdm_buf_putc(out, '\n');
}

static void put_processes(const struct tdm_top_frame *frame, size_t device, struct tdm_buf *out)
{
	bool headed = false;
	for (size_t i = 0; i < frame->picture->holding_count; i++) {
		const struct tdm_holding *holding = &frame->picture->holdings[i];
		if (holding->device != device || !tdm_pick_takes_holding(&frame->pick, frame->picture, i))
			continue;
		if (!headed)
			tdm_buf_puts(out, "\n  Processes:\n");
		headed = true;
		put_holding(frame, holding, out);
	}
}

static void put_device(const struct tdm_top_frame *frame, size_t i, struct tdm_buf *out)
{
	const struct tdm_picture_device *device = &frame->picture->devices[i];
	char number[16] = "unknown", label[TDM_PICK_LABEL_CAP];
	if (device->number >= 0)
		snprintf(number, sizeof number, "%" PRId32, device->number);
	tdm_buf_printf(out, "\n%sDevice %s%s (ID: %s)%s\n", tdm_term_style(&frame->term, TDM_STYLE_BOLD),
		tdm_pick_label(device, label, sizeof label), tdm_term_style(&frame->term, TDM_STYLE_OFF), number,
		device->is_virtual ? ", virtual" : "");
	put_rule(out, '-');
	put_info(frame, device, out);
	tdm_buf_puts(out, "\n  Real-Time Memory Utilization:\n");
	/* The four regions of the allocator are always shown, the others when they hold or held something. */
	for (int k = 0; k < TDM_KIND_COUNT; k++)
		if (k <= TDM_KIND_TRACE || tdm_is_some(device->kinds[k].used) || tdm_is_some(device->kinds[k].peak))
			put_region(frame, device, (enum tdm_kind)k, out);
	put_processes(frame, i, out);
}

/* A card whose chips are among the devices: who has it open is all there is to say. */
static void put_board(const struct tdm_top_frame *frame, size_t i, struct tdm_buf *out)
{
	const struct tdm_picture_device *board = &frame->picture->devices[i];
	tdm_buf_printf(out, "\nCard %zu: ", i);
	put_text(frame, board->card, 0, out);
	tdm_buf_printf(out, " /dev/tenstorrent/%" PRId32, board->node);
	put_between(frame, " ", board->pci, "", out);
	tdm_buf_putc(out, '\n');
	put_processes(frame, i, out);
}

void tdm_top_frame(const struct tdm_top_frame *frame, struct tdm_buf *out)
{
	int left = (WIDTH - 2 - (int)strlen(title)) / 2, right = WIDTH - 2 - (int)strlen(title) - left;
	put_rule(out, '=');
	tdm_buf_printf(out, "|%*s%s%*s|\n", left, "", title, right, "");
	put_rule(out, '=');
	if (frame->interval_ms != 0)
		tdm_buf_puts(out, "Press Ctrl+C to exit\n");
	tdm_buf_putc(out, '\n');
	put_system(frame, out);
	for (size_t i = 0; i < frame->picture->device_count; i++)
		if (tdm_pick_takes_device(&frame->pick, frame->picture, i))
			(frame->picture->devices[i].is_board ? put_board : put_device)(frame, i, out);
	tdm_buf_putc(out, '\n');
}
