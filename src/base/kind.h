/* The kinds of device memory. The order is part of stored formats and never changes; new kinds are added at the end. */
#ifndef TDM_BASE_KIND_H
#define TDM_BASE_KIND_H

#include "base/str.h"

/* id, name in JSON and traces, description */
#define TDM_KIND_LIST(X)                                                       \
	X(DRAM, "dram", "device DRAM buffers")                                 \
	X(L1, "l1", "L1 buffers, growing down from the top of each core's L1") \
	X(L1_SMALL, "l1_small", "the small reserved region at the top of L1")  \
	X(TRACE, "trace", "trace buffers at the end of each DRAM bank")        \
	X(CB, "cb", "circular buffers, growing up from the base of L1")        \
	X(DFB, "dfb", "dataflow buffers")                                      \
	X(SCRATCHPAD, "scratchpad", "scratchpads of a program")                \
	X(KERNEL, "kernel", "kernel code")                                     \
	X(FIRMWARE, "firmware", "firmware")                                    \
	X(SYSTEM, "system", "host-pinned system memory")                       \
	X(CONFIG, "config", "launch messages and arguments")

enum tdm_kind {
#define X(id, name, summary) TDM_KIND_##id,
	TDM_KIND_LIST(X)
#undef X
		TDM_KIND_COUNT
};

/* Whether the kind's "banks" are the cores that hold the buffer, not the banks of a region. */
static inline bool tdm_kind_is_per_core(enum tdm_kind kind)
{
	return kind >= TDM_KIND_CB && kind != TDM_KIND_SYSTEM;
}

/* The kind's name in JSON and traces; "unknown" if out of range. */
const char *tdm_kind_name(enum tdm_kind kind);

/* Returns 0 and sets *kind, or returns TDM_ESYNTAX. Ignores case. */
int tdm_kind_parse(struct tdm_str name, enum tdm_kind *kind);

#endif
