#include "cli/live_options.h"
#include "state/pick.h"

int tdm_take_refresh(const struct tdm_cmd *cmd, const char *value, unsigned *ms)
{
	uint64_t number;
	if (tdm_str_parse_u64(tdm_str_of(value), &number) != 0 || number > TDM_REFRESH_MAX_MS)
		return tdm_cmd_usage_error(cmd, "--refresh '%s': expected milliseconds, from %d to %d", value,
			TDM_REFRESH_MIN_MS, TDM_REFRESH_MAX_MS);
	if (number < TDM_REFRESH_MIN_MS)
		return tdm_cmd_usage_error(cmd, "--refresh '%s': at least %d milliseconds", value, TDM_REFRESH_MIN_MS);
	*ms = (unsigned)number;
	return 0;
}

int tdm_take_turns(const struct tdm_cmd *cmd, const char *option, const char *value, unsigned *turns)
{
	uint64_t number;
	if (tdm_str_parse_u64(tdm_str_of(value), &number) != 0 || number == 0 || number > UINT32_MAX)
		return tdm_cmd_usage_error(cmd, "--%s '%s': expected a number from 1 on", option, value);
	*turns = (unsigned)number;
	return 0;
}

int tdm_take_pid(const struct tdm_cmd *cmd, const char *value, int32_t *pid)
{
	uint64_t number;
	if (tdm_str_parse_u64(tdm_str_of(value), &number) != 0 || number == 0 || number > INT32_MAX)
		return tdm_cmd_usage_error(cmd, "--pid '%s': expected the number of a process", value);
	*pid = (int32_t)number;
	return 0;
}

int tdm_take_device(const struct tdm_cmd *cmd, const char *value, const char **device)
{
	if (!tdm_pick_name_is_valid(value))
		return tdm_cmd_usage_error(cmd,
			"--device '%s': expected a number, /dev/tenstorrent/N, a PCI address, a chip id (0x...) or a "
			"'#N' of the list",
			value);
	*device = value;
	return 0;
}
