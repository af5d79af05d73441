/* tt-metal's shared memory: one file for each device, "tt_device_ID_memory" in /dev/shm. A reading goes through four
 * steps: list the files, copy each until two copies agree, decode the copy, and judge which of the processes in its
 * slots are still running. */
#ifndef TDM_LIVE_METAL_SHM_H
#define TDM_LIVE_METAL_SHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/kind.h"
#include "base/units.h"
#include "live/host/proc_facts.h"

/*
 * ---- a region ----
 *
 * One of tt-metal's shared-memory regions, decoded from a copy of its bytes. Processes that use a device count the
 * bytes of their buffers there. docs/formats/metal_shm.md describes the layout.
 *
 * A region has no magic number, no checksum and no lock, so only plausible figures are believed: an impossible figure
 * becomes unknown, and sets a bit in `doubts`. Nothing here is joined with other sources. tdm_metal_judge() finds out
 * which processes are still running; until then all are undecided.
 *
 * The figures are requested sizes, summed over the banks of one device, not the bytes that the allocator reserved.
 */

enum {
	TDM_METAL_SIZE = 8576,                      /* size of a file, in all versions */
	TDM_METAL_SIZE_V1 = 9280,                   /* size in an older form of version 1, which also counts kernels */
	TDM_METAL_COPY_CAP = TDM_METAL_SIZE_V1 + 1, /* one byte more than the largest file, to notice longer files */
	TDM_METAL_VERSION_MAX = 4,
	TDM_METAL_CHIPS_MAX = 16,
	TDM_METAL_SLOTS_MAX = 64,
	TDM_METAL_NAME_CAP = 256,
	TDM_METAL_HINT_CAP = 64,
	TDM_METAL_TEXT_CAP = 200,
};

/* More than any device's memory; a larger figure is damaged, or comes from a counter that fell below 0. */
#define TDM_METAL_BYTES_MAX (UINT64_C(1) << 42)

enum tdm_metal_status {
	TDM_METAL_OK,
	TDM_METAL_NOT_READY,  /* the file is being set up, or its setup was interrupted */
	TDM_METAL_VERSION,    /* the version of the layout is not known */
	TDM_METAL_LENGTH,     /* the length does not match the version */
	TDM_METAL_CHANGING,   /* the length changed while the file was read */
	TDM_METAL_DENIED,     /* the reader may not open the file */
	TDM_METAL_VANISHED,   /* the file was removed after it was listed */
	TDM_METAL_NOT_A_FILE, /* something that is not a file has that name */
	TDM_METAL_FAILED,     /* the system could not read the file */
	TDM_METAL_STATUS_COUNT
};

/* Contradictions in a region that could be read: id, text */
#define TDM_METAL_DOUBT_LIST(X)                                                                           \
	X(ID_DIFFERS, "the device's id in the file is not the one in its name")                           \
	X(HUGE, "a counter is larger than any device's memory: it has wrapped below 0, or is damaged")    \
	X(SLOTS_EXCEED, "the processes' figures exceed the device's total")                               \
	X(PID, "a process slot has an impossible pid; what it holds counts as unattributed")              \
	X(PID_TWICE, "a pid has two process slots")                                                       \
	X(FREE_SLOT, "a free process slot holds bytes; they count as unattributed")                       \
	X(PROCESS_COUNT, "the number of processes in the header is not the number of process slots used") \
	X(TIME, "a time stamp is impossible")                                                             \
	X(CHIP, "a chip's slot is impossible")

enum tdm_metal_doubt {
#define X(id, text) TDM_METAL_DOUBT_##id,
	TDM_METAL_DOUBT_LIST(X)
#undef X
		TDM_METAL_DOUBT_COUNT
};

/* The type of the device's id. Only TDM_METAL_ID_CHIP is unique to a chip. */
enum tdm_metal_id {
	TDM_METAL_ID_UNKNOWN,
	TDM_METAL_ID_CHIP,      /* the chip's unique id */
	TDM_METAL_ID_BOARD,     /* version 1: (board << 8) | location */
	TDM_METAL_ID_LOGICAL,   /* the device's logical number: the runtime had no unique id */
	TDM_METAL_ID_UNHEALTHY, /* invented for a chip that does not answer; contains only its logical number */
	TDM_METAL_ID_SIMULATED, /* the id of a simulator or mock */
};

/* Bytes by kind; TDM_BYTES_UNKNOWN for kinds that the region does not count. */
struct tdm_metal_bytes {
	uint64_t of[TDM_KIND_COUNT];
};

struct tdm_metal_chip {
	uint32_t chip; /* logical number */
	bool is_remote;
	struct tdm_metal_bytes bytes;
};

/* A process slot in use. */
struct tdm_metal_slot {
	uint8_t idx;   /* index in the file's table */
	uint8_t life;  /* enum tdm_proc_life */
	bool releases; /* the owner or another process is releasing the slot, and has removed the pid */
	bool reused;   /* the pid was reused by another process */
	int32_t pid;   /* pid in the namespace of the process that wrote it; 0 if `releases` */
	/* pid here of a container's process with this pid and name inside the container; 0 if there is none */
	int32_t nested_as;
	char hint[TDM_METAL_HINT_CAP]; /* the process's name when it attached, printable; only a hint */
	uint64_t updated_ns;           /* real-time clock; 0 if unknown */
	struct tdm_metal_bytes bytes;
	struct tdm_proc_facts facts; /* facts from /proc, if the process is running */
};

struct tdm_metal_region {
	char name[TDM_METAL_NAME_CAP]; /* name of the file, without the directory */
	uint8_t status;                /* enum tdm_metal_status; unless TDM_METAL_OK, all figures are unknown */
	int err;                       /* the system's code that caused the status; 0 if there is none */
	char text[TDM_METAL_TEXT_CAP]; /* the status in words, with its numbers */
	/* the counters changed at every attempt, so figures may be from different moments */
	bool moving;

	bool has_file;                /* the next five fields are valid */
	uint64_t device_no, inode_no; /* the file's identity */
	uint64_t length;
	uint32_t uid;  /* owner of the file */
	uint32_t mode; /* permissions of the file */

	bool has_name_id;
	uint64_t name_id; /* the number in the file name */

	/* The content of the copy, up to `total`: */
	uint32_t doubts; /* bit n: enum tdm_metal_doubt n */
	uint32_t counts; /* bit n: enum tdm_kind n is counted */
	bool has_version, has_content;
	uint32_t version;         /* valid if `has_version`; may be an unknown version */
	uint64_t asic_id;         /* valid if `has_content`, like all fields below */
	uint8_t id_type;          /* enum tdm_metal_id: the type of `asic_id` */
	uint32_t device;          /* logical number */
	uint64_t board_serial;    /* 0 if not given */
	uint32_t init_state;      /* only in version 4 */
	uint32_t attached;        /* reference count; includes dead processes that did not detach */
	uint32_t processes;       /* number of processes according to the header */
	uint64_t updated_ns;      /* real-time clock; 0 if unknown */
	uint32_t free_slot_count; /* number of free process slots */
	uint32_t chip_count, slot_count;

	/* total + excess = live + stale + undecided + unattributed, for each kind for which all are known */
	struct tdm_metal_bytes total;
	struct tdm_metal_bytes live;         /* bytes of running processes, of all users */
	struct tdm_metal_bytes stale;        /* bytes of dead processes, which are no longer on the device */
	struct tdm_metal_bytes undecided;    /* bytes of processes that may or may not be running */
	struct tdm_metal_bytes unattributed; /* the part of the total that is in no slot */
	struct tdm_metal_bytes excess;       /* the part of the slots' sum that exceeds the total */

	struct tdm_metal_chip chips[TDM_METAL_CHIPS_MAX];
	struct tdm_metal_slot slots[TDM_METAL_SLOTS_MAX];

	/* For the next reading: */
	int fd;         /* descriptor of the file, left open; 0 if closed */
	size_t settled; /* bytes of `copy`; 0 unless two copies in a row agreed */
	uint8_t copy[TDM_METAL_COPY_CAP];
};

/*
 * Decodes a copy of a file and sets the status. Uses only the content: the fields about the name and the file stay
 * unchanged.
 */
void tdm_metal_decode(const uint8_t *data, size_t len, struct tdm_metal_region *region);

/* Sums the slots by the life of their processes. Call it after changing `life`. */
void tdm_metal_sum(struct tdm_metal_region *region);

extern const char *const tdm_metal_doubt_texts[TDM_METAL_DOUBT_COUNT];

static inline bool tdm_metal_doubts(const struct tdm_metal_region *region, enum tdm_metal_doubt doubt)
{
	return (region->doubts >> doubt & 1) != 0;
}

/*
 * ---- the files ----
 *
 * Each file is copied until two copies in a row agree; files are never mapped and never written.
 */

enum { TDM_METAL_REGIONS_MAX = 1024 };

struct tdm_metal_list {
	struct tdm_metal_region *regions; /* sorted by id, then by name */
	size_t count, cap;
	uint64_t cut; /* files beyond TDM_METAL_REGIONS_MAX, not read */
	int err;      /* 0, or why the directory cannot be read; the list is empty then */
};

/* The directory to use: `path`, else $TIDEMARK_SHM_DIR, else /dev/shm. Borrowed. */
const char *tdm_metal_path(const char *path);

/* Whether a file with this name is a region. Sets *has_id, and *id if the middle part is a 64-bit number. */
bool tdm_metal_name_parse(const char *name, bool *has_id, uint64_t *id);

/*
 * Copies up to TDM_METAL_COPY_CAP bytes with `read`, which returns the copy's length or a negative code. Repeats this
 * until two copies in a row are equal, a few times at most; then decodes the last copy. `was` is an earlier reading of
 * the same file, or NULL: if the first copy equals its copy, its figures are reused.
 */
void tdm_metal_read_settled(ssize_t (*read)(void *context, uint8_t *copy), void *context,
	const struct tdm_metal_region *was, struct tdm_metal_region *region);

/* Reads one file of a directory, and with `may_keep` leaves it open if it is a region. Any failure becomes the region's
 * status. `was` is an earlier reading of the file with that name, or NULL; `inode_no` is its present inode number. */
void tdm_metal_read(int dir_fd, const char *name, uint64_t inode_no, bool may_keep, struct tdm_metal_region *was,
	struct tdm_metal_region *region);

/*
 * Reads all regions of tdm_metal_path(path). `list` is all zero, or an old list to reuse. `before` is another list or
 * NULL: a file that has not changed since then is read only once, and the files that `before` keeps open are reused. 0,
 * or list->err.
 */
int tdm_metal_list_read(struct tdm_metal_list *list, struct tdm_metal_list *before, const char *path);
void tdm_metal_list_done(struct tdm_metal_list *list);

/*
 * ---- owners of process slots ----
 *
 * Judges the owners of process slots in tt-metal's shared memory: each runs, has ended, belongs to another user, or is
 * undecided. Killing a process does not change a region, so /proc must be consulted.
 */

/*
 * Judges every slot of the list's regions and recomputes their sums. A pid that /proc does not show means a dead
 * process, unless there is a sign of another pid namespace: a container has a process with that pid and name, the slot
 * has been written to since `before` (an earlier reading of the same files, or NULL), or `root` has outsiders. Then the
 * owner is undecided. A container's process takes precedence over one with the same pid here but another name.
 */
void tdm_metal_judge(
	struct tdm_metal_list *list, const struct tdm_metal_list *before, const struct tdm_proc_root *root);

/* Whether the slot's name is the process's name; true if either is unknown. */
bool tdm_metal_name_agrees(const struct tdm_metal_slot *slot);

/*
 * ---- watching ----
 *
 * Reads tt-metal's regions at every look, and judges the owners of their process slots about once a second. Between two
 * judgements, a slot keeps its judgement as long as it belongs to the same process.
 */

struct tdm_metal_watch {
	const char *dir;                   /* borrowed; NULL for the default */
	struct tdm_metal_list now, before; /* the last two readings */
	uint64_t judge_ns;                 /* monotonic clock, when to judge again */
};

void tdm_metal_watch_done(struct tdm_metal_watch *watch);
/* Errors are in the list. */
void tdm_metal_watch_refresh(struct tdm_metal_watch *watch, const struct tdm_proc_root *root, uint64_t now_ns);

#endif
