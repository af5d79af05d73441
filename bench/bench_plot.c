/*
 * Drawing a stacked chart of eight columns, 1600 x 900, to a PNG file: once in this process, against a limit, and once
 * as a whole process, including its start, against a Python process that draws the same columns with matplotlib, like
 * the script of tt-train.
 */
#include "bench.h"

#include "base/clock.h"
#include "bench_child.h"
#include "view/chart/plot.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 8, PARTS = 5, ROUNDS = 7, WIDTH = 1600, HEIGHT = 900 };
static const double limit_ms = 200;
static const char python[] = "/usr/bin/python3";

/* The same picture: a bar for each column and part, labels, the limit, a legend. argv: the file, the columns, the
 * values. */
static const char script[] =
	"import sys\n"
	"import matplotlib; matplotlib.use('Agg')\n"
	"import matplotlib.pyplot as plt\n"
	"path, columns, values = sys.argv[1], int(sys.argv[2]), [float(v) for v in sys.argv[3].split()]\n"
	"colours = ['#cccccc', '#4da6b8', '#e789ab', '#cec0fa', '#e38a42']\n"
	"names = ['Other', 'Model', 'Gradients', 'Optimizer', 'Activations']\n"
	"fig, ax = plt.subplots(figsize=(16, 9), dpi=100)\n"
	"bottom = [0] * columns\n"
	"for i, colour in enumerate(colours):\n"
	"    row = values[i * columns:(i + 1) * columns]\n"
	"    ax.bar(range(columns), row, bottom=bottom, color=colour, width=0.5, edgecolor='white', label=names[i])\n"
	"    for x, v in enumerate(row):\n"
	"        ax.text(x, bottom[x] + v / 2, f'{v:.0f} MB', ha='center', va='center', fontweight='bold')\n"
	"    bottom = [a + b for a, b in zip(bottom, row)]\n"
	"ax.axhline(y=12288, color='#ff0000', linestyle='--', label='Device Memory Limit')\n"
	"ax.grid(axis='y', alpha=0.3); ax.legend(ncol=3); ax.set_title('Peak memory')\n"
	"ax.set_xticks(range(columns)); ax.set_xticklabels([f'run {i}' for i in range(columns)])\n"
	"fig.savefig(path)\n";

static double value_mb(size_t part, size_t column)
{
	static const double base[PARTS] = { 25, 1849, 2514, 3698, 1400 };
	return base[part] * (1 + (double)(column * (part + 3) % 7) / 4);
}

static int draw(const char *path)
{
	static const char *const parts[PARTS] = { "Other", "Model", "Gradients", "Optimizer", "Activations" };
	static const uint32_t colours[PARTS] = { 0xcccccc, 0x4da6b8, 0xe789ab, 0xcec0fa, 0xe38a42 };
	double values[PARTS][COLUMNS];
	char names[COLUMNS][16];
	const char *columns[COLUMNS];
	struct tdm_plot_series series[PARTS];
	for (size_t i = 0; i < PARTS; i++) {
		for (size_t k = 0; k < COLUMNS; k++)
			values[i][k] = value_mb(i, k) * 0x1p20;
		series[i] = (struct tdm_plot_series){ parts[i], colours[i], values[i] };
	}
	for (size_t k = 0; k < COLUMNS; k++) {
		snprintf(names[k], sizeof names[k], "run %zu", k);
		columns[k] = names[k];
	}
	struct tdm_scene scene = { .kind = TDM_CHART_STACK,
		.title = "Peak memory",
		.unit = TDM_PLOT_BYTES,
		.series = series,
		.series_count = PARTS,
		.columns = columns,
		.column_count = COLUMNS,
		.limit_name = "Device Memory Limit",
		.limit = 12 * 0x1p30 };
	struct tdm_diag diag = { 0 };
	int err = tdm_plot_write(&scene, path, &(struct tdm_plot_options){ .width = WIDTH, .height = HEIGHT }, &diag);
	if (err != 0)
		fprintf(stderr, "bench: %s\n", diag.text);
	return err;
}

/* The whole process that is compared with the Python process. */
static int plot_child(const char *path)
{
	return draw(path) != 0 ? 2 : 0;
}

static double time_command(const char *const *argv)
{
	uint64_t from = tdm_clock_ns();
	if (bench_command(argv, NULL, NULL, 0) != 0) {
		fprintf(stderr, "bench: %s failed\n", argv[0]);
		exit(2);
	}
	return (double)(tdm_clock_ns() - from) / 1e6;
}

static void measure_process(struct bench *bench, const char *row, const char *path)
{
	static const char *const probe[] = { python, "-c", "import matplotlib", NULL };
	char numbers[PARTS * COLUMNS * 24] = "", count[8], own[PATH_MAX + 32];
	size_t used = 0;
	if (access(python, X_OK) != 0 || bench_command(probe, NULL, NULL, 0) != 0) {
		bench_leave_out(bench, row, "matplotlib is not installed (python3-matplotlib)");
		return;
	}
	snprintf(count, sizeof count, "%d", COLUMNS);
	snprintf(own, sizeof own, "%s/tidemark-bench", bench_bin_dir(bench));
	const char *const theirs[] = { python, "-c", script, path, count, numbers, NULL };
	const char *const ours[] = { own, "--child", "plot", path, NULL };
	for (size_t i = 0; i < PARTS * COLUMNS; i++)
		used += (size_t)snprintf(
			numbers + used, sizeof numbers - used, "%.2f ", value_mb(i / COLUMNS, i % COLUMNS));
	double best_ours = 1e300, best_theirs = 1e300;
	for (int round = 0; round < ROUNDS; round++) {
		double ms = time_command(ours);
		best_ours = ms < best_ours ? ms : best_ours;
		if (round % 3 == 0) { /* Python takes seconds */
			ms = time_command(theirs);
			best_theirs = ms < best_theirs ? ms : best_theirs;
		}
	}
	bench_put(bench, &(struct bench_row){ row, "ms", best_ours, best_theirs, 1, false,
				 "matplotlib, as a process, imports included" });
}

static void plot_run(struct bench *bench)
{
	char path[] = "/tmp/tidemark-bench-XXXXXX.png";
	if (!bench_wants(bench, "plot.stack") && !bench_wants(bench, "plot.process"))
		return;
	int fd = mkstemps(path, 4);
	if (fd < 0) {
		perror("bench: temporary file");
		exit(2);
	}
	close(fd);
	if (bench_wants(bench, "plot.stack")) {
		double best = 1e300;
		for (int round = 0; round < ROUNDS; round++) {
			uint64_t from = tdm_clock_ns();
			if (draw(path) != 0)
				exit(2);
			double ms = (double)(tdm_clock_ns() - from) / 1e6;
			best = ms < best ? ms : best;
		}
		bench_put(bench, &(struct bench_row){ "plot.stack", "ms", best, limit_ms, 1, false,
					 "limit; 8 columns, 1600 x 900, PNG" });
	}
	if (bench_wants(bench, "plot.process"))
		measure_process(bench, "plot.process", path);
	unlink(path);
}

const struct bench_subject bench_plot = {
	.name = "plot",
	.summary = "a stacked chart to a PNG file",
	.run = plot_run,
	.child = plot_child,
};
