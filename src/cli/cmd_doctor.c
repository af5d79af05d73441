/* `tidemark doctor`: what is set up, what is visible, what is not and why. */
#include "analyze/doctor.h"
#include "cli/cmd_list.h"
#include "report/doctor_report.h"

#include <unistd.h>

enum option { OPT_DIR, OPT_JSON, OPT_ASCII };

struct request {
	const char *dir;
	bool json, ascii;
};

static int read_options(struct tdm_args *args, struct request *request)
{
	const char *value = NULL;
	int option;
	while ((option = tdm_args_next(args, &value)) >= 0) {
		request->json |= option == OPT_JSON;
		request->ascii |= option == OPT_ASCII;
		if (option == OPT_DIR)
			request->dir = value;
	}
	if (option == TDM_ARGS_ERROR)
		return TDM_EXIT_USAGE;
	if (args->positional_count != 0)
		return tdm_cmd_usage_error(args->cmd, "unexpected argument '%s'", args->positional[0]);
	return 0;
}

static int print_findings(const struct tdm_args *args, const struct request *request, const struct tdm_doctor *doctor)
{
	const struct tdm_findings *findings = &doctor->findings;
	int code = tdm_findings_count(findings, TDM_FINDING_BROKEN) != 0    ? 2
		   : tdm_findings_count(findings, TDM_FINDING_WARNING) != 0 ? 1
									    : 0;
	struct tdm_buf out;
	tdm_buf_init(&out);
	if (request->json) {
		struct tdm_json json;
		tdm_json_init(&json, &out);
		tdm_json_envelope(&json, "tidemark.doctor");
		tdm_json_key(&json, "doctor");
		tdm_doctor_json(findings, &json);
		tdm_json_object_end(&json);
		tdm_buf_putc(&out, '\n');
	} else {
		struct tdm_term term = doctor->term;
		term.utf8 &= !request->ascii;
		tdm_doctor_text(findings, &term, &out);
	}
	code = tdm_cmd_print(args->cmd, &out, code);
	tdm_buf_done(&out);
	return code;
}

static int cmd_doctor_run(struct tdm_args *args)
{
	struct request request = { 0 };
	struct tdm_setup setup;
	int code = read_options(args, &request);
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
	[OPT_DIR] = { "dir", 0, "DIR", "directory of the ledgers, instead of $TIDEMARK_DIR or /dev/shm" },
	[OPT_JSON] = { "json", 'j', NULL, "print JSON" },
	[OPT_ASCII] = { "ascii", 0, NULL, "print '?' for characters outside ASCII" },
	{ NULL, 0, NULL, NULL },
};

static const struct tdm_example doctor_examples[] = {
	{ "tidemark doctor", "when a figure is missing, or is 0 and should not be" },
	{ "tidemark doctor --json", "for a health check" },
	{ NULL, NULL },
};

static const struct tdm_help_row doctor_exits[] = {
	{ "0", "all is well" },
	{ "1", "there is a warning" },
	{ "2", "something is broken; wrong usage, or output that could not be written" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_doctor = {
	.name = "doctor",
	.summary = "say what is set up, what is visible, what is not and why",
	.usage = "[--dir DIR] [--json]",
	.description = "Looks at everything that Tidemark reads, and says for each what was found and what to do about "
		       "it: the driver, its cards, device nodes and telemetry; the runtime's shared memory; the "
		       "ledgers of programs; environment variables, with typing errors and those that do nothing; the "
		       "library; the machine. Nothing is changed, and no card is opened.\n"
		       "\n"
		       "Exits with 0 when all is well, 1 with a warning, 2 when something is broken: Tidemark cannot "
		       "work until it is mended. A machine without a card gets a warning.",
	.opts = doctor_opts,
	.examples = doctor_examples,
	.exits = doctor_exits,
	.run = cmd_doctor_run,
};
