/* The places in a Python text that make descriptors of circular buffers; comments and strings are left out. */
#include <ctype.h>

#include "base/reserve.h"
#include "scan/python.h"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The end of a string that begins at `at` with a quote. */
static size_t skip_string(struct tdm_str text, size_t at)
{
	char quote = text.ptr[at];
	bool is_long = text.len - at >= 3 && text.ptr[at + 1] == quote && text.ptr[at + 2] == quote;
	for (at += is_long ? 3 : 1; at < text.len; at++) {
		if (text.ptr[at] == '\\')
			at++;
		else if (!is_long && (text.ptr[at] == quote || text.ptr[at] == '\n'))
			return at + 1;
		else if (is_long && text.ptr[at] == quote && text.len - at >= 3 && text.ptr[at + 1] == quote &&
			 text.ptr[at + 2] == quote)
			return at + 3;
	}
	return text.len;
}

static int add(struct tdm_scan_file *file, const struct tdm_file_walk *walk, size_t at, enum tdm_shape shape)
{
	int err = tdm_reserve(&file->places, &file->place_cap, file->place_count + 1, sizeof *file->places);
	if (err != 0)
		return err;
	file->places[file->place_count++] = (struct tdm_scan_place){
		.byte = (uint32_t)at,
		.line = tdm_walk_line(walk, (uint32_t)at),
		.shape = (uint8_t)shape,
		.grasp = TDM_GRASP_NOT,
		.why = "no function was found that makes it",
	};
	return 0;
}

/* Whether the name at `at` is called, and not the name of a function that is defined there. */
static bool is_call(struct tdm_str text, size_t at, size_t end)
{
	while (end < text.len && (text.ptr[end] == ' ' || text.ptr[end] == '\t'))
		end++;
	bool is_definition = at >= 4 && memcmp(text.ptr + at - 4, "def ", 4) == 0;
	bool is_class = at >= 6 && memcmp(text.ptr + at - 6, "class ", 6) == 0;
	return end < text.len && text.ptr[end] == '(' && !is_definition && !is_class;
}

int py_places_find(struct tdm_scan_file *file, struct tdm_str text, const struct tdm_file_walk *walk)
{
	int err = 0;
	for (size_t at = 0; err == 0 && at < text.len;) {
		char c = text.ptr[at];
		size_t end = at + 1;
		if (c == '#') {
			const char *line_end = memchr(text.ptr + at, '\n', text.len - at);
			end = line_end != NULL ? (size_t)(line_end - text.ptr) : text.len;
		} else if (c == '"' || c == '\'') {
			end = skip_string(text, at);
		} else if (is_word(c)) {
			while (end < text.len && is_word(text.ptr[end]))
				end++;
			struct tdm_str word = { text.ptr + at, end - at };
			bool is_sharded = tdm_str_is(word, "cb_descriptor_from_sharded_tensor");
			if ((is_sharded || tdm_str_is(word, "CBDescriptor")) && is_call(text, at, end))
				err = add(file, walk, at,
					is_sharded ? TDM_SHAPE_PYTHON_SHARDED : TDM_SHAPE_PYTHON_DESCRIPTOR);
		}
		at = end;
	}
	return err;
}
