#include "wire_send.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { SEND_BUFFER = 1 << 20, ID_STEP = 0x1000 };

int wire_connect(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int size = SEND_BUFFER;
	if ((size_t)snprintf(to.sun_path, sizeof to.sun_path, "%s", path) >= sizeof to.sun_path)
		return -ENAMETOOLONG;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
	if (connect(fd, (const struct sockaddr *)&to, sizeof to) == 0)
		return fd;
	int err = -errno;
	close(fd);
	return err;
}

bool wire_send_all(int fd, const void *bytes, size_t count)
{
	for (size_t done = 0; done < count;) {
		ssize_t n = send(fd, (const char *)bytes + done, count - done, MSG_NOSIGNAL);
		if (n < 0 && errno != EINTR)
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

bool wire_send(int fd, uint32_t size, const struct tdm_wire_message *message)
{
	uint8_t bytes[TDM_WIRE_SIZE_MAX];
	tdm_wire_put_message(message, size, bytes);
	return wire_send_all(fd, bytes, size);
}

static bool receive_all(int fd, uint8_t *bytes, size_t count)
{
	for (size_t done = 0; done < count;) {
		ssize_t n = recv(fd, bytes + done, count - done, 0);
		if (n == 0)
			errno = EPIPE;
		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

bool wire_ask(int fd, uint32_t size, enum tdm_wire_type type, int32_t device, struct tdm_wire_reply *reply)
{
	uint8_t bytes[TDM_WIRE_SIZE_MAX];
	if (!wire_send(fd, size, &(struct tdm_wire_message){ .type = (uint8_t)type, .device = device }) ||
		!receive_all(fd, bytes, size))
		return false;
	*reply = tdm_wire_get_reply(bytes, size);
	return true;
}

/* Message `i` of the flood. */
static struct tdm_wire_message flood_message(const struct wire_flood *flood, int32_t pid, uint64_t i)
{
	uint64_t after = i < flood->live ? 0 : i - flood->live;
	bool is_release = i >= flood->live && after % 2 == 0;
	uint64_t buffer = i < flood->live ? i : is_release ? after / 2 : flood->live + after / 2;
	return (struct tdm_wire_message){
		.type = is_release ? TDM_WIRE_FREE : TDM_WIRE_ALLOC,
		.device = flood->device,
		.pid = pid,
		.bytes = is_release ? 0 : flood->bytes,
		.id = flood->first_id + buffer * ID_STEP,
	};
}

bool wire_flood(int fd, const struct wire_flood *flood)
{
	size_t cap = (size_t)flood->batch * flood->size + TDM_WIRE_SIZE_MAX;
	uint8_t *bytes = malloc(cap);
	bool went_well = bytes != NULL;
	int32_t pid = (int32_t)getpid(); /* a system call for each message would cost more than the message */
	for (uint64_t i = 0; i < flood->messages && went_well;) {
		size_t used = 0;
		for (uint32_t n = 0; n < flood->batch && i < flood->messages; n++, i++, used += flood->size) {
			struct tdm_wire_message message = flood_message(flood, pid, i);
			tdm_wire_put_message(&message, flood->size, bytes + used);
		}
		went_well = wire_send_all(fd, bytes, used);
	}
	free(bytes);
	return went_well;
}
