#include "live/host/proc_facts.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- small files ---- */

enum {
	TEXT_CAP = 4096,
	PIECE = 2048, /* the kernel returns a file in pieces of at most a page, each containing as many lines as fit */
};

const char *tdm_sys_place(const char *path, const char *variable, const char *usual)
{
	path = path != NULL ? path : secure_getenv(variable);
	return path != NULL && path[0] != '\0' ? path : usual;
}

int tdm_sys_dir_open(int dir_fd, const char *path)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

DIR *tdm_sys_dir_list(int dir_fd, const char *path, int *err)
{
	int fd = tdm_sys_dir_open(dir_fd, path);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (dir == NULL) {
		*err = fd >= 0 ? -errno : fd;
		if (fd >= 0)
			close(fd);
	}
	return dir;
}

int tdm_sys_file_open(int dir_fd, const char *path)
{
	struct stat st;
	int fd = openat(dir_fd, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ELOOP ? -EINVAL : -errno;
	int err = fstat(fd, &st) != 0 ? -errno : !S_ISREG(st.st_mode) ? -EINVAL : 0;
	if (err != 0)
		close(fd);
	return err != 0 ? err : fd;
}

int tdm_sys_file_read(int dir_fd, const char *path, char *dst, size_t cap)
{
	size_t len = 0;
	ssize_t got = 0;
	dst[0] = '\0';
	int fd = tdm_sys_file_open(dir_fd, path);
	if (fd < 0)
		return fd;
	/* Linux returns a long file in several pieces, of which only the last is shorter than PIECE. */
	while (len < cap - 1) {
		got = read(fd, dst + len, cap - 1 - len);
		if (got < 0 && errno == EINTR)
			continue;
		len += got > 0 ? (size_t)got : 0;
		if (got < PIECE)
			break;
	}
	int err = got < 0 ? -errno : 0;
	close(fd);
	dst[err == 0 ? len : 0] = '\0';
	return err != 0 ? err : (int)len;
}

int tdm_sys_file_text(int dir_fd, const char *path, char *dst, size_t cap)
{
	char text[TEXT_CAP];
	dst[0] = '\0';
	int got = tdm_sys_file_read(dir_fd, path, text, sizeof text);
	if (got < 0)
		return got;
	struct tdm_str s = { text, (size_t)got };
	while (s.len != 0 && (s.ptr[s.len - 1] == '\n' || s.ptr[s.len - 1] == '\0'))
		s.len--;
	tdm_str_shown(tdm_str_trim(s), dst, cap);
	return (int)strlen(dst);
}

int tdm_sys_number(const char *name, uint64_t max, uint64_t *value)
{
	uint64_t number;
	int err = tdm_str_parse_u64(tdm_str_of(name), &number);
	if (err != 0)
		return err;
	if (number > max)
		return -ERANGE;
	*value = number;
	return 0;
}

/* ---- facts kept between readings ---- */

enum { PROCESSES_MAX = 65536 };

/*
 * How long facts are kept. An exec changes the name and the command line, and a program may change its name at any
 * time.
 */
#define KEPT_NS (10 * TDM_NS_PER_S)

struct known {
	int32_t pid;
	uint64_t whole_ns;  /* round in which all facts were last read or put */
	uint64_t answer_ns; /* round in which /proc was last read; 0 before the first time */
	uint64_t wanted_ns; /* round in which it was last put or requested */
	struct tdm_proc_facts facts;
};

struct tdm_proc_cache {
	uint64_t now_ns, swept_ns;
	struct tdm_map by_pid;
	struct known *list;
	size_t count, cap;
};

struct tdm_proc_cache *tdm_proc_cache_new(void)
{
	return tdm_zalloc(1, sizeof(struct tdm_proc_cache));
}

void tdm_proc_cache_free(struct tdm_proc_cache *cache)
{
	if (cache == NULL)
		return;
	tdm_map_done(&cache->by_pid);
	free(cache->list);
	free(cache);
}

void tdm_proc_cache_round(struct tdm_proc_cache *cache, uint64_t now_ns)
{
	size_t kept = 0;
	cache->now_ns = now_ns;
	if (now_ns - cache->swept_ns < KEPT_NS)
		return;
	cache->swept_ns = now_ns;
	for (size_t i = 0; i < cache->count; i++) {
		if (now_ns - cache->list[i].wanted_ns > KEPT_NS) {
			tdm_map_take(&cache->by_pid, (uint64_t)cache->list[i].pid);
			continue;
		}
		cache->list[kept] = cache->list[i];
		tdm_map_set(&cache->by_pid, (uint64_t)cache->list[kept].pid, (uint32_t)kept);
		kept++;
	}
	cache->count = kept;
}

/* A process's entry; NULL if there is no room, which costs time but does no other harm. */
static struct known *find_or_add(struct tdm_proc_cache *cache, int32_t pid)
{
	uint32_t at = tdm_map_find(&cache->by_pid, (uint64_t)pid);
	if (at != TDM_MAP_NONE || cache->count == PROCESSES_MAX)
		return at != TDM_MAP_NONE ? &cache->list[at] : NULL;
	tdm_grow(&cache->list, &cache->cap, cache->count + 1, sizeof *cache->list);
	tdm_map_set(&cache->by_pid, (uint64_t)pid, (uint32_t)cache->count);
	cache->list[cache->count] = (struct known){ .pid = pid };
	return &cache->list[cache->count++];
}

void tdm_proc_cache_put(struct tdm_proc_cache *cache, int32_t pid, const struct tdm_proc_facts *facts, bool runs)
{
	struct known *known = find_or_add(cache, pid);
	if (known == NULL)
		return;
	/* An answer from /proc in this round takes precedence. */
	if (known->answer_ns != cache->now_ns || known->answer_ns == 0) {
		known->facts = *facts;
		known->answer_ns = runs ? cache->now_ns : 0;
	}
	known->wanted_ns = known->whole_ns = cache->now_ns;
}

/* ---- reading ---- */

enum {
	STAT_CAP = 1024,
	STATUS_CAP = 4096,
	PROC_STAT_CAP = 1 << 20, /* /proc/stat has a line for each processor before the wanted one */
	/* fields of a process's line, counted from 1 as in proc(5) */
	NAME_FIELD = 2,
	FLAGS_FIELD = 9,
	USER_TIME_FIELD = 14,
	SYSTEM_TIME_FIELD = 15,
	THREADS_FIELD = 20,
	START_FIELD = 22,
	RESIDENT_FIELD = 24,
	FIELDS = RESIDENT_FIELD + 1,
	ENTRIES_MAX = 1 << 20, /* maximum number of /proc entries to read, to limit the work */
};

/* PF_KTHREAD, in the flags of a kernel thread. */
#define LINUX_THREAD   UINT64_C(0x200000)

/* The boot time is in whole seconds and moves with the clock. */
#define START_SLACK_NS (3 * TDM_NS_PER_S)

static const char system_root[] = "/proc";

const char *tdm_proc_path(const char *path)
{
	return tdm_sys_place(path, "TIDEMARK_PROC_ROOT", system_root);
}

/* The rest of the line that begins with `key`; NULL if there is none. */
static const char *line_of(const char *text, const char *key)
{
	size_t len = strlen(key);
	for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, key, len) == 0)
			return at + len;
	}
	return NULL;
}

/* Parses leading digits; `fallback` if there are none or too many. */
static uint64_t leading_number(const char *at, uint64_t fallback)
{
	uint64_t value;
	size_t len = strspn(at, "0123456789");
	return tdm_str_parse_u64((struct tdm_str){ at, len }, &value) == 0 ? value : fallback;
}

void tdm_proc_root_init(struct tdm_proc_root *root, const char *path)
{
	path = tdm_proc_path(path);
	int fd = tdm_sys_dir_open(AT_FDCWD, path);
	*root = (struct tdm_proc_root){
		.fd = fd >= 0 ? fd : -1,
		.err = fd >= 0 ? 0 : fd,
		.is_system = strcmp(path, system_root) == 0,
		.uid = geteuid(),
	};
	if (fd < 0)
		return;
	/* The file contains only whole seconds; this machine's clocks are exact. */
	if (root->is_system) {
		root->booted_ns = tdm_clock_real_ns() - tdm_clock_read(CLOCK_BOOTTIME);
		return;
	}
	char *text = tdm_alloc(PROC_STAT_CAP);
	const char *at = tdm_sys_file_read(fd, "stat", text, PROC_STAT_CAP) > 0 ? line_of(text, "btime ") : NULL;
	uint64_t seconds = at != NULL ? leading_number(at, 0) : 0;
	root->booted_ns = seconds <= UINT32_MAX ? seconds * TDM_NS_PER_S : 0;
	free(text);
}

void tdm_proc_root_done(struct tdm_proc_root *root)
{
	if (root->fd >= 0)
		close(root->fd);
	*root = (struct tdm_proc_root){ .fd = -1, .err = -EBADF };
}

uint64_t tdm_proc_started(const struct tdm_proc_root *root, uint64_t start_time)
{
	uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK), seconds = start_time / ticks;
	if (start_time == 0 || root->booted_ns == 0 || seconds > UINT32_MAX)
		return 0;
	return root->booted_ns + seconds * TDM_NS_PER_S + start_time % ticks * TDM_NS_PER_S / ticks;
}

/* Reads the state (if present) and the fields after it; a missing field is 0. The name in parentheses may contain
 * anything, so fields are counted from its end. */
static int read_fields(int dir_fd, const char *name, char *state, uint64_t fields[FIELDS])
{
	char text[STAT_CAP];
	int got = tdm_sys_file_read(dir_fd, name, text, sizeof text);
	const char *at = got > 0 ? strrchr(text, ')') : NULL;
	memset(fields, 0, FIELDS * sizeof *fields);
	if (at == NULL)
		return got < 0 ? got : TDM_ESYNTAX;
	if (at[1] == ' ' && at[2] > ' ' && at[2] <= '~')
		*state = at[2];
	for (int i = NAME_FIELD + 1; i < FIELDS && (at = strchr(at + 1, ' ')) != NULL; i++)
		fields[i] = leading_number(at + 1, 0);
	if (*state == 'Z' && fields[THREADS_FIELD] > 1)
		*state = 'S'; /* only the first thread has ended */
	return 0;
}

static int read_stat(const struct tdm_proc_root *root, int dir_fd, const char *name, struct tdm_proc_facts *facts)
{
	uint64_t fields[FIELDS];
	int err = read_fields(dir_fd, name, &facts->state, fields);
	if (err != 0)
		return err;
	facts->is_linux_thread = (fields[FLAGS_FIELD] & LINUX_THREAD) != 0;
	facts->start_time = fields[START_FIELD];
	facts->started_ns = tdm_proc_started(root, facts->start_time);
	return 0;
}

int tdm_proc_has_user(int32_t pid, uint32_t uid)
{
	char path[32], text[STATUS_CAP];
	snprintf(path, sizeof path, "%s/%" PRId32 "/status", system_root, pid);
	int got = tdm_sys_file_read(AT_FDCWD, path, text, sizeof text);
	const char *at = got > 0 ? line_of(text, "Uid:") : NULL;
	if (at == NULL)
		return got < 0 ? got : TDM_ESYNTAX;
	for (int i = 0; i < 4; i++) {
		at += strspn(at, " \t");
		if (leading_number(at, TDM_UID_UNKNOWN) == uid)
			return 1;
		at += strspn(at, "0123456789");
	}
	return 0;
}

/* Reading a process that is just ending fails with -ESRCH instead of -ENOENT. */
static int ended(int err)
{
	return err == -ESRCH ? -ENOENT : err;
}

int tdm_proc_use_read(const struct tdm_proc_root *root, int32_t pid, struct tdm_proc_use *use)
{
	char name[24];
	uint64_t fields[FIELDS], ticks = (uint64_t)sysconf(_SC_CLK_TCK), page = (uint64_t)sysconf(_SC_PAGESIZE);
	*use = (struct tdm_proc_use){ .state = '?' };
	if (root->fd < 0 || pid <= 0)
		return root->fd < 0 ? root->err : -EINVAL;
	snprintf(name, sizeof name, "%d/stat", pid);
	int err = ended(read_fields(root->fd, name, &use->state, fields));
	use->start_time = fields[START_FIELD];
	use->cpu_ns = tdm_times(tdm_plus(fields[USER_TIME_FIELD], fields[SYSTEM_TIME_FIELD]), TDM_NS_PER_S / ticks);
	use->resident_bytes = tdm_times(fields[RESIDENT_FIELD], page);
	return err;
}

bool tdm_user_name(uint32_t uid, char *dst, size_t cap)
{
	char room[4096];
	struct passwd entry, *found = NULL;
	bool has_name = getpwuid_r((uid_t)uid, &entry, room, sizeof room, &found) == 0 && found != NULL &&
			found->pw_name[0] != '\0';
	snprintf(dst, cap, "%" PRIu32, uid);
	if (has_name)
		tdm_str_shown(tdm_str_of(found->pw_name), dst, cap);
	return has_name;
}

enum tdm_life tdm_proc_life_of(int32_t pid, uint64_t start_time)
{
	char path[32], state = '?';
	uint64_t fields[FIELDS];
	snprintf(path, sizeof path, "%s/%" PRId32 "/stat", system_root, pid);
	int err = ended(read_fields(AT_FDCWD, path, &state, fields));
	if (err == -ENOENT && kill(pid, 0) != 0 && errno == ESRCH)
		return TDM_LIFE_ENDED;
	if (err != 0)
		return TDM_LIFE_UNKNOWN;
	bool runs = fields[START_FIELD] == start_time && state != 'Z' && state != 'X';
	return runs ? TDM_LIFE_RUNS : TDM_LIFE_ENDED;
}

static void read_whole(const struct tdm_proc_root *root, int32_t pid, struct tdm_proc_facts *facts)
{
	char name[16];
	*facts = (struct tdm_proc_facts){ .state = '?', .uid = TDM_UID_UNKNOWN };
	snprintf(name, sizeof name, "%d", pid);
	int dir_fd = tdm_sys_dir_open(root->fd, name);
	if (dir_fd < 0) {
		facts->err = ended(dir_fd);
		return;
	}
	int err = read_stat(root, dir_fd, "stat", facts);
	if (ended(err) == -ENOENT && facts->start_time == 0) {
		/* The file is missing: the process ended in between (or this is an incomplete imitation of /proc). */
		int left = faccessat(root->fd, name, F_OK, 0);
		facts->err = left != 0 ? -ENOENT : 0;
	}
	char text[STATUS_CAP];
	int uid_err = tdm_sys_file_read(dir_fd, "status", text, sizeof text);
	const char *at = uid_err >= 0 ? line_of(text, "Uid:") : NULL;
	uint64_t uid = at != NULL ? leading_number(at + strspn(at, " \t"), TDM_UID_UNKNOWN) : TDM_UID_UNKNOWN;
	facts->uid = uid < TDM_UID_UNKNOWN ? (uint32_t)uid : TDM_UID_UNKNOWN;
	if (uid_err >= 0)
		uid_err = facts->uid != TDM_UID_UNKNOWN ? 0 : TDM_ESYNTAX;
	int comm_err = tdm_sys_file_text(dir_fd, "comm", facts->comm, sizeof facts->comm);
	int command_err = tdm_sys_file_read(dir_fd, "cmdline", text, sizeof text);
	size_t len = command_err > 0 ? (size_t)command_err : 0;
	while (len != 0 && text[len - 1] == '\0')
		len--;
	for (size_t i = 0; i < len; i++) /* zero bytes separate the arguments */
		if (text[i] == '\0')
			text[i] = ' ';
	tdm_str_shown((struct tdm_str){ text, len }, facts->command, sizeof facts->command);
	facts->text_err = comm_err < 0 ? ended(comm_err) : command_err < 0 ? ended(command_err) : ended(uid_err);
	close(dir_fd);
}

void tdm_proc_facts_read(const struct tdm_proc_root *root, int32_t pid, struct tdm_proc_facts *facts)
{
	struct tdm_proc_cache *cache = root->cache;
	char name[24];
	if (root->fd < 0 || pid <= 0) {
		*facts = (struct tdm_proc_facts){ .state = '?', .uid = TDM_UID_UNKNOWN };
		facts->err = root->fd < 0 ? root->err : -EINVAL;
		return;
	}
	struct known *known = cache != NULL ? find_or_add(cache, pid) : NULL;
	if (known != NULL && known->answer_ns != 0 && known->answer_ns == cache->now_ns) {
		*facts = known->facts;
		return;
	}
	/* For a known process, reads only the state, and the start time to verify that it is the same process. */
	bool is_known = known != NULL && known->facts.err == 0 && known->facts.text_err == 0 &&
			known->facts.start_time != 0 && cache->now_ns - known->whole_ns <= KEPT_NS;
	if (is_known) {
		*facts = known->facts;
		snprintf(name, sizeof name, "%d/stat", pid);
		is_known = read_stat(root, root->fd, name, facts) == 0 && facts->start_time == known->facts.start_time;
	}
	if (!is_known)
		read_whole(root, pid, facts);
	if (known == NULL)
		return;
	known->facts = *facts;
	known->answer_ns = known->wanted_ns = cache->now_ns;
	if (!is_known)
		known->whole_ns = cache->now_ns;
}

enum tdm_proc_life tdm_proc_judge(
	const struct tdm_proc_root *root, int32_t pid, uint64_t seen_ns, struct tdm_proc_facts *facts)
{
	tdm_proc_facts_read(root, pid, facts);
	if (root->fd < 0) /* there is no /proc */
		return TDM_PROC_UNKNOWN;
	if (facts->err == -ENOENT) {
		/* On the running system, /proc may hide a running process (hidepid). */
		int err = !root->is_system ? ESRCH : kill(pid, 0) == 0 ? 0 : errno;
		return err == 0                               ? TDM_PROC_ALIVE
		       : err == EPERM                         ? TDM_PROC_OTHER_USER
		       : err == ESRCH && !root->has_outsiders ? TDM_PROC_DEAD
							      : TDM_PROC_UNKNOWN;
	}
	if (facts->err != 0)
		return facts->err == -EACCES || facts->err == -EPERM ? TDM_PROC_OTHER_USER : TDM_PROC_UNKNOWN;
	if (facts->state == 'Z' || facts->state == 'X' || facts->is_linux_thread)
		return TDM_PROC_DEAD;
	if (seen_ns != 0 && facts->started_ns > START_SLACK_NS && facts->started_ns - START_SLACK_NS > seen_ns)
		return TDM_PROC_DEAD;
	return facts->uid != TDM_UID_UNKNOWN && facts->uid != root->uid ? TDM_PROC_OTHER_USER : TDM_PROC_ALIVE;
}

/* The numbers of the line "NSpid:" except the first, which is the process's pid for the reader. */
static size_t inner_pids(const char *status, int32_t *pids, size_t cap)
{
	const char *at = line_of(status, "NSpid:");
	size_t numbers = 0;
	for (; at != NULL; numbers++) {
		at += strspn(at, " \t");
		uint64_t pid = leading_number(at, UINT64_MAX);
		if (pid > TDM_PID_MAX || numbers > cap)
			break;
		if (numbers != 0)
			pids[numbers - 1] = (int32_t)pid;
		at += strspn(at, "0123456789");
	}
	return numbers != 0 ? numbers - 1 : 0;
}

size_t tdm_proc_inner_pids(int32_t pid, int32_t *pids, size_t cap)
{
	char path[32], text[STATUS_CAP];
	snprintf(path, sizeof path, "%s/%" PRId32 "/status", system_root, pid);
	return tdm_sys_file_read(AT_FDCWD, path, text, sizeof text) > 0 ? inner_pids(text, pids, cap) : 0;
}

int tdm_proc_find_nested(const struct tdm_proc_root *root, struct tdm_proc_wanted *wanted, size_t count)
{
	char path[32], text[STATUS_CAP], comm[TDM_COMM_CAP];
	int32_t pids[TDM_PID_LEVELS];
	uint64_t outer;
	for (size_t i = 0; i < count; i++)
		wanted[i].found = 0;
	int err = root->err;
	DIR *dir = root->fd >= 0 ? tdm_sys_dir_list(root->fd, ".", &err) : NULL;
	if (dir == NULL)
		return err;
	const struct dirent *entry;
	for (int n = 0; n < ENTRIES_MAX && (entry = readdir(dir)) != NULL; n++) {
		if (tdm_sys_number(entry->d_name, TDM_PID_MAX, &outer) != 0)
			continue;
		snprintf(path, sizeof path, "%u/status", (unsigned)outer);
		if (tdm_sys_file_read(root->fd, path, text, sizeof text) <= 0)
			continue;
		size_t levels = inner_pids(text, pids, TDM_PID_LEVELS);
		bool has_comm = false;
		for (size_t i = 0; levels != 0 && i < count; i++) {
			if (wanted[i].pid != pids[levels - 1] || wanted[i].found != 0)
				continue;
			if (!has_comm) {
				snprintf(path, sizeof path, "%u/comm", (unsigned)outer);
				tdm_sys_file_text(root->fd, path, comm, sizeof comm);
				has_comm = true;
			}
			if (wanted[i].comm[0] == '\0' || strcmp(wanted[i].comm, comm) == 0)
				wanted[i].found = (int32_t)outer;
		}
	}
	closedir(dir);
	return 0;
}

/* ---- control groups: the container, pod and job of a process, from the path of its group ---- */

enum { FILE_MAX = 16384, ID_DIGITS = 64, UID_CHARACTERS = 36 };

/* "<64 digits>", "docker-<64 digits>.scope", "cri-containerd-<64 digits>.scope", "libpod-<64 digits>.scope" */
static void find_container(struct tdm_str part, struct tdm_cgroup *cgroup)
{
	for (size_t i = 0, len; i + ID_DIGITS <= part.len; i += len + 1) {
		for (len = 0; i + len < part.len && isxdigit((unsigned char)part.ptr[i + len]);)
			len++;
		if (len != ID_DIGITS || (i != 0 && part.ptr[i - 1] != '-'))
			continue;
		memcpy(cgroup->container, part.ptr + i, ID_DIGITS);
		cgroup->container[ID_DIGITS] = '\0';
		return;
	}
}

/* "pod<uid>", "kubepods-burstable-pod<uid>.slice"; systemd replaces hyphens by underscores. */
static void find_pod(struct tdm_str part, struct tdm_cgroup *cgroup)
{
	for (size_t i = 0; i + 3 + UID_CHARACTERS <= part.len; i++) {
		const char *uid = part.ptr + i + 3;
		if (memcmp(part.ptr + i, "pod", 3) != 0)
			continue;
		size_t len = 0;
		while (len < UID_CHARACTERS &&
			(len == 8 || len == 13 || len == 18 || len == 23 ? uid[len] == '-' || uid[len] == '_'
									 : isxdigit((unsigned char)uid[len]) != 0))
			len++;
		if (len != UID_CHARACTERS)
			continue;
		for (size_t k = 0; k < len; k++)
			cgroup->pod[k] = uid[k] == '_' ? '-' : uid[k];
		cgroup->pod[len] = '\0';
		return;
	}
}

/* "job_123", in a group whose name begins with "slurm". */
static void find_job(struct tdm_str part, struct tdm_cgroup *cgroup)
{
	static const char prefix[] = "job_";
	size_t skip = sizeof prefix - 1, len = 0;
	if (part.len <= skip || memcmp(part.ptr, prefix, skip) != 0)
		return;
	while (skip + len < part.len && isdigit((unsigned char)part.ptr[skip + len]))
		len++;
	if (len != 0 && skip + len == part.len && len < sizeof cgroup->job) {
		memcpy(cgroup->job, part.ptr + skip, len);
		cgroup->job[len] = '\0';
	}
}

/* Cuts a string after the mark, and returns the part before it. */
static struct tdm_str take_until(struct tdm_str *text, char mark)
{
	const char *end = text->len != 0 ? memchr(text->ptr, mark, text->len) : NULL;
	struct tdm_str part = { text->ptr, end != NULL ? (size_t)(end - text->ptr) : text->len };
	*text = tdm_str_from(*text, part.len + (end != NULL));
	return part;
}

void tdm_cgroup_parse(struct tdm_str text, struct tdm_cgroup *cgroup)
{
	*cgroup = (struct tdm_cgroup){ 0 };
	while (text.len != 0) {
		struct tdm_str line = take_until(&text, '\n');
		bool is_slurm = false;
		take_until(&line, ':'); /* "0::/path", "4:memory:/path" */
		take_until(&line, ':');
		while (line.len != 0) { /* the last part that matches is the innermost one */
			struct tdm_str part = take_until(&line, '/');
			is_slurm |= tdm_str_begins(part, "slurm");
			find_container(part, cgroup);
			find_pod(part, cgroup);
			if (is_slurm)
				find_job(part, cgroup);
		}
	}
}

int tdm_cgroup_read(const char *proc, int32_t pid, struct tdm_cgroup *cgroup)
{
	char path[4096], text[FILE_MAX];
	*cgroup = (struct tdm_cgroup){ 0 };
	if (snprintf(path, sizeof path, "%s/%" PRId32 "/cgroup", proc, pid) >= (int)sizeof path)
		return -ENAMETOOLONG;
	int len = tdm_sys_file_read(AT_FDCWD, path, text, sizeof text);
	if (len >= 0)
		tdm_cgroup_parse((struct tdm_str){ text, (size_t)len }, cgroup);
	return len >= 0 ? 0 : len;
}
