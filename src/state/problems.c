/* Lists what could not be read, afresh for every picture: a problem disappears as soon as it is solved. */
#include "state/state_parts.h"
#include "base/duration.h"
#include "base/err.h"
#include "base/reserve.h"
#include "ledger/ledger_list.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

struct list {
	struct tdm_state *state;
	uint64_t cut; /* problems beyond the limit */
	int err;
};

/* Room for one more problem; NULL at the limit, or when out of memory. */
static struct tdm_picture_problem *add(struct list *list, enum tdm_from from, int err)
{
	struct tdm_picture *picture = &list->state->picture;
	size_t most = list->state->options.only_ledgers ? TDM_FOLLOWED_MAX : TDM_STATE_PROBLEMS_MAX;
	if (picture->problem_count >= most - 1) { /* the last one says how many more */
		list->cut++;
		return NULL;
	}
	if (tdm_reserve(&picture->problems, &list->state->problem_cap, picture->problem_count + 2,
		    sizeof *picture->problems) != 0) {
		list->err = -ENOMEM;
		return NULL;
	}
	struct tdm_picture_problem *problem = &picture->problems[picture->problem_count++];
	*problem = (struct tdm_picture_problem){ .from = (uint8_t)from, .err = err };
	return problem;
}

/* The problem that was added, or NULL. */
__attribute__((format(printf, 5, 6))) static struct tdm_picture_problem *note(
	struct list *list, enum tdm_from from, int err, const char *place, const char *format, ...)
{
	struct tdm_picture_problem *problem = add(list, from, err);
	va_list args;
	if (problem == NULL)
		return NULL;
	tdm_str_shown(tdm_str_of(place), problem->place, sizeof problem->place);
	va_start(args, format);
	vsnprintf(problem->text, sizeof problem->text, format, args);
	va_end(args);
	return problem;
}

/* The figures of a client whose daemon has ended. */
static void note_age(struct list *list, const struct tdm_followed *item)
{
	char age[TDM_DURATION_CAP];
	uint64_t now_ns = list->state->picture.time_ns, then_ns = item->who.as_of_ns;
	tdm_format_duration(age, sizeof age, now_ns > then_ns ? now_ns - then_ns : 0);
	note(list, TDM_FROM_LEDGER, 0, item->path,
		"no daemon writes the figures of process %" PRId32 " any more: they are %s old", item->who.pid, age);
}

static void note_ledgers(struct list *list)
{
	const struct tdm_follower *follower = list->state->follower;
	const char *dir = tdm_state_ledger_dir(list->state);
	int err = tdm_follower_err(follower);
	if (err != 0)
		note(list, TDM_FROM_LEDGER, err, dir, "the ledgers cannot be listed: %s", tdm_err_text(err));
	if (tdm_follower_cut(follower) != 0)
		note(list, TDM_FROM_LEDGER, -EOVERFLOW, dir, "%" PRIu64 " ledgers more than can be watched",
			tdm_follower_cut(follower));
	for (size_t i = 0; i < tdm_follower_count(follower); i++) {
		const struct tdm_followed *item = tdm_follower_get(follower, i);
		bool runs = item->is_known && item->who.life != TDM_LIFE_ENDED;
		/* A caller with only_ledgers may look only once, so it is told about unfinished ledgers too. */
		bool is_new = item->err == -EAGAIN && item->text[0] == '\0' && list->state->options.only_ledgers;
		const char *text = is_new ? "its writer has not finished setting it up" : item->text;
		if (item->err != 0 && text[0] != '\0') {
			struct tdm_picture_problem *problem =
				note(list, TDM_FROM_LEDGER, item->err, item->path, "%s", text);
			if (problem != NULL) {
				problem->is_unread = true;
				problem->path = item->path;
			}
		} else if (item->err == 0 && item->who.refused != 0)
			note(list, TDM_FROM_LEDGER, TDM_ECORRUPT, item->path,
				"damaged: %" PRIu64 " of its records cannot be believed", item->who.refused);
		if (item->err == 0 && runs && item->who.is_claimed)
			note(list, TDM_FROM_LEDGER, 0, item->path, "process %" PRId32 " is only claimed: %s",
				item->who.pid, tdm_picture_claim(&item->who));
		if (item->err == 0 && runs && item->who.as_of_ns != 0)
			note_age(list, item);
		if (item->err == 0 && runs && item->who.lost != 0)
			note(list, TDM_FROM_LEDGER, 0, item->path,
				"process %" PRId32 " lost %" PRIu64 " events: its figures may be wrong", item->who.pid,
				item->who.lost);
	}
}

static void note_doubts(struct list *list, const struct tdm_metal_region *region, const char *place)
{
	struct tdm_picture_problem *problem = add(list, TDM_FROM_METAL_SHM, TDM_ECORRUPT);
	size_t at = 0;
	if (problem == NULL)
		return;
	tdm_str_shown(tdm_str_of(place), problem->place, sizeof problem->place);
	for (int i = 0; i < TDM_METAL_DOUBT_COUNT && at < sizeof problem->text; i++)
		if (tdm_metal_doubts(region, (enum tdm_metal_doubt)i))
			at += (size_t)snprintf(problem->text + at, sizeof problem->text - at, "%s%s",
				at != 0 ? "; " : "", tdm_metal_doubt_text((enum tdm_metal_doubt)i));
}

static void note_regions(struct list *list)
{
	const struct tdm_metal_list *regions = &list->state->metal.now;
	const char *dir = tdm_metal_path(list->state->metal.dir);
	char place[TDM_PICTURE_TEXT_CAP];
	if (regions->err != 0)
		note(list, TDM_FROM_METAL_SHM, regions->err, dir, "tt-metal's shared memory cannot be listed: %s",
			tdm_err_text(regions->err));
	if (regions->cut != 0)
		note(list, TDM_FROM_METAL_SHM, -EOVERFLOW, dir, "%" PRIu64 " regions more than can be read",
			regions->cut);
	for (size_t i = 0; i < regions->count; i++) {
		const struct tdm_metal_region *region = &regions->regions[i];
		if (region->status == TDM_METAL_VANISHED || (region->status == TDM_METAL_OK && region->doubts == 0))
			continue;
		if (snprintf(place, sizeof place, "%s/%s", dir, region->name) >= (int)sizeof place)
			snprintf(place, sizeof place, "%.*s", TDM_PICTURE_TEXT_CAP - 1, region->name);
		if (region->status != TDM_METAL_OK)
			note(list, TDM_FROM_METAL_SHM, region->err != 0 ? region->err : TDM_ECORRUPT, place, "%s",
				region->text);
		else
			note_doubts(list, region, place);
	}
}

static void note_card(struct list *list, const struct tdm_host_card *card)
{
	const struct tdm_state_options *options = &list->state->options;
	char place[PATH_MAX];
	snprintf(place, sizeof place, "%s/class/tenstorrent/tenstorrent!%" PRIu32, tdm_host_sysfs_path(options->sysfs),
		card->number);
	if (card->err != 0)
		note(list, TDM_FROM_DRIVER, card->err, place, "the card's files cannot be read: %s",
			tdm_err_text(card->err));
	snprintf(place, sizeof place, "%s/driver/tenstorrent/%" PRIu32 "/pids", tdm_proc_path(options->proc),
		card->number);
	if (card->opens_err != 0)
		note(list, TDM_FROM_DRIVER, card->opens_err, place,
			"which processes have the card open is not known: %s", tdm_err_text(card->opens_err));
	if (card->hidden_opens != 0)
		note(list, TDM_FROM_DRIVER, 0, place,
			"the card is opened %" PRIu64 " times by processes outside of this pid namespace",
			card->hidden_opens);
	if (card->refused_lines != 0 || card->cut_opens != 0)
		note(list, TDM_FROM_DRIVER, TDM_ECORRUPT, place, "%" PRIu64 " lines cannot be used",
			card->refused_lines + card->cut_opens);
}

static void note_driver(struct list *list)
{
	const struct tdm_state *state = list->state;
	const char *sysfs = tdm_host_sysfs_path(state->options.sysfs);
	if (state->host.err != 0 && state->host.err != -ENOENT) /* no driver means no cards, which is no problem */
		note(list, TDM_FROM_DRIVER, state->host.err, sysfs, "the driver's cards cannot be listed: %s",
			tdm_err_text(state->host.err));
	if (state->host.cut_cards != 0)
		note(list, TDM_FROM_DRIVER, -EOVERFLOW, sysfs, "%" PRIu64 " cards more than can be read",
			state->host.cut_cards);
	if (state->proc.err != 0)
		note(list, TDM_FROM_DRIVER, state->proc.err, tdm_proc_path(state->options.proc),
			"nothing is known about processes: %s", tdm_err_text(state->proc.err));
	for (size_t i = 0; i < state->host.card_count; i++)
		note_card(list, &state->host.cards[i]);
}

int tdm_state_problems(struct tdm_state *state)
{
	struct list list = { .state = state };
	state->picture.problem_count = 0;
	note_driver(&list);
	note_regions(&list);
	note_ledgers(&list);
	if (state->devices_cut != 0)
		note(&list, TDM_FROM_NONE, -EOVERFLOW, "", "%" PRIu64 " devices more than can be shown",
			state->devices_cut);
	if (list.cut != 0) {
		struct tdm_picture_problem *last = &state->picture.problems[state->picture.problem_count++];
		*last = (struct tdm_picture_problem){ .from = TDM_FROM_NONE, .err = -EOVERFLOW };
		snprintf(last->text, sizeof last->text, "%" PRIu64 " more problems", list.cut);
	}
	return list.err;
}
