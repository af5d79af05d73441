/*
 * Reads text traces: a program's requests to the allocator, one per line, for replay on the device model.
 * docs/formats/trace.md describes the two forms (one memory region; a whole device).
 */
#include "base/err.h"
#include "base/memory.h"
#include "base/names.h"
#include "input/door/format.h"

#include <errno.h>
#include <stdlib.h>

enum { WINDOW_BYTES = 1 << 20, SHOWN_CAP = 44 };

struct text_trace {
	struct tdm_source source;
	const struct tdm_input *input;
	struct tdm_lines lines;
	struct tdm_names names; /* names of live buffers; a name's number is the buffer's id */
	uint64_t next_id;
	bool is_device; /* which of the two forms; valid once the description has been read */
	bool described;
};

/* One line, read word by word. The first error is kept, and no words are returned after it. */
struct words {
	const char *line, *at, *end;
	uint64_t number;
	struct tdm_diag *diag;
	int err;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The next word; empty at the end of the line or at a comment. */
static struct tdm_str next_word(struct words *w)
{
	while (w->at < w->end && is_blank(*w->at))
		w->at++;
	const char *from = w->at;
	bool is_none = w->err != 0 || (from < w->end && *from == '#');
	while (w->at < w->end && (is_none || !is_blank(*w->at)))
		w->at++;
	return (struct tdm_str){ from, is_none ? 0 : (size_t)(w->at - from) };
}

static uint32_t column_of(const struct words *w, const char *at)
{
	return (uint32_t)(at - w->line) + 1;
}

/* Reports "expected X, got 'word'", with the word's column. Unprintable bytes are replaced. */
static void expected(struct words *w, struct tdm_str word, const char *what)
{
	char shown[SHOWN_CAP];
	if (w->err != 0)
		return;
	if (word.len == 0 && (word.ptr == w->end || *word.ptr == '#'))
		w->err = tdm_diag_set(w->diag, TDM_ESYNTAX, w->number, column_of(w, word.ptr),
			"expected %s, but the line ends here", what);
	else
		w->err = tdm_diag_set(w->diag, TDM_ESYNTAX, w->number, column_of(w, word.ptr), "expected %s, got '%s'",
			what, tdm_str_shown(word, shown, sizeof shown));
}

/* The whole word must be a decimal number. */
static uint64_t parse_number(struct words *w, struct tdm_str word, const char *what)
{
	uint64_t value = 0;
	int err = tdm_str_parse_u64(word, &value);
	if (err == -ERANGE && w->err == 0)
		w->err = tdm_diag_set(w->diag, err, w->number, column_of(w, word.ptr),
			"expected %s: this number does not fit 64 bits", what);
	else if (err != 0)
		expected(w, word, what);
	return value;
}

static void end_of_line(struct words *w)
{
	struct tdm_str word = next_word(w);
	if (word.len != 0)
		expected(w, word, "the end of the line");
}

/* Reads the name of an allocation and gives the event an id, which stays the same until the name is freed. */
static void read_new_name(struct text_trace *t, struct words *w, struct tdm_event *event)
{
	struct tdm_str name = next_word(w);
	event->op = TDM_OP_ALLOC;
	if (name.len == 0 || name.len > TDM_NAME_MAX) {
		expected(w, name, "a name of at most 255 bytes for the buffer");
		return;
	}
	uint32_t slot = tdm_names_find(&t->names, name);
	if (slot == TDM_NAME_NONE) {
		tdm_names_add(&t->names, name, &slot);
		*tdm_names_number(&t->names, slot) = ++t->next_id;
	}
	event->id = *tdm_names_number(&t->names, slot);
	event->name = name;
	event->column = column_of(w, name.ptr);
}

static void read_free(struct text_trace *t, struct words *w, struct tdm_event *event)
{
	struct tdm_str name = next_word(w);
	if (name.len == 0)
		expected(w, name, "the name of a buffer");
	end_of_line(w);
	uint32_t slot = w->err == 0 ? tdm_names_find(&t->names, name) : TDM_NAME_NONE;
	if (slot == TDM_NAME_NONE) {
		expected(w, name, "the name of a live buffer (this one was never allocated, or is freed already)");
		return;
	}
	event->op = TDM_OP_FREE;
	event->id = *tdm_names_number(&t->names, slot);
	event->name = name;
	event->column = column_of(w, name.ptr);
	tdm_names_remove(&t->names, slot);
}

/* Reads "bottom" or "top"; with `optional` it may be missing. */
static void read_direction(struct words *w, bool optional, struct tdm_event *event)
{
	struct tdm_str word = next_word(w);
	if (word.len == 0 && optional)
		return;
	if (tdm_str_is(word, "bottom"))
		event->flags |= TDM_EVENT_BOTTOM_UP;
	else if (tdm_str_is(word, "top"))
		event->flags |= TDM_EVENT_TOP_DOWN;
	else
		expected(w, word, "'bottom' or 'top'");
	end_of_line(w);
}

/* Reads "alloc NAME SIZE DIRECTION" or "place NAME ADDRESS SIZE". */
static void read_alloc(struct text_trace *t, struct words *w, bool is_fixed, struct tdm_event *event)
{
	read_new_name(t, w, event);
	if (is_fixed) {
		struct tdm_str word = next_word(w);
		event->address = parse_number(w, word, "an address");
		if (event->address == TDM_ADDRESS_UNKNOWN && w->err == 0)
			w->err = tdm_diag_set(w->diag, -ERANGE, w->number, column_of(w, word.ptr),
				"expected an address below 2^64 - 1");
		event->flags |= TDM_EVENT_FIXED;
	}
	event->size = parse_number(w, next_word(w), "a size in bytes");
	if (is_fixed)
		end_of_line(w);
	else
		read_direction(w, false, event);
}

/* Reads "buffer NAME KIND size=1024 page=64 cores=8 DIRECTION", with the sizes in any order. */
static void read_buffer(struct text_trace *t, struct words *w, struct tdm_event *event)
{
	uint64_t cores = 0;
	enum { SIZE = 1, PAGE = 2, CORES = 4, PAIRS = 3 };
	static const char *const keys[PAIRS] = { "size=", "page=", "cores=" };
	uint64_t *const values[PAIRS] = { &event->size, &event->page_size, &cores };
	enum tdm_kind kind;
	unsigned seen = 0;
	read_new_name(t, w, event);
	struct tdm_str word = next_word(w);
	if (tdm_kind_parse(word, &kind) != 0 || kind > TDM_KIND_TRACE)
		expected(w, word, "dram, l1, l1_small or trace");
	else
		event->kind = (uint8_t)kind;
	const char *before = w->at;
	for (; (word = next_word(w)).len != 0; before = w->at) {
		size_t i = 0;
		if (tdm_str_is(word, "bottom") || tdm_str_is(word, "top"))
			break;
		while (i < PAIRS && !tdm_str_begins(word, keys[i]))
			i++;
		if (i == PAIRS) {
			expected(w, word, "size=, page=, cores=, 'bottom' or 'top'");
			return;
		}
		*values[i] = parse_number(w, tdm_str_from(word, strlen(keys[i])), "a number after '='");
		if ((seen & 1U << i) != 0)
			expected(w, word, "size=, page= and cores= once each");
		if (1U << i == CORES && (cores == 0 || cores > UINT32_MAX))
			expected(w, word, "a number of cores from 1 on");
		seen |= 1U << i;
	}
	w->at = before; /* put the word back: it is the direction, or the end of the line */
	if ((seen & SIZE) == 0)
		expected(w, next_word(w), "size=BYTES");
	if ((seen & PAGE) == 0)
		event->page_size = event->size; /* one page */
	event->cores = (uint32_t)cores;
	read_direction(w, true, event);
}

static void read_description(struct text_trace *t, struct words *w, struct tdm_str verb, struct tdm_event *event)
{
	if (t->described) {
		expected(w, verb, "only one 'region' or 'device' line in a trace");
		return;
	}
	const char *end = verb.ptr + verb.len;
	for (struct tdm_str word; (word = next_word(w)).len != 0;)
		end = word.ptr + word.len;
	t->described = true;
	t->is_device = verb.ptr[0] == 'd';
	event->op = TDM_OP_DEVICE;
	event->text = (struct tdm_str){ verb.ptr, (size_t)(end - verb.ptr) };
	event->column = column_of(w, verb.ptr);
}

/* Reads a request line after its first word. */
static void read_request(struct text_trace *t, struct words *w, struct tdm_str verb, struct tdm_event *event)
{
	bool is_shrink = !t->is_device && tdm_str_is(verb, "shrink"),
	     is_reset = !t->is_device && tdm_str_is(verb, "reset");
	if (tdm_str_is(verb, "free")) {
		read_free(t, w, event);
	} else if (!t->is_device && (tdm_str_is(verb, "alloc") || tdm_str_is(verb, "place"))) {
		read_alloc(t, w, tdm_str_is(verb, "place"), event);
	} else if (t->is_device && tdm_str_is(verb, "buffer")) {
		read_buffer(t, w, event);
	} else if (is_shrink || is_reset || tdm_str_is(verb, "stats")) {
		event->op = is_shrink || is_reset ? TDM_OP_SHRINK : TDM_OP_QUERY;
		struct tdm_str word = is_shrink ? next_word(w) : verb;
		event->size = is_shrink ? parse_number(w, word, "a number of bytes from 1 on") : 0;
		if (is_shrink && event->size == 0)
			expected(w, word, "a number of bytes from 1 on");
		end_of_line(w);
	} else {
		expected(w, verb,
			t->is_device ? "'buffer', 'free' or 'stats'"
				     : "'alloc', 'place', 'free', 'stats', 'shrink' or 'reset'");
	}
}

static int read_line(struct text_trace *t, struct words *w, struct tdm_str verb, struct tdm_event *event)
{
	uint64_t last_id = t->next_id;
	*event = (struct tdm_event){
		.address = TDM_ADDRESS_UNKNOWN,
		.bytes_per_bank = TDM_SIZE_UNKNOWN,
		.position = w->number,
		.column = column_of(w, verb.ptr),
	};
	if (tdm_str_is(verb, "region") || tdm_str_is(verb, "device")) {
		read_description(t, w, verb, event);
		return w->err;
	}
	if (t->described)
		read_request(t, w, verb, event);
	else
		expected(w, verb, "a 'region' or 'device' line first");
	/* A refused line has no effect, so any name that the line introduced is forgotten. */
	uint32_t slot = w->err != 0 && event->name.len != 0 && event->id > last_id
				? tdm_names_find(&t->names, event->name)
				: TDM_NAME_NONE;
	if (slot != TDM_NAME_NONE)
		tdm_names_remove(&t->names, slot);
	return w->err;
}

static int text_trace_next(struct tdm_source *source, struct tdm_event *event, struct tdm_diag *diag)
{
	struct text_trace *t = (struct text_trace *)source;
	struct tdm_str line;
	int got;
	while ((got = tdm_lines_next(&t->lines, &line)) > 0) {
		struct words w = { line.ptr, line.ptr, line.ptr + line.len, t->lines.line, diag, 0 };
		struct tdm_str verb = next_word(&w);
		if (verb.len == 0)
			continue;
		int err = read_line(t, &w, verb, event);
		if (err < 0)
			source->refused++;
		return err < 0 ? err : 1;
	}
	if (got == 0)
		return 0;
	source->refused++;
	if (got == -EMSGSIZE)
		return tdm_diag_set(
			diag, TDM_ESYNTAX, t->lines.line, WINDOW_BYTES + 1, "expected a line of at most 1 MiB");
	source->is_cut = true;
	t->lines.eof = true; /* the next call must report the end, not fail again */
	t->lines.at = t->lines.end;
	return tdm_input_failed(t->input, got, t->lines.line + 1, diag);
}

static void text_trace_close(struct tdm_source *source)
{
	struct text_trace *t = (struct text_trace *)source;
	tdm_lines_done(&t->lines);
	tdm_names_done(&t->names);
	free(t);
}

static struct tdm_source *text_trace_events(struct tdm_input *input)
{
	struct text_trace *t = tdm_zalloc(1, sizeof *t);
	t->source = (struct tdm_source){ .next = text_trace_next, .close = text_trace_close };
	t->input = input;
	tdm_lines_from(&t->lines, tdm_input_reader(input), WINDOW_BYTES);
	return &t->source;
}

/* The first line that is not a comment must describe a device or region, or be a request. */
static bool text_trace_recognise(struct tdm_str head, const char *path)
{
	struct tdm_lines lines;
	struct tdm_str line;
	(void)path;
	tdm_lines_memory(&lines, head.ptr, head.len);
	while (tdm_lines_next(&lines, &line) == 1) {
		struct words w = { line.ptr, line.ptr, line.ptr + line.len, lines.line, NULL, 0 };
		struct tdm_str verb = next_word(&w), word;
		if (verb.len == 0)
			continue;
		if (!tdm_str_is(verb, "device") && !tdm_str_is(verb, "region"))
			return tdm_str_is(verb, "alloc") || tdm_str_is(verb, "place") || tdm_str_is(verb, "buffer");
		if (tdm_str_is(verb, "device"))
			next_word(&w); /* the first word is the card; the others are field=value */
		while ((word = next_word(&w)).len != 0)
			if (memchr(word.ptr, '=', word.len) == NULL)
				return false;
		return true;
	}
	return false;
}

const struct tdm_format tdm_format_text_trace = {
	.name = "text_trace",
	.summary = "trace of allocations",
	.recognise = text_trace_recognise,
	.events = text_trace_events,
};
