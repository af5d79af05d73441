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

/* Debian's folders of this processor's libraries come before those of others. */
#if defined(__x86_64__)
#define TRIPLET "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define TRIPLET "aarch64-linux-gnu"
#else
#define TRIPLET "."
#endif
static const char default_path[] =
	"/lib/" TRIPLET ":/usr/lib/" TRIPLET ":/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib";

/* What the search for the libraries of one object needs. */
struct search {
	struct tdm_objects *objects;
	const struct tdm_elf_object *of;
	const char *origin; /* its path */
	const char *library_path;
	struct tdm_str cache;
};

void tdm_objects_done(struct tdm_objects *objects)
{
	for (size_t i = 0; i < objects->count; i++) {
		free(objects->list[i].path);
		free(objects->list[i].name);
		free(objects->list[i].open_path);
	}
	for (size_t i = 0; i < objects->missing_count; i++)
		free(objects->missing[i]);
	free(objects->list);
	free(objects->missing);
	*objects = (struct tdm_objects){ 0 };
}

int tdm_objects_add(struct tdm_objects *objects, const char *path, const char *name, const char *open_path)
{
	if (objects->count == TDM_OBJECTS_MAX) {
		objects->is_cut = true;
		return 0;
	}
	if (tdm_reserve(&objects->list, &objects->cap, objects->count + 1, sizeof *objects->list) != 0)
		return -ENOMEM;
	struct tdm_object *object = &objects->list[objects->count++];
	*object = (struct tdm_object){ .path = strdup(path),
		.name = name != NULL ? strdup(name) : NULL,
		.open_path = open_path != NULL ? strdup(open_path) : NULL };
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

/* Expands $ORIGIN in a folder of a search path. False: it has something that only the loader knows, or is too long. */
static bool expand(const struct search *search, struct tdm_str folder, char dst[PATH_MAX])
{
	static const char *const words[] = { "$ORIGIN", "${ORIGIN}" };
	const char *slash = strrchr(search->origin, '/');
	struct tdm_str own = { search->origin, slash != NULL ? (size_t)(slash - search->origin) : 0 };
	size_t len = 0;
	for (size_t i = 0; i < folder.len;) {
		struct tdm_str piece = { folder.ptr + i, 1 };
		size_t step = 1;
		for (size_t w = 0; w < 2; w++)
			if (folder.len - i >= strlen(words[w]) && strncmp(piece.ptr, words[w], strlen(words[w])) == 0)
				piece = own, step = strlen(words[w]);
		if ((folder.ptr[i] == '$' && step == 1) || len + piece.len >= PATH_MAX)
			return false;
		memcpy(dst + len, piece.ptr, piece.len);
		len += piece.len;
		i += step;
	}
	dst[len] = '\0';
	return true;
}

/* Looks in each folder of a path, separated by colons; in $LD_LIBRARY_PATH semicolons separate them, too. */
static bool find_in_path(const struct search *search, const char *path, const char *name, char found[PATH_MAX])
{
	for (const char *at = path; at != NULL && *at != '\0';) {
		size_t len = strcspn(at, ":;");
		char folder[PATH_MAX];
		if (len != 0 && expand(search, (struct tdm_str){ at, len }, folder) &&
			snprintf(found, PATH_MAX, "%s/%s", folder, name) < PATH_MAX && fits(search, found))
			return true;
		at += len + (at[len] != '\0');
	}
	return false;
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

static int find_needed(const struct search *search, const char *name)
{
	struct tdm_objects *objects = search->objects;
	char found[PATH_MAX];
	for (size_t i = 0; i < objects->count; i++)
		if (objects->list[i].name != NULL && strcmp(objects->list[i].name, name) == 0)
			return 0;
	if (strchr(name, '/') != NULL) {
		bool is_path = expand(search, tdm_str_of(name), found) && fits(search, found);
		return is_path ? tdm_objects_add(objects, found, name, found) : add_missing(objects, name);
	}
	if ((search->of->runpath == NULL && find_in_path(search, search->of->rpath, name, found)) ||
		find_in_path(search, search->library_path, name, found) ||
		find_in_path(search, search->of->runpath, name, found) || find_in_cache(search, name, found) ||
		find_in_path(search, default_path, name, found))
		return tdm_objects_add(objects, found, name, found);
	return add_missing(objects, name);
}

static int follow_one(struct search *search, size_t index)
{
	struct tdm_elf_object of;
	struct tdm_diag ignored;
	uint64_t size = 0;
	/* The list may move while names are added. */
	char *path = strdup(search->objects->list[index].open_path);
	if (path == NULL)
		return -ENOMEM;
	int fd = tdm_object_open(path, &size), err = fd < 0 ? fd : 0;
	search->of = &of;
	search->origin = path;
	if (fd >= 0) {
		err = tdm_elf_object_read(&of, fd, size, &ignored);
		close(fd);
	}
	search->objects->list[index].err = err;
	err = err == -ENOMEM ? err : 0;
	for (size_t i = 0; fd >= 0 && err == 0 && i < of.needed_count; i++)
		err = find_needed(search, of.needed[i]);
	if (fd >= 0)
		tdm_elf_object_done(&of);
	free(path);
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
	int reason = is_there ? 0 : -errno, err = tdm_objects_add(objects, path, NULL, is_there ? reached : NULL);
	if (err == 0 && !objects->is_cut) {
		objects->list[objects->count - 1].is_deleted = is_deleted;
		objects->list[objects->count - 1].err = reason;
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
