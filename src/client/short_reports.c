/*
 * The short interface: kernels and circular buffers by number. The id of a circular buffer is made of its number and
 * its range of cores, which together identify it:
 *
 *     bit 63: 1    62..55: x0    54..47: y0    46..39: x1    38..31: y1    30..0: number
 *
 * Without cores the range is one that does not exist, so that all circular buffers with a number agree in the same
 * bits.
 */
#include "client/client.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#define CB_BIT     (UINT64_C(1) << 63)
#define CB_NUMBERS UINT64_C(0x7fffffff)
enum { CB_CORE_MAX = 255 };

int tidemark_report_kernel(uint32_t device, uint64_t bytes, uint32_t core_type)
{
	static _Atomic uint64_t next = 1;
	struct tidemark_buffer b = TIDEMARK_BUFFER_INIT;
	if (!tidemark_active_)
		return 0;
	b.device = device;
	b.kind = TIDEMARK_KERNEL;
	b.flags = TIDEMARK_NO_ADDRESS;
	b.id = (uint64_t)core_type << 56 | atomic_fetch_add(&next, 1);
	b.bytes = b.bytes_per_bank = bytes;
	b.banks = 1;
	return tidemark_alloc_(&b);
}

/* False when the number or the range is impossible. */
static bool cb_id(uint32_t number, const struct tidemark_core_range *cores, uint64_t *id)
{
	const struct tidemark_core_range none = { CB_CORE_MAX, CB_CORE_MAX, 0, 0 }, *r = cores != NULL ? cores : &none;
	*id = CB_BIT | (uint64_t)r->x0 << 55 | (uint64_t)r->y0 << 47 | (uint64_t)r->x1 << 39 | (uint64_t)r->y1 << 31 |
	      number;
	return number <= CB_NUMBERS &&
	       (cores == NULL || (r->x0 <= r->x1 && r->y0 <= r->y1 && r->x1 <= CB_CORE_MAX && r->y1 <= CB_CORE_MAX));
}

int tidemark_report_cb(uint32_t device, uint64_t bytes, uint32_t buffer_index, const struct tidemark_core_range *cores)
{
	struct tidemark_buffer b = TIDEMARK_BUFFER_INIT;
	if (!tidemark_active_)
		return 0;
	b.device = device;
	b.flags = TIDEMARK_NO_ADDRESS;
	b.bytes_per_bank = bytes;
	b.cores = cores != NULL ? (uint32_t)(cores->x1 - cores->x0 + 1) * (uint32_t)(cores->y1 - cores->y0 + 1) : 1;
	b.ranges = cores;
	b.range_count = cores != NULL;
	/* A kind that does not exist makes the library refuse the report and count it. */
	bool is_good = cb_id(buffer_index, cores, &b.id) && !__builtin_mul_overflow(bytes, (uint64_t)b.cores, &b.bytes);
	b.kind = is_good ? TIDEMARK_CB : TIDEMARK_KIND_COUNT;
	return tdm_client_report(&b, TDM_CLIENT_REPLACE, __builtin_frame_address(0));
}

int tidemark_report_cb_free(
	uint32_t device, uint64_t bytes, uint32_t buffer_index, const struct tidemark_core_range *cores)
{
	uint64_t id;
	(void)bytes;
	if (!tidemark_active_)
		return 0;
	bool is_good = cb_id(buffer_index, cores, &id);
	if (cores == NULL && is_good) {
		int64_t count =
			tdm_client_free_matching(device, TIDEMARK_CB, CB_BIT | CB_NUMBERS, CB_BIT | buffer_index);
		if (count != 0)
			return count < 0 ? (int)count : 0;
	}
	return tidemark_free_(device, is_good ? TIDEMARK_CB : TIDEMARK_KIND_COUNT, id);
}
