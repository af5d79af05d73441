/* The pressure on circular buffers as text, JSON and charts: pressure_text.c, pressure_json.c, pressure_chart.c, with
 * the columns and rows of pressure_tables.c. */
#ifndef TDM_REPORT_PRESSURE_REPORT_H
#define TDM_REPORT_PRESSURE_REPORT_H

#include "analyze/budget.h"
#include "analyze/model_fit.h"
#include "analyze/pressure.h"
#include "base/diag.h"
#include "plot/plot.h"
#include "report/table.h"

/* One result, or one for each size of --multi. */
struct tdm_pressure_report {
	const struct tdm_pressure_result *results;
	size_t count;
	bool is_multi;
	const char *format;       /* of the tiles; NULL: the pattern says */
	const char *pattern_path; /* NULL: none */
	const struct tdm_core_speed *speed;
	bool explain;                    /* show the constants of the model */
	const struct tdm_model_fit *fit; /* to a performance report; NULL: none */
	const struct tdm_budgets *budgets;
	struct tdm_findings *found; /* against a baseline; NULL: none was given */
	const char *baseline;
};

struct tdm_pressure_picture {
	const char *title;
	const char *path; /* NULL: text for the terminal */
	struct tdm_plot_options size;
};

void tdm_pressure_text(const struct tdm_pressure_report *report, const struct tdm_term *term, struct tdm_buf *out);
void tdm_pressure_json(const struct tdm_pressure_report *report, struct tdm_json *json);

/* With several results the scores over the sizes, with one the throughput over the bytes. 0, or a negative code with
 * the reason in `diag`. */
int tdm_pressure_draw(const struct tdm_pressure_report *report, const struct tdm_pressure_picture *picture,
	const struct tdm_term *term, struct tdm_buf *out, struct tdm_diag *diag);

/* The budgets of all strategies of all results. 0 or a negative code. */
int tdm_pressure_budgets(const struct tdm_pressure_result *results, size_t count, struct tdm_budgets *budgets);

/* Shared by the files above. */
extern const struct tdm_column tdm_strategy_columns[16];
extern const struct tdm_column tdm_strategy_model_columns[4];
extern const struct tdm_column tdm_strategy_fill_columns[3];
extern const struct tdm_column tdm_depth_columns[8]; /* rows: the buffers; context: the result */
extern const struct tdm_column tdm_curve_columns[5];
extern const struct tdm_column tdm_fit_columns[4];
extern const struct tdm_column tdm_speed_columns[6];

/* A row of the curve of an advice. */
struct tdm_curve_row {
	const struct tdm_cb_pattern *pattern;
	const struct tdm_advice_point *point;
	double share;   /* of the best throughput */
	double per_kib; /* tiles per second that each further KiB gives, up to the next point; NAN: none */
};
size_t tdm_curve_rows(const struct tdm_pressure_result *result, struct tdm_curve_row rows[TDM_ADVICE_POINTS_MAX]);

/* A figure that the model was fitted to, in nanoseconds. */
struct tdm_fit_row {
	const char *name;
	double measured, fitted, before;
};
void tdm_fit_rows(const struct tdm_model_fit *fit, struct tdm_fit_row rows[TDM_FIT_FIGURES]);

struct tdm_speed_row {
	const char *name, *unit, *tag, *summary, *source;
	double value;
};
void tdm_speed_rows(const struct tdm_core_speed *speed, struct tdm_speed_row rows[TDM_SPEED_COUNT]);

/* The first result in which the strategy is critical: its thrashing risk is HIGH. NULL: there is none. */
const struct tdm_pressure_result *tdm_pressure_critical(
	const struct tdm_pressure_report *report, enum tdm_sizing_name name);

#endif
