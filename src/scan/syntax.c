#include "scan/syntax.h"

#include <errno.h>
#include <stdlib.h>
#include <tree_sitter/api.h>

#include "base/clock.h"
#include "base/reserve.h"
#include "scan/syntax_memory.h"

const TSLanguage *tree_sitter_cpp(void);
const TSLanguage *tree_sitter_python(void);

enum {
	NODES_PER_BYTE_INVERSE = 6, /* about one node for so many bytes of text */
	CLOCK_TURNS = 1024,         /* nodes between two looks at the clock */
};

/* What becomes of a node of the grammar. */
enum { SKIPPED = UINT8_MAX };

struct tdm_parser {
	TSParser *parser;
	uint8_t *
		kinds; /* by symbol: enum tdm_syntax_kind, TDM_SYN_TOKEN for one without a name, SKIPPED for comments */
	uint8_t *roles; /* by field */
	uint32_t symbol_count, field_count;
	uint64_t micros; /* for each text; 0: by its length */
};

static const TSLanguage *language_of(enum tdm_language language)
{
	return language == TDM_LANGUAGE_PYTHON ? tree_sitter_python() : tree_sitter_cpp();
}

static uint8_t kind_of(const char *name)
{
	static const char *const names[] = {
#define X(name) [TDM_SYN_##name] = #name,
		TDM_SYNTAX_KINDS(X)
#undef X
	};
	if (strcmp(name, "comment") == 0)
		return SKIPPED;
	if (strcmp(name, "ERROR") == 0)
		return TDM_SYN_ERROR;
	for (uint8_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i] != NULL && strcmp(names[i], name) == 0)
			return i;
	return TDM_SYN_OTHER;
}

static uint8_t role_of(const char *name)
{
	static const char *const names[] = {
#define X(name) [TDM_ROLE_##name] = #name,
		TDM_SYNTAX_ROLES(X)
#undef X
	};
	for (uint8_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i] != NULL && name != NULL && strcmp(names[i], name) == 0)
			return i;
	return TDM_ROLE_NONE;
}

/* A token without a name that may have a role: an operator, not a bracket, a comma or a keyword. */
static bool is_operator(const char *token)
{
	static const char *const words[] = { "and", "or", "not", "in", "is", "not in", "is not", "xor", "bitand",
		"bitor", "compl" };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(token, words[i]) == 0)
			return true;
	return token[0] != '\0' && strchr("+-*/%<>=!&|^~?.@", token[0]) != NULL;
}

static bool fill_tables(struct tdm_parser *parser, const TSLanguage *language)
{
	parser->symbol_count = ts_language_symbol_count(language);
	parser->field_count = ts_language_field_count(language) + 1; /* they are counted from 1 */
	parser->kinds = calloc(parser->symbol_count, 1);
	parser->roles = calloc(parser->field_count, 1);
	if (parser->kinds == NULL || parser->roles == NULL)
		return false;
	for (uint32_t i = 0; i < parser->symbol_count; i++) {
		bool is_named = ts_language_symbol_type(language, (TSSymbol)i) == TSSymbolTypeRegular;
		const char *name = ts_language_symbol_name(language, (TSSymbol)i);
		parser->kinds[i] = is_named ? kind_of(name) : is_operator(name) ? TDM_SYN_TOKEN : SKIPPED;
	}
	for (uint32_t i = 1; i < parser->field_count; i++)
		parser->roles[i] = role_of(ts_language_field_name_for_id(language, (TSFieldId)i));
	return true;
}

struct tdm_parser *tdm_parser_new(enum tdm_language language)
{
	struct tdm_parser *parser = calloc(1, sizeof *parser);
	if (parser == NULL)
		return NULL;
	tdm_syntax_memory_use();
	parser->parser = ts_parser_new();
	bool is_usable = parser->parser != NULL && ts_parser_set_language(parser->parser, language_of(language)) &&
			 fill_tables(parser, language_of(language));
	if (!is_usable) {
		tdm_parser_free(parser);
		return NULL;
	}
	return parser;
}

void tdm_parser_limit(struct tdm_parser *parser, uint64_t micros)
{
	parser->micros = micros;
}

static uint64_t limit_of(const struct tdm_parser *parser, struct tdm_str text)
{
	return parser->micros != 0 ? parser->micros : TDM_PARSE_MICROS + (text.len >> 20) * TDM_PARSE_MICROS_PER_MIB;
}

void tdm_parser_free(struct tdm_parser *parser)
{
	if (parser == NULL)
		return;
	ts_parser_delete(parser->parser);
	free(parser->kinds);
	free(parser->roles);
	free(parser);
}

/*
 * The kind to keep a node as, or SKIPPED, and its role. To find a role, the cursor goes up through all nodes without a
 * name to the parent. Below an error they can be as many as the children that come before, because the parser does not
 * balance what it gave up, so nothing has a role there.
 */
static uint8_t kept_kind(const struct tdm_parser *parser, const TSTreeCursor *cursor, bool in_error, uint8_t *role)
{
	TSSymbol symbol = ts_node_symbol(ts_tree_cursor_current_node(cursor));
	uint8_t kind = symbol < parser->symbol_count ? parser->kinds[symbol] : TDM_SYN_ERROR;
	if (kind == SKIPPED)
		return SKIPPED;
	TSFieldId field = in_error ? 0 : ts_tree_cursor_current_field_id(cursor);
	*role = field < parser->field_count ? parser->roles[field] : TDM_ROLE_NONE;
	return kind == TDM_SYN_TOKEN && *role == TDM_ROLE_NONE ? SKIPPED : kind;
}

static int add_node(struct tdm_syntax *syntax, TSNode node, uint8_t kind, uint8_t role)
{
	if (syntax->count == TDM_NODE_NONE - 1)
		return -EFBIG;
	int err = tdm_reserve(&syntax->nodes, &syntax->cap, (size_t)syntax->count + 1, sizeof *syntax->nodes);
	if (err != 0)
		return err;
	uint32_t start = ts_node_start_byte(node);
	syntax->nodes[syntax->count++] =
		(struct tdm_node){ .kind = kind, .role = role, .start = start, .end = ts_node_end_byte(node) };
	if (kind == TDM_SYN_ERROR || ts_node_is_missing(node)) {
		syntax->first_error_byte = syntax->error_count == 0 ? start : syntax->first_error_byte;
		syntax->error_count++;
	}
	return 0;
}

/* The kept nodes that the cursor is below. */
struct path {
	uint32_t *open; /* TDM_NODE_NONE: one that was not kept */
	size_t cap, depth;
};

static void close_node(struct tdm_syntax *syntax, struct path *path)
{
	uint32_t node = path->open[--path->depth];
	if (node != TDM_NODE_NONE)
		syntax->nodes[node].next = syntax->count;
}

/* Keeps the cursor's node if it is to be kept, and opens it. 1: its children follow; 0: it has none that matter. */
static int enter_node(
	struct tdm_syntax *syntax, const struct tdm_parser *parser, struct path *path, TSTreeCursor *cursor)
{
	uint32_t parent = path->depth != 0 ? path->open[path->depth - 1] : TDM_NODE_NONE;
	bool in_error = parent != TDM_NODE_NONE && syntax->nodes[parent].kind == TDM_SYN_ERROR;
	uint8_t role = TDM_ROLE_NONE, kind = kept_kind(parser, cursor, in_error, &role);
	int err = tdm_reserve(&path->open, &path->cap, path->depth + 1, sizeof *path->open);
	if (err == 0 && kind != SKIPPED)
		err = add_node(syntax, ts_tree_cursor_current_node(cursor), kind, role);
	if (err != 0)
		return err;
	path->open[path->depth++] = kind != SKIPPED ? syntax->count - 1 : TDM_NODE_NONE;
	return kind != SKIPPED;
}

/* The clock is for trees in which the cursor needs long for each node. */
static int keep_nodes(
	struct tdm_syntax *syntax, const struct tdm_parser *parser, struct path *path, TSTreeCursor *cursor)
{
	uint64_t start = tdm_clock_ns(), limit = limit_of(parser, syntax->text);
	for (uint32_t turn = 1;; turn++) {
		if (turn % CLOCK_TURNS == 0 && (tdm_clock_ns() - start) / 1000 > limit)
			return -ECANCELED;
		int entered = enter_node(syntax, parser, path, cursor);
		if (entered < 0)
			return entered;
		if (entered == 1 && ts_tree_cursor_goto_first_child(cursor))
			continue;
		close_node(syntax, path);
		while (!ts_tree_cursor_goto_next_sibling(cursor)) {
			if (path->depth == 0 || !ts_tree_cursor_goto_parent(cursor))
				return 0;
			close_node(syntax, path);
		}
	}
}

static TSTree *parse(struct tdm_parser *parser, struct tdm_str text, int *err)
{
	TSTree *tree = NULL;
	*err = text.len > UINT32_MAX / 2 ? -EFBIG : 0;
	if (*err != 0)
		return NULL;
	ts_parser_set_timeout_micros(parser->parser, limit_of(parser, text));
	tree = ts_parser_parse_string(parser->parser, NULL, text.ptr, (uint32_t)text.len);
	if (tree == NULL) {
		ts_parser_reset(parser->parser); /* a parser that was stopped would go on with the old text */
		*err = -ECANCELED;
	}
	return tree;
}

int tdm_syntax_parse(struct tdm_syntax *syntax, struct tdm_parser *parser, struct tdm_str text)
{
	int err;
	syntax->text = text;
	syntax->count = syntax->error_count = syntax->first_error_byte = 0;
	TSTree *tree = parse(parser, text, &err);
	if (tree == NULL)
		return err;
	struct path path = { 0 };
	TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
	err = tdm_reserve(&syntax->nodes, &syntax->cap, text.len / NODES_PER_BYTE_INVERSE + 1, sizeof *syntax->nodes);
	if (err == 0)
		err = keep_nodes(syntax, parser, &path, &cursor);
	ts_tree_cursor_delete(&cursor);
	ts_tree_delete(tree);
	free(path.open);
	return err;
}

int tdm_syntax_parse_only(struct tdm_parser *parser, struct tdm_str text, bool *has_error)
{
	int err;
	TSTree *tree = parse(parser, text, &err);
	if (tree != NULL && has_error != NULL)
		*has_error = ts_node_has_error(ts_tree_root_node(tree));
	ts_tree_delete(tree);
	return err;
}

void tdm_syntax_done(struct tdm_syntax *syntax)
{
	free(syntax->nodes);
	*syntax = (struct tdm_syntax){ 0 };
}

uint32_t tdm_node_with_role(const struct tdm_syntax *syntax, uint32_t parent, enum tdm_syntax_role role)
{
	for (TDM_NODE_CHILDREN(child, syntax, parent))
		if (syntax->nodes[child].role == role)
			return child;
	return TDM_NODE_NONE;
}

uint32_t tdm_node_of_kind(const struct tdm_syntax *syntax, uint32_t parent, enum tdm_syntax_kind kind)
{
	for (TDM_NODE_CHILDREN(child, syntax, parent))
		if (syntax->nodes[child].kind == kind)
			return child;
	return TDM_NODE_NONE;
}

uint32_t tdm_node_child_count(const struct tdm_syntax *syntax, uint32_t parent)
{
	uint32_t count = 0;
	for (TDM_NODE_CHILDREN(child, syntax, parent))
		count++;
	return count;
}

uint32_t tdm_node_child(const struct tdm_syntax *syntax, uint32_t parent, uint32_t place)
{
	for (TDM_NODE_CHILDREN(child, syntax, parent))
		if (place-- == 0)
			return child;
	return TDM_NODE_NONE;
}

bool tdm_node_has_error(const struct tdm_syntax *syntax, uint32_t node)
{
	for (uint32_t i = node; i < syntax->count && i < syntax->nodes[node].next; i++)
		if (syntax->nodes[i].kind == TDM_SYN_ERROR)
			return true;
	return false;
}

const char *tdm_syntax_kind_name(enum tdm_syntax_kind kind)
{
	static const char *const names[] = { "other", "error", "token",
#define X(name) #name,
		TDM_SYNTAX_KINDS(X)
#undef X
	};
	return kind < TDM_SYN_COUNT ? names[kind] : "other";
}
