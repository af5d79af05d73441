#include "report/live_cells.h"
#include "report/report_put.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { SHARE_MAX = 99999 };

char *tdm_format_share(char *dst, size_t cap, int permille)
{
	int shown = permille < SHARE_MAX ? permille : SHARE_MAX;
	if (permille < 0)
		snprintf(dst, cap, "unknown");
	else
		snprintf(dst, cap, "%d.%d%%", shown / 10, shown % 10);
	return dst;
}

const char *tdm_source_name(uint8_t from)
{
	return from != TDM_FROM_NONE && from < TDM_FROM_COUNT ? tdm_from_name((enum tdm_from)from) : NULL;
}

struct tdm_value tdm_get_source(const struct tdm_field *field)
{
	return tdm_value_text(tdm_source_name((uint8_t)tdm_field_member(field).number));
}

const char *tdm_level_style(enum tdm_level level)
{
	static const char *const styles[] = { [TDM_LEVEL_UNKNOWN] = "",
		[TDM_LEVEL_GREEN] = TDM_STYLE_GREEN,
		[TDM_LEVEL_YELLOW] = TDM_STYLE_YELLOW,
		[TDM_LEVEL_RED] = TDM_STYLE_RED };
	return styles[level];
}

char *tdm_format_time(char *dst, size_t cap, uint64_t real_ns)
{
	time_t seconds = (time_t)(real_ns / UINT64_C(1000000000));
	struct tm local;
	if (real_ns == 0 || localtime_r(&seconds, &local) == NULL ||
		strftime(dst, cap, "%Y-%m-%d %H:%M:%S", &local) == 0)
		dst[0] = '\0';
	return dst;
}

/* The kinds that tt-metal's shared memory counts. */
enum { CHIP_KINDS = TDM_KIND_CB + 1 };

void tdm_chips_put(struct tdm_buf *out, const char *indent, const struct tdm_picture_device *device)
{
	if (device->chip_count == 0 || (device->chip_count == 1 && !device->chips[0].is_remote))
		return;
	for (uint32_t i = 0; i < tdm_min(device->chip_count, TDM_PICTURE_CHIPS_MAX); i++) {
		const struct tdm_picture_chip *chip = &device->chips[i];
		tdm_buf_printf(out, "%schip %" PRIu32 "%s:", indent, chip->chip, chip->is_remote ? " R (remote)" : "");
		for (int k = 0; k < CHIP_KINDS; k++)
			if (k <= TDM_KIND_L1 || tdm_is_some(chip->bytes[k]))
				tdm_buf_printf(out, "%s %s %s", k != 0 ? "," : "", tdm_kind_name((enum tdm_kind)k),
					TDM_SIZE_TEXT(chip->bytes[k]));
		tdm_buf_putc(out, '\n');
	}
	if (tdm_picture_has_stale(device))
		tdm_buf_printf(out, "%s(chips are as tt-metal recorded them, with stale entries)\n", indent);
}

void tdm_chips_json(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_picture_device *device = field->row;
	tdm_json_array(json);
	for (uint32_t i = 0; i < tdm_min(device->chip_count, TDM_PICTURE_CHIPS_MAX); i++) {
		const struct tdm_picture_chip *chip = &device->chips[i];
		tdm_json_object(json);
		tdm_json_put_u64(json, "chip", chip->chip);
		tdm_json_put_bool(json, "remote", chip->is_remote);
		for (int k = 0; k < CHIP_KINDS; k++)
			tdm_json_put_bytes(json, tdm_kind_name((enum tdm_kind)k), chip->bytes[k]);
		tdm_json_put_text(json, "source", tdm_from_name(TDM_FROM_METAL_SHM));
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

void tdm_put_marked(const struct tdm_field *field, struct tdm_buf *out, const char *mark, uint64_t bytes)
{
	const struct tdm_column *column = field->column;
	const char *unknown = column->unknown != NULL ? column->unknown : field->table->unknown;
	char text[TDM_BYTES_CAP];
	if (bytes == TDM_BYTES_UNKNOWN) {
		tdm_buf_puts(out, unknown != NULL ? unknown : "-");
		return;
	}
	tdm_buf_printf(
		out, "%s%s", mark, tdm_field_bytes(field, text, sizeof text, bytes, column->width - strlen(mark)));
}
