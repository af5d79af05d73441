/* `tidemark doctor`: checks the setup, and says what is wrong and why. */
#include "analyze/doctor_metal.h"
#include "cli/cmd_list.h"
#include "cli/examination.h"
#include "cli/options.h"
#include "metal/hook_table.h"
#include "report/doctor_report.h"
#include "report/metal_report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
	const char *dir, *metal;
	bool json, ascii;
};

static int print_findings(const struct tdm_args *args, const struct request *request, const struct tdm_doctor *doctor,
	const struct tdm_metal_setup *metal)
{
	const struct tdm_findings *findings = &doctor->findings;
	struct tdm_term term = tdm_cmd_term(request->ascii, false);
	struct tdm_answer answer;
	tdm_answer_begin(&answer, args->cmd, request->json);
	if (request->json)
		tdm_doctor_json(findings, metal, &answer.json);
	else
		tdm_doctor_text(findings, &term, &answer.out);
	if (metal != NULL && !request->json)
		tdm_metal_text(metal, &term, &answer.out);
	return tdm_answer_end(&answer, tdm_findings_count(findings, TDM_FINDING_BROKEN) != 0    ? 2
				       : tdm_findings_count(findings, TDM_FINDING_WARNING) != 0 ? 1
												: 0);
}

static const char *missing_of(size_t topic, const bool *present)
{
	return tdm_metal_missing((enum tdm_metal_topic)topic, present);
}

/* What the preload will see, and has seen, in a library, a program or a process. */
static int look_at_metal(const struct tdm_args *args, const struct request *request)
{
	const char *topics[TDM_METAL_TOPICS + 1] = { NULL };
	const struct tdm_metal_places places = { .ledgers = request->dir, .preload = TDM_PRELOAD_NAME };
	struct tdm_metal_function *functions = calloc(tdm_metal_symbol_count, sizeof *functions);
	struct tdm_metal_setup setup = { 0 };
	struct tdm_doctor doctor = { .environ = environ };
	int code = 0;
	for (unsigned t = 0; t < TDM_METAL_TOPICS; t++)
		topics[t] = tdm_metal_topic_name((enum tdm_metal_topic)t);
	for (size_t i = 0; functions != NULL && i < tdm_metal_symbol_count; i++) {
		const struct tdm_metal_symbol *s = &tdm_metal_symbols[i];
		/* A helper of the preload shows nothing by itself. */
		const char *sees = strncmp(s->sees, "nothing", strlen("nothing")) != 0 ? s->sees : NULL;
		functions[i] = (struct tdm_metal_function){ s->name, s->symbol, s->since, s->until, sees,
			topics[s->topic], s->is_hook, s->is_needed };
	}
	if (functions == NULL ||
		tdm_metal_setup_read(&setup, request->metal, functions, tdm_metal_symbol_count, &places) != 0) {
		code = tdm_cmd_error(args->cmd, "out of memory");
	} else {
		tdm_doctor_metal(&doctor, &(struct tdm_metal_doctor){ &setup, topics, missing_of });
		code = print_findings(args, request, &doctor, &setup);
	}
	tdm_findings_done(&doctor.findings);
	tdm_metal_setup_done(&setup);
	free(functions);
	return code;
}

static int cmd_doctor_run(struct tdm_args *args)
{
	struct request request = { 0 };
	int code = tdm_args_read(args, &request);
	if (code != 0)
		return code;
	if (request.metal != NULL)
		return look_at_metal(args, &request);
	struct tdm_examination *look = malloc(sizeof *look);
	if (look == NULL)
		return tdm_cmd_error(args->cmd, "out of memory");
	code = tdm_examine(look, request.dir) != 0 ? tdm_cmd_error(args->cmd, "out of memory")
						   : print_findings(args, &request, &look->doctor, NULL);
	tdm_examination_done(look);
	free(look);
	return code;
}

static const struct tdm_opt doctor_opts[] = {
	{ "metal", 'm', "PROGRAM|LIBRARY|PID",
		"instead: what the preload sees of tt-metal in a program, a library or a running process, and what not",
		TDM_TAKE_TEXT(struct request, metal) },
	{ TDM_OPT_DIR(struct request, dir) },
	{ TDM_OPT_JSON(struct request, json) },
	{ TDM_OPT_ASCII(struct request, ascii) },
	{ 0 },
};

static const struct tdm_example doctor_examples[] = {
	{ "tidemark doctor", "find out why a figure is missing, or is 0 and should not be" },
	{ "tidemark doctor --json", "the same for a health check" },
	{ "tidemark doctor --metal python3", "will 'tidemark run -- python3' see the buffers of tt-metal?" },
	{ "tidemark doctor --metal 4242",
		"what the preload sees in this process, and how often each function was called" },
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
	.usage = "[--metal PROGRAM|LIBRARY|PID] [--dir DIR] [--json]",
	.description =
		"Checks everything that Tidemark reads, and says what it found and what to do about it: the "
		"driver, its cards, device nodes and telemetry; the runtime's shared memory; the ledgers of "
		"programs; environment variables, including misspelled ones and those without effect; the "
		"library; the machine. It changes nothing and opens no card.\n"
		"\n"
		"With --metal it looks at one program, library or process instead, without running it: which of the "
		"functions that the preload hooks its tt-metal has, what is seen with them and what not, and of "
		"which release their names are. A program is followed to the libraries that it names, and a Python "
		"to its packages; what is loaded later is known of a process only. Of a process it also says "
		"whether the preload is in it and how often each function was called.\n"
		"\n"
		"Exits with 0 if everything is fine, 1 if there is a warning, and 2 if something is broken and "
		"Tidemark cannot work until it is fixed. A machine without a card gets a warning.",
	.opts = doctor_opts,
	.only_options = true,
	.examples = doctor_examples,
	.exits = doctor_exits,
	.run = cmd_doctor_run,
};
