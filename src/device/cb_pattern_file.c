/*
 * The pattern file: one thing per line, its words separated by blanks; '#' starts a comment. A word is a name or
 * key=value. Buffers come before the kernels that use them, so that a wrong number is found where it is written. The
 * caller's constants change only if the whole file is right.
 */
#include "base/err.h"
#include "base/file.h"
#include "base/names.h"
#include "base/reserve.h"
#include "base/suggest.h"
#include "base/units.h"
#include "device/card_set.h"
#include "device/cb_pattern.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FILE_MAX = 4 * 1024 * 1024, FACTOR_MAX = 1000000, PAGES_MAX = 65535 };

struct parser {
	struct tdm_cb_pattern *p;
	struct tdm_core_speed speed;
	struct tdm_diag *diag;
	struct tdm_str line, rest; /* the line, and what is left of it */
	uint64_t number;
	uint64_t page_bytes;                        /* of buffers that do not say it */
	struct tdm_names kernels;                   /* each with its place in the pattern */
	uint16_t *places;                           /* of the buffers in the pattern, by index, plus 1; 0: nowhere */
	struct tdm_pattern_buffer *buffer;          /* of the line */
	struct tdm_pattern_stage *stage;            /* the same */
	uint64_t tiles_line, cores_line, name_line; /* where they are; 0: nowhere */
	uint64_t set_lines[TDM_SPEED_COUNT];
};

#define REFUSE(ps, at, ...) \
	tdm_diag_set((ps)->diag, TDM_ESYNTAX, (ps)->number, (uint64_t)((at).ptr - (ps)->line.ptr) + 1, __VA_ARGS__)

/* The next word; empty at the end of the line. */
static struct tdm_str next_word(struct parser *ps)
{
	struct tdm_str word = tdm_str_trim(ps->rest);
	size_t len = 0;
	while (len < word.len && word.ptr[len] != ' ' && word.ptr[len] != '\t')
		len++;
	ps->rest = (struct tdm_str){ word.ptr + len, word.len - len };
	word.len = len;
	return word;
}

static const char *shown(struct tdm_str text, char dst[TDM_CARD_SHOWN_CAP])
{
	return tdm_card_shown(text, dst);
}
#define SHOWN(text) shown(text, (char[TDM_CARD_SHOWN_CAP]){ 0 })

/* A number from `least` to `most`. */
static int take_number(struct parser *ps, struct tdm_str text, uint64_t least, uint64_t most, uint64_t *number)
{
	uint64_t value;
	if (tdm_str_parse_u64(text, &value) != 0 || value < least || value > most)
		return REFUSE(ps, text, "expected a number from %" PRIu64 " to %" PRIu64 ", not '%s'", least, most,
			SHOWN(text));
	*number = value;
	return 0;
}

static int take_u32(struct parser *ps, struct tdm_str text, uint64_t least, uint64_t most, uint32_t *number)
{
	uint64_t value = 0;
	int err = take_number(ps, text, least, most, &value);
	*number = (uint32_t)value;
	return err;
}

static int take_format(struct parser *ps, struct tdm_str text, uint64_t *bytes)
{
	const struct tdm_data_format *format = tdm_data_format_find(text);
	if (format == NULL || format->tile_bytes == 0)
		return REFUSE(ps, text, "'%s' is not a format with tiles; bf16, fp32 and bfp8 are some", SHOWN(text));
	*bytes = format->tile_bytes;
	return 0;
}

static int take_page(struct parser *ps, struct tdm_str text, uint64_t *bytes)
{
	if (tdm_parse_bytes(text, bytes, NULL) != 0 || *bytes == 0 || *bytes > TDM_PATTERN_PAGE_MAX)
		return REFUSE(ps, text,
			"expected the bytes of a page, from 1 to %" PRIu64 ", such as 2048 or 2K, not '%s'",
			TDM_PATTERN_PAGE_MAX, SHOWN(text));
	return 0;
}

/* A key of a buffer or a kernel. The value of a flag is empty. Of several that say the same thing, a line has one. */
struct key {
	const char *name;
	bool is_flag;
	int (*take)(struct parser *ps, struct tdm_str value);
	const char *says; /* what they say; NULL: no other key does */
};

static int take_pages(struct parser *ps, struct tdm_str value)
{
	return take_u32(ps, value, 1, UINT32_MAX, &ps->buffer->pages);
}

static int take_buffer_format(struct parser *ps, struct tdm_str value)
{
	return take_format(ps, value, &ps->buffer->page_bytes);
}

static int take_buffer_page(struct parser *ps, struct tdm_str value)
{
	return take_page(ps, value, &ps->buffer->page_bytes);
}

static int take_total(struct parser *ps, struct tdm_str value)
{
	return take_number(ps, value, 1, TDM_PATTERN_TILES_MAX, &ps->buffer->total);
}

static int take_fixed(struct parser *ps, struct tdm_str value)
{
	(void)value;
	ps->buffer->is_fixed = true;
	return 0;
}

static const struct key buffer_keys[] = {
	{ "pages", false, take_pages, NULL },
	{ "format", false, take_buffer_format, "size of a page" },
	{ "page", false, take_buffer_page, "size of a page" },
	{ "total", false, take_total, NULL },
	{ "fixed", true, take_fixed, NULL },
	{ 0 },
};

/* "0:4": a buffer and the pages of each round; "0" is one page. Several are separated by commas. */
static int take_use(struct parser *ps, struct tdm_str text, struct tdm_pattern_use *use)
{
	const char *colon = memchr(text.ptr, ':', text.len);
	struct tdm_str index = { text.ptr, colon != NULL ? (size_t)(colon - text.ptr) : text.len };
	uint64_t number;
	int err = take_number(ps, index, 0, UINT32_MAX, &number);
	use->pages = 1;
	if (err == 0 && colon != NULL)
		err = take_u32(ps, (struct tdm_str){ colon + 1, text.len - index.len - 1 }, 1, PAGES_MAX, &use->pages);
	if (err != 0)
		return err;
	uint16_t place = number < TDM_PATTERN_BUFFERS_MAX ? ps->places[number] : 0;
	if (place == 0)
		return REFUSE(ps, text,
			"buffer %" PRIu64 " is not declared: add a line 'buffer %" PRIu64 " pages=N' above", number,
			number);
	use->buffer = (uint16_t)(place - 1);
	return 0;
}

static int out_of_memory(struct parser *ps)
{
	return tdm_diag_set(ps->diag, -ENOMEM, ps->number, 0, "out of memory");
}

static int take_uses(struct parser *ps, struct tdm_str value, struct tdm_pattern_uses *uses)
{
	struct tdm_cb_pattern *p = ps->p;
	uses->first = (uint32_t)p->use_count;
	while (value.len != 0 || uses->count == 0) {
		const char *comma = value.len != 0 ? memchr(value.ptr, ',', value.len) : NULL;
		struct tdm_str one = { value.ptr, comma != NULL ? (size_t)(comma - value.ptr) : value.len };
		if (p->use_count == TDM_PATTERN_USES_MAX)
			return REFUSE(
				ps, one, "all kernels together pop and push at most %d buffers", TDM_PATTERN_USES_MAX);
		if (tdm_reserve(&p->uses, &p->use_cap, p->use_count + 1, sizeof *p->uses) != 0)
			return out_of_memory(ps);
		int err = take_use(ps, one, &p->uses[p->use_count]);
		if (err != 0)
			return err;
		p->use_count++;
		uses->count++;
		size_t done = one.len + (comma != NULL);
		value = (struct tdm_str){ value.ptr + done, value.len - done };
		if (comma != NULL && value.len == 0)
			return REFUSE(ps, value, "a buffer is missing after the comma");
	}
	return 0;
}

static int take_pop(struct parser *ps, struct tdm_str value)
{
	return take_uses(ps, value, &ps->stage->pops);
}

static int take_push(struct parser *ps, struct tdm_str value)
{
	return take_uses(ps, value, &ps->stage->pushes);
}

static int take_op(struct parser *ps, struct tdm_str value)
{
	struct tdm_suggest suggest;
	tdm_suggest_init(&suggest, value);
	for (int i = 0; i < TDM_TILE_OPS; i++) {
		if (tdm_str_is(value, tdm_tile_op_name((enum tdm_tile_op)i))) {
			ps->stage->op = (uint8_t)i;
			return 0;
		}
		tdm_suggest_offer(&suggest, tdm_tile_op_name((enum tdm_tile_op)i));
	}
	return REFUSE(ps, value, "no operation is called '%s'%s%s; cycles=N says what one takes", SHOWN(value),
		suggest.best != NULL ? ": did you mean " : "", suggest.best != NULL ? suggest.best : "");
}

static int take_cycles(struct parser *ps, struct tdm_str value)
{
	uint64_t cycles = 0;
	int err = take_number(ps, value, 0, FACTOR_MAX, &cycles);
	ps->stage->cycles = (double)cycles;
	return err;
}

static int take_factor(struct parser *ps, struct tdm_str value)
{
	return take_u32(ps, value, 1, FACTOR_MAX, &ps->stage->factor);
}

static int take_times(struct parser *ps, struct tdm_str value)
{
	return take_u32(ps, value, 1, TDM_PATTERN_TIMES_MAX, &ps->stage->times);
}

static int take_ahead(struct parser *ps, struct tdm_str value)
{
	return take_u32(ps, value, 1, TDM_PATTERN_AHEAD_MAX, &ps->stage->ahead);
}

static int take_ids(struct parser *ps, struct tdm_str value)
{
	return take_u32(ps, value, 1, TDM_PATTERN_IDS_MAX, &ps->stage->ids);
}

static int take_flush(struct parser *ps, struct tdm_str value)
{
	if (ps->stage->work != TDM_STAGE_WRITE)
		return REFUSE(ps, value, "only writes are flushed");
	ps->stage->is_flush = true;
	return 0;
}

static int take_dram(struct parser *ps, struct tdm_str value)
{
	(void)value;
	ps->stage->is_l1 = false;
	return 0;
}

static int take_l1(struct parser *ps, struct tdm_str value)
{
	(void)value;
	ps->stage->is_l1 = true;
	return 0;
}

static const struct key stage_keys[] = {
	{ "dram", true, take_dram, "memory" },
	{ "l1", true, take_l1, "memory" },
	{ "pop", false, take_pop, NULL },
	{ "push", false, take_push, NULL },
	{ "op", false, take_op, "operation" },
	{ "cycles", false, take_cycles, "operation" },
	{ "factor", false, take_factor, NULL },
	{ "times", false, take_times, NULL },
	{ "ahead", false, take_ahead, "blocks in flight" },
	{ "ids", false, take_ids, "blocks in flight" },
	{ "flush", true, take_flush, NULL },
	{ 0 },
};

/* Refuses a key that the line already has, or that says the same as one before it. */
static int check_new(
	struct parser *ps, struct tdm_str word, const struct key *keys, const struct key *key, uint32_t *seen)
{
	for (const struct key *other = keys; other->name != NULL; other++) {
		bool is_there = (*seen >> (other - keys) & 1) != 0;
		if (is_there && other == key)
			return REFUSE(ps, word, "'%s' is there twice: remove one", key->name);
		if (is_there && key->says != NULL && other->says != NULL && strcmp(key->says, other->says) == 0)
			return REFUSE(ps, word, "'%s' and '%s' both say the %s: remove one", other->name, key->name,
				key->says);
	}
	*seen |= UINT32_C(1) << (key - keys);
	return 0;
}

/* The rest of the line as keys and values. */
static int take_keys(struct parser *ps, const struct key *keys)
{
	uint32_t seen = 0;
	for (struct tdm_str word; (word = next_word(ps)).len != 0;) {
		const char *equals = memchr(word.ptr, '=', word.len);
		struct tdm_str name = { word.ptr, equals != NULL ? (size_t)(equals - word.ptr) : word.len };
		struct tdm_str value = { name.ptr + name.len + (equals != NULL),
			word.len - name.len - (equals != NULL) };
		const struct key *key = keys;
		struct tdm_suggest suggest;
		tdm_suggest_init(&suggest, name);
		for (; key->name != NULL && !tdm_str_is(name, key->name); key++)
			tdm_suggest_offer(&suggest, key->name);
		if (key->name == NULL)
			return REFUSE(ps, word, "'%s' is not understood here%s%s", SHOWN(name),
				suggest.best != NULL ? ": did you mean " : "",
				suggest.best != NULL ? suggest.best : "");
		if (key->is_flag == (equals != NULL))
			return REFUSE(ps, word, key->is_flag ? "'%s' has no value" : "'%s' needs a value: %s=...",
				key->name, key->name);
		int err = check_new(ps, word, keys, key, &seen);
		err = err != 0 ? err : key->take(ps, value);
		if (err != 0)
			return err;
	}
	return 0;
}

static int take_buffer(struct parser *ps)
{
	struct tdm_cb_pattern *p = ps->p;
	struct tdm_str word = next_word(ps);
	uint64_t index = 0;
	int err = take_number(ps, word, 0, TDM_PATTERN_BUFFERS_MAX - 1, &index);
	if (err != 0)
		return err;
	if (ps->places[index] != 0)
		return REFUSE(ps, word, "buffer %" PRIu64 " was already declared in line %" PRIu64, index,
			p->buffers[ps->places[index] - 1].line);
	if (tdm_reserve(&p->buffers, &p->buffer_cap, p->buffer_count + 1, sizeof *p->buffers) != 0)
		return out_of_memory(ps);
	ps->buffer = &p->buffers[p->buffer_count++];
	ps->places[index] = (uint16_t)p->buffer_count;
	*ps->buffer = (struct tdm_pattern_buffer){
		.index = (uint32_t)index, .page_bytes = ps->page_bytes, .line = ps->number
	};
	err = take_keys(ps, buffer_keys);
	if (err == 0 && ps->buffer->pages == 0)
		return REFUSE(ps, word, "buffer %" PRIu64 " has no depth: add pages=N", index);
	return err;
}

static int add_kernel(struct parser *ps, struct tdm_str at, const char *name, uint32_t *slot)
{
	struct tdm_cb_pattern *p = ps->p;
	if (p->kernel_count == TDM_PATTERN_KERNELS_MAX)
		return REFUSE(ps, at, "a pattern has at most %d kernels", TDM_PATTERN_KERNELS_MAX);
	if (tdm_reserve(&p->kernels, &p->kernel_cap, p->kernel_count + 1, sizeof *p->kernels) != 0 ||
		tdm_names_add(&ps->kernels, tdm_str_of(name), slot) != 0)
		return out_of_memory(ps);
	*tdm_names_number(&ps->kernels, *slot) = p->kernel_count;
	struct tdm_pattern_kernel *kernel = &p->kernels[p->kernel_count++];
	*kernel = (struct tdm_pattern_kernel){ 0 };
	snprintf(kernel->name, sizeof kernel->name, "%s", name);
	return 0;
}

static int find_kernel(struct parser *ps, struct tdm_str name, uint16_t *kernel)
{
	if (name.len == 0 || name.len >= TDM_PATTERN_NAME_CAP || memchr(name.ptr, '=', name.len) != NULL)
		return REFUSE(ps, name, "expected the kernel's name, of 1 to %d characters", TDM_PATTERN_NAME_CAP - 1);
	char copy[TDM_PATTERN_NAME_CAP];
	tdm_str_shown(name, copy, sizeof copy);
	uint32_t slot = tdm_names_find(&ps->kernels, tdm_str_of(copy));
	int err = slot == TDM_NAME_NONE ? add_kernel(ps, name, copy, &slot) : 0;
	if (err == 0)
		*kernel = (uint16_t)*tdm_names_number(&ps->kernels, slot);
	return err;
}

static int take_kernel(struct parser *ps)
{
	static const char *const works[] = { "read", "compute", "write" };
	struct tdm_cb_pattern *p = ps->p;
	struct tdm_str name = next_word(ps), work = next_word(ps);
	if (p->stage_count == TDM_PATTERN_STAGES_MAX)
		return REFUSE(ps, name, "a pattern has at most %d lines for kernels", TDM_PATTERN_STAGES_MAX);
	if (tdm_reserve(&p->stages, &p->stage_cap, p->stage_count + 1, sizeof *p->stages) != 0)
		return out_of_memory(ps);
	ps->stage = &p->stages[p->stage_count];
	*ps->stage = (struct tdm_pattern_stage){
		.ahead = 1, .times = 1, .factor = 1, .cycles = (double)NAN, .line = ps->number
	};
	int err = find_kernel(ps, name, &ps->stage->kernel);
	if (err != 0)
		return err;
	size_t i = 0;
	while (i < 3 && !tdm_str_is(work, works[i]))
		i++;
	if (i == 3)
		return REFUSE(
			ps, work, "expected read, compute or write after the kernel's name, not '%s'", SHOWN(work));
	ps->stage->work = (uint8_t)i;
	p->stage_count++;
	return take_keys(ps, stage_keys);
}

/* Refuses a line that says again what a line before it has said for the whole pattern. */
static int take_once(struct parser *ps, uint64_t *line)
{
	if (*line != 0)
		return tdm_diag_set(ps->diag, TDM_ESYNTAX, ps->number, 1,
			"line %" PRIu64 " already says that: remove one of the two", *line);
	*line = ps->number;
	return 0;
}

static int take_tiles(struct parser *ps)
{
	int err = take_once(ps, &ps->tiles_line);
	return err != 0 ? err : take_number(ps, next_word(ps), 1, TDM_PATTERN_TILES_MAX, &ps->p->tiles);
}

static int take_cores(struct parser *ps)
{
	int err = take_once(ps, &ps->cores_line);
	return err != 0 ? err : take_u32(ps, next_word(ps), 1, TDM_PATTERN_CORES_MAX, &ps->p->cores);
}

static int take_default_format(struct parser *ps)
{
	return take_format(ps, next_word(ps), &ps->page_bytes);
}

static int take_name(struct parser *ps)
{
	tdm_str_shown(tdm_str_trim(ps->rest), ps->p->name, sizeof ps->p->name);
	ps->rest.len = 0;
	return take_once(ps, &ps->name_line);
}

static int take_set(struct parser *ps)
{
	struct tdm_str assignment = tdm_str_trim(ps->rest);
	ps->rest.len = 0;
	struct tdm_diag diag = { 0 };
	struct tdm_core_speed one = { 0 };
	int err = tdm_core_speed_set(&one, assignment, &diag);
	if (err != 0)
		return tdm_diag_set(ps->diag, err, ps->number, (uint64_t)(assignment.ptr - ps->line.ptr) + diag.column,
			"%s", diag.text);
	for (int i = 0; i < TDM_SPEED_COUNT && err == 0; i++)
		if (one.tag[i] == TDM_SPEED_GIVEN)
			err = take_once(ps, &ps->set_lines[i]);
	return err != 0 ? err : tdm_core_speed_set(&ps->speed, assignment, &diag);
}

static const struct {
	const char *word;
	int (*take)(struct parser *ps);
} lines_of_file[] = {
	{ "tiles", take_tiles },
	{ "cores", take_cores },
	{ "format", take_default_format },
	{ "name", take_name },
	{ "set", take_set },
	{ "buffer", take_buffer },
	{ "kernel", take_kernel },
};

static int take_line(struct parser *ps, struct tdm_str line)
{
	const char *comment = line.len != 0 ? memchr(line.ptr, '#', line.len) : NULL;
	struct tdm_suggest suggest;
	ps->line = ps->rest = line;
	if (comment != NULL)
		ps->rest.len = (size_t)(comment - line.ptr);
	struct tdm_str word = next_word(ps);
	if (word.len == 0)
		return 0;
	tdm_suggest_init(&suggest, word);
	for (size_t i = 0; i < sizeof lines_of_file / sizeof *lines_of_file; i++) {
		if (tdm_str_is(word, lines_of_file[i].word)) {
			int err = lines_of_file[i].take(ps);
			struct tdm_str left = err == 0 ? next_word(ps) : (struct tdm_str){ 0 };
			return left.len != 0 ? REFUSE(ps, left, "'%s' is too much", SHOWN(left)) : err;
		}
		tdm_suggest_offer(&suggest, lines_of_file[i].word);
	}
	return REFUSE(ps, word, "a line begins with tiles, cores, format, name, set, buffer or kernel, not '%s'%s%s",
		SHOWN(word), suggest.best != NULL ? ": did you mean " : "", suggest.best != NULL ? suggest.best : "");
}

static int settle(struct parser *ps)
{
	struct tdm_cb_pattern *p = ps->p;
	if (ps->tiles_line == 0)
		return tdm_diag_set(ps->diag, TDM_ESYNTAX, 0, 0, "expected a line 'tiles N'");
	for (size_t i = 0; i < p->buffer_count; i++)
		p->buffers[i].total = p->buffers[i].total != 0 ? p->buffers[i].total : p->tiles;
	return tdm_pattern_settle(p, ps->diag);
}

static int take_lines(struct parser *ps, struct tdm_str text)
{
	struct tdm_lines lines;
	struct tdm_str line;
	int err = 0;
	if (tdm_names_init(&ps->kernels) != 0 || ps->places == NULL)
		return out_of_memory(ps);
	tdm_lines_memory(&lines, text.ptr, text.len);
	while (err == 0 && tdm_lines_next(&lines, &line) > 0) {
		ps->number = lines.line;
		err = take_line(ps, line);
	}
	tdm_lines_done(&lines);
	return err != 0 ? err : settle(ps);
}

int tdm_pattern_parse(
	struct tdm_str text, struct tdm_cb_pattern *pattern, struct tdm_core_speed *speed, struct tdm_diag *diag)
{
	*pattern = (struct tdm_cb_pattern){ .cores = 1 };
	if (text.len > FILE_MAX)
		return tdm_diag_set(diag, -EFBIG, 0, 0, "a pattern file has at most %d bytes", FILE_MAX);
	struct parser ps = { .p = pattern, .speed = *speed, .diag = diag };
	ps.page_bytes = tdm_data_format_find(tdm_str_of("fp32"))->tile_bytes;
	ps.places = calloc(TDM_PATTERN_BUFFERS_MAX, sizeof *ps.places);
	int err = take_lines(&ps, text);
	if (err == 0)
		*speed = ps.speed;
	else
		tdm_pattern_done(pattern);
	tdm_names_done(&ps.kernels);
	free(ps.places);
	return err;
}

int tdm_pattern_load(
	const char *path, struct tdm_cb_pattern *pattern, struct tdm_core_speed *speed, struct tdm_diag *diag)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	*pattern = (struct tdm_cb_pattern){ 0 };
	int err = tdm_file_load(path, FILE_MAX, "pattern file", &text, diag);
	if (err == 0)
		err = tdm_pattern_parse(tdm_buf_str(&text), pattern, speed, diag);
	tdm_buf_done(&text);
	return err;
}
