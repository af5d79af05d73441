/*
 * The L1 of a mesh whose runtime was opened in its hybrid allocator mode, in which per-core buffers are placed beside
 * lockstep ones. Every allocator is several free lists (freelist.h) over the same range:
 *
 *     mesh        one lockstep list                      must avoid every list of a core, of every device
 *     device k    one lockstep list                      must avoid the lists of the cores of that device
 *                   (mirrors of the mesh's buffers, and buffers of the bare device)
 *     device k    one list for each core                 must avoid the lockstep list of that device
 *
 * So a lockstep buffer of the mesh does not see those of bare devices, as in the runtime. The statistics of each list
 * leave out the bytes of all other lists. Not thread-safe.
 */
#ifndef TDM_MODEL_MESH_L1_H
#define TDM_MODEL_MESH_L1_H

#include <stdbool.h>
#include <stdint.h>

#include "model/alloc/freelist.h"

enum {
	TDM_MESH_DEVICES_MAX = 256,
	TDM_MESH_CORES_MAX = 4096,
	TDM_MESH_LISTS_MAX = 1 << 16, /* devices x cores */
};

#define TDM_MESH_WHOLE UINT32_MAX /* the mesh's own list, instead of a device's */

struct tdm_mesh_l1;

/*
 * `whole` is the lockstep list of the mesh, borrowed; the lists of devices and cores are made like it, from `config`.
 * 0; or -EINVAL if a count is 0, or they are too large, or as tdm_freelist_new().
 */
int tdm_mesh_l1_new(struct tdm_freelist *whole, const struct tdm_freelist_config *config, uint32_t devices,
	uint32_t cores, struct tdm_mesh_l1 **out);
void tdm_mesh_l1_free(struct tdm_mesh_l1 *mesh); /* NULL is allowed */

/*
 * Places a lockstep buffer of the mesh (TDM_MESH_WHOLE), or of one bare device. Returns 0, TDM_ENOFIT or -ERANGE. It
 * returns -EOVERFLOW where the runtime computes an address below zero and goes on; *address is that address, modulo
 * 2^64. On an error nothing changes.
 */
int tdm_mesh_l1_alloc(struct tdm_mesh_l1 *mesh, uint32_t device, uint64_t size, enum tdm_grow grow, uint64_t *address);

/*
 * Mirrors a lockstep buffer of the mesh into the list of every device. A block that already begins at the address
 * counts as the mirror. If a device has no room there: TDM_EOCCUPIED and *device; the caller then releases the buffer.
 */
int tdm_mesh_l1_mirror(struct tdm_mesh_l1 *mesh, uint64_t address, uint64_t size, uint32_t *device);

/* Frees a lockstep buffer; one of the mesh with its mirrors, whoever made the blocks at their address. */
void tdm_mesh_l1_release(struct tdm_mesh_l1 *mesh, uint32_t device, uint64_t address);

/* One core of a per-core buffer. Errors as for tdm_mesh_l1_alloc(). */
int tdm_mesh_l1_alloc_core(
	struct tdm_mesh_l1 *mesh, uint32_t device, uint32_t core, uint64_t size, enum tdm_grow grow, uint64_t *address);
void tdm_mesh_l1_release_core(struct tdm_mesh_l1 *mesh, uint32_t device, uint32_t core, uint64_t address);

/* The statistics of a device's lockstep list, and of a core's list. */
struct tdm_freelist_stats tdm_mesh_l1_device(const struct tdm_mesh_l1 *mesh, uint32_t device);
struct tdm_freelist_stats tdm_mesh_l1_core(const struct tdm_mesh_l1 *mesh, uint32_t device, uint32_t core);

/* The lowest address in use on a core, lockstep or per-core; with TDM_MESH_CORES_MAX for the core: in lockstep only.
 * False if there is none. */
bool tdm_mesh_l1_lowest(const struct tdm_mesh_l1 *mesh, uint32_t device, uint32_t core, uint64_t *address);

/* Checks every list, and that no two used blocks overlap where the rules forbid it. */
bool tdm_mesh_l1_is_valid(const struct tdm_mesh_l1 *mesh);

#endif
