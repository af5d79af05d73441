/* Python's expressions to expressions. Whatever makes a descriptor inside of an expression is remembered on the way. */
#include <ctype.h>

#include "scan/python.h"

/* A piece of source as one line without superfluous blanks, cut when it is long. */
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
	const char *copy = tdm_arena_text(py->arena, (struct tdm_str){ line, len });
	py->failed |= copy == NULL;
	return tdm_str_of(copy != NULL ? copy : "");
}

const struct tdm_expr *py_named(struct py *py, struct tdm_str text)
{
	return tdm_expr_name(py->arena, squeezed(py, text));
}

const struct tdm_expr *py_unknown(struct py_at *at, uint32_t node)
{
	return py_named(at->py, tdm_node_text(at->py->syntax, node));
}

struct tdm_str py_last_name(const struct tdm_syntax *syntax, uint32_t node)
{
	if (tdm_node_kind(syntax, node) == TDM_SYN_attribute)
		node = tdm_node_with_role(syntax, node, TDM_ROLE_attribute);
	return tdm_node_kind(syntax, node) == TDM_SYN_identifier ? tdm_node_text(syntax, node)
								 : (struct tdm_str){ "", 0 };
}

static int digit_of(char c)
{
	return isdigit((unsigned char)c)    ? c - '0'
	       : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
					    : -1;
}

static const struct tdm_expr *eval_integer(struct py_at *at, uint32_t node)
{
	struct tdm_str text = tdm_node_text(at->py->syntax, node);
	size_t i = 0;
	int64_t number = 0, base = 10;
	if (text.len > 2 && text.ptr[0] == '0' && strchr("xXoObB", text.ptr[1]) != NULL) {
		base = tolower((unsigned char)text.ptr[1]) == 'x'   ? 16
		       : tolower((unsigned char)text.ptr[1]) == 'o' ? 8
								    : 2;
		i = 2;
	}
	for (; i < text.len; i++) {
		int digit = digit_of(text.ptr[i]);
		if (text.ptr[i] == '_')
			continue;
		if (digit < 0 || digit >= base || __builtin_mul_overflow(number, base, &number) ||
			__builtin_add_overflow(number, digit, &number))
			return py_unknown(at, node);
	}
	return tdm_expr_number(at->py->arena, number);
}

/* "ttnn.bfloat16", "ttnn.DataFormat.Float16_b" */
static const struct tdm_expr *eval_format(struct py_at *at, struct tdm_str text, struct tdm_str last)
{
	bool is_ours = text.len > 5 && memcmp(text.ptr, "ttnn.", 5) == 0;
	const struct tdm_data_format *format = is_ours ? tdm_data_format_find(last) : NULL;
	return format != NULL ? tdm_expr_format(at->py->arena, format) : NULL;
}

/* A member that is bound by its whole name: self.x, Op.SIZE. */
static const struct tdm_expr *bound_member(struct py_at *at, struct tdm_str text, struct tdm_str last)
{
	const struct tdm_expr *value = py_lookup(at, text);
	bool is_own = (text.len > 5 && memcmp(text.ptr, "self.", 5) == 0) ||
		      (text.len > 4 && memcmp(text.ptr, "cls.", 4) == 0);
	char name[256];
	if (value != NULL || !is_own || at->class_name.len == 0 || at->class_name.len + last.len + 1 >= sizeof name)
		return value;
	memcpy(name, at->class_name.ptr, at->class_name.len);
	name[at->class_name.len] = '.';
	memcpy(name + at->class_name.len + 1, last.ptr, last.len);
	return py_lookup(at, (struct tdm_str){ name, at->class_name.len + 1 + last.len });
}

static const struct tdm_expr *descriptor_member(const struct py_descriptor *descriptor, struct tdm_str name)
{
	return tdm_str_is(name, "total_size")           ? descriptor->total
	       : tdm_str_is(name, "core_ranges")        ? descriptor->cores
	       : tdm_str_is(name, "format_descriptors") ? descriptor->formats
							: NULL;
}

static const struct tdm_expr *eval_attribute(struct py_at *at, uint32_t node)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	struct tdm_str text = tdm_node_text(syntax, node), last = py_last_name(syntax, node);
	const struct tdm_expr *value = bound_member(at, text, last);
	value = value != NULL ? value : eval_format(at, text, last);
	if (value != NULL)
		return value;
	uint32_t object_node = tdm_node_with_role(syntax, node, TDM_ROLE_object);
	if (tdm_node_kind(syntax, object_node) == TDM_SYN_identifier &&
		py_lookup(at, tdm_node_text(syntax, object_node)) == NULL)
		return py_unknown(at, node);
	const struct tdm_expr *object = py_eval(at, object_node);
	const struct py_descriptor *descriptor = py_descriptor_of(object);
	value = descriptor != NULL ? descriptor_member(descriptor, last) : tdm_expr_field_str(object, last);
	return value != NULL ? value : py_unknown(at, node);
}

static const struct tdm_expr *eval_list(struct py_at *at, uint32_t node)
{
	struct py *py = at->py;
	uint32_t count = 0, all = tdm_node_child_count(py->syntax, node);
	const struct tdm_expr **args = tdm_arena_take(py->arena, sizeof *args * ((size_t)all + 1));
	if (args == NULL)
		return &tdm_expr_nothing;
	for (TDM_NODE_CHILDREN(child, py->syntax, node))
		args[count++] = py_eval(at, child);
	return tdm_expr_make(py->arena, TDM_EXPR_LIST, (struct tdm_str){ "", 0 }, args, count);
}

/* Whether something is None, where that is certain; NULL where it is not, or not asked. */
static const struct tdm_expr *compare_with_none(
	struct py *py, enum tdm_expr_op op, const struct tdm_expr *a, const struct tdm_expr *b)
{
	bool is_asked =
		b != NULL && (op == TDM_EXPR_EQUAL || op == TDM_EXPR_NOT_EQUAL) && (py_is_none(a) || py_is_none(b));
	if (!is_asked)
		return NULL;
	const struct tdm_expr *other = py_is_none(b) ? a : b;
	bool is_open = !py_is_none(other) && (other->op == TDM_EXPR_NAME || other->op == TDM_EXPR_CALL ||
						     other->op == TDM_EXPR_CHOOSE || other->op == TDM_EXPR_NOTHING);
	return is_open ? NULL : tdm_expr_number(py->arena, py_is_none(other) == (op == TDM_EXPR_EQUAL));
}

static const struct tdm_expr *eval_operator(
	struct py_at *at, uint32_t node, struct tdm_str token, uint32_t left, uint32_t right)
{
	struct py *py = at->py;
	const struct tdm_expr *a = py_eval(at, left), *b = right != TDM_NODE_NONE ? py_eval(at, right) : NULL;
	token = tdm_str_is(token, "and")      ? tdm_str_of("&&")
		: tdm_str_is(token, "or")     ? tdm_str_of("||")
		: tdm_str_is(token, "is")     ? tdm_str_of("==")
		: tdm_str_is(token, "is not") ? tdm_str_of("!=")
					      : token;
	enum tdm_expr_op op = tdm_expr_operator(token, b != NULL ? 2 : 1);
	const struct tdm_expr *decided = compare_with_none(py, op, a, b);
	if (decided != NULL)
		return decided;
	bool has_objects = a->op == TDM_EXPR_OPAQUE || a->op == TDM_EXPR_LIST ||
			   (b != NULL && (b->op == TDM_EXPR_OPAQUE || b->op == TDM_EXPR_LIST));
	if (op == TDM_EXPR_NOTHING || has_objects)
		return py_unknown(at, node);
	const struct tdm_expr *args[] = { a, b };
	return tdm_expr_make(py->arena, op, (struct tdm_str){ "", 0 }, args, b != NULL ? 2 : 1);
}

static const struct tdm_expr *eval_roles(struct py_at *at, uint32_t node)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	uint32_t left = tdm_node_with_role(syntax, node, TDM_ROLE_left);
	uint32_t token = tdm_node_with_role(syntax, node, TDM_ROLE_operator);
	if (left != TDM_NODE_NONE)
		return eval_operator(
			at, node, tdm_node_text(syntax, token), left, tdm_node_with_role(syntax, node, TDM_ROLE_right));
	uint32_t argument = tdm_node_with_role(syntax, node, TDM_ROLE_argument);
	bool is_not = tdm_node_kind(syntax, node) == TDM_SYN_not_operator;
	return eval_operator(
		at, node, is_not ? tdm_str_of("!") : tdm_node_text(syntax, token), argument, TDM_NODE_NONE);
}

/* a < b; longer chains are unknown. */
static const struct tdm_expr *eval_comparison(struct py_at *at, uint32_t node)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	uint32_t token = tdm_node_with_role(syntax, node, TDM_ROLE_operators);
	if (tdm_node_child_count(syntax, node) != 3 || token == TDM_NODE_NONE) {
		for (TDM_NODE_CHILDREN(child, syntax, node))
			if (tdm_node_kind(syntax, child) != TDM_SYN_TOKEN)
				py_eval(at, child);
		return py_unknown(at, node);
	}
	return eval_operator(at, node, tdm_node_text(syntax, token), tdm_node_child(syntax, node, 0),
		tdm_node_child(syntax, node, 2));
}

static const struct tdm_expr *eval_conditional(struct py_at *at, uint32_t node)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	const struct tdm_expr *condition = py_eval(at, tdm_node_child(syntax, node, 1));
	const struct tdm_expr *a = py_eval(at, tdm_node_child(syntax, node, 0));
	const struct tdm_expr *b = py_eval(at, tdm_node_child(syntax, node, 2));
	return py_merge(at, condition, a, b);
}

static const struct tdm_expr *eval_subscript(struct py_at *at, uint32_t node)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	const struct tdm_expr *list = py_eval(at, tdm_node_with_role(syntax, node, TDM_ROLE_value));
	const struct tdm_expr *place = py_eval(at, tdm_node_with_role(syntax, node, TDM_ROLE_subscript));
	int64_t number;
	if (list->op != TDM_EXPR_LIST || tdm_expr_value(place, at->py->walk->settings, &number) != 0)
		return py_unknown(at, node);
	number = number < 0 ? number + list->arg_count : number;
	return number >= 0 && number < list->arg_count ? list->args[number] : py_unknown(at, node);
}

/* The body is walked once, with loop variables that are not known. */
static const struct tdm_expr *eval_comprehension(struct py_at *at, uint32_t node)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	struct py_at inner = *at;
	inner.frame = py_frame(at->py, at->frame);
	inner.in_loop = true;
	for (TDM_NODE_CHILDREN(child, syntax, node))
		if (tdm_node_kind(syntax, child) == TDM_SYN_for_in_clause) {
			py_eval(&inner, tdm_node_with_role(syntax, child, TDM_ROLE_right));
			py_bind_pattern(&inner, tdm_node_with_role(syntax, child, TDM_ROLE_left), NULL);
		}
	py_eval(&inner, tdm_node_with_role(syntax, node, TDM_ROLE_body));
	return py_unknown(at, node);
}

static const struct tdm_expr *eval_identifier(struct py_at *at, uint32_t node)
{
	const struct tdm_expr *value = py_lookup(at, tdm_node_text(at->py->syntax, node));
	return value != NULL ? value : py_unknown(at, node);
}

static const struct tdm_expr *eval_string(struct py_at *at, uint32_t node)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	uint32_t content = tdm_node_of_kind(syntax, node, TDM_SYN_string_content);
	if (tdm_node_of_kind(syntax, node, TDM_SYN_interpolation) != TDM_NODE_NONE)
		return py_unknown(at, node);
	return tdm_expr_string(at->py->arena, squeezed(at->py, tdm_node_text(syntax, content)));
}

/* Something that has no value here: what is made inside of it counts all the same. */
static const struct tdm_expr *eval_other(struct py_at *at, uint32_t node)
{
	for (TDM_NODE_CHILDREN(child, at->py->syntax, node))
		py_eval(at, child);
	return py_unknown(at, node);
}

static const struct tdm_expr *eval_inner(struct py_at *at, uint32_t node)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	switch (tdm_node_kind(syntax, node)) {
	case TDM_SYN_integer:
		return eval_integer(at, node);
	case TDM_SYN_identifier:
		return eval_identifier(at, node);
	case TDM_SYN_attribute:
		return eval_attribute(at, node);
	case TDM_SYN_call:
		return py_call(at, node);
	case TDM_SYN_list:
	case TDM_SYN_tuple:
	case TDM_SYN_expression_list:
		return eval_list(at, node);
	case TDM_SYN_binary_operator:
	case TDM_SYN_boolean_operator:
	case TDM_SYN_unary_operator:
	case TDM_SYN_not_operator:
		return eval_roles(at, node);
	case TDM_SYN_comparison_operator:
		return eval_comparison(at, node);
	case TDM_SYN_conditional_expression:
		return eval_conditional(at, node);
	case TDM_SYN_parenthesized_expression:
		return tdm_node_child_count(syntax, node) == 1 ? py_eval(at, tdm_node_child(syntax, node, 0))
							       : eval_other(at, node);
	case TDM_SYN_subscript:
		return eval_subscript(at, node);
	case TDM_SYN_list_comprehension:
	case TDM_SYN_generator_expression:
		return eval_comprehension(at, node);
	case TDM_SYN_lambda:
		return py_lambda(at, node);
	case TDM_SYN_true:
		return tdm_expr_number(at->py->arena, 1);
	case TDM_SYN_false:
		return tdm_expr_number(at->py->arena, 0);
	case TDM_SYN_string:
		return eval_string(at, node);
	case TDM_SYN_float:
	case TDM_SYN_none:
	case TDM_SYN_TOKEN:
		return py_unknown(at, node);
	default:
		return eval_other(at, node);
	}
}

const struct tdm_expr *py_eval(struct py_at *at, uint32_t node)
{
	struct py *py = at->py;
	if (node == TDM_NODE_NONE)
		return &tdm_expr_nothing;
	if (++py->steps > PY_STEPS_MAX || at->depth >= PY_DEPTH_MAX || py->failed)
		return py_unknown(at, node);
	at->depth++;
	const struct tdm_expr *value = eval_inner(at, node);
	at->depth--;
	return value;
}
