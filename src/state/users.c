#include "state/users.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>

static void look_up(uint32_t uid, char name[TDM_PICTURE_NAME_CAP])
{
	char room[4096];
	struct passwd entry, *found = NULL;
	if (getpwuid_r((uid_t)uid, &entry, room, sizeof room, &found) != 0 || found == NULL ||
		found->pw_name[0] == '\0')
		snprintf(name, TDM_PICTURE_NAME_CAP, "%" PRIu32, uid);
	else
		snprintf(name, TDM_PICTURE_NAME_CAP, "%s", found->pw_name);
	for (char *c = name; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

const char *tdm_users_name(struct tdm_users *users, uint32_t uid)
{
	if (uid == UINT32_MAX)
		return "?";
	for (size_t i = 0; i < users->count; i++)
		if (users->uids[i] == uid)
			return users->names[i];
	size_t at = users->next;
	users->next = (users->next + 1) % TDM_USERS_KEPT;
	if (users->count < TDM_USERS_KEPT)
		users->count++;
	users->uids[at] = uid;
	look_up(uid, users->names[at]);
	return users->names[at];
}
