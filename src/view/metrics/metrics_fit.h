/* Which devices the metrics show, if there are too many. */
#ifndef TDM_VIEW_METRICS_FIT_H
#define TDM_VIEW_METRICS_FIT_H

#include "ledger/read/fair.h"
#include "live/join/picture.h"

/*
 * The picture, without the devices for which there is no room; `unwritten` says whose they are. Stores a copy in `less`
 * if any device is left out; the caller frees its `devices` and `holdings` in every case.
 */
const struct tdm_picture *tdm_metrics_fit(
	const struct tdm_picture *picture, struct tdm_fair *unwritten, struct tdm_picture *less);

#endif
