/* Events for tests of the registry, and short ways to apply them. */
#ifndef TDM_TESTS_REGISTRY_STEPS_H
#define TDM_TESTS_REGISTRY_STEPS_H

#include "registry/registry.h"

static inline struct tdm_process who(int32_t pid)
{
	return (struct tdm_process){
		.pid = pid, .start_time = 7, .pid_namespace = 1, .life = TDM_LIFE_RUNS, .comm = "x"
	};
}

static inline struct tdm_event event_of(enum tdm_op op, uint64_t process, uint32_t device)
{
	return (struct tdm_event){ .op = (uint8_t)op,
		.process = process,
		.device = device,
		.bytes_per_bank = TDM_SIZE_UNKNOWN,
		.address = TDM_ADDRESS_UNKNOWN };
}

static inline void apply(struct tdm_registry *reg, unsigned origin, const struct tdm_event *event)
{
	assert_int_equal(tdm_registry_apply(reg, origin, event), 0);
}

static inline void describe_process(
	struct tdm_registry *reg, unsigned origin, uint64_t process, struct tdm_process identity)
{
	struct tdm_event event = event_of(TDM_OP_PROCESS, process, 0);
	event.who = &identity;
	apply(reg, origin, &event);
}

static inline void describe_chip(
	struct tdm_registry *reg, unsigned origin, uint64_t process, uint32_t device, uint64_t chip)
{
	struct tdm_device_info info = { .has_chip_id = true, .chip_id = chip, .card = "n150" };
	struct tdm_event event = event_of(TDM_OP_DEVICE, process, device);
	event.about = &info;
	apply(reg, origin, &event);
}

static inline struct tdm_event alloc_of(
	uint64_t process, uint32_t device, enum tdm_kind kind, uint64_t id, uint64_t size)
{
	struct tdm_event event = event_of(TDM_OP_ALLOC, process, device);
	event.kind = (uint8_t)kind;
	event.id = id;
	event.size = size;
	return event;
}

static inline void alloc(
	struct tdm_registry *reg, uint64_t process, uint32_t device, enum tdm_kind kind, uint64_t id, uint64_t size)
{
	struct tdm_event event = alloc_of(process, device, kind, id, size);
	apply(reg, 0, &event);
}

static inline void release(struct tdm_registry *reg, uint64_t process, uint32_t device, enum tdm_kind kind, uint64_t id)
{
	struct tdm_event event = alloc_of(process, device, kind, id, 0);
	event.op = TDM_OP_FREE;
	apply(reg, 0, &event);
}

static inline struct tdm_registry *registry_new(void)
{
	struct tdm_registry *reg = tdm_registry_new();
	assert_non_null(reg);
	assert_int_equal(tdm_registry_origin(reg, "ledger", 100), 0);
	return reg;
}

static inline struct tdm_snapshot *picture(const struct tdm_registry *reg)
{
	assert_true(tdm_registry_is_valid(reg));
	struct tdm_snapshot *s = tdm_registry_snapshot(reg, TDM_SNAPSHOT_BUFFERS);
	assert_non_null(s);
	return s;
}

#endif
