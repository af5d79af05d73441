/* `tidemark demo`: workloads that report to the library, on simulated cards. */
#include "cli/commands/cmd_list.h"
#include "cli/demo/demo.h"
#include "cli/options/options.h"
#include "model/card/bank.h"
#include "live/runtime/server_wire.h"

#include <string.h>
#include <unistd.h>

enum {
	PLAIN_SECONDS = 10,
	SECONDS_MAX = 365 * 24 * 3600,
	ROUNDS_MAX = 1000000,
	DEVICE_MAX = 4096, /* higher than any machine's device numbers */
};

enum { MODE_EFFICIENT = 1, MODE_DEFAULT }; /* values of --mode */

static const uint32_t message_sizes[] = { 72, 112, 128, 144 }; /* values of --message-size */

struct request {
	const struct tdm_cmd *cmd;
	unsigned mode, message_size; /* 0: not given */
	struct tdm_demo_options options;
};

static int take_workload(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	struct request *request = to;
	unsigned word;
	request->options.only = tdm_demo_find(value); /* NULL for all */
	return tdm_take_choice(cmd, opt, value, &word);
}

static int cmd_demo_run(struct tdm_args *args)
{
	struct request request = {
		.cmd = args->cmd,
		.options = {
			.card = TDM_DEMO_CARD,
			.chips = 1,
			.seconds = TDM_DEMO_NO_LIMIT,
			.rounds = TDM_DEMO_NO_LIMIT,
			.message_size = TDM_WIRE_SIZE_MAX,
		},
	};
	struct tdm_demo_options *options = &request.options;
	struct tdm_card card;
	struct tdm_bank_range range;
	struct tdm_diag diag = { 0 };
	int code = tdm_args_read(args, &request);
	if (code != 0)
		return code;
	/* Refuses, before anything starts, a card that cannot be modelled. */
	if (tdm_card_init(&card, tdm_str_of(options->card), NULL, &diag) != 0 ||
		tdm_bank_range(&card, TDM_KIND_DRAM, &range, &diag) != 0 ||
		tdm_bank_range(&card, TDM_KIND_L1, &range, &diag) != 0)
		return tdm_cmd_usage_error(args->cmd, "--card '%s': %s", options->card, diag.text);
	if (options->server && options->socket != NULL)
		return tdm_cmd_usage_error(
			args->cmd, "--server starts a server on a socket of its own; --socket names another one");
	if (request.message_size != 0 && options->socket == NULL)
		return tdm_cmd_usage_error(args->cmd, "--message-size is for --socket");
	options->recompute = request.mode != MODE_DEFAULT;
	if (request.message_size != 0)
		options->message_size = message_sizes[request.message_size - 1];
	if (options->view <= TDM_DEMO_AUTO)
		options->view = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 ? TDM_DEMO_TOP : TDM_DEMO_PLAIN;
	if (options->view == TDM_DEMO_PLAIN && options->seconds == TDM_DEMO_NO_LIMIT &&
		options->rounds == TDM_DEMO_NO_LIMIT)
		options->seconds = PLAIN_SECONDS;
	if (options->only == NULL || options->view != TDM_DEMO_NONE || options->server)
		return tdm_demo_fleet_run(args->cmd, options);
	/* A single workload without a view runs in this process. Call stacks must be switched on before a program
	 * starts, so this program executes itself again. */
	if (!tdm_demo_has_stacks())
		tdm_demo_exec(options->only, options); /* exec failed: continue without stacks */
	return tdm_demo_run(args->cmd, options->only, options);
}

static const struct tdm_opt demo_opts[] = {
	{ "workload", 'w', "training|inference|leak|clash|all", "what to run (default: all, each in its own process)",
		.take = take_workload },
	{ "card", 'c', "CARD", "the card to model (default: " TDM_DEMO_CARD ")",
		TDM_TAKE_TEXT(struct request, options.card) },
	{ "chips", 0, "N", "chips that each workload uses, with a copy of its model on each (default: 1)",
		TDM_TAKE_U32(struct request, options.chips, 1, TDM_DEMO_CHIPS_MAX) },
	{ "first-device", 0, "N", "number of the first device (default: 0)",
		TDM_TAKE_U32(struct request, options.first_device, 0, DEVICE_MAX) },
	{ "mode", 0, "efficient|default",
		"training: recompute activations in the backward pass (the default), or keep all of them, "
		"which needs more memory than " TDM_DEMO_CARD " has",
		TDM_TAKE_CHOICE(struct request, mode) },
	{ "seconds", 's', "N",
		"end after N seconds (default: 10 with plain frames; otherwise the demo runs until you stop "
		"it)",
		TDM_TAKE_NUMBER(struct request, options.seconds, 0, SECONDS_MAX) },
	{ "rounds", 0, "N", "end after N iterations without pauses between them",
		TDM_TAKE_NUMBER(struct request, options.rounds, 1, ROUNDS_MAX) },
	{ "view", 0, "auto|top|plain|none",
		"what to show while the programs run: 'tidemark top', plain text frames, or nothing (default: "
		"top on a terminal, else plain)",
		TDM_TAKE_CHOICE(struct request, options.view) },
	{ "server", 0, NULL,
		"start tidemarkd on a private socket and report to it, like programs with the hooks of the "
		"first allocation server; each program uses a different one of the four message sizes",
		TDM_TAKE_FLAG(struct request, options.server) },
	{ "socket", 0, "PATH", "report to the server listening on this socket instead of using the library",
		TDM_TAKE_TEXT(struct request, options.socket) },
	{ "message-size", 0, "72|112|128|144", "message size in bytes (default: 144)",
		TDM_TAKE_CHOICE(struct request, message_size) },
	{ 0 },
};

static const struct tdm_help_row demo_examples[] = {
	{ "tidemark demo", "run four programs and watch them with 'tidemark top'" },
	{ "tidemark demo --view none", "run only the programs, and watch them from another terminal" },
	{ "tidemark demo --workload training --mode default --view none",
		"the phase table of a run that does not fit" },
	{ "tidemark demo --workload inference --chips 4 --card p150 --seconds 60", "a server on four chips of a p150" },
	{ "tidemark demo --server", "the same programs as clients of the daemon" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_demo = {
	.name = "demo",
	.summary = "run realistic programs on a simulated card; no hardware needed",
	.usage = "[--workload NAME] [--card CARD] [--chips N] [--mode MODE] [--seconds N] [--view VIEW] [--server]",
	.description = "Runs programs that use device memory like real programs. The device model places their "
		       "buffers, and libtidemark reports the buffers, so all other commands see them. There is no "
		       "real device, no data and no arithmetic.\n\nThe workloads: 'training' trains a model with the "
		       "shape of TinyLlama and prints the phase table of its first iteration, with the same figures "
		       "as tt-train's documentation. 'inference' serves requests with a paged key-value cache. "
		       "'leak' forgets one buffer in every iteration. 'clash' fills L1 with buffers until circular "
		       "buffers clash with them, and prints the runtime's message.\n\nWith --server, the programs do "
		       "not use the library. They send messages to a daemon, which writes a ledger for each program. "
		       "Messages contain no names, stacks or phases, and do not name the card, so the other commands "
		       "show less.\n\nThe programs' output is shown after they have ended. However this command "
		       "ends, its programs end as well and leave nothing behind.",
	.opts = demo_opts,
	.only_options = true,
	.examples = demo_examples,
	.run = cmd_demo_run,
};
