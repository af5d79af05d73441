/*
 * Two scans side by side: which buffers are new, gone, larger, smaller or otherwise sized. Buffers are matched by their
 * file below the compared paths, program, kind, and index or name; several that agree in all of these are matched in
 * their order.
 */
#ifndef TDM_ANALYZE_SCAN_COMPARE_H
#define TDM_ANALYZE_SCAN_COMPARE_H

#include "scan/scan.h"

#define TDM_CHANGE_LIST(X)                                         \
	X(NEW, "new")                                              \
	X(GREW, "grew")                                            \
	X(CHANGED, "changed") /* its size is another expression */ \
	X(SHRANK, "shrank")                                        \
	X(GONE, "gone")

enum tdm_change {
#define X(id, name) TDM_CHANGE_##id,
	TDM_CHANGE_LIST(X)
#undef X
		TDM_CHANGE_COUNT
};
const char *tdm_change_name(enum tdm_change change);

struct tdm_scan_change {
	uint8_t change;   /* enum tdm_change */
	const char *path; /* below the compared paths; "" when files were compared */
	const char *program;
	const struct tdm_scan_buffer *before, *after; /* NULL: there is none */
};

/* Zeroed to begin with; borrowed from both scans. */
struct tdm_scan_changes {
	struct tdm_scan_change *list; /* by path, program and buffer */
	size_t count, cap;
	size_t same; /* buffers that are the same in both */
};

/* Paths are compared without their first `root` bytes. 0 or -ENOMEM. */
int tdm_scan_compare(const struct tdm_scan *before, size_t before_root, const struct tdm_scan *after, size_t after_root,
	struct tdm_scan_changes *changes);
void tdm_scan_changes_done(struct tdm_scan_changes *changes);

/* The length of a path of the command line with its slash: what the paths of its files begin with. All of it for a
 * file. */
size_t tdm_scan_root(const struct tdm_scan *scan, const char *path);

#endif
