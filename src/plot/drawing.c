#include "plot/drawing.h"

#include "plot/ruler.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_CAP = 512 };
static const char ellipsis[] = "\xe2\x80\xa6";
static const char replacement[] = "\xef\xbf\xbd";

/* Bytes of the character at `text`; 0 if a picture must not contain it: XML forbids U+FFFE and U+FFFF. */
static size_t character(const char *text)
{
	size_t bytes = tdm_str_printable(text, TDM_UTF8_MAX);
	return bytes == 3 && memcmp(text, "\xef\xbf", 2) == 0 && (unsigned char)text[2] >= 0xbe ? 0 : bytes;
}

/* Copies valid characters, replaces invalid ones, and never cuts a character. */
static void clean(const char *text, char *dst, size_t cap)
{
	size_t len = 0;
	for (const char *at = text; *at != '\0';) {
		size_t bytes = character(at);
		const char *from = bytes != 0 ? at : *at == '\t' || *at == '\n' ? " " : replacement;
		size_t put = bytes != 0 ? bytes : strlen(from);
		if (put > cap - 1 - len)
			break;
		memcpy(dst + len, from, put);
		len += put;
		at += bytes != 0 ? bytes : 1;
	}
	dst[len] = '\0';
}

void tdm_drawing_free(struct tdm_drawing *drawing)
{
	if (drawing == NULL)
		return;
	tdm_ruler_free(drawing->ruler);
	drawing->ops->free(drawing);
}

void tdm_drawing_text(struct tdm_drawing *drawing, double x, double y, const char *text, const struct tdm_font *font)
{
	char cleaned[TEXT_CAP];
	clean(text, cleaned, sizeof cleaned);
	if (cleaned[0] != '\0')
		drawing->ops->text(drawing, (struct tdm_point){ x, y }, cleaned, font);
}

double tdm_drawing_text_width(const struct tdm_drawing *drawing, const char *text, const struct tdm_font *font)
{
	char cleaned[TEXT_CAP];
	clean(text, cleaned, sizeof cleaned);
	return tdm_ruler_width(drawing->ruler, cleaned, font->size, font->bold);
}

static void drop_last(char *text)
{
	size_t len = strlen(text);
	while (len != 0 && ((unsigned char)text[len - 1] & 0xc0) == 0x80)
		len--;
	text[len != 0 ? len - 1 : 0] = '\0';
}

/* Shortens a clean text in a buffer of TEXT_CAP bytes until it fits with an ellipsis after it. */
static void shorten(const struct tdm_drawing *drawing, char *text, double width, const struct tdm_font *font)
{
	char tried[TEXT_CAP + sizeof ellipsis];
	do {
		drop_last(text);
		snprintf(tried, sizeof tried, "%s%s", text, ellipsis);
	} while (text[0] != '\0' && tdm_ruler_width(drawing->ruler, tried, font->size, font->bold) > width);
	while (text[0] != '\0' && strlen(text) + sizeof ellipsis > TEXT_CAP)
		drop_last(text);
	memcpy(text + strlen(text), ellipsis, sizeof ellipsis);
}

void tdm_drawing_text_within(
	struct tdm_drawing *drawing, double x, double y, double width, const char *text, const struct tdm_font *font)
{
	char cleaned[TEXT_CAP];
	clean(text, cleaned, sizeof cleaned);
	if (tdm_ruler_width(drawing->ruler, cleaned, font->size, font->bold) > width)
		shorten(drawing, cleaned, width, font);
	tdm_drawing_text(drawing, x, y, cleaned, font);
}

size_t tdm_drawing_wrap(const struct tdm_drawing *drawing, const char *text, const struct tdm_font *font, double width,
	char *lines, size_t cap, size_t max)
{
	char rest[TEXT_CAP], tried[TEXT_CAP];
	size_t count = 0;
	clean(text, rest, sizeof rest);
	for (char *at = rest; *at != '\0' && count < max; count++) {
		/* The longest prefix that fits and ends before a blank or after a hyphen or underscore; else the first
		 * word. */
		size_t best = 0, len = strlen(at);
		for (size_t i = 1; i <= len; i++) {
			bool breaks =
				i == len || at[i] == ' ' || at[i - 1] == '_' || at[i - 1] == '-' || at[i - 1] == '/';
			if (!breaks)
				continue;
			memcpy(tried, at, i);
			tried[i] = '\0';
			if (best != 0 && tdm_ruler_width(drawing->ruler, tried, font->size, font->bold) > width)
				break;
			best = i;
		}
		bool last = count + 1 == max;
		size_t take = last ? len : best;
		memcpy(tried, at, take);
		tried[take] = '\0';
		if (tdm_ruler_width(drawing->ruler, tried, font->size, font->bold) > width)
			shorten(drawing, tried, width, font);
		clean(tried, lines + count * cap, cap);
		at += take;
		while (*at == ' ')
			at++;
	}
	return count;
}

void tdm_drawing_box(struct tdm_drawing *drawing, struct tdm_box box, const struct tdm_paint *paint)
{
	if (box.w > 0 && box.h > 0)
		drawing->ops->box(drawing, box, paint);
}

void tdm_drawing_line(
	struct tdm_drawing *drawing, struct tdm_point from, struct tdm_point to, const struct tdm_paint *paint)
{
	drawing->ops->path(drawing, (struct tdm_point[]){ from, to }, 2, false, paint);
}

void tdm_drawing_group(struct tdm_drawing *drawing, const char *kind, const char *name)
{
	char cleaned[TEXT_CAP] = "";
	if (drawing->ops->group == NULL)
		return;
	if (name != NULL)
		clean(name, cleaned, sizeof cleaned);
	drawing->ops->group(drawing, kind, cleaned);
}

void tdm_drawing_group_end(struct tdm_drawing *drawing)
{
	if (drawing->ops->group_end != NULL)
		drawing->ops->group_end(drawing);
}
