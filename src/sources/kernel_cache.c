#include "sources/kernel_cache.h"
#include "base/err.h"
#include "base/reserve.h"
#include "base/units.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARTS = 6, BINARIES_MAX = 1 << 22 };

/* Processors, in the order of tables. */
static const char *const targets[] = { "brisc", "ncrisc", "trisc0", "trisc1", "trisc2", "erisc", "active_erisc",
	"subordinate_active_erisc", "idle_erisc", "subordinate_idle_erisc", "drisc" };

struct walk {
	struct tdm_kernel_cache *cache;
	tdm_kernel_cache_warn warn;
	void *context;
	struct tdm_buf path;
	bool no_memory;
};

void tdm_kernel_cache_init(struct tdm_kernel_cache *cache)
{
	*cache = (struct tdm_kernel_cache){ 0 };
	tdm_buf_init(&cache->texts);
	tdm_buf_putc(&cache->texts, '\0');
}

void tdm_kernel_cache_done(struct tdm_kernel_cache *cache)
{
	free(cache->binaries);
	tdm_buf_done(&cache->texts);
	*cache = (struct tdm_kernel_cache){ 0 };
}

static bool is_number(struct tdm_str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] < '0' || text.ptr[i] > '9')
			return false;
	return text.len != 0;
}

/* The last parts of a path, the last one first; empty where there are no more. */
static void split(const char *path, struct tdm_str parts[PARTS])
{
	size_t end = strlen(path);
	for (int i = 0; i < PARTS; i++) {
		while (end > 0 && path[end - 1] == '/')
			end--;
		size_t from = end;
		while (from > 0 && path[from - 1] != '/')
			from--;
		parts[i] = (struct tdm_str){ path + from, end - from };
		end = from;
	}
}

static size_t keep(struct tdm_kernel_cache *cache, struct tdm_str text)
{
	size_t at = cache->texts.len;
	if (text.len == 0)
		return 0;
	tdm_buf_add(&cache->texts, text.ptr, text.len);
	tdm_buf_putc(&cache->texts, '\0');
	return at;
}

/* The number at the end of a folder's name: the cache's own name may stand in front of it without a slash. */
static struct tdm_str build_of(struct tdm_str folder)
{
	size_t from = folder.len;
	while (from > 0 && folder.ptr[from - 1] >= '0' && folder.ptr[from - 1] <= '9')
		from--;
	return (struct tdm_str){ folder.ptr + from, folder.len - from };
}

static uint8_t order_of(struct tdm_str target)
{
	uint8_t i = 0;
	while (i < sizeof targets / sizeof *targets && !tdm_str_is(target, targets[i]))
		i++;
	return i;
}

/* parts: TARGET.elf, TARGET, HASH, NAME, "kernels", BUILD; or TARGET.elf, TARGET, "firmware", BUILD. */
static void name_binary(struct tdm_kernel_cache *cache, struct tdm_kernel_binary *b, const char *path)
{
	struct tdm_str parts[PARTS];
	split(path, parts);
	struct tdm_str file = parts[0];
	if (file.len > 4 && memcmp(file.ptr + file.len - 4, ".elf", 4) == 0)
		file.len -= 4;
	bool is_in_place = tdm_str_eq(file, parts[1]);
	b->path = keep(cache, tdm_str_of(path));
	b->target = keep(cache, file);
	b->order = order_of(file);
	b->firmware = is_in_place && tdm_str_is(parts[2], "firmware");
	if (b->firmware) {
		b->build = keep(cache, build_of(parts[3]));
	} else if (is_in_place && is_number(parts[2])) {
		b->hash = keep(cache, parts[2]);
		b->name = keep(cache, parts[3]);
		if (tdm_str_is(parts[4], "kernels"))
			b->build = keep(cache, build_of(parts[5]));
	}
}

int tdm_kernel_cache_add(struct tdm_kernel_cache *cache, int fd, uint64_t size, const char *path, struct tdm_diag *diag)
{
	struct tdm_kernel_elf elf;
	int err = tdm_kernel_elf_read(&elf, fd, size, diag);
	if (err != 0)
		return err;
	if (cache->count == BINARIES_MAX ||
		tdm_reserve(&cache->binaries, &cache->cap, cache->count + 1, sizeof *cache->binaries) != 0)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	struct tdm_kernel_binary *b = &cache->binaries[cache->count];
	*b = (struct tdm_kernel_binary){
		.packed_bytes = elf.packed_bytes,
		.text_bytes = elf.text_bytes,
		.zeroed_bytes = elf.zeroed_bytes,
		.over_limit = elf.over_limit,
	};
	char *absolute = realpath(path, NULL);
	name_binary(cache, b, absolute != NULL ? absolute : path);
	free(absolute);
	if (tdm_buf_failed(&cache->texts))
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	cache->count++;
	return 0;
}

static void refuse(struct walk *w, struct tdm_diag *diag)
{
	w->cache->refused++;
	diag->file = w->path.data;
	if (w->warn != NULL)
		w->warn(w->context, diag);
}

static void refuse_errno(struct walk *w, int error)
{
	struct tdm_diag diag = { 0 };
	tdm_diag_set(&diag, -error, 0, 0, "cannot be read: %s", tdm_err_text(-error));
	refuse(w, &diag);
}

/* A file that is named like its folder: TARGET/TARGET.elf. Others (objects, dependencies, copies) are passed over. */
static bool is_binary(const struct walk *w, const char *name)
{
	struct tdm_str parts[PARTS], file = tdm_str_of(name);
	split(w->path.data, parts);
	return file.len == parts[0].len + 4 && memcmp(file.ptr, parts[0].ptr, parts[0].len) == 0 &&
	       memcmp(file.ptr + parts[0].len, ".elf", 4) == 0;
}

static void add_file(struct walk *w, int folder, const char *name)
{
	struct tdm_diag diag = { 0 };
	struct stat st;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) != 0) {
		refuse_errno(w, errno);
	} else {
		int err = tdm_kernel_cache_add(w->cache, fd, (uint64_t)st.st_size, w->path.data, &diag);
		w->no_memory |= err == -ENOMEM;
		if (err != 0)
			refuse(w, &diag);
	}
	if (fd >= 0)
		close(fd);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder, sorted. Owned by the caller; NULL with *count 0 when there are none or no memory is left. */
static char **list_names(struct walk *w, DIR *dir, size_t *count)
{
	char **names = NULL;
	size_t cap = 0;
	*count = 0;
	for (struct dirent *entry; !w->no_memory && (entry = readdir(dir)) != NULL;) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (w->cache->entries == TDM_KERNEL_CACHE_ENTRIES) {
			w->cache->unvisited++;
			break;
		}
		w->no_memory |= tdm_reserve(&names, &cap, *count + 1, sizeof *names) != 0;
		if (w->no_memory)
			break;
		names[*count] = strdup(entry->d_name);
		w->no_memory |= names[*count] == NULL;
		*count += names[*count] != NULL;
		w->cache->entries++;
	}
	if (*count != 0)
		qsort(names, *count, sizeof *names, by_name);
	return names;
}

static void walk_folder(struct walk *w, int fd, int depth);

static void walk_entry(struct walk *w, int folder, const char *name, int depth)
{
	struct stat st;
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		refuse_errno(w, errno);
	} else if (S_ISLNK(st.st_mode)) {
		w->cache->links++;
	} else if (S_ISDIR(st.st_mode)) {
		if (depth == TDM_KERNEL_CACHE_DEPTH) {
			w->cache->unvisited++;
			return;
		}
		int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW);
		if (fd < 0)
			refuse_errno(w, errno);
		else
			walk_folder(w, fd, depth + 1);
	}
}

/* Takes the descriptor over. */
static void walk_folder(struct walk *w, int fd, int depth)
{
	DIR *dir = fdopendir(fd);
	size_t count, path_len = w->path.len;
	if (dir == NULL) {
		refuse_errno(w, errno);
		close(fd);
		return;
	}
	char **names = list_names(w, dir, &count);
	for (size_t i = 0; i < count; i++) {
		struct stat st;
		bool wanted = is_binary(w, names[i]) && fstatat(fd, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			      S_ISREG(st.st_mode);
		tdm_buf_printf(&w->path, "/%s", names[i]);
		w->no_memory |= tdm_buf_failed(&w->path);
		if (w->no_memory)
			break;
		if (wanted)
			add_file(w, fd, names[i]);
		else
			walk_entry(w, fd, names[i], depth);
		w->path.len = path_len;
		w->path.data[path_len] = '\0';
	}
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
	closedir(dir);
}

int tdm_kernel_cache_walk(struct tdm_kernel_cache *cache, const char *path, tdm_kernel_cache_warn warn, void *context)
{
	struct walk w = { .cache = cache, .warn = warn, .context = context };
	tdm_buf_init(&w.path);
	/* Names come from the path, also from the part above what was asked for. */
	char *absolute = realpath(path, NULL);
	tdm_buf_puts(&w.path, absolute != NULL ? absolute : path);
	free(absolute);
	w.no_memory = tdm_buf_failed(&w.path);
	int fd = w.no_memory ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	if (fd >= 0)
		walk_folder(&w, fd, 0);
	else if (!w.no_memory)
		refuse_errno(&w, errno);
	tdm_buf_done(&w.path);
	return w.no_memory ? -ENOMEM : 0;
}

uint64_t tdm_kernel_cache_bytes_of(const char *path)
{
	uint64_t bytes = 0;
	size_t found = 0;
	int folder = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	if (folder < 0)
		return TDM_BYTES_UNKNOWN;
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		struct tdm_kernel_elf elf;
		struct stat st;
		char file[128];
		snprintf(file, sizeof file, "%s/%s.elf", targets[i], targets[i]);
		int fd = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd < 0)
			continue;
		bool is_good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
			       tdm_kernel_elf_read(&elf, fd, (uint64_t)st.st_size, NULL) == 0;
		close(fd);
		if (!is_good) {
			found = 0;
			break;
		}
		bytes += tdm_kernel_ring_bytes(elf.packed_bytes);
		found++;
	}
	close(folder);
	return found != 0 ? bytes : TDM_BYTES_UNKNOWN;
}

static int compare(const void *left, const void *right, void *context)
{
	const struct tdm_kernel_cache *cache = context;
	const struct tdm_kernel_binary *a = left, *b = right;
	if (a->firmware != b->firmware)
		return a->firmware ? 1 : -1;
	const size_t texts[][2] = { { a->build, b->build }, { a->name, b->name }, { a->hash, b->hash } };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		int order =
			strcmp(tdm_kernel_cache_text(cache, texts[i][0]), tdm_kernel_cache_text(cache, texts[i][1]));
		if (order != 0)
			return order;
	}
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return strcmp(tdm_kernel_cache_text(cache, a->path), tdm_kernel_cache_text(cache, b->path));
}

void tdm_kernel_cache_sort(struct tdm_kernel_cache *cache)
{
	if (cache->count != 0)
		qsort_r(cache->binaries, cache->count, sizeof *cache->binaries, compare, cache);
}

bool tdm_kernel_cache_is_same(const struct tdm_kernel_cache *cache, size_t a, size_t b)
{
	const struct tdm_kernel_binary *x = &cache->binaries[a], *y = &cache->binaries[b];
	const size_t texts[][2] = { { x->build, y->build }, { x->name, y->name }, { x->hash, y->hash } };
	if (x->firmware || y->firmware || x->hash == 0 || y->hash == 0)
		return false;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strcmp(tdm_kernel_cache_text(cache, texts[i][0]), tdm_kernel_cache_text(cache, texts[i][1])) != 0)
			return false;
	return true;
}
