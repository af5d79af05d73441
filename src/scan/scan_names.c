/* Names of the scan's enums, and questions about its results that need no scanning. */
#include "scan/scan.h"

#define NAME_OF(list, count, value) ((size_t)(value) < (size_t)(count) ? (list)[value] : "unknown")

const char *tdm_strategy_name(enum tdm_strategy strategy)
{
	static const char *const names[] = {
#define X(id, name, summary) name,
		TDM_STRATEGY_LIST(X)
#undef X
	};
	return NAME_OF(names, TDM_STRATEGY_COUNT, strategy);
}

const char *tdm_grasp_name(enum tdm_grasp grasp)
{
	static const char *const names[] = { "wholly", "partly", "not" };
	return NAME_OF(names, TDM_GRASP_COUNT, grasp);
}

const char *tdm_shape_name(enum tdm_shape shape)
{
	static const char *const names[] = {
#define X(id, name) name,
		TDM_SHAPE_LIST(X)
#undef X
	};
	return NAME_OF(names, TDM_SHAPE_COUNT, shape);
}

const char *tdm_file_state_name(enum tdm_file_state state)
{
	static const char *const names[] = {
#define X(id, name) name,
		TDM_FILE_STATE_LIST(X)
#undef X
	};
	return NAME_OF(names, TDM_FILE_STATE_COUNT, state);
}

bool tdm_scan_is_either_or(const struct tdm_scan_branch *a, const struct tdm_scan_branch *b)
{
	for (; a != NULL; a = a->outer)
		for (const struct tdm_scan_branch *other = b; other != NULL; other = other->outer)
			if (a->id == other->id && a->way != other->way)
				return true;
	return false;
}
