/*
 * The decoded event: the centre of the program. All input, live or from a file, is decoded into events; all output is
 * computed from them or from the state they fold into. An event borrows its texts and its description until the source
 * is asked for the next one.
 */
#ifndef TDM_EVENT_EVENT_H
#define TDM_EVENT_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/kind.h"
#include "base/str.h"
#include "event/describe.h"

enum tdm_op {
	TDM_OP_DEVICE,  /* describes a device or one memory region: `text`, or `about` */
	TDM_OP_ALLOC,   /* a buffer was or will be allocated; the address may be TDM_ADDRESS_UNKNOWN */
	TDM_OP_FREE,    /* a buffer was released */
	TDM_OP_PHASE,   /* phase `name` begins; empty: the last one ended */
	TDM_OP_PROGRAM, /* from here on program or operation `name` runs */
	TDM_OP_OOM,   /* an allocation failed: kind, size; with TDM_EVENT_CLASH, circular buffers up to `id` grew beyond
			 `address` (0: unknown), the lowest L1 buffer or, with TDM_EVENT_BEYOND, the size of L1, and
			 `size` is by how much: that is no lack of memory for buffers */
	TDM_OP_QUERY, /* the source asks for the statistics at this point (text traces) */
	TDM_OP_SHRINK,  /* the range loses `size` bytes at its low end; 0 gives back all that it lost */
	TDM_OP_PROCESS, /* `who` describes a process, before its other events or again; `name` says how it is
			   known */
	TDM_OP_USAGE,   /* `usage`: the producer's own counts for process, device and kind */
	TDM_OP_MODULE,  /* the process has mapped a file with code: `name`, `address`, `size` */
	TDM_OP_CLEAR,   /* drop all buffers of process and device: a list of the live ones follows, or they are
			   no longer wanted; `size`: how many follow, 0: unknown */
	TDM_OP_LOST,    /* `size` events of process and device are missing here */
	TDM_OP_FORGET,  /* the source no longer knows the process */
	TDM_OP_STEP,    /* a step of the device, or of trace `id`: `size` is an enum tdm_step */
	TDM_OP_TOLD,    /* `told`: what the runtime said about the device; replaces what it said before */
	TDM_OP_NOTES,   /* `notes`: of the process; they replace those before */
	TDM_OP_COUNT
};

/* The address is unknown: the model chooses one (text traces), or none exists (captures made without dispatch). */
#define TDM_ADDRESS_UNKNOWN    UINT64_MAX
#define TDM_SIZE_UNKNOWN       UINT64_MAX

/* Set in the numbers of virtual devices, see struct tdm_device_info. */
#define TDM_DEVICE_VIRTUAL_BIT (UINT32_C(1) << 31)

enum {
	TDM_EVENT_VIEW = 1,     /* globally allocated or borrowed: no bytes of its own */
	TDM_EVENT_TOP_DOWN = 2, /* placed from the high end, whatever the kind's default is */
	TDM_EVENT_BOTTOM_UP = 4,
	TDM_EVENT_FIXED = 8,     /* must be at `address` */
	TDM_EVENT_PAST = 16,     /* is older than the list of live buffers already given: changes nothing */
	TDM_EVENT_FAULT = 32,    /* a release of a buffer that did not exist */
	TDM_EVENT_ADOPTED = 128, /* an allocation from before the tracking began; `time_ns`: when it was reported, 0 in
				    a list */
	TDM_EVENT_SHARED = 256,  /* others of its kind may have the same bytes: not part of the kind's sums */
	TDM_EVENT_CLASH = 512,
	TDM_EVENT_BEYOND = 1024,
	TDM_EVENT_LISTED = 64, /* an allocation in the list after a TDM_OP_CLEAR, which has each buffer once */
};

struct tdm_event {
	uint64_t time_ns; /* monotonic clock of the producer; 0 when the source has no time */
	uint64_t process; /* index into the source's processes; 0 when it has at most one */
	uint32_t device;  /* logical number in that process */
	uint8_t op;       /* enum tdm_op */
	uint8_t kind;     /* enum tdm_kind */
	uint16_t flags;
	uint64_t born_ns; /* of a release: when the buffer was allocated, same clock; 0: unknown */
	uint64_t over_ns; /* of a release, whose time_ns may be that of an earlier event: it was over by then; 0:
			     unknown */
	uint64_t id;      /* of the buffer; unique among the live ones of its process, device and kind */
	uint64_t address;
	uint64_t size;                       /* bytes asked for */
	uint64_t bytes_per_bank;             /* TDM_SIZE_UNKNOWN when the source does not say */
	uint64_t page_size;                  /* 0: unknown or not paged */
	uint32_t banks;                      /* each reserves bytes_per_bank, in lockstep; 0: unknown, or a view */
	uint32_t holding;                    /* banks or cores that hold a page; 0: unknown, all assumed */
	uint32_t cores;                      /* number of cores it is sharded over; 0: interleaved */
	uint32_t thread;                     /* 0: unknown */
	uint64_t position;                   /* line number or byte offset in the source, for messages; 0: unknown */
	uint32_t column;                     /* of `name` or `text` in that line; 0: unknown */
	int32_t pid;                         /* as the reader sees the process; set only in a picture; 0: unknown */
	struct tdm_str name;                 /* of the buffer, phase or program; may be empty */
	struct tdm_str text;                 /* of TDM_OP_DEVICE: "region key=value …", "device CARD key=value …" */
	struct tdm_str program;              /* the one that allocated the buffer; may be empty */
	const struct tdm_frame *frames;      /* call stack of an allocation, innermost first; NULL: none */
	uint32_t frame_count;                /* at most TDM_FRAMES_MAX */
	uint32_t range_count;                /* at most TDM_RANGES_MAX */
	uint32_t stack;                      /* number of the call stack, for events that a picture keeps; 0: none */
	const struct tdm_core_range *ranges; /* the cores it is on, for kinds that are on cores; NULL: unknown */
	union {                              /* by `op`; NULL for the others */
		const struct tdm_process *who;
		const struct tdm_device_info *about;
		const struct tdm_usage *usage;
		const struct tdm_told *told;
		const struct tdm_notes *notes;
	};
};

const char *tdm_op_name(enum tdm_op op);

/* Sources give only valid events. */
bool tdm_event_is_valid(const struct tdm_event *event);

#endif
