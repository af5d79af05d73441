/* Checks of the ledgers: the directory, unreadable ledgers, ledgers of ended programs, lost events, refused settings,
 * and implausible figures. */
#include "analyze/doctor/doctor.h"
#include "base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

/* A ledger with one device needs a few hundred KiB, plus 96 bytes per buffer. */
#define SPACE_NEEDED  (UINT64_C(512) << 10)
#define SPACE_WANTED  (UINT64_C(16) << 20)
#define SPACE_PRIVATE (UINT64_C(64) << 20) /* usual size of /dev/shm in a container */

static void check_space(struct tdm_doctor *d)
{
	const struct tdm_setup *setup = d->setup;
	char free_text[TDM_BYTES_CAP], all_text[TDM_BYTES_CAP];
	if (setup->space_err != 0) {
		say(d, WARNING, "cannot tell the free space of %s: %s", d->looked, tdm_err_text(setup->space_err));
		return;
	}
	tdm_format_bytes_short(free_text, sizeof free_text, setup->free_bytes);
	tdm_format_bytes_short(all_text, sizeof all_text, setup->all_bytes);
	int state = setup->free_bytes < SPACE_NEEDED ? BROKEN : setup->free_bytes < SPACE_WANTED ? WARNING : OK;
	say(d, state, "%s %s %s free of %s", d->looked, state == OK ? "may be written, with" : "has only", free_text,
		all_text);
	if (state != OK)
		advise(d, "tidemark dump --reap",
			"make room, or let programs write elsewhere with TIDEMARK_DIR: a ledger that cannot grow loses "
			"events and counts them");
	if (setup->all_bytes <= SPACE_PRIVATE && setup->all_bytes != 0)
		tell(d, WARNING, NULL,
			"start the container with --shm-size=1g, or with --ipc=host so that the host sees its ledgers, "
			"too",
			"the file system has only %s, as the private /dev/shm of a container", all_text);
}

/* Reports that something else, whether by accident or malice, has the same name as this user's folder. */
static void check_folder(struct tdm_doctor *d)
{
	const struct tdm_setup_file *folder = &d->setup->user_folder;
	bool is_there = folder->is_link || folder->err == 0;
	bool is_usable = !folder->is_link && S_ISDIR(folder->mode) && !folder->is_foreign && (folder->mode & 0022) == 0;
	if (!is_there || is_usable)
		return;
	const char *path = look(d, "%s", d->setup->user_folder_path);
	tell(d, WARNING, NULL,
		folder->is_foreign ? "its owner or root can remove it; tracking works nevertheless"
				   : "remove it, or correct its permissions; tracking works nevertheless",
		"%s %s: programs of this user put their ledgers beside it", path,
		folder->is_foreign                          ? "belongs to somebody else"
		: !folder->is_link && S_ISDIR(folder->mode) ? "can be written by others"
							    : "is not a folder");
	look(d, "%s", d->setup->places.ledgers);
}

/* Checks that the directory exists, is readable and writable, and has free space, and that nobody else has taken the
 * name of this user's folder. */
void tdm_doctor_ledgers_directory(struct tdm_doctor *d)
{
	const struct tdm_setup_file *file = &d->setup->ledger_dir;
	const char *dir = look(d, "%s", d->setup->places.ledgers);
	if (file->err != 0) {
		say(d, BROKEN, "%s: %s", dir, tdm_err_text(file->err));
		if (file->err == -ENOENT)
			advise(d, tdm_doctor_shell(d, "mkdir -p", dir),
				"make it, or set TIDEMARK_DIR to another directory");
	} else if (!S_ISDIR(file->mode))
		tell(d, BROKEN, NULL, "set TIDEMARK_DIR to a directory, or take it away", "%s is not a directory", dir);
	else if (file->read_err != 0)
		tell(d, BROKEN, NULL, "set TIDEMARK_DIR to a directory of yours", "%s cannot be read: %s", dir,
			tdm_err_text(file->read_err));
	else if (file->write_err != 0)
		tell(d, BROKEN, NULL, "set TIDEMARK_DIR to a directory of yours, for them and for tidemark",
			"programs of this user cannot write their ledgers into %s: %s", dir,
			tdm_err_text(file->write_err));
	else {
		check_space(d);
		check_folder(d);
	}
}

/* Advice for an error code or a loss, or the command to type. */
struct remedy {
	int of;
	const char *word, *advice;
};

/* Advice for a ledger that cannot be read. */
static const struct remedy remedies[] = {
	{ -EACCES, "sudo tidemark dump",
		"it is another user's: look as that user or as root; or let its program share it with "
		"TIDEMARK_MODE=0644" },
	{ TDM_EVERSION, NULL, "its program has a libtidemark of another version: use the tidemark that came with it" },
	{ TDM_ECORRUPT, "tidemark dump --reap", "it is not a ledger, or it is damaged: remove it" },
	{ -EAGAIN, "tidemark dump --reap",
		"look again; if this stays, its program was killed right at its start, and it may be removed" },
};

enum { NAMED_MAX = 10 }; /* maximum number of ledgers named in a finding: anybody can create any number of files */

static void advise_problem(struct tdm_doctor *d, int err, const struct tdm_setup_file *file)
{
	/* The library creates and removes only regular files. */
	if (file->is_link || (file->err == 0 && !S_ISREG(file->mode))) {
		bool is_dir = !file->is_link && S_ISDIR(file->mode);
		advise(d, is_dir ? NULL : tdm_doctor_shell(d, "rm", d->looked),
			"no tracked program created it: move it elsewhere, or remove it");
		return;
	}
	bool is_junk = err == TDM_ECORRUPT || err == -EAGAIN;
	if (is_junk && file->is_foreign)
		advise(d, NULL, "it belongs to the user %s: that user or root can remove it", file->owner);
	for (size_t i = 0; i < sizeof remedies / sizeof remedies[0] && !(is_junk && file->is_foreign); i++)
		if (remedies[i].of == (err == -EPERM ? -EACCES : err))
			advise(d, remedies[i].word, "%s", remedies[i].advice);
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

/* Reports ledgers that cannot be read. */
void tdm_doctor_ledgers_unreadable(struct tdm_doctor *d)
{
	const struct tdm_picture *picture = d->setup->picture;
	size_t problems = 0, named = 0, readable = picture->process_count, foreign = count_foreign(picture);
	for (size_t i = 0; i < picture->problem_count; i++) {
		const struct tdm_picture_problem *problem = &picture->problems[i];
		bool is_other = is_foreign(problem);
		problems += problem->is_unread;
		if (!problem->is_unread || (is_other && foreign == 0))
			continue; /* one finding covers all of them: a busy machine has hundreds */
		if (!is_other && named++ >= NAMED_MAX)
			continue;
		look(d, "%s", problem->place);
		if (is_other && foreign > 1)
			say(d, INFO, "%s cannot be read: %s; nor can %zu more", problem->place, problem->text,
				foreign - 1);
		else
			say(d, is_other || d->setup->unread[i].is_foreign ? INFO : WARNING, "%s cannot be read: %s",
				problem->place, problem->text);
		advise_problem(d, problem->err, &d->setup->unread[i]);
		foreign = is_other ? 0 : foreign;
	}
	for (size_t i = 0; i < picture->process_count; i++)
		problems += picture->processes[i].refused != 0; /* the lost-events check reports these */
	look(d, "%s", d->setup->places.ledgers);
	if (named > NAMED_MAX)
		say(d, INFO, "%zu more files cannot be read", named - NAMED_MAX);
	if (problems == 0 && picture->ledgers_err == 0)
		say(d, OK, readable != 0 ? "%zu ledger%s, all readable" : "no ledgers", readable,
			readable == 1 ? "" : "s");
}

/* Reports ledgers of processes that have ended. */
void tdm_doctor_ledgers_left(struct tdm_doctor *d)
{
	const struct tdm_picture *picture = d->setup->picture;
	size_t count = 0, foreign = 0;
	char size[TDM_BYTES_CAP];
	for (size_t i = 0; i < picture->process_count; i++) {
		count += picture->processes[i].life == TDM_LIFE_ENDED;
		foreign += picture->processes[i].life == TDM_LIFE_ENDED && picture->processes[i].is_foreign;
	}
	look(d, "%s", d->setup->places.ledgers);
	if (count != 0) {
		say(d, INFO, "%zu program%s left %s ledger behind, %s of memory", count,
			count == 1 ? " that has ended" : "s that have ended", count == 1 ? "its" : "their",
			tdm_format_bytes_short(size, sizeof size, d->setup->left_bytes));
		advise(d, "tidemark dump --reap", "look at what was held, and remove %s%s", count == 1 ? "it" : "them",
			foreign != 0 ? " (those of other users stay)" : "");
	} else if (picture->ledgers_err == 0)
		say(d, OK, "no ended program has left one");
}

static const struct remedy losses[] = {
	{ TDM_LOSS_SPACE, "for lack of space", "make room in the file system, or set TIDEMARK_DIR to a larger one" },
	{ TDM_LOSS_NESTED, "in signal handlers that interrupted the library",
		"do not allocate device memory in signal handlers" },
	{ TDM_LOSS_DEVICE, "of more devices than a ledger has room for", "one process uses too many devices" },
	{ TDM_LOSS_INVALID, "because of impossible values", "it reports impossible kinds or sizes" },
	{ TDM_LOSS_TEXT, "only in part: names or stacks were not kept",
		"use fewer different names: a number in each name makes each one new" },
};

/* Reports events that could not be recorded, with the reason, and damaged records. */
void tdm_doctor_ledgers_lost(struct tdm_doctor *d)
{
	const struct tdm_picture *picture = d->setup->picture;
	size_t before = d->findings.count;
	for (size_t i = 0; i < picture->process_count; i++) {
		const struct tdm_picture_process *process = &picture->processes[i];
		for (size_t k = 0; k < sizeof losses / sizeof losses[0]; k++) {
			uint64_t lost = process->who->losses[losses[k].of];
			if (lost == 0)
				continue;
			look(d, "%s", process->ledger);
			tell(d, WARNING, NULL, losses[k].advice, "process %" PRId32 " (%s) lost %" PRIu64 " event%s %s",
				process->pid, process->comm, lost, lost == 1 ? "" : "s", losses[k].word);
		}
		if (process->refused == 0)
			continue;
		look(d, "%s", process->ledger);
		tell(d, WARNING, "tidemark dump --reap", "look at the rest of it, and remove it",
			"%s is damaged: %" PRIu64 " of its records cannot be believed", process->ledger,
			process->refused);
	}
	look(d, "%s", d->setup->places.ledgers);
	if (d->findings.count == before && picture->process_count != 0)
		say(d, OK, "no event was lost");
}

static void say_refused(
	struct tdm_doctor *d, const struct tdm_picture_process *process, const char *variable, const char *advice)
{
	look(d, "%s", process->ledger);
	tell(d, WARNING, NULL, advice, "%s of process %" PRId32 " (%s) was refused", variable, process->pid,
		process->comm);
}

/* Reports running programs whose settings were refused, whose ledger was deleted, or whose daemon has ended. */
void tdm_doctor_ledgers_settings(struct tdm_doctor *d)
{
	const struct tdm_picture *picture = d->setup->picture;
	size_t unwritten = 0;
	for (size_t i = 0; i < picture->process_count; i++)
		unwritten += picture->processes[i].as_of_ns != 0;
	look(d, "%s", d->setup->places.ledgers);
	if (unwritten != 0)
		tell(d, WARNING, "tidemarkd", "a new daemon goes on with their ledgers",
			"the daemon that wrote the figures of %zu program%s has ended: they are old", unwritten,
			unwritten == 1 ? "" : "s");
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
		look(d, "%s", process->ledger);
		tell(d, INFO, "tidemark dump --reap",
			"nothing is lost; to clean up, remove only the ledgers of ended programs",
			"the ledger of process %" PRId32 " (%s) was deleted while it ran, and made anew", process->pid,
			process->comm);
	}
}

/* Reports ledgers from other pid namespaces, that is, from containers that share the directory. */
void tdm_doctor_ledgers_namespaces(struct tdm_doctor *d)
{
	const struct tdm_picture *picture = d->setup->picture;
	const struct tdm_setup *setup = d->setup;
	size_t foreign = 0;
	for (size_t i = 0; i < picture->process_count; i++)
		foreign += picture->processes[i].life != TDM_LIFE_ENDED &&
			   picture->processes[i].who->pid_namespace != setup->pid_namespace;
	look(d, "%s/self/ns/pid", setup->places.proc);
	if (foreign != 0 && setup->pid_namespace != 0)
		say(d, INFO,
			"%zu tracked process%s in containers: commands take the pid that is seen here and the one "
			"inside",
			foreign, foreign == 1 ? " is" : "es are");
}

/* Checks whether reports can be complete; explains why only kilobytes, or nothing, is shown. */
void tdm_doctor_ledgers_figures(struct tdm_doctor *d)
{
	const struct tdm_picture *picture = d->setup->picture;
	size_t running = 0, reporting = 0, with_buffers = 0;
	uint64_t small_bytes = 0, live = 0; /* per-core bytes of programs without buffers; all live buffers */
	char size[TDM_BYTES_CAP];
	look(d, "%s", d->setup->places.ledgers);
	for (size_t i = 0; i < picture->process_count; i++) {
		const struct tdm_picture_process *process = &picture->processes[i];
		uint64_t allocs = 0, per_core = 0, buffers = 0;
		if (!tdm_picture_counts(process))
			continue;
		for (uint32_t h = 0; h < process->holding_count; h++)
			for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
				const struct tdm_counter *kind =
					&picture->holdings[process->first_holding + h].kinds[k];
				bool is_small = tdm_kind_is_per_core((enum tdm_kind)k);
				allocs = tdm_plus(allocs, tdm_plus(kind->allocs, kind->adopted));
				live += kind->buffers;
				per_core += is_small ? kind->reserved : 0;
				buffers += is_small ? 0 : tdm_plus(kind->allocs, kind->adopted);
			}
		running++;
		reporting += allocs != 0;
		with_buffers += buffers != 0;
		small_bytes += buffers == 0 ? per_core : 0;
	}
	const char *run = running == 1 ? " runs" : "s run";
	if (picture->ledgers_err != 0)
		return; /* the directory cannot be read */
	if (running == 0)
		tell(d, INFO, "tidemark run -- COMMAND",
			"a program is tracked when it reports to libtidemark and TIDEMARK=1 is set; without that only "
			"the runtime's own totals are seen",
			"no tracked program runs%s", count_foreign(picture) != 0 ? " whose ledger can be read" : "");
	else if (reporting == 0)
		tell(d, INFO, NULL, "it may just have begun; or its runtime has no hook that reports buffers",
			"%zu tracked program%s, and nothing was reported yet: all figures are 0", running, run);
	else if (with_buffers == 0)
		tell(d, WARNING, NULL,
			"these are kilobytes on each core; the megabytes are in buffers, and the hook that reports "
			"those is not active in the thread that allocates them",
			"only kernels, firmware and circular buffers are reported (%s), no DRAM or L1 buffers",
			tdm_format_bytes_short(size, sizeof size, small_bytes));
	else if (live == 0)
		say(d, INFO, "%zu tracked program%s and hold%s nothing now: everything was freed", running, run,
			running == 1 ? "s" : "");
	else
		say(d, OK, "%zu tracked program%s, %zu of them with buffers", running, run, with_buffers);
}
