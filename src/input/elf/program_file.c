/*
 * Finds the file that runs when a command is typed (in PATH, following the first lines of scripts), and checks whether
 * a library can be preloaded into it. Also lists a program and its libraries: either those that the loader will load
 * for a file, found the way the loader finds them, or those that a running process has mapped. Nothing is loaded. Only
 * the second list includes libraries opened at run time (with dlopen, as Python packages do).
 */
#include "input/elf/elf_file.h"
#include "base/err.h"
#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { CACHE_MAX = 64 << 20, MAPS_MAX = 64 << 20 };

#if defined(__x86_64__)
#define PLATFORM "x86_64"
#elif defined(__aarch64__)
#define PLATFORM "aarch64"
#else
#define PLATFORM "."
#endif
/* Library folders for this processor on Debian and on other systems. A loader expands $LIB to one of them. */
static const char *const lib_folders[] = { "lib/" PLATFORM "-linux-gnu", "lib64", "lib" };
static const char default_path[] = "/$LIB:/usr/$LIB";

/* The search for one object's libraries. */
struct search {
	struct tdm_objects *objects;
	const struct tdm_elf_object *of;
	size_t index; /* that object's index */
	const char *library_path;
	struct tdm_str cache;
};

void tdm_objects_done(struct tdm_objects *objects)
{
	for (size_t i = 0; i < objects->count; i++) {
		free(objects->list[i].path);
		free(objects->list[i].name);
		free(objects->list[i].open_path);
		free(objects->list[i].rpath);
	}
	for (size_t i = 0; i < objects->missing_count; i++)
		free(objects->missing[i]);
	free(objects->list);
	free(objects->missing);
	*objects = (struct tdm_objects){ 0 };
}

void tdm_objects_add(struct tdm_objects *objects, const char *path, const char *name, const char *open_path)
{
	struct stat st = { 0 };
	if (open_path != NULL && stat(open_path, &st) == 0)
		for (size_t i = 0; i < objects->count; i++)
			if (objects->list[i].inode == st.st_ino && objects->list[i].device == st.st_dev)
				return;
	if (objects->count == TDM_OBJECTS_MAX) {
		objects->is_cut = true;
		return;
	}
	tdm_grow(&objects->list, &objects->cap, objects->count + 1, sizeof *objects->list);
	objects->list[objects->count++] = (struct tdm_object){ .path = tdm_strdup(path),
		.name = tdm_strdup(name),
		.open_path = tdm_strdup(open_path),
		.device = st.st_dev,
		.inode = st.st_ino };
}

int tdm_object_open(const char *path, uint64_t *size)
{
	struct stat st;
	/* Non-blocking, because the file may be a FIFO. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	*size = (uint64_t)st.st_size;
	return fd;
}

/* The loader skips files for other processors and continues the search. */
static bool fits(const struct search *search, const char *path)
{
	struct tdm_elf file;
	uint64_t size;
	int fd = tdm_object_open(path, &size);
	bool is_fit = fd >= 0 && tdm_elf_begin(&file, fd, size, NULL) == 0 && file.type == ET_DYN &&
		      file.is_64 == search->of->file.is_64 && file.machine == search->of->file.machine;
	if (fd >= 0)
		close(fd);
	return is_fit;
}

/* Expands the loader's variables in a search-path folder or in a name. False if the result is too long or a variable
 * is unknown. */
static bool expand(struct tdm_str origin, const char *lib, struct tdm_str folder, char dst[PATH_MAX])
{
	const struct {
		const char *names[2];
		struct tdm_str text;
	} words[] = {
		{ { "$ORIGIN", "${ORIGIN}" }, origin },
		{ { "$LIB", "${LIB}" }, tdm_str_of(lib) },
		{ { "$PLATFORM", "${PLATFORM}" }, tdm_str_of(PLATFORM) },
	};
	size_t len = 0, step;
	for (size_t i = 0; i < folder.len; i += step) {
		struct tdm_str rest = tdm_str_from(folder, i), piece = { rest.ptr, 1 };
		step = 1;
		for (size_t w = 0; w < 2 * sizeof words / sizeof words[0]; w++)
			if (tdm_str_begins(rest, words[w / 2].names[w % 2]))
				piece = words[w / 2].text, step = strlen(words[w / 2].names[w % 2]);
		if ((rest.ptr[0] == '$' && step == 1) || len + piece.len >= PATH_MAX)
			return false;
		memcpy(dst + len, piece.ptr, piece.len);
		len += piece.len;
	}
	dst[len] = '\0';
	return true;
}

/* Searches for a name in a folder; both are written as in the object with this index. If the name is empty, `folder` is
 * the whole path. */
static bool find_in_folder(
	const struct search *search, size_t index, struct tdm_str folder, const char *name, char found[PATH_MAX])
{
	const char *path = search->objects->list[index].open_path, *slash = strrchr(path, '/');
	struct tdm_str origin = slash != NULL ? (struct tdm_str){ path, (size_t)(slash - path) } : tdm_str_of(".");
	char expanded[PATH_MAX];
	size_t ways = tdm_str_find(folder, "LIB") != NULL ? sizeof lib_folders / sizeof lib_folders[0] : 1;
	for (size_t i = 0; i < ways; i++)
		if (expand(origin, lib_folders[i], folder, expanded) &&
			snprintf(found, PATH_MAX, "%s%s%s", expanded, name[0] != '\0' ? "/" : "", name) < PATH_MAX &&
			fits(search, found))
			return true;
	return false;
}

/* Searches each folder in this object's search path. Colons separate folders, as do semicolons in $LD_LIBRARY_PATH;
 * an empty folder means the working directory. */
static bool find_in_path(
	const struct search *search, size_t index, const char *path, const char *name, char found[PATH_MAX])
{
	for (const char *at = path; at != NULL && path[0] != '\0';) {
		size_t len = strcspn(at, path == search->library_path ? ":;" : ":");
		struct tdm_str folder = len != 0 ? (struct tdm_str){ at, len } : tdm_str_of(".");
		if (find_in_folder(search, index, folder, name, found))
			return true;
		at = at[len] != '\0' ? at + len + 1 : NULL;
	}
	return false;
}

/* ldconfig's cache: a header, rows with the offsets of a name and a path, then the strings. Offsets count from the
 * header, which may follow an older table. */
static bool find_in_cache(const struct search *search, const char *name, char found[PATH_MAX])
{
	enum { HEAD = 48, ROW = 24, COUNT_AT = 20, NAME_AT = 4, PATH_AT = 8 };
	const char *head = tdm_str_find(search->cache, "glibc-ld.so.cache1.1");
	size_t len = head != NULL ? search->cache.len - (size_t)(head - search->cache.ptr) : 0;
	uint32_t count;
	if (len < HEAD)
		return false;
	memcpy(&count, head + COUNT_AT, sizeof count);
	for (uint32_t i = 0; i < count && i < (len - HEAD) / ROW; i++) {
		uint32_t key, value;
		memcpy(&key, head + HEAD + (size_t)i * ROW + NAME_AT, sizeof key);
		memcpy(&value, head + HEAD + (size_t)i * ROW + PATH_AT, sizeof value);
		/* The string ends within the file, or at the NUL that ends the buffer. */
		if (key >= len || value >= len || strcmp(head + key, name) != 0 || strlen(head + value) >= PATH_MAX)
			continue;
		strcpy(found, head + value);
		if (fits(search, found))
			return true;
	}
	return false;
}

/* Searches in the loader's order. */
static void find_needed(const struct search *search, const char *name)
{
	struct tdm_objects *objects = search->objects;
	char found[PATH_MAX];
	size_t count = objects->count;
	for (size_t i = 0; i < count; i++)
		if (objects->list[i].name != NULL && strcmp(objects->list[i].name, name) == 0)
			return;
	bool is_found = false, is_path = strchr(name, '/') != NULL;
	if (is_path)
		is_found = find_in_folder(search, search->index, tdm_str_of(name), "", found);
	/* First the DT_RPATH of the object, of its loader, and so on up to the program. If an object has a
	 * DT_RUNPATH, none of these is searched for it, and its own DT_RPATH is not searched for others. */
	for (size_t i = search->index; !is_path && !is_found && search->of->runpath == NULL;
		i = objects->list[i].loader) {
		is_found = find_in_path(search, i, objects->list[i].rpath, name, found);
		if (i == 0)
			break;
	}
	if (is_found || (!is_path && (find_in_path(search, 0, search->library_path, name, found) ||
					     find_in_path(search, search->index, search->of->runpath, name, found) ||
					     find_in_cache(search, name, found) ||
					     find_in_path(search, 0, default_path, name, found)))) {
		tdm_objects_add(objects, found, name, found);
		if (objects->count != count)
			objects->list[count].loader = search->index;
		return;
	}
	for (size_t i = 0; i < objects->missing_count; i++)
		if (strcmp(objects->missing[i], name) == 0)
			return;
	objects->is_cut |= objects->missing_count == TDM_OBJECTS_MAX;
	if (objects->missing_count == TDM_OBJECTS_MAX)
		return;
	tdm_grow(&objects->missing, &objects->missing_cap, objects->missing_count + 1, sizeof *objects->missing);
	objects->missing[objects->missing_count++] = tdm_strdup(name);
}

static void follow_one(struct search *search, size_t index)
{
	struct tdm_elf_object of;
	struct tdm_diag ignored;
	struct tdm_object *object = &search->objects->list[index];
	uint64_t size = 0;
	int fd = tdm_object_open(object->open_path, &size);
	object->err = fd < 0 ? fd : tdm_elf_object_read(&of, fd, size, &ignored);
	if (fd < 0)
		return;
	close(fd);
	/* A program's $ORIGIN is the folder of its real path. */
	char *real = object->err == 0 && of.has_interpreter ? realpath(object->open_path, NULL) : NULL;
	if (real != NULL) {
		free(object->open_path);
		object->open_path = real;
	}
	if (object->err == 0 && of.runpath == NULL)
		object->rpath = tdm_strdup(of.rpath);
	search->of = &of;
	search->index = index;
	for (size_t i = 0; i < of.needed_count; i++)
		find_needed(search, of.needed[i]);
	tdm_elf_object_done(&of);
}

void tdm_objects_follow(struct tdm_objects *objects, size_t first, const char *library_path, const char *cache)
{
	struct search search = { .objects = objects, .library_path = library_path };
	struct tdm_buf text = { 0 };
	if (tdm_file_read(cache, CACHE_MAX, &text) == 0)
		search.cache = tdm_buf_str(&text);
	for (size_t i = first; i < objects->count; i++)
		if (objects->list[i].open_path != NULL)
			follow_one(&search, i);
	tdm_buf_done(&text);
}

/* Adds a mapped file: by its path in the process's own root if that is still the same file, else by the mapping
 * itself. */
static void add_mapped(struct tdm_objects *objects, const char *own, struct tdm_str range, uint64_t inode, char *path)
{
	static const char gone[] = " (deleted)";
	char reached[PATH_MAX];
	struct stat st;
	size_t len = strlen(path);
	bool is_deleted = len >= sizeof gone && strcmp(path + len - (sizeof gone - 1), gone) == 0;
	for (size_t i = 0; i < objects->count; i++)
		if (strcmp(objects->list[i].path, path) == 0)
			return;
	bool is_there = !is_deleted && snprintf(reached, sizeof reached, "%s/root%s", own, path) < PATH_MAX &&
			stat(reached, &st) == 0 && st.st_ino == inode;
	if (!is_there) {
		is_there = snprintf(reached, sizeof reached, "%s/map_files/%.*s", own, TDM_STR_ARG(range)) < PATH_MAX &&
			   stat(reached, &st) == 0;
		is_deleted = true;
	}
	size_t count = objects->count;
	int reason = is_there ? 0 : -errno;
	tdm_objects_add(objects, path, NULL, is_there ? reached : NULL);
	if (objects->count != count) {
		objects->list[count].is_deleted = is_deleted;
		objects->list[count].err = reason;
	}
}

int tdm_objects_mapped(struct tdm_objects *objects, const char *proc, int32_t pid)
{
	char own[PATH_MAX], path[PATH_MAX + 8], permissions[5];
	struct tdm_buf text = { 0 };
	snprintf(own, sizeof own, "%s/%" PRId32, proc, pid);
	snprintf(path, sizeof path, "%s/maps", own);
	int err = tdm_file_read(path, MAPS_MAX, &text);
	char *at = err == 0 ? text.data : NULL;
	for (char *line; at != NULL && (line = strsep(&at, "\n")) != NULL;) {
		/* Parses "7f1200000000-7f1200010000 r-xp 00001000 08:01 1234 /usr/lib/libc.so.6". */
		uint64_t inode;
		int range = 0, rest = 0;
		if (sscanf(line, "%*[0-9a-f-]%n %4s %*x %*x:%*x %" SCNu64 " %n", &range, permissions, &inode, &rest) ==
				2 &&
			rest != 0 && inode != 0 && line[rest] == '/' && strchr(permissions, 'x') != NULL)
			add_mapped(objects, own, (struct tdm_str){ line, (size_t)range }, inode, line + rest);
	}
	tdm_buf_done(&text);
	return err;
}

/* ---- programs ---- */

/* The same limits as in Linux: the number of interpreters in a row that may themselves be scripts, and the number of
 * bytes read from a script's first line. */
enum { SCRIPTS_MAX = 4, LINE_CAP = 256 };

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#else
enum { OWN_MACHINE = EM_NONE };
#endif

static bool is_own(const struct tdm_elf *file)
{
	return file->is_64 == (sizeof(void *) == sizeof(uint64_t)) && file->machine == OWN_MACHINE;
}

/* Searches PATH, as execvp does. */
static int find_command(const char *command, char path[PATH_MAX])
{
	const char *at = getenv("PATH");
	int err = -ENOENT;
	if (strchr(command, '/') != NULL)
		return snprintf(path, PATH_MAX, "%s", command) < PATH_MAX ? 0 : -ENAMETOOLONG;
	for (at = at != NULL ? at : "/bin:/usr/bin";; at++) {
		size_t len = strcspn(at, ":");
		struct stat st;
		if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)len, at, len != 0 ? "/" : "", command) < PATH_MAX &&
			stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
			if (access(path, X_OK) == 0)
				return 0;
			err = -EACCES;
		}
		at += len;
		if (*at == '\0')
			return err;
	}
}

/* Cuts the next word off a line; NULL if there is none. */
static char *next_word(char **line)
{
	char *word;
	do
		word = strsep(line, " \t");
	while (word != NULL && *word == '\0');
	return word;
}

/* Finds the interpreter of "#!/usr/bin/env -S VAR=x python3 -u" or "#!/bin/sh". */
static int find_interpreter(char *line, char path[PATH_MAX])
{
	line[strcspn(line, "\r\n")] = '\0';
	char *word = next_word(&line);
	if (word == NULL)
		return -ENOEXEC;
	const char *slash = strrchr(word, '/');
	if (slash != NULL && strcmp(slash, "/env") == 0) {
		do
			word = next_word(&line);
		while (word != NULL && (word[0] == '-' || strchr(word, '=') != NULL));
		if (word == NULL)
			return -ENOEXEC;
	}
	return find_command(word, path);
}

/* Whether the kernel grants a program rights that its user lacks. */
static bool is_privileged(const char *path)
{
	struct stat st;
	struct statvfs system;
	char capability[64];
	if (stat(path, &st) != 0 || (statvfs(path, &system) == 0 && (system.f_flag & ST_NOSUID) != 0))
		return false;
	return ((st.st_mode & S_ISUID) != 0 && st.st_uid != getuid()) ||
	       ((st.st_mode & S_ISGID) != 0 && (st.st_mode & S_IXGRP) != 0 && st.st_gid != getgid()) ||
	       (getuid() != 0 && getxattr(path, "security.capability", capability, sizeof capability) > 0);
}

static int judge(struct tdm_program_file *program, int fd, uint64_t size, struct tdm_diag *diag)
{
	struct tdm_elf_object object;
	int err = tdm_elf_object_read(&object, fd, size, diag);
	bool is_program = object.file.type == ET_EXEC || object.has_interpreter || object.is_pie;
	program->is_library = err == 0 && !is_program;
	if (err == 0 && !is_own(&object.file))
		program->bar = TDM_BAR_FOREIGN;
	else if (err == 0 && is_program && !object.has_interpreter)
		program->bar = TDM_BAR_STATIC;
	else if (err == 0 && is_program && is_privileged(program->path))
		program->bar = TDM_BAR_PRIVILEGED;
	tdm_elf_object_done(&object);
	return err;
}

/* Checks one file. Returns 1 if the file is a script; program->path then names its interpreter. */
static int look_at(struct tdm_program_file *program, struct tdm_diag *diag)
{
	char line[LINE_CAP + 1] = "";
	uint64_t size;
	int fd = tdm_object_open(program->path, &size);
	if (fd < 0) {
		program->bar = TDM_BAR_UNKNOWN;
		return tdm_diag_set(diag, fd, 0, 0, "%s", fd == -EINVAL ? "not a file" : tdm_err_text(fd));
	}
	int err = 0;
	if (pread(fd, line, LINE_CAP, 0) >= 2 && line[0] == '#' && line[1] == '!') {
		memcpy(program->script, program->path, sizeof program->script);
		err = find_interpreter(line + 2, program->path);
		if (err != 0)
			tdm_diag_set(diag, err, 0, 0, "its interpreter was not found");
		err = err != 0 ? err : 1;
	} else
		err = judge(program, fd, size, diag);
	close(fd);
	return err;
}

int tdm_program_find(struct tdm_program_file *program, const char *command, struct tdm_diag *diag)
{
	*program = (struct tdm_program_file){ 0 };
	int err = find_command(command, program->path), steps = 0;
	if (err != 0)
		return tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err));
	do
		err = look_at(program, diag);
	while (err == 1 && ++steps < SCRIPTS_MAX);
	if (err == 1)
		return tdm_diag_set(diag, -ELOOP, 0, 0, "too many scripts that interpret each other");
	const char *slash = strrchr(program->path, '/');
	program->is_python = tdm_has_prefix(slash != NULL ? slash + 1 : program->path, "python");
	return err;
}

const char *tdm_preload_bar_text(enum tdm_preload_bar bar)
{
	static const char *const texts[] = {
		[TDM_BAR_NONE] = NULL,
		[TDM_BAR_STATIC] = "is statically linked: the preload cannot work in it",
		[TDM_BAR_PRIVILEGED] = "runs with rights that its user has not (set-user-id, set-group-id or "
				       "capabilities): the loader ignores the preload",
		[TDM_BAR_FOREIGN] = "is for another processor, or of 32 bits: the preload cannot work there",
		[TDM_BAR_UNKNOWN] = NULL,
	};
	return texts[bar];
}

int tdm_program_takes(const char *library, struct tdm_diag *diag)
{
	struct tdm_objects objects = { 0 };
	struct tdm_elf file;
	uint64_t size;
	int fd = tdm_object_open(library, &size);
	if (fd < 0)
		return tdm_diag_set(diag, fd, 0, 0, "%s", fd == -EINVAL ? "not a file" : tdm_err_text(fd));
	int err = tdm_elf_begin(&file, fd, size, diag);
	if (err == 0 && (file.type != ET_DYN || !is_own(&file)))
		err = tdm_diag_set(diag, TDM_ECORRUPT, 0, 0, "%s",
			file.type != ET_DYN ? "not a shared library" : "for another processor, or of another width");
	close(fd);
	if (err == 0) {
		tdm_objects_add(&objects, library, NULL, library);
		tdm_objects_follow(&objects, 0, getenv("LD_LIBRARY_PATH"), TDM_LOADER_CACHE);
	}
	if (objects.missing_count != 0)
		err = tdm_diag_set(diag, -ENOENT, 0, 0, "it needs %s, which was not found", objects.missing[0]);
	tdm_objects_done(&objects);
	return err;
}
