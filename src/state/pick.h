/* Chooses the devices and processes of a picture that the options --device and --pid name. */
#ifndef TDM_STATE_PICK_H
#define TDM_STATE_PICK_H

#include "state/picture.h"

/*
 * Whether `name` means this device. A name is a number (the logical one, or that of the device node if no logical one
 * is known and it is no board), "/dev/tenstorrent/N", a PCI address with or without its domain, a chip id ("0x…", or
 * a number from 1024 on), or "#" and the device's place. None of them changes when another device comes or goes.
 */
bool tdm_pick_is(const struct tdm_picture_device *device, const char *name);

/* The device's number as every view shows it: "0", "0v" for a virtual one, "/0" if only its device node is known, else
 * "#" and its place; after the name of its host and a colon, if it is of another machine. Returns dst. */
enum { TDM_PICK_LABEL_CAP = 160 };
char *tdm_pick_label(const struct tdm_picture_device *device, char *dst, size_t cap);

/* Whether `name` could mean a device at all. */
bool tdm_pick_name_is_valid(const char *name);

/* The columns of the longest label of a host's device; 0: the picture is of this machine. */
size_t tdm_pick_host_columns(const struct tdm_picture *picture);

struct tdm_pick {
	const char *device; /* NULL: all */
	const int32_t *pids;
	size_t pid_count; /* 0: all */
	bool by_user;     /* only processes of `uid` */
	uint32_t uid;
};

/* Whether a process has this pid, for the reader or for itself. */
bool tdm_pick_is_pid(const struct tdm_picture_process *process, int32_t pid);

/* Whether a process is one of the named ones. */
bool tdm_pick_names(const struct tdm_pick *pick, const struct tdm_picture_process *process);

/* The first named pid that no process in the picture has; 0: none. */
int32_t tdm_pick_missing(const struct tdm_pick *pick, const struct tdm_picture *picture);

/* Takes a device if it matches the named device, and a named process uses it. */
bool tdm_pick_takes_device(const struct tdm_pick *pick, const struct tdm_picture *picture, size_t device);

/* Takes a holding if its process and device match; a process, if it matches and uses the named device. */
bool tdm_pick_takes_holding(const struct tdm_pick *pick, const struct tdm_picture *picture, size_t holding);
bool tdm_pick_takes_process(const struct tdm_pick *pick, const struct tdm_picture *picture, size_t process);

#endif
