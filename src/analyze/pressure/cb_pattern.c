#include "analyze/pressure/cb_pattern.h"
#include "base/err.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/number.h"
#include "base/units.h"
#include "model/card/card.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 4 * 1024 * 1024, FACTOR_MAX = 1000000, PAGES_MAX = 65535 };

static const char *const op_names[] = {
#define X(id, name) name,
	TDM_TILE_OP_LIST(X)
#undef X
};

bool tdm_pattern_is_file(const char *name)
{
	size_t len = strlen(name), end = sizeof TDM_PATTERN_ENDING - 1;
	return len > end && strcmp(name + len - end, TDM_PATTERN_ENDING) == 0;
}

void tdm_pattern_done(struct tdm_cb_pattern *p)
{
	free(p->buffers);
	free(p->kernels);
	free(p->stages);
	free(p->uses);
	*p = (struct tdm_cb_pattern){ 0 };
}

void tdm_pattern_copy(const struct tdm_cb_pattern *p, struct tdm_cb_pattern *copy)
{
	*copy = *p;
	copy->buffers = tdm_copy_of(p->buffers, p->buffer_count * sizeof *p->buffers);
	copy->kernels = tdm_copy_of(p->kernels, p->kernel_count * sizeof *p->kernels);
	copy->stages = tdm_copy_of(p->stages, p->stage_count * sizeof *p->stages);
	copy->uses = tdm_copy_of(p->uses, p->use_count * sizeof *p->uses);
	copy->buffer_cap = p->buffer_count;
	copy->kernel_cap = p->kernel_count;
	copy->stage_cap = p->stage_count;
	copy->use_cap = p->use_count;
}

uint64_t tdm_common_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* Records which stage pushes or pops a buffer, the pages that it moves per round, and which depths are possible. */
static int set_end(struct tdm_cb_pattern *p, const struct tdm_pattern_stage *s, const struct tdm_pattern_use *use,
	bool is_push, struct tdm_diag *diag)
{
	struct tdm_pattern_buffer *b = &p->buffers[use->buffer];
	uint16_t *end = is_push ? &b->producer : &b->consumer;
	if (*end != TDM_PATTERN_NONE && *end != s->kernel)
		return tdm_diag_set(diag, TDM_EREFUSED, s->line, 0,
			"both %s and %s %s buffer %" PRIu32 ", which has one %s: give one of them another buffer",
			p->kernels[*end].name, p->kernels[s->kernel].name, is_push ? "push to" : "pop", b->index,
			is_push ? "producer" : "consumer");
	uint64_t blocks = !is_push ? 1 : s->ids != 0 ? s->ids : s->ahead;
	uint64_t step = b->step / tdm_common_divisor(b->step, use->pages) * (uint64_t)use->pages;
	*end = s->kernel;
	b->round_pages[is_push] += (uint64_t)use->pages * s->times;
	b->round_calls[is_push] += s->times;
	b->step = (uint32_t)tdm_min(step, UINT32_MAX);
	b->least = (uint32_t)tdm_max(b->least, tdm_min(blocks * use->pages, UINT32_MAX));
	return 0;
}

static int set_ends(struct tdm_cb_pattern *p, struct tdm_diag *diag)
{
	int err = 0;
	for (size_t i = 0; i < p->buffer_count; i++) {
		struct tdm_pattern_buffer *b = &p->buffers[i];
		b->producer = b->consumer = TDM_PATTERN_NONE;
		b->step = b->least = 1;
		memset(b->round_pages, 0, sizeof b->round_pages);
		memset(b->round_calls, 0, sizeof b->round_calls);
	}
	for (size_t i = 0; i < p->stage_count && err == 0; i++) {
		const struct tdm_pattern_stage *s = &p->stages[i];
		for (size_t k = 0; k < s->pushes.count && err == 0; k++)
			err = set_end(p, s, tdm_pattern_use(p, &s->pushes, k), true, diag);
		for (size_t k = 0; k < s->pops.count && err == 0; k++)
			err = set_end(p, s, tdm_pattern_use(p, &s->pops, k), false, diag);
	}
	for (size_t i = 0; i < p->buffer_count; i++) {
		struct tdm_pattern_buffer *b = &p->buffers[i];
		uint64_t least = ((uint64_t)b->least + b->step - 1) / b->step * b->step;
		b->least = (uint32_t)tdm_min(least, UINT32_MAX);
	}
	return err;
}

static int check_buffer(const struct tdm_pattern_buffer *b, struct tdm_diag *diag)
{
	if (b->page_bytes == 0 || b->pages == 0)
		return tdm_diag_set(diag, TDM_EREFUSED, b->line, 0,
			"buffer %" PRIu32 " has no %s: give %s=N, at least 1", b->index,
			b->pages == 0 ? "pages" : "page size", b->pages == 0 ? "pages" : "page");
	if (b->page_bytes > TDM_PATTERN_PAGE_MAX)
		return tdm_diag_set(diag, TDM_EREFUSED, b->line, 0,
			"buffer %" PRIu32 ": a page has at most %" PRIu64 " bytes", b->index, TDM_PATTERN_PAGE_MAX);
	if (b->producer == TDM_PATTERN_NONE || b->consumer == TDM_PATTERN_NONE)
		return tdm_diag_set(diag, TDM_EREFUSED, b->line, 0,
			"no kernel %s buffer %" PRIu32 ": add %s=%" PRIu32 ":1 to one, or remove the buffer",
			b->producer == TDM_PATTERN_NONE ? "pushes to" : "pops", b->index,
			b->producer == TDM_PATTERN_NONE ? "push" : "pop", b->index);
	return 0;
}

/* Counts the rounds of a buffer's producer or consumer. A last round with fewer pages is possible only if nothing else
 * in the round is repeated. */
static int count_rounds(struct tdm_cb_pattern *p, size_t buffer, bool is_push, struct tdm_diag *diag)
{
	const struct tdm_pattern_buffer *b = &p->buffers[buffer];
	uint64_t pages = b->round_pages[is_push];
	struct tdm_pattern_kernel *kernel = &p->kernels[is_push ? b->producer : b->consumer];
	uint64_t rounds = b->total / pages + (b->total % pages != 0);
	if (kernel->rounds != 0 && kernel->rounds != rounds)
		return tdm_diag_set(diag, TDM_EREFUSED, b->line, 0,
			"%s makes %" PRIu64 " rounds for buffer %" PRIu32 ", but %" PRIu64 " for buffer %" PRIu32
			": change its pages per round, or total=N of a buffer",
			kernel->name, kernel->rounds, p->buffers[kernel->counted_by].index, rounds, b->index);
	kernel->rounds = rounds;
	kernel->counted_by = (uint16_t)buffer;
	if (b->round_calls[is_push] == 1 || b->total % pages == 0)
		return 0;
	return tdm_diag_set(diag, TDM_EREFUSED, b->line, 0,
		"%s %s %" PRIu64 " pages of buffer %" PRIu32 " in a round, and %" PRIu64
		" go through it: give it a multiple with total=N",
		kernel->name, is_push ? "pushes" : "pops", pages, b->index, b->total);
}

/* Links the stages of each kernel into a list. */
static void link_stages(struct tdm_cb_pattern *p)
{
	for (size_t i = 0; i < p->kernel_count; i++) {
		p->kernels[i].first = p->kernels[i].last = (uint32_t)p->stage_count;
		p->kernels[i].rounds = 0;
	}
	for (size_t i = 0; i < p->stage_count; i++) {
		struct tdm_pattern_kernel *kernel = &p->kernels[p->stages[i].kernel];
		if (kernel->first == p->stage_count)
			kernel->first = (uint32_t)i;
		else
			p->stages[kernel->last].next = (uint32_t)i;
		kernel->last = (uint32_t)i;
		p->stages[i].next = (uint32_t)p->stage_count;
	}
}

static int check_stage(const struct tdm_cb_pattern *p, const struct tdm_pattern_stage *s, struct tdm_diag *diag)
{
	const struct tdm_pattern_kernel *kernel = &p->kernels[s->kernel];
	bool is_only = kernel->first == kernel->last;
	if (s->pushes.count + s->pops.count == 0)
		return tdm_diag_set(
			diag, TDM_EREFUSED, s->line, 0, "%s uses no buffer: add pop=N or push=N", kernel->name);
	if ((s->work == TDM_STAGE_READ && s->pops.count != 0) || (s->work == TDM_STAGE_WRITE && s->pushes.count != 0))
		return tdm_diag_set(diag, TDM_EREFUSED, s->line, 0,
			"%s %s: a kernel that does both is two kernels, or a computation", kernel->name,
			s->work == TDM_STAGE_READ ? "reads, and so only pushes" : "writes, and so only pops");
	if ((!is_only || s->times > 1) && (s->ahead > 1 || s->ids != 0))
		return tdm_diag_set(diag, TDM_EREFUSED, s->line, 0,
			"%s does several things in a round: ahead and ids are for kernels that do one", kernel->name);
	const struct tdm_pattern_stage *next = s->next != p->stage_count ? &p->stages[s->next] : s;
	if ((next->work == TDM_STAGE_COMPUTE) != (s->work == TDM_STAGE_COMPUTE))
		return tdm_diag_set(diag, TDM_EREFUSED, s->line, 0,
			"%s both computes and moves data: these are two kernels", kernel->name);
	return 0;
}

/* The model unrolls a round and simulates every page, so both numbers are limited. */
static int check_length(const struct tdm_cb_pattern *p, struct tdm_diag *diag)
{
	uint64_t pages = 0, calls = 0;
	for (size_t i = 0; i < p->buffer_count; i++)
		pages += p->buffers[i].total;
	if (pages > TDM_PATTERN_PAGES_MAX)
		return tdm_diag_set(diag, TDM_EREFUSED, 0, 0,
			"%" PRIu64 " pages go through the buffers, and %" PRIu64 " are possible: take fewer tiles",
			pages, TDM_PATTERN_PAGES_MAX);
	for (size_t i = 0; i < p->stage_count; i++) {
		const struct tdm_pattern_stage *s = &p->stages[i];
		uint64_t blocks = tdm_max(s->ids, s->ahead);
		calls += (uint64_t)s->times * blocks * (1 + s->pushes.count + s->pops.count);
		if (calls > TDM_PATTERN_CALLS_MAX)
			return tdm_diag_set(diag, TDM_EREFUSED, s->line, 0,
				"one round of all kernels has more than %d calls up to here: take smaller times=N",
				TDM_PATTERN_CALLS_MAX);
	}
	return 0;
}

int tdm_pattern_settle(struct tdm_cb_pattern *p, struct tdm_diag *diag)
{
	int err = p->stage_count == 0
			  ? tdm_diag_set(diag, TDM_EREFUSED, 0, 0, "there is no kernel: add 'kernel NAME ...'")
			  : 0;
	link_stages(p);
	for (size_t i = 0; i < p->stage_count && err == 0; i++)
		err = check_stage(p, &p->stages[i], diag);
	if (err == 0)
		err = set_ends(p, diag);
	for (size_t i = 0; i < p->buffer_count && err == 0; i++)
		err = check_buffer(&p->buffers[i], diag);
	err = err != 0 ? err : check_length(p, diag);
	for (size_t i = 0; i < 2 * p->buffer_count && err == 0; i++)
		err = count_rounds(p, i / 2, i % 2 == 0, diag);
	return err;
}

/*
 * ---- the file ----  Each line of the pattern file describes one item, in words separated by blanks; '#' starts a
 * comment. A word is a name or key=value. Buffers precede the kernels that use them, so that a wrong number is reported
 * where it occurs. The caller's constants change only if the whole file is valid.
 */

struct parser {
	struct tdm_cb_pattern *p;
	struct tdm_core_speed speed;
	struct tdm_diag *diag;
	struct tdm_str line, rest; /* the line, and its unread part */
	uint64_t number;
	uint64_t page_bytes;      /* page size of buffers without their own */
	struct tdm_names kernels; /* name of a kernel to its place in the pattern */
	/* index of a buffer to its place in the pattern, plus 1; 0 if there is none */
	uint16_t *places;
	struct tdm_pattern_buffer *buffer;          /* the buffer on this line */
	struct tdm_pattern_stage *stage;            /* the stage on this line */
	const struct key *key;                      /* the key of this word */
	uint64_t tiles_line, cores_line, name_line; /* lines that contain these settings; 0 if there is none */
	uint64_t set_lines[TDM_SPEED_COUNT];
};

#define REFUSE(ps, at, ...) \
	tdm_diag_set((ps)->diag, TDM_ESYNTAX, (ps)->number, (uint64_t)((at).ptr - (ps)->line.ptr) + 1, __VA_ARGS__)

static const char *shown(struct tdm_str text, char dst[TDM_CARD_SHOWN_CAP])
{
	return tdm_str_shown(text, dst, TDM_CARD_SHOWN_CAP);
}
#define SHOWN(text) shown(text, (char[TDM_CARD_SHOWN_CAP]){ 0 })

/* Parses a number from `least` to `most`. */
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

static int take_page(struct parser *ps, struct tdm_str text)
{
	uint64_t *bytes = &ps->buffer->page_bytes;
	if (tdm_parse_bytes(text, bytes, NULL) != 0 || *bytes == 0 || *bytes > TDM_PATTERN_PAGE_MAX)
		return REFUSE(ps, text,
			"expected the bytes of a page, from 1 to %" PRIu64 ", such as 2048 or 2K, not '%s'",
			TDM_PATTERN_PAGE_MAX, SHOWN(text));
	return 0;
}

/* A key of a buffer or kernel. A flag has no value. If several keys have the same meaning, a line may use only one. */
struct key {
	const char *name;
	bool is_flag;
	int (*take)(struct parser *ps, struct tdm_str value);
	const char *says;     /* the shared meaning; NULL if no other key has it */
	size_t at;            /* offset of the member set by take_count() and take_flag() */
	uint64_t least, most; /* range of the value; a flag sets `most` */
};

/* The buffer or stage on this line, of which keys set members. */
static void *member_of(const struct parser *ps)
{
	return (ps->stage != NULL ? (char *)ps->stage : (char *)ps->buffer) + ps->key->at;
}

static int take_count(struct parser *ps, struct tdm_str value)
{
	return take_u32(ps, value, ps->key->least, ps->key->most, member_of(ps));
}

static int take_flag(struct parser *ps, struct tdm_str value)
{
	(void)value;
	*(bool *)member_of(ps) = ps->key->most != 0;
	return 0;
}

static int take_buffer_format(struct parser *ps, struct tdm_str value)
{
	return take_format(ps, value, &ps->buffer->page_bytes);
}

static int take_total(struct parser *ps, struct tdm_str value)
{
	return take_number(ps, value, 1, TDM_PATTERN_TILES_MAX, &ps->buffer->total);
}

#define OF(type, member) offsetof(struct tdm_pattern_##type, member)
static const struct key buffer_keys[] = {
	{ .name = "pages", .take = take_count, .at = OF(buffer, pages), .least = 1, .most = UINT32_MAX },
	{ .name = "format", .take = take_buffer_format, .says = "size of a page" },
	{ .name = "page", .take = take_page, .says = "size of a page" },
	{ .name = "total", .take = take_total },
	{ .name = "fixed", .is_flag = true, .take = take_flag, .at = OF(buffer, is_fixed), .most = true },
	{ 0 },
};

/* Parses "0:4", a buffer and its pages per round; "0" means one page. Commas separate several uses. */
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

static int take_uses(struct parser *ps, struct tdm_str value)
{
	struct tdm_cb_pattern *p = ps->p;
	struct tdm_pattern_uses *uses = member_of(ps);
	uses->first = (uint32_t)p->use_count;
	while (value.len != 0 || uses->count == 0) {
		const char *comma = value.len != 0 ? memchr(value.ptr, ',', value.len) : NULL;
		struct tdm_str one = { value.ptr, comma != NULL ? (size_t)(comma - value.ptr) : value.len };
		if (p->use_count == TDM_PATTERN_USES_MAX)
			return REFUSE(
				ps, one, "all kernels together pop and push at most %d buffers", TDM_PATTERN_USES_MAX);
		tdm_grow(&p->uses, &p->use_cap, p->use_count + 1, sizeof *p->uses);
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

static int take_op(struct parser *ps, struct tdm_str value)
{
	struct tdm_suggest suggest;
	tdm_suggest_init(&suggest, value);
	for (int i = 0; i < TDM_TILE_OPS; i++) {
		if (tdm_str_is(value, op_names[i])) {
			ps->stage->op = (uint8_t)i;
			return 0;
		}
		tdm_suggest_offer(&suggest, op_names[i]);
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

static int take_flush(struct parser *ps, struct tdm_str value)
{
	if (ps->stage->work != TDM_STAGE_WRITE)
		return REFUSE(ps, value, "only writes are flushed");
	ps->stage->is_flush = true;
	return 0;
}

static const struct key stage_keys[] = {
	{ .name = "dram", .is_flag = true, .take = take_flag, .says = "memory", .at = OF(stage, is_l1), .most = false },
	{ .name = "l1", .is_flag = true, .take = take_flag, .says = "memory", .at = OF(stage, is_l1), .most = true },
	{ .name = "pop", .take = take_uses, .at = OF(stage, pops) },
	{ .name = "push", .take = take_uses, .at = OF(stage, pushes) },
	{ .name = "op", .take = take_op, .says = "operation" },
	{ .name = "cycles", .take = take_cycles, .says = "operation" },
	{ .name = "factor", .take = take_count, .at = OF(stage, factor), .least = 1, .most = FACTOR_MAX },
	{ .name = "times", .take = take_count, .at = OF(stage, times), .least = 1, .most = TDM_PATTERN_TIMES_MAX },
	{ .name = "ahead",
		.take = take_count,
		.says = "blocks in flight",
		.at = OF(stage, ahead),
		.least = 1,
		.most = TDM_PATTERN_AHEAD_MAX },
	{ .name = "ids",
		.take = take_count,
		.says = "blocks in flight",
		.at = OF(stage, ids),
		.least = 1,
		.most = TDM_PATTERN_IDS_MAX },
	{ .name = "flush", .is_flag = true, .take = take_flush },
	{ 0 },
};

/* The key with this name; NULL with a message if there is none. */
static const struct key *find_key(struct parser *ps, struct tdm_str name, const struct key *keys, const char *message)
{
	struct tdm_suggest suggest;
	tdm_suggest_init(&suggest, name);
	for (const struct key *key = keys; key->name != NULL; key++) {
		if (tdm_str_is(name, key->name))
			return key;
		tdm_suggest_offer(&suggest, key->name);
	}
	REFUSE(ps, name, "%s'%s'%s%s%s", message, SHOWN(name), message[0] != '\0' ? "" : " is not understood here",
		suggest.best != NULL ? ": did you mean " : "", suggest.best != NULL ? suggest.best : "");
	return NULL;
}

/* Parses the rest of the line as keys and values. */
static int take_keys(struct parser *ps, const struct key *keys)
{
	uint32_t seen = 0;
	for (struct tdm_str word; (word = tdm_str_take_word(&ps->rest)).len != 0;) {
		const char *equals = memchr(word.ptr, '=', word.len);
		struct tdm_str name = { word.ptr, equals != NULL ? (size_t)(equals - word.ptr) : word.len };
		struct tdm_str value = { name.ptr + name.len + (equals != NULL),
			word.len - name.len - (equals != NULL) };
		const struct key *key = find_key(ps, name, keys, "");
		if (key == NULL)
			return TDM_ESYNTAX;
		if (key->is_flag == (equals != NULL))
			return REFUSE(ps, word, key->is_flag ? "'%s' has no value" : "'%s' needs a value: %s=...",
				key->name, key->name);
		for (const struct key *other = keys; other->name != NULL; other++) {
			bool is_there = (seen >> (other - keys) & 1) != 0;
			if (is_there && other == key)
				return REFUSE(ps, word, "'%s' is there twice: remove one", key->name);
			if (is_there && key->says != NULL && other->says != NULL && strcmp(key->says, other->says) == 0)
				return REFUSE(ps, word, "'%s' and '%s' both say the %s: remove one", other->name,
					key->name, key->says);
		}
		seen |= UINT32_C(1) << (key - keys);
		ps->key = key;
		int err = key->take(ps, value);
		if (err != 0)
			return err;
	}
	return 0;
}

static int take_buffer(struct parser *ps, struct tdm_str word)
{
	struct tdm_cb_pattern *p = ps->p;
	uint64_t index = 0;
	int err = take_number(ps, word, 0, TDM_PATTERN_BUFFERS_MAX - 1, &index);
	if (err != 0)
		return err;
	if (ps->places[index] != 0)
		return REFUSE(ps, word, "buffer %" PRIu64 " was already declared in line %" PRIu64, index,
			p->buffers[ps->places[index] - 1].line);
	tdm_grow(&p->buffers, &p->buffer_cap, p->buffer_count + 1, sizeof *p->buffers);
	ps->stage = NULL;
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

/* The kernel with this name, added if new. */
static int find_kernel(struct parser *ps, struct tdm_str name, uint16_t *place)
{
	struct tdm_cb_pattern *p = ps->p;
	char copy[TDM_PATTERN_NAME_CAP];
	if (name.len == 0 || name.len >= TDM_PATTERN_NAME_CAP || memchr(name.ptr, '=', name.len) != NULL)
		return REFUSE(ps, name, "expected the kernel's name, of 1 to %d characters", TDM_PATTERN_NAME_CAP - 1);
	tdm_str_shown(name, copy, sizeof copy);
	uint32_t slot = tdm_names_find(&ps->kernels, tdm_str_of(copy));
	if (slot == TDM_NAME_NONE) {
		if (p->kernel_count == TDM_PATTERN_KERNELS_MAX)
			return REFUSE(ps, name, "a pattern has at most %d kernels", TDM_PATTERN_KERNELS_MAX);
		tdm_grow(&p->kernels, &p->kernel_cap, p->kernel_count + 1, sizeof *p->kernels);
		tdm_names_add(&ps->kernels, tdm_str_of(copy), &slot);
		*tdm_names_number(&ps->kernels, slot) = p->kernel_count;
		struct tdm_pattern_kernel *kernel = &p->kernels[p->kernel_count++];
		*kernel = (struct tdm_pattern_kernel){ 0 };
		memcpy(kernel->name, copy, sizeof copy);
	}
	*place = (uint16_t)*tdm_names_number(&ps->kernels, slot);
	return 0;
}

static int take_kernel(struct parser *ps, struct tdm_str name)
{
	static const char *const works[] = { "read", "compute", "write" };
	struct tdm_cb_pattern *p = ps->p;
	struct tdm_str work = tdm_str_take_word(&ps->rest);
	if (p->stage_count == TDM_PATTERN_STAGES_MAX)
		return REFUSE(ps, name, "a pattern has at most %d lines for kernels", TDM_PATTERN_STAGES_MAX);
	tdm_grow(&p->stages, &p->stage_cap, p->stage_count + 1, sizeof *p->stages);
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

/* Refuses a second line with the same setting for the whole pattern. */
static int take_once(struct parser *ps, uint64_t *line)
{
	if (*line != 0)
		return tdm_diag_set(ps->diag, TDM_ESYNTAX, ps->number, 1,
			"line %" PRIu64 " already says that: remove one of the two", *line);
	*line = ps->number;
	return 0;
}

static int take_tiles(struct parser *ps, struct tdm_str value)
{
	int err = take_once(ps, &ps->tiles_line);
	return err != 0 ? err : take_number(ps, value, 1, TDM_PATTERN_TILES_MAX, &ps->p->tiles);
}

static int take_cores(struct parser *ps, struct tdm_str value)
{
	int err = take_once(ps, &ps->cores_line);
	return err != 0 ? err : take_u32(ps, value, 1, TDM_PATTERN_CORES_MAX, &ps->p->cores);
}

static int take_default_format(struct parser *ps, struct tdm_str value)
{
	return take_format(ps, value, &ps->page_bytes);
}

/* All words from this word to the end of the line. */
static struct tdm_str take_rest(struct parser *ps, struct tdm_str first)
{
	struct tdm_str all = { first.ptr, (size_t)(ps->rest.ptr + ps->rest.len - first.ptr) };
	ps->rest.len = 0;
	return tdm_str_trim(all);
}

static int take_name(struct parser *ps, struct tdm_str first)
{
	tdm_str_shown(take_rest(ps, first), ps->p->name, sizeof ps->p->name);
	return take_once(ps, &ps->name_line);
}

static int take_set(struct parser *ps, struct tdm_str first)
{
	struct tdm_str assignment = take_rest(ps, first);
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

/* The value on a line is the second word. */
static const struct key line_keys[] = {
	{ .name = "tiles", .take = take_tiles },
	{ .name = "cores", .take = take_cores },
	{ .name = "format", .take = take_default_format },
	{ .name = "name", .take = take_name },
	{ .name = "set", .take = take_set },
	{ .name = "buffer", .take = take_buffer },
	{ .name = "kernel", .take = take_kernel },
	{ 0 },
};

static int take_line(struct parser *ps, struct tdm_str line)
{
	const char *comment = line.len != 0 ? memchr(line.ptr, '#', line.len) : NULL;
	ps->line = ps->rest = line;
	if (comment != NULL)
		ps->rest.len = (size_t)(comment - line.ptr);
	struct tdm_str word = tdm_str_take_word(&ps->rest);
	if (word.len == 0)
		return 0;
	const struct key *key = find_key(
		ps, word, line_keys, "a line begins with tiles, cores, format, name, set, buffer or kernel, not ");
	if (key == NULL)
		return TDM_ESYNTAX;
	int err = key->take(ps, tdm_str_take_word(&ps->rest));
	struct tdm_str left = err == 0 ? tdm_str_take_word(&ps->rest) : (struct tdm_str){ 0 };
	return left.len != 0 ? REFUSE(ps, left, "'%s' is too much", SHOWN(left)) : err;
}

int tdm_pattern_parse(
	struct tdm_str text, struct tdm_cb_pattern *pattern, struct tdm_core_speed *speed, struct tdm_diag *diag)
{
	*pattern = (struct tdm_cb_pattern){ .cores = 1 };
	if (text.len > FILE_MAX)
		return tdm_diag_set(diag, -EFBIG, 0, 0, "a pattern file has at most %d bytes", FILE_MAX);
	struct parser ps = { .p = pattern, .speed = *speed, .diag = diag };
	ps.page_bytes = tdm_data_format_find(tdm_str_of("fp32"))->tile_bytes;
	ps.places = tdm_zalloc(TDM_PATTERN_BUFFERS_MAX, sizeof *ps.places);
	struct tdm_lines lines;
	struct tdm_str line;
	int err = 0;
	tdm_lines_memory(&lines, text.ptr, text.len);
	while (err == 0 && tdm_lines_next(&lines, &line) > 0) {
		ps.number = lines.line;
		err = take_line(&ps, line);
	}
	tdm_lines_done(&lines);
	if (err == 0 && ps.tiles_line == 0)
		err = tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "expected a line 'tiles N'");
	for (size_t i = 0; i < pattern->buffer_count; i++)
		if (pattern->buffers[i].total == 0)
			pattern->buffers[i].total = pattern->tiles;
	err = err != 0 ? err : tdm_pattern_settle(pattern, diag);
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
	struct tdm_buf text = { 0 };
	*pattern = (struct tdm_cb_pattern){ 0 };
	int err = tdm_file_load(path, FILE_MAX, "pattern file", &text, diag);
	if (err == 0)
		err = tdm_pattern_parse(tdm_buf_str(&text), pattern, speed, diag);
	tdm_buf_done(&text);
	return err;
}
