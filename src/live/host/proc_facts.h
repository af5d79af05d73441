/*
 * Reads facts about processes from /proc: whether a process is running, its owner, name, command line and start time.
 * Tests can use another root directory with their own processes. Every file is hostile input: read into a bounded
 * buffer, then parsed. Repeated readers keep facts in a cache (below), so that for a known process, only one file is
 * read.
 */
#ifndef TDM_LIVE_PROC_FACTS_H
#define TDM_LIVE_PROC_FACTS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event/event.h"
#include "base/str.h"

/* Linux assigns no higher pid. */
enum { TDM_PID_MAX = 4194304, TDM_PID_LEVELS = 32 /* namespaces inside each other */ };

#define TDM_UID_UNKNOWN UINT32_MAX

struct tdm_proc_cache;

struct tdm_proc_root {
	int fd;  /* descriptor of the directory; -1 if it cannot be read */
	int err; /* 0, or why it cannot be read */
	/* it is the running system's /proc, so processes can also be probed with kill() */
	bool is_system;
	/* some running processes are known to be missing from /proc; may be set after opening */
	bool has_outsiders;
	uint32_t uid;                 /* the reader's user id; set by opening, may be changed later */
	uint64_t booted_ns;           /* real-time clock; 0 if unknown */
	struct tdm_proc_cache *cache; /* the cache described below; borrowed, may be NULL; may be set after opening */
};

enum tdm_proc_life {
	TDM_PROC_UNKNOWN,    /* /proc is unreadable, or shows another pid namespace */
	TDM_PROC_ALIVE,      /* running */
	TDM_PROC_OTHER_USER, /* running as a user other than the reader */
	TDM_PROC_DEAD,       /* ended, is a zombie, or its pid was reused */
	TDM_PROC_LIFE_COUNT
};

struct tdm_proc_facts {
	int err;                       /* 0, or why nothing else is known; -ENOENT: there is no such process */
	int text_err;                  /* 0, or why name and command line are unknown although the process exists */
	char state;                    /* the letter that Linux uses: R, S, D, T, Z, …; '?' if unknown */
	bool is_linux_thread;          /* a kernel thread, not a program's process */
	uint32_t uid;                  /* or TDM_UID_UNKNOWN */
	uint64_t start_time;           /* clock ticks since boot; 0 if unknown */
	uint64_t started_ns;           /* real-time clock, accurate to a second or two; 0 if unknown */
	char comm[TDM_COMM_CAP];       /* printable ASCII, like `command`; may be empty */
	char command[TDM_COMMAND_CAP]; /* beginning of the command line; empty for kernel threads and zombies */
};

/* A process's use of the host's resources. */
struct tdm_proc_use {
	char state; /* Linux's letter */
	uint64_t start_time, cpu_ns, resident_bytes;
};

/* The directory to use: `path`, else $TIDEMARK_PROC_ROOT, else /proc. Borrowed. */
const char *tdm_proc_path(const char *path);

/* Opens tdm_proc_path(path). If that fails, the root is still usable, but everything in it is unknown. */
void tdm_proc_root_init(struct tdm_proc_root *root, const char *path);
void tdm_proc_root_done(struct tdm_proc_root *root);

/* Converts a start time from clock ticks since boot to the real-time clock, accurate to a second or two; 0 if unknown.
 */
uint64_t tdm_proc_started(const struct tdm_proc_root *root, uint64_t start_time);

void tdm_proc_facts_read(const struct tdm_proc_root *root, int32_t pid, struct tdm_proc_facts *facts);

/* Reads one file. 0, or a negative code; -ENOENT: there is no such process. */
int tdm_proc_use_read(const struct tdm_proc_root *root, int32_t pid, struct tdm_proc_use *use);

/*
 * Whether this is the real, effective, saved or file system user id of a process on the running system: 1, 0, or a
 * negative code if unknown; -ENOENT: there is no such process.
 */
int tdm_proc_has_user(int32_t pid, uint32_t uid);

/* Stores the user's name, printable, or else the number. Returns whether there is a name. */
bool tdm_user_name(uint32_t uid, char *dst, size_t cap);

/* Whether the process with this pid and start time (clock ticks since boot) is running on this system. Unknown if
 * /proc hides it. */
enum tdm_life tdm_proc_life_of(int32_t pid, uint64_t start_time);

/* The pids of a process on the running system in the namespaces below the reader's, outermost first; at most `cap`.
 * Returns their number; 0 also if unknown. */
size_t tdm_proc_inner_pids(int32_t pid, int32_t *pids, size_t cap);

/*
 * Whether the process that had `pid` at the time `seen_ns` (real-time clock; 0 if unknown) is still running. A process
 * that clearly started later is a different process, and so is a kernel thread. Fills in `facts` if the pid can be
 * read.
 */
enum tdm_proc_life tdm_proc_judge(
	const struct tdm_proc_root *root, int32_t pid, uint64_t seen_ns, struct tdm_proc_facts *facts);

/* A process known by its pid inside its own pid namespace. */
struct tdm_proc_wanted {
	int32_t pid;
	char comm[TDM_COMM_CAP]; /* empty for any name */
	int32_t found;           /* result: the process's pid as the reader sees it; 0 if not found */
};

/*
 * Finds processes in containers, by name and by pid in a namespace below the reader's, in one pass over /proc. 0, or
 * -errno if /proc cannot be listed.
 */
int tdm_proc_find_nested(const struct tdm_proc_root *root, struct tdm_proc_wanted *wanted, size_t count);

/*
 * ---- control groups ----
 *
 * The container, pod and job of a process, if the path of its control group names them.
 */

struct tdm_cgroup {
	char container[65]; /* the id of a container of Docker, containerd, CRI-O or Podman; empty if none is named */
	char pod[40];       /* the uid of a Kubernetes pod, with hyphens */
	char job[24];       /* the number of a Slurm job */
};

/* `text`: the content of /proc/PID/cgroup. The process cannot write that file, but groups may have any name. */
void tdm_cgroup_parse(struct tdm_str text, struct tdm_cgroup *cgroup);

/* Reads the file of a process below `proc` (as returned by tdm_proc_path()). 0, or -errno with everything left
 * empty. */
int tdm_cgroup_read(const char *proc, int32_t pid, struct tdm_cgroup *cgroup);

/*
 * ---- facts kept between readings ----
 *
 * Remembers facts about processes for repeated readers. A process with the same pid and start time is the same process,
 * so only its state and start time are read each time, and the rest now and then. All queries about a process in one
 * round get the same answer. Not thread-safe.
 */

struct tdm_proc_cache *tdm_proc_cache_new(void);
void tdm_proc_cache_free(struct tdm_proc_cache *cache); /* NULL is allowed */

/* Begins a round at this time of the monotonic clock. Forgets processes that were not requested recently. */
void tdm_proc_cache_round(struct tdm_proc_cache *cache, uint64_t now_ns);

/*
 * Adds reliable facts from another source about the process with this pid and the facts' start time. `runs`: it is also
 * certain that the process has not ended, so /proc need not be read in this round.
 */
void tdm_proc_cache_put(struct tdm_proc_cache *cache, int32_t pid, const struct tdm_proc_facts *facts, bool runs);

/*
 * ---- small files ----
 *
 * Reads the small text files of sysfs and procfs, each as a whole into a buffer that the caller provides. Only regular
 * files are read, so a FIFO or a symbolic link in their place can neither block nor mislead a reader.
 */

/* The folder to use: `path`, else the value of the environment variable, else `usual`. The result is borrowed. */
const char *tdm_sys_place(const char *path, const char *variable, const char *usual);

/* Opens a directory, following symbolic links, because sysfs classes consist of them. Returns a descriptor or
 * -errno. */
int tdm_sys_dir_open(int dir_fd, const char *path);

/* Like tdm_sys_dir_open(), for reading the directory's entries; close it with closedir(). NULL with *err set to
 * -errno. */
DIR *tdm_sys_dir_list(int dir_fd, const char *path, int *err);

/* Opens a regular file for reading. A descriptor, -errno, or -EINVAL for a symbolic link or anything else. */
int tdm_sys_file_open(int dir_fd, const char *path);

/*
 * Reads the beginning of a file, up to cap - 1 bytes, and terminates it. Keeps trailing blanks and newlines. Returns
 * the number of bytes, or a negative code as for tdm_sys_file_open.
 */
int tdm_sys_file_read(int dir_fd, const char *path, char *dst, size_t cap);

/* Like tdm_sys_file_read(), but trims blanks and newlines and makes the text printable (see tdm_str_shown()). */
int tdm_sys_file_text(int dir_fd, const char *path, char *dst, size_t cap);

/* Parses decimal digits, such as the name of a card or a process. 0, TDM_ESYNTAX, or -ERANGE above `max`. */
int tdm_sys_number(const char *name, uint64_t max, uint64_t *value);

#endif
