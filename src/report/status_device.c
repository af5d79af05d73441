/* The block of one device: who it is, how it is, its memory by kind, and where its L1 is. */
#include "base/bar.h"
#include "base/err.h"
#include "base/wrap.h"
#include "report/cell.h"
#include "report/chips.h"
#include "report/l1_account.h"
#include "report/share.h"
#include "report/status_report.h"

#include <inttypes.h>
#include <stdio.h>

enum { KIND_COLUMNS = 10, BAR_MIN = 10, BAR_MAX = 30, TABLE_COLUMNS = 74, SOURCE_COLUMNS = 15, TITLE_COLUMNS = 20 };

/* A piece of a line that is folded between pieces, never inside one. */
struct line {
	const struct tdm_status_report *report;
	struct tdm_buf *out;
	size_t at;
};

static void put_piece(struct line *line, const char *text)
{
	char shown[128];
	size_t len = strlen(tdm_str_shown(tdm_str_of(text), shown, sizeof shown));
	if (line->at != 0 && line->at + 2 + len > line->report->term.width) {
		tdm_buf_putc(line->out, '\n');
		line->at = 0;
	}
	tdm_buf_puts(line->out, "  ");
	tdm_buf_puts(line->out, shown);
	line->at += 2 + len;
}

static void put_identity(const struct tdm_status_report *report, size_t i, struct tdm_buf *out)
{
	const struct tdm_picture_device *device = &report->picture->devices[i];
	struct line line = { report, out, 0 };
	char text[96];
	tdm_buf_printf(out, "\n%s#%zu%s", tdm_term_style(&report->term, TDM_STYLE_BOLD), i,
		tdm_term_style(&report->term, TDM_STYLE_OFF));
	line.at = (size_t)snprintf(text, sizeof text, "#%zu", i);
	snprintf(text, sizeof text, "%s%s%s", device->card[0] != '\0' ? device->card : "unknown card",
		device->arch[0] != '\0' ? ", " : "", device->arch);
	put_piece(&line, text);
	if (device->number >= 0)
		snprintf(text, sizeof text, "%s %" PRId32, device->is_virtual ? "virtual device" : "device",
			device->number);
	else
		snprintf(text, sizeof text, "number unknown");
	put_piece(&line, text);
	if (device->node >= 0) {
		snprintf(text, sizeof text, "/dev/tenstorrent/%" PRId32, device->node);
		put_piece(&line, text);
	}
	if (device->pci[0] != '\0')
		put_piece(&line, device->pci);
	if (device->has_chip_id)
		snprintf(text, sizeof text, "chip 0x%" PRIx64, device->chip_id);
	else
		snprintf(text, sizeof text, "chip id unknown");
	put_piece(&line, text);
	tdm_buf_putc(out, '\n');
}

/* How a reading is shown: its unit, what one of that is in the reading's own, digits behind the point. */
struct scale {
	const char *unit;
	double parts;
	int digits;
};

/* "38.5/160 W"; nothing when it is not known. */
static void put_reading(struct line *line, struct scale scale, struct tdm_reading reading, struct tdm_reading limit)
{
	char text[96], upper[32] = "";
	if (!reading.is_known)
		return;
	if (limit.is_known)
		snprintf(upper, sizeof upper, "/%.0f", (double)limit.value / scale.parts);
	snprintf(text, sizeof text, "%.*f%s %s", scale.digits, (double)reading.value / scale.parts, upper, scale.unit);
	put_piece(line, text);
}

static void put_telemetry(
	const struct tdm_status_report *report, const struct tdm_picture_device *device, struct tdm_buf *out)
{
	static const struct tdm_reading none;
	const struct tdm_picture_telemetry *t = &device->telemetry;
	const struct tdm_reading all[] = { t->temp, t->power, t->clock, t->voltage, t->current, t->fan };
	struct line line = { report, out, 0 };
	size_t start = out->len;
	char text[120];
	int err = 0;
	put_reading(&line, (struct scale){ "C", 1e3, 1 }, t->temp, t->temp_max);
	put_reading(&line, (struct scale){ "W", 1e6, 1 }, t->power, t->power_max);
	put_reading(&line, (struct scale){ "MHz", 1, 0 }, t->clock, none);
	put_reading(&line, (struct scale){ "V", 1e3, 2 }, t->voltage, none);
	put_reading(&line, (struct scale){ "A", 1e3, 1 }, t->current, none);
	put_reading(&line, (struct scale){ "RPM", 1, 0 }, t->fan, none);
	for (size_t i = 0; i < sizeof all / sizeof *all && err == 0; i++)
		err = all[i].is_known ? 0 : all[i].err;
	bool any = out->len != start;
	if (any && err != 0)
		snprintf(text, sizeof text, "(some readings failed: %s)", tdm_err_text(err));
	else if (err != 0)
		snprintf(text, sizeof text, "telemetry unknown: %s", tdm_err_text(err));
	else
		snprintf(text, sizeof text, "telemetry unknown: %s",
			device->node < 0 ? "no card of the driver is known to be this device"
					 : "the driver offers none");
	if (!any || err != 0)
		put_piece(&line, text);
	tdm_buf_putc(out, '\n');
}

/* What it is made of. Nobody tells how many hardware queues a program has opened. */
static void put_make(const struct tdm_picture_device *device, struct tdm_buf *out)
{
	struct tdm_l1_account account;
	tdm_l1_account(&account, device);
	if (account.cores != 0)
		tdm_buf_printf(out, "  %s%" PRIu64 " cores", device->grid_x != 0 && device->grid_y != 0 ? "" : "~",
			account.cores);
	else
		tdm_buf_puts(out, "  cores unknown");
	if (device->kinds[TDM_KIND_DRAM].banks != 0)
		tdm_buf_printf(out, "  %s%" PRIu32 " DRAM banks",
			device->kinds[TDM_KIND_DRAM].total_from == TDM_FROM_MODEL ? "~" : "",
			device->kinds[TDM_KIND_DRAM].banks);
	else
		tdm_buf_puts(out, "  DRAM banks unknown");
	tdm_buf_puts(out, "  hardware queues unknown\n");
}

static size_t bar_columns(const struct tdm_status_report *report)
{
	size_t taken = TABLE_COLUMNS + 2 + SOURCE_COLUMNS + 2;
	if (!tdm_status_is_wide(report) || report->term.width < taken + BAR_MIN)
		return 0;
	size_t left = report->term.width - taken;
	return left < BAR_MAX ? left : BAR_MAX;
}

static void put_table_head(const struct tdm_status_report *report, struct tdm_buf *out)
{
	size_t bar = bar_columns(report);
	tdm_buf_printf(out, "  %s%-*s %10s %10s %10s %10s %10s  Share", tdm_term_style(&report->term, TDM_STYLE_DIM),
		KIND_COLUMNS, "Memory", "Used", "Total", "Free", "Largest", "Peak");
	if (bar != 0)
		tdm_buf_printf(out, "  %*s  Source", -(int)bar, "");
	else
		tdm_buf_puts(out, tdm_status_is_wide(report) ? "  Source" : " Src");
	tdm_buf_printf(out, "%s\n", tdm_term_style(&report->term, TDM_STYLE_OFF));
}

/* A blank and the size; `mark`, if it is not a blank, stands right before the digits. */
static void put_bytes(struct tdm_buf *out, char mark, uint64_t bytes)
{
	char text[TDM_BYTES_CAP + 1] = " ";
	tdm_format_bytes(text + 1, sizeof text - 1, bytes);
	text[strspn(text, " ") - 1] = mark;
	tdm_buf_puts(out, text);
}

static const char *level_style(const struct tdm_status_report *report, const struct tdm_picture_kind *kind)
{
	switch (tdm_level_of(kind->used, kind->total)) {
	case TDM_LEVEL_GREEN:
		return tdm_term_style(&report->term, TDM_STYLE_GREEN);
	case TDM_LEVEL_YELLOW:
		return tdm_term_style(&report->term, TDM_STYLE_YELLOW);
	case TDM_LEVEL_RED:
		return tdm_term_style(&report->term, TDM_STYLE_RED);
	case TDM_LEVEL_UNKNOWN:
		break;
	}
	return "";
}

static void put_sources(
	const struct tdm_status_report *report, const struct tdm_picture_kind *kind, struct tdm_buf *out)
{
	bool differ = kind->total_from != TDM_FROM_NONE && kind->total_from != kind->used_from;
	if (!tdm_status_is_wide(report)) {
		tdm_buf_printf(out, " %c", tdm_status_letter(kind->used_from));
		if (differ)
			tdm_buf_printf(out, "/%c", tdm_status_letter(kind->total_from));
		return;
	}
	tdm_buf_printf(out, "  %s", tdm_from_name((enum tdm_from)kind->used_from));
	if (differ)
		tdm_buf_printf(out, "/%s", tdm_from_name((enum tdm_from)kind->total_from));
}

static void put_kind(const struct tdm_status_report *report, const struct tdm_picture_kind *kind, enum tdm_kind k,
	struct tdm_buf *out)
{
	const char *style = level_style(report, kind), *off = style[0] != '\0' ? TDM_STYLE_OFF : "";
	char share[TDM_SHARE_CAP];
	int tenths = tdm_share_tenths(kind->used, kind->total);
	size_t bar = bar_columns(report);
	tdm_buf_printf(out, "  %-*s", KIND_COLUMNS, tdm_kind_name(k));
	put_bytes(out, ' ', kind->used);
	put_bytes(out, ' ', kind->total);
	put_bytes(out, ' ', kind->free);
	put_bytes(out, ' ', kind->largest_free);
	put_bytes(out, kind->peak_is_seen && kind->peak != TDM_BYTES_UNKNOWN ? '>' : ' ', kind->peak);
	tdm_buf_printf(out, "%s%7s", style, tenths >= 0 ? tdm_share_format(share, sizeof share, tenths) : "-");
	if (bar != 0) {
		tdm_buf_puts(out, "  ");
		if (tenths >= 0)
			tdm_bar_put(out, tenths, bar, report->term.utf8);
		else
			tdm_buf_fill(out, ' ', bar);
	}
	tdm_buf_puts(out, off);
	put_sources(report, kind, out);
	tdm_buf_putc(out, '\n');
}

/* The other source's figure, where there is one. */
static void put_rival(const struct tdm_status_report *report, const struct tdm_picture_kind *kind, enum tdm_kind k,
	struct tdm_buf *out)
{
	char used[TDM_BYTES_CAP], bytes[TDM_BYTES_CAP], text[256];
	if (kind->rival_from == TDM_FROM_NONE || kind->rival_used == TDM_BYTES_UNKNOWN)
		return;
	if (kind->rival_used == kind->used && kind->rival_processes == 0)
		return;
	const char *name = tdm_from_name((enum tdm_from)kind->rival_from);
	int len = snprintf(text, sizeof text, "%s: %s counts %s", tdm_kind_name(k), name,
		tdm_format_bytes_short(used, sizeof used, kind->rival_used));
	if (kind->rival_processes != 0)
		snprintf(text + len, sizeof text - (size_t)len,
			", %s of it in %" PRIu32 " process%s that %s does not know",
			tdm_format_bytes_short(bytes, sizeof bytes, kind->rival_bytes), kind->rival_processes,
			kind->rival_processes == 1 ? "" : "es", tdm_from_name((enum tdm_from)kind->used_from));
	tdm_buf_puts(out, "  ");
	tdm_wrap(out, tdm_str_of(text), (struct tdm_wrap){ .at = 2, .indent = 4, .width = report->term.width });
}

static bool is_amount(uint64_t bytes)
{
	return bytes != TDM_BYTES_UNKNOWN && bytes != 0;
}

/* What the card has, and what there is something in or has been. DRAM and L1 always, unless nothing is known. */
static bool is_shown(const struct tdm_picture_kind *kind, enum tdm_kind k)
{
	if (is_amount(kind->used) || is_amount(kind->total) || is_amount(kind->peak))
		return true;
	return k <= TDM_KIND_L1 && (kind->used != TDM_BYTES_UNKNOWN || kind->total != TDM_BYTES_UNKNOWN);
}

static void put_kinds(
	const struct tdm_status_report *report, const struct tdm_picture_device *device, struct tdm_buf *out)
{
	bool headed = false;
	for (int k = 0; k < TDM_KIND_COUNT; k++) {
		if (!is_shown(&device->kinds[k], (enum tdm_kind)k))
			continue;
		if (!headed)
			put_table_head(report, out);
		headed = true;
		put_kind(report, &device->kinds[k], (enum tdm_kind)k, out);
	}
	if (!headed)
		tdm_buf_puts(out, "  memory unknown: no source counts it, and the card is not known\n");
	for (int k = 0; k < TDM_KIND_COUNT; k++)
		put_rival(report, &device->kinds[k], (enum tdm_kind)k, out);
}

static void put_l1(const struct tdm_picture_device *device, struct tdm_buf *out)
{
	struct tdm_l1_account account;
	char total[TDM_BYTES_CAP], core[TDM_BYTES_CAP], share[TDM_SHARE_CAP];
	bool any = false;
	tdm_l1_account(&account, device);
	for (int i = 0; i < TDM_L1_ITEM_REST; i++)
		any |= account.items[i].bytes != TDM_BYTES_UNKNOWN && !account.items[i].is_inferred;
	if (!any)
		return; /* the tables alone are no news: `tidemark device show` has them */
	if (account.total != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, "  All L1: %s in %" PRIu64 " cores of %s\n",
			tdm_format_bytes_short(total, sizeof total, account.total), account.cores,
			tdm_format_bytes_short(core, sizeof core, account.core_bytes));
	else
		tdm_buf_puts(out, "  All L1: size unknown\n");
	for (int i = 0; i < TDM_L1_ITEM_COUNT; i++) {
		const struct tdm_l1_amount *item = &account.items[i];
		int tenths = tdm_share_tenths(item->bytes, account.total);
		tdm_buf_printf(out, "    %-*s", TITLE_COLUMNS, tdm_l1_item_title((enum tdm_l1_item)i));
		put_bytes(out, item->is_inferred ? '~' : ' ', item->bytes);
		tdm_buf_printf(out, "%7s  %s\n", tenths >= 0 ? tdm_share_format(share, sizeof share, tenths) : "-",
			item->text);
	}
}

void tdm_status_device(const struct tdm_status_report *report, size_t i, struct tdm_buf *out)
{
	const struct tdm_picture_device *device = &report->picture->devices[i];
	put_identity(report, i, out);
	put_telemetry(report, device, out);
	put_make(device, out);
	put_kinds(report, device, out);
	tdm_chips_put(out, "  ", device);
	put_l1(device, out);
}
