/* Replays a text in one go, for tests of the replay. */
#ifndef TDM_TEST_REPLAY_RUN_H
#define TDM_TEST_REPLAY_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/replay/replay.h"
#include "open_input.h"

/* A replay of a text, with its result lines and its refusals ("line:column: text" each). */
struct run {
	struct tdm_replay *replay;
	struct tdm_buf results, refusals;
};

static inline struct run run_with(const char *trace, size_t len, const struct tdm_replay_options *options)
{
	struct run run = { .replay = tdm_replay_new(options) };
	struct test_source s = source_of_text("text_trace", trace, len);
	struct tdm_event event;
	struct tdm_diag diag = { 0 };
	int got;
	assert_non_null(run.replay);
	tdm_buf_init(&run.results);
	tdm_buf_init(&run.refusals);
	tdm_buf_puts(&run.results, "");
	tdm_buf_puts(&run.refusals, "");
	while ((got = tdm_source_next(s.source, &event, &diag)) != 0) {
		if (got > 0 && tdm_replay_apply(run.replay, &event, &run.results, &diag) == 0)
			continue;
		tdm_buf_printf(&run.refusals, "%d:%d: %s\n", (int)diag.line, (int)diag.column, diag.text);
		diag = (struct tdm_diag){ 0 };
	}
	source_done(&s);
	for (size_t i = 0; i < run.replay->space_count; i++)
		assert_true(tdm_freelist_is_valid(run.replay->spaces[i].list));
	return run;
}

static inline struct run run_of(const char *trace)
{
	return run_with(trace, strlen(trace), NULL);
}

static inline void run_done(struct run *run)
{
	tdm_replay_free(run->replay);
	tdm_buf_done(&run->results);
	tdm_buf_done(&run->refusals);
}

/* Replays and compares both texts, then forgets the run. */
static inline void assert_replays(const char *trace, const char *results, const char *refusals)
{
	struct run run = run_of(trace);
	assert_string_equal(run.refusals.data, refusals);
	assert_string_equal(run.results.data, results);
	run_done(&run);
}

#endif
