/*
 * Shares a table of limited size between users, so that nobody's entries are lost because somebody else has very many.
 * If there are too many entries, the newest entries of the user who has most give way. Root and the reader's own user
 * keep an eighth of the table each.
 */
#ifndef TDM_LEDGER_FAIR_H
#define TDM_LEDGER_FAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

enum { TDM_FAIR_PART = 8 }; /* root and the reader's own user keep 1/TDM_FAIR_PART each */

struct tdm_fair_user {
	uint32_t uid;
	uint64_t wants; /* number of entries that the user has */
	uint64_t may;   /* number of entries for which there is room */
	uint64_t left;  /* number of entries left out so far */
};

/* The users of a table. Starts as all zero. */
struct tdm_fair {
	struct tdm_fair_user *users;
	size_t count, cap;
	struct tdm_map by_uid;
};

void tdm_fair_done(struct tdm_fair *fair);
void tdm_fair_clear(struct tdm_fair *fair); /* forgets all users */

/* The user, added if new. Borrowed until the next call. */
struct tdm_fair_user *tdm_fair_of(struct tdm_fair *fair, uint32_t uid);

/* Sets `may` of every user. `self`: the reader's own user. */
void tdm_fair_share(struct tdm_fair *fair, uint64_t room, uint32_t self);

/* The number of entries left out, of all users. */
uint64_t tdm_fair_left(const struct tdm_fair *fair);

struct tdm_fair_entry {
	uint32_t uid;
	uint32_t index; /* the caller's */
	uint64_t age;   /* higher for newer entries */
	bool is_out;    /* result */
};

/* Decides which entries give way, and adds them to `left` of their users. Sorts the entries by user and age. */
void tdm_fair_choose(struct tdm_fair *fair, struct tdm_fair_entry *entries, size_t count, uint64_t room, uint32_t self);

#endif
