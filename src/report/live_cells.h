/* Cells shared by the views of a picture: sources, shares, levels, times, chips. */
#ifndef TDM_REPORT_LIVE_CELLS_H
#define TDM_REPORT_LIVE_CELLS_H

#include "report/table.h"
#include "state/picture.h"

enum { TDM_SHARE_CAP = 24 };

/* "84.2%" of permille, cut at 9999.9 %; "unknown" below 0. Returns dst. */
char *tdm_format_share(char *dst, size_t cap, int permille);

/* The name of a source; NULL for TDM_FROM_NONE. */
const char *tdm_source_name(uint8_t from);
/* The same for a column whose member is an enum tdm_from. */
struct tdm_value tdm_get_source(const struct tdm_field *field);

/* A mark, which may be empty, and a size, in the column of the field. */
void tdm_put_marked(const struct tdm_field *field, struct tdm_buf *out, const char *mark, uint64_t bytes);

/* The colour for a fill level; "": unknown. */
const char *tdm_level_style(enum tdm_level level);

/* "2027-01-15 08:00:00", local time; "" for 0. Returns dst. */
enum { TDM_TIME_CAP = 40 };
char *tdm_format_time(char *dst, size_t cap, uint64_t real_ns);

/* The chips of one device, as tt-metal's shared memory counts them, one line each: "chip 1 R (remote): dram 2 GiB, l1
 * 10 MiB", after `indent`; nothing when they say no more than the device does. */
void tdm_chips_put(struct tdm_buf *out, const char *indent, const struct tdm_picture_device *device);
/* The value of a column whose row is the device. */
void tdm_chips_json(const struct tdm_field *field, struct tdm_json *json);

#endif
