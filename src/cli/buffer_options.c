#include "cli/buffer_options.h"
#include "cli/live_options.h"

int tdm_take_one_pid(const struct tdm_cmd *cmd, const char *value, struct tdm_pids *pids)
{
	int32_t pid = 0;
	if (tdm_take_pid(cmd, value, &pid) != 0)
		return TDM_EXIT_USAGE;
	if (pids->count == TDM_PIDS_MAX)
		return tdm_cmd_usage_error(cmd, "at most %d --pid options", TDM_PIDS_MAX);
	pids->list[pids->count++] = pid;
	return 0;
}

int tdm_take_buffer_device(const struct tdm_cmd *cmd, const char *value, struct tdm_buffer_filter *filter)
{
	uint64_t number;
	if (tdm_str_parse_u64(tdm_str_of(value), &number) != 0 || number > INT32_MAX)
		return tdm_cmd_usage_error(cmd, "--device '%s': expected the number of a device", value);
	filter->has_device = true;
	filter->device = (uint32_t)number;
	return 0;
}

int tdm_take_buffer_kind(const struct tdm_cmd *cmd, const char *value, struct tdm_buffer_filter *filter)
{
	filter->has_kind = true;
	if (tdm_kind_parse(tdm_str_of(value), &filter->kind) != 0)
		return tdm_cmd_usage_error(cmd,
			"--kind '%s': expected dram, l1, l1_small, trace, cb, dfb, scratchpad, kernel, firmware, "
			"system or config",
			value);
	return 0;
}
