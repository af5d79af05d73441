/*
 * A record: one thing that a file says, decoded and nothing more. Readers of every format hand out these, one at a time
 * and in the order of the file; analysers take the ones that they know and accumulate.
 */
#ifndef TDM_EVENT_RECORD_H
#define TDM_EVENT_RECORD_H

#include "base/diag.h"
#include "event/capture_node.h"
#include "event/log_record.h"
#include "event/phase_run.h"
#include "event/report_record.h"

/* id, type and name of the member */
#define TDM_RECORD_LIST(X)                                       \
	X(REFUSED, const struct tdm_diag, refused)               \
	X(NODE, const struct tdm_capture_node, node)             \
	X(DEVICE, const struct tdm_capture_device, device)       \
	X(MEMBER, const struct tdm_capture_member, member)       \
	X(CAPTURE_END, const struct tdm_capture_counts, capture) \
	X(LOG, const struct tdm_log_record, log)                 \
	X(LOG_END, const struct tdm_log_counts, log_end)         \
	X(RUN, struct tdm_phase_run, run)                        \
	X(MEMORY_HEAD, const struct tdm_memory_head, memory)     \
	X(MEMORY_BLOCK, const struct tdm_memory_block, block)    \
	X(MEMORY_REGION, const struct tdm_memory_region, region) \
	X(CORE, const struct tdm_core_line, core)                \
	X(PERF_HEAD, const struct tdm_perf_head, perf)           \
	X(PERF_ROW, const struct tdm_perf_row, row)              \
	X(MESH_BUFFER, const struct tdm_mesh_buffer, mesh)       \
	X(KERNEL, const struct tdm_listed_kernel, kernel)        \
	X(PROGRAM, const struct tdm_listed_program, program)     \
	X(BINARY, const struct tdm_kernel_binary, binary)        \
	X(WALK_END, const struct tdm_walk_rest, walk)

enum tdm_record_type {
#define X(id, type, member) TDM_RECORD_##id,
	TDM_RECORD_LIST(X)
#undef X
		TDM_RECORD_OTHER, /* a line of another form; it has no content */
};

struct tdm_record {
	uint8_t type; /* enum tdm_record_type */
	bool is_part; /* of REFUSED: only a part of a record cannot be used, the rest of it comes */
	union {       /* borrowed until the function returns; what a run holds may be taken out of it */
#define X(id, type, member) type *member;
		TDM_RECORD_LIST(X)
#undef X
	};
};

/* Takes records. A negative code ends the reading. */
struct tdm_record_sink {
	void *to;
	int (*take)(void *to, const struct tdm_record *record);
};

/* A record, or a part of it, that cannot be used; the position is in the diag. */
static inline int tdm_record_refuse(const struct tdm_record_sink *sink, const struct tdm_diag *diag, bool is_part)
{
	return sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_REFUSED, is_part, { .refused = diag } });
}

#endif
