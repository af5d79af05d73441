/*
 * Scans the files: first a look at all of them that indexes what they define (project.h), then each by itself, by
 * several threads that take the next file in turn.
 *
 * Threads: `next` is taken with an atomic addition; a file and its arena belong to the thread that took it; the project
 * is only read, but for what its own lock guards. The progress line is drawn by the thread that holds `progress_lock`.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/reserve.h"
#include "scan/file_walk.h"
#include "scan/place_settle.h"
#include "scan/project.h"
#include "scan/scan_files.h"

enum { THREADS_MAX = 64, BINARY_LOOK = 8192, ARENA_MAX = 1 << 30 };

struct run {
	struct tdm_scan *scan;
	const struct tdm_scan_options *options;
	struct tdm_project *project;
	const char **paths;
	_Atomic(size_t) next;
	_Atomic(int) err;
	_Atomic(uint64_t) done_bytes;
	pthread_mutex_t progress_lock;
};

/* What one thread keeps from file to file. */
struct worker {
	struct run *run;
	struct tdm_parser *parsers[TDM_LANGUAGE_COUNT];
	struct tdm_syntax syntax;
	struct tdm_tokens tokens;
	struct tdm_buf text;
	uint32_t *lines;
	size_t line_cap;
	pthread_t thread;
};

static bool is_binary(struct tdm_str text)
{
	return text.len != 0 && memchr(text.ptr, '\0', text.len < BINARY_LOOK ? text.len : BINARY_LOOK) != NULL;
}

static uint64_t file_max(const struct tdm_scan_options *options)
{
	return options->file_max != 0 ? options->file_max : TDM_SCAN_FILE_MAX;
}

/* Gets the text of a file, which has at most `max` bytes. 0, -EFBIG or -errno. */
static int read_text(struct tdm_scan_file *file, uint64_t max, struct tdm_buf *work, struct tdm_str *text)
{
	tdm_buf_clear(work);
	if (file->bytes > max)
		return -EFBIG;
	int err = file->is_given ? 0 : tdm_file_read(file->path, max, work);
	*text = tdm_buf_str(file->is_given ? &file->given : work);
	if (err == 0)
		file->bytes = text->len;
	return err;
}

static void refuse(struct tdm_scan_file *file, const char *why)
{
	file->state = TDM_FILE_REFUSED;
	file->why = why;
}

static void refuse_large(struct tdm_scan_file *file, uint64_t max)
{
	char size[TDM_BYTES_CAP], why[TDM_BYTES_CAP + 32];
	tdm_format_bytes_short(size, sizeof size, max);
	snprintf(why, sizeof why, "is larger than %s", size);
	const char *copy = tdm_arena_text(&file->arena, tdm_str_of(why));
	refuse(file, copy != NULL ? copy : "is larger than the limit");
}

static int find_lines(struct worker *worker, struct tdm_str text, struct tdm_file_walk *walk)
{
	uint32_t count = 1;
	int err = tdm_reserve(&worker->lines, &worker->line_cap, 1, sizeof *worker->lines);
	if (err == 0)
		worker->lines[0] = 0;
	for (const char *at = memchr(text.ptr, '\n', text.len); at != NULL && err == 0;) {
		size_t after = (size_t)(at - text.ptr) + 1;
		err = tdm_reserve(&worker->lines, &worker->line_cap, (size_t)count + 1, sizeof *worker->lines);
		if (err == 0)
			worker->lines[count++] = (uint32_t)after;
		at = after < text.len ? memchr(text.ptr + after, '\n', text.len - after) : NULL;
	}
	walk->line_starts = worker->lines;
	walk->line_count = count;
	return err;
}

static int by_line(const void *a, const void *b)
{
	const struct tdm_scan_buffer *x = a, *y = b;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int read_cpp(struct tdm_file_walk *walk, struct tdm_look look)
{
	int err = look.has_host ? tdm_places_find(walk->file, walk->tokens) : 0;
	if (err == 0 && look.has_host)
		err = tdm_host_walk(walk);
	if (err == 0 && look.has_host)
		err = tdm_kernel_check_places(walk);
	if (err == 0 && look.has_device)
		err = tdm_kernel_read(walk);
	if (err == 0)
		tdm_places_settle(walk, walk->syntax->text);
	return err;
}

/* Whether a text has what the readers of its language look for. */
static struct tdm_look look_at(struct worker *worker, const struct tdm_scan_file *file, struct tdm_str text, int *err)
{
	struct tdm_look look = { false, false };
	if (file->language == TDM_LANGUAGE_PYTHON) {
		look.has_host = memmem(text.ptr, text.len, "CBDescriptor", 12) != NULL ||
				memmem(text.ptr, text.len, "cb_descriptor", 13) != NULL;
		return look;
	}
	worker->tokens.count = 0;
	if (tdm_look_quickly(text) && (*err = tdm_tokens_read(&worker->tokens, text)) == 0)
		look = tdm_look_at(&worker->tokens);
	return look;
}

/* The parser of a language, made when it is needed first; NULL when out of memory. */
static struct tdm_parser *parser_for(struct worker *worker, uint8_t language)
{
	if (worker->parsers[language] == NULL)
		worker->parsers[language] = tdm_parser_new((enum tdm_language)language);
	if (worker->parsers[language] != NULL)
		tdm_parser_limit(worker->parsers[language], worker->run->options->parse_micros);
	return worker->parsers[language];
}

/* A file without anything that matters: parsed only if the user wants that. */
static int pass_over(struct worker *worker, struct tdm_scan_file *file, struct tdm_str text)
{
	bool has_error = false;
	file->state = TDM_FILE_SKIPPED;
	if (!worker->run->options->no_skip)
		return 0;
	struct tdm_parser *parser = parser_for(worker, file->language);
	int err = parser != NULL ? tdm_syntax_parse_only(parser, text, &has_error) : -ENOMEM;
	file->state = has_error ? TDM_FILE_PARTIAL : TDM_FILE_WHOLE;
	file->why = has_error ? "parts of it do not parse" : "";
	return err;
}

static struct tdm_file_walk walk_of(struct worker *worker, struct tdm_scan_file *file)
{
	return (struct tdm_file_walk){ .file = file,
		.file_idx = (uint32_t)(file - worker->run->scan->files),
		.syntax = &worker->syntax,
		.settings = worker->run->options->settings,
		.project = worker->run->project,
		.tokens = &worker->tokens };
}

static int scan_text(struct worker *worker, struct tdm_scan_file *file, struct tdm_str text)
{
	int err = 0;
	struct tdm_look look = look_at(worker, file, text, &err);
	if (err == 0 && file->language == TDM_LANGUAGE_CPP)
		err = tdm_kernel_read_includes(file, text);
	if (err != 0)
		return err;
	if (!look.has_host && !look.has_device)
		return pass_over(worker, file, text);
	struct tdm_file_walk walk = walk_of(worker, file);
	walk.parser = parser_for(worker, file->language);
	err = walk.parser != NULL ? tdm_syntax_parse(&worker->syntax, walk.parser, text) : -ENOMEM;
	if (err == 0)
		err = find_lines(worker, text, &walk);
	if (err != 0)
		return err;
	bool has_error = worker->syntax.error_count != 0;
	file->state = has_error ? TDM_FILE_PARTIAL : TDM_FILE_WHOLE;
	file->why = has_error ? "parts of it do not parse" : "";
	file->error_line = has_error ? tdm_walk_line(&walk, worker->syntax.first_error_byte) : 0;
	err = file->language == TDM_LANGUAGE_PYTHON ? tdm_python_read(&walk) : read_cpp(&walk, look);
	if (file->buffer_count > 1)
		qsort(file->buffers, file->buffer_count, sizeof *file->buffers, by_line);
	return err;
}

/* Whether an error is this file's own: it is listed, and the others go on. */
static bool is_own_error(struct tdm_scan_file *file, int err)
{
	bool is_own = err == -ECANCELED || err == -EFBIG || (err == -ENOMEM && file->arena.used >= ARENA_MAX / 2);
	if (is_own) {
		file->state = file->buffer_count != 0 ? TDM_FILE_PARTIAL : TDM_FILE_REFUSED;
		file->why = err == -ECANCELED ? "takes too long to parse" : "is too complex";
	}
	return is_own;
}

static int count_places(struct worker *worker, struct tdm_scan_file *file, struct tdm_str text)
{
	struct tdm_file_walk walk = walk_of(worker, file);
	int err = find_lines(worker, text, &walk);
	return err != 0 ? err : tdm_places_count(&walk, text, &worker->tokens);
}

/* Reads what there is to read in a text; of one that is refused, only where it creates buffers. */
static int take_text(struct worker *worker, struct tdm_scan_file *file, struct tdm_str text)
{
	uint64_t max = file_max(worker->run->options);
	int err = 0;
	if (text.len > max)
		refuse_large(file, max);
	else if (is_binary(text))
		refuse(file, "is not text");
	else
		err = scan_text(worker, file, text);
	bool is_stopped = err != 0 ? is_own_error(file, err) : file->state == TDM_FILE_REFUSED;
	return is_stopped ? count_places(worker, file, text) : err;
}

static int take_file(struct worker *worker, struct tdm_scan_file *file)
{
	struct tdm_str text;
	tdm_arena_init(&file->arena, ARENA_MAX);
	int err = read_text(file, TDM_SCAN_COUNT_MAX, &worker->text, &text);
	if (err == 0)
		return take_text(worker, file, text);
	if (err == -EFBIG)
		refuse_large(file, TDM_SCAN_COUNT_MAX);
	else
		refuse(file, tdm_err_text(err));
	return 0;
}

static void show_progress(struct run *run, uint64_t bytes)
{
	uint64_t done = atomic_fetch_add(&run->done_bytes, bytes) + bytes;
	if (run->options->progress == NULL || pthread_mutex_trylock(&run->progress_lock) != 0)
		return;
	tdm_progress_update(run->options->progress, done);
	pthread_mutex_unlock(&run->progress_lock);
}

static void scan_files(struct worker *worker)
{
	struct run *run = worker->run;
	for (;;) {
		size_t i = atomic_fetch_add(&run->next, 1);
		if (i >= run->scan->file_count || atomic_load(&run->err) != 0)
			return;
		struct tdm_scan_file *file = &run->scan->files[i];
		int err = take_file(worker, file);
		if (err != 0)
			atomic_store(&run->err, err);
		show_progress(run, file->bytes);
	}
}

static void worker_init(struct worker *worker, struct run *run)
{
	*worker = (struct worker){ .run = run };
	tdm_buf_init(&worker->text);
}

static void worker_done(struct worker *worker)
{
	for (int i = 0; i < TDM_LANGUAGE_COUNT; i++)
		tdm_parser_free(worker->parsers[i]);
	tdm_syntax_done(&worker->syntax);
	tdm_tokens_done(&worker->tokens);
	tdm_buf_done(&worker->text);
	free(worker->lines);
}

static void *worker_main(void *arg)
{
	scan_files(arg);
	return NULL;
}

static unsigned thread_count(const struct run *run)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned wanted = run->options->threads != 0 ? run->options->threads : online > 0 ? (unsigned)online : 1;
	wanted = wanted > THREADS_MAX ? THREADS_MAX : wanted;
	return wanted > run->scan->file_count ? (unsigned)run->scan->file_count : wanted;
}

/* The first worker is the calling thread. A thread that cannot be started leaves its work to the others. */
static int run_workers(struct run *run)
{
	unsigned count = thread_count(run), started = 0;
	struct worker *workers = calloc(count != 0 ? count : 1, sizeof *workers);
	int err = workers == NULL ? -ENOMEM : 0;
	for (unsigned i = 0; i < count && err == 0; i++)
		worker_init(&workers[i], run);
	for (unsigned i = 1; i < count && err == 0; i++, started++)
		if (pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) != 0)
			break;
	if (err == 0 && count != 0)
		scan_files(&workers[0]);
	for (unsigned i = 1; i <= started; i++)
		pthread_join(workers[i].thread, NULL);
	for (unsigned i = 0; workers != NULL && i < count; i++)
		worker_done(&workers[i]);
	free(workers);
	return err != 0 ? err : atomic_load(&run->err);
}

static int index_files(struct run *run)
{
	struct tdm_buf work;
	int err = 0;
	tdm_buf_init(&work);
	for (size_t i = 0; i < run->scan->file_count && err == 0; i++) {
		struct tdm_scan_file file = run->scan->files[i];
		struct tdm_str text = { "", 0 };
		run->paths[i] = file.path;
		bool is_cpp = file.language == TDM_LANGUAGE_CPP;
		if (is_cpp && read_text(&file, file_max(run->options), &work, &text) == 0 && !is_binary(text))
			err = tdm_project_add(run->project, (uint32_t)i, text);
	}
	tdm_buf_done(&work);
	return err;
}

static int run_with(struct run *run, struct tdm_project *project)
{
	run->project = project;
	run->paths = calloc(run->scan->file_count + 1, sizeof *run->paths);
	project->paths = run->paths;
	int err = run->paths != NULL ? index_files(run) : -ENOMEM;
	for (size_t i = 0; run->options->progress != NULL && i < run->scan->file_count; i++)
		run->options->progress->total += run->scan->files[i].bytes;
	if (err == 0)
		err = run_workers(run);
	free(run->paths);
	return err;
}

static int scan_all(struct tdm_scan *scan, const struct tdm_scan_options *options)
{
	struct run run = { .scan = scan, .options = options };
	struct tdm_project project;
	int err = tdm_project_init(&project);
	pthread_mutex_init(&run.progress_lock, NULL);
	if (err == 0)
		err = run_with(&run, &project);
	tdm_project_done(&project);
	pthread_mutex_destroy(&run.progress_lock);
	return err;
}

int tdm_scan_run(struct tdm_scan *scan, const char *const *paths, size_t path_count,
	const struct tdm_scan_options *options, struct tdm_diag *diag)
{
	*scan = (struct tdm_scan){ 0 };
	tdm_arena_init(&scan->arena, 0);
	int err = tdm_scan_files(scan, paths, path_count, diag);
	if (err == 0)
		err = scan_all(scan, options);
	if (err != 0 && diag != NULL && diag->text[0] == '\0')
		tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err));
	if (err != 0)
		tdm_scan_done(scan);
	return err;
}

int tdm_scan_text(struct tdm_scan *scan, const char *path, struct tdm_str text, const struct tdm_scan_options *options)
{
	struct tdm_project project;
	struct worker worker;
	struct run run = { .scan = scan, .options = options, .project = &project };
	*scan = (struct tdm_scan){ 0 };
	tdm_arena_init(&scan->arena, 0);
	int err = tdm_scan_add_file(scan, path, text.len);
	if (err == 0)
		tdm_arena_init(&scan->files[0].arena, ARENA_MAX);
	if (err == 0)
		err = tdm_project_init(&project);
	if (err != 0) {
		tdm_scan_done(scan);
		return err;
	}
	project.paths = (const char *const[]){ path };
	worker_init(&worker, &run);
	if (text.len <= file_max(options) && !is_binary(text) && scan->files[0].language == TDM_LANGUAGE_CPP)
		err = tdm_project_add(&project, 0, text);
	if (err == 0)
		err = take_text(&worker, &scan->files[0], text);
	worker_done(&worker);
	tdm_project_done(&project);
	if (err != 0)
		tdm_scan_done(scan);
	return err;
}

void tdm_scan_done(struct tdm_scan *scan)
{
	for (size_t i = 0; i < scan->file_count; i++) {
		struct tdm_scan_file *file = &scan->files[i];
		free(file->buffers);
		free(file->kernels);
		free(file->programs);
		free(file->places);
		tdm_buf_done(&file->given);
		tdm_arena_done(&file->arena);
	}
	free(scan->files);
	free(scan->refusals);
	tdm_arena_done(&scan->arena);
	*scan = (struct tdm_scan){ 0 };
}
