/* `tidemark doctor`: checks the setup, and explains problems and their causes. */
#include "analyze/doctor/doctor.h"
#include "base/memory.h"
#include "cli/commands/cmd_list.h"
#include "cli/inputs/examination.h"
#include "cli/options/options.h"
#include "metal/hook_table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
	const char *dir, *metal;
	bool json, ascii;
};

static int print_findings(const struct tdm_args *args, const struct request *request,
	const struct tdm_findings *findings, const struct tdm_metal_setup *metal)
{
	struct tdm_result *result = tdm_result_new();
	const struct tdm_term term = tdm_cmd_term(request->ascii, false);
	tdm_doctor_show(&result->top, findings, metal);
	int code = tdm_cmd_show(args->cmd, result, request->json, &term,
		tdm_findings_count(findings, TDM_FINDING_BROKEN) != 0    ? 2
		: tdm_findings_count(findings, TDM_FINDING_WARNING) != 0 ? 1
									 : 0);
	tdm_result_free(result);
	return code;
}

static const char *missing_of(size_t topic, const bool *present)
{
	return tdm_metal_missing((enum tdm_metal_topic)topic, present);
}

/* Reports what the preload can see, and has seen, of a library, a program or a process. */
static int look_at_metal(const struct tdm_args *args, const struct request *request)
{
	const char *topics[TDM_METAL_TOPICS + 1] = { NULL };
	const struct tdm_setup_places places = { .ledgers = request->dir, .preload = TDM_PRELOAD_NAME };
	struct tdm_metal_function *functions = tdm_zalloc(tdm_metal_symbol_count, sizeof *functions);
	struct tdm_metal_setup setup = { 0 };
	struct tdm_doctor doctor = { .environ = environ };
	for (unsigned t = 0; t < TDM_METAL_TOPICS; t++)
		topics[t] = tdm_metal_topic_name((enum tdm_metal_topic)t);
	for (size_t i = 0; i < tdm_metal_symbol_count; i++) {
		const struct tdm_metal_symbol *s = &tdm_metal_symbols[i];
		/* A hook that only supports other hooks records nothing itself. */
		const char *sees = strncmp(s->sees, "nothing", strlen("nothing")) != 0 ? s->sees : NULL;
		functions[i] = (struct tdm_metal_function){ s->name, s->symbol, s->since, s->until, sees,
			topics[s->topic], s->is_hook, s->is_needed };
	}
	tdm_metal_setup_read(&setup, request->metal, functions, tdm_metal_symbol_count, &places);
	tdm_doctor_metal(&doctor, &setup, topics, missing_of);
	int code = print_findings(args, request, &doctor.findings, &setup);
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
	struct tdm_examination *look = tdm_alloc(sizeof *look);
	tdm_examine(look, request.dir);
	code = print_findings(args, &request, &look->doctor.findings, NULL);
	tdm_examination_done(look);
	free(look);
	return code;
}

static const struct tdm_opt doctor_opts[] = {
	{ "metal", 'm', "PROGRAM|LIBRARY|PID",
		"instead, show what the preload can and cannot see of tt-metal in a program, a library or a "
		"running process",
		TDM_TAKE_TEXT(struct request, metal) },
	{ TDM_OPT_DIR(struct request, dir) },
	{ TDM_OPT_JSON(struct request, json) },
	{ TDM_OPT_ASCII(struct request, ascii) },
	{ 0 },
};

static const struct tdm_help_row doctor_examples[] = {
	{ "tidemark doctor", "find out why a figure is missing or is unexpectedly 0" },
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
	.description = "Checks everything that Tidemark reads, reports the results, and says how to fix problems. "
		       "The checks cover the driver with its cards, device nodes and telemetry; the runtime's shared "
		       "memory; the programs' ledgers; environment variables, including misspelled ones and those "
		       "without effect; the library; and the machine. The command changes nothing and opens no "
		       "card.\n\nWith --metal, the command examines one program, library or process instead, without "
		       "running it. It shows which hooked functions are present in tt-metal, what the preload can "
		       "and cannot see with them, and the release suggested by their names. For a program, the "
		       "command examines the libraries that the program names; for Python, it examines the installed "
		       "packages. Libraries loaded later are known only for a running process. For a process, the "
		       "command also shows whether the preload is loaded and how often each function was "
		       "called.\n\nThe exit code is 0 if everything is fine, 1 if there is a warning, and 2 if "
		       "something is broken and Tidemark cannot work until the problem is fixed. On a machine "
		       "without a card, there is a warning.",
	.opts = doctor_opts,
	.only_options = true,
	.examples = doctor_examples,
	.exits = doctor_exits,
	.run = cmd_doctor_run,
};
