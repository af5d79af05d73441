#include "live/follow/follower.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/number.h"
#include "ledger/read/ledger_list.h"
#include "live/follow/follow_parts.h"
#include "live/host/proc_facts.h"
#include "ledger/layout/ledger_file.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * ---- a ledger's process: its identity, whether to believe that identity, and whether the process is running ----
 *
 * Anybody can write any pid into a file. A process's own ledger is believed if that process holds the writer's lock and
 * runs as the file's owner. A ledger written on behalf of a process is believed if it belongs to root, to the reader's
 * own user, or to the user "tidemark", who runs the daemon. Pid and start time then decide whether its process is
 * running, no matter who holds the lock.
 */

#define DAEMON_USER "tidemark"

struct item {
	struct tdm_followed out;
	struct tdm_ledger *ledger;       /* NULL if it cannot be opened, or the process has ended */
	bool is_listed;                  /* it was in the last listing of the directory */
	bool is_fresh;                   /* it was opened in this look */
	bool is_other;                   /* the ledger's process was not requested, though one of its pids matches */
	bool has_ended, is_broken;       /* is_broken: it can no longer be read */
	bool was_told;                   /* a PROCESS event was given */
	struct tdm_follow_device *lanes; /* its devices */
	size_t lane_count;
	size_t modules_given;
	uint32_t phase_count;
	struct tdm_ledger_notes *notes; /* as last passed on; NULL if none were */
	/* The verdict on its process: */
	bool is_judged; /* is_claimed is valid for judged_holder */
	bool is_claimed;
	int32_t judged_holder;
	bool has_no_writer;     /* nobody holds the lock */
	enum tdm_liveness life; /* by the client's pid and start time, at `life_ns`; 0 before the first check */
	uint64_t life_ns;       /* monotonic clock, like the next */
	uint64_t found_ns, retry_ns, wait_ns, read_ns, notes_ns;
	/* As of this look: whether the process is running, and the pid that proves this by holding the lock (0: not
	 * proved). */
	enum tdm_liveness liveness;
	int32_t holder;
};

struct tdm_follower {
	const struct tdm_follow_options *options;
	struct item **items;
	size_t count, cap;
	struct tdm_map by_path;   /* from the path's hash to an index */
	struct tdm_map by_number; /* from the process's number to an index */
	uint32_t next_number;
	uint64_t cut, others, deaths;
	int err;
	int32_t *names; /* pids in the names of the requested ledgers */
	size_t name_cap;
	uint64_t list_ns;                   /* when to list the directory again */
	uint64_t pid_namespace;             /* the reader's; 0 if unknown */
	uint8_t boot_id[16];                /* all 0 if unknown */
	bool has_moved;                     /* a process continues in another ledger, which has not been found yet */
	const struct tdm_follow_sink *sink; /* of the current look */
	struct tdm_follow_room room;
};

/* How long to reuse an answer from /proc about a client. */
#define LIFE_NS (TDM_NS_PER_S * 4 / 10)

static bool is_here(const struct tdm_follower *f, uint64_t pid_namespace)
{
	return f->pid_namespace != 0 && pid_namespace == f->pid_namespace;
}

/* Decides whether a ledger's process is running. */
static void find_liveness(const struct tdm_follower *f, struct item *item, uint64_t now_ns)
{
	static const uint8_t unknown[16];
	static const enum tdm_liveness lives[] = {
		[TDM_LIFE_UNKNOWN] = TDM_ALIVE_UNKNOWN, [TDM_LIFE_RUNS] = TDM_ALIVE, [TDM_LIFE_ENDED] = TDM_DEAD
	};
	const struct tdm_ledger_header *who = tdm_ledger_header(item->ledger);
	enum tdm_liveness lock = tdm_ledger_holder(item->ledger, &item->holder);
	item->liveness = lock;
	item->has_no_writer = lock == TDM_DEAD;
	if ((who->flags & TDM_LEDGER_ON_BEHALF) == 0)
		return;
	item->holder = 0; /* the lock's holder is the daemon */
	bool is_of_earlier_boot = memcmp(f->boot_id, unknown, sizeof unknown) != 0 &&
				  memcmp(f->boot_id, who->boot_id, sizeof unknown) != 0;
	if (who->state == TDM_LEDGER_CLOSED || (who->flags & TDM_LEDGER_MOVED) != 0 || is_of_earlier_boot) {
		item->liveness = TDM_DEAD;
		return;
	}
	if (!is_here(f, who->pid_namespace)) { /* the pid means nothing here; the writer notices the process's end */
		item->liveness = lock == TDM_ALIVE ? TDM_ALIVE : TDM_ALIVE_UNKNOWN;
		return;
	}
	if (item->life_ns == 0 || now_ns - item->life_ns >= LIFE_NS) {
		item->life = lives[tdm_proc_life_of(who->pid, who->start_time)];
		item->life_ns = now_ns;
	}
	item->liveness = item->life;
}

static bool is_trusted(uint32_t owner)
{
	static bool is_known;
	static uint32_t daemon; /* the user's id, looked up once; UINT32_MAX if there is none */
	char room[4096];
	struct passwd entry, *found = NULL;
	if (owner == 0 || owner == geteuid())
		return true;
	if (!is_known) {
		bool is_there = getpwnam_r(DAEMON_USER, &entry, room, sizeof room, &found) == 0 && found != NULL;
		daemon = is_there ? (uint32_t)found->pw_uid : UINT32_MAX;
		is_known = true;
	}
	return owner != UINT32_MAX && owner == daemon;
}

/* Whether the pid is only a claim. The lock's holder and the process's users may both be unknown. */
static bool is_claim(struct item *item, const struct tdm_process *who)
{
	if (who->life == TDM_LIFE_ENDED || (item->is_judged && item->judged_holder == item->holder))
		return item->is_claimed;
	bool may_be = item->holder == 0 || item->holder == who->pid;
	int has_user = may_be ? tdm_proc_has_user(who->pid, who->uid) : 0;
	item->is_judged = true;
	item->judged_holder = item->holder;
	item->is_claimed = has_user == 0 || (has_user < 0 && item->holder == 0);
	return item->is_claimed;
}

/* ---- ledgers ---- */

enum { LIST_SHARE = 50 }; /* listing the directory takes at most 1/LIST_SHARE of the time */
/* The first and the longest pause before an unreadable ledger is tried again. */
#define WAIT_FIRST_NS (TDM_NS_PER_S)
#define WAIT_MAX_NS   (64 * TDM_NS_PER_S)
/* A writer that takes longer than this to set up its ledger has been stopped. */
#define SETUP_NS      (2 * TDM_NS_PER_S)
/* A ledger whose devices have not changed is read completely only after this time. */
#define STILL_NS      (TDM_NS_PER_S * 4 / 10)

struct tdm_follower *tdm_follower_new(const struct tdm_follow_options *options)
{
	struct tdm_follower *f = tdm_zalloc(1, sizeof *f);
	f->options = options;
	struct stat ns;
	f->pid_namespace = stat("/proc/self/ns/pid", &ns) == 0 ? ns.st_ino : 0;
	if (!tdm_ledger_boot_id(f->boot_id))
		memset(f->boot_id, 0, sizeof f->boot_id);
	return f;
}

static void item_free(struct item *item)
{
	tdm_ledger_close(item->ledger);
	free(item->lanes);
	free(item->notes);
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

static void give(struct tdm_follower *f, const struct item *item, struct tdm_event *event)
{
	tdm_follow_give(f->sink, item->out.number, event);
}

/* Finding. */

static void note_path(struct tdm_follower *f, const char *path)
{
	uint64_t hash = tdm_str_hash(tdm_str_of(path));
	uint32_t at = tdm_map_find(&f->by_path, hash);
	size_t i = at != TDM_MAP_NONE ? at : f->count;
	if (i < f->count && strcmp(f->items[i]->out.path, path) != 0) /* two paths have the same hash */
		for (i = 0; i < f->count && strcmp(f->items[i]->out.path, path) != 0;)
			i++;
	if (i < f->count) {
		f->items[i]->is_listed = true;
		return;
	}
	if (f->count == TDM_FOLLOWED_MAX) {
		f->cut++;
		return;
	}
	struct item *item = tdm_zalloc(1, sizeof *item);
	item->out = (struct tdm_followed){ .path = tdm_strdup(path), .number = ++f->next_number, .err = -EAGAIN };
	item->is_listed = true;
	tdm_map_set(&f->by_number, item->out.number, (uint32_t)f->count);
	tdm_map_set(&f->by_path, hash, (uint32_t)f->count);
	tdm_grow(&f->items, &f->cap, f->count + 1, sizeof *f->items);
	f->items[f->count++] = item;
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

static int open_ledger(struct item *item, struct tdm_diag *diag)
{
	struct rlimit limit;
	int err = tdm_ledger_open(item->out.path, &item->ledger, diag);
	if (err != -EMFILE || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
		return err;
	/* Allows this process to open as many files as the system permits. */
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? tdm_ledger_open(item->out.path, &item->ledger, diag) : err;
}

/* The process. */

static struct tdm_process process_of(const struct tdm_follower *f, struct item *item)
{
	static const uint8_t lives[] = {
		[TDM_ALIVE] = TDM_LIFE_RUNS,
		[TDM_DEAD] = TDM_LIFE_ENDED,
		[TDM_ALIVE_UNKNOWN] = TDM_LIFE_UNKNOWN,
	};
	const struct tdm_ledger_header *header = tdm_ledger_header(item->ledger);
	bool same = is_here(f, header->pid_namespace);
	struct tdm_process who = {
		.pid_namespace = header->pid_namespace,
		.pid = header->pid,
		.start_time = header->start_time,
		.generation = header->generation,
		.uid = tdm_ledger_file_owner(item->ledger),
		.life = lives[item->liveness],
		.is_on_behalf = (header->flags & TDM_LEDGER_ON_BEHALF) != 0,
		.is_renewed = (header->flags & TDM_LEDGER_RENEWED) != 0,
		.mode_refused = (header->flags & TDM_LEDGER_BAD_MODE) != 0,
		.ring_refused = (header->flags & TDM_LEDGER_BAD_RING) != 0,
		.closed = header->state == TDM_LEDGER_CLOSED,
		.started_ns = header->first.monotonic_ns,
		.lost_texts = header->lost[TDM_LOSS_TEXT],
		.refused = tdm_ledger_refused(item->ledger),
		.frees_inherited = header->frees_inherited,
	};
	static_assert(sizeof who.comm >= sizeof header->comm && sizeof who.command >= sizeof header->command,
		"the ledger's texts have a place");
	memcpy(who.boot_id, header->boot_id, sizeof who.boot_id);
	memcpy(who.comm, header->comm, sizeof header->comm);
	memcpy(who.command, header->command, sizeof header->command);
	for (int i = 0; i < TDM_LOSS_COUNT; i++) {
		who.losses[i] = header->lost[i];
		if (i != TDM_LOSS_TEXT)
			who.lost = tdm_plus(who.lost, who.losses[i]);
	}
	if (who.is_on_behalf) {
		who.is_claimed = !is_trusted(who.uid);
		if (!who.is_claimed)
			who.uid = header->uid;
		who.seen_pid = !who.is_claimed && same ? who.pid : 0;
		/* While nobody writes the ledger, its figures have an age. */
		if (item->has_no_writer && who.life != TDM_LIFE_ENDED)
			who.as_of_ns = tdm_ledger_noted(item->ledger).monotonic_ns;
		return who;
	}
	/* A process in a container has one pid here and another inside. */
	who.is_claimed = same && is_claim(item, &who);
	if (same)
		who.seen_pid = who.is_claimed && item->holder != who.pid ? 0 : who.pid;
	else
		who.seen_pid = item->holder != 0 ? item->holder : item->out.who.seen_pid;
	who.is_held = item->holder != 0 && item->holder == who.seen_pid;
	return who;
}

static void give_process(struct tdm_follower *f, struct item *item)
{
	struct tdm_process who = process_of(f, item);
	struct tdm_event event = { .op = TDM_OP_PROCESS, .who = &who, .name = tdm_str_of(item->out.path) };
	who.is_stuck = item->is_broken;
	who.refused = tdm_max(who.refused, item->out.who.refused); /* a reopened ledger counts from 0 again */
	bool is_same = item->was_told && memcmp(&who, &item->out.who, sizeof who) == 0;
	item->out.who = who;
	item->out.is_known = true;
	item->was_told = true;
	if (!is_same)
		give(f, item, &event);
}

static void give_all(struct tdm_follower *f, struct item *item)
{
	size_t count = tdm_ledger_device_count(item->ledger);
	uint64_t base, size;
	struct tdm_str path;
	if (count > item->lane_count) {
		item->lanes = tdm_realloc(item->lanes, count, sizeof *item->lanes);
		memset(item->lanes + item->lane_count, 0, (count - item->lane_count) * sizeof *item->lanes);
		item->lane_count = count;
	}
	while (tdm_ledger_module(item->ledger, item->modules_given, &base, &size, &path) != 0) {
		struct tdm_event event = { .op = TDM_OP_MODULE, .address = base, .size = size, .name = path };
		item->modules_given++;
		give(f, item, &event);
	}
	struct tdm_follow_look look = { item->ledger, 0, item->out.number, f->sink, &f->room, NULL, 0 };
	for (; look.device < count; look.device++)
		tdm_follow_device_give(&item->lanes[look.device], &look);
	if (look.unread != 0)
		set_problem(item, look.unread, tdm_err_text(look.unread), item->read_ns);
	uint32_t phases = tdm_ledger_header(item->ledger)->phase_count;
	if (phases != item->phase_count) {
		struct tdm_ledger_phase phase;
		struct tdm_event event = { .op = TDM_OP_PHASE };
		item->phase_count = phases;
		/* A mark begins a phase that is still running; a phase recorded by the tracker is over. */
		if (phases != 0 && tdm_ledger_phases(item->ledger, phases - 1, &phase, 1) == 1 &&
			(phase.flags & TDM_PHASE_MARK) != 0) {
			event.time_ns = tdm_ledger_time(item->ledger, phase.begin_tsc);
			event.address = TDM_ADDRESS_UNKNOWN;
			event.bytes_per_bank = TDM_SIZE_UNKNOWN;
			event.name = tdm_ledger_text(item->ledger, phase.name);
		}
		give(f, item, &event);
	}
	/* Counters change all the time, so they are passed on less often than other figures, but always when the
	 * process ends. */
	bool is_due = item->notes == NULL || item->liveness != TDM_ALIVE || item->read_ns - item->notes_ns >= STILL_NS;
	if (is_due && tdm_follow_notes_give(&item->notes, &look))
		item->notes_ns = item->read_ns;
	/* Some bad records are found only while buffers and events are being read. */
	if (tdm_ledger_refused(item->ledger) > item->out.who.refused)
		give_process(f, item);
}

/* A look at one ledger. */

/* Whether a device has anything to pass on even though its counters have not changed. */
static bool wants_more(const struct tdm_follower *f, const struct item *item)
{
	for (size_t d = 0; d < item->lane_count; d++) {
		const struct tdm_follow_device *lane = &item->lanes[d];
		/* A walk over the slots between two looks may have advanced the view. */
		uint64_t seq = item->ledger != NULL ? tdm_ledger_device(item->ledger, d)->seq : lane->seen_seq;
		if (lane->is_described && tdm_follow_device_has_more(lane, f->sink, item->out.number, seq))
			return true;
	}
	return false;
}

/* Checks that every known device still exists with the same number. */
static int check_lanes(const struct item *item, struct tdm_diag *diag)
{
	uint32_t number;
	for (size_t d = 0; d < item->lane_count; d++)
		if (d >= tdm_ledger_device_count(item->ledger) ||
			(item->lanes[d].is_described &&
				(!tdm_follow_device_number(tdm_ledger_device(item->ledger, d), &number) ||
					number != item->lanes[d].number)))
			return tdm_diag_set(
				diag, TDM_ECORRUPT, 0, 0, "damaged: a device that was there cannot be read any more");
	return 0;
}

/*
 * The ledger will not change again: its process has ended, or the file was deleted and the process continues in another
 * one. A ledger whose file is gone is forgotten at once.
 */
static void end_item(struct tdm_follower *f, struct item *item)
{
	struct stat st;
	struct tdm_event event = { .op = TDM_OP_FORGET };
	bool is_gone = lstat(item->out.path, &st) != 0 && errno == ENOENT;
	bool has_moved = is_gone && (tdm_ledger_header(item->ledger)->flags & TDM_LEDGER_MOVED) != 0;
	f->deaths += !has_moved;
	f->has_moved |= has_moved;
	item->has_ended = true;
	tdm_ledger_close(item->ledger);
	item->ledger = NULL;
	if (!is_gone || (f->options->keeps_gone && !has_moved))
		return;
	item->was_told = false;
	give(f, item, &event);
}

static void look_at(struct tdm_follower *f, struct item *item, uint64_t now_ns)
{
	struct tdm_diag diag = { 0 };
	/* Checks liveness before reading the figures, so that a dead process's figures are final. */
	find_liveness(f, item, now_ns);
	if (item->is_fresh && f->options->pids != NULL) {
		struct tdm_process who = process_of(f, item);
		size_t i = 0;
		while (i < f->options->pid_count && f->options->pids[i] != who.pid &&
			f->options->pids[i] != who.seen_pid)
			i++;
		item->is_other = i == f->options->pid_count;
		if (item->is_other) {
			tdm_ledger_close(item->ledger);
			item->ledger = NULL;
			return;
		}
	}
	if (item->is_broken && now_ns < item->retry_ns && item->liveness != TDM_DEAD)
		return;
	/* Most programs do nothing between two looks in quick succession; their ledgers are then not read completely.
	 * Changes that do not affect a device's counters (a new device, a phase, the clocks) may be noticed a little
	 * late. */
	bool is_still = item->liveness == TDM_ALIVE && item->was_told && !item->is_broken &&
			now_ns - item->read_ns < STILL_NS && tdm_ledger_is_still(item->ledger);
	if (!item->is_fresh && is_still && !wants_more(f, item))
		return;
	item->read_ns = now_ns;
	/* A process that ended just after its ledger was opened may have reported something in between. */
	bool is_read = item->is_fresh && item->liveness != TDM_DEAD;
	int err = is_read ? 0 : tdm_ledger_refresh(item->ledger, &diag);
	if (err == 0)
		err = check_lanes(item, &diag);
	item->is_broken = err != 0;
	if (err == 0)
		clear_problem(item);
	else
		set_problem(item, err, diag.text, now_ns);
	give_process(f, item);
	if (err == 0)
		give_all(f, item);
	if (item->liveness == TDM_DEAD)
		end_item(f, item);
}

static void look_at_item(struct tdm_follower *f, struct item *item, uint64_t now_ns)
{
	struct tdm_diag diag = { 0 };
	item->is_fresh = false;
	/* Buffers and events of an ended process may still be wanted. */
	bool is_due = now_ns >= item->retry_ns && (!item->has_ended || (item->was_told && wants_more(f, item)));
	if (item->is_other || (item->ledger == NULL && !is_due))
		return;
	if (item->ledger == NULL) {
		if (item->found_ns == 0)
			item->found_ns = now_ns;
		int err = open_ledger(item, &diag);
		if (err == -ENOENT && item->has_ended)
			return; /* the next listing will drop it */
		if (err == 0 && item->has_ended)
			err = check_lanes(item, &diag);
		item->is_fresh = err == 0;
		if (err == 0)
			clear_problem(item);
		else
			set_problem(item, err, diag.text, now_ns);
		if (err == -EAGAIN && !item->has_ended && now_ns - item->found_ns < SETUP_NS) {
			item->retry_ns = item->wait_ns = 0; /* being set up: try again soon */
			if (!f->options->names_new)
				item->out.text[0] = '\0';
		}
		if (err == -ENOENT && f->options->paths == NULL)
			item->out.text[0] = '\0'; /* no error: the process ended after the listing and left nothing */
	}
	if (!item->has_ended) {
		if (item->ledger != NULL)
			look_at(f, item, now_ns);
		return;
	}
	item->liveness = TDM_DEAD;
	item->holder = 0;
	if (item->is_fresh)
		give_all(f, item);
	tdm_ledger_close(item->ledger);
	item->ledger = NULL;
}

/* Listing. */

/* Drops the ledgers whose files are gone, except those that the caller wants to keep. */
static void drop_vanished(struct tdm_follower *f, uint64_t now_ns)
{
	size_t kept = 0;
	tdm_map_clear(&f->by_path);
	tdm_map_clear(&f->by_number);
	for (size_t i = 0; i < f->count; i++) {
		struct item *item = f->items[i];
		bool is_kept = f->options->keeps_gone && item->was_told && kept < TDM_FOLLOWED_MAX / 2;
		if (!item->is_listed && !is_kept) {
			struct tdm_event event = { .op = TDM_OP_FORGET };
			item->is_fresh = false;
			if (item->ledger != NULL) /* still open, and may have more */
				look_at(f, item, now_ns);
			if (item->was_told)
				give(f, item, &event);
			item_free(item);
			continue;
		}
		tdm_map_set(&f->by_path, tdm_str_hash(tdm_str_of(item->out.path)), (uint32_t)kept);
		tdm_map_set(&f->by_number, item->out.number, (uint32_t)kept);
		f->items[kept++] = item;
	}
	f->count = kept;
}

static void list_files(struct tdm_follower *f, uint64_t now_ns)
{
	uint64_t begin = tdm_clock_ns();
	f->cut = f->others = 0;
	f->err = 0;
	if (f->options->paths != NULL) {
		for (size_t i = 0; f->options->paths[i] != NULL; i++)
			note_path(f, f->options->paths[i]);
		f->list_ns = UINT64_MAX;
		return;
	}
	for (size_t i = 0; i < f->count; i++)
		f->items[i]->is_listed = false;
	/* A ledger's name contains the pid that its process sees. Inside a container, that pid may differ from the
	 * requested one. */
	size_t asked = f->options->pids != NULL ? f->options->pid_count : 0, count = asked;
	tdm_grow(&f->names, &f->name_cap, asked * (1 + TDM_PID_LEVELS), sizeof *f->names);
	for (size_t i = 0; i < asked; i++) {
		f->names[i] = f->options->pids[i];
		count += tdm_proc_inner_pids(f->options->pids[i], f->names + count, TDM_PID_LEVELS);
	}
	struct tdm_ledger_search search = { .dir = f->options->dir,
		.pids = f->options->pids != NULL ? f->names : NULL,
		.pid_count = count,
		.each = note_entry,
		.context = f };
	f->err = tdm_ledger_list(&search);
	f->others = search.others;
	f->cut += search.left_out;
	/* If the directory could not be read completely, unlisted files may still exist. */
	if (f->err == 0 || f->err == -ENOENT)
		drop_vanished(f, now_ns);
	for (size_t i = 0; i < f->count; i++)
		f->items[i]->is_listed = true;
	f->list_ns = now_ns + tdm_max((tdm_clock_ns() - begin) * LIST_SHARE, TDM_NS_PER_S);
}

void tdm_follower_look(struct tdm_follower *f, const struct tdm_follow_sink *sink, uint64_t now_ns)
{
	f->sink = sink;
	f->room.active_before = f->room.active;
	f->room.active = 0;
	if (now_ns >= f->list_ns)
		list_files(f, now_ns);
	f->has_moved = false;
	for (size_t i = 0; i < f->count; i++)
		look_at_item(f, f->items[i], now_ns);
	if (f->has_moved && f->options->paths == NULL)
		list_files(f, now_ns);
	for (size_t i = 0; i < f->count && f->has_moved; i++)
		if (f->items[i]->found_ns == 0) /* new in this listing */
			look_at_item(f, f->items[i], now_ns);
	f->sink = NULL;
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

/* A process with an open ledger, and the index of its device; NULL if there is none. */
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
