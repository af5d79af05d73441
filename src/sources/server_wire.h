/*
 * The messages that instrumented programs send to an allocation server, decoded from a copy of their bytes.
 * docs/formats/server_socket.md describes them.
 *
 * A message has no magic number and no length. Four sizes are in use, and a client uses one of them for all its
 * messages and expects replies of that size. The size shows in the bytes: behind the header of 40 bytes a client only
 * sends zeros, and the first byte of a message is never 0. So the first byte behind the header that is not 0 begins the
 * next message. A lone message shows its size by its length, once nothing more comes.
 */
#ifndef TDM_SOURCES_SERVER_WIRE_H
#define TDM_SOURCES_SERVER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"

#define TDM_WIRE_SOCKET "/tmp/tt_allocation_server.sock" /* where all these programs connect */

enum {
	TDM_WIRE_HEADER = 40,
	TDM_WIRE_SIZE_MIN = 72,
	TDM_WIRE_SIZE_MAX = 144,
};

enum tdm_wire_type {
	TDM_WIRE_ALLOC = 1,
	TDM_WIRE_FREE = 2,
	TDM_WIRE_QUERY = 3,
	TDM_WIRE_RESPONSE = 4,
	TDM_WIRE_DUMP_REMAINING = 5,
	TDM_WIRE_DEVICE_INFO_QUERY = 6,
	TDM_WIRE_DEVICE_INFO_RESPONSE = 7,
	TDM_WIRE_CB_ALLOC = 8,
	TDM_WIRE_CB_FREE = 9,
	TDM_WIRE_KERNEL_LOAD = 10,
	TDM_WIRE_KERNEL_UNLOAD = 11,
	TDM_WIRE_DUMP_KERNELS = 12,
	TDM_WIRE_TYPE_END
};

struct tdm_wire_message {
	uint8_t type;        /* enum tdm_wire_type, or any other byte */
	uint8_t buffer_type; /* of a buffer: the runtime's number; of a kernel: 0 application, 1 fabric, 2 dispatch */
	int32_t device;
	int32_t pid; /* as the client says */
	uint64_t bytes;
	uint64_t id;
	uint32_t cores; /* that have this circular buffer, each with these bytes; 0: unknown */
};

/* How one connection's bytes are divided. All 0 at the start. */
struct tdm_wire {
	uint32_t size;   /* of a message; 0: not known yet */
	bool is_guessed; /* the size follows from a pause only, so a longer one is still possible */
};

enum tdm_wire_found {
	TDM_WIRE_NONE,    /* more bytes must come, or a pause */
	TDM_WIRE_MESSAGE, /* *message is filled; it used `size` bytes */
	TDM_WIRE_REST,    /* zeros that belong to the message before: the client's size is larger than was guessed */
	TDM_WIRE_BAD,     /* no client sends these bytes */
};

/*
 * Looks at the bytes where a message begins. *used is the number of bytes that it took. `is_quiet`: nothing more has
 * come for a while, so that a lone message is whole; it only matters until the size is known.
 */
enum tdm_wire_found tdm_wire_next(struct tdm_wire *wire, const uint8_t *bytes, size_t count, bool is_quiet,
	struct tdm_wire_message *message, size_t *used);

/*
 * Messages of other layouts, for sockets that have nothing else: nothing in them tells the layouts apart. The same
 * results, without TDM_WIRE_REST. A message gets the type that the four sizes have for its meaning.
 *
 * The short ones have 14 bytes (kernel), 21 (circular buffer) and 17 (its release), by their type. A kernel has no id:
 * its id is 0. The id of a circular buffer is its index.
 */
enum tdm_wire_found tdm_wire_short(const uint8_t *bytes, size_t count, struct tdm_wire_message *message, size_t *used);
/* Those of the helper header have 32 bytes: circular buffers and kernels. */
enum tdm_wire_found tdm_wire_helper(const uint8_t *bytes, size_t count, struct tdm_wire_message *message, size_t *used);

bool tdm_wire_is_size(size_t bytes); /* one of the four */

/* The kind of memory that the runtime's number of a buffer type means. TDM_KIND_COUNT: none. */
enum tdm_kind tdm_wire_kind(uint8_t buffer_type);

/*
 * Whether the id of a buffer is its address. In L1, the upper half of a large id names a core, and the first bytes are
 * firmware's. All addresses are multiples of 16, so another id that is none shows that the client counts its buffers,
 * which *is_counting remembers.
 */
static inline bool tdm_wire_is_address(enum tdm_kind kind, uint64_t id, bool *is_counting)
{
	enum { ALIGN = 16, FIRST_IN_L1 = 1024 };
	bool is_in_l1 = kind == TDM_KIND_L1 || kind == TDM_KIND_L1_SMALL || kind == TDM_KIND_CB;
	if (kind == TDM_KIND_KERNEL)
		return false;
	*is_counting |= id % ALIGN != 0 && id <= UINT32_MAX;
	return !*is_counting && id != 0 && id % ALIGN == 0 && (!is_in_l1 || (id >= FIRST_IN_L1 && id <= UINT32_MAX));
}

/* Writes a message of `size` bytes, one of the four sizes, as a client does. */
void tdm_wire_put_message(const struct tdm_wire_message *message, uint32_t size, uint8_t dst[TDM_WIRE_SIZE_MAX]);

/* What a reply says. What a client's size has no room for is left out. */
struct tdm_wire_reply {
	enum tdm_wire_type type;
	int32_t device;
	uint64_t dram, l1, l1_small, trace, cb, kernel; /* allocated bytes */
	uint64_t total_dram, total_l1;
	uint32_t arch, dram_channels, dram_per_channel, l1_per_core, is_available, device_count;
};

/* Writes a reply of `size` bytes, one of the four sizes. */
void tdm_wire_put_reply(const struct tdm_wire_reply *reply, uint32_t size, uint8_t dst[TDM_WIRE_SIZE_MAX]);

/* The other way, for clients: what a reply of `size` bytes has no room for is 0. */
struct tdm_wire_reply tdm_wire_get_reply(const uint8_t *bytes, uint32_t size);

#endif
