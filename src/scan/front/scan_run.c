/*
 * Finds the source files below the user's paths and scans them twice. The first pass reads the tokens of all files,
 * records what each file contains and where it creates something, and indexes the definitions (project.h). In the
 * second pass, several threads scan the files, each file independently.
 *
 * Links to folders are followed, but each folder, identified by device and inode, is entered only once, so a link to a
 * parent folder is harmless. Folders whose name begins with a dot are skipped. A pipe named by the user is read at once
 * and its text kept, because the scan reads every file twice; a pipe found in a folder is never opened.
 *
 * Threads: `next` is incremented atomically; a file and its arena belong to the thread that took it; the project is
 * read-only, except for members guarded by its lock. The thread that holds `progress_lock` draws the progress line.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/memory.h"
#include "scan/front/file_walk.h"
#include "scan/front/lexer.h"
#include "scan/front/project.h"

enum { DEPTH_MAX = 128, THREADS_MAX = 64, BINARY_LOOK = 8192, ARENA_MAX = 1 << 30 };
static const char stdin_name[] = "standard input";

/* ---- finding the files ---- */

struct walk {
	struct tdm_scan *scan;
	struct tdm_map seen;   /* folders and files already seen */
	struct tdm_diag *diag; /* the reason why a path named by the user cannot be read */
};

static const char *extension(const char *path)
{
	const char *name = strrchr(path, '/');
	const char *dot = strrchr(name != NULL ? name : path, '.');
	return dot != NULL ? dot : "";
}

bool tdm_scan_is_source(const char *path)
{
	return tdm_is_one_of(tdm_str_of(extension(path)), ".cpp .hpp .h .cc .hh .cxx .hxx .c .inl .ipp .py");
}

static struct tdm_scan_file *add_file(struct tdm_scan *scan, const char *path, uint64_t bytes)
{
	tdm_grow(&scan->files, &scan->file_cap, scan->file_count + 1, sizeof *scan->files);
	struct tdm_scan_file *file = &scan->files[scan->file_count++];
	*file = (struct tdm_scan_file){ .path = tdm_arena_text(&scan->arena, tdm_str_of(path)),
		.language = strcmp(extension(path), ".py") == 0 ? TDM_LANGUAGE_PYTHON : TDM_LANGUAGE_CPP,
		.why = "",
		.bytes = bytes,
		.arena = { .max = ARENA_MAX } };
	return file;
}

/* Adds a path that could not be read to the list of refusals. */
static int refuse_path(struct tdm_scan *scan, const char *path, const char *why)
{
	tdm_grow(&scan->refusals, &scan->refusal_cap, scan->refusal_count + 1, sizeof *scan->refusals);
	scan->refusals[scan->refusal_count++] =
		(struct tdm_scan_refusal){ tdm_arena_text(&scan->arena, tdm_str_of(path)), why };
	return 0;
}

/* Whether a file or folder has not been seen before. */
static bool is_new(struct walk *walk, const struct stat *st)
{
	uint64_t key = tdm_hash_u64((uint64_t)st->st_dev) ^ (uint64_t)st->st_ino;
	bool is_it = tdm_map_find(&walk->seen, key) == TDM_MAP_NONE;
	tdm_map_set(&walk->seen, key, 0);
	return is_it;
}

/* An unreadable path is an error if the user named it; otherwise it is listed. */
static int fail(struct walk *walk, const char *path, int depth, int err)
{
	if (depth != 0)
		return refuse_path(walk->scan, path, tdm_err_text(err));
	return tdm_diag_set(walk->diag, err, 0, 0, "%s: %s", path, tdm_err_text(err));
}

/* Reads standard input or a pipe. */
static int add_stream(struct walk *walk, const char *path, const char *name)
{
	char size[TDM_BYTES_CAP];
	struct tdm_buf text = { 0 };
	int err = tdm_file_read(path, TDM_SCAN_COUNT_MAX, &text);
	if (err == 0) {
		struct tdm_scan_file *file = add_file(walk->scan, name, text.len);
		file->is_given = true;
		file->given = text;
		return 0;
	}
	tdm_buf_done(&text);
	if (err != -EFBIG)
		return fail(walk, name, 0, err);
	return tdm_diag_set(walk->diag, err, 0, 0, "%s: has more than %s, the most that a scan reads", name,
		tdm_format_bytes_short(size, sizeof size, TDM_SCAN_COUNT_MAX));
}

static int walk_folder(struct walk *walk, const char *path, int depth);

static int walk_path(struct walk *walk, const char *path, int depth)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return fail(walk, path, depth, -errno);
	if (S_ISDIR(st.st_mode))
		return is_new(walk, &st) ? walk_folder(walk, path, depth) : 0;
	if ((depth != 0 && !tdm_scan_is_source(path)) || !is_new(walk, &st))
		return 0;
	if (!S_ISREG(st.st_mode))
		return depth == 0 ? add_stream(walk, path, path)
				  : refuse_path(walk->scan, path, "is not a regular file");
	if (depth == 0 && faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0)
		return fail(walk, path, depth, -errno);
	add_file(walk->scan, path, (uint64_t)st.st_size);
	return 0;
}

/* Walks a path named by the user. */
static int walk_named(struct walk *walk, const char *path)
{
	struct stat st;
	if (path[0] == '\0')
		return tdm_diag_set(walk->diag, -ENOENT, 0, 0, "a path is empty: name a file or a folder");
	if (strcmp(path, "-") != 0)
		return walk_path(walk, path, 0);
	if (fstat(STDIN_FILENO, &st) != 0)
		return fail(walk, stdin_name, 0, -errno);
	return is_new(walk, &st) ? add_stream(walk, path, stdin_name) : 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int keep_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int walk_folder(struct walk *walk, const char *path, int depth)
{
	struct dirent **entries;
	if (depth >= DEPTH_MAX)
		return refuse_path(walk->scan, path, "is too deep");
	int count = scandir(path, &entries, keep_shown, by_name);
	if (count < 0)
		return fail(walk, path, depth, -errno);
	int err = 0;
	const char *slash = path[strlen(path) - 1] == '/' ? "" : "/";
	for (int i = 0; i < count; i++) {
		char *below = tdm_printed("%s%s%s", path, slash, entries[i]->d_name);
		if (err == 0 && (entries[i]->d_type != DT_REG || tdm_scan_is_source(below)))
			err = walk_path(walk, below, depth + 1);
		free(below);
		free(entries[i]);
	}
	free(entries);
	return err;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct tdm_scan_file *)a)->path, ((const struct tdm_scan_file *)b)->path);
}

/* ---- scanning ---- */

struct run {
	struct tdm_scan *scan;
	const struct tdm_scan_options *options;
	struct tdm_project project;
	_Atomic(size_t) next;
	_Atomic(uint64_t) done_bytes;
	pthread_mutex_t progress_lock;
};

/* State that a thread keeps between files. */
struct worker {
	struct run *run;
	struct tdm_parser *parsers[TDM_LANGUAGE_COUNT];
	struct tdm_syntax syntax;
	struct tdm_buf text;
	struct tdm_file_walk walk; /* the walk of the last file, whose line table is reused */
};

static bool is_binary(struct tdm_str text)
{
	return text.len != 0 && memchr(text.ptr, '\0', text.len < BINARY_LOOK ? text.len : BINARY_LOOK) != NULL;
}

/* Reads a file of at most `max` bytes. 0, -EFBIG or -errno. */
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
	char size[TDM_BYTES_CAP];
	refuse(file,
		tdm_arena_printed(&file->arena, "is larger than %s", tdm_format_bytes_short(size, sizeof size, max)));
}

static int by_line(const void *a, const void *b)
{
	const struct tdm_scan_buffer *x = a, *y = b;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* A file without names that matter is parsed only if the user requests it. */
static int scan_text(struct worker *worker, struct tdm_scan_file *file, struct tdm_str text)
{
	struct tdm_file_walk *walk = &worker->walk;
	bool is_python = file->language == TDM_LANGUAGE_PYTHON, has_error = false;
	if (is_python)
		file->has_host = tdm_contains(text, "CBDescriptor") || tdm_contains(text, "cb_descriptor");
	bool matters = file->has_host || file->has_device;
	int err = 0;
	file->state = TDM_FILE_SKIPPED;
	if (!matters && !worker->run->options->no_skip)
		return 0;
	if (matters) {
		err = tdm_syntax_parse(&worker->syntax, walk->parser, text);
		has_error = worker->syntax.error_count != 0;
	} else {
		err = tdm_syntax_parse_only(walk->parser, text, &has_error);
	}
	file->state = has_error ? TDM_FILE_PARTIAL : TDM_FILE_WHOLE;
	file->why = has_error ? "parts of it do not parse" : "";
	if (err != 0 || !matters)
		return err;
	tdm_walk_find_lines(walk, text);
	file->error_line = has_error ? tdm_walk_line(walk, worker->syntax.first_error_byte) : 0;
	err = is_python ? tdm_python_read(walk) : tdm_cpp_read(walk);
	if (err == 0)
		tdm_walk_settle(walk, text, is_python ? "no function was found that makes it" : NULL);
	if (file->buffer_count > 1)
		qsort(file->buffers, file->buffer_count, sizeof *file->buffers, by_line);
	return err;
}

/* Counts the places in a file that was refused or cut short, and sets the reason for each place. */
static void count_places(struct tdm_file_walk *walk, struct tdm_scan_file *file, struct tdm_str text)
{
	if (file->buffer_count == 0) {
		struct tdm_tokens tokens = { 0 };
		tdm_tokens_read(&tokens, text);
		tdm_places_guess(file, &tokens);
		tdm_tokens_done(&tokens);
	}
	if (file->place_count == 0)
		return;
	tdm_walk_find_lines(walk, text);
	tdm_walk_settle(walk, text, tdm_arena_printed(&file->arena, "the file %s", file->why));
}

static void scan_file(struct worker *worker, struct tdm_scan_file *file)
{
	struct run *run = worker->run;
	struct tdm_file_walk *walk = &worker->walk;
	struct tdm_parser **parser = &worker->parsers[file->language];
	uint64_t max = run->options->file_max;
	struct tdm_str text;
	int err = read_text(file, TDM_SCAN_COUNT_MAX, &worker->text, &text);
	if (err != 0) {
		if (err == -EFBIG)
			refuse_large(file, TDM_SCAN_COUNT_MAX);
		else
			refuse(file, tdm_err_text(err));
		return;
	}
	if (*parser == NULL)
		*parser = tdm_parser_new((enum tdm_language)file->language, run->options->parse_micros);
	*walk = (struct tdm_file_walk){ .file = file,
		.file_idx = (uint32_t)(file - run->scan->files),
		.syntax = &worker->syntax,
		.settings = run->options->settings,
		.project = &run->project,
		.parser = *parser,
		.line_starts = walk->line_starts,
		.line_cap = walk->line_cap };
	if (text.len > max)
		refuse_large(file, max);
	else if (is_binary(text))
		refuse(file, "is not text");
	else
		err = scan_text(worker, file, text);
	if (err != 0) {
		file->state = file->buffer_count != 0 ? TDM_FILE_PARTIAL : TDM_FILE_REFUSED;
		file->why = err == -ECANCELED ? "takes too long to parse" : "is too complex";
	}
	if (err != 0 || file->state == TDM_FILE_REFUSED)
		count_places(walk, file, text);
}

static void *scan_files(void *arg)
{
	struct run *run = arg;
	struct worker worker = { .run = run };
	struct tdm_progress *progress = run->options->progress;
	size_t i;
	while ((i = atomic_fetch_add(&run->next, 1)) < run->scan->file_count) {
		struct tdm_scan_file *file = &run->scan->files[i];
		scan_file(&worker, file);
		uint64_t done = atomic_fetch_add(&run->done_bytes, file->bytes) + file->bytes;
		if (progress != NULL && pthread_mutex_trylock(&run->progress_lock) == 0) {
			tdm_progress_update(progress, done);
			pthread_mutex_unlock(&run->progress_lock);
		}
	}
	for (int language = 0; language < TDM_LANGUAGE_COUNT; language++)
		tdm_parser_free(worker.parsers[language]);
	tdm_syntax_done(&worker.syntax);
	tdm_buf_done(&worker.text);
	free(worker.walk.line_starts);
	return NULL;
}

/* The first pass: records what each C++ file contains and defines. */
static void index_files(struct run *run)
{
	struct tdm_buf work = { 0 };
	struct tdm_tokens tokens = { 0 };
	struct tdm_str text;
	for (size_t i = 0; i < run->scan->file_count; i++) {
		struct tdm_scan_file *file = &run->scan->files[i];
		if (file->language == TDM_LANGUAGE_CPP && read_text(file, run->options->file_max, &work, &text) == 0 &&
			!is_binary(text)) {
			tdm_tokens_read(&tokens, text);
			file->has_host = tokens.has_host;
			file->has_device = tokens.has_device;
			tdm_project_add(&run->project, (uint32_t)i, &tokens);
		}
		if (run->options->progress != NULL)
			run->options->progress->total += file->bytes;
	}
	tdm_buf_done(&work);
	tdm_tokens_done(&tokens);
}

/* Scans the files in the list. The calling thread takes part: if no other threads can be started, the calling thread
 * scans all files. */
static void scan_all(struct tdm_scan *scan, const struct tdm_scan_options *options)
{
	struct tdm_scan_options given = *options;
	struct run run = { .scan = scan, .options = &given, .project = { .files = scan->files } };
	pthread_t threads[THREADS_MAX];
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned wanted = options->threads != 0 ? options->threads : online > 0 ? (unsigned)online : 1, started = 0;
	given.file_max = given.file_max != 0 ? given.file_max : TDM_SCAN_FILE_MAX;
	pthread_mutex_init(&run.project.lock, NULL);
	pthread_mutex_init(&run.progress_lock, NULL);
	index_files(&run);
	while (started + 1 < wanted && started + 1 < scan->file_count && started + 1 < THREADS_MAX &&
		pthread_create(&threads[started], NULL, scan_files, &run) == 0)
		started++;
	scan_files(&run);
	while (started != 0)
		pthread_join(threads[--started], NULL);
	tdm_project_done(&run.project);
	pthread_mutex_destroy(&run.progress_lock);
}

int tdm_scan_run(struct tdm_scan *scan, const char *const *paths, size_t path_count,
	const struct tdm_scan_options *options, struct tdm_diag *diag)
{
	struct walk walk = { .scan = scan, .diag = diag };
	int err = 0;
	*scan = (struct tdm_scan){ 0 };
	for (size_t i = 0; i < path_count && err == 0; i++)
		err = walk_named(&walk, paths[i]);
	tdm_map_done(&walk.seen);
	if (err != 0) {
		tdm_scan_done(scan);
		return err;
	}
	if (scan->file_count > 1)
		qsort(scan->files, scan->file_count, sizeof *scan->files, by_path);
	scan_all(scan, options);
	return 0;
}

void tdm_scan_text(struct tdm_scan *scan, const char *path, struct tdm_str text, const struct tdm_scan_options *options)
{
	*scan = (struct tdm_scan){ 0 };
	struct tdm_scan_file *file = add_file(scan, path, text.len);
	file->is_given = true;
	tdm_buf_add(&file->given, text.ptr, text.len);
	scan_all(scan, options);
	file->is_given = false;
}

void tdm_scan_done(struct tdm_scan *scan)
{
	for (size_t i = 0; i < scan->file_count; i++) {
		struct tdm_scan_file *file = &scan->files[i];
		for (size_t k = 0; k < file->kernel_count; k++)
			free(file->kernels[k].uses);
		if (file->code != NULL)
			free(file->code->uses);
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
