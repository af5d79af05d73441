/* Leaks as a result for text and JSON. */
#include "analyze/leaks/leaks.h"
#include "model/result/result.h"
#include "view/rows/live_result.h"
#include "view/rows/stack_rows.h"

/* Few people read more findings, and a program may end with thousands of unfreed buffer names. */
enum { FINDINGS_SHOWN = 50 };

/* Whether the finding matches the user's filters. Steady sites are left out elsewhere. */
static bool is_chosen(const struct tdm_live_report *report, const struct tdm_finding *finding)
{
	const struct tdm_buffer_filter *filter = &report->filter;
	const struct tdm_picture *picture = report->picture;
	const struct tdm_about *about = &finding->about;
	if (report->by_user &&
		(about->process >= picture->process_count || picture->processes[about->process].uid != report->uid))
		return false;
	return !(filter->has_kind && about->kind != filter->kind) &&
	       !(filter->has_device && about->device != filter->device) && finding->bytes >= report->min_bytes;
}

size_t tdm_leaks_chosen(const struct tdm_live_report *report, enum tdm_severity verdict)
{
	const struct tdm_findings *found = report->findings;
	size_t count = 0;
	for (size_t i = 0; i < found->count; i++)
		count += found->list[i].severity == verdict && is_chosen(report, &found->list[i]);
	return count;
}

/* The chosen findings, with the functions of their call stacks. */
static void show_leak_sites(struct tdm_block *in, const struct tdm_live_report *report)
{
	const struct tdm_findings *found = report->findings;
	struct tdm_findings shown = *found;
	struct tdm_stack_symbols symbols = { 0 };
	shown.list = tdm_result_alloc(in->result, shown.count, sizeof *shown.list);
	shown.count = 0;
	for (size_t i = 0; i < found->count; i++) {
		const struct tdm_finding *finding = &found->list[i];
		if ((!report->all && finding->severity == TDM_FINDING_OK) || !is_chosen(report, finding) ||
			(report->limit != 0 && shown.count == report->limit))
			continue;
		struct tdm_about *about = &shown.list[shown.count].about;
		shown.list[shown.count++] = *finding;
		about->frames = tdm_stack_table(&in->result->arena, report->picture,
			about->stack != 0 ? tdm_stack_symbols_get(&symbols, report->picture, about->process) : NULL,
			about->stack, &about->site, &about->trail);
		if (about->frames == NULL)
			about->site = tdm_finding_number(found, finding, "many_sites") == 1 ? "(many sites)"
											    : "(no name, no stack)";
	}
	tdm_stack_symbols_done(&symbols);
	struct tdm_block *block = tdm_show_findings(in, "sites", NULL, &shown);
	block->is_apart = true;
	block->findings.shows_fine = report->all;
	block->findings.limit = report->all ? 0 : FINDINGS_SHOWN;
	block->findings.rest = "--all lists them";
	block->findings.is_whole = report->stacks;
}

/* Freed buffers are known only from events, which are not sent to other machines. */
static bool knows_lifetimes(const struct tdm_live_report *report)
{
	return report->picture->hosts == NULL;
}

static void add_closing(
	struct tdm_block *in, const struct tdm_live_report *report, size_t leaks, size_t suspects, size_t steady)
{
	bool any_runs = false, was_watched = report->leaks->samples > 1;
	for (size_t i = 0; i < report->picture->process_count; i++)
		any_runs |= report->picture->processes[i].life != TDM_LIFE_ENDED;
	tdm_say(in,
		leaks + suspects == 0
			? "no leak found; {_steady/site is/sites are} steady|{_more} (--all lists them)"
			: "{_leaks/leak/leaks}, {_suspects/suspect/suspects}; {_steady/site is/sites are} "
			  "steady|{_more} (--all lists them)",
		TDM_VALUES({ "_leaks", tdm_value_count(leaks) }, { "_suspects", tdm_value_count(suspects) },
			{ "_steady", tdm_value_count(steady) },
			{ "_more", tdm_value_bool(steady != 0 && !report->all) }))
		->is_apart = true;
	if (report->leaks->samples == 1 && any_runs)
		tdm_say(in, "A single picture shows no growth; run 'tidemark leaks --for 30s'.", NULL);
	if (was_watched && !knows_lifetimes(report))
		tdm_say(in,
			"Other machines do not say how long freed buffers lived, so buffers that are freed late may "
			"look like leaks.",
			NULL);
	if (report->leaks->sites_left_out != 0)
		tdm_say(in, "{_buffers/buffer/buffers} of sites beyond the limit were not judged one by one.",
			TDM_VALUES({ "_buffers", tdm_value_count(report->leaks->sites_left_out) }));
}

static bool skip_undamaged(const struct tdm_table *table, const void *row)
{
	(void)table;
	return ((const struct tdm_picture_process *)row)->refused == 0;
}

size_t tdm_leaks_damaged(const struct tdm_live_report *live)
{
	size_t count = 0;
	for (size_t i = 0; i < live->picture->process_count; i++)
		count += live->picture->processes[i].refused != 0;
	return count;
}

static void show_damaged(struct tdm_block *in, const struct tdm_live_report *report)
{
	static const struct tdm_column columns[] = {
		{ NULL, "ledger", TDM_MEMBER(struct tdm_picture_process, ledger) },
		{ NULL, "damaged_records", TDM_MEMBER(struct tdm_picture_process, refused) },
	};
	const struct tdm_picture *picture = report->picture;
	struct tdm_table table = TDM_FITTED(columns, picture->processes, report->by_user ? 0 : picture->process_count);
	table.skip = skip_undamaged;
	tdm_add_table(in, "damaged", NULL, table)->is_data_only = true;
	for (size_t i = 0; i < picture->process_count; i++)
		if (picture->processes[i].refused != 0)
			tdm_say(in,
				"{_ledger}: damaged: {,_records} of its records cannot be believed, so leaks may be "
				"missing",
				TDM_VALUES({ "_ledger", tdm_value_text(picture->processes[i].ledger) },
					{ "_records", tdm_value_count(picture->processes[i].refused) }));
}

void tdm_leaks_show(struct tdm_block *in, const struct tdm_live_report *report)
{
	const struct tdm_leaks_result *found = report->leaks;
	size_t leaks = tdm_leaks_chosen(report, TDM_FINDING_BROKEN),
	       suspects = tdm_leaks_chosen(report, TDM_FINDING_WARNING),
	       steady = tdm_leaks_chosen(report, TDM_FINDING_OK);
	tdm_data_all(in,
		TDM_VALUES({ "directory", tdm_value_name(knows_lifetimes(report) ? report->dir : NULL) },
			{ "watched_ns", tdm_value_ns(found->watched_ns) },
			{ "interval_ns", tdm_value_if(report->interval_ns != 0, tdm_value_ns(report->interval_ns)) },
			{ "pictures", tdm_value_count(found->samples) },
			{ "lifetimes_known", tdm_value_bool(knows_lifetimes(report)) },
			{ "leaks", tdm_value_count(leaks) }, { "suspects", tdm_value_count(suspects) },
			{ "steady", tdm_value_count(steady) },
			{ "buffers_beyond_limit", tdm_value_count(found->sites_left_out) }));
	if (report->picture->process_count != 0)
		tdm_say(in,
			found->samples > 1
				? "watched {_processes/process/processes} for {_time}, {_samples/picture/pictures}"
				: "read {_processes/process/processes} once",
			TDM_VALUES({ "_processes", tdm_value_count(report->picture->process_count) },
				{ "_time", tdm_value_ns(found->watched_ns) },
				{ "_samples", tdm_value_count(found->samples) }));
	else if (tdm_live_unread_count(report) == 0)
		tdm_live_show_none(in, report);
	show_leak_sites(in, report);
	if (report->picture->process_count != 0)
		add_closing(in, report, leaks, suspects, steady);
	show_damaged(in, report);
	tdm_live_show_unread(in, report);
}
