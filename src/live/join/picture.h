/*
 * A picture contains the devices and processes of a machine, or those found in files, and their figures at one moment.
 * state.h takes pictures of this machine, fleet.h of others; every view draws them. The parts of a picture refer to
 * each other by index.
 *
 *     process 1 ── n holding n ── 1 device        a holding is the memory that one process has on one device
 *                      1
 *                      n
 *                   buffer                        only if a view asked for buffers
 *
 * Sources count differently, so one source wins for each device and kind and supplies all of its figures. Wherever
 * `used` is known, the holdings of running processes and `unattributed` add up to it.
 *
 * An unknown number is TDM_BYTES_UNKNOWN, never 0. Everything in a picture is borrowed until the next one is taken;
 * texts stay valid as long as the state.
 */
#ifndef TDM_LIVE_PICTURE_H
#define TDM_LIVE_PICTURE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"
#include "base/units.h"
#include "base/value.h"
#include "model/event/event.h"
#include "live/host/proc_facts.h"
#include "live/join/intern.h"

#define TDM_INDEX_NONE UINT32_MAX

enum { TDM_PICTURE_NAME_CAP = 40, TDM_PICTURE_TEXT_CAP = 256, TDM_PICTURE_CHIPS_MAX = 16 };

/* A live buffer, in the list of one holding and kind. */
struct tdm_buffer {
	uint64_t id;
	uint64_t address; /* or TDM_ADDRESS_UNKNOWN */
	uint64_t asked_bytes;
	uint64_t bank_bytes; /* or TDM_SIZE_UNKNOWN */
	uint64_t page_size;  /* 0 if unknown */
	uint64_t born_ns;    /* monotonic clock; 0 if unknown */
	uint32_t banks, holding_banks, cores, thread;
	uint32_t name, program; /* numbers of texts; 0 if there is none */
	uint32_t stack;         /* number of the stack; 0 if there is none */
	uint32_t ranges;        /* number of the core ranges; 0 if there is none */
	uint16_t flags;         /* TDM_EVENT_* */
	uint8_t kind;
};

static inline bool tdm_buffer_is_view(const struct tdm_buffer *buffer)
{
	return (buffer->flags & TDM_EVENT_VIEW) != 0;
}

/* Whether other buffers of the same kind may occupy this buffer's bytes. If so, the kind's figures do not include
 * its size. */
static inline bool tdm_buffer_is_shared(const struct tdm_buffer *buffer)
{
	return (buffer->flags & TDM_EVENT_SHARED) != 0;
}

/* Whether the buffer was allocated before tracking began, so that its age is unknown. */
static inline bool tdm_buffer_is_adopted(const struct tdm_buffer *buffer)
{
	return (buffer->flags & TDM_EVENT_ADOPTED) != 0;
}

/* Bytes per bank times the banks in lockstep; the requested size if the banks are unknown. */
uint64_t tdm_buffer_reserved(const struct tdm_buffer *buffer);
/* Bytes per bank times the number of banks or cores holding a page. */
uint64_t tdm_buffer_occupied(const struct tdm_buffer *buffer);

/*
 * One kind of memory on one device, over all its banks. Circular buffers share a region with L1 buffers: the region's
 * size is the total of both kinds, `free` of circular buffers is the space that neither kind uses, and their largest
 * free block is the gap between the two.
 */
struct tdm_picture_kind {
	uint8_t used_from;  /* enum tdm_from: the source that won; TDM_FROM_NONE if `used` is unknown */
	uint8_t total_from; /* the source of `total`, banks, base and bank_bytes */
	bool peak_is_seen;  /* the peak is the highest sum seen by the reader; otherwise the producer's exact peak */
	bool is_estimated;  /* figures from ledgers are estimates, at least in part: see above */
	uint64_t used;      /* bytes used by running processes, including `unattributed` */
	uint64_t total, free;
	uint64_t largest_free; /* the largest contiguous block in a bank, times the number of banks */
	uint64_t peak;
	uint64_t asked;        /* requested bytes; equal to `used` with metal_shm */
	uint64_t buffers;      /* number of live buffers */
	uint64_t unattributed; /* the part of `used` that belongs to no listed process */
	/* bytes still recorded for ended processes; these bytes are no longer on the device, and not part of `used` */
	uint64_t stale;
	uint32_t banks; /* 0 if unknown, like the next two */
	uint64_t base, bank_bytes;
	uint64_t allocs, out_of_memory; /* counts since the running processes started */
	/* The source that lost, its figure, and the processes known only to that source. */
	uint8_t rival_from;
	uint64_t rival_used;
	uint32_t rival_processes;
	uint64_t rival_bytes; /* bytes of the processes known only to the rival */
};

/* A value reported by the driver. */
struct tdm_reading {
	bool is_known;
	int err;       /* why the value is unknown; 0: the driver does not offer it */
	int64_t value; /* in the units given below */
};

struct tdm_picture_telemetry {
	struct tdm_reading temp, temp_max;       /* thousandths of a degree Celsius */
	struct tdm_reading power, power_max;     /* microwatts */
	struct tdm_reading clock;                /* MHz, of the Tensix cores */
	struct tdm_reading voltage, voltage_max; /* millivolts */
	struct tdm_reading current, current_max; /* milliamperes */
	struct tdm_reading fan;                  /* rpm */
	struct tdm_reading heartbeat;
};

/* A chip of a device, as counted in tt-metal's shared memory. */
struct tdm_picture_chip {
	uint32_t chip; /* logical number */
	bool is_remote;
	uint64_t bytes[TDM_KIND_COUNT];
};

/* A machine in a picture of several machines (fleet.h). */
struct tdm_picture_host {
	const char *name;   /* as the user named it */
	uint64_t age_ns;    /* age of its figures; unknown if it has never answered */
	const char *reason; /* why it does not answer now, as a sentence without a full stop; NULL if it answers */
};

struct tdm_picture_device {
	uint64_t key;     /* the same in every picture; never 0 */
	bool has_chip_id; /* without a chip id, the device's identity is uncertain */
	bool is_virtual;  /* collects the reports of a capture without dispatch; not a real card */
	/* a card whose chips are among the devices, although it is unknown which chips they are */
	bool is_board;
	uint64_t chip_id; /* 0 is a valid id */
	int32_t number;   /* logical number: the lowest that a program uses; -1 if unknown */
	/* the device's place in the list when first seen; unchanged when other devices disappear */
	uint32_t place;
	int32_t node;                       /* N in /dev/tenstorrent/N; -1 if unknown, or not on this machine's bus */
	char pci[24];                       /* empty if unknown */
	char card[TDM_CARD_NAME_CAP];       /* "n150"; empty if unknown */
	char arch[16];                      /* "Wormhole"; empty if unknown */
	uint8_t card_from;                  /* enum tdm_from; TDM_FROM_CARD_TYPE: its own card is unknown */
	uint32_t grid_x, grid_y;            /* 0 if unknown */
	uint32_t sources;                   /* bit n is set if source n (enum tdm_from) knows the device */
	uint32_t process_count;             /* number of processes that hold memory on the device or have it open */
	const struct tdm_device_info *info; /* a program's description; NULL if there is none */
	uint64_t updated_ns;                /* last update in metal_shm, real-time clock; 0 if unknown */
	struct tdm_picture_telemetry telemetry;
	struct tdm_picture_kind kinds[TDM_KIND_COUNT];
	uint64_t l1_peak;    /* exact peak of everything in L1, over all cores; unknown with several processes */
	uint64_t l1_core;    /* bytes of L1 in one core; unknown if the card is unknown */
	uint64_t l1_lowest;  /* lowest address of any L1 buffer; 0 if there are none; may be unknown */
	uint64_t cb_highest; /* highest end of a circular buffer that is not shared; 0 if there are none; may be unknown
			      */
	/*
	 * When l1_lowest, cb_highest and the largest free blocks were computed (monotonic clock); 0 if never. Computing
	 * these figures costs more than reading counters, so the figures may be older than the picture.
	 */
	uint64_t space_ns;
	bool space_is_old; /* buffers have been allocated or freed since space_ns */
	uint32_t chip_count;
	struct tdm_picture_chip chips[TDM_PICTURE_CHIPS_MAX];
	uint32_t host_card, region;          /* index into the state's cards and regions; UINT32_MAX if there is none */
	const struct tdm_picture_host *host; /* NULL for this machine */
};

struct tdm_module {
	uint64_t address, size;
	char *path;
};

struct tdm_picture_process {
	uint64_t handle; /* the same in every picture; never 0 */
	int32_t pid;     /* the pid as the reader sees it */
	int32_t own_pid; /* the pid as the process itself sees it; 0: the same, or unknown */
	uint64_t start_time;
	uint32_t uid;                    /* UINT32_MAX if unknown */
	char user[TDM_PICTURE_NAME_CAP]; /* the user's name, else the number; "?" if unknown */
	char comm[TDM_COMM_CAP];
	char command[TDM_COMMAND_CAP]; /* empty if unknown: then use `comm` */
	uint64_t started_ns;           /* real-time clock; 0 if unknown */
	uint8_t life;                  /* enum tdm_life; ended processes are listed only on request */
	bool is_foreign;               /* belongs to a user other than the reader */
	bool crashed;                  /* ended without closing its ledger, and was not replaced by exec */
	bool replaced;                 /* replaced by another program with exec; that program has its own ledger */
	bool is_claimed;               /* `pid` is only the ledger's claim: the ledger's owner has no such process */
	bool in_container;             /* `pid` differs from the pid that the process itself sees */
	bool is_on_behalf;             /* a daemon writes its ledger */
	/* time of the process's figures (monotonic clock) if nobody updates the figures any more; 0 if current */
	uint64_t as_of_ns;
	uint32_t sources;                 /* bit n is set if source n (enum tdm_from) knows the process */
	char phase[TDM_PICTURE_NAME_CAP]; /* the current phase; empty if there is none */
	uint64_t lost;                    /* number of missing events */
	uint64_t faults;                  /* number of double and unknown releases, and re-reports */
	uint64_t out_of_memory;
	uint32_t first_holding, holding_count;
	uint64_t refused; /* number of records that cannot be believed */
	/* Only for a process with a ledger: */
	const struct tdm_process *who; /* NULL if it has none */
	const char *ledger;            /* path of the ledger, or NULL */
	const struct tdm_module *modules;
	size_t module_count;
	const struct tdm_note *notes;
	size_t note_count;
	uint64_t notes_lost;                 /* number of notes for which there was no room */
	const struct tdm_picture_host *host; /* NULL for this machine */
};

struct tdm_buffer_list {
	const struct tdm_buffer *list; /* in no order */
	size_t count;
};

struct tdm_holding {
	uint32_t process, device;
	uint32_t number;      /* the device's number in every view; if unknown, own_number */
	uint32_t own_number;  /* the device's number in this process, without TDM_DEVICE_VIRTUAL_BIT */
	uint32_t descriptors; /* number of descriptors open on the card; 0 if there are none, or unknown */
	struct tdm_counter kinds[TDM_KIND_COUNT];
	struct tdm_buffer_list buffers[TDM_KIND_COUNT]; /* empty unless buffers were requested */
	struct tdm_told told;
};

/* The last counters of a process on a device, for a process that has ended. */
struct tdm_picture_end {
	uint64_t process, device; /* the process's handle and the device's key */
	struct tdm_counter kinds[TDM_KIND_COUNT];
};

/* A source that could not be read. */
struct tdm_picture_problem {
	uint8_t from; /* enum tdm_from */
	int err;
	bool is_unread;                   /* a whole ledger is missing from the picture */
	const char *path;                 /* exact path of that ledger, for opening it; NULL if it is not a ledger */
	char place[TDM_PICTURE_TEXT_CAP]; /* the path, for display */
	char text[TDM_PICTURE_TEXT_CAP];  /* why, as a sentence without a full stop */
};

struct tdm_picture {
	uint64_t time_ns, real_ns; /* when it was taken: monotonic and real-time clock */
	size_t device_count, process_count, holding_count, problem_count, event_count;
	size_t board_count; /* boards are the last devices */
	/* order: the driver's cards by node, other devices by number, boards by node */
	struct tdm_picture_device *devices;
	struct tdm_picture_process *processes; /* by pid */
	struct tdm_holding *holdings;          /* grouped by process, then by device */
	struct tdm_picture_problem *problems;
	/* Events since the last picture that contained any, oldest first, if they were requested. `process` is a
	 * handle, possibly of a process that is no longer listed; times are from the monotonic clock. The `size` of a
	 * TDM_OP_LOST event is the number of missing events. */
	const struct tdm_event *events;
	/* Last counters of the listed processes that have ended since the last picture. */
	const struct tdm_picture_end *ends;
	size_t end_count;
	uint64_t buffers_version; /* changes when the lists of buffers may have changed since the previous picture */
	uint64_t others;          /* number of ledgers of processes that were not requested */
	int ledgers_err;          /* why the directory of ledgers cannot be listed; 0 if it can */
	const struct tdm_intern *texts;
	const struct tdm_picture_host *hosts; /* all requested hosts; NULL if the picture is of this machine */
	size_t host_count;
};

void tdm_picture_device_init(struct tdm_picture_device *device); /* sets everything to unknown, with no process */
void tdm_picture_kinds_init(struct tdm_picture_device *device);  /* initialises only its kinds and the peak of its L1 */
void tdm_holding_init(struct tdm_holding *holding, uint32_t process, uint32_t device);
void tdm_picture_done(struct tdm_picture *picture); /* releases the lists */

/* The text with this number; "" if the number is 0 or does not exist. */
const char *tdm_picture_text(const struct tdm_picture *picture, uint32_t number);
/* The frames of a stack, innermost first; *count is 0 if the number is 0 or does not exist. */
const struct tdm_kept_frame *tdm_picture_stack(const struct tdm_picture *picture, uint32_t number, uint32_t *count);
/* A list of core ranges; *count is 0 if the number is 0 or does not exist. */
const struct tdm_core_range *tdm_picture_ranges(const struct tdm_picture *picture, uint32_t number, uint32_t *count);

/* The command line of a process, or its name if that is unknown. */
static inline const char *tdm_picture_command(const struct tdm_picture_process *process)
{
	return process->command[0] != '\0' ? process->command : process->comm;
}

/* Whether a process's holdings are on its devices and included in the devices' sums. False once the process has ended,
 * or if its ledger was written by a process other than the one named in the ledger. */
static inline bool tdm_picture_counts(const struct tdm_picture_process *process)
{
	return process->life != TDM_LIFE_ENDED && !(process->is_claimed && !process->who->is_held);
}

/* Whether other machines were requested, and none has ever answered. */
static inline bool tdm_picture_is_silent(const struct tdm_picture *picture)
{
	for (size_t i = 0; i < picture->host_count; i++)
		if (picture->hosts[i].age_ns != TDM_BYTES_UNKNOWN)
			return false;
	return picture->host_count != 0;
}

/* Whether any machine hides processes from us; in that case, counts cover only the listed processes. */
static inline bool tdm_picture_hides(const struct tdm_picture *picture)
{
	for (size_t i = 0; i < picture->problem_count; i++)
		if (picture->problems[i].err == -ENOKEY)
			return true;
	return false;
}

/* Why a claimed pid is not believed: a sentence without a full stop. */
static inline const char *tdm_picture_claim(const struct tdm_process *who)
{
	return who->is_held ? "the process that its ledger names does not belong to the owner of the ledger"
			    : "its ledger names a process that did not write it; its figures are not counted";
}

/* "~" to print before a card or a size that is known only from the common type of all cards; else "". */
static inline const char *tdm_picture_card_mark(const struct tdm_picture_device *device)
{
	return device->card_from == TDM_FROM_CARD_TYPE && device->card[0] != '\0' ? "~" : "";
}

static inline const char *tdm_picture_total_mark(const struct tdm_picture_kind *kind)
{
	return kind->total_from == TDM_FROM_CARD_TYPE && kind->total != TDM_BYTES_UNKNOWN ? "~" : "";
}

/* "~" to print before estimated bytes in use; else "". */
static inline const char *tdm_estimate_mark(bool is_estimated, uint64_t bytes)
{
	return is_estimated && bytes != TDM_BYTES_UNKNOWN ? "~" : "";
}

/* Like tdm_estimate_mark(), for free bytes, which follow from size and use. */
static inline const char *tdm_picture_free_mark(const struct tdm_picture_kind *kind)
{
	return tdm_estimate_mark(kind->is_estimated || tdm_picture_total_mark(kind)[0] != '\0', kind->free);
}

/* The number of listed buffers of a holding. */
size_t tdm_holding_buffer_count(const struct tdm_holding *holding);

/* Whether bytes of dead processes are still recorded for a device. */
bool tdm_picture_has_stale(const struct tdm_picture_device *device);

/* used / total in tenths of a percent, rounded down to agree with tdm_level_of; -1 if either is unknown or the total is
 * 0. */
int tdm_picture_permille(uint64_t used, uint64_t total);

/* How full: green below 75 %, yellow from 75 %, red from 90 %. */
/* TDM_LEVEL_PLAIN if unknown. */
enum tdm_level tdm_level_of(uint64_t used, uint64_t total);

/* Bytes between circular buffers and L1 buffers in the fullest core; 0 if they meet; TDM_BYTES_UNKNOWN if unknown. */
uint64_t tdm_picture_gap(const struct tdm_picture_device *device);
/* The bytes by which circular buffers and L1 buffers overlap; 0 if none, or unknown. */
uint64_t tdm_picture_clash(const struct tdm_picture_device *device);
/* How full a kind is. A program is refused if one core has no gap left, however few bytes circular buffers take on
 * average. So the level of circular buffers is that of the fullest core, if its gap is known. */
enum tdm_level tdm_picture_level(const struct tdm_picture_device *device, enum tdm_kind kind);

/* Parts of a picture that a view must request. */
enum {
	TDM_WISH_BUFFERS = 1, /* live buffers */
	TDM_WISH_EVENTS = 2,  /* events since the last picture */
};

struct tdm_wish {
	unsigned parts;         /* TDM_WISH_* */
	uint64_t process;       /* a handle: list buffers of this process only; 0 for all */
	uint64_t device;        /* a key: list buffers and compute largest free blocks of this device only; 0 for all */
	bool hold;              /* do not update the lists of buffers, because a view is reading them */
	bool no_largest;        /* do not compute largest free blocks: earlier ones are good enough */
	uint64_t events_of;     /* a handle: events of this process only; 0 for all */
	uint32_t latest_events; /* about this many of the latest allocations and releases; 0 for all */
};

/* Where the screens get their pictures: this machine, or anything else that can be watched. */
struct tdm_provider {
	void *state, *names; /* arguments of the functions below */
	/* Returns a new picture; NULL only if out of memory. A NULL wish requests no extra parts. */
	const struct tdm_picture *(*look)(void *state, const struct tdm_wish *wish);
	/* Reads a process's current use of the host; 0, or a negative code if unknown. May be NULL. */
	int (*use)(void *state, const struct tdm_picture_process *process, struct tdm_proc_use *use);
	/* Writes the innermost function of a stack, with its callers on request. May be NULL. */
	void (*place)(void *names, const struct tdm_picture *picture, uint32_t process, uint32_t stack,
		bool with_callers, char *dst, size_t cap);
};

/* Fills in the process and the device of a holding, and leaves the rest unchanged. */
struct tdm_about;
void tdm_about_holding(const struct tdm_picture *picture, uint32_t index, struct tdm_about *about);

#endif
