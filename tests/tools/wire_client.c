/*
 * A client of an allocation server. It does what its standard input says, line by line, and prints a line for each
 * answer, so that a test can wait for it.
 *
 *     wire_client SOCKET [SIZE]      SIZE of a message: 72, 112, 128 or 144 (the default)
 *
 *   connect                          prints "connected", or why not; the first line that needs it connects by itself
 *   close                            closes the connection
 *   size N, pid N                    of the messages from now on; a pid is what they claim (default: the truth)
 *   alloc DEVICE TYPE BYTES ID       TYPE is the runtime's number of a buffer type; an id may be hexadecimal (0x…)
 *   free DEVICE ID
 *   cb DEVICE BYTES ID               a circular buffer
 *   cbfree DEVICE BYTES ID
 *   kernel DEVICE TYPE BYTES ID      TYPE: 0 application, 1 fabric, 2 dispatch
 *   unload DEVICE BYTES ID
 *   query DEVICE                     prints "dram D l1 L l1_small S trace T cb C kernel K"
 *   info DEVICE                      prints "devices N available A arch R dram D l1 L channels C"
 *   dump, kernels                    DUMP_REMAINING, DUMP_KERNELS
 *   sync                             returns when the server has handled everything so far; prints "synced"
 *   flood MESSAGES LIVE BATCH [DEVICE [FIRST_ID]]   of 4096 bytes each; prints "flooded"
 *   kernel14 DEVICE BYTES TYPE, cb21 DEVICE BYTES INDEX CORES, cbfree17 DEVICE BYTES INDEX     the short messages
 *   helper TYPE DEVICE BYTES ID      the message of 32 bytes
 *   raw HEX                          these bytes
 *   pieces N                         from now on, no call sends more than N bytes; 0: whole messages
 *   say TEXT                         prints the text
 *   hang                             reads no more lines, and ends only by a signal
 *
 * When the server leaves, it prints "gone" and goes on without a connection. It ends with its input.
 */
#include "wire_send.h"

#include "base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 6, FLOOD_BYTES = 4096, LINE_CAP = 65536 };

struct client {
	const char *path;
	int fd; /* -1: not connected */
	uint32_t size, piece;
	int32_t pid;
	char *words[WORDS_MAX + 1]; /* of the line */
};

static uint64_t number(const struct client *client, unsigned word)
{
	return client->words[word] != NULL ? strtoull(client->words[word], NULL, 0) : 0;
}

static int32_t device(const struct client *client, unsigned word)
{
	return client->words[word] != NULL ? (int32_t)strtol(client->words[word], NULL, 0) : 0;
}

static void leave(struct client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	client->fd = -1;
}

static void gone(struct client *client)
{
	leave(client);
	puts("gone");
}

static bool enter(struct client *client)
{
	if (client->fd < 0)
		client->fd = wire_connect(client->path);
	if (client->fd >= 0)
		return true;
	printf("not connected: %s\n", tdm_err_text(client->fd));
	client->fd = -1;
	return false;
}

static void send_bytes(struct client *client, const void *bytes, size_t count)
{
	size_t piece = client->piece != 0 ? client->piece : count;
	for (size_t at = 0; at < count && client->fd >= 0; at += piece) {
		size_t left = count - at;
		if (!wire_send_all(client->fd, (const char *)bytes + at, left < piece ? left : piece))
			gone(client);
	}
}

/* What the line means as a message; false: it is none. */
static bool to_message(const struct client *client, struct tdm_wire_message *message)
{
	static const struct {
		const char *word;
		uint8_t type, buffer_type, bytes, id; /* which words; 0: none */
	} forms[] = {
		{ "alloc", TDM_WIRE_ALLOC, 2, 3, 4 },
		{ "free", TDM_WIRE_FREE, 0, 0, 2 },
		{ "cb", TDM_WIRE_CB_ALLOC, 0, 2, 3 },
		{ "cbfree", TDM_WIRE_CB_FREE, 0, 2, 3 },
		{ "kernel", TDM_WIRE_KERNEL_LOAD, 2, 3, 4 },
		{ "unload", TDM_WIRE_KERNEL_UNLOAD, 0, 2, 3 },
		{ "dump", TDM_WIRE_DUMP_REMAINING, 0, 0, 0 },
		{ "kernels", TDM_WIRE_DUMP_KERNELS, 0, 0, 0 },
	};
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		if (strcmp(client->words[0], forms[i].word) != 0)
			continue;
		*message = (struct tdm_wire_message){ .type = forms[i].type,
			.device = device(client, 1),
			.pid = client->pid,
			.buffer_type = forms[i].buffer_type != 0 ? (uint8_t)number(client, forms[i].buffer_type) : 0,
			.bytes = forms[i].bytes != 0 ? number(client, forms[i].bytes) : 0,
			.id = forms[i].id != 0 ? number(client, forms[i].id) : 0 };
		return true;
	}
	return false;
}

static void put_number(uint8_t *bytes, size_t *used, uint64_t value, size_t size)
{
	memcpy(bytes + *used, &value, size);
	*used += size;
}

/* The messages without padding, and the one of the helper header. 0: the line is none of them. */
static size_t to_odd_message(const struct client *client, uint8_t bytes[TDM_WIRE_SIZE_MAX])
{
	static const char *const shorts[] = { "kernel14", "cb21", "cbfree17" };
	size_t used = 0;
	for (uint8_t i = 0; i < 3; i++) {
		if (strcmp(client->words[0], shorts[i]) != 0)
			continue;
		put_number(bytes, &used, 8U + i, 1);
		put_number(bytes, &used, (uint32_t)device(client, 1), 4);
		put_number(bytes, &used, number(client, 2), 8);
		put_number(bytes, &used, number(client, 3), i == 0 ? 1 : 4);
		if (i == 1)
			put_number(bytes, &used, number(client, 4), 4);
		return used;
	}
	if (strcmp(client->words[0], "helper") != 0)
		return 0;
	put_number(bytes, &used, number(client, 1) & UINT8_MAX, 4);
	put_number(bytes, &used, (uint32_t)device(client, 2), 4);
	put_number(bytes, &used, number(client, 3), 8);
	put_number(bytes, &used, number(client, 4), 8);
	put_number(bytes, &used, (uint32_t)client->pid, 8);
	return used;
}

static void send_raw(struct client *client)
{
	const char *hex = client->words[1] != NULL ? client->words[1] : "";
	uint8_t bytes[LINE_CAP / 2];
	size_t count = 0;
	for (; hex[0] != '\0' && hex[1] != '\0'; hex += 2) {
		const char pair[] = { hex[0], hex[1], '\0' };
		bytes[count++] = (uint8_t)strtoul(pair, NULL, 16);
	}
	send_bytes(client, bytes, count);
}

static void ask(struct client *client)
{
	bool is_info = strcmp(client->words[0], "info") == 0, is_query = strcmp(client->words[0], "query") == 0;
	struct tdm_wire_reply r;
	if (!wire_ask(client->fd, client->size, is_info ? TDM_WIRE_DEVICE_INFO_QUERY : TDM_WIRE_QUERY,
		    device(client, 1), &r))
		gone(client);
	else if (is_info)
		printf("devices %" PRIu32 " available %" PRIu32 " arch %" PRIu32 " dram %" PRIu64 " l1 %" PRIu64
		       " channels %" PRIu32 "\n",
			r.device_count, r.is_available, r.arch, r.total_dram, r.total_l1, r.dram_channels);
	else if (is_query)
		printf("dram %" PRIu64 " l1 %" PRIu64 " l1_small %" PRIu64 " trace %" PRIu64 " cb %" PRIu64
		       " kernel %" PRIu64 "\n",
			r.dram, r.l1, r.l1_small, r.trace, r.cb, r.kernel);
	else
		puts("synced");
}

static void flood(struct client *client)
{
	uint64_t batch = number(client, 3);
	struct wire_flood plan = { .size = client->size,
		.batch = batch != 0 && batch <= 65536 ? (uint32_t)batch : 1,
		.device = device(client, 4),
		.messages = number(client, 1),
		.live = number(client, 2),
		.bytes = FLOOD_BYTES,
		.first_id = number(client, 5) };
	if (wire_flood(client->fd, &plan))
		puts("flooded");
	else
		gone(client);
}

/* What changes the client only. False: something is to be sent. */
static bool change(struct client *client)
{
	const char *word = client->words[0];
	if (strcmp(word, "close") == 0)
		leave(client);
	else if (strcmp(word, "size") == 0)
		client->size = (uint32_t)number(client, 1);
	else if (strcmp(word, "pid") == 0)
		client->pid = device(client, 1);
	else if (strcmp(word, "pieces") == 0)
		client->piece = (uint32_t)number(client, 1);
	else if (strcmp(word, "say") == 0)
		puts(client->words[1] != NULL ? client->words[1] : "");
	else if (strcmp(word, "hang") == 0)
		while (pause() < 0)
			;
	else
		return false;
	return true;
}

static bool is_known_size(uint64_t size)
{
	return size == 72 || size == 112 || size == 128 || size == 144;
}

/* False: the line is not understood. */
static bool obey(struct client *client)
{
	struct tdm_wire_message message;
	uint8_t bytes[TDM_WIRE_SIZE_MAX];
	size_t odd;
	const char *word = client->words[0];
	if (change(client))
		return is_known_size(client->size);
	if (!enter(client))
		return true;
	if (strcmp(word, "connect") == 0) {
		puts("connected");
	} else if (to_message(client, &message)) {
		tdm_wire_put_message(&message, client->size, bytes);
		send_bytes(client, bytes, client->size);
	} else if ((odd = to_odd_message(client, bytes)) != 0) {
		send_bytes(client, bytes, odd);
	} else if (strcmp(word, "raw") == 0) {
		send_raw(client);
	} else if (strcmp(word, "query") == 0 || strcmp(word, "info") == 0 || strcmp(word, "sync") == 0) {
		ask(client);
	} else if (strcmp(word, "flood") == 0) {
		flood(client);
	} else {
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct client client = { .fd = -1, .size = TDM_WIRE_SIZE_MAX, .pid = (int32_t)getpid() };
	if (argc < 2 || argc > 3 || (argc == 3 && !is_known_size(strtoul(argv[2], NULL, 10)))) {
		fputs("usage: wire_client SOCKET [SIZE] <LINES\n", stderr);
		return 2;
	}
	client.path = argv[1];
	if (argc == 3)
		client.size = (uint32_t)strtoul(argv[2], NULL, 10);
	static char line[LINE_CAP];
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof line, stdin) != NULL) {
		char *rest = line;
		for (unsigned i = 0; i <= WORDS_MAX; i++)
			client.words[i] = i < WORDS_MAX ? strtok_r(rest, " \n", &rest) : NULL;
		if (client.words[0] == NULL || client.words[0][0] == '#')
			continue;
		if (!obey(&client)) {
			fprintf(stderr, "wire_client: not understood: %s\n", client.words[0]);
			return 2;
		}
	}
	leave(&client);
	return 0;
}
