/*
 * What all clients of the socket have on each device, so that a query needs no walk over the clients. The loop's thread
 * writes; that of quick_replies.h reads.
 */
#ifndef TDM_DAEMON_SUMS_H
#define TDM_DAEMON_SUMS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"
#include "base/map.h"

struct tdm_device_sum {
	uint32_t number;
	uint32_t users; /* clients whose ledger has this device; 0: free */
	_Atomic uint64_t bytes[TDM_KIND_COUNT];
	uint64_t buffers[TDM_KIND_COUNT]; /* of the thread that writes */
};

struct tdm_sums {
	pthread_mutex_t lock; /* of which devices there are, and where */
	struct tdm_map by_device;
	struct tdm_device_sum *list;
	size_t cap, count;
	uint32_t free; /* the first free place of the list; TDM_MAP_NONE: none */
};

/* 0 or -errno. */
int tdm_sums_init(struct tdm_sums *sums);
void tdm_sums_done(struct tdm_sums *sums);

/* The place of a device, made if necessary. TDM_MAP_NONE when out of memory. */
uint32_t tdm_sums_place(struct tdm_sums *sums, uint32_t device);

/* Forgets a device that nobody uses. */
void tdm_sums_drop(struct tdm_sums *sums, uint32_t place);

/* For any thread; 0 if no client uses the device. */
void tdm_sums_read(struct tdm_sums *sums, int32_t device, uint64_t bytes[TDM_KIND_COUNT]);

/* Returns the sum. Without a locked instruction, because only one thread writes. */
static inline uint64_t tdm_sums_add(struct tdm_device_sum *sum, unsigned kind, uint64_t bytes, uint64_t buffers)
{
	uint64_t all = atomic_load_explicit(&sum->bytes[kind], memory_order_relaxed) + bytes;
	atomic_store_explicit(&sum->bytes[kind], all, memory_order_relaxed);
	sum->buffers[kind] += buffers;
	return all;
}

#endif
