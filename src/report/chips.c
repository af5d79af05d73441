#include "report/chips.h"
#include "base/units.h"

#include <inttypes.h>

/* Whether the chips tell more than the device does: there are several, or its only one is remote. */
static bool are_several(const struct tdm_picture_device *device)
{
	return device->chip_count > 1 || (device->chip_count == 1 && device->chips[0].is_remote);
}

static void put_chip(struct tdm_buf *out, const char *indent, const struct tdm_picture_chip *chip)
{
	char text[TDM_BYTES_CAP];
	tdm_buf_printf(out, "%schip %" PRIu32 "%s:", indent, chip->chip, chip->is_remote ? " R (remote)" : "");
	for (int k = 0; k <= TDM_KIND_CB; k++) /* the kinds that a region has */
		if (k <= TDM_KIND_L1 || tdm_is_some(chip->bytes[k]))
			tdm_buf_printf(out, "%s %s %s", k != 0 ? "," : "", tdm_kind_name((enum tdm_kind)k),
				tdm_format_bytes_short(text, sizeof text, chip->bytes[k]));
	tdm_buf_putc(out, '\n');
}

void tdm_chips_put(struct tdm_buf *out, const char *indent, const struct tdm_picture_device *device)
{
	if (!are_several(device))
		return;
	for (uint32_t i = 0; i < device->chip_count && i < TDM_PICTURE_CHIPS_MAX; i++)
		put_chip(out, indent, &device->chips[i]);
	if (tdm_picture_has_stale(device))
		tdm_buf_printf(
			out, "%s(chips are as tt-metal wrote them down: what is stale is counted there)\n", indent);
}

static struct tdm_value get_source(const struct tdm_field *field)
{
	(void)field;
	return tdm_value_text(tdm_from_name(TDM_FROM_METAL_SHM));
}

void tdm_chips_json(const struct tdm_field *field, struct tdm_json *json)
{
#define CHIP(member) TDM_MEMBER(struct tdm_picture_chip, member)
	static const struct tdm_column columns[] = {
		{ NULL, "chip", CHIP(chip) },
		{ NULL, "remote", CHIP(is_remote) },
		{ NULL, "dram", CHIP(bytes[TDM_KIND_DRAM]) },
		{ NULL, "l1", CHIP(bytes[TDM_KIND_L1]) },
		{ NULL, "l1_small", CHIP(bytes[TDM_KIND_L1_SMALL]) },
		{ NULL, "trace", CHIP(bytes[TDM_KIND_TRACE]) },
		{ NULL, "cb", CHIP(bytes[TDM_KIND_CB]) },
		{ NULL, "source", .get = get_source },
	};
	const struct tdm_picture_device *device = field->row;
	const struct tdm_table table = { TDM_COLUMNS(columns), device->chips, sizeof *device->chips,
		tdm_min(device->chip_count, TDM_PICTURE_CHIPS_MAX) };
	tdm_table_json(&table, json);
}
