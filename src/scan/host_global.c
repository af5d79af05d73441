/* Names that no function declares: the runtime's own constants, and what the project defines. */
#include "scan/host_parts.h"

#include "scan/cpp_literal.h"

static const struct tdm_str no_text = { "", 0 };

/* Names that always mean the same: the runtime's own constants. */
static bool known_constant(struct tdm_str name, int64_t *number)
{
	static const struct {
		const char *name;
		int64_t number;
	} constants[] = {
		{ "TILE_HEIGHT", 32 },
		{ "TILE_WIDTH", 32 },
		{ "TILE_HW", 1024 },
		{ "FACE_HEIGHT", 16 },
		{ "FACE_WIDTH", 16 },
		{ "FACE_HW", 256 },
		{ "TILE_SIZE", 32 },
	};
	for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
		if (tdm_str_is(name, constants[i].name)) {
			*number = constants[i].number;
			return true;
		}
	return false;
}

/* The data format of a data type of tensors. */
static const struct tdm_data_format *format_of_type(struct tdm_str name)
{
	static const struct {
		const char *type, *format;
	} types[] = {
		{ "BFLOAT16", "Float16_b" },
		{ "FLOAT32", "Float32" },
		{ "UINT32", "UInt32" },
		{ "INT32", "Int32" },
		{ "UINT16", "UInt16" },
		{ "UINT8", "UInt8" },
		{ "BFLOAT8_B", "Bfp8_b" },
		{ "BFLOAT4_B", "Bfp4_b" },
	};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (tdm_str_is(name, types[i].type))
			return tdm_data_format_find(tdm_str_of(types[i].format));
	return NULL;
}

static struct tdm_str copied(struct host *host, struct tdm_str text)
{
	const char *copy = tdm_arena_text(host->arena, text);
	return copy != NULL ? (struct tdm_str){ copy, text.len } : no_text;
}

/* What a definition of the project comes to. */
static const struct tdm_expr *eval_definition(struct host_frame *frame, struct tdm_definition *definition)
{
	const struct tdm_piece *piece =
		tdm_project_parse(frame->host->walk->project, definition, frame->host->walk->parser);
	if (piece == NULL || piece->syntax.count == 0 || frame->depth >= HOST_DEPTH_MAX / 2)
		return NULL;
	struct host_source *source = tdm_arena_take(frame->host->arena, sizeof *source);
	if (source == NULL)
		return NULL;
	*source = (struct host_source){ .syntax = &piece->syntax, .file = definition->file };
	struct host_frame inner = { .host = frame->host, .source = source, .depth = frame->depth + 16 };
	for (uint32_t i = 0; i < piece->syntax.count; i++)
		if (tdm_node_kind(&piece->syntax, i) == TDM_SYN_init_declarator)
			return host_eval(&inner, tdm_node_with_role(&piece->syntax, i, TDM_ROLE_value));
	return NULL;
}

/* An enumerator of an enum that the project defines. */
static const struct tdm_expr *enumerator(
	struct host_frame *frame, struct tdm_definition *definition, struct tdm_str name)
{
	const struct tdm_piece *piece =
		tdm_project_parse(frame->host->walk->project, definition, frame->host->walk->parser);
	int64_t value = -1;
	bool is_known = true;
	struct host_source source = { .syntax = piece != NULL ? &piece->syntax : NULL, .file = definition->file };
	for (uint32_t i = 0; piece != NULL && i < piece->syntax.count; i++) {
		if (tdm_node_kind(&piece->syntax, i) != TDM_SYN_enumerator)
			continue;
		uint32_t given = tdm_node_with_role(&piece->syntax, i, TDM_ROLE_value);
		value++;
		if (given != TDM_NODE_NONE) {
			struct host_frame inner = {
				.host = frame->host, .source = &source, .depth = frame->depth + 16
			};
			is_known = tdm_expr_value(host_eval(&inner, given), NULL, &value) == 0;
		}
		if (tdm_str_eq(
			    tdm_node_text(&piece->syntax, tdm_node_with_role(&piece->syntax, i, TDM_ROLE_name)), name))
			return is_known ? tdm_expr_enumerator(frame->host->arena, value, copied(frame->host, name))
					: NULL;
	}
	return NULL;
}

/* A name that looks like that of a constant: kPages, TILE_WIDTH. */
static bool is_constant_name(struct tdm_str name)
{
	if (name.len > 1 && name.ptr[0] == 'k' && name.ptr[1] >= 'A' && name.ptr[1] <= 'Z')
		return true;
	for (size_t i = 0; i < name.len; i++)
		if (name.ptr[i] >= 'a' && name.ptr[i] <= 'z')
			return false;
	return true;
}

/* Whether a definition of another file can be meant: it is in a header, and that is included or the name is a
 * constant's. */
static bool is_visible(const struct host_frame *frame, const struct tdm_definition *d)
{
	const struct tdm_project *project = frame->host->walk->project;
	const char *path = project->paths != NULL ? project->paths[d->file] : "";
	const char *base = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
	bool is_header = tdm_project_is_header(project, d->file);
	struct tdm_str text = frame->host->walk->syntax->text;
	return !d->is_private && is_header &&
	       (is_constant_name(d->name) || memmem(text.ptr, text.len, base, strlen(base)) != NULL);
}

static bool is_wanted(const struct tdm_definition *d, bool is_enum)
{
	bool is_value = d->kind == TDM_DEFINES_CONSTANT || d->kind == TDM_DEFINES_MACRO;
	return is_enum ? d->kind == TDM_DEFINES_ENUM : is_value;
}

/* The definition to believe: one of the same file, else the only one, else one of several that say the same. Where
 * several say different things, they are in different namespaces or classes, and nobody knows which is meant. */
static struct tdm_definition *pick(const struct host_frame *frame, struct tdm_str name, bool is_enum)
{
	const struct tdm_project *project = frame->host->walk->project;
	struct tdm_definition *chosen = NULL;
	for (struct tdm_definition *d = tdm_project_find_own(project, name, frame->source->file); d != NULL;
		d = tdm_definition_next(d)) {
		if (!is_wanted(d, is_enum) || d->file != frame->source->file)
			continue;
		if (chosen != NULL && !tdm_str_eq(chosen->text, d->text))
			return NULL;
		chosen = d;
	}
	if (chosen != NULL)
		return chosen;
	for (struct tdm_definition *d = tdm_project_find(project, name); d != NULL; d = tdm_definition_next(d)) {
		if (!is_wanted(d, is_enum) || !is_visible(frame, d))
			continue;
		if (chosen != NULL && !tdm_str_eq(chosen->text, d->text))
			return NULL;
		chosen = d;
	}
	return chosen;
}

/* What the project says about a name: an enumerator of the scope, a constant, an enumerator of an enum without a scope.
 */
static const struct tdm_expr *defined_value(struct host_frame *frame, struct tdm_str scope, struct tdm_str name)
{
	struct tdm_definition *an_enum = scope.len != 0 ? pick(frame, scope, true) : NULL;
	const struct tdm_expr *value = an_enum != NULL ? enumerator(frame, an_enum, name) : NULL;
	if (value != NULL)
		return value;
	struct tdm_definition *constant = pick(frame, name, false);
	if (constant != NULL)
		return eval_definition(frame, constant);
	an_enum = pick(frame, name, true);
	return an_enum != NULL ? enumerator(frame, an_enum, name) : NULL;
}

const struct tdm_expr *host_global(struct host_frame *frame, struct tdm_str scope, struct tdm_str name)
{
	int64_t number;
	const struct tdm_data_format *format = NULL;
	if (tdm_str_is(scope, "DataFormat"))
		format = tdm_data_format_find(name);
	else if (tdm_str_is(scope, "DataType"))
		format = format_of_type(name);
	if (format != NULL)
		return tdm_expr_format(frame->host->arena, format);
	bool is_index = tdm_str_is(scope, "CBIndex") || tdm_str_is(scope, "CB") || scope.len == 0;
	if (is_index && tdm_cpp_buffer_index(name, &number))
		return tdm_expr_number(frame->host->arena, number);
	if (known_constant(name, &number))
		return tdm_expr_number(frame->host->arena, number);
	return frame->host->walk->project != NULL ? defined_value(frame, scope, name) : NULL;
}
