#include "sources/program_file.h"
#include "base/err.h"
#include "base/str.h"
#include "sources/elf_objects.h"
#include "sources/elf_symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Linux follows a few interpreters that are scripts themselves; a first line is no longer than this for it. */
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

/* In PATH, as execvp does. */
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

/* The next word of a line; NULL: there is none. */
static char *next_word(char **line)
{
	char *word;
	do
		word = strsep(line, " \t");
	while (word != NULL && *word == '\0');
	return word;
}

/* Takes the interpreter out of "#!/usr/bin/env -S VAR=x python3 -u", or "#!/bin/sh". */
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

/* Whether a program gets rights that its user has not, as the kernel tells the loader. */
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

static bool is_python(const char *path)
{
	const char *slash = strrchr(path, '/');
	return tdm_has_prefix(slash != NULL ? slash + 1 : path, "python");
}

/* One file: 1 if it is a script, whose interpreter `program->path` then names. */
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
	program->is_python = is_python(program->path);
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
	if (err == 0 &&
		((err = tdm_objects_add(&objects, library, NULL, library)) != 0 ||
			(err = tdm_objects_follow(&objects, 0, getenv("LD_LIBRARY_PATH"), TDM_LOADER_CACHE)) != 0))
		tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err));
	else if (err == 0 && objects.missing_count != 0)
		err = tdm_diag_set(diag, -ENOENT, 0, 0, "it needs %s, which was not found", objects.missing[0]);
	tdm_objects_done(&objects);
	return err;
}
