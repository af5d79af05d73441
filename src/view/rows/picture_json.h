/* A whole picture as JSON, for another machine: live/remote/remote_picture.h reads it. docs/formats/json.md describes
 * it. */
#ifndef TDM_VIEW_PICTURE_JSON_H
#define TDM_VIEW_PICTURE_JSON_H

#include "base/buf.h"
#include "live/join/picture.h"

struct tdm_picture_json {
	const struct tdm_picture *picture;
	bool with_processes; /* false: only device figures, and problems without paths */
	bool only_user;      /* only the processes of user `uid`, and no problems */
	uint32_t uid;
	bool with_buffers; /* include the buffers in the picture, with their strings, stacks and core ranges */
	/* Write frames as functions and lines, because another machine cannot look them up. */
	bool with_functions;
};

/* Appends the whole document, including the envelope, on one line. */
void tdm_picture_json(const struct tdm_picture_json *options, struct tdm_buf *out);

#endif
