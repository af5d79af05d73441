#include "event/log_record.h"

static const char *const type_names[TDM_LOG_TYPE_COUNT] = {
#define X(id, name) [TDM_LOG_##id] = name,
	TDM_LOG_TYPE_LIST(X)
#undef X
};

const char *tdm_log_type_name(enum tdm_log_type type)
{
	return (unsigned)type < TDM_LOG_TYPE_COUNT ? type_names[type] : "unknown";
}

const char *tdm_log_dialect_name(enum tdm_log_dialect dialect)
{
	static const char *const names[TDM_LOG_DIALECT_COUNT] = { "runtime", "workload", "server", "compiler",
		"watcher" };
	return (unsigned)dialect < TDM_LOG_DIALECT_COUNT ? names[dialect] : "unknown";
}

const char *tdm_log_level_name(enum tdm_log_level level)
{
	static const char *const names[TDM_LOG_LEVEL_COUNT] = { "none", "trace", "debug", "info", "warning", "error",
		"critical" };
	return (unsigned)level < TDM_LOG_LEVEL_COUNT ? names[level] : "unknown";
}

void tdm_log_record_init(struct tdm_log_record *record, enum tdm_log_type type, enum tdm_log_dialect dialect)
{
	*record = (struct tdm_log_record){
		.type = (uint8_t)type,
		.dialect = (uint8_t)dialect,
		.kind = TDM_KIND_COUNT,
		.rank = TDM_LOG_NO_RANK,
		.device = TDM_LOG_DEVICE_UNKNOWN,
		.cb = TDM_LOG_CB_UNKNOWN,
		.bytes = TDM_LOG_UNKNOWN,
		.tiles = TDM_LOG_UNKNOWN,
		.count = TDM_LOG_UNKNOWN,
		.id = TDM_LOG_UNKNOWN,
		.duration_ns = TDM_LOG_UNKNOWN,
		.cores = TDM_LOG_UNKNOWN,
		.all_bytes = TDM_LOG_UNKNOWN,
		.limit = TDM_LOG_UNKNOWN,
		.a_tiles = TDM_LOG_UNKNOWN,
		.b_tiles = TDM_LOG_UNKNOWN,
		.shard_tiles = TDM_LOG_UNKNOWN,
		.devices = TDM_LOG_UNKNOWN,
	};
}

bool tdm_log_record_is_valid(const struct tdm_log_record *r)
{
	if (r->type >= TDM_LOG_TYPE_COUNT || r->dialect >= TDM_LOG_DIALECT_COUNT || r->level >= TDM_LOG_LEVEL_COUNT ||
		r->kind > TDM_KIND_COUNT || r->line == 0 || !tdm_str_is_valid(r->name) || !tdm_str_is_valid(r->text))
		return false;
	if (r->has_range && !tdm_core_range_is_valid(&r->range))
		return false;
	if (r->type >= TDM_LOG_CB_ALLOC && r->type <= TDM_LOG_CB_POP && r->cb >= TDM_LOG_CBS)
		return false;
	if (r->type == TDM_LOG_ALLOC)
		return r->kind < TDM_KIND_COUNT && r->bytes != TDM_LOG_UNKNOWN;
	return r->type != TDM_LOG_FAILURE ||
	       (r->failure.type < TDM_FAILURE_COUNT && r->failure.kind <= TDM_KIND_COUNT &&
		       tdm_str_is_valid(r->failure.name) &&
		       (!r->failure.has_range || tdm_core_range_is_valid(&r->failure.range)));
}
