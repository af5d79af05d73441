/*
 * What /proc says about a process: whether it runs, its owner, name, command line and start time. Tests can use another
 * root with processes of their own.
 */
#ifndef TDM_SOURCES_PROC_FACTS_H
#define TDM_SOURCES_PROC_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/describe.h"

/* Linux assigns no higher pid. */
enum { TDM_PID_MAX = 4194304, TDM_PID_LEVELS = 32 /* namespaces inside each other */ };

#define TDM_UID_UNKNOWN UINT32_MAX

struct tdm_proc_cache;

struct tdm_proc_root {
	int fd;                       /* -1: it cannot be read */
	int err;                      /* why not */
	bool is_system;               /* it is the running system's, whose processes can also be probed with kill() */
	bool has_outsiders;           /* processes that it does not show are known to run; may be set after opening */
	uint32_t uid;                 /* of the reader; set by opening, may be changed later */
	uint64_t booted_ns;           /* real-time clock; 0: unknown */
	struct tdm_proc_cache *cache; /* see proc_cache.h; borrowed, may be NULL; may be set after opening */
};

enum tdm_proc_life {
	TDM_PROC_UNKNOWN,    /* /proc is unreadable, or shows another pid namespace */
	TDM_PROC_ALIVE,      /* runs */
	TDM_PROC_OTHER_USER, /* runs, as another user than the reader */
	TDM_PROC_DEAD,       /* has ended, is a zombie, or its pid now belongs to another process */
	TDM_PROC_LIFE_COUNT
};

struct tdm_proc_facts {
	int err;                       /* 0, or why nothing else is known; -ENOENT: there is no such process */
	int text_err;                  /* 0, or why name and command line are unknown though the process exists */
	char state;                    /* Linux's letter: R, S, D, T, Z, …; '?' when unknown */
	bool is_linux_thread;          /* a kernel thread, not a process of a program */
	uint32_t uid;                  /* or TDM_UID_UNKNOWN */
	uint64_t start_time;           /* clock ticks since boot; 0: unknown */
	uint64_t started_ns;           /* real-time clock, accurate to a second or two; 0: unknown */
	char comm[TDM_COMM_CAP];       /* printable ASCII, like `command`; may be empty */
	char command[TDM_COMMAND_CAP]; /* beginning of the command line; empty for kernel threads and zombies */
};

/* What a process takes of the host. */
struct tdm_proc_use {
	char state; /* Linux's letter */
	uint64_t start_time, cpu_ns, resident_bytes;
};

/* The directory to use: `path`, else $TIDEMARK_PROC_ROOT, else /proc. Borrowed. */
const char *tdm_proc_path(const char *path);

/* Opens tdm_proc_path(path). If that fails the root is still usable: everything in it is unknown. */
void tdm_proc_root_init(struct tdm_proc_root *root, const char *path);
void tdm_proc_root_done(struct tdm_proc_root *root);

/* Converts a start time from clock ticks since boot to the real-time clock, accurate to a second or two; 0: unknown. */
uint64_t tdm_proc_started(const struct tdm_proc_root *root, uint64_t start_time);

void tdm_proc_facts_read(const struct tdm_proc_root *root, int32_t pid, struct tdm_proc_facts *facts);

/* Reads one file. 0, or a negative code; -ENOENT: there is no such process. */
int tdm_proc_use_read(const struct tdm_proc_root *root, int32_t pid, struct tdm_proc_use *use);

/*
 * Whether a process of the running system has this user id as its real, effective, saved or file system's one: 1, 0, or
 * a negative code when that is unknown; -ENOENT: there is no such process.
 */
int tdm_proc_has_user(int32_t pid, uint32_t uid);

/* Whether the process of the running system that has this pid and started then (clock ticks since boot) runs. It is
 * unknown if /proc hides it. */
enum tdm_life tdm_proc_life_of(int32_t pid, uint64_t start_time);

/* The pids of a process of the running system in the namespaces below the reader's, outermost first; at most `cap`.
 * Returns how many, 0 also when they are unknown. */
size_t tdm_proc_inner_pids(int32_t pid, int32_t *pids, size_t cap);

/*
 * Whether the process that had `pid` at the time `seen_ns` (real-time clock; 0: unknown) runs. A process that started
 * clearly later is another one, as is a kernel thread. `facts` is filled in as far as the pid can be read.
 */
enum tdm_proc_life tdm_proc_judge(
	const struct tdm_proc_root *root, int32_t pid, uint64_t seen_ns, struct tdm_proc_facts *facts);

/* A process that is known by its pid inside its own pid namespace. */
struct tdm_proc_wanted {
	int32_t pid;
	char comm[TDM_COMM_CAP]; /* empty: any */
	int32_t found;           /* out: its pid for the reader; 0: not found */
};

/*
 * Finds processes of containers: those with such a pid in a namespace below the reader's, and such a name. One pass
 * over /proc. 0, or -errno if it cannot be listed.
 */
int tdm_proc_find_nested(const struct tdm_proc_root *root, struct tdm_proc_wanted *wanted, size_t count);

#endif
