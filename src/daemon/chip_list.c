#include "daemon/chip_list.h"
#include "base/clock.h"
#include "base/number.h"
#include "device/card.h"
#include "sources/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_AGAIN_NS (10 * TDM_NS_PER_S)

void tdm_chip_list_init(struct tdm_chip_list *info)
{
	*info = (struct tdm_chip_list){ 0 };
	pthread_mutex_init(&info->lock, NULL);
}

static void clear(struct tdm_chip_list *info)
{
	free(info->chips);
	info->chips = NULL;
	info->count = 0;
}

void tdm_chip_list_done(struct tdm_chip_list *info)
{
	clear(info);
	pthread_mutex_destroy(&info->lock);
}

static uint64_t known(const struct tdm_card *card, enum tdm_card_field field)
{
	uint64_t value = tdm_card_get(card, field);
	return value != TDM_BYTES_UNKNOWN ? value : 0;
}

/* The chips of a card of the driver: how many it has. */
static uint64_t describe(const struct tdm_host_card *from, struct tdm_known_chip *chip)
{
	struct tdm_card card;
	struct tdm_diag diag;
	const struct tdm_host_value *type = &from->values[TDM_HOST_CARD_TYPE];
	*chip = (struct tdm_known_chip){ 0 };
	snprintf(chip->card, sizeof chip->card, "%.*s", (int)sizeof chip->card - 1,
		type->state == TDM_HOST_KNOWN ? type->text : "unknown card");
	if (type->state != TDM_HOST_KNOWN || tdm_card_init(&card, tdm_str_of(type->text), NULL, &diag) != 0)
		return 1;
	chip->arch = card.arch;
	chip->dram_banks = known(&card, TDM_CARD_DRAM_BANKS);
	chip->dram_bank_size = known(&card, TDM_CARD_DRAM_BANK_SIZE);
	chip->cores = known(&card, TDM_CARD_GRID_X) * known(&card, TDM_CARD_GRID_Y);
	chip->l1_size = known(&card, TDM_CARD_L1_SIZE);
	return tdm_max(known(&card, TDM_CARD_CHIPS), 1);
}

static int fill(struct tdm_chip_list *info, const struct tdm_host *host)
{
	enum { CHIPS_OF_CARD = 8 }; /* more than any card has */
	info->chips = calloc(host->card_count * CHIPS_OF_CARD + 1, sizeof *info->chips);
	if (info->chips == NULL)
		return -ENOMEM;
	for (unsigned nth = 0; nth < CHIPS_OF_CARD; nth++)
		for (size_t i = 0; i < host->card_count; i++) {
			struct tdm_known_chip chip;
			if (nth >= describe(&host->cards[i], &chip))
				continue;
			chip.is_remote = nth != 0;
			info->chips[info->count++] = chip;
		}
	return 0;
}

static void refresh(struct tdm_chip_list *info)
{
	struct tdm_host host;
	uint64_t now = tdm_clock_ns();
	if (info->read_ns != 0 && now - info->read_ns < READ_AGAIN_NS)
		return;
	clear(info);
	info->read_ns = now;
	info->err = tdm_host_read(&host, &(struct tdm_host_options){ 0 });
	if (info->err == 0)
		info->err = fill(info, &host);
	tdm_host_done(&host);
}

void tdm_chip_list_reply(struct tdm_chip_list *info, int32_t device, struct tdm_wire_reply *reply)
{
	pthread_mutex_lock(&info->lock);
	refresh(info);
	*reply = (struct tdm_wire_reply){ .type = TDM_WIRE_DEVICE_INFO_RESPONSE, .device = device };
	if (device == -1) {
		reply->device_count = (uint32_t)info->count;
		reply->is_available = info->count != 0;
	} else if (device >= 0 && (size_t)device < info->count) {
		const struct tdm_known_chip *chip = &info->chips[device];
		reply->is_available = 1;
		reply->arch = chip->arch;
		reply->dram_channels = (uint32_t)chip->dram_banks;
		reply->dram_per_channel = (uint32_t)tdm_min(chip->dram_bank_size, UINT32_MAX);
		reply->l1_per_core = (uint32_t)tdm_min(chip->l1_size, UINT32_MAX);
		reply->total_dram = chip->dram_banks * chip->dram_bank_size;
		reply->total_l1 = chip->cores * chip->l1_size;
	}
	pthread_mutex_unlock(&info->lock);
}

void tdm_chip_list_text(struct tdm_chip_list *info, struct tdm_buf *out)
{
	pthread_mutex_lock(&info->lock);
	refresh(info);
	tdm_buf_puts(out, "🔍 Device detection (from the driver):\n");
	for (size_t i = 0; i < info->count; i++) {
		const struct tdm_known_chip *chip = &info->chips[i];
		if (chip->arch == 0)
			tdm_buf_printf(out, "   Device %zu: %s (sizes unknown)\n", i, chip->card);
		else
			tdm_buf_printf(out, "   Device %zu: %s (%gGB DRAM, %gMB L1) [%s]\n", i,
				tdm_arch_name((enum tdm_arch)chip->arch),
				(double)(chip->dram_banks * chip->dram_bank_size) / (1024.0 * 1024 * 1024),
				(double)(chip->cores * chip->l1_size) / (1024.0 * 1024),
				chip->is_remote ? "Remote" : "Local");
	}
	if (info->count != 0)
		tdm_buf_printf(out, "   Total: %zu device(s) detected\n", info->count);
	else
		tdm_buf_puts(out, "   No devices detected\n   Server will track allocations anyway\n");
	pthread_mutex_unlock(&info->lock);
}
