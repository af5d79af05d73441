/* Summaries: into the log when a message, a signal or a timer asks for them, and to those who ask in words. */
#ifndef TDM_DAEMON_SERVER_ANSWERS_H
#define TDM_DAEMON_SERVER_ANSWERS_H

#include "daemon/server_stats.h"
#include "daemon/socket_server.h"

void tdm_server_dump(struct tdm_server *server);           /* what is live */
void tdm_server_dump_remaining(struct tdm_server *server); /* the same, as the answer to a message */
void tdm_server_dump_kernels(struct tdm_server *server);
void tdm_server_dump_statistics(struct tdm_server *server);
void tdm_server_say_left(struct tdm_server *server); /* what ended processes left, if anything */

/* Puts the answer to a question in words into the connection's `out`, or gives everything to another daemon. */
void tdm_server_answer(struct tdm_connection *connection, struct tdm_str question);

/* Fills in the counters; the context is a struct tdm_server. */
void tdm_server_count(void *context, struct tdm_server_stats *stats);

/* Writes a text to the log, and frees it. */
void tdm_server_log_buf(struct tdm_server *server, struct tdm_buf *text);

#endif
