/*
 * A stack of places says which part of the picture a value belongs to. Lists grow while their elements are read, and
 * nothing points into a list that can still grow. remote_check.c then looks at what one value alone cannot tell.
 */
#include "state/remote_picture.h"
#include "base/err.h"
#include "base/map.h"
#include "base/reserve.h"
#include "sources/json_walk.h"
#include "state/picture_shape.h"
#include "state/remote_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum place_type {
	IN_UNWANTED, /* an object or array that nobody asked for */
	IN_OBJECT,
	IN_LIST,  /* objects */
	IN_KINDS, /* an object with a member for each kind */
	IN_NUMBERS,
	IN_BITS,
	IN_TEXTS,
	IN_ROWS, /* arrays of numbers */
	IN_ROW,
	IN_LISTS_OF_ROWS, /* stacks, core ranges */
};

struct place {
	enum place_type type;
	const struct tdm_shape_field *field; /* whose value this is; in an object: of the current key, or NULL */
	const struct tdm_shape *shape;       /* of an object */
	char *at;                            /* the structure that the field is a member of; in an object: the object */
	size_t count, cap;
	int kind; /* of the current key; -1: unknown */
};

struct reader {
	struct tdm_remote_picture *remote;
	struct tdm_intern *texts;
	struct tdm_diag *diag;
	struct place places[TDM_JSON_WALK_DEPTH + 1];
	int depth;
	uint64_t row[TDM_SHAPE_BUFFER_COLUMNS];
	size_t row_count, buffer_count;
	/* Numbers of this document to numbers of `texts`. */
	struct numbers {
		uint32_t *list;
		size_t count, cap;
	} text_of, stack_of, ranges_of;
	struct tdm_frame frames[TDM_FRAMES_MAX];
	struct tdm_core_range ranges[TDM_RANGES_MAX];
};

static int refuse(struct reader *r, const char *what)
{
	const struct place *top = &r->places[r->depth];
	return tdm_diag_set(
		r->diag, TDM_ESYNTAX, 0, 0, "'%s' %s", top->field != NULL ? top->field->key : "picture", what);
}

static int no_memory(struct reader *r)
{
	return tdm_diag_set(r->diag, -ENOMEM, 0, 0, "out of memory");
}

static int add_number(struct reader *r, struct numbers *to, uint32_t number)
{
	if (tdm_reserve(&to->list, &to->cap, to->count + 1, sizeof *to->list) != 0)
		return no_memory(r);
	to->list[to->count++] = number;
	return 0;
}

/* ---- values ---- */

static int put_text(struct reader *r, const struct tdm_json_token *token, char *at)
{
	uint32_t number;
	*(const char **)at = NULL;
	if (token->part == TDM_JSON_PART_NULL)
		return 0;
	if (token->part != TDM_JSON_PART_STRING)
		return refuse(r, "is not a text");
	if (tdm_intern_text(r->texts, token->text, &number) != 0)
		return no_memory(r);
	*(const char **)at = number != 0 ? r->texts->texts[number] : NULL;
	return 0;
}

static int put_value(
	struct reader *r, const struct tdm_shape_field *field, const struct tdm_json_token *token, char *at)
{
	if (field->type == TDM_SHAPE_TEXT)
		return put_text(r, token, at);
	return tdm_remote_value(field, token, at) ? 0 : refuse(r, "has a value that it cannot have");
}

/* ---- beginnings ---- */

static int push(struct reader *r, struct place place)
{
	r->places[++r->depth] = place;
	return 0;
}

static int begin_object(struct reader *r, const struct tdm_shape *shape, char *at)
{
	return push(r, (struct place){ .type = IN_OBJECT, .shape = shape, .at = at });
}

/* A member that points to anything. */
static char *pointer_at(const char *at)
{
	char *pointer;
	memcpy(&pointer, at, sizeof pointer);
	return pointer;
}

static int begin_element(struct reader *r, struct place *top)
{
	const struct tdm_shape_field *field = top->field;
	const struct tdm_shape *shape = field->shape;
	char *element;
	if (top->count >= field->limit)
		return refuse(r, "has too many elements");
	if (field->type == TDM_SHAPE_LIST) {
		char *list = pointer_at(top->at + field->offset);
		if (tdm_reserve(&list, &top->cap, top->count + 1, shape->size) != 0)
			return no_memory(r);
		memcpy(top->at + field->offset, &list, sizeof list);
		element = list + top->count++ * shape->size;
		*(size_t *)(top->at + field->count_offset) = top->count;
	} else {
		element = top->at + field->offset + top->count++ * shape->size;
		*(uint32_t *)(top->at + field->count_offset) = (uint32_t)top->count;
	}
	memset(element, 0, shape->size);
	if (shape->init != NULL)
		shape->init(element);
	return begin_object(r, shape, element);
}

static int begin_pointer(struct reader *r, const struct tdm_shape_field *field, char *at)
{
	char *structure = pointer_at(at + field->offset);
	if (structure != NULL)
		return refuse(r, "occurs twice");
	structure = calloc(1, field->shape->size);
	memcpy(at + field->offset, &structure, sizeof structure);
	return structure != NULL ? begin_object(r, field->shape, structure) : no_memory(r);
}

/* Why a reading is unknown. */
static const struct tdm_shape_field reading_fields[] = {
	{ "err", .type = TDM_SHAPE_I32, .offset = offsetof(struct tdm_reading, err) },
};
static const struct tdm_shape reading_shape = { reading_fields, 1, sizeof(struct tdm_reading), NULL };

static int begin_member(struct reader *r, struct place *top, bool is_array)
{
	static const struct {
		bool is_array;
		enum place_type type;
	} begins[] = {
		[TDM_SHAPE_BITS] = { true, IN_BITS },
		[TDM_SHAPE_LOSSES] = { true, IN_NUMBERS },
		[TDM_SHAPE_LIST] = { true, IN_LIST },
		[TDM_SHAPE_ARRAY] = { true, IN_LIST },
		[TDM_SHAPE_KINDS] = { false, IN_KINDS },
		[TDM_SHAPE_KIND_BYTES] = { false, IN_KINDS },
		[TDM_SHAPE_BUFFERS] = { false, IN_KINDS },
		[TDM_SHAPE_TEXTS] = { true, IN_TEXTS },
		[TDM_SHAPE_STACKS] = { true, IN_LISTS_OF_ROWS },
		[TDM_SHAPE_RANGES] = { true, IN_LISTS_OF_ROWS },
	};
	const struct tdm_shape_field *field = top->field;
	if (!is_array && field->type == TDM_SHAPE_OBJECT)
		return begin_object(r, field->shape, top->at + field->offset);
	if (!is_array && field->type == TDM_SHAPE_POINTER)
		return begin_pointer(r, field, top->at);
	if (!is_array && field->type == TDM_SHAPE_READING)
		return begin_object(r, &reading_shape, top->at + field->offset);
	if (field->type >= sizeof begins / sizeof *begins || begins[field->type].type == IN_UNWANTED ||
		begins[field->type].is_array != is_array)
		return refuse(r, "has a value that it cannot have");
	if (field->type == TDM_SHAPE_LIST && pointer_at(top->at + field->offset) != NULL)
		return refuse(r, "occurs twice");
	return push(r, (struct place){ .type = begins[field->type].type, .field = field, .at = top->at, .kind = -1 });
}

/* A value of a kind: its structure, or its buffers. */
static int begin_kind(struct reader *r, struct place *top, bool is_array)
{
	const struct tdm_shape_field *field = top->field;
	if (top->kind < 0)
		return push(r, (struct place){ .type = IN_UNWANTED });
	if (field->type == TDM_SHAPE_KINDS && !is_array)
		return begin_object(r, field->shape, top->at + field->offset + (size_t)top->kind * field->shape->size);
	struct tdm_buffer_list *lists = (struct tdm_buffer_list *)(top->at + field->offset);
	if (field->type != TDM_SHAPE_BUFFERS || !is_array || lists[top->kind].list != NULL)
		return refuse(r, "has a value that it cannot have");
	return push(r, (struct place){ .type = IN_ROWS, .field = field, .at = top->at, .kind = top->kind });
}

static int begin(struct reader *r, bool is_array)
{
	struct place *top = &r->places[r->depth];
	switch (top->type) {
	case IN_OBJECT:
		if (top->field != NULL)
			return begin_member(r, top, is_array);
		return push(r, (struct place){ .type = IN_UNWANTED });
	case IN_LIST:
		return is_array ? refuse(r, "has an element that is no object") : begin_element(r, top);
	case IN_KINDS:
		return begin_kind(r, top, is_array);
	case IN_LISTS_OF_ROWS:
	case IN_ROWS:
		if (!is_array)
			break;
		r->row_count = 0;
		return push(r, (struct place){ .type = top->type == IN_ROWS ? IN_ROW : IN_ROWS,
				       .field = top->field,
				       .at = top->at,
				       .kind = top->kind });
	case IN_UNWANTED:
		return push(r, (struct place){ .type = IN_UNWANTED });
	default:
		break;
	}
	return refuse(r, "has an element that it cannot have");
}

/* ---- ends ---- */

static int end_buffer(struct reader *r, struct place *rows)
{
	struct tdm_buffer_list *of = (struct tdm_buffer_list *)(rows->at + rows->field->offset) + rows->kind;
	struct tdm_buffer *list = NULL;
	memcpy(&list, &of->list, sizeof list);
	if (r->buffer_count++ >= TDM_SHAPE_BUFFERS_MAX)
		return refuse(r, "are too many");
	int err = tdm_reserve(&list, &rows->cap, of->count + 1, sizeof *list);
	of->list = list;
	if (err != 0)
		return no_memory(r);
	if (!tdm_shape_buffer_from_row(&list[of->count], r->row))
		return refuse(r, "have a size or number that no buffer can have");
	list[of->count++].kind = (uint8_t)rows->kind;
	return 0;
}

static int end_frame(struct reader *r, struct place *rows)
{
	uint64_t text = r->row[1] != UINT64_MAX ? r->row[1] : 0;
	if (rows->count >= TDM_FRAMES_MAX)
		return 0; /* the outermost frames of a stack that is too deep are left out */
	if (text > r->text_of.count)
		return refuse(r, "have a text that does not exist");
	uint32_t number = text != 0 ? r->text_of.list[text - 1] : 0;
	r->frames[rows->count++] = (struct tdm_frame){ r->row[0] != UINT64_MAX ? r->row[0] : 0,
		number != 0 ? tdm_str_of(r->texts->texts[number]) : (struct tdm_str){ NULL, 0 } };
	return 0;
}

static int end_range(struct reader *r, struct place *rows)
{
	for (size_t i = 0; i < 4; i++)
		if (r->row[i] > UINT16_MAX)
			return refuse(r, "have a core that cannot be");
	struct tdm_core_range range = { (uint16_t)r->row[0], (uint16_t)r->row[1], (uint16_t)r->row[2],
		(uint16_t)r->row[3] };
	if (!tdm_core_range_is_valid(&range) || rows->count >= TDM_RANGES_MAX)
		return refuse(r, "have a range of cores that cannot be");
	r->ranges[rows->count++] = range;
	return 0;
}

static int end_row(struct reader *r)
{
	struct place *rows = &r->places[r->depth];
	for (size_t i = r->row_count; i < TDM_SHAPE_BUFFER_COLUMNS; i++)
		r->row[i] = UINT64_MAX;
	return rows->field->type == TDM_SHAPE_BUFFERS  ? end_buffer(r, rows)
	       : rows->field->type == TDM_SHAPE_STACKS ? end_frame(r, rows)
						       : end_range(r, rows);
}

static int end_rows(struct reader *r, const struct place *rows)
{
	uint32_t number, count = (uint32_t)rows->count;
	bool is_stack = rows->field->type == TDM_SHAPE_STACKS;
	if (rows->field->type == TDM_SHAPE_BUFFERS)
		return 0;
	int err = is_stack ? tdm_intern_stack(r->texts, r->frames, count, &number)
			   : tdm_intern_ranges(r->texts, r->ranges, count, &number);
	return err != 0 ? no_memory(r) : add_number(r, is_stack ? &r->stack_of : &r->ranges_of, number);
}

static int end(struct reader *r)
{
	const struct place ended = r->places[r->depth--];
	return ended.type == IN_ROW ? end_row(r) : ended.type == IN_ROWS ? end_rows(r, &ended) : 0;
}

/* ---- keys and plain values ---- */

static void take_key(struct place *top, struct tdm_str key)
{
	enum tdm_kind kind;
	if (top->type == IN_KINDS)
		top->kind = tdm_kind_parse(key, &kind) == 0 ? (int)kind : -1;
	if (top->type != IN_OBJECT)
		return;
	top->field = NULL;
	for (size_t i = 0; i < top->shape->field_count; i++)
		if (tdm_str_is(key, top->shape->fields[i].key))
			top->field = &top->shape->fields[i];
}

static int take_text(struct reader *r, const struct tdm_json_token *token)
{
	uint32_t number;
	if (token->part != TDM_JSON_PART_STRING)
		return refuse(r, "has an element that is no text");
	if (tdm_intern_text(r->texts, token->text, &number) != 0)
		return no_memory(r);
	return add_number(r, &r->text_of, number);
}

static int take_value(struct reader *r, const struct tdm_json_token *token)
{
	struct place *top = &r->places[r->depth];
	uint64_t value;
	switch (top->type) {
	case IN_OBJECT:
		return top->field != NULL ? put_value(r, top->field, token, top->at + top->field->offset) : 0;
	case IN_KINDS:
		if (top->kind < 0)
			return 0;
		if (top->field->type != TDM_SHAPE_KIND_BYTES || !tdm_remote_u64(token, TDM_SHAPE_BYTES_MAX, &value))
			break;
		((uint64_t *)(top->at + top->field->offset))[top->kind] = value;
		return 0;
	case IN_NUMBERS:
		if (top->count >= top->field->limit)
			return 0;
		if (!tdm_remote_u64(token, TDM_SHAPE_BYTES_MAX, &value))
			break;
		((uint64_t *)(top->at + top->field->offset))[top->count++] = value;
		return 0;
	case IN_BITS: {
		int bit = tdm_remote_name(top->field, token); /* a later version may have more of them */
		*(uint32_t *)(top->at + top->field->offset) |= bit > 0 ? UINT32_C(1) << bit : 0;
		return 0;
	}
	case IN_TEXTS:
		return take_text(r, token);
	case IN_ROW:
		if (r->row_count >= TDM_SHAPE_BUFFER_COLUMNS)
			return 0;
		if (!tdm_remote_u64(token, UINT64_MAX, &value))
			break;
		r->row[r->row_count++] = value;
		return 0;
	case IN_UNWANTED:
		return 0;
	default:
		break;
	}
	return refuse(r, "has an element that it cannot have");
}

static int take(void *to, const struct tdm_json_token *token)
{
	struct reader *r = to;
	switch (token->part) {
	case TDM_JSON_PART_BEGIN:
		return begin(r, token->is_array);
	case TDM_JSON_PART_END:
		return end(r);
	case TDM_JSON_PART_KEY:
		take_key(&r->places[r->depth], token->text);
		return 0;
	default:
		return take_value(r, token);
	}
}

/* ---- the whole ---- */

#define REMOTE(member) .offset = offsetof(struct tdm_remote_picture, member)
static const struct tdm_shape_field document_fields[] = {
	{ "schema", .type = TDM_SHAPE_CHARS, REMOTE(schema),
		.limit = sizeof(((struct tdm_remote_picture *)NULL)->schema) },
	{ "version", .type = TDM_SHAPE_U32, REMOTE(version) },
	{ "host", .type = TDM_SHAPE_CHARS, REMOTE(host), .limit = TDM_REMOTE_HOST_CAP },
	{ "picture", .type = TDM_SHAPE_OBJECT, REMOTE(picture), .shape = &tdm_shape_picture },
};
static const struct tdm_shape document_shape = { document_fields, sizeof document_fields / sizeof *document_fields,
	sizeof(struct tdm_remote_picture), NULL };
static const struct tdm_shape_field document = { "document", .type = TDM_SHAPE_OBJECT, .shape = &document_shape };

static bool renumber(const struct numbers *numbers, uint32_t *number)
{
	if (*number > numbers->count)
		return false;
	*number = *number != 0 ? numbers->list[*number - 1] : 0;
	return true;
}

static int refuse_number(struct reader *r)
{
	return tdm_diag_set(r->diag, TDM_ESYNTAX, 0, 0,
		"a buffer or note has the number of a text, stack or range that does not exist");
}

/* From numbers of the document to those of the texts that all pictures share: notes, and what the runtime said. */
static int renumber_told(struct reader *r)
{
	const struct tdm_picture *picture = &r->remote->picture;
	for (size_t p = 0; p < picture->process_count; p++) {
		struct tdm_picture_note *notes = (struct tdm_picture_note *)(uintptr_t)picture->processes[p].notes;
		for (size_t i = 0; i < picture->processes[p].note_count; i++)
			if (!renumber(&r->text_of, &notes[i].text))
				return refuse_number(r);
	}
	for (size_t h = 0; h < picture->holding_count; h++) {
		struct tdm_picture_hazard *list = (struct tdm_picture_hazard *)(uintptr_t)picture->holdings[h].hazards;
		for (size_t i = 0; i < picture->holdings[h].hazard_count; i++)
			if (!renumber(&r->text_of, &list[i].name) || !renumber(&r->text_of, &list[i].program) ||
				!renumber(&r->stack_of, &list[i].stack) ||
				!renumber(&r->stack_of, &list[i].replay_stack))
				return refuse_number(r);
		struct tdm_picture_clash *clashes = (struct tdm_picture_clash *)(uintptr_t)picture->holdings[h].clashes;
		for (size_t i = 0; i < picture->holdings[h].clash_count; i++)
			if (!renumber(&r->text_of, &clashes[i].program))
				return refuse_number(r);
	}
	return 0;
}

/* The same for buffers. */
static int renumber_buffers(struct reader *r)
{
	const struct tdm_picture *picture = &r->remote->picture;
	for (size_t h = 0; h < picture->holding_count; h++)
		for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_buffer_list *buffers = &picture->holdings[h].buffers[k];
			struct tdm_buffer *list = NULL;
			memcpy(&list, &buffers->list, sizeof list);
			for (size_t i = 0; i < buffers->count; i++)
				if (!renumber(&r->text_of, &list[i].name) || !renumber(&r->text_of, &list[i].program) ||
					!renumber(&r->stack_of, &list[i].stack) ||
					!renumber(&r->ranges_of, &list[i].ranges))
					return refuse_number(r);
		}
	return 0;
}

static int check(struct reader *r)
{
	const struct tdm_remote_picture *remote = r->remote;
	if (strcmp(remote->schema, "tidemark.picture") != 0)
		return tdm_diag_set(
			r->diag, TDM_ESYNTAX, 0, 0, "this is no picture: its schema is '%s'", remote->schema);
	if (remote->version != 1)
		return tdm_diag_set(
			r->diag, TDM_EVERSION, 0, 0, "a picture of version %" PRIu32 ", not 1", remote->version);
	int err = renumber_buffers(r);
	if (err == 0)
		err = renumber_told(r);
	return err != 0 ? err : tdm_remote_check(&r->remote->picture, r->diag);
}

int tdm_remote_picture_read(
	struct tdm_str json, struct tdm_intern *texts, struct tdm_remote_picture *remote, struct tdm_diag *diag)
{
	*remote = (struct tdm_remote_picture){ .picture = { .texts = texts } };
	struct reader *r = calloc(1, sizeof *r);
	if (r == NULL)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	r->remote = remote;
	r->texts = texts;
	r->diag = diag;
	r->places[0] = (struct place){ .type = IN_OBJECT, .field = &document, .at = (char *)remote };
	int err = tdm_json_walk(json, take, r, diag);
	if (err == 0)
		err = check(r);
	free(r->text_of.list);
	free(r->stack_of.list);
	free(r->ranges_of.list);
	free(r);
	if (err != 0)
		tdm_remote_picture_done(remote);
	return err;
}

void tdm_remote_picture_done(struct tdm_remote_picture *remote)
{
	struct tdm_picture *picture = &remote->picture;
	for (size_t i = 0; i < picture->device_count; i++)
		free((void *)(uintptr_t)picture->devices[i].info);
	for (size_t i = 0; i < picture->process_count; i++) {
		free((void *)(uintptr_t)picture->processes[i].who);
		free((void *)(uintptr_t)picture->processes[i].notes);
	}
	for (size_t i = 0; i < picture->holding_count; i++) {
		free((void *)(uintptr_t)picture->holdings[i].traces);
		free((void *)(uintptr_t)picture->holdings[i].hazards);
		free((void *)(uintptr_t)picture->holdings[i].clashes);
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			free((void *)(uintptr_t)picture->holdings[i].buffers[k].list);
	}
	tdm_picture_done(picture);
	*remote = (struct tdm_remote_picture){ 0 };
}
