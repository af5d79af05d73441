/*
 * Kernels whose text only parses after the preprocessor: a loop that begins in each branch of an #if and ends after it.
 * Such a file is read several times, each time with one branch of every #if and the rest blank, so that lines and
 * columns stay. What is in an #if is conditional in all of them; a line that no reading covers makes the file partly
 * read.
 */
#include "scan/kernel_parts.h"

#include <errno.h>
#include <stdlib.h>

enum { NESTING_MAX = 32, VARIANTS = 4 };

enum directive { NO_DIRECTIVE, DIRECTIVE_IF, DIRECTIVE_ELIF, DIRECTIVE_ELSE, DIRECTIVE_ENDIF, OTHER_DIRECTIVE };

/* The #ifs around a line. */
struct nesting {
	struct {
		bool is_taken, was_taken, has_else;
	} levels[NESTING_MAX];
	uint32_t depth;
	bool is_broken; /* too deep, or an #endif without its #if */
};

static enum directive directive_of(struct tdm_str line)
{
	static const struct {
		const char *word;
		enum directive directive;
	} words[] = { { "ifdef", DIRECTIVE_IF }, { "ifndef", DIRECTIVE_IF }, { "if", DIRECTIVE_IF },
		{ "elif", DIRECTIVE_ELIF }, { "else", DIRECTIVE_ELSE }, { "endif", DIRECTIVE_ENDIF } };
	line = tdm_str_trim(line);
	if (line.len == 0 || line.ptr[0] != '#')
		return NO_DIRECTIVE;
	line = tdm_str_trim((struct tdm_str){ line.ptr + 1, line.len - 1 });
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (line.len >= strlen(words[i].word) && memcmp(line.ptr, words[i].word, strlen(words[i].word)) == 0)
			return words[i].directive;
	return OTHER_DIRECTIVE;
}

/* Variants differ in the branch that they take: the first or the last, at even and at odd depths. */
static bool takes_first(uint32_t variant, uint32_t depth)
{
	return (variant >> depth % 2 & 1) == 0;
}

static void enter(struct nesting *nesting, enum directive directive, uint32_t variant)
{
	if (directive == DIRECTIVE_IF) {
		bool takes = takes_first(variant, nesting->depth);
		if (nesting->depth == NESTING_MAX) {
			nesting->is_broken = true;
			return;
		}
		nesting->levels[nesting->depth].is_taken = takes;
		nesting->levels[nesting->depth++].was_taken = takes;
		return;
	}
	if (nesting->depth == 0) {
		nesting->is_broken = true;
		return;
	}
	uint32_t top = nesting->depth - 1;
	if (directive == DIRECTIVE_ENDIF) {
		nesting->depth--;
	} else {
		bool takes = directive == DIRECTIVE_ELSE && !nesting->levels[top].was_taken;
		nesting->levels[top].is_taken = takes;
		nesting->levels[top].was_taken |= takes;
	}
}

static bool is_taken(const struct nesting *nesting)
{
	for (uint32_t i = 0; i < nesting->depth; i++)
		if (!nesting->levels[i].is_taken)
			return false;
	return true;
}

/* What is known about the lines of a file. */
struct lines {
	bool *is_conditional; /* in an #if; the line's number is the place */
	bool *is_covered;     /* read in some variant */
	bool *is_kept;        /* in this variant */
};

/* Blanks what a variant does not take. False when the #ifs do not fit together. */
static bool make_variant(const struct tdm_file_walk *walk, uint32_t variant, char *text, struct lines *lines)
{
	struct nesting nesting = { .depth = 0 };
	size_t len = walk->syntax->text.len;
	bool goes_on = false; /* the line is the rest of a directive */
	memcpy(text, walk->syntax->text.ptr, len);
	for (uint32_t i = 0; i < walk->line_count && !nesting.is_broken; i++) {
		uint32_t start = walk->line_starts[i];
		size_t end = i + 1 < walk->line_count ? walk->line_starts[i + 1] : len;
		struct tdm_str line = tdm_str_trim((struct tdm_str){ text + start, end - start });
		while (line.len != 0 && line.ptr[line.len - 1] == '\n')
			line = tdm_str_trim((struct tdm_str){ line.ptr, line.len - 1 });
		enum directive directive = goes_on ? DIRECTIVE_IF : directive_of(line);
		bool is_branch = directive != NO_DIRECTIVE && directive != OTHER_DIRECTIVE;
		if (is_branch && !goes_on)
			enter(&nesting, directive, variant);
		goes_on = is_branch && line.len != 0 && line.ptr[line.len - 1] == '\\';
		lines->is_conditional[i + 1] = nesting.depth != 0;
		lines->is_kept[i + 1] = is_branch || is_taken(&nesting) || line.len == 0;
		for (size_t at = start; (is_branch || !is_taken(&nesting)) && at < end; at++)
			if (text[at] != '\n')
				text[at] = ' ';
	}
	return !nesting.is_broken && nesting.depth == 0;
}

static bool covers_all(const struct tdm_file_walk *walk, const struct lines *lines)
{
	for (uint32_t i = 1; i <= walk->line_count; i++)
		if (!lines->is_covered[i])
			return false;
	return true;
}

/* Reads one variant into `code`, which keeps what it has if that does not parse. */
static int read_variant(
	const struct tdm_file_walk *walk, struct tdm_str text, struct tdm_kernel_code *code, struct lines *lines)
{
	struct tdm_syntax syntax = { 0 };
	struct tdm_file_walk inner = *walk;
	struct tdm_kernel_code more = { .is_whole = true };
	bool has_ops;
	int err = tdm_syntax_parse(&syntax, walk->parser, text);
	inner.syntax = &syntax;
	if (err == 0)
		err = tdm_kernel_read_code(&inner, lines->is_conditional, &more, &has_ops);
	if (err == 0 && more.is_whole && more.has_main) {
		for (uint32_t i = 1; i <= walk->line_count; i++)
			lines->is_covered[i] |= lines->is_kept[i];
		err = tdm_kernel_add_code(code, &more, &walk->file->arena);
	}
	tdm_syntax_done(&syntax);
	return err == -ECANCELED || err == -EFBIG ? 0 : err;
}

static int read_variants(struct tdm_file_walk *walk, struct tdm_kernel_code *code, char *text, struct lines *lines)
{
	struct tdm_kernel_code found = { 0 };
	struct tdm_str made = { text, walk->syntax->text.len };
	uint64_t hashes[VARIANTS];
	int err = 0;
	for (uint32_t variant = 0; variant < VARIANTS && err == 0; variant++) {
		if (!make_variant(walk, variant, text, lines))
			return 0;
		hashes[variant] = tdm_str_hash(made);
		bool is_new = true; /* without nested #ifs some are the same */
		for (uint32_t i = 0; i < variant; i++)
			is_new &= hashes[i] != hashes[variant];
		if (is_new)
			err = read_variant(walk, made, &found, lines);
	}
	if (err != 0 || !found.has_main)
		return err;
	found.is_whole = covers_all(walk, lines);
	found.lines = code->lines;
	found.code_lines = code->code_lines;
	memcpy(found.op_count, code->op_count, sizeof found.op_count);
	*code = found;
	return 0;
}

int tdm_kernel_read_variants(struct tdm_file_walk *walk, struct tdm_kernel_code *code)
{
	size_t count = walk->line_count + 2;
	char *text = malloc(walk->syntax->text.len + 1);
	bool *marks = calloc(count, 3);
	int err = text == NULL || marks == NULL ? -ENOMEM : 0;
	struct lines lines = { marks, marks + count, marks + 2 * count };
	if (err == 0)
		err = read_variants(walk, code, text, &lines);
	free(text);
	free(marks);
	return err;
}
