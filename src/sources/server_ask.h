/* Asks the daemon in words, on the socket of instrumented programs (docs/formats/server_socket.md). */
#ifndef TDM_SOURCES_SERVER_ASK_H
#define TDM_SOURCES_SERVER_ASK_H

#include "base/buf.h"

/* A connection to a socket with a name in the file system, non-blocking. A descriptor or -errno. */
int tdm_server_connect(const char *path);

/*
 * Asks for a summary, and appends the answer with everything unprintable replaced: anybody may listen there. 0;
 * -ETIMEDOUT: no answer; -EPROTO: the server does not understand the question; -EFBIG; or -errno.
 */
int tdm_server_ask(const char *path, const char *question, struct tdm_buf *out);

#endif
