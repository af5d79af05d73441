/* Checks of the ledgers: their directory, unreadable ones, those of ended programs, lost events, refused settings, and
 * implausible figures. */
#include "analyze/doctor_checks.h"
#include "base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

/* A ledger with one device takes some hundred KiB and grows by 96 bytes a buffer. */
#define SPACE_NEEDED  (UINT64_C(512) << 10)
#define SPACE_WANTED  (UINT64_C(16) << 20)
#define SPACE_PRIVATE (UINT64_C(64) << 20) /* the default of a container */

static const char *look_at_ledgers(struct tdm_doctor *d)
{
	return tdm_doctor_look(d, "%s", d->setup->probe.places.ledgers);
}

static void check_space(struct tdm_doctor *d)
{
	const struct tdm_probe *probe = &d->setup->probe;
	char free_text[TDM_BYTES_CAP], all_text[TDM_BYTES_CAP];
	if (probe->space_err != 0) {
		tdm_doctor_say(
			d, WARNING, "cannot tell the free space of %s: %s", d->looked, tdm_err_text(probe->space_err));
		return;
	}
	tdm_format_bytes_short(free_text, sizeof free_text, probe->free_bytes);
	tdm_format_bytes_short(all_text, sizeof all_text, probe->all_bytes);
	int state = probe->free_bytes < SPACE_NEEDED ? BROKEN : probe->free_bytes < SPACE_WANTED ? WARNING : OK;
	tdm_doctor_say(d, state, "%s %s %s free of %s", d->looked, state == OK ? "may be written, with" : "has only",
		free_text, all_text);
	if (state != OK)
		tdm_doctor_advise(d, "tidemark dump --reap",
			"make room, or let programs write elsewhere with TIDEMARK_DIR: a ledger that cannot grow loses "
			"events and counts them");
	if (probe->all_bytes <= SPACE_PRIVATE && probe->all_bytes != 0) {
		tdm_doctor_say(
			d, WARNING, "the file system has only %s, as the private /dev/shm of a container", all_text);
		tdm_doctor_advise(d, NULL,
			"start the container with --shm-size=1g, or with --ipc=host so that the host sees its ledgers, "
			"too");
	}
}

/* Something else has the name of this user's folder, by accident or because somebody wants to disturb. */
static void check_folder(struct tdm_doctor *d)
{
	const struct tdm_probe_file *folder = &d->setup->probe.user_folder;
	bool is_there = folder->is_link || folder->err == 0;
	bool is_usable = !folder->is_link && S_ISDIR(folder->mode) && !folder->is_foreign && (folder->mode & 0022) == 0;
	if (!is_there || is_usable)
		return;
	const char *path = tdm_doctor_look(d, "%s", d->setup->probe.user_folder_path);
	tdm_doctor_say(d, WARNING, "%s %s: programs of this user put their ledgers beside it", path,
		folder->is_foreign                          ? "belongs to somebody else"
		: !folder->is_link && S_ISDIR(folder->mode) ? "can be written by others"
							    : "is not a folder");
	tdm_doctor_advise(d, NULL,
		folder->is_foreign ? "its owner or root can remove it; tracking works nevertheless"
				   : "remove it, or correct its permissions; tracking works nevertheless");
	look_at_ledgers(d);
}

/* The directory: it exists, can be read and written, and has room; nobody has taken this user's folder. */
void tdm_doctor_ledgers_directory(struct tdm_doctor *d)
{
	const struct tdm_probe_file *file = &d->setup->probe.ledger_dir;
	const char *dir = look_at_ledgers(d);
	if (file->err != 0) {
		tdm_doctor_say(d, BROKEN, "%s: %s", dir, tdm_err_text(file->err));
		if (file->err == -ENOENT)
			tdm_doctor_advise(d, tdm_doctor_command(d, "mkdir -p", dir),
				"make it, or set TIDEMARK_DIR to another directory");
	} else if (!S_ISDIR(file->mode)) {
		tdm_doctor_say(d, BROKEN, "%s is not a directory", dir);
		tdm_doctor_advise(d, NULL, "set TIDEMARK_DIR to a directory, or take it away");
	} else if (file->read_err != 0) {
		tdm_doctor_say(d, BROKEN, "%s cannot be read: %s", dir, tdm_err_text(file->read_err));
		tdm_doctor_advise(d, NULL, "set TIDEMARK_DIR to a directory of yours");
	} else if (file->write_err != 0) {
		tdm_doctor_say(d, BROKEN, "programs of this user cannot write their ledgers into %s: %s", dir,
			tdm_err_text(file->write_err));
		tdm_doctor_advise(d, NULL, "set TIDEMARK_DIR to a directory of yours, for them and for tidemark");
	} else {
		check_space(d);
		check_folder(d);
	}
}

/* What to do about a ledger that cannot be read. */
static const struct {
	int err;
	const char *command, *text;
} remedies[] = {
	{ -EACCES, "sudo tidemark dump",
		"it is another user's: look as that user or as root; or let its program share it with "
		"TIDEMARK_MODE=0644" },
	{ TDM_EVERSION, NULL, "its program has a libtidemark of another version: use the tidemark that came with it" },
	{ TDM_ECORRUPT, "tidemark dump --reap", "it is not a ledger, or it is damaged: remove it" },
	{ -EAGAIN, "tidemark dump --reap",
		"look again; if this stays, its program was killed right at its start, and it may be removed" },
};

enum { NAMED_MAX = 10 }; /* ledgers: anybody can make any number of files */

static void advise_problem(struct tdm_doctor *d, int err, const struct tdm_probe_file *file)
{
	/* The library makes and removes regular files only. */
	if (file->is_link || (file->err == 0 && !S_ISREG(file->mode))) {
		bool is_dir = !file->is_link && S_ISDIR(file->mode);
		tdm_doctor_advise(d, is_dir ? NULL : tdm_doctor_command(d, "rm", d->looked),
			"no tracked program created it: move it elsewhere, or remove it");
		return;
	}
	bool is_junk = err == TDM_ECORRUPT || err == -EAGAIN;
	if (is_junk && file->is_foreign)
		tdm_doctor_advise(d, NULL, "it belongs to the user %s: that user or root can remove it", file->owner);
	for (size_t i = 0; i < sizeof remedies / sizeof remedies[0] && !(is_junk && file->is_foreign); i++)
		if (remedies[i].err == (err == -EPERM ? -EACCES : err))
			tdm_doctor_advise(d, remedies[i].command, "%s", remedies[i].text);
}

static bool is_foreign(const struct tdm_picture_problem *problem)
{
	return problem->is_unread && (problem->err == -EACCES || problem->err == -EPERM);
}

static size_t count_foreign(const struct tdm_picture *picture)
{
	size_t count = 0;
	for (size_t i = 0; i < picture->problem_count; i++)
		count += is_foreign(&picture->problems[i]);
	return count;
}

/* Ledgers that cannot be read. */
void tdm_doctor_ledgers_unreadable(struct tdm_doctor *d)
{
	const struct tdm_picture *picture = d->setup->picture;
	size_t problems = 0, named = 0, readable = picture->process_count, foreign = count_foreign(picture);
	for (size_t i = 0; i < picture->problem_count; i++) {
		const struct tdm_picture_problem *problem = &picture->problems[i];
		bool is_other = is_foreign(problem);
		problems += problem->is_unread;
		if (!problem->is_unread || (is_other && foreign == 0))
			continue; /* one finding speaks for all of them: a busy machine has hundreds */
		if (!is_other && named++ >= NAMED_MAX)
			continue;
		tdm_doctor_look(d, "%s", problem->place);
		if (is_other && foreign > 1)
			tdm_doctor_say(d, INFO, "%s cannot be read: %s; nor can %zu more", problem->place,
				problem->text, foreign - 1);
		else
			tdm_doctor_say(d, is_other || d->setup->unread[i].is_foreign ? INFO : WARNING,
				"%s cannot be read: %s", problem->place, problem->text);
		advise_problem(d, problem->err, &d->setup->unread[i]);
		foreign = is_other ? 0 : foreign;
	}
	for (size_t i = 0; i < picture->process_count; i++)
		problems += picture->processes[i].refused != 0; /* the check of lost events names it */
	look_at_ledgers(d);
	if (named > NAMED_MAX)
		tdm_doctor_say(d, INFO, "%zu more files cannot be read", named - NAMED_MAX);
	if (problems == 0 && picture->ledgers_err == 0)
		tdm_doctor_say(d, OK, readable != 0 ? "%zu ledger%s, all readable" : "no ledgers", readable,
			readable == 1 ? "" : "s");
}

/* Ledgers of processes that have ended. */
void tdm_doctor_ledgers_left(struct tdm_doctor *d)
{
	const struct tdm_picture *picture = d->setup->picture;
	size_t count = 0, foreign = 0;
	char size[TDM_BYTES_CAP];
	for (size_t i = 0; i < picture->process_count; i++) {
		count += picture->processes[i].life == TDM_LIFE_ENDED;
		foreign += picture->processes[i].life == TDM_LIFE_ENDED && picture->processes[i].is_foreign;
	}
	look_at_ledgers(d);
	if (count != 0) {
		tdm_doctor_say(d, INFO, "%zu program%s left %s ledger behind, %s of memory", count,
			count == 1 ? " that has ended" : "s that have ended", count == 1 ? "its" : "their",
			tdm_format_bytes_short(size, sizeof size, d->setup->left_bytes));
		tdm_doctor_advise(d, "tidemark dump --reap", "look at what was held, and remove %s%s",
			count == 1 ? "it" : "them", foreign != 0 ? " (those of other users stay)" : "");
	} else if (picture->ledgers_err == 0)
		tdm_doctor_say(d, OK, "no ended program has left one");
}

static const struct {
	enum tdm_ledger_loss loss;
	const char *what, *advice;
} losses[] = {
	{ TDM_LOSS_SPACE, "for lack of space", "make room in the file system, or set TIDEMARK_DIR to a larger one" },
	{ TDM_LOSS_NESTED, "in signal handlers that interrupted the library",
		"do not allocate device memory in signal handlers" },
	{ TDM_LOSS_DEVICE, "of more devices than a ledger has room for", "one process uses too many devices" },
	{ TDM_LOSS_INVALID, "because of impossible values", "it reports impossible kinds or sizes" },
	{ TDM_LOSS_TEXT, "only in part: names or stacks were not kept",
		"use fewer different names: a number in each name makes each one new" },
};

/* Events that could not be recorded, with the reason, and records that are damaged. */
void tdm_doctor_ledgers_lost(struct tdm_doctor *d)
{
	const struct tdm_picture *picture = d->setup->picture;
	size_t before = d->findings.count;
	for (size_t i = 0; i < picture->process_count; i++) {
		const struct tdm_picture_process *process = &picture->processes[i];
		for (size_t k = 0; k < sizeof losses / sizeof losses[0]; k++) {
			uint64_t lost = process->who->losses[losses[k].loss];
			if (lost == 0)
				continue;
			tdm_doctor_look(d, "%s", process->ledger);
			tdm_doctor_say(d, WARNING, "process %" PRId32 " (%s) lost %" PRIu64 " event%s %s", process->pid,
				process->comm, lost, lost == 1 ? "" : "s", losses[k].what);
			tdm_doctor_advise(d, NULL, "%s", losses[k].advice);
		}
		if (process->refused == 0)
			continue;
		tdm_doctor_look(d, "%s", process->ledger);
		tdm_doctor_say(d, WARNING, "%s is damaged: %" PRIu64 " of its records cannot be believed",
			process->ledger, process->refused);
		tdm_doctor_advise(d, "tidemark dump --reap", "look at the rest of it, and remove it");
	}
	look_at_ledgers(d);
	if (d->findings.count == before && picture->process_count != 0)
		tdm_doctor_say(d, OK, "no event was lost");
}

static void say_refused(
	struct tdm_doctor *d, const struct tdm_picture_process *process, const char *variable, const char *advice)
{
	tdm_doctor_look(d, "%s", process->ledger);
	tdm_doctor_say(d, WARNING, "%s of process %" PRId32 " (%s) was refused", variable, process->pid, process->comm);
	tdm_doctor_advise(d, NULL, "%s", advice);
}

/* Clients of a daemon that has ended: nobody notes what they allocate. */
static void say_unwritten(struct tdm_doctor *d)
{
	const struct tdm_picture *picture = d->setup->picture;
	size_t count = 0;
	for (size_t i = 0; i < picture->process_count; i++)
		count += picture->processes[i].as_of_ns != 0;
	if (count == 0)
		return;
	look_at_ledgers(d);
	tdm_doctor_say(d, WARNING, "the daemon that wrote the figures of %zu program%s has ended: they are old", count,
		count == 1 ? "" : "s");
	tdm_doctor_advise(d, "tidemarkd", "a new daemon goes on with their ledgers");
}

/* Programs that run with settings that were refused, whose ledger was deleted, or whose daemon has ended. */
void tdm_doctor_ledgers_settings(struct tdm_doctor *d)
{
	const struct tdm_picture *picture = d->setup->picture;
	say_unwritten(d);
	size_t before = d->findings.count;
	for (size_t i = 0; i < picture->process_count && d->findings.count - before < NAMED_MAX; i++) {
		const struct tdm_picture_process *process = &picture->processes[i];
		if (process->life == TDM_LIFE_ENDED)
			continue;
		if (process->who->mode_refused)
			say_refused(d, process, "TIDEMARK_MODE",
				"its ledger has mode 0600; start it with 0600, 0640, 0604 or 0644: only reading can be "
				"allowed to others");
		if (process->who->ring_refused)
			say_refused(d, process, "TIDEMARK_RING",
				"it keeps the last 2048 events of each device; start it with a number from 16 to "
				"4194304");
		if (!process->who->is_renewed)
			continue;
		tdm_doctor_look(d, "%s", process->ledger);
		tdm_doctor_say(d, INFO,
			"the ledger of process %" PRId32 " (%s) was deleted while it ran, and made anew", process->pid,
			process->comm);
		tdm_doctor_advise(d, "tidemark dump --reap",
			"nothing is lost; to clean up, remove only the ledgers of ended programs");
	}
}

/* Ledgers of other pid namespaces: containers that share the directory. */
void tdm_doctor_ledgers_namespaces(struct tdm_doctor *d)
{
	const struct tdm_picture *picture = d->setup->picture;
	const struct tdm_probe *probe = &d->setup->probe;
	size_t foreign = 0;
	for (size_t i = 0; i < picture->process_count; i++)
		foreign += picture->processes[i].life != TDM_LIFE_ENDED &&
			   picture->processes[i].who->pid_namespace != probe->pid_namespace;
	tdm_doctor_look(d, "%s/self/ns/pid", probe->places.proc);
	if (foreign != 0 && probe->pid_namespace != 0)
		tdm_doctor_say(d, INFO,
			"%zu tracked process%s in containers: commands take the pid that is seen here and the one "
			"inside",
			foreign, foreign == 1 ? " is" : "es are");
}

struct figures {
	size_t running, reporting, with_buffers;
	uint64_t per_core_bytes; /* of those without buffers */
	uint64_t live;           /* buffers of all kinds */
};

static void add_process(const struct tdm_picture *picture, const struct tdm_picture_process *process, struct figures *f)
{
	uint64_t allocs = 0, per_core = 0, buffers = 0;
	for (uint32_t h = 0; h < process->holding_count; h++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_picture_amount *kind = &picture->holdings[process->first_holding + h].kinds[k];
			uint64_t reported = tdm_plus(kind->allocs, kind->adopted);
			allocs += reported;
			f->live += kind->buffers;
			if (tdm_kind_is_per_core((enum tdm_kind)k))
				per_core += kind->used;
			else
				buffers += reported;
		}
	f->running++;
	f->reporting += allocs != 0;
	f->with_buffers += buffers != 0;
	f->per_core_bytes += buffers == 0 ? per_core : 0;
}

/* Whether the reports can be complete: explains why only kilobytes, or nothing, is shown. */
void tdm_doctor_ledgers_figures(struct tdm_doctor *d)
{
	const struct tdm_picture *picture = d->setup->picture;
	struct figures f = { 0 };
	char size[TDM_BYTES_CAP];
	look_at_ledgers(d);
	for (size_t i = 0; i < picture->process_count; i++)
		if (tdm_picture_counts(&picture->processes[i]))
			add_process(picture, &picture->processes[i], &f);
	const char *run = f.running == 1 ? " runs" : "s run";
	if (picture->ledgers_err != 0)
		return; /* the directory cannot be read */
	if (f.running == 0) {
		tdm_doctor_say(d, INFO, "no tracked program runs%s",
			count_foreign(picture) != 0 ? " whose ledger can be read" : "");
		tdm_doctor_advise(d, "tidemark run -- COMMAND",
			"a program is tracked when it reports to libtidemark and TIDEMARK=1 is set; without that only "
			"the runtime's own totals are seen");
	} else if (f.reporting == 0) {
		tdm_doctor_say(d, INFO, "%zu tracked program%s, and nothing was reported yet: all figures are 0",
			f.running, run);
		tdm_doctor_advise(d, NULL, "it may just have begun; or its runtime has no hook that reports buffers");
	} else if (f.with_buffers == 0) {
		tdm_doctor_say(d, WARNING,
			"only kernels, firmware and circular buffers are reported (%s), no DRAM or L1 buffers",
			tdm_format_bytes_short(size, sizeof size, f.per_core_bytes));
		tdm_doctor_advise(d, NULL,
			"these are kilobytes on each core; the megabytes are in buffers, and the hook that reports "
			"those is not active in the thread that allocates them");
	} else if (f.live == 0) {
		tdm_doctor_say(d, INFO, "%zu tracked program%s and hold%s nothing now: everything was freed", f.running,
			run, f.running == 1 ? "s" : "");
	} else
		tdm_doctor_say(
			d, OK, "%zu tracked program%s, %zu of them with buffers", f.running, run, f.with_buffers);
}
