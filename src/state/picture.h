/*
 * A picture: devices, processes and their figures at one moment, of a running machine or of files. state.h makes all
 * pictures, and every view draws them. Their parts refer to each other by index.
 *
 *     process 1 ── n holding n ── 1 device        a holding is what one process has on one device
 *                      1
 *                      n
 *                   buffer                        only where a view asked for buffers
 *
 * Sources count differently, so one source wins for each device and kind and supplies all of its figures. Wherever
 * `used` is known, the holdings of running processes and `unattributed` add up to it.
 *
 * An unknown number is TDM_BYTES_UNKNOWN, never 0. Everything in a picture is borrowed until the next one is taken;
 * texts stay valid as long as the state.
 */
#ifndef TDM_STATE_PICTURE_H
#define TDM_STATE_PICTURE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kind.h"
#include "base/units.h"
#include "event/event.h"
#include "sources/proc_facts.h"
#include "state/intern.h"

#define TDM_INDEX_NONE UINT32_MAX

/* Where a figure comes from: id, name in JSON */
#define TDM_FROM_LIST(X)                                                                            \
	X(NONE, "none")           /* no source knows it */                                          \
	X(LEDGER, "ledger")       /* the programs' ledgers: bytes that the allocator reserved */    \
	X(METAL_SHM, "metal_shm") /* tt-metal's shared memory: bytes that the programs asked for */ \
	X(DRIVER, "driver")       /* the files of the driver */                                     \
	X(MODEL, "model")         /* the card's tables: inferred, not measured */                   \
	X(CARD_TYPE, "card_type") /* the same for a card that is not known, but all are of one type */

enum tdm_from {
#define X(id, name) TDM_FROM_##id,
	TDM_FROM_LIST(X)
#undef X
		TDM_FROM_COUNT
};

const char *tdm_from_name(enum tdm_from from);

enum { TDM_PICTURE_NAME_CAP = 40, TDM_PICTURE_TEXT_CAP = 256, TDM_PICTURE_CHIPS_MAX = 16 };

/* A live buffer. The list that it is in belongs to one holding and kind. */
struct tdm_buffer {
	uint64_t id;
	uint64_t address; /* TDM_ADDRESS_UNKNOWN */
	uint64_t asked_bytes;
	uint64_t bank_bytes; /* TDM_SIZE_UNKNOWN */
	uint64_t page_size;  /* 0: unknown */
	uint64_t born_ns;    /* monotonic clock; 0: unknown */
	uint32_t banks, holding_banks, cores, thread;
	uint32_t name, program; /* texts; 0: none */
	uint32_t stack;         /* 0: none */
	uint32_t ranges;        /* core ranges; 0: none */
	uint16_t flags;         /* TDM_EVENT_* */
	uint8_t kind;
};

static inline bool tdm_buffer_is_view(const struct tdm_buffer *buffer)
{
	return (buffer->flags & TDM_EVENT_VIEW) != 0;
}

/* Others of its kind may have the same bytes: its size is not part of the kind's figures. */
static inline bool tdm_buffer_is_shared(const struct tdm_buffer *buffer)
{
	return (buffer->flags & TDM_EVENT_SHARED) != 0;
}

/* From before the tracking began: its age is not known. */
static inline bool tdm_buffer_is_adopted(const struct tdm_buffer *buffer)
{
	return (buffer->flags & TDM_EVENT_ADOPTED) != 0;
}

/* Bytes per bank times the banks in lockstep. With banks unknown, the requested size is the best answer. */
uint64_t tdm_buffer_reserved(const struct tdm_buffer *buffer);
/* Bytes per bank times the banks or cores that hold a page. */
uint64_t tdm_buffer_occupied(const struct tdm_buffer *buffer);

/* What one process has of one kind on one device. Counters count from its start. */
struct tdm_picture_amount {
	uint8_t from;      /* enum tdm_from: that of the device and kind, or none; an ended process has ledger */
	bool is_inexact;   /* the buffers changed while they were read and do not match the counters */
	bool is_estimated; /* of some buffers, now or earlier, it is not known what they take: they count with what they
			      asked for */
	uint64_t used;     /* reserved bytes by a ledger, asked-for ones by metal_shm */
	uint64_t peak, peak_ns;
	uint64_t occupied; /* unknown unless buffers were asked for */
	uint64_t asked, peak_asked;
	uint64_t peak_bank; /* in one bank or core; unknown unless it is from a ledger */
	uint64_t buffers, peak_buffers;
	uint64_t allocs, adopted;
	uint64_t double_frees, unknown_frees, rereports;
	uint64_t out_of_memory, oom_bytes; /* how often, and the size of the last failed request */
};

/*
 * One kind of memory of one device, over all its banks. Circular buffers share a region with L1 buffers: the region's
 * size is the total of both kinds, `free` of circular buffers is the space that neither uses, and their largest free
 * block is the gap between the two ends.
 */
struct tdm_picture_kind {
	uint8_t used_from;  /* enum tdm_from: the source that won; TDM_FROM_NONE: `used` is unknown */
	uint8_t total_from; /* of total, banks, base and bank_bytes */
	bool peak_is_seen;  /* the peak is the highest sum that the reader saw; else the producer's own exact one */
	bool is_estimated;  /* what it has of ledgers is, at least in part: see above */
	uint64_t used;      /* by running processes, `unattributed` included */
	uint64_t total, free;
	uint64_t largest_free; /* the largest contiguous block of a bank, times the banks */
	uint64_t peak;
	uint64_t asked;        /* bytes asked for; equal to `used` with metal_shm */
	uint64_t buffers;      /* live ones */
	uint64_t unattributed; /* part of `used` that belongs to no listed process */
	uint64_t stale;        /* still recorded for ended processes: no longer on the device, and not part of `used` */
	uint32_t banks;        /* 0: unknown, like the next two */
	uint64_t base, bank_bytes;
	uint64_t allocs, out_of_memory; /* since the start of the running processes */
	/* The source that lost, its figure, and the processes that only it knows. */
	uint8_t rival_from;
	uint64_t rival_used;
	uint32_t rival_processes;
	uint64_t rival_bytes; /* of those */
};

/* A value that the driver reports. */
struct tdm_reading {
	bool is_known;
	int err;       /* why it is unknown; 0: the driver does not offer it */
	int64_t value; /* units: see below */
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

/* A chip of one device, as tt-metal's shared memory counts them. */
struct tdm_picture_chip {
	uint32_t chip; /* logical number */
	bool is_remote;
	uint64_t bytes[TDM_KIND_COUNT];
};

/* A machine of a picture that was joined from those of several (fleet.h). */
struct tdm_picture_host {
	const char *name;   /* as the user named it */
	uint64_t age_ns;    /* of its figures; unknown: it has never answered */
	const char *reason; /* why it does not answer now, a sentence without its stop; NULL: it does */
};

struct tdm_picture_device {
	uint64_t key;                       /* the same in every picture; never 0 */
	bool has_chip_id;                   /* without one its identity is weak */
	bool is_virtual;                    /* sums what a capture without dispatch reports; no real card */
	bool is_board;                      /* a card whose chips are among the devices; which ones is not known */
	uint64_t chip_id;                   /* 0 is a valid one */
	int32_t number;                     /* logical, the lowest that a program uses; -1: unknown */
	uint32_t place;                     /* in the list when the state first saw it; stays when others go */
	int32_t node;                       /* of /dev/tenstorrent/N; -1: unknown, or not on this machine's bus */
	char pci[24];                       /* empty: unknown */
	char card[TDM_CARD_NAME_CAP];       /* "n150"; empty: unknown */
	char arch[16];                      /* "Wormhole"; empty: unknown */
	uint8_t card_from;                  /* enum tdm_from; TDM_FROM_CARD_TYPE: no card is known to be its own */
	uint32_t grid_x, grid_y;            /* 0: unknown */
	uint32_t sources;                   /* bit n: enum tdm_from n knows it */
	uint32_t process_count;             /* processes that hold memory there or have it open */
	const struct tdm_device_info *info; /* as a program described it; NULL: none did */
	uint64_t updated_ns;                /* real-time clock, by metal_shm; 0: unknown */
	struct tdm_picture_telemetry telemetry;
	struct tdm_picture_kind kinds[TDM_KIND_COUNT];
	uint64_t l1_peak;   /* of everything in L1 together, over all cores, exact; unknown with several processes */
	uint64_t l1_core;   /* bytes of L1 in one core; unknown if the card is */
	uint64_t l1_lowest; /* lowest address of an L1 buffer; 0: there are none; may be unknown */
	uint64_t
		cb_highest; /* highest end of a circular buffer that is not shared; 0: there are none; may be unknown */
	/* When l1_lowest, cb_highest and the largest free blocks were true, by the monotonic clock; 0: never. They cost
	 * more than counters, so they may be older than the picture. */
	uint64_t space_ns;
	bool space_is_old; /* buffers have come or gone since */
	uint32_t chip_count;
	struct tdm_picture_chip chips[TDM_PICTURE_CHIPS_MAX];
	uint32_t host_card, region;          /* index into the state's cards and regions; UINT32_MAX: none */
	const struct tdm_picture_host *host; /* NULL: this machine */
};

/* A buffer that was allocated while a captured trace existed (struct tdm_hazard); texts and stacks are numbers of the
 * picture. */
struct tdm_picture_hazard {
	uint64_t trace;
	uint8_t state; /* enum tdm_hazard_state */
	uint8_t kind;  /* enum tdm_kind */
	uint64_t count;
	uint64_t id, address, asked, bank_bytes;
	uint64_t time_ns, replayed_ns;
	uint32_t name, program, stack, replay_stack;
};

/* Circular buffers that were refused (struct tdm_clash), with the number of the program's name in the picture. */
struct tdm_picture_clash {
	uint8_t type, kind;
	uint64_t count, begin, end, limit, time_ns;
	uint32_t range_count, x0, y0, x1, y1;
	uint32_t program;
};

/* A named counter or a remark of a process (struct tdm_note). */
struct tdm_picture_note {
	uint32_t text; /* of the picture */
	bool is_remark;
	uint64_t value;
};

struct tdm_module {
	uint64_t address, size;
	char *path;
};

struct tdm_picture_process {
	uint64_t handle; /* the same in every picture; never 0 */
	int32_t pid;     /* as the reader knows it */
	int32_t own_pid; /* as the process itself knows it; 0: the same, or unknown */
	uint64_t start_time;
	uint32_t uid;                    /* UINT32_MAX: unknown */
	char user[TDM_PICTURE_NAME_CAP]; /* name, else the number; "?" when unknown */
	char comm[TDM_COMM_CAP];
	char command[TDM_COMMAND_CAP]; /* empty: unknown; then comm */
	uint64_t started_ns;           /* real-time clock; 0: unknown */
	uint8_t life;                  /* enum tdm_life; ended ones are listed only when they were asked for */
	bool is_foreign;               /* belongs to another user than the reader */
	bool crashed;                  /* ended without closing its ledger, and was not replaced */
	bool replaced;                 /* by another program, with exec; that one has a ledger too */
	bool is_claimed;               /* `pid` is only what its ledger says: the ledger's owner has no such process */
	bool in_container;             /* `pid` differs from the pid that the process itself sees */
	bool is_on_behalf;             /* a daemon writes its ledger */
	uint64_t
		as_of_ns; /* monotonic clock: its figures are of then, as nobody writes them now; 0: they are current */
	uint32_t sources; /* bit n: enum tdm_from n knows it */
	char phase[TDM_PICTURE_NAME_CAP]; /* the current one; empty: none */
	uint64_t lost;                    /* events that are missing */
	uint64_t faults;                  /* double and unknown releases, re-reports */
	uint64_t out_of_memory;
	uint32_t first_holding, holding_count;
	uint64_t refused; /* records that cannot be believed */
	/* Only of a process with a ledger: */
	const struct tdm_process *who; /* NULL: it has none */
	const char *ledger;            /* its path, or NULL */
	const struct tdm_module *modules;
	size_t module_count;
	const struct tdm_picture_note *notes;
	size_t note_count;
	uint64_t notes_lost;                 /* for which there was no room */
	const struct tdm_picture_host *host; /* NULL: this machine */
};

struct tdm_buffer_list {
	const struct tdm_buffer *list; /* in no order */
	size_t count;
};

struct tdm_holding {
	uint32_t process, device;
	uint32_t number;      /* of the device, as in every view; if that is unknown, own_number */
	uint32_t own_number;  /* of the device in this process, without TDM_DEVICE_VIRTUAL_BIT */
	uint32_t descriptors; /* open on the card; 0: none, or unknown */
	struct tdm_picture_amount kinds[TDM_KIND_COUNT];
	struct tdm_buffer_list buffers[TDM_KIND_COUNT]; /* empty unless they were asked for */
	/* What the runtime in the process said: */
	struct tdm_statistics statistics[TDM_KIND_COUNT];
	const struct tdm_trace *traces;
	const struct tdm_picture_hazard *hazards;
	const struct tdm_picture_clash *clashes; /* one of a type at most */
	size_t trace_count, hazard_count, clash_count;
	uint64_t traces_lost, hazards_lost; /* more than there was room for */
	uint64_t left;                      /* buffers that were live when it closed the device */
	uint8_t life;                       /* TDM_STEP_OPENED, TDM_STEP_CLOSED; 0: unknown */
	bool has_told;                      /* it said anything at all */
};

/* What a process counted on a device until it ended. */
struct tdm_picture_end {
	uint64_t process, device; /* handle and key */
	struct tdm_picture_amount kinds[TDM_KIND_COUNT];
};

/* Something that could not be read. */
struct tdm_picture_problem {
	uint8_t from; /* enum tdm_from */
	int err;
	bool is_unread;                   /* a whole ledger is missing in the picture */
	const char *path;                 /* of that ledger, as it is, for opening it; NULL: not one */
	char place[TDM_PICTURE_TEXT_CAP]; /* path */
	char text[TDM_PICTURE_TEXT_CAP];  /* why, a sentence without its stop */
};

struct tdm_picture {
	uint64_t time_ns, real_ns; /* monotonic and real-time clock, when it was taken */
	size_t device_count, process_count, holding_count, problem_count, event_count;
	size_t board_count;                    /* the last devices */
	struct tdm_picture_device *devices;    /* those of the driver by node, the others by number, boards by node */
	struct tdm_picture_process *processes; /* by pid */
	struct tdm_holding *holdings;          /* those of a process together, by device */
	struct tdm_picture_problem *problems;
	/* Events since the last picture that had any, oldest first, if they were asked for. `process` is a handle,
	 * possibly of a process that is no longer listed; times are from the monotonic clock. The `size` of a
	 * TDM_OP_LOST is the number of missing events. */
	const struct tdm_event *events;
	/* Of the processes that were listed and have ended since the last picture. */
	const struct tdm_picture_end *ends;
	size_t end_count;
	uint64_t buffers_version; /* differs when the lists of buffers may have changed */
	uint64_t others;          /* ledgers of processes that were not asked for */
	int ledgers_err;          /* why the directory of ledgers cannot be listed; 0: it can */
	const struct tdm_intern *texts;
	const struct tdm_picture_host *hosts; /* all that were asked for; NULL: the picture is of this machine */
	size_t host_count;
};

void tdm_picture_device_init(struct tdm_picture_device *device); /* everything unknown, no process */
void tdm_picture_kinds_init(struct tdm_picture_device *device);  /* only its kinds and the peak of its L1 */
void tdm_holding_init(struct tdm_holding *holding, uint32_t process, uint32_t device);
void tdm_amount_init(struct tdm_picture_amount *amount); /* nothing is known */
void tdm_picture_done(struct tdm_picture *picture);      /* releases the lists */

/* Whether for every device and kind with a known `used` the holdings of running processes plus `unattributed` equal
 * it. */
bool tdm_picture_is_valid(const struct tdm_picture *picture);

/* "" for 0 or a wrong number. */
const char *tdm_picture_text(const struct tdm_picture *picture, uint32_t number);
/* The frames of a stack, innermost first; *count is 0 for 0 or a wrong number. */
const struct tdm_kept_frame *tdm_picture_stack(const struct tdm_picture *picture, uint32_t number, uint32_t *count);
/* A list of core ranges; *count is 0 for 0 or a wrong number. */
const struct tdm_core_range *tdm_picture_ranges(const struct tdm_picture *picture, uint32_t number, uint32_t *count);

/* The command line of a process, or its name if that is unknown. */
static inline const char *tdm_picture_command(const struct tdm_picture_process *process)
{
	return process->command[0] != '\0' ? process->command : process->comm;
}

/* Whether what a process holds is on its devices and part of their sums: not after its end, nor if its ledger was
 * written by another process than the one it names. */
static inline bool tdm_picture_counts(const struct tdm_picture_process *process)
{
	return process->life != TDM_LIFE_ENDED && !(process->is_claimed && !process->who->is_held);
}

/* Whether other machines were asked, and none of them has ever answered. */
static inline bool tdm_picture_is_silent(const struct tdm_picture *picture)
{
	for (size_t i = 0; i < picture->host_count; i++)
		if (picture->hosts[i].age_ns != TDM_BYTES_UNKNOWN)
			return false;
	return picture->host_count != 0;
}

/* Whether machines have processes that they do not show to us: counts are of those that are listed. */
static inline bool tdm_picture_hides(const struct tdm_picture *picture)
{
	for (size_t i = 0; i < picture->problem_count; i++)
		if (picture->problems[i].err == -ENOKEY)
			return true;
	return false;
}

/* Why a claimed pid is not believed; a sentence without its stop. */
static inline const char *tdm_picture_claim(const struct tdm_process *who)
{
	return who->is_held ? "the process that its ledger names does not belong to the owner of the ledger"
			    : "its ledger names a process that did not write it; its figures are not counted";
}

/* "~" before a card, or before a size, that is only known from the type of all cards; else "". */
static inline const char *tdm_picture_card_mark(const struct tdm_picture_device *device)
{
	return device->card_from == TDM_FROM_CARD_TYPE && device->card[0] != '\0' ? "~" : "";
}

static inline const char *tdm_picture_total_mark(const struct tdm_picture_kind *kind)
{
	return kind->total_from == TDM_FROM_CARD_TYPE && kind->total != TDM_BYTES_UNKNOWN ? "~" : "";
}

/* "~" before bytes that are in use, if they are an estimate; else "". */
static inline const char *tdm_estimate_mark(bool is_estimated, uint64_t bytes)
{
	return is_estimated && bytes != TDM_BYTES_UNKNOWN ? "~" : "";
}

/* The same before what is free, which follows from the size and the use. */
static inline const char *tdm_picture_free_mark(const struct tdm_picture_kind *kind)
{
	return tdm_estimate_mark(kind->is_estimated || tdm_picture_total_mark(kind)[0] != '\0', kind->free);
}

/* How many buffers a holding lists. */
size_t tdm_holding_buffer_count(const struct tdm_holding *holding);

/* Whether bytes of dead processes are still recorded for a device. */
bool tdm_picture_has_stale(const struct tdm_picture_device *device);

/* used / total in tenths of a percent, rounded down to agree with tdm_level_of; -1 if one of them is unknown or the
 * total is 0. */
int tdm_picture_permille(uint64_t used, uint64_t total);

/* How full: green below 75 %, yellow from 75, red from 90. */
enum tdm_level { TDM_LEVEL_UNKNOWN, TDM_LEVEL_GREEN, TDM_LEVEL_YELLOW, TDM_LEVEL_RED };
enum tdm_level tdm_level_of(uint64_t used, uint64_t total);

/* Bytes between circular buffers and L1 buffers in the fullest core, 0 when they meet, or TDM_BYTES_UNKNOWN. */
uint64_t tdm_picture_gap(const struct tdm_picture_device *device);
/* By how many bytes they overlap; 0: they do not, or it is unknown. */
uint64_t tdm_picture_clash(const struct tdm_picture_device *device);
/* How full a kind is. A program is refused when the gap is gone, however few bytes circular buffers have on average
 * over all cores; so their level is that of the fullest core if its gap is known. */
enum tdm_level tdm_picture_level(const struct tdm_picture_device *device, enum tdm_kind kind);

/* Parts of a picture that a view has to ask for. */
enum {
	TDM_WISH_BUFFERS = 1, /* live buffers */
	TDM_WISH_EVENTS = 2,  /* events since the last picture */
};

struct tdm_wish {
	unsigned parts;         /* TDM_WISH_* */
	uint64_t process;       /* handle: buffers of this process only; 0: of all */
	uint64_t device;        /* key: buffers and largest free blocks of this device only; 0: of all */
	bool hold;              /* do not update the lists of buffers, for a view that needs time to read them */
	bool no_largest;        /* compute no largest free blocks: those of earlier pictures are enough */
	uint64_t events_of;     /* handle: events of this process only; 0: of all */
	uint32_t latest_events; /* about this many of the latest allocations and releases; 0: all */
};

/* Where the screens get pictures from: this machine, or anything else that can be watched. */
struct tdm_provider {
	void *state, *names; /* what the functions below are called with */
	/* A new picture; NULL only when out of memory. A NULL wish asks for no extra parts. */
	const struct tdm_picture *(*look)(void *state, const struct tdm_wish *wish);
	/* What a process takes of the host now; 0, or a negative code: it is unknown. May be NULL. */
	int (*use)(void *state, const struct tdm_picture_process *process, struct tdm_proc_use *use);
	/* Writes the function that a stack ends in, with its callers if asked. May be NULL. */
	void (*place)(void *names, const struct tdm_picture *picture, uint32_t process, uint32_t stack,
		bool with_callers, char *dst, size_t cap);
};

#endif
