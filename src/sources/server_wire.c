#include "sources/server_wire.h"

#include <string.h>

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

/* The number of zeros from `at` on. */
static size_t zeros(const uint8_t *bytes, size_t at, size_t count)
{
	size_t end = at;
	while (end < count && bytes[end] == 0)
		end++;
	return end - at;
}

/* The size of the first message: 0 if it cannot be known yet, UINT32_MAX if no client sends this. */
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

static void decode(const uint8_t *bytes, struct tdm_wire_message *message)
{
	message->type = bytes[AT_TYPE];
	message->buffer_type = bytes[AT_BUFFER_TYPE];
	memcpy(&message->device, bytes + AT_DEVICE, sizeof message->device);
	memcpy(&message->pid, bytes + AT_PID, sizeof message->pid);
	memcpy(&message->bytes, bytes + AT_BYTES, sizeof message->bytes);
	memcpy(&message->id, bytes + AT_ID, sizeof message->id);
	message->cores = 0;
}

/* The size was taken from a pause, and zeros follow: they are the rest of that message. */
static enum tdm_wire_found correct(struct tdm_wire *wire, const uint8_t *bytes, size_t count, size_t *used)
{
	size_t rest = zeros(bytes, 0, count);
	bool is_whole = rest < count;
	for (unsigned i = 0; i < SIZE_COUNT; i++) {
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
		return wire->is_guessed ? correct(wire, bytes, count, used) : TDM_WIRE_BAD;
	} else if (count > 0) {
		wire->is_guessed = false;
	}
	if (count < wire->size)
		return TDM_WIRE_NONE;
	decode(bytes, message);
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

static uint8_t *put(uint8_t *dst, const void *value, size_t bytes)
{
	memcpy(dst, value, bytes);
	return dst + bytes;
}

void tdm_wire_put_reply(const struct tdm_wire_reply *reply, uint32_t size, uint8_t dst[TDM_WIRE_SIZE_MAX])
{
	memset(dst, 0, TDM_WIRE_SIZE_MAX);
	dst[AT_TYPE] = (uint8_t)reply->type;
	memcpy(dst + AT_DEVICE, &reply->device, sizeof reply->device);
	const uint64_t buffers[] = { reply->dram, reply->l1, reply->l1_small, reply->trace };
	const uint64_t others[] = { reply->cb, reply->kernel };
	const uint64_t totals[] = { reply->total_dram, reply->total_l1 };
	const uint32_t info[] = { reply->arch, reply->dram_channels, reply->dram_per_channel, reply->l1_per_core,
		reply->is_available, reply->device_count };
	uint8_t *at = put(dst + AT_TOTALS, buffers, sizeof buffers);
	if (size >= sizes[2])
		at = put(at, others, sizeof others); /* in the middle: what follows moved when they were added */
	if (size >= sizes[1])
		put(put(at, totals, sizeof totals), info, sizeof info);
}

static const uint8_t *get(const uint8_t *src, void *value, size_t bytes)
{
	memcpy(value, src, bytes);
	return src + bytes;
}

struct tdm_wire_reply tdm_wire_get_reply(const uint8_t *bytes, uint32_t size)
{
	uint64_t buffers[4], others[2] = { 0 }, totals[2] = { 0 };
	uint32_t info[6] = { 0 };
	int32_t device;
	memcpy(&device, bytes + AT_DEVICE, sizeof device);
	const uint8_t *at = get(bytes + AT_TOTALS, buffers, sizeof buffers);
	if (size >= sizes[2])
		at = get(at, others, sizeof others);
	if (size >= sizes[1])
		get(get(at, totals, sizeof totals), info, sizeof info);
	return (struct tdm_wire_reply){ .type = (enum tdm_wire_type)bytes[AT_TYPE],
		.device = device,
		.dram = buffers[0],
		.l1 = buffers[1],
		.l1_small = buffers[2],
		.trace = buffers[3],
		.cb = others[0],
		.kernel = others[1],
		.total_dram = totals[0],
		.total_l1 = totals[1],
		.arch = info[0],
		.dram_channels = info[1],
		.dram_per_channel = info[2],
		.l1_per_core = info[3],
		.is_available = info[4],
		.device_count = info[5] };
}
