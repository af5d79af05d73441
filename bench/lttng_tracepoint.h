/* The tracepoint of baseline_lttng.c, in the form that LTTng-UST requires: it is included several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tidemark_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_tracepoint.h"

#if !defined(TDM_BENCH_LTTNG_TRACEPOINT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TDM_BENCH_LTTNG_TRACEPOINT_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(
	tidemark_bench,
	event,
	LTTNG_UST_TP_ARGS(uint32_t, device, uint8_t, kind, uint64_t, id, uint64_t, address, uint64_t, bytes),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, device, device)
		lttng_ust_field_integer(uint8_t, kind, kind)
		lttng_ust_field_integer(uint64_t, id, id)
		lttng_ust_field_integer(uint64_t, address, address)
		lttng_ust_field_integer(uint64_t, bytes, bytes)
	)
)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
