/*
 * One of tt-metal's shared-memory regions, decoded from a copy of its bytes. Processes that use a device count the
 * bytes of their buffers there. docs/formats/metal_shm.md describes the layout; metal_shm.h reads the files.
 *
 * A region has no magic number, no checksum and no lock, so only plausible figures are believed: an impossible one is
 * unknown, and `doubts` says so. Nothing here is joined with other sources. metal_owners.h finds out which processes
 * still run; until then all of them are undecided.
 *
 * The figures are the sizes that programs asked for, summed over the banks of one device, not what the allocator
 * reserved.
 */
#ifndef TDM_SOURCES_METAL_REGION_H
#define TDM_SOURCES_METAL_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"
#include "base/units.h"
#include "sources/proc_facts.h"

enum {
	TDM_METAL_SIZE = 8576,                      /* of a file, in all versions */
	TDM_METAL_SIZE_V1 = 9280,                   /* of an older form of version 1, which also counts kernels */
	TDM_METAL_COPY_CAP = TDM_METAL_SIZE_V1 + 1, /* one byte more, so that a longer file is noticed */
	TDM_METAL_VERSION_MAX = 4,
	TDM_METAL_CHIPS_MAX = 16,
	TDM_METAL_SLOTS_MAX = 64,
	TDM_METAL_NAME_CAP = 256,
	TDM_METAL_HINT_CAP = 64,
	TDM_METAL_TEXT_CAP = 200,
};

/* More than any device's memory; a larger figure is a counter that wrapped below 0, or damaged. */
#define TDM_METAL_BYTES_MAX (UINT64_C(1) << 42)

/* id, name, what it means */
#define TDM_METAL_STATUS_LIST(X)                                                            \
	X(OK, "ok", "read")                                                                 \
	X(NOT_READY, "not_ready", "the file is being set up, or its setup was interrupted") \
	X(VERSION, "version", "the version of the layout is not known")                     \
	X(LENGTH, "length", "the length does not match the version")                        \
	X(CHANGING, "changing", "the length changes while it is read")                      \
	X(DENIED, "denied", "the reader may not open the file")                             \
	X(VANISHED, "vanished", "the file was removed after it was listed")                 \
	X(NOT_A_FILE, "not_a_file", "something that is not a file has that name")           \
	X(FAILED, "failed", "the system cannot read the file")

enum tdm_metal_status {
#define X(id, name, summary) TDM_METAL_##id,
	TDM_METAL_STATUS_LIST(X)
#undef X
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

/* What the device's id is. Only TDM_METAL_ID_CHIP is unique to a chip. */
enum tdm_metal_id {
	TDM_METAL_ID_UNKNOWN,
	TDM_METAL_ID_CHIP,      /* the chip's unique id */
	TDM_METAL_ID_BOARD,     /* version 1: (board << 8) | location */
	TDM_METAL_ID_LOGICAL,   /* the device's logical number: the runtime had no unique id */
	TDM_METAL_ID_UNHEALTHY, /* made up for a chip that does not answer; contains only its logical number */
	TDM_METAL_ID_SIMULATED, /* of a simulator or mock */
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
	uint8_t idx;       /* in the file's table */
	uint8_t life;      /* enum tdm_proc_life */
	bool releases;     /* its owner or another process is releasing it; the pid is already gone */
	bool reused;       /* the pid now belongs to another process */
	int32_t pid;       /* in the pid namespace of the process that wrote it; 0 when `releases` */
	int32_t nested_as; /* pid here of a container's process that has this pid and name inside; 0: none */
	char hint[TDM_METAL_HINT_CAP]; /* its name when it attached, printable; only a hint */
	uint64_t updated_ns;           /* real-time clock; 0: unknown */
	struct tdm_metal_bytes bytes;
	struct tdm_proc_facts facts; /* from /proc, if it runs */
};

struct tdm_metal_region {
	char name[TDM_METAL_NAME_CAP]; /* of the file, without the directory */
	uint8_t status;                /* enum tdm_metal_status; unless TDM_METAL_OK, all figures are unknown */
	int err;                       /* the system's code that caused the status; 0: none */
	char text[TDM_METAL_TEXT_CAP]; /* the status in words, with its numbers */
	uint32_t doubts;               /* bit n: enum tdm_metal_doubt n */
	uint32_t counts;               /* bit n: enum tdm_kind n is counted */
	bool moving;                   /* the counters changed in every attempt: figures may be of different moments */

	bool has_file;                /* the next five fields are known */
	uint64_t device_no, inode_no; /* the file's identity */
	uint64_t length;
	uint32_t uid;  /* owner */
	uint32_t mode; /* permissions */

	bool has_name_id, has_version, has_content;
	uint64_t name_id;         /* the number in the name */
	uint32_t version;         /* if `has_version`; may be an unknown version */
	uint64_t asic_id;         /* if `has_content`, like all fields below */
	uint8_t id_type;          /* enum tdm_metal_id, of `asic_id` */
	uint32_t device;          /* logical number */
	uint64_t board_serial;    /* 0: not given */
	uint32_t init_state;      /* version 4 */
	uint32_t attached;        /* reference count; includes what dead processes left */
	uint32_t processes;       /* number in the header */
	uint64_t updated_ns;      /* real-time clock; 0: unknown */
	uint32_t free_slot_count; /* of process slots */
	uint32_t chip_count, slot_count;

	/* total + excess = live + stale + undecided + unattributed, for each kind where all are known */
	struct tdm_metal_bytes total;
	struct tdm_metal_bytes live;         /* of running processes of all users */
	struct tdm_metal_bytes stale;        /* of dead ones: no longer on the device */
	struct tdm_metal_bytes undecided;    /* of processes that may or may not run */
	struct tdm_metal_bytes unattributed; /* part of the total that is in no slot */
	struct tdm_metal_bytes excess;       /* part of the slots' sum beyond the total */

	struct tdm_metal_chip chips[TDM_METAL_CHIPS_MAX];
	struct tdm_metal_slot slots[TDM_METAL_SLOTS_MAX];
};

/* Everything unknown, nothing read. */
void tdm_metal_region_init(struct tdm_metal_region *region);

/*
 * Decodes a copy of a file and sets the status. Looks only at the content: the fields about the name and the file stay
 * as they are.
 */
void tdm_metal_decode(const uint8_t *data, size_t len, struct tdm_metal_region *region);

/* Sets the status and its text. */
void tdm_metal_set_status(struct tdm_metal_region *region, enum tdm_metal_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Sums the slots by the life of their processes. Call it after changing `life`. */
void tdm_metal_sum(struct tdm_metal_region *region);

const char *tdm_metal_status_name(enum tdm_metal_status status);
const char *tdm_metal_doubt_text(enum tdm_metal_doubt doubt);

static inline bool tdm_metal_doubts(const struct tdm_metal_region *region, enum tdm_metal_doubt doubt)
{
	return (region->doubts >> doubt & 1) != 0;
}

/* Readers give only valid regions. */
bool tdm_metal_region_is_valid(const struct tdm_metal_region *region);

#endif
