/* The parts of `tidemark report` about this machine and about ledgers: pictures of one moment, as `status`, `doctor`,
 * `leaks`, `dump` and `phases` show them. */
#include "analyze/leaks.h"
#include "analyze/phases_find.h"
#include "analyze/run_findings.h"
#include "base/err.h"
#include "cli/examination.h"
#include "cli/leak_pictures.h"
#include "cli/report_parts.h"
#include "report/doctor_report.h"
#include "report/leaks_report.h"
#include "report/phases_report.h"
#include "report/status_report.h"
#include "sources/ledger_phases.h"
#include "state/state.h"

#include <stdio.h>
#include <stdlib.h>

static void run_out(struct tdm_report_request *request, struct tdm_digest_part *part)
{
	request->digest.failed = true;
	part->is_empty = true;
}

/* What the programs of a picture did with their devices. */
static void give_run_findings(struct tdm_report_request *request, const struct tdm_picture *picture)
{
	for (uint32_t i = 0; i < picture->process_count; i++) {
		struct tdm_findings found = { 0 };
		struct tdm_finding_view view = { .findings = &found, .term.utf8 = true, .picture = picture };
		tdm_run_findings(picture, i, &found);
		tdm_digest_find(&request->digest, &view);
		tdm_stack_symbols_done(&view.symbols);
		tdm_findings_done(&found);
	}
}

void tdm_report_status(
	struct tdm_report_request *request, const struct tdm_report_item *item, struct tdm_digest_part *part)
{
	const struct tdm_state_options options = { .ledger_dir = request->dir, .once = true };
	struct tdm_state *state = tdm_state_new(&options);
	const struct tdm_picture *picture = state != NULL ? tdm_state_look(state, NULL) : NULL;
	struct tdm_json *json = tdm_report_json(request, part);
	struct tdm_machine machine;
	(void)item;
	if (picture != NULL) {
		tdm_machine_read(&machine, NULL);
		const struct tdm_status_report report = { .picture = picture,
			.host = tdm_state_host(state),
			.machine = &machine,
			.term = request->term,
			.is_piped = request->is_piped };
		if (json != NULL)
			tdm_status_json(&report, json);
		else
			tdm_status_text(&report, &part->body);
		give_run_findings(request, picture);
	} else {
		run_out(request, part);
	}
	tdm_state_free(state);
}

void tdm_report_doctor(
	struct tdm_report_request *request, const struct tdm_report_item *item, struct tdm_digest_part *part)
{
	struct tdm_examination *look = malloc(sizeof *look);
	struct tdm_json *json = tdm_report_json(request, part);
	(void)item;
	if (look != NULL && tdm_examine(look, request->dir) == 0) {
		struct tdm_finding_view view = { .findings = &look->doctor.findings, .term.utf8 = true };
		if (json != NULL)
			tdm_doctor_json(&look->doctor.findings, NULL, json);
		else
			tdm_doctor_text(&look->doctor.findings, &request->term, &part->body);
		/* Notes about the setup say what is possible, not what happened: they are in the part alone. */
		for (size_t i = 0; i < look->doctor.findings.count; i++)
			if (look->doctor.findings.list[i].severity == TDM_FINDING_INFO)
				look->doctor.findings.list[i].severity = TDM_FINDING_OK;
		tdm_digest_find(&request->digest, &view);
	} else {
		run_out(request, part);
	}
	if (look != NULL)
		tdm_examination_done(look);
	free(look);
}

/* Opens the ledgers of a directory, or of the item's paths. */
static int open_ledgers(
	const struct tdm_report_request *request, const struct tdm_report_item *item, struct tdm_ledgers *ledgers)
{
	const struct tdm_state_options options = {
		.ledger_dir = request->dir, .paths = item->paths, .keeps_gone = true
	};
	return tdm_ledgers_open(request->cmd, options, ledgers);
}

/* Why there is no picture; a message on standard error said so already. */
static void explain(struct tdm_report_request *request, const struct tdm_ledgers *ledgers, struct tdm_digest_part *part)
{
	char text[256];
	if (ledgers->picture == NULL || ledgers->picture->ledgers_err == 0) {
		run_out(request, part);
		return;
	}
	snprintf(text, sizeof text, "cannot list %s: %s", tdm_state_ledger_dir(ledgers->state),
		tdm_err_text(ledgers->picture->ledgers_err));
	tdm_digest_say(part, tdm_str_of(text));
	part->is_empty = true;
}

/* What every report on ledgers starts from. A ledger that was named and cannot be read makes the part incomplete. */
static struct tdm_live_report live_report(const struct tdm_report_request *request, const struct tdm_report_item *item,
	const struct tdm_ledgers *ledgers, struct tdm_digest_part *part)
{
	struct tdm_live_report live = { 0 };
	tdm_ledgers_report(ledgers, false, &live);
	live.term = request->term;
	part->is_incomplete |= item->paths != NULL && tdm_live_unread_count(&live) != 0;
	return live;
}

/* Judges the picture, and shows the verdicts. */
static void show_leaks(struct tdm_report_request *request, const struct tdm_live_report *live,
	const struct tdm_leak_pictures *pictures, struct tdm_digest_part *part)
{
	struct tdm_findings found = { 0 };
	struct tdm_leaks_result result;
	struct tdm_finding_view view = { .findings = &found, .term.utf8 = true, .picture = live->picture };
	const struct tdm_leaks_report report = { .live = live,
		.findings = &found,
		.result = &result,
		.interval_ns = pictures->watch_ns != 0 ? pictures->interval_ns : 0 };
	struct tdm_json *json = tdm_report_json(request, part);
	if (tdm_leaks_judge(pictures->leaks, live->picture, &found, &result) != 0) {
		run_out(request, part);
		return;
	}
	if (json != NULL)
		tdm_leaks_json(&report, json);
	else
		tdm_leaks_text(&report, &part->body);
	part->is_incomplete |= tdm_leaks_damaged(&report, NULL) != 0;
	tdm_digest_find(&request->digest, &view);
	tdm_stack_symbols_done(&view.symbols);
	tdm_findings_done(&found);
}

void tdm_report_leaks(
	struct tdm_report_request *request, const struct tdm_report_item *item, struct tdm_digest_part *part)
{
	uint64_t watch_ns = item->paths == NULL ? request->watch_ns : 0;
	struct tdm_ledgers ledgers = { 0 };
	const struct tdm_leak_pictures pictures = { tdm_leaks_new(watch_ns), &ledgers, watch_ns,
		tdm_leak_interval(watch_ns) };
	if (pictures.leaks == NULL || open_ledgers(request, item, &ledgers) != 0) {
		run_out(request, part);
	} else if (tdm_leak_pictures(request->cmd, &pictures) != 0) {
		explain(request, &ledgers, part);
	} else {
		const struct tdm_live_report live = live_report(request, item, &ledgers, part);
		show_leaks(request, &live, &pictures, part);
		if (watch_ns != 0 && live.picture->process_count == 0) /* as for `leaks --fail` */
			tdm_digest_say(
				part, tdm_str_of("no tracked program was seen, so nothing can be said about leaks"));
	}
	tdm_leaks_free(pictures.leaks);
	tdm_ledgers_done(&ledgers);
}

void tdm_report_dump(
	struct tdm_report_request *request, const struct tdm_report_item *item, struct tdm_digest_part *part)
{
	struct tdm_ledgers ledgers = { 0 };
	if (open_ledgers(request, item, &ledgers) != 0) {
		run_out(request, part);
	} else if (tdm_ledgers_look(request->cmd, &ledgers, 0) != 0) {
		explain(request, &ledgers, part);
	} else {
		struct tdm_live_report live = live_report(request, item, &ledgers, part);
		struct tdm_json *json = tdm_report_json(request, part);
		live.limit = request->limit != SIZE_MAX ? request->limit : 0;
		if (json != NULL)
			tdm_dump_json(&live, json);
		else
			tdm_dump_text(&live, &part->body);
		give_run_findings(request, live.picture);
	}
	tdm_ledgers_done(&ledgers);
}

/* Reads and analyses the phases of a ledger. Returns how many runs it has. */
static size_t read_phases(const char *path, struct tdm_phases_input *input, struct tdm_digest_part *part)
{
	static const struct tdm_phases_options options = TDM_PHASES_NO_OPTIONS;
	struct tdm_diag diag = { .file = path };
	char text[TDM_DIAG_TEXT_CAP * 2];
	*input = (struct tdm_phases_input){ .source = "ledger", .path = path };
	if (tdm_ledger_phases_read(path, &input->runs, &diag) != 0)
		tdm_digest_say(part, tdm_str_of(tdm_diag_format(&diag, text, sizeof text)));
	input->results = calloc(input->runs.count + 1, sizeof *input->results);
	if (input->results == NULL)
		tdm_phase_runs_done(&input->runs);
	else
		tdm_phases_analyze(&input->runs, &options, input->results);
	return input->runs.count;
}

static void show_phases(struct tdm_report_request *request, const struct tdm_phases_input *inputs, size_t count,
	struct tdm_digest_part *part)
{
	const struct tdm_phases_report report = { inputs, count };
	struct tdm_findings found = { 0 };
	struct tdm_json *json = tdm_report_json(request, part);
	if (json != NULL)
		tdm_phases_json(&report, json);
	else
		tdm_phases_text(&report, &request->term, &part->body);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < inputs[i].runs.count; k++)
			tdm_phases_find(&inputs[i].results[k], &found);
	tdm_digest_take(&request->digest, &found, NULL);
}

void tdm_report_phases(
	struct tdm_report_request *request, const struct tdm_report_item *item, struct tdm_digest_part *part)
{
	size_t count = 0, runs = 0;
	while (item->paths[count] != NULL)
		count++;
	struct tdm_phases_input *inputs = calloc(count, sizeof *inputs);
	if (inputs == NULL) {
		run_out(request, part);
		return;
	}
	for (size_t i = 0; i < count; i++)
		runs += read_phases(item->paths[i], &inputs[i], part);
	if (runs != 0)
		show_phases(request, inputs, count, part);
	else if (part->messages.len == 0)
		tdm_digest_gap(&request->digest, item->source, "phases: none were recorded", false);
	part->is_empty = runs == 0;
	for (size_t i = 0; i < count; i++) {
		tdm_phase_runs_done(&inputs[i].runs);
		free(inputs[i].results);
	}
	free(inputs);
}
