#include "ledger/ledger_archive.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/number.h"
#include "base/reserve.h"
#include "base/str.h"
#include "ledger/archive_copy.h"
#include "ledger/ledger_file.h"
#include "ledger/ledger_list.h"
#include "ledger/ledger_reap.h"
#include "ledger/reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* After a failure, the next attempt waits for so long. */
#define RETRY_NS (60 * TDM_NS_PER_S)
/* The clients of those that nobody writes any more are looked at so often. */
#define LOOK_NS  (60 * TDM_NS_PER_S)
#define DAY_NS   (24 * UINT64_C(3600) * TDM_NS_PER_S)

const struct tdm_archive_limits tdm_archive_memory_limits = { 600 * TDM_NS_PER_S, 256, UINT64_C(64) << 20 };
const struct tdm_archive_limits tdm_archive_disk_limits = { 30 * DAY_NS, 1000, UINT64_C(1) << 30 };

struct entry {
	char *path;
	uint64_t bytes;
	uint64_t ended_ns; /* real-time clock */
};

/* The ledgers in one place, the oldest first. */
struct place {
	struct entry *list;
	size_t count, cap;
	uint64_t bytes;
};

struct tdm_archive {
	struct tdm_archive_options options;
	char state_dir[TDM_LEDGER_PATH_MAX];
	int state_err; /* why there is no place on disk; 0: there is */
	struct place memory, disk;
	struct tdm_archive_copy copy;
	bool is_copying;      /* the oldest one in memory */
	uint64_t retry_ns;    /* real-time clock */
	struct place waiting; /* ledgers whose clients live, though nobody writes them */
	size_t looked;        /* at so many of them in this round */
	uint64_t look_ns;     /* when the next round begins: real-time clock */
	struct tdm_archive_stats stats;
};

int tdm_archive_state_dir(char path[TDM_LEDGER_PATH_MAX])
{
	const char *state = secure_getenv("STATE_DIRECTORY"), *base = secure_getenv("XDG_STATE_HOME");
	const char *home = secure_getenv("HOME");
	int len = -1;
	if (state != NULL && state[0] == '/') /* there may be several, of which the first one is ours */
		len = snprintf(path, TDM_LEDGER_PATH_MAX, "%.*s", (int)strcspn(state, ":"), state);
	else if (base != NULL && base[0] == '/')
		len = snprintf(path, TDM_LEDGER_PATH_MAX, "%s/tidemark", base);
	else if (home != NULL && home[0] == '/')
		len = snprintf(path, TDM_LEDGER_PATH_MAX, "%s/.local/state/tidemark", home);
	if (len < 0)
		return -ENOENT;
	return len < TDM_LEDGER_PATH_MAX ? 0 : -ENAMETOOLONG;
}

struct tdm_archive *tdm_archive_new(const struct tdm_archive_options *options)
{
	struct tdm_archive *archive = calloc(1, sizeof *archive);
	if (archive == NULL)
		return NULL;
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
		tdm_archive_copy_end(&archive->copy);
	place_done(&archive->memory);
	place_done(&archive->disk);
	place_done(&archive->waiting);
	free(archive);
}

/* Keeps the order. One that is being copied stays the first. */
static int place_add(struct place *place, const char *path, uint64_t bytes, uint64_t ended_ns, size_t fixed)
{
	char *copy = strdup(path);
	if (copy == NULL || tdm_reserve(&place->list, &place->cap, place->count + 1, sizeof *place->list) != 0) {
		free(copy);
		return -ENOMEM;
	}
	size_t at = place->count++;
	for (; at > fixed && place->list[at - 1].ended_ns > ended_ns; at--)
		place->list[at] = place->list[at - 1];
	place->list[at] = (struct entry){ copy, bytes, ended_ns };
	place->bytes = tdm_plus(place->bytes, bytes);
	return 0;
}

static void place_drop(struct place *place, size_t i)
{
	free(place->list[i].path);
	place->bytes -= place->list[i].bytes;
	memmove(place->list + i, place->list + i + 1, (--place->count - i) * sizeof *place->list);
}

static void place_drop_first(struct place *place)
{
	place_drop(place, 0);
}

static bool has_path(const struct place *place, const char *path)
{
	for (size_t i = 0; i < place->count; i++)
		if (strcmp(place->list[i].path, path) == 0)
			return true;
	return false;
}

static bool process_has_ended(int32_t pid, uint64_t start_time)
{
	uint64_t start = tdm_ledger_start_of(pid);
	return start != 0 ? start != start_time : kill(pid, 0) != 0 && errno == ESRCH;
}

/* Whether the process that a ledger was written for has ended. In doubt it lives. */
static bool client_has_ended(const struct tdm_ledger *ledger)
{
	const struct tdm_ledger_who *who = tdm_ledger_who(ledger);
	uint8_t boot_id[16];
	struct stat ns;
	if (tdm_ledger_state(ledger) == TDM_LEDGER_CLOSED || (tdm_ledger_flags(ledger) & TDM_LEDGER_MOVED) != 0)
		return true;
	if (tdm_ledger_boot_id(boot_id) && memcmp(boot_id, who->boot_id, sizeof boot_id) != 0)
		return true;
	if (stat("/proc/self/ns/pid", &ns) != 0 || ns.st_ino != who->pid_namespace)
		return false;
	return process_has_ended(who->pid, who->start_time);
}

static uint64_t live_buffers(const struct tdm_ledger *ledger)
{
	uint64_t live = 0;
	for (size_t d = 0; d < tdm_ledger_device_count(ledger); d++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			live = tdm_plus(live, tdm_ledger_device(ledger, d)->counts[k].buffers);
	return live;
}

/*
 * The same for a ledger that cannot be read. Its name says whose it is. If the beginning is that of a ledger which a
 * program writes itself, it is not the daemon's.
 */
static int judge_damaged(const char *path, uint64_t *ended_ns)
{
	struct tdm_ledger_header header = { 0 };
	struct tdm_ledger_name name;
	struct stat st;
	int err = tdm_ledger_check_dead(path);
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

/* Checks that a ledger may be archived. *live: whether it tells something. 0 or -errno. */
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
	if ((tdm_ledger_flags(ledger) & TDM_LEDGER_ON_BEHALF) == 0)
		err = -EINVAL;
	else if (tdm_ledger_file_owner(ledger) != geteuid())
		err = -EPERM;
	else if (tdm_ledger_liveness(ledger) != TDM_DEAD || !client_has_ended(ledger))
		err = -EBUSY;
	*live = live_buffers(ledger) != 0 || tdm_ledger_refused(ledger) != 0;
	*ended_ns = tdm_ledger_noted(ledger).realtime_ns;
	tdm_ledger_close(ledger);
	return err;
}

int tdm_archive_add(struct tdm_archive *archive, const char *path)
{
	struct stat st;
	uint64_t ended_ns = 0;
	bool is_live;
	if (has_path(&archive->memory, path))
		return 0;
	int err = judge(path, &ended_ns, &is_live);
	if (err == -EAGAIN) /* its writer ended while it set it up */
		return tdm_ledger_reap(path);
	if (err != 0)
		return err;
	if (!is_live)
		return unlink(path) == 0 ? 0 : -errno;
	if (lstat(path, &st) != 0)
		return -errno;
	return place_add(&archive->memory, path, (uint64_t)st.st_blocks * 512, ended_ns, archive->is_copying);
}

/* Finding. */

struct finding {
	struct tdm_archive *archive;
	bool is_disk;
	int err;
};

static void find_entry(void *context, const struct tdm_ledger_entry *entry)
{
	struct finding *finding = context;
	struct stat st;
	int err = 0;
	if (entry->folder_err != 0 || entry->owner != geteuid())
		return;
	if (!finding->is_disk) {
		err = tdm_archive_add(finding->archive, entry->path); /* most are in use, or of other kinds */
		if (err == -EBUSY && tdm_ledger_check_dead(entry->path) == 0)
			err = place_add(&finding->archive->waiting, entry->path, 0, 0, 0);
	} else if (lstat(entry->path, &st) == 0 && S_ISREG(st.st_mode)) {
		err = place_add(&finding->archive->disk, entry->path, (uint64_t)st.st_blocks * 512,
			(uint64_t)st.st_mtim.tv_sec * TDM_NS_PER_S + (uint64_t)st.st_mtim.tv_nsec, 0);
	}
	if (err == -ENOMEM)
		finding->err = err;
}

/* Removes what a daemon has not finished that was killed. */
static void remove_unfinished(const char *state_dir)
{
	char path[TDM_LEDGER_PATH_MAX];
	int folder = tdm_ledger_open_folder(state_dir, 0600, path);
	int fd = folder >= 0 ? openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	while (stream != NULL && (entry = readdir(stream)) != NULL)
		if (tdm_has_prefix(entry->d_name, TDM_ARCHIVE_TEMP))
			unlinkat(fd, entry->d_name, 0);
	if (stream != NULL)
		closedir(stream);
	else if (fd >= 0)
		close(fd);
	if (folder >= 0)
		close(folder);
}

static int find_in(struct tdm_archive *archive, const char *dir, bool is_disk)
{
	struct finding finding = { .archive = archive, .is_disk = is_disk };
	struct tdm_ledger_search search = { .dir = dir, .each = find_entry, .context = &finding };
	int err = tdm_ledger_list(&search);
	return finding.err != 0 ? finding.err : err;
}

int tdm_archive_find(struct tdm_archive *archive)
{
	struct stat st;
	int err = find_in(archive, archive->options.dir, false);
	if (archive->state_err != 0 || stat(archive->state_dir, &st) != 0)
		return err; /* nothing was archived yet */
	remove_unfinished(archive->state_dir);
	int disk_err = find_in(archive, archive->state_dir, true);
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

/* The oldest one in memory could not be moved. If memory is full, it goes nevertheless. True: there is more to do. */
static bool note_failure(struct tdm_archive *archive, int err, uint64_t real_ns)
{
	archive->stats.failed++;
	archive->stats.err = err;
	if (err == -ENOENT && access(archive->memory.list[0].path, F_OK) != 0) { /* somebody removed it */
		place_drop_first(&archive->memory);
		return true;
	}
	archive->retry_ns = real_ns + RETRY_NS;
	if (!is_full(&archive->memory, &archive->options.memory))
		return false;
	unlink(archive->memory.list[0].path);
	place_drop_first(&archive->memory);
	archive->stats.dropped++;
	return true;
}

static bool begin_copy(struct tdm_archive *archive, uint64_t real_ns)
{
	const struct entry *oldest = &archive->memory.list[0];
	int err = archive->state_err;
	if (err == 0)
		err = tdm_archive_copy_begin(&archive->copy, oldest->path, archive->state_dir, oldest->ended_ns);
	if (err != 0)
		return note_failure(archive, err, real_ns);
	archive->is_copying = true;
	return true;
}

/* The copy is complete, or (-errno) it cannot be. True: there is more to do. */
static bool end_copying(struct tdm_archive *archive, int err, uint64_t real_ns)
{
	struct entry *oldest = &archive->memory.list[0];
	if (err == 0)
		err = tdm_archive_copy_finish(&archive->copy);
	tdm_archive_copy_end(&archive->copy);
	archive->is_copying = false;
	if (err != 0)
		return note_failure(archive, err, real_ns);
	struct stat st;
	uint64_t size = lstat(archive->copy.path, &st) == 0 ? (uint64_t)st.st_blocks * 512 : oldest->bytes;
	archive->stats.moved++;
	archive->stats.err = 0;
	/* Without memory for the entry the file stays; the next daemon finds it. */
	place_add(&archive->disk, archive->copy.path, size, oldest->ended_ns, 0);
	place_drop_first(&archive->memory);
	return true;
}

static bool go_on_copying(struct tdm_archive *archive, uint64_t real_ns, size_t bytes)
{
	int err = tdm_archive_copy_some(&archive->copy, bytes);
	return err == 1 || end_copying(archive, err, real_ns);
}

/* Looks whether the client of one of those that wait has ended. False: not before the next round. */
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
	if (archive->is_copying)
		return go_on_copying(archive, real_ns, bytes);
	if (is_due(&archive->disk, &options->disk, real_ns)) {
		unlink(archive->disk.list[0].path);
		place_drop_first(&archive->disk);
		archive->stats.removed++;
		return true;
	}
	bool is_waiting = real_ns < archive->retry_ns && !is_full(&archive->memory, &options->memory);
	if (is_due(&archive->memory, &options->memory, real_ns) && !is_waiting)
		return begin_copy(archive, real_ns);
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
