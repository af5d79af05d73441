/*
 * The regions of a bank:
 *
 *     DRAM bank   0 [runtime's own] dram_base [DRAM buffers ........] [TRACE] dram_bank_size
 *     L1 of core  0 [firmware, kernel config] l1_base [L1 ......] [L1_SMALL] l1_size
 *
 * The size of the trace region is a total over all banks; it is split into whole trace pages. The size of L1_SMALL is
 * per core.
 */
#include "model/card/bank.h"
#include "base/err.h"
#include "base/number.h"

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
 * Checks both regions against the bank size before using the number of banks, so a bad size is reported even if that
 * number is unknown.
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
	/* As in the runtime, some space must be left for L1 buffers. */
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
	/* An interleaved buffer's last row of pages may be incomplete; shards are always full. */
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
 * The runtime uses the C++ library's shuffle and default generator: a multiplicative generator modulo a Mersenne prime.
 * Its seed is 0, which the library replaces with 1. Only the sequence of draws matters here; this is libstdc++'s
 * sequence.
 */
enum { GENERATOR_FACTOR = 16807, GENERATOR_PRIME = 2147483647, GENERATOR_RANGE = GENERATOR_PRIME - 2 };

static_assert((uint64_t)TDM_BANK_CORES_MAX * TDM_BANK_CORES_MAX <= GENERATOR_RANGE, "one draw serves two positions");

/* A number below `bound`: a draw past the largest multiple of `bound` is repeated, any other draw is scaled down. */
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

/* Shuffles the x of all cores. One draw yields the partners of two neighbours; with an even count, the element without
 * a neighbour is swapped first. */
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
	/* At first, x of entry i is the bank of core i (cores counted row by row). The second loop inverts that: y of
	 * entry i becomes the core of bank i. The third turns core numbers into coordinates. */
	for (uint32_t i = 0; i < banks; i++)
		cores[i].x = i;
	shuffle_x(cores, banks);
	for (uint32_t i = 0; i < banks; i++)
		cores[cores[i].x].y = i;
	for (uint32_t i = 0; i < banks; i++)
		cores[i] = (struct tdm_core){ cores[i].y % grid_x, cores[i].y / grid_x };
	return 0;
}

/* ---- the invariants of a usable card ---- */

/* Checks sizes and counts that must not be 0. An Ethernet core's L1, the harvesting and the two regions may be 0, so
 * they are not checked. */
static int check_sizes(const struct tdm_card *card, struct tdm_diag *diag)
{
	for (int i = 0; i < TDM_CARD_FIELD_COUNT; i++) {
		bool may_be_zero = i == TDM_CARD_ETH_L1_SIZE || i == TDM_CARD_HARVESTED || i == TDM_CARD_L1_SMALL ||
				   i == TDM_CARD_TRACE_REGION || i == TDM_CARD_MAP_END || i == TDM_CARD_KERNEL_CONFIG ||
				   i == TDM_CARD_L1_BASE || i == TDM_CARD_DRAM_BASE;
		if (card->value[i] == 0 && !may_be_zero)
			return tdm_diag_set(diag, TDM_EREFUSED, 0, 0, "%s must not be 0",
				tdm_card_field_name((enum tdm_card_field)i));
		if (tdm_card_field_unit((enum tdm_card_field)i) == 'N' && card->value[i] > UINT32_MAX &&
			card->value[i] != TDM_BYTES_UNKNOWN)
			return tdm_diag_set(diag, TDM_EREFUSED, 0, 0, "%s is too large",
				tdm_card_field_name((enum tdm_card_field)i));
	}
	return 0;
}

static int check_alignments(const struct tdm_card *card, struct tdm_diag *diag)
{
	static const enum tdm_card_field alignments[] = { TDM_CARD_L1_ALIGN, TDM_CARD_DRAM_ALIGN, TDM_CARD_PCIE_ALIGN };
	for (size_t i = 0; i < sizeof alignments / sizeof *alignments; i++) {
		uint64_t align = card->value[alignments[i]];
		if (align != TDM_BYTES_UNKNOWN && (align & (align - 1)) != 0)
			return tdm_diag_set(diag, TDM_EREFUSED, 0, 0, "%s must be a power of two, not %" PRIu64,
				tdm_card_field_name(alignments[i]), align);
	}
	return 0;
}

static int check_at_most(const struct tdm_card *card, enum tdm_card_field small, enum tdm_card_field large,
	uint64_t reduced, struct tdm_diag *diag)
{
	uint64_t value = card->value[small], limit = card->value[large];
	if (value == TDM_BYTES_UNKNOWN || limit == TDM_BYTES_UNKNOWN)
		return 0;
	limit = limit > reduced ? limit - reduced : 0;
	if (value <= limit)
		return 0;
	return tdm_diag_set(diag, TDM_EREFUSED, 0, 0, "%s is %" PRIu64 ", more than the %" PRIu64 " that %s%s",
		tdm_card_field_name(small), value, limit, tdm_card_field_name(large),
		reduced != 0 ? " leaves after harvesting" : " allows");
}

static int check_grid(const struct tdm_card *card, struct tdm_diag *diag)
{
	const struct tdm_card_board *board = tdm_card_board_find(tdm_str_of(card->name));
	const uint64_t *value = card->value;
	uint64_t harvested = value[TDM_CARD_HARVESTED] != TDM_BYTES_UNKNOWN ? value[TDM_CARD_HARVESTED] : 0;
	bool columns = board != NULL && board->arch->harvests_columns;
	int err = check_at_most(card, TDM_CARD_WORKERS_X, TDM_CARD_NOC_X, 0, diag);
	if (err == 0)
		err = check_at_most(card, TDM_CARD_WORKERS_Y, TDM_CARD_NOC_Y, 0, diag);
	if (err == 0)
		err = check_at_most(card, TDM_CARD_GRID_X, TDM_CARD_WORKERS_X, columns ? harvested : 0, diag);
	if (err == 0)
		err = check_at_most(card, TDM_CARD_GRID_Y, TDM_CARD_WORKERS_Y, columns ? 0 : harvested, diag);
	if (err != 0 || value[TDM_CARD_L1_BANKS] == TDM_BYTES_UNKNOWN ||
		value[TDM_CARD_WORKERS_X] == TDM_BYTES_UNKNOWN || value[TDM_CARD_WORKERS_Y] == TDM_BYTES_UNKNOWN)
		return err;
	/* Both counts have been checked to fit 32 bits, so their product fits 64. */
	uint64_t workers = value[TDM_CARD_WORKERS_X] * value[TDM_CARD_WORKERS_Y];
	if (value[TDM_CARD_L1_BANKS] > workers)
		return tdm_diag_set(diag, TDM_EREFUSED, 0, 0,
			"l1_banks is %" PRIu64 ", more than the %" PRIu64 " Tensix cores", value[TDM_CARD_L1_BANKS],
			workers);
	return 0;
}

static int check_regions(const struct tdm_card *card, struct tdm_diag *diag)
{
	static const enum tdm_kind kinds[] = { TDM_KIND_L1, TDM_KIND_L1_SMALL, TDM_KIND_DRAM, TDM_KIND_TRACE };
	int err = check_at_most(card, TDM_CARD_MAP_END, TDM_CARD_L1_BASE, 0, diag);
	if (err == 0)
		err = check_at_most(card, TDM_CARD_L1_BASE, TDM_CARD_L1_SIZE, 0, diag);
	for (size_t i = 0; err == 0 && i < sizeof kinds / sizeof *kinds; i++) {
		struct tdm_bank_range range;
		err = tdm_bank_range(card, kinds[i], &range, diag);
		if (err == TDM_EUNKNOWN)
			err = 0;
	}
	return err;
}

int tdm_card_check(const struct tdm_card *card, struct tdm_diag *diag)
{
	int err = check_sizes(card, diag);
	if (err == 0)
		err = check_alignments(card, diag);
	if (err == 0)
		err = check_grid(card, diag);
	if (err == 0)
		err = check_regions(card, diag);
	if (err == 0 && diag != NULL)
		diag->text[0] = '\0'; /* an unknown region may have left its reason in diag */
	return err;
}

/* ---- one core's L1 ---- */

/* The four boundaries in the empty L1 of a core. */
struct cuts {
	uint64_t map_end, base, small, size;
};

static int find_cuts(const struct tdm_card *card, struct cuts *cuts, struct tdm_diag *diag)
{
	static const enum tdm_card_field fields[] = { TDM_CARD_MAP_END, TDM_CARD_L1_BASE, TDM_CARD_L1_SMALL,
		TDM_CARD_L1_SIZE, TDM_CARD_DRAM_ALIGN };
	uint64_t small;
	int err = need(card, fields, sizeof fields / sizeof *fields, diag);
	if (err != 0)
		return err;
	cuts->map_end = tdm_card_get(card, TDM_CARD_MAP_END);
	cuts->base = tdm_card_get(card, TDM_CARD_L1_BASE);
	cuts->size = tdm_card_get(card, TDM_CARD_L1_SIZE);
	if (!tdm_align_up(tdm_card_get(card, TDM_CARD_L1_SMALL), tdm_card_get(card, TDM_CARD_DRAM_ALIGN), &small) ||
		cuts->map_end > cuts->base || cuts->base > cuts->size || small > cuts->size - cuts->base)
		return tdm_diag_set(diag, TDM_EREFUSED, 0, 0,
			"map_end %" PRIu64 ", l1_base %" PRIu64 " and l1_small %" PRIu64
			" do not fit in an L1 of %" PRIu64 " bytes",
			cuts->map_end, cuts->base, tdm_card_get(card, TDM_CARD_L1_SMALL), cuts->size);
	cuts->small = cuts->size - small;
	return 0;
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
	if (value < low)
		return low;
	return value > high ? high : value;
}

int tdm_l1_map(const struct tdm_card *card, const struct tdm_l1_use *use, struct tdm_l1_map *map, struct tdm_diag *diag)
{
	static const struct tdm_l1_use empty;
	struct cuts cuts = { 0 };
	int err = find_cuts(card, &cuts, diag);
	if (err != 0)
		return err;
	if (use == NULL)
		use = &empty;
	uint64_t lowest = use->l1_lowest != 0 ? clamp(use->l1_lowest, cuts.base, cuts.small) : cuts.small;
	uint64_t cb_end = clamp(use->cb_end, cuts.base, lowest);
	const uint64_t end[TDM_L1_ZONE_COUNT] = {
		[TDM_L1_FIRMWARE] = cuts.map_end,
		[TDM_L1_KERNEL_CONFIG] = cuts.base,
		[TDM_L1_CBS] = cb_end,
		[TDM_L1_GAP] = lowest,
		[TDM_L1_BUFFERS] = cuts.small,
		[TDM_L1_SMALL_REGION] = cuts.size,
	};
	uint64_t at = 0;
	for (int zone = 0; zone < TDM_L1_ZONE_COUNT; zone++) {
		map->span[zone] = (struct tdm_l1_span){ (enum tdm_l1_zone)zone, at, end[zone] - at };
		at = end[zone];
	}
	map->l1_size = cuts.size;
	return 0;
}

/* The end of the last circular buffer, which is not aligned: only starts are. False above 64 bits. */
static bool lay_out(uint64_t base, uint64_t align, const uint64_t *cb_sizes, size_t count, uint64_t *end)
{
	*end = base;
	for (size_t i = 0; i < count; i++) {
		uint64_t start;
		if (!tdm_align_up(*end, align, &start) || __builtin_add_overflow(start, cb_sizes[i], end))
			return false;
	}
	return true;
}

static struct tdm_l1_verdict judge(uint64_t cb_end, uint64_t l1_lowest, uint64_t l1_size)
{
	struct tdm_l1_verdict verdict = { .clash = TDM_L1_FITS, .cb_end = cb_end, .obstacle = l1_size };
	if (cb_end > l1_size) {
		verdict.clash = TDM_L1_BEYOND;
	} else if (l1_lowest != 0) {
		verdict.obstacle = l1_lowest;
		verdict.clash = l1_lowest < cb_end ? TDM_L1_CLASH : TDM_L1_FITS;
	}
	if (verdict.clash != TDM_L1_FITS)
		verdict.over = cb_end - verdict.obstacle;
	else
		verdict.left = verdict.obstacle - cb_end;
	return verdict;
}

int tdm_l1_clash_test(const struct tdm_card *card, const uint64_t *cb_sizes, size_t count, uint64_t l1_lowest,
	struct tdm_l1_verdict *verdict, struct tdm_diag *diag)
{
	struct cuts cuts;
	uint64_t cb_end;
	int err = find_cuts(card, &cuts, diag);
	if (err != 0)
		return err;
	if (!lay_out(cuts.base, tdm_card_get(card, TDM_CARD_DRAM_ALIGN), cb_sizes, count, &cb_end))
		return tdm_diag_set(diag, -ERANGE, 0, 0, "the sizes of the circular buffers do not fit 64 bits");
	if (count == 0 && l1_lowest != 0 && l1_lowest < cuts.base)
		l1_lowest = cuts.base;
	*verdict = judge(cb_end, l1_lowest, cuts.size);
	return 0;
}

void tdm_l1_clash_message(
	const struct tdm_l1_verdict *verdict, uint64_t program, const char *core_range, struct tdm_buf *out)
{
	if (verdict->clash == TDM_L1_BEYOND)
		tdm_buf_printf(out,
			"Statically allocated circular buffers on core range %s grow to %" PRIu64
			" B which is beyond max L1 size of %" PRIu64 " B",
			core_range, verdict->cb_end, verdict->obstacle);
	else if (verdict->clash == TDM_L1_CLASH)
		tdm_buf_printf(out,
			"Statically allocated circular buffers in program %" PRIu64
			" clash with L1 buffers on core range %s. "
			"L1 buffer allocated at %" PRIu64 " and static circular buffer region ends at %" PRIu64,
			program, core_range, verdict->obstacle, verdict->cb_end);
}

const char *tdm_l1_zone_name(enum tdm_l1_zone zone)
{
	static const char *const names[TDM_L1_ZONE_COUNT] = {
		[TDM_L1_FIRMWARE] = "firmware",
		[TDM_L1_KERNEL_CONFIG] = "kernel config",
		[TDM_L1_CBS] = "circular buffers",
		[TDM_L1_GAP] = "free",
		[TDM_L1_BUFFERS] = "L1 buffers",
		[TDM_L1_SMALL_REGION] = "L1_SMALL",
	};
	return (unsigned)zone < TDM_L1_ZONE_COUNT ? names[zone] : "unknown";
}
