#include "live/runtime/server_wire.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const uint32_t sizes[] = { 72, 112, 128, 144 };
enum { SIZE_COUNT = sizeof sizes / sizeof *sizes };

enum {
	AT_TYPE = 0,
	AT_DEVICE = 4,
	AT_BYTES = 8,
	AT_BUFFER_TYPE = 16,
	AT_PID = 20,
	AT_ID = 24,
	AT_TOTALS = 40,
};

static bool is_type(uint8_t byte)
{
	return byte >= TDM_WIRE_ALLOC && byte < TDM_WIRE_TYPE_END;
}

bool tdm_wire_is_size(size_t bytes)
{
	for (unsigned i = 0; i < SIZE_COUNT; i++)
		if (sizes[i] == bytes)
			return true;
	return false;
}

/* The number of consecutive zeros starting at `at`. */
static size_t zeros(const uint8_t *bytes, size_t at, size_t count)
{
	size_t end = at;
	while (end < count && bytes[end] == 0)
		end++;
	return end - at;
}

/* The size of the first message: 0 if it is not known yet, UINT32_MAX if no client sends such bytes. */
static uint32_t find_size(const uint8_t *bytes, size_t count, bool is_quiet, bool *is_guessed)
{
	size_t cap = count < TDM_WIRE_SIZE_MAX + 1 ? count : TDM_WIRE_SIZE_MAX + 1;
	if (count > 0 && !is_type(bytes[0]))
		return UINT32_MAX;
	if (count <= TDM_WIRE_HEADER)
		return 0;
	size_t end = TDM_WIRE_HEADER + zeros(bytes, TDM_WIRE_HEADER, cap);
	*is_guessed = false;
	if (end < cap) /* the next message begins here */
		return tdm_wire_is_size(end) && is_type(bytes[end]) ? (uint32_t)end : UINT32_MAX;
	if (end == TDM_WIRE_SIZE_MAX)
		return TDM_WIRE_SIZE_MAX;
	if (end > TDM_WIRE_SIZE_MAX)
		return UINT32_MAX;
	*is_guessed = true;
	return is_quiet && tdm_wire_is_size(end) ? (uint32_t)end : 0;
}

enum tdm_wire_found tdm_wire_next(struct tdm_wire *wire, const uint8_t *bytes, size_t count, bool is_quiet,
	struct tdm_wire_message *message, size_t *used)
{
	*used = 0;
	if (wire->size == 0) {
		uint32_t size = find_size(bytes, count, is_quiet, &wire->is_guessed);
		if (size == 0 || size == UINT32_MAX)
			return size == 0 ? TDM_WIRE_NONE : TDM_WIRE_BAD;
		wire->size = size;
	} else if (count > 0 && bytes[0] == 0) {
		/* The size was guessed from a pause, and zeros follow: they are the rest of that message. */
		size_t rest = zeros(bytes, 0, count);
		bool is_whole = rest < count;
		for (unsigned i = 0; i < SIZE_COUNT && wire->is_guessed; i++) {
			if (sizes[i] <= wire->size || sizes[i] - wire->size < rest)
				continue;
			if (sizes[i] - wire->size != rest)
				return is_whole ? TDM_WIRE_BAD : TDM_WIRE_NONE;
			wire->is_guessed = !is_whole && sizes[i] != TDM_WIRE_SIZE_MAX;
			wire->size = sizes[i];
			*used = rest;
			return TDM_WIRE_REST;
		}
		return TDM_WIRE_BAD;
	} else if (count > 0) {
		wire->is_guessed = false;
	}
	if (count < wire->size)
		return TDM_WIRE_NONE;
	*message = (struct tdm_wire_message){ .type = bytes[AT_TYPE], .buffer_type = bytes[AT_BUFFER_TYPE] };
	memcpy(&message->device, bytes + AT_DEVICE, sizeof message->device);
	memcpy(&message->pid, bytes + AT_PID, sizeof message->pid);
	memcpy(&message->bytes, bytes + AT_BYTES, sizeof message->bytes);
	memcpy(&message->id, bytes + AT_ID, sizeof message->id);
	*used = wire->size;
	return TDM_WIRE_MESSAGE;
}

enum tdm_wire_found tdm_wire_short(const uint8_t *bytes, size_t count, struct tdm_wire_message *message, size_t *used)
{
	enum { KERNEL = 8, CB, CB_END, AT_SHORT_DEVICE = 1, AT_SHORT_BYTES = 5, AT_SHORT_ID = 13, AT_SHORT_CORES = 17 };
	static const uint8_t lengths[] = { 14, 21, 17 };
	static const uint8_t types[] = { TDM_WIRE_KERNEL_LOAD, TDM_WIRE_CB_ALLOC, TDM_WIRE_CB_FREE };
	*used = 0;
	if (count == 0)
		return TDM_WIRE_NONE;
	if (bytes[AT_TYPE] < KERNEL || bytes[AT_TYPE] > CB_END)
		return TDM_WIRE_BAD;
	unsigned which = (unsigned)bytes[AT_TYPE] - KERNEL;
	if (count < lengths[which])
		return TDM_WIRE_NONE;
	*message = (struct tdm_wire_message){ .type = types[which], .buffer_type = UINT8_MAX };
	memcpy(&message->device, bytes + AT_SHORT_DEVICE, sizeof message->device);
	memcpy(&message->bytes, bytes + AT_SHORT_BYTES, sizeof message->bytes);
	uint32_t index = 0;
	if (bytes[AT_TYPE] != KERNEL)
		memcpy(&index, bytes + AT_SHORT_ID, sizeof index);
	message->id = index;
	if (bytes[AT_TYPE] == CB)
		memcpy(&message->cores, bytes + AT_SHORT_CORES, sizeof message->cores);
	*used = lengths[which];
	return TDM_WIRE_MESSAGE;
}

enum tdm_wire_found tdm_wire_helper(const uint8_t *bytes, size_t count, struct tdm_wire_message *message, size_t *used)
{
	enum { LENGTH = 32, AT_HELPER_ID = 16, AT_HELPER_PID = 24 };
	*used = 0;
	if (count > 0 && (bytes[AT_TYPE] < TDM_WIRE_CB_ALLOC || bytes[AT_TYPE] > TDM_WIRE_KERNEL_UNLOAD))
		return TDM_WIRE_BAD;
	if (count < LENGTH)
		return TDM_WIRE_NONE;
	*message = (struct tdm_wire_message){ .type = bytes[AT_TYPE] };
	memcpy(&message->device, bytes + AT_DEVICE, sizeof message->device);
	memcpy(&message->bytes, bytes + AT_BYTES, sizeof message->bytes);
	memcpy(&message->id, bytes + AT_HELPER_ID, sizeof message->id);
	memcpy(&message->pid, bytes + AT_HELPER_PID, sizeof message->pid);
	*used = LENGTH;
	return TDM_WIRE_MESSAGE;
}

enum tdm_kind tdm_wire_kind(uint8_t buffer_type)
{
	static const uint8_t kinds[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_SYSTEM, TDM_KIND_L1_SMALL,
		TDM_KIND_TRACE };
	return buffer_type < sizeof kinds ? (enum tdm_kind)kinds[buffer_type] : TDM_KIND_COUNT;
}

void tdm_wire_put_message(const struct tdm_wire_message *message, uint32_t size, uint8_t dst[TDM_WIRE_SIZE_MAX])
{
	memset(dst, 0, size);
	dst[AT_TYPE] = message->type;
	dst[AT_BUFFER_TYPE] = message->buffer_type;
	memcpy(dst + AT_DEVICE, &message->device, sizeof message->device);
	memcpy(dst + AT_PID, &message->pid, sizeof message->pid);
	memcpy(dst + AT_BYTES, &message->bytes, sizeof message->bytes);
	memcpy(dst + AT_ID, &message->id, sizeof message->id);
}

/* A reply's fields after the header, in order, each with the smallest message size that contains the field. Later
 * versions inserted fields in the middle, which moved the rest. */
#define FIELD(name, size)                                                                              \
	{                                                                                              \
		offsetof(struct tdm_wire_reply, name), sizeof((struct tdm_wire_reply){ 0 }.name), size \
	}
static const struct {
	uint8_t offset, bytes, size;
} reply_fields[] = {
	FIELD(dram, 72),
	FIELD(l1, 72),
	FIELD(l1_small, 72),
	FIELD(trace, 72),
	FIELD(cb, 128),
	FIELD(kernel, 128),
	FIELD(total_dram, 112),
	FIELD(total_l1, 112),
	FIELD(arch, 112),
	FIELD(dram_channels, 112),
	FIELD(dram_per_channel, 112),
	FIELD(l1_per_core, 112),
	FIELD(is_available, 112),
	FIELD(device_count, 112),
};

void tdm_wire_put_reply(const struct tdm_wire_reply *reply, uint32_t size, uint8_t dst[TDM_WIRE_SIZE_MAX])
{
	uint8_t *at = dst + AT_TOTALS;
	memset(dst, 0, TDM_WIRE_SIZE_MAX);
	dst[AT_TYPE] = (uint8_t)reply->type;
	memcpy(dst + AT_DEVICE, &reply->device, sizeof reply->device);
	for (size_t i = 0; i < sizeof reply_fields / sizeof *reply_fields; i++)
		if (size >= reply_fields[i].size) {
			memcpy(at, (const char *)reply + reply_fields[i].offset, reply_fields[i].bytes);
			at += reply_fields[i].bytes;
		}
}

struct tdm_wire_reply tdm_wire_get_reply(const uint8_t *bytes, uint32_t size)
{
	struct tdm_wire_reply reply = { .type = (enum tdm_wire_type)bytes[AT_TYPE] };
	const uint8_t *at = bytes + AT_TOTALS;
	memcpy(&reply.device, bytes + AT_DEVICE, sizeof reply.device);
	for (size_t i = 0; i < sizeof reply_fields / sizeof *reply_fields; i++)
		if (size >= reply_fields[i].size) {
			memcpy((char *)&reply + reply_fields[i].offset, at, reply_fields[i].bytes);
			at += reply_fields[i].bytes;
		}
	return reply;
}

/* ---- questions as text ---- */

enum { WAIT_MS = 5000, ANSWER_MAX = 64 << 20, PIECE = 4096 };

int tdm_server_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof address.sun_path)
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
		return fd;
	int err = -errno;
	close(fd);
	return err;
}

/* Appends all bytes until the other end closes the connection. */
static int read_answer(int fd, struct tdm_buf *out)
{
	uint64_t end_ns = tdm_clock_ns() + WAIT_MS * TDM_NS_PER_MS;
	for (;;) {
		char piece[PIECE];
		struct pollfd one = { .fd = fd, .events = POLLIN };
		ssize_t got = recv(fd, piece, sizeof piece, MSG_DONTWAIT);
		uint64_t now_ns = tdm_clock_ns();
		if (got == 0)
			return out->len != 0 ? 0 : -EPROTO;
		if (got > 0 && out->len > ANSWER_MAX)
			return -EFBIG;
		if (got > 0)
			tdm_buf_add(out, piece, (size_t)got);
		else if (errno == ECONNRESET)
			return -EPROTO;
		else if (errno != EAGAIN && errno != EINTR)
			return -errno;
		else if (now_ns >= end_ns || poll(&one, 1, (int)((end_ns - now_ns) / TDM_NS_PER_MS) + 1) == 0)
			return -ETIMEDOUT;
	}
}

int tdm_server_ask(const char *path, const char *question, struct tdm_buf *out)
{
	struct tdm_buf answer = { 0 };
	int fd = tdm_server_connect(path);
	if (fd < 0)
		return fd;
	char *words = tdm_printed("TIDEMARK %s\n", question);
	size_t len = strlen(words);
	int err = send(fd, words, len, MSG_NOSIGNAL) == (ssize_t)len ? read_answer(fd, &answer) : -EPROTO;
	close(fd);
	for (size_t i = 0, used; i < answer.len && err == 0; i += used) {
		used = tdm_str_printable(answer.data + i, tdm_min(answer.len - i, TDM_UTF8_MAX));
		if (used == 0 && answer.data[i] != '\n')
			answer.data[i] = '?';
		used += used == 0;
	}
	if (err == 0)
		tdm_buf_add(out, answer.data, answer.len);
	free(words);
	tdm_buf_done(&answer);
	return err;
}
