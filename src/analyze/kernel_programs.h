/* Groups the kernels that the inspector listed into programs, with the code that each of them needs. */
#ifndef TDM_ANALYZE_KERNEL_PROGRAMS_H
#define TDM_ANALYZE_KERNEL_PROGRAMS_H

#include "base/buf.h"
#include "base/map.h"
#include "event/record.h"

struct tdm_program_kernel {
	uint64_t program, watcher_id;
	uint64_t code_bytes;              /* in the kernel-config ring; TDM_BYTES_UNKNOWN */
	const char *name, *path, *source; /* at the end only; empty: unknown */
};

struct tdm_kernel_program {
	uint64_t id;
	size_t order; /* in the file */
	uint64_t kernels;
	uint64_t compile_ns; /* TDM_BYTES_UNKNOWN: not said */
	bool destroyed;
	uint64_t code_bytes;     /* of the kernels whose code is known */
	uint64_t known, unknown; /* kernels whose code size is known, or not */
	double ring_share;       /* that its code takes; NAN: unknown; at the end only */
};

/* A kernel by name: the same one is in many programs. */
struct tdm_kernel_name {
	const char *name;
	uint64_t kernels;
	uint64_t code_bytes; /* of the largest */
};

struct tdm_kernel_programs {
	uint64_t (*code_of)(
		const char *path);           /* set by the caller, may be NULL: bytes of a kernel's code, or unknown */
	struct tdm_kernel_program *programs; /* most code first, at the end */
	struct tdm_program_kernel *kernels;
	struct tdm_kernel_name *names; /* the most frequent first; at the end only */
	size_t program_count, kernel_count, name_count, program_cap, kernel_cap;
	uint64_t refused;
	uint64_t ring_bytes; /* of the kernel-config ring; TDM_BYTES_UNKNOWN */
	struct tdm_buf texts;
	struct tdm_map by_id; /* programs that were not destroyed */
};

int tdm_kernel_programs_init(struct tdm_kernel_programs *programs); /* 0 or -ENOMEM */
void tdm_kernel_programs_done(struct tdm_kernel_programs *programs);

/* For a sink; and after the last record, with the size of the kernel-config ring. 0 or -ENOMEM. */
int tdm_kernel_programs_take(void *programs, const struct tdm_record *record);
int tdm_kernel_programs_end(struct tdm_kernel_programs *programs, uint64_t ring_bytes);

#endif
