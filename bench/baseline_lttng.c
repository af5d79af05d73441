/*
 * A baseline of the event bench: the tracer LTTng-UST, with one tracepoint per event and the same payload as our event.
 * It is a separate program because its library starts threads in every program that links it. lttng_session.c makes the
 * session that records it; without one the tracepoint does nothing.
 */
#include "bench_child.h"
#include "event_load.h"

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_tracepoint.h"

#include <stdio.h>

enum { DEVICE = 0, KIND = 1 };

static void lttng_pair(void *side, const struct event_pair *p)
{
	(void)side;
	lttng_ust_tracepoint(tidemark_bench, event, DEVICE, KIND, p->old_id, event_address(p->old_id), 0);
	lttng_ust_tracepoint(tidemark_bench, event, DEVICE, KIND, p->new_id, event_address(p->new_id), p->new_bytes);
}

static void measure(void *state, void *figures)
{
	*(struct event_figures *)figures = event_load_run(state, EVENT_DRAWN, lttng_pair, NULL);
}

int main(void)
{
	struct event_load load;
	struct event_figures figures;
	event_pin(0);
	event_load_init(&load, EVENT_DRAWN, 1000, EVENT_COUNT, 1);
	if (!lttng_ust_tracepoint_enabled(tidemark_bench, event)) {
		fputs("bench: the LTTng session does not record\n", stderr);
		return 2;
	}
	int code = bench_child_serve(measure, &load, &figures, sizeof figures);
	event_load_done(&load);
	return code;
}
