/* What a text includes: lines of the preprocessor, found without a lexer, because every file has some. */
#include "scan/file_walk.h"

#include <errno.h>

enum { INCLUDES_MAX = 1000 };

static struct tdm_str skip_blanks(struct tdm_str text)
{
	while (text.len != 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
		text = (struct tdm_str){ text.ptr + 1, text.len - 1 };
	return text;
}

/* #include "path" or <path>; false when the line says something else. */
static bool read_line(struct tdm_str line, struct tdm_scan_include *include)
{
	static const char word[] = "include";
	line = skip_blanks(line);
	if (line.len == 0 || line.ptr[0] != '#')
		return false;
	line = skip_blanks((struct tdm_str){ line.ptr + 1, line.len - 1 });
	if (line.len < sizeof word || memcmp(line.ptr, word, sizeof word - 1) != 0)
		return false;
	line = skip_blanks((struct tdm_str){ line.ptr + sizeof word - 1, line.len - (sizeof word - 1) });
	if (line.len < 3 || (line.ptr[0] != '"' && line.ptr[0] != '<'))
		return false;
	const char *end = memchr(line.ptr + 1, line.ptr[0] == '<' ? '>' : '"', line.len - 1);
	include->is_system = line.ptr[0] == '<';
	include->path = (struct tdm_str){ line.ptr + 1, end != NULL ? (size_t)(end - line.ptr) - 1 : 0 };
	return include->path.len != 0;
}

/* Calls read_line() for each line; fills `list` when it is not NULL. Returns how many there are. */
static size_t read_all(struct tdm_scan_file *file, struct tdm_str text, struct tdm_scan_include *list)
{
	size_t count = 0;
	while (text.len != 0 && count < INCLUDES_MAX) {
		const char *end = memchr(text.ptr, '\n', text.len);
		size_t len = end != NULL ? (size_t)(end - text.ptr) : text.len;
		struct tdm_scan_include include;
		if (read_line((struct tdm_str){ text.ptr, len }, &include)) {
			const char *copy = list != NULL ? tdm_arena_text(&file->arena, include.path) : NULL;
			include.path.ptr = copy != NULL ? copy : "";
			include.path.len = copy != NULL ? include.path.len : 0;
			if (list != NULL)
				list[count] = include;
			count++;
		}
		text = (struct tdm_str){ text.ptr + len + (end != NULL), text.len - len - (end != NULL) };
	}
	return count;
}

int tdm_kernel_read_includes(struct tdm_scan_file *file, struct tdm_str text)
{
	size_t count = read_all(file, text, NULL);
	file->includes = count != 0 ? tdm_arena_take(&file->arena, count * sizeof *file->includes) : NULL;
	if (file->includes != NULL)
		file->include_count = read_all(file, text, file->includes);
	return file->arena.failed ? -ENOMEM : 0;
}
