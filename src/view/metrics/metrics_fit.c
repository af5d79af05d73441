#include "view/metrics/metrics_fit.h"
#include "base/memory.h"
#include "live/host/proc_facts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN_MAX = 128 }; /* devices to write, besides the driver's; their users share them */

/* Decides whose device each is: of the users who hold memory there and the one who showed it, the one who has least.
 * The driver's devices are nobody's, and never left out. */
static size_t find_owners(const struct tdm_picture *picture, struct tdm_fair *fair, struct tdm_fair_entry *entries)
{
	size_t count = 0;
	for (size_t i = 0; i < picture->device_count; i++)
		if (picture->devices[i].shown_by != TDM_UID_UNKNOWN)
			tdm_fair_of(fair, picture->devices[i].shown_by)->wants++;
	for (size_t i = 0; i < picture->holding_count; i++)
		tdm_fair_of(fair, picture->processes[picture->holdings[i].process].uid)->wants++;
	uint32_t *owners = tdm_alloc(picture->device_count * sizeof *owners);
	for (size_t i = 0; i < picture->device_count; i++)
		owners[i] = picture->devices[i].shown_by;
	for (size_t i = 0; i < picture->holding_count; i++) {
		uint32_t *owner = &owners[picture->holdings[i].device];
		uint32_t uid = picture->processes[picture->holdings[i].process].uid;
		uint64_t wants = tdm_fair_of(fair, uid)->wants;
		if (*owner != TDM_UID_UNKNOWN && wants < tdm_fair_of(fair, *owner)->wants)
			*owner = uid;
	}
	for (size_t i = 0; i < picture->device_count; i++)
		if (owners[i] != TDM_UID_UNKNOWN)
			entries[count++] = (struct tdm_fair_entry){
				.uid = owners[i], .index = (uint32_t)i, .age = picture->devices[i].place
			};
	free(owners);
	return count;
}

const struct tdm_picture *tdm_metrics_fit(
	const struct tdm_picture *picture, struct tdm_fair *unwritten, struct tdm_picture *less)
{
	tdm_fair_clear(unwritten);
	*less = (struct tdm_picture){ 0 };
	if (picture->device_count <= SHOWN_MAX)
		return picture;
	struct tdm_fair_entry *entries = tdm_alloc(picture->device_count * sizeof *entries);
	uint32_t *now = tdm_zalloc(picture->device_count, sizeof *now); /* new indices */
	size_t count = find_owners(picture, unwritten, entries);
	*less = *picture;
	less->device_count = less->holding_count = 0;
	tdm_fair_choose(unwritten, entries, count, SHOWN_MAX, geteuid());
	for (size_t i = 0; i < count; i++)
		if (entries[i].is_out)
			now[entries[i].index] = TDM_INDEX_NONE;
	less->devices = tdm_alloc(picture->device_count * sizeof *less->devices);
	less->holdings = tdm_alloc(picture->holding_count * sizeof *less->holdings);
	for (size_t i = 0; i < picture->device_count; i++)
		if (now[i] != TDM_INDEX_NONE) {
			now[i] = (uint32_t)less->device_count;
			less->devices[less->device_count++] = picture->devices[i];
		}
	for (size_t i = 0; i < picture->holding_count; i++)
		if (now[picture->holdings[i].device] != TDM_INDEX_NONE) {
			less->holdings[less->holding_count] = picture->holdings[i];
			less->holdings[less->holding_count++].device = now[picture->holdings[i].device];
		}
	free(entries);
	free(now);
	return less;
}

bool tdm_metrics_left_get(
	const struct tdm_picture *picture, const struct tdm_fair *unwritten, size_t i, struct tdm_metrics_left *left)
{
	static const char *const tables[] = { [TDM_TABLE_LEDGERS] = "ledgers",
		[TDM_TABLE_REGIONS] = "regions",
		[TDM_TABLE_DEVICES] = "devices",
		[TDM_TABLE_LATE] = "unread_ledgers" };
	if (i < picture->left_count) {
		const struct tdm_picture_left *of = &picture->left[i];
		*left = (struct tdm_metrics_left){ .table = tables[of->table], .uid = of->uid, .count = of->count };
		memcpy(left->user, of->user, sizeof left->user);
		return true;
	}
	if (i - picture->left_count >= unwritten->count)
		return false;
	const struct tdm_fair_user *user = &unwritten->users[i - picture->left_count];
	*left = (struct tdm_metrics_left){ .table = "metrics", .uid = user->uid, .count = user->left };
	tdm_user_name(user->uid, left->user, sizeof left->user);
	return true;
}
