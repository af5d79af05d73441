/*
 * Questions are answered by a thread of their own. While clients flood the loop, its thread uses up its share of the
 * processor, and Linux lets others run first; a thread that mostly sleeps runs as soon as a question wakes it.
 *
 * A connection that has sent nothing but questions belongs to this thread until something else comes. The thread looks
 * at a message before it takes it, so the loop finds everything else where it was.
 */
#ifndef TDM_DAEMON_QUICK_REPLIES_H
#define TDM_DAEMON_QUICK_REPLIES_H

#include <stdbool.h>

struct tdm_client;
struct tdm_connection;
struct tdm_server;
struct tdm_quick;

/* NULL: out of memory or of descriptors; then the loop answers. The thread begins with the first connection. */
struct tdm_quick *tdm_quick_new(struct tdm_server *server);

/* Ends the thread; all connections are the loop's again. */
void tdm_quick_free(struct tdm_quick *quick);

/* Gives a connection of the loop to the thread; if that cannot be, it stays with the loop. False if it was closed. */
bool tdm_quick_give(struct tdm_quick *quick, struct tdm_connection *connection);

/* Takes back the connections of a process that has ended: they may have its last words. They are the client's then. */
void tdm_quick_take(struct tdm_quick *quick, const struct tdm_client *client);

#endif
