/* Buffers that Python sources create: walks a file and adds what its functions made. */
#include <errno.h>
#include <stdlib.h>

#include "base/reserve.h"
#include "scan/place.h"
#include "scan/python.h"

/* A descriptor with the function that it belongs to. */
struct entry {
	const struct py_descriptor *made;
	const struct py_definition *owner;
	uint32_t line;
};

static const struct tdm_expr *member(const struct tdm_expr *format, const char *name)
{
	const struct tdm_expr *value = format != NULL ? tdm_expr_field(format, name) : NULL;
	return value != NULL && value->op != TDM_EXPR_NOTHING ? value : NULL;
}

/* The format descriptor at a place; NULL when there is none. */
static const struct tdm_expr *format_at(const struct py_descriptor *made, uint32_t place)
{
	bool is_list = made->formats != NULL && made->formats->op == TDM_EXPR_LIST;
	return is_list && place < made->formats->arg_count ? made->formats->args[place] : NULL;
}

static int add_buffer(struct tdm_file_walk *walk, const struct entry *entry)
{
	const struct py_descriptor *made = entry->made;
	const struct py_definition *outer = entry->owner;
	while (outer->around != NULL)
		outer = outer->around;
	struct tdm_buffer_facts facts = {
		.kind = TDM_KIND_CB,
		.shape = made->shape,
		.line = entry->line,
		.defined_line = tdm_walk_line(walk, made->byte),
		.index = member(format_at(made, 0), "buffer_index"),
		.also_index = member(format_at(made, 1), "buffer_index"),
		.format = member(format_at(made, 0), "data_format"),
		.page = member(format_at(made, 0), "page_size"),
		.total = made->total,
		.cores = made->cores,
		.view_of = made->view_of,
		.helper = made->helper,
		.variable = made->variable,
		.in_loop = made->in_loop,
		.branch = made->branch,
	};
	int err = tdm_walk_add_program(walk, outer->name, tdm_walk_node_line(walk, outer->node), &facts.program);
	return err != 0 ? err : tdm_walk_add_buffer(walk, &facts);
}

static void mark_place(struct tdm_scan_file *file, uint32_t byte, const struct tdm_scan_buffer *buffer)
{
	struct tdm_scan_place *place = tdm_place_at(file, byte);
	if (place == NULL)
		return;
	place->grasp = buffer != NULL ? buffer->grasp : TDM_GRASP_WHOLLY;
	place->why = buffer != NULL ? buffer->missing : "";
	place->is_helper_body = buffer == NULL;
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = tdm_order(a->line, b->line);
	return order != 0 ? order : tdm_order(a->made->byte, b->made->byte);
}

/* Adds the buffers in the order of their lines. */
static int add_entries(struct tdm_file_walk *walk, struct entry *entries, size_t count)
{
	int err = 0;
	if (count != 0)
		qsort(entries, count, sizeof *entries, compare_entries);
	for (size_t i = 0; err == 0 && i < count; i++) {
		err = add_buffer(walk, &entries[i]);
		if (err == 0 && entries[i].made->site_line == 0)
			mark_place(
				walk->file, entries[i].made->byte, &walk->file->buffers[walk->file->buffer_count - 1]);
		else if (err == 0)
			mark_place(walk->file, entries[i].made->byte, NULL);
	}
	return err;
}

static int emit(struct py *py)
{
	struct entry *entries = NULL;
	size_t count = 0, cap = 0;
	int err = 0;
	for (const struct py_definition *owner = py->first; owner != NULL; owner = owner->next)
		for (const struct py_descriptor *made = owner->first; err == 0 && made != NULL; made = made->next) {
			if (owner->state == PY_HELPER && owner->was_followed) {
				mark_place(py->walk->file, made->byte, NULL);
				continue;
			}
			err = tdm_reserve(&entries, &cap, count + 1, sizeof *entries);
			if (err == 0)
				entries[count++] = (struct entry){ made, owner,
					made->site_line != 0 ? made->site_line : tdm_walk_line(py->walk, made->byte) };
		}
	if (err == 0)
		err = add_entries(py->walk, entries, count);
	free(entries);
	return err;
}

/* Which names are called anywhere, and how often members are assigned. */
static int collect_names(struct py *py)
{
	const struct tdm_syntax *syntax = py->syntax;
	int err = 0;
	for (uint32_t i = 0; err == 0 && i < syntax->count; i++) {
		bool is_assigned = syntax->nodes[i].kind == TDM_SYN_assignment ||
				   syntax->nodes[i].kind == TDM_SYN_augmented_assignment;
		if (syntax->nodes[i].kind == TDM_SYN_call) {
			struct tdm_str name = py_last_name(syntax, tdm_node_with_role(syntax, i, TDM_ROLE_function));
			err = tdm_map_put(&py->called, tdm_str_hash(name), 1);
		} else if (is_assigned) {
			uint32_t left = tdm_node_with_role(syntax, i, TDM_ROLE_left);
			uint64_t hash = tdm_str_hash(tdm_node_text(syntax, left));
			uint32_t before = tdm_map_find(&py->members, hash);
			if (tdm_node_kind(syntax, left) == TDM_SYN_attribute)
				err = tdm_map_put(&py->members, hash, before == TDM_MAP_NONE ? 1 : 2);
		}
	}
	return err;
}

/* The module is a function that nobody calls. */
static void walk_module(struct py *py)
{
	struct py_definition *module = tdm_arena_take(py->arena, sizeof *module);
	if (module == NULL)
		return;
	*module = (struct py_definition){
		.thing = { PY_DEFINITION }, .name = tdm_str_of("(module)"), .state = PY_PROGRAM
	};
	struct py_at at = { .py = py, .definition = module, .frame = py_frame(py, 0) };
	py->first = py->end = module;
	py_walk_block(&at, 0);
	for (struct py_definition *definition = module->next; definition != NULL; definition = definition->next)
		py_walk_definition(py, definition);
}

static bool has_names(struct tdm_str text)
{
	return memmem(text.ptr, text.len, "CBDescriptor", 12) != NULL ||
	       memmem(text.ptr, text.len, "cb_descriptor_from_sharded_tensor", 33) != NULL;
}

static int read_with(struct py *py)
{
	int err = collect_names(py);
	if (err != 0)
		return err;
	walk_module(py);
	return py->failed || py->arena->failed ? -ENOMEM : emit(py);
}

int tdm_python_read(struct tdm_file_walk *walk)
{
	struct py py = { .walk = walk, .syntax = walk->syntax, .arena = &walk->file->arena };
	if (walk->syntax->count == 0 || !has_names(walk->syntax->text))
		return 0;
	int err = py_places_find(walk->file, walk->syntax->text, walk);
	struct tdm_map *maps[] = { &py.last, &py.called, &py.members };
	size_t made = 0;
	while (err == 0 && made < 3) {
		err = tdm_map_init(maps[made]);
		made += err == 0;
	}
	if (err == 0)
		err = read_with(&py);
	while (made != 0)
		tdm_map_done(maps[--made]);
	free(py.bindings);
	free(py.frame_parent);
	return err;
}
