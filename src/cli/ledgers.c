#include "cli/ledgers.h"
#include "ledger/ledger_list.h"
#include "registry/registry.h"

#include <unistd.h>

int tdm_ledgers_read(const struct tdm_cmd *cmd, const struct tdm_ledger_query *query, struct tdm_ledgers *ledgers)
{
	struct tdm_diag diag = { 0 };
	*ledgers = (struct tdm_ledgers){ .source = tdm_ledger_source_open(query, &diag) };
	if (ledgers->source == NULL)
		return tdm_cmd_error(cmd, "%s", diag.text);
	struct tdm_registry *registry = tdm_registry_new();
	int origin = registry != NULL ? tdm_registry_origin(registry, "ledger", TDM_RANK_LEDGER) : -1;
	if (origin >= 0 && tdm_registry_read(registry, (unsigned)origin, ledgers->source) == 0)
		ledgers->snapshot = tdm_registry_snapshot(registry, TDM_SNAPSHOT_BUFFERS);
	tdm_registry_free(registry);
	return ledgers->snapshot != NULL ? 0 : tdm_cmd_error(cmd, "out of memory");
}

void tdm_ledgers_report(const struct tdm_ledgers *ledgers, bool ascii, struct tdm_live_report *report)
{
	report->dir = tdm_ledger_dir(report->dir);
	report->snapshot = ledgers->snapshot;
	report->ledgers = ledgers->source;
	report->term = tdm_term_detect(STDOUT_FILENO);
	report->term.utf8 &= !ascii;
}

void tdm_ledgers_done(struct tdm_ledgers *ledgers)
{
	tdm_snapshot_free(ledgers->snapshot);
	tdm_source_close(ledgers->source);
	*ledgers = (struct tdm_ledgers){ 0 };
}
