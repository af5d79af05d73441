#include "sources/ledger_event.h"
#include "base/units.h"

uint64_t tdm_ledger_time(const struct tdm_ledger *ledger, uint64_t tsc)
{
	uint64_t ns;
	return tsc != 0 && tdm_ledger_monotonic(ledger, tsc, &ns) ? ns : 0;
}

struct tdm_process tdm_ledger_process(const struct tdm_ledger *ledger, enum tdm_liveness liveness)
{
	static const uint8_t lives[] = {
		[TDM_ALIVE] = TDM_LIFE_RUNS,
		[TDM_DEAD] = TDM_LIFE_ENDED,
		[TDM_ALIVE_UNKNOWN] = TDM_LIFE_UNKNOWN,
	};
	const struct tdm_ledger_who *who = tdm_ledger_who(ledger);
	uint32_t flags = tdm_ledger_flags(ledger);
	struct tdm_process process = {
		.pid_namespace = who->pid_namespace,
		.pid = who->pid,
		.start_time = who->start_time,
		.generation = who->generation,
		.uid = tdm_ledger_file_owner(ledger),
		.life = lives[liveness],
		.is_on_behalf = (flags & TDM_LEDGER_ON_BEHALF) != 0,
		.is_renewed = (flags & TDM_LEDGER_RENEWED) != 0,
		.mode_refused = (flags & TDM_LEDGER_BAD_MODE) != 0,
		.ring_refused = (flags & TDM_LEDGER_BAD_RING) != 0,
		.closed = tdm_ledger_state(ledger) == TDM_LEDGER_CLOSED,
		.started_ns = tdm_ledger_started(ledger),
		.lost_texts = tdm_ledger_lost(ledger, TDM_LOSS_TEXT),
		.refused = tdm_ledger_refused(ledger),
		.frees_inherited = tdm_ledger_frees_inherited(ledger),
	};
	static_assert(sizeof process.comm == sizeof who->comm && sizeof process.command == sizeof who->command,
		"both are the ledger's texts with a terminator");
	memcpy(process.boot_id, who->boot_id, sizeof process.boot_id);
	memcpy(process.comm, who->comm, sizeof process.comm);
	memcpy(process.command, who->command, sizeof process.command);
	for (int i = 0; i < TDM_LOSS_COUNT; i++) {
		process.losses[i] = tdm_ledger_lost(ledger, (enum tdm_ledger_loss)i);
		if (i != TDM_LOSS_TEXT)
			process.lost = tdm_plus(process.lost, process.losses[i]);
	}
	return process;
}

bool tdm_ledger_device_number(const struct tdm_ledger_view *view, uint32_t *number)
{
	if ((view->number & TDM_DEVICE_VIRTUAL_BIT) != 0)
		return false;
	*number = view->number | ((view->flags & TDM_DEVICE_VIRTUAL) != 0 ? TDM_DEVICE_VIRTUAL_BIT : 0);
	return true;
}

struct tdm_device_info tdm_ledger_device_info(const struct tdm_ledger_view *view)
{
	struct tdm_device_info info = {
		.has_chip_id = (view->flags & TDM_DEVICE_HAS_CHIP_ID) != 0,
		.is_virtual = (view->flags & TDM_DEVICE_VIRTUAL) != 0,
		.chip_id = view->chip_id,
		.grid_x = view->grid_x,
		.grid_y = view->grid_y,
		.region_count = view->region_count,
	};
	static_assert(sizeof info.card == sizeof view->card, "both are the ledger's text with a terminator");
	static_assert((int)TDM_REGIONS_MAX == (int)TDM_LEDGER_REGIONS, "every region has a place");
	memcpy(info.card, view->card, sizeof info.card);
	for (uint32_t i = 0; i < view->region_count; i++)
		info.regions[i] = (struct tdm_region){
			.kind = (uint8_t)view->regions[i].kind,
			.banks = view->regions[i].banks,
			.base = view->regions[i].base,
			.bank_size = view->regions[i].bank_size,
			.align = view->regions[i].align,
		};
	return info;
}

struct tdm_usage tdm_ledger_usage(
	const struct tdm_ledger *ledger, const struct tdm_ledger_view *view, enum tdm_kind kind)
{
	const struct tdm_ledger_count *count = &view->counts[kind];
	const struct tdm_ledger_faults *faults = &view->faults[kind];
	return (struct tdm_usage){
		.reserved_bytes = count->bytes,
		.peak_reserved_bytes = count->peak_bytes,
		.asked_bytes = count->asked_bytes,
		.peak_asked_bytes = count->peak_asked_bytes,
		.bank_bytes = count->bank_bytes,
		.peak_bank_bytes = count->peak_bank_bytes,
		.buffers = count->buffers,
		.peak_buffers = count->peak_buffers,
		.allocs = count->allocs,
		.alloc_bytes = count->alloc_bytes,
		.adopted = count->adopted,
		.peak_ns = tdm_ledger_time(ledger, count->peak_tsc),
		.double_frees = faults->double_frees,
		.unknown_frees = faults->unknown_frees,
		.rereports = faults->rereports,
		.views = faults->views,
		.out_of_memory = faults->out_of_memory,
		.oom_bytes = faults->oom_bytes,
		.estimated = faults->estimated,
		.l1_peak_bytes = kind == TDM_KIND_L1 ? view->counts[TDM_LEDGER_L1_ALL].peak_bytes : 0,
		.is_shared = (view->shared_kinds >> kind & 1) != 0,
	};
}

uint32_t tdm_ledger_frames(struct tdm_ledger *ledger, uint32_t stack, struct tdm_frame frames[TDM_LEDGER_STACK_MAX])
{
	uint64_t raw[TDM_LEDGER_STACK_MAX];
	size_t count = stack != 0 ? tdm_ledger_stack(ledger, stack, raw) : 0;
	static_assert((int)TDM_FRAMES_MAX == (int)TDM_LEDGER_STACK_MAX, "every frame has a place");
	for (size_t i = 0; i < count; i++) {
		frames[i] = (struct tdm_frame){ .address = raw[i] };
		if ((raw[i] & TDM_FRAME_TEXT) != 0)
			frames[i] = (struct tdm_frame){ .text = tdm_ledger_text(ledger, (uint32_t)raw[i]) };
	}
	return (uint32_t)count;
}

static const struct tdm_core_range *read_ranges(struct tdm_ledger *ledger, uint32_t number, uint32_t *count)
{
	static_assert((int)TDM_RANGES_MAX == (int)TDM_LEDGER_RANGES_MAX, "every rectangle has a place");
	*count = 0;
	return number != 0 ? tdm_ledger_ranges(ledger, number, count) : NULL;
}

static uint16_t flags_of(uint32_t flags)
{
	return (uint16_t)(((flags & TDM_SLOT_VIEW) != 0 ? TDM_EVENT_VIEW : 0) |
			  ((flags & TDM_SLOT_SHARED) != 0 ? TDM_EVENT_SHARED : 0) |
			  ((flags & TDM_SLOT_ADOPTED) != 0 ? TDM_EVENT_ADOPTED : 0));
}

static uint64_t address_of(uint64_t address, uint32_t flags)
{
	return (flags & TDM_SLOT_NO_ADDRESS) != 0 ? TDM_ADDRESS_UNKNOWN : address;
}

static struct tdm_str text_of(struct tdm_ledger *ledger, uint32_t number)
{
	return number != 0 ? tdm_ledger_text(ledger, number) : (struct tdm_str){ "", 0 };
}

void tdm_ledger_buffer_event(struct tdm_ledger *ledger, const struct tdm_ledger_buffer *buffer,
	struct tdm_frame frames[TDM_LEDGER_STACK_MAX], struct tdm_event *event)
{
	const struct tdm_ledger_slot *slot = &buffer->slot;
	const struct tdm_ledger_more *more = &buffer->more;
	bool is_estimated = (slot->flags & TDM_SLOT_ESTIMATED) != 0;
	*event = (struct tdm_event){
		.op = TDM_OP_ALLOC,
		.time_ns = tdm_ledger_time(ledger, more->tsc),
		.kind = slot->kind,
		.flags = flags_of(slot->flags),
		.id = slot->id,
		.address = address_of(slot->address, slot->flags),
		.size = slot->asked,
		.bytes_per_bank = is_estimated ? TDM_SIZE_UNKNOWN : slot->bank_bytes,
		.page_size = more->page_size,
		.banks = is_estimated ? 0 : slot->banks,
		.holding = is_estimated ? 0 : more->holding,
		.cores = more->cores,
		.thread = more->thread,
		.position = slot->birth,
		.name = text_of(ledger, slot->name),
		.program = text_of(ledger, more->program),
		.frames = frames,
		.frame_count = tdm_ledger_frames(ledger, slot->stack, frames),
	};
	event->ranges = read_ranges(ledger, more->ranges, &event->range_count);
	if (tdm_slot_is_view(slot->banks, slot->flags))
		event->flags |= TDM_EVENT_VIEW;
	else if (slot->banks == 0)
		event->banks = more->holding; /* a shared one: its cores */
}

void tdm_ledger_record_event(struct tdm_ledger *ledger, const struct tdm_ledger_record *record,
	struct tdm_frame frames[TDM_LEDGER_STACK_MAX], struct tdm_event *event)
{
	static const uint8_t ops[TDM_LEDGER_OP_COUNT] = {
		[TDM_LEDGER_ALLOC] = TDM_OP_ALLOC,
		[TDM_LEDGER_FREE] = TDM_OP_FREE,
		[TDM_LEDGER_OOM] = TDM_OP_OOM,
		[TDM_LEDGER_PHASE] = TDM_OP_PHASE,
		[TDM_LEDGER_PROGRAM] = TDM_OP_PROGRAM,
		[TDM_LEDGER_STEP] = TDM_OP_STEP,
		[TDM_LEDGER_BAD_FREE] = TDM_OP_FREE, /* of an unknown buffer, which the receiver notices, too */
	};
	bool is_estimated = (record->flags & TDM_SLOT_ESTIMATED) != 0;
	*event = (struct tdm_event){
		.op = ops[record->op],
		.time_ns = tdm_ledger_time(ledger, record->tsc),
		.kind = record->kind,
		.flags = flags_of(record->flags),
		.id = record->id,
		.address = address_of(record->address, record->flags),
		.size = record->asked,
		.bytes_per_bank = is_estimated ? TDM_SIZE_UNKNOWN : record->bank_bytes,
		.banks = is_estimated ? 0 : record->banks,
		.thread = record->op != TDM_LEDGER_ALLOC && record->op != TDM_LEDGER_FREE ? record->thread : 0,
		.position = record->seq,
		.name = text_of(ledger, record->name),
		.frames = frames,
		.frame_count = record->op == TDM_LEDGER_FREE ? tdm_ledger_frames(ledger, record->stack, frames) : 0,
	};
	if (record->op == TDM_LEDGER_ALLOC && tdm_slot_is_view(record->banks, record->flags))
		event->flags |= TDM_EVENT_VIEW;
	if (record->op == TDM_LEDGER_OOM && (record->flags & TDM_RECORD_CLASH) != 0)
		event->flags |= TDM_EVENT_CLASH | ((record->flags & TDM_RECORD_BEYOND) != 0 ? TDM_EVENT_BEYOND : 0);
	if (record->op == TDM_LEDGER_BAD_FREE)
		event->flags |= TDM_EVENT_FAULT;
}

void tdm_ledger_phase_event(struct tdm_ledger *ledger, const struct tdm_ledger_phase *phase, struct tdm_event *event)
{
	*event = (struct tdm_event){
		.op = TDM_OP_PHASE,
		.time_ns = tdm_ledger_time(ledger, phase->begin_tsc),
		.address = TDM_ADDRESS_UNKNOWN,
		.bytes_per_bank = TDM_SIZE_UNKNOWN,
		.name = text_of(ledger, phase->name),
	};
}
