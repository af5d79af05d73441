/* How many devices the metrics show, and what is missing because a table is full. */
#ifndef TDM_VIEW_METRICS_FIT_H
#define TDM_VIEW_METRICS_FIT_H

#include "ledger/read/fair.h"
#include "view/metrics/metrics.h"

/*
 * The picture, without the devices for which there is no room; `unwritten` says whose they are. Stores a copy in `less`
 * if any device is left out; the caller frees its `devices` and `holdings` in every case.
 */
const struct tdm_picture *tdm_metrics_fit(
	const struct tdm_picture *picture, struct tdm_fair *unwritten, struct tdm_picture *less);

/* Writes what is missing, by table and user. A reader who may not see every process sees only his own lines. */
void tdm_metrics_write_left(
	struct tdm_metrics_text *text, const struct tdm_metrics_view *view, const struct tdm_fair *unwritten);

#endif
