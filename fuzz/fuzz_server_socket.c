/*
 * Fuzz the socket server. Exercises: daemon/socket/socket_server.c, connection.c, clients.c, server_texts.c,
 * and the writer of ledgers on behalf. The first byte chooses the form of the messages, the second is the
 * seed of the pieces in which the rest arrives.
 *
 * Properties: a reply has the client's size; what is refused is counted; the sums of all clients are those of their
 * ledgers, so a daemon that goes on with them has the same sums; the ledgers are valid.
 */
#include <fcntl.h>
#include <glob.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "../tests/unit/ledger_walk.h"
#include "daemon/socket/socket_server.h"
#include "fuzz_folder.h"
#include "fuzz_pieces.h"

enum { DEVICES = 80 };

struct sums {
	uint64_t bytes[DEVICES][TDM_KIND_COUNT], buffers[DEVICES][TDM_KIND_COUNT];
};

struct run {
	struct tdm_loop loop;
	struct tdm_daemon_options options;
	char path[128];
	struct tdm_server server;
};

static void start(struct run *run)
{
	static int null = -1;
	if (null < 0)
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	snprintf(run->path, sizeof run->path, "%s/socket", fuzz_folder_get());
	run->options = (struct tdm_daemon_options){ .socket = run->path, .dir = fuzz_folder, .socket_mode = 0600 };
	check(null >= 0 && setenv("STATE_DIRECTORY", fuzz_folder, 1) == 0);
	check(tdm_loop_init(&run->loop) == 0 && tdm_server_init(&run->server, &run->loop, &run->options) == 0);
	tdm_quick_free(run->server.quick); /* connections are read here, and by nobody else */
	run->server.quick = NULL;
	tdm_server_log_done(&run->server.log);
	tdm_server_log_init(&run->server.log, &run->loop, null);
}

static void stop(struct run *run)
{
	tdm_server_done(&run->server);
	tdm_loop_done(&run->loop);
}

static void add_up(const struct run *run, struct sums *sums)
{
	memset(sums, 0, sizeof *sums);
	for (size_t i = 0; i < run->server.clients.sum_count; i++) {
		const struct tdm_device_sum *sum = &run->server.clients.sum_list[i];
		if (sum->users == 0 || sum->number >= DEVICES)
			continue;
		memcpy(sums->bytes[sum->number], sum->bytes, sizeof sum->bytes);
		memcpy(sums->buffers[sum->number], sum->buffers, sizeof sum->buffers);
	}
}

static uint64_t reports(const struct run *run)
{
	const _Atomic uint64_t *messages = run->server.clients.counters.messages;
	return messages[TDM_WIRE_ALLOC] + messages[TDM_WIRE_FREE] + messages[TDM_WIRE_CB_ALLOC] +
	       messages[TDM_WIRE_CB_FREE] + messages[TDM_WIRE_KERNEL_LOAD] + messages[TDM_WIRE_KERNEL_UNLOAD];
}

/* Sends everything, and reads the replies. */
static void feed(struct run *run, enum tdm_wire_form form, uint32_t seed, const uint8_t *data, size_t size)
{
	char replies[65536];
	int ends[2];
	size_t got = 0;
	ssize_t part;
	bool is_open = true, is_asked = form == TDM_FORM_SIZES && size != 0 && data[0] == 'T';
	check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	struct tdm_connection *c = tdm_connection_new(&run->server, ends[0], form);
	check(c != NULL);
	for (size_t at = 0; at < size && is_open;) {
		size_t piece = fuzz_piece(&seed, size - at);
		check(send(ends[1], data + at, piece, MSG_NOSIGNAL) == (ssize_t)piece);
		at += piece;
		is_open = tdm_connection_read(c);
		while ((part = recv(ends[1], replies, sizeof replies, MSG_DONTWAIT)) > 0)
			got += (size_t)part;
		check(!is_open || is_asked || form != TDM_FORM_SIZES || c->wire.size == 0 || got % c->wire.size == 0);
	}
	const struct tdm_server_counters *counters = &run->server.clients.counters;
	check(reports(run) == counters->allocations + counters->releases + counters->unknown +
				      counters->refused_device + counters->refused_invalid + counters->refused_space +
				      counters->refused_nobody);
	close(ends[1]);
	if (is_open)
		check(!tdm_connection_read(c)); /* the end */
}

static void walk_ledgers(void)
{
	char pattern[128];
	glob_t found = { 0 };
	snprintf(pattern, sizeof pattern, "%s/tidemark-*/*", fuzz_folder);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			check(ledger_walk_content(found.gl_pathv[i]) == 0);
	globfree(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct run run;
	static struct sums before, after;
	if (size < 2)
		return 0;
	start(&run);
	feed(&run, (enum tdm_wire_form)(data[0] % TDM_FORM_COUNT), data[1], data + 2, size - 2);
	add_up(&run, &before);
	tdm_server_dump(&run.server);
	tdm_server_dump_asked(&run.server, true);
	tdm_server_dump_statistics(&run.server);
	bool is_given = run.server.is_given;
	stop(&run);
	start(&run);
	add_up(&run, &after);
	check(is_given || memcmp(&before, &after, sizeof before) == 0);
	stop(&run);
	walk_ledgers();
	fuzz_folder_empty();
	return 0;
}
