/*
 * The plain frames of `tidemark top`. People search them with grep, so shares have fixed places: percent signs appear
 * only in three lines per region, and shares are rounded down.
 *
 *     L1 Memory: 84.2%                            the region's name and its share with one decimal
 *       Allocated:      71.62 MiB (84%)           whole percent
 *       Usage: [####......] 84.2%                 without the region's name
 *
 * The first two shares stop at 99.9% and 99%, followed by a plus sign if the true share is higher. Therefore, the two
 * digits before the point begin with 8 or 9 if and only if the share is at least 80 %. Usage shows the true share.
 */
#include "base/err.h"
#include "base/units.h"
#include "model/card/card.h"
#include "view/rows/device_rows.h"
#include "view/rows/status_result.h"
#include "view/write/cell.h"

#include <inttypes.h>
#include <stdio.h>

enum { WIDTH = 80, BAR_COLUMNS = 40, COMMAND_COLUMNS = 60, USER_COLUMNS = 10, TENTHS_MAX = 999 };

#define TEXT(key, text)                   \
	{                                 \
		key, tdm_value_name(text) \
	}
#define COUNT(key, count)                   \
	{                                   \
		key, tdm_value_count(count) \
	}
#define FLAG(key, yes)                                       \
	{                                                    \
		key, tdm_value_if(yes, tdm_value_bool(true)) \
	}
#define PRINTED(...) tdm_result_printed(in->result, __VA_ARGS__)

/* Text from other programs, with percent signs replaced, cut to a number of columns. */
static const char *shown(struct tdm_block *in, const char *text, size_t columns, bool utf8)
{
	struct tdm_buf cell = { 0 };
	tdm_cell_put(&cell, tdm_str_of(text), columns, utf8);
	for (size_t i = 0; i < cell.len; i++)
		if (cell.data[i] == '%')
			cell.data[i] = '?';
	const char *copy = PRINTED("%s", tdm_buf_str(&cell).ptr);
	tdm_buf_done(&cell);
	return copy;
}

static void add_rule(struct tdm_block *in, char c, int columns)
{
	char rule[WIDTH + 1] = "";
	memset(rule, c, (size_t)columns);
	tdm_say(in, "{rule}", TDM_VALUES(TEXT("rule", PRINTED("%s", rule))));
}

static void add_system(struct tdm_block *in, const struct tdm_status_report *report)
{
	const struct tdm_picture *picture = report->picture;
	const struct tdm_status_facts facts = tdm_status_facts(report);
	size_t devices = facts.devices, all = picture->device_count - picture->board_count;
	char when[TDM_TIME_CAP], why[TDM_NOTHING_CAP];
	tdm_format_time(when, sizeof when, picture->real_ns);
	in = tdm_add_group(in, NULL, "System Info:");
	tdm_say(in, "Time: {when}", TDM_VALUES(TEXT("when", when[0] != '\0' ? PRINTED("%s", when) : "unknown")));
	tdm_say(in, report->interval_ms != 0 ? "Refresh: {ms}ms" : "Refresh: none",
		TDM_VALUES({ "ms", tdm_value_number(report->interval_ms) }));
	tdm_say(in, "Devices: {devices}| of {all}| ({why})",
		TDM_VALUES({ "devices", tdm_value_number(devices) },
			{ "all", tdm_value_if(devices != all, tdm_value_number(all)) },
			TEXT("why", devices == 0 ? shown(in, tdm_why_nothing(picture, &report->pick, why), 0,
							   report->term.utf8)
						 : NULL)));
	if (picture->board_count != 0)
		tdm_say(in, "Cards: {cards} (it is not known which device is on which card)",
			TDM_VALUES({ "cards", tdm_value_number(picture->board_count) }));
	if (facts.weak)
		tdm_say(in, "Note: the figures are tt-metal's own statistics: " TDM_STATUS_WEAK, NULL);
	if (facts.estimates)
		tdm_say(in, "Note: bytes in use with '~' are " TDM_STATUS_ESTIMATE, NULL);
	if (picture->hosts == NULL && picture->problem_count != 0)
		tdm_say(in, "Problems: {problems} (see 'tidemark doctor')",
			TDM_VALUES({ "problems", tdm_value_number(picture->problem_count) }));
	for (size_t i = 0; picture->hosts != NULL && i < picture->problem_count; i++)
		tdm_say(in, "Problem: {place}|: {text}",
			TDM_VALUES(TEXT("place", shown(in, picture->problems[i].place, 0, report->term.utf8)),
				TEXT("text", shown(in, picture->problems[i].text, 0, report->term.utf8))));
}

static void add_info(
	struct tdm_block *in, const struct tdm_status_report *report, const struct tdm_picture_device *device)
{
	const struct tdm_picture_kind *dram = &device->kinds[TDM_KIND_DRAM];
	bool utf8 = report->term.utf8;
	in = tdm_add_group(in, NULL, "Device Information:");
	const struct tdm_named *values =
		TDM_VALUES(TEXT("arch", device->arch[0] != '\0' ? shown(in, device->arch, 0, utf8) : "unknown"),
			{ "type", tdm_value_text(tdm_picture_card_mark(device)) },
			TEXT("card", shown(in, device->card, COMMAND_COLUMNS, utf8)),
			{ "node", tdm_value_if(device->node >= 0, tdm_value_signed(device->node)) },
			TEXT("pci", shown(in, device->pci, COMMAND_COLUMNS, utf8)),
			{ "id", tdm_value_if(device->has_chip_id, tdm_value_of(device->chip_id, TDM_UNIT_ADDRESS)) });
	tdm_say(in, "Architecture: {arch}| ({type}{card})", values);
	tdm_say(in, "Node: /dev/tenstorrent/{node}", values);
	tdm_say(in, "PCI: {pci}", values);
	tdm_say(in, "Chip ID: {id}", values);
	tdm_say(in,
		device->process_count != 0 ? "Initialized: Yes ({count/process/processes})"
		: device->node >= 0 || dram->used != TDM_BYTES_UNKNOWN
			? "Initialized: No (no process is known to use it)"
			: "Initialized: unknown (the files that would tell could not be read)",
		TDM_VALUES(COUNT("count", device->process_count)));
	tdm_say(in, "Hardware CQs: unknown (no source reports them)", NULL);
	tdm_say(in, dram->banks != 0 ? "DRAM Channels: {banks}" : "DRAM Channels: unknown (the card is not known)",
		TDM_VALUES({ "banks", tdm_value_number(dram->banks) }));
	/* The grid as described by a program, else the card's default. */
	struct tdm_card card;
	uint64_t x = device->grid_x, y = device->grid_y;
	bool is_inferred = (x == 0 || y == 0) && device->card[0] != '\0' &&
			   tdm_card_init(&card, tdm_str_of(device->card), NULL, NULL) == 0;
	if (is_inferred) {
		x = tdm_card_get(&card, TDM_CARD_GRID_X);
		y = tdm_card_get(&card, TDM_CARD_GRID_Y);
	}
	bool is_known = x != 0 && y != 0 && x != TDM_BYTES_UNKNOWN && y != TDM_BYTES_UNKNOWN;
	tdm_say(in,
		is_known ? "Compute Grid: {x}x{y} ({cores} cores)|{inferred}, inferred (model)"
			 : "Compute Grid: unknown (the card is not known)",
		TDM_VALUES({ "x", tdm_value_number(x) }, { "y", tdm_value_number(y) },
			{ "cores", tdm_value_number(x * y) }, FLAG("inferred", is_inferred)));
	tdm_status_chips(in, device);
}

/* Formats "2.25 GiB": two decimals, a blank before the unit. Returns dst. */
static const char *format_size(char *dst, size_t cap, uint64_t bytes)
{
	char text[TDM_BYTES_CAP];
	const char *number = tdm_format_bytes(text, sizeof text, bytes) + strspn(text, " ");
	size_t digits = strspn(number, "0123456789.");
	const char *unit = number + digits + strspn(number + digits, " ");
	snprintf(dst, cap, "%.*s%s%s", (int)digits, number, digits != 0 ? " " : "", unit);
	return dst;
}

/*
 * Writes "Total:
 *
 * 2.25 GiB", and a remark.
 */
static void add_figure(struct tdm_block *in, const char *label, const struct tdm_picture_kind *kind,
	enum tdm_amount figure, const char *remark)
{
	const struct tdm_value value = tdm_kind_figure(kind, figure);
	char size[TDM_BYTES_CAP + 1], text[TDM_BYTES_CAP + 2];
	snprintf(text, sizeof text, "%s%s", value.mark == '~' ? "~" : "", format_size(size, sizeof size, value.number));
	tdm_say(in, "{line}| ({remark})",
		TDM_VALUES(TEXT("line", PRINTED("%-14s %15s", label, text)), TEXT("remark", remark)));
}

/* Writes the lines containing the shares that people search for. */
static void add_region(struct tdm_block *in, const struct tdm_status_report *report,
	const struct tdm_picture_device *device, enum tdm_kind k)
{
	const struct tdm_picture_kind *kind = &device->kinds[k];
	int tenths = tdm_picture_permille(kind->used, kind->total), capped = tenths < TENTHS_MAX ? tenths : TENTHS_MAX;
	const char *plus = tenths > capped ? "+" : "", *name = tdm_kind_title(k), *age = NULL;
	in = tdm_add_group(in, NULL,
		tenths < 0 ? PRINTED("%s Memory:", name)
			   : PRINTED("%s Memory: %d.%d%%%s", name, capped / 10, capped % 10, plus));
	if (kind->used == TDM_BYTES_UNKNOWN && kind->total == TDM_BYTES_UNKNOWN) {
		tdm_say(in, "unknown (no source counts it)", NULL);
		return;
	}
	if (kind->total == 0 && !tdm_is_some(kind->used)) {
		tdm_say(in, "none (this device has no such region)", NULL);
		return;
	}
	if (device->space_is_old && kind->largest_free != TDM_BYTES_UNKNOWN) {
		char text[TDM_DURATION_CAP];
		tdm_format_duration(text, sizeof text, report->picture->time_ns - device->space_ns);
		age = PRINTED("%s ago", text);
	}
	tdm_say(in, kind->banks != 0 ? "Banks: {banks}" : "Banks: unknown",
		TDM_VALUES({ "banks", tdm_value_number(kind->banks) }));
	add_figure(in, "Total:", kind, TDM_AMOUNT_TOTAL, NULL);
	add_figure(in, "Allocated:", kind, TDM_AMOUNT_USED,
		tenths < 0 ? "share unknown" : PRINTED("%d%%%s", capped / 10, plus));
	add_figure(in, "Free:", kind, TDM_AMOUNT_FREE, NULL);
	add_figure(in, "Largest Block:", kind, TDM_AMOUNT_LARGEST, age);
	if (tenths >= 0) {
		char share[TDM_SHARE_CAP];
		struct tdm_buf bar = { 0 };
		tdm_bar_put(&bar, tenths, BAR_COLUMNS, report->term.utf8);
		tdm_say(in, "Usage: [{bar}] {share}",
			TDM_VALUES(TEXT("bar", PRINTED("%s", tdm_buf_str(&bar).ptr)),
				TEXT("share", PRINTED("%s", tdm_format_share(share, sizeof share, tenths)))))
			->line.level = (uint8_t)tdm_picture_level(device, k);
		tdm_buf_done(&bar);
	} else
		tdm_say(in,
			kind->used == TDM_BYTES_UNKNOWN ? "Usage: unknown (no source counts it)"
							: "Usage: unknown (its size is not known)",
			NULL);
}

static void add_holding(struct tdm_block *in, const struct tdm_status_report *report, const struct tdm_holding *holding)
{
	const struct tdm_picture_process *process = &report->picture->processes[holding->process];
	bool utf8 = report->term.utf8;
	const char *held = "", *user = shown(in, process->user, USER_COLUMNS, utf8);
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		char text[TDM_BYTES_CAP + 1];
		uint64_t bytes = holding->kinds[k].reserved;
		if (tdm_is_some(bytes))
			held = PRINTED("%s%s %s%s  ", held, tdm_kind_title((enum tdm_kind)k),
				tdm_estimate_mark(holding->kinds[k].is_estimated, bytes),
				format_size(text, sizeof text, bytes));
	}
	tdm_say(in, "{line}{command}",
		TDM_VALUES(TEXT("line", PRINTED("%7" PRId32 "%c%s%*s%s", process->pid, process->is_claimed ? '?' : ' ',
						user, (int)(USER_COLUMNS + 1 - tdm_wrap_columns(tdm_str_of(user))), "",
						held[0] != '\0' ? held : "has it open  ")),
			{ "command", tdm_value_text(shown(in, tdm_picture_command(process), COMMAND_COLUMNS, utf8)) }));
}

static void add_processes(struct tdm_block *in, const struct tdm_status_report *report, size_t device)
{
	const struct tdm_picture *picture = report->picture;
	in = tdm_add_group(in, NULL, "Processes:");
	for (size_t i = 0; i < picture->holding_count; i++)
		if (picture->holdings[i].device == device && tdm_pick_takes_holding(&report->pick, picture, i))
			add_holding(in, report, &picture->holdings[i]);
}

static void add_device(struct tdm_block *in, const struct tdm_status_report *report, size_t i)
{
	const struct tdm_picture_device *device = &report->picture->devices[i];
	char number[16] = "unknown", label[TDM_PICK_LABEL_CAP];
	if (device->number >= 0)
		snprintf(number, sizeof number, "%" PRId32, device->number);
	in = tdm_add_group(in, NULL,
		PRINTED("Device %s (ID: %s)%s", tdm_pick_label(device, label, sizeof label), number,
			device->is_virtual ? ", virtual" : ""));
	add_rule(in, '-', WIDTH - 2);
	add_info(in, report, device);
	tdm_say(in, "Real-Time Memory Utilization:", NULL)->is_apart = true;
	/* The allocator's four regions are always shown; other kinds are shown if they contain or contained anything.
	 * */
	for (int k = 0; k < TDM_KIND_COUNT; k++)
		if (k <= TDM_KIND_TRACE || tdm_is_some(device->kinds[k].used) || tdm_is_some(device->kinds[k].peak))
			add_region(in, report, device, (enum tdm_kind)k);
	add_processes(in, report, i);
}

/* Shows a card whose chips are already listed as devices, so only the processes that have the card open are added. */
static void add_board(struct tdm_block *in, const struct tdm_status_report *report, size_t i)
{
	const struct tdm_picture_device *board = &report->picture->devices[i];
	bool utf8 = report->term.utf8;
	tdm_say(in, "Card {i}: |{card} |/dev/tenstorrent/{node}| {pci}",
		TDM_VALUES({ "i", tdm_value_number(i) }, TEXT("card", shown(in, board->card, 0, utf8)),
			{ "node", tdm_value_signed(board->node) },
			TEXT("pci", shown(in, board->pci, COMMAND_COLUMNS, utf8))))
		->is_apart = true;
	add_processes(in, report, i);
}

void tdm_frame_show(struct tdm_block *in, const struct tdm_status_report *report)
{
	static const char title[] = "|                     TT Device Memory Utilization Monitor                     |";
	add_rule(in, '=', WIDTH);
	tdm_say(in, "{title}", TDM_VALUES(TEXT("title", title)));
	add_rule(in, '=', WIDTH);
	if (report->interval_ms != 0)
		tdm_say(in, "Press Ctrl+C to exit", NULL);
	add_system(in, report);
	for (size_t i = 0; i < report->picture->device_count; i++)
		if (tdm_pick_takes_device(&report->pick, report->picture, i))
			(report->picture->devices[i].is_board ? add_board : add_device)(in, report, i);
}
