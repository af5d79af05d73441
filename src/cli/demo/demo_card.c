/*
 * The engine of the demo. Reports go to the library or, as messages in one of four sizes, to an allocation server. Like
 * the original clients, the engine reconnects after the server has gone away; reports made in the meantime are lost.
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/demo/demo.h"
#include "ledger/read/ledger_list.h"
#include "live/runtime/server_wire.h"
#include "model/alloc/freelist.h"
#include "model/card/card.h"
#include "tidemark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FIRST_WITH_KERNELS = 128 }; /* size of the oldest message form that supports circular buffers and kernels */

/* An invented id: "tide" in ASCII, with the device number in the lower half, so chip ids are the same in every run. */
static const uint64_t first_chip_id = UINT64_C(0x7469646500000000);

struct tdm_demo_live {
	uint64_t id, address;
	const char *key;
	int group;
	uint8_t kind;
	bool used, placed;
	uint32_t spare; /* index of the next unused entry, if this entry is unused */
};

/* ---- messages to a server ---------------------------------------------------------------------------------------- */

/* Connects in such a way that sending waits for room. */
static void connect_to_server(struct tdm_demo *demo)
{
	demo->fd = tdm_server_connect(demo->options->socket);
	if (demo->fd >= 0)
		fcntl(demo->fd, F_SETFL, 0);
}

static uint8_t buffer_type(enum tdm_kind kind)
{
	for (uint8_t type = 0; tdm_wire_kind(type) != TDM_KIND_COUNT; type++)
		if (tdm_wire_kind(type) == (kind == TDM_KIND_CB ? TDM_KIND_L1 : kind))
			return type;
	return 0; /* kernel type: an application's */
}

/*
 * Older message forms lack circular buffers, which are then reported as L1, and kernels, which are not reported at all.
 * A circular buffer is identified by its address in a core, here (1, 1), so its id differs from those of all buffers.
 */
static void tell_server(struct tdm_demo_chip *chip, bool is_free, enum tdm_kind kind, uint64_t id, uint64_t bytes)
{
	struct tdm_demo *demo = chip->demo;
	bool is_new = demo->options->message_size >= FIRST_WITH_KERNELS, is_cb = kind == TDM_KIND_CB;
	struct tdm_wire_message message = { .device = (int32_t)chip->number, .bytes = bytes, .id = id };
	if (kind == TDM_KIND_KERNEL && !is_new)
		return;
	if (is_cb)
		message.id |= UINT64_C(0x0001000100000000);
	if (kind == TDM_KIND_KERNEL)
		message.type = is_free ? TDM_WIRE_KERNEL_UNLOAD : TDM_WIRE_KERNEL_LOAD;
	else if (is_cb && is_new)
		message.type = is_free ? TDM_WIRE_CB_FREE : TDM_WIRE_CB_ALLOC;
	else
		message.type = is_free ? TDM_WIRE_FREE : TDM_WIRE_ALLOC;
	if (message.type == TDM_WIRE_FREE)
		message.bytes = 0;
	if (!is_free && message.type != TDM_WIRE_CB_ALLOC)
		message.buffer_type = buffer_type(kind);
	uint8_t bytes_out[TDM_WIRE_SIZE_MAX];
	size_t done = 0, size = demo->options->message_size;
	message.pid = (int32_t)getpid();
	tdm_wire_put_message(&message, (uint32_t)size, bytes_out);
	if (demo->fd < 0)
		connect_to_server(demo);
	while (demo->fd >= 0 && done < size) {
		ssize_t sent = send(demo->fd, bytes_out + done, size - done, MSG_NOSIGNAL);
		if (sent < 0 && errno != EINTR) {
			close(demo->fd);
			demo->fd = -1;
		}
		done += sent > 0 ? (size_t)sent : 0;
	}
	demo->lost += done < size;
}

/* ---- reports ----------------------------------------------------------------------------------------------------- */

static bool has_server(const struct tdm_demo *demo)
{
	return demo->options->socket != NULL;
}

/* False if the caller must report to the library itself, so that call stacks show the caller's name. */
static bool is_told_server(struct tdm_demo_chip *chip, const struct tidemark_buffer *b)
{
	if (has_server(chip->demo))
		tell_server(chip, false, (enum tdm_kind)b->kind, b->id, b->bytes);
	return has_server(chip->demo);
}

/* A server counts a kernel's code across all cores; the library counts the code in one core. */
static void tell_kernel(struct tdm_demo_chip *chip, bool is_free, const struct tdm_demo_program *program, size_t id)
{
	uint64_t bytes = (uint64_t)program->kernel_bytes * chip->demo->range[TDM_KIND_L1].banks;
	tell_server(chip, is_free, TDM_KIND_KERNEL, id, bytes);
}

/* Describes the chip to the library. Missing L1_SMALL and TRACE regions are described as empty, so that they are not
 * shown as unknown. */
static void describe_chip(const struct tdm_demo_chip *chip)
{
	struct tidemark_region regions[TDM_DEMO_REGIONS];
	for (uint32_t kind = 0; kind < TDM_DEMO_REGIONS; kind++) {
		const struct tdm_bank_range *range = &chip->demo->range[kind];
		regions[kind] = (struct tidemark_region){
			.kind = kind,
			.banks = range->banks != 0 ? range->banks : chip->demo->range[TDM_KIND_L1].banks,
			.base = range->base,
			.bank_size = range->size,
			.align = (uint32_t)range->block_align,
		};
	}
	const struct tidemark_device device = {
		.size = sizeof device,
		.number = chip->number,
		.card = chip->demo->model.name,
		.chip_id = first_chip_id + chip->number,
		.has_chip_id = 1,
		.grid_x = (uint32_t)tdm_card_get(&chip->demo->model, TDM_CARD_GRID_X),
		.grid_y = (uint32_t)tdm_card_get(&chip->demo->model, TDM_CARD_GRID_Y),
		.region_count = TDM_DEMO_REGIONS,
		.regions = regions,
	};
	tidemark_describe_device(&device);
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

static void release(struct tdm_demo_chip *chip, uint32_t entry)
{
	struct tdm_demo_live *live = &chip->live[entry];
	if (has_server(chip->demo))
		tell_server(chip, true, (enum tdm_kind)live->kind, live->id, 0);
	else
		tidemark_free(chip->number, live->kind, live->id);
	if (live->placed)
		tdm_freelist_release(chip->list[live->kind], live->address, NULL);
	*live = (struct tdm_demo_live){ .spare = chip->spare };
	chip->spare = entry;
}

bool tdm_demo_alloc(struct tdm_demo_chip *chip, const struct tdm_demo_request *request)
{
	struct tdm_demo *demo = chip->demo;
	const struct tdm_bank_range *range = &demo->range[request->kind];
	uint32_t page = request->page_size != 0 ? request->page_size : TDM_DEMO_TILE;
	struct tdm_buffer_shape shape = { request->bytes, page, request->cores };
	struct tdm_bank_spread spread = { 0 };
	struct tdm_freelist_stats stats = { 0 };
	struct tdm_diag diag = { 0 };
	uint64_t address = 0;
	struct tdm_freelist *list = chip->list[request->kind];
	int err = tdm_bank_spread(range, &shape, &spread, &diag);
	if (err != 0) {
		snprintf(demo->failure, sizeof demo->failure, "%.100s: %.200s", request->name, diag.text);
	} else if (demo->dispatch &&
		   (list == NULL || tdm_freelist_alloc(list, spread.bytes_per_bank,
					    range->bottom_up ? TDM_BOTTOM_UP : TDM_TOP_DOWN, 0, &address) != 0)) {
		err = TDM_ENOFIT;
		if (list != NULL)
			stats = tdm_freelist_stats(list);
		snprintf(demo->failure, sizeof demo->failure,
			"%s needs %" PRIu64 " B in each of %" PRIu32 " banks of %s; %" PRIu64
			" B are free there, the largest block is %" PRIu64 " B",
			request->name, spread.block_bytes, spread.banks, tdm_kind_name(request->kind), stats.free,
			stats.largest_free);
	}
	if (err != 0) {
		tidemark_out_of_memory(chip->number, request->kind, request->bytes, spread.block_bytes);
		return false;
	}
	uint32_t entry = chip->spare;
	if (entry != 0) {
		chip->spare = chip->live[entry].spare;
	} else {
		tdm_grow(&chip->live, &chip->live_cap, (size_t)chip->live_used + 1, sizeof *chip->live);
		entry = chip->live_used++;
	}
	chip->live[entry] = (struct tdm_demo_live){
		.id = ++demo->next_id,
		.address = address,
		.key = request->key,
		.group = request->group,
		.kind = (uint8_t)request->kind,
		.used = true,
		.placed = demo->dispatch,
	};
	const struct tidemark_buffer buffer = {
		.size = sizeof buffer,
		.device = chip->number,
		.kind = request->kind,
		.flags = demo->dispatch ? 0 : TIDEMARK_NO_ADDRESS,
		.id = demo->next_id,
		.address = address,
		.bytes = request->bytes,
		.bytes_per_bank = spread.block_bytes,
		.banks = spread.banks,
		.holding = spread.banks_holding,
		.page_size = page,
		.cores = request->cores,
		.name = tidemark_name(request->name),
	};
	if (!is_told_server(chip, &buffer))
		tidemark_alloc(&buffer);
	return true;
}

static uint64_t to_tiles(uint64_t side)
{
	enum { SIDE = 32 };
	return (side + SIDE - 1) / SIDE;
}

bool tdm_demo_tensor(
	struct tdm_demo_chip *chip, uint64_t rows, uint64_t columns, int group, const char *name, const char *key)
{
	return tdm_demo_alloc(chip, &(struct tdm_demo_request){ .kind = TDM_KIND_DRAM,
					    .bytes = to_tiles(rows) * to_tiles(columns) * TDM_DEMO_TILE,
					    .name = name,
					    .group = group,
					    .key = key });
}

bool tdm_demo_shards(struct tdm_demo_chip *chip, uint32_t tiles, int group, const char *name, const char *key)
{
	uint32_t cores = chip->demo->range[TDM_KIND_L1].banks;
	return tdm_demo_alloc(chip, &(struct tdm_demo_request){ .kind = TDM_KIND_L1,
					    .bytes = (uint64_t)tiles * TDM_DEMO_TILE * cores,
					    .cores = cores,
					    .name = name,
					    .group = group,
					    .key = key });
}

void tdm_demo_drop(struct tdm_demo_chip *chip, int group)
{
	for (uint32_t i = 1; i < chip->live_used; i++)
		if (chip->live[i].used && chip->live[i].group == group)
			release(chip, i);
}

void tdm_demo_drop_all(struct tdm_demo_chip *chip)
{
	for (uint32_t i = 1; i < chip->live_used; i++)
		if (chip->live[i].used && chip->live[i].group != TDM_DEMO_LEAKED)
			release(chip, i);
}

/* The index of a buffer; 0 if there is none. */
static uint32_t find(const struct tdm_demo_chip *c, int group, const char *key)
{
	for (uint32_t i = 1; i < c->live_used; i++)
		if (c->live[i].used && c->live[i].group == group && c->live[i].key != NULL &&
			strcmp(c->live[i].key, key) == 0)
			return i;
	return 0;
}

void tdm_demo_drop_key(struct tdm_demo_chip *chip, int group, const char *key)
{
	uint32_t entry = find(chip, group, key);
	if (entry != 0)
		release(chip, entry);
}

void tdm_demo_move(struct tdm_demo_chip *chip, int from, const char *key, int to, const char *new_key)
{
	struct tdm_demo_live *live = &chip->live[find(chip, from, key)]; /* entry 0 is not a buffer */
	live->group = to;
	live->key = new_key;
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

bool tdm_demo_program_begin(
	struct tdm_demo_chip *chip, const struct tdm_demo_program *program, struct tdm_l1_verdict *verdict)
{
	uint64_t sizes[TDM_DEMO_CBS_MAX], lowest = 0;
	size_t count = 0;
	struct tdm_l1_verdict own = { 0 };
	for (; count < TDM_DEMO_CBS_MAX && program->cb[count].name != NULL; count++)
		sizes[count] = (uint64_t)program->cb[count].tiles * TDM_DEMO_TILE;
	if (chip->list[TDM_KIND_L1] != NULL)
		tdm_freelist_lowest(chip->list[TDM_KIND_L1], &lowest);
	verdict = verdict != NULL ? verdict : &own;
	if (tdm_l1_clash_test(&chip->demo->model, sizes, count, lowest, verdict, NULL) != 0 ||
		verdict->clash != TDM_L1_FITS)
		return false;
	tidemark_program(program->name);
	/* Kernels are loaded once, and stay on the chip. */
	size_t loaded = 0;
	while (loaded < chip->loaded_count && chip->loaded[loaded] != program)
		loaded++;
	if (loaded == chip->loaded_count && program->kernel_bytes != 0 && loaded < TDM_DEMO_PROGRAMS_MAX) {
		chip->loaded[chip->loaded_count++] = program;
		if (has_server(chip->demo))
			tell_kernel(chip, false, program, chip->loaded_count);
		else
			tidemark_report_kernel(chip->number, program->kernel_bytes, 0);
	}
	const struct tidemark_core_range grid = { 0, 0,
		(uint16_t)(tdm_card_get(&chip->demo->model, TDM_CARD_GRID_X) - 1),
		(uint16_t)(tdm_card_get(&chip->demo->model, TDM_CARD_GRID_Y) - 1) };
	uint64_t at = tdm_card_get(&chip->demo->model, TDM_CARD_L1_BASE);
	uint32_t cores = chip->demo->range[TDM_KIND_L1].banks;
	for (size_t i = 0; i < count; i++) {
		const struct tidemark_buffer cb = {
			.size = sizeof cb,
			.device = chip->number,
			.kind = TIDEMARK_CB,
			.flags = chip->demo->dispatch ? 0 : TIDEMARK_NO_ADDRESS,
			.id = tidemark_core_id(0, 0, at),
			.address = chip->demo->dispatch ? at : 0,
			.bytes = sizes[i] * cores,
			.bytes_per_bank = sizes[i],
			.banks = cores,
			.page_size = TDM_DEMO_TILE,
			.name = tidemark_name(program->cb[i].name),
			.range_count = 1,
			.ranges = &grid,
		};
		if (!is_told_server(chip, &cb))
			tidemark_alloc(&cb);
		chip->cb_ids[i] = cb.id;
		chip->cb_bytes[i] = cb.bytes;
		at += sizes[i]; /* rounded to whole tiles, so the next start is aligned */
	}
	chip->cb_count = count;
	return true;
}

void tdm_demo_program_end(struct tdm_demo_chip *chip)
{
	for (size_t i = 0; has_server(chip->demo) && i < chip->cb_count; i++)
		tell_server(chip, true, TDM_KIND_CB, chip->cb_ids[i], chip->cb_bytes[i]);
	if (!has_server(chip->demo))
		tidemark_free_all(chip->number, TIDEMARK_CB);
	chip->cb_count = 0;
	tidemark_program(NULL);
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

bool tdm_demo_pause(struct tdm_demo *demo, unsigned ms)
{
	bool is_hurried = demo->options->rounds != TDM_DEMO_NO_LIMIT;
	uint64_t now = tdm_clock_ns(), wait = is_hurried ? 0 : ms * TDM_NS_PER_MS;
	if (demo->stopped)
		return false;
	if (demo->deadline_ns != TDM_DEMO_NO_LIMIT)
		wait = tdm_min(wait, demo->deadline_ns > now ? demo->deadline_ns - now : 0);
	const struct timespec timeout = { (time_t)(wait / TDM_NS_PER_S), (long)(wait % TDM_NS_PER_S) };
	bool got = sigtimedwait(&demo->signals, NULL, &timeout) > 0;
	demo->stopped = got || tdm_clock_ns() >= demo->deadline_ns;
	return !demo->stopped;
}

bool tdm_demo_round(struct tdm_demo *demo)
{
	if (demo->rounds != TDM_DEMO_NO_LIMIT && demo->rounds > 0)
		demo->rounds--;
	demo->stopped |= demo->rounds == 0;
	return !demo->stopped;
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

/* Models the chips and begins to report. There are no messages that describe chips: a server knows only the cards in
 * its machine. */
static int begin(struct tdm_demo *demo, const char *const *settings, struct tdm_diag *diag)
{
	const char *wrong;
	int err = tdm_card_init(&demo->model, tdm_str_of(demo->options->card), NULL, diag);
	if (err == 0)
		err = tdm_card_set_all(&demo->model, settings, &wrong, diag);
	for (int kind = 0; err == 0 && kind < TDM_DEMO_REGIONS; kind++)
		err = tdm_bank_range(&demo->model, (enum tdm_kind)kind, &demo->range[kind], diag);
	for (uint32_t i = 0; i < demo->options->chips; i++) {
		struct tdm_demo_chip *chip = &demo->chip[i];
		tdm_grow(&chip->live, &chip->live_cap, 1, sizeof *chip->live);
		chip->live_used = 1;
		for (int kind = 0; err == 0 && kind < TDM_DEMO_REGIONS; kind++) {
			const struct tdm_bank_range *range = &demo->range[kind];
			struct tdm_freelist_config config = { range->base, range->size, range->block_align,
				range->block_align, TDM_FIT_FIRST };
			if (range->size != 0 && (err = tdm_freelist_new(&config, &chip->list[kind])) != 0)
				tdm_diag_set(diag, err, 0, 0, "cannot model %s: %s", tdm_kind_name((enum tdm_kind)kind),
					tdm_err_text(err));
		}
	}
	if (err != 0)
		return err;
	if (has_server(demo)) {
		connect_to_server(demo);
		return demo->fd >= 0 ? 0
				     : tdm_diag_set(diag, demo->fd, 0, 0, "no server answers at %s: %s",
					       demo->options->socket, tdm_err_text(demo->fd));
	}
	tidemark_enable();
	for (uint32_t i = 0; i < demo->options->chips; i++)
		describe_chip(&demo->chip[i]);
	return tidemark_ledger_path()[0] != '\0'
		       ? 0
		       : tdm_diag_set(diag, -EIO, 0, 0, "no ledger could be made in %s", tdm_ledger_dir(NULL));
}

/*
 * Closes the chips, which frees forgotten buffers as closing a device does. If ledgers are kept, these buffers stay in
 * them.
 */
static void close_chips(struct tdm_demo *demo)
{
	const char *keep = getenv("TIDEMARK_KEEP");
	bool keeps = keep != NULL && keep[0] != '\0' && strcmp(keep, "0") != 0;
	for (uint32_t i = 0; i < demo->options->chips; i++) {
		if (!keeps)
			tdm_demo_drop(&demo->chip[i], TDM_DEMO_LEAKED);
		struct tdm_demo_chip *chip = &demo->chip[i];
		for (size_t k = 0; has_server(demo) && k < chip->loaded_count; k++)
			tell_kernel(chip, true, chip->loaded[k], k + 1);
		if (!has_server(demo) && chip->loaded_count != 0)
			tidemark_free_all(chip->number, TIDEMARK_KERNEL);
		for (int kind = 0; kind < TDM_DEMO_REGIONS; kind++)
			tdm_freelist_free(demo->chip[i].list[kind]);
		free(demo->chip[i].live);
	}
	if (demo->fd >= 0)
		close(demo->fd);
	free(demo->chip);
}

int tdm_demo_run(
	const struct tdm_cmd *cmd, const struct tdm_demo_workload *workload, const struct tdm_demo_options *options)
{
	struct tdm_demo demo = { .options = options, .dispatch = true, .fd = -1 };
	struct tdm_diag diag = { 0 };
	demo.rounds = options->rounds;
	demo.deadline_ns = options->seconds != TDM_DEMO_NO_LIMIT ? tdm_clock_ns() + options->seconds * TDM_NS_PER_S
								 : TDM_DEMO_NO_LIMIT;
	/* From here on, no signal ends the process. */
	sigemptyset(&demo.signals);
	sigaddset(&demo.signals, SIGINT);
	sigaddset(&demo.signals, SIGTERM);
	sigaddset(&demo.signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &demo.signals, NULL);
	demo.chip = tdm_zalloc(options->chips, sizeof *demo.chip);
	for (uint32_t i = 0; i < options->chips; i++)
		demo.chip[i] = (struct tdm_demo_chip){ .demo = &demo, .number = options->first_device + i };
	int err = begin(&demo, workload->settings, &diag);
	if (err != 0) {
		close_chips(&demo);
		return tdm_cmd_error(cmd, "%s", diag.text[0] != '\0' ? diag.text : tdm_err_text(err));
	}
	workload->run(&demo);
	for (uint32_t i = 0; i < options->chips; i++)
		tdm_demo_drop_all(&demo.chip[i]);
	if (demo.failure[0] != '\0')
		printf("Out of memory: %s.\n", demo.failure);
	uint64_t lost = has_server(&demo) ? demo.lost : tidemark_lost();
	close_chips(&demo);
	if (lost == 0)
		return TDM_EXIT_OK;
	fflush(stdout);
	if (options->socket != NULL)
		return tdm_cmd_error(cmd, "%" PRIu64 " messages were lost, because the server left", lost);
	return tdm_cmd_error(cmd, "%" PRIu64 " events were lost, so the figures are wrong: is there room in %s?", lost,
		tdm_ledger_dir(NULL));
}

const struct tdm_demo_workload *tdm_demo_find(const char *name)
{
	for (size_t i = 0; tdm_demo_workloads[i] != NULL; i++)
		if (strcmp(tdm_demo_workloads[i]->name, name) == 0)
			return tdm_demo_workloads[i];
	return NULL;
}

const struct tdm_demo_workload *const tdm_demo_workloads[] = { &tdm_demo_training, &tdm_demo_inference, &tdm_demo_leak,
	&tdm_demo_clash, NULL };
