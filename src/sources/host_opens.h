/* The processes that have cards open: the driver's lists of pids, and what /proc knows of them. */
#ifndef TDM_SOURCES_HOST_OPENS_H
#define TDM_SOURCES_HOST_OPENS_H

#include "sources/host.h"

/* Fills `opens` and `processes` for the cards that the host has. 0 or -ENOMEM; a list that cannot be read is its
 * card's `opens_err`. */
int tdm_host_opens_read(struct tdm_host *host, const struct tdm_proc_root *root);

#endif
