/*
 * What a client gets to know about the devices of this machine: what the driver lists, with the sizes of the card
 * table. The chips that the driver lists come first, then those that are reached through them, as in the runtime's
 * numbers.
 */
#ifndef TDM_DAEMON_CHIP_LIST_H
#define TDM_DAEMON_CHIP_LIST_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "sources/server_wire.h"

struct tdm_chip_list {
	struct tdm_known_chip {
		char card[24];
		bool is_remote;
		uint32_t arch; /* enum tdm_arch, which has the numbers of the messages; 0: unknown */
		uint64_t dram_banks, dram_bank_size, cores, l1_size; /* 0: unknown */
	} * chips;
	size_t count;
	int err;          /* 0, or why the driver's list cannot be read */
	uint64_t read_ns; /* when; 0: never */
	pthread_mutex_t lock;
};

/* Two threads may ask at once. */
void tdm_chip_list_init(struct tdm_chip_list *info);
void tdm_chip_list_done(struct tdm_chip_list *info);

/* Fills the reply to a question about a device, or (-1) about their number. Reads the driver's list again if that was
 * long ago. */
void tdm_chip_list_reply(struct tdm_chip_list *info, int32_t device, struct tdm_wire_reply *reply);

/* The lines at the start. */
void tdm_chip_list_text(struct tdm_chip_list *info, struct tdm_buf *out);

#endif
