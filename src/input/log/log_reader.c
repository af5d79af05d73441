/*
 * log_scan.c supplies the lines containing a marker. The prefix of each line is cut off; then the following are tried
 * in order until one yields a record: an open list of an allocation server, the known sentences about failures
 * (error_text.c, across folded lines), messages with fixed words (log_message.c), failures with unfamiliar wording, and
 * a program's own messages (log_workload.c). Facts missing from the line, such as its time, are taken from the lines
 * above. The line's records are returned one by one.
 */
#include "input/log/log_reader.h"
#include "base/err.h"

#include <errno.h>

enum {
	SAMPLE_BYTES = 1 << 16,
	NEAR_LINES = 32, /* for a line without a time, how many lines above to search for one */
	/* Lines before and after a line to join with it, and the maximum bytes of each. */
	BEFORE_MAX = 2,
	AFTER_MAX = 6,
	PIECE_MAX = 512,
};

void tdm_log_reader_sample(struct tdm_log_reader *r)
{
	struct tdm_str text = tdm_log_scan_peek(&r->scan);
	struct tdm_log_prefix prefix;
	text.len = text.len < SAMPLE_BYTES ? text.len : SAMPLE_BYTES;
	r->counts.is_binary = text.len != 0 && memchr(text.ptr, '\0', text.len) != NULL;
	while (text.len != 0) {
		tdm_log_prefix_parse(tdm_log_without_colour(tdm_str_take_line(&text), &r->clean), &prefix);
		r->counts.sample_lines++;
		r->counts.logger_lines += prefix.is_logger;
		r->counts.debug_lines += prefix.is_logger &&
					 (prefix.level == TDM_LOG_LEVEL_DEBUG || prefix.level == TDM_LOG_LEVEL_TRACE);
	}
}

void tdm_log_reader_open(struct tdm_log_reader *r, struct tdm_input *input)
{
	*r = (struct tdm_log_reader){ .input = input };
	tdm_log_scan_open(&r->scan, tdm_input_reader(input));
}

void tdm_log_reader_done(struct tdm_log_reader *r)
{
	tdm_log_scan_done(&r->scan);
	tdm_buf_done(&r->clean);
	tdm_buf_done(&r->folded_line);
	tdm_buf_done(&r->folded[0]);
	tdm_buf_done(&r->folded[1]);
}

/* The time in the nearest line above that has one. */
static uint64_t time_near(const struct tdm_log_reader *r, struct tdm_str before)
{
	for (int lines = 0; lines < NEAR_LINES && before.len != 0; lines++) {
		const char *newline = memrchr(before.ptr, '\n', before.len - 1); /* the last byte is a newline */
		const char *begin = newline != NULL ? newline + 1 : before.ptr;
		struct tdm_log_prefix prefix;
		struct tdm_str line = { begin, (size_t)(before.ptr + before.len - 1 - begin) };
		if (line.len != 0 && *line.ptr == '\033') { /* skip the colour code before the time */
			const char *m = memchr(line.ptr, 'm', line.len);
			if (m != NULL)
				line = (struct tdm_str){ m + 1, line.len - (size_t)(m + 1 - line.ptr) };
		}
		tdm_log_prefix_parse(line, &prefix);
		if (prefix.time_ns != 0)
			return prefix.time_ns;
		if (newline == NULL)
			break;
		before.len = (size_t)(newline + 1 - before.ptr);
	}
	return r->last_time_ns;
}

/*
 * ---- folded sentences ----
 *
 * A terminal or a mail program folds a sentence, which then continues on the next line. The lines are joined in two
 * ways: with blanks between them (for text folded at a blank) and without (for text folded anywhere).
 */

/* How much information a sentence carries; 0 if the sentence is not a known one. */
static unsigned worth(const struct tdm_failure *f)
{
	unsigned known = 1;
	if (f->type == TDM_FAILURE_OTHER)
		return 0;
	for (size_t i = 0; i < TDM_FAILURE_FIGURE_COUNT; i++)
		known += f->figures[i] != TDM_BYTES_UNKNOWN;
	return known;
}

/* Puts a figure into the next gap: old releases printed the sentence with {} in place of figures, and then each figure
 * on its own line. */
static bool fill_gap(struct tdm_buf *text, struct tdm_str piece)
{
	const char *gap = text->len != 0 ? memmem(text->data, text->len, "{}", 2) : NULL;
	if (gap == NULL)
		return false;
	size_t at = (size_t)(gap - text->data), after = text->len - at - 2;
	tdm_buf_add(text, piece.ptr, piece.len);
	memmove(text->data + at + piece.len, text->data + at + 2, after);
	memcpy(text->data + at, piece.ptr, piece.len);
	text->len -= 2;
	return true;
}

static void join(struct tdm_log_reader *r, struct tdm_str piece)
{
	struct tdm_buf *soft = &r->folded[0], *hard = &r->folded[1];
	if (fill_gap(soft, piece) && fill_gap(hard, piece))
		return;
	if (soft->len != 0)
		tdm_buf_putc(soft, ' ');
	tdm_buf_add(soft, piece.ptr, piece.len);
	tdm_buf_add(hard, piece.ptr, piece.len);
}

/* Whether a line's prefix allows the line to continue a line of this rank. */
static bool is_rest(const struct tdm_log_prefix *prefix, int32_t rank)
{
	return !prefix->is_logger && prefix->time_ns == 0 && (prefix->rank == TDM_LOG_NO_RANK || prefix->rank == rank);
}

/* Whether the joined lines end in words that announce another sentence. */
static bool announces(const struct tdm_log_reader *r)
{
	return tdm_str_ends(tdm_str_trim(tdm_buf_str(&r->folded[0])), "Out of Memory:");
}

/* Parses another line; its message is valid until the next call. Returns false for a very long line, which cannot be a
 * folded one. */
static bool parse_other(struct tdm_log_reader *r, struct tdm_str line, struct tdm_log_prefix *prefix)
{
	bool is_short = line.len != 0 && line.len <= PIECE_MAX;
	if (is_short)
		tdm_log_prefix_parse(tdm_log_without_colour(line, &r->folded_line), prefix);
	return is_short;
}

/* Parses a line that may continue the joined lines; returns false if the line does not continue them or is complete in
 * itself. */
static bool goes_on(struct tdm_log_reader *r, struct tdm_str line, struct tdm_log_prefix *prefix)
{
	if (!parse_other(r, line, prefix))
		return false;
	struct tdm_str text = prefix->message;
	return is_rest(prefix, r->fold_rank) && text.len != 0 && tdm_str_find(text, "backtrace:") == NULL &&
	       (!tdm_error_text_begins(text) || announces(r));
}

/* Searches the joined lines for a sentence with more information than *best. */
static bool find_better(const struct tdm_log_reader *r, unsigned *best, struct tdm_failure *failure)
{
	bool is_found = false;
	for (size_t i = 0; i < 2; i++) {
		struct tdm_failure found;
		size_t end;
		if (!tdm_error_text_find(tdm_buf_str(&r->folded[i]), 0, &found, &end) || worth(&found) <= *best)
			continue;
		*best = worth(&found);
		*failure = found;
		is_found = true;
	}
	return is_found;
}

/* Starts the joined text with an earlier line if a sentence may continue from there. Sets *best to the worth of the
 * earlier lines alone, because this line must add information. */
static bool begin_before(
	struct tdm_log_reader *r, const struct tdm_log_prefix *prefix, struct tdm_str before, unsigned *best)
{
	struct tdm_str lines[BEFORE_MAX];
	struct tdm_log_prefix other;
	struct tdm_failure said;
	size_t count = 0;
	do {
		if (count == BEFORE_MAX || before.len == 0)
			return false;
		/* The last line of the text, which ends with a newline. */
		const char *newline = memrchr(before.ptr, '\n', before.len - 1);
		size_t left = newline != NULL ? (size_t)(newline + 1 - before.ptr) : 0;
		struct tdm_str last = tdm_str_from(before, left);
		lines[count] = tdm_str_take_line(&last);
		before.len = left;
	} while (!tdm_error_text_begins(lines[count++]));
	if (!parse_other(r, lines[--count], &other) || !tdm_error_text_begins(other.message))
		return false;
	r->fold_rank = other.rank;
	r->fold_logged = false; /* an earlier call may already have reported the line above */
	r->from_above = true;
	join(r, other.message);
	while (count-- != 0) {
		if (!goes_on(r, lines[count], &other))
			return false;
		join(r, other.message);
	}
	find_better(r, best, &said);
	return is_rest(prefix, r->fold_rank);
}

/*
 * Whether a sentence begins in the message of `line`, or up to two lines above, and continues after `line` with more
 * information than `have`, the failure found in the message alone (NULL if there was none). If so, sets *failure, whose
 * strings are valid until the next call. `prefix` is the prefix of `line`.
 */
static bool find_folded(struct tdm_log_reader *r, const struct tdm_log_prefix *prefix, const struct tdm_log_line *line,
	const struct tdm_failure *have, struct tdm_failure *failure)
{
	struct tdm_str after = line->after;
	struct tdm_log_prefix other;
	unsigned best = have != NULL ? worth(have) : 0;
	if (prefix->message.len > PIECE_MAX)
		return false;
	tdm_buf_clear(&r->folded[0]);
	tdm_buf_clear(&r->folded[1]);
	r->fold_logged = prefix->is_logger;
	r->from_above = false;
	r->fold_rank = prefix->rank;
	if (!tdm_error_text_begins(prefix->message) && (have != NULL || prefix->is_logger || prefix->time_ns != 0 ||
							       !begin_before(r, prefix, line->before, &best)))
		return false;
	join(r, prefix->message);
	for (int i = 0; i < AFTER_MAX && after.len != 0 && goes_on(r, tdm_str_take_line(&after), &other); i++)
		join(r, other.message);
	return find_better(r, &best, failure);
}

/* ---- failures ---- */

static bool add_failure(
	struct tdm_log_reader *r, const struct tdm_failure *failure, int32_t rank, uint64_t number, bool logged)
{
	if (r->found.count == TDM_LOG_PER_LINE)
		return false;
	struct tdm_log_record *record = tdm_log_found_add(&r->found, TDM_LOG_FAILURE, TDM_LOG_BY_RUNTIME);
	record->failure = *failure;
	record->kind = failure->kind;
	record->bytes = failure->asked;
	record->is_repeat = !tdm_failure_is_new(&r->recent, failure, rank, number, logged);
	return true;
}

static bool find_failures(struct tdm_log_reader *r, struct tdm_log_prefix *p, const struct tdm_log_line *line)
{
	struct tdm_failure failure, folded;
	size_t at = 0;
	bool is_found = tdm_error_text_find(p->message, at, &failure, &at);
	if (find_folded(r, p, line, is_found ? &failure : NULL, &folded)) {
		p->rank = r->fold_rank;
		if (add_failure(r, &folded, p->rank, line->number, r->fold_logged) && r->from_above &&
			r->found.records[0].is_repeat)
			r->found.count = 0; /* the same sentence, already reported at the line where it begins */
		return true;
	}
	while (is_found && add_failure(r, &failure, p->rank, line->number, p->is_logger))
		is_found = tdm_error_text_find(p->message, at, &failure, &at);
	return r->found.count != 0;
}

/* A message about insufficient memory is a failure even if its wording is unfamiliar. If the message follows a runtime
 * line that ends in "info:", the message belongs to an exception. */
static bool find_other(struct tdm_log_reader *r, const struct tdm_log_prefix *p, const struct tdm_log_line *line)
{
	struct tdm_failure failure;
	struct tdm_str before = line->before;
	while (before.len != 0 && strchr("\r\n \t", before.ptr[before.len - 1]) != NULL)
		before.len--;
	bool is_sure = p->is_logger ? p->level >= TDM_LOG_LEVEL_ERROR : tdm_str_ends(before, "info:");
	enum tdm_error_weight weight = is_sure ? TDM_ERROR_SURE : p->is_logger ? TDM_ERROR_NOT : TDM_ERROR_OPEN;
	return tdm_error_text_other(p->message, weight, &failure) &&
	       add_failure(r, &failure, p->rank, line->number, p->is_logger);
}

/* Sets the fields shared by all records of a line. */
static void complete_records(struct tdm_log_reader *r, const struct tdm_log_prefix *p, const struct tdm_log_line *line)
{
	uint64_t near = p->time_ns != 0 || r->found.count == 0 ? 0 : time_near(r, line->before);
	for (size_t i = 0; i < r->found.count; i++) {
		struct tdm_log_record *record = &r->found.records[i];
		record->level = p->level;
		record->rank = p->rank;
		record->line = line->number;
		record->time_ns = p->time_ns != 0 ? p->time_ns : near;
		record->time_is_near = p->time_ns == 0 && near != 0;
		record->text = p->message;
		if (p->has_core) {
			record->device = p->device;
			record->range = p->core;
			record->has_range = true;
			if (record->cores == TDM_LOG_UNKNOWN && record->type != TDM_LOG_TILES)
				record->cores = 1;
		}
	}
	if (p->time_ns != 0)
		r->last_time_ns = p->time_ns;
}

/* Completes a program's or the Watcher's records from earlier lines. */
static void look_back(struct tdm_log_reader *r, const struct tdm_log_prefix *p, const struct tdm_log_line *line)
{
	for (size_t i = 0; i < r->found.count; i++) {
		struct tdm_log_record *record = &r->found.records[i];
		if (record->type == TDM_LOG_TILES && record->cores != TDM_LOG_UNKNOWN)
			r->grid_cores = record->cores;
		else if (record->type == TDM_LOG_CB_ALLOC && record->cores == TDM_LOG_UNKNOWN && r->grid_cores != 0)
			record->cores = r->grid_cores;
		if (record->type == TDM_LOG_FAILURE && record->dialect != TDM_LOG_BY_RUNTIME)
			record->is_repeat =
				!tdm_failure_is_new(&r->recent, &record->failure, p->rank, line->number, false);
	}
}

static void parse_line(struct tdm_log_reader *r, const struct tdm_log_line *line)
{
	struct tdm_log_prefix prefix;
	struct tdm_str text = tdm_log_without_colour(line->text, &r->clean);
	r->found.count = 0;
	r->found.refused = NULL;
	r->given = 0;
	tdm_log_prefix_parse(text, &prefix);
	if (r->dump.inside)
		tdm_log_dump_line(&r->dump, prefix.message, &r->found);
	if (r->found.count == 0 && !find_failures(r, &prefix, line) && !tdm_log_message_parse(&prefix, &r->found) &&
		!find_other(r, &prefix, line))
		tdm_log_workload_parse(&prefix, &r->found);
	look_back(r, &prefix, line);
	if (tdm_str_find(text, "REMAINING ALLOCATED BUFFERS") != NULL)
		tdm_log_dump_begin(&r->dump);
	r->message = prefix.message;
	complete_records(r, &prefix, line);
}

void tdm_log_reader_restart(struct tdm_log_reader *r, struct tdm_input *input)
{
	r->input = input;
	tdm_log_scan_restart(&r->scan, tdm_input_reader(input));
	r->found.count = r->given = 0;
	r->recent = (struct tdm_failure_recent){ .next = 0 };
	r->dump = (struct tdm_log_dump){ .inside = false };
	r->last_time_ns = r->grid_cores = 0;
}

int tdm_log_reader_next(struct tdm_log_reader *r, struct tdm_log_record *record, struct tdm_diag *diag)
{
	while (r->given == r->found.count) {
		struct tdm_log_line line;
		int got = tdm_log_scan_next(&r->scan, r->dump.inside, &line);
		if (got == 0)
			return 0;
		if (got < 0 && got != -EMSGSIZE) {
			r->counts.is_cut = true;
			return tdm_input_failed(r->input, got, r->scan.lines + 1, diag);
		}
		parse_line(r, &line);
		if (got == -EMSGSIZE)
			return tdm_diag_set(diag, TDM_ESYNTAX, line.number, TDM_LOG_LINE_MAX + 1,
				"the line is longer than %d KiB: only its beginning was looked at",
				TDM_LOG_LINE_MAX >> 10);
		if (r->found.refused == NULL)
			continue;
		char shown[TDM_DIAG_TEXT_CAP / 2];
		r->counts.refused_lines++;
		return tdm_diag_set(diag, TDM_ESYNTAX, line.number, 0, "%s that cannot be used: '%s'", r->found.refused,
			tdm_str_shown(r->message, shown, sizeof shown));
	}
	*record = r->found.records[r->given++];
	return 1;
}

const struct tdm_log_counts *tdm_log_reader_counts(struct tdm_log_reader *r)
{
	r->counts.lines = tdm_log_scan_lines(&r->scan);
	r->counts.bytes = tdm_log_scan_offset(&r->scan);
	r->counts.cut_lines = r->scan.cut_lines;
	return &r->counts;
}
