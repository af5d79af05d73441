#include "cli/ledgers.h"
#include "base/err.h"
#include "ledger/ledger_list.h"

#include <errno.h>
#include <inttypes.h>

int tdm_ledgers_open(const struct tdm_cmd *cmd, struct tdm_state_options options, struct tdm_ledgers *ledgers)
{
	options.only_ledgers = options.with_ended = true;
	*ledgers = (struct tdm_ledgers){ .state = tdm_state_new(&options) };
	return ledgers->state != NULL ? 0 : tdm_cmd_error(cmd, "out of memory");
}

int tdm_ledgers_connect(const struct tdm_cmd *cmd, const struct tdm_connect *connect, const struct tdm_pids *pids,
	struct tdm_ledgers *ledgers)
{
	const struct tdm_fleet_options options = {
		.only_tracked = true, .with_ended = true, .pids = pids->list, .pid_count = pids->count
	};
	*ledgers = (struct tdm_ledgers){ 0 };
	return tdm_connect_open(cmd, connect, options, &ledgers->fleet);
}

/* For messages. */
static const char *place_of(const struct tdm_ledgers *ledgers)
{
	return ledgers->state != NULL ? tdm_state_ledger_dir(ledgers->state) : "what these machines show";
}

int tdm_ledgers_look(const struct tdm_cmd *cmd, struct tdm_ledgers *ledgers, unsigned more_parts)
{
	const struct tdm_wish wish = { .parts = TDM_WISH_BUFFERS | more_parts, .no_largest = true };
	ledgers->picture =
		ledgers->state != NULL ? tdm_state_look(ledgers->state, &wish) : tdm_fleet_look(ledgers->fleet, &wish);
	if (ledgers->picture == NULL)
		return tdm_cmd_error(cmd, "out of memory");
	int err = ledgers->picture->ledgers_err;
	if (err != 0 && err != -EOVERFLOW)
		return tdm_cmd_error(cmd, "cannot list %s: %s", place_of(ledgers), tdm_err_text(err));
	return 0;
}

int tdm_ledgers_check(const struct tdm_cmd *cmd, const struct tdm_ledgers *ledgers, const struct tdm_pids *pids,
	const struct tdm_buffer_filter *filter)
{
	const struct tdm_picture *picture = ledgers->picture;
	const struct tdm_pick pick = { .pids = pids->list, .pid_count = pids->count };
	int32_t missing = tdm_pick_missing(&pick, picture);
	if (missing != 0)
		return tdm_cmd_error(
			cmd, "no ledger of process %" PRId32 " can be read in %s", missing, place_of(ledgers));
	for (size_t i = 0; filter->has_device && i < picture->holding_count; i++)
		if (picture->holdings[i].number == filter->device)
			return 0;
	if (filter->has_device)
		return tdm_cmd_error(cmd, "no process that can be read uses device %" PRIu32, filter->device);
	return 0;
}

void tdm_ledgers_report(const struct tdm_ledgers *ledgers, bool ascii, struct tdm_live_report *report)
{
	report->dir = place_of(ledgers);
	report->picture = ledgers->picture;
	report->term = tdm_cmd_term(ascii, false);
}

void tdm_ledgers_done(struct tdm_ledgers *ledgers)
{
	tdm_state_free(ledgers->state);
	tdm_fleet_free(ledgers->fleet);
	*ledgers = (struct tdm_ledgers){ 0 };
}
