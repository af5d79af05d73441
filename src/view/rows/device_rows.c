/*
 * Words and table cells for device figures: shares, sources, sensors, the table of memory kinds, and the account of L1.
 * Unknown figures stay unknown; estimates and bounds are marked here.
 */
#include "view/rows/device_rows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/arena.h"
#include "model/card/card.h"
#include "view/write/cell.h"

/* ---- cells ---- */

enum { SHARE_MAX = 99999 };

char *tdm_format_share(char *dst, size_t cap, int permille)
{
	int shown = permille < SHARE_MAX ? permille : SHARE_MAX;
	if (permille < 0)
		snprintf(dst, cap, "unknown");
	else
		snprintf(dst, cap, "%d.%d%%", shown / 10, shown % 10);
	return dst;
}

const char *tdm_source_name(uint8_t from)
{
	return from != TDM_FROM_NONE && from < TDM_FROM_COUNT ? tdm_from_name((enum tdm_from)from) : NULL;
}

struct tdm_value tdm_get_source(const struct tdm_field *field)
{
	return tdm_value_text(tdm_source_name((uint8_t)tdm_field_member(field).number));
}

char tdm_source_letter(uint8_t from)
{
	static const char letters[] = "-LSDMT"; /* in the order of TDM_FROM_LIST */
	_Static_assert(sizeof letters == TDM_FROM_COUNT + 1, "a letter for each source");
	return from < TDM_FROM_COUNT ? letters[from] : '-';
}

struct tdm_value tdm_get_sources(const struct tdm_field *field)
{
	uint64_t sources = tdm_field_member(field).number;
	struct tdm_value *names = tdm_arena_take(field->scratch, TDM_FROM_COUNT * sizeof *names);
	size_t count = 0;
	for (uint8_t from = TDM_FROM_LEDGER; from < TDM_FROM_COUNT; from++)
		if ((sources >> from & 1) != 0)
			names[count++] = tdm_value_text(tdm_from_name((enum tdm_from)from));
	return tdm_value_list(names, count);
}

char *tdm_format_time(char *dst, size_t cap, uint64_t real_ns)
{
	time_t seconds = (time_t)(real_ns / UINT64_C(1000000000));
	struct tm local;
	if (real_ns == 0 || localtime_r(&seconds, &local) == NULL ||
		strftime(dst, cap, "%Y-%m-%d %H:%M:%S", &local) == 0)
		dst[0] = '\0';
	return dst;
}

/* ---- a device in words ---- */

__attribute__((format(printf, 4, 5))) static void add_piece(
	struct tdm_words *pieces, size_t *count, enum tdm_level level, const char *format, ...)
{
	struct tdm_words *piece = &pieces[(*count)++];
	va_list args;
	va_start(args, format);
	vsnprintf(piece->text, sizeof piece->text, format, args);
	va_end(args);
	piece->level = (uint8_t)level;
}

size_t tdm_device_identity(const struct tdm_picture_device *device, struct tdm_words pieces[TDM_IDENTITY_MAX])
{
	size_t count = 0;
	if (device->host != NULL && device->host->reason != NULL)
		add_piece(pieces, &count, TDM_LEVEL_WARNING, "%s old", TDM_TIME_TEXT(device->host->age_ns));
	add_piece(pieces, &count, TDM_LEVEL_STRONG, "%s%s", tdm_picture_card_mark(device),
		device->card[0] != '\0' ? device->card : "card unknown");
	if (device->is_virtual)
		add_piece(pieces, &count, TDM_LEVEL_NOTE, "virtual: a sum, not a real card");
	else if (device->number < 0)
		add_piece(pieces, &count, TDM_LEVEL_FAINT, "number unknown");
	if (device->node >= 0)
		add_piece(pieces, &count, TDM_LEVEL_PLAIN, "/dev/tenstorrent/%" PRId32, device->node);
	if (device->pci[0] != '\0')
		add_piece(pieces, &count, TDM_LEVEL_FAINT, "%s", device->pci);
	if (device->arch[0] != '\0')
		add_piece(pieces, &count, TDM_LEVEL_FAINT, "%s", device->arch);
	if (device->has_chip_id)
		add_piece(pieces, &count, TDM_LEVEL_FAINT, "chip 0x%" PRIx64, device->chip_id);
	else
		add_piece(pieces, &count, TDM_LEVEL_FAINT, "chip id unknown");
	return count;
}

void tdm_device_sensors(
	const struct tdm_picture_device *device, bool with_limits, bool utf8, struct tdm_words sensors[TDM_SENSORS])
{
	enum { NEAR_PERCENT = 90 };
	static const struct tdm_reading none; /* used if the driver reports no limit */
	const struct tdm_picture_telemetry *t = &device->telemetry;
	static const char *const names[] = { "temperature", "power", "clock", "voltage", "current", "fan",
		"heartbeat" };
	static const int digits[] = { 1, 1, 0, 2, 1, 0, 0 };
	static const double units[] = { 1e3, 1e6, 1, 1e3, 1e3, 1, 1 };
	const char *const suffixes[] = { utf8 ? "\u00b0C" : "C", "W", "MHz", "V", "A", "rpm", "" };
	const struct tdm_reading *const readings[] = { &t->temp, &t->power, &t->clock, &t->voltage, &t->current,
		&t->fan, &t->heartbeat };
	const struct tdm_reading *const limits[] = { &t->temp_max, &t->power_max, &none, &t->voltage_max,
		&t->current_max, &none, &none };
	for (size_t i = 0; i < TDM_SENSORS; i++) {
		const struct tdm_reading *reading = readings[i], *most = limits[i];
		bool is_limited = reading->is_known && most->is_known && most->value > 0;
		double share = is_limited ? (double)reading->value / (double)most->value * 100 : 0;
		double limit = (double)most->value / units[i];
		char beside[32] = "";
		if (with_limits && is_limited)
			snprintf(beside, sizeof beside, " / %.*f", limit == (double)(int64_t)limit ? 0 : 1, limit);
		sensors[i] = (struct tdm_words){ .name = names[i],
			.suffix = suffixes[i],
			.err = reading->err,
			.level = !reading->is_known      ? TDM_LEVEL_FAINT
				 : share >= 100          ? TDM_LEVEL_DANGER
				 : share >= NEAR_PERCENT ? TDM_LEVEL_WARNING
							 : TDM_LEVEL_PLAIN };
		if (reading->is_known)
			snprintf(sensors[i].text, sizeof sensors[i].text, "%.*f%s%s%s", digits[i],
				(double)reading->value / units[i], beside, suffixes[i][0] != '\0' ? " " : "",
				suffixes[i]);
	}
}

bool tdm_device_is_silent(const struct tdm_picture_device *device)
{
	const struct tdm_picture_telemetry *t = &device->telemetry;
	return device->node < 0 && !t->temp.is_known && !t->power.is_known && !t->clock.is_known;
}

const char *tdm_kind_title(enum tdm_kind kind)
{
	static const char *const titles[TDM_KIND_COUNT] = { [TDM_KIND_DRAM] = "DRAM",
		[TDM_KIND_L1] = "L1",
		[TDM_KIND_L1_SMALL] = "L1_SMALL",
		[TDM_KIND_TRACE] = "TRACE",
		[TDM_KIND_CB] = "CB",
		[TDM_KIND_DFB] = "DFB",
		[TDM_KIND_SCRATCHPAD] = "SCRATCHPAD",
		[TDM_KIND_KERNEL] = "KERNEL",
		[TDM_KIND_FIRMWARE] = "FIRMWARE",
		[TDM_KIND_SYSTEM] = "SYSTEM",
		[TDM_KIND_CONFIG] = "CONFIG" };
	return kind < TDM_KIND_COUNT ? titles[kind] : "?";
}

struct tdm_value tdm_kind_figure(const struct tdm_picture_kind *kind, enum tdm_amount figure)
{
	const uint64_t bytes[] = { kind->used, kind->total, kind->free, kind->largest_free, kind->peak };
	bool is_peak = figure == TDM_AMOUNT_PEAK;
	struct tdm_value value = tdm_value_number(bytes[figure]);
	value.mark = figure == TDM_AMOUNT_TOTAL             ? tdm_picture_total_mark(kind)[0]
		     : figure == TDM_AMOUNT_FREE            ? tdm_picture_free_mark(kind)[0]
		     : figure == TDM_AMOUNT_USED || is_peak ? tdm_estimate_mark(kind->is_estimated, bytes[figure])[0]
							    : '\0';
	if (is_peak && kind->peak_is_seen && kind->peak != TDM_BYTES_UNKNOWN)
		value.mark = '>';
	return value;
}

char *tdm_amount_text(const struct tdm_picture_kind *kind, enum tdm_amount figure, char *dst, size_t cap)
{
	const struct tdm_value value = tdm_kind_figure(kind, figure);
	char text[TDM_BYTES_CAP];
	snprintf(dst, cap, "%s%s", value.mark == '~' ? "~" : "",
		tdm_format_bytes_like(text, sizeof text, value.number, kind->total));
	return dst;
}

char *tdm_kind_rival(const struct tdm_picture_kind *kind, char *dst, size_t cap)
{
	dst[0] = '\0';
	if (kind->rival_from == TDM_FROM_NONE || kind->rival_used == TDM_BYTES_UNKNOWN ||
		(kind->rival_used == kind->used && kind->rival_processes == 0))
		return dst;
	int len = snprintf(dst, cap, "%s counts %s", tdm_from_name((enum tdm_from)kind->rival_from),
		TDM_SIZE_TEXT(kind->rival_used));
	if (kind->rival_processes != 0)
		snprintf(dst + len, cap - (size_t)len, ", %s of it in %" PRIu32 " process%s that %s does not know",
			TDM_SIZE_TEXT(kind->rival_bytes), kind->rival_processes, kind->rival_processes == 1 ? "" : "es",
			tdm_from_name((enum tdm_from)kind->used_from));
	return dst;
}

const char *tdm_why_nothing(const struct tdm_picture *picture, const struct tdm_pick *pick, char dst[TDM_NOTHING_CAP])
{
	if (picture->device_count == 0 && picture->hosts != NULL)
		return tdm_picture_is_silent(picture) ? "none of the machines has answered"
						      : "the machines that answer have no device";
	if (picture->device_count == 0)
		return "no card and no tracked process is visible: try 'tidemark demo', which needs no card, and see "
		       "'tidemark doctor', which says what was looked for";
	char device[TDM_NOTHING_CAP / 2] = "", who[TDM_NOTHING_CAP / 4];
	if (pick->device != NULL)
		tdm_str_shown(tdm_str_of(pick->device), device, sizeof device);
	snprintf(who, sizeof who, pick->pid_count > 1 ? "none of the named processes" : "no process %" PRId32,
		pick->pid_count != 0 ? pick->pids[0] : 0);
	if (pick->pid_count == 0)
		snprintf(dst, TDM_NOTHING_CAP, "none of the %zu devices matches \"%s\"",
			picture->device_count - picture->board_count, device);
	else
		snprintf(dst, TDM_NOTHING_CAP, "%s is known to use %s%s%s", who,
			device[0] != '\0' ? "device \"" : "a device", device, device[0] != '\0' ? "\"" : "");
	return dst;
}

/* ---- L1 ---- */

void tdm_l1_account(struct tdm_l1_account *account, const struct tdm_picture_device *device)
{
	/* The kinds of memory that make up an item; TDM_KIND_DRAM for none. Programs report kernels and firmware only
	 * if modified to do so; a missing report does not mean 0 bytes. */
	static const uint8_t kinds[TDM_L1_ITEM_COUNT][3] = { [TDM_L1_ITEM_BUFFERS] = { TDM_KIND_L1, TDM_KIND_L1_SMALL },
		[TDM_L1_ITEM_CBS] = { TDM_KIND_CB, TDM_KIND_DFB, TDM_KIND_SCRATCHPAD },
		[TDM_L1_ITEM_KERNELS] = { TDM_KIND_KERNEL },
		[TDM_L1_ITEM_FIRMWARE] = { TDM_KIND_FIRMWARE } };
	static const struct tdm_l1_amount words[] = {
#define X(id, name_, title_) { .name = name_, .title = title_ },
		TDM_L1_ITEM_LIST(X)
#undef X
	};
	struct tdm_l1_amount *items = account->items, *rest = &items[TDM_L1_ITEM_REST];
	struct tdm_card card;
	bool has_card = device->card[0] != '\0' && tdm_card_init(&card, tdm_str_of(device->card), NULL, NULL) == 0;
	uint64_t cores = (uint64_t)device->grid_x * device->grid_y;
	if (cores == 0)
		cores = has_card ? tdm_card_get(&card, TDM_CARD_L1_BANKS) : TDM_BYTES_UNKNOWN;
	account->core_bytes = device->l1_core;
	account->cores = cores;
	account->total = tdm_times(account->core_bytes, cores);
	uint64_t left = account->total, kernels = TDM_BYTES_UNKNOWN;
	bool is_inferred = false, is_over = false;
	for (int i = 0; i < TDM_L1_ITEM_COUNT; i++) {
		struct tdm_l1_amount *item = &items[i];
		*item = words[i];
		item->bytes = TDM_BYTES_UNKNOWN;
		bool is_rare = i == TDM_L1_ITEM_KERNELS || i == TDM_L1_ITEM_FIRMWARE;
		item->text = i <= TDM_L1_ITEM_CBS       ? "no source counts them"
			     : i == TDM_L1_ITEM_KERNELS ? "no program reports them"
							: "the card is not known";
		for (size_t k = 0; k < 3 && kinds[i][k] != TDM_KIND_DRAM; k++) {
			const struct tdm_picture_kind *kind = &device->kinds[kinds[i][k]];
			bool is_reported =
				tdm_is_some(kind->used) || tdm_is_some(kind->allocs) || tdm_is_some(kind->peak);
			if (kind->used == TDM_BYTES_UNKNOWN || (is_rare && !is_reported))
				continue;
			if (item->bytes == TDM_BYTES_UNKNOWN)
				item->text = tdm_from_name((enum tdm_from)kind->used_from);
			item->bytes = tdm_plus(item->bytes != TDM_BYTES_UNKNOWN ? item->bytes : 0, kind->used);
		}
		kernels = i == TDM_L1_ITEM_KERNELS ? item->bytes : kernels;
		bool is_modelled = (i == TDM_L1_ITEM_CONFIG || i == TDM_L1_ITEM_FIRMWARE) && has_card;
		if (is_modelled && item->bytes == TDM_BYTES_UNKNOWN) {
			bool is_ring = i == TDM_L1_ITEM_CONFIG;
			uint64_t bytes = tdm_times(
				tdm_card_get(&card, is_ring ? TDM_CARD_KERNEL_CONFIG : TDM_CARD_MAP_END), cores);
			bool is_without = is_ring && kernels != TDM_BYTES_UNKNOWN && bytes != TDM_BYTES_UNKNOWN;
			item->bytes = is_without ? bytes - tdm_min(bytes, kernels) : bytes;
			item->is_inferred = bytes != TDM_BYTES_UNKNOWN;
			if (item->is_inferred)
				item->text = !is_ring     ? "inferred (model)"
					     : is_without ? "inferred (model), without the kernels"
							  : "inferred (model), with the kernels";
		}
		if (item->bytes == TDM_BYTES_UNKNOWN || left == TDM_BYTES_UNKNOWN)
			continue;
		is_over |= item->bytes > left;
		left -= tdm_min(item->bytes, left);
		is_inferred |= item->is_inferred;
	}
	if (is_over)
		rest->text = "more is counted than exists";
	else if (left != TDM_BYTES_UNKNOWN) {
		rest->bytes = left;
		rest->is_inferred = is_inferred;
		rest->text = "what is left";
	}
}

/* ---- tables ---- */

static struct tdm_value get_figure(const struct tdm_field *field)
{
	return tdm_kind_figure(field->row, (enum tdm_amount)field->column->arg);
}

static struct tdm_value get_exact(const struct tdm_field *field)
{
	const struct tdm_picture_kind *kind = field->row;
	return tdm_value_bool(kind->peak != TDM_BYTES_UNKNOWN && !kind->peak_is_seen);
}

static struct tdm_value share_of(const struct tdm_field *field, uint64_t used, uint64_t total)
{
	char text[TDM_SHARE_CAP];
	int permille = tdm_picture_permille(used, total);
	return permille < 0 ? tdm_value_text("-")
			    : tdm_field_printed(field, "%s", tdm_format_share(text, sizeof text, permille));
}

static struct tdm_value get_share(const struct tdm_field *field)
{
	const struct tdm_picture_kind *kind = field->row, *kinds = field->table->rows;
	const char *device = (const char *)kinds - offsetof(struct tdm_picture_device, kinds);
	return tdm_value_level(share_of(field, kind->used, kind->total),
		tdm_picture_level((const void *)device, (enum tdm_kind)(kind - kinds)));
}

static struct tdm_value get_bar(const struct tdm_field *field)
{
	const struct tdm_picture_kind *kind = field->row;
	const struct tdm_term *term = field->table->context;
	int permille = tdm_picture_permille(kind->used, kind->total);
	struct tdm_buf bar = { 0 };
	if (permille >= 0)
		tdm_bar_put(&bar, permille, field->table->widths[0], term->utf8);
	struct tdm_value value =
		tdm_value_level(tdm_field_printed(field, "%s", tdm_buf_str(&bar).ptr), get_share(field).level);
	tdm_buf_done(&bar);
	return value;
}

/* The source of the used bytes and, if it differs, of the total, as names or letters. */
static struct tdm_value get_two_sources(const struct tdm_field *field)
{
	const struct tdm_picture_kind *kind = field->row;
	enum tdm_from used = (enum tdm_from)kind->used_from, total = (enum tdm_from)kind->total_from;
	const char *names[] = { tdm_from_name(used), tdm_from_name(total) };
	const char letters[][2] = { { tdm_source_letter(used) }, { tdm_source_letter(total) } };
	bool differ = total != TDM_FROM_NONE && total != used, is_short = field->column->arg != 0;
	return tdm_field_printed(field, "%s%s%s", is_short ? letters[0] : names[0], differ ? "/" : "",
		!differ    ? ""
		: is_short ? letters[1]
			   : names[1]);
}

/* The overridden source and its figures; unknown if no source was overridden. */
static struct tdm_value get_rival(const struct tdm_field *field)
{
	const struct tdm_picture_kind *kind = field->row;
	return tdm_value_if(kind->rival_from != TDM_FROM_NONE,
		tdm_field_members(field, TDM_VALUES({ "source", tdm_value_text(tdm_source_name(kind->rival_from)) },
						 { "used", tdm_value_number(kind->rival_used) },
						 { "only_there_processes", tdm_value_number(kind->rival_processes) },
						 { "only_there", tdm_value_number(kind->rival_bytes) })));
}

#define KIND(member) TDM_MEMBER(struct tdm_picture_kind, member)
#define HAS_BANKS    TDM_KNOWN_IF(struct tdm_picture_kind, banks)
#define SIZE         .before = 1, TDM_BYTES
#define FIGURE(id)   .get = get_figure, .arg = TDM_AMOUNT_##id
static const struct tdm_column kind_columns[] = {
	{ "Memory", "kind", TDM_INDEX, .flags = TDM_IS_KIND, .width = 10 },
	{ "Used", "used", FIGURE(USED), SIZE },
	{ "Total", "total", FIGURE(TOTAL), SIZE },
	{ "Free", "free", FIGURE(FREE), SIZE },
	{ "Largest", "largest_free", KIND(largest_free), SIZE },
	{ "Peak", "peak", FIGURE(PEAK), .format = tdm_format_bytes, .width = 11 },
	{ "Share", NULL, .get = get_share, .width = 7, .flags = TDM_OTHER_SIDE },
	{ "", NULL, .get = get_bar, .before = 2, .width = TDM_WIDTH_OF_TABLE },
	{ "Src", NULL, .get = get_two_sources, .arg = 1, .before = 1 },
	{ "Source", NULL, .get = get_two_sources, .before = 2 },
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
	{ NULL, "source", KIND(used_from), .get = tdm_get_source },
	{ NULL, "total_source", KIND(total_from), .get = tdm_get_source },
	{ NULL, "rival", .get = get_rival },
};

struct tdm_table tdm_kind_table(const struct tdm_picture_device *device, const struct tdm_term *term, size_t bar)
{
	enum { BAR = 7, LETTERS, WORDS };
	return (struct tdm_table){ TDM_COLUMNS(kind_columns), device->kinds, sizeof *device->kinds, TDM_KIND_COUNT,
		.context = term, .unknown = "unknown", .units = TDM_UNITS_ROW, .widths = { bar },
		.hidden = (bar == 0 ? 1 << BAR | 1 << WORDS : 1 << LETTERS) };
}

static struct tdm_value get_part_bytes(const struct tdm_field *field)
{
	const struct tdm_l1_amount *item = field->row;
	struct tdm_value value = tdm_value_number(item->bytes);
	value.mark = item->is_inferred && item->bytes != TDM_BYTES_UNKNOWN ? '~' : '\0';
	return value;
}

static struct tdm_value get_part_share(const struct tdm_field *field)
{
	const struct tdm_l1_account *account = field->table->context;
	return share_of(field, ((const struct tdm_l1_amount *)field->row)->bytes, account->total);
}

#define PART(member) TDM_MEMBER(struct tdm_l1_amount, member)
static const struct tdm_column part_columns[] = {
	{ "", NULL, PART(title), .width = 20 },
	{ NULL, "part", PART(name) },
	{ "", "bytes", .get = get_part_bytes, .format = tdm_format_bytes, .width = 11, .unknown = "unknown" },
	{ NULL, "inferred", PART(is_inferred) },
	{ "", NULL, .get = get_part_share, .width = 7, .flags = TDM_OTHER_SIDE },
	{ "", "source", PART(text), .before = 2 },
};

struct tdm_table tdm_l1_table(const struct tdm_l1_account *account)
{
	return (struct tdm_table){ TDM_COLUMNS(part_columns), account->items, sizeof *account->items, TDM_L1_ITEM_COUNT,
		.context = account, .units = TDM_UNITS_COLUMN, .has_no_head = true, .indent = 2 };
}
