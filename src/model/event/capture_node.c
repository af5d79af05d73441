#include "model/event/capture_node.h"

static const char *const type_names[] = { [TDM_CAPTURE_UNTYPED] = "untyped",
	[TDM_CAPTURE_OTHER] = "other",
#define X(id, name) [TDM_CAPTURE_##id] = name,
	TDM_CAPTURE_LIST(X)
#undef X
};

const char *tdm_capture_type_name(enum tdm_capture_type type)
{
	return (unsigned)type < sizeof type_names / sizeof *type_names ? type_names[type] : "unknown";
}

/* Indexed by the runtime's buffer type number. */
static const uint8_t buffer_kinds[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_SYSTEM, TDM_KIND_L1_SMALL,
	TDM_KIND_TRACE };

enum tdm_kind tdm_capture_kind(const struct tdm_capture_node *node)
{
	const struct tdm_capture_number *type = &node->buffer_type;
	switch (node->type) {
	case TDM_CAPTURE_CB_ALLOCATE:
		return TDM_KIND_CB;
	case TDM_CAPTURE_DFB_ALLOCATE:
		return TDM_KIND_DFB;
	case TDM_CAPTURE_SCRATCHPAD_ALLOCATE:
		return TDM_KIND_SCRATCHPAD;
	default:
		break;
	}
	if (type->state == TDM_CAPTURE_GIVEN && type->value >= 0 && type->value < (int64_t)sizeof buffer_kinds)
		return (enum tdm_kind)buffer_kinds[type->value];
	return node->memory == TDM_CAPTURE_MEMORY_L1 ? TDM_KIND_L1 : TDM_KIND_DRAM;
}
