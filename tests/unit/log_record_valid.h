/* Whether the record of a log is valid: readers give no others. For tests and fuzzers. */
#ifndef TESTS_UNIT_LOG_RECORD_VALID_H
#define TESTS_UNIT_LOG_RECORD_VALID_H

#include "model/event/log_record.h"

static inline bool log_record_is_valid(const struct tdm_log_record *r)
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

#endif
