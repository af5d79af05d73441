/* Sizes as text. K, M, G, T, P, E and KiB, MiB, … are powers of 1024; so are KB, MB, …, because the runtime's own
 * messages use them that way. All parsing and printing of sizes is here. */
#ifndef TDM_BASE_UNITS_H
#define TDM_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/number.h"
#include "base/str.h"

/* tdm_format_bytes() always writes this many columns. */
enum { TDM_BYTES_COLUMNS = 10, TDM_BYTES_CAP = 32 };

/*
 * "4096", "64K", "64KiB", "1.5 GiB", "0x1000"; blanks around the number and before the unit are allowed, and case does
 * not matter. A fraction must amount to whole bytes. Returns 0; TDM_ESYNTAX, with *bad set to the offset of the
 * offending byte; or -ERANGE for sizes above 64 bits and for TDM_BYTES_UNKNOWN, which is not a size. `bad` may be NULL.
 */
int tdm_parse_bytes(struct tdm_str text, uint64_t *bytes, size_t *bad);

/* Right-aligned in TDM_BYTES_COLUMNS: "   1.50GiB", "      32 B", "   unknown". Returns dst. */
char *tdm_format_bytes(char *dst, size_t cap, uint64_t bytes);

/* Without padding: "1.50 GiB", "32 B", "unknown". Exact multiples print no fraction: "1464 KiB". Returns dst. */
char *tdm_format_bytes_short(char *dst, size_t cap, uint64_t bytes);

/* Like tdm_format_bytes_short(), in the unit that suits `total`, so that the figures in one line can be compared:
 * "0.50 MiB" of 85 MiB, "39 KiB" of 1464 KiB. An amount that would print as 0.00 gets a smaller unit. Returns dst. */
char *tdm_format_bytes_like(char *dst, size_t cap, uint64_t bytes, uint64_t total);

/* Figures that a reader compares, which therefore share a unit. A zeroed range is empty. */
struct tdm_bytes_range {
	uint64_t most, least; /* the largest figure, and the smallest one that is not 0 */
};

static inline void tdm_bytes_range_add(struct tdm_bytes_range *range, uint64_t bytes)
{
	if (bytes == 0 || bytes == TDM_BYTES_UNKNOWN)
		return;
	range->most = tdm_max(range->most, bytes);
	range->least = range->least != 0 ? tdm_min(range->least, bytes) : bytes;
}

/*
 * Like tdm_format_bytes() without padding, in the unit of the largest figure of the range, or the next smaller unit if
 * the smallest figure would be below 0.01. Prints two decimals, three below 0.1, and fewer if they do not fit into
 * `columns`. Any amount above 0 is at least "<0.01MiB"; only 0 is "0 B". Returns dst.
 */
char *tdm_format_bytes_in(char *dst, size_t cap, uint64_t bytes, const struct tdm_bytes_range *range, size_t columns);

/* With thousands separators: "1,499,136"; "unknown" for TDM_BYTES_UNKNOWN. Returns dst. */
char *tdm_format_count(char *dst, size_t cap, uint64_t count);

/* "0x1a2b". Returns dst. */
char *tdm_format_hex(char *dst, size_t cap, uint64_t number);

/* The number of MiB, with two decimals and without the unit: "1,863.25". Returns dst. */
char *tdm_format_mib(char *dst, size_t cap, uint64_t bytes);

/* ---- spans of time, and times of day ---- */

enum { TDM_DURATION_COLUMNS = 7, TDM_DURATION_CAP = 24 };

/* Shows at most two figures, without padding: "640 ns", "12 ms", "3.2 s", "5m 10s", "2h 3m", "3d 4h". At most
 * TDM_DURATION_COLUMNS wide below ten years. Returns dst. */
char *tdm_format_duration(char *dst, size_t cap, uint64_t ns);

/* The time of day (UTC) for a time since 1970: "07:36:20.265". Returns dst. */
char *tdm_format_clock(char *dst, size_t cap, uint64_t time_ns);

/* Parses "30s", "200ms", "1.5m", "2h", "1d", also "us" and "ns"; a bare number means seconds. At most nine digits
 * may follow the point. Returns 0, TDM_ESYNTAX, or -ERANGE above 64 bits of nanoseconds. */
int tdm_parse_duration(struct tdm_str text, uint64_t *ns);

#endif
