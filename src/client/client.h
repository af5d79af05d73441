/*
 * The library's life inside somebody else's program: whether it is on, which ledger it uses, and what happens at fork
 * and exit. Everything here is in private memory.
 *
 * The writer's address is in a page that Linux wipes in a forked child. So a child finds no writer, however it was
 * made, and gets its own ledger at its first report; it does not touch its parent's ledger.
 */
#ifndef TDM_CLIENT_CLIENT_H
#define TDM_CLIENT_CLIENT_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ledger/writer.h"
#include "tidemark.h"

enum { TDM_THREAD_DEVICES = 32 };

/* The state of one thread. `busy` keeps a signal handler from entering the library while the thread is in it. */
struct tdm_thread {
	uint32_t epoch; /* the other fields must be looked up again if this differs from the page's */
	uint32_t id;    /* Linux's */
	struct tdm_wthread *record;
	struct tdm_wdevice *device;                      /* used last the long way; NULL: none */
	struct tdm_wdevice *devices[TDM_THREAD_DEVICES]; /* by their numbers; a buffer of a mesh is reported on each */
	uint32_t program;
	uint8_t busy;
	int caller_errno;                /* while busy: errno to restore for the caller */
	uintptr_t frame;                 /* while busy: the stack pointer when it entered */
	uintptr_t stack_low, stack_high; /* 0: not known yet */
};
extern _Thread_local struct tdm_thread tdm_thread __attribute__((tls_model("initial-exec")));

/* The contents of the page that is wiped on fork. */
struct tdm_live_page {
	struct tdm_writer *_Atomic writer;
	_Atomic uint32_t epoch; /* of the writer; 0: none. Thread state with a different epoch is not valid. */
	struct tdm_lock lock;   /* held while a writer is made or ended */
	_Atomic uint32_t skip;  /* reports until the next attempt to make a ledger */
	_Atomic int err;        /* of the last attempt */
	_Atomic int pid;        /* the process that has this page; 0: not known, which it is after a fork */
	uint32_t failures;
};
extern struct tdm_live_page *_Atomic tdm_live;

struct tdm_client {
	uint32_t stack_depth;        /* 0: no stacks */
	_Atomic uint64_t unrecorded; /* reports made while there was no ledger to count them */
	_Atomic uint8_t closing;     /* exit has begun: remove a ledger as soon as it has no live buffers */
	uint8_t keep;                /* TIDEMARK_KEEP: never removed */
	bool stays_loaded;           /* dlclose does not unload the library */
};
extern struct tdm_client tdm_client;

struct tdm_writer *tdm_client_writer_slow(void);
void tdm_client_renew(struct tdm_writer *writer);

/* This process's writer, made if necessary, and made anew if it was deleted. If that fails, NULL, and the report is
 * counted as unrecorded. */
static inline struct tdm_writer *tdm_client_writer(void)
{
	struct tdm_live_page *page = atomic_load_explicit(&tdm_live, memory_order_acquire);
	struct tdm_writer *writer = atomic_load_explicit(&page->writer, memory_order_acquire);
	if (__builtin_expect(writer == NULL, 0))
		return tdm_client_writer_slow();
	if (__builtin_expect(atomic_load_explicit(&writer->is_gone, memory_order_relaxed), 0))
		tdm_client_renew(writer);
	return writer;
}

/* Why there is no writer: -ENOTDIR (the directory is missing), -EACCES, -EMFILE, -ENOSPC, or another -errno. */
int tdm_client_why_no_writer(void);

/* The writer, or NULL if there is none yet. */
struct tdm_writer *tdm_client_peek(void);

/* Turns tracking on. */
int tdm_client_enable(void);
/* With TIDEMARK=auto: checks again whether a daemon is listening. */
void tdm_client_look_for_daemon(void);

/* To be called after a report while the process is exiting. */
void tdm_client_after_exit(void);

/*
 * For a thread that seems to be in the library already. True if it is not, because a signal handler jumped out of the
 * report that it was in; then nothing is left of that report. False in a handler that interrupted a report.
 */
bool tdm_thread_recover(void);

/* The long way of a report, which handles everything that a buffer can have. `frame`: of the public function, where its
 * call stack begins. */
enum tdm_client_how {
	TDM_CLIENT_ALLOC,
	TDM_CLIENT_REPLACE, /* replaces a live buffer with the same id on purpose */
	TDM_CLIENT_ADOPT,   /* allocated before the tracking began */
};
int tdm_client_report(const struct tidemark_buffer *buffer, enum tdm_client_how how, void *frame);

/* Counts a report that is not recorded, and returns `err`. */
int tdm_client_lose(enum tdm_ledger_loss loss, int err);

/* For the rarer calls: enters the library and sets the writer. 0, then tdm_client_leave() is due; or a negative code,
 * -ESHUTDOWN if tracking is off, which is not an error of the public functions. */
int tdm_client_open(struct tdm_writer **writer);
void tdm_client_leave(void);
static inline int tdm_client_off_is_fine(int err)
{
	return err == -ESHUTDOWN ? 0 : err;
}
/* The same for a report about a device; `is_valid`: its other arguments are possible. NULL: *err is the result of the
 * public function. */
struct tdm_wdevice *tdm_client_open_device(uint32_t number, bool is_valid, int *err);

/* In a forked child: resets the lock of counters and remarks. */
void tdm_reports_after_fork(void);

/* Releases the live buffers of a kind whose ids agree with `id` in the bits of `mask`. Their number, or a code. */
int64_t tdm_client_free_matching(uint32_t device, uint32_t kind, uint64_t mask, uint64_t id);

/* Fills a structure of the caller, which begins with its size and a reserved word, as far as it is large enough. */
static inline void tdm_client_fill(void *to, const void *from, size_t known)
{
	enum { HEAD = 2 * sizeof(uint32_t) };
	uint32_t size;
	memcpy(&size, to, sizeof size);
	memcpy((char *)to + HEAD, (const char *)from + HEAD, (size < known ? size : known) - HEAD);
}

/* Updates the state of the calling thread. */
void tdm_thread_refresh(struct tdm_writer *writer);

#endif
