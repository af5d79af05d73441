/* Converts the contents of a ledger to events. Values in, values out; texts are borrowed from the ledger. */
#ifndef TDM_SOURCES_LEDGER_EVENT_H
#define TDM_SOURCES_LEDGER_EVENT_H

#include "event/event.h"
#include "ledger/reader.h"

/* The process that wrote it, and its losses so far. */
struct tdm_process tdm_ledger_process(const struct tdm_ledger *ledger, enum tdm_liveness liveness);

/* The number of a device in events; false if it is impossible. */
bool tdm_ledger_device_number(const struct tdm_ledger_view *view, uint32_t *number);

struct tdm_device_info tdm_ledger_device_info(const struct tdm_ledger_view *view);

struct tdm_usage tdm_ledger_usage(
	const struct tdm_ledger *ledger, const struct tdm_ledger_view *view, enum tdm_kind kind);

/* Monotonic clock; 0 for 0, or if it cannot be known. */
uint64_t tdm_ledger_time(const struct tdm_ledger *ledger, uint64_t tsc);

/* The frames of a stack; returns their number. */
uint32_t tdm_ledger_frames(struct tdm_ledger *ledger, uint32_t stack, struct tdm_frame frames[TDM_LEDGER_STACK_MAX]);

/* The birth of a live buffer. `frames` has room for the event's stack and is borrowed by it. */
void tdm_ledger_buffer_event(struct tdm_ledger *ledger, const struct tdm_ledger_buffer *buffer,
	struct tdm_frame frames[TDM_LEDGER_STACK_MAX], struct tdm_event *event);

/* A record of the ring. It says less about an allocation than the buffer's slot. `frames` as above. */
void tdm_ledger_record_event(struct tdm_ledger *ledger, const struct tdm_ledger_record *record,
	struct tdm_frame frames[TDM_LEDGER_STACK_MAX], struct tdm_event *event);

void tdm_ledger_phase_event(struct tdm_ledger *ledger, const struct tdm_ledger_phase *phase, struct tdm_event *event);

#endif
