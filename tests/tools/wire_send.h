/* The client's side of an allocation server's socket, for tests and benchmarks. Calls block, as those of clients do. */
#ifndef TDM_WIRE_SEND_H
#define TDM_WIRE_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/runtime/server_wire.h"

/* A descriptor with a large send buffer, as clients have it, or -errno. */
int wire_connect(const char *path);

/* False when the server has left; errno says how. */
bool wire_send_all(int fd, const void *bytes, size_t count);
bool wire_send(int fd, uint32_t size, const struct tdm_wire_message *message);

/* Sends a question and waits for the reply. False when the server has left. */
bool wire_ask(int fd, uint32_t size, enum tdm_wire_type type, int32_t device, struct tdm_wire_reply *reply);

/* Many allocations of DRAM; from `live` buffers on, each is preceded by the release of the oldest one. */
struct wire_flood {
	uint32_t size, batch; /* of a message; messages per call */
	int32_t device;
	uint64_t messages, live, bytes; /* bytes: of each buffer */
	uint64_t first_id;
};

/* False when the server has left. After it, `live` buffers are live, if `messages` is `live` and an even number more.
 */
bool wire_flood(int fd, const struct wire_flood *flood);

#endif
