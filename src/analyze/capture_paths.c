#include "analyze/capture_paths.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdlib.h>

enum { PATHS_MAX = 1 << 16, STACK_MAX = 4096, PATH_SHOWN_MAX = 64 };

int tdm_capture_paths_init(struct tdm_capture_paths *p)
{
	*p = (struct tdm_capture_paths){ 0 };
	if (tdm_intern_init(&p->texts) != 0 || tdm_map_init(&p->children) != 0 || tdm_map_init(&p->other_of) != 0 ||
		tdm_reserve(&p->paths, &p->cap, 1, sizeof *p->paths) != 0) {
		tdm_capture_paths_done(p);
		return -ENOMEM;
	}
	p->paths[p->count++] = (struct tdm_capture_path){ .core_peak = INT64_MIN };
	return 0;
}

void tdm_capture_paths_done(struct tdm_capture_paths *p)
{
	tdm_intern_done(&p->texts);
	tdm_map_done(&p->children);
	tdm_map_done(&p->other_of);
	free(p->others);
	free(p->paths);
	free(p->stack);
	*p = (struct tdm_capture_paths){ 0 };
}

static uint32_t find_path(struct tdm_capture_paths *p, uint32_t parent, uint32_t name)
{
	uint64_t key = (uint64_t)parent << 32 | name;
	uint32_t path = tdm_map_find(&p->children, key);
	if (path != TDM_MAP_NONE || p->count >= PATHS_MAX)
		return path;
	if (tdm_reserve(&p->paths, &p->cap, p->count + 1, sizeof *p->paths) != 0)
		return TDM_MAP_NONE;
	path = (uint32_t)p->count;
	if (tdm_map_put(&p->children, key, path) != 0)
		return TDM_MAP_NONE;
	p->paths[p->count++] = (struct tdm_capture_path){ .parent = parent, .name = name, .core_peak = INT64_MIN };
	return path;
}

int tdm_capture_paths_enter(struct tdm_capture_paths *p, struct tdm_str name)
{
	uint32_t now = tdm_capture_paths_now(p);
	if (p->depth == STACK_MAX) {
		p->lost_depth++;
		return 0;
	}
	if (tdm_reserve(&p->stack, &p->stack_cap, p->depth + 1, sizeof *p->stack) != 0)
		return -ENOMEM;
	if (name.len == 0)
		name = tdm_str_of("(no name)");
	uint32_t number = tdm_capture_paths_text(p, name);
	uint32_t path = number != 0 ? find_path(p, now, number) : TDM_MAP_NONE;
	if (path == TDM_MAP_NONE) {
		path = now;
		p->overflow++;
	} else {
		p->paths[path].calls++;
	}
	p->stack[p->depth++] = path;
	return 0;
}

void tdm_capture_paths_leave(struct tdm_capture_paths *p)
{
	if (p->lost_depth != 0)
		p->lost_depth--;
	else if (p->depth != 0)
		p->depth--;
}

int tdm_capture_paths_raise(struct tdm_capture_paths *p, uint32_t path, uint32_t unit, int64_t bytes)
{
	struct tdm_capture_path *of = &p->paths[path];
	if (of->core_peak == INT64_MIN || of->core_unit == unit) {
		of->core_unit = unit;
		of->core_peak = bytes > of->core_peak ? bytes : of->core_peak;
		return 0;
	}
	uint64_t key = (uint64_t)path << 32 | unit;
	uint32_t found = tdm_map_find(&p->other_of, key);
	if (found == TDM_MAP_NONE) {
		if (tdm_reserve(&p->others, &p->other_cap, p->other_count + 1, sizeof *p->others) != 0 ||
			tdm_map_put(&p->other_of, key, (uint32_t)p->other_count) != 0)
			return -ENOMEM;
		p->others[p->other_count++] = (struct tdm_capture_path_peak){ bytes, path, unit };
	} else if (bytes > p->others[found].bytes) {
		p->others[found].bytes = bytes;
	}
	return 0;
}

uint32_t tdm_capture_paths_text(struct tdm_capture_paths *p, struct tdm_str text)
{
	uint32_t number;
	return tdm_intern_text(&p->texts, text, &number) == 0 ? number : 0;
}

const char *tdm_capture_paths_text_of(const struct tdm_capture_paths *p, uint32_t number)
{
	return number != 0 ? p->texts.texts[number] : NULL;
}

const char *tdm_capture_paths_name(const struct tdm_capture_paths *p, uint32_t path)
{
	return p->texts.texts[p->paths[path].name];
}

void tdm_capture_paths_put(const struct tdm_capture_paths *p, uint32_t path, struct tdm_buf *out)
{
	uint32_t way[PATH_SHOWN_MAX];
	size_t count = 0;
	for (; path != TDM_PATH_ROOT; path = p->paths[path].parent)
		way[count++ % PATH_SHOWN_MAX] = path;
	for (size_t i = count; i-- > 0 && count - i <= PATH_SHOWN_MAX;) {
		tdm_buf_puts(out, i + 1 != count ? " > " : "");
		tdm_buf_puts(out, tdm_capture_paths_name(p, way[i % PATH_SHOWN_MAX]));
	}
}
