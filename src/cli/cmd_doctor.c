/* `tidemark doctor`: checks the setup, and says what is wrong and why. */
#include "analyze/doctor.h"
#include "cli/cmd_list.h"
#include "cli/options.h"
#include "report/doctor_report.h"

#include <unistd.h>

struct request {
	const char *dir;
	bool json, ascii;
};

static int print_findings(const struct tdm_args *args, const struct request *request, const struct tdm_doctor *doctor)
{
	const struct tdm_findings *findings = &doctor->findings;
	struct tdm_term term = tdm_cmd_term(request->ascii, false);
	struct tdm_answer answer;
	tdm_answer_begin(&answer, args->cmd, request->json);
	if (request->json)
		tdm_doctor_json(findings, &answer.json);
	else
		tdm_doctor_text(findings, &term, &answer.out);
	return tdm_answer_end(&answer, tdm_findings_count(findings, TDM_FINDING_BROKEN) != 0    ? 2
				       : tdm_findings_count(findings, TDM_FINDING_WARNING) != 0 ? 1
												: 0);
}

static int cmd_doctor_run(struct tdm_args *args)
{
	struct request request = { 0 };
	struct tdm_setup setup;
	int code = tdm_args_read(args, &request);
	if (code != 0)
		return code;
	const struct tdm_probe_places places = { .ledgers = request.dir };
	struct tdm_doctor doctor = { .setup = &setup, .environ = environ, .term = tdm_term_detect(STDOUT_FILENO) };
	if (tdm_setup_read(&setup, &places) != 0) {
		code = tdm_cmd_error(args->cmd, "out of memory");
	} else {
		tdm_doctor_run(&doctor, NULL);
		code = print_findings(args, &request, &doctor);
	}
	tdm_findings_done(&doctor.findings);
	tdm_setup_done(&setup);
	return code;
}

static const struct tdm_opt doctor_opts[] = {
	{ TDM_OPT_DIR(struct request, dir) },
	{ TDM_OPT_JSON(struct request, json) },
	{ TDM_OPT_ASCII(struct request, ascii) },
	{ 0 },
};

static const struct tdm_example doctor_examples[] = {
	{ "tidemark doctor", "find out why a figure is missing, or is 0 and should not be" },
	{ "tidemark doctor --json", "the same for a health check" },
	{ NULL, NULL },
};

static const struct tdm_help_row doctor_exits[] = {
	{ "0", "everything is fine" },
	{ "1", "there is a warning" },
	{ "2", "something is broken; wrong usage, or output that could not be written" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_doctor = {
	.name = "doctor",
	.summary = "check the setup: what works, what does not, and why",
	.usage = "[--dir DIR] [--json]",
	.description = "Checks everything that Tidemark reads, and says what it found and what to do about it: the "
		       "driver, its cards, device nodes and telemetry; the runtime's shared memory; the ledgers of "
		       "programs; environment variables, including misspelled ones and those without effect; the "
		       "library; the machine. It changes nothing and opens no card.\n"
		       "\n"
		       "Exits with 0 if everything is fine, 1 if there is a warning, and 2 if something is broken and "
		       "Tidemark cannot work until it is fixed. A machine without a card gets a warning.",
	.opts = doctor_opts,
	.only_options = true,
	.examples = doctor_examples,
	.exits = doctor_exits,
	.run = cmd_doctor_run,
};
