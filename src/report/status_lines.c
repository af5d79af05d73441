/*
 * Devices in one line each, for machines with many, and the boards below. Every line has the same columns, each with
 * exactly one word, so that programs can split it at blanks: "-" is unknown.
 */
#include "base/number.h"
#include "report/live_cells.h"
#include "report/report_put.h"
#include "report/status_report.h"

#include "device/card.h"

#include <inttypes.h>
#include <stdio.h>

enum { CARD_NARROW = 7, CARD_WIDE = 15, DEVICE_COLUMNS = 3, WORD_CAP = 24 };

/* The kinds in a line. L1 buffers and circular buffers share the last size. */
static const enum tdm_kind kinds[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_CB };
enum { KINDS = sizeof kinds / sizeof *kinds };

/* A figure, or a sum of figures. */
struct figure {
	uint64_t bytes;
	bool is_part;     /* of a sum: some figures are unknown */
	bool is_inferred; /* or, of bytes in use, an estimate */
};

struct line {
	char place[TDM_PICK_LABEL_CAP], card[TDM_CARD_NAME_CAP + 1], temp[WORD_CAP], power[WORD_CAP], clock[WORD_CAP];
	const char *pci;
	char node[2 * WORD_CAP];
	struct figure used[KINDS], total[KINDS];
	enum tdm_level levels[KINDS];
	uint64_t processes;
};

static void format_reading(char dst[WORD_CAP], const struct tdm_reading *reading, double unit)
{
	snprintf(dst, WORD_CAP, "-");
	if (reading->is_known)
		snprintf(dst, WORD_CAP, "%.0f", (double)reading->value / unit);
}

static struct line line_of(const struct tdm_picture *picture, size_t i)
{
	const struct tdm_picture_device *device = &picture->devices[i];
	struct line line = { .card = "-", .pci = device->pci, .node = "-", .processes = device->process_count };
	tdm_pick_label(device, line.place, sizeof line.place);
	if (device->card[0] != '\0')
		snprintf(line.card, sizeof line.card, "%s%s", tdm_picture_card_mark(device), device->card);
	for (char *c = line.card; *c != '\0'; c++)
		*c = *c == ' ' ? '_' : *c; /* one word */
	if (device->node >= 0)
		snprintf(line.node, sizeof line.node, "/dev/tenstorrent/%" PRId32, device->node);
	format_reading(line.temp, &device->telemetry.temp, 1e3);
	format_reading(line.power, &device->telemetry.power, 1e6);
	format_reading(line.clock, &device->telemetry.clock, 1);
	for (int k = 0; k < KINDS; k++) {
		const struct tdm_picture_kind *kind = &device->kinds[kinds[k]], *l1 = &device->kinds[TDM_KIND_L1];
		const struct tdm_picture_kind *size = k == 0 || kind->total != TDM_BYTES_UNKNOWN ? kind : l1;
		line.used[k].bytes = kind->used;
		line.used[k].is_inferred = tdm_estimate_mark(kind->is_estimated, kind->used)[0] != '\0';
		line.total[k].bytes = size->total;
		line.total[k].is_inferred = tdm_picture_total_mark(size)[0] != '\0';
		line.levels[k] = tdm_picture_level(device, kinds[k]);
	}
	return line;
}

/* Adds to a sum that is unknown at first. */
static void add_figure(struct figure *sum, const struct figure *figure)
{
	bool is_known = figure->bytes != TDM_BYTES_UNKNOWN;
	sum->is_part |= !is_known;
	sum->is_inferred |= figure->is_inferred;
	if (is_known)
		sum->bytes = sum->bytes == TDM_BYTES_UNKNOWN ? figure->bytes : tdm_plus(sum->bytes, figure->bytes);
}

static void add_line(struct line *sum, const struct line *line)
{
	for (int k = 0; k < KINDS; k++) {
		add_figure(&sum->used[k], &line->used[k]);
		add_figure(&sum->total[k], &line->total[k]);
	}
}

/* In GiB or MiB with two decimals; something is never shown as 0. */
static void put_figure(struct tdm_buf *out, const struct figure *figure, unsigned shift)
{
	if (figure->bytes == TDM_BYTES_UNKNOWN) {
		tdm_buf_putc(out, '-');
		return;
	}
	double number = (double)figure->bytes / (double)(UINT64_C(1) << shift);
	bool is_tiny = figure->bytes != 0 && number < 0.005 && !figure->is_part;
	tdm_buf_printf(out, "%s%s%.2f",
		figure->is_part ? ">"
		: is_tiny       ? "<"
				: "",
		figure->is_inferred ? "~" : "", is_tiny ? 0.01 : number);
}

static unsigned shift_of(int k)
{
	return kinds[k] == TDM_KIND_DRAM ? 30 : 20;
}

static void put_used(const struct tdm_field *field, struct tdm_buf *out)
{
	put_figure(out, &((const struct line *)field->row)->used[field->column->arg], shift_of(field->column->arg));
}

static void put_total(const struct tdm_field *field, struct tdm_buf *out)
{
	put_figure(out, &((const struct line *)field->row)->total[field->column->arg], shift_of(field->column->arg));
}

/* " 97%!": whole percent, and a mark for danger. */
static void put_share(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct line *line = field->row;
	int k = field->column->arg, permille = tdm_picture_permille(line->used[k].bytes, line->total[k].bytes);
	char mark = line->levels[k] == TDM_LEVEL_RED ? '!' : ' ';
	if (permille < 0 || line->used[k].is_part || line->total[k].is_part)
		tdm_buf_printf(out, "   -%c", mark);
	else
		tdm_buf_printf(out, "%3d%%%c", permille / 10, mark);
}

static const char *level(const struct tdm_field *field)
{
	return tdm_level_style(((const struct line *)field->row)->levels[field->column->arg]);
}

#define LINE(member)  TDM_MEMBER(struct line, member)
#define RIGHT(wide)   .before = 1, .width = (wide), .flags = TDM_OTHER_SIDE | TDM_WHOLE
#define USED(k)       .text = put_used, .arg = (k), RIGHT(7)
#define TOTAL(k)      .text = put_total, .arg = (k), RIGHT(7)
#define SHARE(k)      .text = put_share, .arg = (k), .style = level, RIGHT(5)
#define DEVICE_COLUMN LINE(place), .width = TDM_WIDTH_OF_TABLE + 1, .flags = TDM_WHOLE
#define CARD_COLUMN   LINE(card), .before = 1, .width = TDM_WIDTH_OF_TABLE
static const struct tdm_column line_columns[] = {
	{ "\nDev", NULL, DEVICE_COLUMN },
	{ "\nCard", NULL, CARD_COLUMN },
	{ "Temp\nC", NULL, LINE(temp), RIGHT(4) },
	{ "Power\nW", NULL, LINE(power), RIGHT(5) },
	{ "Clock\nMHz", NULL, LINE(clock), RIGHT(5) },
	{ "DRAM\nGiB", NULL, USED(0) },
	{ "of\nGiB", NULL, TOTAL(0) },
	{ "\n% ", NULL, SHARE(0) },
	{ "L1\nMiB", NULL, USED(1) },
	{ "\n% ", NULL, SHARE(1) },
	{ "CB\nMiB", NULL, USED(2) },
	{ "\n% ", NULL, SHARE(2) },
	{ "of\nMiB", NULL, TOTAL(1) },
	{ "\nProcs", NULL, LINE(processes), .before = 1, .width = 5 },
};
enum { WIDE_COLUMNS = 1 << 3 | 1 << 4 };

static size_t device_columns(const struct tdm_picture *picture)
{
	return tdm_max(DEVICE_COLUMNS, tdm_pick_host_columns(picture));
}

void tdm_status_lines(const struct tdm_status_report *report, struct tdm_buf *out)
{
	const struct tdm_picture *picture = report->picture;
	bool is_wide = report->is_piped || tdm_status_is_wide(report);
	const struct tdm_table table = { TDM_COLUMNS(line_columns), .above = "\n", .style = TDM_STYLE_DIM,
		.hidden = is_wide ? 0 : WIDE_COLUMNS,
		.widths = { is_wide ? CARD_WIDE : CARD_NARROW, device_columns(picture) } };
	struct line sum = { .place = "all", .temp = "-", .power = "-", .clock = "-" };
	size_t count = 0;
	for (int k = 0; k < KINDS; k++)
		sum.used[k].bytes = sum.total[k].bytes = TDM_BYTES_UNKNOWN;
	tdm_table_head(&table, &report->term, out);
	for (size_t i = 0; i < picture->device_count; i++) {
		if (picture->devices[i].is_board || !tdm_pick_takes_device(&report->pick, picture, i))
			continue;
		const struct line line = line_of(picture, i);
		tdm_table_row(&table, &line, &report->term, out);
		add_line(&sum, &line);
		count++;
	}
	for (size_t i = 0; i < picture->process_count; i++)
		sum.processes += tdm_pick_takes_process(&report->pick, picture, i);
	if (tdm_picture_hides(picture))
		sum.processes = TDM_BYTES_UNKNOWN;
	snprintf(sum.card, sizeof sum.card, "%zu", count);
	tdm_table_row(&table, &sum, &report->term, out);
}

static const struct tdm_column board_columns[] = {
	{ "Dev", NULL, DEVICE_COLUMN },
	{ "Card", NULL, CARD_COLUMN },
	{ "Node", NULL, LINE(node), .before = 1, .width = 18, .flags = TDM_WHOLE },
	{ "PCI", NULL, LINE(pci), .before = 1, .width = 15, .flags = TDM_WHOLE | TDM_ZERO_IS_UNKNOWN },
	{ "Temp C", NULL, LINE(temp), RIGHT(6) },
	{ "Power W", NULL, LINE(power), RIGHT(7) },
	{ "MHz", NULL, LINE(clock), RIGHT(5) },
	{ "Procs", NULL, LINE(processes), .before = 1, .width = 5 },
};

void tdm_status_boards(const struct tdm_status_report *report, struct tdm_buf *out)
{
	const struct tdm_picture *picture = report->picture;
	const struct tdm_table table = { TDM_COLUMNS(board_columns), .style = TDM_STYLE_DIM,
		.widths = { report->is_piped || tdm_status_is_wide(report) ? CARD_WIDE : CARD_NARROW,
			device_columns(picture) } };
	struct tdm_card card;
	size_t first = picture->device_count - picture->board_count, count = 0;
	for (size_t i = first; i < picture->device_count; i++)
		count += tdm_pick_takes_device(&report->pick, picture, i);
	tdm_buf_printf(out, "\n%zu card%s", count, tdm_plural(count));
	if (tdm_card_init(&card, tdm_str_of(picture->devices[first].card), NULL, NULL) == 0 &&
		tdm_card_get(&card, TDM_CARD_CHIPS) > 1 && tdm_card_get(&card, TDM_CARD_CHIPS) != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, " with %" PRIu64 " chips%s", tdm_card_get(&card, TDM_CARD_CHIPS),
			count != 1 ? " each" : "");
	tdm_buf_puts(out, "; it is not known which device is on which card:\n");
	tdm_table_head(&table, &report->term, out);
	for (size_t i = first; i < picture->device_count; i++)
		if (tdm_pick_takes_device(&report->pick, picture, i)) {
			const struct line line = line_of(picture, i);
			tdm_table_row(&table, &line, &report->term, out);
		}
}
