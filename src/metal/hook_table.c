#include "metal/hook_table.h"

#define P "_ZN2tt8tt_metal"

const struct tdm_metal_symbol tdm_metal_symbols[] = {
	{ "AllocatorImpl::allocate_buffer", P "13AllocatorImpl15allocate_bufferEPNS0_6BufferE", "v0.66", NULL,
		TDM_METAL_BUFFERS, true, true, "each buffer when it is allocated, and requests that fail" },
	{ "AllocatorImpl::allocate_buffer", P "9Allocator15allocate_bufferEPNS0_6BufferE", "v0.57", "v0.65",
		TDM_METAL_BUFFERS, true, true, "each buffer when it is allocated, and requests that fail" },
};
const size_t tdm_metal_symbol_count = sizeof tdm_metal_symbols / sizeof tdm_metal_symbols[0];

const char *tdm_metal_topic_name(enum tdm_metal_topic topic)
{
	static const char *const names[TDM_METAL_TOPICS] = { "buffers", "devices", "out of memory", "circular buffers",
		"clashes", "dataflow buffers", "scratchpads", "kernel code", "traces", "pinned host memory",
		"names of operations", "the runtime's own statistics" };
	return names[topic];
}
