/*
 * One device of a followed ledger, and the notes of its process: how much has been given, and giving what is new.
 * follower.h says which events these are and in which order. Only follower.c uses this.
 */
#ifndef TDM_SOURCES_FOLLOW_DEVICE_H
#define TDM_SOURCES_FOLLOW_DEVICE_H

#include "sources/follower.h"
#include "sources/ledger_told.h"

/* How much of a device has been given. Starts all zero; needs no release. */
struct tdm_follow_device {
	bool is_described;
	uint32_t number;
	struct tdm_device_info info;
	uint64_t version;     /* of the view whose description and usage were given */
	uint64_t seen_seq;    /* calls finished at the last look */
	bool is_listed;       /* a list of its live buffers was given */
	bool is_exact;        /* that list was exact, and all events since then were given */
	uint64_t buffers_seq; /* the buffers are as they were after this call */
	bool has_events;      /* events were wanted and given */
	uint64_t events_seq;  /* of the last event given */
	uint64_t rare;        /* calls until then that were no allocation and no release */
	uint64_t counts_seq[TDM_KIND_COUNT], faults[TDM_KIND_COUNT]; /* of the usage last given */
	struct tdm_ledger_runtime_head told;                         /* of what the runtime said, as last given */
};

/* Room for records of the ring, kept between looks. Starts all zero. */
struct tdm_follow_room {
	struct tdm_ledger_record *records;
	uint32_t *partners; /* the release of each birth, and the reverse; TDM_MAP_NONE: not among the records */
	size_t record_cap, partner_cap;
	struct tdm_frame frames[TDM_LEDGER_STACK_MAX];
	struct tdm_told_room *told;   /* made when it is first needed */
	size_t active, active_before; /* devices with new records, in this look and in the one before */
};

void tdm_follow_room_done(struct tdm_follow_room *room);

/* A look at one device. */
struct tdm_follow_look {
	struct tdm_ledger *ledger;
	size_t device; /* its index in the ledger */
	uint64_t process;
	const struct tdm_follow_sink *sink;
	struct tdm_follow_room *room;
	int unread; /* out: 0, or why the buffers could not be read */
};

/* Notes of the process, as they were last given. Starts all zero; the owner frees `given`. */
struct tdm_follow_notes {
	struct tdm_ledger_notes *given; /* NULL: none were */
	uint64_t read_ns;
};

/* Gives the notes if they have changed, but not before `pause_ns` are over since they were last read. The look's device
 * is not used. 0, -ENOMEM or the sink's code. */
int tdm_follow_notes_give(
	struct tdm_follow_notes *notes, const struct tdm_follow_look *look, uint64_t now_ns, uint64_t pause_ns);

/* Gives one event if it is valid. 0, or the sink's code. */
int tdm_follow_give(const struct tdm_follow_sink *sink, uint64_t process, struct tdm_event *event);

/* Gives everything that is new and wanted. 0, -ENOMEM or the sink's code. */
int tdm_follow_device_give(struct tdm_follow_device *lane, struct tdm_follow_look *look);

/* Reads the counters again and gives those that changed. 1, 0 when nothing has changed, or a negative code. */
int tdm_follow_device_recount(struct tdm_follow_device *lane, const struct tdm_follow_look *look);

/* Whether there is something to give once `seq` calls have finished. */
bool tdm_follow_device_has_more(
	const struct tdm_follow_device *lane, const struct tdm_follow_sink *sink, uint64_t process, uint64_t seq);

#endif
