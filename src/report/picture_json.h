/* A whole picture as JSON, for another machine: state/remote_picture.h reads it. docs/formats/json.md describes it. */
#ifndef TDM_REPORT_PICTURE_JSON_H
#define TDM_REPORT_PICTURE_JSON_H

#include "base/buf.h"
#include "state/picture.h"

struct tdm_picture_json {
	const struct tdm_picture *picture;
	bool with_processes; /* else only the figures of devices, and no places of problems */
	bool only_user;      /* only the processes of the user `uid`, and no problems */
	uint32_t uid;
	bool with_buffers; /* those that are in the picture, with their texts, stacks and core ranges */
	/* Frames are written as functions and lines. Another machine cannot look them up. */
	bool with_functions;
};

/* Appends the whole document, envelope included, on one line. */
void tdm_picture_json(const struct tdm_picture_json *options, struct tdm_buf *out);

#endif
