/* The chips of one device, as tt-metal's shared memory counts them. */
#ifndef TDM_REPORT_CHIPS_H
#define TDM_REPORT_CHIPS_H

#include "report/table.h"
#include "state/picture.h"

/* A line for each: "chip 1 R (remote): dram 2 GiB, l1 10 MiB", after `indent`; nothing when they tell no more than the
 * device does. */
void tdm_chips_put(struct tdm_buf *out, const char *indent, const struct tdm_picture_device *device);

/* All of them, as the value of a column whose row is the device. */
void tdm_chips_json(const struct tdm_field *field, struct tdm_json *json);

#endif
