/* Shows cards: either a table of all cards, or one card with its figures, its capacity by region, the L1 of a core,
 * tile sizes, the source of each value, and the reasons why figures are unknown. */
#include "analyze/card/card_result.h"

#include "base/memory.h"
#include "model/card/bank.h"
#include "model/card/data_format.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- regions: those from which the runtime allocates, and those it keeps for itself ---- */

struct region {
	uint8_t kind;
	const char *label; /* name in text: "L1_SMALL", "kernel config" */
	enum tdm_card_field size_field, banks_field;
	const char *source;  /* source of the field that determines the region's size */
	uint64_t banks;      /* TDM_BYTES_UNKNOWN if unknown, as for the next figures */
	uint64_t base, size; /* per bank */
	uint64_t total, card_total;
};

static const struct region known_regions[] = {
	{ TDM_KIND_DRAM, "DRAM", .size_field = TDM_CARD_DRAM_BANK_SIZE, .banks_field = TDM_CARD_DRAM_BANKS },
	{ TDM_KIND_TRACE, "TRACE", .size_field = TDM_CARD_TRACE_REGION, .banks_field = TDM_CARD_DRAM_BANKS },
	{ TDM_KIND_L1, "L1", .size_field = TDM_CARD_L1_SIZE, .banks_field = TDM_CARD_L1_BANKS },
	{ TDM_KIND_L1_SMALL, "L1_SMALL", .size_field = TDM_CARD_L1_SMALL, .banks_field = TDM_CARD_L1_BANKS },
	{ TDM_KIND_CONFIG, "kernel config", .size_field = TDM_CARD_KERNEL_CONFIG, .banks_field = TDM_CARD_L1_BANKS },
	{ TDM_KIND_FIRMWARE, "firmware", .size_field = TDM_CARD_MAP_END, .banks_field = TDM_CARD_L1_BANKS },
};

enum { REGIONS = sizeof known_regions / sizeof *known_regions };

/* Sets base and size of a region; both stay unknown if they depend on an unknown figure. */
static void place(const struct tdm_card *card, struct region *region)
{
	struct tdm_bank_range range;
	region->base = region->size = TDM_BYTES_UNKNOWN;
	if (region->kind == TDM_KIND_FIRMWARE) {
		region->base = 0;
		region->size = tdm_card_get(card, TDM_CARD_MAP_END);
	} else if (region->kind == TDM_KIND_CONFIG) {
		region->base = tdm_card_get(card, TDM_CARD_MAP_END);
		region->size = tdm_card_get(card, TDM_CARD_KERNEL_CONFIG);
	} else if (tdm_bank_range(card, (enum tdm_kind)region->kind, &range, NULL) == 0) {
		region->base = range.base;
		region->size = range.size;
	}
}

#define REGION(member) TDM_MEMBER(struct region, member)
static const struct tdm_column region_columns[] = {
	{ "Region", NULL, REGION(label) },
	{ NULL, "kind", REGION(kind), .flags = TDM_IS_KIND },
	{ "Banks", "banks", REGION(banks), TDM_COUNT(0) },
	{ NULL, "base", REGION(base) },
	{ "Bytes per bank", "size_per_bank", REGION(size), TDM_COUNT(0) },
	{ "Per bank", NULL, REGION(size), TDM_SIZE(0) },
	{ "Device total", "total_bytes", REGION(total), TDM_SIZE(0) },
	{ "Card total", NULL, REGION(card_total), TDM_SIZE(0) },
	{ NULL, "source", REGION(source) },
};

enum { CARD_TOTAL = 1 << 7 }; /* a column that is redundant for a card with one chip */

static void add_regions(struct tdm_block *in, const struct tdm_card *card)
{
	uint64_t chips = tdm_card_get(card, TDM_CARD_CHIPS);
	struct region *regions = tdm_result_alloc(in->result, REGIONS, sizeof *regions);
	struct tdm_table table = TDM_FITTED(region_columns, regions, REGIONS);
	for (size_t i = 0; i < REGIONS; i++) {
		regions[i] = known_regions[i];
		regions[i].source = card->source[regions[i].size_field];
		regions[i].banks = tdm_card_get(card, regions[i].banks_field);
		place(card, &regions[i]);
		regions[i].total = tdm_times(regions[i].size, regions[i].banks);
		regions[i].card_total = tdm_times(regions[i].total, chips != TDM_BYTES_UNKNOWN ? chips : 1);
	}
	table.unknown = "unknown";
	table.indent = 2;
	table.hidden = chips != TDM_BYTES_UNKNOWN && chips > 1 ? 0 : CARD_TOTAL;
	tdm_add_table(in, "regions", "Capacity by region", table);
}

/* ---- the L1 of a core ---- */

static struct tdm_value get_zone(const struct tdm_field *field)
{
	static const char *const keys[TDM_L1_ZONE_COUNT] = {
		[TDM_L1_FIRMWARE] = "firmware",
		[TDM_L1_KERNEL_CONFIG] = "config",
		[TDM_L1_CBS] = "cb",
		[TDM_L1_GAP] = "free",
		[TDM_L1_BUFFERS] = "l1",
		[TDM_L1_SMALL_REGION] = "l1_small",
	};
	return tdm_value_text(keys[((const struct tdm_l1_span *)field->row)->zone]);
}

static const struct tdm_column span_columns[] = {
	{ NULL, "zone", .get = get_zone },
	{ NULL, "address", TDM_MEMBER(struct tdm_l1_span, address) },
	{ NULL, "size", TDM_MEMBER(struct tdm_l1_span, size) },
};

static void add_l1(struct tdm_block *in, const struct tdm_card *card)
{
	struct tdm_l1_map *map = tdm_result_alloc(in->result, 1, sizeof *map);
	struct tdm_diag diag = { 0 };
	if (tdm_l1_map(card, &(struct tdm_l1_use){ 0 }, map, &diag) == 0) {
		tdm_add_table(in, "l1_map", NULL, TDM_FITTED(span_columns, map->span, TDM_L1_ZONE_COUNT))
			->is_data_only = true;
		tdm_add_l1_map(in, "L1 of one core", map);
		return;
	}
	tdm_data(in, "l1_map", tdm_value_text(NULL));
	tdm_say(tdm_add_group(in, NULL, "L1 of one core"), "{_why}",
		TDM_VALUES({ "_why", tdm_value_text(tdm_result_printed(in->result, "%s", diag.text)) }));
}

static struct tdm_value get_address(const struct tdm_field *field)
{
	return tdm_field_printed(field, "0x%06" PRIx64, ((const struct tdm_l1_part *)field->row)->address);
}

#define PART(member) TDM_MEMBER(struct tdm_l1_part, member)
static const struct tdm_column part_columns[] = {
	{ "Address", "address", PART(address) },
	{ "", NULL, .get = get_address },
	{ "Bytes", "size", PART(size), TDM_COUNT(0) },
	{ "Name", "name", PART(name) },
	{ NULL, "source", PART(source) },
};

static void add_firmware(struct tdm_block *in, const struct tdm_card *card)
{
	struct tdm_table table = TDM_FITTED(part_columns, card->parts, card->part_count);
	table.indent = 2;
	if (card->part_count != 0) {
		tdm_add_table(in, "firmware", "Firmware's part of L1", table);
		return;
	}
	tdm_data(in, "firmware", tdm_value_text(NULL));
	tdm_say(tdm_add_group(in, NULL, "Firmware's part of L1"), "unknown: no map of it is known for this card", NULL);
}

/* ---- tiles ---- */

#define FORMAT(member) TDM_MEMBER(struct tdm_data_format, member)
static const struct tdm_column format_columns[] = {
	{ NULL, "name", FORMAT(name) },
	{ NULL, "alias", FORMAT(alias) },
	{ NULL, "number", FORMAT(number) },
	{ NULL, "tile_bytes", FORMAT(tile_bytes), .flags = TDM_ZERO_IS_UNKNOWN },
};

/* All formats with this tile size. */
static const char *names_of(struct tdm_result *result, uint32_t tile_bytes)
{
	struct tdm_buf names = { 0 };
	for (size_t i = 0; i < tdm_data_format_count; i++) {
		const struct tdm_data_format *format = &tdm_data_formats[i];
		if (format->tile_bytes != tile_bytes)
			continue;
		tdm_buf_printf(&names, "%s%s", names.len != 0 ? ", " : "", format->name);
		if (format->alias != NULL)
			tdm_buf_printf(&names, " (%s)", format->alias);
	}
	const char *copy = tdm_result_printed(result, "%s", tdm_buf_str(&names).ptr);
	tdm_buf_done(&names);
	return copy;
}

/* ---- banks of cores ---- */

#define CORE(member) TDM_MEMBER(struct tdm_core, member)
static const struct tdm_column core_columns[] = {
	{ NULL, "bank", TDM_INDEX },
	{ NULL, "x", CORE(x) },
	{ NULL, "y", CORE(y) },
};

static uint32_t bank_at(const struct tdm_core *cores, uint32_t banks, uint32_t x, uint32_t y)
{
	uint32_t bank = 0;
	while (bank < banks && (cores[bank].x != x || cores[bank].y != y))
		bank++;
	return bank;
}

/* Shows the compute grid, with the bank number of each core. */
static void add_grid(
	struct tdm_block *in, const struct tdm_core *cores, uint32_t banks, uint32_t width, uint32_t height)
{
	for (uint32_t y = 0; y <= height; y++) {
		struct tdm_buf line = { 0 };
		for (uint32_t x = 0; x < width; x++)
			tdm_buf_printf(&line, "%5" PRIu32, y == 0 ? x : bank_at(cores, banks, x, y - 1));
		tdm_line(in, y == 0 ? "y\\x" : tdm_result_printed(in->result, "%3" PRIu32, y - 1), "{_row}",
			TDM_VALUES({ "_row", tdm_value_text(tdm_result_printed(in->result, "%s", line.data)) }));
		tdm_buf_done(&line);
	}
}

static void add_banks(struct tdm_block *in, const struct tdm_card *card, bool shows_grid)
{
	uint64_t x = tdm_card_get(card, TDM_CARD_GRID_X), y = tdm_card_get(card, TDM_CARD_GRID_Y);
	uint64_t banks = tdm_card_get(card, TDM_CARD_L1_BANKS);
	bool is_known = banks <= TDM_BANK_CORES_MAX && x <= TDM_BANK_CORES_MAX && y <= TDM_BANK_CORES_MAX;
	struct tdm_core *cores = tdm_result_alloc(in->result, is_known ? (size_t)banks : 1, sizeof *cores);
	struct tdm_block *grid = shows_grid ? tdm_add_group(in, NULL, "L1 bank of each core") : NULL;
	is_known = is_known && tdm_bank_cores((uint32_t)x, (uint32_t)y, cores, (uint32_t)banks) == 0;
	if (is_known) {
		tdm_add_table(in, "l1_bank_cores", NULL, TDM_FITTED(core_columns, cores, (size_t)banks))->is_data_only =
			true;
		if (grid != NULL)
			add_grid(grid, cores, (uint32_t)banks, (uint32_t)x, (uint32_t)y);
	} else {
		tdm_data(in, "l1_bank_cores", tdm_value_text(NULL));
		if (grid != NULL)
			tdm_say(grid,
				"unknown: the compute grid and the number of L1 banks do not agree, or are not known",
				NULL);
	}
}

/* ---- figures ---- */

/* Formats "8 x 8". */
static struct tdm_value grid_of(struct tdm_block *in, uint64_t x, uint64_t y)
{
	if (x == TDM_BYTES_UNKNOWN || y == TDM_BYTES_UNKNOWN)
		return tdm_value_text("unknown");
	return tdm_value_text(tdm_result_printed(in->result, "%" PRIu64 " x %" PRIu64, x, y));
}

/* A figure for a sentence; an unknown figure is replaced by its name. */
static struct tdm_value figure(const struct tdm_card *card, enum tdm_card_field field, enum tdm_unit unit)
{
	uint64_t number = tdm_card_get(card, field);
	return number != TDM_BYTES_UNKNOWN ? tdm_value_of(number, unit) : tdm_value_text("unknown");
}

static void add_variant(struct tdm_block *in, const struct tdm_card *card)
{
	const struct tdm_card_variant *variant = &card->variant;
	const char *dispatch = tdm_dispatch_name(tdm_card_dispatch(card));
	tdm_line(in, "dispatch", "{variant.dispatch}|{_default} (default)",
		TDM_VALUES({ "variant.dispatch", tdm_value_text(dispatch) },
			{ "_default", tdm_value_bool(variant->dispatch == TDM_DISPATCH_DEFAULT) }));
	tdm_line(in, "variant",
		"{=variant.old_firmware/old/current} firmware, {=variant.tracy/Tracy build/no "
		"Tracy}|{variant.fabric_mux}, "
		"fabric mux",
		TDM_VALUES({ "variant.tracy", tdm_value_bool(variant->tracy) },
			{ "variant.old_firmware", tdm_value_bool(variant->old_firmware) },
			{ "variant.fabric_mux", tdm_value_bool(variant->fabric_mux) }));
	tdm_data(in, "variant.harvested", tdm_value_number(tdm_card_get(card, TDM_CARD_HARVESTED)));
}

static void add_memory(struct tdm_block *in, const struct tdm_card *card)
{
	uint64_t base = card->value[TDM_CARD_DRAM_BASE], ethernet = card->value[TDM_CARD_ETH_L1_SIZE];
	tdm_line(in, "L1", "{_core} a core, |{_ethernet} an Ethernet core|{_none}no Ethernet cores",
		TDM_VALUES({ "_core", figure(card, TDM_CARD_L1_SIZE, TDM_UNIT_BYTES) },
			{ "_ethernet",
				tdm_value_if(ethernet != 0, figure(card, TDM_CARD_ETH_L1_SIZE, TDM_UNIT_BYTES)) },
			{ "_none", tdm_value_bool(ethernet == 0) }));
	tdm_line(in, "DRAM",
		"{_banks} banks of {_size}, |buffers from address {#_base} ({_hex})|{_no_base}first address for "
		"buffers unknown",
		TDM_VALUES({ "_banks", figure(card, TDM_CARD_DRAM_BANKS, TDM_UNIT_COUNT) },
			{ "_size", figure(card, TDM_CARD_DRAM_BANK_SIZE, TDM_UNIT_BYTES) },
			{ "_base", tdm_value_number(base) }, { "_hex", tdm_value_of(base, TDM_UNIT_ADDRESS) },
			{ "_no_base", tdm_value_bool(base == TDM_BYTES_UNKNOWN) }));
	tdm_line(in, "alignment", "L1 {_l1}, DRAM {_dram}, PCIe {_pcie}",
		TDM_VALUES({ "_l1", figure(card, TDM_CARD_L1_ALIGN, TDM_UNIT_BYTES) },
			{ "_dram", figure(card, TDM_CARD_DRAM_ALIGN, TDM_UNIT_BYTES) },
			{ "_pcie", figure(card, TDM_CARD_PCIE_ALIGN, TDM_UNIT_BYTES) }));
	tdm_line(in, "circular buffers", "{_count} a core, most pages of one: {_pages}",
		TDM_VALUES({ "_count", figure(card, TDM_CARD_CB_COUNT, TDM_UNIT_COUNT) },
			{ "_pages", figure(card, TDM_CARD_CB_MAX_PAGES, TDM_UNIT_COUNT) }));
}

static void add_fields(struct tdm_block *in, const struct tdm_card *card)
{
	struct tdm_block *fields = tdm_add_group(in, "fields", NULL);
	fields->is_data_only = true;
	for (enum tdm_card_field f = 0; f < TDM_CARD_FIELD_COUNT; f++) {
		struct tdm_block *field = tdm_add_group(fields, tdm_card_field_name(f), NULL);
		tdm_data_all(
			field, TDM_VALUES({ "value", tdm_value_number(tdm_card_get(card, f)) },
				       { "unit", tdm_value_text(tdm_card_field_unit(f) == 'B' ? "bytes" : "count") },
				       { "overridden", tdm_value_bool(card->is_set[f]) },
				       { "source", tdm_value_text(card->source[f]) }));
	}
}

static struct tdm_value source_of(const char *source)
{
	return tdm_value_text(source != NULL ? source : "not stated");
}

/* Lists every unknown field with the reason; nothing if all fields are known. */
static void add_unknown(struct tdm_block *in, const struct tdm_card *card)
{
	struct tdm_block *group = tdm_add_group(in, NULL, "Unknown, and why");
	for (enum tdm_card_field f = 0; f < TDM_CARD_FIELD_COUNT; f++)
		if (tdm_card_get(card, f) == TDM_BYTES_UNKNOWN)
			tdm_line(group, tdm_card_field_name(f), "{_source}",
				TDM_VALUES({ "_source", source_of(card->source[f]) }));
}

/* Lists the source of each value. */
static void add_sources(struct tdm_block *in, const struct tdm_card *card)
{
	struct tdm_block *group = tdm_add_group(in, NULL, "Fields of the card, and where each value comes from");
	for (enum tdm_card_field f = 0; f < TDM_CARD_FIELD_COUNT; f++) {
		bool is_bytes = tdm_card_field_unit(f) == 'B' && tdm_card_get(card, f) != TDM_BYTES_UNKNOWN;
		tdm_line(group, tdm_card_field_name(f),
			is_bytes ? "{_value} B: {_summary}; {_source}" : "{_value}: {_summary}; {_source}",
			TDM_VALUES({ "_value", figure(card, f, TDM_UNIT_COUNT) },
				{ "_summary", tdm_value_text(tdm_card_field_summary(f)) },
				{ "_source", source_of(card->source[f]) }));
	}
	if (card->part_count != 0)
		group = tdm_add_group(in, NULL, "Parts of the firmware's L1, and where each comes from");
	for (size_t i = 0; i < card->part_count; i++)
		tdm_line(group, card->parts[i].name, "{_source}",
			TDM_VALUES({ "_source", source_of(card->parts[i].source) }));
}

void tdm_card_show(struct tdm_block *in, const struct tdm_card *card, bool banks, bool sources)
{
	struct tdm_block *head = tdm_add_group(in, NULL, card->full_name);
	tdm_data(head, "full_name", tdm_value_text(card->full_name));
	tdm_fact(head, "name", "name", tdm_value_text(card->name));
	tdm_fact(head, "architecture", "arch", tdm_value_text(tdm_arch_name(card->arch)));
	tdm_line(head, "chips", card->value[TDM_CARD_CHIPS] == 1 ? "{_chips}" : "{_chips}; the figures are of one chip",
		TDM_VALUES({ "_chips", figure(card, TDM_CARD_CHIPS, TDM_UNIT_COUNT) }));
	tdm_data(head, "chips", tdm_value_number(card->value[TDM_CARD_CHIPS]));
	const uint64_t *value = card->value;
	uint64_t harvested = value[TDM_CARD_HARVESTED];
	bool is_some = tdm_is_some(harvested), is_column = card->arch == TDM_ARCH_BLACKHOLE;
	tdm_line(head, "compute grid", "{_grid}|, {_cores} cores",
		TDM_VALUES({ "_grid", grid_of(head, value[TDM_CARD_GRID_X], value[TDM_CARD_GRID_Y]) },
			{ "_cores", tdm_value_count(value[TDM_CARD_L1_BANKS]) }));
	tdm_line(head, "Tensix cores",
		"{_grid}|, {_rows/row/rows} harvested|, {_columns/column/columns} harvested|, {_other}",
		TDM_VALUES({ "_grid", grid_of(head, value[TDM_CARD_WORKERS_X], value[TDM_CARD_WORKERS_Y]) },
			{ "_rows", tdm_value_if(is_some && !is_column, tdm_value_count(harvested)) },
			{ "_columns", tdm_value_if(is_some && is_column, tdm_value_count(harvested)) },
			{ "_other", tdm_value_text(is_some          ? NULL
						   : harvested == 0 ? "none harvested"
								    : "harvesting unknown") }));
	add_variant(head, card);
	add_memory(head, card);
	add_fields(in, card);
	add_regions(in, card);
	add_l1(in, card);
	add_firmware(in, card);
	struct tdm_block *group = tdm_add_group(in, NULL, "Bytes of a 32 x 32 tile");
	for (uint32_t above = UINT32_MAX, next; above != 0; above = next) { /* from large to small sizes */
		next = 0;
		for (size_t i = 0; i < tdm_data_format_count; i++)
			if (tdm_data_formats[i].tile_bytes < above && tdm_data_formats[i].tile_bytes > next)
				next = tdm_data_formats[i].tile_bytes;
		if (next != 0)
			tdm_line(group, tdm_result_printed(in->result, "%7" PRIu32 " B", next), "{_names}",
				TDM_VALUES({ "_names", tdm_value_text(names_of(in->result, next)) }));
	}
	tdm_add_table(in, "data_formats", NULL, TDM_FITTED(format_columns, tdm_data_formats, tdm_data_format_count))
		->is_data_only = true;
	add_unknown(in, card);
	add_banks(in, card, banks);
	if (sources)
		add_sources(in, card);
}

/* ---- all cards ---- */

static struct tdm_value get_arch(const struct tdm_field *field)
{
	return tdm_value_text(tdm_arch_name(((const struct tdm_card *)field->row)->arch));
}

static struct tdm_value get_grid(const struct tdm_field *field)
{
	uint64_t x = tdm_card_get(field->row, TDM_CARD_GRID_X), y = tdm_card_get(field->row, TDM_CARD_GRID_Y);
	return x == TDM_BYTES_UNKNOWN || y == TDM_BYTES_UNKNOWN
		       ? tdm_value_text(NULL)
		       : tdm_field_printed(field, "%" PRIu64 "x%" PRIu64, x, y);
}

static struct tdm_value get_dram(const struct tdm_field *field)
{
	return tdm_value_number(tdm_times(
		tdm_card_get(field->row, TDM_CARD_DRAM_BANKS), tdm_card_get(field->row, TDM_CARD_DRAM_BANK_SIZE)));
}

static struct tdm_value get_for_buffers(const struct tdm_field *field)
{
	struct tdm_bank_range range;
	return tdm_value_number(
		tdm_bank_range(field->row, TDM_KIND_L1, &range, NULL) == 0 ? range.size : TDM_BYTES_UNKNOWN);
}

#define CARD(member) TDM_MEMBER(struct tdm_card, member)
static const struct tdm_column card_columns[] = {
	{ "Card", "name", CARD(name) },
	{ NULL, "full_name", CARD(full_name) },
	{ "Arch", "arch", .get = get_arch },
	{ "Chips", "chips", CARD(value[TDM_CARD_CHIPS]), TDM_COUNT(0) },
	{ "Grid", NULL, .get = get_grid },
	{ NULL, "grid_x", CARD(value[TDM_CARD_GRID_X]) },
	{ NULL, "grid_y", CARD(value[TDM_CARD_GRID_Y]) },
	{ "Cores", "l1_banks", CARD(value[TDM_CARD_L1_BANKS]), TDM_COUNT(0) },
	{ "DRAM", NULL, .get = get_dram, TDM_SIZE(0) },
	{ "L1 a core", "l1_size", CARD(value[TDM_CARD_L1_SIZE]), TDM_SIZE(0) },
	{ NULL, "l1_base", CARD(value[TDM_CARD_L1_BASE]) },
	{ "for buffers", NULL, .get = get_for_buffers, TDM_SIZE(0) },
	{ NULL, "dram_banks", CARD(value[TDM_CARD_DRAM_BANKS]) },
	{ NULL, "dram_bank_size", CARD(value[TDM_CARD_DRAM_BANK_SIZE]) },
};

int tdm_cards_show(struct tdm_block *in, const char *const *names)
{
	struct tdm_card_variant variant = tdm_card_variant_default();
	size_t count = 0;
	while (names[count] != NULL)
		count++;
	struct tdm_card *cards = tdm_result_alloc(in->result, count, sizeof *cards);
	struct tdm_table table = TDM_FITTED(card_columns, cards, count);
	table.unknown = "unknown";
	for (size_t i = 0; i < count; i++) {
		int err = tdm_card_init(&cards[i], tdm_str_of(names[i]), &variant, NULL);
		if (err != 0)
			return err;
	}
	tdm_add_table(in, "devices", NULL, table);
	tdm_say(in, "Grid, cores and DRAM are those of one chip. 'tidemark device show CARD' has the rest.", NULL)
		->is_apart = true;
	return 0;
}
