#include "state/metal_setup.h"
#include "base/err.h"
#include "base/number.h"
#include "base/reserve.h"
#include "sources/host.h"
#include "sources/probe.h"
#include "sources/sys_file.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where Python packages keep the runtime, below the prefix of an interpreter: ttnn's wheels, tt-xla's plugin. */
static const char *const package_places[] = {
	"lib*/python3*/*-packages/*/libtt_metal*.so*",
	"lib*/python3*/*-packages/*/lib*/libtt_metal*.so*",
	"lib*/python3*/*-packages/*/*/lib*/libtt_metal*.so*",
	"lib*/python3*/*-packages/ttnn/_ttnn*.so*",
};

/* The kernel gives a process some twenty rows. */
enum { AUXV_CAP = 4096 };

static bool is_number(const char *text)
{
	return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash != NULL ? slash + 1 : path;
}

static bool is_first_of_name(const struct tdm_metal_setup *setup, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(setup->functions[k].name, setup->functions[i].name) == 0)
			return false;
	return true;
}

/* The best that a file has of a function, under any of its names. */
static uint8_t best_of(const struct tdm_metal_setup *setup, const uint8_t *has, const char *name)
{
	uint8_t best = TDM_ELF_ABSENT;
	for (size_t i = 0; i < setup->function_count; i++)
		if (has[i] > best && strcmp(setup->functions[i].name, name) == 0)
			best = has[i];
	return best;
}

/* Keeps a file that has hooked functions. Those that are only asked may be in other libraries, too. */
static int add_file(struct tdm_metal_setup *setup, const struct tdm_object *object, const uint8_t *has,
	bool is_symbolic, bool is_bound)
{
	size_t counts[TDM_ELF_DEFINED + 1] = { 0 };
	for (size_t i = 0; i < setup->function_count; i++)
		if (setup->functions[i].is_hook && is_first_of_name(setup, i))
			counts[best_of(setup, has, setup->functions[i].name)]++;
	if (counts[TDM_ELF_DEFINED] + counts[TDM_ELF_HIDDEN] + counts[TDM_ELF_IMPORTED] == 0)
		return 0;
	if (tdm_reserve(&setup->files, &setup->file_cap, setup->file_count + 1, sizeof *setup->files) != 0)
		return -ENOMEM;
	uint8_t *copy = malloc(setup->function_count);
	if (copy == NULL)
		return -ENOMEM;
	memcpy(copy, has, setup->function_count);
	/* The definers come first. */
	bool defines = counts[TDM_ELF_DEFINED] != 0;
	size_t at = defines ? setup->definer_count++ : setup->file_count;
	memmove(&setup->files[at + 1], &setup->files[at], (setup->file_count - at) * sizeof *setup->files);
	setup->file_count++;
	setup->files[at] = (struct tdm_metal_file){ object->path, copy, counts[TDM_ELF_DEFINED], counts[TDM_ELF_HIDDEN],
		counts[TDM_ELF_IMPORTED], is_symbolic, is_bound, object->is_deleted };
	return 0;
}

/* The hooked ones come first. */
static size_t hook_count(const struct tdm_metal_setup *setup)
{
	size_t count = 0;
	while (count < setup->function_count && setup->functions[count].is_hook)
		count++;
	return count;
}

/* Looks for the functions in one file. A file that cannot be read is counted. */
static int look_into(struct tdm_metal_setup *setup, struct tdm_object *object, const char *const *symbols, uint8_t *has)
{
	struct tdm_elf_object elf;
	struct tdm_diag ignored;
	uint64_t size;
	int fd = object->open_path != NULL ? tdm_object_open(object->open_path, &size) : object->err;
	if (fd < 0) {
		object->err = fd;
		setup->unread++;
		return 0;
	}
	bool is_bound = false;
	int err = tdm_elf_object_read(&elf, fd, size, &ignored);
	if (err == 0)
		err = tdm_elf_object_find(&elf, symbols, setup->function_count, has, &ignored);
	if (err == 0)
		err = tdm_elf_object_is_bound(&elf, symbols, hook_count(setup), &is_bound, &ignored);
	if (err == 0)
		err = add_file(setup, object, has, elf.is_symbolic, is_bound);
	else if (err != -ENOMEM && object->err == 0)
		object->err = err;
	setup->unread += err != 0;
	tdm_elf_object_done(&elf);
	close(fd);
	return err == -ENOMEM ? err : 0;
}

/* The preload itself defines what it hooks, and is no runtime. */
static int look_into_all(struct tdm_metal_setup *setup, const struct tdm_metal_places *places)
{
	const char **symbols = calloc(setup->function_count + 1, sizeof *symbols);
	uint8_t *has = calloc(setup->function_count + 1, 1);
	int err = symbols == NULL || has == NULL ? -ENOMEM : 0;
	for (size_t i = 0; err == 0 && i < setup->function_count; i++)
		symbols[i] = setup->functions[i].symbol;
	for (size_t i = 0; err == 0 && i < setup->objects.count; i++) {
		bool is_preload =
			strncmp(base_name(setup->objects.list[i].path), places->preload, strlen(places->preload)) == 0;
		setup->has_preload |= is_preload;
		if (!is_preload || setup->type == TDM_METAL_TARGET_LIBRARY)
			err = look_into(setup, &setup->objects.list[i], symbols, has);
	}
	free(symbols);
	free(has);
	return err;
}

/* A target that is a file. What it needs is followed. */
static int read_target(struct tdm_metal_setup *setup, const char *path)
{
	struct tdm_elf_object elf = { 0 };
	uint64_t size;
	int fd = tdm_object_open(path, &size);
	setup->err =
		fd < 0 ? tdm_diag_set(&setup->diag, fd, 0, 0, "%s", fd == -EINVAL ? "not a file" : tdm_err_text(fd))
		       : tdm_elf_object_read(&elf, fd, size, &setup->diag);
	if (fd >= 0)
		close(fd);
	tdm_elf_object_done(&elf);
	if (setup->err == -ENOMEM)
		return -ENOMEM;
	if (setup->err != 0)
		return 0;
	int err = tdm_objects_add(&setup->objects, path, NULL, path);
	if (err == 0)
		err = tdm_objects_follow(&setup->objects, 0, getenv("LD_LIBRARY_PATH"), TDM_LOADER_CACHE);
	return err;
}

/* The packages of a Python, which the program may load while it runs. */
static int read_packages(struct tdm_metal_setup *setup)
{
	const char *path = setup->program.path, *slash = strrchr(path, '/');
	for (size_t i = 0; slash != NULL && i < sizeof package_places / sizeof package_places[0]; i++) {
		char pattern[PATH_MAX + 128];
		glob_t found = { 0 };
		int err = 0;
		snprintf(pattern, sizeof pattern, "%.*s/../%s", (int)(slash - path), path, package_places[i]);
		if (glob(pattern, 0, NULL, &found) == 0)
			for (size_t k = 0; err == 0 && k < found.gl_pathc; k++) {
				size_t first = setup->objects.count;
				err = tdm_objects_add(&setup->objects, found.gl_pathv[k], NULL, found.gl_pathv[k]);
				if (err == 0)
					err = tdm_objects_follow(
						&setup->objects, first, getenv("LD_LIBRARY_PATH"), TDM_LOADER_CACHE);
			}
		globfree(&found);
		if (err != 0)
			return err;
	}
	return 0;
}

static int read_file_or_program(struct tdm_metal_setup *setup)
{
	struct tdm_diag diag = { 0 };
	const char *target = setup->target;
	int found = tdm_program_find(&setup->program, target, &diag);
	if (found != 0 && strchr(target, '/') == NULL && access(target, F_OK) == 0) {
		char here[PATH_MAX];
		snprintf(here, sizeof here, "./%s", target); /* a library in this directory */
		found = tdm_program_find(&setup->program, here, &diag);
	}
	if (found == -ENOMEM)
		return found;
	setup->type = setup->program.is_library ? TDM_METAL_TARGET_LIBRARY : TDM_METAL_TARGET_PROGRAM;
	if (found != 0) {
		setup->err = found;
		setup->diag = diag;
		return 0;
	}
	int err = read_target(setup, setup->program.path);
	if (err == 0 && setup->program.is_python)
		err = read_packages(setup);
	return err;
}

/* How often each function was called, as the process counts it. */
static int read_calls(struct tdm_metal_setup *setup, const struct tdm_metal_places *places)
{
	const struct tdm_state_options options = {
		.ledger_dir = places->ledgers, .pids = &setup->pid, .pid_count = 1, .only_ledgers = true, .once = true
	};
	const struct tdm_wish wish = { .no_largest = true };
	struct tdm_state *state = tdm_state_new(&options);
	const struct tdm_picture *picture = state != NULL ? tdm_state_look(state, &wish) : NULL;
	for (size_t p = 0; picture != NULL && p < picture->process_count; p++) {
		const struct tdm_picture_process *process = &picture->processes[p];
		setup->has_ledger = true;
		for (size_t n = 0; n < process->note_count; n++)
			for (size_t i = 0; i < setup->function_count; i++) {
				const char *text = tdm_picture_text(picture, process->notes[n].text);
				if (process->notes[n].is_remark || !tdm_has_prefix(text, "metal:") ||
					strcmp(text + strlen("metal:"), setup->functions[i].name) != 0)
					continue;
				setup->calls[i] = process->notes[n].value;
				setup->called_count += setup->calls[i] != 0 && is_first_of_name(setup, i);
			}
	}
	tdm_state_free(state);
	return picture != NULL ? 0 : -ENOMEM;
}

/* Why nothing was preloaded into a process: what its program is, and whether the loader found it to have more rights
 * than its user. The loader's own figure is asked: the rights of a file may have changed, or mean nothing there. */
static void find_bar(struct tdm_metal_setup *setup, const char *proc)
{
	char path[PATH_MAX], text[AUXV_CAP];
	struct tdm_diag ignored;
	snprintf(path, sizeof path, "%s/%" PRId32 "/exe", proc, setup->pid);
	tdm_program_find(&setup->program, path, &ignored);
	if (setup->program.bar == TDM_BAR_PRIVILEGED)
		setup->program.bar = TDM_BAR_NONE;
	snprintf(path, sizeof path, "%s/%" PRId32 "/auxv", proc, setup->pid);
	int len = tdm_sys_file_read(AT_FDCWD, path, text, sizeof text);
	Elf64_auxv_t row;
	for (int at = 0; len - at >= (int)sizeof row; at += (int)sizeof row) {
		memcpy(&row, text + at, sizeof row);
		if (row.a_type == AT_SECURE && row.a_un.a_val != 0 && setup->program.bar == TDM_BAR_NONE)
			setup->program.bar = TDM_BAR_PRIVILEGED;
	}
}

static void refuse_process(struct tdm_metal_setup *setup, int err)
{
	setup->err = err;
	tdm_diag_set(&setup->diag, err, 0, 0, "%s",
		err == -ENOENT || err == -ERANGE  ? "there is no such process"
		: err == -ESRCH                   ? "it has ended, or is a thread of the kernel"
		: err == -EACCES || err == -EPERM ? "it belongs to another user, or has rights that you have not: look "
						    "as root, in a container with CAP_SYS_PTRACE"
						  : tdm_err_text(err));
}

static int read_process(struct tdm_metal_setup *setup, const struct tdm_metal_places *places)
{
	struct tdm_probe probe = { .places = { .proc = tdm_proc_path(places->proc) } };
	setup->type = TDM_METAL_TARGET_PROCESS;
	uint64_t pid;
	setup->err = tdm_sys_number(setup->target, INT32_MAX, &pid);
	setup->pid = setup->err == 0 ? (int32_t)pid : 0;
	if (setup->err == 0)
		setup->err = tdm_objects_mapped(&setup->objects, probe.places.proc, setup->pid);
	if (setup->err == 0 && setup->objects.count == 0)
		setup->err = -ESRCH;
	if (setup->err == -ENOMEM)
		return setup->err;
	if (setup->err != 0) {
		refuse_process(setup, setup->err);
		return 0;
	}
	find_bar(setup, probe.places.proc);
	setup->tracking = tdm_probe_environ(&probe, setup->pid, "TIDEMARK=1");
	return read_calls(setup, places);
}

int tdm_metal_setup_read(struct tdm_metal_setup *setup, const char *target, const struct tdm_metal_function *functions,
	size_t count, const struct tdm_metal_places *places)
{
	*setup = (struct tdm_metal_setup){ .functions = functions, .function_count = count, .target = target };
	setup->calls = calloc(count + 1, sizeof *setup->calls);
	if (setup->calls == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		setup->calls[i] = TDM_BYTES_UNKNOWN;
	int err = is_number(target) && access(target, F_OK) != 0 ? read_process(setup, places)
								 : read_file_or_program(setup);
	if (err == 0 && setup->err == 0)
		err = look_into_all(setup, places);
	/* What could not be read of a process that has ended is not worth a word. */
	if (err == 0 && setup->type == TDM_METAL_TARGET_PROCESS && setup->unread != 0) {
		char path[PATH_MAX];
		snprintf(path, sizeof path, "%s/%" PRId32, tdm_proc_path(places->proc), setup->pid);
		if (access(path, F_OK) != 0)
			refuse_process(setup, -ESRCH);
	}
	/* A counter begins with the first call. */
	for (size_t i = 0; setup->has_ledger && setup->has_preload && i < count; i++)
		if (functions[i].is_hook && setup->calls[i] == TDM_BYTES_UNKNOWN)
			setup->calls[i] = 0;
	return err;
}

void tdm_metal_setup_done(struct tdm_metal_setup *setup)
{
	for (size_t i = 0; i < setup->file_count; i++)
		free(setup->files[i].has);
	free(setup->files);
	free(setup->calls);
	tdm_objects_done(&setup->objects);
	*setup = (struct tdm_metal_setup){ 0 };
}
