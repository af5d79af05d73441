/*
 * Follows the tables of state/picture_shape.h. Texts, stacks and core ranges get numbers of their own in the order in
 * which buffers use them, so that only those that are used are written.
 */
#include "report/picture_json.h"
#include "base/json.h"
#include "base/map.h"
#include "base/reserve.h"
#include "report/stack_report.h"
#include "state/picture_shape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Numbers of the picture to numbers of the document, which begin with 1. */
struct used {
	struct tdm_map by_key;
	uint64_t *keys;
	size_t count, cap;
};

struct writer {
	const struct tdm_picture_json *options;
	const struct tdm_picture *picture;
	struct tdm_json *json;
	uint32_t process;                  /* of the holding that is being written */
	struct used texts, stacks, ranges; /* stacks: process << 32 | stack, since addresses belong to a process */
	struct tdm_stack_symbols symbols;
	struct tdm_intern functions; /* the texts of frames that were looked up */
	uint64_t *frame_texts;       /* of all stacks that are used, in their order */
	bool failed;
};

/* The key of a text in `functions`. */
#define OWN_TEXT (UINT64_C(1) << 32)

static uint64_t number_of(struct writer *w, struct used *used, uint64_t key)
{
	uint32_t at = tdm_map_find(&used->by_key, key);
	if (at != TDM_MAP_NONE)
		return at;
	if (tdm_reserve(&used->keys, &used->cap, used->count + 1, sizeof *used->keys) != 0 ||
		tdm_map_put(&used->by_key, key, (uint32_t)used->count + 1) != 0) {
		w->failed = true;
		return 0;
	}
	used->keys[used->count++] = key;
	return used->count;
}

static void put_structure(struct writer *w, const struct tdm_shape *shape, const char *at);

static void put_number(struct writer *w, bool is_known, uint64_t value)
{
	if (is_known)
		tdm_json_u64(w->json, value);
	else
		tdm_json_null(w->json);
}

static void put_hex(struct writer *w, const char *at, size_t count)
{
	char digits[65] = "";
	for (size_t i = 0; i < count && 2 * i + 2 < sizeof digits; i++)
		snprintf(digits + 2 * i, 3, "%02x", ((const uint8_t *)at)[i]);
	tdm_json_text(w->json, digits);
}

static void put_bits(struct writer *w, const struct tdm_shape_field *field, uint32_t bits)
{
	tdm_json_array(w->json);
	for (int i = 1; i < field->name_count; i++)
		if ((bits >> i & 1) != 0)
			tdm_json_text(w->json, field->names[i]);
	tdm_json_array_end(w->json);
}

/* A number; null: the driver does not offer it; an object with the reason: it cannot be read. */
static void put_reading(struct writer *w, const struct tdm_reading *reading)
{
	if (reading->is_known) {
		tdm_json_i64(w->json, reading->value);
	} else if (reading->err == 0) {
		tdm_json_null(w->json);
	} else {
		tdm_json_object(w->json);
		tdm_json_key(w->json, "err");
		tdm_json_i64(w->json, reading->err);
		tdm_json_object_end(w->json);
	}
}

static void put_list(struct writer *w, const struct tdm_shape *shape, const char *first, size_t count)
{
	tdm_json_array(w->json);
	for (size_t i = 0; i < count; i++)
		put_structure(w, shape, first + i * shape->size);
	tdm_json_array_end(w->json);
}

/* Whether two structures have the same plain values. */
static bool is_same(const struct tdm_shape *shape, const char *a, const char *b)
{
	static const uint8_t sizes[] = { [TDM_SHAPE_BOOL] = sizeof(bool),
		[TDM_SHAPE_CHOICE] = 1,
		[TDM_SHAPE_U32] = 4,
		[TDM_SHAPE_I32] = 4,
		[TDM_SHAPE_U64] = 8,
		[TDM_SHAPE_BYTES] = 8,
		[TDM_SHAPE_TIME] = 8 };
	for (size_t i = 0; i < shape->field_count; i++) {
		const struct tdm_shape_field *field = &shape->fields[i];
		if (memcmp(a + field->offset, b + field->offset, sizes[field->type]) != 0)
			return false;
	}
	return true;
}

/* Kinds of which nothing is known are left out. */
static void put_kinds(struct writer *w, const struct tdm_shape *of, const struct tdm_shape_field *field, const char *at)
{
	size_t size = field->shape->size;
	char *unknown = calloc(1, of->size);
	w->failed |= unknown == NULL;
	if (unknown != NULL && of->init != NULL)
		of->init(unknown);
	tdm_json_object(w->json);
	for (size_t k = 0; k < TDM_KIND_COUNT && unknown != NULL; k++) {
		const char *kind = at + k * size;
		if (is_same(field->shape, kind, unknown + field->offset + k * size))
			continue;
		tdm_json_key(w->json, tdm_kind_name((enum tdm_kind)k));
		put_structure(w, field->shape, kind);
	}
	tdm_json_object_end(w->json);
	free(unknown);
}

static void put_kind_bytes(struct writer *w, const uint64_t *bytes)
{
	tdm_json_object(w->json);
	for (size_t k = 0; k < TDM_KIND_COUNT; k++)
		if (bytes[k] != 0)
			tdm_json_put_bytes(w->json, tdm_kind_name((enum tdm_kind)k), bytes[k]);
	tdm_json_object_end(w->json);
}

static void put_row(struct writer *w, const uint64_t *row, size_t count)
{
	tdm_json_array(w->json);
	for (size_t i = 0; i < count; i++)
		tdm_json_bytes(w->json, row[i]);
	tdm_json_array_end(w->json);
}

static uint32_t own_number(struct writer *w, struct used *used, uint32_t number, uint64_t key)
{
	return number != 0 ? (uint32_t)number_of(w, used, key) : 0;
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
			buffer.name = own_number(w, &w->texts, buffer.name, buffer.name);
			buffer.program = own_number(w, &w->texts, buffer.program, buffer.program);
			buffer.stack = own_number(w, &w->stacks, buffer.stack, (uint64_t)process << 32 | buffer.stack);
			buffer.ranges = own_number(w, &w->ranges, buffer.ranges, buffer.ranges);
			tdm_shape_buffer_to_row(&buffer, row);
			put_row(w, row, TDM_SHAPE_BUFFER_COLUMNS);
		}
		tdm_json_array_end(w->json);
	}
	tdm_json_object_end(w->json);
}

/* ---- what the numbers of buffers mean ---- */

/* The number of a frame's text in the document; 0: it has none. */
static uint64_t frame_text(struct writer *w, uint32_t process, const struct tdm_kept_frame *frame)
{
	struct tdm_buf text;
	uint32_t number = 0;
	if (frame->text != 0 || !w->options->with_functions)
		return own_number(w, &w->texts, frame->text, frame->text);
	tdm_buf_init(&text);
	tdm_stack_frame(w->picture, tdm_stack_symbols_get(&w->symbols, w->picture, process), frame, &text);
	w->failed |= tdm_buf_failed(&text) || tdm_intern_text(&w->functions, tdm_buf_str(&text), &number) != 0;
	tdm_buf_done(&text);
	return number != 0 ? number_of(w, &w->texts, OWN_TEXT | number) : 0;
}

/* Texts are written before stacks, so the texts of frames get their numbers first. */
static void name_frames(struct writer *w)
{
	size_t frame_count = 0, cap = 0;
	for (size_t i = 0; i < w->stacks.count; i++) {
		uint32_t count;
		const struct tdm_kept_frame *frames =
			tdm_picture_stack(w->picture, (uint32_t)w->stacks.keys[i], &count);
		if (tdm_reserve(&w->frame_texts, &cap, frame_count + count, sizeof *w->frame_texts) != 0) {
			w->failed = true;
			return;
		}
		for (uint32_t f = 0; f < count; f++)
			w->frame_texts[frame_count++] = frame_text(w, (uint32_t)(w->stacks.keys[i] >> 32), &frames[f]);
	}
}

static void put_texts(struct writer *w)
{
	name_frames(w);
	tdm_json_array(w->json);
	for (size_t i = 0; i < w->texts.count; i++) {
		uint64_t key = w->texts.keys[i];
		tdm_json_text(w->json, (key & OWN_TEXT) != 0 ? w->functions.texts[(uint32_t)key]
							     : tdm_picture_text(w->picture, (uint32_t)key));
	}
	tdm_json_array_end(w->json);
}

static void put_stacks(struct writer *w)
{
	size_t next = 0;
	tdm_json_array(w->json);
	for (size_t i = 0; i < w->stacks.count && !w->failed; i++) {
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
	tdm_json_array_end(w->json);
}

static void put_ranges(struct writer *w)
{
	tdm_json_array(w->json);
	for (size_t i = 0; i < w->ranges.count; i++) {
		uint32_t count;
		const struct tdm_core_range *ranges =
			tdm_picture_ranges(w->picture, (uint32_t)w->ranges.keys[i], &count);
		tdm_json_array(w->json);
		for (uint32_t c = 0; c < count; c++)
			put_row(w, (uint64_t[]){ ranges[c].x0, ranges[c].y0, ranges[c].x1, ranges[c].y1 }, 4);
		tdm_json_array_end(w->json);
	}
	tdm_json_array_end(w->json);
}

/* Whatever has parts of its own. `of` is the structure that the field is a member of. */
static void put_parts(struct writer *w, const struct tdm_shape *of, const struct tdm_shape_field *field, const char *at)
{
	const char *structure = at - field->offset, *pointed;
	memcpy(&pointed, at, sizeof pointed);
	switch ((enum tdm_shape_type)field->type) {
	case TDM_SHAPE_OBJECT:
		put_structure(w, field->shape, at);
		break;
	case TDM_SHAPE_POINTER:
		if (pointed != NULL)
			put_structure(w, field->shape, pointed);
		else
			tdm_json_null(w->json);
		break;
	case TDM_SHAPE_LIST:
		put_list(w, field->shape, pointed, *(const size_t *)(structure + field->count_offset));
		break;
	case TDM_SHAPE_ARRAY:
		put_list(w, field->shape, at, *(const uint32_t *)(structure + field->count_offset));
		break;
	case TDM_SHAPE_KINDS:
		put_kinds(w, of, field, at);
		break;
	case TDM_SHAPE_KIND_BYTES:
		put_kind_bytes(w, (const uint64_t *)at);
		break;
	case TDM_SHAPE_BUFFERS:
		put_buffers(w, (const struct tdm_buffer_list *)at, w->process);
		break;
	case TDM_SHAPE_TEXTS:
		put_texts(w);
		break;
	case TDM_SHAPE_STACKS:
		put_stacks(w);
		break;
	default:
		put_ranges(w);
	}
}

static void put_value(struct writer *w, const struct tdm_shape *of, const struct tdm_shape_field *field, const char *at)
{
	switch ((enum tdm_shape_type)field->type) {
	case TDM_SHAPE_BOOL:
		tdm_json_bool(w->json, *(const bool *)at);
		break;
	case TDM_SHAPE_CHOICE: {
		uint8_t choice = *(const uint8_t *)at;
		tdm_json_text(w->json, choice != 0 && choice < field->name_count ? field->names[choice] : NULL);
		break;
	}
	case TDM_SHAPE_BITS:
		put_bits(w, field, *(const uint32_t *)at);
		break;
	case TDM_SHAPE_TEXT_OF:
	case TDM_SHAPE_STACK_OF: {
		uint32_t number = *(const uint32_t *)at;
		uint64_t own = field->type == TDM_SHAPE_TEXT_OF
				       ? own_number(w, &w->texts, number, number)
				       : own_number(w, &w->stacks, number, (uint64_t)w->process << 32 | number);
		put_number(w, own != 0, own);
		break;
	}
	case TDM_SHAPE_U32: {
		uint32_t value = *(const uint32_t *)at;
		put_number(w, value != UINT32_MAX && !(field->zero_is_null && value == 0), value);
		break;
	}
	case TDM_SHAPE_I32: {
		int32_t value = *(const int32_t *)at;
		if ((field->negative_is_null && value < 0) || (field->zero_is_null && value == 0))
			tdm_json_null(w->json);
		else
			tdm_json_i64(w->json, value);
		break;
	}
	case TDM_SHAPE_U64:
	case TDM_SHAPE_BYTES:
	case TDM_SHAPE_TIME: {
		uint64_t value = *(const uint64_t *)at;
		put_number(w, value != UINT64_MAX && !(field->zero_is_null && value == 0), value);
		break;
	}
	case TDM_SHAPE_CHARS:
		tdm_json_text(w->json, at[0] != '\0' ? at : NULL);
		break;
	case TDM_SHAPE_TEXT:
		tdm_json_text(w->json, *(const char *const *)at);
		break;
	case TDM_SHAPE_HEX:
		put_hex(w, at, field->limit);
		break;
	case TDM_SHAPE_READING:
		put_reading(w, (const struct tdm_reading *)at);
		break;
	case TDM_SHAPE_LOSSES:
		put_row(w, (const uint64_t *)at, field->limit);
		break;
	default:
		put_parts(w, of, field, at);
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

static void done(struct writer *w)
{
	struct used *all[] = { &w->texts, &w->stacks, &w->ranges };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		tdm_map_done(&all[i]->by_key);
		free(all[i]->keys);
	}
	tdm_stack_symbols_done(&w->symbols);
	tdm_intern_done(&w->functions);
	free(w->frame_texts);
}

/* Leaves out the processes that the reader may not see. The lists are new ones, owned by the caller. */
static int choose_processes(const struct tdm_picture_json *options, struct tdm_picture *shown)
{
	const struct tdm_picture *all = options->picture;
	shown->process_count = shown->holding_count = shown->problem_count = 0;
	shown->processes = malloc((all->process_count + 1) * sizeof *all->processes);
	shown->holdings = malloc((all->holding_count + 1) * sizeof *all->holdings);
	if (shown->processes == NULL || shown->holdings == NULL)
		return -ENOMEM;
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
	return 0;
}

static void write_document(struct writer *w)
{
	if (tdm_map_init(&w->texts.by_key) != 0 || tdm_map_init(&w->stacks.by_key) != 0 ||
		tdm_map_init(&w->ranges.by_key) != 0 || tdm_intern_init(&w->functions) != 0) {
		w->failed = true;
		return;
	}
	tdm_json_envelope(w->json, "tidemark.picture");
	tdm_json_key(w->json, "picture");
	put_structure(w, &tdm_shape_picture, (const char *)w->picture);
	tdm_json_object_end(w->json);
}

void tdm_picture_json(const struct tdm_picture_json *options, struct tdm_buf *out)
{
	struct tdm_json json;
	struct tdm_picture shown = *options->picture;
	struct writer w = { .options = options, .picture = &shown, .json = &json };
	bool is_chosen = options->only_user || !options->with_processes;
	tdm_json_init(&json, out);
	json.compact = true;
	w.failed = is_chosen && choose_processes(options, &shown) != 0;
	if (!w.failed)
		write_document(&w);
	out->failed |= w.failed;
	done(&w);
	if (is_chosen) {
		free(shown.processes);
		free(shown.holdings);
	}
}
