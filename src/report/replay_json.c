/* The result of a replay as JSON, and the columns of its tables. */
#include "report/finding_report.h"
#include "report/replay_report.h"

static void put_room(struct tdm_json *json, uint64_t allocated, uint64_t free, uint64_t largest_free)
{
	tdm_json_put_bytes(json, "allocated", allocated);
	tdm_json_put_bytes(json, "free", free);
	tdm_json_put_bytes(json, "largest_free", largest_free);
	tdm_json_put_double(json, "fragmentation", tdm_replay_frag(free, largest_free));
}

static void put_failure(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_replay_space *space = field->row;
	const struct tdm_replay *replay = field->table->context;
	struct tdm_finding_view view = { .findings = &replay->findings };
	if (space->failures != 0)
		tdm_finding_json(&view, &view.findings->list[space->first_failure], json);
	else
		tdm_json_null(json);
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

static void put_moments(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_replay_space *space = field->row;
	put_moment(json, "peak", "bytes_per_bank", space->peak, space->peak_op, space->peak_line);
	put_moment(json, "tightest", "largest_free", space->tightest, space->tightest_op, space->tightest_line);
	tdm_json_put_object(json, "worst_fragmentation");
	tdm_json_put_double(json, "fragmentation", space->worst_frag);
	tdm_json_put_u64(json, "request", space->worst_frag_op);
	tdm_json_put_u64(json, "line", space->worst_frag_line);
	tdm_json_object_end(json);
}

static void put_end(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_replay_space *space = field->row;
	struct tdm_hole holes[TDM_REPLAY_HOLES];
	struct tdm_freelist_stats s = tdm_freelist_stats(space->list);
	size_t i = (size_t)(space - (const struct tdm_replay_space *)field->table->rows);
	const struct tdm_table table = tdm_hole_table(holes, tdm_replay_holes(field->table->context, i, holes));
	tdm_json_object(json);
	tdm_json_put_bytes(json, "total", s.total);
	put_room(json, s.allocated, s.free, s.largest_free);
	tdm_json_key(json, "largest_holes");
	tdm_table_json(&table, json);
	tdm_json_object_end(json);
}

static void put_samples(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_replay_space *space = field->row;
	tdm_json_array(json);
	for (size_t i = 0; i < space->sample_count; i++) {
		const struct tdm_replay_sample *s = &space->samples[i];
		tdm_json_object(json);
		tdm_json_put_u64(json, "request", s->op);
		put_room(json, s->allocated, s->free, s->largest_free);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static struct tdm_value get_peak_share(const struct tdm_field *field)
{
	const struct tdm_replay_space *space = field->row;
	return tdm_value_share(
		(double)space->peak / (double)space->range.size); /* not finite, so unknown, for a range of no bytes */
}

static struct tdm_value get_end(const struct tdm_field *field)
{
	struct tdm_freelist_stats s = tdm_freelist_stats(((const struct tdm_replay_space *)field->row)->list);
	return tdm_value_number(field->column->arg == 0 ? s.allocated : s.largest_free);
}

#define SPACE(member) TDM_MEMBER(struct tdm_replay_space, member)
static const struct tdm_column space_columns[] = {
	{ "Per bank", "kind", SPACE(name), .width = 9 },
	{ "banks", "banks", SPACE(range.banks), .width = 5 },
	{ NULL, "base", SPACE(range.base) },
	{ NULL, "allocations", SPACE(allocs) },
	{ NULL, "frees", SPACE(frees) },
	{ NULL, "failures", SPACE(failures) },
	{ "size", NULL, SPACE(range.size), TDM_BYTES, .before = 1 },
	{ "peak", NULL, SPACE(peak), TDM_BYTES, .before = 1 },
	{ "peak\nshare", NULL, .get = get_peak_share, .width = 5, .before = 1, .flags = TDM_OTHER_SIDE },
	{ "at end", NULL, .get = get_end, .arg = 0, TDM_BYTES, .before = 1 },
	{ "largest\nfree", NULL, .get = get_end, .arg = 1, TDM_BYTES, .before = 1 },
	{ "tightest\nfree", NULL, SPACE(tightest), TDM_BYTES, .before = 1 },
	{ "worst\nfrag.", NULL, SPACE(worst_frag), .width = 5, .before = 1 },
	{ NULL, NULL, .json = put_moments },
	{ NULL, "at_end", .json = put_end },
	{ NULL, "first_failure", .json = put_failure },
	{ NULL, "over_time", .json = put_samples },
};

struct tdm_table tdm_replay_space_table(const struct tdm_replay *replay)
{
	return (struct tdm_table){ TDM_COLUMNS(space_columns), replay->spaces, sizeof *replay->spaces,
		replay->space_count, .context = replay, .gap = 1 };
}

/* Only for files that are not text traces. */
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
	struct tdm_table spaces = tdm_replay_space_table(replay);
	tdm_json_object(json);
	tdm_json_put_text(json, "trace", report->trace);
	tdm_json_put_text(json, "source", "model");
	tdm_json_put_text(json, "card", card != NULL ? card->name : NULL);
	tdm_json_put_text(json, "policy", tdm_fit_name(replay->setup.fit));
	tdm_json_put_u64(json, "requests", replay->ops);
	tdm_json_put_u64(json, "skipped_lines", report->skipped);
	tdm_json_put_bool(json, "complete", !report->is_cut);
	tdm_json_put_u64(json, "live_buffers", replay->live_count);
	if (report->feed != NULL)
		put_feed(json, report);
	tdm_json_key(json, "fits");
	if (replay->space_count == 0 || (report->is_cut && replay->findings.count == 0))
		tdm_json_null(json);
	else
		tdm_json_bool(json, replay->findings.count == 0);
	tdm_json_key(json, "spaces");
	tdm_table_json(&spaces, json);
	tdm_json_object_end(json);
}
