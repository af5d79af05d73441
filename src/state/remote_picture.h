/*
 * Reads a picture of another machine: the JSON that report/picture_json.c writes. It comes over a network, so nothing
 * in it is believed before it was checked; the limits of picture_shape.h hold.
 */
#ifndef TDM_STATE_REMOTE_PICTURE_H
#define TDM_STATE_REMOTE_PICTURE_H

#include "base/diag.h"
#include "state/picture.h"

enum { TDM_REMOTE_HOST_CAP = 65 };

struct tdm_remote_picture {
	char schema[32];
	uint32_t version;
	char host[TDM_REMOTE_HOST_CAP]; /* as the machine calls itself; empty: unknown */
	struct tdm_picture picture;     /* valid (tdm_picture_is_valid), without events and modules */
};

/*
 * Texts, stacks and core ranges are kept in `texts`, which the picture borrows. 0, or a negative code with diag set and
 * nothing to release. Unknown keys are skipped. What the listed processes do not hold of `used` is unattributed, since
 * a machine may hide its processes.
 */
int tdm_remote_picture_read(
	struct tdm_str json, struct tdm_intern *texts, struct tdm_remote_picture *remote, struct tdm_diag *diag);
void tdm_remote_picture_done(struct tdm_remote_picture *remote);

/* Part of reading: checks a picture as a whole, and fills in what follows from the rest. 0, or a negative code with
 * diag set. */
int tdm_remote_check(struct tdm_picture *picture, struct tdm_diag *diag);

#endif
