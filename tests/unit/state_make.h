/* Pictures of a state that follows no ledgers: it knows what the events of a test say, and nothing else. */
#ifndef TDM_TESTS_STATE_MAKE_H
#define TDM_TESTS_STATE_MAKE_H

#include "state/state_parts.h"

static inline struct tdm_state *state_new(void)
{
	static const char *const no_paths[] = { NULL };
	const struct tdm_state_options options = {
		.paths = no_paths, .only_ledgers = true, .with_ended = true, .no_largest = true
	};
	struct tdm_state *state = tdm_state_new(&options);
	assert_non_null(state);
	return state;
}

static inline void apply(struct tdm_state *state, const struct tdm_event *event)
{
	struct tdm_event copy = *event; /* a release is completed in place */
	assert_int_equal(tdm_fold_apply(&state->fold, &copy), 0);
}

static inline struct tdm_event event_of(enum tdm_op op, uint64_t process, uint32_t device)
{
	return (struct tdm_event){ .op = (uint8_t)op,
		.process = process,
		.device = device,
		.bytes_per_bank = TDM_SIZE_UNKNOWN,
		.address = TDM_ADDRESS_UNKNOWN };
}

/* Only a process that was described is listed. */
static inline void describe_process(struct tdm_state *state, uint64_t process, enum tdm_life life)
{
	struct tdm_process who = { .pid = 100 + (int32_t)process, .start_time = 7, .life = (uint8_t)life, .comm = "x" };
	struct tdm_event event = event_of(TDM_OP_PROCESS, process, 0);
	event.who = &who;
	apply(state, &event);
}

static inline void describe_device(struct tdm_state *state, uint64_t process, const struct tdm_device_info *info)
{
	struct tdm_event event = event_of(TDM_OP_DEVICE, process, 0);
	event.about = info;
	apply(state, &event);
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

/* Borrowed until the next one. */
static inline const struct tdm_picture *picture_of(struct tdm_state *state)
{
	const struct tdm_picture *picture = tdm_state_look(state, NULL);
	assert_non_null(picture);
	assert_true(tdm_fold_is_valid(&state->fold));
	assert_true(tdm_picture_is_valid(picture));
	return picture;
}

#endif
