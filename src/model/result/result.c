#include "model/result/result.h"
#include "base/arena.h"
#include "base/memory.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct tdm_result *tdm_result_new(void)
{
	struct tdm_result *result = tdm_zalloc(1, sizeof *result);
	result->top.type = TDM_BLOCK_GROUP;
	result->top.result = result;
	return result;
}

static void release(struct tdm_block *block)
{
	if (block->type == TDM_BLOCK_FINDINGS && !block->findings.is_borrowed)
		tdm_findings_done(&block->findings.list);
	if (block->type <= TDM_BLOCK_LIST)
		for (struct tdm_block *b = block->first; b != NULL; b = b->next)
			release(b);
}

void tdm_result_free(struct tdm_result *result)
{
	if (result == NULL)
		return;
	release(&result->top);
	while (result->kept_count != 0) {
		struct tdm_kept *kept = &result->kept[--result->kept_count];
		kept->release(kept->data);
	}
	free(result->kept);
	tdm_arena_done(&result->arena);
	free(result);
}

void tdm_result_keep(struct tdm_result *result, void *data, void (*release_data)(void *data))
{
	tdm_grow(&result->kept, &result->kept_cap, result->kept_count + 1, sizeof *result->kept);
	result->kept[result->kept_count++] = (struct tdm_kept){ data, release_data };
}

static struct tdm_block *add(struct tdm_block *in, enum tdm_block_type type, const char *key, const char *title)
{
	struct tdm_block *block = tdm_arena_take(&in->result->arena, sizeof *block);
	*block = (struct tdm_block){ .type = (uint8_t)type, .key = key, .title = title, .result = in->result };
	if (in->last != NULL)
		in->last->next = block;
	else
		in->first = block;
	in->last = block;
	return block;
}

struct tdm_block *tdm_add_group(struct tdm_block *in, const char *key, const char *title)
{
	return add(in, TDM_BLOCK_GROUP, key, title);
}

struct tdm_block *tdm_add_list(struct tdm_block *in, const char *key, const char *title)
{
	return add(in, TDM_BLOCK_LIST, key, title);
}

static struct tdm_block *add_line(struct tdm_block *in, enum tdm_block_type type, const char *label,
	const char *pattern, const struct tdm_named *values)
{
	size_t count = 0;
	while (values != NULL && values[count].key != NULL)
		count++;
	struct tdm_block *block = add(in, type, NULL, NULL);
	struct tdm_named *copy = count != 0 ? tdm_arena_take(&in->result->arena, count * sizeof *copy) : NULL;
	if (count != 0)
		memcpy(copy, values, count * sizeof *copy);
	block->line = (struct tdm_line){ .label = label, .pattern = pattern, .values = copy, .count = count };
	return block;
}

struct tdm_block *tdm_line(struct tdm_block *in, const char *label, const char *pattern, const struct tdm_named *values)
{
	return add_line(in, TDM_BLOCK_LINE, label, pattern, values);
}

struct tdm_block *tdm_fact(struct tdm_block *in, const char *label, const char *key, struct tdm_value value)
{
	struct tdm_block *block = tdm_line(in, label, NULL, TDM_VALUES({ key, value }));
	block->line.level = value.level;
	return block;
}

void tdm_data_all(struct tdm_block *in, const struct tdm_named *values)
{
	tdm_line(in, NULL, NULL, values)->is_data_only = true;
}

void tdm_data(struct tdm_block *in, const char *key, struct tdm_value value)
{
	tdm_data_all(in, TDM_VALUES({ key, value }));
}

struct tdm_block *tdm_say(struct tdm_block *in, const char *pattern, const struct tdm_named *values)
{
	struct tdm_block *block = tdm_line(in, NULL, pattern, values);
	block->is_text_only = true;
	return block;
}

struct tdm_block *tdm_warn(struct tdm_block *in, const char *label, const char *pattern, const struct tdm_named *values)
{
	struct tdm_block *block = tdm_line(in, label, pattern, values);
	block->line.level = TDM_LEVEL_WARNING;
	block->is_text_only = true;
	return block;
}

struct tdm_block *tdm_add_table(struct tdm_block *in, const char *key, const char *title, struct tdm_table table)
{
	struct tdm_block *block = add(in, TDM_BLOCK_TABLE, key, title);
	block->table = table;
	return block;
}

struct tdm_block *tdm_add_chart(struct tdm_block *in, const char *key, const char *title, struct tdm_table table)
{
	struct tdm_block *block = tdm_add_table(in, key, title, table);
	block->type = TDM_BLOCK_CHART;
	return block;
}

struct tdm_block *tdm_add_l1_map(struct tdm_block *in, const char *title, const struct tdm_l1_map *map)
{
	struct tdm_block *block = add(in, TDM_BLOCK_L1_MAP, NULL, title);
	block->l1_map = map;
	block->is_text_only = true;
	return block;
}

void tdm_add_drawing(struct tdm_block *in,
	void (*draw)(const void *of, const struct tdm_term *term, size_t indent, struct tdm_buf *out), const void *of)
{
	struct tdm_block *block = add(in, TDM_BLOCK_DRAWING, NULL, NULL);
	block->draw = draw;
	block->drawn = of;
	block->is_text_only = true;
}

struct tdm_block *tdm_add_written(struct tdm_block *in, const char *title, const struct tdm_buf *written)
{
	struct tdm_block *block = add(in, TDM_BLOCK_WRITTEN, NULL, title);
	block->written = written;
	return block;
}

struct tdm_block *tdm_add_findings(
	struct tdm_block *in, const char *key, const char *title, struct tdm_findings *findings)
{
	struct tdm_block *block = add(in, TDM_BLOCK_FINDINGS, key, title);
	block->findings.list = *findings;
	*findings = (struct tdm_findings){ 0 };
	return block;
}

struct tdm_block *tdm_show_findings(
	struct tdm_block *in, const char *key, const char *title, const struct tdm_findings *findings)
{
	struct tdm_block *block = add(in, TDM_BLOCK_FINDINGS, key, title);
	block->findings.list = *findings;
	block->findings.is_borrowed = true;
	return block;
}

void tdm_count_findings(struct tdm_block *in, const struct tdm_findings *findings)
{
	struct tdm_block *block = tdm_show_findings(in, NULL, NULL, findings);
	block->is_text_only = block->is_data_only = true;
}

struct tdm_block *tdm_note(struct tdm_block *in, const char *key, const char *pattern, const struct tdm_named *values)
{
	struct tdm_block *block = add_line(in, TDM_BLOCK_NOTE, NULL, pattern, values);
	block->key = key;
	return block;
}

const char *tdm_result_printed(struct tdm_result *result, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	const char *text = tdm_arena_vprinted(&result->arena, format, arguments);
	va_end(arguments);
	return text;
}

void *tdm_result_alloc(struct tdm_result *result, size_t count, size_t item)
{
	if (item != 0 && count > SIZE_MAX / item)
		tdm_out_of_memory();
	return tdm_arena_take(&result->arena, count * item);
}

void tdm_result_findings(
	const struct tdm_block *block, void (*take)(const struct tdm_shown_findings *findings, void *to), void *to)
{
	if (block->type == TDM_BLOCK_FINDINGS && (!block->is_text_only || block->is_data_only))
		take(&block->findings, to);
	if (block->type <= TDM_BLOCK_LIST)
		for (const struct tdm_block *b = block->first; b != NULL; b = b->next)
			tdm_result_findings(b, take, to);
}
