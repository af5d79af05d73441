/*
 * People search these frames with grep, so the places of shares are fixed: a percent sign stands in three lines of a
 * region and nowhere else, and each share is rounded down.
 *
 *     L1 Memory: 84.2%                            the region's name and its share with one digit behind the point
 *       Allocated:      71.62 MiB (84%)           whole percent
 *       Usage: [####......] 84.2%                 without the region's name
 *
 * The first two are cut at 99.9% and 99%, with a plus sign behind them when it is more: so two digits before the point
 * that begin with 8 or 9 are what every share from 80 % on has, and no lower one. Usage says the rest.
 */
#include "report/top_frame.h"
#include "base/bar.h"
#include "device/card.h"
#include "report/cell.h"
#include "report/chips.h"
#include "report/live_cells.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

enum { WIDTH = 80, BAR_COLUMNS = 40, LABEL_COLUMNS = 14, VALUE_COLUMNS = 15, COMMAND_COLUMNS = 60, USER_COLUMNS = 10 };
enum { TENTHS_FULL = 1000 };

static const char title[] = "TT Device Memory Utilization Monitor";

static void put_rule(struct tdm_buf *out, char c)
{
	tdm_buf_fill(out, c, WIDTH);
	tdm_buf_putc(out, '\n');
}

static void put_header(struct tdm_buf *out)
{
	size_t left = (WIDTH - 2 - strlen(title)) / 2;
	put_rule(out, '=');
	tdm_buf_putc(out, '|');
	tdm_buf_fill(out, ' ', left);
	tdm_buf_puts(out, title);
	tdm_buf_fill(out, ' ', WIDTH - 2 - strlen(title) - left);
	tdm_buf_puts(out, "|\n");
	put_rule(out, '=');
}

static size_t count_devices(const struct tdm_top_frame *frame)
{
	size_t count = 0;
	for (size_t i = 0; i < frame->picture->device_count; i++)
		count += tdm_pick_takes_device(&frame->pick, frame->picture, i);
	return count;
}

/* Text of others, without a percent sign. */
static size_t put_text(const struct tdm_top_frame *frame, const char *text, size_t columns, struct tdm_buf *out)
{
	size_t from = out->len;
	size_t used = tdm_cell_put(out, tdm_str_of(text), columns, frame->term.utf8);
	for (size_t i = from; i < out->len; i++)
		if (out->data[i] == '%')
			out->data[i] = '?';
	return used;
}

/* There are devices, and none of them was asked for. */
static void put_why_none(const struct tdm_top_frame *frame, struct tdm_buf *out)
{
	tdm_buf_puts(out, " (");
	if (frame->pick.pid != 0)
		tdm_buf_printf(out, "process %" PRId32 " uses ", frame->pick.pid);
	tdm_buf_puts(out, "none");
	if (frame->pick.device != NULL) {
		tdm_buf_puts(out, frame->pick.pid != 0 ? " that is '" : " is '");
		put_text(frame, frame->pick.device, COMMAND_COLUMNS, out);
		tdm_buf_putc(out, '\'');
	}
	tdm_buf_putc(out, ')');
}

static void put_system(const struct tdm_top_frame *frame, struct tdm_buf *out)
{
	const struct tdm_picture *picture = frame->picture;
	char when[TDM_TIME_CAP];
	tdm_format_time(when, sizeof when, picture->real_ns);
	tdm_buf_printf(out, "System Info:\n  Time: %s\n", when[0] != '\0' ? when : "unknown");
	if (frame->interval_ms != 0)
		tdm_buf_printf(out, "  Refresh: %ums\n", frame->interval_ms);
	else
		tdm_buf_puts(out, "  Refresh: none\n");
	size_t devices = count_devices(frame);
	tdm_buf_printf(out, "  Devices: %zu", devices);
	if (devices != picture->device_count)
		tdm_buf_printf(out, " of %zu", picture->device_count);
	if (devices == 0 && picture->device_count != 0)
		put_why_none(frame, out);
	else if (devices == 0)
		tdm_buf_puts(out, " (no card and no tracked process is visible; see 'tidemark doctor')");
	tdm_buf_putc(out, '\n');
	if (picture->problem_count != 0)
		tdm_buf_printf(out, "  Problems: %zu (see 'tidemark doctor')\n", picture->problem_count);
}

static void put_arch(const struct tdm_top_frame *frame, const struct tdm_picture_device *device, struct tdm_buf *out)
{
	tdm_buf_puts(out, "    Architecture: ");
	if (device->arch[0] != '\0')
		put_text(frame, device->arch, 0, out);
	else
		tdm_buf_puts(out, "unknown");
	if (device->card[0] != '\0') {
		tdm_buf_puts(out, " (");
		put_text(frame, device->card, 0, out);
		tdm_buf_putc(out, ')');
	}
	tdm_buf_putc(out, '\n');
}

static void put_identity(
	const struct tdm_top_frame *frame, const struct tdm_picture_device *device, struct tdm_buf *out)
{
	if (device->node >= 0)
		tdm_buf_printf(out, "    Node: /dev/tenstorrent/%" PRId32 "\n", device->node);
	if (device->pci[0] != '\0') {
		tdm_buf_puts(out, "    PCI: ");
		put_text(frame, device->pci, 0, out);
		tdm_buf_putc(out, '\n');
	}
	if (device->has_chip_id)
		tdm_buf_printf(out, "    Chip ID: 0x%" PRIx64 "\n", device->chip_id);
}

/* What a program said, else the card as it comes. */
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
	tdm_buf_puts(out, "  Device Information:\n");
	put_arch(frame, device, out);
	put_identity(frame, device, out);
	if (device->process_count != 0)
		tdm_buf_printf(out, "    Initialized: Yes (%" PRIu32 " process%s)\n", device->process_count,
			device->process_count == 1 ? "" : "es");
	else if (device->node >= 0 || device->kinds[TDM_KIND_DRAM].used != TDM_BYTES_UNKNOWN)
		tdm_buf_puts(out, "    Initialized: No (no process is known to use it)\n");
	else
		tdm_buf_puts(out, "    Initialized: unknown (what tells of it could not be read)\n");
	tdm_buf_puts(out, "    Hardware CQs: unknown (no source reports them)\n");
	if (device->kinds[TDM_KIND_DRAM].banks != 0)
		tdm_buf_printf(out, "    DRAM Channels: %" PRIu32 "\n", device->kinds[TDM_KIND_DRAM].banks);
	else
		tdm_buf_puts(out, "    DRAM Channels: unknown (the card is not known)\n");
	put_grid(device, out);
	tdm_chips_put(out, "    ", device);
}

/* "2.25 GiB": two digits behind the point, a blank before the unit. Returns dst. */
static const char *format_size(char *dst, size_t cap, uint64_t bytes)
{
	char text[TDM_BYTES_CAP];
	const char *number = tdm_format_bytes(text, sizeof text, bytes) + strspn(text, " ");
	size_t digits = strspn(number, "0123456789.");
	const char *unit = number + digits + strspn(number + digits, " ");
	snprintf(dst, cap, "%.*s%s%s", (int)digits, number, digits != 0 ? " " : "", unit);
	return dst;
}

static void put_value(struct tdm_buf *out, const char *label, uint64_t bytes)
{
	char text[TDM_BYTES_CAP + 1];
	tdm_buf_printf(out, "    %-*s %*s", LABEL_COLUMNS, label, VALUE_COLUMNS, format_size(text, sizeof text, bytes));
}

static void put_name(struct tdm_buf *out, enum tdm_kind kind)
{
	for (const char *c = tdm_kind_name(kind); *c != '\0'; c++)
		tdm_buf_putc(out, (char)toupper((unsigned char)*c));
}

static void put_heading(const struct tdm_top_frame *frame, enum tdm_kind kind, int tenths, struct tdm_buf *out)
{
	char text[TDM_SHARE_CAP];
	tdm_buf_printf(out, "\n  %s", tdm_term_style(&frame->term, TDM_STYLE_BOLD));
	put_name(out, kind);
	tdm_buf_printf(out, " Memory:%s", tdm_term_style(&frame->term, TDM_STYLE_OFF));
	if (tenths >= TENTHS_FULL)
		tdm_buf_printf(out, " %s+", tdm_format_share(text, sizeof text, TENTHS_FULL - 1));
	else if (tenths >= 0)
		tdm_buf_printf(out, " %s", tdm_format_share(text, sizeof text, tenths));
	tdm_buf_putc(out, '\n');
}

static void put_allocated(const struct tdm_picture_kind *kind, int tenths, struct tdm_buf *out)
{
	put_value(out, "Allocated:", kind->used);
	if (tenths >= TENTHS_FULL)
		tdm_buf_printf(out, " (%d%%+)\n", TENTHS_FULL / 10 - 1);
	else if (tenths >= 0)
		tdm_buf_printf(out, " (%d%%)\n", tenths / 10);
	else
		tdm_buf_puts(out, " (share unknown)\n");
}

static void put_usage(
	const struct tdm_top_frame *frame, const struct tdm_picture_kind *kind, int tenths, struct tdm_buf *out)
{
	char text[TDM_SHARE_CAP];
	const char *style = tdm_term_style(&frame->term, tdm_level_style(kind->used, kind->total));
	if (tenths < 0) {
		tdm_buf_printf(out, "    Usage: unknown (%s)\n",
			kind->used == TDM_BYTES_UNKNOWN ? "no source counts it" : "its size is not known");
		return;
	}
	tdm_buf_printf(out, "    Usage: [%s", style);
	tdm_bar_put(out, tenths, BAR_COLUMNS, frame->term.utf8);
	tdm_buf_printf(
		out, "%s] %s\n", style[0] != '\0' ? TDM_STYLE_OFF : "", tdm_format_share(text, sizeof text, tenths));
}

static void put_region(const struct tdm_top_frame *frame, const struct tdm_picture_device *device, enum tdm_kind k,
	struct tdm_buf *out)
{
	const struct tdm_picture_kind *kind = &device->kinds[k];
	int tenths = tdm_picture_permille(kind->used, kind->total);
	put_heading(frame, k, tenths, out);
	if (kind->used == TDM_BYTES_UNKNOWN && kind->total == TDM_BYTES_UNKNOWN) {
		tdm_buf_puts(out, "    unknown (no source counts it)\n");
		return;
	}
	if (kind->total == 0 && (kind->used == 0 || kind->used == TDM_BYTES_UNKNOWN)) {
		tdm_buf_puts(out, "    none (this device has no such region)\n");
		return;
	}
	if (kind->banks != 0)
		tdm_buf_printf(out, "    Banks: %" PRIu32 "\n", kind->banks);
	else
		tdm_buf_puts(out, "    Banks: unknown\n");
	put_value(out, "Total:", kind->total);
	tdm_buf_putc(out, '\n');
	put_allocated(kind, tenths, out);
	put_value(out, "Free:", kind->free);
	tdm_buf_putc(out, '\n');
	put_value(out, "Largest Block:", kind->largest_free);
	tdm_buf_putc(out, '\n');
	put_usage(frame, kind, tenths, out);
}

/* The four regions of the allocator are always there, the others when something is in them or has been. */
static bool is_shown(const struct tdm_picture_kind *kind, enum tdm_kind k)
{
	return k <= TDM_KIND_TRACE || tdm_is_some(kind->used) || tdm_is_some(kind->peak);
}

static void put_holding(const struct tdm_top_frame *frame, const struct tdm_holding *holding, struct tdm_buf *out)
{
	const struct tdm_picture_process *process = &frame->picture->processes[holding->process];
	bool any = false;
	tdm_buf_printf(out, "    %7" PRId32 " ", process->pid);
	size_t used = put_text(frame, process->user, USER_COLUMNS, out);
	tdm_buf_fill(out, ' ', USER_COLUMNS + 1 - used);
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		char text[TDM_BYTES_CAP + 1];
		uint64_t bytes = holding->kinds[k].used;
		if (!tdm_is_some(bytes))
			continue;
		put_name(out, (enum tdm_kind)k);
		tdm_buf_printf(out, " %s  ", format_size(text, sizeof text, bytes));
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
	char number[16] = "unknown";
	if (device->number >= 0)
		snprintf(number, sizeof number, "%" PRId32, device->number);
	tdm_buf_printf(out, "\n%sDevice %zu%s (ID: %s)%s\n", tdm_term_style(&frame->term, TDM_STYLE_BOLD), i,
		tdm_term_style(&frame->term, TDM_STYLE_OFF), number, device->is_virtual ? ", virtual" : "");
	put_rule(out, '-');
	put_info(frame, device, out);
	tdm_buf_puts(out, "\n  Real-Time Memory Utilization:\n");
	for (int k = 0; k < TDM_KIND_COUNT; k++)
		if (is_shown(&device->kinds[k], (enum tdm_kind)k))
			put_region(frame, device, (enum tdm_kind)k, out);
	put_processes(frame, i, out);
}

void tdm_top_frame(const struct tdm_top_frame *frame, struct tdm_buf *out)
{
	put_header(out);
	if (frame->interval_ms != 0)
		tdm_buf_puts(out, "Press Ctrl+C to exit\n");
	tdm_buf_putc(out, '\n');
	put_system(frame, out);
	for (size_t i = 0; i < frame->picture->device_count; i++)
		if (tdm_pick_takes_device(&frame->pick, frame->picture, i))
			put_device(frame, i, out);
	tdm_buf_putc(out, '\n');
}
