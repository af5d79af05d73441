/*
 * The lines of a host's file that seem to create a kernel, found without the syntax tree, against the kernels that were
 * found there. A program whose kernels are not all known cannot be judged.
 */
#include "scan/file_walk.h"

#include <errno.h>
#include <stdlib.h>

#include "scan/lexer.h"

static bool is_type(struct tdm_str name)
{
	return tdm_str_is(name, "KernelDescriptor") || tdm_str_is(name, "KernelSpec");
}

/* CreateKernel, create_reader_kernel */
static bool is_creator(struct tdm_str name)
{
	static const char *const verbs[] = { "create", "Create", "make", "add", "build" };
	if (memmem(name.ptr, name.len, "kernel", 6) == NULL && memmem(name.ptr, name.len, "Kernel", 6) == NULL)
		return false;
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (name.len > strlen(verbs[i]) && memcmp(name.ptr, verbs[i], strlen(verbs[i])) == 0)
			return true;
	return false;
}

/* The last three tokens of a text. */
struct window {
	const struct tdm_lexer *lexer;
	struct tdm_token before, name, token;
	uint32_t optional; /* the byte after the last word "optional" */
};

static bool is_mark(const struct window *window, const char *marks)
{
	return window->token.kind == TDM_TOKEN_MARK && strchr(marks, window->token.mark) != NULL;
}

/* The name that creates a kernel: Type{, Type name; Type name{, Type name =, optional<Type>, create(; else NULL. */
static const struct tdm_token *creating(const struct window *window)
{
	if (window->name.kind != TDM_TOKEN_NAME)
		return NULL;
	struct tdm_str name = tdm_token_text(window->lexer, window->name);
	bool is_optional = window->optional != 0 && window->name.start - window->optional < 64;
	if ((is_mark(window, "{(") && is_type(name)) || (is_mark(window, ">") && is_optional && is_type(name)) ||
		(is_mark(window, "(") && is_creator(name)))
		return &window->name;
	bool is_variable = window->before.kind == TDM_TOKEN_NAME && is_mark(window, ";{=");
	return is_variable && is_type(tdm_token_text(window->lexer, window->before)) ? &window->before : NULL;
}

static int by_line(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static bool has_line(const uint32_t *lines, size_t count, uint32_t line)
{
	return count != 0 && bsearch(&line, lines, count, sizeof *lines, by_line) != NULL;
}

/* The first line that creates a kernel and is not in the list; 0 when there is none. */
static uint32_t first_unread(const struct tdm_file_walk *walk, const uint32_t *lines, size_t count)
{
	struct tdm_lexer lexer;
	struct window window = { .lexer = &lexer };
	tdm_lexer_init(&lexer, walk->syntax->text);
	while ((window.token = tdm_lexer_next(&lexer)).kind != TDM_TOKEN_END) {
		const struct tdm_token *place = creating(&window);
		uint32_t line = place != NULL ? tdm_walk_line(walk, place->start) : 0;
		if (line != 0 && !has_line(lines, count, line))
			return line;
		if (window.token.kind == TDM_TOKEN_NAME && tdm_str_is(tdm_token_text(&lexer, window.token), "optional"))
			window.optional = window.token.end;
		window.before = window.name;
		window.name = window.token;
	}
	return 0;
}

int tdm_kernel_check_places(struct tdm_file_walk *walk)
{
	struct tdm_scan_file *file = walk->file;
	size_t count = 2 * file->kernel_count;
	uint32_t *lines = calloc(count + 1, sizeof *lines);
	if (lines == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < file->kernel_count; i++) {
		lines[2 * i] = file->kernels[i].line;
		lines[2 * i + 1] = file->kernels[i].defined_line;
	}
	qsort(lines, count, sizeof *lines, by_line);
	file->unread_kernel_line = count != 0 ? first_unread(walk, lines, count) : 0;
	free(lines);
	return 0;
}
