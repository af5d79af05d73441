/*
 * The syntax tree of one source file as a list. tree-sitter parses the text; we keep one small record for each node
 * that has a name in the grammar or a role in its parent (an operator), in text order:
 *
 *     nodes:  [call_expression][identifier][argument_list][number_literal][number_literal] ...
 *             next ─────────────────────────────────────────────────────────────────────▶
 *
 * The first child of node i is i + 1 if that is before nodes[i].next; the next sibling of a child is its `next`.
 * Comments are left out. Kinds and roles are numbers from the lists below; unlisted ones are TDM_SYN_OTHER or
 * TDM_ROLE_NONE. Parts of the text that do not parse are nodes of kind TDM_SYN_ERROR, and the nodes around them may be
 * incomplete. Only syntax.c uses tree-sitter.
 */
#ifndef TDM_SCAN_SYNTAX_H
#define TDM_SCAN_SYNTAX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum tdm_language { TDM_LANGUAGE_CPP, TDM_LANGUAGE_PYTHON, TDM_LANGUAGE_COUNT };

/* Node kinds by their names in the grammars: first C++, then kinds found only in Python. */
#define TDM_SYNTAX_KINDS(X)               \
	X(function_definition)            \
	X(function_declarator)            \
	X(parameter_declaration)          \
	X(optional_parameter_declaration) \
	X(variadic_parameter_declaration) \
	X(enumerator)                     \
	X(declaration)                    \
	X(init_declarator)                \
	X(reference_declarator)           \
	X(array_declarator)               \
	X(structured_binding_declarator)  \
	X(compound_statement)             \
	X(expression_statement)           \
	X(return_statement)               \
	X(if_statement)                   \
	X(else_clause)                    \
	X(condition_clause)               \
	X(for_statement)                  \
	X(for_range_loop)                 \
	X(while_statement)                \
	X(do_statement)                   \
	X(switch_statement)               \
	X(case_statement)                 \
	X(try_statement)                  \
	X(catch_clause)                   \
	X(break_statement)                \
	X(continue_statement)             \
	X(labeled_statement)              \
	X(call_expression)                \
	X(argument_list)                  \
	X(field_expression)               \
	X(field_identifier)               \
	X(qualified_identifier)           \
	X(namespace_identifier)           \
	X(identifier)                     \
	X(type_identifier)                \
	X(placeholder_type_specifier)     \
	X(template_function)              \
	X(template_method)                \
	X(template_type)                  \
	X(compound_literal_expression)    \
	X(initializer_list)               \
	X(initializer_pair)               \
	X(subscript_expression)           \
	X(assignment_expression)          \
	X(update_expression)              \
	X(binary_expression)              \
	X(unary_expression)               \
	X(pointer_expression)             \
	X(conditional_expression)         \
	X(parenthesized_expression)       \
	X(cast_expression)                \
	X(sizeof_expression)              \
	X(comma_expression)               \
	X(lambda_expression)              \
	X(number_literal)                 \
	X(string_literal)                 \
	X(string_content)                 \
	X(concatenated_string)            \
	X(true)                           \
	X(false)                          \
	X(type_qualifier)                 \
	X(preproc_if)                     \
	X(preproc_ifdef)                  \
	X(preproc_elif)                   \
	X(preproc_else)                   \
	X(block)                          \
	X(call)                           \
	X(attribute)                      \
	X(assignment)                     \
	X(augmented_assignment)           \
	X(keyword_argument)               \
	X(default_parameter)              \
	X(typed_parameter)                \
	X(typed_default_parameter)        \
	X(class_definition)               \
	X(decorated_definition)           \
	X(binary_operator)                \
	X(unary_operator)                 \
	X(boolean_operator)               \
	X(not_operator)                   \
	X(comparison_operator)            \
	X(list)                           \
	X(tuple)                          \
	X(list_comprehension)             \
	X(for_in_clause)                  \
	X(elif_clause)                    \
	X(subscript)                      \
	X(integer)                        \
	X(float)                          \
	X(string)                         \
	X(interpolation)                  \
	X(none)                           \
	X(lambda)                         \
	X(import_statement)               \
	X(import_from_statement)          \
	X(expression_list)                \
	X(pattern_list)                   \
	X(tuple_pattern)                  \
	X(dictionary_splat)               \
	X(generator_expression)           \
	X(raise_statement)

enum tdm_syntax_kind {
	TDM_SYN_OTHER, /* a node of an unlisted kind */
	TDM_SYN_ERROR, /* text that does not parse */
	TDM_SYN_TOKEN, /* a token with a role: an operator */
#define X(name) TDM_SYN_##name,
	TDM_SYNTAX_KINDS(X)
#undef X
		TDM_SYN_COUNT
};

/* Roles of nodes in their parents, named after the fields of the grammars. */
#define TDM_SYNTAX_ROLES(X) \
	X(name)             \
	X(body)             \
	X(type)             \
	X(declarator)       \
	X(parameters)       \
	X(value)            \
	X(default_value)    \
	X(function)         \
	X(arguments)        \
	X(argument)         \
	X(field)            \
	X(operator)         \
	X(left)             \
	X(right)            \
	X(condition)        \
	X(consequence)      \
	X(alternative)      \
	X(initializer)      \
	X(scope)            \
	X(designator)       \
	X(indices)          \
	X(object)           \
	X(attribute)        \
	X(subscript)        \
	X(operators)        \
	X(definition)

enum tdm_syntax_role {
	TDM_ROLE_NONE,
#define X(name) TDM_ROLE_##name,
	TDM_SYNTAX_ROLES(X)
#undef X
		TDM_ROLE_COUNT
};

#define TDM_NODE_NONE UINT32_MAX

struct tdm_node {
	uint8_t kind;        /* enum tdm_syntax_kind */
	uint8_t role;        /* enum tdm_syntax_role, in the parent */
	uint32_t start, end; /* byte offsets in the text */
	uint32_t next;       /* index of the first node that is not below this one */
};

struct tdm_syntax {
	struct tdm_str text; /* borrowed */
	struct tdm_node *nodes;
	uint32_t count;
	size_t cap;
	uint32_t error_count;      /* number of ERROR nodes, and of tokens inserted by the parser */
	uint32_t first_error_byte; /* byte offset of the first of these; 0 if there is none */
};

/*
 * A parser, to be used by one thread. `micros` limits the time for a text; 0 means TDM_PARSE_MICROS, plus more for each
 * MiB. Source code takes a small fraction of the limit, but recovery from errors can take time proportional to the
 * square of the length.
 */
#define TDM_PARSE_MICROS         UINT64_C(5000000)
#define TDM_PARSE_MICROS_PER_MIB UINT64_C(2000000)
struct tdm_parser;
struct tdm_parser *tdm_parser_new(enum tdm_language language, uint64_t micros);
void tdm_parser_free(struct tdm_parser *parser);

/*
 * Parses `text` and stores the tree in `syntax`; `text` must outlive `syntax`. A zeroed `syntax` is empty; a used one
 * is emptied and its memory reused. 0, -EFBIG above UINT32_MAX bytes or nodes, or -ECANCELED if parsing took too long.
 */
int tdm_syntax_parse(struct tdm_syntax *syntax, struct tdm_parser *parser, struct tdm_str text);
void tdm_syntax_done(struct tdm_syntax *syntax);

/* Parses without creating a list. *has_error: whether part of the text does not parse; `has_error` may be NULL. */
int tdm_syntax_parse_only(struct tdm_parser *parser, struct tdm_str text, bool *has_error);

static inline enum tdm_syntax_kind tdm_node_kind(const struct tdm_syntax *syntax, uint32_t node)
{
	return node < syntax->count ? (enum tdm_syntax_kind)syntax->nodes[node].kind : TDM_SYN_OTHER;
}

/* The first child; TDM_NODE_NONE if there is none. */
static inline uint32_t tdm_node_first(const struct tdm_syntax *syntax, uint32_t node)
{
	return node < syntax->count && node + 1 < syntax->nodes[node].next ? node + 1 : TDM_NODE_NONE;
}

/* The sibling after `child` in `parent`; TDM_NODE_NONE if `child` is the last. */
static inline uint32_t tdm_node_after(const struct tdm_syntax *syntax, uint32_t parent, uint32_t child)
{
	uint32_t next = syntax->nodes[child].next;
	return next < syntax->nodes[parent].next ? next : TDM_NODE_NONE;
}

/* for (TDM_NODE_CHILDREN(child, syntax, parent)) */
#define TDM_NODE_CHILDREN(child, syntax, parent)             \
	uint32_t child = tdm_node_first((syntax), (parent)); \
	(child) != TDM_NODE_NONE;                            \
	(child) = tdm_node_after((syntax), (parent), (child))

/* The first child with a role, or of a kind; TDM_NODE_NONE if there is none. */
uint32_t tdm_node_part(const struct tdm_syntax *syntax, uint32_t parent, enum tdm_syntax_role role);
uint32_t tdm_node_of_kind(const struct tdm_syntax *syntax, uint32_t parent, enum tdm_syntax_kind kind);

/* The number of children; and the child at an index, or TDM_NODE_NONE if there are fewer children. */
uint32_t tdm_node_child_count(const struct tdm_syntax *syntax, uint32_t parent);
uint32_t tdm_node_child(const struct tdm_syntax *syntax, uint32_t parent, uint32_t place);

/* The text of a node; empty for TDM_NODE_NONE. */
static inline struct tdm_str tdm_node_text(const struct tdm_syntax *syntax, uint32_t node)
{
	if (node >= syntax->count)
		return (struct tdm_str){ "", 0 };
	const struct tdm_node *n = &syntax->nodes[node];
	return (struct tdm_str){ syntax->text.ptr + n->start, n->end - n->start };
}

#endif
