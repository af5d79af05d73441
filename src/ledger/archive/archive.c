#include "ledger/archive/archive.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/str.h"
#include "ledger/read/ledger_list.h"
#include "ledger/read/reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- removing ---- */

/* The longest time that a writer needs to lock a new file and set its length. */
enum { SETUP_S = 10 };

/* 0 if this file may be removed, else a code that gives the reason. */
static int check_dead(const char *path, int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	struct stat st, again;
	if (fstat(fd, &st) != 0 || fcntl(fd, F_GETLK, &lock) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return -EPERM;
	if (lock.l_type != F_UNLCK || (st.st_size == 0 && time(NULL) - st.st_ctim.tv_sec < SETUP_S))
		return -EBUSY; /* its writer is alive, or still setting it up */
	/* The name may now belong to another file. A short race remains, which cannot be avoided. */
	if (lstat(path, &again) != 0 || again.st_dev != st.st_dev || again.st_ino != st.st_ino)
		return -ESTALE;
	return 0;
}

static int check_path(const char *path, bool removes)
{
	struct tdm_ledger_name name;
	if (!tdm_ledger_parse_name(path, &name))
		return -EINVAL;
	/* The writer is this process: it is alive, and closing its own ledger would release its lock. */
	if (tdm_ledger_is_own_name(&name))
		return -EBUSY;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	int err = check_dead(path, fd);
	if (err == 0 && removes && unlink(path) != 0)
		err = -errno;
	close(fd);
	return err;
}

int tdm_ledger_reap(const char *path)
{
	return check_path(path, true);
}

/* Opens a folder in `parent` if it belongs to this user; NULL if it does not, or cannot be read. */
static DIR *open_own(int parent, const char *name)
{
	struct stat st;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	errno = EPERM;
	DIR *stream = fstat(fd, &st) == 0 && st.st_uid == geteuid() ? fdopendir(fd) : NULL;
	if (stream == NULL)
		close(fd);
	return stream;
}

static int reap_run(int parent, const char *name)
{
	DIR *stream = open_own(parent, name);
	const struct dirent *entry;
	if (stream == NULL)
		return -errno;
	while ((entry = readdir(stream)) != NULL)
		if (tdm_has_prefix(entry->d_name, TDM_LEDGER_USER_PREFIX))
			unlinkat(dirfd(stream), entry->d_name, AT_REMOVEDIR); /* fails unless the folder is empty */
	closedir(stream);
	return unlinkat(parent, name, AT_REMOVEDIR) == 0 ? 0 : -errno;
}

int tdm_ledger_reap_run(const char *path)
{
	return reap_run(AT_FDCWD, path);
}

/* Whether the process with the pid in the name "PID.…" is gone. The process may be running in another pid namespace,
 * but then its folder is not empty and stays. */
static bool is_orphan(const char *name)
{
	char *end;
	long pid = strtol(name, &end, 10);
	return *end == '.' && pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* Reaps every folder in a directory whose name begins with `prefix` and the pid of a dead process. */
static void reap_orphans(DIR *stream, const char *prefix)
{
	const struct dirent *entry;
	for (rewinddir(stream); (entry = readdir(stream)) != NULL;)
		if (tdm_has_prefix(entry->d_name, prefix) && is_orphan(entry->d_name + strlen(prefix)))
			reap_run(dirfd(stream), entry->d_name);
}

void tdm_ledger_reap_dirs(const char *dir)
{
	DIR *stream = opendir(tdm_ledger_dir(dir));
	const struct dirent *entry;
	while (stream != NULL && (entry = readdir(stream)) != NULL) {
		DIR *own = tdm_has_prefix(entry->d_name, TDM_LEDGER_USER_PREFIX)
				   ? open_own(dirfd(stream), entry->d_name)
				   : NULL;
		if (own != NULL) {
			reap_orphans(own, TDM_LEDGER_RUN_PREFIX);
			closedir(own);
			unlinkat(dirfd(stream), entry->d_name, AT_REMOVEDIR);
		}
	}
	if (stream != NULL) {
		reap_orphans(stream, TDM_LEDGER_OLD_PREFIX TDM_LEDGER_RUN_PREFIX);
		closedir(stream);
	}
}

/*
 * ---- copying ----
 *
 * Moves one file to another file system, a piece at a time; holes stay holes. The old file stays complete until the
 * end.
 */

#define TEMP "unfinished." /* prefix of an unfinished copy's name */

struct copy {
	int from, to, folder; /* descriptors; -1 if not open */
	char path[TDM_LEDGER_PATH_MAX];
	char folder_path[TDM_LEDGER_PATH_MAX];
	struct tdm_ledger_name name;
	uint64_t inode, size, at;
	uint64_t ended_ns;
};

enum { PIECE = 1 << 16, NAMES_MAX = 4096 };

/* Makes a directory and its parents. 0 or -errno. */
static int make_dirs(const char *path)
{
	char part[TDM_LEDGER_PATH_MAX];
	if (strlen(path) >= sizeof part)
		return -ENAMETOOLONG;
	strcpy(part, path);
	for (char *slash = part; slash != NULL;) {
		slash = strchr(slash + 1, '/');
		if (slash != NULL)
			*slash = '\0';
		if (mkdir(part, 0700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
			return -errno;
		if (slash != NULL)
			*slash = '/';
	}
	return 0;
}

static void format_temp(const struct copy *copy, char temp[64])
{
	snprintf(temp, 64, TEMP "%d.%llu.%u", (int)copy->name.pid, (unsigned long long)copy->name.start,
		copy->name.generation);
}

/* Ends a copy after an error, after the last step, or when it is abandoned. */
static void copy_end(struct copy *copy)
{
	char temp[64];
	format_temp(copy, temp);
	if (copy->to >= 0) {
		unlinkat(copy->folder, temp, 0);
		close(copy->to);
	}
	if (copy->from >= 0)
		close(copy->from);
	if (copy->folder >= 0)
		close(copy->folder);
	copy->from = copy->to = copy->folder = -1;
}

/* Begins to move one of this user's ledgers into the user's folder in `state_dir`, which is made if necessary. 0 or
 * -errno. */
static int copy_begin(struct copy *copy, const char *path, const char *state_dir, uint64_t ended_ns)
{
	char temp[64];
	struct stat st;
	*copy = (struct copy){ .from = -1, .to = -1, .folder = -1, .ended_ns = ended_ns };
	if (strlen(path) >= sizeof copy->path)
		return -ENAMETOOLONG;
	if (!tdm_ledger_parse_name(path, &copy->name))
		return -EINVAL;
	strcpy(copy->path, path);
	copy->from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int err = copy->from < 0 || fstat(copy->from, &st) != 0    ? -errno
		  : !S_ISREG(st.st_mode) || st.st_uid != geteuid() ? -EPERM
								   : 0;
	copy->inode = err == 0 ? st.st_ino : 0;
	copy->size = err == 0 ? (uint64_t)st.st_size : 0;
	if (err == 0)
		err = make_dirs(state_dir);
	if (err == 0) {
		copy->folder = tdm_ledger_open_folder(state_dir, 0600, copy->folder_path);
		err = copy->folder < 0 ? copy->folder : 0;
	}
	if (err == 0) {
		format_temp(copy, temp);
		unlinkat(copy->folder, temp, 0); /* left by an earlier daemon */
		copy->to = openat(copy->folder, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		err = copy->to < 0 ? -errno : tdm_ledger_file_set_size(copy->to, copy->size);
	}
	if (err != 0)
		copy_end(copy);
	return err;
}

/* The offset of the next data, or copy->size if there is none. Sets *end to the end of that data. */
static uint64_t next_data(const struct copy *copy, uint64_t *end)
{
	off_t data = lseek(copy->from, (off_t)copy->at, SEEK_DATA);
	*end = copy->size;
	if (data < 0)
		return errno == ENXIO ? copy->size : copy->at; /* some file systems cannot report holes */
	off_t hole = lseek(copy->from, data, SEEK_HOLE);
	if (hole > data)
		*end = tdm_min((uint64_t)hole, copy->size);
	return (uint64_t)data;
}

/* Copies one piece. Returns the number of bytes copied, or -errno. */
static ssize_t copy_piece(struct copy *copy, size_t bytes)
{
	char piece[PIECE];
	uint64_t end, at = next_data(copy, &end);
	if (at >= copy->size) {
		copy->at = copy->size;
		return 0;
	}
	ssize_t got = pread(copy->from, piece, tdm_min(tdm_min(bytes, sizeof piece), end - at), (off_t)at), put = 0;
	if (got <= 0) {
		copy->at = copy->size; /* the file has been shortened */
		return got < 0 ? -errno : 0;
	}
	while (put < got) {
		ssize_t n = pwrite(copy->to, piece + put, (size_t)(got - put), (off_t)at + put);
		if (n <= 0 && errno != EINTR)
			return n < 0 ? -errno : -ENOSPC;
		put += n > 0 ? n : 0;
	}
	copy->at = at + (uint64_t)got;
	return got;
}

/*
 * Gives the copy its final name and removes the old file. If another ledger already has the name, because pids are
 * reused, a different name is tried. 0, with `path` set to the new path; or -errno.
 */
static int copy_finish(struct copy *copy)
{
	char temp[64], name[64], old[TDM_LEDGER_PATH_MAX];
	struct stat st;
	const struct timespec end = { .tv_sec = (time_t)(copy->ended_ns / TDM_NS_PER_S),
		.tv_nsec = (long)(copy->ended_ns % TDM_NS_PER_S) };
	uint32_t generation = copy->name.generation;
	int i = 0, err = -EEXIST;
	format_temp(copy, temp);
	futimens(copy->to, (const struct timespec[]){ end, end });
	for (; i < NAMES_MAX && err == -EEXIST; i++, generation++) {
		snprintf(name, sizeof name, "%d.%llu.%u", (int)copy->name.pid, (unsigned long long)copy->name.start,
			generation);
		if (fstatat(copy->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			continue;
		err = renameat(copy->folder, temp, copy->folder, name) == 0 ? 0 : -errno;
	}
	if (err != 0)
		return err;
	strcpy(old, copy->path);
	int len = snprintf(copy->path, sizeof copy->path, "%.*s/%s", TDM_LEDGER_PATH_MAX - 65, copy->folder_path, name);
	if (lstat(old, &st) == 0 && st.st_ino == copy->inode)
		unlink(old);
	return len > 0 ? 0 : -ENAMETOOLONG;
}

/* ---- the archive ---- */

/* How long to wait after a failed move. */
#define RETRY_NS (60 * TDM_NS_PER_S)
/* How often to check whether the clients of ledgers without a writer have ended. */
#define LOOK_NS  (60 * TDM_NS_PER_S)
#define DAY_NS   (24 * UINT64_C(3600) * TDM_NS_PER_S)

const struct tdm_archive_limits tdm_archive_memory_limits = { 600 * TDM_NS_PER_S, 256, UINT64_C(64) << 20 };
const struct tdm_archive_limits tdm_archive_disk_limits = { 30 * DAY_NS, 1000, UINT64_C(1) << 30 };

struct entry {
	char *path;
	uint64_t bytes;
	uint64_t ended_ns; /* when its client ended; real-time clock */
};

/* The ledgers in one place, oldest first. */
struct place {
	struct entry *list;
	size_t count, cap;
	uint64_t bytes;
};

struct tdm_archive {
	struct tdm_archive_options options;
	char state_dir[TDM_LEDGER_PATH_MAX];
	int state_err; /* 0, or why there is no place on disk for the ledgers */
	struct place memory, disk;
	struct copy copy;
	bool is_copying;      /* the oldest ledger in memory is being copied */
	uint64_t retry_ns;    /* when to retry a move; real-time clock */
	struct place waiting; /* ledgers without a writer whose clients are still running */
	size_t looked;        /* number of waiting ledgers checked in this round */
	uint64_t look_ns;     /* when the next round begins; real-time clock */
	struct tdm_archive_stats stats;
};

int tdm_archive_state_dir(char path[TDM_LEDGER_PATH_MAX])
{
	const char *state = secure_getenv("STATE_DIRECTORY"), *base = secure_getenv("XDG_STATE_HOME");
	const char *home = secure_getenv("HOME");
	int len;
	if (state != NULL && state[0] == '/') /* systemd gives a list of directories; the first is ours */
		len = snprintf(path, TDM_LEDGER_PATH_MAX, "%.*s", (int)strcspn(state, ":"), state);
	else if (base != NULL && base[0] == '/')
		len = snprintf(path, TDM_LEDGER_PATH_MAX, "%s/tidemark", base);
	else if (home != NULL && home[0] == '/')
		len = snprintf(path, TDM_LEDGER_PATH_MAX, "%s/.local/state/tidemark", home);
	else
		return -ENOENT;
	return len < TDM_LEDGER_PATH_MAX ? 0 : -ENAMETOOLONG;
}

struct tdm_archive *tdm_archive_new(const struct tdm_archive_options *options)
{
	struct tdm_archive *archive = tdm_zalloc(1, sizeof *archive);
	archive->options = *options;
	if (options->state_dir == NULL)
		archive->state_err = tdm_archive_state_dir(archive->state_dir);
	else if (strlen(options->state_dir) < sizeof archive->state_dir)
		strcpy(archive->state_dir, options->state_dir);
	else
		archive->state_err = -ENAMETOOLONG;
	return archive;
}

static void place_done(struct place *place)
{
	for (size_t i = 0; i < place->count; i++)
		free(place->list[i].path);
	free(place->list);
}

void tdm_archive_free(struct tdm_archive *archive)
{
	if (archive == NULL)
		return;
	if (archive->is_copying)
		copy_end(&archive->copy);
	place_done(&archive->memory);
	place_done(&archive->disk);
	place_done(&archive->waiting);
	free(archive);
}

/* Inserts an entry, sorted by when its client ended, but not before the first `fixed` entries: an entry being copied
 * stays first. */
static void place_add(struct place *place, const char *path, uint64_t bytes, uint64_t ended_ns, size_t fixed)
{
	tdm_grow(&place->list, &place->cap, place->count + 1, sizeof *place->list);
	size_t at = place->count++;
	for (; at > fixed && place->list[at - 1].ended_ns > ended_ns; at--)
		place->list[at] = place->list[at - 1];
	place->list[at] = (struct entry){ tdm_strdup(path), bytes, ended_ns };
	place->bytes = tdm_plus(place->bytes, bytes);
}

static void place_drop(struct place *place, size_t i)
{
	free(place->list[i].path);
	place->bytes -= place->list[i].bytes;
	memmove(place->list + i, place->list + i + 1, (--place->count - i) * sizeof *place->list);
}

static bool process_has_ended(int32_t pid, uint64_t start_time)
{
	uint64_t start = tdm_ledger_start_of(pid);
	return start != 0 ? start != start_time : kill(pid, 0) != 0 && errno == ESRCH;
}

/* Whether a ledger's client has ended. When in doubt, assumes that it is running. */
static bool client_has_ended(const struct tdm_ledger *ledger)
{
	const struct tdm_ledger_header *who = tdm_ledger_header(ledger);
	uint8_t boot_id[16];
	struct stat ns;
	if (who->state == TDM_LEDGER_CLOSED || (who->flags & TDM_LEDGER_MOVED) != 0 ||
		(tdm_ledger_boot_id(boot_id) && memcmp(boot_id, who->boot_id, sizeof boot_id) != 0))
		return true;
	if (stat("/proc/self/ns/pid", &ns) != 0 || ns.st_ino != who->pid_namespace)
		return false;
	return process_has_ended(who->pid, who->start_time);
}

/*
 * Like judge(), for a ledger that cannot be read: its name identifies the process. If its header says that a program
 * wrote it for itself, the ledger is not archived.
 */
static int judge_damaged(const char *path, uint64_t *ended_ns)
{
	struct tdm_ledger_header header = { 0 };
	struct tdm_ledger_name name;
	struct stat st;
	int err = check_path(path, false);
	int fd = err == 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	if (fd < 0)
		return err != 0 ? err : -errno;
	ssize_t got = pread(fd, &header, sizeof header, 0);
	err = got < 0 || fstat(fd, &st) != 0 ? -errno : 0;
	close(fd);
	if (err != 0)
		return err;
	bool has_flags = got >= (ssize_t)offsetof(struct tdm_ledger_header, comm) && header.magic == TDM_LEDGER_MAGIC;
	if (!tdm_ledger_parse_name(path, &name) || (has_flags && (header.flags & TDM_LEDGER_ON_BEHALF) == 0))
		return -EINVAL;
	*ended_ns = (uint64_t)st.st_mtim.tv_sec * TDM_NS_PER_S + (uint64_t)st.st_mtim.tv_nsec;
	return process_has_ended(name.pid, name.start) ? 0 : -EBUSY;
}

/* Checks that a ledger may be archived. *live: whether it is worth keeping. 0 or -errno. */
static int judge(const char *path, uint64_t *ended_ns, bool *live)
{
	struct tdm_ledger *ledger;
	struct tdm_diag diag = { 0 };
	int err = tdm_ledger_open(path, &ledger, &diag);
	*live = true;
	if (err == TDM_ECORRUPT || err == TDM_EVERSION)
		return judge_damaged(path, ended_ns);
	if (err != 0)
		return err;
	if ((tdm_ledger_header(ledger)->flags & TDM_LEDGER_ON_BEHALF) == 0)
		err = -EINVAL;
	else if (tdm_ledger_file_owner(ledger) != geteuid())
		err = -EPERM;
	else if (tdm_ledger_liveness(ledger) != TDM_DEAD || !client_has_ended(ledger))
		err = -EBUSY;
	*live = tdm_ledger_refused(ledger) != 0;
	for (size_t d = 0; d < tdm_ledger_device_count(ledger); d++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			*live |= tdm_ledger_device(ledger, d)->counts[k].buffers != 0;
	*ended_ns = tdm_ledger_noted(ledger).realtime_ns;
	tdm_ledger_close(ledger);
	return err;
}

int tdm_archive_add(struct tdm_archive *archive, const char *path)
{
	struct stat st;
	uint64_t ended_ns = 0;
	bool is_live;
	for (size_t i = 0; i < archive->memory.count; i++)
		if (strcmp(archive->memory.list[i].path, path) == 0)
			return 0;
	int err = judge(path, &ended_ns, &is_live);
	if (err == -EAGAIN) /* its writer ended while setting up the ledger */
		return tdm_ledger_reap(path);
	if (err != 0)
		return err;
	if (!is_live)
		return unlink(path) == 0 ? 0 : -errno;
	if (lstat(path, &st) != 0)
		return -errno;
	place_add(&archive->memory, path, (uint64_t)st.st_blocks * 512, ended_ns, archive->is_copying);
	return 0;
}

/* Finding. */

static bool is_ours(const struct tdm_ledger_entry *entry)
{
	return entry->folder_err == 0 && entry->owner == geteuid();
}

/* Most ledgers are in use, or were not written by a daemon, so they are not archived. */
static void find_in_memory(void *context, const struct tdm_ledger_entry *entry)
{
	struct tdm_archive *archive = context;
	if (is_ours(entry) && tdm_archive_add(archive, entry->path) == -EBUSY && check_path(entry->path, false) == 0)
		place_add(&archive->waiting, entry->path, 0, 0, 0);
}

static void find_on_disk(void *context, const struct tdm_ledger_entry *entry)
{
	struct tdm_archive *archive = context;
	struct stat st;
	if (is_ours(entry) && lstat(entry->path, &st) == 0 && S_ISREG(st.st_mode))
		place_add(&archive->disk, entry->path, (uint64_t)st.st_blocks * 512,
			(uint64_t)st.st_mtim.tv_sec * TDM_NS_PER_S + (uint64_t)st.st_mtim.tv_nsec, 0);
}

int tdm_archive_find(struct tdm_archive *archive)
{
	struct stat st;
	int err = tdm_ledger_list(
		&(struct tdm_ledger_search){ .dir = archive->options.dir, .each = find_in_memory, .context = archive });
	if (archive->state_err != 0 || stat(archive->state_dir, &st) != 0)
		return err; /* nothing has been archived yet */
	/* Removes the unfinished copies of a daemon that was killed. */
	char path[TDM_LEDGER_PATH_MAX];
	int folder = tdm_ledger_open_folder(archive->state_dir, 0600, path);
	int fd = folder >= 0 ? openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	while (stream != NULL && (entry = readdir(stream)) != NULL)
		if (tdm_has_prefix(entry->d_name, TEMP))
			unlinkat(fd, entry->d_name, 0);
	if (stream != NULL)
		closedir(stream);
	else if (fd >= 0)
		close(fd);
	if (folder >= 0)
		close(folder);
	int disk_err = tdm_ledger_list(
		&(struct tdm_ledger_search){ .dir = archive->state_dir, .each = find_on_disk, .context = archive });
	return err != 0 ? err : disk_err;
}

/* Moving and removing. */

static bool is_full(const struct place *place, const struct tdm_archive_limits *limits)
{
	return place->count != 0 && (place->count > limits->count || place->bytes > limits->bytes);
}

static bool is_due(const struct place *place, const struct tdm_archive_limits *limits, uint64_t real_ns)
{
	if (place->count == 0)
		return false;
	uint64_t ended_ns = place->list[0].ended_ns, age_ns = real_ns > ended_ns ? real_ns - ended_ns : 0;
	return is_full(place, limits) || (limits->age_ns != UINT64_MAX && age_ns > limits->age_ns);
}

/* Handles a failure to move the oldest ledger in memory. The ledger is removed anyway if memory is full. True if
 * there is more to do. */
static bool note_failure(struct tdm_archive *archive, int err, uint64_t real_ns)
{
	archive->stats.failed++;
	archive->stats.err = err;
	if (err == -ENOENT && access(archive->memory.list[0].path, F_OK) != 0) { /* another process has removed it */
		place_drop(&archive->memory, 0);
		return true;
	}
	archive->retry_ns = real_ns + RETRY_NS;
	if (!is_full(&archive->memory, &archive->options.memory))
		return false;
	unlink(archive->memory.list[0].path);
	place_drop(&archive->memory, 0);
	archive->stats.dropped++;
	return true;
}

/* The copy is complete, or has failed (`err`). True if there is more to do. */
static bool end_copying(struct tdm_archive *archive, int err, uint64_t real_ns)
{
	struct entry *oldest = &archive->memory.list[0];
	if (err == 0)
		err = copy_finish(&archive->copy);
	copy_end(&archive->copy);
	archive->is_copying = false;
	if (err != 0)
		return note_failure(archive, err, real_ns);
	struct stat st;
	uint64_t size = lstat(archive->copy.path, &st) == 0 ? (uint64_t)st.st_blocks * 512 : oldest->bytes;
	archive->stats.moved++;
	archive->stats.err = 0;
	/* If there is no memory for the entry, the file stays, and the next daemon will find it. */
	place_add(&archive->disk, archive->copy.path, size, oldest->ended_ns, 0);
	place_drop(&archive->memory, 0);
	return true;
}

/* Checks whether the client of the next waiting ledger has ended. False if nothing is left to check in this round. */
static bool look_at_one(struct tdm_archive *archive, uint64_t real_ns)
{
	struct place *waiting = &archive->waiting;
	if (real_ns < archive->look_ns)
		return false;
	if (archive->looked >= waiting->count) {
		archive->looked = 0;
		archive->look_ns = real_ns + LOOK_NS;
		return false;
	}
	if (tdm_archive_add(archive, waiting->list[archive->looked].path) != -EBUSY)
		place_drop(waiting, archive->looked);
	else
		archive->looked++;
	return true;
}

bool tdm_archive_step(struct tdm_archive *archive, uint64_t real_ns, size_t bytes)
{
	const struct tdm_archive_options *options = &archive->options;
	if (archive->is_copying) {
		struct copy *copy = &archive->copy;
		ssize_t got = 0;
		while (got >= 0 && bytes != 0 && copy->at < copy->size) {
			got = copy_piece(copy, bytes);
			bytes -= got > 0 ? (size_t)got : 0;
		}
		return (got >= 0 && copy->at < copy->size) || end_copying(archive, got < 0 ? (int)got : 0, real_ns);
	}
	if (is_due(&archive->disk, &options->disk, real_ns)) {
		unlink(archive->disk.list[0].path);
		place_drop(&archive->disk, 0);
		archive->stats.removed++;
		return true;
	}
	bool is_waiting = real_ns < archive->retry_ns && !is_full(&archive->memory, &options->memory);
	if (is_due(&archive->memory, &options->memory, real_ns) && !is_waiting) {
		const struct entry *oldest = &archive->memory.list[0];
		int copy_err = archive->state_err;
		if (copy_err == 0)
			copy_err = copy_begin(&archive->copy, oldest->path, archive->state_dir, oldest->ended_ns);
		if (copy_err != 0)
			return note_failure(archive, copy_err, real_ns);
		archive->is_copying = true;
		return true;
	}
	return look_at_one(archive, real_ns);
}

struct tdm_archive_stats tdm_archive_get_stats(const struct tdm_archive *archive)
{
	struct tdm_archive_stats stats = archive->stats;
	stats.memory_count = archive->memory.count;
	stats.memory_bytes = archive->memory.bytes;
	stats.disk_count = archive->disk.count;
	stats.disk_bytes = archive->disk.bytes;
	stats.waiting = archive->waiting.count;
	return stats;
}
