/*
 * Performance reports of operations (ops_perf_results…csv): one row for each operation on each device. Columns are
 * found by their names; of those that are missing, or empty in a row, the figure is unknown.
 *
 * The two times that a circular buffer makes a compute kernel wait are measured on the device: for input to come
 * (front) and for room for output (back). The report has their sums over the cores; here they are averages of a core,
 * and unknown where the number of cores is.
 */
#ifndef TDM_SOURCES_PERF_CSV_H
#define TDM_SOURCES_PERF_CSV_H

#include "base/buf.h"
#include "base/diag.h"

#define TDM_PERF_UNKNOWN UINT64_MAX

/* id, name of the column, key in JSON */
#define TDM_PERF_FIGURE_LIST(X)                                   \
	X(CALL, "GLOBAL CALL COUNT", "call")                      \
	X(DEVICE, "DEVICE ID", "device")                          \
	X(CORES, "CORE COUNT", "cores")                           \
	X(FW, "DEVICE FW DURATION [ns]", "fw_ns")                 \
	X(KERNEL, "DEVICE KERNEL DURATION [ns]", "kernel_ns")     \
	X(FRONT, "DEVICE COMPUTE CB WAIT FRONT [ns]", "front_ns") \
	X(BACK, "DEVICE COMPUTE CB RESERVE BACK [ns]", "back_ns")

enum tdm_perf_figure {
#define X(id, column, key) TDM_PERF_##id,
	TDM_PERF_FIGURE_LIST(X)
#undef X
		TDM_PERF_FIGURES
};

struct tdm_perf_row {
	uint64_t figures[TDM_PERF_FIGURES]; /* times in ns, rounded; TDM_PERF_UNKNOWN */
	uint64_t line;
	uint32_t code, type; /* offsets into the texts */
};

struct tdm_perf_csv {
	size_t row_count, row_cap;
	struct tdm_perf_row *rows;
	bool has_column[TDM_PERF_FIGURES];
	bool has_type;
	uint64_t refused;     /* records that could not be used */
	uint64_t odd;         /* of the rest, figures that are no numbers: unknown */
	struct tdm_buf texts; /* each terminated; equal ones once */
};

typedef void (*tdm_perf_warn)(void *context, const struct tdm_diag *diag);

const char *tdm_perf_column(enum tdm_perf_figure figure);
const char *tdm_perf_key(enum tdm_perf_figure figure);

/* Whether the names of the columns begin like those of such a report. */
bool tdm_perf_csv_detect(const char *head, size_t len);

/* Reads a descriptor, which stays the caller's, or memory. 0, or a code with diag set: what was read before stays. */
int tdm_perf_csv_read(struct tdm_perf_csv *perf, int fd, tdm_perf_warn warn, void *context, struct tdm_diag *diag);
int tdm_perf_csv_parse(
	struct tdm_perf_csv *perf, struct tdm_str text, tdm_perf_warn warn, void *context, struct tdm_diag *diag);
void tdm_perf_csv_done(struct tdm_perf_csv *perf);

static inline const char *tdm_perf_text(const struct tdm_perf_csv *perf, uint32_t offset)
{
	return offset < perf->texts.len ? perf->texts.data + offset : "";
}

#endif
