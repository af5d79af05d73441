/* The main program of the benchmarks: selects rows, runs the subjects, and prints the table and its JSON. */
#include "bench.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bench {
	char pattern[256];
	char bin_dir[PATH_MAX];
	const char *json_path;
	struct tdm_buf out;
	struct tdm_json json;
	size_t rows, left_out, goals, met;
};

static const struct bench_subject *const subjects[] = {
	&bench_freelist,
	&bench_replay,
	&bench_event,
	&bench_live,
	&bench_views,
	&bench_metal,
	&bench_server,
	&bench_capture,
	&bench_plot,
	&bench_pressure,
	&bench_log,
	&bench_scan,
	NULL,
};

bool bench_wants(const struct bench *bench, const char *row)
{
	return bench->pattern[0] == '\0' || fnmatch(bench->pattern, row, 0) == 0;
}

const char *bench_bin_dir(const struct bench *bench)
{
	return bench->bin_dir;
}

static void put_number(struct tdm_json *json, const char *key, double value)
{
	tdm_json_key(json, key);
	tdm_json_double(json, value);
}

void bench_put(struct bench *bench, const struct bench_row *row)
{
	double ratio = row->higher_is_better ? row->ours / row->baseline : row->baseline / row->ours;
	bool has_goal = row->goal > 0, met = ratio >= row->goal;
	printf("%-28s %-6s %12.2f %12.2f %9.2f %8.2f  %-4s %s\n", row->name, row->unit, row->ours, row->baseline, ratio,
		row->goal,
		!has_goal ? "-"
		: met     ? "yes"
			  : "NO",
		row->note);
	fflush(stdout);
	bench->rows++;
	bench->goals += has_goal;
	bench->met += has_goal && met;

	struct tdm_json *json = &bench->json;
	tdm_json_object(json);
	tdm_json_key(json, "name");
	tdm_json_text(json, row->name);
	tdm_json_key(json, "unit");
	tdm_json_text(json, row->unit);
	put_number(json, "ours", row->ours);
	put_number(json, "baseline", row->baseline);
	put_number(json, "ratio", ratio);
	put_number(json, "goal", row->goal);
	tdm_json_key(json, "met");
	tdm_json_bool(json, met);
	tdm_json_object_end(json);
}

void bench_leave_out(struct bench *bench, const char *row, const char *why)
{
	printf("%-28s left out: %s\n", row, why);
	bench->left_out++;
}

static int usage(FILE *to, int code)
{
	fprintf(to,
		"usage: tidemark-bench [--only PATTERN] [--json FILE] [--list]\n"
		"\n"
		"Measures each subject beside its baseline in the same run. PATTERN selects rows by a part of their\n"
		"name, with * and ? as in file names. ratio: how many times better ours is; goal: the ratio to "
		"reach,\n"
		"or 0 when there is none. Baselines that are not installed (LTTng, valgrind) are left out, with a line "
		"that says so.\n");
	return code;
}

static int list(void)
{
	for (size_t i = 0; subjects[i] != NULL; i++)
		printf("%-12s %s\n", subjects[i]->name, subjects[i]->summary);
	return 0;
}

/* Used by subjects to run parts of themselves; not for users. */
static int run_child(const char *subject, const char *name)
{
	for (size_t i = 0; subjects[i] != NULL; i++)
		if (strcmp(subjects[i]->name, subject) == 0 && subjects[i]->child != NULL)
			return subjects[i]->child(name);
	return 2;
}

static int write_json(const struct bench *bench)
{
	int fd = open(bench->json_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int err = fd < 0 ? -errno : tdm_file_write_all(fd, bench->out.data, bench->out.len);
	if (fd >= 0 && close(fd) != 0 && err == 0)
		err = -errno;
	if (err != 0)
		fprintf(stderr, "tidemark-bench: cannot write %s: %s\n", bench->json_path, tdm_err_text(err));
	return err;
}

static void find_bin_dir(struct bench *bench)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
	path[len > 0 ? len : 0] = '\0';
	snprintf(bench->bin_dir, sizeof bench->bin_dir, "%s", dirname(path));
}

static int run(struct bench *bench)
{
	tdm_buf_init(&bench->out);
	tdm_json_init(&bench->json, &bench->out);
	tdm_json_array(&bench->json);
	printf("%-28s %-6s %12s %12s %9s %8s  %-4s %s\n", "name", "unit", "ours", "baseline", "ratio", "goal", "met",
		"baseline is");
	for (size_t i = 0; subjects[i] != NULL; i++)
		subjects[i]->run(bench);
	tdm_json_array_end(&bench->json);
	printf("\n%zu of %zu goals met\n", bench->met, bench->goals);
	bool none = bench->rows + bench->left_out == 0;
	int code = none ? 2 : 0;
	if (none)
		fprintf(stderr, "tidemark-bench: no row matches '%s'; --list shows the subjects\n", bench->pattern);
	if (bench->json_path != NULL && write_json(bench) != 0)
		code = 2;
	tdm_buf_done(&bench->out);
	return code;
}

int main(int argc, char **argv)
{
	struct bench bench = { 0 };
	find_bin_dir(&bench);
	if (argc == 4 && strcmp(argv[1], "--child") == 0)
		return run_child(argv[2], argv[3]);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
			snprintf(bench.pattern, sizeof bench.pattern, "*%s*", argv[++i]);
		else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
			bench.json_path = argv[++i];
		else if (strcmp(argv[i], "--list") == 0)
			return list();
		else if (strcmp(argv[i], "--help") == 0)
			return usage(stdout, 0);
		else
			return usage(stderr, 2);
	}
	return run(&bench);
}
