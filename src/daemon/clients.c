#include "daemon/clients.h"
#include "base/clock.h"
#include "base/reserve.h"
#include "ledger/ledger_dir.h"
#include "ledger/ledger_list.h"
#include "ledger/writer_hot.h"
#include "sources/server_wire.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	RING_RECORDS = 256, /* of a ledger on behalf: a client with few buffers takes few pages */
	RETRY_AFTER = 256,  /* refused allocations until the next attempt to make a ledger */
	LOOK_S = 2,
	HINT_MS = 10,
	LOCKED_MS = 2000, /* for locks of an earlier daemon; a living one may have some, too */
	LOOK_BACK = 256,  /* events in which to look for the kind of a buffer that was released twice */
};
#define SIZE_MAX_ASKED (UINT64_C(100) << 30) /* as the first server has it: beyond all devices */

const char *const tdm_kernel_types[TDM_KERNEL_TYPES] = { "Application", "Fabric", "Dispatch", "Unknown" };

uint64_t tdm_clients_start_of(const struct tdm_clients *clients, int32_t pid)
{
	struct tdm_proc_use use;
	return pid > 0 && tdm_proc_use_read(&clients->proc, pid, &use) == 0 ? use.start_time : 0;
}

/* --- sums ------------------------------------------------------------------------------------------------------- */

/* Adds what a client has on a device (sign 1), or takes it away (sign -1). */
static void sum_device(struct tdm_clients *clients, const struct tdm_wdevice *device, int sign)
{
	uint32_t at = tdm_sums_place(&clients->sums, device->number);
	if (at == TDM_MAP_NONE)
		return;
	struct tdm_device_sum *sum = &clients->sums.list[at];
	for (unsigned kind = 0; kind < TDM_KIND_COUNT; kind++)
		tdm_sums_add(sum, kind, (uint64_t)sign * device->now[kind]->asked_bytes,
			(uint64_t)sign * device->now[kind]->buffers);
	sum->users += (uint32_t)sign;
	tdm_sums_drop(&clients->sums, at);
}

static void sum_client(struct tdm_client *client, int sign)
{
	const struct tdm_wdevice *device;
	for (unsigned i = 0; i < TDM_LEDGER_DEVICES && client->writer != NULL &&
			     (device = tdm_writer_get_device(client->writer, i)) != NULL;
		i++)
		sum_device(client->all, device, sign);
}

/* The device of a client, if it is there already. */
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
	return device != NULL ? tdm_writer_device(writer, number, false) : NULL; /* found at once from now on */
}

/* The same for a report: most are about the same device as the one before. */
tdm_inlined struct tdm_wdevice *device_of(struct tdm_client *client, uint32_t number)
{
	if (client->latest != NULL && client->latest->number == number)
		return client->latest;
	client->latest_sum = tdm_map_find(&client->all->sums.by_device, number);
	client->latest = client->latest_sum != TDM_MAP_NONE ? find_device(client, number) : NULL;
	return client->latest;
}

void tdm_client_count(
	const struct tdm_client *client, int64_t number, enum tdm_kind kind, uint64_t *buffers, uint64_t *bytes)
{
	const struct tdm_wdevice *device = number >= 0 ? find_device(client, (uint32_t)number) : NULL;
	*buffers = device != NULL ? device->now[kind]->buffers : 0;
	*bytes = device != NULL ? device->now[kind]->asked_bytes : 0;
	for (unsigned i = 0; number < 0 && i < TDM_LEDGER_DEVICES && client->writer != NULL &&
			     (device = tdm_writer_get_device(client->writer, i)) != NULL;
		i++) {
		*buffers += device->now[kind]->buffers;
		*bytes += device->now[kind]->asked_bytes;
	}
}

/* --- clients ---------------------------------------------------------------------------------------------------- */

/* The only place that makes a ledger. */
static int client_open_ledger(struct tdm_client *client)
{
	const struct tdm_behalf behalf = { .pid = client->pid, .uid = client->uid, .start_time = client->start };
	const struct tdm_writer_options options = {
		.dir = client->all->dir, .mode = client->all->mode, .ring_records = RING_RECORDS, .behalf = &behalf
	};
	return tdm_writer_new(&options, &client->writer);
}

/* A start time has fewer bits than are left. */
static uint64_t key_of(int32_t pid, uint64_t start)
{
	enum { PID_BITS = 23 };
	static_assert(TDM_PID_MAX < 1 << PID_BITS, "a pid fits its bits");
	return start << PID_BITS | (uint32_t)pid;
}

static int list_add(struct tdm_client *client)
{
	struct tdm_clients *clients = client->all;
	int err = tdm_reserve(&clients->list, &clients->cap, clients->count + 1, sizeof(struct tdm_client *));
	if (err == 0)
		err = tdm_map_put(&clients->by_process, key_of(client->pid, client->start), (uint32_t)clients->count);
	if (err != 0)
		return err;
	client->index = (uint32_t)clients->count;
	clients->list[clients->count++] = client;
	return 0;
}

static void list_remove(struct tdm_client *client)
{
	struct tdm_clients *clients = client->all;
	struct tdm_client *last = clients->list[--clients->count];
	tdm_map_take(&clients->by_process, key_of(client->pid, client->start));
	if (last == client)
		return;
	clients->list[client->index] = last;
	last->index = client->index;
	tdm_map_put(&clients->by_process, key_of(last->pid, last->start), last->index);
}

static void client_free(struct tdm_client *client)
{
	if (client->life.fd >= 0) {
		tdm_loop_remove(client->all->loop, &client->life);
		close(client->life.fd);
	} else {
		client->all->unwatched--;
	}
	if (client->writer != NULL)
		tdm_writer_free(client->writer);
	list_remove(client);
	free(client);
}

/* Whether nothing is live on any device. */
static uint64_t live_buffers(const struct tdm_client *client, uint64_t *bytes)
{
	uint64_t all = 0;
	*bytes = 0;
	for (unsigned kind = 0; kind < TDM_KIND_COUNT; kind++) {
		uint64_t buffers, kind_bytes;
		tdm_client_count(client, -1, (enum tdm_kind)kind, &buffers, &kind_bytes);
		all += buffers;
		*bytes += kind_bytes;
	}
	return all;
}

/* The process has ended. What it left stays in its ledger, and leaves the sums. */
static void client_over(struct tdm_client *client)
{
	struct tdm_clients *clients = client->all;
	uint64_t bytes, buffers;
	if (clients->ending != NULL)
		clients->ending(clients->context, client);
	client->is_over = true;
	buffers = live_buffers(client, &bytes);
	clients->counters.died++;
	clients->counters.leaked_buffers += buffers;
	clients->counters.leaked_bytes += bytes;
	sum_client(client, -1);
	if (buffers != 0 && clients->left != NULL)
		clients->left(clients->context, client);
	if (buffers == 0 && client->writer != NULL)
		tdm_ledger_file_remove(&client->writer->file);
	else if (client->writer != NULL)
		tdm_writer_end(client->writer);
	char path[TDM_LEDGER_PATH_MAX] = "";
	if (buffers != 0)
		memcpy(path, client->writer->file.path, sizeof path);
	client_free(client);
	if (buffers != 0 && clients->buried != NULL)
		clients->buried(clients->context, path);
}

static void life_ready(struct tdm_watch *watch, uint32_t events)
{
	(void)events;
	client_over(tdm_loop_owner(watch, struct tdm_client, life));
}

/* Without a pidfd. A process that we may not send a signal to is alive. */
static bool is_dead(const struct tdm_client *client)
{
	struct tdm_proc_use use;
	if (kill(client->pid, 0) != 0 && errno == ESRCH)
		return true;
	if (tdm_proc_use_read(&client->all->proc, client->pid, &use) != 0)
		return false;
	return use.state == 'Z' || use.start_time != client->start;
}

/* A pidfd of the process, which must still be the one that connected. 0; -ESRCH: it is not; other -errno. */
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

/* Has the clients without a pidfd looked at, after this time at the latest. */
static void look_within(struct tdm_clients *clients, uint64_t ns)
{
	if (clients->look.at_ns == 0 || clients->look.at_ns > tdm_clock_ns() + ns)
		tdm_loop_start(clients->loop, &clients->look, ns);
}

/* Begins to wait for the end of the process. */
static void watch_life(struct tdm_client *client)
{
	struct tdm_clients *clients = client->all;
	int err = open_life(client);
	clients->unwatched += err != 0;
	/* Timers come after all that is ready: its end is noticed as soon as its first bytes are handled. */
	if (err == -ESRCH)
		look_within(clients, 0);
	else if (err != 0)
		look_within(clients, LOOK_S * TDM_NS_PER_S);
}

/* Those without a pidfd: there may be a descriptor for it now. */
static void look_ready(struct tdm_timer *timer, uint64_t now_ns)
{
	struct tdm_clients *clients = tdm_loop_owner(timer, struct tdm_clients, look);
	(void)now_ns;
	for (size_t i = clients->count; i-- > 0;) { /* backwards: the last one takes the place of one that is removed */
		struct tdm_client *client = clients->list[i];
		if (client->life.fd >= 0)
			continue;
		if (is_dead(client))
			client_over(client);
		else if (open_life(client) == 0)
			clients->unwatched--;
	}
	if (clients->unwatched == 0)
		tdm_loop_stop(clients->loop, timer);
}

void tdm_client_hint(struct tdm_client *client)
{
	/* A process closes its descriptors a moment before it has ended. */
	if (client->life.fd < 0 && !client->is_over)
		look_within(client->all, HINT_MS * TDM_NS_PER_MS);
}

static struct tdm_client *client_new(struct tdm_clients *clients, int32_t pid, uint32_t uid, uint64_t start)
{
	struct tdm_client *client = calloc(1, sizeof *client);
	if (client == NULL)
		return NULL;
	*client = (struct tdm_client){ .all = clients, .pid = pid, .uid = uid, .start = start };
	if (list_add(client) != 0) {
		free(client);
		return NULL;
	}
	watch_life(client);
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

/* The ledgers of this user, by path. */
struct found_ledgers {
	char **paths;
	size_t count, cap;
};

static void note_ledger(void *context, const struct tdm_ledger_entry *entry)
{
	struct found_ledgers *found = context;
	if (entry->owner != geteuid() || entry->name.pid <= 0 ||
		tdm_reserve(&found->paths, &found->cap, found->count + 1, sizeof(char *)) != 0)
		return;
	char *path = strdup(entry->path);
	if (path != NULL)
		found->paths[found->count++] = path;
}

/* The blob of a kernel's type, stored if it is not there yet. */
static uint32_t kernel_name(struct tdm_client *client, unsigned type)
{
	if (client->names[type] == 0)
		client->names[type] = tdm_blobs_put(&client->writer->blobs, TDM_BLOB_TEXT, tdm_kernel_types[type],
			strlen(tdm_kernel_types[type]), NULL);
	return client->names[type];
}

/* The names of kernels that the ledger has. */
static void find_kernel_names(struct tdm_client *client)
{
	for (unsigned type = 0; type < TDM_KERNEL_TYPES; type++)
		client->names[type] = tdm_blobs_find(
			&client->writer->blobs, TDM_BLOB_TEXT, tdm_kernel_types[type], strlen(tdm_kernel_types[type]));
}

/* Goes on with one ledger. Its process may have ended meanwhile. */
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
	find_kernel_names(client);
	sum_client(client, 1);
	clients->counters.resumed++;
	if (client->life.fd < 0 && is_dead(client))
		look_within(clients, 0); /* connections that were taken over may have its last words */
}

void tdm_clients_resume(struct tdm_clients *clients)
{
	struct found_ledgers found = { 0 };
	struct tdm_ledger_search search = { .dir = clients->dir, .each = note_ledger, .context = &found };
	tdm_ledger_list(&search);
	uint64_t end_ns = tdm_clock_ns() + LOCKED_MS * TDM_NS_PER_MS;
	for (size_t i = 0; i < found.count; i++) {
		resume_one(clients, found.paths[i], end_ns);
		free(found.paths[i]);
	}
	free(found.paths);
}

int tdm_clients_init(struct tdm_clients *clients, struct tdm_loop *loop, const char *dir)
{
	*clients = (struct tdm_clients){ .loop = loop,
		.dir = tdm_ledger_dir(dir),
		.look = { .every_ns = LOOK_S * TDM_NS_PER_S, .ready = look_ready } };
	clients->began = tdm_ledger_clock_now();
	tdm_ledger_parse_mode(getenv("TIDEMARK_MODE"), &clients->mode);
	tdm_proc_root_init(&clients->proc, "/proc"); /* of identities, so never a made-up one */
	int err = tdm_map_init(&clients->by_process);
	return err == 0 ? tdm_sums_init(&clients->sums) : err;
}

void tdm_clients_done(struct tdm_clients *clients)
{
	while (clients->count != 0)
		client_free(clients->list[clients->count - 1]);
	tdm_loop_stop(clients->loop, &clients->look);
	tdm_map_done(&clients->by_process);
	tdm_sums_done(&clients->sums);
	tdm_proc_root_done(&clients->proc);
	free(clients->list);
}

/* --- reports ---------------------------------------------------------------------------------------------------- */

/* The ledger of a client, made if necessary. 0 or -errno. */
static int have_ledger(struct tdm_client *client)
{
	if (client->writer != NULL)
		return 0;
	if (client->retry != 0) {
		client->retry--;
		return client->retry_err;
	}
	client->retry_err = client_open_ledger(client);
	client->retry = client->retry_err != 0 ? RETRY_AFTER : 0;
	if (client->retry_err == 0)
		client->self = tdm_writer_thread(client->writer);
	return client->retry_err;
}

/* The device of a client, made if necessary. 0, or why it is refused. */
static int have_device(struct tdm_client *client, int32_t number, struct tdm_wdevice **device)
{
	int err = number < 0 ? -ENODEV : client->is_over ? -ESRCH : have_ledger(client);
	if (err != 0)
		return err;
	*device = device_of(client, (uint32_t)number);
	if (*device != NULL)
		return 0;
	if (client->writer->device_count >= TDM_LEDGER_DEVICES) {
		tdm_writer_lost(client->writer, TDM_LOSS_DEVICE);
		return -ENODEV;
	}
	uint32_t sum = tdm_sums_place(&client->all->sums, (uint32_t)number);
	if (sum == TDM_MAP_NONE)
		return -ENOMEM;
	*device = tdm_writer_device(client->writer, (uint32_t)number, false);
	if (*device != NULL)
		sum_device(client->all, *device, 1);
	else
		tdm_sums_drop(&client->all->sums, sum);
	return device_of(client, (uint32_t)number) != NULL ? 0 : -ENOSPC;
}

static int refuse(struct tdm_clients *clients, int err)
{
	struct tdm_clients_counters *counters = &clients->counters;
	uint64_t *counter = err == -ENODEV   ? &counters->refused_device
			    : err == -EINVAL ? &counters->refused_invalid
			    : err == -ESRCH  ? &counters->refused_nobody
					     : &counters->refused_space;
	++*counter;
	return err;
}

/* The counters of a kind on a device. */
struct counted {
	uint64_t bytes, buffers;
};

tdm_inlined struct counted counted_now(const struct tdm_wdevice *device, enum tdm_kind kind)
{
	return (struct counted){ device->now[kind]->asked_bytes, device->now[kind]->buffers };
}

/* What a report has changed is the difference of the counters before and after it. */
tdm_inlined void count_change(const struct tdm_client *client, const struct tdm_wdevice *device,
	struct tdm_change *change, const struct counted *was)
{
	struct counted now = counted_now(device, change->kind);
	struct tdm_device_sum *sum = &client->all->sums.list[client->latest_sum];
	change->sum = tdm_sums_add(sum, change->kind, now.bytes - was->bytes, now.buffers - was->buffers);
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
	const struct counted was = counted_now(device, kind);
	const struct tdm_report report = { .size = sizeof report,
		.device = (uint32_t)number,
		.kind = kind,
		.flags = tdm_wire_is_address(kind, id, &client->is_counting) ? 0 : TDM_SLOT_NO_ADDRESS,
		.id = id,
		.address = id,
		.asked = bytes,
		.holding = cores,
		.cores = cores,
		.name = kind == TDM_KIND_KERNEL ? kernel_name(client, kernel_type) : 0 };
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

/* The kind whose buffer was released lately under this id; else the first of the set. */
static enum tdm_kind released_kind(const struct tdm_wdevice *device, uint32_t kinds, uint64_t id)
{
	for (uint64_t back = 0; back < LOOK_BACK && back < device->seq && back <= device->ring_mask; back++) {
		const struct tdm_ledger_record *r = &device->ring[(device->seq - 1 - back) & device->ring_mask];
		if (r->id == id && r->op == TDM_LEDGER_FREE && r->kind < TDM_KIND_COUNT && (kinds >> r->kind & 1) != 0)
			return (enum tdm_kind)r->kind;
	}
	return (enum tdm_kind)__builtin_ctz(kinds);
}

static int unknown_release(struct tdm_client *client, struct tdm_wdevice *device, uint32_t kinds, uint64_t id)
{
	client->all->counters.unknown++;
	if (device != NULL)
		tdm_writer_bad_free(device, client->self, released_kind(device, kinds, id), id, (uint32_t)client->pid);
	return -ENOENT;
}

/* The kind of the newest live buffer with this id, among those of the set; TDM_KIND_COUNT: none. */
static enum tdm_kind newest_kind(
	const struct tdm_client *client, struct tdm_wdevice *device, uint32_t kinds, uint64_t id, bool *is_ambiguous)
{
	enum tdm_kind newest = TDM_KIND_COUNT;
	uint64_t newest_birth = 0;
	for (; kinds != 0; kinds &= kinds - 1) {
		enum tdm_kind kind = (enum tdm_kind)__builtin_ctz(kinds);
		uint64_t birth = tdm_writer_birth(device, client->self, kind, id);
		*is_ambiguous |= birth != 0 && newest_birth != 0;
		if (birth > newest_birth) {
			newest = kind;
			newest_birth = birth;
		}
	}
	return newest;
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
	bool is_one = (possible & (possible - 1)) == 0;
	enum tdm_kind kind = is_one ? (enum tdm_kind)__builtin_ctz(possible)
				    : newest_kind(client, device, possible, id, &is_ambiguous);
	if (kind == TDM_KIND_COUNT)
		return unknown_release(client, device, kinds, id);
	const struct counted was = counted_now(device, kind);
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
	tdm_writer_renew(client->writer); /* if it cannot, the next look at the file asks for it again */
}

void tdm_client_each(const struct tdm_client *client, uint32_t number,
	bool (*each)(void *context, const struct tdm_client *client, const struct tdm_ledger_slot *slot,
		const struct tdm_ledger_more *more),
	void *context)
{
	const struct tdm_wdevice *device = find_device(client, number);
	for (uint32_t i = 0; device != NULL && i < device->slot_high; i++) {
		struct tdm_ledger_more *more;
		const struct tdm_ledger_slot *slot = tdm_wdevice_slot(device, i, &more);
		if (slot->birth != 0 && slot->birth <= device->seq && slot->death == 0 &&
			!each(context, client, slot, more))
			return;
	}
}
