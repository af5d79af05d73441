#include "analyze/explain/failure_finding.h"
#include "base/arena.h"
#include "input/log/error_text.h"

#include <inttypes.h>

enum tdm_cause tdm_failure_cause(const struct tdm_failure *f)
{
	if (f->type != TDM_FAILURE_OUT_OF_MEMORY && f->type != TDM_FAILURE_DEPENDENCIES)
		return TDM_CAUSE_UNKNOWN;
	enum tdm_cause cause = tdm_cause_of(f->bytes_per_bank, f->bank_size, f->free, f->largest_free);
	return cause != TDM_CAUSE_UNKNOWN
		       ? cause
		       : tdm_cause_of(f->bytes_per_bank, TDM_BYTES_UNKNOWN, f->placeable, f->largest_placeable);
}

/* ---- in words ---- */

#define ON_CORES "on cores {core_range}| and {_more_ranges/more range/more ranges/}"
#define OF_BANKS                                                                                                  \
	"{asked_bytes}| of {kind}|, {bytes_per_bank} in each| of {#banks} banks| of {bank_size}|; free {free}|, " \
	"in one piece {largest_free}|; with its dependencies {placeable}|, in one piece {largest_placeable}|; {_why}"
#define CBS    "{=dataflow/dataflow buffers/circular buffers}"
#define CLASH  CBS "| of program {#program}| " ON_CORES "| end at {#region_end}|, the lowest L1 buffer is at {#address}"
#define BEYOND CBS "| " ON_CORES "| end at {#region_end}|, L1 ends at {#limit}"
#define STACK  "{asked_bytes} used| of {limit}| " ON_CORES "|: {name}"
static const char *const patterns[TDM_FAILURE_COUNT] = {
	[TDM_FAILURE_OUT_OF_MEMORY] = OF_BANKS,
	[TDM_FAILURE_DEPENDENCIES] = OF_BANKS,
	[TDM_FAILURE_BELOW_LIMIT] = "the only place is at {#address}|, below the limit {#limit}",
	[TDM_FAILURE_BEYOND_L1] = BEYOND,
	[TDM_FAILURE_CLASH] = CLASH,
	[TDM_FAILURE_SERVICE_CLASH] = CLASH,
	[TDM_FAILURE_PROGRAM_SIZE] = "the program has {asked_bytes}|, the buffer {limit}| on {name}",
	[TDM_FAILURE_TRACE_REGION] = "the trace needs {asked_bytes}|, the region has {limit}",
	[TDM_FAILURE_TRACE_OVERLAP] = "at address {#address}| with {name}",
	[TDM_FAILURE_WORKER_L1] = "{asked_bytes}|, at most {limit}",
	[TDM_FAILURE_SEGMENT] =
		"{asked_bytes}| at {#address}|, the region has {limit}|too large by {excess_bytes}|: {name}",
	[TDM_FAILURE_CB_RESIZE] = "{asked_bytes}|, at most {limit}",
	[TDM_FAILURE_UNSAFE_TRACE] = "what is allocated now may be overwritten when the trace runs",
	[TDM_FAILURE_L1_CAPACITY] = "{asked_bytes}|, at most {limit}",
	[TDM_FAILURE_STACK] = STACK,
	[TDM_FAILURE_CB_OVERFLOW] = "",
	[TDM_FAILURE_L1_ACCESS] = "{asked_bytes}| at {#address}",
	[TDM_FAILURE_MISMATCH] = "{,wrong_values} values are not the expected ones|{_text}",
	[TDM_FAILURE_OTHER] = "{text}",
};

static const char *why(enum tdm_cause cause)
{
	return cause == TDM_CAUSE_TOO_LARGE    ? "it would not fit an empty bank"
	       : cause == TDM_CAUSE_EXHAUSTED  ? "less than that is free"
	       : cause == TDM_CAUSE_FRAGMENTED ? "enough is free, but in pieces"
					       : NULL;
}

void tdm_failure_find(const struct tdm_failure *f, struct tdm_findings *out)
{
	static const struct tdm_core_range unknown = { 1, 1, 0, 0 };
	bool is_warning = tdm_failure_is_warning(f);
	struct tdm_finding *finding =
		tdm_findings_add(out, TDM_FAMILY_FAILURE, tdm_failure_name((enum tdm_failure_type)f->type),
			is_warning ? TDM_FINDING_WARNING : TDM_FINDING_BROKEN);
	finding->code = f->type;
	finding->title = tdm_failure_title((enum tdm_failure_type)f->type);
	finding->pattern = patterns[f->type];
	finding->about.kind = f->kind;
	tdm_findings_flag(out, "warning", is_warning);
	tdm_findings_word(out, "cause", tdm_cause_name(tdm_failure_cause(f)));
	for (size_t i = 0; i < TDM_FAILURE_FIGURE_COUNT; i++)
		tdm_findings_figure(out, tdm_failure_keys[i], TDM_UNIT_BYTES, f->figures[i]);
	tdm_findings_flag(out, "dataflow", f->is_dataflow);
	tdm_findings_cores(out, "core_range", f->has_range ? &f->range : &unknown);
	tdm_findings_figure(out, "core_ranges", TDM_UNIT_COUNT, f->range_count);
	tdm_findings_figure(out, "refused_figures", TDM_UNIT_COUNT, f->refused);
	tdm_findings_place(out, "name", f->name);
	tdm_findings_place(out, "text", f->text);
	tdm_findings_word(out, "_why", why(tdm_failure_cause(f)));
	if (f->range_count > 1)
		tdm_findings_figure(out, "_more_ranges", TDM_UNIT_COUNT, f->range_count - 1);
	if (f->wrong == TDM_BYTES_UNKNOWN) /* the message contains more detail than the title */
		tdm_findings_place(out, "_text", f->text);
}

void tdm_failure_put(const struct tdm_failure *f, struct tdm_buf *out)
{
	struct tdm_findings found = { 0 };
	tdm_failure_find(f, &found);
	tdm_finding_sentence_put(&found, found.list, out);
	tdm_findings_done(&found);
}

/* ---- exception messages ---- */

enum { LINE_CAP = 400 };

/* Reduces a message to one line, in the buffer `line`. Returns the name of the failure, or NULL. */
static const char *summarise(struct tdm_str message, struct tdm_buf *line)
{
	static const char info[] = "\ninfo:\n";
	struct tdm_failure failure;
	char shown[LINE_CAP];
	size_t end;
	if (tdm_error_text_find(message, 0, &failure, &end)) {
		tdm_failure_put(&failure, line);
		return tdm_failure_name((enum tdm_failure_type)failure.type);
	}
	const char *said = tdm_str_find(message, info);
	struct tdm_str rest = said != NULL ? tdm_str_rest(message, said + sizeof info - 1) : message;
	struct tdm_str text = tdm_str_trim(tdm_str_take_line(&rest));
	tdm_buf_puts(line, text.len != 0 ? tdm_str_shown(text, shown, sizeof shown) : "no message");
	return NULL;
}

void tdm_error_find(
	const char *place, uint64_t number, struct tdm_str operation, struct tdm_str message, struct tdm_findings *out)
{
	struct tdm_buf line = { 0 };
	summarise(message, &line);
	tdm_findings_add(out, TDM_FAMILY_CAPTURE, "error", TDM_FINDING_BROKEN);
	tdm_findings_position(out, place, TDM_UNIT_COUNT, number);
	tdm_findings_say(out, "%s %" PRIu64 "%s%.*s: %s", place, number, operation.len != 0 ? " in " : "",
		TDM_STR_ARG(operation), tdm_buf_str(&line).ptr);
	tdm_buf_done(&line);
}

void tdm_errors_lost(uint64_t count, struct tdm_findings *out)
{
	if (count == 0)
		return;
	tdm_findings_add(out, TDM_FAMILY_CAPTURE, "more_errors", TDM_FINDING_BROKEN)->pattern =
		"{count/more error/more errors} in it";
	tdm_findings_figure(out, "count", TDM_UNIT_COUNT, count);
}

struct tdm_value tdm_error_sort(const struct tdm_field *field)
{
	struct tdm_buf line = { 0 };
	const char *name = summarise(tdm_field_member(field).text, &line);
	tdm_buf_done(&line);
	return tdm_value_text(name);
}

struct tdm_value tdm_error_summary(const struct tdm_field *field)
{
	struct tdm_buf line = { 0 };
	summarise(tdm_field_member(field).text, &line);
	return tdm_value_str(tdm_arena_buf(field->scratch, &line));
}
