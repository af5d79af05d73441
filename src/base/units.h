/*
 * Sizes in text. K, M, G, T, P, E and KiB, MiB, … are powers of 1024; so are KB, MB, …, because the runtime's own
 * messages use them that way. All parsing and printing of sizes is here.
 */
#ifndef TDM_BASE_UNITS_H
#define TDM_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/number.h"
#include "base/str.h"

/* Every text that tdm_format_bytes writes has this many columns. */
enum { TDM_BYTES_COLUMNS = 10, TDM_BYTES_CAP = 32 };

/*
 * "4096", "64K", "64KiB", "1.5 GiB", "0x1000"; blanks around the number and before the unit are allowed, and case does
 * not matter. A fraction must give whole bytes. 0, TDM_ESYNTAX (with *bad set to the offset of the byte that is wrong)
 * or -ERANGE above 64 bits and for TDM_BYTES_UNKNOWN, which is not a size. `bad` may be NULL.
 */
int tdm_parse_bytes(struct tdm_str text, uint64_t *bytes, size_t *bad);

/* Right-aligned in TDM_BYTES_COLUMNS: "   1.50GiB", "      32 B", "   unknown". Returns dst. */
char *tdm_format_bytes(char *dst, size_t cap, uint64_t bytes);

/* Without padding: "1.50 GiB", "32 B", "unknown". Exact multiples print no fraction: "1464 KiB". Returns dst. */
char *tdm_format_bytes_short(char *dst, size_t cap, uint64_t bytes);

/* The same in the unit that suits `total`, so that figures of one line can be compared: "0.50 MiB" of 85 MiB, "39 KiB"
 * of 1464 KiB. An amount that would be 0.00 there has its own unit. Returns dst. */
char *tdm_format_bytes_like(char *dst, size_t cap, uint64_t bytes, uint64_t total);

/* Figures that are compared by eye, and so have one unit. A zeroed range is empty. */
struct tdm_bytes_range {
	uint64_t most, least; /* least: the smallest that is not 0 */
};

static inline void tdm_bytes_range_add(struct tdm_bytes_range *range, uint64_t bytes)
{
	if (bytes == 0 || bytes == TDM_BYTES_UNKNOWN)
		return;
	range->most = tdm_max(range->most, bytes);
	range->least = range->least != 0 ? tdm_min(range->least, bytes) : bytes;
}

/*
 * As tdm_format_bytes without padding, in the unit of the largest figure of the range, or in the next smaller one if
 * the smallest would be below 0.01 otherwise. It has two decimals, three below 0.1, or fewer where they do not fit
 * `columns`. "<0.01MiB" is something; only nothing is "0 B". Returns dst.
 */
char *tdm_format_bytes_in(char *dst, size_t cap, uint64_t bytes, const struct tdm_bytes_range *range, size_t columns);

/* With thousands separators: "1,499,136"; "unknown" for TDM_BYTES_UNKNOWN. Returns dst. */
char *tdm_format_count(char *dst, size_t cap, uint64_t count);

/* "0x1a2b". Returns dst. */
char *tdm_format_hex(char *dst, size_t cap, uint64_t number);

/* MiB with two decimals and without the unit: "1,863.25". Returns dst. */
char *tdm_format_mib(char *dst, size_t cap, uint64_t bytes);

#endif
