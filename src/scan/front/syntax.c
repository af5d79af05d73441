/*
 * Stores tree-sitter's tree as a flat list. A cursor visits the tree once; a path of open nodes turns the cursor's
 * depth into each node's `next`. Tables by symbol and by field map the grammar's names to our numbers.
 */
#include "scan/front/syntax.h"

#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>
#include <tree_sitter/api.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/arena.h"

/* ---- memory ----
 *
 * tree-sitter 0.20 counts the children of a node in 16 bits. A text that ends with more than 65,535 open constructs
 * yields an error node with more children than that. The library then miscalculates the start of the child array, by a
 * multiple of 65,536 places, and frees an address in the middle of the array. Therefore, every block begins with its
 * own address, which leads back to the correct start:
 *
 *     block ── own address │ child 0 … child 65,535 │ child 65,536 …
 *                                                   └ freed by the library
 *
 * The uncounted children are not seen, and their memory is not freed: a small loss for a text that is not source code.
 */
struct block {
	alignas(max_align_t) struct block *self;
};

enum { WRONG_STEP = 65536 * sizeof(void *) }; /* size of 65,536 children */

static void *take(size_t size)
{
	struct block *block = tdm_alloc(sizeof *block + size);
	block->self = block;
	return block + 1;
}

static void *take_zeroed(size_t count, size_t size)
{
	return memset(take(count * size), 0, count * size);
}

static struct block *block_of(void *memory)
{
	struct block *block = (struct block *)memory - 1;
	while (block->self != block)
		block = (struct block *)(void *)((char *)block - WRONG_STEP);
	return block;
}

static void *resize(void *memory, size_t size)
{
	if (memory == NULL)
		return take(size);
	struct block *block = tdm_realloc(block_of(memory), 1, sizeof *block + size);
	block->self = block;
	return block + 1;
}

static void give_back(void *memory)
{
	if (memory != NULL)
		free(block_of(memory));
}

static void set_allocator(void)
{
	ts_set_allocator(take, take_zeroed, resize, give_back);
}

/* ---- the parser ---- */

const TSLanguage *tree_sitter_cpp(void);
const TSLanguage *tree_sitter_python(void);

enum {
	NODES_PER_BYTE_INVERSE = 6, /* roughly one node per this many bytes of text */
	CLOCK_TURNS = 1024,         /* nodes between checks of the clock */
};

/* A node kind that is not kept. */
enum { SKIPPED = UINT8_MAX };

struct tdm_parser {
	TSParser *parser;
	/* by symbol: enum tdm_syntax_kind, TDM_SYN_TOKEN for a symbol without a name, SKIPPED for comments */
	uint8_t *kinds;
	uint8_t *roles; /* by field: enum tdm_syntax_role */
	uint32_t symbol_count, field_count;
	uint64_t micros; /* time limit per text; 0 for a limit based on its length */
};

static const char *const kind_names[] = {
#define X(name) [TDM_SYN_##name] = #name,
	TDM_SYNTAX_KINDS(X)
#undef X
};

static const char *const role_names[] = {
#define X(name) [TDM_ROLE_##name] = #name,
	TDM_SYNTAX_ROLES(X)
#undef X
};

/* The index of a name in a list; 0 if not found. */
static uint8_t place_of(const char *name, const char *const *names, size_t count)
{
	for (uint8_t i = 0; i < count && name != NULL; i++)
		if (names[i] != NULL && strcmp(names[i], name) == 0)
			return i;
	return 0;
}

static uint8_t kind_of(const char *name)
{
	if (strcmp(name, "comment") == 0)
		return SKIPPED;
	if (strcmp(name, "ERROR") == 0)
		return TDM_SYN_ERROR;
	return place_of(name, kind_names, TDM_SYN_COUNT);
}

/* Whether an unnamed token may have a role: an operator, not a bracket, comma or keyword. */
static bool is_operator(const char *token)
{
	return strcmp(token, "not in") == 0 || strcmp(token, "is not") == 0 ||
	       tdm_is_one_of(tdm_str_of(token), "and or not in is xor bitand bitor compl") ||
	       (token[0] != '\0' && strchr("+-*/%<>=!&|^~?.@", token[0]) != NULL);
}

struct tdm_parser *tdm_parser_new(enum tdm_language language, uint64_t micros)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const TSLanguage *grammar = language == TDM_LANGUAGE_PYTHON ? tree_sitter_python() : tree_sitter_cpp();
	struct tdm_parser *parser = tdm_zalloc(1, sizeof *parser);
	pthread_once(&once, set_allocator);
	parser->micros = micros;
	parser->parser = ts_parser_new();
	ts_parser_set_language(parser->parser, grammar);
	parser->symbol_count = ts_language_symbol_count(grammar);
	parser->field_count = ts_language_field_count(grammar) + 1; /* fields are numbered from 1 */
	parser->kinds = tdm_zalloc(parser->symbol_count, 1);
	parser->roles = tdm_zalloc(parser->field_count, 1);
	for (uint32_t i = 0; i < parser->symbol_count; i++) {
		bool is_named = ts_language_symbol_type(grammar, (TSSymbol)i) == TSSymbolTypeRegular;
		const char *name = ts_language_symbol_name(grammar, (TSSymbol)i);
		parser->kinds[i] = is_named ? kind_of(name) : is_operator(name) ? TDM_SYN_TOKEN : SKIPPED;
	}
	for (uint32_t i = 1; i < parser->field_count; i++)
		parser->roles[i] =
			place_of(ts_language_field_name_for_id(grammar, (TSFieldId)i), role_names, TDM_ROLE_COUNT);
	return parser;
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
 * Keeps the nodes that the cursor visits.
 *
 * To find a role, the cursor goes up through all unnamed nodes to the parent. Below an error, there can be as many
 * unnamed nodes as preceding children, because the parser does not balance such nodes; therefore, nothing below an
 * error gets a role. The time limit guards against trees in which the cursor is slow.
 */
static int keep_nodes(struct tdm_syntax *syntax, const struct tdm_parser *parser, TSTreeCursor *cursor)
{
	uint64_t start = tdm_clock_ns(), limit = limit_of(parser, syntax->text);
	uint32_t *open = NULL; /* the nodes above the cursor; TDM_NODE_NONE for a node that was not kept */
	size_t cap = 0, depth = 0;
	int err = 0;
	for (uint32_t turn = 1;; turn++) {
		uint32_t parent = depth != 0 ? open[depth - 1] : TDM_NODE_NONE;
		bool in_error = parent != TDM_NODE_NONE && syntax->nodes[parent].kind == TDM_SYN_ERROR;
		TSNode node = ts_tree_cursor_current_node(cursor);
		TSSymbol symbol = ts_node_symbol(node);
		uint8_t kind = symbol < parser->symbol_count ? parser->kinds[symbol] : TDM_SYN_ERROR;
		TSFieldId field = in_error || kind == SKIPPED ? 0 : ts_tree_cursor_current_field_id(cursor);
		uint8_t role = field < parser->field_count ? parser->roles[field] : TDM_ROLE_NONE;
		bool is_kept = kind != SKIPPED && (kind != TDM_SYN_TOKEN || role != TDM_ROLE_NONE);
		if (turn % CLOCK_TURNS == 0 && (tdm_clock_ns() - start) / 1000 > limit)
			err = -ECANCELED;
		if (syntax->count == TDM_NODE_NONE - 1)
			err = -EFBIG;
		if (err != 0)
			break;
		tdm_grow(&open, &cap, depth + 1, sizeof *open);
		open[depth++] = is_kept ? syntax->count : TDM_NODE_NONE;
		if (is_kept) {
			uint32_t from = ts_node_start_byte(node), to = ts_node_end_byte(node);
			tdm_grow(&syntax->nodes, &syntax->cap, (size_t)syntax->count + 1, sizeof *syntax->nodes);
			syntax->nodes[syntax->count++] =
				(struct tdm_node){ .kind = kind, .role = role, .start = from, .end = to };
			if (kind == TDM_SYN_ERROR || ts_node_is_missing(node))
				syntax->first_error_byte = syntax->error_count++ == 0 ? from : syntax->first_error_byte;
			if (ts_tree_cursor_goto_first_child(cursor))
				continue;
		}
		do {
			uint32_t done = open[--depth];
			if (done != TDM_NODE_NONE)
				syntax->nodes[done].next = syntax->count;
			if (ts_tree_cursor_goto_next_sibling(cursor))
				break;
		} while (depth != 0 && ts_tree_cursor_goto_parent(cursor));
		if (depth == 0)
			break;
	}
	free(open);
	return err;
}

static TSTree *parse(struct tdm_parser *parser, struct tdm_str text, int *err)
{
	*err = text.len > UINT32_MAX / 2 ? -EFBIG : 0;
	if (*err != 0)
		return NULL;
	ts_parser_set_timeout_micros(parser->parser, limit_of(parser, text));
	TSTree *tree = ts_parser_parse_string(parser->parser, NULL, text.ptr, (uint32_t)text.len);
	if (tree == NULL) {
		ts_parser_reset(parser->parser); /* otherwise, the parser would continue with the old text */
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
	TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
	tdm_grow(&syntax->nodes, &syntax->cap, text.len / NODES_PER_BYTE_INVERSE + 1, sizeof *syntax->nodes);
	err = keep_nodes(syntax, parser, &cursor);
	ts_tree_cursor_delete(&cursor);
	ts_tree_delete(tree);
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

uint32_t tdm_node_part(const struct tdm_syntax *syntax, uint32_t parent, enum tdm_syntax_role role)
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
