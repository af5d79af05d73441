/* Choosing devices and processes of a picture, as the options --device and --pid of the live views name them. */
#ifndef TDM_STATE_PICK_H
#define TDM_STATE_PICK_H

#include "state/picture.h"

/*
 * Whether `name` means this device, which is at `place` in its list. It is one of: a number (the logical one; that of
 * the device node where no logical one is known), "/dev/tenstorrent/N", a PCI address with or without its domain, a
 * chip id ("0x…", or a number from 1024 on), or "#" and the place.
 */
bool tdm_pick_is(const struct tdm_picture_device *device, size_t place, const char *name);

/* Whether `name` could mean a device at all. */
bool tdm_pick_name_is_valid(const char *name);

struct tdm_pick {
	const char *device; /* NULL: all */
	int32_t pid;        /* 0: all */
};

/* A device is taken when it is the one that was named, and the process that was named, if any, uses it. */
bool tdm_pick_takes_device(const struct tdm_pick *pick, const struct tdm_picture *picture, size_t device);

/* A holding is taken when its device and its process are; a process, when it is the one or has such a holding. */
bool tdm_pick_takes_holding(const struct tdm_pick *pick, const struct tdm_picture *picture, size_t holding);
bool tdm_pick_takes_process(const struct tdm_pick *pick, const struct tdm_picture *picture, size_t process);

#endif
