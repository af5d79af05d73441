#include "analyze/doctor_metal.h"
#include "analyze/doctor_checks.h"
#include "base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_SHOWN = 8 };

/* "v0.66" as a number that can be compared; NULL is `unknown`. */
static uint64_t release_number(const char *release, uint64_t unknown)
{
	unsigned major, minor;
	return release != NULL && sscanf(release, "v%u.%u", &major, &minor) == 2 ? (uint64_t)major << 32 | minor
										 : unknown;
}

static bool has_in(const struct tdm_metal_function *f, uint64_t release)
{
	return release_number(f->since, 0) <= release && release <= release_number(f->until, UINT64_MAX);
}

struct tdm_release_range tdm_metal_releases(const struct tdm_metal_setup *setup, const struct tdm_metal_file *file)
{
	struct tdm_release_range range = { 0 };
	size_t most = 0;
	uint64_t best = 0;
	/* The names change at the first release of one of them. */
	for (size_t c = 0; c < setup->function_count; c++) {
		uint64_t release = release_number(setup->functions[c].since, 0);
		size_t count = 0;
		for (size_t i = 0; i < setup->function_count; i++)
			count += file->has[i] >= TDM_ELF_HIDDEN && has_in(&setup->functions[i], release);
		if (count > most || (count == most && release > best)) {
			most = count;
			best = release;
		}
	}
	for (size_t i = 0; i < setup->function_count; i++) {
		const struct tdm_metal_function *f = &setup->functions[i];
		if (file->has[i] < TDM_ELF_HIDDEN || !has_in(f, best))
			continue;
		if (release_number(f->since, 0) > release_number(range.since, 0))
			range.since = f->since;
		if (release_number(f->until, UINT64_MAX) < release_number(range.until, UINT64_MAX))
			range.until = f->until;
	}
	return range;
}

/* What is said about one file. */
struct look {
	struct tdm_doctor *d;
	const struct tdm_metal_setup *setup;
	const struct tdm_metal_file *file;
	struct tdm_release_range range;
};

/* Whether some release of the range has the function under this name. */
static bool fits(const struct tdm_metal_function *f, const struct tdm_release_range *range)
{
	return release_number(f->until, UINT64_MAX) >= release_number(range->since, 0) &&
	       release_number(f->since, 0) <= release_number(range->until, UINT64_MAX);
}

/* The best state of a function under any of its names, and the name that is there or, if none is, one that fits. */
static enum tdm_elf_has state_of(const struct look *look, const char *name, size_t *best)
{
	enum tdm_elf_has has = TDM_ELF_ABSENT;
	*best = SIZE_MAX;
	for (size_t i = 0; i < look->setup->function_count; i++) {
		const struct tdm_metal_function *f = &look->setup->functions[i];
		if (strcmp(f->name, name) != 0)
			continue;
		if (look->file->has[i] > has || (*best == SIZE_MAX && fits(f, &look->range))) {
			has = look->file->has[i] > has ? (enum tdm_elf_has)look->file->has[i] : has;
			*best = i;
		}
	}
	return has;
}

/* A function that is only asked may be that of another library. */
static bool is_enough(const struct tdm_metal_function *f, enum tdm_elf_has has)
{
	return has == TDM_ELF_DEFINED || (!f->is_hook && has == TDM_ELF_IMPORTED);
}

static bool is_first_of_name(const struct tdm_metal_setup *setup, size_t i)
{
	size_t first = 0;
	while (strcmp(setup->functions[first].name, setup->functions[i].name) != 0)
		first++;
	return first == i;
}

static const char *state_text(enum tdm_elf_has has)
{
	static const char *const texts[] = { "is missing", "is only imported: another library has it",
		"is hidden: link-time optimisation or hidden visibility took it out of reach", "is there" };
	return texts[has];
}

static void say_library(const struct look *look)
{
	const struct tdm_release_range *range = &look->range;
	const char *path = look->file->path;
	struct tdm_doctor *d = look->d;
	char releases[80] = "its names do not tell the release";
	if (range->since != NULL && range->until != NULL && strcmp(range->since, range->until) == 0)
		snprintf(releases, sizeof releases, "its names are those of %s", range->since);
	else if (range->since != NULL && range->until != NULL)
		snprintf(releases, sizeof releases, "its names are those of %s to %s", range->since, range->until);
	else if (range->since != NULL || range->until != NULL)
		snprintf(releases, sizeof releases, "its names are those of %s or %s",
			range->since != NULL ? range->since : range->until, range->since != NULL ? "later" : "earlier");
	d->check = "metal.library";
	tdm_doctor_look(d, "%s", path);
	tdm_doctor_say(d, OK, "%s is tt-metal: %s", path, releases);
	if (look->file->is_deleted)
		tdm_doctor_say(d, INFO,
			"%s was replaced or deleted while the process runs: this is about the file that the process "
			"has",
			path);
	if (look->file->is_symbolic) {
		tdm_doctor_say(d, WARNING,
			"%s was linked with -Bsymbolic: its own calls never leave it, so the hooks see few or none",
			path);
		tdm_doctor_advise(d, NULL, "use a build without that option, as the published ones are");
	} else if (look->file->is_bound) {
		tdm_doctor_say(d, WARNING,
			"%s calls none of these functions by name: its own calls never leave it, so the hooks see few "
			"or none",
			path);
		tdm_doctor_advise(d, NULL,
			"use a build without -Bsymbolic-functions and link-time optimisation, as the published ones "
			"are");
	}
}

static void say_topic(const struct look *look, const char *topic, const char *missing)
{
	struct tdm_doctor *d = look->d;
	size_t at;
	d->check = "metal.topics";
	if (missing == NULL && (look->file->is_symbolic || look->file->is_bound)) {
		tdm_doctor_say(d, INFO, "seen in part or not at all: %s", topic);
		return;
	}
	if (missing == NULL) {
		tdm_doctor_say(d, OK, "seen: %s", topic);
		if (strcmp(topic, "presence of scratchpads") == 0) /* which is all that any release tells */
			tdm_doctor_say(d, INFO,
				"not seen: sizes and places of scratchpads: no function of tt-metal gives both");
		return;
	}
	enum tdm_elf_has has = state_of(look, missing, &at);
	/* A release that never had it has nothing to be seen. */
	tdm_doctor_say(d, at == SIZE_MAX ? INFO : WARNING, "not seen: %s: %s %s", topic, missing,
		at == SIZE_MAX ? "is not in this release" : state_text(has));
	if (has == TDM_ELF_HIDDEN)
		tdm_doctor_advise(d, NULL, "use a build that exports it, as the published ones do");
}

/* Whether a part of a topic is not seen for want of a function, in this file. */
static bool lacks(const struct look *look, size_t i, const char *topic)
{
	const struct tdm_metal_function *f = &look->setup->functions[i];
	size_t at;
	return !f->is_needed && f->sees != NULL && strcmp(f->topic, topic) == 0 && is_first_of_name(look->setup, i) &&
	       !is_enough(f, state_of(look, f->name, &at)) && at != SIZE_MAX;
}

/* "the grid of cores (Device::grid)": what is missing in a topic that is seen, and the functions that would show it. */
static void say_parts(const struct look *look, const char *topic)
{
	const struct tdm_metal_function *all = look->setup->functions;
	struct tdm_buf list;
	tdm_buf_init(&list);
	for (size_t i = 0; i < look->setup->function_count; i++) {
		size_t first = 0;
		while (first < i &&
			!(lacks(look, first, topic) && tdm_str_is(tdm_str_of(all[i].sees), all[first].sees)))
			first++;
		if (first != i || !lacks(look, i, topic))
			continue;
		tdm_buf_printf(&list, "%s%s (", list.len != 0 ? "; " : "", all[i].sees);
		for (size_t k = i; k < look->setup->function_count; k++)
			if (lacks(look, k, topic) && strcmp(all[k].sees, all[i].sees) == 0)
				tdm_buf_printf(&list, "%s%s", k != i ? ", " : "", all[k].name);
		tdm_buf_putc(&list, ')');
	}
	look->d->check = "metal.functions";
	if (list.len != 0)
		tdm_doctor_say(look->d, INFO, "%s, but not: %s", topic, list.data);
	look->d->findings.failed |= list.failed;
	tdm_buf_done(&list);
}

static void say_file(struct tdm_doctor *d, const struct tdm_metal_doctor *metal, const struct tdm_metal_file *file)
{
	const struct tdm_metal_setup *setup = metal->setup;
	const struct look look = { d, setup, file, tdm_metal_releases(setup, file) };
	bool *present = calloc(setup->function_count + 1, sizeof *present);
	if (present == NULL) {
		d->findings.failed = true;
		return;
	}
	for (size_t i = 0; i < setup->function_count; i++)
		present[i] = is_enough(&setup->functions[i], (enum tdm_elf_has)file->has[i]);
	say_library(&look);
	for (size_t t = 0; metal->topics[t] != NULL; t++) {
		const char *missing = metal->missing(t, present);
		say_topic(&look, metal->topics[t], missing);
		if (missing == NULL)
			say_parts(&look, metal->topics[t]);
	}
	free(present);
}

/* Nothing that was looked at defines any of the functions. */
static void say_none(struct tdm_doctor *d, const struct tdm_metal_setup *setup)
{
	const struct tdm_metal_file *first = setup->file_count != 0 ? &setup->files[0] : NULL;
	d->check = "metal.library";
	tdm_doctor_look(d, "%s", setup->objects.count != 0 ? setup->objects.list[0].path : setup->target);
	if (first != NULL && first->hidden != 0) {
		tdm_doctor_say(d, WARNING, "%s is tt-metal, but hides all of the functions that the preload hooks",
			first->path);
		tdm_doctor_advise(d, NULL,
			"use a build that exports them, as the published ones do; of this one, only the totals in "
			"shared "
			"memory are seen");
	} else if (first != NULL) {
		tdm_doctor_say(
			d, WARNING, "%s uses tt-metal, but the library that defines it was not found", first->path);
		tdm_doctor_advise(
			d, NULL, "name that library, or a process that has loaded it: tidemark doctor --metal PID");
	} else if (setup->type == TDM_METAL_TARGET_PROGRAM) {
		tdm_doctor_say(d, WARNING, "none of its libraries is tt-metal%s",
			setup->program.is_python ? ", and no package of this Python has it" : "");
		tdm_doctor_advise(d, NULL,
			"what a program loads while it runs cannot be known before: look at it when it runs, with its "
			"process "
			"id, or name the library");
	} else {
		tdm_doctor_say(d, WARNING,
			setup->type == TDM_METAL_TARGET_PROCESS
				? "the process has not loaded tt-metal"
				: "it has none of the functions that the preload hooks");
		tdm_doctor_advise(d, NULL, "%s",
			setup->type == TDM_METAL_TARGET_PROCESS ? "look again when it has opened a device"
								: "it is not tt-metal, and does not use it");
	}
}

/* What could not be read, or found, so that more may be seen than is said. */
static void say_unknown(struct tdm_doctor *d, const struct tdm_metal_setup *setup)
{
	d->check = "metal.target";
	if (setup->objects.missing_count != 0) {
		tdm_doctor_say(d, INFO, "%zu of the needed libraries %s not found, such as %s",
			setup->objects.missing_count, setup->objects.missing_count == 1 ? "was" : "were",
			setup->objects.missing[0]);
		tdm_doctor_advise(d, NULL, "set LD_LIBRARY_PATH as for the program");
	}
	for (size_t i = 0; i < setup->objects.count; i++)
		if (setup->objects.list[i].err != 0) {
			tdm_doctor_say(d, INFO, "%zu file%s could not be read, such as %s: %s", setup->unread,
				setup->unread == 1 ? "" : "s", setup->objects.list[i].path,
				tdm_err_text(setup->objects.list[i].err));
			break;
		}
	if (setup->objects.is_cut)
		tdm_doctor_say(d, INFO, "more than %d files: the rest was not looked at", TDM_OBJECTS_MAX);
	if (setup->program.is_python && setup->type == TDM_METAL_TARGET_PROGRAM)
		tdm_doctor_say(d, INFO,
			"this is Python: the packages of its own folder were looked at; those of PYTHONPATH, and "
			"editable "
			"installations, are not known before it runs");
}

/* Whether the preload works in it. */
static void say_preload(struct tdm_doctor *d, const struct tdm_metal_setup *setup)
{
	const char *bar = tdm_preload_bar_text(setup->program.bar);
	bool is_process = setup->type == TDM_METAL_TARGET_PROCESS;
	d->check = "metal.preload";
	if (is_process)
		tdm_doctor_look(d, "process %" PRId32, setup->pid);
	else
		tdm_doctor_look(d, "%s", setup->program.path);
	if (bar != NULL && !(is_process && setup->has_preload)) {
		tdm_doctor_say(d, BROKEN, "%s %s",
			is_process ? "the preload is not in the process: it" : setup->program.path, bar);
		tdm_doctor_advise(
			d, NULL, "only the totals that the runtime publishes in shared memory are seen of it");
	} else if (setup->type == TDM_METAL_TARGET_PROGRAM) {
		tdm_doctor_say(d, OK, "%s can be preloaded%s", setup->program.path,
			setup->program.script[0] != '\0' ? ": it runs the script" : "");
	} else if (is_process && !setup->has_preload) {
		tdm_doctor_say(
			d, WARNING, "the preload is not in the process: nothing of tt-metal is seen buffer by buffer");
		tdm_doctor_advise(
			d, "tidemark run -- COMMAND", "start it again this way, or after eval \"$(tidemark env)\"");
	} else if (is_process && setup->tracking == 0 && !setup->has_ledger) {
		tdm_doctor_say(
			d, WARNING, "the preload is in the process, but tracking is off: TIDEMARK=1 is not set there");
		tdm_doctor_advise(d, NULL, "start it again with TIDEMARK=1; 'tidemark env' prints all that is needed");
	} else if (is_process)
		tdm_doctor_say(d, OK, "the preload is in the process");
}

/* "A, B and 3 more" of the hooks that were never called. */
static void say_calls(struct tdm_doctor *d, const struct tdm_metal_setup *setup)
{
	struct look look = { d, setup, setup->files, { 0 } };
	struct tdm_buf never;
	size_t count = 0;
	if (!setup->has_preload || setup->definer_count == 0)
		return;
	d->check = "metal.calls";
	tdm_doctor_look(d, "the ledger of process %" PRId32, setup->pid);
	if (!setup->has_ledger) {
		tdm_doctor_say(d, INFO, "it has no ledger that can be read: nothing was reported yet");
		return;
	}
	tdm_buf_init(&never);
	for (size_t i = 0; i < setup->function_count; i++) {
		const struct tdm_metal_function *f = &setup->functions[i];
		size_t at;
		if (!f->is_hook || !is_first_of_name(setup, i) || state_of(&look, f->name, &at) != TDM_ELF_DEFINED ||
			(setup->calls[i] != 0 && setup->calls[i] != TDM_BYTES_UNKNOWN))
			continue;
		if (count++ < NAMES_SHOWN)
			tdm_buf_printf(&never, "%s%s", count > 1 ? ", " : "", f->name);
	}
	if (count > NAMES_SHOWN)
		tdm_buf_printf(&never, " and %zu more", count - NAMES_SHOWN);
	d->findings.failed |= never.failed;
	if (setup->called_count == 0) {
		tdm_doctor_say(d, WARNING, "no hook was called: nothing of tt-metal has been seen so far");
		tdm_doctor_advise(d, NULL,
			"if it has allocated something, its runtime was linked so that calls cannot be "
			"intercepted");
	} else {
		tdm_doctor_say(d, OK, "%" PRIu64 " hook%s called", setup->called_count,
			setup->called_count == 1 ? " was" : "s were");
		if (count != 0)
			tdm_doctor_say(d, INFO, "never called so far: %s", tdm_buf_str(&never).ptr);
	}
	tdm_buf_done(&never);
}

void tdm_doctor_metal(struct tdm_doctor *d, const struct tdm_metal_doctor *metal)
{
	const struct tdm_metal_setup *setup = metal->setup;
	d->check = "metal.target";
	tdm_doctor_look(d, "%s", setup->target);
	if (setup->err != 0) {
		tdm_doctor_say(d, BROKEN, "%s%s cannot be looked at: %s",
			setup->type == TDM_METAL_TARGET_PROCESS ? "process " : "", setup->target, setup->diag.text);
		if (setup->err != -EACCES && setup->err != -EPERM)
			tdm_doctor_advise(d, NULL, "name a library, a program or the id of a process");
		else if (setup->type != TDM_METAL_TARGET_PROCESS)
			tdm_doctor_advise(d, NULL, "look as a user who may read it");
		return;
	}
	say_preload(d, setup);
	for (size_t i = 0; i < setup->definer_count; i++)
		say_file(d, metal, &setup->files[i]);
	if (setup->definer_count == 0)
		say_none(d, setup);
	if (setup->definer_count > 1) {
		d->check = "metal.library";
		tdm_doctor_say(d, INFO, "%zu libraries define functions of tt-metal: each is hooked by itself",
			setup->definer_count);
	}
	if (setup->type == TDM_METAL_TARGET_PROCESS)
		say_calls(d, setup);
	say_unknown(d, setup);
}
