#include "event/event.h"

static const char *const op_names[TDM_OP_COUNT] = {
	[TDM_OP_DEVICE] = "device",
	[TDM_OP_ALLOC] = "alloc",
	[TDM_OP_FREE] = "free",
	[TDM_OP_PHASE] = "phase",
	[TDM_OP_PROGRAM] = "program",
	[TDM_OP_OOM] = "oom",
	[TDM_OP_QUERY] = "query",
	[TDM_OP_SHRINK] = "shrink",
};

const char *tdm_op_name(enum tdm_op op)
{
	return (unsigned)op < TDM_OP_COUNT ? op_names[op] : "unknown";
}

static bool range_is_valid(const struct tdm_event *event)
{
	if (event->address == TDM_ADDRESS_UNKNOWN)
		return (event->flags & TDM_EVENT_FIXED) == 0;
	return event->bytes_per_bank == TDM_SIZE_UNKNOWN || event->bytes_per_bank <= UINT64_MAX - event->address;
}

bool tdm_event_is_valid(const struct tdm_event *event)
{
	if (event->op >= TDM_OP_COUNT || event->kind >= TDM_KIND_COUNT)
		return false;
	if ((event->name.ptr == NULL && event->name.len != 0) || (event->text.ptr == NULL && event->text.len != 0))
		return false;
	switch (event->op) {
	case TDM_OP_ALLOC:
		return range_is_valid(event);
	case TDM_OP_DEVICE:
		return event->text.len != 0;
	case TDM_OP_PHASE:
		return event->name.len != 0;
	default:
		return true;
	}
}
