/* Analyses the memory data in the inspector's files: the mesh buffers over time, and the code size of each program's
 * kernels. Each of the two analysers processes a file's records one by one; its result is complete after the last
 * record. Not thread-safe. */
#ifndef TDM_ANALYZE_INSPECTOR_MEMORY_H
#define TDM_ANALYZE_INSPECTOR_MEMORY_H

#include "base/arena.h"
#include "base/map.h"
#include "model/event/live_set.h"
#include "model/event/record.h"

/*
 * ---- mesh buffers ----  Tracks the live buffers, the peak of live bytes, and the time of the peak. A buffer is
 * identified by its id alone. The release of a buffer that is not live is counted but does not affect the sums. If a
 * live buffer is allocated again, this is counted, and the new buffer replaces the old one.
 */

/* All buffers of one kind. */
struct tdm_history_kind {
	struct tdm_live_sum live; /* peak_at is in nanoseconds */
	uint64_t allocs, frees;
};

struct tdm_buffer_history {
	struct tdm_history_kind kinds[TDM_KIND_COUNT];
	size_t live_count, live_cap;  /* live_count: valid only after the end */
	struct tdm_mesh_buffer *live; /* by slot, where spare slots hold releases; after the end, largest first */
	bool has_time;
	uint64_t first_ns, last_ns; /* times of the first and last event */
	uint64_t refused;           /* number of unusable records */
	uint64_t unknown_frees, rereports;
	uint64_t overflows;       /* number of allocations that would overflow a sum; not counted elsewhere */
	struct tdm_live_sum mesh; /* sum over all devices and kinds */
	struct tdm_live_set set;
};

/* These take a struct tdm_buffer_history, which is empty if zeroed. */
int tdm_buffer_history_take(void *history, const struct tdm_record *record);
void tdm_buffer_history_end(void *history);
void tdm_buffer_history_done(void *history);

/*
 * ---- programs ----  The kernels listed by the inspector, grouped into programs, with the code size of each.
 */

struct tdm_kernel_program {
	uint64_t id;
	size_t order; /* position in the file */
	uint64_t kernels;
	uint64_t compile_ns; /* TDM_BYTES_UNKNOWN if not in the file */
	bool destroyed;
	uint64_t code_bytes;     /* sum over the kernels whose code size is known */
	uint64_t known, unknown; /* numbers of kernels with known and with unknown code size */
	double ring_share;       /* code size as a share of the ring; NAN if unknown. Set at the end */
};

/* A kernel identified by name, because many programs contain the same kernel. */
struct tdm_kernel_name {
	const char *name;
	uint64_t kernels;
	uint64_t code_bytes; /* number of code bytes in its largest binary */
};

struct tdm_kernel_programs {
	/* returns a kernel's code bytes, or TDM_BYTES_UNKNOWN; NULL if all are unknown */
	uint64_t (*code_of)(const char *path);
	struct tdm_kernel_program *programs; /* sorted at the end: largest code first */
	struct tdm_listed_kernel *kernels;
	struct tdm_kernel_name *names; /* set at the end: most frequent first */
	size_t program_count, kernel_count, name_count, program_cap, kernel_cap;
	uint64_t refused;
	uint64_t ring_bytes; /* size of the kernel-config ring; may be TDM_BYTES_UNKNOWN */
	struct tdm_arena texts;
	struct tdm_map by_id; /* programs not destroyed */
};

/* These take a struct tdm_kernel_programs, which is empty if zeroed except for `code_of`. */
int tdm_kernel_programs_take(void *programs, const struct tdm_record *record);
void tdm_kernel_programs_end(void *programs);
void tdm_kernel_programs_done(void *programs);

#endif
