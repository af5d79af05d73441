#include "tui/pick.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char node_prefix[] = "/dev/tenstorrent/";

static bool is_number(const char *text, int32_t number)
{
	char own[16];
	snprintf(own, sizeof own, "%" PRId32, number);
	return number >= 0 && strcmp(text, own) == 0;
}

static bool is_pci(const char *text, const char *pci)
{
	const char *short_form = strchr(pci, ':');
	if (pci[0] == '\0')
		return false;
	return strcasecmp(text, pci) == 0 ||
	       (short_form != NULL && strchr(short_form + 1, ':') != NULL && strcasecmp(text, short_form + 1) == 0);
}

static bool is_chip(const char *text, uint64_t chip_id)
{
	char own[32];
	snprintf(own, sizeof own, "%" PRIu64, chip_id);
	if (strcmp(text, own) == 0)
		return true;
	char *end;
	return strncasecmp(text, "0x", 2) == 0 && text[2] != '\0' && strtoull(text, &end, 16) == chip_id &&
	       *end == '\0';
}

bool tdm_pick_device(const struct tdm_overview_device *device, const char *wanted)
{
	if (wanted == NULL || wanted[0] == '\0')
		return true;
	if (strncmp(wanted, node_prefix, strlen(node_prefix)) == 0)
		return is_number(wanted + strlen(node_prefix), device->node);
	return is_number(wanted, device->number >= 0 ? device->number : device->node) || is_pci(wanted, device->pci) ||
	       (device->has_chip_id && is_chip(wanted, device->chip_id));
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
	uint64_t weak = (uint64_t)(uint32_t)device->node << 32 | (uint32_t)device->number;
	return tdm_hash_u64((device->has_chip_id ? device->chip_id : weak) ^ (device->is_virtual ? 1 : 0)) ^
	       device->has_chip_id;
}
