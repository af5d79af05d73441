/*
 * The library's life inside somebody else's program: when it is on, which ledger is its own, what happens at fork and
 * exit. Everything here is private memory.
 *
 * The writer's address lies in a page that Linux wipes in a forked child. So a child finds no writer, whatever way
 * it was made, and gets a ledger of its own at its first report; its parent's ledger is not touched.
 */
#ifndef TDM_CLIENT_CLIENT_H
#define TDM_CLIENT_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ledger/writer.h"

/* What is true of one thread. `busy` keeps a signal handler from entering the library while the thread is in it. */
struct tdm_thread {
	uint32_t epoch; /* of what follows; another one than the page's: to be looked up again */
	uint32_t id;    /* Linux's */
	struct tdm_wthread *record;
	struct tdm_wdevice *device; /* used last; NULL: none */
	uint32_t program;
	uint8_t busy;
	int caller_errno;                /* while busy: what the caller gets back */
	uintptr_t stack_low, stack_high; /* 0: not known yet */
};
extern _Thread_local struct tdm_thread tdm_thread __attribute__((tls_model("initial-exec")));

/* The page that is wiped on fork. */
struct tdm_live_page {
	struct tdm_writer *_Atomic writer;
	_Atomic uint32_t epoch; /* of the writer; 0: none. What threads keep about another one is not valid. */
	struct tdm_lock lock;   /* around making and ending a writer */
	_Atomic uint32_t skip;  /* reports to let pass before a ledger is tried again */
	uint32_t failures;
};
extern struct tdm_live_page *_Atomic tdm_live;

struct tdm_client {
	uint32_t stack_depth;        /* 0: no stacks */
	_Atomic uint64_t unrecorded; /* reports while there was no ledger to count them in */
	_Atomic uint8_t closing;     /* exit has begun: a ledger that becomes empty is removed at once */
	uint8_t keep;                /* TIDEMARK_KEEP: never removed */
};
extern struct tdm_client tdm_client;

struct tdm_writer *tdm_client_writer_slow(void);

/* This process's writer, made if need be; NULL when it cannot be had: the report is counted. */
static inline struct tdm_writer *tdm_client_writer(void)
{
	struct tdm_live_page *page = atomic_load_explicit(&tdm_live, memory_order_acquire);
	struct tdm_writer *writer = atomic_load_explicit(&page->writer, memory_order_acquire);
	return __builtin_expect(writer != NULL, 1) ? writer : tdm_client_writer_slow();
}

/* The writer if there is one already. */
struct tdm_writer *tdm_client_peek(void);

/* Turns tracking on. */
int tdm_client_enable(void);
/* With TIDEMARK=auto: looks again whether a daemon is there. */
void tdm_client_look_for_daemon(void);

/* After a call while the process is ending. */
void tdm_client_after_exit(void);

/* Brings what is known of the calling thread up to date. */
void tdm_thread_refresh(struct tdm_writer *writer);

#endif
