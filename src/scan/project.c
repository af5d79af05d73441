#include "scan/project.h"

#include <errno.h>
#include <stdlib.h>

#include "base/reserve.h"

int tdm_project_init(struct tdm_project *project)
{
	*project = (struct tdm_project){ 0 };
	tdm_arena_init(&project->arena, 0);
	int err = tdm_map_init(&project->by_name);
	if (err == 0)
		err = tdm_map_init(&project->calls);
	return err != 0 ? err : -pthread_mutex_init(&project->lock, NULL);
}

void tdm_project_done(struct tdm_project *project)
{
	for (size_t i = 0; i < project->first_count; i++)
		for (struct tdm_definition *d = project->firsts[i]; d != NULL; d = d->next)
			if (d->piece != NULL)
				tdm_syntax_done(&d->piece->syntax);
	free(project->firsts);
	tdm_map_done(&project->by_name);
	tdm_map_done(&project->calls);
	tdm_arena_done(&project->arena);
	pthread_mutex_destroy(&project->lock);
	*project = (struct tdm_project){ 0 };
}

bool tdm_project_is_header(const struct tdm_project *project, uint32_t file)
{
	const char *path = project->paths != NULL ? project->paths[file] : "";
	const char *base = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
	const char *dot = strrchr(base, '.');
	return dot != NULL && (dot[1] == 'h' || dot[1] == 'i');
}

uint64_t tdm_definition_key(
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
	while (d != NULL && !tdm_str_eq(d->name, name)) /* another name with the same hash */
		d = d->next;
	return d;
}

struct tdm_definition *tdm_project_find(const struct tdm_project *project, struct tdm_str name)
{
	return find_key(project, tdm_str_hash(name), name);
}

struct tdm_definition *tdm_project_find_own(const struct tdm_project *project, struct tdm_str name, uint32_t file)
{
	return find_key(project, tdm_definition_key(project, TDM_DEFINES_CONSTANT, name, file), name);
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

/* The text that a definition is parsed as. */
static const char *piece_text(struct tdm_arena *arena, const struct tdm_definition *definition)
{
	static const char before[] = "auto tdm_value = ", after[] = ";";
	bool is_value = definition->kind == TDM_DEFINES_CONSTANT || definition->kind == TDM_DEFINES_MACRO;
	if (!is_value) {
		size_t len = definition->text.len;
		char *text = tdm_arena_take(arena, len + 2);
		if (text == NULL)
			return NULL;
		memcpy(text, definition->text.ptr, len);
		if (definition->kind == TDM_DEFINES_ENUM)
			text[len] = ';';
		return text;
	}
	size_t len = definition->text.len;
	char *text = tdm_arena_take(arena, sizeof before + len + sizeof after);
	if (text == NULL)
		return NULL;
	memcpy(text, before, sizeof before - 1);
	memcpy(text + sizeof before - 1, definition->text.ptr, len);
	memcpy(text + sizeof before - 1 + len, after, sizeof after);
	return text;
}

static struct tdm_piece *parse_piece(
	struct tdm_project *project, const struct tdm_definition *definition, struct tdm_parser *parser)
{
	struct tdm_piece *piece = tdm_arena_take(&project->arena, sizeof *piece);
	const char *text = piece != NULL ? piece_text(&project->arena, definition) : NULL;
	if (text == NULL)
		return NULL;
	piece->text = tdm_str_of(text);
	if (tdm_syntax_parse(&piece->syntax, parser, piece->text) == 0)
		return piece;
	tdm_syntax_done(&piece->syntax);
	return NULL;
}

const struct tdm_piece *tdm_project_parse(
	struct tdm_project *project, struct tdm_definition *definition, struct tdm_parser *parser)
{
	pthread_mutex_lock(&project->lock);
	if (definition->piece == NULL)
		definition->piece = parse_piece(project, definition, parser);
	const struct tdm_piece *piece = definition->piece;
	pthread_mutex_unlock(&project->lock);
	return piece;
}
