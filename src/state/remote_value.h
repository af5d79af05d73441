/* One plain value of a remote picture: from JSON into its member. Part of remote_picture.c. */
#ifndef TDM_STATE_REMOTE_VALUE_H
#define TDM_STATE_REMOTE_VALUE_H

#include "sources/json_walk.h"
#include "state/picture_shape.h"

/* UINT64_MAX for null; false if it is no number, or above `most`. */
bool tdm_remote_u64(const struct tdm_json_token *token, uint64_t most, uint64_t *value);

/* The index of a name; 0 for null; -1: there is no such name. */
int tdm_remote_name(const struct tdm_shape_field *field, const struct tdm_json_token *token);

/* False: the member cannot have this value. */
bool tdm_remote_value(const struct tdm_shape_field *field, const struct tdm_json_token *token, char *at);

#endif
