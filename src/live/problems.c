/* What could not be read, gathered anew for every picture: a problem is there as long as it lasts. */
#include "live/live_parts.h"
#include "base/err.h"
#include "base/reserve.h"
#include "ledger/ledger_list.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

struct list {
	struct tdm_live *live;
	uint64_t cut; /* problems beyond TDM_LIVE_PROBLEMS_MAX */
	int err;
};

/* A place for one more problem; NULL when there are enough, or no memory. */
static struct tdm_overview_problem *add(struct list *list, enum tdm_from from, int err)
{
	struct tdm_overview *overview = &list->live->overview;
	if (overview->problem_count >= TDM_LIVE_PROBLEMS_MAX - 1) { /* the last one says how many more */
		list->cut++;
		return NULL;
	}
	if (tdm_reserve(&overview->problems, &list->live->problem_cap, overview->problem_count + 2,
		    sizeof *overview->problems) != 0) {
		list->err = -ENOMEM;
		return NULL;
	}
	struct tdm_overview_problem *problem = &overview->problems[overview->problem_count++];
	*problem = (struct tdm_overview_problem){ .from = (uint8_t)from, .err = err };
	return problem;
}

__attribute__((format(printf, 5, 6))) static void note(
	struct list *list, enum tdm_from from, int err, const char *place, const char *format, ...)
{
	struct tdm_overview_problem *problem = add(list, from, err);
	va_list args;
	if (problem == NULL)
		return;
	tdm_str_shown(tdm_str_of(place), problem->place, sizeof problem->place);
	va_start(args, format);
	vsnprintf(problem->text, sizeof problem->text, format, args);
	va_end(args);
}

static void note_ledgers(struct list *list)
{
	const struct tdm_ledger_watch *watch = &list->live->ledgers;
	const char *dir = tdm_ledger_dir(watch->dir);
	if (watch->err != 0)
		note(list, TDM_FROM_LEDGER, watch->err, dir, "the ledgers cannot be listed: %s",
			tdm_err_text(watch->err));
	if (watch->cut != 0)
		note(list, TDM_FROM_LEDGER, -EOVERFLOW, dir, "%" PRIu64 " ledgers more than can be watched",
			watch->cut);
	for (size_t i = 0; i < watch->count; i++) {
		const struct tdm_watched *item = watch->items[i];
		uint64_t refused = item->ledger != NULL ? tdm_ledger_refused(item->ledger) : 0;
		bool is_new = item->err == -EAGAIN && item->retry_ns == 0;
		if (item->err != 0 && item->err != -ENOENT && !is_new)
			note(list, TDM_FROM_LEDGER, item->err, item->path, "%s",
				item->text[0] != '\0' ? item->text : tdm_err_text(item->err));
		else if (item->err == 0 && refused != 0)
			note(list, TDM_FROM_LEDGER, TDM_ECORRUPT, item->path,
				"damaged: %" PRIu64 " of its records cannot be believed", refused);
		if (item->err == 0 && tdm_watched_runs(item) && item->who.lost != 0)
			note(list, TDM_FROM_LEDGER, 0, item->path,
				"process %" PRId32 " lost %" PRIu64 " events: its figures may be wrong", item->who.pid,
				item->who.lost);
	}
}

static void note_doubts(struct list *list, const struct tdm_metal_region *region, const char *place)
{
	struct tdm_overview_problem *problem = add(list, TDM_FROM_METAL_SHM, TDM_ECORRUPT);
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
	const struct tdm_metal_list *regions = &list->live->metal.now;
	const char *dir = tdm_metal_path(list->live->metal.dir);
	char place[TDM_OVERVIEW_TEXT_CAP];
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
			snprintf(place, sizeof place, "%.*s", TDM_OVERVIEW_TEXT_CAP - 1, region->name);
		if (region->status != TDM_METAL_OK)
			note(list, TDM_FROM_METAL_SHM, region->err != 0 ? region->err : TDM_ECORRUPT, place, "%s",
				region->text);
		else
			note_doubts(list, region, place);
	}
}

static void note_card(struct list *list, const struct tdm_host_card *card)
{
	const struct tdm_live_options *options = &list->live->options;
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
	const struct tdm_live *live = list->live;
	const char *sysfs = tdm_host_sysfs_path(live->options.sysfs);
	if (live->host.err != 0 && live->host.err != -ENOENT) /* without a driver there are no cards: no problem */
		note(list, TDM_FROM_DRIVER, live->host.err, sysfs, "the driver's cards cannot be listed: %s",
			tdm_err_text(live->host.err));
	if (live->host.cut_cards != 0)
		note(list, TDM_FROM_DRIVER, -EOVERFLOW, sysfs, "%" PRIu64 " cards more than can be read",
			live->host.cut_cards);
	if (live->proc.err != 0)
		note(list, TDM_FROM_DRIVER, live->proc.err, tdm_proc_path(live->options.proc),
			"nothing is known about processes: %s", tdm_err_text(live->proc.err));
	for (size_t i = 0; i < live->host.card_count; i++)
		note_card(list, &live->host.cards[i]);
}

int tdm_live_problems(struct tdm_live *live)
{
	struct list list = { .live = live };
	live->overview.problem_count = 0;
	note_driver(&list);
	note_regions(&list);
	note_ledgers(&list);
	if (live->devices_cut != 0)
		note(&list, TDM_FROM_NONE, -EOVERFLOW, "", "%" PRIu64 " devices more than can be shown",
			live->devices_cut);
	if (list.cut != 0) {
		struct tdm_overview_problem *last = &live->overview.problems[live->overview.problem_count++];
		*last = (struct tdm_overview_problem){ .from = TDM_FROM_NONE, .err = -EOVERFLOW };
		snprintf(last->text, sizeof last->text, "%" PRIu64 " more problems", list.cut);
	}
	return list.err;
}
