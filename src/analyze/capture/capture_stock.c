/*
 * Computes the figures in one pass, without keeping all nodes. Two rules need more than the current node:
 *
 *   - A release gets its size and type from the earlier `buffer` node that it is connected to. The necessary data is
 *     kept in a table with 16 bytes per buffer node, in file order, so that it can be searched.
 *   - After an outermost function_start, the following inputs are added before the peak is checked. `inputs` is true
 *     until the first other node, which raises the peak.
 *
 * Integer widths and wrapping are the same as in the runtime: 32 bits for the L1 peak, 64 bits unsigned for the cores,
 * 64 bits signed for DRAM.
 */
#include "analyze/capture/capture_stock.h"
#include "base/number.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct buffer {
	int64_t size;
	uint64_t index : 60;
	uint64_t memory : 2; /* enum tdm_capture_memory */
	uint64_t has_size : 1;
	uint64_t input : 1; /* the L1 peak already includes the buffer as an input */
};

struct tdm_capture_stock {
	struct buffer *buffers;
	size_t count, cap;
	/* For L1: */
	bool inputs;
	uint64_t depth;
	uint32_t l1_program, l1_buffers;
	uint64_t l1_views, l1_twice, l1_inputs; /* parts of `l1` and its peak that explain differences */
	int64_t l1_true;                        /* the same, without wrapping */
	uint64_t next_counter;                  /* count for one core */
	uint64_t now[TDM_STOCK_FIGURES];        /* current values for DRAM and one core, indexed like the peaks */
	struct tdm_stock_result result;
};

const char *tdm_stock_key(enum tdm_stock_figure figure)
{
	static const char *const keys[] = {
#define X(id, key, group) [TDM_STOCK_##id] = key,
		TDM_STOCK_LIST(X)
#undef X
	};
	return keys[figure];
}

enum tdm_stock_group tdm_stock_group_of(enum tdm_stock_figure figure)
{
	static const uint8_t groups[] = {
#define X(id, key, group) [TDM_STOCK_##id] = TDM_STOCK_##group,
		TDM_STOCK_LIST(X)
#undef X
	};
	return (enum tdm_stock_group)groups[figure];
}

struct tdm_capture_stock *tdm_capture_stock_new(void)
{
	return tdm_zalloc(1, sizeof(struct tdm_capture_stock));
}

void tdm_capture_stock_free(struct tdm_capture_stock *stock)
{
	if (stock == NULL)
		return;
	free(stock->buffers);
	free(stock);
}

static bool failed(const struct tdm_capture_stock *s, enum tdm_stock_group group)
{
	return s->result.why[group][0] != '\0';
}

/* Makes the group's figures unknown from here on; keeps the first reason. */
static __attribute__((format(printf, 4, 5))) void fail(struct tdm_capture_stock *s, enum tdm_stock_group group,
	const struct tdm_capture_node *node, const char *format, ...)
{
	va_list args;
	if (failed(s, group))
		return;
	int len = snprintf(s->result.why[group], TDM_STOCK_WHY_CAP, "node %" PRIu64 ": ", node->index);
	va_start(args, format);
	vsnprintf(s->result.why[group] + len, TDM_STOCK_WHY_CAP - (size_t)len, format, args);
	va_end(args);
}

/* Reads a number as the runtime does. Where the runtime would throw, the group fails. */
static bool take(struct tdm_capture_stock *s, enum tdm_stock_group group, const struct tdm_capture_node *node,
	const struct tdm_capture_number *number, const char *name, int64_t *value)
{
	*value = number->value;
	if (number->state == TDM_CAPTURE_GIVEN)
		return true;
	fail(s, group, node, "%s %s", name,
		number->state == TDM_CAPTURE_ABSENT      ? "is missing"
		: number->state == TDM_CAPTURE_TOO_LARGE ? "does not fit 64 bits"
							 : "is not a number");
	return false;
}

static uint64_t index_of(const void *buffers, size_t i)
{
	return ((const struct buffer *)buffers)[i].index;
}

/* The buffer node that a node is connected to. */
static struct buffer *find_buffer(const struct tdm_capture_stock *s, const struct tdm_capture_node *node)
{
	int64_t index = node->connection.state == TDM_CAPTURE_GIVEN ? node->connection.value : -1;
	size_t at = index >= 0 ? tdm_search_back(s->buffers, s->count, (uint64_t)index, index_of) : SIZE_MAX;
	return at != SIZE_MAX ? &s->buffers[at] : NULL;
}

/* ---- the peak of L1 ---- */

static unsigned raise_l1(struct tdm_capture_stock *s)
{
	uint32_t now = s->l1_program + s->l1_buffers;
	s->result.wrapped[TDM_STOCK_L1_PEAK] |= s->l1_true < 0 || s->l1_true > UINT32_MAX;
	if (now <= s->result.value[TDM_STOCK_L1_PEAK])
		return 0;
	s->result.value[TDM_STOCK_L1_PEAK] = now;
	s->result.view_bytes = s->l1_views;
	s->result.twice_bytes = s->l1_twice;
	s->result.input_bytes = s->l1_inputs;
	return 1U << TDM_STOCK_L1_PEAK;
}

/* Adds a size, negative for a release. */
static void l1_add(struct tdm_capture_stock *s, uint32_t *to, int64_t size)
{
	*to += (uint32_t)size;
	if (__builtin_add_overflow(s->l1_true, size, &s->l1_true))
		s->l1_true = INT64_MIN;
}

/* Whether the node is one of the inputs after an outermost function_start. */
static bool l1_input(struct tdm_capture_stock *s, const struct tdm_capture_node *node)
{
	int64_t size;
	if (node->type == TDM_CAPTURE_TENSOR)
		return true;
	if (node->type != TDM_CAPTURE_BUFFER)
		return false;
	if (node->memory == TDM_CAPTURE_MEMORY_ABSENT) {
		fail(s, TDM_STOCK_L1, node, "type of the buffer is missing");
		return false;
	}
	if (node->memory != TDM_CAPTURE_MEMORY_L1)
		return false;
	if (take(s, TDM_STOCK_L1, node, &node->size, "size", &size)) {
		l1_add(s, &s->l1_buffers, size);
		s->l1_inputs += (uint64_t)size;
		s->buffers[s->count - 1].input = 1;
	}
	return true;
}

static void l1_program(struct tdm_capture_stock *s, const struct tdm_capture_node *node)
{
	int64_t size, borrowed = 0;
	if (node->type == TDM_CAPTURE_DFB_ALLOCATE &&
		!take(s, TDM_STOCK_L1, node, &node->borrows_memory, "borrows_memory", &borrowed))
		return;
	if (borrowed == 1 || !take(s, TDM_STOCK_L1, node, &node->size, "size", &size))
		return;
	l1_add(s, &s->l1_program, size);
	if (node->type == TDM_CAPTURE_CB_ALLOCATE && node->globally_allocated.value == 1)
		s->l1_views += (uint64_t)size;
}

static void l1_buffer(struct tdm_capture_stock *s, const struct tdm_capture_node *node)
{
	int64_t size;
	if (node->memory == TDM_CAPTURE_MEMORY_ABSENT) {
		fail(s, TDM_STOCK_L1, node, "type is missing");
	} else if (node->memory == TDM_CAPTURE_MEMORY_L1 && take(s, TDM_STOCK_L1, node, &node->size, "size", &size)) {
		struct buffer *b = find_buffer(s, node);
		l1_add(s, &s->l1_buffers, size);
		if (b != NULL && b->input) { /* already counted as an input, and now counted again */
			b->input = 0;
			s->l1_twice += (uint64_t)b->size;
			s->l1_inputs -= (uint64_t)b->size;
		}
	}
}

static unsigned l1_apply(
	struct tdm_capture_stock *s, const struct tdm_capture_node *node, const struct buffer *released)
{
	unsigned raised = 0;
	if (s->inputs) {
		if (l1_input(s, node))
			return 0;
		s->inputs = false;
		raised = raise_l1(s) != 0 ? TDM_STOCK_RAISED_BEFORE : 0;
	}
	switch (node->type) {
	case TDM_CAPTURE_UNTYPED:
		fail(s, TDM_STOCK_L1, node, "node_type is missing");
		break;
	case TDM_CAPTURE_FUNCTION_START:
		if (!node->has_name)
			fail(s, TDM_STOCK_L1, node, "the function has no name");
		s->inputs = s->depth++ == 0;
		return raised; /* the peak is checked after the inputs */
	case TDM_CAPTURE_FUNCTION_END:
		if (s->depth == 0)
			fail(s, TDM_STOCK_L1, node, "a function ends that did not start");
		else
			s->depth--;
		break;
	case TDM_CAPTURE_CB_ALLOCATE:
	case TDM_CAPTURE_DFB_ALLOCATE:
	case TDM_CAPTURE_SCRATCHPAD_ALLOCATE:
		l1_program(s, node);
		break;
	case TDM_CAPTURE_CB_DEALLOCATE_ALL:
		l1_add(s, &s->l1_program, -(int64_t)s->l1_program);
		s->l1_views = 0;
		break;
	case TDM_CAPTURE_BUFFER_ALLOCATE:
		l1_buffer(s, node);
		break;
	case TDM_CAPTURE_BUFFER_DEALLOCATE:
		if (released != NULL && released->memory == TDM_CAPTURE_MEMORY_L1)
			l1_add(s, &s->l1_buffers, released->size != INT64_MIN ? -released->size : INT64_MIN);
		break;
	default:
		break;
	}
	return raised | raise_l1(s);
}

/* ---- DRAM ---- */

static unsigned dram_apply(
	struct tdm_capture_stock *s, const struct tdm_capture_node *node, const struct buffer *released)
{
	uint64_t *now = &s->now[TDM_STOCK_DRAM_PEAK], *value = s->result.value;
	int64_t size;
	if (node->type == TDM_CAPTURE_UNTYPED) {
		fail(s, TDM_STOCK_DRAM, node, "node_type is missing");
	} else if (node->type == TDM_CAPTURE_BUFFER_ALLOCATE) {
		if (node->memory == TDM_CAPTURE_MEMORY_ABSENT)
			fail(s, TDM_STOCK_DRAM, node, "type is missing");
		else if (node->memory == TDM_CAPTURE_MEMORY_DRAM &&
			 take(s, TDM_STOCK_DRAM, node, &node->size, "size", &size)) {
			*now += (uint64_t)size;
			value[TDM_STOCK_DRAM_ALLOCATIONS] += (uint64_t)size;
		}
	} else if (released != NULL && released->memory == TDM_CAPTURE_MEMORY_DRAM) {
		*now -= (uint64_t)released->size;
		value[TDM_STOCK_DRAM_DEALLOCATIONS] += (uint64_t)released->size;
	}
	if ((int64_t)*now <= (int64_t)value[TDM_STOCK_DRAM_PEAK])
		return 0;
	value[TDM_STOCK_DRAM_PEAK] = *now;
	return 1U << TDM_STOCK_DRAM_PEAK;
}

/* ---- one core ---- */

static unsigned core_add(struct tdm_capture_stock *s, enum tdm_stock_figure figure, uint64_t size)
{
	const enum tdm_stock_figure raises[] = { figure, TDM_STOCK_CORE_PEAK_TOTAL };
	unsigned raised = 0;
	for (int i = 0; i < 2; i++) {
		uint64_t *now = &s->now[raises[i]], *peak = &s->result.value[raises[i]];
		*now += size;
		raised |= *now > *peak ? 1U << raises[i] : 0;
		*peak = tdm_max(*peak, *now);
		s->result.wrapped[raises[i]] |= *peak > (uint64_t)INT64_MAX;
	}
	return raised;
}

/* Handles program memory. `view` is the field that marks a node without bytes of its own; NULL if the node type has
 * none. */
static unsigned core_program(struct tdm_capture_stock *s, const struct tdm_capture_node *node,
	const struct tdm_capture_number *view, const char *view_name, enum tdm_stock_figure figure)
{
	int64_t is_view = 0, size;
	if (view != NULL && !take(s, TDM_STOCK_CORE, node, view, view_name, &is_view))
		return 0;
	if (is_view == 1 || !take(s, TDM_STOCK_CORE, node, &node->size, "size", &size))
		return 0;
	return core_add(s, figure, (uint32_t)size);
}

static unsigned core_buffer(struct tdm_capture_stock *s, const struct tdm_capture_node *node)
{
	int64_t size;
	if (node->memory == TDM_CAPTURE_MEMORY_ABSENT) {
		fail(s, TDM_STOCK_CORE, node, "type is missing");
		return 0;
	}
	if (node->memory == TDM_CAPTURE_MEMORY_DRAM ||
		!take(s, TDM_STOCK_CORE, node, &node->bank_size, "max_size_per_bank", &size))
		return 0;
	if (node->type == TDM_CAPTURE_BUFFER_ALLOCATE)
		return core_add(s, TDM_STOCK_CORE_PEAK_L1, (uint32_t)size);
	s->now[TDM_STOCK_CORE_PEAK_L1] -= (uint32_t)size;
	s->now[TDM_STOCK_CORE_PEAK_TOTAL] -= (uint32_t)size;
	return 0;
}

static unsigned core_apply(struct tdm_capture_stock *s, const struct tdm_capture_node *node)
{
	if (node->counter.state != TDM_CAPTURE_GIVEN || (uint64_t)node->counter.value != s->next_counter) {
		fail(s, TDM_STOCK_CORE, node, "counter out of order, expected %" PRIu64, s->next_counter);
		return 0;
	}
	s->next_counter++;
	switch (node->type) {
	case TDM_CAPTURE_UNTYPED:
		fail(s, TDM_STOCK_CORE, node, "node_type is missing");
		return 0;
	case TDM_CAPTURE_CB_ALLOCATE:
		return core_program(s, node, &node->globally_allocated, "globally_allocated", TDM_STOCK_CORE_PEAK_CB);
	case TDM_CAPTURE_DFB_ALLOCATE:
		return core_program(s, node, &node->borrows_memory, "borrows_memory", TDM_STOCK_CORE_PEAK_DFB);
	case TDM_CAPTURE_SCRATCHPAD_ALLOCATE:
		return core_program(s, node, NULL, NULL, TDM_STOCK_CORE_PEAK_SCRATCHPAD);
	case TDM_CAPTURE_CB_DEALLOCATE_ALL:
		s->now[TDM_STOCK_CORE_PEAK_CB] = s->now[TDM_STOCK_CORE_PEAK_DFB] = 0;
		s->now[TDM_STOCK_CORE_PEAK_SCRATCHPAD] = 0;
		s->now[TDM_STOCK_CORE_PEAK_TOTAL] = s->now[TDM_STOCK_CORE_PEAK_L1];
		return 0;
	case TDM_CAPTURE_BUFFER_ALLOCATE:
	case TDM_CAPTURE_BUFFER_DEALLOCATE:
		return core_buffer(s, node);
	default:
		return 0;
	}
}

unsigned tdm_capture_stock_apply(struct tdm_capture_stock *s, const struct tdm_capture_node *node)
{
	const struct buffer *released = NULL; /* buffer released by this node */
	unsigned raised = 0;
	if (node->type == TDM_CAPTURE_BUFFER) {
		tdm_grow(&s->buffers, &s->cap, s->count + 1, sizeof *s->buffers);
		s->buffers[s->count++] = (struct buffer){
			.size = node->size.value,
			.index = node->index,
			.memory = node->memory,
			.has_size = node->size.state == TDM_CAPTURE_GIVEN,
		};
	}
	if (node->type == TDM_CAPTURE_BUFFER_DEALLOCATE) {
		released = find_buffer(s, node);
		if (released != NULL && (!released->has_size || released->memory == TDM_CAPTURE_MEMORY_ABSENT))
			released = NULL;
		for (int group = TDM_STOCK_DRAM; group <= TDM_STOCK_L1 && released == NULL; group++)
			fail(s, (enum tdm_stock_group)group, node,
				"a release that is connected to no buffer node before it");
	}
	if (!failed(s, TDM_STOCK_DRAM))
		raised |= dram_apply(s, node, released);
	if (!failed(s, TDM_STOCK_L1))
		raised |= l1_apply(s, node, released);
	if (!failed(s, TDM_STOCK_CORE))
		raised |= core_apply(s, node);
	return raised;
}

const struct tdm_stock_result *tdm_capture_stock_end(struct tdm_capture_stock *s)
{
	if (s->inputs && !failed(s, TDM_STOCK_L1))
		raise_l1(s);
	s->inputs = false;
	for (int i = 0; i < TDM_STOCK_FIGURES; i++)
		s->result.known[i] = !failed(s, tdm_stock_group_of((enum tdm_stock_figure)i));
	return &s->result;
}
