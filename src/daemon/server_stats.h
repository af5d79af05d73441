/*
 * The counters of the socket server, as the metrics show them. The server fills them in when it is asked; what it does
 * not know it leaves at TDM_BYTES_UNKNOWN, as tdm_server_stats_init() has set it, and no metric shows it.
 */
#ifndef TDM_DAEMON_SERVER_STATS_H
#define TDM_DAEMON_SERVER_STATS_H

#include <stdint.h>

#include "report/metrics_text.h"

/* member, COUNTER or GAUGE, name of the family, label and its value (NULL: none), unit, help. Members of one family
 * follow each other. */
#define TDM_SERVER_STATS_LIST(X)                                                                                    \
	X(clients, GAUGE, "tt_server_clients", NULL, NULL, NULL, "Processes that the socket server serves.")        \
	X(connections, GAUGE, "tt_server_connections", NULL, NULL, NULL, "Open connections of the socket server.")  \
	X(accepted, COUNTER, "tt_server_accepted", NULL, NULL, NULL, "Connections that were accepted.")             \
	X(refused_connections, COUNTER, "tt_server_refused_connections", NULL, NULL, NULL,                          \
		"Connections for which there was no descriptor or no memory.")                                      \
	X(messages_alloc, COUNTER, "tt_server_messages", "type", "alloc", NULL, "Messages by type.")                \
	X(messages_free, COUNTER, "tt_server_messages", "type", "free", NULL, "Messages by type.")                  \
	X(messages_query, COUNTER, "tt_server_messages", "type", "query", NULL, "Messages by type.")                \
	X(messages_other, COUNTER, "tt_server_messages", "type", "other", NULL, "Messages by type.")                \
	X(received_bytes, COUNTER, "tt_server_received_bytes", NULL, NULL, "bytes", "Bytes of messages received.")  \
	X(refused_type, COUNTER, "tt_server_refused_messages", "reason", "type", NULL,                              \
		"Messages that were refused, by reason.")                                                           \
	X(refused_device, COUNTER, "tt_server_refused_messages", "reason", "device", NULL,                          \
		"Messages that were refused, by reason.")                                                           \
	X(refused_invalid, COUNTER, "tt_server_refused_messages", "reason", "invalid", NULL,                        \
		"Messages that were refused, by reason.")                                                           \
	X(refused_space, COUNTER, "tt_server_refused_messages", "reason", "space", NULL,                            \
		"Messages that were refused, by reason.")                                                           \
	X(refused_nobody, COUNTER, "tt_server_refused_messages", "reason", "nobody", NULL,                          \
		"Messages that were refused, by reason.")                                                           \
	X(refused_busy, COUNTER, "tt_server_refused_messages", "reason", "busy", NULL,                              \
		"Messages that were refused, by reason.")                                                           \
	X(bad_streams, COUNTER, "tt_server_bad_streams", NULL, NULL, NULL,                                          \
		"Connections that were closed because their bytes are no messages.")                                \
	X(half_messages, COUNTER, "tt_server_half_messages", NULL, NULL, NULL,                                      \
		"Connections that ended within a message.")                                                         \
	X(other_pids, COUNTER, "tt_server_claimed_pids", NULL, NULL, NULL,                                          \
		"Messages that name another process than the one that sent them.")                                  \
	X(replaced, COUNTER, "tt_server_replaced_buffers", NULL, NULL, NULL,                                        \
		"Buffers that were allocated again while they were live.")                                          \
	X(unknown_releases, COUNTER, "tt_server_unknown_releases", NULL, NULL, NULL,                                \
		"Releases of buffers that were not live.")                                                          \
	X(ambiguous_releases, COUNTER, "tt_server_ambiguous_releases", NULL, NULL, NULL,                            \
		"Releases of an id that buffers of several kinds had; the newest was released.")                    \
	X(died, COUNTER, "tt_server_ended_clients", NULL, NULL, NULL, "Clients whose process has ended.")           \
	X(leaked_buffers, COUNTER, "tt_server_left_buffers", NULL, NULL, NULL,                                      \
		"Live buffers that clients had when they ended.")                                                   \
	X(leaked_bytes, COUNTER, "tt_server_left_bytes", NULL, NULL, "bytes",                                       \
		"Memory that clients held when they ended.")                                                        \
	X(resumed, COUNTER, "tt_server_resumed_ledgers", NULL, NULL, NULL,                                          \
		"Ledgers that an earlier daemon left and this one continued.")                                      \
	X(lost_lines, COUNTER, "tt_server_lost_log_lines", NULL, NULL, NULL,                                        \
		"Lines of the log that were dropped because nobody took them in time.")                             \
	X(reply_waits, COUNTER, "tt_server_reply_waits", NULL, NULL, NULL,                                          \
		"Times that a client did not take its replies and was not listened to for a while.")                \
	X(queued_bytes, GAUGE, "tt_server_queued_bytes", NULL, NULL, "bytes", "Replies and log lines that wait.")   \
	X(ledgers, GAUGE, "tt_server_ledgers", NULL, NULL, NULL, "Ledgers that the daemon writes for its clients.") \
	X(ledger_bytes, GAUGE, "tt_server_ledger_bytes", NULL, NULL, "bytes",                                       \
		"Shared memory that these ledgers take.")                                                           \
	X(archived_ledgers, GAUGE, "tt_archive_ledgers", NULL, NULL, NULL,                                          \
		"Ledgers of ended processes that are kept on disk.")                                                \
	X(archived_bytes, GAUGE, "tt_archive_bytes", NULL, NULL, "bytes", "Disk space that these ledgers take.")    \
	X(archive_removed, COUNTER, "tt_archive_removed_ledgers", NULL, NULL, NULL,                                 \
		"Ledgers of ended processes that were removed because of the limits.")

struct tdm_server_stats {
#define X(member, type, name, label, value, unit, help) uint64_t member;
	TDM_SERVER_STATS_LIST(X)
#undef X
};

void tdm_server_stats_init(struct tdm_server_stats *stats); /* everything unknown */
void tdm_server_stats_write(const struct tdm_server_stats *stats, struct tdm_metrics_text *text);

#endif
