#include "report/info_tables.h"
#include "base/wrap.h"
#include "report/finding_report.h"
#include "sources/error_text.h"

#include <inttypes.h>
#include <stdio.h>

enum { INDENT = 2, DEVICES_SHOWN = 8, ARCH_COLUMNS = 24 };

/* ---- peaks ---- */

struct peak {
	uint8_t figure;
	bool is_rare; /* not shown when it is 0 */
	const char *what;
};

static struct tdm_value get_right(const struct tdm_field *field)
{
	const struct tdm_info_capture_report *r = field->table->context;
	return tdm_value_number(tdm_info_size(r->summary->right[((const struct peak *)field->row)->figure]));
}

static struct tdm_value get_stock(const struct tdm_field *field)
{
	const struct tdm_stock_result *f =
		&((const struct tdm_info_capture_report *)field->table->context)->summary->figures;
	int figure = ((const struct peak *)field->row)->figure;
	return tdm_value_number(f->known[figure] ? f->value[figure] : TDM_BYTES_UNKNOWN);
}

static struct tdm_value get_key(const struct tdm_field *field)
{
	return tdm_value_text(tdm_stock_key((enum tdm_stock_figure)((const struct peak *)field->row)->figure));
}

/* "<=" marks an upper bound: program memory that may belong to several programs has been added up. */
static void put_right(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_info_capture_report *r = field->table->context;
	uint8_t figure = ((const struct peak *)field->row)->figure;
	uint64_t right = get_right(field).number;
	bool is_bound = r->summary->exact.undivided != 0 && figure != TDM_STOCK_DRAM_PEAK &&
			figure != TDM_STOCK_CORE_PEAK_L1 && right != TDM_BYTES_UNKNOWN;
	char bytes[TDM_BYTES_CAP], marked[TDM_BYTES_CAP + 2];
	tdm_format_bytes(bytes, sizeof bytes, right);
	snprintf(marked, sizeof marked, "%s%s", is_bound ? "<=" : "", bytes + strspn(bytes, " "));
	int more = (int)strlen(marked) > TDM_BYTES_COLUMNS ? (int)strlen(marked) - TDM_BYTES_COLUMNS : 0;
	tdm_buf_printf(out, "%*s %*s", TDM_BYTES_COLUMNS, marked, 15 - more,
		right != TDM_BYTES_UNKNOWN ? TDM_COUNT_TEXT(right) : "");
}

static bool is_nothing(const struct tdm_table *table, const void *row)
{
	const struct tdm_field field = { table, row, NULL, NULL };
	return ((const struct peak *)row)->is_rare && get_right(&field).number == 0 && get_stock(&field).number == 0;
}

static const struct tdm_column peak_columns[] = {
	{ "Peaks", NULL, TDM_MEMBER(struct peak, what), .width = 24 },
	{ "       exact", NULL, .text = put_right, .flags = TDM_WHOLE, .width = 26 },
	{ "runtime's own ", NULL, .get = get_stock, TDM_COUNT(15), .unknown = "unknown" },
	{ "", NULL, .get = get_key, .before = 1 },
};

/* The peaks: the right figure, the runtime's figure, and the runtime's name for it. */
static void put_peaks(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	static const struct peak rows[] = {
		{ TDM_STOCK_DRAM_PEAK, false, "  DRAM of one device" },
		{ TDM_STOCK_L1_PEAK, false, "  L1 of one device" },
		{ TDM_STOCK_CORE_PEAK_TOTAL, false, "  L1 of the fullest core" },
		{ TDM_STOCK_CORE_PEAK_L1, false, "    buffers" },
		{ TDM_STOCK_CORE_PEAK_CB, false, "    circular buffers" },
		{ TDM_STOCK_CORE_PEAK_DFB, true, "    dataflow buffers" },
		{ TDM_STOCK_CORE_PEAK_SCRATCHPAD, true, "    scratchpads" },
	};
	struct tdm_table table = TDM_TABLE_OF(peak_columns, rows, sizeof rows / sizeof *rows);
	table.skip = is_nothing;
	table.context = r;
	table.limit = SIZE_MAX;
	tdm_put_table(out, &r->file, table);
}

/* ---- findings ---- */

static void put_reasons(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	struct tdm_findings found = { 0 };
	tdm_capture_find(r->summary, TDM_CAPTURE_REASONS, &found);
	tdm_capture_find(r->summary, TDM_CAPTURE_UNKNOWN, &found);
	if (found.count != 0)
		tdm_put_heading(out, &r->file.term, "Why they differ");
	tdm_findings_text(&found, &r->file.term, out);
}

static void put_remarks(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	struct tdm_findings found = { 0 };
	tdm_capture_find(r->summary, TDM_CAPTURE_REMARKS, &found);
	tdm_buf_puts(out, found.count != 0 ? "\n" : "");
	tdm_findings_text(&found, &r->file.term, out);
}

/* "3 releases of unknown buffers" and so on, on one line. */
static void put_faults(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	struct tdm_findings found = { 0 };
	struct tdm_finding_view view = { .findings = &found, .term = r->file.term };
	tdm_capture_find(r->summary, TDM_CAPTURE_FAULTS, &found);
	for (size_t i = 0; i < found.count; i++) {
		tdm_buf_puts(out, i == 0 ? tdm_term_style(&r->file.term, TDM_STYLE_YELLOW) : ", ");
		tdm_buf_puts(out, i == 0 ? "Faults         " : "");
		tdm_finding_sentence(&view, &found.list[i], out);
	}
	if (found.count != 0)
		tdm_buf_printf(out, "%s\n", tdm_term_style(&r->file.term, TDM_STYLE_OFF));
	out->failed |= tdm_findings_done(&found);
}

static void json_reasons(const struct tdm_info_capture_report *r, struct tdm_json *json)
{
	struct tdm_findings found = { 0 };
	tdm_capture_find(r->summary, TDM_CAPTURE_REASONS, &found);
	tdm_json_put_array(json, "reasons");
	tdm_findings_json(&found, json);
	tdm_json_array_end(json);
}

/* ---- errors ---- */

void tdm_info_error_line(const char *message, bool utf8, struct tdm_buf *out)
{
	enum { COLUMNS = 400 };
	static const char info[] = "\ninfo:\n";
	struct tdm_failure failure;
	struct tdm_str text = tdm_str_of(message);
	size_t end;
	if (tdm_error_text_find(text, 0, &failure, &end)) {
		tdm_failure_text(&failure, out);
		return;
	}
	/* The runtime puts the location before the message. */
	const char *said = strstr(message, info);
	if (said != NULL)
		text = tdm_str_of(said + sizeof info - 1);
	text.len = strcspn(text.ptr, "\r\n");
	tdm_cell_put(out, text.len != 0 ? text : tdm_str_of("no message"), COLUMNS, utf8);
}

static void put_errors(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	size_t shown = tdm_min(r->summary->errors_kept, r->file.limit);
	struct tdm_buf line;
	tdm_buf_init(&line);
	if (r->summary->error_count != 0)
		tdm_buf_printf(out, "\n%sErrors in the capture: %s%s\n", tdm_term_style(&r->file.term, TDM_STYLE_BOLD),
			TDM_COUNT_TEXT(r->summary->error_count), tdm_term_style(&r->file.term, TDM_STYLE_OFF));
	for (size_t i = 0; i < shown; i++, tdm_buf_clear(&line)) {
		const struct tdm_capture_error *error = &r->summary->errors[i];
		tdm_buf_printf(&line, "node %" PRIu64 "%s", error->node, error->operation[0] != '\0' ? " in " : "");
		tdm_cell_put(&line, tdm_str_of(error->operation), 0, r->file.term.utf8);
		tdm_buf_puts(&line, ": ");
		tdm_info_error_line(error->message, r->file.term.utf8, &line);
		tdm_buf_fill(out, ' ', INDENT);
		tdm_wrap(out, tdm_buf_str(&line), (struct tdm_wrap){ INDENT, 2 * INDENT, r->file.term.width });
	}
	tdm_put_rest(out, r->summary->error_count, shown);
	out->failed |= line.failed;
	tdm_buf_done(&line);
}

void tdm_info_error_find(
	const char *place, uint64_t number, const char *operation, const char *message, struct tdm_findings *found)
{
	struct tdm_buf line;
	tdm_buf_init(&line);
	tdm_info_error_line(message, true, &line);
	tdm_findings_remark(found, TDM_FINDING_BROKEN, "error", NULL);
	tdm_findings_position(found, place, TDM_UNIT_COUNT, number);
	tdm_findings_say(found, "%s %" PRIu64 "%s%s: %s", place, number, operation[0] != '\0' ? " in " : "", operation,
		tdm_buf_str(&line).ptr);
	found->failed |= line.failed;
	tdm_buf_done(&line);
}

void tdm_info_errors_lost(uint64_t count, struct tdm_findings *found)
{
	tdm_findings_counted(
		found, TDM_FINDING_BROKEN, "more_errors", NULL, count, "more error in it", "more errors in it");
}

void tdm_capture_errors_find(const struct tdm_capture_summary *summary, struct tdm_findings *found)
{
	for (size_t i = 0; i < summary->errors_kept; i++) {
		const struct tdm_capture_error *error = &summary->errors[i];
		tdm_info_error_find("node", error->node, error->operation, error->message, found);
	}
	tdm_info_errors_lost(summary->error_count - summary->errors_kept, found);
}

static struct tdm_value get_error_type(const struct tdm_field *field)
{
	struct tdm_failure failure;
	size_t end;
	struct tdm_str message = tdm_str_of(((const struct tdm_capture_error *)field->row)->message);
	bool is_known = tdm_error_text_find(message, 0, &failure, &end);
	return tdm_value_text(is_known ? tdm_failure_name((enum tdm_failure_type)failure.type) : NULL);
}

static void json_error(const struct tdm_field *field, struct tdm_json *json)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_info_error_line(((const struct tdm_capture_error *)field->row)->message, true, &text);
	tdm_json_str(json, tdm_buf_str(&text));
	json->out->failed |= text.failed;
	tdm_buf_done(&text);
}

#define ERROR(member) TDM_MEMBER(struct tdm_capture_error, member)
static const struct tdm_column error_columns[] = {
	{ NULL, "node", ERROR(node) },
	{ NULL, "operation", ERROR(operation), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "sort", .get = get_error_type },
	{ NULL, "summary", .json = json_error },
	{ NULL, "message", ERROR(message) },
};

/* ---- text ---- */

/* "device 1 (chip 4, 5)"; without the chips if their number is that of the device. */
static void put_device(const struct tdm_info_capture_report *r, const struct tdm_exact_unit *unit, struct tdm_buf *out)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	size_t chips = 0, start;
	bool has_other = false;
	if (!unit->has_id) {
		tdm_buf_puts(out, "the device");
		return;
	}
	tdm_buf_printf(out, "device %" PRIu64, unit->id);
	start = out->len;
	for (size_t i = 0; i < e->chip_count; i++) {
		if (e->chips[i].unit != (size_t)(unit - e->units))
			continue;
		has_other |= e->chips[i].id != unit->id;
		if (chips++ < DEVICES_SHOWN)
			tdm_buf_printf(out, "%s%" PRIu64, chips == 1 ? " (chip " : ", ", e->chips[i].id);
	}
	if (chips > DEVICES_SHOWN)
		tdm_buf_printf(out, " and %zu more", chips - DEVICES_SHOWN);
	tdm_buf_puts(out, chips != 0 ? ")" : "");
	out->len = has_other ? out->len : start;
}

/* "?" when it is `unknown`. */
static const char *count_text(char dst[24], uint64_t count, uint64_t unknown)
{
	snprintf(dst, 24, "%" PRIu64, count);
	return count != unknown ? dst : "?";
}

static void put_described(const struct tdm_capture_device *d, bool utf8, struct tdm_buf *out)
{
	char id[24], x[24], y[24], channels[24];
	tdm_put_label(out, "");
	tdm_buf_printf(out, "%s: ", count_text(id, d->id, TDM_BYTES_UNKNOWN));
	tdm_cell_put(out, tdm_str_of(d->arch[0] != '\0' ? d->arch : "unknown architecture"), ARCH_COLUMNS, utf8);
	tdm_buf_printf(out, ", %s x %s cores with %s of L1 each, %s DRAM channels of %s\n", count_text(x, d->grid_x, 0),
		count_text(y, d->grid_y, 0),
		TDM_SIZE_TEXT(d->worker_l1_size != 0 ? d->worker_l1_size : TDM_BYTES_UNKNOWN),
		count_text(channels, d->dram_channels, 0),
		TDM_SIZE_TEXT(d->dram_channel_size != 0 ? d->dram_channel_size : TDM_BYTES_UNKNOWN));
}

static void put_devices(
	const struct tdm_info_capture_report *r, const struct tdm_exact_unit *const *devices, struct tdm_buf *out)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	tdm_put_label(out, "Devices");
	for (size_t i = 0; i < e->unit_count && i < DEVICES_SHOWN; i++) {
		tdm_buf_puts(out, i == 0 ? "" : ", ");
		if (e->unit_count == 1 && !e->units[i].has_id)
			tdm_buf_puts(out, "one; the capture does not name it");
		else
			put_device(r, devices[i], out);
	}
	if (e->unit_count > DEVICES_SHOWN)
		tdm_buf_printf(out, " and %zu more", e->unit_count - DEVICES_SHOWN);
	tdm_buf_puts(out, e->unit_count == 0 ? "none\n" : "\n");
	for (size_t i = 0; i < e->device_count && i < DEVICES_SHOWN; i++)
		put_described(&e->devices[i], r->file.term.utf8, out);
}

static void put_head(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	uint64_t nodes = r->summary->counts.nodes, calls = 0;
	for (size_t i = 1; i < e->paths.count; i++)
		calls += e->paths.paths[i].calls;
	tdm_put_title(out, "Graph capture", &r->file);
	tdm_buf_printf(out, ": %s node%s, %s call%s, %s buffer%s, %s\n", TDM_COUNT_TEXT(nodes), tdm_plural(nodes),
		TDM_COUNT_TEXT(calls), tdm_plural(calls), TDM_COUNT_TEXT(e->buffer_count), tdm_plural(e->buffer_count),
		TDM_SIZE_TEXT(r->summary->counts.bytes));
}

/* "When DRAM was fullest: device 0, 2.04 MiB at node 17" */
static void put_moment(const struct tdm_info_capture_report *r, const char *what, const struct tdm_exact_unit *unit,
	const struct tdm_exact_peak *peak, struct tdm_buf *out)
{
	tdm_buf_putc(out, '\n');
	tdm_put_styled(out, &r->file.term, TDM_STYLE_BOLD, what);
	tdm_buf_puts(out, ": ");
	put_device(r, unit, out);
	tdm_buf_printf(out, ", %s at node %" PRIu32, TDM_SIZE_TEXT(tdm_info_size(peak->bytes)), peak->at);
}

static void put_moments(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	size_t core_at = tdm_capture_fullest(e, TDM_STOCK_CORE_PEAK_TOTAL);
	size_t dram_at = tdm_capture_fullest(e, TDM_STOCK_DRAM_PEAK);
	if (core_at != SIZE_MAX) {
		const struct tdm_exact_unit *u = &e->units[core_at];
		const struct tdm_table table = tdm_info_program_table(r, u);
		bool is_known = tdm_capture_peak(e, core_at, TDM_STOCK_CORE_PEAK_TOTAL) != INT64_MIN;
		put_moment(r, "When L1 was fullest", u, &u->core, out);
		if (u->has_peak_core)
			tdm_buf_printf(out, " in core %" PRIu32 "-%" PRIu32, u->peak_x, u->peak_y);
		tdm_buf_puts(out, is_known ? "\n" : ", without buffers of unknown bytes per bank\n");
		tdm_info_alive(r, u, false, out, NULL);
		tdm_table_text(&table, &r->file.term, out);
	}
	if (dram_at != SIZE_MAX) {
		put_moment(r, "When DRAM was fullest", &e->units[dram_at], &e->units[dram_at].dram, out);
		tdm_buf_putc(out, '\n');
		tdm_info_alive(r, &e->units[dram_at], true, out, NULL);
	}
}

void tdm_info_capture_text(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	const struct tdm_exact_unit *devices[TDM_EXACT_UNITS_MAX];
	const struct tdm_table by_device = tdm_info_device_table(r, devices);
	put_head(r, out);
	put_devices(r, devices, out);
	tdm_put_cut(out, &r->file);
	put_faults(r, out);
	put_errors(r, out);
	put_peaks(r, out);
	put_reasons(r, out);
	if (by_device.count > 1)
		tdm_put_table(out, &r->file, by_device);
	put_moments(r, out);
	tdm_info_operations(r, out, NULL);
	put_remarks(r, out);
}

/* ---- JSON ---- */

static void json_stock(const struct tdm_info_capture_report *r, struct tdm_json *json)
{
	static const char *const groups[] = { "dram", "l1", "core" };
	const struct tdm_stock_result *f = &r->summary->figures;
	tdm_json_put_object(json, "stock");
	tdm_json_put_text(json, "source", "capture");
	for (int i = 0; i < TDM_STOCK_FIGURES; i++)
		tdm_json_put_known(json, tdm_stock_key((enum tdm_stock_figure)i), f->known[i], f->value[i]);
	tdm_json_put_object(json, "unknown");
	for (int group = 0; group < TDM_STOCK_GROUPS; group++)
		if (f->why[group][0] != '\0')
			tdm_json_put_text(json, groups[group], f->why[group]);
	tdm_json_object_end(json);
	tdm_json_object_end(json);
}

static void json_exact(const struct tdm_info_capture_report *r, struct tdm_json *json)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	const struct tdm_exact_unit *devices[TDM_EXACT_UNITS_MAX];
	const struct tdm_table by_device = tdm_info_device_table(r, devices);
	tdm_json_put_object(json, "exact");
	tdm_json_put_text(json, "source", "capture");
	for (int i = 0; i < TDM_STOCK_FIGURES; i++)
		if (i != TDM_STOCK_DRAM_ALLOCATIONS && i != TDM_STOCK_DRAM_DEALLOCATIONS)
			tdm_json_put_bytes(
				json, tdm_stock_key((enum tdm_stock_figure)i), tdm_info_size(r->summary->right[i]));
	tdm_json_put_u64(json, "unknown_releases", e->unknown_frees);
	tdm_json_put_u64(json, "double_releases", e->double_frees);
	tdm_json_put_u64(json, "second_allocations", e->rereports);
	tdm_json_put_u64(json, "views", e->views);
	tdm_json_put_u64(json, "undivided", e->undivided);
	tdm_json_put_u64(json, "ignored", e->ignored);
	tdm_json_put_table(json, "devices", &by_device);
	tdm_info_operations(r, NULL, json);
	tdm_info_existing(r, json);
	tdm_json_object_end(json);
}

void tdm_info_capture_json(const struct tdm_info_capture_report *r, struct tdm_json *json)
{
	const struct tdm_table described = tdm_info_described_table(r);
	struct tdm_table errors = TDM_TABLE_OF(error_columns, r->summary->errors, r->summary->errors_kept);
	errors.limit = r->file.limit;
	tdm_json_put_bool(json, "complete", !r->file.cut);
	tdm_json_put_u64(json, "bytes", r->summary->counts.bytes);
	tdm_json_put_u64(json, "nodes", r->summary->counts.nodes);
	tdm_json_put_u64(json, "refused_nodes", r->summary->counts.refused);
	tdm_json_put_u64(json, "cut_texts", r->summary->counts.cut_texts);
	tdm_json_put_u64(json, "unknown_types", r->summary->counts.other_types);
	tdm_json_put_u64(json, "error_count", r->summary->error_count);
	tdm_json_put_table(json, "errors", &errors);
	tdm_json_put_table(json, "devices", &described);
	json_stock(r, json);
	json_exact(r, json);
	json_reasons(r, json);
}
