/* What a ledger holds, as events. Values in, values out; texts are borrowed from the ledger. */
#ifndef TDM_SOURCES_LEDGER_EVENT_H
#define TDM_SOURCES_LEDGER_EVENT_H

#include "event/event.h"
#include "ledger/reader.h"

/* Who wrote it, and what it has lost so far. */
struct tdm_process tdm_ledger_process(const struct tdm_ledger *ledger, enum tdm_liveness liveness);

/* The number that events have for a device; false when it cannot be one. */
bool tdm_ledger_device_number(const struct tdm_ledger_view *view, uint32_t *number);

struct tdm_device_info tdm_ledger_device_info(const struct tdm_ledger_view *view);

struct tdm_usage tdm_ledger_usage(
	const struct tdm_ledger *ledger, const struct tdm_ledger_view *view, enum tdm_kind kind);

/* The birth of a live buffer. `frames` has room for the event's stack and is borrowed by it. */
void tdm_ledger_buffer_event(struct tdm_ledger *ledger, const struct tdm_ledger_buffer *buffer,
	struct tdm_frame frames[TDM_LEDGER_STACK_MAX], struct tdm_event *event);

/* A record of the ring. Of an allocation it says less than the slot of the buffer does. `frames` as above. */
void tdm_ledger_record_event(struct tdm_ledger *ledger, const struct tdm_ledger_record *record,
	struct tdm_frame frames[TDM_LEDGER_STACK_MAX], struct tdm_event *event);

void tdm_ledger_phase_event(struct tdm_ledger *ledger, const struct tdm_ledger_phase *phase, struct tdm_event *event);

#endif
