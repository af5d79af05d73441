/* What the files of the registry share. Nothing outside of them includes this. */
#ifndef TDM_REGISTRY_REGISTRY_PARTS_H
#define TDM_REGISTRY_REGISTRY_PARTS_H

#include "base/map.h"
#include "registry/intern.h"
#include "registry/registry.h"

enum {
	TDM_ORIGINS_MAX = 16,
	TDM_PROCESSES_MAX = 8192,
	TDM_HOLDINGS_MAX = 256, /* of one process */
	TDM_MODULES_MAX = 4096, /* of one process */
	TDM_FREED_CELLS = 1024, /* buffers freed lately, to tell a double free from an unknown one */
};

/* What one process may hold of each figure, all devices together: with all processes full no sum wraps. */
#define TDM_PROCESS_BYTES_MAX (UINT64_C(1) << 50)

/* Sums over buffers. */
struct tdm_sums {
	uint64_t reserved, occupied, asked, buffers;
};

/* Of a kind, in a holding or on a device. */
struct tdm_account {
	struct tdm_sums now, peak;
	uint64_t peak_ns;
	uint64_t allocs, double_frees, unknown_frees, rereports,
		out_of_memory; /* since the last word of the producer */
	uint64_t oom_bytes;
	bool has_usage;
	struct tdm_usage usage;
};

struct tdm_reg_holding {
	uint32_t number; /* with TDM_DEVICE_VIRTUAL_BIT */
	uint32_t device; /* index */
	uint64_t lost;
	uint32_t program;
	struct tdm_account kinds[TDM_KIND_COUNT];
	struct tdm_map by_id[TDM_KIND_COUNT]; /* to buffers; cells are NULL until the kind is used */
};

struct tdm_reg_process {
	bool used, has_who;
	struct tdm_process who;
	unsigned origin;
	char *place; /* may be NULL */
	struct tdm_module *modules;
	size_t module_count, module_cap;
	uint32_t phase;
	uint64_t phase_count, lost, refused;
	struct tdm_sums total;             /* all devices and kinds */
	struct tdm_reg_holding **holdings; /* in the order in which the devices were named */
	uint32_t holding_count, holding_cap;
};

struct tdm_reg_device {
	bool used, is_weak, is_virtual, has_info;
	uint32_t number; /* without TDM_DEVICE_VIRTUAL_BIT */
	uint32_t users;  /* holdings that refer to it */
	struct tdm_device_info info;
	struct tdm_account kinds[TDM_KIND_COUNT]; /* of processes that run */
	struct tdm_sums left[TDM_KIND_COUNT];     /* of processes that have ended */
};

struct tdm_reg_origin {
	const char *name;
	unsigned rank;
	struct tdm_map by_number; /* the origin's number of a process to the index here */
};

/* A buffer that was freed lately. */
struct tdm_freed {
	uint64_t id;
	uint32_t process, number;
	uint8_t kind;
	bool used;
};

struct tdm_registry {
	struct tdm_reg_origin origins[TDM_ORIGINS_MAX];
	unsigned origin_count;
	struct tdm_reg_process *processes;
	uint32_t process_count, process_cap;
	struct tdm_reg_device *devices;
	uint32_t device_count, device_cap;
	struct tdm_buffer *buffers; /* `holding` is the next spare one while unused */
	uint32_t buffer_used, buffer_cap, spare;
	uint64_t live;
	struct tdm_intern intern;
	struct tdm_freed freed[TDM_FREED_CELLS];
	uint64_t refused, ignored;
};

static inline bool tdm_process_runs(const struct tdm_reg_process *process)
{
	return !process->has_who || process->who.life != TDM_LIFE_ENDED;
}

/* Devices (registry_device.c). */

/* The holding of this device number, made if need be, on a device of weak identity. NULL with *err set. */
struct tdm_reg_holding *tdm_holding_get(
	struct tdm_registry *reg, struct tdm_reg_process *process, uint32_t number, int *err);
struct tdm_reg_holding *tdm_holding_find(const struct tdm_reg_process *process, uint32_t number);

/* Moves a holding to the device that the description names. 0 or -ENOMEM. */
int tdm_holding_describe(struct tdm_registry *reg, struct tdm_reg_process *process, struct tdm_reg_holding *holding,
	const struct tdm_device_info *info);
void tdm_holding_free(struct tdm_registry *reg, struct tdm_reg_process *process, struct tdm_reg_holding *holding);

/* Takes all that a process holds out of its devices' sums, or puts it in, as its life says now. */
void tdm_process_settle(struct tdm_registry *reg, struct tdm_reg_process *process, bool add);

/* Adds a buffer to the sums of its holding, process and device, or takes it out. */
void tdm_sums_add(struct tdm_registry *reg, struct tdm_reg_process *process, struct tdm_reg_holding *holding,
	const struct tdm_buffer *buffer, uint64_t time_ns);
void tdm_sums_take(struct tdm_registry *reg, struct tdm_reg_process *process, struct tdm_reg_holding *holding,
	const struct tdm_buffer *buffer);

#endif
