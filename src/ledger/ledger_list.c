#include "ledger/ledger_list.h"
#include "ledger/ledger_file.h"
#include "base/map.h"
#include "base/number.h"
#include "base/reserve.h"
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
	DEPTH_MAX = 8,                            /* nested folders: a run in a run */
	FOLDERS_MAX = 1024,                       /* folders of one owner that are read */
	FIRST_ONES_MAX = TDM_LEDGER_LIST_MAX / 8, /* the least share of this user and of root */
};

/* Whose directory it is: that of all users, or the folder of one. */
enum level { OF_ALL, OF_USER };

enum what { NOTHING, LEDGER, FOLDER_OF_ALL, FOLDER_OF_USER };

struct found {
	char *path;
	struct tdm_ledger_name name;
	uint32_t owner;
	int folder_err;
};

/* The order of owners. */
enum rank { SELF, ROOT, ANYBODY };

struct owner {
	uint32_t uid;
	enum rank rank;
	unsigned folders; /* read so far */
	struct found *list;
	size_t count, cap;
};

struct listing {
	struct tdm_ledger_search *search;
	struct owner *owners;
	size_t owner_count, owner_cap;
	struct tdm_map by_uid;
	size_t total; /* of all owners */
	size_t share; /* the most that each may have */
	int err;
};

/* A directory that is being read. */
struct place {
	int fd;
	const char *path;
	enum level level;
	int depth;
	int64_t charged; /* user id whose share all entries count for; -1: each file's own owner */
};

/* Names. */

static const char *parse_number(const char *text, uint64_t max, uint64_t *number)
{
	size_t len = strspn(text, "0123456789");
	bool is_good = tdm_str_parse_u64((struct tdm_str){ text, len }, number) == 0 && *number <= max;
	return is_good ? text + len : NULL;
}

/* "PID.START.GENERATION", and nothing after it. */
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

/* "tidemark-UID" or "tidemark-UID.N". `end` is the character that must follow. */
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

/* The last part of a path, up to `end`. */
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
	return name->pid == (int32_t)getpid() && name->start == tdm_ledger_own_start();
}

/* Owners. */

static struct owner *find_owner(struct listing *l, uint32_t uid)
{
	uint32_t i = tdm_map_find(&l->by_uid, uid);
	if (i != TDM_MAP_NONE)
		return &l->owners[i];
	if (tdm_reserve(&l->owners, &l->owner_cap, l->owner_count + 1, sizeof *l->owners) != 0 ||
		tdm_map_put(&l->by_uid, uid, (uint32_t)l->owner_count) != 0) {
		l->err = -ENOMEM;
		return NULL;
	}
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

/* Halves the share until there is room again; owners with more lose the excess. */
static void make_room(struct listing *l)
{
	while (l->share > 1 && l->total > TDM_LEDGER_LIST_MAX / 4 * 3) {
		l->share /= 2;
		for (size_t i = 0; i < l->owner_count; i++) {
			struct owner *owner = &l->owners[i];
			for (; owner->count > share_of(l, owner); l->total--, l->search->left_out++)
				free(owner->list[--owner->count].path);
		}
	}
}

/* Whether the owner may have one more entry. */
static bool may_add(struct listing *l, const struct owner *owner)
{
	if (l->total >= TDM_LEDGER_LIST_MAX)
		make_room(l);
	return owner->count < share_of(l, owner) && (l->total < TDM_LEDGER_LIST_MAX || owner->rank < ANYBODY);
}

/* Takes ownership of the path; NULL: out of memory. */
static void add(struct listing *l, struct owner *owner, struct found found)
{
	if (found.path == NULL || tdm_reserve(&owner->list, &owner->cap, owner->count + 1, sizeof *owner->list) != 0) {
		free(found.path);
		l->err = -ENOMEM;
		return;
	}
	owner->list[owner->count++] = found;
	l->total++;
}

/* Walking. */

static int read_place(struct listing *l, const struct place *place);

static bool is_wanted(const struct tdm_ledger_search *search, int32_t pid)
{
	for (size_t i = 0; i < search->pid_count && search->pids != NULL; i++)
		if (search->pids[i] == pid)
			return true;
	return search->pids == NULL;
}

static char *join(const struct place *place, const char *entry)
{
	char *path;
	return asprintf(&path, "%s/%s", place->path, entry) >= 0 ? path : NULL;
}

/* Does not touch files that count for an owner who already has a full share. */
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
		return; /* it is gone */
	if (owner == NULL)
		owner = find_owner(l, st.st_uid);
	if (owner != NULL && may_add(l, owner))
		add(l, owner, (struct found){ join(place, entry), *name, st.st_uid, 0 });
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
	if (owner == NULL || owner->folders == FOLDERS_MAX) {
		l->search->left_out++;
		return;
	}
	owner->folders++;
	char *path = join(place, entry);
	struct place inner = { .path = path, .level = level, .depth = place->depth + 1, .charged = charged };
	inner.fd = path != NULL ? openat(place->fd, entry, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) : -1;
	int err = inner.fd >= 0 ? read_place(l, &inner) : path != NULL ? -errno : -ENOMEM;
	if (err != 0 && err != -ENOTDIR && err != -ENOENT && err != -ELOOP) {
		owner = find_owner(l, charged); /* the list of owners may have moved */
		if (owner != NULL && may_add(l, owner)) {
			add(l, owner, (struct found){ path, { 0 }, st.st_uid, err });
			return;
		}
		l->search->left_out++;
	}
	free(path);
}

static void take_entry(struct listing *l, const struct place *place, const char *entry)
{
	struct tdm_ledger_name name;
	enum what what = parse_entry(place->level, entry, &name);
	if (what == LEDGER && !is_wanted(l->search, name.pid))
		l->search->others++;
	else if (what == LEDGER)
		take_ledger(l, place, entry, &name);
	else if (what != NOTHING)
		take_folder(l, place, entry, what == FOLDER_OF_USER ? OF_USER : OF_ALL);
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
	for (errno = 0; l->err == 0 && (entry = readdir(stream)) != NULL; errno = 0)
		take_entry(l, place, entry->d_name);
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
	const struct found *x = a, *y = b;
	int order = tdm_order((uint64_t)x->name.pid, (uint64_t)y->name.pid);
	if (order == 0)
		order = tdm_order(x->name.start, y->name.start);
	if (order == 0)
		order = tdm_order(x->name.generation, y->name.generation);
	return order != 0 ? order : strverscmp(x->path, y->path);
}

static void give_all(struct listing *l)
{
	if (l->owner_count > 1)
		qsort(l->owners, l->owner_count, sizeof *l->owners, by_rank);
	for (size_t i = 0; i < l->owner_count; i++) {
		struct owner *owner = &l->owners[i];
		if (owner->count > 1)
			qsort(owner->list, owner->count, sizeof *owner->list, by_name);
		for (size_t k = 0; k < owner->count; k++) {
			struct found *found = &owner->list[k];
			l->search->each(l->search->context, &(struct tdm_ledger_entry){ found->path, found->owner,
								    found->name, found->folder_err });
			free(found->path);
		}
		free(owner->list);
	}
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
	int err = tdm_map_init(&l.by_uid);
	if (err != 0) {
		close(top.fd);
		return err;
	}
	err = read_place(&l, &top);
	give_all(&l);
	free(l.owners);
	tdm_map_done(&l.by_uid);
	return l.err != 0 ? l.err : err;
}
