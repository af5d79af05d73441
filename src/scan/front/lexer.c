/* The lexer, the meanings of names, and the list of places. */
#include "scan/front/lexer.h"

#include <stdlib.h>

#include "base/memory.h"
#include "scan/front/syntax.h"

/* ---- tokens ---- */

enum { BLANK = 1, LETTER = 2, DIGIT = 4 };

static const uint8_t classes[256] = {
	[' '] = BLANK,
	['\t'] = BLANK,
	['\r'] = BLANK,
	['\n'] = BLANK,
	['\f'] = BLANK,
	['\v'] = BLANK,
	['a' ... 'z'] = LETTER,
	['A' ... 'Z'] = LETTER,
	['_'] = LETTER,
	['$'] = LETTER,
	[128 ... 255] = LETTER,
	['0' ... '9'] = DIGIT,
};

static uint8_t class_at(const struct tdm_lexer *lexer, uint32_t at)
{
	return at < lexer->len ? classes[(uint8_t)lexer->text[at]] : 0;
}

static char char_at(const struct tdm_lexer *lexer, uint32_t at)
{
	return at < lexer->len ? lexer->text[at] : '\0';
}

void tdm_lexer_init(struct tdm_lexer *lexer, struct tdm_str text)
{
	*lexer = (struct tdm_lexer){ text.ptr, (uint32_t)text.len, 0, true };
}

/* The end of the line; a backslash at the end joins the next line. */
static uint32_t line_end(const struct tdm_lexer *lexer, uint32_t at)
{
	while (at < lexer->len) {
		const char *end = memchr(lexer->text + at, '\n', lexer->len - at);
		if (end == NULL)
			return lexer->len;
		at = (uint32_t)(end - lexer->text);
		uint32_t last = at > 0 && lexer->text[at - 1] == '\r' ? at - 1 : at;
		if (last == 0 || lexer->text[last - 1] != '\\')
			return at;
		at++;
	}
	return lexer->len;
}

/* The byte after a comment at `at`, or `at` if there is none. */
static uint32_t after_comment(const struct tdm_lexer *lexer, uint32_t at)
{
	if (char_at(lexer, at) != '/')
		return at;
	if (char_at(lexer, at + 1) == '/')
		return line_end(lexer, at);
	if (char_at(lexer, at + 1) != '*')
		return at;
	const char *end = lexer->len - at > 2 ? memmem(lexer->text + at + 2, lexer->len - at - 2, "*/", 2) : NULL;
	return end != NULL ? (uint32_t)(end - lexer->text) + 2 : lexer->len;
}

static void skip_blanks(struct tdm_lexer *lexer)
{
	for (;;) {
		while (class_at(lexer, lexer->at) == BLANK) {
			lexer->at_line_start |= lexer->text[lexer->at] == '\n';
			lexer->at++;
		}
		uint32_t after = after_comment(lexer, lexer->at);
		if (after == lexer->at)
			return;
		lexer->at = after;
	}
}

/* The byte after a string or character literal whose quote is at `at`. An unterminated literal ends with its line. */
static uint32_t after_quoted(const struct tdm_lexer *lexer, uint32_t at)
{
	char quote = lexer->text[at++];
	while (at < lexer->len && lexer->text[at] != quote && lexer->text[at] != '\n')
		at += lexer->text[at] == '\\' ? 2 : 1;
	if (at > lexer->len)
		return lexer->len;
	return at < lexer->len && lexer->text[at] == quote ? at + 1 : at;
}

/* R"mark( ... )mark", whose quote is at `at`. */
static uint32_t after_raw(const struct tdm_lexer *lexer, uint32_t at)
{
	enum { MARK_MAX = 16 };
	char close[MARK_MAX + 3] = ")";
	uint32_t len = 0;
	while (len <= MARK_MAX && char_at(lexer, at + 1 + len) != '(' && at + 1 + len < lexer->len)
		len++;
	if (len > MARK_MAX || at + 1 + len >= lexer->len)
		return at + 1;
	memcpy(close + 1, lexer->text + at + 1, len);
	close[len + 1] = '"';
	const char *end = memmem(lexer->text + at, lexer->len - at, close, len + 2);
	return end != NULL ? (uint32_t)(end - lexer->text) + len + 2 : lexer->len;
}

static struct tdm_token token_to(struct tdm_lexer *lexer, enum tdm_token_kind kind, uint32_t start, uint32_t end)
{
	lexer->at = end;
	return (struct tdm_token){ .kind = (uint8_t)kind, .start = start, .end = end };
}

struct tdm_token tdm_lexer_next(struct tdm_lexer *lexer)
{
	skip_blanks(lexer);
	uint32_t start = lexer->at, at = start;
	bool at_line_start = lexer->at_line_start;
	lexer->at_line_start = false;
	if (start >= lexer->len)
		return token_to(lexer, TDM_TOKEN_END, start, start);
	char mark = lexer->text[start];
	uint8_t class = classes[(uint8_t)mark];
	if (class == LETTER) {
		while ((class_at(lexer, at) & (LETTER | DIGIT)) != 0)
			at++;
		bool is_raw =
			at - start <= 3 && lexer->text[at - 1] == 'R' && char_at(lexer, at) == '"'; /* R, u8R, LR */
		return is_raw ? token_to(lexer, TDM_TOKEN_STRING, start, after_raw(lexer, at))
			      : token_to(lexer, TDM_TOKEN_NAME, start, at);
	}
	if (class == DIGIT) {
		for (; at < lexer->len; at++) {
			char c = lexer->text[at];
			bool is_separator = c == '\'' && (class_at(lexer, at + 1) & (LETTER | DIGIT)) != 0;
			if ((classes[(uint8_t)c] & (LETTER | DIGIT)) == 0 && c != '.' && !is_separator)
				break;
		}
		return token_to(lexer, TDM_TOKEN_NUMBER, start, at);
	}
	if (mark == '"' || mark == '\'')
		return token_to(lexer, TDM_TOKEN_STRING, start, after_quoted(lexer, start));
	if (mark == '#' && at_line_start)
		return token_to(lexer, TDM_TOKEN_DIRECTIVE, start, line_end(lexer, start));
	char next = char_at(lexer, start + 1);
	bool is_double = (mark == ':' && next == ':') || (mark == '-' && next == '>');
	struct tdm_token token = token_to(lexer, TDM_TOKEN_MARK, start, start + 1 + is_double);
	token.mark = is_double ? next : mark;
	return token;
}

/* ---- literals ---- */

bool tdm_cpp_number(struct tdm_str text, int64_t *number)
{
	char digits[40];
	size_t len = 0;
	for (size_t i = 0; i < text.len && len + 1 < sizeof digits; i++)
		if (text.ptr[i] != '\'')
			digits[len++] = text.ptr[i];
	digits[len] = '\0';
	bool is_hex = len > 2 && digits[0] == '0' && (digits[1] | 32) == 'x';
	bool is_binary = len > 2 && digits[0] == '0' && (digits[1] | 32) == 'b';
	char *end = digits;
	unsigned long long value = strtoull(is_binary ? digits + 2 : digits, &end, is_hex ? 16 : is_binary ? 2 : 0);
	size_t suffix = strspn(end, "uUlLzZ");
	bool is_read = end != digits && end[suffix] == '\0' && value <= INT64_MAX && len + 1 < sizeof digits;
	*number = is_read ? (int64_t)value : 0;
	return is_read;
}

bool tdm_cpp_buffer_index(struct tdm_str name, int64_t *number)
{
	static const struct {
		const char *prefix;
		int64_t first;
	} groups[] = { { "c_in", 0 }, { "dataflow", 8 }, { "c_dataflow", 8 }, { "c_out", 16 }, { "c_intermed", 24 },
		{ "c_", 0 } };
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
		uint64_t digits;
		bool is_it = tdm_begins_with(name, groups[i].prefix) &&
			     tdm_str_parse_u64(tdm_after(name, strlen(groups[i].prefix)), &digits) == 0 && digits < 256;
		if (is_it) {
			*number = groups[i].first + (int64_t)digits;
			return true;
		}
	}
	return false;
}

/* ---- names ---- */

static const struct {
	const char *name;
	uint8_t sense, shape;
} known_names[] = {
	{ "CBDescriptor", TDM_SENSE_TYPE, TDM_SHAPE_CB_DESCRIPTOR },
	{ "CircularBufferConfig", TDM_SENSE_TYPE, TDM_SHAPE_CB_CONFIG },
	{ "DataflowBufferSpec", TDM_SENSE_TYPE, TDM_SHAPE_DFB_SPEC },
	{ "ScratchpadSpec", TDM_SENSE_TYPE, TDM_SHAPE_SCRATCHPAD_SPEC },
	{ "CreateKernel", TDM_SENSE_KERNEL, 0 },
	{ "CreateKernelFromString", TDM_SENSE_KERNEL, 0 },
	{ "CreateReadKernel", TDM_SENSE_KERNEL, 0 },
	{ "CreateWriteKernel", TDM_SENSE_KERNEL, 0 },
	{ "CreateComputeKernel", TDM_SENSE_KERNEL, 0 },
	{ "KernelDescriptor", TDM_SENSE_KERNEL, 0 },
	{ "KernelSpec", TDM_SENSE_KERNEL, 0 },
	{ "CreateCircularBuffer", TDM_SENSE_KERNEL, 0 }, /* the place is the config argument */
	{ "cb_wait_front", TDM_SENSE_DEVICE, 0 },
	{ "cb_pop_front", TDM_SENSE_DEVICE, 0 },
	{ "cb_reserve_back", TDM_SENSE_DEVICE, 0 },
	{ "cb_push_back", TDM_SENSE_DEVICE, 0 },
	{ "wait_front", TDM_SENSE_DEVICE, 0 },
	{ "pop_front", TDM_SENSE_DEVICE, 0 },
	{ "reserve_back", TDM_SENSE_DEVICE, 0 },
	{ "dfb", TDM_SENSE_DEVICE, 0 },
	{ "CircularBuffer", TDM_SENSE_DEVICE, 0 },
	{ "DataflowBuffer", TDM_SENSE_DEVICE, 0 },
	{ "kernel_main", TDM_SENSE_DEVICE, 0 },
};

/* Removes the first word of a snake_case name and returns it. */
static struct tdm_str next_word(struct tdm_str *rest)
{
	const char *end = memchr(rest->ptr, '_', rest->len);
	struct tdm_str word = { rest->ptr, end != NULL ? (size_t)(end - rest->ptr) : rest->len };
	*rest = tdm_after(*rest, word.len + (end != NULL));
	return word;
}

bool tdm_name_is_creator(struct tdm_str name)
{
	static const char *const nouns[] = { "CircularBuffer", "DataflowBuffer", "DFB", "CB", "Scratchpad" };
	struct tdm_str rest = name;
	if (name.len != 0 && name.ptr[0] == 'M') { /* MakeDFB, MakeCircularBufferBFP16 */
		for (size_t i = 0; i < sizeof nouns / sizeof *nouns && tdm_begins_with(name, "Make"); i++)
			if (tdm_contains(tdm_after(name, 4), nouns[i]))
				return true;
		return false;
	}
	if (!tdm_is_one_of(
		    next_word(&rest), "make create add push emit append build alloc allocate declare register setup"))
		return false;
	while (rest.len != 0)
		if (tdm_is_one_of(next_word(&rest), "cb cbs dfb dfbs circular scratchpad"))
			return true;
	return false;
}

enum tdm_name_sense tdm_name_meaning(struct tdm_str name, uint8_t *shape)
{
	/* Quickly rejects most names, which begin with other letters or are shorter. */
	if (name.len < 3 || strchr("CDKMSabcdekmprsw", name.ptr[0]) == NULL)
		return TDM_SENSE_NONE;
	for (size_t i = 0; i < sizeof known_names / sizeof *known_names; i++)
		if (known_names[i].name[0] == name.ptr[0] && tdm_str_is(name, known_names[i].name)) {
			*shape = known_names[i].shape;
			return known_names[i].sense;
		}
	*shape = TDM_SHAPE_HELPER;
	bool may_create = name.ptr[0] == 'M' || (name.len >= 6 && memchr(name.ptr, '_', name.len) != NULL);
	return may_create && tdm_name_is_creator(name) ? TDM_SENSE_HELPER : TDM_SENSE_NONE;
}

/* ---- lists of tokens ---- */

void tdm_tokens_read(struct tdm_tokens *tokens, struct tdm_str text)
{
	struct tdm_lexer lexer;
	struct tdm_token token;
	tokens->text = text;
	tokens->count = 0;
	tokens->has_host = tokens->has_device = false;
	tdm_lexer_init(&lexer, text);
	do {
		token = tdm_lexer_next(&lexer);
		if (token.kind == TDM_TOKEN_NAME) {
			token.sense = tdm_name_meaning(tdm_token_text(&lexer, token), &token.shape);
			tokens->has_device |= token.sense == TDM_SENSE_DEVICE;
			tokens->has_host |= token.sense != TDM_SENSE_NONE && token.sense != TDM_SENSE_DEVICE;
		}
		if (tokens->count == tokens->cap)
			tdm_grow(&tokens->list, &tokens->cap, tokens->count + 1, sizeof *tokens->list);
		tokens->list[tokens->count++] = token;
	} while (token.kind != TDM_TOKEN_END);
}

void tdm_tokens_done(struct tdm_tokens *tokens)
{
	free(tokens->list);
	*tokens = (struct tdm_tokens){ 0 };
}

/* ---- token lists ---- */

void tdm_place_add(struct tdm_scan_file *file, uint32_t byte, uint8_t shape)
{
	tdm_grow(&file->places, &file->place_cap, file->place_count + 1, sizeof *file->places);
	file->places[file->place_count++] =
		(struct tdm_scan_place){ .byte = byte, .shape = shape, .grasp = TDM_GRASP_NOT, .why = "" };
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

/* Types and helpers count if brackets follow and no other name precedes. */
void tdm_places_guess(struct tdm_scan_file *file, const struct tdm_tokens *tokens)
{
	bool is_python = file->language == TDM_LANGUAGE_PYTHON;
	file->place_count = 0;
	for (size_t i = 0; i + 1 < tokens->count; i++) {
		const struct tdm_token *token = &tokens->list[i];
		struct tdm_str name = { tokens->text.ptr + token->start, token->end - token->start };
		char next = token[1].kind == TDM_TOKEN_MARK ? token[1].mark : '\0';
		bool is_type = token->sense == TDM_SENSE_TYPE,
		     is_helper = token->sense == TDM_SENSE_HELPER && !is_python;
		if (is_python && next == '(' && tdm_str_is(name, "cb_descriptor_from_sharded_tensor"))
			tdm_place_add(file, token->start, TDM_SHAPE_PYTHON_SHARDED);
		else if (((is_type || is_helper) && next == '(') || (is_type && next == '{'))
			if (i == 0 || token[-1].kind != TDM_TOKEN_NAME)
				tdm_place_add(
					file, token->start, is_python ? TDM_SHAPE_PYTHON_DESCRIPTOR : token->shape);
	}
}
