/*
 * The processes that report on the socket. Each has a ledger, which the daemon writes on its behalf from its first
 * allocation on. The ledger is the only place that knows a client's buffers; here are only their sums for each device,
 * so that a query needs no walk over the clients.
 *
 * A client is a process: its pid and start time come from the kernel, and a pidfd tells when it ends. It may have
 * several connections, and none: a closed connection releases nothing while the process lives.
 */
#ifndef TDM_DAEMON_CLIENTS_H
#define TDM_DAEMON_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"
#include "base/map.h"
#include "daemon/loop.h"
#include "daemon/sums.h"
#include "ledger/layout.h"
#include "sources/proc_facts.h"

struct tdm_connection;
struct tdm_clients;

/* The kinds of a kernel, as messages number them; their names are the names of the buffers in the ledger. */
enum { TDM_KERNEL_TYPES = 4 };
extern const char *const tdm_kernel_types[TDM_KERNEL_TYPES]; /* the last is for all other numbers */

struct tdm_client {
	struct tdm_clients *all;
	struct tdm_watch life; /* the pidfd; -1: there is none, and a timer looks */
	int32_t pid;
	uint32_t uid;
	uint64_t start;                   /* clock ticks since boot; 0: unknown */
	int32_t claim;                    /* the process id in its messages, if it is another one; 0: none */
	bool is_over;                     /* its process has ended */
	bool is_counting;                 /* its ids are no addresses, but numbers */
	uint32_t retry;                   /* allocations to refuse before trying to make the ledger again */
	int retry_err;                    /* why it could not be made, -errno */
	uint32_t names[TDM_KERNEL_TYPES]; /* of kernels: blob numbers; 0: not stored yet */
	struct tdm_writer *writer;        /* NULL: no allocation yet */
	struct tdm_wthread *self;
	struct tdm_wdevice *latest; /* the device of its latest report; NULL: none yet */
	uint32_t latest_sum;        /* its place in the sums */
	struct tdm_connection *connections;
	uint32_t index; /* in the list of all */
};

/* What was not done, and what is suspicious. */
struct tdm_clients_counters {
	uint64_t allocations, releases;
	uint64_t replaced;        /* allocated again while live: the old buffer counts as released */
	uint64_t unknown;         /* releases of buffers that are not live */
	uint64_t ambiguous;       /* releases of an id that buffers of several kinds had: the newest was released */
	uint64_t refused_device;  /* a device number below 0, or one more than a ledger has room for */
	uint64_t refused_invalid; /* a size or a kind that no device has */
	uint64_t refused_space;   /* no room for the ledger, or no memory */
	uint64_t refused_nobody;  /* the sender's process is unknown or has ended */
	uint64_t died, leaked_buffers, leaked_bytes; /* clients that ended, and what they left */
	uint64_t resumed;                            /* ledgers that an earlier daemon left */
};

struct tdm_clients {
	struct tdm_loop *loop;
	const char *dir;
	uint32_t mode; /* permissions of ledgers */
	struct tdm_proc_root proc;
	struct tdm_map by_process; /* from pid and start time to an index of `list` */
	struct tdm_client **list;
	size_t cap, count;
	size_t unwatched; /* clients without a pidfd */
	struct tdm_sums sums;
	struct tdm_timer look;         /* at clients without a pidfd */
	struct tdm_ledger_clock began; /* for the rate of the time stamp counter */
	struct tdm_clients_counters counters;
	/* Called when a process has ended, before what it left is counted: its connections may still have bytes. */
	void (*ending)(void *context, struct tdm_client *client);
	/* Called after that, when nobody can report for it any more, and it leaves buffers. */
	void (*left)(void *context, const struct tdm_client *client);
	/* Called when its ledger, which has buffers, is not written any more. */
	void (*buried)(void *context, const char *path);
	void *context;
};

/* 0 or -errno. The functions and their context may be set afterwards. */
int tdm_clients_init(struct tdm_clients *clients, struct tdm_loop *loop, const char *dir);
void tdm_clients_done(struct tdm_clients *clients); /* the ledgers stay */

/* Goes on with the ledgers that an earlier daemon left. */
void tdm_clients_resume(struct tdm_clients *clients);

/* The start time of a process; 0: unknown. */
uint64_t tdm_clients_start_of(const struct tdm_clients *clients, int32_t pid);

/* The client with this identity; NULL: there is none. */
struct tdm_client *tdm_clients_find(const struct tdm_clients *clients, int32_t pid, uint64_t start);

/* The same, made if necessary. NULL when out of memory, or if the process is not known. */
struct tdm_client *tdm_clients_get(struct tdm_clients *clients, int32_t pid, uint32_t uid, uint64_t start);

/* A connection of the client has ended, perhaps because the process has. */
void tdm_client_hint(struct tdm_client *client);

/* What a message has done. */
struct tdm_change {
	enum tdm_kind kind;
	uint64_t bytes;     /* of the buffer */
	uint64_t old_bytes; /* of the one that it replaced */
	bool has_replaced;
	bool is_ambiguous; /* buffers of several kinds had the id */
	unsigned kernel_type;
	uint64_t sum; /* of the kind on this device, afterwards */
};

/*
 * Reports of a client. `kinds` of a release is the set of kinds that it may mean. 0; -ENOENT: no such buffer; -ENODEV:
 * the device is refused; -EINVAL: an absurd size; -ENOSPC, -ENOMEM: no room; -ESRCH: nobody is known to have sent it.
 * Everything is counted. `more` of an allocation: of a kernel its type, of a circular buffer the number of cores that
 * have it (0: unknown), else 0.
 */
int tdm_client_alloc(struct tdm_client *client, int32_t device, enum tdm_kind kind, uint64_t id, uint64_t bytes,
	uint32_t more, struct tdm_change *change);
int tdm_client_free(struct tdm_client *client, int32_t device, uint32_t kinds, uint64_t id, struct tdm_change *change);

/* The type of a kernel: an index of tdm_kernel_types. `name`: as in its buffer. */
static inline unsigned tdm_client_kernel_type(const struct tdm_client *client, uint32_t name)
{
	unsigned type = 0;
	while (type < TDM_KERNEL_TYPES - 1 && (name == 0 || name != client->names[type]))
		type++;
	return type;
}

/* After a batch of reports: makes a deleted ledger anew. */
void tdm_client_settle(struct tdm_client *client);

/* Calls `each` for the live buffers of a client on a device, until it returns false. */
void tdm_client_each(const struct tdm_client *client, uint32_t device,
	bool (*each)(void *context, const struct tdm_client *client, const struct tdm_ledger_slot *slot,
		const struct tdm_ledger_more *more),
	void *context);

/* What a client has of a kind, on one device or (-1) on all. */
void tdm_client_count(
	const struct tdm_client *client, int64_t device, enum tdm_kind kind, uint64_t *buffers, uint64_t *bytes);

#endif
