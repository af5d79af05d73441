/* Pictures made by hand, for tests of reports. */
#ifndef TESTS_UNIT_PICTURE_MAKE_H
#define TESTS_UNIT_PICTURE_MAKE_H

#include <stdio.h>
#include <string.h>

#include "live/join/picture.h"

enum { MAKE_DEVICES = 40, MAKE_PROCESSES = 16, MAKE_HOLDINGS = 32, MAKE_PROBLEMS = 16 };

#define MAKE_KIB UINT64_C(1024)
#define MAKE_MIB (MAKE_KIB * 1024)
#define MAKE_GIB (MAKE_MIB * 1024)

struct make {
	struct tdm_picture picture;
	struct tdm_picture_device devices[MAKE_DEVICES];
	struct tdm_picture_process processes[MAKE_PROCESSES];
	struct tdm_holding holdings[MAKE_HOLDINGS];
	struct tdm_picture_problem problems[MAKE_PROBLEMS];
};

static inline void make_init(struct make *make)
{
	memset(make, 0, sizeof *make);
	make->picture = (struct tdm_picture){ .time_ns = 1,
		.real_ns = UINT64_C(1800000000) * 1000000000,
		.devices = make->devices,
		.processes = make->processes,
		.holdings = make->holdings,
		.problems = make->problems };
}

/* A device of which nothing is known. */
static inline struct tdm_picture_device *make_device(struct make *make)
{
	size_t place = make->picture.device_count++;
	struct tdm_picture_device *device = &make->devices[place];
	tdm_picture_device_init(device);
	device->place = (uint32_t)place;
	return device;
}

static inline struct tdm_picture_device *make_n150(struct make *make, int32_t number)
{
	struct tdm_picture_device *device = make_device(make);
	device->number = number;
	device->node = number;
	device->has_chip_id = true;
	device->chip_id = 0x1000 + (uint64_t)number;
	snprintf(device->pci, sizeof device->pci, "0000:%02x:00.0", (unsigned)number + 1);
	snprintf(device->card, sizeof device->card, "n150");
	snprintf(device->arch, sizeof device->arch, "Wormhole");
	device->card_from = TDM_FROM_LEDGER;
	device->grid_x = 8;
	device->grid_y = 8;
	device->l1_core = 1464 * MAKE_KIB;
	return device;
}

static inline void make_kind(struct tdm_picture_device *device, enum tdm_kind kind, uint64_t used, uint64_t total)
{
	struct tdm_picture_kind *k = &device->kinds[kind];
	k->used_from = TDM_FROM_LEDGER;
	k->total_from = TDM_FROM_LEDGER;
	k->used = used;
	k->total = total;
	k->free = total >= used ? total - used : 0;
	k->largest_free = k->free;
	k->peak = used;
	k->unattributed = used; /* until a process takes it */
	k->stale = 0;
	k->banks = 12;
	k->base = 32;
	k->bank_bytes = total / 12;
}

static inline struct tdm_picture_process *make_process(struct make *make, int32_t pid, const char *command)
{
	size_t i = make->picture.process_count++;
	struct tdm_picture_process *process = &make->processes[i];
	*process = (struct tdm_picture_process){ .handle = i + 1,
		.pid = pid,
		.uid = 1000,
		.life = TDM_LIFE_RUNS,
		.started_ns = make->picture.real_ns - UINT64_C(90000000000),
		.first_holding = (uint32_t)make->picture.holding_count };
	snprintf(process->user, sizeof process->user, "alice");
	snprintf(process->comm, sizeof process->comm, "python3");
	snprintf(process->command, sizeof process->command, "%s", command);
	return process;
}

/* Of the process that was made last. */
static inline struct tdm_holding *make_holding(struct make *make, uint32_t device)
{
	struct tdm_holding *holding = &make->holdings[make->picture.holding_count++];
	tdm_holding_init(holding, (uint32_t)make->picture.process_count - 1, device);
	make->processes[make->picture.process_count - 1].holding_count++;
	make->devices[device].process_count++;
	return holding;
}

/* Takes it from what was attributed to nobody. */
static inline void make_amount(struct make *make, struct tdm_holding *holding, enum tdm_kind kind, uint64_t used)
{
	struct tdm_picture_kind *of = &make->devices[holding->device].kinds[kind];
	struct tdm_counter *amount = &holding->kinds[kind];
	amount->from = of->used_from;
	amount->reserved = amount->peak = used;
	amount->buffers = 1;
	of->unattributed -= used;
}

#endif
