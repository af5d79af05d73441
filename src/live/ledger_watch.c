#include "live/ledger_watch.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/reserve.h"
#include "ledger/ledger_list.h"
#include "sources/ledger_event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* A look into the directory takes at most this part of the time. */
enum { LIST_SHARE = 50 };
/* The first and the longest pause before a ledger that cannot be read is tried again. */
#define WAIT_FIRST_NS (TDM_NS_PER_S)
#define WAIT_MAX_NS   (64 * TDM_NS_PER_S)
/* A writer that takes longer to set its ledger up has been stopped while it did. */
#define SETUP_NS      (2 * TDM_NS_PER_S)
/* A ledger whose devices have not changed is looked at as a whole when this has passed. */
#define STILL_NS      (TDM_NS_PER_S * 4 / 10)

int tdm_ledger_watch_init(struct tdm_ledger_watch *watch, const char *dir)
{
	struct stat ns;
	*watch = (struct tdm_ledger_watch){ .dir = dir };
	watch->pid_namespace = stat("/proc/self/ns/pid", &ns) == 0 ? ns.st_ino : 0;
	return tdm_map_init(&watch->by_path);
}

static void free_item(struct tdm_watched *item)
{
	tdm_ledger_close(item->ledger);
	tdm_ledger_close(item->closing);
	free(item->left);
	free(item->path);
	free(item);
}

void tdm_ledger_watch_done(struct tdm_ledger_watch *watch)
{
	for (size_t i = 0; i < watch->count; i++)
		free_item(watch->items[i]);
	free(watch->items);
	tdm_map_done(&watch->by_path);
	*watch = (struct tdm_ledger_watch){ 0 };
}

/* Finding. */

static struct tdm_watched *find_item(const struct tdm_ledger_watch *watch, const char *path, uint64_t hash)
{
	uint32_t i = tdm_map_find(&watch->by_path, hash);
	if (i != TDM_MAP_NONE && strcmp(watch->items[i]->path, path) == 0)
		return watch->items[i];
	for (size_t k = 0; i != TDM_MAP_NONE && k < watch->count; k++) /* two paths with one hash */
		if (strcmp(watch->items[k]->path, path) == 0)
			return watch->items[k];
	return NULL;
}

static int add_item(struct tdm_ledger_watch *watch, const char *path, uint64_t hash)
{
	if (tdm_reserve(&watch->items, &watch->cap, watch->count + 1, sizeof *watch->items) != 0)
		return -ENOMEM;
	struct tdm_watched *item = calloc(1, sizeof *item);
	char *copy = item != NULL ? strdup(path) : NULL;
	if (copy == NULL || tdm_map_put(&watch->by_path, hash, (uint32_t)watch->count) != 0) {
		free(copy);
		free(item);
		return -ENOMEM;
	}
	item->path = copy;
	item->is_listed = true;
	item->err = -EAGAIN;
	watch->items[watch->count++] = item;
	return 0;
}

static void note_entry(void *context, const struct tdm_ledger_entry *entry)
{
	struct tdm_ledger_watch *watch = context;
	const char *path = entry->path;
	uint64_t hash = tdm_str_hash(tdm_str_of(path));
	struct tdm_watched *item = find_item(watch, path, hash);
	if (item != NULL)
		item->is_listed = true;
	else if (watch->count == TDM_WATCHED_MAX)
		watch->cut++;
	else if (add_item(watch, path, hash) != 0)
		watch->out_of_memory = true;
}

/* Lets go of the ledgers whose files are gone. */
static void drop_vanished(struct tdm_ledger_watch *watch)
{
	size_t kept = 0;
	for (size_t i = 0; i < watch->count; i++) {
		struct tdm_watched *item = watch->items[i];
		uint64_t hash = tdm_str_hash(tdm_str_of(item->path));
		if (!item->is_listed) {
			if (tdm_map_find(&watch->by_path, hash) == i)
				tdm_map_take(&watch->by_path, hash);
			free_item(item);
			continue;
		}
		if (kept != i && tdm_map_find(&watch->by_path, hash) == i)
			tdm_map_put(&watch->by_path, hash, (uint32_t)kept); /* replaces: needs no memory */
		watch->items[kept++] = item;
	}
	watch->count = kept;
}

static void list_files(struct tdm_ledger_watch *watch, uint64_t now_ns)
{
	uint64_t begin = tdm_clock_ns();
	for (size_t i = 0; i < watch->count; i++)
		watch->items[i]->is_listed = false;
	struct tdm_ledger_search search = { .dir = watch->dir, .each = note_entry, .context = watch };
	watch->cut = 0;
	watch->err = tdm_ledger_list(&search);
	watch->cut += search.left_out;
	/* Of a directory that could be read in part only, or not at all, nothing is known to be gone but what is dead.
	 */
	if (watch->err == 0 || watch->err == -ENOENT)
		drop_vanished(watch);
	for (size_t i = 0; i < watch->count; i++)
		watch->items[i]->is_listed = true;
	uint64_t pause = (tdm_clock_ns() - begin) * LIST_SHARE;
	watch->list_ns = now_ns + (pause > TDM_NS_PER_S ? pause : TDM_NS_PER_S);
}

/* Reading. */

static void set_problem(struct tdm_watched *item, int err, const char *text, uint64_t now_ns)
{
	item->err = err;
	tdm_str_shown(tdm_str_of(text), item->text, sizeof item->text);
	item->wait_ns = item->wait_ns == 0            ? WAIT_FIRST_NS
			: item->wait_ns < WAIT_MAX_NS ? item->wait_ns * 2
						      : item->wait_ns;
	item->retry_ns = now_ns + item->wait_ns;
}

static void clear_problem(struct tdm_watched *item)
{
	item->err = 0;
	item->text[0] = '\0';
	item->wait_ns = item->retry_ns = 0;
	item->is_broken = false;
}

/* As many files as the system lets this process have open. */
static bool raise_file_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

static void open_item(struct tdm_watched *item, uint64_t now_ns)
{
	struct tdm_diag diag = { 0 };
	if (item->found_ns == 0)
		item->found_ns = now_ns;
	int err = tdm_ledger_open(item->path, &item->ledger, &diag);
	if (err == -EMFILE && raise_file_limit())
		err = tdm_ledger_open(item->path, &item->ledger, &diag);
	if (err == 0) {
		clear_problem(item);
		item->uid = tdm_ledger_file_owner(item->ledger);
		return;
	}
	set_problem(item, err, diag.text, now_ns);
	if (err == -EAGAIN && now_ns - item->found_ns < SETUP_NS)
		item->retry_ns = item->wait_ns = 0; /* it is being set up: soon */
	if (err == -ENOENT)
		item->is_listed = false;
}

static void read_phase(struct tdm_watched *item)
{
	struct tdm_ledger_phase phase;
	uint32_t count = tdm_ledger_phase_count(item->ledger);
	if (count == item->phase_count)
		return;
	item->phase_count = count;
	item->phase[0] = '\0';
	if (count != 0 && tdm_ledger_phases(item->ledger, count - 1, &phase, 1) == 1 &&
		(phase.flags & TDM_PHASE_MARK) != 0)
		tdm_str_shown(tdm_ledger_text(item->ledger, phase.name), item->phase, sizeof item->phase);
}

static void add_faults(struct tdm_watched *item)
{
	uint64_t seq = 0, faults = 0, oom = 0;
	for (size_t i = 0; i < tdm_watched_device_count(item); i++)
		seq += tdm_watched_device(item, i)->seq;
	if (seq == item->figures_seq)
		return;
	for (size_t i = 0; i < tdm_watched_device_count(item); i++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_ledger_faults *f = &tdm_watched_device(item, i)->faults[k];
			faults += f->double_frees + f->unknown_frees + f->rereports;
			oom += f->out_of_memory;
		}
	item->figures_seq = seq;
	item->faults = faults;
	item->out_of_memory = oom;
}

/* Who it is, here: the number that the writer has for this process is another one when it lives in a container. */
static void place_process(const struct tdm_ledger_watch *watch, struct tdm_watched *item, int32_t holder)
{
	bool same = watch->pid_namespace != 0 && item->who.pid_namespace == watch->pid_namespace;
	if (same)
		item->pid = item->who.pid;
	else if (holder != 0)
		item->pid = holder;
	item->in_container = !same && item->pid != item->who.pid;
	item->holds_lock = holder != 0 && holder == item->pid;
}

/* Takes what the process left: nothing will change any more. Whoever wants the last events has time until the next
 * refresh. */
static void keep_left(struct tdm_ledger_watch *watch, struct tdm_watched *item)
{
	size_t count = tdm_ledger_device_count(item->ledger);
	struct tdm_ledger_view *left = calloc(count != 0 ? count : 1, sizeof *left);
	if (left == NULL) {
		watch->out_of_memory = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		left[i] = *tdm_ledger_device(item->ledger, i);
	item->closing = item->ledger;
	item->ledger = NULL;
	item->left = left;
	item->left_count = count;
}

/* Most programs do nothing between two pictures that follow each other closely. What is not in a device's counters
 * (another device, a phase, the clocks) may then be a little late. */
static bool is_still(const struct tdm_watched *item, enum tdm_liveness liveness, uint64_t now_ns)
{
	return liveness == TDM_ALIVE && item->is_known && !item->is_broken && now_ns - item->read_ns < STILL_NS &&
	       tdm_ledger_is_still(item->ledger);
}

static void refresh_item(struct tdm_ledger_watch *watch, struct tdm_watched *item, bool is_fresh, uint64_t now_ns)
{
	struct tdm_diag diag = { 0 };
	int32_t holder;
	size_t count = 0;
	/* The end is looked for before the last figures are read, so that they are the last. */
	enum tdm_liveness liveness = tdm_ledger_holder(item->ledger, &holder);
	if (item->is_broken && now_ns < item->retry_ns && liveness != TDM_DEAD)
		return;
	if (!is_fresh && is_still(item, liveness, now_ns))
		return;
	item->read_ns = now_ns;
	/* One that ended just after it was opened may have reported something in between. */
	int err = is_fresh && liveness != TDM_DEAD ? 0 : tdm_ledger_refresh(item->ledger, &diag);
	if (err == 0)
		count = tdm_ledger_device_count(item->ledger);
	if (count > item->device_high)
		item->device_high = count;
	if (err == 0 && count < item->device_high) {
		err = TDM_ECORRUPT;
		tdm_diag_set(&diag, err, 0, 0, "damaged: a device that was there cannot be read any more");
	}
	item->who = tdm_ledger_process(item->ledger, liveness);
	item->is_known = true;
	place_process(watch, item, holder);
	if (err == 0) {
		clear_problem(item);
		read_phase(item);
		add_faults(item);
	} else {
		set_problem(item, err, diag.text, now_ns);
		item->is_broken = true;
	}
	if (liveness == TDM_DEAD) {
		struct stat st;
		watch->deaths++;
		keep_left(watch, item);
		if (lstat(item->path, &st) != 0 && errno == ENOENT)
			item->is_listed = false; /* it ended with nothing left */
	}
}

void tdm_ledger_watch_refresh(struct tdm_ledger_watch *watch, uint64_t now_ns)
{
	watch->out_of_memory = false;
	if (now_ns >= watch->list_ns)
		list_files(watch, now_ns);
	for (size_t i = 0; i < watch->count; i++) {
		struct tdm_watched *item = watch->items[i];
		bool is_closed = item->ledger == NULL, ended = item->is_known && is_closed;
		tdm_ledger_close(item->closing);
		item->closing = NULL;
		if (is_closed && !ended && now_ns >= item->retry_ns)
			open_item(item, now_ns);
		if (item->ledger != NULL)
			refresh_item(watch, item, is_closed, now_ns);
	}
}
