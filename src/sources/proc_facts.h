/*
 * What /proc knows about a process: whether it runs, whose it is, its name, command line and start time. The root can
 * be moved, so that tests have processes of their own making.
 */
#ifndef TDM_SOURCES_PROC_FACTS_H
#define TDM_SOURCES_PROC_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/describe.h"

/* Linux gives no higher pid. */
enum { TDM_PID_MAX = 4194304 };

#define TDM_UID_UNKNOWN UINT32_MAX

struct tdm_proc_cache;

struct tdm_proc_root {
	int fd;                       /* -1: it cannot be read */
	int err;                      /* why */
	bool is_system;               /* the running system's own: its processes may be asked with signals, too */
	bool has_outsiders;           /* processes that are not in it are known to run; may be set behind the opening */
	uint32_t uid;                 /* of the reader; set by the opening, may be changed behind it */
	uint64_t booted_ns;           /* real-time clock; 0: unknown */
	struct tdm_proc_cache *cache; /* of proc_cache.h, borrowed; NULL: none. May be set behind the opening */
};

enum tdm_proc_life {
	TDM_PROC_UNKNOWN,    /* cannot be told: /proc is unreadable, or its pids are not the ones meant */
	TDM_PROC_ALIVE,      /* runs */
	TDM_PROC_OTHER_USER, /* runs, for another user than the reader */
	TDM_PROC_DEAD,       /* has ended, or is a zombie, or its pid is another process's by now */
	TDM_PROC_LIFE_COUNT
};

struct tdm_proc_facts {
	int err;                       /* 0; or why nothing else is known: -ENOENT when there is no such process */
	int text_err;                  /* 0; or why name and command line are not known, though the process is there */
	char state;                    /* the letter of Linux: R, S, D, T, Z, …; '?' when unknown */
	bool is_linux_thread;          /* a thread of Linux itself, not a program's process */
	uint32_t uid;                  /* TDM_UID_UNKNOWN */
	uint64_t start_time;           /* clock ticks since boot; 0: unknown */
	uint64_t started_ns;           /* real-time clock, good to a second or two; 0: unknown */
	char comm[TDM_COMM_CAP];       /* printable ASCII, like the next; may be empty */
	char command[TDM_COMMAND_CAP]; /* beginning of the command line; empty for threads of Linux and zombies */
};

/* Which directory it is: `path`, else $TIDEMARK_PROC_ROOT, else /proc. Borrowed. */
const char *tdm_proc_path(const char *path);

/* Opens tdm_proc_path(path). A root that cannot be opened is one, too: everything in it is unknown. */
void tdm_proc_root_init(struct tdm_proc_root *root, const char *path);
void tdm_proc_root_done(struct tdm_proc_root *root);

/* A start time in clock ticks since boot, by the real-time clock, good to a second or two; 0: unknown. */
uint64_t tdm_proc_started(const struct tdm_proc_root *root, uint64_t start_time);

void tdm_proc_facts_read(const struct tdm_proc_root *root, int32_t pid, struct tdm_proc_facts *facts);

/*
 * Whether the process that had `pid` at the time `seen_ns` (real-time clock; 0: unknown) runs. A process that began
 * clearly later is another one, as is a thread of Linux itself. `facts` is filled as far as the pid can be looked at.
 */
enum tdm_proc_life tdm_proc_judge(
	const struct tdm_proc_root *root, int32_t pid, uint64_t seen_ns, struct tdm_proc_facts *facts);

/* A process that is known by the number it has inside its own pid namespace. */
struct tdm_proc_wanted {
	int32_t pid;
	char comm[TDM_COMM_CAP]; /* empty: any */
	int32_t found;           /* set: the pid by which the reader knows it; 0: none */
};

/*
 * Looks through all processes for ones that have such a pid in a namespace below the reader's, and such a name: a
 * container's. One pass over /proc. 0, or -errno when it cannot be listed.
 */
int tdm_proc_find_nested(const struct tdm_proc_root *root, struct tdm_proc_wanted *wanted, size_t count);

#endif
