#include "sources/follower.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/map.h"
#include "base/number.h"
#include "base/reserve.h"
#include "ledger/ledger_list.h"
#include "sources/follow_device.h"
#include "sources/follow_process.h"
#include "sources/ledger_event.h"
#include "sources/proc_facts.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { LIST_SHARE = 50 }; /* listing the directory takes at most 1/LIST_SHARE of the time */
/* The first and the longest pause before a ledger that cannot be read is tried again. */
#define WAIT_FIRST_NS (TDM_NS_PER_S)
#define WAIT_MAX_NS   (64 * TDM_NS_PER_S)
/* A writer that takes longer to set up its ledger was stopped meanwhile. */
#define SETUP_NS      (2 * TDM_NS_PER_S)
/* A ledger whose devices have not changed is read as a whole only after this time. */
#define STILL_NS      (TDM_NS_PER_S * 4 / 10)

struct item {
	struct tdm_followed out;
	struct tdm_ledger *ledger;       /* NULL: it cannot be opened, or the process has ended */
	bool is_listed;                  /* it was in the last listing of the directory */
	bool is_fresh;                   /* it was opened in this look */
	bool is_other;                   /* its process was not asked for, though one of its pids looks like it */
	bool has_ended, is_broken;       /* is_broken: it can no longer be read */
	bool was_told;                   /* a PROCESS event was given */
	struct tdm_follow_device *lanes; /* its devices */
	size_t lane_count;
	size_t modules_given;
	uint32_t phase_count;
	struct tdm_follow_notes notes;
	struct tdm_follow_judged judged;
	uint64_t found_ns, retry_ns, wait_ns, read_ns; /* monotonic clock */
};

struct tdm_follower {
	const struct tdm_follow_options *options;
	struct item **items;
	size_t count, cap;
	struct tdm_map by_path;   /* hash of the path to index */
	struct tdm_map by_number; /* of the process to index */
	uint32_t next_number;
	uint64_t cut, others, deaths;
	int err;
	int32_t *names; /* pids in the names of the ledgers that were asked for */
	size_t name_cap;
	uint64_t list_ns; /* when to list the directory again */
	struct tdm_follow_self self;
	bool out_of_memory;
	bool has_moved;                     /* a process goes on in another ledger, which is not known yet */
	const struct tdm_follow_sink *sink; /* of the current look */
	struct tdm_follow_room room;
};

struct tdm_follower *tdm_follower_new(const struct tdm_follow_options *options)
{
	struct tdm_follower *f = calloc(1, sizeof *f);
	if (f == NULL)
		return NULL;
	f->options = options;
	tdm_follow_self_init(&f->self);
	if (tdm_map_init(&f->by_path) != 0 || tdm_map_init(&f->by_number) != 0) {
		tdm_follower_free(f);
		return NULL;
	}
	return f;
}

static void item_free(struct item *item)
{
	tdm_ledger_close(item->ledger);
	free(item->lanes);
	free(item->notes.given);
	free(item->out.path);
	free(item);
}

void tdm_follower_free(struct tdm_follower *f)
{
	if (f == NULL)
		return;
	for (size_t i = 0; i < f->count; i++)
		item_free(f->items[i]);
	free(f->items);
	free(f->names);
	tdm_follow_room_done(&f->room);
	tdm_map_done(&f->by_path);
	tdm_map_done(&f->by_number);
	free(f);
}

static int give(struct tdm_follower *f, const struct item *item, struct tdm_event *event)
{
	return tdm_follow_give(f->sink, item->out.number, event);
}

/* Finding. */

static struct item *find_path(const struct tdm_follower *f, const char *path, uint64_t hash)
{
	uint32_t i = tdm_map_find(&f->by_path, hash);
	if (i != TDM_MAP_NONE && strcmp(f->items[i]->out.path, path) == 0)
		return f->items[i];
	for (size_t k = 0; i != TDM_MAP_NONE && k < f->count; k++) /* two paths with one hash */
		if (strcmp(f->items[k]->out.path, path) == 0)
			return f->items[k];
	return NULL;
}

static int add_item(struct tdm_follower *f, const char *path, uint64_t hash)
{
	if (tdm_reserve(&f->items, &f->cap, f->count + 1, sizeof *f->items) != 0)
		return -ENOMEM;
	struct item *item = calloc(1, sizeof *item);
	char *copy = item != NULL ? strdup(path) : NULL;
	if (copy == NULL || tdm_map_put(&f->by_number, f->next_number + 1, (uint32_t)f->count) != 0 ||
		tdm_map_put(&f->by_path, hash, (uint32_t)f->count) != 0) {
		tdm_map_take(&f->by_number, f->next_number + 1);
		free(copy);
		free(item);
		return -ENOMEM;
	}
	item->out = (struct tdm_followed){ .path = copy, .number = ++f->next_number, .err = -EAGAIN };
	item->is_listed = true;
	f->items[f->count++] = item;
	return 0;
}

static void note_path(struct tdm_follower *f, const char *path)
{
	uint64_t hash = tdm_str_hash(tdm_str_of(path));
	struct item *item = find_path(f, path, hash);
	if (item != NULL)
		item->is_listed = true;
	else if (f->count == TDM_FOLLOWED_MAX)
		f->cut++;
	else if (add_item(f, path, hash) != 0)
		f->out_of_memory = true;
}

static void note_entry(void *context, const struct tdm_ledger_entry *entry)
{
	note_path(context, entry->path);
}

/* Opening. */

static void set_problem(struct item *item, int err, const char *text, uint64_t now_ns)
{
	item->out.err = err;
	tdm_str_shown(tdm_str_of(text), item->out.text, sizeof item->out.text);
	item->wait_ns = item->wait_ns == 0 ? WAIT_FIRST_NS : tdm_min(item->wait_ns * 2, WAIT_MAX_NS);
	item->retry_ns = now_ns + item->wait_ns;
}

static void clear_problem(struct item *item)
{
	item->out.err = 0;
	item->out.text[0] = '\0';
	item->wait_ns = item->retry_ns = 0;
	item->is_broken = false;
}

/* Lets this process open as many files as the system allows. */
static bool raise_file_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

static int open_ledger(struct item *item, struct tdm_diag *diag)
{
	int err = tdm_ledger_open(item->out.path, &item->ledger, diag);
	if (err == -EMFILE && raise_file_limit())
		err = tdm_ledger_open(item->out.path, &item->ledger, diag);
	return err;
}

static void open_item(const struct tdm_follower *f, struct item *item, uint64_t now_ns)
{
	struct tdm_diag diag = { 0 };
	if (item->found_ns == 0)
		item->found_ns = now_ns;
	int err = open_ledger(item, &diag);
	item->is_fresh = err == 0;
	if (err == 0) {
		clear_problem(item);
		return;
	}
	set_problem(item, err, diag.text, now_ns);
	if (err == -EAGAIN && now_ns - item->found_ns < SETUP_NS) {
		item->retry_ns = item->wait_ns = 0; /* it is being set up: try again soon */
		if (!f->options->names_new)
			item->out.text[0] = '\0';
	}
	if (err == -ENOENT && f->options->paths == NULL)
		item->out.text[0] = '\0'; /* its process ended after the listing and left nothing */
}

/* The process. */

static struct tdm_process process_of(
	const struct tdm_follower *f, struct item *item, enum tdm_liveness liveness, int32_t holder)
{
	struct tdm_process who = tdm_ledger_process(item->ledger, liveness);
	tdm_follow_place(&f->self, &item->judged, item->ledger, &who, holder, item->out.who.seen_pid);
	return who;
}

static bool is_asked_for(const struct tdm_follower *f, const struct tdm_process *who)
{
	for (size_t i = 0; f->options->pids != NULL && i < f->options->pid_count; i++)
		if (f->options->pids[i] == who->pid || f->options->pids[i] == who->seen_pid)
			return true;
	return f->options->pids == NULL;
}

/* Whether an item that was just opened is to be followed. */
static bool is_followed(const struct tdm_follower *f, struct item *item, enum tdm_liveness liveness, int32_t holder)
{
	struct tdm_process who = process_of(f, item, liveness, holder);
	item->is_other = !is_asked_for(f, &who);
	if (item->is_other) {
		tdm_ledger_close(item->ledger);
		item->ledger = NULL;
	}
	return !item->is_other;
}

static int give_process(struct tdm_follower *f, struct item *item, enum tdm_liveness liveness, int32_t holder)
{
	struct tdm_process who = process_of(f, item, liveness, holder);
	struct tdm_event event = { .op = TDM_OP_PROCESS, .who = &who, .name = tdm_str_of(item->out.path) };
	who.is_stuck = item->is_broken;
	who.refused = tdm_max(who.refused, item->out.who.refused); /* a reopened ledger starts counting again */
	bool is_same = item->was_told && memcmp(&who, &item->out.who, sizeof who) == 0;
	item->out.who = who;
	item->out.is_known = true;
	item->was_told = true;
	return is_same ? 0 : give(f, item, &event);
}

static int give_modules(struct tdm_follower *f, struct item *item)
{
	uint64_t base, size;
	struct tdm_str path;
	int err = 0;
	while (err == 0 && tdm_ledger_module(item->ledger, item->modules_given, &base, &size, &path) != 0) {
		struct tdm_event event = { .op = TDM_OP_MODULE, .address = base, .size = size, .name = path };
		item->modules_given++;
		err = give(f, item, &event);
	}
	return err;
}

/* A mark is a running phase; a phase that the tracker recorded is over. */
static int give_phase(struct tdm_follower *f, struct item *item)
{
	struct tdm_ledger_phase phase;
	struct tdm_event event = { .op = TDM_OP_PHASE };
	uint32_t count = tdm_ledger_phase_count(item->ledger);
	if (count == item->phase_count)
		return 0;
	item->phase_count = count;
	if (count != 0 && tdm_ledger_phases(item->ledger, count - 1, &phase, 1) == 1 &&
		(phase.flags & TDM_PHASE_MARK) != 0)
		tdm_ledger_phase_event(item->ledger, &phase, &event);
	return give(f, item, &event);
}

static int make_lanes(struct item *item, size_t count)
{
	if (count <= item->lane_count)
		return 0;
	struct tdm_follow_device *lanes = realloc(item->lanes, count * sizeof *lanes);
	if (lanes == NULL)
		return -ENOMEM;
	memset(lanes + item->lane_count, 0, (count - item->lane_count) * sizeof *lanes);
	item->lanes = lanes;
	item->lane_count = count;
	return 0;
}

static int give_all(struct tdm_follower *f, struct item *item, enum tdm_liveness liveness, int32_t holder)
{
	size_t count = tdm_ledger_device_count(item->ledger);
	int err = make_lanes(item, count);
	if (err == 0)
		err = give_modules(f, item);
	struct tdm_follow_look look = { item->ledger, 0, item->out.number, f->sink, &f->room, 0 };
	for (; look.device < count && err == 0; look.device++)
		err = tdm_follow_device_give(&item->lanes[look.device], &look);
	if (look.unread != 0)
		set_problem(item, look.unread, tdm_err_text(look.unread), item->read_ns);
	if (err == 0)
		err = give_phase(f, item);
	if (err == 0) /* counters change all the time: they are given less often than the rest, but always at the end */
		err = tdm_follow_notes_give(&item->notes, &look, item->read_ns, liveness == TDM_ALIVE ? STILL_NS : 0);
	/* Some bad records are found only while buffers and events are read. */
	if (err == 0 && tdm_ledger_refused(item->ledger) > item->out.who.refused)
		err = give_process(f, item, liveness, holder);
	return err;
}

/* A look at one ledger. */

/* Most programs do nothing between two looks in quick succession. Anything that is not in a device's counters (a new
 * device, a phase, the clocks) may then come a little late. */
static bool is_still(const struct item *item, enum tdm_liveness liveness, uint64_t now_ns)
{
	return liveness == TDM_ALIVE && item->was_told && !item->is_broken && now_ns - item->read_ns < STILL_NS &&
	       tdm_ledger_is_still(item->ledger);
}

/* Whether a device has something to give, though its counters have not changed. */
static bool wants_more(const struct tdm_follower *f, const struct item *item)
{
	for (size_t d = 0; d < item->lane_count; d++) {
		const struct tdm_follow_device *lane = &item->lanes[d];
		/* A walk over the slots between two looks advances the view. */
		uint64_t seq = item->ledger != NULL ? tdm_ledger_device(item->ledger, d)->seq : lane->seen_seq;
		if (lane->is_described && tdm_follow_device_has_more(lane, f->sink, item->out.number, seq))
			return true;
	}
	return false;
}

/* Checks that every known device is still there under the same number. */
static int check_lanes(const struct item *item, struct tdm_diag *diag)
{
	uint32_t number;
	for (size_t d = 0; d < item->lane_count; d++)
		if (d >= tdm_ledger_device_count(item->ledger) ||
			(item->lanes[d].is_described &&
				(!tdm_ledger_device_number(tdm_ledger_device(item->ledger, d), &number) ||
					number != item->lanes[d].number)))
			return tdm_diag_set(
				diag, TDM_ECORRUPT, 0, 0, "damaged: a device that was there cannot be read any more");
	return 0;
}

static int refresh(struct item *item, enum tdm_liveness liveness, struct tdm_diag *diag)
{
	/* A process that ended just after its ledger was opened may have reported something in between. */
	int err = item->is_fresh && liveness != TDM_DEAD ? 0 : tdm_ledger_refresh(item->ledger, diag);
	return err == 0 ? check_lanes(item, diag) : err;
}

/*
 * The ledger will not change again: its process has ended, or somebody deleted the file and the process goes on in
 * another one. If it left no file, it is forgotten at once.
 */
static int end_item(struct tdm_follower *f, struct item *item)
{
	struct stat st;
	struct tdm_event event = { .op = TDM_OP_FORGET };
	bool is_gone = lstat(item->out.path, &st) != 0 && errno == ENOENT;
	bool has_moved = is_gone && (tdm_ledger_flags(item->ledger) & TDM_LEDGER_MOVED) != 0;
	f->deaths += !has_moved;
	f->has_moved |= has_moved;
	item->has_ended = true;
	tdm_ledger_close(item->ledger);
	item->ledger = NULL;
	if (!is_gone || (f->options->keeps_gone && !has_moved))
		return 0;
	item->was_told = false;
	return give(f, item, &event);
}

static int look_at(struct tdm_follower *f, struct item *item, uint64_t now_ns)
{
	struct tdm_diag diag = { 0 };
	int32_t holder;
	/* Liveness is checked before the figures are read: those of a dead process are then final. */
	enum tdm_liveness liveness = tdm_follow_liveness(&f->self, &item->judged, item->ledger, now_ns, &holder);
	if (item->is_fresh && !is_followed(f, item, liveness, holder))
		return 0;
	if (item->is_broken && now_ns < item->retry_ns && liveness != TDM_DEAD)
		return 0;
	if (!item->is_fresh && is_still(item, liveness, now_ns) && !wants_more(f, item))
		return 0;
	item->read_ns = now_ns;
	int read = refresh(item, liveness, &diag);
	item->is_broken = read != 0;
	if (read == 0)
		clear_problem(item);
	else
		set_problem(item, read, diag.text, now_ns);
	int err = give_process(f, item, liveness, holder);
	if (err == 0 && read == 0)
		err = give_all(f, item, liveness, holder);
	return err == 0 && liveness == TDM_DEAD ? end_item(f, item) : err;
}

/* Buffers and events of an ended process can still be asked for. */
static int look_back(struct tdm_follower *f, struct item *item, uint64_t now_ns)
{
	struct tdm_diag diag = { 0 };
	int err = 0;
	if (!item->was_told || now_ns < item->retry_ns || !wants_more(f, item))
		return 0;
	int read = open_ledger(item, &diag);
	if (read == -ENOENT)
		return 0; /* the next listing will drop it */
	if (read == 0)
		read = check_lanes(item, &diag);
	if (read == 0) {
		clear_problem(item);
		err = give_all(f, item, TDM_DEAD, 0);
	} else {
		set_problem(item, read, diag.text, now_ns);
	}
	tdm_ledger_close(item->ledger);
	item->ledger = NULL;
	return err;
}

static int look_at_item(struct tdm_follower *f, struct item *item, uint64_t now_ns)
{
	item->is_fresh = false;
	if (item->is_other)
		return 0;
	if (item->has_ended)
		return look_back(f, item, now_ns);
	if (item->ledger == NULL && now_ns >= item->retry_ns)
		open_item(f, item, now_ns);
	return item->ledger != NULL ? look_at(f, item, now_ns) : 0;
}

/* Listing. */

/* Drops the ledgers whose files are gone, except those that the caller wants to keep. */
static int drop_vanished(struct tdm_follower *f, uint64_t now_ns)
{
	size_t kept = 0;
	int err = 0;
	tdm_map_clear(&f->by_path);
	tdm_map_clear(&f->by_number);
	for (size_t i = 0; i < f->count; i++) {
		struct item *item = f->items[i];
		bool is_kept = f->options->keeps_gone && item->was_told && kept < TDM_FOLLOWED_MAX / 2;
		if (!item->is_listed && !is_kept) {
			struct tdm_event event = { .op = TDM_OP_FORGET };
			item->is_fresh = false;
			if (err == 0 && item->ledger != NULL) /* it is still open, and may have reported more */
				err = look_at(f, item, now_ns);
			err = err == 0 && item->was_told ? give(f, item, &event) : err;
			item_free(item);
			continue;
		}
		/* These cannot fail: the maps had as many entries before. */
		tdm_map_put(&f->by_path, tdm_str_hash(tdm_str_of(item->out.path)), (uint32_t)kept);
		tdm_map_put(&f->by_number, item->out.number, (uint32_t)kept);
		f->items[kept++] = item;
	}
	f->count = kept;
	return err;
}

/* Ledgers are named after the pid that their process sees itself. One that this process sees may have others inside. */
static size_t find_names(struct tdm_follower *f)
{
	size_t asked = f->options->pids != NULL ? f->options->pid_count : 0, count = asked;
	if (tdm_reserve(&f->names, &f->name_cap, asked * (1 + TDM_PID_LEVELS), sizeof *f->names) != 0) {
		f->out_of_memory = true;
		return 0;
	}
	for (size_t i = 0; i < asked; i++) {
		f->names[i] = f->options->pids[i];
		count += tdm_proc_inner_pids(f->options->pids[i], f->names + count, TDM_PID_LEVELS);
	}
	return count;
}

static int list_files(struct tdm_follower *f, uint64_t now_ns)
{
	uint64_t begin = tdm_clock_ns();
	int err = 0;
	f->cut = f->others = 0;
	f->err = 0;
	if (f->options->paths != NULL) {
		for (size_t i = 0; f->options->paths[i] != NULL; i++)
			note_path(f, f->options->paths[i]);
		f->list_ns = UINT64_MAX;
		return 0;
	}
	for (size_t i = 0; i < f->count; i++)
		f->items[i]->is_listed = false;
	struct tdm_ledger_search search = {
		.dir = f->options->dir, .pid_count = find_names(f), .each = note_entry, .context = f
	};
	search.pids = f->options->pids != NULL ? f->names : NULL;
	f->err = tdm_ledger_list(&search);
	f->others = search.others;
	f->cut += search.left_out;
	/* If the directory could not be read completely, files that were not listed may still exist. */
	if (f->err == 0 || f->err == -ENOENT)
		err = drop_vanished(f, now_ns);
	for (size_t i = 0; i < f->count; i++)
		f->items[i]->is_listed = true;
	f->list_ns = now_ns + tdm_max((tdm_clock_ns() - begin) * LIST_SHARE, TDM_NS_PER_S);
	return err;
}

int tdm_follower_look(struct tdm_follower *f, const struct tdm_follow_sink *sink, uint64_t now_ns)
{
	int err = 0;
	f->sink = sink;
	f->room.active_before = f->room.active;
	f->room.active = 0;
	f->out_of_memory = false;
	if (now_ns >= f->list_ns)
		err = list_files(f, now_ns);
	f->has_moved = false;
	for (size_t i = 0; i < f->count && err == 0; i++)
		err = look_at_item(f, f->items[i], now_ns);
	if (err == 0 && f->has_moved && f->options->paths == NULL)
		err = list_files(f, now_ns);
	for (size_t i = 0; i < f->count && err == 0 && f->has_moved; i++)
		if (f->items[i]->found_ns == 0) /* this listing brought it */
			err = look_at_item(f, f->items[i], now_ns);
	f->sink = NULL;
	return err != 0 ? err : f->out_of_memory ? -ENOMEM : 0;
}

/* Asking. */

size_t tdm_follower_count(const struct tdm_follower *f)
{
	return f->count;
}

const struct tdm_followed *tdm_follower_get(const struct tdm_follower *f, size_t i)
{
	return &f->items[i]->out;
}

uint64_t tdm_follower_cut(const struct tdm_follower *f)
{
	return f->cut;
}

uint64_t tdm_follower_others(const struct tdm_follower *f)
{
	uint64_t others = f->others;
	for (size_t i = 0; i < f->count; i++)
		others += f->items[i]->is_other;
	return others;
}

int tdm_follower_err(const struct tdm_follower *f)
{
	return f->err;
}

uint64_t tdm_follower_deaths(const struct tdm_follower *f)
{
	return f->deaths;
}

/* A process with an open ledger, and the index of its device; NULL: there is none. */
static struct item *find_device(const struct tdm_follower *f, uint64_t process, uint32_t device, size_t *d)
{
	uint32_t i = tdm_map_find(&f->by_number, process);
	struct item *item = i != TDM_MAP_NONE ? f->items[i] : NULL;
	for (*d = 0; item != NULL && item->ledger != NULL && *d < item->lane_count; ++*d)
		if (item->lanes[*d].is_described && item->lanes[*d].number == device)
			return item;
	return NULL;
}

struct tdm_ledger *tdm_follower_ledger(const struct tdm_follower *f, uint64_t process, uint32_t device, size_t *d)
{
	const struct item *item = find_device(f, process, device, d);
	return item != NULL ? item->ledger : NULL;
}

int tdm_follower_recount(struct tdm_follower *f, const struct tdm_follow_sink *sink, uint64_t process, uint32_t device)
{
	struct tdm_follow_look look = { .process = process, .sink = sink, .room = &f->room };
	struct item *item = find_device(f, process, device, &look.device);
	if (item == NULL)
		return -ENOENT;
	look.ledger = item->ledger;
	return tdm_follow_device_recount(&item->lanes[look.device], &look);
}
