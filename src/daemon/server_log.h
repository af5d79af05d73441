/*
 * The daemon's output: one buffer, written once in a round of the loop. Writing never blocks. If the reader of the
 * output is slow, lines are lost, and a line says how many.
 */
#ifndef TDM_DAEMON_SERVER_LOG_H
#define TDM_DAEMON_SERVER_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "daemon/loop.h"

enum { TDM_SERVER_LOG_LINE = 512 }; /* bytes of the longest line */

struct tdm_server_log {
	struct tdm_loop *loop;
	struct tdm_watch watch; /* waits for room; its descriptor is the output */
	struct tdm_timer flush;
	bool is_socket, is_file; /* what the descriptor is */
	bool is_own;             /* it was opened here */
	bool is_waiting;         /* for room */
	char *data;
	size_t at, len;      /* what has not been written yet */
	uint64_t lost, said; /* lines lost in all, and those that a line has told of */
};

/* Output to a descriptor. 0 or -errno. */
int tdm_server_log_init(struct tdm_server_log *log, struct tdm_loop *loop, int fd);
void tdm_server_log_done(struct tdm_server_log *log); /* writes what can be written without waiting long */

/* Room for a line of TDM_SERVER_LOG_LINE bytes; NULL, and counted, if there is none. End it where its text ends. */
char *tdm_server_log_begin(struct tdm_server_log *log);
void tdm_server_log_end(struct tdm_server_log *log, const char *end);

/* A text of several lines, lost as a whole if it does not fit. */
void tdm_server_log_text(struct tdm_server_log *log, struct tdm_str text);
void tdm_server_log_line(struct tdm_server_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Parts of a line, for the lines of events, which are too many for printf. Each returns the end. */
char *tdm_put_text(char *to, const char *text, size_t len);
char *tdm_put_decimal(char *to, uint64_t number);
char *tdm_put_hex(char *to, uint64_t number); /* with 0x */
#define TDM_PUT(to, literal) tdm_put_text((to), (literal), sizeof(literal) - 1)

#endif
