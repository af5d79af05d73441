/* The processes that have cards open: the driver's lists of pids, and what /proc says about them. */
#ifndef TDM_SOURCES_HOST_OPENS_H
#define TDM_SOURCES_HOST_OPENS_H

#include "sources/host.h"

/* Fills `opens` and `processes` for the cards of the host. 0 or -ENOMEM; if a list cannot be read, its card's
 * `opens_err` says why. */
int tdm_host_opens_read(struct tdm_host *host, const struct tdm_proc_root *root);

#endif
