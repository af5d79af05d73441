#include "daemon/socket/clients.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/memory.h"
#include "ledger/layout/ledger_file.h"
#include "ledger/read/ledger_list.h"
#include "ledger/write/writer_hot.h"
#include "live/runtime/server_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	RING_RECORDS = 256, /* ring size of each ledger: short, so that a client with few buffers uses few pages */
	RETRY_AFTER = 256,  /* allocations to refuse before retrying to make a ledger */
	LOOK_S = 2,
	HINT_MS = 10,
	LOCKED_MS = 2000, /* how long to wait for the locks of an earlier daemon, which may still be running */
	LOOK_BACK = 256,  /* events to search for the kind of a buffer released twice */
};
#define SIZE_MAX_ASKED (UINT64_C(100) << 30) /* the first server's limit, larger than any device */

const char *const tdm_kernel_types[TDM_KERNEL_TYPES] = { "Application", "Fabric", "Dispatch", "Unknown" };

uint64_t tdm_clients_start_of(const struct tdm_clients *clients, int32_t pid)
{
	struct tdm_proc_use use;
	return pid > 0 && tdm_proc_use_read(&clients->proc, pid, &use) == 0 ? use.start_time : 0;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* Returns the new sum. Needs no locked instruction, because only one thread writes. */
tdm_inlined uint64_t add_to_sum(struct tdm_device_sum *sum, unsigned kind, uint64_t bytes, uint64_t buffers)
{
	uint64_t all = atomic_load_explicit(&sum->bytes[kind], memory_order_relaxed) + bytes;
	atomic_store_explicit(&sum->bytes[kind], all, memory_order_relaxed);
	sum->buffers[kind] += buffers;
	return all;
}

void tdm_clients_sum(struct tdm_clients *clients, int32_t device, uint64_t bytes[TDM_KIND_COUNT])
{
	pthread_mutex_lock(&clients->sum_lock);
	uint32_t at = device >= 0 ? tdm_map_find(&clients->sum_by_device, (uint32_t)device) : TDM_MAP_NONE;
	for (unsigned kind = 0; kind < TDM_KIND_COUNT; kind++)
		bytes[kind] = at != TDM_MAP_NONE
				      ? atomic_load_explicit(&clients->sum_list[at].bytes[kind], memory_order_relaxed)
				      : 0;
	pthread_mutex_unlock(&clients->sum_lock);
}

/* Adds a client's buffers on a device to the sums (sign 1), or subtracts the buffers (sign -1). */
static void sum_device(struct tdm_clients *clients, const struct tdm_wdevice *device, int sign)
{
	uint32_t at = tdm_map_find(&clients->sum_by_device, device->number);
	if (at == TDM_MAP_NONE) {
		pthread_mutex_lock(&clients->sum_lock);
		at = clients->sum_free;
		if (at != TDM_MAP_NONE) {
			clients->sum_free = clients->sum_list[at].number;
		} else {
			at = (uint32_t)clients->sum_count++;
			tdm_grow(&clients->sum_list, &clients->sum_cap, clients->sum_count, sizeof *clients->sum_list);
		}
		tdm_map_set(&clients->sum_by_device, device->number, at);
		clients->sum_list[at] = (struct tdm_device_sum){ .number = device->number };
		pthread_mutex_unlock(&clients->sum_lock);
	}
	struct tdm_device_sum *sum = &clients->sum_list[at];
	for (unsigned kind = 0; kind < TDM_KIND_COUNT; kind++)
		add_to_sum(sum, kind, (uint64_t)sign * device->now[kind]->asked_bytes,
			(uint64_t)sign * device->now[kind]->buffers);
	sum->users += (uint32_t)sign;
	if (sum->users != 0)
		return;
	/* Once no client uses the device, the device's entry becomes free. */
	pthread_mutex_lock(&clients->sum_lock);
	tdm_map_take(&clients->sum_by_device, sum->number);
	pthread_mutex_unlock(&clients->sum_lock);
	sum->number = clients->sum_free;
	clients->sum_free = at;
}

static void sum_client(struct tdm_client *client, int sign)
{
	const struct tdm_wdevice *device;
	for (unsigned i = 0; i < TDM_LEDGER_DEVICES && client->writer != NULL &&
			     (device = tdm_writer_get_device(client->writer, i)) != NULL;
		i++)
		sum_device(client->all, device, sign);
}

/* A client's device, if it is in the client's ledger. */
static struct tdm_wdevice *find_device(const struct tdm_client *client, uint32_t number)
{
	struct tdm_writer *writer = client->writer;
	struct tdm_wdevice *device = NULL;
	if (writer == NULL)
		return NULL;
	if (number < TDM_WRITER_NUMBERS / 2)
		device = atomic_load_explicit(&writer->by_number[number * 2], memory_order_relaxed);
	if (device != NULL)
		return device;
	device = tdm_writer_find_device(writer, number, false);
	return device != NULL ? tdm_writer_device(writer, number, false) : NULL; /* cached from now on, even if NULL */
}

/* Like find_device(), for a report: most reports concern the same device as the previous one. */
tdm_inlined struct tdm_wdevice *device_of(struct tdm_client *client, uint32_t number)
{
	if (client->latest != NULL && client->latest->number == number)
		return client->latest;
	client->latest_sum = tdm_map_find(&client->all->sum_by_device, number);
	client->latest = client->latest_sum != TDM_MAP_NONE ? find_device(client, number) : NULL;
	return client->latest;
}

static void add_held(struct tdm_held *held, const struct tdm_wdevice *device, uint32_t kinds)
{
	for (; kinds != 0; kinds &= kinds - 1) {
		held->buffers += device->now[__builtin_ctz(kinds)]->buffers;
		held->bytes += device->now[__builtin_ctz(kinds)]->asked_bytes;
	}
}

struct tdm_held tdm_client_held(const struct tdm_client *client, int64_t number, uint32_t kinds)
{
	struct tdm_held held = { 0 };
	const struct tdm_wdevice *device = number >= 0 ? find_device(client, (uint32_t)number) : NULL;
	if (device != NULL)
		add_held(&held, device, kinds);
	for (unsigned i = 0; number < 0 && i < TDM_LEDGER_DEVICES && client->writer != NULL &&
			     (device = tdm_writer_get_device(client->writer, i)) != NULL;
		i++)
		add_held(&held, device, kinds);
	return held;
}

/* ---- clients ----------------------------------------------------------------------------------------------------- */

/* A unique key: a start time fits in the bits above the pid. */
static uint64_t key_of(int32_t pid, uint64_t start)
{
	enum { PID_BITS = 23 };
	static_assert(TDM_PID_MAX < 1 << PID_BITS, "a pid fits its bits");
	return start << PID_BITS | (uint32_t)pid;
}

static void client_free(struct tdm_client *client)
{
	struct tdm_clients *clients = client->all;
	if (client->life.fd >= 0) {
		tdm_loop_remove(clients->loop, &client->life);
		close(client->life.fd);
	} else {
		clients->unwatched--;
	}
	if (client->writer != NULL)
		tdm_writer_free(client->writer);
	struct tdm_client *last = clients->list[--clients->count];
	tdm_map_take(&clients->by_process, key_of(client->pid, client->start));
	if (last != client) {
		clients->list[client->index] = last;
		last->index = client->index;
		tdm_map_set(&clients->by_process, key_of(last->pid, last->start), last->index);
	}
	free(client);
}

/* The process has ended: its buffers stay in its ledger but are subtracted from the sums. */
static void client_over(struct tdm_client *client)
{
	struct tdm_clients *clients = client->all;
	char path[TDM_LEDGER_PATH_MAX];
	clients->ending(clients->context, client);
	client->is_over = true;
	struct tdm_held held = tdm_client_held(client, -1, (1u << TDM_KIND_COUNT) - 1);
	clients->counters.died++;
	clients->counters.leaked_buffers += held.buffers;
	clients->counters.leaked_bytes += held.bytes;
	sum_client(client, -1);
	if (held.buffers == 0) {
		if (client->writer != NULL)
			tdm_ledger_file_remove(&client->writer->file);
		client_free(client);
		return;
	}
	clients->left(clients->context, client);
	tdm_writer_end(client->writer);
	memcpy(path, client->writer->file.path, sizeof path);
	client_free(client);
	clients->buried(clients->context, path);
}

static void life_ready(struct tdm_watch *watch)
{
	client_over(tdm_loop_owner(watch, struct tdm_client, life));
}

/* Opens a pidfd for the process, which must still be the one that connected. Returns 0, -ESRCH if the pid now belongs
 * to another process, or another -errno. */
static int open_life(struct tdm_client *client)
{
	int fd = (int)syscall(SYS_pidfd_open, client->pid, 0), err = fd < 0 ? -errno : 0;
	client->life = (struct tdm_watch){ .fd = fd, .events = EPOLLIN, .ready = life_ready };
	if (client->start != tdm_clients_start_of(client->all, client->pid))
		err = -ESRCH;
	if (err == 0)
		err = tdm_loop_add(client->all->loop, &client->life);
	if (err == 0)
		return 0;
	if (fd >= 0)
		close(fd);
	client->life.fd = -1;
	return err;
}

/* Schedules a check of clients without a pidfd, to run within this time. */
static void look_within(struct tdm_clients *clients, uint64_t ns)
{
	if (clients->look.at_ns == 0 || clients->look.at_ns > tdm_clock_ns() + ns)
		tdm_loop_start(clients->loop, &clients->look, ns);
}

/* Checks clients without a pidfd: a descriptor may be free by now. */
static void look_ready(struct tdm_timer *timer)
{
	struct tdm_clients *clients = tdm_loop_owner(timer, struct tdm_clients, look);
	for (size_t i = clients->count; i-- > 0;) { /* backwards, because a removal moves the last client */
		struct tdm_client *client = clients->list[i];
		if (client->life.fd >= 0)
			continue;
		if (tdm_proc_life_of(client->pid, client->start) == TDM_LIFE_ENDED)
			client_over(client);
		else if (open_life(client) == 0)
			clients->unwatched--;
	}
	if (clients->unwatched == 0)
		tdm_loop_stop(clients->loop, timer);
}

void tdm_client_hint(struct tdm_client *client)
{
	/* A process closes its descriptors shortly before it ends. */
	if (client->life.fd < 0 && !client->is_over)
		look_within(client->all, HINT_MS * TDM_NS_PER_MS);
}

static struct tdm_client *client_new(struct tdm_clients *clients, int32_t pid, uint32_t uid, uint64_t start)
{
	struct tdm_client *client = calloc(1, sizeof *client);
	if (client == NULL)
		return NULL;
	*client = (struct tdm_client){ .all = clients, .pid = pid, .uid = uid, .start = start };
	client->index = (uint32_t)clients->count++;
	tdm_grow(&clients->list, &clients->cap, clients->count, sizeof(struct tdm_client *));
	tdm_map_set(&clients->by_process, key_of(pid, start), client->index);
	clients->list[client->index] = client;
	int err = open_life(client);
	clients->unwatched += err != 0;
	/* Timers run after ready descriptors, so the end is noticed right after the first bytes are handled. */
	if (err != 0)
		look_within(clients, err == -ESRCH ? 0 : LOOK_S * TDM_NS_PER_S);
	return client;
}

struct tdm_client *tdm_clients_find(const struct tdm_clients *clients, int32_t pid, uint64_t start)
{
	uint32_t at = pid > 0 ? tdm_map_find(&clients->by_process, key_of(pid, start)) : TDM_MAP_NONE;
	return at != TDM_MAP_NONE ? clients->list[at] : NULL;
}

struct tdm_client *tdm_clients_get(struct tdm_clients *clients, int32_t pid, uint32_t uid, uint64_t start)
{
	struct tdm_client *client = tdm_clients_find(clients, pid, start);
	return client != NULL || pid <= 0 ? client : client_new(clients, pid, uid, start);
}

/* Stores the paths of this user's ledgers. */
static void note_ledger(void *context, const struct tdm_ledger_entry *entry)
{
	if (entry->owner == geteuid() && entry->name.pid > 0)
		tdm_buf_add(context, entry->path, strlen(entry->path) + 1);
}

/* Continues one ledger. The client's process may have ended meanwhile. */
static void resume_one(struct tdm_clients *clients, const char *path, uint64_t end_ns)
{
	const struct tdm_writer_options options = { .mode = clients->mode, .ring_records = RING_RECORDS };
	struct tdm_ledger_name name;
	struct tdm_writer *writer;
	if (!tdm_ledger_parse_name(path, &name) || tdm_writer_resume_until(path, &options, end_ns, &writer) != 0)
		return;
	bool is_double = tdm_clients_find(clients, name.pid, name.start) != NULL;
	struct tdm_client *client =
		is_double ? NULL : client_new(clients, name.pid, writer->file.header->uid, name.start);
	if (client == NULL) {
		tdm_writer_free(writer);
		return;
	}
	client->writer = writer;
	client->self = tdm_writer_thread(writer);
	for (unsigned type = 0; type < TDM_KERNEL_TYPES; type++)
		client->names[type] = tdm_blobs_find(
			&writer->blobs, TDM_BLOB_TEXT, tdm_kernel_types[type], strlen(tdm_kernel_types[type]));
	sum_client(client, 1);
	clients->counters.resumed++;
	if (client->life.fd < 0 && tdm_proc_life_of(client->pid, client->start) == TDM_LIFE_ENDED)
		look_within(clients, 0); /* connections that were taken over may contain the process's last messages */
}

void tdm_clients_resume(struct tdm_clients *clients)
{
	struct tdm_buf paths = { 0 };
	struct tdm_ledger_search search = { .dir = clients->dir, .each = note_ledger, .context = &paths };
	tdm_ledger_list(&search);
	uint64_t end_ns = tdm_clock_ns() + LOCKED_MS * TDM_NS_PER_MS;
	for (size_t at = 0; at < paths.len; at += strlen(paths.data + at) + 1)
		resume_one(clients, paths.data + at, end_ns);
	tdm_buf_done(&paths);
}

void tdm_clients_init(struct tdm_clients *clients, struct tdm_loop *loop, const char *dir)
{
	*clients = (struct tdm_clients){ .loop = loop,
		.dir = tdm_ledger_dir(dir),
		.look = { .every_ns = LOOK_S * TDM_NS_PER_S, .ready = look_ready } };
	clients->began = tdm_ledger_clock_now();
	tdm_ledger_parse_mode(getenv("TIDEMARK_MODE"), &clients->mode);
	tdm_proc_root_init(&clients->proc, "/proc"); /* always the real /proc: identities must come from the kernel */
	clients->sum_free = TDM_MAP_NONE;
	pthread_mutex_init(&clients->sum_lock, NULL);
}

void tdm_clients_done(struct tdm_clients *clients)
{
	while (clients->count != 0)
		client_free(clients->list[clients->count - 1]);
	tdm_loop_stop(clients->loop, &clients->look);
	tdm_map_done(&clients->by_process);
	tdm_map_done(&clients->sum_by_device);
	pthread_mutex_destroy(&clients->sum_lock);
	free(clients->sum_list);
	tdm_proc_root_done(&clients->proc);
	free(clients->list);
}

/* ---- reports ----------------------------------------------------------------------------------------------------- */

/* Finds a client's device, making the client's ledger if necessary. 0, or why the device is refused. */
static int have_device(struct tdm_client *client, int32_t number, struct tdm_wdevice **device)
{
	if (number < 0 || client->is_over)
		return number < 0 ? -ENODEV : -ESRCH;
	if (client->writer == NULL && client->retry != 0) {
		client->retry--;
		return client->retry_err;
	}
	if (client->writer == NULL) {
		const struct tdm_behalf behalf = {
			.pid = client->pid, .uid = client->uid, .start_time = client->start
		};
		const struct tdm_writer_options options = { .dir = client->all->dir,
			.mode = client->all->mode,
			.ring_records = RING_RECORDS,
			.behalf = &behalf };
		client->retry_err = tdm_writer_new(&options, &client->writer);
		client->retry = client->retry_err != 0 ? RETRY_AFTER : 0;
		if (client->retry_err != 0)
			return client->retry_err;
		client->self = tdm_writer_thread(client->writer);
	}
	*device = device_of(client, (uint32_t)number);
	if (*device != NULL)
		return 0;
	if (client->writer->device_count >= TDM_LEDGER_DEVICES) {
		tdm_writer_lost(client->writer, TDM_LOSS_DEVICE);
		return -ENODEV;
	}
	*device = tdm_writer_device(client->writer, (uint32_t)number, false);
	if (*device != NULL)
		sum_device(client->all, *device, 1);
	return device_of(client, (uint32_t)number) != NULL ? 0 : -ENOSPC;
}

static int refuse(struct tdm_clients *clients, int err)
{
	struct tdm_server_counters *counters = &clients->counters;
	uint64_t *counter = err == -ENODEV   ? &counters->refused_device
			    : err == -EINVAL ? &counters->refused_invalid
			    : err == -ESRCH  ? &counters->refused_nobody
					     : &counters->refused_space;
	++*counter;
	return err;
}

tdm_inlined struct tdm_held held_now(const struct tdm_wdevice *device, enum tdm_kind kind)
{
	return (struct tdm_held){ device->now[kind]->buffers, device->now[kind]->asked_bytes };
}

/* A report's change is the difference between the counters before and after the report. */
tdm_inlined void count_change(const struct tdm_client *client, const struct tdm_wdevice *device,
	struct tdm_change *change, const struct tdm_held *was)
{
	struct tdm_held now = held_now(device, change->kind);
	struct tdm_device_sum *sum = &client->all->sum_list[client->latest_sum];
	change->sum = add_to_sum(sum, change->kind, now.bytes - was->bytes, now.buffers - was->buffers);
}

int tdm_client_alloc(struct tdm_client *client, int32_t number, enum tdm_kind kind, uint64_t id, uint64_t bytes,
	uint32_t more, struct tdm_change *change)
{
	struct tdm_clients *clients = client->all;
	struct tdm_wdevice *device;
	uint32_t cores = kind == TDM_KIND_CB ? more : 0, kernel_type = kind == TDM_KIND_KERNEL ? more : 0;
	bool may_be_empty = kind == TDM_KIND_CB || kind == TDM_KIND_KERNEL;
	int err = kind >= TDM_KIND_COUNT || bytes > SIZE_MAX_ASKED || (bytes == 0 && !may_be_empty)
			  ? -EINVAL
			  : have_device(client, number, &device);
	if (err != 0)
		return refuse(clients, err);
	const struct tdm_held was = held_now(device, kind);
	uint32_t *name = kind == TDM_KIND_KERNEL ? &client->names[kernel_type] : NULL;
	if (name != NULL && *name == 0)
		*name = tdm_blobs_put(&client->writer->blobs, TDM_BLOB_TEXT, tdm_kernel_types[kernel_type],
			strlen(tdm_kernel_types[kernel_type]), NULL);
	const struct tdm_report report = { .size = sizeof report,
		.device = (uint32_t)number,
		.kind = kind,
		.flags = tdm_wire_is_address(kind, id, &client->is_counting) ? 0 : TDM_SLOT_NO_ADDRESS,
		.id = id,
		.address = id,
		.asked = bytes,
		.holding = cores,
		.cores = cores,
		.name = name != NULL ? *name : 0 };
	const struct tdm_report_extra extra = { .banks = cores != 0 ? cores : 1, .bank_bytes = bytes };
	err = client->self != NULL
		      ? tdm_writer_alloc(device, client->self, &report, &extra, tdm_writer_hint(device, kind, id))
		      : tdm_writer_alloc_cold(device, NULL, &report, &extra);
	if (err != 0)
		return refuse(clients, err);
	*change = (struct tdm_change){ .kind = kind, .bytes = bytes, .kernel_type = kernel_type };
	change->has_replaced = device->now[kind]->buffers == was.buffers;
	change->old_bytes = was.bytes + bytes - device->now[kind]->asked_bytes;
	count_change(client, device, change, &was);
	clients->counters.allocations++;
	clients->counters.replaced += change->has_replaced;
	return 0;
}

static int unknown_release(struct tdm_client *client, struct tdm_wdevice *device, uint32_t kinds, uint64_t id)
{
	client->all->counters.unknown++;
	if (device == NULL)
		return -ENOENT;
	/* The kind of the most recently released buffer with this id; else the first kind in the set. */
	enum tdm_kind kind = (enum tdm_kind)__builtin_ctz(kinds);
	for (uint64_t back = 0; back < LOOK_BACK && back < device->seq && back <= device->ring_mask; back++) {
		const struct tdm_ledger_record *r = &device->ring[(device->seq - 1 - back) & device->ring_mask];
		if (r->id == id && r->op == TDM_LEDGER_FREE && r->kind < TDM_KIND_COUNT &&
			(kinds >> r->kind & 1) != 0) {
			kind = (enum tdm_kind)r->kind;
			break;
		}
	}
	tdm_writer_bad_free(device, client->self, kind, id, (uint32_t)client->pid);
	return -ENOENT;
}

int tdm_client_free(struct tdm_client *client, int32_t number, uint32_t kinds, uint64_t id, struct tdm_change *change)
{
	struct tdm_clients *clients = client->all;
	struct tdm_wdevice *device = number >= 0 ? device_of(client, (uint32_t)number) : NULL;
	uint32_t possible = 0;
	bool is_ambiguous = false;
	if (number < 0)
		return refuse(clients, -ENODEV);
	for (uint32_t left = kinds; left != 0 && device != NULL; left &= left - 1)
		if (device->now[__builtin_ctz(left)]->buffers != 0)
			possible |= left & -left;
	if (possible == 0)
		return unknown_release(client, device, kinds, id);
	enum tdm_kind kind = (enum tdm_kind)__builtin_ctz(possible);
	/* If several kinds are possible: the kind of the newest live buffer with this id, if any. */
	if ((possible & (possible - 1)) != 0) {
		uint64_t newest = 0;
		kind = TDM_KIND_COUNT;
		for (uint32_t left = possible; left != 0; left &= left - 1) {
			enum tdm_kind other = (enum tdm_kind)__builtin_ctz(left);
			uint64_t birth = tdm_writer_birth(device, client->self, other, id);
			is_ambiguous |= birth != 0 && newest != 0;
			if (birth > newest) {
				kind = other;
				newest = birth;
			}
		}
	}
	if (kind == TDM_KIND_COUNT)
		return unknown_release(client, device, kinds, id);
	const struct tdm_held was = held_now(device, kind);
	struct tdm_ledger_slot freed = { 0 };
	bool wants_name = kind == TDM_KIND_KERNEL;
	int err = wants_name || client->self == NULL ? tdm_writer_free_cold(device, client->self, kind, id, &freed)
						     : tdm_writer_free_buffer(device, client->self, kind, id);
	if (err == -ENOENT)
		return unknown_release(client, device, kinds, id);
	if (err != 0)
		return refuse(clients, err);
	*change = (struct tdm_change){ .kind = kind, .is_ambiguous = is_ambiguous };
	change->kernel_type = tdm_client_kernel_type(client, freed.name);
	change->bytes = was.bytes - device->now[kind]->asked_bytes;
	count_change(client, device, change, &was);
	clients->counters.releases++;
	clients->counters.ambiguous += is_ambiguous;
	return 0;
}

void tdm_client_settle(struct tdm_client *client)
{
	if (client->writer == NULL || !atomic_load_explicit(&client->writer->is_gone, memory_order_relaxed))
		return;
	atomic_store_explicit(&client->writer->is_gone, false, memory_order_relaxed);
	tdm_writer_renew(client->writer); /* if that fails, the next check of the file tries again */
}

const struct tdm_ledger_slot *tdm_client_next(
	const struct tdm_client *client, uint32_t number, uint32_t *at, const struct tdm_ledger_more **more)
{
	const struct tdm_wdevice *device = find_device(client, number);
	while (device != NULL && *at < device->slot_high) {
		struct tdm_ledger_more *further;
		const struct tdm_ledger_slot *slot = tdm_wdevice_slot(device, (*at)++, &further);
		if (slot->birth == 0 || slot->birth > device->seq || slot->death != 0)
			continue;
		if (more != NULL)
			*more = further;
		return slot;
	}
	return NULL;
}
