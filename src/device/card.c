/*
 * A card is rebuilt from scratch each time: all fields unknown, then the tables, the variant, and the derived fields. A
 * field that the user set keeps its value and its source throughout, and derived fields are computed from it.
 */
#include "device/card.h"
#include "base/err.h"
#include "device/align.h"
#include "device/bank.h"
#include "device/card_set.h"
#include "device/card_table.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

static const struct {
	const char *name, *summary;
	char unit;
} fields[TDM_CARD_FIELD_COUNT] = {
#define X(id, name_text, unit_char, summary_text) [TDM_CARD_##id] = { name_text, summary_text, unit_char },
	TDM_CARD_FIELD_LIST(X)
#undef X
};

static void put(struct tdm_card *card, enum tdm_card_field field, uint64_t value, const char *source)
{
	if (card->is_set[field])
		return;
	card->value[field] = value;
	card->source[field] = source;
}

static void put_tables(struct tdm_card *card, const struct tdm_card_board *board)
{
	const struct tdm_card_arch *arch = board->arch;
	for (int i = 0; i < TDM_CARD_FIELD_COUNT; i++)
		put(card, (enum tdm_card_field)i, TDM_BYTES_UNKNOWN, arch->unknown);
	for (size_t i = 0; i < arch->fact_count; i++)
		put(card, arch->facts[i].field, arch->facts[i].value, arch->facts[i].source);
	put(card, TDM_CARD_CHIPS, board->chips, board->source);
	if (board->dram_banks != 0)
		put(card, TDM_CARD_DRAM_BANKS, board->dram_banks, board->source);
	put(card, TDM_CARD_L1_SMALL, 0, TDM_CARD_COMMIT "common_values.hpp: DEFAULT_L1_SMALL_SIZE");
	put(card, TDM_CARD_TRACE_REGION, 0, TDM_CARD_COMMIT "common_values.hpp: DEFAULT_TRACE_REGION_SIZE");
}

static int put_harvested(struct tdm_card *card, const struct tdm_card_board *board, struct tdm_diag *diag)
{
	const struct tdm_card_variant *variant = &card->variant;
	uint64_t harvested = board->harvested;
	const char *source = board->source;
	if (variant->harvested >= 0) {
		harvested = (uint64_t)variant->harvested;
		source = "set by the user";
	} else if (variant->old_firmware) {
		harvested = board->harvested_old;
	}
	put(card, TDM_CARD_HARVESTED, harvested, source);
	if (card->value[TDM_CARD_HARVESTED] > board->arch->harvested_max)
		return tdm_diag_set(diag, TDM_EREFUSED, 0, 0,
			"harvested=%" PRIu64 ": the runtime knows %s chips with at most %" PRIu32 " %s fused off",
			card->value[TDM_CARD_HARVESTED], board->arch->name, board->arch->harvested_max,
			board->arch->harvest_unit);
	return 0;
}

static const struct tdm_card_grid *find_grid(
	const struct tdm_card *card, const struct tdm_card_arch *arch, enum tdm_dispatch dispatch)
{
	for (size_t i = 0; i < arch->grid_count; i++) {
		const struct tdm_card_grid *grid = &arch->grids[i];
		if (grid->dispatch == dispatch && grid->harvested == card->value[TDM_CARD_HARVESTED] &&
			grid->fabric_mux == card->variant.fabric_mux)
			return grid;
	}
	return NULL;
}

static int no_grid(const struct tdm_card *card, const struct tdm_card_arch *arch, struct tdm_diag *diag)
{
	static const enum tdm_dispatch choices[] = { TDM_DISPATCH_TENSIX_ROW, TDM_DISPATCH_TENSIX_COL,
		TDM_DISPATCH_ETH };
	char known[64] = "";
	size_t len = 0;
	for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
		if (find_grid(card, arch, choices[i]) != NULL)
			len += (size_t)snprintf(known + len, sizeof known - len, "%s, ", tdm_dispatch_name(choices[i]));
	return tdm_diag_set(diag, TDM_EREFUSED, 0, 0,
		"the runtime has no %s core descriptor for dispatch=%s with fabric_mux=%d and harvested=%" PRIu64
		"; for these it has dispatch=%snone",
		arch->name, tdm_dispatch_name(tdm_card_dispatch(card)), card->variant.fabric_mux,
		card->value[TDM_CARD_HARVESTED], known);
}

/* Without dispatch cores, every core that is not fused off computes. */
static void put_full_grid(struct tdm_card *card, const struct tdm_card_arch *arch)
{
	static const char source[] = "derived: all Tensix cores that are not fused off; none is used for dispatch";
	uint64_t x = card->value[TDM_CARD_WORKERS_X], y = card->value[TDM_CARD_WORKERS_Y];
	uint64_t harvested = card->value[TDM_CARD_HARVESTED];
	uint64_t *axis = arch->harvests_columns ? &x : &y;
	*axis = *axis > harvested ? *axis - harvested : 0;
	put(card, TDM_CARD_GRID_X, x, source);
	put(card, TDM_CARD_GRID_Y, y, source);
}

static int put_grid(struct tdm_card *card, const struct tdm_card_arch *arch, struct tdm_diag *diag)
{
	enum tdm_dispatch dispatch = tdm_card_dispatch(card);
	if (card->is_set[TDM_CARD_GRID_X] && card->is_set[TDM_CARD_GRID_Y])
		return 0;
	if (dispatch == TDM_DISPATCH_NONE) {
		put_full_grid(card, arch);
		return 0;
	}
	const struct tdm_card_grid *grid = find_grid(card, arch, dispatch);
	if (grid == NULL)
		return no_grid(card, arch, diag);
	put(card, TDM_CARD_GRID_X, grid->x, grid->source);
	put(card, TDM_CARD_GRID_Y, grid->y, grid->source);
	return 0;
}

static bool all_known(const struct tdm_card *card, const enum tdm_card_field *needed, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (card->value[needed[i]] == TDM_BYTES_UNKNOWN)
			return false;
	return true;
}

static void put_l1_base(struct tdm_card *card)
{
	static const enum tdm_card_field needed[] = { TDM_CARD_MAP_END, TDM_CARD_KERNEL_CONFIG, TDM_CARD_DRAM_ALIGN };
	const uint64_t *value = card->value;
	uint64_t end, base;
	if (!all_known(card, needed, sizeof needed / sizeof *needed))
		put(card, TDM_CARD_L1_BASE, TDM_BYTES_UNKNOWN, "needs map_end, kernel_config and dram_align");
	else if (__builtin_add_overflow(value[TDM_CARD_MAP_END], value[TDM_CARD_KERNEL_CONFIG], &end) ||
		 !tdm_align_up(end, value[TDM_CARD_DRAM_ALIGN], &base))
		put(card, TDM_CARD_L1_BASE, TDM_BYTES_UNKNOWN,
			"map_end + kernel_config cannot be aligned to dram_align");
	else
		put(card, TDM_CARD_L1_BASE, base, "derived: map_end + kernel_config, aligned to dram_align");
}

static void put_l1_banks(struct tdm_card *card, const struct tdm_card_arch *arch)
{
	static const enum tdm_card_field needed[] = { TDM_CARD_GRID_X, TDM_CARD_GRID_Y };
	uint64_t banks;
	if (arch->no_l1_banks != NULL)
		put(card, TDM_CARD_L1_BANKS, TDM_BYTES_UNKNOWN, arch->no_l1_banks);
	else if (!all_known(card, needed, sizeof needed / sizeof *needed) ||
		 __builtin_mul_overflow(card->value[TDM_CARD_GRID_X], card->value[TDM_CARD_GRID_Y], &banks))
		put(card, TDM_CARD_L1_BANKS, TDM_BYTES_UNKNOWN, "needs grid_x and grid_y");
	else
		put(card, TDM_CARD_L1_BANKS, banks, "derived: grid_x x grid_y, one bank for each compute core");
}

static void put_dram_base(struct tdm_card *card, const struct tdm_card_dram_reserve *dram)
{
	const char *source = card->variant.tracy ? dram->tracy_source : dram->source;
	uint64_t align = card->value[TDM_CARD_DRAM_ALIGN], profiler = 0, base = TDM_BYTES_UNKNOWN;
	bool known = dram->print_bytes != TDM_BYTES_UNKNOWN && align != TDM_BYTES_UNKNOWN;
	if (card->variant.tracy)
		known = known && dram->profiler_bytes != TDM_BYTES_UNKNOWN &&
			tdm_align_up(dram->profiler_bytes, align, &profiler);
	/* The barrier is one word, which takes one alignment unit; so do the pointers of the print ring. */
	if (known && align < UINT64_MAX / 4)
		base = align + profiler + align + dram->print_bytes;
	else if (dram->print_bytes != TDM_BYTES_UNKNOWN &&
		 (!card->variant.tracy || dram->profiler_bytes != TDM_BYTES_UNKNOWN))
		source = "nothing can be aligned to dram_align";
	put(card, TDM_CARD_DRAM_BASE, base, source);
}

/* The firmware's map is only valid with its own end: a different map_end means a different firmware. */
static void put_parts(struct tdm_card *card, const struct tdm_card_arch *arch)
{
	const struct tdm_l1_part *last = &arch->parts[arch->part_count - 1];
	assert(arch->part_count <= TDM_L1_PARTS_MAX);
	card->part_count = 0;
	if (last->address + last->size != card->value[TDM_CARD_MAP_END])
		return;
	for (size_t i = 0; i < arch->part_count; i++)
		card->parts[card->part_count++] = arch->parts[i];
}

int tdm_card_derive(struct tdm_card *card, struct tdm_diag *diag)
{
	const struct tdm_card_board *board = tdm_card_board_find(tdm_str_of(card->name));
	struct tdm_card built = *card;
	if (board == NULL)
		return tdm_diag_set(diag, TDM_EREFUSED, 0, 0, "the card has not been initialised");
	put_tables(&built, board);
	int err = put_harvested(&built, board, diag);
	if (err == 0)
		err = put_grid(&built, board->arch, diag);
	if (err != 0)
		return err;
	put_l1_base(&built);
	put_l1_banks(&built, board->arch);
	put_dram_base(&built, &board->arch->dram);
	put_parts(&built, board->arch);
	*card = built;
	return 0;
}

static int unknown_card(struct tdm_str name, struct tdm_diag *diag)
{
	char shown[TDM_CARD_SHOWN_CAP], known[160] = "";
	size_t len = 0;
	for (const char *const *at = tdm_card_names; *at != NULL && len < sizeof known; at++)
		len += (size_t)snprintf(known + len, sizeof known - len, "%s%s", len == 0 ? "" : ", ", *at);
	return tdm_diag_set(
		diag, TDM_ECARD, 0, 0, "unknown card '%s'; the known cards are %s", tdm_card_shown(name, shown), known);
}

int tdm_card_init(
	struct tdm_card *card, struct tdm_str name, const struct tdm_card_variant *variant, struct tdm_diag *diag)
{
	const struct tdm_card_board *board = tdm_card_board_find(name);
	if (board == NULL)
		return unknown_card(name, diag);
	struct tdm_card built = {
		.name = board->name,
		.full_name = board->full_name,
		.arch = board->arch->arch,
		.variant = variant != NULL ? *variant : tdm_card_variant_default(),
	};
	int err = tdm_card_derive(&built, diag);
	if (err == 0)
		*card = built;
	return err;
}

struct tdm_card_variant tdm_card_variant_default(void)
{
	return (struct tdm_card_variant){ .dispatch = TDM_DISPATCH_DEFAULT, .harvested = -1 };
}

enum tdm_dispatch tdm_card_dispatch(const struct tdm_card *card)
{
	const struct tdm_card_board *board = tdm_card_board_find(tdm_str_of(card->name));
	enum tdm_dispatch dispatch = card->variant.dispatch;
	if (board == NULL)
		return dispatch;
	if (dispatch == TDM_DISPATCH_DEFAULT)
		dispatch = board->arch->usual;
	if (dispatch == TDM_DISPATCH_TENSIX)
		dispatch = card->variant.fabric_mux ? board->arch->tensix_mux : board->arch->tensix;
	return dispatch;
}

/* Sizes and counts that must not be 0; an Ethernet core's L1, harvesting and the two regions may be. */
static int check_sizes(const struct tdm_card *card, struct tdm_diag *diag)
{
	for (int i = 0; i < TDM_CARD_FIELD_COUNT; i++) {
		bool may_be_zero = i == TDM_CARD_ETH_L1_SIZE || i == TDM_CARD_HARVESTED || i == TDM_CARD_L1_SMALL ||
				   i == TDM_CARD_TRACE_REGION || i == TDM_CARD_MAP_END || i == TDM_CARD_KERNEL_CONFIG ||
				   i == TDM_CARD_L1_BASE || i == TDM_CARD_DRAM_BASE;
		if (card->value[i] == 0 && !may_be_zero)
			return tdm_diag_set(diag, TDM_EREFUSED, 0, 0, "%s must not be 0", fields[i].name);
		if (fields[i].unit == 'N' && card->value[i] > UINT32_MAX && card->value[i] != TDM_BYTES_UNKNOWN)
			return tdm_diag_set(diag, TDM_EREFUSED, 0, 0, "%s is too large", fields[i].name);
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
				fields[alignments[i]].name, align);
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
		fields[small].name, value, limit, fields[large].name,
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
		diag->text[0] = '\0'; /* an unknown region may have left its reason there */
	return err;
}

const char *tdm_card_field_name(enum tdm_card_field field)
{
	return fields[field].name;
}

const char *tdm_card_field_summary(enum tdm_card_field field)
{
	return fields[field].summary;
}

char tdm_card_field_unit(enum tdm_card_field field)
{
	return fields[field].unit;
}

const char *tdm_arch_name(enum tdm_arch arch)
{
	switch (arch) {
	case TDM_ARCH_GRAYSKULL:
		return tdm_card_arch_grayskull.name;
	case TDM_ARCH_WORMHOLE:
		return tdm_card_arch_wormhole.name;
	case TDM_ARCH_BLACKHOLE:
		return tdm_card_arch_blackhole.name;
	case TDM_ARCH_QUASAR:
		return tdm_card_arch_quasar.name;
	}
	return "unknown";
}
