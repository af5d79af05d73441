/* The options of commands that draw a chart into a file or on the terminal: --output, --size, --scale. */
#ifndef TDM_CLI_CHART_OPTIONS_H
#define TDM_CLI_CHART_OPTIONS_H

#include "cli/cmd.h"
#include "plot/plot.h"

/* WIDTHxHEIGHT and a factor. 0, or TDM_EXIT_USAGE after a message. */
int tdm_chart_take_size(const struct tdm_cmd *cmd, const char *value, struct tdm_plot_options *options);
int tdm_chart_take_scale(const struct tdm_cmd *cmd, const char *value, struct tdm_plot_options *options);

/* Whether pictures can be written under that name. 0, or TDM_EXIT_USAGE after a message. */
int tdm_chart_check_path(const struct tdm_cmd *cmd, const char *path);

/* Says where the picture is, and what its letters lack. */
void tdm_chart_said(const struct tdm_cmd *cmd, const char *path);

#endif
