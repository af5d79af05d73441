/*
 * Parses tt-train logs: the memory summaries that tt-train prints with --track_memory, and the lines about parameters
 * and device memory around those summaries. Colours and line prefixes are skipped. A figure that cannot be parsed is
 * refused with its position; its phase is omitted, and reading continues.
 *
 * Each line is examined once. Outside a summary it may give parameters, device memory or, as the last line before a
 * summary, the name of the run. Inside, "--- NAME ---" begins a phase, three kinds of lines give its figures, and the
 * line with "Overall DRAM Peak" ends the summary.
 *
 * At the end, parameters and device memory are assigned to summaries in the same way as in tt-train's own script: the
 * first within the WINDOW bytes before a summary, else the first in the file.
 */
#include "base/err.h"
#include "base/memory.h"
#include "input/door/format.h"
#include "input/log/log_reader.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { WINDOW = 1000, FACTS_MAX = 100000, NAME_MAX_BYTES = 1024, RUNS_MAX = 10000, DIGITS_MAX = 48 };

/* Kinds of facts. The first kind of each pair is preferred. */
enum fact_kind { FACT_PARAMETERS, FACT_PARAMETERS_ROW, FACT_MEMORY, FACT_MEMORY_ROW };

struct fact {
	enum fact_kind kind;
	uint64_t offset; /* offset of the fact's line */
	uint64_t value;  /* parameters or bytes */
};

/* The parts of a phase whose lines have been seen. */
enum { SEEN_SEGMENT = 1, SEEN_CUMULATIVE = 2 };

struct parser {
	const struct tdm_record_sink *sink;
	struct tdm_phase_runs runs;
	uint64_t line, offset;     /* number and offset of the current line */
	struct tdm_phase_run *run; /* the open summary, or NULL */
	bool in_phase, phase_broken;
	unsigned seen;
	uint64_t phase_line;
	struct tdm_buf plain; /* the current line without colours */
	struct tdm_buf name;  /* name of the next run */
	struct fact *facts;
	size_t fact_count, fact_cap;
	uint64_t *offsets; /* offset of each run's first line */
	size_t offset_cap;
	int err; /* nonzero stops the parser */
};

static void refuse(struct parser *p, uint64_t line, uint64_t column, const char *text)
{
	struct tdm_diag diag = { .file = NULL };
	tdm_diag_set(&diag, TDM_ESYNTAX, line, column, "%s", text);
	int err = tdm_record_refuse(p->sink, &diag, false);
	p->err = p->err != 0 ? p->err : err;
}

/* The rest of the line after `word`; a NULL pointer if the line does not contain `word`. */
static struct tdm_str after(struct tdm_str line, const char *word)
{
	const char *at = tdm_str_find(line, word);
	return at != NULL ? tdm_str_rest(line, at + strlen(word)) : (struct tdm_str){ NULL, 0 };
}

static void skip_blanks(struct tdm_str *text)
{
	while (text->len != 0 && (*text->ptr == ' ' || *text->ptr == '\t'))
		*text = tdm_str_from(*text, 1);
}

/* Cuts digits off the front, with a fraction if `decimal`, and removes commas between the digits if commas are
 * allowed. */
static struct tdm_str take_digits(struct tdm_str *text, bool commas, bool decimal, char digits[DIGITS_MAX])
{
	size_t len = 0;
	skip_blanks(text);
	for (; text->len != 0 && len < DIGITS_MAX; *text = tdm_str_from(*text, 1)) {
		char c = *text->ptr;
		bool is_digit = c >= '0' && c <= '9';
		if (!is_digit && !(len != 0 && ((c == '.' && decimal) || (c == ',' && commas))))
			break;
		if (c != ',')
			digits[len++] = c;
	}
	return (struct tdm_str){ digits, len };
}

/* Cuts digits, possibly separated by commas, off the front. */
static bool take_count(struct tdm_str *text, uint64_t *value)
{
	char digits[DIGITS_MAX];
	struct tdm_str number = take_digits(text, true, false, digits);
	return number.len < DIGITS_MAX && tdm_str_parse_u64(number, value) == 0;
}

/* Cuts "+1863.25 MB" off the front and converts it to bytes, rounded to the nearest byte. `commas`: commas are allowed
 * between thousands. */
static bool take_mb(struct tdm_str *text, bool commas, int64_t *bytes)
{
	char digits[DIGITS_MAX];
	skip_blanks(text);
	bool negative = tdm_str_begins(*text, "-");
	if (negative || tdm_str_begins(*text, "+"))
		*text = tdm_str_from(*text, 1);
	uint64_t rounded = tdm_log_bytes(take_digits(text, commas, true, digits), tdm_str_of("MB"));
	skip_blanks(text);
	if (rounded >= (uint64_t)INT64_MAX || !tdm_str_begins(*text, "MB"))
		return false;
	*text = tdm_str_from(*text, 2);
	/* "-0.00" is a negative number too small for two decimals: keep the sign */
	*bytes = !negative ? (int64_t)rounded : rounded == 0 ? -1 : -(int64_t)rounded;
	return true;
}

/* Reads the figures in a line in order; each is a label and a number of MB. */
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

/* Ends the phase; drops it if figures are missing. */
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

/* Ends the summary; `properly`: the summary's last line was found. Otherwise the run's figures come from its phases. */
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

static void begin_run(struct parser *p)
{
	end_run(p, false);
	if (p->runs.count == RUNS_MAX) { /* from then on, the summary's lines count as outside a summary */
		refuse(p, p->line, 1, "one summary too many: it is left out");
		tdm_buf_clear(&p->name);
		return;
	}
	char number[32];
	snprintf(number, sizeof number, "summary %zu", p->runs.count + 1);
	struct tdm_str name = tdm_str_trim(tdm_buf_str(&p->name));
	tdm_grow(&p->offsets, &p->offset_cap, p->runs.count + 1, sizeof *p->offsets);
	p->offsets[p->runs.count] = p->offset;
	p->run = tdm_phase_runs_add(&p->runs, name.len != 0 ? name : tdm_str_of(number));
	p->run->line = p->line;
	tdm_buf_clear(&p->name);
}

/* Recognises "--- NAME ---"; the name is everything between the first and the last dashes. */
static bool begin_phase(struct parser *p, struct tdm_str line)
{
	struct tdm_str name = after(line, "--- ");
	if (name.ptr == NULL)
		return false;
	while (name.len != 0 && (name.ptr[name.len - 1] == ' ' || name.ptr[name.len - 1] == '\r'))
		name.len--;
	if (!tdm_str_ends(name, " ---"))
		return false;
	name.len -= 4;
	end_phase(p);
	if (tdm_phase_run_add(p->run, name) == NULL) {
		refuse(p, p->line, 1, "one phase too many: it is left out");
		p->run->incomplete = true;
		return true;
	}
	p->in_phase = true;
	p->phase_broken = false;
	p->seen = 0;
	p->phase_line = p->line;
	return true;
}

/* Reads a line with a phase's figures. Some parts are optional. */
static bool read_part(struct parser *p, struct tdm_str line)
{
	struct tdm_phase_figures *f = &p->run->phases[p->run->phase_count - 1].figures, before = *f;
	const struct {
		const char *mark;
		unsigned part;
		size_t count;
		const char *labels[4];
		int64_t *figures[4];
	} parts[] = {
		{ "DRAM: Segment Peak", SEEN_SEGMENT, 4,
			{ "Segment Peak", "Allocations", "Deallocations", "Segment Change" },
			{ &f->dram_peak, &f->dram_allocated, &f->dram_freed, &f->dram_change } },
		{ "DRAM: Cumulative Peak", SEEN_CUMULATIVE, 2, { "Cumulative Peak", "Cumulative Current" },
			{ &f->dram_cumulative_peak, &f->dram_cumulative_current } },
		{ "L1: Peak CB", 0, 3, { "Peak CB", "Peak Buffer", "Peak Total" },
			{ &f->l1_peak_cb, &f->l1_peak_buffer, &f->l1_peak_total } },
	};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (tdm_str_find(line, parts[i].mark) == NULL)
			continue;
		if (take_figures(p, line, parts[i].labels, parts[i].figures, parts[i].count))
			p->seen |= parts[i].part;
		else if (parts[i].part == 0)
			*f = before;
		else
			p->phase_broken = true;
		return true;
	}
	return false;
}

static void read_totals(struct parser *p, struct tdm_str line)
{
	static const char *const labels[] = { "Overall DRAM Peak:", "Final DRAM Usage:" };
	int64_t *const figures[] = { &p->run->overall_peak, &p->run->final_current };
	end_phase(p);
	/* The second figure may be missing: other tools print only the first. */
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
		return; /* the file's first facts are kept */
	tdm_grow(&p->facts, &p->fact_cap, p->fact_count + 1, sizeof *p->facts);
	p->facts[p->fact_count++] = (struct fact){ kind, p->offset, value };
}

/* The text after `word`, if that is a separate word followed by a blank: a table row. */
static struct tdm_str after_row(struct tdm_str line, const char *word)
{
	struct tdm_str value = after(line, word);
	while (value.ptr != NULL) {
		const char *begin = value.ptr - strlen(word);
		bool alone = begin == line.ptr || (!isalnum((unsigned char)begin[-1]) && begin[-1] != '_');
		if (alone && value.len != 0 && (*value.ptr == ' ' || *value.ptr == '\t'))
			return value;
		value = after(value, word);
	}
	return value;
}

/* Reads a line with facts about runs. Returns false if the line is of another type. */
static bool read_fact(struct parser *p, struct tdm_str line)
{
	static const struct {
		const char *words;
		enum fact_kind kind;
		bool is_row;
	} facts[] = { { "Total parameters:", FACT_PARAMETERS, false },
		{ "Number of parameters:", FACT_PARAMETERS, false }, { "Available Device Memory:", FACT_MEMORY, false },
		{ "params", FACT_PARAMETERS_ROW, true }, { "memory", FACT_MEMORY_ROW, true } };
	bool is_one = false;
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
		struct tdm_str value = facts[i].is_row ? after_row(line, facts[i].words) : after(line, facts[i].words);
		bool is_count = facts[i].kind < FACT_MEMORY;
		uint64_t count = 0;
		int64_t bytes = 0;
		if (value.ptr == NULL ||
			!(is_count ? take_count(&value, &count) : take_mb(&value, true, &bytes) && bytes > 0))
			continue;
		note_fact(p, facts[i].kind, is_count ? count : (uint64_t)bytes);
		if (!facts[i].is_row)
			return true;
		is_one = true;
	}
	return is_one;
}

static void read_line(struct parser *p, struct tdm_str raw)
{
	struct tdm_str line = tdm_log_without_colour(raw, &p->plain);
	if (tdm_str_find(line, "=== Memory Usage Summary ===") != NULL) {
		begin_run(p);
		return;
	}
	if (p->run == NULL) {
		/* Strips the prefix of the runtime's logger, a launcher or a CI system. */
		struct tdm_log_prefix prefix;
		tdm_log_prefix_parse(tdm_str_trim(line), &prefix);
		struct tdm_str name = tdm_str_trim(prefix.message);
		if (read_fact(p, line) || name.len == 0 || *name.ptr == '#')
			return;
		tdm_buf_clear(&p->name);
		tdm_buf_add(&p->name, name.ptr, name.len < NAME_MAX_BYTES ? name.len : NAME_MAX_BYTES);
		return;
	}
	if (tdm_str_find(line, "Overall DRAM Peak:") != NULL)
		read_totals(p, line);
	else if (!begin_phase(p, line) && !(p->in_phase && read_part(p, line)))
		read_fact(p, line);
}

/* The first fact of `kind` in [begin, end), else the first fact of the next kind, or NULL. */
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

static int take_line(void *to, const struct tdm_lines *at, struct tdm_str line, struct tdm_diag *diag)
{
	struct parser *p = to;
	(void)diag;
	p->line = at->line;
	read_line(p, line);
	p->offset = at->offset;
	return p->err;
}

static int train_records(struct tdm_input *input, const struct tdm_record_sink *sink, struct tdm_diag *diag)
{
	struct parser p = { .sink = sink };
	int err = tdm_format_lines(input, sink, take_line, &p, diag);
	/* Runs completed before an error are kept. */
	end_run(&p, false);
	settle_facts(&p);
	for (size_t i = 0; i < p.runs.count; i++) {
		int taken = sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_RUN, .run = &p.runs.runs[i] });
		err = err != 0 ? err : taken;
	}
	tdm_phase_runs_done(&p.runs);
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
