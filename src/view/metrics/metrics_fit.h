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

/* What a user misses in one table. */
struct tdm_metrics_left {
	const char *table;
	uint32_t uid;
	char user[TDM_PICTURE_NAME_CAP];
	uint64_t count; /* may be 0 */
};

/* The i-th such line: first those of the picture, then those of `unwritten`. False if there are no more. */
bool tdm_metrics_left_get(
	const struct tdm_picture *picture, const struct tdm_fair *unwritten, size_t i, struct tdm_metrics_left *left);

#endif
