/*
 * The decoded event: the centre of the program. Everything that comes in, live or from a file, is decoded into these;
 * everything that goes out is computed from them or from the state they fold into. An event borrows its texts and its
 * description until the source is asked for the next one.
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
	TDM_OP_ALLOC,   /* a buffer was allocated, or is to be: address may be TDM_ADDRESS_UNKNOWN */
	TDM_OP_FREE,    /* a buffer was released */
	TDM_OP_PHASE,   /* `name` begins; empty: none runs any more */
	TDM_OP_PROGRAM, /* `name` is the program or operation that runs from here on */
	TDM_OP_OOM,     /* an allocation failed: kind, size */
	TDM_OP_QUERY,   /* the source asks for the statistics at this point (text traces) */
	TDM_OP_SHRINK,  /* the range loses `size` bytes at its low end; 0 gives back all that it lost */
	TDM_OP_PROCESS, /* describes a process, before its other events or again: `who`; `name` says where that is known
			   from */
	TDM_OP_USAGE,   /* what the producer counted for process, device and kind: `usage` */
	TDM_OP_MODULE,  /* a file with code is mapped into the process: `name`, `address`, `size` */
	TDM_OP_CLEAR,   /* all buffers of process and device are gone: an account of the live ones follows, or nobody
			   asks for them any more; `size`: how many are to come, 0: unknown */
	TDM_OP_LOST,    /* `size` events of process and device are missing here */
	TDM_OP_FORGET,  /* the source knows nothing of the process any more */
	TDM_OP_COUNT
};

/* No address is known: the model chooses it (text traces), or the program never had one (captures made without
 * dispatch). */
#define TDM_ADDRESS_UNKNOWN    UINT64_MAX
#define TDM_SIZE_UNKNOWN       UINT64_MAX

/* The numbers of devices that are only added up, see struct tdm_device_info, have this bit. */
#define TDM_DEVICE_VIRTUAL_BIT (UINT32_C(1) << 31)

enum {
	TDM_EVENT_VIEW = 1,     /* globally allocated or borrowed: 0 bytes of its own */
	TDM_EVENT_TOP_DOWN = 2, /* placed from the high end, whatever the kind's default is */
	TDM_EVENT_BOTTOM_UP = 4,
	TDM_EVENT_FIXED = 8,   /* must lie at `address` */
	TDM_EVENT_PAST = 16,   /* happened before the account of live buffers that was given: changes nothing */
	TDM_EVENT_FAULT = 32,  /* a release of a buffer that was not there */
	TDM_EVENT_LISTED = 64, /* an allocation of the account that follows a TDM_OP_CLEAR: each buffer once */
};

struct tdm_event {
	uint64_t time_ns; /* monotonic clock of the producer; 0 when the source has no time */
	uint64_t process; /* index into the source's processes; 0 when it has one or none */
	uint32_t device;  /* logical number in that process */
	uint8_t op;       /* enum tdm_op */
	uint8_t kind;     /* enum tdm_kind */
	uint16_t flags;
	uint64_t born_ns; /* of a release: when the buffer was born, on the same clock; 0: unknown */
	uint64_t over_ns; /* of a release whose time may be that of an event before it: it was over by then; 0: unknown
			   */
	uint64_t id;      /* of the buffer; unique among the live ones of its process, device and kind */
	uint64_t address;
	uint64_t size;                  /* bytes asked for */
	uint64_t bytes_per_bank;        /* TDM_SIZE_UNKNOWN when the source does not say */
	uint64_t page_size;             /* 0: unknown or not paged */
	uint32_t banks;                 /* in lockstep: bytes_per_bank in each is reserved; 0: unknown, or a view */
	uint32_t holding;               /* banks or cores that hold a page; 0: unknown, taken as all */
	uint32_t cores;                 /* sharded over so many; 0: interleaved */
	uint32_t thread;                /* 0: unknown */
	uint64_t position;              /* line number or byte offset in the source, for messages; 0: none */
	uint32_t column;                /* of `name` or `text` in that line; 0: unknown */
	int32_t pid;                    /* of the process, as the reader knows it; only in a picture; 0: unknown */
	struct tdm_str name;            /* of the buffer, phase or program; may be empty */
	struct tdm_str text;            /* of TDM_OP_DEVICE: "region key=value …", "device CARD key=value …" */
	struct tdm_str program;         /* that allocated the buffer; may be empty */
	const struct tdm_frame *frames; /* call stack of an allocation, innermost first; NULL: none */
	uint32_t frame_count;           /* at most TDM_FRAMES_MAX */
	uint32_t range_count;           /* at most TDM_RANGES_MAX */
	uint32_t stack;                 /* of an event that a picture keeps: the number of its call stack; 0: none */
	const struct tdm_core_range *ranges; /* the cores that it lies on, for kinds that do; NULL: unknown */
	union {                              /* by `op`; NULL for the others */
		const struct tdm_process *who;
		const struct tdm_device_info *about;
		const struct tdm_usage *usage;
	};
};

const char *tdm_op_name(enum tdm_op op);

/* Nothing that breaks this leaves a source. */
bool tdm_event_is_valid(const struct tdm_event *event);

#endif
