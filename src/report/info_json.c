#include "report/info_report.h"
#include "sources/error_text.h"

#include <stdlib.h>

/* A figure that may be unknown; a negative number is not a size. */
static void put_figure(struct tdm_json *json, const char *key, int64_t bytes)
{
	tdm_json_put_bytes(json, key, bytes == INT64_MIN ? TDM_BYTES_UNKNOWN : bytes < 0 ? 0 : (uint64_t)bytes);
}

static void put_path(const struct tdm_info_capture_report *r, struct tdm_json *json, const char *key, uint32_t path)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_capture_paths_put(&r->summary->exact.paths, path, &text);
	tdm_json_put_text(json, key, path != TDM_PATH_ROOT ? tdm_buf_str(&text).ptr : NULL);
	tdm_buf_done(&text);
}

static void put_stock(const struct tdm_info_capture_report *r, struct tdm_json *json)
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

static void put_buffer(const struct tdm_info_capture_report *r, const struct tdm_exact_buffer *b, struct tdm_json *json)
{
	struct tdm_str shape = tdm_capture_paths_text_of(&r->summary->exact.paths, b->shape);
	tdm_json_object(json);
	tdm_json_put_u64(json, "node", b->index);
	tdm_json_put_text(json, "kind", tdm_kind_name((enum tdm_kind)b->kind));
	tdm_json_put_bytes(json, "asked_bytes", b->size);
	tdm_json_put_bytes(json, "bytes_per_bank", b->bank_bytes);
	tdm_json_put_text(json, "tensor", shape.len != 0 ? shape.ptr : NULL);
	tdm_json_put_bool(json, "existing", b->existed);
	put_path(r, json, "operation", b->existed ? TDM_PATH_ROOT : b->path);
	tdm_json_object_end(json);
}

static void put_alive(
	const struct tdm_info_capture_report *r, size_t unit, unsigned kinds, uint32_t at, struct tdm_json *json)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	size_t cap = r->file.limit < e->buffer_count ? r->file.limit : e->buffer_count;
	const struct tdm_exact_buffer **list = calloc(cap != 0 ? cap : 1, sizeof *list);
	size_t count = list != NULL ? tdm_capture_exact_alive(e, unit, kinds, at, list, cap) : 0;
	json->out->failed |= list == NULL;
	tdm_json_put_u64(json, "buffer_count", count);
	tdm_json_put_array(json, "buffers");
	for (size_t i = 0; i < cap && i < count; i++)
		put_buffer(r, list[i], json);
	tdm_json_array_end(json);
	free(list);
}

static void put_program(const struct tdm_info_capture_report *r, size_t unit, struct tdm_json *json)
{
	static const enum tdm_kind kinds[] = { TDM_KIND_CB, TDM_KIND_DFB, TDM_KIND_SCRATCHPAD };
	size_t count;
	const struct tdm_exact_program *list = tdm_capture_exact_program(&r->summary->exact, unit, &count);
	tdm_json_put_u64(json, "program_count", count);
	tdm_json_put_array(json, "program");
	for (size_t i = 0; i < count && i < r->file.limit; i++) {
		tdm_json_object(json);
		tdm_json_put_u64(json, "node", list[i].node);
		tdm_json_put_text(json, "kind", tdm_kind_name(kinds[list[i].kind]));
		tdm_json_put_bytes(json, "bytes_per_core", list[i].size);
		tdm_json_put_known(json, "cores", list[i].cores != 0, list[i].cores);
		tdm_json_put_bytes(json, "address", list[i].address != 0 ? list[i].address : TDM_BYTES_UNKNOWN);
		put_path(r, json, "operation", list[i].path);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

/* Bytes per bank in all banks, if both are known. */
static uint64_t reserved(const struct tdm_exact_kind *kind, uint64_t banks)
{
	uint64_t all;
	if (banks == 0 || kind->bank_unknown != 0 || kind->bank.bytes < 0 ||
		__builtin_mul_overflow((uint64_t)kind->bank.bytes, banks, &all))
		return TDM_BYTES_UNKNOWN;
	return all;
}

static void put_kind(const struct tdm_exact_kind *kind, int k, uint64_t banks, struct tdm_json *json)
{
	bool known = kind->bank_unknown == 0;
	tdm_json_object(json);
	tdm_json_put_text(json, "kind", tdm_kind_name((enum tdm_kind)k));
	put_figure(json, "peak_asked_bytes", kind->asked.bytes);
	put_figure(json, "peak_bytes_per_bank", known ? kind->bank.bytes : INT64_MIN);
	tdm_json_put_bytes(json, "peak_reserved_bytes", reserved(kind, banks));
	put_figure(json, "asked_bytes_at_end", kind->now + (int64_t)kind->existing_bytes);
	tdm_json_put_u64(json, "allocations", kind->allocs);
	tdm_json_put_bytes(json, "allocated_bytes", kind->alloc_bytes);
	tdm_json_put_u64(json, "releases", kind->frees);
	tdm_json_put_bytes(json, "released_bytes", kind->free_bytes);
	tdm_json_put_u64(json, "existing_buffers", kind->existing);
	tdm_json_put_bytes(json, "existing_bytes", kind->existing_bytes);
	tdm_json_object_end(json);
}

static void put_core(const struct tdm_info_capture_report *r, size_t index, struct tdm_json *json)
{
	const struct tdm_exact_unit *u = &r->summary->exact.units[index];
	bool known = tdm_capture_banks_known(u);
	tdm_json_put_object(json, "core");
	put_figure(json, "peak_total", known ? u->core.bytes : INT64_MIN);
	put_figure(json, "peak_l1", known ? u->l1_core.bytes : INT64_MIN);
	put_figure(json, "peak_program", u->program_total.bytes);
	put_figure(json, "peak_cb", u->program[TDM_PROGRAM_CB].bytes);
	put_figure(json, "peak_dfb", u->program[TDM_PROGRAM_DFB].bytes);
	put_figure(json, "peak_scratchpad", u->program[TDM_PROGRAM_SCRATCHPAD].bytes);
	tdm_json_put_u64(json, "node", u->core.at);
	tdm_json_key(json, "fullest");
	if (u->has_peak_core) {
		tdm_json_object(json);
		tdm_json_put_u64(json, "x", u->peak_x);
		tdm_json_put_u64(json, "y", u->peak_y);
		tdm_json_object_end(json);
	} else {
		tdm_json_null(json);
	}
	put_alive(r, index, 1U << TDM_KIND_L1 | 1U << TDM_KIND_L1_SMALL, u->core.at, json);
	put_program(r, index, json);
	tdm_json_object_end(json);
}

static void put_device(const struct tdm_info_capture_report *r, size_t index, struct tdm_json *json)
{
	static const char *const mappings[] = { "tensors", "only_one", "same_number" };
	const struct tdm_capture_exact *e = &r->summary->exact;
	const struct tdm_exact_unit *u = &e->units[index];
	tdm_json_object(json);
	tdm_json_put_known(json, "device", u->has_id, u->id);
	tdm_json_put_array(json, "chips");
	for (size_t i = 0; i < e->chip_count; i++) {
		if (e->chips[i].unit != index)
			continue;
		tdm_json_object(json);
		tdm_json_put_known(json, "chip", e->chips[i].id != UINT64_MAX, e->chips[i].id);
		tdm_json_put_text(json, "known_by", mappings[e->chips[i].mapping]);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_put_array(json, "kinds");
	for (int k = 0; k < TDM_KIND_COUNT; k++)
		if (u->kinds[k].allocs + u->kinds[k].frees + u->kinds[k].existing != 0)
			put_kind(&u->kinds[k], k, tdm_capture_banks(e, index, (enum tdm_kind)k), json);
	tdm_json_array_end(json);
	tdm_json_put_object(json, "dram");
	put_figure(json, "peak_asked_bytes", u->dram.bytes);
	tdm_json_put_u64(json, "node", u->dram.at);
	put_alive(r, index, 1U << TDM_KIND_DRAM | 1U << TDM_KIND_TRACE, u->dram.at, json);
	tdm_json_object_end(json);
	put_figure(json, "peak_l1_bytes", tdm_capture_cores_known(e, index) ? u->device.bytes : INT64_MIN);
	tdm_json_put_u64(json, "views", u->views);
	put_core(r, index, json);
	tdm_json_object_end(json);
}

static void put_operations(const struct tdm_info_capture_report *r, struct tdm_json *json)
{
	size_t count;
	struct tdm_capture_operation *all = tdm_capture_operations(&r->summary->exact, &count);
	bool is_known = r->summary->right[TDM_STOCK_CORE_PEAK_TOTAL] != INT64_MIN;
	json->out->failed |= all == NULL && count != 0;
	tdm_json_put_u64(json, "operation_count", count);
	tdm_json_put_array(json, "operations");
	for (size_t i = 0; all != NULL && i < count && i < r->file.limit; i++) {
		tdm_json_object(json);
		put_path(r, json, "operation", all[i].path);
		tdm_json_put_u64(json, "calls", all[i].calls);
		tdm_json_put_u64(json, "buffers", all[i].buffers);
		tdm_json_put_bytes(json, "dram_bytes", all[i].dram_bytes);
		tdm_json_put_bytes(json, "l1_bytes", all[i].l1_bytes);
		put_figure(json, "peak_core", is_known ? all[i].core_peak : INT64_MIN);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	free(all);
}

static void put_existing(const struct tdm_info_capture_report *r, struct tdm_json *json)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	size_t put = 0;
	tdm_json_put_array(json, "existing");
	for (size_t i = 0; i < e->buffer_count && put < r->file.limit; i++)
		if (e->buffers[i].existed) {
			put_buffer(r, &e->buffers[i], json);
			put++;
		}
	tdm_json_array_end(json);
}

static void put_exact(const struct tdm_info_capture_report *r, struct tdm_json *json)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	tdm_json_put_object(json, "exact");
	tdm_json_put_text(json, "source", "capture");
	for (int i = 0; i < TDM_STOCK_FIGURES; i++)
		if (i != TDM_STOCK_DRAM_ALLOCATIONS && i != TDM_STOCK_DRAM_DEALLOCATIONS)
			put_figure(json, tdm_stock_key((enum tdm_stock_figure)i), r->summary->right[i]);
	tdm_json_put_u64(json, "unknown_releases", e->unknown_frees);
	tdm_json_put_u64(json, "double_releases", e->double_frees);
	tdm_json_put_u64(json, "second_allocations", e->rereports);
	tdm_json_put_u64(json, "views", e->views);
	tdm_json_put_u64(json, "ignored", e->ignored);
	tdm_json_put_array(json, "devices");
	uint16_t order[TDM_EXACT_UNITS_MAX];
	tdm_capture_device_order(e, order);
	for (size_t i = 0; i < e->unit_count; i++)
		put_device(r, order[i], json);
	tdm_json_array_end(json);
	put_operations(r, json);
	put_existing(r, json);
	tdm_json_object_end(json);
}

static void put_reasons(const struct tdm_info_capture_report *r, struct tdm_json *json)
{
	tdm_json_put_array(json, "reasons");
	for (size_t i = 0; i < r->summary->reason_count; i++) {
		const struct tdm_capture_reason *reason = &r->summary->reasons[i];
		tdm_json_object(json);
		tdm_json_put_text(json, "figure", tdm_stock_key((enum tdm_stock_figure)reason->figure));
		tdm_json_put_text(json, "reason", tdm_capture_reason_name((enum tdm_capture_reason_code)reason->code));
		tdm_json_key(json, "bytes");
		if (reason->code == TDM_REASON_WRAPPED)
			tdm_json_null(json);
		else
			tdm_json_i64(json, reason->bytes);
		tdm_json_put_text(json, "text", tdm_capture_reason_text((enum tdm_capture_reason_code)reason->code));
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_report_devices(const struct tdm_info_capture_report *r, struct tdm_json *json)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	tdm_json_put_array(json, "devices");
	for (size_t i = 0; i < e->device_count; i++) {
		const struct tdm_capture_device *d = &e->devices[i];
		tdm_json_object(json);
		tdm_json_put_bytes(json, "device", d->id);
		tdm_json_put_name(json, "arch", d->arch);
		tdm_json_put_known(json, "grid_x", d->grid_x != 0, d->grid_x);
		tdm_json_put_known(json, "grid_y", d->grid_y != 0, d->grid_y);
		tdm_json_put_known(json, "l1_per_core", d->worker_l1_size != 0, d->worker_l1_size);
		tdm_json_put_known(json, "l1_banks", d->l1_banks != 0, d->l1_banks);
		tdm_json_put_known(json, "dram_channels", d->dram_channels != 0, d->dram_channels);
		tdm_json_put_known(json, "dram_per_channel", d->dram_channel_size != 0, d->dram_channel_size);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_errors(const struct tdm_info_capture_report *r, struct tdm_json *json)
{
	tdm_json_put_u64(json, "error_count", r->summary->error_count);
	tdm_json_put_array(json, "errors");
	for (size_t i = 0; i < r->summary->errors_kept && i < r->file.limit; i++) {
		const struct tdm_capture_error *error = &r->summary->errors[i];
		struct tdm_failure failure;
		struct tdm_buf text;
		size_t end;
		bool is_known = tdm_error_text_find(tdm_str_of(error->message), 0, &failure, &end);
		tdm_buf_init(&text);
		tdm_info_error_put(error, true, &text);
		tdm_json_object(json);
		tdm_json_put_u64(json, "node", error->node);
		tdm_json_put_name(json, "operation", error->operation);
		tdm_json_put_text(
			json, "sort", is_known ? tdm_failure_name((enum tdm_failure_type)failure.type) : NULL);
		tdm_json_put_text(json, "summary", tdm_buf_str(&text).ptr);
		tdm_json_put_text(json, "message", error->message);
		tdm_json_object_end(json);
		json->out->failed |= text.failed;
		tdm_buf_done(&text);
	}
	tdm_json_array_end(json);
}

void tdm_info_capture_json(const struct tdm_info_capture_report *r, struct tdm_json *json)
{
	tdm_json_put_bool(json, "complete", !r->file.cut);
	tdm_json_put_u64(json, "bytes", r->summary->counts.bytes);
	tdm_json_put_u64(json, "nodes", r->summary->counts.nodes);
	tdm_json_put_u64(json, "refused_nodes", r->summary->counts.refused);
	tdm_json_put_u64(json, "cut_texts", r->summary->counts.cut_texts);
	tdm_json_put_u64(json, "unknown_types", r->summary->counts.other_types);
	put_errors(r, json);
	put_report_devices(r, json);
	put_stock(r, json);
	put_exact(r, json);
	put_reasons(r, json);
}
