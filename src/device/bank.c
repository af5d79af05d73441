/*
 * The regions of a bank:
 *
 *     DRAM bank   0 [runtime's own] dram_base [DRAM buffers ........] [TRACE] dram_bank_size
 *     L1 of core  0 [firmware, kernel config] l1_base [L1 ......] [L1_SMALL] l1_size
 *
 * The size of the trace region is for all banks together and is split into whole trace pages; the size of L1_SMALL is
 * for one core.
 */
#include "device/bank.h"
#include "base/err.h"
#include "device/align.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>

/* The largest page of a trace buffer: a bank's part of the trace region is a multiple of it. */
enum { TRACE_PAGE = 8192 };

static int need(const struct tdm_card *card, const enum tdm_card_field *fields, size_t count, struct tdm_diag *diag)
{
	for (size_t i = 0; i < count; i++)
		if (tdm_card_get(card, fields[i]) == TDM_BYTES_UNKNOWN)
			return tdm_diag_set(diag, TDM_EUNKNOWN, 0, 0, "%s of %s is not known: %s",
				tdm_card_field_name(fields[i]), card->name, card->source[fields[i]]);
	return 0;
}

static int bank_count(const struct tdm_card *card, enum tdm_card_field field, uint32_t *banks, struct tdm_diag *diag)
{
	uint64_t count = tdm_card_get(card, field);
	if (count == 0 || count > UINT32_MAX)
		return tdm_diag_set(
			diag, TDM_EREFUSED, 0, 0, "%s cannot be %" PRIu64, tdm_card_field_name(field), count);
	*banks = (uint32_t)count;
	return 0;
}

bool tdm_bank_trace_part(uint64_t total, uint64_t align, uint32_t banks, uint64_t *bytes)
{
	if (!tdm_align_up(total, align, &total))
		return false;
	return tdm_align_up(total / banks + (total % banks != 0), TRACE_PAGE, bytes);
}

/*
 * Both regions are checked against the bank size before the number of banks is needed, so a bad size is reported even
 * when that number is unknown.
 */
static int dram_range(const struct tdm_card *card, struct tdm_bank_range *range, struct tdm_diag *diag)
{
	static const enum tdm_card_field sizes[] = { TDM_CARD_DRAM_BANK_SIZE, TDM_CARD_DRAM_BASE };
	static const enum tdm_card_field others[] = { TDM_CARD_DRAM_BANKS, TDM_CARD_DRAM_ALIGN, TDM_CARD_TRACE_REGION };
	uint64_t size = tdm_card_get(card, TDM_CARD_DRAM_BANK_SIZE), base = tdm_card_get(card, TDM_CARD_DRAM_BASE);
	uint64_t align = tdm_card_get(card, TDM_CARD_DRAM_ALIGN), trace = 0;
	int err = need(card, sizes, sizeof sizes / sizeof *sizes, diag);
	if (err != 0)
		return err;
	if (base >= size)
		return tdm_diag_set(diag, TDM_EREFUSED, 0, 0,
			"dram_base %" PRIu64 " is not inside a DRAM bank of %" PRIu64 " bytes", base, size);
	err = need(card, others, sizeof others / sizeof *others, diag);
	if (err == 0)
		err = bank_count(card, TDM_CARD_DRAM_BANKS, &range->banks, diag);
	if (err != 0)
		return err;
	if (!tdm_bank_trace_part(tdm_card_get(card, TDM_CARD_TRACE_REGION), align, range->banks, &trace) ||
		trace > size - base)
		return tdm_diag_set(diag, TDM_EREFUSED, 0, 0,
			"trace_region of %" PRIu64 " bytes does not fit in %" PRIu32 " DRAM banks of %" PRIu64
			" usable bytes",
			tdm_card_get(card, TDM_CARD_TRACE_REGION), range->banks, size - base);
	range->page_align = align;
	range->block_align = align;
	range->bottom_up = true;
	range->base = range->kind == TDM_KIND_DRAM ? base : size - trace;
	range->size = range->kind == TDM_KIND_DRAM ? size - trace - base : trace;
	return 0;
}

static int l1_range(const struct tdm_card *card, struct tdm_bank_range *range, struct tdm_diag *diag)
{
	static const enum tdm_card_field sizes[] = { TDM_CARD_L1_SIZE, TDM_CARD_L1_BASE, TDM_CARD_L1_SMALL,
		TDM_CARD_DRAM_ALIGN };
	static const enum tdm_card_field others[] = { TDM_CARD_L1_BANKS, TDM_CARD_L1_ALIGN };
	uint64_t size = tdm_card_get(card, TDM_CARD_L1_SIZE), base = tdm_card_get(card, TDM_CARD_L1_BASE), small = 0;
	int err = need(card, sizes, sizeof sizes / sizeof *sizes, diag);
	if (err != 0)
		return err;
	if (base >= size)
		return tdm_diag_set(diag, TDM_EREFUSED, 0, 0,
			"l1_base %" PRIu64 " is not inside an L1 of %" PRIu64 " bytes", base, size);
	/* As in the runtime, there must be some room left for L1 buffers. */
	if (!tdm_align_up(tdm_card_get(card, TDM_CARD_L1_SMALL), tdm_card_get(card, TDM_CARD_DRAM_ALIGN), &small) ||
		small >= size - base)
		return tdm_diag_set(diag, TDM_EREFUSED, 0, 0,
			"l1_small of %" PRIu64 " bytes does not fit in the %" PRIu64 " usable bytes of L1",
			tdm_card_get(card, TDM_CARD_L1_SMALL), size - base);
	err = need(card, others, sizeof others / sizeof *others, diag);
	if (err == 0)
		err = bank_count(card, TDM_CARD_L1_BANKS, &range->banks, diag);
	if (err != 0)
		return err;
	range->page_align = tdm_card_get(card, TDM_CARD_L1_ALIGN);
	range->block_align = tdm_card_get(card, TDM_CARD_DRAM_ALIGN);
	range->bottom_up = false;
	range->base = range->kind == TDM_KIND_L1 ? base : size - small;
	range->size = range->kind == TDM_KIND_L1 ? size - small - base : small;
	if (range->kind == TDM_KIND_L1_SMALL && small == 0)
		range->banks = 0;
	return 0;
}

int tdm_bank_range(const struct tdm_card *card, enum tdm_kind kind, struct tdm_bank_range *range, struct tdm_diag *diag)
{
	struct tdm_bank_range found = { .kind = kind };
	int err;
	if (kind == TDM_KIND_DRAM || kind == TDM_KIND_TRACE)
		err = dram_range(card, &found, diag);
	else if (kind == TDM_KIND_L1 || kind == TDM_KIND_L1_SMALL)
		err = l1_range(card, &found, diag);
	else
		err = tdm_diag_set(diag, -EINVAL, 0, 0, "memory of kind %s is not in banks", tdm_kind_name(kind));
	if (err == 0)
		*range = found;
	return err;
}

static int check_shape(const struct tdm_bank_range *range, const struct tdm_buffer_shape *shape, struct tdm_diag *diag)
{
	if (shape->page_size == 0)
		return tdm_diag_set(diag, TDM_EREFUSED, 0, 0, "the page size is 0");
	if (shape->size % shape->page_size != 0)
		return tdm_diag_set(diag, TDM_EREFUSED, 0, 0,
			"the size %" PRIu64 " is not a multiple of the page size %" PRIu64, shape->size,
			shape->page_size);
	if (range->banks == 0)
		return tdm_diag_set(diag, TDM_EREFUSED, 0, 0, "the card has no %s region: its size is 0",
			tdm_kind_name(range->kind));
	if (range->kind == TDM_KIND_L1_SMALL && shape->cores == 0)
		return tdm_diag_set(
			diag, TDM_EREFUSED, 0, 0, "L1_SMALL holds only sharded buffers; this one is interleaved");
	if (shape->cores <= range->banks)
		return 0;
	if (range->kind == TDM_KIND_L1 || range->kind == TDM_KIND_L1_SMALL)
		return tdm_diag_set(diag, TDM_EREFUSED, 0, 0,
			"Expected number of shards %" PRIu32
			" to be less than or equal to total number of L1 banks %" PRIu32 " in compute cores",
			shape->cores, range->banks);
	return tdm_diag_set(diag, TDM_EREFUSED, 0, 0, "%" PRIu32 " shards need a DRAM bank each; there are %" PRIu32,
		shape->cores, range->banks);
}

int tdm_bank_spread(const struct tdm_bank_range *range, const struct tdm_buffer_shape *shape,
	struct tdm_bank_spread *spread, struct tdm_diag *diag)
{
	int err = check_shape(range, shape, diag);
	if (err != 0)
		return err;
	struct tdm_bank_spread s = { .banks = range->banks };
	uint32_t lanes = shape->cores != 0 ? shape->cores : range->banks;
	s.pages = shape->size / shape->page_size;
	s.pages_per_bank = s.pages / lanes + (s.pages % lanes != 0);
	/* The last row of pages of an interleaved buffer may be short; a shard is always filled up. */
	uint64_t device_pages = s.pages, holding = s.pages < lanes ? s.pages : lanes;
	bool wraps = false;
	if (shape->cores != 0) {
		wraps = __builtin_mul_overflow(s.pages_per_bank, (uint64_t)lanes, &device_pages);
		if (s.pages_per_bank != 0)
			holding = s.pages / s.pages_per_bank + (s.pages % s.pages_per_bank != 0);
	}
	s.banks_holding = (uint32_t)holding;
	wraps = wraps || !tdm_align_up(shape->page_size, range->page_align, &s.aligned_page) ||
		__builtin_mul_overflow(device_pages, s.aligned_page, &s.aligned_size) ||
		__builtin_mul_overflow(s.pages_per_bank, s.aligned_page, &s.bytes_per_bank) ||
		!tdm_align_up(s.bytes_per_bank, range->block_align, &s.block_bytes) ||
		__builtin_mul_overflow(s.block_bytes, (uint64_t)s.banks, &s.reserved_bytes) ||
		__builtin_mul_overflow(s.block_bytes, holding, &s.occupied_bytes);
	if (wraps)
		return tdm_diag_set(diag, -ERANGE, 0, 0,
			"a buffer of %" PRIu64 " bytes in pages of %" PRIu64 " is too large", shape->size,
			shape->page_size);
	*spread = s;
	return 0;
}

/*
 * The runtime uses the C++ library's shuffle and default generator: a multiplicative one modulo a Mersenne prime,
 * seeded with 0, which the library replaces by 1. Only the sequence of draws matters here; it is that of libstdc++.
 */
enum { GENERATOR_FACTOR = 16807, GENERATOR_PRIME = 2147483647, GENERATOR_RANGE = GENERATOR_PRIME - 2 };

static_assert((uint64_t)TDM_BANK_CORES_MAX * TDM_BANK_CORES_MAX <= GENERATOR_RANGE, "one draw serves two positions");

/* A number below `bound`: a draw past the largest multiple of `bound` is repeated, any other is scaled down. */
static uint32_t draw_below(uint32_t *state, uint64_t bound)
{
	uint64_t scale = GENERATOR_RANGE / bound, value;
	do {
		*state = (uint32_t)((uint64_t)*state * GENERATOR_FACTOR % GENERATOR_PRIME);
		value = *state - 1;
	} while (value >= bound * scale);
	return (uint32_t)(value / scale);
}

static void swap_x(struct tdm_core *a, struct tdm_core *b)
{
	uint32_t x = a->x;
	a->x = b->x;
	b->x = x;
}

/*
 * Shuffles the x of all cores. One draw gives the partners of two neighbours; with an even count, the element left over
 * is swapped first.
 */
static void shuffle_x(struct tdm_core *cores, uint32_t count)
{
	uint32_t state = 1, i = 1;
	if (count % 2 == 0)
		swap_x(&cores[i++], &cores[draw_below(&state, 2)]);
	for (; i < count; i += 2) {
		uint64_t second = (uint64_t)i + 2;
		uint64_t both = draw_below(&state, ((uint64_t)i + 1) * second);
		swap_x(&cores[i], &cores[both / second]);
		swap_x(&cores[i + 1], &cores[both % second]);
	}
}

int tdm_bank_cores(uint32_t grid_x, uint32_t grid_y, struct tdm_core *cores, uint32_t banks)
{
	if (banks == 0 || banks > TDM_BANK_CORES_MAX || (uint64_t)grid_x * grid_y != banks)
		return -EINVAL;
	/*
	 * At first x is the bank of core i, counted row by row, and y the core of bank i; then both become coordinates.
	 */
	for (uint32_t i = 0; i < banks; i++)
		cores[i].x = i;
	shuffle_x(cores, banks);
	for (uint32_t i = 0; i < banks; i++)
		cores[cores[i].x].y = i;
	for (uint32_t i = 0; i < banks; i++)
		cores[i] = (struct tdm_core){ cores[i].y % grid_x, cores[i].y / grid_x };
	return 0;
}
