/*
 * A baseline of the event bench: the first client of the allocation server. For each event it fills one message, takes
 * a mutex and sends the message, blocking, over a Unix socket to a reader on the other core, which discards it; the
 * real server does far more. The real client asks for its process id each time; this one does not.
 */
#ifndef TDM_BENCH_BASELINE_SOCKET_H
#define TDM_BENCH_BASELINE_SOCKET_H

#include <stdint.h>

struct baseline_socket;

/* Starts the reader; NULL with errno set when that fails. */
struct baseline_socket *baseline_socket_open(int reader_core);
void baseline_socket_close(struct baseline_socket *s);
void baseline_socket_alloc(struct baseline_socket *s, int32_t device, uint64_t bytes, uint8_t type, uint64_t id);
void baseline_socket_release(struct baseline_socket *s, int32_t device, uint64_t id);

#endif
