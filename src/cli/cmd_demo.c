/* `tidemark demo`: workloads that report to the library, on simulated cards. */
#include "cli/cmd_list.h"
#include "cli/demo_argv.h"
#include "cli/demo_fleet.h"
#include "cli/options.h"
#include "device/bank.h"
#include "sources/server_wire.h"

#include <string.h>
#include <unistd.h>

enum {
	PLAIN_SECONDS = 10,
	SECONDS_MAX = 365 * 24 * 3600,
	ROUNDS_MAX = 1000000,
	DEVICE_MAX = 4096, /* highest number, more than any machine has */
};

enum { MODE_EFFICIENT = 1, MODE_DEFAULT }; /* the words of --mode */

static const uint32_t message_sizes[] = { 72, 112, 128, 144 }; /* the words of --message-size */

struct request {
	const struct tdm_cmd *cmd;
	unsigned mode, message_size; /* 0: not given */
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
	if (request->message_size != 0)
		workload->message_size = message_sizes[request->message_size - 1];
	if (request->options.view <= TDM_DEMO_AUTO)
		request->options.view = is_terminal ? TDM_DEMO_TOP : TDM_DEMO_PLAIN;
	if (request->options.view == TDM_DEMO_PLAIN && workload->seconds == TDM_DEMO_NO_LIMIT &&
		workload->rounds == TDM_DEMO_NO_LIMIT)
		workload->seconds = PLAIN_SECONDS;
}

/* Refuses a card that cannot be modelled before anything starts. */
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

/* Runs a single workload without a view in this process. Call stacks must be switched on before a program starts, so it
 * executes itself again. */
static int run_here(const struct request *request)
{
	const struct tdm_demo_fleet_options *options = &request->options;
	struct tdm_demo_argv argv;
	tdm_demo_argv_init(&argv, options->only, &options->workload);
	if (!tdm_demo_has_stacks())
		tdm_demo_argv_exec(&argv); /* returns only on failure: go on without stacks */
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
			.message_size = TDM_WIRE_SIZE_MAX,
		},
	};
	int code = tdm_args_read(args, &request);
	if (code == 0)
		code = check_card(&request);
	if (code == 0 && request.options.server && request.options.workload.socket != NULL)
		code = tdm_cmd_usage_error(
			args->cmd, "--server starts a server on a socket of its own; --socket names another one");
	if (code == 0 && request.message_size != 0 && request.options.workload.socket == NULL)
		code = tdm_cmd_usage_error(args->cmd, "--message-size is for --socket");
	if (code != 0)
		return code;
	settle(&request);
	if (request.options.only != NULL && request.options.view == TDM_DEMO_NONE && !request.options.server)
		return run_here(&request);
	return tdm_demo_fleet_run(args->cmd, &request.options);
}

static const struct tdm_opt demo_opts[] = {
	{ "workload", 'w', "training|inference|leak|clash|all", "what to run (default: all, each in its own process)",
		.take = take_workload },
	{ "card", 'c', "CARD", "the card to model (default: " TDM_DEMO_CARD ")",
		TDM_TAKE_TEXT(struct request, options.workload.card) },
	{ "chips", 0, "N", "chips that each workload uses, with a copy of its model on each (default: 1)",
		TDM_TAKE_U32(struct request, options.workload.chips, 1, TDM_DEMO_CHIPS_MAX) },
	{ "first-device", 0, "N", "number of the first device (default: 0)",
		TDM_TAKE_U32(struct request, options.workload.first_device, 0, DEVICE_MAX) },
	{ "mode", 0, "efficient|default",
		"training: recompute activations in the backward pass (the default), or keep them all, which needs "
		"more memory than " TDM_DEMO_CARD " has",
		TDM_TAKE_CHOICE(struct request, mode) },
	{ "seconds", 's', "N",
		"end after N seconds (default: 10 with plain frames; otherwise it runs until you stop it)",
		TDM_TAKE_NUMBER(struct request, options.workload.seconds, 0, SECONDS_MAX) },
	{ "rounds", 0, "N", "end after N iterations instead, and do not pause between them",
		TDM_TAKE_NUMBER(struct request, options.workload.rounds, 1, ROUNDS_MAX) },
	{ "view", 0, "auto|top|plain|none",
		"what to show meanwhile: the screen of 'tidemark top', plain text frames, or nothing (default: top on "
		"a terminal, else plain)",
		TDM_TAKE_CHOICE(struct request, options.view) },
	{ "server", 0, NULL,
		"start tidemarkd on a socket of its own and report to it, as programs with the hooks of the first "
		"allocation server do, each with another of its four message sizes",
		TDM_TAKE_FLAG(struct request, options.server) },
	{ "socket", 0, "PATH", "report to the server that listens there, instead of through the library",
		TDM_TAKE_TEXT(struct request, options.workload.socket) },
	{ "message-size", 0, "72|112|128|144", "bytes of a message to it (default: 144)",
		TDM_TAKE_CHOICE(struct request, message_size) },
	{ 0 },
};

static const struct tdm_example demo_examples[] = {
	{ "tidemark demo", "run four programs and watch them with 'tidemark top'" },
	{ "tidemark demo --view none", "run the programs only, to look at them from another terminal" },
	{ "tidemark demo --workload training --mode default --view none",
		"the phase table of a run that does not fit" },
	{ "tidemark demo --workload inference --chips 4 --card p150 --seconds 60", "a server on four chips of a p150" },
	{ "tidemark demo --server", "the same programs as clients of the daemon, and where to look" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_demo = {
	.name = "demo",
	.summary = "run realistic programs on a simulated card; no hardware needed",
	.usage = "[--workload NAME] [--card CARD] [--chips N] [--mode MODE] [--seconds N] [--view VIEW] [--server]",
	.description =
		"Runs programs that use device memory like real ones: the device model places their buffers, "
		"and libtidemark reports them, so every other command sees them. There is no real device, no "
		"data and no arithmetic.\n"
		"\n"
		"The workloads: 'training' trains a model with the shape of TinyLlama and prints the phase "
		"table of its first iteration, with the same figures as tt-train's documentation. 'inference' "
		"serves requests with a paged key-value cache. 'leak' forgets one buffer in every iteration. "
		"'clash' fills L1 until circular buffers clash with it, and prints what the runtime would say.\n"
		"\n"
		"With --server nothing uses the library: the programs send messages to a daemon, which writes "
		"a ledger for each of them. Messages have no names, no stacks and no phases, and do not say what "
		"card it is, so the other commands show less.\n"
		"\n"
		"The output of the programs is shown after they have ended. They end with this command, however "
		"it ends, and leave nothing behind.",
	.opts = demo_opts,
	.only_options = true,
	.examples = demo_examples,
	.run = cmd_demo_run,
};
