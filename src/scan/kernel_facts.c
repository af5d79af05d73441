/* What a kernel file says besides its operations: constants, what it includes, its size. */
#include "scan/kernel_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/reserve.h"
#include "scan/cpp_literal.h"
#include "scan/lexer.h"

bool tdm_kernel_is_decision(const struct tdm_syntax *syntax, uint32_t node)
{
	switch (tdm_node_kind(syntax, node)) {
	case TDM_SYN_if_statement:
	case TDM_SYN_for_statement:
	case TDM_SYN_for_range_loop:
	case TDM_SYN_while_statement:
	case TDM_SYN_do_statement:
	case TDM_SYN_catch_clause:
	case TDM_SYN_conditional_expression:
		return true;
	case TDM_SYN_case_statement:
		return tdm_node_with_role(syntax, node, TDM_ROLE_value) != TDM_NODE_NONE;
	case TDM_SYN_binary_expression: {
		struct tdm_str sign = tdm_node_text(syntax, tdm_node_with_role(syntax, node, TDM_ROLE_operator));
		return tdm_str_is(sign, "&&") || tdm_str_is(sign, "||") || tdm_str_is(sign, "and") ||
		       tdm_str_is(sign, "or");
	}
	default:
		return false;
	}
}

static struct tdm_str copy_of(struct tdm_kernel_reader *reader, struct tdm_str text)
{
	const char *copy = tdm_arena_text(reader->arena, text);
	return tdm_str_of(copy != NULL ? copy : "");
}

int tdm_kernel_add_constant(struct tdm_kernel_reader *reader, struct tdm_str name, const struct tdm_expr *value)
{
	struct tdm_kernel_code *code = reader->code;
	int err = tdm_reserve(&code->constants, &code->constant_cap, code->constant_count + 1, sizeof *code->constants);
	if (err == 0)
		code->constants[code->constant_count++] = (struct tdm_kernel_constant){ copy_of(reader, name), value };
	return err;
}

int tdm_kernel_read_enumerators(struct tdm_kernel_reader *reader, uint32_t list)
{
	const struct tdm_syntax *syntax = reader->syntax;
	struct tdm_arena *arena = reader->arena;
	const struct tdm_expr *base = NULL; /* the last value that was given */
	int64_t since = 0;
	int err = 0;
	for (TDM_NODE_CHILDREN(child, syntax, list)) {
		uint32_t name = tdm_node_with_role(syntax, child, TDM_ROLE_name);
		uint32_t value = tdm_node_with_role(syntax, child, TDM_ROLE_value);
		if (tdm_node_kind(syntax, child) != TDM_SYN_enumerator || err != 0)
			continue;
		if (value != TDM_NODE_NONE) {
			base = tdm_kernel_expr(reader, value);
			since = 0;
		}
		const struct tdm_expr *number = tdm_expr_number(arena, since++);
		err = tdm_kernel_add_constant(reader, tdm_node_text(syntax, name),
			base != NULL ? tdm_expr_binary(arena, TDM_EXPR_ADD, base, number) : number);
	}
	return err;
}

/* A macro that is a number. */
int tdm_kernel_read_macro(struct tdm_kernel_reader *reader, uint32_t node)
{
	const struct tdm_syntax *syntax = reader->syntax;
	uint32_t name = tdm_node_with_role(syntax, node, TDM_ROLE_name);
	struct tdm_str value = tdm_str_trim(tdm_node_text(syntax, tdm_node_with_role(syntax, node, TDM_ROLE_value)));
	const char *colon = value.len != 0 ? memrchr(value.ptr, ':', value.len) : NULL;
	struct tdm_str last = value;
	if (colon != NULL)
		last = (struct tdm_str){ colon + 1, value.len - (size_t)(colon + 1 - value.ptr) };
	int64_t number;
	if (!tdm_cpp_number(value, &number) && !tdm_cpp_buffer_index(last, &number))
		return 0;
	return tdm_kernel_add_constant(reader, tdm_node_text(syntax, name), tdm_expr_number(reader->arena, number));
}

int tdm_kernel_read_function_macro(struct tdm_kernel_reader *reader, uint32_t node)
{
	struct tdm_kernel_code *code = reader->code;
	struct tdm_str name = tdm_node_text(reader->syntax, tdm_node_with_role(reader->syntax, node, TDM_ROLE_name));
	int err = tdm_reserve(&code->macros, &code->macro_cap, code->macro_count + 1, sizeof *code->macros);
	if (err == 0)
		code->macros[code->macro_count++] = copy_of(reader, name);
	return err;
}

static void count_lines(struct tdm_kernel_code *code, struct tdm_file_walk *walk)
{
	struct tdm_lexer lexer;
	struct tdm_token token;
	uint32_t last = 0;
	struct tdm_str text = walk->syntax->text;
	code->lines = walk->line_count - (text.len != 0 && text.ptr[text.len - 1] == '\n');
	tdm_lexer_init(&lexer, walk->syntax->text);
	while ((token = tdm_lexer_next(&lexer)).kind != TDM_TOKEN_END) {
		uint32_t first = tdm_walk_line(walk, token.start);
		uint32_t end = tdm_walk_line(walk, token.end - (token.end > token.start));
		if (first <= last)
			first = last + 1;
		if (end >= first)
			code->code_lines += end - first + 1;
		last = end > last ? end : last;
	}
}

static int compare_texts(const void *a, const void *b)
{
	const struct tdm_str *x = a, *y = b;
	return strcmp(x->ptr, y->ptr);
}

static int compare_constants(const void *a, const void *b)
{
	const struct tdm_kernel_constant *x = a, *y = b;
	return strcmp(x->name.ptr, y->name.ptr);
}

void tdm_kernel_finish(struct tdm_kernel_reader *reader)
{
	struct tdm_kernel_code *code = reader->code;
	code->complexity += (uint32_t)code->function_count;
	for (size_t i = 0; i < code->function_count; i++) {
		uint32_t complexity = 1 + code->functions[i].decisions;
		if (complexity > code->max_complexity)
			code->max_complexity = complexity;
	}
	if (code->constant_count != 0)
		qsort(code->constants, code->constant_count, sizeof *code->constants, compare_constants);
	if (code->macro_count != 0)
		qsort(code->macros, code->macro_count, sizeof *code->macros, compare_texts);
	count_lines(code, reader->walk);
}

/* Moves a list into the arena, so that it goes away with the file. */
static void *settled(struct tdm_arena *arena, void *list, size_t bytes)
{
	void *copy = bytes != 0 ? tdm_arena_take(arena, bytes) : NULL;
	if (copy != NULL)
		memcpy(copy, list, bytes);
	free(list);
	return copy;
}

void tdm_kernel_settle(struct tdm_kernel_code *code, struct tdm_arena *arena)
{
	for (size_t i = 0; i < code->function_count; i++) {
		struct tdm_kernel_function *function = &code->functions[i];
		function->steps = settled(arena, function->steps, function->step_count * sizeof *function->steps);
	}
	code->functions = settled(arena, code->functions, code->function_count * sizeof *code->functions);
	code->constants = settled(arena, code->constants, code->constant_count * sizeof *code->constants);
	code->macros = settled(arena, code->macros, code->macro_count * sizeof *code->macros);
}

/* Two lists one after the other; NULL when out of memory, which the arena remembers. */
static void *chained(struct tdm_arena *arena, const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
	char *list = a_bytes + b_bytes != 0 ? tdm_arena_take(arena, a_bytes + b_bytes) : NULL;
	if (list != NULL && a_bytes != 0)
		memcpy(list, a, a_bytes);
	if (list != NULL && b_bytes != 0)
		memcpy(list + a_bytes, b, b_bytes);
	return list;
}

int tdm_kernel_add_code(struct tdm_kernel_code *code, const struct tdm_kernel_code *more, struct tdm_arena *arena)
{
	bool is_first = code->function_count == 0;
	const size_t function = sizeof *code->functions, macro = sizeof *code->macros;
	code->functions = chained(arena, code->functions, code->function_count * function, more->functions,
		more->function_count * function);
	code->function_count += more->function_count;
	code->macros = chained(arena, code->macros, code->macro_count * macro, more->macros, more->macro_count * macro);
	code->macro_count += more->macro_count;
	if (is_first) { /* constants are the same in all readings, or ambiguous */
		code->constants = more->constants;
		code->constant_count = more->constant_count;
	}
	if (more->complexity > code->complexity)
		code->complexity = more->complexity;
	if (more->max_complexity > code->max_complexity)
		code->max_complexity = more->max_complexity;
	if (code->macro_count != 0 && code->macros != NULL)
		qsort(code->macros, code->macro_count, macro, compare_texts);
	code->has_main |= more->has_main;
	return arena->failed ? -ENOMEM : 0;
}
