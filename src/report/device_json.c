#include "report/device_json.h"
#include "report/device_banks.h"
#include "base/json.h"
#include "device/data_format.h"
#include "device/l1_map.h"
#include "report/device_regions.h"

static const char schema[] = "tidemark.device";

static const char *const zone_keys[TDM_L1_ZONE_COUNT] = {
	[TDM_L1_FIRMWARE] = "firmware",
	[TDM_L1_KERNEL_CONFIG] = "config",
	[TDM_L1_CBS] = "cb",
	[TDM_L1_GAP] = "free",
	[TDM_L1_BUFFERS] = "l1",
	[TDM_L1_SMALL_REGION] = "l1_small",
};

static void put_text(struct tdm_json *json, const char *key, const char *text)
{
	tdm_json_key(json, key);
	tdm_json_text(json, text);
}

static void put_figure(struct tdm_json *json, const char *key, uint64_t value)
{
	tdm_json_key(json, key);
	tdm_json_bytes(json, value);
}

static void put_flag(struct tdm_json *json, const char *key, bool value)
{
	tdm_json_key(json, key);
	tdm_json_bool(json, value);
}

static void put_names(struct tdm_json *json, const struct tdm_card *card)
{
	put_text(json, "name", card->name);
	put_text(json, "full_name", card->full_name);
	put_text(json, "arch", tdm_arch_name(card->arch));
	put_figure(json, "chips", tdm_card_get(card, TDM_CARD_CHIPS));
}

static void put_variant(struct tdm_json *json, const struct tdm_card *card)
{
	tdm_json_key(json, "variant");
	tdm_json_object(json);
	put_text(json, "dispatch", tdm_dispatch_name(tdm_card_dispatch(card)));
	put_flag(json, "tracy", card->variant.tracy);
	put_flag(json, "old_firmware", card->variant.old_firmware);
	put_flag(json, "fabric_mux", card->variant.fabric_mux);
	put_figure(json, "harvested", tdm_card_get(card, TDM_CARD_HARVESTED));
	tdm_json_object_end(json);
}

static void put_fields(struct tdm_json *json, const struct tdm_card *card)
{
	tdm_json_key(json, "fields");
	tdm_json_object(json);
	for (enum tdm_card_field f = 0; f < TDM_CARD_FIELD_COUNT; f++) {
		tdm_json_key(json, tdm_card_field_name(f));
		tdm_json_object(json);
		put_figure(json, "value", tdm_card_get(card, f));
		put_text(json, "unit", tdm_card_field_unit(f) == 'B' ? "bytes" : "count");
		put_flag(json, "overridden", card->is_set[f]);
		put_text(json, "source", card->source[f]);
		tdm_json_object_end(json);
	}
	tdm_json_object_end(json);
}

static void put_regions(struct tdm_json *json, const struct tdm_card *card)
{
	struct tdm_device_region regions[TDM_DEVICE_REGION_COUNT];
	tdm_device_regions(card, regions);
	tdm_json_key(json, "regions");
	tdm_json_array(json);
	for (size_t i = 0; i < TDM_DEVICE_REGION_COUNT; i++) {
		tdm_json_object(json);
		put_text(json, "kind", tdm_kind_name(regions[i].kind));
		put_figure(json, "banks", regions[i].banks);
		put_figure(json, "base", regions[i].base);
		put_figure(json, "size_per_bank", regions[i].size);
		put_figure(json, "total_bytes", regions[i].total);
		put_text(json, "source", card->source[regions[i].field]);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_l1_map(struct tdm_json *json, const struct tdm_card *card)
{
	struct tdm_l1_map map;
	tdm_json_key(json, "l1_map");
	if (tdm_l1_map(card, &(struct tdm_l1_use){ 0 }, &map, NULL) != 0) {
		tdm_json_null(json);
		return;
	}
	tdm_json_array(json);
	for (size_t i = 0; i < TDM_L1_ZONE_COUNT; i++) {
		tdm_json_object(json);
		put_text(json, "zone", zone_keys[map.span[i].zone]);
		put_figure(json, "address", map.span[i].address);
		put_figure(json, "size", map.span[i].size);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_firmware(struct tdm_json *json, const struct tdm_card *card)
{
	tdm_json_key(json, "firmware");
	if (card->part_count == 0) {
		tdm_json_null(json);
		return;
	}
	tdm_json_array(json);
	for (size_t i = 0; i < card->part_count; i++) {
		tdm_json_object(json);
		put_text(json, "name", card->parts[i].name);
		put_figure(json, "address", card->parts[i].address);
		put_figure(json, "size", card->parts[i].size);
		put_text(json, "source", card->parts[i].source);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_formats(struct tdm_json *json)
{
	tdm_json_key(json, "data_formats");
	tdm_json_array(json);
	for (size_t i = 0; i < tdm_data_format_count; i++) {
		tdm_json_object(json);
		put_text(json, "name", tdm_data_formats[i].name);
		put_text(json, "alias", tdm_data_formats[i].alias);
		put_figure(json, "number", tdm_data_formats[i].number);
		uint32_t tile = tdm_data_formats[i].tile_bytes;
		put_figure(json, "tile_bytes", tile != 0 ? tile : TDM_BYTES_UNKNOWN);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

/* The figures of the list; `show` has all of them. */
static void put_list_item(struct tdm_json *json, const struct tdm_card *card)
{
	static const enum tdm_card_field fields[] = { TDM_CARD_GRID_X, TDM_CARD_GRID_Y, TDM_CARD_L1_BANKS,
		TDM_CARD_L1_SIZE, TDM_CARD_L1_BASE, TDM_CARD_DRAM_BANKS, TDM_CARD_DRAM_BANK_SIZE };
	tdm_json_object(json);
	put_names(json, card);
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		put_figure(json, tdm_card_field_name(fields[i]), tdm_card_get(card, fields[i]));
	tdm_json_object_end(json);
}

int tdm_device_json_list(struct tdm_buf *out, const char *const *names)
{
	struct tdm_json json;
	struct tdm_card_variant variant = tdm_card_variant_default();
	tdm_json_init(&json, out);
	tdm_json_envelope(&json, schema);
	tdm_json_key(&json, "devices");
	tdm_json_array(&json);
	for (; *names != NULL; names++) {
		struct tdm_card card;
		int err = tdm_card_init(&card, tdm_str_of(*names), &variant, NULL);
		if (err != 0)
			return err;
		put_list_item(&json, &card);
	}
	tdm_json_array_end(&json);
	tdm_json_object_end(&json);
	tdm_buf_putc(out, '\n');
	return 0;
}

void tdm_device_json_show(struct tdm_buf *out, const struct tdm_card *card)
{
	struct tdm_json json;
	tdm_json_init(&json, out);
	tdm_json_envelope(&json, schema);
	tdm_json_key(&json, "device");
	tdm_json_object(&json);
	put_names(&json, card);
	put_variant(&json, card);
	put_fields(&json, card);
	put_regions(&json, card);
	put_l1_map(&json, card);
	put_firmware(&json, card);
	tdm_device_banks_json(&json, card);
	put_formats(&json);
	tdm_json_object_end(&json);
	tdm_json_object_end(&json);
	tdm_buf_putc(out, '\n');
}
