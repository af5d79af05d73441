#include "report/device_regions.h"
#include "device/bank.h"

static const struct {
	enum tdm_kind kind;
	const char *label;
	enum tdm_card_field field, banks;
} rows[TDM_DEVICE_REGION_COUNT] = {
	{ TDM_KIND_DRAM, "DRAM", TDM_CARD_DRAM_BANK_SIZE, TDM_CARD_DRAM_BANKS },
	{ TDM_KIND_TRACE, "TRACE", TDM_CARD_TRACE_REGION, TDM_CARD_DRAM_BANKS },
	{ TDM_KIND_L1, "L1", TDM_CARD_L1_SIZE, TDM_CARD_L1_BANKS },
	{ TDM_KIND_L1_SMALL, "L1_SMALL", TDM_CARD_L1_SMALL, TDM_CARD_L1_BANKS },
	{ TDM_KIND_CONFIG, "kernel config", TDM_CARD_KERNEL_CONFIG, TDM_CARD_L1_BANKS },
	{ TDM_KIND_FIRMWARE, "firmware", TDM_CARD_MAP_END, TDM_CARD_L1_BANKS },
};

uint64_t tdm_device_product(uint64_t a, uint64_t b)
{
	uint64_t product;
	if (a == TDM_BYTES_UNKNOWN || b == TDM_BYTES_UNKNOWN || __builtin_mul_overflow(a, b, &product))
		return TDM_BYTES_UNKNOWN;
	return product;
}

/* Base and size of a region; they stay unknown when a figure behind them is. */
static void place(const struct tdm_card *card, struct tdm_device_region *region)
{
	struct tdm_bank_range range;
	if (region->kind == TDM_KIND_FIRMWARE) {
		region->base = 0;
		region->size = tdm_card_get(card, TDM_CARD_MAP_END);
	} else if (region->kind == TDM_KIND_CONFIG) {
		region->base = tdm_card_get(card, TDM_CARD_MAP_END);
		region->size = tdm_card_get(card, TDM_CARD_KERNEL_CONFIG);
	} else if (tdm_bank_range(card, region->kind, &range, NULL) == 0) {
		region->base = range.base;
		region->size = range.size;
	}
}

void tdm_device_regions(const struct tdm_card *card, struct tdm_device_region regions[TDM_DEVICE_REGION_COUNT])
{
	for (size_t i = 0; i < TDM_DEVICE_REGION_COUNT; i++) {
		struct tdm_device_region *region = &regions[i];
		*region = (struct tdm_device_region){ rows[i].kind, rows[i].label, rows[i].field,
			tdm_card_get(card, rows[i].banks), TDM_BYTES_UNKNOWN, TDM_BYTES_UNKNOWN, TDM_BYTES_UNKNOWN };
		place(card, region);
		region->total = tdm_device_product(region->size, region->banks);
	}
}
