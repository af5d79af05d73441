#include "sources/ledger_lives.h"
#include "base/map.h"
#include "ledger/reader.h"
#include "sources/ledger_event.h"

#include <errno.h>
#include <stdlib.h>

enum { RECORDS_MAX = 1 << 16 }; /* of a device: the latest */

struct walk {
	struct tdm_ledger *ledger;
	struct tdm_ledger_record *records;
	int (*each)(void *context, const struct tdm_ledger_life *life);
	void *context;
};

/* Not exact: whoever finds one compares. */
static uint64_t key_of(const struct tdm_ledger_record *record)
{
	return record->id ^ (uint64_t)record->kind << 59;
}

/*
 * When the release at `i` was over for certain: its own time where that was read, else that of the next event whose
 * time was read. At the end of the ring nothing is certain, and its own has to do.
 */
static uint64_t over_tsc(const struct tdm_ledger_record *records, int64_t count, int64_t i)
{
	for (int64_t k = i; k < count; k++)
		if (records[k].op == TDM_LEDGER_ALLOC ||
			(records[k].op == TDM_LEDGER_FREE && records[k].seq % TDM_LEDGER_FREE_CLOCK == 0))
			return records[k].tsc;
	return records[i].tsc;
}

static int give(const struct walk *w, uint32_t device, const struct tdm_ledger_record *birth,
	const struct tdm_ledger_record *release, uint64_t over)
{
	struct tdm_event event;
	uint64_t born_ns, freed_ns, over_ns;
	if (birth->id != release->id || birth->kind != release->kind ||
		!tdm_ledger_monotonic(w->ledger, birth->tsc, &born_ns) ||
		!tdm_ledger_monotonic(w->ledger, release->tsc, &freed_ns) ||
		!tdm_ledger_monotonic(w->ledger, over, &over_ns))
		return 0;
	tdm_ledger_record_event(w->ledger, birth, &event);
	const struct tdm_ledger_life life = { .device = device,
		.kind = (enum tdm_kind)birth->kind,
		.name = event.name,
		.ns = freed_ns > born_ns ? freed_ns - born_ns : 0,
		.most_ns = over_ns > born_ns ? over_ns - born_ns : 0 };
	return w->each(w->context, &life);
}

static int walk_device(const struct walk *w, size_t device, struct tdm_map *births)
{
	uint64_t missed;
	uint32_t number;
	const struct tdm_ledger_view *view = tdm_ledger_device(w->ledger, device);
	if (!tdm_ledger_device_number(view, &number))
		return 0;
	uint64_t after = view->seq > RECORDS_MAX ? view->seq - RECORDS_MAX : 0;
	int64_t count = tdm_ledger_events(w->ledger, device, after, w->records, RECORDS_MAX, &missed);
	int err = count < 0 ? (int)count : 0;
	for (int64_t i = 0; i < count && err == 0; i++) {
		const struct tdm_ledger_record *record = &w->records[i];
		if (record->op == TDM_LEDGER_ALLOC) {
			err = tdm_map_put(births, key_of(record), (uint32_t)i);
		} else if (record->op == TDM_LEDGER_FREE) {
			uint32_t birth = tdm_map_take(births, key_of(record));
			if (birth != TDM_MAP_NONE)
				err = give(w, number, &w->records[birth], record, over_tsc(w->records, count, i));
		}
	}
	return err;
}

int tdm_ledger_lives(const char *path, int (*each)(void *context, const struct tdm_ledger_life *life), void *context)
{
	struct walk w = { .each = each, .context = context };
	int err = tdm_ledger_open(path, &w.ledger, NULL);
	if (err != 0)
		return err;
	w.records = malloc(RECORDS_MAX * sizeof *w.records);
	err = w.records == NULL ? -ENOMEM : 0;
	for (size_t i = 0; i < tdm_ledger_device_count(w.ledger) && err == 0; i++) {
		struct tdm_map births;
		err = tdm_map_init(&births);
		if (err == 0)
			err = walk_device(&w, i, &births);
		tdm_map_done(&births);
	}
	free(w.records);
	tdm_ledger_close(w.ledger);
	return err;
}
