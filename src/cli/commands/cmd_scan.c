/* `tidemark scan`: the buffers that source code creates, and the L1 that the programs need. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/budget/scan_budget.h"
#include "cli/inputs/baseline.h"
#include "cli/commands/cmd_list.h"
#include "cli/options/options.h"
#include "view/write/write.h"

enum { LIMIT_DEFAULT = 100, THREADS_MAX = 64, FORMAT_JSON = 2, FORMAT_SARIF = 3 };

struct request {
	struct tdm_texts sets;
	const char *card;
	struct tdm_baseline baseline;
	bool json, sarif, all, ascii, no_colour;
	unsigned format; /* position of the --format word, counted from 1; 0 for none */
	uint32_t threads;
	struct tdm_scan_report report;
};

/* Parses "90%" or "90". */
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
	struct tdm_scan_report *report = &request->report;
	int code = tdm_args_read(args, request);
	if (code != 0)
		return code;
	const char *const *paths = report->paths = (const char *const *)args->positional;
	if (request->json && (request->sarif || request->format != 0))
		return tdm_cmd_usage_error(args->cmd, "say --json, --sarif or --format, not two of them");
	request->format = request->json ? FORMAT_JSON : request->sarif ? FORMAT_SARIF : request->format;
	if (args->positional_count == 0)
		return tdm_cmd_usage_error(args->cmd, "which sources? Name files or folders; - is standard input");
	if (report->is_comparison && args->positional_count != 2)
		return tdm_cmd_usage_error(args->cmd, "--compare needs two paths: the old sources and the new ones");
	if (report->is_comparison && strcmp(paths[0], "-") == 0 && strcmp(paths[1], "-") == 0)
		return tdm_cmd_usage_error(args->cmd, "--compare: standard input can be read only once");
	if (report->is_comparison && request->baseline.path != NULL)
		return tdm_cmd_usage_error(args->cmd, "--compare and --baseline cannot be combined");
	report->baseline = request->baseline.path;
	report->rows = request->all ? 0 : LIMIT_DEFAULT;
	report->options.threads = request->threads;
	return 0;
}

static int show(const struct tdm_cmd *cmd, const struct request *request)
{
	const struct tdm_scan_report *report = &request->report;
	const struct tdm_term term = tdm_cmd_term(request->ascii, request->no_colour);
	struct tdm_result *result = tdm_result_new();
	struct tdm_answer answer;
	int found = report->failures != 0 ? TDM_EXIT_FINDING : TDM_EXIT_OK;
	tdm_scan_show(&result->top, report);
	int code = tdm_baseline_save(cmd, &request->baseline, result);
	if (code == 0 && request->format != FORMAT_SARIF) {
		code = tdm_cmd_show(cmd, result, request->format == FORMAT_JSON, &term, found);
	} else if (code == 0) {
		tdm_answer_begin(&answer, cmd, false);
		tdm_write_sarif(&report->findings, report->paths + report->is_comparison, &answer.out);
		code = tdm_answer_end(&answer, found);
	}
	tdm_result_free(result);
	return code;
}

static int run_request(const struct tdm_cmd *cmd, struct request *request, struct tdm_settings *settings)
{
	struct tdm_scan_report *report = &request->report;
	struct tdm_card card;
	struct tdm_diag diag = { 0 };
	for (size_t i = 0; i < request->sets.count; i++)
		if (tdm_settings_add(settings, request->sets.list[i], &diag) != 0)
			return tdm_cmd_usage_error(cmd, "--set: %s", diag.text);
	if (tdm_card_init(&card, tdm_str_of(request->card), NULL, &diag) != 0)
		return tdm_cmd_error(cmd, "%s", diag.text);
	report->card = &card;
	report->options.settings = settings;
	int err = tdm_scan_report_make(report, &diag);
	int code = err == 0 ? tdm_baseline_compare(cmd, &request->baseline, &report->named, &report->findings)
			    : tdm_cmd_error(
				      cmd, "%s%s", err == -ENODATA ? "--fail-over cannot be judged: " : "", diag.text);
	report->is_as_baseline = request->baseline.is_same;
	return code != 0 ? code : show(cmd, request);
}

static int cmd_scan_run(struct tdm_args *args)
{
	struct request request = { .card = TDM_CARD_DEFAULT, .report.limit = (double)NAN };
	struct tdm_settings settings = { 0 };
	int code = read_options(args, &request);
	code = code != 0 ? code : run_request(args->cmd, &request, &settings);
	tdm_scan_report_done(&request.report);
	tdm_settings_done(&settings);
	return tdm_baseline_end(&request.baseline, code);
}

static const struct tdm_opt scan_opts[] = {
	{ "set", 's', "NAME=VALUE",
		"give a name in the sources a number or a range, such as num_tiles=16 or Wt=1..64; may be "
		"repeated",
		TDM_TAKE_TEXTS(struct request, sets) },
	{ "card", 'c', "CARD", "compare budgets with the L1 of this card (default: n150)",
		TDM_TAKE_TEXT(struct request, card) },
	{ TDM_OPT_JSON(struct request, json) },
	{ "sarif", 0, NULL, "print findings as SARIF 2.1.0, for code review tools",
		TDM_TAKE_FLAG(struct request, sarif) },
	{ "format", 0, "text|json|sarif", "print in this format", TDM_TAKE_CHOICE(struct request, format) },
	{ "fail-over", 0, "SHARE",
		"exit with 1 if a program uses more than this share of a core's L1 for buffers, such as 90%",
		.take = take_share, .offset = offsetof(struct request, report.limit) },
	{ "compare", 0, NULL, "compare two versions: the first path is the old one, the second the new one",
		TDM_TAKE_FLAG(struct request, report.is_comparison) },
	{ TDM_OPT_BASELINE(struct request, baseline) },
	{ TDM_OPT_SAVE(struct request, baseline) },
	{ "all", 'a', NULL, "print all rows of each table, not only the first 100",
		TDM_TAKE_FLAG(struct request, all) },
	{ "no-skip", 0, NULL, "parse every file, even without relevant names",
		TDM_TAKE_FLAG(struct request, report.options.no_skip) },
	{ "threads", 't', "N", "scan with N threads (default: one for each processor)",
		TDM_TAKE_U32(struct request, threads, 1, THREADS_MAX) },
	{ TDM_OPT_ASCII(struct request, ascii) },
	{ TDM_OPT_NO_COLOR(struct request, no_colour) },
	{ 0 },
};

static const struct tdm_help_row scan_examples[] = {
	{ "tidemark scan ttnn/cpp/ttnn/operations", "all buffers and budgets in a source tree" },
	{ "tidemark scan factory.cpp --set num_tiles=16 --set Wt=1..64", "sizes for given values and ranges" },
	{ "tidemark scan src --card p150 --fail-over 90%", "fail a test job when a program is close to the limit" },
	{ "tidemark scan --compare old/ new/", "buffers and budgets that are new, removed or larger" },
	{ "tidemark scan src --save budgets.json", "save the current budgets" },
	{ "tidemark scan src --baseline budgets.json --sarif > scan.sarif",
		"budgets that have grown since, for a code review" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_scan = {
	.name = "scan",
	.summary = "find the buffers created by source code, and the L1 that they use",
	.usage = "[--set NAME=VALUE]... [--card CARD] [--fail-over SHARE] [--baseline FILE] [--save FILE] "
		 "[--json | --sarif] [--all] [--no-skip] [--threads N] PATH...\n"
		 "--compare [--set NAME=VALUE]... [--card CARD] [--json | --sarif] OLD NEW",
	.description = "Reads the C++ and Python sources of accelerator programs and lists every circular buffer, "
		       "dataflow buffer and scratchpad created there, with index or name, data format, page size, "
		       "total size and cores. A size is shown as a number if the sources and --set determine it, "
		       "otherwise as an expression in its unknowns, with bounds. Helpers and lambdas are followed "
		       "from the call site with its arguments.\n\nIf the kernel sources are among the paths, each "
		       "kernel is matched with its source file, and its buffer operations, size and complexity are "
		       "listed.\n\nA budget is the amount of L1 in one core that a program's buffers use together. "
		       "Views of other memory do not count, and only the larger branch of an if counts. A budget "
		       "with unknown parts is shown as '>=' with its lower bound.\n\nThe result includes a list of "
		       "places that were not understood and of files that were only partly parsed.\n\nFolders are "
		       "searched for files that end in .cpp, .hpp, .h, .cc, .hh, .cxx, .hxx, .c, .inl, .ipp or .py. "
		       "'-' is standard input, which is treated as C++.",
	.opts = scan_opts,
	.examples = scan_examples,
	.run = cmd_scan_run,
};
