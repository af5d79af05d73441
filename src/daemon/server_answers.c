#include "daemon/server_answers.h"
#include "daemon/server_texts.h"
#include "daemon/takeover.h"
#include "ledger/ledger_archive.h"

#include <unistd.h>

void tdm_server_log_buf(struct tdm_server *server, struct tdm_buf *text)
{
	if (!tdm_buf_failed(text))
		tdm_server_log_text(&server->log, tdm_buf_str(text));
	tdm_buf_done(text);
}

void tdm_server_dump(struct tdm_server *server)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_text_remaining(&text, &server->clients, TDM_UID_ALL);
	tdm_server_log_buf(server, &text);
}

void tdm_server_dump_remaining(struct tdm_server *server)
{
	tdm_server_log_line(&server->log, "📋 Received DUMP_REMAINING request...\n");
	tdm_server_dump(server);
	tdm_server_log_line(&server->log, "📋 DUMP_REMAINING complete.\n");
}

void tdm_server_dump_kernels(struct tdm_server *server)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_buf_puts(&text, "📋 Received DUMP_KERNELS request...\n");
	tdm_text_kernels(&text, &server->clients, TDM_UID_ALL);
	tdm_buf_puts(&text, "📋 DUMP_KERNELS complete.\n");
	tdm_server_log_buf(server, &text);
}

static void put_statistics(struct tdm_server *server, struct tdm_buf *text)
{
	const struct tdm_server_counters *s = &server->counters;
	const struct tdm_clients_counters *c = &server->clients.counters;
	const struct {
		const char *what;
		uint64_t count;
	} rows[] = {
		{ "Connections open", server->open },
		{ "Connections since the start", s->connections },
		{ "Connections refused", s->refused_connections },
		{ "Processes with buffers tracked", server->clients.count },
		{ "Allocations", c->allocations },
		{ "Releases", c->releases },
		{ "Allocated again while live", c->replaced },
		{ "Releases of unknown buffers", c->unknown },
		{ "Releases that several buffers match", c->ambiguous },
		{ "Refused: device", c->refused_device },
		{ "Refused: size or kind", c->refused_invalid },
		{ "Refused: no room", c->refused_space },
		{ "Refused: unknown process", c->refused_nobody },
		{ "Messages of unknown type", s->unknown_types },
		{ "Messages that name another process", s->other_pids },
		{ "Connections closed: not messages", s->bad_streams },
		{ "Connections that ended within a message", s->half_messages },
		{ "Processes ended", c->died },
		{ "Buffers they left", c->leaked_buffers },
		{ "Bytes they left", c->leaked_bytes },
		{ "Waits for a client that does not read", s->waits },
		{ "Lines lost", server->log.lost },
	};
	tdm_text_statistics(text, &server->clients);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		tdm_buf_printf(text, "  %s: %llu\n", rows[i].what, (unsigned long long)rows[i].count);
}

void tdm_server_dump_statistics(struct tdm_server *server)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	put_statistics(server, &text);
	tdm_server_log_buf(server, &text);
}

void tdm_server_say_left(struct tdm_server *server)
{
	const struct tdm_clients_counters *c = &server->clients.counters;
	char state[TDM_LEDGER_PATH_MAX];
	if (c->leaked_buffers == 0)
		return;
	bool has_state = tdm_archive_state_dir(state) == 0;
	tdm_server_log_line(&server->log,
		"⚠ Ended processes have left %llu buffers (%g MB); their ledgers are in %s%s%s\n",
		(unsigned long long)c->leaked_buffers, (double)c->leaked_bytes / (1024.0 * 1024.0), server->clients.dir,
		has_state ? ", older ones in " : "", has_state ? state : "");
}

/* Those who could read all ledgers see everything, others their own processes. */
static uint32_t sight_of(const struct tdm_connection *c)
{
	return c->peer.uid == 0 || c->peer.uid == geteuid() ? TDM_UID_ALL : c->peer.uid;
}

void tdm_server_answer(struct tdm_connection *c, struct tdm_str question)
{
	if (tdm_str_is(question, "summary"))
		tdm_text_remaining(&c->out, &c->server->clients, sight_of(c));
	else if (tdm_str_is(question, "kernels"))
		tdm_text_kernels(&c->out, &c->server->clients, sight_of(c));
	else if (tdm_str_is(question, "statistics"))
		put_statistics(c->server, &c->out);
	else if (tdm_str_is(question, "takeover") && sight_of(c) != TDM_UID_ALL)
		tdm_buf_puts(&c->out, "only the daemon's own user and root may take over\n");
	else if (tdm_str_is(question, "takeover"))
		tdm_takeover_give(c->server, c->watch.fd);
	else
		tdm_buf_puts(&c->out, "unknown question; known are: summary, kernels, statistics, takeover\n");
}
