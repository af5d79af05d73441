#include "model/event/log_record.h"

/* ---- failures ---- */

const char tdm_failure_letters[] = {
#define X(member, letter, key) letter,
	TDM_FAILURE_FIGURE_LIST(X)
#undef X
};

const char *const tdm_failure_keys[] = {
#define X(member, letter, key) key,
	TDM_FAILURE_FIGURE_LIST(X)
#undef X
};

void tdm_failure_init(struct tdm_failure *f, enum tdm_failure_type type, struct tdm_str text)
{
	*f = (struct tdm_failure){ .type = (uint8_t)type, .kind = TDM_KIND_COUNT, .text = text };
	for (size_t i = 0; i < TDM_FAILURE_FIGURE_COUNT; i++)
		f->figures[i] = TDM_BYTES_UNKNOWN;
}

const char *tdm_failure_name(enum tdm_failure_type type)
{
	static const char *const names[TDM_FAILURE_COUNT] = {
#define X(id, name, title) name,
		TDM_FAILURE_LIST(X)
#undef X
	};
	return (unsigned)type < TDM_FAILURE_COUNT ? names[type] : "unknown";
}

const char *tdm_failure_title(enum tdm_failure_type type)
{
	static const char *const titles[TDM_FAILURE_COUNT] = {
#define X(id, name, title) title,
		TDM_FAILURE_LIST(X)
#undef X
	};
	return (unsigned)type < TDM_FAILURE_COUNT ? titles[type] : "unknown";
}

enum tdm_kind tdm_failure_memory(const struct tdm_failure *f)
{
	bool is_static = f->type == TDM_FAILURE_BEYOND_L1 || f->type == TDM_FAILURE_CLASH ||
			 f->type == TDM_FAILURE_SERVICE_CLASH;
	if (tdm_failure_is_warning(f))
		return TDM_KIND_COUNT;
	return !is_static ? (enum tdm_kind)f->kind : f->is_dataflow ? TDM_KIND_DFB : TDM_KIND_CB;
}

bool tdm_failure_is_same(const struct tdm_failure *a, const struct tdm_failure *b)
{
	return a->type == b->type && a->words == b->words && a->kind == b->kind && a->is_dataflow == b->is_dataflow &&
	       memcmp(a->figures, b->figures, sizeof a->figures) == 0 && a->has_range == b->has_range &&
	       a->range_count == b->range_count &&
	       (!a->has_range || memcmp(&a->range, &b->range, sizeof a->range) == 0) && tdm_str_eq(a->name, b->name);
}

/* ---- lines of a log ---- */

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
	};
	/* The numbers from `bytes` to `devices`. */
	memset(&record->bytes, 0xff, offsetof(struct tdm_log_record, range) - offsetof(struct tdm_log_record, bytes));
}
