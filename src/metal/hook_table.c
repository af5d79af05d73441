#include "metal/hook_table.h"
#include "metal/hook_list.h"

#include <string.h>

/* A row's facts about its function, repeated in the rows for the function's other symbols. */
#define X(id, result, arguments, since, until, topic, is_needed, name, sees, symbol) \
	static const char name_##id[] = name, sees_##id[] = sees;                    \
	enum { topic_##id = TDM_METAL_##topic, needed_##id = is_needed };
#define Y(...)
TDM_METAL_HOOKS(X, Y)
TDM_METAL_QUESTIONS(X)
#undef X
#undef Y

const struct tdm_metal_symbol tdm_metal_symbols[] = {
#define X(id, result, arguments, since, until, topic, is_needed, name, sees, symbol) \
	{ name_##id, symbol, since, until, TDM_METAL_##topic, IS_HOOK, is_needed, sees_##id },
#define Y(id, same, since, until, symbol) \
	{ name_##same, symbol, since, until, (enum tdm_metal_topic)topic_##same, IS_HOOK, needed_##same, sees_##same },
#define Z(field, since, until, symbol) Y(, field, since, until, symbol)
#define IS_HOOK                        true
	TDM_METAL_HOOKS(X, Y)
#undef IS_HOOK
#define IS_HOOK false
		TDM_METAL_QUESTIONS(X) TDM_METAL_OLD_QUESTIONS(Z)
};
const size_t tdm_metal_symbol_count = sizeof tdm_metal_symbols / sizeof tdm_metal_symbols[0];

const char *tdm_metal_topic_name(enum tdm_metal_topic topic)
{
	static const char *const names[TDM_METAL_TOPICS] = { "buffers", "devices", "out of memory", "circular buffers",
		"clashes", "dataflow buffers", "presence of scratchpads", "kernel code", "traces", "pinned host memory",
		"names of operations", "the runtime's own statistics" };
	return names[topic];
}

static bool has(const bool *present, const char *name)
{
	for (size_t i = 0; i < tdm_metal_symbol_count; i++)
		if (present[i] && strcmp(tdm_metal_symbols[i].name, name) == 0)
			return true;
	return false;
}

/* Whether a function is present under any of its symbols, or another function that can replace it is. */
static bool has_or_does_without(const bool *present, const char *name)
{
	static const struct {
		const char *name, *instead;
	} others[] = {
		{ "AllocatorImpl::allocate_buffer", "GraphTracker::track_allocate" },
		{ "AllocatorImpl::deallocate_buffer", "GraphTracker::track_deallocate" },
		{ "MeshDevice::end_mesh_trace", "AllocatorImpl::register_active_trace" },
		{ "MeshDevice::end_mesh_trace", "Device::end_trace" },
		{ "MeshDevice::release_mesh_trace", "AllocatorImpl::unregister_active_trace" },
		{ "MeshDevice::release_mesh_trace", "Device::release_trace" },
		{ "MeshDevice::replay_mesh_trace", "Device::replay_trace" },
	};
	bool is_there = has(present, name);
	for (size_t i = 0; i < sizeof others / sizeof others[0] && !is_there; i++)
		is_there = strcmp(others[i].name, name) == 0 && has(present, others[i].instead);
	return is_there;
}

const char *tdm_metal_missing(enum tdm_metal_topic topic, const bool *present)
{
	if (topic == TDM_METAL_OUT_OF_MEMORY)
		return has(present, tdm_metal_symbols[0].name) ? NULL : tdm_metal_symbols[0].name;
	for (size_t i = 0; i < tdm_metal_symbol_count; i++) {
		const struct tdm_metal_symbol *symbol = &tdm_metal_symbols[i];
		if (symbol->topic == topic && symbol->is_needed && !has_or_does_without(present, symbol->name))
			return symbol->name;
	}
	return NULL;
}
