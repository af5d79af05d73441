/*
 * Fuzz the messages of the allocation server's sockets. Exercises: sources/server_wire.c.
 *
 * The first byte says how the rest is divided: in one piece, or in pieces of some length, as a socket may deliver it.
 *
 * Properties: no more bytes are used than there are; a message uses at least one; what a connection keeps until more
 * comes is less than a message; the size, once known for certain, never changes; and messages of a known size come out
 * the same in whatever pieces they come.
 */
#include <stdint.h>
#include <string.h>

#include "fuzz_check.h"
#include "sources/server_wire.h"

enum { MESSAGES_MAX = 256, FORMS = 3 };

struct result {
	struct tdm_wire wire;
	struct tdm_wire_message list[MESSAGES_MAX];
	size_t count;
	bool is_bad;
};

static enum tdm_wire_found next(unsigned form, struct result *result, const uint8_t *bytes, size_t count, bool is_quiet,
	struct tdm_wire_message *message, size_t *used)
{
	const struct tdm_wire before = result->wire;
	enum tdm_wire_found found = form == 0   ? tdm_wire_next(&result->wire, bytes, count, is_quiet, message, used)
				    : form == 1 ? tdm_wire_short(bytes, count, message, used)
						: tdm_wire_helper(bytes, count, message, used);
	check(result->wire.size == 0 || tdm_wire_is_size(result->wire.size));
	check(before.size == 0 || before.is_guessed || result->wire.size == before.size);
	return found;
}

/* Handles bytes as a connection does; what is left is a message that has begun. */
static size_t divide(unsigned form, struct result *result, const uint8_t *bytes, size_t count, bool is_quiet)
{
	size_t at = 0;
	while (at < count && !result->is_bad) {
		struct tdm_wire_message message;
		size_t used = 0;
		enum tdm_wire_found found = next(form, result, bytes + at, count - at, is_quiet, &message, &used);
		if (found == TDM_WIRE_NONE)
			break;
		result->is_bad = found == TDM_WIRE_BAD;
		if (result->is_bad)
			break;
		check(used != 0 && used <= count - at);
		at += used;
		if (found == TDM_WIRE_MESSAGE && result->count < MESSAGES_MAX)
			result->list[result->count++] = message;
	}
	check(result->is_bad || count - at < TDM_WIRE_SIZE_MAX);
	return at;
}

static void feed(unsigned form, struct result *result, const uint8_t *data, size_t size, size_t piece)
{
	uint8_t bytes[TDM_WIRE_SIZE_MAX + 256];
	size_t held = 0;
	for (size_t at = 0; at < size && !result->is_bad;) {
		size_t part = piece < size - at ? piece : size - at;
		memcpy(bytes + held, data + at, part);
		size_t used = divide(form, result, bytes, held + part, true);
		held = result->is_bad ? 0 : held + part - used;
		memmove(bytes, bytes + used, held);
		at += part;
	}
}

static bool is_same(const struct tdm_wire_message *a, const struct tdm_wire_message *b)
{
	return a->type == b->type && a->buffer_type == b->buffer_type && a->device == b->device && a->pid == b->pid &&
	       a->bytes == b->bytes && a->id == b->id;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct result whole, pieces;
	if (size == 0)
		return 0;
	size_t piece = (size_t)data[0] + 1;
	for (unsigned form = 0; form < FORMS; form++) {
		/* A size that is found while the bytes come depends on the pauses; one that is known does not. */
		for (unsigned known = 0; known < (form == 0 ? 2 : 1); known++) {
			memset(&whole, 0, sizeof whole);
			memset(&pieces, 0, sizeof pieces);
			if (known != 0)
				whole.wire.size = pieces.wire.size =
					data[0] % 2 != 0 ? TDM_WIRE_SIZE_MAX : TDM_WIRE_SIZE_MIN;
			divide(form, &whole, data + 1, size - 1, true);
			feed(form, &pieces, data + 1, size - 1, piece);
			if (known == 0 && form == 0)
				continue;
			check(whole.is_bad == pieces.is_bad && whole.count == pieces.count);
			for (size_t i = 0; i < whole.count; i++)
				check(is_same(&whole.list[i], &pieces.list[i]));
		}
	}
	return 0;
}
