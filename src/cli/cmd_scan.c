/* `tidemark scan`: the buffers that source code creates, and the L1 that its programs take. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/scan_compare.h"
#include "analyze/scan_verdict.h"
#include "base/err.h"
#include "base/progress.h"
#include "cli/baseline.h"
#include "cli/cmd_list.h"
#include "cli/options.h"
#include "report/scan_report.h"

enum { LIMIT_DEFAULT = 100, THREADS_MAX = 64, FORMAT_TEXT = 0, FORMAT_JSON = 2, FORMAT_SARIF = 3 };
static const char card_default[] = "n150";

struct request {
	const struct tdm_cmd *cmd;
	const char *const *paths; /* ends with NULL */
	size_t path_count;
	struct tdm_texts sets;
	const char *card;
	struct tdm_baseline baseline;
	bool json, sarif, compare, all, no_skip, ascii, no_colour;
	unsigned format;  /* a word of --format, counted from 1; 0: none */
	double fail_over; /* a share; NAN: none */
	uint32_t threads; /* 0: as many as there are processors */
};

/* Everything that a report is made of. */
struct work {
	struct tdm_settings settings;
	struct tdm_card card;
	uint64_t l1_bytes;
	struct tdm_scan before, scan; /* `before`: only with --compare */
	struct tdm_scan_verdict verdict;
	struct tdm_scan_budgets old_budgets;
	struct tdm_budgets old_named;
	struct tdm_scan_changes changes;
};

/* "90%", "90" */
static int take_share(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	char *end;
	double percent = strtod(value, &end);
	while (*end == ' ')
		end++;
	bool is_end = *end == '\0' || (*end == '%' && end[1] == '\0');
	if (end == value || !is_end || !(percent > 0) || percent > 1000)
		return tdm_cmd_usage_error(cmd, "--%s '%s': expected a share of the L1 such as 90%%", opt->name, value);
	*(double *)to = percent / 100;
	return 0;
}

static int read_options(struct tdm_args *args, struct request *request)
{
	int code = tdm_args_read(args, request);
	if (code != 0)
		return code;
	request->paths = (const char *const *)args->positional;
	request->path_count = (size_t)args->positional_count;
	if (request->json && (request->sarif || request->format != 0))
		return tdm_cmd_usage_error(args->cmd, "say --json, --sarif or --format, not two of them");
	request->format = request->json ? FORMAT_JSON : request->sarif ? FORMAT_SARIF : request->format;
	request->format = request->format == 1 ? FORMAT_TEXT : request->format;
	if (request->path_count == 0)
		return tdm_cmd_usage_error(args->cmd, "which sources? Name files or folders; - is standard input");
	if (request->compare && request->path_count != 2)
		return tdm_cmd_usage_error(args->cmd, "--compare needs two paths: the old sources and the new ones");
	if (request->compare && strcmp(request->paths[0], "-") == 0 && strcmp(request->paths[1], "-") == 0)
		return tdm_cmd_usage_error(args->cmd, "--compare: standard input can be read only once");
	if (request->compare && request->baseline.path != NULL)
		return tdm_cmd_usage_error(args->cmd, "--compare and --baseline cannot be combined");
	return 0;
}

static int out_of_memory(const struct request *request)
{
	return tdm_cmd_error(request->cmd, "out of memory");
}

/* The user's values for names, and the card. */
static int prepare(const struct request *request, struct work *work)
{
	struct tdm_card_variant variant = tdm_card_variant_default();
	struct tdm_diag diag = { 0 };
	for (size_t i = 0; i < request->sets.count; i++) {
		int err = tdm_settings_add(&work->settings, request->sets.list[i], &diag);
		if (err != 0)
			return err == -ENOMEM ? out_of_memory(request)
					      : tdm_cmd_usage_error(request->cmd, "--set: %s", diag.text);
	}
	if (tdm_card_init(&work->card, tdm_str_of(request->card), &variant, &diag) != 0)
		return tdm_cmd_error(request->cmd, "%s", diag.text);
	work->l1_bytes = tdm_scan_l1_bytes(&work->card, &diag);
	if (work->l1_bytes == TDM_BYTES_UNKNOWN && !isnan(request->fail_over))
		return tdm_cmd_error(request->cmd, "--fail-over cannot be judged: %s", diag.text);
	return 0;
}

static int scan_paths(const struct request *request, const struct work *work, const char *const *paths, size_t count,
	struct tdm_scan *scan)
{
	struct tdm_progress progress;
	struct tdm_diag diag = { 0 };
	const struct tdm_scan_options options = { .settings = &work->settings,
		.threads = request->threads,
		.no_skip = request->no_skip,
		.progress = &progress };
	tdm_progress_begin(&progress, "scanning", 0);
	int err = tdm_scan_run(scan, paths, count, &options, &diag);
	tdm_progress_end(&progress);
	return err != 0 ? tdm_cmd_error(request->cmd, "%s", diag.text) : 0;
}

static int compare(const struct request *request, struct work *work, size_t root)
{
	size_t old_root = tdm_scan_root(&work->before, request->paths[0]);
	int err = tdm_scan_budgets_make(&work->before, old_root, work->l1_bytes, &work->old_budgets);
	err = err != 0 ? err : tdm_scan_budgets_named(&work->old_budgets, &work->old_named);
	err = err != 0 ? err : tdm_scan_compare(&work->before, old_root, &work->scan, root, &work->changes);
	if (err != 0)
		return tdm_cmd_error(request->cmd, "%s", tdm_err_text(err));
	tdm_budgets_compare(&work->old_named, &work->verdict.named, &work->verdict.findings);
	return 0;
}

/* Paths of several arguments stay as they are in the names of budgets. */
static int judge(struct request *request, struct work *work)
{
	size_t root = request->compare ? tdm_scan_root(&work->scan, request->paths[1]) : 0;
	const struct tdm_scan_rules rules = { &work->settings, work->l1_bytes, root, request->fail_over };
	int err = tdm_scan_judge(&work->scan, &rules, &work->verdict);
	if (err != 0)
		return tdm_cmd_error(request->cmd, "%s", tdm_err_text(err));
	int code = request->compare ? compare(request, work, root)
				    : tdm_baseline_compare(request->cmd, &request->baseline, &work->verdict.named,
					      &work->verdict.findings);
	tdm_findings_sort(&work->verdict.findings);
	return code != 0 ? code : work->verdict.findings.failed ? out_of_memory(request) : 0;
}

static void put_json(const void *report, struct tdm_json *json)
{
	tdm_scan_report_json(report, json);
}

static int print(const struct request *request, const struct work *work, const struct tdm_scan_report *report)
{
	struct tdm_answer answer;
	tdm_answer_begin(&answer, request->cmd, request->format == FORMAT_JSON);
	if (request->format != FORMAT_JSON)
		answer.out.outlet = tdm_cmd_write;
	if (request->format == FORMAT_JSON)
		tdm_scan_report_json(report, &answer.json);
	else if (request->format == FORMAT_SARIF)
		tdm_scan_report_sarif(report, &answer.out);
	else
		tdm_scan_report_text(report, &answer.out);
	return tdm_answer_end(&answer, work->verdict.failures != 0 ? TDM_EXIT_FINDING : TDM_EXIT_OK);
}

static int show(const struct request *request, struct work *work)
{
	const struct tdm_scan_report report = { .scan = &work->scan,
		.verdict = &work->verdict,
		.card = &work->card,
		.paths = request->compare ? request->paths + 1 : request->paths,
		.changes = request->compare ? &work->changes : NULL,
		.before = request->compare ? request->paths[0] : NULL,
		.baseline = request->baseline.path,
		.is_as_baseline = request->baseline.is_same,
		.term = tdm_cmd_term(request->ascii, request->no_colour),
		.limit = request->all ? 0 : LIMIT_DEFAULT };
	int code = tdm_baseline_save(request->cmd, &request->baseline, put_json, &report);
	return code != 0 ? code : print(request, work, &report);
}

static void work_done(struct work *work)
{
	tdm_scan_changes_done(&work->changes);
	tdm_budgets_done(&work->old_named);
	tdm_scan_budgets_done(&work->old_budgets);
	tdm_scan_verdict_done(&work->verdict);
	tdm_scan_done(&work->before);
	tdm_scan_done(&work->scan);
	tdm_settings_done(&work->settings);
}

static int cmd_scan_run(struct tdm_args *args)
{
	struct request request = { .cmd = args->cmd, .card = card_default, .fail_over = (double)NAN };
	struct work work = { 0 };
	int code = read_options(args, &request);
	if (code != 0)
		return code;
	code = prepare(&request, &work);
	if (code == 0 && request.compare)
		code = scan_paths(&request, &work, request.paths, 1, &work.before);
	if (code == 0)
		code = scan_paths(&request, &work, request.compare ? request.paths + 1 : request.paths,
			request.compare ? 1 : request.path_count, &work.scan);
	if (code == 0)
		code = judge(&request, &work);
	if (code == 0)
		code = show(&request, &work);
	work_done(&work);
	return tdm_baseline_end(&request.baseline, code);
}

static const struct tdm_opt scan_opts[] = {
	{ "set", 's', "NAME=VALUE",
		"give a name of the sources a number or a range, such as num_tiles=16 or Wt=1..64; may be repeated",
		TDM_TAKE_TEXTS(struct request, sets) },
	{ "card", 'c', "CARD", "compare budgets with the L1 of this card (default: n150)",
		TDM_TAKE_TEXT(struct request, card) },
	{ TDM_OPT_JSON(struct request, json) },
	{ "sarif", 0, NULL, "print findings as SARIF 2.1.0, for code review tools",
		TDM_TAKE_FLAG(struct request, sarif) },
	{ "format", 0, "text|json|sarif", "print in this format", TDM_TAKE_CHOICE(struct request, format) },
	{ "fail-over", 0, "SHARE", "exit with 1 if a program takes more of a core's L1 for buffers, such as 90%",
		.take = take_share, .offset = offsetof(struct request, fail_over) },
	{ "compare", 0, NULL, "compare two versions: the first path is the old one, the second the new one",
		TDM_TAKE_FLAG(struct request, compare) },
	{ TDM_OPT_BASELINE(struct request, baseline) },
	{ TDM_OPT_SAVE(struct request, baseline) },
	{ "all", 'a', NULL, "print all rows of each table, not only the first 100",
		TDM_TAKE_FLAG(struct request, all) },
	{ "no-skip", 0, NULL, "parse every file, also those without any of the names that matter",
		TDM_TAKE_FLAG(struct request, no_skip) },
	{ "threads", 't', "N", "scan with N threads (default: one for each processor)",
		TDM_TAKE_U32(struct request, threads, 1, THREADS_MAX) },
	{ TDM_OPT_ASCII(struct request, ascii) },
	{ TDM_OPT_NO_COLOR(struct request, no_colour) },
	{ 0 },
};

static const struct tdm_example scan_examples[] = {
	{ "tidemark scan ttnn/cpp/ttnn/operations", "all buffers and budgets of a tree of sources" },
	{ "tidemark scan factory.cpp --set num_tiles=16 --set Wt=1..64", "sizes for given values and ranges" },
	{ "tidemark scan src --card p150 --fail-over 90%", "fail a test job when a program is close to the limit" },
	{ "tidemark scan --compare old/ new/", "buffers and budgets that are new, gone or larger" },
	{ "tidemark scan src --save budgets.json", "keep the budgets of today" },
	{ "tidemark scan src --baseline budgets.json --sarif > scan.sarif", "what grew since, for a code review" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_scan = {
	.name = "scan",
	.summary = "find the buffers that source code creates, and the L1 they take",
	.usage = "[--set NAME=VALUE]... [--card CARD] [--fail-over SHARE] [--baseline FILE] [--save FILE] "
		 "[--json | --sarif] [--all] [--no-skip] [--threads N] PATH...\n"
		 "--compare [--set NAME=VALUE]... [--card CARD] [--json | --sarif] OLD NEW",
	.description =
		"Reads C++ and Python sources of programs for the accelerator and lists every circular buffer, "
		"dataflow "
		"buffer and scratchpad that they create: index or name, data format, page size, total size, cores. "
		"A size is a number where it can be computed from the sources and from --set; otherwise it is "
		"shown as an expression in its unknowns, with bounds. Helpers and lambdas are followed from "
		"the call with its arguments.\n"
		"\n"
		"Kernels are tied to their source files if those are among the paths: what they wait on and push, "
		"their "
		"size and complexity, and where they cannot match the host's buffers.\n"
		"\n"
		"A budget is the L1 of one core that the buffers of a program take together. Views of other memory "
		"count "
		"nothing, and of the branches of an if the larger one counts. A budget of which parts are unknown is "
		"shown with its lower bound, after a sign for at least.\n"
		"\n"
		"The list of places that were not understood is part of the result, and so are files that could be "
		"parsed only in part.\n"
		"\n"
		"Folders are searched for files that end in .cpp, .hpp, .h, .cc, .hh, .cxx, .hxx, .c, .inl, .ipp or "
		".py. '-' is standard input, which is taken as C++.",
	.opts = scan_opts,
	.examples = scan_examples,
	.run = cmd_scan_run,
};
