/*
 * The calls of a capture as a tree: a path is the list of running functions, outermost first. A path that is called
 * again is the same entry. Also keeps texts (shapes of tensors), each once. Both are bounded: a call beyond the bound
 * counts for the path that was running, and a text beyond it is lost.
 */
#ifndef TDM_ANALYZE_CAPTURE_PATHS_H
#define TDM_ANALYZE_CAPTURE_PATHS_H

#include "base/buf.h"
#include "base/map.h"
#include "state/intern.h"

enum { TDM_PATH_ROOT = 0 }; /* outside all functions */

struct tdm_capture_path {
	uint32_t parent, name; /* name: a text */
	uint64_t calls;
	uint64_t dram_bytes, l1_bytes; /* allocated directly in it, as asked for */
	uint64_t buffers;
	int64_t core_peak;  /* the most in one core while it ran, see capture_exact.c; INT64_MIN: L1 never changed */
	uint32_t core_unit; /* the device of core_peak; while reading, the first one */
};

/* The most in one core of any device but the first while a path ran. */
struct tdm_capture_path_peak {
	int64_t bytes;
	uint32_t path, unit;
};

struct tdm_capture_paths {
	struct tdm_intern texts; /* names of functions, and others */
	struct tdm_map children; /* parent and name to path */
	struct tdm_capture_path *paths;
	size_t count, cap;
	struct tdm_capture_path_peak *others;
	size_t other_count, other_cap;
	struct tdm_map other_of; /* path and device to others */
	uint32_t *stack;         /* of running paths */
	size_t depth, stack_cap;
	uint64_t lost_depth; /* calls too deep for the stack */
	uint64_t overflow;   /* calls beyond the bound of paths */
};

int tdm_capture_paths_init(struct tdm_capture_paths *paths); /* 0 or -ENOMEM */
void tdm_capture_paths_done(struct tdm_capture_paths *paths);

/* A function starts, or the innermost ends. 0 or -ENOMEM; an end without a start does nothing. */
int tdm_capture_paths_enter(struct tdm_capture_paths *paths, struct tdm_str name);
void tdm_capture_paths_leave(struct tdm_capture_paths *paths);

/* The path that is running now. */
static inline uint32_t tdm_capture_paths_now(const struct tdm_capture_paths *paths)
{
	return paths->depth != 0 ? paths->stack[paths->depth - 1] : TDM_PATH_ROOT;
}

/* A core of a device holds `bytes` while the path runs; the most per device is kept. 0 or -ENOMEM. */
int tdm_capture_paths_raise(struct tdm_capture_paths *paths, uint32_t path, uint32_t unit, int64_t bytes);

/* A text's number from 1, or 0 when it is empty or cannot be kept. */
uint32_t tdm_capture_paths_text(struct tdm_capture_paths *paths, struct tdm_str text);
/* NULL for 0. */
const char *tdm_capture_paths_text_of(const struct tdm_capture_paths *paths, uint32_t number);

/* "ttnn.matmul > MatmulDeviceOperation"; nothing for the root. */
void tdm_capture_paths_put(const struct tdm_capture_paths *paths, uint32_t path, struct tdm_buf *out);
/* The name of its innermost function; empty for the root. */
const char *tdm_capture_paths_name(const struct tdm_capture_paths *paths, uint32_t path);

#endif
