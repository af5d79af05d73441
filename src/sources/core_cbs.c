#include "sources/core_cbs.h"
#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "base/reserve.h"
#include "base/units.h"

#include <errno.h>
#include <stdlib.h>

enum { LINE_MAX_BYTES = 1 << 16, SHOWN = 40, CORES_MAX = 1 << 24, CBS_MAX = 1 << 26 };

enum { LINE_OTHER = 0, LINE_CORE = 1 };

struct line {
	struct tdm_str text; /* without escape sequences */
	uint64_t number;
	uint16_t x, y;
	size_t items; /* where they begin */
};

struct reading {
	struct tdm_core_cbs *cores;
	struct tdm_map seen; /* cores of this dump */
	struct tdm_diag *diag;
	struct tdm_buf plain;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t skip_blanks(struct tdm_str text, size_t at)
{
	while (at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == '\t'))
		at++;
	return at;
}

/* A number of at most 16 bits with blanks around it, and the character behind it. */
static bool read_coordinate(struct tdm_str text, size_t *at, char end, uint16_t *value)
{
	size_t from = skip_blanks(text, *at), to = from;
	uint64_t number;
	while (to < text.len && is_digit(text.ptr[to]))
		to++;
	if (tdm_str_parse_u64((struct tdm_str){ text.ptr + from, to - from }, &number) != 0 || number > UINT16_MAX)
		return false;
	to = skip_blanks(text, to);
	if (to >= text.len || text.ptr[to] != end)
		return false;
	*value = (uint16_t)number;
	*at = to + 1;
	return true;
}

/* "Core (x,y):" anywhere in the line. */
static bool find_core(struct line *line)
{
	static const char word[] = "Core";
	struct tdm_str text = line->text;
	for (size_t at = 0; at + sizeof word <= text.len; at++) {
		if (memcmp(text.ptr + at, word, sizeof word - 1) != 0)
			continue;
		size_t next = skip_blanks(text, at + sizeof word - 1);
		if (next >= text.len || text.ptr[next] != '(')
			continue;
		next++;
		if (!read_coordinate(text, &next, ',', &line->x) || !read_coordinate(text, &next, ')', &line->y))
			continue;
		next = skip_blanks(text, next);
		if (next >= text.len || text.ptr[next] != ':')
			continue;
		line->items = next + 1;
		return true;
	}
	return false;
}

/* Whether "CB" and a digit are in the text, in any case. */
static bool names_buffer(struct tdm_str text)
{
	for (size_t i = 0; i + 2 < text.len; i++) {
		if ((text.ptr[i] | 0x20) != 'c' || (text.ptr[i + 1] | 0x20) != 'b')
			continue;
		size_t next = skip_blanks(text, i + 2);
		if (next < text.len && is_digit(text.ptr[next]))
			return true;
	}
	return false;
}

/* The part of the line with the items: a logger adds " (file:line)" behind it. */
static struct tdm_str items_of(const struct line *line)
{
	struct tdm_str items = { line->text.ptr + line->items, line->text.len - line->items };
	for (size_t i = 0; i + 1 < items.len; i++)
		if (items.ptr[i] == ' ' && items.ptr[i + 1] == '(')
			items.len = i;
	return tdm_str_trim(items);
}

static int classify(struct line *line)
{
	if (!find_core(line))
		return LINE_OTHER;
	struct tdm_str items = items_of(line);
	return items.len == 0 || names_buffer(items) ? LINE_CORE : LINE_OTHER;
}

bool tdm_core_cbs_detect(const char *head, size_t len)
{
	struct tdm_lines lines;
	struct tdm_str text;
	tdm_lines_memory(&lines, head, len);
	while (tdm_lines_next(&lines, &text) == 1) {
		struct line line = { .text = text };
		if (find_core(&line) && names_buffer(items_of(&line)))
			return true;
	}
	return false;
}

static int refuse(struct reading *r, const struct line *line, struct tdm_str item, const char *text)
{
	char shown[SHOWN];
	return tdm_diag_set(r->diag, TDM_ESYNTAX, line->number, (uint64_t)(item.ptr - line->text.ptr) + 1, "%s: '%s'",
		text, tdm_str_shown(item, shown, sizeof shown));
}

/* "CB0=1024KB" */
static int read_item(struct reading *r, const struct line *line, struct tdm_str item, struct tdm_core_cb *cb)
{
	const char *equals = memchr(item.ptr, '=', item.len);
	uint64_t index;
	if (equals == NULL || item.len < 3 || (item.ptr[0] | 0x20) != 'c' || (item.ptr[1] | 0x20) != 'b')
		return refuse(r, line, item, "expected CBn=SIZE");
	struct tdm_str number = tdm_str_trim((struct tdm_str){ item.ptr + 2, (size_t)(equals - item.ptr) - 2 });
	struct tdm_str size = { equals + 1, item.len - (size_t)(equals - item.ptr) - 1 };
	if (equals < item.ptr + 2 || tdm_str_parse_u64(number, &index) != 0 || index > TDM_CORE_CBS_INDEX_MAX)
		return refuse(r, line, item, "not the number of a circular buffer");
	cb->index = (uint16_t)index;
	switch (tdm_parse_bytes(size, &cb->bytes, NULL)) {
	case 0:
		return 0;
	case -ERANGE:
		return refuse(r, line, item, "a size that is too large");
	default:
		return refuse(r, line, item, "not a size");
	}
}

/* All items of the line, or none: a core with a part of its buffers would be a wrong figure. */
static int read_items(struct reading *r, const struct line *line, struct tdm_core_line *core)
{
	struct tdm_core_cbs *cores = r->cores;
	struct tdm_str rest = items_of(line);
	core->first = cores->cb_count;
	while (rest.len != 0) {
		const char *comma = memchr(rest.ptr, ',', rest.len);
		size_t len = comma != NULL ? (size_t)(comma - rest.ptr) : rest.len, taken = len + (comma != NULL);
		struct tdm_core_cb cb;
		int err = read_item(r, line, tdm_str_trim((struct tdm_str){ rest.ptr, len }), &cb);
		for (size_t i = core->first; err == 0 && i < core->first + core->count; i++)
			if (cores->cbs[i].index == cb.index)
				err = refuse(r, line, rest, "a circular buffer that comes twice");
		if (err == 0 && __builtin_add_overflow(core->bytes, cb.bytes, &core->bytes))
			err = refuse(r, line, rest, "a sum that is too large");
		if (err != 0)
			return err;
		if (core->first + core->count == CBS_MAX ||
			tdm_reserve(&cores->cbs, &cores->cb_cap, core->first + core->count + 1, sizeof *cores->cbs) !=
				0)
			return -ENOMEM;
		cores->cbs[core->first + core->count++] = cb;
		rest = (struct tdm_str){ rest.ptr + taken, rest.len - taken };
		rest = tdm_str_trim(rest);
	}
	return 0;
}

static int add_core(struct reading *r, const struct line *line)
{
	struct tdm_core_cbs *cores = r->cores;
	struct tdm_core_line core = { .x = line->x, .y = line->y, .line = line->number };
	uint64_t key = (uint64_t)line->y << 16 | line->x;
	int err = read_items(r, line, &core);
	if (err != 0)
		return err;
	uint32_t last = tdm_map_find(&r->seen, key);
	if (cores->dump_count == 0 || (last != TDM_MAP_NONE && last == cores->dump_count - 1))
		cores->dump_count++;
	core.dump = cores->dump_count - 1;
	if (tdm_map_put(&r->seen, key, core.dump) != 0 || cores->core_count == CORES_MAX ||
		tdm_reserve(&cores->cores, &cores->core_cap, cores->core_count + 1, sizeof *cores->cores) != 0)
		return -ENOMEM;
	cores->cores[cores->core_count++] = core;
	cores->cb_count += core.count;
	return 0;
}

/* Without the sequences that colour a line: ESC [ … letter. */
static struct tdm_str plain(struct reading *r, struct tdm_str text)
{
	if (memchr(text.ptr, '\033', text.len) == NULL)
		return text;
	tdm_buf_clear(&r->plain);
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] != '\033' || i + 1 >= text.len || text.ptr[i + 1] != '[') {
			tdm_buf_putc(&r->plain, text.ptr[i]);
			continue;
		}
		i += 2;
		while (i < text.len && (text.ptr[i] < '@' || text.ptr[i] > '~'))
			i++;
	}
	return tdm_buf_str(&r->plain);
}

static int read_lines(struct reading *r, struct tdm_lines *lines, tdm_core_cbs_warn warn, void *context)
{
	struct line line;
	for (;;) {
		int err = tdm_lines_next(lines, &line.text);
		line.number = lines->line;
		if (err == 0)
			return 0;
		if (err == -EMSGSIZE)
			err = tdm_diag_set(r->diag, err, line.number, 0, "a line that is too long");
		else if (err < 0)
			return tdm_diag_set(r->diag, err, 0, 0, "%s", tdm_err_text(err));
		if (err == 1) {
			line.text = plain(r, line.text);
			err = tdm_buf_failed(&r->plain)      ? -ENOMEM
			      : classify(&line) == LINE_CORE ? add_core(r, &line)
							     : 1;
			r->cores->others += err == 1;
		}
		if (err == -ENOMEM)
			return tdm_diag_set(r->diag, err, line.number, 0, "out of memory");
		if (err < 0) {
			r->cores->refused++;
			if (warn != NULL)
				warn(context, r->diag);
		}
	}
}

static int read_all(struct tdm_core_cbs *cores, struct tdm_lines *lines, tdm_core_cbs_warn warn, void *context,
	struct tdm_diag *diag)
{
	struct reading r = { .cores = cores, .diag = diag };
	*cores = (struct tdm_core_cbs){ 0 };
	tdm_buf_init(&r.plain);
	int err = tdm_map_init(&r.seen);
	if (err != 0)
		return tdm_diag_set(diag, err, 0, 0, "out of memory");
	err = read_lines(&r, lines, warn, context);
	tdm_map_done(&r.seen);
	tdm_buf_done(&r.plain);
	return err;
}

int tdm_core_cbs_read(struct tdm_core_cbs *cores, int fd, tdm_core_cbs_warn warn, void *context, struct tdm_diag *diag)
{
	struct tdm_lines lines;
	*cores = (struct tdm_core_cbs){ 0 };
	if (tdm_lines_open(&lines, fd, LINE_MAX_BYTES) != 0)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	int err = read_all(cores, &lines, warn, context, diag);
	tdm_lines_done(&lines);
	return err;
}

int tdm_core_cbs_parse(
	struct tdm_core_cbs *cores, struct tdm_str text, tdm_core_cbs_warn warn, void *context, struct tdm_diag *diag)
{
	struct tdm_lines lines;
	tdm_lines_memory(&lines, text.ptr, text.len);
	return read_all(cores, &lines, warn, context, diag);
}

void tdm_core_cbs_done(struct tdm_core_cbs *cores)
{
	free(cores->cores);
	free(cores->cbs);
	*cores = (struct tdm_core_cbs){ 0 };
}

struct cores_source {
	struct tdm_source source;
	const struct tdm_core_cbs *cores;
	size_t core, cb;
	uint32_t dump; /* the next one that has not begun */
	struct tdm_core_range range;
};

static int cores_next(struct tdm_source *source, struct tdm_event *event, struct tdm_diag *diag)
{
	struct cores_source *s = (struct cores_source *)source;
	(void)diag;
	for (; s->core < s->cores->core_count; s->core++, s->cb = 0) {
		const struct tdm_core_line *core = &s->cores->cores[s->core];
		if (core->dump >= s->dump) {
			s->dump = core->dump + 1;
			*event = (struct tdm_event){ .op = TDM_OP_CLEAR, .position = core->line };
			return 1;
		}
		if (s->cb >= core->count)
			continue;
		const struct tdm_core_cb *cb = &s->cores->cbs[core->first + s->cb++];
		s->range = (struct tdm_core_range){ core->x, core->y, core->x, core->y };
		*event = (struct tdm_event){
			.op = TDM_OP_ALLOC,
			.kind = TDM_KIND_CB,
			.id = (uint64_t)core->y << 32 | (uint64_t)core->x << 16 | cb->index,
			.address = TDM_ADDRESS_UNKNOWN,
			.size = cb->bytes,
			.bytes_per_bank = cb->bytes,
			.banks = 1,
			.position = core->line,
			.ranges = &s->range,
			.range_count = 1,
		};
		return 1;
	}
	return 0;
}

static void cores_close(struct tdm_source *source)
{
	free(source);
}

struct tdm_source *tdm_core_cbs_events(const struct tdm_core_cbs *cores)
{
	static const struct tdm_source_ops ops = { "core-cbs", cores_next, cores_close };
	struct cores_source *s = calloc(1, sizeof *s);
	if (s == NULL)
		return NULL;
	s->source.ops = &ops;
	s->source.refused = cores->refused;
	s->cores = cores;
	return &s->source;
}
