/* Files by path, functions and constants by name: see kernel_parts.h. */
#include "scan/kernel_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/reserve.h"

enum { SEEN_MAX = 512 /* files that one kernel includes */, PATH_BYTES = 4096 };

static struct tdm_str base_of(struct tdm_str path)
{
	const char *slash = path.len != 0 ? memrchr(path.ptr, '/', path.len) : NULL;
	if (slash == NULL)
		return path;
	return (struct tdm_str){ slash + 1, path.len - (size_t)(slash + 1 - path.ptr) };
}

static int add_functions(struct tdm_kernel_index *index, uint32_t file)
{
	const struct tdm_kernel_code *code = index->scan->files[file].code;
	for (size_t i = 0; code != NULL && i < code->function_count; i++) {
		uint64_t hash = tdm_str_hash(code->functions[i].name);
		int err =
			tdm_reserve(&index->entries, &index->entry_cap, index->entry_count + 1, sizeof *index->entries);
		uint32_t entry = (uint32_t)index->entry_count;
		if (err != 0)
			return err;
		index->entries[index->entry_count++] =
			(struct tdm_kernel_entry){ file, (uint32_t)i, tdm_map_find(&index->functions, hash) };
		err = tdm_map_put(&index->functions, hash, entry);
		if (err != 0)
			return err;
	}
	return 0;
}

static int add_files(struct tdm_kernel_index *index)
{
	int err = 0;
	for (uint32_t file = 0; file < index->scan->file_count && err == 0; file++) {
		uint64_t hash = tdm_str_hash(base_of(tdm_str_of(index->scan->files[file].path)));
		index->same_base[file] = tdm_map_find(&index->by_base, hash);
		err = tdm_map_put(&index->by_base, hash, file);
		if (err == 0)
			err = add_functions(index, file);
	}
	return err;
}

int tdm_kernel_index_init(struct tdm_kernel_index *index, struct tdm_scan *scan)
{
	*index = (struct tdm_kernel_index){ .scan = scan, .root = UINT32_MAX };
	size_t count = scan->file_count + 1; /* never 0 */
	index->same_base = calloc(count, sizeof *index->same_base);
	index->seen = calloc(count, sizeof *index->seen);
	index->queue = calloc(SEEN_MAX, sizeof *index->queue);
	int err = index->same_base == NULL || index->seen == NULL || index->queue == NULL ? -ENOMEM : 0;
	if (err == 0)
		err = tdm_map_init(&index->by_base);
	if (err == 0)
		err = tdm_map_init(&index->functions);
	if (err == 0)
		err = add_files(index);
	if (err != 0)
		tdm_kernel_index_done(index);
	return err;
}

void tdm_kernel_index_done(struct tdm_kernel_index *index)
{
	tdm_map_done(&index->by_base);
	tdm_map_done(&index->functions);
	free(index->same_base);
	free(index->entries);
	free(index->seen);
	free(index->queue);
	*index = (struct tdm_kernel_index){ 0 };
}

/* Whether `path` ends in `tail`, at the beginning of a name. */
static bool has_tail(struct tdm_str path, struct tdm_str tail)
{
	if (tail.len == 0 || path.len < tail.len || memcmp(path.ptr + path.len - tail.len, tail.ptr, tail.len) != 0)
		return false;
	return path.len == tail.len || path.ptr[path.len - tail.len - 1] == '/' || tail.ptr[0] == '/';
}

/* Without "./" and "../" at its beginning. */
static struct tdm_str plain_path(struct tdm_str path)
{
	for (;;) {
		size_t skip = path.len >= 2 && memcmp(path.ptr, "./", 2) == 0    ? 2
			      : path.len >= 3 && memcmp(path.ptr, "../", 3) == 0 ? 3
										 : 0;
		if (skip == 0)
			return path;
		path = (struct tdm_str){ path.ptr + skip, path.len - skip };
	}
}

static size_t common_prefix(struct tdm_str a, struct tdm_str b)
{
	size_t len = 0;
	while (len < a.len && len < b.len && a.ptr[len] == b.ptr[len])
		len++;
	return len;
}

uint32_t tdm_kernel_index_file(
	const struct tdm_kernel_index *index, struct tdm_str path, uint32_t near, bool *is_ambiguous)
{
	struct tdm_str wanted = plain_path(path), beside = tdm_str_of(index->scan->files[near].path);
	uint32_t file = tdm_map_find(&index->by_base, tdm_str_hash(base_of(wanted)));
	uint32_t best = UINT32_MAX;
	size_t best_shared = 0;
	*is_ambiguous = false;
	for (; file != TDM_MAP_NONE; file = index->same_base[file]) {
		struct tdm_str have = tdm_str_of(index->scan->files[file].path);
		if (!has_tail(have, wanted) && !has_tail(wanted, plain_path(have)))
			continue;
		size_t shared = common_prefix(have, beside);
		*is_ambiguous =
			best != UINT32_MAX && (shared == best_shared || (*is_ambiguous && shared < best_shared));
		if (best == UINT32_MAX || shared > best_shared) {
			best = file;
			best_shared = shared;
		}
	}
	return *is_ambiguous ? UINT32_MAX : best;
}

bool tdm_kernel_is_runtime(const char *path)
{
	return strstr(path, "tt_metal/hw/") != NULL || strstr(path, "tt_metal/third_party/") != NULL ||
	       strstr(path, "tt_metal/tt-llk/") != NULL || strstr(path, "tt_metal/hostdevcommon/") != NULL;
}

/* Headers that come with the compiler or the runtime: what they define moves no pages unless its name says so. */
static bool is_foreign(const struct tdm_scan_include *include)
{
	static const char *const prefixes[] = { "api/", "hostdevcommon/", "tt_metal/hw/", "experimental/", "internal/",
		"risc_common", "ckernel", "llk_", "noc", "tt_metal/hostdevcommon/", "tensix", "dataflow_api",
		"compute_kernel_api", "debug/", "dev_mem", "tools/profiler/", "circular_buffer", "sequencers.h" };
	if (include->is_system)
		return true;
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (include->path.len >= strlen(prefixes[i]) &&
			memcmp(include->path.ptr, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/* The path of an include from the folder of the file that has it, "../x.hpp" from a/b/c.cpp: a/x.hpp. 0: too long. */
static size_t path_from(struct tdm_str file, struct tdm_str include, char *path, size_t cap)
{
	size_t len = file.len - base_of(file).len; /* with the slash */
	if (len + include.len > cap)
		return 0;
	memcpy(path, file.ptr, len);
	while (include.len >= 3 && memcmp(include.ptr, "../", 3) == 0 && len != 0) {
		const char *slash = len > 1 ? memrchr(path, '/', len - 1) : NULL;
		len = slash != NULL ? (size_t)(slash + 1 - path) : 0;
		include = (struct tdm_str){ include.ptr + 3, include.len - 3 };
	}
	if (include.len >= 2 && memcmp(include.ptr, "./", 2) == 0)
		include = (struct tdm_str){ include.ptr + 2, include.len - 2 };
	memcpy(path + len, include.ptr, include.len);
	return len + include.len;
}

/* The file with exactly that path; UINT32_MAX when there is none. */
static uint32_t exact_file(const struct tdm_kernel_index *index, struct tdm_str path)
{
	uint32_t file = tdm_map_find(&index->by_base, tdm_str_hash(base_of(path)));
	while (file != TDM_MAP_NONE && !tdm_str_is(path, index->scan->files[file].path))
		file = index->same_base[file];
	return file;
}

static void see_include(struct tdm_kernel_index *index, uint32_t from, const struct tdm_scan_include *include)
{
	char path[PATH_BYTES];
	bool is_ambiguous = false;
	size_t len = path_from(tdm_str_of(index->scan->files[from].path), include->path, path, sizeof path);
	uint32_t file = exact_file(index, (struct tdm_str){ path, len });
	if (file == UINT32_MAX)
		file = tdm_kernel_index_file(index, include->path, from, &is_ambiguous);
	if (file == UINT32_MAX) {
		index->has_lost |= !is_foreign(include);
		return;
	}
	if (index->seen[file] == index->root + 1)
		return;
	if (index->queue_count == SEEN_MAX) {
		index->has_lost = true;
		return;
	}
	index->seen[file] = index->root + 1;
	index->queue[index->queue_count++] = file;
}

void tdm_kernel_index_see(struct tdm_kernel_index *index, uint32_t file)
{
	if (index->root == file)
		return;
	index->root = file;
	index->has_lost = false;
	index->queue_count = 0;
	index->seen[file] = file + 1;
	index->queue[index->queue_count++] = file;
	for (size_t i = 0; i < index->queue_count; i++) {
		const struct tdm_scan_file *at = &index->scan->files[index->queue[i]];
		for (size_t k = 0; k < at->include_count && !tdm_kernel_is_runtime(at->path); k++)
			see_include(index, index->queue[i], &at->includes[k]);
	}
}

bool tdm_kernel_index_has(const struct tdm_kernel_index *index, struct tdm_str name)
{
	uint32_t entry = tdm_map_find(&index->functions, tdm_str_hash(name));
	while (entry != TDM_MAP_NONE && tdm_kernel_is_runtime(index->scan->files[index->entries[entry].file].path))
		entry = index->entries[entry].next;
	return entry != TDM_MAP_NONE;
}

static int compare_text(const void *key, const void *item)
{
	const struct tdm_str *a = key, *b = item;
	size_t len = a->len < b->len ? a->len : b->len;
	int order = memcmp(a->ptr, b->ptr, len);
	return order != 0 ? order : (a->len > b->len) - (a->len < b->len);
}

bool tdm_kernel_index_has_macro(const struct tdm_kernel_index *index, struct tdm_str name)
{
	for (size_t i = 0; i < index->queue_count; i++) {
		const struct tdm_kernel_code *code = index->scan->files[index->queue[i]].code;
		if (code != NULL && code->macro_count != 0 &&
			bsearch(&name, code->macros, code->macro_count, sizeof name, compare_text) != NULL)
			return true;
	}
	return false;
}

static uint32_t first_seen(const struct tdm_kernel_index *index, uint32_t entry, struct tdm_str name)
{
	while (entry != TDM_MAP_NONE && (index->seen[index->entries[entry].file] != index->root + 1 ||
						!tdm_str_eq(tdm_kernel_index_get(index, entry)->name, name)))
		entry = index->entries[entry].next;
	return entry;
}

uint32_t tdm_kernel_index_function(const struct tdm_kernel_index *index, struct tdm_str name)
{
	return first_seen(index, tdm_map_find(&index->functions, tdm_str_hash(name)), name);
}

uint32_t tdm_kernel_index_next(const struct tdm_kernel_index *index, uint32_t entry, struct tdm_str name)
{
	return first_seen(index, index->entries[entry].next, name);
}

static bool is_before(const struct tdm_kernel_constant *constant, struct tdm_str name)
{
	size_t len = constant->name.len < name.len ? constant->name.len : name.len;
	int order = memcmp(constant->name.ptr, name.ptr, len);
	return order != 0 ? order < 0 : constant->name.len < name.len;
}

/* The first constant of a file that is not before a name. */
static size_t lower_bound(const struct tdm_kernel_code *code, struct tdm_str name)
{
	size_t low = 0, high = code->constant_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (is_before(&code->constants[middle], name))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct tdm_expr *tdm_kernel_index_constant(const struct tdm_kernel_index *index, struct tdm_str name)
{
	const struct tdm_expr *value = NULL;
	for (size_t i = 0; i < index->queue_count; i++) {
		const struct tdm_kernel_code *code = index->scan->files[index->queue[i]].code;
		if (code == NULL)
			continue;
		for (size_t k = lower_bound(code, name);
			k < code->constant_count && tdm_str_eq(code->constants[k].name, name); k++) {
			if (value != NULL)
				return NULL;
			value = code->constants[k].value;
		}
	}
	return value;
}
