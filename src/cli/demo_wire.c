#include "cli/demo_wire.h"
#include "sources/server_wire.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { FIRST_WITH_KERNELS = 128 /* bytes: the oldest size that has circular buffers and kernels */ };

static int enter(struct tdm_demo_wire *wire)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	if ((size_t)snprintf(to.sun_path, sizeof to.sun_path, "%s", wire->socket) >= sizeof to.sun_path)
		return -ENAMETOOLONG;
	wire->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (wire->fd >= 0 && connect(wire->fd, (const struct sockaddr *)&to, sizeof to) == 0)
		return 0;
	int err = -errno;
	tdm_demo_wire_close(wire);
	return err;
}

int tdm_demo_wire_open(struct tdm_demo_wire *wire, const char *socket, uint32_t size)
{
	*wire = (struct tdm_demo_wire){ .socket = socket, .size = size, .fd = -1 };
	return enter(wire);
}

void tdm_demo_wire_close(struct tdm_demo_wire *wire)
{
	if (wire->fd >= 0)
		close(wire->fd);
	wire->fd = -1;
}

static void send_message(struct tdm_demo_wire *wire, struct tdm_wire_message *message)
{
	uint8_t bytes[TDM_WIRE_SIZE_MAX];
	size_t done = 0;
	message->pid = (int32_t)getpid();
	tdm_wire_put_message(message, wire->size, bytes);
	if (wire->fd < 0)
		enter(wire);
	while (wire->fd >= 0 && done < wire->size) {
		ssize_t sent = send(wire->fd, bytes + done, wire->size - done, MSG_NOSIGNAL);
		if (sent < 0 && errno != EINTR)
			tdm_demo_wire_close(wire);
		done += sent > 0 ? (size_t)sent : 0;
	}
	wire->lost += done < wire->size;
}

/* Which messages a kind has. False: this size has none. */
static bool find_types(const struct tdm_demo_wire *wire, enum tdm_kind kind, uint8_t *alloc, uint8_t *release)
{
	bool is_new = wire->size >= FIRST_WITH_KERNELS;
	*alloc = TDM_WIRE_ALLOC;
	*release = TDM_WIRE_FREE;
	if (kind == TDM_KIND_KERNEL) {
		*alloc = TDM_WIRE_KERNEL_LOAD;
		*release = TDM_WIRE_KERNEL_UNLOAD;
		return is_new;
	}
	if (kind == TDM_KIND_CB && is_new) {
		*alloc = TDM_WIRE_CB_ALLOC;
		*release = TDM_WIRE_CB_FREE;
	}
	return true;
}

static uint8_t buffer_type(enum tdm_kind kind)
{
	for (uint8_t type = 0; tdm_wire_kind(type) != TDM_KIND_COUNT; type++)
		if (tdm_wire_kind(type) == (kind == TDM_KIND_CB ? TDM_KIND_L1 : kind))
			return type;
	return 0; /* of a kernel: one of an application */
}

/* A circular buffer is named by its address in a core, here (1, 1): so it differs from all ids of buffers. */
static uint64_t wire_id(enum tdm_kind kind, uint64_t id)
{
	return kind == TDM_KIND_CB ? id | UINT64_C(0x0001000100000000) : id;
}

void tdm_demo_wire_alloc(struct tdm_demo_wire *wire, uint32_t device, enum tdm_kind kind, uint64_t id, uint64_t bytes)
{
	uint8_t alloc, release;
	if (!find_types(wire, kind, &alloc, &release))
		return;
	struct tdm_wire_message message = { .type = alloc,
		.buffer_type = alloc == TDM_WIRE_CB_ALLOC ? 0 : buffer_type(kind),
		.device = (int32_t)device,
		.bytes = bytes,
		.id = wire_id(kind, id) };
	send_message(wire, &message);
}

void tdm_demo_wire_free(struct tdm_demo_wire *wire, uint32_t device, enum tdm_kind kind, uint64_t id, uint64_t bytes)
{
	uint8_t alloc, release;
	if (!find_types(wire, kind, &alloc, &release))
		return;
	struct tdm_wire_message message = { .type = release,
		.device = (int32_t)device,
		.bytes = release == TDM_WIRE_FREE ? 0 : bytes,
		.id = wire_id(kind, id) };
	send_message(wire, &message);
}
