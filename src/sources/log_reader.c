#include "sources/log_reader.h"
#include "base/err.h"
#include "sources/format.h"
#include "sources/log_source.h"

#include <errno.h>

enum {
	SAMPLE_BYTES = 1 << 16,
	NEAR_LINES = 32, /* how far above a line without a time its time may be */
};

static void sample_line(struct tdm_log_reader *r, struct tdm_str line)
{
	struct tdm_log_prefix prefix;
	tdm_log_prefix_parse(tdm_log_without_colour(line, &r->clean), &prefix);
	r->counts.sample_lines++;
	r->counts.logger_lines += prefix.is_logger;
	r->counts.debug_lines +=
		prefix.is_logger && (prefix.level == TDM_LOG_LEVEL_DEBUG || prefix.level == TDM_LOG_LEVEL_TRACE);
}

void tdm_log_reader_sample(struct tdm_log_reader *r)
{
	struct tdm_str text = tdm_log_scan_peek(&r->scan);
	text.len = text.len < SAMPLE_BYTES ? text.len : SAMPLE_BYTES;
	r->counts.is_binary = text.len != 0 && memchr(text.ptr, '\0', text.len) != NULL;
	while (text.len != 0) {
		const char *newline = memchr(text.ptr, '\n', text.len);
		size_t len = newline != NULL ? (size_t)(newline - text.ptr) : text.len;
		sample_line(r, (struct tdm_str){ text.ptr, len });
		len += newline != NULL;
		text = (struct tdm_str){ text.ptr + len, text.len - len };
	}
}

int tdm_log_reader_open(struct tdm_log_reader *r, struct tdm_input *input)
{
	*r = (struct tdm_log_reader){ .input = input };
	tdm_buf_init(&r->clean);
	return tdm_log_scan_open(&r->scan, tdm_input_reader(input));
}

void tdm_log_reader_done(struct tdm_log_reader *r)
{
	tdm_log_scan_done(&r->scan);
	tdm_buf_done(&r->clean);
	tdm_log_fold_done(&r->fold);
}

/* The time of the nearest line above that has one. */
static uint64_t time_near(const struct tdm_log_reader *r, struct tdm_str before)
{
	for (int lines = 0; lines < NEAR_LINES && before.len != 0; lines++) {
		const char *newline = memrchr(before.ptr, '\n', before.len - 1); /* the last byte is a newline */
		const char *begin = newline != NULL ? newline + 1 : before.ptr;
		struct tdm_log_prefix prefix;
		struct tdm_str line = { begin, (size_t)(before.ptr + before.len - 1 - begin) };
		if (line.len != 0 && *line.ptr == '\033') { /* the colour of the time */
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

static bool add_failure(
	struct tdm_log_reader *r, const struct tdm_failure *failure, int32_t rank, uint64_t number, bool logged)
{
	struct tdm_log_record *record = tdm_log_found_add(&r->found, TDM_LOG_FAILURE, TDM_LOG_BY_RUNTIME);
	if (record == NULL)
		return false;
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
	if (tdm_log_fold_find(&r->fold, p, line, is_found ? &failure : NULL, &folded)) {
		p->rank = r->fold.rank;
		if (add_failure(r, &folded, p->rank, line->number, r->fold.logged) && r->fold.from_above &&
			r->found.records[0].is_repeat)
			r->found.count = 0; /* the same sentence, already found where it begins */
		return true;
	}
	while (is_found && add_failure(r, &failure, p->rank, line->number, p->is_logger))
		is_found = tdm_error_text_find(p->message, at, &failure, &at);
	return r->found.count != 0;
}

/* Whether the line above is the runtime's "info:", which announces the text of an exception. */
static bool follows_info(struct tdm_str before)
{
	static const char word[] = "info:";
	struct tdm_str above = before;
	size_t len = sizeof word - 1;
	while (above.len != 0 && strchr("\r\n \t", above.ptr[above.len - 1]) != NULL)
		above.len--;
	return above.len >= len && memcmp(above.ptr + above.len - len, word, len) == 0;
}

/* A text about insufficient memory in words that no sentence has: it is a failure like any other. */
static bool find_other(struct tdm_log_reader *r, const struct tdm_log_prefix *p, const struct tdm_log_line *line)
{
	struct tdm_failure failure;
	bool is_sure = p->is_logger ? p->level >= TDM_LOG_LEVEL_ERROR : follows_info(line->before);
	enum tdm_error_weight weight = is_sure ? TDM_ERROR_SURE : p->is_logger ? TDM_ERROR_NOT : TDM_ERROR_OPEN;
	return tdm_error_text_other(p->message, weight, &failure) &&
	       add_failure(r, &failure, p->rank, line->number, p->is_logger);
}

/* Sets the fields that all records of a line share. */
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

/* Completes the records of a program or of the Watcher with what earlier lines said. */
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
	static const char dump_title[] = "REMAINING ALLOCATED BUFFERS";
	struct tdm_log_prefix prefix;
	struct tdm_str text = tdm_log_without_colour(line->text, &r->clean);
	r->found.count = 0;
	r->found.refused = NULL;
	r->given = 0;
	tdm_log_prefix_parse(text, &prefix);
	if (r->dump.inside)
		tdm_log_dump_line(&r->dump, prefix.message, &r->found);
	if (r->found.count == 0 && !find_failures(r, &prefix, line) && !tdm_log_runtime_parse(&prefix, &r->found) &&
		!tdm_log_server_parse(&prefix, &r->found) && !tdm_log_watcher_parse(&prefix, &r->found) &&
		!find_other(r, &prefix, line))
		tdm_log_workload_parse(&prefix, &r->found);
	look_back(r, &prefix, line);
	if (text.len != 0 && memmem(text.ptr, text.len, dump_title, sizeof dump_title - 1) != NULL)
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

/* Says what is wrong with the current line. */
static int refuse(struct tdm_log_reader *r, const struct tdm_log_line *line, struct tdm_diag *diag)
{
	char shown[TDM_DIAG_TEXT_CAP / 2];
	r->counts.refused_lines++;
	return tdm_diag_set(diag, TDM_ESYNTAX, line->number, 0, "%s that cannot be used: '%s'", r->found.refused,
		tdm_str_shown(r->message, shown, sizeof shown));
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
		if (r->found.refused != NULL)
			return refuse(r, &line, diag);
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

/* Any text. A log that was truncated while its writer kept its offset begins with zeros. */
static bool log_recognise(struct tdm_str head, const char *path)
{
	size_t at = 0;
	(void)path;
	while (at < head.len && head.ptr[at] == '\0')
		at++;
	for (size_t i = at; i < head.len; i++)
		if ((unsigned char)head.ptr[i] < ' ' &&
			(head.ptr[i] == '\0' || strchr("\t\n\v\f\r\033", head.ptr[i]) == NULL))
			return false;
	return at < head.len;
}

static int log_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct tdm_log_reader reader;
	struct tdm_log_record record;
	int got, err = tdm_log_reader_open(&reader, input);
	if (err != 0)
		return tdm_input_failed(input, err, 0, diag);
	tdm_log_reader_sample(&reader);
	while (err == 0 && (got = tdm_log_reader_next(&reader, &record, diag)) != 0) {
		if (got == 1)
			err = sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_LOG, .log = &record });
		else
			err = got == TDM_ESYNTAX ? tdm_record_refuse(sink, diag, false) : got;
	}
	sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_LOG_END, .log_end = tdm_log_reader_counts(&reader) });
	tdm_log_reader_done(&reader);
	return err;
}

const struct tdm_format tdm_format_log = {
	.name = "log",
	.summary = "log",
	.recognise = log_recognise,
	.events = tdm_log_events,
	.records = log_records,
};
