/* Every workload of `tidemark demo`, and how one is run on a simulated card. */
#include "cli/demo.h"
#include "base/err.h"
#include "ledger/ledger_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct tdm_demo_workload *tdm_demo_find(const char *name)
{
	for (size_t i = 0; tdm_demo_workloads[i] != NULL; i++)
		if (strcmp(tdm_demo_workloads[i]->name, name) == 0)
			return tdm_demo_workloads[i];
	return NULL;
}

int tdm_demo_run(
	const struct tdm_cmd *cmd, const struct tdm_demo_workload *workload, const struct tdm_demo_options *options)
{
	struct tdm_demo_card *card = NULL;
	struct tdm_demo_pace pace;
	struct tdm_diag diag = { 0 };
	const struct tdm_demo_card_options card_options = {
		.card = options->card,
		.settings = workload->settings,
		.chips = options->chips,
		.first_device = options->first_device,
		.socket = options->socket,
		.message_size = options->message_size,
	};
	tdm_demo_pace_init(
		&pace, options->seconds, options->rounds); /* first, because from here on no signal ends the process */
	int err = tdm_demo_card_open(&card_options, &card, &diag);
	if (err != 0)
		return tdm_cmd_error(cmd, "%s", diag.text[0] != '\0' ? diag.text : tdm_err_text(err));
	workload->run(card, options, &pace);
	if (tdm_demo_card_failure(card) != NULL)
		printf("Out of memory: %s.\n", tdm_demo_card_failure(card));
	uint64_t lost = tdm_demo_card_lost(card);
	tdm_demo_card_close(card);
	if (lost == 0)
		return TDM_EXIT_OK;
	fflush(stdout);
	if (options->socket != NULL)
		return tdm_cmd_error(cmd, "%" PRIu64 " messages were lost, because the server left", lost);
	return tdm_cmd_error(cmd, "%" PRIu64 " events were lost, so the figures are wrong: is there room in %s?", lost,
		tdm_ledger_dir(NULL));
}

const struct tdm_demo_workload *const tdm_demo_workloads[] = { &tdm_demo_training, &tdm_demo_inference, &tdm_demo_leak,
	&tdm_demo_clash, NULL };
