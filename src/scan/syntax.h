/*
 * The syntax tree of one source file, as a list of our own. tree-sitter parses the text; what is kept is one small
 * record for each node that has a name in the grammar or a role in its parent (an operator), in the order of the text:
 *
 *     nodes:  [call_expression][identifier][argument_list][number_literal][number_literal] ...
 *             next ─────────────────────────────────────────────────────────────────────▶
 *
 * The first child of node i is i + 1 if that is before nodes[i].next; the next sibling of a child is its `next`.
 * Comments are left out. Kinds and roles are numbers from the lists below: what is not listed is TDM_SYN_OTHER or
 * TDM_ROLE_NONE, and a line more is all that it takes to list it. Parts of the text that do not parse are nodes of kind
 * TDM_SYN_ERROR; what is around them is as good as it can be. Only syntax.c knows tree-sitter.
 */
#ifndef TDM_SCAN_SYNTAX_H
#define TDM_SCAN_SYNTAX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum tdm_language { TDM_LANGUAGE_CPP, TDM_LANGUAGE_PYTHON, TDM_LANGUAGE_COUNT };

/* Kinds of nodes by their name in the grammars; C++ first, then what only Python has. */
#define TDM_SYNTAX_KINDS(X)               \
	X(translation_unit)               \
	X(function_definition)            \
	X(function_declarator)            \
	X(parameter_list)                 \
	X(parameter_declaration)          \
	X(optional_parameter_declaration) \
	X(variadic_parameter_declaration) \
	X(template_declaration)           \
	X(namespace_definition)           \
	X(class_specifier)                \
	X(struct_specifier)               \
	X(enum_specifier)                 \
	X(enumerator_list)                \
	X(enumerator)                     \
	X(field_declaration)              \
	X(field_declaration_list)         \
	X(declaration_list)               \
	X(linkage_specification)          \
	X(declaration)                    \
	X(init_declarator)                \
	X(pointer_declarator)             \
	X(reference_declarator)           \
	X(array_declarator)               \
	X(structured_binding_declarator)  \
	X(parenthesized_declarator)       \
	X(abstract_function_declarator)   \
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
	X(primitive_type)                 \
	X(sized_type_specifier)           \
	X(placeholder_type_specifier)     \
	X(auto)                           \
	X(template_function)              \
	X(template_method)                \
	X(template_type)                  \
	X(template_argument_list)         \
	X(type_descriptor)                \
	X(compound_literal_expression)    \
	X(initializer_list)               \
	X(initializer_pair)               \
	X(field_designator)               \
	X(subscript_designator)           \
	X(subscript_expression)           \
	X(subscript_argument_list)        \
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
	X(lambda_capture_specifier)       \
	X(abstract_lambda_declarator)     \
	X(new_expression)                 \
	X(this)                           \
	X(number_literal)                 \
	X(string_literal)                 \
	X(string_content)                 \
	X(raw_string_literal)             \
	X(concatenated_string)            \
	X(char_literal)                   \
	X(true)                           \
	X(false)                          \
	X(null)                           \
	X(nullptr)                        \
	X(user_defined_literal)           \
	X(using_declaration)              \
	X(alias_declaration)              \
	X(type_definition)                \
	X(namespace_alias_definition)     \
	X(type_qualifier)                 \
	X(storage_class_specifier)        \
	X(preproc_include)                \
	X(preproc_def)                    \
	X(preproc_function_def)           \
	X(preproc_arg)                    \
	X(preproc_params)                 \
	X(preproc_if)                     \
	X(preproc_ifdef)                  \
	X(preproc_elif)                   \
	X(preproc_else)                   \
	X(preproc_call)                   \
	X(preproc_directive)              \
	X(system_lib_string)              \
	X(module)                         \
	X(block)                          \
	X(call)                           \
	X(attribute)                      \
	X(assignment)                     \
	X(augmented_assignment)           \
	X(keyword_argument)               \
	X(parameters)                     \
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
	X(dictionary)                     \
	X(pair)                           \
	X(list_comprehension)             \
	X(for_in_clause)                  \
	X(if_clause)                      \
	X(elif_clause)                    \
	X(subscript)                      \
	X(slice)                          \
	X(integer)                        \
	X(float)                          \
	X(string)                         \
	X(interpolation)                  \
	X(none)                           \
	X(lambda)                         \
	X(lambda_parameters)              \
	X(with_statement)                 \
	X(import_statement)               \
	X(import_from_statement)          \
	X(dotted_name)                    \
	X(aliased_import)                 \
	X(conditional)                    \
	X(expression_list)                \
	X(pattern_list)                   \
	X(tuple_pattern)                  \
	X(list_splat)                     \
	X(dictionary_splat)               \
	X(generator_expression)           \
	X(named_expression)               \
	X(raise_statement)                \
	X(type)

enum tdm_syntax_kind {
	TDM_SYN_OTHER, /* a node of a kind that is not in the list */
	TDM_SYN_ERROR, /* text that does not parse */
	TDM_SYN_TOKEN, /* a token that has a role: an operator */
#define X(name) TDM_SYN_##name,
	TDM_SYNTAX_KINDS(X)
#undef X
		TDM_SYN_COUNT
};

/* Roles of nodes in their parents: the fields of the grammars. */
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
	X(update)           \
	X(scope)            \
	X(designator)       \
	X(indices)          \
	X(captures)         \
	X(size)             \
	X(path)             \
	X(label)            \
	X(object)           \
	X(attribute)        \
	X(subscript)        \
	X(key)              \
	X(operators)        \
	X(return_type)      \
	X(definition)       \
	X(module_name)      \
	X(alias)            \
	X(superclasses)

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
	uint8_t role;        /* enum tdm_syntax_role in its parent */
	uint32_t start, end; /* bytes of the text */
	uint32_t next;       /* the node after this one and all below it */
};

struct tdm_syntax {
	struct tdm_str text; /* borrowed */
	struct tdm_node *nodes;
	uint32_t count;
	size_t cap;
	uint32_t error_count;      /* nodes of kind ERROR, and tokens that the parser had to make up */
	uint32_t first_error_byte; /* where the first of them is; 0 when there is none */
};

/* A parser, for one thread. NULL only when out of memory or when the grammar does not suit the library. */
struct tdm_parser;
struct tdm_parser *tdm_parser_new(enum tdm_language language);
void tdm_parser_free(struct tdm_parser *parser);

/*
 * How long parsing a text may take: TDM_PARSE_MICROS, and more for each MiB. Source code takes a small part of that,
 * but the library's recovery from errors can need a time that grows with the square of the text. tdm_parser_limit()
 * sets another time for every text; 0: as it was.
 */
#define TDM_PARSE_MICROS         UINT64_C(5000000)
#define TDM_PARSE_MICROS_PER_MIB UINT64_C(2000000)
void tdm_parser_limit(struct tdm_parser *parser, uint64_t micros);

/*
 * Parses `text`, which must outlive `syntax`, into it; a zeroed one is empty, and one that was used before is emptied
 * and its memory reused. 0, -EFBIG above UINT32_MAX bytes or nodes, -ENOMEM, or -ECANCELED when parsing took too long.
 */
int tdm_syntax_parse(struct tdm_syntax *syntax, struct tdm_parser *parser, struct tdm_str text);
void tdm_syntax_done(struct tdm_syntax *syntax);

/* Only parses, and says whether some of it does not parse: what scanning is measured against. `has_error` may be NULL.
 */
int tdm_syntax_parse_only(struct tdm_parser *parser, struct tdm_str text, bool *has_error);

static inline const struct tdm_node *tdm_node_at(const struct tdm_syntax *syntax, uint32_t node)
{
	return &syntax->nodes[node];
}

static inline enum tdm_syntax_kind tdm_node_kind(const struct tdm_syntax *syntax, uint32_t node)
{
	return node < syntax->count ? (enum tdm_syntax_kind)syntax->nodes[node].kind : TDM_SYN_OTHER;
}

/* TDM_NODE_NONE when it has none. */
static inline uint32_t tdm_node_first(const struct tdm_syntax *syntax, uint32_t node)
{
	return node < syntax->count && node + 1 < syntax->nodes[node].next ? node + 1 : TDM_NODE_NONE;
}

/* The sibling after `child`, a child of `parent`; TDM_NODE_NONE when it is the last. */
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

/* The first child with a role, or of a kind; TDM_NODE_NONE when there is none. */
uint32_t tdm_node_with_role(const struct tdm_syntax *syntax, uint32_t parent, enum tdm_syntax_role role);
uint32_t tdm_node_of_kind(const struct tdm_syntax *syntax, uint32_t parent, enum tdm_syntax_kind kind);

/* The number of children, and the child at a place; TDM_NODE_NONE when there are not so many. */
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

/* Whether a node, or one below it, did not parse. */
bool tdm_node_has_error(const struct tdm_syntax *syntax, uint32_t node);

/* The name of a kind in the grammar, for tests and messages. */
const char *tdm_syntax_kind_name(enum tdm_syntax_kind kind);

#endif
