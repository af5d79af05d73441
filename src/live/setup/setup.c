#include "live/setup/setup.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/number.h"
#include "ledger/layout/ledger_file.h"
#include "live/runtime/server_wire.h"
#include "ledger/read/ledger_list.h"
#include "live/host/host.h"
#include "live/runtime/metal_shm.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the system ---- */

enum { ENVIRON_CAP = 256 * 1024, LINE_CAP = 8192 };

static const char *join(char dst[PATH_MAX], const char *root, const char *rest)
{
	snprintf(dst, PATH_MAX, "%s/%s", root, rest);
	return dst;
}

/* Finds the first line of a file that begins with `word`. 1, 0 if there is none, or a negative code. */
static int find_line(const char *root, const char *name, const char *word, char line[LINE_CAP])
{
	char path[PATH_MAX];
	FILE *file = fopen(join(path, root, name), "re");
	if (file == NULL)
		return -errno;
	int found = 0;
	while (found == 0 && fgets(line, LINE_CAP, file) != NULL)
		found = strncmp(line, word, strlen(word)) == 0;
	fclose(file);
	return found;
}

static int may(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 ? 0 : -errno;
}

static void read_file(struct tdm_setup_file *file, const char *path)
{
	struct stat st;
	bool is_there = lstat(path, &st) == 0;
	*file = (struct tdm_setup_file){ .is_link = is_there && S_ISLNK(st.st_mode),
		.is_foreign = is_there && st.st_uid != geteuid() };
	if (stat(path, &st) != 0) {
		file->err = file->read_err = file->write_err = -errno;
		return;
	}
	file->mode = st.st_mode;
	file->gid = st.st_gid;
	file->bytes = (uint64_t)st.st_blocks * 512;
	file->read_err = may(path, S_ISDIR(st.st_mode) ? R_OK | X_OK : R_OK);
	file->write_err = may(path, W_OK);
	if (file->read_err == 0 && file->write_err == 0 && !file->is_foreign)
		return;
	const struct group *group = getgrgid(st.st_gid);
	tdm_user_name(st.st_uid, file->owner, sizeof file->owner);
	if (group != NULL)
		snprintf(file->group, sizeof file->group, "%s", group->gr_name);
}

/* Whether a process's environment has a variable that begins with `setting` ("NAME=" and the beginning of a value): 1,
 * 0, or a negative code. */
static int read_environ(const char *proc, int32_t pid, const char *setting)
{
	char path[PATH_MAX], *text = tdm_alloc(ENVIRON_CAP);
	snprintf(path, sizeof path, "%s/%" PRId32 "/environ", proc, pid);
	int len = tdm_sys_file_read(AT_FDCWD, path, text, ENVIRON_CAP), found = 0;
	for (int at = 0; at < len && found == 0; at += (int)strlen(text + at) + 1)
		found = strncmp(text + at, setting, strlen(setting)) == 0;
	free(text);
	return len < 0 ? len : found;
}

static void read_user(struct tdm_setup *setup)
{
	char path[PATH_MAX], line[LINE_CAP];
	const char *proc = setup->places.proc;
	struct stat own;
	if (!tdm_user_name(geteuid(), setup->user, sizeof setup->user))
		setup->user[0] = '\0';
	if (stat(join(path, proc, "self/ns/pid"), &own) == 0)
		setup->pid_namespace = own.st_ino;
	/* In a nested pid namespace, the line has several numbers. Container engines also leave marker files. */
	bool is_nested = find_line(proc, "self/status", "NSpid:\t", line) == 1 && strchr(strchr(line, '\t') + 1, '\t');
	setup->in_container =
		is_nested || (strcmp(proc, "/proc") == 0 &&
				     (access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0));
}

static void read_ledger_dir(struct tdm_setup *setup)
{
	struct statvfs fs;
	read_file(&setup->ledger_dir, setup->places.ledgers);
	snprintf(setup->user_folder_path, sizeof setup->user_folder_path, "%s/" TDM_LEDGER_USER_PREFIX "%u",
		setup->places.ledgers, (unsigned)geteuid());
	read_file(&setup->user_folder, setup->user_folder_path);
	if (statvfs(setup->places.ledgers, &fs) != 0) {
		setup->space_err = -errno;
		return;
	}
	setup->free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	setup->all_bytes = (uint64_t)fs.f_blocks * fs.f_frsize;
}

static void read_processor(struct tdm_setup *setup)
{
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0);
	setup->has_membarrier = commands >= 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
#if defined(__x86_64__)
	char line[LINE_CAP], *rest;
	int found = find_line(setup->places.proc, "cpuinfo", "flags", line);
	setup->has_tsc = true;
	setup->tsc_err = found < 0 ? found : 0;
	for (char *word = found == 1 ? strtok_r(line, " \n", &rest) : NULL; word != NULL;
		word = strtok_r(NULL, " \n", &rest)) {
		setup->tsc_is_constant |= strcmp(word, "constant_tsc") == 0;
		setup->tsc_is_nonstop |= strcmp(word, "nonstop_tsc") == 0;
	}
#endif
}

static enum tdm_setup_python try_python(const char *python)
{
	char command[PATH_MAX];
	snprintf(command, sizeof command,
		"%s -c \"import importlib.util, sys; sys.exit(importlib.util.find_spec('tidemark') is None)\" "
		"</dev/null >/dev/null 2>&1",
		python);
	int status = system(command);
	if (status == -1 || (WIFEXITED(status) && WEXITSTATUS(status) >= 126)) /* the shell could not start it */
		return TDM_SETUP_NO_PYTHON;
	return status == 0 ? TDM_SETUP_PYTHON_PACKAGE : TDM_SETUP_PYTHON_ALONE;
}

/* ---- the whole ---- */

/* Reads the files of cards, regions and ledgers, and the environments of processes. */
static void read_files(struct tdm_setup *setup)
{
	const struct tdm_host *host = setup->host;
	const struct tdm_metal_list *metal = setup->metal;
	const struct tdm_picture *picture = setup->picture;
	const struct tdm_setup_places *at = &setup->places;
	struct tdm_setup_file left;
	char path[PATH_MAX];
	setup->nodes = tdm_zalloc(host->card_count + metal->count + picture->problem_count, sizeof *setup->nodes);
	setup->disabled = tdm_zalloc(host->process_count, sizeof *setup->disabled);
	setup->regions = setup->nodes + host->card_count;
	setup->unread = setup->regions + metal->count;
	for (size_t i = 0; i < host->card_count; i++) {
		snprintf(path, sizeof path, "%s/" TDM_SETUP_MODULE "/%" PRIu32, at->dev, host->cards[i].number);
		read_file(&setup->nodes[i], path);
	}
	for (size_t i = 0; i < metal->count; i++) {
		snprintf(path, sizeof path, "%s/%s", at->shm, metal->regions[i].name);
		read_file(&setup->regions[i], path);
	}
	for (size_t i = 0; i < picture->problem_count; i++)
		if (picture->problems[i].path != NULL)
			read_file(&setup->unread[i], picture->problems[i].path);
	for (size_t i = 0; i < picture->process_count; i++)
		if (picture->processes[i].life == TDM_LIFE_ENDED) {
			read_file(&left, picture->processes[i].ledger);
			setup->left_bytes += left.bytes;
		}
	for (size_t i = 0; i < host->process_count; i++)
		setup->disabled[i] = read_environ(at->proc, host->processes[i].pid, TDM_SETUP_DISABLE "=1");
}

void tdm_setup_read(struct tdm_setup *setup, const struct tdm_setup_places *places)
{
	const struct tdm_state_options machine = {
		.ledger_dir = places->ledgers, .shm_dir = places->shm, .sysfs = places->sysfs, .proc = places->proc
	};
	const struct tdm_state_options tracked = {
		.ledger_dir = places->ledgers, .only_ledgers = true, .with_ended = true
	};
	const struct tdm_wish wish = { .no_largest = true };
	const char *(*version)(void) = NULL;
	char path[PATH_MAX], line[LINE_CAP];
	*setup = (struct tdm_setup){ .machine_state = tdm_state_new(&machine), .state = tdm_state_new(&tracked) };
	setup->machine = tdm_state_look(setup->machine_state, &wish);
	setup->picture = tdm_state_look(setup->state, &wish);
	setup->host = tdm_state_host(setup->machine_state);
	setup->metal = tdm_state_metal(setup->machine_state);
	setup->places = *places;
	struct tdm_setup_places *at = &setup->places;
	at->sysfs = tdm_host_sysfs_path(at->sysfs);
	at->proc = tdm_proc_path(at->proc);
	at->dev = tdm_sys_place(at->dev, "TIDEMARK_DEV_ROOT", "/dev");
	at->shm = tdm_metal_path(at->shm);
	at->ledgers = tdm_ledger_dir(at->ledgers);
	at->server_socket = at->server_socket != NULL ? at->server_socket : TDM_WIRE_SOCKET;
	at->python = at->python != NULL ? at->python : "python3";
	read_files(setup);
	read_user(setup);
	setup->module_loaded = find_line(at->proc, "modules", TDM_SETUP_MODULE " ", line);
	setup->has_module_dir = access(join(path, at->sysfs, "module/" TDM_SETUP_MODULE), F_OK) == 0;
	tdm_sys_file_text(AT_FDCWD, join(path, at->sysfs, "module/" TDM_SETUP_MODULE "/version"), setup->module_version,
		sizeof setup->module_version);
	setup->has_node_dir = access(join(path, at->dev, TDM_SETUP_MODULE), F_OK) == 0;
	int fd = tdm_server_connect(at->server_socket);
	if (fd >= 0)
		close(fd);
	setup->socket_err = fd >= 0 || fd == -EAGAIN ? 0 : fd; /* a full queue means that somebody listens */
	read_ledger_dir(setup);
	read_processor(setup);
	setup->python = try_python(setup->places.python);
	/* Last, because the library may begin its own ledger. */
	void *library = dlopen(TDM_SETUP_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	setup->has_library = library != NULL;
	if (library == NULL)
		return;
	*(void **)&version = dlsym(library, "tidemark_version");
	if (version != NULL)
		snprintf(setup->library_version, sizeof setup->library_version, "%s", version());
	dlclose(library);
}

void tdm_setup_done(struct tdm_setup *setup)
{
	free(setup->nodes);
	free(setup->disabled);
	tdm_state_free(setup->machine_state);
	tdm_state_free(setup->state);
	*setup = (struct tdm_setup){ 0 };
}

bool tdm_setup_mode_is_valid(const char *value)
{
	uint32_t mode;
	return tdm_ledger_parse_mode(value, &mode) == 0;
}

bool tdm_setup_ring_is_valid(const char *value)
{
	uint32_t records;
	return tdm_ledger_parse_ring(value, &records) == 0;
}

/* ---- tt-metal in a library, a program or a process ---- */

/* Where Python packages contain the runtime, relative to an interpreter's prefix: ttnn's wheels, tt-xla's plugin. */
static const char *const package_places[] = {
	"lib*/python3*/*-packages/*/libtt_metal*.so*",
	"lib*/python3*/*-packages/*/lib*/libtt_metal*.so*",
	"lib*/python3*/*-packages/*/*/lib*/libtt_metal*.so*",
	"lib*/python3*/*-packages/ttnn/_ttnn*.so*",
};

/* The kernel passes about twenty entries to a process. */
enum { AUXV_CAP = 4096 };

static bool is_first_of_name(const struct tdm_metal_setup *setup, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(setup->functions[k].name, setup->functions[i].name) == 0)
			return false;
	return true;
}

/* The best form in which a file contains a function, under any of the function's symbols. */
static uint8_t best_of(const struct tdm_metal_setup *setup, const uint8_t *has, const char *name)
{
	uint8_t best = TDM_ELF_ABSENT;
	for (size_t i = 0; i < setup->function_count; i++)
		if (has[i] > best && strcmp(setup->functions[i].name, name) == 0)
			best = has[i];
	return best;
}

/* Keeps a file that contains hooked functions. Functions that are only called may be in other libraries. */
static void add_file(struct tdm_metal_setup *setup, const struct tdm_object *object, const uint8_t *has,
	bool is_symbolic, bool is_bound)
{
	size_t counts[TDM_ELF_DEFINED + 1] = { 0 };
	for (size_t i = 0; i < setup->function_count; i++)
		if (setup->functions[i].is_hook && is_first_of_name(setup, i))
			counts[best_of(setup, has, setup->functions[i].name)]++;
	if (counts[TDM_ELF_DEFINED] + counts[TDM_ELF_HIDDEN] + counts[TDM_ELF_IMPORTED] == 0)
		return;
	tdm_grow(&setup->files, &setup->file_cap, setup->file_count + 1, sizeof *setup->files);
	uint8_t *copy = tdm_copy_of(has, setup->function_count);
	/* Files that define functions come first. */
	bool defines = counts[TDM_ELF_DEFINED] != 0;
	size_t at = defines ? setup->definer_count++ : setup->file_count;
	memmove(&setup->files[at + 1], &setup->files[at], (setup->file_count - at) * sizeof *setup->files);
	setup->file_count++;
	setup->files[at] = (struct tdm_metal_file){ object->path, copy, counts[TDM_ELF_DEFINED], counts[TDM_ELF_HIDDEN],
		counts[TDM_ELF_IMPORTED], is_symbolic, is_bound, object->is_deleted };
}

/* Searches one file for the functions. An unreadable file is counted. */
static void look_into(
	struct tdm_metal_setup *setup, struct tdm_object *object, const char *const *symbols, uint8_t *has)
{
	struct tdm_elf_object elf;
	struct tdm_diag ignored;
	uint64_t size;
	int fd = object->open_path != NULL ? tdm_object_open(object->open_path, &size) : object->err;
	if (fd < 0) {
		object->err = fd;
		setup->unread++;
		return;
	}
	bool is_bound = false;
	size_t hooks = 0; /* hooks come first in the table */
	while (hooks < setup->function_count && setup->functions[hooks].is_hook)
		hooks++;
	int err = tdm_elf_object_read(&elf, fd, size, &ignored);
	if (err == 0)
		err = tdm_elf_object_find(&elf, symbols, setup->function_count, has, &ignored);
	if (err == 0)
		err = tdm_elf_object_is_bound(&elf, symbols, hooks, &is_bound, &ignored);
	if (err == 0)
		add_file(setup, object, has, elf.is_symbolic, is_bound);
	else if (object->err == 0)
		object->err = err;
	setup->unread += err != 0;
	tdm_elf_object_done(&elf);
	close(fd);
}

/* Searches all objects except the preload, which defines the functions but is not a runtime. */
static void look_into_all(struct tdm_metal_setup *setup, const struct tdm_setup_places *places)
{
	const char **symbols = tdm_zalloc(setup->function_count, sizeof *symbols);
	uint8_t *has = tdm_zalloc(setup->function_count, 1);
	for (size_t i = 0; i < setup->function_count; i++)
		symbols[i] = setup->functions[i].symbol;
	for (size_t i = 0; i < setup->objects.count; i++) {
		struct tdm_str name = tdm_last_part(tdm_str_of(setup->objects.list[i].path), '/');
		bool is_preload = tdm_str_begins(name, places->preload);
		setup->has_preload |= is_preload;
		if (!is_preload || setup->type == TDM_METAL_TARGET_LIBRARY)
			look_into(setup, &setup->objects.list[i], symbols, has);
	}
	free(symbols);
	free(has);
}

/* Searches a Python installation's packages, which the program may load while it is running. */
static void read_packages(struct tdm_metal_setup *setup)
{
	const char *path = setup->program.path, *slash = strrchr(path, '/');
	for (size_t i = 0; slash != NULL && i < sizeof package_places / sizeof package_places[0]; i++) {
		char pattern[PATH_MAX + 128];
		glob_t found = { 0 };
		snprintf(pattern, sizeof pattern, "%.*s/../%s", (int)(slash - path), path, package_places[i]);
		if (glob(pattern, 0, NULL, &found) == 0)
			for (size_t k = 0; k < found.gl_pathc; k++) {
				size_t first = setup->objects.count;
				tdm_objects_add(&setup->objects, found.gl_pathv[k], NULL, found.gl_pathv[k]);
				tdm_objects_follow(&setup->objects, first, getenv("LD_LIBRARY_PATH"), TDM_LOADER_CACHE);
			}
		globfree(&found);
	}
}

static void read_file_or_program(struct tdm_metal_setup *setup)
{
	struct tdm_diag diag = { 0 };
	const char *target = setup->target;
	int found = tdm_program_find(&setup->program, target, &diag);
	if (found != 0 && strchr(target, '/') == NULL && access(target, F_OK) == 0) {
		char here[PATH_MAX];
		snprintf(here, sizeof here, "./%s", target); /* a library in this directory */
		found = tdm_program_find(&setup->program, here, &diag);
	}
	setup->type = setup->program.is_library ? TDM_METAL_TARGET_LIBRARY : TDM_METAL_TARGET_PROGRAM;
	if (found != 0) {
		setup->err = found;
		setup->diag = diag;
		return;
	}
	struct tdm_elf_object elf = { 0 };
	const char *path = setup->program.path;
	uint64_t size;
	int fd = tdm_object_open(path, &size);
	setup->err =
		fd < 0 ? tdm_diag_set(&setup->diag, fd, 0, 0, "%s", fd == -EINVAL ? "not a file" : tdm_err_text(fd))
		       : tdm_elf_object_read(&elf, fd, size, &setup->diag);
	if (fd >= 0)
		close(fd);
	tdm_elf_object_done(&elf);
	if (setup->err == 0) { /* also searches the libraries that the target needs */
		tdm_objects_add(&setup->objects, path, NULL, path);
		tdm_objects_follow(&setup->objects, 0, getenv("LD_LIBRARY_PATH"), TDM_LOADER_CACHE);
	}
	if (setup->err == 0 && setup->program.is_python)
		read_packages(setup);
}

/* Reads the process's counters: how often each function was called. */
static void read_calls(struct tdm_metal_setup *setup, const struct tdm_setup_places *places)
{
	const struct tdm_state_options options = {
		.ledger_dir = places->ledgers, .pids = &setup->pid, .pid_count = 1, .only_ledgers = true, .once = true
	};
	const struct tdm_wish wish = { .no_largest = true };
	struct tdm_state *state = tdm_state_new(&options);
	const struct tdm_picture *picture = tdm_state_look(state, &wish);
	for (size_t p = 0; p < picture->process_count; p++) {
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
}

/* Finds out why nothing was preloaded into a process: the type of its program, and whether the loader saw the program
 * run with more rights than its user. Reads the loader's own flag, because a file's rights may have changed since, or
 * may have had no effect there. */
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

static void read_process(struct tdm_metal_setup *setup, const struct tdm_setup_places *places)
{
	const char *proc = tdm_proc_path(places->proc);
	setup->type = TDM_METAL_TARGET_PROCESS;
	if (setup->err == 0)
		setup->err = tdm_objects_mapped(&setup->objects, proc, setup->pid);
	if (setup->err == 0 && setup->objects.count == 0)
		setup->err = -ESRCH;
	if (setup->err != 0) {
		refuse_process(setup, setup->err);
		return;
	}
	find_bar(setup, proc);
	setup->tracking = read_environ(proc, setup->pid, "TIDEMARK=1");
	read_calls(setup, places);
}

void tdm_metal_setup_read(struct tdm_metal_setup *setup, const char *target, const struct tdm_metal_function *functions,
	size_t count, const struct tdm_setup_places *places)
{
	*setup = (struct tdm_metal_setup){ .functions = functions, .function_count = count, .target = target };
	setup->calls = tdm_zalloc(count, sizeof *setup->calls);
	for (size_t i = 0; i < count; i++)
		setup->calls[i] = TDM_BYTES_UNKNOWN;
	uint64_t pid = 0;
	setup->err = tdm_sys_number(target, INT32_MAX, &pid);
	setup->pid = (int32_t)pid;
	bool is_number = setup->err != TDM_ESYNTAX;
	if (is_number && access(target, F_OK) != 0)
		read_process(setup, places);
	else
		read_file_or_program(setup);
	if (setup->err == 0)
		look_into_all(setup, places);
	/* Read errors do not matter if the process has ended. */
	if (setup->type == TDM_METAL_TARGET_PROCESS && setup->unread != 0) {
		char path[PATH_MAX];
		snprintf(path, sizeof path, "%s/%" PRId32, tdm_proc_path(places->proc), setup->pid);
		if (access(path, F_OK) != 0)
			refuse_process(setup, -ESRCH);
	}
	/* A counter exists only from its first call, so a missing one is 0. */
	for (size_t i = 0; setup->has_ledger && setup->has_preload && i < count; i++)
		if (functions[i].is_hook && setup->calls[i] == TDM_BYTES_UNKNOWN)
			setup->calls[i] = 0;
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
