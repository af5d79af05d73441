#include "sources/proc_facts.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/number.h"
#include "sources/sys_file.h"
#include "sources/proc_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	STAT_CAP = 1024,
	STATUS_CAP = 4096,
	PROC_STAT_CAP = 1 << 20, /* has a line for each processor before the wanted one */
	/* fields of a process's line, counted from 1 as in proc(5) */
	NAME_FIELD = 2,
	FLAGS_FIELD = 9,
	USER_TIME_FIELD = 14,
	SYSTEM_TIME_FIELD = 15,
	THREADS_FIELD = 20,
	START_FIELD = 22,
	RESIDENT_FIELD = 24,
	FIELDS = RESIDENT_FIELD + 1,
	ENTRIES_MAX = 1 << 20, /* of the directory: bounds the work */
};

/* PF_KTHREAD, in the flags of a kernel thread. */
#define LINUX_THREAD   UINT64_C(0x200000)

/* The boot time has whole seconds and moves with the clock. */
#define START_SLACK_NS (3 * TDM_NS_PER_S)

static const char system_root[] = "/proc";

const char *tdm_proc_path(const char *path)
{
	if (path == NULL)
		path = secure_getenv("TIDEMARK_PROC_ROOT");
	return path != NULL && path[0] != '\0' ? path : system_root;
}

/* The text after `key` at the beginning of a line; NULL if no line begins with it. */
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

/* Digits up to the first other byte; `fallback` when there are none or too many. */
static uint64_t leading_number(const char *at, uint64_t fallback)
{
	uint64_t value;
	size_t len = strspn(at, "0123456789");
	return tdm_str_parse_u64((struct tdm_str){ at, len }, &value) == 0 ? value : fallback;
}

/* The file has whole seconds; the clocks of this machine are exact. */
static uint64_t read_boot_time(const struct tdm_proc_root *root)
{
	if (root->is_system)
		return tdm_clock_real_ns() - tdm_clock_read(CLOCK_BOOTTIME);
	uint64_t seconds = 0;
	char *text = malloc(PROC_STAT_CAP);
	if (text != NULL && tdm_sys_file_read(root->fd, "stat", text, PROC_STAT_CAP) > 0) {
		const char *at = line_of(text, "btime ");
		seconds = at != NULL ? leading_number(at, 0) : 0;
	}
	free(text);
	return seconds <= UINT32_MAX ? seconds * TDM_NS_PER_S : 0;
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
	if (fd >= 0)
		root->booted_ns = read_boot_time(root);
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

/* Reads the state, unless there is none, and the fields after it; a missing one is 0. The name in parentheses may
 * contain anything, so fields are counted from its end. */
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
		*state = 'S'; /* only its first thread has ended */
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

static int read_uid(int dir_fd, struct tdm_proc_facts *facts)
{
	char text[STATUS_CAP];
	int got = tdm_sys_file_read(dir_fd, "status", text, sizeof text);
	if (got < 0)
		return got;
	const char *at = line_of(text, "Uid:");
	uint64_t uid = at != NULL ? leading_number(at + strspn(at, " \t"), TDM_UID_UNKNOWN) : TDM_UID_UNKNOWN;
	facts->uid = uid < TDM_UID_UNKNOWN ? (uint32_t)uid : TDM_UID_UNKNOWN;
	return facts->uid != TDM_UID_UNKNOWN ? 0 : TDM_ESYNTAX;
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

/* Zero bytes separate the arguments. */
static int read_command(int dir_fd, struct tdm_proc_facts *facts)
{
	char text[STATUS_CAP];
	int got = tdm_sys_file_read(dir_fd, "cmdline", text, sizeof text);
	if (got < 0)
		return got;
	struct tdm_str s = { text, (size_t)got };
	while (s.len != 0 && s.ptr[s.len - 1] == '\0')
		s.len--;
	for (size_t i = 0; i < s.len; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	tdm_str_shown(s, facts->command, sizeof facts->command);
	return 0;
}

/* A process that ends while it is read gives -ESRCH instead of -ENOENT. */
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
		/* The directory has no such file: the process ended in between (or this is a poor imitation of /proc).
		 */
		int left = faccessat(root->fd, name, F_OK, 0);
		facts->err = left != 0 ? -ENOENT : 0;
	}
	int uid_err = read_uid(dir_fd, facts);
	int comm_err = tdm_sys_file_text(dir_fd, "comm", facts->comm, sizeof facts->comm);
	int command_err = read_command(dir_fd, facts);
	facts->text_err = comm_err < 0 ? ended(comm_err) : command_err < 0 ? ended(command_err) : 0;
	if (facts->text_err == 0 && uid_err < 0)
		facts->text_err = ended(uid_err);
	close(dir_fd);
}

/* For a known process, only checks that it is still the same, and reads its state. */
static bool read_again(const struct tdm_proc_root *root, int32_t pid, struct tdm_proc_facts *facts)
{
	const struct tdm_proc_facts *known = tdm_proc_cache_known(root->cache, pid);
	char name[24];
	if (known == NULL)
		return false;
	*facts = *known;
	snprintf(name, sizeof name, "%d/stat", pid);
	return read_stat(root, root->fd, name, facts) == 0 && facts->start_time == known->start_time;
}

void tdm_proc_facts_read(const struct tdm_proc_root *root, int32_t pid, struct tdm_proc_facts *facts)
{
	if (root->fd < 0 || pid <= 0) {
		*facts = (struct tdm_proc_facts){ .state = '?', .uid = TDM_UID_UNKNOWN };
		facts->err = root->fd < 0 ? root->err : -EINVAL;
		return;
	}
	const struct tdm_proc_facts *answer = root->cache != NULL ? tdm_proc_cache_answer(root->cache, pid) : NULL;
	if (answer != NULL) {
		*facts = *answer;
		return;
	}
	bool again = root->cache != NULL && read_again(root, pid, facts);
	if (!again)
		read_whole(root, pid, facts);
	if (root->cache != NULL)
		tdm_proc_cache_keep(root->cache, pid, facts, !again);
}

/* /proc does not show the process; on the running system it may be hidden there (hidepid) and still run. */
static enum tdm_proc_life judge_missing(const struct tdm_proc_root *root, int32_t pid)
{
	enum tdm_proc_life gone = root->has_outsiders ? TDM_PROC_UNKNOWN : TDM_PROC_DEAD;
	if (!root->is_system)
		return gone;
	if (kill(pid, 0) == 0)
		return TDM_PROC_ALIVE;
	return errno == EPERM ? TDM_PROC_OTHER_USER : errno == ESRCH ? gone : TDM_PROC_UNKNOWN;
}

enum tdm_proc_life tdm_proc_judge(
	const struct tdm_proc_root *root, int32_t pid, uint64_t seen_ns, struct tdm_proc_facts *facts)
{
	tdm_proc_facts_read(root, pid, facts);
	if (root->fd < 0) /* there is no /proc to ask */
		return TDM_PROC_UNKNOWN;
	if (facts->err == -ENOENT)
		return judge_missing(root, pid);
	if (facts->err != 0)
		return facts->err == -EACCES || facts->err == -EPERM ? TDM_PROC_OTHER_USER : TDM_PROC_UNKNOWN;
	if (facts->state == 'Z' || facts->state == 'X' || facts->is_linux_thread)
		return TDM_PROC_DEAD;
	if (seen_ns != 0 && facts->started_ns > START_SLACK_NS && facts->started_ns - START_SLACK_NS > seen_ns)
		return TDM_PROC_DEAD;
	return facts->uid != TDM_UID_UNKNOWN && facts->uid != root->uid ? TDM_PROC_OTHER_USER : TDM_PROC_ALIVE;
}

/* The numbers of the line "NSpid:" after the first, which is the reader's own pid for the process. */
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

/* The pid in the innermost namespace; 0: the reader's. */
static int32_t nested_pid(const char *status)
{
	int32_t pids[TDM_PID_LEVELS];
	size_t count = inner_pids(status, pids, TDM_PID_LEVELS);
	return count != 0 ? pids[count - 1] : 0;
}

size_t tdm_proc_inner_pids(int32_t pid, int32_t *pids, size_t cap)
{
	char path[32], text[STATUS_CAP];
	snprintf(path, sizeof path, "%s/%" PRId32 "/status", system_root, pid);
	return tdm_sys_file_read(AT_FDCWD, path, text, sizeof text) > 0 ? inner_pids(text, pids, cap) : 0;
}

static void match_nested(int proc_fd, const char *name, struct tdm_proc_wanted *wanted, size_t count)
{
	char path[32], text[STATUS_CAP], comm[TDM_COMM_CAP];
	uint64_t outer;
	if (tdm_sys_number(name, TDM_PID_MAX, &outer) != 0)
		return;
	snprintf(path, sizeof path, "%u/status", (unsigned)outer);
	if (tdm_sys_file_read(proc_fd, path, text, sizeof text) <= 0)
		return;
	int32_t pid = nested_pid(text);
	bool has_comm = false;
	for (size_t i = 0; pid != 0 && i < count; i++) {
		if (wanted[i].pid != pid || wanted[i].found != 0)
			continue;
		if (!has_comm) {
			snprintf(path, sizeof path, "%u/comm", (unsigned)outer);
			tdm_sys_file_text(proc_fd, path, comm, sizeof comm);
			has_comm = true;
		}
		if (wanted[i].comm[0] == '\0' || strcmp(wanted[i].comm, comm) == 0)
			wanted[i].found = (int32_t)outer;
	}
}

int tdm_proc_find_nested(const struct tdm_proc_root *root, struct tdm_proc_wanted *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++)
		wanted[i].found = 0;
	if (root->fd < 0)
		return root->err;
	int err;
	DIR *dir = tdm_sys_dir_list(root->fd, ".", &err);
	if (dir == NULL)
		return err;
	const struct dirent *entry;
	for (int i = 0; i < ENTRIES_MAX && (entry = readdir(dir)) != NULL; i++)
		match_nested(root->fd, entry->d_name, wanted, count);
	closedir(dir);
	return 0;
}
