#include "sources/folder.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/reserve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct walk {
	const struct tdm_folder_visitor *visitor;
	struct tdm_walk_rest *rest;
	struct tdm_buf path;
	uint64_t entries; /* looked at so far */
};

static int refuse(struct walk *w, int error)
{
	struct tdm_diag diag = { .file = w->path.data };
	tdm_diag_set(&diag, -error, 0, 0, "cannot be read: %s", tdm_err_text(-error));
	return w->visitor->refuse(w->visitor->context, &diag);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_names(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

/* The names in a folder, sorted. 0 or -ENOMEM; the caller frees them either way. */
static int list_names(struct walk *w, DIR *dir, char ***names, size_t *count)
{
	size_t cap = 0;
	*names = NULL;
	*count = 0;
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (w->entries == TDM_WALK_ENTRIES) {
			w->rest->unvisited++;
			break;
		}
		if (tdm_reserve(names, &cap, *count + 1, sizeof **names) != 0 ||
			((*names)[*count] = strdup(entry->d_name)) == NULL)
			return -ENOMEM;
		++*count;
		w->entries++;
	}
	if (*count != 0)
		qsort(*names, *count, sizeof **names, by_name);
	return 0;
}

static int walk_folder(struct walk *w, int fd, int depth);

static int walk_entry(struct walk *w, int folder, const char *name, int depth)
{
	struct stat st;
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return refuse(w, errno);
	if (S_ISREG(st.st_mode))
		return w->visitor->file(w->visitor->context, folder, name, w->path.data);
	w->rest->links += S_ISLNK(st.st_mode);
	if (!S_ISDIR(st.st_mode))
		return 0;
	if (depth == TDM_FOLDER_DEPTH) {
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
	char **names;
	if (dir == NULL) {
		int error = errno;
		close(fd);
		return refuse(w, error);
	}
	int err = list_names(w, dir, &names, &count);
	for (size_t i = 0; i < count && err == 0; i++) {
		tdm_buf_printf(&w->path, "/%s", names[i]);
		err = tdm_buf_failed(&w->path) ? -ENOMEM : walk_entry(w, fd, names[i], depth);
		w->path.len = path_len;
		w->path.data[path_len] = '\0';
	}
	free_names(names, count);
	closedir(dir);
	return err;
}

int tdm_folder_walk(const char *path, const struct tdm_folder_visitor *visitor, struct tdm_walk_rest *rest)
{
	struct walk w = { .visitor = visitor, .rest = rest };
	*rest = (struct tdm_walk_rest){ 0 };
	tdm_buf_init(&w.path);
	tdm_buf_puts(&w.path, path);
	int err = tdm_buf_failed(&w.path) ? -ENOMEM : 0;
	int fd = err == 0 ? open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY) : -1;
	if (err == 0)
		err = fd >= 0 ? walk_folder(&w, fd, 0) : refuse(&w, errno);
	tdm_buf_done(&w.path);
	return err;
}
