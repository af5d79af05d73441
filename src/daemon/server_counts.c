/* The socket server's counters, for the metrics. */
#include "daemon/server_answers.h"
#include "ledger/writer.h"

static void count_messages(const _Atomic uint64_t *messages, struct tdm_server_stats *stats)
{
	stats->messages_alloc = messages[TDM_WIRE_ALLOC] + messages[TDM_WIRE_CB_ALLOC] + messages[TDM_WIRE_KERNEL_LOAD];
	stats->messages_free = messages[TDM_WIRE_FREE] + messages[TDM_WIRE_CB_FREE] + messages[TDM_WIRE_KERNEL_UNLOAD];
	stats->messages_query = messages[TDM_WIRE_QUERY] + messages[TDM_WIRE_DEVICE_INFO_QUERY];
	stats->messages_other = 0;
	for (int type = 0; type < TDM_WIRE_TYPE_END; type++)
		stats->messages_other += messages[type];
	stats->messages_other -= stats->messages_alloc + stats->messages_free + stats->messages_query;
}

static void count_clients(const struct tdm_clients *clients, struct tdm_server_stats *stats)
{
	const struct tdm_clients_counters *counters = &clients->counters;
	stats->clients = clients->count;
	stats->refused_device = counters->refused_device;
	stats->refused_invalid = counters->refused_invalid;
	stats->refused_space = counters->refused_space;
	stats->refused_nobody = counters->refused_nobody;
	stats->replaced = counters->replaced;
	stats->unknown_releases = counters->unknown;
	stats->ambiguous_releases = counters->ambiguous;
	stats->died = counters->died;
	stats->leaked_buffers = counters->leaked_buffers;
	stats->leaked_bytes = counters->leaked_bytes;
	stats->resumed = counters->resumed;
	stats->ledgers = stats->ledger_bytes = 0;
	for (size_t i = 0; i < clients->count; i++)
		if (clients->list[i]->writer != NULL) {
			stats->ledgers++;
			stats->ledger_bytes += clients->list[i]->writer->file.size;
		}
}

void tdm_server_count(void *context, struct tdm_server_stats *stats)
{
	const struct tdm_server *server = context;
	const struct tdm_server_counters *counters = &server->counters;
	stats->connections = server->open;
	stats->accepted = counters->connections;
	stats->refused_connections = counters->refused_connections;
	stats->received_bytes = counters->bytes + counters->quick_bytes;
	stats->refused_type = counters->unknown_types;
	stats->refused_busy = counters->refused_busy;
	stats->bad_streams = counters->bad_streams;
	stats->half_messages = counters->half_messages;
	stats->other_pids = counters->other_pids;
	stats->reply_waits = counters->waits;
	stats->lost_lines = server->log.lost;
	stats->queued_bytes = server->log.len - server->log.at;
	for (const struct tdm_connection *c = server->first; c != NULL; c = c->next)
		stats->queued_bytes += c->is_quick ? 0 : c->out.len - c->out_at;
	count_messages(counters->messages, stats);
	count_clients(&server->clients, stats);
	if (server->archiver.archive == NULL)
		return;
	struct tdm_archive_stats archive = tdm_archive_get_stats(server->archiver.archive);
	stats->archived_ledgers = archive.disk_count;
	stats->archived_bytes = archive.disk_bytes;
	stats->archive_removed = archive.removed + archive.dropped;
}
