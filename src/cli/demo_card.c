#include "cli/demo_card.h"
#include "base/err.h"
#include "base/reserve.h"
#include "cli/demo_wire.h"
#include "device/bank.h"
#include "device/card_set.h"
#include "device/freelist.h"
#include "ledger/ledger_list.h"
#include "tidemark.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kinds with a region to allocate from: DRAM, L1, L1_SMALL and TRACE, numbered as in enum tdm_kind. */
enum { REGIONS = 4, PROGRAMS_MAX = 64, FAILURE_CAP = 320 };

/* Made up: "tide" in ASCII, with the device number in the lower half, so a chip has the same id in every run. */
static const uint64_t first_chip_id = UINT64_C(0x7469646500000000);

struct live {
	uint64_t id, address;
	uint32_t chip;
	uint8_t kind;
	bool used, placed;
	uint32_t spare; /* the next unused entry, if this one is unused */
};

struct chip {
	struct tdm_freelist *list[REGIONS]; /* NULL: the card has no such region */
	const struct tdm_demo_program *loaded[PROGRAMS_MAX];
	size_t loaded_count;
	struct {
		uint64_t id, bytes;
	} cb[TDM_DEMO_CBS_MAX]; /* of the program that runs */
	size_t cb_count;
};

struct tdm_demo_card {
	struct tdm_card model;
	struct tdm_bank_range range[REGIONS];
	uint32_t chips, first_device;
	struct tdm_demo_wire wire; /* without a socket: everything is reported to the library */
	bool dispatch;
	struct chip chip[TDM_DEMO_CHIPS_MAX];
	uint64_t next_id;
	struct live *live; /* entry 0 is never used, because handle 0 means none */
	size_t live_cap;
	uint32_t live_used, spare;
	char failure[FAILURE_CAP];
};

static int build_model(struct tdm_demo_card *card, const struct tdm_demo_card_options *options, struct tdm_diag *diag)
{
	int err = tdm_card_init(&card->model, tdm_str_of(options->card), NULL, diag);
	const char *wrong;
	if (err == 0)
		err = tdm_card_set_all(&card->model, options->settings, &wrong, diag);
	for (int kind = 0; err == 0 && kind < REGIONS; kind++)
		err = tdm_bank_range(&card->model, (enum tdm_kind)kind, &card->range[kind], diag);
	return err;
}

static int open_chip(struct tdm_demo_card *card, struct chip *chip, struct tdm_diag *diag)
{
	for (int kind = 0; kind < REGIONS; kind++) {
		const struct tdm_bank_range *range = &card->range[kind];
		if (range->size == 0)
			continue;
		struct tdm_freelist_config config = { range->base, range->size, range->block_align, range->block_align,
			TDM_FIT_FIRST };
		int err = tdm_freelist_new(&config, &chip->list[kind]);
		if (err != 0)
			return tdm_diag_set(diag, err, 0, 0, "cannot model %s: %s", tdm_kind_name((enum tdm_kind)kind),
				tdm_err_text(err));
	}
	return 0;
}

/* Reports, to the library or to a server. */

/* False: the library is to be told, by the caller itself, whose name call stacks show. */
static bool is_told_server(struct tdm_demo_card *card, const struct tidemark_buffer *buffer)
{
	if (card->wire.socket == NULL)
		return false;
	tdm_demo_wire_alloc(&card->wire, buffer->device, (enum tdm_kind)buffer->kind, buffer->id, buffer->bytes);
	return true;
}

static void report_free(struct tdm_demo_card *card, uint32_t device, enum tdm_kind kind, uint64_t id)
{
	if (card->wire.socket != NULL)
		tdm_demo_wire_free(&card->wire, device, kind, id, 0);
	else
		tidemark_free(device, kind, id);
}

/* The circular buffers of the program that ends. */
static void report_cbs_free(struct tdm_demo_card *card, uint32_t chip)
{
	struct chip *c = &card->chip[chip];
	for (size_t i = 0; card->wire.socket != NULL && i < c->cb_count; i++)
		tdm_demo_wire_free(&card->wire, card->first_device + chip, TDM_KIND_CB, c->cb[i].id, c->cb[i].bytes);
	if (card->wire.socket == NULL)
		tidemark_free_all(card->first_device + chip, TIDEMARK_CB);
	c->cb_count = 0;
}

/* A server counts the code of a kernel in all cores. */
static uint64_t kernel_bytes(const struct tdm_demo_card *card, const struct tdm_demo_program *program)
{
	return (uint64_t)program->kernel_bytes * card->range[TDM_KIND_L1].banks;
}

static void report_kernel(struct tdm_demo_card *card, uint32_t chip, const struct tdm_demo_program *program, size_t id)
{
	if (card->wire.socket != NULL)
		tdm_demo_wire_alloc(
			&card->wire, card->first_device + chip, TDM_KIND_KERNEL, id, kernel_bytes(card, program));
	else
		tidemark_report_kernel(card->first_device + chip, program->kernel_bytes, 0);
}

static void report_kernels_free(struct tdm_demo_card *card, uint32_t chip)
{
	const struct chip *c = &card->chip[chip];
	for (size_t i = 0; card->wire.socket != NULL && i < c->loaded_count; i++)
		tdm_demo_wire_free(&card->wire, card->first_device + chip, TDM_KIND_KERNEL, i + 1,
			kernel_bytes(card, c->loaded[i]));
	if (card->wire.socket == NULL && c->loaded_count != 0)
		tidemark_free_all(card->first_device + chip, TIDEMARK_KERNEL);
}

/* Describes the chip to the library. A missing L1_SMALL or TRACE region is described too, so that it is not taken for
 * unknown. */
static void describe_chip(const struct tdm_demo_card *card, uint32_t index)
{
	struct tidemark_region regions[REGIONS];
	for (uint32_t kind = 0; kind < REGIONS; kind++) {
		const struct tdm_bank_range *range = &card->range[kind];
		regions[kind] = (struct tidemark_region){
			.kind = kind,
			.banks = range->banks != 0 ? range->banks : card->range[TDM_KIND_L1].banks,
			.base = range->base,
			.bank_size = range->size,
			.align = (uint32_t)range->block_align,
		};
	}
	const struct tidemark_device device = {
		.size = sizeof device,
		.number = card->first_device + index,
		.card = card->model.name,
		.chip_id = first_chip_id + card->first_device + index,
		.has_chip_id = 1,
		.grid_x = (uint32_t)tdm_card_get(&card->model, TDM_CARD_GRID_X),
		.grid_y = (uint32_t)tdm_card_get(&card->model, TDM_CARD_GRID_Y),
		.region_count = REGIONS,
		.regions = regions,
	};
	tidemark_describe_device(&device);
}

static int begin_ledger(const struct tdm_demo_card *card, struct tdm_diag *diag)
{
	tidemark_enable();
	for (uint32_t i = 0; i < card->chips; i++)
		describe_chip(card, i);
	if (tidemark_ledger_path()[0] != '\0')
		return 0;
	return tdm_diag_set(diag, -EIO, 0, 0, "no ledger could be made in %s", tdm_ledger_dir(NULL));
}

/* Messages do not describe chips: the server knows the cards of its machine, and no others. */
static int enter_server(struct tdm_demo_card *card, const struct tdm_demo_card_options *options, struct tdm_diag *diag)
{
	int err = tdm_demo_wire_open(&card->wire, options->socket, options->message_size);
	return err == 0 ? 0
			: tdm_diag_set(
				  diag, err, 0, 0, "no server answers at %s: %s", options->socket, tdm_err_text(err));
}

int tdm_demo_card_open(const struct tdm_demo_card_options *options, struct tdm_demo_card **out, struct tdm_diag *diag)
{
	struct tdm_demo_card *card = calloc(1, sizeof *card);
	if (card == NULL)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	card->chips = options->chips;
	card->first_device = options->first_device;
	card->dispatch = true;
	card->live_used = 1;
	int err = build_model(card, options, diag);
	for (uint32_t i = 0; err == 0 && i < card->chips; i++)
		err = open_chip(card, &card->chip[i], diag);
	if (err != 0) {
		tdm_demo_card_close(card);
		return err;
	}
	err = options->socket != NULL ? enter_server(card, options, diag) : begin_ledger(card, diag);
	if (err != 0) {
		tdm_demo_card_close(card);
		return err;
	}
	*out = card;
	return 0;
}

static bool are_ledgers_kept(void)
{
	const char *keep = getenv("TIDEMARK_KEEP");
	return keep != NULL && keep[0] != '\0' && strcmp(keep, "0") != 0;
}

void tdm_demo_card_close(struct tdm_demo_card *card)
{
	if (card == NULL)
		return;
	for (uint32_t i = 1; i < card->live_used && !are_ledgers_kept(); i++) {
		uint32_t handle = card->live[i].used ? i : 0;
		tdm_demo_free(card, &handle);
	}
	for (uint32_t i = 0; i < card->chips; i++) {
		report_kernels_free(card, i);
		for (int kind = 0; kind < REGIONS; kind++)
			tdm_freelist_free(card->chip[i].list[kind]);
	}
	if (card->wire.socket != NULL)
		tdm_demo_wire_close(&card->wire);
	free(card->live);
	free(card);
}

uint64_t tdm_demo_card_lost(const struct tdm_demo_card *card)
{
	return card->wire.socket != NULL ? card->wire.lost : tidemark_lost();
}

const struct tdm_card *tdm_demo_card_model(const struct tdm_demo_card *card)
{
	return &card->model;
}

uint32_t tdm_demo_card_chips(const struct tdm_demo_card *card)
{
	return card->chips;
}

uint64_t tdm_demo_card_capacity(const struct tdm_demo_card *card, enum tdm_kind kind)
{
	return card->range[kind].size * card->range[kind].banks;
}

const char *tdm_demo_card_failure(const struct tdm_demo_card *card)
{
	return card->failure[0] != '\0' ? card->failure : NULL;
}

void tdm_demo_card_dispatch(struct tdm_demo_card *card, bool on)
{
	card->dispatch = on;
}

/* A new entry; 0 if out of memory. */
static uint32_t take_entry(struct tdm_demo_card *card)
{
	uint32_t handle = card->spare;
	if (handle != 0) {
		card->spare = card->live[handle].spare;
		return handle;
	}
	int err = tdm_reserve(&card->live, &card->live_cap, (size_t)card->live_used + 1, sizeof *card->live);
	return err == 0 ? card->live_used++ : 0;
}

static void give_entry(struct tdm_demo_card *card, uint32_t handle)
{
	card->live[handle] = (struct live){ .spare = card->spare };
	card->spare = handle;
}

/* Reports a failure to the ledger, and keeps it for tdm_demo_card_failure(). */
__attribute__((format(printf, 5, 6))) static uint32_t fail(struct tdm_demo_card *card, uint32_t chip,
	const struct tdm_demo_request *request, uint64_t bytes_per_bank, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	vsnprintf(card->failure, sizeof card->failure, format, ap);
	va_end(ap);
	tidemark_out_of_memory(card->first_device + chip, request->kind, request->bytes, bytes_per_bank);
	return 0;
}

static uint32_t fail_to_fit(struct tdm_demo_card *card, uint32_t chip, const struct tdm_demo_request *request,
	const struct tdm_bank_spread *spread)
{
	struct tdm_freelist_stats stats = { 0 };
	if (card->chip[chip].list[request->kind] != NULL)
		stats = tdm_freelist_stats(card->chip[chip].list[request->kind]);
	return fail(card, chip, request, spread->block_bytes,
		"%s needs %" PRIu64 " B in each of %" PRIu32 " banks of %s; %" PRIu64
		" B are free there, the largest block is %" PRIu64 " B",
		request->name, spread->block_bytes, spread->banks, tdm_kind_name(request->kind), stats.free,
		stats.largest_free);
}

uint32_t tdm_demo_alloc(struct tdm_demo_card *card, uint32_t chip, const struct tdm_demo_request *request)
{
	const struct tdm_bank_range *range = &card->range[request->kind];
	uint32_t page = request->page_size != 0 ? request->page_size : TDM_DEMO_TILE;
	struct tdm_buffer_shape shape = { request->bytes, page, request->cores };
	struct tdm_bank_spread spread = { 0 };
	struct tdm_diag diag = { 0 };
	uint64_t address = 0;
	if (tdm_bank_spread(range, &shape, &spread, &diag) != 0)
		return fail(card, chip, request, 0, "%s: %s", request->name, diag.text);
	struct tdm_freelist *list = card->chip[chip].list[request->kind];
	if (card->dispatch &&
		(list == NULL || tdm_freelist_alloc(list, spread.bytes_per_bank,
					 range->bottom_up ? TDM_BOTTOM_UP : TDM_TOP_DOWN, 0, &address) != 0))
		return fail_to_fit(card, chip, request, &spread);
	uint32_t handle = take_entry(card);
	if (handle == 0) {
		if (card->dispatch)
			tdm_freelist_release(list, address, NULL);
		return fail(card, chip, request, spread.block_bytes, "%s: out of host memory", request->name);
	}
	card->live[handle] = (struct live){
		.id = ++card->next_id,
		.address = address,
		.chip = chip,
		.kind = (uint8_t)request->kind,
		.used = true,
		.placed = card->dispatch,
	};
	const struct tidemark_buffer buffer = {
		.size = sizeof buffer,
		.device = card->first_device + chip,
		.kind = request->kind,
		.flags = card->dispatch ? 0 : TIDEMARK_NO_ADDRESS,
		.id = card->live[handle].id,
		.address = address,
		.bytes = request->bytes,
		.bytes_per_bank = spread.block_bytes,
		.banks = spread.banks,
		.holding = spread.banks_holding,
		.page_size = page,
		.cores = request->cores,
		.name = tidemark_name(request->name),
	};
	if (!is_told_server(card, &buffer))
		tidemark_alloc(&buffer);
	return handle;
}

void tdm_demo_free(struct tdm_demo_card *card, uint32_t *handle)
{
	if (*handle == 0)
		return;
	const struct live *live = &card->live[*handle];
	report_free(card, card->first_device + live->chip, (enum tdm_kind)live->kind, live->id);
	if (live->placed)
		tdm_freelist_release(card->chip[live->chip].list[live->kind], live->address, NULL);
	give_entry(card, *handle);
	*handle = 0;
}

static uint64_t to_tiles(uint64_t side)
{
	enum { SIDE = 32 };
	return (side + SIDE - 1) / SIDE;
}

uint32_t tdm_demo_tensor(
	struct tdm_demo_card *card, uint32_t chip, uint64_t rows, uint64_t columns, const char *format, ...)
{
	char name[TDM_DEMO_TEXT_MAX];
	va_list ap;
	va_start(ap, format);
	vsnprintf(name, sizeof name, format, ap);
	va_end(ap);
	return tdm_demo_alloc(card, chip,
		&(struct tdm_demo_request){ .kind = TDM_KIND_DRAM,
			.bytes = to_tiles(rows) * to_tiles(columns) * TDM_DEMO_TILE,
			.name = name });
}

uint32_t tdm_demo_shards(struct tdm_demo_card *card, uint32_t chip, uint32_t tiles, const char *name)
{
	uint32_t cores = card->range[TDM_KIND_L1].banks;
	return tdm_demo_alloc(card, chip,
		&(struct tdm_demo_request){ .kind = TDM_KIND_L1,
			.bytes = (uint64_t)tiles * TDM_DEMO_TILE * cores,
			.cores = cores,
			.name = name });
}

/* Loads the kernels of a program once; they stay on the chip. */
static void load_kernels(struct tdm_demo_card *card, uint32_t chip, const struct tdm_demo_program *program)
{
	struct chip *c = &card->chip[chip];
	for (size_t i = 0; i < c->loaded_count; i++)
		if (c->loaded[i] == program)
			return;
	if (program->kernel_bytes == 0 || c->loaded_count == PROGRAMS_MAX)
		return;
	c->loaded[c->loaded_count++] = program;
	report_kernel(card, chip, program, c->loaded_count);
}

bool tdm_demo_program_begin(struct tdm_demo_card *card, uint32_t chip, const struct tdm_demo_program *program,
	struct tdm_l1_verdict *verdict)
{
	uint64_t sizes[TDM_DEMO_CBS_MAX], lowest = 0;
	size_t count = 0;
	struct tdm_l1_verdict own = { 0 };
	for (; count < TDM_DEMO_CBS_MAX && program->cb[count].name != NULL; count++)
		sizes[count] = (uint64_t)program->cb[count].tiles * TDM_DEMO_TILE;
	if (card->chip[chip].list[TDM_KIND_L1] != NULL)
		tdm_freelist_lowest(card->chip[chip].list[TDM_KIND_L1], &lowest);
	verdict = verdict != NULL ? verdict : &own;
	if (tdm_l1_clash_test(&card->model, sizes, count, lowest, verdict, NULL) != 0 || verdict->clash != TDM_L1_FITS)
		return false;
	tidemark_program(program->name);
	load_kernels(card, chip, program);
	const struct tidemark_core_range grid = { 0, 0, (uint16_t)(tdm_card_get(&card->model, TDM_CARD_GRID_X) - 1),
		(uint16_t)(tdm_card_get(&card->model, TDM_CARD_GRID_Y) - 1) };
	uint64_t at = tdm_card_get(&card->model, TDM_CARD_L1_BASE);
	uint32_t cores = card->range[TDM_KIND_L1].banks;
	for (size_t i = 0; i < count; i++) {
		const struct tidemark_buffer cb = {
			.size = sizeof cb,
			.device = card->first_device + chip,
			.kind = TIDEMARK_CB,
			.flags = card->dispatch ? 0 : TIDEMARK_NO_ADDRESS,
			.id = tidemark_core_id(0, 0, at),
			.address = card->dispatch ? at : 0,
			.bytes = sizes[i] * cores,
			.bytes_per_bank = sizes[i],
			.banks = cores,
			.page_size = TDM_DEMO_TILE,
			.name = tidemark_name(program->cb[i].name),
			.range_count = 1,
			.ranges = &grid,
		};
		if (!is_told_server(card, &cb))
			tidemark_alloc(&cb);
		card->chip[chip].cb[i].id = cb.id;
		card->chip[chip].cb[i].bytes = cb.bytes;
		at += sizes[i]; /* whole tiles, so the next start is aligned */
	}
	card->chip[chip].cb_count = count;
	return true;
}

void tdm_demo_program_end(struct tdm_demo_card *card, uint32_t chip)
{
	report_cbs_free(card, chip);
	tidemark_program(NULL);
}
