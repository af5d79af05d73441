#include "report/live_report.h"
#include "report/stack_report.h"

#include <stdlib.h>

static void put_site(const struct tdm_live_report *report, struct tdm_symbolizer *sym, const struct tdm_site *site,
	struct tdm_json *json)
{
	const struct tdm_picture *picture = report->picture;
	bool has_age = site->oldest_ns != 0 && site->oldest_ns <= picture->time_ns;
	tdm_json_object(json);
	tdm_json_put_name(json, "kind", tdm_kind_name((enum tdm_kind)site->kind));
	tdm_json_put_name(json, "name", tdm_picture_text(picture, site->name));
	tdm_json_put_u64(json, "buffers", site->count);
	tdm_json_put_u64(json, "reserved_bytes", site->reserved_bytes);
	tdm_json_put_u64(json, "asked_bytes", site->asked_bytes);
	tdm_json_put_known(json, "oldest_age_ns", has_age, picture->time_ns - site->oldest_ns);
	tdm_json_key(json, "stack");
	tdm_stack_json(picture, sym, site->stack, json);
	tdm_json_object_end(json);
}

static void put_sites(const struct tdm_live_report *report, size_t process, struct tdm_json *json)
{
	struct tdm_site *sites;
	size_t count;
	if (tdm_sites_find(report->picture, (uint32_t)process, &sites, &count) != 0)
		json->out->failed = true;
	struct tdm_symbolizer *sym = count != 0 ? tdm_stack_symbolizer(report->picture, process) : NULL;
	tdm_json_put_array(json, "live_sites");
	for (size_t i = 0; i < count; i++)
		put_site(report, sym, &sites[i], json);
	tdm_json_array_end(json);
	tdm_symbolizer_free(sym);
	free(sites);
}

void tdm_run_json(const struct tdm_live_report *report, const struct tdm_run_end *end, struct tdm_json *json)
{
	tdm_json_object(json);
	tdm_json_put_array(json, "command");
	for (size_t i = 0; end->command[i] != NULL; i++)
		tdm_json_text(json, end->command[i]);
	tdm_json_array_end(json);
	tdm_json_put_u64(json, "exit_code", (uint64_t)end->exit_code);
	tdm_json_put_known(json, "signal", end->signal != 0, (uint64_t)end->signal);
	tdm_json_put_u64(json, "duration_ns", end->took_ns);
	tdm_json_put_u64(json, "still_running", end->still_running);
	tdm_live_json_processes(report, put_sites, json);
	tdm_live_json_problems(report, json);
	tdm_json_object_end(json);
}
