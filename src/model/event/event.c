#include "model/event/event.h"
#include "base/units.h"

static const char *const op_names[TDM_OP_COUNT] = {
	[TDM_OP_DEVICE] = "device",
	[TDM_OP_ALLOC] = "alloc",
	[TDM_OP_FREE] = "free",
	[TDM_OP_PHASE] = "phase",
	[TDM_OP_PROGRAM] = "program",
	[TDM_OP_OOM] = "oom",
	[TDM_OP_QUERY] = "query",
	[TDM_OP_SHRINK] = "shrink",
	[TDM_OP_PROCESS] = "process",
	[TDM_OP_USAGE] = "usage",
	[TDM_OP_MODULE] = "module",
	[TDM_OP_CLEAR] = "clear",
	[TDM_OP_LOST] = "lost",
	[TDM_OP_FORGET] = "forget",
	[TDM_OP_STEP] = "step",
	[TDM_OP_TOLD] = "told",
	[TDM_OP_NOTES] = "notes",
};

const char *tdm_op_name(enum tdm_op op)
{
	return (unsigned)op < TDM_OP_COUNT ? op_names[op] : "unknown";
}

const char *tdm_step_name(uint64_t step)
{
	static const char *const names[TDM_STEP_END] = {
		[TDM_STEP_OPENED] = "device opened",
		[TDM_STEP_CLOSED] = "device closed",
		[TDM_STEP_TRACE_BEGAN] = "trace begun",
		[TDM_STEP_TRACE_ENDED] = "trace captured",
		[TDM_STEP_TRACE_REPLAYED] = "trace replayed",
		[TDM_STEP_TRACE_RELEASED] = "trace released",
	};
	return step != 0 && step < TDM_STEP_END ? names[step] : "unknown";
}

static const char *const from_names[TDM_FROM_COUNT] = {
#define X(id, name) [TDM_FROM_##id] = (name),
	TDM_FROM_LIST(X)
#undef X
};

const char *tdm_from_name(enum tdm_from from)
{
	return (unsigned)from < TDM_FROM_COUNT ? from_names[from] : "unknown";
}

const struct tdm_counter tdm_counter_unknown = {
	.reserved = TDM_BYTES_UNKNOWN,
	.peak = TDM_BYTES_UNKNOWN,
	.asked = TDM_BYTES_UNKNOWN,
	.peak_asked = TDM_BYTES_UNKNOWN,
	.occupied = TDM_BYTES_UNKNOWN,
	.bank = TDM_BYTES_UNKNOWN,
	.peak_bank = TDM_BYTES_UNKNOWN,
	.l1_peak = TDM_BYTES_UNKNOWN,
	.buffers = TDM_BYTES_UNKNOWN,
	.peak_buffers = TDM_BYTES_UNKNOWN,
	.allocs = TDM_BYTES_UNKNOWN,
	.alloc_bytes = TDM_BYTES_UNKNOWN,
	.alloc_asked = TDM_BYTES_UNKNOWN,
	.adopted = TDM_BYTES_UNKNOWN,
	.double_frees = TDM_BYTES_UNKNOWN,
	.unknown_frees = TDM_BYTES_UNKNOWN,
	.rereports = TDM_BYTES_UNKNOWN,
	.out_of_memory = TDM_BYTES_UNKNOWN,
	.oom_bytes = TDM_BYTES_UNKNOWN,
};

static bool range_is_valid(const struct tdm_event *event)
{
	if (event->address == TDM_ADDRESS_UNKNOWN)
		return (event->flags & TDM_EVENT_FIXED) == 0;
	return event->bytes_per_bank == TDM_SIZE_UNKNOWN || event->bytes_per_bank <= UINT64_MAX - event->address;
}

/* Whether bytes per bank × banks fits 64 bits. */
static bool sizes_are_valid(const struct tdm_event *event)
{
	uint64_t product, banks = event->banks > event->holding ? event->banks : event->holding;
	return event->bytes_per_bank == TDM_SIZE_UNKNOWN ||
	       !__builtin_mul_overflow(event->bytes_per_bank, banks, &product);
}

static bool frames_are_valid(const struct tdm_frame *frames, uint32_t count)
{
	if (count > TDM_FRAMES_MAX || (frames == NULL && count != 0))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!tdm_str_is_valid(frames[i].text))
			return false;
	return true;
}

static bool ranges_are_valid(const struct tdm_event *event)
{
	if (event->range_count > TDM_RANGES_MAX || (event->ranges == NULL && event->range_count != 0))
		return false;
	for (uint32_t i = 0; i < event->range_count; i++)
		if (!tdm_core_range_is_valid(&event->ranges[i]))
			return false;
	return true;
}

static bool about_is_valid(const struct tdm_device_info *about)
{
	if (about->region_count > TDM_REGIONS_MAX || memchr(about->card, '\0', sizeof about->card) == NULL)
		return false;
	for (uint32_t i = 0; i < about->region_count; i++) {
		const struct tdm_region *region = &about->regions[i];
		uint64_t product;
		if (region->kind >= TDM_KIND_COUNT || region->bank_size > UINT64_MAX - region->base ||
			__builtin_mul_overflow(region->bank_size, (uint64_t)region->banks, &product))
			return false;
	}
	return true;
}

static bool who_is_valid(const struct tdm_process *who)
{
	return who != NULL && who->pid > 0 && who->life <= TDM_LIFE_ENDED &&
	       memchr(who->comm, '\0', sizeof who->comm) != NULL &&
	       memchr(who->command, '\0', sizeof who->command) != NULL;
}

bool tdm_event_is_valid(const struct tdm_event *event)
{
	if (event->op >= TDM_OP_COUNT || event->kind >= TDM_KIND_COUNT)
		return false;
	if (!tdm_str_is_valid(event->name) || !tdm_str_is_valid(event->text) || !tdm_str_is_valid(event->program))
		return false;
	switch (event->op) {
	case TDM_OP_ALLOC:
		return range_is_valid(event) && sizes_are_valid(event) &&
		       frames_are_valid(event->frames, event->frame_count) && ranges_are_valid(event);
	case TDM_OP_DEVICE:
		return event->about != NULL ? about_is_valid(event->about) : event->text.len != 0;
	case TDM_OP_PROCESS:
		return who_is_valid(event->who);
	case TDM_OP_USAGE:
		return event->counter != NULL;
	case TDM_OP_STEP:
		return event->size != 0 && event->size < TDM_STEP_END;
	case TDM_OP_TOLD:
		if (event->told == NULL || (event->told->traces == NULL && event->told->trace_count != 0) ||
			(event->told->hazards == NULL && event->told->hazard_count != 0) ||
			(event->told->clashes == NULL && event->told->clash_count != 0))
			return false;
		for (size_t i = 0; i < event->told->clash_count; i++) {
			const struct tdm_clash *c = &event->told->clashes[i];
			if (c->type >= TDM_CLASH_TYPES || c->kind >= TDM_KIND_COUNT || c->count == 0 || c->x0 > c->x1 ||
				c->y0 > c->y1)
				return false;
		}
		for (size_t i = 0; i < event->told->hazard_count; i++)
			if (event->told->hazards[i].kind >= TDM_KIND_COUNT ||
				event->told->hazards[i].state >= TDM_HAZARD_STATES)
				return false;
		return true;
	case TDM_OP_NOTES:
		return event->notes != NULL && (event->notes->list != NULL || event->notes->count == 0);
	case TDM_OP_MODULE:
		return event->name.len != 0 && event->size <= UINT64_MAX - event->address;
	default:
		return true;
	}
}
