/*
 * Every finding has the same members in JSON: positions, subject, type, severity, sentence, figures and texts, holes,
 * advice. The names of the members depend on the family, because each command had its own names before findings were
 * unified; NULL leaves the member out.
 */
#include "report/finding_report.h"
#include "analyze/failure_finding.h"
#include "report/report_put.h"

/* The parts of a finding's subject that its family shows. */
enum { PROCESS = 1, DEVICE = 2, KIND = 4, NAME = 8, STACK = 16, FIGURE = 32, REPLAY = 64 };

static const struct {
	const char *what, *severity, *sentence;
	const char *severities[TDM_SEVERITIES];
	const char *holes, *advice, *command;
	uint8_t about;
} families[TDM_FAMILIES] = {
	[TDM_FAMILY_DOCTOR] = { "check", "state", "found", { "ok", "info", "warning", "broken" }, .advice = "advice",
		.command = "command" },
	[TDM_FAMILY_LEAK] = { "why", "verdict", "reason", { "steady", "steady", "suspect", "leak" },
		.about = PROCESS | DEVICE | KIND | NAME | STACK },
	[TDM_FAMILY_REPLAY] = { "cause", .holes = "largest_holes", .advice = "advice", .about = NAME },
	[TDM_FAMILY_CAPTURE] = { "reason", .sentence = "text", .about = FIGURE },
	[TDM_FAMILY_FAILURE] = { "sort", .sentence = "summary", .about = KIND },
	[TDM_FAMILY_BUDGET] = { "finding", "severity", "text", { "ok", "info", "warning", "broken" }, .about = NAME },
	[TDM_FAMILY_SCAN] = { "finding", "severity", "text", { "ok", "info", "warning", "broken" }, .advice = "advice",
		.about = NAME },
	[TDM_FAMILY_RUN] = { "finding", "severity", "text", { "ok", "info", "warning", "danger" }, .advice = "advice",
		.about = PROCESS | DEVICE | KIND | NAME | STACK | REPLAY },
	[TDM_FAMILY_PRESSURE] = { .severities = { "LOW", NULL, "MEDIUM", "HIGH" } }, /* its figure has the name */
};

const char *tdm_finding_severity_name(enum tdm_finding_family family, enum tdm_severity severity)
{
	return severity < TDM_SEVERITIES ? families[family].severities[severity] : "unknown";
}

static void put_stack(struct tdm_finding_view *view, const char *key, const struct tdm_about *about, uint32_t stack,
	struct tdm_json *json)
{
	tdm_json_key(json, key);
	if (stack != 0)
		tdm_stack_json(view->picture, tdm_stack_symbols_get(&view->symbols, view->picture, about->process),
			stack, json);
	else
		tdm_json_null(json);
}

static void put_about(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_json *json)
{
	const struct tdm_about *about = &finding->about;
	uint8_t shown = families[finding->family].about;
	if (shown & FIGURE)
		tdm_json_put_name(json, "figure", about->name);
	if (shown & PROCESS) {
		const struct tdm_picture_host *host = view->picture->processes[about->process].host;
		tdm_json_put_name(json, "host", host != NULL ? host->name : NULL);
		tdm_json_put_known(json, "pid", about->pid != 0, (uint64_t)about->pid);
		tdm_json_put_name(json, "comm", about->comm);
		tdm_json_put_name(json, "ledger", about->ledger);
	}
	if (shown & DEVICE) {
		tdm_json_put_known(json, "device", about->device >= 0, (uint64_t)about->device);
		tdm_json_put_bool(json, "virtual", about->is_virtual);
	}
	if (shown & KIND)
		tdm_json_put_name(
			json, "kind", about->kind < TDM_KIND_COUNT ? tdm_kind_name((enum tdm_kind)about->kind) : NULL);
	if (shown & NAME)
		tdm_json_put_name(json, "name", about->name);
	if (shown & STACK)
		put_stack(view, "stack", about, about->stack, json);
	if (shown & REPLAY)
		put_stack(view, "replay_stack", about, about->replay_stack, json);
}

void tdm_core_range_json(const struct tdm_core_range *range, struct tdm_json *json)
{
	if (!tdm_core_range_is_valid(range)) {
		tdm_json_null(json);
		return;
	}
	tdm_json_object(json);
	tdm_json_put_u64(json, "x0", range->x0);
	tdm_json_put_u64(json, "y0", range->y0);
	tdm_json_put_u64(json, "x1", range->x1);
	tdm_json_put_u64(json, "y1", range->y1);
	tdm_json_object_end(json);
}

static void put_figure(const struct tdm_figure *figure, enum tdm_finding_family family, struct tdm_json *json)
{
	tdm_json_key(json, figure->key);
	if (figure->unit == TDM_UNIT_WORD)
		tdm_json_text(json, figure->word);
	else if (figure->unit == TDM_UNIT_CHANGE)
		tdm_json_i64(json, (int64_t)figure->number);
	else if (figure->unit == TDM_UNIT_CAUSE)
		tdm_json_text(json, tdm_cause_name((enum tdm_cause)figure->number));
	else if (figure->unit == TDM_UNIT_SEVERITY)
		tdm_json_text(json, tdm_finding_severity_name(family, (enum tdm_severity)figure->number));
	else if (figure->unit == TDM_UNIT_CORES)
		tdm_core_range_json(&figure->cores, json);
	else if (figure->unit == TDM_UNIT_FLAG)
		tdm_json_bool(json, figure->number != 0);
	else if (figure->unit < TDM_UNIT_FLAG)
		tdm_json_bytes(json, figure->number);
	else
		tdm_json_double(json, figure->real);
}

/* Positions, or all other figures. */
static void put_figures(
	const struct tdm_findings *all, const struct tdm_finding *finding, bool positions, struct tdm_json *json)
{
	for (size_t i = 0; i < finding->figures.count; i++) {
		const struct tdm_figure *figure = &all->figures[finding->figures.first + i];
		if ((figure->is_evidence && figure->unit != TDM_UNIT_WORD) == positions)
			put_figure(figure, (enum tdm_finding_family)finding->family, json);
	}
}

static const struct tdm_hole_bound *bound_of(const struct tdm_field *field)
{
	const struct tdm_hole *hole = field->row;
	return field->column->arg == 0 ? &hole->below : &hole->above;
}

static void put_bound(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_hole_bound *bound = bound_of(field);
	tdm_buf_puts(out, bound->is_buffer ? bound->name.text : "end of region");
	if (bound->is_buffer)
		tdm_buf_printf(out, " (%s)", TDM_SIZE_TEXT(bound->bytes));
}

static void json_bound(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_hole_bound *bound = bound_of(field);
	if (!bound->is_buffer) {
		tdm_json_null(json);
		return;
	}
	tdm_json_object(json);
	tdm_json_put_text(json, "name", bound->name.text);
	tdm_json_put_bytes(json, "bytes", bound->bytes);
	tdm_json_object_end(json);
}

#define HOLE(member) TDM_MEMBER(struct tdm_hole, member)
#define BOUND        .text = put_bound, .json = json_bound, .width = 24, .flags = TDM_WHOLE
static const struct tdm_column hole_columns[] = {
	{ "hole at", "address", HOLE(address), .width = 12 },
	{ "size", "bytes", HOLE(size), TDM_BYTES },
	{ "buffer below", "below", BOUND, .arg = 0 },
	{ "buffer above", "above", BOUND, .arg = 1 },
};

struct tdm_table tdm_hole_table(const struct tdm_hole *holes, size_t count)
{
	return (struct tdm_table){ TDM_COLUMNS(hole_columns), holes, sizeof *holes, count, .indent = 2, .gap = 2 };
}

struct tdm_table tdm_finding_holes(const struct tdm_findings *findings, const struct tdm_finding *finding)
{
	size_t count = finding->holes.count;
	return tdm_hole_table(count != 0 ? &findings->holes[finding->holes.first] : NULL, count);
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

void tdm_finding_keys(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_json *json)
{
	const struct tdm_findings *all = view->findings;
	enum tdm_finding_family family = (enum tdm_finding_family)finding->family;
	const struct tdm_advice *advice = finding->advice.count != 0 ? &all->advice[finding->advice.first] : NULL;
	put_figures(all, finding, true, json);
	put_about(view, finding, json);
	if (families[family].what != NULL)
		tdm_json_put_text(json, families[family].what, finding->what);
	if (families[family].severity != NULL)
		tdm_json_put_text(json, families[family].severity,
			tdm_finding_severity_name(family, (enum tdm_severity)finding->severity));
	bool is_sentence_last = (families[family].about & FIGURE) != 0;
	if (families[family].sentence != NULL && !is_sentence_last)
		put_sentence(view, finding, json);
	put_figures(all, finding, false, json);
	if (is_sentence_last)
		put_sentence(view, finding, json);
	if (families[family].holes != NULL) {
		const struct tdm_table holes = tdm_finding_holes(all, finding);
		tdm_json_key(json, families[family].holes);
		tdm_table_json(&holes, json);
	}
	if (families[family].advice != NULL) {
		tdm_json_put_text(json, families[family].advice, advice != NULL ? advice->text : NULL);
		if (families[family].command != NULL)
			tdm_json_put_text(json, families[family].command, advice != NULL ? advice->command : NULL);
	}
	if (advice != NULL && advice->change.key != NULL) {
		tdm_json_key(json, "change");
		tdm_json_object(json);
		put_figure(&advice->change, family, json);
		tdm_json_object_end(json);
	}
}

void tdm_finding_json(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_json *json)
{
	tdm_json_object(json);
	tdm_finding_keys(view, finding, json);
	tdm_json_object_end(json);
}

void tdm_findings_json(struct tdm_findings *found, struct tdm_json *json)
{
	struct tdm_finding_view view = { .findings = found };
	for (size_t i = 0; i < found->count; i++)
		tdm_finding_json(&view, &found->list[i], json);
	json->out->failed |= tdm_findings_done(found);
}

void tdm_failure_json(const struct tdm_failure *failure, struct tdm_json *json)
{
	struct tdm_findings found = { 0 };
	tdm_failure_find(failure, &found);
	tdm_findings_json(&found, json);
}
