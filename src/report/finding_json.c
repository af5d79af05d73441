/*
 * Every finding has the same members in JSON: what it is, how bad, its sentence, what it is about, its figures, its
 * evidence and its advice. What they are called differs, because each command had its names before there was one kind
 * of finding; a name that is NULL leaves the member out.
 */
#include "report/finding_report.h"

static const struct {
	const char *what, *severity, *sentence;
	const char *severities[TDM_SEVERITIES];
	const char *advice, *command;
	bool has_about;
	const char *figure; /* the figure that it is about; the family's sentence comes last */
} families[TDM_FAMILIES] = {
	[TDM_FAMILY_DOCTOR] = { "check", "state", "found", { "ok", "info", "warning", "broken" }, "advice", "command",
		false },
	[TDM_FAMILY_LEAK] = { "why", "verdict", "reason", { "steady", "steady", "suspect", "leak" }, NULL, NULL, true },
	[TDM_FAMILY_REPLAY] = { "cause", NULL, NULL, { NULL }, NULL, NULL, false },
	[TDM_FAMILY_CAPTURE] = { "reason", NULL, "text", { NULL }, NULL, NULL, false, "figure" },
	[TDM_FAMILY_FAILURE] = { "sort", NULL, "summary", { NULL }, NULL, NULL, false },
	[TDM_FAMILY_PRESSURE] = { "indicator", "band", NULL, { "LOW", "LOW", "MEDIUM", "HIGH" }, NULL, NULL, false },
};

const char *tdm_finding_severity_name(enum tdm_finding_family family, enum tdm_severity severity)
{
	return severity < TDM_SEVERITIES ? families[family].severities[severity] : "unknown";
}

static void put_about(struct tdm_finding_view *view, const struct tdm_about *about, struct tdm_json *json)
{
	tdm_json_put_known(json, "pid", about->pid != 0, (uint64_t)about->pid);
	tdm_json_put_name(json, "comm", about->comm);
	tdm_json_put_name(json, "ledger", about->ledger);
	tdm_json_put_known(json, "device", about->device >= 0, (uint64_t)about->device);
	tdm_json_put_bool(json, "virtual", about->is_virtual);
	tdm_json_put_name(
		json, "kind", about->kind < TDM_KIND_COUNT ? tdm_kind_name((enum tdm_kind)about->kind) : NULL);
	tdm_json_put_name(json, "name", about->name);
	tdm_json_key(json, "stack");
	struct tdm_symbolizer *sym =
		about->stack != 0 ? tdm_stack_symbols_get(&view->symbols, view->picture, about->process) : NULL;
	if (about->stack != 0)
		tdm_stack_json(view->picture, sym, about->stack, json);
	else
		tdm_json_null(json);
}

static void put_figure(const struct tdm_figure *figure, struct tdm_json *json)
{
	tdm_json_key(json, figure->key);
	if (figure->unit == TDM_UNIT_WORD)
		tdm_json_text(json, figure->word);
	else if (figure->is_real)
		tdm_json_double(json, figure->real);
	else if (figure->unit == TDM_UNIT_CHANGE)
		tdm_json_i64(json, (int64_t)figure->number);
	else if (figure->unit == TDM_UNIT_FLAG)
		tdm_json_bool(json, figure->number != 0);
	else
		tdm_json_bytes(json, figure->number);
}

static void put_evidence(const struct tdm_evidence *evidence, struct tdm_json *json)
{
	tdm_json_key(json, evidence->key);
	if (evidence->text != NULL)
		tdm_json_text(json, evidence->text);
	else
		tdm_json_bytes(json, evidence->number);
}

static void put_sentence(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_json *json)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_finding_sentence(view, finding, &text);
	tdm_json_key(json, families[finding->family].sentence);
	tdm_json_str(json, tdm_buf_str(&text));
	json->out->failed |= text.failed;
	tdm_buf_done(&text);
}

void tdm_finding_json(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_json *json)
{
	const struct tdm_findings *all = view->findings;
	const struct tdm_advice *advice = finding->advice.count != 0 ? &all->advice[finding->advice.first] : NULL;
	bool is_sentence_last = families[finding->family].figure != NULL;
	tdm_json_object(json);
	if (families[finding->family].figure != NULL)
		tdm_json_put_text(json, families[finding->family].figure, finding->about.name);
	tdm_json_put_text(json, families[finding->family].what, finding->what);
	if (families[finding->family].severity != NULL)
		tdm_json_put_text(json, families[finding->family].severity,
			tdm_finding_severity_name(
				(enum tdm_finding_family)finding->family, (enum tdm_severity)finding->severity));
	for (size_t i = 0; i < finding->evidence.count; i++)
		put_evidence(&all->evidence[finding->evidence.first + i], json);
	if (families[finding->family].sentence != NULL && !is_sentence_last)
		put_sentence(view, finding, json);
	if (families[finding->family].has_about)
		put_about(view, &finding->about, json);
	for (size_t i = 0; i < finding->figures.count; i++)
		put_figure(&all->figures[finding->figures.first + i], json);
	if (is_sentence_last)
		put_sentence(view, finding, json);
	if (families[finding->family].advice != NULL) {
		tdm_json_put_text(json, families[finding->family].advice, advice != NULL ? advice->text : NULL);
		tdm_json_put_text(json, families[finding->family].command, advice != NULL ? advice->command : NULL);
	}
	tdm_json_object_end(json);
}
