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

static bool range_is_valid(const struct tdm_event *event)
{
	if (event->address == TDM_ADDRESS_UNKNOWN)
		return (event->flags & TDM_EVENT_FIXED) == 0;
	return event->bytes_per_bank == TDM_SIZE_UNKNOWN || event->bytes_per_bank <= UINT64_MAX - event->address;
}

/* The product of bytes in a bank and banks fits 64 bits. */
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

static bool told_is_valid(const struct tdm_told *told)
{
	if (told == NULL || (told->traces == NULL && told->trace_count != 0) ||
		(told->hazards == NULL && told->hazard_count != 0) || (told->clashes == NULL && told->clash_count != 0))
		return false;
	for (size_t i = 0; i < told->clash_count; i++) {
		const struct tdm_clash *c = &told->clashes[i];
		if (c->type >= TDM_CLASH_TYPES || c->kind >= TDM_KIND_COUNT || c->count == 0 ||
			!tdm_core_range_is_valid(&c->range) || !tdm_str_is_valid(c->program))
			return false;
	}
	for (size_t i = 0; i < told->hazard_count; i++) {
		const struct tdm_hazard *h = &told->hazards[i];
		if (h->kind >= TDM_KIND_COUNT || h->state >= TDM_HAZARD_STATES || !tdm_str_is_valid(h->name) ||
			!tdm_str_is_valid(h->program) || !frames_are_valid(h->frames, h->frame_count) ||
			!frames_are_valid(h->replay_frames, h->replay_frame_count))
			return false;
	}
	return true;
}

static bool notes_are_valid(const struct tdm_notes *notes)
{
	if (notes == NULL || (notes->list == NULL && notes->count != 0))
		return false;
	for (size_t i = 0; i < notes->count; i++)
		if (!tdm_str_is_valid(notes->list[i].text))
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
		return event->usage != NULL;
	case TDM_OP_STEP:
		return event->size != 0 && event->size < TDM_STEP_END;
	case TDM_OP_TOLD:
		return told_is_valid(event->told);
	case TDM_OP_NOTES:
		return notes_are_valid(event->notes);
	case TDM_OP_MODULE:
		return event->name.len != 0 && event->size <= UINT64_MAX - event->address;
	default:
		return true;
	}
}
