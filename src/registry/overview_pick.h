/* Choosing devices and processes of an overview, as the options --device and --pid of the live views name them. */
#ifndef TDM_REGISTRY_OVERVIEW_PICK_H
#define TDM_REGISTRY_OVERVIEW_PICK_H

#include "registry/overview.h"

/*
 * Whether `name` means this device, which is at `place` in its list. It is one of: a number (the logical one; that of
 * the device node where no logical one is known), "/dev/tenstorrent/N", a PCI address with or without its domain, a
 * chip id ("0x…", or a number from 1024 on), or "#" and the place.
 */
bool tdm_overview_device_is(const struct tdm_overview_device *device, size_t place, const char *name);

/* Whether `name` could mean a device at all. */
bool tdm_overview_device_name_is_valid(const char *name);

struct tdm_overview_pick {
	const char *device; /* NULL: all */
	int32_t pid;        /* 0: all */
};

/* A device is taken when it is the one that was named, and the process that was named, if any, uses it. */
bool tdm_overview_takes_device(
	const struct tdm_overview_pick *pick, const struct tdm_overview *overview, size_t device);

/* A holding is taken when its device and its process are; a process, when it is the one or has such a holding. */
bool tdm_overview_takes_holding(
	const struct tdm_overview_pick *pick, const struct tdm_overview *overview, size_t holding);
bool tdm_overview_takes_process(
	const struct tdm_overview_pick *pick, const struct tdm_overview *overview, size_t process);

#endif
