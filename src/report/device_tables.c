#include "report/device_tables.h"
#include "base/units.h"
#include "device/bank.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
	enum tdm_kind kind;
	const char *label;
	enum tdm_card_field field, banks;
} rows[TDM_DEVICE_REGION_COUNT] = {
	{ TDM_KIND_DRAM, "DRAM", TDM_CARD_DRAM_BANK_SIZE, TDM_CARD_DRAM_BANKS },
	{ TDM_KIND_TRACE, "TRACE", TDM_CARD_TRACE_REGION, TDM_CARD_DRAM_BANKS },
	{ TDM_KIND_L1, "L1", TDM_CARD_L1_SIZE, TDM_CARD_L1_BANKS },
	{ TDM_KIND_L1_SMALL, "L1_SMALL", TDM_CARD_L1_SMALL, TDM_CARD_L1_BANKS },
	{ TDM_KIND_CONFIG, "kernel config", TDM_CARD_KERNEL_CONFIG, TDM_CARD_L1_BANKS },
	{ TDM_KIND_FIRMWARE, "firmware", TDM_CARD_MAP_END, TDM_CARD_L1_BANKS },
};

/* Sets base and size of a region; they stay unknown when a figure that they depend on is. */
static void place(const struct tdm_card *card, struct tdm_device_region *region)
{
	struct tdm_bank_range range;
	if (region->kind == TDM_KIND_FIRMWARE) {
		region->base = 0;
		region->size = tdm_card_get(card, TDM_CARD_MAP_END);
	} else if (region->kind == TDM_KIND_CONFIG) {
		region->base = tdm_card_get(card, TDM_CARD_MAP_END);
		region->size = tdm_card_get(card, TDM_CARD_KERNEL_CONFIG);
	} else if (tdm_bank_range(card, region->kind, &range, NULL) == 0) {
		region->base = range.base;
		region->size = range.size;
	}
}

void tdm_device_regions(const struct tdm_card *card, struct tdm_device_region regions[TDM_DEVICE_REGION_COUNT])
{
	uint64_t chips = tdm_card_get(card, TDM_CARD_CHIPS);
	for (size_t i = 0; i < TDM_DEVICE_REGION_COUNT; i++) {
		struct tdm_device_region *region = &regions[i];
		*region = (struct tdm_device_region){ rows[i].kind, rows[i].label, card->source[rows[i].field],
			tdm_card_get(card, rows[i].banks), TDM_BYTES_UNKNOWN, TDM_BYTES_UNKNOWN, TDM_BYTES_UNKNOWN,
			chips != TDM_BYTES_UNKNOWN ? chips : 1 };
		place(card, region);
		region->total = tdm_times(region->size, region->banks);
	}
}

/* "1,499,136 B    1464 KiB" */
static void put_per_bank(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_device_region *region = field->row;
	char bytes[TDM_BYTES_CAP], size[TDM_BYTES_CAP];
	if (region->size == 0)
		tdm_buf_puts(out, "none");
	else if (region->size == TDM_BYTES_UNKNOWN)
		tdm_buf_puts(out, "unknown");
	else
		tdm_buf_printf(out, "%s B%12s", tdm_format_count(bytes, sizeof bytes, region->size),
			tdm_format_bytes_short(size, sizeof size, region->size));
}

/* The total of one chip, or of all chips of the card; blank for an empty region. */
static void put_total(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_device_region *region = field->row;
	char text[TDM_BYTES_CAP];
	if (region->size != 0)
		tdm_buf_puts(out, tdm_format_bytes_short(text, sizeof text,
					  tdm_times(region->total, field->column->arg != 0 ? region->chips : 1)));
}

#define REGION(member) TDM_MEMBER(struct tdm_device_region, member)
const struct tdm_column tdm_device_region_columns[] = {
	{ "Region", NULL, REGION(label), .width = 14 },
	{ NULL, "kind", REGION(kind), .flags = TDM_IS_KIND },
	{ "Banks", "banks", REGION(banks), TDM_COUNT(7) },
	{ NULL, "base", REGION(base) },
	{ "Per bank", "size_per_bank", REGION(size), .text = put_per_bank, .width = 29 },
	{ "Device total", "total_bytes", REGION(total), .text = put_total, .width = 14 },
	{ "Card total", NULL, REGION(total), .text = put_total, .arg = 1, .width = 14 },
	{ NULL, "source", REGION(source) },
};

static struct tdm_value get_arch(const struct tdm_field *field)
{
	return tdm_value_text(tdm_arch_name(((const struct tdm_card *)field->row)->arch));
}

static void put_grid(const struct tdm_field *field, struct tdm_buf *out)
{
	uint64_t x = tdm_card_get(field->row, TDM_CARD_GRID_X), y = tdm_card_get(field->row, TDM_CARD_GRID_Y);
	if (x == TDM_BYTES_UNKNOWN || y == TDM_BYTES_UNKNOWN)
		tdm_buf_puts(out, "unknown");
	else
		tdm_buf_printf(out, "%" PRIu64 "x%" PRIu64, x, y);
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
const struct tdm_column tdm_device_card_columns[] = {
	{ "Card", "name", CARD(name), .width = 11 },
	{ NULL, "full_name", CARD(full_name) },
	{ "Arch", "arch", .get = get_arch, .width = 11 },
	{ "Chips", "chips", CARD(value[TDM_CARD_CHIPS]), TDM_COUNT(5) },
	{ "Grid", NULL, .text = put_grid, .width = 9, .flags = TDM_OTHER_SIDE },
	{ NULL, "grid_x", CARD(value[TDM_CARD_GRID_X]) },
	{ NULL, "grid_y", CARD(value[TDM_CARD_GRID_Y]) },
	{ "Cores", "l1_banks", CARD(value[TDM_CARD_L1_BANKS]), TDM_COUNT(9) },
	{ "DRAM", NULL, .get = get_dram, TDM_SIZE(12) },
	{ "L1 a core", "l1_size", CARD(value[TDM_CARD_L1_SIZE]), TDM_SIZE(11) },
	{ NULL, "l1_base", CARD(value[TDM_CARD_L1_BASE]) },
	{ "for buffers", NULL, .get = get_for_buffers, TDM_SIZE(12) },
	{ NULL, "dram_banks", CARD(value[TDM_CARD_DRAM_BANKS]) },
	{ NULL, "dram_bank_size", CARD(value[TDM_CARD_DRAM_BANK_SIZE]) },
};

static char *format_address(char *dst, size_t cap, uint64_t address)
{
	snprintf(dst, cap, "0x%06" PRIx64, address);
	return dst;
}

#define PART(member) TDM_MEMBER(struct tdm_l1_part, member)
const struct tdm_column tdm_device_part_columns[] = {
	{ NULL, "name", PART(name) },
	{ "Address", "address", PART(address), .width = 9 },
	{ "", NULL, PART(address), .format = format_address, .width = 8, .before = 2 },
	{ "Bytes", "size", PART(size), TDM_COUNT(10) },
	{ "Name", NULL, PART(name), .before = 2 },
	{ NULL, "source", PART(source) },
};
