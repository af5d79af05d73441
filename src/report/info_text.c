#include "base/wrap.h"
#include "report/finding_report.h"
#include "report/info_report.h"
#include "sources/error_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHAPE_COLUMNS = 28, INDENT = 2, CHIPS_SHOWN = 8 };

void tdm_info_error_put(const struct tdm_capture_error *error, bool utf8, struct tdm_buf *out)
{
	enum { COLUMNS = 400 };
	static const char info[] = "\ninfo:\n";
	struct tdm_failure failure;
	struct tdm_str text = tdm_str_of(error->message);
	size_t end;
	if (tdm_error_text_find(text, 0, &failure, &end)) {
		tdm_failure_text(&failure, out);
		return;
	}
	/* The runtime puts where it happened before what happened. */
	const char *said = strstr(error->message, info);
	if (said != NULL)
		text = tdm_str_of(said + sizeof info - 1);
	text.len = strcspn(text.ptr, "\r\n");
	tdm_cell_put(out, text.len != 0 ? text : tdm_str_of("no message"), COLUMNS, utf8);
}

/* Appends a path, its end when it does not fit: the innermost function says most. */
static void put_path(const struct tdm_info_capture_report *r, uint32_t path, size_t columns, struct tdm_buf *out)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_capture_paths_put(&r->summary->exact.paths, path, &text);
	struct tdm_str s = tdm_buf_str(&text);
	if (s.len == 0)
		s = tdm_str_of("outside of functions");
	if (columns > 3 && s.len > columns) {
		tdm_buf_puts(out, "...");
		s.ptr += s.len - (columns - 3);
		s.len = columns - 3;
	}
	tdm_cell_put(out, s, columns, r->file.term.utf8);
	out->failed |= text.failed;
	tdm_buf_done(&text);
}

/* What is left of the line for the last column. */
static size_t columns_left(const struct tdm_info_capture_report *r, size_t used)
{
	return r->file.term.width > used + 20 ? r->file.term.width - used : 20;
}

/* No chip that goes by another number than the device. */
static bool is_its_own_chip(const struct tdm_capture_exact *e, size_t unit)
{
	for (size_t i = 0; i < e->chip_count; i++)
		if (e->chips[i].unit == unit && e->chips[i].id != e->units[unit].id)
			return false;
	return true;
}

static void put_device(const struct tdm_info_capture_report *r, size_t index, struct tdm_buf *out)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	const struct tdm_exact_unit *unit = &e->units[index];
	size_t chips = 0;
	if (!unit->has_id) {
		tdm_buf_puts(out, "the device");
		return;
	}
	tdm_buf_printf(out, "device %" PRIu64, unit->id);
	if (is_its_own_chip(e, index))
		return;
	for (size_t i = 0; i < e->chip_count; i++) {
		if (e->chips[i].unit != index)
			continue;
		if (chips < CHIPS_SHOWN)
			tdm_buf_printf(out, "%s%" PRIu64, chips == 0 ? " (chip " : ", ", e->chips[i].id);
		chips++;
	}
	if (chips > CHIPS_SHOWN)
		tdm_buf_printf(out, " and %zu more", chips - CHIPS_SHOWN);
	if (chips != 0)
		tdm_buf_putc(out, ')');
}

/* "?" where it is `unknown`. */
static void put_count(struct tdm_buf *out, uint64_t count, uint64_t unknown)
{
	if (count != unknown)
		tdm_buf_printf(out, "%" PRIu64, count);
	else
		tdm_buf_putc(out, '?');
}

static void put_devices(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	tdm_buf_puts(out, "Devices        ");
	uint16_t order[TDM_EXACT_UNITS_MAX];
	tdm_capture_device_order(e, order);
	for (size_t i = 0; i < e->unit_count && i < CHIPS_SHOWN; i++) {
		tdm_buf_puts(out, i == 0 ? "" : ", ");
		if (e->unit_count == 1 && !e->units[i].has_id)
			tdm_buf_puts(out, "one; the capture does not name it");
		else
			put_device(r, order[i], out);
	}
	if (e->unit_count > CHIPS_SHOWN)
		tdm_buf_printf(out, " and %zu more", e->unit_count - CHIPS_SHOWN);
	tdm_buf_puts(out, e->unit_count == 0 ? "none\n" : "\n");
	for (size_t i = 0; i < e->device_count && i < CHIPS_SHOWN; i++) {
		const struct tdm_capture_device *d = &e->devices[i];
		char l1[TDM_BYTES_CAP], dram[TDM_BYTES_CAP];
		tdm_buf_printf(out, "%15s", "");
		put_count(out, d->id, TDM_BYTES_UNKNOWN);
		tdm_buf_puts(out, ": ");
		tdm_cell_put(
			out, tdm_str_of(d->arch[0] != '\0' ? d->arch : "unknown architecture"), 24, r->file.term.utf8);
		tdm_buf_puts(out, ", ");
		put_count(out, d->grid_x, 0);
		tdm_buf_puts(out, " x ");
		put_count(out, d->grid_y, 0);
		tdm_buf_printf(out, " cores with %s of L1 each, ",
			tdm_format_bytes_short(
				l1, sizeof l1, d->worker_l1_size != 0 ? d->worker_l1_size : TDM_BYTES_UNKNOWN));
		put_count(out, d->dram_channels, 0);
		tdm_buf_printf(out, " DRAM channels of %s\n",
			tdm_format_bytes_short(dram, sizeof dram,
				d->dram_channel_size != 0 ? d->dram_channel_size : TDM_BYTES_UNKNOWN));
	}
}

/* "3 unknown frees" and so on, on one line. */
static void put_faults(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	const struct {
		uint64_t count;
		const char *one, *many;
	} items[] = {
		{ r->summary->counts.refused, "node cannot be used", "nodes cannot be used" },
		{ r->summary->counts.cut_texts, "text too long", "texts too long" },
		{ r->summary->counts.other_types, "node of an unknown type", "nodes of unknown types" },
		{ e->unknown_frees, "release of an unknown buffer", "releases of unknown buffers" },
		{ e->double_frees, "double release", "double releases" },
		{ e->rereports, "second allocation of a live buffer", "second allocations of live buffers" },
		{ e->ignored, "node above a limit", "nodes above a limit" },
		{ e->paths.overflow, "call that could not be told apart", "calls that could not be told apart" },
	};
	const char *style = tdm_term_style(&r->file.term, TDM_STYLE_YELLOW),
		   *off = tdm_term_style(&r->file.term, TDM_STYLE_OFF);
	bool any = false;
	tdm_put_cut(out, &r->file);
	for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
		char count[TDM_BYTES_CAP];
		if (items[i].count == 0)
			continue;
		tdm_buf_printf(out, "%s%s%s %s", any ? "" : style, any ? ", " : "Faults         ",
			tdm_format_count(count, sizeof count, items[i].count),
			items[i].count == 1 ? items[i].one : items[i].many);
		any = true;
	}
	if (any)
		tdm_buf_printf(out, "%s\n", off);
}

static void put_head(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	char nodes[TDM_BYTES_CAP], calls[TDM_BYTES_CAP], buffers[TDM_BYTES_CAP], bytes[TDM_BYTES_CAP];
	uint64_t all_calls = 0;
	for (size_t i = 1; i < e->paths.count; i++)
		all_calls += e->paths.paths[i].calls;
	tdm_put_title(out, "Graph capture", &r->file);
	tdm_buf_printf(out, ": %s node%s, %s call%s, %s buffer%s, %s\n",
		tdm_format_count(nodes, sizeof nodes, r->summary->counts.nodes), tdm_plural(r->summary->counts.nodes),
		tdm_format_count(calls, sizeof calls, all_calls), tdm_plural(all_calls),
		tdm_format_count(buffers, sizeof buffers, e->buffer_count), tdm_plural(e->buffer_count),
		tdm_format_bytes_short(bytes, sizeof bytes, r->summary->counts.bytes));
	put_devices(r, out);
	put_faults(r, out);
}

static void put_errors(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	char count[TDM_BYTES_CAP];
	size_t kept = r->summary->errors_kept < r->file.limit ? r->summary->errors_kept : r->file.limit;
	if (r->summary->error_count == 0)
		return;
	tdm_buf_printf(out, "\n%sErrors in the capture: %s%s\n", tdm_term_style(&r->file.term, TDM_STYLE_BOLD),
		tdm_format_count(count, sizeof count, r->summary->error_count),
		tdm_term_style(&r->file.term, TDM_STYLE_OFF));
	for (size_t i = 0; i < kept; i++) {
		struct tdm_buf line;
		tdm_buf_init(&line);
		tdm_buf_printf(&line, "node %" PRIu64, r->summary->errors[i].node);
		if (r->summary->errors[i].operation[0] != '\0') {
			tdm_buf_puts(&line, " in ");
			tdm_cell_put(&line, tdm_str_of(r->summary->errors[i].operation), 0, r->file.term.utf8);
		}
		tdm_buf_puts(&line, ": ");
		tdm_info_error_put(&r->summary->errors[i], r->file.term.utf8, &line);
		tdm_buf_fill(out, ' ', INDENT);
		tdm_wrap(out, tdm_buf_str(&line), (struct tdm_wrap){ INDENT, 2 * INDENT, r->file.term.width });
		out->failed |= line.failed;
		tdm_buf_done(&line);
	}
	if (r->summary->error_count > kept)
		tdm_buf_printf(
			out, "  and %s more\n", tdm_format_count(count, sizeof count, r->summary->error_count - kept));
}

static uint64_t shown(int64_t bytes)
{
	return bytes == INT64_MIN ? TDM_BYTES_UNKNOWN : bytes < 0 ? 0 : (uint64_t)bytes;
}

/* The peaks: the right one, the runtime's own, its name there. */
static void put_peaks(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	static const struct {
		uint8_t figure;
		const char *what;
	} rows[] = {
		{ TDM_STOCK_DRAM_PEAK, "DRAM of one device" },
		{ TDM_STOCK_L1_PEAK, "L1 of one device" },
		{ TDM_STOCK_CORE_PEAK_TOTAL, "L1 of the fullest core" },
		{ TDM_STOCK_CORE_PEAK_L1, "  buffers" },
		{ TDM_STOCK_CORE_PEAK_CB, "  circular buffers" },
		{ TDM_STOCK_CORE_PEAK_DFB, "  dataflow buffers" },
		{ TDM_STOCK_CORE_PEAK_SCRATCHPAD, "  scratchpads" },
	};
	const struct tdm_capture_summary *s = r->summary;
	tdm_put_heading(out, &r->file.term, "Peaks                           exact                runtime's own");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int figure = rows[i].figure;
		char right[TDM_BYTES_CAP], exact[TDM_BYTES_CAP], stock[TDM_BYTES_CAP];
		bool is_zero = s->right[figure] == 0 && s->figures.known[figure] && s->figures.value[figure] == 0;
		if (is_zero && (figure == TDM_STOCK_CORE_PEAK_DFB || figure == TDM_STOCK_CORE_PEAK_SCRATCHPAD))
			continue;
		tdm_format_bytes(right, sizeof right, shown(s->right[figure]));
		tdm_format_count(exact, sizeof exact, shown(s->right[figure]));
		if (s->figures.known[figure])
			tdm_format_count(stock, sizeof stock, s->figures.value[figure]);
		else
			snprintf(stock, sizeof stock, "unknown");
		tdm_buf_printf(out, "  %-22s %s %15s %15s  %s\n", rows[i].what, right,
			s->right[figure] == INT64_MIN ? "" : exact, stock,
			tdm_stock_key((enum tdm_stock_figure)figure));
	}
}

static void put_reasons(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	const struct tdm_capture_summary *s = r->summary;
	bool any = s->reason_count != 0;
	for (int group = 0; group < TDM_STOCK_GROUPS; group++)
		any = any || s->figures.why[group][0] != '\0';
	if (!any)
		return;
	tdm_put_heading(out, &r->file.term, "Why they differ");
	for (size_t i = 0; i < s->reason_count; i++) {
		const struct tdm_capture_reason *reason = &s->reasons[i];
		char bytes[TDM_BYTES_CAP], sign[TDM_BYTES_CAP + 1];
		uint64_t size = reason->bytes < 0 ? (uint64_t)-reason->bytes : (uint64_t)reason->bytes;
		snprintf(sign, sizeof sign, "%c%s", reason->bytes < 0 ? '-' : '+',
			tdm_format_count(bytes, sizeof bytes, size));
		tdm_buf_printf(out, "  %-20s %15s  %s\n", tdm_stock_key((enum tdm_stock_figure)reason->figure),
			reason->code == TDM_REASON_WRAPPED ? "" : sign,
			tdm_capture_reason_text((enum tdm_capture_reason_code)reason->code));
	}
	static const char *const names[TDM_STOCK_GROUPS] = { "dram_*", "l1_peak", "core_peak_*" };
	for (int group = 0; group < TDM_STOCK_GROUPS; group++)
		if (s->figures.why[group][0] != '\0')
			tdm_buf_printf(out, "  %-20s %15s  %s\n", names[group], "unknown", s->figures.why[group]);
}

static void put_by_device(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	if (e->unit_count < 2)
		return;
	tdm_put_heading(out, &r->file.term,
		"By device        DRAM   L1 device    L1 core  L1 buffers     circular  fullest core");
	uint16_t order[TDM_EXACT_UNITS_MAX];
	tdm_capture_device_order(e, order);
	for (size_t i = 0; i < e->unit_count && i < r->file.limit; i++) {
		const struct tdm_exact_unit *u = &e->units[order[i]];
		bool known = tdm_capture_banks_known(u);
		char label[32], cells[5][TDM_BYTES_CAP];
		int64_t figures[] = { u->dram.bytes, tdm_capture_cores_known(e, order[i]) ? u->device.bytes : INT64_MIN,
			known ? u->core.bytes : INT64_MIN, known ? u->l1_core.bytes : INT64_MIN,
			u->program[TDM_PROGRAM_CB].bytes };
		for (int k = 0; k < 5; k++)
			tdm_format_bytes(cells[k], sizeof cells[k], shown(figures[k]));
		snprintf(label, sizeof label, "%" PRIu64, u->id);
		tdm_buf_printf(out, "  %-9s %s  %s %s  %s   %s", u->has_id ? label : "-", cells[0], cells[1], cells[2],
			cells[3], cells[4]);
		if (u->has_peak_core)
			tdm_buf_printf(out, "  %" PRIu32 "-%" PRIu32, u->peak_x, u->peak_y);
		tdm_buf_putc(out, '\n');
	}
	tdm_put_rest(out, e->unit_count, r->file.limit);
}

static void put_buffer_row(
	const struct tdm_info_capture_report *r, const struct tdm_exact_buffer *b, struct tdm_buf *out)
{
	char size[TDM_BYTES_CAP], bank[TDM_BYTES_CAP];
	tdm_buf_printf(out, "  %s %s %-10s %8" PRIu32 "  ", tdm_format_bytes(size, sizeof size, b->size),
		tdm_format_bytes(bank, sizeof bank, b->bank_bytes), tdm_kind_name((enum tdm_kind)b->kind), b->index);
	struct tdm_str shape = tdm_capture_paths_text_of(&r->summary->exact.paths, b->shape);
	size_t used = tdm_cell_put(out, shape.len != 0 ? shape : tdm_str_of("-"), SHAPE_COLUMNS, r->file.term.utf8);
	tdm_buf_fill(out, ' ', SHAPE_COLUMNS + 2 - used);
	if (b->existed)
		tdm_buf_puts(out, "before the capture");
	else
		put_path(r, b->path, columns_left(r, 75), out);
	tdm_buf_putc(out, '\n');
}

static void put_alive(
	const struct tdm_info_capture_report *r, size_t unit, unsigned kinds, uint32_t at, struct tdm_buf *out)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	size_t cap = r->file.limit < e->buffer_count ? r->file.limit : e->buffer_count;
	const struct tdm_exact_buffer **list = calloc(cap != 0 ? cap : 1, sizeof *list);
	if (list == NULL) {
		out->failed = true;
		return;
	}
	size_t count = tdm_capture_exact_alive(e, unit, kinds, at, list, cap);
	if (count != 0)
		tdm_buf_printf(out, "  %10s %10s %-10s %8s  %-28s  %s\n", "size", "per bank", "kind", "node", "tensor",
			"allocated by");
	for (size_t i = 0; i < cap && i < count; i++)
		put_buffer_row(r, list[i], out);
	tdm_put_rest(out, count, cap);
	free(list);
}

/* "Alive when DRAM was fullest: device 0, node 17, 2.04 MiB, in ttnn.matmul" */
static void put_moment(const struct tdm_info_capture_report *r, const char *what, size_t unit,
	const struct tdm_exact_peak *peak, struct tdm_buf *out)
{
	char bytes[TDM_BYTES_CAP];
	tdm_buf_printf(out, "\n%s%s%s: ", tdm_term_style(&r->file.term, TDM_STYLE_BOLD), what,
		tdm_term_style(&r->file.term, TDM_STYLE_OFF));
	put_device(r, unit, out);
	tdm_buf_printf(out, ", %s at node %" PRIu32, tdm_format_bytes_short(bytes, sizeof bytes, shown(peak->bytes)),
		peak->at);
}

static void put_program(const struct tdm_info_capture_report *r, size_t unit, struct tdm_buf *out)
{
	static const char *const kinds[] = { "cb", "dfb", "scratchpad" };
	size_t count;
	const struct tdm_exact_program *list = tdm_capture_exact_program(&r->summary->exact, unit, &count);
	if (count == 0)
		return;
	tdm_buf_printf(out, "  %10s %10s %-10s %8s  %-28s  %s\n", "per core", "cores", "kind", "node", "address",
		"allocated by");
	for (size_t i = 0; i < count && i < r->file.limit; i++) {
		char size[TDM_BYTES_CAP], address[TDM_BYTES_CAP], cores[TDM_BYTES_CAP];
		snprintf(cores, sizeof cores, "%" PRIu32, list[i].cores);
		snprintf(address, sizeof address, "%" PRIu64, list[i].address);
		tdm_buf_printf(out, "  %s %10s %-10s %8" PRIu32 "  %-28s  ",
			tdm_format_bytes(size, sizeof size, list[i].size), list[i].cores != 0 ? cores : "unknown",
			kinds[list[i].kind], list[i].node, list[i].address != 0 ? address : "-");
		put_path(r, list[i].path, columns_left(r, 75), out);
		tdm_buf_putc(out, '\n');
	}
	tdm_put_rest(out, count, r->file.limit);
}

static void put_moments(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	size_t core = tdm_capture_fullest_core(e), dram = tdm_capture_fullest_dram(e);
	if (core != SIZE_MAX) {
		const struct tdm_exact_unit *u = &e->units[core];
		put_moment(r, "When L1 was fullest", core, &u->core, out);
		if (u->has_peak_core)
			tdm_buf_printf(out, " in core %" PRIu32 "-%" PRIu32, u->peak_x, u->peak_y);
		tdm_buf_puts(out, tdm_capture_banks_known(u) ? "\n" : ", without buffers of unknown bytes per bank\n");
		put_alive(r, core, 1U << TDM_KIND_L1 | 1U << TDM_KIND_L1_SMALL, u->core.at, out);
		put_program(r, core, out);
	}
	if (dram != SIZE_MAX) {
		const struct tdm_exact_unit *u = &e->units[dram];
		put_moment(r, "When DRAM was fullest", dram, &u->dram, out);
		tdm_buf_putc(out, '\n');
		put_alive(r, dram, 1U << TDM_KIND_DRAM | 1U << TDM_KIND_TRACE, u->dram.at, out);
	}
}

static void put_operations(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	size_t count;
	struct tdm_capture_operation *all = tdm_capture_operations(&r->summary->exact, &count);
	if (all == NULL) {
		out->failed |= count != 0;
		return;
	}
	bool is_known = r->summary->right[TDM_STOCK_CORE_PEAK_TOTAL] != INT64_MIN;
	tdm_put_heading(out, &r->file.term, "By operation");
	tdm_buf_printf(
		out, "  %10s %10s %10s %8s %8s  %s\n", "peak core", "DRAM", "L1", "buffers", "calls", "operation");
	for (size_t i = 0; i < count && i < r->file.limit; i++) {
		char peak[TDM_BYTES_CAP], dram[TDM_BYTES_CAP], l1[TDM_BYTES_CAP];
		bool has_peak = all[i].core_peak != INT64_MIN;
		int64_t core_peak = is_known ? all[i].core_peak : INT64_MIN;
		tdm_buf_printf(out, "  %s %s %s %8" PRIu64 " %8" PRIu64 "  ",
			has_peak ? tdm_format_bytes(peak, sizeof peak, shown(core_peak)) : "         -",
			tdm_format_bytes(dram, sizeof dram, all[i].dram_bytes),
			tdm_format_bytes(l1, sizeof l1, all[i].l1_bytes), all[i].buffers, all[i].calls);
		put_path(r, all[i].path, columns_left(r, 54), out);
		tdm_buf_putc(out, '\n');
	}
	tdm_put_rest(out, count, r->file.limit);
	free(all);
}

static void put_gaps(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	uint64_t views = r->summary->exact.views;
	struct tdm_capture_gaps gaps = tdm_capture_gaps(&r->summary->exact);
	if (views != 0 || gaps.existing != 0 || gaps.cores)
		tdm_buf_putc(out, '\n');
	if (views != 0)
		tdm_buf_printf(out,
			"%" PRIu64
			" circular or dataflow buffer%s %s in a tensor's memory and %s no bytes of %s own.\n",
			views, tdm_plural(views), views == 1 ? "lies" : "lie", views == 1 ? "has" : "have",
			views == 1 ? "its" : "their");
	if (gaps.existing != 0)
		tdm_buf_printf(out, "%" PRIu64 " buffer%s %s there before the capture began.\n", gaps.existing,
			tdm_plural(gaps.existing), gaps.existing == 1 ? "was" : "were");
	if (gaps.without_banks != 0)
		tdm_buf_printf(out,
			"%" PRIu64
			" of them in L1, whose bytes per core are not recorded: figures for one core are without "
			"them.\n",
			gaps.without_banks);
	if (gaps.cores)
		tdm_buf_puts(out,
			"The cores of some circular buffers are not recorded: L1 of one device is unknown, and for one "
			"core they are taken to lie on the same.\n");
}

void tdm_info_capture_text(const struct tdm_info_capture_report *r, struct tdm_buf *out)
{
	put_head(r, out);
	put_errors(r, out);
	put_peaks(r, out);
	put_reasons(r, out);
	put_by_device(r, out);
	put_moments(r, out);
	put_operations(r, out);
	put_gaps(r, out);
}
