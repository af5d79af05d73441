/* Shares in text. They are rounded down: 79.99 % is not yet 80. */
#ifndef TDM_REPORT_SHARE_H
#define TDM_REPORT_SHARE_H

#include <stddef.h>
#include <stdint.h>

enum { TDM_SHARE_CAP = 24 };

/* Tenths of a percent, rounded down, cut at 9999.9 %; -1 when a figure is unknown or the total is 0. */
int tdm_share_tenths(uint64_t used, uint64_t total);

/* "84.2%"; "unknown" for -1. Returns dst. */
char *tdm_share_format(char *dst, size_t cap, int tenths);

#endif
