/* `tidemark device`: the cards that Tidemark knows. */
#include "cli/cmd_list.h"
#include "cli/options.h"
#include "base/err.h"
#include "device/card_set.h"
#include "report/device_report.h"

#include <errno.h>
#include <inttypes.h>

struct request {
	const struct tdm_cmd *cmd;
	bool json, sources, banks, ascii;
	const char *card_file;
	struct tdm_texts sets;
	uint64_t width; /* 0: the terminal's */
};

static struct tdm_term request_term(const struct request *request)
{
	struct tdm_term term = tdm_cmd_term(request->ascii, false);
	if (request->width != 0)
		term.width = (size_t)request->width;
	return term;
}

/* An option that was given but is for `show` only; NULL: none. */
static const char *show_option(const struct request *request)
{
	return request->sets.count != 0     ? "set"
	       : request->card_file != NULL ? "card-file"
	       : request->sources           ? "sources"
	       : request->banks             ? "banks"
					    : NULL;
}

static int run_list(const struct request *request, const struct tdm_args *args)
{
	struct tdm_term term = request_term(request);
	struct tdm_answer answer;
	if (args->positional_count > 1)
		return tdm_cmd_usage_error(request->cmd, "unexpected argument '%s' after 'list'", args->positional[1]);
	if (show_option(request) != NULL)
		return tdm_cmd_usage_error(request->cmd, "option '--%s' is for 'show' only", show_option(request));
	tdm_answer_begin(&answer, request->cmd, false);
	int err = request->json ? tdm_device_json_list(&answer.out, tdm_card_names)
				: tdm_device_text_list(&answer.out, tdm_card_names, &term);
	if (err == 0)
		return tdm_answer_end(&answer, TDM_EXIT_OK);
	tdm_buf_done(&answer.out);
	return tdm_cmd_error(request->cmd, "%s", tdm_err_text(err));
}

/* Refuses a file for another card than the one on the command line. */
static int load_card_file(const struct request *request, struct tdm_card *card)
{
	const char *asked = card->name;
	char text[TDM_DIAG_TEXT_CAP + 256];
	struct tdm_diag diag = { .file = request->card_file };
	if (tdm_card_load(card, request->card_file, &diag) != 0)
		return tdm_cmd_error(request->cmd, "%s", tdm_diag_format(&diag, text, sizeof text));
	if (asked != NULL && strcmp(asked, card->name) != 0)
		return tdm_cmd_error(request->cmd, "%s describes card '%s', but '%s' was asked for", request->card_file,
			card->name, asked);
	return 0;
}

static int apply_sets(const struct request *request, struct tdm_card *card)
{
	struct tdm_diag diag = { 0 };
	const char *wrong;
	if (tdm_card_set_all(card, request->sets.list, &wrong, &diag) != 0)
		return tdm_cmd_error(request->cmd, "--set %s: column %" PRIu64 ": %s", wrong, diag.column, diag.text);
	return 0;
}

/* Makes the named card, changed by the file, then by the options. `name` is NULL if only the file names it. */
static int make_card(const struct request *request, const char *name, struct tdm_card *card)
{
	struct tdm_card_variant variant = tdm_card_variant_default();
	struct tdm_diag diag = { 0 };
	int code = 0;
	*card = (struct tdm_card){ 0 };
	if (name != NULL && tdm_card_init(card, tdm_str_of(name), &variant, &diag) != 0)
		return tdm_cmd_error(request->cmd, "%s", diag.text);
	if (request->card_file != NULL)
		code = load_card_file(request, card);
	if (code == 0)
		code = apply_sets(request, card);
	if (code == 0 && tdm_card_check(card, &diag) != 0)
		code = tdm_cmd_error(request->cmd, "card '%s': %s", card->name, diag.text);
	return code;
}

static int run_show(const struct request *request, const struct tdm_args *args)
{
	struct tdm_term term = request_term(request);
	struct tdm_card card;
	struct tdm_answer answer;
	const char *name = args->positional_count > 1 ? args->positional[1] : NULL;
	if (args->positional_count > 2)
		return tdm_cmd_usage_error(
			request->cmd, "unexpected argument '%s' after the card", args->positional[2]);
	if (name == NULL && request->card_file == NULL)
		return tdm_cmd_usage_error(request->cmd, "'show' needs the name of a card, or --card-file");
	int code = make_card(request, name, &card);
	if (code != 0)
		return code;
	tdm_answer_begin(&answer, request->cmd, false);
	if (request->json)
		tdm_device_json_show(&answer.out, &card);
	else
		tdm_device_text_show(&answer.out, &card, &term);
	if (request->banks && !request->json)
		tdm_device_banks_text(&answer.out, &card, &term);
	if (request->sources && !request->json)
		tdm_device_text_sources(&answer.out, &card, &term);
	return tdm_answer_end(&answer, TDM_EXIT_OK);
}

static int device_run(struct tdm_args *args)
{
	struct request request = { .cmd = args->cmd };
	int code = tdm_args_read(args, &request);
	if (code != 0)
		return code;
	if (args->positional_count == 0)
		return tdm_cmd_usage_error(args->cmd, "say 'list' or 'show'");
	if (strcmp(args->positional[0], "list") == 0)
		return run_list(&request, args);
	if (strcmp(args->positional[0], "show") == 0)
		return run_show(&request, args);
	return tdm_cmd_usage_error(args->cmd, "expected 'list' or 'show', got '%s'", args->positional[0]);
}

static const struct tdm_opt device_opts[] = {
	{ TDM_OPT_JSON(struct request, json) },
	{ "set", 's', "FIELD=VALUE", "override a field or a variant of the card; may be repeated",
		TDM_TAKE_TEXTS(struct request, sets) },
	{ "card-file", 'f', "FILE", "read the card, or overrides for it, from FILE",
		TDM_TAKE_TEXT(struct request, card_file) },
	{ "sources", 0, NULL, "also print every field and where its value comes from",
		TDM_TAKE_FLAG(struct request, sources) },
	{ "banks", 0, NULL, "also print the L1 bank of each core in the compute grid",
		TDM_TAKE_FLAG(struct request, banks) },
	{ TDM_OPT_ASCII(struct request, ascii) },
	{ "width", 'w', "COLUMNS", "fold text at this width instead of the terminal's",
		TDM_TAKE_NUMBER(struct request, width, TDM_TERM_WIDTH_MIN, TDM_TERM_WIDTH_MAX) },
	{ 0 },
};

static const struct tdm_example device_examples[] = {
	{ "tidemark device show n150", "capacities, alignments and the L1 map of a Wormhole n150" },
	{ "tidemark device show p150 --set dispatch=eth --set l1_small=32K",
		"the same for a Blackhole p150 that dispatches from Ethernet cores and has an L1_SMALL region" },
	{ "tidemark device show n300 --json", "everything that is known, for programs" },
	{ "tidemark device show --card-file lab.card --sources",
		"a card described in a file, and where each figure comes from" },
	{ NULL, NULL },
};

static const char *const device_words[] = { "list", "show", NULL };

static const char device_description[] =
	"'list' prints a line for each card. 'show' describes one card: the compute grid, the capacity of every memory "
	"region per bank and in total, alignments, circular buffers, the size of a tile in every data format, and a "
	"map of the L1 of one core with the regions that the firmware reserves.\n\n"
	"The figures are those of the tt-metal runtime; --sources says where each one comes from. An unknown figure is "
	"printed as 'unknown', with the reason.\n\n"
	"Figures change between releases of the runtime, and cards come in variants, so everything can be overridden. "
	"--set takes a field that --sources lists, as in l1_small=32K, or a variant:\n\n"
	"  dispatch=WHERE  tensix, tensix-row, tensix-col, eth or none\n"
	"  harvested=N     rows or columns of Tensix cores that are fused off\n"
	"  firmware=old    firmware from before harvesting was changed\n"
	"  tracy=1         a runtime built with Tracy, which uses some DRAM\n"
	"  fabric_mux=1    a row or column of cores serves the fabric\n\n"
	"A card file has the same assignments, one per line, and '#' starts a comment. A first line 'card = n150' "
	"names the card to start from. Options override the file.";

const struct tdm_cmd tdm_cmd_device = {
	.name = "device",
	.summary = "show the cards that Tidemark knows: capacities and the L1 map",
	.usage = "list [--json]\n"
		 "show [CARD] [--card-file FILE] [--set FIELD=VALUE]... [--sources] [--json]",
	.description = device_description,
	.opts = device_opts,
	.examples = device_examples,
	.words = device_words,
	.names = tdm_card_names,
	.run = device_run,
};
