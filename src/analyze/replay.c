#include "analyze/replay.h"
#include "analyze/replay_setup.h"
#include "base/err.h"
#include "base/reserve.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A buffer of the trace that has not been freed. One cache line. */
struct tdm_replay_live {
	uint64_t id;
	uint64_t address;
	uint8_t space;
	bool placed; /* false: its allocation failed, or it takes no bytes */
	bool failed;
	struct tdm_short_name name;
};

double tdm_replay_frag(uint64_t free, uint64_t largest)
{
	return free != 0 ? 1.0 - (double)largest / (double)free : 0;
}

struct tdm_replay *tdm_replay_new(const struct tdm_replay_options *options)
{
	struct tdm_replay *replay = calloc(1, sizeof *replay);
	if (replay == NULL)
		return NULL;
	if (options != NULL)
		replay->options = *options;
	replay->spare = TDM_MAP_NONE;
	replay->stride = 1;
	if (tdm_map_init(&replay->by_id) != 0) {
		free(replay);
		return NULL;
	}
	return replay;
}

void tdm_replay_free(struct tdm_replay *replay)
{
	if (replay == NULL)
		return;
	for (size_t i = 0; i < replay->space_count; i++)
		tdm_freelist_free(replay->spaces[i].list);
	tdm_findings_done(&replay->findings);
	tdm_map_done(&replay->by_id);
	free(replay->live);
	free(replay);
}

/* The live buffers. */

static void live_drop(struct tdm_replay *replay, uint32_t index)
{
	replay->live[index] = (struct tdm_replay_live){ .id = replay->spare };
	replay->spare = index;
}

static int live_new(struct tdm_replay *replay, uint64_t id, uint32_t *index)
{
	if (replay->spare != TDM_MAP_NONE) {
		*index = replay->spare;
		replay->spare = (uint32_t)replay->live[*index].id;
	} else {
		if (replay->live_used == TDM_MAP_NONE || tdm_reserve(&replay->live, &replay->live_cap,
								 replay->live_used + 1U, sizeof *replay->live) != 0)
			return -ENOMEM;
		*index = replay->live_used++;
	}
	int err = tdm_map_put(&replay->by_id, id, *index);
	if (err != 0)
		live_drop(replay, *index);
	return err;
}

/* Replaces bytes of a name that would upset a terminal or end the text. */
static void clean(char *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
			name[i] = '?';
}

static struct tdm_short_name short_name(struct tdm_str name)
{
	struct tdm_short_name out;
	static const char mark[] = "...";
	size_t len = name.len;
	if (len >= sizeof out.text) {
		len = sizeof out.text - sizeof mark;
		while (len != 0 && ((unsigned char)name.ptr[len] & 0xc0) == 0x80)
			len--; /* do not split a UTF-8 character */
		memcpy(out.text + len, mark, sizeof mark);
	} else {
		out.text[len] = '\0';
	}
	if (len != 0)
		memcpy(out.text, name.ptr, len);
	clean(out.text, len);
	return out;
}

/* Setting up. */

static int open_spaces(struct tdm_replay *replay, struct tdm_diag *diag, const struct tdm_event *event)
{
	const struct tdm_replay_setup *setup = &replay->setup;
	size_t count = setup->is_device ? TDM_REPLAY_SPACES : 1;
	for (size_t i = 0; i < count; i++) {
		struct tdm_replay_space *space = &replay->spaces[i];
		const struct tdm_bank_range *range = &setup->range[i];
		*space = (struct tdm_replay_space){
			.name = setup->is_device ? tdm_kind_name((enum tdm_kind)i) : "region",
			.kind = (enum tdm_kind)i,
			.range = *range,
			.tightest = range->size,
			.worst_free = 1,
		};
		struct tdm_freelist_config config = { range->base, range->size, range->block_align, setup->min_alloc[i],
			setup->fit };
		int err = tdm_freelist_new(&config, &space->list);
		if (err != 0) {
			while (i-- != 0)
				tdm_freelist_free(replay->spaces[i].list);
			return tdm_diag_set(diag, err, event->position, event->column, "cannot model %s: %s",
				space->name, tdm_err_text(err));
		}
	}
	replay->space_count = count;
	return 0;
}

/* Statistics over time. */

static void thin_samples(struct tdm_replay_space *space)
{
	space->sample_count /= 2;
	for (size_t i = 0; i < space->sample_count; i++)
		space->samples[i] = space->samples[i * 2 + 1]; /* the samples at multiples of the new stride */
}

/* Samples every space each `stride` requests; when there is no room left, every second sample is dropped and the stride
 * doubles. */
static void take_samples(struct tdm_replay *replay)
{
	if (replay->spaces[0].sample_count == TDM_REPLAY_SAMPLES) {
		for (size_t i = 0; i < replay->space_count; i++)
			thin_samples(&replay->spaces[i]);
		replay->stride *= 2;
		if (replay->ops % replay->stride != 0)
			return;
	}
	for (size_t i = 0; i < replay->space_count; i++) {
		struct tdm_replay_space *space = &replay->spaces[i];
		struct tdm_freelist_stats s = tdm_freelist_stats(space->list);
		space->samples[space->sample_count++] =
			(struct tdm_replay_sample){ replay->ops, s.allocated, s.free, s.largest_free };
	}
}

static void note_state(struct tdm_replay *replay, struct tdm_replay_space *space, uint64_t line)
{
	struct tdm_freelist_stats s = tdm_freelist_stats(space->list);
	if (s.allocated > space->peak) {
		space->peak = s.allocated;
		space->peak_op = replay->ops;
		space->peak_line = line;
		space->peak_buffers = s.used_blocks;
	}
	if (s.largest_free < space->tightest) {
		space->tightest = s.largest_free;
		space->tightest_op = replay->ops;
		space->tightest_line = line;
	}
	/* As products: exact, and a division on every request would cost more than the request. */
	uint64_t outside = s.free - s.largest_free;
	if ((unsigned __int128)outside * space->worst_free > (unsigned __int128)space->worst_outside * s.free) {
		space->worst_free = s.free;
		space->worst_outside = outside;
		space->worst_frag = tdm_replay_frag(s.free, s.largest_free);
		space->worst_frag_op = replay->ops;
		space->worst_frag_line = line;
	}
}

/* Holes. */

static void keep_hole(struct tdm_hole *holes, size_t *count, const struct tdm_block *block)
{
	size_t at = *count;
	while (at > 0 && holes[at - 1].size < block->size)
		at--;
	if (at == TDM_REPLAY_HOLES)
		return;
	size_t last = *count < TDM_REPLAY_HOLES ? *count : TDM_REPLAY_HOLES - 1;
	memmove(holes + at + 1, holes + at, (last - at) * sizeof *holes);
	holes[at] = (struct tdm_hole){ .address = block->address, .size = block->size };
	*count = last + 1;
}

/* Fills in the buffers on both sides of each hole, in one pass over the live buffers. */
static void name_bounds(const struct tdm_replay *replay, size_t space, struct tdm_hole *holes, size_t count)
{
	for (uint32_t i = 0; i < replay->live_used; i++) {
		const struct tdm_replay_live *live = &replay->live[i];
		if (!live->placed || live->space != space)
			continue;
		uint64_t size = tdm_freelist_size_at(replay->spaces[space].list, live->address);
		for (size_t h = 0; h < count; h++) {
			if (live->address + size == holes[h].address)
				holes[h].below = (struct tdm_hole_bound){ true, live->name, size };
			if (live->address == holes[h].address + holes[h].size)
				holes[h].above = (struct tdm_hole_bound){ true, live->name, size };
		}
	}
}

size_t tdm_replay_holes(const struct tdm_replay *replay, size_t space, struct tdm_hole holes[TDM_REPLAY_HOLES])
{
	struct tdm_freelist_walk walk;
	struct tdm_block block;
	size_t count = 0;
	tdm_freelist_walk(replay->spaces[space].list, &walk);
	while (tdm_freelist_walk_next(&walk, &block))
		if (!block.used)
			keep_hole(holes, &count, &block);
	name_bounds(replay, space, holes, count);
	return count;
}

/* Allocating. */

/* An allocation, as one bank sees it. */
struct request {
	uint64_t bytes_per_bank, aligned_size;
	enum tdm_grow grow;
	bool empty; /* a buffer of no bytes: the runtime gives it address 0 and takes nothing */
};

static int make_request(struct tdm_replay *replay, const struct tdm_replay_space *space, const struct tdm_event *event,
	struct request *request, struct tdm_diag *diag)
{
	bool bottom_up = space->range.bottom_up;
	if ((event->flags & (TDM_EVENT_BOTTOM_UP | TDM_EVENT_TOP_DOWN)) != 0)
		bottom_up = (event->flags & TDM_EVENT_BOTTOM_UP) != 0;
	*request = (struct request){ event->size, event->size, bottom_up ? TDM_BOTTOM_UP : TDM_TOP_DOWN, false };
	if (!replay->setup.is_device)
		return 0;
	if (event->size == 0) {
		request->empty = true;
		return 0;
	}
	if (event->bytes_per_bank != TDM_SIZE_UNKNOWN) {
		request->bytes_per_bank = event->bytes_per_bank;
		return 0;
	}
	if (space->kind == TDM_KIND_L1_SMALL && event->cores == 0)
		return tdm_diag_set(diag, TDM_EREFUSED, event->position, event->column,
			"expected cores=N: the runtime refuses interleaved L1_SMALL buffers");
	struct tdm_bank_spread spread;
	struct tdm_buffer_shape shape = { event->size, event->page_size, event->cores };
	struct tdm_diag inner = { 0 };
	/*
	 * A region of size 0 has no banks to spread over; the failure is reported later, with the figures of one bank.
	 */
	struct tdm_bank_range range = space->range;
	if (range.banks == 0)
		range.banks = event->cores != 0 ? event->cores : 1;
	int err = tdm_bank_spread(&range, &shape, &spread, &inner);
	if (err != 0)
		return tdm_diag_set(diag, err, event->position, event->column, "%s",
			inner.text[0] != '\0' ? inner.text : tdm_err_text(err));
	request->bytes_per_bank = spread.bytes_per_bank;
	request->aligned_size = spread.aligned_size;
	return 0;
}

static enum tdm_cause cause_of(
	const struct tdm_replay_space *space, const struct tdm_event *event, uint64_t need, int err)
{
	struct tdm_freelist_stats s = tdm_freelist_stats(space->list);
	uint64_t base = space->range.base, size = space->range.size;
	if (size == 0)
		return TDM_CAUSE_NO_REGION;
	if (err == TDM_EOCCUPIED)
		return event->address < base || need > size || event->address - base > size - need ? TDM_CAUSE_OUTSIDE
												   : TDM_CAUSE_OCCUPIED;
	enum tdm_cause cause = tdm_cause_of(need, s.total, s.free, s.largest_free);
	return cause != TDM_CAUSE_UNKNOWN ? cause : TDM_CAUSE_FRAGMENTED;
}

/* The message that the runtime would print; it does not know fixed addresses. */
static void put_message(struct tdm_findings *out, const struct tdm_replay_space *space, const struct tdm_event *event,
	const struct request *request)
{
	static const char *const types[TDM_REPLAY_SPACES] = { "DRAM", "L1", "L1_SMALL", "TRACE" };
	struct tdm_freelist_stats s = tdm_freelist_stats(space->list);
	char text[512];
	int len = snprintf(text, sizeof text,
		"Out of Memory: Not enough space to allocate %" PRIu64 " B %s buffer across %" PRIu32
		" banks, where each bank needs to store %" PRIu64 " B, but bank size is %" PRIu64
		" B (allocated: %" PRIu64 " B, free: %" PRIu64 " B, largest free block: %" PRIu64 " B)",
		request->aligned_size, types[space->kind], event->cores != 0 ? event->cores : space->range.banks,
		request->bytes_per_bank, s.total, s.allocated, s.free, s.largest_free);
	bool is_printed = space->range.banks != 0 && (event->flags & TDM_EVENT_FIXED) == 0;
	tdm_findings_place(out, "runtime_message", (struct tdm_str){ text, is_printed ? (size_t)len : 0 });
}

/* Advises to move the smallest buffer whose absence would join two holes into one that is large enough. */
static void advise_joining(struct tdm_findings *out, uint64_t need, const struct tdm_hole *holes, size_t count)
{
	const struct tdm_hole_bound *best = NULL;
	uint64_t joined = 0;
	for (size_t i = 0; i < count * count; i++) {
		const struct tdm_hole *low = &holes[i / count], *high = &holes[i % count];
		uint64_t between = low->above.bytes, bytes = low->size + between + high->size;
		if (!low->above.is_buffer || low->address + low->size + between != high->address || bytes < need ||
			(best != NULL && between >= best->bytes))
			continue;
		best = &low->above;
		joined = bytes;
	}
	if (best == NULL)
		return;
	char size[TDM_BYTES_CAP], block[TDM_BYTES_CAP];
	tdm_findings_advise(out, NULL,
		"allocate %s (%s) at another time, or free it first: without it the largest block would be %s B",
		best->name.text, tdm_format_bytes_short(size, sizeof size, best->bytes),
		tdm_format_count(block, sizeof block, joined));
	tdm_findings_change(out, "largest_free", TDM_UNIT_BYTES, joined);
}

static void advise(struct tdm_findings *out, enum tdm_cause cause, uint64_t need, uint64_t free,
	const struct tdm_hole *holes, size_t count)
{
	char bytes[TDM_BYTES_CAP];
	if (cause == TDM_CAUSE_FRAGMENTED)
		advise_joining(out, need, holes, count);
	if (cause != TDM_CAUSE_EXHAUSTED)
		return;
	tdm_findings_advise(out, NULL, "free at least %s B more per bank before it",
		tdm_format_count(bytes, sizeof bytes, need - free));
	tdm_findings_change(out, "free", TDM_UNIT_BYTES, need);
}

/* The first failure of a space becomes a finding. 0 or -ENOMEM. */
static int note_failure(struct tdm_replay *replay, struct tdm_replay_space *space, const struct tdm_event *event,
	const struct request *request, int err)
{
	struct tdm_findings *out = &replay->findings;
	struct tdm_hole holes[TDM_REPLAY_HOLES];
	struct tdm_freelist_stats s = tdm_freelist_stats(space->list);
	bool is_device = replay->setup.is_device;
	uint64_t need = request->bytes_per_bank;
	if (space->failures++ != 0)
		return 0;
	tdm_freelist_round(space->list, request->bytes_per_bank, &need);
	enum tdm_cause cause = cause_of(space, event, need, err);
	space->first_failure = out->count;
	space->failed = short_name(event->name);
	struct tdm_finding *finding =
		tdm_findings_add(out, TDM_FAMILY_REPLAY, tdm_cause_name(cause), TDM_FINDING_BROKEN);
	finding->code = (uint8_t)cause;
	finding->about.name = space->failed.text;
	finding->about.kind = is_device ? (uint8_t)space->kind : TDM_KIND_COUNT;
	tdm_findings_position(out, "line", TDM_UNIT_COUNT, event->position);
	tdm_findings_position(out, "request", TDM_UNIT_COUNT, replay->ops);
	if ((event->flags & TDM_EVENT_FIXED) != 0)
		tdm_findings_position(out, "address", TDM_UNIT_ADDRESS, event->address);
	tdm_findings_figure(out, "size", TDM_UNIT_BYTES, event->size); /* asked for, all banks */
	tdm_findings_figure(out, "cores", TDM_UNIT_COUNT, event->cores);
	tdm_findings_figure(out, "bytes_per_bank", TDM_UNIT_BYTES, request->bytes_per_bank);
	tdm_findings_figure(out, "needed_per_bank", TDM_UNIT_BYTES, need); /* in one piece */
	tdm_findings_figure(out, "total", TDM_UNIT_BYTES, s.total);
	tdm_findings_figure(out, "allocated", TDM_UNIT_BYTES, s.allocated);
	tdm_findings_figure(out, "free", TDM_UNIT_BYTES, s.free);
	tdm_findings_figure(out, "largest_free", TDM_UNIT_BYTES, s.largest_free);
	tdm_findings_real(out, "fragmentation", TDM_UNIT_SHARE, tdm_replay_frag(s.free, s.largest_free));
	if (is_device) {
		tdm_findings_figure(out, "banks", TDM_UNIT_COUNT, space->range.banks);
		put_message(out, space, event, request);
	}
	size_t count = tdm_replay_holes(replay, (size_t)(space - replay->spaces), holes);
	tdm_findings_holes(out, holes, count);
	advise(out, cause, need, s.free, holes, count);
	return out->failed ? -ENOMEM : 0;
}

static void put_result(const struct tdm_replay *replay, const struct tdm_event *event, const struct request *request,
	bool placed, uint64_t address, struct tdm_buf *results)
{
	if (results == NULL)
		return;
	tdm_buf_add(results, event->name.ptr, event->name.len);
	if (!tdm_buf_failed(results))
		clean(results->data + results->len - event->name.len, event->name.len);
	if (!placed)
		tdm_buf_puts(results, " none\n");
	else if (replay->setup.is_device)
		tdm_buf_printf(results, " %" PRIu64 " %" PRIu64 "\n", address, request->bytes_per_bank);
	else
		tdm_buf_printf(results, " %" PRIu64 "\n", address);
}

/* The entry of the event's buffer: a new one, or that of an earlier failed attempt with the same name. */
static int live_entry(struct tdm_replay *replay, const struct tdm_event *event, uint32_t *index, struct tdm_diag *diag)
{
	*index = tdm_map_find(&replay->by_id, event->id);
	if (*index != TDM_MAP_NONE) {
		if (!replay->live[*index].failed)
			return tdm_diag_set(diag, TDM_EREFUSED, event->position, event->column,
				"expected a new name: '%s' is still allocated", replay->live[*index].name.text);
		return 0;
	}
	int err = live_new(replay, event->id, index);
	if (err != 0)
		return tdm_diag_set(diag, err, event->position, 0, "out of memory for live buffers");
	return 0;
}

static int place(
	struct tdm_replay_space *space, const struct tdm_event *event, const struct request *request, uint64_t *address)
{
	*address = event->address;
	if (request->empty) {
		*address = 0;
		return 0;
	}
	if ((event->flags & TDM_EVENT_FIXED) != 0)
		return tdm_freelist_place(space->list, event->address, request->bytes_per_bank);
	return tdm_freelist_alloc(space->list, request->bytes_per_bank, request->grow, 0, address);
}

static int apply_alloc(
	struct tdm_replay *replay, const struct tdm_event *event, struct tdm_buf *results, struct tdm_diag *diag)
{
	size_t at = replay->setup.is_device ? event->kind : 0;
	struct request request;
	uint32_t index;
	if (at >= replay->space_count)
		return tdm_diag_set(diag, TDM_EREFUSED, event->position, event->column,
			"expected a buffer in dram, l1, l1_small or trace, got one in %s",
			tdm_kind_name((enum tdm_kind)event->kind));
	int refused, err = live_entry(replay, event, &index, diag);
	if (err != 0)
		return err;
	struct tdm_replay_space *space = &replay->spaces[at];
	struct tdm_replay_live *live = &replay->live[index];
	*live = (struct tdm_replay_live){
		.id = event->id, .space = (uint8_t)at, .failed = true, .name = short_name(event->name)
	};

	refused = make_request(replay, space, event, &request, diag);
	if (refused != 0)
		return refused;
	err = place(space, event, &request, &live->address);
	if (err == -ERANGE || err == -ENOMEM)
		return tdm_diag_set(diag, err, event->position, event->column,
			err == -ERANGE ? "expected a size that still fits 64 bits when it is rounded up"
				       : "out of memory");
	live->failed = err != 0;
	live->placed = err == 0 && !request.empty;
	put_result(replay, event, &request, err == 0, live->address, results);
	if (err != 0 && note_failure(replay, space, event, &request, err) != 0)
		return tdm_diag_set(diag, -ENOMEM, event->position, 0, "out of memory");
	if (err != 0)
		return 0;
	space->allocs++;
	replay->live_count++;
	note_state(replay, space, event->position);
	return 0;
}

static int apply_free(struct tdm_replay *replay, const struct tdm_event *event, struct tdm_diag *diag)
{
	uint32_t index = tdm_map_take(&replay->by_id, event->id);
	if (index == TDM_MAP_NONE)
		return tdm_diag_set(diag, TDM_ENOTFOUND, event->position, event->column,
			"expected the name of a live buffer, got '%s'", short_name(event->name).text);
	struct tdm_replay_live *live = &replay->live[index];
	struct tdm_replay_space *space = &replay->spaces[live->space];
	if (live->placed)
		tdm_freelist_release(space->list, live->address, NULL);
	if (!live->failed) {
		space->frees++;
		replay->live_count--;
		note_state(replay, space, event->position);
	}
	live_drop(replay, index);
	return 0;
}

static void apply_query(struct tdm_replay *replay, struct tdm_buf *results)
{
	for (size_t i = 0; results != NULL && i < replay->space_count; i++) {
		struct tdm_freelist_stats s = tdm_freelist_stats(replay->spaces[i].list);
		tdm_buf_puts(results, "stats ");
		if (replay->setup.is_device)
			tdm_buf_printf(results, "%s ", replay->spaces[i].name);
		tdm_buf_printf(results,
			"total=%" PRIu64 " allocated=%" PRIu64 " free=%" PRIu64 " largest=%" PRIu64 "\n", s.total,
			s.allocated, s.free, s.largest_free);
	}
}

static int apply_shrink(
	struct tdm_replay *replay, const struct tdm_event *event, struct tdm_buf *results, struct tdm_diag *diag)
{
	struct tdm_freelist *list = replay->spaces[0].list;
	const char *verb = event->size != 0 ? "shrink" : "reset";
	int err = event->size != 0 ? tdm_freelist_shrink(list, event->size) : tdm_freelist_reset(list);
	if (err == -ENOMEM)
		return tdm_diag_set(diag, err, event->position, 0, "out of memory");
	if (results != NULL && err != 0)
		tdm_buf_printf(results, "%s none\n", verb);
	else if (results != NULL)
		tdm_buf_printf(results, "%s total=%" PRIu64 "\n", verb, tdm_freelist_stats(list).total);
	note_state(replay, &replay->spaces[0], event->position);
	return 0;
}

static int apply_device(struct tdm_replay *replay, const struct tdm_event *event, struct tdm_diag *diag)
{
	if (replay->space_count != 0)
		return tdm_diag_set(
			diag, TDM_EREFUSED, event->position, event->column, "expected one device or region only");
	int err = tdm_replay_setup(event, &replay->options, &replay->setup, diag);
	return err != 0 ? err : open_spaces(replay, diag, event);
}

int tdm_replay_apply(
	struct tdm_replay *replay, const struct tdm_event *event, struct tdm_buf *results, struct tdm_diag *diag)
{
	int err = 0;
	if (event->op == TDM_OP_DEVICE)
		return apply_device(replay, event, diag);
	if (replay->space_count == 0)
		return tdm_diag_set(diag, TDM_EREFUSED, event->position, event->column,
			"expected a 'region' or 'device' line that could be used before this");
	replay->ops++;
	switch (event->op) {
	case TDM_OP_ALLOC:
		err = apply_alloc(replay, event, results, diag);
		break;
	case TDM_OP_FREE:
		err = apply_free(replay, event, diag);
		break;
	case TDM_OP_QUERY:
		apply_query(replay, results);
		break;
	case TDM_OP_SHRINK:
		err = apply_shrink(replay, event, results, diag);
		break;
	default:
		break; /* phases and programs do not change memory */
	}
	if (replay->ops % replay->stride == 0)
		take_samples(replay);
	return err;
}

const struct tdm_card *tdm_replay_card(const struct tdm_replay *replay)
{
	return replay->setup.is_device ? &replay->setup.card : NULL;
}

bool tdm_replay_has(const struct tdm_replay *replay, uint64_t id)
{
	return tdm_map_find(&replay->by_id, id) != TDM_MAP_NONE;
}
