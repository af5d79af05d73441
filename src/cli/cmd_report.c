/* `tidemark report`: everything that can be said about what it is given, in one document. */
#include "analyze/pressure.h"
#include "base/err.h"
#include "base/file.h"
#include "cli/cmd_list.h"
#include "cli/options.h"
#include "cli/report_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { LIMIT_DEFAULT = 10, MARKDOWN_WIDTH = 100 };

struct request {
	struct tdm_report_request report;
	unsigned form; /* a word of --format, counted from 1, in the order of enum tdm_digest_form; 0: not given */
	const char *card;
	bool multi, json, machine, fail, fail_warning, ascii, no_colour;
	uint64_t limit;
	const char *output; /* NULL: standard output */
	uint64_t tiles[2];  /* of A and B, the workload */
	size_t tile_count;  /* 0: there is none */
};

/* The form by the name of the file, if the user does not say. False: its ending is that of something else. */
static bool form_of_name(const char *path, enum tdm_digest_form *form)
{
	static const struct {
		const char *ending;
		enum tdm_digest_form form;
	} forms[] = { { ".txt", TDM_DIGEST_TEXT }, { ".text", TDM_DIGEST_TEXT }, { ".log", TDM_DIGEST_TEXT },
		{ ".json", TDM_DIGEST_JSON }, { ".md", TDM_DIGEST_MARKDOWN }, { ".markdown", TDM_DIGEST_MARKDOWN } };
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;
	const char *name = slash != NULL ? slash + 1 : path, *end = name != NULL ? strrchr(name, '.') : NULL;
	*form = TDM_DIGEST_TEXT;
	for (size_t i = 0; end != NULL && i < sizeof forms / sizeof *forms; i++)
		if (strcmp(end, forms[i].ending) == 0) {
			*form = forms[i].form;
			return true;
		}
	return end == NULL || end == name;
}

static void set_term(struct request *r)
{
	struct tdm_report_request *report = &r->report;
	report->term = tdm_cmd_term(r->ascii, r->no_colour);
	report->term.folds = true;
	report->is_piped = r->output != NULL || isatty(STDOUT_FILENO) != 1;
	if (r->output != NULL || report->digest.form == TDM_DIGEST_MARKDOWN)
		report->term.colour = false;
	if (report->digest.form != TDM_DIGEST_MARKDOWN)
		return;
	report->term.utf8 = !r->ascii;
	report->term.width = MARKDOWN_WIDTH;
	report->is_piped = true;
}

/* Takes the numbers out of the names: they are the tiles of a workload. */
static int take_tiles(struct tdm_args *args, struct request *r)
{
	int names = 0;
	for (int i = 0; i < args->positional_count; i++) {
		char *word = args->positional[i];
		uint64_t tiles = 0;
		if (word[0] == '\0' || word[strspn(word, "0123456789")] != '\0') {
			args->positional[names++] = word;
			continue;
		}
		if (r->tile_count == 2 || tdm_str_parse_u64(tdm_str_of(word), &tiles) != 0 || tiles == 0 ||
			tiles > TDM_PRESSURE_TILES_MAX)
			return tdm_cmd_usage_error(args->cmd,
				"'%s': a workload is two numbers of tiles, A and B, from 1 to %" PRIu64
				"; a file of that name is ./%s",
				word, TDM_PRESSURE_TILES_MAX, word);
		r->tiles[r->tile_count++] = tiles;
	}
	args->positional_count = names;
	return r->tile_count == 1
		       ? tdm_cmd_usage_error(args->cmd,
				 "a workload is two numbers of tiles, A and B, as in 'tidemark report 16 16'")
		       : 0;
}

static int read_options(struct tdm_args *args, struct request *r)
{
	struct tdm_diag diag = { 0 };
	int code = tdm_args_read(args, r);
	code = code != 0 ? code : take_tiles(args, r);
	if (code != 0)
		return code;
	if (r->json && r->form != 0 && r->form - 1 != TDM_DIGEST_JSON)
		return tdm_cmd_usage_error(args->cmd, "--json and --format of another form cannot be combined");
	if (r->output != NULL && strcmp(r->output, "-") == 0)
		r->output = NULL;
	enum tdm_digest_form form = r->form != 0 ? (enum tdm_digest_form)(r->form - 1) : TDM_DIGEST_JSON;
	if (!r->json && r->form == 0 && !form_of_name(r->output, &form))
		return tdm_cmd_usage_error(args->cmd,
			"--output %s: a report is text (.txt), JSON (.json) or Markdown (.md): name the file so, or "
			"say "
			"which with --format",
			r->output);
	tdm_digest_init(&r->report.digest, form);
	if (tdm_card_init(&r->report.card, tdm_str_of(r->card != NULL ? r->card : TDM_PRESSURE_CARD), NULL, &diag) != 0)
		return tdm_cmd_usage_error(args->cmd, "--card: %s", diag.text);
	r->report.cmd = args->cmd;
	r->machine |= r->report.watch_ns != 0 || (args->positional_count == 0 && r->tile_count == 0 && !r->multi);
	r->report.limit = r->limit != 0 && r->limit < SIZE_MAX ? (size_t)r->limit : SIZE_MAX;
	set_term(r);
	return 0;
}

static void report_workloads(struct request *r)
{
	char source[64];
	snprintf(source, sizeof source, "%" PRIu64 " %" PRIu64, r->tiles[0], r->tiles[1]);
	if (r->tile_count != 0)
		tdm_report_item(&r->report, &(struct tdm_report_item){ .of = TDM_REPORT_WORKLOAD,
						    .source = source,
						    .a_tiles = r->tiles[0],
						    .b_tiles = r->tiles[1] });
	if (r->multi)
		tdm_report_item(
			&r->report, &(struct tdm_report_item){ .of = TDM_REPORT_WORKLOAD, .source = "--multi" });
}

static int write_file(const struct request *r, const struct tdm_buf *out)
{
	int err = tdm_buf_failed(out) ? -ENOMEM : tdm_file_replace(r->output, tdm_buf_str(out).ptr, out->len);
	return err != 0 ? tdm_cmd_error(r->report.cmd, "cannot write '%s': %s", r->output, tdm_err_text(err)) : 0;
}

static int exit_code(const struct request *r)
{
	const struct tdm_digest *digest = &r->report.digest;
	uint64_t count = digest->counts[TDM_FINDING_BROKEN];
	if (tdm_digest_has_failures(digest))
		return tdm_cmd_error(r->report.cmd, "not everything could be read: the report says what and why");
	count += r->fail_warning ? digest->counts[TDM_FINDING_WARNING] : 0;
	return count != 0 && (r->fail || r->fail_warning) ? TDM_EXIT_FINDING : TDM_EXIT_OK;
}

static int print_report(const struct request *r)
{
	const struct tdm_digest *digest = &r->report.digest;
	struct tdm_answer answer;
	tdm_answer_begin(&answer, r->report.cmd, digest->form == TDM_DIGEST_JSON);
	if (digest->form == TDM_DIGEST_JSON)
		tdm_digest_json(digest, &answer.json);
	else if (digest->form == TDM_DIGEST_MARKDOWN)
		tdm_digest_markdown(digest, &answer.out);
	else
		tdm_digest_text(digest, &r->report.term, &answer.out);
	if (r->output == NULL)
		return tdm_answer_end(&answer, 0);
	if (digest->form == TDM_DIGEST_JSON)
		tdm_json_object_end(&answer.json);
	int code = write_file(r, &answer.out);
	tdm_buf_done(&answer.out);
	return code;
}

static int cmd_report_run(struct tdm_args *args)
{
	struct request r = { .limit = LIMIT_DEFAULT };
	int code = read_options(args, &r);
	if (code != 0)
		return code;
	report_workloads(&r);
	tdm_report_names(&r.report, args->positional, (size_t)args->positional_count);
	if (r.machine)
		tdm_report_item(
			&r.report, &(struct tdm_report_item){ .of = TDM_REPORT_MACHINE, .source = "this machine" });
	tdm_digest_sort(&r.report.digest);
	code = print_report(&r);
	code = code != 0 ? code : exit_code(&r);
	tdm_digest_done(&r.report.digest);
	return code;
}

static const struct tdm_opt report_opts[] = {
	{ "format", 'f', "text|json|markdown",
		"form of the report (default: text, or what the ending of --output says: .json or .md)",
		TDM_TAKE_CHOICE(struct request, form) },
	{ TDM_OPT_JSON(struct request, json) },
	{ "output", 'o', "FILE", "write the report to FILE, replacing it in one step; '-' is standard output",
		TDM_TAKE_TEXT(struct request, output) },
	{ "limit", 'n', "N", "show at most N rows of each table; 0 shows all (default: 10)",
		TDM_TAKE_NUMBER(struct request, limit, 0, 0) },
	{ "multi", 0, NULL, "report workloads of several sizes, and where circular buffers become critical",
		TDM_TAKE_FLAG(struct request, multi) },
	{ "card", 'c', "CARD", "the card for workloads and sources (default: n150)",
		TDM_TAKE_TEXT(struct request, card) },
	{ "machine", 'm', NULL, "also report this machine, which is what is reported if nothing is named",
		TDM_TAKE_FLAG(struct request, machine) },
	{ "for", 0, "TIME", "report this machine after watching it for leaks for this long, such as 30s",
		TDM_TAKE_DURATION(struct request, report.watch_ns) },
	{ TDM_OPT_DIR(struct request, report.dir) },
	{ "fail", 0, NULL, "exit with 1 if a finding is an error", TDM_TAKE_FLAG(struct request, fail) },
	{ "fail-warning", 0, NULL, "exit with 1 if a finding is an error or a warning",
		TDM_TAKE_FLAG(struct request, fail_warning) },
	{ TDM_OPT_ASCII(struct request, ascii) },
	{ TDM_OPT_NO_COLOR(struct request, no_colour) },
	{ 0 },
};

static const struct tdm_example report_examples[] = {
	{ "tidemark report 16 16 debug.log", "a workload, and the log of a run with it" },
	{ "tidemark report", "the devices and programs of this machine, and what is wrong with them" },
	{ "tidemark report --for 30s --fail", "the same, with what grows in half a minute; fail if something leaks" },
	{ "tidemark report debug.log capture.json",
		"a log and a graph capture, with the findings of both in one list" },
	{ "tidemark report --format markdown results/ >> \"$GITHUB_STEP_SUMMARY\"",
		"everything in a folder, as the summary of a CI job" },
	{ "tidemark report --fail -o report.json results/", "fail the job if a finding is an error" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_report = {
	.name = "report",
	.summary = "write one report about workloads, sources, files and this machine, findings first",
	.usage = "[--format text|json|markdown] [-o FILE] [--limit N] [--machine] [--for TIME] [--dir DIR] [--fail | "
		 "--fail-warning] "
		 "[--multi] [--card CARD] [A B] [FILE|FOLDER|LEDGER]...",
	.description =
		"Runs what applies to each thing that it is given, and writes one document: the findings of all parts "
		"in one list, the worst first, each with the number of its part; then every part, as the command that "
		"it is named after shows it; then what is not in the report, and why.\n"
		"\n"
		" A B, --multi: a workload in tiles        pressure\n"
		" pattern files, *.cb                      pressure\n"
		" C++ and Python sources                   scan\n"
		" graph captures, reports, logs, kernels   info\n"
		" text traces                              simulate\n"
		" ledgers                                  dump, phases, leaks\n"
		" this machine                             status, leaks, doctor\n"
		"\n"
		"Two numbers are the tiles of a workload, as for 'tidemark pressure'; other words are names of files. "
		"Without anything, this machine is reported. '-' is standard input. Of a folder, every file in it that "
		"is "
		"known is reported. A machine is looked at once, which shows no growth; --for watches it for leaks.\n"
		"\n"
		"An error is a fault or a failure, a warning needs a look, a note explains a figure. If something "
		"could not be read, the rest is reported and the exit code is 2, whatever was found.",
	.opts = report_opts,
	.examples = report_examples,
	.run = cmd_report_run,
};
