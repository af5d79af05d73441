/* One device, drawn with as much detail as there is room for. */
#ifndef TDM_TUI_DEVICE_BLOCK_H
#define TDM_TUI_DEVICE_BLOCK_H

#include "tui/app.h"

/* "DRAM", "L1_SMALL", "CB"; for rare kinds, the name in JSON. */
const char *tdm_device_kind_title(enum tdm_kind kind);

/* Number, card, node, PCI address and chip id, as far as they fit. */
void tdm_device_identity(struct tdm_pen *pen, const struct tdm_picture_device *device);

/* The total for the share of a kind. Circular buffers are in the same memory as L1 buffers. */
uint64_t tdm_device_share_total(const struct tdm_picture_device *device, enum tdm_kind kind);

/* The kinds that a device has, at most `most` of them, the most important ones: bit n is kind n. */
unsigned tdm_device_kinds(const struct tdm_picture_device *device, int most);

/* One kind: bar, share, amounts, source. */
void tdm_device_kind(struct tdm_pen *pen, const struct tdm_picture_device *device, enum tdm_kind kind);

/* Why the figures of the kind are unknown, or another remark; may be empty. Returns dst. */
char *tdm_device_note(const struct tdm_picture_device *device, enum tdm_kind kind, char *dst, size_t cap);

void tdm_device_block(struct tdm_app *app, struct tdm_area area, const struct tdm_picture_device *device,
	const struct tdm_layout *layout, enum tdm_ink mark);

/* Adds to the last line how old the marked figures of a device are, if they are old. */
void tdm_device_note_age(struct tdm_app *app, const struct tdm_picture_device *device);

#endif
