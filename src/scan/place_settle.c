#include "scan/place_settle.h"

#include <errno.h>

#include "scan/project.h"
#include "scan/python.h"

/* Whether the functions that a name can mean in a file were looked at and create what they create by themselves. */
static bool is_judged_other(const struct tdm_definition *first, uint32_t file)
{
	bool is_own = false;
	for (const struct tdm_definition *d = first; d != NULL; d = tdm_definition_next(d))
		is_own |= d->kind == TDM_DEFINES_FUNCTION && d->file == file;
	for (const struct tdm_definition *d = first; d != NULL; d = tdm_definition_next(d)) {
		bool is_meant = d->kind == TDM_DEFINES_FUNCTION && (is_own ? d->file == file : !d->is_private);
		if (is_meant && atomic_load(&d->verdict) != TDM_VERDICT_OTHER)
			return false;
	}
	return true;
}

/* The first function among definitions of a name. */
static const struct tdm_definition *function_of(const struct tdm_definition *d)
{
	while (d != NULL && d->kind != TDM_DEFINES_FUNCTION)
		d = tdm_definition_next(d);
	return d;
}

static const char *reason_for(const struct tdm_file_walk *walk, uint8_t shape, const struct tdm_definition *d)
{
	if (d != NULL && d->rank + 1 >= TDM_DEFINITIONS_MAX)
		return "too many functions have this name";
	if (walk->is_cut)
		return "no function that was walked leads to it, and one is too large to be followed to its end";
	return shape == TDM_SHAPE_HELPER ? "the function is defined in none of the files"
					 : "no function that was walked leads to it";
}

/* `why`: of those that nothing came of; NULL: by their shape. */
static void settle(struct tdm_file_walk *walk, struct tdm_str text, const char *why)
{
	struct tdm_scan_file *file = walk->file;
	size_t kept = 0;
	for (size_t i = 0; i < file->place_count; i++) {
		struct tdm_scan_place place = file->places[i];
		struct tdm_lexer lexer;
		place.line = tdm_walk_line(walk, place.byte);
		tdm_lexer_init(&lexer, text);
		lexer.at = place.byte;
		struct tdm_str name = tdm_token_text(&lexer, tdm_lexer_next(&lexer));
		bool is_not = place.grasp == TDM_GRASP_NOT;
		const struct tdm_definition *d =
			is_not && walk->project != NULL ? function_of(tdm_project_find(walk->project, name)) : NULL;
		bool is_other = place.shape == TDM_SHAPE_HELPER &&
				(d != NULL ? is_judged_other(d, walk->file_idx) : !tdm_name_is_helper(name));
		if (is_not && is_other)
			continue; /* a function that has places of its own, or none that is known to create anything */
		if (is_not)
			place.why = why != NULL ? why : reason_for(walk, place.shape, d);
		file->places[kept++] = place;
	}
	file->place_count = kept;
}

void tdm_places_settle(struct tdm_file_walk *walk, struct tdm_str text)
{
	settle(walk, text, NULL);
}

static int find_places(struct tdm_file_walk *walk, struct tdm_str text, struct tdm_tokens *tokens)
{
	walk->file->place_count = 0;
	if (walk->file->language == TDM_LANGUAGE_PYTHON)
		return py_places_find(walk->file, text, walk);
	int err = tdm_look_quickly(text) ? tdm_tokens_read(tokens, text) : -ENODATA;
	return err == -ENODATA ? 0 : err != 0 ? err : tdm_places_find(walk->file, tokens);
}

int tdm_places_count(struct tdm_file_walk *walk, struct tdm_str text, struct tdm_tokens *tokens)
{
	struct tdm_scan_file *file = walk->file;
	struct tdm_buf why;
	int err = file->buffer_count == 0 ? find_places(walk, text, tokens) : 0;
	if (err != 0 || file->place_count == 0)
		return err;
	tdm_buf_init(&why);
	tdm_buf_printf(&why, "the file %s", file->why);
	const char *copy = tdm_buf_failed(&why) ? NULL : tdm_arena_text(&file->arena, tdm_buf_str(&why));
	tdm_buf_done(&why);
	settle(walk, text, copy != NULL ? copy : "the file was not read to its end");
	return 0;
}
