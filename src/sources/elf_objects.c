#include "sources/elf_objects.h"
#include "base/file.h"
#include "base/reserve.h"
#include "sources/elf_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CACHE_MAX = 64 << 20, MAPS_MAX = 64 << 20 };

#if defined(__x86_64__)
#define PLATFORM "x86_64"
#elif defined(__aarch64__)
#define PLATFORM "aarch64"
#else
#define PLATFORM "."
#endif
/* Where the libraries of this processor are: on Debian, on others. A loader knows one of them, as $LIB. */
static const char *const lib_folders[] = { "lib/" PLATFORM "-linux-gnu", "lib64", "lib" };
static const char default_path[] = "/$LIB:/usr/$LIB";

/* What the search for the libraries of one object needs. */
struct search {
	struct tdm_objects *objects;
	const struct tdm_elf_object *of;
	size_t index; /* of it */
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

int tdm_objects_add(struct tdm_objects *objects, const char *path, const char *name, const char *open_path)
{
	struct stat st = { 0 };
	if (open_path != NULL && stat(open_path, &st) == 0)
		for (size_t i = 0; i < objects->count; i++)
			if (objects->list[i].inode == st.st_ino && objects->list[i].device == st.st_dev)
				return 0;
	if (objects->count == TDM_OBJECTS_MAX) {
		objects->is_cut = true;
		return 0;
	}
	if (tdm_reserve(&objects->list, &objects->cap, objects->count + 1, sizeof *objects->list) != 0)
		return -ENOMEM;
	struct tdm_object *object = &objects->list[objects->count++];
	*object = (struct tdm_object){ .path = strdup(path),
		.name = name != NULL ? strdup(name) : NULL,
		.open_path = open_path != NULL ? strdup(open_path) : NULL,
		.device = st.st_dev,
		.inode = st.st_ino };
	return object->path == NULL || (name != NULL && object->name == NULL) ||
			       (open_path != NULL && object->open_path == NULL)
		       ? -ENOMEM
		       : 0;
}

static int add_missing(struct tdm_objects *objects, const char *name)
{
	for (size_t i = 0; i < objects->missing_count; i++)
		if (strcmp(objects->missing[i], name) == 0)
			return 0;
	if (objects->missing_count == TDM_OBJECTS_MAX) {
		objects->is_cut = true;
		return 0;
	}
	if (tdm_reserve(&objects->missing, &objects->missing_cap, objects->missing_count + 1,
		    sizeof *objects->missing) != 0)
		return -ENOMEM;
	char *copy = strdup(name);
	if (copy == NULL)
		return -ENOMEM;
	objects->missing[objects->missing_count++] = copy;
	return 0;
}

int tdm_object_open(const char *path, uint64_t *size)
{
	struct stat st;
	/* Not blocking: the file may be a FIFO. */
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

/* The loader skips files for other processors and goes on searching. */
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

/* Expands the loader's words in a folder of a search path, or in a name. False: it is too long, or has another word. */
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
		struct tdm_str rest = { folder.ptr + i, folder.len - i }, piece = { folder.ptr + i, 1 };
		step = 1;
		for (size_t w = 0; w < 2 * sizeof words / sizeof words[0]; w++) {
			const char *name = words[w / 2].names[w % 2];
			if (rest.len >= strlen(name) && memcmp(rest.ptr, name, strlen(name)) == 0)
				piece = words[w / 2].text, step = strlen(name);
		}
		if ((rest.ptr[0] == '$' && step == 1) || len + piece.len >= PATH_MAX)
			return false;
		memcpy(dst + len, piece.ptr, piece.len);
		len += piece.len;
	}
	dst[len] = '\0';
	return true;
}

/* Looks for a name in a folder that the object of this index knows; an empty name: for the path that `folder` is. */
static bool find_in_folder(
	const struct search *search, size_t index, struct tdm_str folder, const char *name, char found[PATH_MAX])
{
	const char *path = search->objects->list[index].open_path, *slash = strrchr(path, '/');
	struct tdm_str origin = slash != NULL ? (struct tdm_str){ path, (size_t)(slash - path) } : tdm_str_of(".");
	char expanded[PATH_MAX];
	size_t ways = memmem(folder.ptr, folder.len, "LIB", 3) != NULL ? sizeof lib_folders / sizeof lib_folders[0] : 1;
	for (size_t i = 0; i < ways; i++)
		if (expand(origin, lib_folders[i], folder, expanded) &&
			snprintf(found, PATH_MAX, "%s%s%s", expanded, name[0] != '\0' ? "/" : "", name) < PATH_MAX &&
			fits(search, found))
			return true;
	return false;
}

/* Looks in each folder of a path of this object. Colons separate them, in $LD_LIBRARY_PATH semicolons, too; an empty
 * one is the working directory. */
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

/* In the DT_RPATH of the object, of the one that loaded it, and so on to the program. An object with a DT_RUNPATH looks
 * in none of them, and has none for others. */
static bool find_in_rpaths(const struct search *search, const char *name, char found[PATH_MAX])
{
	if (search->of->runpath != NULL)
		return false;
	for (size_t i = search->index;; i = search->objects->list[i].loader) {
		if (find_in_path(search, i, search->objects->list[i].rpath, name, found))
			return true;
		if (i == 0)
			return false;
	}
}

/*
 * The cache of ldconfig: a head, rows with the offsets of a name and a path, texts. Offsets count from the head, which
 * may follow an older table.
 */
static bool find_in_cache(const struct search *search, const char *name, char found[PATH_MAX])
{
	static const char magic[] = "glibc-ld.so.cache1.1";
	enum { HEAD = 48, ROW = 24, COUNT_AT = 20, NAME_AT = 4, PATH_AT = 8 };
	const char *head =
		search->cache.len != 0 ? memmem(search->cache.ptr, search->cache.len, magic, strlen(magic)) : NULL;
	size_t len = head != NULL ? search->cache.len - (size_t)(head - search->cache.ptr) : 0;
	uint32_t count;
	if (len < HEAD)
		return false;
	memcpy(&count, head + COUNT_AT, sizeof count);
	for (uint32_t i = 0; i < count && i < (len - HEAD) / ROW; i++) {
		uint32_t key, value;
		memcpy(&key, head + HEAD + (size_t)i * ROW + NAME_AT, sizeof key);
		memcpy(&value, head + HEAD + (size_t)i * ROW + PATH_AT, sizeof value);
		/* The text ends within the file: a buffer ends in NUL. */
		if (key >= len || value >= len || strcmp(head + key, name) != 0 || strlen(head + value) >= PATH_MAX)
			continue;
		strcpy(found, head + value);
		if (fits(search, found))
			return true;
	}
	return false;
}

/* Where the loader looks, in its order. */
static bool find_library(const struct search *search, const char *name, char found[PATH_MAX])
{
	if (strchr(name, '/') != NULL)
		return find_in_folder(search, search->index, tdm_str_of(name), "", found);
	return find_in_rpaths(search, name, found) || find_in_path(search, 0, search->library_path, name, found) ||
	       find_in_path(search, search->index, search->of->runpath, name, found) ||
	       find_in_cache(search, name, found) || find_in_path(search, 0, default_path, name, found);
}

static int find_needed(const struct search *search, const char *name)
{
	struct tdm_objects *objects = search->objects;
	char found[PATH_MAX];
	size_t count = objects->count;
	for (size_t i = 0; i < count; i++)
		if (objects->list[i].name != NULL && strcmp(objects->list[i].name, name) == 0)
			return 0;
	if (!find_library(search, name, found))
		return add_missing(objects, name);
	int err = tdm_objects_add(objects, found, name, found);
	if (objects->count != count)
		objects->list[count].loader = search->index;
	return err;
}

/* Keeps what the search for the libraries of others needs. The origin of a program is where its file really is. */
static int keep_paths(struct tdm_object *object, const struct tdm_elf_object *of)
{
	char *real = of->has_interpreter ? realpath(object->open_path, NULL) : NULL;
	if (real != NULL) {
		free(object->open_path);
		object->open_path = real;
	}
	if (of->rpath == NULL || of->runpath != NULL)
		return 0;
	object->rpath = strdup(of->rpath);
	return object->rpath != NULL ? 0 : -ENOMEM;
}

static int follow_one(struct search *search, size_t index)
{
	struct tdm_elf_object of;
	struct tdm_diag ignored;
	struct tdm_object *object = &search->objects->list[index];
	uint64_t size = 0;
	int fd = tdm_object_open(object->open_path, &size);
	object->err = fd < 0 ? fd : tdm_elf_object_read(&of, fd, size, &ignored);
	if (fd < 0)
		return 0;
	close(fd);
	int err = object->err == 0 ? keep_paths(object, &of) : object->err == -ENOMEM ? -ENOMEM : 0;
	search->of = &of;
	search->index = index;
	for (size_t i = 0; err == 0 && i < of.needed_count; i++)
		err = find_needed(search, of.needed[i]);
	tdm_elf_object_done(&of);
	return err;
}

int tdm_objects_follow(struct tdm_objects *objects, size_t first, const char *library_path, const char *cache)
{
	struct search search = { .objects = objects, .library_path = library_path };
	struct tdm_buf text;
	int err = 0;
	tdm_buf_init(&text);
	if (tdm_file_read(cache, CACHE_MAX, &text) == 0)
		search.cache = tdm_buf_str(&text);
	for (size_t i = first; err == 0 && i < objects->count; i++)
		if (objects->list[i].open_path != NULL)
			err = follow_one(&search, i);
	tdm_buf_done(&text);
	return err;
}

/* A mapped file: the path in the process's own root, if the file there is still the same, or the mapping itself. */
static int add_mapped(struct tdm_objects *objects, const char *own, struct tdm_str range, uint64_t inode, char *path)
{
	static const char gone[] = " (deleted)";
	char reached[PATH_MAX];
	struct stat st;
	size_t len = strlen(path);
	bool is_deleted = len >= sizeof gone && strcmp(path + len - (sizeof gone - 1), gone) == 0;
	for (size_t i = 0; i < objects->count; i++)
		if (strcmp(objects->list[i].path, path) == 0)
			return 0;
	bool is_there = !is_deleted && snprintf(reached, sizeof reached, "%s/root%s", own, path) < PATH_MAX &&
			stat(reached, &st) == 0 && st.st_ino == inode;
	if (!is_there) {
		is_there = snprintf(reached, sizeof reached, "%s/map_files/%.*s", own, TDM_STR_ARG(range)) < PATH_MAX &&
			   stat(reached, &st) == 0;
		is_deleted = true;
	}
	size_t count = objects->count;
	int reason = is_there ? 0 : -errno, err = tdm_objects_add(objects, path, NULL, is_there ? reached : NULL);
	if (objects->count != count) {
		objects->list[count].is_deleted = is_deleted;
		objects->list[count].err = reason;
	}
	return err;
}

/* "7f1200000000-7f1200010000 r-xp 00001000 08:01 1234   /usr/lib/libc.so.6" */
static int add_line(struct tdm_objects *objects, const char *own, char *line)
{
	char permissions[5];
	uint64_t inode;
	int range = 0, rest = 0;
	if (sscanf(line, "%*[0-9a-f-]%n %4s %*x %*x:%*x %" SCNu64 " %n", &range, permissions, &inode, &rest) != 2 ||
		rest == 0 || inode == 0 || line[rest] != '/' || strchr(permissions, 'x') == NULL)
		return 0;
	return add_mapped(objects, own, (struct tdm_str){ line, (size_t)range }, inode, line + rest);
}

int tdm_objects_mapped(struct tdm_objects *objects, const char *proc, int32_t pid)
{
	char own[PATH_MAX], path[PATH_MAX + 8];
	struct tdm_buf text;
	snprintf(own, sizeof own, "%s/%" PRId32, proc, pid);
	snprintf(path, sizeof path, "%s/maps", own);
	tdm_buf_init(&text);
	int err = tdm_file_read(path, MAPS_MAX, &text);
	char *at = err == 0 ? text.data : NULL;
	for (char *line; err == 0 && at != NULL && (line = strsep(&at, "\n")) != NULL;)
		err = add_line(objects, own, line);
	tdm_buf_done(&text);
	return err;
}
