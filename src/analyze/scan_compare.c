#include "analyze/scan_compare.h"

#include <errno.h>
#include <stdlib.h>

#include "base/reserve.h"

const char *tdm_change_name(enum tdm_change change)
{
	static const char *const names[] = {
#define X(id, name) name,
		TDM_CHANGE_LIST(X)
#undef X
	};
	return names[change];
}

/* A buffer with all that it is matched by. */
struct side {
	const char *path, *program;
	const struct tdm_scan_buffer *buffer;
};

struct sides {
	struct side *list;
	size_t count;
};

static const char *below(const char *path, size_t root)
{
	return strlen(path) > root ? path + root : "";
}

static int collect(const struct tdm_scan *scan, size_t root, struct sides *sides)
{
	size_t all = 0;
	for (size_t i = 0; i < scan->file_count; i++)
		all += scan->files[i].buffer_count;
	sides->list = calloc(all + 1, sizeof *sides->list);
	if (sides->list == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < scan->file_count; i++) {
		const struct tdm_scan_file *file = &scan->files[i];
		for (size_t k = 0; k < file->buffer_count; k++) {
			const struct tdm_scan_buffer *buffer = &file->buffers[k];
			bool has_program = buffer->program < file->program_count;
			sides->list[sides->count++] = (struct side){ below(file->path, root),
				has_program ? file->programs[buffer->program].name : "", buffer };
		}
	}
	return 0;
}

/* An index is compared as a number, then what else it is called. */
static int compare_sides(const struct side *a, const struct side *b)
{
	int order = strcmp(a->path, b->path);
	order = order != 0 ? order : strcmp(a->program, b->program);
	order = order != 0 ? order : tdm_order(a->buffer->kind, b->buffer->kind);
	order = order != 0 ? order : tdm_order((uint32_t)a->buffer->index, (uint32_t)b->buffer->index);
	if (order != 0 || a->buffer->index >= 0)
		return order;
	order = strcmp(a->buffer->index_text, b->buffer->index_text);
	return order != 0 ? order : strcmp(a->buffer->name, b->buffer->name);
}

static int sort_sides(const void *left, const void *right)
{
	const struct side *a = left, *b = right;
	int order = compare_sides(a, b);
	return order != 0 ? order : tdm_order((uintptr_t)a->buffer, (uintptr_t)b->buffer);
}

/* Whether two buffers differ, and how. */
static bool differ(const struct tdm_scan_buffer *before, const struct tdm_scan_buffer *after, enum tdm_change *change)
{
	uint64_t a = tdm_scan_own_bytes(before), b = tdm_scan_own_bytes(after);
	if (a != TDM_BYTES_UNKNOWN && b != TDM_BYTES_UNKNOWN) {
		*change = a < b ? TDM_CHANGE_GREW : TDM_CHANGE_SHRANK;
		return a != b;
	}
	*change = TDM_CHANGE_CHANGED;
	return a != b || before->is_view != after->is_view || strcmp(before->total.text, after->total.text) != 0;
}

static int add(
	struct tdm_scan_changes *changes, enum tdm_change change, const struct side *before, const struct side *after)
{
	const struct side *any = after != NULL ? after : before;
	int err = tdm_reserve(&changes->list, &changes->cap, changes->count + 1, sizeof *changes->list);
	if (err == 0)
		changes->list[changes->count++] = (struct tdm_scan_change){ (uint8_t)change, any->path, any->program,
			before != NULL ? before->buffer : NULL, after != NULL ? after->buffer : NULL };
	return err;
}

static int match(const struct sides *before, const struct sides *after, struct tdm_scan_changes *changes)
{
	size_t i = 0, k = 0;
	int err = 0;
	while (err == 0 && (i < before->count || k < after->count)) {
		const struct side *old = i < before->count ? &before->list[i] : NULL;
		const struct side *now = k < after->count ? &after->list[k] : NULL;
		int order = old == NULL ? 1 : now == NULL ? -1 : compare_sides(old, now);
		enum tdm_change change;
		if (order < 0)
			err = add(changes, TDM_CHANGE_GONE, old, NULL);
		else if (order > 0)
			err = add(changes, TDM_CHANGE_NEW, NULL, now);
		else if (differ(old->buffer, now->buffer, &change))
			err = add(changes, change, old, now);
		else
			changes->same++;
		i += order <= 0;
		k += order >= 0;
	}
	return err;
}

int tdm_scan_compare(const struct tdm_scan *before, size_t before_root, const struct tdm_scan *after, size_t after_root,
	struct tdm_scan_changes *changes)
{
	struct sides old = { 0 }, now = { 0 };
	int err = collect(before, before_root, &old);
	if (err == 0)
		err = collect(after, after_root, &now);
	if (err == 0) {
		qsort(old.list, old.count, sizeof *old.list, sort_sides);
		qsort(now.list, now.count, sizeof *now.list, sort_sides);
		err = match(&old, &now, changes);
	}
	free(old.list);
	free(now.list);
	return err;
}

void tdm_scan_changes_done(struct tdm_scan_changes *changes)
{
	free(changes->list);
	*changes = (struct tdm_scan_changes){ 0 };
}

size_t tdm_scan_root(const struct tdm_scan *scan, const char *path)
{
	if (scan->file_count == 1 && scan->files[0].is_given)
		return strlen(scan->files[0].path); /* "-" has another name there */
	size_t len = strlen(path);
	bool is_file = scan->file_count == 1 && strcmp(scan->files[0].path, path) == 0;
	bool ends_in_slash = len != 0 && path[len - 1] == '/';
	return is_file || ends_in_slash ? len : len + 1;
}
