/*
 * The runtime's allocators and the chips that each of them gives memory of: a mesh has one for all its chips, and so
 * has each submesh and each single device. An allocator has a number, which is part of the ids of its buffers, because
 * addresses of different allocators on one chip are the same.
 *
 * A chip is described to readers when an allocator of it is first used, with what that allocator says.
 */
#ifndef TDM_METAL_ALLOCATORS_H
#define TDM_METAL_ALLOCATORS_H

#include "metal/metal.h"

enum {
	TDM_METAL_KINDS = 4,   /* DRAM, L1, L1_SMALL, TRACE: the first ones of enum tidemark_kind */
	TDM_METAL_ID_BITS = 48 /* of an id that are the address */
};

/* Whether the statistics of an allocator are due. */
enum tdm_metal_asking {
	TDM_METAL_ASKED,     /* since it was used last */
	TDM_METAL_USED,      /* by this process since then */
	TDM_METAL_INHERITED, /* from the process that forked: one of its threads may have held its lock at that moment,
				and holds it for ever here, so it may not be asked before this process has used it */
};

struct tdm_metal_allocator {
	const void *allocator, *device;
	const void *asked; /* the object to be asked; NULL: none is known */
	struct tdm_metal_allocator_ask ask;
	struct tdm_metal_runtime *runtime;
	uint64_t number;
	size_t chip_count; /* 0: not known; nothing is reported then */
	uint32_t *chips;
	uint32_t banks[TDM_METAL_KINDS];
	struct tdm_metal_step steps[TDM_METAL_KINDS];
	bool has_banks;                     /* the allocator said how many; else it is what the chip has */
	struct tdm_metal_judgement formula; /* what we compute of a buffer's answers is what it takes */
	uint32_t said_step;                 /* by a function; 0: none */
	uint32_t measured;                  /* how often it was tried to see what a buffer takes */
	uint64_t l1_end,
		dram_end; /* the first addresses after L1 and DRAM, where L1_SMALL and traces are; 0: not known */
	uint32_t epoch;   /* of the ledger in which its chips are described */
	bool is_live;     /* else it was destroyed, and its place may be used again */
	uint8_t asking;   /* enum tdm_metal_asking */
	bool has_statistics;
	uint64_t asked_ns; /* when they were */
	struct tdm_metal_statistics said[TDM_METAL_KINDS];
};

struct tdm_metal_allocator_cache { /* the one that this thread used last */
	struct tdm_metal_allocator *found;
	const void *allocator, *device;
	uint32_t generation;
};
extern _Thread_local struct tdm_metal_allocator_cache tdm_metal_used_last __attribute__((tls_model("initial-exec")));
extern uint32_t tdm_metal_generation; /* changes when an allocator or a device ends */

struct tdm_metal_allocator *tdm_metal_allocator_slow(
	struct tdm_metal_runtime *runtime, const void *allocator, const void *device);

/* Whether its chips are described in this ledger. */
static inline bool tdm_metal_is_described(const struct tdm_metal_allocator *allocator)
{
	return __atomic_load_n(&allocator->epoch, __ATOMIC_RELAXED) ==
	       __atomic_load_n(&tidemark_epoch_, __ATOMIC_RELAXED);
}

/* The allocator of this address (or the IDevice itself, where it is not known) that belongs to this IDevice, made and
 * described if it is new. Calls the runtime then. NULL: out of memory, or of numbers. */
static inline struct tdm_metal_allocator *tdm_metal_allocator_of(
	struct tdm_metal_runtime *runtime, const void *allocator, const void *device)
{
	const struct tdm_metal_allocator_cache *last = &tdm_metal_used_last;
	if (__builtin_expect(last->allocator == allocator && last->device == device && last->found != NULL &&
				     last->generation == __atomic_load_n(&tdm_metal_generation, __ATOMIC_RELAXED) &&
				     tdm_metal_is_described(last->found),
		    1))
		return last->found;
	return tdm_metal_allocator_slow(runtime, allocator, device);
}

/* The allocator of this address if it was used before, else NULL. */
struct tdm_metal_allocator *tdm_metal_allocator_find(const void *allocator);

/* A mesh was opened: describes its chips, before any of its allocators is used. */
void tdm_metal_device_opened(struct tdm_metal_runtime *runtime, const void *mesh);

/* The first one that was used of an IDevice, else NULL. */
struct tdm_metal_allocator *tdm_metal_allocator_find_by_device(const void *device);

/* Releases all buffers of an allocator, before the runtime does so. */
void tdm_metal_allocator_empty(const void *allocator);

/* A chip is closed: releases what is left there of devices whose allocators are not known, so that their end is not
 * seen. */
void tdm_metal_allocators_leave(uint32_t chip);

/* The allocator's end; also to be called for those that were never used. From now on nobody asks it. */
void tdm_metal_allocator_end(const void *allocator);

/*
 * Uses of allocators that are under way. While one is, the runtime and the ledger may differ: a buffer is allocated and
 * not yet reported. So statistics are asked when this thread's use is the only one, and are reported if no other has
 * begun meanwhile. Those that begin while they are reported wait for it.
 */
#define TDM_METAL_USE_BEGINS (UINT64_C(1) << 32 | 1) /* uses that have begun, and uses under way */
#define TDM_METAL_REPORTING  (UINT64_C(1) << 31)
extern uint64_t tdm_metal_uses; /* in a forked child only those of the thread that forked are under way */
extern _Thread_local uint32_t tdm_metal_own_uses __attribute__((tls_model("initial-exec")));

/* Waits for a report that is under way; not for ever. */
void tdm_metal_wait_for_report(void);

/* The allocator that a report asks for its statistics, though another thread may end it. NULL: none. Set under the
 * lock, if it is live. */
extern const struct tdm_metal_allocator *tdm_metal_asked_in_turn;

static inline void tdm_metal_use_begins(void)
{
	tdm_metal_own_uses++;
	if (__builtin_expect((__atomic_fetch_add(&tdm_metal_uses, TDM_METAL_USE_BEGINS, __ATOMIC_ACQ_REL) &
				     TDM_METAL_REPORTING) != 0,
		    0))
		tdm_metal_wait_for_report();
}

static inline void tdm_metal_use_ends(void)
{
	tdm_metal_own_uses--;
	__atomic_fetch_sub(&tdm_metal_uses, 1, __ATOMIC_RELEASE);
}

/* Whether this thread's use is the only one; `uses` is tdm_metal_uses then. */
static inline bool tdm_metal_is_alone(uint64_t *uses)
{
	*uses = __atomic_load_n(&tdm_metal_uses, __ATOMIC_ACQUIRE);
	return (uint32_t)*uses == tdm_metal_own_uses && tdm_metal_own_uses != 0;
}

/* What an allocator says about a bank of a kind; false: nothing. May be called while it is not locked. */
bool tdm_metal_allocator_says(struct tdm_metal_allocator *allocator, uint32_t kind, struct tdm_metal_statistics *said);

/* In a forked child, where no other thread runs. */
void tdm_metal_allocators_inherit(void);

/* Asks an allocator for its statistics if that is due, and reports them; to be called at the end of a
 * use, when it is not locked. */
void tdm_metal_allocator_used(struct tdm_metal_allocator *allocator);
/* The same, due or not. */
void tdm_metal_allocator_report(struct tdm_metal_allocator *allocator);

/*
 * Chips.
 */

/* Describes the chips of an allocator, and reports that they are open. */
void tdm_metal_chips_describe(struct tdm_metal_allocator *allocator);

/* Buffers of a chip that were live when their allocator released all it had. */
void tdm_metal_chip_left(uint32_t chip, uint64_t buffers);

/* A chip was closed. */
void tdm_metal_chip_closed(uint32_t chip);

/* A chip is closed: what is still pinned for it no longer is, and its traces have gone with it. */
void tdm_metal_pinned_leave(uint32_t chip);
void tdm_metal_traces_leave(uint32_t chip);

/* Whether this is a Device or a MeshDevice of the runtime. */
bool tdm_metal_is_device(const struct tdm_metal_runtime *runtime, const void *device);

/* The object of class Allocator that an IDevice shows its users; NULL: not known. May call the runtime. */
const void *tdm_metal_view_of(struct tdm_metal_runtime *runtime, const void *device);

/* The banks of a kind that a chip has as far as its device says; 0: not known. */
uint32_t tdm_metal_chip_banks(uint32_t chip, uint32_t kind);

/* The logical number of a Device; UINT32_MAX: not known. */
uint32_t tdm_metal_chip_of(struct tdm_metal_runtime *runtime, const void *device);

#endif
