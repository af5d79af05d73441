/*
 * Folders are walked through links too, but each only once: it is known by its device and number, so that a link to a
 * folder above ends there. Folders whose name begins with a dot are left out. A pipe that the user names is read at
 * once and kept, because the scan looks at every file twice; one that is met in a folder is never opened.
 */
#include "scan/scan_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "base/reserve.h"
#include "scan/syntax.h"

enum { DEPTH_MAX = 128 };
static const char stdin_name[] = "standard input";

struct walk {
	struct tdm_scan *scan;
	struct tdm_map folders; /* those that were walked */
	struct tdm_map files;
	struct tdm_diag *diag; /* says why a path of the user's own cannot be read */
};

static const char *extension(const char *path)
{
	const char *name = strrchr(path, '/');
	const char *dot = strrchr(name != NULL ? name : path, '.');
	return dot != NULL ? dot : "";
}

static bool is_python(const char *path)
{
	return strcmp(extension(path), ".py") == 0;
}

bool tdm_scan_is_source(const char *path)
{
	static const char *const endings[] = { ".cpp", ".hpp", ".h", ".cc", ".hh", ".cxx", ".hxx", ".c", ".inl", ".ipp",
		".py" };
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (strcmp(extension(path), endings[i]) == 0)
			return true;
	return false;
}

int tdm_scan_add_file(struct tdm_scan *scan, const char *path, uint64_t bytes)
{
	const char *copy = tdm_arena_text(&scan->arena, tdm_str_of(path));
	int err = copy != NULL ? tdm_reserve(&scan->files, &scan->file_cap, scan->file_count + 1, sizeof *scan->files)
			       : -ENOMEM;
	if (err != 0)
		return err;
	scan->files[scan->file_count++] = (struct tdm_scan_file){ .path = copy,
		.language = is_python(path) ? TDM_LANGUAGE_PYTHON : TDM_LANGUAGE_CPP,
		.why = "",
		.bytes = bytes };
	return 0;
}

int tdm_scan_refuse(struct tdm_scan *scan, const char *path, const char *why)
{
	int err = tdm_reserve(&scan->refusals, &scan->refusal_cap, scan->refusal_count + 1, sizeof *scan->refusals);
	const char *own_path = err == 0 ? tdm_arena_text(&scan->arena, tdm_str_of(path)) : NULL;
	const char *own_why = own_path != NULL ? tdm_arena_text(&scan->arena, tdm_str_of(why)) : NULL;
	if (own_why == NULL)
		return -ENOMEM;
	scan->refusals[scan->refusal_count++] = (struct tdm_scan_refusal){ own_path, own_why };
	return 0;
}

/* Whether a file or folder is met for the first time. */
static bool is_new(struct tdm_map *seen, const struct stat *st, int *err)
{
	uint64_t key = tdm_hash_u64((uint64_t)st->st_dev) ^ (uint64_t)st->st_ino;
	if (tdm_map_find(seen, key) != TDM_MAP_NONE)
		return false;
	*err = tdm_map_put(seen, key, 0);
	return *err == 0;
}

/* What the user named and cannot be read is an error; what is found below that is listed. */
static int fail(struct walk *walk, const char *path, int depth, int err)
{
	if (depth != 0)
		return tdm_scan_refuse(walk->scan, path, tdm_err_text(err));
	return tdm_diag_set(walk->diag, err, 0, 0, "%s: %s", path, tdm_err_text(err));
}

/* Reads what can be read only once. */
static int add_stream(struct walk *walk, const char *path, const char *name)
{
	char size[TDM_BYTES_CAP];
	struct tdm_buf text;
	tdm_buf_init(&text);
	int err = tdm_file_read(path, TDM_SCAN_COUNT_MAX, &text);
	tdm_format_bytes_short(size, sizeof size, TDM_SCAN_COUNT_MAX);
	if (err == -EFBIG)
		tdm_diag_set(walk->diag, err, 0, 0, "%s: has more than %s, the most that a scan reads", name, size);
	else if (err != 0)
		fail(walk, name, 0, err);
	else
		err = tdm_scan_add_file(walk->scan, name, text.len);
	if (err != 0) {
		tdm_buf_done(&text);
		return err;
	}
	struct tdm_scan_file *file = &walk->scan->files[walk->scan->file_count - 1];
	file->is_given = true;
	file->given = text;
	return 0;
}

static int walk_folder(struct walk *walk, const char *path, int depth);

static int walk_path(struct walk *walk, const char *path, int depth)
{
	struct stat st;
	int err = 0;
	if (stat(path, &st) != 0)
		return fail(walk, path, depth, -errno);
	if (S_ISDIR(st.st_mode))
		return is_new(&walk->folders, &st, &err) ? walk_folder(walk, path, depth) : err;
	if ((depth != 0 && !tdm_scan_is_source(path)) || !is_new(&walk->files, &st, &err))
		return err;
	if (!S_ISREG(st.st_mode))
		return depth == 0 ? add_stream(walk, path, path)
				  : tdm_scan_refuse(walk->scan, path, "is not a regular file");
	if (depth == 0 && faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0)
		return fail(walk, path, depth, -errno);
	return tdm_scan_add_file(walk->scan, path, (uint64_t)st.st_size);
}

/* A path of the user's own. */
static int walk_named(struct walk *walk, const char *path)
{
	struct stat st;
	int err = 0;
	if (path[0] == '\0')
		return tdm_diag_set(walk->diag, -ENOENT, 0, 0, "a path is empty: name a file or a folder");
	if (strcmp(path, "-") != 0)
		return walk_path(walk, path, 0);
	if (fstat(STDIN_FILENO, &st) != 0)
		return fail(walk, stdin_name, 0, -errno);
	return is_new(&walk->files, &st, &err) ? add_stream(walk, path, stdin_name) : err;
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
		return tdm_scan_refuse(walk->scan, path, "is too deep");
	int count = scandir(path, &entries, keep_shown, by_name);
	if (count < 0)
		return fail(walk, path, depth, -errno);
	int err = 0;
	for (int i = 0; i < count; i++) {
		char *below = NULL;
		bool ends_in_slash = path[0] != '\0' && path[strlen(path) - 1] == '/';
		if (err == 0 && asprintf(&below, "%s%s%s", path, ends_in_slash ? "" : "/", entries[i]->d_name) < 0)
			err = -ENOMEM;
		bool may_matter = err == 0 && (entries[i]->d_type != DT_REG || tdm_scan_is_source(below));
		if (may_matter)
			err = walk_path(walk, below, depth + 1);
		if (below != NULL)
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

int tdm_scan_files(struct tdm_scan *scan, const char *const *paths, size_t path_count, struct tdm_diag *diag)
{
	struct walk walk = { .scan = scan, .diag = diag };
	int err = tdm_map_init(&walk.folders);
	if (err == 0)
		err = tdm_map_init(&walk.files);
	for (size_t i = 0; i < path_count && err == 0; i++)
		err = walk_named(&walk, paths[i]);
	tdm_map_done(&walk.folders);
	tdm_map_done(&walk.files);
	if (err == 0 && scan->file_count > 1)
		qsort(scan->files, scan->file_count, sizeof *scan->files, by_path);
	return err;
}
