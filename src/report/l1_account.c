#include "report/l1_account.h"
#include "device/card.h"

static struct tdm_l1_amount unknown(const char *why)
{
	return (struct tdm_l1_amount){ .bytes = TDM_BYTES_UNKNOWN, .text = why };
}

/* The sum of these kinds, as sources count them; the text names the source of the first known one. */
static struct tdm_l1_amount measured(
	const struct tdm_picture_device *device, const enum tdm_kind *kinds, size_t count, const char *why)
{
	struct tdm_l1_amount sum = unknown(why);
	for (size_t i = 0; i < count; i++) {
		const struct tdm_picture_kind *kind = &device->kinds[kinds[i]];
		if (kind->used == TDM_BYTES_UNKNOWN)
			continue;
		if (sum.bytes == TDM_BYTES_UNKNOWN)
			sum = (struct tdm_l1_amount){ .bytes = kind->used,
				.text = tdm_from_name((enum tdm_from)kind->used_from) };
		else
			sum.bytes = tdm_plus(sum.bytes, kind->used);
	}
	return sum;
}

/* Programs report kernels and firmware only if they were changed to do so: no report does not mean 0 bytes. */
static struct tdm_l1_amount counted(const struct tdm_picture_device *device, enum tdm_kind k, const char *why)
{
	const struct tdm_picture_kind *kind = &device->kinds[k];
	bool is_reported = tdm_is_some(kind->used) || tdm_is_some(kind->allocs) || tdm_is_some(kind->peak);
	return is_reported ? measured(device, &k, 1, why) : unknown(why);
}

static struct tdm_l1_amount inferred(uint64_t bytes, const char *text)
{
	if (bytes == TDM_BYTES_UNKNOWN)
		return unknown("the card is not known");
	return (struct tdm_l1_amount){ .bytes = bytes, .is_inferred = true, .text = text };
}

static struct tdm_l1_amount ring(uint64_t bytes, uint64_t kernels)
{
	if (bytes == TDM_BYTES_UNKNOWN || kernels == TDM_BYTES_UNKNOWN)
		return inferred(bytes, "inferred (model), with the kernels");
	return inferred(bytes > kernels ? bytes - kernels : 0, "inferred (model), without the kernels");
}

static struct tdm_l1_amount rest(const struct tdm_l1_account *account)
{
	uint64_t left = account->total;
	bool is_inferred = false;
	if (left == TDM_BYTES_UNKNOWN)
		return unknown("the card is not known");
	for (size_t i = 0; i < TDM_L1_ITEM_REST; i++) {
		const struct tdm_l1_amount *item = &account->items[i];
		if (item->bytes == TDM_BYTES_UNKNOWN)
			continue;
		if (item->bytes > left)
			return unknown("more is counted than exists");
		left -= item->bytes;
		is_inferred |= item->is_inferred;
	}
	return (struct tdm_l1_amount){ .bytes = left, .is_inferred = is_inferred, .text = "what is left" };
}

void tdm_l1_account(struct tdm_l1_account *account, const struct tdm_picture_device *device)
{
	static const enum tdm_kind buffers[] = { TDM_KIND_L1, TDM_KIND_L1_SMALL };
	static const struct {
		const char *name, *title;
	} words[] = {
#define X(id, name, title) { name, title },
		TDM_L1_ITEM_LIST(X)
#undef X
	};
	static const enum tdm_kind cbs[] = { TDM_KIND_CB, TDM_KIND_DFB, TDM_KIND_SCRATCHPAD };
	struct tdm_card card;
	bool has_card = device->card[0] != '\0' && tdm_card_init(&card, tdm_str_of(device->card), NULL, NULL) == 0;
	uint64_t map_end = has_card ? tdm_card_get(&card, TDM_CARD_MAP_END) : TDM_BYTES_UNKNOWN;
	uint64_t config = has_card ? tdm_card_get(&card, TDM_CARD_KERNEL_CONFIG) : TDM_BYTES_UNKNOWN;
	uint64_t cores = (uint64_t)device->grid_x * device->grid_y;
	struct tdm_l1_amount *items = account->items;

	if (cores == 0)
		cores = has_card ? tdm_card_get(&card, TDM_CARD_L1_BANKS) : TDM_BYTES_UNKNOWN;
	account->core_bytes = device->l1_core;
	account->cores = cores;
	account->total = tdm_times(account->core_bytes, cores);
	items[TDM_L1_ITEM_BUFFERS] = measured(device, buffers, 2, "no source counts them");
	items[TDM_L1_ITEM_CBS] = measured(device, cbs, 3, "no source counts them");
	items[TDM_L1_ITEM_KERNELS] = counted(device, TDM_KIND_KERNEL, "no program reports them");
	items[TDM_L1_ITEM_CONFIG] = ring(tdm_times(config, cores), items[TDM_L1_ITEM_KERNELS].bytes);
	items[TDM_L1_ITEM_FIRMWARE] = counted(device, TDM_KIND_FIRMWARE, "");
	if (items[TDM_L1_ITEM_FIRMWARE].bytes == TDM_BYTES_UNKNOWN)
		items[TDM_L1_ITEM_FIRMWARE] = inferred(tdm_times(map_end, cores), "inferred (model)");
	items[TDM_L1_ITEM_REST] = rest(account);
	for (int i = 0; i < TDM_L1_ITEM_COUNT; i++) {
		items[i].name = words[i].name;
		items[i].title = words[i].title;
	}
}
