/*
 * A per-core buffer is placed device by device, and on each device core by core. If a core has no room, the runtime
 * releases the devices that were served before, but not the cores of this one: their bytes stay allocated, and the
 * replay counts them.
 */
#include "analyze/replay/replay.h"
#include "base/err.h"
#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the description ---- */

static int wrong(struct tdm_diag *diag, int err, const char *expected)
{
	return tdm_diag_set(diag, err, 0, 0, "expected %s", expected);
}

/* Reads "8x7": the compute grid of every device. */
static bool parse_grid(struct tdm_str value, uint64_t *x, uint64_t *y)
{
	const char *by = value.len != 0 ? memchr(value.ptr, 'x', value.len) : NULL;
	size_t at = by != NULL ? (size_t)(by - value.ptr) : 0;
	return by != NULL && tdm_str_parse_u64((struct tdm_str){ value.ptr, at }, x) == 0 &&
	       tdm_str_parse_u64(tdm_str_from(value, at + 1), y) == 0 && *x != 0 && *x <= TDM_CORE_SIDE && *y != 0 &&
	       *y <= TDM_CORE_SIDE;
}

int tdm_replay_mesh_field(struct tdm_replay *replay, struct tdm_str word, bool unused, struct tdm_diag *diag)
{
	struct tdm_str key, value;
	uint64_t number, x, y;
	if (!tdm_card_assignment_split(word, &key, &value))
		return 1;
	if (tdm_str_is(key, "grid")) {
		if (!parse_grid(value, &x, &y))
			return wrong(diag, TDM_ESYNTAX, "a grid like 8x7, at most 64x64");
		replay->grid_x = unused ? 0 : (uint32_t)x;
		replay->grid_y = unused ? 0 : (uint32_t)y;
		return 0;
	}
	if (tdm_str_is(key, "mode")) {
		replay->is_hybrid = tdm_str_is(value, "hybrid");
		return replay->is_hybrid || tdm_str_is(value, "lockstep")
			       ? 0
			       : wrong(diag, TDM_ESYNTAX, "mode=hybrid or mode=lockstep");
	}
	if (!tdm_str_is(key, "devices"))
		return 1;
	if (tdm_str_parse_u64(value, &number) != 0 || number == 0 || number > TDM_MESH_DEVICES_MAX)
		return wrong(diag, TDM_ESYNTAX, "from 1 to 256 devices");
	replay->devices = (uint32_t)number;
	return 0;
}

int tdm_replay_mesh_check(struct tdm_replay *replay, struct tdm_diag *diag)
{
	struct tdm_bank_range *l1 = &replay->spaces[TDM_KIND_L1].range;
	bool is_given = replay->grid_x != 0;
	uint64_t x = is_given ? replay->grid_x : tdm_card_get(&replay->card, TDM_CARD_GRID_X);
	uint64_t y = is_given ? replay->grid_y : tdm_card_get(&replay->card, TDM_CARD_GRID_Y);
	bool is_known = l1->banks != 0 && x <= TDM_CORE_SIDE && y <= TDM_CORE_SIDE && x * y == l1->banks;
	replay->grid_x = is_known ? (uint32_t)x : 0;
	replay->grid_y = is_known ? (uint32_t)y : 0;
	l1->pads_pages = replay->is_hybrid;
	if (replay->is_hybrid && is_known && replay->devices > TDM_MESH_LISTS_MAX / l1->banks)
		return wrong(diag, TDM_EREFUSED, "at most 65,536 cores in the hybrid mode, of all devices together");
	return !replay->is_hybrid || is_known
		       ? 0
		       : wrong(diag, TDM_EREFUSED,
				 "grid=WxH and l1_banks=N in the hybrid mode, with a core for each bank");
}

int tdm_replay_mesh_new(struct tdm_replay *replay, const struct tdm_freelist_config *config)
{
	return tdm_mesh_l1_new(replay->spaces[TDM_KIND_L1].list, config, replay->devices,
		replay->grid_x * replay->grid_y, &replay->mesh);
}

/* ---- cores in the runtime's order ---- */

struct core_walk {
	const struct tdm_event *event;
	uint32_t range; /* number of the next range */
	uint32_t x, y;
	bool inside; /* x and y are a core of the range before that */
};

static bool next_core(struct core_walk *walk)
{
	const struct tdm_core_range *range = walk->inside ? &walk->event->ranges[walk->range - 1] : NULL;
	bool by_columns = (walk->event->flags & TDM_EVENT_COLUMNS) != 0;
	if (range != NULL && (by_columns ? walk->y < range->y1 : walk->x < range->x1)) {
		walk->x += !by_columns;
		walk->y += by_columns;
		return true;
	}
	if (range != NULL && (by_columns ? walk->x < range->x1 : walk->y < range->y1)) {
		walk->x = by_columns ? walk->x + 1 : range->x0;
		walk->y = by_columns ? range->y0 : walk->y + 1;
		return true;
	}
	walk->inside = walk->range < walk->event->range_count;
	if (!walk->inside)
		return false;
	walk->x = walk->event->ranges[walk->range].x0;
	walk->y = walk->event->ranges[walk->range++].y0;
	return true;
}

/* ---- refused requests ---- */

static bool refuse(struct tdm_replay *replay, const char *text)
{
	snprintf(replay->message, sizeof replay->message, "%s", text);
	return true;
}

/* Whether a core of the shard grid has no bank. The walk ends at the first one, so it is never longer than the grid. */
static bool is_off_grid(struct tdm_replay *replay, const struct tdm_replay_space *space, const struct tdm_event *event)
{
	struct core_walk walk = { .event = event };
	bool is_l1 = space->kind == TDM_KIND_L1 || space->kind == TDM_KIND_L1_SMALL;
	if (!is_l1 || replay->grid_x == 0)
		return false;
	while (next_core(&walk)) {
		if (walk.x < replay->grid_x && walk.y < replay->grid_y)
			continue;
		replay->message[0] = '\0';
		if (space->kind == TDM_KIND_L1)
			snprintf(replay->message, sizeof replay->message,
				"Invalid shard grid: shard core (%" PRIu32 ", %" PRIu32
				") has no L1 bank on this device, which has %" PRIu32
				" of them. Derive the shard grid from the device (dram_grid_size() for DRAM, "
				"compute_with_storage_grid_size() for L1) rather than assuming a fixed size -- a "
				"harvested device exposes fewer banks than an unharvested one of the same type. An L1 "
				"shard core outside the compute grid is legal only while it is claimed via "
				"ServiceCoreManager.",
				walk.x, walk.y, space->range.banks);
		return true;
	}
	return false;
}

bool tdm_replay_refuses(struct tdm_replay *replay, const struct tdm_replay_space *space, const struct tdm_event *event)
{
	bool per_core = (event->flags & TDM_EVENT_PER_CORE) != 0;
	if (space->kind == TDM_KIND_L1_SMALL && event->cores == 0 && !per_core)
		return refuse(replay, "L1_SMALL only supports sharded allocations, see validate_num_banks");
	if (per_core && space->kind != TDM_KIND_L1)
		return refuse(replay, "per_core_allocation is only supported for L1 buffers");
	if (per_core && event->cores == 0)
		return refuse(replay, "per_core_allocation requires a shard_spec with core grid");
	if (is_off_grid(replay, space, event))
		return true;
	if (per_core && !replay->is_hybrid)
		return refuse(replay, "Per-core allocation requires AllocatorMode::HYBRID when opening the device");
	return false;
}

/* ---- placing ---- */

static enum tdm_cause cause_of(int err, const struct tdm_replay_request *request)
{
	const struct tdm_freelist_stats *s = &request->stats;
	if (err == -EOVERFLOW)
		return TDM_CAUSE_WRAPPED;
	enum tdm_cause cause = tdm_cause_of(request->block_bytes, s->total, s->free, s->largest_free);
	return cause != TDM_CAUSE_UNKNOWN ? cause : TDM_CAUSE_BLOCKED;
}

static int alloc_lockstep(
	struct tdm_replay *replay, uint32_t device, struct tdm_replay_request *request, uint64_t *address)
{
	int err = tdm_mesh_l1_alloc(replay->mesh, device, request->block_bytes, request->grow, address);
	if (err != 0) {
		request->stats = device == TDM_MESH_WHOLE ? tdm_freelist_stats(replay->spaces[TDM_KIND_L1].list)
							  : tdm_mesh_l1_device(replay->mesh, device);
		request->cause = cause_of(err, request);
		request->address = *address;
		return err;
	}
	if (device == TDM_MESH_WHOLE)
		err = tdm_mesh_l1_mirror(replay->mesh, *address, request->bytes_per_bank, &request->device);
	if (err != 0) {
		request->stats = tdm_mesh_l1_device(replay->mesh, request->device);
		request->cause = TDM_CAUSE_UNSEEN;
		request->address = *address;
		tdm_mesh_l1_release(replay->mesh, device, *address);
	}
	return err;
}

static void note_per_core_peak(struct tdm_replay *replay, const struct tdm_replay_block *block, uint64_t line)
{
	uint32_t core = block->y * replay->grid_x + block->x;
	struct tdm_replay_per_core *sum = &replay->per_core;
	uint64_t bytes = tdm_mesh_l1_core(replay->mesh, block->device, core).allocated;
	if (bytes <= sum->peak)
		return;
	sum->peak = bytes;
	sum->peak_device = block->device;
	sum->peak_x = block->x;
	sum->peak_y = block->y;
	sum->peak_line = line;
}

static void release_block(struct tdm_replay *replay, const struct tdm_replay_block *block)
{
	tdm_mesh_l1_release_core(replay->mesh, block->device, block->y * replay->grid_x + block->x, block->address);
}

/* Places the buffer on the cores of one device; the blocks are appended to the buffer's. */
static int alloc_on_device(struct tdm_replay *replay, const struct tdm_event *event, struct tdm_replay_request *request,
	struct tdm_replay_live *live)
{
	struct core_walk walk = { .event = event };
	while (next_core(&walk)) {
		struct tdm_replay_block *block = &live->blocks[live->block_count];
		uint32_t core = walk.y * replay->grid_x + walk.x;
		*block = (struct tdm_replay_block){ request->device, (uint16_t)walk.x, (uint16_t)walk.y, 0 };
		int err = tdm_mesh_l1_alloc_core(
			replay->mesh, request->device, core, request->block_bytes, request->grow, &block->address);
		if (err != 0) {
			request->stats = tdm_mesh_l1_core(replay->mesh, request->device, core);
			request->cause = cause_of(err, request);
			request->address = block->address;
			request->x = block->x;
			request->y = block->y;
			return err;
		}
		live->block_count++;
		note_per_core_peak(replay, block, event->position);
	}
	return 0;
}

/* Releases the devices served before the one that failed, and counts what stays allocated on that one. */
static void undo(
	struct tdm_replay *replay, struct tdm_replay_request *request, struct tdm_replay_live *live, uint64_t line)
{
	struct tdm_replay_per_core *sum = &replay->per_core;
	for (size_t i = 0; i < live->block_count; i++) {
		if (live->blocks[i].device == request->device)
			request->leaked += request->block_bytes;
		else
			release_block(replay, &live->blocks[i]);
	}
	if (request->leaked != 0 && sum->leaks++ == 0) {
		sum->leak_line = line;
		sum->leaker = live->name;
	}
	sum->leaked += request->leaked;
	free(live->blocks);
	live->blocks = NULL;
	live->block_count = 0;
}

static int alloc_per_core(struct tdm_replay *replay, const struct tdm_event *event, struct tdm_replay_request *request,
	struct tdm_replay_live *live)
{
	bool is_bare = (event->flags & TDM_EVENT_BARE) != 0;
	uint32_t first = is_bare ? event->device : 0, end = is_bare ? first + 1 : replay->devices;
	int err = 0;
	live->blocks = tdm_zalloc((size_t)(end - first) * event->cores, sizeof *live->blocks);
	live->block_count = 0;
	for (uint32_t k = first; err == 0 && k < end; k++) {
		request->device = k;
		err = alloc_on_device(replay, event, request, live);
	}
	if (err != 0)
		undo(replay, request, live, event->position);
	else
		live->address = live->blocks[0].address;
	replay->per_core.allocs += err == 0;
	return err;
}

int tdm_replay_mesh_alloc(struct tdm_replay *replay, const struct tdm_event *event, struct tdm_replay_request *request,
	struct tdm_replay_live *live)
{
	live->device = (event->flags & TDM_EVENT_BARE) != 0 ? event->device : TDM_MESH_WHOLE;
	return request->per_core ? alloc_per_core(replay, event, request, live)
				 : alloc_lockstep(replay, live->device, request, &live->address);
}

void tdm_replay_mesh_release(struct tdm_replay *replay, struct tdm_replay_live *live)
{
	if (live->blocks == NULL)
		tdm_mesh_l1_release(replay->mesh, live->device, live->address);
	for (size_t i = 0; i < live->block_count; i++)
		release_block(replay, &live->blocks[i]);
	free(live->blocks);
	live->blocks = NULL;
	live->block_count = 0;
}

/* ---- result lines ---- */

void tdm_replay_mesh_put(
	const struct tdm_replay_live *live, struct tdm_str name, uint64_t bytes, struct tdm_buf *results)
{
	for (size_t i = 0; i < live->block_count; i++) {
		const struct tdm_replay_block *block = &live->blocks[i];
		if (i == 0 || block->device != live->blocks[i - 1].device) {
			tdm_buf_puts(results, i != 0 ? "\n" : "");
			tdm_buf_add(results, name.ptr, name.len);
			tdm_buf_printf(results, " percore device=%" PRIu32 " %" PRIu64, block->device, bytes);
		}
		tdm_buf_printf(results, " %u,%u=%" PRIu64, block->x, block->y, block->address);
	}
	tdm_buf_puts(results, "\n");
}

static void put_lowest(const struct tdm_replay *replay, uint32_t device, uint32_t core, struct tdm_buf *results)
{
	uint64_t lowest;
	if (tdm_mesh_l1_lowest(replay->mesh, device, core, &lowest))
		tdm_buf_printf(results, "%" PRIu64 "\n", lowest);
	else
		tdm_buf_puts(results, "none\n");
}

void tdm_replay_mesh_query(const struct tdm_replay *replay, struct tdm_buf *results)
{
	uint32_t cores = replay->grid_x * replay->grid_y;
	for (uint32_t k = 0; k < replay->devices; k++) {
		struct tdm_freelist_stats s = tdm_mesh_l1_device(replay->mesh, k);
		uint32_t used = 0;
		tdm_buf_printf(results,
			"device %" PRIu32 " l1 total=%" PRIu64 " allocated=%" PRIu64 " free=%" PRIu64
			" largest=%" PRIu64 "\n",
			k, s.total, s.allocated, s.free, s.largest_free);
		for (uint32_t core = 0; core < cores; core++) {
			uint64_t bytes = tdm_mesh_l1_core(replay->mesh, k, core).allocated;
			if (bytes == 0)
				continue;
			used++;
			tdm_buf_printf(results,
				"core device=%" PRIu32 " %" PRIu32 ",%" PRIu32 " percore=%" PRIu64 " lowest=", k,
				core % replay->grid_x, core / replay->grid_x, bytes);
			put_lowest(replay, k, core, results);
		}
		if (used == cores)
			continue;
		tdm_buf_printf(results, "core device=%" PRIu32 " * percore=0 lowest=", k);
		put_lowest(replay, k, TDM_MESH_CORES_MAX, results);
	}
}

/* ---- messages and findings ---- */

static int say_out_of_memory(struct tdm_replay *replay, const struct tdm_replay_space *space,
	const struct tdm_event *event, const struct tdm_replay_request *request)
{
	static const char *const types[TDM_REPLAY_SPACES] = { "DRAM", "L1", "L1_SMALL", "TRACE" };
	const struct tdm_freelist_stats *s = &request->stats;
	bool is_hybrid = replay->mesh != NULL && space->kind == TDM_KIND_L1;
	uint32_t banks = request->per_core ? 1 : event->cores != 0 ? event->cores : space->range.banks;
	return snprintf(replay->message, sizeof replay->message,
		"Out of Memory: Not enough space %sto allocate %" PRIu64 " B %s%s across %" PRIu32 " banks%s%" PRIu64
		" B%s, %sbank size is %" PRIu64 " B (allocated: %" PRIu64 " B, free: %" PRIu64
		" B, largest free block: %" PRIu64 " B)",
		is_hybrid ? "after considering dependencies " : "",
		request->per_core ? request->bytes_per_bank : request->aligned_size, types[space->kind],
		is_hybrid ? "" : " buffer", banks, is_hybrid ? " (" : ", where each bank needs to store ",
		is_hybrid ? request->block_bytes : request->bytes_per_bank, is_hybrid ? " per bank)" : "",
		is_hybrid ? "" : "but ", s->total, s->allocated, s->free, s->largest_free);
}

void tdm_replay_say(struct tdm_replay *replay, const struct tdm_replay_space *space, const struct tdm_event *event,
	const struct tdm_replay_request *request)
{
	const struct tdm_freelist_stats *s = &request->stats;
	char *text = replay->message;
	if (request->cause == TDM_CAUSE_REFUSED)
		return; /* set when it was refused */
	if (request->cause == TDM_CAUSE_WRAPPED)
		snprintf(text, sizeof replay->message, "Allocator failed to place at chosen address %" PRIu64,
			request->address);
	else if (request->cause == TDM_CAUSE_UNSEEN)
		snprintf(text, sizeof replay->message,
			"Failed to mirror allocation at address %" PRIu64 " of size %" PRIu64
			" in allocator 0 (num_allocators=%" PRIu32 ", bank_size=%" PRIu64
			", alloc_stats: total_alloc=%" PRIu64 ", total_free=%" PRIu64 ", largest_free=%" PRIu64 ")",
			request->address, request->bytes_per_bank, replay->grid_x * replay->grid_y + 1, s->total,
			s->allocated, s->free, s->largest_free);
	else if (space->range.banks != 0 && (event->flags & TDM_EVENT_FIXED) == 0)
		say_out_of_memory(replay, space, event, request);
	else
		text[0] = '\0'; /* the runtime has no fixed addresses, and no message for a missing kind */
}

void tdm_replay_mesh_find(struct tdm_replay *replay)
{
	struct tdm_replay_per_core *sum = &replay->per_core;
	struct tdm_findings *out = &replay->findings;
	if (sum->leaked == 0 || sum->is_found)
		return;
	sum->is_found = true;
	struct tdm_finding *finding = tdm_findings_add(out, TDM_FAMILY_REPLAY, "leaked", TDM_FINDING_WARNING);
	finding->pattern = "{leaks/per-core buffer/per-core buffers} failed half way, {name} first, and left "
			   "{,leaked_bytes} B of L1 allocated";
	finding->names_itself = true;
	finding->about.name = sum->leaker.text;
	finding->about.kind = TDM_KIND_L1;
	tdm_findings_position(out, "line", TDM_UNIT_COUNT, sum->leak_line);
	tdm_findings_figure(out, "leaks", TDM_UNIT_COUNT, sum->leaks);
	tdm_findings_figure(out, "leaked_bytes", TDM_UNIT_BYTES, sum->leaked);
	tdm_findings_advise(out, NULL,
		"do not retry: the runtime never frees these bytes, and every attempt leaves more; only closing the "
		"device does");
}
