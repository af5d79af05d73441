#include "sources/log_fold.h"
#include "sources/error_text.h"

enum { BEFORE_MAX = 2, AFTER_MAX = 6, PIECE_MAX = 512 }; /* lines joined with one; bytes of each */

void tdm_log_fold_done(struct tdm_log_fold *fold)
{
	tdm_buf_done(&fold->line);
	tdm_buf_done(&fold->texts[0]);
	tdm_buf_done(&fold->texts[1]);
}

/* How much a sentence says; 0 if its words are unknown. */
static unsigned worth(const struct tdm_failure *f)
{
	unsigned known = 1;
	if (f->type == TDM_FAILURE_OTHER)
		return 0;
	for (size_t i = 0; i < TDM_FAILURE_FIGURE_COUNT; i++)
		known += f->figures[i] != TDM_BYTES_UNKNOWN;
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

/* Cuts the last line off `text`, which ends with a newline or is empty. */
static struct tdm_str take_last(struct tdm_str *text)
{
	if (text->len == 0)
		return *text;
	const char *newline = memrchr(text->ptr, '\n', text->len - 1);
	size_t left = newline != NULL ? (size_t)(newline + 1 - text->ptr) : 0;
	struct tdm_str line = { text->ptr + left, text->len - left };
	text->len = left;
	return take_line(&line);
}

/* Parses another line; its message is valid until the next call. A very long line was not folded. */
static bool parse_other(struct tdm_log_fold *fold, struct tdm_str line, struct tdm_log_prefix *prefix)
{
	if (line.len == 0 || line.len > PIECE_MAX)
		return false;
	tdm_buf_clear(&fold->line);
	tdm_buf_add(&fold->line, line.ptr, line.len);
	if (tdm_buf_failed(&fold->line))
		return false;
	fold->line.len = tdm_log_strip_colour(fold->line.data, fold->line.len);
	tdm_log_prefix_parse(tdm_buf_str(&fold->line), prefix);
	return true;
}

/* Old releases printed the words with {} in them, and then each figure on a line of its own. */
static bool fill_gap(struct tdm_buf *text, struct tdm_str piece)
{
	const char *gap = text->len != 0 ? memmem(text->data, text->len, "{}", 2) : NULL;
	if (gap == NULL)
		return false;
	size_t at = (size_t)(gap - text->data), after = text->len - at - 2;
	tdm_buf_add(text, piece.ptr, piece.len);
	if (tdm_buf_failed(text))
		return true;
	memmove(text->data + at + piece.len, text->data + at + 2, after);
	memcpy(text->data + at, piece.ptr, piece.len);
	text->len -= 2;
	return true;
}

static void join(struct tdm_log_fold *fold, struct tdm_str piece)
{
	struct tdm_buf *soft = &fold->texts[0], *hard = &fold->texts[1];
	if (fill_gap(soft, piece) && fill_gap(hard, piece))
		return;
	if (soft->len != 0)
		tdm_buf_putc(soft, ' ');
	tdm_buf_add(soft, piece.ptr, piece.len);
	tdm_buf_add(hard, piece.ptr, piece.len);
}

/* Whether the prefix of a line allows it to be the rest of a line of this rank. */
static bool is_rest(const struct tdm_log_prefix *prefix, int32_t rank)
{
	return !prefix->is_logger && prefix->time_ns == 0 && (prefix->rank == TDM_LOG_NO_RANK || prefix->rank == rank);
}

/* Whether the joined lines end in words after which another sentence begins. */
static bool announces(const struct tdm_log_fold *fold)
{
	static const char words[] = "Out of Memory:";
	struct tdm_str text = tdm_str_trim(tdm_buf_str(&fold->texts[0]));
	size_t len = sizeof words - 1;
	return text.len >= len && memcmp(text.ptr + text.len - len, words, len) == 0;
}

/* Whether a line may be the rest of the joined lines, and is not complete in itself. */
static bool goes_on(const struct tdm_log_fold *fold, const struct tdm_log_prefix *prefix)
{
	static const char end[] = "backtrace:";
	struct tdm_str text = prefix->message;
	return is_rest(prefix, fold->rank) && text.len != 0 &&
	       memmem(text.ptr, text.len, end, sizeof end - 1) == NULL &&
	       (!tdm_error_text_begins(text) || announces(fold));
}

/* Looks in the joined lines for a sentence that says more than *best. */
static bool find_better(const struct tdm_log_fold *fold, unsigned *best, struct tdm_failure *failure)
{
	bool is_found = false;
	for (size_t i = 0; i < 2; i++) {
		struct tdm_failure found;
		size_t end;
		if (tdm_buf_failed(&fold->texts[i]) ||
			!tdm_error_text_find(tdm_buf_str(&fold->texts[i]), 0, &found, &end) || worth(&found) <= *best)
			continue;
		*best = worth(&found);
		*failure = found;
		is_found = true;
	}
	return is_found;
}

/*
 * Starts the joined text with a line before this one, if a sentence may continue from there to here. Sets *best to the
 * worth of what the lines before say, so that this line must add something.
 */
static bool begin_before(
	struct tdm_log_fold *fold, const struct tdm_log_prefix *prefix, struct tdm_str before, unsigned *best)
{
	struct tdm_str lines[BEFORE_MAX];
	struct tdm_log_prefix other;
	struct tdm_failure said;
	size_t count = 0;
	do {
		if (count == BEFORE_MAX || before.len == 0)
			return false;
		lines[count] = take_last(&before);
	} while (!tdm_error_text_begins(lines[count++]));
	if (!parse_other(fold, lines[--count], &other) || !tdm_error_text_begins(other.message))
		return false;
	fold->rank = other.rank;
	fold->logged = false; /* the line above may have been reported already */
	fold->from_above = true;
	join(fold, other.message);
	while (count-- != 0) {
		if (!parse_other(fold, lines[count], &other) || !goes_on(fold, &other))
			return false;
		join(fold, other.message);
	}
	find_better(fold, best, &said);
	return is_rest(prefix, fold->rank);
}

bool tdm_log_fold_find(struct tdm_log_fold *fold, const struct tdm_log_prefix *prefix, const struct tdm_log_line *line,
	const struct tdm_failure *have, struct tdm_failure *failure)
{
	struct tdm_str after = line->after;
	struct tdm_log_prefix other;
	unsigned best = have != NULL ? worth(have) : 0;
	if (prefix->message.len > PIECE_MAX)
		return false;
	tdm_buf_clear(&fold->texts[0]);
	tdm_buf_clear(&fold->texts[1]);
	fold->logged = prefix->is_logger;
	fold->from_above = false;
	fold->rank = prefix->rank;
	if (!tdm_error_text_begins(prefix->message) && (have != NULL || prefix->is_logger || prefix->time_ns != 0 ||
							       !begin_before(fold, prefix, line->before, &best)))
		return false;
	join(fold, prefix->message);
	for (int i = 0; i < AFTER_MAX && after.len != 0; i++) {
		if (!parse_other(fold, take_line(&after), &other) || !goes_on(fold, &other))
			break;
		join(fold, other.message);
	}
	return find_better(fold, &best, failure);
}
