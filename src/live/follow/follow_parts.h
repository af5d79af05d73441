/*
 * The parts of the ledger follower. follower.h lists the events that the follower passes on, and their order.
 *
 *   follower.c       finds and opens ledgers, decides which process each belongs to and whether that process is running
 *   follow_device.c  one device of a ledger, and the notes of its process: passes on changes as events
 */
#ifndef TDM_LIVE_FOLLOW_PARTS_H
#define TDM_LIVE_FOLLOW_PARTS_H

#include "model/event/event.h"
#include "ledger/read/reader.h"

struct tdm_follow_sink;

/* How much of a device has been passed on. Starts as all zero; needs no release. */
struct tdm_follow_device {
	bool is_described;
	uint32_t number;
	struct tdm_device_info info;
	uint64_t version;     /* version of the view last passed on */
	uint64_t seen_seq;    /* number of calls finished at the last look */
	bool is_listed;       /* a list of its live buffers has been passed on */
	bool is_exact;        /* that list was exact, and all later events have been passed on */
	uint64_t buffers_seq; /* the listed buffers are those after this call */
	bool has_events;      /* events were wanted and passed on */
	uint64_t events_seq;  /* number of the last event passed on */
	uint64_t rare;        /* calls up to that event that were neither allocations nor releases */
	uint64_t counts_seq[TDM_KIND_COUNT], faults[TDM_KIND_COUNT]; /* state of the usage last passed on */
	struct tdm_ledger_runtime_head told;                         /* head of the runtime's reports last passed on */
};

/* Scratch buffers for conversions, reused between looks. Start as all zero. */
struct tdm_follow_room {
	struct tdm_ledger_record *records;
	/* for each birth, the index of its release, and the reverse; TDM_MAP_NONE if that is not among the records */
	uint32_t *partners;
	size_t record_cap, partner_cap;
	struct tdm_frame frames[TDM_LEDGER_STACK_MAX];
	size_t active, active_before; /* number of devices with new records: in this look, and in the previous one */
	/* for the runtime's reports */
	struct tdm_ledger_runtime *runtime; /* allocated when first needed */
	struct tdm_trace traces[TDM_LEDGER_TRACES];
	struct tdm_hazard hazards[2 * TDM_LEDGER_HAZARDS];
	struct tdm_clash clashes[TDM_CLASH_TYPES];
};

void tdm_follow_room_done(struct tdm_follow_room *room);

/* A look at one device of a ledger. */
struct tdm_follow_look {
	struct tdm_ledger *ledger;
	size_t device; /* the device's index in the ledger */
	uint64_t process;
	const struct tdm_follow_sink *sink;
	struct tdm_follow_room *room;
	const struct tdm_follow_device *lane; /* the device whose buffers are being listed */
	int unread;                           /* result: 0, or why the buffers could not be read */
};

/* Reads the process's notes, and passes them on if they have changed. *given holds the notes last passed on (NULL if
 * there were none); its owner frees them. Does not use the look's device. False if there are no notes or they cannot be
 * read. */
bool tdm_follow_notes_give(struct tdm_ledger_notes **given, const struct tdm_follow_look *look);

/* Passes on one event if it is valid. */
void tdm_follow_give(const struct tdm_follow_sink *sink, uint64_t process, struct tdm_event *event);

/* Passes on everything that is new and wanted. */
void tdm_follow_device_give(struct tdm_follow_device *lane, struct tdm_follow_look *look);

/* Reads the counters again and passes on those that have changed. Returns 1, 0 if none have changed, or a negative
 * code. */
int tdm_follow_device_recount(struct tdm_follow_device *lane, const struct tdm_follow_look *look);

/* Whether there is anything to pass on once `seq` calls have finished. */
bool tdm_follow_device_has_more(
	const struct tdm_follow_device *lane, const struct tdm_follow_sink *sink, uint64_t process, uint64_t seq);

/* Converts a device's number for use in events; false if it is impossible. */
bool tdm_follow_device_number(const struct tdm_ledger_view *view, uint32_t *number);

/* Converts a time stamp to the monotonic clock; 0 if it is 0 or cannot be converted. */
uint64_t tdm_ledger_time(const struct tdm_ledger *ledger, uint64_t tsc);

#endif
