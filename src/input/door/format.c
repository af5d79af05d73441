/* The table of all formats, and functions that recognise a file's format, loop over the lines of a text, and read files
 * and folders. */
#include "input/door/format.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MESSAGES_MAX = 10, FOLDER_DEPTH = 8 };

#if TDM_BARE /* built without yajl */
#define CAPTURES(X)
#else
#define CAPTURES(X) X(graph_capture)
#endif

/* Any text could be a log, so the log format comes last. */
#define TDM_FORMATS(X)   \
	CAPTURES(X)      \
	X(ttnn_report)   \
	X(kernels)       \
	X(memory_report) \
	X(perf_csv)      \
	X(mesh_buffers)  \
	X(programs)      \
	X(core_cbs)      \
	X(ledger)        \
	X(text_trace)    \
	X(train_log)     \
	X(log)

#define X(id) extern const struct tdm_format tdm_format_##id;
TDM_FORMATS(X)
#undef X

const struct tdm_format *const tdm_formats[] = {
#define X(id) &tdm_format_##id,
	TDM_FORMATS(X)
#undef X
		NULL,
};

const struct tdm_format *tdm_format_find(const char *name)
{
	for (size_t i = 0; tdm_formats[i] != NULL; i++)
		if (strcmp(tdm_formats[i]->name, name) == 0)
			return tdm_formats[i];
	return NULL;
}

struct tdm_str tdm_format_head(struct tdm_input *input)
{
	static const char mark[] = "\xef\xbb\xbf";
	struct tdm_str head = tdm_input_head(input);
	if (head.len >= sizeof mark - 1 && memcmp(head.ptr, mark, sizeof mark - 1) == 0)
		head = (struct tdm_str){ head.ptr + sizeof mark - 1, head.len - (sizeof mark - 1) };
	return head;
}

const struct tdm_format *tdm_format_of(struct tdm_input *input)
{
	struct tdm_str head = tdm_format_head(input);
	for (size_t i = 0; head.len != 0 && tdm_formats[i] != NULL; i++)
		if (tdm_formats[i]->recognise != NULL && tdm_formats[i]->recognise(head, tdm_input_name(input)))
			return tdm_formats[i];
	return NULL;
}

int tdm_format_search(struct tdm_input *input, const struct tdm_format **format, struct tdm_diag *diag)
{
	*format = tdm_format_of(input);
	if (*format == NULL || strcmp((*format)->name, "log") != 0)
		return 0;
	for (size_t i = 0; tdm_formats[i] != NULL; i++) {
		if (tdm_formats[i]->anywhere == NULL)
			continue;
		int err = tdm_input_keep(input, diag);
		if (err != 0)
			return err;
		if (tdm_input_find(input, tdm_formats[i]->anywhere))
			*format = tdm_formats[i];
		err = tdm_input_rewind(input);
		if (err != 0)
			return tdm_diag_set(
				diag, err, 0, 0, "cannot be read from its beginning again: %s", tdm_err_text(err));
	}
	return 0;
}

int tdm_format_lines(struct tdm_input *input, const struct tdm_record_sink *sink,
	int (*take)(void *to, const struct tdm_lines *at, struct tdm_str line, struct tdm_diag *diag), void *to,
	struct tdm_diag *diag)
{
	enum { LINE_MAX_BYTES = 1 << 16 };
	struct tdm_lines lines;
	struct tdm_str line;
	int got, err = 0;
	tdm_lines_from(&lines, tdm_input_reader(input), LINE_MAX_BYTES);
	while (err == 0 && (got = tdm_lines_next(&lines, &line)) != 0) {
		err = got > 0            ? take(to, &lines, line, diag)
		      : got == -EMSGSIZE ? tdm_diag_set(diag, TDM_ESYNTAX, lines.line, 0,
						   "a line that is too long: it is left out")
					 : tdm_input_failed(input, got, 0, diag);
		if (err == TDM_ESYNTAX)
			err = tdm_record_refuse(sink, diag, false);
	}
	tdm_lines_done(&lines);
	return err;
}

/* ---- reading a file ---- */

int tdm_intake_open(struct tdm_intake *r, const char *path)
{
	int err = tdm_input_open(path, &r->input);
	if (err == 0 && tdm_input_is_folder(r->input)) {
		char *inside = tdm_printed("%s/db.sqlite", path);
		tdm_input_close(r->input);
		err = tdm_input_open(inside, &r->input);
		err = err == -ENOENT ? -EISDIR : err;
		free(inside);
	}
	if (err == 0)
		r->format = tdm_format_of(r->input);
	return err;
}

/* Passes on a message with the file's name. */
static void say(const struct tdm_intake *r, struct tdm_diag diag)
{
	diag.file = diag.file != NULL ? diag.file : tdm_input_name(r->input);
	if (r->say != NULL)
		r->say(r->hearer, &diag);
}

static size_t most_of(const struct tdm_intake *r)
{
	return r->most != 0 ? r->most : MESSAGES_MAX;
}

void tdm_intake_refuse(struct tdm_intake *r, const struct tdm_diag *diag)
{
	if (r->refused++ < most_of(r))
		say(r, *diag);
}

int tdm_intake_take(void *reading, const struct tdm_record *record)
{
	struct tdm_intake *r = reading;
	if (record->type == TDM_RECORD_REFUSED)
		tdm_intake_refuse(r, record->refused);
	return r->take != NULL ? r->take(r->to, record) : 0;
}

static void read_events(struct tdm_intake *r)
{
	struct tdm_source *source = r->format->events(r->input);
	struct tdm_event event;
	int got;
	while (!r->stop && r->err == 0 && (got = tdm_source_next(source, &event, &r->diag)) != 0) {
		int err = got < 0 ? got : r->event(r->to, &event, &r->diag);
		if (err < 0 && source->is_cut) {
			r->err = err;
		} else if (err < 0) {
			tdm_intake_refuse(r, &r->diag);
			r->stop |= r->only_whole;
			r->diag.file = NULL;
		}
	}
	tdm_source_close(source);
}

void tdm_intake_run(struct tdm_intake *r)
{
	struct tdm_progress progress;
	tdm_progress_begin(&progress, r->what != NULL ? r->what : "reading", 0);
	tdm_input_progress(r->input, &progress);
	if (r->event != NULL)
		read_events(r);
	else
		r->err = r->format->records(r->input, &(struct tdm_record_sink){ r, tdm_intake_take }, &r->diag);
	tdm_input_progress(r->input, NULL);
	tdm_progress_end(&progress);
}

bool tdm_intake_end(const struct tdm_intake *r)
{
	struct tdm_diag rest = { 0 };
	if (r->refused > most_of(r)) {
		tdm_diag_set(&rest, 0, 0, 0, "%" PRIu64 " more %s%sthat cannot be used", r->refused - most_of(r),
			r->noun != NULL ? r->noun : "", r->noun != NULL ? " " : "");
		say(r, rest);
	}
	if (r->err != 0)
		say(r, r->diag);
	return r->err != 0 || r->refused != 0;
}

/* ---- folders ---- */

struct walk {
	int (*visit)(void *to, int folder, const char *name, const char *path, const struct tdm_diag *refused);
	void *to;
	struct tdm_walk_rest *rest;
	struct tdm_buf path;
	uint64_t entries; /* entries visited */
};

static int refuse(struct walk *w, int error)
{
	struct tdm_diag diag = { .file = w->path.data };
	tdm_diag_set(&diag, -error, 0, 0, "cannot be read: %s", tdm_err_text(-error));
	return w->visit(w->to, -1, NULL, w->path.data, &diag);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder, sorted; owned by the caller. */
static char **list_names(struct walk *w, DIR *dir, size_t *count)
{
	char **names = NULL;
	size_t cap = 0;
	*count = 0;
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (w->entries == TDM_WALK_ENTRIES) {
			w->rest->unvisited++;
			break;
		}
		tdm_grow(&names, &cap, *count + 1, sizeof *names);
		names[(*count)++] = tdm_strdup(entry->d_name);
		w->entries++;
	}
	if (*count != 0)
		qsort(names, *count, sizeof *names, by_name);
	return names;
}

static int walk_folder(struct walk *w, int fd, int depth);

static int walk_entry(struct walk *w, int folder, const char *name, int depth)
{
	struct stat st;
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return refuse(w, errno);
	if (S_ISREG(st.st_mode))
		return w->visit(w->to, folder, name, w->path.data, NULL);
	w->rest->links += S_ISLNK(st.st_mode);
	if (!S_ISDIR(st.st_mode))
		return 0;
	if (depth == FOLDER_DEPTH) {
		w->rest->unvisited++;
		return 0;
	}
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW);
	return fd < 0 ? refuse(w, errno) : walk_folder(w, fd, depth + 1);
}

/* Takes ownership of the descriptor. */
static int walk_folder(struct walk *w, int fd, int depth)
{
	DIR *dir = fdopendir(fd);
	size_t count, path_len = w->path.len;
	if (dir == NULL) {
		int error = errno;
		close(fd);
		return refuse(w, error);
	}
	char **names = list_names(w, dir, &count);
	int err = 0;
	for (size_t i = 0; i < count && err == 0; i++) {
		tdm_buf_printf(&w->path, "/%s", names[i]);
		err = walk_entry(w, fd, names[i], depth);
		w->path.len = path_len;
		w->path.data[path_len] = '\0';
	}
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
	closedir(dir);
	return err;
}

int tdm_folder_walk(const char *path, struct tdm_walk_rest *rest,
	int (*visit)(void *to, int folder, const char *name, const char *path, const struct tdm_diag *refused),
	void *to)
{
	struct walk w = { .visit = visit, .to = to, .rest = rest };
	*rest = (struct tdm_walk_rest){ 0 };
	tdm_buf_puts(&w.path, path);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	int err = fd >= 0 ? walk_folder(&w, fd, 0) : refuse(&w, errno);
	tdm_buf_done(&w.path);
	return err;
}
