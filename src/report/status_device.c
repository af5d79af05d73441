/* One device in `tidemark status`: its identity, telemetry, memory by kind, and what uses its L1. */
#include "base/bar.h"
#include "base/err.h"
#include "base/wrap.h"
#include "report/l1_account.h"
#include "report/live_cells.h"
#include "report/report_put.h"
#include "report/status_report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { BAR_MIN = 10, BAR_MAX = 30, TABLE_COLUMNS = 74, SOURCE_COLUMNS = 15, SHARE_COLUMNS = 7 };

/* A line of pieces, wrapped only between pieces. */
struct line {
	size_t at, width;
	struct tdm_buf *out;
};

__attribute__((format(printf, 2, 3))) static void put_piece(struct line *line, const char *format, ...)
{
	char text[128], shown[128];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	size_t len = strlen(tdm_str_shown(tdm_str_of(text), shown, sizeof shown));
	if (line->at != 0 && line->at + 2 + len > line->width) {
		tdm_buf_putc(line->out, '\n');
		line->at = 0;
	}
	tdm_buf_printf(line->out, "  %s", shown);
	line->at += 2 + len;
}

static void put_identity(const struct tdm_status_report *report, size_t i, struct tdm_buf *out)
{
	const struct tdm_picture_device *device = &report->picture->devices[i];
	char label[TDM_PICK_LABEL_CAP];
	struct line line = { strlen(tdm_pick_label(device, label, sizeof label)), report->term.width, out };
	tdm_buf_putc(out, '\n');
	tdm_put_styled(out, &report->term, TDM_STYLE_BOLD, label);
	if (device->host != NULL && device->host->reason != NULL)
		put_piece(&line, "(%s old)", TDM_TIME_TEXT(device->host->age_ns));
	put_piece(&line, "%s%s%s%s", tdm_picture_card_mark(device),
		device->card[0] != '\0' ? device->card : "unknown card", device->arch[0] != '\0' ? ", " : "",
		device->arch);
	if (device->number < 0)
		put_piece(&line, "number unknown");
	else if (device->is_virtual)
		put_piece(&line, "virtual device");
	if (device->node >= 0)
		put_piece(&line, "/dev/tenstorrent/%" PRId32, device->node);
	if (device->pci[0] != '\0')
		put_piece(&line, "%s", device->pci);
	if (device->has_chip_id)
		put_piece(&line, "chip 0x%" PRIx64, device->chip_id);
	else
		put_piece(&line, "chip id unknown");
	tdm_buf_putc(out, '\n');
}

static void put_telemetry(
	const struct tdm_status_report *report, const struct tdm_picture_device *device, struct tdm_buf *out)
{
	static const struct tdm_reading none;
	const struct tdm_picture_telemetry *t = &device->telemetry;
	const struct {
		const struct tdm_reading *value, *limit;
		const char *unit;
		double parts; /* by which the value is divided */
		int digits;
	} all[] = { { &t->temp, &t->temp_max, "C", 1e3, 1 }, { &t->power, &t->power_max, "W", 1e6, 1 },
		{ &t->clock, &none, "MHz", 1, 0 }, { &t->voltage, &none, "V", 1e3, 2 },
		{ &t->current, &none, "A", 1e3, 1 }, { &t->fan, &none, "RPM", 1, 0 } };
	struct line line = { 0, report->term.width, out };
	int err = 0;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		char limit[32] = "";
		if (all[i].limit->is_known)
			snprintf(limit, sizeof limit, "/%.0f", (double)all[i].limit->value / all[i].parts);
		if (all[i].value->is_known)
			put_piece(&line, "%.*f%s %s", all[i].digits, (double)all[i].value->value / all[i].parts, limit,
				all[i].unit);
		else if (err == 0)
			err = all[i].value->err;
	}
	if (line.at != 0 && err != 0)
		put_piece(&line, "(some readings failed: %s)", tdm_err_text(err));
	else if (line.at == 0)
		put_piece(&line, "telemetry unknown: %s",
			err != 0           ? tdm_err_text(err)
			: device->node < 0 ? "no card of the driver is known to be this device"
					   : "the driver offers none");
	tdm_buf_putc(out, '\n');
}

/* Cores, DRAM banks and queues. No source says how many hardware queues a program has opened. */
static void put_make(const struct tdm_picture_device *device, const struct tdm_l1_account *account, struct tdm_buf *out)
{
	const struct tdm_picture_kind *dram = &device->kinds[TDM_KIND_DRAM];
	if (account->cores != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, "  %s%" PRIu64 " cores", device->grid_x != 0 && device->grid_y != 0 ? "" : "~",
			account->cores);
	else
		tdm_buf_puts(out, "  cores unknown");
	if (dram->banks != 0)
		tdm_buf_printf(
			out, "  %s%" PRIu32 " DRAM banks", dram->total_from != TDM_FROM_LEDGER ? "~" : "", dram->banks);
	else
		tdm_buf_puts(out, "  DRAM banks unknown");
	tdm_buf_puts(out, "  hardware queues unknown\n");
}

/* The kinds of memory. */
struct kinds {
	const struct tdm_status_report *report;
	const struct tdm_picture_device *device;
	size_t bar; /* columns of the bars; 0: no bars */
};

static void put_peak(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_picture_kind *kind = field->row;
	const char *estimate = tdm_estimate_mark(kind->is_estimated, kind->peak);
	bool is_seen = kind->peak_is_seen && kind->peak != TDM_BYTES_UNKNOWN;
	tdm_put_marked(field, out, !is_seen ? estimate : estimate[0] != '\0' ? ">~" : ">", kind->peak);
}

static void put_used(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_picture_kind *kind = field->row;
	tdm_put_marked(field, out, tdm_estimate_mark(kind->is_estimated, kind->used), kind->used);
}

static void put_total(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_picture_kind *kind = field->row;
	tdm_put_marked(field, out, tdm_picture_total_mark(kind), kind->total);
}

static void put_free(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_picture_kind *kind = field->row;
	tdm_put_marked(field, out, tdm_picture_free_mark(kind), kind->free);
}

static struct tdm_value get_exact(const struct tdm_field *field)
{
	const struct tdm_picture_kind *kind = field->row;
	return (struct tdm_value){ TDM_VALUE_BOOL, { .yes = kind->peak != TDM_BYTES_UNKNOWN && !kind->peak_is_seen } };
}

/* "  84.2%", and a bar if there is room. */
static void put_share(struct tdm_buf *out, uint64_t used, uint64_t total, size_t bar, bool utf8)
{
	char share[TDM_SHARE_CAP];
	int permille = tdm_picture_permille(used, total);
	tdm_buf_printf(
		out, "%*s", SHARE_COLUMNS, permille >= 0 ? tdm_format_share(share, sizeof share, permille) : "-");
	if (bar == 0 || permille < 0)
		return;
	tdm_buf_puts(out, "  ");
	tdm_bar_put(out, permille, bar, utf8);
}

static void put_share_of_kind(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct kinds *of = field->table->context;
	const struct tdm_picture_kind *kind = field->row;
	put_share(out, kind->used, kind->total, of->bar, of->report->term.utf8);
}

static const char *level(const struct tdm_field *field)
{
	const struct kinds *of = field->table->context;
	const struct tdm_picture_kind *kind = field->row;
	return tdm_level_style(tdm_picture_level(of->device, (enum tdm_kind)(kind - of->device->kinds)));
}

/* The source of the used bytes and, if it differs, of the total. */
static void put_sources(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_picture_kind *kind = field->row;
	const uint8_t from[] = { kind->used_from, kind->total_from };
	bool differ = kind->total_from != TDM_FROM_NONE && kind->total_from != kind->used_from;
	for (int i = 0; i <= differ; i++) {
		tdm_buf_puts(out, i != 0 ? "/" : "");
		if (field->column->arg != 0)
			tdm_buf_puts(out, tdm_from_name((enum tdm_from)from[i]));
		else
			tdm_buf_putc(out, tdm_status_letter(from[i]));
	}
}

/* The overruled source, with its figure. */
static void json_rival(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_picture_kind *kind = field->row;
	if (kind->rival_from == TDM_FROM_NONE) {
		tdm_json_null(json);
		return;
	}
	tdm_json_object(json);
	tdm_json_put_text(json, "source", tdm_source_name(kind->rival_from));
	tdm_json_put_bytes(json, "used", kind->rival_used);
	tdm_json_put_u64(json, "only_there_processes", kind->rival_processes);
	tdm_json_put_bytes(json, "only_there", kind->rival_processes != 0 ? kind->rival_bytes : 0);
	tdm_json_object_end(json);
}

#define KIND(member) TDM_MEMBER(struct tdm_picture_kind, member)
#define HAS_BANKS    TDM_KNOWN_IF(struct tdm_picture_kind, banks)
#define SIZE         .before = 1, TDM_BYTES
static const struct tdm_column kind_columns[] = {
	{ "Memory", "kind", TDM_INDEX, .flags = TDM_IS_KIND, .before = 2, .width = 10 },
	{ "Used", "used", KIND(used), .text = put_used, SIZE },
	{ "Total", "total", KIND(total), .text = put_total, SIZE },
	{ "Free", "free", KIND(free), .text = put_free, SIZE },
	{ "Largest", "largest_free", KIND(largest_free), SIZE },
	{ "Peak", "peak", KIND(peak), .text = put_peak, .format = tdm_format_bytes, .width = 11 },
	{ NULL, "peak_is_exact", .get = get_exact },
	{ NULL, "estimated", KIND(is_estimated) },
	{ NULL, "asked", KIND(asked) },
	{ NULL, "buffers", KIND(buffers) },
	{ NULL, "unattributed", KIND(unattributed) },
	{ NULL, "stale", KIND(stale) },
	{ NULL, "banks", KIND(banks), HAS_BANKS },
	{ NULL, "base", KIND(base), HAS_BANKS },
	{ NULL, "bank_bytes", KIND(bank_bytes), HAS_BANKS },
	{ NULL, "allocations", KIND(allocs) },
	{ NULL, "out_of_memory", KIND(out_of_memory) },
	{ "  Share", NULL, .text = put_share_of_kind, .style = level, .width = TDM_WIDTH_OF_TABLE },
	{ "Src", "source", KIND(used_from), .get = tdm_get_source, .text = put_sources, .before = 1 },
	{ "Source", "total_source", KIND(total_from), .get = tdm_get_source, .text = put_sources, .before = 2,
		.arg = 1 },
	{ NULL, "rival", .json = json_rival },
};
enum { LETTERS_COLUMN = 18, WORDS_COLUMN }; /* of the sources */

/* Shows the kinds that the card has, and those that hold or held something; DRAM and L1 always, unless nothing is
 * known. */
static bool skip_kind(const struct tdm_table *table, const void *row)
{
	const struct tdm_picture_kind *kind = row, *kinds = table->rows;
	bool is_known = kind->used != TDM_BYTES_UNKNOWN || kind->total != TDM_BYTES_UNKNOWN;
	return !tdm_is_some(kind->used) && !tdm_is_some(kind->total) && !tdm_is_some(kind->peak) &&
	       !(kind <= &kinds[TDM_KIND_L1] && is_known);
}

/* The overruled source's figure, if there is one. */
static void put_rival(const struct tdm_status_report *report, const struct tdm_picture_kind *kind, enum tdm_kind k,
	struct tdm_buf *out)
{
	char text[256];
	if (kind->rival_from == TDM_FROM_NONE || kind->rival_used == TDM_BYTES_UNKNOWN ||
		(kind->rival_used == kind->used && kind->rival_processes == 0))
		return;
	int len = snprintf(text, sizeof text, "%s: %s counts %s", tdm_kind_name(k),
		tdm_from_name((enum tdm_from)kind->rival_from), TDM_SIZE_TEXT(kind->rival_used));
	if (kind->rival_processes != 0)
		snprintf(text + len, sizeof text - (size_t)len,
			", %s of it in %" PRIu32 " process%s that %s does not know", TDM_SIZE_TEXT(kind->rival_bytes),
			kind->rival_processes, tdm_plural_es(kind->rival_processes),
			tdm_from_name((enum tdm_from)kind->used_from));
	tdm_buf_puts(out, "  ");
	tdm_wrap(out, tdm_str_of(text), (struct tdm_wrap){ .at = 2, .indent = 4, .width = report->term.width });
}

/* How the figures of L1 buffers and circular buffers are related. */
static void put_sharing(const struct tdm_picture_device *device, struct tdm_buf *out)
{
	uint64_t gap = tdm_picture_gap(device), clash = tdm_picture_clash(device);
	if (tdm_is_some(device->kinds[TDM_KIND_CB].used) || device->kinds[TDM_KIND_CB].total != TDM_BYTES_UNKNOWN)
		tdm_buf_puts(out, "  Free: l1 (shared with cb), cb (shared with l1): both use the same memory\n");
	if (clash != 0)
		tdm_buf_printf(out, "  clash: buffers and CBs overlap by %s, fullest core\n", TDM_SIZE_TEXT(clash));
	else if (gap != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, "  %s free between buffers and CBs, fullest core\n", TDM_SIZE_TEXT(gap));
}

static void put_kinds(
	const struct tdm_status_report *report, const struct tdm_picture_device *device, struct tdm_buf *out)
{
	bool is_wide = tdm_status_is_wide(report);
	size_t taken = TABLE_COLUMNS + 2 + SOURCE_COLUMNS + 2, width = report->term.width, start = out->len;
	size_t bar = !is_wide || width < taken + BAR_MIN ? 0 : width - taken < BAR_MAX ? width - taken : BAR_MAX;
	const struct kinds of = { report, device, bar };
	const struct tdm_table table = { TDM_COLUMNS(kind_columns), device->kinds, sizeof *device->kinds,
		TDM_KIND_COUNT, .skip = skip_kind, .context = &of, .unknown = "unknown", .style = TDM_STYLE_DIM,
		.units = TDM_UNITS_ROW, .hidden = UINT64_C(1) << (is_wide ? LETTERS_COLUMN : WORDS_COLUMN),
		.widths = { SHARE_COLUMNS + (bar != 0 ? 2 + bar : 0) } };
	tdm_table_text(&table, &report->term, out);
	if (out->len == start)
		tdm_buf_puts(out, "  memory unknown: no source counts it, and the card is not known\n");
	put_sharing(device, out);
	for (int k = 0; k < TDM_KIND_COUNT; k++)
		put_rival(report, &device->kinds[k], (enum tdm_kind)k, out);
}

/* The parts of L1. */

static void put_bytes(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_l1_amount *item = field->row;
	tdm_put_marked(field, out, item->is_inferred ? "~" : "", item->bytes);
}

static void put_part_share(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_l1_account *account = field->table->context;
	put_share(out, ((const struct tdm_l1_amount *)field->row)->bytes, account->total, 0, false);
}

#define PART(member) TDM_MEMBER(struct tdm_l1_amount, member)
static const struct tdm_column part_columns[] = {
	{ "", NULL, PART(title), .width = 20 },
	{ NULL, "part", PART(name) },
	{ "", "bytes", PART(bytes), .text = put_bytes, .format = tdm_format_bytes, .width = 11, .unknown = "unknown" },
	{ NULL, "inferred", PART(is_inferred) },
	{ "", NULL, .text = put_part_share },
	{ "", "source", PART(text), .before = 2 },
};

static struct tdm_table part_table(const struct tdm_l1_account *account)
{
	return (struct tdm_table){ TDM_COLUMNS(part_columns), account->items, sizeof *account->items, TDM_L1_ITEM_COUNT,
		.context = account, .units = TDM_UNITS_COLUMN, .has_no_head = true, .indent = 4 };
}

static void put_l1(const struct tdm_status_report *report, const struct tdm_l1_account *account, struct tdm_buf *out)
{
	const struct tdm_table table = part_table(account);
	bool any = false;
	for (int i = 0; i < TDM_L1_ITEM_REST; i++)
		any |= account->items[i].bytes != TDM_BYTES_UNKNOWN && !account->items[i].is_inferred;
	if (!any)
		return; /* everything would be inferred: `tidemark device show` has that */
	if (account->total != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, "  All L1: %s in %" PRIu64 " cores of %s\n", TDM_SIZE_TEXT(account->total),
			account->cores, TDM_SIZE_TEXT(account->core_bytes));
	else
		tdm_buf_puts(out, "  All L1: size unknown\n");
	tdm_table_text(&table, &report->term, out);
}

void tdm_status_device(const struct tdm_status_report *report, size_t i, struct tdm_buf *out)
{
	const struct tdm_picture_device *device = &report->picture->devices[i];
	struct tdm_l1_account account;
	tdm_l1_account(&account, device);
	put_identity(report, i, out);
	put_telemetry(report, device, out);
	put_make(device, &account, out);
	put_kinds(report, device, out);
	tdm_chips_put(out, "  ", device);
	put_l1(report, &account, out);
}

static void json_l1(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_picture_device *device = field->row;
	struct tdm_l1_account account;
	tdm_l1_account(&account, device);
	const struct tdm_table table = part_table(&account);
	tdm_json_object(json);
	tdm_json_put_bytes(json, "total", account.total);
	tdm_json_put_bytes(json, "core_bytes", account.core_bytes);
	tdm_json_put_bytes(json, "cores", account.cores);
	tdm_json_put_bytes(json, "peak", device->l1_peak);
	tdm_json_put_bytes(json, "lowest_buffer", device->l1_lowest);
	tdm_json_put_bytes(json, "highest_cb", device->cb_highest);
	tdm_json_put_table(json, "parts", &table);
	tdm_json_object_end(json);
}

static void json_kinds(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_picture_device *device = field->row;
	const struct tdm_table table = { TDM_COLUMNS(kind_columns), device->kinds, sizeof *device->kinds,
		TDM_KIND_COUNT };
	tdm_table_json(&table, json);
}

#define DEVICE(member) TDM_MEMBER(struct tdm_picture_device, member)
static const struct tdm_column device_columns[] = {
	{ NULL, "index", TDM_INDEX },
	{ NULL, "host", TDM_VIA(struct tdm_picture_device, host, struct tdm_picture_host, name) },
	{ NULL, "number", DEVICE(number), .flags = TDM_NEGATIVE_IS_UNKNOWN },
	{ NULL, "node", DEVICE(node), .flags = TDM_NEGATIVE_IS_UNKNOWN },
	{ NULL, "pci", DEVICE(pci), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "chip_id", DEVICE(chip_id), TDM_KNOWN_IF(struct tdm_picture_device, has_chip_id) },
	{ NULL, "virtual", DEVICE(is_virtual) },
	{ NULL, "board", DEVICE(is_board) },
	{ NULL, "card", DEVICE(card), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "card_source", DEVICE(card_from), .get = tdm_get_source },
	{ NULL, "architecture", DEVICE(arch), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "grid_x", DEVICE(grid_x), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "grid_y", DEVICE(grid_y), .flags = TDM_ZERO_IS_UNKNOWN },
	{ .key = "hardware_queues" },
	{ NULL, "process_count", DEVICE(process_count) },
	{ NULL, "sources", DEVICE(sources), .json = tdm_status_json_sources },
	{ NULL, "space_is_old", DEVICE(space_is_old) },
	{ NULL, "kinds", .json = json_kinds },
	{ NULL, "l1", .json = json_l1 },
	{ NULL, "chips", .json = tdm_chips_json },
};

void tdm_status_json_device(const struct tdm_status_report *report, size_t i, struct tdm_json *json)
{
	const struct tdm_picture_device *device = &report->picture->devices[i];
	const struct tdm_table table = { TDM_COLUMNS(device_columns), report->picture->devices, sizeof *device };
	bool has_card = report->host != NULL && device->host_card < report->host->card_count;
	tdm_json_object(json);
	tdm_smi_device(json, device, has_card ? &report->host->cards[device->host_card] : NULL);
	tdm_json_put_object(json, "memory");
	tdm_table_keys(&table, device, json);
	tdm_json_object_end(json);
	tdm_json_object_end(json);
}
