/* A card as a page of text. Sections have bold titles. Figures that are not known for a card are printed as "unknown"
 * in their place, and the last section explains each of them. */
#include "report/device_report.h"
#include "base/wrap.h"
#include "device/data_format.h"
#include "device/l1_map.h"
#include "report/device_tables.h"
#include "report/l1_text.h"
#include "report/report_put.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	INDENT = 2,
	LABEL_COLUMNS = 20,
	FORMAT_COLUMN = 13,
	SUMMARY_COLUMN = 36,
	SOURCE_INDENT = 6,
	PART_COLUMN = 28,
	CELL_CAP = 48,
};

static const char *bytes_text(char *dst, uint64_t bytes)
{
	return tdm_format_bytes_short(dst, CELL_CAP, bytes);
}

static const char *count_text(char *dst, uint64_t count)
{
	return tdm_format_count(dst, CELL_CAP, count);
}

#define LABEL "  %-18s" /* up to LABEL_COLUMNS */

/* "8 x 8", or "unknown". */
static const char *grid_text(char *dst, uint64_t x, uint64_t y)
{
	if (x == TDM_BYTES_UNKNOWN || y == TDM_BYTES_UNKNOWN)
		snprintf(dst, CELL_CAP, "unknown");
	else
		snprintf(dst, CELL_CAP, "%" PRIu64 " x %" PRIu64, x, y);
	return dst;
}

static void put_cores(struct tdm_buf *out, const struct tdm_card *card)
{
	char grid[CELL_CAP], cores[CELL_CAP];
	const uint64_t *value = card->value;
	uint64_t harvested = value[TDM_CARD_HARVESTED];
	const char *line = card->arch == TDM_ARCH_BLACKHOLE ? "column" : "row";

	tdm_buf_printf(
		out, LABEL "%s", "compute grid", grid_text(grid, value[TDM_CARD_GRID_X], value[TDM_CARD_GRID_Y]));
	if (value[TDM_CARD_L1_BANKS] != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, ", %s cores", count_text(cores, value[TDM_CARD_L1_BANKS]));
	tdm_buf_printf(out, "\n" LABEL "%s, ", "Tensix cores",
		grid_text(grid, value[TDM_CARD_WORKERS_X], value[TDM_CARD_WORKERS_Y]));
	if (harvested == TDM_BYTES_UNKNOWN)
		tdm_buf_puts(out, "harvesting unknown\n");
	else if (harvested == 0)
		tdm_buf_puts(out, "none harvested\n");
	else
		tdm_buf_printf(out, "%" PRIu64 " %s%s harvested\n", harvested, line, tdm_plural(harvested));
}

static void put_variant(struct tdm_buf *out, const struct tdm_card *card)
{
	const struct tdm_card_variant *variant = &card->variant;
	tdm_buf_printf(out, LABEL "%s%s\n", "dispatch", tdm_dispatch_name(tdm_card_dispatch(card)),
		variant->dispatch == TDM_DISPATCH_DEFAULT ? " (default)" : "");
	tdm_buf_printf(out, LABEL "%s firmware, %s%s\n", "variant", variant->old_firmware ? "old" : "current",
		variant->tracy ? "Tracy build" : "no Tracy", variant->fabric_mux ? ", fabric mux" : "");
}

static void put_memory(struct tdm_buf *out, const struct tdm_card *card)
{
	char a[CELL_CAP], b[CELL_CAP], c[CELL_CAP];
	const uint64_t *value = card->value;
	uint64_t base = value[TDM_CARD_DRAM_BASE], ethernet = value[TDM_CARD_ETH_L1_SIZE];

	tdm_buf_printf(out, LABEL "%s a core, %s%s\n", "L1", bytes_text(a, value[TDM_CARD_L1_SIZE]),
		ethernet != 0 ? bytes_text(b, ethernet) : "no Ethernet cores",
		ethernet != 0 ? " an Ethernet core" : "");
	tdm_buf_printf(out, LABEL "%s banks of %s, ", "DRAM", count_text(a, value[TDM_CARD_DRAM_BANKS]),
		bytes_text(b, value[TDM_CARD_DRAM_BANK_SIZE]));
	if (base == TDM_BYTES_UNKNOWN)
		tdm_buf_puts(out, "first address for buffers unknown\n");
	else
		tdm_buf_printf(out, "buffers from address %" PRIu64 " (0x%" PRIx64 ")\n", base, base);
	tdm_buf_printf(out, LABEL "L1 %s, DRAM %s, PCIe %s\n", "alignment", bytes_text(a, value[TDM_CARD_L1_ALIGN]),
		bytes_text(b, value[TDM_CARD_DRAM_ALIGN]), bytes_text(c, value[TDM_CARD_PCIE_ALIGN]));
	tdm_buf_printf(out, LABEL "%s a core, most pages of one: %s\n", "circular buffers",
		count_text(a, value[TDM_CARD_CB_COUNT]), count_text(b, value[TDM_CARD_CB_MAX_PAGES]));
}

static void put_head(struct tdm_buf *out, const struct tdm_card *card, const struct tdm_term *term)
{
	char chips[CELL_CAP];
	tdm_buf_printf(out, "%s%s%s\n", tdm_term_style(term, TDM_STYLE_BOLD), card->full_name,
		tdm_term_style(term, TDM_STYLE_OFF));
	tdm_buf_printf(out, LABEL "%s\n" LABEL "%s\n", "name", card->name, "architecture", tdm_arch_name(card->arch));
	tdm_buf_printf(out, LABEL "%s%s\n", "chips", count_text(chips, card->value[TDM_CARD_CHIPS]),
		card->value[TDM_CARD_CHIPS] != 1 ? "; the figures are of one chip" : "");
	put_cores(out, card);
	put_variant(out, card);
	put_memory(out, card);
}

static void put_regions(struct tdm_buf *out, const struct tdm_card *card, const struct tdm_term *term)
{
	struct tdm_device_region regions[TDM_DEVICE_REGION_COUNT];
	struct tdm_table table = { TDM_COLUMNS(tdm_device_region_columns), regions, sizeof *regions,
		TDM_DEVICE_REGION_COUNT, .unknown = "unknown", .style = TDM_STYLE_DIM, .indent = INDENT };
	tdm_device_regions(card, regions);
	table.hidden = regions[0].chips > 1 ? 0 : TDM_DEVICE_CARD_TOTAL;
	tdm_put_heading(out, term, "Capacity by region");
	tdm_table_text(&table, term, out);
}

/* All formats whose tile has this size, as one wrapped row. */
static void put_formats_of(struct tdm_buf *out, uint32_t tile_bytes, size_t width)
{
	struct tdm_buf names;
	char size[CELL_CAP];
	tdm_buf_init(&names);
	for (size_t i = 0; i < tdm_data_format_count; i++) {
		const struct tdm_data_format *format = &tdm_data_formats[i];
		if (format->tile_bytes != tile_bytes)
			continue;
		tdm_buf_printf(&names, "%s%s", names.len != 0 ? ", " : "", format->name);
		if (format->alias != NULL)
			tdm_buf_printf(&names, " (%s)", format->alias);
	}
	tdm_buf_printf(out, "%9s B  ", count_text(size, tile_bytes));
	tdm_wrap(out, tdm_buf_str(&names), (struct tdm_wrap){ FORMAT_COLUMN, FORMAT_COLUMN, width });
	out->failed |= tdm_buf_failed(&names);
	tdm_buf_done(&names);
}

static void put_formats(struct tdm_buf *out, const struct tdm_term *term)
{
	tdm_put_heading(out, term, "Bytes of a 32 x 32 tile");
	for (uint32_t above = UINT32_MAX;;) { /* sizes from large to small */
		uint32_t next = 0;
		for (size_t i = 0; i < tdm_data_format_count; i++)
			if (tdm_data_formats[i].tile_bytes < above && tdm_data_formats[i].tile_bytes > next)
				next = tdm_data_formats[i].tile_bytes;
		if (next == 0)
			return;
		put_formats_of(out, next, term->width);
		above = next;
	}
}

static void put_l1(struct tdm_buf *out, const struct tdm_card *card, const struct tdm_term *term)
{
	struct tdm_l1_map map;
	struct tdm_diag diag = { 0 };
	tdm_put_heading(out, term, "L1 of one core");
	if (tdm_l1_map(card, &(struct tdm_l1_use){ 0 }, &map, &diag) == 0) {
		tdm_l1_text(out, &map, term);
		return;
	}
	tdm_buf_puts(out, "  ");
	tdm_wrap(out, tdm_str_of(diag.text), (struct tdm_wrap){ INDENT, INDENT, term->width });
}

static void put_parts(struct tdm_buf *out, const struct tdm_card *card, const struct tdm_term *term)
{
	const struct tdm_table table = { TDM_COLUMNS(tdm_device_part_columns), card->parts, sizeof *card->parts,
		card->part_count, .style = TDM_STYLE_DIM };
	tdm_put_heading(out, term, "Firmware's part of L1");
	tdm_table_text(&table, term, out);
	if (card->part_count == 0)
		tdm_buf_puts(out, "  unknown: no map of it is known for this card\n");
}

/* Each unknown field with its reason; nothing when everything is known. */
static void put_unknown(struct tdm_buf *out, const struct tdm_card *card, const struct tdm_term *term)
{
	bool is_first = true;
	for (enum tdm_card_field f = 0; f < TDM_CARD_FIELD_COUNT; f++) {
		if (tdm_card_get(card, f) != TDM_BYTES_UNKNOWN)
			continue;
		if (is_first)
			tdm_put_heading(out, term, "Unknown, and why");
		is_first = false;
		tdm_buf_printf(out, LABEL, tdm_card_field_name(f));
		tdm_wrap(out, tdm_str_of(card->source[f] != NULL ? card->source[f] : "not stated"),
			(struct tdm_wrap){ LABEL_COLUMNS, LABEL_COLUMNS, term->width });
	}
}

void tdm_device_text_show(struct tdm_buf *out, const struct tdm_card *card, const struct tdm_term *term)
{
	put_head(out, card, term);
	put_regions(out, card, term);
	put_l1(out, card, term);
	put_parts(out, card, term);
	put_formats(out, term);
	put_unknown(out, card, term);
}

/* Continues the current line; further lines begin in `column`. */
static void put_source(struct tdm_buf *out, const char *source, size_t column, const struct tdm_term *term)
{
	tdm_buf_puts(out, tdm_term_style(term, TDM_STYLE_DIM));
	tdm_wrap(out, tdm_str_of(source != NULL ? source : "not stated"),
		(struct tdm_wrap){ column, column, term->width });
	tdm_buf_puts(out, tdm_term_style(term, TDM_STYLE_OFF));
}

static void put_part_sources(struct tdm_buf *out, const struct tdm_card *card, const struct tdm_term *term)
{
	if (card->part_count == 0)
		return;
	tdm_put_heading(out, term, "Parts of the firmware's L1, and where each comes from");
	for (size_t i = 0; i < card->part_count; i++) {
		tdm_buf_printf(out, "  %-*s", PART_COLUMN - INDENT, card->parts[i].name);
		put_source(out, card->parts[i].source, PART_COLUMN, term);
	}
}

void tdm_device_text_sources(struct tdm_buf *out, const struct tdm_card *card, const struct tdm_term *term)
{
	char value[CELL_CAP];
	tdm_put_heading(out, term, "Fields of the card, and where each value comes from");
	for (enum tdm_card_field f = 0; f < TDM_CARD_FIELD_COUNT; f++) {
		uint64_t number = tdm_card_get(card, f);
		tdm_buf_printf(out, "  %-16s%14s%s  ", tdm_card_field_name(f), count_text(value, number),
			tdm_card_field_unit(f) == 'B' && number != TDM_BYTES_UNKNOWN ? " B" : "  ");
		tdm_wrap(out, tdm_str_of(tdm_card_field_summary(f)),
			(struct tdm_wrap){ SUMMARY_COLUMN, SUMMARY_COLUMN, term->width });
		tdm_buf_fill(out, ' ', SOURCE_INDENT);
		put_source(out, card->source[f], SOURCE_INDENT, term);
	}
	put_part_sources(out, card, term);
}

int tdm_device_text_list(struct tdm_buf *out, const char *const *names, const struct tdm_term *term)
{
	struct tdm_card_variant variant = tdm_card_variant_default();
	const struct tdm_table table = { TDM_COLUMNS(tdm_device_card_columns), .unknown = "unknown",
		.style = TDM_STYLE_BOLD };
	tdm_table_head(&table, term, out);
	for (; *names != NULL; names++) {
		struct tdm_card card;
		int err = tdm_card_init(&card, tdm_str_of(*names), &variant, NULL);
		if (err != 0)
			return err;
		tdm_table_row(&table, &card, term, out);
	}
	tdm_buf_putc(out, '\n');
	tdm_wrap(out,
		tdm_str_of("Grid, cores and DRAM are those of one chip. 'tidemark device show CARD' has the rest."),
		(struct tdm_wrap){ 0, 0, term->width });
	return 0;
}
