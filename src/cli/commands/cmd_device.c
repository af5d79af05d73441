/* `tidemark device`: the cards that Tidemark knows. */
#include "cli/commands/cmd_list.h"
#include "cli/options/options.h"
#include "base/err.h"
#include "model/card/bank.h"
#include "analyze/card/card_result.h"
#include "view/write/write.h"

#include <errno.h>
#include <inttypes.h>

struct request {
	const struct tdm_cmd *cmd;
	bool json, sources, banks, ascii;
	const char *card_file;
	struct tdm_texts sets;
	uint64_t width; /* 0 for the terminal's width */
};

/* `key` names the whole result in JSON; if NULL, the members of the result become keys of the envelope. */
static int show(const struct request *request, const struct tdm_result *result, const char *key)
{
	struct tdm_term term = tdm_cmd_term(request->ascii, false);
	struct tdm_answer answer;
	tdm_answer_begin(&answer, request->cmd, false);
	if (request->json) {
		tdm_json_envelope(&answer.json, "tidemark.device");
		if (key != NULL)
			tdm_json_key(&answer.json, key);
		if (key != NULL)
			tdm_write_json(&result->top, &answer.json);
		else
			tdm_write_members(&result->top, &answer.json);
	} else {
		term.width = request->width != 0 ? (size_t)request->width : term.width;
		term.folds = true;
		tdm_write_text(&result->top, &term, &answer.out);
	}
	return tdm_answer_end(&answer, TDM_EXIT_OK);
}

/*
 * Creates the named card, as modified first by the file and then by the options. `name` is NULL if only the file names
 * the card.
 */
static int make_card(const struct request *request, const char *name, struct tdm_card *card)
{
	struct tdm_card_variant variant = tdm_card_variant_default();
	struct tdm_diag diag = { .file = request->card_file };
	char text[TDM_DIAG_TEXT_CAP + 256];
	const char *wrong;
	*card = (struct tdm_card){ 0 };
	if (name != NULL && tdm_card_init(card, tdm_str_of(name), &variant, &diag) != 0)
		return tdm_cmd_error(request->cmd, "%s", diag.text);
	const char *asked = card->name;
	if (request->card_file != NULL && tdm_card_load(card, request->card_file, &diag) != 0)
		return tdm_cmd_error(request->cmd, "%s", tdm_diag_format(&diag, text, sizeof text));
	if (request->card_file != NULL && asked != NULL && strcmp(asked, card->name) != 0)
		return tdm_cmd_error(request->cmd, "%s describes card '%s', but '%s' was asked for", request->card_file,
			card->name, asked);
	if (tdm_card_set_all(card, request->sets.list, &wrong, &diag) != 0)
		return tdm_cmd_error(request->cmd, "--set %s: column %" PRIu64 ": %s", wrong, diag.column, diag.text);
	return tdm_card_check(card, &diag) != 0 ? tdm_cmd_error(request->cmd, "card '%s': %s", card->name, diag.text)
						: 0;
}

static int device_run(struct tdm_args *args)
{
	struct request request = { .cmd = args->cmd };
	struct tdm_card card;
	int code = tdm_args_read(args, &request);
	if (code != 0)
		return code;
	const char *word = args->positional[0], *name = word != NULL ? args->positional[1] : NULL;
	bool is_list = word != NULL && strcmp(word, "list") == 0;
	/* An option meant only for `show`. */
	const char *option = request.sets.count != 0     ? "set"
			     : request.card_file != NULL ? "card-file"
			     : request.sources           ? "sources"
			     : request.banks             ? "banks"
							 : NULL;
	if (word == NULL)
		return tdm_cmd_usage_error(args->cmd, "say 'list' or 'show'");
	if (!is_list && strcmp(word, "show") != 0)
		return tdm_cmd_usage_error(args->cmd, "expected 'list' or 'show', got '%s'", word);
	if (is_list && name != NULL)
		return tdm_cmd_usage_error(args->cmd, "unexpected argument '%s' after 'list'", name);
	if (is_list && option != NULL)
		return tdm_cmd_usage_error(args->cmd, "option '--%s' is for 'show' only", option);
	if (args->positional_count > 2)
		return tdm_cmd_usage_error(args->cmd, "unexpected argument '%s' after the card", args->positional[2]);
	if (!is_list && name == NULL && request.card_file == NULL)
		return tdm_cmd_usage_error(args->cmd, "'show' needs the name of a card, or --card-file");
	code = is_list ? 0 : make_card(&request, name, &card);
	if (code != 0)
		return code;
	struct tdm_result *result = tdm_result_new();
	int err = 0;
	if (is_list)
		err = tdm_cards_show(&result->top, tdm_card_names);
	else
		tdm_card_show(&result->top, &card, request.banks, request.sources);
	code = err == 0 ? show(&request, result, is_list ? NULL : "device")
			: tdm_cmd_error(args->cmd, "%s", tdm_err_text(err));
	tdm_result_free(result);
	return code;
}

static const struct tdm_opt device_opts[] = {
	{ TDM_OPT_JSON(struct request, json) },
	{ "set", 's', "FIELD=VALUE", "override a field or a variant of the card; may be repeated",
		TDM_TAKE_TEXTS(struct request, sets) },
	{ "card-file", 'f', "FILE", "read the card, or overrides for it, from FILE",
		TDM_TAKE_TEXT(struct request, card_file) },
	{ "sources", 0, NULL, "also print every field and the source of its value",
		TDM_TAKE_FLAG(struct request, sources) },
	{ "banks", 0, NULL, "also print the L1 bank of each core in the compute grid",
		TDM_TAKE_FLAG(struct request, banks) },
	{ TDM_OPT_ASCII(struct request, ascii) },
	{ "width", 'w', "COLUMNS", "fold text at this width instead of the terminal's",
		TDM_TAKE_NUMBER(struct request, width, TDM_TERM_WIDTH_MIN, TDM_TERM_WIDTH_MAX) },
	{ 0 },
};

static const struct tdm_help_row device_examples[] = {
	{ "tidemark device show n150", "capacities, alignments and the L1 map of a Wormhole n150" },
	{ "tidemark device show p150 --set dispatch=eth --set l1_small=32K",
		"the same for a Blackhole p150 that dispatches from Ethernet cores and has an L1_SMALL region" },
	{ "tidemark device show n300 --json", "all known figures, for programs" },
	{ "tidemark device show --card-file lab.card --sources",
		"a card described in a file, and the source of each figure" },
	{ NULL, NULL },
};

static const char *const device_words[] = { "list", "show", NULL };

static const char device_description[] =
	"'list' prints a line for each card. 'show' describes one card: the compute grid, the "
	"capacity of every memory region per bank and in total, alignments, circular buffers, the "
	"tile size in every data format, and an L1 map of one core with the regions reserved by the "
	"firmware.\n\nThe figures come from the tt-metal runtime; --sources names the source of each "
	"figure. An unknown figure is printed as 'unknown', with the reason.\n\nFigures change "
	"between runtime releases, and cards come in variants, so you can override every figure. "
	"--set accepts a field listed by --sources, as in l1_small=32K, or a variant:\n\n  "
	"dispatch=WHERE  tensix, tensix-row, tensix-col, eth or none\n  harvested=N     rows or "
	"columns of Tensix cores fused off\n  firmware=old    firmware from before harvesting was "
	"changed\n  tracy=1         a runtime built with Tracy, which uses some DRAM\n  fabric_mux=1    "
	"a row or column of cores serves the fabric\n\nA card file contains the same assignments, one "
	"per line, and '#' starts a comment. A first line such as 'card = n150' selects the card on "
	"which the file is based. Options override the file.";

const struct tdm_cmd tdm_cmd_device = {
	.name = "device",
	.summary = "show the known cards: capacities and the L1 map",
	.usage = "list [--json]\n"
		 "show [CARD] [--card-file FILE] [--set FIELD=VALUE]... [--sources] [--json]",
	.description = device_description,
	.opts = device_opts,
	.examples = device_examples,
	.words = device_words,
	.names = tdm_card_names,
	.run = device_run,
};
