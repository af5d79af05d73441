/*
 * Logs for `tidemark info`: training runs are shown as by `tidemark phases`, others as by `tidemark log`. Any text may
 * be a log, so one may have nothing to show.
 */
#include "analyze/log_pressure.h"
#include "analyze/phase_log.h"
#include "analyze/phases_find.h"
#include "cli/info_view.h"
#include "report/log_report.h"
#include "report/phases_report.h"

#include <stdlib.h>

static void show_phases(const struct tdm_info_request *request, const struct tdm_phases_input *input)
{
	struct tdm_phases_report report = { input, 1 };
	if (request->json != NULL) {
		tdm_json_key(request->json, "phases");
		tdm_phases_json(&report, request->json);
	} else {
		tdm_phases_text(&report, &request->term, request->out);
		tdm_buf_puts(request->out, "\ntidemark phases compares such runs and draws them\n");
	}
}

static void give_phase_findings(const struct tdm_info_request *request, const struct tdm_phases_input *input)
{
	struct tdm_findings found = { 0 };
	for (size_t i = 0; i < input->runs.count; i++)
		tdm_phases_find(&input->results[i], &found);
	tdm_info_found(request, &found);
}

int tdm_info_train_log(const struct tdm_info_request *request)
{
	static const struct tdm_phases_options options = TDM_PHASES_NO_OPTIONS;
	struct tdm_phase_log log = { .file = tdm_input_name(request->input) };
	struct tdm_info_reading r = { .request = request, .take = tdm_phase_log_take, .to = &log };
	tdm_info_read(&r);
	struct tdm_phases_input input = { .source = "train_log",
		.path = log.file,
		.runs = log.runs,
		.results = calloc(log.runs.count + 1, sizeof *input.results),
		.refused = log.refused,
		.refused_count = log.refused_count,
		.refused_shown = log.refused_kept };
	if (input.results != NULL && log.runs.count != 0) {
		tdm_phases_analyze(&input.runs, &options, input.results);
		show_phases(request, &input);
		if (request->digest != NULL)
			give_phase_findings(request, &input);
	} else {
		tdm_info_nothing(request);
	}
	request->out->failed |= input.results == NULL;
	bool is_empty = r.err == 0 && log.runs.count == 0;
	free(input.results);
	tdm_phase_log_done(&log);
	return is_empty ? tdm_info_refuse(request, "a memory usage summary is named in it, but there is none")
			: tdm_info_end(&r);
}

static int take_log(void *to, const struct tdm_record *record)
{
	struct tdm_log_profile *profile = to;
	if (record->type == TDM_RECORD_LOG_END)
		tdm_log_profile_end_file(profile, 0, record->log_end);
	return record->type == TDM_RECORD_LOG ? tdm_log_profile_add(profile, record->log) : 0;
}

/* Whether a line begins as Python prints a graph; the program may have printed other lines before. */
static bool is_printed_graph(struct tdm_str head)
{
	static const char begin[] = "\n[{'";
	size_t len = sizeof begin - 1;
	return (head.len >= len - 1 && memcmp(head.ptr, begin + 1, len - 1) == 0) ||
	       (head.len != 0 && memmem(head.ptr, head.len, begin, len) != NULL);
}

/* Why nothing was found in a text. */
static const char *why_nothing(struct tdm_input *input)
{
	struct tdm_str head = tdm_str_trim(tdm_input_head(input));
	while (head.len != 0 && *head.ptr == '\n')
		head = tdm_str_trim((struct tdm_str){ head.ptr + 1, head.len - 1 });
	if (is_printed_graph(head))
		return "a graph capture as Python prints it, not JSON: write it with json.dump(graph, file), or end "
		       "the capture with ttnn.graph.end_graph_capture_to_file(path)";
	return head.len != 0 && (*head.ptr == '{' || *head.ptr == '[')
		       ? "JSON, but not a graph capture: that is an array of nodes, or an object with one under "
			 "\"graph\""
		       : "text that says nothing about memory: no line of the runtime's log, no summary of a training "
			 "run";
}

/* Errors, then the judgements about pressure. */
static void give_log_findings(const struct tdm_info_request *request, const struct tdm_log_profile *profile)
{
	struct tdm_finding_view failures = { .findings = &profile->found, .term.utf8 = true };
	struct tdm_findings found = { 0 };
	if (request->digest == NULL)
		return;
	tdm_digest_find(request->digest, &failures);
	if (profile->files[0].by_dialect[TDM_LOG_BY_WORKLOAD] != 0)
		tdm_log_profile_pressure(profile, 0, &found);
	tdm_info_found(request, &found);
}

static int show_log(const struct tdm_info_request *request, struct tdm_log_profile *profile)
{
	struct tdm_log_report report = {
		.limit = request->limit, .utf8 = request->term.utf8, .width = request->term.width
	};
	struct tdm_info_reading r = { .request = request, .take = take_log, .to = profile };
	if (tdm_log_profile_add_file(profile, tdm_input_name(request->input)) < 0)
		return tdm_info_refuse(request, "out of memory");
	tdm_info_read(&r);
	if (r.err == 0 && profile->files[0].records == 0 && profile->files[0].logger_lines == 0) {
		tdm_info_unrelated(request);
		return tdm_info_refuse(request, why_nothing(request->input));
	}
	if (request->json != NULL) {
		tdm_json_key(request->json, "log");
		tdm_log_json(profile, &report, request->json);
	} else {
		tdm_log_text(profile, &report, request->out);
	}
	give_log_findings(request, profile);
	return tdm_info_end(&r);
}

int tdm_info_log(const struct tdm_info_request *request)
{
	struct tdm_log_profile *profile = malloc(sizeof *profile);
	if (profile == NULL || tdm_log_profile_init(profile) != 0) {
		free(profile);
		return tdm_info_refuse(request, "out of memory");
	}
	int failed = show_log(request, profile);
	tdm_log_profile_done(profile);
	free(profile);
	return failed;
}
