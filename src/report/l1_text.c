/*
 * Every zone that is not empty is a box. Two boxes share a border, which has the address of the upper one:
 *
 *     1499136  0x16e000 ┌──────────────┐
 *                       │              │  name     size
 *      105664  0x019cc0 ├──────────────┤
 *
 * Arrows in the gap show what grows into it from each side.
 */
#include "report/l1_text.h"
#include "base/units.h"
#include "base/wrap.h"

#include <inttypes.h>
#include <math.h>

enum { ROWS = 15, GAP_ROWS_MIN = 5, INSIDE = 28, NAME_COLUMNS = 16, SIZE_COLUMNS = 10 };

struct border {
	const char *left, *right;
};

struct glyphs {
	const char *side, *line, *up, *down;
	struct border top, middle, bottom;
	const char *fill[TDM_L1_ZONE_COUNT]; /* the inside of each zone, in order */
};

static const struct glyphs unicode = { "│", "─", "▲", "▼", { "┌", "┐" }, { "├", "┤" }, { "└", "┘" },
	{ "▓", "▒", "░", " ", "░", "▒" } };
static const struct glyphs ascii = { "|", "-", "^", "v", { "+", "+" }, { "+", "+" }, { "+", "+" },
	{ "#", "=", ":", " ", ":", "=" } };

static const char *const zone_styles[TDM_L1_ZONE_COUNT] = {
	[TDM_L1_FIRMWARE] = TDM_STYLE_RED,
	[TDM_L1_KERNEL_CONFIG] = TDM_STYLE_YELLOW,
	[TDM_L1_CBS] = TDM_STYLE_GREEN,
	[TDM_L1_GAP] = "",
	[TDM_L1_BUFFERS] = TDM_STYLE_CYAN,
	[TDM_L1_SMALL_REGION] = TDM_STYLE_MAGENTA,
};

struct pen {
	struct tdm_buf *out;
	const struct tdm_term *term;
	const struct glyphs *glyphs;
};

static uint64_t square_root(uint64_t x)
{
	return (uint64_t)sqrt((double)x);
}

static void repeat(const struct pen *pen, const char *glyph, int count)
{
	for (int i = 0; i < count; i++)
		tdm_buf_puts(pen->out, glyph);
}

static void styled(const struct pen *pen, const char *style, const char *text, int count)
{
	tdm_buf_puts(pen->out, tdm_term_style(pen->term, style));
	repeat(pen, text, count);
	tdm_buf_puts(pen->out, tdm_term_style(pen->term, style[0] != '\0' ? TDM_STYLE_OFF : ""));
}

static void put_border(const struct pen *pen, uint64_t address, const struct border *border)
{
	tdm_buf_printf(pen->out, "%9" PRIu64 "  0x%06" PRIx64 " %s", address, address, border->left);
	repeat(pen, pen->glyphs->line, INSIDE);
	tdm_buf_printf(pen->out, "%s\n", border->right);
}

/* "▼ L1 buffers grow down", in the middle of the box. */
static void put_arrow(const struct pen *pen, const char *arrow, enum tdm_l1_zone zone, const char *text)
{
	int left = (INSIDE - 2 - (int)strlen(text)) / 2;
	tdm_buf_fill(pen->out, ' ', (size_t)left);
	styled(pen, zone_styles[zone], arrow, 1);
	tdm_buf_putc(pen->out, ' ');
	styled(pen, zone_styles[zone], text, 1);
	tdm_buf_fill(pen->out, ' ', (size_t)(INSIDE - 2 - left) - strlen(text));
}

static void put_inside(const struct pen *pen, enum tdm_l1_zone zone, int row, int rows)
{
	if (zone == TDM_L1_GAP && rows >= GAP_ROWS_MIN && row == 0) {
		put_arrow(pen, pen->glyphs->down, TDM_L1_BUFFERS, "L1 buffers grow down");
	} else if (zone == TDM_L1_GAP && rows >= GAP_ROWS_MIN && row == rows - 1) {
		put_arrow(pen, pen->glyphs->up, TDM_L1_CBS, "circular buffers grow up");
	} else {
		styled(pen, zone_styles[zone], pen->glyphs->fill[zone], INSIDE);
	}
}

/* Name and size of the zone, to the right of its box. */
static void put_label(const struct pen *pen, const struct tdm_l1_span *span)
{
	char size[TDM_BYTES_CAP];
	const char *name = tdm_l1_zone_name(span->zone);
	tdm_buf_puts(pen->out, "  ");
	styled(pen, zone_styles[span->zone], name, 1);
	tdm_buf_printf(pen->out, "%*s%*s B", NAME_COLUMNS - (int)strlen(name), "", SIZE_COLUMNS,
		tdm_format_count(size, sizeof size, span->size));
}

static void put_box(const struct pen *pen, const struct tdm_l1_span *span, int rows)
{
	for (int row = 0; row < rows; row++) {
		tdm_buf_printf(pen->out, "%9s  %8s %s", "", "", pen->glyphs->side);
		put_inside(pen, span->zone, row, rows);
		tdm_buf_puts(pen->out, pen->glyphs->side);
		if (row == rows / 2)
			put_label(pen, span);
		tdm_buf_putc(pen->out, '\n');
	}
}

static int rows_of(const struct tdm_l1_span *span, uint64_t sum_of_roots)
{
	int rows = (int)((square_root(span->size) * ROWS + sum_of_roots / 2) / sum_of_roots);
	int least = span->zone == TDM_L1_GAP ? GAP_ROWS_MIN : 1;
	return rows > least ? rows : least;
}

void tdm_l1_text(struct tdm_buf *out, const struct tdm_l1_map *map, const struct tdm_term *term)
{
	struct pen pen = { out, term, term->utf8 ? &unicode : &ascii };
	const struct border *border = &pen.glyphs->top;
	uint64_t sum_of_roots = 0;
	for (size_t i = 0; i < TDM_L1_ZONE_COUNT; i++)
		sum_of_roots += square_root(map->span[i].size);
	for (size_t i = TDM_L1_ZONE_COUNT; i-- > 0;) {
		const struct tdm_l1_span *span = &map->span[i];
		if (span->size == 0)
			continue;
		put_border(&pen, span->address + span->size, border);
		put_box(&pen, span, rows_of(span, sum_of_roots));
		border = &pen.glyphs->middle;
	}
	put_border(&pen, 0, &pen.glyphs->bottom);
}
