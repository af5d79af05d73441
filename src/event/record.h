/*
 * A record: one statement of a file, only decoded. The readers of all formats hand out records one at a time, in file
 * order; analysers take those they know and accumulate.
 */
#ifndef TDM_EVENT_RECORD_H
#define TDM_EVENT_RECORD_H

#include "base/diag.h"
#include "event/capture_node.h"
#include "event/log_record.h"
#include "event/phase_run.h"
#include "event/report_record.h"

/* id, type and name of the member */
#define TDM_RECORD_LIST(X)                                         \
	X(REFUSED, const struct tdm_diag, refused)                 \
	X(NODE, const struct tdm_capture_node, node)               \
	X(DEVICE, const struct tdm_capture_device, device)         \
	X(MEMBER, const struct tdm_capture_member, member)         \
	X(CAPTURE_END, const struct tdm_capture_counts, capture)   \
	X(LOG, const struct tdm_log_record, log)                   \
	X(LOG_END, const struct tdm_log_counts, log_end)           \
	X(RUN, struct tdm_phase_run, run)                          \
	X(MEMORY_HEAD, const struct tdm_memory_head, memory)       \
	X(MEMORY_BLOCK, const struct tdm_memory_block, block)      \
	X(MEMORY_REGION, const struct tdm_memory_region, region)   \
	X(CORE, const struct tdm_core_line, core)                  \
	X(PERF_HEAD, const struct tdm_perf_head, perf)             \
	X(PERF_ROW, const struct tdm_perf_row, row)                \
	X(MESH_BUFFER, const struct tdm_mesh_buffer, mesh)         \
	X(KERNEL, const struct tdm_listed_kernel, kernel)          \
	X(PROGRAM, const struct tdm_listed_program, program)       \
	X(BINARY, const struct tdm_kernel_binary, binary)          \
	X(REPORT_HEAD, const struct tdm_report_head, report)       \
	X(OPERATION, const struct tdm_report_operation, operation) \
	X(ALIVE, const struct tdm_report_buffer, alive)            \
	X(TENSOR_PLACE, const struct tdm_report_tensor, place)     \
	X(TENSOR, const struct tdm_report_tensor, tensor)          \
	X(TENSOR_USE, const struct tdm_report_use, use)            \
	X(REPORT_ERROR, const struct tdm_report_error, error)      \
	X(CORE_PART, const struct tdm_report_part, part)           \
	X(WALK_END, const struct tdm_walk_rest, walk)

enum tdm_record_type {
#define X(id, type, member) TDM_RECORD_##id,
	TDM_RECORD_LIST(X)
#undef X
		TDM_RECORD_OTHER, /* a line of another form; has no member */
};

struct tdm_record {
	uint8_t type; /* enum tdm_record_type */
	bool is_part; /* of REFUSED: only part of a record is unusable, the rest follows */
	union {       /* borrowed until `take` returns; the contents of a run may be moved out */
#define X(id, type, member) type *member;
		TDM_RECORD_LIST(X)
#undef X
	};
};

/* Takes records. A negative code stops the reader. */
struct tdm_record_sink {
	void *to;
	int (*take)(void *to, const struct tdm_record *record);
};

/* Reports an unusable record, or an unusable part of one; the position is in `diag`. */
static inline int tdm_record_refuse(const struct tdm_record_sink *sink, const struct tdm_diag *diag, bool is_part)
{
	return sink->take(sink->to, &(struct tdm_record){ TDM_RECORD_REFUSED, is_part, { .refused = diag } });
}

#endif
