#include "report/operations_chart.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const uint32_t buffers_rgb = 0x4da6b8, program_rgb = 0xe38a42;

static double number(uint64_t bytes)
{
	return bytes != TDM_BYTES_UNKNOWN ? (double)bytes : 0;
}

static int draw_course(const struct tdm_operation_memory *m, const struct tdm_operation_unit *unit,
	const struct tdm_info_picture *picture, const struct tdm_term *term, struct tdm_buf *out, struct tdm_diag *diag)
{
	bool is_l1 = unit->kind == TDM_KIND_L1;
	size_t room = m->operation_count + 1; /* the last point ends the last operation */
	double *values = calloc(room, 3 * sizeof *values);
	double *at = values, *buffers = values + room, *program = values + 2 * room;
	size_t count = 0, peak = 0;
	if (values == NULL)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory for the chart");
	for (size_t i = 0; i < m->operation_count; i++) {
		const struct tdm_operation *o = &m->operations[i];
		if (o->rank != unit->rank)
			continue;
		at[count] = (double)(count + 1);
		buffers[count] = number(o->bytes[unit->kind]);
		program[count] = is_l1 ? number(o->cb_bytes) : 0;
		if (buffers[count] + program[count] > buffers[peak] + program[peak])
			peak = count;
		count++;
	}
	at[count] = (double)(count + 1);
	buffers[count] = buffers[count - 1]; /* a unit has an operation */
	program[count] = program[count - 1];
	const struct tdm_plot_series series[] = { { is_l1 ? "L1 buffers after it" : "DRAM after it", buffers_rgb,
							  buffers },
		{ "circular buffers, where known", program_rgb, program } };
	const struct tdm_plot_mark mark = { "peak", at[peak], buffers[peak] + program[peak] };
	const char *label = is_l1 ? "L1 in use, fullest core" : "DRAM in use, one bank of the fullest device";
	const struct tdm_scene scene = { .kind = TDM_CHART_TIME,
		.title = picture->title,
		.subtitle = picture->path == NULL ? label : NULL,
		.y_label = label,
		.x_label = "operation",
		.unit = TDM_PLOT_BYTES,
		.x_unit = TDM_PLOT_NUMBER,
		.series = series,
		.series_count = is_l1 ? 2 : 1,
		.times = at,
		.point_count = count + 1,
		.steps = true,
		.stacked = is_l1,
		.marks = &mark,
		.mark_count = 1 };
	int err = tdm_info_picture_show(&scene, picture, term, out, diag);
	free(values);
	return err;
}

static int draw_cores(const struct tdm_operation_memory *m, const struct tdm_info_picture *picture,
	const struct tdm_term *term, struct tdm_buf *out, struct tdm_diag *diag)
{
	double cells[TDM_OPERATION_GRID * TDM_OPERATION_GRID];
	char subtitle[96];
	if (!m->has_cores)
		return tdm_diag_set(diag, -EINVAL, 0, 0,
			"nothing to draw: the report does not say which cores L1 buffers are on (that takes "
			"enable_detailed_buffer_report)");
	const struct tdm_operation_unit *unit = &m->units[m->core_unit];
	for (uint32_t y = 0; y < m->grid_y; y++)
		for (uint32_t x = 0; x < m->grid_x; x++)
			cells[y * m->grid_x + x] = (double)m->core_bytes[y][x];
	snprintf(subtitle, sizeof subtitle, "L1 buffers of device %" PRIu32 " after operation %" PRIu64, unit->device,
		m->operations[unit->peak_operation].id);
	const struct tdm_scene scene = { .kind = TDM_CHART_HEAT,
		.title = picture->title,
		.subtitle = subtitle,
		.unit = TDM_PLOT_BYTES,
		.cells = cells,
		.grid_width = m->grid_x,
		.grid_height = m->grid_y };
	return tdm_info_picture_show(&scene, picture, term, out, diag);
}

int tdm_operations_draw(const struct tdm_operation_memory *m, const struct tdm_info_picture *picture,
	const struct tdm_term *term, struct tdm_buf *out, struct tdm_diag *diag)
{
	if (picture->chart == TDM_INFO_CHART_CORES)
		return draw_cores(m, picture, term, out, diag);
	bool is_dram = picture->chart == TDM_INFO_CHART_DRAM;
	const struct tdm_operation_unit *unit = tdm_operation_memory_fullest(m, is_dram ? TDM_KIND_DRAM : TDM_KIND_L1);
	if (unit == NULL)
		return tdm_diag_set(diag, -EINVAL, 0, 0, "nothing to draw: the report has no buffers in %s",
			is_dram ? "DRAM" : "L1");
	return draw_course(m, unit, picture, term, out, diag);
}
