#include "scan/place.h"

#include <errno.h>
#include <stdlib.h>

#include "base/reserve.h"

struct known_name {
	const char *name;
	struct tdm_name_meaning meaning;
};

static const struct known_name known_names[];

/* Words of a name that is put together with underscores. */
static struct tdm_str next_word(struct tdm_str *rest)
{
	const char *end = memchr(rest->ptr, '_', rest->len);
	struct tdm_str word = { rest->ptr, end != NULL ? (size_t)(end - rest->ptr) : rest->len };
	size_t skip = word.len + (end != NULL);
	*rest = (struct tdm_str){ rest->ptr + skip, rest->len - skip };
	return word;
}

/* MakeDFB, MakeCircularBufferBFP16. */
static bool is_camel_creator(struct tdm_str name)
{
	static const char *const nouns[] = { "CircularBuffer", "DataflowBuffer", "DFB", "CB", "Scratchpad" };
	bool has_noun = false;
	for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++)
		has_noun |= name.len > 4 && memmem(name.ptr + 4, name.len - 4, nouns[i], strlen(nouns[i])) != NULL;
	return has_noun && memcmp(name.ptr, "Make", 4) == 0;
}

bool tdm_name_is_creator(struct tdm_str name)
{
	static const char *const verbs[] = { "make", "create", "add", "push", "emit", "append", "build", "alloc",
		"allocate", "declare", "register", "setup" };
	static const char *const nouns[] = { "cb", "cbs", "dfb", "dfbs", "circular", "scratchpad" };
	struct tdm_str rest = name, word = next_word(&rest);
	bool has_verb = false;
	if (name.len != 0 && name.ptr[0] == 'M')
		return is_camel_creator(name);
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		has_verb |= tdm_str_is(word, verbs[i]);
	while (has_verb && rest.len != 0) {
		word = next_word(&rest);
		for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++)
			if (tdm_str_is(word, nouns[i]))
				return true;
	}
	return false;
}

bool tdm_name_is_helper(struct tdm_str name)
{
	static const char *const names[] = { "create_circular_buffer", "create_cb", "add_cb", "push_cb", "make_cb",
		"make_dfb", "add_dfb", "push_dfb" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (tdm_str_is(name, names[i]))
			return true;
	return false;
}

struct tdm_name_meaning tdm_name_meaning(struct tdm_str name)
{
	/* Names that begin with other letters, or are as short, mean nothing here: most do. */
	if (name.len < 3 || strchr("CDKMSabcdekmprsw", name.ptr[0]) == NULL)
		return (struct tdm_name_meaning){ TDM_SENSE_NONE, 0 };
	for (const struct known_name *known = known_names; known->name != NULL; known++)
		if (known->name[0] == name.ptr[0] && tdm_str_is(name, known->name))
			return known->meaning;
	bool may_create = name.ptr[0] == 'M' || (name.len >= 6 && memchr(name.ptr, '_', name.len) != NULL);
	if (may_create && tdm_name_is_creator(name))
		return (struct tdm_name_meaning){ TDM_SENSE_HELPER, TDM_SHAPE_HELPER };
	return (struct tdm_name_meaning){ TDM_SENSE_NONE, 0 };
}

bool tdm_look_quickly(struct tdm_str text)
{
	/* Every name of the table below has one of these in it, and so has every name that tdm_name_is_creator() knows.
	 */
	static const char *const parts[] = { "cb", "CB", "ircular", "ataflowBuffer", "dfb", "DFB", "cratchpad",
		"Kernel", "kernel_main", "_front(", "push_back(", "reserve_back(" };
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (memmem(text.ptr, text.len, parts[i], strlen(parts[i])) != NULL)
			return true;
	return false;
}

int tdm_tokens_read(struct tdm_tokens *tokens, struct tdm_str text)
{
	struct tdm_lexer lexer;
	struct tdm_token token;
	tokens->text = text;
	tokens->count = 0;
	tdm_lexer_init(&lexer, text);
	do {
		token = tdm_lexer_next(&lexer);
		int err = tokens->count == tokens->cap
				  ? tdm_reserve(&tokens->list, &tokens->cap, tokens->count + 1, sizeof *tokens->list)
				  : 0;
		if (err != 0)
			return err;
		if (token.kind == TDM_TOKEN_NAME) {
			struct tdm_name_meaning meaning = tdm_name_meaning(tdm_token_text(&lexer, token));
			token.sense = meaning.sense;
			token.shape = meaning.shape;
		}
		tokens->list[tokens->count++] = token;
	} while (token.kind != TDM_TOKEN_END);
	return 0;
}

void tdm_tokens_done(struct tdm_tokens *tokens)
{
	free(tokens->list);
	*tokens = (struct tdm_tokens){ 0 };
}

struct tdm_look tdm_look_at(const struct tdm_tokens *tokens)
{
	struct tdm_look look = { false, false };
	for (size_t i = 0; i < tokens->count; i++) {
		uint8_t sense = tokens->list[i].sense;
		look.has_device |= sense == TDM_SENSE_DEVICE;
		look.has_host |= sense != TDM_SENSE_NONE && sense != TDM_SENSE_DEVICE;
	}
	return look;
}

static struct tdm_token token_at(const struct tdm_tokens *tokens, size_t i)
{
	return i < tokens->count ? tokens->list[i] : (struct tdm_token){ .kind = TDM_TOKEN_END };
}

static bool is_mark(const struct tdm_tokens *tokens, size_t i, char mark)
{
	struct tdm_token token = token_at(tokens, i);
	return token.kind == TDM_TOKEN_MARK && token.mark == mark && token.end - token.start == 1;
}

static bool is_scope(const struct tdm_tokens *tokens, size_t i)
{
	struct tdm_token token = token_at(tokens, i);
	return token.kind == TDM_TOKEN_MARK && token.mark == ':' && token.end - token.start == 2;
}

static struct tdm_str text_at(const struct tdm_tokens *tokens, size_t i)
{
	struct tdm_token token = token_at(tokens, i);
	return (struct tdm_str){ tokens->text.ptr + token.start, token.end - token.start };
}

static bool is_word_of(const struct tdm_tokens *tokens, size_t i, const char *const *words, size_t count)
{
	for (size_t w = 0; token_at(tokens, i).kind == TDM_TOKEN_NAME && w < count; w++)
		if (tdm_str_is(text_at(tokens, i), words[w]))
			return true;
	return false;
}

#define IS_ONE_OF(tokens, i, words) is_word_of((tokens), (i), (words), sizeof(words) / sizeof *(words))

/* The token before a name and the scopes that it is qualified with, a::b::NAME; SIZE_MAX when there is none. */
static size_t before_name(const struct tdm_tokens *tokens, size_t i)
{
	while (i >= 1 && is_scope(tokens, i - 1)) {
		i--;
		if (i >= 1 && token_at(tokens, i - 1).kind == TDM_TOKEN_NAME)
			i--;
	}
	return i - 1; /* SIZE_MAX at the beginning, which token_at() knows */
}

/* Whether what follows a round bracket is a list of parameters, not of arguments: ")", "const Type", "Type name",
 * "Type&". */
static bool begins_parameters(const struct tdm_tokens *tokens, size_t i)
{
	static const char *const words[] = { "const", "auto", "void" };
	if (is_mark(tokens, i, ')') || IS_ONE_OF(tokens, i, words))
		return true;
	while (token_at(tokens, i).kind == TDM_TOKEN_NAME && is_scope(tokens, i + 1))
		i += 2;
	if (token_at(tokens, i).kind != TDM_TOKEN_NAME)
		return false;
	struct tdm_token after = token_at(tokens, i + 1);
	bool is_reference =
		is_mark(tokens, i + 1, '&') && (is_mark(tokens, i + 2, ')') || is_mark(tokens, i + 2, ',') ||
						       is_mark(tokens, i + 3, ')') || is_mark(tokens, i + 3, ','));
	return after.kind == TDM_TOKEN_NAME || is_reference;
}

/* Whether a brace opens the body of a class: the word is in the statement before it, outside of brackets. */
static bool opens_class(const struct tdm_tokens *tokens, size_t i)
{
	static const char *const words[] = { "struct", "class", "union" };
	bool has_word = false;
	for (size_t back = 1; back <= i && back < 64; back++) {
		if (is_mark(tokens, i - back, ';') || is_mark(tokens, i - back, '{') || is_mark(tokens, i - back, '}'))
			break;
		if (is_mark(tokens, i - back, ')') || is_mark(tokens, i - back, '='))
			return false;
		has_word |= IS_ONE_OF(tokens, i - back, words);
	}
	return has_word;
}

/* A type makes an object where a list or arguments follow it, or the name of a variable. "Type name(" is a function but
 * for a config, which is often made so; "Type name = make(...)" counts where it is made. */
static bool makes_object(const struct tdm_tokens *tokens, size_t i, bool is_config, bool in_class)
{
	static const char *const not_before[] = { "struct", "class", "using", "friend", "typename", "enum" };
	size_t before = before_name(tokens, i);
	bool is_constructor =
		i >= 2 && is_scope(tokens, i - 1) && tdm_str_eq(text_at(tokens, i), text_at(tokens, i - 2));
	if (IS_ONE_OF(tokens, before, not_before) || is_constructor || is_mark(tokens, before, '~'))
		return false;
	if (is_mark(tokens, i + 1, '{'))
		return true;
	if (is_mark(tokens, i + 1, '('))
		return !begins_parameters(tokens, i + 2);
	if (token_at(tokens, i + 1).kind != TDM_TOKEN_NAME || in_class)
		return false;
	if (is_mark(tokens, i + 2, '('))
		return is_config && !begins_parameters(tokens, i + 3);
	return (is_mark(tokens, i + 2, ';') && !is_config) || is_mark(tokens, i + 2, '{');
}

/* A call, not a definition: those have a type before the name. */
static bool is_call(const struct tdm_tokens *tokens, size_t i)
{
	static const char *const may_precede[] = { "return", "else", "co_return", "do", "and", "or", "not" };
	size_t before = before_name(tokens, i);
	struct tdm_token token = token_at(tokens, before);
	if (!is_mark(tokens, i + 1, '('))
		return false;
	if (token.kind == TDM_TOKEN_NAME)
		return IS_ONE_OF(tokens, before, may_precede);
	bool is_arrow = token.kind == TDM_TOKEN_MARK && token.mark == '>' && token.end - token.start == 2;
	return is_arrow ||
	       !(is_mark(tokens, before, '>') || is_mark(tokens, before, '&') || is_mark(tokens, before, '*'));
}

static int add_place(struct tdm_scan_file *file, uint32_t byte, uint8_t shape)
{
	int err = tdm_reserve(&file->places, &file->place_cap, file->place_count + 1, sizeof *file->places);
	if (err == 0)
		file->places[file->place_count++] =
			(struct tdm_scan_place){ .byte = byte, .shape = shape, .grasp = TDM_GRASP_NOT, .why = "" };
	return err;
}

int tdm_places_find(struct tdm_scan_file *file, const struct tdm_tokens *tokens)
{
	enum { LEVELS_MAX = 256 };
	bool in_class[LEVELS_MAX] = { false };
	size_t level = 0;
	int err = 0;
	for (size_t i = 0; err == 0 && i < tokens->count; i++) {
		const struct tdm_token *token = &tokens->list[i];
		if (is_mark(tokens, i, '{') && level + 1 < LEVELS_MAX)
			in_class[++level] = opens_class(tokens, i);
		else if (is_mark(tokens, i, '}') && level > 0)
			level--;
		bool is_config = token->shape == TDM_SHAPE_CB_CONFIG;
		bool is_place =
			(token->sense == TDM_SENSE_TYPE && makes_object(tokens, i, is_config, in_class[level])) ||
			(token->sense == TDM_SENSE_HELPER && is_call(tokens, i));
		if (is_place)
			err = add_place(file, token->start, token->shape);
	}
	return err;
}

size_t tdm_place_from(const struct tdm_scan_file *file, uint32_t byte)
{
	size_t low = 0, high = file->place_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (file->places[middle].byte < byte)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct tdm_scan_place *tdm_place_at(struct tdm_scan_file *file, uint32_t byte)
{
	size_t at = tdm_place_from(file, byte);
	return at < file->place_count && file->places[at].byte == byte ? &file->places[at] : NULL;
}

#define TYPE(name, shape)                                 \
	{                                                 \
		name,                                     \
		{                                         \
			TDM_SENSE_TYPE, TDM_SHAPE_##shape \
		}                                         \
	}
#define KERNEL(name)                        \
	{                                   \
		name,                       \
		{                           \
			TDM_SENSE_KERNEL, 0 \
		}                           \
	}
#define DEVICE(name)                        \
	{                                   \
		name,                       \
		{                           \
			TDM_SENSE_DEVICE, 0 \
		}                           \
	}

static const struct known_name known_names[] = {
	TYPE("CBDescriptor", CB_DESCRIPTOR),
	TYPE("CircularBufferConfig", CB_CONFIG),
	TYPE("DataflowBufferSpec", DFB_SPEC),
	TYPE("ScratchpadSpec", SCRATCHPAD_SPEC),
	KERNEL("CreateKernel"),
	KERNEL("CreateKernelFromString"),
	KERNEL("CreateReadKernel"),
	KERNEL("CreateWriteKernel"),
	KERNEL("CreateComputeKernel"),
	KERNEL("KernelDescriptor"),
	KERNEL("KernelSpec"),
	{ "CreateCircularBuffer", { TDM_SENSE_KERNEL, 0 } }, /* the config that it takes is the place */
	DEVICE("cb_wait_front"),
	DEVICE("cb_pop_front"),
	DEVICE("cb_reserve_back"),
	DEVICE("cb_push_back"),
	DEVICE("wait_front"),
	DEVICE("pop_front"),
	DEVICE("reserve_back"),
	DEVICE("dfb"),
	DEVICE("CircularBuffer"),
	DEVICE("DataflowBuffer"),
	DEVICE("kernel_main"),
	{ NULL, { TDM_SENSE_NONE, 0 } },
};
