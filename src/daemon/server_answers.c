#include "daemon/server_answers.h"
#include "base/clock.h"
#include "base/number.h"
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

/*
 * A list of all that is live takes time, and anybody may ask for it. Such lists take at most a tenth of the time, after
 * a first moment, so that those who ask again and again keep nobody waiting.
 */
static bool may_list(struct tdm_server *server)
{
	enum { SHARE = 10 };
	const uint64_t moment_ns = 20 * TDM_NS_PER_MS;
	uint64_t now_ns = tdm_clock_ns(), paid_ns = (now_ns - server->list_at_ns) / SHARE;
	server->list_ns -= tdm_min(server->list_ns, paid_ns);
	server->list_at_ns = now_ns;
	server->counters.refused_busy += server->list_ns > moment_ns;
	return server->list_ns <= moment_ns;
}

/* Whether the answers that nobody has read yet leave room for another one. */
static bool has_room(struct tdm_server *server)
{
	enum { WAITING_MAX = 64 << 20 };
	size_t waiting = 0;
	for (const struct tdm_connection *c = server->first; c != NULL; c = c->next)
		waiting += c->is_quick ? 0 : c->out.len;
	server->counters.refused_busy += waiting > WAITING_MAX;
	return waiting <= WAITING_MAX;
}

static void end_list(struct tdm_server *server)
{
	uint64_t now_ns = tdm_clock_ns();
	server->list_ns += now_ns - server->list_at_ns;
	server->list_at_ns = now_ns;
}

void tdm_server_dump_remaining(struct tdm_server *server)
{
	if (!may_list(server))
		return;
	tdm_server_log_line(&server->log, "📋 Received DUMP_REMAINING request...\n");
	tdm_server_dump(server);
	tdm_server_log_line(&server->log, "📋 DUMP_REMAINING complete.\n");
	end_list(server);
}

void tdm_server_dump_kernels(struct tdm_server *server)
{
	struct tdm_buf text;
	if (!may_list(server))
		return;
	tdm_buf_init(&text);
	tdm_buf_puts(&text, "📋 Received DUMP_KERNELS request...\n");
	tdm_text_kernels(&text, &server->clients, TDM_UID_ALL);
	tdm_buf_puts(&text, "📋 DUMP_KERNELS complete.\n");
	tdm_server_log_buf(server, &text);
	end_list(server);
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
		{ "Refused: too many lists", s->refused_busy },
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
	bool is_summary = tdm_str_is(question, "summary"), is_list = is_summary || tdm_str_is(question, "kernels");
	uint32_t sight = sight_of(c);
	if (is_list && (!has_room(c->server) || (sight != TDM_UID_ALL && !may_list(c->server))))
		tdm_buf_puts(&c->out, "too many lists were asked for; ask again in a moment\n");
	else if (is_summary)
		tdm_text_remaining(&c->out, &c->server->clients, sight);
	else if (is_list)
		tdm_text_kernels(&c->out, &c->server->clients, sight);
	else if (tdm_str_is(question, "statistics"))
		put_statistics(c->server, &c->out);
	else if (tdm_str_is(question, "takeover") && sight != TDM_UID_ALL)
		tdm_buf_puts(&c->out, "only the daemon's own user and root may take over\n");
	else if (tdm_str_is(question, "takeover"))
		tdm_takeover_give(c->server, c->watch.fd);
	else
		tdm_buf_puts(&c->out, "unknown question; known are: summary, kernels, statistics, takeover\n");
	if (is_list && sight != TDM_UID_ALL)
		end_list(c->server);
}
