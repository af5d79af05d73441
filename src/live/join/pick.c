#include "live/join/pick.h"
#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static const char node_folder[] = "/dev/tenstorrent/";

/* Numbers from this value up are taken to be chip ids, because no machine has this many devices. */
enum { DEVICES_MAX = 1024 };

/* The forms that a device name can take. */
enum form { FORM_NONE, FORM_NUMBER, FORM_NODE, FORM_PCI, FORM_CHIP, FORM_PLACE };

static enum form decimal(const char *text, enum form form, uint64_t *number)
{
	return tdm_str_parse_u64(tdm_str_of(text), number) == 0 ? form : FORM_NONE;
}

static enum form read_name(const char *name, uint64_t *number)
{
	*number = 0;
	if (strncmp(name, node_folder, strlen(node_folder)) == 0)
		return decimal(name + strlen(node_folder), FORM_NODE, number);
	if (name[0] == '#')
		return decimal(name + 1, FORM_PLACE, number);
	if (tdm_has_prefix(name, "0x") || tdm_has_prefix(name, "0X")) {
		char *end;
		errno = 0;
		*number = strtoull(name + 2, &end, 16);
		return isxdigit((unsigned char)name[2]) && errno == 0 && *end == '\0' ? FORM_CHIP : FORM_NONE;
	}
	if (strchr(name, ':') != NULL)
		return name[strspn(name, "0123456789abcdefABCDEF:.")] == '\0' ? FORM_PCI : FORM_NONE;
	enum form form = decimal(name, FORM_NUMBER, number);
	return form == FORM_NUMBER && *number >= DEVICES_MAX ? FORM_CHIP : form;
}

bool tdm_pick_is(const struct tdm_picture_device *device, const char *name)
{
	uint64_t number;
	const char *domain = strchr(device->pci, ':');
	switch (read_name(name, &number)) {
	case FORM_NUMBER:
		/* A board's node number may equal another device's logical number, so it is ignored here. */
		return (device->number >= 0 || device->is_board ? device->number : device->node) == (int64_t)number;
	case FORM_NODE:
		return device->node >= 0 && (uint64_t)device->node == number;
	case FORM_PCI:
		/* "01:00.0" means the same device as "0000:01:00.0". */
		return strcasecmp(device->pci, name) == 0 || (domain != NULL && strcasecmp(domain + 1, name) == 0);
	case FORM_CHIP:
		return device->has_chip_id && device->chip_id == number;
	case FORM_PLACE:
		return device->place == number;
	case FORM_NONE:
		break;
	}
	return false;
}

char *tdm_pick_label(const struct tdm_picture_device *device, char *dst, size_t cap)
{
	const char *host = device->host != NULL ? device->host->name : "", *colon = device->host != NULL ? ":" : "";
	if (device->number >= 0)
		snprintf(dst, cap, "%s%s%" PRId32 "%s", host, colon, device->number, device->is_virtual ? "v" : "");
	else if (device->node >= 0)
		snprintf(dst, cap, "%s%s/%" PRId32, host, colon, device->node);
	else
		snprintf(dst, cap, "%s%s#%" PRIu32, host, colon, device->place);
	return dst;
}

size_t tdm_pick_host_columns(const struct tdm_picture *picture)
{
	enum { NUMBER_COLUMNS = 3 }; /* columns for ":31"; few machines have more devices */
	size_t most = 0;
	for (size_t i = 0; i < picture->host_count; i++)
		most = tdm_max(most, strlen(picture->hosts[i].name));
	return most != 0 ? most + NUMBER_COLUMNS : 0;
}

bool tdm_pick_name_is_valid(const char *name)
{
	uint64_t number;
	return read_name(name, &number) != FORM_NONE;
}

static const struct tdm_picture_process *process_of(const struct tdm_picture *picture, size_t holding)
{
	return &picture->processes[picture->holdings[holding].process];
}

static bool is_pid(const struct tdm_picture_process *process, int32_t pid)
{
	return process->pid == pid || process->own_pid == pid;
}

bool tdm_pick_names(const struct tdm_pick *pick, const struct tdm_picture_process *process)
{
	if (pick->by_user && process->uid != pick->uid)
		return false;
	for (size_t i = 0; i < pick->pid_count; i++)
		if (is_pid(process, pick->pids[i]))
			return true;
	return pick->pid_count == 0;
}

int32_t tdm_pick_missing(const struct tdm_pick *pick, const struct tdm_picture *picture)
{
	for (size_t i = 0; i < pick->pid_count; i++) {
		size_t p = 0;
		while (p < picture->process_count && !is_pid(&picture->processes[p], pick->pids[i]))
			p++;
		if (p == picture->process_count)
			return pick->pids[i];
	}
	return 0;
}

bool tdm_pick_takes_device(const struct tdm_pick *pick, const struct tdm_picture *picture, size_t device)
{
	if (pick->device != NULL && !tdm_pick_is(&picture->devices[device], pick->device))
		return false;
	if (pick->pid_count == 0)
		return true;
	for (size_t i = 0; i < picture->holding_count; i++)
		if (picture->holdings[i].device == device && tdm_pick_names(pick, process_of(picture, i)))
			return true;
	return false;
}

bool tdm_pick_takes_holding(const struct tdm_pick *pick, const struct tdm_picture *picture, size_t holding)
{
	size_t device = picture->holdings[holding].device;
	return tdm_pick_names(pick, process_of(picture, holding)) &&
	       (pick->device == NULL || tdm_pick_is(&picture->devices[device], pick->device));
}

bool tdm_pick_takes_process(const struct tdm_pick *pick, const struct tdm_picture *picture, size_t process)
{
	const struct tdm_picture_process *of = &picture->processes[process];
	if (!tdm_pick_names(pick, of))
		return false;
	if (pick->device == NULL)
		return true;
	for (size_t i = 0; i < of->holding_count; i++)
		if (tdm_pick_takes_holding(pick, picture, of->first_holding + i))
			return true;
	return false;
}
