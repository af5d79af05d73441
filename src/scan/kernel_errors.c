/* Places that do not parse: macros around types and operators that are words do no harm. */
#include "scan/kernel_parts.h"

/* A word in the wrong place does no harm where it is a type after a macro: "ALWI void f()", "tt_l1_ptr uint32_t *". */
static bool is_type_word(struct tdm_str text)
{
	static const char *const words[] = { "void", "bool", "float", "int", "auto", "tt_l1_ptr", ";" };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (tdm_str_is(text, words[i]))
			return true;
	bool is_word = text.len > 2 && memcmp(text.ptr + text.len - 2, "_t", 2) == 0;
	for (size_t i = 0; i < text.len; i++)
		is_word &= text.ptr[i] == '_' || (text.ptr[i] >= 'a' && text.ptr[i] <= 'z') ||
			   (text.ptr[i] >= '0' && text.ptr[i] <= '9');
	return is_word;
}

/* Conditions of the preprocessor with words for operators, which the grammar does not know, end with their line. */
static bool is_in_directive(const struct tdm_kernel_reader *reader, uint32_t node)
{
	struct tdm_str text = tdm_node_text(reader->syntax, node);
	const struct tdm_file_walk *walk = reader->walk;
	uint32_t start = walk->line_starts[tdm_walk_node_line(walk, node) - 1];
	struct tdm_str line = { reader->syntax->text.ptr + start, reader->syntax->text.len - start };
	while (line.len != 0 && (line.ptr[0] == ' ' || line.ptr[0] == '\t'))
		line = (struct tdm_str){ line.ptr + 1, line.len - 1 };
	return line.len != 0 && line.ptr[0] == '#' && text.ptr > line.ptr && memchr(text.ptr, '\n', text.len) == NULL;
}

/* A type after the qualifier for pointers into L1, whatever its name is. */
static bool is_after_qualifier(const struct tdm_kernel_reader *reader, uint32_t node)
{
	static const char qualifier[] = "tt_l1_ptr ";
	const size_t len = sizeof qualifier - 1;
	uint32_t start = tdm_node_at(reader->syntax, node)->start;
	return start >= len && memcmp(reader->syntax->text.ptr + start - len, qualifier, len) == 0;
}

bool tdm_kernel_is_plain_error(const struct tdm_kernel_reader *reader, uint32_t node, bool is_before_body)
{
	struct tdm_str text = tdm_node_text(reader->syntax, node);
	bool is_word = text.len < 40 && tdm_node_child_count(reader->syntax, node) == 1 &&
		       memchr(text.ptr, ' ', text.len) == NULL;
	return (is_word && (is_before_body || is_after_qualifier(reader, node))) || is_type_word(text) ||
	       is_in_directive(reader, node);
}
