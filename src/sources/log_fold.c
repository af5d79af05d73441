#include "sources/log_fold.h"
#include "sources/error_text.h"

enum { LINES_MAX = 6, PIECE_MAX = 512 }; /* lines that are joined; bytes of one */

void tdm_log_fold_done(struct tdm_log_fold *fold)
{
	tdm_buf_done(&fold->line);
	tdm_buf_done(&fold->texts[0]);
	tdm_buf_done(&fold->texts[1]);
}

static bool has(struct tdm_str text, const char *words)
{
	return text.len != 0 && memmem(text.ptr, text.len, words, strlen(words)) != NULL;
}

/* Whether a text ends with the beginning of these words. */
static bool ends_in(struct tdm_str text, const char *words)
{
	enum { LEAST = 6 };
	for (size_t len = strlen(words) - 1; len >= LEAST; len--)
		if (text.len >= len && memcmp(text.ptr + text.len - len, words, len) == 0)
			return true;
	return false;
}

/* The first words of the sentences, or as many of them as the line has room for. */
static bool begins_here(struct tdm_str text)
{
	static const char *const leads[] = { "Out of Memory:", "Statically allocated", "Circular buffers on service",
		"Program size (", "Creating trace buffers of size", "Trace buffer at address", "Worker L1 size",
		"segment[", "Cannot set circular buffer", "Allocating device buffers is" };
	for (size_t i = 0; i < sizeof leads / sizeof *leads; i++)
		if (has(text, leads[i]) || ends_in(text, leads[i]))
			return true;
	return false;
}

/* How much a sentence says; 0 for one whose words are not known. */
static unsigned worth(const struct tdm_failure *f)
{
	const uint64_t figures[] = { f->asked, f->banks, f->bytes_per_bank, f->bank_size, f->allocated, f->free,
		f->largest_free, f->address, f->region_end, f->limit, f->program };
	unsigned known = 1;
	if (f->sort == TDM_FAILURE_OTHER)
		return 0;
	for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
		known += figures[i] != TDM_BYTES_UNKNOWN;
	return known;
}

/* Cuts the first line off `text`. */
static struct tdm_str take_line(struct tdm_str *text)
{
	const char *newline = memchr(text->ptr, '\n', text->len);
	size_t len = newline != NULL ? (size_t)(newline - text->ptr) : text->len, gone = len + (newline != NULL);
	struct tdm_str line = { text->ptr, len != 0 && text->ptr[len - 1] == '\r' ? len - 1 : len };
	*text = (struct tdm_str){ text->ptr + gone, text->len - gone };
	return line;
}

static struct tdm_str last_line(struct tdm_str text)
{
	if (text.len == 0)
		return text;
	const char *newline = memrchr(text.ptr, '\n', text.len - 1); /* the last byte is one */
	const char *begin = newline != NULL ? newline + 1 : text.ptr;
	struct tdm_str line = { begin, (size_t)(text.ptr + text.len - begin) };
	return take_line(&line);
}

/* The parts of another line; its message lives until the next one is asked for. */
static bool parse_other(struct tdm_log_fold *fold, struct tdm_str line, struct tdm_log_prefix *prefix)
{
	tdm_buf_clear(&fold->line);
	tdm_buf_add(&fold->line, line.ptr, line.len < PIECE_MAX ? line.len : PIECE_MAX);
	if (line.len == 0 || tdm_buf_failed(&fold->line))
		return false;
	fold->line.len = tdm_log_strip_colour(fold->line.data, fold->line.len);
	tdm_log_prefix_parse(tdm_buf_str(&fold->line), prefix);
	return true;
}

static void join(struct tdm_log_fold *fold, struct tdm_str piece)
{
	struct tdm_buf *soft = &fold->texts[0], *hard = &fold->texts[1];
	if (soft->len != 0)
		tdm_buf_putc(soft, ' ');
	tdm_buf_add(soft, piece.ptr, piece.len);
	tdm_buf_add(hard, piece.ptr, piece.len);
}

/* Whether a line may be the rest of the one before it, and not something of its own. */
static bool goes_on(const struct tdm_log_prefix *prefix)
{
	return !prefix->is_logger && prefix->time_ns == 0 && prefix->message.len != 0 &&
	       !has(prefix->message, "backtrace:") && !begins_here(prefix->message);
}

bool tdm_log_fold_find(struct tdm_log_fold *fold, const struct tdm_log_prefix *prefix, const struct tdm_log_line *line,
	const struct tdm_failure *have, struct tdm_failure *failure)
{
	struct tdm_str after = line->after;
	struct tdm_log_prefix other;
	unsigned best = have != NULL ? worth(have) : 0;
	bool begins = begins_here(prefix->message), is_found = false;
	tdm_buf_clear(&fold->texts[0]);
	tdm_buf_clear(&fold->texts[1]);
	fold->logged = prefix->is_logger;
	if (!begins) {
		if (have != NULL || prefix->is_logger || prefix->time_ns != 0 ||
			!parse_other(fold, last_line(line->before), &other) || !begins_here(other.message))
			return false;
		struct tdm_failure alone;
		size_t end;
		if (tdm_error_text_find(other.message, 0, &alone, &end))
			best = worth(&alone); /* whole, or whole up to there: this line would have to add something */
		fold->logged = false;         /* the line before may have been told already */
		join(fold, other.message);
	}
	join(fold, (struct tdm_str){
			   prefix->message.ptr, prefix->message.len < PIECE_MAX ? prefix->message.len : PIECE_MAX });
	for (int i = 0; i < LINES_MAX && after.len != 0; i++) {
		if (!parse_other(fold, take_line(&after), &other) || !goes_on(&other))
			break;
		join(fold, other.message);
	}
	for (size_t i = 0; i < 2; i++) {
		struct tdm_failure found;
		size_t end;
		if (tdm_buf_failed(&fold->texts[i]) ||
			!tdm_error_text_find(tdm_buf_str(&fold->texts[i]), 0, &found, &end) || worth(&found) <= best)
			continue;
		best = worth(&found);
		*failure = found;
		is_found = true;
	}
	return is_found;
}
