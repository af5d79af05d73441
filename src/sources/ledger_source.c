#include "sources/ledger_source.h"
#include "base/err.h"
#include "base/reserve.h"
#include "ledger/ledger_list.h"
#include "ledger/reader.h"
#include "sources/ledger_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS_CAP = 2048, PHASES_CAP = 64 };

/* What a ledger gives next. The first ones are its account, in this order. */
enum stage {
	STAGE_OPEN, /* not read yet, or not readable so far */
	STAGE_PROCESS,
	STAGE_CLEAR, /* only when the account is given again */
	STAGE_MODULES,
	STAGE_DEVICE, /* for each device: its description, */
	STAGE_BUFFERS,
	STAGE_USAGE, /* and its figures, kind by kind */
	STAGE_PHASES,
	STAGE_REFUSED, /* its process again, if something was refused meanwhile */
	STAGE_IDLE,    /* the account is complete */
	STAGE_EVENTS,  /* following: what the ring has, device by device */
	STAGE_LOST,    /* some of it was overwritten: everything is accounted for again */
	STAGE_CLOSED,  /* nothing more will come */
};

/* One ledger. Its index is the number of its process. */
struct item {
	char *path;
	struct tdm_ledger *ledger; /* NULL once closed */
	enum stage stage;
	enum tdm_liveness liveness; /* of its process, as it was said */
	bool again;                 /* the account is not the first */
	bool ended;                 /* its process has, and that was said */
	uint64_t refused;           /* records, and that was said */
	bool only_usage;            /* following: figures without buffers */
	size_t device, at;
	size_t modules_given, phases_given;
	uint64_t seq[TDM_LEDGER_DEVICES]; /* of the last event that was given, for each device */
	uint64_t missed;
	struct tdm_ledger_buffer *buffers; /* of `device` */
	size_t buffer_count, buffer_cap;
	struct tdm_ledger_record *records; /* of `device` */
	size_t record_count;
};

struct ledger_source {
	struct tdm_source source;
	struct tdm_ledger_query query;
	struct item **items;
	size_t item_count, item_cap, current;
	struct tdm_ledger_problem *problems;
	size_t problem_count, problem_cap;
	size_t others; /* ledgers that were not asked for, when it looked last */
	bool at_end;   /* 0 was returned: the next call looks for what is new */
	bool out_of_memory;
	/* what the last event borrows */
	struct tdm_process who;
	struct tdm_device_info info;
	struct tdm_usage usage;
	struct tdm_frame frames[TDM_LEDGER_STACK_MAX];
};

static void item_close(struct item *item)
{
	free(item->buffers);
	free(item->records);
	item->buffers = NULL;
	item->records = NULL;
	tdm_ledger_close(item->ledger);
	item->ledger = NULL;
	item->stage = STAGE_CLOSED;
}

static void ledger_source_close(struct tdm_source *source)
{
	struct ledger_source *s = (struct ledger_source *)source;
	for (size_t i = 0; i < s->item_count; i++) {
		item_close(s->items[i]);
		free(s->items[i]->path);
		free(s->items[i]);
	}
	for (size_t i = 0; i < s->problem_count; i++)
		free(s->problems[i].path);
	free(s->items);
	free(s->problems);
	free(s);
}

/* Finding ledgers. */

/* Notes why a ledger cannot be read, once for each path: the last reason counts. */
static void note_problem(struct ledger_source *s, const char *path, int err, const char *text)
{
	struct tdm_ledger_problem *problem = NULL;
	for (size_t i = 0; i < s->problem_count && problem == NULL; i++)
		if (strcmp(s->problems[i].path, path) == 0)
			problem = &s->problems[i];
	if (problem == NULL) {
		int full = tdm_reserve(&s->problems, &s->problem_cap, s->problem_count + 1, sizeof *s->problems);
		char *copy = full == 0 ? strdup(path) : NULL;
		if (copy == NULL) {
			s->out_of_memory = true;
			return;
		}
		problem = &s->problems[s->problem_count++];
		problem->path = copy;
	}
	problem->err = err;
	tdm_str_shown(tdm_str_of(text), problem->text, sizeof problem->text);
}

static void drop_problem(struct ledger_source *s, const char *path)
{
	for (size_t i = 0; i < s->problem_count; i++)
		if (strcmp(s->problems[i].path, path) == 0) {
			free(s->problems[i].path);
			s->problems[i] = s->problems[--s->problem_count];
			return;
		}
}

static bool is_known(const struct ledger_source *s, const char *path)
{
	for (size_t i = 0; i < s->item_count; i++)
		if (strcmp(s->items[i]->path, path) == 0)
			return true;
	return false;
}

static void add_ledger(struct ledger_source *s, const char *path)
{
	if (is_known(s, path))
		return;
	int full = tdm_reserve(&s->items, &s->item_cap, s->item_count + 1, sizeof *s->items);
	struct item *item = full == 0 ? calloc(1, sizeof *item) : NULL;
	char *copy = item != NULL ? strdup(path) : NULL;
	if (copy == NULL) {
		free(item);
		s->out_of_memory = true;
		return;
	}
	item->path = copy;
	s->items[s->item_count++] = item;
}

static void add_entry(void *context, const struct tdm_ledger_entry *entry)
{
	add_ledger(context, entry->path);
}

static int find_ledgers(struct ledger_source *s)
{
	struct tdm_ledger_search search = { s->query.dir, s->query.pids, s->query.pid_count, add_entry, s, 0, 0 };
	if (s->query.paths == NULL) {
		int err = tdm_ledger_list(&search);
		s->others = search.others;
		if (search.left_out != 0)
			note_problem(s, tdm_ledger_dir(s->query.dir), -EOVERFLOW,
				"too many files named like ledgers; some were not read");
		return err;
	}
	for (size_t i = 0; s->query.paths[i] != NULL; i++)
		add_ledger(s, s->query.paths[i]);
	return 0;
}

/* Opens the ledger when its turn has come, so that few are open at a time. */
static bool open_item(struct ledger_source *s, struct item *item)
{
	struct tdm_diag diag = { 0 };
	int err = tdm_ledger_open(item->path, &item->ledger, &diag);
	drop_problem(s, item->path);
	if (err == 0)
		item->stage = STAGE_PROCESS;
	else if (err == -ENOENT && s->query.paths == NULL)
		item->stage = STAGE_CLOSED; /* it ended, with nothing left, after it was listed */
	else
		note_problem(s, item->path, err, diag.text);
	return err == 0;
}

/* The account of one ledger: each gives 1 with *event set, or 0 when its stage is over. */

static int give_process(struct ledger_source *s, struct item *item, struct tdm_event *event)
{
	enum tdm_liveness liveness = tdm_ledger_liveness(item->ledger);
	s->who = tdm_ledger_process(item->ledger, liveness);
	item->ended = liveness == TDM_DEAD;
	item->refused = s->who.refused;
	item->liveness = liveness;
	*event = (struct tdm_event){ .op = TDM_OP_PROCESS, .who = &s->who, .name = tdm_str_of(item->path) };
	item->stage = item->again ? STAGE_CLEAR : STAGE_MODULES;
	return 1;
}

static int give_clear(struct item *item, struct tdm_event *event)
{
	*event = (struct tdm_event){ .op = TDM_OP_CLEAR };
	item->stage = STAGE_MODULES;
	return 1;
}

static int give_module(struct item *item, struct tdm_event *event)
{
	uint64_t base, size;
	struct tdm_str path;
	if (tdm_ledger_module(item->ledger, item->modules_given, &base, &size, &path) == 0) {
		item->stage = STAGE_DEVICE;
		item->device = 0;
		return 0;
	}
	item->modules_given++;
	*event = (struct tdm_event){ .op = TDM_OP_MODULE, .address = base, .size = size, .name = path };
	return 1;
}

static int keep_buffers(
	void *context, const struct tdm_ledger_slot *slots, const struct tdm_ledger_more *mores, size_t count)
{
	struct item *item = context;
	if (tdm_reserve(&item->buffers, &item->buffer_cap, item->buffer_count + count, sizeof *item->buffers) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		item->buffers[item->buffer_count++] = tdm_ledger_buffer_of(&slots[i], &mores[i]);
	return 0;
}

static void drop_buffers(void *context)
{
	((struct item *)context)->buffer_count = 0;
}

/* Reads the live buffers of the device whose turn it is. */
static int load_buffers(struct ledger_source *s, struct item *item)
{
	const struct tdm_ledger_walk walk = { keep_buffers, drop_buffers, item, true };
	bool exact;
	item->at = item->buffer_count = 0;
	int err = tdm_ledger_walk(item->ledger, item->device, &walk, &exact);
	if (err != 0)
		note_problem(s, item->path, err, tdm_err_text(err));
	item->seq[item->device] = tdm_ledger_device(item->ledger, item->device)->seq;
	return err;
}

static int give_device(struct ledger_source *s, struct item *item, struct tdm_event *event)
{
	const struct tdm_ledger_view *view = tdm_ledger_device(item->ledger, item->device);
	uint32_t number;
	if (view == NULL) {
		item->stage = STAGE_PHASES;
		return 0;
	}
	if (!tdm_ledger_device_number(view, &number)) {
		s->source.refused++;
		item->device++;
		return 0;
	}
	item->at = 0;
	item->stage = item->only_usage ? STAGE_USAGE : STAGE_BUFFERS;
	if (!item->only_usage)
		load_buffers(s, item);
	s->info = tdm_ledger_device_info(tdm_ledger_device(item->ledger, item->device));
	*event = (struct tdm_event){ .op = TDM_OP_DEVICE, .device = number, .about = &s->info };
	return 1;
}

static void set_device(const struct item *item, struct tdm_event *event)
{
	uint32_t number = 0;
	tdm_ledger_device_number(tdm_ledger_device(item->ledger, item->device), &number);
	event->device = number;
}

static int give_buffer(struct ledger_source *s, struct item *item, struct tdm_event *event)
{
	if (item->at == item->buffer_count) {
		item->stage = STAGE_USAGE;
		item->at = 0;
		return 0;
	}
	tdm_ledger_buffer_event(item->ledger, &item->buffers[item->at++], s->frames, event);
	set_device(item, event);
	return 1;
}

static bool was_used(const struct tdm_ledger_view *view, unsigned kind)
{
	static const struct tdm_ledger_faults none;
	return view->counts[kind].seq != 0 || memcmp(&view->faults[kind], &none, sizeof none) != 0;
}

static int give_usage(struct ledger_source *s, struct item *item, struct tdm_event *event)
{
	const struct tdm_ledger_view *view = tdm_ledger_device(item->ledger, item->device);
	while (item->at < TDM_KIND_COUNT && !was_used(view, (unsigned)item->at))
		item->at++;
	if (item->at == TDM_KIND_COUNT) {
		item->device++;
		item->stage = STAGE_DEVICE;
		return 0;
	}
	s->usage = tdm_ledger_usage(item->ledger, view, (enum tdm_kind)item->at);
	*event = (struct tdm_event){ .op = TDM_OP_USAGE, .kind = (uint8_t)item->at, .usage = &s->usage };
	set_device(item, event);
	item->at++;
	return 1;
}

static int give_phase(struct item *item, struct tdm_event *event)
{
	struct tdm_ledger_phase phase;
	if (tdm_ledger_phases(item->ledger, item->phases_given, &phase, 1) != 1) {
		item->stage = STAGE_REFUSED;
		return 0;
	}
	item->phases_given++;
	tdm_ledger_phase_event(item->ledger, &phase, event);
	return 1;
}

static int give_refused(struct ledger_source *s, struct item *item, struct tdm_event *event)
{
	item->stage = STAGE_IDLE;
	if (tdm_ledger_refused(item->ledger) == item->refused)
		return 0;
	/* Whether it lives is for the next look: there may be events before its end. */
	s->who = tdm_ledger_process(item->ledger, item->liveness);
	item->refused = s->who.refused;
	*event = (struct tdm_event){ .op = TDM_OP_PROCESS, .who = &s->who, .name = tdm_str_of(item->path) };
	return 1;
}

/* Following. */

/* Reads the recent events of the device whose turn it is; moves on when it has none. */
static int load_records(struct ledger_source *s, struct item *item)
{
	uint64_t missed = 0;
	if (item->records == NULL)
		item->records = malloc(RECORDS_CAP * sizeof *item->records);
	if (item->records == NULL) {
		s->out_of_memory = true;
		return -ENOMEM;
	}
	item->at = item->record_count = 0;
	int64_t got = tdm_ledger_events(
		item->ledger, item->device, item->seq[item->device], item->records, RECORDS_CAP, &missed);
	if (got < 0)
		return (int)got;
	item->record_count = (size_t)got;
	item->missed = missed;
	return 0;
}

static int give_record(struct ledger_source *s, struct item *item, struct tdm_event *event)
{
	while (item->at == item->record_count) {
		if (tdm_ledger_device(item->ledger, item->device) == NULL) {
			/* All events are given; the figures that go with them follow. */
			item->only_usage = true;
			item->stage = STAGE_MODULES;
			return 0;
		}
		int err = load_records(s, item);
		if (err == 0 && item->missed != 0) {
			item->stage = STAGE_LOST;
			return 0;
		}
		if (err != 0 || item->record_count == 0) {
			item->device++;
			item->at = item->record_count = 0;
		}
	}
	const struct tdm_ledger_record *record = &item->records[item->at++];
	item->seq[item->device] = record->seq;
	if (record->op == TDM_LEDGER_PHASE)
		return 0; /* phases have an area of their own */
	struct tdm_ledger_buffer buffer;
	if (record->op == TDM_LEDGER_ALLOC &&
		tdm_ledger_record_buffer(item->ledger, item->device, record, &buffer) == 0)
		tdm_ledger_buffer_event(item->ledger, &buffer, s->frames, event);
	else
		tdm_ledger_record_event(item->ledger, record, event);
	set_device(item, event);
	return 1;
}

static int give_lost(struct item *item, struct tdm_event *event)
{
	*event = (struct tdm_event){ .op = TDM_OP_LOST, .size = item->missed };
	set_device(item, event);
	item->again = true;
	item->only_usage = false;
	item->stage = STAGE_PROCESS;
	return 1;
}

/* A ledger whose account is complete: there may be more to give now. */
static void wake(struct ledger_source *s, struct item *item)
{
	struct tdm_diag diag = { 0 };
	size_t before = tdm_ledger_device_count(item->ledger);
	int err = tdm_ledger_refresh(item->ledger, &diag);
	if (err != 0) {
		note_problem(s, item->path, err, diag.text);
		return;
	}
	item->device = item->at = item->record_count = 0;
	item->only_usage = false;
	item->stage = STAGE_EVENTS;
	/* The end is looked for before the last events are, so that none is left over. */
	if (tdm_ledger_liveness(item->ledger) == TDM_DEAD || tdm_ledger_device_count(item->ledger) != before) {
		item->again = true;
		item->stage = STAGE_PROCESS;
	}
}

static int give(struct ledger_source *s, struct item *item, struct tdm_event *event)
{
	switch (item->stage) {
	case STAGE_PROCESS:
		return give_process(s, item, event);
	case STAGE_CLEAR:
		return give_clear(item, event);
	case STAGE_MODULES:
		return give_module(item, event);
	case STAGE_DEVICE:
		return give_device(s, item, event);
	case STAGE_BUFFERS:
		return give_buffer(s, item, event);
	case STAGE_USAGE:
		return give_usage(s, item, event);
	case STAGE_PHASES:
		return give_phase(item, event);
	case STAGE_REFUSED:
		return give_refused(s, item, event);
	case STAGE_EVENTS:
		return give_record(s, item, event);
	case STAGE_LOST:
		return give_lost(item, event);
	default:
		return 0;
	}
}

/* The next event of an item that it may give; 0 when its account, or what is new, is complete. */
static int item_next(struct ledger_source *s, struct item *item, struct tdm_event *event)
{
	if (item->stage == STAGE_OPEN && !open_item(s, item))
		return 0;
	while (item->stage != STAGE_IDLE && item->stage != STAGE_CLOSED) {
		if (give(s, item, event) == 0)
			continue;
		if (tdm_event_is_valid(event))
			return 1;
		s->source.refused++;
	}
	if (item->stage == STAGE_IDLE && (!s->query.follow || item->ended))
		item_close(item);
	return 0;
}

/* Looks for new ledgers and new events. */
static void look_again(struct ledger_source *s)
{
	find_ledgers(s); /* a directory that cannot be read now may be readable next time */
	for (size_t i = 0; i < s->item_count; i++)
		if (s->items[i]->stage == STAGE_IDLE)
			wake(s, s->items[i]);
	s->current = 0;
}

static int next_event(struct ledger_source *s, struct tdm_event *event)
{
	for (; s->current < s->item_count; s->current++)
		if (item_next(s, s->items[s->current], event) != 0) {
			event->process = s->current;
			return 1;
		}
	return 0;
}

static int ledger_source_next(struct tdm_source *source, struct tdm_event *event, struct tdm_diag *diag)
{
	struct ledger_source *s = (struct ledger_source *)source;
	if (next_event(s, event) != 0)
		return 1;
	if (s->query.follow && s->at_end) {
		look_again(s);
		s->at_end = next_event(s, event) == 0;
		if (!s->at_end)
			return 1;
	}
	s->at_end = true;
	if (s->out_of_memory) {
		s->out_of_memory = false;
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	}
	return 0;
}

static const struct tdm_source_ops ledger_source_ops = {
	.name = "ledger",
	.next = ledger_source_next,
	.close = ledger_source_close,
};

struct tdm_source *tdm_ledger_source_open(const struct tdm_ledger_query *query, struct tdm_diag *diag)
{
	struct ledger_source *s = calloc(1, sizeof *s);
	if (s == NULL) {
		tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
		return NULL;
	}
	s->source.ops = &ledger_source_ops;
	s->query = *query;
	int err = find_ledgers(s);
	if (err == 0 && s->out_of_memory)
		err = -ENOMEM;
	if (err != 0) {
		tdm_diag_set(diag, err, 0, 0, "cannot list %s: %s", tdm_ledger_dir(query->dir), tdm_err_text(err));
		ledger_source_close(&s->source);
		return NULL;
	}
	return &s->source;
}

size_t tdm_ledger_source_count(const struct tdm_source *source)
{
	return ((const struct ledger_source *)source)->item_count;
}

size_t tdm_ledger_source_others(const struct tdm_source *source)
{
	return ((const struct ledger_source *)source)->others;
}

size_t tdm_ledger_source_problem_count(const struct tdm_source *source)
{
	return ((const struct ledger_source *)source)->problem_count;
}

const struct tdm_ledger_problem *tdm_ledger_source_problem(const struct tdm_source *source, size_t i)
{
	const struct ledger_source *s = (const struct ledger_source *)source;
	return i < s->problem_count ? &s->problems[i] : NULL;
}
