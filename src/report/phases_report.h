/* The analysis of training phases as text, JSON and charts. */
#ifndef TDM_REPORT_PHASES_REPORT_H
#define TDM_REPORT_PHASES_REPORT_H

#include "analyze/phases.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/json.h"
#include "base/term.h"
#include "plot/plot.h"
#include "report/table.h"

/* One input with its runs. */
struct tdm_phases_input {
	const char *source; /* "train_log", "ledger" or "capture" */
	const char *path;   /* of the file; NULL: several captures */
	struct tdm_phase_runs runs;
	struct tdm_phases *results;     /* one for each run */
	const struct tdm_diag *refused; /* the first ones */
	size_t refused_shown;
	uint64_t refused_count;
};

struct tdm_phases_report {
	const struct tdm_phases_input *inputs;
	size_t input_count;
};

void tdm_phases_text(const struct tdm_phases_report *report, const struct tdm_term *term, struct tdm_buf *out);

/* The value of the key "phases". */
void tdm_phases_json(const struct tdm_phases_report *report, struct tdm_json *json);

/* Columns of a struct tdm_phase; TDM_PHASES_FIGURES is the first with a figure. */
enum { TDM_PHASES_FIGURES = 2 };
extern const struct tdm_column tdm_phases_columns[11];

/* A size with a theoretical value, or one without, which has a note. */
struct tdm_phases_size {
	const char *name;
	struct tdm_phases_pair pair;
	const char *note;
};
extern const struct tdm_column tdm_phases_size_columns[5];

enum tdm_phases_chart { TDM_PHASES_CHART_PEAK, TDM_PHASES_CHART_TIME };

struct tdm_phases_picture {
	enum tdm_phases_chart chart;
	const char *title; /* NULL: none */
	const char *path;  /* NULL: text for the terminal, into `out` */
	struct tdm_plot_options size;
};

enum { TDM_PHASES_LINES_MAX = 64 };

/* Runs left out of the chart, by reason. */
struct tdm_phases_left_out {
	size_t no_peak, other_phases, too_many;
};

/* Draws all runs whose peak is known; over time, up to TDM_PHASES_LINES_MAX runs with the same phases as the first. 0,
 * or a negative code with the reason in `diag`. */
int tdm_phases_draw(const struct tdm_phases_report *report, const struct tdm_phases_picture *picture,
	const struct tdm_term *term, struct tdm_buf *out, struct tdm_phases_left_out *left_out, struct tdm_diag *diag);

#endif
