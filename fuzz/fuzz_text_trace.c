/*
 * Fuzz the text trace. Exercises: base/file.c (lines), base/names.c, input/trace/text_trace.c (words, numbers, names),
 * analyze/replay/replay.c (both descriptions, cards, placing, freeing, holes, samples),
 * model/alloc/freelist.c, and the reports on the result.
 *
 * Properties: a refusal has a text and a line; every event is valid; after every event the free lists hold their
 * invariants (as far as a bound on the work allows) and agree with the counts; the reports can be written, and the JSON
 * has no byte that should have been escaped.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_input.h"
#include "analyze/replay/replay.h"
#include "fuzz_write.h"

enum {
	EVENTS_MAX = 20000,
	CHECKED_BLOCKS = 200000, /* limit on the blocks checked, all checks together */
};

/* Returns the number of blocks checked. */
static size_t check_spaces(const struct tdm_replay *replay)
{
	size_t blocks = 0;
	uint64_t live = 0;
	for (size_t i = 0; i < replay->space_count; i++) {
		const struct tdm_replay_space *space = &replay->spaces[i];
		struct tdm_freelist_stats s = tdm_freelist_stats(space->list);
		check(tdm_freelist_is_valid(space->list));
		check(s.allocated <= space->peak && s.largest_free >= space->tightest);
		check(space->frees <= space->allocs);
		check(space->sample_count <= TDM_REPLAY_SAMPLES);
		live += s.used_blocks;
		blocks += s.used_blocks + s.free_blocks;
	}
	check(live <= replay->live_count); /* empty buffers take no block */
	return blocks + 1;
}

static void check_reports(struct tdm_replay *replay)
{
	struct tdm_input *input = tdm_input_memory("fuzz", "", 0);
	const struct tdm_replay_feed feed = { .replay = replay, .is_trace = true };
	const struct tdm_intake reading = { .input = input, .format = tdm_format_find("text_trace") };
	struct tdm_result *result = tdm_result_new();
	tdm_replay_show(&result->top, &feed, &reading);
	fuzz_write(result);
	tdm_result_free(result);
	tdm_input_close(input);
}

static void replay_all(struct tdm_source *source, struct tdm_replay *replay)
{
	struct tdm_event event;
	struct tdm_buf results;
	size_t checked = 0;
	tdm_buf_init(&results);
	for (int i = 0; i < EVENTS_MAX; i++) {
		struct tdm_diag diag = { 0 };
		uint64_t refused = source->refused;
		int got = tdm_source_next(source, &event, &diag);
		if (got == 0)
			break;
		check(source->refused == refused + (got < 0));
		if (got > 0) {
			check(tdm_event_is_valid(&event));
			got = tdm_replay_apply(replay, &event, &results, &diag);
		}
		if (got < 0)
			check(diag.text[0] != '\0' && diag.line != 0 &&
				memchr(diag.text, '\0', sizeof diag.text) != NULL);
		if (checked < CHECKED_BLOCKS)
			checked += check_spaces(replay);
		tdm_buf_clear(&results);
	}
	check_spaces(replay);
	tdm_buf_done(&results);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tdm_input *input = fuzz_open(data, size);
	struct tdm_source *source = tdm_format_find("text_trace")->events(input);
	struct tdm_replay *replay = tdm_replay_new(NULL);
	check(source != NULL);
	replay_all(source, replay);
	check_reports(replay);
	tdm_replay_free(replay);
	tdm_source_close(source);
	tdm_input_close(input);
	return 0;
}
