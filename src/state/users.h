/* Names of users, looked up once each. */
#ifndef TDM_STATE_USERS_H
#define TDM_STATE_USERS_H

#include <stddef.h>
#include <stdint.h>

#include "state/picture.h"

enum { TDM_USERS_KEPT = 32 };

/* All zero to begin; nothing to release. */
struct tdm_users {
	size_t count, next;
	uint32_t uids[TDM_USERS_KEPT];
	char names[TDM_USERS_KEPT][TDM_PICTURE_NAME_CAP];
};

/* The user's name, printable; the number when it has none; "?" for UINT32_MAX. Borrowed until the next call. */
const char *tdm_users_name(struct tdm_users *users, uint32_t uid);

#endif
