/*
 * The processes that report on the socket. The daemon writes a ledger on behalf of each process, starting with the
 * first allocation. A client's buffers are recorded only in the client's ledger. This module keeps only the sums for
 * each device, so that a query does not have to go through all clients.
 *
 * A client is a process: its pid and start time come from the kernel, and a pidfd signals its end. A client may have
 * several connections, or none: a closed connection releases nothing while the process runs. When the process ends, its
 * buffers are subtracted from the sums, its ledger is closed, and the archive takes over the ledger.
 */
#ifndef TDM_DAEMON_CLIENTS_H
#define TDM_DAEMON_CLIENTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"
#include "base/map.h"
#include "daemon/work/loop.h"
#include "ledger/layout/layout.h"
#include "live/host/proc_facts.h"
#include "live/runtime/server_wire.h"

struct tdm_connection;
struct tdm_clients;

/* The kernel types, numbered as in messages; in the ledger, a kernel's buffer is named after its type. */
enum { TDM_KERNEL_TYPES = 4 };
extern const char *const tdm_kernel_types[TDM_KERNEL_TYPES]; /* the last entry is for unknown numbers */

struct tdm_client {
	struct tdm_clients *all;
	struct tdm_watch life; /* the pidfd; if there is none (-1), a timer checks the process */
	int32_t pid;
	uint32_t uid;
	uint64_t start;                   /* clock ticks since boot; 0 if unknown */
	int32_t claim;                    /* the pid in the client's messages if different, else 0 */
	bool is_over;                     /* its process has ended */
	bool is_counting;                 /* its buffer ids are numbers, not addresses */
	uint32_t retry;                   /* allocations to refuse before retrying to make the ledger */
	int retry_err;                    /* why the ledger could not be made, -errno */
	uint32_t names[TDM_KERNEL_TYPES]; /* blob numbers of the kernel type names; 0 until they are stored */
	struct tdm_writer *writer;        /* NULL before the first allocation */
	struct tdm_wthread *self;
	struct tdm_wdevice *latest; /* device of the latest report, or NULL */
	uint32_t latest_sum;        /* index of that device in the sums */
	struct tdm_connection *connections;
	uint32_t index; /* index in the list of all clients */
};

/* Counts of connections, messages, reports, refusals and suspicious events. */
struct tdm_server_counters {
	uint64_t connections;         /* since the start */
	uint64_t refused_connections; /* refused for lack of descriptors or memory */
	_Atomic uint64_t messages[TDM_WIRE_TYPE_END];
	uint64_t unknown_types; /* messages of a type that clients do not send */
	uint64_t refused_busy;  /* list requests refused because lists took too much time */
	uint64_t bad_streams;   /* connections closed because their bytes were not messages */
	uint64_t half_messages; /* connections that ended within a message */
	uint64_t other_pids;    /* messages naming a process other than their sender */
	uint64_t bytes;
	_Atomic uint64_t quick_bytes; /* bytes read by the thread that answers questions */
	uint64_t waits;               /* how often a client's replies had to wait for the client */
	uint64_t allocations, releases;
	uint64_t replaced; /* buffers allocated again while live; the old buffer counts as released */
	uint64_t unknown;  /* releases of buffers that are not live */
	/* releases of an id shared by buffers of several kinds; the newest buffer was released */
	uint64_t ambiguous;
	uint64_t refused_device;  /* refused: negative device number, or too many devices for a ledger */
	uint64_t refused_invalid; /* refused: a size or a kind that no device has */
	uint64_t refused_space;   /* refused: no room for the ledger, or no memory */
	uint64_t refused_nobody;  /* refused: the sender's process is unknown or has ended */
	uint64_t died, leaked_buffers, leaked_bytes; /* ended clients, and the buffers they left behind */
	uint64_t resumed;                            /* ledgers continued from an earlier daemon */
};

/* All clients' buffers on a device. Written by the loop's thread, read by the thread that answers questions. */
struct tdm_device_sum {
	uint32_t number;
	uint32_t users; /* number of clients with this device; 0: the entry is free */
	_Atomic uint64_t bytes[TDM_KIND_COUNT];
	uint64_t buffers[TDM_KIND_COUNT]; /* used only by the writing thread */
};

struct tdm_clients {
	struct tdm_loop *loop;
	const char *dir;
	uint32_t mode; /* permissions of ledgers */
	struct tdm_proc_root proc;
	struct tdm_map by_process; /* pid and start time to index in `list` */
	struct tdm_client **list;
	size_t cap, count;
	size_t unwatched; /* number of clients without a pidfd */
	/* The sums of all clients: */
	pthread_mutex_t sum_lock; /* guards the set of devices and their positions */
	struct tdm_map sum_by_device;
	struct tdm_device_sum *sum_list;
	size_t sum_cap, sum_count;
	/* first free entry, or TDM_MAP_NONE; a free entry's `number` is the next free one */
	uint32_t sum_free;
	struct tdm_timer look;         /* checks clients without a pidfd */
	struct tdm_ledger_clock began; /* first clock reading, to compute the rate of the time stamp counter */
	struct tdm_server_counters counters;
	/* Called when a process has ended, before its buffers are counted: the process's connections may still hold
	 * messages. */
	void (*ending)(void *context, struct tdm_client *client);
	/* Called after `ending` if the process left buffers. No more reports can come. */
	void (*left)(void *context, const struct tdm_client *client);
	/* Called last, when that ledger is complete. */
	void (*buried)(void *context, const char *path);
	void *context;
};

/* The functions above and their context may be set after this call. */
void tdm_clients_init(struct tdm_clients *clients, struct tdm_loop *loop, const char *dir);
void tdm_clients_done(struct tdm_clients *clients); /* the ledgers remain */

/* Continues the ledgers that an earlier daemon left. */
void tdm_clients_resume(struct tdm_clients *clients);

/* The bytes of all clients on a device, callable from any thread. */
void tdm_clients_sum(struct tdm_clients *clients, int32_t device, uint64_t bytes[TDM_KIND_COUNT]);

/* The start time of a process; 0 if it is unknown. */
uint64_t tdm_clients_start_of(const struct tdm_clients *clients, int32_t pid);

/* The client with this pid and start time, or NULL. */
struct tdm_client *tdm_clients_find(const struct tdm_clients *clients, int32_t pid, uint64_t start);

/* Like tdm_clients_find(), but makes the client if necessary. NULL if the process is unknown or cannot be served. */
struct tdm_client *tdm_clients_get(struct tdm_clients *clients, int32_t pid, uint32_t uid, uint64_t start);

/* To be called when a connection of the client has closed, perhaps because the process ended. */
void tdm_client_hint(struct tdm_client *client);

/* What a message changed. */
struct tdm_change {
	enum tdm_kind kind;
	uint64_t bytes;     /* bytes of the buffer */
	uint64_t old_bytes; /* bytes of the replaced buffer */
	bool has_replaced;
	bool is_ambiguous; /* buffers of several kinds had this id */
	unsigned kernel_type;
	uint64_t sum; /* the kind's sum on this device, after the message */
};

/*
 * Apply a client's reports. `kinds`: the kinds that a release may refer to. 0; -ENOENT: no such buffer; -ENODEV: the
 * device is refused; -EINVAL: an absurd size; -ENOSPC, -ENOMEM: no room; -ESRCH: the sender is unknown. All of these
 * results are counted. `more`: a kernel's type, or the number of cores of a circular buffer (0 if unknown), else 0.
 */
int tdm_client_alloc(struct tdm_client *client, int32_t device, enum tdm_kind kind, uint64_t id, uint64_t bytes,
	uint32_t more, struct tdm_change *change);
int tdm_client_free(struct tdm_client *client, int32_t device, uint32_t kinds, uint64_t id, struct tdm_change *change);

/* A kernel's type, as an index into tdm_kernel_types. `name`: the name of the kernel's buffer. */
static inline unsigned tdm_client_kernel_type(const struct tdm_client *client, uint32_t name)
{
	unsigned type = 0;
	while (type < TDM_KERNEL_TYPES - 1 && (name == 0 || name != client->names[type]))
		type++;
	return type;
}

/* To be called after a batch of reports: recreates a deleted ledger. */
void tdm_client_settle(struct tdm_client *client);

/* The next live buffer of a client on a device, or NULL. *at starts at 0. `more` may be NULL. */
const struct tdm_ledger_slot *tdm_client_next(
	const struct tdm_client *client, uint32_t device, uint32_t *at, const struct tdm_ledger_more **more);

struct tdm_held {
	uint64_t buffers, bytes;
};

/* A client's buffers of a set of kinds (bit n is enum tdm_kind n), on one device or (-1) on all. */
struct tdm_held tdm_client_held(const struct tdm_client *client, int64_t device, uint32_t kinds);

#endif
