/* Cards as JSON. */
#include "report/device_report.h"
#include "base/json.h"
#include "device/data_format.h"
#include "device/l1_map.h"
#include "report/device_tables.h"

static const char schema[] = "tidemark.device";

static const char *const zone_keys[TDM_L1_ZONE_COUNT] = {
	[TDM_L1_FIRMWARE] = "firmware",
	[TDM_L1_KERNEL_CONFIG] = "config",
	[TDM_L1_CBS] = "cb",
	[TDM_L1_GAP] = "free",
	[TDM_L1_BUFFERS] = "l1",
	[TDM_L1_SMALL_REGION] = "l1_small",
};

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
	const struct tdm_table table = { TDM_COLUMNS(tdm_device_region_columns), regions, sizeof *regions,
		TDM_DEVICE_REGION_COUNT };
	tdm_device_regions(card, regions);
	tdm_json_key(json, "regions");
	tdm_table_json(&table, json);
}

static struct tdm_value get_zone(const struct tdm_field *field)
{
	return tdm_value_text(zone_keys[((const struct tdm_l1_span *)field->row)->zone]);
}

static void put_l1_map(struct tdm_json *json, const struct tdm_card *card)
{
	static const struct tdm_column columns[] = {
		{ NULL, "zone", .get = get_zone },
		{ NULL, "address", TDM_MEMBER(struct tdm_l1_span, address) },
		{ NULL, "size", TDM_MEMBER(struct tdm_l1_span, size) },
	};
	struct tdm_l1_map map;
	const struct tdm_table table = { TDM_COLUMNS(columns), map.span, sizeof *map.span, TDM_L1_ZONE_COUNT };
	tdm_json_key(json, "l1_map");
	if (tdm_l1_map(card, &(struct tdm_l1_use){ 0 }, &map, NULL) == 0)
		tdm_table_json(&table, json);
	else
		tdm_json_null(json);
}

static void put_firmware(struct tdm_json *json, const struct tdm_card *card)
{
	const struct tdm_table table = { TDM_COLUMNS(tdm_device_part_columns), card->parts, sizeof *card->parts,
		card->part_count };
	tdm_json_key(json, "firmware");
	if (card->part_count != 0)
		tdm_table_json(&table, json);
	else
		tdm_json_null(json);
}

#define FORMAT(member) TDM_MEMBER(struct tdm_data_format, member)
static void put_formats(struct tdm_json *json)
{
	static const struct tdm_column columns[] = {
		{ NULL, "name", FORMAT(name) },
		{ NULL, "alias", FORMAT(alias) },
		{ NULL, "number", FORMAT(number) },
		{ NULL, "tile_bytes", FORMAT(tile_bytes), .flags = TDM_ZERO_IS_UNKNOWN },
	};
	const struct tdm_table table = { TDM_COLUMNS(columns), tdm_data_formats, sizeof *tdm_data_formats,
		tdm_data_format_count };
	tdm_json_key(json, "data_formats");
	tdm_table_json(&table, json);
}

int tdm_device_json_list(struct tdm_buf *out, const char *const *names)
{
	struct tdm_json json;
	struct tdm_card_variant variant = tdm_card_variant_default();
	tdm_json_init(&json, out);
	tdm_json_envelope(&json, schema);
	const struct tdm_table table = { TDM_COLUMNS(tdm_device_card_columns), NULL };
	tdm_json_put_array(&json, "devices");
	for (; *names != NULL; names++) {
		struct tdm_card card;
		int err = tdm_card_init(&card, tdm_str_of(*names), &variant, NULL);
		if (err != 0)
			return err;
		tdm_json_object(&json);
		tdm_table_keys(&table, &card, &json);
		tdm_json_object_end(&json);
	}
	tdm_json_array_end(&json);
	tdm_json_object_end(&json);
	tdm_buf_putc(out, '\n');
	return 0;
}

void tdm_device_json_show(struct tdm_buf *out, const struct tdm_card *card)
{
	const struct tdm_table names = { .columns = tdm_device_card_columns, .column_count = TDM_DEVICE_CARD_NAMES };
	struct tdm_json json;
	tdm_json_init(&json, out);
	tdm_json_envelope(&json, schema);
	tdm_json_put_object(&json, "device");
	tdm_table_keys(&names, card, &json);
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
