/* The findings of `doctor --metal`, and the output of all doctor findings. */
#include "analyze/doctor/doctor.h"
#include "base/err.h"
#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_SHOWN = 8 };

/* "v0.66" as a comparable number; `unknown` for NULL. */
static uint64_t release_number(const char *release, uint64_t unknown)
{
	unsigned major, minor;
	return release != NULL && sscanf(release, "v%u.%u", &major, &minor) == 2 ? (uint64_t)major << 32 | minor
										 : unknown;
}

static bool is_in(const struct tdm_metal_function *f, uint64_t since, uint64_t until)
{
	return release_number(f->since, 0) <= until && since <= release_number(f->until, UINT64_MAX);
}

/* State of the examination of one file. */
struct look {
	struct tdm_doctor *d;
	const struct tdm_metal_setup *setup;
	const struct tdm_metal_file *file;
	const char *since, *until; /* first and last release that has the functions; NULL for no known limit */
};

/* Finds the releases that contain most of a file's names. No single release may contain all of them, because a release
 * may keep an old name for another purpose. */
static void find_releases(struct look *look)
{
	const struct tdm_metal_setup *setup = look->setup;
	size_t most = 0;
	uint64_t best = 0;
	/* The set of names changes only in releases that introduced one of them. */
	for (size_t c = 0; c < setup->function_count; c++) {
		uint64_t release = release_number(setup->functions[c].since, 0);
		size_t count = 0;
		for (size_t i = 0; i < setup->function_count; i++)
			count += look->file->has[i] >= TDM_ELF_HIDDEN && is_in(&setup->functions[i], release, release);
		if (count > most || (count == most && release > best)) {
			most = count;
			best = release;
		}
	}
	for (size_t i = 0; i < setup->function_count; i++) {
		const struct tdm_metal_function *f = &setup->functions[i];
		if (look->file->has[i] < TDM_ELF_HIDDEN || !is_in(f, best, best))
			continue;
		if (release_number(f->since, 0) > release_number(look->since, 0))
			look->since = f->since;
		if (release_number(f->until, UINT64_MAX) < release_number(look->until, UINT64_MAX))
			look->until = f->until;
	}
}

/* The best state of a function under any of its names. *best: a name that is present or, if there is none, a name used
 * by this release. */
static enum tdm_elf_has state_of(const struct look *look, const char *name, size_t *best)
{
	enum tdm_elf_has has = TDM_ELF_ABSENT;
	*best = SIZE_MAX;
	for (size_t i = 0; i < look->setup->function_count; i++) {
		const struct tdm_metal_function *f = &look->setup->functions[i];
		if (strcmp(f->name, name) != 0)
			continue;
		if (look->file->has[i] > has ||
			(*best == SIZE_MAX &&
				is_in(f, release_number(look->since, 0), release_number(look->until, UINT64_MAX)))) {
			has = look->file->has[i] > has ? (enum tdm_elf_has)look->file->has[i] : has;
			*best = i;
		}
	}
	return has;
}

/* A function that is merely called, not intercepted, may come from another library. */
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

static void say_library(const struct look *look)
{
	const char *since = look->since, *until = look->until;
	const char *path = look->file->path;
	struct tdm_doctor *d = look->d;
	char releases[80] = "its names do not tell the release";
	if (since != NULL && until != NULL && strcmp(since, until) == 0)
		snprintf(releases, sizeof releases, "its names are those of %s", since);
	else if (since != NULL && until != NULL)
		snprintf(releases, sizeof releases, "its names are those of %s to %s", since, until);
	else if (since != NULL || until != NULL)
		snprintf(releases, sizeof releases, "its names are those of %s or %s", since != NULL ? since : until,
			since != NULL ? "later" : "earlier");
	d->check = "metal.library";
	look(d, "%s", path);
	say(d, OK, "%s is tt-metal: %s", path, releases);
	if (look->file->is_deleted)
		say(d, INFO,
			"%s was replaced or deleted while the process runs: this is about the file that the process "
			"has",
			path);
	if (look->file->is_symbolic)
		tell(d, WARNING, NULL, "use a build without that option, as the published ones are",
			"%s was linked with -Bsymbolic: its own calls never leave it, so the hooks see few or none",
			path);
	else if (look->file->is_bound)
		tell(d, WARNING, NULL,
			"use a build without -Bsymbolic-functions and link-time optimisation, as the published ones "
			"are",
			"%s calls none of these functions by name: its own calls never leave it, so the hooks see few "
			"or none",
			path);
}

static void say_topic(const struct look *look, const char *topic, const char *missing)
{
	static const char *const states[] = { "is missing", "is only imported: another library has it",
		"is hidden: link-time optimisation or hidden visibility took it out of reach", "is there" };
	struct tdm_doctor *d = look->d;
	size_t at;
	d->check = "metal.topics";
	if (missing == NULL && (look->file->is_symbolic || look->file->is_bound)) {
		say(d, INFO, "seen in part or not at all: %s", topic);
		return;
	}
	if (missing == NULL) {
		say(d, OK, "seen: %s", topic);
		if (strcmp(topic, "presence of scratchpads") == 0) /* no release supports more than that */
			say(d, INFO, "not seen: sizes and places of scratchpads: no function of tt-metal gives both");
		return;
	}
	enum tdm_elf_has has = state_of(look, missing, &at);
	/* If the release never had the function, there is nothing to see. */
	say(d, at == SIZE_MAX ? INFO : WARNING, "not seen: %s: %s %s", topic, missing,
		at == SIZE_MAX ? "is not in this release" : states[has]);
	if (has == TDM_ELF_HIDDEN)
		advise(d, NULL, "use a build that exports it, as the published ones do");
}

/* Whether a missing function hides part of a topic in this file. */
static bool lacks(const struct look *look, size_t i, const char *topic)
{
	const struct tdm_metal_function *f = &look->setup->functions[i];
	size_t at;
	return !f->is_needed && f->sees != NULL && strcmp(f->topic, topic) == 0 && is_first_of_name(look->setup, i) &&
	       !is_enough(f, state_of(look, f->name, &at)) && at != SIZE_MAX;
}

/* Reports the missing parts of a topic that is otherwise seen, with the functions that would show those parts: "the
 * grid of cores (Device::grid)". */
static void say_parts(const struct look *look, const char *topic)
{
	const struct tdm_metal_function *all = look->setup->functions;
	struct tdm_buf list = { 0 };
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
		say(look->d, INFO, "%s, but not: %s", topic, list.data);
	tdm_buf_done(&list);
}

/* Reports that no examined file defines any of the functions. */
static void say_none(struct tdm_doctor *d, const struct tdm_metal_setup *setup)
{
	const struct tdm_metal_file *first = setup->file_count != 0 ? &setup->files[0] : NULL;
	d->check = "metal.library";
	look(d, "%s", setup->objects.count != 0 ? setup->objects.list[0].path : setup->target);
	if (first != NULL && first->hidden != 0)
		tell(d, WARNING, NULL,
			"use a build that exports them, as the published ones do; of this one, only the totals in "
			"shared memory are seen",
			"%s is tt-metal, but hides all of the functions that the preload hooks", first->path);
	else if (first != NULL)
		tell(d, WARNING, NULL,
			"name that library, or a process that has loaded it: tidemark doctor --metal PID",
			"%s uses tt-metal, but the library that defines it was not found", first->path);
	else if (setup->type == TDM_METAL_TARGET_PROGRAM)
		tell(d, WARNING, NULL,
			"what a program loads while it runs cannot be known before: look at it when it runs, with its "
			"process id, or name the library",
			"none of its libraries is tt-metal%s",
			setup->program.is_python ? ", and no package of this Python has it" : "");
	else
		tell(d, WARNING, NULL,
			setup->type == TDM_METAL_TARGET_PROCESS ? "look again when it has opened a device"
								: "it is not tt-metal, and does not use it",
			setup->type == TDM_METAL_TARGET_PROCESS
				? "the process has not loaded tt-metal"
				: "it has none of the functions that the preload hooks");
}

/* Reports files that could not be read or found; the preload may therefore see more than reported. */
static void say_unknown(struct tdm_doctor *d, const struct tdm_metal_setup *setup)
{
	d->check = "metal.target";
	if (setup->objects.missing_count != 0)
		tell(d, INFO, NULL, "set LD_LIBRARY_PATH as for the program",
			"%zu of the needed libraries %s not found, such as %s", setup->objects.missing_count,
			setup->objects.missing_count == 1 ? "was" : "were", setup->objects.missing[0]);
	for (size_t i = 0; i < setup->objects.count; i++)
		if (setup->objects.list[i].err != 0) {
			say(d, INFO, "%zu file%s could not be read, such as %s: %s", setup->unread,
				setup->unread == 1 ? "" : "s", setup->objects.list[i].path,
				tdm_err_text(setup->objects.list[i].err));
			break;
		}
	if (setup->objects.is_cut)
		say(d, INFO, "more than %d files: the rest was not looked at", TDM_OBJECTS_MAX);
	if (setup->program.is_python && setup->type == TDM_METAL_TARGET_PROGRAM)
		say(d, INFO,
			"this is Python: the packages of its own folder were looked at; those of PYTHONPATH, and "
			"editable installations, are not known before it runs");
}

/* Reports whether the preload works in the program. */
static void say_preload(struct tdm_doctor *d, const struct tdm_metal_setup *setup)
{
	const char *bar = tdm_preload_bar_text(setup->program.bar);
	bool is_process = setup->type == TDM_METAL_TARGET_PROCESS;
	d->check = "metal.preload";
	if (is_process)
		look(d, "process %" PRId32, setup->pid);
	else
		look(d, "%s", setup->program.path);
	if (bar != NULL && !(is_process && setup->has_preload))
		tell(d, BROKEN, NULL, "only the totals that the runtime publishes in shared memory are seen of it",
			"%s %s", is_process ? "the preload is not in the process: it" : setup->program.path, bar);
	else if (setup->type == TDM_METAL_TARGET_PROGRAM)
		say(d, OK, "%s can be preloaded%s", setup->program.path,
			setup->program.script[0] != '\0' ? ": it runs the script" : "");
	else if (is_process && !setup->has_preload)
		tell(d, WARNING, "tidemark run -- COMMAND",
			"start it again this way, or after eval \"$(tidemark env)\"",
			"the preload is not in the process: nothing of tt-metal is seen buffer by buffer");
	else if (is_process && setup->tracking == 0 && !setup->has_ledger)
		tell(d, WARNING, NULL, "start it again with TIDEMARK=1; 'tidemark env' prints all that is needed",
			"the preload is in the process, but tracking is off: TIDEMARK=1 is not set there");
	else if (is_process)
		say(d, OK, "the preload is in the process");
}

/* Lists hooks that were never called: "A, B and 3 more". */
static void say_calls(struct tdm_doctor *d, const struct tdm_metal_setup *setup)
{
	const struct look look = { d, setup, setup->files, NULL, NULL };
	struct tdm_buf never = { 0 };
	size_t count = 0;
	if (!setup->has_preload || setup->definer_count == 0)
		return;
	d->check = "metal.calls";
	look(d, "the ledger of process %" PRId32, setup->pid);
	if (!setup->has_ledger) {
		say(d, INFO, "it has no ledger that can be read: nothing was reported yet");
		return;
	}
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
	if (setup->called_count == 0)
		tell(d, WARNING, NULL,
			"if it has allocated something, its runtime was linked so that calls cannot be intercepted",
			"no hook was called: nothing of tt-metal has been seen so far");
	else {
		say(d, OK, "%" PRIu64 " hook%s called", setup->called_count,
			setup->called_count == 1 ? " was" : "s were");
		if (count != 0)
			say(d, INFO, "never called so far: %s", tdm_buf_str(&never).ptr);
	}
	tdm_buf_done(&never);
}

void tdm_doctor_metal(struct tdm_doctor *d, const struct tdm_metal_setup *setup, const char *const *topics,
	const char *(*missing)(size_t topic, const bool *present))
{
	d->check = "metal.target";
	look(d, "%s", setup->target);
	if (setup->err != 0) {
		say(d, BROKEN, "%s%s cannot be looked at: %s",
			setup->type == TDM_METAL_TARGET_PROCESS ? "process " : "",
			setup->target[0] != '\0' ? setup->target : "''", setup->diag.text);
		if (setup->err != -EACCES && setup->err != -EPERM)
			advise(d, NULL, "name a library, a program or the id of a process");
		else if (setup->type != TDM_METAL_TARGET_PROCESS)
			advise(d, NULL, "look as a user who may read it");
		return;
	}
	say_preload(d, setup);
	bool *present = tdm_zalloc(setup->function_count, sizeof *present);
	for (size_t i = 0; i < setup->definer_count; i++) {
		struct look look = { d, setup, &setup->files[i], NULL, NULL };
		for (size_t k = 0; k < setup->function_count; k++)
			present[k] = is_enough(&setup->functions[k], (enum tdm_elf_has)look.file->has[k]);
		find_releases(&look);
		say_library(&look);
		for (size_t t = 0; topics[t] != NULL; t++) {
			const char *absent = missing(t, present);
			say_topic(&look, topics[t], absent);
			if (absent == NULL)
				say_parts(&look, topics[t]);
		}
	}
	free(present);
	if (setup->definer_count == 0)
		say_none(d, setup);
	if (setup->definer_count > 1) {
		d->check = "metal.library";
		say(d, INFO, "%zu libraries define functions of tt-metal: each is hooked by itself",
			setup->definer_count);
	}
	if (setup->type == TDM_METAL_TARGET_PROCESS)
		say_calls(d, setup);
	say_unknown(d, setup);
}

/* ---- the result ---- */

struct row {
	const struct tdm_metal_function *f;
	uint8_t has; /* enum tdm_elf_has */
	uint64_t calls;
};

static struct tdm_value get_state(const struct tdm_field *field)
{
	static const char *const states[] = { [TDM_ELF_ABSENT] = "missing",
		[TDM_ELF_IMPORTED] = "imported",
		[TDM_ELF_HIDDEN] = "hidden",
		[TDM_ELF_DEFINED] = "there" };
	return tdm_value_text(states[((const struct row *)field->row)->has]);
}

#define OF(member) TDM_VIA(struct row, f, struct tdm_metal_function, member)
static const struct tdm_column columns[] = {
	{ "State", "state", .get = get_state },
	{ "Calls", "calls", TDM_MEMBER(struct row, calls), TDM_COUNT(10) },
	{ "Function", "name", OF(name) },
	{ NULL, "symbol", OF(symbol) },
	{ "Topic", "topic", OF(topic) },
	{ "Sees", "sees", OF(sees), .flags = TDM_REST, .width = 10 },
	{ NULL, "since", OF(since) },
	{ NULL, "until", OF(until) },
	{ NULL, "hooked", OF(is_hook) },
	{ NULL, "needed", OF(is_needed) },
};
enum { CALLS = 1 };

/* The functions of a file: all their names, or only the best name of each. */
static struct tdm_table functions_of(
	struct tdm_result *result, const struct tdm_metal_setup *setup, const struct tdm_metal_file *file, bool all)
{
	struct row *rows = tdm_result_alloc(result, setup->function_count, sizeof *rows);
	size_t count = 0;
	for (size_t i = 0; i < setup->function_count; i++) {
		size_t same = all ? count : 0;
		while (same < count && strcmp(rows[same].f->name, setup->functions[i].name) != 0)
			same++;
		if (same == count || file->has[i] > rows[same].has)
			rows[same] = (struct row){ &setup->functions[i], file->has[i], setup->calls[i] };
		count += same == count;
	}
	return TDM_FITTED(columns, rows, count);
}

static void show_metal(struct tdm_block *top, const struct tdm_metal_setup *setup)
{
	static const char *const targets[] = { [TDM_METAL_TARGET_LIBRARY] = "library",
		[TDM_METAL_TARGET_PROGRAM] = "program",
		[TDM_METAL_TARGET_PROCESS] = "process" };
	bool is_process = setup->type == TDM_METAL_TARGET_PROCESS && setup->err == 0;
	struct tdm_block *group = tdm_add_group(top, "metal", NULL);
	tdm_data_all(group, TDM_VALUES({ "target", tdm_value_text(setup->target) },
				    { "type", tdm_value_text(targets[setup->type]) },
				    { "pid", tdm_value_if(setup->pid != 0, tdm_value_number((uint64_t)setup->pid)) },
				    { "preloaded", tdm_value_if(is_process, tdm_value_bool(setup->has_preload)) }));
	struct tdm_block *libraries = tdm_add_list(group, "libraries", NULL);
	for (size_t i = 0; i < setup->file_count; i++) {
		const struct tdm_metal_file *file = &setup->files[i];
		struct tdm_block *library = tdm_add_group(libraries, NULL, NULL);
		tdm_data_all(library, TDM_VALUES({ "path", tdm_value_text(file->path) },
					      { "defined", tdm_value_number(file->defined) },
					      { "hidden", tdm_value_number(file->hidden) },
					      { "imported", tdm_value_number(file->imported) },
					      { "symbolic", tdm_value_bool(file->is_symbolic) },
					      { "bound", tdm_value_bool(file->is_bound) },
					      { "deleted", tdm_value_bool(file->is_deleted) }));
		tdm_add_table(library, "functions", NULL, functions_of(top->result, setup, file, true))->is_data_only =
			true;
		struct tdm_table best = functions_of(top->result, setup, file, false);
		best.hidden = setup->type == TDM_METAL_TARGET_PROCESS ? 0 : 1 << CALLS;
		if (i < setup->definer_count)
			tdm_add_table(library, NULL, file->path, best);
	}
}

void tdm_doctor_show(struct tdm_block *top, const struct tdm_findings *findings, const struct tdm_metal_setup *metal)
{
	size_t counts[TDM_SEVERITIES], worst = 0;
	for (unsigned s = 0; s < TDM_SEVERITIES; s++) {
		counts[s] = tdm_findings_count(findings, (enum tdm_severity)s);
		worst = counts[s] != 0 ? s : worst;
	}
	tdm_data(top, "state", tdm_value_text(tdm_doctor_verdicts[worst]));
	for (unsigned s = 0; s < TDM_SEVERITIES; s++)
		tdm_data(top, tdm_doctor_verdicts[s], tdm_value_number(counts[s]));
	tdm_show_findings(top, "findings", NULL, findings)->is_data_only = true;
	for (size_t i = 0, next; i < findings->count; i = next) {
		const char *name = findings->list[i].what;
		size_t len = strcspn(name, ".");
		for (next = i; next < findings->count && strncmp(findings->list[next].what, name, len + 1) == 0;)
			next++;
		struct tdm_findings group = *findings;
		group.list += i;
		group.count = next - i;
		struct tdm_block *block =
			tdm_show_findings(top, NULL, tdm_result_printed(top->result, "%.*s", (int)len, name), &group);
		block->is_text_only = block->is_apart = block->findings.shows_fine = true;
	}
	tdm_say(top,
		"{broken} broken, |{warnings/warning/warnings}, {ok} ok, {info} for information|: all is well{well}",
		TDM_VALUES({ "broken", tdm_value_if(counts[BROKEN] != 0, tdm_value_number(counts[BROKEN])) },
			{ "warnings", tdm_value_number(counts[WARNING]) }, { "ok", tdm_value_number(counts[OK]) },
			{ "info", tdm_value_number(counts[INFO]) }, { "well", tdm_value_bool(worst < WARNING) }))
		->is_apart = true;
	if (metal != NULL)
		show_metal(top, metal);
}
