/* Pictures of a state that follows no ledgers and knows only the events of a test. Events are applied to its fold; a
 * process is listed once it has been described. */
#ifndef TESTS_UNIT_STATE_MAKE_H
#define TESTS_UNIT_STATE_MAKE_H

#include "picture_valid.h"
#include "fold_steps.h"
#include "live/join/join.h"
#include "live/join/state.h"

static inline struct tdm_state *state_new(void)
{
	static const char *const no_paths[] = { NULL };
	const struct tdm_state_options options = { .paths = no_paths, .only_ledgers = true, .with_ended = true };
	struct tdm_state *state = tdm_state_new(&options);
	assert_non_null(state);
	return state;
}

/* Borrowed until the next one. */
static inline const struct tdm_picture *picture_of(struct tdm_state *state)
{
	const struct tdm_picture *picture = tdm_state_look(state, &(struct tdm_wish){ .no_largest = true });
	assert_non_null(picture);
	assert_true(fold_is_valid(&state->fold));
	assert_true(picture_is_valid(picture));
	return picture;
}

#endif
