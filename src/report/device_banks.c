/* The L1 bank of each core of the compute grid. */
#include "report/device_report.h"
#include "device/bank.h"

#include <inttypes.h>
#include <stdlib.h>

struct grid {
	uint32_t x, y, banks;
	struct tdm_core *cores; /* of each bank; owned */
};

/* False when the card does not say, or when overrides made banks and cores differ. */
static bool grid_init(struct grid *grid, const struct tdm_card *card)
{
	uint64_t x = tdm_card_get(card, TDM_CARD_GRID_X), y = tdm_card_get(card, TDM_CARD_GRID_Y);
	uint64_t banks = tdm_card_get(card, TDM_CARD_L1_BANKS);
	*grid = (struct grid){ 0 };
	if (banks == TDM_BYTES_UNKNOWN || banks > TDM_BANK_CORES_MAX || x > TDM_BANK_CORES_MAX ||
		y > TDM_BANK_CORES_MAX)
		return false;
	*grid = (struct grid){ (uint32_t)x, (uint32_t)y, (uint32_t)banks, calloc((size_t)banks, sizeof *grid->cores) };
	if (grid->cores != NULL && tdm_bank_cores(grid->x, grid->y, grid->cores, grid->banks) == 0)
		return true;
	free(grid->cores);
	return false;
}

static uint32_t bank_at(const struct grid *grid, uint32_t x, uint32_t y)
{
	uint32_t bank = 0;
	while (bank < grid->banks && (grid->cores[bank].x != x || grid->cores[bank].y != y))
		bank++;
	return bank;
}

void tdm_device_banks_text(struct tdm_buf *out, const struct tdm_card *card, const struct tdm_term *term)
{
	struct grid grid;
	tdm_buf_printf(out, "\n%sL1 bank of each core%s\n", tdm_term_style(term, TDM_STYLE_BOLD),
		tdm_term_style(term, TDM_STYLE_OFF));
	if (!grid_init(&grid, card)) {
		tdm_buf_puts(
			out, "  unknown: the compute grid and the number of L1 banks do not agree, or are not known\n");
		return;
	}
	tdm_buf_puts(out, "  y\\x ");
	for (uint32_t x = 0; x < grid.x; x++)
		tdm_buf_printf(out, "%5" PRIu32, x);
	tdm_buf_putc(out, '\n');
	for (uint32_t y = 0; y < grid.y; y++) {
		tdm_buf_printf(out, "  %3" PRIu32 " ", y);
		for (uint32_t x = 0; x < grid.x; x++)
			tdm_buf_printf(out, "%5" PRIu32, bank_at(&grid, x, y));
		tdm_buf_putc(out, '\n');
	}
	free(grid.cores);
}

void tdm_device_banks_json(struct tdm_json *json, const struct tdm_card *card)
{
	struct grid grid;
	tdm_json_key(json, "l1_bank_cores");
	if (!grid_init(&grid, card)) {
		tdm_json_null(json);
		return;
	}
	tdm_json_array(json);
	for (uint32_t bank = 0; bank < grid.banks; bank++) {
		tdm_json_object(json);
		tdm_json_put_u64(json, "bank", bank);
		tdm_json_put_u64(json, "x", grid.cores[bank].x);
		tdm_json_put_u64(json, "y", grid.cores[bank].y);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	free(grid.cores);
}
