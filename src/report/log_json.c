#include "report/log_report.h"
#include "analyze/log_pressure.h"

#include <math.h>

static void put_text(struct tdm_json *json, const char *key, const char *text)
{
	tdm_json_key(json, key);
	tdm_json_text(json, text);
}

static void put_u64(struct tdm_json *json, const char *key, uint64_t value)
{
	tdm_json_key(json, key);
	tdm_json_u64(json, value);
}

/* Unknown gives null. */
static void put_known(struct tdm_json *json, const char *key, uint64_t value)
{
	tdm_json_key(json, key);
	tdm_json_bytes(json, value);
}

static void put_double(struct tdm_json *json, const char *key, double value)
{
	tdm_json_key(json, key);
	tdm_json_double(json, value);
}

static void put_bool(struct tdm_json *json, const char *key, bool value)
{
	tdm_json_key(json, key);
	tdm_json_bool(json, value);
}

static void put_time(struct tdm_json *json, const char *key, uint64_t time_ns)
{
	put_known(json, key, time_ns != 0 ? time_ns : TDM_LOG_UNKNOWN);
}

static void put_kind(struct tdm_json *json, uint8_t kind)
{
	put_text(json, "kind", kind < TDM_KIND_COUNT ? tdm_kind_name((enum tdm_kind)kind) : NULL);
}

static void put_device(struct tdm_json *json, uint32_t device)
{
	put_known(json, "device", device != TDM_LOG_DEVICE_UNKNOWN ? device : TDM_LOG_UNKNOWN);
}

static void put_rank(struct tdm_json *json, int32_t rank)
{
	put_known(json, "rank", rank != TDM_LOG_NO_RANK ? (uint64_t)rank : TDM_LOG_UNKNOWN);
}

static void put_range(struct tdm_json *json, bool has, const struct tdm_core_range *range)
{
	tdm_json_key(json, "core_range");
	if (!has) {
		tdm_json_null(json);
		return;
	}
	tdm_json_object(json);
	put_u64(json, "x0", range->x0);
	put_u64(json, "y0", range->y0);
	put_u64(json, "x1", range->x1);
	put_u64(json, "y1", range->y1);
	tdm_json_object_end(json);
}

static void put_failure_fields(struct tdm_json *json, const struct tdm_failure *f)
{
	char summary[TDM_LOG_TEXT_CAP];
	put_text(json, "sort", tdm_failure_name((enum tdm_failure_sort)f->sort));
	put_bool(json, "warning", tdm_failure_is_warning(f));
	put_text(json, "cause", tdm_failure_cause_name(tdm_failure_cause(f)));
	put_text(json, "summary", tdm_failure_summary(f, summary, sizeof summary));
	put_kind(json, f->kind);
	put_known(json, "asked_bytes", f->asked);
	put_known(json, "banks", f->banks);
	put_known(json, "bytes_per_bank", f->bytes_per_bank);
	put_known(json, "bank_size", f->bank_size);
	put_known(json, "allocated", f->allocated);
	put_known(json, "free", f->free);
	put_known(json, "largest_free", f->largest_free);
	put_known(json, "address", f->address);
	put_known(json, "region_end", f->region_end);
	put_known(json, "limit", f->limit);
	put_known(json, "program", f->program);
	put_bool(json, "dataflow", f->is_dataflow);
	put_range(json, f->has_range, &f->range);
	put_u64(json, "core_ranges", f->range_count);
	tdm_json_key(json, "name");
	if (f->name.len != 0)
		tdm_json_str(json, f->name);
	else
		tdm_json_null(json);
	put_u64(json, "refused_figures", f->refused);
	tdm_json_key(json, "text");
	tdm_json_str(json, f->text);
}

static void put_file(struct tdm_json *json, const struct tdm_log_profile *p, uint32_t i)
{
	const struct tdm_log_file *f = &p->files[i];
	tdm_json_object(json);
	put_text(json, "name", f->name);
	put_text(json, "log", tdm_log_file_kind(f));
	put_text(json, "lacks", tdm_log_file_lacks(f));
	put_u64(json, "lines", f->lines);
	put_u64(json, "bytes", f->bytes);
	put_u64(json, "cut_lines", f->cut_lines);
	put_u64(json, "records", f->records);
	tdm_json_key(json, "by_writer");
	tdm_json_object(json);
	for (int d = 0; d < TDM_LOG_DIALECT_COUNT; d++)
		put_u64(json, tdm_log_dialect_name((enum tdm_log_dialect)d), f->by_dialect[d]);
	tdm_json_object_end(json);
	put_time(json, "first_ns", f->first_ns);
	put_time(json, "last_ns", f->last_ns);
	put_u64(json, "failures", f->failures);
	put_u64(json, "warnings", f->warnings);
	tdm_json_key(json, "workload");
	tdm_json_object(json);
	put_known(json, "a_tiles", f->a_tiles);
	put_known(json, "b_tiles", f->b_tiles);
	put_known(json, "tiles_per_shard", f->shard_tiles);
	put_known(json, "devices", f->devices);
	put_known(json, "values_passed", f->passed);
	put_known(json, "values", f->verified);
	tdm_json_object_end(json);
	tdm_json_key(json, "l1");
	tdm_json_object(json);
	put_text(json, "source",
		f->has_geometry ? "the runtime's partition lines" : "unknown: the log has no partition lines");
	put_known(json, "worker_l1_size", f->geometry.worker_l1_size);
	put_known(json, "base", f->geometry.l1_base);
	put_known(json, "l1_small_size", f->geometry.l1_small_size);
	put_known(json, "bank_size", f->geometry.l1_bank_size);
	put_known(json, "allocatable", f->geometry.allocatable_l1_size);
	tdm_json_object_end(json);
	struct tdm_log_pressure s = tdm_log_profile_pressure(p, i);
	tdm_json_key(json, "pressure");
	tdm_json_object(json);
	put_text(json, "source",
		"miss rate and share of L1 from sizes; utilization and stalls observed; score heuristic");
	put_double(json, "cb1_miss_rate", s.miss);
	put_text(json, "cb1_miss_band", isnan(s.miss) ? NULL : tdm_log_band_name(tdm_log_miss_band(s.miss)));
	put_bool(json, "b_tiles_assumed", s.b_is_assumed);
	put_double(json, "cb_utilization", s.utilization);
	put_text(json, "cb_utilization_band",
		isnan(s.utilization) ? NULL : tdm_log_band_name(tdm_log_utilization_band(s.utilization)));
	put_double(json, "stall_share", s.stall_share);
	put_double(json, "l1_share", s.l1_share);
	put_known(json, "cb_bytes_per_core", s.cb_bytes);
	put_double(json, "score", s.score);
	put_text(json, "thrashing_risk", isnan(s.score) ? NULL : tdm_log_band_name(tdm_log_score_band(s.score)));
	tdm_json_object_end(json);
	tdm_json_object_end(json);
}

static void put_failures(struct tdm_json *json, const struct tdm_log_profile *p, size_t limit)
{
	const struct tdm_log_failure *rows = p->failures.rows;
	tdm_json_key(json, "failures");
	tdm_json_array(json);
	for (size_t i = 0; i < p->failures.count && i < limit; i++) {
		struct tdm_failure f = tdm_log_failure_get(&rows[i]);
		tdm_json_object(json);
		put_u64(json, "file", rows[i].file);
		put_u64(json, "line", rows[i].line);
		put_time(json, "time_ns", rows[i].time_ns);
		put_rank(json, rows[i].rank);
		put_u64(json, "places", rows[i].places);
		put_failure_fields(json, &f);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_cbs(struct tdm_json *json, const struct tdm_log_profile *p, size_t limit)
{
	const struct tdm_log_cb *rows = p->cbs.rows;
	tdm_json_key(json, "circular_buffers");
	tdm_json_array(json);
	for (size_t i = 0; i < p->cbs.count && i < limit; i++) {
		const struct tdm_log_cb *cb = &rows[i];
		bool timed = cb->timed != 0;
		tdm_json_object(json);
		put_u64(json, "file", cb->file);
		put_u64(json, "index", cb->cb);
		put_text(json, "label", cb->label[0] != '\0' ? cb->label : NULL);
		put_u64(json, "allocations", cb->allocs);
		put_known(json, "tiles", cb->tiles);
		put_known(json, "bytes_per_core", cb->bytes);
		put_known(json, "cores", cb->cores);
		put_range(json, cb->has_range, &cb->range);
		put_u64(json, "reserves", cb->reserves);
		put_u64(json, "pushes", cb->pushes);
		put_u64(json, "waits", cb->waits);
		put_u64(json, "pops", cb->pops);
		put_u64(json, "pushed_tiles", cb->pushed_tiles);
		put_u64(json, "popped_tiles", cb->popped_tiles);
		put_known(json, "fullest_tiles", cb->pushes != 0 ? cb->peak_fill : TDM_LOG_UNKNOWN);
		put_known(json, "stalls", timed ? cb->stalls : TDM_LOG_UNKNOWN);
		put_known(json, "stall_ns", timed ? cb->stall_ns : TDM_LOG_UNKNOWN);
		put_known(json, "longest_stall_ns", timed ? cb->longest_stall_ns : TDM_LOG_UNKNOWN);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_kernels(struct tdm_json *json, const struct tdm_log_profile *p, size_t limit)
{
	const struct tdm_log_kernel *rows = p->kernels.rows;
	const struct tdm_log_op *ops = p->ops.rows;
	const struct tdm_log_kernel *programs = p->programs.rows;
	tdm_json_key(json, "kernels");
	tdm_json_array(json);
	for (size_t i = 0; i < p->kernels.count && i < limit; i++) {
		tdm_json_object(json);
		put_u64(json, "file", rows[i].file);
		put_text(json, "name", rows[i].name);
		put_u64(json, "started", rows[i].starts);
		put_u64(json, "ended", rows[i].ends);
		put_known(json, "total_ns", rows[i].timed != 0 ? rows[i].total_ns : TDM_LOG_UNKNOWN);
		put_known(json, "longest_ns", rows[i].timed != 0 ? rows[i].longest_ns : TDM_LOG_UNKNOWN);
		put_known(json, "code_bytes", rows[i].bytes);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_key(json, "operations");
	tdm_json_array(json);
	for (size_t i = 0; i < p->ops.count && i < limit; i++) {
		tdm_json_object(json);
		put_u64(json, "file", ops[i].file);
		put_text(json, "name", ops[i].name);
		put_u64(json, "count", ops[i].count);
		put_known(json, "total_ns", ops[i].timed != 0 ? ops[i].total_ns : TDM_LOG_UNKNOWN);
		put_known(json, "longest_ns", ops[i].timed != 0 ? ops[i].longest_ns : TDM_LOG_UNKNOWN);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_key(json, "program_sizes");
	tdm_json_array(json);
	for (size_t i = 0; i < p->programs.count && i < limit; i++) {
		tdm_json_object(json);
		put_u64(json, "file", programs[i].file);
		put_text(json, "name", programs[i].name);
		put_u64(json, "lines", programs[i].starts);
		put_u64(json, "largest_bytes", programs[i].bytes);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_amounts(struct tdm_json *json, const struct tdm_log_profile *p, size_t limit)
{
	const struct tdm_log_amount *rows = p->amounts.rows;
	const struct tdm_log_remaining *remaining = p->remaining.rows;
	tdm_json_key(json, "buffers");
	tdm_json_array(json);
	for (size_t i = 0; i < p->amounts.count && i < limit; i++) {
		tdm_json_object(json);
		put_u64(json, "file", rows[i].file);
		put_text(json, "source",
			rows[i].dialect == TDM_LOG_BY_SERVER
				? "lines of an allocation server"
				: "the runtime's lines about shared memory: sizes asked for");
		put_known(json, "pid", rows[i].pid > 0 ? (uint64_t)rows[i].pid : TDM_LOG_UNKNOWN);
		put_device(json, rows[i].device);
		put_kind(json, rows[i].kind);
		put_u64(json, "allocations", rows[i].allocs);
		put_u64(json, "frees", rows[i].frees);
		put_u64(json, "bytes_at_end", rows[i].bytes);
		put_u64(json, "peak_bytes", rows[i].peak_bytes);
		put_u64(json, "peak_line", rows[i].peak_line);
		put_u64(json, "allocated_bytes", rows[i].alloc_bytes);
		put_u64(json, "unmatched_frees", rows[i].unmatched);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_key(json, "remaining");
	tdm_json_array(json);
	for (size_t i = 0; i < p->remaining.count && i < limit; i++) {
		tdm_json_object(json);
		put_u64(json, "file", remaining[i].file);
		put_device(json, remaining[i].device);
		put_kind(json, remaining[i].kind);
		put_known(json, "buffers", remaining[i].buffers);
		put_known(json, "bytes", remaining[i].bytes);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_states(struct tdm_json *json, const struct tdm_log_profile *p, size_t limit)
{
	const struct tdm_log_state *rows = p->states.rows;
	tdm_json_key(json, "memory_states");
	tdm_json_array(json);
	for (size_t i = 0; i < p->states.count && i < limit; i++) {
		tdm_json_object(json);
		put_u64(json, "file", rows[i].file);
		put_rank(json, rows[i].rank);
		put_kind(json, rows[i].kind);
		put_u64(json, "states", rows[i].count);
		put_known(json, "banks", rows[i].peak.banks);
		put_known(json, "bank_size", rows[i].peak.total);
		put_known(json, "peak_allocated", rows[i].peak.allocated);
		put_known(json, "free_at_peak", rows[i].peak.free);
		put_known(json, "largest_free_at_peak", rows[i].peak.largest_free);
		put_known(json, "least_largest_free", rows[i].least_largest_free);
		put_text(json, "peak_operation", rows[i].peak_op);
		put_u64(json, "peak_line", rows[i].peak_line);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_slots(struct tdm_json *json, const char *key, const uint64_t *slots, size_t count)
{
	tdm_json_key(json, key);
	tdm_json_array(json);
	for (size_t i = 0; i < count; i++)
		tdm_json_u64(json, slots[i]);
	tdm_json_array_end(json);
}

static void put_timeline(struct tdm_json *json, const struct tdm_log_timeline *t)
{
	tdm_json_key(json, "timeline");
	if (!t->used) {
		tdm_json_null(json);
		return;
	}
	tdm_json_object(json);
	put_text(json, "unit", t->by_line ? "lines" : "ns");
	put_u64(json, "from", t->from);
	put_u64(json, "width", t->width);
	put_slots(json, "memory", t->rows[TDM_LOG_ROW_MEMORY], t->slots);
	put_slots(json, "circular_buffers", t->rows[TDM_LOG_ROW_CB], t->slots);
	put_slots(json, "kernels", t->rows[TDM_LOG_ROW_KERNEL], t->slots);
	put_slots(json, "failures", t->rows[TDM_LOG_ROW_FAILURE], t->slots);
	put_slots(json, "dram_bytes", t->dram_bytes, t->slots);
	put_slots(json, "l1_bytes", t->l1_bytes, t->slots);
	tdm_json_object_end(json);
}

void tdm_log_json(const struct tdm_log_profile *p, const struct tdm_log_report *report, struct tdm_json *json)
{
	tdm_json_object(json);
	put_bool(json, "sample", report->is_sample);
	tdm_json_key(json, "files");
	tdm_json_array(json);
	for (uint32_t i = 0; i < p->file_count; i++)
		put_file(json, p, i);
	tdm_json_array_end(json);
	put_u64(json, "failure_count", p->failure_count);
	put_u64(json, "warning_count", p->warning_count);
	put_failures(json, p, report->limit);
	if (!report->errors_only) {
		put_cbs(json, p, report->limit);
		put_kernels(json, p, report->limit);
		put_amounts(json, p, report->limit);
		put_states(json, p, report->limit);
		put_timeline(json, &p->timeline);
		put_u64(json, "untracked", p->untracked);
	}
	tdm_json_object_end(json);
}

void tdm_log_record_json(const struct tdm_log_record *r, struct tdm_json *json)
{
	tdm_json_object(json);
	put_text(json, "record", tdm_log_sort_name((enum tdm_log_sort)r->sort));
	put_text(json, "writer", tdm_log_dialect_name((enum tdm_log_dialect)r->dialect));
	put_text(json, "level",
		r->level != TDM_LOG_LEVEL_NONE ? tdm_log_level_name((enum tdm_log_level)r->level) : NULL);
	put_u64(json, "file", r->file);
	put_u64(json, "line", r->line);
	put_time(json, "time_ns", r->time_ns);
	put_bool(json, "time_is_near", r->time_is_near);
	put_rank(json, r->rank);
	put_known(json, "pid", r->pid > 0 ? (uint64_t)r->pid : TDM_LOG_UNKNOWN);
	put_device(json, r->device);
	put_kind(json, r->kind);
	put_known(json, "cb", r->cb != TDM_LOG_CB_UNKNOWN ? r->cb : TDM_LOG_UNKNOWN);
	put_known(json, "bytes", r->bytes);
	put_known(json, "tiles", r->tiles);
	put_known(json, "count", r->count);
	put_known(json, "id", r->id);
	put_known(json, "duration_ns", r->duration_ns);
	tdm_json_key(json, "name");
	if (r->name.len != 0)
		tdm_json_str(json, r->name);
	else
		tdm_json_null(json);
	if (r->sort == TDM_LOG_FAILURE) {
		put_bool(json, "repeat", r->is_repeat);
		tdm_json_key(json, "failure");
		tdm_json_object(json);
		put_failure_fields(json, &r->failure);
		tdm_json_object_end(json);
	}
	tdm_json_object_end(json);
}
