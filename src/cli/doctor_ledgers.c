/* The ledgers: where they lie, which cannot be read and why, what the dead left, what was lost, what they say. */
#include "base/err.h"
#include "base/units.h"
#include "cli/doctor_checks.h"
#include "ledger/ledger_list.h"
#include "ledger/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* A ledger with one device takes some hundred KiB and grows by 96 bytes a buffer. */
#define SPACE_NEEDED  (UINT64_C(512) << 10)
#define SPACE_WANTED  (UINT64_C(16) << 20)
#define SPACE_PRIVATE (UINT64_C(64) << 20) /* what a container gets that does not ask for more */

static void check_space(struct tdm_doctor *doctor)
{
	struct tdm_findings *out = &doctor->findings;
	const char *dir = doctor->ledgers;
	char free_text[TDM_BYTES_CAP], all_text[TDM_BYTES_CAP];
	struct statvfs fs;
	if (statvfs(dir, &fs) != 0) {
		tdm_doctor_say(out, TDM_FINDING_WARNING, "ledgers.directory", dir,
			"the free space of %s cannot be told: %s", dir, tdm_err_text(-errno));
		return;
	}
	uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize, all = (uint64_t)fs.f_blocks * fs.f_frsize;
	tdm_format_bytes_short(free_text, sizeof free_text, free_bytes);
	tdm_format_bytes_short(all_text, sizeof all_text, all);
	enum tdm_severity state = free_bytes < SPACE_NEEDED   ? TDM_FINDING_BROKEN
				  : free_bytes < SPACE_WANTED ? TDM_FINDING_WARNING
							      : TDM_FINDING_OK;
	tdm_doctor_say(out, state, "ledgers.directory", dir,
		state == TDM_FINDING_OK ? "%s may be written, with %s free of %s" : "%s has only %s free of %s", dir,
		free_text, all_text);
	if (state != TDM_FINDING_OK)
		tdm_findings_advise(out, "tidemark dump --reap",
			"make room, or let programs write elsewhere with TIDEMARK_DIR: a ledger that cannot grow loses "
			"events and counts them");
	if (all <= SPACE_PRIVATE && all != 0) {
		tdm_doctor_say(out, TDM_FINDING_WARNING, "ledgers.directory", dir,
			"the file system has only %s, as the private /dev/shm of a container", all_text);
		tdm_findings_advise(out, NULL,
			"start the container with --shm-size=1g, or with --ipc=host so that the host sees its ledgers, "
			"too");
	}
}

/* The directory: there, readable, writable, with room. */
void tdm_doctor_directory(struct tdm_doctor *doctor)
{
	struct tdm_findings *out = &doctor->findings;
	const char *dir = doctor->ledgers;
	char command[PATH_MAX + 32];
	struct stat st;
	if (stat(dir, &st) != 0) {
		int err = errno;
		tdm_doctor_say(out, TDM_FINDING_BROKEN, "ledgers.directory", dir, "%s: %s", dir, tdm_err_text(-err));
		if (err == ENOENT)
			tdm_findings_advise(out, tdm_doctor_command(command, sizeof command, "mkdir -p", dir),
				"make it, or set TIDEMARK_DIR to another directory");
		return;
	}
	if (!S_ISDIR(st.st_mode)) {
		tdm_doctor_say(out, TDM_FINDING_BROKEN, "ledgers.directory", dir, "%s is not a directory", dir);
		tdm_findings_advise(out, NULL, "set TIDEMARK_DIR to a directory, or take it away");
		return;
	}
	if (faccessat(AT_FDCWD, dir, R_OK | X_OK, AT_EACCESS) != 0) {
		tdm_doctor_say(out, TDM_FINDING_BROKEN, "ledgers.directory", dir, "%s cannot be read: %s", dir,
			tdm_err_text(-errno));
		tdm_findings_advise(out, NULL, "set TIDEMARK_DIR to a directory of yours");
		return;
	}
	if (faccessat(AT_FDCWD, dir, W_OK, AT_EACCESS) != 0) {
		tdm_doctor_say(out, TDM_FINDING_BROKEN, "ledgers.directory", dir,
			"programs of this user cannot write their ledgers into %s: %s", dir, tdm_err_text(-errno));
		tdm_findings_advise(out, NULL, "set TIDEMARK_DIR to a directory of yours, for them and for tidemark");
		return;
	}
	check_space(doctor);
}

/* What is no file was not made by the library, and is not taken away by it either. */
static bool advise_no_file(struct tdm_findings *out, const char *path)
{
	char command[PATH_MAX + 32];
	struct stat st;
	if (lstat(path, &st) != 0 || S_ISREG(st.st_mode))
		return false;
	tdm_findings_advise(out, S_ISDIR(st.st_mode) ? NULL : tdm_doctor_command(command, sizeof command, "rm", path),
		"no program that is tracked has made it: move it elsewhere, or remove it");
	return true;
}

static void advise_problem(struct tdm_findings *out, const char *path, int err)
{
	if (advise_no_file(out, path))
		return;
	switch (err) {
	case -EACCES:
	case -EPERM:
		tdm_findings_advise(out, "sudo tidemark dump",
			"it is another user's: look as that user or as root; or let its program share it with "
			"TIDEMARK_MODE=0644");
		return;
	case TDM_EVERSION:
		tdm_findings_advise(out, NULL,
			"its program has a libtidemark of another version: use the tidemark that came with it");
		return;
	case TDM_ECORRUPT:
		tdm_findings_advise(out, "tidemark dump --reap", "it is no ledger, or a damaged one: remove it");
		return;
	case -EAGAIN:
		tdm_findings_advise(out, "tidemark dump --reap",
			"look again; if it stays, its program was killed at its very beginning, and it may be removed");
		return;
	default:
		return;
	}
}

static bool is_foreign(const struct tdm_picture_problem *problem)
{
	return problem->is_unread && (problem->err == -EACCES || problem->err == -EPERM);
}

static size_t count_foreign(const struct tdm_doctor *doctor)
{
	size_t count = 0;
	for (size_t i = 0; i < doctor->picture->problem_count; i++)
		count += is_foreign(&doctor->picture->problems[i]);
	return count;
}

/* Ledgers that cannot be read. */
void tdm_doctor_unreadable(struct tdm_doctor *doctor)
{
	struct tdm_findings *out = &doctor->findings;
	size_t problems = 0, readable = doctor->picture->process_count;
	size_t foreign = count_foreign(doctor);
	for (size_t i = 0; i < doctor->picture->problem_count; i++) {
		const struct tdm_picture_problem *problem = &doctor->picture->problems[i];
		bool is_other = is_foreign(problem);
		problems += problem->is_unread;
		if (!problem->is_unread || (is_other && foreign == 0))
			continue; /* all of them were said with the first: a busy machine has hundreds */
		if (is_other && foreign > 1)
			tdm_doctor_say(out, TDM_FINDING_INFO, "ledgers.unreadable", problem->place,
				"%s cannot be read: %s; nor can %zu more", problem->place, problem->text, foreign - 1);
		else
			tdm_doctor_say(out, is_other ? TDM_FINDING_INFO : TDM_FINDING_WARNING, "ledgers.unreadable",
				problem->place, "%s cannot be read: %s", problem->place, problem->text);
		advise_problem(out, problem->place, problem->err);
		foreign = is_other ? 0 : foreign;
	}
	if (problems == 0 && doctor->picture->ledgers_err == 0)
		tdm_doctor_say(out, TDM_FINDING_OK, "ledgers.unreadable", doctor->ledgers,
			readable != 0 ? "%zu ledger%s, all readable" : "no ledgers", readable,
			readable == 1 ? "" : "s");
}

static const struct tdm_picture_process *process_at(const struct tdm_doctor *doctor, size_t i)
{
	return i < doctor->picture->process_count ? &doctor->picture->processes[i] : NULL;
}

/* What processes that have ended left behind. */
void tdm_doctor_left(struct tdm_doctor *doctor)
{
	struct tdm_findings *out = &doctor->findings;
	const struct tdm_picture_process *process;
	size_t count = 0, foreign = 0;
	uint64_t bytes = 0;
	char size[TDM_BYTES_CAP];
	for (size_t i = 0; (process = process_at(doctor, i)) != NULL; i++) {
		struct stat st;
		if (process->life != TDM_LIFE_ENDED)
			continue;
		count++;
		if (stat(process->ledger, &st) == 0) {
			bytes += (uint64_t)st.st_blocks * 512;
			foreign += st.st_uid != geteuid();
		}
	}
	if (count == 0) {
		if (doctor->picture->ledgers_err == 0)
			tdm_doctor_say(
				out, TDM_FINDING_OK, "ledgers.left", doctor->ledgers, "no ended program has left one");
		return;
	}
	tdm_doctor_say(out, TDM_FINDING_INFO, "ledgers.left", doctor->ledgers,
		"%zu program%s left %s ledger behind, %s of memory", count,
		count == 1 ? " that has ended" : "s that have ended", count == 1 ? "its" : "their",
		tdm_format_bytes_short(size, sizeof size, bytes));
	tdm_findings_advise(out, "tidemark dump --reap", "look at what was held, and remove %s%s",
		count == 1 ? "it" : "them", foreign != 0 ? " (those of other users stay)" : "");
}

static void check_losses(struct tdm_doctor *doctor, const struct tdm_picture_process *process, bool *any)
{
	static const struct {
		enum tdm_ledger_loss loss;
		const char *what, *advice;
	} losses[] = {
		{ TDM_LOSS_SPACE, "for want of room",
			"make room in the file system, or set TIDEMARK_DIR to a larger one" },
		{ TDM_LOSS_NESTED, "in signal handlers that interrupted the library",
			"do not allocate device memory in signal handlers" },
		{ TDM_LOSS_DEVICE, "of more devices than a ledger has room for", "one process uses too many devices" },
		{ TDM_LOSS_INVALID, "because they could not be true", "its reports have impossible kinds or sizes" },
		{ TDM_LOSS_TEXT, "only in part: names or stacks were not kept",
			"use fewer different names: a number in each name makes each one new" },
	};
	for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
		uint64_t lost = process->who->losses[losses[i].loss];
		if (lost == 0)
			continue;
		*any = true;
		tdm_doctor_say(&doctor->findings, TDM_FINDING_WARNING, "ledgers.lost", process->ledger,
			"process %" PRId32 " (%s) lost %" PRIu64 " event%s %s", process->pid, process->comm, lost,
			lost == 1 ? "" : "s", losses[i].what);
		tdm_findings_advise(&doctor->findings, NULL, "%s", losses[i].advice);
	}
}

/* Events that could not be recorded, with the reason. */
void tdm_doctor_lost(struct tdm_doctor *doctor)
{
	const struct tdm_picture_process *process;
	bool any = false;
	for (size_t i = 0; (process = process_at(doctor, i)) != NULL; i++)
		if (process->who->lost != 0 || process->who->lost_texts != 0)
			check_losses(doctor, process, &any);
	if (!any && doctor->picture->process_count != 0)
		tdm_doctor_say(&doctor->findings, TDM_FINDING_OK, "ledgers.lost", doctor->ledgers, "no event was lost");
}

/* Ledgers of other pid namespaces: containers that share the directory. */
void tdm_doctor_namespaces(struct tdm_doctor *doctor)
{
	const struct tdm_picture_process *process;
	char path[PATH_MAX];
	struct stat own;
	size_t foreign = 0;
	tdm_doctor_path(path, sizeof path, doctor->proc, "self/ns/pid");
	if (stat(path, &own) != 0)
		return;
	for (size_t i = 0; (process = process_at(doctor, i)) != NULL; i++)
		foreign += process->life != TDM_LIFE_ENDED && process->who->pid_namespace != (uint64_t)own.st_ino;
	if (foreign != 0)
		tdm_doctor_say(&doctor->findings, TDM_FINDING_INFO, "ledgers.namespaces", path,
			"%zu tracked process%s of containers: their pids are those inside", foreign,
			foreign == 1 ? " is one" : "es are those");
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
			allocs += kind->allocs;
			f->live += kind->buffers;
			if (tdm_kind_is_per_core((enum tdm_kind)k))
				per_core += kind->used;
			else
				buffers += kind->allocs;
		}
	f->running++;
	f->reporting += allocs != 0;
	f->with_buffers += buffers != 0;
	f->per_core_bytes += buffers == 0 ? per_core : 0;
}

/* Whether what is reported can be all: why only kilobytes, or nothing at all, is shown. */
void tdm_doctor_figures(struct tdm_doctor *doctor)
{
	struct tdm_findings *out = &doctor->findings;
	const struct tdm_picture_process *process;
	struct figures f = { 0 };
	char size[TDM_BYTES_CAP];
	if (doctor->picture->ledgers_err != 0)
		return; /* the directory cannot be read: nothing can be said */
	for (size_t i = 0; (process = process_at(doctor, i)) != NULL; i++)
		if (process->life != TDM_LIFE_ENDED)
			add_process(doctor->picture, process, &f);
	if (f.running == 0) {
		bool any = count_foreign(doctor) != 0;
		tdm_doctor_say(out, TDM_FINDING_INFO, "ledgers.figures", doctor->ledgers,
			any ? "no tracked program runs whose ledger can be read" : "no tracked program runs");
		tdm_findings_advise(out, "tidemark run -- COMMAND",
			"a program is tracked when it reports to libtidemark and TIDEMARK=1 is set; without that only "
			"the runtime's own totals are seen");
		return;
	}
	if (f.reporting == 0) {
		tdm_doctor_say(out, TDM_FINDING_INFO, "ledgers.figures", doctor->ledgers,
			"%zu tracked program%s, and nothing was reported yet: all figures are 0", f.running,
			f.running == 1 ? " runs" : "s run");
		tdm_findings_advise(
			out, NULL, "it may just have begun; or its runtime has no hook that reports buffers");
		return;
	}
	if (f.with_buffers == 0) {
		tdm_doctor_say(out, TDM_FINDING_WARNING, "ledgers.figures", doctor->ledgers,
			"only kernels, firmware and circular buffers are reported (%s), no DRAM or L1 buffers",
			tdm_format_bytes_short(size, sizeof size, f.per_core_bytes));
		tdm_findings_advise(out, NULL,
			"these are kilobytes on each core; the megabytes are in buffers, and the hook that reports "
			"those is not active in the thread that allocates them");
		return;
	}
	if (f.live == 0) {
		tdm_doctor_say(out, TDM_FINDING_INFO, "ledgers.figures", doctor->ledgers,
			"%zu tracked program%s and hold%s nothing now: everything was freed", f.running,
			f.running == 1 ? " runs" : "s run", f.running == 1 ? "s" : "");
		return;
	}
	tdm_doctor_say(out, TDM_FINDING_OK, "ledgers.figures", doctor->ledgers,
		"%zu tracked program%s, %zu of them with buffers", f.running, f.running == 1 ? " runs" : "s run",
		f.with_buffers);
}
