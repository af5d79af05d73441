/* The part of `tidemark report` about sources: what `tidemark scan` shows without further options. */
#include "analyze/scan_verdict.h"
#include "base/err.h"
#include "base/progress.h"
#include "cli/report_parts.h"
#include "report/scan_report.h"

#include <math.h>

struct work {
	struct tdm_scan scan;
	struct tdm_scan_verdict verdict;
};

static int scan_paths(const struct tdm_report_item *item, struct work *work, struct tdm_diag *diag)
{
	struct tdm_progress progress;
	const struct tdm_scan_options options = { .progress = &progress };
	size_t count = 0;
	while (item->paths[count] != NULL)
		count++;
	tdm_progress_begin(&progress, "scanning", 0);
	int err = tdm_scan_run(&work->scan, item->paths, count, &options, diag);
	tdm_progress_end(&progress);
	if (err != 0 && diag->text[0] == '\0')
		tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err));
	return err;
}

static int judge(const struct tdm_card *card, struct work *work, struct tdm_diag *diag)
{
	const struct tdm_scan_rules rules = { .l1_bytes = tdm_scan_l1_bytes(card, diag), .limit = (double)NAN };
	int err = tdm_scan_judge(&work->scan, &rules, &work->verdict);
	return err != 0 ? tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err)) : 0;
}

/* Whether something could not be read. The part lists it. */
static bool has_refusals(const struct tdm_scan *scan)
{
	bool any = scan->refusal_count != 0;
	for (size_t i = 0; i < scan->file_count; i++)
		any |= scan->files[i].state == TDM_FILE_REFUSED;
	return any;
}

static void show(struct tdm_report_request *request, const struct tdm_report_item *item, struct work *work,
	struct tdm_digest_part *part)
{
	const struct tdm_scan_report report = { .scan = &work->scan,
		.verdict = &work->verdict,
		.card = &request->card,
		.paths = item->paths,
		.term = request->term,
		.limit = request->limit != SIZE_MAX ? request->limit : 0 };
	struct tdm_finding_view view = { .findings = &work->verdict.findings, .term.utf8 = true };
	struct tdm_json *json = tdm_report_json(request, part);
	if (json != NULL)
		tdm_scan_report_json(&report, json);
	else
		tdm_scan_report_text(&report, &part->body);
	part->is_incomplete |= has_refusals(&work->scan);
	tdm_digest_find(&request->digest, &view);
}

void tdm_report_scan(
	struct tdm_report_request *request, const struct tdm_report_item *item, struct tdm_digest_part *part)
{
	struct work work = { 0 };
	struct tdm_diag diag = { 0 };
	if (scan_paths(item, &work, &diag) == 0 && judge(&request->card, &work, &diag) == 0) {
		show(request, item, &work, part);
	} else {
		tdm_digest_say(part, tdm_str_of(diag.text));
		part->is_empty = true;
	}
	tdm_scan_verdict_done(&work.verdict);
	tdm_scan_done(&work.scan);
}
