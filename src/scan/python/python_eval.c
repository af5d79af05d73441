/*
 * Names and their values, and the evaluation of expressions. Bindings are never removed; a binding that ends is marked
 * as ended. Descriptors created inside an expression are recorded during evaluation.
 */
#include <ctype.h>
#include <stdlib.h>

#include "base/memory.h"
#include "scan/python/python.h"

/* ---- names ---- */

uint32_t py_frame(struct py *py, uint32_t parent)
{
	tdm_grow(&py->frame_parent, &py->frame_cap, py->frame_count + 1, sizeof *py->frame_parent);
	py->frame_parent[py->frame_count] = parent;
	return (uint32_t)py->frame_count++;
}

/* How a variable appears in other expressions: as its value, or by name if that is clearer. */
static const struct tdm_expr *as_variable(struct py_at *at, struct tdm_str name, const struct tdm_expr *value)
{
	const struct tdm_settings *settings = at->py->walk->settings;
	int64_t number;
	bool is_atom = value->op == TDM_EXPR_NAME || value->op == TDM_EXPR_CALL;
	if (is_atom && !value->is_parameter)
		return py_is_none(value) ? value : py_named(at->py, name);
	bool is_scalar = value->op >= TDM_EXPR_ADD;
	bool is_set = is_scalar && settings != NULL && tdm_settings_find(settings, name) != NULL &&
		      tdm_expr_value(value, settings, &number) != 0;
	if (is_set || (is_scalar && value->nodes > PY_SPREAD_MAX))
		return py_named(at->py, name);
	return value;
}

void py_bind(struct py_at *at, uint32_t frame, struct tdm_str name, const struct tdm_expr *value)
{
	struct py *py = at->py;
	uint64_t hash = tdm_str_hash(name);
	uint32_t before = tdm_map_find(&py->last, hash);
	if (py->steps++ > PY_STEPS_MAX)
		return;
	tdm_grow(&py->bindings, &py->binding_cap, py->binding_count + 1, sizeof *py->bindings);
	tdm_map_set(&py->last, hash, (uint32_t)py->binding_count);
	py->bindings[py->binding_count++] = (struct py_binding){
		.name = name,
		.value = as_variable(at, name, value),
		.frame = frame,
		.before = before != TDM_MAP_NONE ? before + 1 : 0,
	};
}

/* The index of the last binding with the hash of a name, plus 1; 0 if there is none. */
static uint32_t last_of(const struct py *py, struct tdm_str name)
{
	uint32_t place = tdm_map_find(&py->last, tdm_str_hash(name));
	return place != TDM_MAP_NONE ? place + 1 : 0;
}

const struct tdm_expr *py_lookup(struct py_at *at, struct tdm_str name)
{
	struct py *py = at->py;
	for (uint32_t i = last_of(py, name); i != 0 && py->steps <= PY_STEPS_MAX; i = py->bindings[i - 1].before) {
		const struct py_binding *binding = &py->bindings[i - 1];
		py->steps++;
		if (binding->frame == UINT32_MAX || !tdm_str_eq(binding->name, name))
			continue;
		uint32_t frame = at->frame; /* or an enclosing frame */
		while (frame != binding->frame && frame != 0)
			frame = py->frame_parent[frame];
		if (frame == binding->frame)
			return binding->value;
	}
	return NULL;
}

struct py_binding *py_find_since(struct py *py, struct tdm_str name, uint32_t frame, size_t since)
{
	for (uint32_t i = last_of(py, name); i > since && py->steps <= PY_STEPS_MAX; i = py->bindings[i - 1].before) {
		py->steps++;
		if (py->bindings[i - 1].frame == frame && tdm_str_eq(py->bindings[i - 1].name, name))
			return &py->bindings[i - 1];
	}
	return NULL;
}

static void *thing_of(const struct tdm_expr *value, enum py_type type)
{
	bool is_it = value != NULL && value->op == TDM_EXPR_OPAQUE && value->number == type;
	return is_it ? (void *)(uintptr_t)value->opaque : NULL;
}

struct py_definition *py_definition_of(const struct tdm_expr *value)
{
	return thing_of(value, PY_DEFINITION);
}

struct py_descriptor *py_descriptor_of(const struct tdm_expr *value)
{
	return thing_of(value, PY_DESCRIPTOR);
}

bool py_is_none(const struct tdm_expr *value)
{
	return value->op == TDM_EXPR_NAME && tdm_str_is(value->text, "None");
}

const struct tdm_expr *py_merge(
	struct py_at *at, const struct tdm_expr *condition, const struct tdm_expr *a, const struct tdm_expr *b)
{
	int64_t number;
	if (a == NULL || b == NULL)
		return a != NULL ? a : b;
	bool is_atom = a->op == TDM_EXPR_NUMBER || a->op == TDM_EXPR_FORMAT || a->op == TDM_EXPR_NAME;
	if (a == b || (is_atom && a->op == b->op && a->number == b->number && a->format == b->format &&
			      (a->op != TDM_EXPR_NAME || tdm_str_eq(a->text, b->text))))
		return a;
	if (tdm_expr_value(condition, at->py->walk->settings, &number) == 0)
		return number != 0 ? a : b;
	/* A value with members takes precedence over a name's other values. */
	if (a->op == TDM_EXPR_OBJECT || a->op == TDM_EXPR_OPAQUE || py_is_none(b))
		return a;
	if (b->op == TDM_EXPR_OBJECT || b->op == TDM_EXPR_OPAQUE || py_is_none(a))
		return b;
	return tdm_expr_choose(at->arena, condition, a, b);
}

/* ---- expressions ---- */

/* A piece of source as one line without superfluous blanks, truncated if too long. */
static struct tdm_str squeezed(struct py *py, struct tdm_str text)
{
	char line[PY_TEXT_MAX + 4];
	size_t len = 0;
	for (size_t i = 0; i < text.len && len < PY_TEXT_MAX; i++) {
		bool is_blank = isspace((unsigned char)text.ptr[i]) != 0;
		if (!is_blank)
			line[len++] = text.ptr[i];
		else if (len != 0 && line[len - 1] != ' ' && line[len - 1] != '(' && line[len - 1] != '[')
			line[len++] = ' ';
	}
	if (len == PY_TEXT_MAX)
		len += (size_t)(stpcpy(line + len, "...") - (line + len));
	return tdm_arena_str(py->arena, (struct tdm_str){ line, len });
}

const struct tdm_expr *py_named(struct py *py, struct tdm_str text)
{
	return tdm_expr_name(py->arena, squeezed(py, text), false);
}

const struct tdm_expr *py_unknown(struct py_at *at, uint32_t node)
{
	return py_named(at->py, py_text(at, node));
}

struct tdm_str py_last_name(const struct tdm_syntax *syntax, uint32_t node)
{
	if (tdm_node_kind(syntax, node) == TDM_SYN_attribute)
		node = tdm_node_part(syntax, node, TDM_ROLE_attribute);
	return tdm_node_kind(syntax, node) == TDM_SYN_identifier ? tdm_node_text(syntax, node) : tdm_no_text;
}

static const struct tdm_expr *eval_integer(struct py_at *at, uint32_t node)
{
	char digits[72], *end;
	size_t len = 0;
	struct tdm_str text = py_text(at, node);
	for (size_t i = 0; i < text.len && len + 1 < sizeof digits; i++)
		if (text.ptr[i] != '_')
			digits[len++] = text.ptr[i];
	digits[len] = '\0';
	char prefix = len > 2 && digits[0] == '0' ? (char)tolower((unsigned char)digits[1]) : '\0';
	int base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 10;
	unsigned long long number = strtoull(base != 10 ? digits + 2 : digits, &end, base);
	bool is_number = *end == '\0' && number <= INT64_MAX && len + 1 < sizeof digits;
	return is_number ? tdm_expr_number(at->arena, (int64_t)number) : NULL;
}

struct tdm_str py_member_name(struct py *py, struct tdm_str class_name, struct tdm_str name)
{
	struct tdm_buf text = { 0 };
	tdm_buf_printf(&text, "%.*s%s%.*s", TDM_STR_ARG(class_name), class_name.len != 0 ? "." : "", TDM_STR_ARG(name));
	return tdm_arena_buf(py->arena, &text);
}

const struct tdm_expr **py_member(struct py_descriptor *made, struct tdm_str name)
{
	return made == NULL                             ? NULL
	       : tdm_str_is(name, "total_size")         ? &made->total
	       : tdm_str_is(name, "core_ranges")        ? &made->cores
	       : tdm_str_is(name, "format_descriptors") ? &made->formats
							: NULL;
}

static const struct tdm_expr *eval_attribute(struct py_at *at, uint32_t node)
{
	struct tdm_str text = py_text(at, node), last = py_last_name(at->py->syntax, node);
	const struct tdm_expr *value = py_lookup(at, text); /* a member bound by its whole name */
	bool is_own = tdm_begins_with(text, "self.") || tdm_begins_with(text, "cls.");
	if (value == NULL && is_own && at->class_name.len != 0)
		value = py_lookup(at, py_member_name(at->py, at->class_name, last));
	/* "ttnn.bfloat16", "ttnn.DataFormat.Float16_b" */
	const struct tdm_data_format *format =
		value == NULL && tdm_begins_with(text, "ttnn.") ? tdm_data_format_find(last) : NULL;
	if (format != NULL)
		return tdm_expr_of(at->arena, (struct tdm_expr){ .op = TDM_EXPR_FORMAT, .format = format });
	uint32_t object_node = py_part(at, node, TDM_ROLE_object);
	if (value != NULL ||
		(py_kind(at, object_node) == TDM_SYN_identifier && py_lookup(at, py_text(at, object_node)) == NULL))
		return value;
	const struct tdm_expr *object = py_eval(at, object_node), **member = py_member(py_descriptor_of(object), last);
	return member != NULL ? *member : tdm_expr_field_str(object, last);
}

static const struct tdm_expr *eval_list(struct py_at *at, uint32_t node)
{
	struct py *py = at->py;
	uint32_t count = 0, all = tdm_node_child_count(py->syntax, node);
	const struct tdm_expr **args = tdm_arena_take(py->arena, sizeof *args * ((size_t)all + 1));
	for (TDM_NODE_CHILDREN(child, py->syntax, node))
		args[count++] = py_eval(at, child);
	return tdm_expr_list(py->arena, args, count);
}

/* If there is one argument, `right` is TDM_NODE_NONE. NULL if there is no such operator. */
static const struct tdm_expr *eval_operator(struct py_at *at, struct tdm_str token, uint32_t left, uint32_t right)
{
	bool is_unary = right == TDM_NODE_NONE;
	const struct tdm_expr *a = py_eval(at, left), *b = is_unary ? a : py_eval(at, right);
	enum tdm_expr_op op = tdm_expr_operator(token, is_unary ? 1 : 2);
	if ((op == TDM_EXPR_EQUAL || op == TDM_EXPR_NOT_EQUAL) && (py_is_none(a) || py_is_none(b))) {
		const struct tdm_expr *other = py_is_none(b) ? a : b;
		bool is_none = py_is_none(other);
		if (is_none || (other->op != TDM_EXPR_NAME && other->op != TDM_EXPR_CALL &&
				       other->op != TDM_EXPR_CHOOSE && other->op != TDM_EXPR_NOTHING))
			return tdm_expr_number(at->arena, is_none == (op == TDM_EXPR_EQUAL));
	}
	if (op == TDM_EXPR_NOTHING || a->op == TDM_EXPR_OPAQUE || a->op == TDM_EXPR_LIST || b->op == TDM_EXPR_OPAQUE ||
		b->op == TDM_EXPR_LIST)
		return NULL;
	return is_unary ? tdm_expr_unary(at->arena, op, a) : tdm_expr_binary(at->arena, op, a, b);
}

static const struct tdm_expr *eval_subscript(struct py_at *at, uint32_t node)
{
	const struct tdm_expr *list = py_eval_part(at, node, TDM_ROLE_value);
	const struct tdm_expr *place = py_eval_part(at, node, TDM_ROLE_subscript);
	int64_t number;
	if (list->op != TDM_EXPR_LIST || tdm_expr_value(place, at->py->walk->settings, &number) != 0)
		return NULL;
	number = number < 0 ? number + list->arg_count : number;
	return number >= 0 && number < list->arg_count ? list->args[number] : NULL;
}

/* The body is walked once, with unknown loop variables. */
static void eval_comprehension(struct py_at *at, uint32_t node)
{
	struct py_at inner = *at;
	inner.frame = py_frame(at->py, at->frame);
	inner.in_loop = true;
	for (TDM_NODE_CHILDREN(child, at->py->syntax, node))
		if (py_kind(at, child) == TDM_SYN_for_in_clause) {
			py_eval(&inner, py_part(at, child, TDM_ROLE_right));
			py_bind_pattern(&inner, py_part(at, child, TDM_ROLE_left), NULL);
		}
	py_eval(&inner, py_part(at, node, TDM_ROLE_body));
}

static const struct tdm_expr *eval_inner(struct py_at *at, uint32_t node)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	const struct tdm_expr *value = NULL;
	uint32_t left = py_part(at, node, TDM_ROLE_left), token = py_part(at, node, TDM_ROLE_operator);
	uint32_t argument = py_part(at, node, TDM_ROLE_argument);
	switch (py_kind(at, node)) {
	case TDM_SYN_integer:
		value = eval_integer(at, node);
		break;
	case TDM_SYN_identifier:
		value = py_lookup(at, py_text(at, node));
		break;
	case TDM_SYN_attribute:
		value = eval_attribute(at, node);
		break;
	case TDM_SYN_call:
		return py_call(at, node);
	case TDM_SYN_list:
	case TDM_SYN_tuple:
	case TDM_SYN_expression_list:
		return eval_list(at, node);
	case TDM_SYN_binary_operator:
	case TDM_SYN_boolean_operator:
	case TDM_SYN_unary_operator:
		value = left != TDM_NODE_NONE
				? eval_operator(at, py_text(at, token), left, py_part(at, node, TDM_ROLE_right))
				: eval_operator(at, py_text(at, token), argument, TDM_NODE_NONE);
		break;
	case TDM_SYN_not_operator:
		value = eval_operator(at, tdm_str_of("!"), argument, TDM_NODE_NONE);
		break;
	case TDM_SYN_comparison_operator: /* a < b; longer chains are unknown */
		token = py_part(at, node, TDM_ROLE_operators);
		if (tdm_node_child_count(syntax, node) == 3 && token != TDM_NODE_NONE) {
			value = eval_operator(at, py_text(at, token), tdm_node_child(syntax, node, 0),
				tdm_node_child(syntax, node, 2));
			break;
		}
		for (TDM_NODE_CHILDREN(child, syntax, node))
			if (py_kind(at, child) != TDM_SYN_TOKEN)
				py_eval(at, child);
		break;
	case TDM_SYN_conditional_expression: {
		const struct tdm_expr *condition = py_eval(at, tdm_node_child(syntax, node, 1));
		const struct tdm_expr *a = py_eval(at, tdm_node_child(syntax, node, 0));
		return py_merge(at, condition, a, py_eval(at, tdm_node_child(syntax, node, 2)));
	}
	case TDM_SYN_subscript:
		value = eval_subscript(at, node);
		break;
	case TDM_SYN_list_comprehension:
	case TDM_SYN_generator_expression:
		eval_comprehension(at, node);
		break;
	case TDM_SYN_lambda:
		return py_lambda(at, node);
	case TDM_SYN_true:
	case TDM_SYN_false:
		return tdm_expr_number(at->arena, py_kind(at, node) == TDM_SYN_true);
	case TDM_SYN_string:
		if (tdm_node_of_kind(syntax, node, TDM_SYN_interpolation) == TDM_NODE_NONE) {
			uint32_t content = tdm_node_of_kind(syntax, node, TDM_SYN_string_content);
			struct tdm_str text = squeezed(at->py, py_text(at, content));
			value = tdm_expr_of(at->arena, (struct tdm_expr){ .op = TDM_EXPR_STRING, .text = text });
		}
		break;
	case TDM_SYN_float:
	case TDM_SYN_none:
	case TDM_SYN_TOKEN:
		break;
	case TDM_SYN_parenthesized_expression:
		if (tdm_node_child_count(syntax, node) == 1)
			return py_eval(at, tdm_node_first(syntax, node));
		/* fall through */
	default: /* descriptors created inside still count */
		for (TDM_NODE_CHILDREN(child, syntax, node))
			py_eval(at, child);
		break;
	}
	return value != NULL ? value : py_unknown(at, node);
}

const struct tdm_expr *py_eval(struct py_at *at, uint32_t node)
{
	struct py *py = at->py;
	if (node == TDM_NODE_NONE || tdm_arena_is_full(py->arena))
		return &tdm_expr_nothing;
	if (++py->steps > PY_STEPS_MAX || at->depth >= PY_DEPTH_MAX)
		return py_unknown(at, node);
	at->depth++;
	const struct tdm_expr *value = eval_inner(at, node);
	at->depth--;
	return value;
}
