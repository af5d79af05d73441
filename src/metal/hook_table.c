#include "metal/hook_table.h"
#include "metal/hook_list.h"

#include <string.h>

const struct tdm_metal_symbol tdm_metal_symbols[] = {
#define X(id, result, arguments, symbol, name, since, until, topic, is_needed, sees) \
	{ name, symbol, since, until, topic, true, is_needed, sees },
	TDM_METAL_HOOKS(X)
#undef X
#define X(field, result, arguments, symbol, name, since, until, topic, is_needed, sees) \
	{ name, symbol, since, until, topic, false, is_needed, sees },
		TDM_METAL_QUESTIONS(X)
#undef X
#define X(field, symbol, name, since, until, topic, is_needed, sees) \
	{ name, symbol, since, until, topic, false, is_needed, sees },
			TDM_METAL_OLD_QUESTIONS(X)
#undef X
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

/* Whether a function is there under any of its names, or another that does as well. */
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
