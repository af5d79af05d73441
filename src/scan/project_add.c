/*
 * Finds definitions in a text by its tokens. Braces of namespaces and classes are transparent: what is in them is
 * looked at; every other brace is closed. What stands between two statements of a transparent level, up to the brace or
 * the semicolon that ends it, is a head, and says what is defined:
 *
 *     inline CBHandle create_cb(Program& program, uint32_t index) {      name before the first bracket: a function
 *     constexpr uint32_t kPages = 2 ;                                    name before '=': a constant
 *     enum class Mode : uint8_t {                                        an enum
 */
#include <errno.h>
#include <stdlib.h>

#include "base/reserve.h"
#include "scan/lexer.h"
#include "scan/place.h"
#include "scan/project.h"

enum { LEVELS_MAX = 256, VALUE_MAX = 4096, FUNCTION_MAX = 1 << 14 };

/* What is known of the head so far. */
struct head {
	uint32_t start;                /* its first token; UINT32_MAX: none yet */
	struct tdm_str name;           /* the last name outside of brackets */
	struct tdm_str function;       /* the name before the first bracket */
	struct tdm_str constant;       /* the name before '=' or the brace of its value */
	uint32_t parameters, defaults; /* of the function, so far */
	uint32_t angles;               /* open '<' in its list of parameters */
	bool in_parameters;            /* the list is open */
	struct tdm_str tag;            /* of an enum: the first name after the word */
	uint32_t value;                /* where the value begins */
	bool is_namespace, is_class, is_enum, is_enum_class, is_constant, is_static, is_template, is_alias;
};

struct finder {
	struct tdm_project *project;
	uint32_t file;
	struct tdm_str text;
	struct tdm_lexer lexer;
	struct head head;
	bool is_hidden[LEVELS_MAX]; /* in a namespace without a name */
	bool is_class[LEVELS_MAX];
	uint32_t level;    /* of braces */
	uint32_t brackets; /* open round ones in the head */
	int err;
};

static void begin_head(struct finder *finder)
{
	finder->head = (struct head){ .start = UINT32_MAX };
	finder->brackets = 0;
}

/* The text is the project's own. */
static void add_own(struct finder *finder, enum tdm_definition_kind kind, struct tdm_str name, struct tdm_str text)
{
	struct tdm_project *project = finder->project;
	uint64_t hash = tdm_definition_key(project, kind, name, finder->file);
	uint32_t place = tdm_map_find(&project->by_name, hash);
	struct tdm_definition *before = place != TDM_MAP_NONE ? project->firsts[place] : NULL;
	uint32_t rank = before != NULL ? before->rank + 1 : 0;
	bool is_wanted = name.len != 0 && rank < TDM_DEFINITIONS_MAX;
	struct tdm_definition *d = is_wanted ? tdm_arena_take(&project->arena, sizeof *d) : NULL;
	const char *own_name = d != NULL ? tdm_arena_text(&project->arena, name) : NULL;
	if (own_name == NULL) {
		finder->err = project->arena.failed ? -ENOMEM : finder->err;
		return;
	}
	*d = (struct tdm_definition){
		.name = { own_name, name.len },
		.kind = (uint8_t)kind,
		.is_private = (finder->head.is_static && !finder->is_class[finder->level]) ||
			      finder->is_hidden[finder->level],
		.is_template = finder->head.is_template,
		.least = finder->head.parameters - finder->head.defaults,
		.most = finder->head.parameters,
		.file = finder->file,
		.next = before,
		.rank = rank,
		.text = text,
	};
	if (before != NULL) {
		project->firsts[place] = d;
		return;
	}
	finder->err =
		tdm_reserve(&project->firsts, &project->first_cap, project->first_count + 1, sizeof *project->firsts);
	if (finder->err == 0)
		finder->err = tdm_map_put(&project->by_name, hash, (uint32_t)project->first_count);
	if (finder->err == 0)
		project->firsts[project->first_count++] = d;
}

static struct tdm_str keep(struct finder *finder, struct tdm_str text)
{
	const char *copy = tdm_arena_text(&finder->project->arena, text);
	finder->err = copy != NULL ? finder->err : -ENOMEM;
	return (struct tdm_str){ copy != NULL ? copy : "", copy != NULL ? text.len : 0 };
}

static void add(struct finder *finder, enum tdm_definition_kind kind, struct tdm_str name, struct tdm_str text)
{
	if (name.len != 0)
		add_own(finder, kind, name, keep(finder, text));
}

static struct tdm_str span(const struct finder *finder, uint32_t start, uint32_t end)
{
	return (struct tdm_str){ finder->text.ptr + start, end - start };
}

static void count_call(struct finder *finder, struct tdm_str name)
{
	uint64_t hash = tdm_str_hash(name);
	uint32_t count = tdm_map_find(&finder->project->calls, hash);
	int err = tdm_map_put(
		&finder->project->calls, hash, count != TDM_MAP_NONE ? count + (count < UINT32_MAX - 1) : 1);
	finder->err = finder->err != 0 ? finder->err : err;
}

/* Goes on to the brace that closes the one just read. *creates: whether a name that creates something is in between. */
static uint32_t skip_braces(struct finder *finder, bool *creates)
{
	uint32_t depth = 1;
	struct tdm_token token;
	for (token = tdm_lexer_next(&finder->lexer); token.kind != TDM_TOKEN_END;
		token = tdm_lexer_next(&finder->lexer)) {
		if (token.kind == TDM_TOKEN_NAME) {
			struct tdm_str name = tdm_token_text(&finder->lexer, token);
			uint8_t sense = tdm_name_meaning(name).sense;
			*creates |= sense == TDM_SENSE_TYPE || sense == TDM_SENSE_HELPER || sense == TDM_SENSE_KERNEL;
			if (sense == TDM_SENSE_HELPER && token.end < finder->text.len &&
				finder->text.ptr[token.end] == '(')
				count_call(finder, name);
		} else if (token.kind == TDM_TOKEN_MARK && token.mark == '{') {
			depth++;
		} else if (token.kind == TDM_TOKEN_MARK && token.mark == '}' && --depth == 0) {
			break;
		}
	}
	return token.end;
}

/* An enum by its name, and its enumerators, which code names without it unless it is a class. */
static void add_enum(struct finder *finder, struct tdm_token brace, uint32_t end)
{
	const struct head *head = &finder->head;
	struct tdm_str text = keep(finder, span(finder, head->start, end)); /* once for all enumerators */
	struct tdm_lexer body;
	bool is_start = true;
	add_own(finder, TDM_DEFINES_ENUM, head->tag.len != 0 ? head->tag : head->name, text);
	tdm_lexer_init(&body, span(finder, brace.end, end));
	for (struct tdm_token token = tdm_lexer_next(&body); token.kind != TDM_TOKEN_END && !head->is_enum_class;
		token = tdm_lexer_next(&body)) {
		if (token.kind == TDM_TOKEN_NAME && is_start && text.len <= VALUE_MAX)
			add_own(finder, TDM_DEFINES_ENUM, tdm_token_text(&body, token), text);
		is_start = token.kind == TDM_TOKEN_MARK && token.mark == ',';
	}
}

static void open_level(struct finder *finder, bool is_hidden, bool is_class)
{
	if (finder->level + 1 >= LEVELS_MAX)
		return;
	finder->level++;
	finder->is_class[finder->level] = is_class;
	finder->is_hidden[finder->level] = is_hidden || finder->is_hidden[finder->level - 1];
	begin_head(finder);
}

/* A brace at a transparent level. */
static void open_brace(struct finder *finder, struct tdm_token brace)
{
	struct head *head = &finder->head;
	if (finder->brackets != 0) { /* a list among the arguments */
		bool ignored = true;
		skip_braces(finder, &ignored);
		return;
	}
	bool is_function = head->function.len != 0 && head->constant.len == 0;
	if (head->is_namespace || (head->is_class && !is_function)) {
		open_level(finder, head->is_namespace && head->name.len == 0, head->is_class);
		return;
	}
	bool creates = false;
	if (!is_function && head->constant.len == 0 && head->is_constant) {
		head->constant = head->name;
		head->value = brace.start;
	}
	uint32_t end = skip_braces(finder, &creates);
	if (head->is_enum)
		add_enum(finder, brace, end);
	else if (is_function && creates && end - head->start <= FUNCTION_MAX)
		add(finder, TDM_DEFINES_FUNCTION, head->function, span(finder, head->start, end));
	if (is_function || head->is_enum)
		begin_head(finder);
}

static void end_statement(struct finder *finder, struct tdm_token end)
{
	struct head *head = &finder->head;
	bool is_value = head->is_constant && head->constant.len != 0 && !head->is_alias && !head->is_template &&
			end.start > head->value && end.start - head->value <= VALUE_MAX;
	if (is_value)
		add(finder, TDM_DEFINES_CONSTANT, head->constant, tdm_str_trim(span(finder, head->value, end.start)));
	begin_head(finder);
}

/* #define NAME value */
static void read_directive(struct finder *finder, struct tdm_token token)
{
	struct tdm_lexer line;
	tdm_lexer_init(&line, span(finder, token.start, token.end));
	line.at = 1; /* after the '#' */
	line.at_line_start = false;
	struct tdm_token word = tdm_lexer_next(&line);
	if (word.kind != TDM_TOKEN_NAME || !tdm_str_is(tdm_token_text(&line, word), "define"))
		return;
	struct tdm_token name = tdm_lexer_next(&line);
	bool is_plain = name.kind == TDM_TOKEN_NAME && name.end < line.len && line.text[name.end] != '(';
	struct tdm_str value =
		tdm_str_trim((struct tdm_str){ line.text + name.end, is_plain ? line.len - name.end : 0 });
	if (is_plain && value.len != 0 && value.len <= VALUE_MAX)
		add(finder, TDM_DEFINES_MACRO, tdm_token_text(&line, name), value);
}

static void read_name(struct finder *finder, struct tdm_token token)
{
	struct head *head = &finder->head;
	struct tdm_str name = tdm_token_text(&finder->lexer, token);
	if (finder->brackets != 0)
		return;
	if (tdm_str_is(name, "namespace"))
		head->is_namespace = true;
	else if (tdm_str_is(name, "enum"))
		head->is_enum = true;
	else if (tdm_str_is(name, "class") || tdm_str_is(name, "struct") || tdm_str_is(name, "union"))
		*(head->is_enum ? &head->is_enum_class : &head->is_class) = true;
	else if (tdm_str_is(name, "constexpr") || tdm_str_is(name, "const") || tdm_str_is(name, "constinit"))
		head->is_constant = true;
	else if (tdm_str_is(name, "static"))
		head->is_static = true;
	else if (tdm_str_is(name, "template"))
		head->is_template = true;
	else if (tdm_str_is(name, "using") || tdm_str_is(name, "typedef"))
		head->is_alias = true;
	else {
		head->name = name;
		if (head->is_enum && head->tag.len == 0)
			head->tag = name;
	}
}

static bool is_access(struct tdm_str name)
{
	return tdm_str_is(name, "public") || tdm_str_is(name, "private") || tdm_str_is(name, "protected");
}

/* Counts parameters by what is between them: the first token of the list is one, and each comma outside of brackets. */
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
		if (token.end - token.start == 1 && is_access(head->name))
			begin_head(finder);
		break;
	case ';':
		if (finder->brackets == 0)
			end_statement(finder, token);
		break;
	default:
		break;
	}
}

int tdm_project_add(struct tdm_project *project, uint32_t file, struct tdm_str text)
{
	struct finder finder = { .project = project, .file = file, .text = text };
	tdm_lexer_init(&finder.lexer, text);
	begin_head(&finder);
	for (;;) {
		struct tdm_token token = tdm_lexer_next(&finder.lexer);
		if (token.kind == TDM_TOKEN_END || finder.err != 0)
			return finder.err;
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
