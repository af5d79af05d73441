#include "cli/chart_options.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_side(double side)
{
	return side >= TDM_PLOT_SIDE_MIN && side <= TDM_PLOT_SIDE_MAX;
}

int tdm_chart_take_size(const struct tdm_cmd *cmd, const char *value, struct tdm_plot_options *options)
{
	char *end;
	options->width = strtod(value, &end);
	options->height = *end == 'x' ? strtod(end + 1, &end) : 0;
	if (*end != '\0' || !is_side(options->width) || !is_side(options->height))
		return tdm_cmd_usage_error(cmd, "--size '%s': expected WIDTHxHEIGHT, each from %d to %d", value,
			TDM_PLOT_SIDE_MIN, TDM_PLOT_SIDE_MAX);
	return 0;
}

int tdm_chart_take_scale(const struct tdm_cmd *cmd, const char *value, struct tdm_plot_options *options)
{
	char *end;
	options->scale = strtod(value, &end);
	if (*end != '\0' || !(options->scale >= 0.25 && options->scale <= 8))
		return tdm_cmd_usage_error(cmd, "--scale '%s': expected a number from 0.25 to 8", value);
	return 0;
}

int tdm_chart_check_path(const struct tdm_cmd *cmd, const char *path)
{
	enum tdm_plot_format format;
	struct tdm_diag diag = { 0 };
	return tdm_plot_format_of(path, &format, &diag) != 0 ? tdm_cmd_usage_error(cmd, "--output %s", diag.text) : 0;
}

void tdm_chart_said(const struct tdm_cmd *cmd, const char *path)
{
	const char *fonts = tdm_plot_missing_fonts();
	if (fonts != NULL)
		fprintf(stderr, "tidemark %s: %s\n", cmd->name, fonts);
	fprintf(stderr, "tidemark %s: the chart is in %s\n", cmd->name, path);
}
