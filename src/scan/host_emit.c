/* Objects to entries: buffers and kernels, and the places in the text that they come from. */
#include "scan/host_parts.h"

#include "scan/place.h"

#include <errno.h>

static const struct tdm_expr *first_of(const struct tdm_expr *list, uint32_t place)
{
	return list != NULL && list->op == TDM_EXPR_LIST && place < list->arg_count ? list->args[place] : NULL;
}

/* A part of a format descriptor, by name or, in a plain list, by place. */
static const struct tdm_expr *format_part(const struct tdm_expr *format, const char *name, uint32_t place)
{
	if (format == NULL)
		return NULL;
	const struct tdm_expr *value = tdm_expr_field(format, name);
	return value != NULL ? value : first_of(format, place);
}

static bool is_given(const struct tdm_expr *expr)
{
	return expr != NULL && expr->op != TDM_EXPR_NOTHING && !host_is_null(expr);
}

static const struct tdm_expr *first_given(const struct tdm_expr *a, const struct tdm_expr *b)
{
	return is_given(a) ? a : is_given(b) ? b : NULL;
}

static void descriptor_facts(const struct tdm_expr *object, struct tdm_buffer_facts *facts)
{
	const struct tdm_expr *formats = host_unwrapped(tdm_expr_field(object, "format_descriptors"));
	const struct tdm_expr *remote = host_unwrapped(tdm_expr_field(object, "remote_format_descriptors"));
	const struct tdm_expr *first = first_of(formats, 0), *second = first_of(formats, 1);
	if (first == NULL && formats != NULL && formats->op == TDM_EXPR_OBJECT)
		first = formats;
	if (first == NULL)
		first = first_of(remote, 0);
	facts->kind = TDM_KIND_CB;
	facts->index = format_part(first, "buffer_index", 0);
	facts->format = format_part(first, "data_format", 1);
	facts->page = format_part(first, "page_size", 2);
	facts->also_index = format_part(second, "buffer_index", 0);
	facts->total = tdm_expr_field(object, "total_size");
	facts->cores = tdm_expr_field(object, "core_ranges");
	facts->view_of = first_given(tdm_expr_field(object, "buffer"), tdm_expr_field(object, "tensor"));
	facts->view_of = first_given(facts->view_of, tdm_expr_field(object, "global_circular_buffer"));
}

static void config_facts(const struct tdm_expr *object, struct tdm_buffer_facts *facts)
{
	const struct tdm_expr *formats = host_unwrapped(tdm_expr_field(object, "formats"));
	const struct tdm_expr *first = first_of(formats, 0), *second = first_of(formats, 1);
	bool is_pair = first != NULL && first->op != TDM_EXPR_LIST; /* {index, format} without the outer braces */
	facts->kind = TDM_KIND_CB;
	facts->index = is_pair ? first : first_of(first, 0);
	facts->format = is_pair ? second : first_of(first, 1);
	facts->also_index = is_pair ? NULL : first_of(second, 0);
	facts->page = tdm_expr_field(object, "page_size");
	if (facts->index == NULL)
		facts->index = first_given(tdm_expr_field(object, "own_index"), tdm_expr_field(object, "paged_index"));
	if (facts->index == NULL)
		facts->index = tdm_expr_field(object, "own_index");
	if (facts->index == NULL)
		facts->index = tdm_expr_field(object, "paged_index");
	if (facts->format == NULL)
		facts->format = tdm_expr_field(object, "data_format");
	facts->total = tdm_expr_field(object, "total_size");
	facts->view_of = first_given(tdm_expr_field(object, "buffer"), NULL);
}

/* Options that make a dataflow buffer share the memory of another one. */
static const struct tdm_expr *alias_of(const struct tdm_expr *object)
{
	const struct tdm_expr *places[] = { object, tdm_expr_field(object, "advanced_options") };
	for (size_t p = 0; p < 2; p++)
		for (uint32_t i = 0; places[p] != NULL && places[p]->op == TDM_EXPR_OBJECT && i < places[p]->arg_count;
			i++) {
			const struct tdm_expr *field = places[p]->args[i];
			bool is_alias = field->text.len >= 5 && memcmp(field->text.ptr, "alias", 5) == 0;
			if (is_alias && is_given(field->args[0]))
				return field->args[0];
		}
	return NULL;
}

/* A value that may stand in braces: {"input"}. */
static const struct tdm_expr *without_braces(const struct tdm_expr *value)
{
	while (value != NULL && value->op == TDM_EXPR_LIST && value->arg_count == 1)
		value = value->args[0];
	return value;
}

/* The name of something that may not be there is that which it has when it is there. */
static const struct tdm_expr *when_there(const struct tdm_expr *name)
{
	name = without_braces(name);
	if (name == NULL || name->op != TDM_EXPR_CHOOSE)
		return name;
	const struct tdm_expr *a = when_there(name->args[1]), *b = when_there(name->args[2]);
	if (host_is_null(a) || host_is_null(b))
		return host_is_null(a) ? b : a;
	return tdm_expr_is_same(a, b) ? a : name;
}

static const struct tdm_expr *name_of(const struct tdm_expr *object)
{
	return when_there(tdm_expr_field(object, "unique_id"));
}

static void dataflow_facts(struct host *host, const struct tdm_expr *object, struct tdm_buffer_facts *facts)
{
	const struct tdm_expr *entries = tdm_expr_field(object, "num_entries");
	facts->kind = TDM_KIND_DFB;
	facts->name = name_of(object);
	facts->format = first_given(tdm_expr_field(object, "data_format_metadata"), NULL);
	facts->format_is_optional = true;
	facts->page = tdm_expr_field(object, "entry_size");
	if (facts->page != NULL && entries != NULL)
		facts->total = tdm_expr_binary(host->arena, TDM_EXPR_MULTIPLY, facts->page, entries);
	facts->view_of = without_braces(first_given(tdm_expr_field(object, "borrowed_from"), alias_of(object)));
}

static void scratchpad_facts(const struct tdm_expr *object, struct tdm_buffer_facts *facts)
{
	facts->kind = TDM_KIND_SCRATCHPAD;
	facts->name = name_of(object);
	facts->total = tdm_expr_field(object, "size_per_node");
	facts->format_is_optional = true;
}

void host_facts(
	struct host *host, const struct host_made *made, const struct tdm_expr *object, struct tdm_buffer_facts *facts)
{
	*facts = (struct tdm_buffer_facts){
		.shape = made->site.line != 0 ? TDM_SHAPE_HELPER : made->type,
		.line = made->line,
		.defined_line = made->line,
		.helper = made->site.helper,
		.variable = made->variable,
		.object = object,
	};
	switch (made->type) {
	case TDM_SHAPE_CB_DESCRIPTOR:
		descriptor_facts(object, facts);
		break;
	case TDM_SHAPE_CB_CONFIG:
		config_facts(object, facts);
		break;
	case TDM_SHAPE_DFB_SPEC:
		dataflow_facts(host, object, facts);
		break;
	default:
		scratchpad_facts(object, facts);
		break;
	}
}

/* Leaves out the choices that the branches around it have made. */
static void settle_in_branch(struct host *host, struct tdm_buffer_facts *facts, const struct host_branch *branch)
{
	const struct tdm_expr **parts[] = { &facts->index, &facts->also_index, &facts->name, &facts->format,
		&facts->page, &facts->total, &facts->view_of };
	struct tdm_way way = { .count = 0 };
	for (; branch != NULL; branch = branch->outer)
		tdm_way_add(&way, branch->condition, true);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (*parts[i] != NULL)
			*parts[i] = tdm_way_take(&way, *parts[i], host->arena);
	if (facts->view_of != NULL && host_is_null(facts->view_of))
		facts->view_of = NULL;
}

static bool depends(const struct tdm_expr *expr)
{
	return expr != NULL && tdm_expr_has_parameter(expr);
}

/* A helper makes buffers whose index or name its caller gives, or whose size its caller gives if it is called like one:
 * by a name that says so, and not just once for several buffers. One that only makes kernels gets their source. */
bool host_is_helper(const struct host *host, struct tdm_str name)
{
	size_t count = 0;
	bool names_given = false, sizes_given = false, sources_given = false;
	for (const struct host_made *made = host->first; made != NULL; made = made->next) {
		struct tdm_buffer_facts facts;
		if (made->type == HOST_TYPE_KERNEL)
			sources_given |= depends(tdm_expr_field(made->latest, "source")) ||
					 depends(tdm_expr_field(made->latest, "kernel_source"));
		if (made->type == HOST_TYPE_KERNEL || made->is_replaced)
			continue;
		const struct tdm_expr *object = made->creations != NULL ? made->creations->object : made->latest;
		host_facts((struct host *)(uintptr_t)host, made, object, &facts);
		count++;
		names_given |= host_is_from_caller(facts.index) || host_is_from_caller(facts.name);
		sizes_given |= depends(facts.total) || depends(facts.page);
	}
	if (count == 0)
		return sources_given;
	if (names_given || !sizes_given || !tdm_name_is_creator(name))
		return names_given;
	const struct tdm_project *project = host->walk->project;
	return count == 1 || (project != NULL && tdm_project_call_count(project, name) > 1);
}

static void mark(struct host *host, uint32_t byte, uint8_t grasp, const char *why, bool is_helper_body)
{
	struct tdm_scan_place *place = byte != UINT32_MAX ? tdm_place_at(host->walk->file, byte) : NULL;
	if (place == NULL || place->grasp < grasp)
		return;
	place->grasp = grasp;
	place->why = why;
	place->is_helper_body |= is_helper_body;
}

void host_mark_call(struct host *host, uint32_t byte)
{
	mark(host, byte, TDM_GRASP_WHOLLY, "", true);
}

void host_mark_nothing(struct host *host, uint32_t byte)
{
	mark(host, byte, TDM_GRASP_WHOLLY, "", false);
}

void host_mark_helper_body(struct host *host, uint32_t start, uint32_t end)
{
	struct tdm_scan_file *file = host->walk->file;
	for (size_t i = tdm_place_from(file, start); i < file->place_count && file->places[i].byte < end; i++) {
		struct tdm_scan_place *place = &file->places[i];
		place->is_helper_body = true;
		place->grasp = TDM_GRASP_WHOLLY;
	}
}

/* Whether the helper that made it calls itself, which is not followed. */
static bool is_cut(const struct host *host, const struct host_made *made)
{
	for (uint32_t i = 0; i < host->cut_count && made->site.line != 0; i++)
		if (host->cut_sites[i] == made->site.byte)
			return true;
	return false;
}

static int emit_buffer(
	struct host *host, const struct host_made *made, const struct host_creation *creation, uint32_t program)
{
	struct tdm_buffer_facts facts;
	const struct tdm_expr *object = creation != NULL ? creation->object : made->latest;
	host_facts(host, made, object, &facts);
	const struct host_branch *branch = creation != NULL ? creation->branch : made->branch;
	if (creation != NULL && made->site.line == 0)
		facts.line = creation->line;
	facts.also_missing = is_cut(host, made) ? "what its helper creates when it calls itself" : NULL;
	settle_in_branch(host, &facts, branch);
	facts.branch = branch != NULL ? &branch->shown : NULL;
	facts.in_loop = creation != NULL ? creation->in_loop : made->in_loop;
	facts.program = program;
	if (creation != NULL && creation->cores != NULL)
		facts.cores = creation->cores;
	int err = tdm_walk_add_buffer(host->walk, &facts);
	if (err != 0)
		return err;
	const struct tdm_scan_buffer *buffer = &host->walk->file->buffers[host->walk->file->buffer_count - 1];
	mark(host, made->byte, buffer->grasp, buffer->missing, made->site.line != 0);
	if (made->site.line != 0)
		mark(host, made->site.byte, buffer->grasp, buffer->missing, false);
	return 0;
}

static int emit_kernel(struct host *host, const struct host_made *made, uint32_t program)
{
	const struct tdm_expr *object = made->latest;
	const struct tdm_expr *source = tdm_expr_field(object, "source");
	if (source == NULL)
		source = tdm_expr_field(object, "kernel_source");
	const struct tdm_expr *cores = tdm_expr_field(object, "cores");
	if (cores == NULL)
		cores = tdm_expr_field(object, "core_ranges");
	struct tdm_scan_kernel kernel = {
		.file = host->walk->file_idx,
		.line = made->line,
		.defined_line = made->byte != UINT32_MAX ? tdm_walk_line(host->walk, made->byte) : made->line,
		.program = program,
		.name = tdm_expr_plain_text(name_of(object), host->arena),
		.source = tdm_expr_plain_text(source, host->arena),
		.source_expr = source,
		.cores = tdm_expr_plain_text(cores, host->arena),
		.object = object,
		.branch = made->branch != NULL ? &made->branch->shown : NULL,
	};
	return tdm_walk_add_kernel(host->walk, &kernel);
}

/* CircularBufferConfig(0, …) that nothing creates: what takes its place has the entry. */
static bool is_placeholder(const struct host_made *made)
{
	int64_t size;
	const struct tdm_expr *total = tdm_expr_field(made->latest, "total_size");
	return made->type == TDM_SHAPE_CB_CONFIG && made->creations == NULL && total != NULL &&
	       tdm_expr_value(total, NULL, &size) == 0 && size == 0;
}

int host_emit(struct host *host, struct tdm_str name, uint32_t line)
{
	uint32_t program = 0;
	int err = host->first != NULL ? tdm_walk_add_program(host->walk, name, line, &program) : 0;
	if (err == 0 && host->first != NULL)
		host->walk->file->programs[program].calls_creator |= host->calls_creator;
	for (const struct host_made *made = host->first; made != NULL && err == 0; made = made->next) {
		if (made->is_replaced || is_placeholder(made)) {
			mark(host, made->byte, TDM_GRASP_WHOLLY, "", false);
			mark(host, made->site.line != 0 ? made->site.byte : UINT32_MAX, TDM_GRASP_WHOLLY, "", false);
			continue;
		}
		if (made->type == HOST_TYPE_KERNEL) {
			err = emit_kernel(host, made, program);
			continue;
		}
		const struct host_creation *creation = made->creations;
		do {
			err = emit_buffer(host, made, creation, program);
			creation = creation != NULL ? creation->next : NULL;
		} while (creation != NULL && err == 0);
	}
	return err == 0 && host->arena->failed ? -ENOMEM : err;
}
