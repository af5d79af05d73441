/*
 * What the daemon prints, in the words of the first allocation server: a line for each event, the list of what
 * remains, kernels, statistics.
 */
#ifndef TDM_DAEMON_SERVER_TEXTS_H
#define TDM_DAEMON_SERVER_TEXTS_H

#include "base/buf.h"
#include "daemon/clients.h"
#include "daemon/server_log.h"
#include "sources/server_wire.h"

#define TDM_UID_ALL UINT32_MAX /* of a reader who may see everybody's buffers */

/* A line for what a message has done, or why it was refused (`err`). */
void tdm_text_event(struct tdm_server_log *log, int32_t pid, const struct tdm_wire_message *message, int err,
	const struct tdm_change *change);

/* What a process that has ended leaves. */
void tdm_text_left(struct tdm_buf *out, const struct tdm_client *client);

/*
 * What is live: figures of all clients, single buffers only of those that `uid` may see. `kernels` lists kernels
 * instead.
 */
void tdm_text_remaining(struct tdm_buf *out, const struct tdm_clients *clients, uint32_t uid);
void tdm_text_kernels(struct tdm_buf *out, const struct tdm_clients *clients, uint32_t uid);
void tdm_text_statistics(struct tdm_buf *out, const struct tdm_clients *clients);

#endif
