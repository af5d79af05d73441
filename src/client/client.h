/*
 * The library inside somebody else's program: whether tracking is on, which ledger is used, and the handling of fork
 * and exit. All this state is in private memory.
 *
 * The writer's address is in a page that Linux wipes in a forked child. So a child, however it was made, finds no
 * writer and gets its own ledger at its first report. A child never touches its parent's ledger.
 */
#ifndef TDM_CLIENT_CLIENT_H
#define TDM_CLIENT_CLIENT_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ledger/write/writer.h"
#include "tidemark.h"

enum { TDM_THREAD_DEVICES = 32 };

/* The state of one thread. `busy` keeps a signal handler from entering the library while the thread is in it. */
struct tdm_thread {
	uint32_t epoch; /* if this differs from the page's epoch, the other fields must be looked up again */
	uint32_t id;    /* Linux's thread id */
	struct tdm_wthread *record;
	struct tdm_wdevice *device;                      /* device last used by the slow path; NULL if there is none */
	struct tdm_wdevice *devices[TDM_THREAD_DEVICES]; /* devices by number; meshes report a buffer on each device */
	uint32_t program;
	uint8_t busy;
	int caller_errno;                /* while busy: errno to restore for the caller */
	uintptr_t frame;                 /* while busy: the stack pointer on entry */
	uintptr_t stack_low, stack_high; /* the thread's stack; 0 if not known yet */
};
extern _Thread_local struct tdm_thread tdm_thread __attribute__((tls_model("initial-exec")));

/* The contents of the page that Linux wipes on fork. */
struct tdm_live_page {
	struct tdm_writer *_Atomic writer;
	/* epoch of the writer; 0 if there is none. Thread state with a different epoch is invalid. */
	_Atomic uint32_t epoch;
	struct tdm_lock lock;  /* held while a writer is made or ended */
	_Atomic uint32_t skip; /* reports to skip before the next attempt to make a ledger */
	_Atomic int err;       /* why the last attempt failed */
	_Atomic int pid;       /* the process owning this page; 0 if unknown, as after a fork */
	uint32_t failures;
};
extern struct tdm_live_page *_Atomic tdm_live;

struct tdm_client {
	uint32_t stack_depth;        /* number of frames to keep; 0 if stacks are not kept */
	_Atomic uint64_t unrecorded; /* reports made while there was no ledger to count them */
	_Atomic uint8_t closing;     /* exit has begun: remove a ledger as soon as it has no live buffers */
	uint8_t keep;                /* set by TIDEMARK_KEEP: the ledger is never removed */
	bool stays_loaded;           /* dlclose does not unload the library */
};
extern struct tdm_client tdm_client;

/* This process's writer, made if necessary. Recreates the writer's file if it was deleted, and registers the calling
 * thread. NULL on failure; the report then counts as unrecorded. */
struct tdm_writer *tdm_client_writer(void);

/* Why there is no writer: -ENOTDIR (the directory is missing), -EACCES, -EMFILE, -ENOSPC, or another -errno. */
int tdm_client_why_no_writer(void);

/* The writer, or NULL if there is none yet. */
struct tdm_writer *tdm_client_peek(void);

/* Turns tracking on. */
int tdm_client_enable(void);
/* With TIDEMARK=auto: checks again whether a daemon is listening. */
void tdm_client_look_for_daemon(void);

/* Called after each report while the process is exiting. */
void tdm_client_after_exit(void);

/*
 * For a thread that seems to be inside the library already. True if the thread is outside after all, because a signal
 * handler jumped out of its report; that report is then cleaned up. False in a handler that interrupted a report.
 */
bool tdm_thread_recover(void);

/* In a forked child: resets the lock of counters and remarks. */
void tdm_reports_after_fork(void);

/* Copies a result to a caller's structure, which begins with its size and a reserved word; copies as many bytes as
 * fit. */
static inline void tdm_client_fill(void *to, const void *from, size_t known)
{
	enum { HEAD = 2 * sizeof(uint32_t) };
	uint32_t size;
	memcpy(&size, to, sizeof size);
	memcpy((char *)to + HEAD, (const char *)from + HEAD, (size < known ? size : known) - HEAD);
}

/* ---- call stacks of reports (client.c): taken here, symbolised by the ledger's readers ---- */

/* Takes the caller's stack, innermost frame first, at most `depth` frames, starting at the function with this `frame`.
 * Returns the blob number, or 0 on failure. */
uint32_t tdm_stack_take(struct tdm_writer *writer, uint32_t depth, void *frame);

/* Whether the address is in a caller's frame on the stack that this thread is using. */
bool tdm_stack_has(uintptr_t address);

/* Stores a stack that the caller provides. Returns the blob number, or 0. */
uint32_t tdm_stack_put(struct tdm_writer *writer, const uint64_t *frames, uint32_t count);

/* Whether every text frame has the number of a text in this ledger or an earlier one. */
bool tdm_stack_is_valid(struct tdm_writer *writer, const uint64_t *frames, uint32_t count);

/* ---- the Python part of a call stack (python.c) ---- */

/* Whether the process has an interpreter. Looks for it at the first call, and again after tdm_python_look_again(). */
bool tdm_python_is_here(void);

/* To be called when new libraries were loaded, one of which may be an interpreter. */
void tdm_python_look_again(void);

/* In a forked child: stops looking for an interpreter. */
void tdm_python_after_fork(void);

/*
 * Puts this thread's Python frames into its C frames, each in place of the interpreter call that runs it, and removes
 * the interpreter's own frames. `is_exact`: the walk skipped no frame. Returns the new number of frames, at most the
 * larger of `count` and `depth`; both are at most TDM_PYTHON_JOINED_MAX. Nothing changes if the thread runs no Python
 * code, or if a signal handler may have interrupted the interpreter. If the frames cannot be read, a single frame
 * reports this.
 */
enum { TDM_PYTHON_JOINED_MAX = 256 };
uint32_t tdm_python_join(struct tdm_writer *writer, uint64_t *frames, uint32_t count, uint32_t depth, bool is_exact);

/*
 * ---- the phase tracker (tracker.c) ----
 *
 * Sums the reports between two snapshots. Its public side is tidemark_capture_*() in tidemark.h; the client passes it
 * every event while a session is active.
 */

/* Reasons for reports to take the slow path; 0 if there is none. The tracker's mode is in the lowest bits. */
enum {
	TDM_TRACKER_NONE = 0,
	TDM_TRACKER_NORMAL = 1,
	TDM_TRACKER_NO_DISPATCH = 2,
	TDM_TRACKER_MODES = 3,
	TDM_RARE_STACKS = 4, /* stacks are kept */
	TDM_RARE_EXIT = 8,   /* exit has begun */
	TDM_RARE_GONE = 16,  /* the ledger was deleted */
	TDM_RARE_TRACE = 32, /* a captured trace exists */
};
extern _Atomic unsigned char tdm_rare;

enum {
	TDM_TRACKER_SEGMENT_MAX = 65536,   /* segments kept until the next clear */
	TDM_TRACKER_NAME_MAX = 256 * 1024, /* bytes in a name, including its terminator */
};

/* The current mode: TDM_TRACKER_*. In mode TDM_TRACKER_NONE, the two functions below need not be called. */
static inline unsigned tdm_tracker_mode(void)
{
	return atomic_load_explicit(&tdm_rare, memory_order_acquire) & TDM_TRACKER_MODES;
}

/*
 * Report one event, from any thread: the kind (enum tidemark_kind), the requested size, the bytes in one bank or core.
 * Views do not count. These functions wait only for each other, so the caller may hold the client's locks.
 */
void tdm_tracker_alloc(uint32_t kind, uint64_t asked, uint64_t bank_bytes, bool is_view);
void tdm_tracker_free(uint32_t kind, uint64_t asked, uint64_t bank_bytes, bool is_view);

/*
 * The number of events missing from all segments because signal handlers that had interrupted the tracker reported
 * them.
 */
uint64_t tdm_tracker_missed(void);

/* For a thread that jumped out of a report: releases the tracker's lock. */
void tdm_tracker_abandon(void);

/* In a forked child: resets to no session, no segments, no lock held. */
void tdm_tracker_after_fork(void);

/* Before the library is unloaded: frees everything. */
void tdm_tracker_unload(void);

/* Appends a finished segment to the ledger; copies `name` and fills in the end and `dram_now`. The tracker calls this
 * and tdm_client_enable() while it holds no lock that tdm_tracker_alloc() or tdm_tracker_free() takes. */
int tdm_client_put_phase(const struct tdm_ledger_phase *phase, const char *name);

#endif
