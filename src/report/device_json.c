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

static void put_names(struct tdm_json *json, const struct tdm_card *card)
{
	tdm_json_put_text(json, "name", card->name);
	tdm_json_put_text(json, "full_name", card->full_name);
	tdm_json_put_text(json, "arch", tdm_arch_name(card->arch));
	tdm_json_put_bytes(json, "chips", tdm_card_get(card, TDM_CARD_CHIPS));
}

static void put_variant(struct tdm_json *json, const struct tdm_card *card)
{
	tdm_json_put_object(json, "variant");
	tdm_json_put_text(json, "dispatch", tdm_dispatch_name(tdm_card_dispatch(card)));
	tdm_json_put_bool(json, "tracy", card->variant.tracy);
	tdm_json_put_bool(json, "old_firmware", card->variant.old_firmware);
	tdm_json_put_bool(json, "fabric_mux", card->variant.fabric_mux);
	tdm_json_put_bytes(json, "harvested", tdm_card_get(card, TDM_CARD_HARVESTED));
	tdm_json_object_end(json);
}

static void put_fields(struct tdm_json *json, const struct tdm_card *card)
{
	tdm_json_put_object(json, "fields");
	for (enum tdm_card_field f = 0; f < TDM_CARD_FIELD_COUNT; f++) {
		tdm_json_key(json, tdm_card_field_name(f));
		tdm_json_object(json);
		tdm_json_put_bytes(json, "value", tdm_card_get(card, f));
		tdm_json_put_text(json, "unit", tdm_card_field_unit(f) == 'B' ? "bytes" : "count");
		tdm_json_put_bool(json, "overridden", card->is_set[f]);
		tdm_json_put_text(json, "source", card->source[f]);
		tdm_json_object_end(json);
	}
	tdm_json_object_end(json);
}

static void put_regions(struct tdm_json *json, const struct tdm_card *card)
{
	struct tdm_device_region regions[TDM_DEVICE_REGION_COUNT];
	tdm_device_regions(card, regions);
	tdm_json_put_array(json, "regions");
	for (size_t i = 0; i < TDM_DEVICE_REGION_COUNT; i++) {
		tdm_json_object(json);
		tdm_json_put_text(json, "kind", tdm_kind_name(regions[i].kind));
		tdm_json_put_bytes(json, "banks", regions[i].banks);
		tdm_json_put_bytes(json, "base", regions[i].base);
		tdm_json_put_bytes(json, "size_per_bank", regions[i].size);
		tdm_json_put_bytes(json, "total_bytes", regions[i].total);
		tdm_json_put_text(json, "source", card->source[regions[i].field]);
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
		tdm_json_put_text(json, "zone", zone_keys[map.span[i].zone]);
		tdm_json_put_bytes(json, "address", map.span[i].address);
		tdm_json_put_bytes(json, "size", map.span[i].size);
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
		tdm_json_put_text(json, "name", card->parts[i].name);
		tdm_json_put_bytes(json, "address", card->parts[i].address);
		tdm_json_put_bytes(json, "size", card->parts[i].size);
		tdm_json_put_text(json, "source", card->parts[i].source);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_formats(struct tdm_json *json)
{
	tdm_json_put_array(json, "data_formats");
	for (size_t i = 0; i < tdm_data_format_count; i++) {
		tdm_json_object(json);
		tdm_json_put_text(json, "name", tdm_data_formats[i].name);
		tdm_json_put_text(json, "alias", tdm_data_formats[i].alias);
		tdm_json_put_bytes(json, "number", tdm_data_formats[i].number);
		uint32_t tile = tdm_data_formats[i].tile_bytes;
		tdm_json_put_bytes(json, "tile_bytes", tile != 0 ? tile : TDM_BYTES_UNKNOWN);
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
		tdm_json_put_bytes(json, tdm_card_field_name(fields[i]), tdm_card_get(card, fields[i]));
	tdm_json_object_end(json);
}

int tdm_device_json_list(struct tdm_buf *out, const char *const *names)
{
	struct tdm_json json;
	struct tdm_card_variant variant = tdm_card_variant_default();
	tdm_json_init(&json, out);
	tdm_json_envelope(&json, schema);
	tdm_json_put_array(&json, "devices");
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
	tdm_json_put_object(&json, "device");
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
