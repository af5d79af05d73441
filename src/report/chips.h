/* The chips behind one device, as tt-metal's shared memory counts them. */
#ifndef TDM_REPORT_CHIPS_H
#define TDM_REPORT_CHIPS_H

#include "base/buf.h"
#include "registry/overview.h"

/* Whether the chips tell more than the device does: there are several, or its only one is remote. */
bool tdm_chips_are_several(const struct tdm_overview_device *device);

/* A line: "chip 1 R (remote): dram 2 GiB, l1 10 MiB", behind `indent`. */
void tdm_chip_put(struct tdm_buf *out, const char *indent, const struct tdm_overview_chip *chip);

#endif
