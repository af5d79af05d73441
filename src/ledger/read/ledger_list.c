#include "ledger/read/ledger_list.h"
#include "ledger/layout/ledger_file.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	DEPTH_MAX = 8,                            /* depth of nested folders: a run may contain a run */
	FOLDERS_MAX = 1024,                       /* folders to read for one owner */
	FIRST_ONES_MAX = TDM_LEDGER_LIST_MAX / 8, /* guaranteed share for this user and for root */
};

/* Whether a directory belongs to all users or is one user's folder. */
enum level { OF_ALL, OF_USER };

enum what { NOTHING, LEDGER, FOLDER_OF_ALL, FOLDER_OF_USER };

/* The order of owners. */
enum rank { SELF, ROOT, ANYBODY };

struct owner {
	uint32_t uid;
	enum rank rank;
	unsigned folders;              /* folders read so far */
	struct tdm_ledger_entry *list; /* the list owns the paths */
	size_t count, cap;
};

struct listing {
	struct tdm_ledger_search *search;
	struct owner *owners;
	size_t owner_count, owner_cap;
	struct tdm_map by_uid;
	size_t total; /* entries of all owners */
	size_t share; /* entries allowed per owner */
};

/* A directory being read. */
struct place {
	int fd;
	const char *path;
	enum level level;
	int depth;
	int64_t charged; /* the user to whose share all entries are charged; -1: each file's own owner */
};

/* Names. */

static const char *parse_number(const char *text, uint64_t max, uint64_t *number)
{
	size_t len = strspn(text, "0123456789");
	bool is_good = tdm_str_parse_u64((struct tdm_str){ text, len }, number) == 0 && *number <= max;
	return is_good ? text + len : NULL;
}

/* Parses "PID.START.GENERATION", with nothing after it. */
static bool parse_numbers(const char *text, struct tdm_ledger_name *name)
{
	static const uint64_t max[] = { INT32_MAX, UINT64_MAX, UINT32_MAX };
	uint64_t numbers[3];
	for (int i = 0; i < 3; i++) {
		if (i != 0 && *text++ != '.')
			return false;
		text = parse_number(text, max[i], &numbers[i]);
		if (text == NULL)
			return false;
	}
	*name = (struct tdm_ledger_name){ (int32_t)numbers[0], (uint32_t)numbers[2], numbers[1] };
	return *text == '\0';
}

/* Recognises "tidemark-UID" or "tidemark-UID.N", followed by the character `end`. */
static bool is_user_folder(const char *name, char end)
{
	uint64_t number;
	const char *at = tdm_has_prefix(name, TDM_LEDGER_USER_PREFIX)
				 ? parse_number(name + strlen(TDM_LEDGER_USER_PREFIX), UINT32_MAX, &number)
				 : NULL;
	if (at != NULL && *at == '.')
		at = parse_number(at + 1, UINT32_MAX, &number);
	return at != NULL && *at == end;
}

static enum what parse_entry(enum level level, const char *name, struct tdm_ledger_name *parsed)
{
	static const char old_run[] = TDM_LEDGER_OLD_PREFIX TDM_LEDGER_RUN_PREFIX;
	*parsed = (struct tdm_ledger_name){ 0 };
	if (level == OF_USER)
		return parse_numbers(name, parsed)                   ? LEDGER
		       : tdm_has_prefix(name, TDM_LEDGER_RUN_PREFIX) ? FOLDER_OF_ALL
								     : NOTHING;
	if (tdm_has_prefix(name, TDM_LEDGER_OLD_PREFIX) && parse_numbers(name + strlen(TDM_LEDGER_OLD_PREFIX), parsed))
		return LEDGER;
	return is_user_folder(name, '\0') ? FOLDER_OF_USER : tdm_has_prefix(name, old_run) ? FOLDER_OF_ALL : NOTHING;
}

/* The last part of a path that extends to `end`. */
static const char *last_part(const char *path, const char *end)
{
	while (end != path && end[-1] != '/')
		end--;
	return end;
}

bool tdm_ledger_parse_name(const char *path, struct tdm_ledger_name *name)
{
	const char *last = last_part(path, path + strlen(path));
	const char *folder = last != path ? last_part(path, last - 1) : last;
	enum level level = folder != last && is_user_folder(folder, '/') ? OF_USER : OF_ALL;
	return parse_entry(level, last, name) == LEDGER;
}

bool tdm_ledger_is_own_name(const struct tdm_ledger_name *name)
{
	return name->pid == (int32_t)getpid() && name->start == tdm_ledger_start_of(0);
}

/* Owners. */

static struct owner *find_owner(struct listing *l, uint32_t uid)
{
	uint32_t i = tdm_map_find(&l->by_uid, uid);
	if (i != TDM_MAP_NONE)
		return &l->owners[i];
	tdm_grow(&l->owners, &l->owner_cap, l->owner_count + 1, sizeof *l->owners);
	tdm_map_set(&l->by_uid, uid, (uint32_t)l->owner_count);
	l->owners[l->owner_count] = (struct owner){ .uid = uid,
		.rank = uid == geteuid() ? SELF
			: uid == 0       ? ROOT
					 : ANYBODY };
	return &l->owners[l->owner_count++];
}

static size_t share_of(const struct listing *l, const struct owner *owner)
{
	return owner->rank < ANYBODY ? tdm_max(l->share, FIRST_ONES_MAX) : l->share;
}

/* Whether one more entry is allowed for the owner. */
static bool may_add(struct listing *l, const struct owner *owner)
{
	if (l->total >= TDM_LEDGER_LIST_MAX) {
		/* Halves the share until there is room again; owners with more entries lose the excess ones. */
		while (l->share > 1 && l->total > TDM_LEDGER_LIST_MAX / 4 * 3) {
			l->share /= 2;
			for (size_t i = 0; i < l->owner_count; i++) {
				struct owner *rich = &l->owners[i];
				for (; rich->count > share_of(l, rich); l->total--, l->search->left_out++)
					free((void *)(uintptr_t)rich->list[--rich->count].path);
			}
		}
	}
	return owner->count < share_of(l, owner) && (l->total < TDM_LEDGER_LIST_MAX || owner->rank < ANYBODY);
}

/* Takes ownership of the path. */
static void add(struct listing *l, struct owner *owner, struct tdm_ledger_entry found)
{
	tdm_grow(&owner->list, &owner->cap, owner->count + 1, sizeof *owner->list);
	owner->list[owner->count++] = found;
	l->total++;
}

/* Walking. */

static int read_place(struct listing *l, const struct place *place);

static bool is_wanted(const struct tdm_ledger_search *search, int32_t pid)
{
	size_t i = 0;
	while (i < search->pid_count && search->pids != NULL && search->pids[i] != pid)
		i++;
	return search->pids == NULL || i < search->pid_count;
}

/* Skips a file, without a system call, if its owner's share is already full. */
static void take_ledger(
	struct listing *l, const struct place *place, const char *entry, const struct tdm_ledger_name *name)
{
	struct stat st;
	struct owner *owner = place->charged >= 0 ? find_owner(l, (uint32_t)place->charged) : NULL;
	if (owner != NULL && !may_add(l, owner)) {
		l->search->left_out++;
		return;
	}
	if (fstatat(place->fd, entry, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return; /* the file has been removed */
	if (owner == NULL)
		owner = find_owner(l, st.st_uid);
	if (may_add(l, owner))
		add(l, owner,
			(struct tdm_ledger_entry){
				.path = tdm_printed("%s/%s", place->path, entry), .name = *name, .owner = st.st_uid });
	else
		l->search->left_out++;
}

static void take_folder(struct listing *l, const struct place *place, const char *entry, enum level level)
{
	struct stat st;
	if (place->depth == DEPTH_MAX || fstatat(place->fd, entry, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		!S_ISDIR(st.st_mode))
		return;
	uint32_t charged = place->charged >= 0 ? (uint32_t)place->charged : st.st_uid;
	struct owner *owner = find_owner(l, charged);
	if (owner->folders == FOLDERS_MAX) {
		l->search->left_out++;
		return;
	}
	owner->folders++;
	char *path = tdm_printed("%s/%s", place->path, entry);
	struct place inner = { .path = path, .level = level, .depth = place->depth + 1, .charged = charged };
	inner.fd = openat(place->fd, entry, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	int err = inner.fd >= 0 ? read_place(l, &inner) : -errno;
	if (err != 0 && err != -ENOTDIR && err != -ENOENT && err != -ELOOP) {
		owner = find_owner(l, charged); /* the list of owners may have moved in memory */
		if (may_add(l, owner)) {
			add(l, owner, (struct tdm_ledger_entry){ .path = path, .owner = st.st_uid, .folder_err = err });
			return;
		}
		l->search->left_out++;
	}
	free(path);
}

/* Takes ownership of the descriptor. */
static int read_place(struct listing *l, const struct place *place)
{
	DIR *stream = fdopendir(place->fd);
	const struct dirent *entry;
	if (stream == NULL) {
		int err = -errno;
		close(place->fd);
		return err;
	}
	for (errno = 0; (entry = readdir(stream)) != NULL; errno = 0) {
		struct tdm_ledger_name name;
		enum what what = parse_entry(place->level, entry->d_name, &name);
		if (what == LEDGER && !is_wanted(l->search, name.pid))
			l->search->others++;
		else if (what == LEDGER)
			take_ledger(l, place, entry->d_name, &name);
		else if (what != NOTHING)
			take_folder(l, place, entry->d_name, what == FOLDER_OF_USER ? OF_USER : OF_ALL);
	}
	int err = -errno;
	closedir(stream);
	return err;
}

/* Giving out. */

static int by_rank(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;
	return x->rank != y->rank ? tdm_order(x->rank, y->rank) : tdm_order(x->uid, y->uid);
}

static int by_name(const void *a, const void *b)
{
	const struct tdm_ledger_entry *x = a, *y = b;
	return x->name.pid != y->name.pid                 ? tdm_order((uint64_t)x->name.pid, (uint64_t)y->name.pid)
	       : x->name.start != y->name.start           ? tdm_order(x->name.start, y->name.start)
	       : x->name.generation != y->name.generation ? tdm_order(x->name.generation, y->name.generation)
							  : strverscmp(x->path, y->path);
}

int tdm_ledger_list(struct tdm_ledger_search *search)
{
	struct listing l = { .search = search, .share = TDM_LEDGER_LIST_MAX };
	struct place top = { .path = tdm_ledger_dir(search->dir), .charged = -1 };
	const char *end = top.path + strlen(top.path);
	search->others = search->left_out = 0;
	while (end > top.path + 1 && end[-1] == '/')
		end--;
	if (is_user_folder(last_part(top.path, end), *end))
		top.level = OF_USER;
	top.fd = open(top.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top.fd < 0)
		return -errno;
	int err = read_place(&l, &top);
	if (l.owner_count > 1)
		qsort(l.owners, l.owner_count, sizeof *l.owners, by_rank);
	for (size_t i = 0; i < l.owner_count; i++) {
		struct owner *owner = &l.owners[i];
		if (owner->count > 1)
			qsort(owner->list, owner->count, sizeof *owner->list, by_name);
		for (size_t k = 0; k < owner->count; k++) {
			search->each(search->context, &owner->list[k]);
			free((void *)(uintptr_t)owner->list[k].path);
		}
		free(owner->list);
	}
	free(l.owners);
	tdm_map_done(&l.by_uid);
	return err;
}
