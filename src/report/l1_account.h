/* What uses the L1 of a device: allocator buffers, circular buffers, kernels, firmware, the rest. Figures that a source
 * counts are measured; those from the card's tables alone are marked as inferred. */
#ifndef TDM_REPORT_L1_ACCOUNT_H
#define TDM_REPORT_L1_ACCOUNT_H

#include "state/picture.h"

/* id, name in JSON, name in text */
#define TDM_L1_ITEM_LIST(X)                              \
	X(BUFFERS, "buffers", "allocator buffers")       \
	X(CBS, "circular_buffers", "circular buffers")   \
	X(KERNELS, "kernels", "kernels")                 \
	X(CONFIG, "kernel_config", "kernel-config ring") \
	X(FIRMWARE, "firmware", "firmware")              \
	X(REST, "rest", "free or not counted")

enum tdm_l1_item {
#define X(id, name, title) TDM_L1_ITEM_##id,
	TDM_L1_ITEM_LIST(X)
#undef X
		TDM_L1_ITEM_COUNT
};

struct tdm_l1_amount {
	const char *name, *title; /* in JSON, in text */
	uint64_t bytes;           /* over all cores; TDM_BYTES_UNKNOWN */
	bool is_inferred;         /* from the card's tables; no source counts it */
	const char *text;         /* its source, or why it is unknown */
};

struct tdm_l1_account {
	uint64_t core_bytes, cores; /* may be unknown, like the next */
	uint64_t total;             /* core_bytes times the cores of the compute grid */
	struct tdm_l1_amount items[TDM_L1_ITEM_COUNT];
};

/* Kernels are in the kernel-config ring: the kernel bytes that a source counts are subtracted from the ring, so that
 * the items add up to the total if the rest is known. */
void tdm_l1_account(struct tdm_l1_account *account, const struct tdm_picture_device *device);

#endif
