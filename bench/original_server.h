/*
 * A baseline of the server bench: the design of the first allocation server, in as little code as it can be. A thread
 * for each client reads one message of 72 bytes at a time; one mutex guards a hash map of all buffers; each event
 * prints a line in eleven writes, because the original's output stream is not buffered.
 *
 * The original's latest version looks at each message before it takes it (`peeks`). Linux then looks at all that is in
 * the queue, so that a flood makes it slower and slower. The version for messages of 72 bytes does not do that.
 */
#ifndef TDM_BENCH_ORIGINAL_SERVER_H
#define TDM_BENCH_ORIGINAL_SERVER_H

#include <stdbool.h>

/* Serves the socket until the process is killed. Ends the process with 2 when it cannot. */
_Noreturn void original_server_run(const char *path, bool quiet, bool peeks);

#endif
