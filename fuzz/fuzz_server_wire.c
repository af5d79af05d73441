/*
 * Fuzz the division of a stream into messages. Exercises: live/runtime/server_wire.c. The first byte chooses what the
 * rest is: the bytes of a stream of the four sizes, of short messages or of helper messages, or what a well-behaved
 * client of one size sends. The second byte is the seed of the pieces in which they come.
 *
 * Properties: a message takes bytes that are there; what is kept for later is less than the longest message; pieces
 * make no difference; of a well-behaved client every message arrives as it was sent, wherever the stream is cut and
 * whichever cut is taken for a pause; a reply says what was put into it, as far as its size has room.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fuzz_check.h"
#include "fuzz_pieces.h"
#include "live/runtime/server_wire.h"

enum form { FORM_SIZES, FORM_SHORT, FORM_HELPER, FORM_CLIENT, FORM_COUNT };
enum { MESSAGES_MAX = 1024, STREAM_MAX = MESSAGES_MAX * TDM_WIRE_SIZE_MAX };

struct taken {
	struct tdm_wire_message list[MESSAGES_MAX];
	size_t count;
	bool is_bad;
};

static enum tdm_wire_found next(enum form form, struct tdm_wire *wire, const uint8_t *bytes, size_t count,
	bool is_quiet, struct tdm_wire_message *message, size_t *used)
{
	if (form == FORM_SHORT)
		return tdm_wire_short(bytes, count, message, used);
	if (form == FORM_HELPER)
		return tdm_wire_helper(bytes, count, message, used);
	return tdm_wire_next(wire, bytes, count, is_quiet, message, used);
}

/* Takes what is whole of `count` bytes. Returns the bytes that were used. */
static size_t take(
	enum form form, struct tdm_wire *wire, const uint8_t *bytes, size_t count, bool is_quiet, struct taken *taken)
{
	size_t at = 0;
	while (at < count) {
		struct tdm_wire_message message = { 0 };
		size_t used;
		enum tdm_wire_found found = next(form, wire, bytes + at, count - at, is_quiet, &message, &used);
		check(used <= count - at);
		check((used != 0) == (found == TDM_WIRE_MESSAGE || found == TDM_WIRE_REST));
		check(wire->size == 0 || tdm_wire_is_size(wire->size));
		taken->is_bad = found == TDM_WIRE_BAD;
		if (found == TDM_WIRE_BAD || found == TDM_WIRE_NONE)
			return at;
		at += used;
		if (found == TDM_WIRE_MESSAGE && taken->count < MESSAGES_MAX)
			taken->list[taken->count++] = message;
	}
	return at;
}

/* Takes a stream in pieces; a pause is seen between them, or never. */
static void take_pieces(
	enum form form, const uint8_t *bytes, size_t count, uint32_t seed, bool sees_pauses, struct taken *taken)
{
	struct tdm_wire wire = { 0 };
	size_t begin = 0, end = 0;
	taken->count = 0;
	taken->is_bad = false;
	while (end < count && !taken->is_bad) {
		size_t piece = fuzz_piece(&seed, count - end);
		end += piece;
		begin += take(form, &wire, bytes + begin, end - begin, sees_pauses, taken);
		check(taken->is_bad || end - begin < TDM_WIRE_SIZE_MAX);
	}
}

static bool is_same(const struct tdm_wire_message *a, const struct tdm_wire_message *b)
{
	return a->type == b->type && a->buffer_type == b->buffer_type && a->device == b->device && a->pid == b->pid &&
	       a->bytes == b->bytes && a->id == b->id;
}

/* The shorter list is the beginning of the longer one, and they only differ if the stream is bad. */
static void compare(const struct taken *a, const struct taken *b)
{
	size_t both = a->count < b->count ? a->count : b->count;
	check(a->count == b->count || a->is_bad || b->is_bad);
	for (size_t i = 0; i < both; i++)
		check(is_same(&a->list[i], &b->list[i]));
}

/* What a client of one size sends. Returns the bytes of the stream. */
static size_t send_all(const uint8_t *data, size_t size, uint8_t *stream, struct taken *sent)
{
	static const uint32_t sizes[] = { 72, 112, 128, 144 };
	uint32_t bytes = sizes[size != 0 ? data[0] % 4 : 0];
	size_t len = 0;
	for (sent->count = 0; size >= sizeof(struct tdm_wire_message) && sent->count < MESSAGES_MAX; sent->count++) {
		struct tdm_wire_message *message = &sent->list[sent->count];
		memcpy(message, data, sizeof *message);
		message->type = (uint8_t)(TDM_WIRE_ALLOC + message->type % (TDM_WIRE_TYPE_END - TDM_WIRE_ALLOC));
		tdm_wire_put_message(message, bytes, stream + len);
		len += bytes;
		data += sizeof *message;
		size -= sizeof *message;
	}
	return len;
}

static void check_reply(const uint8_t *data, size_t size)
{
	static const uint32_t sizes[] = { 72, 112, 128, 144 };
	uint8_t bytes[TDM_WIRE_SIZE_MAX] = { 0 }, again[TDM_WIRE_SIZE_MAX];
	memcpy(bytes, data, size < sizeof bytes ? size : sizeof bytes);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct tdm_wire_reply reply = tdm_wire_get_reply(bytes, sizes[i]);
		tdm_wire_put_reply(&reply, sizes[i], again);
		struct tdm_wire_reply back = tdm_wire_get_reply(again, sizes[i]);
		check(back.type == reply.type && back.device == reply.device && back.dram == reply.dram &&
			back.trace == reply.trace && back.cb == reply.cb && back.kernel == reply.kernel &&
			back.total_l1 == reply.total_l1 && back.device_count == reply.device_count);
		for (size_t k = sizes[i]; k < sizeof again; k++)
			check(again[k] == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t stream[STREAM_MAX];
	static struct taken whole, pieces, sent;
	if (size < 2)
		return 0;
	enum form form = (enum form)(data[0] % FORM_COUNT);
	uint32_t seed = data[1];
	data += 2;
	size -= 2;
	check_reply(data, size);
	if (form == FORM_CLIENT) {
		size_t len = send_all(data, size, stream, &sent);
		take_pieces(form, stream, len, seed, true, &pieces);
		check(!pieces.is_bad && pieces.count == sent.count);
		compare(&sent, &pieces);
		return 0;
	}
	take_pieces(form, data, size, 0, false, &whole);
	take_pieces(form, data, size, seed, false, &pieces);
	compare(&whole, &pieces);
	take_pieces(form, data, size, seed, true, &pieces);
	return 0;
}
