/*
 * An index of definitions by name. Definitions whose names have equal hashes form a chain, latest first. They are found
 * in the tokens and parsed on first use: a function or an enum as written, a constant or macro as the value of a
 * variable.
 */
#include "scan/front/project.h"

#include <stdlib.h>

#include "base/memory.h"
#include "scan/front/lexer.h"

/* ---- definitions ---- */

void tdm_project_done(struct tdm_project *project)
{
	for (size_t i = 0; i < project->first_count; i++)
		for (struct tdm_definition *d = project->firsts[i]; d != NULL; d = d->next)
			if (d->piece != NULL)
				tdm_syntax_done(d->piece);
	free(project->firsts);
	tdm_map_done(&project->by_name);
	tdm_map_done(&project->calls);
	tdm_arena_done(&project->arena);
	pthread_mutex_destroy(&project->lock);
	*project = (struct tdm_project){ 0 };
}

const char *tdm_project_base(const struct tdm_project *project, uint32_t file)
{
	const char *slash = strrchr(project->files[file].path, '/');
	return slash != NULL ? slash + 1 : project->files[file].path;
}

bool tdm_project_is_header(const struct tdm_project *project, uint32_t file)
{
	const char *dot = strrchr(tdm_project_base(project, file), '.');
	return dot != NULL && (dot[1] == 'h' || dot[1] == 'i');
}

/*
 * The key of a definition: the name, together with the file if other files cannot see the definition. The file is
 * included for constants, enums and macros outside headers, because thousands of files may define the same names.
 */
static uint64_t key_of(
	const struct tdm_project *project, enum tdm_definition_kind kind, struct tdm_str name, uint32_t file)
{
	uint64_t hash = tdm_str_hash(name);
	if (kind == TDM_DEFINES_FUNCTION || tdm_project_is_header(project, file))
		return hash;
	return hash ^ (((uint64_t)file + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

static struct tdm_definition *find_key(const struct tdm_project *project, uint64_t key, struct tdm_str name)
{
	uint32_t place = tdm_map_find(&project->by_name, key);
	struct tdm_definition *d = place != TDM_MAP_NONE ? project->firsts[place] : NULL;
	while (d != NULL && !tdm_str_eq(d->name, name)) /* skip other names with the same hash */
		d = d->next;
	return d;
}

struct tdm_definition *tdm_project_find(const struct tdm_project *project, struct tdm_str name)
{
	return find_key(project, tdm_str_hash(name), name);
}

struct tdm_definition *tdm_project_find_own(const struct tdm_project *project, struct tdm_str name, uint32_t file)
{
	return find_key(project, key_of(project, TDM_DEFINES_CONSTANT, name, file), name);
}

struct tdm_definition *tdm_definition_next(const struct tdm_definition *definition)
{
	struct tdm_definition *d = definition->next;
	while (d != NULL && !tdm_str_eq(d->name, definition->name))
		d = d->next;
	return d;
}

uint32_t tdm_project_call_count(const struct tdm_project *project, struct tdm_str name)
{
	uint32_t count = tdm_map_find(&project->calls, tdm_str_hash(name));
	return count != TDM_MAP_NONE ? count : 0;
}

const struct tdm_syntax *tdm_project_parse(
	struct tdm_project *project, struct tdm_definition *definition, struct tdm_parser *parser)
{
	bool is_value = definition->kind == TDM_DEFINES_CONSTANT || definition->kind == TDM_DEFINES_MACRO;
	pthread_mutex_lock(&project->lock);
	if (definition->piece == NULL) {
		struct tdm_syntax *piece = tdm_arena_take(&project->arena, sizeof *piece);
		const char *text = tdm_arena_printed(&project->arena, "%s%.*s%s", is_value ? "auto tdm_value = " : "",
			TDM_STR_ARG(definition->text), definition->kind != TDM_DEFINES_FUNCTION ? ";" : "");
		if (tdm_syntax_parse(piece, parser, tdm_str_of(text)) == 0)
			definition->piece = piece;
		else
			tdm_syntax_done(piece);
	}
	const struct tdm_syntax *piece = definition->piece;
	pthread_mutex_unlock(&project->lock);
	return piece;
}

/* ---- finding definitions ----
 *
 * Definitions are found by their tokens. Braces of namespaces and classes are transparent, so their contents are
 * searched; other braces are skipped. At a transparent level, the tokens from the end of one statement up to the next
 * brace or semicolon are a head, which shows what is defined:
 *
 *     inline CBHandle create_cb(Program& program, uint32_t index) {      name before the first bracket: a function
 *     constexpr uint32_t kPages = 2 ;                                    name before '=': a constant
 *     enum class Mode : uint8_t {                                        an enum
 */
enum { LEVELS_MAX = 256, VALUE_MAX = 4096, FUNCTION_MAX = 1 << 14 };

/* The current head. */
struct head {
	uint32_t start;                /* index of the first token; UINT32_MAX if the head is empty */
	struct tdm_str name;           /* the last name outside brackets */
	struct tdm_str function;       /* the name before the first bracket */
	struct tdm_str constant;       /* the name before '=' or before the brace of the value */
	uint32_t parameters, defaults; /* the function's parameters and default values counted so far */
	uint32_t angles;               /* open '<' in the parameter list */
	bool in_parameters;            /* the parameter list is open */
	struct tdm_str tag;            /* the name of an enum: the first one after the keyword */
	uint32_t value;                /* byte offset at which the value begins */
	bool is_namespace, is_class, is_enum, is_enum_class, is_constant, is_static, is_template, is_alias;
};

struct finder {
	struct tdm_project *project;
	uint32_t file;
	const struct tdm_tokens *tokens;
	size_t at; /* index of the next token to read */
	struct head head;
	bool is_hidden[LEVELS_MAX]; /* levels in an unnamed namespace */
	bool is_class[LEVELS_MAX];
	uint32_t level;    /* depth of braces */
	uint32_t brackets; /* open round brackets in the head */
};

static void begin_head(struct finder *finder)
{
	finder->head = (struct head){ .start = UINT32_MAX };
	finder->brackets = 0;
}

/* `text` is copied unless it is already in the project's arena. */
static void add(
	struct finder *finder, enum tdm_definition_kind kind, struct tdm_str name, struct tdm_str text, bool is_copied)
{
	struct tdm_project *project = finder->project;
	uint64_t hash = key_of(project, kind, name, finder->file);
	uint32_t place = tdm_map_find(&project->by_name, hash);
	struct tdm_definition *before = place != TDM_MAP_NONE ? project->firsts[place] : NULL;
	uint32_t rank = before != NULL ? before->rank + 1 : 0;
	if (name.len == 0 || rank >= TDM_DEFINITIONS_MAX)
		return;
	struct tdm_definition *d = tdm_arena_take(&project->arena, sizeof *d);
	*d = (struct tdm_definition){
		.name = tdm_arena_str(&project->arena, name),
		.kind = (uint8_t)kind,
		.is_private = (finder->head.is_static && !finder->is_class[finder->level]) ||
			      finder->is_hidden[finder->level],
		.is_template = finder->head.is_template,
		.least = finder->head.parameters - finder->head.defaults,
		.most = finder->head.parameters,
		.file = finder->file,
		.next = before,
		.rank = rank,
		.text = is_copied ? tdm_arena_str(&project->arena, text) : text,
	};
	if (before == NULL) {
		place = (uint32_t)project->first_count;
		tdm_grow(&project->firsts, &project->first_cap, ++project->first_count, sizeof *project->firsts);
		tdm_map_set(&project->by_name, hash, place);
	}
	project->firsts[place] = d;
}

/* A piece of the file's text. */
static struct tdm_str span(const struct finder *finder, uint32_t start, uint32_t end)
{
	return (struct tdm_str){ finder->tokens->text.ptr + start, end - start };
}

static bool is_mark(const struct tdm_token *token, char mark)
{
	return token->kind == TDM_TOKEN_MARK && token->mark == mark;
}

/* Skips to the brace that closes the one just read, and returns the end of that brace. *creates: whether a name within
 * the braces creates something. */
static uint32_t skip_braces(struct finder *finder, bool *creates)
{
	uint32_t depth = 1;
	const struct tdm_token *token;
	for (;; finder->at++) {
		token = &finder->tokens->list[finder->at];
		if (token->kind == TDM_TOKEN_END)
			return token->end;
		*creates |= token->sense != TDM_SENSE_NONE && token->sense != TDM_SENSE_DEVICE;
		if (token->sense == TDM_SENSE_HELPER && token[1].start == token->end && is_mark(&token[1], '(')) {
			uint64_t hash = tdm_str_hash(span(finder, token->start, token->end));
			uint32_t count = tdm_map_find(&finder->project->calls, hash);
			tdm_map_set(&finder->project->calls, hash,
				count != TDM_MAP_NONE ? count + (count < UINT32_MAX - 1) : 1);
		}
		depth += is_mark(token, '{');
		depth -= is_mark(token, '}');
		if (depth == 0)
			break;
	}
	finder->at++;
	return token->end;
}

/* Adds an enum and, unless it is an enum class, its enumerators, which can be used without the enum's name. `first`:
 * the token after the opening brace. */
static void add_enum(struct finder *finder, size_t first, uint32_t end)
{
	const struct head *head = &finder->head;
	/* one copy for all enumerators */
	struct tdm_str text = tdm_arena_str(&finder->project->arena, span(finder, head->start, end));
	bool is_start = true;
	add(finder, TDM_DEFINES_ENUM, head->tag.len != 0 ? head->tag : head->name, text, false);
	for (size_t i = first; i < finder->at && !head->is_enum_class; i++) {
		const struct tdm_token *token = &finder->tokens->list[i];
		if (token->kind == TDM_TOKEN_NAME && is_start && text.len <= VALUE_MAX)
			add(finder, TDM_DEFINES_ENUM, span(finder, token->start, token->end), text, false);
		is_start = is_mark(token, ',');
	}
}

/* Handles an opening brace at a transparent level. */
static void open_brace(struct finder *finder, struct tdm_token brace)
{
	struct head *head = &finder->head;
	if (finder->brackets != 0) { /* a braced list among the arguments */
		bool ignored = true;
		skip_braces(finder, &ignored);
		return;
	}
	bool is_function = head->function.len != 0 && head->constant.len == 0;
	if (head->is_namespace || (head->is_class && !is_function)) {
		if (finder->level + 1 >= LEVELS_MAX)
			return;
		bool is_hidden = head->is_namespace && head->name.len == 0;
		finder->level++;
		finder->is_class[finder->level] = head->is_class;
		finder->is_hidden[finder->level] = is_hidden || finder->is_hidden[finder->level - 1];
		begin_head(finder);
		return;
	}
	bool creates = false;
	if (!is_function && head->constant.len == 0 && head->is_constant) {
		head->constant = head->name;
		head->value = brace.start;
	}
	size_t first = finder->at;
	uint32_t end = skip_braces(finder, &creates);
	if (head->is_enum)
		add_enum(finder, first, end);
	else if (is_function && creates && end - head->start <= FUNCTION_MAX)
		add(finder, TDM_DEFINES_FUNCTION, head->function, span(finder, head->start, end), true);
	if (is_function || head->is_enum)
		begin_head(finder);
}

/* #define NAME value */
static void read_directive(struct finder *finder, struct tdm_token token)
{
	struct tdm_lexer line;
	tdm_lexer_init(&line, span(finder, token.start, token.end));
	line.at = 1; /* begin after the '#' */
	line.at_line_start = false;
	struct tdm_token word = tdm_lexer_next(&line);
	if (word.kind != TDM_TOKEN_NAME || !tdm_str_is(tdm_token_text(&line, word), "define"))
		return;
	struct tdm_token name = tdm_lexer_next(&line);
	bool is_plain = name.kind == TDM_TOKEN_NAME && name.end < line.len && line.text[name.end] != '(';
	struct tdm_str value =
		tdm_str_trim((struct tdm_str){ line.text + name.end, is_plain ? line.len - name.end : 0 });
	if (is_plain && value.len != 0 && value.len <= VALUE_MAX)
		add(finder, TDM_DEFINES_MACRO, tdm_token_text(&line, name), value, true);
}

static void read_name(struct finder *finder, struct tdm_token token)
{
	struct head *head = &finder->head;
	struct tdm_str name = span(finder, token.start, token.end);
	if (finder->brackets != 0)
		return;
	if (tdm_str_is(name, "namespace"))
		head->is_namespace = true;
	else if (tdm_str_is(name, "enum"))
		head->is_enum = true;
	else if (tdm_is_one_of(name, "class struct union"))
		*(head->is_enum ? &head->is_enum_class : &head->is_class) = true;
	else if (tdm_is_one_of(name, "constexpr const constinit"))
		head->is_constant = true;
	else if (tdm_str_is(name, "static"))
		head->is_static = true;
	else if (tdm_str_is(name, "template"))
		head->is_template = true;
	else if (tdm_is_one_of(name, "using typedef"))
		head->is_alias = true;
	else {
		head->name = name;
		if (head->is_enum && head->tag.len == 0)
			head->tag = name;
	}
}

/* Counts parameters: one for the first token in the list, and one for each comma outside brackets. */
static void count_parameter(struct finder *finder, struct tdm_token token)
{
	struct head *head = &finder->head;
	bool is_mark = token.kind == TDM_TOKEN_MARK;
	if (!head->in_parameters || finder->brackets != 1 || (is_mark && token.mark == ')'))
		return;
	head->parameters += head->parameters == 0;
	if (is_mark && token.mark == '<')
		head->angles++;
	else if (is_mark && token.mark == '>' && token.end - token.start == 1)
		head->angles -= head->angles != 0;
	else if (is_mark && token.mark == ',' && head->angles == 0)
		head->parameters++;
	else if (is_mark && token.mark == '=' && head->angles == 0)
		head->defaults += head->defaults < head->parameters;
}

static void read_mark(struct finder *finder, struct tdm_token token)
{
	struct head *head = &finder->head;
	switch (token.mark) {
	case '(':
		if (finder->brackets++ == 0 && head->function.len == 0 && head->constant.len == 0) {
			head->function = head->name;
			head->in_parameters = true;
		}
		break;
	case ')':
		finder->brackets -= finder->brackets != 0;
		head->in_parameters &= finder->brackets != 0;
		break;
	case '=':
		if (finder->brackets == 0 && head->constant.len == 0 && head->function.len == 0) {
			head->constant = head->name;
			head->value = token.end;
		}
		break;
	case '{':
		open_brace(finder, token);
		break;
	case '}':
		finder->level -= finder->level != 0;
		begin_head(finder);
		break;
	case ':': /* "public:" */
		if (token.end - token.start == 1 && tdm_is_one_of(head->name, "public private protected"))
			begin_head(finder);
		break;
	case ';':
		if (finder->brackets != 0)
			break;
		if (head->is_constant && head->constant.len != 0 && !head->is_alias && !head->is_template &&
			token.start > head->value && token.start - head->value <= VALUE_MAX)
			add(finder, TDM_DEFINES_CONSTANT, head->constant,
				tdm_str_trim(span(finder, head->value, token.start)), true);
		begin_head(finder);
		break;
	default:
		break;
	}
}

void tdm_project_add(struct tdm_project *project, uint32_t file, const struct tdm_tokens *tokens)
{
	struct finder finder = { .project = project, .file = file, .tokens = tokens };
	begin_head(&finder);
	while (tokens->list[finder.at].kind != TDM_TOKEN_END) {
		struct tdm_token token = tokens->list[finder.at++];
		if (token.kind == TDM_TOKEN_DIRECTIVE) {
			read_directive(&finder, token);
			continue;
		}
		if (finder.head.start == UINT32_MAX)
			finder.head.start = token.start;
		count_parameter(&finder, token);
		if (token.kind == TDM_TOKEN_NAME)
			read_name(&finder, token);
		else if (token.kind == TDM_TOKEN_MARK)
			read_mark(&finder, token);
	}
}
