#include "report/replay_report.h"

static void put_bound(
	struct tdm_json *json, const char *key, bool has, const struct tdm_replay_name *name, uint64_t bytes)
{
	tdm_json_key(json, key);
	if (!has) {
		tdm_json_null(json);
		return;
	}
	tdm_json_object(json);
	tdm_json_put_text(json, "name", name->text);
	tdm_json_put_bytes(json, "bytes", bytes);
	tdm_json_object_end(json);
}

static void put_holes(struct tdm_json *json, const struct tdm_replay_hole *holes, size_t count)
{
	tdm_json_put_array(json, "largest_holes");
	for (size_t i = 0; i < count; i++) {
		tdm_json_object(json);
		tdm_json_put_u64(json, "address", holes[i].address);
		tdm_json_put_bytes(json, "bytes", holes[i].size);
		put_bound(json, "below", holes[i].has_below, &holes[i].below, holes[i].below_bytes);
		put_bound(json, "above", holes[i].has_above, &holes[i].above, holes[i].above_bytes);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_stats(struct tdm_json *json, const struct tdm_freelist_stats *s)
{
	tdm_json_put_bytes(json, "total", s->total);
	tdm_json_put_bytes(json, "allocated", s->allocated);
	tdm_json_put_bytes(json, "free", s->free);
	tdm_json_put_bytes(json, "largest_free", s->largest_free);
	tdm_json_put_double(json, "fragmentation", tdm_replay_frag(s->free, s->largest_free));
}

static void put_failure(struct tdm_json *json, const struct tdm_replay_space *space, bool is_device)
{
	const struct tdm_replay_failure *f = &space->first_failure;
	tdm_json_key(json, "first_failure");
	if (space->failures == 0) {
		tdm_json_null(json);
		return;
	}
	tdm_json_object(json);
	tdm_json_put_u64(json, "line", f->line);
	tdm_json_put_u64(json, "request", f->op);
	tdm_json_put_text(json, "name", f->name.text);
	tdm_json_put_text(json, "cause", tdm_replay_cause_name(f->cause));
	tdm_json_put_bytes(json, "size", f->size);
	tdm_json_put_u64(json, "cores", f->cores);
	tdm_json_put_bytes(json, "bytes_per_bank", f->bytes_per_bank);
	tdm_json_put_bytes(json, "needed_per_bank", f->need);
	put_stats(json, &f->stats);
	if (is_device) {
		struct tdm_buf message;
		tdm_buf_init(&message);
		tdm_replay_runtime_message(space, &message);
		tdm_json_put_text(json, "runtime_message", message.len != 0 ? message.data : NULL);
		tdm_buf_done(&message);
	}
	put_holes(json, f->holes, f->hole_count);
	tdm_json_object_end(json);
}

static void put_moment(
	struct tdm_json *json, const char *key, const char *figure, uint64_t bytes, uint64_t op, uint64_t line)
{
	tdm_json_put_object(json, key);
	tdm_json_put_bytes(json, figure, bytes);
	tdm_json_put_u64(json, "request", op);
	tdm_json_put_u64(json, "line", line);
	tdm_json_object_end(json);
}

static void put_samples(struct tdm_json *json, const struct tdm_replay_space *space)
{
	tdm_json_put_array(json, "over_time");
	for (size_t i = 0; i < space->sample_count; i++) {
		const struct tdm_replay_sample *s = &space->samples[i];
		tdm_json_object(json);
		tdm_json_put_u64(json, "request", s->op);
		tdm_json_put_bytes(json, "allocated", s->allocated);
		tdm_json_put_bytes(json, "free", s->free);
		tdm_json_put_bytes(json, "largest_free", s->largest_free);
		tdm_json_put_double(json, "fragmentation", tdm_replay_frag(s->free, s->largest_free));
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_space(struct tdm_json *json, const struct tdm_replay *replay, size_t i)
{
	const struct tdm_replay_space *space = tdm_replay_space(replay, i);
	struct tdm_replay_hole holes[TDM_REPLAY_HOLES];
	struct tdm_freelist_stats s = tdm_freelist_stats(space->list);

	tdm_json_object(json);
	tdm_json_put_text(json, "kind", space->name);
	tdm_json_put_u64(json, "banks", space->range.banks);
	tdm_json_put_u64(json, "base", space->range.base);
	tdm_json_put_u64(json, "allocations", space->allocs);
	tdm_json_put_u64(json, "frees", space->frees);
	tdm_json_put_u64(json, "failures", space->failures);
	put_moment(json, "peak", "bytes_per_bank", space->peak, space->peak_op, space->peak_line);
	put_moment(json, "tightest", "largest_free", space->tightest, space->tightest_op, space->tightest_line);
	tdm_json_put_object(json, "worst_fragmentation");
	tdm_json_put_double(json, "fragmentation", space->worst_frag);
	tdm_json_put_u64(json, "request", space->worst_frag_op);
	tdm_json_put_u64(json, "line", space->worst_frag_line);
	tdm_json_object_end(json);
	tdm_json_put_object(json, "at_end");
	put_stats(json, &s);
	put_holes(json, holes, tdm_replay_holes(replay, i, holes));
	tdm_json_object_end(json);
	put_failure(json, space, tdm_replay_card(replay) != NULL);
	put_samples(json, space);
	tdm_json_object_end(json);
}

/* Of what is no text trace only. */
static void put_feed(struct tdm_json *json, const struct tdm_replay_report *report)
{
	static const char *const keys[TDM_LEFT_OUT_COUNT] = {
#define X(id, key, one, many) key,
		TDM_LEFT_OUT_LIST(X)
#undef X
	};
	tdm_json_put_text(json, "format", report->format);
	tdm_json_put_text(json, "position", report->place);
	tdm_json_put_u64(json, "device", report->feed->device);
	tdm_json_put_u64(json, "assumed_pages", report->feed->assumed);
	tdm_json_put_object(json, "left_out");
	for (int i = 0; i < TDM_LEFT_OUT_COUNT; i++)
		tdm_json_put_u64(json, keys[i], report->feed->left_out[i]);
	tdm_json_object_end(json);
}

void tdm_replay_json(const struct tdm_replay *replay, const struct tdm_replay_report *report, struct tdm_json *json)
{
	const struct tdm_card *card = tdm_replay_card(replay);
	tdm_json_object(json);
	tdm_json_put_text(json, "trace", report->trace);
	tdm_json_put_text(json, "source", "model");
	tdm_json_put_text(json, "card", card != NULL ? card->name : NULL);
	tdm_json_put_text(json, "policy", tdm_fit_name(tdm_replay_fit(replay)));
	tdm_json_put_u64(json, "requests", tdm_replay_ops(replay));
	tdm_json_put_u64(json, "skipped_lines", report->skipped);
	tdm_json_put_u64(json, "live_buffers", tdm_replay_live(replay));
	if (report->feed != NULL)
		put_feed(json, report);
	tdm_json_key(json, "fits");
	if (tdm_replay_space_count(replay) == 0)
		tdm_json_null(json);
	else
		tdm_json_bool(json, tdm_replay_first_failing(replay) == NULL);
	tdm_json_put_array(json, "spaces");
	for (size_t i = 0; i < tdm_replay_space_count(replay); i++)
		put_space(json, replay, i);
	tdm_json_array_end(json);
	tdm_json_object_end(json);
}
