/* Monotonic and real time in nanoseconds, and the processor's time stamp counter, which needs no system call. */
#ifndef TDM_BASE_CLOCK_H
#define TDM_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define TDM_NS_PER_S  UINT64_C(1000000000)
#define TDM_NS_PER_MS UINT64_C(1000000)

static inline uint64_t tdm_clock_read(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * TDM_NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline uint64_t tdm_clock_ns(void)
{
	return tdm_clock_read(CLOCK_MONOTONIC);
}

/* The real-time clock: nanoseconds since 1970. */
static inline uint64_t tdm_clock_real_ns(void)
{
	return tdm_clock_read(CLOCK_REALTIME);
}

/* The time stamp counter: equal on all cores, steady, at an unknown rate. */
static inline uint64_t tdm_clock_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
#error "no known time stamp counter on this processor"
#endif
}

#endif
