/* `tidemark demo`: workloads that report to the library, on cards that are only modelled. */
#include "cli/cmd_list.h"
#include "cli/demo_argv.h"
#include "cli/demo_fleet.h"
#include "cli/options.h"
#include "device/bank.h"

#include <string.h>
#include <unistd.h>

enum {
	PLAIN_SECONDS = 10,
	SECONDS_MAX = 365 * 24 * 3600,
	ROUNDS_MAX = 1000000,
	DEVICE_MAX = 4096, /* numbers; no machine has so many */
};

enum { MODE_EFFICIENT = 1, MODE_DEFAULT }; /* the words of --mode */

struct request {
	const struct tdm_cmd *cmd;
	unsigned mode; /* 0: not given */
	struct tdm_demo_fleet_options options;
};

static int take_workload(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	struct request *request = to;
	unsigned word;
	request->options.only = tdm_demo_find(value); /* NULL: all */
	return tdm_take_choice(cmd, opt, value, &word);
}

static void settle(struct request *request)
{
	struct tdm_demo_options *workload = &request->options.workload;
	bool is_terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
	workload->recompute = request->mode != MODE_DEFAULT;
	if (request->options.view <= TDM_DEMO_AUTO)
		request->options.view = is_terminal ? TDM_DEMO_TOP : TDM_DEMO_PLAIN;
	if (request->options.view == TDM_DEMO_PLAIN && workload->seconds == TDM_DEMO_NO_LIMIT &&
		workload->rounds == TDM_DEMO_NO_LIMIT)
		workload->seconds = PLAIN_SECONDS;
}

/* A card that cannot be modelled is refused before anything starts. */
static int check_card(const struct request *request)
{
	struct tdm_card card;
	struct tdm_bank_range range;
	struct tdm_diag diag = { 0 };
	int err = tdm_card_init(&card, tdm_str_of(request->options.workload.card), NULL, &diag);
	if (err == 0)
		err = tdm_bank_range(&card, TDM_KIND_DRAM, &range, &diag);
	if (err == 0)
		err = tdm_bank_range(&card, TDM_KIND_L1, &range, &diag);
	if (err != 0)
		return tdm_cmd_usage_error(request->cmd, "--card '%s': %s", request->options.workload.card, diag.text);
	return 0;
}

/* One workload without a view is this process itself. Stacks are switched on before a program starts, so it starts
 * again. */
static int run_here(const struct request *request)
{
	const struct tdm_demo_fleet_options *options = &request->options;
	struct tdm_demo_argv argv;
	tdm_demo_argv_init(&argv, options->only, &options->workload);
	if (!tdm_demo_has_stacks())
		tdm_demo_argv_exec(&argv); /* if that fails, there are no stacks */
	return tdm_demo_run(request->cmd, options->only, &options->workload);
}

static int cmd_demo_run(struct tdm_args *args)
{
	struct request request = {
		.cmd = args->cmd,
		.options.workload = {
			.card = TDM_DEMO_CARD,
			.chips = 1,
			.seconds = TDM_DEMO_NO_LIMIT,
			.rounds = TDM_DEMO_NO_LIMIT,
		},
	};
	int code = tdm_args_read(args, &request);
	if (code == 0)
		code = check_card(&request);
	if (code != 0)
		return code;
	settle(&request);
	if (request.options.only != NULL && request.options.view == TDM_DEMO_NONE)
		return run_here(&request);
	return tdm_demo_fleet_run(args->cmd, &request.options);
}

static const struct tdm_opt demo_opts[] = {
	{ "workload", 'w', "training|inference|leak|clash|all",
		"what to run (the default is all, each in a process of its own)", .take = take_workload },
	{ "card", 'c', "CARD", "the card to model (default: " TDM_DEMO_CARD ")",
		TDM_TAKE_TEXT(struct request, options.workload.card) },
	{ "chips", 0, "N", "chips that each workload uses, with a copy of its model on each (default: 1)",
		TDM_TAKE_U32(struct request, options.workload.chips, 1, TDM_DEMO_CHIPS_MAX) },
	{ "first-device", 0, "N", "number of the first device (default: 0)",
		TDM_TAKE_U32(struct request, options.workload.first_device, 0, DEVICE_MAX) },
	{ "mode", 0, "efficient|default",
		"training: compute activations again in the backward pass (the default), or keep them all, which needs "
		"more memory than " TDM_DEMO_CARD " has",
		TDM_TAKE_CHOICE(struct request, mode) },
	{ "seconds", 's', "N", "end after N seconds (default: 10 with plain frames, otherwise when you stop it)",
		TDM_TAKE_NUMBER(struct request, options.workload.seconds, 0, SECONDS_MAX) },
	{ "rounds", 0, "N", "end after N iterations instead, made without pauses",
		TDM_TAKE_NUMBER(struct request, options.workload.rounds, 1, ROUNDS_MAX) },
	{ "view", 0, "auto|top|plain|none",
		"what to show meanwhile: the screen of 'tidemark top', its frames as text, or nothing (default: top on "
		"a terminal, else plain)",
		TDM_TAKE_CHOICE(struct request, options.view) },
	{ 0 },
};

static const struct tdm_example demo_examples[] = {
	{ "tidemark demo", "four programs, and 'tidemark top' in front of them" },
	{ "tidemark demo --view none", "only the programs: look at them from another terminal" },
	{ "tidemark demo --workload training --mode default --view none",
		"the phase table of a run that does not fit" },
	{ "tidemark demo --workload inference --chips 4 --card p150 --seconds 60", "a server on four chips of a p150" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_demo = {
	.name = "demo",
	.summary = "realistic programs on a simulated card; no hardware needed",
	.usage = "[--workload NAME] [--card CARD] [--chips N] [--mode MODE] [--seconds N] [--view VIEW]",
	.description = "Runs programs that use device memory as real ones do: their buffers are placed by the device "
		       "model and reported through libtidemark, so that every other command sees them. There is no "
		       "device, no data and no arithmetic behind them.\n"
		       "\n"
		       "training trains a model in the shape of TinyLlama and prints the phase table of its first "
		       "iteration, with the figures that tt-train's documents give. inference serves requests with a "
		       "paged key-value cache. leak forgets one buffer in every iteration. clash fills L1 until "
		       "circular buffers clash with it, and prints what the runtime would say.\n"
		       "\n"
		       "What the programs print is shown when they have ended. They end with this command, however it "
		       "ends, and leave nothing behind.",
	.opts = demo_opts,
	.only_options = true,
	.examples = demo_examples,
	.run = cmd_demo_run,
};
