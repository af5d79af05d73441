/*
 * How fast a Tensix core moves and computes tiles: constants per architecture, each with its source, for the
 * circular-buffer model. Every constant can be overridden. Unpublished constants have defaults marked as assumed.
 *
 * A transfer of one page over the network takes issue + bytes / bandwidth + flight cycles to arrive. That sum equals
 * fixed + bytes x per_kib / 1024. Several transfers in a row are limited by bandwidth or by issue, whichever is slower.
 */
#ifndef TDM_ANALYZE_CORE_SPEED_H
#define TDM_ANALYZE_CORE_SPEED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/str.h"
#include "model/card/card.h"

/* id, name, unit, description */
#define TDM_SPEED_LIST(X)                                                                                           \
	X(CLOCK, "clock", "MHz", "clock of the Tensix cores")                                                       \
	X(DRAM_READ_FIXED, "dram_read_fixed", "cycles", "one read from DRAM with its barrier, without its bytes")   \
	X(DRAM_READ_PER_KIB, "dram_read_per_kib", "cycles", "what each KiB adds to one read from DRAM")             \
	X(DRAM_READ_BANDWIDTH, "dram_read_bandwidth", "B/cycle", "reads from DRAM in a row, one core")              \
	X(DRAM_READ_ISSUE, "dram_read_issue", "cycles", "starting one read from DRAM")                              \
	X(DRAM_WRITE_FIXED, "dram_write_fixed", "cycles", "one write to DRAM with its barrier, without its bytes")  \
	X(DRAM_WRITE_PER_KIB, "dram_write_per_kib", "cycles", "what each KiB adds to one write to DRAM")            \
	X(DRAM_WRITE_BANDWIDTH, "dram_write_bandwidth", "B/cycle", "writes to DRAM in a row, one core")             \
	X(DRAM_WRITE_ISSUE, "dram_write_issue", "cycles", "starting one write to DRAM")                             \
	X(L1_READ_FIXED, "l1_read_fixed", "cycles", "one read from another core's L1, without its bytes")           \
	X(L1_READ_PER_KIB, "l1_read_per_kib", "cycles", "what each KiB adds to one read from L1")                   \
	X(L1_READ_BANDWIDTH, "l1_read_bandwidth", "B/cycle", "reads from another core's L1 in a row")               \
	X(L1_READ_ISSUE, "l1_read_issue", "cycles", "starting one read from L1")                                    \
	X(L1_WRITE_FIXED, "l1_write_fixed", "cycles", "one write to another core's L1, without its bytes")          \
	X(L1_WRITE_PER_KIB, "l1_write_per_kib", "cycles", "what each KiB adds to one write to L1")                  \
	X(L1_WRITE_BANDWIDTH, "l1_write_bandwidth", "B/cycle", "writes to another core's L1 in a row")              \
	X(L1_WRITE_ISSUE, "l1_write_issue", "cycles", "starting one write to L1")                                   \
	X(COPY_BANDWIDTH, "copy_bandwidth", "B/cycle", "writes to DRAM in a row while the same core also reads it") \
	X(DRAM_TOTAL, "dram_total", "GB/s", "reads and writes of all cores together")                               \
	X(FLUSH, "flush", "cycles", "from the last byte leaving L1 to a flush returning")                           \
	X(CALL, "call", "cycles", "a call of a circular buffer that need not wait")                                 \
	X(SYNC, "sync", "cycles", "from a push or pop until the other kernel sees it")                              \
	X(UNPACK_BANDWIDTH, "unpack_bandwidth", "B/cycle", "unpacking tiles")                                       \
	X(PACK_BANDWIDTH, "pack_bandwidth", "B/cycle", "packing tiles")                                             \
	X(PACK_FIXED, "pack_fixed", "cycles", "what each tile adds to packing its bytes")                           \
	X(MATH_ROUND, "math_round", "cycles", "what each round of a compute kernel takes besides its operations")   \
	X(FPU_ADD, "fpu_add", "cycles", "add or subtract two tiles")                                                \
	X(FPU_MUL, "fpu_mul", "cycles", "multiply two tiles, in each fidelity phase")                               \
	X(MATMUL, "matmul", "cycles", "multiply two tiles as matrices, in each fidelity phase")                     \
	X(REDUCE, "reduce", "cycles", "reduce a tile, in each fidelity phase")                                      \
	X(SFPU, "sfpu", "cycles", "a vector instruction for a tile")

enum tdm_speed_field {
#define X(id, name, unit, summary) TDM_SPEED_##id,
	TDM_SPEED_LIST(X)
#undef X
		TDM_SPEED_COUNT
};

/* How a constant was obtained. */
enum tdm_speed_tag {
	TDM_SPEED_MEASURED,
	TDM_SPEED_DOCUMENTED,
	TDM_SPEED_DERIVED, /* computed from measured or documented figures */
	TDM_SPEED_FITTED,  /* chosen to make the model agree with measurements */
	TDM_SPEED_ASSUMED, /* unpublished, so assumed */
	TDM_SPEED_GIVEN,   /* given by the user */
};

struct tdm_core_speed {
	enum tdm_arch arch;
	double value[TDM_SPEED_COUNT];
	const char *source[TDM_SPEED_COUNT]; /* source of each constant, a static string */
	uint8_t tag[TDM_SPEED_COUNT];        /* enum tdm_speed_tag */
};

void tdm_core_speed_init(struct tdm_core_speed *speed, enum tdm_arch arch);

/* Applies an assignment "call=20". 0, or TDM_EFIELD, TDM_ESYNTAX or -ERANGE with the column in diag and nothing
 * changed. */
int tdm_core_speed_set(struct tdm_core_speed *speed, struct tdm_str assignment, struct tdm_diag *diag);

extern const struct tdm_speed_info {
	const char *name, *unit, *summary;
} tdm_speed_info[TDM_SPEED_COUNT];
extern const char *const tdm_speed_tag_names[]; /* such as "measured" */

#endif
