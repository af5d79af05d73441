/*
 * Decides which names matter, which values undeclared names have (runtime constants, project definitions), how a piece
 * of source code is shown, and which functions may change their arguments.
 */
#include "scan/cpp/cpp.h"

#include <stdlib.h>

#include "base/memory.h"
#include "scan/front/lexer.h"

/* ---- texts ---- */

struct tdm_str cpp_squeezed(struct cpp *cpp, struct tdm_str text)
{
	char *copy = tdm_arena_take(cpp->arena, text.len + 1), *out = copy;
	for (size_t i = 0; i < text.len; i++) {
		bool is_comment = text.ptr[i] == '/' && i + 1 < text.len && text.ptr[i + 1] == '*';
		bool is_line_comment = text.ptr[i] == '/' && i + 1 < text.len && text.ptr[i + 1] == '/';
		if (is_comment) {
			const char *end = memmem(text.ptr + i + 2, text.len - i - 2, "*/", 2);
			i = end != NULL ? (size_t)(end - text.ptr) + 1 : text.len;
		} else if (is_line_comment) {
			const char *end = memchr(text.ptr + i, '\n', text.len - i);
			i = end != NULL ? (size_t)(end - text.ptr) : text.len;
		} else if (text.ptr[i] == ' ' || text.ptr[i] == '\n' || text.ptr[i] == '\t' || text.ptr[i] == '\r') {
			bool is_needed = out != copy && out[-1] != ' ' && out[-1] != '(';
			if (is_needed)
				*out++ = ' ';
		} else {
			bool is_tight = out != copy && out[-1] == ' ' && (text.ptr[i] == ')' || text.ptr[i] == '.');
			out -= is_tight;
			*out++ = text.ptr[i];
		}
	}
	*out = '\0';
	return tdm_str_trim((struct tdm_str){ copy, (size_t)(out - copy) });
}

const struct tdm_expr *cpp_named(struct cpp *cpp, struct tdm_str text)
{
	return tdm_expr_name(cpp->arena, tdm_arena_str(cpp->arena, text), false);
}

/* Writes a helper's own variable as its caller would. Returns false if there is nothing to write. */
static bool add_value(const struct tdm_expr *value, bool is_alone, struct tdm_buf *out)
{
	bool is_scalar = value->op >= TDM_EXPR_ADD;
	if (value->op == TDM_EXPR_NUMBER && value->text.len != 0)
		tdm_buf_add(out, value->text.ptr, value->text.len);
	else if (value->op == TDM_EXPR_NUMBER || value->op == TDM_EXPR_NAME || value->op == TDM_EXPR_FORMAT ||
		 is_scalar) {
		tdm_buf_puts(out, is_scalar && !is_alone ? "(" : "");
		tdm_expr_print(value, out);
		tdm_buf_puts(out, is_scalar && !is_alone ? ")" : "");
	} else {
		return false;
	}
	return true;
}

/* Whether a piece of text is delimited by brackets or commas, so that it needs no extra brackets. */
static bool is_alone(struct tdm_str text, size_t start, size_t end)
{
	while (start > 0 && strchr(" \t\n", text.ptr[start - 1]) != NULL)
		start--;
	while (end < text.len && strchr(" \t\n", text.ptr[end]) != NULL)
		end++;
	return (start == 0 || strchr("(,", text.ptr[start - 1]) != NULL) &&
	       (end == text.len || strchr("),", text.ptr[end]) != NULL);
}

/* The text of a node in a helper, with the helper's own variables replaced by their values. */
static struct tdm_str in_callers_terms(struct cpp_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	const char *text = syntax->text.ptr;
	struct tdm_str whole = cpp_text(frame, node);
	uint32_t whole_start = syntax->nodes[node].start, at = whole_start, end = syntax->nodes[node].end;
	struct tdm_buf out = { 0 };
	for (uint32_t i = node; i < syntax->nodes[node].next && out.len < CPP_TEXT_MAX; i++) {
		const struct tdm_node *n = &syntax->nodes[i];
		if (cpp_kind(frame, i) != TDM_SYN_identifier || n->start < at || n->role == TDM_ROLE_function)
			continue;
		const struct tdm_expr *value = cpp_helpers_value(frame, cpp_text(frame, i));
		size_t before = out.len;
		if (value == NULL)
			continue;
		tdm_buf_add(&out, text + at, n->start - at);
		if (add_value(value, is_alone(whole, n->start - whole_start, n->end - whole_start), &out))
			at = n->end;
		else
			out.len = before;
	}
	tdm_buf_add(&out, text + at, end - at);
	struct tdm_str result = cpp_squeezed(frame->cpp, tdm_buf_str(&out));
	tdm_buf_done(&out);
	return result;
}

const struct tdm_expr *cpp_unknown(struct cpp_frame *frame, uint32_t node)
{
	struct tdm_str text = frame->site != NULL && frame->depth < CPP_DEPTH_MAX
				      ? in_callers_terms(frame, node)
				      : cpp_squeezed(frame->cpp, cpp_text(frame, node));
	return text.len != 0 ? tdm_expr_name(frame->arena, text, false) : &tdm_expr_nothing;
}

bool cpp_is_hot(const struct cpp_source *source, uint32_t node)
{
	if (node >= source->syntax->count) /* "x ?: y" lacks a part */
		return false;
	const struct tdm_node *n = &source->syntax->nodes[node];
	size_t low = 0, high = source->hot_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (source->hot[middle] < n->start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < source->hot_count && source->hot[low] < n->end;
}

bool cpp_has_effects(const struct cpp_source *source, uint32_t node)
{
	struct tdm_str text = tdm_node_text(source->syntax, node);
	return cpp_is_hot(source, node) || memmem(text.ptr, text.len, "++", 2) != NULL ||
	       memmem(text.ptr, text.len, "--", 2) != NULL;
}

struct tdm_str cpp_last_name(const struct cpp_source *source, uint32_t node)
{
	const struct tdm_syntax *syntax = source->syntax;
	for (;;) {
		switch (tdm_node_kind(syntax, node)) {
		case TDM_SYN_qualified_identifier:
		case TDM_SYN_template_function:
		case TDM_SYN_template_method:
		case TDM_SYN_template_type:
			node = tdm_node_part(syntax, node, TDM_ROLE_name);
			break;
		case TDM_SYN_field_expression:
			node = tdm_node_part(syntax, node, TDM_ROLE_field);
			break;
		default:
			return tdm_node_text(syntax, node);
		}
	}
}

/*
 * ---- hot names ----  The names that matter in a file are those of buffers, kernels, device code and lambdas, and of
 * project functions that may be helpers, if called. Statements without any of these names are not evaluated.
 */

const char *cpp_next_char(struct tdm_str text, uint32_t at)
{
	static const char end[2] = "";
	while (at < text.len && strchr(" \t\r\n", text.ptr[at]) != NULL)
		at++;
	return at < text.len ? text.ptr + at : end;
}

/* Whether a name matters. If the file contains host code, only operations count among the names of device code. */
static bool matters(const struct tdm_scan_file *file, struct tdm_str name)
{
	uint8_t shape;
	enum tdm_name_sense sense = tdm_name_meaning(name, &shape);
	bool is_operation = tdm_contains(name, "_front") || tdm_contains(name, "_back");
	return sense == TDM_SENSE_DEVICE ? !file->has_host || is_operation : sense != TDM_SENSE_NONE;
}

void cpp_find_hot(struct cpp *cpp)
{
	enum { LAMBDAS_MAX = 128 };
	const struct tdm_syntax *syntax = cpp->own.syntax;
	uint64_t lambdas[LAMBDAS_MAX]; /* hashes of lambda names, found by "name = [" */
	size_t cap = 0, lambda_count = 0;
	for (uint32_t i = 0; i < syntax->count; i++) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, i);
		if (kind != TDM_SYN_identifier && kind != TDM_SYN_type_identifier && kind != TDM_SYN_field_identifier &&
			kind != TDM_SYN_namespace_identifier)
			continue;
		struct tdm_str text = tdm_node_text(syntax, i);
		const char *next = cpp_next_char(syntax->text, syntax->nodes[i].end);
		bool is_called = *next == '(' || *next == '<', is_hot = matters(cpp->walk->file, text);
		uint64_t hash = is_called && !is_hot && lambda_count != 0 ? tdm_str_hash(text) : 0;
		for (size_t k = 0; is_called && k < lambda_count && !is_hot; k++)
			is_hot = lambdas[k] == hash;
		if (is_hot || (is_called && cpp_is_defined(cpp, text))) {
			tdm_grow(&cpp->own.hot, &cap, cpp->own.hot_count + 1, sizeof *cpp->own.hot);
			cpp->own.hot[cpp->own.hot_count++] = syntax->nodes[i].start;
		}
		if (*next == '=' && lambda_count < LAMBDAS_MAX &&
			*cpp_next_char(syntax->text, (uint32_t)(next + 1 - syntax->text.ptr)) == '[')
			lambdas[lambda_count++] = tdm_str_hash(text);
	}
}

/* ---- names declared outside functions ---- */

/* The value of a project constant or macro. */
static const struct tdm_expr *eval_definition(struct cpp_frame *frame, struct tdm_definition *definition)
{
	const struct tdm_syntax *piece =
		tdm_project_parse(frame->cpp->walk->project, definition, frame->cpp->walk->parser);
	if (piece == NULL || piece->count == 0 || frame->depth >= CPP_DEPTH_MAX / 2)
		return NULL;
	struct cpp_source *source = tdm_arena_take(frame->arena, sizeof *source);
	*source = (struct cpp_source){ .syntax = piece, .file = definition->file };
	struct cpp_frame inner = {
		.cpp = frame->cpp, .arena = frame->arena, .source = source, .depth = frame->depth + 16
	};
	for (uint32_t i = 0; i < piece->count; i++)
		if (tdm_node_kind(piece, i) == TDM_SYN_init_declarator)
			return cpp_eval(&inner, tdm_node_part(piece, i, TDM_ROLE_value));
	return NULL;
}

/* The value of an enumerator of an enum defined in the project. */
static const struct tdm_expr *enumerator(
	struct cpp_frame *frame, struct tdm_definition *definition, struct tdm_str name)
{
	const struct tdm_syntax *piece =
		tdm_project_parse(frame->cpp->walk->project, definition, frame->cpp->walk->parser);
	int64_t value = -1;
	bool is_known = true;
	struct cpp_source source = { .syntax = piece != NULL ? piece : NULL, .file = definition->file };
	for (uint32_t i = 0; piece != NULL && i < piece->count; i++) {
		if (tdm_node_kind(piece, i) != TDM_SYN_enumerator)
			continue;
		uint32_t given = tdm_node_part(piece, i, TDM_ROLE_value);
		value++;
		if (given != TDM_NODE_NONE) {
			struct cpp_frame inner = {
				.cpp = frame->cpp, .arena = frame->arena, .source = &source, .depth = frame->depth + 16
			};
			is_known = tdm_expr_value(cpp_eval(&inner, given), NULL, &value) == 0;
		}
		if (tdm_str_eq(tdm_node_text(piece, tdm_node_part(piece, i, TDM_ROLE_name)), name))
			return is_known ? tdm_expr_of(frame->arena, (struct tdm_expr){ .op = TDM_EXPR_NUMBER,
									    .number = value,
									    .text = tdm_arena_str(frame->arena, name) })
					: NULL;
	}
	return NULL;
}

/* Whether a name looks like a constant: kPages, TILE_WIDTH. */
static bool is_constant_name(struct tdm_str name)
{
	if (name.len > 1 && name.ptr[0] == 'k' && name.ptr[1] >= 'A' && name.ptr[1] <= 'Z')
		return true;
	for (size_t i = 0; i < name.len; i++)
		if (name.ptr[i] >= 'a' && name.ptr[i] <= 'z')
			return false;
	return true;
}

/*
 * The definition of a name. A definition in the same file comes first; then the only candidate in other files, whose
 * header must be included unless the name looks like a constant; then any of several equal candidates. If candidates
 * differ, they are in different namespaces or classes, and the right one is unknown.
 */
static struct tdm_definition *pick(const struct cpp_frame *frame, struct tdm_str name, bool is_enum)
{
	const struct tdm_project *project = frame->cpp->walk->project;
	uint32_t file = frame->source->file;
	for (int own = 1; own >= 0; own--) {
		struct tdm_definition *chosen = NULL, *d = own ? tdm_project_find_own(project, name, file)
							       : tdm_project_find(project, name);
		for (; d != NULL; d = tdm_definition_next(d)) {
			bool is_value = d->kind == TDM_DEFINES_CONSTANT || d->kind == TDM_DEFINES_MACRO;
			if (is_enum ? d->kind != TDM_DEFINES_ENUM : !is_value)
				continue;
			if (own ? d->file != file
				: d->is_private || !tdm_project_is_header(project, d->file) ||
						!(is_constant_name(d->name) ||
							tdm_contains(frame->cpp->walk->syntax->text,
								tdm_project_base(project, d->file))))
				continue;
			if (chosen != NULL && !tdm_str_eq(chosen->text, d->text))
				return NULL;
			chosen = d;
		}
		if (chosen != NULL)
			return chosen;
	}
	return NULL;
}

/* The project's value for a name: an enumerator in the given scope, a constant, or an enumerator of an unscoped enum.
 * */
static const struct tdm_expr *defined_value(struct cpp_frame *frame, struct tdm_str scope, struct tdm_str name)
{
	struct tdm_definition *an_enum = scope.len != 0 ? pick(frame, scope, true) : NULL;
	const struct tdm_expr *value = an_enum != NULL ? enumerator(frame, an_enum, name) : NULL;
	if (value != NULL)
		return value;
	struct tdm_definition *constant = pick(frame, name, false);
	if (constant != NULL)
		return eval_definition(frame, constant);
	an_enum = pick(frame, name, true);
	return an_enum != NULL ? enumerator(frame, an_enum, name) : NULL;
}

const struct tdm_expr *cpp_global(struct cpp_frame *frame, struct tdm_str scope, struct tdm_str name)
{
	static const char *const types[][2] = { { "BFLOAT16", "Float16_b" }, { "FLOAT32", "Float32" },
		{ "UINT32", "UInt32" }, { "INT32", "Int32" }, { "UINT16", "UInt16" }, { "UINT8", "UInt8" },
		{ "BFLOAT8_B", "Bfp8_b" }, { "BFLOAT4_B", "Bfp4_b" } };
	int64_t number = 0;
	bool is_type = tdm_str_is(scope, "DataType");
	const struct tdm_data_format *format = tdm_str_is(scope, "DataFormat") ? tdm_data_format_find(name) : NULL;
	for (size_t i = 0; is_type && i < sizeof types / sizeof *types; i++)
		if (tdm_str_is(name, types[i][0]))
			format = tdm_data_format_find(tdm_str_of(types[i][1]));
	if (format != NULL)
		return tdm_expr_of(frame->arena, (struct tdm_expr){ .op = TDM_EXPR_FORMAT, .format = format });
	bool is_index = tdm_is_one_of(scope, "CBIndex CB") || scope.len == 0;
	if (is_index && tdm_cpp_buffer_index(name, &number))
		return tdm_expr_number(frame->arena, number);
	/* The runtime's own constants, which always mean the same. */
	number = tdm_is_one_of(name, "TILE_HEIGHT TILE_WIDTH TILE_SIZE") ? 32
		 : tdm_is_one_of(name, "FACE_HEIGHT FACE_WIDTH")         ? 16
		 : tdm_str_is(name, "TILE_HW")                           ? 1024
		 : tdm_str_is(name, "FACE_HW")                           ? 256
									 : 0;
	return number != 0 ? tdm_expr_number(frame->arena, number) : defined_value(frame, scope, name);
}

/*
 * ---- functions that are not followed ----  A function in the file may assign to a plain reference parameter, and any
 * function may write through a pointer argument, so such variables are unknown after the call.
 */

void cpp_find_takers(struct cpp *cpp)
{
	const struct tdm_syntax *syntax = cpp->own.syntax;
	for (uint32_t i = 0; i < syntax->count; i++) {
		if (tdm_node_kind(syntax, i) != TDM_SYN_function_definition)
			continue;
		uint32_t declarator = tdm_node_part(syntax, i, TDM_ROLE_declarator), place = 0;
		uint32_t taken = 0;
		for (TDM_NODE_CHILDREN(child, syntax, tdm_node_part(syntax, declarator, TDM_ROLE_parameters))) {
			uint32_t name = tdm_node_part(syntax, child, TDM_ROLE_declarator);
			bool is_taken = tdm_node_kind(syntax, name) == TDM_SYN_reference_declarator &&
					tdm_node_of_kind(syntax, child, TDM_SYN_type_qualifier) == TDM_NODE_NONE;
			taken |= place < 31 ? (uint32_t)is_taken << place : 0;
			place++;
		}
		if (taken == 0)
			continue;
		uint32_t name = tdm_node_part(syntax, declarator, TDM_ROLE_declarator);
		uint64_t hash = tdm_str_hash(cpp_last_name(&cpp->own, name));
		uint32_t before = tdm_map_find(&cpp->takers, hash);
		tdm_map_set(&cpp->takers, hash, before != TDM_MAP_NONE ? before | taken : taken);
	}
}

void cpp_forget_given(struct cpp_frame *frame, uint32_t call)
{
	uint32_t function = cpp_part(frame, call, TDM_ROLE_function), place = 0;
	/* Functions that matter are followed, so their assignments are known. */
	if (!frame->source->is_file || cpp_is_hot(frame->source, function))
		return;
	struct tdm_str name = cpp_last_name(frame->source, function);
	uint32_t taken = tdm_map_find(&frame->cpp->takers, tdm_str_hash(name));
	taken = tdm_str_is(name, "swap") ? UINT32_MAX : taken != TDM_MAP_NONE ? taken : 0;
	for (TDM_NODE_CHILDREN(child, frame->source->syntax, cpp_part(frame, call, TDM_ROLE_arguments))) {
		bool is_taken = place < 31 && (taken >> place & 1) != 0; /* x for a reference parameter, or &x */
		uint32_t argument = child;
		place++;
		if (cpp_kind(frame, child) == TDM_SYN_pointer_expression && cpp_text(frame, child).ptr[0] == '&') {
			argument = cpp_part(frame, child, TDM_ROLE_argument);
			is_taken = true;
		}
		if (!is_taken || cpp_kind(frame, argument) != TDM_SYN_identifier)
			continue;
		struct tdm_str variable = cpp_text(frame, argument);
		const struct tdm_expr *value = cpp_lookup(frame, variable);
		if (value != NULL && (value->op == TDM_EXPR_LIST || value->op == TDM_EXPR_OBJECT))
			cpp_note_changed(frame, argument);
		else if (value != NULL)
			cpp_bind_value(frame, variable, cpp_named(frame->cpp, variable), false);
	}
}
