/* `tidemark demo`: workloads that report to the library, on cards that are only modelled. */
#include "cli/cmd_list.h"
#include "cli/demo_argv.h"
#include "cli/demo_fleet.h"
#include "device/bank.h"

#include <string.h>
#include <unistd.h>

enum option { OPT_WORKLOAD, OPT_CARD, OPT_CHIPS, OPT_FIRST, OPT_MODE, OPT_SECONDS, OPT_ROUNDS, OPT_VIEW };

enum {
	PLAIN_SECONDS = 10,
	SECONDS_MAX = 365 * 24 * 3600,
	ROUNDS_MAX = 1000000,
	DEVICE_MAX = 4096, /* numbers; no machine has so many */
};

struct request {
	const struct tdm_cmd *cmd;
	bool has_view;
	struct tdm_demo_fleet_options options;
};

static int take_number(
	const struct request *request, const char *option, const char *value, uint64_t min, uint64_t max, uint64_t *out)
{
	if (tdm_str_parse_u64(tdm_str_of(value), out) == 0 && *out >= min && *out <= max)
		return 0;
	return tdm_cmd_usage_error(request->cmd, "--%s '%s': expected a number from %llu to %llu", option, value,
		(unsigned long long)min, (unsigned long long)max);
}

static int take_workload(struct request *request, const char *value)
{
	request->options.only = tdm_demo_find(value);
	if (request->options.only == NULL && strcmp(value, "all") != 0)
		return tdm_cmd_usage_error(
			request->cmd, "--workload '%s': expected training, inference, leak, clash or all", value);
	return 0;
}

static int take_mode(struct request *request, const char *value)
{
	request->options.workload.recompute = strcmp(value, "efficient") == 0;
	if (!request->options.workload.recompute && strcmp(value, "default") != 0)
		return tdm_cmd_usage_error(request->cmd, "--mode '%s': expected efficient or default", value);
	return 0;
}

static int take_view(struct request *request, const char *value)
{
	static const char *const names[] = {
		[TDM_DEMO_TOP] = "top", [TDM_DEMO_PLAIN] = "plain", [TDM_DEMO_NONE] = "none"
	};
	request->has_view = strcmp(value, "auto") != 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(value, names[i]) == 0) {
			request->options.view = (enum tdm_demo_view)i;
			return 0;
		}
	if (request->has_view)
		return tdm_cmd_usage_error(request->cmd, "--view '%s': expected auto, top, plain or none", value);
	return 0;
}

static int take_option(void *context, int option, const char *value)
{
	struct request *request = context;
	struct tdm_demo_options *workload = &request->options.workload;
	uint64_t number = 0;
	int code = 0;
	switch ((enum option)option) {
	case OPT_WORKLOAD:
		return take_workload(request, value);
	case OPT_CARD:
		workload->card = value;
		return 0;
	case OPT_CHIPS:
		code = take_number(request, "chips", value, 1, TDM_DEMO_CHIPS_MAX, &number);
		workload->chips = (uint32_t)number;
		return code;
	case OPT_FIRST:
		code = take_number(request, "first-device", value, 0, DEVICE_MAX, &number);
		workload->first_device = (uint32_t)number;
		return code;
	case OPT_MODE:
		return take_mode(request, value);
	case OPT_SECONDS:
		return take_number(request, "seconds", value, 0, SECONDS_MAX, &workload->seconds);
	case OPT_ROUNDS:
		return take_number(request, "rounds", value, 1, ROUNDS_MAX, &workload->rounds);
	case OPT_VIEW:
		return take_view(request, value);
	}
	return TDM_EXIT_USAGE;
}

static void settle_view(struct request *request)
{
	struct tdm_demo_options *workload = &request->options.workload;
	bool is_terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
	if (!request->has_view)
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
			.recompute = true,
		},
	};
	int code = tdm_args_only_options(args, take_option, &request);
	if (code == 0)
		code = check_card(&request);
	if (code != 0)
		return code;
	settle_view(&request);
	if (request.options.only != NULL && request.options.view == TDM_DEMO_NONE)
		return run_here(&request);
	return tdm_demo_fleet_run(args->cmd, &request.options);
}

static const struct tdm_opt demo_opts[] = {
	[OPT_WORKLOAD] = { "workload", 'w', "all|training|inference|leak|clash",
		"what to run (the default is all, each in a process of its own)" },
	[OPT_CARD] = { "card", 'c', "CARD", "the card to model (default: " TDM_DEMO_CARD ")" },
	[OPT_CHIPS] = { "chips", 0, "N",
		"chips that each workload uses, with a copy of its model on each (default: 1)" },
	[OPT_FIRST] = { "first-device", 0, "N", "number of the first device (default: 0)" },
	[OPT_MODE] = { "mode", 0, "efficient|default",
		"training: compute activations again in the backward pass (the default), or keep them all, which needs "
		"more memory than " TDM_DEMO_CARD " has" },
	[OPT_SECONDS] = { "seconds", 's', "N",
		"end after N seconds (default: 10 with plain frames, otherwise when you stop it)" },
	[OPT_ROUNDS] = { "rounds", 0, "N", "end after N iterations instead, made without pauses" },
	[OPT_VIEW] = { "view", 0, "auto|top|plain|none",
		"what to show meanwhile: the screen of 'tidemark top', its frames as text, or nothing (default: top on "
		"a terminal, else plain)" },
	{ NULL, 0, NULL, NULL },
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
	.examples = demo_examples,
	.run = cmd_demo_run,
};
