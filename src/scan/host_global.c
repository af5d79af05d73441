/* Names that no function declares: the runtime's own constants, and what the project defines. */
#include "scan/host.h"

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

/* Indexes of circular buffers: c_16 is 16; the old names are c_in0, c_dataflow0, c_out0, c_intermed0. */
static bool buffer_index(struct tdm_str name, int64_t *number)
{
	static const struct {
		const char *prefix;
		int64_t first;
	} groups[] = { { "c_in", 0 }, { "dataflow", 8 }, { "c_dataflow", 8 }, { "c_out", 16 }, { "c_intermed", 24 },
		{ "c_", 0 } };
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
		size_t len = strlen(groups[i].prefix);
		uint64_t digits;
		if (name.len <= len || memcmp(name.ptr, groups[i].prefix, len) != 0)
			continue;
		if (tdm_str_parse_u64((struct tdm_str){ name.ptr + len, name.len - len }, &digits) == 0 &&
			digits < 256) {
			*number = groups[i].first + (int64_t)digits;
			return true;
		}
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

/* The definition to believe: one of the same file, else the only one, else one of several that say the same. */
static struct tdm_definition *pick(struct tdm_definition *first, uint32_t file, bool (*is_wanted)(uint8_t kind))
{
	struct tdm_definition *chosen = NULL;
	for (struct tdm_definition *d = first; d != NULL; d = tdm_definition_next(d))
		if (is_wanted(d->kind) && d->file == file)
			return d;
	for (struct tdm_definition *d = first; d != NULL; d = tdm_definition_next(d)) {
		if (!is_wanted(d->kind) || d->is_private)
			continue;
		if (chosen != NULL && !tdm_str_eq(chosen->text, d->text))
			return NULL;
		chosen = d;
	}
	return chosen;
}

static bool is_value_kind(uint8_t kind)
{
	return kind == TDM_DEFINES_CONSTANT || kind == TDM_DEFINES_MACRO;
}

static bool is_enum_kind(uint8_t kind)
{
	return kind == TDM_DEFINES_ENUM;
}

const struct tdm_expr *host_global(struct host_frame *frame, struct tdm_str scope, struct tdm_str name)
{
	struct tdm_project *project = frame->host->walk->project;
	int64_t number;
	const struct tdm_data_format *format = NULL;
	if (tdm_str_is(scope, "DataFormat"))
		format = tdm_data_format_find(name);
	else if (tdm_str_is(scope, "DataType"))
		format = format_of_type(name);
	if (format != NULL)
		return tdm_expr_format(frame->host->arena, format);
	bool is_index = tdm_str_is(scope, "CBIndex") || tdm_str_is(scope, "CB") || scope.len == 0;
	if (is_index && buffer_index(name, &number))
		return tdm_expr_number(frame->host->arena, number);
	if (known_constant(name, &number))
		return tdm_expr_number(frame->host->arena, number);
	if (project == NULL)
		return NULL;
	struct tdm_definition *an_enum =
		pick(tdm_project_find(project, scope.len != 0 ? scope : name), frame->source->file, is_enum_kind);
	if (an_enum == NULL && scope.len != 0)
		an_enum = pick(tdm_project_find(project, name), frame->source->file, is_enum_kind);
	const struct tdm_expr *value = an_enum != NULL ? enumerator(frame, an_enum, name) : NULL;
	if (value != NULL)
		return value;
	struct tdm_definition *definition = pick(tdm_project_find(project, name), frame->source->file, is_value_kind);
	return definition != NULL ? eval_definition(frame, definition) : NULL;
}
