/* Events for tests of the fold, and short ways to apply them. */
#ifndef TESTS_UNIT_FOLD_STEPS_H
#define TESTS_UNIT_FOLD_STEPS_H

#include "live/join/fold.h"
#include "fold_valid.h"

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

static inline void apply(struct tdm_fold *fold, struct tdm_event event)
{
	assert_int_equal(tdm_fold_apply(fold, &event), 0);
}

static inline int apply_refused(struct tdm_fold *fold, struct tdm_event event)
{
	return tdm_fold_apply(fold, &event);
}

static inline void describe_process(struct tdm_fold *fold, uint64_t process, struct tdm_process identity)
{
	struct tdm_event event = event_of(TDM_OP_PROCESS, process, 0);
	event.who = &identity;
	apply(fold, event);
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
	struct tdm_fold *fold, uint64_t process, uint32_t device, enum tdm_kind kind, uint64_t id, uint64_t size)
{
	apply(fold, alloc_of(process, device, kind, id, size));
}

static inline void release(struct tdm_fold *fold, uint64_t process, uint32_t device, enum tdm_kind kind, uint64_t id)
{
	struct tdm_event event = alloc_of(process, device, kind, id, 0);
	event.op = TDM_OP_FREE;
	apply(fold, event);
}

static inline void fold_init(struct tdm_fold *fold)
{
	tdm_fold_init(fold);
}

static inline const struct tdm_fold_kind *kind_of(
	const struct tdm_fold *fold, uint64_t process, uint32_t device, enum tdm_kind kind)
{
	assert_true(fold_is_valid(fold));
	assert_non_null(tdm_fold_find(fold, process));
	const struct tdm_fold_holding *holding = tdm_fold_holding_find(tdm_fold_find(fold, process), device);
	assert_non_null(holding);
	return &holding->kinds[kind];
}

#endif
