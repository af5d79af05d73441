/* The kernels of a scan: where they are created, their source, and what they do with buffers. */
#include <inttypes.h>

#include "report/report_put.h"
#include "report/scan_report.h"
#include "scan/kernel_code.h"

static const struct tdm_scan_kernel_row *row_of(const struct tdm_field *field)
{
	return field->row;
}

static void put_use(const struct tdm_kernel_use *use, struct tdm_buf *out)
{
	if (use->index >= 0)
		tdm_buf_printf(out, "%" PRId32, use->index);
	else
		tdm_buf_puts(out, use->name[0] != '\0' ? use->name : use->buffer);
}

/* Whether an earlier use is of the same kind and buffer. */
static bool is_repeated(const struct tdm_kernel_uses *uses, size_t at)
{
	const struct tdm_kernel_use *use = &uses->list[at];
	for (size_t i = 0; i < at; i++) {
		const struct tdm_kernel_use *other = &uses->list[i];
		if (other->action == use->action && other->index == use->index && strcmp(other->name, use->name) == 0 &&
			(use->index >= 0 || strcmp(other->buffer, use->buffer) == 0))
			return true;
	}
	return false;
}

/* "waits on 0, 1" */
static void put_action(
	const struct tdm_kernel_uses *uses, enum tdm_kernel_action action, const char *verb, struct tdm_buf *out)
{
	bool any = false;
	for (size_t i = 0; uses != NULL && i < uses->count; i++) {
		if (uses->list[i].action != action || is_repeated(uses, i))
			continue;
		tdm_buf_puts(out, any ? ", " : out->len != 0 ? "; " : "");
		tdm_buf_puts(out, any ? "" : verb);
		put_use(&uses->list[i], out);
		any = true;
	}
}

static void put_more(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_scan_kernel *kernel = row_of(field)->kernel;
	const struct tdm_scan_report *report = field->table->context;
	struct tdm_buf text;
	tdm_buf_init(&text);
	if (kernel->code != NULL)
		tdm_buf_printf(&text, "%" PRIu32 " line%s, complexity %" PRIu32, kernel->code->code_lines,
			tdm_plural(kernel->code->code_lines), kernel->code->complexity);
	else if (kernel->source_count > 1)
		tdm_buf_printf(&text, "one of %" PRIu32 " sources", kernel->source_count);
	else
		tdm_buf_puts(&text, "its source is not among the scanned files");
	put_action(kernel->uses, TDM_KERNEL_WAIT, "waits on ", &text);
	put_action(kernel->uses, TDM_KERNEL_PUSH, "pushes ", &text);
	tdm_scan_put_below(report, &text, out);
}

static const struct tdm_kernel_code *code_of(const struct tdm_field *field)
{
	return row_of(field)->kernel->code;
}

static void json_code(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_kernel_code *code = code_of(field);
	tdm_json_put_known(json, "lines", code != NULL, code != NULL ? code->lines : 0);
	tdm_json_put_known(json, "code_lines", code != NULL, code != NULL ? code->code_lines : 0);
	tdm_json_put_known(json, "complexity", code != NULL, code != NULL ? code->complexity : 0);
	tdm_json_put_known(json, "max_complexity", code != NULL, code != NULL ? code->max_complexity : 0);
}

/* A bound of pages; null when there is none. */
static void json_pages(struct tdm_json *json, const char *key, int64_t pages, int64_t none)
{
	tdm_json_key(json, key);
	if (pages == none)
		tdm_json_null(json);
	else
		tdm_json_i64(json, pages);
}

static void json_use(const struct tdm_scan *scan, const struct tdm_kernel_use *use, struct tdm_json *json)
{
	tdm_json_object(json);
	tdm_json_put_text(json, "action", tdm_kernel_action_name((enum tdm_kernel_action)use->action));
	tdm_json_put_known(json, "index", use->index >= 0, (uint64_t)use->index);
	tdm_json_put_name(json, "name", use->name);
	tdm_json_put_name(json, "buffer", use->buffer);
	tdm_json_put_name(json, "pages", use->pages);
	json_pages(json, "pages_min", use->pages_min, INT64_MIN);
	json_pages(json, "pages_max", use->pages_max, INT64_MAX);
	tdm_json_put_text(json, "file", use->file < scan->file_count ? scan->files[use->file].path : NULL);
	tdm_json_put_u64(json, "line", use->line);
	tdm_json_put_bool(json, "is_conditional", use->is_conditional);
	tdm_json_put_bool(json, "in_loop", use->in_loop);
	tdm_json_object_end(json);
}

static void json_uses(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_kernel_uses *uses = row_of(field)->kernel->uses;
	const struct tdm_scan_report *report = field->table->context;
	tdm_json_array(json);
	for (size_t i = 0; uses != NULL && i < uses->count; i++)
		json_use(report->scan, &uses->list[i], json);
	tdm_json_array_end(json);
}

static void json_sources(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_scan_kernel *kernel = row_of(field)->kernel;
	const struct tdm_scan_report *report = field->table->context;
	tdm_json_array(json);
	for (uint32_t i = 0; i < kernel->source_count; i++)
		tdm_json_text(json, report->scan->files[kernel->sources[i]].path);
	tdm_json_array_end(json);
}

static struct tdm_value gap_of(const struct tdm_field *field)
{
	const struct tdm_kernel_uses *uses = row_of(field)->kernel->uses;
	return tdm_value_text(
		uses != NULL && uses->gap_text != NULL && uses->gap_text[0] != '\0' ? uses->gap_text : NULL);
}

static void json_reasons(struct tdm_json *json, uint16_t reasons)
{
	tdm_json_put_array(json, "why");
	for (int reason = 0; reason < TDM_UNJUDGED_COUNT; reason++)
		if ((reasons & 1u << reason) != 0)
			tdm_json_text(json, tdm_unjudged_text((enum tdm_unjudged)reason));
	tdm_json_array_end(json);
}

/* What was compared of one kernel; the rows of JSON are all kernels. */
static void json_verdict(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_scan_report *report = field->table->context;
	const struct tdm_mismatches *mismatches = &report->verdict->mismatches;
	size_t at = (size_t)(row_of(field) - (const struct tdm_scan_kernel_row *)field->table->rows);
	tdm_json_object(json);
	if (at < mismatches->verdict_count) {
		const struct tdm_kernel_verdict *verdict = &mismatches->verdicts[at];
		tdm_json_put_u64(json, "judged", verdict->judged);
		tdm_json_put_u64(json, "not_judged", verdict->unjudged);
		json_reasons(json, verdict->reasons);
	}
	tdm_json_object_end(json);
}

static struct tdm_value bytes_of(const struct tdm_field *field)
{
	const struct tdm_scan_report *report = field->table->context;
	uint32_t file = row_of(field)->kernel->source_file;
	bool is_found = file != 0 && file <= report->scan->file_count;
	return tdm_value_number(is_found ? report->scan->files[file - 1].bytes : UINT64_MAX);
}

#define KERNEL(member)        TDM_VIA(struct tdm_scan_kernel_row, kernel, struct tdm_scan_kernel, member)
#define KERNEL_FILE(member)   TDM_VIA(struct tdm_scan_kernel_row, file, struct tdm_scan_file, member)
#define KERNEL_PROGRAM(field) TDM_VIA(struct tdm_scan_kernel_row, program, struct tdm_scan_program, field)
static const struct tdm_column kernels[] = {
	{ NULL, "file", KERNEL_FILE(path) },
	{ "line", "line", KERNEL(line), .width = 5 },
	{ "kernel", "source", KERNEL(source), .flags = TDM_ZERO_IS_UNKNOWN | TDM_WHOLE, .width = 50 },
	{ NULL, "source_file", TDM_MEMBER(struct tdm_scan_kernel_row, source_path) },
	{ NULL, "source_files", .json = json_sources },
	{ "name", "name", KERNEL(name), .flags = TDM_ZERO_IS_UNKNOWN | TDM_REST, .width = 12, .below = put_more },
	{ NULL, "cores", KERNEL(cores), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "program", KERNEL_PROGRAM(name) },
	{ NULL, "bytes", .get = bytes_of },
	{ NULL, NULL, .json = json_code },
	{ NULL, "uses", .json = json_uses },
	{ NULL, "not_understood", .get = gap_of },
	{ NULL, "checks", .json = json_verdict },
};

struct tdm_table tdm_scan_kernel_table(
	const struct tdm_scan_report *report, const struct tdm_scan_kernel_row *rows, size_t count)
{
	struct tdm_table table = TDM_TABLE_OF(kernels, rows, count);
	table.context = report;
	return table;
}

static uint64_t unjudged(const struct tdm_mismatches *mismatches, int reason)
{
	uint64_t count = 0;
	for (int kind = 0; kind < TDM_MISMATCH_KINDS; kind++)
		count += mismatches->unjudged[kind][reason];
	return count;
}

/* Kernels by how much of them was compared with the host. */
static void put_kernels(const struct tdm_mismatches *mismatches, struct tdm_json *json)
{
	uint64_t wholly = 0, partly = 0, none = 0, idle = 0;
	for (size_t i = 0; i < mismatches->verdict_count; i++) {
		const struct tdm_kernel_verdict *verdict = &mismatches->verdicts[i];
		bool is_missed = verdict->unjudged != 0 || verdict->reasons != 0;
		wholly += verdict->judged != 0 && !is_missed;
		partly += verdict->judged != 0 && is_missed;
		none += verdict->judged == 0 && is_missed;
		idle += verdict->judged == 0 && !is_missed;
	}
	tdm_json_put_object(json, "kernels");
	tdm_json_put_u64(json, "count", mismatches->verdict_count);
	tdm_json_put_u64(json, "wholly", wholly);
	tdm_json_put_u64(json, "partly", partly);
	tdm_json_put_u64(json, "not", none);
	tdm_json_put_u64(json, "without_operations", idle);
	tdm_json_object_end(json);
}

static uint64_t kernels_with(const struct tdm_mismatches *mismatches, int reason)
{
	uint64_t count = 0;
	for (size_t i = 0; i < mismatches->verdict_count; i++)
		count += (mismatches->verdicts[i].reasons & 1u << reason) != 0;
	return count;
}

void tdm_scan_checks_json(const struct tdm_mismatches *mismatches, struct tdm_json *json)
{
	tdm_json_put_object(json, "kernel_checks");
	put_kernels(mismatches, json);
	tdm_json_put_object(json, "judged");
	for (int kind = 0; kind < TDM_MISMATCH_KINDS; kind++)
		tdm_json_put_u64(json, tdm_mismatch_name((enum tdm_mismatch_kind)kind), mismatches->judged[kind]);
	tdm_json_object_end(json);
	tdm_json_put_array(json, "not_judged");
	for (int reason = 0; reason < TDM_UNJUDGED_COUNT; reason++) {
		if (unjudged(mismatches, reason) == 0 && kernels_with(mismatches, reason) == 0)
			continue;
		tdm_json_object(json);
		tdm_json_put_text(json, "why", tdm_unjudged_text((enum tdm_unjudged)reason));
		tdm_json_put_u64(json, "count", unjudged(mismatches, reason));
		tdm_json_put_u64(json, "kernels", kernels_with(mismatches, reason));
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_object_end(json);
}
