/*
 * How memory rose and fell over a capture, for a chart. While the capture is read, this notes only what the exact
 * account does not keep: the program memory of each device, and which outermost function ran. Buffers are taken from
 * the account at the end.
 */
#ifndef TDM_ANALYZE_CAPTURE_COURSE_H
#define TDM_ANALYZE_CAPTURE_COURSE_H

#include "analyze/capture_exact.h"

/* From this node on, the fullest core of a device has this much program memory. */
struct tdm_course_change {
	uint64_t bytes;
	uint32_t node;
	uint16_t unit;
};

/* A call of an outermost function: nodes [from, to). */
struct tdm_course_call {
	uint32_t path, from, to;
};

/* A zeroed one is empty. */
struct tdm_capture_course {
	struct tdm_course_change *changes;
	size_t change_count, change_cap;
	struct tdm_course_call *calls;
	size_t call_count, call_cap;
	uint64_t *program; /* of each unit, now */
	size_t unit_cap;
	uint32_t nodes; /* so far */
	bool is_inside; /* of a call */
};

/* After the account has taken the node. 0 or -ENOMEM. */
int tdm_capture_course_note(
	struct tdm_capture_course *course, const struct tdm_capture_exact *exact, const struct tdm_capture_node *node);
void tdm_capture_course_done(struct tdm_capture_course *course);

enum tdm_course_memory {
	TDM_COURSE_DRAM, /* DRAM and trace buffers of a device */
	TDM_COURSE_L1,   /* one core: L1 and small L1 buffers, and the program memory of the fullest core */
};

/* A value holds from its node to the next; the last node is the end of the capture. */
struct tdm_course_line {
	double *nodes;             /* owned, with the two below */
	double *buffers, *program; /* program: all 0 for DRAM */
	size_t count, peak;        /* peak: index of the highest sum */
};

/* After the end of the account. 0 or -ENOMEM. */
int tdm_capture_course_line(const struct tdm_capture_course *course, const struct tdm_capture_exact *exact, size_t unit,
	enum tdm_course_memory memory, struct tdm_course_line *line);
void tdm_course_line_done(struct tdm_course_line *line);

#endif
