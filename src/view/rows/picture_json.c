/*
 * Writes the tables of live/remote/picture_shape.h. Strings, stacks and core ranges are renumbered in the order in
 * which buffers use them, so unused ones are not written.
 */
#include "view/rows/picture_json.h"
#include "base/json.h"
#include "base/map.h"
#include "base/memory.h"
#include "view/write/table.h"
#include "view/rows/stack_rows.h"
#include "live/remote/picture_shape.h"

#include <stdio.h>
#include <stdlib.h>

/* Maps numbers in the picture to numbers in the document, which begin with 1. */
struct used {
	struct tdm_map by_key;
	uint64_t *keys;
	size_t count, cap;
};

struct writer {
	const struct tdm_picture_json *options;
	const struct tdm_picture *picture;
	struct tdm_json *json;
	uint32_t process; /* process of the holding being written */
	/* key of a stack: process << 32 | stack, since addresses belong to a process */
	struct used texts, stacks, ranges;
	struct tdm_stack_symbols symbols;
	struct tdm_intern functions; /* the strings of frames that were looked up */
	uint64_t *frame_texts;       /* strings of the frames of all used stacks, in order */
};

/* Added to the key of a string in `functions`. */
#define OWN_TEXT (UINT64_C(1) << 32)

static uint64_t number_of(struct used *used, uint64_t key)
{
	uint32_t at = tdm_map_find(&used->by_key, key);
	if (at != TDM_MAP_NONE)
		return at;
	tdm_grow(&used->keys, &used->cap, used->count + 1, sizeof *used->keys);
	tdm_map_set(&used->by_key, key, (uint32_t)used->count + 1);
	used->keys[used->count++] = key;
	return used->count;
}

static void put_structure(struct writer *w, const struct tdm_shape *shape, const char *at);

/* Whether two structures have the same plain values. */
static bool is_same(const struct tdm_shape *shape, const char *a, const char *b)
{
	static const uint8_t sizes[] = {
		[TDM_MEMBER_U8] = 1, [TDM_MEMBER_BOOL] = sizeof(bool), [TDM_MEMBER_U32] = 4, [TDM_MEMBER_U64] = 8
	};
	for (size_t i = 0; i < shape->field_count; i++) {
		const struct tdm_shape_field *field = &shape->fields[i];
		if (memcmp(a + field->offset, b + field->offset, sizes[field->member]) != 0)
			return false;
	}
	return true;
}

/* Writes the kinds of memory, leaving out those about which nothing is known. */
static void put_kinds(struct writer *w, const struct tdm_shape *of, const struct tdm_shape_field *field, const char *at)
{
	size_t size = field->shape->size;
	char *unknown = tdm_zalloc(1, of->size);
	if (of->init != NULL)
		of->init(unknown);
	tdm_json_object(w->json);
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		const char *kind = at + k * size;
		if (is_same(field->shape, kind, unknown + field->offset + k * size))
			continue;
		tdm_json_key(w->json, tdm_kind_name((enum tdm_kind)k));
		put_structure(w, field->shape, kind);
	}
	tdm_json_object_end(w->json);
	free(unknown);
}

static void put_row(struct writer *w, const uint64_t *row, size_t count)
{
	tdm_json_array(w->json);
	for (size_t i = 0; i < count; i++)
		tdm_json_bytes(w->json, row[i]);
	tdm_json_array_end(w->json);
}

static uint32_t own_number(struct used *used, uint32_t number, uint64_t key)
{
	return number != 0 ? (uint32_t)number_of(used, key) : 0;
}

static void put_buffers(struct writer *w, const struct tdm_buffer_list *lists, uint32_t process)
{
	tdm_json_object(w->json);
	for (size_t k = 0; k < TDM_KIND_COUNT && w->options->with_buffers; k++) {
		if (lists[k].count == 0)
			continue;
		tdm_json_put_array(w->json, tdm_kind_name((enum tdm_kind)k));
		for (size_t i = 0; i < lists[k].count; i++) {
			struct tdm_buffer buffer = lists[k].list[i];
			uint64_t row[TDM_SHAPE_BUFFER_COLUMNS];
			buffer.name = own_number(&w->texts, buffer.name, buffer.name);
			buffer.program = own_number(&w->texts, buffer.program, buffer.program);
			buffer.stack = own_number(&w->stacks, buffer.stack, (uint64_t)process << 32 | buffer.stack);
			buffer.ranges = own_number(&w->ranges, buffer.ranges, buffer.ranges);
			tdm_shape_buffer_to_row(&buffer, row);
			put_row(w, row, TDM_SHAPE_BUFFER_COLUMNS);
		}
		tdm_json_array_end(w->json);
	}
	tdm_json_object_end(w->json);
}

/* ---- strings, stacks and core ranges, which buffers refer to by number ---- */

/* Numbers the strings of frames in advance, because strings are written before stacks. 0 means that a frame has no
 * string. */
static void name_frames(struct writer *w)
{
	size_t frame_count = 0, cap = 0;
	for (size_t i = 0; i < w->stacks.count; i++) {
		uint32_t count, process = (uint32_t)(w->stacks.keys[i] >> 32);
		const struct tdm_kept_frame *frames =
			tdm_picture_stack(w->picture, (uint32_t)w->stacks.keys[i], &count);
		tdm_grow(&w->frame_texts, &cap, frame_count + count, sizeof *w->frame_texts);
		for (uint32_t f = 0; f < count; f++) {
			uint64_t key = frames[f].text;
			if (key == 0 && w->options->with_functions) {
				struct tdm_buf text = { 0 };
				tdm_stack_frame(w->picture, tdm_stack_symbols_get(&w->symbols, w->picture, process),
					&frames[f], &text);
				uint32_t own = tdm_intern_text(&w->functions, tdm_buf_str(&text));
				key = own != 0 ? OWN_TEXT | own : 0;
				tdm_buf_done(&text);
			}
			w->frame_texts[frame_count++] = key != 0 ? number_of(&w->texts, key) : 0;
		}
	}
}

static void put_texts(struct writer *w)
{
	name_frames(w);
	for (size_t i = 0; i < w->texts.count; i++) {
		uint64_t key = w->texts.keys[i];
		tdm_json_text(w->json, (key & OWN_TEXT) != 0 ? w->functions.texts[(uint32_t)key]
							     : tdm_picture_text(w->picture, (uint32_t)key));
	}
}

static void put_stacks(struct writer *w)
{
	size_t next = 0;
	for (size_t i = 0; i < w->stacks.count; i++) {
		uint32_t count;
		const struct tdm_kept_frame *frames =
			tdm_picture_stack(w->picture, (uint32_t)w->stacks.keys[i], &count);
		tdm_json_array(w->json);
		for (uint32_t f = 0; f < count; f++) {
			uint64_t text = w->frame_texts[next++];
			put_row(w, (uint64_t[]){ frames[f].address, text != 0 ? text : UINT64_MAX }, 2);
		}
		tdm_json_array_end(w->json);
	}
}

static void put_ranges(struct writer *w)
{
	for (size_t i = 0; i < w->ranges.count; i++) {
		uint32_t count;
		const struct tdm_core_range *ranges =
			tdm_picture_ranges(w->picture, (uint32_t)w->ranges.keys[i], &count);
		tdm_json_array(w->json);
		for (uint32_t c = 0; c < count; c++)
			put_row(w, (uint64_t[]){ ranges[c].x0, ranges[c].y0, ranges[c].x1, ranges[c].y1 }, 4);
		tdm_json_array_end(w->json);
	}
}

/* Writes a member of the structure `of` according to its type. */
static void put_value(struct writer *w, const struct tdm_shape *of, const struct tdm_shape_field *field, const char *at)
{
	struct tdm_json *json = w->json;
	const struct tdm_value value = tdm_member_get((enum tdm_member)field->member, at);
	const struct tdm_reading *reading = (const void *)at;
	const uint64_t *bytes = (const void *)at;
	uint32_t number;
	char digits[65] = "";
	size_t count;
	const char *parts = tdm_shape_parts(field, at - field->offset, &count);
	switch ((enum tdm_shape_type)field->type) {
	case TDM_SHAPE_PLAIN:
		if (value.type == TDM_VALUE_UNKNOWN || (field->zero_is_null && value.number == 0) ||
			(field->negative_is_null && value.integer < 0) ||
			(field->member == TDM_MEMBER_CHARS && at[0] == '\0'))
			tdm_json_null(json);
		else
			tdm_value_json(&value, json);
		break;
	case TDM_SHAPE_CHOICE:
		tdm_json_text(json,
			value.number != 0 && value.number < field->name_count ? field->names[value.number] : NULL);
		break;
	case TDM_SHAPE_BITS:
		tdm_json_array(json);
		for (int i = 1; i < field->name_count; i++)
			if ((*(const uint32_t *)(const void *)at >> i & 1) != 0)
				tdm_json_text(json, field->names[i]);
		tdm_json_array_end(json);
		break;
	case TDM_SHAPE_TEXT_OF:
	case TDM_SHAPE_STACK_OF:
		number = *(const uint32_t *)(const void *)at;
		number = field->type == TDM_SHAPE_TEXT_OF
				 ? own_number(&w->texts, number, number)
				 : own_number(&w->stacks, number, (uint64_t)w->process << 32 | number);
		tdm_json_bytes(json, number != 0 ? number : UINT64_MAX);
		break;
	case TDM_SHAPE_HEX:
		for (size_t i = 0; i < field->limit && 2 * i + 2 < sizeof digits; i++)
			snprintf(digits + 2 * i, 3, "%02x", ((const uint8_t *)at)[i]);
		tdm_json_text(json, digits);
		break;
	case TDM_SHAPE_READING: /* null: the driver does not offer it; an object with the reason: the reading failed */
		if (reading->is_known)
			tdm_json_i64(json, reading->value);
		else if (reading->err == 0)
			tdm_json_null(json);
		else {
			tdm_json_object(json);
			tdm_json_key(json, "err");
			tdm_json_i64(json, reading->err);
			tdm_json_object_end(json);
		}
		break;
	case TDM_SHAPE_LOSSES:
		put_row(w, bytes, field->limit);
		break;
	case TDM_SHAPE_OBJECT:
	case TDM_SHAPE_POINTER:
		if (count != 0)
			put_structure(w, field->shape, parts);
		else
			tdm_json_null(json);
		break;
	case TDM_SHAPE_KINDS:
		put_kinds(w, of, field, at);
		break;
	case TDM_SHAPE_KIND_BYTES:
		tdm_json_object(json);
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			if (bytes[k] != 0)
				tdm_json_put_bytes(json, tdm_kind_name((enum tdm_kind)k), bytes[k]);
		tdm_json_object_end(json);
		break;
	case TDM_SHAPE_BUFFERS:
		put_buffers(w, (const struct tdm_buffer_list *)(const void *)at, w->process);
		break;
	default:
		tdm_json_array(json);
		if (field->type == TDM_SHAPE_TEXTS)
			put_texts(w);
		else if (field->type == TDM_SHAPE_STACKS)
			put_stacks(w);
		else if (field->type == TDM_SHAPE_RANGES)
			put_ranges(w);
		for (size_t i = 0; field->shape != NULL && i < count; i++)
			put_structure(w, field->shape, parts + i * field->shape->size);
		tdm_json_array_end(json);
	}
}

static void put_structure(struct writer *w, const struct tdm_shape *shape, const char *at)
{
	if (shape == &tdm_shape_holding)
		w->process = ((const struct tdm_holding *)at)->process;
	tdm_json_object(w->json);
	for (size_t i = 0; i < shape->field_count; i++) {
		const struct tdm_shape_field *field = &shape->fields[i];
		tdm_json_key(w->json, field->key);
		put_value(w, shape, field, at + field->offset);
	}
	tdm_json_object_end(w->json);
}

/* Leaves out the processes that the reader is not allowed to see. The resulting lists are owned by the caller. */
static void choose_processes(const struct tdm_picture_json *options, struct tdm_picture *shown)
{
	const struct tdm_picture *all = options->picture;
	shown->process_count = shown->holding_count = shown->problem_count = 0;
	shown->processes = tdm_zalloc(all->process_count, sizeof *all->processes);
	shown->holdings = tdm_zalloc(all->holding_count, sizeof *all->holdings);
	for (size_t i = 0; i < all->process_count; i++) {
		const struct tdm_picture_process *process = &all->processes[i];
		if (!options->with_processes || process->uid != options->uid)
			continue;
		for (size_t h = 0; h < process->holding_count; h++) {
			struct tdm_holding *holding = &shown->holdings[shown->holding_count++];
			*holding = all->holdings[process->first_holding + h];
			holding->process = (uint32_t)shown->process_count;
		}
		shown->processes[shown->process_count++] = *process;
	}
}

void tdm_picture_json(const struct tdm_picture_json *options, struct tdm_buf *out)
{
	struct tdm_json json;
	struct tdm_picture shown = *options->picture;
	struct writer w = { .options = options, .picture = &shown, .json = &json };
	bool is_chosen = options->only_user || !options->with_processes;
	tdm_json_init(&json, out);
	json.compact = true;
	if (is_chosen)
		choose_processes(options, &shown);
	tdm_intern_init(&w.functions);
	tdm_json_envelope(&json, "tidemark.picture");
	tdm_json_key(&json, "picture");
	put_structure(&w, &tdm_shape_picture, (const char *)&shown);
	tdm_json_object_end(&json);
	struct used *all[] = { &w.texts, &w.stacks, &w.ranges };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		tdm_map_done(&all[i]->by_key);
		free(all[i]->keys);
	}
	tdm_stack_symbols_done(&w.symbols);
	tdm_intern_done(&w.functions);
	free(w.frame_texts);
	if (is_chosen) {
		free(shown.processes);
		free(shown.holdings);
	}
}
