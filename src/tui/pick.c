#include "tui/pick.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "registry/overview_pick.h"

bool tdm_pick_device(const struct tdm_overview *overview, size_t device, const char *wanted)
{
	return wanted == NULL || wanted[0] == '\0' ||
	       tdm_overview_device_is(&overview->devices[device], device, wanted);
}

bool tdm_pick_text(const char *text, const char *part)
{
	return strcasestr(text, part) != NULL;
}

bool tdm_pick_process(const struct tdm_overview_process *process, const char *part)
{
	char pid[16];
	snprintf(pid, sizeof pid, "%" PRId32, process->pid);
	return tdm_pick_text(process->command, part) || tdm_pick_text(process->comm, part) ||
	       tdm_pick_text(process->user, part) || tdm_pick_text(process->phase, part) || strstr(pid, part) != NULL;
}

uint64_t tdm_pick_key(const struct tdm_overview_device *device)
{
	/* A card stays the same when a program opens it and tells more about it. */
	if (device->node >= 0)
		return tdm_hash_u64(UINT64_MAX - (uint32_t)device->node);
	uint64_t weak = (uint32_t)device->number;
	return tdm_hash_u64((device->has_chip_id ? device->chip_id : weak) ^ (device->is_virtual ? 1 : 0)) ^
	       device->has_chip_id;
}
