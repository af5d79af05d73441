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
	struct tdm_core_range *ranges; /* of the last buffer */
	size_t range_count, range_cap;
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

/* ---- buffers of a device ---- */

/* Takes a number below 65,536, which is followed by `separator`, off the beginning of *left. */
static bool take_coordinate(struct tdm_str *left, char separator, uint16_t *value)
{
	size_t len = 0;
	uint64_t number;
	while (len < left->len && left->ptr[len] >= '0' && left->ptr[len] <= '9')
		len++;
	if (tdm_str_parse_u64((struct tdm_str){ left->ptr, len }, &number) != 0 || number > UINT16_MAX ||
		(separator != '\0' && (len == left->len || left->ptr[len] != separator)))
		return false;
	*value = (uint16_t)number;
	*left = tdm_str_from(*left, len + (separator != '\0'));
	return true;
}

/* Takes "x0,y0-x1,y1", or "x,y" for one core, off the beginning of *left. */
static bool take_range(struct tdm_str *left, struct tdm_core_range *range)
{
	if (!take_coordinate(left, ',', &range->x0) || !take_coordinate(left, '\0', &range->y0))
		return false;
	range->x1 = range->x0;
	range->y1 = range->y0;
	if (left->len == 0 || left->ptr[0] != '-')
		return true;
	*left = tdm_str_from(*left, 1);
	return take_coordinate(left, ',', &range->x1) && take_coordinate(left, '\0', &range->y1) &&
	       tdm_core_range_is_valid(range);
}

static bool overlap(const struct tdm_core_range *a, const struct tdm_core_range *b)
{
	return a->x0 <= b->x1 && b->x0 <= a->x1 && a->y0 <= b->y1 && b->y0 <= a->y1;
}

/* Reads ranges joined by '+', which must not overlap, and sets *cores to the number of their cores. */
static void read_grid(struct text_trace *t, struct words *w, struct tdm_str word, uint64_t *cores)
{
	struct tdm_str left = word;
	for (bool more = true; more;) {
		struct tdm_core_range range;
		bool is_good = t->range_count < TDM_RANGES_MAX && take_range(&left, &range);
		for (size_t i = 0; is_good && i < t->range_count; i++)
			is_good = !overlap(&range, &t->ranges[i]);
		more = left.len != 0 && left.ptr[0] == '+';
		if (!is_good || (left.len != 0 && !more)) {
			expected(w, word, "ranges of cores that do not overlap, like 0,0-3,1+5,5");
			return;
		}
		left = tdm_str_from(left, more);
		tdm_grow(&t->ranges, &t->range_cap, t->range_count + 1, sizeof *t->ranges);
		t->ranges[t->range_count++] = range;
		*cores += ((uint64_t)range.x1 - range.x0 + 1) * ((uint64_t)range.y1 - range.y0 + 1);
	}
}

/* The words of a buffer after its kind: numbers first, and words without a value last. */
enum field { SIZE, PAGE, CORES, ON, BOTTOM_UP, GRID, ORDER, PER_CORE, FIELDS };
static const char *const fields[FIELDS] = {
	"size=", "page=", "cores=", "on=", "bottom_up=", "grid=", "order=", "percore"
};

static void read_field(
	struct text_trace *t, struct words *w, struct tdm_str word, enum field field, struct tdm_event *event)
{
	struct tdm_str value = tdm_str_from(word, strlen(fields[field]));
	uint64_t number = field <= BOTTOM_UP ? parse_number(w, value, "a number after '='") : 0, cores = 0;
	bool is_good = true;
	switch (field) {
	case SIZE:
		event->size = number;
		break;
	case PAGE:
		event->page_size = number;
		break;
	case CORES:
		is_good = number != 0 && number <= UINT32_MAX;
		event->cores = (uint32_t)number;
		break;
	case ON:
		is_good = number <= UINT32_MAX;
		event->device = (uint32_t)number;
		event->flags |= TDM_EVENT_BARE;
		break;
	case BOTTOM_UP:
		is_good = number <= 1;
		event->flags |= number != 0 ? TDM_EVENT_BOTTOM_UP : TDM_EVENT_TOP_DOWN;
		break;
	case GRID:
		read_grid(t, w, value, &cores);
		is_good = cores <= UINT32_MAX;
		event->cores = (uint32_t)cores;
		event->ranges = t->ranges;
		event->range_count = (uint32_t)t->range_count;
		break;
	case ORDER:
		is_good = tdm_str_is(value, "col") || tdm_str_is(value, "row");
		event->flags |= tdm_str_is(value, "col") ? TDM_EVENT_COLUMNS : 0;
		break;
	default:
		is_good = value.len == 0;
		event->flags |= TDM_EVENT_PER_CORE;
		break;
	}
	if (!is_good)
		expected(w, word,
			field == CORES       ? "a number of cores from 1 on"
			: field == ORDER     ? "order=row or order=col"
			: field == BOTTOM_UP ? "bottom_up=0 or bottom_up=1"
			: field == PER_CORE  ? "percore"
					     : "a smaller number");
}

/* Reads "buffer NAME KIND size=1024 page=64 cores=8 DIRECTION", with the fields in any order. */
static void read_buffer(struct text_trace *t, struct words *w, struct tdm_event *event)
{
	enum tdm_kind kind;
	unsigned seen = 0;
	read_new_name(t, w, event);
	struct tdm_str word = next_word(w);
	if (tdm_kind_parse(word, &kind) != 0 || kind > TDM_KIND_TRACE)
		expected(w, word, "dram, l1, l1_small or trace");
	else
		event->kind = (uint8_t)kind;
	t->range_count = 0;
	const char *before = w->at;
	for (; (word = next_word(w)).len != 0; before = w->at) {
		unsigned i = 0;
		if (tdm_str_is(word, "bottom") || tdm_str_is(word, "top"))
			break;
		while (i < FIELDS && !tdm_str_begins(word, fields[i]))
			i++;
		if (i == FIELDS) {
			expected(w, word, "size=, page=, cores= or another field, 'bottom' or 'top'");
			return;
		}
		if ((seen & 1U << i) != 0)
			expected(w, word, "every field once");
		if ((i == CORES && (seen & 1U << GRID) != 0) || (i == GRID && (seen & 1U << CORES) != 0))
			expected(w, word, "either cores= or grid=");
		read_field(t, w, word, (enum field)i, event);
		seen |= 1U << i;
	}
	w->at = before; /* put the word back: it is the direction, or the end of the line */
	if ((seen & 1U << SIZE) == 0)
		expected(w, next_word(w), "size=BYTES");
	if ((seen & 1U << PAGE) == 0)
		event->page_size = event->size; /* one page */
	if ((seen & 1U << BOTTOM_UP) != 0)
		end_of_line(w); /* the direction is already given */
	else
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
	free(t->ranges);
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
