/*
 * Reads the JSON of a picture with the streaming parser: each token is checked and stored at once. A stack of places
 * tracks which part of the picture a value belongs to; the tables of picture_shape.h have the types and limits. Lists
 * grow while their elements are read, so nothing points into a list that can still grow. At the end the picture is
 * checked as a whole: indices, identities and sums.
 */
#include "live/remote/remote_picture.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/json_walk.h"
#include "live/remote/picture_shape.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- plain values ---- */

/* UINT64_MAX for null; false if the token is no number, or above `most`. */
static bool read_u64(const struct tdm_json_token *token, uint64_t most, uint64_t *value)
{
	*value = UINT64_MAX;
	if (token->part == TDM_JSON_PART_NULL)
		return true;
	return token->part == TDM_JSON_PART_NUMBER && tdm_str_parse_u64(token->text, value) == 0 && *value <= most &&
	       *value != UINT64_MAX;
}

/* A number with or without a sign. */
static bool read_number(const struct tdm_json_token *token, struct tdm_value *value)
{
	struct tdm_str digits = token->text;
	uint64_t number;
	bool is_negative = digits.len != 0 && digits.ptr[0] == '-';
	digits.ptr += is_negative;
	digits.len -= is_negative;
	if (tdm_str_parse_u64(digits, &number) != 0 || number == UINT64_MAX || (is_negative && number > INT64_MAX))
		return false;
	*value = is_negative ? tdm_value_signed(-(int64_t)number) : tdm_value_number(number);
	return true;
}

/* Reads a value of the member's type. False for a number out of range, or one that means null. */
static bool read_plain(const struct tdm_shape_field *field, const struct tdm_json_token *token, char *at)
{
	static const uint64_t most[] = { UINT64_MAX, TDM_SHAPE_BYTES_MAX, INT64_MAX, INT64_MAX };
	struct tdm_value value = { .type = TDM_VALUE_UNKNOWN };
	bool is_null = token->part == TDM_JSON_PART_NULL;
	if (field->member == TDM_MEMBER_CHARS) {
		tdm_str_shown(token->part == TDM_JSON_PART_STRING ? token->text : tdm_str_of(""), at, field->limit);
		return is_null || token->part == TDM_JSON_PART_STRING;
	}
	if (token->part == TDM_JSON_PART_BOOL)
		value = tdm_value_bool(token->yes);
	else if (is_null && field->zero_is_null)
		value = tdm_value_number(0);
	else if (is_null && field->negative_is_null)
		value = tdm_value_signed(-1);
	else if (token->part == TDM_JSON_PART_NUMBER &&
		 (!read_number(token, &value) ||
			 (value.type == TDM_VALUE_NUMBER && value.number > most[field->range]) ||
			 (field->negative_is_null && value.integer < -1)))
		return false;
	else if (token->part == TDM_JSON_PART_STRING || (is_null && field->member == TDM_MEMBER_BOOL))
		return false;
	return tdm_member_set((enum tdm_member)field->member, at, field->limit, &value);
}

/* The index of a name; 0 for null; -1: there is no such name. */
static int read_name(const struct tdm_shape_field *field, const struct tdm_json_token *token)
{
	for (int i = 0; i < field->name_count; i++)
		if (token->part == TDM_JSON_PART_STRING && tdm_str_is(token->text, field->names[i]))
			return i;
	return token->part == TDM_JSON_PART_NULL ? 0 : -1;
}

static int digit_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool put_hex(const struct tdm_shape_field *field, const struct tdm_json_token *token, char *at)
{
	if (token->part != TDM_JSON_PART_STRING || token->text.len != (size_t)field->limit * 2)
		return token->part == TDM_JSON_PART_NULL;
	for (size_t i = 0; i < field->limit; i++) {
		int high = digit_of(token->text.ptr[2 * i]), low = digit_of(token->text.ptr[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		((uint8_t *)at)[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static bool read_reading(const struct tdm_json_token *token, struct tdm_reading *reading)
{
	struct tdm_value value = { .type = TDM_VALUE_UNKNOWN };
	*reading = (struct tdm_reading){ .is_known = token->part == TDM_JSON_PART_NUMBER };
	return token->part == TDM_JSON_PART_NULL || (reading->is_known && read_number(token, &value) &&
							    tdm_member_set(TDM_MEMBER_I64, &reading->value, 0, &value));
}

/* Stores a plain value in its member. False if the member cannot have this value. */
static bool read_value(const struct tdm_shape_field *field, const struct tdm_json_token *token, char *at)
{
	uint64_t number;
	int index;
	switch ((enum tdm_shape_type)field->type) {
	case TDM_SHAPE_PLAIN:
		return read_plain(field, token, at);
	case TDM_SHAPE_CHOICE:
		index = read_name(field, token);
		*(uint8_t *)at = index >= 0 ? (uint8_t)index : 0;
		return index >= 0;
	case TDM_SHAPE_TEXT_OF:
	case TDM_SHAPE_STACK_OF:
		if (!read_u64(token, UINT32_MAX - 1, &number))
			return false;
		*(uint32_t *)at = number != UINT64_MAX ? (uint32_t)number : 0;
		return true;
	case TDM_SHAPE_HEX:
		return put_hex(field, token, at);
	case TDM_SHAPE_READING:
		return read_reading(token, (struct tdm_reading *)at);
	default: /* not a plain value */
		return token->part == TDM_JSON_PART_NULL;
	}
}

/* ---- the picture as a whole ---- */

/* Checks the relations between parts of a picture: indices, identities and sums. */

static int refuse_all(struct tdm_diag *diag, const char *what)
{
	return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "%s", what);
}

/* Keys of devices and handles of processes must be unique and not 0. */
static int check_identities(const struct tdm_picture *picture, struct tdm_diag *diag)
{
	struct tdm_map seen = { 0 };
	int err = 0;
	for (size_t i = 0; i < picture->device_count && err == 0; i++) {
		uint64_t key = picture->devices[i].key;
		if (key == 0 || tdm_map_find(&seen, key) != TDM_MAP_NONE)
			err = refuse_all(diag, "two devices have the same key");
		else
			tdm_map_set(&seen, key, 0);
	}
	tdm_map_clear(&seen);
	for (size_t i = 0; i < picture->process_count && err == 0; i++) {
		uint64_t handle = picture->processes[i].handle;
		if (handle == 0 || tdm_map_find(&seen, handle) != TDM_MAP_NONE)
			err = refuse_all(diag, "two processes have the same handle");
		else
			tdm_map_set(&seen, handle, 0);
	}
	tdm_map_done(&seen);
	return err;
}

static bool info_is_valid(const struct tdm_device_info *info)
{
	for (uint32_t i = 0; info != NULL && i < info->region_count; i++) {
		const struct tdm_region *region = &info->regions[i];
		if (region->bank_size > UINT64_MAX - region->base ||
			(region->banks != 0 && region->bank_size > UINT64_MAX / region->banks))
			return false;
	}
	return true;
}

static int check_devices(struct tdm_picture *picture, struct tdm_diag *diag)
{
	picture->board_count = 0;
	for (size_t i = 0; i < picture->device_count; i++) {
		const struct tdm_picture_device *device = &picture->devices[i];
		if (!device->is_board && picture->board_count != 0)
			return refuse_all(diag, "a device comes after the boards");
		picture->board_count += device->is_board;
		if (!info_is_valid(device->info))
			return refuse_all(diag, "a device has a region that cannot be");
	}
	return 0;
}

static int check_holdings(struct tdm_picture *picture, struct tdm_diag *diag)
{
	uint32_t last = 0;
	for (size_t i = 0; i < picture->holding_count; i++) {
		const struct tdm_holding *holding = &picture->holdings[i];
		if (holding->process >= picture->process_count || holding->device >= picture->device_count)
			return refuse_all(diag, "a holding has no process, or no device");
		if (holding->process < last)
			return refuse_all(diag, "the holdings are not in the order of the processes");
		last = holding->process;
		picture->processes[last].holding_count++;
	}
	uint32_t first = 0;
	for (size_t i = 0; i < picture->process_count; i++) {
		struct tdm_picture_process *process = &picture->processes[i];
		process->first_holding = first;
		first += process->holding_count;
		if (process->is_claimed && process->who == NULL)
			return refuse_all(diag, "a process is claimed, but by no ledger");
		if (process->who != NULL && process->ledger == NULL)
			process->ledger = ""; /* not NULL, because views print it */
		if (process->who == NULL && process->refused != 0)
			return refuse_all(diag, "a process without a ledger has records");
	}
	return 0;
}

/* The holdings of listed processes must be part of the device's sum; the rest is unattributed. */
static int check_sums(struct tdm_picture *picture, struct tdm_diag *diag)
{
	for (size_t d = 0; d < picture->device_count; d++)
		for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
			struct tdm_picture_kind *kind = &picture->devices[d].kinds[k];
			if ((kind->used_from == TDM_FROM_NONE) != (kind->used == TDM_BYTES_UNKNOWN))
				return refuse_all(diag, "a device has bytes of no source");
			kind->unattributed = kind->used;
		}
	for (size_t i = 0; i < picture->holding_count; i++) {
		const struct tdm_holding *holding = &picture->holdings[i];
		bool counts = tdm_picture_counts(&picture->processes[holding->process]);
		for (size_t k = 0; k < TDM_KIND_COUNT && counts; k++) {
			struct tdm_picture_kind *kind = &picture->devices[holding->device].kinds[k];
			const struct tdm_counter *counter = &holding->kinds[k];
			if (kind->used == TDM_BYTES_UNKNOWN || counter->reserved == TDM_BYTES_UNKNOWN)
				continue;
			if (counter->from != kind->used_from || counter->reserved > kind->unattributed)
				return refuse_all(diag, "the processes of a device hold more than it has in use");
			kind->unattributed -= counter->reserved;
		}
	}
	return 0;
}

/* Checks a picture as a whole, and fills in the members that can be derived from others. */
static int check_picture(struct tdm_picture *picture, struct tdm_diag *diag)
{
	if (picture->time_ns == 0)
		return refuse_all(diag, "the picture has no time");
	int err = check_identities(picture, diag);
	if (err == 0)
		err = check_devices(picture, diag);
	if (err == 0)
		err = check_holdings(picture, diag);
	return err != 0 ? err : check_sums(picture, diag);
}

/* ---- places ---- */

enum place_type {
	IN_UNWANTED, /* an unknown object or array, which is skipped */
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
	const struct tdm_shape_field *field; /* the value's member; in an object: that of the current key, or NULL */
	const struct tdm_shape *shape;       /* of an object */
	char *at;                            /* the structure that the field is a member of; in an object: the object */
	size_t count, cap;
	int kind; /* of the current key; -1 if unknown */
};

struct reader {
	struct tdm_remote_picture *remote;
	struct tdm_intern *texts;
	struct tdm_diag *diag;
	struct place places[TDM_JSON_WALK_DEPTH + 1];
	int depth;
	uint64_t row[TDM_SHAPE_BUFFER_COLUMNS];
	size_t row_count, buffer_count;
	/* From numbers in this document to numbers in `texts`. */
	struct numbers {
		uint32_t *list;
		size_t count, cap;
	} text_of, stack_of, ranges_of;
	struct tdm_frame frames[TDM_FRAMES_MAX];
	struct tdm_core_range ranges[TDM_RANGES_MAX];
	bool is_wrong; /* a member refers to a number that does not exist */
};

static int refuse(struct reader *r, const char *what)
{
	const struct place *top = &r->places[r->depth];
	return tdm_diag_set(
		r->diag, TDM_ESYNTAX, 0, 0, "'%s' %s", top->field != NULL ? top->field->key : "picture", what);
}

static void add_number(struct numbers *to, uint32_t number)
{
	tdm_grow(&to->list, &to->cap, to->count + 1, sizeof *to->list);
	to->list[to->count++] = number;
}

/* ---- values ---- */

static int put_text(struct reader *r, const struct tdm_json_token *token, char *at)
{
	*(const char **)at = NULL;
	if (token->part == TDM_JSON_PART_NULL)
		return 0;
	if (token->part != TDM_JSON_PART_STRING)
		return refuse(r, "is not a text");
	uint32_t number = tdm_intern_text(r->texts, token->text);
	*(const char **)at = number != 0 ? r->texts->texts[number] : NULL;
	return 0;
}

static int put_value(
	struct reader *r, const struct tdm_shape_field *field, const struct tdm_json_token *token, char *at)
{
	if (field->member == TDM_MEMBER_POINTER && field->type == TDM_SHAPE_PLAIN)
		return put_text(r, token, at);
	return read_value(field, token, at) ? 0 : refuse(r, "has a value that it cannot have");
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

/* Reads a pointer member, whatever its type. */
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
		tdm_grow(&list, &top->cap, top->count + 1, shape->size);
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
	structure = tdm_zalloc(1, field->shape->size);
	memcpy(at + field->offset, &structure, sizeof structure);
	return begin_object(r, field->shape, structure);
}

/* The row for a reading's error, which says why it is unknown. */
static const struct tdm_shape_field reading_fields[] = {
	{ "err", TDM_MEMBER(struct tdm_reading, err) },
};
static const struct tdm_shape reading_shape = { reading_fields, 1, sizeof(struct tdm_reading), NULL };

static int begin_member(struct reader *r, struct place *top, bool is_array)
{
	static const uint8_t begins[] = {
		/* enum place_type; all are arrays except IN_KINDS */
		[TDM_SHAPE_BITS] = IN_BITS,
		[TDM_SHAPE_LOSSES] = IN_NUMBERS,
		[TDM_SHAPE_LIST] = IN_LIST,
		[TDM_SHAPE_ARRAY] = IN_LIST,
		[TDM_SHAPE_KINDS] = IN_KINDS,
		[TDM_SHAPE_KIND_BYTES] = IN_KINDS,
		[TDM_SHAPE_BUFFERS] = IN_KINDS,
		[TDM_SHAPE_TEXTS] = IN_TEXTS,
		[TDM_SHAPE_STACKS] = IN_LISTS_OF_ROWS,
		[TDM_SHAPE_RANGES] = IN_LISTS_OF_ROWS,
	};
	const struct tdm_shape_field *field = top->field;
	if (!is_array && field->type == TDM_SHAPE_OBJECT)
		return begin_object(r, field->shape, top->at + field->offset);
	if (!is_array && field->type == TDM_SHAPE_POINTER)
		return begin_pointer(r, field, top->at);
	if (!is_array && field->type == TDM_SHAPE_READING)
		return begin_object(r, &reading_shape, top->at + field->offset);
	enum place_type type = (enum place_type)begins[field->type];
	if (type == IN_UNWANTED || is_array == (type == IN_KINDS))
		return refuse(r, "has a value that it cannot have");
	if (field->type == TDM_SHAPE_LIST && pointer_at(top->at + field->offset) != NULL)
		return refuse(r, "occurs twice");
	return push(r, (struct place){ .type = type, .field = field, .at = top->at, .kind = -1 });
}

/* Begins a value of a kind: its structure, or its buffers. */
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
	tdm_grow(&list, &rows->cap, of->count + 1, sizeof *list);
	of->list = list;
	if (!tdm_shape_buffer_from_row(&list[of->count], r->row))
		return refuse(r, "have a size or number that no buffer can have");
	list[of->count++].kind = (uint8_t)rows->kind;
	return 0;
}

static int end_frame(struct reader *r, struct place *rows)
{
	uint64_t text = r->row[1] != UINT64_MAX ? r->row[1] : 0;
	if (rows->count >= TDM_FRAMES_MAX)
		return 0; /* a stack that is too deep loses its outermost frames */
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

static void end_rows(struct reader *r, const struct place *rows)
{
	uint32_t count = (uint32_t)rows->count;
	if (rows->field->type == TDM_SHAPE_STACKS)
		add_number(&r->stack_of, tdm_intern_stack(r->texts, r->frames, count));
	else if (rows->field->type == TDM_SHAPE_RANGES)
		add_number(&r->ranges_of, tdm_intern_ranges(r->texts, r->ranges, count));
}

static int end(struct reader *r)
{
	const struct place ended = r->places[r->depth--];
	if (ended.type == IN_ROWS)
		end_rows(r, &ended);
	return ended.type == IN_ROW ? end_row(r) : 0;
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
	if (token->part != TDM_JSON_PART_STRING)
		return refuse(r, "has an element that is no text");
	add_number(&r->text_of, tdm_intern_text(r->texts, token->text));
	return 0;
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
		if (top->field->type != TDM_SHAPE_KIND_BYTES || !read_u64(token, TDM_SHAPE_BYTES_MAX, &value))
			break;
		((uint64_t *)(top->at + top->field->offset))[top->kind] = value;
		return 0;
	case IN_NUMBERS:
		if (top->count >= top->field->limit)
			return 0;
		if (!read_u64(token, TDM_SHAPE_BYTES_MAX, &value))
			break;
		((uint64_t *)(top->at + top->field->offset))[top->count++] = value;
		return 0;
	case IN_BITS: {
		int bit = read_name(top->field, token); /* unknown: a later version may have more names */
		*(uint32_t *)(top->at + top->field->offset) |= bit > 0 ? UINT32_C(1) << bit : 0;
		return 0;
	}
	case IN_TEXTS:
		return take_text(r, token);
	case IN_ROW:
		if (r->row_count >= TDM_SHAPE_BUFFER_COLUMNS)
			return 0;
		if (!read_u64(token, UINT64_MAX, &value))
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

#define REMOTE(key) \
#key, TDM_MEMBER(struct tdm_remote_picture, key), .limit = sizeof(((struct tdm_remote_picture *)NULL)->key)
static const struct tdm_shape_field document_fields[] = {
	{ REMOTE(schema) },
	{ REMOTE(version) },
	{ REMOTE(host) },
	{ "picture", .type = TDM_SHAPE_OBJECT, .offset = offsetof(struct tdm_remote_picture, picture),
		.shape = &tdm_shape_picture },
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

/* Converts the document's numbers to those of `texts`, which all pictures share. */
static void renumber_field(void *context, const struct tdm_shape_field *field, char *at)
{
	struct reader *r = context;
	struct tdm_buffer_list *lists = (struct tdm_buffer_list *)at;
	if (field->type == TDM_SHAPE_TEXT_OF)
		r->is_wrong |= !renumber(&r->text_of, (uint32_t *)at);
	else if (field->type == TDM_SHAPE_STACK_OF)
		r->is_wrong |= !renumber(&r->stack_of, (uint32_t *)at);
	for (size_t k = 0; k < TDM_KIND_COUNT && field->type == TDM_SHAPE_BUFFERS; k++) {
		struct tdm_buffer *list;
		memcpy(&list, &lists[k].list, sizeof list);
		for (size_t i = 0; i < lists[k].count; i++)
			r->is_wrong |=
				!renumber(&r->text_of, &list[i].name) || !renumber(&r->text_of, &list[i].program) ||
				!renumber(&r->stack_of, &list[i].stack) || !renumber(&r->ranges_of, &list[i].ranges);
	}
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
	tdm_shape_walk(&tdm_shape_picture, (char *)&r->remote->picture, renumber_field, r);
	if (r->is_wrong)
		return tdm_diag_set(r->diag, TDM_ESYNTAX, 0, 0,
			"a buffer or note has the number of a text, stack or range that does not exist");
	return check_picture(&r->remote->picture, r->diag);
}

int tdm_remote_picture_read(
	struct tdm_str json, struct tdm_intern *texts, struct tdm_remote_picture *remote, struct tdm_diag *diag)
{
	*remote = (struct tdm_remote_picture){ .picture = { .texts = texts } };
	struct reader *r = tdm_zalloc(1, sizeof *r);
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

static void free_field(void *context, const struct tdm_shape_field *field, char *at)
{
	struct tdm_buffer_list *lists = (struct tdm_buffer_list *)at;
	(void)context;
	if (field->type == TDM_SHAPE_POINTER || field->type == TDM_SHAPE_LIST)
		free(pointer_at(at));
	for (size_t k = 0; k < TDM_KIND_COUNT && field->type == TDM_SHAPE_BUFFERS; k++)
		free((void *)(uintptr_t)lists[k].list);
}

void tdm_remote_picture_done(struct tdm_remote_picture *remote)
{
	tdm_shape_walk(&tdm_shape_picture, (char *)&remote->picture, free_field, NULL);
	*remote = (struct tdm_remote_picture){ 0 };
}
