/* Compares two pictures member by member, with the tables of live/remote/picture_shape.h. */
#ifndef TESTS_UNIT_PICTURE_SAME_H
#define TESTS_UNIT_PICTURE_SAME_H

#include <string.h>

#include "live/remote/picture_shape.h"

static inline void check_same(const struct tdm_shape *shape, const char *a, const char *b);

static inline size_t size_of(const struct tdm_shape_field *field)
{
	switch ((enum tdm_shape_type)field->type) {
	case TDM_SHAPE_CHOICE:
		return 1;
	case TDM_SHAPE_BITS:
	case TDM_SHAPE_TEXT_OF:
	case TDM_SHAPE_STACK_OF:
		return 4;
	case TDM_SHAPE_READING:
		return sizeof(struct tdm_reading);
	case TDM_SHAPE_PLAIN:
	case TDM_SHAPE_HEX:
		return field->limit;
	case TDM_SHAPE_LOSSES:
		return field->limit * sizeof(uint64_t);
	case TDM_SHAPE_OBJECT:
		return field->shape->size;
	case TDM_SHAPE_ARRAY:
		return field->shape->size * field->limit + sizeof(uint32_t);
	case TDM_SHAPE_LIST:
		return sizeof(void *) + sizeof(size_t);
	case TDM_SHAPE_KINDS:
		return field->shape->size * TDM_KIND_COUNT;
	case TDM_SHAPE_KIND_BYTES:
		return sizeof(uint64_t) * TDM_KIND_COUNT;
	case TDM_SHAPE_BUFFERS:
		return sizeof(struct tdm_buffer_list) * TDM_KIND_COUNT;
	case TDM_SHAPE_TEXTS:
	case TDM_SHAPE_STACKS:
	case TDM_SHAPE_RANGES:
		return 0;
	default:
		return 8;
	}
}

static inline void check_field(const struct tdm_shape_field *field, const char *a, const char *b)
{
	const char *x = a + field->offset, *y = b + field->offset;
	bool is_same = true;
	switch ((enum tdm_shape_type)field->type) {
	case TDM_SHAPE_OBJECT:
		check_same(field->shape, x, y);
		break;
	case TDM_SHAPE_POINTER:
		assert_int_equal(*(void *const *)x == NULL, *(void *const *)y == NULL);
		if (*(void *const *)x != NULL)
			check_same(field->shape, *(void *const *)x, *(void *const *)y);
		break;
	case TDM_SHAPE_LIST:
		assert_int_equal(
			*(const size_t *)(a + field->count_offset), *(const size_t *)(b + field->count_offset));
		for (size_t i = 0; i < *(const size_t *)(a + field->count_offset); i++)
			check_same(field->shape, *(char *const *)x + i * field->shape->size,
				*(char *const *)y + i * field->shape->size);
		break;
	case TDM_SHAPE_ARRAY:
		assert_int_equal(
			*(const uint32_t *)(a + field->count_offset), *(const uint32_t *)(b + field->count_offset));
		for (size_t i = 0; i < *(const uint32_t *)(a + field->count_offset); i++)
			check_same(field->shape, x + i * field->shape->size, y + i * field->shape->size);
		break;
	case TDM_SHAPE_KINDS:
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			check_same(field->shape, x + k * field->shape->size, y + k * field->shape->size);
		break;
	case TDM_SHAPE_PLAIN:
		if (field->member == TDM_MEMBER_CHARS)
			is_same = strcmp(x, y) == 0;
		else if (field->member == TDM_MEMBER_POINTER)
			is_same = strcmp(*(const char *const *)x != NULL ? *(const char *const *)x : "",
					  *(const char *const *)y != NULL ? *(const char *const *)y : "") == 0;
		else
			is_same = memcmp(x, y, size_of(field)) == 0;
		break;
	case TDM_SHAPE_READING: {
		const struct tdm_reading *r = (const struct tdm_reading *)x, *s = (const struct tdm_reading *)y;
		is_same = r->is_known == s->is_known && r->err == s->err && r->value == s->value;
		break;
	}
	case TDM_SHAPE_BUFFERS: /* see check_buffers */
	case TDM_SHAPE_TEXT_OF: /* see check_told */
	case TDM_SHAPE_STACK_OF:
		break;
	default:
		is_same = memcmp(x, y, size_of(field)) == 0;
	}
	if (!is_same)
		fail_msg("'%s' differs", field->key);
}

static inline void check_same(const struct tdm_shape *shape, const char *a, const char *b)
{
	for (size_t i = 0; i < shape->field_count; i++)
		check_field(&shape->fields[i], a, b);
}

static inline void check_stack(
	const struct tdm_picture *a, uint32_t stack_a, const struct tdm_picture *b, uint32_t stack_b)
{
	uint32_t count_a, count_b;
	const struct tdm_kept_frame *x = tdm_picture_stack(a, stack_a, &count_a),
				    *y = tdm_picture_stack(b, stack_b, &count_b);
	assert_int_equal(count_a, count_b);
	for (uint32_t i = 0; i < count_a; i++) {
		assert_true(x[i].address == y[i].address);
		assert_string_equal(tdm_picture_text(a, x[i].text), tdm_picture_text(b, y[i].text));
	}
}

static inline void check_buffer(const struct tdm_picture *a, const struct tdm_buffer *x, const struct tdm_picture *b,
	const struct tdm_buffer *y)
{
	uint32_t count_a, count_b;
	const struct tdm_core_range *ranges_a = tdm_picture_ranges(a, x->ranges, &count_a);
	const struct tdm_core_range *ranges_b = tdm_picture_ranges(b, y->ranges, &count_b);
	struct tdm_buffer plain_x = *x, plain_y = *y;
	uint64_t row_x[TDM_SHAPE_BUFFER_COLUMNS], row_y[TDM_SHAPE_BUFFER_COLUMNS];
	assert_int_equal(count_a, count_b);
	assert_true(count_a == 0 || memcmp(ranges_a, ranges_b, count_a * sizeof *ranges_a) == 0);
	check_stack(a, x->stack, b, y->stack);
	assert_string_equal(tdm_picture_text(a, x->name), tdm_picture_text(b, y->name));
	assert_string_equal(tdm_picture_text(a, x->program), tdm_picture_text(b, y->program));
	assert_int_equal(x->kind, y->kind);
	plain_x.name = plain_x.program = plain_x.stack = plain_x.ranges = 0;
	plain_y.name = plain_y.program = plain_y.stack = plain_y.ranges = 0;
	tdm_shape_buffer_to_row(&plain_x, row_x);
	tdm_shape_buffer_to_row(&plain_y, row_y);
	assert_memory_equal(row_x, row_y, sizeof row_x);
}

/* Texts and stacks of notes, hazards and clashes. */
static inline void check_told(const struct tdm_picture *a, const struct tdm_picture *b)
{
	for (size_t p = 0; p < a->process_count; p++)
		for (size_t i = 0; i < a->processes[p].note_count; i++)
			assert_string_equal(tdm_picture_text(a, a->processes[p].notes[i].text),
				tdm_picture_text(b, b->processes[p].notes[i].text));
	for (size_t h = 0; h < a->holding_count; h++)
		for (size_t i = 0; i < a->holdings[h].told.clash_count; i++)
			assert_string_equal(tdm_picture_text(a, a->holdings[h].told.clashes[i].program),
				tdm_picture_text(b, b->holdings[h].told.clashes[i].program));
	for (size_t h = 0; h < a->holding_count; h++)
		for (size_t i = 0; i < a->holdings[h].told.hazard_count; i++) {
			const struct tdm_hazard *x = &a->holdings[h].told.hazards[i],
						*y = &b->holdings[h].told.hazards[i];
			assert_string_equal(tdm_picture_text(a, x->name), tdm_picture_text(b, y->name));
			assert_string_equal(tdm_picture_text(a, x->program), tdm_picture_text(b, y->program));
			check_stack(a, x->stack, b, y->stack);
			check_stack(a, x->replay_stack, b, y->replay_stack);
		}
}

static inline void check_buffers(const struct tdm_picture *a, const struct tdm_picture *b)
{
	for (size_t h = 0; h < a->holding_count; h++)
		for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_buffer_list *x = &a->holdings[h].buffers[k], *y = &b->holdings[h].buffers[k];
			assert_int_equal(x->count, y->count);
			for (size_t i = 0; i < x->count; i++)
				check_buffer(a, &x->list[i], b, &y->list[i]);
		}
}

#endif
