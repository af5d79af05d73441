/*
 * One device of a ledger that is followed: how far it has been given, and giving what is new. follower.h says what that
 * is and in which order; only follower.c uses this.
 */
#ifndef TDM_SOURCES_FOLLOW_DEVICE_H
#define TDM_SOURCES_FOLLOW_DEVICE_H

#include "sources/follower.h"

/* How far a device has been given. All zero to begin; nothing to release. */
struct tdm_follow_device {
	bool is_described;
	uint32_t number;
	struct tdm_device_info info;
	uint64_t seen_seq;    /* calls finished when it was last looked at */
	bool is_listed;       /* an account of its live buffers was given */
	bool is_exact;        /* so it was, and all events since then were given */
	uint64_t buffers_seq; /* the buffers are as they were after this call */
	bool has_events;      /* events were given to somebody who wanted them */
	uint64_t events_seq;  /* of the last of those */
	uint64_t counts_seq[TDM_KIND_COUNT], faults[TDM_KIND_COUNT]; /* of the usage that was given */
};

/* Room for records of the ring, kept between looks. All zero to begin. */
struct tdm_follow_room {
	struct tdm_ledger_record *records;
	uint32_t *partners; /* of each record that is a birth or a release: the other one; TDM_MAP_NONE: not here */
	size_t record_cap, partner_cap;
	struct tdm_frame frames[TDM_LEDGER_STACK_MAX];
};

void tdm_follow_room_done(struct tdm_follow_room *room);

/* A look at one device. */
struct tdm_follow_look {
	struct tdm_ledger *ledger;
	size_t device; /* index in it */
	uint64_t process;
	const struct tdm_follow_sink *sink;
	struct tdm_follow_room *room;
	int unread; /* out: why the buffers could not be read; 0: they could */
};

/* Gives one event, unless it is not valid. 0, or the sink's code. */
int tdm_follow_give(const struct tdm_follow_sink *sink, uint64_t process, struct tdm_event *event);

/* Everything that is new and wanted. 0, -ENOMEM or the sink's code. */
int tdm_follow_device_give(struct tdm_follow_device *lane, struct tdm_follow_look *look);

/* Whether there is something to give when `seq` calls were finished. */
bool tdm_follow_device_has_more(
	const struct tdm_follow_device *lane, const struct tdm_follow_sink *sink, uint64_t process, uint64_t seq);

#endif
