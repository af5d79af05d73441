/*
 * A workload of the demo as an instrumented program: it reports its buffers to an allocation server, in messages of one
 * of the four sizes. Like the original clients it connects again when the server has left, and what it reports
 * meanwhile is lost.
 */
#ifndef TDM_CLI_DEMO_WIRE_H
#define TDM_CLI_DEMO_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"

struct tdm_demo_wire {
	const char *socket; /* NULL: not used */
	uint32_t size;      /* of a message */
	int fd;             /* -1: not connected */
	uint64_t lost;      /* messages */
};

/* 0 or -errno. */
int tdm_demo_wire_open(struct tdm_demo_wire *wire, const char *socket, uint32_t size);
void tdm_demo_wire_close(struct tdm_demo_wire *wire);

/* Before there were messages for them, circular buffers were reported as L1, and kernels not at all. */
void tdm_demo_wire_alloc(struct tdm_demo_wire *wire, uint32_t device, enum tdm_kind kind, uint64_t id, uint64_t bytes);
void tdm_demo_wire_free(struct tdm_demo_wire *wire, uint32_t device, enum tdm_kind kind, uint64_t id, uint64_t bytes);

#endif
