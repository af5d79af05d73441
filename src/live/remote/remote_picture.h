/*
 * Reads a picture of another machine: the JSON that view/rows/picture_json.c writes. It comes over a network, so
 * everything in it is checked before use; the limits of picture_shape.h apply.
 */
#ifndef TDM_LIVE_REMOTE_PICTURE_H
#define TDM_LIVE_REMOTE_PICTURE_H

#include "base/diag.h"
#include "live/join/picture.h"

enum { TDM_REMOTE_HOST_CAP = 65 };

struct tdm_remote_picture {
	char schema[32];
	uint32_t version;
	char host[TDM_REMOTE_HOST_CAP]; /* the machine's own name for itself; empty if unknown */
	struct tdm_picture picture;     /* with checked indices and sums; without events and modules */
};

/*
 * Texts, stacks and core ranges are stored in `texts`, which the picture borrows. 0, or a negative code with diag set
 * and nothing to release. Unknown keys are skipped. The part of `used` that listed processes do not hold becomes
 * unattributed, because a machine may hide processes.
 */
int tdm_remote_picture_read(
	struct tdm_str json, struct tdm_intern *texts, struct tdm_remote_picture *remote, struct tdm_diag *diag);
void tdm_remote_picture_done(struct tdm_remote_picture *remote);

#endif
