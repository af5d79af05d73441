/*
 * Scanning a generated tree of sources. Folder by folder it takes turns with tree-sitter that only parses the same
 * files with as many threads; nothing is skipped. Then the whole tree is scanned against a limit, without and with the
 * cheap look that skips files.
 */
#include "bench.h"

#include "base/clock.h"
#include "base/file.h"
#include "scan/scan.h"
#include "scan/front/syntax.h"
#include "scan_tree.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, ROUNDS = 2 };
static const double tree_limit_s = 15, cheap_limit_s = 8;

struct parsing {
	char *const *files;
	size_t count;
	_Atomic(size_t) next;
	_Atomic(uint64_t) bytes;
};

static void *parse_files(void *arg)
{
	struct parsing *parsing = arg;
	struct tdm_parser *parser = tdm_parser_new(TDM_LANGUAGE_CPP, 0);
	struct tdm_buf text;
	bool has_error;
	tdm_buf_init(&text);
	for (;;) {
		size_t i = atomic_fetch_add(&parsing->next, 1);
		if (i >= parsing->count)
			break;
		tdm_buf_clear(&text);
		if (tdm_file_read(parsing->files[i], TDM_SCAN_FILE_MAX, &text) != 0 ||
			tdm_syntax_parse_only(parser, tdm_buf_str(&text), &has_error) != 0)
			fprintf(stderr, "bench: %s was not parsed\n", parsing->files[i]);
		atomic_fetch_add(&parsing->bytes, text.len);
	}
	tdm_buf_done(&text);
	tdm_parser_free(parser);
	return NULL;
}

/* Seconds that parsing alone takes. */
static double time_parsing(char *const *files, size_t count, uint64_t *bytes)
{
	struct parsing parsing = { .files = files, .count = count };
	pthread_t threads[THREADS];
	uint64_t from = tdm_clock_ns();
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, parse_files, &parsing) != 0)
			exit(2);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	*bytes += atomic_load(&parsing.bytes);
	return (double)(tdm_clock_ns() - from) / 1e9;
}

static double time_scan(const char *path, size_t files, bool no_skip)
{
	const struct tdm_scan_options options = { .threads = THREADS, .no_skip = no_skip };
	struct tdm_scan scan;
	struct tdm_diag diag = { 0 };
	size_t buffers = 0;
	uint64_t from = tdm_clock_ns();
	if (tdm_scan_run(&scan, &path, 1, &options, &diag) != 0) {
		fprintf(stderr, "bench: %s\n", diag.text);
		exit(2);
	}
	double seconds = (double)(tdm_clock_ns() - from) / 1e9;
	for (size_t i = 0; i < scan.file_count; i++)
		buffers += scan.files[i].buffer_count;
	if (scan.file_count != files || buffers == 0)
		fprintf(stderr, "bench: %zu files and %zu buffers\n", scan.file_count, buffers);
	tdm_scan_done(&scan);
	return seconds;
}

/* Both take turns, so that what else the machine does slows both. */
static void measure_share(struct bench *bench, const char *path, char *const *files)
{
	double scanning = 0, parsing = 0;
	uint64_t bytes = 0;
	for (int i = 0; i < SCAN_TREE_FOLDERS; i++) {
		char folder[PATH_MAX];
		snprintf(folder, sizeof folder, "%s/%d", path, i);
		scanning += time_scan(folder, SCAN_TREE_IN_FOLDER, true);
		parsing += time_parsing(files + (size_t)i * SCAN_TREE_IN_FOLDER, SCAN_TREE_IN_FOLDER, &bytes);
	}
	double mb = (double)bytes / 1e6;
	bench_put(bench, &(struct bench_row){ "scan.share", "MB/s", mb / scanning, mb / parsing, 0.7, true,
				 "tree-sitter parsing alone, same files, 2 threads, nothing skipped" });
}

static void measure_tree(struct bench *bench, const char *path, bool no_skip)
{
	double best = 1e300;
	for (int round = 0; round < ROUNDS; round++) {
		double seconds = time_scan(path, SCAN_TREE_FILES, no_skip);
		best = seconds < best ? seconds : best;
	}
	if (no_skip)
		bench_put(bench, &(struct bench_row){ "scan.tree", "s", best, tree_limit_s, 1, false,
					 "limit; 8,000 files, 80 MB, 2 threads, nothing skipped" });
	else
		bench_put(bench, &(struct bench_row){ "scan.cheap", "s", best, cheap_limit_s, 1, false,
					 "limit; the same with a cheap look that skips files" });
}

static void scan_run(struct bench *bench)
{
	char path[PATH_MAX];
	if (!bench_wants(bench, "scan.share") && !bench_wants(bench, "scan.tree") && !bench_wants(bench, "scan.cheap"))
		return;
	char **files = scan_tree_make(path, sizeof path);
	if (files == NULL)
		exit(2);
	if (bench_wants(bench, "scan.share"))
		measure_share(bench, path, files);
	if (bench_wants(bench, "scan.tree"))
		measure_tree(bench, path, true);
	if (bench_wants(bench, "scan.cheap"))
		measure_tree(bench, path, false);
	scan_tree_remove(path, files);
}

const struct bench_subject bench_scan = {
	.name = "scan",
	.summary = "scanning a tree of sources for the buffers that they create",
	.run = scan_run,
};
