/*
 * Events folded into live state: which processes there are, which devices they use, how much of each kind of memory
 * they hold there, and every live buffer.
 *
 * Events come from several sources ("origins"), each of which numbers its processes itself. A process described twice,
 * by two origins, is one process; the origin of the higher rank is believed, the other one's events of it are ignored.
 * A device is known by its chip id; where that is unknown by its number, and then it is marked weak and never joined
 * with one that has a chip id.
 *
 * A free of what is not there, or an allocation of what is, is counted and changes no sum wrongly. No sum can wrap:
 * what a process reports beyond any device's size is refused. Not thread-safe.
 */
#ifndef TDM_REGISTRY_REGISTRY_H
#define TDM_REGISTRY_REGISTRY_H

#include "event/event.h"
#include "event/source.h"
#include "registry/snapshot.h"

struct tdm_registry;

struct tdm_registry *tdm_registry_new(void);      /* NULL only when out of memory */
void tdm_registry_free(struct tdm_registry *reg); /* NULL is allowed */

/* A new origin; its number, or -ENOMEM or -ENOSPC. `name` ("ledger") is borrowed for good. */
int tdm_registry_origin(struct tdm_registry *reg, const char *name, unsigned rank);
const char *tdm_registry_origin_name(const struct tdm_registry *reg, unsigned origin);

/* 0; -ENOMEM; -EINVAL for an event that is not valid, or -EOVERFLOW for one beyond the limits: counted, and nothing
 * else happens. */
int tdm_registry_apply(struct tdm_registry *reg, unsigned origin, const struct tdm_event *event);

/*
 * Applies everything that a source has at this moment. What the source or the registry refuses is counted there and
 * passed over. 0, or a negative code when memory ran out.
 */
int tdm_registry_read(struct tdm_registry *reg, unsigned origin, struct tdm_source *source);

/* The process of this identity, or NULL. Borrowed until the next tdm_registry_apply(). */
const struct tdm_process *tdm_registry_find(const struct tdm_registry *reg, const struct tdm_process *identity);

/* Forgets a process with everything that it holds. -ENOENT when it is not there. */
int tdm_registry_forget(struct tdm_registry *reg, const struct tdm_process *identity);

enum { TDM_SNAPSHOT_BUFFERS = 1 }; /* with every live buffer */

/* Owned by the caller; release with tdm_snapshot_free(). NULL only when out of memory. */
struct tdm_snapshot *tdm_registry_snapshot(const struct tdm_registry *reg, unsigned flags);

/* The invariant: all sums agree with the buffers, one by one. For tests; it looks at everything. */
bool tdm_registry_is_valid(const struct tdm_registry *reg);

#endif
