/*
 * Facts about a device and its memory, worded in one place for all views: sources, shares, marks of estimates and
 * bounds, chips, and the uses of its L1.
 */
#ifndef TDM_VIEW_DEVICE_ROWS_H
#define TDM_VIEW_DEVICE_ROWS_H

#include "base/term.h"
#include "live/join/pick.h"
#include "view/write/table.h"

enum { TDM_SHARE_CAP = 24 };

/* Formats permille as "84.2%", at most 9999.9 %; "unknown" if negative. Returns dst. */
char *tdm_format_share(char *dst, size_t cap, int permille);

/* The name of a source; NULL for TDM_FROM_NONE. */
const char *tdm_source_name(uint8_t from);
/* The source name, for a column whose member is an enum tdm_from. */
struct tdm_value tdm_get_source(const struct tdm_field *field);

/* A source's letter, for narrow tables: "L", "S", "D", "M", "T"; '-' for none. */
char tdm_source_letter(uint8_t from);
/* The names of a set of sources, for a column whose member has a bit for each source. */
struct tdm_value tdm_get_sources(const struct tdm_field *field);

/* Formats "2027-01-15 08:00:00", local time; "" for 0. Returns dst. */
enum { TDM_TIME_CAP = 40 };
char *tdm_format_time(char *dst, size_t cap, uint64_t real_ns);

/* ---- a device in words ---- */

struct tdm_words {
	char text[64]; /* a sensor's value, "48.5 / 75 C"; empty if unknown */
	uint8_t level; /* enum tdm_level */
	/* Only for sensors: */
	const char *name, *suffix;
	int err; /* why the value is unknown; 0 if the driver does not offer it */
};

/* The card, node, PCI address, architecture and chip id of a device. If the device's machine does not answer, the age
 * of the figures comes first. Returns the number of pieces. */
enum { TDM_IDENTITY_MAX = 8 };
size_t tdm_device_identity(const struct tdm_picture_device *device, struct tdm_words pieces[TDM_IDENTITY_MAX]);

/* The readings of the driver's sensors, with their limits if known: yellow near the limit, red at the limit. */
enum { TDM_SENSORS = 7, TDM_SENSORS_SHORT = 3 /* the first ones: temperature, power, clock */ };
void tdm_device_sensors(
	const struct tdm_picture_device *device, bool with_limits, bool utf8, struct tdm_words sensors[TDM_SENSORS]);
/* True unless the device is known to be one of the driver's cards. */
bool tdm_device_is_silent(const struct tdm_picture_device *device);

/* Why no device is shown: words without a full stop. Returns a static string or dst. */
enum { TDM_NOTHING_CAP = 256 };
const char *tdm_why_nothing(const struct tdm_picture *picture, const struct tdm_pick *pick, char dst[TDM_NOTHING_CAP]);

/* "DRAM", "L1_SMALL" */
const char *tdm_kind_title(enum tdm_kind kind);

/* The figures for a kind of memory, with marks: '~' for an estimate, '>' for the highest value seen. */
enum tdm_amount { TDM_AMOUNT_USED, TDM_AMOUNT_TOTAL, TDM_AMOUNT_FREE, TDM_AMOUNT_LARGEST, TDM_AMOUNT_PEAK };
struct tdm_value tdm_kind_figure(const struct tdm_picture_kind *kind, enum tdm_amount figure);
/* Formats "~7.44 GiB", in the unit that suits the total. Returns dst. */
char *tdm_amount_text(const struct tdm_picture_kind *kind, enum tdm_amount figure, char *dst, size_t cap);
/* The overridden source, with its figures; "" if there is none or if the figures are the same. Returns dst. */
enum { TDM_RIVAL_CAP = 200 };
char *tdm_kind_rival(const struct tdm_picture_kind *kind, char *dst, size_t cap);

/* The table of a device's memory kinds, with all figures. Text includes a bar of `bar` columns and source names; 0
 * leaves both out. A NULL terminal means JSON. */
struct tdm_table tdm_kind_table(const struct tdm_picture_device *device, const struct tdm_term *term, size_t bar);

/* ---- uses of a device's L1: buffers, circular buffers, kernels, firmware, the rest ---- */

/* Figures counted by a source are measured; those known only from the card's tables are marked as inferred. */

/* id, name in JSON, name in text */
#define TDM_L1_ITEM_LIST(X)                              \
	X(BUFFERS, "buffers", "allocator buffers")       \
	X(CBS, "circular_buffers", "circular buffers")   \
	X(KERNELS, "kernels", "kernels")                 \
	X(CONFIG, "kernel_config", "kernel-config ring") \
	X(FIRMWARE, "firmware", "firmware")              \
	X(REST, "rest", "free or not counted")

enum tdm_l1_item {
#define X(id, name, title) TDM_L1_ITEM_##id,
	TDM_L1_ITEM_LIST(X)
#undef X
		TDM_L1_ITEM_COUNT
};

struct tdm_l1_amount {
	const char *name, *title; /* in JSON, in text */
	uint64_t bytes;           /* sum over all cores, or TDM_BYTES_UNKNOWN */
	bool is_inferred;         /* from the card's tables; not counted by any source */
	const char *text;         /* the source of the figure, or why the figure is unknown */
};

struct tdm_l1_account {
	uint64_t core_bytes, cores; /* may be TDM_BYTES_UNKNOWN, like the total */
	uint64_t total;             /* core_bytes times the cores in the compute grid */
	struct tdm_l1_amount items[TDM_L1_ITEM_COUNT];
};

/* Kernels are stored in the kernel-config ring, so kernel bytes counted by a source are subtracted from the ring. The
 * items therefore add up to the total if the rest is known. */
void tdm_l1_account(struct tdm_l1_account *account, const struct tdm_picture_device *device);
struct tdm_table tdm_l1_table(const struct tdm_l1_account *account);

#endif
