/*
 * Text traces: a program's requests to the allocator, one per line, for replaying on the device model.
 * docs/formats/trace.md describes the two forms (one memory region; a whole device).
 */
#include "base/err.h"
#include "base/names.h"
#include "sources/format.h"

#include <errno.h>
#include <stdlib.h>

enum { WINDOW_BYTES = 1 << 20, SHOWN_CAP = 44 };

struct text_trace {
	struct tdm_source source;
	const struct tdm_input *input;
	struct tdm_lines lines;
	struct tdm_names names; /* of the buffers that are not freed yet; the number is the buffer's id */
	uint64_t next_id;
	bool is_device; /* which of the two forms it is; valid once described */
	bool described;
};

/* One line being read, word by word. */
struct words {
	const char *line, *at, *end;
	uint64_t number;
	struct tdm_diag *diag;
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
	if (from < w->end && *from == '#')
		w->at = w->end;
	else
		while (w->at < w->end && !is_blank(*w->at))
			w->at++;
	return (struct tdm_str){ from, from < w->end && *from == '#' ? 0 : (size_t)(w->at - from) };
}

static uint32_t column_of(const struct words *w, const char *at)
{
	return (uint32_t)(at - w->line) + 1;
}

/* "expected X, got 'word'", with the column of the word. Unprintable bytes are replaced. */
static int expected(const struct words *w, struct tdm_str word, const char *what)
{
	char shown[SHOWN_CAP];
	if (word.len == 0 && (word.ptr == w->end || *word.ptr == '#'))
		return tdm_diag_set(w->diag, TDM_ESYNTAX, w->number, column_of(w, word.ptr),
			"expected %s, but the line ends here", what);
	return tdm_diag_set(w->diag, TDM_ESYNTAX, w->number, column_of(w, word.ptr), "expected %s, got '%s'", what,
		tdm_str_shown(word, shown, sizeof shown));
}

/* The whole word must be a decimal number. */
static int parse_number(const struct words *w, struct tdm_str word, const char *what, uint64_t *value)
{
	int err = tdm_str_parse_u64(word, value);
	if (err == -ERANGE)
		return tdm_diag_set(w->diag, err, w->number, column_of(w, word.ptr),
			"expected %s: this number does not fit 64 bits", what);
	return err != 0 ? expected(w, word, what) : 0;
}

static int end_of_line(struct words *w)
{
	struct tdm_str word = next_word(w);
	return word.len == 0 ? 0 : expected(w, word, "the end of the line");
}

/* The name of an allocation. Gives the event its id, which stays the same until the name is freed. */
static int read_new_name(struct text_trace *t, struct words *w, struct tdm_event *event)
{
	struct tdm_str name = next_word(w);
	if (name.len == 0 || name.len > TDM_NAME_MAX)
		return expected(w, name, "a name of at most 255 bytes for the buffer");
	uint32_t slot = tdm_names_find(&t->names, name);
	if (slot == TDM_NAME_NONE) {
		if (tdm_names_add(&t->names, name, &slot) != 0)
			return tdm_diag_set(w->diag, -ENOMEM, w->number, 0, "out of memory for names");
		*tdm_names_number(&t->names, slot) = ++t->next_id;
	}
	event->id = *tdm_names_number(&t->names, slot);
	event->name = name;
	event->column = column_of(w, name.ptr);
	return 0;
}

static int read_free(struct text_trace *t, struct words *w, struct tdm_event *event)
{
	struct tdm_str name = next_word(w);
	if (name.len == 0)
		return expected(w, name, "the name of a buffer");
	int err = end_of_line(w);
	if (err != 0)
		return err;
	uint32_t slot = tdm_names_find(&t->names, name);
	if (slot == TDM_NAME_NONE)
		return expected(
			w, name, "the name of a live buffer (this one was never allocated, or is freed already)");
	event->op = TDM_OP_FREE;
	event->id = *tdm_names_number(&t->names, slot);
	event->name = name;
	event->column = column_of(w, name.ptr);
	tdm_names_remove(&t->names, slot);
	return 0;
}

/* "bottom" or "top"; with `optional` it may be missing. */
static int read_direction(struct words *w, bool optional, struct tdm_event *event)
{
	struct tdm_str word = next_word(w);
	if (word.len == 0 && optional)
		return 0;
	if (tdm_str_is(word, "bottom"))
		event->flags |= TDM_EVENT_BOTTOM_UP;
	else if (tdm_str_is(word, "top"))
		event->flags |= TDM_EVENT_TOP_DOWN;
	else
		return expected(w, word, "'bottom' or 'top'");
	return end_of_line(w);
}

static int read_alloc(struct text_trace *t, struct words *w, struct tdm_event *event)
{
	int err = read_new_name(t, w, event);
	if (err == 0)
		err = parse_number(w, next_word(w), "a size in bytes", &event->size);
	if (err == 0)
		err = read_direction(w, false, event);
	event->op = TDM_OP_ALLOC;
	return err;
}

static int read_place(struct text_trace *t, struct words *w, struct tdm_event *event)
{
	int err = read_new_name(t, w, event);
	struct tdm_str word = { 0 };
	if (err == 0) {
		word = next_word(w);
		err = parse_number(w, word, "an address", &event->address);
	}
	if (err == 0 && event->address == TDM_ADDRESS_UNKNOWN)
		err = tdm_diag_set(
			w->diag, -ERANGE, w->number, column_of(w, word.ptr), "expected an address below 2^64 - 1");
	if (err == 0)
		err = parse_number(w, next_word(w), "a size in bytes", &event->size);
	if (err == 0)
		err = end_of_line(w);
	event->op = TDM_OP_ALLOC;
	event->flags |= TDM_EVENT_FIXED;
	return err;
}

/* Parses the value if `word` is "key=value". 1: it is; 0: it is not; or a negative code. */
static int read_pair(const struct words *w, struct tdm_str word, const char *key, uint64_t *value)
{
	size_t len = strlen(key);
	if (word.len <= len || memcmp(word.ptr, key, len) != 0 || word.ptr[len] != '=')
		return 0;
	struct tdm_str rest = { word.ptr + len + 1, word.len - len - 1 };
	int err = parse_number(w, rest, "a number after '='", value);
	return err != 0 ? err : 1;
}

static int read_buffer_words(struct words *w, struct tdm_event *event)
{
	enum { SIZE = 1, PAGE = 2, CORES = 4 };
	unsigned seen = 0;
	uint64_t cores = 0;
	const char *before = w->at;
	for (struct tdm_str word; (word = next_word(w)).len != 0; before = w->at) {
		unsigned key = SIZE;
		if (tdm_str_is(word, "bottom") || tdm_str_is(word, "top"))
			break;
		int got = read_pair(w, word, "size", &event->size);
		if (got == 0 && (got = read_pair(w, word, "page", &event->page_size)) != 0)
			key = PAGE;
		if (got == 0 && (got = read_pair(w, word, "cores", &cores)) != 0)
			key = CORES;
		if (got == 0)
			return expected(w, word, "size=, page=, cores=, 'bottom' or 'top'");
		if (got < 0)
			return got;
		if ((seen & key) != 0)
			return expected(w, word, "size=, page= and cores= once each");
		if (key == CORES && (cores == 0 || cores > UINT32_MAX))
			return expected(w, word, "a number of cores from 1 on");
		seen |= key;
	}
	w->at = before; /* the direction, or the end of the line */
	if ((seen & SIZE) == 0)
		return expected(w, next_word(w), "size=BYTES");
	if ((seen & PAGE) == 0)
		event->page_size = event->size; /* one page */
	event->cores = (uint32_t)cores;
	return read_direction(w, true, event);
}

static int read_buffer(struct text_trace *t, struct words *w, struct tdm_event *event)
{
	enum tdm_kind kind;
	int err = read_new_name(t, w, event);
	if (err != 0)
		return err;
	struct tdm_str word = next_word(w);
	if (tdm_kind_parse(word, &kind) != 0 || kind > TDM_KIND_TRACE)
		return expected(w, word, "dram, l1, l1_small or trace");
	event->op = TDM_OP_ALLOC;
	event->kind = (uint8_t)kind;
	return read_buffer_words(w, event);
}

static int read_description(struct text_trace *t, struct words *w, struct tdm_str verb, struct tdm_event *event)
{
	if (t->described)
		return expected(w, verb, "only one 'region' or 'device' line in a trace");
	const char *end = verb.ptr + verb.len;
	for (struct tdm_str word; (word = next_word(w)).len != 0;)
		end = word.ptr + word.len;
	t->described = true;
	t->is_device = verb.ptr[0] == 'd';
	event->op = TDM_OP_DEVICE;
	event->text = (struct tdm_str){ verb.ptr, (size_t)(end - verb.ptr) };
	event->column = column_of(w, verb.ptr);
	return 0;
}

static int read_shrink(struct words *w, struct tdm_event *event)
{
	struct tdm_str word = next_word(w);
	event->op = TDM_OP_SHRINK;
	int err = parse_number(w, word, "a number of bytes from 1 on", &event->size);
	if (err == 0 && event->size == 0)
		err = expected(w, word, "a number of bytes from 1 on");
	return err != 0 ? err : end_of_line(w);
}

static int read_bare(struct words *w, struct tdm_event *event, enum tdm_op op)
{
	event->op = (uint8_t)op;
	return end_of_line(w);
}

/* Forgets a name that a malformed line introduced: the line does not count. */
static void undo_name(struct text_trace *t, const struct tdm_event *event, uint64_t last_id)
{
	if (event->name.len == 0 || event->id <= last_id)
		return;
	uint32_t slot = tdm_names_find(&t->names, event->name);
	if (slot != TDM_NAME_NONE)
		tdm_names_remove(&t->names, slot);
}

/* A request line after its first word. */
static int read_request(struct text_trace *t, struct words *w, struct tdm_str verb, struct tdm_event *event)
{
	if (tdm_str_is(verb, "free"))
		return read_free(t, w, event);
	if (!t->is_device && tdm_str_is(verb, "alloc"))
		return read_alloc(t, w, event);
	if (t->is_device && tdm_str_is(verb, "buffer"))
		return read_buffer(t, w, event);
	if (tdm_str_is(verb, "stats"))
		return read_bare(w, event, TDM_OP_QUERY);
	if (!t->is_device && tdm_str_is(verb, "place"))
		return read_place(t, w, event);
	if (!t->is_device && tdm_str_is(verb, "shrink"))
		return read_shrink(w, event);
	if (!t->is_device && tdm_str_is(verb, "reset"))
		return read_bare(w, event, TDM_OP_SHRINK);
	return expected(w, verb,
		t->is_device ? "'buffer', 'free' or 'stats'"
			     : "'alloc', 'place', 'free', 'stats', 'shrink' or 'reset'");
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
	if (tdm_str_is(verb, "region") || tdm_str_is(verb, "device"))
		return read_description(t, w, verb, event);
	if (!t->described)
		return expected(w, verb, "a 'region' or 'device' line first");
	int err = read_request(t, w, verb, event);
	if (err < 0)
		undo_name(t, event, last_id);
	return err;
}

static int text_trace_next(struct tdm_source *source, struct tdm_event *event, struct tdm_diag *diag)
{
	struct text_trace *t = (struct text_trace *)source;
	struct tdm_str line;
	int got;
	while ((got = tdm_lines_next(&t->lines, &line)) > 0) {
		struct words w = { line.ptr, line.ptr, line.ptr + line.len, t->lines.line, diag };
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
	t->lines.eof = true; /* the next call must give the end, not fail again */
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
	static const struct tdm_source_ops ops = { "text-trace", text_trace_next, text_trace_close };
	struct text_trace *t = calloc(1, sizeof *t);
	if (t == NULL)
		return NULL;
	t->source.ops = &ops;
	t->input = input;
	if (tdm_names_init(&t->names) == 0 && tdm_lines_from(&t->lines, tdm_input_reader(input), WINDOW_BYTES) == 0)
		return &t->source;
	text_trace_close(&t->source);
	return NULL;
}

/* The first line that is not a comment must describe a device or region, or be a request. */
static bool text_trace_recognise(struct tdm_str head, const char *path)
{
	struct tdm_lines lines;
	struct tdm_str line;
	(void)path;
	tdm_lines_memory(&lines, head.ptr, head.len);
	while (tdm_lines_next(&lines, &line) == 1) {
		struct words w = { line.ptr, line.ptr, line.ptr + line.len, lines.line, NULL };
		struct tdm_str verb = next_word(&w), word;
		if (verb.len == 0)
			continue;
		if (!tdm_str_is(verb, "device") && !tdm_str_is(verb, "region"))
			return tdm_str_is(verb, "alloc") || tdm_str_is(verb, "place") || tdm_str_is(verb, "buffer");
		if (tdm_str_is(verb, "device"))
			next_word(&w); /* the card; the rest is field=value */
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
