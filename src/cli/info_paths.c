#include "cli/info_paths.h"
#include "base/reserve.h"
#include "cli/info_view.h"
#include "scan/scan_files.h"
#include "device/cb_pattern.h"
#include "sources/folder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FOLDER_FILES_MAX = 1000 };

static void add_path(struct tdm_info_paths *paths, const char *path)
{
	char *copy = strdup(path);
	if (copy == NULL || tdm_reserve(&paths->at, &paths->cap, paths->count + 1, sizeof *paths->at) != 0) {
		free(copy);
		paths->no_memory = true;
		return;
	}
	paths->at[paths->count++] = copy;
}

/* Adds what was found in a folder. 0, or a negative code when there is no room. */
static int add_found(struct tdm_info_paths *paths, const char *path)
{
	paths->is_cut = paths->room == 0;
	if (paths->is_cut)
		return -ECANCELED;
	paths->room--;
	add_path(paths, path);
	return paths->no_memory ? -ENOMEM : 0;
}

static bool is_wanted_format(const struct tdm_info_paths *paths, const struct tdm_format *format, const char *name)
{
	if (!tdm_info_has_view(format))
		return paths->with_all && (format->events != NULL || strcmp(format->name, "ledger") == 0);
	return !format->takes_folders && (strcmp(format->name, "log") != 0 || strstr(name, ".log") != NULL);
}

/* Adds a file of a folder if its beginning (for a log, its name) tells what it is, or if it cannot be read: showing it
 * then says why. */
static int visit_file(void *context, int folder, const char *name, const char *path)
{
	struct tdm_info_paths *paths = context;
	struct tdm_input *input = NULL;
	(void)folder;
	if (paths->with_all && tdm_scan_is_source(name))
		return 0; /* `report` scans the whole folder */
	if (paths->with_all && tdm_pattern_is_file(name))
		return add_found(paths, path);
	bool is_wanted = tdm_input_open(path, &input) != 0;
	if (!is_wanted) {
		const struct tdm_format *format = tdm_format_of(input);
		is_wanted = format == NULL ? tdm_input_why(input)[0] != '\0' : is_wanted_format(paths, format, name);
	}
	tdm_input_close(input);
	paths->other += !is_wanted;
	return is_wanted ? add_found(paths, path) : 0;
}

static int visit_refused(void *context, const struct tdm_diag *diag)
{
	return add_found(context, diag->file);
}

static int stop_at_kernel(void *context, const struct tdm_record *record)
{
	bool *found = context;
	*found |= record->type == TDM_RECORD_BINARY;
	return *found ? -ECANCELED : 0;
}

/* A folder with compiled kernels is shown as a whole; otherwise every report in it is shown, if there are any. */
static void add_folder(struct tdm_info_paths *paths, struct tdm_input *folder, struct tdm_buf *why)
{
	const struct tdm_folder_visitor visitor = { paths, visit_file, visit_refused };
	const char *path = tdm_input_name(folder);
	size_t before = paths->count;
	struct tdm_walk_rest rest = { 0 };
	struct tdm_diag diag = { 0 };
	bool has_kernels = false;
	tdm_format_find("kernels")->records(folder, &(struct tdm_record_sink){ &has_kernels, stop_at_kernel }, &diag);
	paths->room = FOLDER_FILES_MAX;
	paths->is_cut = false;
	if (!has_kernels)
		tdm_folder_walk(path, &visitor, &rest);
	if (paths->count == before && !paths->may_be_empty)
		add_path(paths, path);
	paths->other += rest.links;
	paths->unvisited |= rest.unvisited != 0;
	if (paths->is_cut)
		tdm_buf_printf(why, "%s: only the first %d files are shown", path, FOLDER_FILES_MAX);
	else if (rest.unvisited != 0)
		tdm_buf_printf(why, "%s: not all of it is shown: %" PRIu64 " folder%s too deep, or beyond %d entries",
			path, rest.unvisited, rest.unvisited == 1 ? "" : "s", TDM_WALK_ENTRIES);
}

void tdm_info_paths_add(struct tdm_info_paths *paths, const char *path, struct tdm_buf *why)
{
	struct tdm_input *input = NULL;
	struct stat st;
	paths->other = 0;
	bool is_folder = strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	if (is_folder && tdm_input_open(path, &input) == 0)
		add_folder(paths, input, why);
	else
		add_path(paths, path);
	tdm_input_close(input);
}

void tdm_info_paths_done(struct tdm_info_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->at[i]);
	free(paths->at);
}
