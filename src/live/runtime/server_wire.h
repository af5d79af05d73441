/*
 * The messages that instrumented programs send to an allocation server, decoded from a copy of their bytes.
 * docs/formats/server_socket.md describes them.
 *
 * A message has no magic number and no length. Four sizes are in use; a client uses one of them for all its messages
 * and expects replies of that size. The bytes themselves reveal the size: after the 40-byte header, a client sends only
 * zeros, and the first byte of a message is never 0. So the first nonzero byte after the header begins the next
 * message. The size of a single message is its length, once no more bytes arrive.
 */
#ifndef TDM_LIVE_SERVER_WIRE_H
#define TDM_LIVE_SERVER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"
#include "base/buf.h"

#define TDM_WIRE_SOCKET "/tmp/tt_allocation_server.sock" /* the fixed path that instrumented programs connect to */

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
	uint8_t type; /* enum tdm_wire_type, or any other byte */
	/* for a buffer: the runtime's number for its type; for a kernel: 0 application, 1 fabric, 2 dispatch */
	uint8_t buffer_type;
	int32_t device;
	int32_t pid; /* the client's pid, according to the client */
	uint64_t bytes;
	uint64_t id;
	/* number of cores with this circular buffer, which takes these bytes in each core; 0 if unknown */
	uint32_t cores;
};

/* Splits one connection's bytes into messages. Starts as all 0. */
struct tdm_wire {
	uint32_t size;   /* size of a message; 0 if not known yet */
	bool is_guessed; /* the size was guessed from a pause, so a larger size is still possible */
};

enum tdm_wire_found {
	TDM_WIRE_NONE,    /* *message is filled in, and took `size` bytes */
	TDM_WIRE_MESSAGE, /* *message is filled; it used `size` bytes */
	TDM_WIRE_REST,    /* zeros that belong to the previous message: its size was guessed too small */
	TDM_WIRE_BAD,     /* no client sends these bytes */
};

/*
 * Decodes the message that begins at `bytes`. *used is the number of bytes consumed. `is_quiet`: no bytes have arrived
 * for a while, so a single message is complete; this matters only until the size is known.
 */
enum tdm_wire_found tdm_wire_next(struct tdm_wire *wire, const uint8_t *bytes, size_t count, bool is_quiet,
	struct tdm_wire_message *message, size_t *used);

/*
 * Decodes messages with other layouts, for sockets that receive nothing else, because the bytes do not distinguish the
 * layouts. Returns the same results, except TDM_WIRE_REST. Types are translated to those of the four sizes.
 *
 * Depending on the type, a short message is 14 bytes (kernel), 21 bytes (circular buffer) or 17 bytes (a circular
 * buffer's release) long. A kernel's id is 0. A circular buffer's id is its index.
 */
enum tdm_wire_found tdm_wire_short(const uint8_t *bytes, size_t count, struct tdm_wire_message *message, size_t *used);
/* Decodes the helper header's messages, which are 32 bytes long and concern circular buffers and kernels. */
enum tdm_wire_found tdm_wire_helper(const uint8_t *bytes, size_t count, struct tdm_wire_message *message, size_t *used);

bool tdm_wire_is_size(size_t bytes); /* whether it is one of the four sizes */

/* The kind of memory for the runtime's buffer type number; TDM_KIND_COUNT if there is none. */
enum tdm_kind tdm_wire_kind(uint8_t buffer_type);

/*
 * Whether a buffer's id is its address. In L1, the upper half of a large id is a core, and the lowest addresses belong
 * to firmware. Addresses are multiples of 16, so any other id shows that the client numbers its buffers; *is_counting
 * remembers this.
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

/* The content of a reply. Fields that do not fit a client's message size are omitted. */
struct tdm_wire_reply {
	enum tdm_wire_type type;
	int32_t device;
	uint64_t dram, l1, l1_small, trace, cb, kernel; /* allocated bytes */
	uint64_t total_dram, total_l1;
	uint32_t arch, dram_channels, dram_per_channel, l1_per_core, is_available, device_count;
};

/* Writes a reply of `size` bytes, one of the four sizes. */
void tdm_wire_put_reply(const struct tdm_wire_reply *reply, uint32_t size, uint8_t dst[TDM_WIRE_SIZE_MAX]);

/* Decodes a reply, for clients: fields missing in a reply of `size` bytes are 0. */
struct tdm_wire_reply tdm_wire_get_reply(const uint8_t *bytes, uint32_t size);

/*
 * ---- questions as text ----
 *
 * Sends the daemon a question as text, through the socket that instrumented programs use
 * (docs/formats/server_socket.md).
 */

/* Connects, without blocking, to a socket with a name in the file system. Returns a descriptor or -errno. */
int tdm_server_connect(const char *path);

/*
 * Asks for a summary, and appends the answer, with unprintable characters replaced, because any program may be
 * listening there. 0; -ETIMEDOUT: no answer; -EPROTO: the server does not understand the question; -EFBIG: the answer
 * is too long; or -errno.
 */
int tdm_server_ask(const char *path, const char *question, struct tdm_buf *out);

#endif
