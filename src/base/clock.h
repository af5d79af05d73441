/* The clock: nanoseconds, monotonic. */
#ifndef TDM_BASE_CLOCK_H
#define TDM_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define TDM_NS_PER_S  UINT64_C(1000000000)
#define TDM_NS_PER_MS UINT64_C(1000000)

static inline uint64_t tdm_clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * TDM_NS_PER_S + (uint64_t)now.tv_nsec;
}

#endif
