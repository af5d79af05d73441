/* The profile of logs as JSON, without its tables, and single records. */
#include "report/log_report.h"
#include "analyze/log_pressure.h"
#include "report/finding_report.h"

static void put_pressure(struct tdm_json *json, const struct tdm_log_profile *p, uint32_t file)
{
	struct tdm_findings found = { 0 };
	struct tdm_finding_view view = { .findings = &found };
	tdm_log_profile_pressure(p, file, &found);
	tdm_json_put_object(json, "pressure");
	tdm_json_put_text(json, "source",
		"miss rate and share of L1 from sizes; utilization and stalls observed; score heuristic");
	for (size_t i = 0; i < found.count; i++)
		tdm_finding_keys(&view, &found.list[i], json);
	tdm_json_object_end(json);
	json->out->failed |= tdm_findings_done(&found);
}

static void put_file(struct tdm_json *json, const struct tdm_log_profile *p, uint32_t i)
{
	const struct tdm_log_file *f = &p->files[i];
	tdm_json_object(json);
	tdm_json_put_text(json, "name", f->name);
	tdm_json_put_text(json, "log", tdm_log_file_kind(f));
	tdm_json_put_text(json, "lacks", tdm_log_file_lacks(f));
	tdm_json_put_u64(json, "lines", f->lines);
	tdm_json_put_u64(json, "bytes", f->bytes);
	tdm_json_put_bool(json, "complete", !f->is_cut);
	tdm_json_put_u64(json, "cut_lines", f->cut_lines);
	tdm_json_put_u64(json, "refused_lines", f->refused_lines);
	tdm_json_put_u64(json, "records", f->records);
	tdm_json_put_object(json, "by_writer");
	for (int d = 0; d < TDM_LOG_DIALECT_COUNT; d++)
		tdm_json_put_u64(json, tdm_log_dialect_name((enum tdm_log_dialect)d), f->by_dialect[d]);
	tdm_json_object_end(json);
	tdm_json_put_known(json, "first_ns", f->first_ns != 0, f->first_ns);
	tdm_json_put_known(json, "last_ns", f->last_ns != 0, f->last_ns);
	tdm_json_put_u64(json, "failures", f->failures);
	tdm_json_put_u64(json, "warnings", f->warnings);
	tdm_json_put_object(json, "workload");
	tdm_json_put_bytes(json, "a_tiles", f->a_tiles);
	tdm_json_put_bytes(json, "b_tiles", f->b_tiles);
	tdm_json_put_bytes(json, "tiles_per_shard", f->shard_tiles);
	tdm_json_put_bytes(json, "devices", f->devices);
	tdm_json_put_bytes(json, "cores", f->cores);
	tdm_json_put_bytes(json, "values_passed", f->passed);
	tdm_json_put_bytes(json, "values", f->verified);
	tdm_json_object_end(json);
	tdm_json_put_object(json, "l1");
	tdm_json_put_text(json, "source",
		f->has_geometry ? "the runtime's partition lines" : "unknown: the log has no partition lines");
	tdm_json_put_bytes(json, "worker_l1_size", f->geometry.worker_l1_size);
	tdm_json_put_bytes(json, "base", f->geometry.l1_base);
	tdm_json_put_bytes(json, "l1_small_size", f->geometry.l1_small_size);
	tdm_json_put_bytes(json, "bank_size", f->geometry.l1_bank_size);
	tdm_json_put_bytes(json, "allocatable", f->geometry.allocatable_l1_size);
	tdm_json_object_end(json);
	put_pressure(json, p, i);
	tdm_json_object_end(json);
}

static void put_slots(struct tdm_json *json, const char *key, const uint64_t *slots, size_t count)
{
	tdm_json_put_array(json, key);
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
	tdm_json_put_text(json, "unit", t->by_line ? "lines" : "ns");
	tdm_json_put_u64(json, "from", t->from);
	tdm_json_put_u64(json, "width", t->width);
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
	struct tdm_finding_view failures = { .findings = &p->found };
	tdm_json_object(json);
	tdm_json_put_bool(json, "sample", report->is_sample);
	tdm_json_put_array(json, "files");
	for (uint32_t i = 0; i < p->file_count; i++)
		put_file(json, p, i);
	tdm_json_array_end(json);
	tdm_json_put_u64(json, "failure_count", p->failure_count);
	tdm_json_put_u64(json, "warning_count", p->warning_count);
	tdm_json_put_array(json, "failures");
	for (size_t i = 0; i < p->found.count && (report->limit == 0 || i < report->limit); i++)
		tdm_finding_json(&failures, &p->found.list[i], json);
	tdm_json_array_end(json);
	if (!report->errors_only) {
		for (int id = 0; id < TDM_LOG_TABLE_COUNT; id++)
			tdm_log_table_json(p, (enum tdm_log_table_id)id, report->limit, json);
		tdm_log_row_counts_json(p, json);
		put_timeline(json, &p->timeline);
		tdm_json_put_u64(json, "untracked", p->untracked);
	}
	tdm_json_object_end(json);
}

void tdm_log_record_json(const struct tdm_log_record *r, struct tdm_json *json)
{
	tdm_json_object(json);
	tdm_json_put_text(json, "record", tdm_log_type_name((enum tdm_log_type)r->type));
	tdm_json_put_text(json, "writer", tdm_log_dialect_name((enum tdm_log_dialect)r->dialect));
	tdm_json_put_text(json, "level",
		r->level != TDM_LOG_LEVEL_NONE ? tdm_log_level_name((enum tdm_log_level)r->level) : NULL);
	tdm_json_put_u64(json, "file", r->file);
	tdm_json_put_u64(json, "line", r->line);
	tdm_json_put_known(json, "time_ns", r->time_ns != 0, r->time_ns);
	tdm_json_put_bool(json, "time_is_near", r->time_is_near);
	tdm_json_put_known(json, "rank", r->rank != TDM_LOG_NO_RANK, (uint64_t)r->rank);
	tdm_json_put_known(json, "pid", r->pid > 0, (uint64_t)r->pid);
	tdm_json_put_known(json, "device", r->device != TDM_LOG_DEVICE_UNKNOWN, r->device);
	tdm_json_put_text(json, "kind", r->kind < TDM_KIND_COUNT ? tdm_kind_name((enum tdm_kind)r->kind) : NULL);
	tdm_json_put_known(json, "cb", r->cb != TDM_LOG_CB_UNKNOWN, r->cb);
	tdm_json_put_bytes(json, "bytes", r->bytes);
	tdm_json_put_bytes(json, "tiles", r->tiles);
	tdm_json_put_bytes(json, "count", r->count);
	tdm_json_put_bytes(json, "id", r->id);
	tdm_json_put_bytes(json, "duration_ns", r->duration_ns);
	tdm_json_put_str(json, "name", r->name);
	if (r->type == TDM_LOG_FAILURE) {
		tdm_json_put_bool(json, "repeat", r->is_repeat);
		tdm_json_key(json, "failure");
		tdm_failure_json(&r->failure, json);
	}
	tdm_json_object_end(json);
}
