#include "device/l1_map.h"
#include "base/err.h"
#include "device/align.h"

#include <errno.h>
#include <inttypes.h>

/* The four boundaries in an empty L1. */
struct cuts {
	uint64_t map_end, base, small, size;
};

static int find_cuts(const struct tdm_card *card, struct cuts *cuts, struct tdm_diag *diag)
{
	static const enum tdm_card_field fields[] = { TDM_CARD_MAP_END, TDM_CARD_L1_BASE, TDM_CARD_L1_SMALL,
		TDM_CARD_L1_SIZE, TDM_CARD_DRAM_ALIGN };
	uint64_t small;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (tdm_card_get(card, fields[i]) == TDM_BYTES_UNKNOWN)
			return tdm_diag_set(diag, TDM_EUNKNOWN, 0, 0, "%s of %s is not known: %s",
				tdm_card_field_name(fields[i]), card->name, card->source[fields[i]]);
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
