/* Spans of time, and times of day, in text. */
#ifndef TDM_BASE_DURATION_H
#define TDM_BASE_DURATION_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { TDM_DURATION_COLUMNS = 7, TDM_DURATION_CAP = 24 };

/* At most two figures, without padding: "640 ns", "12 ms", "3.2 s", "5m 10s", "2h 3m", "3d 4h". At most
 * TDM_DURATION_COLUMNS wide below ten years. Returns dst. */
char *tdm_format_duration(char *dst, size_t cap, uint64_t ns);

/* The time of day in UTC of a time since 1970: "07:36:20.265". Returns dst. */
char *tdm_format_clock(char *dst, size_t cap, uint64_t time_ns);

/* "30s", "200ms", "1.5m", "2h", "1d", also "us" and "ns"; a number alone is seconds. At most nine digits after the
 * point. 0, TDM_ESYNTAX, or -ERANGE above 64 bits of nanoseconds. */
int tdm_parse_duration(struct tdm_str text, uint64_t *ns);

#endif
