#include "original_server.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	ALLOC = 1,
	FREE = 2,
	QUERY = 3,
	RESPONSE = 4,
	TYPE_MAX = 12,
	DEVICES_MAX = 8,
	TYPES = 5,
	BACKLOG = 128,
	FIRST_BUCKETS = 16
};

struct message {
	uint8_t type, pad1[3];
	int32_t device;
	uint64_t bytes;
	uint8_t buffer_type, pad2[3];
	int32_t pid;
	uint64_t id, time_ns;
	uint64_t answers[4];
};
_Static_assert(sizeof(struct message) == 72, "the first version of the protocol");

/* An entry of the map, in a block of its own and in a chain, as the hash map of the C++ library has it. */
struct buffer {
	struct buffer *next;
	size_t hash;
	int32_t device;
	uint64_t id, bytes;
	uint8_t type;
	int32_t owner, references;
	struct timespec since;
};

struct server {
	pthread_mutex_t lock;
	struct buffer **buckets;
	size_t bucket_count, count;
	_Atomic uint64_t totals[DEVICES_MAX][TYPES];
	bool quiet, peeks;
};

struct client {
	struct server *server;
	int fd;
};

static const char *const type_names[TYPES] = { "DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE" };

static void print_text(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		return; /* as the original: nobody looks */
}

static void print_number(uint64_t number)
{
	char text[32];
	snprintf(text, sizeof text, "%" PRIu64, number);
	print_text(text);
}

static void print_hex(uint64_t number)
{
	char text[32];
	snprintf(text, sizeof text, "%" PRIx64, number);
	print_text(text);
}

static void print_allocation(const struct server *server, const struct message *m)
{
	if (server->quiet)
		return;
	print_text("✓ [PID ");
	print_number((uint64_t)m->pid);
	print_text("] Allocated ");
	print_number(m->bytes);
	print_text(" bytes of ");
	print_text(type_names[m->buffer_type]);
	print_text(" on device ");
	print_number((uint64_t)m->device);
	print_text(" (buffer_id=0x");
	print_hex(m->id);
	print_text(")\n");
}

static void print_release(const struct server *server, const struct buffer *b)
{
	if (server->quiet)
		return;
	print_text("✗ [PID ");
	print_number((uint64_t)b->owner);
	print_text("] Freed buffer ");
	print_text("0x");
	print_hex(b->id);
	print_text(" on device ");
	print_number((uint64_t)b->device);
	print_text(" (");
	print_number(b->bytes);
	print_text(" bytes, FINAL)");
	print_text("\n");
}

static size_t hash_of(int32_t device, uint64_t id)
{
	return (size_t)(uint32_t)device ^ (size_t)id << 1;
}

/* Where the pointer to the entry is, or would be. */
static struct buffer **find(const struct server *server, int32_t device, uint64_t id)
{
	struct buffer **at = &server->buckets[hash_of(device, id) % server->bucket_count];
	while (*at != NULL && ((*at)->id != id || (*at)->device != device))
		at = &(*at)->next;
	return at;
}

/* To an odd number of buckets at least twice as large: addresses are multiples of powers of two. */
static void grow(struct server *server)
{
	size_t count = server->bucket_count * 2 + 1;
	struct buffer **buckets = calloc(count, sizeof(struct buffer *));
	if (buckets == NULL)
		abort();
	for (size_t i = 0; i < server->bucket_count; i++)
		for (struct buffer *b = server->buckets[i], *next; b != NULL; b = next) {
			next = b->next;
			b->next = buckets[b->hash % count];
			buckets[b->hash % count] = b;
		}
	free(server->buckets);
	server->buckets = buckets;
	server->bucket_count = count;
}

static void allocate(struct server *server, const struct message *m)
{
	if (m->buffer_type >= TYPES || m->device < 0 || m->device >= DEVICES_MAX)
		return;
	pthread_mutex_lock(&server->lock);
	struct buffer **at = find(server, m->device, m->id);
	if (*at != NULL) {
		(*at)->references++;
	} else {
		struct buffer *b = calloc(1, sizeof *b);
		if (b == NULL)
			abort();
		b->hash = hash_of(m->device, m->id);
		b->device = m->device;
		b->id = m->id;
		b->bytes = m->bytes;
		b->type = m->buffer_type;
		b->owner = m->pid;
		b->references = 1;
		clock_gettime(CLOCK_MONOTONIC, &b->since);
		*at = b;
		atomic_fetch_add(&server->totals[m->device][m->buffer_type], m->bytes);
		if (++server->count > server->bucket_count)
			grow(server);
	}
	print_allocation(server, m);
	pthread_mutex_unlock(&server->lock);
}

static void release(struct server *server, const struct message *m)
{
	pthread_mutex_lock(&server->lock);
	struct buffer **at = find(server, m->device, m->id), *b = *at;
	if (b != NULL && --b->references == 0) {
		atomic_fetch_sub(&server->totals[b->device][b->type], b->bytes);
		print_release(server, b);
		*at = b->next;
		server->count--;
		free(b);
	}
	pthread_mutex_unlock(&server->lock);
}

static bool answer(const struct client *client, const struct message *m)
{
	struct message reply = { .type = RESPONSE, .device = m->device };
	_Atomic uint64_t *totals = client->server->totals[m->device >= 0 && m->device < DEVICES_MAX ? m->device : 0];
	reply.answers[0] = atomic_load(&totals[0]);
	reply.answers[1] = atomic_load(&totals[1]);
	reply.answers[2] = atomic_load(&totals[2]) + atomic_load(&totals[3]);
	reply.answers[3] = atomic_load(&totals[4]);
	return send(client->fd, &reply, sizeof reply, MSG_NOSIGNAL) == (ssize_t)sizeof reply;
}

static bool take(const struct client *client, struct message *m)
{
	if (!client->server->peeks)
		return recv(client->fd, m, sizeof *m, MSG_WAITALL) == (ssize_t)sizeof *m;
	while (recv(client->fd, m, sizeof *m, MSG_PEEK) > 0) {
		bool is_message = m->type >= ALLOC && m->type <= TYPE_MAX;
		if (recv(client->fd, m, is_message ? sizeof *m : 1, 0) <= 0)
			return false;
		if (is_message)
			return true;
	}
	return false;
}

static void *serve(void *arg)
{
	struct client client = *(struct client *)arg;
	struct message m;
	bool goes_on = true;
	free(arg);
	while (goes_on && take(&client, &m)) {
		if (m.type == ALLOC)
			allocate(client.server, &m);
		else if (m.type == FREE)
			release(client.server, &m);
		else if (m.type == QUERY)
			goes_on = answer(&client, &m);
	}
	close(client.fd);
	return NULL;
}

_Noreturn void original_server_run(const char *path, bool quiet, bool peeks)
{
	static struct server server = { .lock = PTHREAD_MUTEX_INITIALIZER, .bucket_count = FIRST_BUCKETS };
	struct sockaddr_un here = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	server.quiet = quiet;
	server.peeks = peeks;
	server.buckets = calloc(FIRST_BUCKETS, sizeof(struct buffer *));
	snprintf(here.sun_path, sizeof here.sun_path, "%s", path);
	unlink(path);
	if (server.buckets == NULL || listener < 0 || bind(listener, (struct sockaddr *)&here, sizeof here) != 0 ||
		listen(listener, BACKLOG) != 0)
		_exit(2);
	for (;;) {
		struct client *client = malloc(sizeof *client);
		pthread_t thread;
		if (client == NULL)
			_exit(2);
		*client = (struct client){ &server, accept(listener, NULL, NULL) };
		if (client->fd < 0 || pthread_create(&thread, NULL, serve, client) != 0)
			_exit(2);
		pthread_detach(thread);
	}
}
