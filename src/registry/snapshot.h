/*
 * A picture of the registry at one moment: immutable, owned by whoever asked for it, independent of the registry.
 * Things refer to each other by index.
 *
 *     process 1 ── n holding n ── 1 device        a holding is what one process has on one device
 *                      1
 *                      n
 *                   buffer
 *
 * For every device and kind, the figures of the holdings of running processes add up to those of the device, processes
 * that nobody described ("unattributed") included. What ended processes left behind adds up to `left`.
 */
#ifndef TDM_REGISTRY_SNAPSHOT_H
#define TDM_REGISTRY_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "registry/intern.h"

#define TDM_INDEX_NONE UINT32_MAX

/* Of a kind. `now` is the sum over the live buffers that are known; peaks are the producer's own where it has them. */
struct tdm_figures {
	uint64_t reserved_bytes, peak_reserved_bytes; /* bytes per bank times the banks in lockstep */
	uint64_t occupied_bytes, peak_occupied_bytes; /* times the banks or cores that hold a page */
	uint64_t asked_bytes, peak_asked_bytes;
	uint64_t buffers, peak_buffers;
	uint64_t allocs; /* since the start */
	uint64_t double_frees, unknown_frees, rereports;
	uint64_t out_of_memory, oom_bytes; /* how often, and the size of the last failed request */
	uint64_t peak_ns;                  /* when the reserved bytes were highest; 0: unknown */
	bool has_usage;                    /* the producer keeps figures of its own */
	bool differs;                      /* and they are not those of the buffers: it worked while it was read */
};

struct tdm_module {
	uint64_t address, size;
	char *path;
};

struct tdm_snapshot_process {
	bool has_who; /* false: unattributed; nobody has described it */
	struct tdm_process who;
	unsigned origin; /* where it comes from: of tdm_registry_origin() */
	char *place;     /* the same, within the origin: the path of a ledger; NULL: unknown */
	const struct tdm_module *modules;
	size_t module_count;
	uint32_t phase; /* text: that runs; 0: none */
	uint64_t phase_count;
	uint64_t lost;    /* events that never came, those of who.lost included */
	uint64_t refused; /* and those that could not be used, those of who.refused included */
	uint32_t first_holding, holding_count;
};

struct tdm_snapshot_device {
	bool is_weak;    /* identified by host and number only */
	bool is_virtual; /* adds up what a capture without dispatch reports */
	bool has_info;
	uint32_t number; /* logical number in the first process that named it, without TDM_DEVICE_VIRTUAL_BIT */
	struct tdm_device_info info;
	struct tdm_figures kinds[TDM_KIND_COUNT];
	struct tdm_figures left[TDM_KIND_COUNT]; /* behind by processes that have ended: no part of the above */
};

struct tdm_holding {
	uint32_t process, device;
	uint32_t number; /* of the device in this process, without TDM_DEVICE_VIRTUAL_BIT */
	uint64_t lost;
	uint32_t program; /* text: that was named last; 0: none */
	struct tdm_figures kinds[TDM_KIND_COUNT];
	uint64_t first_buffer, buffer_count; /* in buffers[], if they were asked for */
};

struct tdm_buffer {
	uint64_t id;
	uint64_t address; /* TDM_ADDRESS_UNKNOWN */
	uint64_t asked_bytes;
	uint64_t bank_bytes; /* TDM_SIZE_UNKNOWN */
	uint64_t reserved_bytes, occupied_bytes;
	uint64_t page_size; /* 0: unknown */
	uint64_t born_ns;   /* monotonic clock; 0: unknown */
	uint32_t banks, holding_banks, cores, thread;
	uint32_t name, program; /* texts; 0: none */
	uint32_t stack;         /* 0: none */
	uint32_t holding;       /* index */
	uint32_t ranges;        /* core ranges; 0: none */
	uint16_t flags;         /* TDM_EVENT_* */
	uint8_t kind;
};

struct tdm_snapshot {
	uint64_t time_ns; /* monotonic clock, when it was taken */
	size_t process_count, device_count, holding_count, buffer_count;
	struct tdm_snapshot_process *processes;
	struct tdm_snapshot_device *devices;
	struct tdm_holding *holdings; /* those of a process together */
	struct tdm_buffer *buffers;   /* those of a holding together, in no order */
	uint64_t refused;             /* events that the registry could not use */
	uint64_t ignored;             /* events of processes that a better source knows */
	/* texts, stacks and core ranges: see the functions below */
	char **texts;
	uint32_t text_count;
	struct tdm_kept_stack *stacks;
	uint32_t stack_count;
	struct tdm_kept_frame *frames;
	struct tdm_kept_ranges *range_lists;
	uint32_t range_list_count;
	struct tdm_core_range *ranges;
};

void tdm_snapshot_free(struct tdm_snapshot *snapshot); /* NULL is allowed */

/* "" for 0 or a wrong number. */
const char *tdm_snapshot_text(const struct tdm_snapshot *snapshot, uint32_t number);

/* The frames of a stack, innermost first; *count is 0 for 0 or a wrong number. */
const struct tdm_kept_frame *tdm_snapshot_stack(const struct tdm_snapshot *snapshot, uint32_t number, uint32_t *count);

/* The core ranges of this number; *count is 0 for 0 or a wrong number. */
const struct tdm_core_range *tdm_snapshot_ranges(const struct tdm_snapshot *snapshot, uint32_t number, uint32_t *count);

#endif
