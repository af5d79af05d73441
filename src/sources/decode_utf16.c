/* Converts UTF-16 of either byte order, with or without a byte order mark, to UTF-8. An unpaired surrogate becomes
 * U+FFFD. */
#include "sources/decode.h"

#include <stdlib.h>

enum { REPLACEMENT = 0xfffd, MARK = 0xfeff, LOOKED_AT = 64 };

struct utf16 {
	bool big;       /* the upper byte comes first */
	bool begun;     /* the mark counts only at the very beginning */
	uint32_t first; /* first half of a pair that waits for its second; 0: none */
};

static bool utf16_recognise(struct tdm_str head)
{
	return tdm_str_is_utf16(head);
}

static void *utf16_begin(struct tdm_str head)
{
	struct utf16 *w = calloc(1, sizeof *w);
	size_t zeros[2] = { 0, 0 };
	bool has_mark = head.ptr[0] == '\xfe' || head.ptr[0] == '\xff';
	if (w == NULL)
		return NULL;
	/* Without a mark, count zeros: nearly all of them are upper bytes. */
	for (size_t i = 0; i < head.len && i < LOOKED_AT; i++)
		zeros[i % 2] += head.ptr[i] == '\0';
	w->big = has_mark ? head.ptr[0] == '\xfe' : zeros[0] > zeros[1];
	return w;
}

static void put(struct tdm_unpacking *u, uint32_t c)
{
	char text[TDM_UTF8_MAX];
	size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char heads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	for (size_t i = len; i-- > 1; c >>= 6)
		text[i] = (char)(0x80 | (c & 0x3f));
	text[0] = (char)(heads[len] | c);
	memcpy(u->out, text, len);
	u->out += len;
	u->out_len -= len;
}

/* Takes one unit. There is room for two characters, since both halves of a broken pair may have to be replaced. */
static void take(struct utf16 *w, struct tdm_unpacking *u, uint32_t unit)
{
	bool is_second = unit >= 0xdc00 && unit < 0xe000;
	if (w->first != 0 && is_second) {
		put(u, 0x10000 + ((w->first - 0xd800) << 10) + (unit - 0xdc00));
		w->first = 0;
		return;
	}
	if (w->first != 0)
		put(u, REPLACEMENT);
	w->first = unit >= 0xd800 && unit < 0xdc00 ? unit : 0;
	if (w->first == 0 && (w->begun || unit != MARK))
		put(u, is_second ? REPLACEMENT : unit);
}

static int utf16_step(void *state, struct tdm_unpacking *u)
{
	struct utf16 *w = state;
	for (; u->in_len >= 2 && u->out_len >= 2 * TDM_UTF8_MAX; u->in += 2, u->in_len -= 2) {
		unsigned char a = (unsigned char)u->in[0], b = (unsigned char)u->in[1];
		take(w, u, w->big ? (uint32_t)a << 8 | b : (uint32_t)b << 8 | a);
		w->begun = true;
	}
	return u->in_len == 0 && u->in_ended && w->first == 0 ? 1 : 0;
}

static void utf16_end(void *state)
{
	free(state);
}

const struct tdm_decoder tdm_decoder_utf16 = { "UTF-16", false, utf16_recognise, utf16_begin, utf16_step, utf16_end };
