/*
 * Logs of tt-train: the memory summaries that it prints with --track_memory, and the lines about parameters and device
 * memory around them. Colours and prefixes of lines are skipped. A figure that cannot be read is refused with its
 * position; its phase is left out, and reading continues.
 *
 * Each line is looked at once. Outside a summary it may give parameters, device memory or, as the last line before a
 * summary, the name of the run. Inside, "--- NAME ---" begins a phase, three kinds of lines have its figures, and the
 * line with "Overall DRAM Peak" ends the summary.
 *
 * Parameters and device memory are assigned to summaries at the end, as tt-train's own script does it: the first ones
 * within the WINDOW bytes before a summary, else the first ones of the file.
 */
#include "base/err.h"
#include "base/reserve.h"
#include "sources/format.h"
#include "sources/log_prefix.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { WINDOW = 1000, FACTS_MAX = 100000, NAME_MAX_BYTES = 1024, LINE_MAX_BYTES = 65536, RUNS_MAX = 10000 };

/* Kinds of facts. Of each pair the first is preferred. */
enum fact_kind { FACT_PARAMETERS, FACT_PARAMETERS_ROW, FACT_MEMORY, FACT_MEMORY_ROW };

struct fact {
	enum fact_kind kind;
	uint64_t offset; /* of its line */
	uint64_t value;  /* parameters or bytes */
};

/* The parts of a phase whose lines have been seen. */
enum { SEEN_SEGMENT = 1, SEEN_CUMULATIVE = 2 };

struct parser {
	const struct tdm_record_sink *sink;
	struct tdm_phase_runs runs;
	uint64_t line, offset;     /* of the current line */
	struct tdm_phase_run *run; /* the open summary; NULL: none */
	bool in_phase, phase_broken;
	unsigned seen;
	uint64_t phase_line;
	struct tdm_buf plain; /* the line without colours */
	struct tdm_buf name;  /* of the next run */
	struct fact *facts;
	size_t fact_count, fact_cap;
	uint64_t *offsets; /* of the first line of each run */
	size_t offset_cap;
	int err; /* stops the parser */
};

static void refuse(struct parser *p, uint64_t line, uint64_t column, const char *text)
{
	struct tdm_diag diag = { .file = NULL };
	tdm_diag_set(&diag, TDM_ESYNTAX, line, column, "%s", text);
	int err = tdm_record_refuse(p->sink, &diag, false);
	p->err = p->err != 0 ? p->err : err;
}

/* The rest of the line after `word`; a NULL pointer if the line does not have it. */
static struct tdm_str after(struct tdm_str line, const char *word)
{
	size_t len = strlen(word);
	const char *at = line.len >= len ? memmem(line.ptr, line.len, word, len) : NULL;
	if (at == NULL)
		return (struct tdm_str){ NULL, 0 };
	at += len;
	return (struct tdm_str){ at, (size_t)(line.ptr + line.len - at) };
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void skip_blanks(struct tdm_str *text)
{
	while (text->len != 0 && (*text->ptr == ' ' || *text->ptr == '\t')) {
		text->ptr++;
		text->len--;
	}
}

/* Digits with commas between them, from the front. */
static bool take_count(struct tdm_str *text, uint64_t *value)
{
	bool any = false;
	*value = 0;
	skip_blanks(text);
	for (; text->len != 0 && (is_digit(*text->ptr) || (any && *text->ptr == ',')); text->ptr++, text->len--) {
		if (*text->ptr == ',')
			continue;
		if (__builtin_mul_overflow(*value, 10, value) ||
			__builtin_add_overflow(*value, (uint64_t)(*text->ptr - '0'), value))
			return false;
		any = true;
	}
	return any;
}

/* "+1863.25 MB" from the front, in bytes, rounded to the nearest. `commas` allows them between thousands. */
static bool take_mb(struct tdm_str *text, bool commas, int64_t *bytes)
{
	const unsigned mb_bits = 20;
	unsigned __int128 digits = 0, scale = 1;
	const unsigned __int128 most = (unsigned __int128)1 << 80;
	bool negative = false, any = false, fraction = false;
	skip_blanks(text);
	if (text->len != 0 && (*text->ptr == '+' || *text->ptr == '-')) {
		negative = *text->ptr == '-';
		text->ptr++;
		text->len--;
	}
	for (; text->len != 0; text->ptr++, text->len--) {
		char c = *text->ptr;
		if (c == '.' && any && !fraction) {
			fraction = true;
		} else if (is_digit(c)) {
			any = true;
			if (fraction && scale >= 1000000)
				continue; /* below a byte */
			digits = digits * 10 + (unsigned)(c - '0');
			scale *= fraction ? 10 : 1;
			if (digits > most)
				return false;
		} else if (!(c == ',' && commas && any && text->len > 1 && is_digit(text->ptr[1]))) {
			break;
		}
	}
	skip_blanks(text);
	if (!any || text->len < 2 || memcmp(text->ptr, "MB", 2) != 0)
		return false;
	text->ptr += 2;
	text->len -= 2;
	unsigned __int128 rounded = ((digits << mb_bits) + scale / 2) / scale;
	if (rounded >= (unsigned __int128)INT64_MAX)
		return false;
	/* "-0.00" is negative, but closer to 0 than the log can express. */
	*bytes = !negative ? (int64_t)rounded : rounded == 0 ? -1 : -(int64_t)rounded;
	return true;
}

/* Reads the figures of a line in order; each is a label and a number of MB. */
static bool take_figures(
	struct parser *p, struct tdm_str line, const char *const *labels, int64_t *const *figures, size_t count)
{
	struct tdm_str rest = line;
	for (size_t i = 0; i < count; i++) {
		struct tdm_str value = after(rest, labels[i]);
		skip_blanks(&value);
		char text[TDM_DIAG_TEXT_CAP / 2], shown[48];
		uint64_t column = (uint64_t)((value.ptr != NULL ? value.ptr : rest.ptr) - line.ptr) + 1;
		rest = value;
		if (value.ptr != NULL && take_mb(&rest, false, figures[i]))
			continue;
		snprintf(text, sizeof text, "expected '%s' and a number of MB, got '%s'", labels[i],
			tdm_str_shown(value.ptr != NULL ? value : line, shown, sizeof shown));
		refuse(p, p->line, column, text);
		return false;
	}
	return true;
}

static struct tdm_phase_figures *figures_of(struct parser *p)
{
	return &p->run->phases[p->run->phase_count - 1].figures;
}

/* Ends the phase, and drops it if figures are missing. */
static void end_phase(struct parser *p)
{
	if (!p->in_phase)
		return;
	p->in_phase = false;
	if (p->phase_broken || p->seen != (SEEN_SEGMENT | SEEN_CUMULATIVE)) {
		if (!p->phase_broken)
			refuse(p, p->phase_line, 1, "the phase is left out: its DRAM figures are incomplete");
		tdm_phase_run_drop_last(p->run);
		p->run->incomplete = true;
	}
}

/* Ends the summary, properly or not. If its last line is missing, the figures of the run come from its phases. */
static void end_run(struct parser *p, bool properly)
{
	struct tdm_phase_run *run = p->run;
	if (run == NULL)
		return;
	end_phase(p);
	p->run = NULL;
	if (!properly) {
		refuse(p, run->line, 1, "the summary has no end: 'Overall DRAM Peak' is missing");
		run->incomplete = true;
	}
	if (run->overall_peak == TDM_PHASE_UNKNOWN) {
		run->peak_so_far = true;
		if (run->phase_count != 0)
			run->overall_peak = run->phases[run->phase_count - 1].figures.dram_cumulative_peak;
	}
	if (run->phase_count != 0 && run->final_current == TDM_PHASE_UNKNOWN)
		run->final_current = run->phases[run->phase_count - 1].figures.dram_cumulative_current;
}

static bool note_offset(struct parser *p, size_t run)
{
	if (tdm_reserve(&p->offsets, &p->offset_cap, run + 1, sizeof *p->offsets) != 0)
		return false;
	p->offsets[run] = p->offset;
	return true;
}

/* The line without a prefix of the runtime's logger, a launcher or a CI system. */
static struct tdm_str without_head(struct tdm_str line)
{
	struct tdm_log_prefix prefix;
	tdm_log_prefix_parse(line, &prefix);
	return tdm_str_trim(prefix.message);
}

static void begin_run(struct parser *p)
{
	end_run(p, false);
	if (p->runs.count == RUNS_MAX) { /* its lines count as outside a summary */
		refuse(p, p->line, 1, "one summary too many: it is left out");
		tdm_buf_clear(&p->name);
		return;
	}
	char number[32];
	snprintf(number, sizeof number, "summary %zu", p->runs.count + 1);
	struct tdm_str name = tdm_str_trim(tdm_buf_str(&p->name));
	p->run = note_offset(p, p->runs.count) ? tdm_phase_runs_add(&p->runs, name.len != 0 ? name : tdm_str_of(number))
					       : NULL;
	if (p->run == NULL)
		p->err = -ENOMEM;
	else
		p->run->line = p->line;
	tdm_buf_clear(&p->name);
}

/* "--- NAME ---"; the name is everything between the first and the last dashes. */
static bool begin_phase(struct parser *p, struct tdm_str line)
{
	struct tdm_str name = after(line, "--- ");
	if (name.ptr == NULL)
		return false;
	while (name.len != 0 && (name.ptr[name.len - 1] == ' ' || name.ptr[name.len - 1] == '\r'))
		name.len--;
	if (name.len < 4 || memcmp(name.ptr + name.len - 4, " ---", 4) != 0)
		return false;
	name.len -= 4;
	end_phase(p);
	if (p->run->phase_count == TDM_PHASES_MAX) {
		refuse(p, p->line, 1, "one phase too many: it is left out");
		p->run->incomplete = true;
		return true;
	}
	if (tdm_phase_run_add(p->run, name) == NULL) {
		p->err = -ENOMEM;
		return true;
	}
	p->in_phase = true;
	p->phase_broken = false;
	p->seen = 0;
	p->phase_line = p->line;
	return true;
}

static void read_segment(struct parser *p, struct tdm_str line)
{
	static const char *const labels[] = { "Segment Peak", "Allocations", "Deallocations", "Segment Change" };
	struct tdm_phase_figures *f = figures_of(p);
	int64_t *const figures[] = { &f->dram_peak, &f->dram_allocated, &f->dram_freed, &f->dram_change };
	if (take_figures(p, line, labels, figures, 4))
		p->seen |= SEEN_SEGMENT;
	else
		p->phase_broken = true;
}

static void read_cumulative(struct parser *p, struct tdm_str line)
{
	static const char *const labels[] = { "Cumulative Peak", "Cumulative Current" };
	struct tdm_phase_figures *f = figures_of(p);
	int64_t *const figures[] = { &f->dram_cumulative_peak, &f->dram_cumulative_current };
	if (take_figures(p, line, labels, figures, 2))
		p->seen |= SEEN_CUMULATIVE;
	else
		p->phase_broken = true;
}

/* These are optional for a phase. */
static void read_l1(struct parser *p, struct tdm_str line)
{
	static const char *const labels[] = { "Peak CB", "Peak Buffer", "Peak Total" };
	struct tdm_phase_figures *f = figures_of(p), before = *f;
	int64_t *const figures[] = { &f->l1_peak_cb, &f->l1_peak_buffer, &f->l1_peak_total };
	if (!take_figures(p, line, labels, figures, 3))
		*f = before;
}

static void read_totals(struct parser *p, struct tdm_str line)
{
	static const char *const labels[] = { "Overall DRAM Peak:", "Final DRAM Usage:" };
	int64_t *const figures[] = { &p->run->overall_peak, &p->run->final_current };
	end_phase(p);
	/* The second figure may be missing: other tools print the first one alone. */
	size_t count = after(line, labels[1]).ptr != NULL ? 2 : 1;
	if (!take_figures(p, line, labels, figures, count)) {
		p->run->incomplete = true;
		p->run->overall_peak = p->run->final_current = TDM_PHASE_UNKNOWN;
	}
	end_run(p, true);
}

static void note_fact(struct parser *p, enum fact_kind kind, uint64_t value)
{
	if (p->fact_count == FACTS_MAX)
		return; /* the first ones count */
	if (tdm_reserve(&p->facts, &p->fact_cap, p->fact_count + 1, sizeof *p->facts) != 0) {
		p->err = -ENOMEM;
		return;
	}
	p->facts[p->fact_count++] = (struct fact){ kind, p->offset, value };
}

/* The text after `word` if it is a separate word followed by a blank: a row of a table. */
static struct tdm_str after_row(struct tdm_str line, const char *word)
{
	struct tdm_str value = after(line, word);
	while (value.ptr != NULL) {
		const char *begin = value.ptr - strlen(word);
		bool alone = begin == line.ptr || !is_word(begin[-1]);
		if (alone && value.len != 0 && (*value.ptr == ' ' || *value.ptr == '\t'))
			return value;
		value = after(value, word);
	}
	return value;
}

/* Lines with facts about runs. True if the line is one. */
static bool read_fact(struct parser *p, struct tdm_str line)
{
	uint64_t count;
	int64_t bytes;
	struct tdm_str value = after(line, "Total parameters:");
	value = value.ptr != NULL ? value : after(line, "Number of parameters:");
	if (value.ptr != NULL && take_count(&value, &count)) {
		note_fact(p, FACT_PARAMETERS, count);
		return true;
	}
	value = after(line, "Available Device Memory:");
	if (value.ptr != NULL && take_mb(&value, true, &bytes) && bytes > 0) {
		note_fact(p, FACT_MEMORY, (uint64_t)bytes);
		return true;
	}
	bool row = false;
	value = after_row(line, "params");
	if (value.ptr != NULL && take_count(&value, &count)) {
		note_fact(p, FACT_PARAMETERS_ROW, count);
		row = true;
	}
	value = after_row(line, "memory");
	if (value.ptr != NULL && take_mb(&value, true, &bytes) && bytes > 0) {
		note_fact(p, FACT_MEMORY_ROW, (uint64_t)bytes);
		row = true;
	}
	return row;
}

static void read_line(struct parser *p, struct tdm_str raw)
{
	struct tdm_str line = tdm_log_without_colour(raw, &p->plain);
	if (after(line, "=== Memory Usage Summary ===").ptr != NULL) {
		begin_run(p);
		return;
	}
	if (p->run == NULL) {
		struct tdm_str name = without_head(tdm_str_trim(line));
		if (read_fact(p, line) || name.len == 0 || *name.ptr == '#')
			return;
		tdm_buf_clear(&p->name);
		tdm_buf_add(&p->name, name.ptr, name.len < NAME_MAX_BYTES ? name.len : NAME_MAX_BYTES);
		return;
	}
	if (after(line, "Overall DRAM Peak:").ptr != NULL)
		read_totals(p, line);
	else if (begin_phase(p, line))
		;
	else if (p->in_phase && after(line, "DRAM: Segment Peak").ptr != NULL)
		read_segment(p, line);
	else if (p->in_phase && after(line, "DRAM: Cumulative Peak").ptr != NULL)
		read_cumulative(p, line);
	else if (p->in_phase && after(line, "L1: Peak CB").ptr != NULL)
		read_l1(p, line);
	else
		read_fact(p, line);
}

/* The first fact of `kind` from `begin` to `end`, else the first of the kind after it; NULL: none. */
static const struct fact *find_fact(const struct parser *p, enum fact_kind kind, size_t begin, size_t end)
{
	const struct fact *second = NULL;
	for (size_t i = begin; i < end; i++) {
		if (p->facts[i].kind == kind)
			return &p->facts[i];
		if (second == NULL && p->facts[i].kind == kind + 1)
			second = &p->facts[i];
	}
	return second;
}

static void settle_facts(struct parser *p)
{
	const struct fact *first[] = { find_fact(p, FACT_PARAMETERS, 0, p->fact_count),
		find_fact(p, FACT_MEMORY, 0, p->fact_count) };
	size_t begin = 0, end = 0;
	/* Facts and runs are in file order, so the window only moves forward. */
	for (size_t i = 0; i < p->runs.count; i++) {
		uint64_t offset = p->offsets[i], from = offset > WINDOW ? offset - WINDOW : 0;
		while (end < p->fact_count && p->facts[end].offset < offset)
			end++;
		while (begin < end && p->facts[begin].offset < from)
			begin++;
		const struct fact *parameters = find_fact(p, FACT_PARAMETERS, begin, end);
		const struct fact *memory = find_fact(p, FACT_MEMORY, begin, end);
		parameters = parameters != NULL ? parameters : first[0];
		memory = memory != NULL ? memory : first[1];
		p->runs.runs[i].parameters = parameters != NULL ? parameters->value : 0;
		p->runs.runs[i].device_memory_bytes = memory != NULL ? memory->value : TDM_BYTES_UNKNOWN;
	}
}

static int read_lines(struct parser *p, struct tdm_lines *lines, const struct tdm_input *input, struct tdm_diag *diag)
{
	struct tdm_str line;
	int got;
	for (p->offset = 0; p->err == 0 && (got = tdm_lines_next(lines, &line)) != 0; p->offset = lines->offset) {
		p->line = lines->line;
		if (got > 0)
			read_line(p, line);
		else if (got == -EMSGSIZE) /* no line of a summary is that long */
			refuse(p, p->line, 0, "a line that is too long: it is left out");
		else
			p->err = tdm_input_failed(input, got, 0, diag);
	}
	if (tdm_buf_failed(&p->plain) || tdm_buf_failed(&p->name))
		p->err = -ENOMEM;
	return p->err;
}

static int train_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct parser p = { .sink = sink };
	struct tdm_lines lines;
	int err = tdm_lines_from(&lines, tdm_input_reader(input), LINE_MAX_BYTES);
	tdm_buf_init(&p.plain);
	tdm_buf_init(&p.name);
	err = err != 0 ? err : read_lines(&p, &lines, input, diag);
	/* Runs from before an error are used, too. */
	end_run(&p, false);
	settle_facts(&p);
	for (size_t i = 0; err != -ENOMEM && i < p.runs.count; i++) {
		int taken = sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_RUN, .run = &p.runs.runs[i] });
		err = err != 0 ? err : taken;
	}
	tdm_phase_runs_done(&p.runs);
	tdm_lines_done(&lines);
	tdm_buf_done(&p.plain);
	tdm_buf_done(&p.name);
	free(p.facts);
	free(p.offsets);
	return err;
}

const struct tdm_format tdm_format_train_log = {
	.name = "train_log",
	.summary = "log of a training run",
	.anywhere = "Memory Usage Summary ===",
	.records = train_records,
};
