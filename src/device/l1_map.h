/*
 * A map of one core's L1: firmware at the bottom, the kernel-config ring, circular buffers growing up, the gap, L1
 * buffers growing down, L1_SMALL at the top. Also the test that the runtime makes when it compiles a program: circular
 * buffers must not reach into L1 buffers.
 */
#ifndef TDM_DEVICE_L1_MAP_H
#define TDM_DEVICE_L1_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "device/card.h"

/* The buffers in one core's L1 at one moment. */
struct tdm_l1_use {
	uint64_t cb_end;    /* end address of the circular buffers; 0: none */
	uint64_t l1_lowest; /* lowest address of an L1 buffer; 0: none */
};

enum tdm_l1_zone {
	TDM_L1_FIRMWARE,
	TDM_L1_KERNEL_CONFIG,
	TDM_L1_CBS,
	TDM_L1_GAP,
	TDM_L1_BUFFERS,
	TDM_L1_SMALL_REGION,
	TDM_L1_ZONE_COUNT
};

struct tdm_l1_span {
	enum tdm_l1_zone zone;
	uint64_t address, size;
};

struct tdm_l1_map {
	struct tdm_l1_span span[TDM_L1_ZONE_COUNT]; /* in address order; empty ones have size 0 */
	uint64_t l1_size;
};

const char *tdm_l1_zone_name(enum tdm_l1_zone zone);

/*
 * 0, TDM_EUNKNOWN with the missing field in diag, or TDM_EREFUSED when the card's regions do not fit. Circular buffers
 * that reach into L1 buffers are shown as ending there. A NULL use is an empty L1.
 */
int tdm_l1_map(
	const struct tdm_card *card, const struct tdm_l1_use *use, struct tdm_l1_map *map, struct tdm_diag *diag);

enum tdm_l1_clash {
	TDM_L1_FITS,
	TDM_L1_BEYOND, /* the circular buffers grow beyond the end of L1 */
	TDM_L1_CLASH,  /* they reach into an L1 buffer */
};

struct tdm_l1_verdict {
	enum tdm_l1_clash clash;
	uint64_t cb_end;   /* end of the circular-buffer region */
	uint64_t obstacle; /* address of the lowest L1 buffer, or the size of L1 */
	uint64_t over;     /* bytes in excess; 0 when it fits */
	uint64_t left;     /* bytes still free between the two; 0 when it does not fit */
};

/*
 * Places `count` circular buffers of the given sizes one after another from the card's L1 base, each start aligned to
 * the DRAM alignment, and makes the runtime's test against the lowest L1 buffer (0: none). No circular buffers always
 * fit. 0, -ERANGE, TDM_EUNKNOWN, or TDM_EREFUSED when the card's regions do not fit.
 */
int tdm_l1_clash_test(const struct tdm_card *card, const uint64_t *cb_sizes, size_t count, uint64_t l1_lowest,
	struct tdm_l1_verdict *verdict, struct tdm_diag *diag);

/* Appends the runtime's message for a verdict that does not fit; nothing for one that fits. */
void tdm_l1_clash_message(
	const struct tdm_l1_verdict *verdict, uint64_t program, const char *core_range, struct tdm_buf *out);

#endif
