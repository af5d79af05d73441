#include "cli/report_parts.h"
#include "base/err.h"
#include "cli/info_view.h"
#include "report/replay_report.h"

#include <errno.h>
#include <stdio.h>

struct tdm_json *tdm_report_json(const struct tdm_report_request *request, struct tdm_digest_part *part)
{
	if (request->digest.form != TDM_DIGEST_JSON)
		return NULL;
	tdm_json_key(&part->json, part->name);
	return &part->json;
}

void tdm_report_info(
	struct tdm_report_request *request, const struct tdm_report_item *item, struct tdm_digest_part *part)
{
	struct tdm_json *json = tdm_report_json(request, part);
	struct tdm_info_request info = { .cmd = request->cmd,
		.input = item->input,
		.limit = request->limit,
		.term = request->term,
		.json = json,
		.out = &part->body,
		.digest = &request->digest };
	if (json != NULL) {
		tdm_json_object(json);
		tdm_json_put_text(json, "file", item->source);
	}
	part->is_incomplete |= tdm_info_show(&info) != 0;
	if (json != NULL)
		tdm_json_object_end(json);
}

/* Replays everything that can be replayed. Returns how many lines were refused. */
static uint64_t replay_all(const struct tdm_report_item *item, struct tdm_source *source, struct tdm_replay_feed *feed,
	struct tdm_digest_part *part)
{
	enum { MESSAGES_MAX = 10 };
	struct tdm_diag diag = { .file = item->source };
	struct tdm_progress progress;
	struct tdm_event event;
	uint64_t refused = 0;
	int got;
	tdm_progress_begin(&progress, "replaying", 0);
	tdm_input_progress(item->input, &progress);
	while (!source->is_cut && (got = tdm_source_next(source, &event, &diag)) != 0) {
		char text[TDM_DIAG_TEXT_CAP * 2];
		int err = got < 0 ? got : tdm_replay_feed(feed, &event, NULL, &diag);
		if (err >= 0)
			continue;
		if (refused++ < MESSAGES_MAX)
			tdm_digest_say(part, tdm_str_of(tdm_diag_format(&diag, text, sizeof text)));
		diag.file = item->source;
		if (got > 0 && feed->replay->space_count == 0)
			break; /* without a device there is nothing to replay on */
	}
	tdm_input_progress(item->input, NULL);
	tdm_progress_end(&progress);
	return refused;
}

static void show_replay(struct tdm_report_request *request, const struct tdm_replay *replay,
	const struct tdm_replay_report *report, struct tdm_digest_part *part)
{
	struct tdm_finding_view view = { .findings = &replay->findings, .term.utf8 = true, .place = report->place };
	struct tdm_json *json = tdm_report_json(request, part);
	if (json != NULL)
		tdm_replay_json(replay, report, json);
	else
		tdm_replay_text(replay, report, &part->body);
	tdm_digest_find(&request->digest, &view);
}

void tdm_report_simulate(
	struct tdm_report_request *request, const struct tdm_report_item *item, struct tdm_digest_part *part)
{
	const struct tdm_replay_options options = { 0 };
	struct tdm_source *source = item->format->events(item->input);
	struct tdm_replay *replay = tdm_replay_new(&options);
	struct tdm_replay_feed feed = { .replay = replay, .is_trace = true, .is_own_card = true };
	if (source != NULL && replay != NULL) {
		uint64_t refused = replay_all(item, source, &feed, part);
		const struct tdm_replay_report report = { .trace = item->source,
			.skipped = refused,
			.is_cut = source->is_cut,
			.ascii = !request->term.utf8,
			.width = request->term.width,
			.place = "line" };
		part->is_empty = replay->space_count == 0;
		if (!part->is_empty)
			show_replay(request, replay, &report, part);
		else if (refused == 0)
			tdm_digest_say(part, tdm_str_of("no 'region' or 'device' line describes the memory"));
	} else {
		request->digest.failed = true;
	}
	tdm_replay_free(replay);
	tdm_source_close(source);
}

/* The parts in the order in which they are shown for one item. */
static const struct {
	const char *name; /* of the command that shows the same */
	unsigned of;      /* enum tdm_report_of: what it applies to */
	tdm_report_fill *fill;
} parts[] = {
	{ "pressure", TDM_REPORT_WORKLOAD | TDM_REPORT_PATTERN, tdm_report_pressure },
	{ "scan", TDM_REPORT_SOURCES, tdm_report_scan },
	{ "info", TDM_REPORT_FILE, tdm_report_info },
	{ "simulate", TDM_REPORT_TRACE, tdm_report_simulate },
	{ "dump", TDM_REPORT_LEDGERS, tdm_report_dump },
	{ "phases", TDM_REPORT_LEDGERS, tdm_report_phases },
	{ "status", TDM_REPORT_MACHINE, tdm_report_status },
	{ "leaks", TDM_REPORT_MACHINE | TDM_REPORT_LEDGERS, tdm_report_leaks },
	{ "doctor", TDM_REPORT_MACHINE, tdm_report_doctor },
};

void tdm_report_item(struct tdm_report_request *request, const struct tdm_report_item *item)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if ((parts[i].of & item->of) == 0)
			continue;
		struct tdm_digest_part *part = tdm_digest_begin(&request->digest, parts[i].name, item->source);
		if (part == NULL)
			continue;
		parts[i].fill(request, item, part);
		if (part->is_empty)
			tdm_digest_drop(&request->digest, !(part->is_unrelated && item->is_found));
	}
}
