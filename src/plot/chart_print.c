/* The parts of printing on a terminal that all charts share. */
#include "base/wrap.h"
#include "plot/chart.h"

#include <stdlib.h>

/* Without colour: one character per series, the densest first. */
static const char ascii_cells[] = "#=+o-%*:@x&$";
static const char *const utf8_cells[] = { "█", "▓", "▒", "░", "▚", "▤", "▥", "▧", "▦", "▣", "▨", "▩" };

/* The nearest colour in the 6 x 6 x 6 cube of 256-colour terminals. */
static unsigned cube_colour(uint32_t rgb)
{
	static const unsigned char levels[] = { 0, 95, 135, 175, 215, 255 };
	unsigned colour = 16, weight = 36;
	for (int shift = 16; shift >= 0; shift -= 8, weight /= 6) {
		int part = (int)(rgb >> shift & 0xff), best = 0;
		for (int i = 1; i < 6; i++)
			if (abs(levels[i] - part) < abs(levels[best] - part))
				best = i;
		colour += (unsigned)best * weight;
	}
	return colour;
}

void tdm_print_cells(struct tdm_buf *out, const struct tdm_term *term, size_t series, uint32_t rgb, size_t count)
{
	if (count == 0)
		return;
	if (term->colour)
		tdm_buf_printf(out, "\033[38;5;%um", cube_colour(rgb));
	for (size_t i = 0; i < count; i++)
		if (!term->utf8)
			tdm_buf_putc(out, ascii_cells[series % (sizeof ascii_cells - 1)]);
		else
			tdm_buf_puts(
				out, utf8_cells[term->colour ? 0 : series % (sizeof utf8_cells / sizeof *utf8_cells)]);
	if (term->colour)
		tdm_buf_puts(out, TDM_STYLE_OFF);
}

size_t tdm_print_columns(const char *name)
{
	size_t columns = 0;
	for (const char *at = name; *at != '\0'; columns++) {
		size_t bytes = tdm_str_printable(at, TDM_UTF8_MAX);
		at += bytes != 0 ? bytes : 1;
	}
	return columns;
}

void tdm_print_name(struct tdm_buf *out, const struct tdm_term *term, const char *name, size_t columns)
{
	size_t needed = tdm_print_columns(name), cut = needed > columns ? columns > 3 ? columns - 3 : columns : needed;
	const char *at = name;
	for (size_t i = 0; i < cut; i++) {
		size_t bytes = tdm_str_printable(at, TDM_UTF8_MAX);
		if (bytes == 1 || (bytes > 1 && term->utf8))
			tdm_buf_add(out, at, bytes);
		else
			tdm_buf_putc(out, '?');
		at += bytes != 0 ? bytes : 1;
	}
	if (cut < needed && columns > 3)
		tdm_buf_puts(out, "...");
	else
		tdm_buf_fill(out, ' ', columns - cut);
}

void tdm_print_legend(struct tdm_buf *out, const struct tdm_term *term, const struct tdm_scene *scene)
{
	size_t at = 0;
	for (size_t i = 0; i < scene->series_count; i++) {
		size_t columns = tdm_print_columns(scene->series[i].name);
		if (at != 0 && at + columns + 4 > term->width) {
			tdm_buf_putc(out, '\n');
			at = 0;
		}
		if (at != 0)
			tdm_buf_puts(out, "  ");
		tdm_print_cells(out, term, i, scene->series[i].rgb, 1);
		tdm_buf_putc(out, ' ');
		tdm_print_name(out, term, scene->series[i].name, columns);
		at += columns + 4;
	}
	if (at != 0)
		tdm_buf_putc(out, '\n');
}

void tdm_print_text(struct tdm_buf *out, const struct tdm_term *term, const char *text, const char *style)
{
	struct tdm_buf shown;
	if (text == NULL || text[0] == '\0')
		return;
	tdm_buf_init(&shown);
	tdm_print_name(&shown, term, text, tdm_print_columns(text));
	tdm_buf_puts(out, tdm_term_style(term, style));
	tdm_wrap(out, tdm_buf_str(&shown), (struct tdm_wrap){ .width = term->width });
	tdm_buf_puts(out, tdm_term_style(term, style[0] != '\0' ? TDM_STYLE_OFF : ""));
	out->failed = out->failed || tdm_buf_failed(&shown);
	tdm_buf_done(&shown);
}

void tdm_print_heading(struct tdm_buf *out, const struct tdm_term *term, const struct tdm_scene *scene)
{
	tdm_print_text(out, term, scene->title, TDM_STYLE_BOLD);
	tdm_print_text(out, term, scene->subtitle, TDM_STYLE_DIM);
}
