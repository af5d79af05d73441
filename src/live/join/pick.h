/* Selects the devices and processes named by the options --device and --pid from a picture. */
#ifndef TDM_LIVE_PICK_H
#define TDM_LIVE_PICK_H

#include "live/join/picture.h"

/*
 * Whether `name` refers to this device. A name is a number (the logical number; if that is unknown and the device is no
 * board, its node's), "/dev/tenstorrent/N", a PCI address with or without its domain, a chip id ("0x…", or a number
 * from 1024 up), or "#" and the device's place. None of these changes when another device appears or disappears.
 */
bool tdm_pick_is(const struct tdm_picture_device *device, const char *name);

/* The device's label in every view: "0", "0v" for a virtual device, "/0" if only its node is known, else "#" and its
 * place. The label of another machine's device is preceded by the host's name and a colon. Returns dst. */
enum { TDM_PICK_LABEL_CAP = 160 };
char *tdm_pick_label(const struct tdm_picture_device *device, char *dst, size_t cap);

/* Whether `name` could mean a device at all. */
bool tdm_pick_name_is_valid(const char *name);

/* Width in columns of the longest label with a host; 0 if the picture is of this machine only. */
size_t tdm_pick_host_columns(const struct tdm_picture *picture);

struct tdm_pick {
	const char *device; /* NULL for all */
	const int32_t *pids;
	size_t pid_count; /* 0 for all */
	bool by_user;     /* only processes that belong to `uid` */
	uint32_t uid;
};

/* Whether the pick includes this process. */
bool tdm_pick_names(const struct tdm_pick *pick, const struct tdm_picture_process *process);

/* The first requested pid that no process in the picture has; 0 if there is none. */
int32_t tdm_pick_missing(const struct tdm_pick *pick, const struct tdm_picture *picture);

/* Whether the pick includes this device: it has the given name, and a picked process uses it. */
bool tdm_pick_takes_device(const struct tdm_pick *pick, const struct tdm_picture *picture, size_t device);

/* These do the same for a holding, whose process and device must match, and for a process, which must match and use
 * the named device. */
bool tdm_pick_takes_holding(const struct tdm_pick *pick, const struct tdm_picture *picture, size_t holding);
bool tdm_pick_takes_process(const struct tdm_pick *pick, const struct tdm_picture *picture, size_t process);

#endif
