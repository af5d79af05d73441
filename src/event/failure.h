/*
 * Messages about insufficient memory or wrong results, as a record: which sentence it was, and its figures. A figure
 * that the sentence does not have, or that does not fit 64 bits, is unknown.
 */
#ifndef TDM_EVENT_FAILURE_H
#define TDM_EVENT_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/kind.h"
#include "base/str.h"
#include "base/units.h"
#include "event/describe.h"

/* id, name in JSON, title for people */
#define TDM_FAILURE_LIST(X)                                                                     \
	X(OUT_OF_MEMORY, "out_of_memory", "out of memory")                                      \
	X(DEPENDENCIES, "out_of_memory_dependencies", "out of memory, dependencies considered") \
	X(BELOW_LIMIT, "below_limit", "allocation below the address limit")                     \
	X(BEYOND_L1, "beyond_l1", "static buffers beyond the end of L1")                        \
	X(CLASH, "clash", "static buffers clash with L1 buffers")                               \
	X(SERVICE_CLASH, "service_clash", "circular buffers clash with L1 of a service core")   \
	X(PROGRAM_SIZE, "program_size", "program too large for the kernel config buffer")       \
	X(TRACE_REGION, "trace_region", "trace larger than the trace region")                   \
	X(TRACE_OVERLAP, "trace_overlap", "trace buffer overlaps")                              \
	X(WORKER_L1, "worker_l1", "worker L1 size above its maximum")                           \
	X(SEGMENT, "segment", "kernel segment too large for its region")                        \
	X(CB_RESIZE, "cb_resize", "circular buffer larger than the L1 buffer under it")         \
	X(UNSAFE_TRACE, "unsafe_with_trace", "buffers allocated while a trace is active")       \
	X(L1_CAPACITY, "l1_capacity", "an operation needs more L1 than there is")               \
	X(STACK, "stack_overflow", "stack overflow in a kernel")                                \
	X(CB_OVERFLOW, "cb_overflow", "a transfer beyond the end of a circular buffer")         \
	X(L1_ACCESS, "l1_access", "an access beyond the end of L1")                             \
	X(MISMATCH, "mismatch", "wrong results")                                                \
	X(OTHER, "other", "about memory, in words that are not known")

enum tdm_failure_type {
#define X(id, name, title) TDM_FAILURE_##id,
	TDM_FAILURE_LIST(X)
#undef X
		TDM_FAILURE_COUNT
};

/*
 * The figures that a sentence may have: member, letter in the patterns of error_text.c, key in JSON. There is no other
 * list of them.
 */
#define TDM_FAILURE_FIGURE_LIST(X)                                                                \
	X(asked, 'a', "asked_bytes") /* in all banks; or the size of a program or trace */        \
	X(banks, 'b', "banks")                                                                    \
	X(bytes_per_bank, 'p', "bytes_per_bank") /* that each bank would have to hold */          \
	X(bank_size, 'z', "bank_size")           /* per bank, like the next three */              \
	X(allocated, 'u', "allocated")                                                            \
	X(free, 'f', "free")                                                                      \
	X(largest_free, 'l', "largest_free")                                                      \
	X(placeable, 'r', "placeable") /* free in this allocator and in all that it depends on */ \
	X(largest_placeable, 't', "largest_placeable")                                            \
	X(address, 's', "address")       /* of the lowest L1 buffer, or of the allocation */      \
	X(region_end, 'e', "region_end") /* where the static buffers end */                       \
	X(limit, 'm', "limit")           /* the size or address that must not be exceeded */      \
	X(excess, 'x', "excess_bytes")   /* above what fits, where only that is known */          \
	X(wrong, 'w', "wrong_values")    /* that a program compared with what it expected */      \
	X(program, 'g', "program")

#define X(member, letter, key) +1
enum { TDM_FAILURE_FIGURE_COUNT = TDM_FAILURE_FIGURE_LIST(X) };
#undef X

struct tdm_failure {
	uint8_t type;     /* enum tdm_failure_type */
	uint8_t kind;     /* enum tdm_kind: the memory that ran out; TDM_KIND_COUNT: unknown */
	uint8_t refused;  /* figures that did not fit 64 bits */
	bool is_dataflow; /* dataflow buffers, not circular ones */
	bool has_range;
	struct tdm_core_range range; /* the first one, when the sentence names several */
	uint32_t range_count;
	union { /* TDM_BYTES_UNKNOWN where the sentence does not say */
		uint64_t figures[TDM_FAILURE_FIGURE_COUNT];
		struct {
#define X(member, letter, key) uint64_t member;
			TDM_FAILURE_FIGURE_LIST(X)
#undef X
		};
	};
	uint64_t words; /* a hash of the text if its wording is unknown: it has no figures to tell it apart; else 0 */
	struct tdm_str name; /* a kind of core, a device or a file that the sentence names; may be empty */
	struct tdm_str text; /* the sentence; borrowed, like the name */
};

extern const char tdm_failure_letters[TDM_FAILURE_FIGURE_COUNT];
extern const char *const tdm_failure_keys[TDM_FAILURE_FIGURE_COUNT];

/* All figures unknown. */
void tdm_failure_init(struct tdm_failure *failure, enum tdm_failure_type type, struct tdm_str text);

const char *tdm_failure_name(enum tdm_failure_type type);
const char *tdm_failure_title(enum tdm_failure_type type);

/* Whether it is only a warning: nothing has failed yet. */
static inline bool tdm_failure_is_warning(const struct tdm_failure *failure)
{
	return failure->type == TDM_FAILURE_UNSAFE_TRACE;
}

/* The kind of memory that ran out, including static buffers; TDM_KIND_COUNT: the sentence is about something else. */
enum tdm_kind tdm_failure_memory(const struct tdm_failure *failure);

/* Whether two records have the same figures and name; their texts may differ. */
bool tdm_failure_is_same(const struct tdm_failure *a, const struct tdm_failure *b);

#endif
